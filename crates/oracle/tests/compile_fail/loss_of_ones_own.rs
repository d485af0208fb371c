//! A loss is shown scores and targets. One from elsewhere could keep them, so there are none from elsewhere.

use std::sync::Mutex;

use reticent_problem::losses::{Argument, ScalarLoss};

#[derive(Debug)]
struct Spy(Mutex<Vec<f64>>);

impl ScalarLoss for Spy {
    const NAME: &'static str = "spy";
    const ARGUMENT: Argument = Argument::Margin;

    fn phi(&self, u: f64) -> f64 {
        self.0.lock().unwrap().push(u);
        0.0
    }

    fn slope(&self, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self, _: f64) -> f64 {
        0.0
    }

    fn prox_phi(&self, u: f64, _: f64) -> f64 {
        u
    }

    fn max_derivative(&self) -> f64 {
        0.0
    }

    fn max_curvature(&self) -> f64 {
        0.0
    }
}

fn main() {}

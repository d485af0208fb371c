//! What is attacked: a fit of one table, or a run of many parties.

use reticent::accountant::View;
use reticent::{Error, Repeat, Seen};

use crate::crowd::{self, Crowd};
use crate::pair::Pair;
use crate::spec::AuditSpec;

/// A calibrated job that can be run on either of two neighbours.
#[derive(Debug)]
pub(crate) enum Subject {
    Fit(Box<(Repeat, Pair)>),
    Crowd(Box<Crowd>),
}

impl Subject {
    pub fn new(spec: &AuditSpec) -> Result<Self, Error> {
        Ok(if crowd::knows(&spec.algorithm) {
            Subject::Crowd(Box::new(Crowd::new(spec)?))
        } else {
            Subject::Fit(Box::new((spec.repeat()?, spec.pair())))
        })
    }

    /// A run with the canary, or without. Numbers tell runs with the same seed apart.
    pub fn run(&self, with: bool, number: u64) -> Result<Seen, Error> {
        match self {
            Subject::Fit(fit) => {
                let (repeat, pair) = &**fit;
                let table = if with { &pair.with } else { &pair.without };
                repeat.run(table.clone().into(), number)
            }
            Subject::Crowd(crowd) => crowd.run(with, number),
        }
    }

    /// What is certified.
    pub fn epsilon(&self) -> Result<f64, Error> {
        match self {
            Subject::Fit(fit) => fit.0.epsilon(),
            Subject::Crowd(crowd) => crowd.epsilon(),
        }
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        match self {
            Subject::Fit(fit) => fit.0.mu(),
            Subject::Crowd(crowd) => crowd.mu(),
        }
    }

    /// Who looks.
    pub fn view(&self) -> View {
        match self {
            Subject::Fit(..) => View::Central,
            Subject::Crowd(crowd) => crowd.view(),
        }
    }
}

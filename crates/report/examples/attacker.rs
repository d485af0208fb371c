//! What an attacker gains at each ε, as a picture for the book (docs/attacker.svg).
//!
//! ```sh
//! cargo run -p reticent-report --example attacker > docs/attacker.svg
//! ```

use std::error::Error;

use reticent::accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, calibrate, trade_off};
use reticent_plot::{Axis, Plot, PlotCurve};

/// False alarms that the attacker accepts.
const ALARMS: [(f64, &str); 3] =
    [(0.05, "5 % false alarms"), (0.01, "1 % false alarms"), (0.001, "0.1 % false alarms")];

fn one(noise: f64) -> Result<Ledger, Box<dyn Error>> {
    let noise = Gaussian::new(noise)?;
    let mut ledger = Ledger::new();
    ledger.append(Event::new(noise, Adjacency::AddRemove, Unit::Record, View::Central)?);
    Ok(ledger)
}

/// Draws it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let epsilons = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0];
    let mut curves = ALARMS.map(|_| Vec::new());
    for epsilon in epsilons {
        let ledger = one(calibrate(epsilon, 1e-6, one)?.noise_multiplier)?;
        let missed = trade_off(&ledger, &ALARMS.map(|(level, _)| level))?;
        for (curve, (_, missed)) in curves.iter_mut().zip(missed) {
            curve.push((epsilon, 1.0 - missed));
        }
    }
    let plot = Plot::new(
        "What an attacker catches at most, δ = 1e-6",
        Axis::log("ε"),
        Axis::share("caught, at most"),
    )
    .described(
        "The share of true changes that an attacker can notice, for three numbers of false alarms.",
    );
    let plot = ALARMS
        .iter()
        .zip(curves)
        .fold(plot, |plot, ((_, name), points)| plot.with(PlotCurve::line(name, points)));
    print!("{}", plot.to_file());
    Ok(())
}

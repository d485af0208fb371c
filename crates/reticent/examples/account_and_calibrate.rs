//! Asks the accountant alone: what a list of events costs, and how much noise a budget needs.
//!
//! ```sh
//! cargo run -p reticent --example account_and_calibrate
//! ```

use std::error::Error;

use reticent::accountant::{
    Adjacency, Event, Gaussian, Ledger, Unit, View, calibrate, delta, epsilon,
};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // A hundred sums, each with Gaussian noise of ten times what one record can change.
    let plan = |noise: f64| -> Result<Ledger, Box<dyn Error>> {
        let event =
            Event::new(Gaussian::new(noise)?, Adjacency::ReplaceOne, Unit::Record, View::Central)?;
        let mut ledger = Ledger::new();
        (0..100).for_each(|_| ledger.append(event.clone()));
        Ok(ledger)
    };
    let bound = epsilon(&plan(10.0)?, 1e-6)?;
    println!("ε lies between {:.4} and {:.4} ({})", bound.lower, bound.upper, bound.method);
    println!("at ε = 1, δ is at most {:.2e}", delta(&plan(10.0)?, 1.0)?.upper);

    // The other way round: the least noise with which all of it costs at most ε = 1.
    let found = calibrate(1.0, 1e-6, plan)?;
    println!("ε = 1 needs noise of {:.3}", found.noise_multiplier);
    assert!(epsilon(&plan(found.noise_multiplier)?, 1e-6)?.upper <= 1.0);
    Ok(())
}

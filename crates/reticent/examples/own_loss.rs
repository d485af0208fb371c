//! A loss of one's own. The gate shows a loss every score and every target, so it runs no foreign
//! code: a loss is said by the points of its slope, and its bounds follow from them.
//!
//! ```sh
//! cargo run -p reticent --example own_loss
//! ```

use reticent::losses::PiecewiseResidual;
use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Error, Fit};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let n = 3_000;
    let x: Vec<f64> = (0..n).map(|i| (i * 37 % 100) as f64).collect();
    // The demand is between 0 and 200, spread evenly around twice x.
    let y: Vec<f64> = (0..n).map(|i| 2.0 * x[i] + (i * 53 % 41) as f64 - 20.0).collect();

    // Too little in stock is four times as bad as too much: nearly the 0.8-quantile. Residuals are
    // on the scale of the target's range, which is −1 … 1.
    let shortage = PiecewiseResidual::new(&[(-0.02, -0.8), (0.0, 0.0), (0.005, 0.2)])?;
    println!("it is `{}`", reticent::problem::Loss::spec(&shortage));

    let schema = Schema::bounded(&[(0.0, 100.0)], Target::range(-20.0, 220.0)?)?;
    let job = Fit::new(schema).loss(shortage).budget(Budget::new(2.0, 1e-6)?).check()?;
    let data = Dataset::dense(&x, n, 1)?.with_targets(&y)?;
    let model = job.fit(&data)?.model;
    println!("{}", model.certificate().meaning);
    assert!(model.certificate().certified);
    Ok(())
}

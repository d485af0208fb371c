//! Fits a CSV file: a schema says what may be known, a budget what may be spent.
//!
//! ```sh
//! cargo run -p reticent --example fit_csv
//! ```

use std::path::Path;

use reticent::losses::Logistic;
use reticent::penalties::L2;
use reticent::tables::Schema;
use reticent::{Budget, Error, Fit};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    // Bounds, categories and classes: what may be known without looking at anybody.
    let schema = Schema::read(&folder.join("patients.toml"))?;

    // Everything that can be wrong with a job is found here, before the table is read.
    let job = Fit::new(schema)
        .loss(Logistic)
        .penalty(L2::new(1e-3)?)
        .budget(Budget::new(1.0, 1e-5)?)
        .check()?;

    let model = job.fit(&*folder.join("patients.csv"))?.model;
    println!("{}", model.certificate().meaning);
    for coefficient in model.coefficients() {
        println!("{:>16} {:8.3}", coefficient.name, coefficient.values[0]);
    }
    assert!(model.certificate().certified && model.certificate().epsilon <= 1.0);
    Ok(())
}

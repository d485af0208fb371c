//! Trains between ten hospitals, none of which shows a record to anybody.
//!
//! ```sh
//! cargo run -p reticent --example simulate_hospitals
//! ```

use std::path::Path;

use reticent::losses::Logistic;
use reticent::simulate::{CheckpointOptions, Simulation};
use reticent::tables::Schema;
use reticent::{Budget, Error, Settings, View, unwatched};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    // Everything that can be wrong is found before the table is read.
    let job = Simulation::new(Schema::read(&folder.join("patients.toml"))?)
        // The records are dealt to ten parties; the server sees each message, and is not trusted.
        .parties(10)
        .trust(View::Local)
        .loss(Logistic)
        .settings(Settings { iterations: Some(5), ..Settings::default() })
        .budget(Budget::new(8.0, 1e-5)?)
        // One of them gives less.
        .party_epsilon(3, 2.0)
        .check()?;
    let run =
        job.run(&*folder.join("patients.csv"), CheckpointOptions::default(), &mut unwatched)?;

    println!("{} rounds between {} parties", run.rounds, run.parties.len());
    if let Some(own) = run.parties.party(3) {
        println!("hospital 3 has spent ε = {:.3}. {}", own.epsilon, own.meaning);
        assert!(own.epsilon <= 2.0);
    }
    assert!(run.model.certificate().certified);
    Ok(())
}

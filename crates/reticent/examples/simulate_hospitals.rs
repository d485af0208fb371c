//! Trains between ten hospitals, none of which shows a record to anybody.
//!
//! ```sh
//! cargo run -p reticent --example simulate_hospitals
//! ```

use std::path::Path;

use reticent::simulate::{Keep, Parties, Simulation};
use reticent::{Error, Settings, Spec, View, unwatched};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"));
    let simulation = Simulation {
        job: Spec {
            schema: Some(folder.join("patients.toml")),
            algorithm: Some("federated".to_owned()),
            epsilon: Some(8.0),
            delta: Some(1e-5),
            settings: Settings { iterations: Some(5), ..Settings::default() },
            ..Spec::default()
        },
        // Dealt to ten parties; the server sees each message, and is not trusted.
        parties: Parties { split: Some(10), trust: Some(View::Local), ..Parties::default() },
        ..Simulation::default()
    };
    // Everything that can be wrong is found before the table is read.
    let job = simulation.check()?;
    let run = job.run(&*folder.join("patients.csv"), Keep::default(), &mut unwatched)?;

    println!("{} rounds between {} parties", run.rounds, run.parties.len());
    if let Some(own) = run.parties.party(3) {
        println!("hospital 3 has spent ε = {:.3}. {}", own.epsilon, own.meaning);
    }
    assert!(run.model.certificate().certified);
    Ok(())
}

//! Known defects that no test on one number finds: they are shown by what must never happen. The
//! test of the walk's is beside it.
#![cfg(feature = "seeded-bugs")]
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod common;

use common::{Job, World};
use reticent_accountant::View;
use reticent_oracle::Bug;
use reticent_runtime::Price;

/// What `a_checkpoint_of_other_tables_is_refused` looks for.
#[test]
fn a_seeded_fork_of_the_noise_is_found() {
    let world = World::even(40, 3, 5);
    let mut edited = World::even(40, 3, 5);
    edited.data.features[0] += 0.125;
    let settings = r#"{"iterations": 4}"#;
    let job = |bug| Job {
        view: View::Central,
        settings,
        price: Price::Noise(1.0),
        bug,
        ..Job::default()
    };
    let mut first = world.prepare(&job(None));
    (0..2).for_each(|_| assert!(first.step().unwrap()));
    let checkpoint = first.checkpoint().unwrap();
    assert!(edited.prepare(&job(None)).resume(&checkpoint).is_err());
    assert!(edited.prepare(&job(Some(Bug::ForkedNoise))).resume(&checkpoint).is_ok());
}

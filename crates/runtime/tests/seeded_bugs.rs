//! Known defects that no test on one number finds: they are shown by what must never happen. What
//! finds the walk's is beside the walk; here it is seen to reach a run.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

mod common;

use common::{Job, World, listen};
use reticent_accountant::View;
use reticent_oracle::Bug;
use reticent_runtime::NoisePrice;

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
        price: NoisePrice::Noise(1.0),
        bug,
        ..Job::default()
    };
    let mut first = world.prepare(&job(None));
    (0..2).for_each(|_| assert!(first.step().unwrap()));
    let checkpoint = first.checkpoint().unwrap();
    assert!(edited.prepare(&job(None)).resume(&checkpoint).is_err());
    assert!(edited.prepare(&job(Some(Bug::ForkedNoise))).resume(&checkpoint).is_ok());
}

#[test]
fn a_seeded_token_beside_the_lattice_travels() {
    let world = World::even(40, 3, 8);
    let said = |bug| {
        let (settings, price) = (r#"{"iterations": 12}"#, NoisePrice::Noise(1.0));
        let (algorithm, view) = ("walk", View::Network);
        let job = Job { algorithm, settings, view, price, bug, ..Job::default() };
        let mut simulation = world.prepare(&job);
        let heard = listen(&mut simulation, |_| true);
        simulation.complete(|_, _| {}).unwrap();
        heard.lock().unwrap().clone()
    };
    let sound = said(None);
    assert!(!sound.is_empty() && sound == said(Some(Bug::ForkedNoise)));
    assert_ne!(sound, said(Some(Bug::OffLatticeToken)));
}

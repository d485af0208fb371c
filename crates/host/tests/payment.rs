//! To join is to reserve the plan in the party's own budget: once, before anything is asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use reticent_budget::{Promise, Relation, Store};
use reticent_host::{HostError, HostOptions, JoinBudget};

use super::world::{AUTO, World, options};

fn budget(world: &World, party: u32, epsilon: f64) -> PathBuf {
    let file = world.at(&format!("party-{party}.budget"));
    Store::create(&file, Promise::new("clinic", epsilon, 1e-5).unwrap()).unwrap();
    file
}

fn unseeded() -> HostOptions {
    HostOptions { seed: None, patience: Duration::from_secs(60), ..options() }
}

fn of(file: &Path) -> Option<JoinBudget<'_>> {
    Some(JoinBudget { file, relation: Relation::Same })
}

#[test]
fn a_run_is_one_job_of_each_partys_budget_and_is_paid_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let files = [0, 1].map(|party| budget(&world, party, 3.0));
    let (_net, listener, dialers) = world.net();
    std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(unseeded(), listener));
        let joined = [0, 1].map(|party| {
            let (world, file, dialer) = (&world, &files[party], &*dialers[party]);
            scope.spawn(move || world.join_paid(party as u32, unseeded(), dialer, of(file)))
        });
        for own in joined {
            let own = own.join().unwrap().unwrap();
            assert!(own.open.is_none());
            assert!(own.joined.model.certificate().certified);
        }
        assert!(led.join().unwrap().unwrap().without.is_empty());
    });
    for (party, file) in [0, 1].into_iter().zip(&files) {
        let check = || {
            let summary = Store::open(file).unwrap().summary().unwrap();
            assert_eq!(summary.jobs.len(), 1);
            assert_eq!(summary.jobs[0].status.name(), "settled");
            let counted = summary.groups.iter().map(|group| group.counted).fold(0.0, f64::max);
            // Once: a budget counts a little more than the run by itself, and less than two.
            assert!(counted > 1.5 && counted < 2.5, "{counted}");
        };
        check();
        // The same call again hands over what is there, and pays nothing.
        world.join_paid(party, unseeded(), &*dialers[party as usize], of(file)).unwrap();
        check();
    }
}

#[test]
fn a_party_whose_budget_does_not_allow_the_run_declines_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let files = [budget(&world, 0, 3.0), budget(&world, 1, 1.0)];
    let (_net, listener, dialers) = world.net();
    std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(unseeded(), listener));
        let joined = [0, 1].map(|party| {
            let (world, file, dialer) = (&world, &files[party], &*dialers[party]);
            scope.spawn(move || world.join_paid(party as u32, unseeded(), dialer, of(file)))
        });
        let [rich, poor] = joined.map(|own| own.join().unwrap().unwrap_err());
        assert!(poor.is_budget(), "{poor:?}");
        assert!(matches!(&rich, HostError::NotBegun(why) if why.contains("budget")), "{rich:?}");
        assert!(rich.hint().contains("the same journal"), "{}", rich.hint());
        let led = led.join().unwrap().unwrap_err();
        assert!(led.to_string().contains("party-1 refuses: the party declines"), "{led}");
    });
    for file in &files {
        assert!(Store::open(file).unwrap().summary().unwrap().jobs.is_empty());
    }
}

/// A budget may refuse for more than its size, when all have signed: the party says so, and who has
/// reserved gets it back.
#[test]
fn a_party_that_cannot_pay_once_all_have_signed_says_so_and_nobody_pays() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let files = [0, 1].map(|party| budget(&world, party, 9.0));
    let both = || {
        for name in ["lead", "party-0", "party-1"] {
            let _ = std::fs::remove_file(world.at(&format!("{name}.journal")));
        }
        let (_net, listener, dialers) = world.net();
        std::thread::scope(|scope| {
            let led = scope.spawn(|| world.lead(unseeded(), listener));
            let joined = [0, 1].map(|party| {
                let (world, file, dialer) = (&world, &files[party], &*dialers[party]);
                scope.spawn(move || world.join_paid(party as u32, unseeded(), dialer, of(file)))
            });
            (led.join().unwrap(), joined.map(|own| own.join().unwrap()))
        })
    };
    let (led, joined) = both();
    assert!(led.is_ok() && joined.iter().all(Result::is_ok));
    // The budget of party 1 knows another table from here on.
    let table = std::fs::read_to_string(world.table(1)).unwrap();
    std::fs::write(world.table(1), table + "0.5,0.25,yes\n").unwrap();
    let (led, [able, unable]) = both();
    let led = led.unwrap_err().to_string();
    assert!(led.contains("party-1 refuses: the party declines"), "{led}");
    let unable = unable.unwrap_err().to_string();
    assert!(unable.contains("not the table"), "{unable}");
    // It has joined: its journal ends with the run.
    assert!(matches!(able, Err(HostError::Ended(_))), "{able:?}");
    let summary = Store::open(&files[0]).unwrap().summary().unwrap();
    let states: Vec<_> = summary.jobs.iter().map(|job| job.status.name()).collect();
    assert_eq!(states, ["settled", "released"]);
}

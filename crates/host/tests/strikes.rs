//! Parties that do not come: where the operators allow it the run begins without them, with noise and a
//! plan that each of the others has worked out for those who are there.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reticent::simulate::RemoteJob;
use reticent::{Files, Model, Run, Unit, View};
use reticent_budget::{Promise, Relation, Store};
use reticent_host::links::{Dial, Link};
use reticent_host::message::{Hello, HostMessage, Rejection, VERSION};
use reticent_host::{
    HostError, HostOptions, JoinBudget, KnownGone, Led, Moment, Notice, PROGRAM, PaidRun,
    RunJournal, commitment,
};

use reticent_oracle::SumLaw;

use super::peers::{R_ADMM, WALK, check_graph, check_walk, models};
use super::rows::check_steps;
use super::world::{AUTO, SEED, World, assert_alike, assert_same, bits, options, until_raised};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A lead that knows who does not come, and who it has begun without; when it is over for all parties
/// nobody comes any more.
struct Striking {
    lead: HostOptions,
    struck: Arc<Mutex<Vec<String>>>,
    over: Arc<AtomicBool>,
}

fn striking(least: u32, away: &'static [&str]) -> Striking {
    let struck: Arc<Mutex<Vec<String>>> = Arc::default();
    let own = Arc::clone(&struck);
    let notify = Arc::new(move |notice: &Notice| {
        if let Notice::Struck { parties: names } = notice {
            own.lock().unwrap().clone_from(names);
        }
    });
    let over: Arc<AtomicBool> = Arc::default();
    let own = Arc::clone(&over);
    let gone: KnownGone =
        Arc::new(move |name: &str| away.contains(&name) || own.load(Ordering::Relaxed));
    let lead = HostOptions { gone: Some(gone), least: Some(least), notify, ..options() };
    Striking { lead, struck, over }
}

/// A run to which only these parties come, who do not wait for a lead that has ended.
fn come(
    world: &World,
    parties: &[u32],
    Striking { lead, over, .. }: &Striking,
    own: &HostOptions,
) -> (Result<Led, HostError>, Vec<Result<PaidRun, HostError>>) {
    let (_net, listener, dialers) = world.net();
    let (ended, own) = until_raised(own);
    std::thread::scope(|scope| {
        let lead = lead.clone();
        let led = scope.spawn(|| {
            let led = world.lead(lead, listener);
            ended.store(true, Ordering::Relaxed);
            led
        });
        let joined: Vec<_> = parties
            .iter()
            .map(|&party| {
                let (dialer, own) = (&*dialers[party as usize], own.clone());
                scope.spawn(move || world.join(party, own, dialer))
            })
            .collect();
        let joined = joined.into_iter().map(|party| party.join().unwrap()).collect();
        over.store(true, Ordering::Relaxed);
        (led.join().unwrap(), joined)
    })
}

/// The same as between those who are there alone: numbers, noise, ledger and certificate.
#[test]
fn a_run_without_a_party_is_the_run_of_the_others() {
    for trust in ["central", "local", "secure-aggregation"] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, AUTO, trust);
        let lead = striking(2, &["party-1"]);
        let (led, joined) =
            come(&world, &[0, 2], &lead, &HostOptions { least: Some(2), ..options() });
        let led = led.unwrap();
        assert_eq!(*lead.struck.lock().unwrap(), ["party-1"], "{trust}");
        let model = Model::from_json(&led.model).unwrap();
        // A world of the two of them.
        let alone = tempfile::tempdir().unwrap();
        let alone = World::trusting(alone.path(), 2, AUTO, trust);
        alone.take_tables(&world, &[0, 2]);
        let simulated = alone.simulated();
        match trust {
            "central" => assert_same(&model, &simulated),
            _ => assert_alike(&model, &simulated),
        }
        for own in joined {
            assert_alike(&own.unwrap().joined.model, &simulated);
        }
        assert!(led.without.is_empty(), "{:?}", led.without);
        comes_late(&world, None);
    }
}

/// Party 1 comes when the run is over for the others: it is told so by name, and has spent nothing.
fn comes_late(world: &World, budget: Option<JoinBudget<'_>>) {
    let (_net, listener, dialers) = world.net();
    let own = HostOptions { least: Some(2), ..options() };
    let (told, lead) = until_raised(&own);
    let why = std::thread::scope(|scope| {
        let lead = scope.spawn(|| {
            forget_receipts(world);
            world.lead(lead, listener)
        });
        let why = world.join_paid(1, own.clone(), &*dialers[1], budget).unwrap_err();
        told.store(true, Ordering::Relaxed);
        lead.join().unwrap().unwrap();
        why
    });
    assert!(why.to_string().contains("begun without you"), "{why}");
    let journal = RunJournal::open(&world.at("party-1.journal")).unwrap();
    let names = ["joined", "signed", "node", "mail", "peers"];
    assert!(names.iter().all(|name| !journal.has(name).unwrap()));
}

/// Nodes that begin without party 1 are those of the others alone: numbers, noise, graph, ledgers and
/// certificates are worked out for so many.
#[test]
fn a_run_of_nodes_without_a_party_is_that_of_the_others() {
    let of_nodes = |name: &str| R_ADMM.replace("r-admm", name).replace("= 6", "= 3");
    let walk = WALK.replace("= 60", "= 24");
    let ring = "local\"\ntopology = \"ring";
    for (job, trust, parties) in [
        (&of_nodes("r-admm"), ring, 5),
        (&walk, "network", 4),
        (&of_nodes("federated"), "local", 3),
        (&of_nodes("federated"), "central", 3),
        // One of five may be corrupt, and one of four.
        (&of_nodes("federated"), "secure-aggregation", 5),
        (&of_nodes("dp-admm"), "local", 3),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), parties, job, trust);
        let here: Vec<u32> = (0..parties).filter(|party| *party != 1).collect();
        let lead = striking(2, &["party-1"]);
        let own = HostOptions { least: Some(2), ..options() };
        let (led, joined) = come(&world, &here, &lead, &own);
        let led = led.unwrap_or_else(|why| panic!("{job} {trust}: {why}"));
        assert_eq!(*lead.struck.lock().unwrap(), ["party-1"]);
        let joined: Vec<_> = joined.into_iter().map(Result::unwrap).collect();
        // A world of those who came.
        let alone = tempfile::tempdir().unwrap();
        let alone = World::trusting(alone.path(), parties - 1, job, trust);
        alone.take_tables(&world, &here);
        match job {
            job if *job == walk => check_walk(&alone, &led, &models(joined)),
            job if job.contains("r-admm") => check_graph(&alone, &led, &models(joined)),
            _ => check_steps(&alone, &led, joined),
        }
        let file = world.at("late.budget");
        let promise = Promise::new("clinic", 9.0, 1e-5).unwrap();
        let promise = match *job == walk {
            true => Promise { view: View::Network, unit: Unit::User, ..promise },
            false => promise,
        };
        Store::create(&file, promise).unwrap();
        comes_late(&world, Some(JoinBudget { file: &file, relation: Relation::Same }));
        assert!(Store::open(&file).unwrap().summary().unwrap().jobs.is_empty(), "{job}");
    }
}

/// A party falls in a run that has begun without another, and nobody is left out of it: the others end by its
/// name, and the same commands go on, of the lead too.
#[test]
fn a_run_of_nodes_without_a_party_goes_on_after_a_fall() {
    for (job, trust) in [
        (R_ADMM.to_owned(), "local"),
        (R_ADMM.replace("r-admm", "federated"), "secure-aggregation"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, &job, trust);
        let own = HostOptions { least: Some(2), ..options() };
        falls_in_its_third_turn(&world, &own);
        let (led, joined) = come(&world, &[0, 2], &striking(2, &["party-1"]), &own);
        let joined: Vec<_> = joined.into_iter().map(Result::unwrap).collect();
        let alone = tempfile::tempdir().unwrap();
        let alone = World::trusting(alone.path(), 2, &job, trust);
        alone.take_tables(&world, &[0, 2]);
        match trust {
            "local" => check_graph(&alone, &led.unwrap(), &models(joined)),
            _ => check_steps(&alone, &led.unwrap(), joined),
        }
    }
}

/// Party 0 falls when it has written three times, and is known to be gone.
fn falls_in_its_third_turn(world: &World, own: &HostOptions) {
    let (turns, fallen) = (AtomicU32::new(0), Arc::new(AtomicBool::new(false)));
    let (gone, away) = (Arc::clone(&fallen), striking(2, &["party-1"]).lead);
    let falls = move |moment| {
        if moment == Moment::AfterCommit("turn") && turns.fetch_add(1, Ordering::Relaxed) == 2 {
            fallen.store(true, Ordering::Relaxed);
            panic!("it falls here");
        }
    };
    let known: KnownGone = Arc::new(move |name: &str| {
        name == "party-1" || name == "party-0" && gone.load(Ordering::Relaxed)
    });
    let (_net, listener, dialers) = world.net();
    std::thread::scope(|scope| {
        let lead = HostOptions { gone: Some(known), ..away };
        let led = scope.spawn(|| world.lead(lead, listener));
        let (ended, waits) = until_raised(own);
        let last = scope.spawn(|| world.join(2, waits, &*dialers[2]));
        let falls = HostOptions { witness: Some(Arc::new(falls)), ..own.clone() };
        assert!(scope.spawn(|| world.join(0, falls, &*dialers[0])).join().is_err());
        let led = led.join().unwrap();
        assert!(matches!(&led, Err(HostError::Absent { who, .. }) if who == "party-0"), "{led:?}");
        ended.store(true, Ordering::Relaxed);
        assert!(last.join().unwrap().unwrap_err().may_go_on());
    });
}

/// What is left of a graph that is given must be in one piece; where it is not, nobody has begun.
#[test]
fn what_is_left_of_a_given_graph_is_one_piece_or_refused_by_name() {
    for (edges, whole) in [("0 1\n1 2\n2 3\n", false), ("0 1\n1 2\n2 3\n3 0\n1 3\n", true)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("edges.txt"), edges).unwrap();
        let trust = "local\"\ntopology = \"file:edges.txt";
        let world = World::trusting(folder.path(), 4, R_ADMM, trust);
        let lead = striking(2, &["party-1"]);
        let own = HostOptions { least: Some(2), ..options() };
        let (led, joined) = come(&world, &[0, 2, 3], &lead, &own);
        if whole {
            let job = world.run_file().job.among(&[0, 2, 3]).unwrap();
            let load = |party| {
                let files = Files::one(world.table(party));
                job.load(&files, &mut Run::default()).unwrap()
            };
            let tables = [0, 2, 3].map(load).into();
            let simulated = job.in_one_process(tables, SEED, Run::default()).unwrap();
            led.unwrap();
            for (place, own) in joined.into_iter().enumerate() {
                let own = bits(&own.unwrap().joined.model);
                assert_eq!(own, bits(&simulated.nodes.model(place).unwrap()));
            }
        } else {
            let why = led.unwrap_err().to_string();
            assert!(why.contains("party 2 cannot be reached from party 0"), "{why}");
            for (party, own) in [0, 2, 3].into_iter().zip(joined) {
                let why = own.unwrap_err();
                assert!(matches!(&why, HostError::NotBegun(_) | HostError::Job(_)), "{why:?}");
                let journal = world.at(&format!("party-{party}.journal"));
                assert!(!RunJournal::open(&journal).unwrap().has("joined").unwrap());
            }
        }
    }
}

/// What is said of single parties is said by their numbers in the roster: a smaller budget stays its party's.
#[test]
fn a_smaller_budget_stays_that_of_its_party_where_others_were_struck() {
    let folder = tempfile::tempdir().unwrap();
    let trust = "local\"\nbudgets = { 1 = 1.0, 2 = 0.5 }\n#";
    let job = World::trusting(folder.path(), 4, R_ADMM, trust).run_file().job;
    let events = |job: &RemoteJob, party| {
        let units = vec![Some(60); job.parties() as usize];
        job.plan_of(party, &units).unwrap().total_events()
    };
    let left = job.among(&[0, 2, 3]).unwrap();
    assert!(events(&left, 1) < events(&left, 0), "party 2 is the second of three");
    assert_eq!(events(&left, 0), events(&left, 2));
    assert_eq!(events(&left, 1), events(&job, 2));
    for seats in [&[0, 4][..], &[2, 0], &[1, 1], &[]] {
        let why = job.among(seats).unwrap_err().to_string();
        assert!(why.contains("parties of the roster"), "{why}");
    }
}

/// Behind masks the noise of steps is counted for all who may be corrupt among the parties of the roster: two of
/// ten are two of five.
#[test]
fn masked_steps_count_as_many_corrupt_as_before_others_were_struck() {
    let folder = tempfile::tempdir().unwrap();
    let job = R_ADMM.replace("r-admm", "federated").replace("= 6", "= 2");
    let masked = |name: &str, parties| {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        World::trusting(&folder, parties, &job, "secure-aggregation")
    };
    let (ten, five) = (masked("ten", 10), masked("five", 5));
    let five_of_ten = ten.run_file().job.among(&[0, 1, 2, 3, 4]).unwrap();
    let tables = |world: &World| {
        let load = |party| {
            let files = Files::one(world.table(party));
            five_of_ten.load(&files, &mut Run::default()).unwrap()
        };
        (0..5).map(load).collect()
    };
    let left = five_of_ten.in_one_process(tables(&ten), SEED, Run::default()).unwrap();
    // The same tables, keys and digest: other noise.
    assert_eq!(five.run_file().job.digest(), five_of_ten.digest());
    assert_ne!(bits(&left.model), bits(&five.in_one_process().model));
    // Nobody's noise is certain where both may be corrupt.
    assert!(ten.run_file().job.among(&[0, 1]).is_err());
    assert!(masked("two", 2).run_file().job.plan_of(0, &[Some(60); 2]).is_ok());
}

/// So that the lead waits for somebody once more.
fn forget_receipts(world: &World) {
    let journal = world.at("lead.journal");
    let open = rusqlite::Connection::open(journal).unwrap();
    open.execute("DELETE FROM received", []).unwrap();
}

/// Fewer than the operators allow, and fewer than a party takes part with.
#[test]
fn a_run_of_too_few_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "local");
    // The lead's own number.
    let lead = striking(3, &["party-1", "party-2"]);
    let own = HostOptions { least: Some(1), ..options() };
    let (led, joined) = come(&world, &[0], &lead, &own);
    assert!(
        matches!(&led, Err(HostError::Absent { who, .. }) if who == "party-1, party-2"),
        "{led:?}"
    );
    assert!(joined[0].is_err() && lead.struck.lock().unwrap().is_empty());
    // A party whose run file leaves nobody out, and one that wants three.
    for least in [None, Some(3)] {
        let lead = striking(1, &["party-1"]);
        let own = HostOptions { least, ..options() };
        let (led, joined) = come(&world, &[0, 2], &lead, &own);
        assert!(led.is_err());
        let why = joined.into_iter().map(|own| own.unwrap_err().to_string());
        let why: Vec<String> = why.collect();
        let told = why.iter().any(|why| why.contains("a run of 2 of 3 parties"));
        assert!(told, "{why:?}");
    }
}

/// Who has come and does not reveal its nonce is struck when patience is over, and the others begin
/// again with nonces that were not seen.
#[test]
fn a_party_that_does_not_reveal_its_nonce_is_struck() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "local");
    let (_net, listener, dialers) = world.net();
    let Striking { lead, struck, .. } = striking(2, &[]);
    let patience = Duration::from_secs(8);
    let lead = HostOptions { patience, ..lead };
    let own = HostOptions { least: Some(2), ..options() };
    let (led, joined) = std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(lead, listener));
        let mut silent = greeted(&world, &*dialers[1]);
        let joined: Vec<_> = [0_u32, 2]
            .map(|party| {
                let (world, dialer, own) = (&world, &*dialers[party as usize], own.clone());
                scope.spawn(move || world.join(party, own, dialer))
            })
            .into();
        // The roll comes, with everybody in it; nothing is said to it.
        let frame = silent.receive(1 << 17, soon()).unwrap();
        let roll = HostMessage::unpack(&frame).unwrap();
        assert!(matches!(&roll, HostMessage::Roll(seats, _) if seats == &[0, 1, 2]), "{roll:?}");
        std::thread::sleep(patience);
        drop(silent);
        let joined: Vec<_> = joined.into_iter().map(|party| party.join().unwrap()).collect();
        (led.join().unwrap(), joined)
    });
    let led = led.unwrap();
    assert_eq!(*struck.lock().unwrap(), ["party-1"]);
    assert!(joined.into_iter().all(|own| own.unwrap().joined.run == led.run));
}

/// A link on which hello was said for party 1.
fn greeted(world: &World, dialer: &dyn Dial) -> Box<dyn Link> {
    let mut link = dialer.dial(soon()).unwrap();
    let file = world.run_file();
    let hello = Hello {
        host: VERSION,
        wire: reticent::internal::runtime::wire::VERSION,
        program: PROGRAM.to_owned(),
        party: 1,
        roster: file.roster.digest(),
        job: *file.job.digest(),
        commitment: commitment(&[5; 32], Some(60)),
        run: None,
    };
    link.send(&HostMessage::Hello(hello).pack(), soon()).unwrap();
    link
}

/// A lead that shows two parties two lists has no signature of both for one run.
#[test]
fn a_party_is_in_no_run_that_leaves_it_out_or_has_others_than_the_roster() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "local");
    let (_net, listener, dialers) = world.net();
    for (seats, words) in [
        (vec![1, 2], "without this party"),
        (vec![0, 3], "not of the roster"),
        (vec![0, 0], "not of the roster"),
        (vec![], "not of the roster"),
    ] {
        let own = HostOptions { least: Some(1), ..options() };
        let why = std::thread::scope(|scope| {
            let joined = scope.spawn(|| world.join(0, own, &*dialers[0]));
            let mut link = listener.accept(soon()).unwrap().unwrap().link(soon()).unwrap();
            let HostMessage::Hello(hello) =
                HostMessage::unpack(&link.receive(1 << 12, soon()).unwrap()).unwrap()
            else {
                panic!()
            };
            let roll = vec![hello.commitment; seats.len() + 1];
            link.send(&HostMessage::Roll(seats.clone(), roll).pack(), soon()).unwrap();
            joined.join().unwrap().unwrap_err().to_string()
        });
        assert!(why.contains(words), "{seats:?}: {why}");
    }
    assert_eq!(Rejection::Struck.name(), "struck");
}

/// Two of ten may be corrupt: a lead that strikes honest ones has both of them among those who are left.
#[test]
fn a_lead_that_strikes_honest_parties_leaves_as_many_corrupt_as_there_were() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 10, AUTO, "secure-aggregation");
    let job = world.run_file().job;
    let law = |job: &RemoteJob| {
        let units = vec![Some(60); job.parties() as usize];
        let plan = job.sum_plan(&units).unwrap();
        let SumLaw::Masked(members) = plan.law() else { panic!() };
        (members.members(), members.corrupt(), members.certain())
    };
    assert_eq!(law(&job), (10, 2, 6));
    assert_eq!(law(&job.among(&[0, 1, 2, 3, 4, 5]).unwrap()), (6, 2, 3));
    // Nobody's noise is certain where both may be corrupt.
    assert!(job.among(&[0, 1]).is_err());
}

/// Where numbers of records are private the public one is of all parties: those who are in have their share of
/// it, as where somebody leaves, and answers are not divided by the records of those who were struck.
#[test]
fn the_public_number_of_records_is_that_of_those_who_are_in() {
    let folder = tempfile::tempdir().unwrap();
    let job = format!("{AUTO}adjacency = \"add-remove\"\npublic_n = 180\n");
    let world = World::trusting(folder.path(), 3, &job, "local");
    let lead = striking(2, &["party-1"]);
    let own = HostOptions { least: Some(2), ..options() };
    let (led, joined) = come(&world, &[0, 2], &lead, &own);
    let model = Model::from_json(&led.unwrap().model).unwrap();
    assert_eq!(model.certificate().population, 120);
    for own in joined {
        assert_eq!(own.unwrap().joined.model.certificate().population, 120);
    }
}

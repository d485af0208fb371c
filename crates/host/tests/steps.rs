//! Federated steps on a network, closed for a trusted lead or behind masks: the bits of one process over every
//! kind of link, each party's own certificate and payment, kills, journals that are set back, and a lead that
//! tells two things.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reticent::simulate::SimulationSpec;
use reticent::{JobFile, Model, PublicKey, View};
use reticent_budget::{Promise, Relation, Store};
use reticent_host::message::HostMessage;
use reticent_host::{HostError, HostOptions, JoinBudget, Led, Moment, RunFile, RunJournal};
use reticent_noise::NoiseKey;

use super::crash::set_back;
use super::peers::{cut, models, ran};
use super::relays::{Twist, as_it_is, twisted};
use super::world::{World, assert_alike, bits, options};
#[cfg(unix)]
use super::written::at_this_instant;

pub const STEPS: &str =
    "algorithm = \"federated\"\nunit = \"record\"\nepsilon = 4.0\ndelta = 1e-5\niterations = 4\n";

/// Each party is one person.
fn of_persons() -> String {
    STEPS.replace("\"record\"", "\"user\"")
}

/// The model, the ledgers and the ε of one process; the numbers are the same everywhere.
fn check(world: &World, led: &Led, joined: &[Model]) {
    let simulated = world.in_one_process();
    assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    assert_alike(&Model::from_json(&led.model).unwrap(), &simulated.model);
    for (party, own) in joined.iter().enumerate() {
        assert_eq!(bits(own), bits(&simulated.model));
        let (own, other) = (own.certificate(), simulated.parties.party(party).unwrap());
        assert_eq!((&own.ledger, own.view), (&other.ledger, other.view));
        assert_eq!(own.epsilon.to_bits(), other.epsilon.to_bits());
    }
}

#[test]
fn federated_has_the_bits_of_one_process_under_every_trust() {
    for (trust, job, parties) in [
        ("central", STEPS.to_owned(), 3),
        ("central", STEPS.to_owned() + "sampling = \"poisson:0.5\"\n", 3),
        ("central", of_persons() + "sampling = \"wor:2\"\n", 4),
        ("secure-aggregation", STEPS.to_owned(), 3),
        ("secure-aggregation", of_persons(), 3),
        ("secure-aggregation", of_persons() + "sampling = \"wor:3\"\n", 5),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), parties, &job, trust);
        let (led, joined) = ran(&world, &options());
        check(&world, &led, &models(joined));
    }
}

#[cfg(unix)]
#[test]
fn federated_has_the_bits_of_one_process_over_every_link() {
    use super::ways::Way;
    for (trust, way) in [
        ("central", Way::Socket),
        ("central", Way::Quic),
        ("secure-aggregation", Way::Socket),
        ("secure-aggregation", Way::Tls),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 2, STEPS, trust);
        let (roster, names) = (world.run_file().roster, ["party-0", "party-1"]);
        let carried = way.carried(&world, &names);
        let listener = way.listener(&world, &roster);
        let dialers: Vec<_> = names.iter().map(|name| way.dialer(&world, &roster, name)).collect();
        let (led, joined) = world.all(&options(), listener, &dialers);
        let joined: Vec<_> = joined.into_iter().map(Result::unwrap).collect();
        check(&world, &led.unwrap(), &models(joined));
        drop((dialers, carried));
    }
}

/// With keys of the operating system: signed by itself, with all that it takes as given, and paid for once.
#[test]
fn each_party_of_federated_certifies_all_that_it_takes_as_given_and_pays_once() {
    let sampled =
        of_persons().replace("iterations = 4", "iterations = 3") + "sampling = \"wor:2\"\n";
    for (trust, job, view, said) in [
        (
            "central",
            STEPS,
            View::Central,
            ["adds the noise that is counted", "trusted with every user's contribution", "Ed25519"],
        ),
        (
            "secure-aggregation",
            &sampled,
            View::SecureAggregation,
            ["the server may do as it likes", "follows from the run's name", "journal is put back"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, job, trust);
        let own = HostOptions { seed: None, ..options() };
        let files: Vec<_> = (0..3).map(|party| world.at(&format!("{party}.budget"))).collect();
        for file in &files {
            let promise = Promise::new("clinic", 5.0, 1e-5).unwrap();
            let unit = if job == STEPS { promise.unit } else { reticent::Unit::User };
            Store::create(file, Promise { view, unit, ..promise }).unwrap();
        }
        let (_net, listener, dialers) = world.net();
        let (led, joined) = std::thread::scope(|scope| {
            let led = scope.spawn(|| world.lead(own.clone(), listener));
            let join = |party: usize| {
                let budget = JoinBudget { file: &files[party], relation: Relation::Same };
                let (world, own, dialer) = (&world, own.clone(), &*dialers[party]);
                scope.spawn(move || world.join_paid(party as u32, own, dialer, Some(budget)))
            };
            let joined: Vec<_> = (0..3).map(join).collect();
            let joined: Vec<_> =
                joined.into_iter().map(|own| own.join().unwrap().unwrap()).collect();
            (led.join().unwrap().unwrap(), joined)
        });
        let lead = Model::from_json(&led.model).unwrap();
        for (party, own) in joined.into_iter().enumerate() {
            let model = own.joined.model;
            let certificate = model.certificate();
            assert_eq!(bits(&model), bits(&lead));
            assert!(certificate.certified && certificate.epsilon <= 4.0, "{certificate:?}");
            let key: PublicKey = world.identity(&format!("party-{party}")).public();
            assert_eq!(model.verify(Some(&key)).unwrap().summary(), None);
            let assumed = certificate.assumptions.join("\n");
            assert!(said.iter().all(|part| assumed.contains(part)), "{assumed}");
            assert!(!assumed.contains("the server follows the protocol"), "{assumed}");
            let jobs = Store::open(&files[party]).unwrap().summary().unwrap().jobs;
            let states: Vec<_> = jobs.iter().map(|job| job.status.name()).collect();
            assert_eq!(states, ["settled"]);
            let journal = RunJournal::open(&world.at(&format!("party-{party}.journal"))).unwrap();
            let left = ["joined", "node", "mail", "peers"].map(|name| journal.has(name).unwrap());
            assert_eq!(left, [false; 4], "masks and keys are forgotten");
        }
        let journal = RunJournal::open(&world.at("lead.journal")).unwrap();
        assert!(!journal.has("begun").unwrap() && !journal.has("node").unwrap());
    }
}

/// Before and after commits and sends, at every step of a masked sum.
#[test]
fn a_party_of_federated_that_is_killed_goes_on_with_the_same_bits() {
    for ends in [(0, 5), (1, 5), (1, 6), (1, 7), (1, 8), (2, 9), (3, 9)] {
        cut((STEPS, "secure-aggregation"), "party-0", ends);
    }
    for ends in [(0, 6), (1, 6), (2, 8)] {
        cut((STEPS, "central"), "party-0", ends);
    }
}

#[test]
fn a_lead_of_federated_that_is_killed_goes_on_with_the_same_bits() {
    for ends in [(0, 7), (1, 7), (1, 8), (0, 9), (3, 16)] {
        cut((STEPS, "secure-aggregation"), "lead", ends);
    }
    for ends in [(0, 7), (1, 7), (3, 13)] {
        cut((STEPS, "central"), "lead", ends);
    }
}

/// What the lead writes at every turn is as long in the last round as in the first: the course of the run is added to,
/// row by row, and what was said in a round is forgotten with it.
#[cfg(unix)]
#[test]
fn a_lead_of_federated_writes_the_course_of_a_run_once() {
    let job = STEPS.replace("iterations = 4", "iterations = 16");
    for trust in ["central", "secure-aggregation"] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 2, &job, trust);
        let (journal, kept) = (world.at("lead.journal"), Arc::new(Mutex::new(Vec::new())));
        let own = Arc::clone(&kept);
        let witness = move |moment| {
            if moment == Moment::AfterCommit("turn") {
                let (_folder, journal) = at_this_instant(&journal);
                let node = journal.get::<Vec<u8>>("node").unwrap().unwrap().len();
                let rows = journal.listed::<Vec<u8>>("piece").unwrap();
                let names: BTreeSet<String> = rows.into_iter().map(|(name, _)| name).collect();
                own.lock().unwrap().push((node, names));
            }
        };
        let (_net, listener, dialers) = world.net();
        std::thread::scope(|scope| {
            let lead = HostOptions { witness: Some(Arc::new(witness)), ..options() };
            let led = scope.spawn(|| world.lead(lead, listener));
            let joined = [0, 1].map(|party| {
                let (world, dialer) = (&world, &*dialers[party]);
                scope.spawn(move || world.join(party as u32, options(), dialer))
            });
            joined.into_iter().for_each(|own| drop(own.join().unwrap().unwrap()));
            led.join().unwrap().unwrap();
        });
        let kept = kept.lock().unwrap();
        let (all, third) = (kept.len(), kept.len() / 3);
        let most = |kept: &[(usize, BTreeSet<String>)]| kept.iter().map(|own| own.0).max().unwrap();
        let (early, late) = (most(&kept[..third]), most(&kept[all - third..]));
        assert!(late <= early + 64, "{trust}: {early} and {late} bytes");
        for (_, names) in kept.iter() {
            let count = |list: &str| names.iter().filter(|name| name.starts_with(list)).count();
            let zs = count("piece z ");
            assert!((0..zs).all(|number| names.contains(&format!("piece z {number}"))));
            let heard: BTreeSet<_> =
                names.iter().filter_map(|name| name.split(' ').nth(1)).collect();
            assert!(heard.len() <= 2, "{heard:?}");
        }
        assert_eq!(kept.last().unwrap().1.iter().filter(|name| name.contains(" z ")).count(), 16);
        let journal = RunJournal::open(&world.at("lead.journal")).unwrap();
        assert!(journal.listed::<Vec<u8>>("piece").unwrap().is_empty(), "it is over");
    }
}

/// A journal that was put back from an old copy answers nothing again.
#[test]
fn a_journal_of_federated_that_was_set_back_is_found_out() {
    let job = STEPS.replace("iterations = 4", "iterations = 8");
    for trust in ["central", "secure-aggregation"] {
        set_back(&job, trust);
    }
}

/// A lead that has one party close its steps for another key than the others, or for none: nobody joins.
#[test]
fn a_lead_that_tells_two_keys_for_steps_has_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 2, STEPS, "central");
    let job = world.run_file().job;
    let another = move |units: &[Option<u64>]| {
        job.step_key(&NoiseKey::seeded(99), (&[1; 32], units)).unwrap()
    };
    let lies: [(&str, Twist); 2] = [
        (
            "signed another run",
            Arc::new(move |message| match message {
                HostMessage::Terms(terms, _) => {
                    let key = another(&terms.units);
                    HostMessage::Terms(terms, key)
                }
                other => other,
            }),
        ),
        (
            "did not come",
            Arc::new(|message| match message {
                HostMessage::Terms(terms, _) => HostMessage::Terms(terms, Vec::new()),
                other => other,
            }),
        ),
    ];
    for (why, come) in lies {
        let own = HostOptions { patience: Duration::from_secs(3), ..options() };
        let (joined, said) = twisted(&world, &own, (come, as_it_is()));
        assert!(joined.iter().all(Result::is_err), "{why}");
        assert!(said.iter().any(|said| said.contains(why)), "{said:?}");
        let journal = RunJournal::open(&world.at("party-1.journal")).unwrap();
        assert!(!journal.has("joined").unwrap(), "nothing is spent");
    }
}

/// The model of a trusted lead is signed by it, number by number.
#[test]
fn a_model_that_the_lead_has_not_signed_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 2, STEPS, "central");
    let come: Twist = Arc::new(|message| match message {
        HostMessage::Model(text) => HostMessage::Model(text.replacen("0.", "1.", 1)),
        other => other,
    });
    let own = HostOptions { patience: Duration::from_secs(3), ..options() };
    let (mut joined, _) = twisted(&world, &own, (come, as_it_is()));
    assert!(matches!(joined.remove(0), Err(HostError::Ended(_))));
    assert!(joined.remove(0).is_ok());
}

/// What is not proven behind masks on a network is refused by name before anybody is called.
#[test]
fn what_federated_cannot_do_on_a_network_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, STEPS, "secure-aggregation");
    for (more, trust, why) in [
        ("sampling = \"poisson:0.5\"\n", "secure-aggregation", "known beforehand"),
        ("as_published = true\n", "central", "no certificate"),
        ("", "secure-aggregation\"\nbudgets = { 1 = 0.5 }\n#", "smaller budget"),
        ("", "network", "guarantee for local, secure-aggregation, central only"),
    ] {
        World::found(folder.path(), 3, STEPS, trust)
            .write_run("run.toml", &format!("{STEPS}{more}"));
        let refused = RunFile::read(&world.at("run.toml")).unwrap_err().to_string();
        assert!(refused.contains(why), "{more} {trust}: {refused}");
    }
    // Sums of more members are on a sparse graph, which is not proven against a lead that lies.
    let members = |sampling: &str| {
        let text = format!(
            "schema = \"schema.toml\"\n{STEPS}{sampling}[parties]\ntrust = \"secure-aggregation\"\n"
        );
        std::fs::write(world.at("masked.toml"), text).unwrap();
        JobFile::<SimulationSpec>::read(&world.at("masked.toml")).unwrap().job.remote(300)
    };
    let why = members("").unwrap_err().to_string();
    assert!(why.contains("at most 255 members"), "{why}");
    assert!(members("sampling = \"wor:200\"\n").is_ok());
}

//! Peers on a graph and the walk, through a lead that carries what it cannot read: the bits of one
//! process, each peer's own certificate, and what a kill leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reticent::{Model, PublicKey, Unit, View};
use reticent_budget::{Promise, Relation, Store};
use reticent_host::links::Dial;
use reticent_host::{
    HostError, HostOptions, JoinBudget, KnownGone, Led, Moment, PaidRun, RunFile, RunJournal,
    let_go,
};

use super::crash::{Members, set_back};
use super::world::{World, assert_alike, bits, options, until_raised};

/// A token among persons, seen by one of them or by the observer.
pub const WALK: &str = "algorithm = \"walk\"\nunit = \"user\"\nepsilon = 8.0\ndelta = 1e-5\niterations = 60\n\
    gamma = 1.0\npenalty = \"l2:1e-2\"\n";

pub const R_ADMM: &str = "algorithm = \"r-admm\"\nepsilon = 4.0\ndelta = 1e-5\niterations = 6\n";

pub fn ran(world: &World, own: &HostOptions) -> (Led, Vec<PaidRun>) {
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(own, listener, &dialers);
    (led.unwrap(), joined.into_iter().map(Result::unwrap).collect())
}

/// Every peer has the last f that it has in one process, with a ledger of its own.
pub fn check_graph(world: &World, led: &Led, joined: &[Model]) {
    let simulated = world.in_one_process();
    assert!(led.model.is_empty() && led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    for (party, own) in joined.iter().enumerate() {
        assert_eq!(bits(own), bits(&simulated.nodes.model(party).unwrap()), "{party}");
        let other = simulated.parties.party(party).unwrap();
        assert_eq!(own.certificate().ledger, other.ledger);
        assert_eq!(own.certificate().epsilon.to_bits(), other.epsilon.to_bits());
        assert_eq!(own.certificate().view, View::Local);
    }
    assert!(joined.iter().any(|own| bits(own).iter().any(|bits| *bits != 0)));
}

/// The observer has the token that it has in one process.
pub fn check_walk(world: &World, led: &Led, joined: &[Model]) {
    let simulated = world.in_one_process();
    assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    assert_alike(&Model::from_json(&led.model).unwrap(), &simulated.model);
    for (party, own) in joined.iter().enumerate() {
        assert_eq!(own.certificate().ledger, simulated.parties.party(party).unwrap().ledger);
        assert_eq!(own.certificate().view, View::Network);
    }
}

pub fn models(joined: Vec<PaidRun>) -> Vec<Model> {
    joined.into_iter().map(|own| own.joined.model).collect()
}

#[test]
fn peers_on_a_graph_have_the_bits_of_one_process() {
    for algorithm in ["r-admm", "mr-admm", "dvp", "m-admm"] {
        let folder = tempfile::tempdir().unwrap();
        let job = R_ADMM.replace("r-admm", algorithm);
        let world = World::trusting(folder.path(), 4, &job, "local\"\ntopology = \"ring");
        let (led, joined) = ran(&world, &options());
        check_graph(&world, &led, &models(joined));
    }
}

#[test]
fn a_walk_has_the_bits_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, WALK, "network");
    let (led, joined) = ran(&world, &options());
    check_walk(&world, &led, &models(joined));
}

/// A server that asks for steps: its model, with each party's own certificate.
#[test]
fn steps_that_a_server_asks_for_have_the_bits_of_one_process() {
    for (algorithm, more) in [
        ("federated", ""),
        ("federated", "sampling = \"wor:2\"\n"),
        ("dp-admm", ""),
        ("dp-admm-exact", "penalty = \"l2:1e-1\"\n"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let job = R_ADMM.replace("r-admm", algorithm) + more;
        let world = World::trusting(folder.path(), 3, &job, "local");
        let (led, joined) = ran(&world, &options());
        let simulated = world.in_one_process();
        assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
        assert_alike(&Model::from_json(&led.model).unwrap(), &simulated.model);
        for (party, own) in models(joined).iter().enumerate() {
            assert_eq!(bits(own), bits(&simulated.model), "{algorithm}");
            assert_eq!(own.certificate().ledger, simulated.parties.party(party).unwrap().ledger);
        }
    }
}

/// Where everybody sees every token the last one is somebody's own.
#[test]
fn a_walk_that_all_see_ends_with_the_token_of_one_process() {
    for (form, unit) in [("stateful", "user"), ("stateless", "record")] {
        let folder = tempfile::tempdir().unwrap();
        let job =
            WALK.replace("\"user\"", &format!("\"{unit}\"")) + &format!("walk = \"{form}\"\n");
        let world = World::trusting(folder.path(), 3, &job, "local");
        let (led, joined) = ran(&world, &options());
        assert!(led.model.is_empty(), "the lead has no seat");
        let last = bits(&world.in_one_process().model);
        assert!(models(joined).iter().any(|own| bits(own) == last), "{form}");
    }
}

#[cfg(unix)]
#[test]
fn peers_over_tls_and_quic_have_the_bits_of_one_process() {
    use super::ways::Way;
    for (job, trust, way) in [(WALK, "network", None), (R_ADMM, "local", Some(Way::Quic))] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, job, trust);
        let roster = world.run_file().roster;
        let names = ["party-0", "party-1", "party-2"];
        let listener = match &way {
            Some(way) => way.listener(&world, &roster),
            None => world.tls_listener().unwrap(),
        };
        let dialer = |name: &&str| match &way {
            Some(way) => way.dialer(&world, &roster, name),
            None => Box::new(world.tls_dialer(name)) as Box<dyn Dial>,
        };
        let dialers: Vec<_> = names.iter().map(dialer).collect();
        let (led, joined) = world.all(&options(), listener, &dialers);
        let (led, joined) = (led.unwrap(), joined.into_iter().map(Result::unwrap).collect());
        match job == WALK {
            true => check_walk(&world, &led, &models(joined)),
            false => check_graph(&world, &led, &models(joined)),
        }
    }
}

/// With keys of the operating system: a certificate of its own, signed by itself, with all that it takes
/// as given; paid for once. The model of an observed walk is not handed to the users.
#[test]
fn each_peer_certifies_its_own_words_and_pays_for_them_once() {
    for (job, trust, said) in [
        (
            WALK,
            "network",
            ["carries what users say", "for that user alone", "how many records it has"],
        ),
        (
            R_ADMM,
            "local",
            ["who holds which record", "journal is put back", "when a party answers"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, job, trust);
        let own = HostOptions { seed: None, ..options() };
        let files: Vec<_> = (0..3).map(|party| world.at(&format!("{party}.budget"))).collect();
        for file in &files {
            let promise = Promise::new("clinic", 9.0, 1e-5).unwrap();
            let promise = match job == WALK {
                // What is counted against one peer is paid from a budget that promises no more.
                true => Promise { view: View::Network, unit: Unit::User, ..promise },
                false => promise,
            };
            Store::create(file, promise).unwrap();
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
        let mut alike = 0;
        for (party, own) in joined.into_iter().enumerate() {
            let certificate = own.joined.model.certificate();
            assert!(certificate.certified && certificate.epsilon <= 8.0, "{certificate:?}");
            let key: PublicKey = world.identity(&format!("party-{party}")).public();
            assert_eq!(own.joined.model.verify(Some(&key)).unwrap().summary(), None);
            let assumed = certificate.assumptions.join("\n");
            assert!(said.iter().all(|part| assumed.contains(part)), "{assumed}");
            assert!(!assumed.contains("told to nobody"), "seats are the roster's: {assumed}");
            let jobs = Store::open(&files[party]).unwrap().summary().unwrap().jobs;
            let states: Vec<_> = jobs.iter().map(|job| job.status.name()).collect();
            assert_eq!(states, ["settled"]);
            let observed = (job == WALK).then(|| bits(&Model::from_json(&led.model).unwrap()));
            alike += u32::from(observed == Some(bits(&own.joined.model)));
            let journal = RunJournal::open(&world.at(&format!("party-{party}.journal"))).unwrap();
            assert!(!journal.has("mail").unwrap() && !journal.has("peers").unwrap());
        }
        // Whom the observer gave the token to last may have seen the same one, and nobody else.
        assert!(alike <= 1, "the model of the observer was handed out");
    }
}

/// One run in which `role` ends at this moment, and is started again.
pub fn cut((job, trust): (&str, &str), role: &str, ends: (usize, u32)) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 2, job, trust);
    let mut members = Members { world: &world, children: Vec::new() };
    let roles = ["lead", "party-0", "party-1"];
    for own in roles {
        members.start(own, (own == role).then_some(ends));
    }
    assert!(!members.wait(role), "{role} came to its end before {ends:?}: {}", members.end(role));
    members.start(role, None);
    for own in roles {
        assert!(members.wait(own), "{own} was killed");
        assert_eq!(members.end(own), "done", "{own}, {role} cut at {ends:?}");
    }
    let read = |role: &str| std::fs::read_to_string(world.at(&format!("{role}.model"))).unwrap();
    let joined: Vec<_> =
        roles[1..].iter().map(|role| Model::from_json(&read(role)).unwrap()).collect();
    let simulated = world.in_one_process();
    match job == WALK {
        true => assert_alike(&Model::from_json(&read("lead")).unwrap(), &simulated.model),
        false if job == R_ADMM => (0..2).for_each(|party| {
            assert_eq!(bits(&joined[party]), bits(&simulated.nodes.model(party).unwrap()));
        }),
        false => joined.iter().for_each(|own| assert_eq!(bits(own), bits(&simulated.model))),
    }
    // Nothing is left of what was said, or of the keys that it was closed by.
    let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
    let left = ["joined", "node", "mail", "peers"].map(|name| journal.has(name).unwrap());
    assert_eq!((left, journal.has("model").unwrap()), ([false; 4], true));
}

/// Before and after commits and sends, of the keys, of shares and of what was heard.
#[test]
fn a_peer_on_a_graph_that_is_killed_goes_on_with_the_same_bits() {
    for (moment, count) in [(0, 4), (1, 4), (0, 6), (1, 6), (2, 8), (3, 8), (0, 10)] {
        cut((R_ADMM, "local"), "party-0", (moment, count));
    }
    cut((R_ADMM, "local"), "lead", (3, 13));
}

/// The same of tokens and receipts; and of the observer, which is the lead.
#[test]
fn a_walker_that_is_killed_goes_on_with_the_same_bits() {
    for (moment, count) in [(0, 5), (1, 5), (2, 10), (3, 10), (1, 14)] {
        cut((WALK, "network"), "party-0", (moment, count));
    }
    for (moment, count) in [(0, 7), (1, 7), (3, 44)] {
        cut((WALK, "network"), "lead", (moment, count));
    }
}

#[test]
fn a_party_or_a_server_of_steps_that_is_killed_goes_on_with_the_same_bits() {
    let job = R_ADMM.replace("r-admm", "federated");
    for (role, ends) in [
        ("party-0", (0, 6)),
        ("party-0", (1, 6)),
        ("lead", (0, 8)),
        ("lead", (1, 8)),
        ("lead", (3, 16)),
    ] {
        cut((&job, "local"), role, ends);
    }
}

/// A journal that was put back from an old copy says nothing again: the others have heard more of it than it knows.
#[test]
fn a_journal_of_a_peer_that_was_set_back_is_found_out() {
    let star = R_ADMM.replace("r-admm", "federated");
    for (job, trust) in [(R_ADMM, "local"), (WALK, "network"), (&star, "local")] {
        set_back(job, trust);
    }
}

/// What no network runs, or is not proven there, is refused by name before anybody is called.
#[test]
fn what_peers_cannot_do_on_a_network_is_refused_by_name() {
    for (job, trust, why) in [
        (R_ADMM.replace("r-admm", "dp-admm"), "central", "local only"),
        (R_ADMM.replace("r-admm", "dp-admm-exact"), "secure-aggregation", "local only"),
        (R_ADMM.replace("r-admm", "admm-network"), "local", "simulate"),
        (R_ADMM.to_owned(), "central", "local only"),
        (R_ADMM.to_owned() + "unit = \"party\"\n", "local", "protected as one person"),
        (super::world::AUTO.to_owned() + "unit = \"party\"\n", "local", "protect records there"),
        (WALK.replace("unit = \"user\"\n", ""), "network", "protect the user"),
        (WALK.to_owned() + "walk = \"stateful\"\nas_published = true\n", "network", "certificate"),
        (WALK.to_owned() + "walk = \"stateful\"\n", "network", "trust local"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, R_ADMM, "local");
        let wrong = World::found(folder.path(), 3, &job, trust);
        wrong.write_run("run.toml", &job);
        let refused = RunFile::read(&world.at("run.toml")).unwrap_err().to_string();
        assert!(refused.contains(why), "{job} {trust}: {refused}");
    }
}

/// Nobody is left out of a run of nodes that is on, whatever number it may begin with: the operator of the
/// lead cannot let a party go that the run could never do without.
#[test]
fn nobody_is_left_out_of_a_run_of_nodes_that_is_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 2, R_ADMM, "local");
    // A run that is on, and whose second party never greets.
    let (_net, listener, dialers) = world.net();
    let (joined, fallen) = (AtomicBool::new(false), Arc::new(AtomicBool::new(false)));
    let gone = Arc::clone(&fallen);
    let falls = move |moment| match moment {
        Moment::AfterCommit("joined") => joined.store(true, Ordering::Relaxed),
        Moment::BeforeSend(_) if joined.load(Ordering::Relaxed) => {
            fallen.store(true, Ordering::Relaxed);
            panic!("it falls here");
        }
        _ => {}
    };
    let known: KnownGone =
        Arc::new(move |name: &str| name == "party-1" && gone.load(Ordering::Relaxed));
    std::thread::scope(|scope| {
        let lead = HostOptions { gone: Some(known), least: Some(1), ..options() };
        let led = scope.spawn(|| world.lead(lead, listener));
        let own = HostOptions { witness: Some(Arc::new(falls)), ..options() };
        let second = scope.spawn(|| world.join(1, own, &*dialers[1]));
        let (ended, own) = until_raised(&HostOptions { least: Some(1), ..options() });
        let first = scope.spawn(|| world.join(0, own, &*dialers[0]));
        assert!(second.join().is_err());
        let led = led.join().unwrap();
        assert!(matches!(&led, Err(HostError::Absent { who, .. }) if who == "party-1"), "{led:?}");
        ended.store(true, Ordering::Relaxed);
        assert!(first.join().unwrap().is_err());
    });
    let mut journal = RunJournal::open(&world.at("lead.journal")).unwrap();
    let why = let_go(&mut journal, "party-1").unwrap_err().to_string();
    assert!(why.contains("nobody is left out"), "{why}");
}

/// A party that says that it has more records than there can be is refused, and stops nobody's program.
#[test]
fn a_number_of_records_that_cannot_be_is_refused_by_name() {
    for job in [R_ADMM.replace("r-admm", "federated"), R_ADMM.to_owned()] {
        let folder = tempfile::tempdir().unwrap();
        let job = World::trusting(folder.path(), 2, &job, "local").run_file().job;
        let why = job.plan_of(0, &[Some(60), Some(u64::MAX)]).unwrap_err().to_string();
        assert!(why.contains("more records together"), "{why}");
    }
}

//! Who is nobody, who says to be another, who says something else than was agreed on, who says too
//! much or too slowly: each is rejected by name, and the run goes on, or nothing is spent.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reticent::simulate::SimulationSpec;
use reticent::{JobFile, Model};
use reticent_budget::{Promise, Relation, Store};
use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::{Hello, HostMessage, Rejection, VERSION};
use reticent_host::{
    HostError, HostOptions, JoinBudget, Notice, PROGRAM, Roster, RosterMember, RunJournal,
    RunTerms, commitment, sign,
};

use super::world::{AUTO, World, assert_same, options, until_raised};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A lead, and all that it has rejected.
fn noted() -> (HostOptions, Arc<Mutex<Vec<String>>>) {
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let own = Arc::clone(&said);
    let notify = Arc::new(move |notice: &Notice| {
        if let Notice::Rejected { name } = notice {
            own.lock().unwrap().push(name.clone());
        }
    });
    (HostOptions { patience: Duration::from_secs(120), notify, ..options() }, said)
}

pub fn hello(world: &World, party: u32) -> Hello {
    let file = world.run_file();
    Hello {
        host: VERSION,
        wire: reticent_runtime_wire(),
        program: PROGRAM.to_owned(),
        party,
        roster: file.roster.digest(),
        job: *file.job.digest(),
        commitment: commitment(&[5; 32], Some(60)),
        run: None,
    }
}

fn reticent_runtime_wire() -> u16 {
    reticent::internal::runtime::wire::VERSION
}

fn say(link: &mut dyn Link, message: &HostMessage) {
    link.send(&message.pack(), soon()).unwrap();
}

fn hear(link: &mut dyn Link) -> Result<HostMessage, LinkError> {
    link.receive(1 << 20, soon()).map(|frame| HostMessage::unpack(&frame).unwrap())
}

/// What a lead answers to a hello.
fn answered(dialer: &dyn Dial, hello: Hello) -> Result<HostMessage, LinkError> {
    let mut link = dialer.dial(soon())?;
    say(&mut *link, &HostMessage::Hello(hello));
    hear(&mut *link)
}

/// A stranger, a key that is not good any more, another's number, other versions, another roster,
/// another job, a run of another time, what is no message, half a frame, a frame without end, and
/// bytes that are no TLS: then the run itself, which none of them has changed.
#[test]
fn who_may_not_is_rejected_by_name_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let listener = world.tls_listener().unwrap();
    let (lead_options, rejected) = noted();
    let address = world.run_file().roster.lead_address().to_owned();
    std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(lead_options, listener));
        // Not in the roster: the lead does not take the key.
        world.identity("stranger");
        let refused = answered(&world.tls_dialer("stranger"), hello(&world, 0)).unwrap_err();
        assert!(matches!(&refused, LinkError::Untrusted(_) | LinkError::Closed), "{refused:?}");
        // The lead's own key does not join.
        assert!(answered(&world.tls_dialer("lead"), hello(&world, 0)).is_err());
        let own = world.tls_dialer("party-0");
        let check = |hello: Hello, name: &str| {
            let said = answered(&own, hello).unwrap();
            let HostMessage::Refused(why) = said else { panic!("{said:?}") };
            assert_eq!(why.name(), name);
        };
        check(hello(&world, 1), "not yours");
        check(hello(&world, u32::MAX), "not yours");
        check(Hello { host: 9, ..hello(&world, 0) }, "other version");
        check(Hello { program: "0.0.1".to_owned(), ..hello(&world, 0) }, "other version");
        check(Hello { roster: [1; 32], ..hello(&world, 0) }, "other roster");
        check(Hello { job: [1; 32], ..hello(&world, 0) }, "other job");
        check(Hello { run: Some([1; 32]), ..hello(&world, 0) }, "unknown run");
        let mut link = own.dial(soon()).unwrap();
        link.send(&[255; 40], soon()).unwrap();
        let malformed = HostMessage::Refused(Rejection::Malformed);
        assert_eq!(hear(&mut *link).unwrap(), malformed);
        let mut link = own.dial(soon()).unwrap();
        say(&mut *link, &HostMessage::Received);
        assert_eq!(hear(&mut *link).unwrap(), HostMessage::Refused(Rejection::Unexpected));
        // Longer than any hello: refused by its length.
        let mut link = own.dial(soon()).unwrap();
        link.send(&vec![0; 5_000], soon()).unwrap();
        assert!(hear(&mut *link).is_err());
        // No TLS, and half a frame that never ends: they wait for nobody but themselves.
        let mut plain = TcpStream::connect(&address).unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let silent: Vec<TcpStream> =
            (0..20).map(|_| TcpStream::connect(&address).unwrap()).collect();
        let joined: Vec<_> = (0..2)
            .map(|party| {
                let world = &world;
                scope.spawn(move || {
                    let dialer = world.tls_dialer(&format!("party-{party}"));
                    world.join(party, options(), &dialer)
                })
            })
            .collect();
        let simulated = world.simulated();
        for own in joined {
            assert_same(&own.join().unwrap().unwrap().joined.model, &simulated);
        }
        let led = led.join().unwrap().unwrap();
        assert_same(&Model::from_json(&led.model).unwrap(), &simulated);
        // However many keys strangers come with, they are counted under one name.
        let untrusted: Vec<_> =
            led.rejections.iter().filter(|(name, _)| name.contains("trusted")).collect();
        assert_eq!(untrusted, [(&"untrusted".to_owned(), &2)]);
        drop(silent);
    });
    let rejected = rejected.lock().unwrap();
    for name in
        ["not yours", "other version", "other roster", "other job", "unknown run", "malformed"]
            .into_iter()
            .chain(["unexpected", "oversized", "no handshake"])
    {
        assert!(rejected.iter().any(|own| own == name), "{name}: {rejected:?}");
    }
    assert!(rejected.iter().any(|own| own.contains("nobody's in the roster")), "{rejected:?}");
    assert!(rejected.iter().any(|own| own.contains("who does not join")), "{rejected:?}");
}

#[test]
fn a_key_that_is_not_good_any_more_and_a_false_lead_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 1, AUTO);
    let listener = world.tls_listener().unwrap();
    let roster = world.run_file().roster;
    // A roster in which the lead at this address has another key, and one whose lead is of yesterday.
    let lead = |name: &str, until: Option<&str>| RosterMember {
        address: Some(roster.lead_address().to_owned()),
        until: until.map(str::to_owned),
        ..world.member(name)
    };
    let dialled = |lead: RosterMember| {
        let other = Roster::new(&world.at("other.toml"), "a study", lead).unwrap();
        let other = Arc::new(other.with(world.member("party-0")).unwrap());
        let identity = Arc::new(world.identity("party-0"));
        let dialer = reticent_host::links::tls::TlsDialer::new(&identity, &other).unwrap();
        dialer.dial(soon()).map(drop)
    };
    std::thread::scope(|scope| {
        let (dialled_all, mine) = until_raised(&options());
        let led = scope.spawn(|| world.lead(mine, listener));
        let why = |lead: RosterMember| match dialled(lead) {
            Err(LinkError::Untrusted(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(lead("another", None)).contains("nobody's in the roster"));
        assert!(why(lead("lead", Some("2020-01-01"))).contains("good until 2020-01-01"));
        dialled(lead("lead", None)).unwrap();
        dialled_all.store(true, Ordering::Relaxed);
        // Nobody has come: a named end.
        assert!(matches!(led.join().unwrap(), Err(HostError::Absent { .. })));
    });
}

/// A lead that answers a party by hand.
struct FalseLead<'w> {
    world: &'w World,
    link: Box<dyn Link>,
    hello: Hello,
}

impl<'w> FalseLead<'w> {
    fn new(world: &'w World, listener: &dyn reticent_host::links::Listen) -> Self {
        let mut link = listener.accept(soon()).unwrap().unwrap().link(soon()).unwrap();
        let HostMessage::Hello(hello) = hear(&mut *link).unwrap() else { panic!() };
        FalseLead { world, link, hello }
    }

    /// Goes through the lobby, the other parties' parts and all; `job` is what they were told.
    fn lobby(&mut self, job: [u8; 32], forge: bool) {
        let begin = self.agreed(job, forge);
        say(&mut *self.link, &begin);
    }

    /// The same up to the beginning, which is returned.
    fn agreed(&mut self, job: [u8; 32], forge: bool) -> HostMessage {
        let roster = self.world.run_file().roster;
        let others = roster.parties() as usize - 1;
        let nonces: Vec<[u8; 32]> = (0..=others as u8).map(|n| [n; 32]).collect();
        let mut roll = vec![commitment(&nonces[0], None), self.hello.commitment];
        roll.extend(nonces[1..].iter().map(|nonce| commitment(nonce, Some(50))));
        let seats: Vec<u32> = (0..=others as u32).collect();
        say(&mut *self.link, &HostMessage::Roll(seats.clone(), roll));
        let HostMessage::Reveal(own, units) = hear(&mut *self.link).unwrap() else { panic!() };
        let mut all = vec![nonces[0], own];
        all.extend(&nonces[1..]);
        let mut counts = vec![units];
        counts.extend((0..others).map(|_| Some(50)));
        let terms = RunTerms { seats, nonces: all, units: counts };
        let run = terms.run(&self.hello.job, &self.hello.roster);
        let key = reticent_oracle::SumAggregator::new(&reticent_noise::NoiseKey::seeded(1), &run);
        let key = match self.world.is_central() {
            true => postcard::to_allocvec(&key.public_key()).unwrap(),
            false => Vec::new(),
        };
        say(&mut *self.link, &HostMessage::Terms(terms.clone(), key.clone()));
        let HostMessage::Signed(first) = hear(&mut *self.link).unwrap() else { panic!() };
        // The others have signed what they were told, which was another job.
        let told = terms.run(&job, &self.hello.roster);
        let lead = self.world.identity("lead");
        let mut signatures = vec![sign(&lead, &run, &key), first.clone()];
        for party in 1..=others {
            let other = self.world.identity(&format!("party-{party}"));
            signatures.push(if forge { first.clone() } else { sign(&other, &told, &key) });
        }
        HostMessage::Begin(signatures)
    }
}

/// A lead that tells two parties two jobs, or signs for one of them, has no signature of both for one
/// run: nothing is said to it, and nothing is spent.
#[test]
fn a_lead_that_tells_two_jobs_is_told_nothing() {
    for forge in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(folder.path(), 2, AUTO);
        let (_net, listener, dialers) = world.net();
        let joined = std::thread::scope(|scope| {
            let joined = scope.spawn(|| world.join(0, options(), &*dialers[0]));
            let mut lead = FalseLead::new(&world, &*listener);
            lead.lobby([3; 32], forge);
            let said = hear(&mut *lead.link);
            assert!(said.is_err(), "{said:?}");
            joined.join().unwrap()
        });
        let why = joined.unwrap_err();
        assert!(matches!(&why, HostError::Disagreed { .. }), "{why:?}");
        assert!(why.to_string().contains("party-1 has not signed"), "{why}");
        let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
        assert!(!journal.has("joined").unwrap() && !journal.has("signed").unwrap());
    }
}

/// What a lead says in the lobby that is not what was agreed on.
#[test]
fn a_roll_and_terms_that_are_not_the_rosters_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let (_net, listener, dialers) = world.net();
    let attempt = |attack: &dyn Fn(&mut FalseLead<'_>)| {
        std::thread::scope(|scope| {
            let joined = scope.spawn(|| world.join(0, options(), &*dialers[0]));
            let mut lead = FalseLead::new(&world, &*listener);
            attack(&mut lead);
            joined.join().unwrap().unwrap_err().to_string()
        })
    };
    let why = attempt(&|lead| {
        let own = lead.hello.commitment;
        say(&mut *lead.link, &HostMessage::Roll(vec![0, 1], vec![[0; 32], [1; 32], own]));
    });
    assert!(why.contains("its roll"), "{why}");
    let with_terms = |change: &dyn Fn(&mut RunTerms)| {
        attempt(&|lead| {
            let other = commitment(&[2; 32], Some(9));
            let roll = vec![commitment(&[1; 32], None), lead.hello.commitment, other];
            say(&mut *lead.link, &HostMessage::Roll(vec![0, 1], roll));
            let HostMessage::Reveal(own, units) = hear(&mut *lead.link).unwrap() else { panic!() };
            let mut terms = RunTerms {
                seats: vec![0, 1],
                nonces: vec![[1; 32], own, [2; 32]],
                units: vec![units, Some(9)],
            };
            change(&mut terms);
            say(&mut *lead.link, &HostMessage::Terms(terms, vec![1, 2, 3]));
        })
    };
    assert!(with_terms(&|terms| terms.nonces[2] = [3; 32]).contains("nonces"));
    // Its own number, and one that a party has chosen when the lead had told it all nonces.
    for party in [0, 1] {
        let why = with_terms(&|terms| terms.units[party] = Some(1));
        assert!(why.contains("numbers of records that are not those of the roll"), "{why}");
    }
    // Others than the roll has, which would be counted with other noise.
    assert!(with_terms(&|terms| terms.seats = vec![0, 2]).contains("nonces"));
    assert!(with_terms(&|_| ()).contains("key of another run"));
    // Before anything was agreed on, there is nothing to ask.
    let why = attempt(&|lead| say(&mut *lead.link, &HostMessage::Begin(Vec::new())));
    assert!(why.contains("not the one that comes next"), "{why}");
    let why = attempt(&|lead| say(&mut *lead.link, &HostMessage::Envelope(vec![1; 60])));
    assert!(why.contains("not the one that comes next"), "{why}");
}

#[test]
fn a_roster_that_somebody_has_not_signed_is_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let (_net, _listener, dialers) = world.net();
    let path = world.at("roster.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("a study", "another study")).unwrap();
    let why = world.join(0, options(), &*dialers[0]).unwrap_err().to_string();
    assert!(why.contains("you have not signed it"), "{why}");
    let why = world.lead(options(), world.tls_listener().unwrap()).unwrap_err().to_string();
    assert!(why.contains("you have not signed it"), "{why}");
}

/// What no network runs is refused before there is a roster to sign.
#[test]
fn what_is_not_run_on_a_network_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let budget = "epsilon = 2.0\ndelta = 1e-5\n";
    let refused = |job: &str| {
        world.write_run("other.toml", job);
        reticent_host::RunFile::read(&world.at("other.toml")).unwrap_err().to_string()
    };
    for (algorithm, said) in [
        ("admm-network", "`reticent simulate` runs this one"),
        ("dp-admm", "local only"),
        ("r-admm", "local only"),
        ("walk", "network, local only"),
    ] {
        let why = refused(&format!("algorithm = \"{algorithm}\"\n{budget}"));
        assert!(why.contains(said), "{why}");
    }
    assert!(refused(&format!("{AUTO}seed = 3\n")).contains("seed"));
    assert!(refused(&format!("{AUTO}data = \"x.csv\"\n")).contains("party file"));
    assert!(refused(&format!("{AUTO}unit = \"user\"\n")).contains("split"));
    assert!(refused(&format!("{AUTO}noise = 0.0\n")).contains("noise"));
    let refused_text = |text: &str| {
        std::fs::write(world.at("other.toml"), text).unwrap();
        reticent_host::RunFile::read(&world.at("other.toml")).unwrap_err().to_string()
    };
    let network = "[network]\nroster = \"roster.toml\"\n";
    let why = refused_text(&format!("schema = \"schema.toml\"\n{AUTO}{network}"));
    assert!(why.contains("who may see what"), "{why}");
    let why = refused_text(&format!(
        "schema = \"schema.toml\"\n{AUTO}[parties]\ntrust = \"network\"\n{network}"
    ));
    assert!(why.contains("asks a server"), "{why}");
    let why = refused_text(&format!(
        "schema = \"schema.toml\"\n{AUTO}[parties]\ntrust = \"central\"\nsplit = 2\n{network}"
    ));
    assert!(why.contains("roster"), "{why}");
    // Masked sums of more members are on a sparse graph, which is not proven against a lead that lies.
    let text =
        format!("schema = \"schema.toml\"\n{AUTO}[parties]\ntrust = \"secure-aggregation\"\n");
    std::fs::write(world.at("masked.toml"), text).unwrap();
    let spec = JobFile::<SimulationSpec>::read(&world.at("masked.toml")).unwrap().job;
    assert!(spec.remote(255).is_ok());
    let why = spec.remote(256).unwrap_err().to_string();
    assert!(why.contains("at most 255 parties"), "{why}");
    // A budget that is named here pays for nothing.
    let why = refused_text(&format!(
        "schema = \"schema.toml\"\n{AUTO}[parties]\ntrust = \"central\"\nbudget = [\"a\", \"b\"]\n{network}"
    ));
    assert!(why.contains("its own party file"), "{why}");
    let why =
        refused_text(&format!("schema = \"schema.toml\"\n{AUTO}[parties]\ntrust = \"central\"\n"));
    assert!(why.contains("[network]"), "{why}");
}

/// The job is what is in its files, and not where they are.
#[test]
fn a_job_is_known_by_what_its_files_say_and_not_by_where_they_are() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, two) = (World::new(one.path(), 2, AUTO), World::new(two.path(), 2, AUTO));
    let digest = |world: &World| *world.run_file().job.digest();
    assert_eq!(digest(&one), digest(&two));
    let schema = std::fs::read_to_string(two.at("schema.toml")).unwrap();
    std::fs::write(two.at("schema.toml"), schema.replace("upper = 1", "upper = 2")).unwrap();
    assert_ne!(digest(&one), digest(&two));
    one.write_run("run.toml", &AUTO.replace("2.0", "2.5"));
    assert_ne!(digest(&one), *World::new(&one.at(""), 2, AUTO).run_file().job.digest());
}

/// A party whose link breaks after it has signed comes again while others sign: it has forgotten the
/// run by then, so that nobody must join it, and pay.
#[test]
fn a_run_that_a_party_has_forgotten_in_the_lobby_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let (_net, listener, dialers) = world.net();
    let arrived: Arc<Mutex<usize>> = Arc::default();
    let own = Arc::clone(&arrived);
    let notify = Arc::new(move |notice: &Notice| {
        *own.lock().unwrap() += usize::from(matches!(notice, Notice::Arrived { .. }));
    });
    let (left, options) = until_raised(&HostOptions { notify, ..options() });
    std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(options, listener));
        let mut links = [0, 1].map(|party: u32| {
            let mut link = dialers[party as usize].dial(soon()).unwrap();
            say(&mut *link, &HostMessage::Hello(hello(&world, party)));
            link
        });
        for link in &mut links {
            assert!(matches!(hear(&mut **link), Ok(HostMessage::Roll(..))));
            say(&mut **link, &HostMessage::Reveal([5; 32], Some(60)));
        }
        let [first, second] = &mut links;
        let signed = |link: &mut dyn Link, party: u32| {
            let Ok(HostMessage::Terms(terms, key)) = hear(link) else { panic!() };
            let Hello { job, roster, .. } = hello(&world, party);
            let run = terms.run(&job, &roster);
            say(
                link,
                &HostMessage::Signed(sign(&world.identity(&format!("party-{party}")), &run, &key)),
            );
            run
        };
        let run = signed(&mut **first, 0);
        let again = Hello { run: Some(run), ..hello(&world, 0) };
        let said = answered(&*dialers[0], again).unwrap();
        assert_eq!(said, HostMessage::Refused(Rejection::UnknownRun));
        let mut anew = dialers[0].dial(soon()).unwrap();
        say(&mut *anew, &HostMessage::Hello(hello(&world, 0)));
        while *arrived.lock().unwrap() < 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
        signed(&mut **second, 1);
        assert_eq!(hear(&mut **second), Ok(HostMessage::Again));
        drop((links, anew));
        left.store(true, Ordering::Relaxed);
        assert!(led.join().unwrap().unwrap_err().may_go_on());
    });
    assert!(!RunJournal::open(&world.at("lead.journal")).unwrap().has("begun").unwrap());
}

/// What a party has read is what it goes on with after a crash.
#[test]
fn a_table_that_changes_while_others_are_waited_for_is_not_joined_with() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let (_net, listener, dialers) = world.net();
    let joined = std::thread::scope(|scope| {
        let joined = scope.spawn(|| world.join(0, options(), &*dialers[0]));
        let mut lead = FalseLead::new(&world, &*listener);
        let table = std::fs::read_to_string(world.table(0)).unwrap();
        std::fs::write(world.table(0), table.replacen("yes", "no", 1)).unwrap();
        lead.lobby(lead.hello.job, false);
        let said = hear(&mut *lead.link);
        assert!(matches!(said, Ok(HostMessage::Refused(Rejection::Declined(_)))), "{said:?}");
        joined.join().unwrap()
    });
    let why = joined.unwrap_err().to_string();
    assert!(why.contains("has changed since it was read"), "{why}");
    assert!(!RunJournal::open(&world.at("party-0.journal")).unwrap().has("joined").unwrap());
}

/// A run that began without a budget is on; who names a budget later would believe that it pays.
#[test]
fn a_run_that_began_without_a_budget_does_not_go_on_with_one() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let (_net, listener, dialers) = world.net();
    let (gone, own) = until_raised(&options());
    std::thread::scope(|scope| {
        let joined = scope.spawn(|| world.join(0, own, &*dialers[0]));
        let mut lead = FalseLead::new(&world, &*listener);
        lead.lobby(lead.hello.job, false);
        assert!(matches!(hear(&mut *lead.link), Ok(HostMessage::Envelope(_))));
        drop((lead, listener));
        gone.store(true, Ordering::Relaxed);
        assert!(joined.join().unwrap().unwrap_err().may_go_on());
    });
    let file = world.at("budget");
    Store::create(&file, Promise::new("clinic", 5.0, 1e-5).unwrap()).unwrap();
    let budget = JoinBudget { file: &file, relation: Relation::Same };
    let why = world.join_paid(0, options(), &*dialers[0], Some(budget)).unwrap_err().to_string();
    assert!(why.contains("began without a budget"), "{why}");
}

/// A journal that was put back to before its run was joined: a lead that lies could have it joined
/// again, with other noise. The budget knows; without one nobody does, and that no journal is put back is
/// what the certificate takes as given.
#[test]
fn a_budget_knows_of_a_run_that_a_journal_has_forgotten() {
    for has_budget in [true, false] {
        join_again(has_budget);
    }
}

fn join_again(has_budget: bool) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 1, AUTO, "local");
    let file = world.at("budget");
    Store::create(&file, Promise::new("clinic", 9.0, 1e-5).unwrap()).unwrap();
    // A lead that is heard, and gone: how it ends for the party.
    let met = |meet: &dyn Fn(&mut FalseLead<'_>)| {
        let (_net, listener, dialers) = world.net();
        let budget = JoinBudget { file: &file, relation: Relation::Same };
        let (gone, own) = until_raised(&options());
        std::thread::scope(|scope| {
            let (world, dialer) = (&world, &*dialers[0]);
            let budget = has_budget.then_some(budget);
            let joined = scope.spawn(move || world.join_paid(0, own, dialer, budget));
            let mut lead = FalseLead::new(world, &*listener);
            meet(&mut lead);
            drop((lead, listener));
            gone.store(true, Ordering::Relaxed);
            joined.join().unwrap().unwrap_err()
        })
    };
    // It signs, and hears nothing more.
    let begin: Mutex<Option<HostMessage>> = Mutex::new(None);
    let why = met(&|lead| *begin.lock().unwrap() = Some(lead.agreed(lead.hello.job, false)));
    assert!(why.may_go_on(), "{why:?}");
    let journal = world.at("party-0.journal");
    std::fs::copy(&journal, world.at("old")).unwrap();
    let begin = begin.into_inner().unwrap().unwrap();
    let heard: Mutex<Option<HostMessage>> = Mutex::new(None);
    let again = || {
        let why = met(&|lead| {
            assert!(lead.hello.run.is_some());
            say(&mut *lead.link, &begin);
            *heard.lock().unwrap() = hear(&mut *lead.link).ok();
        });
        (heard.lock().unwrap().take(), why)
    };
    let (said, _) = again();
    assert!(matches!(said, Some(HostMessage::Envelope(_))), "{said:?}");
    std::fs::copy(world.at("old"), &journal).unwrap();
    let (said, why) = again();
    if !has_budget {
        assert!(matches!(said, Some(HostMessage::Envelope(_))), "{said:?}");
        return;
    }
    assert!(matches!(said, Some(HostMessage::Refused(Rejection::Declined(_)))), "{said:?}");
    assert!(why.to_string().contains("joined before, as job "), "{why}");
    let jobs = Store::open(&file).unwrap().summary().unwrap().jobs;
    assert_eq!(jobs.len(), 1);
}

/// The journal of a run that is over has nothing for another run.
#[test]
fn a_model_is_not_handed_over_for_another_job() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 2, AUTO);
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(&options(), listener, &dialers);
    assert!(led.is_ok() && joined.iter().all(Result::is_ok));
    assert!(world.join(0, options(), &*dialers[0]).is_ok());
    world.write_run("run.toml", &AUTO.replace("2.0", "1.0"));
    let why = world.join(0, options(), &*dialers[0]).unwrap_err().to_string();
    assert!(why.contains("another job"), "{why}");
}

//! Processes that end in the middle of a message, as by `kill -9`: what comes of the run after they
//! start again is the same to the bit, or it ends by name.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reticent::Model;
use reticent_budget::{Promise, Relation, Store};
use reticent_host::{HostError, HostOptions, JoinBudget, KnownGone, Moment, RunJournal};

use super::peers::R_ADMM;
use super::world::{AUTO, Tapped, World, assert_alike, assert_same, options, until_raised};

const PARTIES: u32 = 2;

/// Three variables say to a child what it is: its folder, its role, and where it ends.
const FOLDER: &str = "RETICENT_TEST_FOLDER";
const ROLE: &str = "RETICENT_TEST_ROLE";
const ENDS: &str = "RETICENT_TEST_ENDS";

/// What the lead is trusted with.
const TRUSTS: [&str; 3] = ["central", "local", "secure-aggregation"];

/// The number by which a moment is called here, and what is written or said in it.
fn of(moment: Moment) -> (usize, &'static str) {
    match moment {
        Moment::BeforeCommit(name) => (0, name),
        Moment::AfterCommit(name) => (1, name),
        Moment::BeforeSend(name) => (2, name),
        Moment::AfterSend(name) => (3, name),
    }
}

/// What a child process does; nothing where it is no child.
#[test]
fn child() {
    let (Ok(folder), Ok(role)) = (std::env::var(FOLDER), std::env::var(ROLE)) else { return };
    let world = World::found(Path::new(&folder), PARTIES, AUTO, "as written");
    let own = witness(world.at(&format!("{role}.moments")));
    // Who has come to its end does not come back, and nobody waits for it.
    let (gone, witness): (KnownGone, _) = (gone(&world), Some(own));
    let options = HostOptions { witness, gone: Some(gone), ..options() };
    match role.strip_prefix("party-") {
        Some(party) => {
            let party = party.parse().unwrap();
            let budget = world.at(&format!("{role}.budget"));
            let paid = JoinBudget { file: &budget, relation: Relation::Same };
            let paid = budget.exists().then_some(paid);
            let dialer = Box::new(world.tls_dialer(&role));
            let dialer = Tapped { dialer, file: world.at(&format!("{role}.wire")) };
            let done = world.join_paid(party, options, &dialer, paid);
            if let Ok(own) = &done {
                let text = own.joined.model.to_json().unwrap();
                std::fs::write(world.at(&format!("{role}.model")), text).unwrap();
            }
            std::fs::write(world.at(&format!("{role}.end")), said(done.map(drop))).unwrap();
        }
        None => {
            let done = world.tls_listener().and_then(|listener| world.lead(options, listener));
            if let Ok(led) = &done {
                std::fs::write(world.at("lead.model"), &led.model).unwrap();
            }
            std::fs::write(world.at("lead.end"), said(done.map(drop))).unwrap();
        }
    }
}

fn gone(world: &World) -> KnownGone {
    let folder = world.folder.clone();
    // Who is to put a table back comes back with it.
    let for_good = |end: String| !end.is_empty() && !end.contains("put it back");
    Arc::new(move |name| {
        std::fs::read_to_string(folder.join(format!("{name}.end"))).is_ok_and(for_good)
    })
}

fn said(done: Result<(), HostError>) -> String {
    done.map_or_else(|why| why.to_string(), |()| "done".to_owned())
}

type Witness = Arc<dyn Fn(Moment) + Send + Sync>;

/// Ends this process at the n-th of its moments of a kind, or of those of one name, as `kill -9` would:
/// nothing is closed. What names there were is noted.
fn witness(names: PathBuf) -> Witness {
    let text = std::env::var(ENDS).unwrap_or_default();
    let mut parts = text.split(':');
    let end: Option<(usize, u32)> = parts
        .next()
        .and_then(|kind| kind.parse().ok())
        .zip(parts.next().and_then(|count| count.parse().ok()));
    let only = parts.next().map(str::to_owned);
    let (seen, noted) = (AtomicU32::new(0), Mutex::new(BTreeSet::new()));
    Arc::new(move |moment| {
        let (kind, name) = of(moment);
        if noted.lock().unwrap().insert(name) {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(&names);
            file.unwrap().write_all(format!("{name}\n").as_bytes()).unwrap();
        }
        let Some((end, count)) = end else { return };
        let counted = kind == end && only.as_ref().is_none_or(|only| only == name);
        if counted && seen.fetch_add(1, Ordering::Relaxed) + 1 == count {
            std::process::abort();
        }
    })
}

pub struct Members<'w> {
    pub world: &'w World,
    pub children: Vec<(String, Child)>,
}

impl Drop for Members<'_> {
    fn drop(&mut self) {
        for (_, child) in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Members<'_> {
    pub fn start(&mut self, role: &str, ends: Option<(usize, u32)>) {
        self.begin(role, ends.map(|(moment, count)| format!("{moment}:{count}")));
    }

    /// The same that ends at a moment of one name.
    pub fn begin(&mut self, role: &str, ends: Option<String>) {
        let _ = std::fs::remove_file(self.world.at(&format!("{role}.end")));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::child", "--nocapture"]).env(ROLE, role);
        command.env(FOLDER, &self.world.folder).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(ends) = ends {
            command.env(ENDS, ends);
        }
        self.children.push((role.to_owned(), command.spawn().unwrap()));
    }

    /// Waits until the process of a role is over; whether it came to its end by itself.
    pub fn wait(&mut self, role: &str) -> bool {
        let until = Instant::now() + Duration::from_secs(120);
        let (_, child) = self.children.iter_mut().rev().find(|(own, _)| own == role).unwrap();
        while Instant::now() < until {
            if child.try_wait().unwrap().is_some() {
                return self.world.at(&format!("{role}.end")).exists();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{role} does not end");
    }

    pub fn end(&self, role: &str) -> String {
        std::fs::read_to_string(self.world.at(&format!("{role}.end"))).unwrap()
    }
}

/// One run in which `role` ends at this moment, and is started again.
fn cut(trust: &str, role: &str, ends: (usize, u32)) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), PARTIES, AUTO, trust);
    let mut members = Members { world: &world, children: Vec::new() };
    let roles = ["lead", "party-0", "party-1"];
    for own in roles {
        members.start(own, (own == role).then_some(ends));
    }
    assert!(!members.wait(role), "{role} came to its end before {ends:?}: {}", members.end(role));
    members.start(role, None);
    for own in roles {
        assert!(members.wait(own), "{own} was killed");
        assert_eq!(members.end(own), "done", "{trust}: {own}, {role} cut at {ends:?}");
    }
    let simulated = world.simulated();
    let model = std::fs::read_to_string(world.at("lead.model")).unwrap();
    let model = Model::from_json(&model).unwrap();
    match world.is_central() {
        true => assert_same(&model, &simulated),
        false => assert_alike(&model, &simulated),
    }
    // Whoever was killed, each step of each round was answered with one thing.
    for party in ["party-0", "party-1"] {
        let said = world.said_by(party);
        assert!(said.len() > 20, "{trust}: {}", said.len());
        let twice: Vec<_> = said.iter().filter(|(_, said)| said.len() > 1).collect();
        assert!(twice.is_empty(), "{trust}, {role} cut at {ends:?}: {twice:?}");
    }
    // Nothing is left of what the noise could be taken away with.
    let journal = RunJournal::open(&world.at("lead.journal")).unwrap();
    assert!(journal.answers().unwrap().is_empty() && journal.greetings().unwrap().is_empty());
    assert!(!journal.has("begun").unwrap() && journal.received().unwrap().len() == 2);
    let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
    assert!(journal.has("model").unwrap() && !journal.has("joined").unwrap());
}

/// The fifth of a party's messages is in the rounds; its first three are in the lobby.
#[test]
fn a_party_that_is_killed_goes_on_with_the_same_bits() {
    for (moment, count) in [(0, 4), (1, 4), (2, 6), (3, 3), (3, 6)] {
        cut("central", "party-0", (moment, count));
    }
}

/// A party that is killed when its plan is reserved and its run not joined, or joined and not noted in
/// the budget, pays once.
#[test]
fn a_party_that_is_killed_between_reserving_and_joining_pays_once() {
    for (ends, states) in [((0, 2), &["released", "settled"][..]), ((1, 2), &["settled"])] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), PARTIES, AUTO, "local");
        let file = world.at("party-0.budget");
        Store::create(&file, Promise::new("clinic", 3.0, 1e-5).unwrap()).unwrap();
        let mut members = Members { world: &world, children: Vec::new() };
        members.start("lead", None);
        members.start("party-1", None);
        members.start("party-0", Some(ends));
        assert!(!members.wait("party-0"));
        members.start("party-0", None);
        for role in ["lead", "party-0", "party-1"] {
            assert!(members.wait(role));
            assert_eq!(members.end(role), "done");
        }
        let jobs = Store::open(&file).unwrap().summary().unwrap().jobs;
        let found: Vec<_> = jobs.iter().map(|job| job.status.name()).collect();
        assert_eq!(found, states, "{ends:?}");
    }
}

/// The same where the noise is the party's own: no answer has a second noise.
#[test]
fn a_party_with_noise_of_its_own_that_is_killed_goes_on_with_the_same_bits() {
    for (moment, count) in [(0, 4), (1, 4), (2, 6), (3, 6)] {
        cut("local", "party-0", (moment, count));
    }
}

/// Behind masks, at every step of a sum: each party commits when it signs and joins, and then four times a
/// round.
#[test]
fn a_party_behind_masks_that_is_killed_at_any_step_goes_on_with_the_same_bits() {
    for (moment, count) in [(0, 7), (1, 7), (1, 8), (1, 9), (1, 10), (3, 9)] {
        cut("secure-aggregation", "party-0", (moment, count));
    }
}

#[test]
fn a_lead_of_noisy_sums_that_is_killed_goes_on_with_the_same_bits() {
    for (moment, count) in [(1, 5), (2, 10), (3, 13)] {
        cut("local", "lead", (moment, count));
    }
    for (moment, count) in [(0, 6), (1, 6), (1, 8), (2, 13), (3, 15)] {
        cut("secure-aggregation", "lead", (moment, count));
    }
}

#[test]
fn a_lead_that_is_killed_goes_on_with_the_same_bits() {
    for (moment, count) in [(0, 5), (1, 5), (2, 1), (2, 10), (3, 10)] {
        cut("central", "lead", (moment, count));
    }
}

/// A journal that was put back from an old copy answers nothing again.
#[test]
fn a_journal_that_was_set_back_is_found_out() {
    TRUSTS.into_iter().for_each(|trust| set_back(AUTO, trust));
}

/// Party 0 has forgotten three answers that others have.
pub fn set_back(job: &str, trust: &str) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), PARTIES, job, trust);
    // After signing, joining and two answers; then after three more.
    put_back(&world, [4, 3]);
}

/// The budget knows of answers that the journal has forgotten: what was reserved for them was given back.
#[test]
fn a_journal_that_was_set_back_to_before_its_first_answer_gets_nothing_back() {
    for (job, trust) in TRUSTS.map(|trust| (AUTO, trust)).into_iter().chain([(R_ADMM, "local")]) {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), PARTIES, job, trust);
        let file = world.at("party-0.budget");
        Store::create(&file, Promise::new("clinic", 9.0, 1e-5).unwrap()).unwrap();
        // After signing and joining. A peer says its first word again, the same one, before it hears how many it
        // has said: it has forgotten more of them.
        let more = if job == R_ADMM { 5 } else { 3 };
        put_back(&world, [2, more]);
        let jobs = Store::open(&file).unwrap().summary().unwrap().jobs;
        let states: Vec<_> = jobs.iter().map(|job| job.status.name()).collect();
        assert_eq!(states, ["settled"], "{job} {trust}");
    }
}

/// Party 0 goes on with a copy of its journal after so many commits, when it has made so many more.
fn put_back(world: &World, [commits, more]: [u32; 2]) {
    let mut members = Members { world, children: Vec::new() };
    members.start("lead", None);
    members.start("party-1", None);
    members.start("party-0", Some((1, commits)));
    assert!(!members.wait("party-0"));
    let files = ["party-0.journal", "party-0.journal-wal"];
    for file in files {
        if world.at(file).exists() {
            std::fs::copy(world.at(file), world.at(&format!("{file}.old"))).unwrap();
        }
    }
    members.start("party-0", Some((1, more)));
    assert!(!members.wait("party-0"));
    for file in files {
        let _ = std::fs::remove_file(world.at(file));
        if world.at(&format!("{file}.old")).exists() {
            std::fs::copy(world.at(&format!("{file}.old")), world.at(file)).unwrap();
        }
    }
    members.start("party-0", None);
    assert!(members.wait("party-0"));
    assert!(members.end("party-0").contains("set back"), "{}", members.end("party-0"));
    // And it stays so.
    members.start("party-0", None);
    assert!(members.wait("party-0"));
    assert!(members.end("party-0").contains("set back"));
}

/// A table that was changed between two halves of a run is not asked.
#[test]
fn another_table_does_not_go_on_with_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), PARTIES, AUTO);
    let mut members = Members { world: &world, children: Vec::new() };
    members.start("lead", None);
    members.start("party-1", None);
    members.start("party-0", Some((1, 4)));
    assert!(!members.wait("party-0"));
    let table = std::fs::read_to_string(world.table(0)).unwrap();
    std::fs::write(world.table(0), table.replacen("yes", "no", 1)).unwrap();
    members.start("party-0", None);
    assert!(members.wait("party-0"));
    assert!(members.end("party-0").contains("not the one that the run began with"));
    std::fs::write(world.table(0), table).unwrap();
    members.start("party-0", None);
    for role in ["lead", "party-0", "party-1"] {
        assert!(members.wait(role));
        assert_eq!(members.end(role), "done");
    }
}

/// A journal that takes nothing has nothing sent.
#[test]
fn what_cannot_be_kept_is_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 1, AUTO);
    let (_net, listener, dialers) = world.net();
    let led = std::thread::scope(|scope| {
        let (left, own) = until_raised(&options());
        let led = scope.spawn(|| world.lead(own, listener));
        let sent = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&sent);
        let witness: Witness = Arc::new(move |moment| {
            if let Moment::AfterSend(name) = moment {
                own.lock().unwrap().push(name);
            }
        });
        let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
        journal.refuse_writes().unwrap();
        let why = world.join_with(
            journal,
            HostOptions { witness: Some(witness), ..options() },
            &*dialers[0],
        );
        assert!(matches!(&why, Err(HostError::Journal { .. })), "{why:?}");
        // The nonce, which binds to nothing; no signature.
        assert_eq!(*sent.lock().unwrap(), ["hello", "reveal"]);
        left.store(true, Ordering::Relaxed);
        led.join().unwrap()
    });
    assert!(matches!(led, Err(HostError::Absent { .. })), "{led:?}");
}

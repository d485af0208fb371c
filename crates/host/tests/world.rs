//! A lead and parties, each in a folder of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reticent::internal::runtime::wire;
use reticent::simulate::{CheckpointOptions, Simulated, SimulationSpec};
use reticent::{Files, Identity, JobFile, Model, Run, Spec};
use reticent_host::links::memory::MemoryNet;
use reticent_host::links::tls::{TlsDialer, TlsListener};
use reticent_host::links::{Dial, Link, LinkError, Listen};
use reticent_host::message::HostMessage;
use reticent_host::peers::frame::RelayedFrame;
use reticent_host::{
    HostError, HostOptions, JoinBudget, KnownGone, Lead, Led, PaidRun, RemoteParty, Roster,
    RosterMember, RunFile, RunJournal,
};

pub const SEED: u64 = 7;

const SCHEMA: &str = "row_norm = 1\n[[column]]\nname = \"a\"\nkind = \"numeric\"\nlower = -1\nupper = 1\n\
    [[column]]\nname = \"b\"\nkind = \"numeric\"\nlower = -1\nupper = 1\n\
    [[column]]\nname = \"y\"\nkind = \"target\"\nclasses = [\"no\", \"yes\"]\n";

pub const AUTO: &str = "algorithm = \"auto\"\nepsilon = 2.0\ndelta = 1e-5\n";

pub struct World {
    pub folder: PathBuf,
    pub parties: u32,
    job: String,
    trust: String,
}

impl World {
    /// Makes keys, tables and a roster that all have signed, in `folder`.
    pub fn new(folder: &Path, parties: u32, job: &str) -> Self {
        World::trusting(folder, parties, job, "central")
    }

    /// The same with another trust.
    pub fn trusting(folder: &Path, parties: u32, job: &str, trust: &str) -> Self {
        let world = World::found(folder, parties, job, trust);
        std::fs::write(world.at("schema.toml"), SCHEMA).unwrap();
        let mut pooled = "a,b,y\n".to_owned();
        for party in 0..parties {
            let rows = rows(party);
            std::fs::write(world.table(party), format!("a,b,y\n{rows}")).unwrap();
            pooled += &rows;
        }
        std::fs::write(world.at("pooled.csv"), pooled).unwrap();
        let address = format!("127.0.0.1:{}", reticent_testkit::free_port());
        let lead = RosterMember { address: Some(address), ..world.member("lead") };
        let mut roster = Roster::new(&world.at("roster.toml"), "a study", lead).unwrap();
        for party in 0..parties {
            roster = roster.with(world.member(&format!("party-{party}"))).unwrap();
        }
        let names = (0..parties).map(|party| format!("party-{party}"));
        for name in names.chain(["lead".to_owned()]) {
            roster = roster.sign(&world.identity(&name)).unwrap();
        }
        std::fs::write(world.at("roster.toml"), roster.text().unwrap()).unwrap();
        world.write_run("run.toml", job);
        world
    }

    pub fn write_run(&self, name: &str, job: &str) {
        let text = format!(
            "schema = \"schema.toml\"\n{job}[parties]\ntrust = \"{}\"\n[network]\nroster = \"roster.toml\"\n",
            self.trust
        );
        std::fs::write(self.at(name), text).unwrap();
    }

    /// The world that is in the folder already.
    pub fn found(folder: &Path, parties: u32, job: &str, trust: &str) -> Self {
        let (job, trust) = (job.to_owned(), trust.to_owned());
        World { folder: folder.to_owned(), parties, job, trust }
    }

    /// All that a party has said in each round, in all of its lives.
    pub fn said_by(&self, role: &str) -> BTreeMap<u32, BTreeSet<String>> {
        let mut said: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for line in std::fs::read_to_string(self.at(&format!("{role}.wire"))).unwrap().lines() {
            let (round, digest) = line.split_once(' ').unwrap();
            said.entry(round.parse().unwrap()).or_default().insert(digest.to_owned());
        }
        said
    }

    pub fn is_central(&self) -> bool {
        self.trust == "central"
    }

    /// The run on noisy sums that one process comes to, on the parties' own tables.
    pub fn in_one_process(&self) -> Simulated {
        let job = self.run_file().job;
        let load = |party: u32| {
            let files = Files::one(self.table(party));
            job.load(&files, &mut Run::default()).unwrap()
        };
        let tables = (0..self.parties).map(load).collect();
        job.in_one_process(tables, SEED, Run::default()).unwrap()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn table(&self, party: u32) -> PathBuf {
        self.at(&format!("party-{party}.csv"))
    }

    /// Has the tables of these parties of another world for its own.
    pub fn take_tables(&self, other: &World, parties: &[u32]) {
        let mut pooled = "a,b,y\n".to_owned();
        for (own, party) in (0..).zip(parties) {
            std::fs::copy(other.table(*party), self.table(own)).unwrap();
            pooled += &rows(*party);
        }
        std::fs::write(self.at("pooled.csv"), pooled).unwrap();
    }

    pub fn identity(&self, name: &str) -> Identity {
        let path = self.at(&format!("{name}.key"));
        if path.exists() {
            Identity::read(&path).unwrap()
        } else {
            Identity::create(&path).unwrap().0
        }
    }

    pub fn member(&self, name: &str) -> RosterMember {
        let key = self.identity(name).public().text();
        RosterMember { name: name.to_owned(), key, address: None, until: None, rotated: None }
    }

    /// Has a member take a new key, which all sign.
    pub fn rotate(&self, name: &str) {
        let old = self.identity(name);
        for half in ["key", "key.pub"] {
            let _ = std::fs::remove_file(self.at(&format!("{name}.{half}")));
        }
        let new = self.identity(name).public();
        let roster = Roster::clone(&self.run_file().roster);
        let mut roster = roster.rotated(name, &old, &new).unwrap();
        let names = (0..self.parties).map(|party| format!("party-{party}"));
        for name in names.chain(["lead".to_owned()]) {
            roster = roster.sign(&self.identity(&name)).unwrap();
        }
        std::fs::write(self.at("roster.toml"), roster.text().unwrap()).unwrap();
    }

    pub fn run_file(&self) -> RunFile {
        RunFile::read(&self.at("run.toml")).unwrap()
    }

    /// The model that one process comes to, with the same seed.
    pub fn simulated(&self) -> Model {
        if !self.is_central() {
            return self.in_one_process().model;
        }
        let text = format!(
            "schema = \"schema.toml\"\n{}seed = {SEED}\n[parties]\ntrust = \"central\"\nsplit = {}\n",
            self.job, self.parties
        );
        std::fs::write(self.at("simulate.toml"), text).unwrap();
        let file = JobFile::<SimulationSpec>::read(&self.at("simulate.toml")).unwrap();
        let data = Files::one(self.at("pooled.csv"));
        let job = file.job.check().unwrap();
        job.run(&data, CheckpointOptions::default(), Run::default()).unwrap().model
    }

    /// The fit of all rows, the parties' one behind the other.
    pub fn pooled(&self, seed: u64) -> Model {
        let text = format!("schema = \"schema.toml\"\n{}seed = {seed}\n", self.job);
        std::fs::write(self.at("fit.toml"), text).unwrap();
        let file = JobFile::<Spec>::read(&self.at("fit.toml")).unwrap();
        let data = Files::one(self.at("pooled.csv"));
        file.job.check().unwrap().fit(&data).unwrap().model
    }

    pub fn lead(&self, options: HostOptions, listener: Box<dyn Listen>) -> Result<Led, HostError> {
        let RunFile { job, roster, .. } = self.run_file();
        let identity = self.identity("lead");
        let lead = Lead { job: &job, roster: &roster, identity: &identity, options };
        lead.run(RunJournal::open(&self.at("lead.journal"))?, listener)
    }

    pub fn join(
        &self,
        party: u32,
        options: HostOptions,
        dialer: &dyn Dial,
    ) -> Result<PaidRun, HostError> {
        self.join_paid(party, options, dialer, None)
    }

    /// Party 0 with this journal.
    pub fn join_with(
        &self,
        journal: RunJournal,
        options: HostOptions,
        dialer: &dyn Dial,
    ) -> Result<PaidRun, HostError> {
        self.joined(0, journal, options, dialer, None)
    }

    pub fn join_paid(
        &self,
        party: u32,
        options: HostOptions,
        dialer: &dyn Dial,
        budget: Option<JoinBudget<'_>>,
    ) -> Result<PaidRun, HostError> {
        let journal = RunJournal::open(&self.at(&format!("party-{party}.journal")))?;
        self.joined(party, journal, options, dialer, budget)
    }

    fn joined(
        &self,
        party: u32,
        journal: RunJournal,
        options: HostOptions,
        dialer: &dyn Dial,
        budget: Option<JoinBudget<'_>>,
    ) -> Result<PaidRun, HostError> {
        let RunFile { job, roster, .. } = self.run_file();
        let identity = self.identity(&format!("party-{party}"));
        let files = Files::one(self.table(party));
        let own = RemoteParty {
            job: &job,
            roster: &roster,
            identity: &identity,
            files: &files,
            dialer,
            options,
        };
        own.join(journal, budget)
    }

    pub fn net(&self) -> (MemoryNet, Box<dyn Listen>, Vec<Box<dyn Dial>>) {
        let net = MemoryNet::default();
        let listener = net.listen(self.identity("lead").public().bytes());
        let dial = |party| net.dialer(self.identity(&format!("party-{party}")).public().bytes());
        let dialers = (0..self.parties).map(dial).collect();
        (net, listener, dialers)
    }

    pub fn tls_listener(&self) -> Result<Box<dyn Listen>, HostError> {
        let roster = self.run_file().roster;
        let identity = Arc::new(self.identity("lead"));
        Ok(Box::new(TlsListener::new(&identity, &roster, roster.lead_address())?))
    }

    pub fn tls_dialer(&self, name: &str) -> TlsDialer {
        TlsDialer::new(&Arc::new(self.identity(name)), &self.run_file().roster).unwrap()
    }

    /// Everybody, each on a thread of its own.
    pub fn all(
        &self,
        options: &HostOptions,
        listener: Box<dyn Listen>,
        dialers: &[Box<dyn Dial>],
    ) -> (Result<Led, HostError>, Vec<Result<PaidRun, HostError>>) {
        std::thread::scope(|scope| {
            let led = scope.spawn(|| self.lead(options.clone(), listener));
            let parties: Vec<_> = (0..)
                .zip(dialers)
                .map(|(party, dialer)| {
                    scope.spawn(move || self.join(party, options.clone(), &**dialer))
                })
                .collect();
            let joined = parties.into_iter().map(|party| party.join().unwrap()).collect();
            (led.join().unwrap(), joined)
        })
    }
}

/// Writes down what a party says in a run, each message as its round and its digest, in a file that a
/// kill leaves as it is.
#[derive(Debug)]
pub struct Tapped {
    pub dialer: Box<dyn Dial>,
    pub file: PathBuf,
}

#[derive(Debug)]
struct TappedLink {
    link: Box<dyn Link>,
    file: PathBuf,
}

impl Dial for Tapped {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let link = self.dialer.dial(until)?;
        Ok(Box::new(TappedLink { link, file: self.file.clone() }))
    }
}

/// Words to each member are numbered from here on, behind the rounds.
const WORDS: u64 = 1_000_000;

/// The lines for a frame. What peers say is closed anew each time: a word is known by whom it is for, and its number.
fn noted(frame: &[u8]) -> String {
    match HostMessage::unpack(frame) {
        Ok(HostMessage::Envelope(bytes)) => {
            let said = wire::decode(&bytes, wire::LONGEST).unwrap();
            format!("{} {}\n", said.round, reticent_core::hex(&said.digest()))
        }
        Ok(HostMessage::Post(post)) => {
            let words = post.frames.iter().filter(|frame| frame.number > 0);
            let line = |frame: &RelayedFrame| {
                format!("{} word\n", WORDS * u64::from(frame.to + 1) + frame.number)
            };
            words.map(line).collect()
        }
        _ => String::new(),
    }
}

impl Link for TappedLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let lines = noted(frame);
        if !lines.is_empty() {
            let open = std::fs::OpenOptions::new().create(true).append(true).open(&self.file);
            // At once: a kill leaves a line whole or none of it.
            open.unwrap().write_all(lines.as_bytes()).unwrap();
        }
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        self.link.receive(limit, until)
    }
}

/// A member's options with a flag: all others are gone for it once the flag is raised: it waits for nobody from then on, and
/// as long as ever before, however busy the machine is.
pub fn until_raised(own: &HostOptions) -> (Arc<AtomicBool>, HostOptions) {
    let raised: Arc<AtomicBool> = Arc::default();
    let own_flag = Arc::clone(&raised);
    let gone: KnownGone = Arc::new(move |_: &str| own_flag.load(Ordering::Relaxed));
    (raised, HostOptions { gone: Some(gone), ..own.clone() })
}

/// For tests: nobody waits for long, and bits can be compared.
pub fn options() -> HostOptions {
    HostOptions { patience: Duration::from_secs(60), seed: Some(SEED), ..HostOptions::default() }
}

/// The rows of a party, another number for each.
fn rows(party: u32) -> String {
    let row = |i: u32| {
        let at = |k: u32| f64::from((i * 37 + party * 11 + k * 17) % 41) / 20.0 - 1.0;
        let label = if at(0) + 0.4 * at(1) > 0.1 { "yes" } else { "no" };
        format!("{},{},{label}\n", at(0), at(1))
    };
    (0..60 + 5 * party).map(row).collect()
}

/// All numbers of a model, by their bits.
pub fn bits(model: &Model) -> Vec<u64> {
    let weights = model.coefficients().iter().flat_map(|weight| &weight.values);
    weights.chain(model.intercept()).map(|value| value.to_bits()).collect()
}

/// The same numbers and the same ledger: what else a certificate says is its owner's.
pub fn assert_alike(model: &Model, simulated: &Model) {
    assert_eq!(bits(model), bits(simulated));
    let (own, other) = (model.certificate(), simulated.certificate());
    assert_eq!(own.ledger, other.ledger);
    assert_eq!(own.epsilon.to_bits(), other.epsilon.to_bits());
    assert_eq!((own.delta, own.population, own.view), (other.delta, other.population, other.view));
    assert_eq!(own.choice, other.choice);
    assert!(bits(model).iter().any(|bits| *bits != 0));
}

/// The same model: its bits, its ledger, and what its certificate says, signature aside, and what is taken as
/// given of a lead on another machine, which is said behind the rest.
pub fn assert_same(model: &Model, simulated: &Model) {
    assert_eq!(bits(model), bits(simulated));
    let given = |model: &Model| model.certificate().assumptions.clone();
    let (own, others) = (given(model), given(simulated));
    let (same, of_lead) = own.split_at_checked(others.len()).expect("fewer are taken as given");
    assert_eq!(same, others);
    assert!(of_lead.len() == 2 && of_lead[0].starts_with("the lead keeps its key"), "{of_lead:?}");
    assert!(of_lead[1].starts_with("Ed25519"), "{of_lead:?}");
    let plain = |model: &Model| {
        let mut certificate = model.certificate().clone();
        (certificate.signature, certificate.digest) = (None, None);
        certificate.assumptions.clear();
        serde_json_text(&certificate)
    };
    assert_eq!(plain(model), plain(simulated));
    assert!(bits(model).iter().any(|bits| *bits != 0));
}

fn serde_json_text(certificate: &reticent::Certificate) -> String {
    certificate.to_json().unwrap()
}

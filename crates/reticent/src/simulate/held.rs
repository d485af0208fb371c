//! An algorithm of one table between parties who trust an aggregator with exact sums: the fit of the
//! pooled table, to the bit, without the table being anywhere.
//!
//! ```text
//! algorithm ─► gate: event, sample, noise ─► every party: its integers ─► Σ
//! ```
//!
//! There is no protocol of its own: whatever asks for nothing but sums over records runs, as it runs
//! on one table. Proof: proofs/holders.md.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use reticent_accountant::{Adjacency, Ledger, View};
use reticent_admm::catalogue::{self, AlgorithmEntry, AlgorithmKind};
use reticent_admm::{Refused, unwatched};
use reticent_noise::{Hasher, NoiseKey};
use reticent_oracle::{Digest, Gate, PrivateTable, Refusal, Rehearsal, Sampling, self_test};
use reticent_runtime::{
    self as runtime, Checkpoint, Failures, Post, Protocol, ProtocolEntry, ProtocolRecipe, RunKey,
    Traffic,
};

use super::check::{SimulationJob, no_needless_graph};
use super::dealing::Dealing;
use super::kept::CheckpointOptions;
use super::simulated::Simulated;
use super::simulation::Simulation;
use super::{NodeModels, PartyBooks};
use crate::certificate::Certificate;
use crate::error::Error;
use crate::guarantee::Guarantee;
use crate::job::{HeldBy, Job, Ready, SOME};
use crate::outlook::UtilityForecast;
use crate::procedure::{Ground, Procedure};
use crate::run::Noise;
use crate::stage::Run;
use crate::task::Task;
use crate::training::{Fitted, Training};

/// The version, and a number to raise when the same job comes to ask for other sums without another
/// version: 2 since `auto` takes more steps behind a constraint.
const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " 2");

/// What a guarantee takes as given where sums are entrusted. Parties draw keys of messages, and no
/// noise.
const TRUSTED: [&str; 3] = [
    "the server is trusted with every party's exact sums, and with the secret of who is in a sample; what travels \
     is closed for it",
    "X25519, XChaCha20-Poly1305, and HKDF and HMAC with SHA-256, by which messages are closed, are as hard to break \
     as they are believed to be",
    "whether and when a party answers does not depend on its records",
];

/// The algorithms of one table, each as one between parties.
static ENTRIES: LazyLock<Vec<ProtocolEntry>> = LazyLock::new(|| {
    let private = |entry: &&AlgorithmEntry| matches!(entry.kind, AlgorithmKind::Private(_));
    let between = |entry: &AlgorithmEntry| ProtocolEntry {
        name: entry.name,
        about: entry.about,
        reference: entry.reference,
        takes: entry.takes,
        views: &[View::Local, View::SecureAggregation, View::Central],
        along_graph: false,
        private: true,
        build: no_protocol,
    };
    catalogue::CATALOGUE.iter().filter(private).map(between).collect()
});

/// The algorithm of one table that is called so, as one between parties.
pub(super) fn find(name: &str) -> Option<&'static ProtocolEntry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Whether it is an algorithm of one table.
pub(super) fn is_held(entry: &ProtocolEntry) -> bool {
    runtime::find(entry.name).is_none()
}

fn no_protocol(recipe: &ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
    Err(Refused::new("trust", recipe.view, "an algorithm of one table is run on sums alone"))
}

/// A job on rows that parties entrust to its gate, ready to begin.
#[derive(Debug)]
pub(super) struct HeldRun<'j, P: Procedure = Training> {
    pub ready: Ready<'j, P>,
    pub parties: u32,
    post: Arc<Post>,
    /// What is kept when the run begins, and where.
    begun: Option<(Checkpoint, PathBuf)>,
}

/// What a run that may be done again after a crash has its noise from.
#[derive(Default)]
pub(super) struct KeptNoise {
    /// `None` for noise from where the guarantee says.
    key: Option<NoiseKey>,
    /// The checkpoint of a run that begins.
    begun: Option<(Checkpoint, PathBuf)>,
}

/// So many parties, and what a guarantee relies on where they entrust their sums.
pub(super) fn held_by(parties: u32, dealt: Vec<String>) -> HeldBy {
    let mut trusted = TRUSTED.map(str::to_owned).to_vec();
    trusted.extend(dealt);
    HeldBy { parties, trusted }
}

/// Where a run on entrusted sums begins, or goes on: its key, what is asked, and what is kept of it.
pub(super) struct HeldOrigin<'a> {
    pub key: &'a NoiseKey,
    pub digest: &'a Digest,
    pub kept: KeptNoise,
}

/// The end of a run on entrusted sums.
pub(super) struct EntrustedEnd {
    pub fitted: Fitted,
    pub rounds: u32,
    pub traffic: Traffic,
}

impl<'j, P: Procedure> HeldRun<'j, P> {
    /// Entrusts the parties' tables to the gate of a job; `digest` stands for what is asked, and noise
    /// follows from `kept`, of a run that may be done again, or else comes from where the guarantee
    /// says. The tables are dealt so.
    pub fn open(
        job: &'j Job<P>,
        tables: Vec<PrivateTable>,
        HeldOrigin { key, digest, kept }: HeldOrigin<'_>,
        dealing: &Dealing,
        run: &mut Run<'_>,
    ) -> Result<Self, Error> {
        let Ground { schema, loss, protection } = job.procedure().ground();
        let (parties, name) = (tables.len() as u32, runtime::run_id(digest, key)?);
        let (opening, key) = (&protection.opening, RunKey { key, run: &name });
        let (rows, post) = runtime::entrust(tables, loss, opening, schema.width(), key)?;
        let whole = protection.opening.unit.is_whole() && !dealing.persons;
        let rows = if whole { rows.one_unit_each()? } else { rows };
        let by = held_by(parties, dealing.assumed(&protection.opening));
        let mut ready = job.open_held(rows, by, None, run)?;
        let KeptNoise { key, begun } = kept;
        if let Some(key) = key {
            ready.repeat(key);
        }
        Ok(HeldRun { ready, post, parties, begun })
    }
}

impl Simulation {
    /// Checks a run of an algorithm of one table.
    pub(super) fn check_held(self, digest: Digest) -> Result<SimulationJob, Error> {
        let view = self.trust.unwrap_or(View::Local);
        if view != View::Central {
            return self.check_noisy(digest, view);
        }
        self.check_entrusted()?;
        check_sizes(&self.guarantee, self.split, self.settings.sampling)?;
        let (job, task) = self.of_one_table(view, digest)?;
        asks_for_sums(&task)?;
        if job.dealing().persons {
            draws_nobody(&task)?;
        }
        Ok(SimulationJob { held: Some(Job::new(Training::one(task))), ..job })
    }

    /// Refuses what is said of a run that no run on entrusted sums has.
    fn check_entrusted(&self) -> Result<(), Error> {
        self.check_skew()?;
        no_needless_graph(self.entry(), self.topology.as_deref())?;
        if self.failures != Failures::default() {
            let why = "a party that stays away would be missing from the model without a word: on entrusted sums a \
                       run ends where a party does; leave it out, or use `algorithm = federated`";
            return Err(Error::value("fail", "given", why));
        }
        match self.budgets.iter().next() {
            None => Ok(()),
            Some((party, _)) => {
                let why = "the released sums are of all parties, and cost each the same; give one epsilon for all, \
                           or use `algorithm = federated`";
                Err(Error::value("budgets", party, why))
            }
        }
    }
}

/// Where the number of units is private, neither how many parties there are nor how long a message is
/// may say it.
fn check_sizes(
    guarantee: &Guarantee,
    split: Option<u32>,
    sampling: Option<Sampling>,
) -> Result<(), Error> {
    check_public_sizes(guarantee, split)?;
    let private = guarantee.adjacency == Some(Adjacency::AddRemove);
    match sampling.filter(|sampling| private && *sampling != Sampling::Full) {
        None => Ok(()),
        Some(sampling) => Err(tells_sizes(sampling)),
    }
}

/// Where the number of units is private, how many parties there are may not say it.
pub(super) fn check_roster(adjacency: Adjacency, split: Option<u32>) -> Result<(), Error> {
    if adjacency == Adjacency::AddRemove && split.is_none() {
        let why = "who takes part is public, and here it follows from the rows, so that nothing hides that a row is \
                   there; use replace-one, or a public number of parties (`split = N`)";
        return Err(Error::value("adjacency", adjacency, why));
    }
    Ok(())
}

/// The same but for messages, whose lengths may say nothing.
pub(super) fn check_public_sizes(guarantee: &Guarantee, split: Option<u32>) -> Result<(), Error> {
    let adjacency = guarantee.adjacency.unwrap_or_default();
    check_roster(adjacency, split)?;
    match (adjacency, guarantee.public_n) {
        (Adjacency::ReplaceOne, Some(count)) => {
            let why = "it is for add-remove; under replace-one the number of records is public; leave it out";
            Err(Error::value("public_n", count, why))
        }
        _ => Ok(()),
    }
}

fn tells_sizes(sampling: impl std::fmt::Display) -> Error {
    let why = "who is drawn is told to a party in a bit for each of its units, and add-remove keeps their number \
               private; use `sampling = full`, or `adjacency = replace-one`";
    Error::value("sampling", sampling, why)
}

/// The refusal of what asks for more than sums.
pub(super) fn not_sums(name: &str) -> Error {
    let why = "it asks for more than sums over records, which is all that parties are asked for; use auto, dp-sgd, \
               ssadmm, mpadmm, sadmm, vradmm or dp-cd";
    Error::value("algorithm", name, why)
}

/// Whether an algorithm asks for more than sums.
pub(super) fn asks_for_more(task: &Task) -> bool {
    matches!(rehearsed(task, false), Err(Error::Refused(Refusal::NoSum)))
}

/// Asks a gate without rows, whose parties may have `several` units each.
fn rehearsed(task: &Task, several: bool) -> Result<(), Error> {
    let population = task.protection.opening.public_n.unwrap_or(SOME);
    let (terms, public) = (task.protection.terms(population)?, task.public(population)?);
    let mut rehearsal = match several {
        true => Rehearsal::of_several_each(public.shape, terms),
        false => Rehearsal::of_sums(public.shape, terms),
    };
    task.perform(&mut rehearsal, &public, &Noise::alone(1.0), &mut unwatched).map(|_| ())
}

/// Refuses an algorithm that asks for more than sums, before there is a table.
fn asks_for_sums(task: &Task) -> Result<(), Error> {
    match rehearsed(task, false) {
        Err(Error::Refused(Refusal::NoSum)) => Err(not_sums(task.entry.name)),
        // One that draws where nobody named a sample.
        Err(Error::Refused(Refusal::SampleTellsSizes)) => Err(tells_sizes("default")),
        // What a plan for so many records refuses, it may not refuse for the true number.
        _ => Ok(()),
    }
}

/// Refuses samples of persons within parties before there is a table, as the gate does after it. A
/// request has a bit for each of them, and a neighbour may have others with each party.
fn draws_nobody(task: &Task) -> Result<(), Error> {
    match rehearsed(task, true) {
        Err(Error::Refused(why @ Refusal::SampleOfPersonsHeld)) => {
            Err(Error::value("sampling", "a sample", why.to_string()))
        }
        _ => Ok(()),
    }
}

impl SimulationJob {
    /// What the noise of a run on entrusted sums follows from, if the run is to be kept or goes on:
    /// what was asked is asked again, and has the same answers, because all noise follows from the
    /// key and the question, and the tables are the same.
    pub(super) fn kept_noise(
        &self,
        tables: &[PrivateTable],
        key: &NoiseKey,
        checkpoint: Option<&Checkpoint>,
        keep: CheckpointOptions<'_>,
    ) -> Result<KeptNoise, Error> {
        let Some(file) = keep.checkpoint else { return Ok(KeptNoise::default()) };
        let (run, loss) = (runtime::run_id(&self.digest, key)?, &*self.objective.loss);
        let mut all = Hasher::new("reticent tables");
        for (number, table) in (0..).zip(tables) {
            let own = (key.child(number), &run);
            all.field(&Gate::fingerprint_of(table, loss, &self.opening, own)?);
        }
        let (job, tables) = (self.begun(), all.finish());
        let begun = match checkpoint {
            Some(checkpoint) => checkpoint.is_of(&job, &tables).map(|()| None)?,
            None => Some((Checkpoint::of_key(job, tables, key), file.to_owned())),
        };
        // A seeded run has the bits of the seeded fit of one table, which are the same every time.
        let label = Hasher::new("reticent noise of entrusted sums").field(&run).finish();
        let noise = || key.entropy(&label).key().map_err(Refusal::from);
        let noise = self.seed.is_none().then(noise).transpose()?;
        let noise = noise.map(|bytes| NoiseKey::recall(bytes, key.is_seeded()));
        Ok(KeptNoise { key: noise, begun })
    }

    /// What a checkpoint of a run on sums is of.
    pub(super) fn begun(&self) -> Digest {
        begun_by(&self.digest, PROGRAM, &self_test())
    }
}

/// What a run on sums goes on with: the job, under the version of the program that began it
/// and on a machine that computes the same numbers. Another version, or another machine, may ask for
/// other sums than were released: they would be released beside those, and counted once.
fn begun_by(job: &Digest, program: &str, arithmetic: &Digest) -> Digest {
    let mut hasher = Hasher::new("reticent entrusted run");
    hasher.field(program.as_bytes()).field(job).field(arithmetic).finish()
}

impl<P: Procedure> HeldRun<'_, P> {
    /// The plan that every party's certificate counts: the same for all.
    pub fn plan(&self) -> Ledger {
        let mut plan = self.ready.plan().cloned().unwrap_or_default();
        self.ready.taints().iter().for_each(|&taint| plan.taint(taint));
        plan
    }

    pub fn read_freely(&mut self) {
        self.ready.read_freely();
    }
}

impl HeldRun<'_> {
    pub fn outlook(&self) -> Option<UtilityForecast> {
        self.ready.outlook()
    }

    pub fn run(self, job: &SimulationJob, run: Run<'_>) -> Result<Simulated, Error> {
        let HeldRun { ready, post, parties, begun } = self;
        // Not before it is paid for: what goes on from a checkpoint does not pay again.
        if let Some((checkpoint, file)) = begun {
            checkpoint.save(&file)?;
        }
        let fitted = ready.run(run)?;
        let end = EntrustedEnd { fitted, rounds: post.rounds(), traffic: post.traffic() };
        job.entrusted(end, parties).map_err(|why| job.stopped(why))
    }
}

impl SimulationJob {
    /// The model and the books of every party: what is released is of all, and counts for each.
    pub(super) fn entrusted(
        &self,
        EntrustedEnd { fitted, rounds, traffic }: EntrustedEnd,
        parties: u32,
    ) -> Result<Simulated, Error> {
        let Fitted { model, trace, .. } = fitted;
        let own = Certificate { parties: None, ..model.certificate().clone() }.sealed(None)?;
        let books = PartyBooks::alike(own, parties);
        let nodes = NodeModels::new(model.clone(), self.objective.constant, Vec::new());
        Ok(Simulated {
            model,
            nodes,
            parties: books,
            rounds,
            traffic: Some(traffic),
            rejections: Default::default(),
            fewest: None,
            trace,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second moment took a noise for each entry of a triangle once, and takes one for each entry.
    #[test]
    fn a_run_on_entrusted_sums_ends_under_the_program_that_began_it() {
        let (job, tables, here) = ([1; 32], [2; 32], self_test());
        let kept = Checkpoint::of_key(begun_by(&job, "0.0.9", &here), tables, &NoiseKey::seeded(7));
        assert!(kept.is_of(&begun_by(&job, "0.0.9", &here), &tables).is_ok());
        assert!(kept.is_of(&begun_by(&job, PROGRAM, &here), &tables).is_err());
        // Of before the program was a part of it.
        let before = Checkpoint::of_key(job, tables, &NoiseKey::seeded(7));
        assert!(before.is_of(&begun_by(&job, PROGRAM, &here), &tables).is_err());
    }

    /// It released more than its ledger had.
    #[test]
    fn a_run_on_entrusted_sums_does_not_go_on_where_numbers_are_others() {
        let (job, tables) = ([1; 32], [2; 32]);
        let (here, there) =
            (begun_by(&job, PROGRAM, &self_test()), begun_by(&job, PROGRAM, &[3; 32]));
        let kept = Checkpoint::of_key(here, tables, &NoiseKey::seeded(7));
        assert!(kept.is_of(&here, &tables).is_ok() && kept.is_of(&there, &tables).is_err());
    }
}

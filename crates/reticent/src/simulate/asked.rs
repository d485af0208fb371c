//! A question between parties. Where they trust an aggregator with exact sums, it is the answer about the
//! pooled table, to the bit, without the table being anywhere: the job of one table ([`Job`]), on a gate
//! whose rows the parties hold. Proof: proofs/holders.md.
//!
//! Where they add the noise themselves it is asked of noisy sums, in `asked_sums.rs`.

use reticent_accountant::{Ledger, Unit, View};
use reticent_noise::Hasher;
use reticent_oracle::PrivateTable;
use reticent_oracle::tables::Schema;

use super::asked_sums::{CalibratedQuestion, NoisyQuestion, OwnNoise, no_masks};
use super::dealing::{Dealing, PERSONS_UNCOUNTED, PERSONS_UNPAID, keeps_persons_whole};
use super::held::{HeldOrigin, HeldRun, KeptNoise, check_roster};
use super::ready::{NEEDS_ALL, NO_NUMBERS, two_change};
use super::spec::Parties;
use crate::error::Error;
use crate::job::Job;
use crate::objective::known_column;
use crate::payable::{PaidByParties, Payable};
use crate::procedure::{Procedure, Question, asks_for_sums};
use crate::source::Source;
use crate::stage::{Run, Stage};

/// A question that is asked between parties, made by [`Job::between`].
#[derive(Debug)]
pub struct JobBetween<'j, Q: Question> {
    job: &'j Job<Q>,
    dealing: Dealing,
    /// What the table is read under.
    reading: Schema,
    /// Who looks where the parties add the noise themselves.
    own: Option<OwnNoise>,
}

/// A question with the table dealt and the noise calibrated, before anything was asked.
#[derive(Debug)]
pub struct ReadyBetween<'j, Q: Question> {
    asked: AskedParties<'j, Q>,
    dealing: Dealing,
    /// How the share of a party follows from the table.
    words: String,
    job: &'j Job<Q>,
}

/// Whom it is asked of.
#[derive(Debug)]
enum AskedParties<'j, Q: Question> {
    /// Parties who entrust exact sums to the gate.
    Held(Box<HeldRun<'j, Q>>),
    /// Parties who add the noise themselves.
    Noisy(Box<NoisyQuestion<'j, Q>>),
}

impl<Q: Question> Job<Q> {
    /// The same question, asked between parties. If they trust a server with exact sums (`trust =
    /// central`) the answer is bit-identical to that from the pooled table; where they do not, each
    /// adds its noise itself, to what the server sees (`local`) or behind masks
    /// (`secure-aggregation`).
    ///
    /// # Errors
    /// If it is not said who the parties are, or something is said that no question has a use for, or
    /// the combination is not proven to be private.
    ///
    /// # Examples
    /// ```
    /// use reticent::simulate::Parties;
    /// use reticent::tables::{Dataset, Schema, Target};
    /// use reticent::{Budget, Run, Statistics, View};
    ///
    /// # fn main() -> Result<(), reticent::Error> {
    /// let ages: Vec<f64> = (0..4_000).map(|i| (i * 37 % 90) as f64).collect();
    /// let schema = Schema::bounded(&[(0.0, 100.0)], Target::classes(["no", "yes"])?)?.named(["age"])?;
    /// let table = Dataset::dense(&ages, 4_000, 1)?;
    ///
    /// let job = Statistics::new(schema).budget(Budget::new(0.5, 1e-6)?).mean(["age"])?;
    /// let parties = Parties::default().with(|it| {
    ///     it.split = Some(10);
    ///     it.trust = Some(View::Central);
    /// });
    /// let means = job.between(&parties)?.run(&table, Run::default())?;
    /// assert_eq!(means.certificate.parties.map(|spread| spread.count), Some(10));
    /// # Ok(())
    /// # }
    /// ```
    pub fn between(&self, parties: &Parties) -> Result<JobBetween<'_, Q>, Error> {
        let own = OwnNoise::of(nothing_unused(parties)?);
        let ground = Procedure::ground(self.procedure());
        let opening = ground.protection.opening;
        let skew = parties.skew.as_deref().map(str::parse).transpose()?.unwrap_or_default();
        if let (Some(skew), None) = (&parties.skew, parties.split) {
            let why = "it says how records are dealt to the parties of `split = N`; leave it out";
            return Err(Error::value("skew", skew, why));
        }
        let public_seed = parties.seed.unwrap_or(0);
        // Whether a table in memory has owners shows when it is there.
        let (split, adjacency) = (parties.split, opening.adjacency);
        let placed = parties.parties_from.is_some();
        if let Some(count) = split.filter(|_| placed) {
            let why = "`parties_from` says with which party each record is; leave one of them out";
            return Err(Error::value("split", count, why));
        }
        let persons = (split.is_some() || placed) && opening.unit == Unit::User;
        let dealing =
            Dealing { split, owners: true, placed, skew, public_seed, persons, adjacency };
        dealing.has_parties(ground.schema)?;
        let reading = match &parties.parties_from {
            Some(column) => ground.schema.with_parties(column)?,
            None => ground.schema.clone(),
        };
        keeps_persons_whole((split, Some(skew)), ground.schema, opening.unit, own.is_none())?;
        check_roster(opening.adjacency, parties.split)?;
        match &own {
            None => asks_for_sums(self.procedure())?,
            Some(own) => own.try_out(self.procedure())?,
        }
        Ok(JobBetween { job: self, dealing, reading, own })
    }
}

/// Who looks. Refuses what is said of parties that no question between them has.
fn nothing_unused(parties: &Parties) -> Result<View, Error> {
    let Parties { trust, topology, budgets, budget, users_from, .. } = parties;
    let view = match *trust {
        Some(View::Network) => {
            let why = "a question asks a server, which peers have none of; use local, secure-aggregation or central";
            return Err(Error::value("trust", View::Network, why));
        }
        Some(view) => view,
        None => {
            let why = "who sees what of a question between parties is yours to say: `trust = central` for a server \
                       that is trusted with exact sums, local or secure-aggregation where each party adds its noise \
                       itself";
            return Err(Error::value("trust", "none", why));
        }
    };
    if let Some(graph) = topology {
        return Err(Error::value("topology", graph, "a question has no graph; leave it out"));
    }
    if let Some((party, _)) = budgets.iter().next() {
        let why = "the released sums are of all parties, and cost each the same; give one epsilon for all";
        return Err(Error::value("budgets", party, why));
    }
    if budget.is_some() {
        let why = "every party pays from a budget of its own, and here nobody is asked for it; leave it out";
        return Err(Error::value("party_budget", "given", why));
    }
    match users_from {
        Some(column) => {
            let why = "name the column as that of the users, and leave split out: each of its values is then a party";
            Err(Error::value("users_from", column, why))
        }
        None => Ok(view),
    }
}

impl<'j, Q: Question> JobBetween<'j, Q> {
    /// The fraction of the parties that is honest, for sums behind masks; 0.8 by default.
    ///
    /// # Errors
    /// If it is none, or nothing is behind masks.
    pub fn honest(self, share: f64) -> Result<Self, Error> {
        let own = self.own.ok_or_else(|| no_masks(share))?.with_honest(share)?;
        Ok(JobBetween { own: Some(own), ..self })
    }

    /// The column that says whose row it is, or with which party where parties are protected.
    pub fn user_column(&self) -> Option<String> {
        match Procedure::ground(self.job.procedure()).protection.opening.unit {
            Unit::Party if self.dealing.placed => {
                known_column(&self.reading, self.reading.parties_from()?)
            }
            _ => self.job.user_column(),
        }
    }

    /// Calibrates it for parties with tables like these, for audits: `None` where the server is trusted
    /// with exact sums.
    #[doc(hidden)]
    pub fn calibrate(&self, like: &[PrivateTable]) -> Option<Result<CalibratedQuestion<Q>, Error>> {
        self.own.map(|own| own.calibrate(self.job.procedure(), like))
    }

    /// Asks the question. Every call spends the budget anew.
    ///
    /// # Errors
    /// As [`JobBetween::open`] and [`Ready::run`](crate::Ready::run).
    pub fn run<'a>(
        &self,
        source: impl Into<Source<'a>>,
        mut run: Run<'_>,
    ) -> Result<Q::Output, Error> {
        self.open(source, &mut run)?.run(run)
    }

    /// Reads and deals the table and calibrates the noise; nothing is asked about the table yet.
    ///
    /// # Errors
    /// If the table cannot be read under the schema or says of nobody whose its rows are, or the
    /// budget does not allow the question.
    pub fn open<'a>(
        &self,
        source: impl Into<Source<'a>>,
        run: &mut Run<'_>,
    ) -> Result<ReadyBetween<'j, Q>, Error> {
        let JobBetween { job, dealing, ref reading, own } = *self;
        let ground = Procedure::ground(job.procedure());
        let (protection, opening) = (ground.protection, &ground.protection.opening);
        if let Some((own, parties)) = own.zip(dealing.split) {
            own.law(parties)?;
        }
        run.enter(Stage::Reading)?;
        let table = run.load(source.into(), reading)?;
        protection.check_owners(&table)?;
        let unpaid = table.drafted_the_schema() || dealing.skew.reads_labels();
        let key = protection.key()?;
        let tables = dealing.deal(table, opening, &key)?;
        let mut asked = match own {
            Some(own) => {
                run.enter(Stage::Calibrating)?;
                let noisy = NoisyQuestion::open(job, own, tables, &key, &dealing)?;
                AskedParties::Noisy(Box::new(noisy))
            }
            None => {
                let digest = Hasher::new("reticent question").field(Q::NAME.as_bytes()).finish();
                let origin = HeldOrigin { key: &key, digest: &digest, kept: KeptNoise::default() };
                let held = HeldRun::open(job, tables, origin, &dealing, run)?;
                AskedParties::Held(Box::new(held))
            }
        };
        match &mut asked {
            _ if !unpaid => {}
            AskedParties::Held(held) => held.read_freely(),
            AskedParties::Noisy(noisy) => noisy.read_freely(),
        }
        Ok(ReadyBetween { asked, dealing, words: dealing.words(reading), job })
    }
}

impl<Q: Question> ReadyBetween<'_, Q> {
    /// The planned ledger of every party, entry for entry.
    pub fn plan(&self) -> Ledger {
        self.plan_of_each().into_iter().next().unwrap_or_default()
    }

    /// The plan of every party, in their order.
    fn plan_of_each(&self) -> Vec<Ledger> {
        match &self.asked {
            AskedParties::Held(held) => vec![held.plan(); held.parties as usize],
            AskedParties::Noisy(noisy) => noisy.plans(),
        }
    }

    /// Asks the question.
    ///
    /// # Errors
    /// As [`Ready::run`](crate::Ready::run).
    pub fn run(self, run: Run<'_>) -> Result<Q::Output, Error> {
        match self.asked {
            AskedParties::Held(held) => held.ready.run(run),
            AskedParties::Noisy(noisy) => noisy.run(run),
        }
    }
}

impl<Q: Question> Payable for ReadyBetween<'_, Q> {
    type Done = Q::Output;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        if self.dealing.placed && self.dealing.persons {
            return Err(Error::value("unit", Unit::User, PERSONS_UNCOUNTED));
        }
        let unit = Procedure::ground(self.job.procedure()).protection.opening.unit;
        // A party keeps its name, whatever it holds.
        let keeps = self.dealing.split.is_some() || unit == Unit::Party;
        let one_party = keeps || self.dealing.seats_persons(unit);
        match &self.asked {
            AskedParties::Held(held) => held.ready.plans(),
            // Every party has the same, and nobody is with two.
            AskedParties::Noisy(_) if one_party => Ok(vec![self.plan()]),
            AskedParties::Noisy(_) => Err(two_change()),
        }
    }

    fn run(self, run: Run<'_>) -> Result<Q::Output, Error> {
        ReadyBetween::run(self, run)
    }

    fn ledgers(done: &Q::Output) -> Vec<&Ledger> {
        vec![&<Q as Question>::certificate(done).ledger]
    }

    fn digest(done: &Q::Output) -> Option<&str> {
        <Q as Question>::certificate(done).digest.as_deref()
    }
}

impl<Q: Question> PaidByParties for ReadyBetween<'_, Q> {
    fn party_plans(&self) -> Result<Vec<Ledger>, Error> {
        let ground = Procedure::ground(self.job.procedure());
        if self.dealing.seats_persons(ground.protection.opening.unit) {
            return Err(Error::value("party_budget", "given", NO_NUMBERS));
        }
        if self.dealing.persons {
            return Err(Error::value("party_budget", "given", PERSONS_UNPAID));
        }
        Ok(self.plan_of_each())
    }

    fn dealing(&self) -> String {
        self.words.clone()
    }

    fn needs_all(&self) -> Option<&'static str> {
        Some(match self.asked {
            AskedParties::Held(_) => NEEDS_ALL,
            AskedParties::Noisy(_) => "a question is asked of all parties, or of nobody",
        })
    }

    fn party_ledger(done: &Q::Output, _: usize) -> Option<&Ledger> {
        Some(&<Q as Question>::certificate(done).ledger)
    }
}

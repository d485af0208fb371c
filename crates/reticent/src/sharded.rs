//! Fits of a table in shards, which workers of its owner hold: what can be asked of one, told before there
//! is a table; a worker's rows; and the driver's gate on all of them. Proof: proofs/holders.md.
//!
//! What carries bytes between driver and workers is a [`Shards`]; everything here is the same for all of
//! them.

use std::path::PathBuf;
use std::sync::Arc;

use reticent_accountant::{Adjacency, LedgerEntry, Mechanism, Unit};
use reticent_admm::unwatched;
use reticent_oracle::tables::{ReadOptions, content};
use reticent_oracle::{
    Digest, Oracle, PrivateTable, Refusal, Rehearsal, Sampling, Shard, ShardSeat, ShardedRows,
    Shards, count_persons,
};

use crate::cached::SUM_ALGORITHMS;
use crate::error::Error;
use crate::job::{Job, Ready, SOME};
use crate::procedure::{Ground, Procedure};
use crate::run::Noise;
use crate::stage::{Run, Stage};
use crate::task::Task;

/// The place of the workers that hold the shards: who is trusted beside the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShardWorkers {
    /// Processes of this machine.
    Machine,
    /// Machines of a cluster, and whether what travels between them is encrypted.
    Cluster {
        /// Whether it is.
        encrypted: bool,
    },
}

/// How a table is dealt to shards.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sharding {
    /// The files of each shard, in order; where one table is split, all of its files for each.
    pub files: Vec<Vec<PathBuf>>,
    /// Whether every shard reads all files and keeps a part of the table.
    pub split: bool,
    /// How files are read.
    pub reading: ReadOptions,
    /// The place of the workers.
    pub workers: ShardWorkers,
    /// Of this run alone: what files and rows are digested under.
    pub key: [u8; 32],
    /// Stands for the file of the program, which workers must run too.
    pub build: Digest,
}

impl Sharding {
    /// A table whose shards have files of their own.
    pub fn of_files(files: Vec<Vec<PathBuf>>, (key, build): ([u8; 32], Digest)) -> Self {
        let (reading, workers) = (ReadOptions::default(), ShardWorkers::Machine);
        Sharding { files, split: false, reading, workers, key, build }
    }

    /// One table, of which each of so many shards keeps a part.
    pub fn of_table(files: &[PathBuf], shards: usize, own: ([u8; 32], Digest)) -> Self {
        Sharding { split: true, ..Self::of_files(vec![files.to_vec(); shards], own) }
    }

    /// The files of the table, in order.
    pub fn table(&self) -> Vec<PathBuf> {
        let parts = if self.split { 1 } else { self.files.len() };
        self.files.iter().take(parts).flatten().cloned().collect()
    }

    fn check(&self) -> Result<(), Error> {
        let count = self.files.len();
        if count == 0 || u32::try_from(count).is_err() {
            return Err(Error::value(
                "shards",
                count,
                "a number from 1 to 4,294,967,295 is needed",
            ));
        }
        if let Some(k) = self.files.iter().position(Vec::is_empty) {
            return Err(Error::value("data", format!("shard {k}"), "it has no file; leave it out"));
        }
        let mut all = self.table();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => {
                let why = "it is given twice, so that its records would count twice; give it once";
                Err(Error::value("data", pair[0].display(), why))
            }
        }
    }

    /// What a guarantee takes as given where workers hold the rows.
    fn trusted(&self, unit: Unit) -> Vec<String> {
        let count = self.files.len();
        let mut all = vec![match self.workers {
            ShardWorkers::Machine => format!(
                "the table is in {count} shards, each held by a process of this machine, which is trusted with its \
                 rows and their exact sums, as the driver is with the sums of all and with who is in a sample"
            ),
            ShardWorkers::Cluster { .. } => format!(
                "the table is in {count} shards, each held by a worker of a cluster: the cluster is trusted, which \
                 is its machines, its disks, its network and whoever may run code in it, with all rows, with their \
                 exact sums and with who is in a sample"
            ),
        }];
        if self.workers == (ShardWorkers::Cluster { encrypted: false }) {
            all.push("what travels in the cluster is not encrypted: whoever reads its network reads exact sums".to_owned());
        }
        all.push("every worker runs this program on the rows that it has read: that it does is checked against \
                  mistakes and faults, not against a worker that lies".to_owned());
        if unit == Unit::User {
            all.push(
                "all rows of a person are in one shard, which was checked by the ids".to_owned(),
            );
        }
        all
    }
}

fn not_offered(name: &'static str, given: impl std::fmt::Display, why: &str) -> Error {
    Error::value(name, given, why)
}

/// Refuses a fit that asks shards for more than is proven.
fn check_task(task: &Task) -> Result<(), Error> {
    let sums = format!(
        "it asks for more than sums over records, which is all that shards are asked for; use {SUM_ALGORITHMS}"
    );
    if task.protection.budget.is_none() {
        return Err(not_offered("algorithm", task.entry.name, &sums));
    }
    if task.objective.schema.weight().is_some() {
        let why = "records with weights are not proven for shards; leave the weights out, or fit one table in \
                   memory or with `cache`";
        return Err(not_offered("weight", "given", why));
    }
    let opening = &task.protection.opening;
    let population = opening.public_n.unwrap_or(SOME);
    let (terms, public) = (task.protection.terms(population)?, task.public(population)?);
    let mut rehearsal = Rehearsal::of_sums(public.shape, terms);
    let sizes = "who is drawn is told to a shard in a bit for each of its units, and add-remove keeps their number \
                 private; use `sampling = full`, or `adjacency = replace-one`";
    match task.perform(&mut rehearsal, &public, &Noise::alone(1.0), &mut unwatched) {
        Err(Error::Refused(Refusal::NoSum)) => {
            return Err(not_offered("algorithm", task.entry.name, &sums));
        }
        Err(Error::Refused(Refusal::SampleTellsSizes)) => {
            return Err(not_offered("sampling", "a sample", sizes));
        }
        // What a plan for so many records refuses, it may not refuse for the true number.
        _ => (),
    }
    let sampling = task.settings.sampling.unwrap_or(Sampling::Full);
    if sampling != Sampling::Full && opening.adjacency == Adjacency::AddRemove {
        return Err(not_offered("sampling", sampling, sizes));
    }
    if opening.unit == Unit::User {
        let plan = task.rehearse(terms, &public, &Noise::alone(1.0))?;
        let drawn =
            |entry: &LedgerEntry| !matches!(entry.event().mechanism(), Mechanism::Gaussian(_));
        if sampling != Sampling::Full || plan.entries().iter().any(drawn) {
            let why = "who is drawn is told to a shard in a bit for each of its persons, and who is in which shard \
                       follows from all of them; use `sampling = full`";
            return Err(not_offered("sampling", "a sample of persons", why));
        }
    }
    Ok(())
}

impl Job {
    /// Refuses what cannot be asked of a table in shards, before there is one.
    ///
    /// # Errors
    /// If something is asked that is no sum over records, or drawn where that is not proven; a choice
    /// among fits.
    pub fn check_sharded(&self) -> Result<(), Error> {
        if self.procedure().choice.is_some() {
            let why = "workers are asked for sums at the iterates of every run, which a choice keeps unseen; fit \
                       one setting, or choose on one machine";
            return Err(Error::value("tune", "given", why));
        }
        check_task(self.procedure().first())
    }

    /// Reads the rows of one shard, where the worker is that will hold them.
    ///
    /// # Errors
    /// If its files cannot be read under the schema, or the job not be done on shards.
    pub fn shard(&self, sharding: &Sharding, number: usize) -> Result<Shard, Error> {
        self.check_sharded()?;
        sharding.check()?;
        let Some(paths) = sharding.files.get(number) else {
            return Err(Error::value("shards", number, "there is no shard of this number"));
        };
        let Ground { schema, loss, protection } = self.procedure().ground();
        let known = PrivateTable::load_known(paths, sharding.reading, schema, &sharding.key)?;
        let (table, files) = known;
        protection.check_owners(&table)?;
        let seat = ShardSeat {
            number: number as u32,
            of: sharding.files.len() as u32,
            split: sharding.split,
        };
        let terms = (Arc::clone(loss), &protection.opening);
        Ok(Shard::new(table, terms, seat, (files, &sharding.key, &sharding.build))?)
    }

    /// Enrols the workers that hold the shards and calibrates the noise; nothing is released about the
    /// table yet.
    ///
    /// # Errors
    /// If a worker is refused, a person is in two shards, or the budget does not allow the job.
    pub fn open_sharded(
        &self,
        engine: Box<dyn Shards>,
        sharding: &Sharding,
        run: &mut Run<'_>,
    ) -> Result<Ready<'_>, Error> {
        self.check_sharded()?;
        sharding.check()?;
        let Ground { schema, loss, protection } = self.procedure().ground();
        run.enter(Stage::Reading)?;
        let own = (schema.width(), &sharding.build);
        let rows = ShardedRows::enrol(engine, (&protection.opening, &**loss), own)?;
        self.check_rows(&rows, sharding, run)?;
        let gate = protection.open_sharded(rows, Arc::clone(loss))?;
        let terms = *gate.terms();
        run.enter(Stage::Calibrating)?;
        let public = (terms.unit(), terms.adjacency()) == (Unit::Record, Adjacency::ReplaceOne);
        let records = public.then(|| terms.population());
        let trusted = sharding.trusted(terms.unit());
        self.ready_sharded(gate, records, trusted)
    }

    /// Refuses a person in two shards, and files that were changed since the workers have read them where
    /// that matters: to persons who are counted here, and to a budget that knows the table by its files.
    fn check_rows(
        &self,
        rows: &ShardedRows,
        sharding: &Sharding,
        run: &Run<'_>,
    ) -> Result<(), Error> {
        let Ground { schema, protection, .. } = self.procedure().ground();
        let (key, table) = (&sharding.key, sharding.table());
        let read = if protection.opening.unit == Unit::User && !sharding.split {
            let folder = std::env::temp_dir();
            let counted = count_persons(&table, sharding.reading, schema, (&folder, key))?;
            let (persons, read) = counted?;
            if !rows.are(persons) {
                let why = "a person has rows in two of them, and would count as two persons; bring the rows of each \
                           person into one file, or give all files as one table for the library to deal (`shards = \
                           N`)";
                return Err(Error::value("data", "files of shards", why));
            }
            read
        } else if run.is_paid() {
            table.iter().map(|file| content(file, key)).collect::<Result<_, _>>()?
        } else {
            return Ok(());
        };
        match rows.have_read(&read) {
            true => Ok(()),
            false => {
                let why = "a file was changed since the workers have read it, or is another one on their machines; \
                           run again";
                Err(Error::value("data", "files of shards", why))
            }
        }
    }
}

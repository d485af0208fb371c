//! A party: what it has, and what its journal knows of a run that is over. How it agrees on one is in
//! `agreeing.rs`, how it serves in one in `serving.rs`; killed at any moment, the same call goes on
//! where it was.
//!
//! ```text
//! hello ─► roll ─► reveal ─► terms: plan, sign ─► begin: reserve, join ─► greet ─► ask, answer … ─► model
//!                                                 │
//!                                  nothing is spent before; all of the plan is from the first answer on
//! ```

use std::path::PathBuf;
use std::time::{Duration, Instant};

use reticent::internal::tables::content;
use reticent::simulate::RemoteJob;
use reticent::{Files, Identity, Model, Run};
use reticent_core::hex;
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_runtime::wire;
use zeroize::Zeroizing;

use crate::agreement::{PROGRAM, commitment};
use crate::answer_payer::ReservedJob;
use crate::company::Company;
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::kept::{KEPT, Kept};
use crate::links::{Dial, LinkError};
use crate::message::{Hello, HostMessage, LONGEST_MODEL, VERSION};
use crate::options::HostOptions;
use crate::roster::Roster;
use crate::seat::{AgreedLink, Seat};

/// The name in the journal of the mark that the lead was told of the model's arrival.
pub(crate) const TOLD: &str = "told";

/// The time in which a party that has its model looks for a lead that may wait for it.
const ACKNOWLEDGE_TIME: Duration = Duration::from_secs(5);

/// The input of a party.
#[derive(Debug)]
pub struct RemoteParty<'a> {
    /// The job, checked.
    pub job: &'a RemoteJob,
    /// The roster.
    pub roster: &'a Roster,
    /// The party's own key.
    pub identity: &'a Identity,
    /// The party's own table.
    pub files: &'a Files,
    /// The connection to the lead.
    pub dialer: &'a dyn Dial,
    /// The options.
    pub options: HostOptions,
}

/// The result of a run for a party.
#[derive(Debug)]
#[non_exhaustive]
pub struct Joined {
    /// The model, checked against the reservation.
    pub model: Model,
    /// The identifier of the run, in hexadecimal digits.
    pub run: String,
    /// The job in the party's budget, if it has one.
    pub reservation: Option<ReservedJob>,
}

impl<'a> RemoteParty<'a> {
    /// The number of the party's key in the roster.
    ///
    /// # Errors
    /// If the key is not in the roster, or the roster is not signed by all.
    pub fn number(&self) -> Result<u32, HostError> {
        let me = self.identity.public().bytes();
        self.roster.signed_by_all(&me)?;
        self.roster.number(&me).ok_or_else(|| {
            HostError::disagreed("the roster", "your key is not one of its parties'")
        })
    }

    /// The result of a run that is over, from the journal.
    ///
    /// # Errors
    /// If the run has ended without a model.
    pub(crate) fn finished(&self, journal: &RunJournal) -> Result<Option<Joined>, HostError> {
        if let Some(why) = journal.get::<String>("ended")? {
            return Err(HostError::Ended(why));
        }
        let Some(Kept { run, job, roster, model, reservation }) = Kept::read(journal)? else {
            return Ok(None);
        };
        self.is_mine(journal, (&job, &roster))?;
        Ok(Some(Joined { model: Model::from_json(&model)?, run: hex(&run), reservation }))
    }

    /// Tells a lead that may be waiting that the model has arrived, if it may not have been told:
    /// the process ended before that. A lead that is gone, or finished, needs nothing.
    pub(crate) fn acknowledge(&self, journal: &mut RunJournal) -> Result<(), HostError> {
        let Some(Kept { run, .. }) = journal.get(KEPT)? else { return Ok(()) };
        if journal.has(TOLD)? {
            return Ok(());
        }
        let until = Instant::now() + ACKNOWLEDGE_TIME.min(self.options.patience);
        let hello = self.hello(self.number()?, (&[0; 32], None), Some(run));
        let talk = || -> Result<(), LinkError> {
            let mut link = self.dialer.dial(until)?;
            let said = (hello.name(), &hello.pack()[..]);
            self.options.sending(&mut *link, said, until)?;
            loop {
                let frame = link.receive(LONGEST_MODEL, until)?;
                if let Ok(HostMessage::Model(_)) = HostMessage::unpack(&frame) {
                    let said = ("received", &HostMessage::Received.pack()[..]);
                    return self.options.sending(&mut *link, said, until);
                }
            }
        };
        // A lead that is not told sends the model again.
        let _ = talk();
        self.options.writing("told", || journal.commit(|change| change.set(TOLD, &true)))
    }

    /// The hello of the party.
    pub(crate) fn hello(
        &self,
        number: u32,
        (nonce, units): (&[u8; 32], Option<u64>),
        run: Option<Digest>,
    ) -> HostMessage {
        HostMessage::Hello(Hello {
            host: VERSION,
            wire: wire::VERSION,
            program: PROGRAM.to_owned(),
            party: number,
            roster: self.roster.digest(),
            job: *self.job.digest(),
            commitment: commitment(nonce, units),
            run,
        })
    }

    /// Refuses the journal of another run.
    pub(crate) fn is_mine(
        &self,
        journal: &RunJournal,
        kept: (&Digest, &Digest),
    ) -> Result<(), HostError> {
        if kept == (self.job.digest(), &self.roster.digest()) {
            return Ok(());
        }
        let why = "it is of another job or another roster; give this one a journal of its own";
        Err(HostError::journal(journal.path(), why))
    }

    /// The seat of the party, with its table read.
    pub(crate) fn seat(
        &'a self,
        journal: RunJournal,
        run: &mut Run<'_>,
    ) -> Result<Seat<'a>, HostError> {
        let number = self.number()?;
        let known = match journal.has("joined")? {
            true => None,
            false => {
                let key = fresh()?;
                let print = self.fingerprint(&key)?;
                Some((key, print))
            }
        };
        let table = self.job.load(self.files, run)?;
        let units = self.job.public_units(&table);
        let (table, heard) = (Some(table), Instant::now());
        let link = AgreedLink(None);
        let company = Company::all(self.job, self.roster);
        let reached = false;
        Ok(Seat {
            party: self,
            number,
            company,
            journal,
            table,
            known,
            units,
            link,
            heard,
            reached,
        })
    }

    /// The fingerprint of the party's files, under a key of its own.
    pub(crate) fn fingerprint(&self, key: &[u8; 32]) -> Result<Digest, HostError> {
        let mut hasher = Hasher::new("reticent party table");
        for file in &self.files.paths {
            let found = content(file, key).map_err(reticent::Error::from)?;
            hasher.field(&found);
        }
        Ok(hasher.finish())
    }
}

/// 32 random bytes of the operating system.
pub(crate) fn fresh() -> Result<Zeroizing<[u8; 32]>, HostError> {
    let key = NoiseKey::secure()
        .map_err(|error| HostError::disagreed("the operating system", error.to_string()))?;
    Ok(key.expose().0)
}

/// The files of a party, for its budget.
pub(crate) fn paths<'a>(party: &RemoteParty<'a>) -> &'a [PathBuf] {
    &party.files.paths
}

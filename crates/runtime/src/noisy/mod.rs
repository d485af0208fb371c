//! Parties that answer a server with their own noise, in one process: every message is serialised
//! and parsed.
//!
//! The protocol is request and answer, and behind masks the rounds of the crate `masks`; the
//! algorithm chooses the sums. If answers are seen one by one, a party that does not answer ends
//! the run; behind masks a sum continues without those that leave, and fails below its threshold.
//! Proof: proofs/noisy-sums.md.

mod kept;
mod place;
mod places;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use reticent_accountant::{Refused, Unit};
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::{NoisySums, PrivacyModel, PrivateTable, Refusal, SumParty, SumPlan, Terms};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::checkpoint::Checkpoint;
use crate::entrusted::Post;
use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::{PartyId, RunId, SERVER};
use crate::party::PartyReport;
use crate::prepare::{RunKey, key_of};
use kept::KeptSums;
use place::Place;
use places::Places;

/// The budgets of the parties, once a run is over.
#[derive(Debug)]
pub struct SumBooks {
    places: Arc<Vec<Mutex<Place>>>,
}

impl SumBooks {
    /// Gives every party a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    pub fn spoil(&self, bug: reticent_oracle::Bug) -> Result<(), Refusal> {
        self.places.iter().try_for_each(|place| {
            place.lock().unwrap_or_else(PoisonError::into_inner).party.spoil(bug)
        })
    }

    /// The books of each party.
    pub fn reports(&self) -> Vec<PartyReport> {
        let report = |(place, number): (&Mutex<Place>, u32)| {
            let place = place.lock().unwrap_or_else(PoisonError::into_inner);
            let reticent_oracle::SumPartyReport { ledger, answers, terms } = place.party.report();
            PartyReport { id: PartyId(number), ledger, answers, terms }
        };
        self.places.iter().zip(0..).map(report).collect()
    }
}

/// A run on noisy sums that has not begun.
#[derive(Debug)]
pub struct NoisyParties {
    /// The gate that an algorithm queries.
    pub server: NoisySums,
    /// The budgets of the parties.
    pub books: SumBooks,
    /// The post between the parties and the server.
    pub post: Arc<Post>,
    kept: Arc<Mutex<KeptSums>>,
}

impl NoisyParties {
    /// Keeps the run of `job` in this file after every round. The file holds the key.
    pub fn keep(&self, file: &Path, job: &Digest, key: &NoiseKey) {
        let (bytes, seeded) = key.expose();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.keep(file, *job, NoiseKey::recall(bytes, seeded));
    }

    /// Continues from a checkpoint of the same job, on the same tables and with its key: earlier
    /// releases are repeated, and nobody is asked for them.
    ///
    /// # Errors
    /// If it is of another job, table or key.
    pub fn resume(&self, checkpoint: &Checkpoint, job: &Digest) -> Result<(), RunError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.resume(checkpoint, job)?;
        let (traffic, rejected) = (checkpoint.traffic, checkpoint.rejections.clone());
        self.post.recall(checkpoint.round, traffic, rejected);
        Ok(())
    }
}

/// What the parties of a run on noisy sums share: what is protected, the shape of a parameter, and
/// the terms of all units.
#[derive(Clone, Copy, Debug)]
pub struct SharedTerms<'a> {
    /// What is protected, and from whom.
    pub opening: &'a PrivacyModel,
    /// The shape of a parameter.
    pub shape: Shape,
    /// The terms of all units.
    pub terms: Terms,
}

/// Puts the tables, one for each party, behind gates of their own. All keys follow from `key`; on a
/// network each party has its own. `terms` are those of all units, `shape` that of a parameter.
///
/// # Errors
/// If sums over a table are impossible, or the number of tables differs from that of the plan's
/// parties.
pub fn noisy_parties(
    tables: Vec<PrivateTable>,
    loss: &Arc<dyn Loss>,
    SharedTerms { opening, shape, terms }: SharedTerms<'_>,
    plan: &Arc<SumPlan>,
    RunKey { key, run }: RunKey<'_>,
) -> Result<NoisyParties, RunError> {
    if tables.len() != plan.law().parties() as usize {
        let allowed = format!("the plan of the run has {} parties", plan.law().parties());
        return Err(Refused::new("parties", tables.len(), allowed).into());
    }
    let (id, post) = (RunId::from(run), Arc::new(Post::default()));
    let PrivacyModel { unit, adjacency, .. } = *opening;
    // A party may have several persons; if sizes are private, all parties count as equal.
    let size = |table: &PrivateTable| match unit {
        Unit::Party => None,
        Unit::User => table.persons_of_party(adjacency),
        Unit::Record => table.public_count(unit, adjacency),
    };
    let sizes: Option<Vec<u64>> = tables.iter().map(size).collect();
    let place = |(table, number): (PrivateTable, u32)| {
        let own = key_of(PartyId(number), key);
        let agreed = (run, Arc::clone(plan));
        let party = SumParty::new(table, Arc::clone(loss), opening, (own, number), agreed)?;
        let (inbox, server) = (Inbox::new(id, PartyId(number)), Inbox::new(id, SERVER));
        Ok(Mutex::new(Place { inbox, party, member: None, server }))
    };
    let places: Result<Vec<_>, Refusal> = tables.into_iter().zip(0..).map(place).collect();
    let places = Arc::new(places?);
    let mut fingerprints = Hasher::new("reticent tables");
    for place in places.iter() {
        let place = place.lock().unwrap_or_else(PoisonError::into_inner);
        fingerprints.field(&place.party.fingerprint()?);
    }
    let kept = Arc::new(Mutex::new(KeptSums::new(fingerprints.finish())));
    let books = SumBooks { places: Arc::clone(&places) };
    let carrier = Places {
        heard: vec![0; places.len()],
        places,
        post: Arc::clone(&post),
        run: *run,
        plan: Arc::clone(plan),
        kept: Arc::clone(&kept),
    };
    let mut server = NoisySums::new(
        (shape, terms),
        Arc::clone(loss),
        opening,
        Arc::clone(plan),
        Box::new(carrier),
    )?;
    if let Some(sizes) = sizes {
        server.weigh(sizes)?;
    }
    Ok(NoisyParties { server, books, post, kept })
}

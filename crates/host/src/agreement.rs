//! What makes a run this run and no other: a digest of all that its members agree on.
//!
//! ```text
//! run = H(program, versions, job, roster, who is in, nonce of every member, records of every party)
//! ```
//!
//! Each member says the digest of its nonce and its number of records first, and both when it has all
//! digests, so that nobody chooses the run: not by a number either, which is as free as a nonce to who
//! lies about it. Then each signs the run together with the key that sums are closed for,
//! and none goes on before it has the signatures of all: who was told something else has signed
//! another run. Proof: proofs/network.md.

use reticent::{Identity, PublicKey};
use reticent_noise::{Digest, Hasher};
use reticent_runtime::wire;
use serde::{Deserialize, Serialize};

use crate::message::VERSION;
use crate::roster::Roster;

/// The version of the program that begins and ends a run.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// The prefix of everything that is signed here.
const PURPOSE: &[u8] = b"reticent run signature v1\n";

/// 32 unpredictable bytes.
pub type Nonce = [u8; 32];

/// The terms that all members have received: the parties of the run, the nonces of the lead and of
/// the parties, and the parties' public numbers of records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTerms {
    /// The parties of the run, by their numbers in the roster.
    pub seats: Vec<u32>,
    /// The nonce of the lead, then those of the parties.
    pub nonces: Vec<Nonce>,
    /// The number of records of each party, where it is public.
    pub units: Vec<Option<u64>>,
}

/// The commitment of a member to its nonce and, where it is public, its number of records. The lead
/// has no records.
pub fn commitment(nonce: &Nonce, units: Option<u64>) -> Digest {
    let mut hasher = Hasher::new("reticent nonce and records");
    hasher.field(nonce).number(u64::from(units.is_some())).number(units.unwrap_or_default());
    hasher.finish()
}

impl RunTerms {
    /// The identifier of the run.
    pub fn run(&self, job: &Digest, roster: &Digest) -> Digest {
        let mut hasher = Hasher::new("reticent run on a network");
        hasher.field(PROGRAM.as_bytes());
        hasher.number(u64::from(wire::VERSION)).number(u64::from(VERSION));
        hasher.field(job).field(roster).number(self.seats.len() as u64);
        self.seats.iter().for_each(|seat| _ = hasher.number(u64::from(*seat)));
        hasher.number(self.nonces.len() as u64);
        self.nonces.iter().for_each(|nonce| _ = hasher.field(nonce));
        hasher.number(self.units.len() as u64);
        for own in &self.units {
            hasher.number(u64::from(own.is_some())).number(own.unwrap_or_default());
        }
        hasher.finish()
    }

    /// Whether the terms have as many members as there are commitments, and open them.
    pub fn open(&self, commitments: &[Digest]) -> bool {
        let units = std::iter::once(None).chain(self.units.iter().copied());
        let mut said = self.nonces.iter().zip(units).zip(commitments);
        self.nonces.len() == commitments.len()
            && self.units.len() + 1 == commitments.len()
            && self.seats.len() == self.units.len()
            && said.all(|((nonce, units), said)| commitment(nonce, units) == *said)
    }
}

/// The text that each member signs: the run, and the key that sums are encrypted for.
pub fn statement(run: &Digest, aggregator: &[u8]) -> Vec<u8> {
    let digest = Hasher::new("reticent run statement").field(run).field(aggregator).finish();
    [PURPOSE, &digest].concat()
}

/// The signature of a member.
pub fn sign(identity: &Identity, run: &Digest, aggregator: &[u8]) -> Vec<u8> {
    identity.sign_message(&statement(run, aggregator)).to_vec()
}

/// The name of the first member that has not signed this run, the lead before the parties; `None`
/// if all have signed.
pub fn unsigned(
    roster: &Roster,
    run: &Digest,
    aggregator: &[u8],
    signatures: &[Vec<u8>],
) -> Option<String> {
    let said = statement(run, aggregator);
    let keys = std::iter::once(roster.lead_key())
        .chain((0..roster.parties()).filter_map(|party| roster.key(party).copied()));
    let mut given = signatures.iter();
    for (key, member) in keys.zip(roster.members()) {
        let signature = given.next().and_then(|bytes| <[u8; 64]>::try_from(&bytes[..]).ok());
        let public = PublicKey::from_bytes(&key);
        let good =
            public.zip(signature).is_some_and(|(public, value)| public.has_signed(&said, &value));
        if !good {
            return Some(member.name.clone());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_members_are_told_is_in_the_run() {
        let terms =
            RunTerms { seats: vec![1], nonces: vec![[1; 32], [2; 32]], units: vec![Some(5)] };
        let run = terms.run(&[7; 32], &[8; 32]);
        let others = [
            terms.run(&[9; 32], &[8; 32]),
            terms.run(&[7; 32], &[9; 32]),
            RunTerms { nonces: vec![[1; 32], [3; 32]], ..terms.clone() }.run(&[7; 32], &[8; 32]),
            RunTerms { nonces: vec![[2; 32], [1; 32]], ..terms.clone() }.run(&[7; 32], &[8; 32]),
            RunTerms { units: vec![Some(6)], ..terms.clone() }.run(&[7; 32], &[8; 32]),
            RunTerms { units: vec![None], ..terms.clone() }.run(&[7; 32], &[8; 32]),
            RunTerms { seats: vec![2], ..terms.clone() }.run(&[7; 32], &[8; 32]),
        ];
        assert!(others.iter().all(|other| *other != run));
        assert_ne!(statement(&run, b"a"), statement(&run, b"b"));
        let said = [commitment(&[1; 32], None), commitment(&[2; 32], Some(5))];
        assert!(terms.open(&said) && !terms.open(&said[..1]) && !terms.open(&[said[1], said[0]]));
    }

    /// The members of a masked sum follow from the run. A party that knew all nonces could try
    /// numbers of records until the run suited it, without a failed attempt.
    #[test]
    fn a_number_of_records_is_bound_before_any_nonce_is_shown() {
        let said = [commitment(&[1; 32], None), commitment(&[2; 32], Some(5))];
        let with =
            |own| RunTerms { seats: vec![0], nonces: vec![[1; 32], [2; 32]], units: vec![own] };
        assert!(with(Some(5)).open(&said));
        for other in [Some(6), Some(0), None] {
            assert!(!with(other).open(&said), "{other:?}");
        }
        let none = [said[0], commitment(&[2; 32], None)];
        assert!(with(None).open(&none) && !with(Some(0)).open(&none));
    }
}

//! Signatures of mask keys: each member signs its keys of every round by its key of the roster, and
//! nobody masks anything with unsigned keys. So a lead cannot substitute keys of its own.

use std::sync::Arc;

use reticent::{Identity, PublicKey};
use reticent_noise::Digest;
use reticent_runtime::{MaskKeys, Signers};

use crate::roster::Roster;

/// The prefix of what is signed: no other signature is one of mask keys.
const PURPOSE: &[u8] = b"reticent mask keys signature v1\n";

/// The keys of the roster, and the member's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RosterKeys<'a> {
    pub identity: &'a Identity,
    pub roster: &'a Roster,
}

impl MaskKeys for RosterKeys<'_> {
    fn sign(&self, said: &Digest) -> Vec<u8> {
        self.identity.sign_message(&[PURPOSE, said].concat()).to_vec()
    }

    fn has_signed(&self, member: u32, said: &Digest, signature: &[u8]) -> bool {
        has_signed(self.roster, member, said, signature)
    }
}

/// The same for a node that outlives its maker.
struct KeptKeys {
    identity: Identity,
    roster: Roster,
}

impl MaskKeys for KeptKeys {
    fn sign(&self, said: &Digest) -> Vec<u8> {
        RosterKeys { identity: &self.identity, roster: &self.roster }.sign(said)
    }

    fn has_signed(&self, member: u32, said: &Digest, signature: &[u8]) -> bool {
        has_signed(&self.roster, member, said, signature)
    }
}

/// The functions by which a node signs, and checks the signatures of others.
pub(crate) fn signers(identity: &Identity, roster: &Roster) -> Signers {
    Signers(Arc::new(KeptKeys { identity: identity.clone(), roster: roster.clone() }))
}

/// Whether a party of the roster has signed this.
pub(crate) fn has_signed(roster: &Roster, member: u32, said: &Digest, signature: &[u8]) -> bool {
    let key = roster.key(member).and_then(PublicKey::from_bytes);
    let signature = <[u8; 64]>::try_from(signature).ok();
    key.zip(signature)
        .is_some_and(|(key, signature)| key.has_signed(&[PURPOSE, said].concat(), &signature))
}

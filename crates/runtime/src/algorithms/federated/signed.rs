//! A user of masked sums on a network, whose server may do as it likes.
//!
//! ```text
//! asked in a round that it is in  ─► public keys, signed for this round and its members
//! everybody's keys, signed        ─► a sealed share for each other member
//! everybody's sealed shares       ─► the masked vector
//! everybody is in                 ─► a share of each member's seed
//! ```
//!
//! Who is in a sum is worked out here (`draw.rs`), and not taken from the server. The masks of a round come from
//! 32 bytes of the operating system; with the vector and what was heard they make the same member again
//! after a crash, in the same bytes. What no server says that follows the protocol ends the run for this user.
//! Proof: proofs/secure-aggregation.md, "A server that lies".

use std::sync::Arc;

use reticent_masks::{Body, KeptMember, Member, Message};
use reticent_noise::{Digest, NoiseKey};

use super::draw::{MemberDraw, RoundMembers};
use super::follower::HandOver;
use super::masked::Masked;
use super::sum_terms::SumTerms;
use super::trajectory::label;
use crate::client::Contribution;
use crate::error::RunError;
use crate::masked_party::{MaskKeys, SignedKeys, key_statement};
use crate::message::MessageKind;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// Signs for a member, and checks the signatures of others.
#[derive(Clone)]
pub struct Signers(pub Arc<dyn MaskKeys + Send + Sync>);

impl std::fmt::Debug for Signers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signers")
    }
}

pub(super) fn forged<T>(why: impl std::fmt::Display) -> Result<T, Rejected> {
    Err(Rejected::Forged(why.to_string()))
}

/// The member that a user is in a round.
struct SignedMember {
    round: u32,
    members: RoundMembers,
    kept: KeptMember,
    member: Member,
}

/// A user's way to signed masked sums.
pub(super) struct SignedMasking {
    config: Masked,
    noise: f64,
    run: Digest,
    me: u32,
    signers: Signers,
    draw: MemberDraw,
    now: Option<SignedMember>,
}

impl SignedMasking {
    pub fn new(
        config: Masked,
        noise: f64,
        (run, me): (&Digest, u32),
        signers: Signers,
    ) -> Result<Self, RunError> {
        let draw = config.draw(run)?;
        Ok(SignedMasking { config, noise, run: *run, me, signers, draw, now: None })
    }

    fn members(&mut self, round: u32) -> Result<RoundMembers, Rejected> {
        self.draw.of(round).map_err(|error| Rejected::Gate(error.to_string()))
    }

    fn terms(&self, round: u32) -> Result<SumTerms, Rejected> {
        let terms = self.config.sum_terms(&self.run, round, self.noise);
        terms.map_err(|error| Rejected::Gate(error.to_string()))
    }
}

impl SignedMember {
    /// The directory of a sum, if all members have signed their own keys in it, for the same
    /// members.
    fn checked(&self, said: &[u8], run: &Digest, signers: &Signers) -> Result<Vec<u8>, Rejected> {
        let SignedKeys { message, signatures } = wire::unpack(said)?;
        let read = Message::decode(self.member.terms(), self.member.id(), &message);
        let Body::Directory(directory) = read.or_else(forged)?.body else {
            return forged("no directory of keys");
        };
        let (of, mut given) = (self.members.users(), signatures.iter());
        for (place, public) in &directory {
            let user = self.members.chosen.get(*place as usize).copied().unwrap_or(u32::MAX);
            let said = key_statement(run, (self.round, &of), user, public);
            if !given.next().is_some_and(|signature| signers.0.has_signed(user, &said, signature)) {
                return forged(format!(
                    "keys of party {user} that it has not signed for this round"
                ));
            }
        }
        Ok(message)
    }
}

impl HandOver for SignedMasking {
    const KEEPS: bool = true;

    fn hand_over(
        &mut self,
        party: &mut Party,
        round: u32,
        place: u32,
    ) -> Result<Option<Contribution>, Rejected> {
        let members = self.members(round)?;
        if members.chosen.binary_search(&self.me) != Ok(place as usize) {
            return forged("a place in a sum that is not this party's");
        }
        if members.places.binary_search(&place).is_err() {
            return Ok(None);
        }
        let SumTerms { terms, code, share } = self.terms(round)?;
        let no_key = |error: reticent_noise::EntropyError| Rejected::Gate(error.to_string());
        let key = NoiseKey::secure().map_err(no_key)?.expose().0;
        let masked =
            party.mask(&label(round, place), &code, &share, &terms, (place, Some(&key)))?;
        let Some(member) = masked else { return Ok(None) };
        let member = member.among(&members.places);
        let message = member.start().bytes;
        let read = Message::decode(&terms, place, &message);
        let Body::Advertise(public) = read.or_else(forged)?.body else {
            return Err(Rejected::Unexpected);
        };
        let said = key_statement(&self.run, (round, &members.users()), self.me, &public);
        let signatures = vec![self.signers.0.sign(&said)];
        let kept = KeptMember::new(&member, &key).ok_or(Rejected::Unexpected)?;
        self.now = Some(SignedMember { round, members, kept, member });
        let payload = wire::pack(&SignedKeys { message, signatures })?;
        Ok(Some(Contribution { kind: MessageKind::Masks, payload }))
    }

    fn masked(&mut self, round: u32, said: &[u8]) -> Result<Vec<Vec<u8>>, Rejected> {
        let Some(now) = &mut self.now else { return Err(Rejected::Unexpected) };
        match round {
            round if round < now.round => return Err(Rejected::Stale { given: round }),
            round if round > now.round => return Err(Rejected::Early { given: round }),
            _ => {}
        }
        let message = match now.kept.answered() {
            0 => now.checked(said, &self.run, &self.signers)?,
            _ => said.to_vec(),
        };
        let answer = now.member.on_message(&message).or_else(forged)?;
        now.kept.hear(message);
        Ok(answer.into_iter().map(|out| out.bytes).collect())
    }

    fn keep(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&self.now.as_ref().map(|now| (now.round, &now.kept)))?)
    }

    fn recall(&mut self, kept: &[u8]) -> Result<(), RunError> {
        let kept: Option<(u32, KeptMember)> = wire::unpack(kept)?;
        let Some((round, kept)) = kept else { return Ok(()) };
        let lost = |_| RunError::Snapshot("a masked round that cannot be gone on with");
        let member = kept.member(self.terms(round)?.terms).map_err(lost)?;
        let members = self.members(round)?;
        self.now = Some(SignedMember { round, members, kept, member });
        Ok(())
    }
}

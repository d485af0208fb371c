//! A party of masked sums on a machine of its own, whose server may do as it likes.
//!
//! ```text
//! step 4(r−1)+1   what is summed in round r   ─► public keys, signed
//!            +2   everybody's keys, signed    ─► a sealed share for each other member
//!            +3   everybody's sealed shares   ─► the masked vector
//!            +4   everybody is in             ─► a share of each member's seed
//! ```
//!
//! Every step is one request and one answer, which is kept and repeated. The masks of a round are from
//! 32 bytes of the operating system; with what was heard in the round they make the same member again
//! after a crash, in the same bytes. A list that leaves somebody out, or has a key that its member has
//! not signed for this round, is not answered, and ends the run. Proof: proofs/secure-aggregation.md,
//! "A server that lies".

use reticent_masks::{Body, Member, Message, PublicKeys};
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::{SumParty, SumProgress};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::endpoint::AsText;
use crate::error::RunError;
use crate::inbox::{Inbox, server_only};
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::noisy_party::reported;
use crate::party::{PartyReport, refused};
use crate::rejected::Rejected;
use crate::wire;

/// Steps of a round.
pub const STEPS: u32 = 4;

/// Who signs for a member, and knows the others' signatures: the roster's keys.
pub trait MaskKeys {
    /// This member's signature.
    fn sign(&self, said: &Digest) -> Vec<u8>;

    /// Whether a member has signed this.
    fn has_signed(&self, member: u32, said: &Digest, signature: &[u8]) -> bool;
}

/// What a member signs: its public keys of one round of one run.
pub fn key_statement(run: &Digest, round: u64, member: u32, keys: &PublicKeys) -> Digest {
    let mut hasher = Hasher::new("reticent mask keys");
    hasher.field(run).number(round).number(member.into());
    hasher.field(&keys.mask).field(&keys.channel).finish()
}

/// A message of the masks, and the signatures of the keys in it, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignedKeys {
    /// What the crate `masks` has made.
    pub message: Vec<u8>,
    /// Of whose keys are in it.
    pub signatures: Vec<Vec<u8>>,
}

/// A round as it is kept: what makes the same member again.
#[derive(Clone, Serialize, Deserialize)]
struct KeptRound {
    round: u32,
    request: Vec<u8>,
    key: [u8; 32],
    heard: Vec<Vec<u8>>,
}

impl Drop for KeptRound {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.key);
    }
}

/// A party of masked sums.
pub struct MaskedParty {
    inbox: Inbox,
    party: SumParty,
    round: Option<(KeptRound, Member)>,
}

/// Not derived: it would show what is masked.
impl std::fmt::Debug for MaskedParty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MaskedParty").field("party", &self.party).finish_non_exhaustive()
    }
}

impl MaskedParty {
    /// Party number `number` of `run`, and what it says to the server when it has joined.
    pub fn new(run: &Digest, number: PartyId, party: SumParty) -> (Self, Envelope) {
        let inbox = Inbox::new(RunId::from(run), number);
        let said = inbox.write(0, SERVER, MessageKind::Share, Vec::new());
        (MaskedParty { inbox, party, round: None }, said)
    }

    /// What goes on after a crash, from the same table and the same key. To be kept as secret as the
    /// table: it has the masks of a round that is on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        let kept = self.round.as_ref().map(|(kept, _)| kept);
        Ok(wire::pack(&(&self.inbox, AsText(self.party.progress()), kept))?)
    }

    /// Goes on from a snapshot.
    ///
    /// # Errors
    /// If it is of another run or another party, or none.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        type Kept = (Inbox, AsText<SumProgress>, Option<KeptRound>);
        let (inbox, progress, kept): Kept = wire::unpack(snapshot)?;
        self.inbox.recall(inbox)?;
        self.party.resume(progress.0)?;
        self.round = kept.map(|kept| self.rebuilt(kept)).transpose()?;
        Ok(())
    }

    /// The member that a round had: the same key, and what it has heard.
    fn rebuilt(&mut self, kept: KeptRound) -> Result<(KeptRound, Member), RunError> {
        let mut member = self.party.member_of(kept.round, &kept.request, &kept.key)?.of_all();
        for bytes in &kept.heard {
            let heard = member.on_message(bytes);
            heard.map_err(|_| RunError::Snapshot("a masked round that cannot be gone on with"))?;
        }
        Ok((kept, member))
    }

    /// The last step that was answered; 0 for none.
    pub fn answered(&self) -> u32 {
        self.inbox.heard(SERVER, MessageKind::Ask)
    }

    /// What the party says to a message; to one that it has answered, the same bytes again.
    ///
    /// # Errors
    /// If the message is none that it answers; [`Rejected::Forged`] and [`Rejected::Conflicting`] are
    /// of a server that does not follow the protocol.
    pub fn on_message(
        &mut self,
        envelope: &Envelope,
        keys: &dyn MaskKeys,
    ) -> Result<Vec<Envelope>, Rejected> {
        let admitted = self.inbox.check(envelope, server_only)?;
        if envelope.kind != MessageKind::Ask || envelope.round == 0 {
            return Err(Rejected::Unexpected);
        }
        if admitted.again {
            return Ok(self.inbox.repeat(envelope));
        }
        let (round, step) = ((envelope.round - 1) / STEPS + 1, (envelope.round - 1) % STEPS);
        let said = match step {
            0 => self.begin(round, &envelope.payload, keys)?,
            _ => self.go_on((round, step), &envelope.payload, keys)?,
        };
        let reply = envelope.reply(MessageKind::Answer, said);
        Ok(self.inbox.take(envelope, &admitted, vec![reply]))
    }

    /// Becomes a member of the sum of a round, with masks that nobody had before.
    fn begin(
        &mut self,
        round: u32,
        request: &[u8],
        keys: &dyn MaskKeys,
    ) -> Result<Vec<u8>, Rejected> {
        let no_key = |error: reticent_noise::EntropyError| Rejected::Gate(error.to_string());
        let key: Zeroizing<[u8; 32]> = NoiseKey::secure().map_err(no_key)?.expose().0;
        let member = self.party.member_of(round, request, &key).map_err(refused)?.of_all();
        let message = member.start().bytes;
        let own = self.inbox.me().0;
        let Body::Advertise(public) = read(&member, own, &message)? else {
            return Err(Rejected::Unexpected);
        };
        let terms = member.terms();
        let signature = keys.sign(&key_statement(terms.run(), terms.round(), own, &public));
        let kept = KeptRound { round, request: request.to_vec(), key: *key, heard: Vec::new() };
        self.round = Some((kept, member));
        wire::pack(&SignedKeys { message, signatures: vec![signature] })
    }

    /// The next step of the round that is on.
    fn go_on(
        &mut self,
        (round, step): (u32, u32),
        payload: &[u8],
        keys: &dyn MaskKeys,
    ) -> Result<Vec<u8>, Rejected> {
        let own = self.inbox.me().0;
        let Some((kept, member)) = &mut self.round else { return Err(Rejected::Unexpected) };
        if (kept.round, kept.heard.len() as u32 + 1) != (round, step) {
            return Err(Rejected::Unexpected);
        }
        let message = match step {
            1 => checked(member, own, payload, keys)?,
            _ => payload.to_vec(),
        };
        let said = member.on_message(&message).map_err(|why| Rejected::Forged(why.to_string()))?;
        let said = said.into_iter().next().ok_or(Rejected::Unexpected)?;
        kept.heard.push(message);
        Ok(said.bytes)
    }

    /// What its certificate counts.
    pub fn report(&self) -> PartyReport {
        reported(self.inbox.me(), self.party.report())
    }
}

fn read(member: &Member, own: u32, message: &[u8]) -> Result<Body, Rejected> {
    let read = Message::decode(member.terms(), own, message);
    Ok(read.map_err(|why| Rejected::Forged(why.to_string()))?.body)
}

/// The directory of a round, if everybody has signed its own keys in it.
fn checked(
    member: &Member,
    own: u32,
    payload: &[u8],
    keys: &dyn MaskKeys,
) -> Result<Vec<u8>, Rejected> {
    let SignedKeys { message, signatures } = wire::unpack(payload)?;
    let Body::Directory(directory) = read(member, own, &message)? else {
        return Err(Rejected::Forged("no directory of keys".to_owned()));
    };
    let mut given = signatures.iter();
    for (other, public) in &directory {
        let terms = member.terms();
        let said = key_statement(terms.run(), terms.round(), *other, public);
        if !given.next().is_some_and(|signature| keys.has_signed(*other, &said, signature)) {
            return Err(Rejected::Forged(format!(
                "keys of member {other} that it has not signed for this round"
            )));
        }
    }
    Ok(message)
}

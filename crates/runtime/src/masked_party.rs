//! A party of masked sums on a machine of its own, whose server may do as it likes.
//!
//! ```text
//! step 4(s−1)+1   what is summed in slot s     ─► public keys, signed
//!            +2   everybody's keys, signed    ─► a sealed share for each other member
//!            +3   everybody's sealed shares   ─► the masked vector
//!            +4   everybody is in             ─► a share of each member's seed
//! ```
//!
//! Slot s has round s while nobody has left for good; how members go on without one is in `standing.rs`.
//! Every step is one request and one answer, which is kept and repeated. The masks of a round are from
//! 32 bytes of the operating system; with what was heard in the round they make the same member again
//! after a crash, in the same bytes. A list of others than are in, or with a key that its member has not
//! signed for this slot and these members, is not answered, and ends the run. Proof: proofs/secure-aggregation.md,
//! "A server that lies".

use reticent_masks::{Body, Member, Message, PublicKeys};
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::{SumLaw, SumParty, SumProgress};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::endpoint::AsText;
use crate::error::RunError;
use crate::inbox::{Inbox, server_only};
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::noisy_party::reported;
use crate::party::{PartyReport, refused};
use crate::rejected::Rejected;
use crate::standing::{Membership, SlotRequest, Staying, members_digest};
use crate::wire;

/// The number of steps of a slot.
pub const STEPS: u32 = 4;

/// Signs for a member and checks the signatures of others, by the keys of the roster.
pub trait MaskKeys {
    /// This member's signature.
    fn sign(&self, said: &Digest) -> Vec<u8>;

    /// Whether a member has signed this.
    fn has_signed(&self, member: u32, said: &Digest, signature: &[u8]) -> bool;
}

/// The text that a member signs: its public keys of one slot of one run, and the members of the
/// sum.
pub fn key_statement(
    run: &Digest,
    (slot, members): (u32, &[u32]),
    member: u32,
    keys: &PublicKeys,
) -> Digest {
    let mut hasher = Hasher::new("reticent mask keys");
    hasher.field(run).number(slot.into()).number(member.into());
    members_digest(&mut hasher, members);
    hasher.field(&keys.mask).field(&keys.channel).finish()
}

/// A message of the masks, and the signatures of the keys in it, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignedKeys {
    /// The message of the crate `masks`.
    pub message: Vec<u8>,
    /// The signatures of the keys in it.
    pub signatures: Vec<Vec<u8>>,
}

/// The state of a round, from which the same member is restored.
#[derive(Clone, Serialize, Deserialize)]
struct KeptRound {
    slot: u32,
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
    run: Digest,
    inbox: Inbox,
    party: SumParty,
    round: Option<(KeptRound, Member)>,
    standing: Membership,
    /// The fewest members with which it continues.
    least: u32,
}

/// Not derived: it would show the masked values.
impl std::fmt::Debug for MaskedParty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MaskedParty").field("party", &self.party).finish_non_exhaustive()
    }
}

impl MaskedParty {
    /// Party number `number` of `run`, and its greeting to the server.
    pub fn new(run: &Digest, number: PartyId, party: SumParty) -> (Self, Envelope) {
        let inbox = Inbox::new(RunId::from(run), number);
        let said = inbox.write(0, SERVER, MessageKind::Share, Vec::new());
        let all = party.law().parties();
        let standing = Membership::new(all);
        (MaskedParty { run: *run, inbox, party, round: None, standing, least: all }, said)
    }

    /// Lets the party continue without members that have left for good, while at least `least` stay
    /// and their noise is that of the plan.
    #[must_use]
    pub fn going_on_with(self, least: u32) -> Self {
        MaskedParty { least, ..self }
    }

    /// The state for a restart with the same table and key. It must be kept as secret as the table:
    /// it has the masks of the current round.
    ///
    /// # Errors
    /// If it cannot be serialised.
    pub fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        let kept = self.round.as_ref().map(|(kept, _)| kept);
        Ok(wire::pack(&(&self.inbox, AsText(self.party.progress()), kept, &self.standing))?)
    }

    /// Restores a snapshot.
    ///
    /// # Errors
    /// If it is invalid, or of another run or party.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        type Kept = (Inbox, AsText<SumProgress>, Option<KeptRound>, Membership);
        let (inbox, progress, kept, standing): Kept = wire::unpack(snapshot)?;
        self.inbox.recall(inbox)?;
        self.standing = standing;
        self.party.resume(progress.0)?;
        self.round = kept.map(|kept| self.rebuilt(kept)).transpose()?;
        Ok(())
    }

    /// The member of a round, restored from its key and the messages that it has received.
    fn rebuilt(&mut self, kept: KeptRound) -> Result<(KeptRound, Member), RunError> {
        let member = self.party.member_of(kept.round, &kept.request, &kept.key)?;
        let mut member = member.among(&self.standing.members);
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

    /// Answers a message; a repeated one gets the same bytes.
    ///
    /// # Errors
    /// If the message is not one to answer; [`Rejected::Forged`] and [`Rejected::Conflicting`]
    /// prove that the server violates the protocol.
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
        let (slot, step) = ((envelope.round - 1) / STEPS + 1, (envelope.round - 1) % STEPS);
        let said = match step {
            0 => match wire::unpack(&envelope.payload)? {
                SlotRequest::Sum(request) => self.begin(slot, &request, keys)?,
                SlotRequest::Stay(staying) => self.stay(slot, &staying, keys)?,
            },
            1 if self.standing.signed.is_some() => self.agree(slot, &envelope.payload, keys)?,
            _ => self.go_on((slot, step), &envelope.payload, keys)?,
        };
        let reply = envelope.reply(MessageKind::Answer, said);
        Ok(self.inbox.take(envelope, &admitted, vec![reply]))
    }

    /// Becomes a member of the sum of a round, with fresh masks.
    fn begin(
        &mut self,
        slot: u32,
        request: &[u8],
        keys: &dyn MaskKeys,
    ) -> Result<Vec<u8>, Rejected> {
        let round = self.standing.round_of(slot)?;
        let no_key = |error: reticent_noise::EntropyError| Rejected::Gate(error.to_string());
        let key: Zeroizing<[u8; 32]> = NoiseKey::secure().map_err(no_key)?.expose().0;
        let member = self.party.member_of(round, request, &key).map_err(refused)?;
        let member = member.among(&self.standing.members);
        let message = member.start().bytes;
        let own = self.inbox.me().0;
        let Body::Advertise(public) = read(&member, own, &message)? else {
            return Err(Rejected::Unexpected);
        };
        let of = (slot, &self.standing.members[..]);
        let signature = keys.sign(&key_statement(member.terms().run(), of, own, &public));
        let (request, heard) = (request.to_vec(), Vec::new());
        self.round = Some((KeptRound { slot, round, request, key: *key, heard }, member));
        self.standing.begin(round);
        wire::pack(&SignedKeys { message, signatures: vec![signature] })
    }

    /// The next step of the current round.
    fn go_on(
        &mut self,
        (slot, step): (u32, u32),
        payload: &[u8],
        keys: &dyn MaskKeys,
    ) -> Result<Vec<u8>, Rejected> {
        let own = self.inbox.me().0;
        let Some((kept, member)) = &mut self.round else { return Err(Rejected::Unexpected) };
        if (kept.slot, kept.heard.len() as u32 + 1) != (slot, step) {
            return Err(Rejected::Unexpected);
        }
        let message = match step {
            1 => checked(member, (slot, &self.standing.members), own, (payload, keys))?,
            _ => payload.to_vec(),
        };
        let said = member.on_message(&message).map_err(|why| Rejected::Forged(why.to_string()))?;
        let said = said.into_iter().next().ok_or(Rejected::Unexpected)?;
        kept.heard.push(message);
        if step + 1 == STEPS {
            self.standing.opens();
        }
        Ok(said.bytes)
    }

    /// Signs the list of members that stay. The current round is abandoned: messages of its slot
    /// are stale.
    fn stay(
        &mut self,
        slot: u32,
        staying: &Staying,
        keys: &dyn MaskKeys,
    ) -> Result<Vec<u8>, Rejected> {
        let SumLaw::Masked(law) = self.party.law() else { return Err(Rejected::Unexpected) };
        self.standing.sign((slot, self.inbox.me().0), staying, (law, self.least))?;
        self.round = None;
        Ok(keys.sign(&staying.statement(&self.run)))
    }

    /// Takes the signatures of all that stay, in the order of the list.
    fn agree(
        &mut self,
        slot: u32,
        payload: &[u8],
        keys: &dyn MaskKeys,
    ) -> Result<Vec<u8>, Rejected> {
        let Some(staying) = &self.standing.signed else { return Err(Rejected::Unexpected) };
        if staying.slot != slot {
            return Err(Rejected::Unexpected);
        }
        let signatures: Vec<Vec<u8>> = wire::unpack(payload)?;
        let said = staying.statement(&self.run);
        let mut given = signatures.iter();
        for member in &staying.members {
            if !given.next().is_some_and(|signature| keys.has_signed(*member, &said, signature)) {
                let why = format!("member {member} has not signed this list of who stays");
                return Err(Rejected::Forged(why));
            }
        }
        self.standing.agree();
        Ok(Vec::new())
    }

    /// The cost for its certificate.
    pub fn report(&self) -> PartyReport {
        reported(self.inbox.me(), self.party.report())
    }
}

fn read(member: &Member, own: u32, message: &[u8]) -> Result<Body, Rejected> {
    let read = Message::decode(member.terms(), own, message);
    Ok(read.map_err(|why| Rejected::Forged(why.to_string()))?.body)
}

/// The directory of a slot, if all members have signed their own keys in it, for the same members.
fn checked(
    member: &Member,
    of: (u32, &[u32]),
    own: u32,
    (payload, keys): (&[u8], &dyn MaskKeys),
) -> Result<Vec<u8>, Rejected> {
    let SignedKeys { message, signatures } = wire::unpack(payload)?;
    let Body::Directory(directory) = read(member, own, &message)? else {
        return Err(Rejected::Forged("no directory of keys".to_owned()));
    };
    let mut given = signatures.iter();
    for (other, public) in &directory {
        let said = key_statement(member.terms().run(), of, *other, public);
        if !given.next().is_some_and(|signature| keys.has_signed(*other, &said, signature)) {
            return Err(Rejected::Forged(format!(
                "keys of member {other} that it has not signed for this round"
            )));
        }
    }
    Ok(message)
}

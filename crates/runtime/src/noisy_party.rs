//! A party on its own machine that answers a server with its own noise: its last request and
//! answer, and its books. The same in one process is in `noisy/`. Proof: proofs/noisy-sums.md,
//! between machines proofs/network.md.

use reticent_noise::Digest;
use reticent_oracle::{Refusal, SumParty, SumPartyReport, SumProgress, SumReach};

use crate::endpoint::AsText;
use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::party::{PartyReport, refused};
use crate::rejected::Rejected;
use crate::wire;

/// A party whose answers are seen one by one.
#[derive(Debug)]
pub struct NoisyParty {
    inbox: Inbox,
    party: SumParty,
}

impl NoisyParty {
    /// Party number `number` of `run`, and its greeting to the server.
    pub fn new(run: &Digest, number: PartyId, party: SumParty) -> (Self, Envelope) {
        let inbox = Inbox::new(RunId::from(run), number);
        let said = inbox.write(0, SERVER, MessageKind::Share, Vec::new());
        (NoisyParty { inbox, party }, said)
    }

    /// The state for a restart with the same table and key. It must be kept as secret as the table.
    ///
    /// # Errors
    /// If it cannot be serialised.
    pub fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(&self.inbox, AsText(self.party.progress())))?)
    }

    /// Restores a snapshot.
    ///
    /// # Errors
    /// If it is invalid, or of another run or party.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (inbox, progress): (Inbox, AsText<SumProgress>) = wire::unpack(snapshot)?;
        self.inbox.recall(inbox)?;
        Ok(self.party.resume(progress.0)?)
    }

    /// The last round that was answered; 0 for none.
    pub fn answered(&self) -> u32 {
        self.inbox.heard(SERVER, MessageKind::Ask)
    }

    /// Answers a message; a repeated one gets the same bytes.
    ///
    /// # Errors
    /// If the message is not one to answer; nothing was then released or entered.
    pub fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.inbox.answer_once(envelope, |asked| seen_answer(&mut self.party, asked))
    }

    /// The cost for its certificate.
    pub fn report(&self) -> PartyReport {
        reported(self.inbox.me(), self.party.report())
    }
}

/// An answer that is seen by itself: eight bytes for each number, whatever its value.
pub(crate) fn seen_answer(party: &mut SumParty, asked: &Envelope) -> Result<Envelope, Rejected> {
    let said = party.answer(asked.round, &asked.payload).map_err(refused)?;
    let bytes = said.iter().flat_map(|step| step.to_le_bytes()).collect();
    Ok(asked.reply(MessageKind::Answer, bytes))
}

pub(crate) fn reported(id: PartyId, own: SumPartyReport) -> PartyReport {
    let SumPartyReport { ledger, answers, terms } = own;
    PartyReport { id, ledger, answers, terms }
}

/// The sum of the parties' answers, if they are seen one by one: eight bytes for each of `len`
/// numbers, each answer clipped to the range of an honest party of its size; and the parties whose
/// answers were clipped.
///
/// # Errors
/// If an answer has another length.
pub fn added(
    said: &[(u32, Vec<u8>)],
    len: usize,
    reach: Option<SumReach<'_>>,
) -> Result<(Vec<i64>, Vec<u32>), Refusal> {
    let (mut sum, mut own) = (vec![0_i64; len], Vec::with_capacity(len));
    let mut cut = Vec::new();
    for (party, answer) in said {
        let none = || Refusal::BadQuery(format!("what party {party} has said is no sum"));
        let (steps, rest) = answer.as_chunks::<8>();
        if steps.len() != len || !rest.is_empty() {
            return Err(none());
        }
        own.clear();
        own.extend(steps.iter().map(|step| i64::from_le_bytes(*step)));
        if reach.is_some_and(|reach| reach.cut_answer(*party, &mut own)) {
            cut.push(*party);
        }
        for (sum, step) in sum.iter_mut().zip(&own) {
            *sum = sum.checked_add(*step).ok_or_else(none)?;
        }
    }
    Ok((sum, cut))
}

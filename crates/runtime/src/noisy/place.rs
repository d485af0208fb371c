//! A party in one process: its answers to messages of the server.

use reticent_masks::{Member, Outgoing};
use reticent_oracle::{SumLaw, SumParty};

use crate::inbox::{Inbox, server_only};
use crate::message::{Envelope, MessageKind};
use crate::noisy_party::seen_answer;
use crate::party::refused;
use crate::rejected::Rejected;

/// A party, and what the server has received from it.
#[derive(Debug)]
pub(super) struct Place {
    pub inbox: Inbox,
    pub party: SumParty,
    pub member: Option<(u32, MaskMember)>,
    pub server: Inbox,
}

/// A member of the masked sum of a round.
pub(super) struct MaskMember(Member);

/// Not derived: it would show the masked values.
impl std::fmt::Debug for MaskMember {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MaskMember(..)")
    }
}

impl Place {
    /// Answers a message of the server.
    pub fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        match envelope.kind {
            MessageKind::Ask => self.on_request(envelope),
            // The rounds of the masks tell these messages apart.
            MessageKind::Masks => {
                self.inbox.address(envelope, server_only)?;
                match &mut self.member {
                    Some((round, MaskMember(member))) if *round == envelope.round => {
                        let said = member.on_message(&envelope.payload);
                        let said = said.map_err(|_| Rejected::Unexpected)?;
                        let reply = |out: Outgoing| envelope.reply(MessageKind::Masks, out.bytes);
                        Ok(said.into_iter().map(reply).collect())
                    }
                    _ => Err(Rejected::Unexpected),
                }
            }
            _ => Err(Rejected::Unexpected),
        }
    }

    fn on_request(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.inbox.answer_once(envelope, |asked| match self.party.law() {
            SumLaw::Local { .. } => seen_answer(&mut self.party, asked),
            SumLaw::Masked(_) => {
                let member = self.party.member(asked.round, &asked.payload).map_err(refused)?;
                let first = member.start().bytes;
                self.member = Some((asked.round, MaskMember(member)));
                Ok(asked.reply(MessageKind::Masks, first))
            }
        })
    }
}

//! The checks that every node makes before it reads a payload.

use std::collections::BTreeMap;

use reticent_noise::Digest;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::rejected::Rejected;

/// The inbox of a node. [`Inbox::check`] changes nothing; [`Inbox::take`] records a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    run: RunId,
    me: PartyId,
    last: BTreeMap<(PartyId, MessageKind), Last>,
}

/// The last message of one kind that was taken from one sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Last {
    round: u32,
    attempt: u16,
    digest: Digest,
    /// The replies to it.
    replies: Vec<Envelope>,
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admitted {
    /// The digest of the whole content of the message.
    pub digest: Digest,
    /// Whether the same message was taken before: the answer must be the same too
    /// ([`Inbox::repeat`]).
    pub again: bool,
}

impl Inbox {
    /// The inbox of `me` in `run`.
    pub fn new(run: RunId, me: PartyId) -> Self {
        Inbox { run, me, last: BTreeMap::new() }
    }

    /// The owner of the inbox.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Checks that the message is of this run, for this node and from an expected sender. For
    /// messages that another layer tells apart.
    pub fn address(
        &self,
        envelope: &Envelope,
        known: impl Fn(PartyId) -> bool,
    ) -> Result<(), Rejected> {
        if envelope.run != self.run {
            return Err(Rejected::OtherRun);
        }
        if envelope.to != self.me {
            return Err(Rejected::NotForMe(envelope.to));
        }
        if !known(envelope.from) {
            return Err(Rejected::UnknownSender(envelope.from));
        }
        Ok(())
    }

    /// Checks whether the message may be taken. `known` tells the expected senders.
    pub fn check(
        &self,
        envelope: &Envelope,
        known: impl Fn(PartyId) -> bool,
    ) -> Result<Admitted, Rejected> {
        self.address(envelope, known)?;
        let digest = envelope.digest();
        match self.last.get(&(envelope.from, envelope.kind)) {
            Some(last) if envelope.round < last.round => {
                Err(Rejected::Stale { given: envelope.round })
            }
            Some(last) if envelope.round == last.round => {
                if digest != last.digest {
                    Err(Rejected::Conflicting)
                } else if envelope.attempt <= last.attempt && last.replies.is_empty() {
                    Err(Rejected::Duplicate)
                } else {
                    Ok(Admitted { digest, again: true })
                }
            }
            _ => Ok(Admitted { digest, again: false }),
        }
    }

    /// Refuses a message of any round but `now`.
    pub fn in_round(&self, envelope: &Envelope, now: u32) -> Result<(), Rejected> {
        match envelope.round {
            round if round < now => Err(Rejected::Stale { given: round }),
            round if round > now => Err(Rejected::Early { given: round }),
            _ => Ok(()),
        }
    }

    /// Records a message and its answer, and returns the answer.
    ///
    /// Connections deliver a message at least once, and an answer may be lost where the message was
    /// not: so a repeated message gets the same bytes, whether it was repeated by mistake or on
    /// purpose.
    pub fn take(
        &mut self,
        envelope: &Envelope,
        admitted: &Admitted,
        replies: Vec<Envelope>,
    ) -> Vec<Envelope> {
        let Envelope { round, attempt, from, kind, .. } = *envelope;
        let last = Last { round, attempt, digest: admitted.digest, replies: replies.clone() };
        self.last.insert((from, kind), last);
        replies
    }

    /// Answers a request of the server: `answer` once, and the same bytes to the same request
    /// again. Without an answer nothing is recorded.
    pub(crate) fn answer_once(
        &mut self,
        request: &Envelope,
        answer: impl FnOnce(&Envelope) -> Result<Envelope, Rejected>,
    ) -> Result<Vec<Envelope>, Rejected> {
        let admitted = self.check(request, server_only)?;
        if request.kind != MessageKind::Ask {
            return Err(Rejected::Unexpected);
        }
        if admitted.again {
            return Ok(self.repeat(request));
        }
        let reply = answer(request)?;
        Ok(self.take(request, &admitted, vec![reply]))
    }

    /// Whether this attempt, or a later one, was taken.
    pub(crate) fn attempted(&self, envelope: &Envelope) -> bool {
        let last = self.last.get(&(envelope.from, envelope.kind));
        last.is_some_and(|last| envelope.attempt <= last.attempt)
    }

    /// The recorded answer to a repeated message, for this attempt.
    pub fn repeat(&mut self, envelope: &Envelope) -> Vec<Envelope> {
        let Envelope { attempt, from, kind, .. } = *envelope;
        let Some(last) = self.last.get_mut(&(from, kind)) else { return Vec::new() };
        last.attempt = last.attempt.max(attempt);
        last.replies.iter().map(|reply| Envelope { attempt, ..reply.clone() }).collect()
    }

    /// The round of the last message of this kind that was taken from `from`; 0 for none.
    pub(crate) fn heard(&self, from: PartyId, kind: MessageKind) -> u32 {
        self.last.get(&(from, kind)).map_or(0, |last| last.round)
    }

    /// A message of this node.
    pub fn write(&self, round: u32, to: PartyId, kind: MessageKind, payload: Vec<u8>) -> Envelope {
        Envelope { run: self.run, round, attempt: 0, from: self.me, to, kind, payload }
    }

    /// Restores a recorded inbox; refuses that of another node.
    pub(crate) fn recall(&mut self, kept: Inbox) -> Result<(), RunError> {
        if (kept.run, kept.me) != (self.run, self.me) {
            return Err(RunError::Snapshot("it is of another run or another party"));
        }
        *self = kept;
        Ok(())
    }
}

/// Accepts the server alone.
pub(crate) fn server_only(from: PartyId) -> bool {
    from == SERVER
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_message_is_refused_by_its_name_and_nothing_changes() {
        let me = PartyId(3);
        let mut inbox = Inbox::new(RunId([1; 16]), me);
        let server = Inbox::new(RunId([1; 16]), SERVER);
        let good = Envelope { to: me, ..server.write(5, me, MessageKind::Ask, vec![1]) };
        let admitted = inbox.check(&good, server_only).unwrap();
        assert!(!admitted.again);
        inbox.take(&good, &admitted, Vec::new());
        let before = inbox.clone();
        let name = |envelope: Envelope| {
            inbox.check(&envelope, server_only).map(|a| a.again).map_err(|r| r.name())
        };
        assert_eq!(name(good.clone()), Err("duplicate"));
        assert_eq!(name(Envelope { round: 4, ..good.clone() }), Err("stale"));
        assert_eq!(name(Envelope { payload: vec![2], ..good.clone() }), Err("conflicting"));
        assert_eq!(
            name(Envelope { payload: vec![2], attempt: 9, ..good.clone() }),
            Err("conflicting")
        );
        assert_eq!(
            name(Envelope { run: RunId([2; 16]), round: 6, ..good.clone() }),
            Err("other run")
        );
        assert_eq!(name(Envelope { to: SERVER, ..good.clone() }), Err("not addressed here"));
        assert_eq!(name(Envelope { from: PartyId(1), ..good.clone() }), Err("unknown sender"));
        assert_eq!(name(Envelope { attempt: 1, ..good.clone() }), Ok(true));
        assert_eq!(name(Envelope { round: 6, ..good.clone() }), Ok(false));
        assert_eq!(inbox, before);
        let mut other = Inbox::new(RunId([1; 16]), me);
        other.recall(before).unwrap();
        assert_eq!(other.check(&good, server_only), Err(Rejected::Duplicate));
        assert!(other.recall(server).is_err());
    }

    /// A connection that delivers twice, and a server that asks again, get the same bytes.
    #[test]
    fn what_was_said_is_said_again_to_the_same_message() {
        let me = PartyId(3);
        let mut inbox = Inbox::new(RunId([1; 16]), me);
        let ask = Inbox::new(RunId([1; 16]), SERVER).write(5, me, MessageKind::Ask, vec![1]);
        let admitted = inbox.check(&ask, server_only).unwrap();
        let said = inbox.take(&ask, &admitted, vec![ask.reply(MessageKind::Answer, vec![7])]);
        for attempt in [0, 2, 1] {
            let again = Envelope { attempt, ..ask.clone() };
            assert!(inbox.check(&again, server_only).unwrap().again);
            let repeated = inbox.repeat(&again);
            assert_eq!(repeated, [Envelope { attempt, ..said[0].clone() }]);
        }
        let other = Envelope { payload: vec![2], attempt: 3, ..ask.clone() };
        assert_eq!(inbox.check(&other, server_only), Err(Rejected::Conflicting));
    }
}

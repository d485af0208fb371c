//! The node of a member: the one function that gives it messages, and the one that takes its
//! answers.

use std::time::{Duration, Instant};

use reticent::simulate::MOST_TOGETHER;
use reticent_runtime::{Envelope, Node, PartyId, Rejected, RunProgress, SERVER, wire};

use super::frame::{PeerMail, PeerPost, RelayedFrame};
use super::mailbox::{Mailbox, Unheard};
use super::pieces::KeptPieces;
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::options::{HostOptions, Notice};
use crate::roster::Roster;

/// The longest time before messages that need no answer are in the journal.
const LAZY: Duration = Duration::from_millis(300);

/// The deadlines of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadlines {
    /// The first alone, which begins the run: a token continues by itself.
    Once,
    /// One whenever no member is awaited.
    Rounds,
    /// None: the node only answers.
    Never,
}

/// A node of a run and its mailbox.
pub(crate) struct PeerEngine {
    node: Box<dyn Node>,
    me: u32,
    mailbox: Mailbox,
    pieces: KeptPieces,
    deadlines: Deadlines,
    /// The longest message, in bytes.
    limit: usize,
    /// The time since which the journal lacks a received message.
    unkept: Option<Instant>,
    /// The time of the last received message.
    heard: Instant,
    /// The names of the parties and of the lead.
    names: Vec<String>,
}

impl std::fmt::Debug for PeerEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PeerEngine").field("me", &self.me).finish_non_exhaustive()
    }
}

impl PeerEngine {
    pub fn new(
        node: Box<dyn Node>,
        (me, mailbox): (u32, Mailbox),
        deadlines: Deadlines,
        limit: usize,
    ) -> Self {
        let heard = Instant::now();
        let (names, pieces) = (Vec::new(), KeptPieces::default());
        PeerEngine { node, me, mailbox, pieces, deadlines, limit, unkept: None, heard, names }
    }

    pub fn node(&self) -> &dyn Node {
        &*self.node
    }

    /// Restores a snapshot, and the lists of the node from the journal.
    pub fn restore(&mut self, snapshot: &[u8], journal: &RunJournal) -> Result<(), HostError> {
        let (kept, pieces) = KeptPieces::of(journal)?;
        self.node.restore_apart(snapshot, &pieces)?;
        self.pieces = kept;
        Ok(())
    }

    /// The number of messages that it has ever sent.
    pub fn said(&self) -> u64 {
        self.mailbox.said()
    }

    /// Whether its node knows that the run has ended.
    pub fn has_ended(&self) -> bool {
        self.node.progress().is_some_and(|at| at.done >= at.of)
    }

    /// Whether all its messages were received, and all that it has received is kept.
    pub fn is_settled(&self) -> bool {
        self.mailbox.is_settled() && self.unkept.is_none()
    }

    /// The members that are awaited, and the time since the last message.
    pub fn awaits(&self) -> (Vec<u32>, Duration) {
        let awaited = self.node.awaits().into_iter();
        let mut who: Vec<u32> = awaited.map(|party| self.member(party)).collect();
        who.extend(self.mailbox.unheard());
        who.sort_unstable();
        who.dedup();
        (who, self.heard.elapsed())
    }

    /// The number of a node among the members: the server is the lead's, behind the parties.
    fn member(&self, id: PartyId) -> u32 {
        if id == SERVER { self.mailbox.members() - 1 } else { id.0 }
    }

    /// Sets the names of the members.
    #[must_use]
    pub fn among(self, roster: &Roster) -> Self {
        let parties = (0..roster.parties()).map(|party| roster.name(party));
        PeerEngine { names: parties.chain([roster.lead_name().to_owned()]).collect(), ..self }
    }

    fn name(&self, member: u32) -> &str {
        self.names.get(member as usize).map_or("a member", String::as_str)
    }

    /// Prepares for a new connection.
    pub fn again(&mut self) {
        self.mailbox.again();
    }

    /// Gives the node one message: sealed by its sender for this member, the next in order, within
    /// the size limit, and with the sender's name inside. The node's answers go into the outbox. A
    /// rejected message is reported by name, and changes nothing.
    fn receive(&mut self, frame: &RelayedFrame) -> Result<(), Unheard> {
        let Some(bytes) = self.mailbox.open(frame)? else { return Ok(()) };
        (self.heard, self.unkept) = (Instant::now(), self.unkept.or(Some(Instant::now())));
        // Two different requests in one round, or a message that no honest member sends.
        let asks = self.deadlines == Deadlines::Never;
        let rejected = |why: Rejected| match why {
            Rejected::Forged(_) | Rejected::Blamed(_) => Unheard::Ends(frame.from, why.to_string()),
            Rejected::Conflicting if asks => {
                Unheard::Ends(frame.from, "two things were asked in one round".to_owned())
            }
            why => Unheard::Rejected(why.name()),
        };
        let envelope = wire::decode(&bytes, self.limit).map_err(rejected)?;
        if self.member(envelope.from) != frame.from {
            return Err(Unheard::Rejected("another's name"));
        }
        let said = self.node.on_message(&envelope).map_err(rejected)?;
        self.say(said).map_err(|_| Unheard::Rejected("an answer to nobody"))
    }

    /// Puts the node's messages into the outbox; those to itself it receives at once.
    fn say(&mut self, said: Vec<Envelope>) -> Result<(), HostError> {
        let mut waiting: std::collections::VecDeque<Envelope> = said.into();
        while let Some(envelope) = waiting.pop_front() {
            match self.member(envelope.to) {
                to if to == self.me => waiting.extend(self.node.on_message(&envelope)?),
                to => self.mailbox.put(to, wire::encode(&envelope))?,
            }
        }
        Ok(())
    }

    /// Whether a deadline of the node is due.
    fn is_due(&mut self) -> bool {
        let begun = *self.mailbox.deadlines() > 0;
        match self.deadlines {
            Deadlines::Never => false,
            Deadlines::Once => !begun,
            Deadlines::Rounds => !self.has_ended() && self.node.awaits().is_empty(),
        }
    }

    /// Receives messages, continues as far as possible, and commits before any answer can be sent.
    ///
    /// # Errors
    /// If the journal cannot be written, or a peer knows what this journal has lost.
    pub fn turn(
        &mut self,
        came: &PeerMail,
        journal: &mut RunJournal,
        options: &HostOptions,
    ) -> Result<(), HostError> {
        for frame in &came.frames {
            match self.receive(frame) {
                Ok(()) => {}
                Err(Unheard::Rejected(name)) => {
                    options.tell(Notice::Rejected { name: name.to_owned() })
                }
                Err(Unheard::Ends(from, why)) => {
                    return Err(HostError::Ended(format!("{}: {why}", self.name(from))));
                }
                Err(Unheard::SetBack(from)) => {
                    // A peer that lies looks the same from here.
                    let why = format!(
                        "{} says that it has heard words of this member that its journal does not know: the journal \
                         was set back, or that member lies; nothing is said again",
                        self.name(from)
                    );
                    return Err(HostError::Ended(why));
                }
            }
        }
        while self.is_due() {
            let round = *self.mailbox.deadlines();
            let said = self.node.on_deadline(round)?;
            *self.mailbox.deadlines() += 1;
            self.unkept = self.unkept.or(Some(Instant::now()));
            self.say(said)?;
            if let Some(RunProgress { done, of }) = self.node.progress() {
                options.tell(Notice::Iteration { done: done.into(), of: of.into() });
            }
        }
        // A message without an answer is not committed at once: it can wait for the next.
        let over = came.closing || self.has_ended();
        let late = self.unkept.is_some_and(|since| over || since.elapsed() >= LAZY);
        // A peer that confirms everything at the end may have stopped when it is told that the run
        // is over.
        let leaves = over && self.mailbox.has_gone();
        match late || leaves || self.mailbox.is_unkept() {
            true => self.commit(journal, options),
            false => Ok(()),
        }
    }

    /// Commits one transaction: the node, the growth of its lists, the progress of each peer's
    /// messages, and the outbox.
    fn commit(&mut self, journal: &mut RunJournal, options: &HostOptions) -> Result<(), HostError> {
        let state = self.node.snapshot_apart()?;
        let grown = self.pieces.grown(&*self.node)?;
        if self.mailbox.is_unkept() {
            journal.note_answer()?;
        }
        options.writing("turn", || {
            journal.commit(|change| {
                change.set("node", &state)?;
                grown.write(change)?;
                self.mailbox.write(change)
            })
        })?;
        self.pieces.committed(&*self.node);
        self.mailbox.committed();
        self.unkept = None;
        if let Some(RunProgress { done, of }) =
            self.node.progress().filter(|_| self.deadlines == Deadlines::Once)
        {
            options.tell(Notice::Iteration { done: done.into(), of: of.into() });
        }
        Ok(())
    }

    /// The frames to send after these were received: a member that received nothing new, or is at
    /// its end, confirms the messages of all peers.
    pub fn post(&mut self, came: &PeerMail) -> Result<PeerPost, HostError> {
        let all = came.frames.is_empty() || came.closing || self.has_ended();
        let (frames, more) = self.mailbox.frames(MOST_TOGETHER, all)?;
        let (ended, settled) = (self.has_ended(), self.is_settled());
        Ok(PeerPost { frames, keyed: true, more, ended, settled })
    }
}

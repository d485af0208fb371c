//! The one way in to the node of a member, and its only way out.

use std::time::{Duration, Instant};

use reticent::simulate::MOST_TOGETHER;
use reticent_runtime::{Envelope, Node, PartyId, Rejected, SERVER, wire};

use super::frame::{PeerMail, PeerPost, RelayedFrame};
use super::mailbox::{Mailbox, Unheard};
use super::pieces::KeptPieces;
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::options::{HostOptions, Notice};
use crate::roster::Roster;

/// What was heard and not answered is in the journal by then.
const LAZY: Duration = Duration::from_millis(300);

/// When the deadlines of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadlines {
    /// The first alone, which begins the run: a token goes on by itself.
    Once,
    /// Each when nobody is awaited any more.
    Rounds,
    /// It has none: it answers.
    Never,
}

/// A node of a run and its mailbox.
pub(crate) struct PeerEngine {
    node: Box<dyn Node>,
    me: u32,
    mailbox: Mailbox,
    pieces: KeptPieces,
    deadlines: Deadlines,
    /// No message is longer.
    limit: usize,
    /// Since when something was heard that the journal does not have.
    unkept: Option<Instant>,
    /// When something was heard last.
    heard: Instant,
    /// The parties and the lead.
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

    /// Goes on from a snapshot, and from what the journal has of its node's lists.
    pub fn restore(&mut self, snapshot: &[u8], journal: &RunJournal) -> Result<(), HostError> {
        let (kept, pieces) = KeptPieces::of(journal)?;
        self.node.restore_apart(snapshot, &pieces)?;
        self.pieces = kept;
        Ok(())
    }

    /// How many words it has ever said.
    pub fn said(&self) -> u64 {
        self.mailbox.said()
    }

    /// Whether its node knows that the run has come to its end.
    pub fn has_ended(&self) -> bool {
        self.node.progress().is_some_and(|(done, of)| done >= of)
    }

    /// Whether all that it has said was heard, and all that it has heard is kept.
    pub fn is_settled(&self) -> bool {
        self.mailbox.is_settled() && self.unkept.is_none()
    }

    /// Who is awaited, and since when nothing was heard.
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

    /// The same that knows its members by name.
    #[must_use]
    pub fn among(self, roster: &Roster) -> Self {
        let parties = (0..roster.parties()).map(|party| roster.name(party));
        PeerEngine { names: parties.chain([roster.lead_name().to_owned()]).collect(), ..self }
    }

    fn name(&self, member: u32) -> &str {
        self.names.get(member as usize).map_or("a member", String::as_str)
    }

    /// The link is another one.
    pub fn again(&mut self) {
        self.mailbox.again();
    }

    /// The one way in: sealed by its sender for this member, the next of its words, within a limit,
    /// and with its sender's name inside → node. What the node says goes into the outbox. What is not
    /// taken is told by name, and changes nothing.
    fn receive(&mut self, frame: &RelayedFrame) -> Result<(), Unheard> {
        let Some(bytes) = self.mailbox.open(frame)? else { return Ok(()) };
        (self.heard, self.unkept) = (Instant::now(), self.unkept.or(Some(Instant::now())));
        // Who asks two things in one round, or says what nobody says who follows the protocol.
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

    /// Puts what the node says into the outbox; what it says to itself it hears at once.
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

    /// Whether the deadline of the node is here.
    fn is_due(&mut self) -> bool {
        let begun = *self.mailbox.deadlines() > 0;
        match self.deadlines {
            Deadlines::Never => false,
            Deadlines::Once => !begun,
            Deadlines::Rounds => !self.has_ended() && self.node.awaits().is_empty(),
        }
    }

    /// Hears what came, goes on as far as it can, and commits before anything of it can be sent.
    ///
    /// # Errors
    /// If it cannot be written, or a peer knows what this journal has forgotten.
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
                        "{} says that it has heard words of this member that its journal does not know: the journal was set back, or \
                         that member lies; nothing is said again",
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
            if let Some((done, of)) = self.node.progress() {
                options.tell(Notice::Iteration { done: done.into(), of: of.into() });
            }
        }
        // Nothing is sent of what was only heard: it can wait for what follows.
        let over = came.closing || self.has_ended();
        let late = self.unkept.is_some_and(|since| over || since.elapsed() >= LAZY);
        // Who says at the end that all was heard may have fallen when it is told that the run is over.
        let leaves = over && self.mailbox.has_gone();
        match late || leaves || self.mailbox.is_unkept() {
            true => self.commit(journal, options),
            false => Ok(()),
        }
    }

    /// One transaction: the node, what its lists have grown by, how far each peer's words have come, and
    /// what is to be said.
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
        if let Some((done, of)) = self.node.progress().filter(|_| self.deadlines == Deadlines::Once)
        {
            options.tell(Notice::Iteration { done: done.into(), of: of.into() });
        }
        Ok(())
    }

    /// What is to be carried now, after this was heard: who has heard nothing new, or what is at its
    /// end, tells all peers what was heard of them.
    pub fn post(&mut self, came: &PeerMail) -> Result<PeerPost, HostError> {
        let all = came.frames.is_empty() || came.closing || self.has_ended();
        let (frames, more) = self.mailbox.frames(MOST_TOGETHER, all)?;
        let (ended, settled) = (self.has_ended(), self.is_settled());
        Ok(PeerPost { frames, keyed: true, more, ended, settled })
    }
}

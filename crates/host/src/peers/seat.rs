//! A party among peers, from its greeting on: first the keys of all, then its node.

use reticent::simulate::{RemoteKind, SignedByAll};
use reticent_core::hex;
use reticent_noise::{Digest, NoiseKey};
use reticent_runtime::{
    Envelope, Inbox, MessageKind, Node, PartyId, RunId, SERVER, key_of, run_id, wire,
};

use super::engine::{Deadlines, PeerEngine};
use super::frame::SignedRelayKey;
use super::mailbox::Mailbox;
use super::seal::{RelaySeals, RelaySecret, forged};
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::mask_keys::signers;
use crate::roster::Roster;
use crate::seat::Seat;
use crate::serving::JoinedRun;

/// The numbers of the keys of the noise and of the relay, derived from a party's key in a run.
const NOISE: u64 = 1;
const RELAY: u64 = 2;

/// The name of the keys of all in the journal.
const KEYS: &str = "peers";

/// What is needed to take the keys of a run.
pub(crate) struct PeerRun<'a> {
    pub run: &'a Digest,
    pub roster: &'a Roster,
    pub kind: RemoteKind,
    /// The longest message between two nodes, in bytes.
    pub limit: usize,
}

/// The deadlines of a party's node.
fn deadlines(kind: RemoteKind) -> Deadlines {
    match kind {
        RemoteKind::Graph => Deadlines::Rounds,
        RemoteKind::Walk => Deadlines::Once,
        _ => Deadlines::Never,
    }
}

/// The keys of all, if each is signed by its owner.
pub(crate) fn checked(
    (roster, run): (&Roster, &Digest),
    keys: &[SignedRelayKey],
) -> Result<(), HostError> {
    if keys.len() != roster.parties() as usize + 1 {
        return Err(HostError::disagreed("the lead", "its keys are not those of the roster"));
    }
    match forged(roster, run, keys) {
        None => Ok(()),
        Some(member) => {
            let who = match member == roster.parties() {
                true => roster.lead_name().to_owned(),
                false => roster.name(member),
            };
            let what = format!("{who} has not signed the key that is said to be its own");
            Err(HostError::disagreed("the lead", what))
        }
    }
}

/// A party among peers.
#[derive(Debug)]
pub(crate) struct PeerSeat {
    secret: RelaySecret,
    me: u32,
    state: SeatState,
}

enum SeatState {
    /// The keys of the others are unknown.
    Waiting(Box<dyn Node>),
    Seated(Box<PeerEngine>),
    /// The state during the change.
    Between,
}

impl std::fmt::Debug for SeatState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SeatState")
    }
}

impl PeerSeat {
    /// The seat of a run that was joined, and its greeting: its relay key.
    pub fn new(seat: &mut Seat<'_>, joined: &JoinedRun) -> Result<(Self, Envelope), HostError> {
        let wrong = |what: &str| HostError::disagreed("the journal", what);
        let table = seat.table.take().ok_or_else(|| wrong("its table was taken"))?;
        let (job, me, roster) = (seat.company.job(), seat.place(), &seat.company.roster);
        let (run, units) = (&joined.signed.run, &joined.signed.terms.units);
        let own = NoiseKey::recall(joined.key.clone(), false);
        let (key, of) = match seat.options().seed {
            None => (own.child(NOISE), *run),
            // The noise of a run in one process.
            Some(seed) => {
                let whole = NoiseKey::seeded(seed);
                (key_of(PartyId(me), &whole), run_id(job.digest(), &whole)?)
            }
        };
        let signers = signers(seat.party.identity, roster);
        let by = SignedByAll { aggregator: &joined.signed.aggregator, signers };
        let node = job.peer_node(table, (key, me), (&of, units), by)?;
        let secret = RelaySecret::new(&own.child(RELAY).expose().0);
        let signed = secret.signed(seat.party.identity, run, me);
        let inbox = Inbox::new(RunId::from(run), PartyId(me));
        let greeting = inbox.write(0, SERVER, MessageKind::Share, wire::pack(&signed)?);
        let mut own = PeerSeat { secret, me, state: SeatState::Waiting(node) };
        if let Some(keys) = seat.journal.get::<Vec<SignedRelayKey>>(KEYS)? {
            let (kind, limit) = (job.kind(), job.longest_between());
            own.sit(&PeerRun { run, roster, kind, limit }, &keys, &seat.journal)?;
        }
        Ok((own, greeting))
    }

    /// Takes the keys of all, which all must have signed, into the journal.
    pub fn take_keys(
        &mut self,
        of: &PeerRun<'_>,
        keys: &[SignedRelayKey],
        journal: &mut RunJournal,
    ) -> Result<(), HostError> {
        if matches!(self.state, SeatState::Seated(_)) {
            return Ok(());
        }
        checked((of.roster, of.run), keys)?;
        journal.commit(|change| change.set(KEYS, &keys))?;
        self.sit(of, keys, journal)
    }

    fn sit(
        &mut self,
        of: &PeerRun<'_>,
        keys: &[SignedRelayKey],
        journal: &RunJournal,
    ) -> Result<(), HostError> {
        let SeatState::Waiting(node) = std::mem::replace(&mut self.state, SeatState::Between)
        else {
            return Err(HostError::disagreed("the lead", "it says the keys twice"));
        };
        let none =
            || HostError::disagreed("the lead", format!("a key of run {} is none", hex(of.run)));
        let seals = RelaySeals::new(&self.secret, of.run, self.me, keys).ok_or_else(none)?;
        let mailbox = Mailbox::new(seals, self.me, journal)?;
        let engine = PeerEngine::new(node, (self.me, mailbox), deadlines(of.kind), of.limit);
        let engine = engine.among(of.roster);
        self.state = SeatState::Seated(Box::new(engine));
        Ok(())
    }

    /// The node and its mailbox, once the keys of all are known.
    pub fn engine(&mut self) -> Option<&mut PeerEngine> {
        match &mut self.state {
            SeatState::Seated(engine) => Some(engine),
            _ => None,
        }
    }

    pub fn node(&self) -> Option<&dyn Node> {
        match &self.state {
            SeatState::Seated(engine) => Some(engine.node()),
            SeatState::Waiting(node) => Some(&**node),
            SeatState::Between => None,
        }
    }

    pub fn restore(&mut self, snapshot: &[u8], journal: &RunJournal) -> Result<(), HostError> {
        match &mut self.state {
            SeatState::Seated(engine) => engine.restore(snapshot, journal),
            SeatState::Waiting(node) => Ok(node.restore(snapshot)?),
            SeatState::Between => Ok(()),
        }
    }

    /// The number of messages that it has ever sent.
    pub fn said(&self) -> u64 {
        match &self.state {
            SeatState::Seated(engine) => engine.said(),
            _ => 0,
        }
    }
}

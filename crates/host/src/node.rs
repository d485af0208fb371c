//! The answers of a party, by the trust in the lead: exact sums that are encrypted for it, sums
//! with the party's own noise, or masked sums.

use reticent::accountant::View;
use reticent::simulate::RemoteKind;
use reticent_noise::NoiseKey;
use reticent_oracle::EntrustKey;
use reticent_runtime::{
    EntrustedParty, Envelope, MaskKeys, MaskedParty, NoisyParty, PartyId, PartyReport, Rejected,
    RunError, key_of, run_id,
};

use crate::error::HostError;
use crate::journal::RunJournal;
use crate::peers::seat::PeerSeat;
use crate::seat::Seat;
use crate::serving::JoinedRun;

/// The number of the key of the noise, derived from the party's key in a run.
const NOISE: u64 = 1;

/// The party's side of the messages of a run.
#[derive(Debug)]
pub(crate) enum PartyNode {
    /// For a lead that is trusted with exact sums.
    Entrusted(Box<EntrustedParty>),
    /// For a lead that sees each answer, with the party's noise.
    Noisy(Box<NoisyParty>),
    /// For a lead that sees the sum of all answers.
    Masked(Box<MaskedParty>),
    /// For messages to other parties, through a lead that cannot read them.
    Peer(Box<PeerSeat>),
    /// After the last answer; the table is not in memory any more.
    Over(u32),
}

impl PartyNode {
    /// The node of a run that was joined, and its greeting.
    pub fn new(seat: &mut Seat<'_>, joined: &JoinedRun) -> Result<(Self, Envelope), HostError> {
        if seat.party.job.kind() != RemoteKind::Sums {
            let (peer, said) = PeerSeat::new(seat, joined)?;
            return Ok((PartyNode::Peer(Box::new(peer)), said));
        }
        let wrong = |what: &str| HostError::disagreed("the journal", what);
        let table = seat.table.take().ok_or_else(|| wrong("its table was taken"))?;
        let (job, number) = (seat.company.job(), PartyId(seat.place()));
        let (run, units) = (&joined.signed.run, &joined.signed.terms.units);
        if job.trust() == View::Central {
            let to = postcard::from_bytes::<EntrustKey>(&joined.signed.aggregator);
            let to = to.map_err(|_| wrong("it has no key of the lead"))?;
            let key = NoiseKey::recall(joined.key.clone(), false);
            let (table, greeting) = job.entrust(table, (&key, number.0), &to)?;
            let (node, said) = EntrustedParty::new(run, number, table, greeting);
            return Ok((PartyNode::Entrusted(Box::new(node)), said));
        }
        let (key, of) = match seat.options().seed {
            None => (NoiseKey::recall(joined.key.clone(), false).child(NOISE), *run),
            // The noise of a run in one process.
            Some(seed) => {
                let whole = NoiseKey::seeded(seed);
                (key_of(number, &whole), run_id(job.digest(), &whole)?)
            }
        };
        let party = job.sum_party(table, (key, number.0), (&of, units))?;
        Ok(match job.trust() {
            View::SecureAggregation => {
                let (node, said) = MaskedParty::new(run, number, party);
                let least = seat.options().least.unwrap_or(job.parties());
                (PartyNode::Masked(Box::new(node.going_on_with(least))), said)
            }
            _ => {
                let (node, said) = NoisyParty::new(run, number, party);
                (PartyNode::Noisy(Box::new(node)), said)
            }
        })
    }

    pub fn on_message(
        &mut self,
        envelope: &Envelope,
        keys: &dyn MaskKeys,
    ) -> Result<Vec<Envelope>, Rejected> {
        match self {
            PartyNode::Entrusted(node) => node.on_message(envelope),
            PartyNode::Noisy(node) => node.on_message(envelope),
            PartyNode::Masked(node) => node.on_message(envelope, keys),
            PartyNode::Peer(_) | PartyNode::Over(_) => Err(Rejected::Unexpected),
        }
    }

    pub fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        match self {
            PartyNode::Entrusted(node) => node.snapshot(),
            PartyNode::Noisy(node) => node.snapshot(),
            PartyNode::Masked(node) => node.snapshot(),
            PartyNode::Peer(peer) => peer.node().map_or(Ok(Vec::new()), |node| node.snapshot()),
            PartyNode::Over(_) => Ok(Vec::new()),
        }
    }

    pub fn restore(&mut self, snapshot: &[u8], journal: &RunJournal) -> Result<(), HostError> {
        match self {
            PartyNode::Entrusted(node) => node.restore(snapshot)?,
            PartyNode::Noisy(node) => node.restore(snapshot)?,
            PartyNode::Masked(node) => node.restore(snapshot)?,
            PartyNode::Peer(peer) => peer.restore(snapshot, journal)?,
            PartyNode::Over(_) => {}
        }
        Ok(())
    }

    /// The seat of a peer; `None` if the lead asks for sums.
    pub fn as_peer(&self) -> Option<&PeerSeat> {
        match self {
            PartyNode::Peer(peer) => Some(peer),
            _ => None,
        }
    }

    /// The last request that was answered, or the number of messages of a peer; 0 for none.
    pub fn answered(&self) -> u32 {
        match self {
            PartyNode::Entrusted(node) => node.answered(),
            PartyNode::Noisy(node) => node.answered(),
            PartyNode::Masked(node) => node.answered(),
            PartyNode::Peer(peer) => u32::try_from(peer.said()).unwrap_or(u32::MAX),
            PartyNode::Over(answered) => *answered,
        }
    }

    /// The cost for the party's own certificate; `None` if the lead adds the noise and states the
    /// certificate.
    fn report(&self) -> Option<PartyReport> {
        match self {
            PartyNode::Entrusted(_) | PartyNode::Over(_) => None,
            PartyNode::Noisy(node) => Some(node.report()),
            PartyNode::Masked(node) => Some(node.report()),
            PartyNode::Peer(peer) => Some(peer.node()?.party()?.report()),
        }
    }

    /// The same after the last answer: releases the table, to make room for the model.
    pub fn conclude(&mut self) -> Option<PartyReport> {
        let report = self.report();
        *self = PartyNode::Over(self.answered());
        report
    }
}

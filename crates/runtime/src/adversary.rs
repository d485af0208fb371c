//! Adversaries: parties that lie, programs with a known defect, and observers. None of it is part
//! of a run; simulations and audits ask a protocol for it.

use crate::message::{Envelope, MessageKind, PartyId};
use crate::wire;

/// Faults that can be injected into an algorithm.
pub trait FaultInjection {
    /// The message of a party that respects no bound, in place of this one; `None` if the algorithm
    /// has no such message.
    fn exaggerated(&self, _honest: &Envelope) -> Option<Envelope> {
        None
    }

    /// Gives the algorithm a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    fn spoil(&mut self, _bug: reticent_oracle::Bug) {}
}

/// What an audit observes.
pub trait Transcribed {
    /// The releases that the adversary of the view reconstructs from a run, one vector for each, in
    /// order. Default: every vector that the victim sends.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let sent = witness.heard.iter().filter(|e| {
            e.from == witness.victim && matches!(e.kind, MessageKind::Answer | MessageKind::Share)
        });
        sent.filter_map(|envelope| wire::unpack(&envelope.payload).ok()).collect()
    }
}

/// The information of an adversary, whatever its view.
#[derive(Clone, Copy, Debug)]
pub struct Witness<'a> {
    /// The messages of the run, in order.
    pub heard: &'a [Envelope],
    /// The public z's of the run and the model behind them, if parties keep blocks that follow from
    /// them; otherwise the model alone.
    pub public: &'a [Vec<f64>],
    /// The party whose data are in question.
    pub victim: PartyId,
    /// Another party, which observes if the view is that of a peer.
    pub observer: PartyId,
    /// The victim's noise multiplier.
    pub noise: f64,
}

/// An answer of one vector that is far too long.
pub(crate) fn enlarged(honest: &Envelope) -> Option<Envelope> {
    let mut message: Vec<f64> = wire::unpack(&honest.payload).ok()?;
    message.iter_mut().for_each(|v| *v *= 1e9);
    Some(Envelope { payload: wire::pack(&message).ok()?, ..honest.clone() })
}

//! Who does not keep to the rules: parties that lie, programs with a known defect, and whoever
//! looks on. None of it is part of a run; simulations and audits ask a protocol for it.

use crate::message::{Envelope, MessageKind, PartyId};
use crate::wire;

/// What can be made to go wrong on purpose with an algorithm.
pub trait FaultInjection {
    /// What a party that keeps to no bound would send in place of this message; `None` if the
    /// algorithm has no such message.
    fn exaggerated(&self, _honest: &Envelope) -> Option<Envelope> {
        None
    }

    /// From here on, has a known defect, for an audit to find.
    #[cfg(feature = "seeded-bugs")]
    fn spoil(&mut self, _bug: reticent_oracle::Bug) {}
}

/// What an audit looks at.
pub trait Transcribed {
    /// What the adversary of the view makes of a run, one vector for each release, in their order.
    /// As it is here: every vector that the victim sends.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let sent = witness.heard.iter().filter(|e| {
            e.from == witness.victim && matches!(e.kind, MessageKind::Answer | MessageKind::Share)
        });
        sent.filter_map(|envelope| wire::unpack(&envelope.payload).ok()).collect()
    }
}

/// What an adversary of any view may have to work with.
#[derive(Clone, Copy, Debug)]
pub struct Witness<'a> {
    /// The messages of the run, in their order.
    pub heard: &'a [Envelope],
    /// The public z's of the run and the model behind them, where parties keep blocks that follow
    /// from them; else the model alone.
    pub public: &'a [Vec<f64>],
    /// Whose data are in question.
    pub victim: PartyId,
    /// Another party, who looks where the view is that of a peer.
    pub observer: PartyId,
    /// The victim's noise multiplier.
    pub noise: f64,
}

/// An answer of one vector, far too long.
pub(crate) fn enlarged(honest: &Envelope) -> Option<Envelope> {
    let mut message: Vec<f64> = wire::unpack(&honest.payload).ok()?;
    message.iter_mut().for_each(|v| *v *= 1e9);
    Some(Envelope { payload: wire::pack(&message).ok()?, ..honest.clone() })
}

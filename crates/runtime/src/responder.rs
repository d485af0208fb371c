//! A party that answers a server's requests from its gate. It has no state between two messages
//! except its data and its books, so a lost message does no harm.

use reticent_noise::Digest;
use reticent_oracle::{Oracle, Refusal};
use serde::de::DeserializeOwned;

use crate::client::{Behaviour, Contribution, Reply};
use crate::message::MessageKind;
use crate::party::{Party, refused, unless_spent};
use crate::rejected::Rejected;
use crate::wire;

/// The mathematics of a party's step.
pub(crate) trait Respond: Send + 'static {
    /// The request to a party.
    type Request: DeserializeOwned;

    /// The party's step: the only place that queries the gate, in a rehearsal and in a run.
    fn answer(
        &self,
        request: &Self::Request,
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal>;
}

/// The behaviour of such a party.
pub(crate) struct Responder<R> {
    pub config: R,
    pub noise: f64,
}

impl<R: Respond> Behaviour for Responder<R> {
    fn reply(
        &mut self,
        party: &mut Party,
        _: u32,
        digest: &Digest,
        request: &[u8],
    ) -> Result<Reply, Rejected> {
        let request = wire::unpack(request)?;
        let answer = self.config.answer(&request, self.noise, party.begin(digest));
        let answer = unless_spent(answer).map_err(refused)?;
        let said = answer.map(|message| wire::pack(&message)).transpose()?;
        Ok(Reply::or_declined(
            said.map(|payload| Contribution { kind: MessageKind::Answer, payload }),
        ))
    }
}

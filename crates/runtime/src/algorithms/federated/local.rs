//! Trust nobody: the server sees each message, so each message has noise of its own.
//!
//! ```text
//! server → user:  z, u_i                        (u_i is known to the server: it is the sum of what the user sent)
//! user → server:  clip(x_i − z, C′) + noise,    x_i = prox_{γf_i}(2z − u_i)
//! server:         u_i ← u_i + 2λ·message,  ẑ ← ẑ + 2λ·message/n
//! ```
//!
//! The user keeps nothing, so a message that is lost is lost without harm. Released: one message
//! per participation, a Gaussian event of the user's own gate with the ratio 2C′ over its noise.
//! The server knows who takes part, so chance amplifies nothing (E3); a user takes part at most
//! [`cap`](crate::participation::cap) times.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::Ledger;
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::queries::{Residual, ResidualTerms};
use reticent_oracle::{Oracle, Refusal, Terms};
use serde::{Deserialize, Serialize};

use super::Federated;
use crate::adversary::{FaultInjection, Transcribed, enlarged};
use crate::algorithms::{Protocol, Start, rehearsed, shorten};
use crate::client::Client;
use crate::coordinator::{Coordinator, Exchange};
use crate::error::RunError;
use crate::message::{Envelope, PartyId, RunId};
use crate::node::Node;
use crate::participation::choose;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::responder::{Respond, Responder};
use crate::wire;

#[derive(Clone, Debug)]
pub(crate) struct Local(pub Federated);

/// The request to a user.
#[derive(Serialize, Deserialize)]
pub(crate) struct ProxRequest {
    z: Vec<f64>,
    u: Vec<f64>,
}

impl Respond for Local {
    type Request = ProxRequest;

    fn answer(
        &self,
        request: &ProxRequest,
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal> {
        if let Some(claim) = self.0.claim(noise) {
            oracle.claim(claim);
        }
        let v: Vec<f64> = request.z.iter().zip(&request.u).map(|(z, u)| 2.0 * z - u).collect();
        let params = ResidualTerms { noise_multiplier: noise, ..self.0.params };
        Ok(oracle.ask(&Residual { v: &v, z: &request.z, params })?.into_inner())
    }
}

impl Protocol for Local {
    fn rounds(&self) -> u32 {
        self.0.rounds
    }

    fn longest_payload(&self) -> usize {
        16 * self.0.len() + 20
    }

    fn plan(&self, _: PartyId, noise: f64, own: Terms) -> Result<Ledger, RunError> {
        let request = ProxRequest { z: vec![0.0; self.0.len()], u: vec![0.0; self.0.len()] };
        rehearsed(self.0.regulariser.shape(), own, |oracle| {
            (0..self.0.most()).try_for_each(|_| self.answer(&request, noise, oracle).map(|_| ()))
        })
    }

    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError> {
        let behaviour = Responder { config: self.clone(), noise: start.noise };
        Ok(Client::node(RunId::from(start.run), party, behaviour))
    }

    fn server(
        &self,
        run: &Digest,
        key: NoiseKey,
        noise: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        let len = self.0.len();
        let noisiest = noise.iter().copied().fold(0.0, f64::max);
        let longest = self.0.params.clip * (1.0 + noisiest * ((len as f64).sqrt() + 6.0));
        let known = KnownResiduals { mean: vec![0.0; len], users: BTreeMap::new() };
        let (config, run) = (self.0.clone(), RunId::from(run));
        let z = config.consensus(&known.mean);
        let exchange = Residuals { config, run, key, longest, z, known };
        Ok(Some(Coordinator::node(run, exchange)))
    }
}

impl FaultInjection for Local {
    fn exaggerated(&self, honest: &Envelope) -> Option<Envelope> {
        enlarged(honest)
    }
}

impl Transcribed for Local {}

/// The server's side of the exchange.
struct Residuals {
    config: Federated,
    run: RunId,
    key: NoiseKey,
    /// The longest honest message, which is exceeded with a probability below 10⁻⁸ (a normal vector
    /// of length d has a norm above √d + 6 with at most that): longer ones are clipped, so that one
    /// party moves the mean no further.
    longest: f64,
    z: Vec<f64>,
    known: KnownResiduals,
}

/// The state between rounds.
#[derive(Serialize, Deserialize)]
struct KnownResiduals {
    mean: Vec<f64>,
    /// u of the users that have sent anything.
    users: BTreeMap<u32, Vec<f64>>,
}

impl Exchange for Residuals {
    type Answer = Vec<f64>;

    fn rounds(&self) -> u32 {
        self.config.rounds
    }

    fn open(&mut self, round: u32, declined: &BTreeSet<u32>) -> Result<Vec<u32>, RunError> {
        let Federated { sampling, parties, .. } = self.config;
        let label =
            Hasher::new("reticent sample").field(&self.run.0).number(u64::from(round)).finish();
        let chosen = choose(sampling, parties, &mut self.key.entropy(&label))?;
        Ok(chosen.into_iter().filter(|user| !declined.contains(user)).collect())
    }

    fn request(&self, _: u32, user: u32, _: u32) -> Result<Vec<u8>, RunError> {
        let u = self.known.users.get(&user).cloned();
        let u = u.unwrap_or_else(|| vec![0.0; self.z.len()]);
        Ok(wire::pack(&ProxRequest { z: self.z.clone(), u })?)
    }

    fn take(&mut self, _: u32, _: u32, payload: &[u8]) -> Result<Vec<f64>, Rejected> {
        let mut message = wire::checked(wire::unpack(payload)?, self.config.len())?;
        shorten(&mut message, self.longest);
        Ok(message)
    }

    /// Applies the answers to u and ẑ, in the order of the users.
    fn close(&mut self, _: u32, answers: BTreeMap<u32, Vec<f64>>) -> Result<(), RunError> {
        let KnownResiduals { mean, users } = &mut self.known;
        let Federated { lambda, parties, published, .. } = self.config;
        if published {
            mean.clone_from(&self.z);
        }
        for (user, answer) in answers {
            let u = users.entry(user).or_insert_with(|| vec![0.0; mean.len()]);
            for ((u, mean), message) in u.iter_mut().zip(mean.iter_mut()).zip(answer) {
                *u += 2.0 * lambda * message;
                *mean += 2.0 * lambda * message / f64::from(parties);
            }
        }
        self.z = self.config.consensus(mean);
        Ok(())
    }

    fn model(&self) -> Vec<f64> {
        self.z.clone()
    }

    fn save(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&self.known)?)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), RunError> {
        self.known = wire::unpack(saved)?;
        self.z = self.config.consensus(&self.known.mean);
        Ok(())
    }
}

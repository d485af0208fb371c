//! Distributed ADMM with a trainer in the middle that asks every provider in every round (DPA19):
//! what its algorithms have in common.
//!
//! ```text
//! trainer → provider i:  a request, made from w, w̃_i and γ_i
//! provider i → trainer:  w̃_i⁺, a release of the provider's own gate
//! trainer:               w⁺ = mean(w̃_i⁺) − mean(γ_i)/ρ,   γ_i⁺ = γ_i − ρ(w̃_i⁺ − w⁺)
//!
//! solution:              the last w, or w̄ = (1/T) Σ w^k, and w̄_i of each provider likewise
//! ```
//!
//! The averages are what the theorems of DPA19 bound and what its figures draw.
//! The trainer sees every message, so all that it keeps is public in the local view, and it sends
//! each provider the part that belongs to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use reticent_accountant::{Ledger, Method};
use reticent_admm::{Average, Refused, positive};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::Terms;
use reticent_problem::Regulariser;
use serde::{Deserialize, Serialize};

use super::{Protocol, ProtocolRecipe, Start, rehearsed};
use crate::adversary::{FaultInjection, Transcribed, Witness, enlarged};
use crate::client::Client;
use crate::coordinator::{Coordinator, Exchange};
use crate::error::RunError;
use crate::message::{Envelope, MessageKind, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::responder::{Respond, Responder};
use crate::wire;

/// The common part of all such algorithms.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub rounds: u32,
    pub rho: f64,
    pub regulariser: Arc<Regulariser>,
    /// The public number of units of each provider.
    pub units: Vec<u64>,
    /// Whether w̄ is the solution, rather than the last w.
    pub averaged: bool,
}

impl Common {
    pub fn new(recipe: &ProtocolRecipe<'_>, rounds: u64, rho: f64) -> Result<Self, Refused> {
        Ok(Common {
            rounds: recipe.rounds(rounds)?,
            rho: positive("rho", recipe.settings.rho.unwrap_or(rho))?,
            regulariser: Arc::clone(recipe.regulariser),
            units: recipe.units(),
            averaged: averaged(recipe)?,
        })
    }

    pub fn len(&self) -> usize {
        self.regulariser.shape().len()
    }
}

/// Whether the average of all rounds is the solution.
fn averaged(recipe: &ProtocolRecipe<'_>) -> Result<bool, Refused> {
    match recipe.settings.average {
        None | Some(Average::Last) => Ok(false),
        Some(Average::Uniform) => Ok(true),
        Some(other) => Err(Refused::new(
            "average",
            other,
            "between a trainer and providers it is last or uniform",
        )),
    }
}

/// Where honest answers are: around a public point.
pub(super) struct HonestRange {
    pub centre: Vec<f64>,
    pub radius: f64,
}

/// The step of a provider: the mathematics of an algorithm.
pub(super) trait Provider:
    Respond<Request: Serialize> + Clone + fmt::Debug + Send + Sync
{
    fn common(&self) -> &Common;

    /// See [`Protocol::counted_by`].
    fn counted_by(&self) -> Option<Method> {
        None
    }

    /// The most queries to a provider's gate in a round.
    fn asked(&self) -> u64 {
        1
    }

    /// The request to `party` in `round` (from 1).
    fn request(&self, trainer: &Trainer, round: u32, party: usize) -> Self::Request;

    /// A public point, and a distance from it that an honest answer of `party` exceeds with a
    /// probability below 10⁻⁸ (a normal vector of length d has a norm above √d + 6 with at most
    /// that). An answer beyond it is moved to that distance, so that a lying party moves the others
    /// no further.
    fn reach(&self, request: &Self::Request, party: usize, noise: f64) -> HonestRange;

    /// The vector in an answer that has the noise of the gate, as an adversary computes it.
    fn bare(&self, request: &Self::Request, answer: Vec<f64>, party: usize, noise: f64)
    -> Vec<f64>;
}

/// The protocol of such an algorithm.
#[derive(Debug)]
pub(super) struct Star<P>(pub P);

impl<P: Provider> Protocol for Star<P> {
    fn rounds(&self) -> u32 {
        self.0.common().rounds
    }

    fn counted_by(&self) -> Option<Method> {
        self.0.counted_by()
    }

    fn events_by(&self, rounds: u32) -> u64 {
        u64::from(rounds) * self.0.asked()
    }

    /// The trainer's state of each provider; all of it was released.
    fn node_models(&self, nodes: &[Box<dyn Node>]) -> Vec<Vec<f64>> {
        nodes.last().map(|server| server.parts()).unwrap_or_default()
    }

    /// The length of a request with three vectors and a few numbers.
    fn longest_payload(&self) -> usize {
        24 * self.0.common().len() + 64
    }

    fn plan(&self, party: PartyId, noise: f64, own: Terms) -> Result<Ledger, RunError> {
        let common = self.0.common();
        let trainer = Trainer::new(common);
        rehearsed(common.regulariser.shape(), own, |oracle| {
            (1..=common.rounds).try_for_each(|round| {
                let request = self.0.request(&trainer, round, party.index());
                self.0.answer(&request, noise, oracle).map(|_| ())
            })
        })
    }

    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError> {
        let behaviour = Responder { config: self.0.clone(), noise: start.noise };
        Ok(Client::node(RunId::from(start.run), party, behaviour))
    }

    fn server(
        &self,
        run: &Digest,
        _: NoiseKey,
        noise: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        let trainer = Trainer::new(self.0.common());
        let exchange = StarTraining { config: self.0.clone(), noise: noise.to_vec(), trainer };
        Ok(Some(Coordinator::node(RunId::from(run), exchange)))
    }
}

impl<P: Provider> FaultInjection for Star<P> {
    fn exaggerated(&self, honest: &Envelope) -> Option<Envelope> {
        enlarged(honest)
    }
}

impl<P: Provider> Transcribed for Star<P> {
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let Witness { heard, victim, noise, .. } = *witness;
        let mut request = None;
        let mut seen = Vec::new();
        for envelope in heard {
            if envelope.to == victim && envelope.kind == MessageKind::Ask {
                request = wire::unpack::<P::Request>(&envelope.payload).ok();
            }
            if let (true, MessageKind::Answer, Some(request), Ok(answer)) =
                (envelope.from == victim, envelope.kind, &request, wire::unpack(&envelope.payload))
            {
                seen.push(self.0.bare(request, answer, victim.index(), noise));
            }
        }
        seen
    }
}

/// The state of the trainer between rounds. All of it is public in the local view.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Trainer {
    /// w.
    pub consensus: Vec<f64>,
    /// w̃_i.
    pub own: Vec<Vec<f64>>,
    /// γ_i.
    pub dual: Vec<Vec<f64>>,
    /// w̄ and the w̄_i behind it, if they are the solution, and the number of their rounds.
    mean: Vec<Vec<f64>>,
    rounds: u32,
}

impl Trainer {
    fn new(common: &Common) -> Self {
        let zeros = vec![0.0; common.len()];
        let all = vec![zeros.clone(); common.units.len()];
        let mean = if common.averaged { vec![zeros.clone(); all.len() + 1] } else { Vec::new() };
        Trainer { consensus: zeros, own: all.clone(), dual: all, mean, rounds: 0 }
    }

    /// w̄, or w.
    fn model(&self) -> &[f64] {
        self.mean.first().unwrap_or(&self.consensus)
    }

    /// w̄_i, or w̃_i.
    fn parts(&self) -> &[Vec<f64>] {
        self.mean.get(1..).unwrap_or(&self.own)
    }

    /// Adds the iterates of a round to the averages.
    fn average(&mut self) {
        self.rounds += 1;
        let share = 1.0 / f64::from(self.rounds);
        let iterates = std::iter::once(&self.consensus).chain(&self.own);
        for (mean, iterate) in self.mean.iter_mut().zip(iterates) {
            mean.iter_mut().zip(iterate).for_each(|(mean, w)| *mean += share * (w - *mean));
        }
    }

    /// Takes the answers of a round. A provider without an answer has not moved, and keeps its
    /// multiplier.
    fn close(&mut self, rho: f64, answers: BTreeMap<u32, Vec<f64>>) {
        let Trainer { consensus, own, dual, .. } = self;
        let heard: Vec<usize> = answers.keys().map(|&party| party as usize).collect();
        for (party, answer) in answers {
            own[party as usize] = answer;
        }
        let n = own.len() as f64;
        for (j, w) in consensus.iter_mut().enumerate() {
            let sum: f64 = own.iter().map(|own| own[j]).sum();
            let duals: f64 = dual.iter().map(|dual| dual[j]).sum();
            *w = sum / n - duals / (n * rho);
        }
        for i in heard {
            for (j, w) in consensus.iter().enumerate() {
                dual[i][j] -= rho * (own[i][j] - w);
            }
        }
        self.average();
    }
}

/// The trainer's side of the exchange.
struct StarTraining<P> {
    config: P,
    noise: Vec<f64>,
    trainer: Trainer,
}

impl<P: Provider> Exchange for StarTraining<P> {
    type Answer = Vec<f64>;

    fn rounds(&self) -> u32 {
        self.config.common().rounds
    }

    fn open(&mut self, _: u32, declined: &BTreeSet<u32>) -> Result<Vec<u32>, RunError> {
        let everybody = 0..self.noise.len() as u32;
        Ok(everybody.filter(|party| !declined.contains(party)).collect())
    }

    fn request(&self, round: u32, party: u32, _: u32) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&self.config.request(&self.trainer, round, party as usize))?)
    }

    fn take(&mut self, round: u32, party: u32, payload: &[u8]) -> Result<Vec<f64>, Rejected> {
        let party = party as usize;
        let mut answer = wire::checked(wire::unpack(payload)?, self.config.common().len())?;
        let request = self.config.request(&self.trainer, round, party);
        let HonestRange { centre, radius: most } =
            self.config.reach(&request, party, self.noise[party]);
        let away = answer.iter().zip(&centre).map(|(a, c)| (a - c) * (a - c)).sum::<f64>().sqrt();
        if away > most {
            answer.iter_mut().zip(&centre).for_each(|(a, c)| *a = c + (*a - c) * (most / away));
        }
        Ok(answer)
    }

    fn close(&mut self, _: u32, answers: BTreeMap<u32, Vec<f64>>) -> Result<(), RunError> {
        self.trainer.close(self.config.common().rho, answers);
        Ok(())
    }

    fn model(&self) -> Vec<f64> {
        self.trainer.model().to_vec()
    }

    fn parts(&self) -> Vec<Vec<f64>> {
        self.trainer.parts().to_vec()
    }

    fn save(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&self.trainer)?)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), RunError> {
        self.trainer = wire::unpack(saved)?;
        Ok(())
    }
}

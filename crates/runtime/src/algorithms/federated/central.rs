//! Trust the server: users hand it their blocks, encrypted for its aggregator, which adds noise to
//! their mean (E2).
//!
//! ```text
//! server → the invited:  the z's they have not followed
//! user → aggregator:     clip(u_i − p, B), encrypted   (on a network from everybody, and those of the others are left out)
//! released:              mean over the invited + N(0, (zB)² I)/(q·n)
//! ```
//!
//! Nobody is told who else is invited, or how many are, and nor is whoever reads the outcome of a
//! run. A user who has a smaller budget of its own stays away after the rounds that it allows,
//! which are the first ones: the others are none of its business.
//!
//! The invited are a secret sample of the users, and a user's block does not depend on whether it
//! was invited before, so the sample amplifies where the user is protected (proofs/trust.md; the
//! printed algorithm's state does, E3). Where one of its records is, the mean may show that the
//! user was invited, and the sample is counted as seen. Released: one mean a round, the same event
//! for every user, in the aggregator's books.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Ledger, Refused, Unit, View};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::queries::ClippedMean;
use reticent_oracle::{
    AggregatorKey, BlockTerms, Books, EncryptedBlock, Refusal, Sampling, Terms, TrustedAggregator,
};

use super::follower::{Follower, HandOver};
use super::signed::Signers;
use super::trajectory::{ALL, CourseApart, PAGE, Trajectory, label, released};
use super::{Federated, fewest_records};
use crate::adversary::{FaultInjection, Transcribed, Witness};
use crate::algorithms::{Protocol, Start};
use crate::client::{Client, Contribution};
use crate::coordinator::{Coordinator, Exchange};
use crate::endpoint::AsText;
use crate::error::RunError;
use crate::message::{MessageKind, PartyId, RunId};
use crate::node::{GrowingList, ListPieces, Node};
use crate::party::{Party, refused};
use crate::rejected::Rejected;
use crate::wire;

/// The users that are asked in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskedUsers {
    /// The sampled users.
    Invited,
    /// All users, with the same bytes, because others watch the wire. The answers of users outside
    /// the sample are ignored.
    All,
}

/// The run, the terms of its blocks, what is protected, and who is asked.
#[derive(Debug)]
pub(crate) struct Central(pub Federated, pub BlockTerms, pub Unit, pub AskedUsers);

impl Central {
    fn sum(&self, noise_multiplier: f64) -> ClippedMean {
        ClippedMean { clip: self.1.bound(), noise_multiplier, sampling: self.0.sampling }
    }

    fn aggregator(&self, key: &NoiseKey, run: &Digest) -> Result<TrustedAggregator, Refusal> {
        let aggregator =
            TrustedAggregator::new(u64::from(self.0.parties), self.0.len(), self.1, key, run);
        #[cfg(reticent_seeded_bugs)]
        let aggregator = aggregator.spoiled(self.0.bug);
        aggregator.protecting(self.2)
    }

    /// The cost of a release, which follows from public numbers alone.
    fn releases(&self, noise: f64) -> Result<Ledger, RunError> {
        let aggregator = self.aggregator(&NoiseKey::seeded(0), &[0; 32])?;
        let mut plan = Ledger::new();
        plan.append_many(aggregator.event(&self.sum(noise))?, self.0.rounds.into());
        Ok(plan)
    }
}

impl Protocol for Central {
    fn rounds(&self) -> u32 {
        self.0.rounds
    }

    fn longest_payload(&self) -> usize {
        (8 * self.0.len() + 10) * (self.0.rounds as usize + 1) + 10 * self.0.len() + 100
    }

    fn plan(&self, _: PartyId, noise: f64, _: Terms) -> Result<Ledger, RunError> {
        self.releases(noise)
    }

    fn books_terms(&self, own: Terms) -> Terms {
        Terms::of_parties(own.unit(), View::Central, u64::from(self.0.parties))
    }

    fn aggregator_key(&self, server: &NoiseKey, run: &Digest) -> Option<AggregatorKey> {
        self.aggregator(server, run).ok().map(|aggregator| aggregator.public_key())
    }

    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError> {
        let aggregator = start.aggregator.cloned().ok_or_else(|| {
            let why = "a party needs the public key that it encrypts its block with: ask the \
                       server that it trusts";
            Refused::new("aggregator_key", "none", why)
        })?;
        let behaviour = Follower { block: self.1, way: Entrusting(aggregator) };
        Ok(Client::node(RunId::from(start.run), party, behaviour))
    }

    fn server(
        &self,
        run: &Digest,
        key: NoiseKey,
        noise: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        let params = self.sum(noise.first().copied().unwrap_or(0.0));
        let mut aggregator = self.aggregator(&key, run)?;
        aggregator.bind_within(&self.releases(params.noise_multiplier)?)?;
        let trajectory = Trajectory::new(self.0.len());
        let (config, block, asked) = (self.0.clone(), self.1, self.3);
        let exchange = Means { config, block, params, aggregator, trajectory, asked };
        Ok(Some(Coordinator::node(RunId::from(run), exchange)))
    }

    fn traffic_is_public(&self) -> bool {
        self.0.sampling == Sampling::Full || self.3 == AskedUsers::All
    }

    fn on_a_network(&mut self, _: Option<Signers>) -> Result<(), Refused> {
        self.3 = AskedUsers::All;
        Ok(())
    }

    fn assumptions(&self) -> Vec<String> {
        let trusted = "the server is trusted with every user's contribution, and who is invited in a round stays \
                       secret";
        [trusted.to_owned()].into_iter().chain(fewest_records(&self.1)).collect()
    }
}

impl FaultInjection for Central {
    #[cfg(reticent_seeded_bugs)]
    fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.0.bug = Some(bug);
    }
}

impl Transcribed for Central {
    /// The mean of every round, which the view may see: each is an entry.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        released(witness.public, &self.1)
    }
}

/// A user that hands its block to the aggregator, as often as its own budget allows.
struct Entrusting(AggregatorKey);

impl HandOver for Entrusting {
    fn hand_over(
        &mut self,
        party: &mut Party,
        round: u32,
        place: u32,
    ) -> Result<Option<Contribution>, Rejected> {
        if u64::from(round) > party.plan().total_events() {
            return Ok(None);
        }
        let encrypted = party.encrypt_block(&label(round, place), &self.0, round)?;
        let payload = wire::pack(&encrypted)?;
        Ok(Some(Contribution { kind: MessageKind::Answer, payload }))
    }
}

/// The server's side of the exchange, with the trusted aggregator in the same process.
struct Means {
    config: Federated,
    block: BlockTerms,
    params: ClippedMean,
    aggregator: TrustedAggregator,
    trajectory: Trajectory,
    asked: AskedUsers,
}

impl Exchange for Means {
    type Answer = EncryptedBlock;

    fn rounds(&self) -> u32 {
        self.config.rounds
    }

    /// A user that declines is sampled all the same: the sample must not depend on it.
    fn open(&mut self, round: u32, _: &BTreeSet<u32>) -> Result<Vec<u32>, RunError> {
        self.trajectory.begin(&self.config);
        match self.asked {
            AskedUsers::Invited => Ok(self.aggregator.invite(round, &self.params)?),
            AskedUsers::All => Ok((0..self.config.parties).collect()),
        }
    }

    /// The same place for all: a number among the sampled users would tell how many of them come
    /// before.
    fn request(&self, _: u32, user: u32, _: u32) -> Result<Vec<u8>, RunError> {
        let page = if self.asked == AskedUsers::All { PAGE } else { ALL };
        self.trajectory.tell(user, 0, page)
    }

    fn take(&mut self, round: u32, user: u32, payload: &[u8]) -> Result<EncryptedBlock, Rejected> {
        let block: EncryptedBlock = wire::unpack(payload)?;
        self.aggregator.admits(round, user, &block).map_err(refused)?;
        self.trajectory.up_to_date(user);
        Ok(block)
    }

    fn close(
        &mut self,
        round: u32,
        mut blocks: BTreeMap<u32, EncryptedBlock>,
    ) -> Result<(), RunError> {
        if self.asked == AskedUsers::All {
            let invited = self.aggregator.invite(round, &self.params)?;
            let aggregator = &self.aggregator;
            // An ignored block is decrypted like one that is added: the time until the next z must
            // not tell how many were sampled.
            blocks.retain(|user, block| {
                let is_invited = invited.binary_search(user).is_ok();
                if !is_invited {
                    _ = std::hint::black_box(aggregator.admits(round, *user, block));
                }
                is_invited
            });
        }
        let mean = match self.aggregator.release(round, &self.params, &blocks) {
            Ok(released) => Some(released.into_inner()),
            // A round that was repeated with another outcome has released its mean.
            Err(Refusal::Exhausted | Refusal::RoundReleased(_)) => None,
            Err(refusal) => return Err(refusal.into()),
        };
        self.trajectory.end(&self.block, mean);
        Ok(())
    }

    fn model(&self) -> Vec<f64> {
        self.trajectory.model(&self.config)
    }

    fn save(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(&self.trajectory, AsText(self.aggregator.books())))?)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), RunError> {
        let (trajectory, books): (Trajectory, AsText<Books>) = wire::unpack(saved)?;
        self.aggregator.recall(&books.0)?;
        self.trajectory = trajectory;
        Ok(())
    }

    fn save_apart(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.trajectory.apart(), AsText(self.aggregator.books())))?)
    }

    fn load_apart(&mut self, saved: &[u8], pieces: &ListPieces) -> Result<(), RunError> {
        let (apart, books): (CourseApart, AsText<Books>) = wire::unpack(saved)?;
        let trajectory = Trajectory::together(apart, pieces)?;
        self.aggregator.recall(&books.0)?;
        self.trajectory = trajectory;
        Ok(())
    }

    fn lists(&self) -> Vec<GrowingList> {
        vec![self.trajectory.list()]
    }

    fn piece(&self, name: &str, number: usize) -> Result<Vec<u8>, RunError> {
        self.trajectory.piece(name, number)
    }

    fn trajectory(&self) -> &[Vec<f64>] {
        self.trajectory.zs()
    }

    fn behind(&mut self, user: u32, followed: u32) -> Result<(), Rejected> {
        self.trajectory.heard(user, followed)
    }
}

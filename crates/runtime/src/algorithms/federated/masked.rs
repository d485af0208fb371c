//! Trust sums only: users' blocks are added up behind masks, each with a share of the noise (crate
//! `masks`).
//!
//! ```text
//! server → users of a round:  the z's they have not followed, and their place among the members of the masked sum
//! users ↔ server:             keys, shares, clip(u_i − p, B) in whole steps + share of the noise + masks, unmasking
//! server:                     the sum over those who stayed, divided by their number
//! ```
//!
//! The users of a round are all, or a fixed number of them: the noise of a sum is counted for the
//! fewest honest members that a sum can have, so their number must be known beforehand. The server
//! knows who they are, so chance amplifies nothing. Released: one sum a round, an event of every
//! member's own gate. A round that too many leave is lost, and what its members entered stays
//! entered. A member never takes part twice in one round: two sums of the same shares of noise over
//! different members would show the difference.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Adjacency, Ledger, Refused, Unit};
use reticent_masks::{
    Collector, FixedPoint, LinkEnd as End, MOST_HOLDERS, Member, Outgoing, SumMembers,
};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::{BlockTerms, Sampling, Terms};

use super::draw::{MemberDraw, NAME_ATTEMPTS, chosen};
use super::follower::{Follower, HandOver};
use super::signed::{SignedMasking, Signers};
use super::signed_sums::SignedSums;
use super::sum_terms::SumTerms;
use super::trajectory::{ALL, CourseApart, Trajectory, label, released};
use super::{Federated, fewest_records};
use crate::adversary::{FaultInjection, Transcribed, Witness};
use crate::algorithms::{Protocol, Start};
use crate::client::{Client, Contribution};
use crate::coordinator::{Coordinator, Exchange, ToPlaces};
use crate::error::RunError;
use crate::message::{MessageKind, PartyId, RunId};
use crate::node::{GrowingList, ListPieces, Node};
use crate::participation::cap;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

#[derive(Clone, Debug)]
pub(crate) struct Masked {
    pub config: Federated,
    pub block: BlockTerms,
    /// The fraction of all parties that is assumed honest.
    pub honest: f64,
    /// The number of parties before some were struck, if any were.
    pub whole: Option<u32>,
    /// The number of identifiers that a run may have been chosen from.
    pub attempts: u32,
    /// The unit of protection.
    pub unit: Unit,
    /// Whether members sign their keys, and trust the server with nothing.
    pub signed: bool,
    /// The signers, once a node is made.
    pub signers: Option<Signers>,
}

fn refuse(error: &dyn std::fmt::Display) -> Refused {
    Refused::new("trust", "secure-aggregation", error.to_string())
}

impl Masked {
    /// The number of members of a sum.
    fn members(&self) -> u32 {
        match self.config.sampling {
            Sampling::WithoutReplacement(size) => size as u32,
            _ => self.config.parties,
        }
    }

    /// Refuses numbers of members that masks do not support.
    pub fn check(&self) -> Result<(), RunError> {
        self.sum_terms(&[0; 32], 1, 1.0).map(|_| ())
    }

    /// The number of members of a sum that must stay, and the number that may be corrupt.
    fn law(&self) -> Result<SumMembers, Refused> {
        let (members, parties) = (self.members(), self.config.parties);
        let (whole, of) = (self.whole.unwrap_or(parties), (members, parties));
        let law = SumMembers::drawn_of(whole, of, self.honest, self.attempts);
        law.map_err(|error| refuse(&error))
    }

    /// The members of the sums of a run.
    pub fn draw(&self, run: &Digest) -> Result<MemberDraw, RunError> {
        let Federated { sampling, parties, rounds, .. } = self.config;
        Ok(MemberDraw::new(run, (sampling, parties), rounds, self.law()?.threshold()))
    }

    fn signers(&self) -> Result<Signers, Refused> {
        let why = "members of a masked sum on a network sign their keys: say by which keys";
        self.signers.clone().ok_or_else(|| Refused::new("trust", "secure-aggregation", why))
    }

    /// The terms of round `round`, a function of public numbers.
    pub fn sum_terms(&self, run: &Digest, round: u32, noise: f64) -> Result<SumTerms, RunError> {
        let (members, len) = (self.members(), self.config.len() as u32);
        let chosen = self.law()?;
        let terms = chosen.terms(run, round.into(), len).map_err(|error| refuse(&error))?;
        let bound = self.block.bound();
        // About 2³² steps within the bound, as on the grid of the gate.
        let bits = (32.0 - bound.log2().ceil()).clamp(0.0, 62.0) as u32;
        // Noise is measured in half the distance of neighbours.
        let half = 0.5 * self.block.moves_in_steps(1.0 / (1_u64 << bits) as f64, self.config.len());
        // A share has a standard deviation of at least one step: the theorem requires it, also
        // without noise.
        let sigma = (noise * half).max(f64::from(members).sqrt());
        let share = chosen.share(&terms, sigma).map_err(|error| refuse(&error))?;
        let code =
            FixedPoint::new(bound, bits, members, share.whole()).map_err(|error| refuse(&error))?;
        Ok(SumTerms { terms, code, share })
    }
}

impl Protocol for Masked {
    fn rounds(&self) -> u32 {
        self.config.rounds
    }

    /// The fewest members that must stay, or the sum is not opened.
    fn least_parties(&self) -> u32 {
        self.law().map_or(1, |law| law.threshold())
    }

    fn longest_payload(&self) -> usize {
        let told = (8 * self.config.len() + 10) * (self.config.rounds as usize + 1) + 100;
        let masks = self.sum_terms(&[0; 32], 1, 1.0).map_or(0, |sum| sum.terms.longest_message());
        told.max(masks + 100)
    }

    /// The cost of a sum, which follows from public numbers alone.
    fn plan(&self, _: PartyId, noise: f64, _: Terms) -> Result<Ledger, RunError> {
        let SumTerms { code, share, .. } = self.sum_terms(&[0; 32], 1, noise)?;
        let apart = self.block.moves_in_steps(code.step(), self.config.len());
        let event = share.event(apart, Adjacency::ReplaceOne, self.unit);
        let event = event.map_err(|error| Refused::new("noise", noise, error.to_string()))?;
        let mut plan = Ledger::new();
        plan.append_many(
            event,
            cap(self.config.sampling, self.config.parties, self.config.rounds).into(),
        );
        Ok(plan)
    }

    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError> {
        let (config, noise, run, block) = (self.clone(), start.noise, *start.run, self.block);
        if self.signed {
            let of = (start.run, party.id().0);
            let way = SignedMasking::new(config, noise, of, self.signers()?)?;
            return Ok(Client::node(RunId::from(start.run), party, Follower { block, way }));
        }
        let way = Masking { config, noise, run, member: None };
        Ok(Client::node(RunId::from(start.run), party, Follower { block, way }))
    }

    fn server(
        &self,
        run: &Digest,
        _: NoiseKey,
        noise: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        let exchange = MaskedSums {
            config: self.clone(),
            noise: noise.first().copied().unwrap_or(0.0),
            run: *run,
            collector: None,
            trajectory: Trajectory::new(self.config.len()),
            opened: None,
        };
        Ok(Some(match self.signed {
            true => {
                Coordinator::node(RunId::from(run), SignedSums::new(exchange, self.signers()?)?)
            }
            false => Coordinator::node(RunId::from(run), exchange),
        }))
    }

    fn count_attempts(&mut self) {
        self.attempts = NAME_ATTEMPTS;
    }

    /// A malicious server may have struck honest parties alone.
    fn left_of(&mut self, whole: u32) -> Result<(), RunError> {
        self.whole = Some(whole);
        self.check()
    }

    /// Members sign their keys, and compute the members of a sum themselves.
    fn on_a_network(&mut self, signers: Option<Signers>) -> Result<(), Refused> {
        self.count_attempts();
        if !self.law()?.is_complete() {
            let why = format!(
                "masked sums of steps on a network are proven for at most {MOST_HOLDERS} members; draw fewer by \
                 `sampling = wor:SIZE`, or use `trust = local` or `central`"
            );
            return Err(Refused::new("trust", "secure-aggregation", why));
        }
        self.signed = true;
        self.signers = signers.or(self.signers.take());
        Ok(())
    }

    fn assumptions(&self) -> Vec<String> {
        let honest = self.honest;
        let mut assumptions = match self.signed {
            false => vec![
                format!(
                    "the server follows the protocol of the masked sums, their members are drawn by chance, and of \
                     all parties a fraction of at least {honest} follows it too, adds its share of the noise and \
                     tells nobody; who does not was settled before"
                ),
                "X25519, HKDF-SHA256, ChaCha20 and Poly1305 are as hard to break as they are believed to be".to_owned(),
            ],
            true => vec![
                format!(
                    "of all parties a fraction of at least {honest} follows the protocol of the masked sums, adds \
                     its share of the noise and tells neither the server nor others; who does not was settled \
                     before; the server may do as it likes"
                ),
                "Ed25519, X25519, HKDF-SHA256, ChaCha20 and Poly1305 are as hard to break as they are believed to \
                 be".to_owned(),
            ],
        };
        if self.signed && self.config.sampling != Sampling::Full {
            assumptions.push(format!(
                "who is in a sum follows from the run's name, to which every party gives a random number; a party \
                 gives one to at most {NAME_ATTEMPTS} attempts at a run, by the count in its journal, and δ has the \
                 chance of a bad draw in any of them; nobody has it begin again with new journals until a name \
                 suits"
            ));
        }
        if self.members() > MOST_HOLDERS {
            assumptions.push(
                "who is corrupt and who leaves does not depend on who has masks in common with whom"
                    .to_owned(),
            );
        }
        assumptions.extend(fewest_records(&self.block));
        assumptions
    }
}

impl FaultInjection for Masked {}

impl Transcribed for Masked {
    /// The mean of every round, which the view may see: each is an entry.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        released(witness.public, &self.block)
    }
}

/// A user's way to a masked sum, and the member that the user is in this round.
struct Masking {
    config: Masked,
    noise: f64,
    run: Digest,
    member: Option<(u32, Member)>,
}

impl HandOver for Masking {
    /// A member never takes part twice in one round.
    const BEGINS_AGAIN: bool = false;

    fn hand_over(
        &mut self,
        party: &mut Party,
        round: u32,
        place: u32,
    ) -> Result<Option<Contribution>, Rejected> {
        let terms = self.config.sum_terms(&self.run, round, self.noise);
        let SumTerms { terms, code, share } =
            terms.map_err(|error| Rejected::Gate(error.to_string()))?;
        let member = party.mask(&label(round, place), &code, &share, &terms, (place, None))?;
        let Some(member) = member else { return Ok(None) };
        let first = member.start().bytes;
        self.member = Some((round, member));
        Ok(Some(Contribution { kind: MessageKind::Masks, payload: first }))
    }

    fn masked(&mut self, round: u32, said: &[u8]) -> Result<Vec<Vec<u8>>, Rejected> {
        match &mut self.member {
            Some((own, member)) if *own == round => {
                let said = member.on_message(said).map_err(|_| Rejected::Unexpected)?;
                Ok(said.into_iter().map(|out| out.bytes).collect())
            }
            Some((own, _)) if round < *own => Err(Rejected::Stale { given: round }),
            Some(_) => Err(Rejected::Early { given: round }),
            None => Err(Rejected::Unexpected),
        }
    }
}

/// The server's side of the exchange: it sees sums.
pub(super) struct MaskedSums {
    pub config: Masked,
    pub noise: f64,
    pub run: Digest,
    pub collector: Option<Collector>,
    pub trajectory: Trajectory,
    /// The opened sum and the number of its members.
    opened: Option<(Vec<u64>, u32)>,
}

impl MaskedSums {
    /// The next z.
    pub fn begin(&mut self) {
        self.trajectory.begin(&self.config.config);
    }

    pub fn sum_terms(&self, round: u32) -> Result<SumTerms, RunError> {
        self.config.sum_terms(&self.run, round, self.noise)
    }

    /// Hands messages to the collector's receivers; the sum, when there is one.
    pub fn carry(&mut self, said: Vec<Outgoing>) -> ToPlaces {
        if let Some(Some(Ok(sum))) = self.collector.as_ref().map(Collector::outcome) {
            self.opened = Some((sum.values.clone(), sum.members.len() as u32));
        }
        let to_member = |out: Outgoing| match out.to {
            End::Member(place) => Some((place, out.bytes)),
            End::Collector => None,
        };
        said.into_iter().filter_map(to_member).collect()
    }
}

impl Exchange for MaskedSums {
    /// Members send all their messages to the collector.
    type Answer = ();

    fn rounds(&self) -> u32 {
        self.config.config.rounds
    }

    /// A member that declines is counted all the same: the number of members must be known
    /// beforehand.
    fn open(&mut self, round: u32, _: &BTreeSet<u32>) -> Result<Vec<u32>, RunError> {
        let Federated { sampling, parties, .. } = self.config.config;
        self.begin();
        self.collector = Some(Collector::new(self.sum_terms(round)?.terms));
        Ok(chosen(&self.run, (sampling, parties), round)?)
    }

    fn request(&self, _: u32, user: u32, place: u32) -> Result<Vec<u8>, RunError> {
        self.trajectory.tell(user, place, ALL)
    }

    fn take(&mut self, _: u32, _: u32, _: &[u8]) -> Result<(), Rejected> {
        Err(Rejected::Unexpected)
    }

    fn close(&mut self, round: u32, _: BTreeMap<u32, ()>) -> Result<(), RunError> {
        let (terms, bound) = (self.sum_terms(round)?, self.config.block.bound());
        let mean = self.opened.take().map(|(sum, stayed)| terms.mean(&sum, stayed, bound));
        self.trajectory.end(&self.config.block, mean);
        self.collector = None;
        Ok(())
    }

    fn model(&self) -> Vec<f64> {
        self.trajectory.model(&self.config.config)
    }

    fn save(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(&self.trajectory, &self.opened))?)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), RunError> {
        (self.trajectory, self.opened) = wire::unpack(saved)?;
        Ok(())
    }

    fn save_apart(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.trajectory.apart(), &self.opened))?)
    }

    fn load_apart(&mut self, saved: &[u8], pieces: &ListPieces) -> Result<(), RunError> {
        let (apart, opened): (CourseApart, Option<(Vec<u64>, u32)>) = wire::unpack(saved)?;
        self.trajectory = Trajectory::together(apart, pieces)?;
        self.opened = opened;
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

    fn masked(&mut self, user: u32, place: u32, said: &[u8]) -> Result<ToPlaces, Rejected> {
        let Some(collector) = &mut self.collector else { return Err(Rejected::Unexpected) };
        let said = collector.on_message(place, said).map_err(|_| Rejected::Unexpected)?;
        self.trajectory.up_to_date(user);
        Ok(self.carry(said))
    }

    fn awaits(&self) -> Option<Vec<u32>> {
        let awaited = self.collector.as_ref().and_then(Collector::awaits);
        Some(awaited.map_or_else(Vec::new, |(_, places)| places))
    }

    /// A member is away: the masked sum continues without it, or ends.
    fn quiet(&mut self) -> ToPlaces {
        match &mut self.collector {
            Some(collector) if collector.outcome().is_none() => {
                let said = collector.on_deadline();
                self.carry(said)
            }
            _ => Vec::new(),
        }
    }
}

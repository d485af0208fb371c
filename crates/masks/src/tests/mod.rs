//! The protocol as a whole.
//!
//! A round is played by [`Play`]: it carries every message, lets members leave where a test says,
//! and keeps all bytes.

mod coalition;
mod dropouts;
mod rejections;

use crate::wire::{LinkEnd, Outgoing};
use crate::{Abort, AggregationTerms, Collector, Member, MemberId, Sum};

/// The phase in which a member leaves, before it answers: 0 advertises nothing, 3 unmasks nothing,
/// 4 stays.
pub(super) type Leaves = u8;
pub(super) const STAYS: Leaves = 4;

/// One round: the machines and the transcript.
pub(super) struct Play {
    pub(super) collector: Collector,
    pub(super) members: Vec<Member>,
    /// (member, to the collector?, bytes) in the order of delivery.
    pub(super) transcript: Vec<(MemberId, bool, Vec<u8>)>,
}

/// An input that shows whose it is.
pub(super) fn input(member: MemberId, dimension: u32) -> Vec<u64> {
    (0..u64::from(dimension)).map(|entry| 1000 * u64::from(member + 1) + entry).collect()
}

pub(super) fn key(member: MemberId) -> [u8; 32] {
    let mut key = [0x42; 32];
    key[..4].copy_from_slice(&member.to_le_bytes());
    key
}

impl Play {
    pub(super) fn new(terms: &AggregationTerms) -> Self {
        Self::with_inputs(terms, |member| input(member, terms.dimension()))
    }

    pub(super) fn with_inputs(
        terms: &AggregationTerms,
        input: impl Fn(MemberId) -> Vec<u64>,
    ) -> Self {
        let members = (0..terms.members())
            .map(|id| Member::new(terms.clone(), id, &key(id), input(id)).unwrap())
            .collect();
        Self { collector: Collector::new(terms.clone()), members, transcript: Vec::new() }
    }

    /// Hands the members' answers of one phase to the collector and closes the phase.
    pub(super) fn phase(&mut self, answers: Vec<(MemberId, Vec<u8>)>) -> Vec<Outgoing> {
        let mut said = Vec::new();
        for (member, bytes) in answers {
            said.extend(self.collector.on_message(member, &bytes).unwrap());
            self.transcript.push((member, true, bytes));
        }
        if said.is_empty() && self.collector.outcome().is_none() {
            said = self.collector.on_deadline();
        }
        said
    }

    pub(super) fn advertisements(&self) -> Vec<(MemberId, Vec<u8>)> {
        self.members.iter().map(|member| (member.id(), member.start().bytes)).collect()
    }

    /// Delivers what the collector said and takes the answers.
    pub(super) fn deliver(&mut self, said: Vec<Outgoing>) -> Vec<(MemberId, Vec<u8>)> {
        let mut answers = Vec::new();
        for outgoing in said {
            let LinkEnd::Member(id) = outgoing.to else { panic!("a collector speaks to members") };
            // A member that finds its neighbourhood too small keeps silent, as one that left.
            let answer = self.members[id as usize].on_message(&outgoing.bytes).unwrap_or_default();
            self.transcript.push((id, false, outgoing.bytes));
            answers.extend(answer.into_iter().map(|answer| (id, answer.bytes)));
        }
        answers
    }

    /// The whole round; `leaves(member)` is the phase before which it is gone.
    pub(super) fn run(&mut self, leaves: impl Fn(MemberId) -> Leaves) -> Result<Sum, Abort> {
        let mut answers = self.advertisements();
        for phase in 0..4 {
            answers.retain(|(member, _)| leaves(*member) > phase);
            let said = self.phase(std::mem::take(&mut answers));
            answers = self.deliver(said);
        }
        self.collector.outcome().unwrap().cloned().map_err(Clone::clone)
    }
}

/// The sum in the clear.
pub(super) fn plain_sum(terms: &AggregationTerms, members: &[MemberId]) -> Vec<u64> {
    let mut sum = vec![0_u64; terms.dimension() as usize];
    for &member in members {
        sum.iter_mut()
            .zip(input(member, terms.dimension()))
            .for_each(|(sum, x)| *sum = sum.wrapping_add(x));
    }
    sum
}

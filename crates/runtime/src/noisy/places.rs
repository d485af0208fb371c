//! All parties of a run, which together answer a sum: request and answer, and behind masks the
//! rounds of the crate `masks`. A round from before a crash is not repeated.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use reticent_masks::{Collector, LinkEnd, Outgoing};
use reticent_noise::Digest;
use reticent_oracle::{PartialSum, Refusal, RoundRequest, SumCarrier, SumLaw, SumPlan, SumReach};

use super::kept::{KeptSum, KeptSums};
use super::place::Place;
use crate::entrusted::Post;
use crate::failures::When;
use crate::message::{Envelope, MessageKind, PartyId};
use crate::noisy_party::added;
use crate::rejected::Rejected;
use crate::wire;

/// All parties of a run, and their connections to the server.
#[derive(Debug)]
pub(super) struct Places {
    pub places: Arc<Vec<Mutex<Place>>>,
    pub post: Arc<Post>,
    pub run: Digest,
    pub plan: Arc<SumPlan>,
    /// The last round whose request each party has received.
    pub heard: Vec<u32>,
    pub kept: Arc<Mutex<KeptSums>>,
}

fn lost(party: u32, why: &Rejected) -> Refusal {
    Refusal::BadQuery(format!("party {party} did not answer: {why}"))
}

/// The answers of parties, or why there are none.
type Said = Vec<(u32, Result<Envelope, Rejected>)>;

impl Places {
    fn place(&self, party: u32) -> MutexGuard<'_, Place> {
        self.places[party as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message to each of these parties at the same time; returns the delivered answers, in
    /// order, and the rejected ones.
    fn exchange(
        &self,
        (round, wave): (u32, u32),
        kind: MessageKind,
        to: Vec<(u32, Vec<u8>)>,
    ) -> Said {
        let when = |wave| When { round, attempt: 0, wave };
        let write = |(party, payload): (u32, Vec<u8>)| {
            self.place(party).server.write(round, PartyId(party), kind, payload)
        };
        let asked: Vec<Envelope> = to.into_iter().map(write).collect();
        let mut inboxes: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
        for message in self.post.carry(&asked, when(2 * wave)) {
            inboxes.entry(message.to.0).or_default().push(message.bytes);
        }
        let inboxes: Vec<(u32, Vec<Vec<u8>>)> = inboxes.into_iter().collect();
        let answered: Vec<(u32, Result<Vec<Envelope>, Rejected>)> = inboxes
            .into_par_iter()
            .flat_map_iter(|(party, messages)| {
                let mut place = self.place(party);
                let mut hear =
                    |bytes: Vec<u8>| place.on_message(&wire::decode(&bytes, wire::LONGEST)?);
                messages.into_iter().map(|bytes| (party, hear(bytes))).collect::<Vec<_>>()
            })
            .collect();
        let (mut said, mut replies) = (Said::new(), Vec::new());
        for (party, answer) in answered {
            match answer {
                Ok(sent) => replies.extend(sent),
                Err(why) => said.push((party, Err(why))),
            }
        }
        for message in self.post.carry(&replies, when(2 * wave + 1)) {
            let party = message.from.0;
            let read = wire::decode(&message.bytes, wire::LONGEST).and_then(|answer| {
                let place = self.place(party);
                place.server.address(&answer, |from| from == PartyId(party))?;
                place.server.in_round(&answer, round)?;
                Ok(answer)
            });
            said.push((party, read));
        }
        said.iter()
            .filter_map(|(_, said)| said.as_ref().err())
            .for_each(|why| self.post.reject(why));
        said
    }

    /// Asks every party; returns the answers. A party whose gate refuses ends the run: it has
    /// another view of it than the server. If answers are seen one by one, silence ends it too.
    fn ask(
        &mut self,
        round: u32,
        request: RoundRequest<'_>,
    ) -> Result<Vec<(u32, Envelope)>, Refusal> {
        let asked = |party: u32| match request.behind {
            Some((since, bytes)) if self.heard[party as usize] < since => bytes.to_vec(),
            _ => request.usual.to_vec(),
        };
        let all = (0..self.places.len() as u32).map(|party| (party, asked(party))).collect();
        let said = self.exchange((round, 0), MessageKind::Ask, all);
        let seen = matches!(self.plan.law(), SumLaw::Local { .. });
        let mut answers = Vec::with_capacity(said.len());
        for (party, said) in said {
            match said {
                Ok(answer) => answers.push((party, answer)),
                Err(why) if seen || matches!(why, Rejected::Gate(_)) => {
                    return Err(lost(party, &why));
                }
                Err(_) => {}
            }
        }
        for party in 0..self.places.len() as u32 {
            let answered = self.place(party).party.answered();
            self.heard[party as usize] = answered;
            if seen && answers.iter().all(|(who, _)| *who != party) {
                return Err(lost(party, &Rejected::Unexpected));
            }
        }
        Ok(answers)
    }

    /// The sum of answers that are seen one by one.
    fn added(
        said: Vec<(u32, Envelope)>,
        len: usize,
        reach: Option<SumReach<'_>>,
    ) -> Result<Vec<i64>, Refusal> {
        let answer = |(party, said): (u32, Envelope)| match said.kind {
            MessageKind::Answer => Ok((party, said.payload)),
            _ => Err(lost(party, &Rejected::Malformed("payload"))),
        };
        let said: Result<Vec<_>, Refusal> = said.into_iter().map(answer).collect();
        // Parties of this process are honest.
        Ok(added(&said?, len, reach)?.0)
    }

    /// The masked sum: keys, shares, masked vectors, and what opens them; and the parties that are
    /// not in it.
    fn unmasked(
        &self,
        round: u32,
        said: Vec<(u32, Envelope)>,
        len: usize,
    ) -> Result<PartialSum, Refusal> {
        let failed = |why: &dyn std::fmt::Display| {
            Refusal::BadQuery(format!("the masked sum of round {round} was not opened: {why}"))
        };
        let SumLaw::Masked(members) = self.plan.law() else {
            return Err(failed(&"there are no masks"));
        };
        let terms = members.terms(&self.run, round.into(), len as u32);
        let mut collector = Collector::new(terms.map_err(|error| failed(&error))?);
        let mut heard: Vec<(u32, Vec<u8>)> =
            said.into_iter().map(|(party, answer)| (party, answer.payload)).collect();
        let mut wave = 0;
        while collector.outcome().is_none() {
            let mut told = Vec::new();
            for (party, bytes) in heard {
                // An invalid message of a member counts as silence.
                told.extend(collector.on_message(party, &bytes).unwrap_or_default());
            }
            if told.is_empty() && collector.outcome().is_none() {
                told = collector.on_deadline();
            }
            let to = |out: Outgoing| match out.to {
                LinkEnd::Member(party) => Some((party, out.bytes)),
                LinkEnd::Collector => None,
            };
            let to = told.into_iter().filter_map(to).collect();
            wave += 1;
            let answers = self.exchange((round, wave), MessageKind::Masks, to);
            let answer = |(party, said): (u32, Result<Envelope, Rejected>)| {
                said.ok().map(|answer| (party, answer.payload))
            };
            heard = answers.into_iter().filter_map(answer).collect();
        }
        match collector.outcome() {
            Some(Ok(sum)) => {
                let all = 0..self.places.len() as u32;
                let absent = all.filter(|party| sum.members.binary_search(party).is_err());
                let values = sum.values.iter().map(|&value| value as i64).collect();
                Ok(PartialSum { values, absent: absent.collect() })
            }
            Some(Err(why)) => Err(failed(why)),
            None => Err(failed(&"it did not come to its end")),
        }
    }

    /// A round from before a crash: the parties record it, and its sum is the same.
    fn again(
        &mut self,
        round: u32,
        request: RoundRequest<'_>,
    ) -> Result<Option<PartialSum>, Refusal> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(KeptSum { usual, behind, deaf, values, absent }) =
            kept.rounds.get(round as usize - 1).cloned()
        else {
            return Ok(None);
        };
        drop(kept);
        let late = request.behind.map(|(since, bytes)| (since, bytes.to_vec()));
        if usual != request.usual || behind != late {
            let why = "what was asked before the crash is not what is asked now; the checkpoint is of another run";
            return Err(Refusal::BadQuery(why.to_owned()));
        }
        for party in (0..self.places.len() as u32).filter(|party| !deaf.contains(party)) {
            let asked = match request.behind {
                Some((since, bytes)) if self.heard[party as usize] < since => bytes,
                _ => request.usual,
            };
            self.place(party).party.recall(round, asked)?;
            self.heard[party as usize] = round;
        }
        Ok(Some(PartialSum { values, absent }))
    }

    fn keep(&self, round: u32, request: RoundRequest<'_>, sum: &PartialSum) -> Result<(), Refusal> {
        let deaf = (0..).zip(&self.heard).filter(|(_, heard)| **heard < round);
        let kept = KeptSum {
            usual: request.usual.to_vec(),
            behind: request.behind.map(|(since, bytes)| (since, bytes.to_vec())),
            deaf: deaf.map(|(party, _)| party).collect(),
            values: sum.values.clone(),
            absent: sum.absent.clone(),
        };
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(kept, &self.post).map_err(|error| Refusal::BadQuery(error.to_string()))
    }
}

impl SumCarrier for Places {
    fn sum(&mut self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal> {
        let request = RoundRequest { usual: request, behind: None, reach: None };
        let sum = self.sum_of_stayed(round, request, len)?;
        match sum.absent.first() {
            None => Ok(sum.values),
            Some(&party) => Err(lost(party, &Rejected::Unexpected)),
        }
    }

    fn sum_of_stayed(
        &mut self,
        round: u32,
        request: RoundRequest<'_>,
        len: usize,
    ) -> Result<PartialSum, Refusal> {
        if let Some(sum) = self.again(round, request)? {
            return Ok(sum);
        }
        let said = self.ask(round, request)?;
        let sum = match self.plan.law() {
            SumLaw::Local { .. } => {
                PartialSum { values: Places::added(said, len, request.reach)?, absent: Vec::new() }
            }
            SumLaw::Masked(_) => self.unmasked(round, said, len)?,
        };
        self.keep(round, request, &sum)?;
        Ok(sum)
    }
}

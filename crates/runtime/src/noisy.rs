//! Parties that answer a server with noise of their own, in one process: every message becomes bytes
//! and is read from bytes.
//!
//! There is no protocol here but request and answer, and behind masks the rounds of the crate
//! `masks`: which sums are asked for is the algorithm's. A party that does not answer ends the run;
//! behind masks a sum goes on without those who leave, and ends below its threshold. Proof:
//! proofs/noisy-sums.md.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use reticent_accountant::Refused;
use reticent_masks::{Collector, LinkEnd, Member, Outgoing};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::{
    NoisySums, PrivacyModel, PrivateTable, Refusal, SumCarrier, SumLaw, SumParty, SumPlan, Terms,
};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::entrusted::Post;
use crate::error::RunError;
use crate::inbox::{Inbox, server_only};
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::party::{PartyReport, refused};
use crate::prepare::key_of;
use crate::rejected::Rejected;

/// A party at its place, and what the server has heard of it.
#[derive(Debug)]
struct Place {
    inbox: Inbox,
    party: SumParty,
    member: Option<(u32, MaskMember)>,
    server: Inbox,
}

/// A member of the masked sum of a round.
struct MaskMember(Member);

/// Not derived: it would show what is masked.
impl std::fmt::Debug for MaskMember {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MaskMember(..)")
    }
}

impl Place {
    /// What the party says to a message of the server.
    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        match envelope.kind {
            MessageKind::Ask => self.on_request(envelope),
            // Told apart by the masks' own rounds.
            MessageKind::Masks => {
                self.inbox.address(envelope, server_only)?;
                match &mut self.member {
                    Some((round, MaskMember(member))) if *round == envelope.round => {
                        let said = member.on_message(&envelope.payload);
                        let said = said.map_err(|_| Rejected::Unexpected)?;
                        let reply = |out: Outgoing| envelope.reply(MessageKind::Masks, out.bytes);
                        Ok(said.into_iter().map(reply).collect())
                    }
                    _ => Err(Rejected::Unexpected),
                }
            }
            _ => Err(Rejected::Unexpected),
        }
    }

    fn on_request(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let admitted = self.inbox.check(envelope, server_only)?;
        if admitted.again {
            return Ok(self.inbox.repeat(envelope));
        }
        let Envelope { round, payload, .. } = envelope;
        let reply = match self.party.law() {
            SumLaw::Local { .. } => {
                let said = self.party.answer(*round, payload).map_err(refused)?;
                // Eight bytes each, whatever is said.
                let bytes = said.iter().flat_map(|step| step.to_le_bytes()).collect();
                envelope.reply(MessageKind::Answer, bytes)
            }
            SumLaw::Masked(_) => {
                let member = self.party.member(*round, payload).map_err(refused)?;
                let first = member.start().bytes;
                self.member = Some((*round, MaskMember(member)));
                envelope.reply(MessageKind::Masks, first)
            }
        };
        Ok(self.inbox.take(envelope, &admitted, vec![reply]))
    }

    /// One message to the party, and what it says to it.
    fn exchange(
        &mut self,
        (post, party): (&Post, PartyId),
        (round, kind): (u32, MessageKind),
        payload: Vec<u8>,
    ) -> Result<Option<Envelope>, Rejected> {
        let asked = self.server.write(round, party, kind, payload);
        let answers = self.on_message(&post.moved(&asked)?)?;
        let Some(answer) = answers.first() else { return Ok(None) };
        let answer = post.moved(answer)?;
        self.server.address(&answer, |from| from == party)?;
        self.server.in_round(&answer, round)?;
        Ok(Some(answer))
    }
}

/// All parties of a run, and the lines between them and the server.
#[derive(Debug)]
struct Places {
    places: Arc<Vec<Mutex<Place>>>,
    post: Arc<Post>,
    run: Digest,
    plan: Arc<SumPlan>,
}

/// What every party has set aside, once a run is over.
#[derive(Debug)]
pub struct SumBooks {
    places: Arc<Vec<Mutex<Place>>>,
}

impl SumBooks {
    /// From here on, every party answers with a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    pub fn spoil(&self, bug: reticent_oracle::Bug) -> Result<(), Refusal> {
        self.places.iter().try_for_each(|place| {
            place.lock().unwrap_or_else(PoisonError::into_inner).party.spoil(bug)
        })
    }

    /// The books of each party.
    pub fn reports(&self) -> Vec<PartyReport> {
        let report = |(place, number): (&Mutex<Place>, u32)| {
            let place = place.lock().unwrap_or_else(PoisonError::into_inner);
            let reticent_oracle::SumPartyReport { ledger, answers, terms } = place.party.report();
            PartyReport { id: PartyId(number), ledger, answers, terms }
        };
        self.places.iter().zip(0..).map(report).collect()
    }
}

fn lost(party: u32, why: &Rejected) -> Refusal {
    Refusal::BadQuery(format!("party {party} did not answer: {why}"))
}

impl Places {
    /// Says something to each of these parties at the same time; what they say, in their order.
    fn exchange(
        &self,
        (round, kind): (u32, MessageKind),
        to: Vec<(u32, Vec<u8>)>,
    ) -> Vec<(u32, Result<Option<Envelope>, Rejected>)> {
        let Places { places, post, .. } = self;
        to.into_par_iter()
            .map(|(party, payload)| {
                let mut place =
                    places[party as usize].lock().unwrap_or_else(PoisonError::into_inner);
                let said = place.exchange((post, PartyId(party)), (round, kind), payload);
                (party, said)
            })
            .collect()
    }

    fn ask(&self, round: u32, request: &[u8]) -> Result<Vec<(u32, Envelope)>, Refusal> {
        let all = (0..self.places.len() as u32).map(|party| (party, request.to_vec())).collect();
        self.exchange((round, MessageKind::Ask), all)
            .into_iter()
            .map(|(party, said)| match said {
                Ok(Some(answer)) => Ok((party, answer)),
                Ok(None) => Err(lost(party, &Rejected::Unexpected)),
                Err(why) => Err(lost(party, &why)),
            })
            .collect()
    }

    /// The sum of answers that are seen one by one.
    fn added(said: &[(u32, Envelope)], len: usize) -> Result<Vec<i64>, Refusal> {
        let mut sum = vec![0_i64; len];
        for (party, answer) in said {
            let none = || lost(*party, &Rejected::Malformed("payload"));
            let (steps, rest) = answer.payload.as_chunks::<8>();
            if answer.kind != MessageKind::Answer || steps.len() != len || !rest.is_empty() {
                return Err(none());
            }
            for (sum, step) in sum.iter_mut().zip(steps) {
                *sum = sum.checked_add(i64::from_le_bytes(*step)).ok_or_else(none)?;
            }
        }
        Ok(sum)
    }

    /// The sum behind masks: keys, shares, masked vectors, and what opens them.
    fn unmasked(
        &self,
        round: u32,
        said: Vec<(u32, Envelope)>,
        len: usize,
    ) -> Result<Vec<i64>, Refusal> {
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
        while collector.outcome().is_none() {
            let mut told = Vec::new();
            for (party, bytes) in heard {
                // What is none of a member's messages is as good as silence.
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
            let answers = self.exchange((round, MessageKind::Masks), to);
            let answer = |(party, said): (u32, Result<Option<Envelope>, Rejected>)| match said {
                Ok(Some(answer)) => Some((party, answer.payload)),
                _ => None,
            };
            heard = answers.into_iter().filter_map(answer).collect();
        }
        match collector.outcome() {
            Some(Ok(sum)) if sum.members.len() == self.places.len() => {
                Ok(sum.values.iter().map(|&value| value as i64).collect())
            }
            Some(Ok(sum)) => {
                let gone = self.places.len() - sum.members.len();
                Err(failed(&format!(
                    "{gone} parties have left, and their records would be missing"
                )))
            }
            Some(Err(why)) => Err(failed(why)),
            None => Err(failed(&"it did not come to its end")),
        }
    }
}

impl SumCarrier for Places {
    fn sum(&mut self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal> {
        let said = self.ask(round, request)?;
        match self.plan.law() {
            SumLaw::Local { .. } => Places::added(&said, len),
            SumLaw::Masked(_) => self.unmasked(round, said, len),
        }
    }
}

/// A run on noisy sums, ready to begin.
#[derive(Debug)]
pub struct NoisyParties {
    /// What an algorithm asks.
    pub server: NoisySums,
    /// What each party has set aside.
    pub books: SumBooks,
    /// What is moved.
    pub post: Arc<Post>,
}

/// Puts the tables, one for each party, behind gates of their own. All keys follow from `key`; on a
/// network each party has one of its own. `terms` are those of all units, `shape` that of a
/// parameter.
///
/// # Errors
/// If a table cannot be summed over, or there are not as many as the plan has parties.
pub fn noisy_parties(
    tables: Vec<PrivateTable>,
    loss: &Arc<dyn Loss>,
    (opening, shape, terms): (&PrivacyModel, Shape, Terms),
    plan: &Arc<SumPlan>,
    (key, run): (&NoiseKey, &Digest),
) -> Result<NoisyParties, RunError> {
    if tables.len() != plan.law().parties() as usize {
        let allowed = format!("the plan of the run has {} parties", plan.law().parties());
        return Err(Refused::new("parties", tables.len(), allowed).into());
    }
    let (id, post) = (RunId::from(run), Arc::new(Post::default()));
    let place = |(table, number): (PrivateTable, u32)| {
        let own = key_of(PartyId(number), key);
        let agreed = (run, Arc::clone(plan));
        let party = SumParty::new(table, Arc::clone(loss), opening, (own, number), agreed)?;
        let (inbox, server) = (Inbox::new(id, PartyId(number)), Inbox::new(id, SERVER));
        Ok(Mutex::new(Place { inbox, party, member: None, server }))
    };
    let places: Result<Vec<_>, Refusal> = tables.into_iter().zip(0..).map(place).collect();
    let places = Arc::new(places?);
    let books = SumBooks { places: Arc::clone(&places) };
    let carrier = Places { places, post: Arc::clone(&post), run: *run, plan: Arc::clone(plan) };
    let server = NoisySums::new(
        (shape, terms),
        Arc::clone(loss),
        opening,
        Arc::clone(plan),
        Box::new(carrier),
    )?;
    Ok(NoisyParties { server, books, post })
}

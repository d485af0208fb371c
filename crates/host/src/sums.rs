//! The lead's side of sums that have their noise when they come: what parties answer one by one, or
//! what their masked sum opens to. The lead has no noise, no key and no books of its own.
//!
//! A masked sum is four requests to every party, each kept and repeated like any other. What is said
//! next follows from the answers of the steps before, which are on the disk then: a lead that starts
//! again goes on in the middle of a sum.

use std::sync::Arc;

use rayon::prelude::*;
use reticent_masks::{AggregationTerms, Body, Collector, LinkEnd, Message, Outgoing};
use reticent_noise::Digest;
use reticent_oracle::{Refusal, SumCarrier, SumLaw, SumPlan};
use reticent_runtime::{STEPS, SignedKeys, added, key_statement, wire};

use crate::carrier::Lines;
use crate::error::HostError;
use crate::mask_keys::has_signed;
use crate::roster::Roster;

/// What each of several parties is asked, or has said.
type EachParty = Vec<(u32, Vec<u8>)>;

/// The lines of a run, for the server of its sums.
#[derive(Debug)]
pub(crate) struct NetworkSums {
    pub lines: Arc<Lines>,
    pub plan: Arc<SumPlan>,
    /// What the masks are bound to.
    pub run: Digest,
    pub roster: Arc<Roster>,
}

impl NetworkSums {
    /// Asks all of them at the same time.
    fn ask(&self, step: u32, each: EachParty) -> Result<EachParty, Refusal> {
        each.into_par_iter()
            .with_max_len(1)
            .map(|(party, request)| Ok((party, self.lines.carried(party, step, request)?)))
            .collect()
    }

    fn all(&self, payload: &[u8]) -> EachParty {
        (0..self.plan.law().parties()).map(|party| (party, payload.to_vec())).collect()
    }

    /// Ends the run by what a party has said.
    fn blame(&self, party: u32, why: impl ToString) -> Refusal {
        let who = self.roster.name(party);
        self.lines.fail(HostError::disagreed(who, why.to_string()))
    }

    /// The advertised keys of a party, and its signature of them.
    fn advertised(
        &self,
        (party, said): &(u32, Vec<u8>),
        terms: &AggregationTerms,
    ) -> Result<SignedKeys, Refusal> {
        let own: SignedKeys = wire::unpack(said).map_err(|why| self.blame(*party, why))?;
        let message = Message::decode(terms, *party, &own.message);
        let signed = match message.map_err(|why| self.blame(*party, why))?.body {
            Body::Advertise(keys) => {
                let said = key_statement(terms.run(), terms.round(), *party, &keys);
                let signature = own.signatures.first().map_or(&[][..], Vec::as_slice);
                has_signed(&self.roster, *party, &said, signature)
            }
            _ => false,
        };
        match signed {
            true => Ok(own),
            false => Err(self.blame(*party, "its keys of a masked sum are not signed by it")),
        }
    }

    /// Hands what parties have said to the collector; what it says to them.
    fn collect(&self, collector: &mut Collector, said: &EachParty) -> Result<EachParty, Refusal> {
        let mut told = Vec::new();
        for (party, bytes) in said {
            let more = collector.on_message(*party, bytes);
            told.extend(more.map_err(|why| self.blame(*party, why))?);
        }
        let to = |out: Outgoing| match out.to {
            LinkEnd::Member(party) => Some((party, out.bytes)),
            LinkEnd::Collector => None,
        };
        Ok(told.into_iter().filter_map(to).collect())
    }

    /// The masked sum of a round over all parties.
    fn unmasked(&self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal> {
        let failed = |why: String| {
            let what = format!("the masked sum of round {round} was not opened: {why}");
            self.lines.fail(HostError::Ended(what))
        };
        let SumLaw::Masked(members) = self.plan.law() else {
            return Err(failed("there are no masks".to_owned()));
        };
        let terms = members.terms(&self.run, round.into(), len as u32);
        let terms = terms.map_err(|error| failed(error.to_string()))?;
        let mut collector = Collector::new(terms.clone());
        let first = (round - 1) * STEPS + 1;
        let said = self.ask(first, self.all(request))?;
        let advertised: Result<Vec<SignedKeys>, Refusal> =
            said.iter().map(|said| self.advertised(said, &terms)).collect();
        let advertised = advertised?;
        let messages = (0..).zip(advertised.iter().map(|own| own.message.clone())).collect();
        let signatures: Vec<Vec<u8>> =
            advertised.into_iter().filter_map(|own| own.signatures.into_iter().next()).collect();
        let mut told = self.collect(&mut collector, &messages)?;
        for (party, message) in &mut told {
            let others = (0..).zip(&signatures).filter(|(other, _)| other != party);
            let signatures = others.map(|(_, signature): (u32, _)| signature.clone()).collect();
            let signed = SignedKeys { message: std::mem::take(message), signatures };
            *message = wire::pack(&signed).map_err(|why| failed(why.to_string()))?;
        }
        for step in first + 1..first + STEPS {
            let said = self.ask(step, told)?;
            told = self.collect(&mut collector, &said)?;
        }
        match collector.outcome() {
            Some(Ok(sum)) if sum.members.len() == members.members() as usize => {
                Ok(sum.values.iter().map(|&value| value as i64).collect())
            }
            Some(Err(why)) => Err(failed(why.to_string())),
            _ => Err(failed("somebody is missing from it".to_owned())),
        }
    }
}

impl SumCarrier for NetworkSums {
    fn sum(&mut self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal> {
        match self.plan.law() {
            SumLaw::Local { .. } => added(&self.ask(round, self.all(request))?, len),
            SumLaw::Masked(_) => self.unmasked(round, request, len),
        }
    }
}

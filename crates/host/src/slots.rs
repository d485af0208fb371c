//! Masked sums in slots: a slot has the sum of a round, or a decision to continue without some
//! parties.
//!
//! A slot is four requests to every party, each kept and repeated like any other. The next request
//! follows from the answers before and from the decisions, which are on the disk by then: a lead
//! that restarts continues in the middle of a sum.

use reticent_masks::{Abort, AggregationTerms, Body, Collector, LinkEnd, Message, Outgoing};
use reticent_oracle::{Refusal, SumLaw};
use reticent_runtime::{STEPS, SignedKeys, SlotRequest, Staying, key_statement, wire};

use crate::error::HostError;
use crate::mask_keys::has_signed;
use crate::sums::{EachParty, NetworkSums};

/// The outcome of the sum of a slot.
enum Attempt {
    /// The sum, and the parties that have not given their shares.
    Opened(Vec<i64>, Vec<u32>),
    /// These parties left before they had sent their vectors.
    Left(Vec<u32>),
}

/// A slot, and the round whose sum it has.
#[derive(Clone, Copy)]
struct SlotRound {
    slot: u32,
    round: u32,
}

/// A party, and the invalid message that it has sent.
struct Accused(u32, String);

impl NetworkSums {
    /// The masked sum of a round over all members. If a party leaves, the round is repeated without
    /// it, once all that stay have signed that.
    pub fn masked(&mut self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal> {
        loop {
            let (slot, next) = (self.slot, self.decided(self.slot + 1));
            let again = next.as_ref().is_some_and(|next| next.round == round);
            let decided = self.decided(slot);
            // An interrupted attempt is not begun again.
            if let Some(staying) = decided.filter(|_| !again) {
                let away = self.decide(&staying)?;
                self.go_on_with(staying);
                if !away.is_empty() {
                    self.leave_out(&away, slot + 1, round)?;
                }
            } else if !again {
                match self.attempt(SlotRound { slot, round }, request, len, next)? {
                    Attempt::Opened(values, late) => {
                        self.slot += 1;
                        let new = !late.is_empty() && self.decided(slot + 1).is_none();
                        if new && self.without(&late).is_some() {
                            self.leave_out(&late, slot + 1, round + 1)?;
                        }
                        return Ok(values);
                    }
                    Attempt::Left(away) => self.leave_out(&away, slot + 1, round)?,
                }
            }
            self.slot += 1;
        }
    }

    fn unopened(&self, round: u32, why: impl std::fmt::Display) -> Refusal {
        let what = format!("the masked sum of round {round} was not opened: {why}");
        self.lines.fail(HostError::Ended(what))
    }

    /// Has all that stay sign the decision, and shows all signatures to all; returns those that are
    /// away.
    fn decide(&self, staying: &Staying) -> Result<Vec<u32>, Refusal> {
        let failed = |why: reticent_runtime::Rejected| self.unopened(staying.round, why);
        let first = (staying.slot - 1) * STEPS + 1;
        let each = |payload: &[u8]| -> EachParty {
            staying.members.iter().map(|&party| (party, payload.to_vec())).collect()
        };
        let proposed = wire::pack(&SlotRequest::Stay(staying.clone())).map_err(failed)?;
        let (said, away) = self.ask(first, each(&proposed))?;
        if !away.is_empty() {
            return Ok(away);
        }
        let statement = staying.statement(&self.agreed);
        for (party, signature) in &said {
            if !has_signed(&self.roster, *party, &statement, signature) {
                return Err(self.blame(*party, "it has not signed who stays"));
            }
        }
        let signatures: Vec<Vec<u8>> = said.into_iter().map(|(_, signature)| signature).collect();
        let all = wire::pack(&signatures).map_err(failed)?;
        Ok(self.ask(first + 1, each(&all))?.1)
    }

    /// Handles an invalid message of a party: the others continue without it, or the run ends with
    /// its name.
    fn accuse(&self, Accused(party, why): Accused) -> Result<Attempt, Refusal> {
        self.lines.note(party, &why);
        match self.without(&[party]) {
            Some(_) => Ok(Attempt::Left(vec![party])),
            None => Err(self.blame(party, why)),
        }
    }

    /// The advertised keys of a party, and its signature of them.
    fn advertised(
        &self,
        (party, said): &(u32, Vec<u8>),
        slot: u32,
        terms: &AggregationTerms,
    ) -> Result<SignedKeys, Accused> {
        let accused = |why: String| Accused(*party, why);
        let own: SignedKeys = wire::unpack(said).map_err(|why| accused(why.to_string()))?;
        let message = Message::decode(terms, *party, &own.message);
        let signed = match message.map_err(|why| accused(why.to_string()))?.body {
            Body::Advertise(keys) => {
                let said = key_statement(terms.run(), (slot, &self.members), *party, &keys);
                let signature = own.signatures.first().map_or(&[][..], Vec::as_slice);
                has_signed(&self.roster, *party, &said, signature)
            }
            _ => false,
        };
        match signed {
            true => Ok(own),
            false => Err(accused("its keys of a masked sum are not signed by it".to_owned())),
        }
    }

    /// Hands the parties' messages to the collector; returns its messages to them.
    fn collect(&self, collector: &mut Collector, said: &EachParty) -> Result<EachParty, Accused> {
        let mut told = Vec::new();
        for (party, bytes) in said {
            let more = collector.on_message(*party, bytes);
            told.extend(more.map_err(|why| Accused(*party, why.to_string()))?);
        }
        let to = |out: Outgoing| match out.to {
            LinkEnd::Member(party) => Some((party, out.bytes)),
            LinkEnd::Collector => None,
        };
        Ok(told.into_iter().filter_map(to).collect())
    }

    /// The keys of all to all, with their signatures.
    fn directory(
        &self,
        collector: &mut Collector,
        advertised: &[(u32, SignedKeys)],
    ) -> Result<EachParty, Accused> {
        let messages = advertised.iter().map(|(party, own)| (*party, own.message.clone()));
        let mut told = self.collect(collector, &messages.collect())?;
        for (party, message) in &mut told {
            let others = advertised.iter().filter(|(other, _)| other != party);
            let signatures = others.filter_map(|(_, own)| own.signatures.first().cloned());
            let signatures = signatures.collect();
            let signed = SignedKeys { message: std::mem::take(message), signatures };
            *message = wire::pack(&signed).map_err(|why| Accused(*party, why.to_string()))?;
        }
        Ok(told)
    }

    /// The sum of a round in this slot. `next` is an earlier process's decision about the next
    /// slot: a party that is out by it is not asked for its shares.
    fn attempt(
        &self,
        at: SlotRound,
        request: &[u8],
        len: usize,
        next: Option<Staying>,
    ) -> Result<Attempt, Refusal> {
        let SlotRound { slot, round } = at;
        let SumLaw::Masked(law) = self.plan.law() else {
            return Err(self.unopened(round, "there are no masks"));
        };
        let terms = law.terms(&self.run, round.into(), len as u32);
        let terms = terms.map_err(|error| self.unopened(round, error))?;
        let mut collector = Collector::new(terms.clone()).among(&self.members);
        let first = (slot - 1) * STEPS + 1;
        let request = wire::pack(&SlotRequest::Sum(request.to_vec()));
        let request = request.map_err(|why| self.unopened(round, why))?;
        let (said, away) = self.ask(first, self.each(&request))?;
        if !away.is_empty() {
            return Ok(Attempt::Left(away));
        }
        let own = |said: &(u32, Vec<u8>)| Ok((said.0, self.advertised(said, slot, &terms)?));
        let advertised: Result<Vec<(u32, SignedKeys)>, Accused> = said.iter().map(own).collect();
        let told = advertised.and_then(|all| self.directory(&mut collector, &all));
        let mut told = match told {
            Ok(told) => told,
            Err(accused) => return self.accuse(accused),
        };
        for step in 1..STEPS - 1 {
            let (said, away) = self.ask(first + step, told)?;
            if !away.is_empty() {
                return Ok(Attempt::Left(away));
            }
            told = match self.collect(&mut collector, &said) {
                Ok(told) => told,
                Err(accused) => return self.accuse(accused),
            };
        }
        self.opened(at, collector, told, next)
    }

    /// The last step: shares of a threshold of members open the sum of all.
    fn opened(
        &self,
        SlotRound { slot, round }: SlotRound,
        mut collector: Collector,
        mut told: EachParty,
        next: Option<Staying>,
    ) -> Result<Attempt, Refusal> {
        let out = |party: &u32| next.as_ref().is_some_and(|next| !next.members.contains(party));
        told.retain(|(party, _)| !out(party));
        let (said, mut late) = self.ask(slot * STEPS, told)?;
        late.extend(self.members.iter().filter(|party| out(party)));
        for one in &said {
            let one = std::slice::from_ref(one).to_vec();
            if let Err(Accused(party, why)) = self.collect(&mut collector, &one) {
                self.lines.note(party, &why);
                late.push(party);
            }
        }
        if collector.outcome().is_none() {
            let SumLaw::Masked(law) = self.plan.law() else { return Err(self.missing(&late)) };
            let enough = law.threshold();
            let given = self.members.len() - late.len();
            if (given as u32) < enough {
                return Err(self.missing(&late));
            }
            collector.on_deadline();
        }
        for party in collector.blamed() {
            self.lines.note(party, "a share that is not the one that it was given");
        }
        match collector.outcome() {
            Some(Ok(sum)) if sum.members == self.members => {
                let values = sum.values.iter().map(|&value| value as i64).collect();
                Ok(Attempt::Opened(values, late))
            }
            Some(Err(why @ Abort::Mismatch { member })) => Err(self.blame(*member, why)),
            Some(Err(why)) => Err(self.unopened(round, why)),
            _ => Err(self.unopened(round, "somebody is missing from it")),
        }
    }
}

//! The lead's side of sums with the parties' own noise: single answers, or opened masked sums. The
//! lead has no noise, no key and no books of its own.
//!
//! A party that has left for good is left out, if the operators allow it. Where answers are seen
//! one by one the lead continues alone, since the guarantee of a party does not rest on the noise
//! of another; behind masks those that stay must sign it (`slots.rs`). The members are on the disk
//! before anything follows from them.

use std::sync::{Arc, Mutex};

use reticent_noise::Digest;
use reticent_oracle::{PartialSum, Refusal, RoundRequest, SumCarrier, SumLaw, SumPlan};
use reticent_runtime::{Staying, added};

use crate::carrier::{Lines, locked};
use crate::error::HostError;
use crate::roster::Roster;

/// A request to, or an answer of, each of several parties.
pub(crate) type EachParty = Vec<(u32, Vec<u8>)>;

/// The answers of the connected parties, and those that are away.
pub(crate) type Replies = (EachParty, Vec<u32>);

/// The connections of a run, for the server of its sums.
#[derive(Debug)]
pub(crate) struct NetworkSums {
    pub lines: Arc<Lines>,
    pub plan: Arc<SumPlan>,
    /// The run that all have signed.
    pub agreed: Digest,
    /// The digest that masks are bound to.
    pub run: Digest,
    pub roster: Arc<Roster>,
    /// The fewest parties that the run continues with; by default all.
    pub least: Option<u32>,
    /// The members.
    pub members: Vec<u32>,
    /// The next slot behind masks.
    pub slot: u32,
}

impl NetworkSums {
    /// Asks all parties at the same time, whatever the number of processors. Each has a thread that
    /// waits for it: the threads of a pool of the same size search each other for work while they
    /// wait, which was most of a round of 1,000 parties.
    pub fn ask(&self, step: u32, each: EachParty) -> Result<Replies, Refusal> {
        let (said, away) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let one = |party: u32, request: Vec<u8>| {
            match self.lines.exchange(party, step, request) {
                Ok(answer) => locked(&said).push((party, answer)),
                Err(HostError::Absent { .. }) if self.least.is_some() => locked(&away).push(party),
                Err(why) => return Err(self.lines.fail(why)),
            }
            Ok(())
        };
        let one = &one;
        std::thread::scope(|scope| {
            let ask = |(party, request)| {
                std::thread::Builder::new().spawn_scoped(scope, move || one(party, request))
            };
            let asked: Vec<_> = each.into_iter().map(ask).collect();
            let no_thread =
                |why: String| self.lines.fail(HostError::disagreed("this machine", why));
            let mut ended = Ok(());
            for own in asked {
                let own = own.map_err(|why| no_thread(format!("no thread for a party: {why}")));
                let own = own.and_then(|own| {
                    let gone = |_| Err(no_thread("a thread has ended".to_owned()));
                    own.join().unwrap_or_else(gone)
                });
                ended = ended.and(own);
            }
            ended
        })?;
        let mut said = said.into_inner().unwrap_or_default();
        let mut away = away.into_inner().unwrap_or_default();
        said.sort_unstable_by_key(|(party, _)| *party);
        away.sort_unstable();
        Ok((said, away))
    }

    /// The same for all members.
    pub fn each(&self, payload: &[u8]) -> EachParty {
        self.members.iter().map(|&party| (party, payload.to_vec())).collect()
    }

    /// Ends the run because of a message of a party.
    pub fn blame(&self, party: u32, why: impl ToString) -> Refusal {
        let who = self.roster.name(party);
        self.lines.fail(HostError::disagreed(who, why.to_string()))
    }

    /// The members without those that are away, if they are enough.
    pub fn without(&self, away: &[u32]) -> Option<Vec<u32>> {
        let stays = |party: &u32| !away.contains(party);
        let members: Vec<u32> = self.members.iter().copied().filter(stays).collect();
        let enough = match self.plan.law() {
            SumLaw::Local { .. } => 1,
            SumLaw::Masked(law) if law.has_one_list() => law.threshold(),
            SumLaw::Masked(law) => law.members(),
        };
        (members.len() as u32 >= enough.max(self.least?)).then_some(members)
    }

    /// Decides to continue without those that are away, from this slot and with this round; it is
    /// on the disk when this returns. If too few are left, they are waited for by name.
    pub fn leave_out(&self, away: &[u32], slot: u32, round: u32) -> Result<(), Refusal> {
        let Some(members) = self.without(away) else { return Err(self.missing(away)) };
        let staying = Staying { slot, round, members };
        self.lines.keep(staying).map_err(|why| self.lines.fail(why))
    }

    /// The error for too many absent parties.
    pub fn missing(&self, away: &[u32]) -> Refusal {
        let names: Vec<String> = away.iter().map(|party| self.roster.name(*party)).collect();
        self.lines.fail(self.lines.absent(names.join(", ")))
    }

    /// The decision about a slot.
    pub fn decided(&self, slot: u32) -> Option<Staying> {
        self.lines.stayings().into_iter().find(|staying| staying.slot == slot)
    }

    /// Applies a decision: these are the members from here on, and the others are told that they
    /// are out.
    pub fn go_on_with(&mut self, staying: Staying) {
        for party in self.members.iter().filter(|party| !staying.members.contains(party)) {
            self.lines.forfeit(*party, staying.round);
        }
        self.members = staying.members;
    }

    /// The sum of answers that are seen one by one.
    fn seen(
        &mut self,
        round: u32,
        request: RoundRequest<'_>,
        len: usize,
    ) -> Result<Vec<i64>, Refusal> {
        loop {
            // The last decision has the fewest members.
            let decided = self.lines.stayings().into_iter().rfind(|own| own.round == round);
            if let Some(staying) = decided {
                self.go_on_with(staying);
            }
            let (said, away) = self.ask(round, self.each(request.usual))?;
            if away.is_empty() {
                let (sum, cut) = added(&said, len, request.reach)?;
                for party in cut {
                    self.lines.note(party, &beyond("its answer", round));
                }
                return Ok(sum);
            }
            self.leave_out(&away, round, round)?;
        }
    }
}

impl SumCarrier for NetworkSums {
    fn sum(&mut self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal> {
        let request = RoundRequest { usual: request, behind: None, reach: None };
        let sum = self.sum_of_stayed(round, request, len)?;
        match sum.absent.first() {
            None => Ok(sum.values),
            Some(&party) => Err(self.blame(party, "it has left the run")),
        }
    }

    /// Every member has heard all changes of coordinates: no party comes back after an absence.
    fn sum_of_stayed(
        &mut self,
        round: u32,
        request: RoundRequest<'_>,
        len: usize,
    ) -> Result<PartialSum, Refusal> {
        let values = match self.plan.law() {
            SumLaw::Local { .. } => self.seen(round, request, len)?,
            SumLaw::Masked(_) => self.masked(round, request.usual, len)?,
        };
        let all = 0..self.plan.law().parties();
        let absent = all.filter(|party| self.members.binary_search(party).is_err()).collect();
        Ok(PartialSum { values, absent })
    }

    /// Behind masks the sender is unknown; where answers are seen, each was clipped already.
    fn sum_was_cut(&mut self, round: u32) {
        if matches!(self.plan.law(), SumLaw::Masked(_)) {
            self.lines.note_of_all(&beyond("the parties' sum", round));
        }
    }
}

/// The remark about an answer or a sum that was clipped. Honest ones are clipped with a chance
/// below e⁻⁶⁴ a round.
fn beyond(what: &str, round: u32) -> String {
    format!(
        "{what} of round {round} is larger than honest records and their noise make it, and was cut"
    )
}

//! The server's side: an [`Oracle`] without data, noise or books, which adds up what parties say.

use std::sync::Arc;

use reticent_accountant::Adjacency;
use reticent_noise::Digest;
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use super::answered_by::AnsweredBy;
use super::law::HALF;
use super::plan::{PlannedStep, SumPlan, unplanned};
use super::reach::SumReach;
use super::request::SumRequest;
use crate::claim::PaperClaim;
use crate::gate::{Listener, PrivacyModel};
use crate::oracle::{Asked, Oracle};
use crate::queries::{AskedSum, Erased, check_basis, wrong};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::terms::Terms;

/// What carries requests to all parties and brings the sum of their answers back. Every answer has
/// its noise before it leaves a party.
pub trait SumCarrier: std::fmt::Debug + Send {
    /// The sum, of so many numbers, over all parties. Rounds count from 1.
    ///
    /// # Errors
    /// If there is none, because somebody did not answer.
    fn sum(&mut self, round: u32, request: &[u8], len: usize) -> Result<Vec<i64>, Refusal>;

    /// The sum over those who stay, where a masked sum is opened without those who leave. By default
    /// everybody must stay.
    ///
    /// # Errors
    /// If there is none, because too many did not answer.
    fn sum_of_stayed(
        &mut self,
        round: u32,
        request: RoundRequest<'_>,
        len: usize,
    ) -> Result<PartialSum, Refusal> {
        let values = self.sum(round, request.usual, len)?;
        Ok(PartialSum { values, absent: Vec::new() })
    }

    /// The sum of this round was longer than honest parties can make it, and was cut.
    fn sum_was_cut(&mut self, _round: u32) {}
}

/// What parties are asked in a round.
#[derive(Clone, Copy, Debug)]
pub struct RoundRequest<'a> {
    /// Of whoever has heard every change of coordinates.
    pub usual: &'a [u8],
    /// The round of the last change, and what a party is asked that has answered none since: the same,
    /// with the coordinates. `None` while nobody has been away.
    pub behind: Option<(u32, &'a [u8])>,
    /// How far what is said can be from zero; who sees answers one by one cuts each of them.
    pub reach: Option<SumReach<'a>>,
}

/// A sum, and who is not in it.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialSum {
    /// The sum over all others.
    pub values: Vec<i64>,
    /// Who left, in increasing order.
    pub absent: Vec<u32>,
}

/// What an algorithm asks where answers come from parties that add the noise themselves. It follows
/// the plan of the parties, so that nothing is asked of anybody that they would refuse.
pub struct NoisySums {
    native: Shape,
    shape: Shape,
    terms: Terms,
    loss: Arc<dyn Loss>,
    plan: Arc<SumPlan>,
    agreed: Digest,
    round: u32,
    /// Coordinates that the next sum comes with.
    basis: Option<Option<Vec<f64>>>,
    /// The last change of them, and the round that it came with.
    told: Option<(u32, Option<Vec<f64>>)>,
    /// The number of units of each party, where it is public.
    sizes: Option<Vec<u64>>,
    /// How many parties the sum of each round was taken over.
    attendance: Vec<u32>,
    /// Whom the last sum was taken over.
    answered_by: AnsweredBy,
    /// Whether what is said is cut to what honest parties reach.
    cuts: bool,
    /// Whether somebody did not answer: some may have changed the coordinates, and others not.
    ended: bool,
    claimed: bool,
    carrier: Box<dyn SumCarrier>,
    listener: Option<Listener>,
}

impl std::fmt::Debug for NoisySums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NoisySums").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl NoisySums {
    /// The server of parties with this plan. `terms` are those of all their units, `shape` that of a
    /// parameter of the loss.
    ///
    /// # Errors
    /// If the terms are for another view than the plan.
    pub fn new(
        (shape, terms): (Shape, Terms),
        loss: Arc<dyn Loss>,
        opening: &PrivacyModel,
        plan: Arc<SumPlan>,
        carrier: Box<dyn SumCarrier>,
    ) -> Result<Self, Refusal> {
        let view = plan.law().view();
        if (terms.view(), opening.view) != (view, view) {
            return Err(wrong("the terms of a run are for another view than its plan"));
        }
        let agreed = plan.digest(opening, &*loss)?;
        Ok(NoisySums {
            native: shape,
            shape,
            terms,
            loss,
            plan,
            agreed,
            round: 0,
            basis: None,
            told: None,
            sizes: None,
            attendance: Vec::new(),
            answered_by: AnsweredBy::ALL,
            cuts: true,
            ended: false,
            claimed: false,
            carrier,
            listener: None,
        })
    }

    /// From here on, `listener` hears every answer, and how many there were.
    pub fn listen(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// From here on, a sum that somebody is missing from is scaled by these public numbers of units,
    /// one for each party; else every party counts for the same share of all.
    ///
    /// # Errors
    /// If there are not as many as parties.
    pub fn weigh(&mut self, sizes: Vec<u64>) -> Result<(), Refusal> {
        if sizes.len() != self.plan.law().parties() as usize {
            return Err(wrong("there are not as many sizes as parties"));
        }
        self.sizes = Some(sizes);
        Ok(())
    }

    /// From here on, nothing that is said is cut: where the number of units is private, and nothing of
    /// what is asked is divided by a public one, nobody knows what honest parties reach.
    pub fn leave_uncut(&mut self) {
        self.cuts = false;
    }

    /// How many parties the sum of each round was taken over.
    pub fn attendance(&self) -> &[u32] {
        &self.attendance
    }

    /// Rounds that were asked for.
    pub fn rounds(&self) -> u32 {
        self.round
    }

    /// Refuses to end before the plan does: what was calibrated would not be what ran.
    ///
    /// # Errors
    /// If something is left of the plan.
    pub fn finish(&self) -> Result<(), Refusal> {
        match self.plan.step(self.round + 1) {
            None => Ok(()),
            left => Err(unplanned("nothing more".to_owned(), left)),
        }
    }

    fn begin(&self) -> Result<u32, Refusal> {
        match self.ended {
            true => Err(wrong("a party has not answered before, which has ended the run")),
            false => Ok(self.round + 1),
        }
    }

    fn exchange(&mut self, asked: &AskedSum<'_>) -> Result<Vec<i64>, Refusal> {
        let (shape, round) = (self.shape, self.begin()?);
        asked.what.check(shape)?;
        asked.what.fits(&*self.loss)?;
        self.plan.law().check(asked, shape, &self.terms)?;
        let mapped = self.basis.as_ref().map(Option::is_some);
        let step = PlannedStep::of(asked, shape, mapped);
        let planned = self.plan.step(round);
        if planned != Some(step) {
            return Err(unplanned(step.to_string(), planned));
        }
        if let Some(basis) = self.basis.take() {
            self.told = Some((round, basis));
        }
        let now = self.told.as_ref().filter(|(since, _)| *since == round);
        let usual = self.request(asked, now.map(|(_, images)| images.as_deref()))?;
        let everybody = self.attendance.iter().all(|&stayed| stayed == self.plan.law().parties());
        let behind = match &self.told {
            Some((since, images)) if !everybody => {
                Some((*since, self.request(asked, Some(images.as_deref()))?))
            }
            _ => None,
        };
        let behind = behind.as_ref().map(|(since, request)| (*since, &request[..]));
        let len = asked.what.len(shape);
        self.round = round;
        let sizes = self.sizes.as_deref();
        let reach = SumReach::new(self.plan.law(), asked, &self.terms, sizes);
        let reach = self.cuts.then_some(reach);
        let request = RoundRequest { usual: &usual, behind, reach };
        let sum = self.carrier.sum_of_stayed(round, request, len);
        self.ended = sum.is_err();
        match sum? {
            mut sum if sum.values.len() == len => {
                if reach.is_some_and(|reach| reach.cut_sum(&sum.absent, &mut sum.values)) {
                    self.carrier.sum_was_cut(round);
                }
                self.scaled(sum)
            }
            _ => Err(wrong("the parties' sum has another length than what was asked for")),
        }
    }

    fn request(
        &self,
        asked: &AskedSum<'_>,
        basis: Option<Option<&[f64]>>,
    ) -> Result<Vec<u8>, Refusal> {
        let basis = basis.map(|images| images.map(Into::into));
        SumRequest { agreed: self.agreed, basis, what: asked.what.clone() }.pack()
    }

    /// A sum over all from that over those who stayed: what the units of these say, on average, is
    /// said of everybody's. Public numbers alone, after the noise.
    fn scaled(&mut self, sum: PartialSum) -> Result<Vec<i64>, Refusal> {
        let PartialSum { values, absent } = sum;
        let parties = self.plan.law().parties();
        let there = parties - (absent.len() as u32).min(parties);
        self.attendance.push(there);
        self.answered_by = AnsweredBy::ALL;
        if absent.is_empty() {
            return Ok(values);
        }
        let one = |party: u32| match &self.sizes {
            Some(sizes) => sizes.get(party as usize).copied().unwrap_or(0),
            None => 1,
        };
        let all: u64 = (0..parties).map(one).sum();
        let gone: u64 = absent.iter().map(|&party| one(party)).sum();
        if gone >= all {
            return Err(wrong("nobody who has records has stayed in a sum"));
        }
        let factor = all as f64 / (all - gone) as f64;
        // Each party has the same part of the noise.
        let stayed = f64::from(there) / f64::from(parties);
        // Without sizes a party is one unit, or nobody knows how many it has.
        let known = self.sizes.is_some() || self.terms.population() == u64::from(parties);
        let units =
            (known && self.terms.adjacency() == Adjacency::ReplaceOne).then_some(1.0 / factor);
        self.answered_by = AnsweredBy { units, noise: factor * stayed.sqrt() };
        let scaled = |value: i64| match (value as f64 * factor).round() {
            scaled if scaled.abs() < HALF => Ok(scaled as i64),
            _ => Err(wrong("a sum of those who stayed, scaled to all, has no room in 64 bits")),
        };
        values.into_iter().map(scaled).collect()
    }
}

impl Asked for NoisySums {
    fn ask_raw(&mut self, query: &dyn Erased) -> Result<Released<Vec<f64>>, Refusal> {
        if std::mem::take(&mut self.claimed) {
            return Err(wrong("what a paper claims is not counted between parties"));
        }
        let (shape, terms) = (self.shape, self.terms);
        query.check(shape, &terms)?;
        let said = query.answer_from_sums(shape, &terms, &mut |asked| self.exchange(asked))?;
        let released = Released::said_by_parties(said);
        if let Some(listener) = &mut self.listener {
            listener(released.get(), u64::from(self.round));
        }
        Ok(released)
    }
}

impl Oracle for NoisySums {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn answered_by(&self) -> AnsweredBy {
        self.answered_by
    }

    fn claim(&mut self, _: PaperClaim) {
        self.claimed = true;
    }

    fn open_consensus(&mut self, _: &[f64]) -> Result<(), Refusal> {
        Err(Refusal::NoSum)
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        let width = self.native.features + usize::from(self.native.intercept);
        check_basis(images, width)?;
        self.begin()?;
        self.basis = Some(images.map(<[f64]>::to_vec));
        self.shape = match images {
            None => self.native,
            Some(_) => Shape { features: width, intercept: false, ..self.native },
        };
        Ok(())
    }
}

//! A gate without data behind it, to write the ledger of a run before the run.

use reticent_accountant::Ledger;
use reticent_problem::Shape;

use crate::books::Books;
use crate::claim::{PaperClaim, booked};
use crate::gate::{TellsHolders, fits_elsewhere};
use crate::noisy::{DraftedPlan, PlannedStep, SumLaw, SumPlan};
use crate::oracle::{Asked, Oracle};
use crate::queries::{AskedSum, Erased, Query, check_basis, check_point};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::terms::Terms;

/// Takes the queries that the gate would take and records the events that the gate would record.
/// The answers are made up. The plan of a run is therefore made by the very code that will run, and
/// cannot differ from it by an oversight; noise is calibrated to it, and the gate is bound to it.
#[derive(Debug)]
pub struct Rehearsal {
    native: Shape,
    shape: Shape,
    terms: Terms,
    books: Books,
    state: u64,
    consensus: bool,
    /// Whether the rows are others', who are asked for sums alone.
    held: bool,
    /// What others are then told.
    tells: TellsHolders,
    /// Whether records have weights.
    weighted: bool,
    /// What parties are asked that add the noise themselves.
    between: Option<DraftedPlan>,
    claim: Option<PaperClaim>,
}

impl Rehearsal {
    /// A rehearsal of what would be asked about a parameter of this shape on these terms.
    pub fn new(shape: Shape, terms: Terms) -> Self {
        let (native, books) = (shape, Books::default());
        Rehearsal {
            native,
            shape,
            terms,
            books,
            state: 0,
            consensus: false,
            held: false,
            tells: TellsHolders::OneUnitEach,
            weighted: false,
            between: None,
            claim: None,
        }
    }

    /// A rehearsal of what would be asked of rows that others hold: what is no sum is refused.
    pub fn of_sums(shape: Shape, terms: Terms) -> Self {
        Rehearsal { held: true, ..Rehearsal::new(shape, terms) }
    }

    /// The same of rows in a file, to which nothing travels.
    pub fn of_cached_sums(shape: Shape, terms: Terms) -> Self {
        Rehearsal { tells: TellsHolders::Nothing, ..Rehearsal::of_sums(shape, terms) }
    }

    /// The same of rows of parties that may have several units each.
    pub fn of_several_each(shape: Shape, terms: Terms) -> Self {
        Rehearsal { tells: TellsHolders::Several, ..Rehearsal::of_sums(shape, terms) }
    }

    /// The same where records have weights or not: with them, what is proven for records that count
    /// alike is refused.
    pub fn with_weights(self, weighted: bool) -> Self {
        Rehearsal { weighted, ..self }
    }

    /// A rehearsal of what would be asked of parties that add the noise themselves, each its part: the
    /// plan is that of each of them.
    pub fn of_noisy_sums(shape: Shape, terms: Terms, law: SumLaw) -> Self {
        let between = Some(DraftedPlan { law, steps: Vec::new(), mapped: None });
        Rehearsal { between, ..Rehearsal::new(shape, terms) }
    }

    /// Enters the events of a query, and makes an answer up.
    pub fn ask<Q: Query>(&mut self, query: &Q) -> Result<Released<Q::Answer>, Refusal> {
        (self as &mut dyn Oracle).ask(query)
    }

    /// The plan of each party of a run on noisy sums; `None` of any other.
    pub fn into_sum_plan(self) -> Option<SumPlan> {
        let drafted = self.between?;
        Some(SumPlan::new(drafted, self.books.ledger().clone()))
    }

    /// Enters what each party will be asked for a query, sum by sum.
    fn draft(&mut self, query: &dyn Erased) -> Result<(), Refusal> {
        let (shape, terms) = (self.shape, self.terms);
        let (Some(DraftedPlan { law, steps, mapped }), books) =
            (&mut self.between, &mut self.books)
        else {
            return Ok(());
        };
        let mut ask = |asked: &AskedSum<'_>| {
            law.check(asked, shape, &terms)?;
            books.enter(None, vec![law.event(asked, shape, &terms)?])?;
            steps.push(PlannedStep::of(asked, shape, mapped.take()));
            Ok(vec![0; asked.what.len(shape)])
        };
        query.answer_from_sums(shape, &terms, &mut ask).map(drop)
    }

    /// The events of everything that was asked.
    pub fn into_plan(self) -> Ledger {
        self.books.ledger().clone()
    }
}

impl Asked for Rehearsal {
    fn ask_raw(&mut self, query: &dyn Erased) -> Result<Released<Vec<f64>>, Refusal> {
        let claim = self.claim.take();
        query.check(self.shape, &self.terms)?;
        if self.held {
            fits_elsewhere(query, &self.terms, self.tells)?;
        }
        if self.weighted {
            query.fits_weights()?;
        }
        if query.moves_blocks() && !self.consensus {
            return Err(Refusal::NoConsensus);
        }
        match (&self.between, &claim) {
            (Some(_), Some(_)) => return Err(Refusal::NoSum),
            (Some(_), None) => self.draft(query)?,
            (None, _) => {
                let public = (self.shape, &self.terms);
                let events = booked(query, claim.as_ref(), public, &mut self.books)?;
                self.books.enter(None, events)?;
            }
        }
        // Weyl's sequence: all zeros could send an algorithm into a special case that real answers
        // never reach.
        let mut next = || {
            self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            1e-3 * ((self.state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5)
        };
        Ok(Released::made_up(query.made_up(self.shape, &self.terms, &mut next)))
    }
}

impl Oracle for Rehearsal {
    fn shape(&self) -> Shape {
        self.shape
    }

    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn is_rehearsal(&self) -> bool {
        true
    }

    fn claim(&mut self, claim: PaperClaim) {
        self.claim = Some(claim);
    }

    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal> {
        check_point(start, self.shape)?;
        if self.held || self.between.is_some() {
            return Err(Refusal::NoSum);
        }
        if self.weighted {
            return Err(Refusal::Weighted);
        }
        self.consensus = true;
        Ok(())
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        let width = self.native.features + usize::from(self.native.intercept);
        check_basis(images, width)?;
        self.consensus = false;
        if let Some(DraftedPlan { mapped, .. }) = &mut self.between {
            *mapped = Some(images.is_some());
        }
        self.shape = match images {
            None => self.native,
            Some(_) => Shape { features: width, intercept: false, ..self.native },
        };
        Ok(())
    }
}

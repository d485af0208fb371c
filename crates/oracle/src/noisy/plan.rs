//! What a party will be asked, step by step, as it has worked out itself by rehearsing the job that
//! was agreed on.

use reticent_accountant::Ledger;
use reticent_noise::{Digest, Hasher, Sampling};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::law::SumLaw;
use crate::gate::PrivacyModel;
use crate::queries::{AskedSum, RecordSum};
use crate::refusal::Refusal;

/// One step. Point, clip and basis are the server's to say; all else is fixed beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct PlannedStep {
    /// What is summed.
    pub kind: &'static str,
    /// How many numbers it has.
    pub len: usize,
    /// What each party draws.
    pub sampling: Sampling,
    /// The noise of the sum over all parties, in clips.
    pub noise_multiplier: f64,
    /// Whether it comes with other coordinates, or those of the table again; `None` where they stay.
    pub mapped: Option<bool>,
}

impl PlannedStep {
    pub fn of(asked: &AskedSum<'_>, shape: Shape, mapped: Option<bool>) -> Self {
        let AskedSum { what, sampling, noise_multiplier } = asked;
        PlannedStep {
            kind: what.kind(),
            len: what.len(shape),
            sampling: *sampling,
            noise_multiplier: *noise_multiplier,
            mapped,
        }
    }
}

impl std::fmt::Display for PlannedStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let PlannedStep { kind, len, sampling, noise_multiplier, mapped } = self;
        write!(f, "{kind} of {len}, {sampling}, with noise of {noise_multiplier}")?;
        match mapped {
            None => Ok(()),
            Some(true) => f.write_str(", in other coordinates"),
            Some(false) => f.write_str(", in the coordinates of the table"),
        }
    }
}

/// Steps as they are drawn up.
#[derive(Clone, Debug)]
pub(crate) struct DraftedPlan {
    pub law: SumLaw,
    pub steps: Vec<PlannedStep>,
    /// Other coordinates, or those of the table again, that the next sum comes with.
    pub mapped: Option<bool>,
}

/// What every party of a run has set aside, and in which order it is asked for. Parties with the same
/// job have the same plan: no number of records is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SumPlan {
    law: SumLaw,
    ledger: Ledger,
    steps: Vec<PlannedStep>,
}

impl SumPlan {
    pub(crate) fn new(DraftedPlan { law, steps, .. }: DraftedPlan, ledger: Ledger) -> Self {
        SumPlan { law, ledger, steps }
    }

    /// Who adds which noise.
    pub fn law(&self) -> &SumLaw {
        &self.law
    }

    /// What the books of each party will have.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many rounds there are: one for each sum.
    pub fn rounds(&self) -> u32 {
        self.steps.len() as u32
    }

    /// The step of a round, counted from 1.
    pub(crate) fn step(&self, round: u32) -> Option<PlannedStep> {
        self.steps.get((round as usize).checked_sub(1)?).copied()
    }

    /// The last change of coordinates in these rounds; `None` where they stay.
    pub(crate) fn last_change(&self, rounds: std::ops::RangeInclusive<u32>) -> Option<bool> {
        rounds.rev().filter_map(|round| self.step(round)).find_map(|step| step.mapped)
    }

    /// The sum that a round has, if this is what is to be summed in it.
    pub(crate) fn asked<'a>(
        &self,
        round: u32,
        what: RecordSum<'a>,
        shape: Shape,
    ) -> Result<AskedSum<'a>, Refusal> {
        let planned = self.step(round);
        match planned {
            Some(PlannedStep { kind, len, sampling, noise_multiplier, .. })
                if (kind, len) == (what.kind(), what.len(shape)) =>
            {
                Ok(AskedSum { what, sampling, noise_multiplier })
            }
            _ => Err(unplanned(format!("{} of {}", what.kind(), what.len(shape)), planned)),
        }
    }

    /// Stands for all that server and parties must mean alike.
    pub(crate) fn digest(
        &self,
        opening: &PrivacyModel,
        loss: &dyn Loss,
    ) -> Result<Digest, Refusal> {
        let mut hasher = Hasher::new("reticent noisy sums");
        // The description of a loss does not say the weights of its classes.
        hasher.canonical(&(opening, loss.spec(), loss.weights(), self.law, &self.steps))?;
        Ok(hasher.finish())
    }
}

pub(crate) fn unplanned(asked: String, planned: Option<PlannedStep>) -> Refusal {
    let planned = planned.map_or("nothing more".to_owned(), |step| step.to_string());
    Refusal::Unplanned { asked, planned }
}

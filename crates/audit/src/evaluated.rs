//! An evaluation under attack: the adversary knows the two tables, and looks at the answer along the
//! line that leads from one to the other.

use reticent::internal::{Repeat, Seen};
use reticent::{Budget, Error, Evaluating, Evaluation};
use reticent_data::Table;

use crate::spec::AuditSpec;

/// What the map calls it.
pub(crate) const NAME: &str = "evaluation";

/// The weight of the one feature: the canary is far from where it would be taken for the other
/// class, and its prediction is at the end of the range.
pub(crate) const WEIGHT: f64 = 2.0;

/// A calibrated evaluation, and the line along which its answers are looked at.
#[derive(Debug)]
pub(crate) struct EvaluationSubject {
    asked: Repeat<Evaluating>,
    line: Vec<f64>,
}

impl EvaluationSubject {
    pub fn new(spec: &AuditSpec) -> Result<Self, Error> {
        let budget = Budget::new(spec.epsilon, spec.delta)?;
        let units = spec.like().len() as u64;
        let mut evaluation =
            Evaluation::new(budget).adjacency(spec.adjacency).unit(spec.unit()).public_n(units);
        if let Some(seed) = spec.seed {
            evaluation = evaluation.seed(seed);
        }
        #[allow(unused_mut, reason = "a defect is switched on in audit builds alone")]
        let mut asked =
            evaluation.of_parameter(spec.problem()?, vec![WEIGHT])?.repeat(spec.like().into())?;
        let pair = spec.pairs()[0];
        let [with, without] = [true, false].map(|with| {
            let table = pair.world(with, &spec.layout()).swap_remove(0);
            asked.without_noise(table)
        });
        let way = with?.into_iter().zip(without?).map(|(with, without)| with - without);
        // What has little noise says most.
        let line = way.zip(asked.deviations()).map(|(way, noise)| way / (noise * noise)).collect();
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = spec.bug {
            asked.spoil(bug);
        }
        Ok(EvaluationSubject { asked, line })
    }

    pub fn asked(&self) -> &Repeat<Evaluating> {
        &self.asked
    }

    /// The answer on a table, along the line.
    pub fn run(&self, table: Table, number: u64) -> Result<Seen, Error> {
        let mut seen = self.asked.run(table.into(), number)?;
        for answer in &mut seen.transcript {
            let along = answer.iter().zip(&self.line).map(|(answer, line)| answer * line).sum();
            *answer = vec![along];
        }
        Ok(seen)
    }
}

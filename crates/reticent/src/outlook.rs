//! What may be expected of a run, from public numbers alone and before anything is asked.
//!
//! ```text
//! s = n/z₁   the number of units over the noise, in clips, with which one answer spends the budget
//! p          the number of parameters
//! ```
//!
//! A sum in which everybody agrees stands out of the noise by s, and one of p directions that are
//! alike by about s/√p; all of them together tell about the size of the noise where s is below p.
//! Below half of that, models were seldom better than a constant in what was measured, and from 2p
//! on they were near what there is (docs/auto.md).

use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, epsilon};
use reticent_admm::ProblemFacts;
use serde::Serialize;

use crate::budget::Budget;

/// The signal for each parameter below which noise dominates, and from which on it does not.
const DIM: f64 = 0.5;
const CLEAR: f64 = 2.0;

/// No budget that is advised is larger.
const MOST: f64 = 10.0;

/// What may be expected of a run. Nothing in it is computed from a table, but for the number of
/// units where that is public.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UtilityForecast {
    /// ε of the run.
    pub epsilon: f64,
    /// What is protected.
    pub unit: Unit,
    /// The public number of them.
    pub population: u64,
    /// The number of columns.
    pub columns: usize,
    /// How far a sum in which everybody agrees stands out of the noise of one answer.
    pub signal: f64,
    /// Whether little is to be expected.
    pub noise_dominates: bool,
    /// An ε that would be enough; `None` where none that is usual is, and where noise does not
    /// dominate.
    pub enough_epsilon: Option<f64>,
    /// A number of columns that would be small enough; `None` where not even one is, and where noise
    /// does not dominate.
    pub enough_columns: Option<usize>,
    /// A number of units that would be enough; at most those that there are where noise does not
    /// dominate.
    pub enough_population: f64,
}

impl UtilityForecast {
    pub(crate) fn new(
        public: &ProblemFacts,
        budget: Budget,
        (adjacency, unit): (Adjacency, Unit),
    ) -> Self {
        let (signal, parameters) = (public.signal(), public.shape.len() as f64);
        let clear = CLEAR * parameters;
        let more = |z: f64| {
            let event = Event::new(Gaussian::new(z).ok()?, adjacency, unit, View::Central);
            let mut ledger = Ledger::new();
            ledger.append(event.ok()?);
            let found = epsilon(&ledger, budget.delta()).ok()?.upper;
            (found <= MOST && found > budget.epsilon()).then(|| up(found))
        };
        let each = CLEAR * public.shape.outputs as f64;
        let columns = (signal / each) as usize;
        let columns = columns.saturating_sub(usize::from(public.shape.intercept));
        let noise_dominates = signal < DIM * parameters;
        // Where noise does not dominate, what there is is enough.
        let lacks = |enough: f64| match noise_dominates {
            true => enough,
            false => enough.min(public.population as f64),
        };
        UtilityForecast {
            epsilon: budget.epsilon(),
            unit,
            population: public.population,
            columns: public.shape.features,
            signal,
            noise_dominates,
            enough_epsilon: more(public.population as f64 / clear).filter(|_| noise_dominates),
            enough_columns: (noise_dominates && columns > 0 && columns < public.shape.features)
                .then_some(columns),
            enough_population: lacks(up(clear * public.whole_budget)),
        }
    }

    /// In words, where little is to be expected: why, and what would help.
    pub fn warning(&self) -> Option<String> {
        if !self.noise_dominates {
            return None;
        }
        let UtilityForecast { epsilon, unit, population, columns, enough_population, .. } = self;
        let mut help: Vec<String> = Vec::new();
        help.extend(self.enough_epsilon.map(|e| format!("an epsilon of at least {e}")));
        help.extend(self.enough_columns.map(|count| match count {
            1 => "a single column".to_owned(),
            many => format!("at most {many} columns"),
        }));
        help.push(format!("at least {enough_population} {unit}s"));
        Some(format!(
            "Noise will dominate: with {population} {unit}s and {columns} columns at epsilon = {epsilon} expect little, \
             perhaps nothing that is better than a constant. What would help: {}.",
            help.join(", or ")
        ))
    }
}

/// Rounded up to two digits.
fn up(value: f64) -> f64 {
    if !(value.is_finite() && value > 0.0) {
        return value;
    }
    let step = 10_f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / step).ceil() * step;
    format!("{rounded:.1e}").parse().unwrap_or(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::Shape;

    fn outlook(population: u64, features: usize, whole_budget: f64) -> UtilityForecast {
        let shape = Shape { features, outputs: 1, intercept: true };
        let bounds = (1.0, 1.0, 0.25);
        let (row_norm, lipschitz, smoothness) = bounds;
        let numeric = false;
        let public = ProblemFacts {
            shape,
            population,
            row_norm,
            numeric,
            lipschitz,
            smoothness,
            whole_budget,
        };
        let budget = Budget::new(0.1, 1e-5).unwrap();
        UtilityForecast::new(&public, budget, (Adjacency::AddRemove, Unit::Record))
    }

    /// z₁ at (0.1, 1e-5) is about 31.
    #[test]
    fn little_is_expected_of_few_records_and_many_columns() {
        let few = outlook(750, 62, 31.0);
        assert!(few.noise_dominates);
        let warning = few.warning().unwrap();
        for word in ["750 records", "62 columns", "epsilon = 0.1", "at most 11 columns"] {
            assert!(warning.contains(word), "{warning}");
        }
        assert_eq!(few.enough_population, 4000.0);
        let enough = few.enough_epsilon.unwrap();
        assert!((0.4..1.0).contains(&enough), "{enough}");
        assert_eq!(outlook(32_561, 123, 31.0).warning(), None);
        // What does not dominate needs no more than there is, however near it is.
        for population in (100..4_000).step_by(100) {
            let found = outlook(population, 20, 31.0);
            let needs_more = found.enough_population > population as f64;
            assert_eq!(needs_more, found.noise_dominates, "{population}: {found:?}");
            assert!(found.noise_dominates || found.enough_epsilon.is_none());
        }
    }

    #[test]
    fn advice_is_rounded_up() {
        assert_eq!([up(0.612), up(3907.0), up(10.0), up(0.0)], [0.62, 4000.0, 10.0, 0.0]);
    }
}

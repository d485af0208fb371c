//! What may be expected of a run, from public numbers alone and before anything is asked.
//!
//! ```text
//! s = n/z₁   the number of units over the noise, in clips, with which one answer spends the budget
//! p          the number of parameters
//! ```
//!
//! A sum in which everybody agrees stands out of the noise by s, and one of p directions that are
//! alike by about s/√p. That decides what was measured (docs/auto.md; 226 cells of 38 tables of
//! classes): the gain over the log loss of a constant, in parts of it.
//!
//! ```text
//! s/√p                   below 2   2 to 4   4 to 8   8 to 20   above
//! upper quartile         none      6 %      10 %     25 %      55 %
//! median                 none      1 %      7 %      15 %      39 %
//! no gain in             77 %      40 %     19 %     3 %       none
//! ```

use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, epsilon};
use reticent_admm::ProblemFacts;
use serde::Serialize;

use crate::budget::Budget;

/// The signal for each √p below which nothing is to be expected, below which noise dominates, and
/// from which on it does not.
const DARK: f64 = 2.0;
const DIM: f64 = 4.0;
const CLEAR: f64 = 8.0;

/// What a quarter of the measured models gained or more, below [`DIM`].
const GAIN: f64 = 0.06;

/// No budget that is advised is larger.
const MOST: f64 = 10.0;

/// A forecast of the utility of a run. Nothing in it is computed from a table, but for the number of
/// units where that is public.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct UtilityForecast {
    /// ε of the run.
    pub epsilon: f64,
    /// The unit of protection.
    pub unit: Unit,
    /// The public number of them.
    pub population: u64,
    /// The number of columns.
    pub columns: usize,
    /// How far a sum in which everybody agrees stands out of the noise of one answer.
    pub signal: f64,
    /// Whether little is to be expected.
    pub noise_dominates: bool,
    /// Where noise dominates, what the gain over the loss of a constant is expected to stay below, in
    /// parts of that loss: three in four of the measured models with as little signal did. It is no
    /// bound.
    pub expected_gain: Option<f64>,
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
        let clear = CLEAR * parameters.sqrt();
        let more = |z: f64| {
            let event = Event::new(Gaussian::new(z).ok()?, adjacency, unit, View::Central);
            let mut ledger = Ledger::new();
            ledger.append(event.ok()?);
            let found = epsilon(&ledger, budget.delta()).ok()?.upper;
            (found <= MOST && found > budget.epsilon()).then(|| up(found))
        };
        let columns = ((signal / CLEAR).powi(2) / public.shape.outputs as f64) as usize;
        let columns = columns.saturating_sub(usize::from(public.shape.intercept));
        let noise_dominates = signal < DIM * parameters.sqrt();
        let gain = if signal < DARK * parameters.sqrt() { 0.0 } else { GAIN };
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
            expected_gain: noise_dominates.then_some(gain),
            enough_epsilon: more(public.population as f64 / clear).filter(|_| noise_dominates),
            enough_columns: (noise_dominates && columns > 0 && columns < public.shape.features)
                .then_some(columns),
            enough_population: lacks(up(clear * public.whole_budget)),
        }
    }

    /// A warning where little is to be expected: why, and what would help.
    pub fn warning(&self) -> Option<String> {
        if !self.noise_dominates {
            return None;
        }
        let UtilityForecast { epsilon, unit, population, columns, enough_population, .. } = self;
        let units = unit.plural();
        let mut help: Vec<String> = Vec::new();
        help.extend(self.enough_epsilon.map(|e| format!("an epsilon of at least {e}")));
        help.extend(self.enough_columns.map(|count| match count {
            1 => "a single column".to_owned(),
            many => format!("at most {many} columns"),
        }));
        help.push(format!("at least {enough_population} {units}"));
        let expect = match self.expected_gain {
            Some(gain) if gain > 0.0 => {
                format!(
                    "the expected gain over a constant is below {:.0} % of its loss",
                    gain * 100.0
                )
            }
            _ => "nothing better than a constant is to be expected".to_owned(),
        };
        Some(format!(
            "Noise will dominate: with {population} {units} and {columns} columns at epsilon = {epsilon} {expect}. \
             What would help: {}.",
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
            logistic: !numeric,
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
        for word in ["750 records", "62 columns", "epsilon = 0.1", "below 6 %", "at most 8 columns"]
        {
            assert!(warning.contains(word), "{warning}");
        }
        assert_eq!(few.enough_population, 2000.0);
        let enough = few.enough_epsilon.unwrap();
        assert!((0.2..0.4).contains(&enough), "{enough}");
        let none = outlook(300, 62, 31.0).warning().unwrap();
        assert!(none.contains("nothing better than a constant"), "{none}");
        // Many columns are no reason to expect little where each row has few of them.
        assert_eq!(outlook(20_000, 8_000, 31.0).warning(), None);
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

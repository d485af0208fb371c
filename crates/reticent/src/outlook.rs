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
//!
//! Where there is much noise for each column, a model of two classes follows it, and its gradients do
//! not tell by how much: columns that say nothing cost it about
//!
//! ```text
//! E = min( 0.3 (p/s)², 0.1 )        of log loss
//! ```
//!
//! where steps are taken in coordinates of their own, and nearly there (s ≥ 0.3p). Chance among few
//! records costs next to nothing where gradients tell (see the shrinkage of scores). A run without
//! shrinkage follows both:
//!
//! ```text
//! E = p/(2n̂) + min( p/(4s), 0.1 )   of log loss
//! ```
//!
//! Whether the columns say more than that no public number tells. Form and numbers were chosen on
//! tables of `benches/constant.py`; docs/auto.md says which.

use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, epsilon};
use reticent_admm::{MOST_COLUMNS, ProblemFacts};
use serde::Serialize;

use crate::budget::Budget;

/// The signal for each √p below which nothing is to be expected, below which noise dominates, and
/// from which on it does not.
const DARK: f64 = 2.0;
const DIM: f64 = 4.0;
const CLEAR: f64 = 8.0;

/// What a quarter of the measured models gained or more, below [`DIM`].
const GAIN: f64 = 0.06;

/// The least signal for each parameter from which on over-fitting is as said above, its factor, the most of
/// it, and the least columns that it was measured with; the most are those of coordinates of their own.
const FOLLOWS: f64 = 0.3;
const NOISE: f64 = 0.3;
const MOST_NOISE: f64 = 0.1;
const LEAST_COLUMNS: usize = 20;

/// Over-fitting that is warned of, in log loss.
const OVER_FITTING: f64 = 0.01;

/// The same without shrinkage, and the factor of noise there.
const PLAIN_OVER_FITTING: f64 = 0.05;
const PLAIN_NOISE: f64 = 0.25;

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
    /// Where it is much and noise does not dominate: what columns that say nothing are expected to cost a
    /// model of two classes by `auto`, in log loss. With columns that say less than that it is worse than a
    /// constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_fitting: Option<f64>,
    /// An ε that would be enough; `None` where none that is usual is, and where there is no warning.
    pub enough_epsilon: Option<f64>,
    /// A number of columns that would be small enough; `None` where not even one is, and where there is
    /// no warning.
    pub enough_columns: Option<usize>,
    /// A number of units that would be enough; at most those that there are where there is no warning.
    pub enough_population: f64,
}

/// What a forecast is of, beside its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forecasted {
    pub adjacency: Adjacency,
    pub unit: Unit,
    /// How much more noise a sum has than who adds to it is counted for: 1 on one table.
    pub excess: f64,
    /// Whether it is `auto`, of which over-fitting was measured.
    pub auto: bool,
    /// Whether scores may be drawn towards a constant.
    pub shrinks: bool,
}

/// What would be enough: a noise of one answer, a number of parameters for each output, a number of units.
struct Enough {
    noise: f64,
    columns: f64,
    population: f64,
}

impl Enough {
    /// For a clear signal.
    fn signal(public: &ProblemFacts) -> Self {
        let clear = CLEAR * (public.shape.len() as f64).sqrt();
        Enough {
            noise: public.population as f64 / clear,
            columns: (public.signal() / CLEAR).powi(2) / public.shape.outputs as f64,
            population: clear * public.whole_budget,
        }
    }

    /// For little over-fitting.
    fn over_fitting(public: &ProblemFacts, shrinks: bool) -> Self {
        let (n, p) = (public.population as f64, public.shape.len() as f64);
        if !shrinks {
            let noise = |z: f64| 2.0 + 4.0 * PLAIN_NOISE * z;
            return Enough {
                noise: (4.0 * PLAIN_OVER_FITTING * n / p - 2.0) / (4.0 * PLAIN_NOISE),
                columns: 4.0 * PLAIN_OVER_FITTING * n / noise(public.whole_budget),
                population: p * noise(public.whole_budget) / (4.0 * PLAIN_OVER_FITTING),
            };
        }
        let each = (NOISE / OVER_FITTING).sqrt();
        Enough {
            noise: n / (each * p),
            columns: public.signal() / each,
            population: each * p * public.whole_budget,
        }
    }
}

/// What columns that say nothing cost a model of two classes, where that is much.
fn over_fitting(public: &ProblemFacts, shrinks: bool) -> Option<f64> {
    let (n, s, p) = (public.population as f64, public.signal(), public.shape.len() as f64);
    let columns = (LEAST_COLUMNS..=MOST_COLUMNS).contains(&public.shape.features);
    let measured = public.logistic && public.shape.outputs == 1 && columns;
    let (cost, most) = match shrinks {
        true => ((NOISE * (p / s).powi(2)).min(MOST_NOISE), OVER_FITTING),
        false => (p / (2.0 * n) + (PLAIN_NOISE * p / s).min(MOST_NOISE), PLAIN_OVER_FITTING),
    };
    (measured && s >= FOLLOWS * p && cost > most).then_some(cost)
}

impl UtilityForecast {
    pub(crate) fn new(public: &ProblemFacts, budget: Budget, of: Forecasted) -> Self {
        let Forecasted { adjacency, unit, excess, auto, shrinks } = of;
        let (signal, parameters) = (public.signal(), public.shape.len() as f64);
        let more = |z: f64| {
            let gaussian = Gaussian::new(z / excess).ok()?;
            let event = Event::new(gaussian, adjacency, unit, View::Central);
            let mut ledger = Ledger::new();
            ledger.append(event.ok()?);
            let found = epsilon(&ledger, budget.delta()).ok()?.upper;
            (found <= MOST && found > budget.epsilon()).then(|| up(found))
        };
        let noise_dominates = signal < DIM * parameters.sqrt();
        let over_fitting = over_fitting(public, shrinks).filter(|_| auto && !noise_dominates);
        let lacks = noise_dominates || over_fitting.is_some();
        let enough = match over_fitting {
            Some(_) => Enough::over_fitting(public, shrinks),
            None => Enough::signal(public),
        };
        let columns = (enough.columns as usize).saturating_sub(usize::from(public.shape.intercept));
        let gain = if signal < DARK * parameters.sqrt() { 0.0 } else { GAIN };
        // Where nothing is warned of, what there is is enough.
        let needed = up(enough.population);
        UtilityForecast {
            epsilon: budget.epsilon(),
            unit,
            population: public.population,
            columns: public.shape.features,
            signal,
            noise_dominates,
            expected_gain: noise_dominates.then_some(gain),
            over_fitting,
            enough_epsilon: more(enough.noise).filter(|_| lacks),
            enough_columns: (lacks && columns > 0 && columns < public.shape.features)
                .then_some(columns),
            enough_population: if lacks { needed } else { needed.min(public.population as f64) },
        }
    }

    /// A warning where little is to be expected: why, and what would help.
    pub fn warning(&self) -> Option<String> {
        let UtilityForecast { epsilon, unit, population, columns, .. } = self;
        let at = format!(
            "with {population} {} and {columns} columns at epsilon = {epsilon}",
            unit.plural()
        );
        let help = self.help();
        if let Some(cost) = self.over_fitting {
            return Some(format!(
                "Few {} for so many columns: {at} those that say nothing cost a model about {cost:.2} of log loss, \
                 and where the others do not gain more than that it is worse than a constant. What would help: \
                 {help}.",
                unit.plural()
            ));
        }
        if !self.noise_dominates {
            return None;
        }
        let expect = match self.expected_gain {
            Some(gain) if gain > 0.0 => {
                format!(
                    "the expected gain over a constant is below {:.0} % of its loss",
                    gain * 100.0
                )
            }
            _ => "nothing better than a constant is to be expected".to_owned(),
        };
        Some(format!("Noise will dominate: {at} {expect}. What would help: {help}."))
    }

    /// What would be enough, in words.
    fn help(&self) -> String {
        let mut help: Vec<String> = Vec::new();
        help.extend(self.enough_epsilon.map(|e| format!("an epsilon of at least {e}")));
        help.extend(self.enough_columns.map(|count| match count {
            1 => "a single column".to_owned(),
            many => format!("at most {many} columns"),
        }));
        help.push(format!("at least {} {}", self.enough_population, self.unit.plural()));
        help.join(", or ")
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
        forecast(population, features, whole_budget, (true, true))
    }

    fn forecast(
        population: u64,
        features: usize,
        whole_budget: f64,
        (auto, shrinks): (bool, bool),
    ) -> UtilityForecast {
        let shape = Shape { features, outputs: 1, intercept: true };
        let bounds = (1.0, 1.0, 0.25);
        let (row_norm, lipschitz, smoothness) = bounds;
        let numeric = false;
        let public = ProblemFacts {
            shape,
            population,
            row_norm,
            constant: 0.0,
            numeric,
            logistic: !numeric,
            lipschitz,
            smoothness,
            whole_budget,
        };
        let budget = Budget::new(0.1, 1e-5).unwrap();
        let (adjacency, unit) = (Adjacency::AddRemove, Unit::Record);
        let of = Forecasted { adjacency, unit, excess: 1.0, auto, shrinks };
        UtilityForecast::new(&public, budget, of)
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
            assert_eq!(needs_more, found.warning().is_some(), "{population}: {found:?}");
            assert!(needs_more || found.enough_epsilon.is_none());
        }
    }

    /// Of cells that were measured, where noise does not dominate: at (1, 1e-5) z₁ is about 3.7.
    #[test]
    fn little_signal_for_each_column_follows_noise() {
        let found = outlook(600, 61, 3.7);
        assert!(!found.noise_dominates);
        let cost = found.over_fitting.unwrap();
        assert!((cost - 0.3 * (62.0 * 3.7 / 600.0_f64).powi(2)).abs() < 1e-9, "{cost}");
        let warning = found.warning().unwrap();
        for word in ["600 records and 61 columns", "about 0.04 of log loss", "at most 28 columns"] {
            assert!(warning.contains(word), "{warning}");
        }
        // What is advised is enough, and little less is not.
        let enough = found.enough_population as u64;
        assert_eq!(outlook(enough, 61, 3.7).over_fitting, None);
        assert!(outlook(enough * 9 / 10, 61, 3.7).over_fitting.is_some());
        // With hardly any signal it grows no more.
        assert_eq!(outlook(1_000, 40, 30.0).over_fitting, Some(0.1));
        // Few records are no reason where there is hardly any noise.
        assert_eq!(outlook(400, 61, 1.0).over_fitting, None);
        // Not where it was not measured: few columns, steps in the table's coordinates, another algorithm.
        assert_eq!(outlook(60, 19, 2.0).over_fitting, None);
        assert_eq!(outlook(20_000, 8_000, 10.0).over_fitting, None);
        assert_eq!(forecast(600, 61, 3.7, (false, true)).over_fitting, None);
    }

    /// Standard errors, a recalibration, weights and constraints leave scores as wide as they are.
    #[test]
    fn without_shrinkage_few_records_for_each_column_follow_chance() {
        let plain = |population, z| forecast(population, 61, z, (true, false));
        let cost = plain(600, 3.7).over_fitting.unwrap();
        assert!((cost - (62.0 / 1200.0 + 62.0 * 3.7 / 2400.0)).abs() < 1e-9, "{cost}");
        assert!(
            plain(400, 1.0).over_fitting.is_some() && outlook(400, 61, 1.0).over_fitting.is_none()
        );
        let enough = plain(600, 3.7).enough_population as u64;
        assert_eq!(plain(enough, 3.7).over_fitting, None);
        assert!(plain(enough * 9 / 10, 3.7).over_fitting.is_some());
    }

    #[test]
    fn advice_is_rounded_up() {
        assert_eq!([up(0.612), up(3907.0), up(10.0), up(0.0)], [0.62, 4000.0, 10.0, 0.0]);
    }
}

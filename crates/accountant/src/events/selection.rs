//! The best of K runs, K random: what choosing a hyper-parameter costs (Papernot–Steinke 2022).
//!
//! One run costs D_α. With K from the truncated negative binomial law with shape η > −1 and
//! parameter γ (Thm. 2), for every second order β ≥ 1: D'_α ≤ D_α + (1+η)(1−1/β) D_β + (1+η)
//! ln(1/γ)/β + ln(E K)/(α−1). With K Poisson of mean m (Thm. 6): if the run is (ε̂, δ̂)-private
//! with e^ε̂ ≤ 1 + 1/(α−1), the outputs of K ≥ 1 runs add at most M = m e^{(α−1)(D_α + m δ̂)} to
//! exp((α−1)D'_α). "No run at all" is an output as well and adds p₀ = e^{−m}, which the usual form
//! of the theorem leaves out: D'_α ≤ ln(p₀ + M)/(α−1), and with K = 0 drawn again D'_α ≤
//! ln(M/(1−p₀))/(α−1). Proof note: `proofs/selection.md`.

use super::checked::{out_of_range, positive};
use super::{Curve, EventCost, EventError, Mechanism};
use crate::outward::{Upper, at_least};
use crate::special::log_add;
use crate::tally::Tally;
use crate::vocabulary::Adjacency;
use crate::{gdp, rdp};
use serde::{Deserialize, Serialize};

/// The law of the number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "law", deny_unknown_fields)]
pub enum Repetitions {
    /// η = 1 is geometric, η = 0 logarithmic; γ in (0, 1), smaller means more runs.
    TruncatedNegativeBinomial {
        /// The shape η of the distribution, greater than −1.
        eta: f64,
        /// The parameter γ of the distribution, in (0, 1).
        gamma: f64,
    },
    /// A Poisson number of runs (none at all is possible, and must then release nothing but that).
    Poisson {
        /// Expected number of runs.
        mean: f64,
    },
    /// A Poisson number of runs, drawn again until it is not 0.
    PositivePoisson {
        /// The mean before that.
        rate: f64,
    },
}

impl Repetitions {
    /// Expected number of runs.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Repetitions::Poisson { mean } => mean,
            Repetitions::PositivePoisson { rate } => rate / -(-rate).exp_m1(),
            Repetitions::TruncatedNegativeBinomial { eta: 0.0, gamma } => {
                (1.0 / gamma - 1.0) / -gamma.ln()
            }
            Repetitions::TruncatedNegativeBinomial { eta, gamma } => {
                eta * (1.0 - gamma) / (gamma * -(eta * gamma.ln()).exp_m1())
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSelection {
    run: Vec<(Mechanism, u64)>,
    repetitions: Repetitions,
}

/// The best of a random number of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawSelection")]
pub struct Selection {
    run: Vec<(Mechanism, u64)>,
    repetitions: Repetitions,
}

const KIND: &str = "selection";

impl TryFrom<RawSelection> for Selection {
    type Error = EventError;
    fn try_from(raw: RawSelection) -> Result<Self, EventError> {
        if raw.run.is_empty() {
            return Err(out_of_range(KIND, "run", 0, "at least one mechanism"));
        }
        match raw.repetitions {
            Repetitions::Poisson { mean } => positive(KIND, "mean", mean)?,
            Repetitions::PositivePoisson { rate } => positive(KIND, "rate", rate)?,
            Repetitions::TruncatedNegativeBinomial { eta, gamma } => {
                // plain: a check of what was given, which NaN does not pass
                if !(eta > -1.0 && eta.is_finite()) {
                    return Err(out_of_range(KIND, "eta", eta, "a finite number greater than -1"));
                }
                // plain: a check of what was given, which NaN does not pass
                if !(gamma > 0.0 && gamma < 1.0) {
                    return Err(out_of_range(KIND, "gamma", gamma, "in (0, 1)"));
                }
            }
        }
        Ok(Self { run: raw.run, repetitions: raw.repetitions })
    }
}

impl Selection {
    /// `run`: what one run does, with counts; `repetitions`: the law of the number of runs.
    ///
    /// # Errors
    /// When the run is empty or the law's parameters are out of range.
    pub fn new(run: Vec<(Mechanism, u64)>, repetitions: Repetitions) -> Result<Self, EventError> {
        Self::try_from(RawSelection { run, repetitions })
    }

    /// The mechanisms that one run uses, each with how often.
    #[must_use]
    pub fn run(&self) -> &[(Mechanism, u64)] {
        &self.run
    }

    /// The law of the number of runs.
    #[must_use]
    pub fn repetitions(&self) -> Repetitions {
        self.repetitions
    }
}

impl std::fmt::Display for Selection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the best of a random number of runs, {:.3} expected", self.repetitions.mean())
    }
}

impl EventCost for Selection {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn check(&self, adjacency: Adjacency) -> Result<(), EventError> {
        self.run.iter().try_for_each(|(mechanism, _)| mechanism.check(adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let tally = Tally::new(adjacency, self.run.iter().cloned());
        if tally.failure() != 0.0 {
            return None;
        }
        let curve = tally.rdp()?;
        match self.repetitions {
            Repetitions::TruncatedNegativeBinomial { eta, gamma } => {
                let mean = self.repetitions.mean();
                // The second order is free: its best value serves every first order.
                let extra =
                    rdp::minimise(|beta| (1.0 - 1.0 / beta) * curve(beta) - gamma.ln() / beta)
                        .value();
                Some(Box::new(move |order| {
                    at_least(curve(order) + (1.0 + eta) * extra + mean.ln() / (order - 1.0), 0.0)
                }))
            }
            Repetitions::Poisson { mean } => {
                let some = poisson(tally.gdp(), curve, mean);
                Some(Box::new(move |order| {
                    at_least(log_add(-mean, (order - 1.0) * some(order)) / (order - 1.0), 0.0)
                }))
            }
            Repetitions::PositivePoisson { rate } => {
                let (some, none) = (poisson(tally.gdp(), curve, rate), (-rate).exp_m1());
                Some(Box::new(move |order| {
                    at_least(some(order) - (-none).ln() / (order - 1.0), 0.0)
                }))
            }
        }
    }
}

/// Thm. 6: what the outputs of one run or more cost, ln(M)/(α−1) above; it may be negative where m
/// is below 1.
fn poisson(mu: Option<f64>, curve: impl Fn(f64) -> f64 + 'static, mean: f64) -> Curve {
    // A run that is exactly Gaussian has its δ̂ in closed form. For another any order gives a sound
    // δ̂, so its curve, which may be dear, is computed once, at the orders of the sweep.
    let sweep: Vec<_> = match mu {
        Some(_) => Vec::new(),
        None => rdp::sweep().map(|beta| (beta, curve(beta))).collect(),
    };
    Box::new(move |order| {
        // A hair below, so that e^ε̂ ≤ 1 + 1/(α−1) whatever the rounding.
        let epsilon = (1.0 / (order - 1.0)).ln_1p() * (1.0 - 4.0 * f64::EPSILON);
        let delta = match mu {
            Some(mu) => gdp::delta(mu, epsilon).1.value(),
            None => sweep
                .iter()
                .map(|&(beta, value)| Upper::new(rdp::log_delta_tight(beta, value, epsilon)))
                .fold(Upper::new(0.0), Upper::least)
                .value()
                .exp(),
        };
        curve(order) + mean * delta + mean.ln() / (order - 1.0)
    })
}

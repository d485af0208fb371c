//! `reticent calibrate`: the smallest noise (or the most steps, or the largest rate) that fits a
//! budget.

use clap::{Args, ValueEnum};
use reticent::Scope;
use reticent::accountant::{Bound, Ledger, Method, View, calibrate};
use reticent::internal::accountant::{calibrate_rate, calibrate_steps};
use reticent::internal::seldom_drawn;
use serde::Serialize;

use super::account::{BoundFields, ScopeFields, without_delta};
use crate::answer::Answer;
use crate::event_text::{ledger, mechanism, sampled};
use crate::failure::CommandFailure;
use crate::layout::wrapped;
use crate::number;
use crate::progress::waiting;
use crate::promise_flags::PromiseFlags;

/// More steps than anybody makes; the search needs an end.
const MOST_STEPS: u64 = 1_000_000_000;

#[derive(Debug, Args)]
pub struct Calibrate {
    #[command(flatten)]
    promise: PromiseFlags,

    /// What to find
    #[arg(long, value_enum, default_value_t = Find::Noise)]
    find: Find,

    /// The number of steps, unless it is to be found
    #[arg(long, default_value_t = 1, value_parser = number::times, allow_negative_numbers = true)]
    steps: u64,

    /// The sampling of records: full, poisson:RATE or wor:SIZE/POPULATION; not if the rate is to be found
    #[arg(long)]
    sampling: Option<String>,

    /// The noise multiplier (noise over the clip of a record), unless it is to be found
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, required_if_eq_any([("find", "steps"), ("find", "rate")]))]
    noise_multiplier: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Find {
    /// The smallest noise multiplier
    Noise,
    /// The largest number of steps
    Steps,
    /// The largest Poisson sampling rate
    Rate,
}

/// What was found.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum FoundSetting {
    NoiseMultiplier(f64),
    Steps(u64),
    Rate(f64),
}

/// What was found, and what it costs.
#[derive(Serialize)]
struct CalibratedPlan {
    #[serde(flatten)]
    found: FoundSetting,
    epsilon: BoundFields,
    delta: f64,
    method: Method,
    #[serde(flatten)]
    scope: ScopeFields,
}

impl Calibrate {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        waiting("searching", || self.search())
    }

    fn search(self) -> Result<Answer, CommandFailure> {
        let z = self.noise_multiplier.unwrap_or(1.0);
        let PromiseFlags { epsilon: most, delta, .. } = self.promise;
        if delta == 0.0 {
            return Err(without_delta("Gaussian noise has"));
        }
        // What cannot be planned at all is wrong usage, not a budget that is too small.
        self.plan(z, self.steps, self.sampling.as_deref())?;
        let (found, what, epsilon, ledger) = match self.find {
            Find::Noise => {
                let plan = |z: f64| self.plan(z, self.steps, self.sampling.as_deref());
                let found = calibrate(most, delta, plan)?;
                let z = found.noise_multiplier;
                let what = format!("a noise multiplier of {z}");
                (FoundSetting::NoiseMultiplier(z), what, found.epsilon, plan(z)?)
            }
            Find::Steps => {
                let plan = |steps: u64| self.plan(z, steps, self.sampling.as_deref());
                let found = calibrate_steps(most, delta, MOST_STEPS, plan)?;
                let steps = found.steps;
                (FoundSetting::Steps(steps), format!("{steps} steps"), found.epsilon, plan(steps)?)
            }
            Find::Rate => {
                let plan = |rate: f64| self.plan(z, self.steps, Some(&format!("poisson:{rate}")));
                let found = calibrate_rate(most, delta, 1.0, plan)?;
                let rate = found.rate;
                let what = format!("a sampling rate of {rate}");
                (FoundSetting::Rate(rate), what, found.epsilon, plan(rate)?)
            }
        };
        let Bound { lower, upper, method } = epsilon;
        let scope = self.scope();
        let plan = CalibratedPlan {
            found,
            epsilon: (&epsilon).into(),
            delta,
            method,
            scope: scope.into(),
        };
        let text = wrapped(&format!(
            "{what} fits: ε is at most {upper:.6} at δ = {:e} (by {method}; no analysis of all that \
             was released can give less than {lower:.6}), {} neighbours, {} level.",
            delta, scope.adjacency, scope.unit
        ));
        let remarks = seldom_drawn(&ledger, delta, scope.unit).into_iter().collect();
        Ok(Answer { remarks, ..Answer::of(text, &plan) })
    }

    fn plan(&self, z: f64, steps: u64, sampling: Option<&str>) -> Result<Ledger, CommandFailure> {
        let gaussian = mechanism(&format!("gaussian:z={z}"))?;
        ledger(sampled(gaussian, sampling)?, steps, self.scope())
    }

    fn scope(&self) -> Scope {
        self.promise.neighbours.scope(View::Central)
    }
}

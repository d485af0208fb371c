//! Probabilities that are brought in line with what happens, by two numbers that a share of the
//! budget buys (docs/calibration.md).
//!
//! ```text
//! log-odds  s ↦ a·s + c      the slope a and the shift c of Platt's recalibration
//! ```
//!
//! They start at (1, 0) and take [`ROUNDS`] Newton steps by what the gate answers about the model's
//! own log-odds ([`LogOddsLine`]). Each derivative is shrunk by what its noise, whose size is public,
//! may have put there: where noise hides the answer, the model stays as it is. The line is then part
//! of the coefficients, so that whatever uses the model needs nothing else.

use reticent_oracle::queries::LogOddsLine;
use reticent_oracle::{Oracle, Refusal};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::objective::Objective;

/// Questions, each with an even part of the share.
const ROUNDS: usize = 2;

/// Log-odds beyond this count as it: probabilities from 1.8 to 98.2 % are told apart.
const MOST: f64 = 4.0;

/// A derivative below so many variances of its noise, in its square, is taken for noise.
const FELT: f64 = 6.0;

/// So many deviations of its noise are added to a second derivative: one that is too small would
/// make a step too long.
const WARY: f64 = 2.0;

/// The largest step: a factor of the slope, and a difference of the shift.
const FACTOR: f64 = 3.0;
const SHIFT: f64 = 2.0;

/// The correction of the log-odds of a model that a share of the budget was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Recalibration {
    /// The share of the budget.
    pub share: f64,
    /// The factor of the log-odds.
    pub slope: f64,
    /// The amount that was added afterwards.
    pub shift: f64,
}

/// Refuses what no recalibration is offered for; `has_others` of a model that was chosen among several, has a
/// learned graph or standard errors.
pub(crate) fn check(share: f64, objective: &Objective, has_others: bool) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::value("calibrate", share, why));
    if !(share > 0.0 && share < 1.0) {
        return refuse("a share of the budget, above 0 and below 1");
    }
    if objective.loss.name() != "logistic" {
        let why = format!(
            "there is none for the loss {}; leave it out, or use logistic for two classes",
            objective.loss.spec()
        );
        return refuse(&why);
    }
    if !objective.loss.weights().is_empty() {
        return refuse(
            "it would take class weights out of the probabilities again; leave one of the two out",
        );
    }
    if has_others {
        return refuse(
            "there is none for a model that was chosen among several, has a learned graph or standard errors; leave one of the two out",
        );
    }
    Ok(())
}

/// Asks about a model, and moves its parameter along the line that was found. `constant` is behind
/// the intercept; without one there is no shift.
pub(crate) fn ask(
    oracle: &mut dyn Oracle,
    constant: Option<f64>,
    (share, noise_multiplier): (f64, f64),
    parameter: &mut [f64],
) -> Result<Recalibration, Refusal> {
    let noise_multiplier = noise_multiplier * (ROUNDS as f64).sqrt();
    let mut line = [1.0, 0.0];
    for _ in 0..ROUNDS {
        let question = LogOddsLine { at: parameter, line, most: MOST, noise_multiplier };
        let deviations = question.deviations(oracle.terms());
        let answer = oracle.ask(&question)?;
        line = moved(line, answer.get(), &deviations, constant.is_some());
    }
    let [slope, shift] = line;
    parameter.iter_mut().for_each(|x| *x *= slope);
    if let (Some(intercept), Some(constant)) = (parameter.last_mut(), constant) {
        *intercept += shift / constant;
    }
    Ok(Recalibration { share, slope, shift })
}

/// A Newton step by noisy derivatives, as far as they are more than noise.
fn moved(line: [f64; 2], answer: &[f64], deviations: &[f64; 5], shifts: bool) -> [f64; 2] {
    let &[ga, gc, haa, hac, hcc] = answer else { return line };
    let felt = |g: f64, deviation: f64| {
        let noise = FELT * deviation * deviation / (g * g);
        g * (1.0 - noise).max(0.0)
    };
    let (ga, gc) = (felt(ga, deviations[0]), felt(gc, deviations[1]));
    let haa = haa.max(0.0) + WARY * deviations[2];
    let hcc = hcc.max(0.0) + WARY * deviations[4];
    let most = 0.95 * (haa * hcc).sqrt();
    let hac = felt(hac, deviations[3]).clamp(-most, most);
    let (gc, hac) = if shifts { (gc, hac) } else { (0.0, 0.0) };
    let determinant = haa * hcc - hac * hac;
    let step = [(hcc * ga - hac * gc) / determinant, (haa * gc - hac * ga) / determinant];
    // What is no number was made up, or is no step.
    if !step.iter().all(|x| x.is_finite()) {
        return line;
    }
    let slope = (line[0] + step[0]).clamp(line[0] / FACTOR, line[0] * FACTOR);
    [slope, line[1] + step[1].clamp(-SHIFT, SHIFT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without noise the steps are Newton's; with nothing but noise the model stays as it is.
    #[test]
    fn a_derivative_that_may_be_noise_moves_nothing() {
        let answer = [0.2, -0.1, 0.5, 0.1, 0.2];
        let [slope, shift] = moved([1.0, 0.0], &answer, &[0.0; 5], true);
        assert!((0.5 * (slope - 1.0) + 0.1 * shift - 0.2).abs() < 1e-12);
        assert!((0.1 * (slope - 1.0) + 0.2 * shift + 0.1).abs() < 1e-12);
        assert_eq!(moved([1.0, 0.0], &answer, &[0.2; 5], true), [1.0, 0.0]);
        let [slope, shift] = moved([1.0, 0.0], &answer, &[0.0; 5], false);
        assert!((slope - 1.4).abs() < 1e-12 && shift == 0.0, "{slope} {shift}");
        for wild in [[f64::NAN; 5], [1e300, -1e300, -1.0, 9.0, 0.0], [0.0; 5]] {
            let [slope, shift] = moved([1.0, 0.0], &wild, &[0.0; 5], true);
            assert!((0.3..=3.0).contains(&slope) && shift.abs() <= 2.0, "{slope} {shift}");
        }
    }
}

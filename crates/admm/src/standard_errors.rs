//! What the coefficients of a population are likely to be, from a few more answers after the run.
//!
//! The parameter of a private run is biased by its clip, its penalty and its end before the
//! optimum, and none of that shows in it. So it is only where this starts: Newton steps on the loss
//! alone, from answers that are not clipped, whose noise is known to the last digit.
//!
//! ```text
//! H̃ = H(v) + N,  g̃ = ∇f(v) + e        v the point, on the coordinates that are kept
//! v ← v − H̃₊⁻¹ g̃                      twice, eigenvalues of H̃ lifted to ν = σ_H √(2p)
//! d = −H̃⁻¹ g̃,  x̂ = v + d              once more, with most of the share
//!
//! Cov x̂ = s²/n̂ H̃⁻¹ + (σ_g² + σ_H²‖d‖²/2) H̃⁻² + σ_H²/2 (H̃⁻¹d)(H̃⁻¹d)ᵀ
//!         sampling       noise of g̃     noise of H̃, which turns and stretches the last step
//! ```
//!
//! `s² = 1` for the logistic loss, whose slopes vary as it is curved where the model is true; for
//! squares it is the mean square of the residual, from one more answer, which the clip of the last
//! gradient follows too: four standard deviations of a residual, times R. N has deviation σ_H on
//! the diagonal and σ_H/√2 beside it, so that `N d` has covariance `σ_H²/2 (‖d‖² I + ddᵀ)`, and its
//! largest eigenvalue is about ν. Where one is a person with several records, sampling moves the
//! mean of theirs no more than it would move one: the intervals are then wider than they need be.
//!
//! Between parties that add the noise the multipliers are those of their sum. Where some of them were away
//! ([`AnsweredBy`]), σ_H and σ_g are those of the scaled sums of the others, and n̂ is what these have.
//!
//! What the intervals rest on is looked at, by released numbers alone:
//!
//! ```text
//! λ_min(H̃) ≥ 2ν                                   else the noise hides a direction
//! ½ ‖d‖²_H/√h̄ ≤ √(tr(H̃ Cov)/p)                    else the last step is too long for a loss that is
//!                                                 not a square; h̄ the mean curvature, from H̃
//! ```
//!
//! All of it is arithmetic on answers; what is asked does not depend on them. Coverage is measured:
//! docs/uncertainty.md.

use reticent_oracle::queries::{ClippedMean, Curvature, Errors, Gradient};
use reticent_oracle::{AnsweredBy, Oracle, Refusal, Sampling};

use crate::basis::eigen;
use crate::settings::ProblemFacts;

/// The parts of the share: curvature and gradient of each of the early steps, those of the last,
/// and the mean square of the residual.
const EARLY: (f64, f64) = (0.1, 0.1);
const LAST: (f64, f64) = (0.3, 0.25);
const SPREAD: f64 = 0.05;

/// Steps before the last.
const STEPS: usize = 2;

/// Eigenvalues of the noise that the least of the curvature is to be.
const CLEAR: f64 = 2.0;

/// The most that the last step may leave, in mean standard errors.
const LEFT: f64 = 1.0;

/// The largest residual within the range of a target, and the part of it that is not clipped in
/// standard deviations.
const RESIDUAL: (f64, f64) = (2.0, 4.0);

/// What is to be estimated, and with how much noise.
#[derive(Clone, Copy, Debug)]
pub struct Inference<'a> {
    /// The public facts.
    pub public: &'a ProblemFacts,
    /// The coordinates that are estimated, the constant behind the intercept last if there is one;
    /// the others are 0.
    pub kept: &'a [usize],
    /// That constant; 0 without an intercept.
    pub constant: f64,
    /// Whether the loss is half a square, and not logistic.
    pub squared: bool,
    /// The noise, in clips, with which one answer would spend the whole share.
    pub noise_multiplier: f64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimated {
    /// The coordinates that were kept, and the covariance of their errors, row-major.
    Found {
        /// The estimates.
        estimate: Vec<f64>,
        /// Their covariance.
        covariance: Vec<f64>,
    },
    /// Why there is nothing to be said, in words for users.
    Hidden(String),
}

/// Answers at a point, on the coordinates that are kept.
struct Looked {
    curvature: Vec<f64>,
    gradient: Vec<f64>,
    /// σ_H and σ_g.
    noise: (f64, f64),
    /// The part of all units that answered, where it is known.
    units: Option<f64>,
}

impl Inference<'_> {
    /// Asks, from a start on the coordinates that are kept.
    ///
    /// # Errors
    /// If the oracle does not answer.
    pub fn ask(&self, oracle: &mut dyn Oracle, start: &[f64]) -> Result<Estimated, Refusal> {
        let mut at = start.to_vec();
        // What a residual can be while the predictions are within the range of the target.
        let slope = if self.squared { RESIDUAL.0 } else { self.public.lipschitz };
        for _ in 0..STEPS {
            let looked = self.look(oracle, &at, slope, EARLY)?;
            // Where the next answers are asked changes no plan, and plans are drawn up many times.
            if oracle.is_rehearsal() {
                continue;
            }
            let moved: Vec<f64> = at.iter().zip(looked.step()).map(|(a, d)| a + d).collect();
            // Numbers that ran away must not end a run that is paid for.
            if moved.iter().all(|v| v.abs() < 1e9) {
                at = moved;
            }
        }
        let (square, slope) = match self.squared {
            true => {
                let square = self.mean_square(oracle, &at)?;
                (square, (RESIDUAL.1 * square.sqrt()).clamp(1e-3, RESIDUAL.0))
            }
            false => (1.0, slope),
        };
        let looked = self.look(oracle, &at, slope, LAST)?;
        if oracle.is_rehearsal() {
            return Ok(Estimated::Hidden("nothing was asked of a table".to_owned()));
        }
        let unknown = || Estimated::Hidden(AnsweredBy::UNKNOWN.to_owned());
        Ok(looked.units.map_or_else(unknown, |part| self.estimated(&at, &looked, square / part)))
    }

    fn noise(&self, part: f64) -> f64 {
        self.noise_multiplier / part.sqrt()
    }

    /// The parameter with zeros where nothing is kept.
    fn whole(&self, at: &[f64]) -> Vec<f64> {
        let mut whole = vec![0.0; self.public.shape.len()];
        self.kept.iter().zip(at).for_each(|(&k, v)| whole[k] = *v);
        whole
    }

    fn look(
        &self,
        oracle: &mut dyn Oracle,
        at: &[f64],
        slope: f64,
        (curvature, gradient): (f64, f64),
    ) -> Result<Looked, Refusal> {
        let ProblemFacts { row_norm, smoothness, population, .. } = *self.public;
        let whole = self.whole(at);
        let noise_multiplier = self.noise(curvature);
        let asked = Curvature { at: &whole, row_norm, most: smoothness, noise_multiplier };
        let deviation = asked.deviation(oracle.terms());
        let matrix = oracle.ask(&asked)?.into_inner();
        let noise_multiplier = self.noise(gradient);
        let clip = slope * row_norm;
        let mean = ClippedMean { clip, noise_multiplier, sampling: Sampling::Full };
        let bent = oracle.answered_by();
        let slopes = oracle.ask(&Gradient { at: &whole, mean })?.into_inner();
        let AnsweredBy { units, noise } = oracle.answered_by();
        let of_slopes = noise * noise_multiplier * clip / population as f64;
        let len = whole.len();
        let entry = |&j: &usize| self.kept.iter().map(move |&k| j * len + k);
        Ok(Looked {
            curvature: self.kept.iter().flat_map(entry).map(|at| matrix[at]).collect(),
            gradient: self.kept.iter().map(|&k| slopes[k]).collect(),
            noise: (deviation * bent.noise, of_slopes),
            units: bent.units.and(units),
        })
    }

    /// The mean square of a residual, as far as it stands out of its noise.
    fn mean_square(&self, oracle: &mut dyn Oracle, at: &[f64]) -> Result<f64, Refusal> {
        let whole = self.whole(at);
        let asked = Errors { at: &whole, noise_multiplier: self.noise(SPREAD) };
        let deviations = asked.deviations(oracle.terms());
        let sums = oracle.ask(&asked)?.into_inner();
        // The last but one is that of d² − ½ with d half a residual; the count is in front of the
        // four where it is private.
        let at = sums.len() - 2;
        let (square, deviation) = (sums[at], deviations[at] * oracle.answered_by().noise);
        let count = if sums.len() > 4 { sums[0].max(1.0) } else { self.public.population as f64 };
        let mean = 4.0 * (square / count + 0.5);
        // In this order: a budget so small that the noise is above all that can be is no error.
        Ok(mean.max(4.0 * deviation / count).min(RESIDUAL.0 * RESIDUAL.0))
    }

    fn estimated(&self, at: &[f64], looked: &Looked, square: f64) -> Estimated {
        let len = at.len();
        let (vectors, values) = eigen(&looked.curvature, len);
        let (clear, least) = (looked.floor(), values.iter().fold(f64::INFINITY, |a, &b| a.min(b)));
        if !(least >= CLEAR * clear && least > 0.0) {
            return Estimated::Hidden(format!(
                "the noise of the curvature ({clear:.1e}) hides its weakest direction ({least:.1e}, and {:.1e} is needed): \
                 a larger budget or share, more records or fewer columns would help",
                CLEAR * clear
            ));
        }
        let inverse = through(&vectors, &values, |value| 1.0 / value);
        let twice = through(&vectors, &values, |value| 1.0 / (value * value));
        let step = times(&inverse, &looked.gradient, -1.0);
        let turned = times(&inverse, &step, 1.0);
        let (curvature_noise, gradient_noise) = looked.noise;
        let length: f64 = step.iter().map(|d| d * d).sum();
        let spread = square / self.public.population as f64;
        let noise = gradient_noise.powi(2) + curvature_noise.powi(2) * length / 2.0;
        let entry = |at: usize| {
            let (j, k) = (at / len, at % len);
            spread * inverse[at]
                + noise * twice[at]
                + curvature_noise.powi(2) / 2.0 * turned[j] * turned[k]
        };
        let covariance: Vec<f64> = (0..len * len).map(entry).collect();
        if let Some(why) = self.too_far(looked, &step, &covariance) {
            return Estimated::Hidden(why);
        }
        let estimate: Vec<f64> = at.iter().zip(&step).map(|(a, d)| a + d).collect();
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !finite(&estimate) || !finite(&covariance) {
            return Estimated::Hidden("the numbers ran away".to_owned());
        }
        Estimated::Found { estimate, covariance }
    }

    /// Whether the last step is too long for the loss to be taken for a square.
    fn too_far(&self, looked: &Looked, step: &[f64], covariance: &[f64]) -> Option<String> {
        if self.squared {
            return None;
        }
        let along = times(&looked.curvature, step, 1.0);
        let square: f64 = along.iter().zip(step).map(|(a, d)| a * d).sum();
        // The mean curvature is on the diagonal, behind the intercept; without one, the trace is at
        // most R² times it.
        let trace = || looked.curvature.iter().step_by(step.len() + 1).sum::<f64>();
        let mean = match self.constant > 0.0 {
            true => looked.curvature.last()? / self.constant.powi(2),
            false => trace() / self.public.row_norm.powi(2),
        };
        let error: f64 = looked.curvature.iter().zip(covariance).map(|(h, c)| h * c).sum();
        let left = 0.5 * square / mean.max(1e-9).sqrt();
        let error = (error / step.len() as f64).sqrt();
        // What is not a number is not within.
        let within = left <= LEFT * error;
        (!within).then(|| {
            format!(
                "the last step is too long to trust ({:.1} standard errors may be left of it): a larger budget or share, \
                 or a model that is nearer to its optimum, would help",
                left / error
            )
        })
    }
}

impl Looked {
    /// ν.
    fn floor(&self) -> f64 {
        self.noise.0 * (2.0 * self.gradient.len() as f64).sqrt()
    }

    /// A step that no noise makes longer than the gradient's own allows.
    fn step(&self) -> Vec<f64> {
        let (vectors, values) = eigen(&self.curvature, self.gradient.len());
        let floor = self.floor();
        times(&through(&vectors, &values, |value| 1.0 / value.max(floor)), &self.gradient, -1.0)
    }
}

/// `V diag(f) Vᵀ`, row-major, of eigenvectors one a row.
fn through(vectors: &[f64], values: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    let len = values.len();
    let mut matrix = vec![0.0; len * len];
    for (vector, &value) in vectors.chunks_exact(len).zip(values) {
        let scale = f(value);
        for (row, a) in matrix.chunks_exact_mut(len).zip(vector) {
            row.iter_mut().zip(vector).for_each(|(entry, b)| *entry += scale * a * b);
        }
    }
    matrix
}

/// A matrix times a vector, times a number.
fn times(matrix: &[f64], vector: &[f64], by: f64) -> Vec<f64> {
    let dot = |row: &[f64]| by * row.iter().zip(vector).map(|(a, b)| a * b).sum::<f64>();
    matrix.chunks_exact(vector.len()).map(dot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::Shape;

    fn public(population: u64) -> ProblemFacts {
        ProblemFacts {
            shape: Shape { features: 1, outputs: 1, intercept: true },
            population,
            row_norm: 1.0,
            constant: 0.0,
            numeric: false,
            logistic: true,
            lipschitz: 1.0,
            smoothness: 0.25,
            whole_budget: 1.0,
        }
    }

    fn inference(public: &ProblemFacts, squared: bool) -> Inference<'_> {
        Inference { public, kept: &[0, 1], constant: 1.0, squared, noise_multiplier: 1.0 }
    }

    #[test]
    fn without_noise_it_is_least_squares_with_its_errors() {
        let looked = Looked {
            curvature: vec![2.0, 0.0, 0.0, 0.5],
            gradient: vec![-1.0, 0.25],
            noise: (0.0, 0.0),
            units: Some(1.0),
        };
        let public = public(100);
        let found = inference(&public, true).estimated(&[0.0, 1.0], &looked, 0.04);
        let Estimated::Found { estimate, covariance } = found else { panic!("{found:?}") };
        assert!((estimate[0] - 0.5).abs() < 1e-12 && (estimate[1] - 0.5).abs() < 1e-12);
        // s²/n over the curvature.
        assert!((covariance[0] - 0.0004 / 2.0).abs() < 1e-15);
        assert!((covariance[3] - 0.0004 / 0.5).abs() < 1e-15 && covariance[1] == 0.0);
    }

    #[test]
    fn noise_is_added_where_it_acts() {
        let looked = Looked {
            curvature: vec![1.0, 0.0, 0.0, 1.0],
            gradient: vec![-0.1, 0.0],
            noise: (0.01, 0.02),
            units: Some(1.0),
        };
        let public = public(1_000_000);
        let found = inference(&public, true).estimated(&[0.0, 0.0], &looked, 0.0);
        let Estimated::Found { covariance, .. } = found else { panic!("{found:?}") };
        // σ_g² + σ_H²‖d‖²/2 on both, and as much again along the step.
        let (own, turned) = (0.02 * 0.02, 0.01 * 0.01 * 0.1 * 0.1 / 2.0);
        assert!((covariance[0] - own - 2.0 * turned).abs() < 1e-12, "{covariance:?}");
        assert!((covariance[3] - own - turned).abs() < 1e-12);
    }

    #[test]
    fn what_noise_hides_and_what_is_too_far_is_said() {
        let public = public(1000);
        let looked = |noise: f64, gradient: f64| Looked {
            curvature: vec![0.2, 0.0, 0.0, 0.2],
            gradient: vec![gradient, 0.0],
            noise: (noise, 0.001),
            units: Some(1.0),
        };
        let inference = inference(&public, false);
        let of = |looked: &Looked| inference.estimated(&[0.0, 0.0], looked, 1.0);
        assert!(matches!(of(&looked(0.01, 0.001)), Estimated::Found { .. }));
        let hidden = |estimated: Estimated, word: &str| match estimated {
            Estimated::Hidden(why) => why.contains(word),
            Estimated::Found { .. } => false,
        };
        assert!(hidden(of(&looked(0.06, 0.001)), "hides its weakest direction"));
        assert!(hidden(of(&looked(0.01, 0.2)), "last step is too long"));
        assert!(hidden(of(&looked(0.0, f64::NAN)), "last step is too long"));
    }
}

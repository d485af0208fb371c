//! `shrinkage`: the scores of a solution are drawn towards their mean, by as much as the gradients
//! that were released say that they are too wide.
//!
//! ```text
//! s = m + t        the score of a row; m the mean of scores, v the variance of t, by the released
//!                  second moment M̃; scores are taken for normal
//! s ↦ m + γ t      γ in [0, 1]; with γ = 0 it is a constant
//!
//! φ  = Σ ω_k ⟨g̃_k, u_k − m_k e⟩      ω_k ∝ k³;  ⟨g, e⟩ the mean slope
//! φ′ = φ − κ Σ ω_k var(t_k − t) + min(3d̃, p)/n̂
//! F(γ) = E[ t·( π_γ max(q − 1, −c) + (1 − π_γ) min(q, c) ) ],   q = σ(m + t),  π_γ = σ(m + γt)
//! γ minimises  (φ′ − F(γ))²/(ν² + (0.02)² v) + (1 − γ)²/τ²,     ν² = σ_g² Σ (ω_k e_k)² ‖u_k − m_k e‖²
//! e_k              the noise of g̃_k over σ_g: 1, but in a sum between parties that some have left
//! ```
//!
//! Why. Noise, the clip and chance among few records make scores wider than they should be, and where
//! the columns say nothing a model is worse than a constant. The slope of the loss along t tells: a
//! point u_k is known before the noise of its gradient is drawn, so that ⟨g̃_k, u_k⟩ is unbiased with
//! noise of a size that is public, and all of the gradients of a run together have the noise of one
//! that spends the whole budget. F is what it would be if the log-odds of the positive class were
//! m + γt, clipped as the gate clips. The points lie around the solution, which adds curvature κ times
//! their spread, and d directions that were fitted to n̂ records have a slope that is d/n̂ too low on
//! those records (Efron 1986, as in Akaike's criterion).
//!
//! Why not by the norm. James and Stein (1961) draw a vector towards a point by 1 − (p − 2)σ²/‖w‖²,
//! which is good where all directions count alike. Rows have few long directions; what is learnt lies
//! along them, and is a tenth of ‖w‖² where it is nearly all of the score: docs/auto.md has what it
//! costs. As there, the part is at least 0 and at most 1: a model is made no bolder.
//!
//! τ is the setting: how far from 1 γ is expected to be. Where ν hides F, γ is near 1 and the solution
//! is what it was. The intercept makes up for the mean score, as far as M̃ knows the mean row.
//!
//! Released: nothing more. All of it is arithmetic on M̃ and the gradients, and asks nothing.
//! References: James and Stein 1961; van Houwelingen and le Cessie 1990, on shrinking the scores of a
//! logistic model by one factor; Efron 1986.

use reticent_oracle::{Refused, Sampling};

use crate::catalogue::Recipe;
use crate::spectrum::Spectrum;

/// What scores may have of variance at least, so that there is something to divide by.
const LEAST_VARIANCE: f64 = 0.02;

/// The square of the constant behind the intercept is no less than this part of R²: it is about a
/// twelfth, and M̃ may have lost it.
const CONSTANT: f64 = 1.0 / 120.0;

/// The clip of a row of mean norm, as a part of the clip of one that is as long as M̃ says: M̃ lacks
/// the directions that its noise hides. Measured.
const CLIP: f64 = 0.8;

/// Directions that are fitted, for each that stands out of the noise. Measured.
const FITTED: f64 = 3.0;

/// What the slope may be wrong by because scores are not normal, in deviations of scores.
const MODEL: f64 = 0.02;

/// Values of γ, and places of a normal score with the distance between them.
const FACTORS: u32 = 200;
const PLACES: i32 = 20;
const APART: f64 = 0.25;

/// The parameters of a shrinkage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShrinkageTerms {
    /// τ.
    spread: f64,
    /// n̂.
    population: f64,
    /// R.
    row_norm: f64,
}

/// What a run has released of the slope along its scores, in the coordinates of the second moment.
#[derive(Debug)]
pub(crate) struct Shrinkage {
    terms: ShrinkageTerms,
    spectrum: Spectrum,
    /// d̃ and p.
    directions: (f64, f64),
    /// The clip of a gradient, and the deviation of its noise.
    clip: f64,
    noise: f64,
    /// The row of √M̃ for the constant, over the length that it has, and that length.
    constant: (Vec<f64>, f64),
    sums: SlopeSums,
}

/// Sums over iterations, each with its weight ω.
#[derive(Debug, Default)]
struct SlopeSums {
    count: f64,
    weight: f64,
    /// ω⟨g̃, u − me⟩, and ω²‖u − me‖².
    slope: f64,
    noise: f64,
    /// ω var(t), and ω times the vector whose square is var(t).
    variance: f64,
    mean: Vec<f64>,
}

/// A point by its scores: their mean over the constant behind the intercept, and a vector whose
/// square is their variance.
struct PointScores {
    mean: f64,
    vector: Vec<f64>,
}

impl Shrinkage {
    /// For gradients with such a clip and such noise, in coordinates of which so many stand out of
    /// the noise.
    pub fn new(
        terms: ShrinkageTerms,
        (spectrum, effective): (Spectrum, f64),
        clip: f64,
        noise: f64,
    ) -> Self {
        let (width, last) = (spectrum.values.len(), spectrum.values.len() - 1);
        let rows = spectrum.vectors.chunks_exact(width);
        let mut row: Vec<f64> =
            rows.zip(&spectrum.values).map(|(row, value)| row[last] * value.sqrt()).collect();
        let length = dot(&row, &row).max(CONSTANT * terms.row_norm.powi(2)).sqrt();
        row.iter_mut().for_each(|entry| *entry /= length);
        Shrinkage {
            terms,
            directions: (effective, width as f64),
            clip,
            noise,
            constant: (row, length),
            sums: SlopeSums { mean: vec![0.0; width], ..SlopeSums::default() },
            spectrum,
        }
    }

    /// A gradient that was released at `u`, both in the coordinates of the basis, with so many times the
    /// noise that was asked for: a public number.
    pub fn add(&mut self, u: &[f64], g: &[f64], times: f64) {
        let Spectrum { values, roots, .. } = &self.spectrum;
        let (along, slopes) = (self.spectrum.turned(u), self.spectrum.turned(g));
        let scaled = along.iter().zip(values).zip(roots).map(|((u, v), r)| u * v.sqrt() / r);
        let scores = self.scores(scaled.collect());
        let width = values.len();
        let last = self.spectrum.vectors.chunks_exact(width).map(|row| row[width - 1]);
        let centred = last.zip(roots).zip(&along).map(|((e, r), u)| u - scores.mean * e * r);
        let centred: Vec<f64> = centred.collect();
        let sums = &mut self.sums;
        sums.count += 1.0;
        let weight = sums.count.powi(3);
        sums.weight += weight;
        sums.slope += weight * dot(&slopes, &centred);
        sums.noise += (weight * times).powi(2) * dot(&centred, &centred);
        sums.variance += weight * dot(&scores.vector, &scores.vector);
        sums.mean.iter_mut().zip(&scores.vector).for_each(|(sum, t)| *sum += weight * t);
    }

    /// `x`, a solution in the coordinates of the table, with its scores drawn together.
    pub fn applied(&self, x: &[f64]) -> Vec<f64> {
        let scaled = self.spectrum.turned(x).into_iter().zip(&self.spectrum.values);
        let scores = self.scores(scaled.map(|(x, value)| x * value.sqrt()).collect());
        let factor = self.factor(&scores);
        let mut shrunk: Vec<f64> = x.iter().map(|x| factor * x).collect();
        if let Some(intercept) = shrunk.last_mut() {
            *intercept += (1.0 - factor) * scores.mean;
        }
        // What ran away does so as it would have.
        if shrunk.iter().all(|x| x.is_finite()) { shrunk } else { x.to_vec() }
    }

    /// From √M̃ times a point, in the coordinates of the eigenvectors.
    fn scores(&self, mut scaled: Vec<f64>) -> PointScores {
        let (row, length) = &self.constant;
        let mean = dot(&scaled, row);
        scaled.iter_mut().zip(row).for_each(|(entry, q)| *entry -= mean * q);
        PointScores { mean: mean / length, vector: scaled }
    }

    /// γ for a solution with these scores; 1 where nothing was seen.
    fn factor(&self, scores: &PointScores) -> f64 {
        let SlopeSums { weight, slope, noise, variance, ref mean, .. } = self.sums;
        if weight == 0.0 {
            return 1.0;
        }
        let own = dot(&scores.vector, &scores.vector);
        let beside = variance / weight - 2.0 * dot(mean, &scores.vector) / weight + own;
        let variance = own.max(LEAST_VARIANCE);
        let (d, p) = self.directions;
        let clip = CLIP * self.clip / d.sqrt();
        let law = ScoreLaw { mean: scores.mean * self.constant.1, deviation: variance.sqrt() };
        let optimism = (FITTED * d).min(p) / self.terms.population;
        let seen = slope / weight - law.curvature() * beside.max(0.0) + optimism;
        let noise = self.noise * noise.sqrt() / weight;
        likely(&law, clip, (seen, noise), self.terms.spread)
    }
}

/// Normal scores.
struct ScoreLaw {
    mean: f64,
    deviation: f64,
}

impl ScoreLaw {
    /// `E h(t)`.
    fn expected(&self, h: impl Fn(f64) -> f64) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for place in -PLACES..=PLACES {
            let z = APART * f64::from(place);
            let weight = (-0.5 * z * z).exp();
            sum += weight * h(self.deviation * z);
            weights += weight;
        }
        sum / weights
    }

    /// κ.
    fn curvature(&self) -> f64 {
        self.expected(|t| {
            let q = logistic(self.mean + t);
            q * (1.0 - q)
        })
    }

    /// F(γ).
    fn slope(&self, factor: f64, clip: f64) -> f64 {
        self.expected(|t| {
            let (q, share) = (logistic(self.mean + t), logistic(self.mean + factor * t));
            t * (share * (q - 1.0).max(-clip) + (1.0 - share) * q.min(clip))
        })
    }
}

/// γ for a slope that was seen with noise of such a deviation.
fn likely(law: &ScoreLaw, clip: f64, (seen, noise): (f64, f64), spread: f64) -> f64 {
    let wrong = noise.powi(2) + (MODEL * law.deviation).powi(2);
    let cost = |factor: f64| {
        (seen - law.slope(factor, clip)).powi(2) / wrong + ((1.0 - factor) / spread).powi(2)
    };
    let (mut best, mut least) = (1.0, cost(1.0));
    // What is not a number is not less.
    for step in (0..FACTORS).rev() {
        let factor = f64::from(step) / f64::from(FACTORS);
        let cost = cost(factor);
        if cost < least {
            (best, least) = (factor, cost);
        }
    }
    best
}

fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Recipe<'_> {
    /// Why scores cannot be drawn together here; `None` where they can.
    pub(crate) fn no_shrinkage(&self) -> Option<&'static str> {
        let Recipe { public, regulariser, .. } = self;
        let zeros = vec![0.0; public.shape.len()];
        let reasons = [
            (!public.logistic, "it is for the logistic loss without class weights"),
            (public.shape.outputs > 1, "it is for one output"),
            (!public.shape.intercept, "it needs an intercept, which it draws scores towards"),
            (self.sampling() != Sampling::Full, "it is for gradients of all records"),
            (
                !regulariser.constraint().is_identity(),
                "it is not for a constraint other than identity",
            ),
            (
                !regulariser.value_at(&zeros).is_finite(),
                "the penalty does not allow coefficients of 0, which it draws them towards",
            ),
        ];
        reasons.into_iter().find(|(applies, _)| *applies).map(|(_, why)| why)
    }

    /// The shrinkage that was asked for; `None` for none. `whitened` is whether steps are taken in
    /// learned coordinates.
    ///
    /// # Errors
    /// A τ that is none, and a problem that it is not for.
    pub(crate) fn shrinkage(&self, whitened: bool) -> Result<Option<ShrinkageTerms>, Refused> {
        let given = self.settings.shrinkage.filter(|spread| *spread != 0.0);
        let Some(spread) = given else { return Ok(None) };
        let refuse = |why: &str| Err(Refused::new("shrinkage", spread, why));
        if !(spread > 0.0 && spread <= 1.0) {
            return refuse("0, or a number above 0 and at most 1, is needed");
        }
        if !whitened {
            return refuse("it needs learned coordinates; give precondition, or leave it out");
        }
        if let Some(why) = self.no_shrinkage() {
            return refuse(&format!("{why}; leave it out"));
        }
        let (population, row_norm) = (self.public.population as f64, self.public.row_norm);
        Ok(Some(ShrinkageTerms { spread, population, row_norm }))
    }
}

impl ShrinkageTerms {
    /// n̂.
    pub fn population(&self) -> f64 {
        self.population
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 6;
    const NOISE: f64 = 0.3;
    const CONST: f64 = 0.4;
    /// As many times the noise as where a quarter of the members has left, twice over.
    const LEFT: f64 = 4.0 / 3.0;

    /// Columns of variance 1, 1/2, 1/3 … beside a constant; coordinates in which all are 1.
    fn shrinkage(spread: f64) -> Shrinkage {
        let last = WIDTH - 1;
        let vectors = (0..WIDTH * WIDTH).map(|at| f64::from(at / WIDTH == at % WIDTH)).collect();
        let value = |j| if j == last { CONST * CONST } else { 1.0 / (j as f64 + 1.0) };
        let values: Vec<f64> = (0..WIDTH).map(value).collect();
        let roots = values.iter().map(|value| value.sqrt()).collect();
        let terms = ShrinkageTerms { spread, population: 1e6, row_norm: 1.6 };
        Shrinkage::new(terms, (Spectrum { vectors, values, roots }, WIDTH as f64), 10.0, NOISE)
    }

    /// Numbers from a normal law, by the sum of twelve uniform ones.
    fn normal(state: &mut u64) -> f64 {
        let uniform = |state: &mut u64| {
            *state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            ((*state ^ (*state >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64
                / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform(state)).sum::<f64>() - 6.0
    }

    fn drawn(state: &mut u64, deviation: f64) -> Vec<f64> {
        (0..WIDTH).map(|_| deviation * normal(state)).collect()
    }

    /// Gradients that are nothing but noise, at points that were drawn before: φ is within four
    /// deviations of 0 and its mean square within four of what ν² says, of 2,000 runs. Each is a false
    /// alarm in 16,000.
    #[test]
    fn the_noise_of_the_slope_is_what_it_is_said_to_be() {
        let mut state = 11;
        let (mut sum, mut square) = (0.0, 0.0);
        for _ in 0..2000 {
            let mut run = shrinkage(0.3);
            for k in 0..8 {
                // Members have left every other sum.
                let times = if k % 2 == 1 { LEFT } else { 1.0 };
                let (u, g) = (drawn(&mut state, 1.0), drawn(&mut state, times * NOISE));
                run.add(&u, &g, times);
            }
            let seen = run.sums.slope / (NOISE * run.sums.noise.sqrt());
            sum += seen;
            square += seen * seen;
        }
        assert!((sum / 2000.0).abs() < 4.0 / 2000_f64.sqrt(), "{sum}");
        assert!((square / 2000.0 - 1.0).abs() < 4.0 * (2.0_f64 / 2000.0).sqrt(), "{square}");
    }

    /// As many gradients as a run has, each with the slope of the law that is said.
    fn after(law: &ScoreLaw, factor: f64, (noise, spread): (f64, f64)) -> f64 {
        likely(law, 0.6, (law.slope(factor, 0.6), noise), spread)
    }

    #[test]
    fn what_is_seen_clearly_is_found_and_what_noise_hides_stays() {
        let law = ScoreLaw { mean: -0.8, deviation: 1.2 };
        for factor in [0.0, 0.4, 0.8, 1.0] {
            assert!((after(&law, factor, (1e-3, 10.0)) - factor).abs() < 0.02, "{factor}");
            assert!(after(&law, factor, (10.0, 0.3)) > 0.99, "{factor}");
            assert!(after(&law, factor, (0.05, 0.3)) >= factor, "{factor}");
        }
        // With plenty of signal scores are too narrow, and stay so.
        assert_eq!(likely(&law, 0.6, (-0.5, 1e-3), 0.3), 1.0);
        assert_eq!(likely(&law, 0.6, (f64::NAN, 1e-3), 0.3), 1.0);
        // Nothing is seen but that scores are too wide.
        assert_eq!(likely(&law, 0.6, (0.5, 1e-3), 0.3), 0.0);
    }

    #[test]
    fn slopes_that_nothing_clips_vanish_where_the_law_is_true() {
        let law = ScoreLaw { mean: 0.5, deviation: 1.5 };
        assert!(law.slope(1.0, 1.0).abs() < 1e-12 && law.slope(0.5, 1.0) > 0.05);
        assert!((law.expected(|t| t * t) - 2.25).abs() < 1e-4);
    }

    /// Scores that are far too wide are drawn to their mean, which stays.
    #[test]
    fn with_nothing_to_learn_a_constant_is_left() {
        let mut run = shrinkage(1.0);
        let point = vec![2.0, -1.0, 1.0, 0.5, 0.0, 0.7];
        let image: Vec<f64> =
            point.iter().zip(&run.spectrum.roots).map(|(x, root)| x * root).collect();
        // The slope of a record whose class is a coin: half of the curvature, along the scores.
        let gradient: Vec<f64> = image.iter().map(|u| 0.5 * u).collect();
        (0..32).for_each(|_| run.add(&image, &gradient, 1.0));
        let shrunk = run.applied(&point);
        assert!(shrunk[..WIDTH - 1].iter().all(|x| x.abs() < 0.5), "{shrunk:?}");
        assert!((shrunk[WIDTH - 1] - 0.7).abs() < 1e-12, "no column has a mean: {shrunk:?}");
    }

    #[test]
    fn nothing_and_what_ran_away_stay_what_they_are() {
        let mut run = shrinkage(0.3);
        let point = vec![2.0, -1.0, 1.0, 0.5, 0.0, 0.7];
        assert_eq!(run.applied(&point), point, "nothing was seen");
        run.add(&point, &[f64::NAN; WIDTH], 1.0);
        assert_eq!(run.applied(&point), point);
        let away = [f64::INFINITY; WIDTH];
        assert_eq!(run.applied(&away), away);
        let mut run = shrinkage(0.3);
        run.add(&[0.0; WIDTH], &[0.1; WIDTH], 1.0);
        assert_eq!(run.applied(&[0.0; WIDTH]), [0.0; WIDTH]);
    }
}

//! `shrinkage`: the scores of a solution are drawn towards those of a constant, by as much as the
//! gradients that were released say that they are too wide.
//!
//! ```text
//! s = m + t        the score of a row; m the mean of scores, v the variance of t, by the released
//!                  second moment M̃ and the constant behind the intercept; scores are taken for normal
//! s ↦ γ t + m(γ) + γ² (m − m(1))      γ in [0, 1]; with γ = 0 it is the constant m(0)
//!
//! m(γ) the mean with which E σ(γ t + m(γ)) is the share of the classes, by the mean slopes; early
//!      gradients count more
//! φ  = Σ ω_k ⟨g̃_k, u_k − m_k e⟩      ω_k ∝ k;  ⟨g, e⟩ the mean slope
//! F(γ)             what φ would be if the log-odds of the classes were γ t + m(γ) of the solution,
//!                  clipped as the gate clips (see score_law.rs), less min(3d̃, p)/n̂
//! L(γ) = exp( −(φ − F(γ))² / 2(ν² + (0.05)² (Σ ω_k κ_k v_k)²) ),   ν² = σ_g² Σ (ω_k e_k)² ‖u_k − m_k e‖²
//! γ  = min( 1, E γ ),   γ beforehand N(1, τ²), but of one table in ten N(0, τ²); in [0, 2]
//! e_k              the noise of g̃_k over σ_g: 1, but in a sum between parties that some have left
//! ```
//!
//! Why. Noise, the clip and chance among few records make scores wider than they should be, and where
//! the columns say nothing a model is worse than a constant. The slope of the loss along t tells: a
//! point u_k is known before the noise of its gradient is drawn, so that ⟨g̃_k, u_k⟩ is unbiased with
//! noise of a size that is public, and all of the gradients of a run together have the noise of one
//! that spends the whole budget. With ω_k ∝ k early ones count nearly as much as they know. A direction
//! that was fitted to n̂ records has a slope that is 1/n̂ too low on those records (Efron 1986, as in
//! Akaike's criterion). κ_k v_k is the slope at u_k where columns say nothing.
//!
//! Why two laws beforehand. Of a normal one around 1 a γ of 0 is 1/τ deviations away, which slopes must
//! make up for before they are believed. Most tables have columns that say something, and some have
//! none: then γ is 0 and nothing between, and one in ten costs a factor of ten. What is taken is the
//! mean and not the likeliest, as the loss is about a parabola in γ. Values above 1 keep the mean of a
//! slope with noise, of which half is too low, at 1; a model is made no bolder.
//!
//! Why another mean. With the share m(γ) is known for every γ, and F falls in γ: a mean between m and
//! m(0) has the wrong share where scores are wide, and two values of γ look alike. Where one class is rare its slopes are the long ones, and clipped, so that the
//! mean score is off by up to 0.7: more than what t costs. Early points are near 0, where slopes are a
//! half and hardly clipped.
//!
//! Why not by the norm. James and Stein (1961) draw a vector towards a point by 1 − (p − 2)σ²/‖w‖²,
//! which is good where all directions count alike. Rows have few long directions; what is learnt lies
//! along them, and is a tenth of ‖w‖² where it is nearly all of the score: docs/auto.md has what it
//! costs. As there, the part is at least 0 and at most 1.
//!
//! τ is the setting: how far from 1 γ is expected to be. Where ν hides F, γ is near 1 and the solution
//! is about what it was.
//!
//! Released: nothing more. All of it is arithmetic on M̃ and the gradients, and asks nothing.
//! References: James and Stein 1961; van Houwelingen and le Cessie 1990, on shrinking the scores of a
//! logistic model by one factor; Mitchell and Beauchamp 1988, on a prior of two parts; Efron 1986.

use reticent_oracle::{Refused, Sampling};

use crate::catalogue::Recipe;
use crate::score_law::{ClassLaw, ScoreLaw, likely_share, mean_of_share};
use crate::spectrum::Spectrum;

/// What scores may have of variance at least, so that there is something to divide by.
const LEAST_VARIANCE: f64 = 0.02;

/// The square of the constant behind the intercept in M̃ is no less than this part of what it is: M̃ may
/// have lost it.
const LOST: f64 = 0.1;

/// The clip of a row of mean norm along the scores, as a part of the clip of one that is as long as M̃
/// says: M̃ lacks the directions that its noise hides. Measured.
const CLIP: f64 = 0.8;

/// Directions that are fitted, for each that stands out of the noise. Measured.
const FITTED: f64 = 3.0;

/// What the slope may be wrong by because scores are not normal, as a part of what it is where columns
/// say nothing. Measured.
const MODEL: f64 = 0.05;

/// Of how many tables the columns say nothing.
const NOTHING: f64 = 0.1;

/// How many gradients are early ones.
const EARLY: f64 = 8.0;

/// Values of γ from 0 to 1, and as many above.
const FACTORS: u32 = 40;

/// Points that are kept; neighbours are put together where there are more.
const POINTS: usize = 64;

/// The parameters of a shrinkage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShrinkageTerms {
    /// τ.
    spread: f64,
    /// n̂.
    population: f64,
    /// The constant behind the intercept.
    constant: f64,
}

/// What a run has released of the slopes along its scores, in the coordinates of the second moment.
#[derive(Debug)]
pub(crate) struct Shrinkage {
    terms: ShrinkageTerms,
    spectrum: Spectrum,
    /// d̃ and p.
    directions: (f64, f64),
    /// The clip of a gradient, and the deviation of its noise.
    clip: f64,
    noise: f64,
    /// √M̃ times the constant, over its length, and e in the coordinates of a gradient.
    row: Vec<f64>,
    level: Vec<f64>,
    count: u64,
    seen: Vec<SeenPoint>,
}

/// The scores of a point: their mean, and a vector whose square is their variance.
#[derive(Clone, Debug)]
struct PointScores {
    mean: f64,
    vector: Vec<f64>,
}

/// A point that a gradient was released at, or several that were put together.
#[derive(Debug)]
struct SeenPoint {
    along: Slope,
    level: Slope,
    scores: PointScores,
    variance: f64,
}

/// Slopes with their weights: Σω, Σω times the slope, and the square of its noise over that of a
/// gradient's entry.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    weight: f64,
    sum: f64,
    noise: f64,
}

impl Slope {
    fn new(weight: f64, slope: f64, noise: f64) -> Self {
        Slope { weight, sum: weight * slope, noise: (weight * noise).powi(2) }
    }

    fn and(self, other: Self) -> Self {
        Slope {
            weight: self.weight + other.weight,
            sum: self.sum + other.sum,
            noise: self.noise + other.noise,
        }
    }
}

impl SeenPoint {
    /// Both, with the scores of their mean.
    fn and(mut self, other: Self) -> Self {
        let along = self.along.and(other.along);
        let part = other.along.weight / along.weight;
        let towards = |a: &mut f64, b: f64| *a += part * (b - *a);
        towards(&mut self.variance, other.variance);
        towards(&mut self.scores.mean, other.scores.mean);
        let pairs = self.scores.vector.iter_mut().zip(&other.scores.vector);
        pairs.for_each(|(a, b)| towards(a, *b));
        SeenPoint { along, level: self.level.and(other.level), ..self }
    }

    fn law(&self) -> ScoreLaw {
        ScoreLaw { mean: self.scores.mean, deviation: self.variance.sqrt() }
    }
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
        let constants = spectrum.constants();
        let mut row: Vec<f64> =
            constants.iter().zip(&spectrum.values).map(|(e, value)| e * value.sqrt()).collect();
        let length = dot(&row, &row).max(LOST * terms.constant.powi(2)).sqrt();
        row.iter_mut().for_each(|entry| *entry /= length);
        Shrinkage {
            terms,
            directions: (effective, constants.len() as f64),
            clip,
            noise,
            row,
            level: constants.iter().zip(&spectrum.roots).map(|(e, root)| e * root).collect(),
            count: 0,
            seen: Vec::new(),
            spectrum,
        }
    }

    /// A gradient that was released at `u`, both in the coordinates of the basis, with so many times the
    /// noise that was asked for: a public number.
    pub fn add(&mut self, u: &[f64], g: &[f64], times: f64) {
        let (along, slopes) = (self.spectrum.turned(u), self.spectrum.turned(g));
        let x: Vec<f64> =
            along.iter().zip(&self.spectrum.roots).map(|(u, root)| u / root).collect();
        let scores = self.scores(&x);
        let constant = self.terms.constant;
        let centre = scores.mean / constant;
        let centred = along.iter().zip(&self.level).map(|(u, e)| u - centre * e);
        let centred: Vec<f64> = centred.collect();
        let length = |vector: &[f64]| times * dot(vector, vector).sqrt();
        let k = self.count as f64 + 1.0;
        self.count += 1;
        self.seen.push(SeenPoint {
            along: Slope::new(k, dot(&slopes, &centred), length(&centred)),
            level: Slope::new(
                (k + EARLY).powi(-2),
                dot(&slopes, &self.level) / constant,
                length(&self.level) / constant,
            ),
            variance: dot(&scores.vector, &scores.vector),
            scores,
        });
        if self.seen.len() > POINTS {
            let mut points = std::mem::take(&mut self.seen).into_iter();
            while let Some(point) = points.next() {
                self.seen.push(match points.next() {
                    Some(next) => point.and(next),
                    None => point,
                });
            }
        }
    }

    /// `x`, a solution in the coordinates of the table, with its scores drawn together.
    pub fn applied(&self, x: &[f64]) -> Vec<f64> {
        if self.seen.is_empty() {
            return x.to_vec();
        }
        let scores = self.scores(&self.spectrum.turned(x));
        let share = self.share();
        let factor = self.factor(&scores, share);
        let mut shrunk: Vec<f64> = x.iter().map(|x| factor * x).collect();
        if let Some(intercept) = shrunk.last_mut() {
            let deviation = dot(&scores.vector, &scores.vector).sqrt();
            let centre = |factor: f64| mean_of_share(share, factor * deviation);
            // All of the way for a constant, none for a solution that stays as it is.
            let mean = centre(factor) + factor.powi(2) * (scores.mean - centre(1.0));
            *intercept += (mean - factor * scores.mean) / self.terms.constant;
        }
        // What ran away does so as it would have.
        if shrunk.iter().all(|x| x.is_finite()) { shrunk } else { x.to_vec() }
    }

    /// The scores of a point in the coordinates of the eigenvectors.
    fn scores(&self, x: &[f64]) -> PointScores {
        let constant = self.terms.constant;
        let (mut mean, mut intercept, mut square) = (0.0, 0.0, 0.0);
        for ((x, value), e) in x.iter().zip(&self.spectrum.values).zip(self.spectrum.constants()) {
            mean += x * value * e;
            intercept += x * e;
            square += e * value * e;
        }
        // The constant times itself is public, whatever M̃ has of it.
        mean += intercept * (constant.powi(2) - square);
        let scaled = x.iter().zip(&self.spectrum.values).map(|(x, value)| x * value.sqrt());
        let mut vector: Vec<f64> = scaled.collect();
        let part = dot(&vector, &self.row);
        vector.iter_mut().zip(&self.row).for_each(|(entry, q)| *entry -= part * q);
        PointScores { mean: mean / constant, vector }
    }

    /// The clip of a row of mean norm.
    fn clip(&self) -> f64 {
        self.clip / self.directions.0.sqrt()
    }

    /// The share of the classes.
    fn share(&self) -> f64 {
        let (mut share, mut noise, mut weight) = (0.0, 0.0, 0.0);
        for point in &self.seen {
            let Slope { weight: own, sum, noise: square } = point.level;
            let (found, each) = point.law().share(sum / own, self.clip());
            share += own * found;
            noise += square * each.powi(2);
            weight += own;
        }
        let least = 0.5 / self.terms.population;
        let share = likely_share(share / weight, self.noise * noise.sqrt() / weight);
        share.clamp(least.min(0.5), 1.0 - least.min(0.5))
    }

    /// γ for a solution with these scores.
    fn factor(&self, scores: &PointScores, share: f64) -> f64 {
        let (d, p) = self.directions;
        let optimism = (FITTED * d).min(p) / self.terms.population;
        let own = dot(&scores.vector, &scores.vector).max(LEAST_VARIANCE);
        let clip = CLIP * self.clip();
        let (mut slope, mut noise, mut wrong, mut weight) = (0.0, 0.0, 0.0, 0.0);
        for point in &self.seen {
            slope += point.along.sum;
            noise += point.along.noise;
            wrong += point.along.weight * point.law().curvature() * point.variance;
            weight += point.along.weight;
        }
        let expected = |factor: f64| -> f64 {
            let mean = mean_of_share(share, factor * own.sqrt());
            let of = |point: &SeenPoint| {
                let shared = dot(&point.scores.vector, &scores.vector);
                let variance = point.variance.max(f64::MIN_POSITIVE);
                let rest = factor.powi(2) * (own - shared.powi(2) / variance).max(0.0);
                let classes = ClassLaw { mean, factor: factor * shared / variance, rest };
                point.along.weight * point.law().slope(&classes, clip)
            };
            self.seen.iter().map(of).sum::<f64>() / weight - optimism
        };
        let square = self.noise.powi(2) * noise + (MODEL * wrong).powi(2);
        let deviation = square.sqrt().max(f64::MIN_POSITIVE) / weight;
        let found = mean_factor(self.terms.spread, |factor| {
            (slope / weight - expected(factor)) / deviation
        });
        // What is not a number says nothing.
        if found.is_finite() { found } else { 1.0 }
    }
}

/// `min(1, E γ)`, where γ is so many deviations from what was seen.
fn mean_factor(spread: f64, far: impl Fn(f64) -> f64) -> f64 {
    let factors: Vec<f64> =
        (0..=2 * FACTORS).map(|step| f64::from(step) / f64::from(FACTORS)).collect();
    let misses: Vec<f64> = factors.iter().map(|factor| far(*factor).powi(2)).collect();
    let least = misses.iter().fold(f64::INFINITY, |least, miss| least.min(*miss));
    let beforehand = |around: f64| {
        let law = factors.iter().map(|factor| (-0.5 * ((factor - around) / spread).powi(2)).exp());
        let law: Vec<f64> = law.collect();
        let sum: f64 = law.iter().sum();
        law.into_iter().map(move |weight| weight / sum)
    };
    let (mut sum, mut weights) = (0.0, 0.0);
    let laws = beforehand(0.0).zip(beforehand(1.0));
    for ((factor, miss), (nothing, something)) in factors.iter().zip(&misses).zip(laws) {
        let weight =
            (NOTHING * nothing + (1.0 - NOTHING) * something) * (-0.5 * (miss - least)).exp();
        sum += weight * factor;
        weights += weight;
    }
    let mean = sum / weights;
    if mean > 1.0 { 1.0 } else { mean }
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
        let (population, constant) = (self.public.population as f64, self.public.constant);
        Ok(Some(ShrinkageTerms { spread, population, constant }))
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
    use crate::score_law::logistic;

    const WIDTH: usize = 6;
    const NOISE: f64 = 0.3;
    const CONST: f64 = 0.4;
    /// As many times the noise as where a quarter of the members has left, twice over.
    const LEFT: f64 = 4.0 / 3.0;

    /// Columns of variance 1, 1/2, 1/3 … beside a constant; coordinates in which all are 1.
    fn shrinkage(spread: f64, noise: f64) -> Shrinkage {
        let last = WIDTH - 1;
        let vectors = (0..WIDTH * WIDTH).map(|at| f64::from(at / WIDTH == at % WIDTH)).collect();
        let value = |j| if j == last { CONST * CONST } else { 1.0 / (j as f64 + 1.0) };
        let values: Vec<f64> = (0..WIDTH).map(value).collect();
        let roots = values.iter().map(|value| value.sqrt()).collect();
        let terms = ShrinkageTerms { spread, population: 1e6, constant: CONST };
        Shrinkage::new(terms, (Spectrum { vectors, values, roots }, WIDTH as f64), 10.0, noise)
    }

    /// The constant is public: a mean score does not hang on what M̃ has left of it.
    #[test]
    fn the_mean_score_is_known_where_noise_hides_the_constant() {
        let mut run = shrinkage(0.3, NOISE);
        run.spectrum.values[WIDTH - 1] *= 0.3;
        let mean = run.scores(&run.spectrum.turned(&[0.0, 0.0, 0.0, 0.0, 0.0, 2.0])).mean;
        assert!((mean - 2.0 * CONST).abs() < 1e-12, "{mean}");
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

    /// A point in the coordinates of the basis.
    fn image(run: &Shrinkage, point: &[f64]) -> Vec<f64> {
        point.iter().zip(&run.spectrum.roots).map(|(x, root)| x * root).collect()
    }

    /// Gradients that are nothing but noise, at points that were drawn before: φ is within four
    /// deviations of 0 and its mean square within four of what ν² says, of 2,000 runs. Each is a false
    /// alarm in 16,000. So it is where points are put together.
    #[test]
    fn the_noise_of_the_slope_is_what_it_is_said_to_be() {
        let mut state = 11;
        for gradients in [8, POINTS + 9] {
            let (mut sum, mut square) = (0.0, 0.0);
            for _ in 0..2000 {
                let mut run = shrinkage(0.3, NOISE);
                for k in 0..gradients {
                    // Members have left every other sum.
                    let times = if k % 2 == 1 { LEFT } else { 1.0 };
                    let (u, g) = (drawn(&mut state, 1.0), drawn(&mut state, times * NOISE));
                    run.add(&u, &g, times);
                }
                let all = run.seen.iter().fold(Slope::default(), |sum, point| sum.and(point.along));
                let seen = all.sum / (NOISE * all.noise.sqrt());
                sum += seen;
                square += seen * seen;
            }
            assert!((sum / 2000.0).abs() < 4.0 / 2000_f64.sqrt(), "{sum}");
            assert!((square / 2000.0 - 1.0).abs() < 4.0 * (2.0_f64 / 2000.0).sqrt(), "{square}");
        }
    }

    #[test]
    fn what_is_seen_clearly_is_found_and_what_noise_hides_stays() {
        let after = |truth: f64, noise: f64| mean_factor(0.3, |factor| (factor - truth) / noise);
        for truth in [0.0, 0.4, 0.8, 1.0] {
            assert!((after(truth, 1e-2) - truth).abs() < 0.03, "{truth}");
            assert!(after(truth, 100.0) > 0.85, "{truth}");
        }
        // With plenty of signal scores are too narrow, and stay so.
        assert_eq!(after(1.5, 1e-2), 1.0);
        // Nothing is seen but that scores are too wide.
        assert!(after(-3.0, 1e-2) < 1e-12);
        assert!(mean_factor(0.3, |_| f64::NAN).is_nan());
    }

    /// The scores of a solution where 32 gradients were those of classes that are coins of such a share,
    /// and its intercept said so too little.
    fn coins(share: f64, scale: f64) -> (Vec<f64>, f64) {
        let mut run = shrinkage(0.3, 1e-3);
        let start = [2.0, -1.0, 1.0, 0.5, 0.0, 0.0];
        let mut point: Vec<f64> = start.iter().map(|x| scale * x).collect();
        for k in 1..=32 {
            point[WIDTH - 1] = -1.5 * f64::from(k) / 32.0;
            // The slopes of normal scores without a clip, in directions that they do not tell apart.
            let (u, mean) = (image(&run, &point), CONST * point[WIDTH - 1]);
            let law = run.scores(&run.spectrum.turned(&point));
            let deviation = dot(&law.vector, &law.vector).sqrt();
            let law = ScoreLaw { mean: law.mean, deviation };
            assert!((law.mean - mean).abs() < 1e-12);
            let along = law.expected(|t, q| t * q) / deviation.powi(2).max(1e-9);
            let mut gradient: Vec<f64> = u.iter().map(|u| along * u).collect();
            gradient[WIDTH - 1] = law.expected(|_, q| q - share);
            run.add(&u, &gradient, 1.0);
        }
        let shrunk = run.applied(&point);
        (shrunk, point[0])
    }

    /// A solution that is the truth, of which one class is rare and scores are wide. With a mean between that of the
    /// scores and the log-odds of the share two factors looked alike, and it was shrunk to 0.85.
    #[test]
    fn a_true_model_of_a_rare_class_stays() {
        for (intercept, scale) in [(-10.0, 1.5), (-5.0, 0.7), (0.0, 1.0)] {
            let mut run = shrinkage(0.3, 1e-3);
            let mut truth: Vec<f64> =
                [2.0, -1.0, 1.0, 0.5, 0.0, 0.0].iter().map(|x| scale * x).collect();
            truth[WIDTH - 1] = intercept;
            let whole = run.scores(&run.spectrum.turned(&truth));
            let deviation = dot(&whole.vector, &whole.vector).sqrt();
            for k in 1..=32 {
                let part = f64::from(k) / 32.0;
                let point: Vec<f64> = truth.iter().map(|x| part * x).collect();
                let law = ScoreLaw { mean: part * whole.mean, deviation: part * deviation };
                let classes = ClassLaw { mean: whole.mean, factor: 1.0 / part, rest: 0.0 };
                let along = law.slope(&classes, 1.0) / law.deviation.powi(2);
                let u = image(&run, &point);
                let mut gradient: Vec<f64> = u.iter().map(|u| along * u).collect();
                gradient[WIDTH - 1] =
                    law.expected(|t, q| q - crate::score_law::logistic(whole.mean + t / part));
                run.add(&u, &gradient, 1.0);
            }
            let shrunk = run.applied(&truth);
            for (shrunk, x) in shrunk.iter().zip(&truth) {
                assert!((shrunk - x).abs() <= 0.02 * x.abs() + 1e-9, "{shrunk} for {x}");
            }
        }
    }

    /// The slopes are a few hundredths, as those of a model that follows chance among its records: with
    /// one normal law around 1 a quarter or more of such scores was left.
    #[test]
    fn columns_that_say_nothing_leave_a_constant() {
        for share in [0.5, 0.3, 0.1] {
            let (shrunk, first) = coins(share, 0.2);
            assert!(shrunk[0].abs() < 0.1 * first, "{share}: {shrunk:?}");
            let found = logistic(CONST * shrunk[WIDTH - 1]);
            assert!((found - share).abs() < 0.02, "the share is {share}, and not {found}");
        }
    }

    #[test]
    fn many_gradients_say_what_few_say() {
        let of = |count: usize| {
            let mut run = shrinkage(0.3, 0.05);
            let point = vec![1.0, -0.5, 0.5, 0.25, 0.0, 0.7];
            let u = image(&run, &point);
            let gradient: Vec<f64> = u.iter().map(|u| 0.1 * u).collect();
            (0..count).for_each(|_| run.add(&u, &gradient, (count as f64 / 32.0).sqrt()));
            run.applied(&point)
        };
        let (few, many) = (of(32), of(10_000));
        assert!(few.iter().zip(&many).all(|(a, b)| (a - b).abs() < 0.05), "{few:?} {many:?}");
    }

    #[test]
    fn nothing_and_what_ran_away_stay_what_they_are() {
        let mut run = shrinkage(0.3, NOISE);
        let point = vec![2.0, -1.0, 1.0, 0.5, 0.0, 0.7];
        assert_eq!(run.applied(&point), point, "nothing was seen");
        run.add(&point, &[f64::NAN; WIDTH], 1.0);
        assert_eq!(run.applied(&point), point);
        let away = [f64::INFINITY; WIDTH];
        assert_eq!(run.applied(&away), away);
        let mut run = shrinkage(0.3, NOISE);
        run.add(&[0.0; WIDTH], &[0.1; WIDTH], 1.0);
        assert_eq!(run.applied(&[0.0; WIDTH])[..WIDTH - 1], [0.0; WIDTH - 1]);
    }
}

//! What a method without momentum is set to when nobody said, from public quantities: one rule for
//! all of them.
//!
//! ```text
//! n̂ the public number of units   z₁ the noise of one answer that spends the whole budget   s = n̂/z₁   d parameters
//!
//! T = s/4, from 20 to 400                             steps of 1/L from all records, nothing clipped
//! where s is below 2√d                                T = s/4 · s/(2√d)
//! a sample that needs e steps to see everybody        N = T√e steps; s is √N·b/z where that is less,
//!                                                     b the size of a sample and z its calibrated noise
//! two classes, a loss that is not the logistic one    T·4S/L, where that is more
//! more steps than the time allows                     shorter ones, so that their time is what is allowed
//! slow steps, of which no more than M are affordable  M steps of T/M times the length
//! a partial derivative a step                         sweeps for a time of 2T/(c√d), clipped at c = ¼ of the bound
//! variance reduction                                  T/m loops of m steps, m as far as noise lets x go from x̃,
//!                                                     and at most b²/(10·d·z²), z that of a correction
//! ```
//!
//! Why. T answers that share a budget have √T times the noise of one, so the noise of T steps of
//! length η is that of a walk of ηT·z₁/n̂ clips: what must be chosen is the time ηT, and however it
//! is cut into steps, the noise is the same. In directions that the loss has hardly curved by then,
//! the noise of a score is about ηL·T/s times the scale of the loss; a quarter is little enough.
//! The noise of small samples is not that of everybody: a step has z/b clips, where z is seldom below
//! 1 whatever the budget is. The chance of the draw lies along the rows, where the loss is curved: it
//! does not add up over steps as noise does, and steps on samples are short, so nothing is set aside
//! for it.
//! The noise of a correction is in proportion to the distance from the snapshot, which it makes
//! longer: m steps of 1/L multiply the distance by about exp(m·d(z/b)²/2), so m must be short where
//! samples are small, however large the budget is.
//! Where the gradient does not stand out of its noise, which is s/√d of it, a quarter is too much:
//! the less there is to be learnt the shorter the way, and a model with hardly any budget is the one
//! of zeros and not one of noise.
//!
//! Everything is in units of 1/L and of the largest gradient: a table in other units gives the same
//! model in them.

use crate::catalogue::Recipe;

/// The clip of a method that cannot afford the whole bound, as a part of it: the derivative of a
/// classification loss is far below its bound for all but the records on the wrong side.
pub(crate) const CLIP: f64 = 0.25;

/// The noise of a score, in scales of the loss, that a run may end with.
const NOISE: f64 = 0.25;

/// The signal for each √d below which a gradient is mostly noise.
const FAINT: f64 = 2.0;

/// Fewer steps have not begun, and more are time and no accuracy.
const STEPS: (f64, f64) = (20.0, 400.0);

/// How much longer coordinates may go on than a gradient with their noise: measured, as their steps
/// are held back by the heaviest column. For a number, whose clip is no bound, no longer.
const SWEEP: f64 = 2.0;

/// The length of a correction in clips over a run, and the part of the budget that corrections get
/// at least.
const CORRECTION: f64 = 1.0 / 3.0;
const CORRECTIONS: f64 = 0.25;

/// How far, in clips, noise may have taken the gradient at x from that at the snapshot: what a
/// correction's bound is over a run without noise.
const DRIFT: f64 = 1.0 / 3.0;

/// What m·d(z/b)² of a loop may come to; measured, as the curvature of the loss holds x back too.
const GROWTH: f64 = 0.1;

/// The time that the noise allows for so much signal and so many parameters, in steps of 1/L; what is
/// below 1 is the length of one.
pub fn time(signal: f64, parameters: usize) -> f64 {
    paced(NOISE, signal, parameters)
}

/// The same at a rate of `pace` for each unit of signal.
fn paced(pace: f64, signal: f64, parameters: usize) -> f64 {
    let clear = signal / (FAINT * (parameters as f64).sqrt());
    pace * signal * clear.min(1.0)
}

/// How far, in steps, so many steps of loops go: one that starts from the average of the last goes
/// half as far.
pub(crate) fn ahead(steps: f64, restarts: bool) -> f64 {
    if restarts { 0.5 * steps } else { steps }
}

/// Loops of variance reduction, and the steps of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopLengths {
    pub outer: u64,
    pub inner: u64,
}

/// The noise of a snapshot and of a correction, in clips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopNoises {
    pub snapshot: f64,
    pub correction: f64,
}

/// Sweeps through the coordinates, and the factor on the length of their steps.
pub(crate) struct CoordinateSweeps {
    pub count: u64,
    pub shorter: f64,
}

impl Recipe<'_> {
    /// T, in steps of 1/L.
    fn time(&self) -> f64 {
        self.time_of(self.public.signal()).clamp(STEPS.0, STEPS.1)
    }

    /// What the noise of so many answers leaves of s, of which a sample needs `per_epoch` to see
    /// everybody. Of all records it is s. A sample of b has z/b for each answer, at the z that it is
    /// calibrated to: small samples cost more than their square.
    pub(crate) fn walked(&self, steps: f64, per_epoch: f64) -> f64 {
        let (whole, z) = (self.public.signal(), self.noise_multiplier);
        if per_epoch <= 1.0 || z == 0.0 {
            return whole;
        }
        whole.min(steps.sqrt() * self.sample(per_epoch) / z)
    }

    /// The size of a sample that is seen `per_epoch` times.
    fn sample(&self, per_epoch: f64) -> f64 {
        self.public.population as f64 / per_epoch.max(1.0)
    }

    /// The time that a signal allows.
    fn time_of(&self, signal: f64) -> f64 {
        self.public.reach() * paced(NOISE, signal, self.public.shape.len())
    }

    /// The length in 1/L of so many steps on a sample that is seen `per_epoch` times: the noise may
    /// allow less time than that of steps of 1/L. A published version has the paper's step.
    pub(crate) fn step_length(&self, steps: f64, per_epoch: f64) -> f64 {
        if self.as_published() {
            return 1.0;
        }
        (self.time_of(self.walked(steps, per_epoch)) / steps).min(1.0)
    }

    /// The same for loops, `restarts` or not, by the noise of their snapshots and of their
    /// corrections, in clips.
    pub(crate) fn loop_length(
        &self,
        LoopLengths { outer, inner }: LoopLengths,
        noises: LoopNoises,
        per_epoch: f64,
        restarts: bool,
    ) -> f64 {
        let (population, steps) = (self.public.population as f64, outer as f64 * inner as f64);
        let ahead = ahead(steps, restarts);
        let LoopNoises { snapshot, correction } = noises;
        if self.as_published() || snapshot == 0.0 {
            return self.step_length(ahead, 1.0);
        }
        let snapshots = snapshot / (population * (outer as f64).sqrt());
        let drawn = CORRECTION * correction / (self.sample(per_epoch) * steps.sqrt());
        let signal = snapshots.hypot(drawn).recip();
        (self.time_of(signal.min(self.public.signal())) / ahead).min(1.0)
    }

    /// The noise, in clips, of so many answers about a sample that have their part of the budget: by
    /// the central limit theorem for sampled Gaussians (Bu et al. 2020), at whichever adjacency.
    pub(crate) fn least_correction(&self, steps: f64, per_epoch: f64) -> f64 {
        let z1 = self.public.whole_budget;
        let plain = CORRECTIONS * (2.0 * per_epoch.max(1.0) / z1).powi(2) / steps;
        2.0 / plain.ln_1p().sqrt()
    }

    /// Steps of 1/L, for a sample that is seen `per_epoch` times: one of a fraction q costs about q
    /// of what everything costs, and 1/q² steps of it about as much as one.
    pub(crate) fn plain_steps(&self, per_epoch: f64) -> u64 {
        (self.time() * per_epoch.max(1.0).sqrt()).round() as u64
    }

    /// The length in 1/L of so many steps of a method that is stable at any length, on a sample that
    /// is seen `per_epoch` times; none is longer than the longest time in the `usual` number.
    pub(crate) fn length(&self, steps: f64, usual: f64, per_epoch: f64) -> f64 {
        if self.as_published() {
            return (self.time() / usual).max(1.0);
        }
        (self.time_of(self.walked(steps, per_epoch)) / steps).min(STEPS.1 / usual)
    }

    /// Sweeps through the coordinates, clipped at [`CLIP`] of the bound, no more than `most`, and
    /// how much shorter than `step`/L each of their steps is to be. A sweep is d answers, so that
    /// its noise is √d times that of one gradient.
    pub(crate) fn sweeps(&self, step: f64, most: f64) -> CoordinateSweeps {
        let allowed = self.swept(self.public.signal());
        let sweeps = (allowed.clamp(STEPS.0, STEPS.1) / step).clamp(1.0, most).round();
        CoordinateSweeps { count: sweeps as u64, shorter: (allowed / STEPS.0).min(1.0) }
    }

    /// How much shorter the steps of so many sweeps of `step`/L are to be on a sample that is seen
    /// `per_epoch` times, where they are so many answers in all: their time is what its noise allows.
    pub(crate) fn sweep_length(&self, sweeps: f64, step: f64, answers: f64, per_epoch: f64) -> f64 {
        (self.swept(self.walked(answers, per_epoch)) / (sweeps * step)).min(1.0)
    }

    /// The time that a signal allows for sweeps.
    fn swept(&self, signal: f64) -> f64 {
        let sweep = if self.public.numeric { 1.0 } else { SWEEP };
        let d = self.public.shape.len();
        self.public.reach() * paced(sweep * NOISE / (CLIP * (d as f64).sqrt()), signal, d)
    }

    /// Loops and inner steps m of variance reduction, m at most 2n/b, which is LS22's, or `few`
    /// where that is more. After m steps from a snapshot with noise of √(T/m)·z₁ clips, x is about
    /// m√(T/m)·√d/s clips, in gradients, from where it would be: the bound of a correction grows with
    /// that distance and its noise with the bound, so m must be short where there is little signal,
    /// and where the noise of a correction is much of its bound.
    pub(crate) fn loops(
        &self,
        inner: Option<u64>,
        few: f64,
        per_epoch: f64,
        restarts: bool,
    ) -> LoopLengths {
        let (time, d) = (self.time(), self.public.shape.len() as f64);
        let far = (DRIFT * self.public.signal()).powi(2) / (time * d);
        let noise = self.least_correction(time, per_epoch);
        let steady = GROWTH * (self.sample(per_epoch) / noise).powi(2) / d;
        let most = (2.0 * per_epoch).max(few).min(steady);
        let inner = inner.unwrap_or_else(|| far.min(most).max(1.0) as u64);
        let outer = (time / ahead(inner.max(1) as f64, restarts)).ceil() as u64;
        LoopLengths { outer, inner }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use reticent_problem::{Regulariser, Shape, penalties};

    use super::*;
    use crate::public::ProblemFacts;
    use crate::settings::Settings;

    /// w8a, and what one answer that spends ε = 0.2, 1 and 4 at δ = 1e-5 has of noise, about.
    fn with_w8a<T>(whole_budget: f64, noise: f64, ask: impl Fn(&Recipe<'_>) -> T) -> T {
        let shape = Shape { features: 300, outputs: 1, intercept: false };
        let regulariser = Arc::new(Regulariser::plain(penalties::parse("none").unwrap(), shape));
        let public = ProblemFacts {
            shape,
            population: 40_000,
            row_norm: 4.0,
            constant: 0.0,
            numeric: false,
            logistic: true,
            lipschitz: 1.0,
            smoothness: 0.25,
            whole_budget,
        };
        ask(&Recipe {
            settings: &Settings::default(),
            public: &public,
            regulariser: &regulariser,
            noise_multiplier: noise,
        })
    }

    /// With loops of hundreds of steps on samples of 20 more budget gave worse models (w8a: a log
    /// loss of .123, .144 and .146). m·d(z/b)² is what one loop multiplies noise by.
    #[test]
    fn loops_on_small_samples_are_short_however_large_the_budget_is() {
        for whole_budget in [18.0, 3.7, 1.2] {
            with_w8a(whole_budget, 1.0, |recipe| {
                let LoopLengths { inner, .. } = recipe.loops(None, 10.0, 2000.0, false);
                assert!(inner <= 2, "{inner}");
            });
        }
        // Of samples of a tenth the noise is small beside the bound.
        with_w8a(1.2, 1.0, |recipe| {
            let LoopLengths { outer, inner } = recipe.loops(None, 10.0, 10.0, false);
            assert!(inner > 2 && outer * inner >= 400, "{outer} {inner}");
        });
    }

    /// The chance of the draw was taken for noise, so that ε from 1 to 4 made no step longer.
    #[test]
    fn steps_on_samples_grow_as_their_noise_falls() {
        let length = |noise| with_w8a(1.2, noise, |recipe| recipe.step_length(20_000.0, 2000.0));
        assert!((length(0.5) / length(1.0) - 2.0).abs() < 1e-9, "{}", length(0.5));
        let swept = |noise| with_w8a(1.2, noise, |recipe| recipe.sweep_length(20.0, 8.0, 6e3, 2e3));
        assert!(swept(2.0) < swept(1.0) && swept(1.0) <= 1.0, "{}", swept(1.0));
    }
}

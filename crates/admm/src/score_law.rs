//! The law of scores: what clipped slopes say of the classes behind normal scores.
//!
//! ```text
//! s = m + t,  t normal        the score of a row at a point;  q = σ(s) what the model says of its class
//! b + a t                     the log-odds of the class that the row has
//!
//! slope along t       E[ t·( π max(q − 1, −c) + (1 − π) min(q, c) ) ],   π = E[ σ(b + a t + rest) | t ]
//! mean slope          the same without t: where rows say nothing, (1 − π) E min(q, c) − π E min(1 − q, c)
//! ```
//!
//! The rest is the part of the log-odds that t does not tell, normal too, by MacKay's approximation
//! E σ(x + rest) ≈ σ( x/√(1 + π·var(rest)/8) ) (1992). A share that was seen with noise is its mean
//! given what was seen, uniform beforehand: of all numbers that one has the least log loss.

use std::f64::consts::PI;

/// Places of a normal score, and the distance between them.
const PLACES: i32 = 8;
const APART: f64 = 0.5;

/// Places of a share, and the deviations to either side that they are in.
const SHARES: u32 = 200;
const WIDE: f64 = 6.0;

/// How often the reach of a mean is halved.
const HALVINGS: u32 = 44;

/// Normal scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreLaw {
    pub mean: f64,
    pub deviation: f64,
}

/// Log-odds of a class beside scores: their mean, how many times t they are, and the variance that t
/// does not tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassLaw {
    pub mean: f64,
    pub factor: f64,
    pub rest: f64,
}

impl ScoreLaw {
    /// `E h(t, q)`.
    pub fn expected(&self, h: impl Fn(f64, f64) -> f64) -> f64 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for place in -PLACES..=PLACES {
            let z = APART * f64::from(place);
            let weight = (-0.5 * z * z).exp();
            let t = self.deviation * z;
            sum += weight * h(t, logistic(self.mean + t));
            weights += weight;
        }
        sum / weights
    }

    /// The mean curvature of the loss.
    pub fn curvature(&self) -> f64 {
        self.expected(|_, q| q * (1.0 - q))
    }

    /// The slope along t.
    pub fn slope(&self, classes: &ClassLaw, clip: f64) -> f64 {
        let narrow = (1.0 + classes.rest * PI / 8.0).sqrt();
        self.expected(|t, q| {
            let share = logistic((classes.mean + classes.factor * t) / narrow);
            t * (share * (q - 1.0).max(-clip) + (1.0 - share) * q.min(clip))
        })
    }

    /// The share of a class that has such a mean slope where rows say nothing, and how much of it a
    /// slope is.
    pub fn share(&self, slope: f64, clip: f64) -> (f64, f64) {
        let (low, high) =
            (self.expected(|_, q| q.min(clip)), self.expected(|_, q| (1.0 - q).min(clip)));
        ((low - slope) / (low + high), 1.0 / (low + high))
    }
}

/// The mean of a share that was seen with normal noise of such a deviation.
pub(crate) fn likely_share(seen: f64, noise: f64) -> f64 {
    let nearest = seen.clamp(0.0, 1.0);
    let reach = WIDE * noise;
    let (low, high) = ((nearest - reach).max(0.0), (nearest + reach).min(1.0));
    let (mut sum, mut weights) = (0.0, 0.0);
    for place in 0..SHARES {
        let share = low + (high - low) * (f64::from(place) + 0.5) / f64::from(SHARES);
        let far = (share - seen).powi(2) - (nearest - seen).powi(2);
        let weight = if noise > 0.0 { (-0.5 * far / noise.powi(2)).exp() } else { 1.0 };
        sum += weight * share;
        weights += weight;
    }
    sum / weights
}

/// The mean of normal scores of such a deviation whose classes have this share, between 0 and 1.
pub(crate) fn mean_of_share(share: f64, deviation: f64) -> f64 {
    let reach = (1.0 + deviation) * (WIDE + (share / (1.0 - share)).ln().abs());
    let (mut low, mut high) = (-reach, reach);
    for _ in 0..HALVINGS {
        let mean = 0.5 * (low + high);
        let found = ScoreLaw { mean, deviation }.expected(|_, q| q);
        if found < share { low = mean } else { high = mean }
    }
    0.5 * (low + high)
}

pub(crate) fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORES: ScoreLaw = ScoreLaw { mean: 0.5, deviation: 1.5 };

    fn classes(factor: f64) -> ClassLaw {
        ClassLaw { mean: SCORES.mean, factor, rest: 0.0 }
    }

    #[test]
    fn slopes_that_nothing_clips_vanish_where_the_law_is_true() {
        assert!(SCORES.slope(&classes(1.0), 1.0).abs() < 1e-12);
        assert!(SCORES.slope(&classes(0.5), 1.0) > 0.05);
        assert!(SCORES.slope(&classes(1.5), 1.0) < -0.02);
        assert!((SCORES.expected(|t, _| t * t) - 2.25).abs() < 1e-3);
    }

    /// What t does not tell makes classes less certain: in the limit they are coins.
    #[test]
    fn log_odds_that_scores_do_not_tell_are_averaged() {
        let of = |rest| SCORES.slope(&ClassLaw { rest, ..classes(1.0) }, 1.0);
        let coins = SCORES.slope(&ClassLaw { mean: 0.0, factor: 0.0, rest: 0.0 }, 1.0);
        assert!(of(1.0) > 0.0 && (of(1e12) - coins).abs() < 1e-5);
    }

    #[test]
    fn a_share_is_found_from_clipped_slopes() {
        let share = 0.2;
        for clip in [0.3, 0.5, 2.0] {
            let slope =
                SCORES.expected(|_, q| share * (q - 1.0).max(-clip) + (1.0 - share) * q.min(clip));
            let (found, each) = SCORES.share(slope, clip);
            assert!((found - share).abs() < 1e-12 && each >= 1.0, "{clip}: {found} {each}");
        }
    }

    #[test]
    fn a_mean_is_found_from_a_share() {
        for (mean, deviation) in [(0.0, 0.0), (-1.5, 0.0), (-4.0, 4.0), (2.0, 0.5), (-6.0, 9.0)] {
            let share = ScoreLaw { mean, deviation }.expected(|_, q| q);
            let found = mean_of_share(share, deviation);
            assert!((found - mean).abs() < 1e-9, "{mean} {deviation}: {found}");
        }
    }

    #[test]
    fn a_share_with_noise_is_inside_and_one_without_is_itself() {
        assert!((likely_share(0.3, 1e-6) - 0.3).abs() < 1e-6);
        assert!((likely_share(0.3, 0.0) - 0.3).abs() < 1e-12);
        assert!((likely_share(0.3, 1e6) - 0.5).abs() < 1e-6);
        for seen in [-3.0, -0.01, 1.01, 7.0] {
            let found = likely_share(seen, 0.05);
            assert!(found > 0.0 && found < 1.0 && (found - seen.clamp(0.0, 1.0)).abs() < 0.05);
        }
    }
}

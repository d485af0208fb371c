//! A second accountant, for tests only: the true privacy profile of a composition, as an interval.
//!
//! It shares no code with the crate and no method with its numeric composition. Note:
//! `proofs/second-accountant.md`.

pub mod atoms;
pub mod cases;
pub mod complex;
pub mod contour;
pub mod crude;
pub mod lattice;
pub mod loss;
pub mod moments;
pub mod normal;

use loss::Law;

/// ln of a probability, between two ends.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub fn around(value: f64, error: f64) -> Self {
        Self { low: value - error, high: (value + error).min(0.0) }
    }

    fn meet(self, other: Self) -> Self {
        // A δ of 0 is found before anything is summed; here it would be a sum that lost all it had.
        let high = if other.high == f64::NEG_INFINITY { 0.0 } else { other.high };
        Self { low: self.low.max(other.low), high: self.high.min(high) }
    }

    /// Where two computations are both right they overlap; if they do not, one of them is wrong.
    pub fn consistent(&self) -> bool {
        self.low <= self.high
    }

    fn join(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    pub fn width(&self) -> f64 {
        if self.high == f64::NEG_INFINITY { 0.0 } else { self.high - self.low }
    }
}

/// One direction of one pair of neighbours: all Gaussian events as Σμ², the other laws with counts,
/// and ln of the probability that no event fails altogether.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub gaussian: f64,
    pub laws: Vec<(Law, f64)>,
    pub ln_kept: f64,
}

/// Wider than this, more methods are tried.
const PRECISE: f64 = 1e-6;

/// Values of an integrand that a contour may take, at first and at last.
const BUDGETS: [f64; 2] = [2e5, 1.5e6];

impl Case {
    /// ln δ(ε) of this direction. The computation goes on until the interval is narrow, or leaves
    /// out every value that is asked about.
    pub fn ln_delta(&self, epsilon: f64, asked: &[f64]) -> Interval {
        // δ = f + (1 − f)δ'.
        let failed = (-self.ln_kept.exp_m1()).ln();
        let with = |x: f64, slack: f64| normal::ln_add(failed, self.ln_kept + x) + slack;
        let outer = |x: &Interval| {
            if self.ln_kept == 0.0 {
                *x
            } else {
                Interval { low: with(x.low, -1e-13), high: with(x.high, 1e-13).min(0.0) }
            }
        };
        let decided = |x: &Interval| {
            let x = outer(x);
            !asked.is_empty() && asked.iter().all(|asked| *asked < x.low || *asked > x.high)
        };
        outer(&self.without_failure(epsilon, decided))
    }

    fn without_failure(&self, epsilon: f64, decided: impl Fn(&Interval) -> bool) -> Interval {
        let zero = Interval { low: f64::NEG_INFINITY, high: f64::NEG_INFINITY };
        if self.laws.is_empty() {
            return if self.gaussian > 0.0 {
                normal::gaussian(self.gaussian.sqrt(), epsilon)
            } else {
                zero
            };
        }
        if self.gaussian == 0.0 && contour::largest(&self.laws) <= epsilon {
            return zero;
        }
        if let Some(exact) = atoms::delta(self, epsilon).or_else(|| crude::single(self, epsilon)) {
            return exact;
        }
        let saddle = contour::Saddle::of(self, epsilon);
        let mut answer = contour::chernoff(self, epsilon, &saddle);
        let enough = |x: &Interval| x.width() <= PRECISE || decided(x);
        if enough(&answer) {
            return answer;
        }
        answer = answer.meet(contour::delta(self, epsilon, &saddle, BUDGETS[0]));
        if !enough(&answer) {
            answer = answer.meet(crude::some_event(self, epsilon));
        }
        if !enough(&answer) {
            answer = answer.meet(lattice::delta(self, epsilon, &saddle, &decided));
        }
        if !enough(&answer) {
            answer = answer.meet(contour::delta(self, epsilon, &saddle, BUDGETS[1]));
        }
        answer
    }
}

/// Both directions of a pair: the larger δ counts.
#[derive(Clone, Debug)]
pub struct Pair(pub Case, pub Option<Case>);

impl Pair {
    pub fn ln_delta(&self, epsilon: f64, asked: &[f64]) -> Interval {
        let first = self.0.ln_delta(epsilon, asked);
        match &self.1 {
            Some(second) => first.join(second.ln_delta(epsilon, asked)),
            None => first,
        }
    }
}

//! The privacy loss of one event: its law, L = ln dP/dQ under P.

use super::complex::C;
use super::normal::{ln_add, ln_cdf, ln_density, ln_sub};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Removal,
    Addition,
    /// Poisson sampling under replace-one.
    Exchange,
    /// Sampling without replacement: the removal's profile above 0, its mirror image below.
    Symmetric,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    Mixture {
        kind: Kind,
        q: f64,
        mu: f64,
    },
    Laplace(f64),
    /// Loss ±e, as of randomised response.
    Response(f64),
    /// Only for the lattice; the contour takes all Gaussian events together in closed form.
    Normal(f64),
}

pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// (ln(1 + q(e^y − 1)), q(e^y − 1), derivative of the first in y).
fn mixed(q: f64, y: f64) -> (f64, f64, f64) {
    if y > 600.0 {
        let l = q.ln() + y;
        return (l, f64::INFINITY, 1.0);
    }
    let v = q * y.exp_m1();
    let l = if v > -0.5 { v.ln_1p() } else { ln_add((-q).ln_1p(), q.ln() + y) };
    (l, v, sigmoid(y + q.ln() - (-q).ln_1p()))
}

impl Law {
    /// (ln of the measure's density, loss, slope, e^l − 1) at x.
    pub fn point(&self, x: f64) -> (f64, f64, f64, f64) {
        let Law::Mixture { kind, q, mu } = *self else {
            unreachable!("only mixtures are integrated over x")
        };
        if kind == Kind::Exchange {
            let (lp, vp, sp) = mixed(q, mu * (x - mu / 2.0));
            let (lm, vm, sm) = mixed(q, mu * (-x - mu / 2.0));
            let l = if vp < 1.0 {
                // Both are close to 1: their difference without cancellation, and without 0 · ∞.
                let apart = (mu * (x - mu / 2.0)).exp() * -(-2.0 * mu * x).exp_m1();
                (q * apart / (1.0 + vm)).ln_1p()
            } else {
                lp - lm
            };
            (ln_density(x) + lm, l, mu * (sp + sm), l.exp_m1())
        } else {
            let (l, v, s) = mixed(q, mu * (x - mu / 2.0));
            (ln_density(x), l, mu * s, v)
        }
    }

    pub fn one_sided(&self) -> bool {
        matches!(self, Law::Mixture { kind: Kind::Removal | Kind::Addition, .. })
    }

    /// The largest loss there is.
    pub fn largest(&self) -> f64 {
        match *self {
            Law::Mixture { kind: Kind::Addition, q, .. } => -(-q).ln_1p(),
            Law::Mixture { .. } | Law::Normal(_) => f64::INFINITY,
            Law::Laplace(r) | Law::Response(r) => r,
        }
    }

    /// For a law with two atoms: E e^{itL} has them in phase again at every multiple of this t.
    pub fn returns(&self) -> Option<f64> {
        match *self {
            Law::Laplace(r) | Law::Response(r) => Some(std::f64::consts::PI / r),
            Law::Mixture { .. } | Law::Normal(_) => None,
        }
    }

    /// The exponent of e^l in the one-sided form.
    pub fn exponent(&self, s: C) -> C {
        match self {
            Law::Mixture { kind: Kind::Addition, .. } => C(-s.0, -s.1),
            _ => C(s.0 + 1.0, s.1),
        }
    }

    /// ln P(L > l) and ln Q(L > l).
    pub fn tails(&self, l: f64) -> (f64, f64) {
        match *self {
            Law::Normal(mu) => (ln_cdf(-(l / mu - mu / 2.0)), ln_cdf(-(l / mu + mu / 2.0))),
            Law::Response(e) => {
                let (yes, no) = (-ln_add(0.0, -e), -ln_add(0.0, e));
                if l >= e {
                    (f64::NEG_INFINITY, f64::NEG_INFINITY)
                } else if l >= -e {
                    (yes, no)
                } else {
                    (0.0, 0.0)
                }
            }
            Law::Laplace(r) => {
                if l >= r {
                    (f64::NEG_INFINITY, f64::NEG_INFINITY)
                } else if l >= -r {
                    // Lap(0) below (r − l)/2, and Lap(r) below it.
                    let x = (r - l) / 2.0;
                    ((-0.5 * (-x).exp()).ln_1p(), (0.5f64).ln() - (r - x))
                } else {
                    (0.0, 0.0)
                }
            }
            Law::Mixture { kind, q, mu } => {
                let (ln_q, ln_p) = (q.ln(), (-q).ln_1p());
                // w(x) = e^l ⟺ x = μ/2 + ln(1 + (e^l − 1)/q)/μ.
                let inverse = |l: f64| {
                    if l > 30.0 {
                        mu / 2.0 + (ln_sub(l, ln_p) - ln_q) / mu
                    } else if l <= ln_p {
                        f64::NEG_INFINITY
                    } else {
                        mu / 2.0 + (l.exp_m1() / q).max(-1.0).ln_1p() / mu
                    }
                };
                let above = |x: f64| {
                    let plain = ln_cdf(-x);
                    (ln_add(ln_p + plain, ln_q + ln_cdf(mu - x)), plain)
                };
                let below = |x: f64| {
                    let plain = ln_cdf(x);
                    (plain, ln_add(ln_p + plain, ln_q + ln_cdf(x - mu)))
                };
                match kind {
                    Kind::Removal => above(inverse(l)),
                    // L = −ln w: L > l ⟺ w < e^{−l}.
                    Kind::Addition => below(inverse(-l)),
                    Kind::Symmetric if l >= 0.0 => above(inverse(l)),
                    // Below 0 the loss of an addition; under Q it is the removal's.
                    Kind::Symmetric => below(inverse(-l)),
                    Kind::Exchange => {
                        let x = self.exchange_inverse(l);
                        (
                            ln_add(ln_p + ln_cdf(-x), ln_q + ln_cdf(mu - x)),
                            ln_add(ln_p + ln_cdf(-x), ln_q + ln_cdf(-mu - x)),
                        )
                    }
                }
            }
        }
    }

    fn exchange_inverse(&self, l: f64) -> f64 {
        let Law::Mixture { mu, .. } = *self else { unreachable!("an exchange is a mixture") };
        let loss = |x: f64| {
            let (sign, x) = if x < 0.0 { (-1.0, -x) } else { (1.0, x) };
            sign * self.point(x).1
        };
        let mut high = 1.0 + mu + l.abs() / mu;
        while loss(high) < l.abs() && high < 1e15 {
            high *= 2.0;
        }
        let (mut from, mut to) = (-high, high);
        for _ in 0..80 {
            let middle = (from + to) / 2.0;
            if loss(middle) > l { to = middle } else { from = middle }
        }
        (from + to) / 2.0
    }
}

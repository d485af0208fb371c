//! The privacy loss of one event: L = ln(P/Q)(x) with x drawn from P, P and Q the worst pair of
//! neighbours.
//!
//! All that the discretisation needs is how much of P and of Q lies above and below a loss ε. For
//! the Gaussian pairs L is monotone in x, so that a cut at ε is a cut at one x, found in closed
//! form:
//! - removal   P = (1−q)N(0)+qN(μ), Q = N(0):            e^{μx−μ²/2} = 1 + (e^ε−1)/q
//! - addition  the two exchanged:                          L(x) = −L_removal(x)
//! - exchange P = (1−q)N(0)+qN(μ), Q = (1−q)N(0)+qN(−μ): μx = ε/2 + asinh((1−q)/q · e^{μ²/2}
//!   sinh(ε/2))

use crate::outward::{at_least, at_most};
use crate::special::ndtr;

/// P- and Q-mass above and below a loss, each accurate relative to itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    pub p_above: f64,
    pub p_below: f64,
    pub q_above: f64,
    pub q_below: f64,
}

impl Cut {
    fn swap(self) -> Self {
        let Self { p_above, p_below, q_above, q_below } = self;
        Self { p_above: p_below, p_below: p_above, q_above: q_below, q_below: q_above }
    }

    /// (P, Q) between two cuts, from the side on which less cancels.
    pub(crate) fn between(low: &Self, high: &Self) -> (f64, f64) {
        let p = if low.p_above < high.p_below {
            low.p_above - high.p_above
        } else {
            high.p_below - low.p_below
        };
        let q = if low.q_above < high.q_below {
            low.q_above - high.q_above
        } else {
            high.q_below - low.q_below
        };
        (at_least(p, 0.0), at_least(q, 0.0))
    }
}

/// (Φ(−x), Φ(x)) with one evaluation of erfc.
fn tails(x: f64) -> (f64, f64) {
    let small = ndtr(-x.abs());
    if x > 0.0 { (small, 1.0 - small) } else { (1.0 - small, small) }
}

/// A pair whose loss has a density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Pair {
    Removal {
        rate: f64,
        mu: f64,
    },
    Addition {
        rate: f64,
        mu: f64,
    },
    Exchange {
        rate: f64,
        mu: f64,
    },
    /// The Gaussian pair with every loss larger by `by`: the same P-mass, and e^{−by} of the
    /// Q-mass. Not a pair of probabilities, so it serves for the losses from `from` on alone.
    Above {
        mu: f64,
        by: f64,
        from: f64,
    },
    /// Its mirror image, up to −`from`: every loss smaller by `by`, and e^{−by} of the P-mass.
    Below {
        mu: f64,
        by: f64,
        from: f64,
    },
    /// Laplace noise, sensitivity over scale r, between its two atoms at ±r.
    Laplace {
        ratio: f64,
    },
}

fn mixed(rate: f64, low: f64, high: f64) -> f64 {
    (1.0 - rate) * low + rate * high
}

/// Where the loss of an exchange is ε.
fn exchange_cut(rate: f64, mu: f64, epsilon: f64) -> f64 {
    let half = epsilon.abs() / 2.0;
    // ln of (1−q)/q · e^{μ²/2} sinh(|ε|/2), which may be far beyond the range of floats.
    let log_argument =
        (1.0 - rate).ln() - rate.ln() + mu * mu / 2.0 + half + (-(-2.0 * half).exp_m1() / 2.0).ln();
    let inverse = if log_argument > 20.0 {
        log_argument + std::f64::consts::LN_2
    } else {
        log_argument.exp().asinh()
    };
    (half + inverse).copysign(epsilon) / mu
}

/// x at which the removal loss is ε; −∞ below its infimum ln(1−q).
fn removal_cut(rate: f64, mu: f64, epsilon: f64) -> f64 {
    let log_ratio = if epsilon > 1.0 {
        epsilon - rate.ln() + (-(1.0 - rate) * (-epsilon).exp()).ln_1p()
    } else {
        let t = epsilon.exp_m1() / rate;
        if t <= -1.0 {
            return f64::NEG_INFINITY;
        }
        // 1 + t cancels where nearly everybody is drawn and the loss is close to its end ln(1−q): 1
        // − q is exact there.
        if t < -0.5 && rate > 0.5 {
            at_least((epsilon.exp() - (1.0 - rate)) / rate, 0.0).ln()
        } else {
            t.ln_1p()
        }
    };
    log_ratio / mu + mu / 2.0
}

fn removal_loss(rate: f64, mu: f64, x: f64) -> f64 {
    let t = mu * (x - mu / 2.0);
    if t > 30.0 {
        t + rate.ln() + ((1.0 - rate) / rate * (-t).exp()).ln_1p()
    } else if rate == 1.0 {
        t
    } else {
        (rate * t.exp_m1()).ln_1p()
    }
}

impl Pair {
    /// The loss at x.
    fn loss(&self, x: f64) -> f64 {
        match *self {
            Pair::Removal { rate, mu } => removal_loss(rate, mu, x),
            Pair::Addition { rate, mu } => -removal_loss(rate, mu, x),
            Pair::Exchange { rate, mu } => removal_loss(rate, mu, x) - removal_loss(rate, mu, -x),
            Pair::Above { mu, by, .. } => removal_loss(1.0, mu, x) + by,
            Pair::Below { mu, by, .. } => removal_loss(1.0, mu, x) - by,
            Pair::Laplace { ratio } => ratio * x,
        }
    }

    /// The masses above and below ε.
    pub(crate) fn cut(&self, epsilon: f64) -> Cut {
        match *self {
            Pair::Removal { rate, mu } => {
                let x = removal_cut(rate, mu, epsilon);
                let ((above, below), (far_above, far_below)) = (tails(x), tails(x - mu));
                Cut {
                    p_above: mixed(rate, above, far_above),
                    p_below: mixed(rate, below, far_below),
                    q_above: above,
                    q_below: below,
                }
            }
            Pair::Addition { rate, mu } => {
                let Cut { p_above, p_below, q_above, q_below } =
                    Pair::Removal { rate, mu }.cut(-epsilon).swap();
                Cut { p_above: q_above, p_below: q_below, q_above: p_above, q_below: p_below }
            }
            Pair::Exchange { rate, mu } => {
                let x = exchange_cut(rate, mu, epsilon);
                let ((above, below), (up_above, up_below), (down_above, down_below)) =
                    (tails(x), tails(x - mu), tails(x + mu));
                Cut {
                    p_above: mixed(rate, above, up_above),
                    p_below: mixed(rate, below, up_below),
                    q_above: mixed(rate, above, down_above),
                    q_below: mixed(rate, below, down_below),
                }
            }
            Pair::Above { mu, by, from } => {
                let cut = Pair::Removal { rate: 1.0, mu }.cut(at_least(epsilon, from) - by);
                let less = (-by).exp();
                Cut { q_above: less * cut.q_above, q_below: less * cut.q_below, ..cut }
            }
            Pair::Below { mu, by, from } => {
                let cut = Pair::Removal { rate: 1.0, mu }.cut(at_most(epsilon, -from) + by);
                let less = (-by).exp();
                Cut { p_above: less * cut.p_above, p_below: less * cut.p_below, ..cut }
            }
            Pair::Laplace { ratio } => {
                let e = at_most(at_least(epsilon, -ratio), ratio);
                let (up, down) =
                    (-((e - ratio) / 2.0).exp_m1() / 2.0, (-(e + ratio) / 2.0).exp_m1() / -2.0);
                Cut {
                    p_above: up,
                    p_below: ((e - ratio) / 2.0).exp() * down,
                    q_above: (-(e + ratio) / 2.0).exp() * up,
                    q_below: down,
                }
            }
        }
    }

    /// x between which all but `high` of P's mass on the side of large losses and `low` on the
    /// other lie.
    fn range(&self, low: f64, high: f64) -> (f64, f64) {
        // Φ(−t) ≤ e^{−t²/2}.
        let (low, high) = ((-2.0 * low.ln()).sqrt(), (-2.0 * high.ln()).sqrt());
        match *self {
            Pair::Removal { mu, rate } => (if rate == 1.0 { mu - low } else { -low }, mu + high),
            Pair::Above { mu, .. } | Pair::Below { mu, .. } => (mu - low, mu + high),
            Pair::Exchange { mu, .. } => (-low, mu + high),
            Pair::Addition { .. } => (-high, low),
            Pair::Laplace { .. } => (-1.0, 1.0),
        }
    }

    /// Losses, ascending, that follow the pair's own scale: a first picture of where the mass lies.
    pub(crate) fn sketch(&self, low: f64, high: f64, points: u32) -> Vec<f64> {
        let (from, to) = self.range(low, high);
        let between = |from: f64, to: f64, points: u32| {
            (0..=points)
                .map(move |k| self.loss(from + (to - from) * f64::from(k) / f64::from(points)))
        };
        let mut losses: Vec<f64> = match *self {
            // Two hills far apart: as many points on each as there would be on one.
            Pair::Removal { rate, mu } | Pair::Exchange { rate, mu }
                if rate != 1.0 && mu > to - mu - from =>
            {
                let (near, far) = (to - mu, mu + from);
                between(from, near, points)
                    .chain(between(near, far, points / 4))
                    .chain(between(far, to, points))
                    .collect()
            }
            _ => between(from, to, points).collect(),
        };
        if losses[0] > losses[losses.len() - 1] {
            losses.reverse();
        }
        losses.dedup();
        losses
    }
}

/// A pair on the losses between two ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Segment {
    pub pair: Pair,
    pub from: f64,
    pub to: f64,
}

/// The whole loss of one event in one direction: densities, atoms (loss, P-mass), and P-mass at
/// infinity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrivacyLoss {
    pub segments: Vec<Segment>,
    pub atoms: Vec<(f64, f64)>,
    pub infinity: f64,
}

impl PrivacyLoss {
    fn whole(pair: Pair) -> Self {
        let (from, to) = (f64::NEG_INFINITY, f64::INFINITY);
        Self { segments: vec![Segment { pair, from, to }], atoms: Vec::new(), infinity: 0.0 }
    }

    /// N(0) against N(μ); both directions are alike.
    pub(crate) fn gaussian(mu: f64) -> Self {
        Self::whole(Pair::Removal { rate: 1.0, mu })
    }

    /// The mixture against N(0).
    pub(crate) fn removal(rate: f64, mu: f64) -> Self {
        Self::whole(Pair::Removal { rate, mu })
    }

    /// N(0) against the mixture.
    pub(crate) fn addition(rate: f64, mu: f64) -> Self {
        Self::whole(Pair::Addition { rate, mu })
    }

    /// One mixture against its mirror image.
    pub(crate) fn exchange(rate: f64, mu: f64) -> Self {
        Self::whole(Pair::Exchange { rate, mu })
    }

    /// The profile that is the removal's for ε ≥ 0 and the addition's for ε < 0: what convexity
    /// leaves over at 0 is an atom, of P-mass (1−q)(Φ(μ/2) − Φ(−μ/2)).
    pub(crate) fn symmetric(rate: f64, mu: f64) -> Self {
        let (removal, addition) = (Pair::Removal { rate, mu }, Pair::Addition { rate, mu });
        let atom = (1.0 - rate) * libm::erf(mu / 2.0 * std::f64::consts::FRAC_1_SQRT_2);
        Self {
            segments: vec![
                Segment { pair: addition, from: f64::NEG_INFINITY, to: 0.0 },
                Segment { pair: removal, from: 0.0, to: f64::INFINITY },
            ],
            atoms: vec![(0.0, atom)],
            infinity: 0.0,
        }
    }

    /// A profile known to be at most that of the Gaussian at |ε| − `by` for |ε| ≥ `from` ≥ `by`, in
    /// both directions: between the two the chord, which convexity allows and which puts what is
    /// left into atoms at ±`from`.
    pub(crate) fn pushed(mu: f64, by: f64, from: f64) -> Self {
        let (above, below) = (Pair::Above { mu, by, from }, Pair::Below { mu, by, from });
        // P above `from`, and P below −`from`; what they leave of 1 goes to the atoms, P against Q
        // as their losses say.
        let left = above.cut(from).p_below - below.cut(-from).p_below;
        let atom = at_least(left, 0.0) / (1.0 + (-from).exp());
        Self {
            segments: vec![
                Segment { pair: below, from: f64::NEG_INFINITY, to: -from },
                Segment { pair: above, from, to: f64::INFINITY },
            ],
            atoms: vec![(from, atom), (-from, atom * (-from).exp())],
            infinity: 0.0,
        }
    }

    /// Laplace noise; both directions are alike.
    pub(crate) fn laplace(ratio: f64) -> Self {
        Self {
            segments: vec![Segment { pair: Pair::Laplace { ratio }, from: -ratio, to: ratio }],
            atoms: vec![(ratio, 0.5), (-ratio, 0.5 * (-ratio).exp())],
            infinity: 0.0,
        }
    }

    /// Randomised response, the worst pair of a pure-ε event, after a failure of probability δ.
    pub(crate) fn response(epsilon: f64, delta: f64) -> Self {
        let truth = 1.0 / (1.0 + (-epsilon).exp());
        let lie = 1.0 / (1.0 + epsilon.exp());
        Self {
            segments: Vec::new(),
            atoms: vec![(epsilon, (1.0 - delta) * truth), (-epsilon, (1.0 - delta) * lie)],
            infinity: delta,
        }
    }

    /// Losses at the seams, for the first picture of a segment.
    pub(crate) fn sketch(&self, segment: &Segment, low: f64, high: f64, points: u32) -> Vec<f64> {
        let mut losses = segment.pair.sketch(low, high, points);
        losses.retain(|&loss| loss > segment.from && loss < segment.to);
        if segment.from.is_finite() {
            losses.insert(0, segment.from);
        }
        if segment.to.is_finite() {
            losses.push(segment.to);
        }
        losses
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_where_the_loss_is() {
        for (rate, mu) in [(0.01, 1.0), (0.3, 5.0), (1e-6, 0.1), (1.0, 2.0), (0.999, 0.5)] {
            for pair in [
                Pair::Removal { rate, mu },
                Pair::Addition { rate, mu },
                Pair::Exchange { rate, mu },
            ] {
                for x in [-2.5, -0.3, 0.4, 1.0, 3.5] {
                    let epsilon = pair.loss(x);
                    let cut = pair.cut(epsilon);
                    let want = match pair {
                        Pair::Addition { .. } => ndtr(x),
                        _ => mixed(rate, ndtr(-x), ndtr(mu - x)),
                    };
                    assert!(
                        (cut.p_above / want - 1.0).abs() < 1e-4,
                        "{pair:?} at {x}: {cut:?} not {want}"
                    );
                    assert!((cut.p_above + cut.p_below - 1.0).abs() < 1e-12);
                    assert!((cut.q_above + cut.q_below - 1.0).abs() < 1e-12);
                }
            }
        }
    }

    /// The end of the losses where nearly everybody is drawn: e^{μx−μ²/2} = 1 + (e^ε−1)/q must not
    /// cancel.
    #[test]
    fn a_cut_near_the_end_of_the_losses_is_exact() {
        let (rest, mu) = (2.0_f64.powi(-40), 5.0_f64);
        for x in [-4.0, -3.5, -3.0, -2.0] {
            let ratio = (mu * x - mu * mu / 2.0).exp();
            let epsilon = (rest + (1.0 - rest) * ratio).ln();
            let cut = Pair::Addition { rate: 1.0 - rest, mu }.cut(-epsilon);
            assert!(
                (cut.p_above / ndtr(x) - 1.0).abs() < 1e-9 / (ratio / rest).min(1.0),
                "{x}: {cut:?}"
            );
        }
    }

    #[test]
    fn masses_add_up_to_one() {
        for loss in [
            PrivacyLoss::symmetric(0.1, 2.0),
            PrivacyLoss::pushed(1.3, 0.4, 0.4),
            PrivacyLoss::pushed(1.0, 0.2, 0.45),
            PrivacyLoss::laplace(0.7),
            PrivacyLoss::response(1.5, 0.01),
        ] {
            let mut total = loss.infinity + loss.atoms.iter().map(|atom| atom.1).sum::<f64>();
            for segment in &loss.segments {
                let (low, high) = (segment.pair.cut(segment.from), segment.pair.cut(segment.to));
                total += Cut::between(&low, &high).0;
            }
            assert!((total - 1.0).abs() < 1e-12, "{loss:?}: {total}");
        }
    }
}

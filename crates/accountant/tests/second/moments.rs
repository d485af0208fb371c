//! The moments E e^{sL} of one event's loss at complex s.
//!
//! Everything is written as E e^{sL} − 1 = ∫ (a positive measure) × (a term
//! that is of second order in L), because E_Q[e^L − 1] = 0: so ten million events with losses of
//! 1e-9 lose no digits.
//!
//! - one-sided (Poisson, add-remove; w = 1 − q + q e^{μx − μ²/2} = e^l under N(0,1)): E w^a − 1 = ∫
//!   N(x) [w^a − 1 − a(w − 1)] dx with a = s + 1 for a removal, a = −s for an addition;
//! - symmetric pairs (everything else): ∫_{l > 0} dQ [(e^{(s+1)l} − 1)(1 − e^{−sl})].

use super::complex::C;
use super::loss::{Kind, Law, sigmoid};
use super::normal::{legendre, ln_add};

/// One node of a quadrature: ln of the measure, the loss there, its slope in x, and the measure
/// times (e^l − 1).
struct Node {
    ln_w: f64,
    w: f64,
    l: f64,
    v: f64,
    wv: f64,
    slope: f64,
    dx: f64,
}

/// A law's moments on the line Re s = c.
pub struct Moments {
    law: Law,
    c: f64,
    nodes: Vec<Node>,
    /// ln E e^{cL}.
    pub at_c: f64,
    /// |E e^{(c+it)L}| / E e^{cL} ≤ a + b/t for each pair.
    envelope: Vec<(f64, f64)>,
}

/// Above this exponent 1 is nothing beside e^x, and before it nothing overflows.
const LARGE: f64 = 500.0;

/// Beyond this exponent the terms of lower order no longer cancel anything, and e^x is never
/// computed by itself.
const FAR: f64 = 30.0;

impl Law {
    /// Panels that resolve the integrand at Re s = c, and its oscillation up to Im s = t.
    fn panels(&self, c: f64) -> Vec<(f64, f64)> {
        let Law::Mixture { kind, q, mu } = *self else { return Vec::new() };
        let a = self.exponent(C(c, 0.0)).0;
        let kink = mu / 2.0 + ((-q).ln_1p() - q.ln()) / mu;
        // The derivative of the log of the largest part of the integrand.
        let slope = |x: f64| {
            let plus = sigmoid(mu * (x - kink));
            if kind == Kind::Exchange {
                -x + (c + 1.0) * mu * plus + c * mu * sigmoid(mu * (-x - kink))
            } else {
                -x + a * mu * plus
            }
        };
        let far = if kind == Kind::Exchange { (2.0 * c + 1.0) * mu } else { a * mu };
        let start = match kind {
            Kind::Exchange => 0.0,
            Kind::Symmetric => mu / 2.0,
            _ => f64::NEG_INFINITY,
        };
        let mut special = vec![0.0, mu, 2.0 * mu, far];
        if kind == Kind::Exchange {
            special.push(-kink);
        }
        let (low, high) = (far.min(0.0), far.max(0.0));
        if kink > low - 12.0 && kink < high.max(2.0 * mu) + 12.0 {
            special.push(kink);
        }
        let mut grid: Vec<f64> =
            special.iter().copied().filter(|x| *x >= low && *x <= high).collect();
        grid.sort_by(f64::total_cmp);
        let mut centres: Vec<(f64, f64)> = special.iter().map(|&x| (x, 0.6)).collect();
        for pair in grid.windows(2) {
            for part in 0..16 {
                let at = |k: i32| pair[0] + (pair[1] - pair[0]) * f64::from(k) / 16.0;
                let (mut from, mut to) = (at(part), at(part + 1));
                if slope(from) > 0.0 && slope(to) <= 0.0 {
                    for _ in 0..50 {
                        let middle = (from + to) / 2.0;
                        if slope(middle) > 0.0 { from = middle } else { to = middle }
                    }
                    let h = 1e-4 / (1.0 + mu);
                    let curvature = (slope(from - h) - slope(from + h)) / (2.0 * h);
                    centres.push((from, 0.6 / curvature.max(1.0).sqrt()));
                }
            }
        }
        let end = centres.iter().map(|c| c.0).fold(f64::NEG_INFINITY, f64::max) + 12.0;
        let mut x = start.max(centres.iter().map(|c| c.0).fold(f64::INFINITY, f64::min) - 12.0);
        let mut panels = Vec::new();
        let kinks: &[f64] = if kind == Kind::Exchange { &[kink, -kink] } else { &[kink] };
        while x < end && panels.len() < 5000 {
            let mut width = f64::INFINITY;
            for &(centre, base) in &centres {
                let away = (x - centre).abs();
                width =
                    width.min(if base == 0.6 && away < 10.0 { 0.6 } else { base.max(0.4 * away) });
            }
            for kink in kinks {
                width = width.min((0.7 / mu).max(0.4 * (x - kink).abs()));
            }
            panels.push((x, x + width));
            x += width;
        }
        panels
    }

    pub fn moments(&self, c: f64, t: f64) -> Moments {
        let mut out =
            Moments { law: *self, c, nodes: Vec::new(), at_c: 0.0, envelope: vec![(1.0, 0.0)] };
        match *self {
            Law::Mixture { .. } => out.integrate(t),
            Law::Laplace(r) if r < 1.0 => {
                for &(node, weight) in legendre() {
                    let l = r * (1.0 + node) / 2.0;
                    out.nodes.push(Node::new(
                        (weight * r / 8.0).ln() - (l + r) / 2.0,
                        l,
                        l.exp_m1(),
                        0.0,
                    ));
                }
                out.nodes.push(Node::new(-r - std::f64::consts::LN_2, r, r.exp_m1(), 0.0));
            }
            Law::Response(e) => {
                out.nodes.push(Node::new(-ln_add(0.0, e), e, e.exp_m1(), 0.0));
            }
            Law::Laplace(_) | Law::Normal(_) => {}
        }
        out.at_c = out.ln_mgf(C(c, 0.0)).0;
        if matches!(self, Law::Mixture { .. }) && out.at_c < -18.0 {
            // 1 was subtracted, and nothing is left of what remains: no value is better than a
            // wrong one.
            out.at_c = f64::NAN;
        }
        out.bound_modulus();
        out
    }

    /// ln E e^{cL}.
    pub fn real(&self, c: f64) -> f64 {
        self.moments(c, 0.0).at_c
    }
}

impl Node {
    fn new(ln_w: f64, l: f64, v: f64, slope: f64) -> Self {
        let wv = if v.is_finite() { ln_w.exp() * v } else { (ln_w + l).exp() };
        Self { ln_w, w: ln_w.exp(), l, v, wv, slope, dx: 1.0 }
    }
}

impl Moments {
    fn integrate(&mut self, t: f64) {
        let law = self.law;
        let mut kept: Vec<(Node, f64)> = Vec::new();
        let mut largest = f64::NEG_INFINITY;
        for (from, to) in law.panels(self.c) {
            let (a, b) = (law.point(from).1, law.point(to).1);
            let parts = (t * (b - a).abs() / 4.0).ceil().clamp(1.0, 400.0) as usize;
            let size = |x: f64| {
                let (ln_w, l, slope, v) = law.point(x);
                self.size(&Node::new(ln_w, l, v, slope))
            };
            // Not worth cutting up where nothing is.
            let level = size(from).max(size(to)).max(size((from + to) / 2.0));
            let parts = if level < largest - 60.0 { 1 } else { parts };
            let width = (to - from) / parts as f64;
            for part in 0..parts {
                let centre = from + (part as f64 + 0.5) * width;
                for &(node, weight) in legendre().iter().rev() {
                    let (ln_w, l, slope, v) = law.point(centre + node * width / 2.0);
                    let dx = weight * width / 2.0;
                    let node = Node { dx, ..Node::new(ln_w + dx.ln(), l, v, slope) };
                    let size = self.size(&node);
                    largest = largest.max(size);
                    if size > largest - 60.0 {
                        kept.push((node, size));
                    }
                }
            }
        }
        self.nodes = kept
            .into_iter()
            .filter(|(_, size)| *size > largest - 50.0)
            .map(|(node, _)| node)
            .collect();
    }

    /// ln of (a bound on) what a node adds at c.
    fn size(&self, node: &Node) -> f64 {
        let (s, l) = (C(self.c, 0.0), node.l);
        let a = self.law.exponent(s).0;
        let wide = |x: f64| {
            // ln |e^x − 1|
            if x > FAR { x } else { x.exp_m1().abs().ln() }
        };
        if self.law.one_sided() {
            if l.abs() > 1.0 || a * l > FAR {
                node.ln_w + (a * l).max(0.0).max(l + (1.0 + a.abs()).ln())
            } else {
                node.ln_w + one_sided_term(C(a, 0.0), l, node.v).norm().ln()
            }
        } else {
            node.ln_w + wide(a * l) + wide(-self.c * l)
        }
    }

    pub fn size_of_sum(&self) -> usize {
        self.nodes.len()
    }

    /// ln E e^{sL} for Re s = c.
    pub fn ln_mgf(&self, s: C) -> C {
        if let Law::Laplace(r) = self.law
            && r * (1.0 + s.norm()) >= 1.0
        {
            return laplace(r, s);
        }
        if let Law::Response(e) = self.law
            && e * (1.0 + s.norm()) >= 1.0
        {
            return response(e, s);
        }
        if self.nodes.is_empty() {
            return C(f64::NAN, f64::NAN);
        }
        let a = self.law.exponent(s);
        let one_sided = self.law.one_sided();
        let exponent = |node: &Node| {
            let main = node.ln_w + a.0 * node.l;
            if one_sided { main } else { main.max(node.ln_w - s.0 * node.l) }
        };
        let largest = self.nodes.iter().map(exponent).fold(f64::NEG_INFINITY, f64::max);
        let mut total = C(0.0, 0.0);
        if largest > LARGE {
            for node in &self.nodes {
                let main = C(node.ln_w + a.0 * node.l - largest, a.1 * node.l).exp();
                total = total.add(main);
                if !one_sided {
                    total = total.add(C(node.ln_w - s.0 * node.l - largest, -s.1 * node.l).exp());
                }
            }
            let C(re, im) = total.ln();
            return C(largest + re, im);
        }
        for node in &self.nodes {
            let l = node.l;
            let term = if one_sided {
                if l > 1.0 || a.0 * l > FAR {
                    let C(re, im) = C(node.ln_w + a.0 * l, a.1 * l).exp();
                    C(re - node.w - a.0 * node.wv, im - a.1 * node.wv)
                } else {
                    one_sided_term(a, l, node.v).scale(node.w)
                }
            } else if l > 1.0 || a.0 * l > FAR || -s.0 * l > FAR {
                let main = C(node.ln_w + a.0 * l, a.1 * l).exp();
                let mirror = C(node.ln_w - s.0 * l, -s.1 * l).exp();
                C(main.0 + mirror.0 - node.wv - 2.0 * node.w, main.1 + mirror.1)
            } else {
                let product = C(a.0 * l, a.1 * l).exp_m1().mul(C(-s.0 * l, -s.1 * l).exp_m1());
                product.scale(-node.w)
            };
            total = total.add(term);
        }
        total.ln_1p()
    }

    /// |E e^{(c+it)L}| / E e^{cL} is at most the mass outside x > x₁, plus (boundary + variation of density/slope)/t
    /// on x > x₁ by partial integration; for every x₁ among the nodes.
    fn bound_modulus(&mut self) {
        match self.law {
            Law::Mixture { .. } => {}
            Law::Laplace(r) => {
                let atom = |x: f64| (x - self.at_c - std::f64::consts::LN_2).exp();
                let (top, bottom) = (atom(self.c * r), atom(-(self.c + 1.0) * r));
                self.envelope = vec![(1.0, 0.0), (top + bottom, top.max(bottom))];
                return;
            }
            _ => return,
        }
        let a = self.law.exponent(C(self.c, 0.0)).0;
        let one_sided = self.law.one_sided();
        let (mut mass, mut variation, mut before) = (0.0, 0.0, 0.0);
        let mut bounds = vec![(1.0, 0.0)];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let main = (node.ln_w + a * node.l - self.at_c).exp();
            let mirror =
                if one_sided { 0.0 } else { (node.ln_w - self.c * node.l - self.at_c).exp() };
            mass += main + mirror;
            let ratio = (main + mirror) / (node.dx * node.slope);
            variation += (ratio - before).abs();
            before = ratio;
            if index % 8 == 0 {
                bounds.push(((1.0 - mass).max(0.0), ratio + variation));
            }
        }
        self.envelope = bounds;
    }

    /// ln of a bound on |E e^{(c+it)L}| / E e^{cL}.
    pub fn ln_envelope(&self, t: f64) -> f64 {
        self.envelope.iter().map(|(a, b)| a + b / t).fold(1.0, f64::min).ln()
    }
}

/// w^a − 1 − a(w − 1) for w = e^l = 1 + v.
fn one_sided_term(a: C, l: f64, v: f64) -> C {
    let b = C(a.0 - 1.0, a.1);
    if v.abs() < 0.05 && a.norm() * v.abs() < 0.05 {
        // The binomial series from its second term.
        let mut term = a.mul(b).scale(0.5 * v * v);
        let mut total = term;
        for k in 3..14 {
            let k = f64::from(k);
            term = term.mul(C(a.0 - k + 1.0, a.1)).scale(v / k);
            total = total.add(term);
        }
        total
    } else if a.norm() < b.norm() {
        C(a.0 * l, a.1 * l).exp_m1().add(a.scale(-v))
    } else {
        C(b.0 * l, b.1 * l).exp_m1().scale(1.0 + v).add(b.scale(-v))
    }
}

/// Closed form: e with probability e^e/(1 + e^e), else −e; on the side on which the first is the
/// larger part.
fn response(e: f64, s: C) -> C {
    let s = if s.0 < -0.5 { C(-1.0 - s.0, -s.1) } else { s };
    let (yes, no) = (-ln_add(0.0, -e), -ln_add(0.0, e));
    let ratio = C(no - yes - 2.0 * s.0 * e, -2.0 * s.1 * e).exp();
    let C(re, im) = ratio.ln_1p();
    C(s.0 * e + yes + re, s.1 * e + im)
}

/// Closed form: atoms ½ at r and ½e^{−r} at −r, density ¼e^{(l−r)/2} between.
fn laplace(r: f64, s: C) -> C {
    // The pair is symmetric under s → −1 − s; take the side on which e^{sr} is the large one.
    let s = if s.0 < -0.5 { C(-1.0 - s.0, -s.1) } else { s };
    let twice = C(2.0 * s.0 + 1.0, 2.0 * s.1);
    let small = C(-twice.0 * r, -twice.1 * r).exp();
    let inner = if twice.norm() * r < 1e-3 {
        // (1 − e^{−x})/(2x) · r at x = twice·r
        let x = twice.scale(r);
        C(1.0, 0.0).add(x.scale(-0.5)).add(x.mul(x).scale(1.0 / 6.0)).scale(r / 2.0)
    } else {
        let m = C(-twice.0 * r, -twice.1 * r).exp_m1();
        m.scale(-0.5).div(twice)
    };
    let C(re, im) = C(0.5, 0.0).add(small.scale(0.5)).add(inner).ln();
    C(s.0 * r + re, s.1 * r + im)
}

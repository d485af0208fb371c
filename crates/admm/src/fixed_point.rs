//! The engine: a noisy fixed-point iteration over blocks (FP23, Algorithm 1).
//!
//! ```text
//! u_b ← u_b + ρ_b λ ( R_b(u) + e_b + η_b − u_b ),   b = 1 … B
//! ```
//!
//! `R` is non-expansive, `ρ_b ∈ {0, 1}` says which blocks take part, `λ ∈ (0, 1]` averages, `e` is
//! the error of evaluating `R` (a sample instead of everything, a clipped record) and `η` the
//! noise. An algorithm never sees `R(u)`, `e` and `η` apart: what the gate released already has all
//! three in it, and the sum is what the engine is given.
//!
//! Instances, each tested to be its textbook loop when there is no noise:
//!
//! ```text
//! DP-(S)GD            R(u) = u − (2/β) ∇f(u),  λ = γβ/2:   u − γ∇f(u)              Proposition 1
//! DP-CD               the same, one block a step:          u_b − γ∇_b f(u)         Proposition 2
//! proximal DP-SGD     R(u) = prox_{γr}(u − γ∇f(u)),  λ = 1                         RDP20, equation 29
//! ADMM                R = R_{γp₁} R_{γp₂},  R_{γp} = 2 prox_{γp} − I               section 3.2
//! ```

use std::ops::Range;

/// `u`, in blocks.
#[derive(Clone, Debug)]
pub(crate) struct FixedPoint {
    u: Vec<f64>,
    blocks: Vec<Range<usize>>,
}

/// The blocks that take part: the ones of ρ.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Active {
    All,
    One(usize),
}

impl Active {
    fn has(self, block: usize) -> bool {
        match self {
            Active::All => true,
            Active::One(only) => block == only,
        }
    }
}

impl FixedPoint {
    /// One block.
    pub fn whole(u: Vec<f64>) -> Self {
        let all = 0..u.len();
        FixedPoint { u, blocks: vec![all] }
    }

    /// A block for each entry.
    pub fn coordinates(u: Vec<f64>) -> Self {
        let blocks = (0..u.len()).map(|j| j..j + 1).collect();
        FixedPoint { u, blocks }
    }

    pub fn u(&self) -> &[f64] {
        &self.u
    }

    /// `u`, for what an algorithm does to it between iterations.
    pub fn u_mut(&mut self) -> &mut [f64] {
        &mut self.u
    }

    /// One iteration, from `noisy = R(u) + e + η`; what `noisy` has in blocks that do not take part
    /// is not read.
    pub fn step(&mut self, active: Active, lambda: f64, noisy: &[f64]) {
        for (_, block) in self.blocks.iter().enumerate().filter(|(b, _)| active.has(*b)) {
            for j in block.clone() {
                self.u[j] += lambda * (noisy[j] - self.u[j]);
            }
        }
    }
}

/// `R(u) = u − (2/β) g` in place of `g`: non-expansive when `g` is the gradient of a β-smooth
/// convex function.
pub(crate) fn gradient_operator(u: &[f64], beta: f64, g: &mut [f64]) {
    for (g, u) in g.iter_mut().zip(u) {
        *g = u - 2.0 / beta * *g;
    }
}

/// The λ with which [`gradient_operator`] makes a step of size γ: γβ/2, which must not exceed 1.
pub(crate) fn averaging_of_step(gamma: f64, beta: f64) -> f64 {
    gamma * beta / 2.0
}

/// `R = R_{γp₁} R_{γp₂}` from `z = prox_{γp₂}(u)` and `x = prox_{γp₁}(2z − u)`, into `x`:
/// `2x − (2z − u) = u + 2(x − z)`.
pub(crate) fn lions_mercier(u: &[f64], z: &[f64], x: &mut [f64]) {
    for ((x, z), u) in x.iter_mut().zip(z).zip(u) {
        *x = u + 2.0 * (*x - z);
    }
}

#[cfg(test)]
mod tests;

//! RA18, Theorem III.1: a sufficient condition under which R-ADMM without noise converges, its
//! inequalities 24 and 25 (39 and 40 in the proof).
//!
//! ```text
//! (24)  I + η(D + A)D̃⁻¹ ≻ Lμ/(2σ) · (1/η) D_M (D − A)⁺
//! (25)  η(D + A) ≻ η(D + A)D̃⁻¹η(D − A) + (2/L) η(D + A)D̃⁻¹η(D + A) + Lμ/(2σ(μ − 1)) D_M
//! ```
//!
//! for some L > 0 and μ > 1; A and D the adjacency and the degrees of the graph, D̃ = 2ηD + γI, σ its
//! least entry, D_M the squares of the smoothness of each party's objective. A product that is not
//! symmetric is taken by its symmetric part.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use reticent::runtime::Topology;

/// What the theorem is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ra18Setting<'g> {
    pub graph: &'g Topology,
    /// η.
    pub eta: f64,
    /// γ.
    pub gamma: f64,
    /// M of every party.
    pub smoothness: f64,
}

/// L and μ that are tried: 10^(k/4), and the theorem's own example among them to within a sixth.
const LS: std::ops::RangeInclusive<i32> = -16..=16;
const MUS: [f64; 6] = [1.05, 1.25, 1.5, 2.0, 4.0, 16.0];

impl Ra18Setting<'_> {
    /// Whether the condition holds for some L and μ of those that are tried.
    pub fn converges(&self) -> bool {
        let tried = LS.flat_map(|k| MUS.map(|mu| (10_f64.powf(f64::from(k) / 4.0), mu)));
        tried.into_iter().any(|(l, mu)| self.holds(l, mu))
    }

    fn holds(&self, l: f64, mu: f64) -> bool {
        let (eta, n) = (self.eta, self.graph.parties());
        let square = self.smoothness.powi(2);
        let scale: Vec<f64> = (0..n).map(|i| 2.0 * eta * self.degree(i) + self.gamma).collect();
        let sigma = scale.iter().copied().fold(f64::INFINITY, f64::min);
        let (plus, minus) = (self.laplacian(1.0), self.laplacian(-1.0));
        let over = Mat::from_fn(plus.nrows(), plus.ncols(), |i, j| eta * plus[(i, j)] / scale[j]);
        let Some(inverse) = pseudo_inverse(&minus) else { return false };
        let (twice, both) = (&over * &minus, &over * &plus);
        let first = l * mu * square / (2.0 * sigma * eta);
        let last = l * mu * square / (2.0 * sigma * (mu - 1.0));
        let one = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        is_positive(n, |i, j| one(i, j) + over[(i, j)] - first * inverse[(i, j)])
            && is_positive(n, |i, j| {
                let left = eta * (plus[(i, j)] - twice[(i, j)] - 2.0 / l * both[(i, j)]);
                left - last * one(i, j)
            })
    }

    fn degree(&self, party: u32) -> f64 {
        self.graph.degree(party) as f64
    }

    /// D + A or D − A.
    fn laplacian(&self, sign: f64) -> Mat<f64> {
        let n = self.graph.parties() as usize;
        let mut all = Mat::<f64>::zeros(n, n);
        for i in 0..self.graph.parties() {
            all[(i as usize, i as usize)] = self.degree(i);
            for &j in self.graph.neighbours(i).iter() {
                all[(i as usize, j as usize)] = sign;
            }
        }
        all
    }
}

/// (D − A)⁺ of a connected graph: only constants are in its null space, so that it is the inverse of
/// D − A + J/n, less J/n.
fn pseudo_inverse(minus: &Mat<f64>) -> Option<Mat<f64>> {
    let n = minus.nrows();
    let mean = 1.0 / n as f64;
    let full = Mat::from_fn(n, n, |i, j| minus[(i, j)] + mean);
    let inverse = full.llt(Side::Lower).ok()?.solve(Mat::<f64>::identity(n, n));
    Some(Mat::from_fn(n, n, |i, j| inverse[(i, j)] - mean))
}

/// Whether the symmetric part of a matrix is positive definite.
fn is_positive(n: u32, entry: impl Fn(usize, usize) -> f64) -> bool {
    let n = n as usize;
    let half = Mat::from_fn(n, n, |i, j| 0.5 * (entry(i, j) + entry(j, i)));
    half.llt(Side::Lower).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a complete graph all matrices have the same two spaces of eigenvectors, and both
    /// conditions are inequalities between numbers.
    fn by_numbers(n: f64, eta: f64, gamma: f64, m: f64, (l, mu): (f64, f64)) -> bool {
        let sigma = 2.0 * eta * (n - 1.0) + gamma;
        let last = l * mu * m * m / (2.0 * sigma * (mu - 1.0));
        let second = |plus: f64, minus: f64| {
            eta * plus
                > eta * eta * plus * minus / sigma + 2.0 / l * (eta * plus).powi(2) / sigma + last
        };
        let first = 1.0 + eta * (n - 2.0) / sigma > l * mu / (2.0 * sigma) * m * m / (eta * n);
        first && second(2.0 * n - 2.0, 0.0) && second(n - 2.0, n)
    }

    #[test]
    fn a_complete_graph_is_a_matter_of_numbers() {
        let graph = Topology::complete(5);
        let mut held = [0, 0];
        for gamma in [0.1, 1.0, 10.0, 100.0] {
            for smoothness in [0.25, 1.0, 4.0] {
                for l in [0.1, 2.0, 30.0] {
                    let setting = Ra18Setting { graph: &graph, eta: 0.5, gamma, smoothness };
                    let said = setting.holds(l, 2.0);
                    assert_eq!(said, by_numbers(5.0, 0.5, gamma, smoothness, (l, 2.0)));
                    held[usize::from(said)] += 1;
                }
            }
        }
        assert!(held[0] > 3 && held[1] > 3, "both happen: {held:?}");
    }

    /// "Easily satisfied for sufficiently large γ", but on no bipartite graph: D + A is singular.
    #[test]
    fn a_large_gamma_is_enough_unless_the_graph_is_bipartite() {
        let of = |graph: &str, parties: u32, gamma: f64| {
            let graph = Topology::parse(graph, parties, 1).unwrap();
            Ra18Setting { graph: &graph, eta: 0.5, gamma, smoothness: 4.0 }.converges()
        };
        assert!(of("ring", 5, 1e4));
        assert!(!of("ring", 5, 0.1));
        assert!(!of("ring", 4, 1e4));
    }
}

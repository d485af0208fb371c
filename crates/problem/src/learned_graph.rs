//! A graph of the features from noisy second moments, as arithmetic on a released matrix.
//!
//! ```text
//! M̃ = M + noise            released, symmetric, perhaps with negative eigenvalues
//! M⁺ = M̃ without them, S_jk = M⁺_jk/√(D_j D_k),   D_j = max(M⁺_jj, ν)
//! Θ = graphical lasso of S with Λ_jk = max(λ, t ν_jk)
//! edges: the links with the largest |partial correlation|, at most as many as allowed, each with its sign
//! ```
//!
//! ν is the standard deviation of the noise on the diagonal, which is public; off it the noise is
//! `ν/√2`, so on the scale of `S` it is `ν_jk = ν/√(2 D_j D_k)`. With `t = √(2 ln(d(d−1)/2))`, a
//! largest of so many Gaussians is about `t ν_jk`: noise alone makes few links. An edge says
//! `x_j ≈ sign·x_k`, as in the graph-guided fused lasso of LS22, who take the graph from the data
//! and do not pay for it (E6).

use faer::{MatRef, Side};

use crate::graphical_lasso::graphical_lasso;
use crate::{Edge, Graph};

/// What is public about how a graph is to be learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GraphTerms {
    /// λ of the graphical lasso, on the scale of correlations.
    pub lambda: f64,
    /// The most edges that the learned graph may have.
    pub edges: usize,
    /// ν: the standard deviation of the noise on a diagonal entry.
    pub noise: f64,
}

impl Graph {
    /// A graph from noisy second moments, row-major `nodes × nodes`.
    pub fn learn(moments: &[f64], nodes: usize, params: &GraphTerms) -> Self {
        let edges = links(moments, nodes, params).unwrap_or_default();
        // Distinct pairs of distinct nodes with weights ±1, so nothing can be wrong with them.
        Self::new(nodes, edges).unwrap_or_else(|_| Self::empty(nodes))
    }
}

/// `None` when the matrix is not one that can be decomposed.
fn links(moments: &[f64], d: usize, params: &GraphTerms) -> Option<Vec<Edge>> {
    let m = semidefinite(moments, d)?;
    let scale: Vec<f64> =
        (0..d).map(|j| m[j * d + j].max(params.noise).max(f64::MIN_POSITIVE).sqrt()).collect();
    let pairs = (d * d.saturating_sub(1) / 2).max(2) as f64;
    let noise = (2.0 * pairs.ln()).sqrt() * params.noise * std::f64::consts::FRAC_1_SQRT_2;
    let (mut s, mut lambda) = (vec![0.0; d * d], vec![0.0; d * d]);
    for j in 0..d {
        for k in 0..d {
            let both = scale[j] * scale[k];
            // On the diagonal 1, also where the noise has eaten the feature: it then has no links.
            s[j * d + k] = if j == k { 1.0 } else { m[j * d + k] / both };
            lambda[j * d + k] = params.lambda.max(noise / both);
        }
    }
    let theta = graphical_lasso(&s, &lambda, d);
    let mut links = Vec::new();
    for j in 0..d {
        for k in j + 1..d {
            let partial = -theta[j * d + k] / (theta[j * d + j] * theta[k * d + k]).sqrt();
            if partial.is_finite() && partial != 0.0 {
                links.push((partial, j, k));
            }
        }
    }
    links.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then((a.1, a.2).cmp(&(b.1, b.2))));
    links.truncate(params.edges);
    Some(
        links
            .into_iter()
            .map(|(partial, from, to)| Edge { from, to, weight: partial.signum() })
            .collect(),
    )
}

/// The nearest positive semidefinite matrix.
fn semidefinite(matrix: &[f64], d: usize) -> Option<Vec<f64>> {
    if matrix.len() != d * d || matrix.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let eigen = MatRef::from_row_major_slice(matrix, d, d).self_adjoint_eigen(Side::Lower).ok()?;
    let vectors = eigen.U();
    let mut out = vec![0.0; d * d];
    for (k, &value) in
        eigen.S().column_vector().iter().enumerate().filter(|(_, value)| **value > 0.0)
    {
        for i in 0..d {
            let left = value * vectors[(i, k)];
            for j in 0..d {
                out[i * d + j] += left * vectors[(j, k)];
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feature 1 leans on 0, and 3 against 2; 4 is apart.
    fn moments() -> Vec<f64> {
        let mut m = [[0.0; 5]; 5];
        (0..5).for_each(|j| m[j][j] = [0.5, 0.3, 0.2, 0.4, 0.1][j]);
        for (j, k, v) in [(0, 1, 0.25), (2, 3, -0.2)] {
            (m[j][k], m[k][j]) = (v, v);
        }
        m.concat()
    }

    fn edges(graph: &Graph) -> Vec<(usize, usize, f64)> {
        graph.edges().iter().map(|e| (e.from, e.to, e.weight)).collect()
    }

    const TERMS: GraphTerms = GraphTerms { lambda: 0.1, edges: 10, noise: 1e-6 };

    #[test]
    fn links_are_found_with_their_signs_and_the_strongest_first() {
        assert_eq!(edges(&Graph::learn(&moments(), 5, &TERMS)), [(2, 3, -1.0), (0, 1, 1.0)]);
        let one = Graph::learn(&moments(), 5, &GraphTerms { edges: 1, ..TERMS });
        assert_eq!(edges(&one), [(2, 3, -1.0)]);
    }

    #[test]
    fn noise_makes_no_links_and_a_matrix_that_is_none_gives_no_graph() {
        // Noise of the size that is declared, on top of nothing.
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
        };
        let d = 30;
        let mut m = vec![0.0; d * d];
        for j in 0..d {
            for k in 0..=j {
                let v = if j == k { 0.1 } else { 0.01 * next() };
                (m[j * d + k], m[k * d + j]) = (v, v);
            }
        }
        let terms =
            GraphTerms { lambda: 0.01, edges: 1000, noise: 0.01 / 12_f64.sqrt() * 2_f64.sqrt() };
        assert_eq!(Graph::learn(&m, d, &terms).edges().len(), 0);
        let loose = Graph::learn(&m, d, &GraphTerms { noise: 0.0, ..terms });
        assert!(!loose.edges().is_empty(), "without the noise level they are taken for links");
        assert_eq!(Graph::learn(&[f64::NAN; 4], 2, &TERMS).edges().len(), 0);
    }

    #[test]
    fn negative_eigenvalues_are_dropped() {
        let m = semidefinite(&[1.0, 2.0, 2.0, 1.0], 2).unwrap();
        for (ours, exact) in m.iter().zip([1.5; 4]) {
            assert!((ours - exact).abs() < 1e-12, "{m:?}");
        }
    }
}

//! The graphical lasso: which features depend on each other once all the others are known.
//!
//! ```text
//! minimise  tr(S Θ) − ln det Θ + Σ_{i≠j} Λ_ij |Θ_ij|     over positive definite Θ
//! ```
//!
//! `S` is positive semidefinite with a positive diagonal, `Λ` symmetric; the diagonal of `Θ` is not
//! penalised. Solved column by column (Friedman, Hastie and Tibshirani 2008): with `W = Θ⁻¹`, whose
//! diagonal is that of `S`,
//!
//! ```text
//! β  = argmin ½ βᵀ W₁₁ β − s₁₂ᵀ β + Σ Λ_k |β_k|         a lasso, by coordinate descent
//! w₁₂ = W₁₁ β,   Θ_jj = 1/(w_jj − w₁₂ᵀβ),   θ₁₂ = −Θ_jj β
//! ```
//!
//! Zeros come out as zeros, and a feature that nothing is linked to costs a look at its column. It
//! ends when a sweep leaves `W` as it was; the duality gap `tr(SΘ) + Σ Λ|Θ| − d` of a `Θ` on the
//! way has either sign and may pass 0 far from the end. The crates that have it are parts of large
//! statistical systems; this is a page.

/// Sweeps over the columns at most, and over the coordinates of one column.
const SWEEPS: usize = 200;
const INNER: usize = 100;

/// The change of an entry of `W`, relative to the diagonal, at which it ends.
const STILL: f64 = 1e-7;

/// `Θ`, row-major, for `S` and `Λ` of `d × d` numbers.
pub(crate) fn graphical_lasso(s: &[f64], lambda: &[f64], d: usize) -> Vec<f64> {
    // A positive definite start: from S a twentieth of the way to its diagonal.
    let mut w: Vec<f64> = (0..d * d)
        .map(|place| s[place] * if place / d == place % d { 1.0 } else { 0.95 })
        .collect();
    let mut theta = vec![0.0; d * d];
    // A row for each column's β, kept between sweeps.
    let mut betas = vec![0.0; d * d];
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for j in 0..d {
            let beta = &mut betas[j * d..(j + 1) * d];
            let row = j * d..(j + 1) * d;
            let product = lasso(&w, &s[row.clone()], &lambda[row], j, beta);
            let mut inner = 0.0;
            for k in (0..d).filter(|&k| k != j) {
                let size = (s[j * d + j] * s[k * d + k]).sqrt();
                moved = moved.max((w[j * d + k] - product[k]).abs() / size);
                w[j * d + k] = product[k];
                w[k * d + j] = product[k];
                inner += product[k] * beta[k];
            }
            let own = 1.0 / (w[j * d + j] - inner);
            for k in 0..d {
                theta[j * d + k] = if k == j { own } else { -own * beta[k] };
            }
        }
        if moved <= STILL {
            break;
        }
    }
    symmetric(&theta, d)
}

/// `β` of column `j`, in place, and `W₁₁ β`; entry `j` is 0 and stays so.
fn lasso(w: &[f64], s: &[f64], lambda: &[f64], j: usize, beta: &mut [f64]) -> Vec<f64> {
    let d = s.len();
    let mut product = vec![0.0; d];
    let add = |product: &mut [f64], k: usize, change: f64| {
        product.iter_mut().zip(&w[k * d..(k + 1) * d]).for_each(|(p, w)| *p += change * w);
    };
    for k in (0..d).filter(|&k| beta[k] != 0.0) {
        add(&mut product, k, beta[k]);
    }
    for _ in 0..INNER {
        let mut largest = 0.0_f64;
        for k in (0..d).filter(|&k| k != j) {
            let own = w[k * d + k];
            let free = s[k] - product[k] + own * beta[k];
            let next = free.signum() * (free.abs() - lambda[k]).max(0.0) / own;
            let change = next - beta[k];
            if change != 0.0 {
                add(&mut product, k, change);
                beta[k] = next;
                largest = largest.max(change.abs() * own);
            }
        }
        if largest <= 1e-9 {
            break;
        }
    }
    product
}

/// The mean of `Θ` and its transpose; 0 where either is, so that a link is one that both ends agree
/// on.
fn symmetric(theta: &[f64], d: usize) -> Vec<f64> {
    let mut out = theta.to_vec();
    for i in 0..d {
        for j in 0..d {
            let (a, b) = (theta[i * d + j], theta[j * d + i]);
            out[i * d + j] = if a == 0.0 || b == 0.0 { 0.0 } else { 0.5 * (a + b) };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(s: &[f64], lambda: &[f64], theta: &[f64], d: usize) -> f64 {
        let terms = s.iter().zip(lambda).zip(theta).enumerate();
        let sum: f64 = terms
            .map(|(place, ((s, lambda), t))| {
                s * t + if place / d == place % d { 0.0 } else { lambda * t.abs() }
            })
            .sum();
        sum - d as f64
    }

    #[derive(serde::Deserialize)]
    struct Golden {
        cases: Vec<Case>,
    }

    #[derive(serde::Deserialize)]
    struct Case {
        covariance: Vec<Vec<f64>>,
        lambda: f64,
        precision: Vec<Vec<f64>>,
    }

    /// scikit-learn's solutions; see golden/make_graphical_lasso.py.
    #[test]
    fn agrees_with_scikit_learn() {
        let golden: Golden =
            serde_json::from_str(include_str!("../../../golden/graphical_lasso.json")).unwrap();
        assert!(golden.cases.len() >= 4);
        for Case { covariance, lambda, precision } in golden.cases {
            let d = covariance.len();
            let theta = graphical_lasso(&covariance.concat(), &vec![lambda; d * d], d);
            for (ours, theirs) in theta.iter().zip(precision.concat()) {
                assert!(
                    (ours - theirs).abs() < 1e-4 * (1.0 + theirs.abs()),
                    "{lambda}: {ours} {theirs}"
                );
                assert!(theirs.abs() < 1e-2 || (*ours != 0.0), "{lambda}: an edge is missing");
            }
            assert!(
                gap(&covariance.concat(), &vec![lambda; d * d], &theta, d).abs() < 1e-4 * d as f64
            );
        }
    }

    #[test]
    fn a_penalty_above_every_entry_leaves_no_edge() {
        let s = [1.0, 0.4, 0.4, 2.0];
        assert_eq!(graphical_lasso(&s, &[0.4; 4], 2), [1.0, 0.0, 0.0, 0.5]);
        // Two features: Θ is the inverse of S with the off-diagonal entry shrunk by λ.
        let theta = graphical_lasso(&s, &[0.1; 4], 2);
        let det = 2.0 - 0.3 * 0.3;
        for (ours, exact) in theta.iter().zip([2.0 / det, -0.3 / det, -0.3 / det, 1.0 / det]) {
            assert!((ours - exact).abs() < 1e-6, "{theta:?}");
        }
    }
}

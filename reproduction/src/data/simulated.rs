//! Simulated tables of the papers, and stand-ins for public sets.

use crate::random::Random;
use crate::table::RowTable;

/// A table of indicators: `ones` columns of each row are 1/√ones, those of low number more often,
/// and the class depends on a tenth of the columns. What stands in for a public set of such rows.
pub(crate) fn indicators(rows: usize, columns: usize, ones: usize) -> RowTable {
    let mut random = Random::new(11, 1);
    let truth: Vec<f64> =
        (0..columns).map(|j| if j % 10 == 0 { 6.0 * random.normal() } else { 0.0 }).collect();
    let mut table = RowTable::new(columns, true);
    for _ in 0..rows {
        let mut row = vec![0.0; columns];
        for _ in 0..ones.min(columns) {
            row[(random.uniform().powi(2) * columns as f64) as usize] = 1.0;
        }
        let norm = row.iter().sum::<f64>().sqrt();
        let score: f64 = row.iter().zip(&truth).map(|(a, b)| a * b / norm).sum();
        let yes = random.uniform() < 1.0 / (1.0 + (-score).exp());
        table.push((0..).zip(row.into_iter().map(|v| v / norm)), if yes { 1.0 } else { -1.0 });
    }
    table
}

/// RDP20, section 5: s ~ N(0, Σ) with Σ_ij = ½^|i−j|, d = 100, coefficients ½ … 5 and −½ … −5, the
/// rest 0, a label of probability 1/(1 + exp(−(sᵀx + N(0, 1)))). Rows are divided by 4√d/3 and cut
/// to norm 1, as the gate's clip would.
pub(crate) fn rdp20(rows: usize, seed: u64) -> RowTable {
    const D: usize = 100;
    let mut random = Random::new(seed, 20);
    let mut table = RowTable::new(D, true);
    for _ in 0..rows {
        let mut s = vec![random.normal(); D];
        // An autoregression of order 1 has these covariances.
        for j in 1..D {
            s[j] = 0.5 * s[j - 1] + 0.75_f64.sqrt() * random.normal();
        }
        let logit: f64 = s.iter().zip(rdp20_truth()).map(|(s, x)| s * x).sum();
        let yes = random.uniform() < 1.0 / (1.0 + (-(logit + random.normal())).exp());
        let scale = 0.75 / (D as f64).sqrt();
        table.push((0..).zip(s.into_iter().map(|v| v * scale)), if yes { 1.0 } else { -1.0 });
    }
    table
}

/// The coefficients behind [`rdp20`]: 20 that are not 0.
pub(crate) fn rdp20_truth() -> impl Iterator<Item = f64> {
    (0..100).map(|j| match j {
        0..10 => 0.5 * f64::from(j + 1),
        10..20 => -0.5 * f64::from(j - 9),
        _ => 0.0,
    })
}

/// ξ_k of RDP20: the share of the 20 columns that count which are among the `k` largest
/// coefficients.
pub(crate) fn found(x: &[f64], k: usize) -> f64 {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[b].abs().total_cmp(&x[a].abs()));
    // Coefficients of 0 are not selected, whatever their number is.
    let chosen = order[..k].iter().filter(|&&j| j < 20 && x[j] != 0.0);
    chosen.count() as f64 / 20.0
}

/// FP23, appendix E: a uniform on the unit sphere in 64 dimensions, b = aᵀx + N(0, 0.01), 8
/// coefficients that are not 0, drawn evenly from 0 to 1. `truth` is the seed of the coefficients and
/// `seed` that of the rows. Targets are cut at ±1, which is more than four deviations.
pub(crate) fn fp23(rows: usize, truth: u64, seed: u64) -> RowTable {
    let mut random = Random::new(seed, 23);
    let truth = fp23_truth(truth);
    let mut table = RowTable::new(truth.len(), false);
    for _ in 0..rows {
        let a: Vec<f64> = (0..truth.len()).map(|_| random.normal()).collect();
        let norm = a.iter().map(|v| v * v).sum::<f64>().sqrt();
        let score: f64 = a.iter().zip(&truth).map(|(a, x)| a * x / norm).sum();
        let b = score + 0.1 * random.normal();
        table.push((0..).zip(a.into_iter().map(|v| v / norm)), b.clamp(-1.0, 1.0));
    }
    table
}

/// The coefficients behind [`fp23`]; ‖x‖² is 8/3 in the mean over draws.
fn fp23_truth(seed: u64) -> [f64; 64] {
    let mut truth = [0.0; 64];
    let mut random = Random::new(seed, 32);
    for j in random.shuffled(truth.len()).into_iter().take(8) {
        truth[j] = random.uniform();
    }
    truth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_tables_are_what_the_papers_say() {
        let table = rdp20(2_000, 1);
        assert_eq!(table.columns, 100);
        let truth: Vec<f64> = rdp20_truth().collect();
        assert_eq!(
            (truth[0], truth[9], truth[10], truth[19], truth[20]),
            (0.5, 5.0, -0.5, -5.0, 0.0)
        );
        // The true model is right far more often than not.
        assert!(table.accuracy(&truth) > 0.85, "{}", table.accuracy(&truth));
        assert_eq!(found(&truth, 20), 1.0);
        assert_eq!(found(&[0.0; 100], 20), 0.0);

        let table = fp23(500, 2, 1);
        let zero = table.mean_square(&[0.0; 64]);
        let truth = fp23_truth(2);
        assert_eq!(truth.iter().filter(|x| **x > 0.0 && **x < 1.0).count(), 8);
        // E b² = ‖x‖²/64 + 0.01, and ‖x‖² is 8/3 in the mean over draws.
        let square = |truth: [f64; 64]| truth.iter().map(|x| x * x).sum::<f64>();
        let mean = (0..500).map(|seed| square(fp23_truth(seed))).sum::<f64>() / 500.0;
        // x² of a uniform x has a deviation of .298: the mean of 500 draws of 8 is within .15 of 8/3
        // but for one time in 15,000.
        assert!((mean - 8.0 / 3.0).abs() < 0.15, "{mean}");
        let square = square(truth);
        assert!((zero - (square / 64.0 + 0.01)).abs() < 0.008, "{zero}");
        // The true model leaves its noise alone.
        assert!((table.mean_square(&truth) - 0.01).abs() < 0.003);
    }
}

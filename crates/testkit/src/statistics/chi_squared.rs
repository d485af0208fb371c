//! Pearson's χ² for counts in cells. The p-value is asymptotic; with at least 20 expected in each
//! cell it is good enough for false-alarm rates down to about 1e-6, and cells that expect less are
//! merged with their neighbours.

use statrs::function::gamma::{gamma_lr, gamma_ur};

/// The least expected count of a cell.
const LEAST: f64 = 20.0;

/// p-value of counts against the probabilities of their cells (which sum to one).
///
/// # Panics
/// If the lengths differ, or fewer than two cells are left after merging.
pub fn chi_squared(counts: &[u64], probabilities: &[f64]) -> f64 {
    assert_eq!(counts.len(), probabilities.len(), "one probability per cell");
    let total = counts.iter().sum::<u64>() as f64;
    let cells = merge(counts.iter().zip(probabilities).map(|(&c, &p)| (c as f64, total * p)));
    let statistic = cells.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    upper_tail(statistic, cells.len())
}

/// p-value for two samples from one distribution, as counts in the same cells.
///
/// # Panics
/// If the lengths differ, or fewer than two cells are left after merging.
pub fn two_sample_chi_squared(a: &[u64], b: &[u64]) -> f64 {
    assert_eq!(a.len(), b.len(), "the samples are counted in the same cells");
    let (total_a, total_b) = (a.iter().sum::<u64>() as f64, b.iter().sum::<u64>() as f64);
    // The weight of a cell for merging is the smaller of its two expected counts.
    let share = total_a.min(total_b) / (total_a + total_b);
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&x, &y) in a.iter().zip(b) {
        open = (open.0 + x as f64, open.1 + y as f64);
        if (open.0 + open.1) * share >= LEAST {
            cells.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = cells.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    let (up, down) = ((total_b / total_a).sqrt(), (total_a / total_b).sqrt());
    let statistic = cells.iter().map(|(x, y)| (up * x - down * y).powi(2) / (x + y)).sum();
    upper_tail(statistic, cells.len())
}

/// P(X ≤ x) for X with density proportional to x^(shape − 1)·e^−x.
pub fn gamma_cdf(shape: f64, x: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { gamma_lr(shape, x) }
}

fn merge(cells: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut merged: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (seen, expected) in cells {
        open = (open.0 + seen, open.1 + expected);
        if open.1 >= LEAST {
            merged.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = merged.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    merged
}

fn upper_tail(statistic: f64, cells: usize) -> f64 {
    assert!(cells >= 2, "fewer than two cells with enough expected counts: draw more");
    if statistic <= 0.0 { 1.0 } else { gamma_ur((cells - 1) as f64 / 2.0, statistic / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_agrees_with_scipy() {
        // scipy.stats.chi2.sf(statistic, cells − 1)
        for (statistic, cells, expected) in GOLDEN {
            let found = upper_tail(statistic, cells);
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{statistic} {cells}: {found} against {expected}"
            );
        }
    }

    const GOLDEN: [(f64, usize, f64); 4] = [
        (3.0, 2, 0.08326451666355042),
        (40.0, 11, 1.694474393006737e-05),
        (130.0, 101, 0.02351239780980871),
        (700.0, 501, 7.728992111216604e-09),
    ];

    #[test]
    fn a_loaded_die_is_noticed_and_a_fair_one_is_not() {
        let fair = [1.0 / 6.0; 6];
        assert!(chi_squared(&[1000, 1010, 990, 1003, 997, 1000], &fair) > 0.5);
        assert!(chi_squared(&[1000, 1000, 1000, 1000, 1000, 1400], &fair) < 1e-10);
        assert!(two_sample_chi_squared(&[500, 510, 490], &[2000, 2010, 1990]) > 0.5);
        assert!(two_sample_chi_squared(&[500, 700, 490], &[2000, 2010, 1990]) < 1e-5);
    }
}

//! Simulated data with planted coefficients, the same for the same seed.
//!
//! Rows are Gaussian, divided by √d and then cut to norm 1, because that is what the gate's
//! clipping would make of them: a reference solver and a private one see the same table. With unit
//! rows the signal x·w of a planted w has size about ‖w‖/√d, so planted coefficients are of size 1
//! to 10 rather than 0.1.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use rand::RngExt;
use rand::seq::index;
use rand_distr::StandardNormal;

/// A table in row-major order, its targets, and the truth behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// `rows` × `columns` features; no row has norm above 1.
    pub features: Vec<f64>,
    /// −1 or 1 for logistic data, a class number for multinomial data, a real number for linear
    /// data.
    pub targets: Vec<f64>,
    /// What was planted; classes × columns, class by class, for multinomial data.
    pub coefficients: Vec<f64>,
}

impl Simulated {
    /// The same with its targets divided by the largest, so that they are within ±1 as those of
    /// every table behind a gate are.
    #[must_use]
    pub fn scaled(mut self) -> Self {
        let largest = self.targets.iter().fold(0.0_f64, |most, target| most.max(target.abs()));
        self.targets.iter_mut().for_each(|target| *target /= largest);
        self
    }

    /// Row number i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.features[i * self.columns..(i + 1) * self.columns]
    }
}

/// Coefficients that are all of size `scale`: Gaussian.
pub fn dense(columns: usize, scale: f64, seed: u64) -> Vec<f64> {
    let mut rng = generator(seed, 1);
    (0..columns).map(|_| scale * rng.sample::<f64, _>(StandardNormal)).collect()
}

/// `nonzero` coefficients of value ±`scale` in random places: for the lasso.
///
/// # Panics
/// If more are asked for than there are columns.
pub fn sparse(columns: usize, nonzero: usize, scale: f64, seed: u64) -> Vec<f64> {
    let mut rng = generator(seed, 2);
    let mut coefficients = vec![0.0; columns];
    for place in index::sample(&mut rng, columns, nonzero) {
        coefficients[place] = if rng.random::<bool>() { scale } else { -scale };
    }
    coefficients
}

/// `pieces` stretches of (nearly) equal length, each constant, neighbours different: for the fused
/// lasso.
///
/// # Panics
/// If there are more pieces than columns, or none.
pub fn piecewise_constant(columns: usize, pieces: usize, scale: f64, seed: u64) -> Vec<f64> {
    assert!((1..=columns).contains(&pieces), "between 1 and {columns} pieces, got {pieces}");
    let mut rng = generator(seed, 3);
    // Steps of at least scale/2, upward or downward, keep neighbours apart.
    let mut level = 0.0;
    let levels: Vec<f64> = (0..pieces)
        .map(|_| {
            let step = scale * (0.5 + rng.random::<f64>());
            level += if level > 0.0 { -step } else { step };
            level
        })
        .collect();
    (0..columns).map(|j| levels[j * pieces / columns]).collect()
}

/// y = x·w + `noise`·N(0, 1).
pub fn linear(rows: usize, coefficients: Vec<f64>, noise: f64, seed: u64) -> Simulated {
    simulate(rows, coefficients.len(), coefficients, seed, |row, w, rng| {
        dot(row, w) + noise * rng.sample::<f64, _>(StandardNormal)
    })
}

/// y = 1 with probability 1/(1 + e^(−x·w)), otherwise −1.
pub fn logistic(rows: usize, coefficients: Vec<f64>, seed: u64) -> Simulated {
    simulate(rows, coefficients.len(), coefficients, seed, |row, w, rng| {
        let probability = 1.0 / (1.0 + (-dot(row, w)).exp());
        if rng.random::<f64>() < probability { 1.0 } else { -1.0 }
    })
}

/// Class c with probability proportional to e^(x·w_c); `coefficients` holds w₀, w₁, … one after the
/// other.
///
/// # Panics
/// If the coefficients are not a whole number of classes.
pub fn multinomial(rows: usize, columns: usize, coefficients: Vec<f64>, seed: u64) -> Simulated {
    assert!(
        columns > 0 && coefficients.len().is_multiple_of(columns),
        "classes × {columns} coefficients"
    );
    simulate(rows, columns, coefficients, seed, |row, w, rng| {
        let weights: Vec<f64> =
            w.chunks_exact(row.len()).map(|class| dot(row, class).exp()).collect();
        let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        chosen.unwrap_or(weights.len() - 1) as f64
    })
}

fn simulate(
    rows: usize,
    columns: usize,
    coefficients: Vec<f64>,
    seed: u64,
    target: impl Fn(&[f64], &[f64], &mut ChaCha20Rng) -> f64,
) -> Simulated {
    let mut rng = generator(seed, 0);
    let mut features = Vec::with_capacity(rows * columns);
    let mut targets = Vec::with_capacity(rows);
    for _ in 0..rows {
        let mut row: Vec<f64> = (0..columns).map(|_| rng.sample(StandardNormal)).collect();
        // The last factor keeps a row that was cut from ending an ulp above norm 1.
        let length = (columns as f64).sqrt().max(dot(&row, &row).sqrt()) * (1.0 + 1e-15);
        row.iter_mut().for_each(|value| *value /= length);
        targets.push(target(&row, &coefficients, &mut rng));
        features.extend(row);
    }
    Simulated { rows, columns, features, targets, coefficients }
}

/// Independent streams for the table and for each kind of coefficients, so that one seed may serve
/// for both.
fn generator(seed: u64, stream: u64) -> ChaCha20Rng {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_table() {
        let make = |seed| logistic(50, dense(7, 2.0, seed), seed);
        assert_eq!(make(3), make(3));
        assert_ne!(make(3), make(4));
    }

    #[test]
    fn rows_are_bounded() {
        let data = linear(1000, dense(5, 1.0, 1), 0.1, 1);
        let longest = (0..data.rows).map(|i| dot(data.row(i), data.row(i))).fold(0.0, f64::max);
        assert!(longest <= 1.0 && longest > 0.99, "{longest}");
    }

    #[test]
    fn shapes_of_the_coefficients() {
        let spikes = sparse(100, 7, 3.0, 5);
        assert_eq!(spikes.iter().filter(|value| value.abs() == 3.0).count(), 7);
        assert_eq!(spikes.iter().filter(|value| **value == 0.0).count(), 93);
        let steps = piecewise_constant(100, 6, 2.0, 5);
        let jumps = steps.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!(jumps, 5);
    }

    /// Targets follow the planted coefficients: agreement in sign well above half (10 standard
    /// deviations).
    #[test]
    fn targets_follow_the_truth() {
        let data = logistic(4000, dense(6, 8.0, 9), 9);
        let right = (0..data.rows)
            .filter(|&i| dot(data.row(i), &data.coefficients) * data.targets[i] > 0.0)
            .count();
        assert!(right > 2000 + 10 * 32, "{right}");
        let data = multinomial(4000, 4, dense(12, 8.0, 9), 9);
        let best = |row: &[f64]| {
            let scores: Vec<f64> =
                data.coefficients.chunks(4).map(|class| dot(row, class)).collect();
            (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).map(|class| class as f64)
        };
        let right = (0..data.rows).filter(|&i| best(data.row(i)) == Some(data.targets[i])).count();
        assert!(right > 4000 / 3 + 10 * 30, "{right}");
    }
}

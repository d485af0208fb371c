//! Kolmogorov–Smirnov. The p-values are upper bounds that hold for every sample size and for laws
//! with atoms: Massart's constant in the Dvoretzky–Kiefer–Wolfowitz inequality, P(sup |F_n − F| >
//! t) ≤ 2·e^(−2nt²).

/// Upper bound on the p-value of a sorted sample against a distribution function. `cdf` is called
/// with each distinct value and gives (P(X < value), P(X ≤ value)).
pub fn kolmogorov<T: PartialOrd + Copy>(sorted: &[T], cdf: impl Fn(T) -> (f64, f64)) -> f64 {
    let n = sorted.len() as f64;
    let mut distance: f64 = 0.0;
    let mut start = 0;
    while start < sorted.len() {
        let value = sorted[start];
        let end = start + sorted[start..].partition_point(|other| *other <= value);
        let (before, after) = cdf(value);
        distance =
            distance.max((start as f64 / n - before).abs()).max((end as f64 / n - after).abs());
        start = end;
    }
    (2.0 * (-2.0 * n * distance * distance).exp()).min(1.0)
}

/// Upper bound on the p-value of two sorted samples from one law: the inequality for each, with the
/// distance shared so that both exponents are equal.
pub fn two_sample_kolmogorov<T: PartialOrd + Copy>(a: &[T], b: &[T]) -> f64 {
    let (m, n) = (a.len() as f64, b.len() as f64);
    let distance = a.iter().chain(b).map(|value| {
        let below = |sorted: &[T]| {
            sorted.partition_point(|other| other <= value) as f64 / sorted.len() as f64
        };
        (below(a) - below(b)).abs()
    });
    let t = distance.fold(0.0, f64::max) / (1.0 / m.sqrt() + 1.0 / n.sqrt());
    (4.0 * (-2.0 * t * t).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_points_fit_the_uniform_law_and_not_another() {
        let even: Vec<f64> = (0..1000).map(|i| (i as f64 + 0.5) / 1000.0).collect();
        assert_eq!(kolmogorov(&even, |x| (x, x)), 1.0);
        assert!(kolmogorov(&even, |x| (x * x, x * x)) < 1e-20);
        let squares: Vec<f64> = even.iter().map(|x| x * x).collect();
        assert_eq!(two_sample_kolmogorov(&even, &even), 1.0);
        assert!(two_sample_kolmogorov(&even, &squares) < 1e-10);
    }

    #[test]
    fn atoms_are_no_misfit() {
        let coin: Vec<u8> = [[0; 500], [1; 500]].concat();
        assert_eq!(kolmogorov(&coin, |x| if x == 0 { (0.0, 0.5) } else { (0.5, 1.0) }), 1.0);
    }
}

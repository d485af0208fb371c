//! LS22, Theorems 3 to 6. They bound the expected gap (of its Bregman form R, and in the general
//! case with the distance from the constraint) up to a constant that is not given.

/// What the theorems are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ls22Setting {
    /// d₁.
    pub features: usize,
    /// n.
    pub rows: usize,
    /// l, the Lipschitz constant of one record's loss.
    pub slope: f64,
    /// ν of the Laplacian smoothing.
    pub smoothing: f64,
    pub delta: f64,
}

/// τ = (1/d) Σᵢ 1/(1 + 2ν − 2ν cos(2πi/d)): the part of the noise that smoothing leaves (Theorem 3).
pub(crate) fn tau(smoothing: f64, features: usize) -> f64 {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / features as f64;
    let left = |i: usize| 1.0 / (1.0 + 2.0 * smoothing * (1.0 - angle(i).cos()));
    (1..=features).map(left).sum::<f64>() / features as f64
}

impl Ls22Setting {
    /// Theorem 3 (VRADMM) and Theorem 5 (SADMM), general convex: l√(τ d ln(1/δ))/(ε n).
    pub fn general(&self, epsilon: f64) -> f64 {
        let noise = tau(self.smoothing, self.features) * self.features as f64;
        self.slope * (noise * -self.delta.ln()).sqrt() / (epsilon * self.rows as f64)
    }

    /// Theorem 4 (VRADMM) and Theorem 6 (SADMM), μ-strongly convex: τ d l² ln(n) ln(1/δ)/(μ ε² n²),
    /// which is the square of the general one with ln(n)/μ.
    pub fn strong(&self, epsilon: f64, mu: f64) -> f64 {
        self.general(epsilon).powi(2) * (self.rows as f64).ln() / mu
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Ls22Setting =
        Ls22Setting { features: 4, rows: 1_000, slope: 1.0, smoothing: 0.0, delta: 1e-2 };

    #[test]
    fn values_by_hand() {
        // √(4 · 4.60517)/(0.5 · 1000), and its square times 6.90776/0.1.
        assert!((SETTING.general(0.5) - 8.583_86e-3).abs() < 1e-8, "{}", SETTING.general(0.5));
        let strong = SETTING.strong(0.5, 0.1);
        assert!((strong - 5.089_82e-3).abs() < 1e-7, "{strong}");
        assert_eq!(tau(0.0, 7), 1.0);
        // d = 4, ν = 1: 1/(1 + 2(1 − c)) for c = 0, −1, 0, 1.
        assert!((tau(1.0, 4) - (1.0 / 3.0 + 0.2 + 1.0 / 3.0 + 1.0) / 4.0).abs() < 1e-15);
        // The limit that Remark 1 has for many features.
        assert!((tau(2.0, 1_000) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn they_fall_with_epsilon_rows_and_smoothing() {
        let general = SETTING.general(0.5);
        assert_eq!(SETTING.general(1.0), general / 2.0);
        assert!(SETTING.strong(1.0, 0.1) < SETTING.strong(0.5, 0.1));
        assert!(SETTING.strong(0.5, 0.2) < SETTING.strong(0.5, 0.1));
        assert!(Ls22Setting { rows: 2_000, ..SETTING }.general(0.5) < general);
        assert!(Ls22Setting { smoothing: 2.0, ..SETTING }.general(0.5) < general);
        assert!(Ls22Setting { features: 8, ..SETTING }.general(0.5) > general);
        assert!(SETTING.strong(0.5, 0.0).is_infinite(), "without curvature there is none");
    }
}

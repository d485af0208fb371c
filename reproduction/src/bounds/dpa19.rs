//! DPA19, Theorems 3 and 4: the expected gap of the averaged iterates of DP-ADMM after t rounds, as
//! a mean over providers (the paper has their sum), for β = 0: without the distance from consensus.
//!
//! Two terms are not as printed. Theorem 3 has no noise in it, though Lemma 3 has: its E‖f' − (ρ +
//! 1/η)ξ‖² is G² + d(zS₁/m)². Theorem 4 counts the noise of one coordinate and not of d (erratum
//! E10). Both are here with noise in all coordinates; z = 0 in the first is Theorem 3 as printed.

/// What the theorems are about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dpa19Setting {
    /// d.
    pub features: usize,
    /// m, the records of a provider.
    pub rows: f64,
    /// D_w: the distance from 0 to the optimum, or more.
    pub diameter: f64,
    /// ρ.
    pub rho: f64,
    /// S₁, the Lipschitz constant of one record's loss.
    pub slope: f64,
}

impl Dpa19Setting {
    /// Theorem 3 (convex), with S₂ as that of the provider's own penalty:
    /// √2 D G/√t + ρD²/(2t) with G = S₁ + S₂, and d(zS₁/m)² D/(G√(2t)) for noise of z clips.
    pub fn convex(&self, t: f64, penalty_slope: f64, noise: f64) -> f64 {
        let steep = self.slope + penalty_slope;
        let exact = 2_f64.sqrt() * self.diameter * steep / t.sqrt();
        exact + self.last(t) + self.variance(noise) * self.diameter / (steep * (2.0 * t).sqrt())
    }

    /// Theorem 4 (smooth), with `curvature` = S₃ + S₄ of the provider's own penalty:
    /// (1 + d)·zS₁D/(m√(2t)) + D²(S₃ + S₄)/(2t) + ρD²/(2t) for noise of z clips; as printed d is 1
    /// in it.
    pub fn smooth(&self, t: f64, curvature: f64, noise: f64) -> f64 {
        let one = noise * self.slope * self.diameter / (self.rows * (2.0 * t).sqrt());
        let d = self.features as f64;
        (1.0 + d) * one + self.diameter.powi(2) * curvature / (2.0 * t) + self.last(t)
    }

    fn last(&self, t: f64) -> f64 {
        self.rho * self.diameter.powi(2) / (2.0 * t)
    }

    /// Of the noise on the mean gradient of a provider, in all coordinates.
    fn variance(&self, noise: f64) -> f64 {
        self.features as f64 * (noise * self.slope / self.rows).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Dpa19Setting =
        Dpa19Setting { features: 3, rows: 50.0, diameter: 2.0, rho: 0.5, slope: 1.0 };

    #[test]
    fn values_by_hand() {
        // √2·2·1.5/4 + 0.5·4/32, and with noise 3·(10/50)²·2/(1.5·√32).
        let printed = SETTING.convex(16.0, 0.5, 0.0);
        assert!((printed - (1.060_660_17 + 0.0625)).abs() < 1e-8, "{printed}");
        let noisy = SETTING.convex(16.0, 0.5, 10.0);
        assert!((noisy - printed - 0.028_284_27).abs() < 1e-8, "{noisy}");
        // 4·10·2/(50·√32) + 4·0.25/32 + 0.0625.
        let smooth = SETTING.smooth(16.0, 0.25, 10.0);
        assert!((smooth - (0.282_842_71 + 0.03125 + 0.0625)).abs() < 1e-8, "{smooth}");
    }

    /// With the paper's own letters and one coordinate: 4 D √ln(1.25/δ) S₁/(m ε √t) and the rest.
    #[test]
    fn one_coordinate_is_the_theorem_as_printed() {
        let one = Dpa19Setting { features: 1, ..SETTING };
        let (epsilon, delta, t) = (0.5_f64, 1e-3_f64, 9.0_f64);
        let noise = 2.0 * (2.0 * (1.25 / delta).ln()).sqrt() / epsilon;
        let printed = 4.0 * 2.0 * (1.25 / delta).ln().sqrt() / (50.0 * epsilon * t.sqrt())
            + 4.0 * 0.25 / (2.0 * t)
            + 0.5 * 4.0 / (2.0 * t);
        assert!((one.smooth(t, 0.25, noise) - printed).abs() < 1e-12);
    }

    #[test]
    fn they_fall_with_rounds_and_grow_with_noise() {
        assert!(SETTING.convex(100.0, 0.5, 10.0) < SETTING.convex(10.0, 0.5, 10.0));
        assert!(SETTING.smooth(100.0, 0.25, 10.0) < SETTING.smooth(10.0, 0.25, 10.0));
        assert!(SETTING.convex(10.0, 0.5, 20.0) > SETTING.convex(10.0, 0.5, 10.0));
        assert!(SETTING.smooth(10.0, 0.25, 20.0) > SETTING.smooth(10.0, 0.25, 10.0));
    }
}

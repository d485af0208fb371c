//! FP23, Theorem 1 and Corollary 5.1: the expected squared distance ‖u − u*‖² of noisy fixed-point
//! iterations from their fixed point.

/// What the theorem is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fp23Setting {
    /// p, the dimension.
    pub dimension: f64,
    /// τ of the operator, below 1; there is no bound without a contraction.
    pub contraction: f64,
    /// q, the part of the blocks that moves.
    pub share: f64,
    /// D = ‖u₀ − u*‖².
    pub distance: f64,
}

impl Fp23Setting {
    /// Theorem 1 after k iterations with noise of standard deviation σ:
    /// (1 − q²(1 − τ)/8)ᵏ D + 8( √p σ/(√q(1 − τ)) + pσ²/(q³(1 − τ)³) ). It asks for √p σ > √q(1 − τ)
    /// (Remark 1), and is infinite where that does not hold.
    pub fn distance(&self, k: f64, sigma: f64) -> f64 {
        let Fp23Setting { dimension, contraction, share: q, distance } = *self;
        let (gap, noise) = (1.0 - contraction, dimension.sqrt() * sigma);
        if !(gap > 0.0 && noise > q.sqrt() * gap) {
            return f64::INFINITY;
        }
        let start = (1.0 - q * q * gap / 8.0).powf(k) * distance;
        start + 8.0 * (noise / (q.sqrt() * gap) + noise.powi(2) / (q * gap).powi(3))
    }

    /// Corollary 5.1 before its order: Theorem 1 on all blocks with the noise that Theorem 2 gives
    /// K iterations for a Rényi divergence of ε at order α, σ² = 8KαL²γ²/(εn²). That Theorem 2
    /// divides by n once too often is erratum E1.
    pub fn centralised(&self, k: f64, (alpha, epsilon): (f64, f64), sensitivity: f64) -> f64 {
        let sigma = (8.0 * k * alpha / epsilon).sqrt() * sensitivity;
        Fp23Setting { share: 1.0, ..*self }.distance(k, sigma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Fp23Setting =
        Fp23Setting { dimension: 4.0, contraction: 0.5, share: 1.0, distance: 3.0 };

    #[test]
    fn values_by_hand() {
        // (15/16)²·3 + 8(2/0.5 + 4/0.125).
        assert!((SETTING.distance(2.0, 1.0) - (2.636_718_75 + 288.0)).abs() < 1e-12);
        // σ² = 8·2·4/(0.5·100²) = 0.0128 with Lγ = 1 and n = 100: √p σ = 0.226 is below 1 − τ.
        assert!(SETTING.centralised(2.0, (4.0, 0.5), 0.01).is_infinite());
        // With n = 10 σ² = 1.28: 8(2·1.13137/0.5 + 4·1.28/0.125) and the start.
        let bound = SETTING.centralised(2.0, (4.0, 0.5), 0.1);
        assert!((bound - (2.636_718_75 + 363.883_867)).abs() < 1e-5, "{bound}");
    }

    #[test]
    fn it_grows_with_noise_and_is_infinite_without_a_contraction() {
        assert!(SETTING.distance(10.0, 2.0) > SETTING.distance(10.0, 1.0));
        assert!(SETTING.distance(20.0, 1.0) < SETTING.distance(10.0, 1.0));
        assert!(Fp23Setting { contraction: 1.0, ..SETTING }.distance(10.0, 1.0).is_infinite());
        assert!(
            Fp23Setting { share: 0.1, ..SETTING }.distance(10.0, 1.0) > SETTING.distance(10.0, 1.0)
        );
    }
}

//! RDP20, Theorem 2, by the last line of its proof (equation 32): the expected gap of the averaged
//! iterates of ssADMM after t iterations with noise of standard deviation σ on the gradient.
//!
//! ```text
//! (1/t) ( (C² + pσ²)/2 · Σ η_k + d_X²/(2η_t) ) + ρ‖x*‖²/(2t)
//! ```
//!
//! for β = 0: without the distance from consensus. The proof prints d_y* in the last term, where the
//! line before has ‖x* − z⁰‖; z⁰ = 0 here.

/// What the theorem is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rdp20Setting {
    /// p.
    pub features: usize,
    /// C, the clip.
    pub clip: f64,
    /// ρ.
    pub rho: f64,
    /// ‖x*‖.
    pub optimum: f64,
    /// d_X: how far apart iterates may be. Nothing keeps them within a set, so that this is an
    /// assumption.
    pub diameter: f64,
}

impl Rdp20Setting {
    /// For η_k = η/√k and the η that makes the bound least: √2 d_X √(C² + pσ²)/√t + ρ‖x*‖²/(2t), by
    /// Σ 1/√k ≤ 2√t.
    pub fn convex(&self, t: f64, sigma: f64) -> f64 {
        let square = self.clip.powi(2) + self.features as f64 * sigma.powi(2);
        2_f64.sqrt() * self.diameter * square.sqrt() / t.sqrt()
            + self.rho * self.optimum.powi(2) / (2.0 * t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Rdp20Setting =
        Rdp20Setting { features: 3, clip: 1.0, rho: 0.5, optimum: 2.0, diameter: 4.0 };

    /// Equation 32 at one η.
    fn at(eta: f64, t: u32, sigma: f64) -> f64 {
        let n = f64::from(t);
        let Rdp20Setting { features, clip, rho, optimum, diameter } = SETTING;
        let square = clip.powi(2) + features as f64 * sigma.powi(2);
        (square * eta * n.sqrt() + diameter.powi(2) * n.sqrt() / (2.0 * eta)) / n
            + rho * optimum.powi(2) / (2.0 * n)
    }

    #[test]
    fn it_is_the_least_over_step_sizes() {
        // √2·4·√(1 + 3·0.25)/10 + 0.5·4/200.
        let least = SETTING.convex(100.0, 0.5);
        assert!((least - 0.758_331_48).abs() < 1e-8, "{least}");
        let etas = (1..4_000).map(|k| at(0.001 * f64::from(k), 100, 0.5));
        let seen = etas.fold(f64::INFINITY, f64::min);
        assert!(seen >= least - 1e-12 && seen < least + 1e-5, "{seen} and {least}");
    }

    #[test]
    fn it_falls_with_iterations_and_grows_with_noise() {
        assert!(SETTING.convex(400.0, 0.5) < SETTING.convex(100.0, 0.5));
        assert!(SETTING.convex(100.0, 1.0) > SETTING.convex(100.0, 0.5));
    }
}

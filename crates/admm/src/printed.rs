//! The noise that the papers print for an (ε, δ): what a run as published has in place of the least
//! noise that is proven to be enough.
//!
//! `z` is the noise of a sum in clips, so that σ of its mean over b records is `zC/b`, and σ over
//! the sensitivity 2C/b of a replaced record is `z/2`. ς = b/n is the fraction sampled.
//!
//! ```text
//! LS22, Theorem 1:   σ² = c₂ l² S m ln(1/δ)/(n²ε²)
//! RDP20, Lemma 1:    ε(α) = 2α/z²
//! RDP20, Lemma 2:    ε'(α) = 1/(α−1) · ln( 1 + ς²C(α,2) min{4(e^{ε(2)} − 1), 2e^{ε(2)}}
//!                                            + Σ_{j=3}^{α} ς^j C(α,j) 2e^{(j−1)ε(j)} )
//! RDP20, Prop. 1:    ε = min over whole α of  T·ε'(α) + ln(1/δ)/(α−1)
//! ```
//!
//! Nothing here certifies anything: it says how much noise a paper has.

use reticent_oracle::Refused;

/// The largest order of Proposition 1 that is tried.
const LARGEST_ORDER: u32 = 512;

/// Halvings of the interval in which the noise is sought: as many as a number has bits.
const HALVINGS: u32 = 64;

/// The (ε, δ) for which a paper prints its noise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PaperBudget {
    pub epsilon: f64,
    pub delta: f64,
}

/// LS22, Theorem 1: σ over the Lipschitz constant l of one record's loss.
pub(crate) fn theorem_1(constant: f64, steps: f64, population: f64, budget: PaperBudget) -> f64 {
    let PaperBudget { epsilon, delta } = budget;
    (constant * steps * -delta.ln()).sqrt() / (population * epsilon)
}

/// LS22's Theorem 1 as a Rényi divergence: it has the form ε = 2√(Rln(1/δ)) of a run whose
/// divergence is at most αR, so R of one step, for noise σ of so many times l.
pub(crate) fn divergence_of_theorem_1(constant: f64, population: f64, sigma: f64) -> f64 {
    constant / (2.0 * population * sigma).powi(2)
}

/// What RDP20's accountant says of `steps` noisy sums of a sample of the fraction `rate`, with noise
/// of `z` clips (Lemmas 1, 2 and 3, Proposition 1).
pub(crate) fn rdp20_epsilon(z: f64, rate: f64, steps: f64, delta: f64) -> f64 {
    let at = |order: u32| {
        steps * sampled(order, rate, 2.0 / (z * z)) - delta.ln() / (f64::from(order) - 1.0)
    };
    (2..=LARGEST_ORDER).map(at).fold(f64::INFINITY, f64::min)
}

/// The least z that RDP20's accountant allows for ε. The terms of Lemma 2 beyond the second do not
/// vanish with the noise, so that of a sample there may be none.
pub(crate) fn rdp20_noise(rate: f64, steps: f64, budget: PaperBudget) -> Result<f64, Refused> {
    let PaperBudget { epsilon, delta } = budget;
    if rate >= 1.0 {
        // R + 2√(R ln(1/δ)) = ε with R = 2T/z².
        let root = (epsilon - delta.ln()).sqrt() - (-delta.ln()).sqrt();
        return Ok((2.0 * steps).sqrt() / root);
    }
    let (mut low, mut high) = (1e-6_f64, 1e6_f64);
    let least = rdp20_epsilon(high, rate, steps, delta);
    if least > epsilon {
        let allowed = format!(
            "Lemma 2 of RDP20 comes to no less than {least:.3} with these steps of this sample, whatever the noise: \
             ask for more, take fewer iterations or a smaller sample, or leave as_published out"
        );
        return Err(Refused::new("epsilon", epsilon, allowed));
    }
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if rdp20_epsilon(middle, rate, steps, delta) <= epsilon {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(high)
}

/// ε'(α) of Lemma 2, where the divergence of the whole sample is α·`slope`.
fn sampled(order: u32, rate: f64, slope: f64) -> f64 {
    let top = f64::from(order);
    let mut log_choose = top.ln();
    let mut sum = 0.0;
    for j in 2..=order {
        let index = f64::from(j);
        log_choose += ((top - index + 1.0) / index).ln();
        let whole = index * slope;
        let log_bound = match j {
            2 => (4.0 * whole.exp_m1()).min(2.0 * whole.exp()).ln(),
            _ => 2.0_f64.ln() + (index - 1.0) * whole,
        };
        sum += (log_choose + index * rate.ln() + log_bound).exp();
    }
    sum.ln_1p() / (top - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At order 2 only the first term is left, and at order 3 there is one more.
    #[test]
    fn lemma_2_by_hand() {
        let (q, slope) = (0.1_f64, 0.3);
        let first = 4.0 * (0.6_f64.exp() - 1.0);
        let second = 2.0 * 0.6_f64.exp();
        assert!((sampled(2, q, slope) - (q * q * first.min(second)).ln_1p()).abs() < 1e-15);
        let third = q.powi(3) * 2.0 * (2.0 * 0.9_f64).exp();
        let by_hand = (3.0 * q * q * first.min(second) + third).ln_1p() / 2.0;
        assert!((sampled(3, q, slope) - by_hand).abs() < 1e-15);
    }

    /// The noise that a certified run has at ε = 1, q = 20/24,875, T = 7,461 and δ = 5e-4.
    #[test]
    fn the_accountant_of_rdp20_counts_two_and_a_half_times_as_much() {
        let (rate, steps, delta) = (20.0 / 24_875.0, 7_461.0, 5e-4);
        let counted = rdp20_epsilon(1.239, rate, steps, delta);
        assert!((counted - 2.59).abs() < 0.01, "{counted}");
        let noise = rdp20_noise(rate, steps, PaperBudget { epsilon: 1.0, delta }).unwrap();
        assert!((rdp20_epsilon(noise, rate, steps, delta) - 1.0).abs() < 1e-9, "{noise}");
        assert!(noise > 1.239);
        assert!(rdp20_noise(rate, steps, PaperBudget { epsilon: 2.0, delta }).unwrap() < noise);
    }

    /// Without sampling the best order is known, and every ε is within reach.
    #[test]
    fn the_accountant_of_rdp20_on_all_records() {
        let (steps, epsilon, delta) = (30.0, 0.05, 1e-8_f64);
        let z = rdp20_noise(1.0, steps, PaperBudget { epsilon, delta }).unwrap();
        let cost = |order: f64| steps * 2.0 * order / (z * z) - delta.ln() / (order - 1.0);
        let best = (2..100_000).map(|k| cost(f64::from(k))).fold(f64::INFINITY, f64::min);
        assert!((best - epsilon).abs() < 1e-6, "{best}");
    }

    /// RDP20's own batches of √n, one epoch on 43,958 rows of Adult: 2C(α,3)ς³ is there whatever the
    /// noise.
    #[test]
    fn a_small_epsilon_is_beyond_lemma_2() {
        let (rate, steps) = (210.0 / 43_958.0, 210.0);
        assert!(rdp20_noise(rate, steps, PaperBudget { epsilon: 0.5, delta: 1e-8 }).is_ok());
        let refused = rdp20_noise(rate, steps, PaperBudget { epsilon: 0.2, delta: 1e-8 })
            .unwrap_err()
            .to_string();
        assert!(refused.contains("no less than 0.2"), "{refused}");
    }

    #[test]
    fn theorem_1_is_its_own_divergence() {
        let (constant, steps, n, epsilon, delta) = (2.0, 300.0, 1_000.0, 0.5, 1e-3_f64);
        let sigma = theorem_1(constant, steps, n, PaperBudget { epsilon, delta });
        let whole = steps * divergence_of_theorem_1(constant, n, sigma);
        assert!((2.0 * (whole * -delta.ln()).sqrt() - epsilon).abs() < 1e-12);
    }
}

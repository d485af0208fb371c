//! E4, E7 and E18.

use reticent::admm::StepSize;
use reticent::internal::admm::catalogue;

use super::*;

/// x⁺ is the gradient over ρ + 1/η: at η = 4 it moves four times as far as equations 24–26 say.
#[test]
fn e04_the_sensitivity_of_the_model_has_a_factor_eta() {
    let step = Some(StepSize::Constant(4.0));
    broken_and_mended("E4", &AuditSpec { step, ..spec("mpadmm") });
}

/// One record of the logistic loss against none, Λ = 1, noise of density ½e^{−|b|}: the exact
/// minimiser of f(x) + x²/2 + bx is (1 + ln 1.25)-private (|f'| ≤ 1, f'' ≤ 1/4, as in RA18's
/// Theorem IV.1). A gradient method that stops when |gradient| ≤ tolerance, as one does, is not:
/// near its first few iterates it stops for one table and goes on for the other. Outcomes are put
/// into bins, which can only make the two tables more alike.
#[test]
fn e07_objective_perturbation_needs_the_exact_minimiser() {
    let claimed = 1.0 + 1.25_f64.ln();
    let delta = |tolerance: f64| {
        let law = |slope: fn(f64) -> f64| {
            let mut bins = vec![0.0; 4_400];
            let (points, reach) = (400_000, 20.0);
            let width = 2.0 * reach / f64::from(points);
            for i in 0..points {
                let b = (f64::from(i) + 0.5) * width - reach;
                let mut x = 0.0;
                loop {
                    let gradient = slope(x) + x + b;
                    if gradient.abs() <= tolerance {
                        break;
                    }
                    x -= 0.8 * gradient;
                }
                bins[((x + 22.0) * 100.0) as usize] += 0.5 * (-b.abs()).exp() * width;
            }
            bins
        };
        let [with, without] = [law(|x| -1.0 / (1.0 + x.exp())), law(|_| 0.0)];
        let excess = |p: &[f64], q: &[f64]| -> f64 {
            p.iter().zip(q).map(|(p, q)| (p - claimed.exp() * q).max(0.0)).sum()
        };
        excess(&with, &without).max(excess(&without, &with))
    };
    let (inexact, exact) = (delta(0.1), delta(1e-12));
    println!(
        "E7: claimed ε = {claimed:.4} with δ = 0; δ is {inexact:.4} at tolerance 0.1, {exact:.1e} at 1e-12"
    );
    // The points are 10⁻⁴ apart, which a bin of 10⁻² sees as 1%: δ of the exact minimiser is that
    // of the arithmetic.
    assert!(inexact > 0.05 && exact < 1e-3, "{inexact} {exact}");
    // Ours covers the distance to the exact minimiser by its noise.
    for algorithm in
        ["output-perturbation", "amp", "objp"].into_iter().filter(|n| catalogue::find(n).is_some())
    {
        let ours = run(&AuditSpec { as_published: false, runs: 8_000, ..spec(algorithm) }).unwrap();
        assert!(!ours.exceeded, "{ours:?}");
    }
}

/// Lemma 2 and Proposition 1 hold, and count more than there is: with their noise the run costs less
/// than the ε that it was set for.
#[test]
fn e18_the_accountant_of_rdp20_is_sound_and_loose() {
    let published = run(&spec("ssadmm")).unwrap();
    println!(
        "E18: asked for 1, has {:.4}, measured at least {:.4}",
        published.epsilon_certified, published.epsilon_lower
    );
    assert!(!published.exceeded && published.epsilon_certified < 0.9, "{published:?}");
    assert!(published.epsilon_lower > 0.2, "{published:?}");
}

//! E5, E6, E11 and E16.

use reticent::admm::StepSize;
use reticent::internal::accountant::statistics::{lower_bound, upper_bound};
use reticent::internal::accountant::{WithoutReplacementGaussian, Zcdp};
use reticent::internal::problem::{GraphTerms, losses};
use reticent::problem::Graph;
use reticent_oracle::queries::SecondMoment;
use reticent_oracle::{Entropy, Gate, PrivacyModel};

use super::*;

/// In the strongly convex case λ₀ = −(1/β)(Aᵀ)†∇f(x̃), so the first y is the data's gradient
/// without any noise.
#[test]
fn e05_the_snapshot_is_a_release() {
    let [published, _] = broken_and_mended(
        "E5",
        &AuditSpec { penalty: Some("l2:0.1".to_owned()), ..spec("vradmm") },
    );
    // Not a little more than claimed: every run told the tables apart.
    assert!(published.epsilon_lower > 7.0, "{published:?}");
}

/// A table of two features: three rows of (0.7, 0.7) for two of (0.7, −0.7), and `last` at its end.
fn pairs(last: [f64; 2]) -> Table {
    let mut values = Vec::new();
    for i in 0..40 {
        let sign = if i % 5 < 3 { 1.0 } else { -1.0 };
        values.extend([0.7, 0.7 * sign]);
    }
    values.truncate(78);
    values.extend(last);
    Table {
        rows: Rows::Dense(Dense { values, rows: 40, columns: 2 }),
        targets: vec![1.0; 40],
        users: None,
        weights: None,
        names: vec!["1".to_owned(), "2".to_owned()],
    }
}

/// The second moments with so much noise, and what their graph is.
fn linked(table: Table, noise_multiplier: f64, threshold: f64, seed: u64) -> (bool, Ledger) {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 0.0,
    };
    let loss = losses::parse("logistic", None).unwrap();
    let mut gate = Gate::open(table.into(), loss, &opening, Entropy::seeded(seed)).unwrap();
    let moments = gate
        .ask(&SecondMoment { row_norm: 1.0, whole: false, noise_multiplier })
        .unwrap()
        .into_inner();
    let graph = Graph::learn(&moments, 2, &GraphTerms { lambda: threshold, edges: 1, noise: 0.0 });
    (!graph.edges().is_empty(), gate.close().unwrap())
}

/// Two tables that differ in one record, and a graph that has an edge for one of them and none for
/// the other, always: no (ε, δ) with δ < 1 holds for it. From noisy moments it is as private as
/// they are.
#[test]
fn e06_a_graph_from_the_data_is_a_release() {
    let (with, without) = (pairs([0.7, 0.7]), pairs([0.7, -0.7]));
    // Correlations of 10/40 and 8/40; a threshold in between.
    let threshold = 0.225;
    assert!(
        linked(with.clone(), 0.0, threshold, 1).0 && !linked(without.clone(), 0.0, threshold, 1).0
    );

    let runs = 3_000;
    let (_, books) = linked(with.clone(), 8.0, threshold, 1);
    let certified = exact(&books, DELTA)[1];
    let count = |table: &Table, offset: u64| {
        (0..runs).filter(|i| linked(table.clone(), 8.0, threshold, 2 * i + offset).0).count() as u64
    };
    let (often, seldom) = (count(&with, 0), count(&without, 1));
    let lower = ((lower_bound(often, runs, 0.975) - DELTA) / upper_bound(seldom, runs, 0.975)).ln();
    println!(
        "E6: without noise an edge in every run or in none; from noisy moments in {often} and {seldom} of {runs}: ε at \
         least {lower:.4}, certified {certified:.4}"
    );
    assert!(lower <= certified, "{lower} {certified}");
}

/// Lemma 2 gives a step of size b out of n with noise σ the Rényi divergence 5ς²αΔ²/σ², if σ² ≥
/// 1.5Δ² and α ≤ ln(1/(ς(1 + σ²/Δ²))). Theorem 2 takes T of them at the one order α = ln(1/δ)/((1 −
/// θ)ε) + 1, for which the second condition asks that n is beyond e^α.
#[test]
fn e11_the_conditions_of_the_closed_form_rarely_hold() {
    let (delta, rate, n) = (1e-5_f64, 0.01, 50_000.0);
    for (epsilon, steps) in [(1.0, 1_000.0), (4.0, 500.0), (1.0, 10.0), (2.0, 10.0), (4.0, 10.0)] {
        // σ/Δ of Theorem 2 by θ: σ²/Δ² = 20αTl²/(θεn²)·(b/2l)² = 5αTς²/(θε).
        let theorem = |theta: f64| {
            let alpha = (1.0 / delta).ln() / ((1.0 - theta) * epsilon) + 1.0;
            (alpha, 5.0 * alpha * steps * rate * rate / (theta * epsilon))
        };
        let thetas = || (1..1_000).map(|i| f64::from(i) / 1_000.0);
        let met = |theta: f64| {
            let (alpha, square) = theorem(theta);
            square >= 1.5 && alpha <= (1.0 / (rate * (1.0 + square))).ln()
        };
        let holds = thetas().any(met);
        // The θ with the least noise, as one would choose it.
        let square = thetas().map(|theta| theorem(theta).1).fold(f64::INFINITY, f64::min);
        let sampled =
            WithoutReplacementGaussian::new(2.0 * square.sqrt(), (rate * n) as u64, n as u64)
                .unwrap();
        let [lower, upper] = exact(&ledger(sampled, steps as u64), delta);
        println!(
            "E11: ε = {epsilon}, T = {steps}: conditions {}, σ/Δ = {:.3}, exact ε in [{lower:.3}, {upper:.3}]",
            if holds { "hold" } else { "fail for every θ" },
            square.sqrt()
        );
        assert!(!holds);
        // For many steps it has more noise than is needed; for few it is not only unproven but
        // wrong.
        assert_eq!(lower > epsilon, steps < 100.0, "{epsilon} {steps}: {lower}");
    }
    // The same form as our books take it from a published run, and ours at the same budget.
    let z = 0.8;
    let claimed = exact(&ledger(Zcdp::new(20.0 * rate * rate / (z * z)).unwrap(), 10), delta)[1];
    let sampled = WithoutReplacementGaussian::new(z, (rate * n) as u64, n as u64).unwrap();
    let [lower, _] = exact(&ledger(sampled, 10), delta);
    println!("E11: noise of {z} clips, 10 steps: claimed {claimed:.3}, at least {lower:.3}");
    assert!(lower > claimed);
}

/// Theorem 1 has σ² = c₂l²Sm ln(1/δ)/(n²ε²) and leaves c₂ open. With c₂ = 1 even the general convex
/// case breaks its claim: p̃ is in every G, and a replaced record moves it by 2l/n.
#[test]
fn e16_the_constant_of_theorem_1_is_not_one() {
    // The model of x = y is a y, which is made of the x before it: two steps.
    let spec = AuditSpec { iterations: 2, step: Some(StepSize::Constant(1e-3)), ..spec("vradmm") };
    broken_and_mended("E16", &spec);
    // The corrections alone on the numbers of LS22's w8a, on the worst pair: differences of
    // gradients of 2l against −2l, for losses that are l-Lipschitz, which is all that is asked for.
    let (n, batch, steps, delta) = (24_875_u64, 20_u64, 7_461_u64, 5e-4_f64);
    let share = batch as f64 / n as f64;
    for claimed in [0.05, 0.1, 0.2, 1.0] {
        let z = 0.5 * share * (steps as f64 * -delta.ln()).sqrt() / claimed;
        let cost = |z: f64| {
            let step = WithoutReplacementGaussian::new(z, batch, n).unwrap();
            exact(&ledger(step, steps), delta)
        };
        let [lower, _] = cost(z);
        // The least z within the claim.
        let (mut low, mut high) = (z, 1e3);
        while high / low > 1.01 {
            let middle = f64::sqrt(low * high);
            if cost(middle)[1] <= claimed { high = middle } else { low = middle }
        }
        println!(
            "E16: w8a, claimed {claimed}: noise of {z:.4} clips, the corrections have at least {lower:.3}; c₂ would have to \
             be {:.0}",
            (high / z).powi(2)
        );
        assert!(lower > 2.0 * claimed, "{claimed} {lower}");
    }
    // And the theorem is for ε of at most c₁Sm/n².
    println!("E16: Sm/n² = {:.2e}", steps as f64 / (n as f64).powi(2));
}

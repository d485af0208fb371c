//! Events that are made of others: selection, choice, parallel parts, walks, groups.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::*;

fn cost(mechanism: impl Into<Mechanism>, count: u64, delta: f64) -> Bound {
    let mut ledger = Ledger::new();
    ledger.append_many(
        Event::new(mechanism, Adjacency::ReplaceOne, Unit::User, View::Central).unwrap(),
        count,
    );
    epsilon(&ledger, delta).unwrap()
}

#[test]
fn choosing_costs_more_than_one_run_and_less_than_ten() {
    let run = vec![(Mechanism::from(Gaussian::new(20.0).unwrap()), 1)];
    let single = cost(Gaussian::new(20.0).unwrap(), 1, 1e-6).upper;
    let laws = [
        Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma: 0.1 },
        Repetitions::TruncatedNegativeBinomial { eta: 0.0, gamma: 0.1 },
        Repetitions::Poisson { mean: 10.0 },
        Repetitions::PositivePoisson { rate: 10.0 },
    ];
    for law in laws {
        let many = cost(Selection::new(run.clone(), law).unwrap(), 1, 1e-6).upper;
        assert!(many > single && many < 10.0 * single, "{law:?}: {many} against {single}");
    }
    let geometric = Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma: 0.1 };
    assert!((geometric.mean() - 10.0).abs() < 1e-12);
    let text =
        serde_json::to_string(&Mechanism::from(Selection::new(run, geometric).unwrap())).unwrap();
    assert!(text.starts_with(r#"{"kind":"selection","#), "{text}");
    assert!(matches!(serde_json::from_str::<Mechanism>(&text).unwrap(), Mechanism::Selection(_)));
    assert!(serde_json::from_str::<Mechanism>(&text.replace("0.1", "1.1")).is_err());
}

/// Thm. 6 of Papernot–Steinke for a Gaussian run, by its own formulas: D_α = αμ²/2, and δ̂ of
/// N(0,1) against N(μ,1).
#[test]
fn a_poisson_number_of_gaussian_runs_costs_what_the_theorem_says() {
    let (mean, delta) = (12.0, 1e-5_f64);
    for z in [8.0, 20.0, 60.0] {
        let run = vec![(Mechanism::from(Gaussian::new(z).unwrap()), 1)];
        let counted =
            cost(Selection::new(run, Repetitions::Poisson { mean }).unwrap(), 1, delta).upper;
        let mu = 2.0 / z;
        let profile = |e: f64| gaussian_delta(mu, e);
        let convert = |a: f64| {
            let value = a * mu * mu / 2.0
                + mean * profile((1.0 / (a - 1.0)).ln_1p())
                + mean.ln() / (a - 1.0);
            value + (-1.0 / a).ln_1p() - (delta.ln() + a.ln()) / (a - 1.0)
        };
        let best = (1..200_000)
            .map(|k| 1.0 + 0.01 * f64::from(k))
            .map(convert)
            .fold(f64::INFINITY, f64::min);
        assert!((counted / best - 1.0).abs() < 1e-4, "{z}: {counted} against {best}");
    }
}

/// Against the truth: a run with a few outputs, the best of a Poisson number of them computed from
/// their law. A mean below 1 used to be booked as costing less than nothing, and a mean of 1 as a
/// little too little: "no run" is an output too.
#[test]
fn the_best_of_a_poisson_number_of_runs_is_never_dearer_than_booked() {
    let curve_of = |law, epsilon| {
        let run = vec![(Mechanism::from(PureDp::new(epsilon).unwrap()), 1)];
        let mut ledger = Ledger::new();
        let event = Selection::new(run, law).unwrap();
        ledger.append(Event::new(event, Adjacency::ReplaceOne, Unit::User, View::Central).unwrap());
        rdp_curve(&ledger)
    };
    for mean in [0.01_f64, 0.1, 0.5, 0.9, 1.0, 1.5, 4.0] {
        for epsilon in [0.01_f64, 0.1, 0.5, 2.0] {
            let none = (-mean).exp();
            let with = curve_of(Repetitions::Poisson { mean }, epsilon);
            let again = curve_of(Repetitions::PositivePoisson { rate: mean }, epsilon);
            // Randomised response whose better answer is the likelier, or the less likely; from the
            // worse to the better.
            for (p, q) in
                [(epsilon, -epsilon), (-epsilon, epsilon)].map(|(a, b)| (share(a), share(b)))
            {
                let best = |worse: f64| {
                    [(mean * (worse - 1.0)).exp() - none, -(mean * (worse - 1.0)).exp_m1()]
                };
                let (a, b) = (best(p), best(q));
                for ((order, booked), (_, booked_again)) in
                    with.iter().zip(&again).filter(|(w, _)| w.0 <= 64.0)
                {
                    let sum: f64 =
                        a.iter().zip(&b).map(|(a, b)| a.powf(*order) * b.powf(1.0 - order)).sum();
                    let (true_with, true_again) = ((none + sum).ln(), (sum / (1.0 - none)).ln());
                    let slack = 1e-12 / (order - 1.0);
                    assert!(
                        booked + slack >= true_with / (order - 1.0),
                        "{mean} {epsilon} {order}: {booked}"
                    );
                    assert!(
                        booked_again + slack >= true_again / (order - 1.0),
                        "{mean} {epsilon} {order}: {booked_again}"
                    );
                }
            }
        }
    }
}

/// e^x/(1 + e^x).
fn share(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Drawing again when there was no run costs the more the likelier that was, and never less than
/// nothing.
#[test]
fn drawing_again_costs_a_hair_more() {
    let run = vec![(Mechanism::from(Gaussian::new(20.0).unwrap()), 1)];
    let single = cost(Gaussian::new(20.0).unwrap(), 1, 1e-6).upper;
    let of = |law| cost(Selection::new(run.clone(), law).unwrap(), 1, 1e-6).upper;
    for (rate, most) in [(1.0, 1.5), (3.0, 1.02), (10.0, 1.001)] {
        let (with, without) =
            (of(Repetitions::Poisson { mean: rate }), of(Repetitions::PositivePoisson { rate }));
        assert!(without >= with && without < most * with, "{rate}: {with} {without}");
        assert!(without > single, "{rate}: {without} {single}");
    }
    assert!((Repetitions::PositivePoisson { rate: 1e-9 }.mean() - 1.0).abs() < 1e-6);
    assert!(Selection::new(run, Repetitions::PositivePoisson { rate: 0.0 }).is_err());
}

fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let mut ledger = Ledger::new();
    let event = Event::new(Gdp::new(mu).unwrap(), Adjacency::ReplaceOne, Unit::User, View::Central);
    ledger.append(event.unwrap());
    delta(&ledger, epsilon).unwrap().upper
}

/// For runs that are not Gaussian the curve is swept instead; where both ways are open they must
/// agree.
#[test]
fn the_swept_curve_is_dearer_than_the_closed_form_and_not_by_much() {
    let law = Repetitions::Poisson { mean: 12.0 };
    let gaussian = vec![(Mechanism::from(Gaussian::new(20.0).unwrap()), 1)];
    let zcdp = vec![(Mechanism::from(Zcdp::new(0.1 * 0.1 / 2.0).unwrap()), 1)];
    let closed = cost(Selection::new(gaussian, law).unwrap(), 1, 1e-6).upper;
    let swept = cost(Selection::new(zcdp, law).unwrap(), 1, 1e-6).upper;
    assert!(closed <= swept && swept < 1.3 * closed, "{closed} {swept}");
}

#[test]
fn a_choice_costs_the_dearest_run() {
    let gaussian = |z: f64, count| vec![(Mechanism::from(Gaussian::new(z).unwrap()), count)];
    let law = Repetitions::Poisson { mean: 10.0 };
    let best_of = |run| cost(Selection::new(run, law).unwrap(), 1, 1e-6).upper;
    let choice = Choice::new(vec![gaussian(40.0, 2), gaussian(60.0, 9)]).unwrap();
    // Nine at 60 are one at 20, which is dearer than two at 40.
    let dearest =
        vec![(Mechanism::from(Zcdp::new(9.0 * (2.0_f64 / 60.0).powi(2) / 2.0).unwrap()), 1)];
    let (drawn, dearest) = (best_of(vec![(choice.into(), 1)]), best_of(dearest));
    assert!((drawn / dearest - 1.0).abs() < 1e-9, "{drawn} {dearest}");
    let pure = Choice::new(vec![
        vec![(PureDp::new(0.1).unwrap().into(), 2)],
        vec![(PureDp::new(0.15).unwrap().into(), 1)],
    ]);
    assert!((cost(pure.unwrap(), 1, 1e-12).upper - 0.2).abs() < 1e-6);
    assert!(Choice::new(Vec::new()).is_err());
}

#[test]
fn parallel_costs_the_largest_part() {
    let parts = vec![Gaussian::new(3.0).unwrap().into(), Gaussian::new(2.0).unwrap().into()];
    let both = cost(Parallel::new(parts).unwrap(), 5, 1e-5);
    assert_eq!(both, cost(Gaussian::new(2.0).unwrap(), 5, 1e-5));
    let mixed = vec![PureDp::new(0.1).unwrap().into(), Gaussian::new(50.0).unwrap().into()];
    assert!(cost(Parallel::new(mixed).unwrap(), 1, 1e-5).upper.is_finite());
    assert!(Parallel::new(Vec::new()).is_err());
}

#[test]
fn iteration_never_exceeds_the_local_guarantee() {
    for users in [2, 10, 1000, 1_000_000] {
        let seen = cost(Iteration::new(0.05, users).unwrap(), 20, 1e-6).upper;
        let local = cost(Zcdp::new(0.05 * 0.05 / 2.0).unwrap(), 20, 1e-6).upper;
        assert!(seen <= local * (1.0 + 1e-9), "{users}: {seen} {local}");
        assert!(users < 1000 || seen < local / 2.0, "{users}: {seen} {local}");
    }
}

/// The best order falls as contributions are added; a search that steps over it for one count and not
/// for the next would have fewer contributions cost more.
#[test]
fn fewer_contributions_never_cost_more() {
    for mu in [0.1, 0.3, 0.42, 0.5, 0.7] {
        let all = (1..40).map(|count| cost(Iteration::new(mu, 200).unwrap(), count, 1e-5).upper);
        let all: Vec<f64> = all.collect();
        assert!(all.is_sorted(), "{mu}: {all:?}");
    }
}

#[test]
fn groups_are_exact_or_refused() {
    let gaussian = Mechanism::from(Gaussian::new(6.0).unwrap());
    assert_eq!(gaussian.group(3).unwrap(), Gaussian::new(2.0).unwrap().into());
    assert_eq!(gaussian.group(1).unwrap(), gaussian);
    let sampled = Mechanism::from(PoissonGaussian::new(6.0, 0.1).unwrap());
    let message = sampled.group(2).unwrap_err().to_string();
    assert_eq!(
        message,
        "poisson-gaussian has no exact guarantee for groups of 2: count the event per user instead"
    );
}

/// Outside values (golden/make_selection.py): the theorems by 20-digit arithmetic of their own, and
/// the true profile of the largest of K Gaussian answers, which nothing that is booked may be
/// below.
#[test]
fn the_best_of_gaussian_runs_agrees_with_outside_values() {
    let path = format!("{}/../../golden/accountant/selection.json", env!("CARGO_MANIFEST_DIR"));
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() >= 6);
    for case in &cases {
        let number = |key: &str| case[key].as_f64().unwrap();
        let law: Repetitions = serde_json::from_value(case["repetitions"].clone()).unwrap();
        let run = vec![(Mechanism::from(Gdp::new(number("mu")).unwrap()), 1)];
        let mut ledger = Ledger::new();
        let event = Selection::new(run, law).unwrap();
        ledger.append(Event::new(event, Adjacency::ReplaceOne, Unit::User, View::Central).unwrap());
        let booked = epsilon(&ledger, number("delta")).unwrap().upper;
        assert!((booked / number("theorem") - 1.0).abs() < 1e-4, "{case}: {booked}");
        let at = delta(&ledger, number("truth_at")).unwrap().upper;
        assert!(at >= number("truth") && number("truth") > 0.0, "{case}: {at}");
    }
}

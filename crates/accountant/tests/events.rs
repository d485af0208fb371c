//! Events and ledgers: checked at the door, refused by name, unchanged by a trip through JSON.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::{
    Adjacency, ApproximateDp, ApproximateZcdp, Event, EventError, ExponentialMechanism, Gaussian,
    Gdp, Iteration, Laplace, Ledger, Mechanism, NonPrivate, ObjectivePerturbation, PoissonGaussian,
    PureDp, Taint, Unit, View, WithoutReplacementGaussian, calibrate, delta, epsilon, rdp_curve,
    report,
};

fn gaussian(z: f64) -> Event {
    Event::new(Gaussian::new(z).unwrap(), Adjacency::ReplaceOne, Unit::Record, View::Central)
        .unwrap()
}

#[test]
fn bad_parameters_are_named() {
    let message = Gaussian::new(-1.0).unwrap_err().to_string();
    assert_eq!(
        message,
        "gaussian: noise_multiplier is -1, but it must be a finite number greater than 0"
    );
    assert!(PoissonGaussian::new(1.0, 0.0).is_err());
    assert!(WithoutReplacementGaussian::new(1.0, 11, 10).is_err());
}

#[test]
fn without_replacement_is_refused_under_add_remove() {
    let mechanism = WithoutReplacementGaussian::new(1.0, 1, 10).unwrap();
    let error =
        Event::new(mechanism, Adjacency::AddRemove, Unit::Record, View::Central).unwrap_err();
    assert!(matches!(error, EventError::Undefined { adjacency: Adjacency::AddRemove, .. }));
}

#[test]
fn json_goes_through_the_same_door() {
    let text = r#"{"mechanism":{"kind":"gaussian","noise_multiplier":2.0},"adjacency":"replace-one","unit":"record","view":"central"}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    assert_eq!(event, gaussian(2.0));
    assert_eq!(serde_json::to_string(&event).unwrap(), text);
    assert!(serde_json::from_str::<Event>(&text.replace("2.0", "-2.0")).is_err());
    assert!(serde_json::from_str::<Event>(&text.replace("\"kind\"", "\"q\":1,\"kind\"")).is_err());
    let wor = r#"{"mechanism":{"kind":"without-replacement-gaussian","noise_multiplier":2.0,"size":1,"population":2},"adjacency":"add-remove","unit":"record","view":"central"}"#;
    assert!(serde_json::from_str::<Event>(wor).is_err());
}

#[test]
fn ledgers_merge_compare_and_survive() {
    let mut ledger = Ledger::new();
    ledger.append(gaussian(2.0));
    ledger.append_many(gaussian(2.0), 9);
    ledger.append(
        Event::new(NonPrivate::new().unwrap(), Adjacency::ReplaceOne, Unit::Record, View::Central)
            .unwrap(),
    );
    ledger.append_many(gaussian(2.0), 0);
    ledger.taint(Taint::SeededNoise);
    ledger.taint(Taint::AsPublished(3));
    ledger.taint(Taint::SeededNoise);
    assert_eq!(ledger.entries().len(), 2);
    assert_eq!(ledger.total_events(), 11);
    assert_eq!(ledger.taints(), [Taint::SeededNoise, Taint::AsPublished(3)]);
    let text = serde_json::to_string(&ledger).unwrap();
    assert!(text.starts_with(r#"{"version":1,"#), "{text}");
    assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
    let error = serde_json::from_str::<Ledger>(&text.replace("\"version\":1", "\"version\":2"))
        .unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
    assert!(serde_json::from_str::<Ledger>(&text.replace("\"count\":10", "\"count\":0")).is_err());
    assert_eq!(epsilon(&ledger, 1e-5).unwrap().upper, f64::INFINITY);
}

/// A plan in proportion to its noise is drawn up twice; any other as often as the search asks. Both
/// end where a search over plans ends.
#[test]
fn a_plan_is_drawn_up_no_more_often_than_it_must_be() {
    let event = |noise: f64| {
        let answer = PoissonGaussian::new(noise, 0.1).unwrap();
        Event::new(answer, Adjacency::AddRemove, Unit::Record, View::Central).unwrap()
    };
    let mut drawn = 0;
    let found = calibrate(1.0, 1e-5, |z: f64| -> Result<Ledger, EventError> {
        drawn += 1;
        let mut ledger = Ledger::new();
        ledger.append_many(event(2.0 * z), 50);
        ledger.append(event(0.5 * z));
        Ok(ledger)
    })
    .unwrap();
    assert_eq!(drawn, 2);
    assert!(found.epsilon.upper <= 1.0 && found.epsilon.upper > 0.999);

    // The first event has noise of 2 at least: what is scaled from the plan for 1 is not the plan.
    let mut drawn = 0;
    let floored = calibrate(1.0, 1e-5, |z: f64| -> Result<Ledger, EventError> {
        drawn += 1;
        let mut ledger = Ledger::new();
        ledger.append_many(event((0.7 * z).max(2.0)), 50);
        ledger.append(event(0.5 * z));
        Ok(ledger)
    })
    .unwrap();
    assert!(drawn > 4, "{drawn}");
    assert!(floored.epsilon.upper <= 1.0 && floored.epsilon.upper > 0.999);
}

#[test]
fn calibration_never_overshoots() {
    for target in [0.01, 0.5, 3.0, 50.0] {
        let plan = |z: f64| -> Result<Ledger, EventError> {
            let mut ledger = Ledger::new();
            let step =
                Event::new(Gaussian::new(z)?, Adjacency::AddRemove, Unit::Record, View::Central)?;
            ledger.append_many(step, 100);
            Ok(ledger)
        };
        let found = calibrate(target, 1e-5, plan).unwrap();
        assert!(found.epsilon.upper <= target);
        assert!(found.epsilon.upper > target * (1.0 - 1e-5));
    }
}

/// Found by fuzzing: few steps of a tiny rate asked for a lattice of 2³¹ bytes for one loss.
#[test]
fn a_narrow_window_in_a_wide_loss_needs_no_giant_lattice() {
    let step = PoissonGaussian::new(0.324_469_095_434_128_16, 1.669_710_168_729_315_7e-8).unwrap();
    let event = Event::new(step, Adjacency::AddRemove, Unit::Record, View::Central).unwrap();
    let mut ledger = Ledger::new();
    ledger.append_many(event, 1);
    let tiny = 1.423_643_600_100_912_5e-193;
    for bound in [epsilon(&ledger, tiny).unwrap(), delta(&ledger, tiny).unwrap()] {
        assert!(bound.lower <= bound.upper && bound.upper.is_finite(), "{bound:?}");
    }
}

fn ledger(event: impl Into<Mechanism>, adjacency: Adjacency, count: u64) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.append_many(Event::new(event, adjacency, Unit::Record, View::Central).unwrap(), count);
    ledger
}

/// Alone, a perturbed objective costs what a Gaussian under replace-one costs, at an ε that is less
/// by the determinant's share, and that under both adjacencies: who is added may push another out.
#[test]
fn a_perturbed_objective_is_a_gaussian_pushed_outward() {
    for adjacency in [Adjacency::AddRemove, Adjacency::ReplaceOne] {
        for (z, log_determinant, at) in [(3.0, 0.05, 1.0), (8.0, 0.2, 0.7), (1.0, 0.0, 3.0)] {
            let event = ObjectivePerturbation::new(z, log_determinant).unwrap();
            let ours = delta(&ledger(event, adjacency, 1), at).unwrap();
            let plain = ledger(Gaussian::new(z).unwrap(), Adjacency::ReplaceOne, 1);
            let expected = delta(&plain, at - 2.0 * log_determinant).unwrap().upper;
            assert!(
                (ours.upper / expected - 1.0).abs() < 1e-3,
                "{adjacency:?} {z}: {ours:?}, {expected}"
            );
        }
    }
}

/// With a determinant that does not change, many of them are almost a Gaussian; with one that does,
/// at most the pushes more.
#[test]
fn perturbed_objectives_compose_like_gaussians() {
    for adjacency in [Adjacency::AddRemove, Adjacency::ReplaceOne] {
        let (z, count) = (20.0, 25);
        let at = |log_determinant| {
            let event = ObjectivePerturbation::new(z, log_determinant).unwrap();
            epsilon(&ledger(event, adjacency, count), 1e-5).unwrap().upper
        };
        let gaussians = ledger(Gaussian::new(z).unwrap(), Adjacency::ReplaceOne, count);
        let plain = epsilon(&gaussians, 1e-5).unwrap().upper;
        assert!(at(0.0) >= plain * (1.0 - 1e-6) && at(0.0) < 1.02 * plain, "{} {plain}", at(0.0));
        let pushed = at(0.01);
        assert!(pushed > plain + 0.01, "{pushed} {plain}");
        assert!(pushed < at(0.0) + 2.0 * 0.01 * count as f64, "{pushed} {plain}");
    }
}

/// The bound for replacements is proven up to one gradient in two thirds of a standard deviation.
#[test]
fn too_little_noise_on_an_objective_promises_nothing() {
    let event = ObjectivePerturbation::new(0.6, 0.1).unwrap();
    for adjacency in [Adjacency::AddRemove, Adjacency::ReplaceOne] {
        assert!(epsilon(&ledger(event, adjacency, 1), 1e-5).unwrap().upper.is_infinite());
    }
}

/// The square of a small ratio is beyond the range of floats; it was booked as nothing.
#[test]
fn the_smallest_ratios_are_not_free() {
    for mu in [1e-160_f64, 3e-161, 1e-170, 1e-250] {
        let mut ledger = Ledger::new();
        let event =
            Event::new(Gdp::new(mu).unwrap(), Adjacency::AddRemove, Unit::Record, View::Central);
        ledger.append_many(event.unwrap(), 4);
        // δ(0) is μ/√(2π) up to μ³, and four events have twice the ratio.
        let truth = 2.0 * mu * 0.398_942_280_401_432_7;
        let bound = delta(&ledger, 0.0).unwrap();
        assert!(bound.lower <= truth && truth <= bound.upper, "{mu}: {bound:?}");
        assert!(epsilon(&ledger, truth * 0.99).unwrap().upper > 0.0);
    }
}

/// More events than a counter holds are all counted.
#[test]
fn a_full_counter_forgets_nothing() {
    let event = |z| {
        Event::new(Gaussian::new(z).unwrap(), Adjacency::AddRemove, Unit::Record, View::Central)
            .unwrap()
    };
    let mut ledger = Ledger::new();
    ledger.append_many(event(1e10), u64::MAX);
    ledger.append_many(event(1e10), u64::MAX);
    let mut halves = Ledger::new();
    halves.append_many(event(1e10 / 2.0_f64.sqrt()), u64::MAX);
    let (both, halves) =
        (epsilon(&ledger, 1e-5).unwrap().upper, epsilon(&halves, 1e-5).unwrap().upper);
    assert!((both / halves - 1.0).abs() < 1e-9, "{both} {halves}");
}

/// δ = 0 is a question for pure events, and for them alone.
#[test]
fn delta_zero_is_answered_for_pure_events_and_refused_in_words_for_others() {
    let mut pure = ledger(Laplace::new(2.0).unwrap(), Adjacency::AddRemove, 3);
    pure.append_many(
        Event::new(PureDp::new(0.25).unwrap(), Adjacency::AddRemove, Unit::Record, View::Central)
            .unwrap(),
        2,
    );
    let bound = epsilon(&pure, 0.0).unwrap();
    assert!(
        bound.lower <= 2.0 && 2.0 <= bound.upper && bound.upper - bound.lower < 1e-12,
        "{bound:?}"
    );
    assert_eq!(report(&pure, 0.0).unwrap().best, bound);
    let gaussian = ledger(Gaussian::new(2.0).unwrap(), Adjacency::AddRemove, 1);
    let message = epsilon(&gaussian, 0.0).unwrap_err().to_string();
    assert!(
        message.starts_with("delta is 0, but Gaussian noise of 2 clips has no guarantee"),
        "{message}"
    );
    let failing = ledger(ApproximateDp::new(0.1, 1e-6).unwrap(), Adjacency::AddRemove, 1);
    assert!(epsilon(&failing, 0.0).is_err() && epsilon(&pure, -0.1).is_err());
    let plan = |b: f64| Ok::<_, EventError>(ledger(Laplace::new(b)?, Adjacency::AddRemove, 4));
    let found = calibrate(2.0, 0.0, plan).unwrap();
    assert!(
        (found.noise_multiplier / 2.0 - 1.0).abs() < 1e-5 && found.epsilon.upper <= 2.0,
        "{found:?}"
    );
}

/// Where an event may fail outright no Rényi divergence is bounded, however small its ρ.
#[test]
fn no_renyi_curve_is_shown_for_what_may_fail() {
    let of = |delta| {
        rdp_curve(&ledger(ApproximateZcdp::new(0.1, delta).unwrap(), Adjacency::ReplaceOne, 1))
    };
    assert!(!of(0.0).is_empty());
    assert_eq!(of(8.6e-10), []);
}

/// Of a mechanism of which nothing is known nothing is known from below either; what is released as
/// it is costs everything.
#[test]
fn nothing_said_is_not_everything_released() {
    let silent =
        epsilon(&ledger(ApproximateZcdp::new(0.0, 1.0).unwrap(), Adjacency::ReplaceOne, 1), 1e-5);
    assert_eq!(silent.map(|bound| (bound.lower, bound.upper)).unwrap(), (0.0, f64::INFINITY));
    let raw = epsilon(&ledger(NonPrivate::new().unwrap(), Adjacency::ReplaceOne, 1), 1e-5).unwrap();
    assert_eq!((raw.lower, raw.upper), (f64::INFINITY, f64::INFINITY));
}

/// The lengths of a walk's excursions overflowed, which is a panic or, without checks, a loop
/// without end.
#[test]
fn a_walk_among_more_users_than_there_are_is_counted() {
    let event = Iteration::new(1.0, u64::MAX).unwrap();
    let walk = Event::new(event, Adjacency::ReplaceOne, Unit::User, View::Network).unwrap();
    let mut ledger = Ledger::new();
    ledger.append(walk);
    assert!(epsilon(&ledger, 1e-5).unwrap().upper > 0.0);
}

/// The Rényi divergence of two laws.
fn divergence(p: &[f64], q: &[f64], order: f64) -> f64 {
    let terms = p.iter().zip(q).map(|(p, q)| p * (p / q).powf(order - 1.0));
    terms.sum::<f64>().ln() / (order - 1.0)
}

/// Choices whose weights move as far as they may, each up or down: no divergence and no ratio is above
/// what is counted, and between two candidates alike it is nearly reached.
#[test]
fn no_choice_costs_more_than_an_exponential_mechanism() {
    for (adjacency, moves) in [(Adjacency::AddRemove, 1.0), (Adjacency::ReplaceOne, 2.0)] {
        for z in [0.3, 1.0, 5.0, 100.0] {
            let books = ledger(ExponentialMechanism::new(z).unwrap(), adjacency, 1);
            let curve = rdp_curve(&books);
            assert!(curve.len() > 20);
            let r = moves / z;
            let mut closest = 0.0_f64;
            for shares in
                [&[0.5, 0.5][..], &[0.9, 0.1], &[1e-3, 0.999], &[0.2, 0.3, 0.5], &[0.01, 0.49, 0.5]]
            {
                for signs in 0..1 << shares.len() {
                    let moved = |i: usize| if signs >> i & 1 == 1 { r } else { -r };
                    let weights: Vec<f64> = shares
                        .iter()
                        .enumerate()
                        .map(|(i, share)| share * f64::exp(moved(i)))
                        .collect();
                    let all: f64 = weights.iter().sum();
                    let other: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
                    let ratios = other.iter().zip(shares).map(|(a, b)| (a / b).ln().abs());
                    let (pure, most) = (epsilon(&books, 0.0).unwrap(), ratios.fold(0.0, f64::max));
                    assert!(most <= pure.upper, "{most} {pure:?}");
                    for &(order, counted) in &curve {
                        for (p, q) in [(&other[..], shares), (shares, &other[..])] {
                            let exact = divergence(p, q, order);
                            assert!(
                                !exact.is_finite() || exact <= counted * (1.0 + 1e-9) + 1e-12,
                                "z = {z}, {shares:?} {signs:b}, order {order}: {exact} {counted}"
                            );
                            closest = closest.max(exact / counted);
                        }
                    }
                }
            }
            assert!(z < 5.0 || closest > 0.9, "z = {z}: {closest}");
        }
    }
}

/// Noise in proportion, groups, and what Gaussian noise of as many clips costs.
#[test]
fn an_exponential_mechanism_is_counted_as_gaussian_noise_of_its_clips() {
    let cost = |z: f64, count| {
        let books = ledger(ExponentialMechanism::new(z).unwrap(), Adjacency::AddRemove, count);
        epsilon(&books, 1e-6).unwrap().upper
    };
    let gaussian = epsilon(&ledger(Gaussian::new(40.0).unwrap(), Adjacency::AddRemove, 100), 1e-6);
    // The same Rényi curve, without the exact profile that only the Gaussian has.
    let (ours, theirs) = (cost(40.0, 100), gaussian.unwrap().upper);
    assert!(theirs < ours && ours < 1.15 * theirs, "{ours} {theirs}");
    assert!((cost(80.0, 400) / ours - 1.0).abs() < 1e-9, "four times as often, half as much");
    let two = Mechanism::from(ExponentialMechanism::new(40.0).unwrap()).group(2).unwrap();
    assert_eq!(two, ExponentialMechanism::new(20.0).unwrap().into());
    let plan = |z: f64| {
        Ok::<_, EventError>(ledger(ExponentialMechanism::new(z)?, Adjacency::ReplaceOne, 50))
    };
    let found = calibrate(1.0, 1e-6, plan).unwrap();
    assert!(found.epsilon.upper <= 1.0 && found.epsilon.upper > 0.99, "{found:?}");
}

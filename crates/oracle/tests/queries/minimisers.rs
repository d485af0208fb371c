//! Minimisers, with noise on them or in the objective.

use super::{COLUMNS, COUNT, OPENING, close, gate, loss, noiseless, point};
use reticent_accountant::{Adjacency, Mechanism, Unit};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{Gradient, Minimiser, PerturbedObjective};
use reticent_oracle::{Entropy, Gate, Law, Oracle, PrivacyModel, Quadratic, Refusal, Rehearsal};
use reticent_problem::constraints::Constraint;
use reticent_testkit::statistics::{gamma_cdf, kolmogorov};

/// `∇F` by the gate's own gradient.
fn slope(gate: &mut Gate, x: &[f64], public: &Quadratic<'_>) -> Vec<f64> {
    let mut g = gate.ask(&Gradient { at: x, mean: noiseless(100.0) }).unwrap().into_inner();
    for i in 0..x.len() {
        g[i] += public.ridge * x[i] + public.linear[i];
    }
    if let Some((a, gamma, v)) = public.penalty {
        let (mut rest, mut back) = (vec![0.0; v.len()], vec![0.0; COLUMNS]);
        a.a().apply(&x[..COLUMNS], 1, &mut rest);
        rest.iter_mut().zip(v).for_each(|(rest, v)| *rest = (*rest - v) / gamma);
        a.a().apply_transpose(&rest, 1, &mut back);
        g.iter_mut().zip(&back).for_each(|(g, back)| *g += back);
    }
    g
}

#[test]
fn the_minimiser_is_one() {
    let chain = Constraint::chain(COLUMNS).unwrap();
    for unit in [Unit::Record, Unit::User] {
        for penalty in [None, Some((&chain, 0.5, &[0.3, -0.2][..]))] {
            let mut gate = gate("logistic", &PrivacyModel { unit, ..OPENING });
            let linear = point(4, 5);
            let public = Quadratic { ridge: 0.05, linear: &linear, penalty };
            let start = point(4, 6);
            let params = Minimiser {
                row_norm: 10.0,
                public,
                start: &start,
                image: false,
                noise_multiplier: 0.0,
            };
            let x = gate.ask(&params).unwrap().into_inner();
            // 1% of S·μ = C/n is what was asked for; the bound is not tight.
            close(&slope(&mut gate, &x, &public), &[0.0; 4], 0.01 * 10.0 / 3.0);
            close(&slope(&mut gate, &x, &public), &[0.0; 4], 2e-3);
        }
    }
}

#[test]
fn an_image_is_the_matrix_times_the_minimiser() {
    let opening = PrivacyModel { intercept: 0.0, ..OPENING };
    let identity = Constraint::identity(COLUMNS);
    let (linear, v, start) = (vec![0.0; 3], point(3, 1), vec![0.0; 3]);
    let public = Quadratic { ridge: 0.0, linear: &linear, penalty: Some((&identity, 2.0, &v)) };
    let params =
        Minimiser { row_norm: 2.0, public, start: &start, image: false, noise_multiplier: 0.0 };
    let x = gate("logistic", &opening).ask(&params).unwrap().into_inner();
    let params = Minimiser { image: true, ..params };
    let image = gate("logistic", &opening).ask(&params).unwrap().into_inner();
    close(&x, &image, 1e-3);
}

#[test]
fn a_minimiser_without_a_proof_is_refused_before_the_ledger() {
    let zeros = vec![0.0; 4];
    let public = Quadratic { ridge: 0.1, linear: &zeros, penalty: None };
    let params =
        Minimiser { row_norm: 2.0, public, start: &zeros, image: false, noise_multiplier: 1.0 };
    let flat = Minimiser { public: Quadratic { ridge: 0.0, ..public }, ..params };
    let flatter = Minimiser { public: Quadratic { ridge: 1e-19, ..public }, ..params };
    let image = Minimiser { image: true, ..params };
    let add_remove =
        PrivacyModel { adjacency: Adjacency::AddRemove, public_n: Some(12), ..OPENING };
    for (name, opening, params) in [
        ("logistic", OPENING, flat),
        ("huber:1", OPENING, flatter),
        ("logistic", OPENING, image),
        ("squared", OPENING, params),
        ("hinge", OPENING, params),
        // Squares of its slopes come out as 0, and with them the bound of what a record moves.
        ("piecewise-residual:-1,-1e-162,1,1e-162", OPENING, params),
        ("logistic", add_remove, params),
    ] {
        let mut gate = gate(name, &opening);
        assert!(
            matches!(gate.ask(&params), Err(Refusal::BadQuery(_) | Refusal::Diverged(_))),
            "{name}"
        );
        assert!(gate.ledger().entries().is_empty());
    }
    assert!(gate("logistic", &OPENING).ask(&params).is_ok());
}

fn perturbed<'a>(
    public: Quadratic<'a>,
    start: &'a [f64],
    law: Law,
    z: f64,
) -> PerturbedObjective<'a> {
    PerturbedObjective { row_norm: 1.5, smoothness: 0.25, public, start, law, noise_multiplier: z }
}

/// Without noise a perturbed objective is the objective, whoever the neighbours are and however its
/// pulls are written.
#[test]
fn an_objective_without_noise_has_its_minimiser() {
    let start = point(COLUMNS + 1, 3);
    let (centre, mut linear, mut ridge) = (point(COLUMNS + 1, 5), point(COLUMNS + 1, 1), 0.1);
    Quadratic::pull(0.2, &centre, &mut ridge, &mut linear);
    assert!((ridge - 0.5).abs() < 1e-15);
    let public = Quadratic { ridge, linear: &linear, penalty: None };
    let params =
        Minimiser { row_norm: 1.5, public, start: &start, image: false, noise_multiplier: 0.0 };
    let expected = gate("logistic", &OPENING).ask(&params).unwrap().into_inner();
    let count = Some(COUNT as u64);
    for opening in
        [OPENING, PrivacyModel { adjacency: Adjacency::AddRemove, public_n: count, ..OPENING }]
    {
        for law in [Law::Normal, Law::SphericalLaplace] {
            let mut gate = gate("logistic", &opening);
            let x = gate.ask(&perturbed(public, &start, law, 0.0)).unwrap().into_inner();
            // Both are within the radius of the minimiser query, a hundredth of 1.5/(12·0.5).
            close(&x, &expected, 3e-3);
            assert_eq!(gate.ledger().entries()[0].event().mechanism().kind(), "non-private");
        }
    }
}

/// Rows of zeros leave J(x) = (m/2)‖x‖² + bᵀx + const, so −m·n·x/C has the law of `b` in units of
/// its scale, but for the noise that covers the solver, below a thousandth of it. False-alarm rate
/// 1e-6 each.
#[test]
fn the_linear_term_has_the_law_that_is_counted() {
    let (count, columns, z, ridge) = (4_usize, 3_usize, 1.5, 2.0);
    let zeros = vec![0.0; columns];
    let public = Quadratic { ridge, linear: &zeros, penalty: None };
    let opening = PrivacyModel { intercept: 0.0, ..OPENING };
    for (law, size) in [(Law::Normal, 1500), (Law::SphericalLaplace, 1500)] {
        let table = Table {
            rows: Rows::Dense({
                let mut rows = Dense::empty(columns);
                (0..count).for_each(|_| rows.push_sparse(&[], &[]));
                rows
            }),
            targets: vec![1.0; count],
            users: None,
            weights: None,
            names: vec!["x".to_owned(); columns],
        };
        let mut gate =
            Gate::open(table.into(), loss("logistic"), &opening, Entropy::seeded(8)).unwrap();
        let params = perturbed(public, &zeros, law, z);
        let mut norms: Vec<f64> = (0..size)
            .map(|_| {
                let x = gate.ask(&params).unwrap().into_inner();
                x.iter().map(|x| x * x).sum::<f64>().sqrt() * ridge * count as f64 / (1.5 * z)
            })
            .collect();
        norms.sort_by(f64::total_cmp);
        let cdf = |norm: f64| match law {
            Law::Normal => gamma_cdf(1.5, 0.5 * norm * norm),
            Law::SphericalLaplace => gamma_cdf(3.0, norm),
        };
        let p = kolmogorov(&norms, |norm| (cdf(norm), cdf(norm)));
        assert!(p > 1e-6, "{law:?}: {p}");
    }
}

#[test]
fn perturbed_objectives_are_recorded_as_what_they_are() {
    let zeros = vec![0.0; COLUMNS + 1];
    let public = Quadratic { ridge: 0.5, linear: &zeros, penalty: None };
    let kinds = |gate: &Gate| -> Vec<_> {
        gate.ledger()
            .entries()
            .iter()
            .map(|entry| entry.event().mechanism().kind().to_owned())
            .collect()
    };
    let mut asked = gate("logistic", &OPENING);
    asked.ask(&perturbed(public, &zeros, Law::Normal, 3.0)).unwrap();
    assert_eq!(kinds(&asked), ["objective-perturbation", "gaussian"]);
    // n = 12, R = 1.5, Λ = ½: c = 0.25·2.25/6; 2/z, and a 32nd for the solver's distance.
    let mut asked = gate("logistic", &OPENING);
    asked.ask(&perturbed(public, &zeros, Law::SphericalLaplace, 4.0)).unwrap();
    let expected = (0.25 * 2.25 / 6.0_f64).ln_1p() + (2.0 + 1.0 / 32.0) / 4.0;
    let Mechanism::PureDp(pure) = asked.ledger().entries()[0].event().mechanism() else {
        panic!("{:?}", kinds(&asked))
    };
    assert!((pure.epsilon() - expected).abs() < 1e-9, "{}", pure.epsilon());
    // Three scores a record: rank three; users, of whom there are two: the trace.
    let zeros = vec![0.0; 3 * (COLUMNS + 1)];
    let public = Quadratic { ridge: 0.5, linear: &zeros, penalty: None };
    for (unit, expected) in
        [(Unit::Record, 3.0 * (0.5 * 2.25 / 6.0_f64).ln_1p()), (Unit::User, 3.0 * 0.5 * 2.25)]
    {
        let mut asked = gate("multinomial:3", &PrivacyModel { unit, ..OPENING });
        let params = PerturbedObjective {
            smoothness: 0.5,
            ..perturbed(public, &zeros, Law::SphericalLaplace, 4.0)
        };
        asked.ask(&params).unwrap();
        let Mechanism::PureDp(pure) = asked.ledger().entries()[0].event().mechanism() else {
            panic!("pure")
        };
        assert!(
            (pure.epsilon() - expected - (2.0 + 1.0 / 32.0) / 4.0).abs() < 1e-9,
            "{}",
            pure.epsilon()
        );
    }
}

/// Twelve records, announced as 5, 6 and 7: there is an answer, the books say the same, and more
/// than twice the public number are never taken. Of rows that agree the sum shows how many were: x
/// = −min(12, 2n)/n·slope/ridge, to first order.
#[test]
fn of_a_crowd_a_subset_is_taken() {
    let zeros = vec![0.0; COLUMNS + 1];
    let public = Quadratic { ridge: 100.0, linear: &zeros, penalty: None };
    for public_n in [5_u64, 6, 7] {
        let opening =
            PrivacyModel { adjacency: Adjacency::AddRemove, public_n: Some(public_n), ..OPENING };
        for law in [Law::Normal, Law::SphericalLaplace] {
            let mut asked = gate("logistic", &opening);
            asked.ask(&perturbed(public, &zeros, law, 3.0)).unwrap();
            let mut rehearsal = Rehearsal::new(asked.shape(), *asked.terms());
            rehearsal.ask(&perturbed(public, &zeros, law, 3.0)).unwrap();
            assert_eq!(asked.ledger().entries(), rehearsal.into_plan().entries());
        }
        let mut rows = Dense::empty(1);
        (0..COUNT).for_each(|_| rows.push_sparse(&[0], &[1.0]));
        let names = vec!["x".to_owned()];
        let table = Table {
            rows: Rows::Dense(rows),
            targets: vec![1.0; COUNT],
            users: None,
            weights: None,
            names,
        };
        let opening = PrivacyModel { intercept: 0.0, ..opening };
        let mut gate =
            Gate::open(table.into(), loss("logistic"), &opening, Entropy::seeded(8)).unwrap();
        let public = Quadratic { linear: &[0.0], ..public };
        let x = gate.ask(&perturbed(public, &[0.0], Law::Normal, 0.0)).unwrap().into_inner();
        let taken = COUNT.min(2 * public_n as usize) as f64;
        close(&x, &[0.5 * taken / public_n as f64 / 100.0], 1e-4);
    }
}

#[test]
fn what_is_not_proven_is_refused_before_the_ledger() {
    let zeros = vec![0.0; COLUMNS + 1];
    let ridge = |ridge| Quadratic { ridge, linear: &zeros, penalty: None };
    let good = perturbed(ridge(0.5), &zeros, Law::Normal, 3.0);
    let by_user = PrivacyModel { unit: Unit::User, ..OPENING };
    for (name, opening, params) in [
        ("huber:1", OPENING, PerturbedObjective { smoothness: 1.0, ..good }),
        ("hinge", OPENING, good),
        ("logistic", by_user, good),
        ("logistic", OPENING, PerturbedObjective { smoothness: 0.2, ..good }),
        ("logistic", OPENING, PerturbedObjective { public: ridge(0.0), ..good }),
        ("logistic", OPENING, PerturbedObjective { noise_multiplier: -1.0, ..good }),
    ] {
        let mut gate = gate(name, &opening);
        assert!(matches!(gate.ask(&params), Err(Refusal::BadQuery(_))), "{name}");
        assert!(gate.ledger().entries().is_empty());
    }
    let zeros = vec![0.0; 3 * (COLUMNS + 1)];
    let public = Quadratic { ridge: 0.5, linear: &zeros, penalty: None };
    let params =
        PerturbedObjective { smoothness: 0.5, ..perturbed(public, &zeros, Law::Normal, 3.0) };
    assert!(gate("multinomial:3", &OPENING).ask(&params).is_err());
    assert!(gate("logistic", &OPENING).ask(&good).is_ok());
}

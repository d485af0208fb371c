//! The exact objective: what it is, that it is written down, and that its bits do not depend on
//! threads.
#![allow(clippy::type_complexity)] // a list of functions is plainer than a name for their type
#![allow(clippy::unwrap_used)]

use reticent_accountant::{Adjacency, Ledger, Mechanism, Taint, Unit, View};
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::without_privacy::ExactOracle;
use reticent_oracle::{Entropy, Gate, PrivacyModel, Refusal, Sampling};
use reticent_problem::losses;

const OPENING: PrivacyModel = PrivacyModel {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 0.5,
};

const FEATURES: usize = 5;

/// Numbers in [−½, ½) without pattern.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    (0..count).map(|_| next()).collect()
}

fn table(n: usize, classes: usize) -> Table {
    let values = numbers(n * FEATURES, 1);
    let target = |v: &f64| match classes {
        0 => *v,
        2 => v.signum(),
        k => ((v + 0.5) * k as f64).floor(),
    };
    Table {
        rows: Rows::Dense(Dense { rows: n, columns: FEATURES, values }),
        targets: numbers(n, 2).iter().map(target).collect(),
        users: None,
        weights: None,
        names: (0..FEATURES).map(|j| j.to_string()).collect(),
    }
}

fn sparse(table: &Table) -> Table {
    let mut csr = Csr::empty(FEATURES);
    for i in 0..table.len() {
        csr.push(&[0, 1, 2, 3, 4], &table.rows.dense_row(i));
    }
    Table { rows: Rows::Sparse(csr), ..table.clone() }
}

fn open(table: Table, loss: &str, opening: &PrivacyModel) -> Gate {
    Gate::open(table.into(), losses::parse(loss, None).unwrap(), opening, Entropy::seeded(1))
        .unwrap()
}

/// Every loss of the catalogue with a table it can take; the ones with kinks are split.
fn gates() -> Vec<(String, Gate)> {
    let texts = losses::CATALOGUE.iter().map(|entry| match entry.name {
        "multinomial" => "multinomial:3".to_owned(),
        name => name.to_owned(),
    });
    texts
        .map(|text| {
            let classes = match losses::parse(&text, None).unwrap().target() {
                losses::LossTarget::Binary => 2,
                losses::LossTarget::Classes(k) => k,
                losses::LossTarget::Real => 0,
            };
            let mut gate = open(table(40, classes), &text, &OPENING);
            if gate.smoothness().is_infinite() {
                gate.split(0.3).unwrap();
                let at = vec![0.1; ExactOracle::shape(&gate).len()];
                gate.raise_multipliers(&at, 1.0).unwrap();
            }
            (text, gate)
        })
        .collect()
}

#[test]
fn gradient_and_hessian_are_those_of_the_value() {
    for (name, mut gate) in gates() {
        let n = ExactOracle::shape(&gate).len();
        let at = numbers(n, 3);
        let (mut g, mut h) = (vec![0.0; n], vec![0.0; n * n]);
        gate.evaluate(&at, &mut g, Some(&mut h)).unwrap();
        let v = numbers(n, 4);
        let mut image = vec![0.0; n];
        gate.hessian_times(&at, &v, &mut image).unwrap();
        let step = 1e-6;
        let [ahead, behind] =
            [step, -step].map(|t| at.iter().zip(&v).map(|(x, v)| x + t * v).collect::<Vec<_>>());
        let (mut after, mut before) = (vec![0.0; n], vec![0.0; n]);
        let rise = gate.evaluate(&ahead, &mut after, None).unwrap()
            - gate.evaluate(&behind, &mut before, None).unwrap();
        let along: f64 = g.iter().zip(&v).map(|(g, v)| g * v).sum();
        assert!((rise / (2.0 * step) - along).abs() < 1e-8, "{name}: slope {along}");
        for i in 0..n {
            let curvature = (after[i] - before[i]) / (2.0 * step);
            let product: f64 = h[i * n..][..n].iter().zip(&v).map(|(h, v)| h * v).sum();
            assert!((product - image[i]).abs() < 1e-12, "{name}: H v and the dense Hessian differ");
            assert!(
                (curvature - product).abs() < 1e-6,
                "{name}: bend {curvature} against {product}"
            );
        }
    }
}

#[test]
fn dense_and_sparse_rows_and_any_number_of_threads_agree() {
    let answer = |table: Table, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut gate = open(table, "logistic", &OPENING);
        let (mut g, mut h) = (vec![0.0; 6], vec![0.0; 36]);
        let value = pool.install(|| gate.evaluate(&numbers(6, 3), &mut g, Some(&mut h)).unwrap());
        (value, g, h)
    };
    let one = answer(table(333, 2), 1);
    for threads in [2, 3] {
        assert_eq!(answer(table(333, 2), threads), one);
    }
    let other = answer(sparse(&table(333, 2)), 2);
    assert!(other.2.iter().zip(&one.2).all(|(a, b)| (a - b).abs() < 1e-15));
}

/// Without noise and without a clip that bites, the private gradient is the exact one, users
/// included.
#[test]
fn it_is_the_objective_of_the_noisy_gradients() {
    for unit in [Unit::Record, Unit::User] {
        let mut table = table(30, 2);
        table.users = Some((0..30).map(|i| [0, 1, 0, 2, 1, 0][i % 6]).collect());
        let mut gate = open(table, "logistic", &PrivacyModel { unit, ..OPENING });
        let at = numbers(6, 5);
        let mut exact = vec![0.0; 6];
        gate.evaluate(&at, &mut exact, None).unwrap();
        let params = ClippedMean { clip: 10.0, noise_multiplier: 0.0, sampling: Sampling::Full };
        let released = gate.ask(&Gradient { at: &at, mean: params }).unwrap().into_inner();
        assert!(
            released.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-7),
            "{unit}: {released:?} {exact:?}"
        );
    }
}

#[test]
fn every_use_is_a_non_private_event_and_a_bound_gate_refuses() {
    let mut gate = open(table(10, 2), "logistic", &OPENING);
    let mut g = vec![0.0; 6];
    gate.loss(&[0.0; 6]).unwrap();
    gate.evaluate(&[0.0; 6], &mut g, None).unwrap();
    gate.hessian_times(&[0.0; 6], &[1.0; 6], &mut g).unwrap();
    let [entry] = gate.ledger().entries() else { panic!("one kind of event") };
    assert!(matches!(entry.event().mechanism(), Mechanism::NonPrivate(_)));
    assert_eq!(entry.count(), 3);

    let mut gate = open(table(10, 2), "logistic", &OPENING);
    gate.bind(Ledger::new());
    assert!(matches!(gate.loss(&[0.0; 6]), Err(Refusal::Unplanned { .. })));
    assert!(matches!(gate.evaluate(&[0.0; 6], &mut g, None), Err(Refusal::Unplanned { .. })));
    assert!(matches!(
        gate.hessian_times(&[0.0; 6], &[1.0; 6], &mut g),
        Err(Refusal::Unplanned { .. })
    ));
    assert!(matches!(gate.split(1.0), Err(Refusal::Unplanned { .. })));
    assert!(matches!(gate.raise_multipliers(&[0.0; 6], 1.0), Err(Refusal::Unplanned { .. })));
    assert!(gate.ledger().entries().is_empty());
}

#[test]
fn what_leaves_without_noise_taints_the_books() {
    let uses: [fn(&mut Gate) -> Result<(), Refusal>; 4] = [
        |gate| gate.loss(&[0.0; 6]).map(drop),
        |gate| gate.evaluate(&[0.0; 6], &mut [0.0; 6], None).map(drop),
        |gate| gate.hessian_times(&[0.0; 6], &[1.0; 6], &mut [0.0; 6]),
        |gate| gate.split(1.0),
    ];
    for released in uses {
        let mut gate = open(table(10, 2), "logistic", &OPENING);
        assert!(!gate.ledger().taints().contains(&Taint::RawRelease));
        released(&mut gate).unwrap();
        assert!(gate.ledger().taints().contains(&Taint::RawRelease));
    }
}

#[test]
fn points_that_cannot_be_are_refused_without_an_entry() {
    let mut gate = open(table(10, 2), "logistic", &OPENING);
    assert!(matches!(gate.loss(&[0.0; 5]), Err(Refusal::BadQuery(_))));
    assert!(matches!(gate.loss(&[f64::NAN; 6]), Err(Refusal::Diverged(_))));
    assert!(gate.ledger().entries().is_empty());
}

use reticent_accountant::View;
use reticent_data::{Dense, Rows, Table};
use reticent_problem::losses;

use super::*;
use crate::holder::TableHolder;
use crate::sums::Private;

const START: [f64; 4] = [0.0; 4];
const RIDGE: f64 = 0.1;
const RECORDS: usize = 50;

fn inside() -> GateState {
    let mut rows = Dense::empty(4);
    (0..RECORDS).for_each(|i| rows.push_sparse(&[0, 1, 2, 3], &[0.5, 0.1 * i as f64, 0.0, -0.2]));
    let table = Table {
        rows: Rows::Dense(rows),
        targets: (0..RECORDS).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
        users: None,
        weights: None,
        names: vec![String::new(); 4],
    };
    let terms = Terms::replace_one(Unit::Record, View::Central, RECORDS as u64);
    let loss = losses::parse("logistic", None).unwrap();
    let holder = TableHolder::new(Private::by_record(table, 0.0).unwrap());
    GateState::new(Box::new(holder), loss.into(), terms)
}

fn objective(law: Law) -> PerturbedObjective<'static> {
    let public = Quadratic { ridge: RIDGE, linear: &START, penalty: None };
    let (row_norm, smoothness, noise_multiplier) = (1.5, 0.25, 2.0);
    PerturbedObjective { row_norm, smoothness, public, start: &START, law, noise_multiplier }
}

/// Gamma(4) passes 4 + 30 + 112.5 with probability e^−x Σ x^k/k!, k < 4, and the norm of four
/// normals 2 + 15 with less than e^(−15²/2).
#[test]
fn a_linear_term_is_hardly_ever_longer_than_is_counted_on() {
    assert_eq!(objective(Law::Normal).longest(), 17.0);
    let x: f64 = objective(Law::SphericalLaplace).longest();
    assert_eq!(x, 146.5);
    let passed = (1.0 + x + x * x / 2.0 + x * x * x / 6.0).ln() - x;
    assert!(passed < -112.0, "{passed}");
    for law in [Law::Normal, Law::SphericalLaplace] {
        let objective = objective(law);
        let off = 1e-14 * 12.0 * objective.longest();
        assert!((objective.farthest() / off - 1.0).abs() < 1e-12);
    }
}

/// What is covered by noise is all of the distance: the solver's, the sampler's, and no less than
/// can be drawn.
#[test]
fn the_radius_of_an_objective_covers_solver_and_sampler() {
    for law in [Law::Normal, Law::SphericalLaplace] {
        let objective = objective(law);
        let ProvenObjective { bounds, descent, radius, scale } =
            objective.prove(&inside()).unwrap();
        let truth = 2.0 * 1.5 / RECORDS as f64;
        assert!(scale >= truth && scale < truth * (1.0 + 1e-9), "{scale}");
        let exact = 1.5 / (RECORDS as f64 * RIDGE);
        assert!(descent.potential <= (1e-4 * exact).powi(2) * RIDGE / 2.0 * (1.0 + 1e-9));
        let off = scale * objective.farthest() / RIDGE;
        assert!(radius >= descent.radius(&bounds) + off && radius <= 0.1 * exact, "{radius}");
        assert!(radius >= bounds.reach / (1_u64 << 28) as f64);
    }
}

/// What the solver leaves is covered by the noise that is entered for it: in every entry the mean
/// size of a Laplace noise is its scale, 64z radii times the root of the length. 400 values from
/// fixed seeds, to 6 standard errors of a twentieth each (false alarm below 1e-8).
#[test]
fn a_pure_objective_is_covered_by_as_much_noise_as_is_entered() {
    let objective = objective(Law::SphericalLaplace);
    let mut inside = inside();
    let ProvenObjective { bounds, descent, radius, scale } = objective.prove(&inside).unwrap();
    let loss = inside.loss.clone();
    let mut sum = 0.0;
    for seed in 0..100 {
        let said = objective.answer(&mut inside, &mut Entropy::seeded(seed)).unwrap();
        let mut b = objective.draw(&mut Entropy::seeded(seed)).unwrap();
        b.iter_mut().for_each(|b| *b *= scale);
        let risk = objective.risk(&inside, &*loss, scale);
        let x = inside.minimise(&descent, &risk, bounds.clip, &b, None).unwrap();
        sum += said.iter().zip(&x).map(|(said, x)| (said - x).abs()).sum::<f64>();
    }
    let entered = 64.0 * objective.noise_multiplier * radius * (START.len() as f64).sqrt();
    let mean = sum / (100 * START.len()) as f64;
    assert!((mean / entered - 1.0).abs() < 0.3, "{mean} {entered}");
}

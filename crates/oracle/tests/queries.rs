//! Every query against a second computation of the same thing, without noise; its event; its refusals.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_accountant::{Adjacency, Mechanism, Taint, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::{
    Claim, ConsensusTerms, CountTerms, Entropy, Gate, GradientTerms, Law, MinimiserTerms, Moving,
    ObjectiveTerms, Opening, Oracle, Quadratic, QuantileTerms, Refusal, Rehearsal, Sampling,
    SecondMomentTerms, Statistic,
};
use reticent_problem::constraints::Constraint;
use reticent_problem::losses::{self, Loss};
use reticent_testkit::statistics::{gamma_cdf, kolmogorov};

const OPENING: Opening = Opening {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 0.5,
};

const COLUMNS: usize = 3;
const COUNT: usize = 12;

/// Rows without pattern in [−1, 1], targets of alternating sign, three users.
fn example(classes: bool) -> Table {
    let mut rows = Dense::empty(COLUMNS);
    let value = |i: usize, j: usize| ((7 * i + 3 * j * j + 5 * i * j) % 13) as f64 / 6.0 - 1.0;
    for i in 0..COUNT {
        rows.push_sparse(&[0, 1, 2], &[value(i, 0), value(i, 1), value(i, 2)]);
    }
    let target = |i: usize| if classes { (i % 3) as f64 } else { 1.0 - 2.0 * ((i * i / 3) % 2) as f64 };
    Table {
        rows: Rows::Dense(rows),
        targets: (0..COUNT).map(target).collect(),
        users: Some((0..COUNT as u32).map(|i| (i * i) % 3).collect()),
        names: vec!["x".to_owned(); COLUMNS],
    }
}

fn loss(name: &str) -> Box<dyn Loss> {
    losses::parse(name, None).unwrap()
}

fn gate(name: &str, opening: &Opening) -> Gate {
    Gate::open(example(name.starts_with("multi")).into(), loss(name), opening, Entropy::seeded(1)).unwrap()
}

fn noiseless(clip: f64) -> GradientTerms {
    GradientTerms { clip, noise_multiplier: 0.0, sampling: Sampling::Full }
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance), "{a:?}\n{b:?}");
}

fn point(len: usize, seed: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * 37 + seed * 11) % 19) as f64 / 9.5 - 1.0).collect()
}

#[test]
fn a_correction_is_a_difference_of_gradients() {
    for unit in [Unit::Record, Unit::User] {
        for name in ["logistic", "multinomial:3"] {
            let mut gate = gate(name, &Opening { unit, ..OPENING });
            let (at, from) = (point(gate.shape().len(), 1), point(gate.shape().len(), 2));
            let how = noiseless(100.0);
            let difference = gate.correction(&at, &from, &how).unwrap().into_inner();
            let at = gate.gradient(&at, &how).unwrap().into_inner();
            let from = gate.gradient(&from, &how).unwrap().into_inner();
            let expected: Vec<f64> = at.iter().zip(&from).map(|(a, b)| a - b).collect();
            close(&difference, &expected, 1e-6);
        }
    }
}

#[test]
fn a_coordinate_is_an_entry_of_the_gradient() {
    for unit in [Unit::Record, Unit::User] {
        for name in ["logistic", "multinomial:3"] {
            let mut gate = gate(name, &Opening { unit, ..OPENING });
            let at = point(gate.shape().len(), 1);
            let how = noiseless(100.0);
            let whole = gate.gradient(&at, &how).unwrap().into_inner();
            let entries: Vec<f64> =
                (0..at.len()).map(|j| gate.coordinate(&at, j, &how).unwrap().into_inner()).collect();
            close(&entries, &whole, 1e-6);
        }
    }
}

/// At 0 the derivative by the first weight is −b·a/2.
#[test]
fn a_coordinate_is_clipped_by_itself() {
    let mut gate = gate("logistic", &OPENING);
    let table = example(false);
    let slope = |i: usize| (-0.5 * table.targets[i] * table.rows.dense_row(i)[0]).clamp(-0.1, 0.1);
    let expected = (0..COUNT).map(slope).sum::<f64>() / COUNT as f64;
    let answer = gate.coordinate(&[0.0; 4], 0, &noiseless(0.1)).unwrap().into_inner();
    assert!(expected != 0.0 && (answer - expected).abs() < 1e-9, "{answer} {expected}");
    assert!(matches!(gate.coordinate(&[0.0; 4], 4, &noiseless(0.1)), Err(Refusal::BadQuery(_))));
}

/// The blocks written out in full, as FP23 has them, with the prox of the whole parameter.
struct Textbook {
    table: Table,
    loss: Box<dyn Loss>,
    blocks: Vec<Vec<f64>>,
}

impl Textbook {
    fn step(&mut self, z: &[f64], how: &ConsensusTerms) -> Vec<f64> {
        let outputs = self.loss.outputs();
        let mut mean = vec![0.0; z.len()];
        for (i, u) in self.blocks.iter_mut().enumerate() {
            let mut a = self.table.rows.dense_row(i);
            a.push(OPENING.intercept);
            let square: f64 = a.iter().map(|v| v * v).sum();
            let v: Vec<f64> = z.iter().zip(&*u).map(|(z, u)| 2.0 * z - u).collect();
            let w: Vec<f64> = (0..outputs)
                .map(|k| a.iter().enumerate().map(|(j, a)| a * v[j * outputs + k]).sum())
                .collect();
            let mut moved = vec![0.0; outputs];
            self.loss.prox(&w, self.table.targets[i], how.step * square, &mut moved);
            let mut g = vec![0.0; z.len()];
            for (j, a) in a.iter().enumerate() {
                for k in 0..outputs {
                    g[j * outputs + k] = a * (w[k] - moved[k]) / (how.step * square);
                }
            }
            let size = g.iter().map(|v| v * v).sum::<f64>().sqrt();
            let cut = (how.clip / size).min(1.0);
            for j in 0..u.len() {
                // x = v − γg after clipping, and u⁺ = u + 2λ(x − z).
                u[j] += 2.0 * how.relaxation * (v[j] - how.step * cut * g[j] - z[j]);
                mean[j] += u[j] / COUNT as f64;
            }
        }
        mean
    }
}

#[test]
fn consensus_is_the_textbook_recursion() {
    for (name, clip) in [("logistic", 10.0), ("logistic", 0.3), ("hinge", 10.0), ("multinomial:3", 10.0)] {
        for relaxation in [0.2, 0.5, 0.8] {
            let how = ConsensusTerms {
                clip,
                step: 0.7,
                relaxation,
                noise_multiplier: 0.0,
                sampling: Sampling::Full,
                block_noise: 0.0,
            };
            let mut gate = gate(name, &OPENING);
            let start = point(gate.shape().len(), 3);
            gate.open_consensus(&start).unwrap();
            let table = example(name.starts_with("multi"));
            let mut textbook = Textbook { table, loss: loss(name), blocks: vec![start.clone(); COUNT] };
            let mut z = start;
            for _ in 0..20 {
                let expected = textbook.step(&z, &how);
                let released = gate.consensus(&z, Moving::All, &how).unwrap().into_inner();
                close(&released, &expected, 1e-6);
                z = released.iter().map(|v| v / 1.1).collect();
            }
        }
    }
}

#[test]
fn consensus_finds_the_minimiser_for_records_and_for_users() {
    for unit in [Unit::Record, Unit::User] {
        let opening = Opening { unit, ..OPENING };
        let mut gate = gate("logistic", &opening);
        let how = ConsensusTerms {
            clip: 10.0,
            step: 2.0,
            relaxation: 0.5,
            noise_multiplier: 0.0,
            sampling: Sampling::Full,
            block_noise: 0.0,
        };
        let mut z = vec![0.0; 4];
        gate.open_consensus(&z).unwrap();
        for _ in 0..400 {
            // The prox of a ridge of 0.1.
            z = gate
                .consensus(&z, Moving::All, &how)
                .unwrap()
                .into_inner()
                .iter()
                .map(|u| u / (1.0 + 0.1 * how.step))
                .collect();
        }
        let gradient = gate.gradient(&z, &noiseless(10.0)).unwrap().into_inner();
        let total: Vec<f64> = gradient.iter().zip(&z).map(|(g, z)| g + 0.1 * z).collect();
        close(&total, &[0.0; 4], 1e-6);
    }
}

#[test]
fn consensus_needs_its_blocks_and_leaves_no_entry_without_them() {
    let how = ConsensusTerms {
        clip: 1.0,
        step: 1.0,
        relaxation: 0.5,
        noise_multiplier: 1.0,
        sampling: Sampling::Full,
        block_noise: 0.0,
    };
    let mut gate = gate("logistic", &OPENING);
    assert!(matches!(gate.consensus(&[0.0; 4], Moving::All, &how), Err(Refusal::NoConsensus)));
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    assert!(matches!(rehearsal.consensus(&[0.0; 4], Moving::All, &how), Err(Refusal::NoConsensus)));
    gate.open_consensus(&[0.0; 4]).unwrap();
    for bad in [
        ConsensusTerms { relaxation: 1.0, ..how },
        ConsensusTerms { step: 0.0, ..how },
        ConsensusTerms { clip: f64::NAN, ..how },
    ] {
        assert!(matches!(gate.consensus(&[0.0; 4], Moving::All, &bad), Err(Refusal::BadQuery(_))));
    }
    assert!(gate.ledger().entries().is_empty());
}

const STEP: ConsensusTerms = ConsensusTerms {
    clip: 10.0,
    step: 2.0,
    relaxation: 0.4,
    noise_multiplier: 0.0,
    sampling: Sampling::Full,
    block_noise: 0.0,
};

#[test]
fn naming_every_block_is_moving_all_of_them() {
    for unit in [Unit::Record, Unit::User] {
        let opening = Opening { unit, ..OPENING };
        let (mut all, mut named) = (gate("logistic", &opening), gate("logistic", &opening));
        let units: Vec<u32> = (0..named.terms().population() as u32).collect();
        let mut z = vec![0.1; 4];
        all.open_consensus(&z).unwrap();
        named.open_consensus(&z).unwrap();
        for _ in 0..5 {
            let expected = all.consensus(&z, Moving::All, &STEP).unwrap().into_inner();
            let found = named.consensus(&z, Moving::Only(&units), &STEP).unwrap().into_inner();
            close(&found, &expected, 1e-12);
            z = expected;
        }
        // A block that rests stays where it is.
        let before = named.consensus(&z, Moving::Only(&[]), &STEP).unwrap().into_inner();
        let one = named.consensus(&z, Moving::Only(&[0]), &STEP).unwrap().into_inner();
        assert_ne!(before, one);
        close(&named.consensus(&z, Moving::Only(&[]), &STEP).unwrap().into_inner(), &one, 1e-12);
    }
}

#[test]
fn a_schedule_is_refused_where_it_is_not_public() {
    let refused = |opening: &Opening, moving: Moving<'_>, how: &ConsensusTerms| {
        let mut gate = gate("logistic", opening);
        gate.open_consensus(&[0.0; 4]).unwrap();
        let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
        rehearsal.open_consensus(&[0.0; 4]).unwrap();
        for oracle in [&mut gate as &mut dyn Oracle, &mut rehearsal] {
            assert!(matches!(oracle.consensus(&[0.0; 4], moving, how), Err(Refusal::BadQuery(_))));
        }
        assert!(gate.ledger().entries().is_empty() && gate.ledger().taints().len() == 1);
    };
    let add_remove = Opening { adjacency: Adjacency::AddRemove, public_n: Some(50), ..OPENING };
    refused(&add_remove, Moving::Only(&[0]), &STEP);
    refused(&OPENING, Moving::Only(&[COUNT as u32]), &STEP);
    refused(&OPENING, Moving::Only(&[0]), &ConsensusTerms { sampling: Sampling::Poisson(0.5), ..STEP });
    // Noise on the blocks is for a claim.
    refused(&OPENING, Moving::All, &ConsensusTerms { block_noise: 1.0, ..STEP });
}

#[test]
fn a_claim_is_for_one_answer_and_taints_for_good() {
    let mut gate = gate("logistic", &OPENING);
    assert!(matches!(gate.perturb(&[1.0], 1.0, 1.0), Err(Refusal::BadQuery(_))));
    gate.keep_transcript();
    let how = GradientTerms { clip: 1.0, noise_multiplier: 0.0, sampling: Sampling::Full };
    gate.claim(Claim::nothing(5));
    gate.gradient(&[0.0; 4], &how).unwrap();
    gate.claim(Claim::gaussian(4, Sampling::Full, 3.0));
    let perturbed = gate.perturb(&[1e6, -2.0], 1.0, 3.0).unwrap().into_inner();
    // 60 standard deviations.
    close(&perturbed, &[1e6, -2.0], 180.0);
    assert_eq!(gate.take_transcript(), [perturbed]);
    gate.gradient(&[0.0; 4], &how).unwrap();
    let ledger = gate.close().unwrap();
    let kinds: Vec<_> = ledger.entries().iter().map(|e| e.event().mechanism().to_string()).collect();
    assert_eq!(ledger.total_events(), 2, "{kinds:?}");
    assert!(kinds[1].contains("without protection"), "{kinds:?}");
    assert!([4, 5].iter().all(|&n| ledger.taints().contains(&Taint::AsPublished(n))));
}

/// `∇F` by the gate's own gradient.
fn slope(gate: &mut Gate, x: &[f64], public: &Quadratic<'_>) -> Vec<f64> {
    let mut g = gate.gradient(x, &noiseless(100.0)).unwrap().into_inner();
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
            let mut gate = gate("logistic", &Opening { unit, ..OPENING });
            let linear = point(4, 5);
            let public = Quadratic { ridge: 0.05, linear: &linear, penalty };
            let start = point(4, 6);
            let how =
                MinimiserTerms { row_norm: 10.0, public, start: &start, image: false, noise_multiplier: 0.0 };
            let x = gate.minimiser(&how).unwrap().into_inner();
            // 1% of S·μ = C/n is what was asked for; the bound is not tight.
            close(&slope(&mut gate, &x, &public), &[0.0; 4], 0.01 * 10.0 / 3.0);
            close(&slope(&mut gate, &x, &public), &[0.0; 4], 2e-3);
        }
    }
}

#[test]
fn an_image_is_the_matrix_times_the_minimiser() {
    let opening = Opening { intercept: 0.0, ..OPENING };
    let identity = Constraint::identity(COLUMNS);
    let (linear, v, start) = (vec![0.0; 3], point(3, 1), vec![0.0; 3]);
    let public = Quadratic { ridge: 0.0, linear: &linear, penalty: Some((&identity, 2.0, &v)) };
    let how = MinimiserTerms { row_norm: 2.0, public, start: &start, image: false, noise_multiplier: 0.0 };
    let x = gate("logistic", &opening).minimiser(&how).unwrap().into_inner();
    let how = MinimiserTerms { image: true, ..how };
    let image = gate("logistic", &opening).minimiser(&how).unwrap().into_inner();
    close(&x, &image, 1e-3);
}

#[test]
fn a_minimiser_without_a_proof_is_refused_before_the_ledger() {
    let zeros = vec![0.0; 4];
    let public = Quadratic { ridge: 0.1, linear: &zeros, penalty: None };
    let how = MinimiserTerms { row_norm: 2.0, public, start: &zeros, image: false, noise_multiplier: 1.0 };
    let flat = MinimiserTerms { public: Quadratic { ridge: 0.0, ..public }, ..how };
    let flatter = MinimiserTerms { public: Quadratic { ridge: 1e-19, ..public }, ..how };
    let image = MinimiserTerms { image: true, ..how };
    let add_remove = Opening { adjacency: Adjacency::AddRemove, public_n: Some(12), ..OPENING };
    for (name, opening, how) in [
        ("logistic", OPENING, flat),
        ("huber:1", OPENING, flatter),
        ("logistic", OPENING, image),
        ("squared", OPENING, how),
        ("hinge", OPENING, how),
        ("logistic", add_remove, how),
    ] {
        let mut gate = gate(name, &opening);
        assert!(matches!(gate.minimiser(&how), Err(Refusal::BadQuery(_))), "{name}");
        assert!(gate.ledger().entries().is_empty());
    }
    assert!(gate("logistic", &OPENING).minimiser(&how).is_ok());
}

#[test]
fn the_second_moment_is_symmetric_and_clipped() {
    let table = example(false);
    let row_norm = 0.9;
    let mut expected = vec![0.0; 9];
    for i in 0..COUNT {
        let row = table.rows.dense_row(i);
        let scale = row_norm / row.iter().map(|v| v * v).sum::<f64>().sqrt().max(row_norm);
        for j in 0..9 {
            expected[j] += row[j / 3] * row[j % 3] * scale * scale / COUNT as f64;
        }
    }
    let how = SecondMomentTerms { row_norm, noise_multiplier: 0.0 };
    close(gate("logistic", &OPENING).second_moment(&how).unwrap().get(), &expected, 1e-8);
    let how = SecondMomentTerms { row_norm, noise_multiplier: 3.0 };
    let noisy = gate("logistic", &OPENING).second_moment(&how).unwrap().into_inner();
    assert!((0..9).all(|j| noisy[j] == noisy[j % 3 * 3 + j / 3]), "{noisy:?}");
}

#[test]
fn a_score_is_the_mean_error_of_the_predictions() {
    for name in ["logistic", "multinomial:3"] {
        let table = example(name != "logistic");
        let loss = loss(name);
        let (outputs, shape) = (loss.outputs(), gate(name, &OPENING).shape());
        let at = point(shape.len(), 5);
        let mut expected = 0.0;
        for i in 0..COUNT {
            let row = table.rows.dense_row(i);
            let score = |k: usize| {
                row.iter().enumerate().map(|(j, a)| a * at[j * outputs + k]).sum::<f64>()
                    + OPENING.intercept * at[row.len() * outputs + k]
            };
            let scores: Vec<f64> = (0..outputs).map(score).collect();
            expected += reticent_problem::prediction_error(loss.target(), &scores, table.targets[i]);
        }
        let answer = gate(name, &OPENING).score(&at, 0.0).unwrap().into_inner();
        assert!((answer - expected / COUNT as f64).abs() < 1e-8, "{name}: {answer}");
    }
    assert!(matches!(gate("logistic", &OPENING).score(&[f64::NAN; 4], 1.0), Err(Refusal::BadQuery(_))));
}

/// The empirical standard deviation of a query's noise, 4000 draws at a fixed seed: within 6 standard errors
/// (false alarm below 1e-8).
#[test]
fn the_noise_has_the_size_that_the_books_say() {
    let spread = |draw: &mut dyn FnMut() -> f64, centre: f64| {
        ((0..4000).map(|_| (draw() - centre).powi(2)).sum::<f64>() / 4000.0).sqrt()
    };
    let near = |measured: f64, sigma: f64| assert!((measured / sigma - 1.0).abs() < 6.0 / 8000f64.sqrt());

    // Replace-one: a count has sensitivity 1 = 2·(σ/z), so σ = z/2.
    let mut replace = gate("logistic", &OPENING);
    let how = CountTerms { of: Statistic::Target, at_most: 0.0, noise_multiplier: 4.0 };
    let exact = example(false).targets.iter().filter(|b| **b <= 0.0).count() as f64;
    near(spread(&mut || replace.count(&how).unwrap().into_inner(), exact), 2.0);

    let mut remove =
        gate("logistic", &Opening { adjacency: Adjacency::AddRemove, public_n: Some(10), ..OPENING });
    near(spread(&mut || remove.count(&how).unwrap().into_inner(), exact), 4.0);

    // A score is a mean of numbers in [0, 1]: the noise of a count over n.
    let at = point(4, 3);
    let centre = replace.score(&at, 0.0).unwrap().into_inner();
    near(spread(&mut || replace.score(&at, 4.0).unwrap().into_inner(), centre), 2.0 / COUNT as f64);
    let centre = remove.score(&at, 0.0).unwrap().into_inner();
    near(spread(&mut || remove.score(&at, 4.0).unwrap().into_inner(), centre), 4.0 / 10.0);

    // One diagonal entry of the second moment: σ = z·R²/√2 on the sum.
    let exact = SecondMomentTerms { row_norm: 2.0, noise_multiplier: 0.0 };
    let centre = replace.second_moment(&exact).unwrap().get()[0];
    let how = SecondMomentTerms { noise_multiplier: 4.0, ..exact };
    let sigma = 4.0 * 4.0 / 2f64.sqrt() / COUNT as f64;
    assert!((how.deviation(replace.terms()) / sigma - 1.0).abs() < 1e-12);
    near(spread(&mut || replace.second_moment(&how).unwrap().get()[0], centre), sigma);

    // Consensus: σ = z·B/n with B = γC·λ/(1 − λ). One step at the fixed point of an empty gradient: steps from the
    // same state, so the blocks are put back before each.
    let how = ConsensusTerms {
        clip: 1.5,
        step: 2.0,
        relaxation: 0.75,
        noise_multiplier: 0.0,
        sampling: Sampling::Full,
        block_noise: 0.0,
    };
    let mut step = |how: &ConsensusTerms| {
        replace.open_consensus(&[0.0; 4]).unwrap();
        replace.consensus(&[0.0; 4], Moving::All, how).unwrap().get()[0]
    };
    let centre = step(&how);
    let how = ConsensusTerms { noise_multiplier: 2.0, ..how };
    near(spread(&mut || step(&how), centre), 2.0 * 2.0 * 1.5 * 3.0 / COUNT as f64);
}

#[test]
fn quantiles_without_noise_are_quantiles() {
    let table = example(false);
    let mut values: Vec<f64> = (0..COUNT).map(|i| table.rows.dense_row(i)[1]).collect();
    values.sort_by(f64::total_cmp);
    let candidates: Vec<f64> = (0..=24).map(|k| k as f64 / 12.0 - 1.0).collect();
    for fraction in [0.1, 0.5, 0.75, 1.0] {
        let how = QuantileTerms {
            of: Statistic::Feature(1),
            fraction,
            candidates: &candidates,
            noise_multiplier: 0.0,
        };
        let found = gate("logistic", &OPENING).quantile(&how).unwrap().into_inner();
        // Counts are 2·10⁻¹² short of whole numbers, so the fraction is met up to that.
        let needed = (fraction * COUNT as f64 - 1e-6).ceil().max(1.0) as usize;
        let expected = candidates.iter().find(|c| **c >= values[needed - 1]).unwrap();
        assert!((found - expected).abs() < 0.1, "{fraction}: {found} {expected}");
    }
}

#[test]
fn one_candidate_needs_no_data() {
    let how =
        QuantileTerms { of: Statistic::RowNorm, fraction: 0.5, candidates: &[2.0], noise_multiplier: 1.0 };
    assert_eq!(gate("logistic", &OPENING).quantile(&how).unwrap().into_inner(), 2.0);
    for candidates in [&[][..], &[1.0, 1.0], &[f64::NAN], &[2.0, 1.0]] {
        let how = QuantileTerms { candidates, ..how };
        assert!(matches!(gate("logistic", &OPENING).quantile(&how), Err(Refusal::BadQuery(_))));
    }
    let how = CountTerms { of: Statistic::Feature(3), at_most: 0.0, noise_multiplier: 1.0 };
    assert!(matches!(gate("logistic", &OPENING).count(&how), Err(Refusal::BadQuery(_))));
}

fn perturbed<'a>(public: Quadratic<'a>, start: &'a [f64], law: Law, z: f64) -> ObjectiveTerms<'a> {
    ObjectiveTerms { row_norm: 1.5, smoothness: 0.25, public, start, law, noise_multiplier: z }
}

/// Without noise a perturbed objective is the objective, whoever the neighbours are and however its pulls are written.
#[test]
fn an_objective_without_noise_has_its_minimiser() {
    let start = point(COLUMNS + 1, 3);
    let (centre, mut linear, mut ridge) = (point(COLUMNS + 1, 5), point(COLUMNS + 1, 1), 0.1);
    Quadratic::pull(0.2, &centre, &mut ridge, &mut linear);
    assert!((ridge - 0.5).abs() < 1e-15);
    let public = Quadratic { ridge, linear: &linear, penalty: None };
    let how = MinimiserTerms { row_norm: 1.5, public, start: &start, image: false, noise_multiplier: 0.0 };
    let expected = gate("logistic", &OPENING).minimiser(&how).unwrap().into_inner();
    let count = Some(COUNT as u64);
    for opening in [OPENING, Opening { adjacency: Adjacency::AddRemove, public_n: count, ..OPENING }] {
        for law in [Law::Normal, Law::SphericalLaplace] {
            let mut gate = gate("logistic", &opening);
            let x = gate.objective(&perturbed(public, &start, law, 0.0)).unwrap().into_inner();
            // Both are within the radius of the minimiser query, a hundredth of 1.5/(12·0.5).
            close(&x, &expected, 3e-3);
            assert_eq!(gate.ledger().entries()[0].event().mechanism().kind(), "non-private");
        }
    }
}

/// Rows of zeros leave J(x) = (m/2)‖x‖² + bᵀx + const, so −m·n·x/C has the law of `b` in units of its scale, but for the
/// noise that covers the solver, below a thousandth of it. False-alarm rate 1e-6 each.
#[test]
fn the_linear_term_has_the_law_that_is_counted() {
    let (count, columns, z, ridge) = (4_usize, 3_usize, 1.5, 2.0);
    let zeros = vec![0.0; columns];
    let public = Quadratic { ridge, linear: &zeros, penalty: None };
    let opening = Opening { intercept: 0.0, ..OPENING };
    for (law, size) in [(Law::Normal, 1500), (Law::SphericalLaplace, 1500)] {
        let table = Table {
            rows: Rows::Dense({
                let mut rows = Dense::empty(columns);
                (0..count).for_each(|_| rows.push_sparse(&[], &[]));
                rows
            }),
            targets: vec![1.0; count],
            users: None,
            names: vec!["x".to_owned(); columns],
        };
        let mut gate = Gate::open(table.into(), loss("logistic"), &opening, Entropy::seeded(8)).unwrap();
        let how = perturbed(public, &zeros, law, z);
        let mut norms: Vec<f64> = (0..size)
            .map(|_| {
                let x = gate.objective(&how).unwrap().into_inner();
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
        gate.ledger().entries().iter().map(|entry| entry.event().mechanism().kind().to_owned()).collect()
    };
    let mut asked = gate("logistic", &OPENING);
    asked.objective(&perturbed(public, &zeros, Law::Normal, 3.0)).unwrap();
    assert_eq!(kinds(&asked), ["objective-perturbation", "gaussian"]);
    // n = 12, R = 1.5, Λ = ½: c = 0.25·2.25/6; 2/z, and a 32nd for the solver's distance.
    let mut asked = gate("logistic", &OPENING);
    asked.objective(&perturbed(public, &zeros, Law::SphericalLaplace, 4.0)).unwrap();
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
        let mut asked = gate("multinomial:3", &Opening { unit, ..OPENING });
        let how = ObjectiveTerms { smoothness: 0.5, ..perturbed(public, &zeros, Law::SphericalLaplace, 4.0) };
        asked.objective(&how).unwrap();
        let Mechanism::PureDp(pure) = asked.ledger().entries()[0].event().mechanism() else { panic!("pure") };
        assert!((pure.epsilon() - expected - (2.0 + 1.0 / 32.0) / 4.0).abs() < 1e-9, "{}", pure.epsilon());
    }
}

#[test]
fn what_is_not_proven_is_refused_before_the_ledger() {
    let zeros = vec![0.0; COLUMNS + 1];
    let ridge = |ridge| Quadratic { ridge, linear: &zeros, penalty: None };
    let good = perturbed(ridge(0.5), &zeros, Law::Normal, 3.0);
    let by_user = Opening { unit: Unit::User, ..OPENING };
    let few = Opening { adjacency: Adjacency::AddRemove, public_n: Some(5), ..OPENING };
    for (name, opening, how) in [
        ("huber:1", OPENING, ObjectiveTerms { smoothness: 1.0, ..good }),
        ("hinge", OPENING, good),
        ("logistic", by_user, good),
        ("logistic", few, good),
        ("logistic", OPENING, ObjectiveTerms { smoothness: 0.2, ..good }),
        ("logistic", OPENING, ObjectiveTerms { public: ridge(0.0), ..good }),
        ("logistic", OPENING, ObjectiveTerms { noise_multiplier: -1.0, ..good }),
    ] {
        let mut gate = gate(name, &opening);
        assert!(matches!(gate.objective(&how), Err(Refusal::BadQuery(_))), "{name}");
        assert!(gate.ledger().entries().is_empty());
    }
    let zeros = vec![0.0; 3 * (COLUMNS + 1)];
    let public = Quadratic { ridge: 0.5, linear: &zeros, penalty: None };
    let how = ObjectiveTerms { smoothness: 0.5, ..perturbed(public, &zeros, Law::Normal, 3.0) };
    assert!(gate("multinomial:3", &OPENING).objective(&how).is_err());
    assert!(gate("logistic", &OPENING).objective(&good).is_ok());
}

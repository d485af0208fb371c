//! The blocks of a consensus.

use std::collections::BTreeSet;

use super::{COUNT, OPENING, close, example, gate, loss, noiseless, point};
use reticent_accountant::{Adjacency, Unit};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{Consensus, ConsensusTerms, Gradient, Moving};
use reticent_oracle::{Entropy, Gate, Oracle, PrivacyModel, Refusal, Rehearsal, Sampling};
use reticent_problem::losses::Loss;

/// The blocks written out in full, as FP23 has them, with the prox of the whole parameter.
struct Textbook {
    table: Table,
    loss: Box<dyn Loss>,
    blocks: Vec<Vec<f64>>,
}

impl Textbook {
    fn step(&mut self, z: &[f64], params: &ConsensusTerms) -> Vec<f64> {
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
            self.loss.prox(&w, self.table.targets[i], params.step * square, &mut moved);
            let mut g = vec![0.0; z.len()];
            for (j, a) in a.iter().enumerate() {
                for k in 0..outputs {
                    g[j * outputs + k] = a * (w[k] - moved[k]) / (params.step * square);
                }
            }
            let size = g.iter().map(|v| v * v).sum::<f64>().sqrt();
            let cut = (params.clip / size).min(1.0);
            for j in 0..u.len() {
                // x = v − γg after clipping, and u⁺ = u + 2λ(x − z).
                u[j] += 2.0 * params.relaxation * (v[j] - params.step * cut * g[j] - z[j]);
                mean[j] += u[j] / COUNT as f64;
            }
        }
        mean
    }
}

#[test]
fn consensus_is_the_textbook_recursion() {
    for (name, clip) in
        [("logistic", 10.0), ("logistic", 0.3), ("hinge", 10.0), ("multinomial:3", 10.0)]
    {
        for relaxation in [0.2, 0.5, 0.8] {
            let params = ConsensusTerms {
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
            let mut textbook =
                Textbook { table, loss: loss(name), blocks: vec![start.clone(); COUNT] };
            let mut z = start;
            for _ in 0..20 {
                let expected = textbook.step(&z, &params);
                let released = gate
                    .ask(&Consensus { z: &z, moving: Moving::All, params })
                    .unwrap()
                    .into_inner();
                close(&released, &expected, 1e-6);
                z = released.iter().map(|v| v / 1.1).collect();
            }
        }
    }
}

#[test]
fn consensus_finds_the_minimiser_for_records_and_for_users() {
    for unit in [Unit::Record, Unit::User] {
        let opening = PrivacyModel { unit, ..OPENING };
        let mut gate = gate("logistic", &opening);
        let params = ConsensusTerms {
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
                .ask(&Consensus { z: &z, moving: Moving::All, params })
                .unwrap()
                .into_inner()
                .iter()
                .map(|u| u / (1.0 + 0.1 * params.step))
                .collect();
        }
        let gradient = gate.ask(&Gradient { at: &z, mean: noiseless(10.0) }).unwrap().into_inner();
        let total: Vec<f64> = gradient.iter().zip(&z).map(|(g, z)| g + 0.1 * z).collect();
        close(&total, &[0.0; 4], 1e-6);
    }
}

#[test]
fn consensus_needs_its_blocks_and_leaves_no_entry_without_them() {
    let params = ConsensusTerms {
        clip: 1.0,
        step: 1.0,
        relaxation: 0.5,
        noise_multiplier: 1.0,
        sampling: Sampling::Full,
        block_noise: 0.0,
    };
    let mut gate = gate("logistic", &OPENING);
    assert!(matches!(
        gate.ask(&Consensus { z: &[0.0; 4], moving: Moving::All, params }),
        Err(Refusal::NoConsensus)
    ));
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    assert!(matches!(
        rehearsal.ask(&Consensus { z: &[0.0; 4], moving: Moving::All, params }),
        Err(Refusal::NoConsensus)
    ));
    gate.open_consensus(&[0.0; 4]).unwrap();
    for bad in [
        ConsensusTerms { relaxation: 1.0, ..params },
        ConsensusTerms { step: 0.0, ..params },
        ConsensusTerms { clip: f64::NAN, ..params },
    ] {
        assert!(matches!(
            gate.ask(&Consensus { z: &[0.0; 4], moving: Moving::All, params: bad }),
            Err(Refusal::BadQuery(_) | Refusal::Diverged(_))
        ));
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
        let opening = PrivacyModel { unit, ..OPENING };
        let (mut all, mut named) = (gate("logistic", &opening), gate("logistic", &opening));
        let units: Vec<u32> = (0..named.terms().population() as u32).collect();
        let mut z = vec![0.1; 4];
        all.open_consensus(&z).unwrap();
        named.open_consensus(&z).unwrap();
        for _ in 0..5 {
            let expected = all
                .ask(&Consensus { z: &z, moving: Moving::All, params: STEP })
                .unwrap()
                .into_inner();
            let found = named
                .ask(&Consensus { z: &z, moving: Moving::Only(&units), params: STEP })
                .unwrap()
                .into_inner();
            close(&found, &expected, 1e-12);
            z = expected;
        }
        // A block that rests stays where it is.
        let before = named
            .ask(&Consensus { z: &z, moving: Moving::Only(&[]), params: STEP })
            .unwrap()
            .into_inner();
        let one = named
            .ask(&Consensus { z: &z, moving: Moving::Only(&[0]), params: STEP })
            .unwrap()
            .into_inner();
        assert_ne!(before, one);
        close(
            &named
                .ask(&Consensus { z: &z, moving: Moving::Only(&[]), params: STEP })
                .unwrap()
                .into_inner(),
            &one,
            1e-12,
        );
    }
}

/// Persons are numbered as they appear in the file, so one who is replaced by somebody whose rows
/// stand elsewhere moves the numbers of all who stand between. Were these the numbers of a public
/// schedule, many blocks would differ between neighbours and not one. The outcomes must be those of
/// a set of persons, in whatever order their rows are.
#[test]
fn which_person_a_schedule_moves_does_not_follow_from_the_order_of_rows() {
    let persons = [[0.9, 0.1, -0.3], [-0.5, 0.7, 0.2], [0.1, -0.8, 0.6]];
    let outcomes = |order: [usize; 3]| -> BTreeSet<Vec<u64>> {
        let outcome = |seed| {
            let mut rows = Dense::empty(3);
            order.iter().for_each(|&person| rows.push_sparse(&[0, 1, 2], &persons[person]));
            let (rows, names) = (Rows::Dense(rows), vec!["x".to_owned(); 3]);
            let table = Table {
                rows,
                targets: vec![1.0; 3],
                users: Some(vec![0, 1, 2]),
                weights: None,
                names,
            };
            let opening = PrivacyModel { unit: Unit::User, ..OPENING };
            let mut gate =
                Gate::open(table.into(), loss("logistic"), &opening, Entropy::seeded(seed))
                    .unwrap();
            gate.open_consensus(&[0.0; 4]).unwrap();
            let z = [0.2; 4];
            let first = gate
                .ask(&Consensus { z: &z, moving: Moving::Only(&[0]), params: STEP })
                .unwrap()
                .into_inner();
            let second = gate
                .ask(&Consensus { z: &first, moving: Moving::Only(&[1]), params: STEP })
                .unwrap()
                .into_inner();
            first.iter().chain(&second).map(|v| v.to_bits()).collect()
        };
        (0..80).map(outcome).collect()
    };
    let found = outcomes([0, 1, 2]);
    // Each of the 3·2 ways to take two of three; 80 draws miss one of them with probability
    // 6·(5/6)⁸⁰ < 3e-6.
    assert_eq!(found.len(), 6);
    assert_eq!(outcomes([2, 0, 1]), found);
}

#[test]
fn a_schedule_is_refused_where_it_is_not_public() {
    let refused = |opening: &PrivacyModel, moving: Moving<'_>, params: &ConsensusTerms| {
        let mut gate = gate("logistic", opening);
        gate.open_consensus(&[0.0; 4]).unwrap();
        let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
        rehearsal.open_consensus(&[0.0; 4]).unwrap();
        for oracle in [&mut gate as &mut dyn Oracle, &mut rehearsal] {
            assert!(matches!(
                oracle.ask(&Consensus { z: &[0.0; 4], moving, params: *params }),
                Err(Refusal::BadQuery(_))
            ));
        }
        assert!(gate.ledger().entries().is_empty() && gate.ledger().taints().len() == 1);
    };
    let add_remove =
        PrivacyModel { adjacency: Adjacency::AddRemove, public_n: Some(50), ..OPENING };
    refused(&add_remove, Moving::Only(&[0]), &STEP);
    refused(&OPENING, Moving::Only(&[COUNT as u32]), &STEP);
    refused(
        &OPENING,
        Moving::Only(&[0]),
        &ConsensusTerms { sampling: Sampling::Poisson(0.5), ..STEP },
    );
    // Noise on the blocks is for a claim.
    refused(&OPENING, Moving::All, &ConsensusTerms { block_noise: 1.0, ..STEP });
}

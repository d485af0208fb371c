//! A table in a cache file: the same answers as in memory, to the bit, however its rows are cut into
//! blocks; asked for sums alone.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::sync::Arc;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_oracle::queries::{
    ClippedMean, Curvature, Errors, Gradient, Quantile, Residual, ResidualTerms,
};
use reticent_oracle::{
    CachedTable, Entropy, Gate, Oracle, PrivacyModel, RecordStatistic, Refusal, Sampling,
    TableError,
};
use reticent_problem::losses::{self, Loss};
use tempfile::TempDir;

use super::holders::answers;

const ROWS: usize = 60;
const COLUMNS: usize = 3;

/// Rows of which some are far outside of every clip, of five persons with rows here and there.
fn table(sparse: bool) -> Table {
    let value = |at: usize| match at % 31 {
        3 => 1e6,
        4 => -1e300,
        _ => ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0,
    };
    let (mut dense, mut thin) = (Dense::empty(COLUMNS), Csr::empty(COLUMNS));
    for i in 0..ROWS {
        let columns: Vec<u32> =
            (0..COLUMNS as u32).filter(|j| !(i as u32 + j).is_multiple_of(4)).collect();
        let values: Vec<f64> = columns.iter().map(|&j| value(COLUMNS * i + j as usize)).collect();
        dense.push_sparse(&columns, &values);
        thin.push(&columns, &values);
    }
    Table {
        rows: if sparse { Rows::Sparse(thin) } else { Rows::Dense(dense) },
        targets: (0..ROWS).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
        users: Some((0..ROWS).map(|i| [3, 0, 4, 1, 2, 0, 0, 1][i % 8]).collect()),
        weights: None,
        names: vec![String::new(); COLUMNS],
    }
}

fn opening(unit: Unit, adjacency: Adjacency) -> PrivacyModel {
    PrivacyModel { adjacency, unit, view: View::Central, public_n: Some(30), intercept: 0.5 }
}

fn loss(name: &str) -> Arc<dyn Loss> {
    losses::parse(name, Some(2)).unwrap().into()
}

fn in_memory(table: &Table, loss: &str, opening: &PrivacyModel) -> Gate {
    Gate::open(table.clone().into(), self::loss(loss), opening, Entropy::seeded(4)).unwrap()
}

fn cached(table: &Table, block: usize, loss: &str, opening: &PrivacyModel) -> (TempDir, Gate) {
    let folder = tempfile::tempdir().unwrap();
    let table = CachedTable::of_table(table, block, folder.path()).unwrap();
    let gate = Gate::open_cached(table, self::loss(loss), opening, Entropy::seeded(4)).unwrap();
    (folder, gate)
}

/// Blocks of a row or a person each, of some, and one of all.
const BLOCKS: [usize; 4] = [1, 150, 700, 1 << 30];

#[test]
fn a_table_in_a_file_answers_with_the_bits_of_the_table_in_memory() {
    for (sparse, unit) in [false, true]
        .into_iter()
        .flat_map(|sparse| [Unit::Record, Unit::User].into_iter().map(move |unit| (sparse, unit)))
    {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            let (table, opening) = (table(sparse), opening(unit, adjacency));
            // `answers` draws 7 units without replacement.
            if (unit, adjacency) == (Unit::User, Adjacency::ReplaceOne) {
                continue;
            }
            let mut memory = in_memory(&table, "logistic", &opening);
            let expected = answers(&mut memory);
            for block in BLOCKS {
                let (_folder, mut gate) = cached(&table, block, "logistic", &opening);
                let said = answers(&mut gate);
                assert_eq!(said, expected, "sparse {sparse}, {unit}, {adjacency}, {block}");
                assert_eq!(gate.ledger(), memory.ledger());
                assert_eq!(gate.terms(), memory.terms());
            }
        }
    }
}

/// Several threads take blocks as they come, and one takes all.
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (table, opening) = (table(true), opening(Unit::User, Adjacency::AddRemove));
    let said = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (_folder, mut gate) = cached(&table, 150, "logistic", &opening);
            answers(&mut gate)
        })
    };
    let alone = said(1);
    assert!([2, 3, 8].into_iter().all(|threads| said(threads) == alone));
}

fn gradients(gate: &mut Gate) -> Vec<f64> {
    let at = [0.3, -0.2, 0.5, 0.1];
    let mut said = Vec::new();
    for sampling in [Sampling::Full, Sampling::Poisson(0.4), Sampling::WithoutReplacement(3)] {
        let mean = ClippedMean { clip: 0.4, noise_multiplier: 1.5, sampling };
        match gate.ask(&Gradient { at: &at, mean }) {
            Ok(answer) => said.extend(answer.into_inner()),
            // A sample of a fixed size is for replace-one.
            Err(_) => assert_eq!(sampling, Sampling::WithoutReplacement(3)),
        }
    }
    said
}

/// Samples also where the number of units is private: nothing travels whose length would tell it.
#[test]
fn samples_of_records_and_persons_are_those_of_the_table_in_memory() {
    for unit in [Unit::Record, Unit::User] {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            let (table, opening) = (table(false), opening(unit, adjacency));
            let expected = gradients(&mut in_memory(&table, "logistic", &opening));
            assert!(expected.len() >= 2 * (COLUMNS + 1));
            for block in BLOCKS {
                let (_folder, mut gate) = cached(&table, block, "logistic", &opening);
                assert_eq!(gradients(&mut gate), expected, "{unit}, {adjacency}, {block}");
            }
        }
    }
}

#[test]
fn weights_of_records_and_errors_of_numbers_are_those_of_the_table_in_memory() {
    let opening = opening(Unit::Record, Adjacency::ReplaceOne);
    let weights = Some((0..ROWS).map(|i| (i % 7) as f64 / 6.0).collect());
    let weighted = Table { weights, ..table(true) };
    let bent = Curvature { at: &[0.1; 4], row_norm: 1.0, most: 0.25, noise_multiplier: 0.7 };
    let mut memory = in_memory(&weighted, "logistic", &opening);
    let expected = (gradients(&mut memory), memory.ask(&bent).unwrap().into_inner());
    let numbers = Table { targets: (0..ROWS).map(|i| i as f64 / 60.0).collect(), ..table(false) };
    let off = Errors { at: &[0.1; 4], noise_multiplier: 0.7 };
    let errors = in_memory(&numbers, "squared", &opening).ask(&off).unwrap().into_inner();
    for block in BLOCKS {
        let (_folder, mut gate) = cached(&weighted, block, "logistic", &opening);
        let said = (gradients(&mut gate), gate.ask(&bent).unwrap().into_inner());
        assert_eq!(said, expected, "{block}");
        // What is proven for records that count alike is refused, as in memory.
        let (of, candidates) = (RecordStatistic::Feature(0), &[0.0][..]);
        let median = Quantile { of, fraction: 0.5, candidates, noise_multiplier: 1.0 };
        let refused = [gate.ask(&median), memory.ask(&median)].map(|asked| asked.is_err());
        assert_eq!(refused[0], refused[1]);
        let (_folder, mut gate) = cached(&numbers, block, "squared", &opening);
        assert_eq!(gate.ask(&off).unwrap().into_inner(), errors);
    }
}

/// In coordinates of its own, and back: the second file is gone with them.
#[test]
fn images_in_a_file_are_those_in_memory() {
    let map: Vec<f64> = (0..16).map(|at| ((at * 29 + 7) % 17) as f64 / 8.0 - 1.0).collect();
    for unit in [Unit::Record, Unit::User] {
        let (table, opening) = (table(true), opening(unit, Adjacency::ReplaceOne));
        let steps = |gate: &mut Gate| {
            let mut said = gradients(gate);
            gate.set_basis(Some(&map)).unwrap();
            said.extend(gradients(gate));
            let twice: Vec<f64> = map.iter().map(|v| 2.0 * v).collect();
            gate.set_basis(Some(&twice)).unwrap();
            said.extend(gradients(gate));
            gate.set_basis(None).unwrap();
            said.extend(gradients(gate));
            said
        };
        let expected = steps(&mut in_memory(&table, "logistic", &opening));
        for block in BLOCKS {
            let (_folder, mut gate) = cached(&table, block, "logistic", &opening);
            assert_eq!(steps(&mut gate), expected, "{unit}, {block}");
        }
    }
}

#[test]
fn what_is_no_sum_is_refused_before_its_entry() {
    let opening = opening(Unit::Record, Adjacency::ReplaceOne);
    let (_folder, mut gate) = cached(&table(false), 1, "logistic", &opening);
    assert!(matches!(gate.open_consensus(&[0.0; 4]), Err(Refusal::NoSum)));
    let params = ResidualTerms {
        clip: 1.0,
        record_clip: 1.0,
        row_norm: 1.0,
        step: 1.0,
        inner: 1,
        noise_multiplier: 1.0,
        walk: None,
    };
    let asked = gate.ask(&Residual { v: &[0.0; 4], z: &[0.0; 4], params });
    assert!(matches!(asked, Err(Refusal::NoSum)));
    assert_eq!(gate.ledger().total_events(), 0);
}

/// What no reader writes is refused as it is in memory, before anything is asked.
#[test]
fn a_table_that_cannot_be_summed_over_is_refused_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |table: &Table, unit, loss: &str| {
        let opening = opening(unit, Adjacency::ReplaceOne);
        let table = CachedTable::of_table(table, 1, folder.path()).unwrap();
        let opened = Gate::open_cached(table, self::loss(loss), &opening, Entropy::seeded(4));
        match opened {
            Err(Refusal::Table(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    let Rows::Dense(mut rows) = table(false).rows else { panic!("dense") };
    rows.values[100] = f64::NAN;
    let broken = Table { rows: Rows::Dense(rows), ..table(false) };
    assert_eq!(refused(&broken, Unit::Record, "logistic"), TableError::Malformed);
    let wrong = Table { targets: vec![0.5; ROWS], ..table(false) };
    assert_eq!(refused(&wrong, Unit::Record, "logistic"), TableError::WrongTarget);
    let mut weights = vec![1.0; ROWS];
    weights[50] = 1.5;
    let heavy = Table { weights: Some(weights), ..table(false) };
    assert_eq!(refused(&heavy, Unit::Record, "logistic"), TableError::WrongWeight);
    let nobody = Table { users: None, ..table(false) };
    assert_eq!(refused(&nobody, Unit::User, "logistic"), TableError::NoUsers);
}

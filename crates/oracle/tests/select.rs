//! The best of a random number of runs: one entry for all of them, the least score wins, and a run
//! that leaves its plan is refused.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent_accountant::{Adjacency, Ledger, Mechanism, Repetitions, Taint, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient, Score};
use reticent_oracle::{
    Entropy, Gate, Oracle, PrivacyModel, PrivateSelection, Refusal, Rehearsal, Released, Sampling,
};
use reticent_problem::losses;

const OPENING: PrivacyModel = PrivacyModel {
    adjacency: Adjacency::ReplaceOne,
    unit: Unit::Record,
    view: View::Central,
    public_n: None,
    intercept: 0.0,
};

const LAW: Repetitions = Repetitions::PositivePoisson { rate: 4.0 };

fn gate(seed: u64) -> Gate {
    let mut rows = Dense::empty(1);
    (0..50).for_each(|i| rows.push_sparse(&[0], &[if i % 2 == 0 { 1.0 } else { -1.0 }]));
    let targets = (0..50).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let table = Table {
        rows: Rows::Dense(rows),
        targets,
        users: None,
        weights: None,
        names: vec!["a".into()],
    };
    let loss = losses::parse("logistic", None).unwrap();
    Gate::open(table.into(), loss, &OPENING, Entropy::seeded(seed)).unwrap()
}

/// Candidate k asks for k + 1 gradients and gives the model (k).
fn run(oracle: &mut dyn Oracle, k: usize) -> Result<Option<(f64, Released<f64>)>, Refusal> {
    let params = ClippedMean { clip: 1.0, noise_multiplier: 3.0, sampling: Sampling::Full };
    for _ in 0..=k {
        oracle.ask(&Gradient { at: &[0.0], mean: params })?;
    }
    let model = k as f64;
    Ok(Some((model, oracle.ask(&Score { at: &[model], noise_multiplier: 1e-3 })?)))
}

fn plan(k: usize) -> Ledger {
    let gate = gate(0);
    let mut rehearsal = Rehearsal::new(gate.shape(), *gate.terms());
    run(&mut rehearsal, k).unwrap();
    rehearsal.into_plan()
}

#[test]
fn one_entry_for_all_and_the_least_score_wins() {
    let selection = PrivateSelection { plans: (0..3).map(plan).collect(), law: LAW };
    let mut winners = Vec::new();
    for seed in 0..40 {
        let gate = gate(seed);
        let planned = selection.ledger(gate.terms()).unwrap();
        let mut tried = Vec::new();
        let (winner, ledger) = gate
            .select(&selection, |oracle, k| {
                tried.push(k);
                run(oracle, k)
            })
            .unwrap();
        let winner = winner.unwrap();
        // The larger the model, the surer it is of what is right: the best that was tried has won.
        assert_eq!(Some(&winner.candidate), tried.iter().max());
        assert_eq!(winner.result, winner.candidate as f64);
        assert_eq!(ledger.entries(), planned.entries());
        assert_eq!(ledger.total_events(), 1);
        assert_eq!(ledger.taints(), [Taint::SeededNoise]);
        winners.push(tried.len());
    }
    // Mean 4/(1 − e⁻⁴) = 4.07, standard error 0.31: within 5 of them.
    let mean = winners.iter().sum::<usize>() as f64 / winners.len() as f64;
    assert!((mean - LAW.mean()).abs() < 1.6, "{mean}");
    assert!(winners.iter().all(|&runs| runs > 0));
}

#[test]
fn equal_plans_need_no_choice_in_the_books() {
    let gate = gate(1);
    let mechanism = |plans: Vec<Ledger>| {
        let ledger = PrivateSelection { plans, law: LAW }.ledger(gate.terms()).unwrap();
        ledger.entries()[0].event().mechanism().clone()
    };
    let Mechanism::Selection(equal) = mechanism(vec![plan(1), plan(1)]) else {
        panic!("a selection")
    };
    assert_eq!(equal.run().iter().map(|(_, count)| count).sum::<u64>(), 3);
    let Mechanism::Selection(different) = mechanism(vec![plan(0), plan(1)]) else {
        panic!("a selection")
    };
    assert!(matches!(different.run(), [(Mechanism::Choice(_), 1)]));
}

#[test]
fn a_run_that_leaves_its_plan_is_refused() {
    let selection = PrivateSelection { plans: vec![plan(0)], law: LAW };
    // More than planned, and less.
    let more = gate(1).select(&selection, |oracle, _| run(oracle, 1));
    assert!(matches!(more, Err(Refusal::Unplanned { .. })));
    let less = gate(1).select(&selection, |oracle, _| {
        let params = ClippedMean { clip: 1.0, noise_multiplier: 3.0, sampling: Sampling::Full };
        let score = oracle.ask(&Gradient { at: &[0.0], mean: params })?;
        let mut rehearsal = Rehearsal::new(oracle.shape(), *oracle.terms());
        Ok::<_, Refusal>(Some((
            score.into_inner(),
            rehearsal.ask(&Score { at: &[0.0], noise_multiplier: 1.0 })?,
        )))
    });
    assert!(matches!(less, Err(Refusal::Unplanned { .. })));
    let unknown = PrivateSelection { law: Repetitions::Poisson { mean: 2.0 }, ..selection };
    assert!(matches!(gate(1).select(&unknown, run), Err(Refusal::BadQuery(_))));
}

#[test]
fn a_run_that_ran_away_loses_and_all_of_them_give_nothing() {
    let selection = PrivateSelection { plans: (0..2).map(plan).collect(), law: LAW };
    let away = |oracle: &mut dyn Oracle, k: usize| if k == 1 { Ok(None) } else { run(oracle, k) };
    for seed in 0..10 {
        let (winner, _) = gate(seed).select(&selection, away).unwrap();
        assert!(winner.is_none_or(|winner| winner.candidate == 0));
    }
    let (none, ledger) =
        gate(1).select(&selection, |_, _| Ok::<Option<((), _)>, Refusal>(None)).unwrap();
    assert!(none.is_none() && ledger.total_events() == 1);
}

//! Runs between parties that end on their way, and what is taken as given in one.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;
use std::path::Path;

use reticent::simulate::{CheckpointOptions, Parties, Simulation, SimulationJob, SimulationSpec};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{Budget, Error, Fit, Guarantee, Problem, Run, Settings, Spec, Stage, Unit, View};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples"))
}

fn job() -> SimulationJob {
    let job = Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(8.0);
            it.delta = Some(1e-5);
        });
        it.schema = Some(folder().join("patients.toml"));
        it.algorithm = Some("federated".to_owned());
        it.settings = Settings { iterations: Some(3), ..Settings::default() };
    });
    let parties = Parties::default().with(|it| {
        it.split = Some(4);
        it.trust = Some(View::Local);
    });
    SimulationSpec::new(job, parties).check().unwrap()
}

/// Parties have released by then, whatever the disk says.
#[test]
fn a_checkpoint_that_cannot_be_saved_after_a_round_has_spent_the_budget() {
    let nowhere = tempfile::tempdir().unwrap().path().join("gone/run");
    let keep = CheckpointOptions::new(Some(&nowhere), false);
    let error = job().run(&*folder().join("patients.csv"), keep, Run::default()).unwrap_err();
    assert!(
        matches!(&error, Error::Spent { why, .. } if matches!(**why, Error::Run(_))),
        "{error}"
    );
    assert!(error.hint().contains("count epsilon = 8"), "{}", error.hint());
}

/// Who stops a run pays from the first round on, and nothing before it.
#[test]
fn a_run_between_parties_that_is_stopped_has_spent_the_budget_after_a_round_alone() {
    for (at_round, spent) in [(false, false), (true, true)] {
        let mut stop = |stage| match matches!(stage, Stage::Iteration(_)) == at_round {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let error = job().run(
            &*folder().join("patients.csv"),
            CheckpointOptions::default(),
            Run::watched(&mut stop),
        );
        let error = error.unwrap_err();
        assert!(error.is_stop(), "{error}");
        assert_eq!(matches!(error, Error::Spent { .. }), spent);
    }
}

/// Hospitals hold records in no order, and what the caller takes as given stands in every
/// certificate: of each party, of the run, and of a fit of the same problem.
#[test]
fn every_owner_is_a_party_in_the_order_of_the_ids_and_assumptions_are_told() {
    let x: Vec<f64> = (0..300).map(|i| f64::from(i % 10)).collect();
    let y: Vec<u32> = x.iter().map(|x| u32::from(*x > 5.0)).collect();
    let owners: Vec<u64> = (0..300).map(|i| if i < 50 { 7 } else { i % 2 }).collect();
    let table = Dataset::dense(&x, 300, 1).unwrap().with_targets(&y).unwrap();
    let owned = table.clone().with_owners(Owners::from(&owners[..])).unwrap();
    let schema = Schema::bounded(&[(0.0, 9.0)], Target::classes(["no", "yes"]).unwrap()).unwrap();
    let given = "the classes are public";
    let problem = Problem::new(schema).assuming(given);
    let budget = Budget::new(4.0, 1e-5).unwrap();

    let run = Simulation::of(problem.clone())
        .algorithm("federated")
        .unwrap()
        .party_per_owner()
        .unit(Unit::Record)
        .settings(Settings { iterations: Some(2), ..Settings::default() })
        .budget(budget);
    let run =
        run.check().unwrap().run(&owned, CheckpointOptions::default(), Run::default()).unwrap();
    let populations = (0..3).map(|party| run.parties.party(party).unwrap().population);
    assert_eq!(populations.collect::<Vec<_>>(), [125, 125, 50]);
    let fit = Fit::of(problem).budget(budget).check().unwrap().fit(&table).unwrap();
    let certificates =
        [run.model.certificate(), run.parties.party(2).unwrap(), fit.model.certificate()];
    for certificate in certificates {
        assert!(certificate.assumptions.iter().any(|line| line == given));
        assert!(certificate.verify(None).unwrap().holds());
    }
}

/// 100 rounds of steps of 1/(2L) were too few for what the budget allowed: ten peers had a worse model
/// than each by itself.
#[test]
fn peers_on_a_ring_learn_more_by_default_than_each_alone() {
    const FEATURES: usize = 4;
    let (count, peers) = (4000, 10);
    let x: Vec<f64> =
        (0..count * FEATURES).map(|at| ((at * 7919 + 13) % 1009) as f64 / 504.0 - 1.0).collect();
    let chance = |at: usize| ((at * 104_729 + 7) % 9973) as f64 / 9973.0;
    let odds = |row: &[f64]| 1.0 / (1.0 + (-3.0 * row[0] + 2.0 * row[2] - 0.5).exp());
    let y: Vec<u32> =
        x.chunks(FEATURES).enumerate().map(|(at, row)| u32::from(chance(at) < odds(row))).collect();
    let rows = |n: usize| {
        Dataset::dense(&x[..n * FEATURES], n, FEATURES).unwrap().with_targets(&y[..n]).unwrap()
    };
    let target = Target::classes(["no", "yes"]).unwrap();
    let problem = Problem::new(Schema::bounded(&[(-1.0, 1.0); FEATURES], target).unwrap());
    let loss = |model: &reticent::Model| -> f64 {
        let score = |row: &[f64]| -> f64 {
            let terms = model.coefficients().iter().zip(row).map(|(c, v)| c.values[0] * v);
            model.intercept()[0] + terms.sum::<f64>()
        };
        let of = |(row, y): (&[f64], &u32)| {
            (1.0 + (if *y == 1 { -score(row) } else { score(row) }).exp()).ln()
        };
        x.chunks(FEATURES).zip(&y).map(of).sum::<f64>() / count as f64
    };
    let guarantee = |epsilon, seed| {
        Guarantee::from(Budget::new(epsilon, 1e-5).unwrap()).with(|it| {
            it.unit = Some(Unit::Record);
            it.seed = Some(seed);
        })
    };
    let together = |epsilon, seed| {
        let run = Simulation::of(problem.clone()).algorithm("r-admm").unwrap();
        let run = run.parties(peers).topology("ring").guarantee(guarantee(epsilon, seed));
        run.check()
            .unwrap()
            .run(&rows(count), CheckpointOptions::default(), Run::default())
            .unwrap()
    };
    let alone = |seed| {
        let fit = Fit::of(problem.clone()).guarantee(guarantee(1.0, seed));
        fit.check().unwrap().fit(&rows(count / peers as usize)).unwrap().model
    };
    let mean = |of: &dyn Fn(u64) -> f64| (1..=4).map(of).sum::<f64>() / 4.0;
    let (all, one) =
        (mean(&|seed| loss(&together(1.0, seed).model)), mean(&|seed| loss(&alone(seed))));
    assert!(all < one - 0.01, "{all} together, {one} alone");
    // The noise decides how many steps there is time for.
    let rounds = [0.05, 0.5, 8.0].map(|epsilon| together(epsilon, 1).rounds);
    assert!(rounds[0] < rounds[1] && rounds[1] < rounds[2] && rounds[2] <= 400, "{rounds:?}");
}

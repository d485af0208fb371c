//! `auto` is the default, reads no data, yields to what the user sets, and can be typed by hand.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::fmt::Write;
use std::path::Path;

use reticent::admm::AutoChoice;
use reticent::{Error, Guarantee, Model, Spec};
use reticent_accountant::{Adjacency, Ledger, gdp_mu};
use tempfile::TempDir;

const TABLE: &str = "table.libsvm";

/// `records` records with two features in LIBSVM format, of which `label` gives the label.
fn job(folder: &Path, records: u32, label: impl Fn(u32) -> bool) -> Spec {
    let mut text = String::new();
    for i in 0..records {
        let (a, b) =
            ((f64::from(i) * 0.754_877).fract() - 0.5, (f64::from(i) * 0.569_84).fract() - 0.5);
        writeln!(text, "{} 1:{a} 2:{b}", if label(i) { "+1" } else { "-1" }).unwrap();
    }
    std::fs::write(folder.join(TABLE), text).unwrap();
    Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(1.0);
            it.delta = Some(1e-5);
            it.adjacency = Some(Adjacency::AddRemove);
            it.public_n = Some(300);
            it.seed = Some(7);
        });
        it.features = Some(2);
        it.row_norm = Some(1.0);
    })
}

/// Fits the table that [`job`] wrote last.
fn fit(folder: &TempDir, spec: &Spec) -> Result<Model, Error> {
    Ok(spec.check()?.fit(&*folder.path().join(TABLE))?.model)
}

fn choice(model: &Model) -> AutoChoice {
    model.certificate().choice.clone().unwrap()
}

/// In coordinates of its own, and with so little budget that those of the table are better.
#[test]
fn what_auto_chose_by_hand_is_the_same_run_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (epsilon, share, constraint) in
        [(1.0, Some(0.1), None), (0.02, None, None), (1.0, Some(0.1), Some("chain".to_owned()))]
    {
        let penalty = constraint.as_ref().map(|_| "l1:0.01".to_owned());
        let job = job(folder.path(), 300, |i| i % 3 == 0);
        let spec = job.with(|it| {
            it.guarantee.epsilon = Some(epsilon);
            it.penalty = penalty;
            it.constraint = constraint;
        });
        let model = fit(&folder, &spec).unwrap();
        assert_eq!(model.certificate().algorithm, "auto");
        let chosen = choice(&model);
        assert_eq!(chosen.settings.precondition, share, "{epsilon}");
        let events: u64 = chosen.parts().iter().map(|part| part.answers).sum();
        assert_eq!(model.certificate().ledger.total_events(), events, "every part is an event");
        let mut by_hand = spec.with(|it| it.algorithm = Some(chosen.algorithm.clone()));
        for (name, value) in chosen.settings.given() {
            assert!(by_hand.settings.set(name, &value).unwrap());
        }
        let again = fit(&folder, &by_hand).unwrap();
        assert_eq!(again.coefficients(), model.coefficients());
        assert_eq!(again.intercept(), model.intercept());
        assert_eq!(again.certificate().ledger, model.certificate().ledger);
        assert_eq!(again.certificate().choice, None);
    }
}

/// The same of a number, whose scale is bought first where there is signal for it; in either
/// coordinates, and from samples.
#[test]
fn what_auto_chose_for_a_number_by_hand_is_the_same_run_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    for (epsilon, sampling, scaled, whitened) in [
        (1.0, "full", true, true),
        (0.02, "full", false, false),
        (1.0, "poisson:0.2", true, true),
        (0.5, "full", true, false),
    ] {
        let job = job(folder.path(), 300, |i| i % 3 == 0);
        let mut spec = job.with(|it| {
            it.guarantee.epsilon = Some(epsilon);
            it.target_range = Some([-4.0, 4.0]);
            it.penalty = Some(if whitened { "l2:0.01" } else { "scad:0.1,3.7" }.to_owned());
        });
        assert!(spec.settings.set("sampling", sampling).unwrap());
        let model = fit(&folder, &spec).unwrap();
        let chosen = choice(&model);
        assert_eq!(chosen.settings.clip_share.is_some(), scaled, "{epsilon}");
        assert_eq!(chosen.settings.precondition.is_some(), whitened, "{epsilon}");
        let events: u64 = chosen.parts().iter().map(|part| part.answers).sum();
        assert_eq!(model.certificate().ledger.total_events(), events, "every part is an event");
        let mut by_hand = spec.with(|it| it.algorithm = Some(chosen.algorithm.clone()));
        by_hand.settings = reticent::Settings::default();
        for (name, value) in chosen.settings.given() {
            assert!(by_hand.settings.set(name, &value).unwrap());
        }
        let again = fit(&folder, &by_hand).unwrap();
        assert_eq!(again.coefficients(), model.coefficients());
        assert_eq!(again.certificate().ledger, model.certificate().ledger);
    }
}

/// A clip, a loss whose slope has a bound, and a share that is none have no use for a scale.
#[test]
fn a_scale_that_is_of_no_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let number = || {
        job(folder.path(), 300, |i| i % 3 == 0).with(|it| {
            it.target_range = Some([-4.0, 4.0]);
            it.algorithm = Some("dp-sgd".to_owned());
        })
    };
    let refused = |spec: Spec, given: &[(&'static str, &str)]| {
        let mut spec = spec;
        given.iter().for_each(|(name, value)| assert!(spec.settings.set(name, value).unwrap()));
        spec.check().unwrap_err().to_string()
    };
    for (spec, given, why) in [
        (number(), &[("clip_share", "1.5")][..], "from 1e-6 to below 1"),
        (number(), &[("clip_share", "0.1"), ("clip", "1")], "give one of the two"),
        (
            number().with(|it| it.loss = Some("huber:1".to_owned())),
            &[("clip_share", "0.1")],
            "squared",
        ),
        (number().with(|it| it.target_range = None), &[("clip_share", "0.1")], "squared"),
        (
            number().with(|it| it.standard_errors = Some(0.2)),
            &[("clip_share", "0.1")],
            "not offered",
        ),
    ] {
        let said = refused(spec, given);
        assert!(said.contains(why), "{said}");
    }
}

/// Of full batches the printed shares are those of the books, in squares of μ; of samples they are
/// not, and none are told.
#[test]
fn shares_are_told_where_they_are_those_of_the_books() {
    let folder = tempfile::tempdir().unwrap();
    let classes = job(folder.path(), 300, |i| i % 3 == 0);
    shares(&fit(&folder, &classes).unwrap(), 2);
    let number = classes.clone().with(|it| it.target_range = Some([-4.0, 4.0]));
    shares(&fit(&folder, &number).unwrap(), 3);
    let model = fit(&folder, &classes).unwrap();
    let mut sampled = choice(&model);
    sampled.settings.sampling = Some("poisson:0.01".parse().unwrap());
    assert!(sampled.parts().iter().all(|part| part.share.is_none()));
    sampled.settings.precondition = None;
    assert_eq!(sampled.parts().iter().map(|part| part.share).collect::<Vec<_>>(), [Some(1.0)]);
}

fn shares(model: &Model, count: usize) {
    let entries = model.certificate().ledger.entries();
    let squares: Vec<f64> = entries
        .iter()
        .map(|entry| {
            let mut ledger = Ledger::new();
            ledger.append_many(entry.event().clone(), entry.count());
            gdp_mu(&ledger).unwrap().powi(2)
        })
        .collect();
    let parts = choice(model).parts();
    assert_eq!((parts.len(), squares.len()), (count, count));
    for (part, square) in parts.iter().zip(&squares) {
        let share = square / squares.iter().sum::<f64>();
        assert!((part.share.unwrap() - share).abs() < 1e-6, "{part:?}: {share}");
    }
}

/// Neither a record more nor other labels change what is chosen: it is a function of what is
/// public.
#[test]
fn the_choice_reads_no_data() {
    let folder = tempfile::tempdir().unwrap();
    for epsilon in [0.02, 1.0] {
        let spec = |records, every| {
            job(folder.path(), records, move |i| i % every == 0).with(|it| {
                it.guarantee = job(folder.path(), records, move |i| i % every == 0)
                    .guarantee
                    .with(|it| it.epsilon = Some(epsilon))
            })
        };
        let one = choice(&fit(&folder, &spec(300, 3)).unwrap());
        for (records, every) in [(301, 3), (90, 2)] {
            assert_eq!(choice(&fit(&folder, &spec(records, every)).unwrap()), one);
        }
        let another = spec(300, 3)
            .with(|it| it.guarantee = spec(300, 3).guarantee.with(|it| it.epsilon = Some(0.01)));
        let other = choice(&fit(&folder, &another).unwrap());
        assert_ne!(other, one, "the budget is public, and counts");
    }
}

/// A second moment is asked for where there is signal for it and something that it is of use for.
#[test]
fn coordinates_of_its_own_are_for_convex_problems() {
    let folder = tempfile::tempdir().unwrap();
    let share = |change: &dyn Fn(&mut Spec)| {
        let mut spec = job(folder.path(), 300, |i| i % 3 == 0);
        change(&mut spec);
        choice(&fit(&folder, &spec).unwrap()).settings.precondition
    };
    assert_eq!(share(&|_| {}), Some(0.1));
    assert_eq!(share(&|spec| spec.penalty = Some("l1:0.01".to_owned())), Some(0.1));
    assert_eq!(share(&|spec| spec.penalty = Some("mcp:0.01,3".to_owned())), None);
    assert_eq!(
        share(&|spec| {
            spec.penalty = Some("l1:0.01".to_owned());
            spec.constraint = Some("chain".to_owned());
        }),
        Some(0.1)
    );
    assert_eq!(share(&|spec| spec.settings.precondition = Some(0.0)), Some(0.0));
    assert_eq!(share(&|spec| spec.settings.precondition = Some(0.3)), Some(0.3));
    assert_eq!(share(&|spec| spec.settings.step = "constant:0.1".parse().ok()), None);
}

/// Behind a linear constraint there are more steps, without momentum; as many as somebody has given are
/// those of any other problem.
#[test]
fn there_are_more_steps_behind_a_constraint() {
    let folder = tempfile::tempdir().unwrap();
    let steps = |change: &dyn Fn(&mut Spec)| {
        let mut spec = job(folder.path(), 300, |i| i % 3 == 0);
        spec.penalty = Some("l1:0.01".to_owned());
        change(&mut spec);
        let model = fit(&folder, &spec).unwrap();
        let settings = choice(&model).settings;
        (settings.iterations.unwrap(), settings.momentum)
    };
    let behind = |spec: &mut Spec| spec.constraint = Some("chain".to_owned());
    assert_eq!(steps(&|_| {}), (AutoChoice::FEW, Some(0.7)));
    assert_eq!(steps(&|spec| spec.constraint = Some("identity".to_owned())), (32, Some(0.7)));
    assert_eq!(steps(&behind), (AutoChoice::MANY, None));
    assert_eq!(steps(&|spec| spec.graph = Some("private".to_owned())), (96, None));
    let number = |spec: &mut Spec| {
        behind(spec);
        spec.target_range = Some([-4.0, 4.0]);
    };
    assert_eq!(steps(&number), (AutoChoice::MANY, None));
    let given = |spec: &mut Spec| {
        behind(spec);
        spec.settings.iterations = Some(7);
    };
    assert_eq!(steps(&given), (7, Some(0.7)));
    let pushed = |spec: &mut Spec| {
        behind(spec);
        spec.settings.momentum = Some(0.5);
    };
    assert_eq!(steps(&pushed), (96, Some(0.5)));
}

/// The algorithms with a name have the same means: the second moment is an event before those of
/// the gradients, mpADMM is ssADMM to the bit there too, and a constraint is obeyed.
#[test]
fn algorithms_with_a_name_take_coordinates_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let named = |algorithm: &str, change: &dyn Fn(&mut Spec)| {
        let mut spec = job(folder.path(), 300, |i| i % 3 == 0);
        spec.algorithm = Some(algorithm.to_owned());
        spec.settings.precondition = Some(0.1);
        change(&mut spec);
        fit(&folder, &spec).unwrap()
    };
    for algorithm in ["ssadmm", "mpadmm", "sadmm", "dp-sgd"] {
        let model = named(algorithm, &|_| {});
        let ledger = &model.certificate().ledger;
        assert_eq!(ledger.total_events(), 1 + 96, "{algorithm}");
        assert!(ledger.entries().len() > 1, "{algorithm}: two kinds of events");
        assert!(model.coefficients().iter().flat_map(|c| &c.values).all(|v| v.is_finite()));
        let few = named(algorithm, &|spec| spec.settings.iterations = Some(7));
        assert_eq!(few.certificate().ledger.total_events(), 1 + 7, "{algorithm}");
    }
    let rho = |spec: &mut Spec| spec.settings.rho = Some(0.01);
    let (one, other) = (named("ssadmm", &rho), named("mpadmm", &rho));
    assert_eq!(one.coefficients(), other.coefficients());
    for algorithm in ["sadmm", "dp-sgd", "auto"] {
        let fused = named(algorithm, &|spec| {
            spec.penalty = Some("l1:10".to_owned());
            spec.constraint = Some("chain".to_owned());
        });
        let values: Vec<f64> = fused.coefficients().iter().map(|c| c.values[0]).collect();
        assert!((values[0] - values[1]).abs() < 0.02, "{algorithm}: {values:?}");
    }
}

#[test]
fn what_the_user_sets_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = job(folder.path(), 300, |i| i % 3 == 0);
    spec.settings.iterations = Some(7);
    spec.settings.clip = Some(0.3);
    let settings = choice(&fit(&folder, &spec).unwrap()).settings;
    assert_eq!((settings.iterations, settings.clip), (Some(7), Some(0.3)));
    assert!(settings.step.is_some() && settings.momentum.is_some(), "the rest is chosen");
}

#[test]
fn a_setting_that_it_does_not_have_is_refused_before_the_data_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = job(folder.path(), 1, |_| true);
    spec.settings.rho = Some(0.5);
    let error = spec.check().unwrap_err().to_string();
    assert!(error.contains("auto has no such setting"), "{error}");
}

/// A table in other units gives the same model in those units, but for the rounding of the settings
/// and for the share of the intercept, whose constant stays 1.
#[test]
fn settings_follow_the_units_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let spec = job(folder.path(), 300, |i| i % 3 == 0);
    let at = |norm| {
        let mut spec = spec.clone().with(|it| {
            it.row_norm = Some(norm);
            it.intercept = Some(false);
        });
        spec.settings.precondition = Some(0.0);
        choice(&fit(&folder, &spec).unwrap()).settings
    };
    let (one, ten) = (at(1.0), at(10.0));
    assert_eq!(one.iterations, ten.iterations);
    assert!((ten.clip.unwrap() / one.clip.unwrap() - 10.0).abs() < 0.1);
    let step = |settings: &reticent::admm::Settings| settings.step.unwrap().at(1, 1.0);
    assert!((step(&one) / step(&ten) - 100.0).abs() < 1.0);
}

/// 8000 records of four numbers that fill their bounds, unless those of one are ten times too wide.
fn scaled(folder: &Path, change: &str) -> Spec {
    let mut text = String::from("a,b,c,d,y\n");
    for i in 0..8000 {
        let part = |root: f64| (f64::from(i) * root.sqrt()).fract();
        let (a, b, c, d) = (part(2.0), 10.0 * part(3.0), part(5.0), part(7.0));
        let score = 3.0 * (a - 0.5) + 0.6 * (b - 5.0) - 2.0 * (c - 0.5);
        let label = 1.0 / (1.0 + (-score).exp()) > part(11.0);
        writeln!(text, "{a},{b},{c},{d},{}", u8::from(label)).unwrap();
    }
    std::fs::write(folder.join("table.csv"), text).unwrap();
    let (norm, bounds, scale) = match change {
        "bounds" => (2.0, "lower = -45\nupper = 55", "minus_one_to_one"),
        "scale" => (2.0, "lower = 0\nupper = 10", "zero_to_one"),
        "norm" => (4.0, "lower = 0\nupper = 10", "minus_one_to_one"),
        _ => (2.0, "lower = 0\nupper = 10", "minus_one_to_one"),
    };
    let column = |name: &str, bounds: &str| {
        format!(
            "[[column]]\nname = \"{name}\"\nkind = \"numeric\"\n{bounds}\nscale = \"{scale}\"\n"
        )
    };
    let unit = "lower = 0\nupper = 1";
    let columns: String = [("a", unit), ("b", bounds), ("c", unit), ("d", unit)]
        .map(|(name, bounds)| column(name, bounds))
        .concat();
    let target = "[[column]]\nname = \"y\"\nkind = \"target\"\nclasses = [\"0\", \"1\"]\n";
    let schema = folder.join("schema.toml");
    std::fs::write(&schema, format!("row_norm = {norm:.1}\n{columns}{target}")).unwrap();
    Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(1.0);
            it.delta = Some(1e-5);
            it.seed = Some(3);
        });
        it.schema = Some(schema);
    })
}

/// How a column is scaled is nobody's business but the schema's: bounds that are ten times too wide,
/// the other scale, and a row norm twice as long move little, where they move much without
/// coordinates of its own. The seed is fixed.
#[test]
fn scaling_matters_little() {
    let folder = tempfile::tempdir().unwrap();
    let auc = |change: &str, share: Option<f64>| {
        let mut spec = scaled(folder.path(), change);
        spec.settings.precondition = share;
        let table = folder.path().join("table.csv");
        let model = spec.check().unwrap().fit(&*table).unwrap().model;
        match model.evaluate(&table, None).unwrap() {
            reticent::Quality::Classes { auc, .. } => auc,
            other => panic!("{other:?}"),
        }
    };
    let changes = ["bounds", "scale", "norm"];
    let moved = |share: Option<f64>| {
        let before = auc("", share);
        changes.map(|change| (auc(change, share) - before).abs())
    };
    let (own, table) = (moved(None), moved(Some(0.0)));
    println!("moved by {own:?}, in the coordinates of the table by {table:?}");
    assert!(own.iter().all(|moved| *moved <= 0.001), "{own:?}");
    assert!(table.iter().any(|moved| *moved > 0.001), "{table:?}");
}

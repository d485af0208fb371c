//! Categories with an order and pairs of columns: they find what made the table, and what is shown of
//! them is what is predicted.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::path::Path;

use reticent::internal::Repeat;
use reticent::tables::{Dataset, Schema};
use reticent::{Adjacency, Budget, Files, Fit, Model, Prediction, PrivateTable, Settings, Solver};

const GRADES: [&str; 6] = ["none", "poor", "fair", "good", "fine", "best"];

/// A valley along the grades, and age counts for one town alone.
fn truth(grade: usize, age: f64, town: &str) -> f64 {
    let own = [3.0, 2.0, 1.0, 0.0, 1.0, 2.0][grade];
    own + if town == "B" { (age - 50.0) / 10.0 } else { 0.0 }
}

fn schema(more: &str) -> Schema {
    let text = format!(
        "row_norm = 3\npairs = [['age', 'town'], ['age', 'grade']]\n\
         [[column]]\nname = 'grade'\nkind = 'categorical'\nordered = true\ncategories = {GRADES:?}\n{more}\n\
         [[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100\ncurve = 2\n\
         [[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']\n\
         [[column]]\nname = 'y'\nkind = 'target'\nlower = -20\nupper = 20\n"
    );
    text.parse().unwrap()
}

fn files(folder: &tempfile::TempDir, records: usize) -> Files {
    let row = |i: usize| {
        let (grade, age, town) = (i % 6, (i * 37 % 101) as f64, ["A", "B"][i / 6 % 2]);
        format!("{},{age},{town},{}\n", GRADES[grade], truth(grade, age, town))
    };
    let rows: String = (0..records).map(row).collect();
    let file = folder.path().join("t.csv");
    std::fs::write(&file, format!("grade,age,town,y\n{rows}")).unwrap();
    Files::one(file)
}

fn predicted(model: &Model, folder: &tempfile::TempDir, fields: &[String]) -> Vec<f64> {
    let file = folder.path().join("new.csv");
    std::fs::write(&file, format!("grade,age,town\n{}\n", fields.join("\n"))).unwrap();
    let number = |one| match one {
        Prediction::Number { value, .. } => value,
        other => panic!("{other:?}"),
    };
    model.predict(&file, None).unwrap().into_iter().map(number).collect()
}

/// What a surface and a curve say of two values is what predictions differ by; a curve of a column in
/// a pair is the mean over the other's places.
#[test]
fn surfaces_and_orders_are_what_is_predicted() {
    let folder = tempfile::tempdir().unwrap();
    let fit = Fit::new(schema("curve = 4")).solver(Solver::named("exact").unwrap());
    let model = fit.check().unwrap().fit(files(&folder, 606)).unwrap().model;
    let surfaces = model.surfaces();
    let of = |a: &str, b: &str| {
        let found = surfaces.iter().find(|s| s.sides[0].column == a && s.sides[1].column == b);
        found.unwrap_or_else(|| panic!("{a} and {b}: {surfaces:?}"))
    };
    let town = of("age", "town");
    assert_eq!(surfaces[0].sides[1].column, "town", "the widest range comes first");
    let ages: Vec<f64> = town.sides[0].points.iter().map(|point| point.x).collect();
    // Bounds, the middle of the pair and two knots; both categories.
    assert!(ages.len() == 5 && ages[2] == 50.0 && town.values[0][0].len() == 2);
    let at = |age: f64, town: &str| format!("good,{age},{town}");
    let asked = [at(ages[0], "A"), at(ages[4], "A"), at(ages[0], "B"), at(ages[4], "B")];
    let [a0, a1, b0, b1] = predicted(&model, &folder, &asked)[..] else { panic!() };
    let value = &town.values[0];
    // The grade is in a pair with age too: what is left of it is the same at both towns.
    let together = (value[4][1] - value[0][1]) - (value[4][0] - value[0][0]);
    assert!(((b1 - b0) - (a1 - a0) - together).abs() < 1e-9);
    assert!((together - 10.0).abs() < 0.2, "{together}");
    // An order: a point for each category, and the valley that made the table.
    let curves = model.curves();
    let grade = curves.iter().find(|curve| curve.column == "grade").unwrap();
    let names: Vec<&str> = grade.points.iter().filter_map(|p| p.category.as_deref()).collect();
    assert_eq!(names, GRADES);
    let low = grade.points.iter().min_by(|a, b| a.values[0].total_cmp(&b.values[0])).unwrap();
    assert_eq!(low.category.as_deref(), Some("good"));
    // The mean over the bounds and the middle of age, which its products are taken over.
    let at = |grade: usize, age: &str| format!("{},{age},A", GRADES[grade]);
    let asked: Vec<String> =
        [1, 4].iter().flat_map(|&grade| ["0", "50", "100"].map(|age| at(grade, age))).collect();
    let found = predicted(&model, &folder, &asked);
    let mean = |from: usize| found[from..from + 3].iter().sum::<f64>() / 3.0;
    let moved = grade.points[4].values[0] - grade.points[1].values[0];
    assert!((mean(3) - mean(0) - moved).abs() < 1e-9, "{moved}");
    let written = model.to_json().unwrap();
    assert_eq!(Model::from_json(&written).unwrap().surfaces(), surfaces);
}

/// With noise the interaction is found, and a missing field has no product.
#[test]
fn a_private_fit_finds_an_interaction() {
    let folder = tempfile::tempdir().unwrap();
    let data = files(&folder, 12_120);
    let text = schema("")
        .to_toml()
        .replace(", [\"age\", \"grade\"]", "")
        .replace("curve = 2", "curve = 1");
    let schema: Schema = text.parse().unwrap();
    assert_eq!((schema.pairs().len(), schema.width()), (1, 8), "{text}");
    let budget = Budget::new(20.0, 1e-6).unwrap();
    let fit = Fit::new(schema).budget(budget).seed(5);
    let model = fit.check().unwrap().fit(&data).unwrap().model;
    let surfaces = model.surfaces();
    let value = &surfaces[0].values[0];
    let last = value.len() - 1;
    let together = (value[last][1] - value[0][1]) - (value[last][0] - value[0][0]);
    assert!((together - 10.0).abs() < 2.0, "{together}");
    let asked = ["fair,,B", "fair,,A", ",50,B"].map(str::to_owned);
    assert!(predicted(&model, &folder, &asked).iter().all(|value| value.is_finite()));
}

/// Numbers in [0, 1) that do not repeat.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (*state ^ (*state >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// What made the tables of pairs with bands: a saddle, and a line.
fn saddle(x: f64, y: f64) -> f64 {
    (x - 5.0) * (y - 5.0) / 8.0 - 0.4 * y
}

fn paired(seed: u64, fit: impl Fn(Fit) -> Fit) -> Model {
    const ROWS: usize = 8_000;
    let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(77);
    let x: Vec<f64> = (0..2 * ROWS).map(|_| 10.0 * uniform(&mut state)).collect();
    // The sum of twelve: normal enough, and within six deviations.
    let mut normal = || (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
    let y: Vec<f64> = x.chunks(2).map(|row| saddle(row[0], row[1]) + normal()).collect();
    let column = |name: &str| {
        format!("[[column]]\nname = '{name}'\nkind = 'numeric'\nlower = 0\nupper = 10\n")
    };
    let text = format!(
        "row_norm = 1.5\npairs = [['x', 'y']]\n{}{}\
         [[column]]\nname = 'z'\nkind = 'target'\nlower = -14\nupper = 14\n",
        column("x"),
        column("y")
    );
    let schema: Schema = text.parse().unwrap();
    let table = Dataset::dense(&x, ROWS, 2).unwrap().with_targets(&y).unwrap();
    let plain = Fit::new(schema).budget(Budget::new(40.0, 1e-6).unwrap()).seed(seed);
    fit(plain).check().unwrap().fit(&table).unwrap().model
}

/// Of 40 tables with nine points each, of which all may hang together, fewer than 297 points are
/// within bands that hold with 0.95 less than once in 10³ such tests: 8 tables or more would have to
/// fail, of a mean of 2.
#[test]
fn bands_of_pairs_hold_what_made_the_table_and_the_run_without_noise() {
    let (mut told, mut held, mut noiseless) = (0, 0, 0);
    for seed in 1..=40 {
        let surfaces = paired(seed, |fit| fit.standard_errors(0.5)).surfaces();
        let exact = paired(seed, |fit| fit.solver(Solver::named("exact").unwrap())).surfaces();
        let [surface, exact] = [&surfaces[0], &exact[0]];
        assert!(exact.bands.is_none());
        let points = surface.sides.each_ref().map(|side| &side.points);
        let truth = |i: usize, j: usize| saddle(points[0][i].x, points[1][j].x);
        let all = || (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
        let mean = all().map(|(i, j)| truth(i, j)).sum::<f64>() / 9.0;
        let Some(bands) = &surface.bands else { continue };
        for (i, j) in all() {
            let within = bands[i][j].from..=bands[i][j].to;
            told += 1;
            held += usize::from(within.contains(&(truth(i, j) - mean)));
            noiseless += usize::from(within.contains(&exact.values[0][i][j]));
        }
    }
    println!("{held} and {noiseless} of {told}");
    assert_eq!(told, 360);
    assert!(held >= 297 && noiseless >= 297, "{held} and {noiseless} of {told}");
}

/// A pair with categories has a band at each of them, the first too, and a file is read back as it
/// was written.
#[test]
fn a_pair_with_categories_has_bands() {
    let text = "row_norm = 1.5\npairs = [['age', 'town']]
        [[column]]\nname = 'grade'\nkind = 'ignored'
        [[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100
        [[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']
        [[column]]\nname = 'y'\nkind = 'target'\nlower = -20\nupper = 20\n";
    let folder = tempfile::tempdir().unwrap();
    let fit = Fit::new(text.parse().unwrap()).budget(Budget::new(40.0, 1e-6).unwrap()).seed(5);
    let job = fit.standard_errors(0.5).check().unwrap();
    let model = job.fit(files(&folder, 12_120)).unwrap().model;
    let surfaces = model.surfaces();
    let bands = surfaces[0].bands.as_ref().unwrap();
    assert_eq!((bands.len(), bands[0].len()), (surfaces[0].sides[0].points.len(), 2));
    let estimate = |i: usize, j: usize| bands[i][j].estimate;
    let together = (estimate(2, 1) - estimate(0, 1)) - (estimate(2, 0) - estimate(0, 0));
    assert!((together - 10.0).abs() < 1.0, "{together}");
    assert!(bands.iter().flatten().all(|band| band.from < band.to));
    let written = model.to_json().unwrap();
    assert_eq!(Model::from_json(&written).unwrap().surfaces(), surfaces);
    // The published schema of a model knows them.
    let schema = include_str!("../schemas/model.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let written: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert!(written["standard_errors"]["surfaces"].is_array());
    let wrong: Vec<String> = schema.iter_errors(&written).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

const ATTACKED: &str = "row_norm = 1\npairs = [['x', 'town'], ['x', 'grade']]
    [[column]]\nname = 'grade'\nkind = 'categorical'\ncategories = ['a', 'b', 'c', 'd', 'e']\nordered = true
    [[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 100
    [[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']
    [[column]]\nname = 'z'\nkind = 'numeric'\nlower = 0\nupper = 10\ncurve = 1
    [[column]]\nname = 'y'\nkind = 'target'\nclasses = ['no', 'yes']\n";

/// The longest row of these columns: at a hat, at the middle of the order, at a corner of its pairs.
const CANARY: &str = "c,100,B,5,yes";

/// What the first answer about the canary's world and that about the other are apart, in standard
/// deviations of its noise: μ of the two. The noise of a number is the same in both worlds.
fn told_apart(repeat: &Repeat, instead: Option<&str>) -> f64 {
    const RUNS: u64 = 300;
    let folder = tempfile::tempdir().unwrap();
    let schema: Schema = ATTACKED.parse().unwrap();
    let world = |canary: Option<&str>| {
        let others = ["a,0,A,0,no", "b,30,B,2,yes", ",,A,9,no", "e,60,,,yes", "d,100,A,10,no"];
        let rows: Vec<&str> =
            others[..3].iter().copied().chain(canary).chain(others[3..].iter().copied()).collect();
        let file = folder.path().join(format!("{}.csv", canary.map_or(0, str::len)));
        std::fs::write(&file, format!("grade,x,town,z,y\n{}\n", rows.join("\n"))).unwrap();
        file
    };
    let answer = |file: &Path, number: u64| {
        let table = PrivateTable::load(file, None, &schema).unwrap();
        let all = repeat.run(table, number).unwrap().transcript.swap_remove(0);
        let wide = schema.width() + 1;
        if all.len() == wide {
            return all;
        }
        // A matrix, whose entries on both sides of its diagonal are one answer.
        assert_eq!(all.len(), wide * wide);
        assert!((0..all.len()).all(|at| all[at] == all[at % wide * wide + at / wide]));
        let once = (0..all.len()).filter(|at| at % wide >= at / wide);
        once.map(|at| all[at]).collect()
    };
    let with = world(Some(CANARY));
    let answers: Vec<Vec<f64>> = (0..RUNS).map(|number| answer(&with, number)).collect();
    let without = world(instead);
    let moved = |number: u64| -> Vec<f64> {
        let other = answer(&without, number);
        answers[number as usize].iter().zip(&other).map(|(a, b)| a - b).collect()
    };
    let (moved, again) = (moved(0), moved(1));
    let variance = |j: usize| {
        let mean = answers.iter().map(|all| all[j]).sum::<f64>() / RUNS as f64;
        answers.iter().map(|all| (all[j] - mean).powi(2)).sum::<f64>() / (RUNS - 1) as f64
    };
    let squares = moved.iter().zip(&again).enumerate().map(|(j, (by, again))| {
        let variance = variance(j);
        assert!(
            (by - again).abs() < 1e-3 * variance.sqrt(),
            "the noise is not the same: {by} {again}"
        );
        by * by / variance
    });
    squares.sum::<f64>().sqrt()
}

/// The worst pairs of records with orders, hats and products, from a file through the schema and the
/// gate: no answer tells them apart by more than was counted, and the longest row by nearly all of it.
/// Variances of 300 runs are off by 8 % each; their mean over ten coordinates or more is, in a root,
/// beyond 6 % less than once in 10⁶ tests.
#[test]
fn a_record_with_orders_and_pairs_is_told_apart_as_counted() {
    let schema: Schema = ATTACKED.parse().unwrap();
    // What the longest row pulls at a score of zero, the constant behind the intercept included.
    let clip = 0.5 * schema.row_norm().hypot(0.3);
    let repeat = |adjacency, precondition: Option<f64>| {
        let settings = Settings {
            iterations: Some(1),
            sampling: "full".parse().ok(),
            clip: precondition.is_none().then_some(clip),
            precondition,
            ..Settings::default()
        };
        let solver = Solver::named("dp-sgd").unwrap().with(settings).unwrap();
        let fit = Fit::new(schema.clone()).solver(solver).budget(Budget::new(4.0, 1e-5).unwrap());
        let job = fit.adjacency(adjacency).public_n(6).seed(3).check().unwrap();
        let rows = format!("grade,x,town,z,y\n{}", "a,0,A,0,no\n".repeat(6));
        let file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
        std::fs::write(file.path(), rows).unwrap();
        job.repeat(PrivateTable::load(file.path(), None, &schema).unwrap()).unwrap()
    };
    for (adjacency, share, instead) in [
        (Adjacency::AddRemove, None, vec![None]),
        (Adjacency::AddRemove, Some(0.1), vec![None]),
        (
            Adjacency::ReplaceOne,
            None,
            vec!["c,100,B,5,no", "c,0,B,5,yes", ",,,,no"].into_iter().map(Some).collect(),
        ),
        (
            Adjacency::ReplaceOne,
            Some(0.1),
            vec!["c,0,A,0,yes", ",,,,no"].into_iter().map(Some).collect(),
        ),
    ] {
        let repeat = repeat(adjacency, share);
        let counted = repeat.mu().unwrap() * share.unwrap_or(1.0).sqrt();
        let found: Vec<f64> = instead.iter().map(|&other| told_apart(&repeat, other)).collect();
        println!("{adjacency} {share:?}: counted {counted:.4}, found {found:.4?}");
        assert!(found.iter().all(|&mu| mu <= 1.06 * counted), "{counted} {found:?}");
        // A second moment is told apart by less where the constant is in both rows.
        let least = if adjacency == Adjacency::ReplaceOne && share.is_some() { 0.5 } else { 0.94 };
        assert!(found[0] >= least * counted, "{counted} {found:?}");
    }
}

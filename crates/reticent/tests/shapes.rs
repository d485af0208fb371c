//! Categories with an order and pairs of columns: they find what made the table, and what is shown of
//! them is what is predicted.
#![allow(clippy::unwrap_used)] // helpers of tests

use reticent::tables::Schema;
use reticent::{Budget, Files, Fit, Model, Prediction, Solver};

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
    Files { paths: vec![file], ..Files::default() }
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
    assert_eq!(surfaces[0].sides[1].column, "town", "that which moves most comes first");
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
    assert_eq!(Model::from_json(&model.to_json().unwrap()).unwrap().surfaces(), surfaces);
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

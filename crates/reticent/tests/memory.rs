//! Fits of tables in memory: to the bit what a file with the same values gives, under the same
//! rules.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::fmt::Write;

use reticent::penalties::L2;
use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Error, Fit, Model, Prediction, PrivateTable, Quality, Source, Unit};

const N: usize = 300;

fn x() -> Vec<f64> {
    (0..N).flat_map(|i| [(i * 37 % 100) as f64 / 8.0, (i * 53 % 71) as f64 - 20.0]).collect()
}

fn y() -> Vec<u32> {
    x().chunks(2).map(|row| u32::from(row[0] * 4.0 + row[1] > 30.0)).collect()
}

/// The bounds cut some of the values.
fn schema() -> Schema {
    let target = Target::classes(["no", "yes"]).unwrap();
    Schema::bounded(&[(0.0, 10.0), (-10.0, 50.0)], target).unwrap().named(["dose", "heat"]).unwrap()
}

fn fit(schema: Schema) -> Fit {
    Fit::new(schema).penalty(L2::new(1e-3).unwrap()).budget(Budget::new(2.0, 1e-6).unwrap()).seed(9)
}

fn model<'a>(fit: Fit, source: impl Into<Source<'a>>) -> Result<Model, Error> {
    Ok(fit.check()?.fit(source)?.model)
}

#[test]
fn memory_and_file_give_the_same_model_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let (x, y) = (x(), y());
    let mut text = String::from("dose,heat,target\n");
    for (row, y) in x.chunks(2).zip(&y) {
        writeln!(text, "{},{},{}", row[0], row[1], ["no", "yes"][*y as usize]).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let data = Dataset::dense(&x, N, 2).unwrap().with_targets(&y).unwrap();
    let file = model(fit(schema()), &*path).unwrap();
    assert_eq!(model(fit(schema()), &data).unwrap(), file);
    let by_column: Vec<f64> = (0..2).flat_map(|j| x.iter().skip(j).step_by(2).copied()).collect();
    let turned = Dataset::dense_by_column(by_column, N, 2).unwrap().with_targets(&y).unwrap();
    assert_eq!(model(fit(schema()), &turned).unwrap(), file);

    // And the same predictions and quality.
    assert_eq!(file.predict_dataset(&data).unwrap(), file.predict(&path, None).unwrap());
    let Quality::Classes { accuracy, n, .. } = file.evaluate_dataset(&data).unwrap() else {
        panic!("the target has classes")
    };
    assert!(n == N && accuracy > 0.8, "{accuracy}");
    assert_eq!(file.evaluate_dataset(&data).unwrap(), file.evaluate(&path, None).unwrap());
    assert!(matches!(file.predict_dataset(&data).unwrap()[0], Prediction::Class { .. }));
}

#[test]
fn owners_are_protected_when_the_job_says_so_and_never_overlooked() {
    let (x, y) = (x(), y());
    let owners: Vec<u64> = (0..N as u64).map(|i| i / 3).collect();
    let owned =
        Dataset::dense(&x, N, 2).unwrap().with_targets(&y).unwrap().with_owners(&owners).unwrap();
    let certificate = model(fit(schema()).unit(Unit::User), &owned).unwrap().certificate().clone();
    assert_eq!((certificate.unit, certificate.population), (Unit::User, N as u64 / 3));
    let record = model(fit(schema()).unit(Unit::Record), &owned).unwrap();
    assert_eq!(record.certificate().population, N as u64);
    // Nobody said what is to be protected.
    let error = model(fit(schema()), &owned).unwrap_err();
    assert!(error.to_string().contains("have owners"), "{error}");
    // A person is to be protected, and nobody says whose the rows are.
    let alone = Dataset::dense(&x, N, 2).unwrap().with_targets(&y).unwrap();
    assert!(model(fit(schema()).unit(Unit::User), &alone).is_err());
}

#[test]
fn what_is_wrong_is_found_before_or_at_reading() {
    let (x, y) = (x(), y());
    assert!(Fit::new(schema()).check().unwrap_err().to_string().contains("budget"));
    let wide = Schema::bounded(&[(0.0, 1.0); 3], Target::range(0.0, 1.0).unwrap()).unwrap();
    let data = Dataset::dense(&x, N, 2).unwrap().with_targets(&y).unwrap();
    let error = model(fit(wide), &data).unwrap_err().to_string();
    assert!(error.contains("it has 2 columns, and the schema has 3 features"), "{error}");
    let mut broken = x.clone();
    broken[7] = f64::NAN;
    let data = Dataset::dense(&broken, N, 2).unwrap().with_targets(&y).unwrap();
    let error = model(fit(schema()), &data).unwrap_err().to_string();
    assert!(error.starts_with("the dataset:4: column `heat`") && !error.contains("7."), "{error}");
}

/// A job counts on the codes, bounds and norms of its own schema.
#[test]
fn a_table_that_was_encoded_under_another_schema_is_refused() {
    let (x, y) = (x(), y());
    let data = Dataset::dense(&x, N, 2).unwrap().with_targets(&y).unwrap();
    let table = |schema: &Schema| PrivateTable::encode(&data, schema).unwrap();
    assert_eq!(
        model(fit(schema()), table(&schema())).unwrap(),
        model(fit(schema()), &data).unwrap()
    );
    let labels: Vec<String> = (0..10).map(|label| label.to_string()).collect();
    let ten = Schema::bounded(&[(0.0, 10.0), (-10.0, 50.0)], Target::classes(labels).unwrap());
    let wide = Schema::bounded(&[(0.0, 10.0), (-9.0, 50.0)], Target::range(0.0, 1.0).unwrap());
    for other in [ten.unwrap(), wide.unwrap()] {
        let error = model(fit(schema()), table(&other)).unwrap_err().to_string();
        assert!(error.contains("not encoded under the schema of the job"), "{error}");
    }
}

/// What other front-ends compute with: all predictions at once, raw scores, and weights in units
/// that give them back.
#[test]
fn whole_columns_of_predictions_belong_to_the_scores_and_the_weights() {
    let (x, y) = (x(), y());
    let data = Dataset::dense(&x, N, 2).unwrap().with_targets(&y).unwrap();
    for intercept in [true, false] {
        let model = model(fit(schema()).intercept(intercept), &data).unwrap();
        assert_eq!(Model::from_json(&serde_json::to_string(&model).unwrap()).unwrap(), model);
        let (whole, scores) =
            (model.predict_whole(&data).unwrap(), model.score_dataset(&data).unwrap());
        let (units, at_zero) = (model.units(), model.at_zero());
        assert_eq!(units.intercept.is_empty(), !intercept);
        for (i, prediction) in model.predict_dataset(&data).unwrap().iter().enumerate() {
            assert_eq!(&model.prediction(&whole, i), prediction);
            assert!((whole.numbers[1][i] - 1.0 / (1.0 + (-scores[i]).exp())).abs() < 1e-12);
            let row = [x[2 * i].clamp(0.0, 10.0), x[2 * i + 1].clamp(-10.0, 50.0)];
            let linear: f64 =
                units.coefficients.iter().zip(row).map(|(w, value)| w.values[0] * value).sum();
            assert!((linear + at_zero[0] - scores[i]).abs() < 1e-9);
        }
    }
    assert!(matches!(Model::from_json("{}"), Err(Error::Model { .. })));
}

//! E9: what all of them read from the data before the accounting begins.

use reticent::{Budget, Error};
use reticent_data::{Purpose, Schema, parse_csv};

use super::*;

const HEADER: &str = "income,bought\n";

/// Incomes of nine people, and of a tenth who decides the scale.
fn file(last: f64) -> String {
    let rows: String = (1..10).map(|i| format!("{},{}\n", 1_000 * i, i % 2)).collect();
    format!("{HEADER}{rows}{last},1\n")
}

/// The feature scaled to [0, 1] by the extremes of the table, as the papers do.
fn min_max(text: &str) -> Vec<f64> {
    let values: Vec<f64> =
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    let (least, most) = values.iter().fold((f64::MAX, f64::MIN), |(l, m), &v| (l.min(v), m.max(v)));
    values.iter().map(|v| (v - least) / (most - least)).collect()
}

/// The feature as the gate would see it, under bounds that are public.
fn declared(text: &str) -> Vec<f64> {
    let schema = "row_norm = 1\n[[column]]\nname = 'income'\nkind = 'numeric'\nlower = 0\nupper = 20000\n\
                  [[column]]\nname = 'bought'\nkind = 'target'\nclasses = ['0', '1']\n";
    let schema: Schema = schema.parse().unwrap();
    let table = parse_csv(text.as_bytes(), "t.csv", &schema, b',', Purpose::Fit).unwrap();
    let Rows::Dense(rows) = table.rows else { panic!("one numeric column is dense") };
    rows.values
}

/// One person with another income changes the scaled income of nine others, with certainty; a sum
/// over the table then moves by more than any one record could, and what an algorithm pays for one
/// is not enough. Under declared bounds one entry changes.
#[test]
fn e09_scaling_by_the_data_moves_every_record() {
    let (one, other) = (file(10_000.0), file(1_000_000.0));
    let changed = |a: &[f64], b: &[f64]| a.iter().zip(b).filter(|(a, b)| a != b).count();
    let moved = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let (published, published_other) = (min_max(&one), min_max(&other));
    let (ours, ours_other) = (declared(&one), declared(&other));
    println!(
        "E9: min–max scaling changes {} of 10 entries and their sum by {:.2}; declared bounds {} and {:.2}",
        changed(&published, &published_other),
        moved(&published, &published_other),
        changed(&ours, &ours_other),
        moved(&ours, &ours_other)
    );
    // The least of all stays at 0 and the largest at 1: eight move by up to all their length.
    assert_eq!(changed(&published, &published_other), 8);
    assert!(moved(&published, &published_other) > 3.0);
    assert_eq!(changed(&ours, &ours_other), 1);
    assert!(moved(&ours, &ours_other) <= 2.0);
}

/// Nothing is guessed: a job without a schema is refused, whatever the table has to say.
#[test]
fn e09_a_job_without_declared_bounds_is_refused() {
    let guarantee = Budget::new(1.0, DELTA).unwrap().into();
    let spec = Spec::default().with(|it| it.guarantee = guarantee);
    let error = spec.check().unwrap_err();
    assert!(matches!(error, Error::Missing { what: "the schema", .. }), "{error}");
}

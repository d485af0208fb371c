//! Hats beside a line: what a value becomes, and that no row is longer than the schema says.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use reticent_data::{HAT, Purpose, Role, Schema, parse_csv};

fn schema(norm: &str, column: &str) -> Schema {
    let age = "[[column]]\nname = 'x'\nkind = 'numeric'\n";
    let rest = "\n[[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']\n\
                [[column]]\nname = 'y'\nkind = 'target'\nclasses = ['no', 'yes']\n";
    format!("row_norm = {norm}\nmissing_tokens = ['', 'NaN']\n{age}{column}{rest}").parse().unwrap()
}

fn row(schema: &Schema, x: &str) -> Vec<f64> {
    let csv = format!("x,town,y\n{x},A,no\n");
    let table = parse_csv(csv.as_bytes(), "t.csv", schema, b',', Purpose::Fit).unwrap();
    table.rows.dense_row(0).to_vec()
}

#[test]
fn a_value_has_its_line_and_the_hats_around_it() {
    let schema = schema("9", "lower = 0\nupper = 100\ncurve = 3");
    assert_eq!(schema.encoded_names(), ["x", "x@25", "x@50", "x@75", "town=A", "town=B"]);
    assert_eq!(row(&schema, "0"), [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(row(&schema, "25"), [-0.5, HAT, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(row(&schema, "37.5"), [-0.25, 0.5 * HAT, 0.5 * HAT, 0.0, 1.0, 0.0]);
    assert_eq!(row(&schema, "87.5"), [0.75, 0.0, 0.0, 0.5 * HAT, 1.0, 0.0]);
    assert_eq!(row(&schema, "100"), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    // What is outside is at the bound, and what is missing has no hat.
    assert_eq!(row(&schema, "1e300"), row(&schema, "100"));
    assert_eq!(row(&schema, "-7"), row(&schema, "0"));
    for missing in ["", "NaN"] {
        assert_eq!(row(&schema, missing), [0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}

#[test]
fn knots_are_after_the_scale_and_may_be_given() {
    let even = schema("9", "lower = 0\nupper = 99\nscale = 'log'\ncurve = 1");
    // log(1 + x) is half of log(100) at 9.
    assert_eq!(even.encoded_names()[..2], ["x", "x@9"]);
    assert!((row(&even, "9")[1] - HAT).abs() < 1e-15);
    let given = schema("9", "lower = 0\nupper = 100\nknots = [12.5, 25]");
    assert_eq!(row(&given, "18.75"), [-0.625, 0.5 * HAT, 0.5 * HAT, 1.0, 0.0]);
    assert_eq!(row(&given, "62.5")[..3], [0.25, 0.0, 0.5 * HAT]);
    let quantile =
        schema("9", "lower = 0\nupper = 100\nscale = 'quantile'\nquantiles = [1]\ncurve = 1");
    assert_eq!(row(&quantile, "1")[..2], [0.0, HAT]);
    // A schema is what it was when it is read again.
    for schema in [even, given, quantile] {
        assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
    }
}

/// R′² = R² + h²·(curved columns): the declared norm is about lines and categories, and hats stand
/// beside it as they are.
#[test]
fn rows_are_scaled_without_their_hats() {
    let long = schema("0.5", "lower = 0\nupper = 100\ncurve = 1");
    let row = row(&long, "75");
    assert_eq!(row[1], 0.5 * HAT);
    let lines = row[0].hypot(row[2]);
    assert!((lines - 0.5).abs() < 1e-12 && lines <= 0.5, "{lines}");
    assert!((long.row_norm() - 0.5_f64.hypot(HAT)).abs() < 1e-8);
    assert_eq!((long.line_norm(), long.curved()), (0.5, 1));
    let line = schema("0.5", "lower = 0\nupper = 100");
    assert_eq!((line.row_norm(), line.curved()), (0.5, 0));
}

#[test]
fn what_no_curve_has_is_refused() {
    let said = |column: &str| {
        let text = format!("row_norm = 1\n[[column]]\nname = 'x'\nkind = 'numeric'\n{column}");
        text.parse::<Schema>().unwrap_err().to_string()
    };
    let bounds = "lower = 0\nupper = 10\n";
    for (column, word) in [
        ("curve = -1", "curve = -1"),
        ("curve = 257", "from 0 to 256"),
        ("curve = 2\nknots = [1]", "one of the two"),
        ("knots = []", "knots"),
        ("knots = [0, 5]", "above 0 and below 10"),
        ("knots = [5, 5]", "ascend"),
        ("knots = [7, 5]", "ascend"),
        ("knots = [nan]", "ascend"),
        ("knots = [5, 5.000000000000001]\nscale = 'log'", "apart after its scale"),
        ("curves = 3", "unknown field `curves`"),
    ] {
        let said = said(&format!("{bounds}{column}"));
        assert!(said.contains(word), "{column}: {said}");
    }
    let text =
        "row_norm = 1\n[[column]]\nname = 'c'\nkind = 'categorical'\ncategories = ['a']\ncurve = 1";
    assert!(text.parse::<Schema>().unwrap_err().to_string().contains("`curve`"));
    let days = "row_norm = 1\n[[column]]\nname = 'd'\nkind = 'date'\nlower = '2020-01-01'\nupper = '2020-01-05'\n";
    assert!(format!("{days}knots = [3]").parse::<Schema>().is_err());
    let near: Schema = format!("{days}curve = 9").parse().unwrap();
    assert_eq!(near.encoded_names()[..3], ["d", "d@knot 1", "d@knot 2"]);
    let far: Schema = format!("{days}curve = 3").parse().unwrap();
    assert_eq!(far.encoded_names()[1], "d@2020-01-02");
}

#[test]
fn a_job_bends_what_is_open_to_it() {
    let text = "row_norm = 1
        [[column]]\nname = 'flag'\nkind = 'numeric'\nlower = 0\nupper = 1
        [[column]]\nname = 'raw'\nkind = 'numeric'\nlower = 0\nupper = 9\nscale = 'none'
        [[column]]\nname = 'line'\nkind = 'numeric'\nlower = 0\nupper = 9\ncurve = 0
        [[column]]\nname = 'own'\nkind = 'numeric'\nlower = 0\nupper = 9\ncurve = 2
        [[column]]\nname = 'open'\nkind = 'numeric'\nlower = 0\nupper = 9
        [[column]]\nname = 'share'\nkind = 'numeric'\nlower = 0\nupper = 1\ncurve = 1
        [[column]]\nname = 'y'\nkind = 'target'\nlower = 0\nupper = 1\n";
    let schema: Schema = text.parse().unwrap();
    assert_eq!((schema.open_hats(1), schema.curved(), schema.width()), (1, 2, 9));
    let bent = schema.clone().with_curves(4).unwrap();
    let hats: Vec<usize> = bent.columns().iter().map(|c| c.width()).collect();
    assert_eq!(hats, [1, 1, 1, 3, 5, 2, 0]);
    assert!(schema.clone().with_curves(1000).is_err());
    assert_eq!(bent.clone().without_curves().width(), 6);
    assert!(bent.encodes_as(&schema) && schema.encodes_as(&bent));
    // A numeric column that is predicted is no feature, and a question about a column has no hats.
    assert_eq!(bent.with_roles(Some("open"), None).unwrap().width(), 8);
    let asked = schema.asking_about(&["own"], None).unwrap();
    assert_eq!(asked.width(), 1);
    let libsvm = Schema::libsvm(3, 1.0, reticent_data::Target::range(0.0, 1.0).unwrap()).unwrap();
    assert_eq!(libsvm.clone().with_curves(4).unwrap(), libsvm);
}

/// A schema without curves is written as it was.
#[test]
fn a_line_writes_nothing_of_curves() {
    let text = schema("1", "lower = 0\nupper = 2").to_toml();
    assert!(!text.contains("curve") && !text.contains("knots"), "{text}");
}

const SCALES: [&str; 5] = ["minus_one_to_one", "zero_to_one", "log", "none", "quantile"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// No row is longer than the schema says, in whatever order its squares are added; hats are not
    /// negative, at most two are not 0, and they sum to at most their length; between the first and
    /// the last knot they sum to it.
    #[test]
    fn no_row_is_longer_than_declared(
        (lower, width) in (-1e6..1e6_f64, 1e-3..1e9_f64),
        scale in 0..5_usize,
        knots in 1..12_usize,
        norm in prop_oneof![Just(1e-3), 0.01..3.0_f64],
        at in prop::collection::vec(prop_oneof![-0.1..1.1_f64, Just(0.0), Just(1.0)], 2),
        towns in prop::collection::vec(0..3_usize, 1),
    ) {
        let quantiles = if scale == 4 { format!("quantiles = [{}]", lower + width / 3.0) } else { String::new() };
        let column = |name: &str| format!(
            "[[column]]\nname = '{name}'\nkind = 'numeric'\nlower = {lower}\nupper = {}\nscale = '{}'\ncurve = {knots}\n{quantiles}\n",
            lower + width, SCALES[scale]);
        let town = "[[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']\n";
        let text = format!("row_norm = {norm}\n{}{town}{}", column("u"), column("v"));
        let schema: Schema = text.parse().unwrap();
        let csv = format!("u,town,v\n{},{},{}\n", lower + at[0] * width, ["A", "B", "C"][towns[0]], lower + at[1] * width);
        let table = parse_csv(csv.as_bytes(), "t.csv", &schema, b',', Purpose::Predict).unwrap();
        let row = table.rows.dense_row(0).to_vec();
        let bound = schema.row_norm();
        prop_assert!(row.iter().map(|v| v * v).sum::<f64>().sqrt() <= bound);
        prop_assert!(row.iter().rev().map(|v| v * v).sum::<f64>().sqrt() <= bound);
        let lines = [row[0], row[knots + 1], row[knots + 2], row[knots + 3]];
        prop_assert!(lines.iter().map(|v| v * v).sum::<f64>().sqrt() <= norm);
        for (from, column, x) in [(1, "u", at[0]), (knots + 4, "v", at[1])] {
            let hats = &row[from..from + knots];
            let sum: f64 = hats.iter().sum();
            prop_assert!(hats.iter().all(|hat| (0.0..=HAT).contains(hat)) && sum <= HAT * (1.0 + 1e-15));
            prop_assert!(hats.iter().filter(|hat| **hat != 0.0).count() <= 2);
            let found = schema.columns().iter().find(|c| c.name() == column).unwrap();
            let Role::Numeric(numeric) = found.role() else { unreachable!() };
            let place = numeric.place(lower + x * width);
            let (first, last) = (1.0 / (knots + 1) as f64, knots as f64 / (knots + 1) as f64);
            if (first..=last).contains(&place) {
                prop_assert!((sum - HAT).abs() < 1e-14, "{sum} at {place}");
            }
            // Hats and the line of the ends reproduce the line: Σ t_k hat_k + hat of the upper end.
            let inside: f64 = hats.iter().enumerate().map(|(k, hat)| (k + 1) as f64 * hat).sum();
            let upper = if place > last { (place - last) / (1.0 - last) } else { 0.0 };
            let line = inside / (HAT * (knots + 1) as f64) + upper;
            prop_assert!((line - place).abs() < 1e-12, "{line} {place}");
        }
    }

    /// There and back again, of every scale.
    #[test]
    fn a_place_is_a_number_and_a_number_a_place(lower in -1e3..1e3_f64, t in 0.0..1.0_f64, scale in 0..5_usize) {
        let quantiles = if scale == 4 { format!("\nquantiles = [{}, {}]", lower + 1.0, lower + 7.0) } else { String::new() };
        let text = format!("lower = {lower}\nupper = {}\nscale = '{}'\ncurve = 2{quantiles}", lower + 50.0, SCALES[scale]);
        let schema = schema("1", &text);
        let Role::Numeric(numeric) = schema.columns()[0].role() else { unreachable!() };
        prop_assert!((numeric.place(numeric.at_place(t)) - t).abs() < 1e-9);
        prop_assert!((numeric.encoded(numeric.at_place(t)) - numeric.on_line(t)).abs() < 1e-7);
    }
}

//! Categories with an order and pairs of columns: what a record becomes, and that no row is longer
//! than the schema says.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use reticent_data::{HAT, Purpose, Schema, parse_csv};

const COLUMNS: &str = "
    [[column]]\nname = 'grade'\nkind = 'categorical'\ncategories = ['a', 'b', 'c', 'd', 'e']\nordered = true
    [[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 100
    [[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B', 'C']
    [[column]]\nname = 'flag'\nkind = 'numeric'\nlower = 0\nupper = 1
    [[column]]\nname = 'day'\nkind = 'date'\nlower = '2020-01-01'\nupper = '2020-01-11'
    [[column]]\nname = 'y'\nkind = 'target'\nclasses = ['no', 'yes']\n";

fn schema(head: &str) -> Schema {
    format!("{head}\n{COLUMNS}").parse().unwrap()
}

fn row(schema: &Schema, fields: &str) -> Vec<f64> {
    let csv = format!("grade,x,town,flag,day,y\n{fields},no\n");
    let table = parse_csv(csv.as_bytes(), "t.csv", schema, b',', Purpose::Fit).unwrap();
    table.rows.dense_row(0).to_vec()
}

#[test]
fn an_order_is_a_line_and_hats_at_categories() {
    let usual = schema("row_norm = 9");
    assert_eq!(usual.encoded_names()[..2], ["grade", "grade@c"]);
    let fields = |grade: &str| format!("{grade},0,A,0,2020-01-01");
    assert_eq!(row(&usual, &fields("a"))[..2], [-1.0, 0.0]);
    assert_eq!(row(&usual, &fields("b"))[..2], [-0.5, 0.5 * HAT]);
    assert_eq!(row(&usual, &fields("c"))[..2], [0.0, HAT]);
    assert_eq!(row(&usual, &fields("e"))[..2], [1.0, 0.0]);
    // What is missing or unknown has neither line nor hat.
    for none in ["", "z"] {
        assert_eq!(row(&usual, &fields(none))[..2], [0.0, 0.0]);
    }
    let every = COLUMNS.replace("ordered = true", "ordered = true\ncurve = 3\nmissing = 'd'");
    let every: Schema = format!("row_norm = 9\n{every}").parse().unwrap();
    assert_eq!(every.encoded_names()[..4], ["grade", "grade@b", "grade@c", "grade@d"]);
    assert_eq!(row(&every, &fields("b"))[..4], [-0.5, HAT, 0.0, 0.0]);
    assert_eq!(row(&every, &fields(""))[..4], [0.5, 0.0, 0.0, HAT]);
    // R′² = R² + h²: an order with hats is a curved column.
    assert!((usual.row_norm() - 9_f64.hypot(HAT)).abs() < 1e-7 && usual.curved() == 1);
    for schema in [usual, every] {
        assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
        let json = serde_json::to_string(&schema).unwrap();
        assert_eq!(serde_json::from_str::<Schema>(&json).unwrap(), schema);
        assert_eq!(schema.clone().without_curves().curved(), 0);
    }
}

/// A job bends an order with the numbers, as far as there are categories between its ends; a column
/// that says how many itself is left alone.
#[test]
fn a_job_bends_an_order_as_far_as_it_goes() {
    let open = schema("row_norm = 9");
    // A flag is not open to it; a day is.
    assert_eq!((open.open_hats(2), open.open_hats(8), open.width()), (6, 19, 8));
    for knots in [0, 2, 8] {
        assert_eq!(open.width_with(knots), open.clone().with_curves(knots).unwrap().width());
    }
    let closed: Schema =
        format!("row_norm = 9\n{}", COLUMNS.replace("true", "true\ncurve = 0")).parse().unwrap();
    assert_eq!(closed.clone().with_curves(4).unwrap().width(), closed.width() + 8);
}

/// A histogram counts categories, whatever their order; a target has classes.
#[test]
fn questions_and_targets_see_categories() {
    let schema = schema("row_norm = 1\npairs = [['grade', 'x']]");
    let asked = schema.asking_about(&["grade"], None).unwrap();
    assert_eq!((asked.width(), asked.pairs().len()), (5, 0));
    let said = schema.with_roles(Some("grade"), None).unwrap_err().to_string();
    assert!(
        said.contains("the pair [`grade`, `x`]") && said.contains("`grade`, which is no feature"),
        "{said}"
    );
    assert!(schema.without_curves().with_roles(Some("grade"), None).is_ok());
}

#[test]
fn a_pair_has_the_products_of_its_columns() {
    let pairs = "row_norm = 9\npairs = [['x', 'day'], ['town', 'x'], ['flag', 'grade']]";
    let schema = schema(pairs);
    assert_eq!(
        schema.encoded_names()[8..],
        [
            "x*day",
            "x*day@middle",
            "x@middle*day",
            "x@middle*day@middle",
            "town=B*x",
            "town=B*x@middle",
            "town=C*x",
            "town=C*x@middle",
            "flag*grade",
            "flag*grade@middle"
        ]
    );
    // x is at a quarter (s = −½), the day at its middle, the grade at three quarters.
    let full = row(&schema, "d,25,C,1,2020-01-06");
    let wanted = [0.0, -0.5, 0.0, 0.5, 0.0, 0.0, -0.5, 0.5, 0.5, 0.5].map(|value: f64| HAT * value);
    assert_eq!(full[8..], wanted);
    // The first category is what the others are compared with; what is missing has no product.
    assert_eq!(row(&schema, "d,25,A,1,2020-01-06")[12..16], [0.0; 4]);
    assert_eq!(row(&schema, "d,,C,1,2020-01-06")[8..16], [0.0; 8]);
    assert_eq!(row(&schema, ",25,Z,1,")[8..], [0.0; 10]);
    assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
    // Names of a matrix are taken over by its pairs.
    let renamed = schema.clone().named(["g", "u", "t", "f", "d"]).unwrap();
    assert_eq!(renamed.pairs()[0], ["u", "d"]);
    assert_eq!(renamed.encoded_names()[8], "u*d");
    assert!((schema.row_norm() - 9_f64.hypot(HAT * 2.0)).abs() < 1e-7);
}

/// A record is encoded by itself: nothing of the one before it is left in its products.
#[test]
fn products_are_of_their_own_record() {
    let schema = schema("row_norm = 9\npairs = [['x', 'grade']]");
    let csv = "grade,x,town,flag,day,y\ne,100,A,0,2020-01-01,no\n,100,A,0,2020-01-01,no\ne,,A,0,2020-01-01,no\n";
    let table = parse_csv(csv.as_bytes(), "t.csv", &schema, b',', Purpose::Fit).unwrap();
    let products: Vec<Vec<f64>> = (0..3).map(|i| table.rows.dense_row(i)[8..].to_vec()).collect();
    assert_eq!(products, [[HAT, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]]);
}

#[test]
fn what_is_no_order_or_pair_is_refused() {
    let said = |head: &str, from: &str, to: &str| {
        let text = format!("{head}\n{}", COLUMNS.replace(from, to));
        text.parse::<Schema>().unwrap_err().to_string()
    };
    for (to, word) in [
        ("curve = 1", "without an order"),
        ("ordered = true\ncurve = 4", "0 to 3"),
        ("ordered = true\ncurve = -1", "curve = -1"),
        ("ordered = true\nknots = [1]", "`knots`"),
        ("ordered = 'yes'", "expected a boolean"),
    ] {
        let said = said("row_norm = 1", "ordered = true", to);
        assert!(said.contains(word), "{to}: {said}");
    }
    assert!(
        said("row_norm = 1", "'a', 'b', 'c', 'd', 'e'", "'a'").contains("two categories or more")
    );
    for (pairs, word) in [
        ("[['x']]", "1 columns; allowed: two"),
        ("[['x', 'x']]", "one column twice"),
        ("[['x', 'day'], ['day', 'x']]", "declared twice"),
        ("[['x', 'z']]", "no column `z`"),
        ("[['x', 'y']]", "`y`, which is no feature"),
        ("[['town', 'wide']]", "up to 256"),
    ] {
        let wide: Vec<String> = (0..200).map(|i| format!("'{i}'")).collect();
        let wide = format!(
            "[[column]]\nname = 'wide'\nkind = 'categorical'\ncategories = [{}]\n",
            wide.join(", ")
        );
        let text = format!("row_norm = 1\npairs = {pairs}\n{COLUMNS}{wide}");
        let said = text.parse::<Schema>().unwrap_err().to_string();
        assert!(said.contains(word), "{pairs}: {said}");
    }
}

const SCALES: [&str; 4] = ["minus_one_to_one", "zero_to_one", "log", "none"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No row is longer than R′, its lines and categories no longer than R, and the products of a pair
    /// no longer than h, wherever the values are.
    #[test]
    fn no_row_with_orders_and_pairs_is_longer_than_declared(
        (lower, width) in (-1e6..1e6_f64, 1e-3..1e9_f64),
        scale in 0..4_usize,
        knots in 0..4_i64,
        norm in prop_oneof![Just(1e-3), 0.01..3.0_f64],
        at in prop_oneof![-0.1..1.1_f64, Just(0.0), Just(0.5), Just(1.0)],
        (grade, town, flag, day) in (0..7_usize, 0..5_usize, 0..2_u8, 1..12_u8),
    ) {
        let bounds = format!("lower = {lower}\nupper = {}\nscale = '{}'", lower + width, SCALES[scale]);
        let columns = COLUMNS
            .replace("lower = 0\nupper = 100", &bounds)
            .replace("ordered = true", &format!("ordered = true\ncurve = {knots}"));
        let head = "pairs = [['x', 'day'], ['town', 'x'], ['flag', 'grade'], ['grade', 'town'], ['x', 'grade']]";
        let schema: Schema = format!("row_norm = {norm}\n{head}\n{columns}").parse().unwrap();
        let fields = format!("{},{},{},{flag},2020-01-{day:02}", ["a", "b", "c", "d", "e", "", "z"][grade],
            lower + at * width, ["A", "B", "C", "", "Z"][town]);
        let row = row(&schema, &fields);
        let length = |part: &[f64]| part.iter().map(|v| v * v).sum::<f64>().sqrt();
        prop_assert!(length(&row) <= schema.row_norm());
        prop_assert!(row.iter().rev().map(|v| v * v).sum::<f64>().sqrt() <= schema.row_norm());
        let own = 1 + knots as usize;
        let lines: Vec<f64> = row[..1].iter().chain(&row[own..own + 6]).copied().collect();
        prop_assert!(length(&lines) <= norm);
        for pair in schema.paired() {
            prop_assert!(length(&row[pair.first..][..pair.width()]) <= HAT * (1.0 + 1e-15));
        }
        prop_assert_eq!(row.len(), schema.width());
    }
}

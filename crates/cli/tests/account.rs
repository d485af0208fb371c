//! `account` and `calibrate` as a user types them, against figures that other packages gave for the
//! same events.

use assert_cmd::Command;
use serde_json::Value;

fn reticent(arguments: &str) -> (i32, Value) {
    let mut command = Command::cargo_bin("reticent").expect("the program is built");
    let output =
        command.args(arguments.split_whitespace()).arg("--json").output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("JSON is text");
    (
        output.status.code().expect("an exit code"),
        serde_json::from_str(&text).expect("one JSON object"),
    )
}

fn ends(bound: &Value) -> (f64, f64) {
    (bound["lower"].as_f64().expect("a number"), bound["upper"].as_f64().expect("a number"))
}

/// dp_accounting 0.6.0 has 6.1877 for it.
#[test]
fn sampled_noise_is_bounded_on_both_sides() {
    let (code, answer) = reticent(
        "account --event gaussian:z=1 --steps 10000 --sampling poisson:0.01 --delta 1e-5 --adjacency add-remove",
    );
    let (lower, upper) = ends(&answer["epsilon"]);
    assert_eq!(code, 0);
    assert!(
        lower <= 6.1877 && (6.1862..=6.1892).contains(&upper) && upper - lower <= 2e-3,
        "{lower} {upper}"
    );
    assert_eq!(answer["adjacency"], "add-remove");
    assert_eq!(answer["method"], "pld");
    let rdp = answer["all"].as_array().expect("a list").iter().find(|line| line["method"] == "rdp");
    let rdp = ends(&rdp.expect("it applies")["epsilon"]).1;
    assert!(rdp >= upper && rdp <= 6.72, "{rdp}");
}

#[test]
fn replacing_costs_twice_the_distance_of_removing() {
    for (adjacency, epsilon) in [("add-remove", 1.993), ("replace-one", 4.377)] {
        let (_, answer) =
            reticent(&format!("account --event gaussian:z=2 --adjacency {adjacency} --delta 1e-5"));
        let (lower, upper) = ends(&answer["epsilon"]);
        assert!(
            (lower - epsilon).abs() < 5e-4 && (upper - epsilon).abs() < 5e-4,
            "{lower} {upper}"
        );
    }
}

#[test]
fn delta_at_an_epsilon_goes_back_to_the_epsilon() {
    let (_, answer) =
        reticent("account --event gaussian:z=2 --adjacency add-remove --epsilon 1.9930914");
    let (lower, upper) = ends(&answer["delta"]);
    assert!(
        (lower / 1e-5 - 1.0).abs() < 1e-5 && (upper / 1e-5 - 1.0).abs() < 1e-5,
        "{lower} {upper}"
    );
}

/// Words and reasons were about the usual δ of 1e-5, whatever ε was asked about.
#[test]
fn the_words_of_a_delta_are_about_the_epsilon_asked() {
    let (_, answer) = reticent("account --event gaussian:z=2 --epsilon 1.5");
    let meaning = answer["meaning"].as_str().expect("a sentence");
    let delta = ends(&answer["delta"]).1;
    assert!(meaning.contains("e^1.5 = ") && meaning.contains(&format!("{delta:e}")), "{answer}");
    // 1e-5 has no epsilon here, and half has one.
    let (_, answer) = reticent("account --event approximate-dp:epsilon=1,delta=0.5 --epsilon 1");
    assert_eq!(
        (&answer["certified"], answer["reasons"].as_array().map(Vec::len)),
        (&true.into(), Some(0))
    );
}

/// A rate below δ: everything about whoever is drawn may be told.
#[test]
fn a_delta_above_the_sampling_rate_is_remarked_on() {
    for (rate, remarked) in [("1e-4", true), ("1e-2", false)] {
        let line = format!("calibrate --epsilon 1 --delta 1e-3 --sampling poisson:{rate}");
        let mut command = Command::cargo_bin("reticent").expect("the program is built");
        let output = command.args(line.split_whitespace()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!(said.contains("Choose a smaller delta, far below 1.0e-4"), remarked, "{said}");
    }
}

/// dp_accounting 0.6.0 has z = 3.813 for it.
#[test]
fn calibration_is_tight_and_never_overshoots() {
    let (code, answer) = reticent(
        "calibrate --epsilon 1 --delta 1e-5 --steps 10000 --sampling poisson:0.01 --adjacency add-remove",
    );
    let z = answer["noise_multiplier"].as_f64().expect("a number");
    assert_eq!(code, 0);
    assert!((z / 3.813 - 1.0).abs() < 2e-3, "{z}");
    assert!(ends(&answer["epsilon"]).1 <= 1.0);
}

#[test]
fn steps_and_rates_are_found_too() {
    let (_, answer) =
        reticent("calibrate --find steps --noise-multiplier 10 --epsilon 1 --delta 1e-5");
    let steps = answer["steps"].as_u64().expect("a number");
    let cost = |steps: u64| {
        let (_, answer) =
            reticent(&format!("account --event gaussian:z=10 --steps {steps} --delta 1e-5"));
        ends(&answer["epsilon"]).1
    };
    assert!(cost(steps) <= 1.0 && cost(steps + 1) > 1.0, "{steps}");

    let (_, answer) = reticent(
        "calibrate --find rate --noise-multiplier 1 --steps 100 --epsilon 1 --delta 1e-5 --adjacency add-remove",
    );
    let rate = answer["rate"].as_f64().expect("a number");
    assert!(rate > 0.0 && rate < 1.0 && ends(&answer["epsilon"]).1 <= 1.0, "{rate}");
}

#[test]
fn the_curve_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("curve.svg");
    let (code, _) =
        reticent(&format!("account --event gaussian:z=2 --steps 10 --plot {}", path.display()));
    let svg = std::fs::read_to_string(path).expect("it was written");
    assert_eq!(code, 0);
    assert!(
        svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("polyline")
    );
}

#[test]
fn what_cannot_be_counted_is_refused_in_words() {
    for (arguments, words) in [
        ("account --event gauss:z=1", "gauss"),
        ("account --event gaussian:z=0", "noise_multiplier"),
        ("account --event gaussian:z=1 --delta 0", "delta"),
        ("account --event gaussian:z=1 --delta 2", "delta"),
        ("account --event gaussian:z=1 --steps 0", "steps"),
        ("account --event gaussian:z=1 --sampling poisson:2", "rate"),
        ("account --event gaussian:z=1 --sampling wor:5", "wor:SIZE/POPULATION"),
        (
            "account --event gaussian:z=1 --sampling wor:5/10 --adjacency add-remove",
            "without-replacement",
        ),
        ("account --event gaussian:z=1 --epsilon -1", "epsilon"),
        ("account --ledger none.json", "none.json"),
        ("account", "--event"),
        ("calibrate --epsilon 1 --delta 1e-5 --find steps", "--noise-multiplier"),
    ] {
        let (code, answer) = reticent(arguments);
        assert_eq!(code, 2, "{arguments}");
        let said = format!("{} {}", answer["error"], answer["hint"]);
        assert!(said.contains(words), "{arguments}: {said}");
    }
}

#[test]
fn a_budget_that_nothing_fits_is_refused_as_a_budget() {
    let (code, answer) =
        reticent("calibrate --find steps --noise-multiplier 0.1 --epsilon 0.01 --delta 1e-9");
    assert_eq!(code, 3, "{answer}");
}

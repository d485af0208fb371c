//! Where bounds are decided no number is compared as it is: a comparison loses what is not a
//! number.
//!
//! (`f64::max`, `f64::min` and `f64::clamp`, which lose it too, are forbidden by `clippy.toml`.)

#![allow(clippy::unwrap_used)]

/// The files that decide. The others plan (a step that is badly chosen costs precision), choose a
/// formula, or hand their numbers on to these, NaN and all.
const DECIDE: [&str; 10] = [
    "account.rs",
    "calibrate.rs",
    "charge.rs",
    "filter.rs",
    "methods.rs",
    "pld/mod.rs",
    "pld/tail.rs",
    "events/selection.rs",
    "bound.rs",
    "tally.rs",
];

/// What marks a line on which a comparison decides nothing, or is on the safe side for NaN; it says
/// why.
const MARK: &str = "// plain: ";

fn raw(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    [" < ", " <= ", " > ", " >= "].iter().any(|sign| code.contains(sign))
}

#[test]
fn no_raw_comparison_decides_a_bound() {
    let mut found = Vec::new();
    for file in DECIDE {
        let path = format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let mut marked = false;
        for (number, line) in code.lines().enumerate() {
            if raw(line) && !marked && !line.contains(MARK) {
                found.push(format!("{file}:{}: {}", number + 1, line.trim()));
            }
            marked = line.trim_start().starts_with(MARK);
        }
    }
    assert!(
        found.is_empty(),
        "compare ends of bounds (src/outward.rs) instead:\n{}",
        found.join("\n")
    );
}

#[test]
fn the_search_finds_what_it_looks_for() {
    assert!(raw("if upper <= target {") && raw("a > b"));
    assert!(!raw("fn of() -> Vec<f64> {") && !raw("x => y, // a < b") && !raw("/// a < b"));
}

//! The example runs to its end.

#[path = "../examples/audit.rs"]
mod audit;

#[test]
fn audit() {
    audit::main().expect("it runs");
}

//! The command line of Reticent.
fn main() {}

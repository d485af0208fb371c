//! A new way to look at the data cannot be added outside the gate's crate.

use reticent_oracle::queries::Query;

struct Everything;

impl Query for Everything {}

fn main() {}

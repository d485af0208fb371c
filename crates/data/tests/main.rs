//! One program of all test files of this crate: each would be linked by itself.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

/// A schema of the columns that most tests have, by their names, and of others as they are written.
macro_rules! schema {
    (@ age) => { "[[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100\n" };
    (@ town) => { "[[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']\n" };
    (@ who) => { "[[column]]\nname = 'who'\nkind = 'user'\n" };
    (@ note) => { "[[column]]\nname = 'note'\nkind = 'ignored'\n" };
    (@ ill) => { "[[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n" };
    (@ $own:literal) => { concat!("[[column]]\n", $own, "\n") };
    ($norm:literal; $($column:tt)*) => {
        concat!("row_norm = ", $norm, "\n", $(schema!(@ $column)),*)
    };
}

mod archive;
mod arrow;
mod bad_input;
mod byte_flips;
mod curves;
mod dataset;
mod digits;
mod drafts;
mod formats;
mod kept;
mod nothing_lost;
mod own_record;
mod parallel;
mod parquet;
mod persons;
mod real_files;
mod round_trip;
mod shapes;
mod weights;

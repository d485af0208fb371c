//! A budget that cannot be.

use super::case::{Case, case};

pub const CASES: &[Case] = &[
    // The budget.
    case(
        "fit good.csv GOOD --epsilon 0",
        "epsilon = 0: it must be a number above 0, for example 1.0",
    ),
    case(
        "fit good.csv GOOD --epsilon -1",
        "epsilon = -1: it must be a number above 0, for example 1.0",
    ),
    case(
        "fit good.csv GOOD --epsilon nan",
        "epsilon = NaN: it must be a number above 0, for example 1.0",
    ),
    case(
        "fit good.csv GOOD --epsilon inf",
        "epsilon = inf: it must be a number above 0, for example 1.0",
    ),
    case(
        "fit good.csv GOOD --epsilon much",
        "invalid value 'much' for '--epsilon <E>': this is not a number; write for example 1, 0.5 or 1e-5",
    ),
    case(
        "fit none.csv GOOD --delta 0",
        "delta = 0: epsilon would have to hold without exception, and auto as it is set has noise for which none does; …",
    ),
    case(
        "fit none.csv GOOD --delta 0 --algorithm amp",
        "delta = 0: epsilon would have to hold without exception, and amp as it is set has noise for which none does; …",
    ),
    case(
        "fit none.csv GOOD --delta 0 --tune clip=[1,2]",
        "delta = 0: epsilon would have to hold without exception, …",
    ),
    case("fit none.csv GOOD --delta -1", "delta = -1: it must be at least 0 and less than 1, …"),
    case(
        "fit none.csv GOOD --delta 1",
        "delta = 1: it must be at least 0 and less than 1, for example 1e-5; …",
    ),
    case(
        "fit good.csv --schema schema.toml --target ill",
        "the budget is missing: say how much may be spent, with --epsilon E (and --delta D)",
    ),
    Case {
        line: "fit good.csv GOOD --epsilon 1e-12 --delta 1e-200",
        message: "the budget does not allow this: no noise multiplier brings epsilon to …",
        code: 3,
    },
    case(
        "fit good.csv GOOD --adjacency add-remove",
        "a public number of records is missing: add-remove keeps the true number private: give an estimate …",
    ),
    case(
        "fit good.csv GOOD --adjacency replace-two",
        "invalid value 'replace-two' for '--adjacency <ADJACENCY>' [possible values: replace-one, add-remove]",
    ),
    case(
        "fit none.csv GOOD --unit user",
        "unit = user: it needs a column that says whose record each row is: give --user-column NAME, …",
    ),
    case(
        "fit none.csv GOOD --adjacency add-remove --public-n -5",
        "invalid value '-5' for '--public-n <N>': a whole number from 0 is needed, for example 5",
    ),
    case(
        "fit none.csv GOOD --seed abc",
        "invalid value 'abc' for '--seed <N>': a whole number from 0 is needed, for example 5",
    ),
    case(
        "fit none.csv GOOD --epsilon 1 --epsilon 2",
        "the argument '--epsilon <E>' cannot be used multiple times",
    ),
];

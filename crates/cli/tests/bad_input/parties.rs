//! Runs between parties that cannot be.

use super::case::{Case, case};

pub const CASES: &[Case] = &[
    // Between parties, found out without the table.
    case("simulate none.toml", "cannot read the job file none.toml: no such file"),
    case(
        "simulate nohead.csv",
        "nohead.csv is not a job file: line 1: key with no value, expected `=`",
    ),
    case(
        "simulate --data none.csv GOOD",
        "who the parties are is missing: set --split N (number of parties), --parties-from COLUMN (party of each row) or --users-from COLUMN (one party per user)",
    ),
    case("simulate --data none.csv GOOD --split 0", "split = 0: at least one party is needed"),
    case(
        "simulate --data none.csv GOOD --split 1000000000",
        "split = 1000000000: at most 10000000 parties are run in one process; give fewer",
    ),
    case(
        "simulate --data good.csv GOOD --split 41",
        "split = 41: every party needs a record, and the table has 40 records; give fewer parties",
    ),
    case(
        "simulate --data none.csv GOOD --split -1",
        "invalid value '-1' for '--split <N>': a whole number from 0 is needed, for example 5",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --skew upwards",
        "skew = upwards: use iid, label:A with 0 ≤ A ≤ 1, size:A with 0 ≤ A ≤ 10",
    ),
    case(
        "simulate --data none.csv GOOD --users-from town --skew iid",
        "skew = iid: it says how records are dealt to the parties of --split N; a party for each user has its own",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --user-column town",
        "user-column = town: records are dealt to the parties of a split one by one, so that the rows of a person are not kept together and cannot be protected; …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --unit user",
        "split = 9: a share of the records is no person, and who has which would follow from how many rows others have; …",
    ),
    case(
        "simulate --data none.csv GOOD --users-from town --algorithm r-admm --party-rho 1,2",
        "party-rho = 1,2: each party is a person here, and who has which number is drawn and told to nobody, so that nothing can be said of one; …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --topology ring",
        "topology = ring: auto has no graph of the parties; leave it out, or use r-admm",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm r-admm --topology circle",
        "topology = circle: there are complete, ring, grid, star, …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm r-admm --topology file:none.txt",
        "cannot read the graph of the parties none.txt: no such file",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm r-admm --party-rho 1,2",
        "party-rho = 1,2: there are 9 parties, and one number for each is needed: 2 are given",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm r-admm --party-noise 1,0",
        "party-noise = 1,0: one number above 0 for each party is needed, with commas between: 0.5,1,2",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --node-models nodes",
        "what a party keeps in this algorithm is its secret: there are no models of single parties",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --fail after=2",
        "after = 2: a chance from 0 to 1 is needed",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --fail after",
        "invalid value 'after' for '--fail <LIST>': NAME=CHANCE is needed, as in after=0.1",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm federated --radius 1",
        "radius = 1: federated has no such setting; it takes iterations, …",
    ),
    case(
        "simulate --data none.csv GOOD --users-from town --radius 1",
        "radius = 1: federated has no such setting; it takes iterations, …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --iterations 0",
        "iterations = 0: a whole number of at least 1 is needed",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --trust network",
        "trust = network: federated has a guarantee for local, secure-aggregation, central only",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm exact",
        "algorithm = exact: `reticent fit` runs it on one table; between parties there are federated, …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm ssadmm --trust network",
        "trust = network: ssadmm asks a server, which peers have none of; …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm auto --honest 0.9",
        "honest = 0.9: it is for --trust secure-aggregation; …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm consensus --trust central",
        "algorithm = consensus: it asks for more than sums over records, …",
    ),
    // It named `central`, which is refused too.
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm consensus --trust local",
        "algorithm = consensus: it asks for more than sums over records, …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm consensus --trust network",
        "algorithm = consensus: it asks for more than sums over records, …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --public-n 40",
        "public-n = 40: it is for add-remove; under replace-one the number of records is public; leave it out",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm federated --public-n 40",
        "public-n = 40: it is for add-remove, and between parties there is replace-one only; leave it out",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm auto --fail after=0.1",
        "fail = given: where every answer is seen a run on sums ends where a party does: …",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --algorithm auto --trust secure-aggregation --fail delay=0.1",
        "fail = given: a message that comes a round late is lost here, because its sum is over; …",
    ),
    case("simulate --data none.csv GOOD --split 9 --party 9", "there is no party 9"),
    case(
        "simulate --data none.csv GOOD --split 9 --out good.csv",
        "cannot write good.csv: good.csv is a file, and a folder is needed; nothing was left behind",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --checkpoint good.csv/run",
        "cannot write good.csv: good.csv is a file, and a folder is needed; nothing was left behind",
    ),
    case(
        "simulate --data none.csv GOOD --split 9 --checkpoint good.csv --resume",
        "good.csv: not a checkpoint of this version",
    ),
    case(
        "mean none.csv --schema schema.toml --column age --epsilon 1 --delta 1e-5 --split 3 --trust network",
        "trust = network: a question asks a server, which peers have none of; …",
    ),
    case(
        "count good.csv --schema schema.toml --epsilon 1 --delta 1e-5 --trust central",
        "adjacency = add-remove: who takes part is public, and here it follows from the rows, …",
    ),
    case(
        "mean good.csv --schema schema.toml --column age --epsilon 1 --delta 1e-5 --trust central --split 3 --party-budget a",
        "party-budget = a: there are 3 parties; give a file for each, or one name with {} for the number",
    ),
    case(
        "simulate --data good.csv GOOD --split 3 --algorithm federated --party-budget none-{}.budget",
        "party 0: there is no budget none-0.budget",
    ),
    case(
        "simulate --data good.csv GOOD --split 3 --party-budget none-{}.budget --checkpoint c",
        "checkpoint = c: a run whose parties pay each from a budget of its own cannot go on after a crash: …",
    ),
];

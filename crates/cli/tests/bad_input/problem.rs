//! Problems and settings that cannot be.

use super::case::{Case, case};

pub const CASES: &[Case] = &[
    // The problem and the algorithm.
    case(
        "fit good.csv GOOD --iterations 0",
        "iterations = 0: a whole number of at least 1 is needed",
    ),
    case(
        "fit good.csv GOOD --iterations some",
        "iterations = some: a whole number of at least 1 is needed",
    ),
    case(
        "fit good.csv GOOD --iterations 10000000000",
        "iterations = 10000000000: at most 100000000: …",
    ),
    case(
        "fit good.csv GOOD --algorithm ssadm",
        "algorithm = ssadm: did you mean `ssadmm`? there are auto, exact, …",
    ),
    case(
        "fit good.csv GOOD --loss logstic",
        "there is no loss called `logstic` (did you mean `logistic`?); the loss is one of: logistic, …",
    ),
    case("fit good.csv GOOD --penalty l3:1", "there is no penalty called `l3` …"),
    case(
        "fit good.csv GOOD --penalty l1:-1",
        "lambda of `l1` is -1; it must be a finite number ≥ 0",
    ),
    case(
        "fit good.csv GOOD --loss squared",
        "loss = squared: it predicts a number, the target is two classes; use logistic",
    ),
    case(
        "fit good.csv GOOD --sampling wor:1000",
        "sampling = wor:1000: there are 40 records; use wor:SIZE with SIZE of at most that",
    ),
    case("fit good.csv GOOD --clip 0", "clip = 0: a number above 0 is needed"),
    case(
        "fit good.csv GOOD --algorithm dp-sgd --as-published",
        "as-published = true: dp-sgd has no such setting: there is no published version of it with a claim that \
         does not hold; these have one: …",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule blocks:0",
        "schedule = blocks:0: use all, permutation, single, blocks:M with M ≥ 1",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule blocks:41",
        "schedule = blocks:41: there are 40 blocks, a record or user each; use blocks:M with M of at most that",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule single --sampling poisson:0.5",
        "sampling = poisson:0.5: with a schedule of blocks, or as published, the mean is over all blocks and …",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule single --adjacency add-remove --public-n 40",
        "schedule = single: blocks that move at different times tell how many there are, which add-remove keeps \
         private; …",
    ),
    // What an algorithm cannot do, found out without the table: there is none.
    case("fit none.csv GOOD --algorithm ssadmm --rho 0", "rho = 0: a number above 0 is needed"),
    case("fit none.csv GOOD --algorithm sadmm --beta -1", "rho = -1: a number above 0 is needed"),
    case("fit none.csv GOOD --algorithm sadmm --gamma 0", "gamma = 0: a number above 0 is needed"),
    case(
        "fit none.csv GOOD --algorithm general --gamma -2",
        "gamma = -2: a number above 0 is needed",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --nu -1",
        "smoothing = -1: a finite number of at least 0 is needed; 0 is no smoothing",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --mu -1",
        "strong-convexity = -1: a number of at least 0 is needed",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --step constant:0",
        "step = constant:0: use constant:η, sqrt:η (η/√k), epoch:η (η over the epoch), with η > 0",
    ),
    case(
        "fit none.csv GOOD --algorithm general --lambda 1.5",
        "relaxation = 1.5: a number above 0 and at most 1 is needed",
    ),
    case(
        "fit none.csv GOOD --algorithm consensus --lambda 0",
        "relaxation = 0: a number above 0 and below 1 is needed; …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --penalty l1:inf",
        "lambda of `l1` is inf; it must be a finite number ≥ 0",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --constraint trend:3",
        "`trend:3` does not fit 3 features: it needs at least 5",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --constraint matrix:wide.txt",
        "`wide.txt`, line 2: `7` is no feature; a feature is given by name or by a number from 0 below 3",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph unknown.txt",
        "`unknown.txt`, line 2: `hieght` is no feature; a feature is given by name or by a number from 0 below 3",
    ),
    case(
        "fit none.svm --features 3 --row-norm 1 SVM --algorithm sadmm --graph zero.txt",
        "`zero.txt`, line 2: `0` is no feature; a feature is given by its name, and names are numbers here: 1 to 3",
    ),
    case(
        "fit none.csv GOOD --algorithm vradmm --mu 0.1 --constraint matrix:rank.txt",
        "constraint = matrix:rank.txt: in the strongly convex case vradmm needs a matrix A of full rank, and this one (2 × 3) has dependent rows and columns; …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --penalty scad:0.1",
        "penalty = scad:0.1,3.7: it is not convex, and sadmm converges for convex penalties only; …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --nu 1 --schema three.toml",
        "smoothing = 1: smoothing averages neighbouring features and is for one output; this model has 3 outputs (classes): use smoothing = 0",
    ),
    case(
        "fit none.csv GOOD --algorithm dp-cd --graph edges.txt",
        "constraint = graph:edges.txt: dp-cd handles only 'identity'; …",
    ),
    case(
        "fit none.csv GOOD --algorithm exact --graph private",
        "algorithm = exact: it has no privacy that could be measured or shared out; choose another one",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph private:2",
        "graph = private:2: lambda of a learned graph is on the scale of correlations: a number from 0 to below 1",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph private --graph-share 1",
        "graph-share = 1: a share of the budget, above 0 and below 1",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph private --graph-edges 0",
        "graph-edges = 0: a graph without edges needs no learning: leave it out",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph-edges 5",
        "graph-edges = 5: it is for a graph that is learned: give --graph private beside it, or leave it out",
    ),
    case(
        "fit none.csv GOOD --calibrate 1",
        "calibrate = 1: a share of the budget, above 0 and below 1",
    ),
    case(
        "fit none.csv GOOD --calibrate 0.1 --loss hinge",
        "calibrate = 0.1: there is none for the loss hinge; leave it out, or use logistic for two classes",
    ),
    case("fit none.csv GOOD --curves many", "invalid value 'many' for '--curves …"),
    case(
        "fit none.csv GOOD --curves 999",
        "column `age` has curve = 999; allowed: a number of knots from 0 to 256",
    ),
    case(
        "fit none.csv GOOD --curves auto",
        "a public number of records is missing: --curves auto goes by it, or by that of persons where these are protected: …",
    ),
    case(
        "fit none.csv GOOD --curves auto --public-n 60 --tune iterations=[2,3]",
        "curves = auto: each of several runs has a part of the budget alone; give a number of knots beside --tune",
    ),
    case(
        "fit none.csv GOOD --standard-errors 1",
        "standard-errors = 1: a share of the budget, above 0 and below 1",
    ),
    case(
        "fit none.csv GOOD --standard-errors 0.2 --loss hinge",
        "standard-errors = 0.2: there are none for the loss hinge yet; leave them out, or use logistic for two classes and squared for a number",
    ),
    case(
        "fit none.csv GOOD --class-weight balanced",
        "class-weight = balanced: the shares of the classes are private: …",
    ),
    case(
        "fit none.csv GOOD --class-weight a:1",
        "class-weight = a:1: one number for each class is needed: …",
    ),
    case(
        "fit none.csv GOOD --class-weight heavy",
        "class-weight = heavy: balanced, or a number for each class is needed, as CLASS:NUMBER,CLASS:NUMBER",
    ),
    case(
        "fit none.csv GOOD --class-weight no:1,yes:0",
        "class-weight = 0: a weight between 1e-6 and 1e6 is needed for every class",
    ),
    case(
        "fit none.csv GOOD --trace run.csv --tune clip=[0.5,1]",
        "trace = a choice: of a choice among several runs only the best is released; trace a fit without --tune",
    ),
    case(
        "fit none.csv GOOD --trace run.csv --algorithm exact",
        "trace = exact: it has no noise, and nothing is released iteration by iteration; choose another algorithm",
    ),
    case(
        "fit none.csv GOOD --tune penalty=l1:[1e-4]",
        "tune = penalty=l1:[1e-4]: a grid of one leaves nothing to choose, and choosing costs budget: give --penalty l1:1e-4 itself, or more values",
    ),
    case(
        "fit none.csv GOOD --tune penalty=l1:1e-4",
        "tune = penalty=l1:1e-4: write it as name=[value,value,…] or name=before[value,value,…]after, for example 'penalty=l1:[1e-5,1e-4,1e-3]'",
    ),
    case(
        "fit none.csv GOOD --tune epsilon=[1,2]",
        "tune = epsilon=[1,2]: what can be tuned is algorithm, penalty, constraint, iterations, …",
    ),
    case("fit none.csv GOOD --tune clip=[1,0]", "clip = 0: a number above 0 is needed"),
    case(
        "fit none.csv GOOD --tune clip=[1,2] --clip 1",
        "tune = clip=[1,2]: clip is given as well; leave out --clip or the list",
    ),
    case(
        "fit none.csv GOOD --tune clip=[1,2] --tune-runs 0",
        "tune-runs = 0: a whole number from 1 to 1000000 is needed",
    ),
    case(
        "fit none.csv GOOD --tune clip=[1,2] --tune-mode grid",
        "tune-mode = grid: there is only 'random': every point of an ordinary grid is a fit of its own on the private data and spends the budget again, …",
    ),
    case(
        "fit none.csv GOOD --penalty l1:[1e-5,1e-4]",
        "penalty = l1:[1e-5,1e-4]: one value is needed, not a list: every point of an ordinary grid …",
    ),
    case(
        "fit none.csv GOOD --clip [1,2]",
        "clip = [1,2]: one value is needed, not a list: every point of an ordinary grid …",
    ),
    case(
        "fit none.csv GOOD --spec lists.toml",
        "lists.toml is not a job file: clip = [1, 2]: one value is needed, not a list: every point …",
    ),
    case(
        "fit none.csv GOOD --loss multinomial",
        "loss = multinomial: it predicts more than two classes, the target is two classes; use logistic",
    ),
    case(
        "fit none.csv GOOD --algorithm federated",
        "algorithm = federated: `reticent simulate` runs it between parties; here there are auto, exact, …",
    ),
    case(
        "fit none.csv GOOD --algorithm dp-sgd --rho 1",
        "rho = 1: dp-sgd has no such setting; it takes iterations, sampling, clip, clip_share, step, momentum, average, precondition, shrinkage; …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --precondition 0.1 --nu 2",
        "precondition = 0.1: steps in coordinates of their own have no smoothing; leave one of the two out",
    ),
    case(
        "fit none.csv GOOD --algorithm ssadmm --precondition 1",
        "precondition = 1: a number from 0 to below 1 is needed",
    ),
    case(
        "fit none.csv GOOD --algorithm ssadmm --precondition 1e-300",
        "precondition = 1e-300: 0, or a part of at least 1e-6, is needed",
    ),
    case(
        "fit none.svm --features 5000 --row-norm 1 SVM --algorithm dp-sgd --precondition 0.1",
        "precondition = 0.1: coordinates of their own are for at most 4096 columns, the intercept among them, and there are \
         5001; leave it out",
    ),
    case(
        "fit none.svm --features 3 --row-norm 1e60 SVM --algorithm sadmm --precondition 0.1",
        "precondition = 0.1: coordinates of their own are for rows of a norm from 1e-50 to 1e50, …",
    ),
    case(
        "fit none.csv GOOD --algorithm consensus --precondition 0.1",
        "precondition = 0.1: consensus has no such setting; it takes …",
    ),
    case(
        "fit none.csv GOOD --algorithm amp --schema three.toml",
        "law = normal: it is proven to be private for a model with one output, and this one has 3: use spherical-laplace, …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph none.txt",
        "cannot read `none.txt`: no such file",
    ),
    case(
        "fit none.csv GOOD --sampling wor:1000 --adjacency add-remove --public-n 100",
        "sampling = wor:1000: there are 100 records; use wor:SIZE with SIZE of at most that",
    ),
];

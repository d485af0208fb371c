//! SQL: a SELECT that scores a table where it is, in the words that SQLite, PostgreSQL and DuckDB
//! share. A missing value is NULL or one of the missing tokens. Four steps, each a part of a WITH:
//! read, encode, add up, scale.

use super::SqlNames;
use super::pair::{ExportPair, PairMember};
use super::plan::{Category, ExportPlan, Number, PredictedOutcome};

/// Beyond this an exponential is 0 to every digit that is shown, and some databases refuse it.
const FAR: &str = "700e0";

pub(super) fn write(plan: &ExportPlan, names: &SqlNames) -> String {
    let keep: Vec<String> = names.keep.iter().map(|name| identifier(name)).collect();
    let categories = plan.categories.len();
    let step = |more: Vec<String>| [keep.clone(), more].concat().join(",\n    ");
    let read = step(
        plan.numbers
            .iter()
            .enumerate()
            .map(|(i, number)| format!("{} AS {}", read_number(plan, number), inner('n', i)))
            .chain(plan.categories.iter().enumerate().map(|(i, category)| {
                format!("{} AS {}", read_category(plan, category), inner('c', i))
            }))
            .collect(),
    );
    let encoded = step(
        plan.numbers
            .iter()
            .enumerate()
            .map(|(i, number)| format!("{} AS {}", encode(number, &inner('n', i)), inner('n', i)))
            .chain(told_missing(plan).map(|i| {
                let x = inner('n', i);
                format!("CASE WHEN {x} IS NULL THEN 1 ELSE 0 END AS {}", inner('m', i))
            }))
            .chain((0..categories).map(|i| inner('c', i)))
            .collect(),
    );
    let sums = (0..plan.outputs()).map(|k| format!("{} AS {}", sum(plan, k), inner('s', k)));
    let is_bent = curved(plan).next().is_some()
        || plan.categories.iter().any(Category::is_bent)
        || !plan.pairs.is_empty();
    let bent = (0..plan.outputs()).filter(|_| is_bent);
    let bent = bent.map(|k| format!("{} AS {}", bends(plan, k), inner('b', k)));
    let square = format!("{} AS {}", square(plan), inner('q', 0));
    let added = step(sums.chain(bent).chain([square]).collect());
    let norm = plan.row_norm;
    let factor = format!(
        "CASE WHEN {q} > {} THEN {} / SQRT({q}) ELSE 1e0 END",
        literal(norm * norm),
        literal(norm),
        q = inner('q', 0)
    );
    let scale = |(k, b): (usize, &f64)| {
        let bent = if is_bent { format!(" + {}", inner('b', k)) } else { String::new() };
        format!("{0} * {factor}{bent} + {1} AS {0}", inner('s', k), literal(*b))
    };
    let scaled = step(plan.intercept.iter().enumerate().map(scale).collect());
    let (more, outcome) = outcome(plan, &keep);
    let table = table(&names.table);
    format!(
        "-- Written by reticent {}. Missing is NULL.\n\
         WITH reticent_read AS (\n  SELECT\n    {read}\n  FROM {table}\n),\n\
         reticent_encoded AS (\n  SELECT\n    {encoded}\n  FROM reticent_read\n),\n\
         reticent_added AS (\n  SELECT\n    {added}\n  FROM reticent_encoded\n),\n\
         reticent_scored AS (\n  SELECT\n    {scaled}\n  FROM reticent_added\n){more}\n\
         SELECT\n  {}\n{};\n",
        env!("CARGO_PKG_VERSION"),
        [keep, outcome.0].concat().join(",\n  "),
        outcome.1,
    )
}

/// The square of the norm of a row, hats left out.
fn square(plan: &ExportPlan) -> String {
    let numbers = (0..plan.numbers.len()).map(|i| format!("{0} * {0}", inner('n', i)));
    let category = |(i, category): (usize, &Category)| match &category.order {
        None => format!("CASE WHEN {} < 0 THEN 0e0 ELSE 1e0 END", inner('c', i)),
        Some(_) => by_category(category, i, |c| category.square(c)),
    };
    numbers
        .chain(plan.categories.iter().enumerate().map(category))
        .collect::<Vec<_>>()
        .join("\n      + ")
}

fn read_number(plan: &ExportPlan, number: &Number) -> String {
    let column = identifier(&number.name);
    let spelt = as_text(plan, &column);
    let tokens: Vec<String> = plan.tokens.iter().map(|token| text(token)).collect();
    let missing = match &tokens[..] {
        [] => format!("{column} IS NULL"),
        all => format!("{column} IS NULL OR {spelt} IN ({})", all.join(", ")),
    };
    // A column of numbers has no comma; some databases would read a text up to it.
    let comma = match plan.comma {
        true => format!(
            " WHEN {spelt} LIKE '%,%' THEN CAST(REPLACE({spelt}, ',', '.') AS DOUBLE PRECISION)"
        ),
        false => String::new(),
    };
    format!("CASE WHEN {missing} THEN NULL{comma} ELSE CAST({column} AS DOUBLE PRECISION) END")
}

fn read_category(plan: &ExportPlan, category: &Category) -> String {
    let column = identifier(&category.name);
    let at = |i: Option<usize>| i.map_or("-1".to_owned(), |i| i.to_string());
    let words =
        category.words.iter().map(|(word, i)| format!("WHEN {} THEN {}", text(word), at(*i)));
    format!(
        "CASE WHEN {column} IS NULL THEN {} ELSE CASE {} {} ELSE {} END END",
        at(category.missing),
        as_text(plan, &column),
        words.collect::<Vec<_>>().join(" "),
        at(category.unknown)
    )
}

fn as_text(plan: &ExportPlan, column: &str) -> String {
    let cast = format!("CAST({column} AS VARCHAR)");
    if plan.trim { format!("TRIM({cast})") } else { cast }
}

fn encode(number: &Number, x: &str) -> String {
    let Number { low, high, start, end, mirror, width, log, missing, .. } = number;
    let at = |x: f64| match log {
        true => (x - start).ln_1p() / width,
        false => ((x - start) - mirror * (end - x)) / width,
    };
    let inside = match (*mirror == 1.0, *width == 1.0 && *start == 0.0) {
        _ if *log => format!("LN(1e0 + ({x} - {})) / {}", literal(*start), literal(*width)),
        (true, _) => {
            format!(
                "(({x} - {}) - ({} - {x})) / {}",
                literal(*start),
                literal(*end),
                literal(*width)
            )
        }
        (false, true) => x.to_owned(),
        (false, false) => format!("({x} - {}) / {}", literal(*start), literal(*width)),
    };
    let mut cases = format!("WHEN {x} IS NULL THEN {}", literal(*missing));
    if low.is_finite() && high.is_finite() {
        cases += &format!(" WHEN {x} <= {} THEN {}", literal(*low), literal(at(*low)));
        cases += &format!(" WHEN {x} >= {} THEN {}", literal(*high), literal(at(*high)));
    }
    format!("CASE {cases} ELSE {inside} END")
}

fn sum(plan: &ExportPlan, k: usize) -> String {
    let numbers = plan.numbers.iter().enumerate();
    let categories = plan.categories.iter().enumerate();
    let category =
        |(i, category): (usize, &Category)| by_category(category, i, |c| category.score(c, k));
    numbers
        .map(|(i, number)| format!("{} * {}", literal(number.weights[k]), inner('n', i)))
        .chain(categories.map(category))
        .collect::<Vec<_>>()
        .join("\n      + ")
}

/// A number for each category of column `i`, and 0 for none.
fn by_category(category: &Category, i: usize, value: impl Fn(usize) -> f64) -> String {
    let cases = (0..category.names.len()).map(|c| format!("WHEN {c} THEN {}", literal(value(c))));
    format!("CASE {} {} ELSE 0e0 END", inner('c', i), cases.collect::<Vec<_>>().join(" "))
}

/// The numbers that have hats.
fn curved(plan: &ExportPlan) -> impl Iterator<Item = (usize, &Number)> {
    plan.numbers.iter().enumerate().filter(|(_, number)| !number.hats.is_empty())
}

/// Weights times hats: of each number a function that is straight between its knots, of categories
/// with an order a number each.
fn bends(plan: &ExportPlan, k: usize) -> String {
    let bend = |(i, number): (usize, &Number)| {
        let (x, mut before) = (inner('n', i), (number.hats[0].from, 0.0));
        let last = number.hats.last().map(|hat| (hat.to, 0.0));
        let mut cases = format!("WHEN {} = 1 THEN 0e0", inner('m', i));
        for after in number.hats.iter().map(|hat| (hat.top, hat.weights[k])).chain(last) {
            let ((from, low), (to, high)) = (before, after);
            let along = format!("({x} - {}) / {}", literal(from), literal(to - from));
            let rise = format!("{} + {} * {along}", literal(low), literal(high - low));
            cases += &format!(" WHEN {x} <= {} THEN {rise}", literal(to));
            before = after;
        }
        format!("CASE {cases} ELSE 0e0 END")
    };
    let bent = plan.categories.iter().enumerate().filter(|(_, category)| category.is_bent());
    let bent = bent.map(|(i, category)| by_category(category, i, |c| category.bend(c, k)));
    let products = plan.pairs.iter().map(|pair| products(pair, k));
    curved(plan).map(bend).chain(bent).chain(products).collect::<Vec<_>>().join("\n      + ")
}

/// The numbers of which it matters that they are missing: with hats, or in a pair.
fn told_missing(plan: &ExportPlan) -> impl Iterator<Item = usize> {
    let in_pair = |i: usize| {
        let mut members = plan.pairs.iter().flat_map(|pair| &pair.members);
        members.any(|member| matches!(member, PairMember::Number { at, .. } if *at == i))
    };
    let numbers = plan.numbers.iter().enumerate();
    numbers.filter(move |(i, number)| !number.hats.is_empty() || in_pair(*i)).map(|(i, _)| i)
}

/// Weights times the products of a pair.
fn products(pair: &ExportPair, k: usize) -> String {
    let weights = pair.of_output(k);
    let [one, other] = &pair.members;
    let all = combined(one, &weights, &|weights| {
        let cells: Vec<Vec<f64>> = weights.iter().map(|weight| vec![*weight]).collect();
        combined(other, &cells, &|weight| literal(weight[0]))
    });
    let missing = pair.members.iter().filter_map(|member| match member {
        PairMember::Number { at, .. } => Some(format!("{} = 1", inner('m', *at))),
        PairMember::Category { .. } => None,
    });
    match missing.collect::<Vec<_>>().join(" OR ") {
        none if none.is_empty() => all,
        missing => format!("CASE WHEN {missing} THEN 0e0 ELSE {all} END"),
    }
}

/// The functions of a column times what `rest` makes of a row of weights for each.
fn combined(member: &PairMember, rows: &[Vec<f64>], rest: &dyn Fn(&[f64]) -> String) -> String {
    match member {
        PairMember::Number { at, slope, shift, bends } => {
            let s = format!("({} * {} + {})", literal(*slope), inner('n', *at), literal(*shift));
            match bends {
                false => format!("({s} * {})", rest(&rows[0])),
                true => {
                    format!("({s} * {} + (1e0 - ABS({s})) * {})", rest(&rows[0]), rest(&rows[1]))
                }
            }
        }
        PairMember::Category { at, functions } => {
            let of = |own: &Vec<f64>| -> Vec<f64> {
                let sum = |j: usize| own.iter().zip(rows).map(|(u, row)| u * row[j]).sum();
                (0..rows[0].len()).map(sum).collect()
            };
            let numbered = functions.iter().enumerate();
            let cases = numbered.map(|(i, own)| format!("WHEN {i} THEN {}", rest(&of(own))));
            let cases = cases.collect::<Vec<_>>().join(" ");
            format!("CASE {} {cases} ELSE 0e0 END", inner('c', *at))
        }
    }
}

/// A further step, and what is selected from where.
fn outcome(plan: &ExportPlan, keep: &[String]) -> (String, (Vec<String>, String)) {
    let from = "FROM reticent_scored".to_owned();
    let s = |k: usize| inner('s', k);
    let classes = match &plan.outcome {
        PredictedOutcome::Number { lower, upper, .. } => {
            return (String::new(), (vec![clipped_number(*lower, *upper)], from));
        }
        PredictedOutcome::Probabilities { classes, .. }
        | PredictedOutcome::Margin { classes, .. } => classes,
    };
    let scores: Vec<String> = if plan.outputs() == 1 {
        vec!["0e0".to_owned(), s(0)]
    } else {
        (0..classes.len()).map(s).collect()
    };
    let class = format!("{} AS \"prediction\"", best(&scores, |k| text(&classes[k])));
    if matches!(plan.outcome, PredictedOutcome::Margin { .. }) {
        let score = format!("{} AS {}", s(0), identifier(&format!("score of {}", classes[1])));
        return (String::new(), (vec![class, score], from));
    }
    let all = |more: Vec<String>| [keep.to_vec(), more].concat().join(",\n    ");
    let outputs = || (0..plan.outputs()).map(s);
    let top = format!("{} AS {}", best(&scores, |k| scores[k].clone()), inner('t', 0));
    let lifted = all(outputs().chain([top]).collect());
    let weight = |(k, score): (usize, &String)| {
        let below = format!("({score} - {})", inner('t', 0));
        format!("CASE WHEN {below} < -{FAR} THEN 0e0 ELSE EXP{below} END AS {}", inner('e', k))
    };
    let weights = all(outputs().chain(scores.iter().enumerate().map(weight)).collect());
    let more = format!(
        ",\nreticent_lifted AS (\n  SELECT\n    {lifted}\n  FROM reticent_scored\n),\n\
         reticent_weighed AS (\n  SELECT\n    {weights}\n  FROM reticent_lifted\n)"
    );
    let selected = std::iter::once(class).chain(shares(classes)).collect();
    (more, (selected, "FROM reticent_weighed".to_owned()))
}

fn clipped_number(lower: f64, upper: f64) -> String {
    let (score, low, high) = (inner('s', 0), literal(lower), literal(upper));
    let number = format!("{low} + ({score} + 1e0) / 2e0 * {}", literal(upper - lower));
    format!(
        "CASE WHEN {score} <= -1e0 THEN {low} WHEN {score} >= 1e0 THEN {high} ELSE {number} END AS \"prediction\""
    )
}

/// `then` of the first of those that no other exceeds.
fn best(scores: &[String], then: impl Fn(usize) -> String) -> String {
    let last = scores.len() - 1;
    let case = |k: usize| {
        let others = scores.iter().enumerate().filter(|(j, _)| *j != k);
        let all: Vec<_> = others.map(|(_, other)| format!("{} >= {other}", scores[k])).collect();
        format!("WHEN {} THEN {}", all.join(" AND "), then(k))
    };
    let cases: Vec<_> = (0..last).map(case).collect();
    format!("CASE {} ELSE {} END", cases.join(" "), then(last))
}

/// Each class's weight over all of them.
fn shares(classes: &[String]) -> impl Iterator<Item = String> {
    let total: Vec<String> = (0..classes.len()).map(|k| inner('e', k)).collect();
    let total = total.join(" + ");
    classes.iter().enumerate().map(move |(k, class)| {
        let name = identifier(&format!("probability of {class}"));
        format!("{} / ({total}) AS {name}", inner('e', k))
    })
}

fn inner(kind: char, i: usize) -> String {
    format!("reticent_{kind}{i}")
}

/// With an exponent, so that it is a floating-point number everywhere.
fn literal(value: f64) -> String {
    if value < 0.0 { format!("({value:e})") } else { format!("{value:e}") }
}

fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(word: &str) -> String {
    format!("'{}'", word.replace('\'', "''"))
}

/// `schema.table` is two names.
fn table(name: &str) -> String {
    name.split('.').map(identifier).collect::<Vec<_>>().join(".")
}

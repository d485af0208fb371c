//! PMML 4.4: derived fields for the encoding and the row norm, and a RegressionModel on them.

use std::fmt::Write;

use super::pair::PairMember;
use super::plan::{Category, ExportOrder, ExportPlan, Hat, Number, PredictedOutcome};

pub(super) fn write(plan: &ExportPlan) -> String {
    let mut x = String::new();
    // Writing to a string cannot fail.
    let _ = x.write_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = x.write_str("<PMML xmlns=\"http://www.dmg.org/PMML-4_4\" version=\"4.4\">\n");
    let _ = writeln!(
        x,
        "<Header><Application name=\"reticent\" version=\"{}\"/></Header>",
        env!("CARGO_PKG_VERSION")
    );
    dictionary(plan, &mut x);
    transformations(plan, &mut x);
    model(plan, &mut x);
    x + "</PMML>\n"
}

fn names(plan: &ExportPlan) -> impl Iterator<Item = (&str, bool)> {
    let numbers = plan.numbers.iter().map(|number| (number.name.as_str(), true));
    numbers.chain(plan.categories.iter().map(|category| (category.name.as_str(), false)))
}

fn dictionary(plan: &ExportPlan, x: &mut String) {
    let _ = writeln!(x, "<DataDictionary>");
    for (name, is_number) in names(plan) {
        let (kind, data) =
            if is_number { ("continuous", "double") } else { ("categorical", "string") };
        let _ = writeln!(
            x,
            "<DataField name=\"{}\" optype=\"{kind}\" dataType=\"{data}\"/>",
            escaped(name)
        );
    }
    match &plan.outcome {
        PredictedOutcome::Number { target, .. } => {
            let target = escaped(target);
            let _ = writeln!(
                x,
                "<DataField name=\"{target}\" optype=\"continuous\" dataType=\"double\"/>"
            );
        }
        PredictedOutcome::Margin { .. } => {}
        PredictedOutcome::Probabilities { target, classes } => {
            let target = escaped(target);
            let _ = writeln!(
                x,
                "<DataField name=\"{target}\" optype=\"categorical\" dataType=\"string\">"
            );
            for class in classes {
                let _ = writeln!(x, "<Value value=\"{}\"/>", escaped(class));
            }
            let _ = writeln!(x, "</DataField>");
        }
    }
    let _ = writeln!(x, "</DataDictionary>");
}

/// Encoded columns are `reticent_nI` and `reticent_cI_J`, behind the row norm `reticent_nI_s` and
/// so on; hats are `reticent_nI_hJ`, which the row norm leaves alone. Categories with an order have
/// `reticent_cI_0` for their line and hats `reticent_cI_hJ`.
fn transformations(plan: &ExportPlan, x: &mut String) {
    let _ = writeln!(x, "<TransformationDictionary>");
    let mut encoded = Vec::new();
    for (i, number) in plan.numbers.iter().enumerate() {
        encoded.push(format!("reticent_n{i}"));
        derived(x, &format!("reticent_n{i}"), &encode(number));
        for (j, hat) in number.hats.iter().enumerate() {
            derived(x, &format!("reticent_n{i}_h{j}"), &bend(number, hat, i));
        }
    }
    for (i, category) in plan.categories.iter().enumerate() {
        let index = format!("reticent_c{i}");
        derived(x, &index, &place(plan, category));
        if let Some(order) = &category.order {
            encoded.push(format!("reticent_c{i}_0"));
            along(x, order, i);
            continue;
        }
        for j in 0..category.names.len() {
            let name = format!("reticent_c{i}_{j}");
            let equal = apply("equal", &[field(&index), constant(j as f64)]);
            derived(x, &name, &apply("if", &[equal, constant(1.0), constant(0.0)]));
            encoded.push(name);
        }
    }
    products(plan, x);
    let squares: Vec<String> =
        encoded.iter().map(|name| apply("*", &[field(name), field(name)])).collect();
    derived(x, "reticent_length", &apply("sqrt", &[apply("sum", &squares)]));
    let norm = constant(plan.row_norm);
    let long = apply("greaterThan", &[field("reticent_length"), norm.clone()]);
    let part = apply("/", &[norm, field("reticent_length")]);
    derived(x, "reticent_factor", &apply("if", &[long, part, constant(1.0)]));
    for name in encoded {
        derived(x, &format!("{name}_s"), &apply("*", &[field(&name), field("reticent_factor")]));
    }
    let _ = writeln!(x, "</TransformationDictionary>");
}

fn encode(number: &Number) -> String {
    let Number { low, high, start, end, mirror, width, log, missing, .. } = number;
    let own = field(&number.name);
    let clipped = if low.is_finite() && high.is_finite() {
        apply("min", &[apply("max", &[own.clone(), constant(*low)]), constant(*high)])
    } else {
        own.clone()
    };
    let before = apply("-", &[clipped.clone(), constant(*start)]);
    let after = apply("*", &[apply("-", &[constant(*end), clipped]), constant(*mirror)]);
    let bent = match log {
        true => apply("ln", &[apply("+", &[before, constant(1.0)])]),
        false => apply("-", &[before, after]),
    };
    let inside = apply("/", &[bent, constant(*width)]);
    apply("if", &[apply("isMissing", &[own]), constant(*missing), inside])
}

/// A hat of an encoded number; a missing one has none.
fn bend(number: &Number, hat: &Hat, i: usize) -> String {
    let Hat { from, top, to, .. } = *hat;
    let own = field(&format!("reticent_n{i}"));
    let behind = apply("-", &[own.clone(), constant(from)]);
    let before = apply("-", &[constant(to), own]);
    let up = apply("/", &[behind, constant(top - from)]);
    let down = apply("/", &[before, constant(to - top)]);
    let hat = apply("max", &[constant(0.0), apply("min", &[up, down])]);
    apply("if", &[apply("isMissing", &[field(&number.name)]), constant(0.0), hat])
}

/// The line and the hats of categories with an order, whose place is there already.
fn along(x: &mut String, order: &ExportOrder, i: usize) {
    derived(x, &format!("reticent_c{i}_0"), &by_place(i, order.line.iter().copied()));
    for (j, hat) in order.hats.iter().enumerate() {
        derived(x, &format!("reticent_c{i}_h{j}"), &by_place(i, hat.iter().copied()));
    }
}

/// A number for each category of column `i`, 0 for none.
fn by_place(i: usize, values: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator) -> String {
    let index = format!("reticent_c{i}");
    let known = values.enumerate().rev().filter(|(_, value)| *value != 0.0);
    known.fold(constant(0.0), |rest, (j, value)| {
        let same = apply("equal", &[field(&index), constant(j as f64)]);
        apply("if", &[same, constant(value), rest])
    })
}

/// The products of pairs are `reticent_pI_A_B`, of the functions `reticent_pI_uA` and `reticent_pI_vB`.
fn products(plan: &ExportPlan, x: &mut String) {
    for (i, pair) in plan.pairs.iter().enumerate() {
        for (member, kind) in pair.members.iter().zip(["u", "v"]) {
            for j in 0..member.functions() {
                derived(x, &format!("reticent_p{i}_{kind}{j}"), &function(plan, member, j));
            }
        }
        for a in 0..pair.members[0].functions() {
            for b in 0..pair.members[1].functions() {
                let both = [format!("reticent_p{i}_u{a}"), format!("reticent_p{i}_v{b}")];
                let product = apply("*", &both.map(|name| field(&name)));
                derived(x, &format!("reticent_p{i}_{a}_{b}"), &product);
            }
        }
    }
}

/// Function `j` of a column of a pair; a missing one has none.
fn function(plan: &ExportPlan, member: &PairMember, j: usize) -> String {
    match member {
        PairMember::Category { at, functions } => by_place(*at, functions.iter().map(|row| row[j])),
        PairMember::Number { at, slope, shift, .. } => {
            let own = field(&format!("reticent_n{at}"));
            let s = apply("+", &[apply("*", &[own, constant(*slope)]), constant(*shift)]);
            let function = match j {
                0 => s,
                _ => apply("-", &[constant(1.0), apply("abs", &[s])]),
            };
            let is_missing = apply("isMissing", &[field(&plan.numbers[*at].name)]);
            apply("if", &[is_missing, constant(0.0), function])
        }
    }
}

/// The place of a category, −1 for none.
fn place(plan: &ExportPlan, category: &Category) -> String {
    let at = |i: Option<usize>| constant(i.map_or(-1.0, |i| i as f64));
    let own = field(&category.name);
    let read =
        if plan.trim { apply("trimBlanks", std::slice::from_ref(&own)) } else { own.clone() };
    let inner = category.words.iter().rev().fold(at(category.unknown), |rest, (word, i)| {
        let same = apply("equal", &[read.clone(), text(word)]);
        apply("if", &[same, at(*i), rest])
    });
    apply("if", &[apply("isMissing", &[own]), at(category.missing), inner])
}

fn model(plan: &ExportPlan, x: &mut String) {
    let (function, normal) = match &plan.outcome {
        PredictedOutcome::Probabilities { classes, .. } if classes.len() == 2 => {
            ("classification", "logit")
        }
        PredictedOutcome::Probabilities { .. } => ("classification", "softmax"),
        PredictedOutcome::Margin { .. } | PredictedOutcome::Number { .. } => ("regression", "none"),
    };
    let _ = writeln!(
        x,
        "<RegressionModel modelName=\"reticent\" functionName=\"{function}\" normalizationMethod=\"{normal}\">"
    );
    let _ = writeln!(x, "<MiningSchema>");
    for (name, _) in names(plan) {
        // What is not in a list is unknown, and not an error.
        let _ =
            writeln!(x, "<MiningField name=\"{}\" invalidValueTreatment=\"asIs\"/>", escaped(name));
    }
    if let PredictedOutcome::Probabilities { target, .. }
    | PredictedOutcome::Number { target, .. } = &plan.outcome
    {
        let _ = writeln!(x, "<MiningField name=\"{}\" usageType=\"target\"/>", escaped(target));
    }
    let _ = writeln!(x, "</MiningSchema>");
    output(plan, x);
    match &plan.outcome {
        PredictedOutcome::Probabilities { classes, .. } if classes.len() == 2 => {
            table(plan, 0, Some(&classes[1]), x);
            let first = escaped(&classes[0]);
            let _ = writeln!(x, "<RegressionTable intercept=\"0\" targetCategory=\"{first}\"/>");
        }
        PredictedOutcome::Probabilities { classes, .. } => {
            classes.iter().enumerate().for_each(|(k, class)| table(plan, k, Some(class), x));
        }
        PredictedOutcome::Margin { .. } | PredictedOutcome::Number { .. } => {
            table(plan, 0, None, x)
        }
    }
    let _ = writeln!(x, "</RegressionModel>");
}

fn output(plan: &ExportPlan, x: &mut String) {
    let _ = writeln!(x, "<Output>");
    match &plan.outcome {
        PredictedOutcome::Probabilities { classes, .. } => {
            let _ = writeln!(
                x,
                "<OutputField name=\"prediction\" optype=\"categorical\" dataType=\"string\" \
                 feature=\"predictedValue\"/>"
            );
            for class in classes {
                let class = escaped(class);
                let _ = writeln!(
                    x,
                    "<OutputField name=\"probability of {class}\" optype=\"continuous\" dataType=\"double\" \
                     feature=\"probability\" value=\"{class}\"/>"
                );
            }
        }
        PredictedOutcome::Margin { classes, .. } => {
            let score = format!("score of {}", classes[1]);
            let _ = writeln!(
                x,
                "<OutputField name=\"{}\" optype=\"continuous\" dataType=\"double\" feature=\"predictedValue\"/>",
                escaped(&score)
            );
            let above = apply("greaterThan", &[field(&score), constant(0.0)]);
            transformed(
                x,
                "categorical",
                "string",
                &apply("if", &[above, text(&classes[1]), text(&classes[0])]),
            );
        }
        PredictedOutcome::Number { lower, upper, .. } => {
            let _ = writeln!(
                x,
                "<OutputField name=\"reticent_score\" optype=\"continuous\" dataType=\"double\" \
                 feature=\"predictedValue\"/>"
            );
            let half =
                apply("/", &[apply("+", &[field("reticent_score"), constant(1.0)]), constant(2.0)]);
            let number =
                apply("+", &[constant(*lower), apply("*", &[half, constant(upper - lower)])]);
            let clipped =
                apply("min", &[apply("max", &[number, constant(*lower)]), constant(*upper)]);
            transformed(x, "continuous", "double", &clipped);
        }
    }
    let _ = writeln!(x, "</Output>");
}

fn transformed(x: &mut String, kind: &str, data: &str, expression: &str) {
    let _ = writeln!(
        x,
        "<OutputField name=\"prediction\" optype=\"{kind}\" dataType=\"{data}\" feature=\"transformedValue\">\
         {expression}</OutputField>"
    );
}

fn table(plan: &ExportPlan, k: usize, class: Option<&String>, x: &mut String) {
    let of =
        class.map(|class| format!(" targetCategory=\"{}\"", escaped(class))).unwrap_or_default();
    let _ = writeln!(x, "<RegressionTable intercept=\"{:?}\"{of}>", plan.intercept[k]);
    let predictor = |x: &mut String, name: String, weight: f64| {
        let _ = writeln!(x, "<NumericPredictor name=\"{name}\" coefficient=\"{weight:?}\"/>");
    };
    for (i, number) in plan.numbers.iter().enumerate() {
        predictor(x, format!("reticent_n{i}_s"), number.weights[k]);
        for (j, hat) in number.hats.iter().enumerate() {
            predictor(x, format!("reticent_n{i}_h{j}"), hat.weights[k]);
        }
    }
    for (i, category) in plan.categories.iter().enumerate() {
        for (j, weights) in category.weights.iter().enumerate() {
            predictor(x, format!("reticent_c{i}_{j}_s"), weights[k]);
        }
        let hats = category.order.iter().flat_map(|order| &order.weights);
        for (j, weights) in hats.enumerate() {
            predictor(x, format!("reticent_c{i}_h{j}"), weights[k]);
        }
    }
    for (i, pair) in plan.pairs.iter().enumerate() {
        for (a, row) in pair.weights.iter().enumerate() {
            for (b, weights) in row.iter().enumerate() {
                predictor(x, format!("reticent_p{i}_{a}_{b}"), weights[k]);
            }
        }
    }
    let _ = writeln!(x, "</RegressionTable>");
}

fn derived(x: &mut String, name: &str, expression: &str) {
    let _ = writeln!(
        x,
        "<DerivedField name=\"{name}\" optype=\"continuous\" dataType=\"double\">{expression}</DerivedField>"
    );
}

fn apply(function: &str, arguments: &[String]) -> String {
    format!("<Apply function=\"{}\">{}</Apply>", escaped(function), arguments.concat())
}

fn field(name: &str) -> String {
    format!("<FieldRef field=\"{}\"/>", escaped(name))
}

fn constant(value: f64) -> String {
    format!("<Constant dataType=\"double\">{value:?}</Constant>")
}

/// Some products read only a part of a text that has entities in it; a section has none.
fn text(word: &str) -> String {
    let mut inner = escaped(word);
    if inner != word {
        inner = format!("<![CDATA[{}]]>", word.replace("]]>", "]]]]><![CDATA[>"));
    }
    format!("<Constant dataType=\"string\">{inner}</Constant>")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

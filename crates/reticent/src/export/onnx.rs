//! ONNX: a tensor of one column for each column of the table, doubles throughout. A missing number
//! is NaN, a missing text one of the missing tokens. Field numbers are those of onnx.proto.

use super::pair::{ExportPair, PairMember};
use super::plan::{Category, ExportPlan, Hat, Number, PredictedOutcome};
use super::protobuf::ProtobufMessage;

const INT64: i64 = 7;
const STRING: i64 = 8;
const BOOL: i64 = 9;
const DOUBLE: i64 = 11;

/// Operators as of these versions; every runtime since 2022 has them.
const OPSET: i64 = 17;
const ML_OPSET: i64 = 2;
const IR_VERSION: i64 = 8;

pub(super) fn write(plan: &ExportPlan) -> Vec<u8> {
    let mut graph = OnnxGraph::default();
    let OnnxSums { score, square, bent } = sums(plan, &mut graph);
    let scores = graph.scores(plan, (&score, &square), bent.as_deref());
    graph.outcome(plan, &scores);
    let opset =
        |domain: &str, version: i64| ProtobufMessage::default().text(1, domain).int(2, version);
    let body = ProtobufMessage::default()
        .each(graph.nodes, |all, node| all.message(1, node))
        .text(2, "reticent")
        .each(graph.constants, |all, tensor| all.message(5, tensor))
        .each(graph.inputs, |all, input| all.message(11, input))
        .each(graph.outputs, |all, output| all.message(12, output));
    ProtobufMessage::default()
        .int(1, IR_VERSION)
        .text(2, "reticent")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, body)
        .message(8, opset("", OPSET))
        .message(8, opset("ai.onnx.ml", ML_OPSET))
        .into_bytes()
}

#[derive(Default)]
struct OnnxGraph {
    nodes: Vec<ProtobufMessage>,
    constants: Vec<ProtobufMessage>,
    inputs: Vec<ProtobufMessage>,
    outputs: Vec<ProtobufMessage>,
    /// Encoded numbers, and which of them are missing.
    scaled: (String, String),
    /// The places of categories, column by column.
    places: Vec<String>,
    /// Names of inner values; `/` keeps them apart from columns of the table as far as it can be
    /// kept.
    made: usize,
}

/// Weights times row, the squared length of the row, before it is scaled down, and weights times
/// hats, if there are any.
struct OnnxSums {
    score: String,
    square: String,
    bent: Option<String>,
}

fn sums(plan: &ExportPlan, graph: &mut OnnxGraph) -> OnnxSums {
    let mut parts: Vec<(String, String)> = Vec::new();
    let mut bent = None;
    if !plan.numbers.is_empty() {
        let all = graph.numbers(plan);
        parts.push((all.score, all.square));
        bent = all.bent;
    }
    let mut bends: Vec<String> = bent.into_iter().collect();
    for category in &plan.categories {
        let all = graph.category(category, plan.outputs());
        parts.push((all.score, all.square));
        bends.extend(all.bent);
    }
    for pair in &plan.pairs {
        bends.push(graph.products(pair, plan.outputs()));
    }
    let (scores, squares) = parts.into_iter().unzip();
    let bent = (!bends.is_empty()).then(|| graph.total(bends));
    OnnxSums { score: graph.total(scores), square: graph.total(squares), bent }
}

impl OnnxGraph {
    /// The part of all columns of numbers in a score and in the squared length.
    fn numbers(&mut self, plan: &ExportPlan) -> OnnxSums {
        let names: Vec<&str> = plan.numbers.iter().map(|number| number.name.as_str()).collect();
        for name in &names {
            self.inputs.push(value(name, DOUBLE, 1));
        }
        let width = names.len();
        let row = |of: fn(&Number) -> f64| plan.numbers.iter().map(of).collect::<Vec<_>>();
        let all = self.node("Concat", &names, &[int("axis", 1)]);
        let is_missing = self.node("IsNaN", &[&all], &[]);
        let low = self.doubles(&[1, width], &row(|n| n.low));
        let high = self.doubles(&[1, width], &row(|n| n.high));
        let above = self.node("Max", &[&all, &low], &[]);
        let clipped = self.node("Min", &[&above, &high], &[]);
        let start = self.doubles(&[1, width], &row(|n| n.start));
        let end = self.doubles(&[1, width], &row(|n| n.end));
        let mirror = self.doubles(&[1, width], &row(|n| n.mirror));
        let wide = self.doubles(&[1, width], &row(|n| n.width));
        let missing = self.doubles(&[1, width], &row(|n| n.missing));
        let before = self.node("Sub", &[&clipped, &start], &[]);
        let after = self.node("Sub", &[&end, &clipped], &[]);
        let mirrored = self.node("Mul", &[&after, &mirror], &[]);
        let centred = self.node("Sub", &[&before, &mirrored], &[]);
        let bent = self.logarithms(plan, centred);
        let scaled = self.node("Div", &[&bent, &wide], &[]);
        let encoded = self.node("Where", &[&is_missing, &missing, &scaled], &[]);
        let weights: Vec<f64> =
            plan.numbers.iter().flat_map(|number| number.weights.clone()).collect();
        let weights = self.doubles(&[width, plan.outputs()], &weights);
        let score = self.node("MatMul", &[&encoded, &weights], &[]);
        let square = self.node("Mul", &[&encoded, &encoded], &[]);
        let axis = self.integers(&[1]);
        let square = self.node("ReduceSum", &[&square, &axis], &[int("keepdims", 1)]);
        let bent = self.hats(plan, &scaled, &is_missing);
        self.scaled = (scaled, is_missing);
        OnnxSums { score, square, bent }
    }

    /// Weights times hats, of numbers that are encoded as `scaled` where they are not missing.
    fn hats(&mut self, plan: &ExportPlan, scaled: &str, is_missing: &str) -> Option<String> {
        let hats: Vec<(i64, &Hat)> = (0_i64..)
            .zip(&plan.numbers)
            .flat_map(|(i, number)| number.hats.iter().map(move |hat| (i, hat)))
            .collect();
        if hats.is_empty() {
            return None;
        }
        let width = hats.len();
        let row = |of: fn(&Hat) -> f64| hats.iter().map(|(_, hat)| of(hat)).collect::<Vec<_>>();
        let columns: Vec<i64> = hats.iter().map(|(i, _)| *i).collect();
        let columns = self.integers(&columns);
        let own = self.node("Gather", &[scaled, &columns], &[int("axis", 1)]);
        let is_missing = self.node("Gather", &[is_missing, &columns], &[int("axis", 1)]);
        let from = self.doubles(&[1, width], &row(|hat| hat.from));
        let to = self.doubles(&[1, width], &row(|hat| hat.to));
        let rise = self.doubles(&[1, width], &row(|hat| hat.top - hat.from));
        let fall = self.doubles(&[1, width], &row(|hat| hat.to - hat.top));
        let zero = self.doubles(&[1, 1], &[0.0]);
        let behind = self.node("Sub", &[&own, &from], &[]);
        let up = self.node("Div", &[&behind, &rise], &[]);
        let before = self.node("Sub", &[&to, &own], &[]);
        let down = self.node("Div", &[&before, &fall], &[]);
        let least = self.node("Min", &[&up, &down], &[]);
        let hat = self.node("Max", &[&least, &zero], &[]);
        let hat = self.node("Where", &[&is_missing, &zero, &hat], &[]);
        let weights: Vec<f64> = hats.iter().flat_map(|(_, hat)| hat.weights.clone()).collect();
        let weights = self.doubles(&[width, plan.outputs()], &weights);
        Some(self.node("MatMul", &[&hat, &weights], &[]))
    }

    /// The logarithm of 1 more, in the columns that have it.
    fn logarithms(&mut self, plan: &ExportPlan, centred: String) -> String {
        let which: Vec<u8> = plan.numbers.iter().map(|number| number.log.into()).collect();
        if !which.contains(&1) {
            return centred;
        }
        let (zero, one) = (self.doubles(&[1, 1], &[0.0]), self.doubles(&[1, 1], &[1.0]));
        // Other columns may be below 0, and are left as they are.
        let above = self.node("Max", &[&centred, &zero], &[]);
        let more = self.node("Add", &[&above, &one], &[]);
        let log = self.node("Log", &[&more], &[]);
        let which = self.tensor(BOOL, &[1, which.len()], &which);
        self.node("Where", &[&which, &log, &centred], &[])
    }

    /// The same of one column of words.
    fn category(&mut self, category: &Category, outputs: usize) -> OnnxSums {
        self.inputs.push(value(&category.name, STRING, 1));
        // One row more than there are categories, of zeros: no category.
        let none = category.names.len();
        let at = |i: Option<usize>| i.unwrap_or(none) as i64;
        let words = category.words.iter().map(|(word, _)| word.as_bytes());
        let places = category.words.iter().map(|(_, i)| at(*i));
        let index = self.ml_node(
            "LabelEncoder",
            &category.name,
            &[
                ProtobufMessage::default()
                    .text(1, "keys_strings")
                    .each(words, |all, word| all.bytes(9, word))
                    .int(20, 8),
                ProtobufMessage::default()
                    .text(1, "values_int64s")
                    .each(places, |all, i| all.int(8, i))
                    .int(20, 7),
                int("default_int64", at(category.unknown)),
            ],
        );
        let score = self.picked(&index, (none, outputs), |i, k| category.score(i, k));
        let bent = category.is_bent();
        let bent = bent.then(|| self.picked(&index, (none, outputs), |i, k| category.bend(i, k)));
        let mut squares: Vec<f64> = (0..none).map(|i| category.square(i)).collect();
        squares.push(0.0);
        let squares = self.doubles(&[none + 1], &squares);
        let square = self.node("Gather", &[&squares, &index], &[int("axis", 0)]);
        self.places.push(index);
        OnnxSums { score, square, bent }
    }

    /// Weights times the products of a pair.
    fn products(&mut self, pair: &ExportPair, outputs: usize) -> String {
        let all = [0, 1].map(|k| self.functions(&pair.members[k]));
        let [rows, columns] = [0, 1].map(|k| pair.members[k].functions());
        let first: Vec<i64> = (0..rows * columns).map(|cell| (cell / columns) as i64).collect();
        let second: Vec<i64> = (0..rows * columns).map(|cell| (cell % columns) as i64).collect();
        let (first, second) = (self.integers(&first), self.integers(&second));
        let first = self.node("Gather", &[&all[0], &first], &[int("axis", 1)]);
        let second = self.node("Gather", &[&all[1], &second], &[int("axis", 1)]);
        let products = self.node("Mul", &[&first, &second], &[]);
        let weights: Vec<f64> = pair.weights.concat().concat();
        let weights = self.doubles(&[rows * columns, outputs], &weights);
        self.node("MatMul", &[&products, &weights], &[])
    }

    /// The functions of a column of a pair, zeros where it is missing.
    fn functions(&mut self, member: &PairMember) -> String {
        match member {
            PairMember::Category { at, functions } => {
                let (index, size) = (self.places[*at].clone(), member.functions());
                self.picked(&index, (functions.len(), size), |i, j| functions[i][j])
            }
            PairMember::Number { at, slope, shift, bends } => {
                let (scaled, is_missing) = self.scaled.clone();
                let column = self.integers(&[*at as i64]);
                let own = self.node("Gather", &[&scaled, &column], &[int("axis", 1)]);
                let is_missing = self.node("Gather", &[&is_missing, &column], &[int("axis", 1)]);
                let [slope, shift, zero, one] =
                    [*slope, *shift, 0.0, 1.0].map(|x| self.doubles(&[1, 1], &[x]));
                let own = self.node("Mul", &[&own, &slope], &[]);
                let mut all = self.node("Add", &[&own, &shift], &[]);
                if *bends {
                    let size = self.node("Abs", &[&all], &[]);
                    let hat = self.node("Sub", &[&one, &size], &[]);
                    all = self.node("Concat", &[&all, &hat], &[int("axis", 1)]);
                }
                self.node("Where", &[&is_missing, &zero, &all], &[])
            }
        }
    }

    /// Numbers by category, as many as there are outputs, and zeros where there is none.
    fn picked(
        &mut self,
        index: &str,
        (categories, outputs): (usize, usize),
        value: impl Fn(usize, usize) -> f64,
    ) -> String {
        let rows = (0..categories).flat_map(|i| (0..outputs).map(move |k| (i, k)));
        let mut all: Vec<f64> = rows.map(|(i, k)| value(i, k)).collect();
        all.resize((categories + 1) * outputs, 0.0);
        let all = self.doubles(&[categories + 1, outputs], &all);
        let picked = self.node("Gather", &[&all, index], &[int("axis", 0)]);
        let axis = self.integers(&[1]);
        self.node("Squeeze", &[&picked, &axis], &[])
    }

    fn scores(
        &mut self,
        plan: &ExportPlan,
        (sum, square): (&str, &str),
        bent: Option<&str>,
    ) -> String {
        let norm = self.doubles(&[1, 1], &[plan.row_norm]);
        let one = self.doubles(&[1, 1], &[1.0]);
        let length = self.node("Sqrt", &[square], &[]);
        let part = self.node("Div", &[&norm, &length], &[]);
        let factor = self.node("Min", &[&part, &one], &[]);
        let scaled = self.node("Mul", &[sum, &factor], &[]);
        let scaled = match bent {
            Some(bent) => self.node("Add", &[&scaled, bent], &[]),
            None => scaled,
        };
        let intercept = self.doubles(&[1, plan.outputs()], &plan.intercept);
        self.node("Add", &[&scaled, &intercept], &[])
    }

    fn outcome(&mut self, plan: &ExportPlan, scores: &str) {
        // A column of the table may have the name already.
        let taken = |name: &str| {
            plan.numbers.iter().any(|number| number.name == name)
                || plan.categories.iter().any(|category| category.name == name)
        };
        let free = |name: &str| {
            let mut name = name.to_owned();
            while taken(&name) {
                name.push('_');
            }
            name
        };
        let classes = match &plan.outcome {
            PredictedOutcome::Number { lower, upper, .. } => {
                let one = self.doubles(&[1, 1], &[1.0]);
                let half = self.doubles(&[1, 1], &[2.0]);
                let width = self.doubles(&[1, 1], &[upper - lower]);
                let low = self.doubles(&[1, 1], &[*lower]);
                let high = self.doubles(&[1, 1], &[*upper]);
                let moved = self.node("Add", &[scores, &one], &[]);
                let halved = self.node("Div", &[&moved, &half], &[]);
                let wide = self.node("Mul", &[&halved, &width], &[]);
                let number = self.node("Add", &[&low, &wide], &[]);
                let above = self.node("Max", &[&number, &low], &[]);
                self.named("Min", &[&above, &high], &[], &free("prediction"));
                self.outputs.push(value(&free("prediction"), DOUBLE, 1));
                return;
            }
            PredictedOutcome::Probabilities { classes, .. }
            | PredictedOutcome::Margin { classes, .. } => classes,
        };
        let both = if plan.outputs() == 1 {
            let zero = self.doubles(&[1, 1], &[0.0]);
            let zeros = self.node("Mul", &[scores, &zero], &[]);
            self.node("Concat", &[&zeros, scores], &[int("axis", 1)])
        } else {
            scores.to_owned()
        };
        let best = self.node("ArgMax", &[&both], &[int("axis", 1), int("keepdims", 0)]);
        let name = self.name();
        let names = ProtobufMessage::default()
            .int(1, classes.len() as i64)
            .int(2, STRING)
            .each(classes, |all, class| all.text(6, class))
            .text(8, &name);
        self.constants.push(names);
        self.named("Gather", &[&name, &best], &[int("axis", 0)], &free("label"));
        self.outputs.push(shaped(&free("label"), STRING, &[None]));
        if matches!(plan.outcome, PredictedOutcome::Probabilities { .. }) {
            self.named("Softmax", &[&both], &[int("axis", 1)], &free("probabilities"));
            self.outputs.push(value(&free("probabilities"), DOUBLE, classes.len()));
        } else {
            self.named("Identity", &[scores], &[], &free("score"));
            self.outputs.push(value(&free("score"), DOUBLE, 1));
        }
    }

    fn total(&mut self, mut parts: Vec<String>) -> String {
        let first = parts.remove(0);
        parts.iter().fold(first, |sum, part| self.node("Add", &[&sum, part], &[]))
    }

    fn name(&mut self) -> String {
        self.made += 1;
        format!("/reticent/{}", self.made)
    }

    fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[ProtobufMessage]) -> String {
        let name = self.name();
        self.named(operator, inputs, attributes, &name);
        name
    }

    fn named(
        &mut self,
        operator: &str,
        inputs: &[&str],
        attributes: &[ProtobufMessage],
        output: &str,
    ) {
        self.nodes.push(node(operator, inputs, output, attributes));
    }

    fn ml_node(&mut self, operator: &str, input: &str, attributes: &[ProtobufMessage]) -> String {
        let name = self.name();
        self.nodes.push(node(operator, &[input], &name, attributes).text(7, "ai.onnx.ml"));
        name
    }

    fn doubles(&mut self, shape: &[usize], values: &[f64]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(DOUBLE, shape, &raw)
    }

    fn integers(&mut self, values: &[i64]) -> String {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(INT64, &[values.len()], &raw)
    }

    fn tensor(&mut self, kind: i64, shape: &[usize], raw: &[u8]) -> String {
        let name = self.name();
        let dimensions = shape.iter().map(|size| *size as i64);
        let tensor =
            ProtobufMessage::default().each(dimensions, |all, size| all.int(1, size)).int(2, kind);
        self.constants.push(tensor.text(8, &name).bytes(9, raw));
        name
    }
}

fn node(
    operator: &str,
    inputs: &[&str],
    output: &str,
    attributes: &[ProtobufMessage],
) -> ProtobufMessage {
    ProtobufMessage::default()
        .each(inputs, |all, input| all.text(1, input))
        .text(2, output)
        .text(4, operator)
        .each(attributes, |all, attribute| all.message_of(5, attribute))
}

fn int(name: &str, value: i64) -> ProtobufMessage {
    ProtobufMessage::default().text(1, name).int(3, value).int(20, 2)
}

/// A matrix with a row for each record.
fn value(name: &str, kind: i64, columns: usize) -> ProtobufMessage {
    shaped(name, kind, &[None, Some(columns)])
}

fn shaped(name: &str, kind: i64, shape: &[Option<usize>]) -> ProtobufMessage {
    let dimension = |size: &Option<usize>| match size {
        Some(size) => ProtobufMessage::default().int(1, *size as i64),
        None => ProtobufMessage::default().text(2, "N"),
    };
    let shape = ProtobufMessage::default().each(shape, |all, size| all.message(1, dimension(size)));
    let tensor = ProtobufMessage::default().int(1, kind).message(2, shape);
    ProtobufMessage::default()
        .text(1, name)
        .message(2, ProtobufMessage::default().message(1, tensor))
}

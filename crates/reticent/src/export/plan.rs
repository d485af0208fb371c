//! What the program does with a record, step by step, for whoever writes it down in another
//! language:
//!
//! 1. A number x is clipped to [low, high] and becomes ((x − start) − mirror·(end − x)) / width; a
//!    missing one becomes `missing`. With mirror = 1 that is the scale −1 to 1, with mirror = 0 the
//!    scale 0 to 1 or none. With `log` it becomes log(1 + x − start) / width: the scale log.
//!    A number with a curve that is not missing has hats as well, each of its encoded value e:
//!    max(0, min((e − from)/(top − from), (to − e)/(to − top))).
//! 2. A text, spaces cut off, is looked up among `words`; one that is not there is `unknown`, a
//!    missing one `missing`: a category, which is 1 where the others are 0, or none. Of categories with
//!    an order each has a number on a line, and hats; none has neither.
//! 3. A row longer than `row_norm` is scaled down to it; hats are no part of it.
//! 4. Scores are the weights times the row, plus those of the hats times the hats, plus those of pairs
//!    times the products of their columns' functions, plus the intercept.
//! 5. The outcome reads them.

use reticent_oracle::tables::{Categorical, HAT, Numeric, Role, Scale, TargetKind, Unknown};

use super::pair::ExportPair;
use crate::error::Error;
use crate::model::Model;

#[derive(Debug)]
pub(super) struct ExportPlan {
    pub numbers: Vec<Number>,
    pub categories: Vec<Category>,
    pub pairs: Vec<ExportPair>,
    pub row_norm: f64,
    /// One for each output.
    pub intercept: Vec<f64>,
    pub outcome: PredictedOutcome,
    /// Texts that stand for nothing.
    pub tokens: Vec<String>,
    pub trim: bool,
    /// Whether a number that is a text has a comma before its decimals.
    pub comma: bool,
}

#[derive(Debug)]
pub(super) struct Number {
    pub name: String,
    pub low: f64,
    pub high: f64,
    pub start: f64,
    pub end: f64,
    pub mirror: f64,
    pub width: f64,
    /// Whether the logarithm is scaled.
    pub log: bool,
    /// The encoding of a missing value.
    pub missing: f64,
    /// One for each output.
    pub weights: Vec<f64>,
    /// In their order; each begins at the top of the one before, and ends at that of the next.
    pub hats: Vec<Hat>,
}

/// A hat function of an encoded value.
#[derive(Debug)]
pub(super) struct Hat {
    /// 0 from here down.
    pub from: f64,
    /// 1 here.
    pub top: f64,
    /// 0 from here up.
    pub to: f64,
    /// One for each output, the length of hats included.
    pub weights: Vec<f64>,
}

#[derive(Debug)]
pub(super) struct Category {
    pub name: String,
    pub names: Vec<String>,
    /// Texts and the category that they spell; `None` is no category.
    pub words: Vec<(String, Option<usize>)>,
    pub missing: Option<usize>,
    pub unknown: Option<usize>,
    /// For each category, one for each output; of categories with an order that of the line alone.
    pub weights: Vec<Vec<f64>>,
    pub order: Option<ExportOrder>,
}

/// What categories with an order are encoded as.
#[derive(Debug)]
pub(super) struct ExportOrder {
    /// Of each category, its number on the line.
    pub line: Vec<f64>,
    /// Hat by hat, what each category has of it, from 0 to 1.
    pub hats: Vec<Vec<f64>>,
    /// Hat by hat, one for each output, the length of hats included.
    pub weights: Vec<Vec<f64>>,
}

impl Category {
    /// The contribution of category `i` to the squared norm of a row.
    pub fn square(&self, i: usize) -> f64 {
        self.order.as_ref().map_or(1.0, |order| order.line[i] * order.line[i])
    }

    /// The contribution of category `i` to score `k` within the row norm.
    pub fn score(&self, i: usize, k: usize) -> f64 {
        match &self.order {
            None => self.weights[i][k],
            Some(order) => order.line[i] * self.weights[0][k],
        }
    }

    /// The contribution of the hats of category `i` to score `k`.
    pub fn bend(&self, i: usize, k: usize) -> f64 {
        let hats = self.order.iter().flat_map(|order| order.hats.iter().zip(&order.weights));
        hats.map(|(hat, weights)| hat[i] * weights[k]).sum()
    }

    /// Whether it has hats.
    pub fn is_bent(&self) -> bool {
        self.order.as_ref().is_some_and(|order| !order.hats.is_empty())
    }
}

#[derive(Debug)]
pub(super) enum PredictedOutcome {
    /// Log-odds; of two classes there is one score, that of the second.
    Probabilities { target: String, classes: Vec<String> },
    /// The margin of the second of two classes.
    Margin { target: String, classes: Vec<String> },
    /// A score from −1 to 1 stands for a number from `lower` to `upper`.
    Number { target: String, lower: f64, upper: f64 },
}

impl ExportPlan {
    pub fn of(model: &Model) -> Result<Self, Error> {
        let schema = model.preprocessing();
        let outputs = model.outputs().len();
        let mut weights = model.coefficients().iter().map(|coefficient| coefficient.values.clone());
        let mut next = || weights.next().unwrap_or_else(|| vec![0.0; outputs]);
        let tokens = schema.missing_tokens().to_vec();
        let (mut numbers, mut categories) = (Vec::new(), Vec::new());
        for column in schema.columns() {
            let name = column.name();
            let weights = (0..column.width()).map(|_| next());
            match column.role() {
                Role::Numeric(numeric) => {
                    numbers.push(Number::of(name, numeric, weights.collect())?);
                }
                Role::Categorical(categorical) => {
                    categories.push(Category::of(name, categorical, &tokens, weights.collect())?);
                }
                Role::Date(_) => return Err(foreign(name, "the kind date")),
                Role::Target(_) | Role::Ignored | Role::User(_) | Role::Weight(_) => {}
                _ => return Err(foreign(name, "a column of its kind")),
            }
        }
        let number = |name: &str| numbers.iter().position(|one: &Number| one.name == name);
        let category = |name: &str| categories.iter().position(|one: &Category| one.name == name);
        let pair = |pair| {
            let (number, category) =
                (|name: &str| number(name).unwrap_or(0), |name: &str| category(name).unwrap_or(0));
            ExportPair::of(pair, number, category, &mut next)
        };
        let pairs: Vec<ExportPair> = schema.paired().iter().map(pair).collect();
        // The columns of a LIBSVM file: numbers as they are, and what is not written is 0.
        for index in 1..=schema.features().unwrap_or(0) {
            numbers.push(Number {
                name: index.to_string(),
                low: f64::NEG_INFINITY,
                high: f64::INFINITY,
                start: 0.0,
                end: 0.0,
                mirror: 0.0,
                width: 1.0,
                log: false,
                missing: 0.0,
                weights: next(),
                hats: Vec::new(),
            });
        }
        let mut intercept = model.intercept().to_vec();
        intercept.resize(outputs, 0.0);
        Ok(ExportPlan {
            numbers,
            categories,
            pairs,
            row_norm: schema.line_norm(),
            intercept,
            outcome: PredictedOutcome::of(model)?,
            tokens,
            trim: schema.trim(),
            comma: schema.decimal_comma(),
        })
    }

    pub fn outputs(&self) -> usize {
        self.intercept.len()
    }
}

impl Number {
    /// Of its weights, that of the line first.
    fn of(name: &str, numeric: &Numeric, weights: Vec<Vec<f64>>) -> Result<Self, Error> {
        let (low, high) = numeric.bounds();
        let (start, end, mirror, width) = match numeric.scale() {
            Scale::MinusOneToOne => (low, high, 1.0, high - low),
            Scale::ZeroToOne => (low, 0.0, 0.0, high - low),
            Scale::None => (0.0, 0.0, 0.0, 1.0),
            Scale::Log => (low, 0.0, 0.0, (high - low).ln_1p()),
            Scale::Quantile => return Err(foreign(name, "the scale quantile")),
        };
        let log = numeric.scale() == Scale::Log;
        let (name, missing) = (name.to_owned(), numeric.missing());
        let mut weights = weights.into_iter();
        let line = weights.next().unwrap_or_default();
        let knots: Vec<f64> = numeric.hats().places().iter().map(|&t| numeric.on_line(t)).collect();
        let hat = |(knots, weights): (&[f64], Vec<f64>)| Hat {
            from: knots[0],
            top: knots[1],
            to: knots[2],
            weights: weights.iter().map(|weight| weight * HAT).collect(),
        };
        let hats = knots.windows(3).zip(weights).map(hat).collect();
        let weights = line;
        Ok(Number { name, low, high, start, end, mirror, width, log, missing, weights, hats })
    }
}

impl Category {
    fn of(
        name: &str,
        categorical: &Categorical,
        tokens: &[String],
        mut weights: Vec<Vec<f64>>,
    ) -> Result<Self, Error> {
        let order = categorical.order().map(|order| ExportOrder::of(order.along(), &mut weights));
        let labels = categorical.categories();
        let missing = categorical.missing();
        // A text that means missing is that, whatever category it spells.
        let absent = tokens.iter().map(|token| (token.clone(), missing));
        let spelt = labels.words().into_iter().filter(|(word, _)| !tokens.contains(word));
        Ok(Category {
            name: name.to_owned(),
            names: labels.names().map(str::to_owned).collect(),
            words: absent.chain(spelt.map(|(word, i)| (word, Some(i)))).collect(),
            missing,
            unknown: match categorical.unknown() {
                Unknown::Zeros => None,
                Unknown::Category(i) => Some(i),
                Unknown::Refuse => return Err(foreign(name, "unknown = \"error\"")),
            },
            weights,
            order,
        })
    }
}

impl ExportOrder {
    /// Takes the weights of hats, and leaves that of the line.
    fn of(along: &Numeric, weights: &mut Vec<Vec<f64>>) -> Self {
        let bent = weights.split_off(1);
        let categories = || (0..=along.bounds().1 as usize).map(|i| along.place(i as f64));
        let places = along.hats();
        let hat = |knots: &[f64]| -> Vec<f64> {
            let (from, top, to) = (knots[0], knots[1], knots[2]);
            categories()
                .map(|t| ((t - from) / (top - from)).min((to - t) / (to - top)).max(0.0))
                .collect()
        };
        ExportOrder {
            line: categories().map(|t| along.on_line(t)).collect(),
            hats: places.places().windows(3).map(hat).collect(),
            weights: bent
                .into_iter()
                .map(|all| all.into_iter().map(|weight| weight * HAT).collect())
                .collect(),
        }
    }
}

impl PredictedOutcome {
    fn of(model: &Model) -> Result<Self, Error> {
        let (target, kind) = model.target().ok_or(Error::Missing {
            what: "the target of the model",
            todo: "give the model.json that `reticent fit` wrote",
        })?;
        let target = target.to_owned();
        Ok(match kind {
            TargetKind::Range { lower, upper } => {
                PredictedOutcome::Number { target, lower: *lower, upper: *upper }
            }
            TargetKind::Classes(labels) => {
                let classes = labels.names().map(str::to_owned).collect();
                if model.has_probabilities() {
                    PredictedOutcome::Probabilities { target, classes }
                } else {
                    PredictedOutcome::Margin { target, classes }
                }
            }
            _ => return Err(foreign(&target, "a target of its kind")),
        })
    }
}

/// What no other tool is told yet: it would predict something else.
fn foreign(column: &str, what: &str) -> Error {
    Error::value(
        "export",
        column,
        format!(
            "a model with {what} cannot be exported; use `reticent predict`, or declare the column otherwise and \
             fit again"
        ),
    )
}

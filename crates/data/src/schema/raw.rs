//! The schema as it is written: every key optional where a default exists, nothing believed yet.

use super::words::{BoundWord, ColumnKind, ListWord, TODO, day};
use super::{
    Categorical, CategoryOrder, Column, Curve, Drafted, MissingNumber, Numeric, RecordWeight, Role,
    Scale, Schema, SchemaError, Target, TargetKind, Undeclared, Unknown,
};
use crate::labels::Word;
use crate::{IdForm, Labels};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSchema<C = Vec<RawColumn>> {
    #[serde(alias = "row-norm")]
    row_norm: BoundWord,
    #[serde(default, alias = "public-n", skip_serializing_if = "Option::is_none")]
    public_n: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delimiter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trim: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    decimal: Option<String>,
    #[serde(default, alias = "missing-tokens", skip_serializing_if = "Option::is_none")]
    missing_tokens: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undeclared: Option<Undeclared>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pairs: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drafted: Option<Drafted>,
    #[serde(default)]
    pub column: C,
}

/// One flat struct for all kinds rather than an enum by `kind`: the message for a key that is
/// missing or out of place can then name the column, where serde would name a Rust variant.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawColumn {
    name: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lower: Option<BoundWord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upper: Option<BoundWord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantiles: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    curve: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    knots: Option<Vec<f64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categories: Option<ListWord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ordered: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<ListWord>,
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    form: Option<String>,
}

impl RawColumn {
    fn blank(name: String, kind: ColumnKind) -> Self {
        Self {
            name,
            kind: kind.name(),
            lower: None,
            upper: None,
            scale: None,
            quantiles: None,
            curve: None,
            knots: None,
            missing: None,
            unknown: None,
            categories: None,
            ordered: None,
            classes: None,
            form: None,
        }
    }

    pub(super) fn column(mut self) -> Result<Column, SchemaError> {
        let name = std::mem::take(&mut self.name);
        match self.role() {
            Ok(role) => Ok(Column { name, role }),
            Err(what) => Err(SchemaError::Column { column: name, what }),
        }
    }

    /// Refuses a key that the kind of the column has no use for.
    fn has_only(&self, keys: &[&str]) -> Result<(), String> {
        let given = [
            ("lower", self.lower.is_some()),
            ("upper", self.upper.is_some()),
            ("scale", self.scale.is_some()),
            ("quantiles", self.quantiles.is_some()),
            ("curve", self.curve.is_some()),
            ("knots", self.knots.is_some()),
            ("missing", self.missing.is_some()),
            ("unknown", self.unknown.is_some()),
            ("categories", self.categories.is_some()),
            ("ordered", self.ordered.is_some()),
            ("classes", self.classes.is_some()),
            ("as", self.form.is_some()),
        ];
        match given.iter().find(|(key, given)| *given && !keys.contains(key)) {
            None => Ok(()),
            Some((key, _)) => {
                let allowed = if keys.is_empty() { "none".to_string() } else { keys.join(", ") };
                Err(format!("has the key `{key}`, which its kind does not use; allowed: {allowed}"))
            }
        }
    }

    fn role(self) -> Result<Role, String> {
        let kind = ColumnKind::read(&self.kind)?;
        self.has_only(keys(&kind))?;
        let need = |value: Option<BoundWord>, key: &str| {
            value.ok_or_else(|| format!("needs `{key}`, a public bound"))
        };
        match kind {
            ColumnKind::Numeric => Ok(Role::Numeric(Numeric {
                lower: need(self.lower, "lower")?.number("lower")?,
                upper: need(self.upper, "upper")?.number("upper")?,
                scale: self.scale.unwrap_or_default(),
                quantiles: self.quantiles.unwrap_or_default(),
                missing: missing_number(self.missing)?,
                curve: curve(self.curve, self.knots)?,
            })),
            ColumnKind::Date => {
                let scale = scale_of_days(self.scale)?;
                Ok(Role::Date(Numeric {
                    lower: need(self.lower, "lower")?.day("lower")?,
                    upper: need(self.upper, "upper")?.day("upper")?,
                    scale,
                    quantiles: Vec::new(),
                    missing: missing_day(self.missing)?,
                    curve: curve(self.curve, None)?,
                }))
            }
            ColumnKind::Categorical => {
                let list =
                    self.categories.ok_or("needs `categories`, the public list of its values");
                let categories = list?.labels("categories")?;
                let missing = category(&categories, "missing", self.missing, "ignore")?;
                let unknown = unknown(&categories, self.unknown)?;
                let order = order(&categories, self.ordered, self.curve)?;
                Ok(Role::Categorical(Categorical { categories, missing, unknown, order }))
            }
            ColumnKind::Target => {
                let kind = match (self.classes, self.lower, self.upper) {
                    (Some(list), None, None) => TargetKind::Classes(list.labels("classes")?),
                    (None, Some(lower), Some(upper)) => TargetKind::Range {
                        lower: lower.number("lower")?,
                        upper: upper.number("upper")?,
                    },
                    _ => Err("is a target and needs either `classes`, or `lower` and `upper`")?,
                };
                Ok(Role::Target(Target { kind, missing: self.missing.map(|w| w.text()) }))
            }
            ColumnKind::Ignored => Ok(Role::Ignored),
            ColumnKind::User => Ok(Role::User(id_form(self.form)?)),
            ColumnKind::Weight => Ok(Role::Weight(RecordWeight {
                lower: self.lower.map_or(Ok(0.0), |lower| lower.number("lower"))?,
                upper: need(self.upper, "upper")?.number("upper")?,
                missing: missing_weight(self.missing)?,
            })),
        }
    }
}

/// What a column of a kind may say.
fn keys(kind: &ColumnKind) -> &'static [&'static str] {
    match kind {
        ColumnKind::Numeric => {
            &["lower", "upper", "scale", "quantiles", "curve", "knots", "missing"]
        }
        ColumnKind::Date => &["lower", "upper", "scale", "curve", "missing"],
        ColumnKind::Categorical => &["categories", "ordered", "curve", "missing", "unknown"],
        ColumnKind::Target => &["classes", "lower", "upper", "missing"],
        ColumnKind::User => &["as"],
        ColumnKind::Weight => &["lower", "upper", "missing"],
        ColumnKind::Ignored => &[],
    }
}

/// What a column says of its hats.
fn curve(count: Option<i64>, knots: Option<Vec<f64>>) -> Result<Option<Curve>, String> {
    match (count, knots) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err("has `curve` and `knots`; give one of the two".into()),
        (None, Some(knots)) => Ok(Some(Curve::At(knots))),
        (Some(count), None) => match usize::try_from(count) {
            Ok(count) => Ok(Some(Curve::Even(count))),
            Err(_) => Err(format!("has curve = {count}; allowed: a number of knots from 0")),
        },
    }
}

/// What a column says of the order of its categories.
fn order(
    categories: &Labels,
    ordered: Option<bool>,
    knots: Option<i64>,
) -> Result<Option<CategoryOrder>, String> {
    match (ordered.unwrap_or(false), knots) {
        (false, None) => Ok(None),
        (false, Some(_)) => Err("has `curve` for categories without an order; give \
                                 `ordered = true` if they are listed in one, or leave it out"
            .into()),
        (true, knots) => {
            let wrong = |knots| format!("has curve = {knots}; allowed: a number of knots from 0");
            let count = knots.map(|knots| usize::try_from(knots).map_err(|_| wrong(knots)));
            CategoryOrder::new(categories, count.transpose()?).map(Some)
        }
    }
}

fn raw_curve(curve: Option<Curve>) -> (Option<i64>, Option<Vec<f64>>) {
    match curve {
        None => (None, None),
        Some(Curve::Even(count)) => (i64::try_from(count).ok(), None),
        Some(Curve::At(knots)) => (None, Some(knots)),
    }
}

fn id_form(word: Option<String>) -> Result<IdForm, String> {
    match word.as_deref() {
        None => Ok(IdForm::Canonical),
        Some("text") => Ok(IdForm::Text),
        Some(other) => Err(format!("has as = {other:?}; allowed: \"text\", or to leave it out")),
    }
}

fn missing_number(word: Option<Word>) -> Result<MissingNumber, String> {
    match word {
        None => Ok(MissingNumber::default()),
        Some(Word::Whole(n)) => Ok(MissingNumber::Value(n as f64)),
        Some(Word::Number(x)) => Ok(MissingNumber::Value(x)),
        Some(Word::Text(s)) if s == "middle" => Ok(MissingNumber::Middle),
        Some(Word::Text(s)) if s == "lower" => Ok(MissingNumber::Lower),
        Some(Word::Text(s)) if s == "upper" => Ok(MissingNumber::Upper),
        Some(w) => Err(format!(
            "has missing = {:?}; allowed: a number, \"middle\", \"lower\" or \"upper\"",
            w.text()
        )),
    }
}

fn missing_weight(word: Option<Word>) -> Result<Option<f64>, String> {
    match word {
        None => Ok(None),
        Some(Word::Whole(n)) => Ok(Some(n as f64)),
        Some(Word::Number(x)) => Ok(Some(x)),
        Some(word) => Err(format!("has missing = {:?}; allowed: a number", word.text())),
    }
}

fn scale_of_days(scale: Option<Scale>) -> Result<Scale, String> {
    match scale.unwrap_or_default() {
        scale @ (Scale::MinusOneToOne | Scale::ZeroToOne) => Ok(scale),
        _ => {
            Err("has a scale that days do not have; allowed: minus_one_to_one, zero_to_one".into())
        }
    }
}

fn missing_day(word: Option<Word>) -> Result<MissingNumber, String> {
    match word {
        Some(Word::Text(text)) if !["middle", "lower", "upper"].contains(&text.as_str()) => {
            Ok(MissingNumber::Value(day("missing", &text)?))
        }
        Some(Word::Text(text)) => missing_number(Some(Word::Text(text))),
        Some(word) => {
            Err(format!("has missing = {}; allowed: a day, as in \"1970-01-31\"", word.text()))
        }
        None => Ok(MissingNumber::default()),
    }
}

fn unknown(labels: &Labels, word: Option<Word>) -> Result<Unknown, String> {
    if word.as_ref().is_some_and(|word| word.text() == "error") {
        return match labels.position("error") {
            Some(_) => {
                Err("has unknown = \"error\" and a category of that name; name another category"
                    .into())
            }
            None => Ok(Unknown::Refuse),
        };
    }
    let found = category(labels, "unknown", word, "ignore\" or \"error")?;
    Ok(found.map_or(Unknown::Zeros, Unknown::Category))
}

fn category(
    labels: &Labels,
    key: &str,
    word: Option<Word>,
    or: &str,
) -> Result<Option<usize>, String> {
    let Some(text) = word.map(|w| w.text()) else { return Ok(None) };
    match (labels.position(&text), text == "ignore") {
        (Some(_), true) => Err(format!(
            "has {key} = \"ignore\" and a category of that name; leave `{key}` out for all zeros"
        )),
        (Some(i), false) => Ok(Some(i)),
        (None, true) => Ok(None),
        (None, false) => {
            Err(format!("has {key} = {text:?}; allowed: one of its categories, or \"{or}\""))
        }
    }
}

impl TryFrom<RawSchema> for Schema {
    type Error = SchemaError;

    fn try_from(raw: RawSchema) -> Result<Self, SchemaError> {
        raw.unchecked()?.checked()
    }
}

impl RawSchema {
    /// Every word is understood; whether they go together is not looked at.
    pub(super) fn unchecked(self) -> Result<Schema, SchemaError> {
        self.understood(|columns| {
            let mut columns: Vec<Column> =
                columns.into_iter().map(RawColumn::column).collect::<Result<_, _>>()?;
            // They were made in the place of what was written, which is more than twice as large.
            columns.shrink_to_fit();
            Ok(columns)
        })
    }
}

impl<C> RawSchema<C> {
    pub(super) fn understood(
        self,
        columns: impl FnOnce(C) -> Result<Vec<Column>, SchemaError>,
    ) -> Result<Schema, SchemaError> {
        let raw = self;
        let delimiter = match raw.delimiter {
            None => None,
            Some(text) => match text.as_bytes() {
                [b] if b.is_ascii() && !b"\"\n\r".contains(b) => Some(*b),
                _ => return Err(SchemaError::Delimiter(text)),
            },
        };
        let decimal_comma = match raw.decimal.as_deref() {
            None | Some(".") => false,
            Some(",") if delimiter == Some(b',') => return Err(SchemaError::DecimalIsDelimiter),
            Some(",") => true,
            Some(other) => return Err(SchemaError::Decimal(other.into())),
        };
        let row_norm = match raw.row_norm {
            BoundWord::Number(x) => x,
            BoundWord::Text(text) if text == TODO => return Err(SchemaError::OpenRowNorm),
            BoundWord::Text(text) => {
                return Err(SchemaError::Syntax(format!(
                    "row_norm = {text:?}: a number is needed"
                )));
            }
        };
        let columns = Arc::new(columns(raw.column)?);
        Ok(Schema {
            row_norm,
            public_n: raw.public_n,
            header: raw.header.unwrap_or(true),
            delimiter,
            trim: raw.trim.unwrap_or(true),
            decimal_comma,
            missing_tokens: raw.missing_tokens.unwrap_or_else(|| vec![String::new()]),
            undeclared: raw.undeclared.unwrap_or_default(),
            features: raw.features,
            columns,
            pairs: raw.pairs.into_iter().map(pair).collect::<Result<_, _>>()?,
            drafted: raw.drafted,
            asked_of: None,
            telling: Vec::new(),
            parties_from: None,
        })
    }
}

fn pair(names: Vec<String>) -> Result<[String; 2], SchemaError> {
    names.try_into().map_err(|names: Vec<String>| SchemaError::Pair {
        pair: format!("{names:?}"),
        what: format!("has {} columns; allowed: two", names.len()),
    })
}

/// A piece of a schema file that has columns and nothing else; `None` where something is wrong.
pub(super) fn columns(text: &str) -> Option<Vec<Column>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct RawColumns {
        column: Vec<RawColumn>,
    }
    let columns = toml::from_str::<RawColumns>(text).ok()?.column;
    columns.into_iter().map(|column| column.column().ok()).collect()
}

impl From<Schema> for RawSchema {
    fn from(schema: Schema) -> Self {
        let columns = schema.columns.iter().map(raw_column).collect();
        RawSchema::of(schema, columns)
    }
}

impl<C> RawSchema<C> {
    /// Defaults are written out for tables: a reader of the file should not have to know them. For
    /// LIBSVM most keys mean little, and only what was changed is written.
    pub(super) fn of(schema: Schema, column: C) -> Self {
        let table = schema.features.is_none();
        let usual_tokens = matches!(&schema.missing_tokens[..], [token] if token.is_empty());
        RawSchema {
            row_norm: BoundWord::Number(schema.row_norm),
            public_n: schema.public_n,
            features: schema.features,
            header: table.then_some(schema.header),
            delimiter: schema.delimiter.map(|b| char::from(b).to_string()),
            trim: (table || !schema.trim).then_some(schema.trim),
            decimal: schema.decimal_comma.then(|| ",".to_string()),
            missing_tokens: (table || !usual_tokens).then_some(schema.missing_tokens),
            undeclared: (table || schema.undeclared != Undeclared::default())
                .then_some(schema.undeclared),
            pairs: schema.pairs.into_iter().map(Vec::from).collect(),
            drafted: schema.drafted,
            column,
        }
    }
}

/// A schema file in which the kind of the columns `asked` is open. Column by column, so that a
/// comment can stand above each.
pub(super) fn asking(schema: Schema, asked: &BTreeMap<usize, String>) -> String {
    const SOUND: &str = "a checked schema holds only tables, numbers and text";
    #[derive(Serialize)]
    struct One {
        column: [RawColumn; 1],
    }
    let mut raw = RawSchema::from(schema);
    let columns = std::mem::take(&mut raw.column);
    let head = toml::Table::try_from(&raw).expect(SOUND);
    let head: toml::Table = head.into_iter().filter(|(key, _)| key != "column").collect();
    let mut out = toml::to_string(&head).expect(SOUND);
    for (i, mut column) in columns.into_iter().enumerate() {
        out.push('\n');
        if let Some(question) = asked.get(&i) {
            out.push_str(&format!("# {}\n", question.replace('\n', " ")));
            column.kind = TODO.into();
        }
        out.push_str(&toml::to_string(&One { column: [column] }).expect(SOUND));
    }
    out
}

fn raw_missing(missing: MissingNumber, value: impl FnOnce(f64) -> Word) -> Word {
    match missing {
        MissingNumber::Middle => Word::Text("middle".into()),
        MissingNumber::Lower => Word::Text("lower".into()),
        MissingNumber::Upper => Word::Text("upper".into()),
        MissingNumber::Value(x) => value(x),
    }
}

fn raw_user(name: String, form: IdForm) -> RawColumn {
    let form = (form == IdForm::Text).then(|| "text".to_owned());
    RawColumn { form, ..RawColumn::blank(name, ColumnKind::User) }
}

pub(super) fn raw_column(column: &Column) -> RawColumn {
    let Column { name, role } = column.clone();
    match role {
        Role::Ignored => RawColumn::blank(name, ColumnKind::Ignored),
        Role::User(form) => raw_user(name, form),
        Role::Weight(weight) => RawColumn {
            lower: Some(BoundWord::Number(weight.lower)),
            upper: Some(BoundWord::Number(weight.upper)),
            missing: weight.missing.map(Word::Number),
            ..RawColumn::blank(name, ColumnKind::Weight)
        },
        Role::Numeric(n) => {
            let (curve, knots) = raw_curve(n.curve);
            RawColumn {
                lower: Some(BoundWord::Number(n.lower)),
                upper: Some(BoundWord::Number(n.upper)),
                scale: Some(n.scale),
                quantiles: Some(n.quantiles).filter(|q| !q.is_empty()),
                curve,
                knots,
                missing: Some(raw_missing(n.missing, Word::Number)),
                ..RawColumn::blank(name, ColumnKind::Numeric)
            }
        }
        Role::Date(n) => {
            let (curve, _) = raw_curve(n.curve);
            let day = |x: f64| crate::day::text(x as i64);
            RawColumn {
                lower: Some(BoundWord::Text(day(n.lower))),
                upper: Some(BoundWord::Text(day(n.upper))),
                scale: Some(n.scale),
                curve,
                missing: Some(raw_missing(n.missing, |x| Word::Text(day(x)))),
                ..RawColumn::blank(name, ColumnKind::Date)
            }
        }
        Role::Categorical(c) => raw_categorical(name, &c),
        Role::Target(target) => raw_target(name, target),
    }
}

fn raw_categorical(name: String, c: &Categorical) -> RawColumn {
    let label = |i: Option<usize>| match i {
        Some(i) => Some(Word::Text(c.categories.name(i).into())),
        None if c.categories.position("ignore").is_some() => None,
        None => Some(Word::Text("ignore".into())),
    };
    RawColumn {
        missing: label(c.missing),
        unknown: match c.unknown {
            Unknown::Refuse => Some(Word::Text("error".into())),
            Unknown::Category(i) => label(Some(i)),
            Unknown::Zeros => label(None),
        },
        categories: Some(ListWord::Known(c.categories.to_raw())),
        ordered: c.order.as_ref().map(|_| true),
        curve: c.order.as_ref().and_then(|order| i64::try_from(order.declared()?).ok()),
        ..RawColumn::blank(name, ColumnKind::Categorical)
    }
}

fn raw_target(name: String, Target { kind, missing }: Target) -> RawColumn {
    let missing = missing.map(Word::Text);
    match kind {
        TargetKind::Classes(labels) => RawColumn {
            classes: Some(ListWord::Known(labels.to_raw())),
            missing,
            ..RawColumn::blank(name, ColumnKind::Target)
        },
        TargetKind::Range { lower, upper } => RawColumn {
            lower: Some(BoundWord::Number(lower)),
            upper: Some(BoundWord::Number(upper)),
            missing,
            ..RawColumn::blank(name, ColumnKind::Target)
        },
    }
}

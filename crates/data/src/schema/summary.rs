//! The schema in words.

use super::{Categorical, Column, Numeric, Role, Scale, Schema, TargetKind, Unknown};
use crate::{IdForm, Labels};
use std::fmt::Write;

impl Schema {
    /// What each column becomes, one line each, and the shape of the encoded table.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let shape = if self.sparse() { "sparse" } else { "dense" };
        let count = self.public_n().map_or("not declared".to_string(), |n| n.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{} encoded columns, kept {shape}", self.width());
        let _ = writeln!(out, "row norm at most {}; public count: {count}", self.line_norm());
        let (curved, pairs) = (self.curved(), self.pairs().len());
        let kinds =
            [(curved, format!("curves of {curved} columns")), (pairs, format!("{pairs} pairs"))];
        let kinds: Vec<String> =
            kinds.into_iter().filter(|kind| kind.0 > 0).map(|kind| kind.1).collect();
        if !kinds.is_empty() {
            let (kinds, norm) = (kinds.join(" and "), self.row_norm());
            let _ = writeln!(out, "{kinds}, which make it at most {norm:.4}");
        }
        for pair in self.paired() {
            let [one, other] = pair.columns.map(Column::name);
            let _ = writeln!(out, "pair of {one} and {other}: {} products", pair.width());
        }
        if let Some(drafted) = self.drafted() {
            let known = if drafted.public() {
                "which is said to be public"
            } else {
                "not said to be public"
            };
            let _ = writeln!(out, "drafted from {}, {known}", drafted.from());
        }
        if let Some(n) = self.features() {
            let _ = writeln!(out, "LIBSVM indices 1 to {n}, values as they are");
        } else {
            let tokens = self
                .missing_tokens()
                .iter()
                .map(|t| format!("{t:?}"))
                .collect::<Vec<_>>()
                .join(" ");
            let _ = writeln!(out, "missing is written as: {tokens}");
        }
        let longest = self.columns().iter().map(|c| c.name().chars().count()).max().unwrap_or(0);
        let _ = writeln!(out);
        for column in self.columns() {
            let (kind, becomes) = words(column);
            let _ = writeln!(out, "{:longest$}  {kind:<11}  {becomes}", column.name());
        }
        out
    }
}

fn person(form: IdForm) -> &'static str {
    match form {
        IdForm::Canonical => "records with the same value belong to one person",
        IdForm::Text => "records with the same value, letter by letter, belong to one person",
    }
}

/// The knots of a curve, if there is one.
fn hats(numeric: &Numeric, date: bool) -> String {
    match numeric.hat_count() {
        0 => String::new(),
        count => {
            let knots = numeric.knot_words(date).join(", ");
            let s = if count == 1 { "" } else { "s" };
            format!(" and a curve of {count} hat{s} (knots at {knots})")
        }
    }
}

fn words(column: &Column) -> (&'static str, String) {
    match column.role() {
        Role::Ignored => ("ignored", "not read".into()),
        Role::User(form) => ("user", person(*form).into()),
        Role::Weight(weight) => {
            let missing = weight.missing.map_or("an error".to_string(), |x| x.to_string());
            let (lower, upper) = (weight.lower, weight.upper);
            let text = format!(
                "how much a record counts: clipped to [{lower}, {upper}], as a part of {upper}; missing: {missing}"
            );
            ("weight", text)
        }
        Role::Numeric(n) => {
            let scale = match n.scale {
                Scale::MinusOneToOne => ", scaled to [-1, 1]",
                Scale::ZeroToOne => ", scaled to [0, 1]",
                Scale::Log => ", its logarithm scaled to [0, 1]",
                Scale::Quantile => ", scaled to [-1, 1] over its quantiles",
                Scale::None => "",
            };
            let text = format!(
                "1 column{}, clipped to [{}, {}]{scale}; missing: {}",
                hats(n, false),
                n.lower,
                n.upper,
                n.encoded_missing()
            );
            ("numeric", text)
        }
        Role::Date(n) => {
            let day = |x: f64| crate::day::text(x as i64);
            let scale = if n.scale == Scale::ZeroToOne { "[0, 1]" } else { "[-1, 1]" };
            let (lower, upper, missing) = (day(n.lower), day(n.upper), n.encoded_missing());
            let hats = hats(n, true);
            let text = format!(
                "1 column{hats}, clipped to [{lower}, {upper}], scaled to {scale}; missing: {missing}"
            );
            ("date", text)
        }
        Role::Categorical(c) => ("categorical", categories(c)),
        Role::Target(t) => {
            let missing = t.missing.as_deref().map_or("an error".to_string(), str::to_string);
            let text = match t.kind() {
                TargetKind::Classes(labels) => {
                    format!("{}; missing: {missing}", classes(t.kind(), labels))
                }
                TargetKind::Range { lower, upper } => {
                    format!("clipped to [{lower}, {upper}], scaled to [-1, 1]; missing: {missing}")
                }
            };
            ("target", text)
        }
    }
}

fn categories(c: &Categorical) -> String {
    let goes =
        |i: Option<usize>| i.map_or("all zeros".to_string(), |i| c.categories.name(i).to_string());
    let unknown = match c.unknown {
        Unknown::Refuse => "an error".to_string(),
        Unknown::Category(i) => goes(Some(i)),
        Unknown::Zeros => goes(None),
    };
    let columns = match &c.order {
        None => format!("{} columns of 0/1", c.categories.len()),
        Some(order) => {
            let knots: Vec<&str> =
                order.knots().into_iter().map(|i| c.categories.name(i)).collect();
            let (count, s) = (knots.len(), if knots.len() == 1 { "" } else { "s" });
            let hats = match count {
                0 => String::new(),
                _ => format!(" and a curve of {count} hat{s} (knots at {})", knots.join(", ")),
            };
            format!("1 column{hats}, from -1 to 1 along their order")
        }
    };
    format!("{columns}; missing: {}; unknown: {unknown}", goes(c.missing))
}

fn classes(kind: &TargetKind, labels: &Labels) -> String {
    let each = |(i, name)| format!("{name} is {}", kind.encode_class(i));
    labels.names().enumerate().map(each).collect::<Vec<_>>().join(", ")
}

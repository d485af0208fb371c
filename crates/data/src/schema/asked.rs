//! The schema of a question about single columns: a mean, a histogram, a quantile.
//!
//! A model wants rows of one length and columns in scales of their own; a question about a column
//! wants its values as they are. So numbers are scaled straight to −1 … 1 whatever scale the schema
//! gives them, and no row is shortened.

use super::{Categorical, Column, MissingNumber, Numeric, Role, Scale, Schema, SchemaError};
use super::{Target, TargetKind, Unknown};
use crate::number;
use std::sync::Arc;

impl Schema {
    /// The schema under which tables are read for a question about `columns`: they are its features,
    /// in the order of this schema, whatever role they have here; the column of the user stays, or is
    /// `user`; no other column is read, and there is no target.
    ///
    /// A missing target, which a fit refuses, is the class or the number that the schema gives for
    /// it, otherwise no class, or the middle of the range. A public count is not taken over: it is
    /// one of records, and a question may be about users.
    ///
    /// # Errors
    /// If there is no such column, one is named twice, or the schema says neither bounds nor
    /// categories of it.
    pub fn asking_about(&self, columns: &[&str], user: Option<&str>) -> Result<Self, SchemaError> {
        if self.features.is_some() {
            let what = "is a number of a LIBSVM file, whose values have no bounds; give a table with a schema";
            return Err(wrong(columns.first().unwrap_or(&""), what));
        }
        let mut new = self.clone();
        for (at, name) in columns.iter().enumerate() {
            let found = self.find(name)?;
            if columns[..at].contains(name) {
                return Err(wrong(name, "is asked about twice"));
            }
            if user == Some(*name) {
                return Err(wrong(name, "says whose row it is; ask about another one"));
            }
            Arc::make_mut(&mut new.columns)[found].role = asked(&self.columns[found])?;
        }
        for column in Arc::make_mut(&mut new.columns) {
            let stays =
                columns.contains(&column.name.as_str()) || matches!(column.role, Role::User(_));
            if !stays {
                column.role = Role::Ignored;
            }
        }
        let root = (columns.len() as f64).sqrt();
        // A root that is rounded is rounded up, by more than what norms allow for their own rounding.
        new.row_norm = if root.fract() == 0.0 { root } else { root * (1.0 + 1e-9) };
        new.public_n = None;
        new.pairs.clear();
        let features = self.features_in_order().filter(|name| user != Some(*name));
        new.asked_of = Some(features.map(str::to_owned).collect());
        let telling = self.columns.iter().filter(|column| !matches!(column.role, Role::Ignored));
        new.telling = telling.map(|column| column.name.clone()).collect();
        new.with_roles(None, user)
    }

    /// What the columns of a matrix without names are: the features in their order, of a question
    /// those of the schema that it is under, whatever is asked.
    pub(crate) fn features_in_order(&self) -> impl Iterator<Item = &str> {
        let is_feature =
            |role: &Role| matches!(role, Role::Numeric(_) | Role::Date(_) | Role::Categorical(_));
        let asked = self.asked_of.iter().flatten().map(String::as_str);
        let own = self.columns.iter().filter(move |column| is_feature(&column.role));
        let own = own.filter(|_| self.asked_of.is_none()).map(|column| column.name.as_str());
        asked.chain(own)
    }

    /// The numbers of the features that a column becomes, and the column.
    pub fn place_of(&self, name: &str) -> Option<(std::ops::Range<usize>, &Column)> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        let before = self.columns[..at].iter().map(Column::width).sum::<usize>();
        Some((before..before + self.columns[at].width(), &self.columns[at]))
    }
}

fn wrong(column: &str, what: &str) -> SchemaError {
    SchemaError::Column { column: column.to_owned(), what: what.to_owned() }
}

/// The role of a column that is asked about.
fn asked(column: &Column) -> Result<Role, SchemaError> {
    let straight = |lower: f64, upper: f64, missing: MissingNumber| Numeric {
        lower,
        upper,
        scale: Scale::MinusOneToOne,
        quantiles: Vec::new(),
        missing,
        curve: None,
    };
    Ok(match &column.role {
        Role::Numeric(n) => Role::Numeric(straight(n.lower, n.upper, n.missing)),
        Role::Date(n) => Role::Date(straight(n.lower, n.upper, n.missing)),
        // How many are in each category is asked, whatever their order.
        Role::Categorical(categorical) => {
            Role::Categorical(Categorical { order: None, ..categorical.clone() })
        }
        Role::Target(Target { kind: TargetKind::Range { lower, upper }, missing }) => {
            let given = missing.as_deref().and_then(|text| number::parse(text.as_bytes()));
            let missing = given.map_or(MissingNumber::Middle, MissingNumber::Value);
            Role::Numeric(straight(*lower, *upper, missing))
        }
        Role::Target(Target { kind: TargetKind::Classes(labels), missing }) => {
            Role::Categorical(Categorical {
                categories: labels.clone(),
                missing: missing.as_deref().and_then(|text| labels.position(text)),
                unknown: Unknown::Zeros,
                order: None,
            })
        }
        Role::Ignored => {
            let what = "is ignored, so that nothing is known of its values; give it bounds or categories in the schema";
            return Err(wrong(&column.name, what));
        }
        Role::User(_) => {
            return Err(wrong(&column.name, "says whose row it is; ask about another one"));
        }
        Role::Weight(_) => {
            let what = "says how much a record counts; give it kind = \"numeric\" in the schema to ask about it";
            return Err(wrong(&column.name, what));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, parse_csv};

    const SCHEMA: &str = "
        row_norm = 0.1
        public_n = 7
        missing_tokens = ['', '?']
        [[column]]
        name = 'amount'
        kind = 'numeric'
        lower = 0
        upper = 1000
        scale = 'log'
        missing = 250
        [[column]]
        name = 'town'
        kind = 'categorical'
        categories = ['a', 'b']
        [[column]]
        name = 'note'
        kind = 'ignored'
        [[column]]
        name = 'who'
        kind = 'user'
        [[column]]
        name = 'score'
        kind = 'target'
        lower = -10
        upper = 10
        [[column]]
        name = 'ill'
        kind = 'target'
        classes = ['no', 'yes']
    ";

    /// A fit would take logarithms, shorten every row to a tenth and ask which target is meant.
    #[test]
    fn values_are_straight_and_rows_are_not_shortened() {
        let schema: Schema = SCHEMA.parse().unwrap();
        let asked = schema.asking_about(&["score", "amount", "ill"], None).unwrap();
        assert_eq!(asked.user(), Some("who"));
        assert_eq!((asked.public_n(), asked.target().is_none()), (None, true));
        let csv = "amount,town,note,who,score,ill\n\
                   0,a,x,1,10,yes\n500,b,x,2,-30,no\n?,?,x,2,?,perhaps\n9e9,c,x,1,0,?\n";
        let table = parse_csv(csv.as_bytes(), "t.csv", &asked, b',', Purpose::Fit).unwrap();
        let rows: Vec<Vec<f64>> = (0..4).map(|i| table.rows.dense_row(i).to_vec()).collect();
        assert_eq!(rows[0], [-1.0, 1.0, 0.0, 1.0]);
        assert_eq!(rows[1], [0.0, -1.0, 1.0, 0.0]);
        // Missing: 250, the middle of the range, and a class that is none.
        assert_eq!(rows[2], [-0.5, 0.0, 0.0, 0.0]);
        assert_eq!(rows[3], [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(table.users, Some(vec![0, 1, 1, 0]));
        assert_eq!(asked.place_of("ill").map(|(place, _)| place), Some(2..4));
    }

    #[test]
    fn what_nothing_is_known_of_is_not_asked_about() {
        let schema: Schema = SCHEMA.parse().unwrap();
        let said =
            |columns: &[&str], user| schema.asking_about(columns, user).unwrap_err().to_string();
        assert!(said(&["note"], None).contains("ignored"));
        assert!(said(&["who"], None).contains("whose row"));
        assert!(said(&["town"], Some("town")).contains("whose row"));
        assert!(said(&["town", "town"], None).contains("twice"));
        assert!(said(&["age"], None).contains("no column `age`; declared: `amount`"));
        let libsvm = Schema::libsvm(3, 1.0, Target::range(0.0, 1.0).unwrap()).unwrap();
        assert!(libsvm.asking_about(&["1"], None).unwrap_err().to_string().contains("LIBSVM"));
        // Another column may say whose row it is.
        assert_eq!(schema.asking_about(&["town"], Some("note")).unwrap().user(), Some("note"));
    }

    /// A matrix of age and height has two columns, and so has a question about age and the target.
    #[test]
    fn the_second_column_of_a_matrix_is_not_read_as_the_target() {
        let bounds = [(0.0, 100.0), (0.0, 100.0)];
        let schema = Schema::bounded(&bounds, Target::range(0.0, 100.0).unwrap()).unwrap();
        let schema = schema.named(["age", "height"]).unwrap();
        let matrix = crate::Dataset::dense(&[10.0, 90.0][..], 1, 2).unwrap();
        let read = |columns: &[&str]| {
            let asked = schema.asking_about(columns, None).unwrap();
            crate::encode(&matrix, &asked).map(|table| table.rows.dense_row(0).to_vec())
        };
        let wrong = read(&["age", "target"]).unwrap_err().to_string();
        assert!(wrong.contains("target"), "{wrong}");
        assert_eq!(read(&["height"]).unwrap(), [0.8]);
    }
}

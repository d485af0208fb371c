//! What is public about a table, written down by a person.
//!
//! The schema is the only source of the encoding: nothing is read off the private data. See
//! `docs/schema.md` for the file format with a full example.

mod access;
mod asked;
mod bounded;
mod canonical;
mod column;
mod curve;
mod drafted;
mod error;
mod order;
mod pair;
mod pieces;
mod raw;
mod summary;
mod words;
mod written;

pub use column::{
    Categorical, Column, MissingNumber, Numeric, RecordWeight, Role, Scale, Target, TargetKind,
    Undeclared, Unknown,
};
pub use curve::{Curve, HAT, Hats};
pub use drafted::Drafted;
pub(crate) use drafted::Fingerprint;
pub use error::SchemaError;
pub use order::CategoryOrder;
pub use pair::{CoarseBasis, PairPlace};
use raw::RawSchema;

use crate::norm::{LARGEST, SMALLEST};
use crate::{IdForm, Labels};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// A checked schema. Made from TOML ([`str::parse`], [`Schema::read`]), from JSON inside a model
/// (serde) or by [`Schema::libsvm`]; all ways go through the same checks.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    pub(crate) row_norm: f64,
    pub(crate) public_n: Option<u64>,
    pub(crate) header: bool,
    pub(crate) delimiter: Option<u8>,
    pub(crate) trim: bool,
    /// Numbers have a comma where others have a point.
    pub(crate) decimal_comma: bool,
    pub(crate) missing_tokens: Vec<String>,
    pub(crate) undeclared: Undeclared,
    pub(crate) features: Option<u32>,
    /// Shared by whoever has a copy: with ten thousand columns they are most of its memory.
    pub(crate) columns: Arc<Vec<Column>>,
    /// Columns whose products are features, two and two.
    pub(crate) pairs: Vec<[String; 2]>,
    pub(crate) drafted: Option<Drafted>,
    /// The features of the schema that this is a question under, see [`Schema::asking_about`]: a
    /// table may then be read with its owners and without a target.
    pub(crate) asked_of: Option<Vec<String>>,
    /// The columns that say something of a record in that schema, whether or not the question reads them:
    /// none of them is public, as who a party is has to be.
    pub(crate) telling: Vec<String>,
    /// The column that says with which party a row is, see [`Schema::with_parties`]. Of a run, and in no
    /// file: a table without parties is read without it.
    pub(crate) parties_from: Option<String>,
}

impl Schema {
    /// The schema of a LIBSVM file: `features` indices from 1, rows scaled into `row_norm`.
    pub fn libsvm(features: u32, row_norm: f64, target: TargetKind) -> Result<Self, SchemaError> {
        let target = Target { kind: target, missing: None };
        let columns = vec![Column { name: "label".into(), role: Role::Target(target) }];
        let columns = Arc::new(columns);
        Self { features: Some(features), header: false, columns, ..Self::bare(row_norm) }.checked()
    }

    /// A schema without columns, with the default of every other key.
    fn bare(row_norm: f64) -> Self {
        Self {
            row_norm,
            public_n: None,
            header: true,
            delimiter: None,
            trim: true,
            decimal_comma: false,
            missing_tokens: vec![String::new()],
            undeclared: Undeclared::Refuse,
            features: None,
            columns: Arc::default(),
            pairs: Vec::new(),
            drafted: None,
            asked_of: None,
            telling: Vec::new(),
            parties_from: None,
        }
    }

    /// Reads a schema file.
    pub fn read(path: &Path) -> Result<Self, SchemaError> {
        let file = path.display().to_string();
        let text = crate::read_text(path).map_err(|e| SchemaError::Open {
            file: file.clone(),
            reason: crate::error::system_words(&e),
        })?;
        text.parse().map_err(|e| SchemaError::In { file, source: Box::new(e) })
    }

    /// The schema as a TOML file without comments.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a checked schema holds only tables, numbers and text")
    }

    /// The schema as a TOML file in which the kind of some columns is left to a person, with a
    /// comment each.
    pub(crate) fn to_toml_asking(&self, asked: &BTreeMap<usize, String>) -> String {
        raw::asking(self.clone(), asked)
    }

    /// Largest Euclidean norm of an encoded row, hats and products included, intercept not: R′ of
    /// proofs/curves.md, `R′² = R² + h²·(curved columns + pairs)`, and R itself without either.
    pub fn row_norm(&self) -> f64 {
        match self.curved() + self.pairs.len() {
            0 => self.row_norm,
            // Rounded up, by more than what norms allow for their own rounding.
            curved => self.row_norm.hypot(HAT * (curved as f64).sqrt()) * (1.0 + 1e-9),
        }
    }

    /// The declared norm R, which rows are scaled into before hats: it is about columns as lines and
    /// categories.
    pub fn line_norm(&self) -> f64 {
        self.row_norm
    }

    /// The public count n̂ that add-remove adjacency divides by, if one was declared.
    pub fn public_n(&self) -> Option<u64> {
        self.public_n
    }

    /// Whether the first line of a text file holds the column names. Default: yes.
    pub fn header(&self) -> bool {
        self.header
    }

    /// The declared delimiter, if any; otherwise the file's extension decides.
    pub fn delimiter(&self) -> Option<u8> {
        self.delimiter
    }

    /// Whether spaces around a field are cut off. Default: yes.
    pub fn trim(&self) -> bool {
        self.trim
    }

    /// Whether numbers have a comma where others have a point. Default: no.
    pub fn decimal_comma(&self) -> bool {
        self.decimal_comma
    }

    /// The fields that mean "missing". Default: the empty field.
    pub fn missing_tokens(&self) -> &[String] {
        &self.missing_tokens
    }

    /// What to do with columns of the file that no entry declares. Default: refuse.
    pub fn undeclared(&self) -> Undeclared {
        self.undeclared
    }

    /// Number of indices of a LIBSVM file; `None` for a table.
    pub fn features(&self) -> Option<u32> {
        self.features
    }

    /// The declared columns in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The file that it was drafted from, if it was.
    pub fn drafted(&self) -> Option<&Drafted> {
        self.drafted.as_ref()
    }

    /// The schema as it may be published with a model: a digest of the file that it was drafted
    /// from confirms a guess at it.
    pub fn without_origin(mut self) -> Self {
        self.drafted = None;
        self
    }

    /// The same schema, drafted from the file of another: for a model, whose schema has no origin.
    pub fn with_origin_of(mut self, draft: &Schema) -> Self {
        self.drafted.clone_from(&draft.drafted);
        self
    }

    /// Whether every feature is encoded as under a draft: a draft of another file of the same name has
    /// other bounds. Columns that a job gave another role, what is predicted, and curves, which a job
    /// may add, are left aside.
    pub fn encodes_as(&self, draft: &Schema) -> bool {
        let is_feature = |column: &&Column| {
            matches!(column.role, Role::Numeric(_) | Role::Date(_) | Role::Categorical(_))
        };
        let (own, draft) = (self.clone().without_curves(), draft.clone().without_curves());
        let known: HashMap<&str, &Role> =
            draft.columns.iter().map(|column| (column.name.as_str(), &column.role)).collect();
        own.features == draft.features
            && own.row_norm == draft.row_norm
            && own.columns.iter().filter(is_feature).all(|column| {
                known.get(column.name.as_str()).is_some_and(|role| **role == column.role)
            })
    }

    /// The target, once there is exactly one (see [`Schema::with_roles`]).
    pub fn target(&self) -> Option<(&str, &Target)> {
        let mut targets = self.columns.iter().filter_map(|c| match &c.role {
            Role::Target(t) => Some((c.name.as_str(), t)),
            _ => None,
        });
        targets.next().filter(|_| targets.next().is_none())
    }

    /// The column that says whose row it is, if one is declared.
    pub fn user(&self) -> Option<&str> {
        self.columns.iter().find(|c| matches!(c.role, Role::User(_))).map(|c| c.name.as_str())
    }

    /// Which spellings of an id are one person, if a column says whose row it is.
    pub fn user_form(&self) -> Option<IdForm> {
        self.columns.iter().find_map(|c| match c.role {
            Role::User(form) => Some(form),
            _ => None,
        })
    }

    /// The column that says how much a record counts, if one is declared.
    pub fn weight(&self) -> Option<(&str, &RecordWeight)> {
        self.columns.iter().find_map(|c| match &c.role {
            Role::Weight(weight) => Some((c.name.as_str(), weight)),
            _ => None,
        })
    }

    /// The same schema with one more column, which says how much a record counts: a number from 0
    /// to `upper`, given beside the other columns.
    ///
    /// # Errors
    /// If there is such a column already, or `upper` is not a number above 0.
    pub fn with_weight(mut self, name: &str, upper: f64) -> Result<Self, SchemaError> {
        let role = Role::Weight(RecordWeight { lower: 0.0, upper, missing: None });
        Arc::make_mut(&mut self.columns).push(Column { name: name.into(), role });
        self.checked()
    }

    /// The same schema for tables of which every record counts once, such as those that a model is
    /// asked about: the column of weights is not read.
    pub fn without_weight(mut self) -> Self {
        let weighs = |column: &Column| matches!(column.role, Role::Weight(_));
        if !self.columns.iter().any(weighs) {
            return self;
        }
        let columns = Arc::make_mut(&mut self.columns);
        if self.features.is_some() {
            columns.retain(|column| !weighs(column));
        }
        columns.iter_mut().filter(|c| weighs(c)).for_each(|c| c.role = Role::Ignored);
        self
    }

    /// Number of encoded columns, without an intercept.
    pub fn width(&self) -> usize {
        let columns = || self.columns.iter().map(Column::width).sum::<usize>() + self.products();
        self.features.map_or_else(columns, |n| n as usize)
    }

    /// Names of the encoded columns: the name of a numeric column for its line and `column@knot` for a
    /// hat, `column=category` for a category, the index for LIBSVM; categories with an order are
    /// named as a number is, with categories for its knots; the products of pairs come last, with `*`
    /// between two names.
    pub fn encoded_names(&self) -> Vec<String> {
        if let Some(n) = self.features {
            return (1..=n).map(|i| i.to_string()).collect();
        }
        let mut names = Vec::new();
        for column in self.columns() {
            match &column.role {
                Role::Numeric(n) | Role::Date(n) => {
                    names.push(column.name.clone());
                    let date = matches!(column.role, Role::Date(_));
                    let knots = n.knot_words(date).into_iter();
                    names.extend(knots.map(|knot| format!("{}@{knot}", column.name)));
                }
                Role::Categorical(Categorical { categories, order: Some(order), .. }) => {
                    names.push(column.name.clone());
                    let knots = order.knots().into_iter();
                    names.extend(knots.map(|i| format!("{}@{}", column.name, categories.name(i))));
                }
                Role::Categorical(c) => {
                    names.extend(c.categories.names().map(|v| format!("{}={v}", column.name)))
                }
                _ => {}
            }
        }
        names.extend(self.product_names());
        names
    }

    /// Whether rows are kept sparse. By the schema alone: LIBSVM always; a table when fewer than 3
    /// in 10 encoded entries can be non-zero (a numeric column counts as one non-zero, two of its hats
    /// beside it, a categorical one as one of its many).
    pub fn sparse(&self) -> bool {
        let hats = |c: &Column| c.numeric().map_or(0, |numeric| numeric.hat_count().min(2));
        let filled: usize =
            self.columns.iter().filter(|c| c.width() > 0).map(|c| 1 + hats(c)).sum();
        let filled = filled + self.filled_products();
        self.features.is_some() || (filled as f64) < 0.3 * self.width() as f64
    }

    /// The schema with the roles of one job: at most one target and one user column.
    ///
    /// `target` may name a target, a categorical column (its categories become the classes) or a
    /// numeric one (its bounds become the range); any other declared target is then ignored. `user`
    /// may name any column.
    pub fn with_roles(
        &self,
        target: Option<&str>,
        user: Option<&str>,
    ) -> Result<Self, SchemaError> {
        let mut new = self.clone();
        if let Some(name) = target {
            let chosen = new.find(name)?;
            for (i, column) in Arc::make_mut(&mut new.columns).iter_mut().enumerate() {
                if i == chosen {
                    let role = std::mem::replace(&mut column.role, Role::Ignored);
                    column.role = Role::Target(
                        role.into_target().ok_or(SchemaError::NotATarget(name.into()))?,
                    );
                } else if matches!(column.role, Role::Target(_)) {
                    column.role = Role::Ignored;
                }
            }
        }
        if let Some(name) = user {
            if self.features.is_some() {
                return Err(SchemaError::UserInLibsvm);
            }
            let chosen = new.find(name)?;
            for (i, column) in Arc::make_mut(&mut new.columns).iter_mut().enumerate() {
                if i == chosen {
                    if matches!(column.role, Role::Target(_)) {
                        return Err(SchemaError::TargetIsUser(name.into()));
                    }
                    if !matches!(column.role, Role::User(_)) {
                        column.role = Role::User(IdForm::default());
                    }
                } else if matches!(column.role, Role::User(_)) {
                    column.role = Role::Ignored;
                }
            }
        }
        let targets: Vec<_> = new.names_where(|r| matches!(r, Role::Target(_)));
        if targets.len() > 1 {
            return Err(SchemaError::SeveralTargets(quoted(&targets)));
        }
        new.checked()
    }

    /// The schema for a run between parties: this column, of kind `ignored`, says with which of them a
    /// row is. Whose the row is stays as it is: a person is a person within a party.
    ///
    /// # Errors
    /// If there is no such column, or it says something else already.
    pub fn with_parties(&self, name: &str) -> Result<Self, SchemaError> {
        let mut new = self.clone();
        if self.features.is_some() {
            return Err(SchemaError::PartiesInLibsvm);
        }
        let chosen = new.find(name)?;
        let tells = self.telling.iter().any(|column| column == name);
        if tells || !matches!(new.columns[chosen].role, Role::Ignored) {
            return Err(SchemaError::NoPartyColumn(name.into()));
        }
        new.parties_from = Some(name.into());
        new.checked()
    }

    /// The column that says with which party a row is, in a run that has one.
    pub fn parties_from(&self) -> Option<&str> {
        self.parties_from.as_deref()
    }

    pub(crate) fn find(&self, name: &str) -> Result<usize, SchemaError> {
        self.columns.iter().position(|c| c.name == name).ok_or_else(|| SchemaError::UnknownColumn {
            given: name.into(),
            allowed: quoted(&self.names_where(|_| true)),
        })
    }

    fn names_where(&self, which: impl Fn(&Role) -> bool) -> Vec<&str> {
        self.columns.iter().filter(|c| which(&c.role)).map(|c| c.name.as_str()).collect()
    }

    /// Declared column names for messages.
    pub(crate) fn declared(&self) -> String {
        quoted(&self.names_where(|_| true))
    }

    pub(crate) fn checked(mut self) -> Result<Self, SchemaError> {
        // A LIBSVM file has no header, whatever the default of the key; two spellings of one schema
        // are equal.
        self.header &= self.features.is_none();
        if !(SMALLEST..=LARGEST).contains(&self.row_norm) {
            return Err(SchemaError::RowNorm(self.row_norm));
        }
        self.drafted.as_ref().map_or(Ok(()), Drafted::check)?;
        if self.public_n == Some(0) {
            return Err(SchemaError::PublicN);
        }
        let mut seen = HashSet::new();
        for column in self.columns() {
            column.check()?;
            if !seen.insert(column.name.as_str()) {
                return Err(SchemaError::DuplicateColumn(column.name.clone()));
            }
        }
        if self.names_where(|r| matches!(r, Role::User(_))).len() > 1 {
            return Err(SchemaError::SeveralUsers);
        }
        if self.names_where(|r| matches!(r, Role::Weight(_))).len() > 1 {
            return Err(SchemaError::SeveralWeights);
        }
        if self.features.is_some()
            && self.columns.iter().any(|c| !matches!(c.role, Role::Target(_) | Role::Weight(_)))
        {
            return Err(SchemaError::ColumnsInLibsvm);
        }
        self.check_pairs()?;
        if self.width() == 0 {
            return Err(SchemaError::NoFeatures);
        }
        if u32::try_from(self.width()).is_err() {
            return Err(SchemaError::TooWide(self.width()));
        }
        if self.features.is_none() {
            // One of two that are equal is `column=category`, `column@knot` or a product.
            let (names, mut seen) = (self.encoded_names(), HashSet::new());
            let mut encoded = names.iter().filter(|name| name.contains(['=', '@', '*']));
            if let Some(name) = encoded.find(|name| !seen.insert(name.as_str())) {
                return Err(SchemaError::DuplicateColumn(name.clone()));
            }
        }
        Ok(self)
    }
}

impl std::str::FromStr for Schema {
    type Err = SchemaError;

    fn from_str(text: &str) -> Result<Self, SchemaError> {
        // Two steps, so that a failed check arrives as itself and not as text inside a TOML error.
        let words = |error: toml::de::Error| {
            let line = error
                .span()
                .and_then(|at| text.get(..at.start))
                .map(|before| before.matches('\n').count() + 1);
            let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            SchemaError::Syntax(format!("{line}{}", error.message()))
        };
        match pieces::read(text) {
            Some(schema) => schema.checked(),
            None => toml::from_str::<RawSchema>(text).map_err(words)?.try_into(),
        }
    }
}

impl Target {
    /// A target with these classes, in order.
    pub fn classes<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
    ) -> Result<TargetKind, SchemaError> {
        let labels = Labels::new(names).map_err(|what| SchemaError::Column {
            column: "label".into(),
            what: format!("`classes` {what}"),
        })?;
        Ok(TargetKind::Classes(labels))
    }
}

impl Target {
    /// A target that is a number from `lower` to `upper`.
    ///
    /// # Errors
    /// If the two are not finite, or the first is not below the second.
    pub fn range(lower: f64, upper: f64) -> Result<TargetKind, SchemaError> {
        let kind = TargetKind::Range { lower, upper };
        let target = Role::Target(Target { kind: kind.clone(), missing: None });
        Column { name: "target".into(), role: target }.check()?;
        Ok(kind)
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

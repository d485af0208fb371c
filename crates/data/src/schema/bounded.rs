//! Schemas of tables in memory, from what their owner knows of their columns.

use super::{Column, MissingNumber, Numeric, Role, Scale, Schema, SchemaError, Target, TargetKind};
use crate::norm::LARGEST;
use std::sync::Arc;

/// What the target of such a table is called.
const TARGET: &str = "target";

/// The spelling under which a number that is none is missing.
const NAN: &str = "NaN";

impl Schema {
    /// The schema of a matrix whose columns have these bounds, `(lower, upper)` each: values are
    /// clipped to them and scaled to −1 … 1. Columns are called `1`, `2`, … until
    /// [`Schema::named`] says otherwise. The row norm is the root of the number of columns, which
    /// shortens no row; a smaller one ([`Schema::with_row_norm`]) needs less noise.
    ///
    /// # Errors
    /// If a bound is not finite, or a lower one is not below its upper one.
    pub fn bounded(bounds: &[(f64, f64)], target: TargetKind) -> Result<Self, SchemaError> {
        let columns = bounds.iter().map(|&(lower, upper)| (lower, upper, Scale::MinusOneToOne));
        let root = (bounds.len() as f64).sqrt();
        // A root that is rounded is rounded up, by more than what norms allow for their own rounding.
        let row_norm = if root.fract() == 0.0 { root } else { root * (1.0 + 1e-9) };
        Self::of_columns(columns.collect(), row_norm, target)
    }

    /// The schema of a dense matrix whose columns have no bounds but whose rows are scaled into
    /// this norm. (Of a sparse one: [`Schema::sparse_of_norm`].)
    ///
    /// # Errors
    /// If the row norm is not a positive number.
    pub fn of_norm(columns: usize, row_norm: f64, target: TargetKind) -> Result<Self, SchemaError> {
        // No row is longer than the largest norm that a schema can declare.
        let column = (-LARGEST, LARGEST, Scale::None);
        Self::of_columns(vec![column; columns], row_norm, target)
    }

    /// The schema of a sparse matrix ([`Dataset::csr`](crate::Dataset::csr)) of so many columns,
    /// whose rows are kept sparse and scaled into this norm. It is that of a LIBSVM file with these
    /// columns as its features.
    ///
    /// # Errors
    /// If there are no columns or more than 2³² − 1, or the row norm is not a positive number.
    ///
    /// # Examples
    /// ```
    /// use reticent_data::{Dataset, Schema, Target, encode};
    ///
    /// // Two rows of four columns: (0, 3, 0, 4) and (1, 0, 0, 0).
    /// let data = Dataset::csr(&[0, 2, 3], &[1, 3, 0], &[3.0, 4.0, 1.0][..], 4)?;
    /// let schema = Schema::sparse_of_norm(4, 1.0, Target::range(-1.0, 1.0)?)?;
    /// let table = encode(&data.with_targets(&[0.5, -1.0])?, &schema)?;
    /// assert_eq!(table.len(), 2);
    /// # Ok::<(), reticent_data::DataError>(())
    /// ```
    pub fn sparse_of_norm(
        columns: usize,
        row_norm: f64,
        target: TargetKind,
    ) -> Result<Self, SchemaError> {
        let features = u32::try_from(columns).map_err(|_| SchemaError::Column {
            column: "features".into(),
            what: format!("are {columns}, and a sparse matrix has at most {}", u32::MAX),
        })?;
        Self::libsvm(features, row_norm, target)
    }

    fn of_columns(
        columns: Vec<(f64, f64, Scale)>,
        row_norm: f64,
        kind: TargetKind,
    ) -> Result<Self, SchemaError> {
        let numeric = |(i, (lower, upper, scale)): (usize, (f64, f64, Scale))| Column {
            name: (i + 1).to_string(),
            role: Role::Numeric(Numeric {
                lower,
                upper,
                scale,
                quantiles: Vec::new(),
                missing: MissingNumber::Middle,
                curve: None,
            }),
        };
        let target = Role::Target(Target { kind, missing: None });
        let target = Column { name: TARGET.into(), role: target };
        let columns = columns.into_iter().enumerate().map(numeric).chain([target]).collect();
        let columns = Arc::new(columns);
        Self { columns, ..Self::bare(row_norm) }.checked()
    }

    /// The same schema with another row norm, which rows are scaled into.
    ///
    /// # Errors
    /// If it is not a positive number.
    pub fn with_row_norm(self, row_norm: f64) -> Result<Self, SchemaError> {
        Self { row_norm, ..self }.checked()
    }

    /// The same schema with these names for its feature columns, in order.
    ///
    /// # Errors
    /// If there are not as many as features, or one of them is empty or occurs twice.
    pub fn named<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Self, SchemaError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let columns = Arc::make_mut(&mut self.columns);
        let features: Vec<&mut Column> =
            columns.iter_mut().filter(|column| column.width() > 0).collect();
        if features.len() != names.len() {
            let what = format!("has {} names for {} features", names.len(), features.len());
            return Err(SchemaError::Column { column: "names".into(), what });
        }
        let mut renamed = Vec::with_capacity(names.len());
        for (column, name) in features.into_iter().zip(names) {
            renamed.push((std::mem::replace(&mut column.name, name.clone()), name));
        }
        for own in self.pairs.iter_mut().flatten() {
            if let Some((_, new)) = renamed.iter().find(|(old, _)| old == own) {
                own.clone_from(new);
            }
        }
        self.checked()
    }

    /// The same schema with another name for its target, if it has one.
    ///
    /// # Errors
    /// If another column has that name.
    pub fn with_target_named(mut self, name: &str) -> Result<Self, SchemaError> {
        let is_target = |column: &&mut Column| matches!(column.role, Role::Target(_));
        if let Some(target) = Arc::make_mut(&mut self.columns).iter_mut().find(is_target) {
            target.name = name.into();
        }
        self.checked()
    }

    /// The same schema, under which NaN is a missing number, encoded as the middle of the bounds;
    /// otherwise it is refused.
    pub fn with_nan_missing(mut self) -> Self {
        if !self.missing_tokens.iter().any(|token| token == NAN) {
            self.missing_tokens.push(NAN.into());
        }
        self
    }
}

//! What becomes of the fields of one column: a schema's columns made ready for many records.

use crate::labels::Lookup;
use crate::schema::{
    Categorical, CoarseBasis, Hats, Numeric, PairPlace, RecordWeight, Role, Schema, Target,
    TargetKind, Unknown,
};
use crate::{CellProblem, EncodedRow, number};

#[derive(Debug)]
pub(crate) enum Slot {
    Number(NumberSlot),
    Day(NumberSlot),
    Category(Box<CategorySlot>),
    Class(Box<ClassSlot>),
    Range { kind: TargetKind, missing: Option<f64> },
    Weight(RecordWeight),
    User,
    Party,
    Skip,
}

impl Slot {
    /// That of a column whose features begin at `at`; target, owner and weight are read for a `fit`.
    pub fn of(role: &Role, at: u32, fit: bool) -> Self {
        match role {
            Role::Numeric(n) => Slot::Number(NumberSlot::new(at, n)),
            Role::Date(n) => Slot::Day(NumberSlot::new(at, n)),
            Role::Categorical(c) => Slot::Category(Box::new(CategorySlot::new(at, c))),
            Role::Target(target) if fit => Slot::of_target(target),
            Role::User(_) if fit => Slot::User,
            Role::Weight(weight) if fit => Slot::Weight(*weight),
            _ => Slot::Skip,
        }
    }

    fn of_target(target: &Target) -> Self {
        let (missing, kind) = (target.missing.as_deref(), target.kind.clone());
        match &target.kind {
            TargetKind::Classes(labels) => {
                let missing = missing.and_then(|missing| labels.position(missing));
                Slot::Class(Box::new(ClassSlot {
                    lookup: Lookup::new(labels),
                    missing: missing.map(|i| kind.encode_class(i)),
                    allowed: labels.spellings().collect::<Vec<_>>().join(", "),
                    kind,
                }))
            }
            TargetKind::Range { .. } => {
                let missing = missing.and_then(|missing| number::parse(missing.as_bytes()));
                Slot::Range { missing: missing.map(|x| kind.encode_number(x)), kind }
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct NumberSlot {
    at: u32,
    pub numeric: Numeric,
    missing: f64,
    hats: Hats,
}

impl NumberSlot {
    fn new(at: u32, numeric: &Numeric) -> Self {
        let (missing, hats) = (numeric.encoded_missing(), numeric.hats());
        Self { at, numeric: numeric.clone(), missing, hats }
    }

    /// A number and its hats; a missing one has none.
    #[inline]
    pub fn put(&self, x: Option<f64>, row: &mut EncodedRow) {
        row.push(self.at, x.map_or(self.missing, |x| self.numeric.encode(x)));
        if let Some(x) = x.filter(|_| !self.hats.is_empty()) {
            row.bend(self.at, &self.hats, self.numeric.place(x));
        }
    }
}

#[derive(Debug)]
pub(crate) struct CategorySlot {
    at: u32,
    pub lookup: Lookup,
    pub missing: Option<u32>,
    unknown: Unknown,
    /// The number that it is along its order, where it has one.
    order: Option<NumberSlot>,
}

impl CategorySlot {
    fn new(at: u32, c: &Categorical) -> Self {
        let (lookup, missing) = (Lookup::new(&c.categories), c.missing.map(|i| i as u32));
        let order = c.order().map(|order| NumberSlot::new(at, order.along()));
        Self { at, lookup, missing, unknown: c.unknown, order }
    }

    /// The category of a field: `found` is `None` for a missing one, and in it `None` for one that is
    /// not listed, which is refused unless somebody `counts` them.
    pub fn meant(
        &self,
        found: Option<Option<u32>>,
        counts: bool,
    ) -> Result<Option<u32>, CellProblem> {
        match (found, self.unknown) {
            (None, _) => Ok(self.missing),
            (Some(None), Unknown::Category(i)) => Ok(Some(i as u32)),
            (Some(None), Unknown::Refuse) if !counts => Err(CellProblem::OutsideCategories),
            (Some(known), _) => Ok(known),
        }
    }

    /// Where a category is in a pair.
    pub fn place(&self, category: u32) -> f64 {
        let i = f64::from(category);
        self.order.as_ref().map_or(i, |number| number.numeric.place(i))
    }

    /// A category, or none.
    pub fn put(&self, category: Option<u32>, row: &mut EncodedRow) {
        match (&self.order, category) {
            (Some(number), category) => number.put(category.map(f64::from), row),
            (None, Some(i)) => row.push(self.at + i, 1.0),
            (None, None) => {}
        }
    }
}

#[derive(Debug)]
pub(crate) struct ClassSlot {
    kind: TargetKind,
    pub lookup: Lookup,
    missing: Option<f64>,
    allowed: String,
}

impl ClassSlot {
    /// The number of a class that was found, as in [`CategorySlot::meant`].
    pub fn target(&self, found: Option<Option<u32>>) -> Result<f64, CellProblem> {
        match found {
            Some(Some(i)) => Ok(self.kind.encode_class(i as usize)),
            Some(None) => Err(CellProblem::OutsideClasses(self.allowed.clone())),
            None => self.missing.ok_or(CellProblem::TargetMissing),
        }
    }
}

/// A pair and where its products go.
#[derive(Debug)]
pub(crate) struct PairSlot {
    pub first: u32,
    pub members: [usize; 2],
    pub bases: [CoarseBasis; 2],
}

impl PairSlot {
    /// The pairs of a schema, and by column which of their members it is; empty without pairs.
    pub fn all(schema: &Schema) -> (Vec<Self>, Vec<Option<usize>>) {
        let pairs = schema.paired();
        if pairs.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let mut members = vec![None; schema.columns().len()];
        let mut count = 0;
        let mut member = |slot: usize| {
            *members[slot].get_or_insert_with(|| {
                count += 1;
                count - 1
            })
        };
        let slot = |pair: PairPlace<'_>| PairSlot {
            first: pair.first as u32,
            members: pair.slots.map(&mut member),
            bases: pair.bases,
        };
        (pairs.into_iter().map(slot).collect(), members)
    }
}

//! Fields to numbers. Fitting and predicting use this one encoder, so a model sees what it was
//! trained on.

use crate::counts::{ColumnCounts, ReadCounts};
use crate::missing::Tokens;
use crate::people::PersonNumbers;
use crate::person_id::{IdForm, PersonId};
use crate::schema::{Hats, Numeric, PairPlace, Schema, TargetKind};
use crate::slot::{PairSlot, Slot};
use crate::{CellProblem, day, norm, number};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// What a table is read for: with targets or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Features, targets and users are read.
    Fit,
    /// Features alone; target, user and ignored columns may be absent.
    Predict,
}

/// A field of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A field without a value.
    Missing,
    /// Text; may be one of the missing tokens.
    Text(&'a [u8]),
    /// A field that is a number.
    Number(f64),
    /// A number in single precision: whole ones are exact up to 2²⁴ alone.
    Single(f32),
    /// A decimal number with places, rounded: another may have become the same, and both whole.
    Rounded(f64),
    /// An integer; kept as one, so that a long identifier keeps its last digits.
    Whole(i128),
    /// A truth value: 1 or 0 as a number, `true` or `false` as a category.
    Flag(bool),
    /// A day, counted from 1970-01-01.
    Day(i64),
    /// A point in time that is not the beginning of a day; by the day that it is in.
    Moment(i64),
}

/// One encoded record. Kept and cleared between records, so that reading allocates nothing per
/// record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EncodedRow {
    /// Encoded columns that are not zero, ascending.
    pub indices: Vec<u32>,
    /// The values at these indices.
    pub values: Vec<f64>,
    /// The target, when it is read.
    pub target: f64,
    /// How much it counts, when that is read: from 0 to 1.
    pub(crate) weight: f64,
    /// The owner, when there is one, numbered as met: for the encoder, which renumbers.
    pub(crate) user: u32,
    /// The party that it is with, where that is read, numbered likewise.
    pub(crate) party: u32,
    /// Which of the values are of hats or products: the row norm is not about them.
    hats: Vec<usize>,
    /// Where the columns of pairs are: a number by its place, a category by its number; `None` where
    /// the field says nothing.
    paired: Vec<Option<f64>>,
    /// Room for the others while they are scaled; empty in between.
    scaled: Vec<f64>,
}

impl EncodedRow {
    /// Forgets the last record.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.hats.clear();
        self.paired.clear();
    }

    pub(crate) fn push(&mut self, index: u32, value: f64) {
        if value != 0.0 {
            self.indices.push(index);
            self.values.push(value);
        }
    }

    /// The hats of a column whose line is at `line`, at a place of it.
    pub(crate) fn bend(&mut self, line: u32, hats: &Hats, place: f64) {
        hats.each(place, |k, value| {
            if value != 0.0 {
                self.hats.push(self.values.len());
                self.push(line + 1 + k as u32, value);
            }
        });
    }

    /// The products of a pair, where both columns say something.
    fn multiply(&mut self, pair: &PairSlot) {
        let at = |k: usize| self.paired.get(pair.members[k]).copied().flatten();
        let (Some(a), Some(b)) = (at(0), at(1)) else { return };
        PairPlace::products(pair.bases, [a, b], |k, value| {
            if value != 0.0 {
                self.hats.push(self.values.len());
                self.push(pair.first + k as u32, value);
            }
        });
    }

    /// Where the values are that are no hats.
    fn lines(&self) -> impl Iterator<Item = usize> {
        let mut hats = self.hats.iter().copied().peekable();
        (0..self.values.len()).filter(move |at| hats.next_if_eq(at).is_none())
    }

    /// The length of all but hats.
    fn length(&self) -> f64 {
        self.lines().map(|at| self.values[at] * self.values[at]).sum::<f64>().sqrt()
    }

    /// Scales all but hats into a norm.
    fn shrink(&mut self, bound: f64) {
        if self.hats.is_empty() {
            return norm::shrink_into(&mut self.values, bound);
        }
        let mut lines = std::mem::take(&mut self.scaled);
        lines.extend(self.lines().map(|at| self.values[at]));
        norm::shrink_into(&mut lines, bound);
        let mut hats = self.hats.iter().copied().peekable();
        let mut scaled = lines.drain(..);
        for (at, value) in self.values.iter_mut().enumerate() {
            if hats.next_if_eq(&at).is_none() {
                *value = scaled.next().unwrap_or(*value);
            }
        }
        drop(scaled);
        self.scaled = lines;
    }
}

/// A schema made ready for many records.
#[derive(Debug)]
pub struct Encoder {
    plan: Arc<EncodingPlan>,
    people: PersonNumbers,
    /// The parties that were met: their ids are told apart as those of persons are.
    parties: PersonNumbers,
    /// What was met, where somebody asked for it.
    counts: Option<ReadCounts>,
    /// Whether plain digits are the number that they say, whatever else a schema declares.
    digits: bool,
}

/// What does not change from record to record.
#[derive(Debug)]
struct EncodingPlan {
    slots: Vec<Slot>,
    missing: Tokens,
    /// How owners are told apart.
    person: PersonId,
    /// How parties are told apart.
    party: PersonId,
    trim: bool,
    comma: bool,
    line_norm: f64,
    pairs: Vec<PairSlot>,
    /// By slot, which of the columns of pairs it is; empty without pairs.
    members: Vec<Option<usize>>,
}

impl Encoder {
    /// Prepares `schema`; for [`Purpose::Predict`] target and user columns are skipped.
    pub fn new(schema: &Schema, purpose: Purpose) -> Self {
        let fit = purpose == Purpose::Fit;
        let mut at = 0_u32;
        let mut slots = Vec::with_capacity(schema.columns().len());
        for column in schema.columns() {
            let named = fit && schema.parties_from() == Some(column.name());
            slots.push(if named { Slot::Party } else { Slot::of(column.role(), at, fit) });
            at += column.width() as u32;
        }
        let form = schema.user_form().unwrap_or_default();
        let (pairs, members) = PairSlot::all(schema);
        let plan = EncodingPlan {
            slots,
            missing: Tokens::new(schema.missing_tokens()),
            person: PersonId::new(form, schema.decimal_comma(), schema.missing_tokens()),
            party: PersonId::new(
                IdForm::default(),
                schema.decimal_comma(),
                schema.missing_tokens(),
            ),
            trim: schema.trim(),
            comma: schema.decimal_comma(),
            line_norm: schema.line_norm(),
            pairs,
            members,
        };
        Self::of(Arc::new(plan))
    }

    fn of(plan: Arc<EncodingPlan>) -> Self {
        let (people, parties) = Default::default();
        let digits = !plan.comma && !plan.missing.has_numbers();
        Self { plan, people, parties, counts: None, digits }
    }

    /// Another one for the same schema, which has met nobody yet.
    pub(crate) fn again(&self) -> Self {
        Self::of(Arc::clone(&self.plan))
    }

    /// The numbers here of the owners and of the parties that another one has met, by their numbers
    /// there.
    pub(crate) fn adopt(&mut self, other: Self) -> (Vec<u32>, Vec<u32>) {
        (self.people.adopt(other.people), self.parties.adopt(other.parties))
    }

    /// As [`Encoder::places`], of the parties.
    pub(crate) fn party_places(&self) -> Vec<u32> {
        self.parties.places()
    }

    /// What the owners are numbered with once all are known, by the numbers that records were given.
    pub(crate) fn places(&self) -> Vec<u32> {
        self.people.places()
    }

    /// Counts what it meets from now on.
    pub(crate) fn counting(mut self, schema: &Schema) -> Self {
        self.counts = Some(ReadCounts::new(schema));
        self.digits = false;
        self
    }

    /// What was met.
    pub(crate) fn counts(self) -> Option<ReadCounts> {
        let users = self
            .plan
            .slots
            .iter()
            .any(|s| matches!(s, Slot::User))
            .then_some(self.people.len() as u64);
        self.counts.map(|counts| ReadCounts { users, ..counts })
    }

    /// Whether schema column `slot` has to be in the file.
    pub(crate) fn reads(&self, slot: usize) -> bool {
        !matches!(self.plan.slots[slot], Slot::Skip)
    }

    /// Encodes one field of schema column `slot` into `row`. Columns must come in schema order.
    pub fn put(
        &mut self,
        slot: usize,
        cell: Cell<'_>,
        row: &mut EncodedRow,
    ) -> Result<(), CellProblem> {
        let plan = &*self.plan;
        let cell = plan.meant(cell);
        if let Some(counts) = &mut self.counts {
            plan.count(slot, cell, &mut counts.columns[slot]);
        }
        match &plan.slots[slot] {
            Slot::Skip => {}
            Slot::Number(number) => {
                let x = finite(cell, plan.comma)?;
                number.put(x, row);
                plan.remember(slot, row, || x.map(|x| number.numeric.place(x)));
            }
            Slot::Day(day) => {
                let x = whole_day(cell)?;
                day.put(x, row);
                plan.remember(slot, row, || x.map(|x| day.numeric.place(x)));
            }
            Slot::Category(categories) => {
                // Whoever counts wants to know of all that are not listed.
                let found = with_text(cell, |text| categories.lookup.find(text));
                let category = categories.meant(found, self.counts.is_some())?;
                categories.put(category, row);
                plan.remember(slot, row, || category.map(|i| categories.place(i)));
            }
            Slot::Class(class) => {
                row.target = class.target(with_text(cell, |text| class.lookup.find(text)))?;
            }
            Slot::Range { kind, missing } => {
                row.target = match finite(cell, plan.comma)? {
                    Some(x) => kind.encode_number(x),
                    None => missing.ok_or(CellProblem::TargetMissing)?,
                };
            }
            Slot::Weight(weight) => {
                let x = finite(cell, plan.comma)?.or(weight.missing);
                row.weight = weight.encode(x.ok_or(CellProblem::WeightMissing)?);
            }
            Slot::User => row.user = plan.person.with(cell, |id| self.people.number(id))?,
            Slot::Party => row.party = plan.party(cell, &mut self.parties)?,
        }
        Ok(())
    }

    /// The short way for most fields of most tables, with what [`Encoder::put`] makes of them; `false`
    /// where it has to be asked.
    #[inline]
    pub(crate) fn put_digits(&self, slot: usize, text: &[u8], row: &mut EncodedRow) -> bool {
        let plan = &*self.plan;
        let (true, Some(Slot::Number(number))) = (self.digits, plan.slots.get(slot)) else {
            return false;
        };
        let Some(x) = number::short(text) else { return false };
        number.put(Some(x), row);
        plan.remember(slot, row, || Some(number.numeric.place(x)));
        true
    }

    /// The number of an owner who stands beside the columns, told apart as those in a column are.
    pub(crate) fn owner(&mut self, cell: Cell<'_>) -> Result<u32, CellProblem> {
        self.plan.person.with(self.plan.meant(cell), |id| self.people.number(id))
    }

    /// The number of a party that stands beside the columns.
    pub(crate) fn party(&mut self, cell: Cell<'_>) -> Result<u32, CellProblem> {
        self.plan.party(self.plan.meant(cell), &mut self.parties)
    }

    /// Scales a complete record into the declared row norm; hats stay as they are, and are beside it
    /// (proofs/curves.md).
    pub fn finish(&mut self, row: &mut EncodedRow) {
        if let Some(counts) = &mut self.counts {
            counts.records += 1;
            counts.shortened += u64::from(row.length() > self.plan.line_norm);
        }
        for pair in &self.plan.pairs {
            row.multiply(pair);
        }
        row.shrink(self.plan.line_norm);
    }

    /// Whether it counts what it meets.
    pub(crate) fn is_counting(&self) -> bool {
        self.counts.is_some()
    }
}

impl EncodingPlan {
    /// The number of a party, whose ids are told apart as those of persons are.
    fn party(&self, cell: Cell<'_>, known: &mut PersonNumbers) -> Result<u32, CellProblem> {
        self.party.with(cell, |id| known.number(id)).map_err(|problem| match problem {
            CellProblem::UserMissing => CellProblem::PartyMissing,
            other => other,
        })
    }

    /// Keeps where a column of a pair is until the record is complete.
    #[inline]
    fn remember(&self, slot: usize, row: &mut EncodedRow, at: impl FnOnce() -> Option<f64>) {
        if let Some(&Some(member)) = self.members.get(slot) {
            if row.paired.len() <= member {
                row.paired.resize(member + 1, None);
            }
            row.paired[member] = at();
        }
    }

    /// Counts a field as it is meant. What cannot be read is not counted: it ends the reading.
    fn count(&self, slot: usize, cell: Cell<'_>, count: &mut ColumnCounts) {
        if matches!(cell, Cell::Missing) {
            count.absent();
        }
        let bounds = |numeric: &Numeric| numeric.lower..=numeric.upper;
        let outside = match &self.slots[slot] {
            Slot::Skip | Slot::User | Slot::Party => false,
            Slot::Number(slot) => outside(finite(cell, self.comma), &bounds(&slot.numeric)),
            Slot::Day(slot) => outside(whole_day(cell), &bounds(&slot.numeric)),
            Slot::Weight(weight) => {
                outside(finite(cell, self.comma), &(weight.lower..=weight.upper))
            }
            Slot::Range { kind: TargetKind::Range { lower, upper }, .. } => {
                outside(finite(cell, self.comma), &(*lower..=*upper))
            }
            Slot::Range { .. } => false,
            Slot::Category(slot) => {
                match with_text(cell, |text| slot.lookup.find(text)) {
                    Some(Some(i)) => count.label(i as usize),
                    Some(None) => count.unlisted(),
                    None => slot.missing.iter().for_each(|&i| count.label(i as usize)),
                }
                false
            }
            Slot::Class(class) => {
                if let Some(Some(i)) = with_text(cell, |text| class.lookup.find(text)) {
                    count.label(i as usize);
                }
                false
            }
        };
        if outside {
            count.outside();
        }
    }

    /// Cuts spaces off and recognises the missing tokens.
    #[inline]
    fn meant<'a>(&self, cell: Cell<'a>) -> Cell<'a> {
        match cell {
            Cell::Text(text) => {
                let text = if self.trim { text.trim_ascii() } else { text };
                if self.missing.has(text) { Cell::Missing } else { Cell::Text(text) }
            }
            // Some writers put NaN for null; whoever declares that spelling missing means this one
            // too.
            Cell::Number(x) | Cell::Rounded(x) if x.is_nan() && self.missing.has(b"NaN") => {
                Cell::Missing
            }
            Cell::Single(x) if x.is_nan() && self.missing.has(b"NaN") => Cell::Missing,
            other => other,
        }
    }
}

fn outside(x: Result<Option<f64>, CellProblem>, bounds: &RangeInclusive<f64>) -> bool {
    matches!(x, Ok(Some(x)) if !bounds.contains(&x))
}

/// The finite number in a cell, `None` when it is missing.
#[inline]
fn finite(cell: Cell<'_>, comma: bool) -> Result<Option<f64>, CellProblem> {
    let x = match cell {
        Cell::Missing => return Ok(None),
        Cell::Number(x) | Cell::Rounded(x) => x,
        Cell::Single(x) => f64::from(x),
        Cell::Whole(n) => n as f64,
        Cell::Flag(b) => f64::from(b),
        Cell::Day(_) | Cell::Moment(_) => return Err(CellProblem::NotNumber),
        Cell::Text(text) => {
            let x = if comma { with_comma(text) } else { number::parse(text) };
            x.or_else(|| number::truth(text).map(f64::from)).ok_or(CellProblem::NotNumber)?
        }
    };
    if x.is_finite() { Ok(Some(x)) } else { Err(CellProblem::NotFinite) }
}

/// A number with a decimal comma. A point in it is no number: it would be one of thousands.
fn with_comma(text: &[u8]) -> Option<f64> {
    if text.contains(&b'.') {
        return None;
    }
    number::parse(&text.iter().map(|&b| if b == b',' { b'.' } else { b }).collect::<Vec<_>>())
}

/// The day in a cell, `None` when it is missing.
fn whole_day(cell: Cell<'_>) -> Result<Option<f64>, CellProblem> {
    let day = match cell {
        Cell::Missing => return Ok(None),
        Cell::Day(day) | Cell::Moment(day) => {
            Some(day).filter(|day| (day::FIRST..=day::LAST).contains(day))
        }
        Cell::Text(text) => day::parse(text),
        Cell::Number(_) | Cell::Rounded(_) | Cell::Single(_) | Cell::Whole(_) | Cell::Flag(_) => {
            None
        }
    };
    day.map(|day| Some(day as f64)).ok_or(CellProblem::NotDay)
}

/// A cell as text, `None` when it is missing.
fn with_text<T>(cell: Cell<'_>, f: impl FnOnce(&[u8]) -> T) -> Option<T> {
    match cell {
        Cell::Missing => None,
        Cell::Text(text) => Some(f(text)),
        // One zero, whatever its sign.
        Cell::Number(x) | Cell::Rounded(x) => Some(f((x + 0.0).to_string().as_bytes())),
        Cell::Single(x) => Some(f((f64::from(x) + 0.0).to_string().as_bytes())),
        Cell::Whole(n) => Some(f(n.to_string().as_bytes())),
        Cell::Flag(b) => Some(f(if b { b"true" } else { b"false" })),
        Cell::Day(day) | Cell::Moment(day) => {
            Some(f(day::text(day.clamp(day::FIRST, day::LAST)).as_bytes()))
        }
    }
}

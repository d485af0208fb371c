//! The append-only list of what was done to the data, written before the noise is drawn.

use crate::event::Event;
use serde::{Deserialize, Serialize};

/// The only format there is so far; a reader refuses any other.
const VERSION: u32 = 1;

/// An event, `count` times in a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    event: Event,
    count: u64,
}

impl LedgerEntry {
    /// The event that was written.
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// How many times in a row.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }
}

/// A reason for which the bound of a ledger is no guarantee, whatever its events are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Taint {
    /// The noise came from a seed somebody knows.
    SeededNoise,
    /// A paper's own version ran, whose claim does not hold (the erratum's number).
    AsPublished(u8),
    /// Something the data decided (a norm, a scale, a category) was used without an event.
    UnpaidRead,
    /// The run asked for values that carry no noise.
    RawRelease,
}

impl std::fmt::Display for Taint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Taint::SeededNoise => write!(f, "the noise was drawn from a known seed: NOT PRIVATE"),
            Taint::AsPublished(number) => {
                write!(
                    f,
                    "the algorithm ran as published, whose claim does not hold (erratum E{number})"
                )
            }
            Taint::UnpaidRead => {
                write!(f, "something read from the data was used without being paid for")
            }
            Taint::RawRelease => write!(f, "values without noise were released on request"),
        }
    }
}

/// A ledger that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// Written by another version.
    #[error(
        "the ledger has format version {given}, this program reads version {VERSION}: update the program"
    )]
    Version {
        /// The version that the file names.
        given: u32,
    },
    /// An entry that counts nothing.
    #[error("entry {position} of the ledger has count 0: an entry stands for at least one event")]
    EmptyEntry {
        /// The place of the entry, counted from 1.
        position: usize,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLedger {
    version: u32,
    entries: Vec<LedgerEntry>,
    #[serde(default)]
    taints: Vec<Taint>,
}

/// Append-only list of events. Equal events in a row are one entry with a count.
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View};
///
/// let event = Event::new(Gaussian::new(2.0)?, Adjacency::AddRemove, Unit::Record, View::Central)?;
/// let mut ledger = Ledger::new();
/// ledger.append(event.clone());
/// ledger.append_many(event, 9);
/// assert_eq!((ledger.entries().len(), ledger.total_events()), (1, 10));
/// # Ok::<(), reticent_accountant::EventError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "RawLedger", try_from = "RawLedger")]
pub struct Ledger {
    entries: Vec<LedgerEntry>,
    taints: Vec<Taint>,
}

impl From<Ledger> for RawLedger {
    fn from(ledger: Ledger) -> Self {
        Self { version: VERSION, entries: ledger.entries, taints: ledger.taints }
    }
}

impl TryFrom<RawLedger> for Ledger {
    type Error = LedgerError;
    fn try_from(format: RawLedger) -> Result<Self, LedgerError> {
        if format.version != VERSION {
            return Err(LedgerError::Version { given: format.version });
        }
        let mut ledger = Ledger::new();
        for (index, entry) in format.entries.into_iter().enumerate() {
            if entry.count == 0 {
                return Err(LedgerError::EmptyEntry { position: index + 1 });
            }
            ledger.append_many(entry.event, entry.count);
        }
        format.taints.into_iter().for_each(|taint| ledger.taint(taint));
        Ok(ledger)
    }
}

impl Ledger {
    /// An empty ledger: nothing has been done yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes one event at the end of the ledger.
    pub fn append(&mut self, event: Event) {
        self.append_many(event, 1);
    }

    /// Writes the same event `count` times; zero times writes nothing.
    pub fn append_many(&mut self, event: Event, count: u64) {
        if count == 0 {
            return;
        }
        match self.entries.last_mut() {
            // More than a counter holds begins a new entry.
            Some(last) if last.event == event && last.count.checked_add(count).is_some() => {
                last.count += count
            }
            _ => self.entries.push(LedgerEntry { event, count }),
        }
    }

    /// The entries in the order in which they were written.
    #[must_use]
    pub fn entries(&self) -> &[LedgerEntry] {
        &self.entries
    }

    /// The same with `by` times the noise of every event; `None` where one has none to scale.
    pub(crate) fn scaled(&self, by: f64) -> Option<Self> {
        let mut scaled = Ledger { taints: self.taints.clone(), ..Ledger::new() };
        for LedgerEntry { event, count } in &self.entries {
            scaled.append_many(event.scaled(by)?, *count);
        }
        Some(scaled)
    }

    /// The first `count` events, with all taints.
    #[must_use]
    pub fn front(&self, mut count: u64) -> Self {
        let mut front = Ledger { taints: self.taints.clone(), ..Ledger::new() };
        for LedgerEntry { event, count: all } in &self.entries {
            let taken = (*all).min(count);
            front.append_many(event.clone(), taken);
            count -= taken;
        }
        front
    }

    /// How many events were written.
    #[must_use]
    pub fn total_events(&self) -> u64 {
        self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.count))
    }

    /// Records why the bound is not a guarantee; it cannot be taken back.
    pub fn taint(&mut self, taint: Taint) {
        if let Err(place) = self.taints.binary_search(&taint) {
            self.taints.insert(place, taint);
        }
    }

    /// Why the bound is not a guarantee; empty when it is one.
    #[must_use]
    pub fn taints(&self) -> &[Taint] {
        &self.taints
    }
}

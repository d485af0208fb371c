//! What is asked of a budget: a reservation before a job, or a note of a release made elsewhere.

use reticent_accountant::Ledger;
use reticent_noise::Digest;

use crate::error::BudgetError;
use reticent_core::hex;

/// The relation of a table to those that the budget knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// It is the one that is known, or the first.
    #[default]
    Same,
    /// A new edition of the same people: what is asked of it adds to what was asked before.
    NewEdition,
    /// Nobody is in both. Taken as given, and recorded.
    DisjointPeople,
}

/// The identity of a table: a file of it, or rows in memory. All digests are under
/// [`Store::key`](crate::Store::key), and none of them is all zeros. Its fields are all there are: whoever pays
/// has to say each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePiece {
    /// The digest of all that a file holds, unpacked; of rows in memory, the digest of what the people
    /// in them are called ([`Store::fingerprint`](crate::Store::fingerprint)).
    pub whole: [u8; 32],
    /// The digests by which a budget of format 4 or before may know it: of its bytes, and of what
    /// they unpack to.
    pub older: Vec<[u8; 32]>,
    /// Digests of parts: another table with the same part may be of the same people.
    pub parts: Vec<[u8; 32]>,
}

impl From<[u8; 32]> for TablePiece {
    fn from(whole: [u8; 32]) -> Self {
        TablePiece { whole, older: Vec::new(), parts: Vec::new() }
    }
}

/// The table that a job is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidTable {
    pub(crate) pieces: Vec<TablePiece>,
    /// All pieces together, as a budget of format 4 or before may know them.
    pub(crate) together: Vec<[u8; 32]>,
    pub(crate) in_memory: bool,
    pub(crate) relation: Relation,
}

impl PaidTable {
    /// One file.
    #[must_use]
    pub fn file(piece: impl Into<TablePiece>, relation: Relation) -> Self {
        Self::files(vec![piece.into()], None, relation)
    }

    /// Several files; `together` are the digests by which a budget of format 4 or before may know
    /// them all, in this order.
    #[must_use]
    pub fn files(
        pieces: Vec<TablePiece>,
        together: impl IntoIterator<Item = [u8; 32]>,
        relation: Relation,
    ) -> Self {
        let together = together.into_iter().collect();
        Self { pieces, together, in_memory: false, relation }
    }

    /// Rows in memory. Nobody knows whose they are, a fold's or a whole table's: what is asked of
    /// them counts for everybody, unless nobody in them is in another table
    /// ([`Relation::DisjointPeople`]).
    #[must_use]
    pub fn in_memory(piece: impl Into<TablePiece>, relation: Relation) -> Self {
        Self { pieces: vec![piece.into()], together: Vec::new(), in_memory: true, relation }
    }

    /// Rows in memory that nobody speaks for.
    #[must_use]
    pub fn of_anybody() -> Self {
        let relation = Relation::Same;
        Self { pieces: Vec::new(), together: Vec::new(), in_memory: true, relation }
    }

    /// Whether it has the same content twice: then a record is in it twice.
    #[must_use]
    pub fn repeats(&self) -> bool {
        let all = self.pieces.iter().enumerate();
        all.into_iter().any(|(i, one)| self.pieces[..i].iter().any(|two| one.whole == two.whole))
    }
}

/// A request of a job to a budget. Its fields are all there are: whoever reserves has to say each of them.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The job, for people.
    pub label: &'a str,
    /// ε and δ of the job by itself.
    pub asked: (f64, f64),
    /// All that it will do; it is held to that by whoever asks.
    pub plan: &'a Ledger,
    /// The table.
    pub table: &'a PaidTable,
    /// Where users are protected: the column that says whose row it is. The first is bound to the
    /// budget, and another is refused.
    pub user: Option<&'a str>,
}

/// A release that was made elsewhere. Its fields are all there are: whoever records it has to say each.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// A description for people.
    pub label: &'a str,
    /// ε and δ that it was given.
    pub asked: (f64, f64),
    /// The ledger of the release.
    pub ledger: &'a Ledger,
    /// Whether to record it though it is more than is left. The budget then promises nothing any
    /// more; but that is so whether it is written down or not.
    pub beyond: bool,
}

/// A reservation, to be settled or given back.
#[must_use = "a reservation that is not settled stays open, and is counted in full"]
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    pub(crate) number: u64,
    /// The hash of the line that reserved: a number alone is a job in every budget.
    pub(crate) hash: Digest,
}

impl Reservation {
    /// The number of the job.
    #[must_use]
    pub fn job(&self) -> u64 {
        self.number
    }

    /// A hash that distinguishes it from a job of the same number in another budget; with the
    /// number it finds the reservation ([`Store::reservation`](crate::Store::reservation)).
    #[must_use]
    pub fn hash(&self) -> String {
        hex(&self.hash)
    }
}

/// ε and δ of a job are for people, but no nonsense is written down.
pub(crate) fn check_asked((epsilon, delta): (f64, f64)) -> Result<(), BudgetError> {
    let refuse = |name, given: f64, allowed: &str| {
        Err(BudgetError::Value { name, given: given.to_string(), allowed: allowed.to_owned() })
    };
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return refuse("epsilon", epsilon, "it must be a number, 0 or greater");
    }
    if !(0.0..1.0).contains(&delta) {
        return refuse("delta", delta, "it must be at least 0 and less than 1");
    }
    Ok(())
}

/// What has no event costs nothing, and was perhaps emptied.
pub(crate) fn check_events(ledger: &Ledger) -> Result<(), BudgetError> {
    if !ledger.entries().is_empty() {
        return Ok(());
    }
    let allowed = "it has no event, and what uses no data needs no budget".to_owned();
    Err(BudgetError::Value { name: "ledger", given: "an empty list".to_owned(), allowed })
}

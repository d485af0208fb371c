//! Lines that are not written yet: what a change adds to the history, decided from the books.

use reticent_accountant::{Charge, Ledger};
use reticent_noise::Digest;
use serde::Serialize;

use crate::books::{HistoryBooks, protects_users};
use crate::error::BudgetError;
use crate::file::LONGEST;
use crate::line::{BoundBody, LineKind, Use, UsersBody};
use crate::people::CountedPeople;
use crate::promise::check_name;
use crate::request::{PaidTable, Relation, TablePiece};

/// The lines that a change adds.
#[derive(Debug)]
pub(crate) struct Next {
    number: u64,
    pub drafts: Vec<LineDraft>,
}

impl Next {
    /// Behind so many lines.
    pub(crate) fn behind(lines: u64) -> Self {
        Self { number: lines, drafts: Vec::new() }
    }

    fn write(&mut self, draft: LineDraft) -> u64 {
        self.number += 1;
        self.drafts.push(draft);
        self.number
    }

    /// A line that begins a job has its own number.
    pub(crate) fn write_own(&mut self, draft: LineDraft) -> u64 {
        self.write(LineDraft { job: Some(self.number + 1), ..draft })
    }

    pub(crate) fn close(
        &mut self,
        books: &HistoryBooks,
        number: u64,
        draft: LineDraft,
    ) -> Result<(), BudgetError> {
        let job = books.open.get(&number).ok_or(BudgetError::NotOpen(number))?;
        self.write(LineDraft { job: Some(number), people: job.people.one(), ..draft });
        Ok(())
    }

    /// Who a user is, where the job protects users: the first that reserves says it for all.
    pub(crate) fn bind_users(
        &mut self,
        books: &HistoryBooks,
        plans: &[&Ledger],
        user: Option<&str>,
    ) -> Result<(), BudgetError> {
        if !plans.iter().any(|plan| protects_users(plan)) {
            return Ok(());
        }
        let given = user.ok_or_else(|| {
            BudgetError::Scope("it protects users and does not say which column names them".into())
        })?;
        check_name("user_column", given)?;
        match &books.users {
            Some(known) if known == given => Ok(()),
            Some(known) => Err(BudgetError::OtherUsers {
                dataset: books.promise.dataset.clone(),
                known: known.clone(),
                given: given.to_owned(),
            }),
            None => {
                let column = given.to_owned();
                self.write(LineDraft::new(LineKind::Users, body(&UsersBody { column })?));
                Ok(())
            }
        }
    }

    /// Whose table it is; files that are new are written down.
    pub(crate) fn bind(
        &mut self,
        books: &HistoryBooks,
        table: &PaidTable,
    ) -> Result<CountedPeople, BudgetError> {
        // A fold, a sample or a whole table, of whomever: no content tells.
        if table.in_memory && table.relation != Relation::DisjointPeople {
            return Ok(CountedPeople::Everybody);
        }
        let found: Vec<FoundPiece> = table
            .pieces
            .iter()
            .map(|piece| FoundPiece::of(books, piece, &table.together))
            .collect();
        let is_new = |one: &FoundPiece| matches!(one, FoundPiece::New);
        if found.iter().any(|one| matches!(one, FoundPiece::Part)) {
            return Ok(CountedPeople::Everybody);
        }
        let (any, all) = (found.iter().any(is_new), found.iter().all(is_new));
        let new = any.then(|| relation(books, table.relation, all)).transpose()?;
        let (mut people, mut written) = (None::<CountedPeople>, Vec::new());
        for (piece, one) in table.pieces.iter().zip(found) {
            let (whose, word) = match (one, &new) {
                (FoundPiece::New, Some((word, whose))) => (*whose, Some(*word)),
                (FoundPiece::Older(whose), _) => (whose, Some("known")),
                (FoundPiece::Bound(whose), _) => (whose, None),
                (FoundPiece::New | FoundPiece::Part, _) => (None, None),
            };
            let own = CountedPeople::of(whose);
            people = Some(people.map_or(own.clone(), |all| all.and(own)));
            // The same content under two names is bound once.
            if !written.contains(&piece.whole) {
                self.write_piece(books, piece, whose, word)?;
                written.push(piece.whole);
            }
        }
        Ok(people.unwrap_or(CountedPeople::Everybody))
    }

    /// Writes a piece down, by `word` where it is new itself, and those of its parts that are new:
    /// a name has other rows each time, a fold's and then all.
    fn write_piece(
        &mut self,
        books: &HistoryBooks,
        piece: &TablePiece,
        people: Option<u64>,
        word: Option<&str>,
    ) -> Result<(), BudgetError> {
        let is_new = |part: &&Digest| books.tables.iter().all(|one| one.fingerprint != **part);
        let parts = piece.parts.iter().filter(is_new).map(|part| (part, "part"));
        for (digest, relation) in word.map(|word| (&piece.whole, word)).into_iter().chain(parts) {
            let edition = (books.tables.len() + self.drafts.len()) as u64 + 1;
            let body = body(&BoundBody { edition, relation: relation.to_owned() })?;
            let draft = LineDraft { people, ..LineDraft::new(LineKind::Table, body) };
            self.write(LineDraft { secret: Some(*digest), ..draft });
        }
        Ok(())
    }
}

/// What a budget knows of a piece of a table.
enum FoundPiece {
    /// It is bound.
    Bound(Option<u64>),
    /// It is bound by the digest of an earlier version.
    Older(Option<u64>),
    /// A part of it is known, and not as a part of it.
    Part,
    New,
}

impl FoundPiece {
    fn of(books: &HistoryBooks, piece: &TablePiece, together: &[Digest]) -> Self {
        // A part that is known for others than the whole is: nobody can say whose it is.
        let own = known(books, &piece.whole);
        let strange = |digest: &Digest| {
            let mut same = books.tables.iter().filter(|one| one.fingerprint == *digest);
            same.any(|one| own != Some(one.people))
        };
        let of = |digests: &[Digest]| -> Vec<_> {
            digests.iter().filter_map(|digest| known(books, digest)).collect()
        };
        let mut older = of(&piece.older);
        if older.is_empty() {
            older = of(together);
        }
        match (own, older.as_slice()) {
            _ if piece.parts.iter().any(strange) => FoundPiece::Part,
            (Some(people), _) => FoundPiece::Bound(people),
            // Packed it is known for others than unpacked.
            (None, [one, others @ ..]) if others.iter().any(|other| other != one) => {
                FoundPiece::Part
            }
            (None, [people, ..]) => FoundPiece::Older(*people),
            (None, []) => FoundPiece::New,
        }
    }
}

/// Whose table has this digest.
fn known(books: &HistoryBooks, digest: &Digest) -> Option<Option<u64>> {
    let found = books.tables.iter().find(|one| !one.part && one.fingerprint == *digest);
    found.map(|known| known.people)
}

/// What files that are new are to those before, and whose they are; `all` says that no file of the
/// table is known.
fn relation(
    books: &HistoryBooks,
    given: Relation,
    all: bool,
) -> Result<(&'static str, Option<u64>), BudgetError> {
    let dataset = || books.promise.dataset.clone();
    match given {
        _ if books.tables.is_empty() => Ok(("first", Some(1))),
        Relation::Same => Err(BudgetError::AnotherTable { dataset: dataset() }),
        // Where there are several groups, nobody says which of them it is an edition of.
        Relation::NewEdition => Ok(("new-edition", (books.groups() == 1).then_some(1))),
        Relation::DisjointPeople if all => Ok(("disjoint-people", Some(books.groups() + 1))),
        Relation::DisjointPeople => Err(BudgetError::NotDisjoint { dataset: dataset() }),
    }
}

/// A line that has no place in the chain yet.
#[derive(Debug)]
pub(crate) struct LineDraft {
    pub kind: LineKind,
    pub job: Option<u64>,
    pub people: Option<u64>,
    pub charge: Option<Charge>,
    pub body: String,
    pub secret: Option<Digest>,
}

impl LineDraft {
    pub(crate) fn new(kind: LineKind, body: String) -> Self {
        Self { kind, job: None, people: None, charge: None, body, secret: None }
    }
}

impl Use {
    pub(crate) fn of(
        label: &str,
        (epsilon, delta): (f64, f64),
        ledger: &Ledger,
        beyond: bool,
    ) -> Self {
        let (between, groups) = (Vec::new(), Vec::new());
        let (label, ledger) = (label.to_owned(), ledger.clone());
        Self { label, epsilon, delta, ledger, between, groups, beyond }
    }
}

/// JSON for a line.
pub(crate) fn body(of: &impl Serialize) -> Result<String, BudgetError> {
    let text = serde_json::to_string(of).map_err(|error| error.to_string());
    let short = |text: &String| text.len() < LONGEST as usize / 2;
    text.ok().filter(short).ok_or_else(|| BudgetError::Value {
        name: "plan",
        given: "a ledger".to_owned(),
        allowed: "it is too long to be written down".to_owned(),
    })
}

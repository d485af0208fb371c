//! Lines that are not written yet: what a change adds to the history, decided from the books.

use reticent_accountant::{Charge, Ledger};
use reticent_noise::Digest;
use serde::Serialize;

use crate::books::{Books, protects_users};
use crate::error::BudgetError;
use crate::file::LONGEST;
use crate::line::{Bound, Kind, Use, Users};
use crate::promise::check_name;
use crate::request::{Relation, Table};

/// The lines that a change adds.
#[derive(Debug)]
pub(crate) struct Next {
    number: u64,
    pub drafts: Vec<Draft>,
}

impl Next {
    /// Behind so many lines.
    pub(crate) fn behind(lines: u64) -> Self {
        Self { number: lines, drafts: Vec::new() }
    }

    fn write(&mut self, draft: Draft) -> u64 {
        self.number += 1;
        self.drafts.push(draft);
        self.number
    }

    /// A line that begins a job has its own number.
    pub(crate) fn write_own(&mut self, draft: Draft) -> u64 {
        self.write(Draft { job: Some(self.number + 1), ..draft })
    }

    pub(crate) fn close(
        &mut self,
        books: &Books,
        number: u64,
        draft: Draft,
    ) -> Result<(), BudgetError> {
        let job = books.open.get(&number).ok_or(BudgetError::NotOpen(number))?;
        self.write(Draft { job: Some(number), people: job.people, ..draft });
        Ok(())
    }

    /// Who a user is, where the job protects users: the first that reserves says it for all.
    pub(crate) fn bind_users(
        &mut self,
        books: &Books,
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
                self.write(Draft::new(Kind::Users, body(&Users { column })?));
                Ok(())
            }
        }
    }

    /// Whose table it is; a table that is new is written down.
    pub(crate) fn bind(&mut self, books: &Books, table: Table) -> Result<Option<u64>, BudgetError> {
        let same = books.tables.iter().find(|known| known.fingerprint == table.fingerprint);
        if let Some(known) = same {
            return Ok(known.people);
        }
        let (relation, people) = match table.relation {
            _ if books.tables.is_empty() => ("first", Some(1)),
            Relation::Same => {
                return Err(BudgetError::AnotherTable { dataset: books.promise.dataset.clone() });
            }
            // Where there are several groups, nobody says which of them it is an edition of.
            Relation::NewEdition => ("new-edition", (books.groups() == 1).then_some(1)),
            Relation::DisjointPeople => ("disjoint-people", Some(books.groups() + 1)),
        };
        let edition = books.tables.len() as u64 + 1;
        let body = body(&Bound { edition, relation: relation.to_owned() })?;
        let draft = Draft { people, ..Draft::new(Kind::Table, body) };
        self.write(Draft { secret: Some(table.fingerprint), ..draft });
        Ok(people)
    }
}

/// A line that has no place in the chain yet.
#[derive(Debug)]
pub(crate) struct Draft {
    pub kind: Kind,
    pub job: Option<u64>,
    pub people: Option<u64>,
    pub charge: Option<Charge>,
    pub body: String,
    pub secret: Option<Digest>,
}

impl Draft {
    pub(crate) fn new(kind: Kind, body: String) -> Self {
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
        let between = Vec::new();
        Self { label: label.to_owned(), epsilon, delta, ledger: ledger.clone(), between, beyond }
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

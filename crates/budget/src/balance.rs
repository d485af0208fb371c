//! The books between two lines, kept so that a reservation does not have to read the whole history.
//!
//! A balance is sealed under the budget's key and belongs to one last line. It saves time and
//! decides nothing that the history does not: [`Store::check`](crate::Store::check) makes it anew
//! and compares.

use reticent_accountant::Charge;
use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::books::{Books, Known, Open};
use crate::error::BudgetError;
use crate::promise::Promise;

/// What a reservation has to know of the history.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Balance {
    promise: Promise,
    lines: u64,
    head: Digest,
    tables: Vec<(Digest, Option<u64>)>,
    users: Option<String>,
    closed: Vec<Vec<u8>>,
    everybody: Vec<u8>,
    open: Vec<(u64, Option<u64>, Vec<u8>)>,
}

fn seal(text: &str, key: &[u8; 32]) -> Digest {
    Hasher::new("reticent budget balance 1").field(key).field(text.as_bytes()).finish()
}

impl Books {
    /// As text, and its seal.
    pub(crate) fn balance(&self, key: &[u8; 32]) -> Result<(String, Digest), BudgetError> {
        let bytes = |charge: &Charge| charge.to_bytes().to_vec();
        let balance = Balance {
            promise: self.promise.clone(),
            lines: self.lines,
            head: self.head,
            tables: self.tables.iter().map(|known| (known.fingerprint, known.people)).collect(),
            users: self.users.clone(),
            closed: self.closed.iter().map(bytes).collect(),
            everybody: bytes(&self.everybody),
            open: self.open.iter().map(|(&n, job)| (n, job.people, bytes(&job.charge))).collect(),
        };
        let text = serde_json::to_string(&balance).map_err(|error| damaged(self.lines, &error))?;
        let seal = seal(&text, key);
        Ok((text, seal))
    }

    /// The books that were written down, if the seal is theirs and `last` is the last line.
    pub(crate) fn recall(
        text: &str,
        given: &Digest,
        key: &[u8; 32],
        last: (u64, Digest),
    ) -> Result<Self, BudgetError> {
        let wrong = || damaged(last.0, &"the balance is not that of the history");
        if seal(text, key) != *given {
            return Err(wrong());
        }
        let balance: Balance = serde_json::from_str(text).map_err(|e| damaged(last.0, &e))?;
        if (balance.lines, balance.head) != last {
            return Err(wrong());
        }
        balance.promise.check()?;
        let charge = |bytes: &Vec<u8>| Charge::from_bytes(bytes).ok_or_else(wrong);
        let mut books = Books::empty(balance.promise)?;
        (books.lines, books.head) = (balance.lines, balance.head);
        let known = |(fingerprint, people)| Known { fingerprint, people };
        books.tables = balance.tables.into_iter().map(known).collect();
        books.users = balance.users;
        books.closed = balance.closed.iter().map(charge).collect::<Result<_, _>>()?;
        books.everybody = charge(&balance.everybody)?;
        for (number, people, bytes) in &balance.open {
            books.open.insert(*number, Open { people: *people, charge: charge(bytes)? });
        }
        if books.could_be() { Ok(books) } else { Err(wrong()) }
    }

    /// Whether a history could come to such books. Whoever has the file has its key, and can seal
    /// anything.
    fn could_be(&self) -> bool {
        let groups = self.closed.len();
        let people = self.tables.iter().map(|known| known.people);
        (1..=self.tables.len().max(1)).contains(&groups)
            && people.chain(self.open.values().map(|job| job.people)).all(|own| self.knows(own))
            && self.open.keys().all(|number| (2..=self.lines).contains(number))
    }
}

fn damaged(line: u64, what: &dyn std::fmt::Display) -> BudgetError {
    BudgetError::Damaged { line, what: what.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The books of one open job on the first table, sealed after `spoil`.
    fn recalled(spoil: impl FnOnce(&mut Books)) -> Result<Books, BudgetError> {
        let mut books = Books::empty(Promise::new("clinic", 1.0, 1e-6).unwrap()).unwrap();
        books.lines = 3;
        books.tables.push(Known { fingerprint: [1; 32], people: Some(1) });
        books.open.insert(3, Open { people: Some(1), charge: Charge::ZERO });
        spoil(&mut books);
        let (text, seal) = books.balance(&[7; 32]).unwrap();
        Books::recall(&text, &seal, &[7; 32], (books.lines, books.head))
    }

    #[test]
    fn books_that_no_history_comes_to_are_refused_though_they_are_sealed() {
        assert!(recalled(|_| ()).is_ok());
        let spoilt: [fn(&mut Books); 9] = [
            |books| books.tables[0].people = Some(0),
            |books| books.tables[0].people = Some(2),
            |books| books.tables[0].people = Some(u64::MAX),
            |books| books.open.values_mut().for_each(|job| job.people = Some(0)),
            |books| books.open.values_mut().for_each(|job| job.people = Some(2)),
            |books| _ = books.open.insert(4, Open { people: None, charge: Charge::ZERO }),
            |books| _ = books.open.insert(0, Open { people: None, charge: Charge::ZERO }),
            |books| books.closed.clear(),
            |books| books.closed.push(Charge::ZERO),
        ];
        for (number, spoil) in spoilt.into_iter().enumerate() {
            assert!(recalled(spoil).is_err(), "{number}");
        }
    }
}

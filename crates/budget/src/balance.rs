//! The books between two lines, kept so that a reservation does not have to read the whole history.
//!
//! A balance is sealed under the budget's key and belongs to one last line. It saves time and
//! decides nothing that the history does not: [`Store::check`](crate::Store::check) makes it anew
//! and compares.

use reticent_accountant::Charge;
use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::books::{HistoryBooks, KnownTable, Open};
use crate::error::BudgetError;
use crate::people::CountedPeople;
use crate::promise::Promise;

/// What a reservation has to know of the history.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Balance {
    promise: Promise,
    lines: u64,
    head: Digest,
    tables: Vec<(Digest, Option<u64>, bool)>,
    users: Option<String>,
    apart: bool,
    closed: Vec<Vec<u8>>,
    everybody: Vec<u8>,
    open: Vec<(u64, CountedPeople, Vec<u8>)>,
}

fn seal(text: &str, key: &[u8; 32]) -> Digest {
    Hasher::new("reticent budget balance 2").field(key).field(text.as_bytes()).finish()
}

/// Whether it is a balance of format 4 or before, which is not read: the history is.
pub(crate) fn is_earlier(text: &str, given: &Digest, key: &[u8; 32]) -> bool {
    let mut hasher = Hasher::new("reticent budget balance 1");
    hasher.field(key).field(text.as_bytes()).finish() == *given
}

impl HistoryBooks {
    /// As text, and its seal.
    pub(crate) fn balance(&self, key: &[u8; 32]) -> Result<(String, Digest), BudgetError> {
        let bytes = |charge: &Charge| charge.to_bytes().to_vec();
        let job = |(&number, job): (&u64, &Open)| (number, job.people.clone(), bytes(&job.charge));
        let open = self.open.iter().map(job).collect();
        let balance = Balance {
            promise: self.promise.clone(),
            lines: self.lines,
            head: self.head,
            tables: self.tables.iter().map(|one| (one.fingerprint, one.people, one.part)).collect(),
            users: self.users.clone(),
            apart: self.apart,
            closed: self.closed.iter().map(bytes).collect(),
            everybody: bytes(&self.everybody),
            open,
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
        let mut books = HistoryBooks::empty(balance.promise)?;
        (books.lines, books.head) = (balance.lines, balance.head);
        let known = |(fingerprint, people, part)| KnownTable { fingerprint, people, part };
        books.tables = balance.tables.into_iter().map(known).collect();
        (books.users, books.apart) = (balance.users, balance.apart);
        books.closed = balance.closed.iter().map(charge).collect::<Result<_, _>>()?;
        books.everybody = charge(&balance.everybody)?;
        for (number, people, bytes) in &balance.open {
            let (people, charge) = (people.clone(), charge(bytes)?);
            books.open.insert(*number, Open { people, charge, doubtful: false });
        }
        if books.could_be() { Ok(books) } else { Err(wrong()) }
    }

    /// Whether a history could come to such books. Whoever has the file has its key, and can seal
    /// anything.
    fn could_be(&self) -> bool {
        let groups = self.closed.len();
        let people = self.tables.iter().map(|known| CountedPeople::of(known.people));
        (1..=self.tables.len().max(1)).contains(&groups)
            && people
                .chain(self.open.values().map(|job| job.people.clone()))
                .all(|own| self.knows(&own))
            && self.apart
            && self.open.keys().all(|number| (2..=self.lines).contains(number))
    }
}

fn damaged(line: u64, what: &dyn std::fmt::Display) -> BudgetError {
    BudgetError::Damaged { line, what: what.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(people: Option<u64>) -> Open {
        Open { people: CountedPeople::of(people), charge: Charge::ZERO, doubtful: false }
    }

    /// The books of one open job on the first table, sealed after `spoil`.
    fn recalled(spoil: impl FnOnce(&mut HistoryBooks)) -> Result<HistoryBooks, BudgetError> {
        let mut books = HistoryBooks::empty(Promise::new("clinic", 1.0, 1e-6).unwrap()).unwrap();
        books.lines = 3;
        books.tables.push(KnownTable { fingerprint: [1; 32], people: Some(1), part: false });
        books.open.insert(3, open(Some(1)));
        books.apart = true;
        spoil(&mut books);
        let (text, seal) = books.balance(&[7; 32]).unwrap();
        HistoryBooks::recall(&text, &seal, &[7; 32], (books.lines, books.head))
    }

    #[test]
    fn books_that_no_history_comes_to_are_refused_though_they_are_sealed() {
        assert!(recalled(|_| ()).is_ok());
        let spoilt: [fn(&mut HistoryBooks); 11] = [
            |books| books.apart = false,
            |books| {
                let nobody = CountedPeople::Groups(std::collections::BTreeSet::new());
                books.open.values_mut().for_each(|job| job.people = nobody.clone());
            },
            |books| books.tables[0].people = Some(0),
            |books| books.tables[0].people = Some(2),
            |books| books.tables[0].people = Some(u64::MAX),
            |books| books.open.values_mut().for_each(|job| job.people = CountedPeople::of(Some(0))),
            |books| books.open.values_mut().for_each(|job| job.people = CountedPeople::of(Some(2))),
            |books| _ = books.open.insert(4, open(None)),
            |books| _ = books.open.insert(0, open(None)),
            |books| books.closed.clear(),
            |books| books.closed.push(Charge::ZERO),
        ];
        for (number, spoil) in spoilt.into_iter().enumerate() {
            assert!(recalled(spoil).is_err(), "{number}");
        }
    }
}

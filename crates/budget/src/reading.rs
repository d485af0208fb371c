//! What can be read of a budget without changing it. Each is one state of the file, whoever writes
//! meanwhile.

use reticent_accountant::Ledger;
use reticent_noise::Hasher;

use crate::books::{self, HistoryBooks};
use crate::course::{SpendingPoint, spending_history};
use crate::draft::Next;
use crate::error::BudgetError;
use crate::file::not_a_budget;
use crate::history::{key, read, recall};
use crate::line::{HistoryLine, OpenedBody, TABLES};
use crate::people::CountedPeople;
use crate::plan::{Planned, fitting, planned};
use crate::progress;
use crate::promise::Promise;
use crate::request::{check_asked, check_events};
use crate::store::Store;
use crate::summary::BudgetSummary;

impl Store {
    /// The secret under which tables are fingerprinted.
    ///
    /// # Errors
    /// A file without a key, or with another than it was made with.
    pub fn key(&self) -> Result<[u8; 32], BudgetError> {
        key(&self.file.path, &self.file.connection)
    }

    /// The fingerprint of a table that is in memory: a digest of its parts, in order, under the key.
    /// What a file is known by is another digest: the same records in a file and in memory are two
    /// tables to a budget.
    ///
    /// # Errors
    /// As [`Store::key`].
    pub fn fingerprint(&self, parts: &[&[u8]]) -> Result<[u8; 32], BudgetError> {
        let mut hasher = Hasher::new("reticent table in memory");
        hasher.field(&self.key()?).number(parts.len() as u64);
        for part in parts {
            hasher.field(part);
        }
        Ok(hasher.finish())
    }

    /// Whether a version made it that knew tables by other digests ([`Piece::older`]).
    ///
    /// [`Piece::older`]: crate::TablePiece::older
    ///
    /// # Errors
    /// A history that cannot be read.
    pub fn made_earlier(&self) -> Result<bool, BudgetError> {
        let lines = self.lines()?;
        let opened = lines.first().map(|line| line.read::<OpenedBody>()).transpose()?;
        Ok(opened.is_none_or(|opened| opened.tables != TABLES))
    }

    /// The promise.
    ///
    /// # Errors
    /// A history that contradicts itself.
    pub fn promise(&self) -> Result<Promise, BudgetError> {
        Ok(HistoryBooks::replay(&self.lines()?)?.promise)
    }

    /// The result of a reservation of the plan, without making it; the table is assumed to be that
    /// of the group with most left.
    ///
    /// # Errors
    /// As [`Store::reserve`].
    pub fn would_fit(&self, plan: &Ledger, asked: (f64, f64)) -> Result<(), BudgetError> {
        check_asked(asked)?;
        check_events(plan)?;
        let books = HistoryBooks::replay(&self.lines()?)?;
        let fits =
            |group| fitting(&books, &[plan], &CountedPeople::of(Some(group)), asked.1).map(|_| ());
        let any = (2..=books.groups()).any(|group| fits(group).is_ok());
        if any { Ok(()) } else { fits(1) }
    }

    /// Refuses what no reservation is made for, however much is left: a plan that cannot be counted
    /// under the promise, or users by another column (`user`) than the budget knows.
    ///
    /// # Errors
    /// As [`Store::reserve`], but for a job that does not fit.
    pub fn can_count(&self, plan: &Ledger, user: Option<&str>) -> Result<(), BudgetError> {
        check_events(plan)?;
        let books = HistoryBooks::replay(&self.lines()?)?;
        Next::behind(books.lines).bind_users(&books, &[plan], user)?;
        books.charge(plan).map(|_| ())
    }

    /// The budget that a job of this plan would leave, whether it fits or not; the table is assumed
    /// to be the known one. [`Promise::gaussian`] is the plan of an ordinary fit of given ε and δ.
    ///
    /// # Errors
    /// A plan that cannot be counted under the promise, or a history that contradicts itself. That
    /// it does not fit is no error here.
    pub fn plan(&self, plan: &Ledger) -> Result<Planned, BudgetError> {
        check_events(plan)?;
        planned(&HistoryBooks::replay(&self.lines()?)?, plan)
    }

    /// The state of the budget now.
    ///
    /// # Errors
    /// A history that contradicts itself.
    pub fn summary(&self) -> Result<BudgetSummary, BudgetError> {
        let failed = |error: rusqlite::Error| self.file.sqlite(&error);
        let _one_state = self.file.connection.unchecked_transaction().map_err(failed)?;
        self.summary_of(&self.lines()?)
    }

    fn summary_of(&self, lines: &[HistoryLine]) -> Result<BudgetSummary, BudgetError> {
        let mut summary = BudgetSummary::of(lines)?;
        if self.file.has_progress() {
            let mut known =
                progress::known(&self.file.connection).map_err(|error| self.file.sqlite(&error))?;
            summary.hear(&mut known);
        }
        Ok(summary)
    }

    /// How it went: what was counted after at most so many lines of the history, from the first to
    /// the last.
    ///
    /// # Errors
    /// A history that contradicts itself.
    pub fn spending_history(&self, at_most: usize) -> Result<Vec<SpendingPoint>, BudgetError> {
        spending_history(&self.lines()?, at_most)
    }

    /// Recomputes everything: the database, the chain, every charge from its ledger.
    ///
    /// # Errors
    /// Names the first line that does not fit.
    pub fn check(&self) -> Result<BudgetSummary, BudgetError> {
        let failed = |error: rusqlite::Error| self.file.sqlite(&error);
        let transaction = self.file.connection.unchecked_transaction().map_err(failed)?;
        let lines = self.lines()?;
        let books = books::check(&lines)?;
        if recall(&self.file.path, &transaction)?.1 != books {
            let what = "the balance is not that of the history".to_owned();
            return Err(BudgetError::Damaged { line: books.lines, what });
        }
        let said: String = transaction
            .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
            .map_err(failed)?;
        if said != "ok" {
            return Err(not_a_budget(&self.file.path, "the database is damaged"));
        }
        self.summary_of(&lines)
    }

    /// Whether the history has the line with this hash, or one that begins so: who wrote the last
    /// hash down finds out by it whether an older state of the file was put back.
    ///
    /// # Errors
    /// [`BudgetError::NoSuchLine`] if it has not; fewer than 16 signs are no hash.
    pub fn has_line(&self, hash: &str) -> Result<u64, BudgetError> {
        let given = hash.trim().to_ascii_lowercase();
        let is_hash =
            (16..=64).contains(&given.len()) && given.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            let allowed = "it is the hash of a line as it was printed, 16 to 64 hexadecimal digits";
            let (name, allowed) = ("since", allowed.to_owned());
            return Err(BudgetError::Value {
                name,
                given: given.chars().take(80).collect(),
                allowed,
            });
        }
        let lines = self.lines()?;
        let found = lines.iter().find(|line| line.hash().starts_with(&given));
        found.map(HistoryLine::number).ok_or(BudgetError::NoSuchLine { lines: lines.len() as u64 })
    }

    /// The history, in order.
    ///
    /// # Errors
    /// A history that cannot be read.
    pub fn lines(&self) -> Result<Vec<HistoryLine>, BudgetError> {
        read(&self.file.connection)
            .map_err(|error| self.file.sqlite(&error))?
            .into_iter()
            .collect::<Result<_, _>>()
    }
}

//! Which parts of an open job were begun, where each of them is begun once: the runs of a sweep. It
//! is kept with the promise and not beside the parts, because whoever has a copy of what is beside
//! them could begin them again.

use rusqlite::{Connection, params};

use crate::error::BudgetError;
use crate::history::{begin, recall};
use crate::request::Reservation;
use crate::store::Store;
use reticent_core::hex;

impl Store {
    /// The reservation of a job that is open, by its number and [`Reservation::hash`]: for one
    /// that ended on its way and goes on.
    ///
    /// # Errors
    /// If there is no such job in this budget, or it is closed.
    pub fn reservation(&self, job: u64, hash: &str) -> Result<Reservation, BudgetError> {
        let found = self.hash_of(job)?.filter(|found| hex(found) == hash);
        let hash = found.ok_or(BudgetError::ReservedElsewhere(job))?;
        let (_, books) = recall(&self.file.path, &self.file.connection)?;
        if !books.open.contains_key(&job) {
            return Err(BudgetError::NotOpen(job));
        }
        Ok(Reservation { number: job, hash })
    }

    /// The reservation of an open job by its number, if no part of it was begun: of one that was killed
    /// before it could write down what it had reserved.
    ///
    /// # Errors
    /// If the budget cannot be read.
    pub fn not_begun(&self, job: u64) -> Result<Option<Reservation>, BudgetError> {
        let (_, books) = recall(&self.file.path, &self.file.connection)?;
        let sql = "SELECT count(*) FROM begun WHERE job = ?1";
        let begun = self.file.connection.query_row(sql, params![job as i64], |row| row.get(0));
        let begun: i64 =
            begun.map_err(|error| BudgetError::from_sqlite(&self.file.path, &error))?;
        let hash = self.hash_of(job)?.filter(|_| begun == 0 && books.open.contains_key(&job));
        Ok(hash.map(|hash| Reservation { number: job, hash }))
    }

    /// Whether part `part` of an open job was begun.
    ///
    /// # Errors
    /// If the job is another budget's, or the budget cannot be read.
    pub fn has_begun(&self, reservation: &Reservation, part: u32) -> Result<bool, BudgetError> {
        let number = reservation.number;
        if self.hash_of(number)? != Some(reservation.hash) {
            return Err(BudgetError::ReservedElsewhere(number));
        }
        let sql = "SELECT count(*) FROM begun WHERE job = ?1 AND part = ?2";
        let begun =
            self.file.connection.query_row(sql, params![number as i64, part], |row| row.get(0));
        let begun: i64 =
            begun.map_err(|error| BudgetError::from_sqlite(&self.file.path, &error))?;
        Ok(begun > 0)
    }

    /// Part `part` of a job is about to begin: whether it may, which is once. It is on the disk
    /// when this returns, so that a part that is begun and lost is not begun again.
    ///
    /// # Errors
    /// A job that is not open, or a file that cannot be written: then it must not begin.
    pub fn begin_part(
        &mut self,
        reservation: &Reservation,
        part: u32,
    ) -> Result<bool, BudgetError> {
        let number = reservation.number;
        if self.hash_of(number)? != Some(reservation.hash) {
            return Err(BudgetError::ReservedElsewhere(number));
        }
        self.file.still_there()?;
        let (path, still_there) = (self.file.path.clone(), self.file.place());
        let failed = |error: rusqlite::Error| BudgetError::from_sqlite(&path, &error);
        let transaction = begin(&mut self.file.connection).map_err(failed)?;
        let (_, books) = recall(&path, &transaction)?;
        if !books.open.contains_key(&number) {
            return Err(BudgetError::NotOpen(number));
        }
        let sql = "INSERT OR IGNORE INTO begun (job, part) VALUES (?1, ?2)";
        let new = transaction.execute(sql, params![number as i64, part]).map_err(failed)?;
        still_there()?;
        transaction.commit().map_err(failed)?;
        self.file.empty_the_log();
        still_there()?;
        Ok(new == 1)
    }
}

/// Whether a part of a job from this number on was begun.
pub(crate) fn has_from(connection: &Connection, job: u64, part: u32) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM begun WHERE job = ?1 AND part >= ?2)";
    connection.query_row(sql, params![job as i64, part], |row| row.get(0))
}

/// Forgets the parts of a job that is closed: none of them can begin any more.
pub(crate) fn forget(connection: &Connection, job: u64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM begun WHERE job = ?1", params![job as i64]).map(|_| ())
}

//! How far a job is that has not come back. It is no part of the history: nothing is decided by it,
//! it is lost with the job, and a line of it that makes no sense is not shown.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use serde::Serialize;

use crate::error::BudgetError;
use crate::file::BudgetFile;
use crate::line::is_time;
use crate::request::Reservation;

/// The progress of a job, as it said itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct JobProgress {
    /// When it was last heard of.
    pub time: String,
    /// How many steps are done.
    pub done: u64,
    /// Of how many, where that is known.
    pub of: Option<u64>,
}

/// Writes down that a job is at work. Nobody waits for it: where another writes, it is left out.
pub(crate) fn beat(
    file: &BudgetFile,
    reservation: &Reservation,
    done: u64,
    of: Option<u64>,
) -> Result<(), BudgetError> {
    file.still_there()?;
    let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let now = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";
    let sql = format!(
        "INSERT OR REPLACE INTO progress (job, time, done, steps) SELECT number, {now}, ?2, ?3 FROM history WHERE \
         number = ?1 AND hash = ?4"
    );
    let row =
        params![whole(reservation.number), whole(done), of.map(whole), reservation.hash.as_slice()];
    file.without_patience(|connection| connection.execute(&sql, row))
        .map(|_| ())
        .map_err(|error| file.sqlite(&error))
}

/// Forgets a job that came back.
pub(crate) fn forget(connection: &Connection, job: u64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM progress WHERE job = ?1";
    connection.execute(sql, params![job as i64]).map(|_| ())
}

/// What is known of the jobs.
pub(crate) fn known(connection: &Connection) -> rusqlite::Result<BTreeMap<u64, JobProgress>> {
    let mut statement = connection.prepare("SELECT job, time, done, steps FROM progress")?;
    let rows = statement.query_map([], |row| {
        let (job, done, of): (i64, i64, Option<i64>) = (row.get(0)?, row.get(2)?, row.get(3)?);
        let time: String = row.get(1)?;
        let known = || {
            let of = of.map(u64::try_from).transpose().ok()?;
            let progress = JobProgress { done: u64::try_from(done).ok()?, of, time };
            is_time(&progress.time).then_some((u64::try_from(job).ok()?, progress))
        };
        Ok(known())
    })?;
    rows.filter_map(Result::transpose).collect()
}

//! The history, the balance and the key as they stand in the database.

use std::path::Path;

use reticent_accountant::Charge;
use reticent_noise::{Digest, Hasher};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};

use crate::balance::is_earlier;
use crate::books::HistoryBooks;
use crate::draft::LineDraft;
use crate::error::BudgetError;
use crate::file::not_a_budget;
use crate::line::{HistoryLine, LineKind};

pub(crate) fn digest_of_key(key: &[u8; 32]) -> Digest {
    Hasher::new("reticent budget key").field(key).finish()
}

pub(crate) fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Writes the line that follows.
pub(crate) fn append(
    transaction: &Transaction,
    books: &HistoryBooks,
    draft: LineDraft,
) -> rusqlite::Result<HistoryLine> {
    let time =
        transaction.query_row("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", [], |r| r.get(0))?;
    let LineDraft { kind, job, people, charge, body, secret } = draft;
    let number = books.lines + 1;
    let mut line =
        HistoryLine { number, time, kind, job, people, charge, body, secret, hash: [0; 32] };
    line.hash = line.chained(&books.head);
    transaction.execute(
        "INSERT INTO history (number, time, kind, job, people, charge, body, secret, hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            line.number as i64,
            line.time,
            line.kind.name(),
            line.job.map(|job| job as i64),
            line.people.map(|people| people as i64),
            line.charge.map(|charge| charge.to_bytes().to_vec()),
            line.body,
            line.secret.map(|secret| secret.to_vec()),
            line.hash.to_vec(),
        ],
    )?;
    Ok(line)
}

/// Writes the balance down.
pub(crate) fn keep(
    transaction: &Transaction,
    (text, seal): &(String, Digest),
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO balance (one, body, seal) VALUES (1, ?1, ?2)";
    transaction.execute(sql, params![text, seal.as_slice()]).map(|_| ())
}

/// The key, and the books as they were written down.
pub(crate) fn recall(
    path: &Path,
    connection: &Connection,
) -> Result<([u8; 32], HistoryBooks), BudgetError> {
    let failed = |error: rusqlite::Error| BudgetError::from_sqlite(path, &error);
    let key = key(path, connection)?;
    let first = connection.query_row(&format!("{LINES} WHERE number = 1"), [], line);
    let first = HistoryBooks::replay(&[first.map_err(failed)??])?;
    let sql = format!("{LINES} ORDER BY number DESC LIMIT 1");
    let last = connection.query_row(&sql, [], line).map_err(failed)??;
    let (text, seal): (String, Vec<u8>) = connection
        .query_row("SELECT body, seal FROM balance", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(failed)?;
    let seal = Digest::try_from(seal).map_err(|_| last.damaged("the balance has no seal"))?;
    if is_earlier(&text, &seal, &key) {
        let lines = read(connection).map_err(failed)?.into_iter().collect::<Result<Vec<_>, _>>()?;
        return Ok((key, HistoryBooks::replay(&lines)?));
    }
    let books = HistoryBooks::recall(&text, &seal, &key, (last.number, last.hash))?;
    if books.promise != first.promise {
        return Err(last.damaged("the balance is of another promise"));
    }
    Ok((key, books))
}

/// The key that the budget was made with.
pub(crate) fn key(path: &Path, connection: &Connection) -> Result<[u8; 32], BudgetError> {
    let failed = |error: rusqlite::Error| BudgetError::from_sqlite(path, &error);
    let wrong = || not_a_budget(path, "its key is not the one that it was made with");
    let sql = "SELECT bytes, (SELECT secret FROM history WHERE number = 1) FROM key";
    let (key, digest): (Vec<u8>, Option<Vec<u8>>) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    let key: [u8; 32] = key.try_into().map_err(|_| wrong())?;
    if digest.as_deref() == Some(&digest_of_key(&key)[..]) { Ok(key) } else { Err(wrong()) }
}

/// What a line is read by.
pub(crate) const LINES: &str =
    "SELECT number, time, kind, job, people, charge, body, secret, hash FROM history";

pub(crate) type ReadLine = Result<HistoryLine, BudgetError>;

/// All lines; one that cannot be a line is named.
pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Vec<ReadLine>> {
    let mut statement = connection.prepare(&format!("{LINES} ORDER BY number"))?;
    let lines = statement.query_map([], line)?;
    lines.collect()
}

pub(crate) fn line(row: &Row) -> rusqlite::Result<ReadLine> {
    let number: i64 = row.get(0)?;
    let damaged = |what: &str| {
        let line = u64::try_from(number).unwrap_or(0);
        BudgetError::Damaged { line, what: what.to_owned() }
    };
    let whole = |given: Option<i64>| match given.map(u64::try_from) {
        None => Ok(None),
        Some(Ok(given)) => Ok(Some(given)),
        Some(Err(_)) => Err(damaged("a number is negative")),
    };
    let digest = |given: Option<Vec<u8>>| match given.map(Digest::try_from) {
        None => Ok(None),
        Some(Ok(given)) => Ok(Some(given)),
        Some(Err(_)) => Err(damaged("a digest has the wrong length")),
    };
    let time: String = row.get(1)?;
    let (kind, job, people): (String, Option<i64>, Option<i64>) =
        (row.get(2)?, row.get(3)?, row.get(4)?);
    let (charge, body): (Option<Vec<u8>>, String) = (row.get(5)?, row.get(6)?);
    let (secret, hash) = (row.get(7)?, row.get(8)?);
    Ok((|| {
        let charge = match charge.as_deref().map(Charge::from_bytes) {
            Some(None) => return Err(damaged("its charge is no charge")),
            other => other.flatten(),
        };
        Ok(HistoryLine {
            number: whole(Some(number))?.unwrap_or(0),
            time,
            kind: LineKind::parse(&kind).ok_or_else(|| damaged("its kind is unknown"))?,
            job: whole(job)?,
            people: whole(people)?,
            charge,
            body,
            secret: digest(secret)?,
            hash: digest(hash)?.ok_or_else(|| damaged("it has no hash"))?,
        })
    })())
}

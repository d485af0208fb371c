//! The store: what can be done with a budget. Whatever changes it is one transaction that has read
//! what all before it come to, so that two who ask at the same time are counted one after the other.

use std::path::Path;
use std::time::Duration;

use reticent_accountant::{Filter, Ledger};
use reticent_noise::{Digest, NoiseKey};
use rusqlite::{Connection, params};

use crate::begun;
use crate::books::HistoryBooks;
use crate::draft::{LineDraft, Next, body};
use crate::error::BudgetError;
use crate::file::BudgetFile;
use crate::history::{LINES, append, begin, digest_of_key, keep, line, recall};
use crate::line::{Closed, HistoryLine, LineKind, OpenedBody, Rule, TABLES, Use};
use crate::people::CountedPeople;
use crate::plan::{fitting, within};
use crate::progress;
use crate::promise::{Promise, check_name};
use crate::request::{Import, Request, Reservation, check_asked, check_events};

/// An open budget.
#[derive(Debug)]
pub struct Store {
    pub(crate) file: BudgetFile,
}

impl Store {
    /// A new budget in a new file, which only its owner can read.
    ///
    /// # Errors
    /// A promise that means nothing, or a file that cannot be made.
    pub fn create(path: &Path, promise: Promise) -> Result<Self, BudgetError> {
        Ok(Self { file: BudgetFile::create(path, |file| begin_history(file, promise))? })
    }

    /// A new budget in memory, which ends with this process: for trying out, and for who keeps its
    /// books in another way. All else is as in a file.
    ///
    /// # Errors
    /// A promise that means nothing.
    pub fn in_memory(promise: Promise) -> Result<Self, BudgetError> {
        Ok(Self { file: BudgetFile::in_memory(|file| begin_history(file, promise))? })
    }

    /// The file, if it is in one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.file.is_on_disk().then_some(&*self.file.path)
    }

    /// A budget that is there, to be written.
    ///
    /// # Errors
    /// A file that is none, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, BudgetError> {
        Ok(Self { file: BudgetFile::open(path, true)? })
    }

    /// Opens a budget to read only.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_to_read(path: &Path) -> Result<Self, BudgetError> {
        Ok(Self { file: BudgetFile::open(path, false)? })
    }

    /// Sets how long a write waits for another writer; half a minute by default.
    ///
    /// # Errors
    /// If SQLite rejects the timeout.
    pub fn wait_for(&mut self, patience: Duration) -> Result<(), BudgetError> {
        self.file.wait_for(patience).map_err(|error| self.file.sqlite(&error))
    }

    /// Reserves what a plan costs, before the first noise is drawn.
    ///
    /// A job of Reticent is paid for by `reticent_payment::pay`, which calls this. Alone it follows
    /// no history from end to end ([`Store::check`] does), does not refuse a table that has the same
    /// content twice ([`PaidTable::repeats`](crate::PaidTable::repeats)), and believes the request:
    /// whoever makes it sees to it that the job does this plan, on this table, and settles.
    ///
    /// # Errors
    /// A job that does not fit, a table that is not the budget's, or a file that cannot be written:
    /// then nothing is reserved.
    pub fn reserve(&mut self, request: &Request) -> Result<Reservation, BudgetError> {
        self.reserve_between(request, &[])
    }

    /// Reserves for a run between parties of whom nobody is in two. `others` are the plans of other
    /// parties than that of the request: a person pays for the plan of one party, so the most
    /// expensive one, part by part, is reserved (`proofs/parallel.md`). That nobody is in two, and
    /// that a neighbour of the table is one of a single party, is believed: the plans that
    /// `reticent_payment::pay` reserves are refused otherwise.
    ///
    /// # Errors
    /// As [`Store::reserve`].
    pub fn reserve_between(
        &mut self,
        request: &Request,
        others: &[Ledger],
    ) -> Result<Reservation, BudgetError> {
        check_name("label", request.label)?;
        check_asked(request.asked)?;
        let plans: Vec<&Ledger> = std::iter::once(request.plan).chain(others).collect();
        plans.iter().try_for_each(|plan| check_events(plan))?;
        let used = Use::of(request.label, request.asked, request.plan, false);
        let used = Use { between: others.to_vec(), ..used };
        let (number, hash) = self.change_and_hash(|_, books, next| {
            let people = next.bind(books, request.table)?;
            next.bind_users(books, &plans, request.user)?;
            let charge = fitting(books, &plans, &people, request.asked.1)?;
            let body = body(&Use { groups: people.several(), ..used })?;
            let draft = LineDraft::new(LineKind::Reserved, body);
            Ok(next.write_own(LineDraft { people: people.one(), charge: Some(charge), ..draft }))
        })?;
        Ok(Reservation { number, hash })
    }

    /// The job came to its end, having done what `done` says. The plan stays counted: who stops early
    /// by looking has used it all (`proofs/filter.md`). Should more have been done than was
    /// planned, it is counted beside the plan.
    ///
    /// # Errors
    /// A job that is not open, or a file that cannot be written; the job then stays open, and
    /// counted.
    pub fn settle(&mut self, reservation: &Reservation, done: &Ledger) -> Result<(), BudgetError> {
        self.settle_for(reservation, done, None)
    }

    /// Settles, and records the digest of the resulting certificate: two jobs may have the same
    /// plan, and the digest finds the one that paid for a model.
    ///
    /// # Errors
    /// As [`Store::settle`].
    pub fn settle_for(
        &mut self,
        reservation: &Reservation,
        done: &Ledger,
        certificate: Option<&str>,
    ) -> Result<(), BudgetError> {
        if let Some(digest) = certificate {
            check_name("certificate", digest)?;
        }
        let used = self.reserved(reservation)?;
        let planned = used.plans().any(|plan| within(done, plan));
        let ledger = if planned { None } else { Some(done.clone()) };
        let body = body(&Closed { ledger, certificate: certificate.map(str::to_owned) })?;
        self.change(|books, next| {
            let charge = (!planned).then(|| books.charge_of_done(done));
            let draft = LineDraft { charge, ..LineDraft::new(LineKind::Settled, body) };
            next.close(books, reservation.number, draft)
        })
    }

    /// The job was refused before it asked anything: what it reserved is given back.
    ///
    /// # Errors
    /// As [`Store::settle`].
    pub fn release(&mut self, reservation: Reservation) -> Result<(), BudgetError> {
        let body = body(&Closed::default())?;
        self.reserved(&reservation)?;
        self.change(|books, next| {
            next.close(books, reservation.number, LineDraft::new(LineKind::Released, body))
        })
    }

    /// The same, unless a part of the job from number `part` on was begun by then, by any process: it has
    /// asked something. Whether it was given back.
    ///
    /// # Errors
    /// As [`Store::settle`].
    pub fn release_unbegun(
        &mut self,
        reservation: &Reservation,
        part: u32,
    ) -> Result<bool, BudgetError> {
        let body = body(&Closed::default())?;
        self.reserved(reservation)?;
        let (number, path) = (reservation.number, self.file.path.clone());
        let released = self.change_and_hash(|history, books, next| {
            let begun = begun::has_from(history, number, part);
            if begun.map_err(|error| BudgetError::from_sqlite(&path, &error))? {
                return Ok(false);
            }
            next.close(books, number, LineDraft::new(LineKind::Released, body))?;
            Ok(true)
        });
        released.map(|(released, _)| released)
    }

    /// Records that the job is at work, and its progress, for people who look on
    /// ([`Job::progress`]). It is no part of the history, and nothing depends on it: where another
    /// writes at that time it is not written, and an error is no reason to stop. Each one waits for
    /// the disk: once in some seconds is enough.
    ///
    /// [`Job::progress`]: crate::JobSummary::progress
    ///
    /// # Errors
    /// A file that is busy or cannot be written.
    pub fn beat(
        &mut self,
        reservation: &Reservation,
        done: u64,
        of: Option<u64>,
    ) -> Result<(), BudgetError> {
        progress::beat(&self.file, reservation, done, of)
    }

    /// Closes a job that never came back, as spent.
    ///
    /// # Errors
    /// As [`Store::settle`].
    pub fn forfeit(&mut self, job: u64) -> Result<(), BudgetError> {
        let body = body(&Closed::default())?;
        self.change(|books, next| next.close(books, job, LineDraft::new(LineKind::Forfeited, body)))
    }

    /// Records a release that was made elsewhere. Nobody knows who is in its table, so it counts for
    /// everybody.
    ///
    /// # Errors
    /// One that does not fit or cannot be counted, unless that was said to be no matter.
    pub fn import(&mut self, import: &Import) -> Result<u64, BudgetError> {
        check_name("label", import.label)?;
        // What has no guarantee has no ε.
        let (epsilon, delta) = import.asked;
        check_asked((if epsilon == f64::INFINITY { 0.0 } else { epsilon }, delta))?;
        check_events(import.ledger)?;
        self.change(|books, next| {
            let (charge, beyond) =
                match fitting(books, &[import.ledger], &CountedPeople::Everybody, import.asked.1) {
                    Ok(charge) => (charge, false),
                    Err(_) if import.beyond => (books.charge_of_done(import.ledger), true),
                    Err(error) => return Err(error),
                };
            let body = body(&Use::of(import.label, import.asked, import.ledger, beyond))?;
            Ok(next.write_own(LineDraft {
                charge: Some(charge),
                ..LineDraft::new(LineKind::Imported, body)
            }))
        })
    }

    /// What a job planned that was reserved here, and not in another budget.
    fn reserved(&self, reservation: &Reservation) -> Result<Use, BudgetError> {
        let own = self.line_of(reservation.number)?;
        let own = own.filter(|line| line.hash == reservation.hash);
        own.ok_or(BudgetError::ReservedElsewhere(reservation.number))?.read::<Use>()
    }

    /// The hash of the line that began a job, if there is such a job.
    pub(crate) fn hash_of(&self, job: u64) -> Result<Option<Digest>, BudgetError> {
        Ok(self.line_of(job)?.map(|line| line.hash))
    }

    fn line_of(&self, job: u64) -> Result<Option<HistoryLine>, BudgetError> {
        let sql = format!("{LINES} WHERE number = ?1 AND job = ?1");
        match self.file.connection.query_row(&sql, params![job as i64], line) {
            Ok(line) => line.map(Some),
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            Err(error) => Err(self.file.sqlite(&error)),
        }
    }

    fn change<T>(
        &mut self,
        decide: impl FnOnce(&HistoryBooks, &mut Next) -> Result<T, BudgetError>,
    ) -> Result<T, BudgetError> {
        self.change_and_hash(|_, books, next| decide(books, next)).map(|(told, _)| told)
    }

    /// One transaction: read the balance, decide, append. The file must be the same before and
    /// after. With what was decided comes the hash of the last line.
    fn change_and_hash<T>(
        &mut self,
        decide: impl FnOnce(&Connection, &HistoryBooks, &mut Next) -> Result<T, BudgetError>,
    ) -> Result<(T, Digest), BudgetError> {
        self.file.still_there()?;
        let (path, still_there) = (self.file.path.clone(), self.file.place());
        let failed = |error: rusqlite::Error| BudgetError::from_sqlite(&path, &error);
        let transaction = begin(&mut self.file.connection).map_err(failed)?;
        let (key, mut books) = recall(&path, &transaction)?;
        if !books.apart {
            let draft = LineDraft::new(LineKind::Rule, body(&Rule { tables: TABLES })?);
            books.take(&append(&transaction, &books, draft).map_err(failed)?)?;
        }
        let mut next = Next::behind(books.lines);
        let told = decide(&transaction, &books, &mut next)?;
        for draft in next.drafts {
            if let (Some(job), true) = (draft.job, draft.kind.closes()) {
                progress::forget(&transaction, job).map_err(failed)?;
                begun::forget(&transaction, job).map_err(failed)?;
            }
            books.take(&append(&transaction, &books, draft).map_err(failed)?)?;
        }
        keep(&transaction, &books.balance(&key)?).map_err(failed)?;
        still_there()?;
        transaction.commit().map_err(failed)?;
        self.file.empty_the_log();
        self.file.still_there().map_err(|error| match error {
            BudgetError::Gone(path) => BudgetError::GoneSince(path),
            other => other,
        })?;
        Ok((told, books.head))
    }
}

/// The first line, and the balance after it.
fn begin_history(file: &mut BudgetFile, promise: Promise) -> Result<(), BudgetError> {
    promise.check()?;
    promise.filter()?;
    let (key, _) = NoiseKey::secure()?.expose();
    let reticent = env!("CARGO_PKG_VERSION").to_owned();
    let opened = OpenedBody { promise, rule: Filter::RULE, reticent, tables: TABLES };
    let path = file.path.clone();
    let failed = |error: rusqlite::Error| BudgetError::from_sqlite(&path, &error);
    let transaction = begin(&mut file.connection).map_err(failed)?;
    transaction
        .execute("INSERT INTO key (one, bytes) VALUES (1, ?1)", params![key.as_slice()])
        .map_err(failed)?;
    let draft = LineDraft::new(LineKind::Opened, body(&opened)?);
    let draft = LineDraft { secret: Some(digest_of_key(&key)), ..draft };
    let mut books = HistoryBooks::empty(opened.promise.clone())?;
    books.take(&append(&transaction, &books, draft).map_err(failed)?)?;
    keep(&transaction, &books.balance(&key)?).map_err(failed)?;
    transaction.commit().map_err(failed)
}

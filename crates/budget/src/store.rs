//! The store: what can be done with a budget. Whatever changes it is one transaction that has read
//! what all before it come to, so that two who ask at the same time are counted one after the other.

use std::path::Path;

use reticent_accountant::{Charge, Filter, Ledger};
use reticent_noise::{Digest, Hasher, NoiseKey};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, params};
use serde::Serialize;

use crate::books::{self, Books, protects_users};
use crate::error::BudgetError;
use crate::file::{File, not_a_budget};
use crate::line::{Bound, Closed, Kind, Line, Opened, Use, Users};
use crate::promise::{Promise, check_name};
use crate::summary::{Summary, largest_left};

/// How a table goes together with those that the budget knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// It is the one that is known, or the first.
    #[default]
    Same,
    /// A new edition of the same people: what is asked of it adds to what was asked before.
    NewEdition,
    /// Nobody is in both. Taken as given, and recorded.
    DisjointPeople,
}

/// The table that a job is about.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// A digest of the file under [`Store::key`].
    pub fingerprint: [u8; 32],
    /// How it goes together with those before.
    pub relation: Relation,
}

/// What a job asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The job, for people.
    pub label: &'a str,
    /// ε and δ of the job by itself.
    pub asked: (f64, f64),
    /// All that it will do; it is held to that by whoever asks.
    pub plan: &'a Ledger,
    /// The table.
    pub table: Table,
    /// Where users are protected: the column that says whose row it is. The first is bound to the
    /// budget, and another is refused.
    pub user: Option<&'a str>,
}

/// A release that was made elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Import<'a> {
    /// What it is, for people.
    pub label: &'a str,
    /// ε and δ that it was given.
    pub asked: (f64, f64),
    /// What was done.
    pub ledger: &'a Ledger,
    /// Whether to record it though it is more than is left. The budget then promises nothing any
    /// more; but that is so whether it is written down or not.
    pub beyond: bool,
}

/// What was reserved, to be settled or given back.
#[must_use = "a reservation that is not settled stays open, and is counted in full"]
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    number: u64,
    /// The hash of the line that reserved: a number alone is a job in every budget.
    hash: Digest,
}

impl Reservation {
    /// The number of the job.
    #[must_use]
    pub fn job(&self) -> u64 {
        self.number
    }
}

/// An open budget.
#[derive(Debug)]
pub struct Store {
    file: File,
}

impl Store {
    /// A new budget in a new file, which only its owner can read.
    ///
    /// # Errors
    /// A promise that means nothing, or a file that cannot be made.
    pub fn create(path: &Path, promise: Promise) -> Result<Self, BudgetError> {
        promise.check()?;
        promise.filter()?;
        let (key, _) = NoiseKey::secure()?.expose();
        let opened =
            Opened { promise, rule: Filter::RULE, reticent: env!("CARGO_PKG_VERSION").to_owned() };
        let file = File::create(path, |file| {
            let path = file.path.clone();
            let failed = |error: rusqlite::Error| BudgetError::from_sqlite(&path, &error);
            let transaction = begin(&mut file.connection).map_err(failed)?;
            transaction
                .execute("INSERT INTO key (one, bytes) VALUES (1, ?1)", params![key.as_slice()])
                .map_err(failed)?;
            let draft = Draft::new(Kind::Opened, body(&opened)?);
            let draft = Draft { secret: Some(digest_of_key(&key)), ..draft };
            let mut books = Books::empty(opened.promise.clone())?;
            books.take(&append(&transaction, &books, draft).map_err(failed)?)?;
            keep(&transaction, &books.balance(&key)?).map_err(failed)?;
            transaction.commit().map_err(failed)
        })?;
        Ok(Self { file })
    }

    /// A budget that is there, to be written.
    ///
    /// # Errors
    /// A file that is none, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, BudgetError> {
        Ok(Self { file: File::open(path, true)? })
    }

    /// The same, to be looked at only.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_to_read(path: &Path) -> Result<Self, BudgetError> {
        Ok(Self { file: File::open(path, false)? })
    }

    /// The secret under which tables are fingerprinted.
    ///
    /// # Errors
    /// A file without a key, or with another than it was made with.
    pub fn key(&self) -> Result<[u8; 32], BudgetError> {
        key(&self.file.path, &self.file.connection)
    }

    /// What it promises.
    ///
    /// # Errors
    /// A history that contradicts itself.
    pub fn promise(&self) -> Result<Promise, BudgetError> {
        Ok(Books::replay(&self.lines()?)?.promise)
    }

    /// Reserves what a plan costs, before the first noise is drawn.
    ///
    /// # Errors
    /// A job that does not fit, a table that is not the budget's, or a file that cannot be written:
    /// then nothing is reserved.
    pub fn reserve(&mut self, request: &Request) -> Result<Reservation, BudgetError> {
        check_name("label", request.label)?;
        check_asked(request.asked)?;
        check_events(request.plan)?;
        let body = body(&Use::of(request.label, request.asked, request.plan, false))?;
        let (number, hash) = self.change_and_hash(|books, next| {
            let people = next.bind(books, request.table)?;
            next.bind_users(books, request)?;
            let charge = fitting(books, request.plan, people, request.asked.1)?;
            let draft = Draft { people, charge: Some(charge), ..Draft::new(Kind::Reserved, body) };
            Ok(next.write_own(draft))
        })?;
        Ok(Reservation { number, hash })
    }

    /// What a reservation of the plan would be told, without making it; the table is taken for the
    /// one that is known.
    ///
    /// # Errors
    /// As [`Store::reserve`].
    pub fn would_fit(&self, plan: &Ledger, asked: (f64, f64)) -> Result<(), BudgetError> {
        check_asked(asked)?;
        check_events(plan)?;
        let books = Books::replay(&self.lines()?)?;
        let people = books.tables.first().map_or(Some(1), |known| known.people);
        fitting(&books, plan, people, asked.1).map(|_| ())
    }

    /// The job came to its end, having done what `done` says. The plan stays counted: who stops early
    /// by looking has used it all (`proofs/filter.md`). Should more have been done than was
    /// planned, it is counted beside the plan.
    ///
    /// # Errors
    /// A job that is not open, or a file that cannot be written; the job then stays open, and
    /// counted.
    pub fn settle(&mut self, reservation: &Reservation, done: &Ledger) -> Result<(), BudgetError> {
        let plan = self.reserved(reservation)?;
        let ledger = if within(done, &plan) { None } else { Some(done.clone()) };
        let body = body(&Closed { ledger })?;
        self.change(|books, next| {
            let charge = (!within(done, &plan)).then(|| books.charge_of_done(done));
            let draft = Draft { charge, ..Draft::new(Kind::Settled, body) };
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
            next.close(books, reservation.number, Draft::new(Kind::Released, body))
        })
    }

    /// Closes a job that never came back, as spent.
    ///
    /// # Errors
    /// As [`Store::settle`].
    pub fn forfeit(&mut self, job: u64) -> Result<(), BudgetError> {
        let body = body(&Closed::default())?;
        self.change(|books, next| next.close(books, job, Draft::new(Kind::Forfeited, body)))
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
            let (charge, beyond) = match fitting(books, import.ledger, None, import.asked.1) {
                Ok(charge) => (charge, false),
                Err(_) if import.beyond => (books.charge_of_done(import.ledger), true),
                Err(error) => return Err(error),
            };
            let body = body(&Use::of(import.label, import.asked, import.ledger, beyond))?;
            Ok(next.write_own(Draft { charge: Some(charge), ..Draft::new(Kind::Imported, body) }))
        })
    }

    /// What it comes to now.
    ///
    /// # Errors
    /// A history that contradicts itself.
    pub fn summary(&self) -> Result<Summary, BudgetError> {
        Summary::of(&self.lines()?)
    }

    /// Recomputes everything: the database, the chain, every charge from its ledger.
    ///
    /// # Errors
    /// Names the first line that does not fit.
    pub fn check(&self) -> Result<Summary, BudgetError> {
        let failed = |error: rusqlite::Error| self.file.sqlite(&error);
        // One state of the file, whoever writes meanwhile.
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
        Summary::of(&lines)
    }

    /// The history, in order.
    ///
    /// # Errors
    /// A history that cannot be read.
    pub fn lines(&self) -> Result<Vec<Line>, BudgetError> {
        read(&self.file.connection)
            .map_err(|error| self.file.sqlite(&error))?
            .into_iter()
            .collect::<Result<_, _>>()
    }

    /// What a job planned that was reserved here, and not in another budget.
    fn reserved(&self, reservation: &Reservation) -> Result<Ledger, BudgetError> {
        let elsewhere = || BudgetError::ReservedElsewhere(reservation.number);
        let job = reservation.number;
        let sql = format!("{LINES} WHERE number = ?1 AND job = ?1");
        let found = self.file.connection.query_row(&sql, params![job as i64], line);
        match found {
            Ok(line) => {
                let line = line?;
                let own = line.hash == reservation.hash;
                if own { Ok(line.read::<Use>()?.ledger) } else { Err(elsewhere()) }
            }
            Err(rusqlite::Error::QueryReturnedNoRows) => Err(elsewhere()),
            Err(error) => Err(self.file.sqlite(&error)),
        }
    }

    fn change<T>(
        &mut self,
        decide: impl FnOnce(&Books, &mut Next) -> Result<T, BudgetError>,
    ) -> Result<T, BudgetError> {
        self.change_and_hash(decide).map(|(told, _)| told)
    }

    /// One transaction: read the balance, decide, append. The file must be the same before and
    /// after. With what was decided comes the hash of the last line.
    fn change_and_hash<T>(
        &mut self,
        decide: impl FnOnce(&Books, &mut Next) -> Result<T, BudgetError>,
    ) -> Result<(T, Digest), BudgetError> {
        self.file.still_there()?;
        let (path, still_there) = (self.file.path.clone(), self.file.place());
        let failed = |error: rusqlite::Error| BudgetError::from_sqlite(&path, &error);
        let transaction = begin(&mut self.file.connection).map_err(failed)?;
        let (key, mut books) = recall(&path, &transaction)?;
        let mut next = Next { number: books.lines, drafts: Vec::new() };
        let told = decide(&books, &mut next)?;
        for draft in next.drafts {
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

/// The lines that a change adds.
#[derive(Debug)]
struct Next {
    number: u64,
    drafts: Vec<Draft>,
}

impl Next {
    fn write(&mut self, draft: Draft) -> u64 {
        self.number += 1;
        self.drafts.push(draft);
        self.number
    }

    /// A line that begins a job has its own number.
    fn write_own(&mut self, draft: Draft) -> u64 {
        self.write(Draft { job: Some(self.number + 1), ..draft })
    }

    fn close(&mut self, books: &Books, number: u64, draft: Draft) -> Result<(), BudgetError> {
        let job = books.open.get(&number).ok_or(BudgetError::NotOpen(number))?;
        self.write(Draft { job: Some(number), people: job.people, ..draft });
        Ok(())
    }

    /// Who a user is, where the job protects users: the first that reserves says it for all.
    fn bind_users(&mut self, books: &Books, request: &Request) -> Result<(), BudgetError> {
        if !protects_users(request.plan) {
            return Ok(());
        }
        let given = request.user.ok_or_else(|| {
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
    fn bind(&mut self, books: &Books, table: Table) -> Result<Option<u64>, BudgetError> {
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
struct Draft {
    kind: Kind,
    job: Option<u64>,
    people: Option<u64>,
    charge: Option<Charge>,
    body: String,
    secret: Option<Digest>,
}

impl Draft {
    fn new(kind: Kind, body: String) -> Self {
        Self { kind, job: None, people: None, charge: None, body, secret: None }
    }
}

impl Use {
    fn of(label: &str, (epsilon, delta): (f64, f64), ledger: &Ledger, beyond: bool) -> Self {
        Self { label: label.to_owned(), epsilon, delta, ledger: ledger.clone(), beyond }
    }
}

/// The charge of a plan, if it fits beside what is counted for everybody it concerns.
fn fitting(
    books: &Books,
    plan: &Ledger,
    people: Option<u64>,
    at: f64,
) -> Result<Charge, BudgetError> {
    let Promise { epsilon: ceiling, delta, .. } = books.promise;
    let charge = books.charge(plan)?;
    // People who come with this job have nothing counted for them but what counts for everybody.
    for people in books.affected(people) {
        let spent = books.spent(people);
        if !books.covers(&spent) {
            return Err(BudgetError::Broken { epsilon: ceiling, delta });
        }
        let together = spent.and(&charge);
        if !books.filter.covers(&together)? {
            return Err(BudgetError::DoesNotFit {
                counted: books.filter.reading(&spent),
                together: books.filter.reading(&together),
                ceiling,
                delta,
                left: largest_left(books, &spent, at),
                at,
            });
        }
    }
    Ok(charge)
}

/// ε and δ of a job are for people, but no nonsense is written down.
fn check_asked((epsilon, delta): (f64, f64)) -> Result<(), BudgetError> {
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
fn check_events(ledger: &Ledger) -> Result<(), BudgetError> {
    if !ledger.entries().is_empty() {
        return Ok(());
    }
    let allowed = "it has no event, and what uses no data needs no budget".to_owned();
    Err(BudgetError::Value { name: "ledger", given: "an empty list".to_owned(), allowed })
}

/// Whether what was done is a part of the plan, and a guarantee.
fn within(done: &Ledger, plan: &Ledger) -> bool {
    let mut left: Vec<_> =
        plan.entries().iter().map(|entry| (entry.event(), entry.count())).collect();
    let covered = done.entries().iter().all(|entry| {
        let mut wanted = entry.count();
        for (_, count) in left.iter_mut().filter(|(event, _)| *event == entry.event()) {
            let taken = wanted.min(*count);
            (wanted, *count) = (wanted - taken, *count - taken);
        }
        wanted == 0
    });
    covered && done.taints().is_empty()
}

fn digest_of_key(key: &[u8; 32]) -> Digest {
    Hasher::new("reticent budget key").field(key).finish()
}

/// JSON for a line.
fn body(of: &impl Serialize) -> Result<String, BudgetError> {
    let text = serde_json::to_string(of).map_err(|error| error.to_string());
    let short = |text: &String| text.len() < crate::file::LONGEST as usize / 2;
    text.ok().filter(short).ok_or_else(|| BudgetError::Value {
        name: "plan",
        given: "a ledger".to_owned(),
        allowed: "it is too long to be written down".to_owned(),
    })
}

fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Writes the line that follows.
fn append(transaction: &Transaction, books: &Books, draft: Draft) -> rusqlite::Result<Line> {
    let time =
        transaction.query_row("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", [], |r| r.get(0))?;
    let Draft { kind, job, people, charge, body, secret } = draft;
    let number = books.lines + 1;
    let mut line = Line { number, time, kind, job, people, charge, body, secret, hash: [0; 32] };
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
fn keep(transaction: &Transaction, (text, seal): &(String, Digest)) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO balance (one, body, seal) VALUES (1, ?1, ?2)";
    transaction.execute(sql, params![text, seal.as_slice()]).map(|_| ())
}

/// The key, and the books as they were written down.
fn recall(path: &Path, connection: &Connection) -> Result<([u8; 32], Books), BudgetError> {
    let failed = |error: rusqlite::Error| BudgetError::from_sqlite(path, &error);
    let key = key(path, connection)?;
    let first = connection.query_row(&format!("{LINES} WHERE number = 1"), [], line);
    let first = Books::replay(&[first.map_err(failed)??])?;
    let sql = format!("{LINES} ORDER BY number DESC LIMIT 1");
    let last = connection.query_row(&sql, [], line).map_err(failed)??;
    let (text, seal): (String, Vec<u8>) = connection
        .query_row("SELECT body, seal FROM balance", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(failed)?;
    let seal = Digest::try_from(seal).map_err(|_| last.damaged("the balance has no seal"))?;
    let books = Books::recall(&text, &seal, &key, (last.number, last.hash))?;
    if books.promise != first.promise {
        return Err(last.damaged("the balance is of another promise"));
    }
    Ok((key, books))
}

/// The key that the budget was made with.
fn key(path: &Path, connection: &Connection) -> Result<[u8; 32], BudgetError> {
    let failed = |error: rusqlite::Error| BudgetError::from_sqlite(path, &error);
    let wrong = || not_a_budget(path, "its key is not the one that it was made with");
    let sql = "SELECT bytes, (SELECT secret FROM history WHERE number = 1) FROM key";
    let (key, digest): (Vec<u8>, Option<Vec<u8>>) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).map_err(failed)?;
    let key: [u8; 32] = key.try_into().map_err(|_| wrong())?;
    if digest.as_deref() == Some(&digest_of_key(&key)[..]) { Ok(key) } else { Err(wrong()) }
}

/// What a line is read by.
const LINES: &str =
    "SELECT number, time, kind, job, people, charge, body, secret, hash FROM history";

type ReadLine = Result<Line, BudgetError>;

/// All lines; one that cannot be a line is named.
fn read(connection: &Connection) -> rusqlite::Result<Vec<ReadLine>> {
    let mut statement = connection.prepare(&format!("{LINES} ORDER BY number"))?;
    let lines = statement.query_map([], line)?;
    lines.collect()
}

fn line(row: &Row) -> rusqlite::Result<ReadLine> {
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
        Ok(Line {
            number: whole(Some(number))?.unwrap_or(0),
            time,
            kind: Kind::parse(&kind).ok_or_else(|| damaged("its kind is unknown"))?,
            job: whole(job)?,
            people: whole(people)?,
            charge,
            body,
            secret: digest(secret)?,
            hash: digest(hash)?.ok_or_else(|| damaged("it has no hash"))?,
        })
    })())
}

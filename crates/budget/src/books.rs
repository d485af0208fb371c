//! What the history comes to: replayed line by line, and refused at the first that does not fit.

use std::collections::BTreeMap;

use reticent_accountant::{Charge, Filter, Ledger, Unit};
use reticent_noise::Digest;

use crate::error::BudgetError;
use crate::line::{Bound, Closed, Kind, Line, Opened, Use, Users, is_time};
use crate::promise::Promise;

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It reserved its plan and has not come back; counted in full.
    Open,
    /// It came to its end; the plan is counted.
    Settled,
    /// It was refused before it asked anything; not counted.
    Released,
    /// It never came back, and somebody closed it as spent.
    Forfeited,
    /// It was made elsewhere; counted.
    Imported,
}

impl Status {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Settled => "settled",
            Status::Released => "released",
            Status::Forfeited => "forfeited",
            Status::Imported => "imported",
        }
    }
}

/// A job that has reserved and has not come back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Open {
    /// Whose table it is on; `None` for everybody.
    pub people: Option<u64>,
    pub charge: Charge,
}

/// A table that was bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    pub fingerprint: Digest,
    pub people: Option<u64>,
}

/// The hash before the first line.
const BEFORE: Digest = [0; 32];

/// What the history comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct Books {
    pub promise: Promise,
    pub filter: Filter,
    pub head: Digest,
    pub lines: u64,
    pub tables: Vec<Known>,
    /// The column that says who a user is, once a job that protects users has reserved.
    pub users: Option<String>,
    /// What is closed and counted, for each group of disjoint people; one before any table is
    /// bound.
    pub closed: Vec<Charge>,
    /// The same for what counts for everybody.
    pub everybody: Charge,
    pub open: BTreeMap<u64, Open>,
}

impl Books {
    /// Follows the chain and the jobs; ledgers are not counted again here, see [`check`].
    pub(crate) fn replay(lines: &[Line]) -> Result<Self, BudgetError> {
        let missing = || BudgetError::Damaged { line: 1, what: "it is missing".to_owned() };
        let first = lines.first().filter(|line| line.number == 1).ok_or_else(missing)?;
        if first.kind != Kind::Opened {
            return Err(first.damaged("a history begins with the promise"));
        }
        let opened: Opened = first.read()?;
        opened.promise.check().map_err(|error| first.damaged(error.to_string()))?;
        if opened.rule != Filter::RULE {
            return Err(first.damaged(format!(
                "its charges are by rule {}, and this program counts by rule {}",
                opened.rule,
                Filter::RULE
            )));
        }
        let mut books = Self::empty(opened.promise)?;
        for line in lines {
            books.take(line)?;
        }
        Ok(books)
    }

    /// Before the first line.
    pub(crate) fn empty(promise: Promise) -> Result<Self, BudgetError> {
        Ok(Self {
            filter: promise.filter()?,
            promise,
            head: BEFORE,
            lines: 0,
            tables: Vec::new(),
            users: None,
            closed: vec![Charge::ZERO],
            everybody: Charge::ZERO,
            open: BTreeMap::new(),
        })
    }

    /// How many groups of people that are disjoint.
    pub(crate) fn groups(&self) -> u64 {
        self.closed.len() as u64
    }

    /// Whether there are such people; everybody there always is.
    pub(crate) fn knows(&self, people: Option<u64>) -> bool {
        people.is_none_or(|own| (1..=self.groups()).contains(&own))
    }

    /// Takes the next line in, or refuses it.
    pub(crate) fn take(&mut self, line: &Line) -> Result<(), BudgetError> {
        if line.number != self.lines + 1 {
            return Err(BudgetError::Damaged {
                line: self.lines + 1,
                what: format!("it is missing, and line {} follows", line.number),
            });
        }
        // It is shown to people, whoever wrote it.
        if !is_time(&line.time) {
            return Err(line.damaged("its time is no time"));
        }
        if line.chained(&self.head) != line.hash {
            return Err(line.damaged("its hash is not that of what it says"));
        }
        match line.kind {
            Kind::Opened if line.number == 1 => (),
            Kind::Opened => return Err(line.damaged("a second beginning")),
            Kind::Table => self.bind(line)?,
            Kind::Users if self.users.is_some() => {
                return Err(line.damaged("it says a second time who a user is"));
            }
            Kind::Users => self.users = Some(Users::read(line)?),
            Kind::Reserved => self.begin(line, Status::Open)?,
            Kind::Imported => self.begin(line, Status::Imported)?,
            Kind::Settled => self.close(line, Status::Settled)?,
            Kind::Released => self.close(line, Status::Released)?,
            Kind::Forfeited => self.close(line, Status::Forfeited)?,
        }
        self.head = line.hash;
        self.lines = line.number;
        Ok(())
    }

    fn bind(&mut self, line: &Line) -> Result<(), BudgetError> {
        let fingerprint = line.secret.ok_or_else(|| line.damaged("a table without fingerprint"))?;
        match line.people {
            Some(people) if people == self.groups() + 1 && !self.tables.is_empty() => {
                self.closed.push(Charge::ZERO);
            }
            Some(1) if self.groups() == 1 => (),
            None if self.groups() > 1 => (),
            _ => return Err(line.damaged("it names people that there are not")),
        }
        self.tables.push(Known { fingerprint, people: line.people });
        Ok(())
    }

    /// A job that reserves is open; one that was made elsewhere is closed at once.
    fn begin(&mut self, line: &Line, status: Status) -> Result<(), BudgetError> {
        let charge = line.charge.ok_or_else(|| line.damaged("a job without a charge"))?;
        let known = self.knows(line.people);
        if line.job != Some(line.number) || !known {
            return Err(line.damaged("it names a job or people that there are not"));
        }
        let job = Open { people: line.people, charge };
        match status {
            Status::Open => _ = self.open.insert(line.number, job),
            _ => self.count(job),
        }
        Ok(())
    }

    fn close(&mut self, line: &Line, status: Status) -> Result<(), BudgetError> {
        let job = line.job.and_then(|number| self.open.remove(&number));
        let job = job.ok_or_else(|| line.damaged("it closes a job that is not open"))?;
        if status != Status::Released {
            // What was done beyond the plan is counted beside it.
            let charge = job.charge.and(&line.charge.unwrap_or(Charge::ZERO));
            self.count(Open { charge, ..job });
        }
        Ok(())
    }

    /// Counts a job that is closed.
    fn count(&mut self, job: Open) {
        match job.people {
            None => self.everybody = self.everybody.and(&job.charge),
            Some(people) => {
                let of = place(people).and_then(|place| self.closed.get_mut(place));
                of.into_iter().for_each(|closed| *closed = closed.and(&job.charge));
            }
        }
    }

    /// What counts for one group of people.
    pub(crate) fn spent(&self, people: u64) -> Charge {
        let closed = place(people).and_then(|place| self.closed.get(place)).copied();
        let closed = closed.unwrap_or(Charge::ZERO);
        let counts = |job: &&Open| job.people.is_none_or(|own| own == people);
        let open = self.open.values().filter(counts);
        open.fold(closed.and(&self.everybody), |sum, job| sum.and(&job.charge))
    }

    /// The groups of people that a job on a table of `people` is counted for.
    pub(crate) fn affected(&self, people: Option<u64>) -> std::ops::RangeInclusive<u64> {
        people.map_or(1..=self.groups(), |own| own..=own)
    }

    /// Whose table a job is taken to be on that does not say: the first that is known.
    pub(crate) fn known_people(&self) -> Option<u64> {
        self.tables.first().map_or(Some(1), |known| known.people)
    }

    /// Whether the promise still holds.
    pub(crate) fn hold(&self) -> bool {
        (1..=self.groups()).all(|people| self.covers(&self.spent(people)))
    }

    /// Whether so much is within the promise; what cannot be counted is not.
    pub(crate) fn covers(&self, charge: &Charge) -> bool {
        self.filter.covers(charge).unwrap_or(false)
    }

    /// What a ledger costs under the promise.
    pub(crate) fn charge(&self, ledger: &Ledger) -> Result<Charge, BudgetError> {
        Ok(self.filter.charge(&self.promise.count(ledger)?)?)
    }

    /// What the dearest of several plans costs, of which everybody pays for one.
    pub(crate) fn charge_of_one(&self, plans: &[&Ledger]) -> Result<Charge, BudgetError> {
        let mut dearest = Charge::ZERO;
        for plan in plans {
            dearest = dearest.or(&self.charge(plan)?);
        }
        Ok(dearest)
    }

    /// The same for what is done already: what cannot be counted costs everything.
    pub(crate) fn charge_of_done(&self, ledger: &Ledger) -> Charge {
        self.charge(ledger).unwrap_or(Charge::INFINITE)
    }
}

/// Where a group of people stands, counted from 1.
fn place(people: u64) -> Option<usize> {
    usize::try_from(people.checked_sub(1)?).ok()
}

/// Recomputes everything, ledgers too, and names the first line that does not fit.
pub(crate) fn check(lines: &[Line]) -> Result<Books, BudgetError> {
    let whole = Books::replay(lines)?;
    // A second time, with an eye on what each line did to the promise.
    let mut books = Books::empty(whole.promise.clone())?;
    for line in lines {
        books.take(line)?;
        check_line(&books, line)?;
    }
    Ok(whole)
}

/// What became of each job.
pub(crate) fn statuses(lines: &[Line]) -> BTreeMap<u64, Status> {
    let mut all = BTreeMap::new();
    for line in lines {
        let status = match line.kind {
            Kind::Opened | Kind::Table | Kind::Users => continue,
            Kind::Reserved => Status::Open,
            Kind::Imported => Status::Imported,
            Kind::Settled => Status::Settled,
            Kind::Released => Status::Released,
            Kind::Forfeited => Status::Forfeited,
        };
        all.extend(line.job.map(|job| (job, status)));
    }
    all
}

/// Whether somebody has to say who a user is before it can be counted.
pub(crate) fn protects_users(ledger: &Ledger) -> bool {
    ledger.entries().iter().any(|entry| entry.event().unit() == Unit::User)
}

fn check_line(books: &Books, line: &Line) -> Result<(), BudgetError> {
    let costs = |recounted: Charge| match line.charge {
        Some(charge) if charge.agrees_with(&recounted) => Ok(()),
        _ => Err(line.damaged("its ledger does not cost what is counted for it")),
    };
    match line.kind {
        Kind::Opened => line.read::<Opened>().map(|_| ()),
        Kind::Table => line.read::<Bound>().map(|_| ()),
        Kind::Users => Users::read(line).map(|_| ()),
        Kind::Reserved | Kind::Imported => {
            let used = Use::read(line)?;
            let plans = used.plans().map(|plan| books.charge_of_done(plan));
            costs(plans.reduce(|one, two| one.or(&two)).unwrap_or(Charge::INFINITE))?;
            let imported = line.kind == Kind::Imported;
            let held =
                || books.affected(line.people).all(|people| books.covers(&books.spent(people)));
            if used.plans().any(protects_users) && !imported && books.users.is_none() {
                Err(line.damaged("nobody said which column names its users"))
            } else if used.beyond && !imported {
                Err(line.damaged("a job cannot reserve more than is left"))
            } else if !used.beyond && !held() {
                Err(line.damaged("with it more is counted than was promised"))
            } else {
                Ok(())
            }
        }
        Kind::Settled => {
            let closed = Closed::read(line)?;
            match closed.ledger {
                Some(ledger) => costs(books.charge_of_done(&ledger)),
                None if line.charge.is_none() => Ok(()),
                None => Err(line.damaged("a charge without a ledger")),
            }
        }
        Kind::Released | Kind::Forfeited => match line.charge {
            None => Closed::read(line).map(|_| ()),
            Some(_) => Err(line.damaged("a charge without a ledger")),
        },
    }
}

//! What the history comes to: replayed line by line, and refused at the first that does not fit.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Charge, Filter, Ledger};
use reticent_noise::Digest;

use crate::error::BudgetError;
use crate::line::{
    BoundBody, Closed, HistoryLine, LineKind, OpenedBody, Rule, TABLES, Use, UsersBody, is_time,
};
use crate::people::CountedPeople;
use crate::promise::Promise;

/// The state of a job in the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobStatus {
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

impl JobStatus {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            JobStatus::Open => "open",
            JobStatus::Settled => "settled",
            JobStatus::Released => "released",
            JobStatus::Forfeited => "forfeited",
            JobStatus::Imported => "imported",
        }
    }
}

/// A job that has reserved and has not come back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Open {
    pub people: CountedPeople,
    pub charge: Charge,
    /// Whether it may have been on a table in memory, which rule 1 did not tell apart.
    pub doubtful: bool,
}

/// A table that was bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KnownTable {
    pub fingerprint: Digest,
    /// The group of people; `None` if it is unknown.
    pub people: Option<u64>,
    /// Whether it is the digest of a part, by which a table is not known.
    pub part: bool,
}

/// What rule 1 knew every table in memory by.
const IN_MEMORY: Digest = [0; 32];

/// The hash before the first line.
const BEFORE: Digest = [0; 32];

/// What the history comes to.
#[derive(Debug, PartialEq)]
pub(crate) struct HistoryBooks {
    pub promise: Promise,
    pub filter: Filter,
    pub head: Digest,
    pub lines: u64,
    pub tables: Vec<KnownTable>,
    /// The column that says who a user is, once a job that protects users has reserved.
    pub users: Option<String>,
    /// Whether the history says that tables are told apart by rule [`TABLES`].
    pub apart: bool,
    /// The closed and counted cost of each group of disjoint people; one before any table is bound.
    pub closed: Vec<Charge>,
    /// The closed and counted cost of each group under rule 1 that may concern another group: in
    /// the end it counts for everybody. As long as `closed`, or empty.
    pub doubtful: Vec<Charge>,
    /// The closed and counted cost for everybody.
    pub everybody: Charge,
    pub open: BTreeMap<u64, Open>,
}

impl HistoryBooks {
    /// Follows the chain and the jobs; ledgers are not counted again here, see [`check`].
    pub(crate) fn replay(lines: &[HistoryLine]) -> Result<Self, BudgetError> {
        let missing = || BudgetError::Damaged { line: 1, what: "it is missing".to_owned() };
        let first = lines.first().filter(|line| line.number == 1).ok_or_else(missing)?;
        if first.kind != LineKind::Opened {
            return Err(first.damaged("a history begins with the promise"));
        }
        let opened: OpenedBody = first.read()?;
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
        books.count_doubtful_for_everybody();
        Ok(books)
    }

    /// Under rule 1 every table in memory was taken for the same one. Whose it was nobody knows, so
    /// what was asked of it counts for everybody; and so does all that was counted for the same
    /// group since, which cannot be told from it.
    pub(crate) fn count_doubtful_for_everybody(&mut self) {
        for charge in std::mem::take(&mut self.doubtful) {
            self.everybody = self.everybody.compose(&charge);
        }
        for job in self.open.values_mut().filter(|job| job.doubtful) {
            (job.people, job.doubtful) = (CountedPeople::Everybody, false);
        }
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
            apart: false,
            closed: vec![Charge::ZERO],
            doubtful: Vec::new(),
            everybody: Charge::ZERO,
            open: BTreeMap::new(),
        })
    }

    /// How many groups of people that are disjoint.
    pub(crate) fn groups(&self) -> u64 {
        self.closed.len() as u64
    }

    /// Whether there are such people; everybody there always is.
    pub(crate) fn knows(&self, people: &CountedPeople) -> bool {
        match people {
            CountedPeople::Everybody => true,
            CountedPeople::Groups(all) => {
                !all.is_empty() && all.iter().all(|own| (1..=self.groups()).contains(own))
            }
        }
    }

    /// Takes the next line in, or refuses it.
    pub(crate) fn take(&mut self, line: &HistoryLine) -> Result<(), BudgetError> {
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
            LineKind::Opened if line.number == 1 => {
                self.apart = line.read::<OpenedBody>()?.tables == TABLES;
            }
            LineKind::Opened => return Err(line.damaged("a second beginning")),
            LineKind::Table => self.bind(line)?,
            LineKind::Rule if self.apart => return Err(line.damaged("it says its rule twice")),
            LineKind::Rule => {
                Rule::read(line)?;
                self.count_doubtful_for_everybody();
                self.apart = true;
            }
            LineKind::Users if self.users.is_some() => {
                return Err(line.damaged("it says a second time who a user is"));
            }
            LineKind::Users => self.users = Some(UsersBody::read(line)?),
            LineKind::Reserved => self.begin(line, JobStatus::Open)?,
            LineKind::Imported => self.begin(line, JobStatus::Imported)?,
            LineKind::Settled => self.close(line, JobStatus::Settled)?,
            LineKind::Released => self.close(line, JobStatus::Released)?,
            LineKind::Forfeited => self.close(line, JobStatus::Forfeited)?,
        }
        self.head = line.hash;
        self.lines = line.number;
        Ok(())
    }

    fn bind(&mut self, line: &HistoryLine) -> Result<(), BudgetError> {
        let fingerprint = line.secret.ok_or_else(|| line.damaged("a table without fingerprint"))?;
        match line.people {
            Some(people) if people == self.groups() + 1 && !self.tables.is_empty() => {
                self.closed.push(Charge::ZERO);
            }
            Some(1) if self.groups() == 1 => (),
            // A file of a table that is bound, or the digest of a part of one.
            Some(people) if self.apart && (1..=self.groups()).contains(&people) => (),
            None if self.groups() > 1 => (),
            _ => return Err(line.damaged("it names people that there are not")),
        }
        let part = BoundBody::is_part(line)?;
        self.tables.push(KnownTable { fingerprint, people: line.people, part });
        Ok(())
    }

    /// Whether a job for one group may have been on a table in memory that is not that group's.
    fn is_doubtful(&self, people: &CountedPeople) -> bool {
        let memory = |known: &&KnownTable| known.fingerprint == IN_MEMORY;
        !self.apart
            && people.one().is_some()
            && self.tables.iter().filter(memory).any(|known| known.people == people.one())
    }

    /// A job that reserves is open; one that was made elsewhere is closed at once.
    fn begin(&mut self, line: &HistoryLine, status: JobStatus) -> Result<(), BudgetError> {
        let charge = line.charge.ok_or_else(|| line.damaged("a job without a charge"))?;
        let people = Use::people(line)?;
        if line.job != Some(line.number) || !self.knows(&people) {
            return Err(line.damaged("it names a job or people that there are not"));
        }
        let job = Open { doubtful: self.is_doubtful(&people), people, charge };
        match status {
            JobStatus::Open => _ = self.open.insert(line.number, job),
            _ => self.count(job),
        }
        Ok(())
    }

    fn close(&mut self, line: &HistoryLine, status: JobStatus) -> Result<(), BudgetError> {
        let job = line.job.and_then(|number| self.open.remove(&number));
        let job = job.ok_or_else(|| line.damaged("it closes a job that is not open"))?;
        if status != JobStatus::Released {
            // What was done beyond the plan is counted beside it.
            let charge = job.charge.compose(&line.charge.unwrap_or(Charge::ZERO));
            self.count(Open { charge, ..job });
        }
        Ok(())
    }

    /// Counts a job that is closed.
    fn count(&mut self, job: Open) {
        let CountedPeople::Groups(groups) = &job.people else {
            self.everybody = self.everybody.compose(&job.charge);
            return;
        };
        if job.doubtful {
            self.doubtful.resize(self.closed.len(), Charge::ZERO);
        }
        let counted = if job.doubtful { &mut self.doubtful } else { &mut self.closed };
        for place in groups.iter().filter_map(|&group| place(group)) {
            let of = counted.get_mut(place);
            of.into_iter().for_each(|closed| *closed = closed.compose(&job.charge));
        }
    }

    /// What counts for one group of people.
    pub(crate) fn spent(&self, people: u64) -> Charge {
        let of = |all: &[Charge]| place(people).and_then(|place| all.get(place)).copied();
        let closed = of(&self.closed).unwrap_or(Charge::ZERO);
        let closed = closed.compose(&of(&self.doubtful).unwrap_or(Charge::ZERO));
        let open = self.open.values().filter(|job| job.people.include(people));
        open.fold(closed.compose(&self.everybody), |sum, job| sum.compose(&job.charge))
    }

    /// The groups of people that a job is counted for; one that comes with it is among them.
    pub(crate) fn affected(&self, people: &CountedPeople) -> Vec<u64> {
        match people {
            CountedPeople::Everybody => (1..=self.groups()).collect(),
            CountedPeople::Groups(all) => all.iter().copied().collect(),
        }
    }

    /// Whose table a job is taken to be on that does not say: the first that is known.
    pub(crate) fn known_people(&self) -> CountedPeople {
        CountedPeople::of(self.tables.first().map_or(Some(1), |known| known.people))
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
pub(crate) fn check(lines: &[HistoryLine]) -> Result<HistoryBooks, BudgetError> {
    let whole = HistoryBooks::replay(lines)?;
    // A second time, with an eye on what each line did to the promise.
    let mut books = HistoryBooks::empty(whole.promise.clone())?;
    for line in lines {
        books.take(line)?;
        check_line(&books, line)?;
    }
    Ok(whole)
}

/// What became of each job.
pub(crate) fn statuses(lines: &[HistoryLine]) -> BTreeMap<u64, JobStatus> {
    let mut all = BTreeMap::new();
    for line in lines {
        let status = match line.kind {
            LineKind::Opened | LineKind::Table | LineKind::Rule | LineKind::Users => continue,
            LineKind::Reserved => JobStatus::Open,
            LineKind::Imported => JobStatus::Imported,
            LineKind::Settled => JobStatus::Settled,
            LineKind::Released => JobStatus::Released,
            LineKind::Forfeited => JobStatus::Forfeited,
        };
        all.extend(line.job.map(|job| (job, status)));
    }
    all
}

/// The jobs that rule 1 counted for a group and that count for everybody, because they may have been
/// on a table in memory.
pub(crate) fn doubtful(lines: &[HistoryLine]) -> BTreeSet<u64> {
    let (mut groups, mut jobs) = (BTreeSet::new(), BTreeSet::new());
    let apart =
        |line: &HistoryLine| line.read::<OpenedBody>().is_ok_and(|opened| opened.tables == TABLES);
    if lines.first().is_some_and(apart) {
        return jobs;
    }
    for line in lines.iter().take_while(|line| line.kind != LineKind::Rule) {
        match line.kind {
            LineKind::Table if line.secret == Some(IN_MEMORY) => groups.extend(line.people),
            LineKind::Reserved if line.people.is_some_and(|own| groups.contains(&own)) => {
                jobs.insert(line.number);
            }
            _ => (),
        }
    }
    jobs
}

/// Whether somebody has to say who a user is before it can be counted.
pub(crate) fn protects_users(ledger: &Ledger) -> bool {
    ledger.entries().iter().any(|entry| entry.event().unit().is_whole())
}

fn check_line(books: &HistoryBooks, line: &HistoryLine) -> Result<(), BudgetError> {
    let costs = |recounted: Charge| match line.charge {
        Some(charge) if charge.agrees_with(&recounted) => Ok(()),
        _ => Err(line.damaged("its ledger does not cost what is counted for it")),
    };
    match line.kind {
        LineKind::Opened => line.read::<OpenedBody>().map(|_| ()),
        LineKind::Table => line.read::<BoundBody>().map(|_| ()),
        LineKind::Rule => Rule::read(line),
        LineKind::Users => UsersBody::read(line).map(|_| ()),
        LineKind::Reserved | LineKind::Imported => {
            let used = Use::read(line)?;
            let plans = used.plans().map(|plan| books.charge_of_done(plan));
            costs(plans.reduce(|one, two| one.or(&two)).unwrap_or(Charge::INFINITE))?;
            let imported = line.kind == LineKind::Imported;
            let people = Use::people(line)?;
            let mut affected = books.affected(&people).into_iter();
            let mut held = || affected.all(|people| books.covers(&books.spent(people)));
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
        LineKind::Settled => {
            let closed = Closed::read(line)?;
            match closed.ledger {
                Some(ledger) => costs(books.charge_of_done(&ledger)),
                None if line.charge.is_none() => Ok(()),
                None => Err(line.damaged("a charge without a ledger")),
            }
        }
        LineKind::Released | LineKind::Forfeited => match line.charge {
            None => Closed::read(line).map(|_| ()),
            Some(_) => Err(line.damaged("a charge without a ledger")),
        },
    }
}

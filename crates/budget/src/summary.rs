//! What a budget comes to, for people: what is promised, counted and left.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Charge, Event, Filter, Gdp, Ledger, epsilon};
use reticent_core::hex;

use crate::books::{HistoryBooks, JobStatus, doubtful, statuses};
use crate::error::BudgetError;
use crate::line::{Closed, HistoryLine, LineKind, Use};
use crate::people::CountedPeople;
use crate::progress::JobProgress;
use crate::promise::Promise;

/// More different events than this are not composed numerically for a look at the books.
const MOST_EVENTS: usize = 64;

/// One job of the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JobSummary {
    /// Its number, by which it is closed.
    pub number: u64,
    /// A description for people.
    pub label: String,
    /// When it began.
    pub time: String,
    /// ε of the job by itself.
    pub epsilon: f64,
    /// δ of the job by itself.
    pub delta: f64,
    /// The outcome of the job.
    pub status: JobStatus,
    /// When it came back or was closed.
    pub closed: Option<String>,
    /// How far it is, where it is open and has said so.
    pub progress: Option<JobProgress>,
    /// The groups of people that it counts for, where tables of disjoint people are kept apart;
    /// `None` for everybody.
    pub people: Option<Vec<u64>>,
}

/// The counted cost of one group of people; there is one, unless tables of disjoint people are
/// separate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GroupSummary {
    /// Which group.
    pub people: u64,
    /// How many jobs count for it.
    pub jobs: usize,
    /// The number that the filter compares with the promised ε. It is no promise by itself: that
    /// all of it together stays within the promise is.
    pub counted: f64,
    /// The largest ε, at the budget's δ, of a job with Gaussian noise that fits.
    pub left: f64,
    /// A bound on what was released so far, at the budget's δ, whoever chose when to look; `None`
    /// where it is not computed.
    pub so_far: Option<f64>,
    /// The cost of the same jobs at the budget's δ if all had been planned before the first. For
    /// comparison: it is no promise if a job was chosen adaptively.
    pub exact: Option<f64>,
    /// The jobs' own ε and δ added up. For comparison.
    pub added: Option<(f64, f64)>,
}

/// A summary of a budget.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BudgetSummary {
    /// The promise.
    pub promise: Promise,
    /// Whether it is kept: not, if a release beyond it was recorded.
    pub kept: bool,
    /// The groups of people and their counted cost.
    pub groups: Vec<GroupSummary>,
    /// The jobs, in order.
    pub jobs: Vec<JobSummary>,
    /// The column that says who a user is, once a job that protects users has reserved.
    pub users: Option<String>,
    /// How many files, and tables in memory that were said to be of other people, are bound.
    pub tables: usize,
    /// How many lines the history has.
    pub lines: u64,
    /// The hash of the last of them: who writes it down notices if the history is cut short.
    pub head: String,
}

impl BudgetSummary {
    pub(crate) fn of(lines: &[HistoryLine]) -> Result<Self, BudgetError> {
        let books = HistoryBooks::replay(lines)?;
        let (statuses, doubtful) = (statuses(lines), doubtful(lines));
        let (mut jobs, mut done, mut mixed) = (Vec::new(), Vec::new(), false);
        let ends = lines.iter().filter(|line| line.kind.closes());
        let mut closed: BTreeMap<u64, String> =
            ends.filter_map(|line| Some((line.job?, line.time.clone()))).collect();
        for line in lines {
            match line.kind {
                LineKind::Reserved | LineKind::Imported => {
                    let Some(&status) = statuses.get(&line.number) else { continue };
                    let Use { label, epsilon, delta, ledger, between, .. } = Use::read(line)?;
                    // What different parties paid is no one ledger.
                    mixed |= !between.is_empty();
                    let number = line.number;
                    let people = match Use::people(line)? {
                        CountedPeople::Groups(all) if !doubtful.contains(&number) => {
                            Some(all.into_iter().collect())
                        }
                        _ => None,
                    };
                    done.push((number, ledger));
                    let time = line.time.clone();
                    let (closed, progress) = (closed.remove(&number), None);
                    jobs.push(JobSummary {
                        number,
                        label,
                        time,
                        epsilon,
                        delta,
                        status,
                        closed,
                        progress,
                        people,
                    });
                }
                LineKind::Settled if line.charge.is_some() => {
                    let Closed { ledger, .. } = Closed::read(line)?;
                    done.extend(line.job.zip(ledger));
                }
                _ => (),
            }
        }
        let done = if mixed { None } else { Some(&*done) };
        let groups =
            (1..=books.groups()).map(|people| group(&books, people, &jobs, done)).collect();
        Ok(Self {
            kept: books.hold(),
            groups,
            jobs,
            users: books.users.clone(),
            tables: books.tables.iter().filter(|known| !known.part).count(),
            lines: books.lines,
            head: hex(&books.head),
            promise: books.promise,
        })
    }

    /// How far the jobs are that have not come back.
    pub(crate) fn hear(&mut self, known: &mut BTreeMap<u64, JobProgress>) {
        for job in self.jobs.iter_mut().filter(|job| job.status == JobStatus::Open) {
            job.progress = known.remove(&job.number);
        }
    }

    /// The jobs that reserved and have not come back.
    pub fn open(&self) -> impl Iterator<Item = &JobSummary> {
        self.jobs.iter().filter(|job| job.status == JobStatus::Open)
    }
}

/// `done` is what each job did, where that is one ledger.
fn group(
    books: &HistoryBooks,
    people: u64,
    jobs: &[JobSummary],
    done: Option<&[(u64, Ledger)]>,
) -> GroupSummary {
    let counts = |job: &&JobSummary| {
        job.status != JobStatus::Released
            && job.people.as_ref().is_none_or(|of| of.contains(&people))
    };
    let own: Vec<&JobSummary> = jobs.iter().filter(counts).collect();
    let numbers: BTreeSet<u64> = own.iter().map(|job| job.number).collect();
    let mine = done.iter().copied().flatten().filter(|(number, _)| numbers.contains(number));
    let ledgers: Vec<&Ledger> = mine.map(|(_, ledger)| ledger).collect();
    let spent = books.spent(people);
    let promise = &books.promise;
    // What is Gaussian throughout is one Gaussian.
    let whole = match spent.mu() {
        Some(0.0) => Some(Ledger::new()),
        Some(mu) => gaussian(promise, mu),
        None => done.and_then(|_| composed(promise, &ledgers)).filter(is_short),
    };
    // Numbers under other neighbours do not add up.
    let same = ledgers.iter().all(|ledger| promise.count(ledger).is_ok_and(|c| c == **ledger));
    let sum = own.iter().fold((0.0, 0.0), |(e, d), job| (e + job.epsilon, d + job.delta));
    let finite = |number: &f64| number.is_finite();
    let bounded = whole.as_ref().map(|ledger| {
        let exact = epsilon(ledger, promise.delta).ok().map(|bound| bound.upper);
        let so_far = Filter::odometer_of(ledger, promise.delta).ok().map(|bound| bound.upper);
        (exact.filter(finite), so_far.filter(finite))
    });
    let (exact, so_far) = bounded.unwrap_or_default();
    GroupSummary {
        people,
        jobs: own.len(),
        counted: books.filter.reading(&spent),
        left: largest_left(books, &spent, promise.delta),
        so_far,
        exact,
        added: (same && done.is_some()).then_some(sum),
    }
}

fn is_short(ledger: &Ledger) -> bool {
    let events = ledger.entries().iter().map(|entry| format!("{:?}", entry.event()));
    events.collect::<BTreeSet<_>>().len() <= MOST_EVENTS
}

/// All ledgers in one, under the terms of the promise; `None` where one cannot be counted.
fn composed(promise: &Promise, ledgers: &[&Ledger]) -> Option<Ledger> {
    let mut composed = Ledger::new();
    for ledger in ledgers {
        let counted = promise.count(ledger).ok().filter(|ledger| ledger.taints().is_empty())?;
        for entry in counted.entries() {
            composed.append_many(entry.event().clone(), entry.count());
        }
    }
    Some(composed)
}

/// One Gaussian release of ratio μ.
fn gaussian(promise: &Promise, mu: f64) -> Option<Ledger> {
    let Promise { adjacency, unit, view, .. } = *promise;
    let mut ledger = Ledger::new();
    ledger.append(Event::new(Gdp::new(mu).ok()?, adjacency, unit, view).ok()?);
    Some(ledger)
}

/// The largest ε at `delta` of a job with Gaussian noise that fits beside `spent`, rounded down to
/// four digits behind the point.
pub(crate) fn largest_left(books: &HistoryBooks, spent: &Charge, delta: f64) -> f64 {
    let one = |mu: f64| gaussian(&books.promise, mu);
    let fits = |mu: f64| {
        let charge = one(mu).and_then(|ledger| books.filter.charge(&ledger).ok());
        charge.is_some_and(|charge| books.covers(&spent.compose(&charge)))
    };
    let (mut low, mut high) = (0.0, 1.0);
    while fits(high) && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if fits(middle) { low = middle } else { high = middle }
    }
    let bound = one(low).and_then(|ledger| epsilon(&ledger, delta).ok());
    bound.map_or(0.0, |bound| (bound.lower * 1e4).floor() / 1e4).max(0.0)
}

//! Privacy budgets that outlive a run.
//!
//! A [`Store`] is a file that belongs to one data set. It holds a [`Promise`] (ε, δ, who is
//! protected from whom) and a history of what was done to the data: every job reserves what its
//! plan costs before the first noise is drawn, and settles afterwards. Whoever asks for more than is
//! left is refused. Costs are composed by the accountant's filter, which stays valid when the next
//! job is chosen by looking at the models of the earlier ones; proof note: `proofs/filter.md`.
//!
//! There is no data in here and there are no rows: a table is known by a keyed fingerprint that the
//! caller computes.
//!
//! A job of Reticent is paid for by `reticent_payment::pay`, which reserves, runs and settles, and
//! checks what [`Store::reserve`] does not. The example is for other jobs.
//!
//! ```
//! use reticent_accountant::{Adjacency, Event, Gdp, Ledger, Unit, View};
//! use reticent_budget::{Promise, Relation, Request, Store, PaidTable};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("clinic.budget");
//! let promise = Promise::new("clinic", 3.0, 1e-6)?;
//! let mut store = Store::create(&file, promise)?;
//!
//! let mut plan = Ledger::new();
//! plan.append(Event::new(Gdp::new(0.2)?, Adjacency::ReplaceOne, Unit::Record, View::Central)?);
//! let table = PaidTable::file([7; 32], Relation::Same);
//! let request =
//!     Request { label: "first model", asked: (1.0, 1e-6), plan: &plan, table: &table, user: None };
//! let reservation = store.reserve(&request)?; // before the first noise is drawn
//! // … the run …
//! store.settle(&reservation, &plan)?;
//! assert!(store.summary()?.groups[0].counted < 3.0);
//! # Ok(())
//! # }
//! ```

mod balance;
mod begun;
mod books;
mod course;
mod draft;
mod error;
mod file;
mod history;
mod line;
mod neighbours;
mod people;
mod plan;
mod progress;
mod promise;
mod reading;
mod request;
mod store;
mod summary;

pub use books::JobStatus;
pub use course::SpendingPoint;
pub use error::BudgetError;
pub use line::HistoryLine;
pub use plan::{Planned, gaussian_job};
pub use progress::JobProgress;
pub use promise::Promise;
pub use request::{Import, PaidTable, Relation, Request, Reservation, TablePiece};
pub use store::Store;
pub use summary::{BudgetSummary, GroupSummary, JobSummary};

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

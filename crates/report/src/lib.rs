//! Pages for people about private models and the budgets of data sets.
//!
//! A [`ReportSubject`] is a certificate, perhaps with its model, and all that is computed from its ledger;
//! an [`BudgetAccount`] is a budget as it stands. [`report`] makes one page of them that stands alone, and
//! [`live`] the pages of a server. All of them are functions from data to text: nothing is read or
//! asked here, everything that comes out of a file is escaped, and no page loads anything or needs a
//! script.

mod budget;
mod coefficients;
mod column_curves;
mod curves;
pub mod live;
mod page;
mod paid;
mod parts;
mod report;
mod section;
mod shell;
mod subject;
mod surfaces;
pub mod words;

pub use budget::BudgetAccount;
pub use page::Page;
pub use paid::PayingJob;
pub use report::{ReportHead, report, report_with};
pub use shell::policy;
pub use subject::{Finding, FindingOutcome, Findings, ReportSubject};

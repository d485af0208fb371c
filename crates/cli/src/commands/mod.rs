//! The commands, a file each. To add one: a file with its flags and `run`, a line in [`Command`]
//! and a line in [`Command::run`].

mod account;
mod asked;
mod audit;
mod budget;
mod calibrate;
mod completions;
mod count;
mod demo;
mod evaluate;
mod export;
mod fit;
mod identity;
mod inspect;
mod list;
mod man;
#[cfg(feature = "network")]
mod network;
mod predict;
mod report;
mod schema;
mod shared;
mod simulate;
mod split;
mod statistics;
mod surfaces;
mod sweep;
mod verify;

use clap::Subcommand;

use crate::answer::{Answer, OutputFormat};
use crate::failure::CommandFailure;

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a model on a private table, within a privacy budget
    Fit(Box<fit::FitArgs>),
    /// Train a model between many parties, each with its own records, budget and ledger
    Simulate(Box<simulate::Simulate>),
    /// Run a grid of settings on one table: results, means and spreads, pictures
    Sweep(Box<sweep::SweepArgs>),
    /// Count the records of a private table, or those of each class, with noise
    Count(Box<count::CountArgs>),
    /// Give the mean of columns of a private table, with noise
    Mean(Box<statistics::Mean>),
    /// Count the records of a private table in each category or bin of a column, with noise
    Histogram(Box<statistics::HistogramCommand>),
    /// Give quantiles of columns of a private table, such as the median, with noise
    Quantile(Box<statistics::QuantileCommand>),
    /// Predict for the records of a table
    Predict(predict::Predict),
    /// Measure a model on a table with known targets, privately with --epsilon
    Evaluate(evaluate::Evaluate),
    /// Show a model, and the guarantee of its certificate
    Inspect(inspect::Inspect),
    /// Check that a model or a certificate holds: its ledger, its statement, its digest, its signature
    Verify(verify::Verify),
    /// Make a key, to sign certificates with and to take part in runs on a network
    #[command(subcommand)]
    Identity(identity::IdentityCommand),
    /// List the members of a run on a network: names, keys, signatures of all
    #[cfg(feature = "network")]
    #[command(subcommand)]
    Roster(network::roster::RosterCommand),
    /// Lead a run between parties on machines of their own: run the algorithm, and listen to them
    #[cfg(feature = "network")]
    Lead(network::lead::LeadArgs),
    /// Take part in a run with your own table, key and budget
    #[cfg(feature = "network")]
    Join(network::join::JoinArgs),
    /// Show the state of a run on a network, or end it for good
    #[cfg(feature = "network")]
    #[command(subcommand)]
    Run(network::run::RunCommand),
    /// Write a model for other tools: ONNX, PMML, scikit-learn, SQL
    Export(export::ExportArgs),
    /// Write a page about models and their budget, for a privacy officer and for a data scientist
    Report(report::ReportArgs),
    /// Keep the budget of a data set over all jobs on it
    #[command(subcommand)]
    Budget(budget::BudgetCommand),
    /// Compute the privacy loss of a list of events, by every method side by side
    Account(account::Account),
    /// Find the smallest noise, the most steps or the largest sampling rate within a budget
    Calibrate(calibrate::Calibrate),
    /// Attack an algorithm on worst-case neighbouring tables and measure how much it leaks
    Audit(audit::Audit),
    /// Draft or check the description of a table
    #[command(subcommand)]
    Schema(schema::SchemaCommand),
    /// Split a table into a training file and a test file, with no person in both
    Split(Box<split::SplitArgs>),
    /// List algorithms, losses, penalties and other choices
    List(list::List),
    /// Run the whole workflow once on built-in data
    Demo(demo::Demo),
    /// Print the completion script of a shell
    Completions(completions::Completions),
    /// Write a manual page for every command
    Man(man::Man),
}

impl Command {
    /// Does it.
    pub fn run(self, format: OutputFormat) -> Result<Answer, CommandFailure> {
        match self {
            Command::Fit(fit) => fit.run(),
            Command::Simulate(simulate) => simulate.run(),
            Command::Sweep(sweep) => sweep.run(),
            Command::Count(count) => count.run(),
            Command::Mean(mean) => mean.run(),
            Command::Histogram(histogram) => histogram.run(),
            Command::Quantile(quantile) => quantile.run(),
            Command::Predict(predict) => predict.run(format.json),
            Command::Evaluate(evaluate) => evaluate.run(),
            Command::Inspect(inspect) => inspect.run(),
            Command::Verify(verify) => verify.run(),
            Command::Identity(identity) => identity.run(),
            #[cfg(feature = "network")]
            Command::Roster(roster) => roster.run(),
            #[cfg(feature = "network")]
            Command::Lead(lead) => lead.run(format.json),
            #[cfg(feature = "network")]
            Command::Join(join) => join.run(format.json),
            #[cfg(feature = "network")]
            Command::Run(run) => run.run(),
            Command::Export(export) => export.run(format.json),
            Command::Report(report) => report.run(),
            Command::Budget(budget) => budget.run(),
            Command::Account(account) => account.run(),
            Command::Calibrate(calibrate) => calibrate.run(),
            Command::Audit(audit) => audit.run(),
            Command::Schema(schema) => schema.run(),
            Command::Split(split) => split.run(),
            Command::List(list) => Ok(list.run()),
            Command::Demo(demo) => demo.run(),
            Command::Completions(completions) => Ok(completions.run()),
            Command::Man(man) => man.run(),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Fit(_) => "fit",
            Command::Simulate(_) => "simulate",
            Command::Sweep(_) => "sweep",
            Command::Count(_) => "count",
            Command::Mean(_) => "mean",
            Command::Histogram(_) => "histogram",
            Command::Quantile(_) => "quantile",
            Command::Predict(_) => "predict",
            Command::Evaluate(_) => "evaluate",
            Command::Inspect(_) => "inspect",
            Command::Verify(_) => "verify",
            Command::Identity(_) => "identity",
            #[cfg(feature = "network")]
            Command::Roster(_) => "roster",
            #[cfg(feature = "network")]
            Command::Lead(_) => "lead",
            #[cfg(feature = "network")]
            Command::Join(_) => "join",
            #[cfg(feature = "network")]
            Command::Run(_) => "run",
            Command::Export(_) => "export",
            Command::Report(_) => "report",
            Command::Budget(_) => "budget",
            Command::Account(_) => "account",
            Command::Calibrate(_) => "calibrate",
            Command::Audit(_) => "audit",
            Command::Schema(_) => "schema",
            Command::Split(_) => "split",
            Command::List(_) => "list",
            Command::Demo(_) => "demo",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
        }
    }

    /// Whether its answer to people is a mere report of what was written.
    pub fn is_report(&self) -> bool {
        match self {
            Command::Fit(_) | Command::Simulate(_) => true,
            Command::Report(_) | Command::Split(_) => true,
            Command::Identity(identity) => identity.is_report(),
            #[cfg(feature = "network")]
            Command::Roster(roster) => roster.is_report(),
            #[cfg(feature = "network")]
            Command::Lead(_) | Command::Join(_) => true,
            Command::Predict(predict) => predict.writes_a_file(),
            Command::Export(export) => export.writes_a_file(),
            Command::Budget(budget) => budget.is_report(),
            _ => false,
        }
    }
}

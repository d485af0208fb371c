//! Parties between whom a question is asked, and the budgets that the parties of a run pay from, each
//! from its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use reticent::accountant::{Ledger, View};
use reticent::internal::{PaidByParties, Question};
use reticent::simulate::{BudgetFiles, Parties};
use reticent::{Error, Files, Guarantee, Job, Run};
use reticent_budget::{Relation, Store};
use reticent_payment::{Bill, Paid, PartyReceipt, PaymentError, pay_each};
use serde::Serialize;

use crate::answer::object;
use crate::delivery::{Charged, Delivery};
use crate::failure::CommandFailure;
use crate::layout::wrapped;
use crate::number;
use crate::purse::{BudgetReceipt, Purse, asked_of_budgets, done};

/// Above the flags of a question between parties.
pub const HEADING: &str = "Between parties (docs/federated.md)";

/// Where each party pays from.
#[derive(Debug, Default, Args)]
pub struct PartyBudgetFlags {
    /// Each party pays from its own budget: a file name with {} for the number of the party, from
    /// 0; or repeat the flag, once for each party in order
    #[arg(long = "party-budget", value_name = "FILE", conflicts_with = "budget")]
    party_budget: Vec<String>,
}

impl PartyBudgetFlags {
    /// The files.
    pub fn files(self) -> Option<BudgetFiles> {
        BudgetFiles::typed(self.party_budget)
    }
}

/// Between whom a question is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub struct BetweenFlags {
    /// Number of parties; the records are split among them [default: one party for each user]
    #[arg(long, value_name = "N", requires = "trust", value_parser = number::whole::<u32>,
        allow_negative_numbers = true)]
    split: Option<u32>,

    /// One party for each value of this column; with a user column the unit is a person within a party
    #[arg(long, value_name = "COLUMN", requires = "trust", conflicts_with = "split")]
    parties_from: Option<String>,

    /// Ask parties, under this trust model. central: the server sees exact sums, and the answer is that of
    /// one table. local: each party adds its own noise. secure-aggregation: the same, and the server sees
    /// only masked sums
    #[arg(long, value_parser = reticent::one_of!(View))]
    trust: Option<View>,

    /// The fraction of the parties that is assumed honest, for secure-aggregation [default: 0.8]
    #[arg(long, value_name = "P", requires = "trust", value_parser = number::parse,
        allow_negative_numbers = true)]
    honest: Option<f64>,

    #[command(flatten)]
    budgets: PartyBudgetFlags,
}

/// Of which parties a question is asked, as a budget tells it from other questions.
#[derive(Debug, Serialize)]
pub struct QuestionParties {
    #[serde(flatten)]
    parties: Parties,
    #[serde(skip_serializing_if = "Option::is_none")]
    honest: Option<f64>,
}

/// What the parties paid.
#[derive(Serialize)]
struct PartyPayments<'a> {
    parties: Vec<PartyPayment<'a>>,
}

/// What one party paid: nothing, if it took no part.
#[derive(Serialize)]
struct PartyPayment<'a> {
    party: usize,
    file: &'a Path,
    job: Option<u64>,
}

/// How a question is paid for.
#[derive(Debug)]
pub struct Paying<'a> {
    /// From one budget.
    pub purse: Option<Purse>,
    /// What is asked, for people.
    pub label: &'a str,
    /// What it may cost.
    pub guarantee: &'a Guarantee,
}

impl BetweenFlags {
    /// Who takes part; nobody where one table is asked.
    pub fn parties(&self) -> Option<Parties> {
        let given = self.trust.is_some() || !self.budgets.party_budget.is_empty();
        let (split, trust) = (self.split, self.trust);
        let parties_from = self.parties_from.clone();
        let parties = Parties::default().with(|it| {
            it.split = split;
            it.trust = trust;
            it.parties_from = parties_from;
        });
        given.then_some(parties)
    }

    /// What names the question in a budget, beside what is asked; nothing where one table is asked.
    pub fn described(&self) -> Option<QuestionParties> {
        Some(QuestionParties { parties: self.parties()?, honest: self.honest })
    }

    /// What the books will have, where that follows before there is a table: of a question whose noise
    /// the gate adds.
    pub fn plan_beforehand<Q: Question>(&self, job: &Job<Q>) -> Option<Ledger> {
        let once = self.trust.is_none_or(|trust| trust == View::Central);
        once.then(|| job.plan_beforehand()).flatten()
    }

    /// Asks, and pays for it where budgets were named.
    pub fn ask<Q: Question>(
        self,
        job: &Job<Q>,
        data: &Files,
        paying: Paying<'_>,
        run: Run<'_>,
        deliver: impl FnOnce(&mut Q::Output) -> Result<Delivery, CommandFailure>,
    ) -> Result<(Delivery, Charged), CommandFailure> {
        let Paying { purse, label, guarantee } = paying;
        let Some(parties) = self.parties() else {
            let user = job.user_column();
            return done(purse, data, user, |data, run| job.open(data, run), run, deliver);
        };
        let mut between = job.between(&parties)?;
        if let Some(share) = self.honest {
            between = between.honest(share)?;
        }
        let user = between.user_column();
        let Some(files) = self.budgets.files() else {
            return done(purse, data, user, |data, run| between.open(data, run), run, deliver);
        };
        let asked = asked_of_budgets(guarantee)?;
        let bill = Bill { label, asked, user: user.as_deref(), relation: Relation::Same };
        let open = |_: &BTreeSet<u32>, run: &mut Run<'_>| between.open(data, run);
        paid_by_each(&files, &bill, data, open, run, deliver)
    }
}

/// Does the run that `open` opens without some of its parties; each pays from its own of `files`.
pub fn paid_by_each<R: PaidByParties>(
    files: &BudgetFiles,
    bill: &Bill<'_>,
    data: &Files,
    open: impl FnMut(&BTreeSet<u32>, &mut Run<'_>) -> Result<R, Error>,
    run: Run<'_>,
    deliver: impl FnOnce(&mut R::Done) -> Result<Delivery, CommandFailure>,
) -> Result<(Delivery, Charged), CommandFailure> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let stores = |parties: usize| {
        paths = files.of(parties)?;
        let open = |(party, path): (usize, &PathBuf)| {
            Store::open(path).map_err(|why| PaymentError::Party { party, why, needed: None })
        };
        paths.iter().enumerate().map(open).collect()
    };
    let paid = pay_each(stores, bill, Paid::Files(&data.paths), open, run);
    let mut paid = paid.map_err(CommandFailure::of_payment)?;
    let receipt = Some(receipt(&paid, &paths));
    Ok((deliver(&mut paid.done)?, Charged { receipt, ..Charged::default() }))
}

/// What a run did to the budgets of its parties.
fn receipt<D>(paid: &PartyReceipt<D>, files: &[PathBuf]) -> BudgetReceipt {
    let PartyReceipt { jobs, absent, open, .. } = paid;
    let payers = jobs.iter().flatten().count();
    let text = wrapped(&format!(
        "{payers} of {} parties paid for it, each from its own budget; `reticent budget show` says what is left in \
         one.",
        jobs.len()
    ));
    let each = jobs.iter().zip(files).enumerate();
    let each = each.map(|(party, (job, file))| PartyPayment { party, file, job: *job });
    let object = object(&PartyPayments { parties: each.collect() });
    let away = absent.iter().map(|absent| {
        format!(
            "Party {} took no part ({}): {}.",
            absent.party,
            files[absent.party].display(),
            absent.why
        )
    });
    let stays = open.iter().map(|(party, why)| {
        let file = files[*party].display();
        format!("The job of party {party} stays open in {file}, and counted in full: {why}.")
    });
    BudgetReceipt { text, object, remarks: away.chain(stays).collect(), job: None }
}

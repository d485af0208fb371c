//! `reticent join`: takes part in a run with one's own table, key and budget.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use reticent::Identity;
use reticent::accountant::View;
use reticent::internal::{check_folder, check_results};
use reticent_budget::Relation;
use reticent_host::{
    HostOptions, JoinBudget, PaidRun, PartyFile, RemoteParty, RunFile, RunJournal, SignedRosters,
};
use serde::Serialize;

use super::{failure, finish, teller, write_model};
use crate::answer::Answer;
use crate::commands::shared::{CertificateFields, certificate_rows};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};

#[derive(Debug, Args)]
#[command(
    after_help = "After a crash or a lost connection, run the same command again: it continues the run in its \
                  journal.\n\
                  A party file has data, key, journal and out. It may have budget, which pays for the run,\n\
                  and link, proxy or courier for another connection to the lead than that of the run file."
)]
pub struct JoinArgs {
    /// The run file (TOML), the same for everybody
    run: PathBuf,

    /// Your own file (TOML): table, key, journal, budget, and the folder of the model
    #[arg(long, value_name = "FILE")]
    party: PathBuf,

    /// The table is a new edition of the budget's table
    #[arg(long, conflicts_with = "disjoint_people")]
    new_edition: bool,

    /// Nobody in the table is in another table of the budget
    #[arg(long)]
    disjoint_people: bool,

    /// Replace a model in the folder
    #[arg(long)]
    force: bool,
}

impl JoinArgs {
    /// Does it.
    pub fn run(self, json: bool) -> Result<Answer, CommandFailure> {
        let of_join = |error| CommandFailure::of("join", error);
        let file = RunFile::read(&self.run).map_err(failure("join"))?;
        let own = PartyFile::read(&self.party).map_err(failure("join"))?;
        let identity = Arc::new(Identity::read(&own.key).map_err(of_join)?);
        check_folder(&own.out).map_err(of_join)?;
        check_results(&own.out, self.force).map_err(of_join)?;
        let journal = RunJournal::open(&own.journal).map_err(failure("join"))?;
        let signed = SignedRosters::of_key(&own.key).map_err(failure("join"))?;
        let dialer = own.way(&file).dialer(&identity, &file.roster);
        let dialer = dialer.map_err(|error| failure("join")(error.into()))?;
        let (notify, bar) = teller(json);
        let options = HostOptions {
            patience: file.patience,
            least: own.least(&file),
            signed,
            notify,
            ..HostOptions::default()
        };
        let files = own.files();
        let party = RemoteParty {
            job: &file.job,
            roster: &file.roster,
            identity: &identity,
            files: &files,
            dialer: &*dialer,
            options,
        };
        let relation = match (self.new_edition, self.disjoint_people) {
            (true, _) => Relation::NewEdition,
            (_, true) => Relation::DisjointPeople,
            _ => Relation::Same,
        };
        let budget = own.budget.as_deref().map(|file| JoinBudget { file, relation });
        let joined = party.join(journal, budget);
        finish(&bar);
        answer(&own, joined.map_err(failure("join"))?)
    }
}

/// A run that is over, for one of its parties.
#[derive(Serialize)]
struct JoinedFields<'a> {
    #[serde(flatten)]
    certificate: CertificateFields<'a>,
    model: &'a Path,
    run: &'a str,
    job: Option<u64>,
}

fn answer(own: &PartyFile, run: PaidRun) -> Result<Answer, CommandFailure> {
    let PaidRun { joined, open, .. } = run;
    let path = write_model("join", &joined.model, &own.out, &own.journal)?;
    let certificate = joined.model.certificate();
    let paid = match (&joined.reservation, &own.budget) {
        (Some(job), Some(file)) => format!(" It is job {} of {}.", job.number, file.display()),
        _ => " No budget was named: keep a record of what it cost.".to_owned(),
    };
    let signed = match certificate.view {
        View::Central => "the lead has signed its certificate, which counts what you agreed to",
        _ => "its certificate is your own, signed by you, and counts the noise that you have added",
    };
    let head = format!(
        "Run {} is over, and {} is its model; {signed}.{paid}",
        &joined.run[..16],
        path.display()
    );
    let text = format!("{}\n{}", wrapped(&head), columns(&certificate_rows(certificate), 2, 2));
    let remarks =
        open.map(|why| format!("The job stays open in the budget, and counted in full: {why}."));
    let fields = JoinedFields {
        certificate: CertificateFields::of(certificate),
        model: &path,
        run: &joined.run,
        job: joined.reservation.as_ref().map(|job| job.number),
    };
    Ok(Answer { remarks: remarks.into_iter().collect(), ..Answer::of(text, &fields) })
}

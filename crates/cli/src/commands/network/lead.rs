//! `reticent lead`: gathers the parties of a run, runs it on the sums that they say and hands the model
//! over; or carries what peers say to one another.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use reticent::internal::{check_folder, check_results};
use reticent::simulate::Traffic;
use reticent::{Identity, Model};
use reticent_host::links::{LinkKind, listener};
use reticent_host::{HostOptions, Lead, Led, RunFile, RunJournal, SignedRosters};
use serde::Serialize;

use super::{failure, finish, teller, write_model};
use crate::answer::Answer;
use crate::commands::shared::{CertificateFields, certificate_rows, many_rounds};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};

#[derive(Debug, Args)]
#[command(
    after_help = "After a crash or a lost connection, run the same command again: it continues the run in its \
                  journal.\n\
                  With `trust = central` the journal holds exact sums and the key of the noise until the run is \
                  over: keep it secret."
)]
pub struct LeadArgs {
    /// The run file (TOML), the same for everybody
    run: PathBuf,

    /// Your key; the roster has it as the lead's
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Your journal: the state of the run on this machine
    #[arg(long, value_name = "FILE")]
    journal: PathBuf,

    /// The folder of the model, if the lead has one
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,

    /// The address to listen on [default: the address of the roster]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,

    /// The protocols to listen to: QUIC (UDP), TLS (TCP), or both [default: as in the run file, or auto]
    #[arg(long, value_parser = reticent::one_of!(LinkKind))]
    link: Option<LinkKind>,

    /// Make a Unix socket for couriers; without --link, listen to this socket only
    #[arg(long, value_name = "SOCKET")]
    courier: Option<PathBuf>,

    /// Replace a model in the folder
    #[arg(long)]
    force: bool,
}

/// A run that is over, for its lead.
#[derive(Serialize)]
struct LedFields<'a> {
    #[serde(flatten)]
    own: Option<LedModel<'a>>,
    run: &'a str,
    without: &'a [String],
    rejections: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<Traffic>,
}

/// The model of a lead, which has none of a run between peers.
#[derive(Serialize)]
struct LedModel<'a> {
    #[serde(flatten)]
    certificate: CertificateFields<'a>,
    model: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<u32>,
}

impl<'a> LedFields<'a> {
    fn of(led: &'a Led, own: Option<LedModel<'a>>) -> Self {
        let Led { run, without, rejections, .. } = led;
        let traffic = led.moved.map(|(_, traffic)| traffic);
        LedFields { own, run, without, rejections, traffic }
    }
}

impl LeadArgs {
    /// Does it.
    pub fn run(self, json: bool) -> Result<Answer, CommandFailure> {
        let of_lead = |error| CommandFailure::of("lead", error);
        let file = RunFile::read(&self.run).map_err(failure("lead"))?;
        let identity = Arc::new(Identity::read(&self.key).map_err(of_lead)?);
        check_folder(&self.out).map_err(of_lead)?;
        check_results(&self.out, self.force).map_err(of_lead)?;
        let journal = RunJournal::open(&self.journal).map_err(failure("lead"))?;
        let signed = SignedRosters::of_key(&self.key).map_err(failure("lead"))?;
        let address = self.listen.as_deref().unwrap_or(file.roster.lead_address());
        let link = self.link.or(self.courier.is_none().then_some(file.link));
        let place = link.map(|link| (link, address));
        let listener = listener(&identity, &file.roster, place, self.courier.as_deref());
        let listener = listener.map_err(|error| failure("lead")(error.into()))?;
        let (notify, bar) = teller(json);
        let options = HostOptions {
            patience: file.patience,
            least: file.least,
            signed,
            notify,
            ..HostOptions::default()
        };
        let lead = Lead { job: &file.job, roster: &file.roster, identity: &identity, options };
        let led = lead.run(journal, listener);
        finish(&bar);
        self.answer(led.map_err(failure("lead"))?)
    }

    fn answer(&self, led: Led) -> Result<Answer, CommandFailure> {
        if led.model.is_empty() {
            return Ok(carried(&led));
        }
        let of_lead = |error| CommandFailure::of("lead", error);
        let model = Model::from_json(&led.model).map_err(of_lead)?;
        let path = write_model("lead", &model, &self.out, &self.journal)?;
        let mut rows = certificate_rows(model.certificate());
        // A walk has none.
        let rounds = led.moved.map(|(rounds, _)| rounds).filter(|rounds| *rounds > 0);
        if let Some(rounds) = rounds {
            let said = many_rounds(&model, rounds);
            rows.push(vec!["rounds".to_owned(), said.unwrap_or(rounds.to_string())]);
        }
        rows.extend(bytes_moved(&led));
        let head = format!(
            "Run {} is over, and {} is its model, signed by you.",
            &led.run[..16],
            path.display()
        );
        let text = format!("{}\n{}", wrapped(&head), columns(&rows, 2, 2));
        let mut remarks = Vec::new();
        if !led.without.is_empty() {
            remarks.push(format!(
                "{} did not fetch the model: the same command hands it over when they come.",
                led.without.join(", ")
            ));
        }
        let certificate = CertificateFields::of(model.certificate());
        let own = LedModel { certificate, model: &path, rounds };
        Ok(Answer { remarks, ..Answer::of(text, &LedFields::of(&led, Some(own))) })
    }
}

fn bytes_moved(led: &Led) -> Option<Vec<String>> {
    led.moved.map(|(_, traffic)| vec!["bytes moved".to_owned(), traffic.bytes.to_string()])
}

/// What is said of a run between peers in which the lead has no seat.
fn carried(led: &Led) -> Answer {
    let rows: Vec<_> = bytes_moved(led).into_iter().collect();
    let head = format!(
        "Run {} is over. You have carried it; each party has a model and a certificate of its own, and you have none.",
        &led.run[..16]
    );
    let text = format!("{}\n{}", wrapped(&head), columns(&rows, 2, 2));
    let away = (!led.without.is_empty()).then(|| {
        let names = led.without.join(", ");
        format!(
            "{names} did not receive the end of the run: run the same command again when they are back."
        )
    });
    Answer { remarks: away.into_iter().collect(), ..Answer::of(text, &LedFields::of(led, None)) }
}

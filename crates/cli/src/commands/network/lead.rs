//! `reticent lead`: gathers the parties of a run, runs it on the sums that they say and hands the model
//! over; or carries what peers say to one another.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use reticent::internal::{check_folder, check_results};
use reticent::{Identity, Model};
use reticent_host::links::{LinkKind, listener};
use reticent_host::{HostOptions, Lead, Led, RunFile, RunJournal, SignedRosters};
use serde_json::{Value, json};

use super::{failure, finish, teller, write_model};
use crate::answer::Answer;
use crate::commands::shared::{certificate_fields, certificate_rows, many_rounds};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};

#[derive(Debug, Args)]
#[command(
    after_help = "After a crash or a lost connection, run the same command again: it continues the run in its journal.\n\
                        With `trust = central` the journal holds exact sums and the key of the noise until the run is over: keep it secret."
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
            return Ok(carried(led));
        }
        let of_lead = |error| CommandFailure::of("lead", error);
        let model = Model::from_json(&led.model).map_err(of_lead)?;
        let path = write_model("lead", &model, &self.out, &self.journal)?;
        let mut rows = certificate_rows(model.certificate());
        let mut object = Value::Object(certificate_fields(model.certificate()));
        if let Some((rounds, traffic)) = led.moved {
            // A walk has none.
            if rounds > 0 {
                let said = many_rounds(&model, rounds);
                rows.push(vec!["rounds".to_owned(), said.unwrap_or(rounds.to_string())]);
                object["rounds"] = json!(rounds);
            }
            rows.push(vec!["bytes moved".to_owned(), traffic.bytes.to_string()]);
            object["traffic"] = json!({ "messages": traffic.messages, "bytes": traffic.bytes });
        }
        object["model"] = json!(path);
        object["run"] = json!(led.run);
        object["without"] = json!(led.without);
        object["rejections"] = json!(led.rejections);
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
        Ok(Answer { text, object, remarks, ..Answer::default() })
    }
}

/// What is said of a run between peers in which the lead has no seat.
fn carried(led: Led) -> Answer {
    let mut object =
        json!({ "run": led.run, "without": led.without, "rejections": led.rejections });
    let mut rows = Vec::new();
    if let Some((_, traffic)) = led.moved {
        rows.push(vec!["bytes moved".to_owned(), traffic.bytes.to_string()]);
        object["traffic"] = json!({ "messages": traffic.messages, "bytes": traffic.bytes });
    }
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
    Answer { text, object, remarks: away.into_iter().collect(), ..Answer::default() }
}

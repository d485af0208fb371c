//! `reticent reproduce`: the experiments of the papers, run again, and their claims checked.

use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Args;
use reticent_experiments::{CATALOGUE, Claim, Context, Error, Experiment, Report};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::layout::{columns, wrapped};
use crate::number;
use crate::progress::Line;

/// Where results go when nothing is said.
const OUT: &str = "reproduction";

#[derive(Debug, Args)]
#[command(
    after_help = "Public tables are read from the folder of --data-dir, or of RETICENT_DATA. What is not there is said with \
                        where to get it; with --quick a simulated table stands in for it."
)]
pub struct Reproduce {
    /// The experiments, by name, or `all`; --list shows them
    #[arg(required_unless_present = "list", value_name = "ID")]
    ids: Vec<String>,

    /// List the experiments, with what they claim and the data they need
    #[arg(long)]
    list: bool,

    /// The folder of the public tables [default: RETICENT_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Everything small: few seeds, few budgets, few rows
    #[arg(long)]
    quick: bool,

    /// So many seeds in place of each experiment's own number
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    seeds: Option<u64>,

    /// At most so many rows of each table, chosen at random
    #[arg(long, value_name = "N", value_parser = number::whole::<usize>, allow_negative_numbers = true)]
    rows: Option<usize>,

    /// The folder for results, one below it for each experiment [default: reproduction]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Reproduce {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        if self.list {
            return Ok(list());
        }
        let chosen = self.chosen()?;
        let out = self.out.clone().unwrap_or_else(|| OUT.into());
        let data_dir =
            self.data_dir.clone().or_else(|| std::env::var_os("RETICENT_DATA").map(PathBuf::from));
        let (mut text, mut objects, mut remarks) = (String::new(), Vec::new(), Vec::new());
        let mut claims = Vec::new();
        for experiment in &chosen {
            let mut line = Line::new();
            let mut tell = |what: &str| {
                line.say(&format!("{}: {what}", experiment.id()));
                ControlFlow::Continue(())
            };
            let mut context = Context {
                data_dir: data_dir.clone(),
                quick: self.quick,
                seeds: self.seeds,
                rows: self.rows,
                tell: &mut tell,
            };
            let report = match experiment.run(&mut context) {
                Ok(report) => report,
                // One that cannot be had does not keep the others from running.
                Err(why @ Error::Missing { .. }) if chosen.len() > 1 => {
                    remarks.push(format!("skipped {}: {why}", experiment.id()));
                    continue;
                }
                Err(why) => return Err(failed(why)),
            };
            let folder = out.join(experiment.id());
            report.write(*experiment, &folder).map_err(failed)?;
            claims.push(report.markdown(*experiment, &format!("{}/", experiment.id())));
            text.push_str(&said(*experiment, &report));
            objects.push(object(*experiment, &report));
        }
        let whole = out.join("claims.md");
        std::fs::create_dir_all(&out)
            .and_then(|()| std::fs::write(&whole, claims.join("\n")))
            .map_err(|why| reticent::Error::written(&whole, &why))?;
        text.push_str(&format!("Wrote {}: claims.md, pictures and numbers.\n", out.display()));
        let object = json!({ "out": out.display().to_string(), "experiments": objects });
        Ok(Answer { text, object, remarks })
    }

    fn chosen(&self) -> Result<Vec<&'static dyn Experiment>, Failure> {
        if self.ids.iter().any(|id| id == "all") {
            return Ok(CATALOGUE.to_vec());
        }
        let find = |id: &String| {
            reticent_experiments::find(id).ok_or_else(|| {
                let known: Vec<_> = CATALOGUE.iter().map(|experiment| experiment.id()).collect();
                let allowed = format!("there are all, {}", known.join(", "));
                Failure::of("reproduce", reticent::Error::value("id", id, allowed))
            })
        };
        self.ids.iter().map(find).collect()
    }
}

fn failed(why: Error) -> Failure {
    match why {
        Error::Job(why) => why.into(),
        why => {
            let hint = "see `reticent reproduce --list` for the data that each experiment needs";
            Failure::Usage { message: why.to_string(), hint: hint.to_owned() }
        }
    }
}

/// The experiments, for people and for programs.
fn list() -> Answer {
    let data = |experiment: &dyn Experiment| -> Vec<&'static str> {
        experiment.needs().iter().map(|set| set.name()).collect()
    };
    let rows: Vec<Vec<String>> = CATALOGUE
        .iter()
        .map(|experiment| {
            let needs = data(*experiment).join(", ");
            let needs = if needs.is_empty() { "–".to_owned() } else { needs };
            vec![experiment.id().to_owned(), needs, experiment.about().to_owned()]
        })
        .collect();
    let objects: Vec<Value> = CATALOGUE
        .iter()
        .map(|experiment| {
            json!({
                "id": experiment.id(),
                "paper": experiment.paper(),
                "about": experiment.about(),
                "data": data(*experiment),
                "claims": experiment.claims(),
            })
        })
        .collect();
    let text = columns(&rows, 2, usize::MAX);
    Answer { text, object: json!({ "experiments": objects }), remarks: Vec::new() }
}

fn said(experiment: &dyn Experiment, report: &Report) -> String {
    let mut text =
        format!("{} ({}): {}\n", experiment.id(), experiment.paper(), experiment.about());
    let stand_in = match report.stand_ins.is_empty() {
        true => String::new(),
        false => format!(" [a simulated stand-in for {}]", report.stand_ins.join(", ")),
    };
    for Claim { text: claim, version, verdict, numbers } in &report.claims {
        let (version, verdict) = (version.words(), verdict.words());
        let line = format!("{verdict}: {claim} ({version}); {numbers}{stand_in}");
        text.push_str(&wrapped(&format!("- {line}")));
        text.push('\n');
    }
    text.push('\n');
    text
}

fn object(experiment: &dyn Experiment, report: &Report) -> Value {
    let claims: Vec<Value> = report
        .claims
        .iter()
        .map(|claim| {
            json!({
                "claim": claim.text,
                "version": claim.version.words(),
                "verdict": claim.verdict.words(),
                "numbers": claim.numbers,
            })
        })
        .collect();
    json!({
        "id": experiment.id(),
        "claims": claims,
        "stand_ins": report.stand_ins,
        "notes": report.notes,
    })
}

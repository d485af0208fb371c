//! `reticent reproduce`: the experiments of the papers, run again, and their claims checked.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use reticent_experiments::{
    CATALOGUE, Claim, Context, Done, Experiment, ExperimentError, Explained, ModelStore, Results,
    build, page,
};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number;
use crate::progress::{self, StatusLine};

/// The folder of results by default.
const OUT: &str = "reproduction";

/// The page of all results in that folder.
const PAGE: &str = "README.md";

#[derive(Debug, Args)]
#[command(
    after_help = "Public tables are read from the folder of --data-dir, or of RETICENT_DATA. What is not there is said with \
                        where to get it; with --quick a simulated table stands in for it. An experiment that this build has done is \
                        not run again, and one that was stopped goes on where it was."
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

    /// Train again what another build of this program has trained
    #[arg(long)]
    again: bool,

    /// Draw the pictures and write the page again from the numbers of earlier runs; runs nothing
    #[arg(long, conflicts_with_all = ["again", "quick", "seeds", "rows", "data_dir"])]
    redraw: bool,
}

impl Reproduce {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        if self.list {
            return Ok(list());
        }
        let chosen = self.chosen()?;
        let out = self.out.clone().unwrap_or_else(|| OUT.into());
        let build = build();
        let store = ModelStore::new(out.join("models"), &build, self.again);
        let kept = |experiment: &dyn Experiment| {
            out.join("kept").join(experiment.id()).with_extension("report")
        };
        let (mut text, mut objects, mut remarks) = (String::new(), Vec::new(), Vec::new());
        for experiment in &chosen {
            let folder = out.join(experiment.id());
            let file = kept(*experiment);
            let done = match self.redraw {
                true => Results::redraw(&folder, &file).map(|results| (results, true)),
                false => self.one(*experiment, (&folder, &file), (&store, &build)),
            };
            match done {
                Ok((results, before)) => {
                    let done = if before { " (done before)" } else { "" };
                    // Hours may be between the first and the last.
                    if chosen.len() > 1 {
                        let (id, seconds) = (experiment.id(), results.seconds);
                        progress::said(&format!("{id}: {seconds:.0} s{done}"));
                    }
                    text.push_str(&said(*experiment, &results, done));
                    objects.push(object(*experiment, &results));
                }
                // One that cannot be had does not keep the others from running.
                Err(why @ ExperimentError::Missing { .. }) if chosen.len() > 1 => {
                    remarks.push(format!("skipped {}: {why}", experiment.id()));
                }
                Err(why) => return Err(failed(why)),
            }
            write_page(&out)?;
        }
        if store.foreign() > 0 {
            remarks.push(format!(
                "{} models were trained by another build of this program; --again trains them again",
                store.foreign()
            ));
        }
        text.push_str(&format!("Wrote {}: {PAGE}, pictures and numbers.\n", out.display()));
        let object = json!({ "out": out.display().to_string(), "experiments": objects });
        Ok(Answer { text, object, remarks, ..Answer::default() })
    }

    /// Runs one, unless this build has done so before with the same settings.
    fn one(
        &self,
        experiment: &dyn Experiment,
        (folder, kept): (&Path, &Path),
        (store, build): (&ModelStore, &str),
    ) -> Result<(Results, bool), ExperimentError> {
        let mut line = StatusLine::new();
        let mut tell = |what: &str| {
            line.say(&format!("{}: {what}", experiment.id()));
            ControlFlow::Continue(())
        };
        let variable = || std::env::var_os("RETICENT_DATA").map(PathBuf::from);
        let mut context = Context {
            data_dir: self.data_dir.clone().or_else(variable),
            quick: self.quick,
            seeds: self.seeds,
            rows: self.rows,
            store: Some(store.clone()),
            tell: &mut tell,
        };
        let settings = Results::digest(experiment, &context, build);
        let before = Results::read(folder).filter(|results| results.settings == settings);
        if let Some(results) = before {
            return Ok((results, true));
        }
        let start = Instant::now();
        let report = experiment.run(&mut context)?;
        let seconds = start.elapsed().as_secs_f64();
        report.keep(kept)?;
        Ok((Results::write(&report, (settings, self.quick, seconds), folder)?, false))
    }

    fn chosen(&self) -> Result<Vec<&'static dyn Experiment>, CommandFailure> {
        if self.ids.iter().any(|id| id == "all") {
            return Ok(CATALOGUE.to_vec());
        }
        let find = |id: &String| {
            reticent_experiments::find(id).ok_or_else(|| {
                let known: Vec<_> = CATALOGUE.iter().map(|experiment| experiment.id()).collect();
                let allowed = format!("there are all, {}", known.join(", "));
                CommandFailure::of("reproduce", reticent::Error::value("id", id, allowed))
            })
        };
        self.ids.iter().map(find).collect()
    }
}

fn failed(why: ExperimentError) -> CommandFailure {
    match why {
        ExperimentError::Job(why) => why.into(),
        why => {
            let hint = "see `reticent reproduce --list` for the data that each experiment needs";
            CommandFailure::Usage { message: why.to_string(), hint: hint.to_owned() }
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
    Answer {
        text,
        object: json!({ "experiments": objects }),
        remarks: Vec::new(),
        ..Answer::default()
    }
}

/// Writes the page of every experiment that has results in this folder.
fn write_page(out: &Path) -> Result<(), CommandFailure> {
    let all: Vec<Done> = CATALOGUE
        .iter()
        .filter_map(|one| Some((*one, Results::read(&out.join(one.id()))?)))
        .collect();
    let file = out.join(PAGE);
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(&file, page(&all, &before)))
        .map_err(|why| reticent::Error::written(&file, &why).into())
}

fn said(experiment: &dyn Experiment, results: &Results, done: &str) -> String {
    let mut text =
        format!("{} ({}): {}{done}\n", experiment.id(), experiment.paper(), experiment.about());
    let stand_in = match results.stand_ins.is_empty() {
        true => String::new(),
        false => format!(" [a simulated stand-in for {}]", results.stand_ins.join(", ")),
    };
    for claim in &results.claims {
        let Claim { text: words, version, verdict, numbers } = claim;
        let (version, verdict) = (version.words(), verdict.words());
        let why = match Explained::of(experiment, claim) {
            Explained { words, why, .. } if !why.is_empty() => format!("; {words}: {why}"),
            _ => String::new(),
        };
        let line = format!("{verdict}: {words} ({version}); {numbers}{stand_in}{why}");
        text.push_str(&wrapped(&format!("- {line}")));
        text.push('\n');
    }
    text.push('\n');
    text
}

fn object(experiment: &dyn Experiment, results: &Results) -> Value {
    let claims: Vec<Value> = results
        .claims
        .iter()
        .map(|claim| {
            let Explained { words, why, .. } = Explained::of(experiment, claim);
            json!({
                "claim": claim.text,
                "version": claim.version.words(),
                "verdict": claim.verdict.words(),
                "class": words,
                "why": why,
                "numbers": claim.numbers,
            })
        })
        .collect();
    json!({
        "id": experiment.id(),
        "claims": claims,
        "stand_ins": results.stand_ins,
        "notes": results.notes,
        "seconds": results.seconds,
    })
}

//! `reproduce`: the experiments of the papers, run again, and their claims checked.

mod announcement;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use reticent_reproduction::{
    CATALOGUE, Context, Done, Experiment, ExperimentError, ModelStore, Results, build, find, page,
};

use crate::announcement::{Announcement, StatusLine};

/// The folder of results by default.
const OUT: &str = "reproduction";

/// The page of all results in that folder.
const PAGE: &str = "README.md";

/// Run the experiments of the papers again, and check their claims
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Public tables are read from the folder of --data-dir, or of RETICENT_DATA. What is not there is said with \
                        where to get it; with --quick a simulated table stands in for it. An experiment that this build has done is \
                        not run again, and one that was stopped goes on where it was."
)]
struct Reproduce {
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
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,

    /// At most so many rows of each table, chosen at random
    #[arg(long, value_name = "N")]
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

    /// Print one JSON object on standard output, and nothing else there
    #[arg(long)]
    json: bool,

    /// No progress and no remarks; results and errors are said
    #[arg(long)]
    quiet: bool,
}

fn main() -> ExitCode {
    let asked = Reproduce::parse();
    match asked.run() {
        Ok(answer) => answer.say(asked.json, asked.quiet),
        Err(why) => announcement::fail(&why, asked.json),
    }
}

impl Reproduce {
    /// Does it.
    fn run(&self) -> Result<Announcement, ExperimentError> {
        if self.list {
            return Ok(Announcement::listed(CATALOGUE));
        }
        let chosen = self.chosen()?;
        let out = self.out.clone().unwrap_or_else(|| OUT.into());
        let build = build();
        let store = ModelStore::new(out.join("models"), &build, self.again);
        let mut answer = Announcement::default();
        let mut objects = Vec::new();
        for experiment in &chosen {
            let folder = out.join(experiment.id());
            let file = out.join("kept").join(experiment.id()).with_extension("report");
            let done = match self.redraw {
                true => Results::redraw(&folder, &file).map(|results| (results, true)),
                false => self.one(*experiment, (&folder, &file), (&store, &build)),
            };
            match done {
                Ok((results, before)) => {
                    let done = if before { " (done before)" } else { "" };
                    // Hours may be between the first and the last.
                    if chosen.len() > 1 && !self.quiet {
                        eprintln!("{}: {:.0} s{done}", experiment.id(), results.seconds);
                    }
                    objects.push(answer.tell(*experiment, &results, done));
                }
                // One that cannot be had does not keep the others from running.
                Err(why @ ExperimentError::Missing { .. }) if chosen.len() > 1 => {
                    answer.remarks.push(format!("skipped {}: {why}", experiment.id()));
                }
                Err(why) => return Err(why),
            }
            write_page(&out)?;
        }
        if store.foreign() > 0 {
            answer.remarks.push(format!(
                "{} models were trained by another build of this program; --again trains them again",
                store.foreign()
            ));
        }
        answer.text += &format!("Wrote {}: {PAGE}, pictures and numbers.\n", out.display());
        answer.object =
            serde_json::json!({ "out": out.display().to_string(), "experiments": objects });
        Ok(answer)
    }

    /// Runs one, unless this build has done so before with the same settings.
    fn one(
        &self,
        experiment: &dyn Experiment,
        (folder, kept): (&Path, &Path),
        (store, build): (&ModelStore, &str),
    ) -> Result<(Results, bool), ExperimentError> {
        let mut line = StatusLine::new(self.quiet);
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

    fn chosen(&self) -> Result<Vec<&'static dyn Experiment>, ExperimentError> {
        if self.ids.iter().any(|id| id == "all") {
            return Ok(CATALOGUE.to_vec());
        }
        let known = |id: &String| find(id).ok_or_else(|| ExperimentError::Unknown(id.clone()));
        self.ids.iter().map(known).collect()
    }
}

/// Writes the page of every experiment that has results in this folder.
fn write_page(out: &Path) -> Result<(), ExperimentError> {
    let all: Vec<Done> = CATALOGUE
        .iter()
        .filter_map(|one| Some((*one, Results::read(&out.join(one.id()))?)))
        .collect();
    let file = out.join(PAGE);
    let before = std::fs::read_to_string(&file).unwrap_or_default();
    std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(&file, page(&all, &before)))
        .map_err(|why| ExperimentError::File { file, reason: why.to_string() })
}

//! What is kept of an experiment that is done: its claims, pictures and notes in `results.json`,
//! with a digest of what it was run with, so that the same run is not made twice.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::claim::{Claim, ClaimVerdict, Class};
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::figure::Figure;
use crate::report::ExperimentReport;
use crate::store::digest;

/// The file of the results in the folder of an experiment.
const FILE: &str = "results.json";

/// A picture that was drawn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Picture {
    /// The name of its files, `.svg` and `.csv`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is to be known to read it.
    pub caption: String,
}

/// What is kept of an experiment that is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    /// A digest of what it was run with: experiment, size, seeds, rows and build.
    pub settings: String,
    /// Whether everything was small.
    pub quick: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The pictures.
    pub pictures: Vec<Picture>,
    /// What is to be known.
    pub notes: Vec<String>,
    /// The simulated tables that stood in for public ones.
    pub stand_ins: Vec<String>,
}

impl Results {
    /// A digest of all that an experiment is run with by this build.
    pub fn digest(experiment: &dyn Experiment, context: &Context<'_>, build: &str) -> String {
        let Context { data_dir, quick, seeds, rows, .. } = context;
        // Where the tables are changes nothing, but whether there are any does.
        let small = (quick, seeds, rows, data_dir.is_some());
        let version = env!("CARGO_PKG_VERSION");
        digest(&format!("{:?}", (experiment.id(), experiment, small, version, build)))
    }

    /// What the folder of an experiment has; nothing where it is not done.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// Draws the pictures of an earlier run again, from the report that it has kept.
    ///
    /// # Errors
    /// If there was no such run, or the folder cannot be written to.
    pub fn redraw(folder: &Path, kept: &Path) -> Result<Self, ExperimentError> {
        let missing = || ExperimentError::file(kept, "no numbers of an earlier run are kept here");
        let report = ExperimentReport::kept(kept).ok_or_else(missing)?;
        let Results { settings, quick, seconds, .. } = Results::read(folder).ok_or_else(missing)?;
        Results::write(&report, (settings, quick, seconds), folder)
    }

    /// Writes the results, and for each picture its SVG and its numbers, into this folder. The
    /// pictures of an earlier run that are not drawn any more are removed.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn write(
        report: &ExperimentReport,
        (settings, quick, seconds): (String, bool, f64),
        folder: &Path,
    ) -> Result<Self, ExperimentError> {
        let drawn = report.pictures();
        let picture = |figure: &Figure| Picture {
            name: figure.name.clone(),
            title: figure.title.clone(),
            caption: figure.caption.clone(),
        };
        let results = Results {
            settings,
            quick,
            seconds,
            claims: report.claims.clone(),
            pictures: drawn.iter().map(picture).collect(),
            notes: report.notes.clone(),
            stand_ins: report.stand_ins.clone(),
        };
        fs::create_dir_all(folder).map_err(|why| ExperimentError::file(folder, why))?;
        for Picture { name, .. } in Results::read(folder).into_iter().flat_map(|old| old.pictures) {
            for end in ["svg", "csv"] {
                // It may be gone already.
                let _ = fs::remove_file(folder.join(format!("{name}.{end}")));
            }
        }
        let write = |name: String, text: String| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|why| ExperimentError::file(&path, why))
        };
        for figure in &drawn {
            write(format!("{}.svg", figure.name), figure.svg())?;
            write(format!("{}.csv", figure.name), figure.csv())?;
        }
        let text = serde_json::to_string_pretty(&results);
        // Last: whoever is stopped before has not done it.
        write(FILE.to_owned(), text.map_err(|why| ExperimentError::file(folder, why))? + "\n")?;
        Ok(results)
    }
}

/// A claim with its class and the sentence for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The class; `None` where the claim held, is undecided, or is not explained.
    pub class: Option<Class>,
    /// The class in words: `held`, `undecided`, `unexplained`, or that of the reason.
    pub words: &'static str,
    /// Why it did not hold; empty elsewhere.
    pub why: &'static str,
}

impl Explained {
    /// What an experiment has to say of a claim.
    pub fn of(experiment: &dyn Experiment, claim: &Claim) -> Self {
        let without = |words| Explained { class: None, words, why: "" };
        if claim.verdict != ClaimVerdict::DidNotHold {
            return without(claim.verdict.words());
        }
        match experiment.reasons().iter().find(|reason| reason.explains(claim)) {
            None => without("unexplained"),
            Some(reason) => Explained {
                class: Some(reason.class),
                words: reason.class.words(),
                why: reason.why,
            },
        }
    }
}

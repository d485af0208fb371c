//! The grid of a sweep, read from a job file with a table `[sweep]`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use reticent_admm::Settings;
use reticent_noise::Hasher;
use reticent_oracle::Digest;

use crate::curves::Curves;
use crate::error::Error;
use crate::job::Job;
use crate::job_file::split;
use crate::simulate::{SimulationJob, SimulationSpec};
use crate::source::Files;
use crate::spec::{Spec, beside, keys};

/// The most runs of a sweep.
const MOST_RUNS: usize = 100_000;

/// The keys of `[parties]` that may be varied.
const OF_PARTIES: [&str; 4] = ["split", "skew", "trust", "topology"];

/// The keys of a job that may be varied, besides the settings of the algorithms.
const OF_JOB: [&str; 10] = [
    "epsilon",
    "delta",
    "algorithm",
    "loss",
    "penalty",
    "constraint",
    "adjacency",
    "unit",
    "public_n",
    "intercept",
];

/// One combination of the values that are varied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GridPoint {
    /// The names and the values, by name.
    pub settings: Vec<(String, String)>,
}

/// One run of one point.
#[derive(Debug)]
pub(super) struct GridRun {
    pub point: usize,
    pub repeat: u64,
    pub job: Checked,
}

/// A checked job.
#[derive(Debug)]
pub(super) enum Checked {
    Fit(Box<Job>),
    Between(Box<SimulationJob>),
}

/// A sweep: every run is checked, and no table was read.
#[derive(Debug)]
pub struct Sweep {
    points: Vec<GridPoint>,
    pub(super) runs: Vec<GridRun>,
    digest: Digest,
    seeded: bool,
}

/// A sweep with its files.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepFile {
    /// The sweep.
    pub sweep: Sweep,
    /// The table.
    pub data: Files,
    /// A table to test the models on.
    pub test: Option<PathBuf>,
    /// Where results go.
    pub out: Option<PathBuf>,
}

/// What `[sweep]` says.
struct Axes {
    axes: Vec<(String, Vec<toml::Value>)>,
    /// A seed for each repetition, or none: fresh noise.
    seeds: Vec<Option<u64>>,
    test: Option<PathBuf>,
}

impl SweepFile {
    /// Reads a job file with a table `[sweep]`: each of its keys is a key of the job with a list of
    /// values; `repeats = N` does every point so often, and `seeds = [1, 2]` draws the noise of each
    /// repetition from a seed. With `[parties]` the runs are between parties.
    ///
    /// # Errors
    /// If it cannot be read, is no job file, or a run of it cannot be: the message names the point.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (files, mut base) = split(path)?;
        let refuse = |message: String| Error::SpecSyntax { file: path.to_owned(), message };
        let Some(toml::Value::Table(sweep)) = base.remove("sweep") else {
            return Err(refuse("it has no table [sweep] with lists to vary".to_owned()));
        };
        let Axes { axes, seeds, test } = axes(sweep, path)?;
        let count = axes.iter().map(|(_, list)| list.len()).product::<usize>();
        if count.saturating_mul(seeds.len()) > MOST_RUNS {
            return Err(refuse(format!(
                "[sweep] has more than {MOST_RUNS} runs: give shorter lists"
            )));
        }
        let mut hasher = Hasher::new("reticent sweep");
        // What the schema says is part of what is to be run, and not only its name.
        if let Some(toml::Value::String(schema)) = base.get("schema") {
            let schema = beside(path.parent().unwrap_or(Path::new("")), Path::new(schema));
            hasher.field(&std::fs::read(schema).unwrap_or_default());
        }
        let (mut points, mut runs, mut named) = (Vec::new(), Vec::new(), BTreeSet::new());
        for number in 0..count {
            let (point, table) = combined(&base, &axes, number);
            for (repeat, seed) in seeds.iter().enumerate() {
                let mut table = table.clone();
                if let Some(seed) = seed {
                    table.insert("seed".to_owned(), toml::Value::Integer(*seed as i64));
                }
                hasher.field(toml::to_string(&table).map_err(Error::spec_form)?.as_bytes());
                let job = checked(table, path, &mut named).map_err(|why| at_point(&point, why))?;
                runs.push(GridRun { point: number, repeat: repeat as u64, job });
            }
            points.push(point);
        }
        // So is what graphs and matrices say.
        for file in named {
            hasher.field(&std::fs::read(file).unwrap_or_default());
        }
        let seeded = seeds.iter().any(Option::is_some) || base.contains_key("seed");
        let job = files.beside((), path)?;
        let sweep = Sweep { points, runs, digest: hasher.finish(), seeded };
        Ok(SweepFile { sweep, data: job.data, test, out: job.out })
    }
}

impl Sweep {
    /// The points of the grid.
    pub fn points(&self) -> &[GridPoint] {
        &self.points
    }

    /// The number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The point and the repetition of a run.
    pub fn run(&self, number: usize) -> Option<(usize, u64)> {
        self.runs.get(number).map(|run| (run.point, run.repeat))
    }

    /// Whether the noise comes from seeds: then nothing of it is private.
    pub fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// Stands for all that is to be run: a sweep that goes on must be the same.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The sum of ε and of δ over all runs: what they cost together at most, before any table is
    /// read. `None` where a run has no noise.
    pub fn at_most(&self) -> Option<(f64, f64)> {
        let budget = |run: &GridRun| match &run.job {
            Checked::Fit(job) => job.budget(),
            Checked::Between(job) => job.budget(),
        };
        self.runs.iter().try_fold((0.0, 0.0), |(epsilon, delta), run| {
            budget(run).map(|own| (epsilon + own.epsilon(), delta + own.delta()))
        })
    }

    /// The column that says whose row it is, where the schema declares one.
    pub fn user_column(&self) -> Option<String> {
        match &self.runs.first()?.job {
            Checked::Fit(job) => job.user_column(),
            Checked::Between(job) => job.user_column(),
        }
    }
}

/// What the table `[sweep]` says.
fn axes(sweep: toml::Table, path: &Path) -> Result<Axes, Error> {
    let refuse = |message: String| Err(Error::SpecSyntax { file: path.to_owned(), message });
    let (mut axes, mut seeds, mut test) = (Vec::new(), vec![None], None);
    for (key, value) in sweep {
        match (key.as_str(), value) {
            ("repeats", toml::Value::Integer(n)) if n > 0 && seeds == [None] => {
                seeds = vec![None; n as usize];
            }
            ("seeds", toml::Value::Array(list)) if !list.is_empty() && seeds == [None] => {
                let seed = |value: &toml::Value| value.as_integer().filter(|seed| *seed >= 0);
                let Some(all) = list.iter().map(seed).collect::<Option<Vec<i64>>>() else {
                    return refuse(
                        "[sweep] seeds: whole numbers of at least 0 are needed".to_owned(),
                    );
                };
                seeds = all.into_iter().map(|seed| Some(seed as u64)).collect();
            }
            ("repeats" | "seeds", _) => {
                return refuse(
                    "[sweep] takes repeats = N, or seeds = [1, 2, …], and one of the two"
                        .to_owned(),
                );
            }
            ("test", toml::Value::String(file)) => {
                test = Some(beside(path.parent().unwrap_or(Path::new("")), Path::new(&file)));
            }
            (_, toml::Value::Array(list)) if !list.is_empty() && is_varied(&key) => {
                axes.push((key, list));
            }
            (_, toml::Value::Array(_)) if is_varied(&key) => {
                return refuse(format!("[sweep] {key}: the list is empty"));
            }
            (_, toml::Value::Array(_)) => {
                let message = format!(
                    "[sweep] {key}: it cannot be varied; there are {}, {} and the settings of the algorithms",
                    OF_JOB.join(", "),
                    OF_PARTIES.join(", ")
                );
                return refuse(message);
            }
            (_, other) => {
                return refuse(format!("[sweep] {key} = {other}: a list is needed, as in [1, 2]"));
            }
        }
    }
    Ok(Axes { axes, seeds, test })
}

fn is_varied(key: &str) -> bool {
    OF_JOB.contains(&key) || OF_PARTIES.contains(&key) || Settings::named(key).is_some()
}

/// Point `number` of the grid, and the keys of its job. The last list varies fastest.
fn combined(
    base: &toml::Table,
    axes: &[(String, Vec<toml::Value>)],
    mut number: usize,
) -> (GridPoint, toml::Table) {
    let mut table = base.clone();
    let mut settings = Vec::new();
    for (key, list) in axes.iter().rev() {
        let value = list[number % list.len()].clone();
        number /= list.len();
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        settings.insert(0, (key.clone(), text));
        let of_parties = OF_PARTIES.contains(&key.as_str());
        match table.get_mut("parties").filter(|_| of_parties) {
            Some(toml::Value::Table(parties)) => parties.insert(key.clone(), value),
            _ => table.insert(key.clone(), value),
        };
    }
    (GridPoint { settings }, table)
}

/// The checked job of these keys.
fn checked(
    table: toml::Table,
    path: &Path,
    named: &mut BTreeSet<PathBuf>,
) -> Result<Checked, Error> {
    // The schema is one for all runs.
    let mut beside = |files: Vec<PathBuf>, schema: &Option<PathBuf>| {
        named.extend(files.into_iter().filter(|file| schema.as_ref() != Some(file)));
    };
    if table.contains_key("parties") {
        let spec = SimulationSpec::of_table(table, path)?;
        beside(spec.described_in(), &spec.job.schema);
        return Ok(Checked::Between(Box::new(spec.check()?)));
    }
    let spec = keys::<Spec>(table, path)?.relative_to(path);
    beside(spec.described_in(), &spec.schema);
    if spec.tune.is_some() {
        let why = "a sweep releases every run, and a choice the best alone; give lists under [sweep] or `tune`, not both";
        return Err(Error::value("tune", "a list", why));
    }
    // The table is read once, under one schema, and knots would follow the budget of each run.
    if spec.curves == Some(Curves::Auto) {
        let why = "the runs of a sweep read one table; give a number of knots";
        return Err(Error::value("curves", Curves::Auto, why));
    }
    Ok(Checked::Fit(Box::new(spec.check()?)))
}

/// What is wrong with one point, named by its values.
fn at_point(point: &GridPoint, why: Error) -> Error {
    let names: Vec<String> =
        point.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match why {
        Error::Value(refused) => {
            let allowed = format!("{} (at {})", refused.allowed, names.join(", "));
            Error::value(refused.name, refused.given, allowed)
        }
        other => other,
    }
}

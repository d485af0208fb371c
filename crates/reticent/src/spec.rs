//! The one description of a job: command-line flags, a TOML file and keyword arguments all become a
//! [`Spec`].

use std::path::{Path, PathBuf};

use reticent_admm::Settings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::axis::{listed, map_values};
use crate::curves::Curves;
use crate::error::Error;
#[cfg(feature = "clap")]
use crate::flags;
use crate::graph::is_private_graph;
use crate::guarantee::Guarantee;
use crate::settings::in_words;
use crate::tune::NO_GRID;

/// What to fit and at what price, as users type it; not on what, which is a
/// [`Source`](crate::Source). Unchecked: [`Spec::fit`] reads it into a [`Fit`](crate::Fit), and
/// [`Spec::check`] into a [`Job`](crate::Job). Each field is a key of a job file and, with the
/// feature `clap`, a flag; what is said of it here is the help of that flag.
///
/// # Examples
///
/// ```
/// use reticent::{Budget, Spec};
///
/// let budget = Budget::new(1.0, 1e-6)?;
/// let spec = Spec::default().with(|spec| {
///     spec.features = Some(2);
///     spec.row_norm = Some(1.0);
///     spec.guarantee = budget.into();
///     spec.loss = Some("logistic".to_owned());
/// });
/// assert!(spec.check().is_ok());
/// let misspelt = spec.with(|spec| spec.loss = Some("logistik".to_owned()));
/// assert!(misspelt.check().unwrap_err().to_string().contains("logistic"));
/// # Ok::<(), reticent::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(deny_unknown_fields, default)]
#[allow(
    rustdoc::broken_intra_doc_links,
    reason = "NAME[:NUMBER] is for the help of flags, and no link"
)]
#[non_exhaustive]
pub struct Spec {
    /// The schema of the table (TOML, see docs/schema.md): nothing about private data is guessed
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", help_heading = flags::TABLE))]
    pub schema: Option<PathBuf>,
    /// LIBSVM without a schema: the number of features
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", requires = "row_norm", conflicts_with = "schema", value_parser = flags::whole::<u32>, allow_negative_numbers = true,
        help_heading = flags::TABLE))]
    pub features: Option<u32>,
    /// LIBSVM without a schema: the norm that rows are scaled down to
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "R", value_parser = flags::number, allow_negative_numbers = true,
        help_heading = flags::TABLE))]
    pub row_norm: Option<f64>,
    /// LIBSVM without a schema: the labels, the negative one first [default: -1,+1]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "A,B,…", value_delimiter = ',', allow_hyphen_values = true,
        help_heading = flags::TABLE))]
    pub classes: Option<Vec<String>>,
    /// LIBSVM without a schema: the range of a number to predict
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LOW,HIGH", value_parser = flags::range, allow_hyphen_values = true,
        help_heading = flags::TABLE))]
    pub target_range: Option<[f64; 2]>,
    /// The column to predict, if the schema does not set it
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", help_heading = flags::TABLE))]
    pub target: Option<String>,
    /// Column of user ids; enables user-level privacy: a person is protected with all their rows
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMN", help_heading = flags::TABLE))]
    pub user_column: Option<String>,

    /// The unit and the size of the protection.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub guarantee: Guarantee,
    /// The noise multiplier (noise over the clip), in place of the smallest that fits the budget, which
    /// is then a limit. 0: no noise, NO PRIVACY and no budget, for comparison. With --precondition
    /// it is that of the gradients
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "Z", value_parser = flags::number, allow_negative_numbers = true,
        help_heading = flags::BUDGET))]
    pub noise: Option<f64>,

    /// The algorithm [default: auto, or federated between parties where auto cannot run]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", help_heading = flags::PROBLEM))]
    pub algorithm: Option<String>,
    /// The loss, as NAME[:NUMBER] [default: the usual one for the target]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, help_heading = flags::PROBLEM))]
    pub loss: Option<String>,
    /// Curves of the numeric columns: auto (knots by public numbers), off, or K knots for each
    /// (docs/curves.md) [default: as the schema says]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "auto|off|K", value_parser = Curves::typed, help_heading = flags::PROBLEM))]
    pub curves: Option<Curves>,
    /// The penalty, as NAME[:NUMBER], for example l1:1e-4 [default: none]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, help_heading = flags::PROBLEM))]
    pub penalty: Option<String>,
    /// The constraint between the parameter and what is penalised [default: identity]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, help_heading = flags::PROBLEM))]
    pub constraint: Option<String>,
    /// A graph of the features to fuse along: FILE, or private[:LAMBDA] to learn it within the
    /// budget (docs/graph.md)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE|private", conflicts_with = "constraint",
        help_heading = flags::PROBLEM))]
    pub graph: Option<String>,
    /// The share of the budget for learning the graph [default: 0.3]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = flags::number, allow_negative_numbers = true,
        help_heading = flags::PROBLEM))]
    pub graph_share: Option<f64>,
    /// The most edges of a learned graph [default: the number of features]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = flags::whole::<u64>, allow_negative_numbers = true,
        help_heading = flags::PROBLEM))]
    pub graph_edges: Option<u64>,
    /// The weight of a record of each class: balanced (by --class-prior), or as
    /// CLASS:NUMBER,CLASS:NUMBER (docs/classes.md)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "WEIGHTS", help_heading = flags::PROBLEM))]
    pub class_weight: Option<String>,
    /// The shares of the classes, if they are public, as CLASS:NUMBER,CLASS:NUMBER
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARES", help_heading = flags::PROBLEM))]
    pub class_prior: Option<String>,
    /// Spend this share of the budget on estimates of the coefficients with standard errors, which
    /// `inspect` shows (docs/uncertainty.md)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = flags::number, allow_negative_numbers = true,
        help_heading = flags::PROBLEM))]
    pub standard_errors: Option<f64>,
    /// Spend this share of the budget on calibrating the probabilities of two classes
    /// (docs/calibration.md)
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", value_parser = flags::number, allow_negative_numbers = true,
        help_heading = flags::PROBLEM))]
    pub calibrate: Option<f64>,
    /// Choose privately from a list, for example 'penalty=l1:[1e-5,1e-4,1e-3]'; several lists make
    /// their product
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME=[A,B,…]",
        help_heading = flags::TUNING))]
    pub tune: Option<Vec<String>>,
    /// The expected number of runs to choose from [default: the number of points]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = flags::whole::<u64>, allow_negative_numbers = true, requires = "tune",
        help_heading = flags::TUNING))]
    pub tune_runs: Option<u64>,
    /// The way to choose; only random is available: a grid would spend the budget at every point
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MODE", help_heading = flags::TUNING))]
    pub tune_mode: Option<String>,
    /// Whether the model has an intercept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub intercept: Option<bool>,
    /// The algorithm's own settings.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub settings: Settings,
}

impl Spec {
    /// Sets some of its keys.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// Paths of a job file are relative to it.
    pub(crate) fn relative_to(mut self, path: &Path) -> Self {
        let base = path.parent().unwrap_or(Path::new(""));
        self.schema = self.schema.map(|file| beside(base, &file));
        // A constraint may name a file, in a list to choose from too, and so may a graph that is
        // not to be learned.
        let constraint = |text: &str| match of_constraint(text) {
            Some((name, file)) => format!("{name}:{}", text_beside(base, file)),
            None => text.to_owned(),
        };
        self.constraint = self.constraint.as_deref().map(constraint);
        for list in self.tune.iter_mut().flatten() {
            *list = map_values(list, "constraint", constraint);
        }
        self.graph = self
            .graph
            .map(|text| if is_private_graph(&text) { text } else { text_beside(base, &text) });
        self
    }

    /// The files that say, beside the table, what is asked: the schema, and those of a graph and of
    /// constraints. What is in them is part of the job, and not only their names.
    #[doc(hidden)]
    pub fn described_in(&self) -> Vec<PathBuf> {
        let graph = self.graph.iter().filter(|text| !is_private_graph(text)).map(PathBuf::from);
        let lists = self.tune.iter().flatten().filter_map(|list| listed(list, "constraint"));
        let constraints = self.constraint.clone().into_iter().chain(lists.flatten());
        let named = constraints.filter_map(|text| Some(PathBuf::from(of_constraint(&text)?.1)));
        self.schema.clone().into_iter().chain(graph).chain(named).collect()
    }

    /// The same without the names of the files that [`Spec::described_in`] lists: what is left is
    /// the same on every machine.
    pub(crate) fn without_paths(&self) -> Spec {
        let kind = |text: &String| match of_constraint(text) {
            Some((kind, _)) => kind.to_owned(),
            None => text.clone(),
        };
        Spec {
            schema: self.schema.as_ref().map(|_| PathBuf::new()),
            graph: self.graph.as_ref().map(|graph| match is_private_graph(graph) {
                true => graph.clone(),
                false => String::new(),
            }),
            constraint: self.constraint.as_ref().map(kind),
            ..self.clone()
        }
    }
}

/// The keys of a job by the runs that have a use for them: every field of [`Spec`] but those with
/// fields of their own, of which the keys of [`Guarantee`] stand in brackets. The build tells of a
/// field that is missing.
macro_rules! keys_by_use {
    (
        between_parties: $($always:ident),* [$($own:literal),*];
        of_one_table: $($sums:ident),* [$($also:literal),*];
        on_one_table: $($alone:ident),*;
    ) => {
        /// The keys of a job that a run between parties has a use for, beside the settings of its
        /// algorithm. [`SimulationSpec::check`](crate::simulate::SimulationSpec::check) refuses
        /// every other, or all of its values but one.
        pub const BETWEEN_PARTIES: &[&str] = &[$(stringify!($always),)* $($own),*];

        /// The keys beside these that an algorithm of one table has a use for between parties.
        pub const OF_ONE_TABLE: &[&str] = &[$(stringify!($sums),)* $($also),*];

        impl Spec {
            /// Merges `over` into this job; `over` wins, as flags do over the file they are given
            /// with.
            pub fn overlaid(self, over: Spec) -> Self {
                Spec {
                    guarantee: over.guarantee.or(self.guarantee),
                    settings: over.settings.or(self.settings),
                    $($always: over.$always.or(self.$always),)*
                    $($sums: over.$sums.or(self.$sums),)*
                    $($alone: over.$alone.or(self.$alone),)*
                }
            }
        }
    };
}

keys_by_use! {
    between_parties: schema, features, row_norm, classes, target_range, target, noise, algorithm,
        loss, curves, penalty, constraint, graph, intercept ["epsilon", "delta", "unit", "seed"];
    of_one_table: class_weight, class_prior, standard_errors, user_column ["adjacency", "public_n"];
    on_one_table: graph_share, graph_edges, calibrate, tune, tune_runs, tune_mode;
}

/// The keys of a job file. What is wrong is said with its line, and the line is not shown: it may
/// be a record, where a table was given for a job.
pub(crate) fn table(text: &str, path: &Path) -> Result<toml::Table, Error> {
    let table = toml::from_str(text).map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .and_then(|at| text.get(..at.start))
            .map(|before| before.matches('\n').count() + 1);
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        Error::SpecSyntax { file: path.to_owned(), message: format!("{line}{}", error.message()) }
    })?;
    one_dialect(table).map_err(|key| Error::SpecSyntax {
        file: path.to_owned(),
        message: format!("{key} is there twice, with - and with _: leave one out"),
    })
}

/// Keys with `_` within, as in a schema, however they are written; a key that is there twice is
/// given back.
fn one_dialect(table: toml::Table) -> Result<toml::Table, String> {
    let mut whole = toml::Table::new();
    for (key, value) in table {
        let value = match value {
            toml::Value::Table(table) => toml::Value::Table(one_dialect(table)?),
            other => other,
        };
        let key = key.replace('-', "_");
        if whole.insert(key.clone(), value).is_some() {
            return Err(key);
        }
    }
    Ok(whole)
}

/// What the keys of a file make. Each is tried alone, so that what is wrong can be named.
pub(crate) fn keys<T: DeserializeOwned>(table: toml::Table, path: &Path) -> Result<T, Error> {
    let mut whole = toml::Table::new();
    for (key, value) in table {
        let read =
            |value: toml::Value| toml::Table::from_iter([(key.clone(), value)]).try_into::<T>();
        let is_setting = Settings::named(&key).is_some();
        // A number may stand for a word, as it may behind a flag: `step = 0.1`.
        let word = (is_setting && (value.is_float() || value.is_integer()))
            .then(|| toml::Value::String(value.to_string()))
            .filter(|word| read(word.clone()).is_ok());
        match (read(value.clone()), word) {
            (Ok(_), _) => whole.insert(key, value),
            (Err(_), Some(word)) => whole.insert(key, word),
            (Err(error), None) => {
                let why = match value {
                    toml::Value::Array(_) => {
                        format!("one value is needed, not a list: {NO_GRID}")
                    }
                    _ => in_words(error.message()),
                };
                let given =
                    if value.is_table() { format!("[{key}]") } else { format!("{key} = {value}") };
                return Err(Error::SpecSyntax {
                    file: path.to_owned(),
                    message: format!("{given}: {why}"),
                });
            }
        };
    }
    whole.try_into().map_err(|error: toml::de::Error| Error::SpecSyntax {
        file: path.to_owned(),
        message: in_words(error.message()),
    })
}

/// The kind of a constraint that is in a file, and the file.
fn of_constraint(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(name, _)| matches!(*name, "graph" | "matrix"))
}

/// A file that a job file names, as seen from where the program runs.
pub(crate) fn beside(base: &Path, file: &Path) -> PathBuf {
    if file.is_relative() { base.join(file) } else { file.to_owned() }
}

/// The same, as text.
pub(crate) fn text_beside(base: &Path, file: &str) -> String {
    beside(base, Path::new(file)).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_file::JobFile;

    #[test]
    fn a_file_and_flags_make_one_job_and_flags_win() {
        let file: Spec =
            toml::from_str("epsilon = 1.0\niterations = 10\npenalty = 'l1:1e-4'").unwrap();
        let guarantee = Guarantee { epsilon: Some(0.5), ..Guarantee::default() };
        let flags = Spec { guarantee, ..Spec::default() };
        let job = file.overlaid(flags);
        assert_eq!(job.guarantee.epsilon, Some(0.5));
        assert_eq!(job.settings.iterations, Some(10));
        assert_eq!(job.penalty.as_deref(), Some("l1:1e-4"));
        assert_eq!(Spec::default().overlaid(job.clone()), job);
        assert_eq!(job.clone().overlaid(Spec::default()), job);
    }

    #[test]
    fn files_of_a_job_file_are_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            let path = folder.path().join("job.toml");
            std::fs::write(&path, text).unwrap();
            JobFile::<Spec>::read(&path).unwrap()
        };
        let beside = |file: &str| folder.path().join(file).display().to_string();
        let spec = read("constraint = 'graph:edges.txt'\ndata = 't.csv'");
        assert_eq!(spec.job.constraint, Some(format!("graph:{}", beside("edges.txt"))));
        assert_eq!(spec.data.paths, [folder.path().join("t.csv")]);
        let constraint = |text: &str| read(&format!("constraint = '{text}'")).job.constraint;
        assert_eq!(constraint("matrix:/a.txt").as_deref(), Some("matrix:/a.txt"));
        assert_eq!(constraint("trend:2").as_deref(), Some("trend:2"));
        assert_eq!(read("graph = 'edges.txt'").job.graph, Some(beside("edges.txt")));
        for private in ["private", "private:0.2"] {
            assert_eq!(read(&format!("graph = '{private}'")).job.graph.as_deref(), Some(private));
        }
    }

    #[test]
    fn files_in_a_list_to_choose_from_are_beside_the_job_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.toml");
        let text = "tune = ['constraint=graph:[a.txt,/b.txt]', 'constraint=[matrix:c.txt, identity]', 'clip=[1,2]']";
        std::fs::write(&path, text).unwrap();
        let beside = |file: &str| folder.path().join(file).display().to_string();
        let lists = [
            format!("constraint=[graph:{},graph:/b.txt]", beside("a.txt")),
            format!("constraint=[matrix:{},identity]", beside("c.txt")),
            "clip=[1,2]".to_owned(),
        ];
        assert_eq!(JobFile::<Spec>::read(&path).unwrap().job.tune.unwrap(), lists);
    }

    #[test]
    fn what_is_wrong_in_a_job_file_is_named_by_its_key_or_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            JobFile::<Spec>::read(&path).map(|file| file.job).map_err(|error| error.to_string())
        };
        for (text, message) in [
            (
                "delta = 1e-5\niterations = 3.5",
                "iterations = 3.5: a whole number of at least 1 is needed",
            ),
            ("epsilon = 'one'", "epsilon = \"one\": a number is needed"),
            ("law = 'x'", "law = \"x\": use normal, spherical-laplace"),
            // Every kind of value that a key can have: the words come from what the reader says
            // of types, and a reader that says it otherwise is noticed here.
            ("features = 'x'", "features = \"x\": a whole number of at least 0 is needed"),
            ("public_n = 'x'", "public_n = \"x\": a whole number of at least 1 is needed"),
            ("rho = true", "rho = true: a number is needed"),
            ("intercept = 'x'", "intercept = \"x\": true or false is needed"),
            ("loss = 3", "loss = 3: text is needed, in quotes"),
            ("schema = 3", "schema = 3: text is needed, in quotes"),
            ("publicn = 4", "publicn = 4: there is no such key"),
            (
                "public_n = 4\npublic-n = 4",
                "public_n is there twice, with - and with _: leave one out",
            ),
            ("[parties]\nsplit = 3", "[parties]: there is no such key"),
            ("epsilon = 1\nSECRET,4,no\n", "line 2: key with no value, expected `=`"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.ends_with(&format!("is not a job file: {message}")), "{said}");
        }
        assert_eq!(read("step = 0.5").unwrap().settings.step.unwrap().to_string(), "constant:0.5");
        for text in ["public_n = 4\nbeta = 2", "public-n = 4\nrho = 2"] {
            let spec = read(text).unwrap();
            assert_eq!(
                (spec.guarantee.public_n, spec.settings.rho),
                (Some(4), Some(2.0)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_key_that_does_not_exist_is_refused() {
        let error = toml::from_str::<Spec>("epsilom = 1.0").unwrap_err();
        assert!(error.to_string().contains("epsilom"), "{error}");
    }
}

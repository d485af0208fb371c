//! One combination that can be asked for: algorithm, version, course of the run, who looks, what is
//! protected, which tables are neighbours, and what is drawn. It is what a guarantee is proven for,
//! and what an audit attacks.

use std::fmt;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_admm::{BlockSchedule, Settings};
use reticent_oracle::{PrivacyModel, Sampling};

/// How the units of an answer are chosen, whatever the rate or the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// All of them.
    Full,
    /// A Poisson sample.
    Poisson,
    /// A sample of fixed size.
    WithoutReplacement,
}

/// The procedure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapProcedure {
    /// The algorithm alone.
    Alone,
    /// A graph that is learned first.
    Graph,
    /// The best of a random number of runs.
    Tuned,
    /// The same, with a learned graph in each.
    TunedGraph,
    /// The algorithm, and estimates with standard errors after it.
    StandardErrors,
    /// The algorithm, and a line through the log-odds of its model after it.
    Recalibrated,
    /// The algorithm alone, on records that have weights.
    Weighted,
}

/// One combination. Its fields are all there are: whoever attacks or lists combinations has to know of
/// another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapCell {
    /// The algorithm, by the name users type.
    pub algorithm: &'static str,
    /// Which of its versions: the word for its schedule, law, walk or release; empty if it has none
    /// of them.
    pub form: &'static str,
    /// The procedure of the run.
    pub procedure: MapProcedure,
    /// The trust model: who sees the messages.
    pub view: View,
    /// The unit of protection.
    pub unit: Unit,
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// The kind of sample.
    pub drawn: Drawn,
}

impl Drawn {
    /// Every one.
    pub const ALL: [Drawn; 3] = [Drawn::Full, Drawn::Poisson, Drawn::WithoutReplacement];

    /// The word that users type, without its number.
    pub fn name(self) -> &'static str {
        match self {
            Drawn::Full => "full",
            Drawn::Poisson => "poisson",
            Drawn::WithoutReplacement => "wor",
        }
    }
}

impl From<Sampling> for Drawn {
    fn from(sampling: Sampling) -> Self {
        match sampling {
            Sampling::Full => Drawn::Full,
            Sampling::Poisson(_) => Drawn::Poisson,
            Sampling::WithoutReplacement(_) => Drawn::WithoutReplacement,
        }
    }
}

impl MapProcedure {
    /// Every one.
    pub const ALL: [MapProcedure; 7] = [
        MapProcedure::Alone,
        MapProcedure::Graph,
        MapProcedure::Tuned,
        MapProcedure::TunedGraph,
        MapProcedure::StandardErrors,
        MapProcedure::Recalibrated,
        MapProcedure::Weighted,
    ];

    /// The course of a job that is tuned or not, learns a graph or not, and is asked for standard
    /// errors or not, which no job is that is one of the others.
    pub fn of(tuned: bool, graph: bool, standard_errors: bool) -> Self {
        if standard_errors {
            return MapProcedure::StandardErrors;
        }
        match (tuned, graph) {
            (false, false) => MapProcedure::Alone,
            (false, true) => MapProcedure::Graph,
            (true, false) => MapProcedure::Tuned,
            (true, true) => MapProcedure::TunedGraph,
        }
    }

    /// Whether only the best of several runs is released.
    pub fn is_tuned(self) -> bool {
        matches!(self, MapProcedure::Tuned | MapProcedure::TunedGraph)
    }

    /// Whether a graph is learned.
    pub fn has_graph(self) -> bool {
        matches!(self, MapProcedure::Graph | MapProcedure::TunedGraph)
    }

    /// Whether estimates with standard errors come after it.
    pub fn has_standard_errors(self) -> bool {
        self == MapProcedure::StandardErrors
    }

    /// Whether its model is recalibrated after it.
    pub fn is_recalibrated(self) -> bool {
        self == MapProcedure::Recalibrated
    }

    /// Whether records have weights.
    pub fn is_weighted(self) -> bool {
        self == MapProcedure::Weighted
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            MapProcedure::Alone => "alone",
            MapProcedure::Graph => "learned graph",
            MapProcedure::Tuned => "tuned",
            MapProcedure::TunedGraph => "tuned, learned graph",
            MapProcedure::StandardErrors => "standard errors",
            MapProcedure::Recalibrated => "recalibrated",
            MapProcedure::Weighted => "weighted",
        }
    }
}

/// The version that the settings ask for, of an algorithm that takes these: the word that users
/// type.
pub(crate) fn form(takes: &[&str], settings: &Settings) -> &'static str {
    use reticent_admm::{Release, WalkState};
    use reticent_oracle::Law;
    let has = |name: &str| takes.contains(&name);
    let is_set = |share: Option<f64>| share.is_some_and(|share| share != 0.0);
    let scaled = has("clip_share") && is_set(settings.clip_share);
    if has("schedule") {
        return match settings.schedule.unwrap_or_default() {
            BlockSchedule::All if scaled => "scaled",
            _ if scaled => "scaled blocks",
            BlockSchedule::All => "all",
            BlockSchedule::Permutation => "permutation",
            BlockSchedule::Single => "single",
            BlockSchedule::Blocks(_) => "blocks",
        };
    }
    if has("law") {
        return match settings.law.unwrap_or_default() {
            Law::Normal => "normal",
            Law::SphericalLaplace => "spherical-laplace",
        };
    }
    if has("precondition") && is_set(settings.precondition) {
        return if scaled { "preconditioned, scaled" } else { "preconditioned" };
    }
    if scaled {
        return "scaled";
    }
    if has("walk") {
        return match settings.walk.unwrap_or_default() {
            WalkState::Stateless => "stateless",
            WalkState::Stateful => "stateful",
        };
    }
    if has("release") {
        return match settings.release.unwrap_or(Release::Gradient) {
            Release::Gradient => "gradient",
            Release::Minimiser => "minimiser",
            Release::Objective => "objective",
            Release::NormalObjective => "normal-objective",
        };
    }
    ""
}

impl MapCell {
    /// That of a question about a whole table, and nothing beside it, on these terms.
    pub(crate) fn of_question(
        algorithm: &'static str,
        form: &'static str,
        opening: &PrivacyModel,
    ) -> Self {
        let PrivacyModel { view, unit, adjacency, .. } = *opening;
        let (procedure, drawn) = (MapProcedure::Alone, Drawn::Full);
        MapCell { algorithm, form, procedure, view, unit, adjacency, drawn }
    }

    /// The words of its axes, as a table has them: algorithm, version, course, view, unit,
    /// adjacency, sampling.
    pub fn words(&self) -> [&'static str; 7] {
        let MapCell { algorithm, form, procedure, view, unit, adjacency, drawn } = *self;
        let form = if form.is_empty() { "–" } else { form };
        [
            algorithm,
            form,
            procedure.name(),
            view.name(),
            unit.name(),
            adjacency.name(),
            drawn.name(),
        ]
    }
}

impl fmt::Display for MapCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().join(" · "))
    }
}

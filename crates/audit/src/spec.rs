//! What is attacked, and how hard.

use reticent::accountant::{Adjacency, Unit, View};
use reticent::admm::{BlockSchedule, Release, Settings, StepSize, WalkState};
use reticent::internal::Repeat;
use reticent::internal::admm::catalogue::{self, AlgorithmEntry};
use reticent::internal::problem::losses;
use reticent::map::MapProcedure;
use reticent::problem::LossTarget;
use reticent::{Error, Fit, Guarantee, Problem, Spec, Tune};
use reticent_data::Table;
use reticent_oracle::{Law, Sampling};

use crate::method::AuditMethod;
use crate::pair::{Neighbours, WhatIsRead, WorldLayout};
use crate::report::AuditReport;
use crate::search::FoundPair;

/// The loss of an audit: a derivative that is at its bound for every residual above 0.01, so that
/// the canary, one unit away from its target, pulls with all that a record may.
const LOSS: &str = "huber:0.01";

/// Runs that give a bound of use at ε = 4 in seconds.
const RUNS: u64 = 40_000;

/// One audit.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditSpec {
    /// The algorithm, by its name in the catalogue.
    pub algorithm: String,
    /// The budget ε.
    pub epsilon: f64,
    /// The budget δ.
    pub delta: f64,
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// The units of each iteration, where the algorithm samples.
    pub sampling: Sampling,
    /// Iterations.
    pub iterations: u64,
    /// The clip; the bound of the loss when there is none.
    pub clip: Option<f64>,
    /// The step size, where it matters.
    pub step: Option<StepSize>,
    /// The loss.
    pub loss: String,
    /// The penalty, where the algorithm needs one or shows more with it.
    pub penalty: Option<String>,
    /// The constraint, where it matters.
    pub constraint: Option<String>,
    /// Who looks, for an algorithm of many parties; the one it is usually run against when it is
    /// not given.
    pub trust: Option<View>,
    /// What is protected; where it is not given, a record of one table, and a user among many
    /// parties.
    pub unit: Option<Unit>,
    /// How many parties there are, for an algorithm of many.
    pub parties: u32,
    /// Whether a party has several persons, where these are protected.
    pub several: bool,
    /// With how many parties the canary has rows, where parties add the noise of sums: what is measured
    /// against is then what covers a person with so many.
    pub homes: u32,
    /// Whether all other parties have no records.
    pub bare: bool,
    /// What the users of a random walk keep.
    pub walk: Option<WalkState>,
    /// What a step on a graph releases.
    pub release: Option<Release>,
    /// The paper's own version: what is measured against is its claim, and nothing is certified.
    pub as_published: bool,
    /// The law of a random linear term, where there is one.
    pub law: Option<Law>,
    /// The part of the budget for the second moment whose coordinates the steps are taken in.
    pub precondition: Option<f64>,
    /// Columns of the tables, one or two; a learned graph has two in any case.
    pub features: usize,
    /// Whether the model has an intercept.
    pub intercept: bool,
    /// Further keys of the job.
    pub job: Spec,
    /// Which blocks of a consensus move.
    pub schedule: Option<BlockSchedule>,
    /// The averaging parameter, where it matters.
    pub relaxation: Option<f64>,
    /// Further settings of the algorithm.
    pub others: Settings,
    /// Whether the run is one of several to choose among, and whether it learns a graph first.
    pub procedure: MapProcedure,
    /// The pair of worlds; the worst of a family when it is not given.
    pub pair: Option<Neighbours>,
    /// Records in the larger table; as few as the sampling allows when it is not given.
    pub records: Option<usize>,
    /// Fits in all, or canaries for [`AuditMethod::OneRun`].
    pub runs: u64,
    /// How the bound is made.
    pub method: AuditMethod,
    /// The confidence of the bound.
    pub confidence: f64,
    /// For tests: runs that are the same every time.
    pub seed: Option<u64>,
    /// A defect to find.
    #[cfg(reticent_seeded_bugs)]
    pub bug: Option<reticent_oracle::Bug>,
}

impl Default for AuditSpec {
    fn default() -> Self {
        AuditSpec {
            algorithm: "ssadmm".to_owned(),
            epsilon: 1.0,
            delta: 1e-3,
            adjacency: Adjacency::ReplaceOne,
            sampling: Sampling::Full,
            iterations: 1,
            clip: None,
            step: None,
            loss: LOSS.to_owned(),
            penalty: None,
            constraint: None,
            trust: None,
            unit: None,
            parties: 2,
            several: false,
            homes: 1,
            bare: false,
            walk: None,
            release: None,
            as_published: false,
            law: None,
            precondition: None,
            features: 1,
            intercept: false,
            job: Spec::default(),
            schedule: None,
            relaxation: None,
            others: Settings::default(),
            procedure: MapProcedure::Alone,
            pair: None,
            records: None,
            runs: RUNS,
            method: AuditMethod::default(),
            confidence: 0.95,
            seed: None,
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        }
    }
}

impl AuditSpec {
    /// Refuses what cannot be measured.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(Error::value(
                "confidence",
                self.confidence,
                "it must lie between 0 and 1, for example 0.95",
            ));
        }
        let least = if self.method == AuditMethod::OneRun { 10 } else { 100 };
        if self.runs < least {
            return Err(Error::value(
                "runs",
                self.runs,
                format!("{least} or more are needed, and thousands are of use"),
            ));
        }
        if self.records == Some(0) {
            return Err(Error::value("records", 0, "the canary alone makes one"));
        }
        if !(self.epsilon.is_finite() && self.epsilon > 0.0) {
            return Err(Error::value(
                "epsilon",
                self.epsilon,
                "it must be a number above 0, for example 1.0",
            ));
        }
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(Error::value(
                "delta",
                self.delta,
                "it must lie strictly between 0 and 1, for example 1e-5",
            ));
        }
        self.nothing_unused()
    }

    /// Refuses what the algorithm has no use for, rather than pass over it.
    fn nothing_unused(&self) -> Result<(), Error> {
        let many = self.is_between();
        self.check_homes()?;
        let question = crate::asked_sums::knows(&self.algorithm);
        let plain = many && self.on_sums().is_none() || question;
        let most = if plain || self.method == AuditMethod::OneRun { 1 } else { 2 };
        if !(1..=most).contains(&self.features) {
            let why = format!("tables that are attacked have from 1 to {most} columns here");
            return Err(Error::value("features", self.features, why));
        }
        if (plain || many) && self.intercept {
            return Err(Error::value("intercept", true, "only a fit of one table has one here"));
        }
        if many {
            return match &self.constraint {
                Some(given) => Err(Error::value(
                    "constraint",
                    given,
                    "an algorithm of many parties is attacked without one",
                )),
                None => Ok(()),
            };
        }
        let usual = AuditSpec::default();
        let given = [
            ("trust", self.trust.map(|view| view.to_string())),
            ("walk", self.walk.map(|walk| walk.to_string())),
            ("release", self.release.map(|release| release.to_string())),
            ("parties", (self.parties != usual.parties).then(|| self.parties.to_string())),
        ];
        match given.into_iter().find_map(|(name, given)| Some((name, given?))) {
            None => Ok(()),
            Some((name, given)) => {
                let why = format!(
                    "{} is not for many parties; leave it out, or choose one that is",
                    self.algorithm
                );
                Err(Error::value(name, given, why))
            }
        }
    }

    /// Refuses a person with rows at more parties than there are, or in a job without such persons.
    fn check_homes(&self) -> Result<(), Error> {
        if self.homes == 1 && !self.bare {
            return Ok(());
        }
        let fitted = |_: &View| !crate::asked_sums::knows(&self.algorithm);
        let why = match self.on_sums().filter(fitted) {
            None => "it is for fits on sums that parties add the noise to; leave it out",
            Some(_) if self.homes == 0 => "the canary is with one party at least",
            // The first party is never attacked.
            Some(_) if self.homes >= self.parties => {
                "one party more is needed, which has none of them"
            }
            Some(_) => return Ok(()),
        };
        Err(Error::value("homes", self.homes, why))
    }

    /// Who looks at an algorithm of one table, or a question, whose noise parties add; `None` for any
    /// other run.
    pub(crate) fn on_sums(&self) -> Option<View> {
        let view = self.trust.filter(|view| *view != View::Central)?;
        let asked = crate::asked_sums::knows(&self.algorithm);
        (asked || catalogue::find(&self.algorithm).is_some()).then_some(view)
    }

    /// Whether it is between parties.
    pub(crate) fn is_between(&self) -> bool {
        crate::parties::knows(&self.algorithm) || self.on_sums().is_some()
    }

    /// What is protected.
    pub(crate) fn unit(&self) -> Unit {
        self.unit.unwrap_or(if self.is_between() { Unit::User } else { Unit::Record })
    }

    /// What worlds are made for.
    pub(crate) fn layout(&self) -> WorldLayout {
        let crowd = self.is_between();
        WorldLayout {
            parties: if crowd { self.parties as usize } else { 0 },
            features: if self.procedure.has_graph() { 2 } else { self.features },
            whole: crowd && self.unit().is_whole() && !self.several,
            several: crowd && self.several,
            weighted: self.procedure.is_weighted(),
            scaled: self.others.clip_share.is_some_and(|share| share > 0.0),
            homes: self.homes as usize,
            bare: self.bare,
            reads: match &*self.algorithm {
                "count" => WhatIsRead::Targets,
                name if crate::asked::NAMES.contains(&name) => WhatIsRead::Rows,
                _ => WhatIsRead::All,
            },
        }
    }

    /// The pairs that are searched.
    pub(crate) fn pairs(&self) -> Vec<Neighbours> {
        if let Some(pair) = self.pair {
            return vec![pair];
        }
        let (layout, size) = (self.layout(), self.size());
        if layout.whole {
            let family = Neighbours::family(self.adjacency, 0, 1, &layout);
            return family
                .into_iter()
                .map(|pair| Neighbours { rows: size, instead: size, ..pair })
                .collect();
        }
        let rows = if self.unit() == Unit::User { 3 } else { 1 };
        Neighbours::family(self.adjacency, size - 1, rows, &layout)
    }

    /// A table that the noise is calibrated for.
    pub(crate) fn like(&self) -> Table {
        self.pairs()[0].world(true, &self.layout()).swap_remove(0)
    }

    /// Records in the larger table. Samples without replacement need others to choose from; under
    /// add-remove the smaller table should not be empty.
    fn size(&self) -> usize {
        if self.is_between() {
            return self.records.unwrap_or(1);
        }
        let least = match self.sampling {
            Sampling::WithoutReplacement(size) => 2 * size as usize,
            Sampling::Poisson(_) => 2,
            Sampling::Full => 1 + usize::from(self.adjacency == Adjacency::AddRemove),
        };
        self.records.unwrap_or(least)
    }

    /// The calibrated job for tables like this one.
    pub(crate) fn repeat_on(&self, like: Table, features: u32) -> Result<Repeat, Error> {
        let units = if self.unit() == Unit::User { like.user_count() } else { like.len() } as u64;
        let entry = catalogue::find(&self.algorithm);
        let usual = entry.map_or("none", |entry| entry.penalty);
        let fit = |penalty: Option<String>| -> Result<Fit, Error> {
            let spec = self.spec(features).with(|it| it.penalty = penalty);
            let fit = spec.fit()?.public_n(units).unit(self.unit());
            Ok(if self.procedure.is_weighted() { fit.record_weights(1.0)? } else { fit })
        };
        let job = if self.procedure.is_tuned() {
            let kind = usual.split(':').next().unwrap_or(usual);
            // Above what a gradient comes to, an L1 penalty leaves every model of dp-fw at zero.
            let points = if kind == "l1" { ["1e-6", "2e-6"] } else { ["0.1", "0.2"] };
            let mut tune = Tune::new();
            for point in points {
                tune = tune.point(point, fit(Some(format!("{kind}:{point}")))?);
            }
            tune.check()?
        } else {
            let needed = entry.filter(|entry| entry.needs_penalty).map(|_| usual.to_owned());
            fit(self.penalty.clone().or(needed))?.check()?
        };
        #[allow(unused_mut, reason = "a defect is switched on in audit builds alone")]
        let mut repeat = job.repeat(like.into())?;
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = self.bug {
            repeat.spoil(bug);
        }
        Ok(repeat)
    }

    /// What is minimised on the tables of parties, which have one feature where nothing is asked in
    /// other coordinates.
    pub(crate) fn problem(&self) -> Result<Problem, Error> {
        let entry = catalogue::find(&self.algorithm).filter(|entry| entry.needs_penalty);
        let needed = entry.map(|entry| entry.penalty.to_owned());
        let features = self.layout().features as u32;
        self.spec(features).with(|it| it.penalty = self.penalty.clone().or(needed)).problem()
    }

    /// The settings of an algorithm of one table.
    pub(crate) fn settings_between(&self) -> Settings {
        let entry = catalogue::find(&self.algorithm);
        entry.map(|entry| self.settings(entry)).unwrap_or_default()
    }

    /// The job, but for its penalty.
    fn spec(&self, features: u32) -> Spec {
        let entry = catalogue::find(&self.algorithm);
        self.job.clone().with(|it| {
            it.guarantee = Guarantee::default().with(|it| {
                it.epsilon = Some(self.epsilon);
                it.delta = Some(self.delta);
                it.adjacency = Some(self.adjacency);
                it.seed = self.seed;
            });
            it.features = Some(features);
            it.row_norm = Some(1.0);
            // Losses of classes have theirs, and losses of numbers these.
            it.target_range = (!self.is_of_classes()).then_some([-1.0, 1.0]);
            it.algorithm = Some(self.algorithm.clone());
            it.loss = Some(self.loss.clone());
            it.graph = self.procedure.has_graph().then(|| "private".to_owned());
            it.constraint = self.constraint.clone();
            it.intercept = Some(self.intercept);
            it.settings = entry.map(|entry| self.settings(entry)).unwrap_or_default();
        })
    }

    /// What the algorithm has of the settings. A sampling or a clip that it does not have is left
    /// in, for the product to refuse.
    fn settings(&self, entry: &AlgorithmEntry) -> Settings {
        let has = |name: &str| entry.takes.contains(&name);
        let sampled = self.sampling != Sampling::Full;
        Settings {
            iterations: has("iterations").then_some(self.iterations),
            outer: has("outer").then_some(1),
            inner: has("inner").then_some(self.iterations),
            sampling: (sampled || has("sampling")).then_some(self.sampling),
            clip: self.clip,
            step: self.step,
            // The normal law is for losses of classes, and the usual loss is of numbers.
            law: has("law").then_some(self.law.unwrap_or(Law::SphericalLaplace)),
            precondition: self.precondition,
            schedule: self.schedule,
            relaxation: self.relaxation.filter(|_| has("relaxation")),
            as_published: self.as_published.then_some(true),
            ..self.others.clone()
        }
    }

    /// A loss that cannot be read is left for the product to refuse.
    pub(crate) fn is_of_classes(&self) -> bool {
        losses::parse(&self.loss, None).is_ok_and(|loss| loss.target() != LossTarget::Real)
    }

    /// The report of a bound.
    pub(crate) fn report(
        &self,
        (epsilon_certified, view): (f64, View),
        FoundPair { pair, statistic, epsilon: epsilon_lower }: FoundPair,
    ) -> Result<AuditReport, Error> {
        #[cfg(reticent_seeded_bugs)]
        let seeded_bug = self.bug.map(|bug| bug.to_string());
        #[cfg(reticent_seeded_bugs)]
        let epsilon_certified =
            self.bug.map_or(epsilon_certified, |bug| bug.certified(epsilon_certified));
        #[cfg(not(reticent_seeded_bugs))]
        let seeded_bug = None;
        Ok(AuditReport {
            algorithm: self.algorithm.clone(),
            adjacency: self.adjacency,
            view,
            epsilon_certified,
            as_published: self.as_published,
            delta: self.delta,
            epsilon_lower,
            confidence: self.confidence,
            runs: self.runs,
            method: self.method,
            statistic,
            pair,
            exceeded: epsilon_lower > epsilon_certified,
            seeded_bug,
        })
    }
}

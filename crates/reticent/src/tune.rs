//! Private tuning: one of several settings, chosen by a random number of runs (Papernot–Steinke
//! 2022).
//!
//! ```text
//! grid      the product of the lists that were given
//! K         the number of runs, secret, from a public law
//! a run     draws a point of the grid uniformly, does the whole fit with noise of its own, and gets a noisy
//!           score
//! released  the run with the best score, and nothing else
//! ```
//!
//! The law. With a Poisson number of runs of mean `r` (at least one run), a given point of `G` is
//! missed with probability about `e^(−r/G)`; so is it with a geometric number of a certain mean.
//! Which of the two costs less depends on the budget and on `G` (few points: Poisson), so both are
//! calibrated and the one with less noise is taken. Unless the user says otherwise `r = G`: more
//! runs would find the best point more surely, but the noise of every run grows with `r`.

use reticent_accountant::{Ledger, Repetitions, calibrate, rdp_curve};
use reticent_admm::ProblemFacts;
use reticent_oracle::{Gate, Oracle, PrivateSelection, Refusal, Selected, Terms};
use reticent_problem::penalties;
use serde::Serialize;

use crate::axis::{ONE_LOSS, TuneAxis};
use crate::budget::Budget;
use crate::curves::Curves;
use crate::error::Error;
use crate::fit::Fit;
use crate::job::Job;
use crate::objective::Objective;
use crate::procedure::{Concluded, PlannedNoise};
use crate::run::Noise;
use crate::settings::read_settings;
use crate::spec::Spec;
use crate::task::{Task, no_pure};
use crate::training::{Noises, Trained, Training};

/// More points than this is a slip of the keyboard.
const MOST_POINTS: usize = 1_000;

/// The ways of tuning, of which there is one.
const MODE: &str = "random";

pub(crate) const NO_GRID: &str = "every point of an ordinary grid is a fit of its own on the private data and spends the budget again, \
                       and so does looking at which was best; `tune` tries a random number of points and pays for the \
                       choice within the budget (docs/tuning.md)";

/// Fits to choose among privately: the best of a random number of runs is released, and nothing
/// else. All of it together is within the budget, which they must have in common.
///
/// # Examples
/// ```no_run
/// use reticent::{Fit, Tune, penalties::L1};
/// # fn example(fit: Fit) -> Result<(), reticent::Error> {
/// let mut tune = Tune::new();
/// for lambda in [1e-5, 1e-4, 1e-3] {
///     tune = tune.point(format!("lambda={lambda}"), fit.clone().penalty(L1::new(lambda)?));
/// }
/// let fitted = tune.check()?.fit(std::path::Path::new("people.csv"))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tune {
    points: Vec<(String, Fit)>,
    runs: Option<u64>,
}

/// The result of tuning.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tuned {
    /// The point that won, as `name=value` words.
    pub chosen: String,
    /// The number of points.
    pub points: usize,
    /// The expected number of runs. The number itself is secret.
    pub expected_runs: f64,
    /// The noisy score of the winner: the mean squared error of its predictions, in [0, 1] but for
    /// the noise, and lucky as winners are.
    pub score: f64,
}

/// Refuses a list where one value belongs.
pub(crate) fn refuse_list(name: &'static str, text: &str) -> Result<(), Error> {
    if text.contains('[') {
        return Err(Error::value(
            name,
            text,
            format!("one value is needed, not a list: {NO_GRID}; write `tune = '{name}={text}'`"),
        ));
    }
    Ok(())
}

impl Tune {
    /// Nothing to choose among yet.
    pub fn new() -> Self {
        Tune::default()
    }

    /// Adds a fit, by the name that is told if it wins.
    pub fn point(mut self, name: impl Into<String>, fit: Fit) -> Self {
        self.points.push((name.into(), fit));
        self
    }

    /// The expected number of runs; by default the number of points.
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Checks every fit, without reading any table.
    ///
    /// # Errors
    /// If there are too few or too many, if one of them cannot be, if they have not all the same
    /// loss, budget, terms and schema, or if a penalty is not one of the library's own.
    pub fn check(self) -> Result<Job, Error> {
        let count = self.points.len();
        if !(2..=MOST_POINTS).contains(&count) {
            let why = format!("from 2 to {MOST_POINTS} points can be chosen among");
            return Err(Error::value("tune", count, why));
        }
        let runs = self.runs.unwrap_or(count as u64);
        if !(1..=1_000_000).contains(&runs) {
            return Err(Error::value(
                "tune_runs",
                runs,
                "a whole number from 1 to 1000000 is needed",
            ));
        }
        let (names, fits): (Vec<_>, Vec<_>) = self.points.into_iter().unzip();
        let points: Vec<Task> =
            fits.into_iter().map(|fit| Task::new(fit, true)).collect::<Result<_, _>>()?;
        for task in &points {
            task.check_to_choose(&points[0])?;
        }
        Ok(Job::new(Training::best(points, names, runs)))
    }
}

impl Task {
    /// Refuses what cannot be chosen privately beside `first`.
    fn check_to_choose(&self, first: &Task) -> Result<(), Error> {
        let Some(budget) = self.protection.budget else { return Err(self.not_private()) };
        // A score has Gaussian noise, whatever the runs have.
        if budget.delta() == 0.0 {
            return Err(no_pure("a choice among runs"));
        }
        if self.settings.as_published == Some(true) {
            let why = "a version whose privacy claim does not hold is nothing to choose privately; leave it out";
            return Err(Error::value("as_published", "true", why));
        }
        let Objective { loss, regulariser, .. } = &self.objective;
        let other = &first.objective.loss;
        if loss.spec() != other.spec() || loss.weights() != other.weights() {
            return Err(Error::value("loss", loss.spec(), ONE_LOSS));
        }
        // What the losing runs were told goes nowhere (proofs/selection.md), and a penalty is shown
        // all of it.
        let penalty = regulariser.penalty();
        if !penalties::is_own(penalty) {
            let why = "a penalty of one's own is shown what losing runs were told, and could keep it; a choice is \
                       among penalties of the library";
            return Err(Error::value("penalty", penalty.name(), why));
        }
        if !self.protection.is_like(&first.protection)
            || self.objective.schema != first.objective.schema
        {
            let why =
                "all points must have the same schema, budget, adjacency, unit, intercept and seed";
            return Err(Error::value("tune", self.entry.name, why));
        }
        Ok(())
    }
}

impl Spec {
    /// The fits to choose among; `None` for a job that is not tuned.
    pub(crate) fn tune(&self) -> Result<Option<Tune>, Error> {
        if let Some(mode) = self.tune_mode.as_deref().filter(|mode| *mode != MODE) {
            return Err(Error::value(
                "tune_mode",
                mode,
                format!("there is only '{MODE}': {NO_GRID}"),
            ));
        }
        let texts =
            [("algorithm", &self.algorithm), ("loss", &self.loss), ("penalty", &self.penalty)];
        for (name, text) in
            texts.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)))
        {
            refuse_list(name, text)?;
        }
        let Some(lists) = self.tune.as_deref().filter(|lists| !lists.is_empty()) else {
            return match self.tune_runs {
                Some(runs) => {
                    Err(Error::value("tune_runs", runs, "it is for `tune`: give both or none"))
                }
                None => Ok(None),
            };
        };
        if self.curves == Some(Curves::Auto) {
            let why = "each of several runs has a part of the budget alone; give a number of knots beside `tune`";
            return Err(Error::value("curves", Curves::Auto, why));
        }
        let axes = self.axes(lists)?;
        let points =
            axes.iter().fold(1_usize, |product, axis| product.saturating_mul(axis.values.len()));
        if points > MOST_POINTS {
            let why = format!(
                "it makes {points} points, and {MOST_POINTS} are the most: each costs time, and noise"
            );
            return Err(Error::value("tune", lists.join(" "), why));
        }
        let plain = Spec { tune: None, tune_runs: None, tune_mode: None, ..self.clone() };
        let mut tune = Tune { points: Vec::with_capacity(points), runs: self.tune_runs };
        for point in 0..points {
            let (name, spec) = plain.at(&axes, point)?;
            tune = tune.point(name, spec.fit()?);
        }
        Ok(Some(tune))
    }

    /// The lists, none of them of what is set already or twice.
    fn axes(&self, lists: &[String]) -> Result<Vec<TuneAxis>, Error> {
        let axes: Vec<TuneAxis> =
            lists.iter().map(|list| TuneAxis::parse(list)).collect::<Result<_, _>>()?;
        for (i, axis) in axes.iter().enumerate() {
            if axes[..i].iter().any(|other| other.name == axis.name) {
                let why = format!("{} is tuned twice; give one list", axis.name);
                return Err(Error::value("tune", &lists[i], why));
            }
            if axis.is_set(self) {
                let why = format!("{0} is given as well; leave out `{0}` or the list", axis.name);
                return Err(Error::value("tune", &lists[i], why));
            }
        }
        Ok(axes)
    }

    /// One point of the product of the lists, with its name.
    fn at(&self, axes: &[TuneAxis], point: usize) -> Result<(String, Spec), Error> {
        let (mut rest, mut over) = (point, Spec::default());
        let (mut settings, mut words) = (Vec::new(), Vec::new());
        for TuneAxis { name, values } in axes {
            let value = values[rest % values.len()].clone();
            rest /= values.len();
            words.push(format!("{name}={value}"));
            match *name {
                "algorithm" => over.algorithm = Some(value),
                "loss" => over.loss = Some(value),
                "penalty" => over.penalty = Some(value),
                "constraint" => over.constraint = Some(value),
                name => settings.push((name, value)),
            }
        }
        over.settings = read_settings(&settings)?;
        Ok((words.join(" "), self.clone().overlaid(over)))
    }
}

impl Training {
    /// The laws that miss a point as seldom as is asked for; see the top of this file.
    fn laws(&self, runs: u64) -> Vec<Repetitions> {
        let (points, rate) = (self.points().len() as f64, runs as f64);
        let missed = (-rate / points).exp();
        let others = 1.0 - 1.0 / points;
        // A geometric number with parameter γ misses with probability γx/(1 − (1−γ)x), x = 1 − 1/G.
        let gamma = missed * (1.0 - others) / (others * (1.0 - missed));
        let mut laws = vec![Repetitions::PositivePoisson { rate }];
        if gamma > 1e-6 && gamma < 1.0 {
            laws.push(Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma });
        }
        laws
    }

    /// The least noise for which the whole, choice included, is within the budget. Settings that
    /// follow from the budget follow from what one run has of it, which is known when the choice
    /// has been paid for: hence twice.
    pub(crate) fn prepare(
        &self,
        terms: Terms,
        budget: Budget,
        runs: u64,
    ) -> Result<PlannedNoise<Noises>, Error> {
        let laws = self.laws(runs);
        let (_, s) = self.prepare_at(terms, budget, &laws, 1.0)?;
        Ok(self.prepare_at(terms, budget, &laws, s)?.0)
    }

    /// The same where a run is taken to have `s` times the noise that it would have alone; and the
    /// `s` that it has.
    fn prepare_at(
        &self,
        terms: Terms,
        budget: Budget,
        laws: &[Repetitions],
        s: f64,
    ) -> Result<(PlannedNoise<Noises>, f64), Error> {
        let wholes: Vec<ProblemFacts> = self
            .points()
            .iter()
            .map(|job| job.public(terms.population()))
            .collect::<Result<_, _>>()?;
        let share = |job: &Task| job.share(true) / (s * s);
        let publics: Vec<ProblemFacts> = self
            .points()
            .iter()
            .zip(&wholes)
            .map(|(job, whole)| whole.with_share(share(job)))
            .collect();
        let (alone, alike) = self.alone(terms, &publics, budget)?;
        let noises = |s: f64| -> Vec<Noise> {
            let points = self.points().iter().zip(&wholes).zip(&alone);
            points.map(|((job, whole), alone)| job.noise(s, *alone, whole, true)).collect()
        };
        let selection = |s: f64, law: Repetitions| -> Result<PrivateSelection, Error> {
            Ok(PrivateSelection { plans: self.plans(terms, &publics, &noises(s), alike)?, law })
        };
        let books =
            |s: f64, law| -> Result<Ledger, Error> { Ok(selection(s, law)?.ledger(&terms)?) };
        if rdp_curve(&books(1.0, laws[0])?).is_empty() {
            return Err(Error::value(
                "tune",
                self.first().entry.name,
                "what choosing costs is counted by Rényi divergence, and this algorithm asks something that has none; \
                 choose another algorithm",
            ));
        }
        let mut best: Option<(f64, Repetitions)> = None;
        for &law in laws {
            let s =
                calibrate(budget.epsilon(), budget.delta(), |s| books(s, law))?.noise_multiplier;
            if best.is_none_or(|(least, _)| s < least) {
                best = Some((s, law));
            }
        }
        let (s, law) = best.ok_or_else(|| {
            Error::value("tune", "", "no law for the number of runs; report this")
        })?;
        let selection = selection(s, law)?;
        let plan = selection.ledger(&terms)?;
        let points = publics.into_iter().zip(noises(s)).collect();
        let noise = Noises { points, selection: Some(selection) };
        Ok((PlannedNoise { noise, plan: Some(plan) }, s))
    }

    /// The noise with which each point alone spends the budget, and whether all of them ask the
    /// same. Points that do are calibrated once.
    fn alone(
        &self,
        terms: Terms,
        publics: &[ProblemFacts],
        budget: Budget,
    ) -> Result<(Vec<f64>, bool), Error> {
        let mut known: Vec<(Ledger, f64)> = Vec::new();
        let mut alone = Vec::with_capacity(publics.len());
        for (job, public) in self.points().iter().zip(publics) {
            let plan = job.rehearse(terms, public, &Noise::alone(1.0))?;
            let found = known.iter().find(|(other, _)| *other == plan).map(|(_, noise)| *noise);
            alone.push(match found {
                Some(noise) => noise,
                None => {
                    let noise = job.calibrate_alone(terms, public, budget)?;
                    known.push((plan, noise));
                    noise
                }
            });
        }
        Ok((alone, known.len() == 1))
    }

    /// The plan of each point with its noise; where all ask the same, the same noise is the same
    /// plan.
    fn plans(
        &self,
        terms: Terms,
        publics: &[ProblemFacts],
        noises: &[Noise],
        alike: bool,
    ) -> Result<Vec<Ledger>, Error> {
        let mut plans: Vec<Ledger> = Vec::with_capacity(publics.len());
        for (i, (job, public)) in self.points().iter().zip(publics).enumerate() {
            let same = (0..i).find(|&j| alike && noises[j] == noises[i]);
            plans.push(match same {
                Some(j) => plans[j].clone(),
                None => job.rehearse(terms, public, &noises[i])?,
            });
        }
        Ok(plans)
    }

    /// Runs the contest.
    pub(crate) fn choose(
        &self,
        gate: Gate,
        points: &[(ProblemFacts, Noise)],
        selection: &PrivateSelection,
    ) -> Result<Concluded<Trained>, Error> {
        let run = |oracle: &mut dyn Oracle, i: usize| {
            let (public, noise) = &points[i];
            match self.points()[i].perform(oracle, public, noise, &mut reticent_admm::unwatched) {
                Ok(outcome) => Ok(outcome.score.clone().map(|score| (outcome, score))),
                // A function of what this run was told, and no record decides it (proofs/gate.md).
                // To say so would tell of a run that is not released; it has lost, that is all.
                Err(Error::Refused(Refusal::Diverged(_))) => Ok(None),
                Err(other) => Err(other),
            }
        };
        let (winner, ledger) = gate.select(selection, run)?;
        // That nobody won is what the selection released, as a model would be. It is no model.
        let Some(Selected { result: outcome, candidate: point, score }) = winner else {
            return Err(Refusal::Diverged(
                "the numbers of every run ran away: give smaller steps or a larger ridge"
                    .to_owned(),
            )
            .into());
        };
        let name = self.choice.as_ref().and_then(|(names, _)| names.get(point));
        let tuned = Some(Tuned {
            chosen: name.cloned().unwrap_or_default(),
            points: self.points().len(),
            expected_runs: selection.law.mean(),
            score: *score.get(),
        });
        let answer = Trained { point, outcome, tuned, converged: None };
        Ok(Concluded { answer, transcript: Vec::new(), ledger })
    }
}

//! What RA18's figures have in common: the networks, the weight of the loss, and the average loss of
//! the nodes after every iteration.

use reticent::accountant;
use reticent_plot::Axis;

use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::Context;
use crate::report::{ExperimentReport, Figure, Series};
use crate::series::Band;
use crate::train::{Among, Price, TrainMethod, TrainProblem, method};

/// (ρ/N) R of equation 1, of which the paper prints no number.
pub(super) const PENALTY: &str = "l2:1e-3";

/// δ of what is certified; what is published is pure.
const DELTA: f64 = 1e-5;

/// The parties: 5, and 20 where there is time.
pub(super) fn networks(context: &Context<'_>) -> &'static [Among] {
    const ALL: &[Among] = &[
        Among { parties: 5, topology: Some("erdos-renyi:0.6") },
        Among { parties: 20, topology: Some("erdos-renyi:0.3") },
    ];
    if context.quick { &ALL[..1] } else { ALL }
}

/// What is to be known of all of RA18's figures.
pub(super) const NOTE: &str = "The graph of the parties is random and connected, and rows are dealt to them in turn. The average loss is the \
                               paper's: the mean over the nodes of the loss of each node's own model on its own rows. All nodes begin at random, \
                               within 0.1 of zero.";

/// What figures 2 and 3 have other than the paper's.
pub(super) const CHANGES: &str = "Adult is a9a, 123 columns; the paper has 45,223 rows of 105. The paper prints neither C of its equation 1, nor ρ, \
                                  nor its total ε: C = 100, ρ/N = 1e-3, ε = 2 and 5 here, over 30 iterations. The graphs are other random ones.";

/// How figures 2 and 3 compare methods.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    /// Name, algorithm, and what of the settings is its own.
    pub methods: &'a [(&'static str, &'static str, &'static str)],
    /// Which method is claimed to have a lower loss than which other, and the words for it.
    pub claims: &'a [(usize, usize, &'static str)],
    /// The words for a difference between the methods of the first claim that is larger at a smaller
    /// ε.
    pub more: Option<&'static str>,
    pub title: &'static str,
}

/// As published and as certified: the paper's mechanism, with its own accounting and with ours.
const VERSIONS: [(Version, &str, &str); 2] =
    [(Version::AsPublished, "as_published", "published"), (Version::Certified, "", "certified")];

/// C of figures 2 and 3.
const WEIGHT: f64 = 100.0;

impl Comparison<'_> {
    /// The average loss of all methods over iterations, at two total ε.
    pub fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let mut report = ExperimentReport::default();
        let rows = context.rows(usize::MAX, 3_000);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = TrainProblem::new(&table, "logistic", PENALTY);
        let rounds = context.pick(30, 6);
        for among in networks(context) {
            for version in VERSIONS {
                let mut losses: Vec<(f64, Vec<Series>)> = Vec::new();
                for epsilon in [2.0, 5.0] {
                    let series =
                        self.measure(context, &problem, *among, (version, epsilon, rounds))?;
                    self.check(&mut report, (among.parties, version.0, epsilon), &series, rounds);
                    losses.push((epsilon, series));
                }
                if let (Some(words), Some(&(ours, other, _))) = (self.more, self.claims.first()) {
                    let gain = |series: &[Series]| gains(&series[ours], &series[other], rounds);
                    let text = format!("{words}, {} parties", among.parties);
                    let (small, large) = (gain(&losses[0].1), gain(&losses[1].1));
                    report.claims.push(Claim::more(&text, version.0, &small, &large));
                }
                for (epsilon, series) in losses {
                    self.draw(&mut report, (among.parties, version, epsilon), series);
                    if self.more.is_some() {
                        let of = (version, epsilon, rounds);
                        self.privacy(&mut report, &problem, *among, of)?;
                    }
                }
            }
        }
        report.notes.push(NOTE.to_owned());
        Ok(report)
    }

    /// The methods as they are set.
    fn methods(&self, extra: &str, rounds: u64) -> Vec<TrainMethod> {
        let released = if extra.is_empty() { "release=objective" } else { extra };
        let common = format!(
            "iterations={rounds} rho=1 proximal=0.2 loss_weight={WEIGHT} start=0.1 {released}"
        );
        let set = |&(name, algorithm, own): &(&'static str, &'static str, &str)| {
            method(name, algorithm, format!("{common} {own}"))
        };
        self.methods.iter().map(set).collect()
    }

    /// P(t): the privacy loss up to every iteration, of the party that is the first.
    fn privacy(
        &self,
        report: &mut ExperimentReport,
        problem: &TrainProblem<'_>,
        among: Among,
        ((version, extra, word), epsilon, rounds): ((Version, &str, &str), f64, u64),
    ) -> Result<(), ExperimentError> {
        let (mut series, delta) = (Vec::new(), delta_of(version));
        for method in self.methods(extra, rounds) {
            let plan = problem.plan(&method, Price::Budget(epsilon, delta), among)?;
            let mut points = Vec::new();
            for t in 1..=rounds {
                // R-ADMM touches data in odd iterations.
                let fresh = if method.algorithm == "r-admm" { t.div_ceil(2) } else { t };
                let spent = accountant::epsilon(&plan.front(fresh), delta)
                    .map_err(ExperimentError::account)?;
                points.push((t as f64, spent.upper));
            }
            series.push(Series::exact(format!("{} ({word})", method.name), points));
        }
        let name = format!("privacy-{}-{epsilon}-{word}", among.parties);
        let title = format!("{}: privacy loss, {} parties, {word}", self.title, among.parties);
        let y = if delta > 0.0 { "total ε at δ = 1e-5" } else { "P(t)" };
        let (x, y) = (Axis::linear("iterations"), Axis::linear(y).from_zero());
        let caption =
            "The privacy loss of all iterations so far, of runs that end at the same total.";
        report.figures.push(Figure::new(&name, &title, x, y).with(series).captioned(caption));
        Ok(())
    }

    /// A curve for each method: the average loss after every iteration, for each seed.
    fn measure(
        &self,
        context: &mut Context<'_>,
        problem: &TrainProblem<'_>,
        among: Among,
        ((version, extra, word), epsilon, rounds): ((Version, &str, &str), f64, u64),
    ) -> Result<Vec<Series>, ExperimentError> {
        let methods = self.methods(extra, rounds);
        let seeds = context.seeds(10, 2);
        let cells: Vec<(usize, u64)> =
            (0..methods.len()).flat_map(|k| seeds.clone().map(move |seed| (k, seed))).collect();
        let what = format!("{} parties, {word}, ε = {epsilon}", among.parties);
        let price = Price::Budget(epsilon, delta_of(version));
        let losses = context.each(
            &cells,
            |&(k, seed)| format!("{what}, {}, seed {seed}", methods[k].name),
            |&(k, seed)| {
                let nodes = problem.followed(&methods[k], price, among, seed)?;
                nodes.iter().map(|nodes| nodes.average_loss(problem)).collect::<Result<Vec<_>, _>>()
            },
        )?;
        let named = |method: &TrainMethod| Series::new(format!("{} ({word})", method.name));
        let mut series: Vec<Series> = methods.iter().map(named).collect();
        for ((k, _), losses) in cells.into_iter().zip(losses) {
            for (t, loss) in (1_u32..).zip(losses) {
                series[k].add(f64::from(t), loss);
            }
        }
        Ok(series)
    }

    fn check(
        &self,
        report: &mut ExperimentReport,
        (parties, version, epsilon): (u32, Version, f64),
        series: &[Series],
        rounds: u64,
    ) {
        for &(ours, other, words) in self.claims {
            let text = format!("{words}, {parties} parties, ε = {epsilon}");
            let at = |k: usize| series[k].at(rounds as f64);
            report.claims.push(Claim::less(&text, version, at(ours), at(other)));
        }
    }

    fn draw(
        &self,
        report: &mut ExperimentReport,
        (parties, (version, _, word), epsilon): (u32, (Version, &str, &str), f64),
        series: Vec<Series>,
    ) {
        let name = format!("loss-{parties}-{epsilon}-{word}");
        let title = format!("{}, {parties} parties, total ε = {epsilon}, {word}", self.title);
        let (x, y) = (Axis::linear("iterations"), Axis::linear("average loss"));
        let privacy = match version {
            Version::AsPublished => {
                "Objective perturbation with a pure ε as printed, for exact minimisers that nobody has (E7): NOT PRIVATE.".to_owned()
            }
            _ => format!(
                "Objective perturbation with the noise that covers an inexact minimiser (E7) and the price of E8, at δ = {DELTA:e}."
            ),
        };
        let caption = format!(
            "C = {WEIGHT}, η = 1, γ = 0.2, α one for all nodes and iterations; mean over runs of the average loss. {privacy}"
        );
        report.figures.push(
            Figure::new(&name, &title, x, y).with(series).banded(Band::Range).captioned(caption),
        );
    }
}

/// What is published is pure.
fn delta_of(version: Version) -> f64 {
    if version == Version::AsPublished { 0.0 } else { DELTA }
}

/// How far below the other a method ends, seed by seed.
fn gains(ours: &Series, other: &Series, rounds: u64) -> Vec<f64> {
    let (ours, other) = (ours.at(rounds as f64), other.at(rounds as f64));
    ours.iter().zip(other).map(|(ours, other)| other - ours).collect()
}

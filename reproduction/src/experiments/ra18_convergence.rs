//! RA18, figure 1: R-ADMM without noise beside ADMM, from a random start.

use reticent::internal::runtime::Topology;
use reticent_plot::Axis;

use super::ra18::{NOTE, PENALTY, networks};
use crate::bounds;
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::train::{Among, Price, TrainProblem, method};

#[derive(Debug)]
pub(super) struct Ra18Fig1;

/// η of the paper's figure.
const ETA: f64 = 0.5;

/// That of [`PENALTY`].
const RIDGE: f64 = 1e-3;

/// C, of which the paper prints no number: with this one the average losses are those of its axis.
/// No more than the parties have records.
fn weight(rows: usize, parties: u32) -> f64 {
    1000_f64.min((rows / parties as usize) as f64)
}

/// The curves of one network: ADMM, then R-ADMM for each γ.
struct ConvergenceCurves {
    /// Over odd iterations.
    gap: Vec<Series>,
    /// Over all iterations.
    loss: Vec<Series>,
    apart: Vec<Series>,
}

impl ConvergenceCurves {
    fn new(gammas: &[f64]) -> Self {
        let mut named = vec![Series::new("ADMM")];
        named.extend(gammas.iter().map(|gamma| Series::new(format!("R-ADMM, γ = {gamma}"))));
        ConvergenceCurves { gap: named.clone(), loss: named.clone(), apart: named }
    }

    fn loss_at(&self, curve: usize, iteration: u64) -> f64 {
        self.loss[curve].at(iteration as f64).first().copied().unwrap_or(f64::NAN)
    }

    /// How far even iterations raise the average loss above that of the odd ones before them, the
    /// most over `last` pairs; 0 where none does.
    fn rise(&self, curve: usize, last: u64) -> f64 {
        let rise = |t: u64| self.loss_at(curve, 2 * t) - self.loss_at(curve, 2 * t - 1);
        (1..=last).map(rise).fold(0.0, f64::max)
    }

    /// R-ADMM to `last` odd iterations, ADMM to as many.
    fn measure(
        &mut self,
        problem: &TrainProblem<'_>,
        among: Among,
        gammas: &[f64],
        (weight, last): (f64, u64),
    ) -> Result<(), ExperimentError> {
        // C F + r is C times F + r/C, whose optimum is that of a smaller ridge.
        let scaled =
            TrainProblem { penalty: format!("l2:{:e}", RIDGE / weight), ..problem.clone() };
        let best = scaled.objective(&scaled.exact()?)?;
        let common = format!("rho={ETA} start=0.1 release=minimiser loss_weight={weight}");
        for (k, gamma) in std::iter::once(None).chain(gammas.iter().map(Some)).enumerate() {
            let method = match gamma {
                None => method("ADMM", "admm-network", format!("iterations={last} {common}")),
                Some(gamma) => method(
                    "R-ADMM",
                    "r-admm",
                    format!("iterations={} {common} proximal={gamma}", 2 * last),
                ),
            };
            for (t, nodes) in (1_u64..).zip(problem.followed(&method, Price::Free, among, 1)?) {
                self.loss[k].add(t as f64, nodes.average_loss(problem)?);
                self.apart[k].add(t as f64, nodes.consensus_error());
                let odd =
                    if gamma.is_none() { Some(t) } else { (t % 2 == 1).then_some(t.div_ceil(2)) };
                if let Some(odd) = odd {
                    self.gap[k].add(odd as f64, scaled.objective(&nodes.mean)? - best);
                }
            }
        }
        Ok(())
    }

    fn draw(self, (parties, weight): (u32, f64), report: &mut ExperimentReport) {
        let without = format!("Without noise: NOT PRIVATE. C = {weight}, η = {ETA}.");
        for (name, what, x, y, series) in [
            ("convergence", "convergence", "odd iterations", Axis::log("objective gap"), self.gap),
            ("loss", "average loss", "iterations", Axis::linear("average loss"), self.loss),
            ("consensus", "consensus", "iterations", Axis::log("consensus error"), self.apart),
        ] {
            let caption = match x {
                "odd iterations" => {
                    "R-ADMM at its odd iterations, of which each is a step on the data: with the even ones between them it has made \
                     nearly twice as many iterations as ADMM beside it."
                }
                _ => "R-ADMM at all iterations, odd and even.",
            };
            let (file, title) =
                (format!("{name}-{parties}"), format!("RA18: {what}, {parties} parties"));
            let figure = Figure::new(&file, &title, Axis::linear(x), y).with(series);
            let figure = figure.of(Version::WithoutNoise);
            report.figures.push(figure.captioned(format!("{without} {caption}")));
        }
    }
}

fn listed(numbers: &[f64]) -> String {
    let texts: Vec<String> = numbers.iter().map(|number| format!("{number:.4}")).collect();
    texts.join(", ")
}

/// For which γ Theorem III.1 promises that R-ADMM converges.
fn conditions(networks: &[Among], gammas: &[f64], weight: f64) -> Result<String, ExperimentError> {
    let mut said = Vec::new();
    for Among { parties, topology } in networks {
        let graph = Topology::parse(topology.unwrap_or("complete"), *parties, 1);
        let graph = graph.map_err(ExperimentError::account)?;
        for &gamma in gammas {
            // Logistic loss on rows of norm 1, and the ridge.
            let smoothness = 0.25 * weight + RIDGE;
            let theorem = bounds::ra18::Ra18Setting { graph: &graph, eta: ETA, gamma, smoothness };
            let held = if theorem.converges() { "held" } else { "not held" };
            said.push(format!("{held} for γ = {gamma} among {parties} parties"));
        }
    }
    let said = said.join(", ");
    Ok(format!(
        "What Theorem III.1 asks for, (24) and (25) with some L and μ: {said}. It is sufficient and not needed."
    ))
}

impl Experiment for Ra18Fig1 {
    fn id(&self) -> &'static str {
        "ra18-fig1"
    }

    fn paper(&self) -> &'static str {
        "RA18"
    }

    fn about(&self) -> &'static str {
        "convergence of R-ADMM without noise for several γ, beside ADMM"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::AdultIndicators]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "After as many odd iterations, R-ADMM is within a tenth of the gap of ADMM",
            "Even iterations raise the average loss, and less with a larger γ",
            "With a larger γ the average loss falls more slowly",
        ]
    }

    fn changes(&self) -> &'static str {
        "Adult is a9a, 123 columns; the paper has 45,223 rows of 105. The paper prints neither C of its equation 1 nor ρ: \
         C = 1000 and ρ/N = 1e-3 here. The graphs are other random ones."
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let mut report = ExperimentReport::default();
        let rows = context.rows(usize::MAX, 600);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = TrainProblem::new(&table, "logistic", PENALTY);
        let last = context.pick(50, 10);
        let gammas: &[f64] = context.pick(&[0.1, 0.5, 2.0], &[0.1, 2.0]);
        for among in networks(context) {
            let parties = among.parties;
            let weight = weight(table.len(), parties);
            let mut curves = ConvergenceCurves::new(gammas);
            context.say(&format!("{parties} parties"))?;
            curves.measure(&problem, *among, gammas, (weight, last))?;
            self.check(&curves, (parties, last), gammas, &mut report);
            curves.draw((parties, weight), &mut report);
        }
        report.notes.push(NOTE.to_owned());
        let weight = weight(
            table.len(),
            networks(context).iter().map(|among| among.parties).max().unwrap_or(1),
        );
        report.notes.push(conditions(networks(context), gammas, weight)?);
        Ok(report)
    }
}

impl Ra18Fig1 {
    fn check(
        &self,
        curves: &ConvergenceCurves,
        (parties, last): (u32, u64),
        gammas: &[f64],
        report: &mut ExperimentReport,
    ) {
        let mut claim = |k: usize, holds: bool, numbers: String| {
            let text = format!("{}, {parties} parties", self.claims()[k]);
            let mut claim = Claim::fact(&text, holds, numbers);
            claim.version = Version::WithoutNoise;
            report.claims.push(claim);
        };
        let (admm, ours) = (curves.gap[0].at(last as f64)[0], curves.gap[1].at(last as f64)[0]);
        let numbers = format!("gap {ours:.2e} against {admm:.2e} after {last} odd iterations");
        claim(0, ours <= 1.1 * admm, numbers);
        let each = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (1..=gammas.len()).map(of).collect() };
        let rises = each(&|k| curves.rise(k, last));
        let falls = rises[0] > 0.0 && rises.windows(2).all(|pair| pair[1] < pair[0]);
        let numbers = format!(
            "by {} at most for γ = {gammas:?}, in {last} pairs of iterations",
            listed(&rises)
        );
        claim(1, falls, numbers);
        // The first odd iterations: where all have come to the end none is slower.
        let early = (last / 10).max(2);
        let after = each(&|k| curves.loss_at(k, 2 * early - 1));
        let slower = after.windows(2).all(|pair| pair[1] > pair[0]);
        let numbers = format!("{} after {early} odd iterations", listed(&after));
        claim(2, slower, numbers);
    }
}

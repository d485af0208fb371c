//! RA18, figure 1: R-ADMM without noise beside ADMM, from a random start.

use reticent::runtime::Topology;
use reticent_plot::Axis;

use super::ra18::{NOTE, PENALTY, networks};
use crate::bounds;
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::train::{Among, Price, Problem, method};

#[derive(Debug)]
pub(super) struct Ra18Fig1;

/// The curves of one network: ADMM, then R-ADMM for each γ.
struct Curves {
    /// Over odd iterations.
    gap: Vec<Series>,
    /// Over all iterations.
    loss: Vec<Series>,
    apart: Vec<Series>,
}

impl Curves {
    fn new(gammas: &[f64]) -> Self {
        let mut named = vec![Series::new("ADMM")];
        named.extend(gammas.iter().map(|gamma| Series::new(format!("R-ADMM, γ = {gamma}"))));
        Curves { gap: named.clone(), loss: named.clone(), apart: named }
    }

    fn loss_at(&self, curve: usize, iteration: u64) -> f64 {
        self.loss[curve].at(iteration as f64).first().copied().unwrap_or(f64::NAN)
    }

    /// How far even iterations raise the average loss above that of the odd ones before them, the
    /// most over the odd iterations `points`; 0 where none does.
    fn rise(&self, curve: usize, points: &[u64]) -> f64 {
        let rises =
            points.iter().map(|t| self.loss_at(curve, 2 * t) - self.loss_at(curve, 2 * t - 1));
        rises.fold(0.0, f64::max)
    }

    fn measure(
        &mut self,
        problem: &Problem<'_>,
        among: Among,
        gammas: &[f64],
        (t, best): (u64, f64),
    ) -> Result<(), Error> {
        let common = "rho=0.5 start=0.1 release=minimiser";
        for (k, gamma) in std::iter::once(None).chain(gammas.iter().map(Some)).enumerate() {
            // Of 2t − 1 iterations of R-ADMM t are odd.
            let last = gamma.map_or(vec![t], |_| vec![2 * t - 1, 2 * t]);
            for iterations in last {
                let method = match gamma {
                    None => {
                        method("ADMM", "admm-network", format!("iterations={iterations} {common}"))
                    }
                    Some(gamma) => method(
                        "R-ADMM",
                        "r-admm",
                        format!("iterations={iterations} {common} proximal={gamma}"),
                    ),
                };
                let nodes = problem.nodes(&method, Price::Free, among, 1)?;
                self.loss[k].add(iterations as f64, nodes.average_loss(problem)?);
                self.apart[k].add(iterations as f64, nodes.consensus_error());
                if gamma.is_none() || iterations % 2 == 1 {
                    self.gap[k].add(t as f64, problem.objective(&nodes.mean)? - best);
                }
            }
        }
        Ok(())
    }

    fn draw(self, parties: u32, report: &mut Report) {
        let without = "Without noise: NOT PRIVATE. All nodes begin at random, within 0.1 of zero.";
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
                _ => "R-ADMM at odd iterations and at the even ones after them.",
            };
            let (file, title) =
                (format!("{name}-{parties}"), format!("RA18: {what}, {parties} parties"));
            let figure = Figure::new(&file, &title, Axis::linear(x), y).with(series);
            report.figures.push(figure.captioned(format!("{without} {caption}")));
        }
    }
}

fn listed(numbers: &[f64]) -> String {
    let texts: Vec<String> = numbers.iter().map(|number| format!("{number:.4}")).collect();
    texts.join(", ")
}

/// For which γ Theorem III.1 promises that R-ADMM converges at η = 0.5.
fn conditions(networks: &[Among], gammas: &[f64]) -> Result<String, Error> {
    let mut said = Vec::new();
    for Among { parties, topology } in networks {
        let graph = Topology::parse(topology.unwrap_or("complete"), *parties, 1);
        let graph = graph.map_err(Error::account)?;
        for &gamma in gammas {
            // Logistic loss on rows of norm 1, and the ridge.
            let smoothness = 0.25 + 1e-3;
            let theorem = bounds::ra18::Setting { graph: &graph, eta: 0.5, gamma, smoothness };
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

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let rows = context.rows(usize::MAX, 600);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = Problem::new(&table, "logistic", PENALTY);
        let best = problem.objective(&problem.exact()?)?;
        let points: &[u64] = context.pick(&[1, 2, 5, 10, 25, 50], &[1, 5, 10]);
        let gammas: &[f64] = context.pick(&[0.1, 0.5, 2.0], &[0.1, 2.0]);
        for among in networks(context) {
            let mut curves = Curves::new(gammas);
            for &t in points {
                context.say(&format!("{} parties, {t} iterations", among.parties))?;
                curves.measure(&problem, *among, gammas, (t, best))?;
            }
            let parties = among.parties;
            let mut claim = |k: usize, holds: bool, numbers: String| {
                let text = format!("{}, {parties} parties", self.claims()[k]);
                let mut claim = Claim::fact(&text, holds, numbers);
                claim.version = Version::WithoutNoise;
                report.claims.push(claim);
            };
            let last = points[points.len() - 1];
            let (admm, ours) = (curves.gap[0].at(last as f64)[0], curves.gap[1].at(last as f64)[0]);
            let numbers = format!("gap {ours:.2e} against {admm:.2e} after {last} odd iterations");
            claim(0, ours <= 1.1 * admm, numbers);
            let each =
                |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (1..=gammas.len()).map(of).collect() };
            let rises = each(&|k| curves.rise(k, points));
            let falls = rises.windows(2).all(|pair| pair[1] < pair[0]);
            let numbers = format!(
                "by {} at most for γ = {gammas:?}, in {} pairs of iterations",
                listed(&rises),
                points.len()
            );
            claim(1, falls, numbers);
            let ends = each(&|k| curves.loss_at(k, 2 * last - 1));
            let slower = ends.windows(2).all(|pair| pair[1] > pair[0]);
            let numbers = format!("{} after {last} odd iterations", listed(&ends));
            claim(2, slower, numbers);
            curves.draw(parties, &mut report);
        }
        report.notes.push(NOTE.to_owned());
        report.notes.push(conditions(networks(context), gammas)?);
        Ok(report)
    }
}

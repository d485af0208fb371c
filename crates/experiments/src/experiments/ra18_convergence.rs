//! RA18, figures 1 and 3: R-ADMM without noise beside ADMM, and with noise and penalties that grow.

use reticent::runtime::Topology;
use reticent_plot::Axis;

use crate::bounds;
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::train::{Among, Price, Problem, method};

/// Figure 1.
#[derive(Debug)]
pub(super) struct Ra18Fig1;

/// Figure 3.
#[derive(Debug)]
pub(super) struct Ra18Fig3;

pub(super) const PENALTY: &str = "l2:1e-3";

/// The parties: 5, and 20 where there is time.
pub(super) fn networks(context: &Context<'_>) -> &'static [Among] {
    const ALL: &[Among] = &[
        Among { parties: 5, topology: Some("erdos-renyi:0.6") },
        Among { parties: 20, topology: Some("erdos-renyi:0.3") },
    ];
    if context.quick { &ALL[..1] } else { ALL }
}

/// What is to be known of all of RA18's figures.
pub(super) const NOTE: &str = "Adult as a9a has it, 123 columns; the paper has 45,223 rows of 105. The graph of the parties is random and connected.";

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
        &["After as many odd iterations, R-ADMM is within a tenth of the gap of ADMM"]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let rows = context.rows(usize::MAX, 600);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = Problem::new(&table, "logistic", PENALTY);
        let best = problem.objective(&problem.exact()?)?;
        let points: &[u64] = context.pick(&[1, 2, 5, 10, 25, 50], &[1, 5, 10]);
        let gammas: &[f64] = context.pick(&[0.1, 0.5, 2.0], &[0.5]);
        for among in networks(context) {
            let mut series = vec![Series::new("ADMM")];
            series.extend(gammas.iter().map(|gamma| Series::new(format!("R-ADMM, γ = {gamma}"))));
            for &t in points {
                context.say(&format!("{} parties, {t} iterations", among.parties))?;
                let plain = method("ADMM", "admm-network", format!("iterations={t} rho=0.5"));
                let x = problem.simulate(&plain, Price::Free, *among, 1)?;
                series[0].add(t as f64, problem.objective(&x)? - best);
                for (k, gamma) in gammas.iter().enumerate() {
                    // 2t − 1 iterations, of which t are odd.
                    let settings = format!(
                        "iterations={} rho=0.5 proximal={gamma} release=minimiser",
                        2 * t - 1
                    );
                    let recycled = method("R-ADMM", "r-admm", settings);
                    let x = problem.simulate(&recycled, Price::Free, *among, 1)?;
                    series[k + 1].add(t as f64, problem.objective(&x)? - best);
                }
            }
            let last = points[points.len() - 1] as f64;
            let (admm, ours) = (series[0].at(last)[0], series[1].at(last)[0]);
            let text = format!("{}, {} parties", self.claims()[0], among.parties);
            let numbers = format!("gap {ours:.2e} against {admm:.2e} after {last} odd iterations");
            let mut claim = Claim::fact(&text, ours <= 1.1 * admm, numbers);
            claim.version = Version::WithoutNoise;
            report.claims.push(claim);
            let (x, y) = (Axis::linear("odd iterations"), Axis::log("objective gap"));
            let file = format!("convergence-{}", among.parties);
            let title = format!("RA18: convergence, {} parties", among.parties);
            report.figures.push(Figure::new(&file, &title, x, y).with(series).captioned(
                "Without noise: NOT PRIVATE. R-ADMM at its odd iterations, of which each is a step on the data.",
            ));
        }
        report.notes.push(NOTE.to_owned());
        report.notes.push(conditions(networks(context), gammas)?);
        Ok(report)
    }
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

impl Experiment for Ra18Fig3 {
    fn id(&self) -> &'static str {
        "ra18-fig3"
    }

    fn paper(&self) -> &'static str {
        "RA18"
    }

    fn about(&self) -> &'static str {
        "R-ADMM with growing penalties, η = 1.01ᵗ and γ = 0.2 × 1.01ᵗ"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::AdultIndicators]
    }

    fn claims(&self) -> &'static [&'static str] {
        &["Growing penalties lower the average loss"]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let rows = context.rows(usize::MAX, 600);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = Problem::new(&table, "logistic", PENALTY);
        let epsilons: &[f64] = context.pick(&[0.5, 1.0, 2.0, 5.0], &[1.0, 5.0]);
        let rounds = context.pick(50, 10);
        let methods = [
            method("R-ADMM", "r-admm", format!("iterations={rounds} rho=1 proximal=0.2")),
            method(
                "growing",
                "mr-admm",
                format!("iterations={rounds} rho=1 proximal=0.2 growth=1.01"),
            ),
        ];
        for among in networks(context) {
            let mut series: Vec<Series> =
                methods.iter().map(|method| Series::new(method.name)).collect();
            for seed in context.seeds(10, 2) {
                for &epsilon in epsilons {
                    for (k, method) in methods.iter().enumerate() {
                        context.say(&format!("seed {seed}, ε = {epsilon}, {}", method.name))?;
                        let price = Price::Budget(epsilon, 1e-5);
                        let x = problem.simulate(method, price, *among, seed)?;
                        series[k].add(epsilon, problem.loss_at(&x)?);
                    }
                }
            }
            let text = format!("{}, {} parties", self.claims()[0], among.parties);
            let (grown, plain) = (series[1].by_seed(), series[0].by_seed());
            report.claims.push(Claim::less(&text, Version::Certified, &grown, &plain));
            let (x, y) = (Axis::log("ε at δ = 1e-5"), Axis::linear("average loss"));
            let file = format!("loss-{}", among.parties);
            let title = format!("RA18: growing penalties, {} parties", among.parties);
            let caption = format!(
                "{rounds} iterations at equal certified ε; mean and standard error over seeds."
            );
            report.figures.push(Figure::new(&file, &title, x, y).with(series).captioned(caption));
        }
        report.notes.push(NOTE.to_owned());
        Ok(report)
    }
}

//! LS22, table 1: how fast the objective gap falls with the number of steps, without noise and with
//! it.

use reticent_plot::Axis;

use crate::bounds::{self, TheoremBound, beside};
use crate::claim::Version;
use crate::data::{DataSet, simulated};
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::train::{Price, TrainMethod, TrainProblem, method};

#[derive(Debug)]
pub(super) struct Ls22Rates;

/// ε and δ with noise.
const BUDGET: (f64, f64) = (1.0, 1e-5);

/// The ridge of the strongly convex case.
const RIDGE: f64 = 0.1;

/// The methods after so many steps; batches of a tenth.
fn methods(steps: u64) -> [TrainMethod; 3] {
    let inner = 10;
    [
        method(
            "SADMM, general",
            "sadmm",
            format!("iterations={steps} sampling=poisson:0.1 step=sqrt:1 average=uniform"),
        ),
        method("SADMM, strong", "sadmm", format!("iterations={steps} sampling=poisson:0.1")),
        method(
            "VRADMM, general",
            "vradmm",
            format!("outer={} inner={inner} sampling=poisson:0.1", (steps / inner).max(1)),
        ),
    ]
}

impl Experiment for Ls22Rates {
    fn id(&self) -> &'static str {
        "ls22-tab1"
    }

    fn paper(&self) -> &'static str {
        "LS22"
    }

    fn about(&self) -> &'static str {
        "how fast the gap of SADMM and VRADMM falls with the number of steps"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        // Table 1 has complexities and utility bounds. An upper bound is not refuted by a slope.
        &[]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let steps: &[u64] = context.pick(&[20, 40, 80, 160, 320, 640], &[20, 80]);
        let table = simulated::indicators(context.pick(5_000, 400), 30, 5);
        let l1 = TrainProblem::new(&table, "logistic", "l1:1e-3");
        let l2 = TrainProblem::new(&table, "logistic", format!("l2:{RIDGE}"));
        let problems = [&l1, &l2, &l1];
        let mut gaps = [Vec::new(), Vec::new()];
        for series in &mut gaps {
            *series = methods(1).iter().map(|method| Series::new(method.name)).collect();
        }
        for (k, problem) in problems.into_iter().enumerate() {
            let best = problem.objective(&problem.exact()?)?;
            for seed in context.seeds(5, 2) {
                for &t in steps {
                    let method = &methods(t)[k];
                    context.say(&format!("seed {seed}, {t} steps, {}", method.name))?;
                    let prices = [Price::Free, Price::Budget(BUDGET.0, BUDGET.1)];
                    for (series, price) in gaps.iter_mut().zip(prices) {
                        let x = problem.fit(method, price, seed)?;
                        // Below is where the exact solver stops.
                        series[k].add(t as f64, (problem.objective(&x)? - best).max(1e-9));
                    }
                }
            }
        }
        let mut report = ExperimentReport::default();
        draw(&mut report, gaps, &theorems((table.len(), table.columns), steps));
        report.notes.push(
            "Simulated logistic regression: l1:1e-3 in the general case, l2:0.1 in the strongly convex one. The theorems have no T \
             in them but their own choice of it. With a fixed \
             budget more steps have more noise each, and no theorem says that the gap goes on falling."
                .to_owned(),
        );
        Ok(report)
    }
}

/// Theorems 3, 5 and 6 at the budget of this experiment, whatever the number of steps.
fn theorems((rows, features): (usize, usize), steps: &[u64]) -> [TheoremBound; 2] {
    let (epsilon, delta) = BUDGET;
    let theory = bounds::ls22::Ls22Setting { features, rows, slope: 1.0, smoothing: 0.0, delta };
    let level = |bound: f64| steps.iter().map(|&t| (t as f64, bound)).collect();
    [
        TheoremBound::open("Theorems 3 and 5", level(theory.general(epsilon))),
        TheoremBound::open("Theorem 6", level(theory.strong(epsilon, RIDGE))),
    ]
}

fn draw(
    report: &mut ExperimentReport,
    [free, private]: [Vec<Series>; 2],
    theorems: &[TheoremBound],
) {
    let figure = |file: &str, series: Vec<Series>| {
        let (x, y) = (Axis::log("steps"), Axis::log("objective gap"));
        Figure::new(file, "LS22: how fast the gap falls", x, y).with(series)
    };
    report.figures.push(figure("free", free).of(Version::WithoutNoise));
    let private = beside(figure("private", private), theorems, &mut report.notes);
    report.figures.push(private.captioned("At ε = 1, δ = 1e-5, whatever T is."));
}

//! LS22, table 1: how fast the objective gap falls with the number of steps, without noise and with
//! it.

use reticent_plot::Axis;

use crate::bounds::{self, Bound, beside};
use crate::claim::{Claim, Version};
use crate::data::{DataSet, simulated};
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::statistics::slope;
use crate::train::{Method, Price, Problem, method};

#[derive(Debug)]
pub(super) struct Ls22Rates;

/// ε and δ with noise.
const BUDGET: (f64, f64) = (1.0, 1e-5);

/// The ridge of the strongly convex case.
const RIDGE: f64 = 0.1;

/// The rate of each theorem, as a power of T.
const RATES: [f64; 3] = [-0.5, -1.0, -1.0];

/// The methods after so many steps; batches of a tenth.
fn methods(steps: u64) -> [Method; 3] {
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
        &[
            "The gap of SADMM in the general convex case falls at least as T^(−1/2)",
            "The gap of SADMM in the strongly convex case falls at least as T^(−1)",
            "The gap of VRADMM in the general convex case falls at least as T^(−1)",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let steps: &[u64] = context.pick(&[20, 40, 80, 160, 320, 640], &[20, 80]);
        let table = simulated::indicators(context.pick(5_000, 400), 30, 5);
        let l1 = Problem::new(&table, "logistic", "l1:1e-3");
        let l2 = Problem::new(&table, "logistic", format!("l2:{RIDGE}"));
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
        let mut report = Report::default();
        let versions = [Version::WithoutNoise, Version::Certified];
        for (series, version) in gaps.iter().zip(versions) {
            for (k, claim) in self.claims().iter().enumerate() {
                let slopes = slopes(&series[k]);
                let rate = vec![RATES[k]; slopes.len()];
                report.claims.push(Claim::less(claim, version, &slopes, &rate));
            }
        }
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
fn theorems((rows, features): (usize, usize), steps: &[u64]) -> [Bound; 2] {
    let (epsilon, delta) = BUDGET;
    let theory = bounds::ls22::Setting { features, rows, slope: 1.0, smoothing: 0.0, delta };
    let level = |bound: f64| steps.iter().map(|&t| (t as f64, bound)).collect();
    [
        Bound::open("Theorems 3 and 5", level(theory.general(epsilon))),
        Bound::open("Theorem 6", level(theory.strong(epsilon, RIDGE))),
    ]
}

fn draw(report: &mut Report, [free, private]: [Vec<Series>; 2], theorems: &[Bound]) {
    let figure = |file: &str, series: Vec<Series>| {
        let (x, y) = (Axis::log("steps"), Axis::log("objective gap"));
        Figure::new(file, "LS22: how fast the gap falls", x, y).with(series)
    };
    report.figures.push(figure("free", free).captioned("Without noise: NOT PRIVATE."));
    let private = beside(figure("private", private), theorems, &mut report.notes);
    report.figures.push(private.captioned("At ε = 1, δ = 1e-5, whatever T is."));
}

/// The power of T with which the gap falls, for each seed.
fn slopes(series: &Series) -> Vec<f64> {
    let seeds = series.points.first().map_or(0, |(_, values)| values.len());
    let of = |seed: usize| {
        let logs: Vec<_> =
            series.points.iter().map(|(t, values)| (t.ln(), values[seed].ln())).collect();
        slope(&logs)
    };
    (0..seeds).map(of).collect()
}

//! DPA19: what 100 iterations cost in all, by the paper's moments accountant and exactly.
//!
//! An iteration is given (ε, δ) by noise of σ = 2S₁√(2 ln(1.25/δ))/(mε(ρ + 1/η)), which is `z =
//! 2√(2 ln(1.25/δ))/ε` clips on the sum (Theorem 1; Theorem 2 prints it without ε, erratum E10).

use reticent::accountant::{Gaussian, Method, Unit, View};
use reticent_plot::Axis;

use super::accounting::{by, repeated};
use crate::claim::Claim;
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};

#[derive(Debug)]
pub(super) struct AcctDpa19;

/// The δ of an iteration and of the sum.
const DELTA: f64 = 1e-3;

/// ε of an iteration, what the paper has in all, and what it is exactly.
const CASES: [(f64, f64, f64); 2] = [(0.05, 0.5009, 0.2772), (0.1, 1.0193, 0.6339)];

/// The noise, in clips, that DPA19's Theorem 1 has for an iteration of (ε, δ).
pub(super) fn noise_of_iteration(epsilon: f64, delta: f64) -> f64 {
    2.0 * (2.0 * (1.25 / delta).ln()).sqrt() / epsilon
}

/// ε̄: what the paper's moments accountant has for so many iterations of (ε, δ), to four digits as in
/// the paper.
pub(super) fn moments(epsilon: f64, delta: f64, iterations: u64) -> Result<f64, ExperimentError> {
    Ok((total((epsilon, delta), iterations, Method::Moments)? * 1e4).round() / 1e4)
}

/// The total of so many iterations by a method.
fn total(
    (epsilon, delta): (f64, f64),
    iterations: u64,
    method: Method,
) -> Result<f64, ExperimentError> {
    let step =
        Gaussian::new(noise_of_iteration(epsilon, delta)).map_err(ExperimentError::account)?;
    let ledger = repeated(step, iterations, (Unit::Record, View::Local))?;
    let bound = by(method, &ledger, delta)?;
    bound.map(|(_, upper)| upper).ok_or_else(|| ExperimentError::account("no such method"))
}

impl Experiment for AcctDpa19 {
    fn id(&self) -> &'static str {
        "acct-dpa19"
    }

    fn paper(&self) -> &'static str {
        "DPA19"
    }

    fn about(&self) -> &'static str {
        "the total privacy loss of 100 iterations, by the moments accountant and exactly"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "The moments accountant gives what the paper has",
            "The total that can be certified is what was computed for erratum E10",
        ]
    }

    fn run(&self, _: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let mut report = ExperimentReport::default();
        for (epsilon, paper, exact) in CASES {
            let moments = moments(epsilon, DELTA, 100)?;
            let ours = total((epsilon, DELTA), 100, Method::Exact)?;
            let text = |claim: &str| format!("{claim}, at ε = {epsilon} an iteration");
            report.claims.push(Claim::fact(
                &text(self.claims()[0]),
                (moments - paper).abs() < 5e-4,
                format!("{moments:.4}; the paper has {paper}"),
            ));
            report.claims.push(Claim::fact(
                &text(self.claims()[1]),
                (ours - exact).abs() < 5e-4,
                format!("{ours:.4}; docs/errata.md has {exact}"),
            ));
        }
        let mut series = Vec::new();
        for (method, name) in [(Method::Moments, "moments (DPA19)"), (Method::Exact, "exact")] {
            let at = |t: u64| Ok((t as f64, total((CASES[0].0, DELTA), t, method)?));
            let points: Result<Vec<_>, ExperimentError> = (1..=10).map(|k| at(10 * k)).collect();
            series.push(Series::exact(name, points?));
        }
        let (x, y) = (Axis::linear("iterations"), Axis::linear("total ε at δ = 0.001").from_zero());
        let figure = Figure::new("total", "What DPA19's iterations cost in all", x, y);
        let caption =
            "ε = 0.05 an iteration. Both hold; the paper's accountant promises less than it could.";
        report.figures.push(figure.with(series).captioned(caption));
        Ok(report)
    }
}

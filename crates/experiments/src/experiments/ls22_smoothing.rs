//! LS22, figure 1: VRADMM with Laplacian smoothing ν = 0, 2, 3: objective gap and accuracy against
//! ε.

use reticent_plot::Axis;

use super::ls22::{COVTYPE, Case, DELTA, Kind, NOTE, W8A, axis};
use crate::bounds::{Bound, beside};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::table::Table;
use crate::train::{Price, Problem, method};

#[derive(Debug)]
pub(super) struct Ls22Smoothing;

const SMOOTHING: [f64; 3] = [0.0, 2.0, 3.0];

/// Theorem 3 on half of the rows.
fn bound(case: &Case, table: &Table, nu: f64, epsilons: &[f64]) -> Bound {
    let half = (table.len() / 2, table.columns);
    let theorem = format!("Theorem 3, ν = {nu}");
    Bound { theorem, ..Kind::General.bound(case, half, nu, epsilons) }
}

impl Experiment for Ls22Smoothing {
    fn id(&self) -> &'static str {
        "ls22-fig1"
    }

    fn paper(&self) -> &'static str {
        "LS22"
    }

    fn about(&self) -> &'static str {
        "VRADMM with Laplacian smoothing ν = 0, 2, 3: objective gap and accuracy against ε"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::Covtype, DataSet::W8a]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "Smoothing ν = 2 has a smaller gap than ν = 0",
            "Smoothing ν = 3 has a smaller gap than ν = 0",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        for case in Case::of(context, &[COVTYPE, W8A]) {
            self.on(case, context, &mut report)?;
        }
        report.notes.extend([NOTE, Kind::General.conditions()].map(str::to_owned));
        Ok(report)
    }
}

impl Ls22Smoothing {
    fn on(&self, case: &Case, context: &mut Context<'_>, report: &mut Report) -> Result<(), Error> {
        let epsilons: &[f64] = context.pick(&[0.05, 0.1, 0.2, 0.4, 0.8, 1.0], &[0.2, 1.0]);
        let table = case.load(context, report)?;
        let name = case.data.name();
        let curves = || -> Vec<Series> {
            let name = |nu: &f64| format!("ν = {nu}");
            SMOOTHING.iter().map(|nu| Series::new(name(nu))).collect()
        };
        // Certified, and as published.
        let mut gaps = [curves(), curves()];
        let mut accuracy = curves();
        for seed in context.seeds(5, 2) {
            let (train, test) = table.split(0.5, seed);
            let problem = Kind::General.problem(case, &train, &test)?;
            let best = problem.objective(&problem.exact()?)?;
            for &epsilon in epsilons {
                for (k, nu) in SMOOTHING.into_iter().enumerate() {
                    context.say(&format!("{name}, seed {seed}, ε = {epsilon}, ν = {nu}"))?;
                    let x = self.train(&problem, case, (nu, false), epsilon, seed)?;
                    gaps[0][k].add(epsilon, problem.objective(&x)? - best);
                    accuracy[k].add(epsilon, test.accuracy(&x));
                    let x = self.train(&problem, case, (nu, true), epsilon, seed)?;
                    gaps[1][k].add(epsilon, problem.objective(&x)? - best);
                }
            }
        }
        for (gaps, version) in gaps.iter().zip([Version::Certified, Version::AsPublished]) {
            for k in [1, 2] {
                let text = format!("{}, on {name}", self.claims()[k - 1]);
                report.claims.push(Claim::lower(&text, version, &gaps[k], &gaps[0]));
            }
        }
        let bounds: Vec<Bound> =
            SMOOTHING.iter().map(|nu| bound(case, &table, *nu, epsilons)).collect();
        let [certified, published] = gaps;
        for (file, series, words) in [
            ("gap", certified, "Certified."),
            (
                "gap-published",
                published,
                "As published: the snapshots have no noise (E5). NOT PRIVATE.",
            ),
        ] {
            let title = format!("LS22: objective gap by smoothing, {name}");
            let figure =
                Figure::new(&format!("{file}-{name}"), &title, axis(), Axis::log("objective gap"));
            let words = format!("{words} Mean and standard error over seeds.");
            let figure = beside(figure.with(series), &bounds, &mut report.notes);
            report.figures.push(figure.captioned(words));
        }
        let title = format!("LS22: accuracy by smoothing, {name}");
        let figure =
            Figure::new(&format!("accuracy-{name}"), &title, axis(), Axis::linear("accuracy"));
        report
            .figures
            .push(figure.with(accuracy).captioned("Certified; half of the rows to test on."));
        Ok(())
    }

    fn train(
        &self,
        problem: &Problem<'_>,
        case: &Case,
        (nu, published): (f64, bool),
        epsilon: f64,
        seed: u64,
    ) -> Result<Vec<f64>, Error> {
        let as_published = if published { " as_published" } else { "" };
        let settings = format!("{} smoothing={nu}{as_published}", case.loops(problem.train.len()));
        let method = method("VRADMM", "vradmm", settings);
        problem.fit(&method, Price::Budget(epsilon, DELTA), seed)
    }
}

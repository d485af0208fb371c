//! DPA19, figures 2 and 6: accuracy against the total ε̄ of DP-ADMM for four δ, beside Algorithm 1,
//! and for L2 beside Algorithm 2.

use reticent_plot::Axis;

use super::acct_dpa19::moments;
use super::dpa19::{CHANGES, ProviderData, deltas, dp_admm, epsilons, exact_steps, notes, price};
use crate::claim::{Claim, Class, Reason, Version};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::train::{Price, TrainMethod};

#[derive(Debug)]
pub(super) struct Dpa19Accuracy {
    pub id: &'static str,
    pub about: &'static str,
    pub penalty: &'static str,
}

/// Within so much of the accuracy without noise is close.
const CLOSE: f64 = 0.01;

/// The ε of an iteration that comes to ε̄ of about 0.5 in all.
const ABOUT_HALF: f64 = 0.05;

/// A method at a δ, with how many times the noise it has.
struct MethodLine {
    name: String,
    method: TrainMethod,
    delta: f64,
    times: f64,
}

impl Dpa19Accuracy {
    fn smooth(&self) -> bool {
        self.penalty == "l2"
    }

    /// DP-ADMM at every δ; for L2 then Algorithm 2 at the first, corrected and as printed.
    fn lines(&self, setting: &ProviderData, deltas: &[f64]) -> Vec<MethodLine> {
        let t = setting.rounds;
        let line = |name: String, method, delta, times| MethodLine { name, method, delta, times };
        let mut all: Vec<MethodLine> = deltas
            .iter()
            .map(|&d| line(format!("DP-ADMM, δ = {d:e}"), dp_admm(t), d, 1.0))
            .collect();
        if self.smooth() {
            let d = deltas[0];
            all.push(line(format!("Algorithm 2, δ = {d:e}"), exact_steps(t), d, 1.0));
            let name = "Algorithm 2 as printed".to_owned();
            all.push(line(name, exact_steps(t), d, setting.printed()));
        }
        all
    }
}

impl Experiment for Dpa19Accuracy {
    fn id(&self) -> &'static str {
        self.id
    }

    fn paper(&self) -> &'static str {
        "DPA19"
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::Adult]
    }

    fn claims(&self) -> &'static [&'static str] {
        if self.smooth() {
            &[
                "DP-ADMM at ε̄ ≈ 0.5, δ = 1e-6 is within 0.01 of the accuracy of Algorithm 1",
                "DP-ADMM is more accurate at a larger δ",
                "DP-ADMM is more accurate than Algorithm 2",
            ]
        } else {
            &[
                "DP-ADMM at ε̄ ≈ 0.5, δ = 1e-6 is within 0.01 of the accuracy of Algorithm 1",
                "DP-ADMM is more accurate at a larger δ",
            ]
        }
    }

    fn changes(&self) -> &'static str {
        CHANGES
    }

    fn reasons(&self) -> &'static [Reason] {
        &[Reason {
            of: &["Algorithm 2"],
            version: Some(Version::Certified),
            class: Class::Paper,
            why: "With the sensitivity of its own objective (E15) Algorithm 2 has 1/589 of the printed noise.",
        }]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let mut report = ExperimentReport::default();
        let setting = ProviderData::load(context, &mut report)?;
        let problem = setting.problem(self.penalty);
        let (epsilons, deltas) = (epsilons(context), deltas(context));
        let lines = self.lines(&setting, deltas);
        let plain =
            problem.simulate(&exact_steps(setting.rounds), Price::Free, setting.among(), 1)?;
        let plain = setting.test.accuracy(&plain);
        let mut cells: Vec<(usize, f64, u64)> = Vec::new();
        for seed in context.seeds(10, 2) {
            let of = |&e: &f64| (0..lines.len()).map(move |k| (k, e, seed));
            cells.extend(epsilons.iter().flat_map(of));
        }
        let named =
            |&(k, e, seed): &(usize, f64, u64)| format!("seed {seed}, ε = {e}, {}", lines[k].name);
        let found = context.each(&cells, named, |&(k, epsilon, seed)| {
            let MethodLine { method, delta, times, .. } = &lines[k];
            let price = price(epsilon, *delta, *times);
            let x = problem.simulate(method, price, setting.among(), seed)?;
            Ok(setting.test.accuracy(&x))
        })?;
        let mut series: Vec<Series> = lines.iter().map(|l| Series::new(l.name.clone())).collect();
        for (&(k, epsilon, _), right) in cells.iter().zip(found) {
            series[k].add(moments(epsilon, lines[k].delta, setting.rounds)?, right);
        }
        self.check(&mut report, (&setting, deltas), &series, plain)?;
        let (x, y) = (Axis::log("ε̄ in all, by the paper's accountant"), Axis::linear("accuracy"));
        let title = format!("DPA19: accuracy, {}", self.penalty);
        let compared: Vec<&str> =
            lines.iter().filter(|line| line.times == 1.0).map(|line| line.name.as_str()).collect();
        let figure = Figure::new("accuracy", &title, x, y).with(series);
        report.figures.push(
            figure
                .with_rule(plain, "Algorithm 1")
                .with_rule(setting.test.majority(), "the larger class alone")
                .captioned(match self.smooth() {
                    false => "On the rows to test on.",
                    true => {
                        "On the rows to test on. Algorithm 2 as printed is private, with far more noise than it needs (E15)."
                    }
                })
                .focused(&compared),
        );
        notes(&mut report, &setting);
        Ok(report)
    }
}

impl Dpa19Accuracy {
    fn check(
        &self,
        report: &mut ExperimentReport,
        (setting, deltas): (&ProviderData, &[f64]),
        series: &[Series],
        plain: f64,
    ) -> Result<(), ExperimentError> {
        let smallest = deltas.len() - 1;
        let at = |k: usize| -> Result<&[f64], ExperimentError> {
            Ok(series[k].at(moments(ABOUT_HALF, deltas[k], setting.rounds)?))
        };
        let half = at(smallest)?;
        let near = vec![plain - CLOSE; half.len()];
        let ours = Version::Certified;
        report.claims.push(Claim::more(self.claims()[0], ours, half, &near));
        let text = format!("{} (ε = {ABOUT_HALF} an iteration)", self.claims()[1]);
        report.claims.push(Claim::more(&text, ours, at(0)?, half));
        if self.smooth() {
            let first = deltas.len();
            for (other, version) in [(first, ours), (first + 1, Version::Printed)] {
                let claim = Claim::higher(self.claims()[2], version, &series[0], &series[other]);
                report.claims.push(claim);
            }
        }
        Ok(())
    }
}

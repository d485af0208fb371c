//! DPA19, figures 2 and 6: accuracy against ε an iteration of DP-ADMM, beside the algorithm without
//! noise, and for L2 beside Algorithm 2.

use reticent_plot::Axis;

use super::dpa19::{Setting, dp_admm, exact_steps, notes, price};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::train::{Method, Price};

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

impl Dpa19Accuracy {
    fn smooth(&self) -> bool {
        self.penalty == "l2"
    }

    /// Each with its δ and how many times the noise it has.
    fn curves(&self, setting: &Setting) -> Vec<(&'static str, Method, f64, f64)> {
        let t = setting.rounds;
        let mut all = vec![
            ("DP-ADMM, δ = 1e-3", dp_admm(t), 1e-3, 1.0),
            ("DP-ADMM, δ = 1e-6", dp_admm(t), 1e-6, 1.0),
        ];
        if self.smooth() {
            all.push(("Algorithm 2, δ = 1e-3", exact_steps(t), 1e-3, 1.0));
            all.push(("Algorithm 2 as printed", exact_steps(t), 1e-3, setting.printed()));
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
                "DP-ADMM at ε̄ ≈ 0.5, δ = 1e-6 is within 0.01 of the accuracy without noise",
                "DP-ADMM is more accurate than Algorithm 2",
            ]
        } else {
            &["DP-ADMM at ε̄ ≈ 0.5, δ = 1e-6 is within 0.01 of the accuracy without noise"]
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let setting = Setting::load(context, &mut report)?;
        let problem = setting.problem(self.penalty);
        let epsilons: &[f64] = context.pick(&[0.01, 0.02, 0.05, 0.1, 0.2], &[ABOUT_HALF, 0.2]);
        let curves = self.curves(&setting);
        let mut series: Vec<Series> = curves.iter().map(|curve| Series::new(curve.0)).collect();
        let plain = problem.simulate(&dp_admm(setting.rounds), Price::Free, setting.among(), 1)?;
        let plain = setting.test.accuracy(&plain);
        for seed in context.seeds(10, 2) {
            for &epsilon in epsilons {
                for (k, (name, method, delta, times)) in curves.iter().enumerate() {
                    context.say(&format!("seed {seed}, ε = {epsilon}, {name}"))?;
                    let price = price(epsilon, *delta, *times);
                    let x = problem.simulate(method, price, setting.among(), seed)?;
                    series[k].add(epsilon, setting.test.accuracy(&x));
                }
            }
        }
        let at_half = series[1].at(ABOUT_HALF);
        let near = vec![plain - CLOSE; at_half.len()];
        report.claims.push(Claim::more(self.claims()[0], Version::Certified, at_half, &near));
        if self.smooth() {
            let (ours, claim) = (&series[0], self.claims()[1]);
            for (k, version) in [(2, Version::Certified), (3, Version::Printed)] {
                report.claims.push(Claim::higher(claim, version, ours, &series[k]));
            }
        }
        let mut caption = "Mean and standard error over seeds.".to_owned();
        if self.smooth() {
            caption.push_str(
                " Algorithm 2 as printed has the sensitivity of a λ/N-strongly convex objective and is private with far \
                 more noise than it needs (E15).",
            );
        }
        let (x, y) = (Axis::log("ε of an iteration"), Axis::linear("accuracy"));
        let title = format!("DPA19: accuracy, {}", self.penalty);
        report.figures.push(
            Figure::new("accuracy", &title, x, y)
                .with(series)
                .with_rule(plain, "without noise")
                .with_rule(setting.test.majority(), "the larger class alone")
                .captioned(caption),
        );
        notes(&mut report, &setting);
        Ok(report)
    }
}

//! DPA19, figures 1 and 3: the objective of DP-ADMM over iterations for several ε an iteration,
//! beside the algorithm without noise.

use reticent_plot::Axis;

use super::dpa19::{Setting, dp_admm, notes, price};
use crate::bounds::{Bound, beside};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::train::Price;

#[derive(Debug)]
pub(super) struct Dpa19Convergence {
    pub id: &'static str,
    pub about: &'static str,
    pub penalty: &'static str,
}

const DELTA: f64 = 1e-3;

impl Experiment for Dpa19Convergence {
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
        &[
            "A larger ε gives a lower objective at the end",
            "DP-ADMM converges: its objective is lower at the end than at the first point, at the largest ε",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let setting = Setting::load(context, &mut report)?;
        let problem = setting.problem(self.penalty);
        let epsilons: &[f64] = context.pick(&[0.02, 0.05, 0.2], &[0.05, 0.2]);
        let points: Vec<u64> = context.pick(vec![2, 5, 10, 20, 50, 100], vec![2, setting.rounds]);
        let name = |epsilon: &f64| format!("ε = {epsilon} an iteration");
        let mut series: Vec<Series> = epsilons.iter().map(|e| Series::new(name(e))).collect();
        let mut plain = Series::new("without noise");
        // The same seed and noise: a run of fewer rounds is the beginning of one of more.
        for &t in &points {
            let x = problem.simulate(&dp_admm(t), Price::Free, setting.among(), 1)?;
            plain.add(t as f64, problem.objective(&x)?);
            for seed in context.seeds(10, 2) {
                for (k, &epsilon) in epsilons.iter().enumerate() {
                    context.say(&format!("{t} rounds, seed {seed}, ε = {epsilon}"))?;
                    let price = price(epsilon, DELTA, 1.0);
                    let x = problem.simulate(&dp_admm(t), price, setting.among(), seed)?;
                    series[k].add(t as f64, problem.objective(&x)?);
                }
            }
        }
        let (first, last) = (points[0] as f64, points[points.len() - 1] as f64);
        let most = &series[series.len() - 1];
        let claims = self.claims();
        let ours = Version::Certified;
        report.claims.push(Claim::less(claims[0], ours, most.at(last), series[0].at(last)));
        report.claims.push(Claim::less(claims[1], ours, most.at(last), most.at(first)));
        series.push(plain.quiet());
        let (x, y) = (Axis::linear("iterations"), Axis::linear("objective"));
        let title = format!("DPA19: convergence of DP-ADMM, {}", self.penalty);
        let optimum = problem.exact()?;
        let best = problem.objective(&optimum)?;
        let of = |e: &f64| setting.bound(self.penalty, (*e, DELTA), best, &points);
        let bounds: Vec<Bound> = epsilons.iter().map(of).collect();
        let figure = Figure::new("convergence", &title, x, y).with(series);
        report.figures.push(beside(figure, &bounds, &mut report.notes).captioned(
            "δ = 1e-3. Mean and standard error over seeds. Certified at the ε of acct-dpa19.",
        ));
        notes(&mut report, &setting);
        report.notes.push(setting.conditions(&optimum));
        Ok(report)
    }
}

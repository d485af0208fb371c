//! DPA19, figures 1 and 3: the augmented objective of DP-ADMM over iterations, by ε and by δ of an
//! iteration, beside Algorithm 1.

use reticent_plot::Axis;

use super::dpa19::{CHANGES, ProviderData, deltas, dp_admm, epsilons, exact_steps, notes, price};
use crate::bounds::{TheoremBound, beside};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::train::{Price, TrainProblem};

#[derive(Debug)]
pub(super) struct Dpa19Convergence {
    pub id: &'static str,
    pub about: &'static str,
    pub penalty: &'static str,
}

/// The δ at which ε is changed, and the ε at which δ is.
const DELTA: f64 = 1e-3;
const EPSILON: f64 = 0.05;

/// The curves of a figure: each with its name and its (ε, δ), and Algorithm 1 last.
type FigureCurves = Vec<(String, Option<(f64, f64)>)>;

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
            "A larger δ gives a lower objective at the end",
            "DP-ADMM converges: its objective is lower at the end than at the first point, at the largest ε",
        ]
    }

    fn changes(&self) -> &'static str {
        CHANGES
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let mut report = ExperimentReport::default();
        let setting = ProviderData::load(context, &mut report)?;
        let problem = setting.problem(self.penalty);
        let points: Vec<u64> = context.pick(vec![2, 5, 10, 20, 50, 100], vec![2, setting.rounds]);
        let plain = || ("Algorithm 1".to_owned(), None);
        let by_epsilon: FigureCurves = epsilons(context)
            .iter()
            .map(|&e| (format!("ε = {e}"), Some((e, DELTA))))
            .chain([plain()])
            .collect();
        let by_delta: FigureCurves = deltas(context)
            .iter()
            .map(|&d| (format!("δ = {d:e}"), Some((EPSILON, d))))
            .chain([plain()])
            .collect();
        let of_epsilon = measure(context, (&setting, &problem), &by_epsilon, &points)?;
        let of_delta = measure(context, (&setting, &problem), &by_delta, &points)?;
        let (first, last) = (points[0] as f64, points[points.len() - 1] as f64);
        let claims = self.claims();
        let ours = Version::Certified;
        // The smallest and the largest ε; the largest and the smallest δ. Algorithm 1 is behind.
        let (least, most) = (&of_epsilon[0], &of_epsilon[of_epsilon.len() - 2]);
        report.claims.push(Claim::less(claims[0], ours, most.at(last), least.at(last)));
        let (large, small) = (&of_delta[0], &of_delta[of_delta.len() - 2]);
        report.claims.push(Claim::less(claims[1], ours, large.at(last), small.at(last)));
        report.claims.push(Claim::less(claims[2], ours, most.at(last), most.at(first)));
        let optimum = problem.exact()?;
        let best = problem.objective(&optimum)?;
        let of = |e: &f64| setting.bound(self.penalty, (*e, DELTA), best, &points);
        let bounds: Vec<TheoremBound> = epsilons(context).iter().map(of).collect();
        let figure = |name: &str, what: &str| {
            let title = format!("DPA19: convergence of DP-ADMM by {what}, {}", self.penalty);
            let y = Axis::log("augmented objective over N");
            Figure::new(name, &title, Axis::linear("iterations"), y)
        };
        let by_epsilon = figure("convergence", "ε").with(of_epsilon);
        let by_epsilon = beside(by_epsilon, &bounds, &mut report.notes);
        report.figures.push(by_epsilon.captioned(format!("ε of an iteration, δ = {DELTA:e}.")));
        let caption = format!("δ of an iteration, ε = {EPSILON}.");
        report.figures.push(figure("by-delta", "δ").with(of_delta).captioned(caption));
        notes(&mut report, &setting);
        report.notes.push(setting.conditions(&optimum));
        Ok(report)
    }
}

/// The augmented objective of every curve after so many rounds. The same seed has the same noise: a
/// run of fewer rounds is the beginning of one of more.
fn measure(
    context: &mut Context<'_>,
    (setting, problem): (&ProviderData, &TrainProblem<'_>),
    curves: &FigureCurves,
    points: &[u64],
) -> Result<Vec<Series>, ExperimentError> {
    let mut cells = Vec::new();
    for (k, (_, budget)) in curves.iter().enumerate() {
        // No chance is in what has no noise.
        let seeds = if budget.is_some() { context.seeds(10, 2) } else { 1..=1 };
        let seeds: Vec<u64> = seeds.collect();
        cells.extend(points.iter().flat_map(|&t| seeds.iter().map(move |&seed| (k, t, seed))));
    }
    let named =
        |&(k, t, seed): &(usize, u64, u64)| format!("{t} rounds, seed {seed}, {}", curves[k].0);
    let values = context.each(&cells, named, |&(k, t, seed)| {
        let nodes = match curves[k].1 {
            Some((epsilon, delta)) => {
                let price = price(epsilon, delta, 1.0);
                setting.averages(problem, &dp_admm(t), price, seed)?
            }
            None => setting.averages(problem, &exact_steps(t), Price::Free, seed)?,
        };
        setting.augmented(problem, &nodes)
    })?;
    let quiet = |(name, budget): &(String, Option<(f64, f64)>)| match budget {
        Some(_) => Series::new(name.clone()),
        None => Series::new(name.clone()).quiet(),
    };
    let mut series: Vec<Series> = curves.iter().map(quiet).collect();
    for (&(k, t, _), value) in cells.iter().zip(values) {
        series[k].add(t as f64, value);
    }
    Ok(series)
}

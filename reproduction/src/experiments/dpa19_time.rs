//! DPA19, table 3: the time of all iterations of Algorithm 1, Algorithm 2 and DP-ADMM. The paper
//! has 6.18 s, 70 to 369 s and 3.06 s on its machine; what can be compared is the order.

use std::time::Instant;

use reticent_plot::Axis;

use super::dpa19::{ProviderData, dp_admm, exact_steps, notes, price};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::train::Price;

#[derive(Debug)]
pub(super) struct Dpa19Time;

impl Experiment for Dpa19Time {
    fn id(&self) -> &'static str {
        "dpa19-tab3"
    }

    fn paper(&self) -> &'static str {
        "DPA19"
    }

    fn about(&self) -> &'static str {
        "the time of all iterations of Algorithm 1, Algorithm 2 and DP-ADMM"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::Adult]
    }

    fn claims(&self) -> &'static [&'static str] {
        &["DP-ADMM takes less time than Algorithm 1", "DP-ADMM takes less time than Algorithm 2"]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let mut report = ExperimentReport::default();
        let setting = ProviderData::load(context, &mut report)?;
        let problem = setting.problem("l2");
        let t = setting.rounds;
        let noise = price(0.05, 1e-3, 1.0);
        let names = ["Algorithm 1", "Algorithm 2", "DP-ADMM"];
        let mut series = names.map(Series::new);
        for seed in context.seeds(5, 2) {
            for rounds in [t / 4, t / 2, t] {
                let runs = [
                    (exact_steps(rounds), Price::Free),
                    (exact_steps(rounds), noise),
                    (dp_admm(rounds), noise),
                ];
                for (k, (method, price)) in runs.iter().enumerate() {
                    context.say(&format!("seed {seed}, {rounds} rounds, {}", names[k]))?;
                    let start = Instant::now();
                    problem.simulate_anew(method, *price, setting.among(), seed)?;
                    series[k].add(rounds as f64, start.elapsed().as_secs_f64());
                }
            }
        }
        let at = |k: usize| series[k].at(t as f64);
        for (k, claim) in self.claims().iter().enumerate() {
            report.claims.push(Claim::less(claim, Version::Certified, at(2), at(k)));
        }
        let (x, y) = (Axis::linear("iterations"), Axis::linear("seconds").from_zero());
        report.figures.push(
            Figure::new("time", "DPA19: time of all iterations", x, y)
                .with(series.to_vec())
                .captioned("In one process, messages between parties included."),
        );
        notes(&mut report, &setting);
        Ok(report)
    }
}

//! RA18, section IV: the total privacy loss over iterations of R-ADMM, DVP and M-ADMM at equal
//! noise. The plans are those of real runs, counted by the accountant.

use reticent::accountant::epsilon;
use reticent_plot::Axis;

use crate::claim::Claim;
use crate::data::{DataSet, simulated};
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::train::{Among, Price, TrainProblem, method};

#[derive(Debug)]
pub(super) struct Ra18Acct;

const DELTA: f64 = 1e-5;

/// The noise of every release.
const NOISE: f64 = 50.0;

const AMONG: Among = Among { parties: 5, topology: Some("complete") };

impl Experiment for Ra18Acct {
    fn id(&self) -> &'static str {
        "ra18-acct"
    }

    fn paper(&self) -> &'static str {
        "RA18"
    }

    fn about(&self) -> &'static str {
        "the total privacy loss over iterations of R-ADMM, DVP and M-ADMM at equal noise"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "Only odd iterations of R-ADMM cost anything",
            "DVP releases twice as often as R-ADMM",
            "R-ADMM costs less than DVP, and M-ADMM less than DVP",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let table = simulated::indicators(200, 10, 3);
        let problem = TrainProblem::new(&table, "logistic", "l2:0.01");
        let names = ["r-admm", "dvp", "m-admm"];
        let titles = ["R-ADMM", "DVP", "M-ADMM"];
        let mut series = titles.map(Series::new);
        let rounds: &[u64] = context.pick(&[1, 2, 3, 4, 5, 6, 10, 20, 50, 100], &[1, 2, 3, 10, 20]);
        let mut events = [0; 2];
        for &t in rounds {
            for (k, name) in names.into_iter().enumerate() {
                let method = method(titles[k], name, format!("iterations={t}"));
                let plan = problem.plan(&method, Price::Noise(NOISE, DELTA), AMONG)?;
                let cost = epsilon(&plan, DELTA).map_err(ExperimentError::account)?.upper;
                series[k].add(t as f64, cost);
                if k < 2 {
                    events[k] = plan.total_events();
                }
            }
        }
        let at = |k: usize, t: u64| series[k].at(t as f64).first().copied().unwrap_or(f64::NAN);
        let last = rounds[rounds.len() - 1];
        let mut report = ExperimentReport::default();
        let free = at(0, 1) == at(0, 2) && at(0, 3) > at(0, 2);
        let numbers =
            format!("ε = {:.4}, {:.4}, {:.4} after 1, 2, 3", at(0, 1), at(0, 2), at(0, 3));
        report.claims.push(Claim::fact(self.claims()[0], free, numbers));
        let numbers = format!("{} and {} releases in {last} iterations", events[1], events[0]);
        report.claims.push(Claim::fact(self.claims()[1], events[1] == 2 * events[0], numbers));
        let less = at(0, last) < at(1, last) && at(2, last) < at(1, last);
        let (r, dvp, m) = (at(0, last), at(1, last), at(2, last));
        let numbers = format!("ε = {r:.3} (R), {dvp:.3} (DVP), {m:.3} (M) after {last}");
        report.claims.push(Claim::fact(self.claims()[2], less, numbers));
        let (x, y) = (Axis::linear("iterations"), Axis::linear("total ε at δ = 1e-5").from_zero());
        let caption = "Gaussian noise of 50 clips in every release. Half as many releases cost 1/√2 to 1/2 of ε: the factor \
                       of 2 is that of the Rényi divergence, and of pure ε.";
        report.figures.push(
            Figure::new("loss", "Total privacy loss over iterations", x, y)
                .with(series.to_vec())
                .captioned(caption),
        );
        Ok(report)
    }
}

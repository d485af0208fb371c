//! FP23, table 1: what an average over n users has of noise at equal ε, by whom is trusted.

use reticent::accountant::views::share_of_noise;
use reticent_plot::Axis;

use super::fp23_walk::{BUDGET, CONTRIBUTIONS, local, network};
use crate::claim::Claim;
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};

#[derive(Debug)]
pub(super) struct Fp23Tab;

/// The part of the users that is assumed honest where sums are masked.
const HONEST: f64 = 0.5;

impl Experiment for Fp23Tab {
    fn id(&self) -> &'static str {
        "fp23-tab"
    }

    fn paper(&self) -> &'static str {
        "FP23"
    }

    fn about(&self) -> &'static str {
        "noise of an average at equal ε in the central, masked, network and local views"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "Central needs less noise than masked sums, these less than a walk, and a walk less than local",
            "Local noise is √n times central noise",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let users: &[u64] = context.pick(&[10, 30, 100, 300, 1_000, 3_000, 10_000], &[10, 1_000]);
        let one = local()?;
        let names = ["central", "masked, half honest", "network (walk)", "local"];
        let mut series = names.map(Series::new);
        let (mut ordered, mut root) = (true, true);
        for &n in users {
            context.say(&format!("{n} users"))?;
            let users = n as f64;
            let share = share_of_noise(one, n, HONEST).map_err(ExperimentError::account)?;
            // The noise of one, of the shares of all, and of all, on an average of n.
            let noise =
                [one / users, share / users.sqrt(), network(n)? / users.sqrt(), one / users.sqrt()];
            ordered &= noise.windows(2).all(|pair| pair[0] <= pair[1]);
            root &= (noise[3] / noise[0] / users.sqrt() - 1.0).abs() < 1e-9;
            series.iter_mut().zip(noise).for_each(|(series, noise)| series.add(users, noise));
        }
        let at = |k: usize| series[k].points.last().map_or(0.0, |(_, values)| values[0]);
        let numbers = format!(
            "for n = {}: {:.2e}, {:.2e}, {:.2e}, {:.2e} sensitivities of one user",
            users[users.len() - 1],
            at(0),
            at(1),
            at(2),
            at(3)
        );
        let mut report = ExperimentReport::default();
        report.claims.push(Claim::fact(self.claims()[0], ordered, numbers));
        let numbers = format!("ratio {:.1}", at(3) / at(0));
        report.claims.push(Claim::fact(self.claims()[1], root, numbers));
        let (epsilon, delta) = BUDGET;
        let (x, y) = (Axis::log("users"), Axis::log("noise of the average"));
        let caption = format!(
            "Standard deviation of the noise on an average, in sensitivities of one user, for {CONTRIBUTIONS} contributions \
             of each at ε = {epsilon}, δ = {delta}."
        );
        let title = "Noise at equal ε, by whom is trusted";
        report
            .figures
            .push(Figure::new("noise", title, x, y).with(series.to_vec()).captioned(caption));
        Ok(report)
    }
}

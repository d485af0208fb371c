//! RDP20, Theorem 1: the cost of a sampled Gaussian over iterations, by its Rényi curve, by privacy
//! loss distributions, and by the moments accountant.

use reticent::accountant::{Method, Unit, View, WithoutReplacementGaussian};
use reticent_plot::Axis;

use super::accounting::{by, repeated};
use crate::claim::Claim;
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};

#[derive(Debug)]
pub(super) struct Rdp20Rdp;

const DELTA: f64 = 1e-8;

/// The simulated table's rows, and √n of them in a batch.
const ROWS: u64 = 40_000;
const BATCH: u64 = 200;

/// Noise, in clips.
const NOISE: f64 = 2.0;

const METHODS: [(Method, &str); 3] =
    [(Method::Pld, "PLD (ours)"), (Method::Rdp, "Rényi"), (Method::Moments, "moments")];

impl Experiment for Rdp20Rdp {
    fn id(&self) -> &'static str {
        "rdp20-rdp"
    }

    fn paper(&self) -> &'static str {
        "RDP20"
    }

    fn about(&self) -> &'static str {
        "the cost of sampled Gaussian noise over iterations, by three accountants"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "Privacy loss distributions promise the least ε",
            "No accountant's promise is below what another shows to be needed",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let steps: &[u64] =
            context.pick(&[100, 300, 1_000, 3_000, 10_000, 30_000], &[100, 1_000, 10_000]);
        let mut series = METHODS.map(|(_, name)| Series::new(name));
        let (mut least, mut crossed, mut worst) = (true, false, 0.0_f64);
        for &t in steps {
            context.say(&format!("{t} iterations"))?;
            let step = WithoutReplacementGaussian::new(NOISE, BATCH, ROWS);
            let ledger = repeated(
                step.map_err(ExperimentError::account)?,
                t,
                (Unit::Record, View::Central),
            )?;
            let mut bounds = Vec::new();
            for (k, (method, _)) in METHODS.iter().enumerate() {
                if let Some((lower, upper)) = by(*method, &ledger, DELTA)? {
                    series[k].add(t as f64, upper);
                    bounds.push((k, lower, upper));
                }
            }
            let needed = bounds.iter().map(|bound| bound.1).fold(0.0, f64::max);
            crossed |= bounds.iter().any(|bound| bound.2 < needed);
            let pld = bounds.iter().find(|bound| bound.0 == 0).map_or(f64::INFINITY, |b| b.2);
            least &= bounds.iter().all(|bound| pld <= bound.2);
            let others = bounds.iter().filter(|bound| bound.0 > 0).map(|bound| bound.2 / pld);
            worst = others.fold(worst, f64::max);
        }
        let claims = self.claims();
        let mut report = ExperimentReport::default();
        let numbers = format!("the others are up to {worst:.2} times as large");
        report.claims.push(Claim::fact(claims[0], least, numbers));
        let numbers = "compared at every number of iterations".to_owned();
        report.claims.push(Claim::fact(claims[1], !crossed, numbers));
        let (x, y) = (Axis::log("iterations"), Axis::log("ε at δ = 1e-8"));
        let title = "What sampled noise costs, by accountant";
        let caption =
            "Noise of 2 clips on 200 of 40,000 records, drawn without replacement; replace-one.";
        report
            .figures
            .push(Figure::new("epsilon", title, x, y).with(series.to_vec()).captioned(caption));
        Ok(report)
    }
}

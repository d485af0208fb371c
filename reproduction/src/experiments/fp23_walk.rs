//! FP23, section 5: how much less noise a walking token needs than local privacy, by the number of
//! users.

use reticent::accountant::{Gdp, Iteration, Ledger, Unit, View, rdp_curve};
use reticent_plot::Axis;

use super::accounting::{noise, repeated};
use crate::claim::{Claim, Class, Reason};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::{ExperimentReport, Figure, Series};
use crate::statistics::slope;

#[derive(Debug)]
pub(super) struct Fp23Walk;

/// The budget of a user.
pub(super) const BUDGET: (f64, f64) = (1.0, 1e-6);

/// Contributions of a user.
pub(super) const CONTRIBUTIONS: u64 = 20;

/// The noise over the sensitivity that whoever sees every message asks for.
pub(super) fn local() -> Result<f64, ExperimentError> {
    noise(BUDGET, |noise| {
        let event = Gdp::new(1.0 / noise).map_err(ExperimentError::account)?;
        repeated(event, CONTRIBUTIONS, (Unit::User, View::Local))
    })
}

/// The same against one other user of the walk.
pub(super) fn network(users: u64) -> Result<f64, ExperimentError> {
    noise(BUDGET, |noise| {
        let event = Iteration::new(1.0 / noise, users).map_err(ExperimentError::account)?;
        repeated(event, CONTRIBUTIONS, (Unit::User, View::Network))
    })
}

/// The Rényi order, and a local ratio of sensitivity to noise, of the theorem's regime: there the
/// mean over lengths is what counts, and not the shortest of them.
const REGIME: (f64, f64) = (2.0, 0.01);

/// The noise that gives the same Rényi divergence, over that of local privacy, in the regime of the
/// theorem: divergences are in proportion to 1/noise².
fn ratio_in_regime(users: u64) -> Result<f64, ExperimentError> {
    let (order, mu) = REGIME;
    let at = |ledger: &Ledger| {
        let curve = rdp_curve(ledger);
        let near = |point: &&(f64, f64)| (point.0 - order).abs();
        curve.iter().min_by(|a, b| near(a).total_cmp(&near(b))).map_or(f64::NAN, |point| point.1)
    };
    let local = Gdp::new(mu).map_err(ExperimentError::account)?;
    let seen = Iteration::new(mu, users).map_err(ExperimentError::account)?;
    let local = at(&repeated(local, 1, (Unit::User, View::Local))?);
    Ok((at(&repeated(seen, 1, (Unit::User, View::Network))?) / local).sqrt())
}

/// √(ln n / n).
fn shape(users: f64) -> f64 {
    (users.ln() / users).sqrt()
}

impl Experiment for Fp23Walk {
    fn id(&self) -> &'static str {
        "fp23-walk"
    }

    fn paper(&self) -> &'static str {
        "FP23"
    }

    fn about(&self) -> &'static str {
        "noise of the stateless walk over that of local privacy, by the number of users"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "The ratio of the noises falls about as √(ln n / n) where divergences are small, as in the theorem",
            "The ratio of the noises falls about as √(ln n / n) at ε = 1, δ = 1e-6",
        ]
    }

    fn reasons(&self) -> &'static [Reason] {
        &[Reason {
            of: &["at ε = 1, δ = 1e-6"],
            version: None,
            class: Class::Paper,
            why: "The theorem is about small divergences, where its rate holds: at ε = 1 the token comes back to the observer at once \
                  with a chance of 1/n, which is above δ for all n here, so that a single noise must cover it.",
        }]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let users: &[u64] =
            context.pick(&[10, 30, 100, 300, 1_000, 3_000, 10_000], &[10, 100, 1_000, 10_000]);
        let local = local()?;
        let (mut theorem, mut points) = (Vec::new(), Vec::new());
        for &n in users {
            context.say(&format!("{n} users"))?;
            theorem.push((n as f64, ratio_in_regime(n)?));
            points.push((n as f64, network(n)? / local));
        }
        let mut report = ExperimentReport::default();
        for (claim, points) in self.claims().iter().zip([&theorem, &points]) {
            let logs: Vec<_> = points.iter().map(|(n, r)| (shape(*n).ln(), r.ln())).collect();
            let steep = slope(&logs);
            let (first, last) = (points[0], points[points.len() - 1]);
            let numbers = format!(
                "ratio {:.3} at n = {}, {:.4} at n = {}; it falls as the power {steep:.2} of √(ln n / n)",
                first.1, first.0, last.1, last.0
            );
            // A power of 1 is the claim; a fifth off is what the logarithm and E12 leave.
            report.claims.push(Claim::fact(claim, (0.8..1.2).contains(&steep), numbers));
        }
        let last = theorem[theorem.len() - 1];
        let scaled = last.1 / shape(last.0);
        let expected = theorem.iter().map(|(n, _)| (*n, scaled * shape(*n))).collect();
        let (x, y) = (Axis::log("users"), Axis::log("noise, network over local"));
        report.figures.push(
            Figure::new("ratio", "What a walk saves in noise", x, y)
                .with(vec![
                    Series::exact("ε = 1, δ = 1e-6", points),
                    Series::exact("small divergences", theorem),
                    Series::exact("√(ln n / n), scaled", expected).quiet(),
                ])
                .captioned(
                    "20 contributions of each user at ε = 1, δ = 1e-6. Each contribution is counted with the noise up to \
                     the next visit of the observer or of its maker (E12). At a δ below the chance that the token comes back \
                     at once, that chance is what the noise must cover, and the gain is smaller.",
                ),
        );
        Ok(report)
    }
}

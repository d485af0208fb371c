//! RA18, figure 2: the average loss of R-ADMM, DVP and M-ADMM against the total privacy loss.

use reticent_plot::Axis;

use super::ra18_convergence::{NOTE, PENALTY, networks};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::train::{Price, Problem, method};

#[derive(Debug)]
pub(super) struct Ra18Privacy;

impl Experiment for Ra18Privacy {
    fn id(&self) -> &'static str {
        "ra18-fig2"
    }

    fn paper(&self) -> &'static str {
        "RA18"
    }

    fn about(&self) -> &'static str {
        "the average loss of R-ADMM, DVP and M-ADMM against the total privacy loss"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::AdultIndicators]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "R-ADMM has a lower average loss than DVP at equal total ε",
            "R-ADMM has a lower average loss than M-ADMM at equal total ε",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let rows = context.rows(usize::MAX, 600);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = Problem::new(&table, "logistic", PENALTY);
        let epsilons: &[f64] = context.pick(&[0.5, 1.0, 2.0, 5.0], &[1.0, 5.0]);
        let rounds = context.pick(50, 10);
        let methods = [
            method("R-ADMM", "r-admm", format!("iterations={rounds} rho=1 proximal=0.2")),
            method("DVP", "dvp", format!("iterations={rounds} rho=1")),
            method("M-ADMM", "m-admm", format!("iterations={rounds} rho=1")),
        ];
        for among in networks(context) {
            let mut series: Vec<Series> =
                methods.iter().map(|method| Series::new(method.name)).collect();
            for seed in context.seeds(10, 2) {
                for &epsilon in epsilons {
                    for (k, method) in methods.iter().enumerate() {
                        context.say(&format!("seed {seed}, ε = {epsilon}, {}", method.name))?;
                        let price = Price::Budget(epsilon, 1e-5);
                        let x = problem.simulate(method, price, *among, seed)?;
                        series[k].add(epsilon, problem.loss_at(&x)?);
                    }
                }
            }
            for k in [1, 2] {
                let text = format!("{}, {} parties", self.claims()[k - 1], among.parties);
                let (ours, other) = (series[0].by_seed(), series[k].by_seed());
                report.claims.push(Claim::less(&text, Version::Certified, &ours, &other));
            }
            let (x, y) = (Axis::log("total ε at δ = 1e-5"), Axis::linear("average loss"));
            let file = format!("loss-{}", among.parties);
            let title = format!("RA18: loss against total ε, {} parties", among.parties);
            let caption = format!(
                "{rounds} iterations; mean and standard error over seeds. Gaussian noise on gradients, certified; the paper \
                 has objective perturbation and a pure ε (E7, E8)."
            );
            report.figures.push(Figure::new(&file, &title, x, y).with(series).captioned(caption));
        }
        report.notes.push(NOTE.to_owned());
        Ok(report)
    }
}

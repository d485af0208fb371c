//! RDP20, figures 3 and 4: accuracy and the share of true attributes found, on the paper's
//! simulated table.

use reticent_plot::Axis;

use super::rdp20::{DELTA, PUBLISHED, curves, lambdas, methods, train};
use crate::claim::{Claim, Version};
use crate::data::{DataSet, simulated};
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::statistics::Mean;
use crate::train::{Calibrations, Method, Problem};

#[derive(Debug)]
pub(super) struct Rdp20Simulated {
    pub id: &'static str,
    pub about: &'static str,
    /// Whether attributes are what is asked for, and not accuracy.
    pub attributes: bool,
}

/// How many attributes are selected; there are 20 that count.
const SELECTED: [usize; 4] = [20, 25, 30, 40];

/// What was measured with one λ: a curve for each method.
struct Measured {
    accuracy: Vec<Series>,
    /// For each number of attributes that are selected.
    found: Vec<Vec<Series>>,
    /// The accuracy without noise, by seed.
    plain: Vec<f64>,
}

impl Experiment for Rdp20Simulated {
    fn id(&self) -> &'static str {
        self.id
    }

    fn paper(&self) -> &'static str {
        "RDP20"
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs(&self) -> &'static [DataSet] {
        &[]
    }

    fn claims(&self) -> &'static [&'static str] {
        if self.attributes {
            &["mpADMM finds more true attributes than ssADMM at small ε (ξ₂₀)"]
        } else {
            &["ssADMM is more accurate than DP-SGD at small ε"]
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let rows = context.rows(40_000, 1_500);
        let epsilons: &[f64] = context.pick(&[0.1, 0.2, 0.5, 1.0, 2.0], &[0.5, 2.0]);
        let all = methods(rows);
        let mut report = Report::default();
        for &lambda in lambdas(context) {
            let measured = measure(context, (rows, lambda, epsilons), &all)?;
            self.check(&mut report, (lambda, epsilons[0]), &measured);
            if self.attributes {
                draw_found(&mut report, lambda, measured.found);
            } else {
                draw_accuracy(&mut report, lambda, measured);
            }
        }
        report.notes.push(format!("n = {rows}; the paper has 40,000."));
        Ok(report)
    }
}

fn measure(
    context: &mut Context<'_>,
    (rows, lambda, epsilons): (usize, f64, &[f64]),
    all: &[Method],
) -> Result<Measured, Error> {
    let calibrations = Calibrations::default();
    let found = SELECTED.iter().map(|_| curves(all)).collect();
    let mut measured = Measured { accuracy: curves(all), found, plain: Vec::new() };
    for seed in context.seeds(10, 2) {
        let (train_on, test) = simulated::rdp20(rows * 10 / 9, seed).split(0.9, seed);
        let problem = Problem::new(&train_on, "logistic", format!("l1:{lambda}"));
        measured.plain.push(test.accuracy(&problem.exact()?));
        for &epsilon in epsilons {
            for (k, method) in all.iter().enumerate() {
                let run = format!("λ = {lambda:e}, seed {seed}, ε = {epsilon}, {}", method.name);
                context.say(&run)?;
                let x = train(&calibrations, (&problem, lambda), method, epsilon, seed)?;
                measured.accuracy[k].add(epsilon, test.accuracy(&x));
                for (series, &selected) in measured.found.iter_mut().zip(&SELECTED) {
                    series[k].add(epsilon, simulated::found(&x, selected));
                }
            }
        }
    }
    Ok(measured)
}

impl Rdp20Simulated {
    fn check(&self, report: &mut Report, (lambda, small): (f64, f64), measured: &Measured) {
        let claim = format!("{}, λ = {lambda:e} (ε = {small})", self.claims()[0]);
        if self.attributes {
            let found = &measured.found[0];
            for (k, version) in [(2, Version::Certified), (3, Version::AsPublished)] {
                let (mp, ss) = (found[k].at(small), found[0].at(small));
                report.claims.push(Claim::more(&claim, version, mp, ss));
            }
        } else {
            let (ss, sgd) = (measured.accuracy[0].at(small), measured.accuracy[1].at(small));
            report.claims.push(Claim::more(&claim, Version::Certified, ss, sgd));
        }
    }
}

fn caption() -> String {
    format!(
        "Mean and standard error over seeds, each with a table of its own. {PUBLISHED} Perturbed once, it is ssADMM on all records."
    )
}

fn axis() -> Axis {
    Axis::log(&format!("ε at δ = {DELTA:e}"))
}

fn draw_accuracy(report: &mut Report, lambda: f64, measured: Measured) {
    let name = format!("accuracy-{lambda:e}");
    let title = format!("RDP20: accuracy on simulated data, λ = {lambda:e}");
    report.figures.push(
        Figure::new(&name, &title, axis(), Axis::linear("accuracy"))
            .with(measured.accuracy)
            .with_rule(Mean::of(&measured.plain).value, "non-private")
            .captioned(caption()),
    );
}

fn draw_found(report: &mut Report, lambda: f64, found: Vec<Vec<Series>>) {
    for (series, selected) in found.into_iter().zip(SELECTED) {
        let name = format!("found-{selected}-{lambda:e}");
        let title = format!("RDP20: true attributes among the first {selected}, λ = {lambda:e}");
        let y = Axis::linear(&format!("share of the 20 found among {selected}"));
        let figure = Figure::new(&name, &title, axis(), y);
        report.figures.push(figure.with(series).captioned(caption()));
    }
}

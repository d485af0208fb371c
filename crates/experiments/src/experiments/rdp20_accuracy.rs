//! RDP20, figures 1 and 2: accuracy and objective against ε of ssADMM, mpADMM, DP-SGD, DP-ADMM of
//! two parties and ADMM-objP, L1-regularised, on Adult.

use reticent_plot::Axis;

use super::rdp20::{CONDITIONS, DELTA, PUBLISHED, RIDGE, bound, curves, lambdas, methods, train};
use crate::bounds::{Bound, beside};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::statistics::Mean;
use crate::table::Table;
use crate::train::{Calibrations, Method, Problem, method};

#[derive(Debug)]
pub(super) struct Rdp20Accuracy {
    pub id: &'static str,
    pub about: &'static str,
    pub loss: &'static str,
}

/// What was measured with one λ: a curve for each method.
struct Measured {
    accuracy: Vec<Series>,
    objective: Vec<Series>,
    /// The accuracy without noise of each repetition.
    plain: Vec<f64>,
    /// Theorem 2, on the first fold.
    bound: Option<Bound>,
}

impl Experiment for Rdp20Accuracy {
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
        &[DataSet::AdultIndicators]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "ssADMM is more accurate than DP-SGD at small ε",
            "ssADMM is more accurate than DP-ADMM of two parties",
            "ssADMM is more accurate than ADMM-objP",
            "mpADMM has a lower objective than DP-SGD",
        ]
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let rows = context.rows(usize::MAX, 800);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let epsilons: &[f64] = context.pick(&[0.05, 0.1, 0.2, 0.5, 1.0], &[0.2, 1.0]);
        let mut all = methods(table.len());
        all.push(method("DP-ADMM, 2 parties", "dp-admm", ""));
        all.push(method("ADMM-objP", "objp", ""));
        for (k, &lambda) in lambdas(context).iter().enumerate() {
            // All folds for the first λ, and one of each repetition for the other.
            let tested = if k == 0 { folds(context) } else { 1 };
            let measured = self.measure(context, (&table, tested), (lambda, epsilons), &all)?;
            self.check(&mut report, (lambda, epsilons[0]), &measured);
            draw(&mut report, lambda, measured, table.majority());
        }
        notes(&mut report, folds(context));
        Ok(report)
    }
}

/// Into how many parts the rows are cut; each is what is tested on once.
fn folds(context: &Context<'_>) -> usize {
    context.pick(10, 2)
}

impl Rdp20Accuracy {
    /// A repetition is a random cut into folds, and its observation the mean over them.
    fn measure(
        &self,
        context: &mut Context<'_>,
        (table, tested): (&Table, usize),
        (lambda, epsilons): (f64, &[f64]),
        all: &[Method],
    ) -> Result<Measured, Error> {
        let folds = folds(context);
        // ADMM-objP takes ten times as long as all others together.
        let share = |method: &Method| if method.algorithm == "objp" { 1 } else { tested };
        let calibrations = Calibrations::default();
        let mut measured =
            Measured { accuracy: curves(all), objective: curves(all), plain: vec![], bound: None };
        for seed in context.seeds(10, 2) {
            let mut sums = vec![(0.0, 0.0); epsilons.len() * all.len()];
            let mut plain = 0.0;
            for (this, (train_on, test)) in table.folds(folds, seed).take(tested).enumerate() {
                let problem = Problem::new(&train_on, self.loss, format!("l1:{lambda}"));
                let exact = problem.exact()?;
                plain += test.accuracy(&exact) / tested as f64;
                if measured.bound.is_none() {
                    let theorem = bound(&calibrations, &problem, (&all[0], &exact), epsilons)?;
                    measured.bound = Some(theorem);
                }
                // Other noise in each fold, and not that of another repetition.
                let noise = (seed - 1) * folds as u64 + this as u64 + 1;
                for (e, &epsilon) in epsilons.iter().enumerate() {
                    let run =
                        format!("λ = {lambda:e}, seed {seed}, fold {}, ε = {epsilon}", this + 1);
                    let fold_has = |method: &Method| this < share(method);
                    for (k, method) in all.iter().enumerate().filter(|(_, m)| fold_has(m)) {
                        context.say(&format!("{run}, {}", method.name))?;
                        let on = (&problem, lambda);
                        let x = train(&calibrations, on, method, epsilon, noise)?;
                        let sum = &mut sums[e * all.len() + k];
                        sum.0 += test.accuracy(&x) / share(method) as f64;
                        sum.1 += problem.objective(&x)? / share(method) as f64;
                    }
                }
            }
            measured.plain.push(plain);
            for (at, (right, value)) in sums.into_iter().enumerate() {
                let (epsilon, k) = (epsilons[at / all.len()], at % all.len());
                measured.accuracy[k].add(epsilon, right);
                measured.objective[k].add(epsilon, value);
            }
        }
        Ok(measured)
    }

    fn check(&self, report: &mut Report, (lambda, small): (f64, f64), measured: &Measured) {
        let Measured { accuracy, objective, .. } = measured;
        let ours = Version::Certified;
        let text = |k: usize| format!("{}, λ = {lambda:e}", self.claims()[k]);
        report.claims.push(Claim::more(
            &format!("{} (ε = {small})", text(0)),
            ours,
            accuracy[0].at(small),
            accuracy[1].at(small),
        ));
        let whole = |k: usize| &accuracy[k];
        report.claims.push(Claim::higher(&text(1), ours, whole(0), whole(4)));
        report.claims.push(Claim::higher(&text(2), ours, whole(0), whole(5)));
        for (k, version) in [(2, ours), (3, Version::AsPublished)] {
            let (mp, sgd) = (&objective[k], &objective[1]);
            report.claims.push(Claim::lower(&text(3), version, mp, sgd));
        }
    }
}

fn draw(report: &mut Report, lambda: f64, measured: Measured, majority: f64) {
    let x = || Axis::log(&format!("ε at δ = {DELTA:e}"));
    let figure = |what: &str| {
        let (name, title) =
            (format!("{what}-{lambda:e}"), format!("RDP20: {what} on Adult, λ = {lambda:e}"));
        Figure::new(&name, &title, x(), Axis::linear(what))
    };
    report.figures.push(
        figure("accuracy")
            .with(measured.accuracy)
            .with_rule(Mean::of(&measured.plain).value, "non-private")
            .with_rule(majority, "the larger class alone")
            .captioned(format!(
                "Mean over folds, and its standard error over repetitions. {PUBLISHED}"
            )),
    );
    let bounds: Vec<Bound> = measured.bound.into_iter().collect();
    let objective =
        beside(figure("objective").with(measured.objective), &bounds, &mut report.notes);
    let caption = format!("Training loss and L1 penalty. {PUBLISHED}");
    report.figures.push(objective.captioned(caption));
}

fn notes(report: &mut Report, folds: usize) {
    report.notes.extend([
        "IPUMS-BR, the paper's second table, is not drawn: it is given by IPUMS International to those who ask.".to_owned(),
        format!(
            "A seed is one repetition of {folds} folds. The folds of a repetition share rows, so that their mean is one \
             observation, and standard errors are over repetitions. Only with the first λ, and not by ADMM-objP, which takes \
             twenty minimisations a model, are all folds trained; elsewhere it is the first of each repetition. Iterations and steps are those of docs/settings.md where \
             the paper tunes them on data."
        ),
        CONDITIONS.to_owned(),
        format!("ADMM-objP has a ridge of {RIDGE} beside its L1: its proof needs one."),
    ]);
}

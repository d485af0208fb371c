//! LS22, figures 2, 3 and 4: VRADMM and SADMM against ε, beside SVRG-ADMM and STOC-ADMM without
//! noise; on the lasso beside ssADMM.

use reticent_plot::Axis;

use super::ls22::{BIO_TRAIN, COVTYPE, Case, DELTA, Kind, MUSHROOMS, NOTE, W8A, axis};
use crate::bounds::{Bound, beside};
use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::{Context, Experiment};
use crate::report::{Figure, Report, Series};
use crate::train::{Method, Price, method};

#[derive(Debug)]
pub(super) struct Ls22Methods {
    pub id: &'static str,
    pub about: &'static str,
    pub kind: Kind,
}

/// ν of LS22's methods.
const SMOOTHING: f64 = 2.0;

/// The private methods: certified, and as published.
fn private(case: &Case, rows: usize, kind: Kind) -> Vec<Method> {
    let (loops, steps) = (case.loops(rows), case.steps(rows));
    // The step sizes of sadmm count on the ridge; vradmm's theorem needs rows of A that are
    // independent, which those of [φ; I] are not, and it is run as in the general case.
    let strong = match kind {
        Kind::Strong => format!(" strong_convexity={}", case.ridge),
        _ => String::new(),
    };
    let mut all = vec![
        method("VRADMM", "vradmm", format!("{loops} smoothing={SMOOTHING}")),
        method("SADMM", "sadmm", format!("{steps} smoothing={SMOOTHING}{strong}")),
        method(
            "VRADMM (published)",
            "vradmm",
            format!("{loops} smoothing={SMOOTHING} as_published"),
        ),
        method(
            "SADMM (published)",
            "sadmm",
            format!("{steps} smoothing={SMOOTHING}{strong} as_published"),
        ),
    ];
    if kind == Kind::Lasso {
        all.push(method("ssADMM", "ssadmm", steps));
    }
    all
}

impl Experiment for Ls22Methods {
    fn id(&self) -> &'static str {
        self.id
    }

    fn paper(&self) -> &'static str {
        "LS22"
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::Covtype, DataSet::W8a, DataSet::BioTrain, DataSet::Mushrooms]
    }

    fn claims(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Lasso => &[
                "VRADMM has a smaller gap than SADMM",
                "VRADMM has a smaller gap than ssADMM",
                "SADMM has a smaller gap than ssADMM",
            ],
            _ => &["VRADMM has a smaller gap than SADMM"],
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        for case in Case::of(context, &[COVTYPE, W8A, BIO_TRAIN, MUSHROOMS]) {
            self.on(case, context, &mut report)?;
        }
        report.notes.extend([NOTE, self.kind.conditions()].map(str::to_owned));
        Ok(report)
    }
}

impl Ls22Methods {
    fn on(&self, case: &Case, context: &mut Context<'_>, report: &mut Report) -> Result<(), Error> {
        let epsilons: &[f64] = context.pick(&[0.05, 0.2, 1.0], &[0.2, 1.0]);
        let table = case.load(context, report)?;
        let name = case.data.name();
        let rows = table.len() / 2;
        let all = private(case, rows, self.kind);
        let plain = [
            method("SVRG-ADMM", "vradmm", case.loops(rows)),
            method("STOC-ADMM", "sadmm", case.steps(rows)),
        ];
        let mut gaps: Vec<Series> = all.iter().map(|method| Series::new(method.name)).collect();
        let mut accuracy = gaps.clone();
        let mut without: Vec<Series> =
            plain.iter().map(|method| Series::new(method.name)).collect();
        for seed in context.seeds(5, 2) {
            let (train, test) = table.split(0.5, seed);
            let problem = self.kind.problem(case, &train, &test)?;
            let best = problem.objective(&problem.exact()?)?;
            for (method, series) in plain.iter().zip(&mut without) {
                let x = problem.fit(method, Price::Free, seed)?;
                series.add(0.0, problem.objective(&x)? - best);
            }
            for &epsilon in epsilons {
                for (k, method) in all.iter().enumerate() {
                    context.say(&format!("{name}, seed {seed}, ε = {epsilon}, {}", method.name))?;
                    let x = problem.fit(method, Price::Budget(epsilon, DELTA), seed)?;
                    gaps[k].add(epsilon, problem.objective(&x)? - best);
                    accuracy[k].add(epsilon, test.accuracy(&x));
                }
            }
        }
        self.check(report, name, &gaps);
        // The smoothing of all that is private here.
        let bound = self.kind.bound(case, (rows, table.columns), SMOOTHING, epsilons);
        draw(report, name, [gaps, accuracy], (&without, bound));
        Ok(())
    }

    fn check(&self, report: &mut Report, name: &str, gaps: &[Series]) {
        let text = |k: usize| format!("{}, on {name}", self.claims()[k]);
        let of = |k: usize| &gaps[k];
        let (ours, theirs) = (Version::Certified, Version::AsPublished);
        report.claims.push(Claim::lower(&text(0), ours, of(0), of(1)));
        report.claims.push(Claim::lower(&text(0), theirs, of(2), of(3)));
        if self.kind == Kind::Lasso {
            for (k, published) in [(0, 2), (1, 3)] {
                report.claims.push(Claim::lower(&text(k + 1), ours, of(k), of(4)));
                report.claims.push(Claim::lower(&text(k + 1), theirs, of(published), of(4)));
            }
        }
    }
}

fn draw(
    report: &mut Report,
    name: &str,
    [gaps, accuracy]: [Vec<Series>; 2],
    (without, bound): (&[Series], Bound),
) {
    let published = "Published VRADMM has no noise on its snapshots (E5), and published SADMM counts by a closed form outside of \
                     its conditions (E11): both are NOT PRIVATE at the ε that they are drawn at.";
    let title = format!("LS22: objective gap, {name}");
    let figure = Figure::new(&format!("gap-{name}"), &title, axis(), Axis::log("objective gap"));
    // At every ε, so that their names stand beside the others and not upon each other.
    let budgets: Vec<f64> = gaps[0].points.iter().map(|(epsilon, _)| *epsilon).collect();
    let across = |series: &Series| Series {
        points: budgets.iter().map(|&epsilon| (epsilon, series.at(0.0).to_vec())).collect(),
        ..Series::new(series.name.clone()).quiet()
    };
    let gaps = gaps.into_iter().chain(without.iter().map(across)).collect();
    let figure = beside(figure.with(gaps), &[bound], &mut report.notes);
    report.figures.push(figure.captioned(published));
    let title = format!("LS22: accuracy, {name}");
    let figure = Figure::new(&format!("accuracy-{name}"), &title, axis(), Axis::linear("accuracy"));
    report.figures.push(figure.with(accuracy).captioned(published));
}

//! What LS22's experiments have in common: tables, batches and problems.

use reticent::Constraint;
use reticent_plot::Axis;

use crate::bounds::{self, TheoremBound};

use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::Context;
use crate::penalty::GraphRidge;
use crate::report::ExperimentReport;
use crate::table::RowTable;
use crate::train::TrainProblem;

pub(super) const DELTA: f64 = 5e-4;

/// A table of the paper with its batch, λ₁ and λ₂.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub data: DataSet,
    pub batch: usize,
    pub lasso: f64,
    pub ridge: f64,
}

pub(super) const COVTYPE: Case =
    Case { data: DataSet::Covtype, batch: 50, lasso: 1e-4, ridge: 1e-4 };
pub(super) const W8A: Case = Case { data: DataSet::W8a, batch: 20, lasso: 1e-4, ridge: 1e-5 };
pub(super) const BIO_TRAIN: Case =
    Case { data: DataSet::BioTrain, batch: 20, lasso: 1e-5, ridge: 1e-4 };
pub(super) const MUSHROOMS: Case =
    Case { data: DataSet::Mushrooms, batch: 10, lasso: 1e-5, ridge: 1e-5 };

/// λ₁ of the lasso (figure 4), the same for every table.
const LASSO: f64 = 1e-4;

/// Outer loops: the paper does not say how many.
pub(super) const OUTER: usize = 3;

/// ν of LS22's methods.
pub(super) const SMOOTHING: f64 = 2.0;

/// The ε of every figure.
pub(super) fn epsilons(context: &Context<'_>) -> &'static [f64] {
    context.pick(&[0.05, 0.1, 0.2, 0.4, 0.8, 1.0], &[0.2, 1.0])
}

impl Case {
    /// The cases of a run: one, the smallest, for a small one.
    pub fn of(context: &Context<'_>, all: &'static [Case]) -> &'static [Case] {
        if context.quick { &all[all.len() - 1..] } else { all }
    }

    pub fn load(
        &self,
        context: &mut Context<'_>,
        report: &mut ExperimentReport,
    ) -> Result<RowTable, ExperimentError> {
        let rows = context.rows(usize::MAX, 800);
        self.data.load(context, rows, report)
    }

    /// m = 2n/b.
    pub fn inner(&self, rows: usize) -> usize {
        (2 * rows / self.batch).max(1)
    }

    /// Settings of variance reduction on so many rows.
    pub fn loops(&self, rows: usize) -> String {
        format!("sampling=wor:{} outer={OUTER} inner={}", self.batch, self.inner(rows))
    }

    /// Settings of plain steps that are as many.
    pub fn steps(&self, rows: usize) -> String {
        format!("sampling=wor:{} iterations={}", self.batch, OUTER * self.inner(rows))
    }

    /// VRADMM with smoothing ν: as published with the paper's loops, γ = 1 and c₂ = 1, and the
    /// longest step that Theorem 3 or 4 allows, which the paper leaves open; certified with loops
    /// and step of its own.
    pub fn vradmm(&self, rows: usize, kind: PaperProblem, nu: f64, published: bool) -> String {
        let (batch, strong) = (self.batch, self.strong(kind));
        if !published {
            return format!("sampling=wor:{batch} smoothing={nu}{strong}");
        }
        // 1/(2g) and 1/(16g): the loss has g = ¼ on rows of norm 1.
        let step = if kind == PaperProblem::Strong { 0.249 } else { 2.0 };
        format!("{} smoothing={nu} gamma=1 step={step}{strong} as_published", self.loops(rows))
    }

    /// SADMM likewise: as published with γ = 1 and η_k = 1/√k, or 2γ‖Q‖/(μk).
    pub fn sadmm(&self, rows: usize, kind: PaperProblem, published: bool) -> String {
        let (batch, strong) = (self.batch, self.strong(kind));
        if !published {
            return format!("sampling=wor:{batch} smoothing={SMOOTHING}{strong}");
        }
        format!("{} smoothing={SMOOTHING} gamma=1{strong} as_published", self.steps(rows))
    }

    /// The strong convexity that is counted on.
    fn strong(&self, kind: PaperProblem) -> String {
        if kind == PaperProblem::Strong {
            format!(" strong_convexity={}", self.ridge)
        } else {
            String::new()
        }
    }
}

/// What differs from every figure of the paper.
pub(super) const CHANGES: &str = "As published: the paper's b, m = 2n/b, γ = 1, ε and δ, Theorem 1's noise with c₂ = 1 (E16) and \
                                  Theorem 2's (E11); S = 3, η and β, which it leaves open, are ours. Certified: the same \
                                  batches, and loops, steps and accountant of ours. The graph is that of the rows to test on, \
                                  as one from the training rows would have to be paid for (E6).";

/// Across in all of LS22's figures but the table's.
pub(super) fn axis() -> Axis {
    Axis::log(&format!("ε at δ = {DELTA:e}"))
}

/// Which of the paper's problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaperProblem {
    /// ℓ₁ along a graph and on the coefficients.
    General,
    /// The same with a ridge.
    Strong,
    /// x = y.
    Lasso,
}

impl PaperProblem {
    /// The problem on `train`; the graph is that of the rows to test on, which is public.
    pub fn problem<'t>(
        self,
        case: &Case,
        train: &'t RowTable,
        test: &RowTable,
    ) -> Result<TrainProblem<'t>, ExperimentError> {
        let lasso = if self == PaperProblem::Lasso { LASSO } else { case.lasso };
        let mut problem = TrainProblem::new(train, "logistic", format!("l1:{lasso}"));
        if self != PaperProblem::Lasso {
            problem.constraint = Some(Constraint::graph(&test.graph()?));
        }
        if self == PaperProblem::Strong {
            let (features, lasso, ridge) = (train.columns, case.lasso, case.ridge);
            problem.own = Some(GraphRidge { features, lasso, ridge });
        }
        Ok(problem)
    }

    /// The theorems' bounds with smoothing ν over these ε. VRADMM and SADMM have the same.
    pub fn bound(
        self,
        case: &Case,
        train: (usize, usize),
        nu: f64,
        epsilons: &[f64],
    ) -> TheoremBound {
        let (rows, features) = train;
        let theory =
            bounds::ls22::Ls22Setting { features, rows, slope: 1.0, smoothing: nu, delta: DELTA };
        let at = |f: &dyn Fn(f64) -> f64| epsilons.iter().map(|&e| (e, f(e))).collect();
        match self {
            PaperProblem::Strong => {
                TheoremBound::open("Theorems 4 and 6", at(&|e| theory.strong(e, case.ridge)))
            }
            _ => TheoremBound::open("Theorems 3 and 5", at(&|e| theory.general(e))),
        }
    }

    /// Whether what the theorems ask for is so.
    pub fn conditions(self) -> &'static str {
        match self {
            PaperProblem::Strong => {
                "What the theorems ask for: rows of A that are independent (Theorem 4): not held, those of [φ; I] are not (E17). \
                 Steps of 2γ‖Q‖/(μk) (Theorem 6): held but for the first, which are cut at 1/g, as longer ones do not converge. \
                 They bound R, the gap less its linear part, and leave a constant open."
            }
            _ => {
                "What the theorems ask for: steps of at most 1/(2g) (Theorem 3) and of 1/√k (Theorem 5): held as published; \
                 the certified versions have steps of their own. They bound R, the gap less its linear part, \
                 and leave a constant open."
            }
        }
    }
}

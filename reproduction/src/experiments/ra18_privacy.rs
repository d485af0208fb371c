//! RA18, figures 2 and 3: the average loss of R-ADMM, DVP and M-ADMM over iterations at equal total
//! privacy loss, and of R-ADMM with penalties that grow.

use super::ra18::{CHANGES, Comparison};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::{Context, Experiment};
use crate::report::ExperimentReport;

/// Figure 2.
#[derive(Debug)]
pub(super) struct Ra18Privacy;

/// Figure 3.
#[derive(Debug)]
pub(super) struct Ra18Fig3;

impl Experiment for Ra18Privacy {
    fn id(&self) -> &'static str {
        "ra18-fig2"
    }

    fn paper(&self) -> &'static str {
        "RA18"
    }

    fn about(&self) -> &'static str {
        "the average loss of R-ADMM, DVP and M-ADMM over iterations at equal total privacy loss"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::AdultIndicators]
    }

    fn claims(&self) -> &'static [&'static str] {
        &[
            "R-ADMM has a lower average loss than DVP at equal total ε",
            "R-ADMM has a lower average loss than M-ADMM at equal total ε",
            "The smaller the total ε, the further R-ADMM is ahead of DVP",
        ]
    }

    fn changes(&self) -> &'static str {
        CHANGES
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let methods = [
            ("R-ADMM", "r-admm", ""),
            ("DVP", "dvp", ""),
            ("M-ADMM", "m-admm", ""),
            ("R-ADMM, growing α", "r-admm", "noise_schedule=geometric:0.97"),
        ];
        let claims = [(0, 1, self.claims()[0]), (0, 2, self.claims()[1])];
        let comparison = Comparison {
            methods: &methods[..context.pick(4, 3)],
            claims: &claims,
            more: Some(self.claims()[2]),
            title: "RA18: average loss",
        };
        comparison.run(context)
    }
}

impl Experiment for Ra18Fig3 {
    fn id(&self) -> &'static str {
        "ra18-fig3"
    }

    fn paper(&self) -> &'static str {
        "RA18"
    }

    fn about(&self) -> &'static str {
        "R-ADMM with growing penalties, η = 1.01ᵗ and γ = 0.2 × 1.01ᵗ"
    }

    fn needs(&self) -> &'static [DataSet] {
        &[DataSet::AdultIndicators]
    }

    fn claims(&self) -> &'static [&'static str] {
        &["Growing penalties lower the average loss"]
    }

    fn changes(&self) -> &'static str {
        CHANGES
    }

    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
        let methods = [("R-ADMM", "r-admm", ""), ("growing", "mr-admm", "growth=1.01")];
        let comparison = Comparison {
            methods: &methods,
            claims: &[(1, 0, self.claims()[0])],
            more: None,
            title: "RA18: growing penalties",
        };
        comparison.run(context)
    }
}

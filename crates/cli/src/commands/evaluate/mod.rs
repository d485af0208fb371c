//! `reticent evaluate`: how good a model is on a table. Within a budget the figures are private and
//! have a certificate; without one they are not, and it says so.

mod plain;
mod private;

use std::path::PathBuf;

use clap::Args;

use super::shared::{ModelAndData, read_model};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::number;
use plain::Pictures;
use private::PrivateFlags;

const HELP: &str = "Without --epsilon the numbers are NOT PRIVATE: they are computed from the table as it is, and no \
                    certificate covers them. With --epsilon and --delta one noisy answer is paid for, and all figures are \
                    computed from it, with intervals (docs/evaluate.md).";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Evaluate {
    #[command(flatten)]
    what: ModelAndData,

    /// Two classes: the probability above which the second is predicted (of a hinge loss, the
    /// score) [default: 0.5, score 0]
    #[arg(long, value_name = "T", value_parser = number::parse, allow_negative_numbers = true)]
    threshold: Option<f64>,

    /// Draw roc.svg, precision-recall.svg and calibration.svg (where there are probabilities) into
    /// this folder; not within a budget
    #[arg(long, value_name = "DIR", conflicts_with = "epsilon")]
    plots: Option<PathBuf>,

    /// Write over what is there
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    private: PrivateFlags,
}

impl Evaluate {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        let model = read_model(&self.what.model)?;
        if self.private.is_asked() {
            return self.private.run(&model, &self.what, self.threshold, self.force);
        }
        let pictures = Pictures { folder: self.plots.as_ref(), force: self.force };
        plain::run(&model, &self.what, self.threshold, pictures)
    }
}

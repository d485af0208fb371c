//! `reticent evaluate`: how good a model is on a table. Within a budget the figures are private and
//! have a certificate; without one they are not, and it says so.

mod plain;
mod private;

use std::path::PathBuf;

use clap::Args;

use super::shared::{ModelAndData, Threshold, read_model};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use plain::Pictures;
use private::PrivateFlags;

const HELP: &str = "Without --epsilon the numbers are NOT PRIVATE: they are computed from the table without noise, and no \
                    certificate covers them. With --epsilon and --delta a job pays for one noisy answer, and all figures are \
                    computed from it, with intervals (docs/evaluate.md).";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Evaluate {
    #[command(flatten)]
    what: ModelAndData,

    /// Two classes: the probability above which the second is predicted (of a hinge loss, the
    /// score), or prior, its share by --class-prior of the fit [default: 0.5, score 0]
    #[arg(long, value_name = "T", value_parser = Threshold::parse, allow_negative_numbers = true)]
    threshold: Option<Threshold>,

    /// Draw roc.svg, precision-recall.svg and calibration.svg (if the model has probabilities) into
    /// this folder; not within a budget
    #[arg(long, value_name = "DIR", conflicts_with = "epsilon")]
    plots: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    private: PrivateFlags,
}

impl Evaluate {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let model = read_model(&self.what.model)?;
        let threshold = self.threshold.map(|given| given.of(&model)).transpose()?;
        if self.private.is_asked() {
            return self.private.run(&model, &self.what, threshold, self.force);
        }
        let pictures = Pictures { folder: self.plots.as_ref(), force: self.force };
        plain::run(&model, &self.what, threshold, pictures)
    }
}

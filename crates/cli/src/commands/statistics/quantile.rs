//! `reticent quantile`: quantiles of columns, with noise.

use clap::Args;
use reticent::Quantiles;

use super::super::asked::AskedAnswer;
use super::{
    AskedStatistic, ColumnFlags, QUESTION, about, missing, numbers, of_a_statistic, shown,
};
use crate::answer::{Answer, object};
use crate::failure::CommandFailure;
use crate::layout;
use crate::number::{self, show};

#[derive(Debug, Args)]
#[command(mut_args(of_a_statistic))]
pub struct QuantileCommand {
    /// The quantiles, from 0 to 1; 0.5 is the median
    #[arg(long, help_heading = QUESTION, value_name = "P,P,…", value_delimiter = ',', value_parser = number::parse,
        allow_negative_numbers = true, default_value = "0.5")]
    at: Vec<f64>,

    /// The distance between possible answers, in the units of the column [default: a 1023rd of its
    /// range]
    #[arg(long, help_heading = QUESTION, value_name = "X", value_parser = number::parse,
        allow_negative_numbers = true)]
    resolution: Option<f64>,

    #[command(flatten)]
    flags: ColumnFlags,
}

impl QuantileCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let QuantileCommand { flags, at, resolution } = self;
        let job =
            flags.statistics().and_then(|asked| asked.quantiles(&flags.columns, &at, resolution));
        let job = job.map_err(|error| CommandFailure::of("quantile", error))?;
        let asked = AskedStatistic::Quantile { at, resolution };
        flags.perform(asked, &job, |quantiles| (said(quantiles), &quantiles.certificate))
    }
}

fn said(quantiles: &Quantiles) -> AskedAnswer {
    let Quantiles { columns, n, confidence, certificate, .. } = quantiles;
    let units = certificate.unit.plural();
    let heads = ["column", "quantile", "value", "is the quantile at"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for column in columns {
        rows.extend(column.quantiles.iter().map(|quantile| {
            vec![
                column.column.clone(),
                quantile.at.to_string(),
                shown(&quantile.value),
                numbers(quantile.fractions),
            ]
        }));
    }
    let apart: Vec<String> = columns
        .iter()
        .map(|column| format!("{} ({})", show(column.resolution), column.column))
        .collect();
    let absent = missing(columns.iter().map(|column| (&*column.column, &column.missing)));
    let notes = vec![format!(
        "Of {n} {units}, a public number. The value is a quantile of this table at a fraction in the last column, \
         all of a column together at the confidence below; possible answers are {} apart. {} {absent}",
        apart.join(", "),
        about(certificate, *confidence)
    )];
    AskedAnswer { table: layout::columns(&rows, 2, 1), notes, object: object(quantiles) }
}

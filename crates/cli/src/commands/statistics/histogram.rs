//! `reticent histogram`: how many there are in each category or bin of columns, with noise.

use clap::Args;
use reticent::{BinCount, ColumnHistogram, Histograms, Partition};

use super::super::asked::AskedAnswer;
use super::{
    AskedStatistic, ColumnFlags, QUESTION, about, missing, numbers, of_a_statistic, public,
};
use crate::answer::{Answer, object};
use crate::failure::CommandFailure;
use crate::layout;
use crate::number::{self, show};

#[derive(Debug, Args)]
#[command(mut_args(of_a_statistic))]
pub struct HistogramCommand {
    /// Bins of equal width between the bounds, for columns of numbers [default: 10]
    #[arg(long, help_heading = QUESTION, value_name = "N", value_parser = number::whole::<u32>,
        allow_negative_numbers = true)]
    bins: Option<u32>,

    /// The edges of the bins of a numeric column, in its units; dates as days since 1970-01-01
    #[arg(long, help_heading = QUESTION, value_name = "X,X,…", value_delimiter = ',', value_parser = number::parse,
        allow_negative_numbers = true, conflicts_with = "bins")]
    edges: Option<Vec<f64>>,

    #[command(flatten)]
    flags: ColumnFlags,
}

impl HistogramCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let HistogramCommand { flags, bins, edges } = self;
        let partition = match (bins, edges) {
            (_, Some(edges)) => Partition::At(edges),
            (Some(bins), None) => Partition::Equal(bins as usize),
            (None, None) => Partition::Usual,
        };
        let job = flags.statistics().and_then(|asked| asked.histogram(&flags.columns, &partition));
        let job = job.map_err(|error| CommandFailure::of("histogram", error))?;
        let asked = AskedStatistic::Histogram(format!("{partition:?}"));
        flags.perform(asked, &job, |histograms| (said(histograms), &histograms.certificate))
    }
}

fn said(histograms: &Histograms) -> AskedAnswer {
    let Histograms { columns, n, confidence, certificate, .. } = histograms;
    let units = certificate.unit.plural();
    let heads = ["bin".to_owned(), units.to_owned(), "interval".to_owned()];
    let mut rows = vec![heads.to_vec()];
    for column in columns {
        rows.push(vec![column.column.clone()]);
        rows.extend(column.bins.iter().enumerate().map(|(at, bin)| {
            let last = at + 1 == column.bins.len();
            let count = format!("{:.0}", bin.count);
            vec![format!("  {}", label(bin, last)), count, numbers(bin.interval)]
        }));
    }
    let noise: Vec<String> = columns.iter().map(noise).collect();
    let all = n.map_or(String::new(), |n| format!(" There are {n} {units}, a public number."));
    let absent: Vec<_> = columns
        .iter()
        .filter_map(|column| Some((&*column.column, column.missing.as_ref()?)))
        .collect();
    let absent =
        if absent.is_empty() { String::new() } else { format!(" {}", missing(absent.into_iter())) };
    let notes = vec![format!(
        "The noise of a bin has a standard deviation of {}.{all} {}{absent}",
        noise.join(", "),
        about(certificate, *confidence)
    )];
    AskedAnswer { table: layout::columns(&rows, 2, 1), notes, object: object(histograms) }
}

fn noise(column: &ColumnHistogram) -> String {
    format!("{} ({})", show(column.deviation), column.column)
}

fn label(bin: &BinCount, last: bool) -> String {
    match (&bin.category, &bin.range) {
        (Some(category), _) => category.clone(),
        (None, Some([from, to])) => {
            let end = if last { ']' } else { ')' };
            format!("[{}, {}{end}", public(from), public(to))
        }
        (None, None) => "(none of these, or missing)".to_owned(),
    }
}

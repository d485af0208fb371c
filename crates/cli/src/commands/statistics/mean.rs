//! `reticent mean`: means of columns, with noise.

use clap::Args;
use reticent::{ColumnMeans, Divisor};

use super::super::asked::AskedAnswer;
use super::{AskedStatistic, ColumnFlags, about, interval, missing, of_a_statistic, shown};
use crate::answer::{Answer, object};
use crate::failure::CommandFailure;
use crate::layout;
use crate::number::show;

#[derive(Debug, Args)]
#[command(mut_args(of_a_statistic))]
pub struct Mean {
    #[command(flatten)]
    flags: ColumnFlags,
}

impl Mean {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let flags = self.flags;
        let job = flags.statistics().and_then(|asked| asked.mean(&flags.columns));
        let job = job.map_err(|error| CommandFailure::of("mean", error))?;
        flags.perform(AskedStatistic::Mean {}, &job, |means| (said(means), &means.certificate))
    }
}

fn said(means: &ColumnMeans) -> AskedAnswer {
    let ColumnMeans { columns, n, n_is, confidence, certificate, .. } = means;
    let heads = ["column", "mean", "interval", "noise (standard deviation)"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(columns.iter().map(|column| {
        let unseen = || "lost in the noise".to_owned();
        vec![
            column.column.clone(),
            column.value.as_ref().map_or_else(unseen, shown),
            interval(&column.interval),
            column.deviation.map_or_else(unseen, show),
        ]
    }));
    let units = certificate.unit.plural();
    let over = match n_is {
        Divisor::Exact => format!("Over {n} {units}, a public number."),
        Divisor::Given => format!("Over {n} {units}, the public number that was given."),
        Divisor::Noisy => {
            format!("Over about {n:.0} {units}, counted in the same answer, with noise.")
        }
    };
    let absent = missing(columns.iter().map(|column| (&*column.column, &column.missing)));
    let notes = vec![format!("{over} {} {absent}", about(certificate, *confidence))];
    AskedAnswer { table: layout::columns(&rows, 2, 1), notes, object: object(means) }
}

//! `reticent count`: how many records, or users, there are, and of each class, with noise.

use clap::Args;
use reticent::accountant::Adjacency;
use reticent::{Counted, Spec};
use serde::Serialize;

use super::asked::{AskedAnswer, AskedQuestion, AskedTable};
use crate::answer::{Answer, object};
use crate::failure::CommandFailure;
use crate::layout::columns;
use crate::number::show;

#[derive(Debug, Args)]
#[command(mut_args(of_a_count))]
pub struct CountArgs {
    /// The column whose classes are counted, if the schema does not set it
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// Count each class of the target
    #[arg(long)]
    by_class: bool,

    #[command(flatten)]
    table: AskedTable,
}

impl CountArgs {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let CountArgs { table, target, by_class } = self;
        let spec = Spec::default().with(|it| {
            it.schema = Some(table.schema.clone());
            it.target = target;
            it.user_column = table.user_column.clone();
            it.guarantee = table.guarantee;
        });
        let job = spec.count(by_class).map_err(|error| CommandFailure::of("count", error))?;
        let asked = AskedCount { count: &spec, by_class };
        table.perform(
            AskedQuestion { command: "count", label: "count".to_owned(), asked },
            &job,
            |counted| (said(counted), &counted.certificate),
        )
    }
}

/// A count has a budget, and divides by nothing.
fn of_a_count(flag: clap::Arg) -> clap::Arg {
    match flag.get_id().as_str() {
        "epsilon" | "delta" => flag.required(true),
        "adjacency" => flag.help(
            "The neighbouring relation of tables [default: add-remove, and replace-one by class]",
        ),
        "public_n" => flag.hide(true),
        _ => flag,
    }
}

fn said(counted: &Counted) -> AskedAnswer {
    let Counted { total, classes, deviation, certificate, .. } = counted;
    let units = certificate.unit.plural();
    // All of them are public under replace-one, and have no noise.
    let exact = certificate.adjacency == Adjacency::ReplaceOne;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let whole = |number: f64| format!("{number:.0}");
    let of_all = if exact { " (public)" } else { "" };
    let mut rows = vec![row(units, whole(*total) + of_all)];
    rows.extend(classes.iter().map(|(name, number)| row(&format!("  {name}"), whole(*number))));
    rows.push(row("noise of an answer", format!("standard deviation {}", show(*deviation))));
    let each = classes.iter().map(|(class, count)| ClassCount { class, count: *count });
    let counts = CountFields { count: *total, classes: each.collect(), deviation: *deviation };
    AskedAnswer { table: columns(&rows, 2, 2), notes: Vec::new(), object: object(&counts) }
}

/// All that tells a count from others in a budget.
#[derive(Serialize)]
struct AskedCount<'a> {
    count: &'a Spec,
    by_class: bool,
}

/// The counts.
#[derive(Serialize)]
struct CountFields<'a> {
    count: f64,
    classes: Vec<ClassCount<'a>>,
    deviation: f64,
}

/// The count of one class.
#[derive(Serialize)]
struct ClassCount<'a> {
    class: &'a str,
    count: f64,
}

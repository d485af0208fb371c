//! What RA18's figures have in common: the networks, and the average loss of the nodes.

use reticent_plot::Axis;

use crate::claim::{Claim, Version};
use crate::data::DataSet;
use crate::error::Error;
use crate::experiment::Context;
use crate::report::{Figure, Report, Series};
use crate::statistics::Mean;
use crate::train::{Among, Method, Price, Problem};

pub(super) const PENALTY: &str = "l2:1e-3";

/// δ of the budgets.
const DELTA: f64 = 1e-5;

/// The parties: 5, and 20 where there is time.
pub(super) fn networks(context: &Context<'_>) -> &'static [Among] {
    const ALL: &[Among] = &[
        Among { parties: 5, topology: Some("erdos-renyi:0.6") },
        Among { parties: 20, topology: Some("erdos-renyi:0.3") },
    ];
    if context.quick { &ALL[..1] } else { ALL }
}

/// What is to be known of all of RA18's figures.
pub(super) const NOTE: &str = "Adult as a9a has it, 123 columns; the paper has 45,223 rows of 105. The graph of the parties is random and connected, \
                               and rows are dealt to them in turn. The average loss is the paper's: the mean over the nodes of the loss of each node's own \
                               model on its own rows. The consensus error is the largest distance of a node's model from the mean of all.";

/// How much of what is drawn is noise: a difference between methods that no ε changes is one of
/// their pace.
fn what_decides(parties: u32, losses: &[Series]) -> String {
    let range = |values: &[f64]| {
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most - values.iter().copied().fold(f64::INFINITY, f64::min)
    };
    let means = |series: &Series| -> Vec<f64> {
        series.points.iter().map(|(_, values)| Mean::of(values).value).collect()
    };
    let by_epsilon = losses.iter().map(|series| range(&means(series))).fold(0.0, f64::max);
    let of_method = |series: &Series| Mean::of(&means(series)).value;
    let by_method = range(&losses.iter().map(of_method).collect::<Vec<_>>());
    let numbers = format!(
        "{parties} parties: from one ε to another the average loss of a method changes by {by_epsilon:.4} at most, and from one \
         method to another by {by_method:.4}"
    );
    if by_epsilon < by_method {
        format!(
            "{numbers}. Noise is the smaller part: what is compared is mostly how far the methods come in as many \
             iterations, and not what privacy costs them."
        )
    } else {
        format!("{numbers}.")
    }
}

/// How figures 2 and 3 compare methods.
#[derive(Debug)]
pub(super) struct Comparison<'a> {
    pub methods: &'a [Method],
    /// Which method is claimed to have a lower loss than which other, and the words for it.
    pub claims: &'a [(usize, usize, &'static str)],
    pub title: &'static str,
    pub caption: String,
}

impl Comparison<'_> {
    /// The average loss of all methods at equal certified ε, and how far their nodes are apart.
    pub fn run(&self, context: &mut Context<'_>) -> Result<Report, Error> {
        let mut report = Report::default();
        let rows = context.rows(usize::MAX, 600);
        let table = DataSet::AdultIndicators.load(context, rows, &mut report)?;
        let problem = Problem::new(&table, "logistic", PENALTY);
        let epsilons: &[f64] = context.pick(&[0.5, 1.0, 2.0, 5.0], &[1.0, 5.0]);
        for among in networks(context) {
            let named = || self.methods.iter().map(|method| Series::new(method.name)).collect();
            let (mut losses, mut apart): (Vec<Series>, Vec<Series>) = (named(), named());
            for seed in context.seeds(10, 2) {
                for &epsilon in epsilons {
                    for (k, method) in self.methods.iter().enumerate() {
                        context.say(&format!("seed {seed}, ε = {epsilon}, {}", method.name))?;
                        let price = Price::Budget(epsilon, DELTA);
                        let nodes = problem.nodes(method, price, *among, seed)?;
                        losses[k].add(epsilon, nodes.average_loss(&problem)?);
                        apart[k].add(epsilon, nodes.consensus_error());
                    }
                }
            }
            for &(ours, other, words) in self.claims {
                let text = format!("{words}, {} parties", among.parties);
                let (ours, other) = (&losses[ours], &losses[other]);
                report.claims.push(Claim::lower(&text, Version::Certified, ours, other));
            }
            report.notes.push(what_decides(among.parties, &losses));
            self.draw(among.parties, losses, apart, &mut report);
        }
        report.notes.push(NOTE.to_owned());
        Ok(report)
    }

    fn draw(&self, parties: u32, losses: Vec<Series>, apart: Vec<Series>, report: &mut Report) {
        let x = || Axis::log("total ε at δ = 1e-5");
        for (name, what, y, series) in [
            ("loss", "", Axis::linear("average loss"), losses),
            ("consensus", ", consensus", Axis::log("consensus error"), apart),
        ] {
            let (file, title) =
                (format!("{name}-{parties}"), format!("{}{what}, {parties} parties", self.title));
            let figure = Figure::new(&file, &title, x(), y).with(series);
            report.figures.push(figure.captioned(&self.caption));
        }
    }
}

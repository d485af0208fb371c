//! The rows of a trace, and the trace as text.

use reticent_accountant::{Ledger, Mechanism, epsilon, gdp_mu};

use super::public_data::Examined;

/// The most values of ε that are computed where one takes its time; between them the next one is
/// said, which is never less.
const EPSILONS: usize = 32;

/// What must be said of a trace with public data.
const NOT_PRIVATE: &str = "NOT PRIVATE: the columns that begin with `nonprivate_` are computed from the table as it is, \
without noise, because whoever ran it said that the table is public. No certificate covers this file. Publish it only \
if the table is public.";

/// What is said of a trace without.
const PRIVATE: &str = "Everything in this trace follows from what the run released and from its plan. The certificate of \
the model covers it, at the epsilon of the whole run: that of an iteration before the last is what a run planned to end \
there would have cost, and not what was spent by it.";

/// What is said of a trace of a run that nobody is promised anything of.
const NOT_CERTIFIED: &str = "NOT CERTIFIED: the certificate of the model promises nothing, and says why; it covers this \
trace no more than the model. Its epsilon is what the entries in the books come to, and no guarantee.";

/// One iteration, or one round between parties.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TraceRow {
    /// Iterations that are done; between parties, rounds.
    pub iteration: u64,
    /// Rounds between parties that are done.
    pub rounds: Option<u64>,
    /// How often the records were passed over for what was released, on average: an answer from a
    /// sample counts the share that is drawn. What the gate passes over besides, to minimise
    /// something for one answer, is not counted. Between parties, of the one who may be asked most.
    pub passes: f64,
    /// Messages so far, where their number is public.
    pub messages: Option<u64>,
    /// The bytes of the messages.
    pub bytes: Option<u64>,
    /// The upper bound of ε of a run that was planned to end here, at the δ of the trace.
    pub epsilon: f64,
    /// The norm of what was released in this iteration.
    pub released_norm: Option<f64>,
    /// The norm of the iterate.
    pub iterate_norm: Option<f64>,
    /// The norm of the averaged iterate.
    pub averaged_norm: Option<f64>,
    /// `‖A x + B y − c‖` of the iterates.
    pub residual: Option<f64>,
    /// The iterate on the public table. Not private.
    pub running: Option<Examined>,
    /// The averaged iterate on the public table: what would be published if this were the last
    /// iteration; between parties the plain mean of the models so far. Not private.
    pub averaged: Option<Examined>,
    /// The largest distance of a party's model from their mean, on a public table. Not private.
    pub consensus_error: Option<f64>,
    /// How many events of a plan may have been used by then; more than it has is all of it.
    pub(super) events: u64,
}

/// The trace of a run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// Row by row.
    pub rows: Vec<TraceRow>,
    /// The δ at which ε is counted.
    pub delta: f64,
    /// The names of the test metrics; empty without a test table.
    pub metrics: &'static [&'static str],
    /// Whether it was computed from the table without noise, which was said to be public.
    pub not_private: bool,
    /// Whether the run is certified.
    pub certified: bool,
}

impl Trace {
    /// Fills in ε and passes, from the plans of those whose books these are. What cannot be counted is
    /// infinite and no error: the run has been paid for, and whoever hears of an error thinks that it
    /// was not made.
    pub(super) fn price(&mut self, plans: &[Ledger]) {
        let count = self.rows.len();
        let cheap = plans.iter().all(|plan| gdp_mu(plan).is_some());
        let stride = if cheap { 1 } else { count.div_ceil(EPSILONS).max(1) };
        let mut next = f64::INFINITY;
        for i in (0..count).rev() {
            if (count - 1 - i).is_multiple_of(stride) {
                next = 0.0;
                for plan in plans {
                    let front = plan.front(self.rows[i].events);
                    let counted = epsilon(&front, self.delta);
                    next = next.max(counted.map_or(f64::INFINITY, |bound| bound.upper));
                }
            }
            let row = &mut self.rows[i];
            row.epsilon = next;
            let passes = |plan: &Ledger| passes(&plan.front(row.events));
            row.passes = plans.iter().map(passes).fold(0.0, f64::max);
        }
    }

    /// The columns by their names, each with a cell for each row; those without any are left out.
    pub fn columns(&self) -> Vec<(String, Vec<Option<f64>>)> {
        let mut all: Vec<(String, Vec<Option<f64>>)> = Vec::new();
        let mut add = |name: String, cell: &dyn Fn(&TraceRow) -> Option<f64>| {
            all.push((name, self.rows.iter().map(cell).collect()));
        };
        let whole = |n: Option<u64>| n.map(|n| n as f64);
        add("iteration".into(), &|row| whole(Some(row.iteration)));
        add("rounds".into(), &|row| whole(row.rounds));
        add("passes".into(), &|row| Some(row.passes));
        add("messages".into(), &|row| whole(row.messages));
        add("bytes".into(), &|row| whole(row.bytes));
        add("epsilon".into(), &|row| Some(row.epsilon));
        add("delta".into(), &|_| Some(self.delta));
        add("released_norm".into(), &|row| row.released_norm);
        add("iterate_norm".into(), &|row| row.iterate_norm);
        add("averaged_norm".into(), &|row| row.averaged_norm);
        add("residual".into(), &|row| row.residual);
        for (suffix, of) in [
            ("", (|row| row.running.as_ref()) as fn(&TraceRow) -> Option<&Examined>),
            ("_averaged", |row| row.averaged.as_ref()),
        ] {
            let named = |what: &str| format!("nonprivate_{what}{suffix}");
            add(named("objective"), &|row| Some(of(row)?.objective));
            add(named("gap"), &|row| of(row)?.gap);
            add(named("distance"), &|row| of(row)?.distance);
            for (k, metric) in self.metrics.iter().enumerate() {
                add(named(&format!("test_{metric}")), &|row| of(row)?.test.get(k).copied());
            }
        }
        add("nonprivate_consensus_error".into(), &|row| row.consensus_error);
        all.retain(|(_, cells)| cells.iter().any(Option::is_some));
        all
    }

    /// Writes it as CSV: a line of names, then a line a row; an empty cell where there is nothing to say.
    pub fn to_csv(&self) -> String {
        let columns = self.columns();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = names.join(",") + "\n";
        for i in 0..self.rows.len() {
            let cell = |(_, cells): &(String, Vec<Option<f64>>)| {
                cells[i].map(|value| value.to_string()).unwrap_or_default()
            };
            text += &(columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }

    /// The note for the file beside it.
    pub fn note(&self) -> &'static str {
        match (self.not_private, self.certified) {
            (true, _) => NOT_PRIVATE,
            (false, true) => PRIVATE,
            (false, false) => NOT_CERTIFIED,
        }
    }
}

/// How often the records were passed over on average.
fn passes(ledger: &Ledger) -> f64 {
    let share = |mechanism: &Mechanism| match mechanism {
        Mechanism::PoissonGaussian(drawn) => drawn.rate(),
        Mechanism::WithoutReplacementGaussian(drawn) => drawn.rate(),
        Mechanism::ShownSample(drawn) => drawn.rate(),
        _ => 1.0,
    };
    ledger.entries().iter().map(|e| e.count() as f64 * share(e.event().mechanism())).sum()
}

//! What is guaranteed, to whom, by how much and under which assumptions: the part of a model that a privacy
//! officer reads.

use reticent_accountant::{
    Adjacency, Bound, Entry, Event, Ledger, Mechanism, NonPrivate, Taint, Unit, View, epsilon, extended,
    gdp_mu, rdp_curve,
};
use reticent_admm::Choice;
use reticent_oracle::{Refusal, Terms};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::job::Job;
use crate::simulate::Spread;

/// The format that this version writes and reads.
const VERSION: u32 = 1;

/// The δ at which the curve is given, beside the one that was asked for.
const CURVE: [f64; 9] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12];

/// The orders at which the Rényi curve is given: enough to see its shape and to compose by hand. Whoever
/// needs another order has the ledger, which determines the whole curve.
const ORDERS: [f64; 12] = [1.1, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0];

/// The certificate of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The format.
    pub version: u32,
    /// Whether the numbers below are a guarantee.
    pub certified: bool,
    /// Why they are not; empty when they are.
    pub reasons: Vec<String>,
    /// ε at δ: the number to promise.
    #[serde(with = "extended")]
    pub epsilon: f64,
    /// What a paper claims ε to be for a run as published, where that does not hold. Not a guarantee of
    /// anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed: Option<f64>,
    /// No analysis of this run can give an ε below this.
    #[serde(with = "extended")]
    pub epsilon_lower: f64,
    /// δ.
    pub delta: f64,
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// Whether a record or a user is protected.
    pub unit: Unit,
    /// Against whom.
    pub view: View,
    /// What the numbers mean, in a sentence.
    pub meaning: String,
    /// How ε was computed.
    pub accountant: String,
    /// `secure`, `seeded, NOT PRIVATE`, or `none` where none was drawn.
    pub noise: String,
    /// The algorithm that was asked for.
    pub algorithm: String,
    /// What it chose, if it was `auto`: the same run, to be typed by hand.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub choice: Option<Choice>,
    /// The public number of records or users that answers were divided by.
    pub population: u64,
    /// ε at other δ.
    pub curve: Vec<Point>,
    /// μ of Gaussian differential privacy, when the run is exactly that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mu: Option<f64>,
    /// Rényi divergence bounds.
    pub rdp: Vec<Order>,
    /// How ε is spread over the parties, in the certificate of a run between many: the numbers above are then
    /// those of the party who spent most.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parties: Option<Spread>,
    /// What the guarantee relies on.
    pub assumptions: Vec<String>,
    /// Every use of the data.
    pub ledger: Ledger,
    /// The version of the program.
    pub reticent: String,
}

/// A point of the curve ε(δ).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// δ.
    pub delta: f64,
    /// ε there.
    #[serde(with = "extended")]
    pub epsilon: f64,
}

/// A point of the Rényi curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The order α.
    pub alpha: f64,
    /// The divergence bound there.
    #[serde(with = "extended")]
    pub epsilon: f64,
}

/// The δ of a certificate that no budget was given for.
const DELTA_WITHOUT_BUDGET: f64 = 1e-5;

impl Certificate {
    /// The certificate of what `ledger` recorded.
    pub(crate) fn new(job: &Job, terms: &Terms, ledger: Ledger) -> Result<Self, Error> {
        let delta = job.budget.map_or(DELTA_WITHOUT_BUDGET, |budget| budget.delta);
        Self::of(job.entry.name, delta, terms, ledger)
    }

    /// The certificate of what `ledger` recorded of a run of `algorithm`, at `delta`.
    pub(crate) fn of(algorithm: &str, delta: f64, terms: &Terms, ledger: Ledger) -> Result<Self, Error> {
        let published = ledger.taints().iter().any(|taint| matches!(taint, Taint::AsPublished(_)));
        // The events of a run as published are the paper's claims: a bound of them bounds nothing.
        let books = if published { unproven(terms)? } else { ledger.clone() };
        let Bound { lower, upper, method } = epsilon(&books, delta)?;
        let claimed = if published { Some(epsilon(&ledger, delta)?.upper) } else { None };
        let mut reasons: Vec<String> = ledger.taints().iter().map(Taint::to_string).collect();
        if upper.is_infinite() && !published {
            reasons.push("values were released without noise: epsilon is infinite".to_owned());
        }
        let curve = CURVE
            .iter()
            .map(|&delta| Ok(Point { delta, epsilon: epsilon(&books, delta)?.upper }))
            .collect::<Result<_, Error>>()?;
        let meaning = meaning(terms, upper, delta, &reasons, claimed);
        Ok(Certificate {
            version: VERSION,
            certified: reasons.is_empty(),
            reasons,
            epsilon: upper,
            claimed: claimed.filter(|claimed| claimed.is_finite()),
            epsilon_lower: lower,
            delta,
            adjacency: terms.adjacency(),
            unit: terms.unit(),
            view: terms.view(),
            meaning,
            accountant: method.to_string(),
            noise: noise(&ledger).to_owned(),
            algorithm: algorithm.to_owned(),
            choice: None,
            population: terms.population(),
            curve,
            mu: gdp_mu(&books),
            rdp: rdp_curve(&books)
                .into_iter()
                .filter(|(alpha, _)| ORDERS.contains(alpha))
                .map(|(alpha, epsilon)| Order { alpha, epsilon })
                .collect(),
            parties: None,
            assumptions: assumptions(terms, &ledger),
            ledger,
            reticent: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }
}

/// Where the noise came from, if there was any.
fn noise(ledger: &Ledger) -> &'static str {
    let bare = |entry: &Entry| matches!(entry.event().mechanism(), Mechanism::NonPrivate(_));
    if ledger.taints().contains(&Taint::SeededNoise) {
        "seeded, NOT PRIVATE"
    } else if !ledger.entries().is_empty() && ledger.entries().iter().all(bare) {
        "none"
    } else {
        "secure"
    }
}

/// What is proven of a run whose events are claims: nothing.
fn unproven(terms: &Terms) -> Result<Ledger, Error> {
    let mut ledger = Ledger::new();
    let (adjacency, unit, view) = (terms.adjacency(), terms.unit(), terms.view());
    ledger.append(Event::new(NonPrivate {}, adjacency, unit, view).map_err(Refusal::from)?);
    Ok(ledger)
}

/// The guarantee as a sentence.
fn meaning(terms: &Terms, epsilon: f64, delta: f64, reasons: &[String], claimed: Option<f64>) -> String {
    let who = match terms.unit() {
        Unit::Record => "record",
        Unit::User => "person, with all their records,",
    };
    let change = match terms.adjacency() {
        Adjacency::ReplaceOne => format!("replacing any one {who} by another"),
        Adjacency::AddRemove => format!("adding or leaving out any one {who}"),
    };
    let seen = match terms.view() {
        View::Central => "whoever sees the model",
        View::Local => "whoever sees every message of one party",
        View::SecureAggregation => "whoever sees the sums of messages",
        View::Network => "another party of the network",
    };
    if let Some(claimed) = claimed {
        return format!(
            "No guarantee: {}. The paper claims epsilon = {claimed:.4} at delta = {delta:e}; docs/errata.md says why \
             that does not follow.",
            reasons.join("; ")
        );
    }
    if epsilon.is_infinite() {
        return format!("No guarantee: {change} may change what {seen} learns without any limit.");
    }
    if !reasons.is_empty() {
        return format!("No guarantee: {}.", reasons.join("; "));
    }
    // Rounded up, as a promise must be; e to a large power says nothing to anybody.
    let up = |value: f64| (value * 1e4).ceil() / 1e4;
    let factor = if epsilon < 10.0 { format!(" = {}", up(epsilon.exp())) } else { String::new() };
    format!(
        "For {seen}: {change} changes the probability of any outcome by a factor of at most e^{}{factor}, \
         but for a probability of {delta:e}.",
        up(epsilon)
    )
}

/// What the guarantee relies on, besides the proofs.
fn assumptions(terms: &Terms, ledger: &Ledger) -> Vec<String> {
    let mut list = vec![
        "the schema (bounds, categories, classes, row norm) was not taken from the private data".to_owned(),
        "the job (loss, penalty, settings) was not chosen by looking at the private data".to_owned(),
        "the operating system's random numbers are unpredictable".to_owned(),
        "the adversary sees what the view says, the model and this certificate, not the memory or the timing of the run"
            .to_owned(),
        "every table that is compared can be read under the schema and has a record; one that cannot is refused, and why \
         is for its owner to know"
            .to_owned(),
    ];
    list.push(match (terms.adjacency(), terms.unit()) {
        (Adjacency::ReplaceOne, Unit::Record) => "the number of records is public".to_owned(),
        (Adjacency::ReplaceOne, Unit::User) => "the number of persons is public".to_owned(),
        (Adjacency::AddRemove, _) => {
            "the public number in the field population was not taken from the data".to_owned()
        }
    });
    if terms.adjacency() == Adjacency::AddRemove
        && ledger.entries().iter().any(|entry| of_an_objective(entry.event().mechanism()))
    {
        list.push("there are at most twice as many as that public number".to_owned());
    }
    let selected = |entry: &Entry| matches!(entry.event().mechanism(), Mechanism::Selection(_));
    if ledger.entries().iter().any(selected) {
        list.push(
            "nobody learns how many runs the model was chosen from, or anything about the others".to_owned(),
        );
    }
    if terms.unit() == Unit::Record {
        list.push("a person has one record in the table; who has more is protected less".to_owned());
    }
    list
}

/// Whether a minimiser of a perturbed objective was released, whose guarantee is for tables of so many
/// records (proofs/objective.md).
fn of_an_objective(mechanism: &Mechanism) -> bool {
    let any = |run: &[(Mechanism, u64)]| run.iter().any(|(mechanism, _)| of_an_objective(mechanism));
    match mechanism {
        Mechanism::ObjectivePerturbation(_) | Mechanism::PureDp(_) => true,
        Mechanism::Selection(selection) => any(selection.run()),
        Mechanism::Choice(choice) => choice.runs().iter().any(|run| any(run)),
        _ => false,
    }
}

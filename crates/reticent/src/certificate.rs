//! What is guaranteed, to whom, by how much and under which assumptions: the part of a model that a
//! privacy officer reads.

use reticent_accountant::{
    Adjacency, Entry, Ledger, Mechanism, Taint, Unit, View, extended, gdp_mu, rdp_curve,
};
use reticent_admm::Choice;
use reticent_oracle::Terms;
use reticent_oracle::tables::Schema;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::simulate::Spread;
use crate::task::Task;
use crate::verdict::{Scope, Verdict};

/// The format that this version writes and reads.
const VERSION: u32 = 1;

/// The δ at which the curve is given, beside the one that was asked for.
const CURVE: [f64; 9] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12];

/// The orders at which the Rényi curve is given: enough to see its shape and to compose by hand.
/// Whoever needs another order has the ledger, which determines the whole curve.
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
    /// ε at δ: the number to promise; infinite where there is no guarantee.
    #[serde(with = "extended")]
    pub epsilon: f64,
    /// What a paper claims ε to be for a run as published, where that does not hold. Not a
    /// guarantee of anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed: Option<f64>,
    /// What the events of the ledger would cost were it not for the reasons. Not a guarantee of
    /// anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counted: Option<f64>,
    /// No analysis of all that was released on the way can give an ε below this. The last model
    /// alone may tell less.
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
    /// How ε is spread over the parties, in the certificate of a run between many: the numbers
    /// above are then those of the party who spent most.
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
    pub(crate) fn new(task: &Task, terms: &Terms, ledger: Ledger) -> Result<Self, Error> {
        let delta = task.budget.map_or(DELTA_WITHOUT_BUDGET, |budget| budget.delta());
        let mut certificate = Self::of(task.entry.name, delta, terms, ledger)?;
        certificate.assumptions.extend(origin(&task.objective.schema));
        Ok(certificate)
    }

    /// The certificate of what `ledger` recorded of a run of `algorithm`, at `delta`.
    pub(crate) fn of(
        algorithm: &str,
        delta: f64,
        terms: &Terms,
        ledger: Ledger,
    ) -> Result<Self, Error> {
        let otherwise =
            Scope { adjacency: terms.adjacency(), unit: terms.unit(), view: terms.view() };
        let Verdict { certified, reasons, epsilon, counted, claimed, scope, meaning, .. } =
            Verdict::of(&ledger, delta, otherwise)?;
        Ok(Certificate {
            version: VERSION,
            certified,
            reasons,
            epsilon: epsilon.upper,
            counted,
            claimed,
            epsilon_lower: epsilon.lower,
            delta,
            adjacency: scope.adjacency,
            unit: scope.unit,
            view: scope.view,
            meaning: seen_by(algorithm, meaning),
            accountant: epsilon.method.to_string(),
            noise: noise(&ledger).to_owned(),
            algorithm: algorithm.to_owned(),
            choice: None,
            population: terms.population(),
            curve: points(&ledger)?,
            mu: certified.then(|| gdp_mu(&ledger)).flatten(),
            rdp: if certified { orders(&ledger) } else { Vec::new() },
            parties: None,
            assumptions: assumptions(terms, &ledger),
            ledger,
            reticent: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// This certificate as its ledger has it: where the file promises more than the events, it is
    /// not believed. It may promise less, as another version does that counts less tightly. Numbers
    /// and words that follow from the ledger are made anew.
    ///
    /// # Errors
    /// If the ledger cannot be counted.
    pub fn recounted(mut self) -> Result<Self, Error> {
        self.noise = noise(&self.ledger).to_owned();
        let Certificate { adjacency, unit, view, .. } = self;
        let verdict = Verdict::of(&self.ledger, self.delta, Scope { adjacency, unit, view })?;
        // Another version may have counted a little more tightly; less than the least that is
        // possible it cannot.
        let short =
            verdict.certified && self.certified && self.epsilon < verdict.epsilon.lower.next_down();
        if verdict.certified && self.certified && !short {
            // An ε that only has to be above a lower end of 0 says nothing: what is shown is never
            // below our own count.
            let verdict = verdict.at_least(self.epsilon);
            self.epsilon = verdict.epsilon.upper;
            self.meaning = seen_by(&self.algorithm, verdict.meaning);
            self.curve = points(&self.ledger)?;
            self.mu = gdp_mu(&self.ledger);
            self.rdp = orders(&self.ledger);
            return Ok(self);
        }
        if verdict.certified && !short {
            return Ok(self);
        }
        self.reasons.extend(
            verdict
                .reasons
                .into_iter()
                .filter(|reason| !self.reasons.contains(reason))
                .collect::<Vec<_>>(),
        );
        if short {
            let said = format!(
                "the file says epsilon = {}, and its ledger costs at least {}",
                self.epsilon, verdict.epsilon.lower
            );
            self.reasons.push(said);
        }
        if self.certified {
            self.meaning = format!("No guarantee: {}.", self.reasons.join("; "));
        }
        (self.certified, self.epsilon, self.epsilon_lower) = (false, f64::INFINITY, 0.0);
        self.curve.iter_mut().for_each(|point| point.epsilon = f64::INFINITY);
        (self.mu, self.rdp) = (None, Vec::new());
        Ok(self)
    }
}

/// An evaluation shows figures, and no model.
fn seen_by(algorithm: &str, meaning: String) -> String {
    match algorithm {
        crate::evaluation::NAME => {
            meaning.replace("whoever sees the model", "whoever sees the evaluation")
        }
        _ => meaning,
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

/// ε of a ledger at the δ of the curve.
fn points(ledger: &Ledger) -> Result<Vec<Point>, Error> {
    let curve = Verdict::curve(ledger, &CURVE)?;
    Ok(curve.iter().map(|(delta, bound)| Point { delta: *delta, epsilon: bound.upper }).collect())
}

/// Rényi divergences of a ledger at the orders that are shown.
fn orders(ledger: &Ledger) -> Vec<Order> {
    let shown = rdp_curve(ledger).into_iter().filter(|(alpha, _)| ORDERS.contains(alpha));
    shown.map(|(alpha, epsilon)| Order { alpha, epsilon }).collect()
}

/// What the guarantee relies on, besides the proofs.
fn assumptions(terms: &Terms, ledger: &Ledger) -> Vec<String> {
    let mut list = vec![
        "the schema (bounds, categories, classes, row norm) was not taken from the private data".to_owned(),
        "the job (loss, penalty, settings) was not chosen by looking at the private data".to_owned(),
        "the operating system's random numbers are unpredictable".to_owned(),
        format!(
            "the adversary sees {} and this certificate, not the memory or the timing of the run",
            if terms.view() == View::Network { "what the view says, not the model," } else { "what the view says, the model" }
        ),
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
    let selected = |entry: &Entry| matches!(entry.event().mechanism(), Mechanism::Selection(_));
    if ledger.entries().iter().any(selected) {
        list.push(
            "nobody learns how many runs the model was chosen from, or anything about the others"
                .to_owned(),
        );
    }
    if terms.unit() == Unit::Record {
        list.push(
            "a person has one record in the table; who has more is protected less".to_owned(),
        );
    }
    list
}

/// What is taken as given of a schema that was drafted.
pub(crate) fn origin(schema: &Schema) -> Option<String> {
    let drafted = schema.drafted()?;
    Some(format!("the file that the schema was drafted from, {}, is public", drafted.from()))
}

#[cfg(test)]
mod tests {
    use reticent_accountant::{Event, Zcdp};

    use super::*;

    /// A ledger that is counted by Rényi alone has a lower end of 0, and any ε of a file lies above
    /// that.
    #[test]
    fn a_forged_epsilon_or_noise_is_not_shown() {
        let terms = Terms::of_parties(Unit::User, View::SecureAggregation, 40);
        let mut ledger = Ledger::new();
        let zcdp = Zcdp::new(0.1).unwrap();
        ledger.append(Event::new(zcdp, terms.adjacency(), terms.unit(), terms.view()).unwrap());
        let honest = Certificate::of("federated", 1e-5, &terms, ledger).unwrap();
        assert!(honest.certified && honest.epsilon > 1.0);
        assert_eq!(honest.clone().recounted().unwrap(), honest);

        let mut forged = honest.clone();
        forged.epsilon = 0.001;
        forged.meaning = "Perfectly private.".to_owned();
        forged.curve.iter_mut().for_each(|point| point.epsilon = 0.0);
        forged.rdp.clear();
        forged.mu = Some(0.0);
        assert_eq!(forged.recounted().unwrap(), honest);

        // Noise that is said to be missing hides the δ, and noise that is said to be secure the
        // seed.
        let forged = Certificate { noise: "none".to_owned(), ..honest.clone() };
        assert_eq!(forged.recounted().unwrap().noise, "secure");
        let mut seeded = honest.clone();
        seeded.ledger.taint(Taint::SeededNoise);
        let seeded = seeded.recounted().unwrap();
        assert!(!seeded.certified && seeded.noise == "seeded, NOT PRIVATE");

        // One who promises less may.
        let modest = Certificate { epsilon: 9.0, ..honest }.recounted().unwrap();
        assert!(modest.epsilon == 9.0 && modest.meaning.contains("e^9 "), "{}", modest.meaning);
    }
}

//! What is guaranteed, to whom, by how much and under which assumptions: the part of a model that a
//! privacy officer reads.

use reticent_accountant::{
    Adjacency, Bound, Ledger, LedgerEntry, Mechanism, Method, Taint, Unit, View, extended, gdp_mu,
    rdp_curve, trade_off,
};
use reticent_admm::AutoChoice;
use reticent_oracle::Terms;
use reticent_oracle::tables::{IdForm, Schema};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::canonical;
use crate::error::Error;
use crate::identity::{Identity, Signature};
use crate::simulate::Spread;
use crate::verdict::{Scope, Verdict, of_one_party};

/// The format that this version writes. It also reads format 1, which had no digest.
pub(crate) const VERSION: u32 = 2;

/// The δ at which the curve is given, beside the one that was asked for.
const CURVE: [f64; 9] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12];

/// The orders at which the Rényi curve is given: enough to see its shape and to compose by hand.
/// Whoever needs another order has the ledger, which determines the whole curve.
const ORDERS: [f64; 12] = [1.1, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 32.0, 64.0, 256.0, 1024.0];

/// The certificate of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Certificate {
    /// The version of the format.
    pub version: u32,
    /// Whether the numbers below are a guarantee.
    pub certified: bool,
    /// Why they are not; empty when they are.
    pub reasons: Vec<String>,
    /// ε at δ: the number to promise; infinite where there is no guarantee.
    #[serde(with = "extended")]
    pub epsilon: f64,
    /// The ε that a paper claims for a run as published, where that does not hold. Not a
    /// guarantee of anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub claimed: Option<f64>,
    /// The ε of the events of the ledger, were it not for the reasons. Not a guarantee of
    /// anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub counted: Option<f64>,
    /// No analysis of all that was released on the way can give an ε below this. The last model
    /// alone may tell less.
    #[serde(with = "extended")]
    pub epsilon_lower: f64,
    /// The slack δ.
    pub delta: f64,
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// Whether a record or a user is protected.
    pub unit: Unit,
    /// The trust model: the adversary of the guarantee.
    pub view: View,
    /// The meaning of the numbers, in a sentence.
    pub meaning: String,
    /// How ε was computed.
    pub accountant: String,
    /// `secure`, `seeded, NOT PRIVATE`, or `none` where none was drawn.
    pub noise: String,
    /// The algorithm that was asked for.
    pub algorithm: String,
    /// The settings that were chosen, if it was `auto`: the same run, to be typed by hand.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub choice: Option<AutoChoice>,
    /// The public number of records or users that answers were divided by.
    pub population: u64,
    /// ε at other δ.
    pub curve: Vec<CurvePoint>,
    /// μ of Gaussian differential privacy, when the run is exactly that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mu: Option<f64>,
    /// Rényi divergence bounds.
    pub rdp: Vec<Order>,
    /// How ε is spread over the parties, in the certificate of a run between many: the numbers
    /// above are then those of the party who spent most.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parties: Option<Spread>,
    /// The assumptions of the guarantee.
    pub assumptions: Vec<String>,
    /// Every use of the data.
    pub ledger: Ledger,
    /// The version of the program.
    pub reticent: String,
    /// The digest of the model that it is about, without this certificate: docs/certificates.md.
    /// Absent in format 1, and where there is no model: of one party of a run, of figures.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The digest of all of the above.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub digest: Option<String>,
    /// The signature of the digest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signature: Option<Signature>,
}

/// A point of the curve ε(δ).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CurvePoint {
    /// The slack δ.
    pub delta: f64,
    /// The ε at this δ.
    #[serde(with = "extended")]
    pub epsilon: f64,
}

/// A point of the Rényi curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
    /// Whether it is of figures, such as a count, and not of a model.
    pub fn is_of_figures(&self) -> bool {
        let of = self.algorithm.as_str();
        FIGURES.contains(&of) || of == crate::evaluation::NAME
    }

    /// Whether a person is a person within a party, so that one with rows at several parties is as many
    /// units of what is counted, and nothing is promised of all their records together.
    pub fn is_within_parties(&self) -> bool {
        self.unit == Unit::User
            && self.assumptions.iter().any(|line| line.starts_with(WITHIN_PARTIES))
    }

    /// Whether what is promised of a record is about another record with the same party: of a run whose
    /// parties' answers are told apart. Replaced by one of another party it changes the answers of two
    /// (proofs/parallel.md). What is made of entrusted sums is of all rows, whoever has them.
    pub fn is_about_one_party(&self) -> bool {
        let several = self.parties.as_ref().is_some_and(|spread| spread.count > 1);
        let pooled =
            self.view == View::Central && reticent_runtime::find(&self.algorithm).is_none();
        let replaced = (self.unit, self.adjacency) == (Unit::Record, Adjacency::ReplaceOne);
        several && replaced && !pooled
    }

    /// The same, its sentence about the persons that it takes as given.
    pub(crate) fn about_its_persons(mut self) -> Self {
        if self.is_within_parties() {
            self.meaning = of_one_party(&self.meaning);
        }
        self
    }

    /// The certificate of what `ledger` recorded within a budget, sealed: the name of what ran, and
    /// what it relies on beyond what every certificate does.
    pub(crate) fn of_run(
        (name, assumptions): (&str, Vec<String>),
        budget: Option<Budget>,
        terms: &Terms,
        ledger: Ledger,
    ) -> Result<Self, Error> {
        let delta = budget.map_or(DELTA_WITHOUT_BUDGET, |budget| budget.delta());
        let mut certificate = Self::of(name, delta, terms, ledger)?;
        certificate.assumptions.extend(assumptions);
        certificate.sealed(None)
    }

    /// The certificate of what `ledger` recorded of a run of `algorithm`, at `delta`.
    pub(crate) fn of(
        algorithm: &str,
        delta: f64,
        terms: &Terms,
        ledger: Ledger,
    ) -> Result<Self, Error> {
        let scope = Scope { adjacency: terms.adjacency(), unit: terms.unit(), view: terms.view() };
        Self::stated(algorithm, delta, scope, terms.population(), ledger)
    }

    /// All that a certificate says and that follows from something else: the one way to state it,
    /// and the one to check a statement by. `otherwise` is whom it is about if the ledger does not
    /// say.
    pub(crate) fn stated(
        algorithm: &str,
        delta: f64,
        otherwise: Scope,
        population: u64,
        ledger: Ledger,
    ) -> Result<Self, Error> {
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
            population,
            curve: points(&ledger)?,
            mu: certified.then(|| gdp_mu(&ledger)).flatten(),
            rdp: if certified { orders(&ledger) } else { Vec::new() },
            parties: None,
            assumptions: assumptions(algorithm, scope, &ledger),
            ledger,
            reticent: env!("CARGO_PKG_VERSION").to_owned(),
            model: None,
            digest: None,
            signature: None,
        })
    }

    /// The same with a promise that is at least `epsilon`, and the sentence for it.
    pub(crate) fn promising(mut self, epsilon: f64) -> Self {
        let Certificate { adjacency, unit, view, certified, delta, .. } = self;
        let verdict = Verdict {
            certified,
            reasons: self.reasons.clone(),
            epsilon: Bound { lower: 0.0, upper: self.epsilon, method: Method::Trivial },
            counted: self.counted,
            claimed: self.claimed,
            delta,
            scope: Scope { adjacency, unit, view },
            meaning: std::mem::take(&mut self.meaning),
        };
        let verdict = verdict.at_least(epsilon);
        self.epsilon = verdict.epsilon.upper;
        self.meaning = seen_by(&self.algorithm, verdict.meaning);
        self
    }

    /// Binds it to the model with this digest, if it is about one. Nothing can be changed afterwards
    /// without being noticed.
    pub(crate) fn sealed(self, model: Option<String>) -> Result<Self, Error> {
        let mut sealed = self.about_its_persons();
        sealed.model = model;
        (sealed.digest, sealed.signature) = (None, None);
        let value = serde_json::to_value(&sealed).map_err(Error::no_digest)?;
        sealed.digest = Some(canonical::digest(&value).map_err(Error::no_digest)?);
        Ok(sealed)
    }

    /// Vouches for it.
    pub(crate) fn sign(&mut self, identity: &Identity) -> Result<(), Error> {
        let digest = self.digest.as_deref().ok_or(Error::Missing {
            what: "the digest of the certificate",
            todo: "sign the certificate of a model of this version",
        })?;
        self.signature = Some(identity.sign(digest));
        Ok(())
    }

    /// ε at any δ, counted anew from the ledger; infinite where there is no guarantee.
    ///
    /// # Errors
    /// If δ cannot be.
    pub fn epsilon_at(&self, delta: f64) -> Result<f64, Error> {
        let points = Verdict::curve(&self.ledger, &[delta])?;
        Ok(points.first().map_or(f64::INFINITY, |(_, bound)| bound.upper))
    }

    /// δ at each ε, counted anew from the ledger; 1 where there is no guarantee.
    ///
    /// # Errors
    /// If an ε cannot be.
    pub fn profile(&self, epsilons: &[f64]) -> Result<Vec<(f64, f64)>, Error> {
        let at = |&epsilon: &f64| Ok((epsilon, Verdict::delta_at(&self.ledger, epsilon)?.upper));
        epsilons.iter().map(at).collect()
    }

    /// For each rate of false alarms the least rate at which whoever tries to tell two neighbouring
    /// tables apart overlooks a change; 0 where there is no guarantee.
    ///
    /// # Errors
    /// If the ledger cannot be counted.
    pub fn trade_off(&self, levels: &[f64]) -> Result<Vec<(f64, f64)>, Error> {
        if !self.ledger.taints().is_empty() {
            return Ok(levels.iter().map(|&level| (level, 0.0)).collect());
        }
        Ok(trade_off(&self.ledger, levels)?)
    }

    /// The text of `certificate.json`.
    ///
    /// # Errors
    /// None for a certificate that a run or a file gave.
    pub fn to_json(&self) -> Result<String, Error> {
        pretty(self)
    }

    /// The same without any guarantee, for these reasons.
    pub(crate) fn disbelieved(mut self, reasons: Vec<String>) -> Self {
        self.meaning = format!("No guarantee: {}.", reasons.join("; "));
        self.reasons = reasons;
        (self.claimed, self.counted) = (None, None);
        (self.certified, self.epsilon, self.epsilon_lower) = (false, f64::INFINITY, 0.0);
        self.curve.iter_mut().for_each(|point| point.epsilon = f64::INFINITY);
        (self.mu, self.rdp) = (None, Vec::new());
        self
    }
}

/// As files have it: with a line for each field, and one at the end.
pub(crate) fn pretty(value: &impl Serialize) -> Result<String, Error> {
    Ok(serde_json::to_string_pretty(value).map_err(Error::no_digest)? + "\n")
}

/// Questions that show figures and have neither loss nor penalty.
const FIGURES: [&str; 4] = ["count", "mean", "histogram", "quantile"];

/// An evaluation, a count and a statistic show figures, and no model.
fn seen_by(algorithm: &str, meaning: String) -> String {
    let seen = match algorithm {
        crate::evaluation::NAME => "whoever sees the evaluation",
        of if FIGURES.contains(&of) => "whoever sees the answer",
        _ => return meaning,
    };
    meaning.replace("whoever sees the model", seen)
}

/// Where the noise came from, if there was any.
fn noise(ledger: &Ledger) -> &'static str {
    let bare = |entry: &LedgerEntry| matches!(entry.event().mechanism(), Mechanism::NonPrivate(_));
    if ledger.taints().contains(&Taint::SeededNoise) {
        "seeded, NOT PRIVATE"
    } else if !ledger.entries().is_empty() && ledger.entries().iter().all(bare) {
        "none"
    } else {
        "secure"
    }
}

/// ε of a ledger at the δ of the curve.
fn points(ledger: &Ledger) -> Result<Vec<CurvePoint>, Error> {
    let curve = Verdict::curve(ledger, &CURVE)?;
    Ok(curve
        .iter()
        .map(|(delta, bound)| CurvePoint { delta: *delta, epsilon: bound.upper })
        .collect())
}

/// Rényi divergences of a ledger at the orders that are shown.
fn orders(ledger: &Ledger) -> Vec<Order> {
    let shown = rdp_curve(ledger).into_iter().filter(|(alpha, _)| ORDERS.contains(alpha));
    shown.map(|(alpha, epsilon)| Order { alpha, epsilon }).collect()
}

/// What the guarantee relies on, besides the proofs.
fn assumptions(algorithm: &str, scope: Scope, ledger: &Ledger) -> Vec<String> {
    let figures = FIGURES.contains(&algorithm);
    let job = if figures { "columns, bins, fractions" } else { "loss, penalty, settings" };
    let seen = match scope.view {
        View::Network => "not the model,",
        _ if figures => "the answer",
        _ => "the model",
    };
    let mut list = vec![
        "the schema (bounds, categories, classes, row norm) was not taken from the private data".to_owned(),
        format!("the job ({job}) was not chosen by looking at the private data"),
        "the operating system's random numbers are unpredictable".to_owned(),
        format!(
            "the adversary sees what the view says, {seen} and this certificate, not the memory or the timing of the run"
        ),
        "every table that is compared can be read under the schema and has a record; one that cannot is refused, and why \
         is for its owner to know"
            .to_owned(),
    ];
    list.push(match (scope.adjacency, scope.unit) {
        (Adjacency::ReplaceOne, Unit::Record) => "the number of records is public".to_owned(),
        (Adjacency::ReplaceOne, Unit::User) => "the number of persons is public".to_owned(),
        (Adjacency::ReplaceOne, Unit::Party) => "the number of parties is public".to_owned(),
        (Adjacency::AddRemove, _) => {
            "the public number in the field population was not taken from the data".to_owned()
        }
    });
    let selected =
        |entry: &LedgerEntry| matches!(entry.event().mechanism(), Mechanism::Selection(_));
    if ledger.entries().iter().any(selected) {
        list.push(
            "nobody learns how many runs the model was chosen from, or anything about the others"
                .to_owned(),
        );
    }
    if scope.unit == Unit::Record {
        list.push(
            "a person has one record in the table; who has more is protected less".to_owned(),
        );
    }
    list
}

/// What is taken as given of ids, where persons are protected. Not among what every certificate says,
/// so that those that were written before still hold.
pub(crate) fn told_apart(schema: &Schema, unit: Unit) -> Option<String> {
    let rule = match schema.user_form().unwrap_or_default() {
        IdForm::Canonical => {
            "a person has one id; spellings of one integer, truth value, day or text in NFC are one id"
        }
        IdForm::Text => "a person has one id, spelt in one way in every record",
    };
    (unit == Unit::User).then(|| rule.to_owned())
}

/// How the assumption begins by which a person with rows at k parties is k persons: of certificates that
/// are written it stays as it is.
pub(crate) const WITHIN_PARTIES: &str =
    "a person is a person within a party. Which parties there are, ";

/// How the assumption about a schema begins that was drafted from a public file. Versions before
/// this one wrote it of every draft.
const PUBLIC_ORIGIN: &str = "the file that the schema was drafted from, ";

/// How it begins where nobody says that the file is public. The name of the file follows.
const PRIVATE_ORIGIN: &str = "the schema was drafted from a file that is not declared public, and nobody in this table has \
                              a record in that file: ";

/// What is taken as given of a schema that was drafted.
pub(crate) fn origin(schema: &Schema) -> Option<String> {
    let drafted = schema.drafted()?;
    Some(match drafted.public() {
        true => format!("{PUBLIC_ORIGIN}{}, is public", drafted.from()),
        false => format!("{PRIVATE_ORIGIN}{}", drafted.from()),
    })
}

/// What a certificate takes as given of where its schema was drafted, and whether that file is
/// private. A model keeps no more of it than this.
pub(crate) fn origin_of(certificate: &Certificate) -> Option<(&str, bool)> {
    let private = |line: &str| line.starts_with(PRIVATE_ORIGIN);
    let mut lines = certificate.assumptions.iter().map(String::as_str);
    let line = lines.find(|line| private(line) || line.starts_with(PUBLIC_ORIGIN))?;
    Some((line, private(line)))
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
        let honest = honest.sealed(None).unwrap();
        let checked = |certificate: &Certificate| certificate.verify(None).unwrap();
        assert!(checked(&honest).holds());
        assert_eq!(checked(&honest).certificate, honest);

        // Whoever forges computes the digest anew.
        let forged = |change: &dyn Fn(&mut Certificate)| {
            let mut forged = honest.clone();
            change(&mut forged);
            let found = checked(&forged.sealed(None).unwrap());
            let shown = &found.certificate;
            assert!(!found.holds() && !shown.certified && shown.epsilon.is_infinite());
            assert!(shown.meaning.starts_with("No guarantee"), "{}", shown.meaning);
            found.failures().map(|check| check.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(forged(&|own| own.epsilon = 0.001), ["epsilon"]);
        assert_eq!(forged(&|own| own.meaning = "Perfectly private.".to_owned()), ["meaning"]);
        assert_eq!(forged(&|own| own.curve[0].epsilon = 0.0), ["curve"]);
        assert_eq!(forged(&|own| own.rdp.clear()), ["rdp"]);
        assert_eq!(forged(&|own| own.mu = Some(0.0)), ["mu"]);
        // Noise that is said to be missing hides the δ, and noise that is said to be secure the
        // seed.
        assert_eq!(forged(&|own| own.noise = "none".to_owned()), ["noise"]);
        let seeded = forged(&|own| own.ledger.taint(Taint::SeededNoise));
        assert!(seeded.contains(&"noise".to_owned()) && seeded.contains(&"certified".to_owned()));
    }
}

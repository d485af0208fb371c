//! What a ledger is worth, in numbers and in words: the one way from books to people.
//!
//! `fit`, `simulate`, `account`, `inspect` and the certificate all take what they say from a
//! [`Verdict`], so that a reason why a ledger is no guarantee (a [`Taint`]) cannot be passed over
//! by one of them. Where there is such a reason, ε is infinite: what its events would cost without
//! it stands apart, under another name.

use reticent_accountant::{
    AccountError, AccountReport, Adjacency, Bound, Ledger, Mechanism, Method, Taint, Unit, View,
    curve, delta, epsilon, report, scope,
};

/// The scope of a number: its neighbouring relation, unit of protection and trust model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scope {
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// Whether a record or a user is protected.
    pub unit: Unit,
    /// The trust model: the adversary of the guarantee.
    pub view: View,
}

impl Scope {
    /// The scope of the events of a ledger; `None` where there is no event.
    pub fn of(ledger: &Ledger) -> Option<Self> {
        scope(ledger).map(|(adjacency, unit, view)| Scope { adjacency, unit, view })
    }
}

/// The guarantee of a ledger at δ, or why there is none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether ε is a guarantee.
    pub certified: bool,
    /// Why it is not; empty when it is.
    pub reasons: Vec<String>,
    /// ε at δ; infinite where there is no guarantee.
    pub epsilon: Bound,
    /// The ε of the events, were it not for the reasons. Not a guarantee of anything.
    pub counted: Option<f64>,
    /// The ε of a run as published, whose events are those of the paper's claim.
    pub claimed: Option<f64>,
    /// The slack δ.
    pub delta: f64,
    /// The scope.
    pub scope: Scope,
    /// The verdict as a sentence.
    pub meaning: String,
}

/// What is proven where a ledger carries a taint: nothing, from either side.
const NOTHING: Bound = Bound { lower: 0.0, upper: f64::INFINITY, method: Method::Trivial };

/// What a walk's guarantee says of the model.
const FOR_OBSERVER: &str = " Only the observer may see the model: it is the token that this seat without data saw \
                            last, and whoever else is shown it sees more than was counted.";

/// The same before the observer had a seat of its own: certificates of then still verify.
const FOR_PARTY_0: &str = " Only party 0 may see the model: it is the token that party 0 saw last, and whoever else \
                           is shown it sees more than was counted.";

/// What is left of δ = 0, and how it was said before: certificates of then still verify.
const BUT_FOR_RANGE: &str =
    "but for a probability below 1e-40 that noise leaves the range of its arithmetic";
const NO_CHANCE: &str = "with no chance of failure";

/// Who is replaced, where persons are protected, and where they are persons within parties.
const PERSON: &str = "person, with all their records,";
const PERSON_WITHIN: &str = "person within a party, with all their records there,";

/// What is said of persons, of persons within parties: who has rows with others too is not covered by
/// the same number.
pub(crate) fn of_one_party(meaning: &str) -> String {
    meaning.replace(PERSON, PERSON_WITHIN)
}

/// What a certificate says, in the words of the version that wrote it.
pub(crate) fn worded_as(meaning: String, stated: &str) -> String {
    if stated.contains(NO_CHANCE) {
        return meaning.replace(BUT_FOR_RANGE, NO_CHANCE);
    }
    match meaning.strip_suffix(FOR_OBSERVER) {
        Some(promise) if stated.ends_with(FOR_PARTY_0) => format!("{promise}{FOR_PARTY_0}"),
        _ => meaning,
    }
}

impl Verdict {
    /// The verdict on `ledger` at `delta`; `otherwise` is whom it is about if it has no event that
    /// would say so.
    ///
    /// # Errors
    /// If δ cannot be, or the events do not go together.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent::accountant::{Event, Gaussian, Ledger, Taint};
    /// use reticent::{Adjacency, Scope, Unit, Verdict, View};
    ///
    /// let (adjacency, unit, view) = (Adjacency::ReplaceOne, Unit::Record, View::Central);
    /// let mut ledger = Ledger::new();
    /// ledger.append(Event::new(Gaussian::new(5.0)?, adjacency, unit, view)?);
    /// let scope = Scope { adjacency, unit, view };
    /// assert!(Verdict::of(&ledger, 1e-6, scope)?.certified);
    /// ledger.taint(Taint::SeededNoise);
    /// let verdict = Verdict::of(&ledger, 1e-6, scope)?;
    /// assert!(!verdict.certified && verdict.epsilon.upper.is_infinite());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(ledger: &Ledger, delta: f64, otherwise: Scope) -> Result<Self, AccountError> {
        let counted = epsilon(ledger, delta)?;
        Ok(Self::with(ledger, delta, counted, otherwise, ("delta", delta)))
    }

    /// The verdict at the δ that belongs to `asked`, an ε.
    ///
    /// # Errors
    /// If ε cannot be, or the events do not go together.
    pub fn at(ledger: &Ledger, asked: f64, otherwise: Scope) -> Result<Self, AccountError> {
        let Bound { upper: delta, method, .. } = delta(ledger, asked)?;
        let upper = if delta < 1.0 { asked } else { f64::INFINITY };
        let counted = Bound { lower: 0.0, upper, method };
        Ok(Self::with(ledger, delta, counted, otherwise, ("epsilon", asked)))
    }

    fn with(
        ledger: &Ledger,
        delta: f64,
        counted: Bound,
        otherwise: Scope,
        asked: (&str, f64),
    ) -> Self {
        let mut reasons = reasons(ledger);
        let tainted = !reasons.is_empty();
        if !tainted && counted.upper.is_infinite() {
            reasons.push(unbounded(ledger, asked));
        }
        let published = ledger.taints().iter().any(|taint| matches!(taint, Taint::AsPublished(_)));
        let aside = Some(counted.upper).filter(|upper| tainted && upper.is_finite());
        let mut verdict = Verdict {
            certified: reasons.is_empty(),
            reasons,
            epsilon: if tainted && counted.lower.is_finite() { NOTHING } else { counted },
            counted: aside.filter(|_| !published),
            claimed: aside.filter(|_| published),
            delta,
            scope: Scope::of(ledger).unwrap_or(otherwise),
            meaning: String::new(),
        };
        verdict.meaning = verdict.sentence();
        verdict
    }

    /// The same with an ε that is at least the one given.
    pub(crate) fn at_least(mut self, epsilon: f64) -> Self {
        if epsilon > self.epsilon.upper {
            self.epsilon.upper = epsilon;
            self.meaning = self.sentence();
        }
        self
    }

    /// Every method's count at δ, side by side; `None` where the ledger is no guarantee by any of
    /// them.
    ///
    /// # Errors
    /// If δ cannot be, or the events do not go together.
    pub fn methods(ledger: &Ledger, delta: f64) -> Result<Option<AccountReport>, AccountError> {
        if reasons(ledger).is_empty() { report(ledger, delta).map(Some) } else { Ok(None) }
    }

    /// δ at ε; 1 where there is no guarantee.
    ///
    /// # Errors
    /// If ε cannot be, or the events do not go together.
    pub fn delta_at(ledger: &Ledger, epsilon: f64) -> Result<Bound, AccountError> {
        let counted = delta(ledger, epsilon)?;
        let nothing = Bound { lower: 0.0, upper: 1.0, method: Method::Trivial };
        Ok(if reasons(ledger).is_empty() { counted } else { nothing })
    }

    /// ε at each δ; infinite where there is no guarantee.
    ///
    /// # Errors
    /// If a δ cannot be, or the events do not go together.
    pub fn curve(ledger: &Ledger, deltas: &[f64]) -> Result<Vec<(f64, Bound)>, AccountError> {
        if reasons(ledger).is_empty() {
            return curve(ledger, deltas);
        }
        Ok(deltas.iter().map(|&delta| (delta, NOTHING)).collect())
    }

    /// Replacing whom by whom, in words.
    fn change(&self) -> String {
        let who = match self.scope.unit {
            Unit::Record => "record",
            Unit::User => PERSON,
            Unit::Party => "party, with all that it holds,",
        };
        match self.scope.adjacency {
            Adjacency::ReplaceOne => format!("replacing any one {who} by another"),
            Adjacency::AddRemove => format!("adding or leaving out any one {who}"),
        }
    }

    /// The guarantee as a sentence.
    fn sentence(&self) -> String {
        let Verdict { reasons, delta, .. } = self;
        let seen = match self.scope.view {
            View::Central => "whoever sees the model",
            View::Local => "whoever sees every message of one party",
            View::SecureAggregation => "whoever sees the sums of messages",
            View::Network => "another party of the network",
        };
        if let Some(claimed) = self.claimed {
            return format!(
                "No guarantee: {}. The paper claims epsilon = {claimed:.4} at delta = {delta:e}; docs/errata.md \
                 says why that does not follow.",
                reasons.join("; ")
            );
        }
        if let Some(counted) = self.counted {
            return format!(
                "No guarantee: {}. Were it not for that, the same events would cost epsilon = {counted:.4} at delta = \
                 {delta:e}.",
                reasons.join("; ")
            );
        }
        let change = self.change();
        if !self.certified {
            return format!(
                "No guarantee: {}; {change} may change what {seen} learns without any limit.",
                reasons.join("; ")
            );
        }
        // Rounded up, as a promise must be; e to a large power says nothing to anybody.
        let epsilon = self.epsilon.upper;
        let up = |value: f64| (value * 1e4).ceil() / 1e4;
        let factor =
            if epsilon < 10.0 { format!(" = {}", up(epsilon.exp())) } else { String::new() };
        let but = if *delta > 0.0 {
            format!("but for a probability of {delta:e}")
        } else {
            BUT_FOR_RANGE.to_owned()
        };
        format!(
            "For {seen}: {change} changes the probability of any outcome by a factor of at most e^{}{factor}, {but}.{}",
            up(epsilon),
            if self.scope.view == View::Network { FOR_OBSERVER } else { "" }
        )
    }
}

/// Why a ledger is no guarantee at any δ.
fn reasons(ledger: &Ledger) -> Vec<String> {
    let words = |taint: &Taint| match taint {
        Taint::UnpaidRead => {
            format!(
                "{taint}: a schema that was drafted from this very table, or records dealt out by their labels"
            )
        }
        other => other.to_string(),
    };
    ledger.taints().iter().map(words).collect()
}

/// Why events have no ε at this δ, or no δ at this ε.
fn unbounded(ledger: &Ledger, (at, value): (&str, f64)) -> String {
    let raw = ledger
        .entries()
        .iter()
        .any(|entry| matches!(entry.event().mechanism(), Mechanism::NonPrivate(_)));
    if raw {
        "values were released without noise: epsilon is infinite".to_owned()
    } else {
        let what = if at == "delta" { "epsilon" } else { "delta below 1" };
        format!("no {what} is proven for these events at {at} = {value:e}")
    }
}

#[cfg(test)]
mod wording_tests {
    use super::*;

    /// The sentence is recomputed and compared: a file that an older version wrote has its words.
    #[test]
    fn certificates_that_were_written_before_keep_their_words() {
        let today = format!("For all: at most e^1, {BUT_FOR_RANGE}.");
        let before = format!("For all: at most e^1, {NO_CHANCE}.");
        assert_eq!(worded_as(today.clone(), &before), before);
        assert_eq!(worded_as(today.clone(), &today), today);
        assert_eq!(worded_as(today.clone(), "No guarantee."), today);
        let walk = format!("For a peer.{FOR_OBSERVER}");
        assert_eq!(worded_as(walk, " Only party 0"), format!("For a peer.{FOR_OBSERVER}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_accountant::{Event, Iteration};

    /// The sentence of a walk was another one once, and certificates of then hold.
    #[test]
    fn a_certificate_keeps_the_words_of_its_version() {
        let scope =
            Scope { adjacency: Adjacency::ReplaceOne, unit: Unit::User, view: View::Network };
        let mut ledger = Ledger::new();
        let event = Iteration::new(0.1, 20).unwrap();
        ledger.append(Event::new(event, scope.adjacency, scope.unit, scope.view).unwrap());
        let meaning = Verdict::of(&ledger, 1e-6, scope).unwrap().meaning;
        assert!(meaning.ends_with(FOR_OBSERVER), "{meaning}");
        let former = meaning.replace(FOR_OBSERVER, FOR_PARTY_0);
        assert_eq!(worded_as(meaning.clone(), &former), former);
        assert_eq!(worded_as(meaning.clone(), &meaning), meaning);
        assert_eq!(worded_as(meaning.clone(), "Perfectly private."), meaning);
    }
}

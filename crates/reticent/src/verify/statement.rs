//! A certificate against what follows from its own ledger.
//!
//! The numbers of a certificate bound the truth from above (`epsilon_lower` from below). A file may
//! promise less than we count, as another version of the program does that counts less tightly; of
//! its own version it must say the same. It may not promise more. Between two machines the last
//! digits of a sum may differ, and both are bounds: that much is let pass, and what is shown is the
//! larger.

use reticent_accountant::{Ledger, Mechanism, Method};
use serde_json::Value;

use super::{CheckOutcome, VerifyCheck};
use crate::certificate::Certificate;
use crate::simulate::Spread;
use crate::verdict::{Scope, worded_as};

/// By so much two machines may differ, relatively.
const ROUNDING: f64 = 1e-9;

/// Everything in a certificate that follows from something else in it, and the certificate that
/// should stand there, if one can be made.
pub(super) fn checks(stated: &Certificate) -> (Vec<VerifyCheck>, Option<Certificate>) {
    let events = stated.ledger.total_events();
    if events == 0 {
        let said = "its ledger is empty: nothing says what was done to the data";
        return (vec![VerifyCheck::fails("ledger", said)], None);
    }
    let derived = match derived(stated) {
        Ok(derived) => derived,
        Err(why) => {
            let said = format!("its ledger cannot be counted: {why}");
            return (vec![VerifyCheck::fails("ledger", said)], None);
        }
    };
    let mut checks = vec![VerifyCheck::holds("ledger", format!("{events} events"))];
    let epsilon = epsilon(stated, &derived);
    // The sentence is about the number that is promised.
    let promised = epsilon.outcome == CheckOutcome::Holds && derived.certified;
    let mut derived = if promised { derived.promising(stated.epsilon) } else { derived };
    derived.meaning = worded_as(derived.meaning, &stated.meaning);
    let derived = derived.about_its_persons();
    checks.push(epsilon);
    let differing = differing(stated, &derived);
    if differing.is_empty() {
        checks.push(VerifyCheck::holds("statement", "every field is what follows from the ledger"));
    }
    checks.extend(differing);
    checks.extend(stated.parties.as_ref().and_then(spread));
    checks.extend(population(stated));
    (checks, Some(derived))
}

/// The certificate that the facts of this one make. What is a fact is taken over.
fn derived(stated: &Certificate) -> Result<Certificate, String> {
    let Certificate { adjacency, unit, view, .. } = *stated;
    let scope = Scope { adjacency, unit, view };
    let ledger = stated.ledger.clone();
    let mut derived =
        Certificate::stated(&stated.algorithm, stated.delta, scope, stated.population, ledger)
            .map_err(|error| error.to_string())?;
    derived.version = stated.version;
    derived.choice = stated.choice.clone();
    derived.reticent = stated.reticent.clone();
    derived.model = stated.model.clone();
    derived.digest = stated.digest.clone();
    derived.signature = stated.signature.clone();
    // Of a run between parties the numbers are those of the one who spent most, and the reasons
    // those of all.
    derived.parties =
        stated.parties.clone().map(|spread| Spread { most: stated.epsilon, ..spread });
    if stated.parties.is_some() && !derived.certified {
        extend(&mut derived.reasons, &stated.reasons);
    }
    // More may be assumed than always is: what an algorithm or a drafted schema asks for.
    extend(&mut derived.assumptions, &stated.assumptions);
    Ok(derived)
}

/// Takes over what stands behind what must stand there.
fn extend(own: &mut Vec<String>, stated: &[String]) {
    if let Some(more) = stated.strip_prefix(&own[..]) {
        own.extend_from_slice(more);
    }
}

fn epsilon(stated: &Certificate, derived: &Certificate) -> VerifyCheck {
    let (said, counted) = (stated.epsilon, derived.epsilon);
    let delta = stated.delta;
    if !at_most(counted, said) {
        let costs = if counted.is_finite() {
            format!("costs up to {counted}")
        } else {
            "is no guarantee".to_owned()
        };
        let said = format!("it says epsilon = {said} at delta = {delta:e}, and its ledger {costs}");
        return VerifyCheck::fails("epsilon", said);
    }
    if is_ours(stated) && !at_most(said, counted) {
        let said = format!(
            "it says epsilon = {said} at delta = {delta:e}, and its ledger costs {counted}: the two are not of one run"
        );
        return VerifyCheck::fails("epsilon", said);
    }
    let what = if counted.is_finite() {
        format!("counted anew, the ledger costs epsilon = {counted} at delta = {delta:e}")
    } else {
        "counted anew, the ledger is no guarantee, and none is claimed".to_owned()
    };
    VerifyCheck::holds("epsilon", what)
}

/// Whether this version of the program wrote it, so that it counts as we do.
fn is_ours(stated: &Certificate) -> bool {
    stated.reticent == env!("CARGO_PKG_VERSION")
}

/// `a ≤ b`, but for rounding; infinity is at most infinity.
fn at_most(a: f64, b: f64) -> bool {
    a <= b || a <= b + ROUNDING * b.abs()
}

/// A check that fails for each field that is not what it must be.
fn differing(stated: &Certificate, derived: &Certificate) -> Vec<VerifyCheck> {
    let values = (serde_json::to_value(stated), serde_json::to_value(derived));
    let (Ok(Value::Object(said)), Ok(Value::Object(is))) = values else {
        return vec![VerifyCheck::fails("statement", "the certificate cannot be written as JSON")];
    };
    let mut names: Vec<&String> = said.keys().chain(is.keys()).collect();
    names.sort();
    names.dedup();
    let other = !is_ours(stated);
    let differs = |name: &&String| match (said.get(*name), is.get(*name)) {
        // Another version may have counted by another method.
        (Some(said), Some(_)) if other && *name == "accountant" => {
            said.as_str().is_none_or(|said| said.parse::<Method>().is_err())
        }
        (Some(said), Some(is)) => !agrees(name, said, is, other),
        (said, is) => said.is_some() || is.is_some(),
    };
    // ε has a check of its own.
    names
        .into_iter()
        .filter(|name| *name != "epsilon")
        .filter(differs)
        .map(|name| {
            let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), short);
            let said = format!(
                "`{name}` says {}, and from the ledger follows {}",
                text(said.get(name)),
                text(is.get(name))
            );
            VerifyCheck::fails(name, said)
        })
        .collect()
}

/// Whether a field is what follows, numbers up to rounding; where another version counted, they may
/// lie on the safe side by any amount.
fn agrees(field: &str, said: &Value, is: &Value, other: bool) -> bool {
    match (said, is) {
        (Value::Number(said), Value::Number(is)) => {
            let (Some(said), Some(is)) = (said.as_f64(), is.as_f64()) else { return false };
            let bound = ["epsilon", "mu", "claimed", "counted"].contains(&field);
            let (above, below) = (at_most(is, said), at_most(said, is));
            match (bound, field == "epsilon_lower") {
                (true, _) => above && (below || other),
                (_, true) => below && (above || other),
                _ => said == is,
            }
        }
        // Another version may not have found a bound where we have one.
        (Value::String(said), Value::Number(_)) => {
            field == "epsilon" && other && said == "infinity"
        }
        (Value::Array(said), Value::Array(is)) => {
            let mut pairs = said.iter().zip(is);
            said.len() == is.len() && pairs.all(|(said, is)| agrees(field, said, is, other))
        }
        (Value::Object(said), Value::Object(is)) => {
            said.len() == is.len()
                && said.iter().all(|(name, said)| {
                    is.get(name).is_some_and(|is| agrees(name, said, is, other))
                })
        }
        _ => said == is,
    }
}

/// A value in a message: not a whole list.
fn short(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= MOST {
        return text;
    }
    text.chars().take(MOST).chain(['…']).collect()
}

/// What is wrong with the spread of ε over parties, if anything.
fn spread(spread: &Spread) -> Option<VerifyCheck> {
    let Spread { count, worst, least, median, ninth_decile, most } = spread;
    let ordered = least <= median && median <= ninth_decile && ninth_decile <= most;
    (!ordered || worst >= count).then(|| {
        VerifyCheck::fails("parties", "`parties` has numbers that no spread of epsilon has")
    })
}

/// Where a sample of a fixed size was drawn, the ledger says from how many.
fn population(stated: &Certificate) -> Option<VerifyCheck> {
    let drawn_from = drawn_from(&stated.ledger)?;
    let differs = stated.parties.is_none() && drawn_from != stated.population;
    differs.then(|| {
        let said = format!(
            "`population` says {}, and its ledger draws from {drawn_from}",
            stated.population
        );
        VerifyCheck::fails("population", said)
    })
}

fn drawn_from(ledger: &Ledger) -> Option<u64> {
    ledger.entries().iter().find_map(|entry| match entry.event().mechanism() {
        Mechanism::WithoutReplacementGaussian(drawn) => Some(drawn.population()),
        _ => None,
    })
}

//! Events as users type them: `gaussian:z=2`, `pure-dp:epsilon=0.1`, with a sampling beside them.

use reticent::Scope;
use reticent::accountant::{Event, Ledger, Mechanism};
use serde_json::{Map, Value};

use crate::failure::CommandFailure;

/// Short names of fields.
const SHORT: &[(&str, &str)] = &[("z", "noise_multiplier"), ("q", "rate")];

/// How an event of this kind is typed, by example; one that is made of others cannot be.
pub fn form(kind: &str) -> String {
    let mut examples = Mechanism::KINDS.iter().zip(Mechanism::EXAMPLES);
    match examples.find(|(known, _)| **known == kind) {
        Some((_, Some(""))) => kind.to_owned(),
        Some((_, Some(fields))) => format!("{kind}:{fields}"),
        _ => format!("({kind})"),
    }
}

/// A mechanism from `kind:field=value,field=value`. The fields are those that a ledger has, so
/// every event in the catalogue that is made of numbers can be typed.
pub fn mechanism(text: &str) -> Result<Mechanism, CommandFailure> {
    let (kind, fields) = text.split_once(':').unwrap_or((text, ""));
    let mut object = Map::from_iter([("kind".to_owned(), Value::from(kind))]);
    for field in fields.split(',').filter(|field| !field.is_empty()) {
        let (name, value) =
            field.split_once('=').ok_or_else(|| refuse(text, "a field is name=value"))?;
        let name = SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
        let number = match (value.parse::<u64>(), value.parse::<f64>()) {
            (Ok(whole), _) => Value::from(whole),
            (_, Ok(number)) if number.is_finite() => Value::from(number),
            _ => return Err(refuse(text, &format!("{name} is not a finite number"))),
        };
        object.insert(name.to_owned(), number);
    }
    serde_json::from_value(Value::Object(object)).map_err(|error| {
        let reason = error.to_string();
        let nothing = reason.starts_with("unknown variant") && !Mechanism::KINDS.contains(&kind);
        refuse(text, if nothing { "there is no event of this name" } else { &reason })
    })
}

/// The mechanism on a sample of the records: `full`, `poisson:RATE` or `wor:SIZE/POPULATION`.
pub fn sampled(mechanism: Mechanism, sampling: Option<&str>) -> Result<Mechanism, CommandFailure> {
    let Some(sampling) = sampling.filter(|sampling| *sampling != "full") else {
        return Ok(mechanism);
    };
    let noise = match &mechanism {
        Mechanism::Gaussian(gaussian) => gaussian.noise_multiplier(),
        other => return Err(refuse(&other.to_string(), "only gaussian events can be sampled")),
    };
    let fields = match sampling.split_once(':') {
        Some(("poisson", rate)) => format!("poisson-gaussian:z={noise},rate={rate}"),
        Some(("wor", sizes)) => {
            let (size, population) = sizes
                .split_once('/')
                .ok_or_else(|| refuse(sampling, "without replacement is wor:SIZE/POPULATION"))?;
            format!("without-replacement-gaussian:z={noise},size={size},population={population}")
        }
        _ => {
            return Err(refuse(
                sampling,
                "a sampling is full, poisson:RATE or wor:SIZE/POPULATION",
            ));
        }
    };
    self::mechanism(&fields)
}

/// A ledger of `steps` times the mechanism.
pub fn ledger(mechanism: Mechanism, steps: u64, scope: Scope) -> Result<Ledger, CommandFailure> {
    let shown = mechanism.to_string();
    let Scope { adjacency, unit, view } = scope;
    let event = Event::new(mechanism, adjacency, unit, view)
        .map_err(|error| refuse(&shown, &error.to_string()))?;
    let mut ledger = Ledger::new();
    ledger.append_many(event, steps);
    Ok(ledger)
}

fn refuse(given: &str, reason: &str) -> CommandFailure {
    CommandFailure::Usage {
        message: format!("'{given}' cannot be counted: {reason}"),
        hint: "write for example --event gaussian:z=2 --sampling poisson:0.01; `reticent list events` shows what \
               there is"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_numbers_can_be_typed() {
        for (kind, example) in Mechanism::KINDS.iter().zip(Mechanism::EXAMPLES) {
            assert_eq!(mechanism(&form(kind)).is_ok(), example.is_some(), "{kind}");
        }
    }

    #[test]
    fn a_sampling_makes_another_event() {
        let gaussian = || mechanism("gaussian:z=2").unwrap();
        let typed = |text| mechanism(text).unwrap();
        assert_eq!(
            sampled(gaussian(), Some("poisson:0.1")).unwrap(),
            typed("poisson-gaussian:z=2,q=0.1")
        );
        assert_eq!(
            sampled(gaussian(), Some("wor:3/10")).unwrap(),
            typed("without-replacement-gaussian:z=2,size=3,population=10")
        );
        assert_eq!(sampled(gaussian(), Some("full")).unwrap(), gaussian());
    }

    #[test]
    fn what_is_not_an_event_is_refused() {
        for text in [
            "",
            "gauss:z=1",
            "gaussian",
            "gaussian:z",
            "gaussian:z=-1",
            "gaussian:z=NaN",
            "gaussian:z=1,w=2",
        ] {
            assert!(mechanism(text).is_err(), "{text}");
        }
        assert!(sampled(mechanism("pure-dp:epsilon=1").unwrap(), Some("poisson:0.1")).is_err());
        assert!(sampled(mechanism("gaussian:z=1").unwrap(), Some("wor:10")).is_err());
    }
}

//! A list to tune over, as it is typed: `penalty=l1:[1e-5,1e-4]`.

use reticent_admm::Settings;

use crate::error::Error;
use crate::spec::Spec;

/// What can be tuned besides the settings of the algorithms.
const PARTS: [&str; 3] = ["algorithm", "penalty", "constraint"];

/// A gate is opened for one loss, and all runs of a choice ask one gate.
pub(crate) const ONE_LOSS: &str = "all points have the same loss: runs are compared on one gate, which is opened \
                                   for one loss; give one with `loss`";

/// One list: the name of what is tuned and the values it may have.
#[derive(Debug)]
pub(crate) struct TuneAxis {
    pub name: &'static str,
    pub values: Vec<String>,
}

/// The name in `name=before[list]after`, what stands before its list, the list and what stands
/// after it.
fn parts(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (name, rest) = text.split_once('=')?;
    let (before, rest) = rest.split_once('[')?;
    let (list, after) = rest.split_once(']')?;
    Some((name.trim(), before.trim(), list, after.trim()))
}

fn values<'a>(before: &'a str, list: &'a str, after: &'a str) -> impl Iterator<Item = String> + 'a {
    list.split(',').map(move |value| format!("{before}{}{after}", value.trim()))
}

/// The values of the list `text`, if it is of what is called `name`. One that cannot be read is left
/// for [`TuneAxis::parse`] to refuse.
pub(crate) fn listed(text: &str, name: &str) -> Option<Vec<String>> {
    let (_, before, list, after) = parts(text).filter(|parts| parts.0 == name)?;
    Some(values(before, list, after).collect())
}

/// The list `text` with each of its values changed, if it is of what is called `name`.
pub(crate) fn map_values(text: &str, name: &str, change: impl Fn(&str) -> String) -> String {
    match listed(text, name) {
        None => text.to_owned(),
        Some(values) => {
            let changed: Vec<String> = values.iter().map(|value| change(value)).collect();
            format!("{name}=[{}]", changed.join(","))
        }
    }
}

impl TuneAxis {
    /// Reads `penalty=l1:[1e-5,1e-4]`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let form = "write it as name=[value,value,…] or name=before[value,value,…]after, for example \
                    'penalty=l1:[1e-5,1e-4,1e-3]'";
        let Some((name, before, list, after)) = parts(text) else {
            return Err(Error::value("tune", text, form));
        };
        if name == "loss" {
            return Err(Error::value("tune", text, ONE_LOSS));
        }
        let known = || PARTS.into_iter().chain(Settings::ALL.iter().map(|setting| setting.name));
        let Some(name) = known().find(|part| *part == name).or(Settings::named(name)) else {
            let names: Vec<_> = known().filter(|name| *name != "as_published").collect();
            return Err(Error::value(
                "tune",
                text,
                format!("what can be tuned is {}", names.join(", ")),
            ));
        };
        if name == "as_published" {
            return Err(Error::value(
                "tune",
                text,
                "a version whose privacy claim does not hold is nothing to choose privately",
            ));
        }
        let values: Vec<String> = values(before, list, after).collect();
        if list.split(',').any(|value| value.trim().is_empty()) || after.contains(['[', ']']) {
            return Err(Error::value("tune", text, form));
        }
        if values.len() < 2 {
            let why = format!(
                "a grid of one leaves nothing to choose, and choosing costs budget: give `{name} = {}` itself, or \
                 more values",
                values[0]
            );
            return Err(Error::value("tune", text, why));
        }
        if let Some(twice) =
            values.iter().enumerate().find(|(i, value)| values[..*i].contains(value))
        {
            return Err(Error::value("tune", text, format!("{} is there twice", twice.1)));
        }
        Ok(TuneAxis { name, values })
    }

    /// Whether the job says what this is already.
    pub fn is_set(&self, spec: &Spec) -> bool {
        match self.name {
            "algorithm" => spec.algorithm.is_some(),
            "penalty" => spec.penalty.is_some(),
            "constraint" => spec.constraint.is_some() || spec.graph.is_some(),
            name => spec.settings.given().iter().any(|(given, _)| *given == name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_with_what_stands_around_it() {
        let axis = TuneAxis::parse("penalty=l1:[1e-5, 1e-4,1e-3]").unwrap();
        assert_eq!(
            (axis.name, axis.values),
            ("penalty", ["l1:1e-5", "l1:1e-4", "l1:1e-3"].map(String::from).to_vec())
        );
        let axis = TuneAxis::parse("penalty=elastic-net:[0.1,0.2],0.5").unwrap();
        assert_eq!(axis.values, ["elastic-net:0.1,0.5", "elastic-net:0.2,0.5"]);
        assert_eq!(TuneAxis::parse("clip=[0.5,1]").unwrap().values, ["0.5", "1"]);
        assert_eq!(
            TuneAxis::parse("algorithm=[ssadmm,dp-sgd]").unwrap().values,
            ["ssadmm", "dp-sgd"]
        );
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let fails = |text: &str| {
            TuneAxis::parse(text).err().map(|error| error.to_string()).unwrap_or_default()
        };
        for text in [
            "penalty",
            "penalty=l1:1",
            "penalty=l1:[1,2",
            "clip=[1,,2]",
            "clip=[]",
            "clip=[1,2][3]",
        ] {
            assert!(
                fails(text).contains("write it as") || fails(text).contains("grid of one"),
                "{text}: {}",
                fails(text)
            );
        }
        assert!(fails("clip=[1]").contains("a grid of one leaves nothing to choose"));
        assert!(fails("epsilon=[1,2]").contains("what can be tuned is algorithm, penalty"));
        assert!(fails("loss=[logistic,hinge]").contains("all points have the same loss"));
        assert!(fails("clip=[1,2,1]").contains("1 is there twice"));
        assert!(fails("as-published=[true,false]").contains("does not hold"));
    }
}

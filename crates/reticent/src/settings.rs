//! Settings of the algorithms, from the words that users type.

use reticent_admm::Settings;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::tune;

/// Reads settings, each a name and what was typed for it. A word that is a number or a truth value
/// is first tried as that, then as text. JSON does not know `.25` and `5.`, which people type.
pub fn read_settings(given: &[(&'static str, String)]) -> Result<Settings, Error> {
    let mut all = Map::new();
    for (name, text) in given {
        tune::refuse_list(name, text)?;
        // JSON has no .25, which is a number to everybody else.
        let number =
            || text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from);
        let fits = |value: &Value| setting_fits(name, value).is_ok();
        let value = serde_json::from_str(text).ok().filter(fits).or_else(|| number().filter(fits));
        let value = value.unwrap_or_else(|| Value::from(text.as_str()));
        if let Err(reason) = setting_fits(name, &value) {
            return Err(Error::Value { name, given: text.clone(), allowed: reason });
        }
        all.insert((*name).to_owned(), value);
    }
    serde_json::from_value(Value::Object(all)).map_err(|error| Error::Value {
        name: "settings",
        given: "the flags".to_owned(),
        allowed: error.to_string(),
    })
}

/// Whether the setting can have this value; why not, in words.
pub fn setting_fits(name: &str, value: &Value) -> Result<(), String> {
    let one = Map::from_iter([(name.to_owned(), value.clone())]);
    match serde_json::from_value::<Settings>(Value::Object(one)) {
        Ok(_) => Ok(()),
        Err(error) => Err(in_words(&error.to_string())),
    }
}

/// What a reader of numbers and words says, without its names for types.
pub(crate) fn in_words(text: &str) -> String {
    match text.trim_end().rsplit_once("expected ") {
        Some((_, "u64")) => "a whole number of at least 1 is needed".to_owned(),
        Some((_, "u32")) => "a whole number of at least 0 is needed".to_owned(),
        Some((_, "f64")) => "a number is needed".to_owned(),
        Some((_, "a boolean")) => "true or false is needed".to_owned(),
        Some((_, "a string" | "path string")) => "text is needed, in quotes".to_owned(),
        Some((before, names)) if before.starts_with("unknown variant") => {
            format!("it is one of {names}")
        }
        _ if text.starts_with("unknown field") => "there is no such key".to_owned(),
        _ => text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--rho .25` was refused as text.
    #[test]
    fn a_number_needs_no_leading_zero() {
        for (text, value) in [(".25", 0.25), ("+0.25", 0.25), ("2.", 2.0), ("1e-3", 1e-3)] {
            assert_eq!(
                read_settings(&[("rho", text.to_owned())]).unwrap().rho,
                Some(value),
                "{text}"
            );
        }
        for text in ["nan", "inf", "1e999", ".", "a"] {
            assert!(read_settings(&[("rho", text.to_owned())]).is_err(), "{text}");
        }
        assert_eq!(
            read_settings(&[("step", ".5".to_owned())]).unwrap().step.unwrap().to_string(),
            "constant:0.5"
        );
    }
}

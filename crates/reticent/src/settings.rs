//! Settings of the algorithms, from the words that users type.

use reticent_admm::Settings;

use crate::error::Error;
use crate::tune;

/// Reads settings, each a name of [`Settings::ALL`] and what was typed for it.
///
/// # Errors
/// If there is no such setting, or it cannot have that value.
///
/// # Examples
/// ```
/// use reticent::internal::read_settings;
///
/// let settings = read_settings(&[("iterations", "50".to_owned()), ("clip", ".5".to_owned())])?;
/// assert_eq!((settings.iterations, settings.clip), (Some(50), Some(0.5)));
/// assert!(read_settings(&[("clip", "half".to_owned())]).is_err());
/// # Ok::<(), reticent::Error>(())
/// ```
pub fn read_settings(given: &[(&'static str, String)]) -> Result<Settings, Error> {
    let mut settings = Settings::default();
    for (name, text) in given {
        tune::refuse_list(name, text)?;
        settings.set(name, text)?;
    }
    Ok(settings)
}

/// What a reader of numbers and words says, without its names for types. It has no other way to
/// tell what a key takes, so a test of `spec.rs` has a key of every kind.
pub(crate) fn in_words(text: &str) -> String {
    match text.trim_end().rsplit_once("expected ") {
        Some((_, "u64")) => "a whole number of at least 1 is needed".to_owned(),
        Some((_, "u32")) => "a whole number of at least 0 is needed".to_owned(),
        Some((_, "f64")) => "a number is needed".to_owned(),
        Some((_, "a boolean")) => "true or false is needed".to_owned(),
        Some((_, "a string" | "path string")) => "text is needed, in quotes".to_owned(),
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

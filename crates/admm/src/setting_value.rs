//! What is given for a setting, and how each type of setting takes it.

use std::fmt;

use reticent_oracle::{Law, Refused, Sampling, Typed};

use crate::average::Average;
use crate::block_schedule::BlockSchedule;
use crate::noise_schedule::NoiseSchedule;
use crate::per_party::{PartyRho, PerParty};
use crate::release::Release;
use crate::step_size::StepSize;
use crate::walk::WalkState;

/// What is given for a setting: a text that was typed, or a value of a language with numbers of its
/// own, which are taken as they are. As text it is what a message repeats.
pub trait SettingValue: fmt::Display {
    /// Yes or no, if it is that.
    fn flag(&self) -> Option<bool> {
        None
    }

    /// The whole number that it is.
    fn whole(&self) -> Option<u64> {
        None
    }

    /// The numbers that it is, one or a list.
    fn numbers(&self) -> Option<Vec<f64>> {
        None
    }
}

/// Typed text, which may be that of a number.
impl SettingValue for &str {}

/// A type that a setting can have.
pub(crate) trait OfSetting: Typed {
    /// The value, if nothing must be read for it; words must.
    fn taken(_: &dyn SettingValue) -> Option<Self> {
        None
    }

    /// The value of the setting `name`. What cannot be taken is read as its text, which is refused as
    /// if it had been typed.
    ///
    /// # Errors
    /// What is no value of the setting, with what is allowed.
    fn of(name: &'static str, given: &dyn SettingValue) -> Result<Self, Refused> {
        match Self::taken(given) {
            Some(value) => Ok(value),
            None => Refused::read(name, &given.to_string()),
        }
    }
}

impl OfSetting for bool {
    fn taken(given: &dyn SettingValue) -> Option<Self> {
        given.flag()
    }
}

impl OfSetting for u64 {
    fn taken(given: &dyn SettingValue) -> Option<Self> {
        given.whole()
    }
}

impl OfSetting for f64 {
    fn taken(given: &dyn SettingValue) -> Option<Self> {
        let numbers = given.numbers()?;
        let [number] = numbers[..] else { return None };
        number.is_finite().then_some(number)
    }
}

impl OfSetting for StepSize {
    fn taken(given: &dyn SettingValue) -> Option<Self> {
        StepSize::Constant(f64::taken(given)?).checked().ok()
    }
}

impl OfSetting for PerParty {
    fn taken(given: &dyn SettingValue) -> Option<Self> {
        PerParty::new(given.numbers()?).ok()
    }
}

impl OfSetting for PartyRho {
    fn taken(given: &dyn SettingValue) -> Option<Self> {
        PerParty::taken(given).map(PartyRho::Each)
    }
}

impl OfSetting for Average {}
impl OfSetting for BlockSchedule {}
impl OfSetting for Law {}
impl OfSetting for NoiseSchedule {}
impl OfSetting for Release {}
impl OfSetting for Sampling {}
impl OfSetting for WalkState {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    /// Numbers whose text is none, so that nothing is made of it.
    struct Numbers(&'static [f64]);

    impl fmt::Display for Numbers {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("as given")
        }
    }

    impl SettingValue for Numbers {
        fn flag(&self) -> Option<bool> {
            self.0.is_empty().then_some(true)
        }

        fn whole(&self) -> Option<u64> {
            (self.0 == [3.0]).then_some(3)
        }

        fn numbers(&self) -> Option<Vec<f64>> {
            Some(self.0.to_vec())
        }
    }

    fn given(name: &str, numbers: &'static [f64]) -> Result<Settings, String> {
        let mut settings = Settings::default();
        match settings.give(name, &Numbers(numbers)) {
            Ok(known) => known.then_some(settings).ok_or_else(|| "unknown".to_owned()),
            Err(refused) => Err(refused.to_string()),
        }
    }

    /// A number that went through text would be read from "as given".
    #[test]
    fn numbers_are_taken_without_their_text() {
        assert_eq!(given("iterations", &[3.0]).unwrap().iterations, Some(3));
        assert_eq!(given("beta", &[0.1 + 0.2]).unwrap().rho, Some(0.1 + 0.2));
        assert_eq!(given("step", &[0.5]).unwrap().step, Some(StepSize::Constant(0.5)));
        assert_eq!(given("shrink", &[]).unwrap().shrink, Some(true));
        let each = PerParty::new(vec![0.5, 2.0]).unwrap();
        let settings = given("party_noise", &[0.5, 2.0]).unwrap();
        assert_eq!(settings.party_noise, Some(each.clone()));
        assert_eq!(given("party_rho", &[0.5, 2.0]).unwrap().party_rho, Some(PartyRho::Each(each)));
    }

    #[test]
    fn what_is_no_value_is_refused_as_text_is() {
        for (name, numbers) in [
            ("iterations", &[4.5][..]),
            ("rho", &[f64::NAN]),
            ("rho", &[1.0, 2.0]),
            ("step", &[-1.0]),
            ("party_rho", &[1.0, 0.0]),
            ("party_noise", &[]),
            ("sampling", &[0.5]),
            ("schedule", &[3.0]),
            ("noise_schedule", &[0.5]),
            ("release", &[1.0]),
            ("walk", &[1.0]),
            ("average", &[1.0]),
            ("law", &[1.0]),
            ("shrink", &[1.0]),
        ] {
            let typed = Settings::default().set(name, "as given").unwrap_err().to_string();
            assert_eq!(given(name, numbers), Err(typed), "{name}");
        }
        assert_eq!(given("epsilon", &[1.0]), Err("unknown".to_owned()));
        let mut twice = given("rho", &[1.0]).unwrap();
        assert!(twice.give("eta", &Numbers(&[1.0])).is_err(), "by two names");
    }
}

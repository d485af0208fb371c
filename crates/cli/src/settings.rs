//! Flags for the settings of the algorithms, made from their list.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use reticent::Error;
use reticent::admm::Settings;
use reticent::internal::{admm::Setting, read_settings};

use crate::flags::typed;

/// The settings that were given, as they were typed.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags(Vec<(&'static str, String)>);

impl SettingFlags {
    /// Reads them.
    pub fn settings(&self) -> Result<Settings, Error> {
        read_settings(&self.0)
    }
}

/// Whether a flag of this name is made from the list.
pub fn is_setting(name: &str) -> bool {
    Settings::ALL.iter().any(|setting| typed(setting.name) == name)
}

fn flag(setting: &Setting) -> Arg {
    let Setting { name, letters, about } = *setting;
    // A name with _ has its form with - among its other names.
    let long = letters.iter().copied().find(|letter| *letter == typed(name)).unwrap_or(name);
    let flag = Arg::new(name)
        .long(long)
        .visible_aliases(letters.iter().copied().filter(|letter| *letter != long))
        .value_name("VALUE")
        .help(about.trim().trim_end_matches('.'));
    if Settings::default().set(name, "true").is_ok() {
        // The flag alone says yes, and a word after it is not its value.
        flag.num_args(0..=1).require_equals(true).default_missing_value("true")
    } else {
        flag.num_args(1).allow_negative_numbers(true)
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading("Settings of the algorithm").args(Settings::ALL.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |&Setting { name, .. }: &Setting| {
            Some((name, matches.get_one::<String>(name)?.clone()))
        };
        Ok(SettingFlags(Settings::ALL.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, text: &str) -> Result<Settings, String> {
        SettingFlags(vec![(name, text.to_owned())]).settings().map_err(|error| error.to_string())
    }

    #[test]
    fn every_setting_is_read_as_what_it_is() {
        assert_eq!(read("iterations", "10").unwrap().iterations, Some(10));
        assert_eq!(read("clip", "2").unwrap().clip, Some(2.0));
        assert_eq!(read("rho", ".25").unwrap().rho, Some(0.25));
        assert_eq!(read("rho", "5.").unwrap().rho, Some(5.0));
        assert_eq!(read("step", "0.5").unwrap().step.unwrap().to_string(), "constant:0.5");
        assert_eq!(read("sampling", "wor:7").unwrap().sampling.unwrap().to_string(), "wor:7");
        assert_eq!(SettingFlags::default().settings().unwrap(), Settings::default());
    }

    #[test]
    fn every_setting_of_the_list_is_a_flag_and_a_truth_value_needs_no_word() {
        let command = SettingFlags::augment_args(Command::new("fit").no_binary_name(true));
        for Setting { name, .. } in Settings::ALL {
            let long = typed(name);
            let found = command.get_arguments().any(|arg| arg.get_long() == Some(&*long));
            assert!(found, "{name}");
        }
        let matches =
            command.try_get_matches_from(["--as-published", "--iterations", "3"]).unwrap();
        let settings = SettingFlags::from_arg_matches(&matches).unwrap().settings().unwrap();
        assert_eq!((settings.as_published, settings.iterations), (Some(true), Some(3)));
    }

    #[test]
    fn what_a_setting_cannot_be_is_refused_in_words() {
        assert_eq!(
            read("iterations", "many").unwrap_err(),
            "iterations = many: a whole number of at least 1 is needed"
        );
        assert_eq!(
            read("iterations", "-1").unwrap_err(),
            "iterations = -1: a whole number of at least 1 is needed"
        );
        assert_eq!(read("clip", "x").unwrap_err(), "clip = x: a number is needed");
        assert!(read("sampling", "half").unwrap_err().contains("use full, poisson:RATE"));
    }
}

//! The commands in the help of the program, in groups.

/// What belongs together, in the order of a first reading.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Start here", &["demo", "schema", "split"]),
    (
        "Ask a private table",
        &["fit", "simulate", "sweep", "count", "mean", "histogram", "quantile"],
    ),
    ("Use a model", &["predict", "evaluate", "export"]),
    ("Inspect and verify", &["inspect", "verify", "report", "audit"]),
    ("Sign, and run between machines", &["identity", "roster", "lead", "join", "run"]),
    ("Manage and count budgets", &["budget", "account", "calibrate"]),
    ("The program itself", &["list", "completions", "man"]),
];

/// The program with a help that has its commands in groups.
pub fn grouped(command: clap::Command) -> clap::Command {
    let about = |name: &str| {
        let found = command.find_subcommand(name)?;
        Some(format!("  {name:<12} {}\n", found.get_about()?))
    };
    let mut text = String::new();
    for (title, names) in GROUPS {
        let lines: String = names.iter().filter_map(|name| about(name)).collect();
        text += &format!("{title}:\n{lines}\n");
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}\n\n`reticent COMMAND --help` \
         shows every flag of a command.\n"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Command;
    use clap::Subcommand;

    #[test]
    fn every_command_is_in_one_group() {
        let all = Command::augment_subcommands(clap::Command::new("reticent"));
        let named: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for own in all.get_subcommands().map(clap::Command::get_name) {
            assert_eq!(named.iter().filter(|name| **name == own).count(), 1, "{own}");
        }
        // What a build without the feature `network` does not have.
        let absent = if cfg!(feature = "network") { 0 } else { 4 };
        assert_eq!(named.len(), all.get_subcommands().count() + absent);
    }
}

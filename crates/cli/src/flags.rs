//! The library speaks of parameters (`public_n`), the command line of flags (--public-n): here the
//! one becomes the other.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use clap::Subcommand;

use crate::commands::Command;

/// What the library says, with every parameter in backticks that has a flag as that flag:
/// `` `public_n` `` is --public-n, and `` `public_n = N` `` is --public-n N.
pub fn in_flags(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`')
        && let Some((quoted, behind)) = behind.split_once('`')
    {
        let (name, value) = quoted.split_once(" = ").unwrap_or((quoted, ""));
        let flag = flag(name).map(|flag| format!("{flag} {value}"));
        said += before;
        said += flag.as_deref().map_or(&format!("`{quoted}`"), str::trim_end);
        rest = behind;
    }
    said + rest
}

/// The flag for a parameter, where there is one.
pub fn flag(name: &str) -> Option<String> {
    let name = typed(name);
    all().contains(&name).then(|| format!("--{name}"))
}

/// The same, of one command.
pub fn flag_of(command: &str, name: &str) -> Option<String> {
    let name = typed(name);
    let all = Command::augment_subcommands(clap::Command::new("reticent"));
    let mut words = command.split(' ');
    let own = words.try_fold(&all, |found, word| found.find_subcommand(word))?;
    own.get_arguments().any(|arg| arg.get_long() == Some(&name)).then(|| format!("--{name}"))
}

/// A parameter as it is typed: `public_n` as public-n.
pub fn typed(name: &str) -> String {
    name.replace('_', "-")
}

/// The flags of all commands.
fn all() -> &'static BTreeSet<String> {
    fn collect(command: &clap::Command, into: &mut BTreeSet<String>) {
        into.extend(command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)));
        command.get_subcommands().for_each(|command| collect(command, into));
    }
    static ALL: OnceLock<BTreeSet<String>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut flags = BTreeSet::new();
        collect(&Command::augment_subcommands(clap::Command::new("reticent")), &mut flags);
        flags
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_backticks_become_flags_and_the_rest_stays() {
        assert_eq!(in_flags("give `public_n = N`, or public_n"), "give --public-n N, or public_n");
        assert_eq!(in_flags("with `target` or `l2:1`"), "with --target or `l2:1`");
        assert_eq!(in_flags("`reticent list losses`: see"), "`reticent list losses`: see");
        assert_eq!(in_flags("one ` alone"), "one ` alone");
        assert_eq!(in_flags("`a` and ` alone"), "`a` and ` alone");
    }
}

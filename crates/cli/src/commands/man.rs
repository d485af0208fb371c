//! `reticent man`: a manual page for every command, out of the flags themselves.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use reticent::Error;
use reticent::internal::{NewFile, check_new};
use serde::Serialize;

use crate::Cli;
use crate::answer::Answer;
use crate::failure::CommandFailure;

#[derive(Debug, Args)]
#[command(after_help = "For example: reticent man --out ~/.local/share/man/man1")]
pub struct Man {
    /// The folder to write a page for each command to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// Overwrite existing pages
    #[arg(long)]
    force: bool,
}

/// The pages that were written.
#[derive(Serialize)]
struct WrittenPages<'a> {
    out: String,
    pages: Vec<&'a String>,
}

impl Man {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let fail = |error: std::io::Error| Error::written(&self.out, &error);
        let mut pages = Vec::new();
        let mut whole = Cli::command();
        whole.build();
        page(&whole, "reticent", &mut pages).map_err(fail)?;
        for (name, _) in &pages {
            check_new(&self.out.join(name), self.force)?;
        }
        std::fs::create_dir_all(&self.out).map_err(fail)?;
        for (name, text) in &pages {
            let mut file = NewFile::create(&self.out.join(name))?;
            file.write_all(text).map_err(fail)?;
            file.finish()?;
        }
        let names: Vec<&String> = pages.iter().map(|(name, _)| name).collect();
        let out = self.out.display().to_string();
        let text = format!("Wrote {} pages to {out}.\n", names.len());
        Ok(Answer::of(text, &WrittenPages { out, pages: names }))
    }
}

/// A page for a command, and those below it.
fn page(
    command: &clap::Command,
    name: &str,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> std::io::Result<()> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name).render(&mut text)?;
    pages.push((format!("{name}.1"), text));
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        page(below, &format!("{name}-{}", below.get_name()), pages)?;
    }
    Ok(())
}

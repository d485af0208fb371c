//! `reticent identity`: a key to sign certificates with, and to take part in runs on a network.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::wrapped;

#[derive(Debug, Subcommand)]
pub enum IdentityCommand {
    /// Make an Ed25519 key; its public half goes beside it, with .pub at the end of the name
    New(IdentityNewArgs),
    /// Show the public half of a key
    Show(IdentityShowArgs),
}

#[derive(Debug, Args)]
pub struct IdentityNewArgs {
    /// The file to create. Only you can read it; an existing file is never replaced
    file: PathBuf,
}

#[derive(Debug, Args)]
pub struct IdentityShowArgs {
    /// The key, or its public half
    file: PathBuf,
}

impl IdentityCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        match self {
            IdentityCommand::New(args) => args.run(),
            IdentityCommand::Show(args) => args.run(),
        }
    }

    /// Whether its answer is a mere report of what was written.
    pub fn is_report(&self) -> bool {
        matches!(self, IdentityCommand::New(_))
    }
}

impl IdentityShowArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let key = match reticent::PublicKey::read(&self.file) {
            Ok(key) => Ok(key),
            Err(_) => reticent::Identity::read(&self.file).map(|identity| identity.public()),
        };
        let key = key.map_err(|error| CommandFailure::of("identity", error))?.text();
        let shown = ShownKey { file: &self.file, key: &key };
        Ok(Answer::of(format!("{key}\n"), &shown))
    }
}

impl IdentityNewArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let IdentityNewArgs { file } = self;
        let (identity, public) = reticent::Identity::create(&file)
            .map_err(|error| CommandFailure::of("identity", error))?;
        let key = identity.public().text();
        let text = wrapped(&format!(
            "Made the key {}, which only you can read, and {}, which you give to whoever is to check your \
             certificates: `reticent fit --sign {0}` signs, `reticent verify MODEL --key {1}` checks. The public \
             key is {key}.",
            file.display(),
            public.display()
        ));
        Ok(Answer::of(text, &MadeKey { identity: &file, public: &public, key: &key }))
    }
}

/// The public half of a key.
#[derive(Serialize)]
struct ShownKey<'a> {
    file: &'a Path,
    key: &'a str,
}

/// The files of a new key, and its public half.
#[derive(Serialize)]
struct MadeKey<'a> {
    identity: &'a Path,
    public: &'a Path,
    key: &'a str,
}

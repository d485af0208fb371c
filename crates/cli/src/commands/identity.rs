//! `reticent identity`: a key to sign certificates with.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::wrapped;

#[derive(Debug, Subcommand)]
pub enum IdentityCommand {
    /// Make an Ed25519 key; its public half goes beside it, with .pub at the end of the name
    New(IdentityNewArgs),
}

#[derive(Debug, Args)]
pub struct IdentityNewArgs {
    /// The file to make. It is for your eyes alone, and never replaced
    file: PathBuf,
}

impl IdentityCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let IdentityCommand::New(IdentityNewArgs { file }) = self;
        let (identity, public) = reticent::Identity::create(&file)
            .map_err(|error| CommandFailure::of("identity", error))?;
        let key = identity.public().text();
        let text = wrapped(&format!(
            "Made the key {}, which only you can read, and {}, which you give to whoever is to check your \
             certificates: `reticent fit --sign {0}` signs, `reticent verify MODEL --key {1}` checks. The public key is {key}.",
            file.display(),
            public.display()
        ));
        let object = json!({ "identity": file, "public": public, "key": key });
        Ok(Answer { text, object, remarks: Vec::new(), ..Answer::default() })
    }
}

//! A first schema from a file that is declared public, with a key of its own to know the file again
//! by.

use std::path::Path;

use reticent_oracle::tables::{DraftOptions, SchemaDraft, draft_from_public};
use reticent_oracle::{Entropy, Refusal};

use crate::error::Error;

/// Drafts a schema from a public file; see [`draft_from_public`].
///
/// # Errors
/// If the file cannot be read, or there is no randomness for the key.
pub fn draft_schema(path: &Path, options: &DraftOptions) -> Result<SchemaDraft, Error> {
    let key = Entropy::secure().and_then(|mut entropy| entropy.key()).map_err(Refusal::from)?;
    Ok(draft_from_public(path, options, &key)?)
}

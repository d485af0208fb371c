//! The table of a job that is paid for: by what the budget knows it, and whether it stays as it is.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use reticent::internal::FileContents;
use reticent::internal::tables::{content, contents, fingerprint, fingerprint_unpacked, stamps};
use reticent::tables::Dataset;
use reticent_budget::{PaidTable, Relation, Store, TablePiece};

use crate::error::PaymentError;

/// Under which files are digested that several budgets know a share of. Public: what it gives is
/// kept nowhere, and every budget has a key of its own.
pub(crate) const SHARED: [u8; 32] = *b"reticent, shares of one table...";

/// The table of a job that is paid for.
#[derive(Clone, Copy, Debug)]
pub enum Paid<'a> {
    /// Files, one behind the other.
    Files(&'a [PathBuf]),
    /// Rows in memory. Where nobody in them is in another table of the budget, its people have a
    /// name, and whatever has this name is of the same people: folds, samples, other columns.
    Memory {
        /// The rows.
        rows: &'a Dataset<'a>,
        /// What the budget calls their people; `None` for anybody.
        people: Option<&'a str>,
    },
}

impl<'a> Paid<'a> {
    /// How the table is before it is read.
    pub(crate) fn at_rest(&self) -> Result<AtRest<'a>, PaymentError> {
        match self {
            Paid::Files(files) => AtRest::new(files),
            Paid::Memory { .. } => Ok(AtRest { files: &[], before: Vec::new() }),
        }
    }

    /// The table as the budget knows it: by what was found while the job read it, or by reading it
    /// again where the job did not say.
    pub(crate) fn known(
        &self,
        store: &Store,
        relation: Relation,
        read: &FileContents,
    ) -> Result<PaidTable, PaymentError> {
        let key = store.key()?;
        match self {
            Paid::Files(files) => {
                let earlier = store.made_earlier()?;
                let mut pieces = Vec::with_capacity(files.len());
                let read = read.of(files);
                for (i, file) in files.iter().enumerate() {
                    let whole = match &read {
                        Some(found) => found[i],
                        None => content(file, &key).map_err(reticent::Error::from)?,
                    };
                    let older = if earlier { older(&[file], &key)? } else { Vec::new() };
                    pieces.push(TablePiece { whole, older, parts: Vec::new() });
                }
                let together = if earlier { older(files, &key)? } else { Vec::new() };
                Ok(PaidTable::files(pieces, together, relation))
            }
            // Whose they are nobody says, and no content tells.
            Paid::Memory { people: None, .. } => Ok(PaidTable::of_anybody()),
            Paid::Memory { rows, people: Some(name) } => {
                let whole = store.fingerprint(&[b"people", name.trim().as_bytes()])?;
                let (all, columns) = contents(rows, &key);
                let piece = TablePiece { whole, older: Vec::new(), parts: vec![all, columns] };
                Ok(PaidTable::in_memory(piece, Relation::DisjointPeople))
            }
        }
    }
}

impl Paid<'_> {
    /// The share that one party has of the table, as its own budget knows it. `read` has what the
    /// files hold, under [`SHARED`]: it is digested again under the key of the budget.
    pub(crate) fn share(
        &self,
        store: &Store,
        (dealing, party): (&str, usize),
        read: &[[u8; 32]],
    ) -> Result<PaidTable, PaymentError> {
        let Paid::Files(_) = self else { return Ok(PaidTable::of_anybody()) };
        let number = party.to_string();
        let mut parts = vec![&b"share of a table"[..], dealing.as_bytes(), number.as_bytes()];
        parts.extend(read.iter().map(|digest| &digest[..]));
        Ok(PaidTable::file(store.fingerprint(&parts)?, Relation::Same))
    }

    /// The files that shares are of, one behind the other.
    pub(crate) fn whole(&self, read: &[[u8; 32]]) -> PaidTable {
        PaidTable::files(read.iter().map(|&digest| digest.into()).collect(), None, Relation::Same)
    }

    /// What its files hold, under [`SHARED`].
    pub(crate) fn contents(&self, read: &FileContents) -> Result<Vec<[u8; 32]>, PaymentError> {
        let Paid::Files(files) = self else { return Ok(Vec::new()) };
        let digest = |file: &PathBuf| content(file, &SHARED);
        match read.of(files) {
            Some(found) => Ok(found),
            None => Ok(files
                .iter()
                .map(digest)
                .collect::<Result<_, _>>()
                .map_err(reticent::Error::from)?),
        }
    }
}

/// What a budget of format 4 or before may know files by: their bytes, or what these unpack to.
fn older<P: AsRef<Path>>(files: &[P], key: &[u8; 32]) -> Result<Vec<[u8; 32]>, PaymentError> {
    let packed = fingerprint(files, key).map_err(|error| unreadable(&error))?;
    let unpacked = fingerprint_unpacked(files, key).map_err(reticent::Error::from)?;
    Ok(vec![packed, unpacked])
}

/// Files, and how they were before somebody read them.
#[derive(Debug)]
pub struct AtRest<'a> {
    files: &'a [PathBuf],
    before: Vec<(u64, SystemTime)>,
}

impl<'a> AtRest<'a> {
    /// How files are now.
    ///
    /// # Errors
    /// Standard input, a pipe, a folder, or a file that is not there.
    pub fn new(files: &'a [PathBuf]) -> Result<Self, PaymentError> {
        if files.iter().any(|path| path.as_os_str() == "-") {
            return Err(PaymentError::StandardInput);
        }
        let is_pipe = |path: &PathBuf| {
            std::fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
        };
        if files.iter().any(is_pipe) {
            return Err(PaymentError::Pipe);
        }
        Ok(Self { files, before: stamps(files).map_err(|error| unreadable(&error))? })
    }

    /// Refuses files that were written since.
    ///
    /// # Errors
    /// [`PaymentError::Changed`].
    pub fn check(&self) -> Result<(), PaymentError> {
        let now = stamps(self.files).map_err(|error| unreadable(&error))?;
        if now == self.before { Ok(()) } else { Err(PaymentError::Changed) }
    }
}

fn unreadable(error: &std::io::Error) -> PaymentError {
    PaymentError::Unreadable(error.kind().to_string())
}

//! Where the noise of a gate comes from: a stream, or a key and all that an answer depends on.
//!
//! A party that is asked the same again, by a duplicated message or after a crash, must not say a
//! second thing: it says the same bits, and its books have one entry. So the noise of a gate with a
//! key is derived from
//!
//! ```text
//! key, run, digest of the table, version of this program, opening, loss   when the gate is opened
//! label of the step, lineage of the state, the query                      at every answer
//! ```
//!
//! written as canonical bytes. If any of them differs the noise is independent; if none does the
//! answer is the same. Proof: proofs/derived-noise.md.

use reticent_data::{Rows, Table};
use reticent_noise::{Digest, Entropy, EntropyError, Hasher, NoiseKey};
use reticent_problem::losses::Loss;

use super::PrivacyModel;
use crate::books::Books;
use crate::queries::Erased;
use crate::refusal::Refusal;

/// Where the noise comes from. Outside this crate it has no name, so that nobody else is one.
pub trait NoiseSource {
    /// What the noise of one answer follows from.
    type Context: Copy;

    /// The context of an answer to `query` from a state with this lineage.
    fn context(
        &self,
        books: &Books,
        lineage: &Digest,
        query: &dyn Erased,
    ) -> Result<Self::Context, Refusal>;

    /// What the books know the answer by, if it can be asked for again.
    fn known_by(context: Self::Context) -> Option<Digest>;

    /// Lends the words that belong to the context.
    fn draw<T>(&mut self, context: Self::Context, with: impl FnOnce(&mut Entropy) -> T) -> T;

    /// From here on, has a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    fn spoil(&mut self, bug: crate::bug::Bug) -> Result<(), EntropyError>;
}

/// Fresh words for every answer.
#[derive(Debug)]
pub struct Stream {
    pub(crate) entropy: Entropy,
    /// Where the run may be done again after a crash: what words follow from together with what is
    /// asked, and how often something was.
    repeated: Option<(NoiseKey, u64)>,
    #[cfg(reticent_seeded_bugs)]
    pub(crate) reused: Option<u64>,
}

impl Stream {
    pub(crate) fn new(entropy: Entropy) -> Self {
        Stream {
            entropy,
            repeated: None,
            #[cfg(reticent_seeded_bugs)]
            reused: None,
        }
    }

    /// From here on, the words of an answer follow from this key, the number of the answer and all of
    /// the question: a run that is done again and asks something else does not have the noise that it
    /// had, which would show the difference of two sums.
    pub(crate) fn repeat(&mut self, key: NoiseKey) {
        self.repeated = Some((key, 0));
    }
}

impl NoiseSource for Stream {
    type Context = Option<Digest>;

    fn context(
        &self,
        _: &Books,
        lineage: &Digest,
        query: &dyn Erased,
    ) -> Result<Option<Digest>, Refusal> {
        let Some((_, asked)) = &self.repeated else { return Ok(None) };
        let mut hasher = Hasher::new("reticent answer of a repeated run");
        hasher.field(lineage).number(*asked);
        query.write(&mut hasher)?;
        Ok(Some(hasher.finish()))
    }

    fn known_by(_: Option<Digest>) -> Option<Digest> {
        None
    }

    fn draw<T>(&mut self, context: Option<Digest>, with: impl FnOnce(&mut Entropy) -> T) -> T {
        #[cfg(reticent_seeded_bugs)]
        if let Some(seed) = self.reused {
            self.entropy = Entropy::seeded(seed);
            return with(&mut self.entropy);
        }
        match (context, &mut self.repeated) {
            (Some(context), Some((key, asked))) => {
                *asked += 1;
                with(&mut key.entropy(&context))
            }
            _ => with(&mut self.entropy),
        }
    }

    #[cfg(reticent_seeded_bugs)]
    fn spoil(&mut self, bug: crate::bug::Bug) -> Result<(), EntropyError> {
        self.reused = bug.reused_seed(&mut self.entropy)?;
        Ok(())
    }
}

/// The words that follow from a key and a context.
#[derive(Debug)]
pub struct Keyed {
    key: NoiseKey,
    bound: Digest,
    #[cfg(reticent_seeded_bugs)]
    reused: bool,
}

impl NoiseSource for Keyed {
    type Context = Digest;

    fn context(
        &self,
        books: &Books,
        lineage: &Digest,
        query: &dyn Erased,
    ) -> Result<Digest, Refusal> {
        let mut hasher = self.hasher("query", books, lineage);
        query.write(&mut hasher)?;
        Ok(hasher.finish())
    }

    fn known_by(context: Digest) -> Option<Digest> {
        Some(context)
    }

    fn draw<T>(&mut self, context: Digest, with: impl FnOnce(&mut Entropy) -> T) -> T {
        #[cfg(reticent_seeded_bugs)]
        let context = if self.reused { [0; 32] } else { context };
        with(&mut self.key.entropy(&context))
    }

    #[cfg(reticent_seeded_bugs)]
    fn spoil(&mut self, bug: crate::bug::Bug) -> Result<(), EntropyError> {
        self.reused = bug == crate::bug::Bug::NoiseReused;
        Ok(())
    }
}

impl Keyed {
    pub(crate) fn new(
        key: NoiseKey,
        run: &Digest,
        table: &Table,
        opening: &PrivacyModel,
        loss: &dyn Loss,
    ) -> Result<Self, EntropyError> {
        let mut hasher = Hasher::new("reticent gate");
        hasher.field(env!("CARGO_PKG_VERSION").as_bytes()).field(run);
        // The description of a loss does not say the weights of its classes.
        match loss.weights() {
            [] => hasher.canonical(&(opening, loss.spec()))?,
            weights => hasher.canonical(&(opening, loss.spec(), weights))?,
        };
        hasher.numbers(&table.targets);
        match &table.rows {
            Rows::Dense(rows) => hasher.number(rows.columns as u64).numbers(&rows.values),
            Rows::Sparse(rows) => hasher
                .number(rows.columns as u64)
                .canonical(&(&rows.indptr, &rows.indices))?
                .numbers(&rows.values),
        };
        hasher.canonical(&table.users)?;
        if let Some(weights) = &table.weights {
            hasher.field(b"weights").numbers(weights);
        }
        Ok(Keyed {
            key,
            bound: hasher.finish(),
            #[cfg(reticent_seeded_bugs)]
            reused: false,
        })
    }

    /// All that a context has in it but what is asked. `purpose` keeps apart what is drawn for
    /// different ends, whatever the bytes that follow.
    pub(crate) fn hasher(&self, purpose: &str, books: &Books, lineage: &Digest) -> Hasher {
        let mut hasher = Hasher::new("reticent answer");
        hasher.field(purpose.as_bytes()).field(&self.bound).field(books.label()).field(lineage);
        hasher
    }

    /// Stands for the table, the terms and the key together: a digest that tells nothing to whoever
    /// has not the key.
    pub(crate) fn fingerprint(&self) -> Result<Digest, EntropyError> {
        let context = Hasher::new("reticent fingerprint").field(&self.bound).finish();
        Ok(*self.key.entropy(&context).key()?)
    }
}

//! Noise that follows from a key and from all that an answer depends on.
//!
//! A party that is asked the same again, by a duplicated message or after a crash, must not say a
//! second thing: it says the same bits, and its books have one entry. So the noise of an answer is
//! derived from
//!
//! ```text
//! key, run, digest of the table, version of this program, terms,   fixed when the gate is opened
//! label of the step, lineage of the state, the query               at every answer
//! ```
//!
//! If any of them differs the noise is independent; if none does the answer is the same.
//! Proof: proofs/derived-noise.md.

use reticent_accountant::Ledger;
use reticent_data::{Rows, Table};
use reticent_noise::{Digest, Entropy, EntropyError, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};

/// The key of a gate, what it is bound to, and what it has answered in the current step.
#[derive(Debug)]
pub(crate) struct Keyed {
    key: NoiseKey,
    bound: Digest,
    step: Step,
}

/// The current step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Step {
    label: Digest,
    answered: Vec<Digest>,
}

/// All that a party must not forget: what it has spent, and what it has already answered. Not
/// secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Books {
    pub(crate) ledger: Ledger,
    step: Step,
}

impl Keyed {
    /// `terms` are the terms of the gate, its loss and its opening.
    pub fn new(key: NoiseKey, run: &Digest, table: &Table, terms: &dyn std::fmt::Debug) -> Self {
        let mut hasher = Hasher::new("reticent gate");
        hasher
            .field(env!("CARGO_PKG_VERSION").as_bytes())
            .field(run)
            .debug(terms)
            .numbers(&table.targets);
        match &table.rows {
            Rows::Dense(rows) => hasher.number(rows.columns as u64).numbers(&rows.values),
            Rows::Sparse(rows) => hasher
                .number(rows.columns as u64)
                .debug(&rows.indptr)
                .debug(&rows.indices)
                .numbers(&rows.values),
        };
        hasher.debug(&table.users);
        Keyed { key, bound: hasher.finish(), step: Step::default() }
    }

    /// A new step; a step that goes on, if the label is that of the current one.
    pub fn begin(&mut self, label: &Digest) {
        if self.step.label != *label {
            self.step = Step { label: *label, answered: Vec::new() };
        }
    }

    /// The context of an answer to `query` from a state with this lineage.
    pub fn context(&self, lineage: &Digest, query: &dyn std::fmt::Debug) -> Digest {
        Hasher::new("reticent answer")
            .field(&self.bound)
            .field(&self.step.label)
            .field(lineage)
            .debug(query)
            .finish()
    }

    /// Whether this context has been answered in this step.
    pub fn knows(&self, context: &Digest) -> bool {
        self.step.answered.contains(context)
    }

    /// Remembers that the books have an entry for this context.
    pub fn remember(&mut self, context: Digest) {
        self.step.answered.push(context);
    }

    /// Stands for the table, the terms and the key together: a digest that tells nothing to whoever
    /// has not the key.
    pub fn fingerprint(&self) -> Result<Digest, EntropyError> {
        let context = Hasher::new("reticent fingerprint").field(&self.bound).finish();
        Ok(*self.key.entropy(&context).key()?)
    }

    pub fn entropy(&self, context: &Digest) -> Entropy {
        self.key.entropy(context)
    }

    pub fn books(&self, ledger: &Ledger) -> Books {
        Books { ledger: ledger.clone(), step: self.step.clone() }
    }

    pub fn recall(&mut self, books: &Books) {
        self.step = books.step.clone();
    }
}

impl Books {
    /// What was spent.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }
}

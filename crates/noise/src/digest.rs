//! What a step is bound to: SHA-256 over fields that cannot run into each other.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::entropy::EntropyError;

/// 256 bits that stand for what was hashed.
pub type Digest = [u8; 32];

/// Takes fields in, gives a [`Digest`]. Every field is preceded by its length, so that two lists of
/// fields with the same bytes in a row are told apart.
#[derive(Clone, Debug)]
pub struct Hasher(Sha256);

impl Hasher {
    /// For one purpose, named: digests made for different purposes never meet.
    pub fn new(purpose: &str) -> Self {
        let mut hasher = Hasher(Sha256::new());
        hasher.field(purpose.as_bytes());
        hasher
    }

    /// Adds one field of bytes, with its length before it.
    pub fn field(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
        self
    }

    /// One field of numbers, bit by bit.
    pub fn numbers(&mut self, numbers: &[f64]) -> &mut Self {
        self.0.update((8 * numbers.len() as u64).to_le_bytes());
        for chunk in numbers.chunks(64) {
            let mut bytes = [0; 512];
            for (bytes, number) in bytes.chunks_exact_mut(8).zip(chunk) {
                bytes.copy_from_slice(&number.to_bits().to_le_bytes());
            }
            self.0.update(&bytes[..8 * chunk.len()]);
        }
        self
    }

    /// Adds one whole number as a field.
    pub fn number(&mut self, number: u64) -> &mut Self {
        self.field(&number.to_le_bytes())
    }

    /// One field: the canonical bytes of `value`, which are those of the postcard format: every
    /// member in its order, sequences with their lengths, `f64` bit by bit.
    ///
    /// # Errors
    /// A value that has no such bytes, as a sequence that does not know its length.
    pub fn canonical<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
    ) -> Result<&mut Self, EntropyError> {
        let bytes = postcard::to_allocvec(value).map_err(|_| EntropyError::NoBytes)?;
        Ok(self.field(&bytes))
    }

    /// The digest of the fields so far.
    pub fn finish(&self) -> Digest {
        self.0.clone().finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let of = |fields: &[&str]| {
            let mut hasher = Hasher::new("test");
            fields.iter().for_each(|field| _ = hasher.field(field.as_bytes()));
            hasher.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["ab"]), of(&["ab", ""]));
        assert_eq!(of(&["ab", "c"]), of(&["ab", "c"]));
        assert_ne!(Hasher::new("a").finish(), Hasher::new("b").finish());
    }

    #[test]
    fn numbers_that_differ_in_a_bit_differ() {
        let of = |numbers: &[f64]| Hasher::new("test").numbers(numbers).finish();
        assert_ne!(of(&[0.0]), of(&[-0.0]));
        assert_ne!(of(&[1.0; 64]), of(&[1.0; 65]));
    }

    #[test]
    fn values_that_differ_in_a_bit_differ() {
        fn of<T: Serialize>(value: T) -> Digest {
            Hasher::new("test").canonical(&value).unwrap().finish()
        }
        assert_ne!(of([1.0]), of([1.0 + f64::EPSILON]));
        assert_ne!(of([0.0]), of([-0.0]));
        assert_ne!(of(f64::NAN), of(-f64::NAN));
        assert_ne!(of((vec![1_u32], vec![2_u32])), of((vec![1_u32, 2], Vec::<u32>::new())));
        assert_ne!(of(Some(0_u8)), of(None::<u8>));
        assert_eq!(of(("a", 1.5)), of(("a", 1.5)));
    }
}

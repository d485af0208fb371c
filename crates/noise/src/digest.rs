//! What a step is bound to: SHA-256 over fields that cannot run into each other.

use std::fmt;

use sha2::{Digest as _, Sha256};

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

    /// One field: what `{:?}` writes about `value`. Nobody can forget a member of it, and `f64`
    /// writes itself exactly.
    pub fn debug(&mut self, value: &dyn fmt::Debug) -> &mut Self {
        /// Counts what it hashes, because the length of a text is not known before its end.
        struct Text<'a>(&'a mut Sha256, u64);
        impl fmt::Write for Text<'_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.update(text.as_bytes());
                self.1 += text.len() as u64;
                Ok(())
            }
        }
        let mut text = Text(&mut self.0, 0);
        // A hasher takes all it is given.
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{value:?}"));
        let len = text.1;
        // Behind the text and not before it: read from the end, the fields are still told apart.
        self.0.update(len.to_le_bytes());
        self
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
        let debug = |numbers: &[f64]| Hasher::new("test").debug(&numbers).finish();
        assert_ne!(debug(&[1.0]), debug(&[1.0 + f64::EPSILON]));
    }
}

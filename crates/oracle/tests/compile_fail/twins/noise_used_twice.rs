//! A stream can be forked into an independent one.

use reticent_oracle::Entropy;

pub fn main() {
    let mut entropy = Entropy::seeded(1);
    let mut fork = entropy.fork().unwrap();
    assert_ne!(entropy.below(u64::MAX).unwrap(), fork.below(u64::MAX).unwrap());
}

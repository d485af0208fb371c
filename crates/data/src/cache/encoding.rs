//! How this program encodes a table, as a digest: two builds of one version may do it in two ways.

use super::block;
use crate::{Purpose, Schema};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

#[cfg(test)]
#[path = "../../build/sources.rs"]
mod sources;

/// Stands for the sources of this crate, which read, encode and pack; from `build.rs`.
const SOURCES: &str = env!("RETICENT_DATA_SOURCES");

/// A column of every kind, and a word of each.
const SCHEMA: &str = "\
row_norm = 2.0
pairs = [['age', 'wage']]
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
curve = 3
missing = 'middle'
[[column]]
name = 'wage'
kind = 'numeric'
lower = 1
upper = 1e6
scale = 'log'
[[column]]
name = 'town'
kind = 'categorical'
categories = ['a', 'b', 'c']
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
";

/// Stands for how tables are encoded and packed here: what decides it (the sources), and what comes of it on a
/// made-up table (dependencies, the compiler, the platform's mathematics library). Computed once.
pub fn encoding_digest() -> [u8; 32] {
    static FOUND: OnceLock<[u8; 32]> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut hasher = Sha256::new();
        hasher.update(SOURCES.as_bytes());
        hasher.update(self_test());
        hasher.finalize().into()
    })
}

/// The packed block of a made-up table.
fn self_test() -> Vec<u8> {
    let mut bytes = Vec::new();
    let Ok(schema) = SCHEMA.parse::<Schema>() else { return bytes };
    let mut text = String::from("age,wage,town,ill\n");
    for i in 0..600_u32 {
        let age = if i % 7 == 0 { String::new() } else { format!("{}.{}", i % 101, i % 13) };
        let town = ["a", "b", "c"][i as usize % 3];
        text += &format!("{age},{},{town},{}\n", 1 + i * i, ["no", "yes"][(i % 2) as usize]);
    }
    if let Ok(table) = crate::parse_csv(text.as_bytes(), "", &schema, b',', Purpose::Fit) {
        block::write(&table, &mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_of_the_sources_and_of_a_table_that_is_encoded() {
        let block = self_test();
        assert!(block.len() > 600 * 8, "{}", block.len());
        assert_eq!(block, self_test());
        assert!(SOURCES.len() == 64 && SOURCES.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let other = Sha256::digest([SOURCES.as_bytes(), &block[1..]].concat());
        assert_ne!(encoding_digest(), *other);
    }

    /// The sources of the program that runs are those in the folder that it was built from.
    #[test]
    fn another_source_is_another_build() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("deep")).unwrap();
        std::fs::write(folder.path().join("a.rs"), "fn a() {}").unwrap();
        std::fs::write(folder.path().join("deep/b.rs"), "fn b() {}").unwrap();
        let one = sources::digest(folder.path()).unwrap();
        assert_eq!(sources::digest(folder.path()).unwrap(), one);
        std::fs::write(folder.path().join("deep/b.rs"), "fn b() { }").unwrap();
        assert_ne!(sources::digest(folder.path()).unwrap(), one);
        let own = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert_eq!(sources::digest(&own).unwrap(), SOURCES);
    }
}

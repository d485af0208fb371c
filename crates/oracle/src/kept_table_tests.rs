//! Tests of tables that change while they are read.

use super::*;

/// A Parquet file that was written to between its two passes left the rows of the one under the digest of
/// the other.
#[test]
fn a_table_that_is_written_to_while_it_is_read_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, "a,y\n1,0\n").unwrap();
    let paths = [path.clone()];
    let before = TableStamps::of(&paths).unwrap();
    assert_eq!(before.are_still_those_of(&paths), Ok(()));
    std::fs::write(&path, "a,y\n1,0\n0,1\n").unwrap();
    assert_eq!(before.are_still_those_of(&paths), Err(CacheError::TableChanged));
    // The same length at another time.
    std::fs::write(&path, "a,y\n0,0\n").unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before.0[0].1 + std::time::Duration::from_secs(1)).unwrap();
    assert_eq!(before.are_still_those_of(&paths), Err(CacheError::TableChanged));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(before.are_still_those_of(&paths), Err(CacheError::Read(_))));
}

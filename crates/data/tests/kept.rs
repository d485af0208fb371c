//! A cache file that is kept: what is written comes back, and no file of other bytes is one.

use reticent_data::{CacheError, CachedRows, Dense, KeptLabel, Rows, Table};

fn table() -> Table {
    let values = (0..90).map(|i| f64::from(i) / 7.0).collect();
    Table {
        rows: Rows::Dense(Dense { rows: 30, columns: 3, values }),
        targets: (0..30).map(|i| f64::from(i % 2)).collect(),
        users: Some((0..30).map(|i| i % 4).collect()),
        weights: Some((0..30).map(|i| f64::from(i) / 30.0).collect()),
        names: Vec::new(),
    }
}

fn rows(rows: &CachedRows) -> Vec<Table> {
    let mut all = [Vec::new()];
    let keep = |all: &mut Vec<(usize, Table)>, block: reticent_data::CacheBlock<'_>| {
        all.push((block.number, block.table.clone()));
        Ok::<(), CacheError>(())
    };
    let by_person = rows.by_person().unwrap().unwrap();
    by_person.scan(&mut all, |_| true, keep).unwrap();
    let [mut all] = all;
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, table)| table).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_kept_table_comes_back_and_every_byte_of_its_list_counts() {
    let folder = tempfile::tempdir().unwrap();
    let written = CachedRows::of_table(&table(), 200, folder.path()).unwrap();
    let label =
        KeptLabel { encoding: [7; 32], contents: vec![[1; 32], [2; 32]], drafted_from: true };
    written.keep("a.cache", &label).unwrap();
    let open = |encoding| CachedRows::kept(folder.path(), "a.cache", encoding);
    let (read, found) = open(&[7; 32]).unwrap().unwrap();
    assert_eq!((found, read.records(), read.columns()), (label, 30, 3));
    assert!(read.has_owners() && read.is_weighted());
    assert_eq!(rows(&read), rows(&written));
    assert!(open(&[8; 32]).unwrap().is_none(), "another encoding");
    let gone = CachedRows::kept(folder.path(), "b.cache", &[7; 32]);
    assert!(gone.unwrap().is_none());

    let path = folder.path().join("a.cache");
    let whole = std::fs::read(&path).unwrap();
    let blocks = written.by_record().bytes() as usize;
    for at in blocks..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(open(&[7; 32]).unwrap().is_none(), "{at}");
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(open(&[7; 32]).unwrap().is_none(), "{at}");
    }
    // A damaged block is found when it is read. It would be found in every run: who keeps it is told to remove it.
    for at in 0..blocks {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let (damaged, _) = open(&[7; 32]).unwrap().unwrap();
        let look = |_: &mut (), _: reticent_data::CacheBlock<'_>| Ok::<(), CacheError>(());
        let said = damaged.by_record().scan(&mut [(); 2], |_| true, look).unwrap_err();
        assert!(said == CacheError::Changed && said.to_string().contains("remove it"), "{at}");
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(open(&[7; 32]).unwrap().is_some());
}

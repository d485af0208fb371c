//! The same table from every kind of file.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use crate::archive::zip;
use reticent_data::{
    DataError, DraftOptions, Format, ReadOptions, Schema, Table, draft_from_public, load,
    load_and_compare,
};
use std::io::Write;
use std::path::PathBuf;

const SCHEMA: &str = schema!(10; age who ill);
const TEXT: &str = "age,who,ill\n10,a,no\n20.5,b,yes\n30,a,no\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Result<Table, DataError> {
        load(&self.write(name, bytes), None, &schema(), None, None)
    }

    fn refused(&self, name: &str, bytes: &[u8]) -> String {
        let text = self.read(name, bytes).map(|_| ()).unwrap_err().to_string();
        text.replace(&self.0.path().display().to_string(), "DIR")
    }
}

fn schema() -> Schema {
    SCHEMA.parse().unwrap()
}

#[test]
fn packed_files_give_the_same_table() {
    let folder = Folder::new();
    let plain = folder.read("t.csv", TEXT.as_bytes()).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz2.write_all(TEXT.as_bytes()).unwrap();
    let bz2 = bz2.finish().unwrap();
    let zst = zstd::stream::encode_all(TEXT.as_bytes(), 3).unwrap();
    assert_eq!(folder.read("t.csv.bz2", &bz2).unwrap(), plain);
    assert_eq!(folder.read("t.csv.zst", &zst).unwrap(), plain);
    for packed in [true, false] {
        let zip = zip(&[("t.csv", TEXT)], packed);
        assert_eq!(folder.read("t.csv.zip", &zip).unwrap(), plain);
        // Cut short, and with another byte in the middle.
        assert!(folder.refused("t.csv.zip", &zip[..zip.len() - 1]).contains("reading failed"));
        let mut damaged = zip.clone();
        damaged[60] ^= 1;
        assert!(folder.read("t.csv.zip", &damaged).is_err());
    }
    for cut in [bz2.len() - 1, bz2.len() / 2] {
        assert!(folder.refused("t.csv.bz2", &bz2[..cut]).contains("reading failed"));
    }
    for cut in [zst.len() - 1, zst.len() / 2] {
        assert!(folder.refused("t.csv.zst", &zst[..cut]).contains("reading failed"));
    }
    assert_eq!(
        folder.refused("t.csv.zip", &zip(&[("a", TEXT), ("b", TEXT)], true)),
        "DIR/t.csv.zip: the .zip archive cannot be read: it holds more than one file, or none"
    );
}

#[test]
fn several_files_are_one_table() {
    let folder = Folder::new();
    let (one, two) = (
        folder.write("1.csv", TEXT.as_bytes()),
        folder.write("2.tsv", b"who\till\tage\nb\tno\t1\n"),
    );
    let table = load_and_compare(&[one.clone(), two], None, &schema()).unwrap().0;
    assert_eq!((table.len(), table.targets.len()), (4, 4));
    assert_eq!(table.users.unwrap(), [0, 1, 0, 1], "a person is the same in both");
    let bad = folder.write("3.csv", b"age,who,ill\n");
    assert!(load_and_compare(&[one, bad], None, &schema()).is_err(), "a file without records");
}

/// The digest of a draft is of what a file holds, however it is packed.
#[test]
fn the_file_of_a_draft_is_known_again_in_every_packing() {
    let folder = Folder::new();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz2.write_all(TEXT.as_bytes()).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(TEXT.as_bytes()).unwrap();
    let files = [
        folder.write("t.csv", TEXT.as_bytes()),
        folder.write("t.csv.gz", &gz.finish().unwrap()),
        folder.write("t.csv.bz2", &bz2.finish().unwrap()),
        folder.write("t.csv.zst", &zstd::stream::encode_all(TEXT.as_bytes(), 3).unwrap()),
        folder.write("packed.csv.zip", &zip(&[("t.csv", TEXT)], true)),
        folder.write("stored.csv.zip", &zip(&[("t.csv", TEXT)], false)),
    ];
    let other = folder.write("other.csv", TEXT.replace("20.5", "20").as_bytes());
    let options = DraftOptions::default()
        .with(|it| (it.target, it.user) = (Some("ill".into()), Some("who".into())));
    for from in &files {
        let schema = draft_from_public(from, &options, &[7; 32]).unwrap().schema;
        for file in &files {
            let found = load_and_compare(&[other.clone(), file.clone()], None, &schema).unwrap();
            assert!(found.1, "{} under a draft of {}", file.display(), from.display());
        }
        assert!(!load_and_compare(&[other.clone(), other.clone()], None, &schema).unwrap().1);
    }
}

#[test]
fn a_decimal_comma_is_declared() {
    let folder = Folder::new();
    let path = folder.write("t.csv", b"age;who;ill\n10;a;no\n20,5;b;yes\n30;a;no\n");
    let schema: Schema = format!("decimal = ','\ndelimiter = ';'\n{SCHEMA}").parse().unwrap();
    let plain = folder.read("p.csv", TEXT.as_bytes()).unwrap();
    assert_eq!(load(&path, None, &schema, None, None).unwrap(), plain);
    assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
    let thousand = folder.write("t.csv", b"age;who;ill\n1.000;a;no\n");
    let said = load(&thousand, None, &schema, None, None).map(|_| ()).unwrap_err().to_string();
    assert!(said.ends_with("column `age` is numeric, but the field is not a number"), "{said}");
    let both = format!("decimal = ','\ndelimiter = ','\n{SCHEMA}").parse::<Schema>().unwrap_err();
    assert_eq!(both.to_string(), "decimal and delimiter are both \",\"");
    let neither: Schema = format!("decimal = ','\n{SCHEMA}").parse().unwrap();
    assert!(load(&path, None, &neither, None, None).is_err(), "the usual delimiter is a comma too");
}

#[test]
fn text_in_utf16_is_named() {
    let folder = Folder::new();
    let little: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in
        [&[&[0xff, 0xfe], &little[..]].concat(), &[&[0xfe, 0xff], &big[..]].concat(), &little, &big]
    {
        assert_eq!(
            folder.refused("t.csv", bytes),
            "DIR/t.csv: the text is in UTF-16, and only UTF-8 is read"
        );
    }
}

#[test]
fn text_in_utf32_is_not_called_utf16() {
    let folder = Folder::new();
    let little: Vec<u8> = TEXT.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let big: Vec<u8> = TEXT.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    let marked = |mark: u32| {
        [[&mark.to_le_bytes()[..], &little].concat(), [&mark.to_be_bytes()[..], &big].concat()]
    };
    for bytes in marked(0xfeff).iter().chain([&little, &big]) {
        assert_eq!(
            folder.refused("t.csv", bytes),
            "DIR/t.csv: the text is in UTF-32, and only UTF-8 is read"
        );
    }
}

#[test]
fn what_has_no_end_is_refused() {
    let zero = PathBuf::from("/dev/zero");
    let limited = ReadOptions::from(Some(Format::Csv)).with(|it| it.max_line = Some(1_000_000));
    let said = load(&zero, limited, &schema(), None, None).map(|_| ()).unwrap_err().to_string();
    assert_eq!(said, "/dev/zero:1: the record is longer than 1000000 bytes");
    assert!(Schema::read(&zero).is_err());
    // A hundred megabytes in one line, from a hundred kilobytes.
    let folder = Folder::new();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    bomb.write_all(b"age,who,ill\n").unwrap();
    let block = vec![b'1'; 1_000_000];
    (0..100).for_each(|_| bomb.write_all(&block).unwrap());
    let bomb = bomb.finish().unwrap();
    assert_eq!(
        folder.refused("t.csv.gz", &bomb),
        "DIR/t.csv.gz:2: the record is longer than 64000000 bytes"
    );
    let quoted = format!("age,who,ill\n1,\"{}", "x\n".repeat(2_000_000));
    let path = folder.write("t.csv", quoted.as_bytes());
    let said = load(&path, limited, &schema(), None, None).map(|_| ()).unwrap_err().to_string();
    assert!(said.ends_with("t.csv:2: the record is longer than 1000000 bytes"), "{said}");
}

/// A search for each field would take 10¹² steps.
#[test]
fn a_million_columns_are_read() {
    let columns = 1_000_000;
    let mut names: Vec<String> = (0..columns).map(|i| format!("x{i}")).collect();
    names.push("ill".into());
    let text = format!("{}\n{}yes\n", names.join(","), "1,".repeat(columns));
    let schema: Schema =
        "row_norm = 1\nundeclared = 'ignore'\n[[column]]\nname = 'x7'\nkind = 'numeric'\nlower = 0\n\
                          upper = 1\n[[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']"
            .parse()
            .unwrap();
    let folder = Folder::new();
    let path = folder.write("wide.csv", text.as_bytes());
    assert_eq!(load(&path, None, &schema, None, None).unwrap().rows.dense_row(0), [1.0]);
    let mut wide = String::from("row_norm = 1\n");
    for name in names.iter().take(40_000) {
        wide += &format!("[[column]]\nname = '{name}'\nkind = 'numeric'\nlower = 0\nupper = 2\n");
    }
    wide += "[[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n";
    let wide: Schema = format!("undeclared = 'ignore'\n{wide}").parse().unwrap();
    assert_eq!(load(&path, None, &wide, None, None).unwrap().rows.columns(), 40_000);
}

#[test]
fn a_mark_of_byte_order_within_a_file_is_no_part_of_a_value() {
    let folder = Folder::new();
    let plain = folder.read("t.csv", TEXT.as_bytes()).unwrap();
    let marked = "\u{feff}age,who,ill\n10,a,no\n\u{feff}20.5,b,yes\n30,a,no\n";
    assert_eq!(folder.read("t.csv", marked.as_bytes()).unwrap(), plain);
}

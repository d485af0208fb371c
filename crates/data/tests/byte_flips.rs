//! A byte of a file is another one than it was, 400 times for each format: the file is refused, or
//! every record is read. Nothing panics. Fixed seed.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use crate::archive;

use reticent_data::{Format, Schema, Table, Target, load, read_text};
use std::io::Write;
use std::path::Path;

const FLIPS: usize = 400;
const ROWS: usize = 300;

const SCHEMA: &str = schema!(10;
    age "name = 'town'\nkind = 'categorical'\ncategories = ['A', 'B', 'over \"there\", far']"
    "name = 'income'\nkind = 'numeric'\nlower = 0\nupper = 1000\nscale = 'log'"
    "name = 'born'\nkind = 'date'\nlower = '1900-01-01'\nupper = '2020-12-31'" ill
);

/// A multiplicative generator, enough to choose places with.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn csv() -> Vec<u8> {
    let mut text = b"age,town,income,born,ill\n".to_vec();
    let mut dice = Dice(1);
    for i in 0..ROWS {
        let town = ["A", "B", "\"over \"\"there\"\", far\"", ""][dice.below(4)];
        let (age, income, day) =
            (dice.below(99), dice.below(9_000) as f64 / 8.0, 1 + dice.below(28));
        let ill = ["no", "yes"][i % 2];
        writeln!(text, "{age},{town},{income},1980-05-{day:02},{ill}").unwrap();
    }
    text
}

fn libsvm() -> Vec<u8> {
    let mut text = b"# made up\n".to_vec();
    let mut dice = Dice(2);
    for i in 0..ROWS {
        let (a, b) = (1 + dice.below(20), 21 + dice.below(20));
        writeln!(text, "{} {a}:1 {b}:{}", ["+1", "-1"][i % 2], dice.below(100) as f64 / 16.0)
            .unwrap();
    }
    text
}

/// Whether `read` panics or loses records of `bytes` with one byte changed.
fn shake(name: &str, bytes: &[u8], read: &dyn Fn(&Path) -> Result<Table, String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut dice = Dice(8);
    let mut refused = 0;
    for flip in 0..FLIPS {
        let mut damaged = bytes.to_vec();
        let at = dice.below(damaged.len());
        // A bit, or any other byte.
        damaged[at] ^= if flip % 2 == 0 { 1 << dice.below(8) } else { 1 + dice.below(255) as u8 };
        std::fs::write(&path, &damaged).unwrap();
        match read(&path) {
            Ok(table) => assert_eq!(table.len(), ROWS, "{name}, flip {flip} at {at}"),
            Err(message) => {
                refused += 1;
                assert!(!message.contains("1980"), "{name}, flip {flip}: {message}");
            }
        }
    }
    assert!(refused > 0, "{name}: the damage must be seen");
}

fn by_schema(path: &Path) -> Result<Table, String> {
    load(path, None, &SCHEMA.parse().unwrap(), None, None).map_err(|e| e.to_string())
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn text() {
    shake("t.csv", &csv(), &by_schema);
    let schema = Schema::libsvm(40, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    shake("t.svm", &libsvm(), &|path| {
        load(path, None, &schema, None, None).map_err(|e| e.to_string())
    });
}

#[test]
fn packed_text() {
    shake("t.csv.gz", &gz(&csv()), &by_schema);
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(&csv()).unwrap();
    shake("t.csv.xz", &xz.finish().unwrap(), &by_schema);
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz2.write_all(&csv()).unwrap();
    shake("t.csv.bz2", &bz2.finish().unwrap(), &by_schema);
    let mut zst = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    zst.include_checksum(true).unwrap();
    zst.write_all(&csv()).unwrap();
    shake("t.csv.zst", &zst.finish().unwrap(), &by_schema);
    let text = String::from_utf8(csv()).unwrap();
    for packed in [true, false] {
        shake("t.csv.zip", &archive::zip(&[("t.csv", &text)], packed), &by_schema);
    }
}

#[test]
fn a_schema() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("good.csv");
    std::fs::write(&table, csv()).unwrap();
    shake("s.toml", SCHEMA.as_bytes(), &|path| {
        let schema = Schema::read(path).map_err(|e| e.to_string())?;
        load(&table, Some(Format::Csv), &schema, None, None).map_err(|e| e.to_string())
    });
    assert!(read_text(Path::new("/dev/zero")).is_err());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet() {
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;

    let message =
        "message m { required double age; optional binary town (STRING); required double income;
        required int32 born (DATE); required boolean ill; }";
    let zstd = Compression::ZSTD(ZstdLevel::try_new(3).unwrap());
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, zstd] {
        let schema = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut writer =
            SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut dice = Dice(3);
        for _ in 0..3 {
            let n = ROWS / 3;
            let mut group = writer.next_row_group().unwrap();
            let ages: Vec<f64> = (0..n).map(|_| dice.below(99) as f64).collect();
            let levels: Vec<i16> = (0..n).map(|i| i16::from(i % 7 != 0)).collect();
            let towns = levels.iter().filter(|&&l| l == 1);
            let towns: Vec<ByteArray> =
                towns.map(|_| ByteArray::from(["A", "B"][dice.below(2)])).collect();
            let days: Vec<i32> = (0..n).map(|_| dice.below(20_000) as i32).collect();
            let ill: Vec<bool> = (0..n).map(|i| i % 2 == 0).collect();
            for column in 0..5 {
                let mut next = group.next_column().unwrap().unwrap();
                match column {
                    0 | 2 => next.typed::<DoubleType>().write_batch(&ages, None, None).unwrap(),
                    1 => next
                        .typed::<ByteArrayType>()
                        .write_batch(&towns, Some(&levels), None)
                        .unwrap(),
                    3 => next.typed::<Int32Type>().write_batch(&days, None, None).unwrap(),
                    _ => next.typed::<BoolType>().write_batch(&ill, None, None).unwrap(),
                };
                next.close().unwrap();
            }
            group.close().unwrap();
        }
        let truth = SCHEMA.replace("['no', 'yes']", "[false, true]");
        shake("t.parquet", &writer.into_inner().unwrap(), &|path| {
            load(path, None, &truth.parse().unwrap(), None, None).map_err(|e| e.to_string())
        });
    }
}

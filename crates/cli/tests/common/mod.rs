//! A folder to work in, and the program as a user types it.
// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// What a schema says of the tables below.
pub const SCHEMA: &str = "
row_norm = 1
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
[[column]]
name = 'town'
kind = 'categorical'
categories = ['A', 'B']
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
";

/// Makes a model or certificate of format 1 of one of format 2: it has no digest that an edit could
/// contradict.
pub fn as_format_1(file: &mut Value) {
    if file.get("certificate").is_some() {
        file["version"] = 1.into();
        return as_format_1(&mut file["certificate"]);
    }
    file["version"] = 1.into();
    file.as_object_mut().unwrap().retain(|name, _| name != "model" && name != "digest");
}

/// Waits until something has happened, as long as a busy machine may take; what is asserted afterwards says that it has.
pub fn wait_until(happened: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(300);
    while !happened() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a run left behind.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Standard output as one JSON object.
    pub fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| {
            panic!("not one JSON object: {error}\n{}\n{}", self.out, self.err)
        });
        assert!(value.is_object(), "{value}");
        value
    }

    /// The same, of a run that went well.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}{}", self.out, self.err);
        self
    }
}

/// A temporary folder.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// `reticent` with these words, typed in this folder.
    pub fn reticent(&self, line: &str) -> Said {
        run(assert_cmd::Command::cargo_bin("reticent")
            .unwrap()
            .args(words(line))
            .current_dir(self.path()))
    }

    /// A shell command in this folder, with `reticent` on the path.
    pub fn shell(&self, line: &str) -> Said {
        let program = assert_cmd::cargo::cargo_bin("reticent");
        let path =
            format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        run(assert_cmd::Command::new("bash")
            .args(["-c", line])
            .env("PATH", path)
            .current_dir(self.path()))
    }

    /// Every file and folder below, with the contents of the files.
    pub fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        let mut left = vec![self.path().to_owned()];
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                all.push((path, Vec::new()));
            } else {
                all.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
        all.sort();
        all
    }
}

/// Words between spaces; a word in single quotes may hold spaces.
fn words(line: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        if i % 2 == 1 {
            all.push(part.to_owned());
        } else {
            all.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    all
}

fn run(command: &mut assert_cmd::Command) -> Said {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// `count` records in which the old of town B are ill.
pub fn people(count: u32) -> Vec<(u32, &'static str, bool)> {
    (0..count)
        .map(|i| {
            let (age, town) = (i * 37 % 101, ["A", "B"][(i * 7 % 13 % 2) as usize]);
            (age, town, age + if town == "B" { 20 } else { 0 } > 60)
        })
        .collect()
}

/// The same as CSV.
pub fn csv(count: u32) -> String {
    let mut text = String::from("age,town,ill\n");
    for (age, town, ill) in people(count) {
        text += &format!("{age},{town},{}\n", if ill { "yes" } else { "no" });
    }
    text
}

/// The same as a Parquet file with a whole number and two texts, in groups of so many records.
pub fn parquet(count: u32, of: usize) -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
    let schema = "message t { required int32 age; required binary town (UTF8); required binary ill (UTF8); }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut file =
        parquet::file::writer::SerializedFileWriter::new(&mut bytes, schema, Arc::default())
            .unwrap();
    for people in people(count).chunks(of) {
        let mut group = file.next_row_group().unwrap();
        let ages: Vec<i32> = people.iter().map(|(age, ..)| *age as i32).collect();
        let towns = people.iter().map(|(_, town, _)| ByteArray::from(*town)).collect();
        let said = |ill: bool| ByteArray::from(if ill { "yes" } else { "no" });
        let ills = people.iter().map(|(.., ill)| said(*ill)).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&ages, None, None).unwrap();
        column.close().unwrap();
        for texts in [towns, ills] {
            let texts: Vec<ByteArray> = texts;
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    file.close().unwrap();
    bytes
}

/// The same rows as visits of so many patients, who take turns.
pub fn visits(count: u32, patients: u32) -> String {
    let rows = csv(count);
    let mut lines = rows.lines();
    let head = lines.next().unwrap_or_default();
    let visit = |(line, i): (&str, u32)| format!("{line},p{}\n", i % patients);
    format!("{head},who\n{}", lines.zip(0..).map(visit).collect::<String>())
}

/// Their schema.
pub fn visits_schema() -> String {
    format!("{SCHEMA}[[column]]\nname = 'who'\nkind = 'user'\n")
}

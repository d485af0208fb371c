//! `reticent demo`: the whole path once, on invented patients. Every command is printed as a user
//! would type it and then run through the same door, so it can be repeated by hand.

mod patients;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Parser};
use reticent::Error;
use reticent::internal::{check_new, write_text};
use serde::Serialize;
use serde_json::Value;

use crate::Cli;
use crate::answer::{Answer, OutputFormat};
use crate::failure::CommandFailure;
use crate::layout::wrapped;

#[derive(Debug, Args)]
pub struct Demo {
    /// The folder to write to
    #[arg(long, value_name = "DIR", default_value = "reticent-demo")]
    out: PathBuf,
}

/// What the commands answered, by their names, and the files.
#[derive(Serialize)]
struct DemoFields<'a> {
    #[serde(flatten)]
    answers: BTreeMap<&'static str, Value>,
    files: [&'a String; 4],
}

/// The demo's files, as words of a command.
struct Paths {
    train: String,
    new: String,
    schema: String,
    model: String,
}

impl Demo {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let out = &self.out;
        let Paths { train, new, schema, model } = &written(out)?;
        let mut text = wrapped(&format!(
            "{} invented patients are in {train}, {} more in {new}. Who of them had a stroke is private; what may be \
             known of the columns without looking at anybody is in {schema}.",
            patients::MANY,
            patients::FEW
        ));
        let fit = ["fit", train, "--schema", schema, "--target", "stroke", "--epsilon", "1"];
        let fit = [&fit[..], &["--delta", "1e-6", "--out", model]].concat();
        let steps = [
            ("fit", fit),
            ("evaluate", vec!["evaluate", model, new]),
            ("inspect", vec!["inspect", model]),
        ];
        let mut answers = BTreeMap::new();
        let mut remarks = Vec::new();
        for (name, words) in steps {
            text += &format!("\n$ reticent {}\n", words.join(" "));
            let answer = run(&words)?;
            text += &answer.text;
            answers.insert(name, answer.object);
            remarks.extend(answer.remarks);
        }
        text += "\n";
        text += &wrapped(&format!(
            "Done. {out} now holds the table, the schema and, in {model}, the model with its certificate. The \
             certificate means: had any one of the {many} patients been somebody else, the probability of any \
             outcome, such as a model or something seen in it, would be at most e = 2.7183 times what it is now, \
             plus delta, which is one in a million. Delta is a slack in this bound, not the probability of a leak. \
             But for that slack, whoever sees the model, and whatever else they know, the odds of a guess about one \
             patient's row move by at most that factor. The commands above can be typed again; change --epsilon \
             and see what privacy costs.",
            out = out.display(),
            many = patients::MANY,
        ));
        remarks.dedup();
        let files = [train, new, schema, model];
        Ok(Answer { remarks, ..Answer::of(text, &DemoFields { answers, files }) })
    }
}

/// Writes the tables and the schema, and says where they and the model are.
fn written(out: &Path) -> Result<Paths, CommandFailure> {
    std::fs::create_dir_all(out)
        .map_err(|error| Error::Write { file: out.to_owned(), reason: error.kind().to_string() })?;
    let files = [
        (patients::table(0, patients::MANY), out.join("patients.csv")),
        (patients::table(1, patients::FEW), out.join("new_patients.csv")),
        (patients::SCHEMA.to_owned(), out.join("schema.toml")),
    ];
    for (text, path) in &files {
        // What is the same already loses nothing.
        if !std::fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
            check_new(path, false)?;
        }
    }
    for (text, path) in &files {
        write_text(text, path)?;
    }
    let [train, new, schema] = files.map(|(_, path)| word(&path));
    Ok(Paths { train, new, schema, model: word(&out.join("model")) })
}

/// Runs a command as if it had been typed.
fn run(words: &[&str]) -> Result<Answer, CommandFailure> {
    let line = std::iter::once("reticent").chain(words.iter().copied());
    let cli = Cli::try_parse_from(line).map_err(|error| CommandFailure::Usage {
        message: error.to_string(),
        hint: "choose another folder with --out".to_owned(),
    })?;
    cli.command.run(OutputFormat { json: false, quiet: false })
}

fn word(path: &Path) -> String {
    path.display().to_string()
}

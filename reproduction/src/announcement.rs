//! What `reproduce` says: results on standard output, for people or as JSON, and all else on
//! standard error.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reticent_reproduction::{Claim, Experiment, ExperimentError, Explained, Results};
use serde_json::{Value, json};

/// What is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest line, in characters.
const WIDTH: usize = 100;

/// What there is to say.
#[derive(Debug, Default)]
pub struct Announcement {
    /// For people.
    pub text: String,
    /// For programs.
    pub object: Value,
    /// What must not be overlooked.
    pub remarks: Vec<String>,
}

impl Announcement {
    /// The experiments, with what they claim and the data they need.
    pub fn listed(all: &[&dyn Experiment]) -> Self {
        let width = |of: &dyn Fn(&dyn Experiment) -> usize| {
            all.iter().map(|one| of(*one)).max().unwrap_or(0)
        };
        let needs = |one: &dyn Experiment| {
            one.needs().iter().map(|set| set.name()).collect::<Vec<_>>().join(", ")
        };
        let (ids, tables) =
            (width(&|one| one.id().len()), width(&|one| needs(one).chars().count().max(1)));
        let (mut text, mut objects) = (String::new(), Vec::new());
        for one in all {
            let data: Vec<_> = one.needs().iter().map(|set| set.name()).collect();
            let shown = if data.is_empty() { "–".to_owned() } else { needs(*one) };
            text += &format!("  {:<ids$}  {shown:<tables$}  {}\n", one.id(), one.about());
            objects.push(json!({
                "id": one.id(),
                "paper": one.paper(),
                "about": one.about(),
                "data": data,
                "claims": one.claims(),
            }));
        }
        Announcement { text, object: json!({ "experiments": objects }), remarks: Vec::new() }
    }

    /// Adds the results of an experiment to the text; gives them for programs.
    pub fn tell(&mut self, experiment: &dyn Experiment, results: &Results, done: &str) -> Value {
        let (id, paper, about) = (experiment.id(), experiment.paper(), experiment.about());
        self.text += &format!("{id} ({paper}): {about}{done}\n");
        let stand_in = match results.stand_ins.is_empty() {
            true => String::new(),
            false => format!(" [a simulated stand-in for {}]", results.stand_ins.join(", ")),
        };
        let mut claims = Vec::new();
        for claim in &results.claims {
            let Claim { text: words, version, verdict, numbers } = claim;
            let (version, verdict) = (version.words(), verdict.words());
            let Explained { words: class, why, .. } = Explained::of(experiment, claim);
            let because = match why.is_empty() {
                true => String::new(),
                false => format!("; {class}: {why}"),
            };
            self.text += &wrapped(&format!(
                "- {verdict}: {words} ({version}); {numbers}{stand_in}{because}"
            ));
            claims.push(json!({
                "claim": words,
                "version": version,
                "verdict": verdict,
                "class": class,
                "why": why,
                "numbers": numbers,
            }));
        }
        self.text.push('\n');
        json!({
            "id": id,
            "claims": claims,
            "stand_ins": results.stand_ins,
            "notes": results.notes,
            "seconds": results.seconds,
        })
    }

    /// Says it.
    pub fn say(&self, as_json: bool, quiet: bool) -> ExitCode {
        let said = match as_json {
            true => print(&format!("{}\n", self.object)),
            false => print(&self.text),
        };
        if let Err(why) = said {
            // Whoever read the output has had enough; that is not an error.
            let over = why.kind() == io::ErrorKind::BrokenPipe;
            return if over { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
        if !quiet {
            self.remarks.iter().for_each(|remark| eprintln!("{remark}"));
        }
        ExitCode::SUCCESS
    }
}

/// Says why there is no answer.
pub fn fail(why: &ExperimentError, as_json: bool) -> ExitCode {
    let hint = match why {
        ExperimentError::Job(why) => why.hint(),
        _ => "see `reproduce --list` for the experiments and the data that each needs".to_owned(),
    };
    let object = json!({ "error": why.to_string(), "hint": hint });
    if !as_json || print(&format!("{object}\n")).is_err() {
        eprintln!("error: {why}\n hint: {hint}");
    }
    ExitCode::from(2)
}

/// A line that says what is being done, on a terminal.
#[derive(Debug)]
pub struct StatusLine {
    start: Instant,
    quiet: bool,
    line: Option<ProgressBar>,
}

impl StatusLine {
    /// Starts the clock.
    pub fn new(quiet: bool) -> Self {
        StatusLine { start: Instant::now(), quiet, line: None }
    }

    /// Says it.
    pub fn say(&mut self, what: &str) {
        if self.line.is_none() && self.start.elapsed() > PATIENCE && !self.quiet {
            let line = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg}");
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            self.line = Some(line);
        }
        if let Some(line) = &self.line {
            line.set_message(what.to_owned());
            line.tick();
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if let Some(line) = &self.line {
            line.finish_and_clear();
        }
    }
}

/// Text on lines of at most 100 characters.
fn wrapped(text: &str) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        let gap = match used {
            0 => "",
            _ if used + 1 + length > WIDTH => "\n",
            _ => " ",
        };
        used = if gap == " " { used + 1 + length } else { length };
        out += gap;
        out += word;
    }
    out.push('\n');
    out
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

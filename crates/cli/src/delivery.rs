//! What a job hands over: what is said of it, and the files that were asked for. A result that was
//! paid for cannot be had again for nothing: what cannot be written is kept beside the budget, or
//! shown.

use std::fs;
use std::path::{Path, PathBuf};

use reticent::Model;
use reticent::internal::{write_results, write_text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, Unwritten, object};
use crate::failure::CommandFailure;
use crate::layout::wrapped;
use crate::purse::BudgetReceipt;
use crate::sheet::Sheet;

/// What a job hands over. It is exactly what was released, and can be kept.
#[derive(Debug)]
pub struct Delivery {
    /// What is said, up to where the first file is named.
    pub answer: Answer,
    /// What is said after the first file.
    pub tail: String,
    /// What is written, where a place was named for it.
    pub pieces: Vec<Piece>,
}

/// Something that is written to a place of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// What it is called in [`OutputPlaces`], and in JSON.
    pub key: String,
    /// What the file is, for people.
    pub what: String,
    /// What is in it.
    pub content: Content,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// A text file.
    Text { text: String },
    /// A model with its certificate in a folder, and what each party may spend.
    Model { model: String, parties: Option<String> },
    /// The models of parties, in folders 0, 1, 2, …
    Models { models: Vec<String> },
    /// A table of results, and the note beside it.
    Table {
        #[serde(rename = "table")]
        sheet: Sheet,
        note: String,
    },
}

/// Where pieces go, by their keys.
#[derive(Debug, Default)]
pub struct OutputPlaces(Vec<(&'static str, PathBuf)>);

impl OutputPlaces {
    /// The same with a place for this piece, if one was named.
    pub fn and(mut self, key: &'static str, path: Option<&Path>) -> Self {
        self.0.extend(path.map(|path| (key, path.to_owned())));
        self
    }

    fn of(&self, key: &str) -> Option<&Path> {
        self.0.iter().find(|(own, _)| *own == key).map(|(_, path)| &**path)
    }
}

/// What paid for a delivery.
#[derive(Debug, Default)]
pub struct Charged {
    /// What it did to the budget, where there is one.
    pub receipt: Option<BudgetReceipt>,
    /// The number of its job, and the budget.
    pub job: Option<(u64, PathBuf)>,
    /// Where the result is kept until it is delivered.
    pub kept: Option<PathBuf>,
    /// It was paid for earlier, and kept.
    pub again: bool,
}

impl Charged {
    /// What came of a job that was paid for, or why nothing can be handed over, with what was charged.
    pub fn with(
        self,
        delivery: Result<Delivery, CommandFailure>,
    ) -> Result<(Delivery, Self), CommandFailure> {
        match delivery {
            Ok(delivery) => Ok((delivery, self)),
            Err(why) => Err(CommandFailure::Undelivered {
                message: format!("the job is done, but {why}. {}", self.said()),
                hint: "mend that first; to ask again is another release, which is charged too"
                    .to_owned(),
            }),
        }
    }

    /// What was charged, in a sentence.
    fn said(&self) -> String {
        match &self.job {
            Some((job, file)) => {
                format!("Job {job} of {} is charged for it, once.", file.display())
            }
            None => "Its noise was drawn: what it shows about the table is spent.".to_owned(),
        }
    }
}

impl Delivery {
    /// What is said, and one file that may be asked for.
    pub fn of(answer: Answer, key: &str, what: &str, text: String) -> Self {
        let (key, what) = (key.to_owned(), what.to_owned());
        let pieces = vec![Piece { key, what, content: Content::Text { text } }];
        Delivery { answer, tail: String::new(), pieces }
    }

    /// Writes what was asked for and says so, with what was charged. What cannot be written stays
    /// kept, or is shown where it is not.
    pub fn hand_over(self, places: &OutputPlaces, charged: Charged) -> Answer {
        let Delivery { mut answer, tail, pieces } = self;
        let mut tail = Some(tail);
        let mut failures = Vec::new();
        for piece in &pieces {
            let behind = tail.take().unwrap_or_default();
            let Some(place) = places.of(&piece.key) else {
                answer.text += &behind;
                continue;
            };
            match piece.write(place) {
                Ok(()) => piece.say(place, &mut answer),
                Err(why) => {
                    answer.text += "\n";
                    failures.push((piece, why));
                }
            }
            answer.text += &behind;
        }
        if !failures.is_empty() {
            answer.unwritten = Some(unwritten(&failures, &charged));
        }
        if charged.kept.is_none() {
            failures.iter().for_each(|(piece, _)| piece.show(&mut answer));
        }
        if let (true, Some((job, file))) = (charged.again, &charged.job) {
            answer.remarks.push(format!(
                "This is the result of job {job} of {}, which was paid for and not delivered: nothing was charged \
                 again.",
                file.display()
            ));
        }
        if let Some(receipt) = charged.receipt {
            receipt.add_to(&mut answer);
            if charged.again {
                answer.object["budget"]["delivered_again"] = true.into();
            }
        }
        answer.kept = charged.kept;
        answer
    }
}

/// What is said where a result could not be written.
fn unwritten(failures: &[(&Piece, CommandFailure)], charged: &Charged) -> Unwritten {
    let why: Vec<String> = failures.iter().map(|(_, why)| why.to_string()).collect();
    let (kept, hint) = match &charged.kept {
        Some(file) => (
            format!("The result is kept in {}.", file.display()),
            "make room and type the same command again, with the same --out: the kept result is delivered and \
             nothing is charged",
        ),
        None => (
            "What was to be written is on standard output.".to_owned(),
            "keep what is shown: to ask again is another release",
        ),
    };
    let message = format!("the job is done, but {}. {kept} {}", why.join("; and "), charged.said());
    Unwritten { message, hint: hint.to_owned() }
}

impl Piece {
    fn write(&self, place: &Path) -> Result<(), CommandFailure> {
        match &self.content {
            Content::Text { text } => Ok(write_text(text, place)?),
            Content::Model { model, parties } => {
                Ok(write_results(&Model::from_json(model)?, parties.as_deref(), place)
                    .map(|_| ())?)
            }
            Content::Models { models } => {
                for (party, model) in models.iter().enumerate() {
                    Model::from_json(model)?.write(&place.join(party.to_string()))?;
                }
                Ok(())
            }
            Content::Table { sheet, note } => {
                sheet.write(place)?;
                Ok(write_text(note, &beside(place))?)
            }
        }
    }

    /// Says that it was written.
    fn say(&self, place: &Path, answer: &mut Answer) {
        let what = &self.what;
        match &self.content {
            Content::Text { .. } => answer.text += &format!("\nWrote {}{what}.\n", place.display()),
            Content::Model { parties, .. } => {
                let (model, other) = (place.join("model.json"), parties.as_ref());
                let (file, second) = match other {
                    Some(_) => ("parties.json", "what each party may spend, all of which counts"),
                    None => ("certificate.json", "the certificate alone"),
                };
                let beside = place.join(file);
                answer.text += &format!("\nWrote {}{what}\n", model.display());
                answer.text += &format!("  and {} ({second}).\n\n", beside.display());
                // JSON has named both files already.
                return;
            }
            Content::Models { models } => {
                let last = models.len().saturating_sub(1);
                answer.text += &format!(
                    "\n{}",
                    wrapped(&format!("{}: folders 0 to {last}{what}", place.display()))
                );
            }
            Content::Table { .. } => {
                answer.text += &format!("\nWrote {}{what}\n", place.display());
                answer.text += &format!("  and {} (what covers it).\n", beside(place).display());
            }
        }
        answer.object[&self.key] = object(&place);
    }

    /// Shows it in place of a file.
    fn show(&self, answer: &mut Answer) {
        let texts = match &self.content {
            Content::Text { text } => vec![text.clone()],
            Content::Model { model, parties } => {
                std::iter::once(model.clone()).chain(parties.clone()).collect()
            }
            Content::Models { models } => models.clone(),
            Content::Table { sheet, note } => vec![sheet.csv(), note.clone()],
        };
        answer.text += &texts.iter().map(|text| format!("\n{text}")).collect::<String>();
        let value =
            |text: &String| serde_json::from_str(text).unwrap_or_else(|_| text.clone().into());
        let values: Vec<Value> = texts.iter().map(value).collect();
        answer.object[&self.key] = match &values[..] {
            [one] => one.clone(),
            all => all.into(),
        };
    }
}

/// The note beside a table of results.
pub fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".txt");
    name.into()
}

/// A kept result was delivered: it is not needed any more.
pub fn forget(kept: &Path) {
    // One that stays is delivered once more, and nothing is charged.
    let _ = fs::remove_file(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that went away between the check and the signature ended a job that was paid for as one
    /// that was asked wrongly, with no word of what was charged.
    #[test]
    fn what_fails_to_be_delivered_after_payment_says_what_was_charged() {
        let job = Some((3, PathBuf::from("clinic.budget")));
        let charged = Charged { job, ..Charged::default() };
        let why = CommandFailure::Usage { message: "the key is gone".into(), hint: String::new() };
        let said = charged.with(Err(why)).unwrap_err();
        assert_eq!(said.code(), 4);
        let text = said.to_string();
        assert!(text.contains("the job is done, but the key is gone"), "{text}");
        assert!(text.contains("Job 3 of clinic.budget is charged for it, once."), "{text}");
        assert!(said.hint().contains("another release"));
    }
}

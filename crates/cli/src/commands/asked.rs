//! A question about one table, with noise: what `count`, `mean`, `histogram` and `quantile` are told,
//! how they are paid for, and how their answer stands beside its certificate.

use std::path::{Path, PathBuf};

use clap::Args;
use reticent::internal::{Question, all_named_files, check_new};
use reticent::tables::{Format, ReadOptions};
use reticent::{Certificate, Files, Guarantee, Job, Run};
use serde::Serialize;
use serde_json::Value;

use super::shared::{CERTIFICATE, CertificateFields, certificate_rows, format, not_private};
use crate::answer::{Answer, object};
use crate::delivery::{Delivery, OutputPlaces};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::parties::{BetweenFlags, Paying, QuestionParties};
use crate::progress::JobBar;
use crate::purse::{JobName, PurseFlags};
use crate::repeated::given_twice;

/// What every question is told.
#[derive(Debug, Args)]
pub struct AskedTable {
    /// The table; several files, a folder or a pattern are read as one
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// The schema of the table (TOML, see docs/schema.md)
    #[arg(long, value_name = "FILE")]
    pub schema: PathBuf,

    /// Column of user ids; enables user-level privacy: users are protected, and count once each
    #[arg(long, value_name = "COLUMN")]
    pub user_column: Option<String>,

    /// The format of the table, if its name does not show it
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// Cache the encoded table in an unnamed file in this folder instead of memory: for a table that
    /// is larger than the memory (docs/scale.md)
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    /// Keep the cache file and reuse it while the table is unchanged: it has all rows, and only you
    /// may open it
    #[arg(long, requires = "cache")]
    keep_cache: bool,

    /// Write the certificate to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    pub guarantee: Guarantee,

    #[command(flatten)]
    purse: PurseFlags,

    #[command(flatten)]
    between: BetweenFlags,
}

/// A question: its command, its label in a budget, and all that is asked.
pub struct AskedQuestion<A> {
    pub command: &'static str,
    pub label: String,
    pub asked: A,
}

/// What is asked, and of which parties, as a budget tells it from other questions.
#[derive(Serialize)]
struct AskedBetween<A> {
    #[serde(flatten)]
    asked: A,
    #[serde(skip_serializing_if = "Option::is_none")]
    parties: Option<QuestionParties>,
}

/// An answer beside its certificate.
#[derive(Serialize)]
struct AnswerFields<'a> {
    #[serde(flatten)]
    certificate: CertificateFields<'a>,
    #[serde(flatten)]
    own: Value,
}

/// What an answer says: a table for people, remarks on it, and members of JSON.
pub struct AskedAnswer {
    pub table: String,
    pub notes: Vec<String>,
    pub object: Value,
}

impl AskedTable {
    /// Asks, and pays for it where a budget is named.
    pub fn perform<Q: Question, A: Serialize>(
        self,
        question: AskedQuestion<A>,
        job: &Job<Q>,
        said: impl FnOnce(&Q::Output) -> (AskedAnswer, &Certificate),
    ) -> Result<Answer, CommandFailure> {
        let AskedQuestion { command, label, asked } = question;
        let asked = AskedBetween { asked, parties: self.between.described() };
        if let Some(out) = &self.out {
            check_new(out, false)?;
        }
        let reading = ReadOptions::from(self.format);
        let paths = all_named_files(Path::new(""), &self.data)?;
        let (cache, keep_cache) = (self.cache, self.keep_cache);
        let data = Files::all(paths).with(|it| {
            (it.reading, it.cache, it.keep_cache) = (reading, cache, keep_cache);
        });
        let name = JobName::kept(&label, &asked, &data, std::slice::from_ref(&self.schema));
        let purse =
            self.purse.open(&self.guarantee, &data, name, || self.between.plan_beforehand(job))?;
        let mut bar = JobBar::new("question");
        let mut watch = |stage| bar.watch(stage);
        let run = Run::watched(&mut watch);
        let deliver = |done: &mut Q::Output| {
            let (said, certificate) = said(done);
            let mut answer = said.beside(certificate);
            answer.remarks.extend(given_twice(&data.paths));
            let certificate = format!("{:#}\n", object(certificate));
            Ok(Delivery::of(answer, "certificate", CERTIFICATE, certificate))
        };
        let paying = Paying { purse, label: &label, guarantee: &self.guarantee };
        let done = self.between.ask(job, &data, paying, run, deliver);
        bar.finish();
        let (delivery, charged) = done.map_err(|failure| failure.by(command))?;
        Ok(delivery
            .hand_over(&OutputPlaces::default().and("certificate", self.out.as_deref()), charged))
    }
}

impl AskedAnswer {
    fn beside(self, certificate: &Certificate) -> Answer {
        let mut text = self.table;
        if !self.notes.is_empty() {
            text += &format!("\n{}", self.notes.iter().map(|n| wrapped(n)).collect::<String>());
        }
        text += &format!("\n{}", columns(&certificate_rows(certificate), 2, 2));
        text += &format!("\n{}", wrapped(&format!("What this means. {}", certificate.meaning)));
        let mut own = self.object;
        if let Value::Object(own) = &mut own {
            // Its fields stand beside it already.
            own.remove("certificate");
        }
        let remarks =
            not_private(certificate).into_iter().chain(certificate.weaknesses()).collect();
        let fields = AnswerFields { certificate: CertificateFields::of(certificate), own };
        Answer { remarks, ..Answer::of(text, &fields) }
    }
}

//! One line of the history, chained to the line before by a hash.

use reticent_accountant::{Charge, Ledger};
use reticent_core::hex;
use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::error::BudgetError;
use crate::people::CountedPeople;
use crate::promise::{Promise, check_name};

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// The budget was made; the first line and no other.
    Opened,
    /// A table was bound.
    Table,
    /// From here on tables are told apart as this version does; at most once, and only in a budget
    /// that an earlier version made.
    Rule,
    /// The column was bound that says who a user is; at most once.
    Users,
    /// A job reserved what its plan costs.
    Reserved,
    /// The job came to its end.
    Settled,
    /// The job was refused before it asked anything.
    Released,
    /// Somebody closed the job as spent.
    Forfeited,
    /// A release made elsewhere.
    Imported,
}

impl LineKind {
    const ALL: [LineKind; 9] = [
        LineKind::Opened,
        LineKind::Table,
        LineKind::Rule,
        LineKind::Users,
        LineKind::Reserved,
        LineKind::Settled,
        LineKind::Released,
        LineKind::Forfeited,
        LineKind::Imported,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            LineKind::Opened => "opened",
            LineKind::Table => "table",
            LineKind::Rule => "rule",
            LineKind::Users => "users",
            LineKind::Reserved => "reserved",
            LineKind::Settled => "settled",
            LineKind::Released => "released",
            LineKind::Forfeited => "forfeited",
            LineKind::Imported => "imported",
        }
    }

    /// Whether a job ends with it.
    pub(crate) fn closes(self) -> bool {
        matches!(self, LineKind::Settled | LineKind::Released | LineKind::Forfeited)
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        LineKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One line of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryLine {
    pub(crate) number: u64,
    pub(crate) time: String,
    pub(crate) kind: LineKind,
    /// The job that it is about: the number of the line that reserved it.
    pub(crate) job: Option<u64>,
    /// Who is in the table, where tables of disjoint people are kept apart; `None` for everybody.
    pub(crate) people: Option<u64>,
    pub(crate) charge: Option<Charge>,
    /// JSON: one of the structures below.
    pub(crate) body: String,
    /// A fingerprint. Never shown.
    pub(crate) secret: Option<Digest>,
    pub(crate) hash: Digest,
}

impl HistoryLine {
    /// Its number, counted from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When it was written: UTC, in whole seconds, as in 2025-01-31T12:00:00Z. It is what the clock
    /// said, which may have been wrong; the order of the lines is that of their numbers.
    #[must_use]
    pub fn time(&self) -> &str {
        &self.time
    }

    /// Its kind, in a word: `opened`, `table`, `rule`, `users`, `reserved`, `settled`, `released`,
    /// `forfeited` or `imported`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// The job that it is about: the number of the line that reserved it.
    #[must_use]
    pub fn job(&self) -> Option<u64> {
        self.job
    }

    /// Its hash, which has the hash of the line before in it.
    #[must_use]
    pub fn hash(&self) -> String {
        hex(&self.hash)
    }

    /// The hash that the line must have behind `before`.
    pub(crate) fn chained(&self, before: &Digest) -> Digest {
        let number = |given: Option<u64>| given.map(u64::to_le_bytes);
        let (job, people) = (number(self.job), number(self.people));
        let charge = self.charge.map(|charge| charge.to_bytes());
        let mut hasher = Hasher::new("reticent budget line 1");
        hasher
            .field(before)
            .number(self.number)
            .field(self.time.as_bytes())
            .field(self.kind.name().as_bytes())
            .field(job.as_ref().map_or(&[], <[u8; 8]>::as_slice))
            .field(people.as_ref().map_or(&[], <[u8; 8]>::as_slice))
            .field(charge.as_ref().map_or(&[], <[u8; Charge::BYTES]>::as_slice))
            .field(self.body.as_bytes())
            .field(self.secret.as_ref().map_or(&[], Digest::as_slice))
            .finish()
    }

    /// What the line says, in its own words.
    pub(crate) fn read<'a, T: Deserialize<'a>>(&'a self) -> Result<T, BudgetError> {
        serde_json::from_str(&self.body)
            .map_err(|error| self.damaged(format!("its body cannot be read ({error})")))
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> BudgetError {
        BudgetError::Damaged { line: self.number, what: what.into() }
    }

    /// The line for other programs: all but the fingerprint.
    ///
    /// # Errors
    /// A body that is no JSON.
    pub fn export(&self) -> Result<serde_json::Value, BudgetError> {
        Ok(serde_json::json!({
            "line": self.number,
            "time": self.time,
            "kind": self.kind.name(),
            "job": self.job,
            "people": self.people,
            "body": self.read::<serde_json::Value>()?,
            "hash": hex(&self.hash),
        }))
    }
}

/// Whether it may be shown to people as a time, whoever wrote it.
pub(crate) fn is_time(text: &str) -> bool {
    text.len() == 20 && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The body of the first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenedBody {
    pub promise: Promise,
    /// [`Filter::RULE`](reticent_accountant::Filter::RULE) of the charges.
    pub rule: u32,
    pub reticent: String,
    /// [`TABLES`], or 1 in a budget that an earlier version made.
    #[serde(default = "earlier", skip_serializing_if = "is_earlier")]
    pub tables: u32,
}

/// How tables are told apart: by the content of each file, and tables in memory count for everybody.
/// Under rule 1 a list of files was one table, and all tables in memory were one.
pub(crate) const TABLES: u32 = 2;

fn earlier() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // what serde asks for
fn is_earlier(tables: &u32) -> bool {
    *tables == earlier()
}

/// The body of a line that says how tables are told apart from here on.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub tables: u32,
}

impl Rule {
    pub(crate) fn read(line: &HistoryLine) -> Result<(), BudgetError> {
        let Self { tables } = line.read()?;
        if tables == TABLES { Ok(()) } else { Err(line.damaged("a rule that nobody knows")) }
    }
}

/// The body of a line that binds a table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundBody {
    pub edition: u64,
    /// Its relation to the tables before: `first`, `new-edition` or `disjoint-people`; `known` for
    /// another digest of one that is bound, and `part` for the digest of a part of the one before.
    pub relation: String,
}

impl BoundBody {
    /// Whether the line is about a part of a table.
    pub(crate) fn is_part(line: &HistoryLine) -> Result<bool, BudgetError> {
        let Self { relation, .. } = line.read()?;
        match relation.as_str() {
            "first" | "new-edition" | "disjoint-people" | "known" => Ok(false),
            "part" => Ok(true),
            _ => Err(line.damaged("a relation that nobody knows")),
        }
    }
}

/// The body of a line that says who a user is.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UsersBody {
    pub column: String,
}

impl UsersBody {
    /// The column that a line names; it is fit to be shown.
    pub(crate) fn read(line: &HistoryLine) -> Result<String, BudgetError> {
        let Self { column } = line.read()?;
        check_name("user_column", &column).map_err(|error| line.damaged(error.to_string()))?;
        Ok(column)
    }
}

/// The body of a line that uses the data.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Use {
    pub label: String,
    /// ε and δ of the job by itself, as whoever asked for it said.
    #[serde(with = "reticent_accountant::extended")]
    pub epsilon: f64,
    pub delta: f64,
    pub ledger: Ledger,
    /// The plans of the other parties, in a run between parties of whom nobody is in two: a person
    /// pays for one of them all.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub between: Vec<Ledger>,
    /// The groups of people that it is counted for, where they are several and not everybody.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<u64>,
    /// Recorded though it was more than was left.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub beyond: bool,
}

impl Use {
    /// What a line says that uses the data; its label is fit to be shown.
    pub(crate) fn read(line: &HistoryLine) -> Result<Self, BudgetError> {
        let used: Self = line.read()?;
        check_name("label", &used.label).map_err(|error| line.damaged(error.to_string()))?;
        Ok(used)
    }

    /// Whom a line counts for, without a look at its ledgers.
    pub(crate) fn people(line: &HistoryLine) -> Result<CountedPeople, BudgetError> {
        #[derive(Deserialize)]
        struct Whose {
            #[serde(default)]
            groups: Vec<u64>,
        }
        if line.people.is_some() {
            return Ok(CountedPeople::of(line.people));
        }
        let Whose { groups } = line.read()?;
        match groups.len() {
            0 => Ok(CountedPeople::Everybody),
            _ if groups.len() > 1 && groups.is_sorted_by(|one, two| one < two) => {
                Ok(CountedPeople::Groups(groups.into_iter().collect()))
            }
            _ => Err(line.damaged("it names people that there are not")),
        }
    }

    /// Every plan.
    pub(crate) fn plans(&self) -> impl Iterator<Item = &Ledger> {
        std::iter::once(&self.ledger).chain(&self.between)
    }
}

/// The body of a line that closes a job.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    /// The ledger of the job, if it exceeds the plan.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ledger: Option<Ledger>,
    /// The digest of the certificate of what came of it, by which its job is found again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub certificate: Option<String>,
}

impl Closed {
    /// What a line says that closes a job; its digest is fit to be shown.
    pub(crate) fn read(line: &HistoryLine) -> Result<Self, BudgetError> {
        let closed: Self = line.read()?;
        if let Some(digest) = &closed.certificate {
            check_name("certificate", digest).map_err(|error| line.damaged(error.to_string()))?;
        }
        Ok(closed)
    }
}

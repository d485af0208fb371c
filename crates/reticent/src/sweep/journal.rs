//! The journal of a sweep: a line when a run begins, a line when it is over, each on the disk before
//! anything else happens.
//!
//! A line that was torn by a crash is the last one, and has no end: it never counted. Any other
//! damage is refused. One process at a time writes, and after an error nobody does.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use reticent_accountant::extended;
use reticent_core::hex;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The only format there is so far.
const VERSION: u32 = 1;

/// The kind of a sweep, for the people of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SweepKind {
    /// Its table is public: what was lost is repeated.
    Experiment,
    /// All its models are paid for: nothing is begun twice.
    Paid,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Finished {
    /// The number of the run.
    pub run: usize,
    /// Iterations or rounds made.
    pub iterations: u64,
    /// ε of its books by themselves, at its δ.
    #[serde(with = "extended")]
    pub epsilon: f64,
    /// The metrics, by name; what is not finite is left out.
    pub metrics: BTreeMap<String, f64>,
    /// Why nothing was measured, where that failed. The model is there all the same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unmeasured: Option<String>,
    /// Why there is no model, where there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failed: Option<String>,
}

/// The job of a budget that pays for a sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserved {
    /// Its number.
    pub job: u64,
    /// A hash that distinguishes it from a job of the same number in another budget.
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum JournalLine {
    Sweep {
        version: u32,
        digest: String,
        runs: usize,
        kind: SweepKind,
        table: String,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reserved: Option<Reserved>,
    },
    Started(usize),
    Done(Finished),
}

/// The journal, open and locked.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    kind: SweepKind,
    reserved: Option<Reserved>,
    started: Vec<bool>,
    done: BTreeMap<usize, Finished>,
    /// Where the last whole line ends.
    end: u64,
    /// Whether a line could not be written: what is behind it would not be read.
    torn: bool,
}

impl Journal {
    /// Nothing in it yet.
    fn empty(file: File, path: &Path, runs: usize, kind: SweepKind) -> Self {
        let (path, started) = (path.to_owned(), vec![false; runs]);
        let (reserved, done) = (None, BTreeMap::new());
        Journal { file, path, kind, reserved, started, done, end: 0, torn: false }
    }

    /// Begins a journal where there is none; `reserved` is the job that pays for it, if any does.
    ///
    /// # Errors
    /// If there is one already, or it cannot be written.
    pub fn create(
        path: &Path,
        digest: &[u8],
        runs: usize,
        kind: SweepKind,
        table: &[u8],
        reserved: Option<&Reserved>,
    ) -> Result<Self, Error> {
        let fail = |error: std::io::Error| Error::write(path, &error);
        let opened = OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let file = match opened {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(Error::Exists {
                    file: path.to_owned(),
                    what: "the journal of a sweep",
                });
            }
            opened => opened.map_err(fail)?,
        };
        let mut journal = Journal::empty(file, path, runs, kind);
        journal.lock()?;
        journal.reserved = reserved.cloned();
        let (digest, table, reserved) = (hex(digest), hex(table), reserved.cloned());
        journal.append(&JournalLine::Sweep {
            version: VERSION,
            digest,
            runs,
            kind,
            table,
            reserved,
        })?;
        crate::results::sync(crate::results::parent(path)).map_err(fail)?;
        Ok(journal)
    }

    /// Goes on with a journal of the same sweep.
    ///
    /// # Errors
    /// If it is of another sweep, table or kind, is damaged, or another process writes it.
    pub fn resume(
        path: &Path,
        digest: &[u8],
        runs: usize,
        kind: SweepKind,
        table: &[u8],
    ) -> Result<Self, Error> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(|error| Error::read(path, "the journal", &error))?;
        let mut journal = Journal::empty(file, path, runs, kind);
        journal.lock()?;
        let mut text = String::new();
        journal
            .file
            .read_to_string(&mut text)
            .map_err(|error| Error::read(path, "the journal", &error))?;
        // What has no end was never kept.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[..whole].lines();
        let head = lines.next().and_then(|line| serde_json::from_str(line).ok());
        journal.begins_with(head, (hex(digest), runs), &hex(table))?;
        for (number, line) in lines.enumerate() {
            let read = serde_json::from_str(line).ok().and_then(|line| journal.take(line));
            if read.is_none() {
                return Err(journal.other(&format!("line {} is damaged", number + 2)));
            }
        }
        let fail = |error: std::io::Error| Error::write(path, &error);
        journal.file.set_len(whole as u64).map_err(fail)?;
        journal.file.seek(SeekFrom::End(0)).map_err(fail)?;
        journal.end = whole as u64;
        Ok(journal)
    }

    /// Refuses a first line that is not of this sweep, table and kind.
    fn begins_with(
        &mut self,
        head: Option<JournalLine>,
        sweep: (String, usize),
        table: &str,
    ) -> Result<(), Error> {
        let Some(JournalLine::Sweep { version: VERSION, digest, runs, kind, table: on, reserved }) =
            head
        else {
            return Err(self.other("its first line is none of a sweep"));
        };
        if (digest, runs) != sweep {
            return Err(self.other("it is of another sweep; give another folder"));
        }
        if kind != self.kind {
            return Err(self.other(match kind {
                SweepKind::Paid => {
                    "it is of a sweep on private data, which is paid for and stays so"
                }
                SweepKind::Experiment => {
                    "it is of a sweep on public data, and nothing was paid for it"
                }
            }));
        }
        if on != table {
            return Err(self.other(match kind {
                SweepKind::Experiment => "the table is not what it was",
                SweepKind::Paid => "the table, what its runs cost or the budget is not what it was",
            }));
        }
        self.reserved = reserved;
        Ok(())
    }

    /// The job of the budget that pays for it.
    pub fn reserved(&self) -> Option<&Reserved> {
        self.reserved.as_ref()
    }

    fn take(&mut self, line: JournalLine) -> Option<()> {
        match line {
            JournalLine::Sweep { .. } => None,
            JournalLine::Started(run) => {
                let begun = self.started.get_mut(run)?;
                // Nothing that is paid for is begun twice, whoever wrote the file.
                if self.kind == SweepKind::Paid && *begun {
                    return None;
                }
                *begun = true;
                Some(())
            }
            JournalLine::Done(finished) => {
                let begun = *self.started.get(finished.run)?;
                (begun && self.done.insert(finished.run, finished).is_none()).then_some(())
            }
        }
    }

    /// The runs that are still to be done: those that were never begun; on a public table also those
    /// that were begun and lost.
    pub fn left(&self) -> Vec<usize> {
        let lost = |run: &usize| self.started[*run] && self.kind == SweepKind::Paid;
        (0..self.started.len()).filter(|run| !self.done.contains_key(run) && !lost(run)).collect()
    }

    /// The runs that were begun and are not over. On private data they are spent and stay so.
    pub fn lost(&self) -> Vec<usize> {
        let begun = self.started.iter().enumerate().filter(|(_, begun)| **begun);
        begun.map(|(run, _)| run).filter(|run| !self.done.contains_key(run)).collect()
    }

    /// Whether a run was begun.
    pub(super) fn has_begun(&self, run: usize) -> bool {
        self.started.get(run) == Some(&true)
    }

    /// The results of the runs that are over.
    pub fn finished(&self) -> &BTreeMap<usize, Finished> {
        &self.done
    }

    /// A run begins; it may ask nothing before this has returned.
    ///
    /// # Errors
    /// If it was begun before and is paid for, or the disk does not take it.
    pub fn start(&mut self, run: usize) -> Result<(), Error> {
        if self.kind == SweepKind::Paid && self.started.get(run) != Some(&false) {
            return Err(self.other("a run that was begun is not begun again"));
        }
        self.append(&JournalLine::Started(run))?;
        if let Some(begun) = self.started.get_mut(run) {
            *begun = true;
        }
        Ok(())
    }

    /// A run is over.
    ///
    /// # Errors
    /// If the disk does not take it.
    pub fn finish(&mut self, mut finished: Finished) -> Result<(), Error> {
        // JSON has no word for the others, and the line could not be read back.
        finished.metrics.retain(|_, value| value.is_finite());
        self.append(&JournalLine::Done(finished.clone()))?;
        self.done.insert(finished.run, finished);
        Ok(())
    }

    fn append(&mut self, line: &JournalLine) -> Result<(), Error> {
        if self.torn {
            return Err(self.other("a line before could not be written, and none follows it"));
        }
        let text = serde_json::to_string(line).map_err(Error::no_digest)? + "\n";
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Whoever goes on cuts off what has no end; where it can be done now, it is.
            self.torn = true;
            let _ = self.file.set_len(self.end);
            return Err(Error::write(&self.path, &error));
        }
        self.end += text.len() as u64;
        Ok(())
    }

    fn lock(&self) -> Result<(), Error> {
        match self.file.try_lock() {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => Err(self.other("another process is at work on it")),
            Err(TryLockError::Error(error)) => Err(Error::write(&self.path, &error)),
        }
    }

    fn other(&self, what: &str) -> Error {
        Error::Read {
            what: "the journal of this sweep",
            file: self.path.clone(),
            reason: what.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(run: usize) -> Finished {
        let metrics = BTreeMap::new();
        Finished { run, iterations: 3, epsilon: 1.0, metrics, unmeasured: None, failed: None }
    }

    fn begin(path: &Path, kind: SweepKind) -> Result<Journal, Error> {
        let reserved = Reserved { job: 3, hash: "ab".to_owned() };
        let reserved = (kind == SweepKind::Paid).then_some(&reserved);
        Journal::create(path, b"sweep", 4, kind, b"table", reserved)
    }

    fn file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        (folder, path)
    }

    fn again(path: &Path, kind: SweepKind) -> Result<Journal, Error> {
        Journal::resume(path, b"sweep", 4, kind, b"table")
    }

    /// The attack: kill the process at every byte of what it wrote, and go on. A run whose beginning
    /// may have been kept is never handed out again.
    #[test]
    fn what_was_begun_is_never_begun_again_wherever_it_was_killed() {
        let (_folder, path) = file();
        let mut journal = begin(&path, SweepKind::Paid).unwrap();
        journal.start(0).unwrap();
        journal.finish(over(0)).unwrap();
        journal.start(2).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let head = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for kept in head..=whole.len() {
            std::fs::write(&path, &whole[..kept]).unwrap();
            let mut journal = again(&path, SweepKind::Paid).unwrap();
            let left = journal.left();
            let begun = |run: usize| {
                let line = format!("{{\"started\":{run}}}\n");
                String::from_utf8_lossy(&whole[..kept]).contains(&line)
            };
            for run in 0..4 {
                assert_eq!(left.contains(&run), !begun(run), "{kept} bytes, run {run}");
                assert_eq!(journal.start(run).is_ok(), !begun(run));
            }
        }
    }

    /// A metric that is not finite was written as `null`, and the journal was said to be damaged.
    #[test]
    fn a_metric_that_is_not_finite_is_left_out_and_the_journal_is_read_back() {
        let (_folder, path) = file();
        let mut journal = begin(&path, SweepKind::Paid).unwrap();
        journal.start(0).unwrap();
        let values = [("a", f64::NAN), ("b", f64::INFINITY), ("c", 0.5)];
        let metrics = values.map(|(name, value)| (name.to_owned(), value)).into();
        journal.finish(Finished { metrics, ..over(0) }).unwrap();
        drop(journal);
        let journal = again(&path, SweepKind::Paid).unwrap();
        assert_eq!(journal.finished()[&0].metrics, BTreeMap::from([("c".to_owned(), 0.5)]));
        assert_eq!(journal.reserved(), Some(&Reserved { job: 3, hash: "ab".to_owned() }));
    }

    /// A disk that takes half a line and then has room again: what was written behind the torn
    /// bytes could not be read, and with it that its runs were begun.
    #[test]
    fn nothing_is_written_behind_a_line_that_could_not_be_written() {
        let (_folder, path) = file();
        let mut journal = begin(&path, SweepKind::Paid).unwrap();
        journal.start(0).unwrap();
        let good = std::mem::replace(&mut journal.file, File::open(&path).unwrap());
        assert!(journal.start(1).is_err(), "it is open to be read only");
        journal.file = good;
        journal.file.write_all(b"{\"star").unwrap();
        assert!(journal.start(2).is_err() && journal.finish(over(0)).is_err());
        drop(journal);
        assert_eq!(again(&path, SweepKind::Paid).unwrap().left(), [1, 2, 3]);
    }

    #[test]
    fn an_experiment_repeats_what_was_lost() {
        let (_folder, path) = file();
        let mut journal = begin(&path, SweepKind::Experiment).unwrap();
        journal.start(0).unwrap();
        journal.start(1).unwrap();
        journal.finish(over(1)).unwrap();
        drop(journal);
        let mut journal = again(&path, SweepKind::Experiment).unwrap();
        assert_eq!((journal.left(), journal.lost()), (vec![0, 2, 3], vec![0]));
        journal.start(0).unwrap();
        journal.finish(over(0)).unwrap();
        drop(journal);
        assert_eq!(again(&path, SweepKind::Experiment).unwrap().finished().len(), 2);
    }

    #[test]
    fn what_is_not_this_sweep_is_refused() {
        let (_folder, path) = file();
        let journal = begin(&path, SweepKind::Paid).unwrap();
        assert!(again(&path, SweepKind::Paid).unwrap_err().to_string().contains("another process"));
        drop(journal);
        assert!(begin(&path, SweepKind::Paid).is_err());
        let refused = |journal: Result<Journal, Error>| journal.unwrap_err().to_string();
        assert!(refused(again(&path, SweepKind::Experiment)).contains("stays so"));
        let other = Journal::resume(&path, b"other", 4, SweepKind::Paid, b"table");
        assert!(refused(other).contains("another sweep"));
        let other = Journal::resume(&path, b"sweep", 4, SweepKind::Paid, b"other");
        assert!(refused(other).contains("or the budget is not what it was"));
        for line in ["{\"done\":1}\n", "nonsense\n", "{\"started\":9}\n"] {
            let text = std::fs::read_to_string(&path).unwrap();
            let head = text.lines().next().unwrap();
            std::fs::write(&path, format!("{head}\n{line}")).unwrap();
            assert!(refused(again(&path, SweepKind::Paid)).contains("line 2 is damaged"), "{line}");
        }
        // A beginning that somebody wrote twice.
        let text = std::fs::read_to_string(&path).unwrap();
        let head = text.lines().next().unwrap();
        std::fs::write(&path, format!("{head}\n{{\"started\":1}}\n{{\"started\":1}}\n")).unwrap();
        assert!(refused(again(&path, SweepKind::Paid)).contains("line 3 is damaged"));
    }
}

//! What a member must remember of a run, in a file for its owner alone. The one rule of this crate is
//! kept here: nothing is sent before the state that remembers it is on the disk.
//!
//! One transaction per message: the state after it, and with it what is said. A transaction is on the
//! disk when it is over (write-ahead log, `synchronous = FULL`). One process has the file.
//!
//! The file holds secrets while a run is on: keys, and at the lead what the parties have said. They are
//! overwritten in it when the run is over, as far as SQLite and the file system do.

use std::path::{Path, PathBuf};

use reticent_noise::Digest;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agreement::PROGRAM;
use crate::answer_payer::AnswerPayer;
use crate::error::HostError;

/// Marks the file as a journal ("RTCJ").
const APPLICATION: i64 = 0x5254_434a;

/// The only format there is.
const FORMAT: i64 = 1;

/// Pages in memory, in kB with a minus: what is written is seldom read again.
const CACHE: &str = "-256";

const TABLES: &str = "
    CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE greetings (party INTEGER PRIMARY KEY, value BLOB NOT NULL);
    CREATE TABLE answers (round INTEGER, party INTEGER, asked BLOB NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (round, party)) WITHOUT ROWID;
    CREATE TABLE received (party INTEGER PRIMARY KEY);
";

/// What a party has said in a round, and the digest of what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptAnswer {
    /// The round.
    pub round: u32,
    /// The party.
    pub party: u32,
    /// The digest of what was asked.
    pub asked: Digest,
    /// The answer.
    pub value: Vec<u8>,
}

/// A member's memory of one run.
#[derive(Debug)]
pub struct RunJournal {
    path: PathBuf,
    connection: Connection,
    /// The budget that is told before the first answer; `None` where nobody pays.
    pub(crate) payer: Option<AnswerPayer>,
}

/// A transaction that is open.
#[derive(Debug)]
pub struct Change<'a> {
    path: &'a Path,
    transaction: rusqlite::Transaction<'a>,
}

impl RunJournal {
    /// Opens the journal, or makes it, and keeps others out.
    ///
    /// # Errors
    /// If it cannot be written, is none, is another process's, or began under another version.
    pub fn open(path: &Path) -> Result<Self, HostError> {
        let failed = |error: rusqlite::Error| HostError::journal(path, plain(&error));
        make(path).map_err(|error| HostError::journal(path, error.kind()))?;
        let connection = Connection::open(path).map_err(failed)?;
        let set = |name: &str, value: &str| connection.pragma_update(None, name, value);
        set("locking_mode", "EXCLUSIVE").map_err(failed)?;
        set("journal_mode", "WAL").map_err(failed)?;
        set("synchronous", "FULL").map_err(failed)?;
        set("secure_delete", "ON").map_err(failed)?;
        set("trusted_schema", "OFF").map_err(failed)?;
        set("cache_size", CACHE).map_err(failed)?;
        let mut journal = RunJournal { path: path.to_owned(), connection, payer: None };
        journal.check().map_err(failed)??;
        match journal.get::<String>("program")? {
            Some(program) if program != PROGRAM => {
                let why = format!(
                    "the run in it began under program {program}, and this is {PROGRAM}: a run ends under the \
                     version that began it"
                );
                Err(HostError::journal(path, why))
            }
            _ => Ok(journal),
        }
    }

    /// Makes the tables of a new file; refuses one that is something else.
    fn check(&mut self) -> Result<Result<(), HostError>, rusqlite::Error> {
        let path = self.path.clone();
        // A write, whatever is in it: who may only read must not begin.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let number = |name: &str| transaction.pragma_query_value(None, name, |row| row.get(0));
        let (application, format): (i64, i64) =
            (number("application_id")?, number("user_version")?);
        let tables: i64 =
            transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        match (application, format, tables) {
            (0, 0, 0) => {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "application_id", APPLICATION)?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
            }
            (APPLICATION, FORMAT, _) => {}
            (APPLICATION, ..) => {
                return Ok(Err(HostError::journal(&path, "it is of a newer program")));
            }
            _ => return Ok(Err(HostError::journal(&path, "it is no journal of a run"))),
        }
        let sql = "INSERT OR REPLACE INTO state (name, value) VALUES ('opened', x'')";
        transaction.execute(sql, [])?;
        transaction.commit()?;
        Ok(Ok(()))
    }

    /// Something is about to be said of the table: the budget that pays for it knows it before.
    ///
    /// # Errors
    /// If the budget does not take it: then nothing may be said.
    pub(crate) fn note_answer(&mut self) -> Result<(), HostError> {
        self.payer.as_mut().map_or(Ok(()), AnswerPayer::note)
    }

    /// Empties the write-ahead log, in which what was forgotten still stands.
    pub fn wipe(&self) {
        // Whoever still has it open does it when the file is closed.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    /// Takes nothing any more, as a disk that is full: for tests.
    ///
    /// # Errors
    /// If it cannot be said.
    #[doc(hidden)]
    pub fn refuse_writes(&self) -> Result<(), HostError> {
        let said = self.connection.pragma_update(None, "query_only", "ON");
        said.map_err(|error| HostError::journal(&self.path, plain(&error)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A value of the state.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, HostError> {
        let sql = "SELECT value FROM state WHERE name = ?1";
        let found: Option<Vec<u8>> = self
            .connection
            .query_row(sql, [name], |row| row.get(0))
            .optional()
            .map_err(|error| HostError::journal(&self.path, plain(&error)))?;
        let read = |bytes: Vec<u8>| {
            postcard::from_bytes(&bytes)
                .map_err(|_| HostError::journal(&self.path, format!("{name} cannot be read")))
        };
        found.map(read).transpose()
    }

    /// Whether there is such a value.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn has(&self, name: &str) -> Result<bool, HostError> {
        let sql = "SELECT count(*) FROM state WHERE name = ?1";
        let found = self.connection.query_row(sql, [name], |row| row.get::<_, i64>(0));
        found.map(|count| count > 0).map_err(|error| HostError::journal(&self.path, plain(&error)))
    }

    /// The values whose names begin with this word.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn listed<T: DeserializeOwned>(&self, word: &str) -> Result<Vec<(String, T)>, HostError> {
        let sql = format!("SELECT name, value FROM state WHERE name GLOB '{word} *'");
        let rows =
            self.rows(&sql, |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
        let read = |(name, bytes): (String, Vec<u8>)| match postcard::from_bytes(&bytes) {
            Ok(value) => Ok((name, value)),
            Err(_) => Err(HostError::journal(&self.path, format!("{name} cannot be read"))),
        };
        rows.into_iter().map(read).collect()
    }

    /// What parties have greeted with, by number.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn greetings(&self) -> Result<Vec<(u32, Vec<u8>)>, HostError> {
        self.rows("SELECT party, value FROM greetings", |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// All that parties have answered, round by round.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn answers(&self) -> Result<Vec<KeptAnswer>, HostError> {
        self.rows("SELECT round, party, asked, value FROM answers ORDER BY round, party", |row| {
            let (round, party, value) = (row.get(0)?, row.get(1)?, row.get(3)?);
            Ok(KeptAnswer { round, party, asked: row.get(2)?, value })
        })
    }

    /// Who has the model.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn received(&self) -> Result<Vec<u32>, HostError> {
        self.rows("SELECT party FROM received", |row| row.get(0))
    }

    fn rows<T>(
        &self,
        sql: &str,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, HostError> {
        let found = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare(sql)?.query_map([], read)?.collect()
        };
        found().map_err(|error| HostError::journal(&self.path, plain(&error)))
    }

    /// One transaction: all of it is on the disk when this returns, or none of it is.
    ///
    /// # Errors
    /// If it cannot be written: then nothing must be sent.
    pub fn commit(
        &mut self,
        change: impl FnOnce(&Change<'_>) -> Result<(), HostError>,
    ) -> Result<(), HostError> {
        let failed = |error: rusqlite::Error| HostError::journal(&self.path, plain(&error));
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let open = Change { path: &self.path, transaction };
        change(&open)?;
        open.transaction.commit().map_err(failed)
    }
}

impl Change<'_> {
    fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), HostError> {
        let done = self.transaction.execute(sql, values);
        done.map(drop).map_err(|error| HostError::journal(self.path, plain(&error)))
    }

    /// Sets a value of the state.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn set<T: Serialize>(&self, name: &str, value: &T) -> Result<(), HostError> {
        let bytes = postcard::to_allocvec(value)
            .map_err(|_| HostError::journal(self.path, format!("{name} cannot be written")))?;
        self.execute(
            "INSERT OR REPLACE INTO state (name, value) VALUES (?1, ?2)",
            params![name, bytes],
        )
    }

    /// Forgets a value of the state.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget(&self, name: &str) -> Result<(), HostError> {
        self.execute("DELETE FROM state WHERE name = ?1", [name])
    }

    /// Forgets all that peers have said to one another.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget_mail(&self) -> Result<(), HostError> {
        let sql = "DELETE FROM state WHERE name IN ('mail', 'peers') OR name GLOB 'out *' OR name GLOB 'piece *'";
        self.execute(sql, [])
    }

    /// Forgets the pieces of a list.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget_pieces(&self, list: &str) -> Result<(), HostError> {
        self.execute("DELETE FROM state WHERE name GLOB ?1", [format!("piece {list} *")])
    }

    /// Keeps what a party has greeted with.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn greeting(&self, party: u32, value: &[u8]) -> Result<(), HostError> {
        self.execute(
            "INSERT OR REPLACE INTO greetings (party, value) VALUES (?1, ?2)",
            params![party, value],
        )
    }

    /// Keeps an answer. There is one for a party and a round.
    ///
    /// # Errors
    /// If it cannot be written, or there is one.
    pub fn answer(&self, answer: &KeptAnswer) -> Result<(), HostError> {
        let KeptAnswer { round, party, asked, value } = answer;
        let sql = "INSERT INTO answers (round, party, asked, value) VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, params![round, party, asked, value])
    }

    /// Forgets all that parties have said.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget_answers(&self) -> Result<(), HostError> {
        self.execute("DELETE FROM answers", [])?;
        self.execute("DELETE FROM greetings", [])
    }

    /// Notes that a party has the model.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn received(&self, party: u32) -> Result<(), HostError> {
        self.execute("INSERT OR REPLACE INTO received (party) VALUES (?1)", [party])
    }
}

/// A secret among what is kept: wiped from memory where it is not.
pub(crate) mod secret {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use zeroize::Zeroizing;

    pub fn serialize<S: Serializer>(key: &Zeroizing<[u8; 32]>, to: S) -> Result<S::Ok, S::Error> {
        (**key).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Zeroizing<[u8; 32]>, D::Error> {
        <[u8; 32]>::deserialize(from).map(Zeroizing::new)
    }
}

/// Makes a file for its owner alone, if there is none; refuses one that others may read.
fn make(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true).write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
    }
    file.sync_all()?;
    // The name of a new file is in its folder, which is written by itself.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    #[cfg(unix)]
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// What SQLite says, without paths.
fn plain(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "another process has it".to_owned()
        }
        Some(rusqlite::ErrorCode::ReadOnly) => "it cannot be written".to_owned(),
        Some(rusqlite::ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(rusqlite::ErrorCode::NotADatabase) => "it is no journal of a run".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(folder: &tempfile::TempDir) -> Result<RunJournal, HostError> {
        RunJournal::open(&folder.path().join("run.journal"))
    }

    #[test]
    fn a_transaction_is_kept_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let mut own = journal(&folder).unwrap();
        own.commit(|change| change.set("a", &7_u32)).unwrap();
        let cut = own.commit(|change| {
            change.set("a", &8_u32)?;
            change.set("b", &9_u32)?;
            Err(HostError::Ended("cut".to_owned()))
        });
        assert!(cut.is_err());
        drop(own);
        let own = journal(&folder).unwrap();
        assert_eq!((own.get::<u32>("a").unwrap(), own.get::<u32>("b").unwrap()), (Some(7), None));
    }

    #[test]
    fn a_round_is_answered_once_by_a_party() {
        let folder = tempfile::tempdir().unwrap();
        let mut own = journal(&folder).unwrap();
        let answer = KeptAnswer { round: 2, party: 1, asked: [3; 32], value: vec![4] };
        own.commit(|change| change.answer(&answer)).unwrap();
        let other = KeptAnswer { value: vec![5], ..answer.clone() };
        assert!(own.commit(|change| change.answer(&other)).is_err());
        assert_eq!(own.answers().unwrap(), [answer]);
        own.commit(|change| change.forget_answers()).unwrap();
        assert!(own.answers().unwrap().is_empty());
    }

    #[test]
    fn one_process_has_it_and_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let own = journal(&folder).unwrap();
        assert!(journal(&folder).unwrap_err().to_string().contains("another process"));
        drop(own);
        let path = folder.path().join("run.journal");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600);
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
            assert!(journal(&folder).is_err());
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        }
        let other = folder.path().join("other.toml");
        std::fs::write(&other, "a = 1\n".repeat(200)).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        assert!(RunJournal::open(&other).unwrap_err().to_string().contains("no journal"));
    }

    #[test]
    fn a_run_ends_under_the_version_that_began_it() {
        let folder = tempfile::tempdir().unwrap();
        journal(&folder).unwrap().commit(|change| change.set("program", &"0.0.9")).unwrap();
        assert!(journal(&folder).unwrap_err().to_string().contains("0.0.9"));
    }
}

//! The state of a member in a run, in a file that only its owner can read. The main rule of this
//! crate is kept here: nothing is sent before the state that remembers it is on the disk.
//!
//! Each message is one transaction: the state after it, and the answer. A transaction is on the
//! disk when it is over (write-ahead log, `synchronous = FULL`). One process has the file open.
//!
//! During a run the file holds secrets: keys, and at the lead the answers of the parties. They are
//! overwritten when the run is over, as far as SQLite and the file system do.

use std::path::{Path, PathBuf};

use reticent_noise::Digest;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agreement::PROGRAM;
use crate::answer_payer::AnswerPayer;
use crate::error::HostError;

/// The mark of a journal file ("RTCJ").
const APPLICATION: i64 = 0x5254_434a;

/// The format of the file.
const FORMAT: i64 = 1;

/// The page cache in kB, as a negative number: what is written is seldom read again.
const CACHE: &str = "-256";

const TABLES: &str = "
    CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE greetings (party INTEGER PRIMARY KEY, value BLOB NOT NULL);
    CREATE TABLE answers (round INTEGER, party INTEGER, asked BLOB NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY (round, party)) WITHOUT ROWID;
    CREATE TABLE received (party INTEGER PRIMARY KEY);
";

/// An answer of a party in a round, and the digest of the request.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptAnswer {
    /// The round.
    pub round: u32,
    /// The party.
    pub party: u32,
    /// The digest of the request.
    pub asked: Digest,
    /// The answer.
    pub value: Vec<u8>,
}

/// The state of a member in one run, on the disk.
#[derive(Debug)]
pub struct RunJournal {
    path: PathBuf,
    connection: Connection,
    /// The budget that is told before the first answer; `None` if no budget pays.
    pub(crate) payer: Option<AnswerPayer>,
}

/// An open transaction.
#[derive(Debug)]
pub struct Change<'a> {
    path: &'a Path,
    transaction: rusqlite::Transaction<'a>,
}

impl RunJournal {
    /// Opens the journal, creates it if necessary, and locks it.
    ///
    /// # Errors
    /// If it cannot be written, is not a journal, is in use by another process, or began under
    /// another version.
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

    /// Creates the tables of a new file; refuses a file of another kind.
    fn check(&mut self) -> Result<Result<(), HostError>, rusqlite::Error> {
        let path = self.path.clone();
        // A write transaction: a file that can only be read must not be used.
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

    /// Tells the budget that an answer about the table follows.
    ///
    /// # Errors
    /// If the budget cannot record it: then nothing may be answered.
    pub(crate) fn note_answer(&mut self) -> Result<(), HostError> {
        self.payer.as_mut().map_or(Ok(()), AnswerPayer::note)
    }

    /// Empties the write-ahead log, which still has deleted secrets.
    pub fn wipe(&self) {
        // If another connection has the file open, the log is emptied when that closes.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }

    /// Makes the journal refuse all writes, as on a full disk: for tests.
    ///
    /// # Errors
    /// If SQLite refuses it.
    #[doc(hidden)]
    pub fn refuse_writes(&self) -> Result<(), HostError> {
        let said = self.connection.pragma_update(None, "query_only", "ON");
        said.map_err(|error| HostError::journal(&self.path, plain(&error)))
    }

    /// The path of the file.
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

    /// Whether a value exists.
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

    /// The greetings of the parties, by number.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn greetings(&self) -> Result<Vec<(u32, Vec<u8>)>, HostError> {
        self.rows("SELECT party, value FROM greetings", |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// All answers of the parties, round by round.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn answers(&self) -> Result<Vec<KeptAnswer>, HostError> {
        self.rows("SELECT round, party, asked, value FROM answers ORDER BY round, party", |row| {
            let (round, party, value) = (row.get(0)?, row.get(1)?, row.get(3)?);
            Ok(KeptAnswer { round, party, asked: row.get(2)?, value })
        })
    }

    /// The parties that have the model.
    ///
    /// # Errors
    /// If they cannot be read.
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

    /// Runs one transaction: all of it is on the disk when this returns, or none of it.
    ///
    /// # Errors
    /// If it cannot be written: then nothing may be sent.
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

    /// Deletes a value of the state.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget(&self, name: &str) -> Result<(), HostError> {
        self.execute("DELETE FROM state WHERE name = ?1", [name])
    }

    /// Deletes all messages between peers.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget_mail(&self) -> Result<(), HostError> {
        let sql = "DELETE FROM state WHERE name IN ('mail', 'peers') OR name GLOB 'out *' OR name GLOB 'piece *'";
        self.execute(sql, [])
    }

    /// Deletes the pieces of a list.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget_pieces(&self, list: &str) -> Result<(), HostError> {
        self.execute("DELETE FROM state WHERE name GLOB ?1", [format!("piece {list} *")])
    }

    /// Keeps the greeting of a party.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn greeting(&self, party: u32, value: &[u8]) -> Result<(), HostError> {
        self.execute(
            "INSERT OR REPLACE INTO greetings (party, value) VALUES (?1, ?2)",
            params![party, value],
        )
    }

    /// Keeps an answer. There is one for each party and round.
    ///
    /// # Errors
    /// If it cannot be written, or there is one already.
    pub fn answer(&self, answer: &KeptAnswer) -> Result<(), HostError> {
        let KeptAnswer { round, party, asked, value } = answer;
        let sql = "INSERT INTO answers (round, party, asked, value) VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, params![round, party, asked, value])
    }

    /// Deletes all answers of the parties.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn forget_answers(&self) -> Result<(), HostError> {
        self.execute("DELETE FROM answers", [])?;
        self.execute("DELETE FROM greetings", [])
    }

    /// Records that a party has the model.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn received(&self, party: u32) -> Result<(), HostError> {
        self.execute("INSERT OR REPLACE INTO received (party) VALUES (?1)", [party])
    }
}

/// The serialisation of a secret, which is wiped from memory after use.
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

/// Creates a file for its owner alone, if there is none; refuses a file that others may read.
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
    // The folder holds the name of a new file, and is synchronised separately.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    #[cfg(unix)]
    std::fs::File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The message of SQLite, without paths.
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

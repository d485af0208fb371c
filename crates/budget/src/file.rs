//! The file itself: SQLite with a write-ahead log, flushed to the disk at every commit.
//!
//! A file is not trusted: its schema is compared word for word, so that no trigger or view of
//! somebody else's can change what is written, and no line of the history can be changed or taken
//! out through it.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::BudgetError;

/// "RtBu": what tells a budget from another database.
const APPLICATION: i64 = 0x5274_4275;

/// The format that this version writes. A migration is a line in [`MIGRATIONS`].
const VERSION: i64 = 5;

/// What brings a file of version n to version n + 1, from version 1 on.
const MIGRATIONS: [&str; 4] = [PROGRESS, BEGUN, DIGESTS, APART];

/// How far jobs are: no part of the history.
const PROGRESS: &str = "CREATE TABLE progress (job INTEGER PRIMARY KEY, time TEXT NOT NULL, done INTEGER NOT NULL, \
                        steps INTEGER) STRICT";

/// The parts of open jobs that were begun.
const BEGUN: &str = "CREATE TABLE begun (job INTEGER NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (job, part)) \
                     STRICT, WITHOUT ROWID";

/// The line that closes a job may have the digest of a certificate. The tables stay as they are: it
/// is a version of its own because a program of version 3 takes such a line for a damaged one.
const DIGESTS: &str = "";

/// Tables are bound file by file, and a job may count for several groups of people: a program of
/// version 4 would take such lines for damaged ones.
const APART: &str = "";

/// The objects of the database by name, with the version that has them first.
const SCHEMA: [(&str, i64, &str); 9] = [
    (
        "balance",
        1,
        "CREATE TABLE balance (one INTEGER PRIMARY KEY CHECK (one = 1), body TEXT NOT NULL, seal BLOB NOT NULL) STRICT",
    ),
    ("begun", 3, BEGUN),
    (
        "history",
        1,
        "CREATE TABLE history (number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, job INTEGER, people \
         INTEGER, charge BLOB, body TEXT NOT NULL, secret BLOB, hash BLOB NOT NULL) STRICT",
    ),
    (
        "history_is_not_changed",
        1,
        "CREATE TRIGGER history_is_not_changed BEFORE UPDATE ON history BEGIN SELECT RAISE(ABORT, 'append only'); END",
    ),
    (
        "history_is_not_shortened",
        1,
        "CREATE TRIGGER history_is_not_shortened BEFORE DELETE ON history BEGIN SELECT RAISE(ABORT, 'append only'); \
         END",
    ),
    (
        "key",
        1,
        "CREATE TABLE key (one INTEGER PRIMARY KEY CHECK (one = 1), bytes BLOB NOT NULL) STRICT",
    ),
    (
        "key_is_not_changed",
        1,
        "CREATE TRIGGER key_is_not_changed BEFORE UPDATE ON key BEGIN SELECT RAISE(ABORT, 'append only'); END",
    ),
    (
        "key_is_not_shortened",
        1,
        "CREATE TRIGGER key_is_not_shortened BEFORE DELETE ON key BEGIN SELECT RAISE(ABORT, 'append only'); END",
    ),
    ("progress", 2, PROGRESS),
];

/// How long one waits for another who writes, unless told otherwise.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest field that is read, in bytes.
pub(crate) const LONGEST: i32 = 16 << 20;

/// Which file a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileIdentity {
    /// None: it is in memory, and nobody can take it away.
    Memory,
    /// Its numbers, where files have such.
    File(Option<(u64, u64)>),
}

/// What stands in messages for the path of a budget in memory.
const MEMORY: &str = "the budget in memory";

/// An open file.
#[derive(Debug)]
pub(crate) struct BudgetFile {
    pub connection: Connection,
    pub path: PathBuf,
    identity: FileIdentity,
    /// The version of its format, which is older where it was opened to be looked at.
    version: i64,
    /// How long to wait for another who writes.
    patience: Duration,
}

impl BudgetFile {
    /// A new, empty file that only its owner can read. What `fill` cannot finish is taken away.
    pub(crate) fn create(
        path: &Path,
        fill: impl FnOnce(&mut BudgetFile) -> Result<(), BudgetError>,
    ) -> Result<Self, BudgetError> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => BudgetError::Exists(path.to_owned()),
            kind => BudgetError::Storage { file: path.to_owned(), why: kind.to_string() },
        })?;
        let made = Self::made(path).and_then(|mut file| {
            fill(&mut file)?;
            file.empty_the_log();
            Ok(file)
        });
        if made.is_err() {
            // A file that was never a budget must not stand in the way of one.
            for end in ["", "-wal", "-shm"] {
                let mut name = path.as_os_str().to_owned();
                name.push(end);
                let _ = fs::remove_file(name);
            }
        } else if let Some(folder) = path.parent() {
            // That the name is in the folder must survive a crash as well; not every system can.
            let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
        }
        made
    }

    fn made(path: &Path) -> Result<Self, BudgetError> {
        let mut file = Self::connect(path, true)?;
        file.keep_a_log()?;
        file.make_tables()?;
        Ok(file)
    }

    /// The same in memory.
    pub(crate) fn in_memory(
        fill: impl FnOnce(&mut BudgetFile) -> Result<(), BudgetError>,
    ) -> Result<Self, BudgetError> {
        let path = PathBuf::from(MEMORY);
        let connection = Connection::open_in_memory().and_then(guarded);
        let connection = connection.map_err(|error| BudgetError::from_sqlite(&path, &error))?;
        let mut file = Self {
            connection,
            path,
            identity: FileIdentity::Memory,
            version: VERSION,
            patience: PATIENCE,
        };
        file.make_tables()?;
        fill(&mut file)?;
        Ok(file)
    }

    fn make_tables(&mut self) -> Result<(), BudgetError> {
        let failed = |error| BudgetError::from_sqlite(&self.path, &error);
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let statements = SCHEMA.iter().map(|(_, _, sql)| format!("{sql};")).collect::<String>()
            + &format!("PRAGMA application_id={APPLICATION};PRAGMA user_version={VERSION};");
        transaction.execute_batch(&statements).and_then(|()| transaction.commit()).map_err(failed)
    }

    /// Whether it is a file, and not in memory.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.identity != FileIdentity::Memory
    }

    /// Whether its version says how far jobs are.
    pub(crate) fn has_progress(&self) -> bool {
        self.version >= 2
    }

    /// A file that is there.
    pub(crate) fn open(path: &Path, write: bool) -> Result<Self, BudgetError> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => (),
            Ok(_) => return Err(not_a_budget(path, "it is not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(BudgetError::Missing(path.to_owned()));
            }
            Err(error) => {
                let why = error.kind().to_string();
                return Err(BudgetError::Storage { file: path.to_owned(), why });
            }
        }
        let mut file = Self::connect(path, write)?;
        if !write && file.number("PRAGMA application_id").is_err() && is_at_rest(path) {
            file.connection = at_rest(path)?;
        }
        file.still_there()?;
        file.check_format(write)?;
        if write {
            file.keep_a_log()?;
        }
        Ok(file)
    }

    fn connect(path: &Path, write: bool) -> Result<Self, BudgetError> {
        let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX
            | if write {
                OpenFlags::SQLITE_OPEN_READ_WRITE
            } else {
                OpenFlags::SQLITE_OPEN_READ_ONLY
            };
        let connection = Connection::open_with_flags(path, flags).and_then(guarded);
        let connection = connection.map_err(|error| BudgetError::from_sqlite(path, &error))?;
        let identity = FileIdentity::File(numbers(path));
        let (path, version, patience) = (path.to_owned(), VERSION, PATIENCE);
        Ok(Self { connection, path, identity, version, patience })
    }

    /// Every commit is on the disk before it is believed; readers and a writer do not wait for each
    /// other.
    fn keep_a_log(&mut self) -> Result<(), BudgetError> {
        let mode: String = self
            .connection
            .query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0))
            .map_err(|error| self.sqlite(&error))?;
        if mode != "wal" {
            let why = "the file system has no shared memory for a write-ahead log".to_owned();
            return Err(BudgetError::Locking { file: self.path.clone(), why });
        }
        self.connection
            .execute_batch("PRAGMA synchronous=FULL; PRAGMA fullfsync=ON;")
            .map_err(|error| self.sqlite(&error))
    }

    fn number(&self, sql: &str) -> Result<i64, BudgetError> {
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.sqlite(&error))
    }

    fn check_format(&mut self, write: bool) -> Result<(), BudgetError> {
        if self.number("PRAGMA application_id")? != APPLICATION {
            return Err(not_a_budget(&self.path, "it says itself that it is something else"));
        }
        self.version = self.known_version()?;
        self.check_tables()?;
        // Who only looks on leaves an older file as it is.
        if write && self.version < VERSION {
            migrate(&mut self.connection, &MIGRATIONS)
                .map_err(|error| BudgetError::from_sqlite(&self.path, &error))?;
            self.version = self.known_version()?;
            self.check_tables()?;
        }
        Ok(())
    }

    fn known_version(&self) -> Result<i64, BudgetError> {
        match self.number("PRAGMA user_version")? {
            given if given > VERSION => {
                Err(BudgetError::Newer { file: self.path.clone(), given, known: VERSION })
            }
            given if given < 1 => Err(not_a_budget(&self.path, "it has no format version")),
            given => Ok(given),
        }
    }

    /// The tables are those of its version, word for word.
    fn check_tables(&self) -> Result<(), BudgetError> {
        let objects: Vec<(String, Option<String>)> = self
            .connection
            .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
            .and_then(|mut all| all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
            .map_err(|error| self.sqlite(&error))?;
        let expected = SCHEMA.iter().filter(|(_, since, _)| *since <= self.version);
        let expected = expected.map(|(name, _, sql)| (*name, Some(*sql)));
        if expected.eq(objects.iter().map(|(name, sql)| (name.as_str(), sql.as_deref()))) {
            Ok(())
        } else {
            Err(not_a_budget(&self.path, "its tables are not those of a budget"))
        }
    }

    /// Moves what was committed from the log into the file itself, so that the file alone is the
    /// budget. While somebody reads, some of it stays in the log: it is tried, and no matter.
    pub(crate) fn empty_the_log(&self) {
        let _ = self.without_patience(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
    }

    /// Does what is not worth waiting for.
    pub(crate) fn without_patience<T>(
        &self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.connection.busy_timeout(Duration::ZERO)?;
        let done = what(&self.connection);
        self.connection.busy_timeout(self.patience)?;
        done
    }

    /// From here on it waits so long for another who writes.
    pub(crate) fn wait_for(&mut self, patience: Duration) -> rusqlite::Result<()> {
        self.patience = patience;
        self.connection.busy_timeout(patience)
    }

    /// Refuses to go on with a file that its path does not lead to any more: what is written there
    /// would be lost.
    pub(crate) fn still_there(&self) -> Result<(), BudgetError> {
        still_there(&self.path, self.identity)
    }

    /// The path and which file it led to, for who cannot borrow the connection.
    pub(crate) fn place(&self) -> impl Fn() -> Result<(), BudgetError> + use<> {
        let (path, identity) = (self.path.clone(), self.identity);
        move || still_there(&path, identity)
    }

    pub(crate) fn sqlite(&self, error: &rusqlite::Error) -> BudgetError {
        BudgetError::from_sqlite(&self.path, error)
    }
}

/// Whether nothing of the budget is in a log.
fn is_at_rest(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).map_or(true, |found| found.len() == 0)
}

/// A connection for who may not write beside the file, so that it cannot take part in the locks.
/// Should somebody write meanwhile, what is read may not go together: then its chain does not.
fn at_rest(path: &Path) -> Result<Connection, BudgetError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let coded: String = whole
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(
            |&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") },
        )
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{coded}?immutable=1"), flags)
        .and_then(guarded)
        .map_err(|error| BudgetError::from_sqlite(path, &error))
}

/// A connection on which nothing in the file can do anything by itself.
fn guarded(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")?;
    Ok(connection)
}

/// All steps that are missing, or none. Another process may have done them meanwhile.
fn migrate(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let from: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let done = usize::try_from(from - 1).unwrap_or(migrations.len());
    if done >= migrations.len() {
        return Ok(());
    }
    let steps = migrations[done..].join(";");
    let version = migrations.len() + 1;
    transaction.execute_batch(&format!("{steps};PRAGMA user_version={version};"))?;
    transaction.commit()
}

fn still_there(path: &Path, opened: FileIdentity) -> Result<(), BudgetError> {
    let FileIdentity::File(numbered) = opened else { return Ok(()) };
    if numbers(path) != numbered || !path.exists() {
        Err(BudgetError::Gone(path.to_owned()))
    } else if names(path) > 1 {
        Err(BudgetError::Linked(path.to_owned()))
    } else if is_mounted(path) {
        Err(BudgetError::Mounted(path.to_owned()))
    } else {
        Ok(())
    }
}

/// Under how many names the file can be opened.
#[cfg(unix)]
fn names(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map_or(1, |found| found.nlink())
}

/// Whether the file itself, and not a folder above it, was mounted where it is. Where the system does not say,
/// it is taken not to be.
fn is_mounted(path: &Path) -> bool {
    let (Ok(path), Ok(mounts)) = (path.canonicalize(), fs::read(MOUNTS)) else {
        return false;
    };
    is_mount(&mounts, path.as_os_str().as_encoded_bytes())
}

/// The mounts that a process of Linux sees.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Whether a line of `mounts` is about this place: its fifth field, in which white space and backslashes are
/// written as `\` and three octal digits.
fn is_mount(mounts: &[u8], path: &[u8]) -> bool {
    let mut written = Vec::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'\\' | b' ' | b'\t' | b'\n' => written.extend(format!("\\{byte:03o}").bytes()),
            _ => written.push(byte),
        }
    }
    let place = |line: &[u8]| line.split(|&byte| byte == b' ').nth(4) == Some(&written[..]);
    mounts.split(|&byte| byte == b'\n').any(place)
}

/// Not known here: taken as one.
#[cfg(not(unix))]
fn names(_: &Path) -> u64 {
    1
}

#[cfg(unix)]
fn numbers(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Where files have no number, one that is open cannot be removed either.
#[cfg(not(unix))]
fn numbers(_: &Path) -> Option<(u64, u64)> {
    None
}

pub(crate) fn not_a_budget(path: &Path, why: &str) -> BudgetError {
    BudgetError::NotABudget { file: path.to_owned(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as Linux writes them, for a folder and for files of a container.
    #[test]
    fn a_file_that_is_mounted_by_itself_is_told_from_one_in_a_mounted_folder() {
        let mounts = b"22 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      23 22 0:9 / /x\xff rw - tmpfs tmpfs rw\n\
                      30 22 254:0 /home/x/books /books rw,relatime shared:1 - ext4 /dev/vda rw\n\
                      31 22 254:0 /home/x/a.budget /run/a\\040b.budget rw - ext4 /dev/vda rw\n";
        assert!(is_mount(mounts, b"/run/a b.budget"));
        assert!(!is_mount(mounts, b"/run/b.budget") && !is_mount(mounts, b"/books/a.budget"));
        assert!(!is_mount(mounts, b"/home/x/a.budget") && !is_mount(b"", b"/run/a b.budget"));
    }

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE a (x); PRAGMA user_version=1;").unwrap();
        connection
    }

    fn state(connection: &Connection) -> (i64, i64) {
        let number = |sql| connection.query_row(sql, [], |row| row.get(0)).unwrap();
        (number("PRAGMA user_version"), number("SELECT count(*) FROM sqlite_schema"))
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing_behind() {
        let mut connection = database();
        let failing = ["CREATE TABLE b (x)", "CREATE TABLE c (x); CREATE TABLE a (x)"];
        assert!(migrate(&mut connection, &failing).is_err());
        assert_eq!(state(&connection), (1, 1));
    }

    #[test]
    fn a_migration_that_another_has_done_is_not_done_again() {
        let mut connection = database();
        let steps = ["CREATE TABLE b (x)", "CREATE TABLE c (x)"];
        for (known, reached) in [(1, (2, 2)), (2, (3, 3)), (2, (3, 3)), (1, (3, 3))] {
            migrate(&mut connection, &steps[..known]).unwrap();
            assert_eq!(state(&connection), reached);
        }
    }
}

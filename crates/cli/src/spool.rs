//! Results that were paid for and are not delivered yet, in files beside the budget that only their
//! owner can read. A result is kept before its job is settled and forgotten when it was delivered,
//! so that a kill or a full disk loses nothing; the same job on the same table gets it again, and
//! pays nothing.
//!
//! A kept file has a seal under the key of the budget: one that was cut short or changed is left
//! alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reticent::accountant::Ledger;
use reticent::internal::{Payable, unplanned};
use reticent::{Error, Run};
use reticent_budget::{BudgetError, Store};
use reticent_payment::close_over;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{Answer, object};
use crate::delivery::{Delivery, Piece};
use crate::failure::CommandFailure;

/// What a kept file is called: the budget's name, this and the number of the job.
const KEPT: &str = "-kept-";

/// The format of kept files.
const FORMAT: u64 = 1;

/// How long a result that is not delivered yet may still be on its way.
const DELIVERY: Duration = Duration::from_secs(3);

/// The largest kept file that is read, in bytes.
const LARGEST: u64 = 1 << 30;

/// What tells a job from others: what was asked, of which table, under which name. The first two are
/// digests under the key of the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobMark {
    /// What is asked.
    pub asked: [u8; 32],
    /// The files of the table.
    pub table: [u8; 32],
    /// The job, for people.
    pub label: String,
}

/// A result that was kept.
#[derive(Debug)]
pub struct KeptResult {
    /// Its file.
    pub file: PathBuf,
    /// Its job in the budget.
    pub job: u64,
    hash: String,
    /// What was done beyond the plan, and the digest of the certificate: with these the job is
    /// settled, if it is open.
    more: Ledger,
    certificate: Option<String>,
    /// The result.
    pub delivery: Delivery,
}

impl KeptResult {
    /// Closes its job, if that was cut short.
    pub fn close(&self, store: &mut Store) -> Result<(), BudgetError> {
        close_over(store, self.job, &self.hash, &self.more, self.certificate.as_deref())
    }
}

/// What is in a kept file.
#[derive(Serialize, Deserialize)]
struct KeptFile {
    format: u64,
    job: u64,
    hash: String,
    asked: String,
    table: String,
    label: String,
    more: Ledger,
    certificate: Option<String>,
    text: String,
    object: Value,
    remarks: Vec<String>,
    tail: String,
    pieces: Vec<Piece>,
}

impl KeptFile {
    fn of(result: &KeptResult, mark: &JobMark) -> Self {
        let KeptResult { job, hash, more, certificate, delivery, .. } = result;
        let Delivery { answer, tail, pieces } = delivery;
        KeptFile {
            format: FORMAT,
            job: *job,
            hash: hash.clone(),
            asked: hex(&mark.asked),
            table: hex(&mark.table),
            label: mark.label.clone(),
            more: more.clone(),
            certificate: certificate.clone(),
            text: answer.text.clone(),
            object: answer.object.clone(),
            remarks: answer.remarks.clone(),
            tail: tail.clone(),
            pieces: pieces.clone(),
        }
    }

    fn into_result(self, file: PathBuf) -> KeptResult {
        let KeptFile { job, hash, more, certificate, text, object, remarks, tail, pieces, .. } =
            self;
        let answer = Answer { text, object, remarks, ..Answer::default() };
        let delivery = Delivery { answer, tail, pieces };
        KeptResult { file, job, hash, more, certificate, delivery }
    }
}

/// Whether a file stays where it is: a program beside this one that is about to deliver its result removes
/// it in a moment.
fn stays(file: &Path) -> bool {
    let end = Instant::now() + DELIVERY;
    while file.exists() {
        if Instant::now() >= end {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// The kept result of this job, if there is one: `table` is asked for once the rest agrees. The same
/// job under another name is refused: it would be charged again, though it was paid for.
pub fn find(
    store: &Store,
    budget: &Path,
    asked: &[u8; 32],
    label: &str,
    table: impl FnOnce() -> io::Result<[u8; 32]>,
) -> Result<Option<KeptResult>, CommandFailure> {
    let all = files(budget).into_iter().filter_map(|file| Some((opened(store, &file)?, file)));
    let asked = hex(asked);
    let mine = |(kept, _): &(KeptFile, PathBuf)| kept.format == FORMAT && kept.asked == asked;
    let mine: Vec<(KeptFile, PathBuf)> = all.filter(mine).collect();
    if mine.is_empty() {
        return Ok(None);
    }
    let table = hex(&table().map_err(|error| Error::written(budget, &error))?);
    let (mut own, mut others) = (None, Vec::new());
    for (kept, file) in mine.into_iter().filter(|(kept, _)| kept.table == table) {
        let name = kept.label.clone();
        let kept = kept.into_result(file);
        let found = store.reservation(kept.job, &kept.hash);
        match matches!(found, Ok(_) | Err(BudgetError::NotOpen(_))) {
            false => {}
            true if name == label => own = own.or(Some(kept)),
            true if stays(&kept.file) => others.push((kept, name)),
            true => {}
        }
    }
    match (own, others.first()) {
        (None, Some((kept, name))) => Err(CommandFailure::Usage {
            message: format!(
                "this job was paid for as job {} of {} ({name}), and its result is kept: it would be charged again",
                kept.job,
                budget.display()
            ),
            hint: format!(
                "ask for it under its name ({name}): it is delivered, and nothing is charged. To pay for another \
                 release, do that first, or remove {}",
                kept.file.display()
            ),
        }),
        (own, _) => Ok(own),
    }
}

/// The files of results that a budget keeps.
fn files(budget: &Path) -> Vec<PathBuf> {
    let Some(own) = budget.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let folder = budget.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let is_kept = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let rest = name.strip_prefix(own).and_then(|rest| rest.strip_prefix(KEPT));
        rest.is_some_and(|job| !job.is_empty() && job.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_kept).collect();
    found.sort();
    found
}

/// What is in a kept file, if it is the owner's alone and whole.
fn opened(store: &Store, file: &Path) -> Option<KeptFile> {
    let there = fs::symlink_metadata(file).ok()?;
    if !there.is_file() || there.len() > LARGEST || !is_private(&there) {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let (seal, body) = text.split_once('\n')?;
    (seal == self::seal(store, body).ok()?).then(|| serde_json::from_str(body).ok())?
}

#[cfg(unix)]
fn is_private(there: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&there.permissions()) & 0o077 == 0
}

/// Who may read a file is not told by its numbers there.
#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

fn seal(store: &Store, body: &str) -> Result<String, BudgetError> {
    Ok(hex(&store.fingerprint(&[b"kept result", body.as_bytes()])?))
}

fn hex(bytes: &[u8; 32]) -> String {
    reticent_core::hex(bytes)
}

/// A job whose result is kept when it ran, before anybody hears that it is over.
pub struct Keeping<'b, R: Payable, F> {
    pub ready: R,
    pub budget: &'b Path,
    pub mark: JobMark,
    pub deliver: F,
    pub reserved: (u64, String),
}

/// What came of such a job.
pub struct KeptOutcome<D> {
    done: D,
    /// The result, ready to be handed over.
    pub delivery: Result<Delivery, CommandFailure>,
    /// Where it is kept, if it could be.
    pub kept: Option<PathBuf>,
}

impl<R, F> Payable for Keeping<'_, R, F>
where
    R: Payable,
    F: FnOnce(&mut R::Done) -> Result<Delivery, CommandFailure>,
{
    type Done = KeptOutcome<R::Done>;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        self.ready.plans()
    }

    fn reserved(&mut self, number: u64, hash: &str) {
        self.reserved = (number, hash.to_owned());
        self.ready.reserved(number, hash);
    }

    fn run(self, run: Run<'_>) -> Result<Self::Done, Error> {
        let plans = self.ready.plans()?;
        let mut done = self.ready.run(run)?;
        let delivery = (self.deliver)(&mut done);
        let (job, hash) = self.reserved;
        let (delivery, kept) = match delivery {
            Err(why) => (Err(why), None),
            Ok(delivery) => {
                let file = place(self.budget, job);
                let more = unplanned(&plans, R::ledgers(&done));
                let certificate = R::digest(&done).map(str::to_owned);
                let whole = KeptResult { file, job, hash, more, certificate, delivery };
                // What cannot be kept is delivered all the same, or shown.
                let kept = keep(self.budget, &whole, &self.mark).ok().map(|()| whole.file);
                (Ok(whole.delivery), kept)
            }
        };
        Ok(KeptOutcome { done, delivery, kept })
    }

    fn ledgers(done: &Self::Done) -> Vec<&Ledger> {
        R::ledgers(&done.done)
    }

    fn digest(done: &Self::Done) -> Option<&str> {
        R::digest(&done.done)
    }
}

fn place(budget: &Path, job: u64) -> PathBuf {
    let mut name = budget.as_os_str().to_owned();
    name.push(format!("{KEPT}{job}"));
    name.into()
}

/// Puts a result on the disk, whole or not at all.
fn keep(budget: &Path, whole: &KeptResult, mark: &JobMark) -> io::Result<()> {
    let store = Store::open_to_read(budget).map_err(io::Error::other)?;
    let body = object(&KeptFile::of(whole, mark)).to_string();
    let seal = seal(&store, &body).map_err(io::Error::other)?;
    let mut part = whole.file.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = private(&part).and_then(|mut file| {
        file.write_all(format!("{seal}\n{body}").as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, &whole.file)?;
        let folder = budget.parent().filter(|folder| !folder.as_os_str().is_empty());
        // That the name is in the folder must survive a crash as well; not every system can.
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        Ok(())
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// A new file that only its owner can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

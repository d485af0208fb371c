//! The Unix socket that couriers come to. A visit is one connection: how long the courier waits, a parcel or
//! none, and in return a parcel or none.
//!
//! The file is its owner's alone (mode 600), or its group's too where the folder passes its group on (setgid):
//! so couriers whose code is others' can be a user who may read nothing else. Who may connect can delay and
//! lose parcels, and nothing else: what they carry is closed end to end.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::parcel::{HEAD, LONGEST, Parcel};
use super::{LinkError, failed, of_io};

/// How often it is looked whether it is over.
const SLICE: Duration = Duration::from_millis(10);

/// How long a courier may take to say what it brings, or to take what it gets.
const VISIT_TIME: Duration = Duration::from_secs(20);

/// No courier waits for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// So many couriers at once; the next is turned away.
const MOST_VISITS: usize = 32;

/// What is done with what a courier brings, by when; what it is to take along.
pub(crate) type Exchange = Arc<dyn Fn(Option<Parcel>, Instant) -> Option<Parcel> + Send + Sync>;

/// The socket, until it is dropped.
#[derive(Debug)]
pub(crate) struct CourierSocket {
    path: PathBuf,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl CourierSocket {
    pub fn new(path: &Path, exchange: Exchange) -> Result<Self, LinkError> {
        let listener = bind(path)?;
        listener.set_nonblocking(true).map_err(|error| of_io(&error))?;
        let over = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&over);
        let visits = Arc::new(AtomicUsize::new(0));
        let thread = std::thread::spawn(move || {
            while !own.load(Ordering::Relaxed) {
                let Ok((stream, _)) = listener.accept() else {
                    std::thread::sleep(SLICE);
                    continue;
                };
                if visits.fetch_add(1, Ordering::Relaxed) >= MOST_VISITS {
                    visits.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let (exchange, visits) = (Arc::clone(&exchange), Arc::clone(&visits));
                std::thread::spawn(move || {
                    // A courier that leaves too early comes again.
                    let _ = visit(stream, &exchange);
                    visits.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        Ok(CourierSocket { path: path.to_owned(), over, thread: Some(thread) })
    }
}

impl Drop for CourierSocket {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // Who finds no socket knows that nobody is there.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Who may come to a socket in this folder.
fn mode(folder: &Path) -> std::io::Result<u32> {
    let shared = std::fs::metadata(folder)?.mode() & 0o2000 != 0;
    Ok(if shared { 0o660 } else { 0o600 })
}

/// A socket of its mode at `path`, from its first moment on: it is made in a folder of its own that nobody
/// else can enter, and moved.
fn bind(path: &Path) -> Result<UnixListener, LinkError> {
    let refuse = |why: &str| Err(failed(format!("the socket {}: {why}", path.display())));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let hidden = folder.join(format!(".rt{}", std::process::id()));
    if let Err(error) = DirBuilder::new().mode(0o700).create(&hidden) {
        return refuse(&format!("no socket can be made beside it: {}", error.kind()));
    }
    let made = hidden.join("s");
    let bound = UnixListener::bind(&made).and_then(|listener| {
        std::fs::set_permissions(&made, std::fs::Permissions::from_mode(mode(folder)?))?;
        Ok((listener, std::fs::symlink_metadata(&made)?.uid()))
    });
    let placed = match bound {
        Ok((listener, me)) => match free(path, me) {
            Ok(()) => std::fs::rename(&made, path)
                .map(|()| listener)
                .map_err(|error| error.kind().to_string()),
            Err(why) => Err(why.to_owned()),
        },
        Err(error) => Err(error.to_string()),
    };
    let _ = std::fs::remove_file(&made);
    let _ = std::fs::remove_dir(&hidden);
    placed.or_else(|why| refuse(&why))
}

/// Whether nothing is there but an old socket of one's own, at which nobody is.
fn free(path: &Path, me: u32) -> Result<(), &'static str> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err("there is a file of another kind");
    }
    if found.uid() != me {
        return Err("it is another user's");
    }
    match UnixStream::connect(path) {
        Ok(_) => Err("another command is there already"),
        Err(_) => Ok(()),
    }
}

/// One courier.
fn visit(mut stream: UnixStream, exchange: &Exchange) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    let until = Instant::now() + VISIT_TIME;
    let mut front = [0; 8];
    read_by(&mut stream, &mut front, until)?;
    let [a, b, c, d, e, f, g, h] = front;
    let wait = Duration::from_millis(u64::from(u32::from_le_bytes([a, b, c, d])));
    let length = u32::from_le_bytes([e, f, g, h]) as usize;
    if length > HEAD + LONGEST {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut packed = vec![0; length];
    read_by(&mut stream, &mut packed, until)?;
    let brought = match length {
        0 => None,
        _ => Some(Parcel::unpack(&packed).map_err(|_| ErrorKind::InvalidData)?),
    };
    let taken = exchange(brought, Instant::now() + wait.min(LONGEST_WAIT));
    let packed = taken.map_or_else(Vec::new, |parcel| parcel.pack());
    stream.set_write_timeout(Some(VISIT_TIME))?;
    stream.write_all(&(packed.len() as u32).to_le_bytes())?;
    stream.write_all(&packed)
}

fn read_by(stream: &mut UnixStream, mut buffer: &mut [u8], until: Instant) -> std::io::Result<()> {
    while !buffer.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => buffer = &mut buffer[read..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

//! The Unix socket for couriers. A visit is one connection: the courier says how long it waits and
//! hands in a parcel or none; in return it gets a parcel or none.
//!
//! The socket belongs to its owner (mode 600), or to its group too if the folder passes its group
//! on (setgid): so couriers that run foreign code can be a user with no other rights. A courier can
//! delay and lose parcels and do nothing else: the content is encrypted end to end.

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

/// The interval at which the listener checks whether it should stop.
const SLICE: Duration = Duration::from_millis(10);

/// The longest time to hand in or to take a parcel.
const VISIT_TIME: Duration = Duration::from_secs(20);

/// The longest wait of a courier.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The largest number of couriers at once; further ones are rejected.
const MOST_VISITS: usize = 32;

/// Handles a parcel that a courier brings, and returns the one to take along.
pub(crate) type Exchange = Arc<dyn Fn(Option<Parcel>, Instant) -> Option<Parcel> + Send + Sync>;

/// The socket; dropping it closes it.
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
        // A missing socket tells couriers that nobody listens.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The file mode of a socket in this folder.
fn mode(folder: &Path) -> std::io::Result<u32> {
    let shared = std::fs::metadata(folder)?.mode() & 0o2000 != 0;
    Ok(if shared { 0o660 } else { 0o600 })
}

/// Binds a socket that has its mode from its first moment: it is created in a private folder and
/// then moved.
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

/// Checks that the path is free, or has an unused socket of the same owner.
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

/// Serves one courier.
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

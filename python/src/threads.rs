//! The threads of a process that was forked. Those of its parent are not in it, and whoever waits
//! for one of them waits for ever; so such a process has a pool of its own.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process in which the usual threads were first asked for: they are in no other.
static HOME: OnceLock<u32> = OnceLock::new();

/// The pool of a process that was forked from that one.
static OWN: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Works without the interpreter's lock, with threads that are there.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| with_threads(work))
}

/// Works with threads that are there.
pub fn with_threads<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let process = std::process::id();
    if *HOME.get_or_init(|| process) == process {
        return Ok(work());
    }
    Ok(own(process)?.install(work))
}

fn own(process: u32) -> PyResult<Arc<ThreadPool>> {
    let mut kept = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, pool)) = &*kept
        && *of == process
    {
        return Ok(pool.clone());
    }
    let made = ThreadPoolBuilder::new().build();
    let pool = Arc::new(made.map_err(|_| PyOSError::new_err("no thread could be started"))?);
    // The threads of the one before are in the process that this one was forked from.
    std::mem::forget(kept.replace((process, pool.clone())));
    Ok(pool)
}

//! Whether somebody pressed Ctrl-C while the library is at work.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use reticent::Stage;

use crate::threads::with_threads;

/// How often is looked: seldom enough to cost nothing, often enough for a person.
const PAUSE: Duration = Duration::from_millis(20);

/// Looks for signals at every stage, and says stop when a handler raised.
#[derive(Debug)]
pub struct Signals {
    last: Instant,
}

impl Signals {
    pub fn new() -> Self {
        Signals { last: Instant::now() }
    }

    pub fn watch(&mut self, _stage: Stage) -> ControlFlow<()> {
        if self.last.elapsed() < PAUSE {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        if raised() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Whether a handler of a signal raised. What it raised is not kept: the error that the stop becomes
/// says what was spent.
fn raised() -> bool {
    Python::attach(|py| py.check_signals()).is_err()
}

/// What whoever is told of progress says, by whether it is to stop.
pub fn unless(stop: &AtomicBool) -> ControlFlow<()> {
    match stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

/// Does work that many threads share, on a thread of its own, and looks for signals on this one,
/// where alone Python shows them. `work` is told to stop through its argument.
pub fn attended<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    let done = py.detach(|| {
        thread::scope(|scope| {
            let worker = scope.spawn(|| with_threads(|| work(&stop)));
            while !worker.is_finished() {
                thread::sleep(PAUSE);
                if raised() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join()
        })
    });
    match done {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

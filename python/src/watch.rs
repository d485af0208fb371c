//! Whether somebody pressed Ctrl-C while the library is at work.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use reticent::Stage;

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
        // What the handler raised is not kept: the error that the stop becomes says what was spent.
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

//! A sign of life for whatever takes more than two seconds: what is being done and how many
//! iterations, nothing that is computed from the data, and no time, which depends on what is in
//! them. On standard error, and only when that is a terminal.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::answer::aside;
use indicatif::{ProgressBar, ProgressStyle};
use reticent::{Progress, Stage, UtilityForecast};

/// What is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often a waiting line moves.
const TICK: Duration = Duration::from_millis(200);

/// The line where iterations are not told.
const LINE: &str = "{spinner} {msg}";

/// What the bar shows of this many of what is counted.
fn shown(word: &str) -> String {
    format!("{{bar:30}} {word} {{pos}} of {{len}}")
}

/// The same with the time that is left, for what is public: of private records it would tell.
fn shown_with_time_left(word: &str) -> String {
    format!("{}, {{eta}} left", shown(word))
}

static QUIET: AtomicBool = AtomicBool::new(false);

/// Shows nothing from now on.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Says at once what must not wait for the end.
pub fn said(remark: &str) {
    if !is_quiet() {
        aside(remark);
    }
}

/// Says, before anything is asked, where little is to be expected of a run.
pub fn foretold(outlook: &UtilityForecast) {
    if let Some(warning) = outlook.warning() {
        said(&warning);
    }
}

/// A bar where iterations are told, and a line that moves where they are not.
#[derive(Debug)]
pub struct JobBar {
    start: Instant,
    /// What is counted, for example iterations.
    word: &'static str,
    time_left: bool,
    bar: Option<ProgressBar>,
    waiting: Option<Waiting>,
}

impl JobBar {
    /// Starts the clock.
    pub fn new(word: &'static str) -> Self {
        JobBar { start: Instant::now(), word, time_left: false, bar: None, waiting: None }
    }

    /// The same with the time that is left: for runs on public data alone.
    pub fn with_time_left(word: &'static str) -> Self {
        JobBar { time_left: true, ..JobBar::new(word) }
    }

    /// Takes the bar away.
    pub fn finish(mut self) {
        self.waiting = None;
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn wait(&mut self, what: &'static str) {
        // The one before is taken away first.
        self.waiting = None;
        self.waiting = Waiting::new(what, self.start);
    }
}

impl JobBar {
    /// Shows the stage of a job, and lets it go on.
    pub fn watch(&mut self, stage: Stage) -> ControlFlow<()> {
        match stage {
            Stage::Reading => self.wait("reading the table"),
            Stage::Calibrating => self.wait("calibrating the noise"),
            Stage::Running => self.wait("running"),
            Stage::Iteration(Progress { done, of }) => self.iteration(done, of),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Shows so many of so many.
    pub fn iteration(&mut self, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        } else if self.start.elapsed() > PATIENCE && !is_quiet() {
            self.waiting = None;
            let bar = ProgressBar::new(of);
            let template = if self.time_left { shown_with_time_left } else { shown };
            let style = ProgressStyle::with_template(&template(self.word));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_position(done);
            self.bar = Some(bar);
        }
    }
}

/// Does something that does not tell how far it is.
pub fn waiting<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let _line = Waiting::new(what, Instant::now());
    work()
}

/// A line that moves, from a thread of its own; gone when it is dropped.
#[derive(Debug)]
struct Waiting {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// `None` where no thread can be had: then there is no line.
    fn new(what: &'static str, start: Instant) -> Option<Self> {
        if is_quiet() {
            return None;
        }
        let (stop, stopped) = mpsc::channel();
        let show = move || {
            let left = PATIENCE.saturating_sub(start.elapsed());
            if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let line = ProgressBar::new_spinner().with_message(what);
            let style = ProgressStyle::with_template(LINE);
            line.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                line.tick();
            }
            line.finish_and_clear();
        };
        let thread = thread::Builder::new().spawn(show).ok()?;
        Some(Waiting { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Without its sender the thread comes to its end.
        self.stop = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_has_no_time() {
        for template in [LINE.to_owned(), shown("iteration")] {
            let clock = ["elapsed", "eta", "duration", "per_sec"]
                .iter()
                .any(|word| template.contains(word));
            assert!(!clock && ProgressStyle::with_template(&template).is_ok(), "{template}");
        }
    }
}

//! A bar for long fits: iterations and time, nothing that is computed from the data.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use reticent::Progress;

/// A fit that is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// The bar, once there is one. On standard error, and only when that is a terminal.
#[derive(Debug)]
pub struct Bar {
    start: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// Starts the clock.
    pub fn new() -> Self {
        Bar { start: Instant::now(), bar: None }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bar {
    fn iteration(&mut self, done: u64, of: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        } else if self.start.elapsed() > PATIENCE {
            let bar = ProgressBar::new(of).with_elapsed(self.start.elapsed());
            let style = "{bar:40} iteration {pos} of {len}, {elapsed} gone, {eta} to go";
            bar.set_style(
                ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar.set_position(done);
            self.bar = Some(bar);
        }
    }
}

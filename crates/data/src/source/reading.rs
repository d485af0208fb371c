//! How a file is to be read, beyond what its schema says.

use super::Format;

/// The longest record that is read, in bytes, unless more is asked for.
const LINE: usize = 64_000_000;

/// How a file is to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The format, where the name does not tell.
    pub format: Option<Format>,
    /// The longest record of a text file, in bytes; 64 MB by default.
    pub max_line: Option<u64>,
}

impl From<Option<Format>> for ReadOptions {
    fn from(format: Option<Format>) -> Self {
        Self { format, max_line: None }
    }
}

/// What may not be exceeded.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadLimits {
    pub(super) line: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { line: LINE }
    }
}

impl ReadOptions {
    /// These with fields set: `ReadOptions::from(format).with(|it| it.max_line = Some(1 << 20))`.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// These, and what they leave open as `other` says.
    pub fn or(self, other: Self) -> Self {
        ReadOptions {
            format: self.format.or(other.format),
            max_line: self.max_line.or(other.max_line),
        }
    }

    /// All of them: for whoever keeps what was read, and must tell it from what another option reads.
    #[doc(hidden)]
    pub fn fields(self) -> (Option<Format>, Option<u64>) {
        let ReadOptions { format, max_line } = self;
        (format, max_line)
    }

    pub(super) fn limits(self) -> ReadLimits {
        let most = usize::MAX / 4;
        ReadLimits {
            line: self.max_line.map_or(LINE, |n| usize::try_from(n).unwrap_or(most).min(most)),
        }
    }
}

//! Differential-privacy accounting: events in, proven bounds out.

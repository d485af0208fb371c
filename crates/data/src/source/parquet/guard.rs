//! A damaged file is no reason to end the program: where the library panics over one, that is an
//! error.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is caught and not spoken of.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The answer of `f`, or `None` where it panicked; what `f` touched is not to be used then.
pub(super) fn guarded<T>(f: impl FnOnce() -> T) -> Option<T> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let answer = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(outer);
    answer.ok()
}

//! Many runs, some of them at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

/// Does `work` for each of `runs`, up to `at_a_time` of them at once; `told` hears how many are
/// over, and of how many. After an error or a panic nothing more is begun, and what was begun ends.
/// Where the system has no more threads, fewer are at work.
///
/// Threads of their own and not rayon's: runs wait for each other where they share a pass.
pub fn in_parallel<E: Send>(
    runs: Vec<usize>,
    at_a_time: usize,
    work: impl Fn(usize) -> Result<(), E> + Sync,
    told: &mut dyn FnMut(usize, usize),
) -> Result<(), E> {
    let count = runs.len();
    let queue = Mutex::new(runs.into_iter());
    let stop = AtomicBool::new(false);
    let (tell, heard) = mpsc::channel();
    // A function of its own gives the lock back before the run begins: in the condition of the loop
    // it would be held until the run is over, and everybody else would wait.
    let next = || locked(&queue).next();
    let (stop, work, next) = (&stop, &work, &next);
    let worker = move |tell: mpsc::Sender<Result<(), E>>| {
        move || {
            let _watched = StopOnPanic(stop);
            while !stop.load(Ordering::Relaxed)
                && let Some(run) = next()
            {
                let done = work(run);
                stop.fetch_or(done.is_err(), Ordering::Relaxed);
                let _ = tell.send(done);
            }
        }
    };
    std::thread::scope(|scope| {
        let mut at_work = 0;
        for _ in 0..at_a_time.clamp(1, count.max(1)) {
            let thread = std::thread::Builder::new();
            match thread.spawn_scoped(scope, worker(tell.clone())) {
                Ok(_) => at_work += 1,
                Err(_) => break,
            }
        }
        if at_work == 0 {
            worker(tell.clone())();
        }
        drop(tell);
        let mut ended = Ok(());
        for (over, done) in heard.into_iter().enumerate() {
            told(over + 1, count);
            ended = ended.and(done);
        }
        ended
    })
}

/// Lets nobody begin anything more where a worker panics.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

/// The content of a lock, also after a panic of its holder.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Condvar;
    use std::time::Duration;

    /// Each run waits until all four are under way.
    #[test]
    fn runs_are_under_way_at_the_same_time() {
        let (under_way, changed) = (Mutex::new(0), Condvar::new());
        let work = |_| {
            let mut count = locked(&under_way);
            *count += 1;
            changed.notify_all();
            let enough = Duration::from_secs(20);
            let waited = changed.wait_timeout_while(count, enough, |count| *count < 4);
            let late = waited.unwrap().1;
            if late.timed_out() { Err("nobody else came") } else { Ok(()) }
        };
        let mut heard = Vec::new();
        let ended = in_parallel((0..4).collect(), 4, work, &mut |over, of| heard.push((over, of)));
        assert_eq!(ended, Ok(()));
        assert_eq!(heard, [(1, 4), (2, 4), (3, 4), (4, 4)]);
    }

    #[test]
    fn nothing_is_begun_after_an_error() {
        let begun = Mutex::new(Vec::new());
        let work = |run| {
            locked(&begun).push(run);
            if run == 2 { Err("the disk is full") } else { Ok(()) }
        };
        let ended = in_parallel((0..9).collect(), 1, work, &mut |_, _| ());
        assert_eq!(ended, Err("the disk is full"));
        assert_eq!(*locked(&begun), [0, 1, 2]);
    }

    /// The others did all that was left.
    #[test]
    fn nothing_is_begun_after_a_panic() {
        let (begun, panics) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        let work = |run: usize| -> Result<(), ()> {
            locked(&begun).push(run);
            if run == 0 {
                panics.store(true, Ordering::Relaxed);
                panic!("as a test");
            }
            // Nobody is over before the other is on its way out.
            while !panics.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(300));
            Ok(())
        };
        let all = || in_parallel((0..50).collect(), 2, work, &mut |_, _| ());
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(all)).is_err());
        assert!(locked(&begun).len() < 10, "{:?}", locked(&begun));
    }
}

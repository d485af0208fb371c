//! How many threads a pass is worth.

use std::ops::Range;

use rayon::prelude::*;

/// Additions that take about as long as to wake another thread. The tests of this crate want
/// threads for tables of a few rows.
const WAKING: usize = if cfg!(test) { 1 } else { 1 << 15 };

/// Each row costs as much as this many additions besides its own: its score, its slope, its norm.
const PER_ROW: usize = 8;

/// The number of threads to share `count` rows, each of which is added to `len` sums.
pub fn for_pass(count: usize, len: usize) -> usize {
    if count.saturating_mul(len + PER_ROW) < WAKING {
        return 1;
    }
    rayon::current_num_threads().clamp(1, count.max(1))
}

/// The rows of thread `t` of so many.
pub fn share(count: usize, threads: usize, t: usize) -> Range<usize> {
    let share = count.div_ceil(threads).max(1);
    (t * share).min(count)..((t + 1) * share).min(count)
}

/// Does something for each thread's part. One part is done where it is asked for: a pool would have
/// to be woken for it.
pub fn for_each<T: Send>(parts: &mut [T], run: impl Fn(usize, &mut T) + Sync) {
    match parts {
        [part] => run(0, part),
        many => many.par_iter_mut().enumerate().for_each(|(t, part)| run(t, part)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_one_threads() {
        for (count, threads) in [(0, 1), (1, 1), (5, 2), (7, 7), (9, 4), (1000, 3)] {
            let rows: Vec<usize> = (0..threads).flat_map(|t| share(count, threads, t)).collect();
            assert_eq!(rows, (0..count).collect::<Vec<_>>());
        }
    }
}

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

/// Entries that one thread looks at: those of a block of a cache file, which has a thread already, are
/// fewer.
const PIECE: usize = if cfg!(test) { 8 } else { 1 << 20 };

/// Whether something holds for all of so many entries, looked at in pieces.
pub fn hold(count: usize, holds: impl Fn(Range<usize>) -> bool + Sync) -> bool {
    let piece = |k: usize| k * PIECE..((k + 1) * PIECE).min(count);
    match count <= PIECE {
        true => holds(0..count),
        false => (0..count.div_ceil(PIECE)).into_par_iter().all(|k| holds(piece(k))),
    }
}

/// Fills a slice piece by piece, told where each begins, with pieces of fewer entries where an entry
/// stands for several numbers.
pub fn fill<T: Send>(all: &mut [T], numbers: usize, fill: impl Fn(usize, &mut [T]) + Sync) {
    let piece = (PIECE / numbers.max(1)).max(1);
    match all.len() <= piece {
        true => fill(0, all),
        false => {
            all.par_chunks_mut(piece).enumerate().for_each(|(k, entries)| fill(k * piece, entries))
        }
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

    #[test]
    fn pieces_are_the_whole() {
        for len in [0, 1, PIECE, 5 * PIECE + 3] {
            for numbers in [0, 1, 3, 100] {
                let mut all = vec![0; len];
                fill(&mut all, numbers, |first, entries| {
                    entries.iter_mut().enumerate().for_each(|(k, entry)| *entry = first + k);
                });
                assert!(all.iter().enumerate().all(|(at, entry)| at == *entry), "{len}, {numbers}");
                assert!(hold(len, |piece| all[piece].iter().all(|entry| *entry < len)));
                for wrong in [0, len / 2, len.saturating_sub(1)] {
                    let found = hold(len, |piece| all[piece].iter().all(|entry| *entry != wrong));
                    assert_eq!(found, len == 0, "{wrong}");
                }
            }
        }
    }
}

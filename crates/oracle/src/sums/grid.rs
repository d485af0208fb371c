//! The grid on which sums are exact.
//!
//! A clipped vector is rounded, coordinate by coordinate, to integer multiples of `g ≈ C·2⁻³²`,
//! with `C` the clip. Integers add without error and in any order, so
//!
//! - two neighbouring sums differ by exactly the rounded vector of the changed record: the
//!   sensitivity is that of *one* record, and no error bound of a summation tree has to be added to
//!   it;
//! - the bits do not depend on the number of threads.
//!
//! Rounding may lengthen a vector of `len` coordinates by at most `√len/2` steps, so vectors are
//! clipped that much further in, to `limit` steps, and `g` is `C/limit`: what is summed has norm at
//! most `2³²` steps, and the noise is measured in the same steps. See
//! proofs/sensitivity-clipped-sum.md.

use super::private::length_above;

/// Steps of the grid per clip, as a power of two.
pub const BITS: u32 = 32;

/// `C` in steps of the grid.
const CLIP: f64 = (1_u64 << BITS) as f64;

/// Adding and subtracting it rounds a double below 2⁵¹ in magnitude to the nearest integer. A
/// vector instruction each, where `f64::round` is a call.
pub const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²

/// Rows that may be added up in doubles before an integer of 2³² steps a row could pass 2⁵³.
pub const ROWS_PER_FLUSH: usize = 1 << 20;

/// The most records a table may have, so that no sum of them passes an `i64`.
pub const MAX_RECORDS: usize = 1 << 30;

/// The grid of vectors with a given number of coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    limit: f64,
}

impl Grid {
    /// A grid for vectors of `len` coordinates.
    pub fn new(len: usize) -> Self {
        // The factor covers the few roundings of the norm, of the quotient and of the products;
        // each is below 2⁻⁵² relative, and norms are rounded up by their makers.
        Grid { limit: (CLIP - 0.5 * (len as f64).sqrt() - 1.0) * (1.0 - 2e-12) }
    }

    /// A grid of clips of so many steps.
    pub(super) fn within(limit: f64) -> Self {
        Grid { limit }
    }

    /// One step of the grid, in the units of the vectors: the clip over the limit.
    pub fn step(&self, clip: f64) -> f64 {
        clip / self.limit
    }

    /// What to multiply a vector with to have it clipped and in steps of the grid, given an upper
    /// bound of its norm and the clip. Never more than `limit/norm`; the same work for every
    /// record.
    #[inline(always)]
    pub fn factor(&self, norm_above: f64, clip: f64) -> f64 {
        let scale = self.limit / norm_above.max(clip);
        // A norm of ∞ or NaN cannot come from finite rows and parameters that the callers checked,
        // but if it did, the record must count as nothing rather than as everything.
        if scale.is_finite() { scale } else { 0.0 }
    }

    /// A vector clipped to norm `clip`, in steps of the grid.
    pub fn clipped(&self, vector: &[f64], clip: f64) -> Vec<i64> {
        let factor = self.factor(length_above(vector), clip);
        vector.iter().map(|v| nearest(v * factor) as i64).collect()
    }
}

/// How long a row of `width` coordinates may be before it is rounded to integers, so that its square is
/// no longer than a clip: rounding lengthens it by at most `√width/2`.
pub fn row_limit(width: usize) -> f64 {
    (CLIP.sqrt() - 0.5 * (width as f64).sqrt() - 1.0) * (1.0 - 2e-12)
}

/// The nearest integer, as a double.
#[inline(always)]
pub fn nearest(steps: f64) -> f64 {
    (steps + MAGIC) - MAGIC
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nearest_rounds_to_integers() {
        for (value, rounded) in
            [(0.4, 0.0), (0.6, 1.0), (-1.4, -1.0), (-1.6, -2.0), (4294967296.25, 4294967296.0)]
        {
            assert_eq!(nearest(value), rounded);
        }
    }

    /// The vectors that rounding lengthens most: all coordinates alike, a little more than half a
    /// step above an integer. Random ones never come near `√len/2`.
    #[test]
    fn rounding_every_coordinate_up_does_not_pass_the_clip() {
        let mut longest_push = 0.0_f64;
        for len in 1..20_000_usize {
            let entry = 1.0 / (len as f64).sqrt();
            let exact = entry * Grid::new(len).factor(1.0, 1.0);
            let step = nearest(exact) as u128;
            assert!(step * step * len as u128 <= 1 << (2 * BITS), "{len} coordinates");
            longest_push = longest_push.max((nearest(exact) - exact) / entry);
        }
        assert!(longest_push > 60.0, "the search must find such vectors: {longest_push} steps");
    }

    proptest! {
        /// Whatever the vector, what is summed is no longer than the clip.
        #[test]
        fn a_rounded_vector_is_never_longer_than_the_clip(
            vector in prop::collection::vec(prop_oneof![-1e3..1e3f64, -1e-300..1e-300f64, -1e150..1e150f64], 1..200),
            clip in prop_oneof![1e-6..1e6f64, 1e-150..1e-140f64],
        ) {
            let norm = vector.iter().map(|v| v * v).sum::<f64>().sqrt() * (1.0 + 1e-13);
            let factor = Grid::new(vector.len()).factor(norm, clip);
            let squares: u128 = vector
                .iter()
                .map(|v| nearest(v * factor) as i128)
                .map(|step| (step * step) as u128)
                .sum();
            prop_assert!(squares <= 1_u128 << (2 * BITS), "{squares}");
        }
    }
}

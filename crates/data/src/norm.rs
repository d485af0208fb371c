//! Rows into a ball: `a ← a · min(1, R/‖a‖)`, rounded inward.
//!
//! The privacy proof uses ‖a‖ ≤ R for the numbers as stored, so the inequality has to hold for the
//! rounded result in exact arithmetic. With u = 2⁻⁵³ and n values, a sum of squares in floating
//! point is within a factor 1 ± (n + 1)u of the exact one; a root, a quotient and a product add a
//! few u more. Shrinking the factor by (n + 8)·2u therefore covers all of them, and also leaves
//! room for a reader that sums in another order. Values below the normal range may lose all
//! relative precision, but only by 2⁻¹⁰⁷⁴ each, far under that room as long as R ≥ [`SMALLEST`].

/// Smallest row norm that a schema may declare.
pub(crate) const SMALLEST: f64 = 1e-100;
/// Largest row norm that a schema may declare.
pub(crate) const LARGEST: f64 = 1e100;

/// Scales `values` so that their Euclidean norm is at most `bound`; leaves them alone when it is
/// already.
///
/// `values` must be finite and `bound` between 1e-100 and 1e100 (a [`crate::Schema`] has checked
/// both).
pub fn shrink_into(values: &mut [f64], bound: f64) {
    let room = (values.len() as f64 + 8.0) * f64::EPSILON;
    // In one go: a sum and a maximum wait for themselves alone.
    let (mut squares, mut largest) = (0.0_f64, 0.0_f64);
    for v in values.iter() {
        squares += v * v;
        largest = if v.abs() > largest { v.abs() } else { largest };
    }
    if squares <= bound * bound * (1.0 - 2.0 * room) {
        return;
    }
    if squares <= bound * bound && exactly_inside(values, bound) {
        return;
    }
    // Dividing by the largest first keeps squares of huge values finite.
    let mut relative = 0.0_f64;
    for v in values.iter_mut() {
        *v /= largest;
        relative += *v * *v;
    }
    let factor = bound / relative.sqrt() * (1.0 - room);
    for v in values {
        *v *= factor;
    }
}

/// Whether ‖values‖ ≤ bound without any rounding on the way; `false` when a step rounds. It saves
/// rows such as four ones under R = 2, which are on the sphere exactly, from becoming 0.9999….
fn exactly_inside(values: &[f64], bound: f64) -> bool {
    let limit = bound * bound;
    if bound.mul_add(bound, -limit) != 0.0 {
        return false;
    }
    let mut sum = 0.0_f64;
    for &v in values {
        let square = v * v;
        let next = sum + square;
        let exact = v.mul_add(v, -square) == 0.0 && next - sum == square && next - square == sum;
        if !exact || (v != 0.0 && square < f64::MIN_POSITIVE) {
            return false;
        }
        sum = next;
    }
    sum <= limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Norm of `values` against `bound` in twice the precision: Σ (v/bound)² with the rounding
    /// errors kept.
    fn excess(values: &[f64], bound: f64) -> f64 {
        // Powers of two change no mantissa, so bring the bound near 1 first.
        let scale = 2.0_f64.powi(-(bound.log2().round() as i32));
        let (mut high, mut low) = (0.0_f64, 0.0_f64);
        let mut add = |x: f64| {
            let s = high + x;
            let b = s - high;
            low += (high - (s - b)) + (x - b);
            high = s;
        };
        for v in values {
            let w = v * scale;
            add(w * w);
            add(w.mul_add(w, -(w * w)));
        }
        let b = bound * scale;
        add(-(b * b));
        add(-b.mul_add(b, -(b * b)));
        high + low
    }

    #[test]
    fn rows_on_the_sphere_stay() {
        let mut row = [1.0; 4];
        shrink_into(&mut row, 2.0);
        assert_eq!(row, [1.0; 4]);
        let mut row = [0.6, 0.8];
        shrink_into(&mut row, 1.0);
        assert!(excess(&row, 1.0) <= 0.0);
    }

    #[test]
    fn zero_and_empty_rows_stay() {
        let mut row = [0.0, 0.0];
        shrink_into(&mut row, 1.0);
        assert_eq!(row, [0.0, 0.0]);
        shrink_into(&mut [], 1.0);
    }

    #[test]
    fn huge_and_tiny_values_survive() {
        let mut row = [f64::MAX, -f64::MAX, f64::MIN_POSITIVE / 4.0];
        shrink_into(&mut row, 1.0);
        assert!((row[0] - 0.5_f64.sqrt()).abs() < 1e-14 && row[0] == -row[1]);
        let mut row = [5e-324, 1e-310];
        shrink_into(&mut row, SMALLEST);
        assert_eq!(row, [5e-324, 1e-310]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn never_outside(
            row in prop::collection::vec(prop_oneof![prop::num::f64::NORMAL, prop::num::f64::SUBNORMAL,
                prop::num::f64::ZERO, -1.0..1.0, Just(1.0), Just(-1.0), -1e160..1e160], 0..40),
            bound in prop_oneof![Just(1.0), Just(2.0), 0.01..10.0, Just(SMALLEST), Just(LARGEST)],
        ) {
            let mut scaled = row.clone();
            shrink_into(&mut scaled, bound);
            prop_assert!(excess(&scaled, bound) <= 0.0);
            prop_assert!(scaled.iter().map(|v| v * v).sum::<f64>().sqrt() <= bound);
            let naive = row.iter().map(|v| v * v).sum::<f64>().sqrt();
            if naive < bound * (1.0 - 1e-12) {
                prop_assert_eq!(&scaled, &row);
            } else {
                // Shrunk, but no further than rounding asks.
                prop_assert!(excess(&scaled, bound * (1.0 - 1e-12)) >= 0.0);
            }
            if scaled != row {
                // To the bit, as one would write it down.
                let largest = row.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                let relative: f64 = row.iter().map(|v| (v / largest).powi(2)).sum();
                let room = (row.len() as f64 + 8.0) * f64::EPSILON;
                let factor = bound / relative.sqrt() * (1.0 - room);
                let wanted: Vec<f64> = row.iter().map(|v| v / largest * factor).collect();
                prop_assert_eq!(scaled, wanted);
            }
        }
    }
}

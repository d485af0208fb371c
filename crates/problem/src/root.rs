//! The root of an increasing function on an interval that holds it.

/// Newton's method kept inside a shrinking bracket `[lo, hi]`, with bisection wherever Newton
/// leaves it or is slow. `f` gives value and slope; it is taken to be ≤ 0 at `lo` and ≥ 0 at `hi`.
///
/// It always ends: an iteration either halves the step before last or halves the bracket, and it
/// stops when a step no longer changes the point beyond rounding.
pub(crate) fn increasing_root(mut lo: f64, mut hi: f64, f: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut u = lo + 0.5 * (hi - lo);
    let (mut before_last, mut last) = (hi - lo, hi - lo);
    // Twice the bits of a double, for bisection and the Newton steps between.
    for _ in 0..256 {
        let (value, slope) = f(u);
        if value == 0.0 {
            return u;
        }
        if value < 0.0 {
            lo = u;
        } else {
            hi = u;
        }
        let newton = u - value / slope;
        let next = if newton > lo && newton < hi && (newton - u).abs() < 0.5 * before_last.abs() {
            newton
        } else {
            lo + 0.5 * (hi - lo)
        };
        before_last = last;
        last = next - u;
        if last.abs() <= 0.5 * f64::EPSILON * next.abs()
            || next == lo && u == lo
            || next == hi && u == hi
        {
            return next;
        }
        u = next;
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_roots_of_easy_and_nasty_functions() {
        let cube = increasing_root(-1.0, 3.0, |u| (u * u * u - 2.0, 3.0 * u * u));
        assert!((cube - 2f64.cbrt()).abs() < 1e-15);
        // Flat almost everywhere: Newton alone jumps out at once.
        let step = increasing_root(-1e4, 1e4, |u| {
            let t = (50.0 * (u - 7.25)).tanh();
            (t, 50.0 * (1.0 - t * t))
        });
        assert!((step - 7.25).abs() < 1e-14);
        // A jump has no root; the answer is the place of the jump.
        let jump = increasing_root(-1.0, 2.0, |u| (if u < 0.3 { -1.0 } else { 1.0 }, 0.0));
        assert!((jump - 0.3).abs() < 1e-15);
        // A root of order 21, where Newton alone would still be 1e-6 away after all its steps.
        let flat = increasing_root(-2.0, 1.0, |u| ((u - 0.3).powi(21), 21.0 * (u - 0.3).powi(20)));
        assert!((flat - 0.3).abs() < 1e-14, "{flat}");
        // A bracket of one point.
        assert_eq!(increasing_root(2.0, 2.0, |u| (u, 1.0)), 2.0);
    }
}

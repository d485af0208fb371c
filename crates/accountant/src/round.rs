//! Outward rounding by name: a bound that is handed out has been moved away from the truth by more
//! than the arithmetic that made it can have erred.

/// Relative error of one elementary operation.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// `value` moved up by `operations` roundings' worth, and by at least the smallest step.
pub(crate) fn up(value: f64, operations: f64) -> f64 {
    (value + value.abs() * operations * UNIT).next_up()
}

/// `value` moved down by `operations` roundings' worth, and by at least the smallest step.
pub(crate) fn down(value: f64, operations: f64) -> f64 {
    (value - value.abs() * operations * UNIT).next_down()
}

/// An ε or δ never is negative.
pub(crate) fn down_to_zero(value: f64, operations: f64) -> f64 {
    crate::outward::at_least(down(value, operations), 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outward_is_outward() {
        for value in [-1e300, -1.0, -0.0, 0.0, 1e-300, 0.1, 7.0] {
            assert!(up(value, 4.0) > value);
            assert!(down(value, 4.0) < value);
        }
        assert_eq!(up(f64::INFINITY, 1.0), f64::INFINITY);
        assert_eq!(down_to_zero(1e-320, 1e6), down(1e-320, 1e6));
        assert_eq!(down_to_zero(0.0, 1.0), 0.0);
    }
}

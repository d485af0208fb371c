//! Numbers for people: four significant digits, rounded outward where they promise something.
//!
//! A number is compared with its digits as they are read back, so that what can be shown exactly is,
//! and nothing else is taken to be exact.

/// Four significant digits, the nearest; an exponent only where it is shorter.
pub fn four_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor();
    if (-4.0..6.0).contains(&magnitude) {
        let decimals = (3.0 - magnitude).max(0.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.3e}")
    }
}

/// The same, never less than the value: for what is promised.
pub fn four_digits_up(value: f64) -> String {
    four_digits(outward(value, 1.0, |shown| shown >= value))
}

/// The same, never more than the value: for a lower end.
pub fn four_digits_down(value: f64) -> String {
    four_digits(outward(value, -1.0, |shown| shown <= value))
}

/// The nearest of the numbers with four digits that `fits`, going from the value in one direction.
fn outward(value: f64, direction: f64, fits: impl Fn(f64) -> bool) -> f64 {
    let read = |value: f64| four_digits(value).parse::<f64>().unwrap_or(value);
    let near = read(value);
    if !value.is_finite() || fits(near) {
        return near;
    }
    // A whole number has all its digits shown.
    let unit = 10_f64.powf(value.abs().log10().floor() - 3.0);
    let unit = if value.abs() < 1e6 { unit.min(1.0) } else { unit };
    read(near + direction * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_is_never_shown_as_less_than_holds() {
        // A number that is within rounding of one with four digits, and above it.
        let above = [1.000_000_000_000_1, 0.05 * (1.0 + 1e-13), 12_345.000_001, 1.234e9 + 1.0];
        assert_eq!(above.map(four_digits_up), ["1.001", "0.05001", "12346", "1.235e9"]);
        assert_eq!(above.map(four_digits_down), ["1.000", "0.05000", "12345", "1.234e9"]);
        let exact = [1.0, 0.05, 0.3, 1e-6, 12_345.0, 123_456.0, 0.0, -0.0];
        for value in exact {
            let shown = four_digits(value);
            assert_eq!((four_digits_up(value), four_digits_down(value)), (shown.clone(), shown));
        }
        assert_eq!(
            (four_digits_up(0.999_99), four_digits_down(0.999_99)),
            ("1.000".into(), "0.9999".into())
        );
        assert_eq!(
            (four_digits_up(-1.23456), four_digits_down(-1.23456)),
            ("-1.234".into(), "-1.235".into())
        );
        assert_eq!(four_digits_up(f64::INFINITY), "inf");
    }

    #[test]
    fn ends_are_outward_wherever_they_are() {
        let mut value = 1e-9_f64;
        while value < 1e9 {
            for at in [value, -value, value * (1.0 + f64::EPSILON)] {
                let read = |text: String| text.parse::<f64>().unwrap_or(f64::NAN);
                let (low, high) = (read(four_digits_down(at)), read(four_digits_up(at)));
                assert!(low <= at && at <= high && high - low <= 1.01e-3 * at.abs(), "{at}");
            }
            value *= 1.037_3;
        }
    }
}

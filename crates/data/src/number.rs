//! Text to number.

/// Powers of ten that a double holds exactly.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The number in `text`, or `None` when it is not one. Infinite and NaN come back as such: the
/// caller refuses them with a message of their own.
///
/// Plain decimals of up to 15 digits, most of what tables hold, take the short way: digits and
/// power of ten are exact in a double, so that their quotient is rounded once, as it should be. The
/// rest goes through the standard library, which rounds correctly.
#[inline]
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    short(text).or_else(|| long(text))
}

/// The number in `text` where it takes the short way, which has no spaces.
#[inline]
pub(crate) fn short(text: &[u8]) -> Option<f64> {
    match text {
        [b'-', rest @ ..] => plain(rest).map(|x| -x),
        _ => plain(text),
    }
}

/// The way for everything, kept out of the loop over fields.
#[cold]
fn long(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The short way; `None` where it leads nowhere.
#[inline]
fn plain(text: &[u8]) -> Option<f64> {
    // Sixteen bytes are fifteen digits and a point, or too many digits.
    if !(1..=16).contains(&text.len()) || text[0] == b'.' {
        return None;
    }
    let (before, whole) = digits(text, 0);
    match &text[before..] {
        [] => (before <= 15).then_some(whole as f64),
        [b'.', places @ ..] => {
            let (found, all) = digits(places, whole);
            (found == places.len()).then(|| all as f64 / TENS[found])
        }
        _ => None,
    }
}

/// How many digits `text` begins with, and the number that they make behind those of `before`.
#[inline]
fn digits(text: &[u8], before: u64) -> (usize, u64) {
    let mut whole = before;
    for (at, &byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (at, whole);
        }
        whole = whole * 10 + u64::from(digit);
    }
    (text.len(), whole)
}

/// `digits · 10^-places` where that is an integer.
#[cfg(any(test, feature = "parquet"))]
pub(crate) fn without_places(digits: i128, places: i32) -> Option<i128> {
    if digits == 0 {
        return Some(0);
    }
    let ten = 10_i128.checked_pow(places.unsigned_abs())?;
    if places < 0 {
        return digits.checked_mul(ten);
    }
    (digits % ten == 0).then(|| digits / ten)
}

/// `digits · 10^-places`, rounded once.
#[cfg(any(test, feature = "parquet"))]
pub(crate) fn decimal(digits: i128, places: i32) -> f64 {
    const EXACT: i128 = 1 << 53;
    match usize::try_from(places).ok().and_then(|p| TENS.get(p)) {
        Some(ten) if (-EXACT..=EXACT).contains(&digits) => digits as f64 / ten,
        _ => format!("{digits}e{}", -i64::from(places)).parse().unwrap_or(f64::NAN),
    }
}

/// The truth value in `text`, as the usual programs write it.
pub(crate) fn truth(text: &[u8]) -> Option<bool> {
    match text {
        b"true" | b"True" | b"TRUE" => Some(true),
        b"false" | b"False" | b"FALSE" => Some(false),
        _ => None,
    }
}

/// A number in half precision, from its bits.
#[cfg(any(test, feature = "parquet"))]
pub(crate) fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + fraction) * 2_f64.powi(e - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_what_is_no_number() {
        for text in ["", "-", "+", "1,5", "0x10", "1 2", "--1", "é", "1_000"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!([parse(b"."), parse(b"-."), parse(b"1.2.3")], [None; 3]);
        assert_eq!([parse(b".5"), parse(b"5."), parse(b"-0")], [Some(0.5), Some(5.0), Some(-0.0)]);
        assert_eq!(
            [0x3c00, 0xc000, 0x0001, 0x7bff].map(half),
            [1.0, -2.0, 2_f64.powi(-24), 65504.0]
        );
        assert!(parse(b"1e999").is_some_and(f64::is_infinite));
        assert!(parse(b"NaN").is_some_and(f64::is_nan));
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(x in any::<f64>(), n in any::<i64>()) {
            prop_assert_eq!(parse(n.to_string().as_bytes()), Some(n as f64));
            prop_assert_eq!(parse(format!("{x:e}").as_bytes()).map(f64::to_bits), Some(x.to_bits()));
        }

        #[test]
        fn decimals_are_rounded_once(n in -999_999_999_999_999_i64..=999_999_999_999_999, places in 0..15_usize) {
            let negative = if n < 0 { "-" } else { "" };
            let digits = format!("{:0width$}", n.unsigned_abs(), width = places + 1);
            let (whole, part) = digits.split_at(digits.len() - places);
            let text = format!("{negative}{whole}.{part}");
            prop_assert_eq!(parse(text.as_bytes()), text.parse().ok(), "{}", text);
            prop_assert_eq!(Some(decimal(i128::from(n), places as i32)), text.parse().ok(), "{}", text);
        }
    }
}

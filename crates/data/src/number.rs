//! Text to number.

/// The number in `text`, or `None` when it is not one. Infinite and NaN come back as such: the caller refuses
/// them with a message of their own.
///
/// Plain integers of up to 15 digits, most of what tables hold, are exact in a double and take the short way;
/// the rest goes through the standard library, which rounds correctly.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    if (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        let whole = digits.iter().fold(0_u64, |n, d| n * 10 + u64::from(d - b'0')) as f64;
        return Some(if negative { -whole } else { whole });
    }
    std::str::from_utf8(text).ok()?.parse().ok()
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
        assert!(parse(b"1e999").is_some_and(f64::is_infinite));
        assert!(parse(b"NaN").is_some_and(f64::is_nan));
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(x in any::<f64>(), n in any::<i64>()) {
            prop_assert_eq!(parse(n.to_string().as_bytes()), Some(n as f64));
            prop_assert_eq!(parse(format!("{x:e}").as_bytes()).map(f64::to_bits), Some(x.to_bits()));
        }
    }
}

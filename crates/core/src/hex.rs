//! Bytes as lower-case hexadecimal digits.

use std::fmt::Write;

/// Two digits a byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes that [`hex`] writes so; `None` for any other text, upper case among them.
#[must_use]
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = 16 * digit(pair[0])? + digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_and_read_in_one_way() {
        assert_eq!(hex(&[10, 255]), "0aff");
        assert_eq!(from_hex::<2>("0aff"), Some([10, 255]));
        for text in ["", "0af", "0aff0", "0aFF", "0a f", "0xff", "äf"] {
            assert_eq!(from_hex::<2>(text), None, "{text}");
        }
    }
}

//! Times as seconds since 1970, and marks that people would choose.

use reticent_core::calendar::{day_number, day_text};

/// Seconds since 1970 of a time such as `2026-05-04T03:02:01Z`; `None` for any other text.
#[must_use]
pub fn seconds(time: &str) -> Option<f64> {
    let bytes = time.as_bytes();
    let shape = b"0000-00-00T00:00:00Z";
    let fits = |(given, wanted): (&u8, &u8)| match wanted {
        b'0' => given.is_ascii_digit(),
        other => given == other,
    };
    if bytes.len() != shape.len() || !bytes.iter().zip(shape).all(fits) {
        return None;
    }
    let part = |at: usize, length: usize| time[at..at + length].parse::<i64>().ok();
    let (year, month, date) = (part(0, 4)?, part(5, 2)?, part(8, 2)?);
    let (hour, minute, second) = (part(11, 2)?, part(14, 2)?, part(17, 2)?);
    let possible = (1..=12).contains(&month)
        && (1..=31).contains(&date)
        && hour < 24
        && minute < 60
        && second < 61;
    let days = day_number(year, month, date);
    possible.then(|| (days * 86_400 + hour * 3_600 + minute * 60 + second) as f64)
}

/// The day of a time, as `2026-05-04`.
#[must_use]
pub fn day(seconds: f64) -> String {
    day_text((seconds / 86_400.0).floor() as i64)
}

/// From a minute to ten years.
const STEPS: [f64; 17] = [
    60.0,
    300.0,
    900.0,
    3_600.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    604_800.0,
    1_209_600.0,
    2_592_000.0,
    7_776_000.0,
    15_552_000.0,
    31_536_000.0,
    63_072_000.0,
    315_360_000.0,
];

/// Marks between two times, at most `most`, with what to write at each.
pub(crate) fn marks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let enough = |step: &f64| (high - low) / step <= most as f64;
    let step = STEPS.into_iter().find(enough).unwrap_or((high - low) / most as f64);
    let clock = step < 86_400.0;
    let words = |at: f64| {
        let of_day = at.rem_euclid(86_400.0) as i64;
        if clock && of_day != 0 {
            format!("{:02}:{:02}", of_day / 3_600, of_day % 3_600 / 60)
        } else {
            day(at)
        }
    };
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    let last = last.min(first.saturating_add(most as i64 + 1));
    (first..=last).map(|k| k as f64 * step).map(|at| (at, words(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_there_and_back() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(seconds("2000-02-29T12:00:00Z"), Some(951_825_600.0));
        assert_eq!(seconds("2026-11-16T07:27:56Z"), Some(1_794_814_076.0));
        assert_eq!(day(951_825_600.0), "2000-02-29");
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026-11-16",
            "2026-13-16T07:27:56Z",
            "2026-11-16T27:27:56Z",
            "ä026-11-1T07:27:56Z",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn marks_are_few_and_round() {
        let start = 1_794_814_076.0;
        for span in [100.0, 4_000.0, 90_000.0, 1e6, 3e7, 1e9] {
            let marks = marks(start, start + span, 5);
            assert!((1..=6).contains(&marks.len()), "{span}: {marks:?}");
        }
        let words: Vec<_> = marks(0.0, 7_200.0, 5).into_iter().map(|(_, words)| words).collect();
        assert_eq!(words, ["1970-01-01", "01:00", "02:00"]);
    }
}

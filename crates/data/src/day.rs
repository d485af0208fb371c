//! Days of the calendar as numbers: 1970-01-01 is 0.

/// The first and the last day that have four digits for the year.
pub(crate) const FIRST: i64 = -719_162;
pub(crate) const LAST: i64 = 2_932_896;

/// The day in `text`: `YYYY-MM-DD`, with a time of day behind it or not; the time is left aside.
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    let (date, time) = text.split_at_checked(10)?;
    let number = |digits: &[u8]| {
        let all = digits.iter().all(u8::is_ascii_digit);
        all.then(|| digits.iter().fold(0_i64, |n, d| n * 10 + i64::from(d - b'0')))
    };
    let (year, month, day) = (number(&date[..4])?, number(&date[5..7])?, number(&date[8..])?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let is_time = |rest: &[u8]| {
        rest.len() >= 5 && rest.iter().all(|b| b.is_ascii_digit() || b"+-:.Z".contains(b))
    };
    let behind = match time {
        [] => true,
        [b'T' | b' ', rest @ ..] => is_time(rest),
        _ => false,
    };
    let fits =
        date[4] == b'-' && date[7] == b'-' && year >= 1 && (1..=days).contains(&day) && behind;
    fits.then(|| number_of(year, month, day))
}

/// Years that begin in March, so that the odd day of a leap year is their last.
fn number_of(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The day that is so many days after 1970-01-01, as `YYYY-MM-DD`.
pub fn text(day: i64) -> String {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}-{month:02}-{date:02}", year + era * 400 + i64::from(month <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_comes_back() {
        assert_eq!([parse(b"1970-01-01"), parse(b"2000-03-01")], [Some(0), Some(11_017)]);
        assert_eq!([parse(b"0001-01-01"), parse(b"9999-12-31")], [Some(FIRST), Some(LAST)]);
        for day in (FIRST..=LAST).step_by(97) {
            assert_eq!(parse(text(day).as_bytes()), Some(day));
        }
        let day = parse(b"2024-02-29");
        assert_eq!(parse(b"2024-02-29T23:59:59.5Z"), day);
        assert_eq!(parse(b"2024-02-29 00:00:00+02:00"), day);
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for text in [
            "",
            "2023-02-29",
            "2024-13-01",
            "2024-00-10",
            "2024-1-1",
            "01.02.2024",
            "2024-01-01x",
            "2024-01-01Tx",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}

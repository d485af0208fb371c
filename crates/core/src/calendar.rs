//! Days of the Gregorian calendar as numbers: 1970-01-01 is 0.

/// The number of a day. Years begin in March here, so that the leap day is the last of its year.
#[must_use]
pub fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of the month of a day.
#[must_use]
pub fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, date)
}

/// A day as `YYYY-MM-DD`.
#[must_use]
pub fn day_text(day: i64) -> String {
    let (year, month, date) = date_of(day);
    format!("{year:04}-{month:02}-{date:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_one_another() {
        assert_eq!([day_number(1970, 1, 1), day_number(2000, 3, 1)], [0, 11_017]);
        assert_eq!(day_text(day_number(2024, 2, 29)), "2024-02-29");
        let mut before = date_of(-719_163);
        for day in -719_162..=2_932_896 {
            let (year, month, date) = date_of(day);
            assert_eq!(day_number(year, month, date), day);
            let next = match before {
                (y, m, d) if (year, month) == (y, m) => d + 1 == date,
                (y, m, _) if year == y => m + 1 == month && date == 1,
                (y, 12, 31) => y + 1 == year && (month, date) == (1, 1),
                _ => false,
            };
            assert!(next, "{before:?} is not before {year}-{month}-{date}");
            before = (year, month, date);
        }
    }
}

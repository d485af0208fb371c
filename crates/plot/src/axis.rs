//! An axis: where a number is on it, and where its marks are.

use crate::time;

/// How numbers lie on an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum AxisScale {
    Linear,
    Log,
    Share,
    Time,
}

/// One of the two axes of a picture.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Axis {
    pub(crate) label: String,
    scale: AxisScale,
    from_zero: bool,
    reach: Option<f64>,
    within: Option<(f64, f64)>,
}

impl Axis {
    fn new(label: &str, scale: AxisScale) -> Self {
        Self { label: label.to_owned(), scale, from_zero: false, reach: None, within: None }
    }

    /// Equal steps are equally long.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self::new(label, AxisScale::Linear)
    }

    /// Equal factors are equally long; what is not above 0 is left out.
    #[must_use]
    pub fn log(label: &str) -> Self {
        Self::new(label, AxisScale::Log)
    }

    /// A share from 0 to 1, whatever the points are; others are left out.
    #[must_use]
    pub fn share(label: &str) -> Self {
        Self::new(label, AxisScale::Share)
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn time(label: &str) -> Self {
        Self::new(label, AxisScale::Time)
    }

    /// Begins at 0, so that lengths can be compared.
    #[must_use]
    pub fn from_zero(self) -> Self {
        Self { from_zero: true, ..self }
    }

    /// Goes at least so far.
    #[must_use]
    pub fn reaching(self, value: f64) -> Self {
        Self { reach: value.is_finite().then_some(value), ..self }
    }

    /// Has no numbers but those between these two; others are left out.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        Self { within: (low < high).then_some((low, high)), ..self }
    }

    /// Whether equal factors are equally long.
    #[must_use]
    pub fn is_log(&self) -> bool {
        self.scale == AxisScale::Log
    }

    /// Whether a number can be on it.
    pub(crate) fn takes(&self, value: f64) -> bool {
        if self.within.is_some_and(|(low, high)| !(low..=high).contains(&value)) {
            return false;
        }
        match self.scale {
            AxisScale::Log => value > 0.0 && value.is_finite(),
            AxisScale::Share => (0.0..=1.0).contains(&value),
            AxisScale::Linear | AxisScale::Time => value.is_finite() && value.abs() < 1e15,
        }
    }

    /// The axis over these numbers, drawn from `start` to `end`, with at most about `marks` marks.
    pub(crate) fn over(
        &self,
        values: impl Iterator<Item = f64>,
        (start, end): (f64, f64),
        marks: usize,
    ) -> DrawnAxis {
        let numbers = values.filter(|value| self.takes(*value));
        let (low, high) = numbers
            .chain(self.reach.filter(|reach| self.takes(*reach)))
            .chain(self.from_zero.then_some(0.0).filter(|zero| self.takes(*zero)))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = if low <= high { (low, high) } else { self.default_range() };
        let (range, marks) = match self.scale {
            AxisScale::Share => ((0.0, 1.0), shares(marks)),
            AxisScale::Linear => linear(low, high, marks),
            AxisScale::Log => log(low, high, marks),
            AxisScale::Time => {
                let room = if low < high { 0.0 } else { 1_800.0 };
                let range = (low - room, high + room);
                (range, time::marks(range.0, range.1, marks))
            }
        };
        DrawnAxis { log: self.scale == AxisScale::Log, range, from: start, to: end, marks }
    }

    fn default_range(&self) -> (f64, f64) {
        match self.scale {
            AxisScale::Log => (0.1, 1.0),
            AxisScale::Linear | AxisScale::Share => (0.0, 1.0),
            AxisScale::Time => (0.0, 86_400.0),
        }
    }
}

/// An axis on the paper.
#[derive(Debug)]
pub(crate) struct DrawnAxis {
    log: bool,
    range: (f64, f64),
    from: f64,
    to: f64,
    /// Where there is a mark, and what is written at it.
    pub marks: Vec<(f64, String)>,
}

impl DrawnAxis {
    /// The place of a number.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let scaled = |value: f64| if self.log { value.log10() } else { value };
        let (low, high) = (scaled(self.range.0), scaled(self.range.1));
        let part = (scaled(value) - low) / (high - low);
        self.from + part * (self.to - self.from)
    }
}

type Marked = ((f64, f64), Vec<(f64, String)>);

fn shares(marks: usize) -> Vec<(f64, String)> {
    let parts = if marks >= 5 { 5 } else { 4 };
    (0..=parts)
        .map(|k| f64::from(k) / f64::from(parts))
        .map(|share| (share, format!("{share}")))
        .collect()
}

/// Marks at round numbers, and a range that ends at marks.
fn linear(low: f64, high: f64, marks: usize) -> Marked {
    let spread = if high > low { high - low } else { low.abs().max(1.0) };
    let step = round_step(spread / marks.max(1) as f64);
    let first = (low / step).floor();
    let last = (high / step).ceil().max(first + 1.0);
    // As many digits as the step has: 3 × 0.2 is not 0.6 in binary.
    let digits = (-step.log10().floor()).clamp(0.0, 15.0) as usize;
    let count = (last - first) as usize;
    let marks = (0..=count).map(|k| first + k as f64).map(|k| {
        let value = k * step;
        (value, format!("{:.digits$}", if k == 0.0 { 0.0 } else { value }))
    });
    ((first * step, last * step), marks.collect())
}

/// The least of 1, 2, 5 times a power of ten that is not below.
pub(crate) fn round_step(rough: f64) -> f64 {
    if !(rough > 0.0 && rough.is_finite()) {
        return 1.0;
    }
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|k| k * power);
    steps.into_iter().find(|step| *step >= rough * (1.0 - 1e-12)).unwrap_or(10.0 * power)
}

/// Marks at powers of ten, thinned out where there are many; where there is room, also at 2 and 5.
fn log(low: f64, high: f64, marks: usize) -> Marked {
    let (mut low, mut high) = (low, high);
    if high / low < 1.0 + 1e-9 {
        (low, high) = (low / 2.0, high * 2.0);
    }
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let within = |value: f64| value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
    let every = ((decades / marks.max(1) as f64).ceil() as i32).max(1);
    let at = |multiples: &[f64]| -> Vec<(f64, String)> {
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        powers
            .flat_map(|power| multiples.iter().map(move |k| (*k, power)))
            .map(|(k, power)| (k * 10_f64.powi(power), written(k, power)))
            .filter(|(value, _)| within(*value))
            .collect()
    };
    let mut found = at(match decades {
        d if d <= 1.5 => &[1.0, 2.0, 5.0],
        d if d <= 2.5 && marks >= 5 => &[1.0, 3.0],
        _ => &[1.0],
    });
    // Two numbers are the least that a scale can be read by.
    if found.len() < 2 {
        found = at(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }
    if found.len() < 2 {
        let steps = linear(low, high, 3).1.into_iter();
        found = steps.filter(|(value, _)| within(*value)).collect();
    }
    ((low, high), found)
}

/// A multiple of a power of ten as people write it.
fn written(multiple: f64, power: i32) -> String {
    if (-3..=4).contains(&power) {
        let digits = (-power).max(0) as usize;
        return format!("{:.digits$}", multiple * 10_f64.powi(power));
    }
    let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().collect::<Vec<_>>();
    let raised: String = power
        .unsigned_abs()
        .to_string()
        .bytes()
        .filter_map(|digit| digits.get(usize::from(digit - b'0')))
        .collect();
    let sign = if power < 0 { "⁻" } else { "" };
    let before = if multiple == 1.0 { String::new() } else { format!("{multiple}·") };
    format!("{before}10{sign}{raised}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(marked: &Marked) -> Vec<&str> {
        marked.1.iter().map(|(_, words)| words.as_str()).collect()
    }

    #[test]
    fn steps_are_round() {
        assert_eq!(
            [0.2, 1.24, 9.6, 0.014, f64::NAN, 0.0].map(round_step).map(|t| (t * 1e6).round() / 1e6),
            [0.2, 2.0, 10.0, 0.02, 1.0, 1.0]
        );
    }

    #[test]
    fn linear_marks_have_the_digits_of_their_step() {
        assert_eq!(words(&linear(0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(&linear(-3.0, 4.0, 5)), ["-4", "-2", "0", "2", "4"]);
        assert_eq!(linear(0.0, 0.0, 5).0, (0.0, 0.2));
    }

    #[test]
    fn logarithmic_marks_are_at_powers_of_ten() {
        assert_eq!(words(&log(1e-12, 1e-1, 6)), ["10⁻¹²", "10⁻¹⁰", "10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01"]);
        assert_eq!(words(&log(1e-2, 1e2, 6)), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(words(&log(2.0, 30.0, 6)), ["2", "5", "10", "20"]);
        assert_eq!(words(&log(1e-6, 1e-5, 6)), ["10⁻⁶", "2·10⁻⁶", "5·10⁻⁶", "10⁻⁵"]);
        assert!(!words(&log(3.0, 3.0, 6)).is_empty());
        assert_eq!(words(&log(0.21, 0.45, 6)), ["0.3", "0.4"]);
        assert!(words(&log(0.412, 0.437, 6)).len() >= 2);
    }

    #[test]
    fn what_cannot_be_on_an_axis_is_not_taken() {
        assert!(!Axis::log("").takes(0.0) && !Axis::log("").takes(-1.0));
        assert!(!Axis::share("").takes(1.5) && Axis::share("").takes(1.0));
        assert!(!Axis::linear("").takes(f64::NAN) && !Axis::time("").takes(1e300));
    }

    #[test]
    fn an_axis_without_numbers_is_still_an_axis() {
        for axis in [Axis::linear(""), Axis::log(""), Axis::share(""), Axis::time("")] {
            let drawn = axis.over(std::iter::empty(), (0.0, 100.0), 5);
            assert!(drawn.marks.iter().all(|(value, _)| drawn.at(*value).is_finite()));
        }
    }
}

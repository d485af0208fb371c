//! How the noise of a run on a graph is dealt to its steps.

use reticent_oracle::Refused;

reticent_oracle::words! {
    /// The noise of each step that touches data, beside that of the first. A budget is kept
    /// whatever it is: the calibration scales all of them.
    #[derive(Default)]
    pub enum NoiseSchedule = "noise_schedule" {
        /// The same in all.
        #[default]
        Constant = "constant",
        /// Each has so many times the noise of the one before: below 1 late answers are the
        /// sharper ones.
        Geometric(factor: f64 where factor.is_finite() && factor > 0.0)
            = "geometric" ":Q with Q > 0 (each step Q times the noise of the one before)",
    }
}

/// Steps whose noise is further apart than this are not worth asking for.
const MOST_APART: f64 = 1e4;

impl NoiseSchedule {
    /// The same, if over so many steps it stays within what is worth asking for.
    ///
    /// # Errors
    /// If the first and the last step are too far apart.
    pub fn over(self, steps: u32) -> Result<Self, Refused> {
        let last = self.at(steps.max(1));
        if (1.0 / MOST_APART..=MOST_APART).contains(&last) {
            return Ok(self);
        }
        let allowed = format!(
            "over {steps} steps the noise may change by a factor of at most {MOST_APART:e}: give a factor nearer to \
             1, or fewer iterations"
        );
        Err(Refused::new("noise_schedule", self, allowed))
    }

    /// The noise of step `number`, counted from 1 among those that touch data, over that of the
    /// first.
    pub fn at(self, number: u32) -> f64 {
        match self {
            NoiseSchedule::Constant => 1.0,
            NoiseSchedule::Geometric(factor) => factor.powf(f64::from(number.saturating_sub(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_as_it_says_and_not_without_end() {
        let half: NoiseSchedule = "geometric:0.5".parse().unwrap();
        assert_eq!([half.at(1), half.at(2), half.at(4)], [1.0, 0.5, 0.125]);
        assert_eq!(NoiseSchedule::Constant.at(7), 1.0);
        assert!(half.over(14).is_ok() && half.over(15).is_err());
        let refused = "geometric:2".parse::<NoiseSchedule>().unwrap().over(50).unwrap_err();
        assert!(refused.to_string().starts_with("noise_schedule = geometric:2: over 50 steps"));
        assert!(NoiseSchedule::Geometric(1e300).over(3).is_err());
        for text in ["geometric", "geometric:0", "geometric:-1", "geometric:NaN", "linear:1"] {
            assert!(text.parse::<NoiseSchedule>().is_err(), "{text}");
        }
    }
}

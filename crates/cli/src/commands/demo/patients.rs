//! Invented patients, the same at every run.
//!
//! ```text
//! log-odds of a stroke = −2.8 + 0.07·(age − 50) + 0.03·(pressure − 130) + 1.2·smoker + 0.4·(region = north)
//! ```

use std::fmt::Write;

/// Patients to learn from.
pub const MANY: u32 = 5_000;
/// Patients to try the model on.
pub const FEW: u32 = 1_000;

/// What is known of the columns without looking at a patient.
pub const SCHEMA: &str = r#"# What may be known about patients.csv without looking at anybody in it.

row_norm = 2.0            # longer rows are scaled down to this length

[[column]]
name = "age"              # adults; 90 stands for "90 and above"
kind = "numeric"
lower = 18
upper = 90

[[column]]
name = "blood_pressure"   # systolic, mmHg: the scale of the device
kind = "numeric"
lower = 80
upper = 200

[[column]]
name = "smoker"
kind = "categorical"
categories = ["no", "yes"]

[[column]]
name = "region"
kind = "categorical"
categories = ["north", "east", "south", "west"]

[[column]]
name = "stroke"           # within ten years
kind = "target"
classes = ["no", "yes"]
"#;

/// A table of `count` patients; each `group` has its own.
pub fn table(group: u64, count: u32) -> String {
    let mut dice = Dice(group << 40);
    let mut text = String::from("age,blood_pressure,smoker,region,stroke\n");
    for _ in 0..count {
        let age = (18.0 + 72.0 * dice.throw().max(dice.throw() * 0.9)).floor();
        let pressure =
            (95.0 + 0.45 * (age - 18.0) + 40.0 * (dice.throw() + dice.throw() - 0.6)).round();
        let smoker = dice.throw() < 0.24;
        let region = ["north", "east", "south", "west"][(dice.throw() * 4.0) as usize];
        let log_odds = -2.8
            + 0.07 * (age - 50.0)
            + 0.03 * (pressure - 130.0)
            + if smoker { 1.2 } else { 0.0 }
            + if region == "north" { 0.4 } else { 0.0 };
        let stroke = dice.throw() < 1.0 / (1.0 + f64::exp(-log_odds));
        let word = |yes: bool| if yes { "yes" } else { "no" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{age},{pressure},{},{region},{}", word(smoker), word(stroke));
    }
    text
}

/// SplitMix64 (Steele, Lea, Flood 2014): enough for invented patients, and never used for noise.
struct Dice(u64);

impl Dice {
    /// A number in [0, 1).
    fn throw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_fit_the_schema_and_are_not_one_sided() {
        let text = table(0, MANY);
        assert_eq!(text.lines().count(), 1 + MANY as usize);
        let strokes = text.lines().filter(|line| line.ends_with(",yes")).count();
        assert!((600..2_500).contains(&strokes), "{strokes}");
        assert_ne!(table(0, 10), table(1, 10));
    }
}

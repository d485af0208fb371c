//! A claim of a paper, and what came of it.

use crate::statistics::Mean;

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The difference is as claimed and exceeds its standard error.
    Held,
    /// It is the other way round, by more than its standard error.
    DidNotHold,
    /// It is within its standard error, or there is none.
    Tie,
}

impl Verdict {
    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Held => "held",
            Verdict::DidNotHold => "did not hold",
            Verdict::Tie => "tie",
        }
    }

    fn of(holds: bool) -> Self {
        if holds { Verdict::Held } else { Verdict::DidNotHold }
    }
}

/// Which version of an algorithm a claim was checked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// With the noise that has a certificate.
    Certified,
    /// As the paper prints it, where that has less privacy than it says.
    AsPublished,
    /// As the paper prints it, where that is private and wasteful.
    Printed,
    /// Without noise.
    WithoutNoise,
    /// About numbers that no model is trained for.
    Accounting,
}

impl Version {
    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Version::Certified => "certified",
            Version::AsPublished => "as published (NOT PRIVATE)",
            Version::Printed => "as published (private, with more noise than is needed)",
            Version::WithoutNoise => "without noise (NOT PRIVATE)",
            Version::Accounting => "accounting",
        }
    }
}

/// A claim that was checked.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What is claimed, in a sentence.
    pub text: String,
    /// Of which version.
    pub version: Version,
    /// What came of it.
    pub verdict: Verdict,
    /// The numbers that it rests on.
    pub numbers: String,
}

impl Claim {
    /// That `less` is less than `more`, run by run: both have an entry for each seed.
    pub fn less(text: &str, version: Version, less: &[f64], more: &[f64]) -> Self {
        let apart: Vec<f64> = less.iter().zip(more).map(|(less, more)| more - less).collect();
        let by = Mean::of(&apart);
        let verdict = match by {
            Mean { value, error, .. } if value > error => Verdict::Held,
            Mean { value, error, .. } if value < -error => Verdict::DidNotHold,
            // NaN is neither: one run decides nothing.
            _ => Verdict::Tie,
        };
        let numbers = format!(
            "{} against {}; difference {} over {} seeds",
            Mean::of(less).words(),
            Mean::of(more).words(),
            by.words(),
            by.runs
        );
        Claim { text: text.to_owned(), version, verdict, numbers }
    }

    /// That `more` is more than `less`.
    pub fn more(text: &str, version: Version, more: &[f64], less: &[f64]) -> Self {
        let minus = |values: &[f64]| values.iter().map(|v| -v).collect::<Vec<_>>();
        let Claim { verdict, .. } = Claim::less(text, version, &minus(more), &minus(less));
        let apart: Vec<f64> = more.iter().zip(less).map(|(more, less)| more - less).collect();
        let by = Mean::of(&apart);
        let numbers = format!(
            "{} against {}; difference {} over {} seeds",
            Mean::of(more).words(),
            Mean::of(less).words(),
            by.words(),
            by.runs
        );
        Claim { text: text.to_owned(), version, verdict, numbers }
    }

    /// That something holds that no chance is in.
    pub fn fact(text: &str, holds: bool, numbers: String) -> Self {
        let (version, verdict) = (Version::Accounting, Verdict::of(holds));
        Claim { text: text.to_owned(), version, verdict, numbers }
    }

    /// Whether it held.
    pub fn held(&self) -> bool {
        self.verdict == Verdict::Held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(less: &[f64], more: &[f64]) -> Verdict {
        Claim::less("", Version::Certified, less, more).verdict
    }

    #[test]
    fn a_claim_is_held_only_beyond_its_standard_error() {
        assert_eq!(verdict(&[1.0, 1.1, 0.9], &[2.0, 2.2, 1.9]), Verdict::Held);
        assert_eq!(verdict(&[2.0, 2.2, 1.9], &[1.0, 1.1, 0.9]), Verdict::DidNotHold);
        assert_eq!(verdict(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.1]), Verdict::Tie);
        assert_eq!(verdict(&[1.0], &[2.0]), Verdict::Tie, "one run decides nothing");
        assert_eq!(verdict(&[1.0, 1.0], &[1.0, 1.0]), Verdict::Tie, "the same bits are a tie");
        assert_eq!(verdict(&[1.0, f64::NAN], &[2.0, 2.0]), Verdict::Tie);
        let more = Claim::more("", Version::Certified, &[2.0, 2.1], &[1.0, 1.2]);
        assert!(more.held() && more.numbers.starts_with("2.0500"), "{}", more.numbers);
    }
}

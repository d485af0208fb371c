//! A claim of a paper, what came of it, and why.
//!
//! A claim about models compares two methods, seed by seed: both have the same rows and the same
//! seed, so that differences are paired. The verdict rests on Student's interval of the mean
//! difference with coverage 95 %. Over several ε the mean is that of log ratios for what is a gap or
//! a loss, so that no ε outweighs another, and each ε has a verdict of its own beside it.

use serde::{Deserialize, Serialize};

use crate::report::Series;
use crate::statistics::{Interval, SampleMean, number};

/// What came of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClaimVerdict {
    /// The whole interval is as claimed.
    Held,
    /// The whole interval is the other way round.
    DidNotHold,
    /// The interval contains the border, or there is none.
    Undecided,
}

impl ClaimVerdict {
    /// Every verdict.
    pub const ALL: [ClaimVerdict; 3] =
        [ClaimVerdict::Held, ClaimVerdict::DidNotHold, ClaimVerdict::Undecided];

    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            ClaimVerdict::Held => "held",
            ClaimVerdict::DidNotHold => "did not hold",
            ClaimVerdict::Undecided => "undecided",
        }
    }

    fn of(holds: bool) -> Self {
        if holds { ClaimVerdict::Held } else { ClaimVerdict::DidNotHold }
    }

    /// That these differences are above 0 in the mean.
    fn above(differences: &[f64]) -> Self {
        match Interval::of(differences) {
            Interval { low, .. } if low > 0.0 => ClaimVerdict::Held,
            Interval { high, .. } if high < 0.0 => ClaimVerdict::DidNotHold,
            // NaN is neither: one run decides nothing.
            _ => ClaimVerdict::Undecided,
        }
    }
}

/// Which version of an algorithm a claim or a curve is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// What is written into a picture of it; nothing for what is private.
    pub(crate) fn stamp(self) -> Option<&'static str> {
        match self {
            Version::AsPublished => Some("NOT PRIVATE: as published"),
            Version::WithoutNoise => Some("NOT PRIVATE: without noise"),
            Version::Certified | Version::Printed | Version::Accounting => None,
        }
    }
}

/// Why a claim did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The paper's own: an open constant, an erratum, a baseline by another accountant.
    Paper,
    /// Our setting is not the paper's.
    Setting,
    /// A default of ours.
    Default,
}

impl Class {
    /// As it is written.
    pub fn words(self) -> &'static str {
        match self {
            Class::Paper => "(a) the paper's own",
            Class::Setting => "(b) our setting differs",
            Class::Default => "(c) our default",
        }
    }
}

/// Why some claims of an experiment do not hold: data beside the claims, read when the page is
/// written.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    /// Parts of the claim's text, all of which it has.
    pub of: &'static [&'static str],
    /// The version it is about; `None` is every version.
    pub version: Option<Version>,
    /// The class.
    pub class: Class,
    /// One sentence.
    pub why: &'static str,
}

impl Reason {
    /// Whether it is about this claim.
    pub fn explains(&self, claim: &Claim) -> bool {
        self.version.is_none_or(|version| version == claim.version)
            && self.of.iter().all(|part| claim.text.contains(part))
    }
}

/// A claim that was checked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// What is claimed, in a sentence.
    pub text: String,
    /// Of which version.
    pub version: Version,
    /// What came of it.
    pub verdict: ClaimVerdict,
    /// The numbers that it rests on.
    pub numbers: String,
}

impl Claim {
    fn new(text: &str, version: Version, verdict: ClaimVerdict, numbers: String) -> Self {
        Claim { text: text.to_owned(), version, verdict, numbers }
    }

    /// That `less` is less than `more`, run by run: both have an entry for each seed.
    pub fn less(text: &str, version: Version, less: &[f64], more: &[f64]) -> Self {
        let by = differences(more, less);
        let numbers = compared(less, more, &differences(less, more));
        Claim::new(text, version, ClaimVerdict::above(&by), numbers)
    }

    /// That `more` is more than `less`.
    pub fn more(text: &str, version: Version, more: &[f64], less: &[f64]) -> Self {
        let by = differences(more, less);
        Claim::new(text, version, ClaimVerdict::above(&by), compared(more, less, &by))
    }

    /// That the loss, objective or gap of `lower` is below that of `higher` over ε: on the mean log
    /// ratio, so that every ε counts alike, with a verdict at each.
    pub fn lower(text: &str, version: Version, lower: &Series, higher: &Series) -> Self {
        let pairs = shared(lower, higher);
        let ratio = |a: f64, b: f64| (b / a).ln();
        let by = over(&pairs, ratio);
        let Interval { low, high } = Interval::of(&by);
        let numbers = format!(
            "ratio {} {}{}; {}",
            number((-SampleMean::of(&by).value).exp()),
            Interval { low: (-high).exp(), high: (-low).exp() }.words(),
            counted(by.len(), pairs.len()),
            at_each(&pairs, ratio)
        );
        Claim::new(text, version, ClaimVerdict::above(&by), numbers)
    }

    /// That the accuracy or share of `higher` is above that of `lower` over ε: on the mean
    /// difference, with a verdict at each ε.
    pub fn higher(text: &str, version: Version, higher: &Series, lower: &Series) -> Self {
        let pairs = shared(higher, lower);
        let difference = |a: f64, b: f64| a - b;
        let by = over(&pairs, difference);
        let numbers = format!(
            "difference {} {}{}; {}",
            number(SampleMean::of(&by).value),
            Interval::of(&by).words(),
            counted(by.len(), pairs.len()),
            at_each(&pairs, difference)
        );
        Claim::new(text, version, ClaimVerdict::above(&by), numbers)
    }

    /// That something holds that no chance is in.
    pub fn fact(text: &str, holds: bool, numbers: String) -> Self {
        Claim::new(text, Version::Accounting, ClaimVerdict::of(holds), numbers)
    }

    /// Whether it held.
    pub fn held(&self) -> bool {
        self.verdict == ClaimVerdict::Held
    }
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Both means, and their difference with its interval.
fn compared(one: &[f64], other: &[f64], by: &[f64]) -> String {
    format!(
        "{} against {}; difference {} {}, {} seeds",
        SampleMean::of(one).words(),
        SampleMean::of(other).words(),
        number(SampleMean::of(by).value),
        Interval::of(by).words(),
        by.len()
    )
}

/// What both curves have at an x, seed by seed.
type Pair<'s> = (f64, &'s [f64], &'s [f64]);

fn shared<'s>(one: &'s Series, other: &'s Series) -> Vec<Pair<'s>> {
    let both = one.points.iter().map(|(x, values)| (*x, values.as_slice(), other.at(*x)));
    both.filter(|(_, _, values)| !values.is_empty()).collect()
}

/// The mean over all x of what `compare` has, for each seed that every x has.
fn over(pairs: &[Pair<'_>], compare: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let seeds = pairs.iter().map(|(_, a, b)| a.len().min(b.len())).min().unwrap_or(0);
    let at = |seed: usize| pairs.iter().map(|(_, a, b)| compare(a[seed], b[seed])).sum::<f64>();
    (0..seeds).map(|seed| at(seed) / pairs.len() as f64).collect()
}

fn counted(seeds: usize, points: usize) -> String {
    format!(", {points} ε, {seeds} seeds")
}

/// At which ε which verdict is: `held at ε = 0.2, 1; undecided at 0.05`.
fn at_each(pairs: &[Pair<'_>], compare: impl Fn(f64, f64) -> f64) -> String {
    let verdict = |(_, a, b): &Pair<'_>| {
        let by: Vec<f64> = a.iter().zip(*b).map(|(a, b)| compare(*a, *b)).collect();
        ClaimVerdict::above(&by)
    };
    let verdicts: Vec<(f64, ClaimVerdict)> =
        pairs.iter().map(|pair| (pair.0, verdict(pair))).collect();
    let said = ClaimVerdict::ALL.into_iter().filter_map(|wanted| {
        let at = verdicts.iter().filter(|(_, found)| *found == wanted);
        let at: Vec<String> = at.map(|(x, _)| x.to_string()).collect();
        (!at.is_empty()).then(|| format!("{} at ε = {}", wanted.words(), at.join(", ")))
    });
    said.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(less: &[f64], more: &[f64]) -> ClaimVerdict {
        Claim::less("", Version::Certified, less, more).verdict
    }

    #[test]
    fn a_claim_is_held_only_if_its_whole_interval_is() {
        assert_eq!(verdict(&[1.0, 1.1, 0.9], &[2.0, 2.2, 1.9]), ClaimVerdict::Held);
        assert_eq!(verdict(&[2.0, 2.2, 1.9], &[1.0, 1.1, 0.9]), ClaimVerdict::DidNotHold);
        assert_eq!(verdict(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.1]), ClaimVerdict::Undecided);
        assert_eq!(verdict(&[1.0], &[2.0]), ClaimVerdict::Undecided, "one run decides nothing");
        assert_eq!(verdict(&[1.0, 1.0], &[1.0, 1.0]), ClaimVerdict::Undecided, "the same bits");
        assert_eq!(verdict(&[1.0, f64::NAN], &[2.0, 2.0]), ClaimVerdict::Undecided);
        let more = Claim::more("", Version::Certified, &[2.0, 2.1], &[1.0, 1.099]);
        assert!(more.held() && more.numbers.starts_with("2.0500"), "{}", more.numbers);
        assert!(more.numbers.ends_with("2 seeds"), "{}", more.numbers);
    }

    /// More than a standard error, and less than what two degrees of freedom ask for.
    #[test]
    fn a_standard_error_is_not_enough() {
        let (less, more) = ([0.0, 0.0, 0.0], [0.1, 1.0, 2.0]);
        let by = SampleMean::of(&more);
        assert!(by.value > by.error);
        assert_eq!(verdict(&less, &more), ClaimVerdict::Undecided);
    }

    /// Seeds that differ from each other by far more than the methods do.
    #[test]
    fn what_seeds_share_does_not_count() {
        assert_eq!(verdict(&[1.0, 5.0, 9.0], &[1.1, 5.12, 9.09]), ClaimVerdict::Held);
    }

    fn series(points: &[(f64, [f64; 3])]) -> Series {
        let mut series = Series::new("");
        for (x, values) in points {
            values.iter().for_each(|value| series.add(*x, *value));
        }
        series
    }

    /// Better at three ε of four, and far worse at the smallest, which decides an arithmetic mean.
    #[test]
    fn the_smallest_epsilon_does_not_decide_alone() {
        let ours = series(&[
            (0.05, [8.0, 8.1, 7.9]),
            (0.2, [0.50, 0.51, 0.49]),
            (0.5, [0.30, 0.31, 0.29]),
            (1.0, [0.10, 0.11, 0.09]),
        ]);
        let other = series(&[
            (0.05, [4.0, 4.1, 3.9]),
            (0.2, [1.0, 1.02, 0.98]),
            (0.5, [0.60, 0.61, 0.59]),
            (1.0, [0.50, 0.51, 0.49]),
        ]);
        let claim = Claim::lower("", Version::Certified, &ours, &other);
        assert!(claim.held(), "{}", claim.numbers);
        let expected = "4 ε, 3 seeds; held at ε = 0.2, 0.5, 1; did not hold at ε = 0.05";
        assert!(claim.numbers.ends_with(expected), "{}", claim.numbers);
        // The geometric mean of 2, ½, ½ and ⅕ is 0.5623.
        assert!(claim.numbers.starts_with("ratio 0.56"), "{}", claim.numbers);
        let back = Claim::lower("", Version::Certified, &other, &ours);
        assert_eq!(back.verdict, ClaimVerdict::DidNotHold);
        let claim = Claim::higher("", Version::Certified, &ours, &other);
        assert!(claim.held() && claim.numbers.starts_with("difference 0.7"), "{}", claim.numbers);
    }

    #[test]
    fn what_has_no_logarithm_decides_nothing() {
        let (zero, one) = (series(&[(1.0, [0.0, -1.0, 1.0])]), series(&[(1.0, [1.0, 2.0, 3.0])]));
        let claim = Claim::lower("", Version::Certified, &zero, &one);
        assert_eq!(claim.verdict, ClaimVerdict::Undecided);
        let apart = Claim::lower("", Version::Certified, &series(&[(2.0, [1.0; 3])]), &one);
        assert_eq!(apart.verdict, ClaimVerdict::Undecided, "they share no ε");
    }

    #[test]
    fn a_reason_is_of_the_claims_that_have_all_its_parts() {
        let reason = Reason {
            of: &["VRADMM", "on w8a"],
            version: Some(Version::Certified),
            class: Class::Paper,
            why: "Snapshots are paid for.",
        };
        let claim = |text: &str, version| Claim::less(text, version, &[], &[]);
        assert!(reason.explains(&claim("VRADMM is better, on w8a", Version::Certified)));
        assert!(!reason.explains(&claim("VRADMM is better, on w8a", Version::AsPublished)));
        assert!(!reason.explains(&claim("VRADMM is better, on covtype", Version::Certified)));
    }
}

//! What the flags of a program take (feature `clap`): [`Spec`](crate::Spec) and
//! [`Guarantee`](crate::Guarantee) are groups of flags, and keys of a job file under the same names.

/// Above the flags of a job.
pub(crate) const TABLE: &str = "The table";
pub(crate) const BUDGET: &str = "The budget";
pub(crate) const PROBLEM: &str = "The problem";
pub(crate) const TUNING: &str = "Tuning within the budget (docs/tuning.md)";
pub(crate) const RESULT: &str = "The result";

/// Reads a number; whether it is allowed is for the job to say.
///
/// # Errors
/// If it is none.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "this is not a number; write for example 1, 0.5 or 1e-5".to_owned())
}

/// Reads a whole number; a job file holds none beyond 2⁶³.
///
/// # Errors
/// If it is none, or too large.
pub fn whole<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|&number| number <= i64::MAX as u64);
    let fits = number.and_then(|number| T::try_from(number).ok());
    fits.ok_or_else(|| "a whole number from 0 is needed, for example 5".to_owned())
}

/// Reads the ends of a range.
pub(crate) fn range(text: &str) -> Result<[f64; 2], String> {
    let (low, high) = text.split_once(',').ok_or("two numbers are needed, as in 0,100")?;
    Ok([number(low)?, number(high)?])
}

/// One of the words of a family: what a flag takes.
#[doc(hidden)]
#[macro_export]
macro_rules! one_of {
    ($words:ty) => {
        clap::builder::TypedValueParser::try_map(
            clap::builder::PossibleValuesParser::new(<$words>::ALL.iter().map(|one| one.name())),
            |name| name.parse::<$words>(),
        )
    };
}

use thiserror::Error;

/// Why a description such as `l1:1e-4` was refused. Everything in a message is public: names,
/// parameters, and the lines of a graph or matrix file, none of which may come from private data.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// No such member in the family.
    #[error("there is no {family} called `{given}`{suggestion}; the {family} is one of: {allowed}")]
    UnknownName {
        /// The family looked in: loss, penalty or constraint.
        family: &'static str,
        /// The text that was typed.
        given: String,
        /// `; did you mean …?` or nothing.
        suggestion: String,
        /// All the names, with their parameters.
        allowed: String,
    },
    /// More parameters than the member has.
    #[error("`{given}` has {count} parameters; the form is `{form}`")]
    TooMany {
        /// The text that was typed.
        given: String,
        /// How many parameters it has.
        count: usize,
        /// The form that is understood.
        form: String,
    },
    /// A parameter without default is missing.
    #[error("`{given}` lacks {parameter} ({range}); the form is `{form}`")]
    Missing {
        /// The text that was typed.
        given: String,
        /// The name of the parameter.
        parameter: &'static str,
        /// The values that it may have.
        range: String,
        /// The form that is understood.
        form: String,
    },
    /// A parameter that is not a number.
    #[error("{parameter} of `{name}` is `{given}`, which is not a number; it must be {range}")]
    NotANumber {
        /// The loss, penalty or constraint.
        name: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
        /// The text that was typed.
        given: String,
        /// The values that it may have.
        range: String,
    },
    /// A number outside its range.
    #[error("{parameter} of `{name}` is {given}; it must be {range}")]
    OutOfRange {
        /// The loss, penalty or constraint.
        name: &'static str,
        /// The name of the parameter.
        parameter: &'static str,
        /// The value that was given.
        given: String,
        /// The values that it may have.
        range: String,
    },
    /// A constraint that does not fit the number of features.
    #[error("`{name}` does not fit {features} features: {need}")]
    Features {
        /// The loss, penalty or constraint.
        name: String,
        /// Features of the model.
        features: usize,
        /// What it needs to fit.
        need: String,
    },
    /// A line of a graph or matrix that is not understood.
    #[error("{file}line {line}: {problem}")]
    Line {
        /// Where the text came from, as `name, `, or nothing.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong and what is allowed.
        problem: String,
    },
    /// A graph or matrix file that cannot be read.
    #[error("cannot read `{file}`: {problem}")]
    Unreadable {
        /// The name of the file.
        file: String,
        /// What the operating system said.
        problem: String,
    },
}

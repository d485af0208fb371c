//! One refusal, and the flags that are right.

/// A run that must be refused. `message` may end in `…`: then only the beginning counts.
pub struct Case {
    pub line: &'static str,
    pub message: &'static str,
    pub code: i32,
}

pub const fn case(line: &'static str, message: &'static str) -> Case {
    Case { line, message, code: 2 }
}

/// Flags that are right, for the cases that get something else wrong: `GOOD` and `SVM` stand for
/// them in a line.
pub const GOOD: &str = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --out out";
const SVM: &str = "--epsilon 1 --delta 1e-5 --out out";

/// Flags given twice are a mistake; the case wins over the flags that are right.
pub fn line(case: &Case) -> String {
    let own: Vec<&str> =
        case.line.split_whitespace().filter(|word| word.starts_with("--")).collect();
    let keep = |flags: &str| {
        let words: Vec<&str> = flags.split_whitespace().collect();
        words
            .chunks(2)
            .filter(|pair| !own.contains(&pair[0]))
            .flatten()
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    };
    case.line.replace("GOOD", &keep(GOOD)).replace("SVM", &keep(SVM))
}

pub fn is(message: &str, said: &str) -> bool {
    // A usage error is printed on several lines.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match message.strip_suffix('…') {
        Some(beginning) => said.starts_with(beginning.trim_end()),
        None => said == message,
    }
}

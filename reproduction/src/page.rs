//! The page of all experiments that are done: the table of verdicts, and each experiment with its
//! claims, numbers and pictures.

use std::fmt::Write as _;

use crate::claim::{Claim, ClaimVerdict, Class};
use crate::experiment::Experiment;
use crate::results::{Explained, Picture, Results};

/// What is said before the results.
const INTRODUCTION: &str = include_str!("../page.md");

/// Where what people write into the page begins and ends; it is kept when the page is written anew.
const FINDINGS: (&str, &str) = ("<!-- findings -->", "<!-- end of findings -->");

/// An experiment that is done.
pub type Done = (&'static dyn Experiment, Results);

/// The page of these. `before` is the page that it replaces, whose findings are kept.
pub fn page(all: &[Done], before: &str) -> String {
    let mut text = format!("{INTRODUCTION}\n## Results\n\n");
    text.push_str(&counted(all));
    let (begin, end) = FINDINGS;
    let kept = before.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
    let kept = kept.map_or("\n", |(kept, _)| kept);
    let _ = write!(text, "\n{begin}{kept}{end}\n\n");
    text.push_str("| experiment | claim | version | verdict | class and why |\n");
    text.push_str("| --- | --- | --- | --- | --- |\n");
    for (experiment, results) in all {
        let (id, stand_in) = (experiment.id(), stand_in(results));
        for claim in &results.claims {
            let (version, verdict) = (claim.version.words(), claim.verdict.words());
            let why = explanation(*experiment, claim);
            let claim = cell(&claim.text);
            let _ = writeln!(
                text,
                "| [{id}](#{id}) | {claim} | {version} | **{verdict}**{stand_in} | {why} |"
            );
        }
    }
    for (k, (experiment, results)) in all.iter().enumerate() {
        let paper = experiment.paper();
        let of_paper = || all.iter().filter(move |(one, _)| one.paper() == paper);
        let shared = repeated(of_paper().map(|(one, results)| words(*one, results)));
        if !all[..k].iter().any(|(one, _)| one.paper() == paper) {
            let _ = write!(text, "\n## {paper}\n");
            if !shared.is_empty() {
                let _ = write!(text, "\n{}\n", shared.join(" "));
            }
        }
        let _ = write!(text, "\n{}", without(*experiment, results, &shared));
    }
    text
}

/// One experiment: what differs from the paper, its claims, its pictures.
pub fn section(experiment: &dyn Experiment, results: &Results) -> String {
    without(experiment, results, &[])
}

/// The same, without what is said of all experiments of the paper. What two captions have in common
/// is said once, above them.
fn without(experiment: &dyn Experiment, results: &Results, said: &[String]) -> String {
    let Results { claims, pictures, notes, stand_ins, .. } = results;
    let id = experiment.id();
    let shared = repeated(pictures.iter().map(|picture| sentences(&picture.caption)));
    let own = sentences(experiment.changes()).into_iter().chain(shared.iter().cloned());
    let own: Vec<String> = own.filter(|sentence| !said.contains(sentence)).collect();
    let about = format!("{}: {}.", experiment.paper(), experiment.about());
    let about: Vec<String> = std::iter::once(about).chain(own).collect();
    let mut text = format!("### {id}\n\n{}\n", about.join(" "));
    for name in stand_ins {
        let _ = write!(
            text,
            "\n**Stand-in**: {name} was not there, and a simulated table stood in for it; nothing below is about it.\n"
        );
    }
    if !claims.is_empty() {
        text.push_str("\n| claim | version | | numbers |\n| --- | --- | --- | --- |\n");
    }
    for Claim { text: claim, version, verdict, numbers } in claims {
        let (version, verdict, stand_in) = (version.words(), verdict.words(), stand_in(results));
        let (claim, numbers) = (cell(claim), cell(numbers));
        let _ = writeln!(text, "| {claim} | {version} | **{verdict}**{stand_in} | {numbers} |");
    }
    for Picture { name, title, caption } in pictures {
        let _ = write!(text, "\n![{title}]({id}/{name}.svg)\n");
        let caption = sentences(caption).into_iter();
        let caption = caption.filter(|words| !shared.contains(words) && !said.contains(words));
        let caption: Vec<String> = caption.collect();
        if !caption.is_empty() {
            let _ = write!(text, "\n{}\n", caption.join(" "));
        }
    }
    let notes = notes.iter().flat_map(|note| sentences(note));
    let notes: Vec<String> = notes.filter(|sentence| !said.contains(sentence)).collect();
    if !notes.is_empty() {
        let _ = write!(text, "\n{}\n", notes.join(" "));
    }
    text
}

/// The sentences of a text, each with its end.
fn sentences(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split_inclusive(". ") {
        // A sentence begins with a capital, and what does not goes on.
        let begins = part.chars().next().is_some_and(|c| !c.is_lowercase());
        match found.last_mut() {
            Some(last) if !begins => *last = format!("{last} {}", part.trim_end()),
            _ => found.push(part.trim_end().to_owned()),
        }
    }
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// All that an experiment has in words.
fn words(experiment: &dyn Experiment, results: &Results) -> Vec<String> {
    let captions = results.pictures.iter().map(|picture| picture.caption.as_str());
    let notes = results.notes.iter().map(String::as_str);
    let all = std::iter::once(experiment.changes()).chain(captions).chain(notes);
    all.flat_map(sentences).collect()
}

/// The sentences that two or more of these have, once each and in order.
fn repeated(groups: impl Iterator<Item = Vec<String>>) -> Vec<String> {
    let groups: Vec<Vec<String>> = groups.collect();
    let mut found: Vec<String> = Vec::new();
    for sentence in groups.iter().flatten() {
        let times = groups.iter().filter(|group| group.contains(sentence)).count();
        if times > 1 && !found.contains(sentence) {
            found.push(sentence.clone());
        }
    }
    found
}

fn stand_in(results: &Results) -> &'static str {
    if results.stand_ins.is_empty() { "" } else { " (stand-in)" }
}

/// Text that does not end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The class of a claim that did not hold, with its sentence.
fn explanation(experiment: &dyn Experiment, claim: &Claim) -> String {
    match (claim.verdict, Explained::of(experiment, claim)) {
        (ClaimVerdict::DidNotHold, Explained { words, why: "", .. }) => format!("**{words}**"),
        (ClaimVerdict::DidNotHold, Explained { words, why, .. }) => {
            format!("{words}: {}", cell(why))
        }
        _ => String::new(),
    }
}

/// How many lines came to what.
fn counted(all: &[Done]) -> String {
    let claims = || {
        all.iter().flat_map(|(experiment, results)| {
            results.claims.iter().map(move |claim| Explained::of(*experiment, claim))
        })
    };
    let said = |words: &str| claims().filter(|claim| claim.words == words).count();
    let classed = |class: Class| claims().filter(|claim| claim.class == Some(class)).count();
    let classes = [Class::Paper, Class::Setting, Class::Default];
    let failed: usize = classes.iter().map(|class| classed(*class)).sum();
    let mut text = format!(
        "Of {} lines {} held, {} did not hold and {} are undecided. Of those that did not hold:\n\n",
        claims().count(),
        said("held"),
        failed + said("unexplained"),
        said("undecided")
    );
    for class in classes {
        let _ = writeln!(text, "- {}: {}", class.words(), classed(class));
    }
    let _ = writeln!(text, "- unexplained: {}", said("unexplained"));
    let small: Vec<&str> =
        all.iter().filter(|(_, results)| results.quick).map(|(one, _)| one.id()).collect();
    if !small.is_empty() {
        let _ = write!(text, "\nRun small, as a check alone: {}.\n", small.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::{Reason, Version};
    use crate::data::DataSet;
    use crate::error::ExperimentError;
    use crate::experiment::Context;
    use crate::report::ExperimentReport;

    /// An experiment that is made up.
    #[derive(Debug)]
    struct Made;

    impl Experiment for Made {
        fn id(&self) -> &'static str {
            "made-up"
        }

        fn paper(&self) -> &'static str {
            "XY99"
        }

        fn about(&self) -> &'static str {
            "something"
        }

        fn needs(&self) -> &'static [DataSet] {
            &[]
        }

        fn claims(&self) -> &'static [&'static str] {
            &["A is less than B"]
        }

        fn changes(&self) -> &'static str {
            "The paper has more rows."
        }

        fn reasons(&self) -> &'static [Reason] {
            const WHY: &str = "Theorem 1 leaves its constant open.";
            &[Reason { of: &["on w8a"], version: None, class: Class::Paper, why: WHY }]
        }

        fn run(&self, _: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError> {
            Ok(ExperimentReport::default())
        }
    }

    fn made() -> Done {
        let (low, high) = ([1.0, 1.1, 0.9], [2.0, 2.2, 1.9]);
        let claim = |text: &str, less: &[f64], more: &[f64]| {
            Claim::less(text, Version::Certified, less, more)
        };
        let report = ExperimentReport {
            claims: vec![
                claim("A is less than B, on a9a", &low, &high),
                claim("A is less than B, on w8a", &high, &low),
                claim("A is less than B, on covtype", &high, &low),
                claim("A is less than B, on P(A|B)", &low, &low),
            ],
            ..ExperimentReport::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let results = Results::write(&report, (String::new(), false, 1.0), folder.path()).unwrap();
        (&Made, results)
    }

    #[test]
    fn every_line_has_its_class_and_its_sentence() {
        let text = page(&[made()], "");
        for line in [
            "Of 4 lines 1 held, 2 did not hold and 1 are undecided.",
            "- (a) the paper's own: 1",
            "- (b) our setting differs: 0",
            "- unexplained: 1",
            "| A is less than B, on a9a | certified | **held** |  |",
            "| **did not hold** | (a) the paper's own: Theorem 1 leaves its constant open. |",
            "| A is less than B, on covtype | certified | **did not hold** | **unexplained** |",
            "P(A\\|B) | certified | **undecided** |",
            "XY99: something. The paper has more rows.",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }

    #[test]
    fn what_people_found_is_kept() {
        let first = page(&[made()], "");
        let found = first.replace("<!-- findings -->\n", "<!-- findings -->\nSmoothing helps.\n");
        assert_ne!(first, found);
        assert_eq!(page(&[made()], &found), found);
    }

    #[test]
    fn no_sentence_is_said_twice() {
        let mut done = made();
        let picture = |name: &str, caption: &str| Picture {
            name: name.to_owned(),
            title: name.to_owned(),
            caption: caption.to_owned(),
        };
        done.1.pictures = vec![
            picture("one", "On test rows. The paper has more rows. This is w8a."),
            picture("two", "On test rows. This is covtype, e.g. trees."),
        ];
        let text = page(&[done.clone(), done], "");
        for sentence in ["The paper has more rows.", "On test rows.", "This is w8a."] {
            assert_eq!(text.matches(sentence).count(), 1, "{sentence}\n{text}");
        }
        assert!(text.contains("## XY99\n\nThe paper has more rows. On test rows."), "{text}");
        let alone = section(&Made, &made().1);
        assert!(alone.contains("XY99: something. The paper has more rows.\n"), "{alone}");
    }

    #[test]
    fn what_is_read_back_is_what_was_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Results::read(folder.path()).is_none());
        let report =
            ExperimentReport { notes: vec!["A note.".to_owned()], ..ExperimentReport::default() };
        Results::write(&report, ("abc".to_owned(), true, 2.0), folder.path()).unwrap();
        let read = Results::read(folder.path()).unwrap();
        assert_eq!((read.settings.as_str(), read.quick, read.notes.len()), ("abc", true, 1));
    }
}

//! Every experiment of the catalogue, run small: it comes to its end, checks every claim that it
//! has, and writes pictures and numbers. With `RETICENT_PICTURES=DIR` they are written there, to be
//! looked at.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use reticent_plot::overlaps;
use reticent_reproduction::{
    CATALOGUE, ClaimVerdict, Context, Done, Experiment, ExperimentError, ExperimentReport, Figure,
    Results, Version, find, page, section,
};

const EVERY_ROW: &[&str] = &[
    "ls22-fig1",
    "ls22-fig2",
    "ls22-fig3",
    "ls22-fig4",
    "ls22-tab1",
    "rdp20-fig1",
    "rdp20-fig2",
    "rdp20-fig3",
    "rdp20-fig4",
    "rdp20-rdp",
    "dpa19-fig1",
    "dpa19-fig2",
    "dpa19-fig3",
    "dpa19-fig4",
    "dpa19-fig5",
    "dpa19-fig6",
    "dpa19-tab3",
    "acct-dpa19",
    "fp23-fig1",
    "fp23-walk",
    "fp23-tab",
    "ra18-fig1",
    "ra18-fig2",
    "ra18-fig3",
    "ra18-acct",
];

fn run(experiment: &dyn Experiment) -> ExperimentReport {
    experiment.run(&mut Context::quick(&mut |_| ControlFlow::Continue(()))).unwrap()
}

#[test]
fn whoever_is_told_can_stop_it_before_the_next_run() {
    let experiment = find("rdp20-fig4").unwrap();
    for last in [1, 3] {
        let mut told = 0;
        let mut tell = |_: &str| {
            told += 1;
            if told == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = experiment.run(&mut Context::quick(&mut tell));
        assert!(matches!(stopped, Err(ExperimentError::Stopped)), "{stopped:?}");
        assert_eq!(told, last);
    }
}

#[test]
fn every_row_of_the_list_is_there_and_says_what_it_is() {
    let ids: BTreeSet<&str> = CATALOGUE.iter().map(|experiment| experiment.id()).collect();
    assert_eq!(ids, EVERY_ROW.iter().copied().collect());
    assert_eq!(ids.len(), CATALOGUE.len(), "an id is there twice");
    for experiment in CATALOGUE {
        assert!(find(experiment.id()).is_some());
        // LS22's table 1 has bounds, which no run can refute.
        let silent = experiment.id() == "ls22-tab1";
        assert_eq!(experiment.claims().is_empty(), silent, "{}", experiment.id());
        assert!(!experiment.about().ends_with('.'), "{}", experiment.id());
        let papers = ["LS22", "RDP20", "DPA19", "FP23", "RA18"];
        assert!(papers.contains(&experiment.paper()), "{}", experiment.paper());
    }
    assert!(find("ls23-fig1").is_none());
}

/// What is wrong with a picture. Each is held to a colour for each method, certified and published
/// apart, no label upon another, and a warning on what is not private.
fn faults(experiment: &dyn Experiment, figure: &Figure) -> Vec<String> {
    let (svg, mut found) = (figure.svg(), Vec::new());
    let mut fault = |what: String| {
        found.push(format!("{}/{}: {what}", experiment.id(), figure.name));
    };
    for name in figure.uncoloured() {
        fault(format!("{name} has no colour in colours.rs"));
    }
    for (one, other) in overlaps(&svg) {
        fault(format!("'{one}' and '{other}' cover each other"));
    }
    let open = matches!(figure.version(), Version::AsPublished | Version::WithoutNoise);
    if svg.contains(">NOT PRIVATE") != open {
        fault("the warning is not right".to_owned());
    }
    let loud = || figure.series.iter().filter(|series| !series.quiet);
    let published = |of: bool| {
        loud().filter(move |s| (s.version == Version::AsPublished) == of).map(|s| s.name.as_str())
    };
    for method in published(true).filter(|method| published(false).any(|other| other == *method)) {
        fault(format!("{method} is in it in both versions"));
    }
    for by_hand in ["standard error over", "standard deviation over"] {
        if figure.caption.contains(by_hand) {
            fault(format!("the caption says '{by_hand}', and the picture does"));
        }
    }
    found
}

/// A sentence of the page that is there more than once.
fn twice(text: &str) -> Option<String> {
    let prose = text.lines().filter(|line| !line.starts_with(['|', '!', '#', '-', '*']));
    let mut seen = BTreeSet::new();
    prose
        .flat_map(|line| line.split_inclusive(". "))
        .map(|sentence| sentence.trim().to_owned())
        .filter(|sentence| sentence.split_whitespace().count() > 3)
        .find(|sentence| !seen.insert(sentence.clone()))
}

#[test]
fn every_experiment_comes_to_its_end_and_checks_its_claims() {
    let folder = tempfile::tempdir().unwrap();
    let shown = std::env::var_os("RETICENT_PICTURES").map(std::path::PathBuf::from);
    let folder = shown.as_deref().unwrap_or(folder.path());
    let (mut done, mut wrong): (Vec<Done>, Vec<String>) = (Vec::new(), Vec::new());
    for experiment in CATALOGUE {
        let report = run(*experiment);
        for claim in experiment.claims() {
            let checked = report.claims.iter().any(|checked| checked.text.contains(claim));
            assert!(checked, "{}: '{claim}' was not checked", experiment.id());
        }
        let needs_data = !experiment.needs().is_empty();
        assert_eq!(!report.stand_ins.is_empty(), needs_data, "{}", experiment.id());
        let at = folder.join(experiment.id());
        let results = Results::write(&report, (String::new(), true, 0.0), &at).unwrap();
        let text = section(*experiment, &results);
        assert_eq!(text.contains("(stand-in)"), needs_data, "{}", experiment.id());
        let files = std::fs::read_dir(&at).unwrap().count();
        assert_eq!(files, 1 + 2 * report.pictures().len());
        assert!(!report.figures.is_empty(), "{} draws nothing", experiment.id());
        for figure in report.pictures() {
            wrong.extend(faults(*experiment, &figure));
            let finite = |values: &Vec<f64>| values.iter().all(|value| value.is_finite());
            let good = figure.series.iter().all(|series| {
                !series.points.is_empty() && series.points.iter().all(|(_, values)| finite(values))
            });
            assert!(good, "{}: {}", experiment.id(), figure.csv());
        }
        done.push((*experiment, results));
    }
    let text = page(&done, "");
    std::fs::write(folder.join("README.md"), &text).unwrap();
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(twice(&text), None, "a sentence is there twice");
}

/// Every reason is about a claim that there is, and is one sentence.
#[test]
fn every_reason_is_of_a_claim_and_a_sentence() {
    for experiment in CATALOGUE {
        for reason in experiment.reasons() {
            let (id, why) = (experiment.id(), reason.why);
            let about = |claim: &&str| reason.of.iter().any(|part| claim.contains(part));
            // The experiments of a paper may have the same list.
            let of_paper = CATALOGUE.iter().filter(|one| one.paper() == experiment.paper());
            let mut claims = of_paper.flat_map(|one| one.claims());
            assert!(claims.any(about), "{id}: {why}");
            let sentence = why.ends_with('.') && why.starts_with(|c: char| !c.is_lowercase());
            assert!(sentence && !why.contains(". "), "{id}: {why}");
        }
    }
}

/// What differs from the paper is said for every figure and table that the paper has.
#[test]
fn every_figure_says_what_it_changes() {
    for experiment in CATALOGUE.iter().filter(|one| one.id().contains("-fig")) {
        let changes = experiment.changes();
        assert!(changes.ends_with('.'), "{} says nothing: '{changes}'", experiment.id());
    }
}

/// What no chance is in must come out as it is known.
#[test]
fn what_is_counted_holds() {
    let walk = run(find("fp23-walk").unwrap());
    let verdicts: Vec<ClaimVerdict> = walk.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [ClaimVerdict::Held, ClaimVerdict::DidNotHold], "{:?}", walk.claims);
    for id in ["acct-dpa19", "rdp20-rdp", "fp23-tab", "ra18-acct"] {
        let report = run(find(id).unwrap());
        for claim in &report.claims {
            assert_eq!(
                claim.verdict,
                ClaimVerdict::Held,
                "{id}: {} ({})",
                claim.text,
                claim.numbers
            );
        }
    }
}

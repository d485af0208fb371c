//! A member that is killed at each of its moments, one behind the other in one run: before and after it writes, and before
//! and after it says, every kind of message that there is.

use std::collections::BTreeSet;

use reticent::Model;

use super::crash::Members;
use super::peers::{R_ADMM, WALK};
use super::steps::STEPS;
use super::world::{AUTO, World, bits};

/// What is written, or said, by its name.
#[derive(Clone, Copy)]
enum CutStep {
    Written(&'static str),
    Said(&'static str),
}

use CutStep::{Said, Written};

impl CutStep {
    fn name(self) -> &'static str {
        match self {
            Written(name) | Said(name) => name,
        }
    }

    /// Where a process is to end: before it, and after it.
    fn ends(self) -> [String; 2] {
        let (first, name) = match self {
            Written(name) => (0, name),
            Said(name) => (2, name),
        };
        [first, first + 1].map(|moment| format!("{moment}:1:{name}"))
    }
}

/// What is not of the run itself, or is cut elsewhere: a run that begins again or ends by name, and who
/// has left.
const ELSEWHERE: [&str; 5] = ["again", "over", "ended", "refused", "staying"];

/// One run in which `role` ends at all of these, and is started again each time.
fn killed_at_each((job, trust): (&str, &str), role: &str, ends: &[String]) -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 2, job, trust);
    let mut members = Members { world: &world, children: Vec::new() };
    let roles = ["lead", "party-0", "party-1"];
    roles.iter().filter(|own| **own != role).for_each(|own| members.start(own, None));
    for end in ends {
        members.begin(role, Some(end.clone()));
        assert!(!members.wait(role), "{trust}: {role} never came to {end}: {}", members.end(role));
    }
    members.start(role, None);
    for own in roles {
        assert!(members.wait(own), "{own} was killed");
        assert_eq!(members.end(own), "done", "{trust}: {own}, {role} cut at {ends:?}");
    }
    let read = |role: &str| {
        let text = std::fs::read_to_string(world.at(&format!("{role}.model"))).unwrap();
        bits(&Model::from_json(&text).unwrap())
    };
    match job {
        job if job.contains("auto") => assert_eq!(read("lead"), bits(&world.simulated())),
        // The model is the observer's, and each walker's own is another token.
        job if job.contains("walk") => {
            assert_eq!(read("lead"), bits(&world.in_one_process().model), "{role}");
        }
        _ => {
            let simulated = world.in_one_process();
            for party in 0..2 {
                let other = match job == R_ADMM {
                    true => bits(&simulated.nodes.model(party).unwrap()),
                    false => bits(&simulated.model),
                };
                assert_eq!(read(&format!("party-{party}")), other, "{trust}: {role}");
            }
        }
    }
    for party in ["party-0", "party-1"] {
        let twice = world.said_by(party).into_iter().find(|(_, said)| said.len() > 1);
        assert_eq!(twice, None, "{trust}, {role} cut at {ends:?}");
    }
    let names = std::fs::read_to_string(world.at(&format!("{role}.moments"))).unwrap();
    names.lines().map(str::to_owned).collect()
}

/// The same of these steps, before and after each; all kinds of messages that the role has had were among
/// them, or among those of `others`.
fn walk(of: (&str, &str), role: &str, steps: &[CutStep], others: &[&str]) {
    let ends: Vec<String> = steps.iter().flat_map(|step| step.ends()).collect();
    let mut met = killed_at_each(of, role, &ends);
    met.retain(|name| {
        let cut = steps.iter().any(|step| step.name() == name);
        !cut && !others.contains(&&name[..]) && !ELSEWHERE.contains(&&name[..])
    });
    assert!(met.is_empty(), "{of:?}: {role} was never cut at {met:?}");
}

/// Until a party has joined, and from its model on.
const COMES: [CutStep; 5] =
    [Said("hello"), Said("reveal"), Written("signed"), Said("signed"), Written("joined")];
const LEAVES: [CutStep; 3] = [Written("model"), Said("received"), Written("told")];

#[test]
fn a_party_is_cut_at_every_kind_of_message() {
    let rounds = [Said("envelope"), Written("answer"), Said("envelope")];
    walk((AUTO, "central"), "party-0", &[&COMES[..], &rounds, &LEAVES].concat(), &[]);
}

#[test]
fn a_peer_is_cut_at_every_kind_of_message() {
    let turns = [Said("envelope"), Said("post"), Written("keys"), Written("turn"), Said("post")];
    let others = COMES.map(CutStep::name);
    walk((R_ADMM, "local"), "party-0", &[&turns[..], &LEAVES].concat(), &others);
}

#[test]
fn a_lead_is_cut_at_every_kind_of_message() {
    let until_over = [
        Said("roll"),
        Said("terms"),
        Written("begun"),
        Said("begin"),
        Written("greeting"),
        Said("known"),
        Said("envelope"),
        Written("answers"),
        Written("over"),
        Said("model"),
    ];
    walk((AUTO, "central"), "lead", &until_over, &["received"]);
    // Whoever has said that it has the model does not come back to say so: each in a run of its own.
    for end in Written("received").ends() {
        killed_at_each((AUTO, "central"), "lead", &[end]);
    }
}

#[test]
fn a_lead_with_a_node_of_its_own_is_cut_at_every_kind_of_message() {
    let turns = [Said("keys"), Written("turn"), Said("mail")];
    let others =
        ["roll", "terms", "begun", "begin", "greeting", "known", "over", "model", "received"];
    walk((STEPS, "secure-aggregation"), "lead", &turns, &others);
}

/// Four steps of a sum, each before and after it is written and said: keys, shares, a masked vector, and what opens
/// the sum.
#[test]
fn a_party_behind_masks_is_cut_at_every_step_of_a_sum() {
    let job = AUTO.to_owned() + "iterations = 3\n";
    let step = [Written("answer"), Said("envelope")];
    let sum = [&[Said("envelope")][..], &step, &step, &step, &step].concat();
    let others: Vec<&str> = COMES.iter().chain(&LEAVES).map(|step| step.name()).collect();
    walk((&job, "secure-aggregation"), "party-0", &sum, &others);
}

#[test]
fn a_lead_of_masked_sums_is_cut_at_every_step_of_one() {
    let job = AUTO.to_owned() + "iterations = 3\n";
    let step = [Said("envelope"), Written("answers")];
    // Whoever comes again is told what is known of it.
    let sum = [&step[..], &[Said("known")], &step, &step, &step].concat();
    let others = ["roll", "terms", "begun", "begin", "greeting", "over", "model", "received"];
    walk((&job, "secure-aggregation"), "lead", &sum, &others);
}

/// What a node says, of a token or of a step, and what its lead says to it.
const TURNS: [CutStep; 6] = [
    Said("envelope"),
    Said("post"),
    Written("keys"),
    Written("turn"),
    Said("post"),
    Written("turn"),
];
const CARRIES: [CutStep; 5] =
    [Said("keys"), Written("turn"), Said("mail"), Written("turn"), Said("mail")];

/// All that the lead says and writes besides.
const LEADS: [&str; 9] =
    ["roll", "terms", "begun", "begin", "greeting", "known", "over", "model", "received"];

#[test]
fn a_walker_and_its_observer_are_cut_at_every_kind_of_message() {
    let others = COMES.map(CutStep::name);
    walk((WALK, "network"), "party-0", &[&TURNS[..], &LEAVES].concat(), &others);
    walk((WALK, "network"), "lead", &CARRIES, &LEADS);
}

#[test]
fn a_party_and_a_server_of_dp_admm_are_cut_at_every_kind_of_message() {
    let job = R_ADMM.replace("r-admm", "dp-admm");
    let others = COMES.map(CutStep::name);
    walk((&job, "local"), "party-0", &[&TURNS[..], &LEAVES].concat(), &others);
    walk((&job, "local"), "lead", &CARRIES, &LEADS);
}

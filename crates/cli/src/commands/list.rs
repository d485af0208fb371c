//! `reticent list`: what can be chosen, out of the catalogues.

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use reticent::accountant::{Mechanism, View};
use reticent::internal::admm::catalogue::{self as algorithms, AlgorithmKind};
use reticent::internal::problem::catalogue::CatalogueEntry;
use reticent::internal::problem::{constraints, losses, penalties};
use reticent::internal::runtime;
use serde::Serialize;

use crate::answer::Answer;
use crate::event_text::form;
use crate::layout::beside;

/// What the letters in the references stand for.
const ERRATA: &str = "E1, E2 and so on are errata: places where a paper's claim is not what its algorithm guarantees. \
                      docs/errata.md says what is done instead.";

#[derive(Debug, Args)]
pub struct List {
    /// What to list
    what: Family,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Family {
    /// Loss functions: the error of a model on one record
    Losses,
    /// Penalties on the parameter, such as L1 and L2
    Penalties,
    /// Linear constraints between the parameter and what is penalised
    Constraints,
    /// Algorithms for one table
    Algorithms,
    /// Protocols between many parties
    Protocols,
    /// Graphs of the parties
    Topologies,
    /// Events of a ledger: mechanisms that the accountant counts
    Events,
}

/// A line of a list: the name, how it is typed, what it is.
#[derive(Serialize)]
struct ListedMember {
    name: &'static str,
    form: String,
    about: String,
    #[serde(flatten)]
    more: Option<RunnableFields>,
}

/// What is known of an algorithm or of a protocol beside that.
#[derive(Serialize)]
struct RunnableFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<bool>,
    reference: &'static str,
    settings: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    trust: Option<&'static [View]>,
}

impl List {
    /// Does it.
    pub fn run(self) -> Answer {
        let (family, members) = match self.what {
            Family::Losses => ("losses", problem(losses::CATALOGUE)),
            Family::Penalties => ("penalties", problem(penalties::CATALOGUE)),
            Family::Constraints => ("constraints", problem(constraints::CATALOGUE)),
            Family::Algorithms => ("algorithms", algorithms()),
            Family::Protocols => ("protocols", protocols()),
            Family::Topologies => ("topologies", topologies()),
            Family::Events => ("events", events()),
        };
        let row = |member: &ListedMember| {
            let settings = member.more.as_ref().map_or(&[][..], |more| more.settings);
            let mut paragraphs = vec![member.about.clone()];
            if !settings.is_empty() {
                paragraphs.push(format!("settings: {}", settings.join(", ")));
            }
            (member.form.clone(), paragraphs)
        };
        let rows: Vec<_> = members.iter().map(row).collect();
        let remarks = match self.what {
            Family::Algorithms => vec![ERRATA.to_owned()],
            _ => Vec::new(),
        };
        let listed = BTreeMap::from([(family, &members)]);
        Answer { remarks, ..Answer::of(beside(&rows), &listed) }
    }
}

fn problem<B>(catalogue: &[CatalogueEntry<B>]) -> Vec<ListedMember> {
    let member = |entry: &CatalogueEntry<B>| ListedMember {
        name: entry.name,
        form: entry.form(),
        about: entry.about.to_owned(),
        more: None,
    };
    catalogue.iter().map(member).collect()
}

fn algorithms() -> Vec<ListedMember> {
    let member = |entry: &algorithms::AlgorithmEntry| ListedMember {
        name: entry.name,
        form: entry.name.to_owned(),
        about: format!("{} ({})", entry.about, entry.reference),
        more: Some(RunnableFields {
            private: Some(!matches!(entry.kind, AlgorithmKind::Exact)),
            reference: entry.reference,
            settings: entry.takes,
            trust: None,
        }),
    };
    algorithms::CATALOGUE.iter().map(member).collect()
}

fn protocols() -> Vec<ListedMember> {
    let member = |entry: &runtime::ProtocolEntry| ListedMember {
        name: entry.name,
        form: entry.name.to_owned(),
        about: format!("{} ({})", entry.about, entry.reference),
        more: Some(RunnableFields {
            private: None,
            reference: entry.reference,
            settings: entry.takes,
            trust: Some(entry.views),
        }),
    };
    runtime::CATALOGUE.iter().map(member).collect()
}

fn topologies() -> Vec<ListedMember> {
    let member = |family: &runtime::topology::GraphFamily| ListedMember {
        name: family.form.split(':').next().unwrap_or(family.form),
        form: family.form.to_owned(),
        about: family.about.to_owned(),
        more: None,
    };
    runtime::topology::FAMILIES.iter().map(member).collect()
}

fn events() -> Vec<ListedMember> {
    let member = |(name, about): (&&'static str, &&'static str)| ListedMember {
        name,
        form: form(name),
        about: about.trim().trim_end_matches('.').to_owned(),
        more: None,
    };
    Mechanism::KINDS.iter().zip(Mechanism::ABOUT).map(member).collect()
}

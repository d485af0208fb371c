//! The two files of a run: `run.toml`, the same for all members, and `party.toml`, which belongs to
//! one party.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reticent::Files;
use reticent::simulate::{RemoteJob, RemoteKind, SimulationSpec};
use serde::Deserialize;

use crate::error::{HostError, unread};
use crate::links::proxy::HttpProxy;
use crate::links::{LinkKind, PartyWay};
use crate::roster::Roster;

/// The keys of a job file that belong to a party.
const OWN: [&str; 5] = ["data", "more_data", "format", "max_line", "out"];

/// The largest number of nodes that exchange messages through the lead: each pair of them has keys
/// and a queue. Larger runs were not measured.
const MOST_NODES: u32 = 256;

/// The table `[network]` of a run file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkKeys {
    roster: PathBuf,
    #[serde(default = "usual_patience")]
    patience: u64,
    #[serde(default)]
    link: LinkKind,
    least: Option<u32>,
}

fn usual_patience() -> u64 {
    600
}

/// What is run, between whom: a job file of `reticent simulate` without data, with a table
/// `[network]`.
///
/// ```toml
/// algorithm = "auto"
/// schema = "visits.schema.toml"
/// epsilon = 2.0
/// delta = 1e-5
/// [parties]
/// trust = "central"
/// [network]
/// roster = "roster.toml"
/// patience = 600
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct RunFile {
    /// The job.
    pub job: RemoteJob,
    /// The roster.
    pub roster: Arc<Roster>,
    /// The longest time to wait for a member that is away.
    pub patience: Duration,
    /// The default kind of connection.
    pub link: LinkKind,
    /// The fewest parties that the run may begin and continue with; by default all.
    pub least: Option<u32>,
}

impl RunFile {
    /// Reads and checks a run file, and the roster that it names. Paths in it are relative to the
    /// file.
    ///
    /// # Errors
    /// If the file is invalid, or describes a job that cannot run on a network.
    pub fn read(path: &Path) -> Result<Self, HostError> {
        let refuse = |reason: String| HostError::File { file: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| refuse(unread(&error)))?;
        let mut table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| refuse(error.message().to_owned()))?;
        let network = table
            .remove("network")
            .ok_or_else(|| refuse("it has no table [network] with `roster = FILE`".to_owned()))?;
        let NetworkKeys { roster, patience, link, least } = network
            .try_into()
            .map_err(|error: toml::de::Error| refuse(format!("[network]: {}", error.message())))?;
        if !(1..=7 * 86_400).contains(&patience) {
            return Err(refuse(format!(
                "[network] patience = {patience}: it must be from 1 to 604800 seconds"
            )));
        }
        if let Some(key) = table.keys().find(|key| OWN.contains(&key.as_str())) {
            let why = format!("{key} is a member's own: it goes into a party file, or to a flag");
            return Err(refuse(why));
        }
        let base = path.parent().unwrap_or(Path::new(""));
        let roster = Arc::new(Roster::read(&base.join(roster))?);
        let all = roster.parties();
        if let Some(least) = least.filter(|least| !(1..=all).contains(least)) {
            return Err(refuse(format!(
                "[network] least = {least}: it must be from 1 to {all}, the parties of the roster"
            )));
        }
        let spec = SimulationSpec::of_table(table, path)?;
        let job = spec.remote(roster.parties())?;
        if job.kind() != RemoteKind::Sums && all > MOST_NODES {
            return Err(refuse(format!(
                "a roster of {all} parties: {} is run between at most {MOST_NODES} on a network; only algorithms of \
                 one table, with `trust = \"local\"` or `trust = \"central\"`, are between more",
                job.algorithm()
            )));
        }
        Ok(RunFile { job, roster, patience: Duration::from_secs(patience), link, least })
    }
}

/// The files and options of a party.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PartyFile {
    /// The table.
    pub data: PathBuf,
    /// Further files of the table.
    #[serde(default)]
    pub more_data: Vec<PathBuf>,
    /// The party's key.
    pub key: PathBuf,
    /// The journal of the party.
    pub journal: PathBuf,
    /// The budget that pays.
    pub budget: Option<PathBuf>,
    /// The folder of the model.
    pub out: PathBuf,
    /// The kind of connection; by default that of the run file.
    pub link: Option<LinkKind>,
    /// An HTTP proxy between the party and the lead, as `http://host:port`.
    pub proxy: Option<HttpProxy>,
    /// The socket for couriers; if it is given, couriers carry all messages.
    pub courier: Option<PathBuf>,
    /// The fewest parties that this party takes part with, if the run file lets others be left out.
    pub least: Option<u32>,
}

impl PartyFile {
    /// Reads a party file. Paths in it are relative to the file.
    ///
    /// # Errors
    /// If the file is invalid.
    pub fn read(path: &Path) -> Result<Self, HostError> {
        let refuse = |reason: String| HostError::File { file: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| refuse(unread(&error)))?;
        let own: PartyFile =
            toml::from_str(&text).map_err(|error| refuse(error.message().to_owned()))?;
        if own.proxy.is_some() && own.link == Some(LinkKind::Quic) {
            let why = "proxy and link = \"quic\": proxies carry TCP alone; leave one of them out";
            return Err(refuse(why.to_owned()));
        }
        if own.courier.is_some() && (own.proxy.is_some() || own.link.is_some()) {
            let why = "courier: couriers carry everything; leave link and proxy out";
            return Err(refuse(why.to_owned()));
        }
        let beside = |file: PathBuf| path.parent().unwrap_or(Path::new("")).join(file);
        Ok(PartyFile {
            data: beside(own.data),
            more_data: own.more_data.into_iter().map(beside).collect(),
            key: beside(own.key),
            journal: beside(own.journal),
            budget: own.budget.map(beside),
            out: beside(own.out),
            link: own.link,
            proxy: own.proxy,
            courier: own.courier.map(beside),
            least: own.least,
        })
    }

    /// The connection of the party to the lead of a run.
    pub fn way(&self, run: &RunFile) -> PartyWay {
        let link = self.link.unwrap_or(run.link);
        PartyWay { link, proxy: self.proxy.clone(), courier: self.courier.clone() }
    }

    /// The fewest parties that this party takes part with: the number of the run file, or its own
    /// if that is larger; `None` for all, if the run file leaves nobody out.
    pub fn least(&self, run: &RunFile) -> Option<u32> {
        run.least.map(|least| least.max(self.least.unwrap_or(0)))
    }

    /// The files of the table.
    pub fn files(&self) -> Files {
        let paths = std::iter::once(&self.data).chain(&self.more_data).cloned().collect();
        Files::all(paths)
    }
}

//! `reticent simulate`: a job file and flags → parties, messages, rounds → model and certificates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::Args;
use reticent::accountant::View;
use reticent::internal::runtime::CATALOGUE;
use reticent::internal::{check_folder, check_new, check_results};
use reticent::simulate::{
    BETWEEN_PARTIES, CheckpointOptions, Failures, OF_ONE_TABLE, Parties, ReadySimulation,
    Simulated, SimulationSpec, Spread, Traffic,
};
use reticent::trace::PublicData;
use reticent::{
    Certificate, Error, Files, Identity, JobFile, PrivateTable, Run, Source, Spec, Stage,
};
use reticent_budget::Relation;
use reticent_payment::Bill;
use serde::Serialize;
use serde_json::Value;

use super::fit::{JobFlags, RESULT, extra_rows, folder, replaced};
use super::shared::{
    CertificateFields, ProblemFields, algorithm, certificate_before, certificate_rows, many_rounds,
    not_private, one_of, problem_rows, row,
};
use crate::answer::{Answer, object};
use crate::delivery::{Charged, Content, Delivery, OutputPlaces, Piece};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, JsonNumber};
use crate::parties::{PartyBudgetFlags, paid_by_each};
use crate::progress::{JobBar, foretold};
use crate::purse::{JobName, Purse, PurseFlags, asked_of_budgets, done};
use crate::repeated::given_twice;
use crate::settings::is_setting;
use crate::tracing::{AskedTrace, TraceFlags};

#[derive(Debug, Args)]
#[command(
    after_help = "`reticent list protocols|topologies` shows the choices.\n\
                  The algorithms of `reticent fit` that ask for sums run too, under any trust but network. auto is \
                  the default,\n\
                  and federated for what auto does not have (docs/federated.md).\n\
                  `reticent list protocols` shows the settings of each algorithm.\n\
                  A job file has the keys of `reticent fit`, and the tables [parties] and [failures].",
    mut_args(of_parties)
)]
pub struct Simulate {
    /// A job file (TOML); flags override it
    job: Option<PathBuf>,

    /// The table, instead of the job file's
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    #[command(flatten)]
    parties: PartyFlags,

    #[command(flatten)]
    keep: KeepFlags,

    /// Also write the last model of each party to folders 0, 1, 2, … in this one, each with the
    /// certificate of the run. A new folder, for algorithms of peers on a graph
    #[arg(long, value_name = "FOLDER", help_heading = RESULT)]
    node_models: Option<PathBuf>,

    #[command(flatten)]
    purse: PurseFlags,

    #[command(flatten)]
    budgets: PartyBudgetFlags,

    #[command(flatten)]
    trace: TraceFlags,

    #[command(flatten)]
    flags: JobFlags,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The parties")]
struct PartyFlags {
    /// One party for each value of this column [default unit: user, the party is a person]
    #[arg(long, value_name = "COLUMN", conflicts_with = "split")]
    users_from: Option<String>,

    /// One party for each value of this column. With a user column the unit is a person within a party;
    /// without one, give --unit record or party
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["split", "users_from"])]
    parties_from: Option<String>,

    /// Number of parties; the records are split among them
    #[arg(long, value_name = "N", value_parser = number::whole::<u32>, allow_negative_numbers = true)]
    split: Option<u32>,

    /// How records are split: iid, label:A or size:A [default: iid]. label:A splits by a private
    /// column: for made-up data, without a certificate
    #[arg(long, value_name = "HOW")]
    skew: Option<String>,

    /// Trust model: who sees what of a party's messages [default: the algorithm's first]
    #[arg(long, value_parser = one_of!(View))]
    trust: Option<View>,

    /// Graph of the parties [default: complete]
    #[arg(long, value_name = "GRAPH")]
    topology: Option<String>,

    /// Failures to simulate, as NAME=CHANCE,…: before, after, delay, duplicate, reorder, corrupt,
    /// byzantine, restart
    #[arg(long, value_name = "LIST", value_parser = failures)]
    fail: Option<Failures>,

    /// Also print the certificate of this party, numbered from 0
    #[arg(long, value_name = "I", value_parser = number::whole::<u32>, allow_negative_numbers = true)]
    party: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "After a crash")]
struct KeepFlags {
    /// Save the run in this file at the end of each round. It holds the key of the noise: keep it
    /// secret
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Continue from the checkpoint
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

impl KeepFlags {
    /// Refuses a place where nothing can be saved, or something else is.
    fn check(&self, force: bool) -> Result<(), Error> {
        let Some(file) = &self.checkpoint else { return Ok(()) };
        if self.resume {
            return check_folder(file.parent().unwrap_or(file));
        }
        check_new(file, force)?;
        // A checkpoint is written in the middle of a run that is paid for.
        let folder = file.parent().unwrap_or(file);
        if folder.as_os_str().is_empty() {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(|error| Error::written(file, &error))
    }
}

impl Simulate {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let Simulate { job, data, parties, keep, node_models, purse, budgets, trace, flags } = self;
        let (party, force) = (parties.party, flags.force());
        let identity = flags.identity()?;
        let of_run = |failure: CommandFailure| failure.by("simulate");
        let flags = flags.file(data.into_iter().collect()).map_err(of_run)?;
        let file = described(job, flags, (parties, budgets)).map_err(of_run)?;
        if let (Some(party), Some(count)) = (party, file.job.parties.split)
            && party >= count
        {
            return Err(no_party(party, count as usize));
        }
        let out = folder(&file);
        check_folder(&out)?;
        check_results(&out, force)?;
        let paid = purse.is_given() || file.job.parties.budget.is_some();
        trace.check(paid, force)?;
        if let Some(nodes) = &node_models {
            check_node_models(&file, nodes)?;
        }
        keep.check(force)?;
        let keep = CheckpointOptions::new(keep.checkpoint.as_deref(), keep.resume);
        let asked = object(&AskedSimulation {
            simulate: &file.job.job,
            parties: &file.job.parties,
            trace: trace.asked(),
            failures: format!("{:?}", file.job.failures),
            party,
            signed_by: identity.as_ref().map(|identity| identity.public().text()),
        });
        let deliver = |simulated: &mut Simulated| {
            if let Some(identity) = &identity {
                simulated.model.sign(identity)?;
            }
            let mut delivery = delivery(simulated, &out, party)?;
            if node_models.is_some() {
                delivery.pieces.push(node_pieces(simulated, identity.as_ref())?);
            }
            delivery.answer.remarks.extend(given_twice(&file.data.paths));
            Ok(delivery)
        };
        let (delivery, charged) = train(&file, (keep, asked), &purse, &trace, deliver)?;
        let before = certificate_before(&out);
        let places = OutputPlaces::default().and("model", Some(&out));
        let places = places.and("node_models", node_models.as_deref());
        let mut answer = delivery.hand_over(&places.and("trace", trace.trace.as_deref()), charged);
        answer.remarks.extend(replaced(before, &out));
        Ok(answer)
    }
}

/// All that tells a run between parties from others in a budget.
#[derive(Serialize)]
struct AskedSimulation<'a> {
    simulate: &'a Spec,
    parties: &'a Parties,
    trace: AskedTrace,
    failures: String,
    party: Option<u32>,
    signed_by: Option<String>,
}

/// A run between parties, and the files of its model.
#[derive(Serialize)]
struct SimulationFields<'a> {
    #[serde(flatten)]
    certificate: CertificateFields<'a>,
    #[serde(flatten)]
    problem: ProblemFields<'a>,
    parties: Option<&'a Spread>,
    rounds: u32,
    messages: Option<u64>,
    bytes: Option<u64>,
    rejections: &'a BTreeMap<String, u64>,
    model: &'a str,
    spent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fewest: Option<u32>,
}

/// What one party has set aside: its plan, whatever was used of it.
#[derive(Serialize)]
struct PartySpending {
    party: usize,
    epsilon: JsonNumber,
    delta: f64,
    events: u64,
    certified: bool,
    view: View,
}

/// What is handed over: the model, what each party may spend, and what was asked for besides.
fn delivery(
    simulated: &Simulated,
    out: &Path,
    party: Option<u32>,
) -> Result<Delivery, CommandFailure> {
    let (path, beside) = (out.join("model.json"), out.join("parties.json"));
    let mut answer = answer(simulated, &path.display().to_string(), &beside.display().to_string());
    let parties = Some(format!("{:#}\n", object(&spent(simulated))));
    let content = Content::Model { model: simulated.model.to_json()?, parties };
    let what = " (the model, the certificate of the party with most to spend inside)".to_owned();
    let mut pieces = vec![Piece { key: "model".to_owned(), what, content }];
    pieces.extend(simulated.trace.as_ref().map(|traced| TraceFlags::piece(traced, &mut answer)));
    let meaning = &simulated.model.certificate().meaning;
    let mut tail = wrapped(&format!("What the certificate means. {meaning}"));
    let own = party.map(|party| (party, simulated.parties.party(party as usize)));
    match own {
        Some((party, Some(own))) => {
            tail += &format!("\nParty {party}\n\n{}", columns(&certificate_rows(own), 2, 2));
            tail += &format!("\n{}", wrapped(&own.meaning));
            answer.object["party"] = object(own);
        }
        // How many there are may be known by now only: what was paid for is handed over.
        Some((party, None)) => {
            let last = simulated.parties.len().saturating_sub(1);
            answer
                .remarks
                .push(format!("There is no party {party}: they are numbered from 0 to {last}."));
        }
        None => (),
    }
    Ok(Delivery { answer, tail, pieces })
}

/// Refuses, before anything is spent, what has no models of single parties, and a folder in which
/// something else is already.
fn check_node_models(file: &JobFile<SimulationSpec>, folder: &Path) -> Result<(), CommandFailure> {
    let job = file.job.check().map_err(|error| CommandFailure::of("simulate", error))?;
    if !job.has_node_models() {
        return Err(CommandFailure::Usage {
            message: "what a party keeps in this algorithm is its secret: there are no models of single parties"
                .to_owned(),
            hint: "leave out --node-models, or choose an algorithm of peers, such as --algorithm r-admm"
                .to_owned(),
        });
    }
    check_folder(folder)?;
    let filled = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if filled {
        return Err(CommandFailure::Usage {
            message: format!("{} has files in it already", folder.display()),
            hint: "give a new folder with --node-models: models of another run would stay beside these"
                .to_owned(),
        });
    }
    Ok(())
}

/// The model of each party, in a folder of its own.
fn node_pieces(
    simulated: &Simulated,
    identity: Option<&Identity>,
) -> Result<Piece, CommandFailure> {
    let mut models = Vec::with_capacity(simulated.nodes.len());
    for party in 0..simulated.nodes.len() {
        let mut model = simulated.nodes.model(party)?;
        if let Some(identity) = identity {
            model.sign(identity)?;
        }
        models.push(model.to_json()?);
    }
    let what = " have the last model of each party. Every neighbour has heard it, and the certificate of the run \
                covers all of them together."
        .to_owned();
    Ok(Piece { key: "node_models".to_owned(), what, content: Content::Models { models } })
}

/// The run, paid for where a budget is named.
fn train(
    file: &JobFile<SimulationSpec>,
    (keep, asked): (CheckpointOptions<'_>, Value),
    purse: &PurseFlags,
    trace: &TraceFlags,
    deliver: impl FnOnce(&mut Simulated) -> Result<Delivery, CommandFailure>,
) -> Result<(Delivery, Charged), CommandFailure> {
    let job = file.job.check().map_err(|error| CommandFailure::of("simulate", error))?;
    let own = &file.job.parties.budget;
    let label = format!("simulate to {}", folder(file).display());
    let purse = opened(file, &label, (keep, asked), purse)?;
    let mut bar = JobBar::new("round");
    let mut watch = |stage| bar.watch(stage);
    let looks_on = |table: PrivateTable| PublicData::of_simulation(&job, table);
    let load = |data: &Files| {
        let _ = watch(Stage::Reading);
        job.load(data)
    };
    let public = trace.public(&file.data, load, looks_on);
    let (table, mut public) =
        public.map_err(|error| CommandFailure::of("simulate", error))?.unzip();
    let run = Run::watched(&mut watch).with_trace(trace.tracing(public.as_mut()));
    let user = job.user_column();
    // Opened again without a party it is said once.
    let mut heard = None;
    let mut hear = |ready: &ReadySimulation<'_>| {
        let expected = ready.outlook();
        if heard.is_none() {
            expected.iter().for_each(foretold);
        }
        heard = expected.or(heard.take());
    };
    let done = match own {
        Some(files) => {
            let asked = asked_of_budgets(&file.job.job.guarantee)?;
            let (user, relation) = (user.as_deref(), Relation::Same);
            let bill = Bill { label: &label, asked, user, relation };
            let open = |absent: &BTreeSet<u32>, run: &mut Run<'_>| {
                let ready = job.open_without(&file.data, keep, absent, run)?;
                hear(&ready);
                Ok(ready)
            };
            paid_by_each(files, &bill, &file.data, open, run, deliver)
        }
        None => {
            let open = |data: &Files, run: &mut Run<'_>| {
                let ready = job.open(table.map_or(Source::from(data), Source::from), keep, run)?;
                hear(&ready);
                Ok(ready)
            };
            done(purse, &file.data, user, open, run, deliver)
        }
    };
    bar.finish();
    done.map_err(|failure| failure.by("simulate"))
}

/// The budget that pays for a run, where one is named.
fn opened(
    file: &JobFile<SimulationSpec>,
    label: &str,
    (keep, asked): (CheckpointOptions<'_>, Value),
    purse: &PurseFlags,
) -> Result<Option<Purse>, CommandFailure> {
    if purse.is_given() && file.job.parties.budget.is_some() {
        return Err(CommandFailure::Usage {
            message: "the parties of the job file pay each from a budget of its own".to_owned(),
            hint: "leave out --budget, or `budget` of [parties]".to_owned(),
        });
    }
    let name = JobName::kept(label, &asked, &file.data, &file.job.described_in());
    let purse = purse.open(&file.job.job.guarantee, &file.data, name, || None)?;
    if purse.is_some() && keep.resume {
        return Err(CommandFailure::Usage {
            message: "a run that goes on has reserved when it began, and is counted in full"
                .to_owned(),
            hint:
                "leave out --budget; when it is done, close its job with `reticent budget forfeit`"
                    .to_owned(),
        });
    }
    Ok(purse)
}

/// The job file, if there is one, with the flags over it.
fn described(
    job: Option<PathBuf>,
    flags: JobFile<Spec>,
    (parties, budgets): (PartyFlags, PartyBudgetFlags),
) -> Result<JobFile<SimulationSpec>, CommandFailure> {
    let JobFile { job: mut spec, data, out, .. } = flags;
    let by_column = parties.users_from.is_some();
    if by_column {
        spec.user_column = parties.users_from;
    }
    let among = Parties::default().with(|it| {
        it.split = parties.split;
        it.parties_from = parties.parties_from;
        it.skew = parties.skew;
        it.trust = parties.trust;
        it.topology = parties.topology;
        it.budget = budgets.files();
    });
    let mut simulation = SimulationSpec::new(spec, among);
    simulation.failures = parties.fail.unwrap_or_default();
    let mut file = JobFile::new(simulation, data, out);
    if let Some(path) = job {
        file = JobFile::<SimulationSpec>::read(&path)?.overlaid(file)?;
    }
    if by_column {
        (file.job.parties.split, file.job.parties.users_from) = (None, None);
        file.job.parties.parties_from = None;
    }
    Ok(file)
}

/// Flags that a run between parties has no use for are not in its help; whoever gives one is told.
fn of_parties(flag: clap::Arg) -> clap::Arg {
    let name = flag.get_id().as_str();
    let taken = |name: &str| {
        let mut settings = CATALOGUE.iter().map(|entry| entry.takes).chain(of_one_table());
        settings.any(|takes| takes.contains(&name))
    };
    let of_a_job = Spec::augment_args(clap::Command::new(""));
    let of_a_job = of_a_job.get_arguments().any(|own| own.get_id() == flag.get_id());
    let used = BETWEEN_PARTIES.contains(&name) || OF_ONE_TABLE.contains(&name);
    // The rows of parties are in memory, and a cache file is refused.
    let cached = matches!(name, "cache" | "keep_cache");
    let hidden = cached || of_a_job && !used || is_setting(name) && !taken(name);
    if hidden { flag.hide(true) } else { flag }
}

/// The settings of the algorithms of one table, which run between parties on sums.
fn of_one_table() -> impl Iterator<Item = &'static [&'static str]> {
    reticent::internal::admm::catalogue::CATALOGUE.iter().map(|entry| entry.takes)
}

fn no_party(party: u32, count: usize) -> CommandFailure {
    CommandFailure::Usage {
        message: format!("there is no party {party}"),
        hint: format!("they are numbered from 0 to {}", count.saturating_sub(1)),
    }
}

/// What each party has set aside.
fn spent(simulated: &Simulated) -> Vec<Option<PartySpending>> {
    let one = |party: usize| {
        let own = simulated.parties.party(party)?;
        Some(PartySpending {
            party,
            epsilon: own.epsilon.into(),
            delta: own.delta,
            events: own.ledger.total_events(),
            certified: own.certified,
            view: own.view,
        })
    };
    (0..simulated.parties.len()).map(one).collect()
}

fn answer(simulated: &Simulated, path: &str, beside: &str) -> Answer {
    let Simulated { model, parties, rounds, traffic, rejections, .. } = simulated;
    let certificate: &Certificate = model.certificate();
    let moved = |traffic: &Traffic| {
        format!("; {} messages, {:.1} MB", traffic.messages, traffic.bytes as f64 / 1e6)
    };
    let mut text = format!(
        "Trained between {} in {rounds} rounds{}.\n\n",
        if parties.len() == 1 {
            "1 party".to_owned()
        } else {
            format!("{} parties", parties.len())
        },
        traffic.as_ref().map_or(String::new(), moved)
    );
    text += &columns(&rows(simulated), 2, 2);

    let fields = SimulationFields {
        certificate: CertificateFields::of(certificate),
        problem: ProblemFields::of(model),
        parties: certificate.parties.as_ref(),
        rounds: *rounds,
        messages: traffic.map(|traffic| traffic.messages),
        bytes: traffic.map(|traffic| traffic.bytes),
        rejections,
        model: path,
        spent: beside,
        fewest: simulated.fewest,
    };
    let remarks = not_private(certificate).into_iter().chain(certificate.weaknesses()).collect();
    Answer { remarks, ..Answer::of(text, &fields) }
}

/// What is said of a run, a line each.
fn rows(simulated: &Simulated) -> Vec<Vec<String>> {
    let Simulated { model, rejections, .. } = simulated;
    let certificate = model.certificate();
    let mut rows = problem_rows(&algorithm(certificate), model);
    rows.extend(certificate_rows(certificate));
    rows.extend(many_rounds(model, simulated.rounds).map(|said| row("rounds", said)));
    rows.extend(extra_rows(model));
    if let Some(spread) = &certificate.parties {
        let spread =
            [spread.least, spread.median, spread.ninth_decile, spread.most].map(number::show_up);
        rows.push(row(
            "spread",
            format!(
                "epsilon of the parties: least {}, median {}, 90% {}, most {}",
                spread[0], spread[1], spread[2], spread[3]
            ),
        ));
    }
    if let (Some(fewest), Some(spread)) = (simulated.fewest, &certificate.parties) {
        let left = format!(
            "masked sums of at least {fewest} of {} parties, scaled to the records of all",
            spread.count
        );
        rows.push(row("left", left));
    }
    if !rejections.is_empty() {
        let list: Vec<_> =
            rejections.iter().map(|(name, count)| format!("{count} {name}")).collect();
        rows.push(row("rejected", list.join(", ")));
    }
    rows
}

fn failures(text: &str) -> Result<Failures, String> {
    let mut all = serde_json::Map::new();
    for part in text.split(',') {
        let (name, chance) =
            part.split_once('=').ok_or("NAME=CHANCE is needed, as in after=0.1")?;
        let chance = if name == "seed" {
            Value::from(number::whole::<u64>(chance)?)
        } else {
            Value::from(number::parse(chance)?)
        };
        all.insert(name.trim().to_owned(), chance);
    }
    serde_json::from_value(Value::Object(all)).map_err(|error| error.to_string())
}

//! 1,000 parties connected to one lead: seconds of a round and of the way there, and the lead's memory. A
//! plain program: `cargo bench -p reticent-host --bench many -- --parties 1000 --features 100 --link tls`
//! (further: `--trust local|central`, `--link quic`, `--iterations 5`).
//!
//! The lead is a process of its own, so that its memory is its own (VmHWM). The parties are threads of this
//! one: each has a key, a signed roster, a table in a file, a journal on the disk and a connection of its own,
//! and does all that `reticent join` does, with nothing shared but the run file as it was read. So the
//! time of a round here is that of the lead and of all parties on the cores of one machine. All signatures
//! are checked by everybody: that is most of the time before a run begins, and would be each machine's own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reticent::{Files, Identity};
use reticent_host::links::{LinkKind, PartyWay, listener};
use reticent_host::{HostOptions, Lead, Notice, RemoteParty, Roster, RunFile, RunJournal};

/// Longer than everybody's work before a run begins, on few cores.
const PATIENCE: Duration = Duration::from_secs(1_800);

const ROWS: u32 = 20;

struct Given {
    parties: u32,
    features: u32,
    iterations: u32,
    trust: String,
    link: String,
    /// The folder of the world, where this process is the lead.
    lead: Option<PathBuf>,
}

impl Given {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let find = |name: &str| {
            let place = words.iter().position(|word| *word == format!("--{name}"))?;
            words.get(place + 1).cloned()
        };
        let number = |name: &str, usual: u32| {
            find(name).map_or(usual, |word| word.parse().expect("a whole number"))
        };
        Given {
            parties: number("parties", 1_000),
            features: number("features", 100),
            iterations: number("iterations", 5),
            trust: find("trust").unwrap_or_else(|| "local".to_owned()),
            link: find("link").unwrap_or_else(|| "tls".to_owned()),
            lead: find("lead").map(PathBuf::from),
        }
    }

    fn kind(&self) -> LinkKind {
        match &self.link[..] {
            "tls" => LinkKind::Tls,
            "quic" => LinkKind::Quic,
            other => panic!("--link {other}: it must be tls or quic"),
        }
    }
}

fn identity(folder: &Path, name: &str) -> Identity {
    let path = folder.join(format!("{name}.key"));
    match path.exists() {
        true => Identity::read(&path).expect("a key"),
        false => Identity::create(&path).expect("a new key").0,
    }
}

fn party(number: u32) -> String {
    format!("party-{number}")
}

/// A roster that all have signed.
fn roster(folder: &Path, parties: u32) {
    let place = std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let address = place.expect("a free port");
    let key = |name: &str| identity(folder, name).public().text();
    let mut text = format!(
        "format = 1\nstudy = \"a bench\"\n[lead]\nname = \"lead\"\nkey = \"{}\"\naddress = \"{address}\"\n",
        key("lead")
    );
    for name in (0..parties).map(party) {
        text += &format!("[[party]]\nname = \"{name}\"\nkey = \"{}\"\n", key(&name));
    }
    let path = folder.join("roster.toml");
    std::fs::write(&path, text).expect("a file");
    let mut roster = Roster::read(&path).expect("a roster");
    for name in (0..parties).map(party).chain(["lead".to_owned()]) {
        roster = roster.sign(&identity(folder, &name)).expect("a member");
    }
    std::fs::write(&path, roster.text().expect("a text")).expect("a file");
}

/// Keys, tables, the roster and the run file.
fn world(folder: &Path, given: &Given) {
    let Given { parties, features, iterations, trust, .. } = given;
    let column = |k: u32| {
        format!("[[column]]\nname = \"x{k}\"\nkind = \"numeric\"\nlower = -1\nupper = 1\n")
    };
    let mut schema = "row_norm = 1\n".to_owned();
    (0..*features).for_each(|k| schema += &column(k));
    schema += "[[column]]\nname = \"y\"\nkind = \"target\"\nclasses = [\"no\", \"yes\"]\n";
    std::fs::write(folder.join("schema.toml"), schema).expect("a file");
    for number in 0..*parties {
        let mut text = (0..*features).map(|k| format!("x{k},")).collect::<String>() + "y\n";
        for row in 0..ROWS {
            let at = |k: u32| f64::from((row * 37 + number * 11 + k * 17) % 41) / 20.0 - 1.0;
            (0..*features).for_each(|k| text += &format!("{:.2},", at(k)));
            text += if at(0) > 0.1 { "yes\n" } else { "no\n" };
        }
        std::fs::write(folder.join(party(number) + ".csv"), text).expect("a file");
    }
    roster(folder, *parties);
    let run = format!(
        "schema = \"schema.toml\"\nalgorithm = \"dp-sgd\"\nepsilon = 4.0\ndelta = 1e-5\niterations = {iterations}\n\
         [parties]\ntrust = \"{trust}\"\n[network]\nroster = \"roster.toml\"\n"
    );
    std::fs::write(folder.join("run.toml"), run).expect("a file");
}

/// The most memory that this process, or another, has had, in MB.
fn peak(process: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// The lead: a line for each thing that happens, with the seconds since it began.
fn lead(folder: &Path, given: &Given) {
    let began = Instant::now();
    let say = move |what: &str| println!("{:.3} {what}", began.elapsed().as_secs_f64());
    let tell = move |notice: &Notice| match notice {
        Notice::Began { .. } => say("began"),
        Notice::Answered { round } => say(&format!("answered {round}")),
        Notice::Waiting { names } => say(&format!("waits for {}", names.len())),
        _ => {}
    };
    let RunFile { job, roster, .. } = RunFile::read(&folder.join("run.toml")).expect("a run");
    let own = Arc::new(identity(folder, "lead"));
    let place = Some((given.kind(), roster.lead_address()));
    let listener = listener(&own, &roster, place, None).expect("a free port");
    let options = HostOptions { patience: PATIENCE, notify: Arc::new(tell), ..Default::default() };
    let journal = RunJournal::open(&folder.join("lead.journal")).expect("a journal");
    let lead = Lead { job: &job, roster: &roster, identity: &own, options };
    let led = lead.run(journal, listener).expect("a run");
    assert!(led.without.is_empty(), "{:?} have no model", led.without);
    say(&format!("over {:.1} MB turned away {:?}", peak("self"), led.rejections));
}

/// One party, from its files to its model.
fn join(folder: &Path, (run, given): (&RunFile, &Given), (number, waits): (u32, &AtomicU32)) {
    let name = party(number);
    let own = Arc::new(identity(folder, &name));
    let mut way = PartyWay::default();
    way.link = given.kind();
    let dialer = way.dialer(&own, &run.roster).expect("a way");
    let files = Files::one(folder.join(format!("{name}.csv")));
    let options = HostOptions { patience: PATIENCE, ..Default::default() };
    let journal = RunJournal::open(&folder.join(format!("{name}.journal"))).expect("a journal");
    let (job, roster) = (&run.job, &*run.roster);
    let member =
        RemoteParty { job, roster, identity: &own, files: &files, dialer: &*dialer, options };
    member.join(journal, None).expect("a model");
    waits.fetch_sub(1, Ordering::Relaxed);
}

/// What the lead has said, as it says it.
fn heard(out: impl std::io::Read) -> Vec<(f64, String)> {
    let lines = BufReader::new(out).lines().map_while(Result::ok);
    let read = |line: String| {
        println!("    lead: {line}");
        let (at, what) = line.split_once(' ').expect("a time and a word");
        (at.parse().expect("seconds"), what.to_owned())
    };
    lines.map(read).collect()
}

fn main() {
    let given = Given::read();
    if let Some(folder) = &given.lead {
        return lead(folder, &given);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let began = Instant::now();
    world(folder.path(), &given);
    println!(
        "keys, tables and a roster of {}: {:.1} s",
        given.parties,
        began.elapsed().as_secs_f64()
    );
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--lead", &folder.path().display().to_string()])
        .args(["--link", &given.link])
        .stdout(Stdio::piped())
        .spawn()
        .expect("a lead");
    let out = child.stdout.take().expect("its words");
    let run = RunFile::read(&folder.path().join("run.toml")).expect("a run");
    let (waits, said) = (AtomicU32::new(given.parties), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| *said.lock().expect("a lock") = heard(out));
        for number in 0..given.parties {
            let (folder, own, waits) = (folder.path(), (&run, &given), &waits);
            scope.spawn(move || join(folder, own, (number, waits)));
        }
    });
    assert!(child.wait().expect("an end").success() && waits.load(Ordering::Relaxed) == 0);
    let said = said.into_inner().expect("a lock");
    let at = |what: &str| said.iter().find(|(_, own)| own.starts_with(what)).map(|(at, _)| *at);
    let rounds: Vec<f64> =
        said.iter().filter(|(_, own)| own.starts_with("answered")).map(|(at, _)| *at).collect();
    let mut took: Vec<f64> = rounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    took.sort_by(f64::total_cmp);
    println!(
        "{} parties, d = {}, {} over {}: the run began after {:.1} s; a round took {:.2} s (median of {}, at most {:.2}); \
         lead: {}; parties together {:.0} MB",
        given.parties,
        given.features,
        given.trust,
        given.link,
        at("began").unwrap_or(f64::NAN),
        took.get(took.len() / 2).unwrap_or(&f64::NAN),
        took.len(),
        took.last().unwrap_or(&f64::NAN),
        said.last().map_or("", |(_, what)| what),
        peak("self"),
    );
}

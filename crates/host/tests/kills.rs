//! kill −9 at random moments, by a seed, of members who are processes of their own, over links and trusts: the bits of a run
//! that nobody has disturbed, one answer to each request, and one settled payment of each party. Nobody forfeits by a
//! kill: a run that ends otherwise fails here, by what it says.
//!
//! `RETICENT_KILLS=200 cargo test -p reticent-host --test host kills -- --nocapture` for more of them.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::time::{Duration, Instant};

use reticent::simulate::RemoteKind;
use reticent::{Model, Unit, View};
use reticent_budget::{Promise, Store};

use super::peers::{R_ADMM, WALK};
use super::rough::{MEMBERS, start};
use super::steps::STEPS;
use super::world::{AUTO, World, bits};

/// As many as there are where nothing else is said.
const KILLS: u32 = 10;

/// No run has more.
const MOST: u32 = 8;

/// What is run, under which trust, over which link; in turns.
const SCENES: [(&str, &str, &str); 10] = [
    (AUTO, "secure-aggregation", "auto"),
    (R_ADMM, "local", "tls"),
    (AUTO, "central", "quic"),
    (STEPS, "secure-aggregation", "auto"),
    (AUTO, "local", "tls"),
    (WALK, "network", "quic"),
    (STEPS, "central", "tls"),
    (R_ADMM, "local", "quic"),
    (AUTO, "secure-aggregation", "tls"),
    (STEPS, "local", "auto"),
];

/// Numbers without pattern, the same in every run.
struct KillTimes(u64);

impl KillTimes {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    /// A part of a second.
    fn pause(&mut self) -> Duration {
        Duration::from_millis(10 + self.below(350) as u64)
    }
}

fn budgets(world: &World, (job, trust): (&str, &str)) {
    let promise = Promise::new("clinic", 9.0, 1e-4).unwrap();
    let promise = match job {
        WALK => Promise { view: View::Network, unit: Unit::User, ..promise },
        STEPS if trust == "central" => Promise { view: View::Central, ..promise },
        STEPS if trust != "local" => Promise { view: View::SecureAggregation, ..promise },
        _ => promise,
    };
    for party in &MEMBERS[1..] {
        Store::create(&world.at(&format!("{party}.budget")), promise.clone()).unwrap();
    }
}

/// One run, in which members are killed and started again; how often.
struct KilledRun<'a> {
    world: &'a World,
    link: &'a str,
    running: BTreeMap<&'static str, Child>,
    done: BTreeSet<&'static str>,
}

impl Drop for KilledRun<'_> {
    fn drop(&mut self) {
        for child in self.running.values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl KilledRun<'_> {
    fn start(&mut self, role: &'static str) {
        self.running.insert(role, start(&self.world.folder, role, self.link));
    }

    /// Notes who is done, and starts again whose patience was at its end.
    fn look(&mut self) {
        for role in MEMBERS {
            let child = self.running.get_mut(role).unwrap();
            if self.done.contains(role) || child.try_wait().unwrap().is_none() {
                continue;
            }
            let said = std::fs::read_to_string(self.world.at(&format!("{role}.end"))).unwrap();
            match &said[..] {
                "done" => _ = self.done.insert(role),
                said if said.contains("did not come") => self.start(role),
                said => panic!("{role} came to an end: {said}"),
            }
        }
    }

    fn kill(&mut self, times: &mut KillTimes) -> bool {
        let left: Vec<_> = MEMBERS.into_iter().filter(|role| !self.done.contains(role)).collect();
        let Some(role) = left.get(times.below(left.len().max(1))) else { return false };
        let child = self.running.get_mut(role).unwrap();
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        self.start(role);
        true
    }

    fn go(&mut self, most: u32, times: &mut KillTimes) -> u32 {
        MEMBERS.into_iter().for_each(|role| self.start(role));
        let (mut kills, mut due) = (0, Instant::now() + times.pause());
        while self.done.len() < MEMBERS.len() {
            std::thread::sleep(Duration::from_millis(5));
            self.look();
            if kills < most && Instant::now() >= due {
                kills += u32::from(self.kill(times));
                due = Instant::now() + times.pause();
            }
            assert!(due.elapsed() < Duration::from_secs(180), "{:?} are done", self.done);
        }
        kills
    }

    fn numbers(&self, role: &str) -> Vec<u64> {
        let text = std::fs::read_to_string(self.world.at(&format!("{role}.model"))).unwrap();
        bits(&Model::from_json(&text).unwrap())
    }

    /// The bits of one process, one answer to each request, one payment.
    fn check(&self, what: &str) {
        let kind = self.world.run_file().job.kind();
        if kind == RemoteKind::Graph {
            let simulated = self.world.in_one_process().nodes;
            for (party, role) in MEMBERS[1..].iter().enumerate() {
                let own = bits(&simulated.model(party).unwrap());
                assert_eq!(self.numbers(role), own, "{what}: {role}");
            }
        } else {
            let model = match kind == RemoteKind::Sums {
                true => self.world.simulated(),
                false => self.world.in_one_process().model,
            };
            // What a walker has seen last is its own affair.
            let alike = if kind == RemoteKind::Walk { 1 } else { MEMBERS.len() };
            for role in &MEMBERS[..alike] {
                assert_eq!(self.numbers(role), bits(&model), "{what}: {role}");
            }
        }
        for role in &MEMBERS[1..] {
            let twice = self.world.said_by(role).into_iter().find(|(_, said)| said.len() > 1);
            assert_eq!(twice, None, "{what}: {role}");
            let budget = Store::open(&self.world.at(&format!("{role}.budget"))).unwrap();
            let jobs = budget.summary().unwrap().jobs;
            let states: Vec<_> = jobs.iter().map(|job| job.status.name()).collect();
            let settled = states.iter().filter(|state| **state == "settled").count();
            // What was reserved by a process that was killed before it joined is given back.
            let given_back = states.iter().filter(|state| **state == "released").count();
            assert_eq!((settled, given_back), (1, states.len() - 1), "{what}: {role} {states:?}");
        }
    }
}

#[test]
fn members_that_are_killed_at_random_moments_come_to_the_same_bits_and_pay_once() {
    let kills = std::env::var("RETICENT_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let (mut times, mut done, began) = (KillTimes(12), 0, Instant::now());
    for (job, trust, link) in SCENES.into_iter().cycle() {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), MEMBERS.len() as u32 - 1, job, trust);
        let text = std::fs::read_to_string(world.at("run.toml")).unwrap();
        std::fs::write(world.at("run.toml"), text + "patience = 60\n").unwrap();
        budgets(&world, (job, trust));
        let mut run =
            KilledRun { world: &world, link, running: BTreeMap::new(), done: BTreeSet::new() };
        let most = (1 + times.below(MOST as usize) as u32).min(kills - done);
        let own = run.go(most, &mut times);
        let what = format!("{} under {trust} by {link}", job.split('"').nth(1).unwrap());
        run.check(&what);
        done += own;
        println!("{what}: {own} kills; {done} in {:.0} s", began.elapsed().as_secs_f64());
        if done >= kills {
            return;
        }
    }
}

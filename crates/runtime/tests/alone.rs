//! One party alone: each node is made from the public description of the run, one table and one
//! key, and the bytes are moved by hand. It comes to the same bits as a simulation with those keys,
//! and every node has its party's books.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeMap, VecDeque};

use crate::common::{Job, World};
use reticent_accountant::{Ledger, Unit, View};
use reticent_oracle::{NoiseKey, Terms};
use reticent_runtime::{
    Agreement, Envelope, MessageKind, Node, NoisePrice, PartyBudget, PartyId, RunId, SERVER,
    key_of, run_id, wire,
};

const RUN: u64 = 5;

fn jobs() -> Vec<Job<'static>> {
    let budget = PartyBudget { epsilon: 4.0, delta: 1e-5 };
    let job = |algorithm, view, settings, topology| Job {
        algorithm,
        view,
        settings,
        topology,
        unit: if algorithm == "federated" || algorithm == "walk" {
            Unit::User
        } else {
            Unit::Record
        },
        price: NoisePrice::Within(budget, BTreeMap::from([(2, 2.0)])),
        seed: RUN,
        ..Job::default()
    };
    let (rounds, sampled) = (r#"{"iterations": 6}"#, r#"{"iterations": 6, "sampling": "wor:6"}"#);
    vec![
        job("federated", View::Local, sampled, "complete"),
        job("federated", View::SecureAggregation, sampled, "complete"),
        job(
            "federated",
            View::Central,
            r#"{"iterations": 6, "sampling": "poisson:0.5"}"#,
            "complete",
        ),
        job("dp-admm", View::Local, rounds, "complete"),
        job("dp-admm-exact", View::Local, rounds, "complete"),
        job("r-admm", View::Local, rounds, "ring"),
        job(
            "m-admm",
            View::Local,
            r#"{"iterations": 6, "release": "objective", "rho": 3}"#,
            "grid",
        ),
        job("walk", View::Network, r#"{"iterations": 120}"#, "complete"),
        job("walk", View::Local, r#"{"iterations": 120, "walk": "stateful"}"#, "complete"),
    ]
}

/// What everybody knows, each for itself: nobody's agreement is another's. Of a trusted server they
/// know the public key, as the bytes that it sent.
fn agreed(world: &World, job: &Job<'_>) -> Agreement {
    let key = NoiseKey::seeded(RUN);
    let run = run_id(&[9; 32], &key).unwrap();
    let mut own = world.described(job, |setup| Agreement::new(setup, run)).unwrap();
    let sent = wire::pack(&own.aggregator_key(&key_of(SERVER, &key))).unwrap();
    own.trust(wire::unpack(&sent).unwrap());
    own
}

/// Every node, made where its table and its key are.
fn nodes(world: &World, job: &Job<'_>) -> Vec<Box<dyn Node>> {
    let tables = world.table().split_by_user().unwrap().into_iter().zip(0..);
    let key = |id| key_of(id, &NoiseKey::seeded(RUN));
    let node = |(table, i)| agreed(world, job).node(PartyId(i), table, key(PartyId(i))).unwrap();
    let mut nodes: Vec<_> = tables.map(node).collect();
    nodes.extend(agreed(world, job).server(key(SERVER)).unwrap());
    nodes
}

/// The messages, moved one after the other until nobody awaits anything.
struct Line {
    nodes: Vec<Box<dyn Node>>,
    waiting: VecDeque<Vec<u8>>,
}

impl Line {
    fn send(&mut self, sent: Vec<Envelope>) {
        self.waiting.extend(sent.iter().map(wire::encode));
    }

    fn carry(&mut self) {
        while let Some(bytes) = self.waiting.pop_front() {
            let envelope = wire::decode(&bytes, usize::MAX).unwrap();
            let last = self.nodes.len() - 1;
            let place = if envelope.to == SERVER { last } else { envelope.to.index() };
            let said = self.nodes[place].on_message(&envelope).unwrap();
            self.send(said);
        }
    }

    /// Whose clocks there are: the server's, or everybody's.
    fn clocks(&self) -> Vec<usize> {
        let server = self.nodes.iter().position(|node| node.id() == SERVER);
        server.map_or_else(|| (0..self.nodes.len()).collect(), |server| vec![server])
    }

    /// All rounds. Where clocks are `apart`, what one says at its deadline is heard before the next
    /// one's clock has come to it.
    fn run(&mut self, rounds: u32, apart: bool) {
        for round in 0..=rounds {
            for clock in self.clocks() {
                let said = self.nodes[clock].on_deadline(round).unwrap();
                self.send(said);
                if apart {
                    self.carry();
                }
            }
            self.carry();
            for clock in self.clocks() {
                while round < rounds && !self.nodes[clock].awaits().is_empty() {
                    let said = self.nodes[clock].on_quiet(round + 1).unwrap();
                    if said.is_empty() {
                        break;
                    }
                    self.send(said);
                    self.carry();
                }
            }
        }
    }
}

/// What a certificate is made from.
fn books(node: &dyn Node) -> (PartyId, Ledger, u64, Terms) {
    let report = node.party().unwrap().report();
    (report.id, report.ledger, report.answers, report.terms)
}

#[test]
fn nodes_that_are_made_one_by_one_come_to_the_bits_of_a_simulation() {
    let world = World::even(80, 3, 8);
    for job in jobs() {
        let outcome = world.run(&job);
        let (protocol, mut line) =
            (agreed(&world, &job), Line { nodes: nodes(&world, &job), waiting: VecDeque::new() });
        line.run(protocol.protocol().rounds(), false);
        let name = format!("{} {}", job.algorithm, job.view);
        assert_eq!(
            protocol.protocol().published(&line.nodes).unwrap(),
            outcome.parameter,
            "{name}"
        );
        for (node, report) in line.nodes.iter().zip(outcome.parties) {
            assert_eq!(
                books(&**node),
                (report.id, report.ledger, report.answers, report.terms),
                "{name}"
            );
        }
        // Whoever has a model has it from its own node.
        let owners = line.nodes.iter().filter(|node| node.model().is_some()).count();
        let peers = line.nodes.iter().all(|node| node.id() != SERVER);
        assert!(if peers { owners > 1 } else { owners == 1 }, "{name}: {owners}");
    }
}

/// Neighbours whose clocks are ahead are heard when their round has begun, and not before.
#[test]
fn peers_whose_clocks_are_apart_come_to_the_same_bits() {
    let world = World::even(80, 3, 8);
    for job in jobs().into_iter().filter(|job| job.topology != "complete") {
        let outcome = world.run(&job);
        let (protocol, mut line) =
            (agreed(&world, &job), Line { nodes: nodes(&world, &job), waiting: VecDeque::new() });
        line.run(protocol.protocol().rounds(), true);
        assert_eq!(protocol.protocol().published(&line.nodes).unwrap(), outcome.parameter);
    }
}

/// A party's key may outlive a run: what it says in another has nothing in common with it.
#[test]
fn two_runs_with_one_key_share_nothing() {
    let world = World::even(80, 3, 8);
    for job in jobs().into_iter().filter(|job| job.algorithm == "federated") {
        let said = |run: [u8; 32]| {
            let mut own = world.described(&job, |setup| Agreement::new(setup, run)).unwrap();
            own.trust(own.aggregator_key(&NoiseKey::seeded(99)));
            let table = world.table().split_by_user().unwrap().swap_remove(0);
            let mut node = own.node(PartyId(0), table, NoiseKey::seeded(7)).unwrap();
            let z = vec![0.25; 3];
            let payload = match job.view {
                View::Local => wire::pack(&(&z, &z)),
                _ => wire::pack(&(0_u32, vec![z], 0_u32)),
            };
            let ask = Envelope {
                run: RunId::from(&run),
                round: 1,
                attempt: 0,
                from: SERVER,
                to: PartyId(0),
                kind: MessageKind::Ask,
                payload: payload.unwrap(),
            };
            let said = node.on_message(&ask).unwrap();
            // The line delivers it once more: the same bytes.
            assert_eq!(node.on_message(&ask).unwrap(), said);
            assert_eq!(
                node.party().unwrap().ledger().total_events(),
                u64::from(job.view != View::Central)
            );
            said[0].payload.clone()
        };
        assert_eq!(said([1; 32]), said([1; 32]), "{}", job.view);
        assert_ne!(said([1; 32]), said([2; 32]), "{}", job.view);
    }
}

/// A table that is not what the description says of the party would be answered for on other terms.
#[test]
fn a_table_of_another_size_than_agreed_is_refused() {
    let world = World::even(80, 3, 8);
    let job = jobs().swap_remove(5);
    let tables = World::even(88, 3, 8).table().split_by_user().unwrap();
    let table = tables.into_iter().next().unwrap();
    let refused = agreed(&world, &job).node(PartyId(0), table, NoiseKey::seeded(1)).err().unwrap();
    assert!(refused.to_string().contains("records = 11"), "{refused}");
}

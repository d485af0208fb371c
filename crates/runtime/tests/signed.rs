//! Federated steps on machines of their own, under a trusted lead and behind masks: the bits of one process,
//! whoever falls; and a server that lies.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::common::{Job, World};
use reticent_accountant::{Ledger, Mechanism, Unit, View};
use reticent_masks::{AggregationTerms, Body, Corrupt, Message, SumMembers};
use reticent_noise::{Digest, Hasher};
use reticent_oracle::{NoiseKey, Sampling};
use reticent_runtime::{
    Agreement, Envelope, GrowingList, ListPieces, MaskKeys, MessageKind, NAME_ATTEMPTS, Node,
    NoisePrice, PartyId, Rejected, SERVER, SignedKeys, Signers, cap, choose, key_of,
    prepare_as_apart, run_id, wire,
};

const RUN: u64 = 5;
const USERS: u32 = 8;

/// Signatures that nobody makes for another in these tests.
struct Stamps(u32);

fn stamp(who: u32, said: &Digest) -> Vec<u8> {
    Hasher::new("stamp").number(who.into()).field(said).finish().to_vec()
}

impl MaskKeys for Stamps {
    fn sign(&self, said: &Digest) -> Vec<u8> {
        stamp(self.0, said)
    }

    fn has_signed(&self, member: u32, said: &Digest, signature: &[u8]) -> bool {
        stamp(member, said) == signature
    }
}

fn job(view: View, unit: Unit, settings: &'static str) -> Job<'static> {
    // Not calibrated: every node that falls is made anew.
    Job { view, unit, settings, price: NoisePrice::Noise(2.0), seed: RUN, ..Job::default() }
}

fn jobs() -> Vec<Job<'static>> {
    let all = r#"{"iterations": 4}"#;
    let few = r#"{"iterations": 4, "sampling": "wor:3"}"#;
    vec![
        job(View::SecureAggregation, Unit::User, all),
        job(View::SecureAggregation, Unit::Record, all),
        job(View::SecureAggregation, Unit::User, few),
        job(View::Central, Unit::User, r#"{"iterations": 6, "sampling": "poisson:0.5"}"#),
        job(View::Central, Unit::Record, r#"{"iterations": 6, "sampling": "wor:3"}"#),
        job(View::Central, Unit::Record, all),
    ]
}

fn run_name(seed: u64) -> Digest {
    run_id(&[9; 32], &NoiseKey::seeded(seed)).unwrap()
}

/// A snapshot without the lists of a node, and their pieces.
fn apart(node: &dyn Node) -> (Vec<u8>, ListPieces) {
    let pieces = |list: GrowingList| {
        let all = (0..list.len).map(|number| node.piece(&list.name, number).unwrap()).collect();
        (list.name, all)
    };
    (node.snapshot_apart().unwrap(), node.lists().into_iter().map(pieces).collect())
}

/// Everybody, and what moves between them.
struct Net<'w> {
    world: &'w World,
    job: Job<'w>,
    server: NoiseKey,
    nodes: Vec<Box<dyn Node>>,
    waiting: VecDeque<Envelope>,
    moved: Vec<Envelope>,
    deadlines: u32,
}

impl<'w> Net<'w> {
    fn new(world: &'w World, job: Job<'w>) -> Self {
        let server = key_of(SERVER, &NoiseKey::seeded(job.seed));
        Net::led_by(world, job, server)
    }

    fn led_by(world: &'w World, job: Job<'w>, server: NoiseKey) -> Self {
        let mut net = Net {
            world,
            job,
            server,
            nodes: Vec::new(),
            waiting: VecDeque::new(),
            moved: Vec::new(),
            deadlines: 0,
        };
        net.nodes = (0..=USERS).map(|place| net.node(place)).collect();
        net
    }

    /// One node, made where its table and its key are.
    fn node(&self, place: u32) -> Box<dyn Node> {
        let run = run_name(self.job.seed);
        let mut own = self.world.described(&self.job, |setup| Agreement::new(setup, run)).unwrap();
        own.trust(own.aggregator_key(&self.server));
        own.on_a_network(Some(Signers(Arc::new(Stamps(place))))).unwrap();
        if place == USERS {
            let (bytes, seeded) = self.server.expose();
            return own.server(NoiseKey::recall(bytes, seeded)).unwrap().unwrap();
        }
        let table = self.world.table().split_by_user().unwrap().swap_remove(place as usize);
        let key = key_of(PartyId(place), &NoiseKey::seeded(self.job.seed));
        own.node(PartyId(place), table, key).unwrap()
    }

    /// As by a kill: another process goes on from the snapshot, or from one without what only grows, and that.
    fn fall(&mut self, place: usize) {
        let mut again = self.node(place as u32);
        match self.moved.len().is_multiple_of(2) {
            true => again.restore(&self.nodes[place].snapshot().unwrap()).unwrap(),
            false => {
                let (kept, pieces) = apart(&*self.nodes[place]);
                again.restore_apart(&kept, &pieces).unwrap();
            }
        }
        self.nodes[place] = again;
    }

    fn deliver(&mut self, envelope: &Envelope) -> Result<(), (PartyId, Rejected)> {
        let place = if envelope.to == SERVER { USERS as usize } else { envelope.to.index() };
        let said = self.nodes[place].on_message(envelope).map_err(|why| (envelope.to, why))?;
        self.waiting.extend(said);
        Ok(())
    }

    /// Until all is done, or somebody does not take what it is told. `on_the_way` may change messages.
    fn run(
        &mut self,
        falls: bool,
        mut on_the_way: impl FnMut(Envelope) -> Vec<Envelope>,
    ) -> Result<Vec<f64>, (PartyId, Rejected)> {
        loop {
            while let Some(sent) = self.waiting.pop_front() {
                self.moved.push(sent.clone());
                for envelope in on_the_way(sent) {
                    if falls {
                        let to = if envelope.to == SERVER { USERS } else { envelope.to.0 };
                        self.fall(to as usize);
                    }
                    self.deliver(&envelope)?;
                }
            }
            let server = &mut self.nodes[USERS as usize];
            if server.progress().is_some_and(|at| at.done >= at.of) {
                return Ok(server.model().unwrap().parameter);
            }
            assert!(server.awaits().is_empty(), "{:?} are awaited", server.awaits());
            self.waiting.extend(server.on_deadline(self.deadlines).unwrap());
            self.deadlines += 1;
        }
    }
}

fn world() -> World {
    World::even(80, 3, USERS)
}

#[test]
fn steps_between_machines_have_the_bits_of_one_process_whoever_falls() {
    let world = world();
    for number in 0..jobs().len() {
        let job = || jobs().swap_remove(number);
        let outcome = world.run(&job());
        for falls in [false, true] {
            let mut net = Net::new(&world, job());
            let model = net.run(falls, |envelope| vec![envelope]).unwrap();
            let name = format!("{} {} {}", job().view, job().unit, job().settings);
            assert_eq!(model, outcome.parameter, "{name}, falls: {falls}");
            for (node, report) in net.nodes.iter().zip(&outcome.parties) {
                let own = node.party().unwrap().report();
                assert_eq!(
                    (own.ledger, own.terms),
                    (report.ledger.clone(), report.terms),
                    "{name}"
                );
            }
        }
    }
}

/// What a server writes at every message is no longer in the last round than in the first: the course and what was said
/// in a round are lists, of which each piece is written once.
#[test]
fn what_a_server_writes_again_and_again_does_not_grow_with_the_rounds() {
    let settings = r#"{"iterations": 40}"#;
    let world = world();
    for view in [View::Central, View::SecureAggregation] {
        let mut net = Net::new(&world, job(view, Unit::User, settings));
        let mut sizes = Vec::new();
        while sizes.len() < 40 {
            let server = &mut net.nodes[USERS as usize];
            let asked = server.on_deadline(net.deadlines).unwrap();
            net.deadlines += 1;
            net.waiting.extend(asked);
            let (kept, pieces) = apart(&*net.nodes[USERS as usize]);
            let whole = net.nodes[USERS as usize].snapshot().unwrap();
            sizes.push((kept.len(), whole.len(), pieces["z"].len()));
            while let Some(sent) = net.waiting.pop_front() {
                net.deliver(&sent).unwrap();
            }
        }
        let ((second, whole, _), (last, grown, zs)) = (sizes[1], sizes[39]);
        assert!(last <= second + 32, "{view}: {sizes:?}");
        assert!(zs == 40 && grown >= whole + 38 * 8 * 3, "{view}: {sizes:?}");
    }
}

/// Fewer z's than the run has had, other ones, or none of what was said in the round.
#[test]
fn a_server_does_not_go_on_without_what_it_has_written() {
    let world = world();
    let mut net = Net::new(&world, jobs().swap_remove(0));
    // In the second round all are asked, and half of them have said their keys.
    for mut left in [usize::MAX, USERS as usize * 3 / 2] {
        let asked = net.nodes[USERS as usize].on_deadline(net.deadlines).unwrap();
        net.deadlines += 1;
        net.waiting.extend(asked);
        while left > 0
            && let Some(sent) = net.waiting.pop_front()
        {
            net.deliver(&sent).unwrap();
            left -= 1;
        }
    }
    let (kept, pieces) = apart(&*net.nodes[USERS as usize]);
    let names: Vec<&String> = pieces.keys().collect();
    assert_eq!(names, ["heard-2", "z"]);
    for name in names {
        let mut fewer = pieces.clone();
        fewer.get_mut(name).unwrap().pop().unwrap();
        let mut again = net.node(USERS);
        let why = again.restore_apart(&kept, &fewer).unwrap_err().to_string();
        assert!(why.contains("other "), "{name}: {why}");
    }
    assert!(net.node(USERS).restore_apart(&kept, &pieces).is_ok());
}

/// Who is in the sum of a round, as anybody works it out who knows the run's name.
fn drawn(run: &Digest, round: u64) -> Vec<u32> {
    let label = Hasher::new("reticent sample").field(run).number(round - 1).finish();
    let public = NoiseKey::recall(zeroize::Zeroizing::new(*run), true);
    choose(Sampling::WithoutReplacement(3), USERS, &mut public.entropy(&label)).unwrap()
}

/// Once in some hundred runs somebody is drawn more often than its plan has it. Everybody knows who, and the
/// sums go on without: the bits of one process.
#[test]
fn who_is_drawn_too_often_is_left_out_by_everybody() {
    let most = cap(Sampling::WithoutReplacement(3), USERS, 24);
    let too_often = |seed: &u64| {
        let mut times = [0; USERS as usize];
        for round in 1..=24 {
            drawn(&run_name(*seed), round).iter().for_each(|user| times[*user as usize] += 1);
        }
        times.iter().any(|times| *times > most)
    };
    let seed = (0..20_000).find(too_often).unwrap();
    let settings = r#"{"iterations": 24, "sampling": "wor:3"}"#;
    let job = || Job { seed, ..job(View::SecureAggregation, Unit::User, settings) };
    let world = world();
    let mut net = Net::new(&world, job());
    let model = net.run(false, |envelope| vec![envelope]).unwrap();
    assert_eq!(model, world.run(&job()).parameter);
    for round in 1..=24 {
        let asked = net.moved.iter().filter(|sent| {
            (sent.round, sent.kind) == (round, MessageKind::Ask) && sent.attempt == 0
        });
        let asked: Vec<u32> = asked.map(|sent| sent.to.0).collect();
        // A sum of three needs all of them: nobody is asked where one is left out.
        let all = drawn(&run_name(seed), round.into());
        assert!(asked == all || asked.is_empty(), "{asked:?} {all:?}");
    }
    let lost = (1..=24).filter(|round| !net.moved.iter().any(|sent| sent.round == *round)).count();
    assert!(lost > 0, "nobody was left out");
}

/// On a network others may choose among as many names as a party gives its number to: fewer honest members are counted on, and
/// δ′ is the chance of a bad draw under any of the names. In one process nobody chooses.
#[test]
fn a_plan_on_a_network_is_for_a_choice_among_names() {
    let world = World::even(400, 3, 200);
    let settings = r#"{"iterations": 4, "sampling": "wor:20", "honest": 0.9}"#;
    let job = job(View::SecureAggregation, Unit::User, settings);
    let planned = |apart: bool| {
        let mut own = world.described(&job, |setup| Agreement::new(setup, run_name(RUN))).unwrap();
        if apart {
            own.on_a_network(None).unwrap();
        }
        own.planned(PartyId(0)).unwrap()
    };
    let cost = |plan: &Ledger| match plan.entries()[0].event().mechanism() {
        Mechanism::ApproximateZcdp(cost) => (cost.rho(), cost.delta()),
        other => panic!("{other:?}"),
    };
    let (one, many) = (planned(false), planned(true));
    let ((rho, chance), (more, chances)) = (cost(&one), cost(&many));
    // Of 20 drawn from 200, of whom 20 are corrupt, with 15 who stay: 11 may be, and of all names 13. So 15 − 11 of
    // 20 − 11 shares are counted, and 15 − 13 of 20 − 13.
    assert!((more / rho - (4.0 / 9.0) / (2.0 / 7.0)).abs() < 1e-6, "{rho} {more}");
    assert!(chance <= 0.5_f64.powi(30) && chances <= 0.5_f64.powi(30), "{chance} {chances}");
    let once = Corrupt::among(20, 200, 0.9, chances / f64::from(NAME_ATTEMPTS));
    assert_eq!((once.most, f64::from(NAME_ATTEMPTS) * once.chance), (13, chances));
    // What tests compare a network with has its noise.
    let tables = world.table().split_by_user().unwrap();
    let key = NoiseKey::seeded(RUN);
    let run = world.described(&job, |setup| prepare_as_apart(setup, None, key, tables)).unwrap();
    let all = run.complete(|_, _| {}).unwrap().parties;
    let entered = || all.iter().flat_map(|party| party.ledger.entries());
    assert!(entered().count() > 0);
    assert!(entered().all(|entry| entry.event() == many.entries()[0].event()));
}

/// Two masks of one step are not alike: they come from the operating system, not from the party's key.
#[test]
fn masks_are_new_in_every_life_that_has_said_nothing() {
    let world = world();
    let advertised = || {
        let mut net = Net::new(&world, jobs().swap_remove(0));
        let asked = net.nodes[USERS as usize].on_deadline(0).unwrap();
        net.deliver(&asked[0]).unwrap();
        let SignedKeys { message, .. } = wire::unpack(&net.waiting[0].payload).unwrap();
        message
    };
    assert_ne!(advertised(), advertised());
}

/// Under a trusted lead with a secret sample: everybody is asked in every round with the same bytes, and what
/// the wire shows is the same for every draw.
#[test]
fn what_the_wire_shows_of_a_trusted_lead_is_the_same_for_every_draw() {
    let world = world();
    let shown = |seed: u64| {
        let settings = r#"{"iterations": 6, "sampling": "poisson:0.4"}"#;
        let job = job(View::Central, Unit::User, settings);
        let mut net = Net::led_by(&world, job, NoiseKey::seeded(seed));
        let model = net.run(false, |envelope| vec![envelope]).unwrap();
        for round in 1..=6 {
            let asks = net
                .moved
                .iter()
                .filter(|sent| sent.round == round && sent.kind == MessageKind::Ask);
            let asks: Vec<_> = asks.collect();
            assert_eq!(asks.len(), USERS as usize, "round {round}");
            assert_eq!(asks.iter().map(|sent| &sent.payload).collect::<BTreeSet<_>>().len(), 1);
        }
        let wire =
            |sent: &Envelope| (sent.round, sent.from, sent.to, sent.kind, wire::encode(sent).len());
        (model, net.moved.iter().map(wire).collect::<Vec<_>>())
    };
    let ((one, first), (other, second)) = (shown(1), shown(2));
    assert_ne!(one, other, "other draws and other noise");
    assert_eq!(first, second);
}

/// The terms of the masked sum of all in a round.
fn terms(round: u32) -> AggregationTerms {
    let law = SumMembers::choose(USERS, USERS, 0.8).unwrap();
    law.terms(&run_name(RUN), round.into(), 3).unwrap()
}

/// A message of the server to party 3 in round 2, with another body.
fn changed(envelope: Envelope, change: impl FnOnce(&mut Body, &mut Vec<Vec<u8>>)) -> Envelope {
    let signed: Result<SignedKeys, _> = wire::unpack(&envelope.payload);
    let signed = signed.ok().filter(|own| Message::decode(&terms(2), 3, &own.message).is_ok());
    let is_signed = signed.is_some();
    let (message, mut signatures) = match signed {
        Some(SignedKeys { message, signatures }) => (message, signatures),
        None => (envelope.payload.clone(), Vec::new()),
    };
    let mut body = Message::decode(&terms(2), 3, &message).unwrap().body;
    change(&mut body, &mut signatures);
    let message = Message::new(&terms(2), 3, body).encode();
    let payload = match is_signed {
        true => wire::pack(&SignedKeys { message, signatures }).unwrap(),
        false => message,
    };
    Envelope { payload, ..envelope }
}

type Lie = fn(&mut Body, &mut Vec<Vec<u8>>);

/// A server that puts keys of its own in, leaves somebody out of one list or of all, or has a signature stand
/// for other keys: nothing is said to it in that round, and one sum at most is entered.
#[test]
fn a_server_that_lies_about_keys_or_members_is_told_nothing() {
    let lies: [(&str, Lie); 7] = [
        ("keys of its own", |body, _| {
            if let Body::Directory(keys) = body {
                (keys[1].1.mask, keys[1].1.channel) = ([7; 32], [8; 32]);
            }
        }),
        ("keys of another", |body, _| {
            if let Body::Directory(keys) = body {
                keys[1].1 = keys[2].1;
            }
        }),
        ("swapped signatures", |body, signatures| {
            if matches!(body, Body::Directory(_)) {
                signatures.swap(0, 1);
            }
        }),
        ("no signatures", |body, signatures| {
            if matches!(body, Body::Directory(_)) {
                signatures.clear();
            }
        }),
        ("one out of the directory", |body, signatures| {
            if let Body::Directory(keys) = body {
                keys.remove(1);
                signatures.remove(1);
            }
        }),
        ("one out of the deliveries", |body, _| {
            if let Body::Deliveries(sealed) = body {
                sealed.remove(2);
            }
        }),
        ("one out of the survivors", |body, _| {
            if let Body::Survivors { count, holders } = body {
                *count -= 1;
                holders.remove(0);
            }
        }),
    ];
    let world = world();
    for (name, lie) in lies {
        let mut net = Net::new(&world, jobs().swap_remove(0));
        let lied = net.run(true, |envelope| {
            let masks =
                (envelope.round, envelope.to, envelope.kind) == (2, PartyId(3), MessageKind::Masks);
            vec![if masks { changed(envelope, lie) } else { envelope }]
        });
        let (who, why) = lied.unwrap_err();
        assert!(who == PartyId(3) && matches!(why, Rejected::Forged(_)), "{name}: {who} {why}");
        assert_eq!(net.nodes[3].party().unwrap().ledger().total_events(), 2, "{name}");
    }
}

/// Keys that were signed in another round, a second directory, a second list of who stayed, and two things
/// asked in one round.
#[test]
fn a_server_that_repeats_itself_otherwise_is_told_nothing() {
    let world = world();
    let mut net = Net::new(&world, jobs().swap_remove(0));
    let mut first = None;
    let lied = net.run(false, |envelope| {
        if envelope.to != PartyId(3) || envelope.kind != MessageKind::Masks {
            return vec![envelope];
        }
        match (&first, envelope.round) {
            (None, 1) => first = Some(envelope.payload.clone()),
            (Some(old), 2) => return vec![Envelope { payload: old.clone(), ..envelope }],
            _ => {}
        }
        vec![envelope]
    });
    assert!(matches!(lied, Err((PartyId(3), Rejected::Forged(_)))), "{lied:?}");
    // Every message of the masks once more, with another body or the same.
    for kind in 0..3 {
        let mut net = Net::new(&world, jobs().swap_remove(0));
        let mut seen = 0;
        let lied = net.run(false, |envelope| {
            let own = (envelope.to, envelope.kind) == (PartyId(3), MessageKind::Masks);
            seen += u32::from(own);
            match own && seen == kind + 1 {
                true => vec![envelope.clone(), envelope],
                false => vec![envelope],
            }
        });
        assert!(matches!(lied, Err((PartyId(3), Rejected::Forged(_)))), "{kind}: {lied:?}");
    }
    for number in [0, 3] {
        let mut net = Net::new(&world, jobs().swap_remove(number));
        let lied = net.run(true, |envelope| {
            if (envelope.to, envelope.kind) != (PartyId(3), MessageKind::Ask) {
                return vec![envelope];
            }
            let (first, mut zs, place): (u32, Vec<Vec<f64>>, u32) =
                wire::unpack(&envelope.payload).unwrap();
            zs.iter_mut().for_each(|z| z[0] += 1.0);
            let payload = wire::pack(&(first, zs, place)).unwrap();
            vec![envelope.clone(), Envelope { payload, ..envelope }]
        });
        assert!(matches!(lied, Err((PartyId(3), Rejected::Conflicting))), "{lied:?}");
    }
}

/// Who is in a sum is worked out by everybody: a server cannot have somebody in that is not, or elsewhere.
#[test]
fn a_server_does_not_choose_who_is_in_a_sum() {
    let world = world();
    let mut net = Net::new(&world, jobs().swap_remove(2));
    let asked = net.nodes[USERS as usize].on_deadline(0).unwrap();
    assert_eq!(asked.len(), 3);
    let drawn: Vec<u32> = asked.iter().map(|ask| ask.to.0).collect();
    let other = (0..USERS).find(|user| !drawn.contains(user)).unwrap();
    let elsewhere = Envelope { to: PartyId(other), ..asked[1].clone() };
    assert!(matches!(net.deliver(&elsewhere), Err((_, Rejected::Forged(_)))));
    let place = Envelope { payload: asked[1].payload.clone(), ..asked[0].clone() };
    assert!(matches!(net.deliver(&place), Err((_, Rejected::Forged(_)))));
    for user in [other, drawn[0]] {
        let party = net.nodes[user as usize].party().unwrap();
        assert_eq!(party.ledger().total_events(), 0);
    }
}

/// A party that answers twice, does not sign, or brings another's keys is named.
#[test]
fn a_party_that_lies_is_named() {
    type Twist = fn(&Envelope) -> Vec<Envelope>;
    let twists: [Twist; 3] = [
        |said| vec![said.clone(), said.clone()],
        |said| {
            let own: SignedKeys = wire::unpack(&said.payload).unwrap();
            let payload = wire::pack(&SignedKeys { signatures: vec![vec![0; 32]], ..own }).unwrap();
            vec![Envelope { payload, ..said.clone() }]
        },
        |said| vec![Envelope { from: PartyId(5), ..said.clone() }],
    ];
    let world = world();
    for twist in twists {
        let mut net = Net::new(&world, jobs().swap_remove(0));
        let mut done = false;
        let lied = net.run(true, |envelope| {
            let first = !done && (envelope.from, envelope.kind) == (PartyId(3), MessageKind::Masks);
            done |= first;
            if first { twist(&envelope) } else { vec![envelope] }
        });
        assert!(matches!(lied, Err((SERVER, Rejected::Blamed(_)))), "{lied:?}");
    }
}

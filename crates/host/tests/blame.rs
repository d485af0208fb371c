//! Parties that do not follow the protocol: what they say is blamed on them by name, and the others come to
//! their model.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use reticent::Model;
use reticent::internal::runtime::{Envelope, MessageKind, SignedKeys, wire};
use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::HostMessage;
use reticent_host::{HostOptions, Led, Notice, PaidRun};
use reticent_masks::{Body, Message};

use super::world::{AUTO, World, bits, options};

/// What a party answers, changed on its way to the lead.
type Change = Arc<dyn Fn(u32, Vec<u8>) -> Vec<u8> + Send + Sync>;

struct Crooked {
    dialer: Box<dyn Dial>,
    change: Change,
}

struct CrookedLink {
    link: Box<dyn Link>,
    change: Change,
}

impl std::fmt::Debug for Crooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Crooked")
    }
}

impl std::fmt::Debug for CrookedLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CrookedLink")
    }
}

impl Dial for Crooked {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let (link, change) = (self.dialer.dial(until)?, Arc::clone(&self.change));
        Ok(Box::new(CrookedLink { link, change }))
    }
}

impl Link for CrookedLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let Ok(HostMessage::Envelope(bytes)) = HostMessage::unpack(frame) else {
            return self.link.send(frame, until);
        };
        let said = wire::decode(&bytes, wire::LONGEST).unwrap();
        let payload = match said.kind {
            MessageKind::Answer => (self.change)(said.round, said.payload.clone()),
            _ => said.payload.clone(),
        };
        let said = Envelope { payload, ..said };
        self.link.send(&HostMessage::Envelope(wire::encode(&said)).pack(), until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        self.link.receive(limit, until)
    }
}

/// A run in which party 1 says something else, and what the lead has not listened to.
fn crooked(
    world: &World,
    least: Option<u32>,
    change: Change,
) -> (Led, Vec<Result<PaidRun, reticent_host::HostError>>, String) {
    let (_net, listener, mut dialers) = world.net();
    let dialer = dialers.remove(1);
    dialers.insert(1, Box::new(Crooked { dialer, change }));
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let own = Arc::clone(&said);
    let notify = Arc::new(move |notice: &Notice| {
        if let Notice::Rejected { name } = notice {
            own.lock().unwrap().push(name.clone());
        }
    });
    let (led, joined) = world.all(&HostOptions { least, notify, ..options() }, listener, &dialers);
    let said = said.lock().unwrap().join("; ");
    (led.unwrap(), joined, said)
}

fn changed(bytes: &[u8], change: impl FnOnce(&mut Body)) -> Vec<u8> {
    // A byte of version and sixteen of digest come first.
    let mut message: Message = postcard::from_bytes(&bytes[17..]).unwrap();
    change(&mut message.body);
    message.encode()
}

/// The bits of an honest run: false shares are left out of what opens the sum.
#[test]
fn a_party_that_gives_back_false_shares_is_named_and_the_sum_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 5, AUTO, "secure-aggregation");
    let change: Change = Arc::new(|round, payload| match round {
        8 => changed(&payload, |body| {
            let Body::Unmask { seeds, .. } = body else { panic!() };
            seeds.iter_mut().for_each(|(_, share)| share[0] ^= 1);
        }),
        _ => payload,
    });
    let (led, joined, said) = crooked(&world, None, change);
    assert!(said.contains("party-1: a share that is not the one"), "{said}");
    assert!(joined.iter().all(Result::is_ok));
    let model = Model::from_json(&led.model).unwrap();
    assert_eq!(bits(&model), bits(&world.in_one_process().model));
    assert_eq!(led.rejections.get("against the protocol"), Some(&1));
}

/// Keys that it has not signed: the others go on without it, where that was agreed on.
#[test]
fn a_party_whose_keys_are_not_its_own_is_left_out_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 5, AUTO, "secure-aggregation");
    let change: Change = Arc::new(|round, payload| match round {
        5 => {
            let mut keys: SignedKeys = wire::unpack(&payload).unwrap();
            keys.signatures[0][3] ^= 1;
            wire::pack(&keys).unwrap()
        }
        _ => payload,
    });
    let (_, joined, said) = crooked(&world, Some(4), change);
    assert!(said.contains("party-1: its keys of a masked sum are not signed by it"), "{said}");
    for (party, own) in joined.into_iter().enumerate() {
        match party {
            1 => {
                let why = own.unwrap_err().to_string();
                assert!(why.contains("gone on without party-1, from round 2 on"), "{why}");
            }
            _ => drop(own.unwrap()),
        }
    }
}

/// 2⁶⁰ steps are 2²⁸ records: one such answer would be the model. It is cut to what honest records and
/// their noise reach, so that the model stays one of this size, and the lead says whose it was, or, behind
/// masks, that there was one.
#[test]
fn an_exaggerated_answer_is_cut_and_named() {
    for trust in ["local", "secure-aggregation"] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, AUTO, trust);
        let largest = |model: &Model| {
            let all = bits(model).into_iter().map(|bits| f64::from_bits(bits).abs());
            all.fold(0.0, f64::max)
        };
        let honest = largest(&world.in_one_process().model);
        let masked = trust != "local";
        let change: Change = Arc::new(move |round, mut payload| {
            let add = |bytes: &mut [u8]| {
                let (word, _) = bytes.split_first_chunk_mut::<8>().unwrap();
                *word = u64::from_le_bytes(*word).wrapping_add(1 << 60).to_le_bytes();
            };
            match masked {
                true if (round - 1) % 4 == 2 => changed(&payload, |body| {
                    let Body::Masked(bytes) = body else { panic!() };
                    add(bytes);
                }),
                true => payload,
                false => {
                    add(&mut payload);
                    payload
                }
            }
        });
        let (led, _, said) = crooked(&world, None, change);
        let named = if masked {
            "the parties' sum of round 2 is"
        } else {
            "party-1: its answer of round 2 is"
        };
        assert!(said.contains(named) && !said.contains("party-0"), "{trust}: {said}");
        let found = largest(&Model::from_json(&led.model).unwrap());
        assert!(found.is_finite() && found < 1e3 * honest.max(1.0), "{trust}: {found}, {honest}");
    }
}

/// A party that fell when it had the model, before it had said so, says so when it is started again.
#[test]
fn a_lead_does_not_wait_for_a_party_that_fell_with_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 2, AUTO, "local");
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(&options(), listener, &dialers);
    assert!(led.is_ok() && joined.iter().all(Result::is_ok));
    let forget = |journal: &str, sql: &str| {
        let open = rusqlite::Connection::open(world.at(journal)).unwrap();
        assert!(open.execute(sql, []).unwrap() > 0, "{journal}");
    };
    forget("lead.journal", "DELETE FROM received");
    for party in 0..2 {
        forget(&format!("party-{party}.journal"), "DELETE FROM state WHERE name = 'told'");
    }
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(&options(), listener, &dialers);
    assert!(led.unwrap().without.is_empty() && joined.iter().all(Result::is_ok));
}

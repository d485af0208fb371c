//! A lead that is not trusted: parties add their noise themselves, seen one by one or behind masks. The
//! same bits as in one process, each party's own certificate, and what a lead that lies is told.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use reticent::internal::runtime::{Envelope, SignedKeys, wire};
use reticent::{Model, PublicKey};
use reticent_budget::{Promise, Relation, Store};
use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::HostMessage;
use reticent_host::{HostError, HostOptions, JoinBudget, Led, PaidRun, RunJournal};
use reticent_masks::{Body, Message};

use super::world::{AUTO, World, assert_alike, options};

const SAMPLED: &str = "algorithm = \"dp-sgd\"\nepsilon = 4.0\ndelta = 1e-5\niterations = 5\n\
    sampling = \"poisson:0.3\"\n";

fn led(world: &World, own: &HostOptions) -> (Led, Vec<PaidRun>) {
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(own, listener, &dialers);
    (led.unwrap(), joined.into_iter().map(Result::unwrap).collect())
}

/// The numbers and ledgers of one process with the same keys, for the lead and for every party.
#[test]
fn noise_of_the_parties_has_the_bits_of_one_process() {
    for (trust, job) in [("local", AUTO), ("local", SAMPLED), ("secure-aggregation", AUTO)] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, job, trust);
        let (led, joined) = led(&world, &options());
        let simulated = world.in_one_process();
        let model = Model::from_json(&led.model).unwrap();
        assert_alike(&model, &simulated.model);
        assert_eq!(model.certificate().parties, simulated.model.certificate().parties);
        assert_eq!(led.moved.unwrap().0, simulated.rounds, "{trust}");
        let said = model.certificate().assumptions.join("\n");
        assert_eq!(said.contains("are in its sample"), job == SAMPLED, "{said}");
        assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
        for own in joined {
            assert_alike(&own.joined.model, &simulated.model);
            assert_eq!(own.joined.run, led.run);
        }
    }
}

/// Estimates with standard errors: the numbers of the lead in every party's own model, and where they are hidden
/// a party says so in its own words.
#[test]
fn standard_errors_are_in_the_model_of_every_party() {
    for (trust, epsilon, told) in
        [("local", 1e4, true), ("secure-aggregation", 1e4, true), ("local", 1.0, false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let job = format!(
            "algorithm = \"auto\"\nepsilon = {epsilon:.1}\ndelta = 1e-5\niterations = 4\nstandard_errors = 0.5\n"
        );
        let world = World::trusting(folder.path(), 3, &job, trust);
        // Two classes that a line divides have no coefficients to estimate.
        for party in 0..3 {
            let text = std::fs::read_to_string(world.table(party)).unwrap();
            let mixed = |(at, line): (usize, &str)| match at % 4 {
                3 => line.replace("yes", "?").replace("no", "yes").replace('?', "no") + "\n",
                _ => line.to_owned() + "\n",
            };
            let mixed: String = text.lines().enumerate().map(mixed).collect();
            std::fs::write(world.table(party), mixed).unwrap();
        }
        let (led, joined) = led(&world, &options());
        let simulated = world.in_one_process().model;
        let model = Model::from_json(&led.model).unwrap();
        assert_alike(&model, &simulated);
        let found = model.standard_errors().unwrap();
        assert_eq!(Some(found), simulated.standard_errors());
        let expected = (told, 3 * usize::from(told));
        assert_eq!((found.hidden.is_none(), found.estimates.len()), expected, "{found:?}");
        for own in joined {
            let own = own.joined.model;
            assert_alike(&own, &simulated);
            let said = own.standard_errors().unwrap();
            match told {
                true => assert_eq!(said, found),
                false => assert!(said.hidden.as_ref().unwrap().contains("the lead says")),
            }
        }
    }
}

/// With keys of the operating system: each party writes a certificate of its own, signed by itself,
/// with all that it takes as given, and pays for its plan once.
#[test]
fn each_party_certifies_its_own_noise_and_pays_for_it_once() {
    for trust in ["local", "secure-aggregation"] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, AUTO, trust);
        let unseeded = HostOptions { seed: None, ..options() };
        let files: Vec<_> = (0..3).map(|party| world.at(&format!("{party}.budget"))).collect();
        for file in &files {
            Store::create(file, Promise::new("clinic", 3.0, 1e-5).unwrap()).unwrap();
        }
        let (_net, listener, dialers) = world.net();
        let (led, joined) = std::thread::scope(|scope| {
            let led = scope.spawn(|| world.lead(unseeded.clone(), listener));
            let joined: Vec<_> = (0..3_usize)
                .map(|party| {
                    let (world, dialer, own) = (&world, &*dialers[party], unseeded.clone());
                    let file = &files[party];
                    let budget = JoinBudget { file, relation: Relation::Same };
                    scope.spawn(move || world.join_paid(party as u32, own, dialer, Some(budget)))
                })
                .collect();
            let joined = joined.into_iter().map(|own| own.join().unwrap().unwrap());
            (led.join().unwrap().unwrap(), joined.collect::<Vec<_>>())
        });
        let lead = Model::from_json(&led.model).unwrap();
        for (party, own) in joined.into_iter().enumerate() {
            let model = own.joined.model;
            let certificate = model.certificate();
            assert!(certificate.certified && certificate.epsilon <= 2.0, "{certificate:?}");
            assert!(certificate.parties.is_none(), "it is of one party");
            let key: PublicKey = world.identity(&format!("party-{party}")).public();
            assert_eq!(model.verify(Some(&key)).unwrap().summary(), None);
            assert_eq!(certificate.ledger, lead.certificate().ledger);
            let said = certificate.assumptions.join("\n");
            assert!(said.contains("journal is put back"), "{said}");
            match trust {
                "local" => assert!(said.contains("sees every answer of each party"), "{said}"),
                _ => assert!(said.contains("the server may do as it likes"), "{said}"),
            }
            let summary = Store::open(&files[party]).unwrap().summary().unwrap();
            let states: Vec<_> = summary.jobs.iter().map(|job| job.status.name()).collect();
            assert_eq!(states, ["settled"]);
        }
        // Two runs have two noises.
        for name in ["lead", "party-0", "party-1", "party-2"] {
            std::fs::remove_file(world.at(&format!("{name}.journal"))).unwrap();
        }
        let (again, _) = self::led(&world, &unseeded);
        let other = Model::from_json(&again.model).unwrap();
        assert_ne!(super::world::bits(&lead), super::world::bits(&other));
    }
}

/// What a lead says, changed on its way to one party: a lead that lies to it.
pub type Lie = Arc<dyn Fn(u32, Vec<u8>) -> (u32, Vec<u8>) + Send + Sync>;

pub struct Lying {
    pub dialer: Box<dyn Dial>,
    pub lie: Lie,
}

struct LyingLink {
    link: Box<dyn Link>,
    lie: Lie,
}

impl std::fmt::Debug for Lying {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lying")
    }
}

impl std::fmt::Debug for LyingLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LyingLink")
    }
}

impl Dial for Lying {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let (link, lie) = (self.dialer.dial(until)?, Arc::clone(&self.lie));
        Ok(Box::new(LyingLink { link, lie }))
    }
}

impl Link for LyingLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        let frame = self.link.receive(limit, until)?;
        let Ok(HostMessage::Envelope(bytes)) = HostMessage::unpack(&frame) else {
            return Ok(frame);
        };
        let said = wire::decode(&bytes, wire::LONGEST).unwrap();
        let (round, payload) = (self.lie)(said.round, said.payload.clone());
        let told = Envelope { round, payload, ..said };
        Ok(HostMessage::Envelope(wire::encode(&told)).pack())
    }
}

/// Runs with a lead that lies to party 0; how it ends for party 0.
fn lied_to(trust: &str, parties: u32, lie: Lie) -> String {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), parties, AUTO, trust);
    let (_net, listener, mut dialers) = world.net();
    let dialer = dialers.remove(0);
    dialers.insert(0, Box::new(Lying { dialer, lie }));
    let (led, joined) = world.all(&options(), listener, &dialers);
    assert!(led.is_err(), "{led:?}");
    let mut joined = joined.into_iter();
    let why = joined.next().unwrap().unwrap_err();
    // The others are told, and nobody has a model.
    assert!(joined.all(|own| own.is_err()));
    if matches!(why, HostError::Ended(_)) {
        // And it stays so, whoever asks again.
        let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
        assert!(journal.has("ended").unwrap() && !journal.has("node").unwrap());
    }
    why.to_string()
}

/// A message of the masks, changed.
fn changed(bytes: &[u8], change: impl FnOnce(&mut Body)) -> Vec<u8> {
    // A byte of version and sixteen of digest come first.
    let mut message: Message = postcard::from_bytes(&bytes[17..]).unwrap();
    change(&mut message.body);
    message.encode()
}

/// Steps of a round of masks, of which the first asks.
fn step(round: u32) -> u32 {
    (round - 1) % 4
}

#[test]
fn a_lead_that_puts_keys_of_its_own_in_between_is_refused_by_name() {
    // Another key, of the lead's making, under the signature of the true one.
    let why = lied_to(
        "secure-aggregation",
        3,
        Arc::new(|round, payload| {
            if step(round) != 1 {
                return (round, payload);
            }
            let mut signed: SignedKeys = postcard::from_bytes(&payload).unwrap();
            signed.message = changed(&signed.message, |body| {
                let Body::Directory(keys) = body else { panic!() };
                keys[1].1.mask[0] ^= 1;
            });
            (round, postcard::to_allocvec(&signed).unwrap())
        }),
    );
    assert!(why.contains("keys of member 2 that it has not signed for this round"), "{why}");
    // The keys and the signature of another round.
    let first: Mutex<Option<SignedKeys>> = Mutex::new(None);
    let why = lied_to(
        "secure-aggregation",
        3,
        Arc::new(move |round, payload| {
            if step(round) != 1 {
                return (round, payload);
            }
            let mut signed: SignedKeys = postcard::from_bytes(&payload).unwrap();
            let mut first = first.lock().unwrap();
            let Some(kept) = &*first else {
                *first = Some(signed);
                return (round, payload);
            };
            let old: Message = postcard::from_bytes(&kept.message[17..]).unwrap();
            signed.signatures.clone_from(&kept.signatures);
            signed.message = changed(&signed.message, |body| *body = old.body);
            (round, postcard::to_allocvec(&signed).unwrap())
        }),
    );
    assert!(why.contains("keys of member 1 that it has not signed for this round"), "{why}");
}

#[test]
fn a_lead_that_leaves_somebody_out_of_a_masked_sum_is_refused_by_name() {
    let left_out = |at: u32| -> Lie {
        Arc::new(move |round, payload| {
            if step(round) != at {
                return (round, payload);
            }
            let message = match at {
                1 => postcard::from_bytes::<SignedKeys>(&payload).unwrap().message,
                _ => payload.clone(),
            };
            let fewer = changed(&message, |body| match body {
                Body::Directory(keys) => drop(keys.pop()),
                Body::Deliveries(sealed) => drop(sealed.pop()),
                Body::Survivors { count, holders } => {
                    *count -= 1;
                    holders.pop();
                }
                other => panic!("{other:?}"),
            });
            let payload = match at {
                1 => {
                    let signed: SignedKeys = postcard::from_bytes(&payload).unwrap();
                    postcard::to_allocvec(&SignedKeys { message: fewer, ..signed }).unwrap()
                }
                _ => fewer,
            };
            (round, payload)
        })
    };
    // Four of five would be enough for the masks to be opened.
    for at in 1..4 {
        let why = lied_to("secure-aggregation", 5, left_out(at));
        assert!(why.contains("a list of 4 of 5 members"), "{at}: {why}");
    }
}

/// Two questions in one round, and one that the plan has not.
#[test]
fn a_lead_that_asks_for_more_than_the_plan_is_refused_by_name() {
    for trust in ["local", "secure-aggregation"] {
        let last = match trust {
            "local" => 2,
            _ => 5,
        };
        let why = lied_to(
            trust,
            3,
            Arc::new(move |round, payload| match round == last {
                // Round 1 again, with another question.
                true if trust == "local" => (1, payload),
                true => (4, payload),
                false => (round, payload),
            }),
        );
        assert!(why.contains("two things in one round"), "{trust}: {why}");
        let why = lied_to(
            trust,
            3,
            Arc::new(|round, mut payload| {
                if round == 1 {
                    // Of the digest of the plan, whatever stands before it.
                    payload[10] ^= 1;
                }
                (round, payload)
            }),
        );
        assert!(why.contains("refused by the gate"), "{trust}: {why}");
    }
}

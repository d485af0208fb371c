//! Parties that leave for good when a run is on: the others go on where all of them sign it and their
//! noise suffices, and the one that left is told so and answers nothing again.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use reticent::Model;
use reticent::internal::runtime::{SlotRequest, wire};
use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::HostMessage;
use reticent_host::{HostError, HostOptions, Led, Notice, PaidRun, RunJournal, RunStatus, let_go};

use super::noisy::{Lie, Lying};
use super::world::{AUTO, World, bits, options, until_raised};

/// A line that is cut for good when its party has said so many messages of the run.
#[derive(Debug)]
struct Dying {
    dialer: Box<dyn Dial>,
    left: Arc<AtomicU32>,
}

#[derive(Debug)]
struct DyingLink {
    link: Box<dyn Link>,
    left: Arc<AtomicU32>,
}

impl Dial for Dying {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        if self.left.load(Ordering::Relaxed) == 0 {
            return Err(LinkError::Closed);
        }
        let link = self.dialer.dial(until)?;
        Ok(Box::new(DyingLink { link, left: Arc::clone(&self.left) }))
    }
}

impl Link for DyingLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        if let Ok(HostMessage::Envelope(_)) = HostMessage::unpack(frame) {
            let left = self.left.load(Ordering::Relaxed);
            if left == 0 {
                return Err(LinkError::Closed);
            }
            self.left.store(left - 1, Ordering::Relaxed);
        }
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        match self.left.load(Ordering::Relaxed) {
            0 => Err(LinkError::Closed),
            _ => self.link.receive(limit, until),
        }
    }
}

type Ends = (Result<Led, HostError>, Vec<Result<PaidRun, HostError>>);

/// Which parties are cut off, and after how many messages of each, the greeting first.
struct Cuts(Vec<(u32, Arc<AtomicU32>)>);

impl Cuts {
    fn new(dying: &[(u32, u32)]) -> Self {
        Cuts(dying.iter().map(|(party, left)| (*party, Arc::new((*left).into()))).collect())
    }

    /// A lead that knows who is cut off, and does not wait to find out.
    fn known(&self, own: &HostOptions) -> HostOptions {
        let cuts: Vec<(String, Arc<AtomicU32>)> = self
            .0
            .iter()
            .map(|(party, left)| (format!("party-{party}"), Arc::clone(left)))
            .collect();
        let gone = Arc::new(move |name: &str| {
            cuts.iter().any(|(own, left)| own == name && left.load(Ordering::Relaxed) == 0)
        });
        HostOptions { gone: Some(gone), ..own.clone() }
    }

    /// A party that knows when it is cut off itself, and does not wait for the lead from then on, or when the lead
    /// has `ended`.
    fn aware(&self, party: u32, own: &HostOptions, ended: &Arc<AtomicBool>) -> HostOptions {
        let left = self.0.iter().find(|(own, _)| *own == party).map(|(_, left)| Arc::clone(left));
        let ended = Arc::clone(ended);
        let gone = Arc::new(move |_: &str| {
            let cut = left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0);
            cut || ended.load(Ordering::Relaxed)
        });
        HostOptions { gone: Some(gone), ..own.clone() }
    }

    fn over(&self, dialers: Vec<Box<dyn Dial>>) -> Vec<Box<dyn Dial>> {
        let cut = |(party, dialer): (u32, Box<dyn Dial>)| -> Box<dyn Dial> {
            match self.0.iter().find(|(own, _)| *own == party) {
                Some((_, left)) => Box::new(Dying { dialer, left: Arc::clone(left) }),
                None => dialer,
            }
        };
        (0..).zip(dialers).map(cut).collect()
    }
}

/// A run in which some parties are cut off; `lie` is what the lead says to party 0.
fn cut(world: &World, dying: &[(u32, u32)], least: Option<u32>, lie: Option<Lie>) -> Ends {
    let (_net, listener, dialers) = world.net();
    let cuts = Cuts::new(dying);
    let mut dialers = cuts.over(dialers);
    if let Some(lie) = lie {
        let dialer = dialers.remove(0);
        dialers.insert(0, Box::new(Lying { dialer, lie }));
    }
    std::thread::scope(|scope| {
        let own = HostOptions { least, ..options() };
        let lead = cuts.known(&own);
        let led = scope.spawn(|| world.lead(lead, listener));
        let joined: Vec<_> = (0..)
            .zip(&dialers)
            .map(|(party, dialer)| {
                let own = cuts.aware(party, &own, &Arc::default());
                scope.spawn(move || world.join(party, own, &**dialer))
            })
            .collect();
        let led = led.join().unwrap();
        (led, joined.into_iter().map(|party| party.join().unwrap()).collect())
    })
}

fn model(led: &Led) -> Model {
    Model::from_json(&led.model).unwrap()
}

/// Four of five must stay: one may leave, at any step of a round. A round is done again without the
/// one that left it before its vector was there, and has its vector in it from then on.
#[test]
fn a_masked_run_goes_on_without_a_party_that_has_left_for_good() {
    // The greeting, four steps of round 1, and so many of round 2.
    let ran = |steps: u32| {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 5, AUTO, "secure-aggregation");
        let (led, joined) = cut(&world, &[(4, 5 + steps)], Some(4), None);
        let led = led.unwrap();
        let lead = model(&led);
        for (party, own) in joined.into_iter().enumerate() {
            match party {
                4 => assert!(matches!(own, Err(HostError::Absent { .. })), "{steps}: {own:?}"),
                _ => {
                    let own = own.unwrap().joined.model;
                    assert_eq!(bits(&own), bits(&lead));
                    assert_eq!(
                        own.certificate().ledger.entries(),
                        lead.certificate().ledger.entries()
                    );
                }
            }
        }
        assert!(led.without.is_empty(), "{led:?}");
        if steps == 2 {
            told_when_it_comes_back(&world);
        }
        bits(&lead)
    };
    let (before, between, after) = (ran(0), ran(2), ran(3));
    assert_eq!(before, between);
    assert_eq!(after, ran(4));
    assert_ne!(before, after);
}

/// So that the lead hands the model over once more.
fn forget_receipts(world: &World) {
    let open = rusqlite::Connection::open(world.at("lead.journal")).unwrap();
    open.execute("DELETE FROM received", []).unwrap();
}

/// The party that the others went on without.
fn told_when_it_comes_back(world: &World) {
    forget_receipts(world);
    let (_net, listener, dialers) = world.net();
    let own = HostOptions { least: Some(4), ..options() };
    let (told, lead) = until_raised(&own);
    let why = std::thread::scope(|scope| {
        let lead = scope.spawn(|| world.lead(lead, listener));
        let why = world.join(4, own.clone(), &*dialers[4]).unwrap_err();
        told.store(true, Ordering::Relaxed);
        lead.join().unwrap().unwrap();
        why
    });
    assert!(why.to_string().contains("gone on without party-4, from round 2 on"), "{why}");
    // And it stays so.
    let journal = RunJournal::open(&world.at("party-4.journal")).unwrap();
    assert!(journal.has("ended").unwrap() && !journal.has("node").unwrap());
    assert!(RunStatus::of(&journal).unwrap().ended.unwrap().contains("gone on without"));
}

/// Where answers are seen no party's guarantee rests on another's noise.
#[test]
fn a_run_of_seen_answers_goes_on_without_a_party_that_has_left_for_good() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "local");
    let (led, joined) = cut(&world, &[(1, 4)], Some(2), None);
    let led = led.unwrap();
    assert!(joined[1].is_err() && joined[0].is_ok() && joined[2].is_ok());
    let own = &joined[0].as_ref().unwrap().joined.model;
    assert_eq!(bits(own), bits(&model(&led)));
    // Before it has greeted, too: it has come to the lobby, and says nothing from then on.
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 5, AUTO, "secure-aggregation");
    let (led, joined) = cut(&world, &[(2, 1)], Some(4), None);
    assert!(led.is_ok() && joined[2].is_err(), "{led:?}");
}

/// Too few stay, or the operators leave nobody out: those who are away are waited for by name.
#[test]
fn a_run_that_too_few_would_go_on_with_ends_by_name() {
    for (trust, dying, least, who) in [
        ("secure-aggregation", &[(3, 7), (4, 7)][..], Some(1), "party-3, party-4"),
        ("secure-aggregation", &[(4, 7)], Some(5), "party-4"),
        ("secure-aggregation", &[(4, 7)], None, "party-4"),
        ("local", &[(3, 3), (4, 3)], Some(4), "party-3, party-4"),
        ("central", &[(4, 3)], Some(4), "party-4"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 5, AUTO, trust);
        let led = cut_short(&world, dying, least);
        let named = matches!(&led, Err(HostError::Absent { who: found, .. }) if found == who);
        assert!(named, "{trust}: {led:?}");
        let journal = RunJournal::open(&world.at("lead.journal")).unwrap();
        assert!(!journal.has("stayings").unwrap() && journal.has("begun").unwrap());
    }
}

/// The same with parties that do not wait for the lead.
fn cut_short(world: &World, dying: &[(u32, u32)], least: Option<u32>) -> Result<Led, HostError> {
    let (_net, listener, dialers) = world.net();
    let (cuts, own) = (Cuts::new(dying), HostOptions { least, ..options() });
    let ended: Arc<AtomicBool> = Arc::default();
    std::thread::scope(|scope| {
        let lead = cuts.known(&own);
        let led = scope.spawn(|| world.lead(lead, listener));
        for (party, dialer) in (0..).zip(cuts.over(dialers)) {
            let own = cuts.aware(party, &own, &ended);
            scope.spawn(move || world.join(party, own, &*dialer));
        }
        let led = led.join().unwrap();
        ended.store(true, Ordering::Relaxed);
        led
    })
}

/// The operator of the lead does not wait for a party that is known to be gone.
#[test]
fn a_party_that_the_operator_lets_go_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "local");
    assert!(cut_short(&world, &[(1, 4)], None).is_err());
    let mut journal = RunJournal::open(&world.at("lead.journal")).unwrap();
    let why = let_go(&mut journal, "party-7").unwrap_err().to_string();
    assert!(why.contains("no party party-7"), "{why}");
    let_go(&mut journal, "party-1").unwrap();
    drop(journal);
    let mut own = RunJournal::open(&world.at("party-0.journal")).unwrap();
    assert!(let_go(&mut own, "party-1").is_err(), "a party lets nobody go");
    drop(own);
    let (_net, listener, dialers) = world.net();
    let lead = HostOptions { least: Some(2), ..options() };
    let own = lead.clone();
    let led = std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(lead, listener));
        for party in [0_u32, 2] {
            let (world, dialer, own) = (&world, &*dialers[party as usize], own.clone());
            scope.spawn(move || world.join(party, own, dialer).unwrap());
        }
        let begun = Instant::now();
        let led = led.join().unwrap().unwrap();
        assert!(begun.elapsed() < options().patience, "it was waited for");
        led
    });
    assert!(led.without.is_empty());
}

/// What was asked in each slot's first step, changed on its way to party 0.
fn changed(change: impl Fn(u32, SlotRequest) -> SlotRequest + Send + Sync + 'static) -> Lie {
    Arc::new(move |round, payload| {
        if (round - 1) % 4 != 0 {
            return (round, payload);
        }
        let request: SlotRequest = wire::unpack(&payload).unwrap();
        (round, wire::pack(&change((round - 1) / 4 + 1, request)).unwrap())
    })
}

/// A lead that shows party 0 another list, a smaller one, one with a round that is over, or signatures of
/// something else: nobody comes to a model with it.
#[test]
fn a_lead_that_lies_about_who_stays_is_refused_by_name() {
    let lied = |steps: u32, lie: Lie| {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 5, AUTO, "secure-aggregation");
        let (led, joined) = cut(&world, &[(4, 5 + steps)], Some(4), Some(lie));
        let lead = led.unwrap_err().to_string();
        let why = joined.into_iter().map(|own| own.unwrap_err().to_string()).next().unwrap();
        let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
        assert!(journal.has("ended").unwrap() && !journal.has("node").unwrap(), "{why}");
        (lead, why)
    };
    let list = |members: Vec<u32>| {
        changed(move |_, request| match request {
            SlotRequest::Stay(own) => SlotRequest::Stay(reticent::internal::runtime::Staying {
                members: members.clone(),
                ..own
            }),
            sum => sum,
        })
    };
    // Two lists: party 0 signs one without party 3, the others one without party 4.
    let (lead, _) = lied(2, list(vec![0, 1, 2, 4]));
    assert!(lead.contains("party-0") && lead.contains("not signed who stays"), "{lead}");
    // To have less noise in a sum.
    let (_, why) = lied(2, list(vec![0, 1, 2]));
    assert!(why.contains("a list of 3 who stay, and 4 are needed"), "{why}");
    // Somebody comes back.
    let (_, why) = lied(2, list(vec![0, 1, 2, 3, 4]));
    assert!(why.contains("not of those who were in"), "{why}");
    // Round 2 once more, which party 0 has given its shares for: the difference would be party 4's.
    let again = changed(|_, request| match request {
        SlotRequest::Stay(own) => {
            SlotRequest::Stay(reticent::internal::runtime::Staying { round: own.round - 1, ..own })
        }
        sum => sum,
    });
    let (_, why) = lied(3, again);
    assert!(why.contains("a round that is over for this member"), "{why}");
    // Signatures of another decision, of which there is none in this run: a party's of its keys.
    let kept: Mutex<Option<Vec<u8>>> = Mutex::new(None);
    let replayed: Lie = Arc::new(move |round, payload| {
        let mut kept = kept.lock().unwrap();
        match (round - 1) % 4 {
            1 => match wire::unpack::<Vec<Vec<u8>>>(&payload) {
                Ok(all) if all.len() == 4 && kept.is_some() => {
                    let mut all = all;
                    all[1] = kept.clone().unwrap();
                    (round, wire::pack(&all).unwrap())
                }
                _ => {
                    let keys: reticent::internal::runtime::SignedKeys =
                        wire::unpack(&payload).unwrap();
                    *kept = Some(keys.signatures[0].clone());
                    (round, payload)
                }
            },
            _ => (round, payload),
        }
    });
    let (_, why) = lied(2, replayed);
    assert!(why.contains("member 1 has not signed this list of who stays"), "{why}");
    // A sum before the decision is everybody's.
    let early = changed(|slot, request| match request {
        SlotRequest::Stay(_) if slot == 3 => SlotRequest::Sum(vec![1; 40]),
        other => other,
    });
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 5, AUTO, "secure-aggregation");
    let (led, _) = cut(&world, &[(4, 7)], Some(4), Some(early));
    assert!(led.is_err());
}

/// A lead that falls when it has decided goes on with what was decided, to the same bits.
#[test]
fn a_lead_that_falls_in_a_decision_goes_on_with_it() {
    let (whole, fallen) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let world = World::trusting(whole.path(), 5, AUTO, "secure-aggregation");
    let (led, _) = cut(&world, &[(4, 7)], Some(4), None);
    let expected = bits(&model(&led.unwrap()));
    let world = World::trusting(fallen.path(), 5, AUTO, "secure-aggregation");
    let (net, listener, dialers) = world.net();
    let own = HostOptions { least: Some(4), ..options() };
    let falls = Arc::new(|notice: &Notice| {
        if let Notice::Forfeited { .. } = notice {
            panic!("the lead falls");
        }
    });
    let cuts = Cuts::new(&[(4, 7)]);
    let found = std::thread::scope(|scope| {
        let lead = HostOptions { notify: falls, ..cuts.known(&own) };
        let led = scope.spawn(|| world.lead(lead, listener));
        for (party, dialer) in (0..).zip(cuts.over(dialers)) {
            let (world, own) = (&world, cuts.aware(party, &own, &Arc::default()));
            scope.spawn(move || world.join(party, own, &*dialer));
        }
        assert!(led.join().is_err(), "it did not fall");
        let listener = net.listen(world.identity("lead").public().bytes());
        // The decision is on the disk: nobody is waited for again.
        bits(&model(&world.lead(own.clone(), listener).unwrap()))
    });
    assert_eq!(found, expected);
}

//! Sums of a lead that draws a secret sample: whoever is drawn, the wire has the same messages, of the same lengths, in
//! the same order for each party. What a clock could tell is in the certificate.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use reticent::Model;
use reticent_host::HostOptions;
use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::HostMessage;

use super::world::{World, bits, options};

const FULL: &str = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 6\n";

/// Whether the party says it, what kind of message it is, and how long.
type Shown = Vec<(bool, u8, usize)>;

#[derive(Debug)]
struct Watched {
    dialer: Box<dyn Dial>,
    shown: Arc<Mutex<Shown>>,
}

#[derive(Debug)]
struct WatchedLink {
    link: Box<dyn Link>,
    shown: Arc<Mutex<Shown>>,
}

impl Dial for Watched {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let link = self.dialer.dial(until)?;
        Ok(Box::new(WatchedLink { link, shown: Arc::clone(&self.shown) }))
    }
}

impl WatchedLink {
    fn note(&self, said: bool, frame: &[u8]) {
        // How many digits the numbers of a model have follows from what is released.
        let is_model = matches!(HostMessage::unpack(frame), Ok(HostMessage::Model(_)));
        let length = if is_model { 0 } else { frame.len() };
        self.shown.lock().unwrap().push((said, frame[0], length));
    }
}

impl Link for WatchedLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        self.note(true, frame);
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        let frame = self.link.receive(limit, until)?;
        self.note(false, &frame);
        Ok(frame)
    }
}

/// What the wire shows of each party, and the model.
fn watched(job: &str, seed: u64) -> (Vec<Shown>, Model) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 3, job);
    let (_net, listener, dialers) = world.net();
    let shown: Vec<Arc<Mutex<Shown>>> = (0..3).map(|_| Arc::default()).collect();
    let watch = |(dialer, shown): (Box<dyn Dial>, &Arc<Mutex<Shown>>)| {
        Box::new(Watched { dialer, shown: Arc::clone(shown) }) as Box<dyn Dial>
    };
    let dialers: Vec<_> = dialers.into_iter().zip(&shown).map(watch).collect();
    let own = HostOptions { seed: Some(seed), ..options() };
    let (led, joined) = world.all(&own, listener, &dialers);
    let model = Model::from_json(&led.unwrap().model).unwrap();
    for own in joined {
        let own = own.unwrap().joined.model;
        assert_eq!(own.certificate().assumptions, model.certificate().assumptions);
    }
    (shown.iter().map(|shown| shown.lock().unwrap().clone()).collect(), model)
}

#[test]
fn every_message_of_a_secret_sample_is_as_long_for_every_draw() {
    let envelope = HostMessage::Envelope(Vec::new()).pack()[0];
    for sampling in ["poisson:0.3", "wor:20"] {
        let job = format!("{FULL}sampling = \"{sampling}\"\n");
        let (first, model) = watched(&job, 7);
        for party in &first {
            let asked = party.iter().filter(|(said, kind, _)| (*said, *kind) == (false, envelope));
            assert!(asked.count() >= 6, "{sampling}: {party:?}");
        }
        for seed in [8, 9] {
            let (shown, other) = watched(&job, seed);
            assert_eq!(shown, first, "{sampling}, seed {seed}");
            assert_ne!(bits(&other), bits(&model), "other draws and other noise");
        }
    }
}

/// A party adds up who is drawn and no more, so that a clock may tell how many they are.
#[test]
fn that_time_tells_nothing_of_a_sample_is_taken_as_given_where_there_is_one() {
    for (more, is_said) in [
        ("", false),
        ("sampling = \"full\"\n", false),
        ("sampling = \"poisson:0.3\"\n", true),
        ("sampling = \"wor:20\"\n", true),
    ] {
        let (_, model) = watched(&format!("{FULL}{more}"), 7);
        let said = model.certificate().assumptions.join("\n");
        let timed = said.contains("how many of its records the lead has drawn");
        assert_eq!(timed, is_said, "{more}: {said}");
    }
}

//! The bytes of messages and of checkpoints. A byte that changes here is a new version of the wire
//! or of the file.
//!
//! `RETICENT_FREEZE=1 cargo test -p reticent-runtime --test runtime frozen` writes the files anew.

use std::path::PathBuf;

use reticent_accountant::View;
use reticent_runtime::wire::{decode, encode};
use reticent_runtime::{Checkpoint, Envelope, MessageKind, NoisePrice, PartyId, RunId, SERVER};

use crate::common::{Job, World, ledgers};

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn freezes() -> bool {
    std::env::var_os("RETICENT_FREEZE").is_some()
}

fn envelopes() -> impl Iterator<Item = Envelope> {
    (0_u32..).zip(MessageKind::ALL).map(|(i, kind)| Envelope {
        run: RunId([7; 16]),
        round: 1000 + i,
        attempt: 3,
        from: PartyId(i),
        to: SERVER,
        kind,
        payload: (0..i as u8).collect(),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line for each kind of message.
#[test]
fn the_bytes_of_a_message_are_what_they_were() {
    let line = |envelope: &Envelope| format!("{:?} {}\n", envelope.kind, hex(&encode(envelope)));
    let text: String = envelopes().map(|envelope| line(&envelope)).collect();
    if freezes() {
        std::fs::write(golden("messages.txt"), &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(golden("messages.txt")).unwrap(), text);
    for envelope in envelopes() {
        assert_eq!(decode(&encode(&envelope), 100).unwrap(), envelope);
    }
}

/// A run of each kind, by the name of its file.
fn jobs() -> [(&'static str, Job<'static>); 4] {
    let settings = r#"{"iterations": 4}"#;
    let long = r#"{"iterations": 400}"#;
    let job = || Job { settings, price: NoisePrice::Noise(1.0), seed: 5, ..Job::default() };
    let walk = Job { algorithm: "walk", settings: long, view: View::Network, ..job() };
    [
        ("local.checkpoint", job()),
        ("central.checkpoint", Job { view: View::Central, ..job() }),
        ("masked.checkpoint", Job { view: View::SecureAggregation, ..job() }),
        ("walk.checkpoint", walk),
    ]
}

/// Each of these runs was stopped after two of its rounds.
#[test]
fn checkpoints_of_this_format_are_resumed() {
    let world = World::even(24, 2, 6);
    for (name, job) in jobs() {
        if freezes() {
            let mut run = world.prepare(&job);
            (0..2).for_each(|_| assert!(run.step().unwrap()));
            run.checkpoint().unwrap().save(&golden(name)).unwrap();
        }
        let mut resumed = world.prepare(&job);
        resumed.resume(&Checkpoint::load(&golden(name)).unwrap()).unwrap();
        assert_eq!(resumed.progress().done, 2, "{name}");
        let (resumed, whole) = (resumed.complete(|_, _| {}).unwrap(), world.run(&job));
        assert_eq!(resumed.parameter, whole.parameter, "{name}");
        assert_eq!(ledgers(&resumed), ledgers(&whole), "{name}");
    }
}

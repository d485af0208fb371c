//! Failures that are injected from a public seed: the same seed gives the same failures.

use std::collections::BTreeMap;

use reticent_accountant::Refused;
use reticent_noise::Hasher;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::message::{PartyId, SERVER};
use crate::wire;

/// The probability of each failure, for one message (or, for `restart`, one round).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Failures {
    /// A party does not receive a message, and so sends nothing.
    pub before: f64,
    /// The answer of a party is lost, after it has spent its budget.
    pub after: f64,
    /// A message arrives a round late.
    pub delay: f64,
    /// A message arrives twice.
    pub duplicate: f64,
    /// Messages that travel together arrive in another order.
    pub reorder: f64,
    /// A bit of a message is flipped.
    pub corrupt: f64,
    /// A party sends far too large an answer.
    pub byzantine: f64,
    /// The server loses its unsaved state in the middle of a round.
    pub restart: f64,
    /// The public seed.
    pub seed: u64,
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RawMessage {
    pub from: PartyId,
    pub to: PartyId,
    pub bytes: Vec<u8>,
}

/// A message, whatever it says, among those of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MessageAddress {
    from: PartyId,
    to: PartyId,
    kind: u8,
    round: u32,
}

/// The messages of a wave that arrive, in order, and those that arrive a round late.
#[derive(Debug, PartialEq)]
pub(crate) struct Arrivals {
    pub now: Vec<RawMessage>,
    pub late: Vec<RawMessage>,
}

impl RawMessage {
    fn address(&self) -> MessageAddress {
        let (kind, round) = wire::kind_and_round(&self.bytes).unwrap_or_default();
        MessageAddress { from: self.from, to: self.to, kind, round }
    }
}

/// The time of a message: its round, the attempt at the round, and the wave within it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct When {
    pub round: u32,
    pub attempt: u32,
    pub wave: u32,
}

impl Failures {
    /// Refuses an invalid probability.
    pub fn check(&self) -> Result<(), RunError> {
        let all = [
            ("before", self.before),
            ("after", self.after),
            ("delay", self.delay),
            ("duplicate", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
            ("byzantine", self.byzantine),
            ("restart", self.restart),
        ];
        match all.into_iter().find(|(_, rate)| !(0.0..=1.0).contains(rate)) {
            None => Ok(()),
            Some((name, rate)) => {
                Err(Refused::new(name, rate, "a chance from 0 to 1 is needed").into())
            }
        }
    }

    /// Whether the server restarts in this round.
    pub(crate) fn restarts(&self, round: u32) -> bool {
        self.restart > 0.0
            && self.draw(
                "restart",
                When { round, attempt: 0, wave: 0 },
                MessageAddress { from: SERVER, to: SERVER, kind: 0, round: 0 },
                0,
            ) < self.restart
    }

    /// Injects failures into a wave. `exaggerate` turns an honest message into that of a Byzantine party.
    pub(crate) fn inject(
        &self,
        wave: Vec<RawMessage>,
        when: When,
        exaggerate: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) -> Arrivals {
        if *self == (Failures { restart: self.restart, seed: self.seed, ..Failures::default() }) {
            return Arrivals { now: wave, late: Vec::new() };
        }
        let (mut arrive, mut late) = (Vec::with_capacity(wave.len()), Vec::new());
        let mut seen: BTreeMap<MessageAddress, u64> = BTreeMap::new();
        for mut parcel in wave {
            let address = parcel.address();
            let before = seen.entry(address).or_default();
            let nth = *before;
            *before += 1;
            let draw = |what: &str| self.draw(what, when, address, nth);
            let happens = |what: &str, rate: f64| rate > 0.0 && draw(what) < rate;
            let lost = if parcel.from == SERVER { self.before } else { self.after };
            if happens("lose", lost) {
                continue;
            }
            if parcel.from != SERVER
                && happens("byzantine", self.byzantine)
                && let Some(bytes) = exaggerate(&parcel.bytes)
            {
                parcel.bytes = bytes;
            }
            if happens("corrupt", self.corrupt) && !parcel.bytes.is_empty() {
                let bit = (draw("bit") * 8.0 * parcel.bytes.len() as f64) as usize;
                parcel.bytes[bit / 8] ^= 1 << (bit % 8);
            }
            let place = if happens("reorder", self.reorder) { draw("place") } else { 0.5 };
            if happens("duplicate", self.duplicate) {
                arrive.push((place, parcel.clone()));
            }
            if happens("delay", self.delay) {
                late.push(parcel);
            } else {
                arrive.push((place, parcel));
            }
        }
        arrive.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Arrivals { now: arrive.into_iter().map(|(_, parcel)| parcel).collect(), late }
    }

    /// Uniform on [0, 1), a function of the arguments and the seed. A message is identified by its
    /// address and not by its position: one message more or less, or its content, must not change
    /// the failures of others.
    fn draw(&self, what: &str, when: When, address: MessageAddress, nth: u64) -> f64 {
        let MessageAddress { from, to, kind, round } = address;
        let digest = Hasher::new("reticent failure")
            .field(what.as_bytes())
            .number(self.seed)
            .number(u64::from(when.round))
            .number(u64::from(when.attempt))
            .number(u64::from(when.wave))
            .number(u64::from(from.0))
            .number(u64::from(to.0))
            .number(u64::from(kind))
            .number(u64::from(round))
            .number(nth)
            .finish();
        let mut word = [0; 8];
        word.copy_from_slice(&digest[..8]);
        (u64::from_le_bytes(word) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(count: u32) -> Vec<RawMessage> {
        (0..count)
            .map(|i| RawMessage { from: PartyId(i), to: SERVER, bytes: vec![i as u8; 4] })
            .collect()
    }

    const WHEN: When = When { round: 1, attempt: 0, wave: 0 };

    #[test]
    fn nothing_happens_unless_it_is_asked_for() {
        let Arrivals { now: arrive, late } = Failures::default().inject(wave(9), WHEN, |_| None);
        assert_eq!((arrive, late.len()), (wave(9), 0));
    }

    #[test]
    fn each_misfortune_is_what_it_says() {
        let of = |failures: Failures| failures.inject(wave(200), WHEN, |_| Some(vec![99]));
        let none = Failures::default();
        let Arrivals { now: arrive, late } = of(Failures { after: 0.5, ..none });
        assert!(arrive.len() > 60 && arrive.len() < 140 && late.is_empty(), "{}", arrive.len());
        let Arrivals { now: arrive, late } = of(Failures { delay: 0.5, ..none });
        assert_eq!(arrive.len() + late.len(), 200);
        assert!(late.len() > 60);
        assert!(of(Failures { duplicate: 1.0, ..none }).now.len() == 400);
        assert!(of(Failures { before: 1.0, ..none }).now.len() == 200); // the parties send, the server does not
        let changed =
            |arrive: &[RawMessage]| arrive.iter().zip(wave(200)).filter(|(a, b)| *a != b).count();
        assert_eq!(changed(&of(Failures { corrupt: 1.0, ..none }).now), 200);
        assert_eq!(changed(&of(Failures { byzantine: 1.0, ..none }).now), 200);
        let Arrivals { now: arrive, .. } = of(Failures { reorder: 1.0, ..none });
        assert!(changed(&arrive) > 100);
        let mut sorted = arrive.clone();
        sorted.sort_by_key(|parcel| parcel.from);
        assert_eq!(sorted, wave(200));
        assert_eq!(of(Failures { after: 0.5, ..none }), of(Failures { after: 0.5, ..none }));
        assert_ne!(
            of(Failures { after: 0.5, ..none }),
            of(Failures { after: 0.5, seed: 1, ..none })
        );
        assert!(Failures { after: 1.5, ..none }.check().is_err());
    }
}

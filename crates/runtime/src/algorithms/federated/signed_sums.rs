//! The server of masked sums on a network: it passes on keys with their signatures, and sees sums.
//! The messages of a round are kept, and restore the same collector after a crash.

use std::collections::{BTreeMap, BTreeSet};

use reticent_masks::{Abort, Body, BodyKind, Collector, Message};

use super::draw::{MemberDraw, RoundMembers};
use super::masked::MaskedSums;
use super::signed::Signers;
use super::trajectory::PAGE;
use crate::coordinator::{Exchange, ToPlaces};
use crate::error::RunError;
use crate::masked_party::{SignedKeys, key_statement};
use crate::node::{GrowingList, ListPieces};
use crate::rejected::Rejected;
use crate::wire;

/// The messages of a round, in order: the user, its place, and the message.
type Heard = Vec<(u32, u32, Vec<u8>)>;

/// The name of the list of messages of a round.
fn heard_in(round: u32) -> String {
    format!("heard-{round}")
}

/// The sums, and the members of the current one.
pub(super) struct SignedSums {
    sums: MaskedSums,
    signers: Signers,
    draw: MemberDraw,
    round: u32,
    now: RoundMembers,
    /// The signature of each member's keys, by its place.
    signatures: BTreeMap<u32, Vec<u8>>,
    heard: Heard,
}

/// The error that blames the sender of a message.
fn blamed<T>(why: impl std::fmt::Display) -> Result<T, Rejected> {
    Err(Rejected::Blamed(why.to_string()))
}

impl SignedSums {
    pub fn new(sums: MaskedSums, signers: Signers) -> Result<Self, RunError> {
        let draw = sums.config.draw(&sums.run)?;
        let now = RoundMembers { chosen: Vec::new(), places: Vec::new() };
        let (signatures, heard) = (BTreeMap::new(), Vec::new());
        Ok(SignedSums { sums, signers, draw, round: 0, now, signatures, heard })
    }

    /// Waits for the members of a round.
    fn begin(&mut self, round: u32) -> Result<(), RunError> {
        self.now = self.draw.of(round)?;
        self.round = round;
        self.signatures.clear();
        self.heard.clear();
        let terms = self.sums.sum_terms(round)?.terms;
        let of = !self.now.places.is_empty();
        self.sums.collector = of.then(|| Collector::new(terms).among(&self.now.places));
        Ok(())
    }

    /// The keys of a member, if it has signed them for this round and its members.
    fn signed(&mut self, user: u32, place: u32, said: &[u8]) -> Result<Vec<u8>, Rejected> {
        let SignedKeys { message, signatures } = wire::unpack(said)?;
        let terms = self.sums.sum_terms(self.round).or_else(blamed)?.terms;
        let read = Message::decode(&terms, place, &message).or_else(blamed)?;
        let signature = signatures.into_iter().next().unwrap_or_default();
        let has_signed = match read.body {
            Body::Advertise(keys) => {
                let of = (self.round, &self.now.users()[..]);
                let said = key_statement(&self.sums.run, of, user, &keys);
                self.signers.0.has_signed(user, &said, &signature)
            }
            _ => false,
        };
        if !has_signed {
            return blamed("its keys of a masked sum are not signed by it");
        }
        self.signatures.insert(place, signature);
        Ok(message)
    }

    /// The keys of all members with their signatures, in order.
    fn with_signatures(&self, told: ToPlaces) -> Result<ToPlaces, Rejected> {
        let signed = |(place, message): (u32, Vec<u8>)| {
            let others = self.signatures.iter().filter(|(other, _)| **other != place);
            let signatures = others.map(|(_, signature)| signature.clone()).collect();
            Ok((place, wire::pack(&SignedKeys { message, signatures })?))
        };
        told.into_iter().map(signed).collect()
    }

    /// Restores the current round from its messages.
    fn hear_again(&mut self, round: u32, heard: Heard) -> Result<(), RunError> {
        if round > 0 {
            self.begin(round)?;
        }
        for (user, place, said) in heard {
            let again = self.masked(user, place, &said);
            again.map_err(|_| RunError::Snapshot("a masked round that cannot be gone on with"))?;
        }
        Ok(())
    }

    fn awaited(&self) -> Option<BodyKind> {
        Some(self.sums.collector.as_ref()?.awaits()?.0)
    }

    /// Why the sum of this round cannot be opened, with the party to blame.
    fn unopened(&self, why: &Abort) -> RunError {
        let who = match why {
            Abort::Mismatch { member } | Abort::Locked { member, .. } => {
                self.now.chosen.get(*member as usize)
            }
            _ => None,
        };
        let who = who.map_or(String::new(), |user| format!("party {user} (from 0): "));
        RunError::Unopened { round: self.round, why: format!("{who}{why}") }
    }
}

impl Exchange for SignedSums {
    type Answer = ();

    fn rounds(&self) -> u32 {
        self.sums.rounds()
    }

    /// A round with too few members asks nobody.
    fn open(&mut self, round: u32, _: &BTreeSet<u32>) -> Result<Vec<u32>, RunError> {
        self.sums.begin();
        self.begin(round)?;
        Ok(match self.now.places.is_empty() {
            true => Vec::new(),
            false => self.now.chosen.clone(),
        })
    }

    fn request(&self, _: u32, user: u32, place: u32) -> Result<Vec<u8>, RunError> {
        self.sums.trajectory.tell(user, place, PAGE)
    }

    fn take(&mut self, _: u32, _: u32, _: &[u8]) -> Result<(), Rejected> {
        Err(Rejected::Unexpected)
    }

    fn close(&mut self, round: u32, answers: BTreeMap<u32, ()>) -> Result<(), RunError> {
        if let Some(Some(Err(why))) = self.sums.collector.as_ref().map(Collector::outcome) {
            return Err(self.unopened(why));
        }
        self.sums.close(round, answers)
    }

    fn model(&self) -> Vec<f64> {
        self.sums.model()
    }

    fn save(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.sums.save()?, self.round, &self.heard))?)
    }

    fn load(&mut self, saved: &[u8]) -> Result<(), RunError> {
        let (sums, round, heard): (Vec<u8>, u32, Heard) = wire::unpack(saved)?;
        self.sums.load(&sums)?;
        self.hear_again(round, heard)
    }

    fn save_apart(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.sums.save_apart()?, self.round, self.heard.len() as u32))?)
    }

    fn load_apart(&mut self, saved: &[u8], pieces: &ListPieces) -> Result<(), RunError> {
        let (sums, round, len): (Vec<u8>, u32, u32) = wire::unpack(saved)?;
        self.sums.load_apart(&sums, pieces)?;
        let none = Vec::new();
        let heard = pieces.get(&heard_in(round)).unwrap_or(&none);
        if heard.len() != len as usize {
            return Err(RunError::Snapshot("other messages than those of the round"));
        }
        let heard = heard.iter().map(|piece| wire::unpack(piece)).collect::<Result<_, _>>()?;
        self.hear_again(round, heard)
    }

    fn lists(&self) -> Vec<GrowingList> {
        let heard = GrowingList { name: heard_in(self.round), len: self.heard.len() };
        self.sums.lists().into_iter().chain([heard]).collect()
    }

    fn piece(&self, name: &str, number: usize) -> Result<Vec<u8>, RunError> {
        match self.heard.get(number).filter(|_| name == heard_in(self.round)) {
            Some(heard) => Ok(wire::pack(heard)?),
            None => self.sums.piece(name, number),
        }
    }

    fn trajectory(&self) -> &[Vec<f64>] {
        self.sums.trajectory()
    }

    fn behind(&mut self, user: u32, followed: u32) -> Result<(), Rejected> {
        self.sums.behind(user, followed)
    }

    fn masked(&mut self, user: u32, place: u32, said: &[u8]) -> Result<ToPlaces, Rejected> {
        let advertises = self.awaited() == Some(BodyKind::Advertise);
        let message = match advertises {
            true => self.signed(user, place, said)?,
            false => said.to_vec(),
        };
        let Some(collector) = &mut self.sums.collector else { return Err(Rejected::Unexpected) };
        let told = collector.on_message(place, &message).or_else(blamed)?;
        self.sums.trajectory.up_to_date(user);
        self.heard.push((user, place, said.to_vec()));
        let told = self.sums.carry(told);
        if advertises { self.with_signatures(told) } else { Ok(told) }
    }

    fn awaits(&self) -> Option<Vec<u32>> {
        self.sums.awaits()
    }
}

//! Delivers each message once and in order between any two peers, over any carrier: a message is
//! kept until its receiver confirms, after its own commit, that it has it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::frame::RelayedFrame;
use super::seal::{NONCE, RelaySeals, TAG};
use crate::error::HostError;
use crate::journal::{Change, RunJournal};
use reticent_runtime::wire;

/// The pause before an unconfirmed message is sent again: at first the shorter one, then twice as
/// long each time, up to the longer one.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(8)];

/// The number of messages of a peer after which they are confirmed, if nothing else is sent to it.
const UNTOLD: u64 = 8;

/// The largest size of a number in a sealed message, in bytes.
const NUMBER: usize = 10;

/// The names in the journal.
const COUNTS: &str = "mail";
const ROW: &str = "out";

/// The content of a sealed frame.
#[derive(Serialize, Deserialize)]
struct SealedWord {
    /// Of the receiver's messages, those up to this number are in the sender's journal.
    heard: u64,
    /// A message; empty if there is none.
    said: Vec<u8>,
}

/// The largest size of the frame of a message of this length: two numbers and the seal are added.
pub(crate) fn sealed_length(message: usize) -> usize {
    message + 2 * NUMBER + NONCE + TAG
}

/// The progress of the messages of each peer; all of it is in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MailCounts {
    sent: Vec<u64>,
    heard: Vec<u64>,
    /// The number of deadlines of the node that are over.
    deadlines: u32,
}

/// An unconfirmed message.
#[derive(Debug)]
struct OutboxRow {
    said: Vec<u8>,
    /// Whether it is in the journal; no other is sent.
    kept: bool,
    due: Instant,
    pause: Duration,
}

/// Why a frame is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unheard {
    /// It is invalid, or has another sender or receiver: the name of the reason.
    Rejected(&'static str),
    /// A peer has received a message that this journal does not have as sent.
    SetBack(u32),
    /// This member violates the protocol, and the run ends with its name.
    Ends(u32, String),
}

/// A member's messages to all others and theirs to it.
#[derive(Debug)]
pub(crate) struct Mailbox {
    seals: RelaySeals,
    me: u32,
    counts: MailCounts,
    /// The last message of each peer that is in the journal.
    kept: Vec<u64>,
    /// The last message of each peer that was confirmed to it.
    told: Vec<u64>,
    /// The peers that have repeated a message that was received.
    asked: Vec<bool>,
    out: BTreeMap<(u32, u64), OutboxRow>,
    /// Messages that were confirmed since the last commit.
    gone: Vec<(u32, u64)>,
}

fn row_name((to, number): (u32, u64)) -> String {
    format!("{ROW} {to} {number}")
}

impl Mailbox {
    /// The state of the journal, or an empty mailbox.
    pub fn new(seals: RelaySeals, me: u32, journal: &RunJournal) -> Result<Self, HostError> {
        let members = seals.members() as usize;
        let none = || MailCounts { sent: vec![0; members], heard: vec![0; members], deadlines: 0 };
        let counts = journal.get::<MailCounts>(COUNTS)?.unwrap_or_else(none);
        if counts.sent.len() != members || counts.heard.len() != members {
            return Err(HostError::journal(journal.path(), "it is of other members"));
        }
        let mut out = BTreeMap::new();
        for (name, said) in journal.listed::<Vec<u8>>(ROW)? {
            let mut parts = name.split(' ').skip(1).map(str::parse::<u64>);
            let (Some(Ok(to)), Some(Ok(number))) = (parts.next(), parts.next()) else { continue };
            let row = OutboxRow { said, kept: true, due: Instant::now(), pause: AGAIN[0] };
            out.insert((to as u32, number), row);
        }
        let kept = counts.heard.clone();
        let (told, asked) = (vec![0; members], vec![false; members]);
        Ok(Mailbox { seals, me, counts, kept, told, asked, out, gone: Vec::new() })
    }

    /// The number of deadlines of the node that are over.
    pub fn deadlines(&mut self) -> &mut u32 {
        &mut self.counts.deadlines
    }

    /// The number of members, the lead among them.
    pub fn members(&self) -> u32 {
        self.seals.members()
    }

    /// The number of messages that were ever sent.
    pub fn said(&self) -> u64 {
        self.counts.sent.iter().sum()
    }

    /// Whether all messages were confirmed, and the journal has the confirmations.
    pub fn is_settled(&self) -> bool {
        self.out.is_empty() && !self.has_gone()
    }

    /// Whether the journal still has messages that were confirmed.
    pub fn has_gone(&self) -> bool {
        !self.gone.is_empty()
    }

    /// The members with unconfirmed messages.
    pub fn unheard(&self) -> impl Iterator<Item = u32> + '_ {
        self.out.keys().map(|(to, _)| *to)
    }

    /// Puts a message for a peer into the outbox; it is sent once the journal has it.
    pub fn put(&mut self, to: u32, said: Vec<u8>) -> Result<(), HostError> {
        let Some(number) = self.counts.sent.get_mut(to as usize).filter(|_| to != self.me) else {
            return Err(HostError::disagreed("the node", format!("there is no member {to}")));
        };
        *number += 1;
        let row = OutboxRow { said, kept: false, due: Instant::now(), pause: AGAIN[0] };
        self.out.insert((to, *number), row);
        Ok(())
    }

    /// The message in a frame, if it is the next one of its sender: then it counts as received.
    pub fn open(&mut self, frame: &RelayedFrame) -> Result<Option<Vec<u8>>, Unheard> {
        let RelayedFrame { from, to, number, sealed } = frame;
        if *to != self.me {
            return Err(Unheard::Rejected("not addressed here"));
        }
        let opened = self.seals.open(*from, *number, sealed);
        let words = opened.ok_or(Unheard::Rejected("not sealed by its sender"))?;
        let word: SealedWord = wire::unpack(&words).map_err(|why| Unheard::Rejected(why.name()))?;
        let peer = *from as usize;
        if word.heard > self.counts.sent[peer] {
            return Err(Unheard::SetBack(*from));
        }
        let old: Vec<_> =
            self.out.range((*from, 0)..=(*from, word.heard)).map(|(k, _)| *k).collect();
        for key in old {
            // A message that the journal does not have was never sent, and cannot have been
            // received.
            if self.out.get(&key).is_some_and(|row| row.kept) {
                self.out.remove(&key);
                self.gone.push(key);
            }
        }
        let heard = &mut self.counts.heard[peer];
        match *number {
            0 => Ok(None),
            number if number <= *heard => {
                self.asked[peer] = true;
                Ok(None)
            }
            number if number == *heard + 1 => {
                *heard = number;
                Ok(Some(word.said))
            }
            // The messages between were lost, and will be sent again.
            _ => Ok(None),
        }
    }

    /// Whether the outbox has messages that the journal does not have.
    pub fn is_unkept(&self) -> bool {
        self.out.values().any(|row| !row.kept)
    }

    /// Writes the changes to the journal.
    pub fn write(&self, change: &Change<'_>) -> Result<(), HostError> {
        change.set(COUNTS, &self.counts)?;
        for key in &self.gone {
            change.forget(&row_name(*key))?;
        }
        let fresh = self.out.iter().filter(|(_, row)| !row.kept);
        fresh.into_iter().try_for_each(|(key, row)| change.set(&row_name(*key), &row.said))
    }

    /// Records that the changes are on the disk.
    pub fn committed(&mut self) {
        self.gone.clear();
        self.kept.clone_from(&self.counts.heard);
        self.out.values_mut().for_each(|row| row.kept = true);
    }

    /// Marks all unconfirmed messages to be sent again, on a new connection.
    pub fn again(&mut self) {
        let now = Instant::now();
        self.out.values_mut().for_each(|row| row.due = now);
        self.asked.fill(true);
    }

    fn frame(&mut self, to: u32, number: u64, said: Vec<u8>) -> Result<RelayedFrame, HostError> {
        let heard = self.kept[to as usize];
        let words = wire::pack(&SealedWord { heard, said })?;
        let sealed = self.seals.seal(to, number, &words)?;
        self.told[to as usize] = heard;
        self.asked[to as usize] = false;
        Ok(RelayedFrame { from: self.me, to, number, sealed })
    }

    /// The frames to send now, up to a number, and whether there are more; with `all`, all peers
    /// get a confirmation, otherwise those that need it.
    pub fn frames(
        &mut self,
        most: usize,
        all: bool,
    ) -> Result<(Vec<RelayedFrame>, bool), HostError> {
        let now = Instant::now();
        let due = self.out.iter().filter(|(_, row)| row.kept && row.due <= now);
        let due: Vec<(u32, u64)> = due.map(|(key, _)| *key).take(most + 1).collect();
        let mut frames = Vec::new();
        for key in due.iter().take(most) {
            let Some(row) = self.out.get_mut(key) else { continue };
            row.due = now + row.pause;
            row.pause = (2 * row.pause).min(AGAIN[1]);
            let said = row.said.clone();
            frames.push(self.frame(key.0, key.1, said)?);
        }
        let mut more = due.len() > most;
        for peer in 0..self.kept.len() {
            let untold = self.kept[peer] - self.told[peer].min(self.kept[peer]);
            let told = untold >= UNTOLD || (all && untold > 0) || self.asked[peer];
            if peer as u32 == self.me || !told || self.kept[peer] == 0 {
                continue;
            }
            if frames.len() >= most {
                more = true;
                break;
            }
            frames.push(self.frame(peer as u32, 0, Vec::new())?);
        }
        Ok((frames, more))
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::SignedRelayKey;
    use super::super::seal::RelaySecret;
    use super::*;

    /// Two members of one run, each with a journal.
    fn two(folder: &tempfile::TempDir) -> [(Mailbox, RunJournal); 2] {
        let identity = reticent::Identity::create(&folder.path().join("key")).unwrap().0;
        let own = [1, 2].map(|byte| RelaySecret::new(&[byte; 32]));
        let signed = |(me, own): (u32, &RelaySecret)| own.signed(&identity, &[7; 32], me);
        let keys: Vec<SignedRelayKey> = (0..).zip(&own).map(signed).collect();
        [0, 1].map(|me| {
            let journal = RunJournal::open(&folder.path().join(format!("{me}"))).unwrap();
            let seals = RelaySeals::new(&own[me as usize], &[7; 32], me, &keys).unwrap();
            (Mailbox::new(seals, me, &journal).unwrap(), journal)
        })
    }

    fn commit((mailbox, journal): &mut (Mailbox, RunJournal)) {
        journal.commit(|change| mailbox.write(change)).unwrap();
        mailbox.committed();
    }

    fn all(mailbox: &mut Mailbox) -> Vec<RelayedFrame> {
        mailbox.again();
        mailbox.frames(16, true).unwrap().0
    }

    #[test]
    fn a_word_is_said_when_the_journal_has_it_and_kept_until_it_was_heard() {
        let folder = tempfile::tempdir().unwrap();
        let [mut a, mut b] = two(&folder);
        a.0.put(1, b"one".to_vec()).unwrap();
        assert!(all(&mut a.0).is_empty() && a.0.is_unkept());
        commit(&mut a);
        let first = all(&mut a.0);
        a.0.put(1, b"two".to_vec()).unwrap();
        commit(&mut a);
        let both = all(&mut a.0);
        assert_eq!((first.len(), both.len()), (1, 2));
        // The second before the first is lost; each is received once, and a repeated one is
        // confirmed again.
        assert_eq!(b.0.open(&both[1]), Ok(None));
        assert_eq!(b.0.open(&first[0]), Ok(Some(b"one".to_vec())));
        assert_eq!(b.0.open(&both[0]), Ok(None));
        assert_eq!(b.0.open(&both[1]), Ok(Some(b"two".to_vec())));
        // A message that the journal does not have was not received.
        let untrue = all(&mut b.0);
        untrue.iter().for_each(|frame| assert_eq!(a.0.open(frame), Ok(None)));
        assert!(!a.0.is_settled());
        commit(&mut b);
        all(&mut b.0).iter().for_each(|frame| assert_eq!(a.0.open(frame), Ok(None)));
        assert!(!a.0.is_settled() && a.0.has_gone(), "its journal has the row yet");
        commit(&mut a);
        assert!(a.0.is_settled());
        assert!(a.1.listed::<Vec<u8>>("out").unwrap().is_empty());
    }

    #[test]
    fn no_frame_is_longer_than_its_message_and_the_seal() {
        let folder = tempfile::tempdir().unwrap();
        let [mut a, _] = two(&folder);
        for length in [0, 1, 200, 70_000] {
            a.0.put(1, vec![9; length]).unwrap();
            commit(&mut a);
            let frame = all(&mut a.0).pop().unwrap();
            let most = sealed_length(length);
            assert!(frame.sealed.len() <= most && frame.sealed.len() + 20 >= most, "{length}");
        }
    }

    /// A journal that was restored to an earlier state would send its messages again, with other
    /// content.
    #[test]
    fn a_peer_tells_a_journal_that_was_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let [mut a, mut b] = two(&folder);
        a.0.put(1, b"one".to_vec()).unwrap();
        commit(&mut a);
        all(&mut a.0).iter().for_each(|frame| drop(b.0.open(frame)));
        commit(&mut b);
        a.0.counts.sent[1] = 0;
        a.0.out.clear();
        let told: Vec<_> = all(&mut b.0).iter().map(|frame| a.0.open(frame)).collect();
        assert_eq!(told, [Err(Unheard::SetBack(1))]);
    }
}

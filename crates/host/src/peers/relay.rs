//! The relay of the lead: it hands on frames that it cannot read. It keeps frames in memory, a
//! limited number for each pair of sender and receiver; a lost frame is sent again by its sender.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use reticent::simulate::MOST_TOGETHER;

use super::frame::{PeerMail, RelayedFrame};
use crate::carrier::locked;

/// The largest number of frames of one sender that wait for one receiver; a further one is lost.
const MOST_WAITING: usize = 16;

/// The longest time before a peer without mail is answered, so that it can send again.
pub(crate) const HOLD: Duration = Duration::from_millis(500);

/// The state of a member, as it says itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PeerStand {
    /// Its node knows that the run has ended.
    pub ended: bool,
    /// All its messages were received.
    pub settled: bool,
}

/// The members that know when a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Every member, of itself.
    Each,
    /// The member with the last token.
    Any,
    /// This member, which asks the others; the word of another does not end the run.
    Of(u32),
}

#[derive(Debug)]
struct RelayDesk {
    /// For each member, by sender and number.
    frames: Vec<BTreeMap<(u32, u64), RelayedFrame>>,
    /// For each member, the sender that is first the next time.
    turns: Vec<u32>,
    stands: Vec<PeerStand>,
    /// The members that were told that another has ended.
    told: Vec<bool>,
    over: bool,
}

impl RelayDesk {
    /// The frames for a member in one turn: one of each sender, then a second one of each, and so
    /// on, from the sender whose turn it is. So a sender with many frames, or a small number, does
    /// not delay the others.
    fn next(&mut self, to: usize) -> Vec<RelayedFrame> {
        let (queue, turn) = (&mut self.frames[to], &mut self.turns[to]);
        let senders = self.stands.len() as u32;
        let (mut last, mut rank) = (None, 0);
        let mut order: Vec<(u32, u32, (u32, u64))> = Vec::with_capacity(queue.len());
        for key in queue.keys() {
            rank = if last == Some(key.0) { rank + 1 } else { 0 };
            last = Some(key.0);
            order.push((rank, (key.0 + senders - *turn) % senders, *key));
        }
        order.sort_unstable();
        order.truncate(MOST_TOGETHER);
        if let Some((_, _, (from, _))) = order.iter().rfind(|(rank, ..)| *rank == 0) {
            *turn = (from + 1) % senders;
        }
        order.iter().filter_map(|(_, _, key)| queue.remove(key)).collect()
    }
}

/// Frames on their way.
#[derive(Debug)]
pub(crate) struct Relay {
    waiting: Mutex<RelayDesk>,
    came: Vec<Condvar>,
    end: RunEnd,
    /// The longest sealed message.
    longest: usize,
}

impl Relay {
    pub fn new(members: u32, end: RunEnd, longest: usize) -> Self {
        let frames = (0..members).map(|_| BTreeMap::new()).collect();
        let stands = vec![PeerStand::default(); members as usize];
        let came = (0..members).map(|_| Condvar::new()).collect();
        let told = vec![false; members as usize];
        let turns = vec![0; members as usize];
        let waiting = Mutex::new(RelayDesk { frames, turns, stands, told, over: false });
        Relay { waiting, came, end, longest }
    }

    /// Takes the frames and the state of a member, both at once: a confirmation comes together with
    /// the messages that follow from it.
    pub fn put(
        &self,
        from: u32,
        frames: Vec<RelayedFrame>,
        stand: PeerStand,
    ) -> Result<(), &'static str> {
        let mut lost = Ok(());
        let mut waiting = locked(&self.waiting);
        for frame in frames {
            let to = frame.to as usize;
            if frame.from != from {
                lost = Err("another's name");
                continue;
            }
            // A turn has room for several frames: one that fills it would be kept many times.
            if frame.sealed.len() > self.longest {
                lost = Err("oversized");
                continue;
            }
            let Some(queue) = waiting.frames.get_mut(to).filter(|_| frame.to != from) else {
                lost = Err("not addressed here");
                continue;
            };
            let key = (from, frame.number);
            let own = queue.range((from, 0)..=(from, u64::MAX)).count();
            if own >= MOST_WAITING && !queue.contains_key(&key) {
                continue;
            }
            queue.insert(key, frame);
            self.came[to].notify_one();
        }
        waiting.stands[from as usize] = stand;
        waiting.over |= self.are_done(&waiting.stands);
        if waiting.over || self.is_closing(&waiting.stands) {
            self.came.iter().for_each(Condvar::notify_all);
        }
        lost
    }

    /// Whether the members that know it say that the run has ended.
    fn has_ended(&self, stands: &[PeerStand]) -> bool {
        match self.end {
            RunEnd::Each => stands.iter().all(|stand| stand.ended),
            RunEnd::Any => stands.iter().any(|stand| stand.ended),
            RunEnd::Of(member) => stands.get(member as usize).is_some_and(|stand| stand.ended),
        }
    }

    fn are_done(&self, stands: &[PeerStand]) -> bool {
        self.has_ended(stands) && stands.iter().all(|stand| stand.settled)
    }

    fn is_closing(&self, stands: &[PeerStand]) -> bool {
        self.end != RunEnd::Each && self.has_ended(stands)
    }

    /// The frames for a member, when there are any or the time is over.
    pub fn take(&self, to: u32, hold: Duration) -> PeerMail {
        let until = Instant::now() + hold;
        let mut waiting = locked(&self.waiting);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let closing = self.is_closing(&waiting.stands);
            let news = closing && !waiting.told[to as usize];
            let over = waiting.over || left.is_zero();
            if !waiting.frames[to as usize].is_empty() || news || over {
                let frames = waiting.next(to as usize);
                waiting.told[to as usize] = closing;
                return PeerMail { frames, closing };
            }
            let woken = self.came[to as usize].wait_timeout(waiting, left);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends all waits.
    pub fn stop(&self) {
        locked(&self.waiting).over = true;
        self.came.iter().for_each(Condvar::notify_all);
    }

    /// Whether the run is over, or has been stopped.
    pub fn is_over(&self) -> bool {
        locked(&self.waiting).over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(from: u32, to: u32, number: u64) -> RelayedFrame {
        RelayedFrame { from, to, number, sealed: vec![number as u8] }
    }

    #[test]
    fn frames_wait_for_their_receiver_once_and_memory_is_bounded() {
        let relay = Relay::new(3, RunEnd::Each, 1);
        let stand = PeerStand::default();
        for _ in 0..2 {
            relay.put(0, (1..=40).map(|number| frame(0, 1, number)).collect(), stand).unwrap();
        }
        let take = |to| relay.take(to, Duration::ZERO).frames;
        let came = take(1);
        assert_eq!(
            came.iter().map(|frame| frame.number).collect::<Vec<_>>(),
            (1..=16).collect::<Vec<_>>()
        );
        assert!(take(1).is_empty() && take(2).is_empty());
        assert_eq!(relay.put(0, vec![frame(1, 2, 1)], stand), Err("another's name"));
        assert_eq!(relay.put(0, vec![frame(0, 3, 1)], stand), Err("not addressed here"));
        assert_eq!(relay.put(0, vec![frame(0, 0, 1)], stand), Err("not addressed here"));
        let long = RelayedFrame { sealed: vec![0; 2], ..frame(0, 2, 1) };
        assert_eq!(relay.put(0, vec![long, frame(0, 2, 2)], stand), Err("oversized"));
        assert_eq!(take(2), [frame(0, 2, 2)]);
    }

    /// Whatever the number and the messages of the others, a sender is served after a turn for each
    /// sixteen of them.
    #[test]
    fn a_member_that_says_much_keeps_no_other_from_being_heard() {
        let relay = Relay::new(20, RunEnd::Each, 1);
        relay.put(18, vec![frame(18, 19, 1), frame(18, 19, 2)], PeerStand::default()).unwrap();
        let mut heard = Vec::new();
        for turn in 0..4 {
            for loud in 0..18 {
                let words = (1..=16).map(|number| frame(loud, 19, 100 * turn + number)).collect();
                relay.put(loud, words, PeerStand::default()).unwrap();
            }
            let came = relay.take(19, Duration::ZERO).frames;
            assert_eq!(came.len(), MOST_TOGETHER);
            heard.extend(came.into_iter().filter(|own| own.from == 18).map(|own| own.number));
        }
        assert_eq!(heard, [1, 2]);
    }

    #[test]
    fn a_run_is_over_when_all_is_heard_and_not_before() {
        let stand = |ended, settled| PeerStand { ended, settled };
        for (end, ended) in [(RunEnd::Each, 2), (RunEnd::Any, 1), (RunEnd::Of(0), 1)] {
            let relay = Relay::new(2, end, 1);
            relay.put(0, Vec::new(), stand(true, true)).unwrap();
            assert!(!relay.is_over());
            relay.put(1, Vec::new(), stand(ended == 2, false)).unwrap();
            assert!(!relay.is_over());
            relay.put(1, Vec::new(), stand(ended == 2, true)).unwrap();
            assert!(relay.is_over());
        }
    }

    /// If a server asks, a party that says that the run is over does not end it.
    #[test]
    fn a_run_with_a_server_ends_by_the_servers_word_alone() {
        let stand = |ended, settled| PeerStand { ended, settled };
        let relay = Relay::new(2, RunEnd::Of(1), 1);
        relay.put(1, Vec::new(), stand(false, true)).unwrap();
        relay.put(0, Vec::new(), stand(true, true)).unwrap();
        assert!(!relay.is_over() && !relay.take(1, Duration::ZERO).closing);
        relay.put(1, Vec::new(), stand(true, true)).unwrap();
        assert!(relay.is_over());
    }
}

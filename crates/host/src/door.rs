//! Connections that have not sent a hello yet. Their number is limited; when all places are taken,
//! a new connection replaces one from the origin with the most places.
//!
//! Nobody here has shown a key, so only the origin of a connection is known. Places are shared
//! between origins: a connection from an origin with fewer places replaces, at once, the oldest of
//! the origin with the most. So strangers from fewer origins than there are places never keep out a
//! member from another origin, however fast they connect. Among connections of one origin, one that
//! had enough time for a hello gives way.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::carrier::locked;
use crate::links::BreakOff;

/// The largest number of connections without a hello.
const PLACES: usize = 64;

/// The time for a hello over a slow line. A connection may take longer until its place is needed.
const GRACE: Duration = Duration::from_secs(1);

/// A connection without a hello, numbered by arrival.
pub(crate) type Ticket = u64;

struct DoorGuest {
    origin: Option<IpAddr>,
    since: Instant,
    end: BreakOff,
}

#[derive(Default)]
struct Guests {
    here: BTreeMap<Ticket, DoorGuest>,
    next: Ticket,
}

/// The places of a hall for connections without a hello.
#[derive(Default)]
pub(crate) struct Door(Mutex<Guests>);

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Door({} on the way in)", locked(&self.0).here.len())
    }
}

impl Guests {
    fn count(&self, origin: Option<IpAddr>) -> usize {
        self.here.values().filter(|guest| guest.origin == origin).count()
    }

    /// The connection that gives way to one from this origin: the oldest of an origin with the most
    /// places.
    fn victim(&self, origin: Option<IpAddr>, now: Instant) -> Option<Ticket> {
        let mut counts: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
        self.here.values().for_each(|guest| *counts.entry(guest.origin).or_default() += 1);
        let most = counts.values().copied().max()?;
        let (ticket, guest) = self.here.iter().find(|(_, guest)| counts[&guest.origin] == most)?;
        let unfair = most >= self.count(origin) + 2;
        (unfair || now.duration_since(guest.since) >= GRACE).then_some(*ticket)
    }
}

impl Door {
    /// Takes a place for a connection from this origin; `end` breaks the connection off when it
    /// gives way. `None` if no place can be had.
    pub fn enter(&self, origin: Option<IpAddr>, end: BreakOff, now: Instant) -> Option<Ticket> {
        let mut guests = locked(&self.0);
        if guests.here.len() >= PLACES {
            let victim = guests.victim(origin, now)?;
            let gone = guests.here.remove(&victim)?;
            (gone.end)();
        }
        guests.next += 1;
        let ticket = guests.next;
        guests.here.insert(ticket, DoorGuest { origin, since: now, end });
        Some(ticket)
    }

    /// Whether the connection still has its place.
    pub fn has(&self, ticket: Ticket) -> bool {
        locked(&self.0).here.contains_key(&ticket)
    }

    /// Frees the place of a connection that has sent its hello or is gone: it cannot be broken off
    /// afterwards. Returns whether it still had its place.
    pub fn leave(&self, ticket: Ticket) -> bool {
        locked(&self.0).here.remove(&ticket).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn from(last: u8) -> Option<IpAddr> {
        Some([10, 0, 0, last].into())
    }

    fn enter(door: &Door, origin: Option<IpAddr>, now: Instant) -> Option<Ticket> {
        door.enter(origin, Box::new(|| ()), now)
    }

    /// Whatever one origin does, another has a place at once, and keeps it for its grace period.
    #[test]
    fn one_origin_never_keeps_another_out() {
        let (door, now) = (Door::default(), Instant::now());
        for _ in 0..10 * PLACES {
            enter(&door, from(1), now);
        }
        assert_eq!(locked(&door.0).here.len(), PLACES);
        let member = enter(&door, from(2), now).unwrap();
        for _ in 0..10 * PLACES {
            enter(&door, from(1), now);
            enter(&door, from(3), now);
        }
        assert!(door.leave(member) && !door.leave(member));
    }

    #[test]
    fn origins_share_the_places_and_whoever_gives_way_is_broken_off() {
        let (door, now) = (Door::default(), Instant::now());
        let broken = Arc::new(AtomicUsize::new(0));
        for origin in 1..=4 {
            for _ in 0..PLACES {
                let own = Arc::clone(&broken);
                door.enter(
                    from(origin),
                    Box::new(move || _ = own.fetch_add(1, Ordering::Relaxed)),
                    now,
                );
            }
        }
        let guests = locked(&door.0);
        assert!((1..=4).all(|origin| guests.count(from(origin)) >= PLACES / 4 - 1));
        assert_eq!(guests.here.len(), PLACES);
        assert_eq!(broken.load(Ordering::Relaxed) as u64, guests.next - PLACES as u64);
    }

    /// Within one origin, such as behind one proxy, no connection gives way before the grace period
    /// is over, and the oldest is first.
    #[test]
    fn who_comes_from_where_all_come_from_waits_for_a_grace() {
        let (door, now) = (Door::default(), Instant::now());
        let first = enter(&door, None, now).unwrap();
        let second = enter(&door, None, now + GRACE / 2).unwrap();
        for _ in 2..PLACES {
            assert!(enter(&door, None, now + GRACE / 2).is_some());
        }
        assert!(enter(&door, None, now + GRACE / 2).is_none());
        assert!(enter(&door, None, now + GRACE).is_some());
        assert!(enter(&door, None, now + GRACE).is_none());
        assert!(!door.leave(first) && door.leave(second));
        assert!(enter(&door, None, now + GRACE).is_some());
    }
}

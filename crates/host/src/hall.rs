//! The entrance of the lead: a connection is admitted by its key and its hello, or told by name why
//! not. The number of connections, and the time and length of a hello, are limited.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use reticent_noise::Digest;
use reticent_runtime::wire;

use crate::agreement::PROGRAM;
use crate::door::{Door, Ticket};
use crate::links::{Arrival, Link, LinkError, Listen};
use crate::message::{Hello, HostMessage, LONGEST_HELLO, Rejection, VERSION};
use crate::options::{HostOptions, Notice};
use crate::roster::Roster;

/// The time for the key and the hello of a connection.
const HELLO_TIME: Duration = Duration::from_secs(10);

/// The number of rejections of one name that are reported one by one.
const ALL_TOLD: u64 = 32;

/// The interval at which a wait checks whether it is over.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// A party that was admitted.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub link: Box<dyn Link>,
    pub hello: Hello,
}

/// The state that the threads of the lead share.
#[derive(Debug)]
pub(crate) struct Hall {
    pub roster: Arc<Roster>,
    job: Digest,
    options: HostOptions,
    /// The run and its parties, once it has begun.
    run: Mutex<Option<(Digest, Vec<u32>)>>,
    /// The parties that are out of the run for good, and why.
    out: Mutex<BTreeMap<u32, String>>,
    seats: Mutex<Vec<Option<Visitor>>>,
    came: Condvar,
    over: AtomicBool,
    door: Door,
    rejected: Mutex<BTreeMap<&'static str, u64>>,
}

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hall {
    pub fn new(roster: &Arc<Roster>, job: &Digest, options: &HostOptions) -> Arc<Self> {
        Arc::new(Hall {
            roster: Arc::clone(roster),
            job: *job,
            options: options.clone(),
            run: Mutex::new(None),
            out: Mutex::new(BTreeMap::new()),
            seats: Mutex::new((0..roster.parties()).map(|_| None).collect()),
            came: Condvar::new(),
            over: AtomicBool::new(false),
            door: Door::default(),
            rejected: Mutex::new(BTreeMap::new()),
        })
    }

    /// Admits parties until the hall is closed.
    pub fn open(self: &Arc<Self>, listener: Box<dyn Listen>) -> JoinHandle<()> {
        let hall = Arc::clone(self);
        std::thread::spawn(move || {
            while !hall.over.load(Ordering::Relaxed) {
                match listener.accept(Instant::now() + SLICE) {
                    Ok(None) => {}
                    Ok(Some(arrival)) => hall.receive(arrival),
                    Err(_) => std::thread::sleep(SLICE),
                }
            }
        })
    }

    /// Admits no more parties.
    pub fn close(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn receive(self: &Arc<Self>, mut arrival: Arrival) {
        let (origin, end) = (arrival.origin(), arrival.end());
        let Some(ticket) = self.door.enter(origin, end, Instant::now()) else {
            return self.reject("too many at once");
        };
        let hall = Arc::clone(self);
        std::thread::spawn(move || {
            let came = hall.let_in(arrival, ticket);
            let stayed = hall.door.leave(ticket);
            if let Err(why) = came {
                match why {
                    _ if !stayed => hall.reject("made room"),
                    // A stranger can have any number of keys: all are counted under one name.
                    LinkError::Untrusted(why) => {
                        if hall.count("untrusted") <= ALL_TOLD {
                            hall.options
                                .tell(Notice::Rejected { name: format!("untrusted: {why}") });
                        }
                    }
                    LinkError::TooLong { .. } => hall.reject("oversized"),
                    LinkError::Timeout => hall.reject("slow"),
                    LinkError::Closed => hall.reject("left"),
                    LinkError::Failed(_) => hall.reject("no handshake"),
                }
            }
        });
    }

    /// The hello of a connection, if it arrives in time and if the connection has not given way
    /// meanwhile: some connections cannot be broken off once the key is shown.
    fn hello_of(
        &self,
        link: &mut dyn Link,
        ticket: Ticket,
        until: Instant,
    ) -> Result<Vec<u8>, LinkError> {
        loop {
            match link.receive(LONGEST_HELLO, until.min(Instant::now() + SLICE)) {
                Err(LinkError::Timeout) if Instant::now() < until && self.door.has(ticket) => {}
                said => return said,
            }
        }
    }

    fn let_in(&self, arrival: Arrival, ticket: Ticket) -> Result<(), LinkError> {
        let until = Instant::now() + HELLO_TIME;
        let mut link = arrival.link(until)?;
        let frame = self.hello_of(&mut *link, ticket, until)?;
        let checked = match HostMessage::unpack(&frame) {
            Ok(HostMessage::Hello(hello)) => self.check(&hello, &link.peer()).map(|()| hello),
            Ok(_) => Err(Rejection::Unexpected),
            Err(why) => Err(why),
        };
        match checked {
            Ok(hello) => {
                // A party that had to give way connects again.
                if !self.door.leave(ticket) {
                    return Err(LinkError::Closed);
                }
                self.options.tell(Notice::Arrived { name: self.roster.name(hello.party) });
                let seat = hello.party as usize;
                locked(&self.seats)[seat] = Some(Visitor { link, hello });
                self.came.notify_all();
            }
            Err(why) => {
                self.reject(why.name());
                let said = ("refused", &HostMessage::Refused(why).pack()[..]);
                self.options.sending(&mut *link, said, until)?;
            }
        }
        Ok(())
    }

    /// Checks that this key may send this hello.
    fn check(&self, hello: &Hello, peer: &[u8; 32]) -> Result<(), Rejection> {
        if (hello.host, hello.wire) != (VERSION, wire::VERSION) || hello.program != PROGRAM {
            let program = PROGRAM.to_owned();
            return Err(Rejection::Version { program, host: VERSION, wire: wire::VERSION });
        }
        if self.roster.number(peer) != Some(hello.party) {
            return Err(Rejection::NotYours);
        }
        if hello.roster != self.roster.digest() {
            return Err(Rejection::OtherRoster);
        }
        if hello.job != self.job {
            return Err(Rejection::OtherJob);
        }
        if let Some(why) = locked(&self.out).get(&hello.party) {
            return Err(Rejection::Forfeited(why.clone()));
        }
        match (&*locked(&self.run), hello.run) {
            (None, None) => Ok(()),
            (Some((_, seats)), _) if seats.binary_search(&hello.party).is_err() => {
                Err(Rejection::Struck)
            }
            (Some((run, _)), Some(own)) if *run == own => Ok(()),
            (Some(_), None) => Err(Rejection::Began),
            (_, Some(_)) => Err(Rejection::UnknownRun),
        }
    }

    /// Counts a rejection under one of a few names, so that memory does not grow with connections.
    /// Returns the count of that name.
    pub fn count(&self, name: &'static str) -> u64 {
        let mut rejected = locked(&self.rejected);
        let counted = rejected.entry(name).or_default();
        *counted += 1;
        *counted
    }

    /// Counts a rejection and reports the first ones, then each time that the count has doubled: a
    /// crowd must not keep the lead busy with reports.
    pub fn reject(&self, name: &'static str) {
        let counted = self.count(name);
        if counted <= ALL_TOLD || counted.is_power_of_two() {
            self.options.tell(Notice::Rejected { name: name.to_owned() });
        }
    }

    /// Rejected connections and messages, by name.
    pub fn rejections(&self) -> BTreeMap<String, u64> {
        let counted = locked(&self.rejected);
        counted.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    /// Binds the hall to this run: a party that connects from here on is in the run, or is told
    /// that it has begun without it.
    pub fn begin(&self, run: &Digest, parties: &[u32]) {
        *locked(&self.run) = Some((*run, parties.to_vec()));
        let mut struck = Vec::new();
        // A party that connected before the beginning is not in the run yet; it says so again if it
        // is.
        for (party, seat) in (0..).zip(locked(&self.seats).iter_mut()) {
            let stale = seat.take_if(|visitor| visitor.hello.run != Some(*run));
            struck.extend(stale.filter(|_| parties.binary_search(&party).is_err()));
        }
        for mut visitor in struck {
            let told = HostMessage::Refused(Rejection::Struck).pack();
            let _ = visitor.link.send(&told, Instant::now() + Duration::from_secs(1));
        }
    }

    /// Whether this party is out of the run.
    pub fn is_out(&self, party: u32) -> bool {
        locked(&self.out).contains_key(&party)
    }

    /// Excludes this party from the run for good; it is told so when it connects.
    pub fn forfeit(&self, party: u32, why: &str) {
        locked(&self.out).insert(party, why.to_owned());
        let here = locked(&self.seats).get_mut(party as usize).and_then(Option::take);
        if let Some(mut visitor) = here {
            let told = HostMessage::Refused(Rejection::Forfeited(why.to_owned())).pack();
            let _ = visitor.link.send(&told, Instant::now() + Duration::from_secs(1));
        }
    }

    /// The visitor of a seat, if there is one by then.
    pub fn take(&self, party: u32, until: Instant) -> Option<Visitor> {
        let mut seats = locked(&self.seats);
        loop {
            if let Some(visitor) = seats[party as usize].take() {
                return Some(visitor);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.over.load(Ordering::Relaxed) {
                return None;
            }
            let woken = self.came.wait_timeout(seats, left.min(SLICE));
            seats = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether another connection has come for this seat since it was taken.
    pub fn is_newer(&self, party: u32) -> bool {
        locked(&self.seats)[party as usize].is_some()
    }
}

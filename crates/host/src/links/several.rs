//! Several kinds of connection: QUIC where UDP is allowed, and TLS over TCP where it is not, as in
//! many hospitals. The lead listens for all of them at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{Arrival, Dial, Link, LinkError, Listen};

/// The time of the first kind before the second is tried.
const FIRST_TIME: Duration = Duration::from_secs(3);

/// The time during which the first kind is not tried again after a failure.
const REST: Duration = Duration::from_secs(600);

/// The time for one of several listeners before the next.
const SLICE: Duration = Duration::from_millis(5);

/// A first kind of connection to the lead, and a second one for when it fails.
#[derive(Debug)]
pub struct FallbackDialer {
    first: Box<dyn Dial>,
    second: Box<dyn Dial>,
    /// The time of the last failure of the first kind.
    failed: Arc<Mutex<Option<Instant>>>,
}

impl FallbackDialer {
    /// Tries `first` for a short time, then `second`.
    pub fn new(first: Box<dyn Dial>, second: Box<dyn Dial>) -> Self {
        FallbackDialer { first, second, failed: Arc::default() }
    }

    fn rests(&self) -> bool {
        let failed = *self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.is_some_and(|when| when.elapsed() < REST)
    }
}

fn note(failed: &Mutex<Option<Instant>>) {
    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

impl Dial for FallbackDialer {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        if self.rests() {
            return self.second.dial(until);
        }
        let why = match self.first.dial(until.min(Instant::now() + FIRST_TIME)) {
            Ok(link) => {
                let (failed, answered) = (Arc::clone(&self.failed), false);
                return Ok(Box::new(UnansweredLink { link, failed, answered }));
            }
            Err(why) => why,
        };
        match (self.second.dial(until), why) {
            (Ok(link), _) => {
                note(&self.failed);
                Ok(link)
            }
            // Both have failed: a refused key is the better reason.
            (Err(second), LinkError::Untrusted(_)) if matches!(second, LinkError::Untrusted(_)) => {
                Err(second)
            }
            (Err(_), why @ LinkError::Untrusted(_)) => Err(why),
            (Err(second), _) => Err(second),
        }
    }
}

/// A connection counts only from its first answer: one that breaks before counts as a failure of
/// its kind, and the next one uses the other kind. A wait that ends in time is no failure: the lead
/// may be waiting for others.
#[derive(Debug)]
struct UnansweredLink {
    link: Box<dyn Link>,
    failed: Arc<Mutex<Option<Instant>>>,
    answered: bool,
}

impl Link for UnansweredLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        let received = self.link.receive(limit, until);
        match &received {
            Ok(_) => self.answered = true,
            Err(LinkError::Failed(_)) if !self.answered => note(&self.failed),
            Err(_) => {}
        }
        received
    }
}

/// Several listeners as one, in turn: a crowd at one of them does not keep out connections of
/// another.
#[derive(Debug)]
pub struct SeveralListeners {
    all: Vec<Box<dyn Listen>>,
    turn: AtomicUsize,
}

impl SeveralListeners {
    /// All of these.
    pub fn new(all: Vec<Box<dyn Listen>>) -> Self {
        SeveralListeners { all, turn: AtomicUsize::new(0) }
    }
}

impl Listen for SeveralListeners {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        loop {
            let mut ended = 0;
            for _ in 0..self.all.len() {
                let turn = self.turn.fetch_add(1, Ordering::Relaxed) % self.all.len();
                match self.all[turn].accept(until.min(Instant::now() + SLICE)) {
                    Ok(Some(arrival)) => return Ok(Some(arrival)),
                    Ok(None) => {}
                    Err(_) => ended += 1,
                }
            }
            if ended == self.all.len() {
                return Err(LinkError::Closed);
            }
            if Instant::now() >= until {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind of connection that always connects, and then has this outcome alone.
    #[derive(Debug)]
    struct Fake(&'static str, Result<(), LinkError>);

    impl Dial for Fake {
        fn dial(&self, _: Instant) -> Result<Box<dyn Link>, LinkError> {
            match &self.1 {
                Err(why @ LinkError::Untrusted(_)) => Err(why.clone()),
                came => Ok(Box::new(Fake(self.0, came.clone()))),
            }
        }
    }

    impl Link for Fake {
        fn peer(&self) -> [u8; 32] {
            [0; 32]
        }

        fn send(&mut self, _: &[u8], _: Instant) -> Result<(), LinkError> {
            Ok(())
        }

        fn receive(&mut self, _: usize, _: Instant) -> Result<Vec<u8>, LinkError> {
            self.1.clone().map(|()| self.0.as_bytes().to_vec())
        }
    }

    fn received(dialer: &FallbackDialer) -> Result<Vec<u8>, LinkError> {
        let soon = Instant::now() + FIRST_TIME;
        dialer.dial(soon).and_then(|mut link| link.receive(9, soon))
    }

    fn with_first(came: Result<(), LinkError>) -> FallbackDialer {
        FallbackDialer::new(Box::new(Fake("first", came)), Box::new(Fake("second", Ok(()))))
    }

    #[test]
    fn a_connection_without_an_answer_is_none_and_the_other_way_is_taken() {
        let works = with_first(Ok(()));
        assert_eq!(received(&works).unwrap(), b"first");
        // It was connected, and nothing followed.
        let broken = with_first(Err(LinkError::Failed("silence".to_owned())));
        assert!(received(&broken).is_err());
        assert_eq!(received(&broken).unwrap(), b"second");
        // The lead waits for others: that is no failure of the connection.
        let waits = with_first(Err(LinkError::Timeout));
        assert_eq!(received(&waits), Err(LinkError::Timeout));
        assert_eq!(received(&waits), Err(LinkError::Timeout));
    }

    /// A listener to which somebody always connects.
    #[derive(Debug)]
    struct Crowd(&'static str);

    impl Listen for Crowd {
        fn accept(&self, _: Instant) -> Result<Option<Arrival>, LinkError> {
            let name = self.0;
            Ok(Some(Arrival::new(move |_| Ok(Box::new(Fake(name, Ok(())))))))
        }
    }

    #[test]
    fn a_crowd_at_one_listener_keeps_nobody_out_of_the_other() {
        let soon = Instant::now() + FIRST_TIME;
        let both = SeveralListeners::new(vec![Box::new(Crowd("first")), Box::new(Crowd("second"))]);
        let came = || {
            let arrival = both.accept(soon).unwrap().unwrap();
            arrival.link(soon).unwrap().receive(9, soon).unwrap()
        };
        let four = [came(), came(), came(), came()];
        assert_eq!(four.iter().filter(|name| *name == b"second").count(), 2);
    }

    #[test]
    fn whose_key_is_not_good_by_one_way_is_asked_by_the_other_and_named() {
        let false_lead = with_first(Err(LinkError::Untrusted("a key".to_owned())));
        assert_eq!(received(&false_lead).unwrap(), b"second");
        let none = FallbackDialer::new(
            Box::new(Fake("first", Err(LinkError::Untrusted("a key".to_owned())))),
            Box::new(Fake("second", Err(LinkError::Untrusted("the same".to_owned())))),
        );
        assert_eq!(received(&none), Err(LinkError::Untrusted("the same".to_owned())));
    }
}

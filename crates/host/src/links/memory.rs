//! Links inside one process, for tests of the layers above. The test chooses the keys.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{Arrival, Dial, Link, LinkError, Listen, left};

/// One end of a pair of channels.
#[derive(Debug)]
struct MemoryLink {
    peer: [u8; 32],
    out: Sender<Vec<u8>>,
    into: Receiver<Vec<u8>>,
}

impl Link for MemoryLink {
    fn peer(&self) -> [u8; 32] {
        self.peer
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        left(until)?;
        self.out.send(frame.to_vec()).map_err(|_| LinkError::Closed)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        let frame = self.into.recv_timeout(left(until)?).map_err(|error| match error {
            RecvTimeoutError::Timeout => LinkError::Timeout,
            RecvTimeoutError::Disconnected => LinkError::Closed,
        })?;
        match frame.len() {
            given if given > limit => Err(LinkError::TooLong { given, limit }),
            _ => Ok(frame),
        }
    }
}

/// A network inside one process. A lead may listen again after another.
#[derive(Clone, Debug, Default)]
pub struct MemoryNet {
    listening: Arc<Mutex<Option<Listening>>>,
}

#[derive(Debug)]
struct Listening {
    lead: [u8; 32],
    arrivals: Sender<MemoryLink>,
}

impl MemoryNet {
    /// The listener of the lead with this key.
    pub fn listen(&self, lead: [u8; 32]) -> Box<dyn Listen> {
        let (arrivals, came) = channel();
        *self.listening.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Listening { lead, arrivals });
        Box::new(MemoryListener { came: Mutex::new(came) })
    }

    /// The dialer of the party with this key.
    pub fn dialer(&self, party: [u8; 32]) -> Box<dyn Dial> {
        Box::new(MemoryDialer { net: self.clone(), party })
    }
}

#[derive(Debug)]
struct MemoryListener {
    came: Mutex<Receiver<MemoryLink>>,
}

impl Listen for MemoryListener {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        let Ok(left) = left(until) else { return Ok(None) };
        let came = self.came.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(left);
        match came {
            Ok(link) => Ok(Some(Arrival::new(move |_| Ok(Box::new(link))))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            // Another lead listens: an immediate retry would only spin.
            Err(RecvTimeoutError::Disconnected) => Err(LinkError::Closed),
        }
    }
}

#[derive(Debug)]
struct MemoryDialer {
    net: MemoryNet,
    party: [u8; 32],
}

impl Dial for MemoryDialer {
    fn dial(&self, _: Instant) -> Result<Box<dyn Link>, LinkError> {
        let listening = self.net.listening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Listening { lead, arrivals }) = &*listening else {
            return Err(LinkError::Failed("nobody listens".to_owned()));
        };
        let ((out, their_in), (their_out, into)) = (channel(), channel());
        let theirs = MemoryLink { peer: self.party, out: their_out, into: their_in };
        arrivals.send(theirs).map_err(|_| LinkError::Failed("nobody listens".to_owned()))?;
        Ok(Box::new(MemoryLink { peer: *lead, out, into }))
    }
}

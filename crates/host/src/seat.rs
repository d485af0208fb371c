//! The seat of a party: its journal, its table, and its connection to the lead.

use std::time::{Duration, Instant};

use reticent::PrivateTable;
use reticent_noise::Digest;
use zeroize::Zeroizing;

use crate::company::Company;
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::links::{Link, LinkError};
use crate::message::{HostMessage, Rejection};
use crate::options::{HostOptions, Notice};
use crate::party::RemoteParty;

/// The longest time for a connection or one message.
const SEND_TIME: Duration = Duration::from_secs(60);

/// The longest time to say that the party does not join.
const DECLINE_TIME: Duration = Duration::from_secs(5);

/// The silence after which the party checks whether the lead is there.
pub(crate) const IDLE: Duration = Duration::from_secs(30);

/// The first and the longest pause before dialling again.
pub(crate) const PAUSE: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(500)];

/// The time in which an unreached lead is not reported: members are started one after another.
const UNTOLD: Duration = Duration::from_secs(2);

/// The largest number of reported reasons, each once.
const MOST_TOLD: usize = 8;

/// The connection on which all have agreed, until the party greets. A party that fails before says
/// so: the others give back their reservations, and wait for nobody.
pub(crate) struct AgreedLink(pub Option<Box<dyn Link>>);

impl Drop for AgreedLink {
    fn drop(&mut self) {
        if let Some(mut link) = self.0.take() {
            let why = Rejection::Declined("it could not pay, or could not join".to_owned());
            // A lead that does not hear it waits as long as for a party that is gone.
            let _ = link.send(&HostMessage::Refused(why).pack(), Instant::now() + DECLINE_TIME);
        }
    }
}

/// The seat of a party: its journal and its node.
pub(crate) struct Seat<'a> {
    pub party: &'a RemoteParty<'a>,
    /// Its number in the roster.
    pub number: u32,
    /// The parties of the run; all parties until that is agreed on.
    pub company: Company<'a>,
    pub journal: RunJournal,
    pub table: Option<PrivateTable>,
    /// The key of a run that is to be joined, and the fingerprint of the table under it, from
    /// before the table was read.
    pub known: Option<(Zeroizing<[u8; 32]>, Digest)>,
    pub units: Option<u64>,
    pub link: AgreedLink,
    /// The time of the lead's last message.
    pub heard: Instant,
    /// Whether this process has reached the lead.
    pub reached: bool,
}

impl<'a> Seat<'a> {
    pub fn options(&self) -> &HostOptions {
        &self.party.options
    }

    /// Forms the run of these parties, if this party is one of them.
    pub fn gather(&mut self, seats: &[u32]) -> Result<(), HostError> {
        // The calculation for the same parties is kept.
        if self.company.seats == seats {
            return Ok(());
        }
        let company = Company::of(self.party.job, self.party.roster, seats)?;
        if company.number(self.number).is_none() {
            return Err(HostError::disagreed("the lead", "a run without this party"));
        }
        self.company = company;
        Ok(())
    }

    /// Its number in the run.
    pub fn place(&self) -> u32 {
        self.company.number(self.number).unwrap_or(self.number)
    }

    /// A connection to the lead on which the hello was sent.
    pub fn connect(
        &mut self,
        nonce: &[u8; 32],
        run: Option<Digest>,
    ) -> Result<Box<dyn Link>, HostError> {
        let RemoteParty { roster, dialer, .. } = self.party;
        let hello = self.party.hello(self.number, (nonce, self.units), run);
        let (patience, mut pause) = (self.options().patience, PAUSE[0]);
        let (until, quiet) = (self.heard + patience, Instant::now() + UNTOLD);
        let (name, mut told, mut last) = (roster.lead_name(), Vec::new(), LinkError::Timeout);
        loop {
            let soon = Instant::now() + SEND_TIME;
            let link = dialer.dial(soon.min(until)).and_then(|mut link| {
                let said = (hello.name(), &hello.pack()[..]);
                self.options().sending(&mut *link, said, soon.min(until))?;
                Ok(link)
            });
            match link {
                Ok(link) => {
                    if !std::mem::replace(&mut self.reached, true) || !told.is_empty() {
                        let (name, again) = (name.to_owned(), run.is_some());
                        self.options().tell(Notice::Reached { name, again });
                    }
                    return Ok(link);
                }
                Err(why @ LinkError::Untrusted(_)) => return Err(why.into()),
                Err(why) => {
                    // An earlier error says more than the end of the time.
                    if why != LinkError::Timeout {
                        last = why.clone();
                    }
                    if Instant::now() + pause >= until || self.options().is_gone(name) {
                        let (who, seconds) = (name.to_owned(), patience.as_secs());
                        return Err(HostError::Absent {
                            who,
                            seconds,
                            why: Some(last.to_string()),
                        });
                    }
                    if Instant::now() >= quiet && told.len() < MOST_TOLD && !told.contains(&why) {
                        let (name, said) = (name.to_owned(), why.to_string());
                        self.options().tell(Notice::Unreached { name, why: said });
                        told.push(why);
                    }
                    std::thread::sleep(pause);
                }
            }
            pause = (2 * pause).min(PAUSE[1]);
        }
    }

    pub fn hear(
        &mut self,
        link: &mut dyn Link,
        limit: usize,
        idle: Duration,
    ) -> Result<HostMessage, HostError> {
        let frame = link.receive(limit, Instant::now() + idle)?;
        let lead = self.party.roster.lead_key();
        if link.peer() != lead {
            return Err(HostError::disagreed("the other end", "it is not the lead"));
        }
        self.heard = Instant::now();
        let refused = |why| HostError::Refused { who: "the party".to_owned(), why };
        HostMessage::of_frame(frame).map_err(refused)
    }

    pub fn say(&self, link: &mut dyn Link, message: &HostMessage) -> Result<(), HostError> {
        let said = (message.name(), &message.pack()[..]);
        Ok(self.options().sending(link, said, Instant::now() + SEND_TIME)?)
    }
}

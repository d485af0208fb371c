//! How a party agrees on a run: from its first connection until it has joined. Nothing is spent
//! before that.

use std::time::Duration;

use reticent::accountant::{Ledger, View};
use reticent::simulate::RemoteKind;
use reticent_core::hex;
use reticent_noise::Digest;
use reticent_oracle::EntrustKey;
use serde::{Deserialize, Serialize};

use crate::agreement::{PROGRAM, RunTerms, commitment, sign, unsigned};
use crate::answer_payer::ReservedJob;
use crate::attempts::AttemptCount;
use crate::error::HostError;
use crate::links::{Link, LinkError};
use crate::message::{HostMessage, LONGEST_LOBBY, Rejection};
use crate::party::fresh;
use crate::seat::{AgreedLink, IDLE, PAUSE, Seat};
use crate::serving::{JoinedRun, Serving};

/// The longest silence between the roll and the beginning of a run. All members wait there while
/// the slowest plans the run, for which the lead allows two minutes. A party that reconnected
/// meanwhile would make all begin again.
const IDLE_WHILE_OTHERS_PLAN: Duration = Duration::from_secs(150);

/// A run that the party has signed and has not joined yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignedRun {
    pub run: Digest,
    pub terms: RunTerms,
    /// The public key that sums are encrypted for.
    pub aggregator: Vec<u8>,
}

/// A party that has agreed on a run with all others and has not joined it yet.
pub(crate) struct Joining<'a> {
    seat: Seat<'a>,
    signed: SignedRun,
    plan: Ledger,
    pub reservation: Option<ReservedJob>,
}

impl<'a> Seat<'a> {
    /// Takes part in the lobby until all have signed one run. `fits` refuses a run that the party's
    /// budget does not allow, before the party signs.
    pub fn agree(
        mut self,
        fits: &dyn Fn(&Ledger) -> Result<(), HostError>,
    ) -> Result<Joining<'a>, HostError> {
        loop {
            let kept = self.journal.get::<SignedRun>("signed")?;
            let nonce = fresh()?;
            let link = self.connect(&nonce, kept.as_ref().map(|kept| kept.run))?;
            let known = kept.is_some();
            match self.lobby(link, &nonce, kept, fits) {
                Ok(Some((signed, plan))) => {
                    return Ok(Joining { seat: self, signed, plan, reservation: None });
                }
                // The lobby begins again, with new nonces.
                Ok(None) => self.unsign()?,
                Err(HostError::Refused { why: Rejection::UnknownRun, .. }) if known => {
                    self.unsign()?
                }
                Err(HostError::Link(LinkError::Untrusted(why))) => {
                    return Err(LinkError::Untrusted(why).into());
                }
                Err(HostError::Link(_)) => std::thread::sleep(PAUSE[0]),
                Err(why) => return Err(why),
            }
        }
    }

    fn unsign(&mut self) -> Result<(), HostError> {
        self.journal.commit(|change| change.forget("signed"))
    }

    /// Writes a run to the journal before the party signs it.
    fn keep(&mut self, own: &SignedRun) -> Result<(), HostError> {
        let (options, journal) = (&self.party.options, &mut self.journal);
        options.writing("signed", || {
            journal.commit(|change| {
                change.set("program", &PROGRAM)?;
                change.set("signed", own)
            })
        })
    }

    fn lobby(
        &mut self,
        mut link: Box<dyn Link>,
        nonce: &[u8; 32],
        mut signed: Option<SignedRun>,
        fits: &dyn Fn(&Ledger) -> Result<(), HostError>,
    ) -> Result<Option<(SignedRun, Ledger)>, HostError> {
        let lead = self.party.roster.lead_name().to_owned();
        let mut roll: Option<(Vec<u32>, Vec<Digest>)> = None;
        loop {
            let idle = match roll.is_some() || signed.is_some() {
                true => IDLE_WHILE_OTHERS_PLAN,
                false => IDLE,
            };
            match (self.hear(&mut *link, LONGEST_LOBBY, idle)?, signed.take(), roll.take()) {
                (HostMessage::Roll(seats, all), None, None) => {
                    self.check_roll(&seats, &all, nonce)?;
                    self.reveal(&mut *link, nonce)?;
                    roll = Some((seats, all));
                }
                (HostMessage::Terms(terms, aggregator), None, Some(roll)) => {
                    let own = self.check_terms(&roll, nonce, terms, aggregator)?;
                    let plan = self.company.job().plan_of(self.place(), &own.terms.units)?;
                    if let Err(why) = fits(&plan) {
                        let said =
                            Rejection::Declined("its budget does not allow the run".to_owned());
                        self.say(&mut *link, &HostMessage::Refused(said))?;
                        return Err(why);
                    }
                    self.keep(&own)?;
                    let signature = sign(self.party.identity, &own.run, &own.aggregator);
                    self.say(&mut *link, &HostMessage::Signed(signature))?;
                    signed = Some(own);
                }
                (HostMessage::Begin(signatures), Some(own), _) => {
                    self.gather(&own.terms.seats)?;
                    let roster = &self.company.roster;
                    if let Some(who) = unsigned(roster, &own.run, &own.aggregator, &signatures) {
                        self.unsign()?;
                        let what = format!("{who} has not signed this run: it was told another");
                        return Err(HostError::disagreed(lead, what));
                    }
                    let plan = self.company.job().plan_of(self.place(), &own.terms.units)?;
                    self.link = AgreedLink(Some(link));
                    return Ok(Some((own, plan)));
                }
                // A party that reconnects is told first how many of its rounds the lead has.
                (HostMessage::Known(0), Some(own), _) => signed = Some(own),
                (HostMessage::Again, ..) => return Ok(None),
                (HostMessage::Over(why), ..) => return Err(HostError::NotBegun(why)),
                (HostMessage::Refused(why), ..) => {
                    return Err(HostError::Refused { who: lead, why });
                }
                _ => return Err(HostError::disagreed(lead, Rejection::Unexpected.to_string())),
            }
        }
    }

    /// Checks that a roll follows the roster, has at least the number of parties that this party
    /// asks for, and includes this party. Parties that are not in the roll are struck: noise and
    /// plan are calculated without them.
    fn check_roll(
        &mut self,
        seats: &[u32],
        roll: &[Digest],
        nonce: &[u8; 32],
    ) -> Result<(), HostError> {
        self.gather(seats)?;
        let (here, all) = (seats.len() as u32, self.party.roster.parties());
        let least = self.options().least.unwrap_or(all).min(all).max(1);
        if here < least {
            let what = format!(
                "a run of {here} of {all} parties, and this one takes part with {least} or more"
            );
            return Err(HostError::disagreed("the lead", what));
        }
        let place = self.place() as usize + 1;
        if roll.len() == seats.len() + 1 && roll[place] == commitment(nonce, self.units) {
            return Ok(());
        }
        Err(HostError::disagreed("the lead", "its roll is not of the roster"))
    }

    /// Reveals the party's random number. Where others could choose among the names of runs that
    /// follow from it, the attempt is counted first.
    fn reveal(&mut self, link: &mut dyn Link, nonce: &[u8; 32]) -> Result<(), HostError> {
        if let Some(most) = self.party.job.name_attempts() {
            let counted = AttemptCount::new(most).add(&mut self.journal);
            if let Err(HostError::Attempts { .. }) = counted {
                let why = "it has given its random number to as many attempts as it may".to_owned();
                // A lead that does not receive the refusal receives nothing else either.
                let _ = self.say(link, &HostMessage::Refused(Rejection::Declined(why)));
            }
            counted?;
        }
        self.say(link, &HostMessage::Reveal(*nonce, self.units))
    }

    fn check_terms(
        &self,
        (seats, roll): &(Vec<u32>, Vec<Digest>),
        nonce: &[u8; 32],
        terms: RunTerms,
        aggregator: Vec<u8>,
    ) -> Result<SignedRun, HostError> {
        let wrong = |what: &str| Err(HostError::disagreed("the lead", what));
        let place = self.place() as usize;
        if !terms.open(roll) || terms.seats != *seats || terms.nonces[place + 1] != *nonce {
            return wrong("nonces or numbers of records that are not those of the roll");
        }
        if terms.units.iter().any(|own| own.is_some() != self.company.job().tells_units()) {
            return wrong("numbers of records where none are public, or none where they are");
        }
        if terms.units[place] != self.units {
            return wrong("another number of this party's records");
        }
        let run = terms.run(self.party.job.digest(), &self.party.roster.digest());
        let job = self.company.job();
        let fits = match (job.trust(), job.kind()) {
            (View::Central, RemoteKind::Sums) => {
                postcard::from_bytes::<EntrustKey>(&aggregator).is_ok_and(|key| *key.run() == run)
            }
            (View::Central, _) => job.takes_step_key(&aggregator, &terms.units)?,
            // Nothing is encrypted for a lead that is not trusted with sums.
            _ => aggregator.is_empty(),
        };
        match fits {
            true => Ok(SignedRun { run, terms, aggregator }),
            false => wrong("a key of another run"),
        }
    }
}

impl<'a> Joining<'a> {
    /// The identifier of the run, in hexadecimal digits.
    pub fn run(&self) -> String {
        hex(&self.signed.run)
    }

    /// The name of the algorithm.
    pub fn algorithm(&self) -> &'static str {
        self.seat.party.job.algorithm()
    }

    /// The subject of the study.
    pub fn study(&self) -> &str {
        self.seat.party.roster.study()
    }

    /// The plan that the party's budget is to reserve.
    pub fn plan(&self) -> &Ledger {
        &self.plan
    }

    /// Joins the run. The journal has the run, the party's key and its reservation when this
    /// returns.
    pub fn join(self) -> Result<Serving<'a>, HostError> {
        let Joining { mut seat, signed, plan, reservation } = self;
        let changed = || HostError::File {
            file: seat.party.files.paths.first().cloned().unwrap_or_default(),
            reason: "it has changed since it was read; leave it as it is until the run is over"
                .to_owned(),
        };
        let (key, table) = seat.known.take().ok_or_else(changed)?;
        // A resumed run must read the same table, otherwise nothing is answered.
        if seat.party.fingerprint(&key)? != table {
            return Err(changed());
        }
        let (job, roster) = (*seat.party.job.digest(), seat.party.roster.digest());
        let joined = JoinedRun { signed, job, roster, key, table, reservation };
        let options = &seat.party.options;
        options.writing("joined", || {
            seat.journal.commit(|change| {
                change.set("joined", &joined)?;
                change.forget("signed")
            })
        })?;
        Serving::new(seat, joined, plan)
    }
}

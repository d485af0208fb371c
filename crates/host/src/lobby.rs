//! The lobby: the lead forms a run of the connected parties, with commitments to nonces, nonces,
//! and signatures of all. It begins again when a party leaves; nothing is spent in it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reticent::Identity;
use reticent::accountant::View;
use reticent::simulate::{RemoteJob, RemoteKind};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::SumAggregator;
use reticent_runtime::{RunError, SERVER, key_of, run_id};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::agreement::{PROGRAM, RunTerms, commitment, sign, unsigned};
use crate::company::{Company, may_leave};
use crate::error::HostError;
use crate::hall::{Hall, SLICE, Visitor};
use crate::journal::RunJournal;
use crate::leaving::{ALL_STAY, PARTIES};
use crate::links::{Link, LinkError};
use crate::message::{HostMessage, LONGEST_LOBBY, Rejection};
use crate::options::{HostOptions, Notice};
use crate::peers::seal::RelaySecret;

/// The time for one answer in the lobby: a party calibrates its noise meanwhile.
const LOBBY_TIME: Duration = Duration::from_secs(120);

/// The time for parties to come back when the lobby begins again.
const AGAIN_TIME: Duration = Duration::from_secs(20);

/// The largest number of absent parties that are reported at every change.
const FEW_AWAY: usize = 16;

/// The numbers of the keys derived from the lead's: the one that sums are encrypted for, and the
/// one of the noise.
const SEALS: u64 = 1;
const NOISE: u64 = 2;

/// The numbers of its relay key, and of the key of its own node.
const RELAY: u64 = 3;
const NODE: u64 = 4;

/// A run that all have signed, as the lead keeps it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub run: Digest,
    pub job: Digest,
    pub roster: Digest,
    pub terms: RunTerms,
    /// The lead's, then the parties'.
    pub signatures: Vec<Vec<u8>>,
    #[serde(with = "crate::journal::secret")]
    key: Zeroizing<[u8; 32]>,
}

/// Shows the identifier of the run and nothing of its key.
impl std::fmt::Debug for Begun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begun").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Begun {
    fn key(&self) -> NoiseKey {
        NoiseKey::recall(self.key.clone(), false)
    }

    /// The key pair that the parties encrypt their sums for.
    pub fn aggregator(&self) -> SumAggregator {
        SumAggregator::new(&self.key().child(SEALS), &self.run)
    }

    /// The key that decrypts what peers say to the lead's own seat.
    pub fn relay_secret(&self) -> RelaySecret {
        RelaySecret::new(&self.key().child(RELAY).expose().0)
    }

    /// The key of the lead's own node, and the run that its noise belongs to: with a seed, those of
    /// a run in one process.
    pub fn node_key(
        &self,
        job: &RemoteJob,
        seed: Option<u64>,
    ) -> Result<(NoiseKey, Digest), RunError> {
        let Some(seed) = seed else { return Ok((self.key().child(NODE), self.run)) };
        let whole = NoiseKey::seeded(seed);
        Ok((key_of(SERVER, &whole), run_id(job.digest(), &whole)?))
    }

    /// The source of the noise of the run: the same after a crash.
    pub fn entropy(&self) -> reticent_oracle::Entropy {
        self.key().child(NOISE).entropy(&self.run)
    }
}

/// The lead's side of the lobby.
pub(crate) struct Lobby<'a> {
    pub hall: &'a Hall,
    pub job: &'a RemoteJob,
    pub identity: &'a Identity,
    pub options: &'a HostOptions,
}

/// Why a conversation in the lobby has failed.
enum Failed {
    /// This party left, or did not say what comes next: the lobby begins again.
    Left(u32),
    /// The run cannot begin.
    For(HostError),
}

impl Lobby<'_> {
    /// Waits for all parties, and forms a run of them; it is in the journal when this returns. If a
    /// run may begin without some, parties that have not connected when the time is over, or do not
    /// continue from then on, are struck.
    pub fn gather(
        &self,
        journal: &mut RunJournal,
    ) -> Result<(Begun, Vec<Box<dyn Link>>), HostError> {
        let patience = Instant::now() + self.options.patience;
        let (mut until, mut struck) = (patience, BTreeSet::new());
        loop {
            let mut visitors = self.present(until, &struck)?;
            match self.attempt(&mut visitors, journal) {
                Ok(begun) => {
                    return Ok((begun, visitors.into_iter().map(|visitor| visitor.link).collect()));
                }
                Err(Failed::Left(party)) => {
                    self.options.tell(Notice::LeftEarly { name: self.hall.roster.name(party) });
                    self.tell_all(&mut visitors, &HostMessage::Again);
                    let now = Instant::now();
                    until = patience.max(now + AGAIN_TIME);
                    if self.options.least.is_some() && now >= patience {
                        struck.insert(party);
                    }
                }
                Err(Failed::For(why)) => {
                    self.tell_all(&mut visitors, &HostMessage::Over(why.to_string()));
                    return Err(why);
                }
            }
        }
    }

    /// All parties, as they connect; when the time is over, those that are connected, if they are
    /// enough.
    fn present(&self, until: Instant, struck: &BTreeSet<u32>) -> Result<Vec<Visitor>, HostError> {
        let mut seats: Vec<Option<Visitor>> = (0..self.job.parties()).map(|_| None).collect();
        let mut told = usize::MAX;
        loop {
            for (party, seat) in (0..).zip(&mut seats).filter(|(party, _)| !struck.contains(party))
            {
                let newer = self.hall.take(party, Instant::now());
                if newer.is_some() {
                    *seat = newer;
                }
            }
            let away = (0..).zip(&seats).filter(|(_, seat)| seat.is_none());
            let away: Vec<u32> = away.map(|(party, _)| party).collect();
            let names = || away.iter().map(|party| self.hall.roster.name(*party)).collect();
            let here = seats.len() - away.len();
            let enough = self.options.least.is_some_and(|least| here >= least.max(1) as usize);
            let gone = |party: &u32| {
                struck.contains(party) || self.options.is_gone(&self.hall.roster.name(*party))
            };
            let over = Instant::now() >= until || away.iter().all(gone);
            if away.is_empty() || enough && over {
                if !away.is_empty() {
                    self.options.tell(Notice::Struck { parties: names() });
                }
                return Ok(seats.into_iter().flatten().collect());
            }
            // A long list of absent parties is not repeated for each arrival.
            let (few, halved) = (away.len() <= FEW_AWAY, away.len() <= told / 2);
            if told != away.len() && (few || halved) {
                told = away.len();
                self.options.tell(Notice::Waiting { names: names() });
            }
            if over {
                let who: Vec<String> = names();
                let seconds = self.options.patience.as_secs();
                return Err(HostError::Absent { who: who.join(", "), seconds, why: None });
            }
            std::thread::sleep(SLICE / 5);
        }
    }

    fn tell_all(&self, visitors: &mut [Visitor], message: &HostMessage) {
        let bytes = message.pack();
        for visitor in visitors {
            let soon = Instant::now() + Duration::from_secs(1);
            // A party that is gone hears nothing.
            let _ = self.options.sending(&mut *visitor.link, (message.name(), &bytes), soon);
        }
    }

    fn hear(&self, visitor: &mut Visitor) -> Result<HostMessage, Failed> {
        let left = |_: LinkError| Failed::Left(visitor.hello.party);
        let frame = visitor.link.receive(LONGEST_LOBBY, Instant::now() + LOBBY_TIME);
        match HostMessage::unpack(&frame.map_err(left)?) {
            Ok(HostMessage::Refused(why @ Rejection::Declined(_))) => {
                let who = self.hall.roster.name(visitor.hello.party);
                Err(Failed::For(HostError::Refused { who, why }))
            }
            Ok(message) => Ok(message),
            Err(why) => {
                self.hall.reject(why.name());
                Err(Failed::Left(visitor.hello.party))
            }
        }
    }

    fn say(&self, visitors: &mut [Visitor], message: &HostMessage) -> Result<(), Failed> {
        let bytes = message.pack();
        for visitor in visitors {
            let until = Instant::now() + LOBBY_TIME;
            let said = (message.name(), &bytes[..]);
            let sent = self.options.sending(&mut *visitor.link, said, until);
            sent.map_err(|_| Failed::Left(visitor.hello.party))?;
        }
        Ok(())
    }

    fn out_of_turn<T>(&self, visitor: &Visitor) -> Result<T, Failed> {
        self.hall.reject(Rejection::Unexpected.name());
        Err(Failed::Left(visitor.hello.party))
    }

    fn attempt(&self, visitors: &mut [Visitor], journal: &mut RunJournal) -> Result<Begun, Failed> {
        let failed = |error: reticent_noise::EntropyError| {
            Failed::For(HostError::disagreed("the operating system", error.to_string()))
        };
        let (nonce, _) = NoiseKey::secure().map_err(failed)?.expose();
        let (key, _) = NoiseKey::secure().map_err(failed)?.expose();
        let seats: Vec<u32> = visitors.iter().map(|visitor| visitor.hello.party).collect();
        let company = Company::of(self.job, &self.hall.roster, &seats).map_err(Failed::For)?;
        let mut roll = vec![commitment(&nonce, None)];
        roll.extend(visitors.iter().map(|visitor| visitor.hello.commitment));
        self.say(visitors, &HostMessage::Roll(seats.clone(), roll.clone()))?;
        let mut terms = RunTerms { seats, nonces: vec![*nonce], units: Vec::new() };
        for visitor in &mut *visitors {
            match self.hear(visitor)? {
                HostMessage::Reveal(nonce, units) if units.is_some() == self.job.tells_units() => {
                    if commitment(&nonce, units) != visitor.hello.commitment {
                        return self.out_of_turn(visitor);
                    }
                    terms.nonces.push(nonce);
                    terms.units.push(units);
                }
                _ => return self.out_of_turn(visitor),
            }
        }
        let (job, roster) = (*self.job.digest(), self.hall.roster.digest());
        let run = terms.run(&job, &roster);
        let mut begun = Begun { run, job, roster, terms, signatures: Vec::new(), key };
        let public = self.public_key(&company, &begun).map_err(Failed::For)?;
        self.say(visitors, &HostMessage::Terms(begun.terms.clone(), public.clone()))?;
        begun.signatures.push(sign(self.identity, &run, &public));
        for visitor in &mut *visitors {
            match self.hear(visitor)? {
                HostMessage::Signed(signature) => begun.signatures.push(signature),
                _ => return self.out_of_turn(visitor),
            }
        }
        if let Some(who) = unsigned(&company.roster, &run, &public, &begun.signatures) {
            let what = "it has signed another run".to_owned();
            return Err(Failed::For(HostError::Disagreed { who, what }));
        }
        // A party that has reconnected was told that no run is known, and has forgotten this one.
        if let Some(party) = company.seats.iter().find(|party| self.hall.is_newer(**party)) {
            return Err(Failed::Left(*party));
        }
        self.keep(&begun, &company, journal).map(|()| begun).map_err(Failed::For)
    }

    /// The key that parties encrypt their sums or their steps for; empty if the lead is not trusted
    /// with them.
    fn public_key(&self, company: &Company<'_>, begun: &Begun) -> Result<Vec<u8>, HostError> {
        let unsendable = |_| HostError::disagreed("the lead", "a key without a form");
        match (self.job.trust(), self.job.kind()) {
            (View::Central, RemoteKind::Sums) => {
                postcard::to_allocvec(&begun.aggregator().public_key()).map_err(unsendable)
            }
            (View::Central, _) => {
                let (key, of) = begun.node_key(self.job, self.options.seed)?;
                Ok(company.job().step_key(&key, (&of, &begun.terms.units))?)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Writes a run that all have signed to the journal.
    fn keep(
        &self,
        begun: &Begun,
        company: &Company<'_>,
        journal: &mut RunJournal,
    ) -> Result<(), HostError> {
        let names: Vec<&String> =
            company.roster.members().skip(1).map(|party| &party.name).collect();
        self.options.writing("begun", || {
            journal.commit(|change| {
                change.set("program", &PROGRAM)?;
                change.set(PARTIES, &names)?;
                if !may_leave(self.job) {
                    change.set(ALL_STAY, &true)?;
                }
                change.set("begun", begun)
            })
        })
    }
}

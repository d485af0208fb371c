//! A party: agrees on a run, reserves what it costs, and says its sums to the lead, each once. Killed
//! at any moment, the same call goes on where it was.
//!
//! ```text
//! hello ─► roll ─► reveal ─► terms: plan, sign ─► begin: reserve, join ─► greet ─► ask, answer … ─► model
//!                                                 │
//!                                  nothing is spent before; all of the plan is from the first answer on
//! ```

use std::path::PathBuf;
use std::time::{Duration, Instant};

use reticent::accountant::Ledger;
use reticent::internal::tables::content;
use reticent::simulate::RemoteJob;
use reticent::{Files, Identity, Model, PrivateTable, PublicKey, Run};
use reticent_core::hex;
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::EntrustKey;
use reticent_runtime::{EntrustedParty, PartyId, Rejected, SERVER, wire};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::agreement::{PROGRAM, RunTerms, commitment, sign, unsigned};
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::links::{Dial, Link, LinkError};
use crate::message::{Hello, HostMessage, LONGEST_LOBBY, LONGEST_MODEL, Rejection, VERSION};
use crate::options::{HostOptions, Moment, Notice};
use crate::roster::Roster;

/// How long a connection, or one message, may take.
const SEND_TIME: Duration = Duration::from_secs(60);

/// How long it may take to say that one does not join.
const DECLINE_TIME: Duration = Duration::from_secs(5);

/// Who hears nothing for so long asks again whether the lead is there.
const IDLE: Duration = Duration::from_secs(30);

/// The same between the roll and the beginning: all wait there while the slowest plans the run, which
/// the lead gives it two minutes for. Who came again meanwhile would make all begin again.
const IDLE_WHILE_OTHERS_PLAN: Duration = Duration::from_secs(150);

/// The first and the longest pause before dialling again.
const PAUSE: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(2)];

/// What a party has.
#[derive(Debug)]
pub struct RemoteParty<'a> {
    /// The run, checked.
    pub job: &'a RemoteJob,
    /// Who takes part.
    pub roster: &'a Roster,
    /// Its own key.
    pub identity: &'a Identity,
    /// Its own table.
    pub files: &'a Files,
    /// How it gets to the lead.
    pub dialer: &'a dyn Dial,
    /// How it takes part.
    pub options: HostOptions,
}

/// A run that the party has signed, and may not join yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SignedRun {
    pub run: Digest,
    terms: RunTerms,
    /// The key that sums are closed for.
    aggregator: Vec<u8>,
}

/// A run that the party has joined.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct JoinedRun {
    pub signed: SignedRun,
    job: Digest,
    roster: Digest,
    /// The party's key in this run, from the operating system.
    #[serde(with = "crate::journal::secret")]
    key: Zeroizing<[u8; 32]>,
    /// By which the table is known again.
    table: Digest,
    /// The number and the hash of the job in the party's budget.
    pub reservation: Option<(u64, String)>,
}

/// What came of it for the party.
#[derive(Debug)]
#[non_exhaustive]
pub struct Joined {
    /// The model, checked against what was reserved.
    pub model: Model,
    /// The run, in hexadecimal digits.
    pub run: String,
    /// The job in the party's budget, if it has one.
    pub reservation: Option<(u64, String)>,
}

/// The model as the journal keeps it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub run: Digest,
    job: Digest,
    roster: Digest,
    model: String,
    pub reservation: Option<(u64, String)>,
}

/// The link on which all have agreed, until the party greets. A party that does not come to that
/// says so: the others give back what they have reserved, and wait for nobody.
struct AgreedLink(Option<Box<dyn Link>>);

impl Drop for AgreedLink {
    fn drop(&mut self) {
        if let Some(mut link) = self.0.take() {
            let why = Rejection::Declined("it could not pay, or could not join".to_owned());
            // Who does not hear it waits as long as for somebody who is gone.
            let _ = link.send(&HostMessage::Refused(why).pack(), Instant::now() + DECLINE_TIME);
        }
    }
}

/// A party at its place: its journal and its node.
pub(crate) struct Seat<'a> {
    party: &'a RemoteParty<'a>,
    number: u32,
    journal: RunJournal,
    table: Option<PrivateTable>,
    /// The key of a run that is to be joined, and by what the table is known under it: from before
    /// it was read.
    known: Option<(Zeroizing<[u8; 32]>, Digest)>,
    units: Option<u64>,
    link: AgreedLink,
    /// When the lead was last heard.
    heard: Instant,
}

/// A party that all have agreed with, and that has not joined.
pub(crate) struct Joining<'a> {
    seat: Seat<'a>,
    signed: SignedRun,
    plan: Ledger,
    pub reservation: Option<(u64, String)>,
}

/// A party in a run.
pub(crate) struct Serving<'a> {
    seat: Seat<'a>,
    joined: JoinedRun,
    plan: Ledger,
    node: EntrustedParty,
    greeting: Vec<u8>,
    limit: usize,
}

impl<'a> RemoteParty<'a> {
    /// The number that the roster has for its key.
    ///
    /// # Errors
    /// If it is not in the roster, or the roster is not everybody's.
    pub fn number(&self) -> Result<u32, HostError> {
        let me = self.identity.public().bytes();
        self.roster.signed_by_all(&me)?;
        self.roster.number(&me).ok_or_else(|| {
            HostError::disagreed("the roster", "your key is not one of its parties'")
        })
    }

    /// What the journal has of a run that is over.
    ///
    /// # Errors
    /// If the run has ended without a model.
    pub(crate) fn finished(&self, journal: &RunJournal) -> Result<Option<Joined>, HostError> {
        if let Some(why) = journal.get::<String>("ended")? {
            return Err(HostError::Ended(why));
        }
        let Some(Kept { run, job, roster, model, reservation }) = journal.get("model")? else {
            return Ok(None);
        };
        self.is_mine(journal, (&job, &roster))?;
        Ok(Some(Joined { model: Model::from_json(&model)?, run: hex(&run), reservation }))
    }

    /// Refuses the journal of another run.
    fn is_mine(&self, journal: &RunJournal, kept: (&Digest, &Digest)) -> Result<(), HostError> {
        if kept == (self.job.digest(), &self.roster.digest()) {
            return Ok(());
        }
        let why = "it is of another job or another roster; give this one a journal of its own";
        Err(HostError::journal(journal.path(), why))
    }

    /// The seat, with the party's table read.
    pub(crate) fn seat(
        &'a self,
        journal: RunJournal,
        run: &mut Run<'_>,
    ) -> Result<Seat<'a>, HostError> {
        let number = self.number()?;
        let known = match journal.has("joined")? {
            true => None,
            false => {
                let key = fresh()?;
                let print = self.fingerprint(&key)?;
                Some((key, print))
            }
        };
        let table = self.job.load(self.files, run)?;
        let units = self.job.public_units(&table);
        let (table, heard) = (Some(table), Instant::now());
        let link = AgreedLink(None);
        Ok(Seat { party: self, number, journal, table, known, units, link, heard })
    }

    /// By what the party's files are known again, under a key of its own.
    fn fingerprint(&self, key: &[u8; 32]) -> Result<Digest, HostError> {
        let mut hasher = Hasher::new("reticent party table");
        for file in &self.files.paths {
            let found = content(file, key).map_err(reticent::Error::from)?;
            hasher.field(&found);
        }
        Ok(hasher.finish())
    }
}

impl<'a> Seat<'a> {
    fn options(&self) -> &HostOptions {
        &self.party.options
    }

    /// A link to the lead on which hello was said.
    fn connect(
        &mut self,
        nonce: &[u8; 32],
        run: Option<Digest>,
    ) -> Result<Box<dyn Link>, HostError> {
        let RemoteParty { job, roster, dialer, .. } = self.party;
        let hello = HostMessage::Hello(Hello {
            host: VERSION,
            wire: wire::VERSION,
            program: PROGRAM.to_owned(),
            party: self.number,
            roster: roster.digest(),
            job: *job.digest(),
            commitment: commitment(nonce),
            run,
        });
        let (patience, mut pause) = (self.options().patience, PAUSE[0]);
        let until = self.heard + patience;
        loop {
            let soon = Instant::now() + SEND_TIME;
            let link = dialer.dial(soon.min(until)).and_then(|mut link| {
                link.send(&hello.pack(), soon.min(until))?;
                Ok(link)
            });
            match link {
                Ok(link) => return Ok(link),
                Err(why @ LinkError::Untrusted(_)) => return Err(why.into()),
                Err(_) if Instant::now() + pause >= until => {
                    let (who, seconds) = (roster.lead_name().to_owned(), patience.as_secs());
                    return Err(HostError::Absent { who, seconds });
                }
                Err(_) => std::thread::sleep(pause),
            }
            pause = (2 * pause).min(PAUSE[1]);
        }
    }

    fn hear(
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
        HostMessage::unpack(&frame).map_err(refused)
    }

    fn say(&self, link: &mut dyn Link, message: &HostMessage) -> Result<(), HostError> {
        self.options().at(Moment::BeforeSend);
        link.send(&message.pack(), Instant::now() + SEND_TIME)?;
        self.options().at(Moment::AfterSend);
        Ok(())
    }

    /// The lobby: until all have signed one run. `fits` refuses what the party's budget does not
    /// allow, before the party signs.
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
                // It begins again, and with it the nonces.
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

    fn lobby(
        &mut self,
        mut link: Box<dyn Link>,
        nonce: &[u8; 32],
        mut signed: Option<SignedRun>,
        fits: &dyn Fn(&Ledger) -> Result<(), HostError>,
    ) -> Result<Option<(SignedRun, Ledger)>, HostError> {
        let lead = self.party.roster.lead_name().to_owned();
        let mut roll: Option<Vec<Digest>> = None;
        loop {
            let idle = match roll.is_some() || signed.is_some() {
                true => IDLE_WHILE_OTHERS_PLAN,
                false => IDLE,
            };
            match (self.hear(&mut *link, LONGEST_LOBBY, idle)?, signed.take(), roll.take()) {
                (HostMessage::Roll(all), None, None) => {
                    self.check_roll(&all, nonce)?;
                    self.say(&mut *link, &HostMessage::Reveal(*nonce, self.units))?;
                    roll = Some(all);
                }
                (HostMessage::Terms(terms, aggregator), None, Some(roll)) => {
                    let own = self.check_terms(&roll, nonce, terms, aggregator)?;
                    let plan = self.party.job.plan(&own.terms.units)?;
                    if let Err(why) = fits(&plan) {
                        let said =
                            Rejection::Declined("its budget does not allow the run".to_owned());
                        self.say(&mut *link, &HostMessage::Refused(said))?;
                        return Err(why);
                    }
                    self.journal.commit(|change| {
                        change.set("program", &PROGRAM)?;
                        change.set("signed", &own)
                    })?;
                    let signature = sign(self.party.identity, &own.run, &own.aggregator);
                    self.say(&mut *link, &HostMessage::Signed(signature))?;
                    signed = Some(own);
                }
                (HostMessage::Begin(signatures), Some(own), _) => {
                    let roster = self.party.roster;
                    if let Some(who) = unsigned(roster, &own.run, &own.aggregator, &signatures) {
                        self.unsign()?;
                        let what = format!("{who} has not signed this run: it was told another");
                        return Err(HostError::disagreed(lead, what));
                    }
                    let plan = self.party.job.plan(&own.terms.units)?;
                    self.link = AgreedLink(Some(link));
                    return Ok(Some((own, plan)));
                }
                // Whoever comes again is told what is known of it first.
                (HostMessage::Known(0), Some(own), _) => signed = Some(own),
                (HostMessage::Again, ..) => return Ok(None),
                (HostMessage::Over(why), ..) => return Err(HostError::Ended(why)),
                (HostMessage::Refused(why), ..) => {
                    return Err(HostError::Refused { who: lead, why });
                }
                _ => return Err(HostError::disagreed(lead, Rejection::Unexpected.to_string())),
            }
        }
    }

    fn place(&self) -> usize {
        self.number as usize + 1
    }

    fn check_roll(&self, roll: &[Digest], nonce: &[u8; 32]) -> Result<(), HostError> {
        let all = roll.len() == self.party.job.parties() as usize + 1;
        if all && roll[self.place()] == commitment(nonce) {
            return Ok(());
        }
        Err(HostError::disagreed("the lead", "its roll is not of the roster"))
    }

    fn check_terms(
        &self,
        roll: &[Digest],
        nonce: &[u8; 32],
        terms: RunTerms,
        aggregator: Vec<u8>,
    ) -> Result<SignedRun, HostError> {
        let wrong = |what: &str| Err(HostError::disagreed("the lead", what));
        if !terms.open(roll) || terms.nonces[self.place()] != *nonce {
            return wrong("nonces that are not those of the roll");
        }
        if terms.units[self.number as usize] != self.units {
            return wrong("another number of this party's records");
        }
        let run = terms.run(self.party.job.digest(), &self.party.roster.digest());
        let key = postcard::from_bytes::<EntrustKey>(&aggregator);
        match key {
            Ok(key) if *key.run() == run => Ok(SignedRun { run, terms, aggregator }),
            _ => wrong("a key of another run"),
        }
    }
}

impl<'a> Joining<'a> {
    /// What the party's budget is to reserve.
    pub fn plan(&self) -> &Ledger {
        &self.plan
    }

    /// Joins: it is in the journal, with the party's key and reservation, when this returns.
    pub fn join(self) -> Result<Serving<'a>, HostError> {
        let Joining { mut seat, signed, plan, reservation } = self;
        let changed = || HostError::File {
            file: seat.party.files.paths.first().cloned().unwrap_or_default(),
            reason: "it has changed since it was read; leave it as it is until the run is over"
                .to_owned(),
        };
        let (key, table) = seat.known.take().ok_or_else(changed)?;
        // What was read is what a resumed run will read, or nothing is answered.
        if seat.party.fingerprint(&key)? != table {
            return Err(changed());
        }
        let (job, roster) = (*seat.party.job.digest(), seat.party.roster.digest());
        let joined = JoinedRun { signed, job, roster, key, table, reservation };
        seat.options().at(Moment::BeforeCommit);
        seat.journal.commit(|change| {
            change.set("joined", &joined)?;
            change.forget("signed")
        })?;
        seat.options().at(Moment::AfterCommit);
        Serving::new(seat, joined, plan)
    }
}

impl<'a> Serving<'a> {
    /// A run that the journal has, if it has one.
    pub fn resumed(mut seat: Seat<'a>) -> Result<Result<Self, Seat<'a>>, HostError> {
        let Some(joined) = seat.journal.get::<JoinedRun>("joined")? else { return Ok(Err(seat)) };
        seat.party.is_mine(&seat.journal, (&joined.job, &joined.roster))?;
        if joined.table != seat.party.fingerprint(&joined.key)? {
            let why = "the table is not the one that the run began with; put it back";
            return Err(HostError::journal(seat.journal.path(), why));
        }
        seat.heard = Instant::now();
        let plan = seat.party.job.plan(&joined.signed.terms.units)?;
        Serving::new(seat, joined, plan).map(Ok)
    }

    fn new(mut seat: Seat<'a>, joined: JoinedRun, plan: Ledger) -> Result<Self, HostError> {
        let SignedRun { run, aggregator, terms } = &joined.signed;
        let wrong = || HostError::disagreed("the journal", "it has no key of the lead");
        let to = postcard::from_bytes::<EntrustKey>(aggregator).map_err(|_| wrong())?;
        let key = NoiseKey::recall(joined.key.clone(), false);
        let table = seat.table.take().ok_or_else(wrong)?;
        let (table, greeting) = seat.party.job.entrust(table, (&key, seat.number), &to)?;
        let (mut node, said) = EntrustedParty::new(run, PartyId(seat.number), table, greeting);
        if let Some(snapshot) = seat.journal.get::<Vec<u8>>("node")? {
            node.restore(&snapshot)?;
        }
        let units = terms.units.iter().map(|units| units.unwrap_or(0)).max().unwrap_or(0);
        let limit = seat.party.job.longest(units).max(LONGEST_MODEL);
        let again = node.answered() > 0;
        seat.options().tell(Notice::Began { run: hex(run), again });
        Ok(Serving { seat, joined, plan, node, greeting: wire::encode(&said), limit })
    }

    /// What was reserved for it.
    pub fn reservation(&self) -> Option<(u64, String)> {
        self.joined.reservation.clone()
    }

    /// Whether something was said of the table: then all of the plan is spent.
    pub fn has_answered(&self) -> bool {
        self.node.answered() > 0
    }

    /// Says what is asked for until there is a model.
    pub fn serve(&mut self) -> Result<Joined, HostError> {
        let begun = self.seat.link.0.take();
        let mut next = match begun {
            Some(mut link) => match self.greet(&mut *link) {
                Ok(()) => Some(link),
                Err(HostError::Link(_)) => None,
                Err(why) => return Err(why),
            },
            None => None,
        };
        loop {
            let link = match next.take() {
                Some(link) => link,
                None => self.seat.connect(&[0; 32], Some(self.joined.signed.run))?,
            };
            match self.listen(link) {
                Ok(joined) => return Ok(joined),
                Err(HostError::Link(LinkError::Untrusted(why))) => {
                    return Err(LinkError::Untrusted(why).into());
                }
                Err(HostError::Link(_)) => std::thread::sleep(PAUSE[0]),
                Err(why) => return Err(why),
            }
        }
    }

    fn greet(&self, link: &mut dyn Link) -> Result<(), HostError> {
        self.seat.say(link, &HostMessage::Envelope(self.greeting.clone()))
    }

    fn listen(&mut self, mut link: Box<dyn Link>) -> Result<Joined, HostError> {
        let lead = self.seat.party.roster.lead_name();
        loop {
            match self.seat.hear(&mut *link, self.limit, IDLE)? {
                HostMessage::Begin(_) => self.greet(&mut *link)?,
                HostMessage::Known(rounds) if rounds > self.node.answered() => {
                    let why = format!(
                        "the lead has {rounds} answers of this party and its journal {}: it was set back, and \
                         nothing is answered again",
                        self.node.answered()
                    );
                    return Err(self.end(why));
                }
                HostMessage::Known(_) => {}
                HostMessage::Envelope(bytes) => self.answer(&mut *link, &bytes)?,
                HostMessage::Model(text) => return self.finish(&mut *link, text),
                HostMessage::Over(why) => return Err(self.end(why)),
                HostMessage::Again => return Err(LinkError::Closed.into()),
                HostMessage::Refused(why) => {
                    return Err(HostError::Refused { who: lead.to_owned(), why });
                }
                _ => return Err(HostError::disagreed(lead, Rejection::Unexpected.to_string())),
            }
        }
    }

    /// The run is over for this party, whoever asks again.
    fn end(&mut self, why: String) -> HostError {
        let kept = self.seat.journal.commit(|change| {
            change.set("ended", &why)?;
            change.forget("joined")?;
            change.forget("node")
        });
        self.seat.journal.wipe();
        kept.err().unwrap_or(HostError::Ended(why))
    }

    /// The one way in: within a limit → the link's key is the roster's entry of who sends it → node →
    /// one transaction: state, and with it what is said → send. A message that is not taken is told
    /// so by name, and changes nothing.
    fn answer(&mut self, link: &mut dyn Link, bytes: &[u8]) -> Result<(), HostError> {
        let proven = link.peer() == self.seat.party.roster.lead_key();
        let said = wire::decode(bytes, self.limit).and_then(|envelope| {
            if !proven || envelope.from != SERVER {
                return Err(Rejected::UnknownSender(envelope.from));
            }
            self.node.on_message(&envelope)
        });
        let said = match said {
            Ok(said) => said,
            Err(why) => {
                let name = Rejection::Envelope(why.name().to_owned());
                self.seat.options().tell(Notice::Rejected(why.name().to_owned()));
                self.seat.say(link, &HostMessage::Refused(name))?;
                return match why {
                    Rejected::Conflicting => {
                        Err(self.end("the lead has asked two things in one round".to_owned()))
                    }
                    _ => Ok(()),
                };
            }
        };
        let state = self.node.snapshot()?;
        self.seat.options().at(Moment::BeforeCommit);
        self.seat.journal.commit(|change| change.set("node", &state))?;
        self.seat.options().at(Moment::AfterCommit);
        for envelope in said {
            self.seat.say(link, &HostMessage::Envelope(wire::encode(&envelope)))?;
        }
        self.seat.options().tell(Notice::Answered(self.node.answered()));
        Ok(())
    }

    /// Takes the model, if it is one that was paid for.
    fn finish(&mut self, link: &mut dyn Link, text: String) -> Result<Joined, HostError> {
        let model = match self.check_model(&text) {
            Ok(model) => model,
            Err(why) => return Err(self.end(format!("the model of the lead: {why}"))),
        };
        let (run, reservation) = (self.joined.signed.run, self.joined.reservation.clone());
        let JoinedRun { job, roster, .. } = self.joined;
        let kept = Kept { run, job, roster, model: text, reservation: reservation.clone() };
        self.seat.options().at(Moment::BeforeCommit);
        self.seat.journal.commit(|change| {
            change.set("model", &kept)?;
            change.forget("joined")?;
            change.forget("node")
        })?;
        self.seat.options().at(Moment::AfterCommit);
        self.seat.journal.wipe();
        // Who does not hear it hands the model over again, to a journal that has it.
        let _ = self.seat.say(link, &HostMessage::Received);
        self.seat.options().tell(Notice::Delivered(self.seat.party.roster.name(self.seat.number)));
        Ok(Joined { model, run: hex(&run), reservation })
    }

    /// The model, if its certificate is the lead's and counts just what was planned.
    fn check_model(&self, text: &str) -> Result<Model, String> {
        let model = Model::from_json(text).map_err(|error| error.to_string())?;
        let lead = PublicKey::from_bytes(&self.seat.party.roster.lead_key());
        let checked = model.verify(lead.as_ref()).map_err(|error| error.to_string())?;
        if let Some(why) = checked.summary() {
            return Err(why);
        }
        let certificate = model.certificate();
        if certificate.signature.is_none() {
            return Err("nobody has signed its certificate".to_owned());
        }
        if certificate.ledger.entries() != self.plan.entries() {
            return Err("its certificate counts something else than was agreed on".to_owned());
        }
        if !certificate.certified && self.seat.options().seed.is_none() {
            return Err("its certificate is none".to_owned());
        }
        Ok(model)
    }
}

/// 32 bytes of the operating system.
fn fresh() -> Result<Zeroizing<[u8; 32]>, HostError> {
    let key = NoiseKey::secure()
        .map_err(|error| HostError::disagreed("the operating system", error.to_string()))?;
    Ok(key.expose().0)
}

/// The files of a party, for whoever pays.
pub(crate) fn paths<'a>(party: &RemoteParty<'a>) -> &'a [PathBuf] {
    &party.files.paths
}

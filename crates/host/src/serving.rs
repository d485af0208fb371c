//! A party in a run: it answers requests, each once, until there is a model.

use std::time::Instant;

use reticent::accountant::Ledger;
use reticent::{Document, Model, PublicKey};
use reticent_core::hex;
use reticent_noise::Digest;
use reticent_runtime::{PartyReport, Rejected, SERVER, wire};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::agreeing::SignedRun;
use crate::answer_payer::ReservedJob;
use crate::error::HostError;
use crate::kept::Kept;
use crate::links::{Link, LinkError};
use crate::mask_keys::RosterKeys;
use crate::message::{HostMessage, LONGEST_MODEL, Rejection};
use crate::node::PartyNode;
use crate::options::Notice;
use crate::party::{Joined, TOLD};
use crate::seat::{IDLE, PAUSE, Seat};

/// A run that the party has joined.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct JoinedRun {
    pub signed: SignedRun,
    pub job: Digest,
    pub roster: Digest,
    /// The party's key in this run, from the operating system.
    #[serde(with = "crate::journal::secret")]
    pub key: Zeroizing<[u8; 32]>,
    /// The fingerprint of the table.
    pub table: Digest,
    /// The job in the party's budget.
    pub reservation: Option<ReservedJob>,
}

/// A party in a run.
pub(crate) struct Serving<'a> {
    pub seat: Seat<'a>,
    pub joined: JoinedRun,
    plan: Ledger,
    pub node: PartyNode,
    greeting: Vec<u8>,
    pub limit: usize,
}

impl<'a> Serving<'a> {
    /// The run of the journal, if it has one.
    pub fn resumed(mut seat: Seat<'a>) -> Result<Result<Self, Seat<'a>>, HostError> {
        let Some(joined) = seat.journal.get::<JoinedRun>("joined")? else { return Ok(Err(seat)) };
        seat.party.is_mine(&seat.journal, (&joined.job, &joined.roster))?;
        if joined.table != seat.party.fingerprint(&joined.key)? {
            let why = "the table is not the one that the run began with; put it back";
            return Err(HostError::journal(seat.journal.path(), why));
        }
        seat.heard = Instant::now();
        seat.gather(&joined.signed.terms.seats)?;
        let plan = seat.company.job().plan_of(seat.place(), &joined.signed.terms.units)?;
        Serving::new(seat, joined, plan).map(Ok)
    }

    pub fn new(mut seat: Seat<'a>, joined: JoinedRun, plan: Ledger) -> Result<Self, HostError> {
        let SignedRun { run, terms, .. } = &joined.signed;
        let (mut node, said) = PartyNode::new(&mut seat, &joined)?;
        if let Some(snapshot) = seat.journal.get::<Vec<u8>>("node")? {
            node.restore(&snapshot, &seat.journal)?;
        }
        let units = terms.units.iter().map(|units| units.unwrap_or(0)).max().unwrap_or(0);
        let limit = seat.company.job().longest(units).max(LONGEST_MODEL);
        let again = node.answered() > 0;
        seat.options().tell(Notice::Began { run: hex(run), again });
        Ok(Serving { seat, joined, plan, node, greeting: wire::encode(&said), limit })
    }

    /// The reservation for it.
    pub fn reservation(&self) -> Option<ReservedJob> {
        self.joined.reservation.clone()
    }

    /// Whether anything about the table was answered: then the whole plan is spent. The budget
    /// knows it even if the journal was restored to an earlier state.
    ///
    /// # Errors
    /// If the budget cannot be read.
    pub fn has_answered(&self) -> Result<bool, HostError> {
        let told = self.seat.journal.payer.as_ref().map_or(Ok(false), |payer| payer.has_answered());
        Ok(self.node.answered() > 0 || told?)
    }

    /// Answers requests until there is a model.
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

    pub fn greet(&self, link: &mut dyn Link) -> Result<(), HostError> {
        self.seat.say(link, &HostMessage::Envelope(self.greeting.clone()))
    }

    fn listen(&mut self, mut link: Box<dyn Link>) -> Result<Joined, HostError> {
        if self.node.as_peer().is_some() {
            return self.listen_as_peer(link);
        }
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
                HostMessage::Refused(Rejection::Forfeited(why)) => return Err(self.end(why)),
                HostMessage::Refused(why) => {
                    return Err(HostError::Refused { who: lead.to_owned(), why });
                }
                _ => return Err(HostError::disagreed(lead, Rejection::Unexpected.to_string())),
            }
        }
    }

    /// Ends the run for this party, whoever asks again.
    pub fn end(&mut self, why: String) -> HostError {
        let options = &self.seat.party.options;
        let kept = options.writing("ended", || {
            self.seat.journal.commit(|change| {
                change.set("ended", &why)?;
                change.forget("joined")?;
                change.forget_mail()?;
                change.forget("node")
            })
        });
        self.seat.journal.wipe();
        kept.err().unwrap_or(HostError::Ended(why))
    }

    /// Answers one request, the only way to the table: within the size limit → the key of the
    /// connection is that of the sender in the roster → node → one transaction with state and
    /// answer → send. A rejected message is reported by name, and changes nothing.
    fn answer(&mut self, link: &mut dyn Link, bytes: &[u8]) -> Result<(), HostError> {
        let proven = link.peer() == self.seat.party.roster.lead_key();
        let said = wire::decode(bytes, self.limit).and_then(|envelope| {
            if !proven || envelope.from != SERVER {
                return Err(Rejected::UnknownSender(envelope.from));
            }
            let (identity, roster) = (self.seat.party.identity, &*self.seat.company.roster);
            self.node.on_message(&envelope, &RosterKeys { identity, roster })
        });
        let said = match said {
            Ok(said) => said,
            Err(why) => {
                let name = Rejection::Envelope(why.name().to_owned());
                self.seat.options().tell(Notice::Rejected { name: why.name().to_owned() });
                self.seat.say(link, &HostMessage::Refused(name))?;
                return match why {
                    Rejected::Conflicting => {
                        Err(self.end("the lead has asked two things in one round".to_owned()))
                    }
                    Rejected::Forged(_) => Err(self.end(why.to_string())),
                    _ => Ok(()),
                };
            }
        };
        let state = self.node.snapshot()?;
        let (options, journal) = (&self.seat.party.options, &mut self.seat.journal);
        journal.note_answer()?;
        options.writing("answer", || journal.commit(|change| change.set("node", &state)))?;
        for envelope in said {
            self.seat.say(link, &HostMessage::Envelope(wire::encode(&envelope)))?;
        }
        self.seat.options().tell(Notice::Answered { round: self.node.answered() });
        Ok(())
    }

    /// Takes the model, if it is the one that was paid for.
    fn finish(&mut self, link: &mut dyn Link, text: String) -> Result<Joined, HostError> {
        let report = self.node.conclude();
        let own = self.check_model(&text).and_then(|model| self.own(model, text, report));
        let (model, text) = match own {
            Ok(own) => own,
            Err(why) => return Err(self.end(format!("the model of the lead: {why}"))),
        };
        let (run, reservation) = (self.joined.signed.run, self.joined.reservation.clone());
        let JoinedRun { job, roster, .. } = self.joined;
        let kept = Kept { run, job, roster, model: text, reservation: reservation.clone() };
        let options = &self.seat.party.options;
        options.writing("model", || {
            self.seat.journal.commit(|change| {
                kept.write(change)?;
                change.forget("joined")?;
                change.forget("node")
            })
        })?;
        self.seat.journal.wipe();
        self.tell_received(link);
        self.seat
            .options()
            .tell(Notice::Delivered { name: self.seat.party.roster.name(self.seat.number) });
        Ok(Joined { model, run: hex(&run), reservation })
    }

    /// Confirms the model. A lead that does not hear it sends the model again, to a journal that
    /// has it.
    pub fn tell_received(&mut self, link: &mut dyn Link) {
        if self.seat.say(link, &HostMessage::Received).is_ok() {
            let options = &self.seat.party.options;
            // The model is kept: a party that loses this mark confirms once more.
            let keep = || self.seat.journal.commit(|change| change.set(TOLD, &true));
            let _ = options.writing("told", keep);
        }
    }

    /// The model that the party keeps: with its own certificate, signed by itself, if its noise is
    /// its own; that of the lead if the lead adds the noise.
    fn own(
        &self,
        model: Model,
        text: String,
        report: Option<PartyReport>,
    ) -> Result<(Model, String), String> {
        let Some(report) = report else { return Ok((model, text)) };
        drop(text);
        let (party, units) = (self.seat.party, &self.joined.signed.terms.units);
        let own = || {
            let mut own = self.seat.company.job().own_model(model, report, units)?;
            own.sign(party.identity)?;
            let text = own.to_json()?;
            Ok((own, text))
        };
        own().map_err(|why: reticent::Error| why.to_string())
    }

    /// The model, if its certificate is the lead's and counts exactly the plan.
    fn check_model(&self, text: &str) -> Result<Model, String> {
        // Parsed once: a wide model is most of the memory of a party.
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let lead = PublicKey::from_bytes(&self.seat.party.roster.lead_key());
        if let Some(why) = document.verify(lead.as_ref()).summary() {
            return Err(why);
        }
        let model = document.into_model().ok_or("it is a certificate without its model")?;
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

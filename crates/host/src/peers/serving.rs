//! A party among peers, on its connection to the lead, which carries everything: in turns it hands
//! over its frames and takes those for it.

use std::sync::Arc;

use reticent::simulate::RemoteKind;
use reticent::{Model, PublicKey};
use reticent_core::hex;

use super::frame::{PeerMail, PeerPost};
use super::seat::{PeerRun, PeerSeat};
use crate::error::HostError;
use crate::kept::Kept;
use crate::links::{Link, LinkError};
use crate::message::{HostMessage, Rejection};
use crate::node::PartyNode;
use crate::options::Notice;
use crate::party::Joined;
use crate::seat::IDLE;
use crate::serving::Serving;

/// The turn of a peer that lacks the keys of all, and has nothing to send.
const UNKEYED: PeerPost =
    PeerPost { frames: Vec::new(), keyed: false, more: false, ended: false, settled: false };

/// The lead's message to a peer in its turn.
enum LeadWord {
    Mail(PeerMail),
    /// The run is over; the lead's model, where all members get it.
    Over(String),
}

impl Serving<'_> {
    fn peer(&mut self) -> Result<&mut PeerSeat, HostError> {
        match &mut self.node {
            PartyNode::Peer(peer) => Ok(peer),
            _ => Err(HostError::disagreed("the run", "it is none of peers")),
        }
    }

    /// Takes part until the run is over. Each turn: received frames → node → one transaction →
    /// frames to send.
    pub(crate) fn listen_as_peer(&mut self, mut link: Box<dyn Link>) -> Result<Joined, HostError> {
        if let Some(engine) = self.peer()?.engine() {
            engine.again();
        }
        let mut came = PeerMail { frames: Vec::new(), closing: false };
        loop {
            let options = self.seat.party.options.clone();
            let PartyNode::Peer(peer) = &mut self.node else {
                return Err(LinkError::Closed.into());
            };
            let post = match peer.engine() {
                None => UNKEYED,
                Some(engine) => {
                    let turn = engine.turn(&came, &mut self.seat.journal, &options);
                    if let Err(HostError::Ended(why)) = turn {
                        return Err(self.end(why));
                    }
                    turn?;
                    engine.post(&came)?
                }
            };
            self.await_peers()?;
            self.seat.say(&mut *link, &HostMessage::Post(post))?;
            came = match self.hear_mail(&mut *link)? {
                LeadWord::Mail(mail) => mail,
                LeadWord::Over(text) => return self.finish_as_peer(&mut *link, &text),
            };
        }
    }

    /// Receives the frames for this peer, or the end of the run.
    fn hear_mail(&mut self, link: &mut dyn Link) -> Result<LeadWord, HostError> {
        let nothing = PeerMail { frames: Vec::new(), closing: false };
        let lead = self.seat.party.roster.lead_name();
        loop {
            match self.seat.hear(link, self.limit, IDLE)? {
                HostMessage::Mail(mail) => return Ok(LeadWord::Mail(mail)),
                HostMessage::Keys(keys) => {
                    let (job, roster) = (self.seat.company.job(), &*self.seat.company.roster);
                    let (kind, limit) = (job.kind(), job.longest_between());
                    let of = PeerRun { run: &self.joined.signed.run, roster, kind, limit };
                    let PartyNode::Peer(peer) = &mut self.node else {
                        return Err(LinkError::Closed.into());
                    };
                    let (options, journal) = (&self.seat.party.options, &mut self.seat.journal);
                    options.writing("keys", || peer.take_keys(&of, &keys, journal))?;
                    return Ok(LeadWord::Mail(nothing));
                }
                // The peer has asked for the greeting instead of an answer, and has not read its
                // frames.
                HostMessage::Begin(_) => {
                    self.greet(link)?;
                    return Ok(LeadWord::Mail(nothing));
                }
                HostMessage::Known(_) => {}
                HostMessage::Model(text) => return Ok(LeadWord::Over(text)),
                HostMessage::Over(why) => return Err(self.end(why)),
                HostMessage::Again => return Err(LinkError::Closed.into()),
                HostMessage::Refused(why) => {
                    return Err(HostError::Refused { who: lead.to_owned(), why });
                }
                _ => return Err(HostError::disagreed(lead, Rejection::Unexpected.to_string())),
            }
        }
    }

    /// Ends with an error that names a peer which is awaited and has been away for too long; the
    /// same command continues.
    fn await_peers(&mut self) -> Result<(), HostError> {
        let patience = self.seat.options().patience;
        let roster = Arc::clone(&self.seat.company.roster);
        let Some(engine) = self.peer()?.engine() else { return Ok(()) };
        let (who, since) = engine.awaits();
        if who.is_empty() || since < patience {
            return Ok(());
        }
        let name = |member: u32| match member < roster.parties() {
            true => roster.name(member),
            false => roster.lead_name().to_owned(),
        };
        let who: Vec<String> = who.into_iter().map(name).collect();
        Err(HostError::Absent { who: who.join(", "), seconds: patience.as_secs(), why: None })
    }

    /// The model that the party keeps: its node's, or the numbers of a server, with the party's own
    /// certificate.
    fn own_model(&mut self, text: &str) -> Result<Model, String> {
        let (job, units) = (self.seat.company.job(), &self.joined.signed.terms.units);
        let node = self.node.as_peer().and_then(PeerSeat::node);
        let node = node.ok_or("there is no node")?;
        let report = node.party().ok_or("there are no books")?.report();
        let plain = |why: reticent::Error| why.to_string();
        let model = match job.kind() {
            RemoteKind::Star => {
                let lead = PublicKey::from_bytes(&self.seat.party.roster.lead_key());
                let model = Model::from_json(text).map_err(plain)?;
                let checked = model.verify(lead.as_ref()).map_err(plain)?;
                if checked.summary().is_some() || model.certificate().signature.is_none() {
                    return Err("the lead has not signed its model".to_owned());
                }
                job.star_model(&model, &report, units).map_err(plain)?
            }
            _ => {
                let estimate = node.model().ok_or("no token has come to this party")?;
                job.peer_model(estimate, &report, units).map_err(plain)?
            }
        };
        match model.certificate().certified || self.seat.options().seed.is_some() {
            true => Ok(model),
            false => Err("its certificate is none".to_owned()),
        }
    }

    fn finish_as_peer(&mut self, link: &mut dyn Link, text: &str) -> Result<Joined, HostError> {
        let (party, number) = (self.seat.party, self.seat.number);
        let engine = self.peer()?.engine();
        let over = engine.is_some_and(|engine| engine.has_ended() && engine.is_settled());
        if party.job.kind() == RemoteKind::Graph && !over {
            return Err(self.end("the lead says that the run is over, and it is not".to_owned()));
        }
        let mut model = match self.own_model(text) {
            Ok(model) => model,
            Err(why) => return Err(self.end(why)),
        };
        model.sign(party.identity)?;
        let (run, reservation) = (self.joined.signed.run, self.joined.reservation.clone());
        let (job, roster, text) = (self.joined.job, self.joined.roster, model.to_json()?);
        let kept = Kept { run, job, roster, model: text, reservation: reservation.clone() };
        let options = &party.options;
        options.writing("model", || {
            self.seat.journal.commit(|change| {
                kept.write(change)?;
                change.forget("joined")?;
                change.forget("node")?;
                change.forget_mail()
            })
        })?;
        self.seat.journal.wipe();
        self.tell_received(link);
        self.seat.options().tell(Notice::Delivered { name: party.roster.name(number) });
        Ok(Joined { model, run: hex(&run), reservation })
    }
}

//! The lead of a run of peers: it carries their messages, and has a node of its own where a walk is
//! observed or a server asks. It reads only messages to that node.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use reticent::simulate::RemoteKind;
use reticent_runtime::wire;

use super::engine::{Deadlines, PeerEngine};
use super::frame::{PeerMail, PeerPost, SignedRelayKey};
use super::mailbox::{Mailbox, sealed_length};
use super::relay::{HOLD, PeerStand, Relay, RunEnd};
use super::seal::RelaySeals;
use super::seat::checked;
use crate::carrier::{Lines, locked};
use crate::error::HostError;
use crate::lead::{Lead, LedRun};
use crate::mask_keys::signers;
use crate::message::{HostMessage, Rejection};

impl Lines {
    /// One turn of a peer: takes its frames, and hands it those for it.
    fn carry(&self, party: u32, relay: &Relay, keys: &[SignedRelayKey]) -> Result<(), HostError> {
        self.converse(party, |link, _| {
            let until = Instant::now() + self.patience();
            loop {
                let post = match self.hear(party, link, until)? {
                    HostMessage::Post(post) => post,
                    HostMessage::Refused(why) => return Err(self.refused(party, why)),
                    // A greeting that was asked for twice.
                    HostMessage::Envelope(_) => continue,
                    _ => {
                        self.reject(Rejection::Unexpected.name());
                        continue;
                    }
                };
                let PeerPost { frames, keyed, more, ended, settled } = post;
                if !keyed {
                    return self.say(link, &HostMessage::Keys(keys.to_vec()));
                }
                if let Err(name) = relay.put(party, frames, PeerStand { ended, settled }) {
                    self.reject(name);
                }
                let hold = if more { Duration::ZERO } else { HOLD };
                let mail = relay.take(party, hold);
                // The next message to it is that the run is over.
                if relay.is_over() {
                    return Ok(());
                }
                return self.say(link, &HostMessage::Mail(mail));
            }
        })
    }
}

impl Lead<'_> {
    /// The keys of all members, each signed by its owner, the lead's behind the others.
    fn relay_keys(&self, led: LedRun<'_>) -> Result<(RelaySeals, Vec<SignedRelayKey>), HostError> {
        let LedRun { lines, company, begun } = led;
        let mut keys = Vec::new();
        for (party, greeting) in (0..).zip(self.greeted(led)?) {
            let away = || lines.absent(company.roster.name(party));
            let greeting = greeting.ok_or_else(away)?;
            let key: Result<SignedRelayKey, _> = wire::unpack(&greeting);
            keys.push(key.map_err(|why| {
                HostError::disagreed(company.roster.name(party), why.to_string())
            })?);
        }
        let (own, me) = (begun.relay_secret(), company.roster.parties());
        keys.push(own.signed(self.identity, &begun.run, me));
        checked((&company.roster, &begun.run), &keys)?;
        let none = || HostError::disagreed("a party", "its key is none");
        let seals = RelaySeals::new(&own, &begun.run, me, &keys).ok_or_else(none)?;
        Ok((seals, keys))
    }

    /// The lead's own node, where it has one: the observer of a walk, or a server.
    fn own_engine(
        &self,
        LedRun { lines, company, begun }: LedRun<'_>,
        seals: RelaySeals,
    ) -> Result<Option<PeerEngine>, HostError> {
        let (job, roster) = (company.job(), &company.roster);
        if !job.has_lead_node() {
            return Ok(None);
        }
        let (key, of) = begun.node_key(self.job, self.options.seed)?;
        let signers = signers(self.identity, roster);
        let node = job.lead_node(key, (&of, &begun.terms.units), signers)?;
        let node = node.ok_or_else(|| HostError::disagreed("the job", "the lead has no node"))?;
        let (me, journal) = (roster.parties(), locked(&lines.journal));
        let mailbox = Mailbox::new(seals, me, &journal)?;
        let deadlines = match job.kind() {
            RemoteKind::Star => Deadlines::Rounds,
            _ => Deadlines::Once,
        };
        let limit = job.longest_between();
        let engine = PeerEngine::new(node, (me, mailbox), deadlines, limit);
        let mut engine = engine.among(roster);
        if let Some(snapshot) = journal.get::<Vec<u8>>("node")? {
            engine.restore(&snapshot, &journal)?;
        }
        Ok(Some(engine))
    }

    /// Carries frames until all peers have ended; returns the model of the lead's own node, signed,
    /// or an empty text.
    pub(crate) fn relay(&self, led: LedRun<'_>) -> Result<String, HostError> {
        let LedRun { lines, company, begun } = led;
        let (seals, keys) = self.relay_keys(led)?;
        let mut own = self.own_engine(led, seals)?;
        let (job, parties) = (company.job(), company.roster.parties());
        let members = parties + u32::from(own.is_some());
        let end = match job.kind() {
            RemoteKind::Graph => RunEnd::Each,
            RemoteKind::Star => RunEnd::Of(parties),
            _ => RunEnd::Any,
        };
        let longest = sealed_length(job.longest_between());
        let relay = Relay::new(members, end, longest);
        let failure: Mutex<Option<HostError>> = Mutex::new(None);
        let fail = |why: HostError| {
            locked(&failure).get_or_insert(why);
            relay.stop();
        };
        std::thread::scope(|scope| {
            for party in 0..parties {
                let (relay, keys, fail) = (&relay, &keys, &fail);
                scope.spawn(move || {
                    while !relay.is_over() {
                        if let Err(why) = lines.carry(party, relay, keys) {
                            fail(why);
                        }
                    }
                });
            }
            if let Some(engine) = &mut own
                && let Err(why) = self.attend(engine, lines, &relay)
            {
                fail(why);
            }
        });
        if let Some(why) = failure.into_inner().unwrap_or_default() {
            return Err(why);
        }
        let Some(engine) = own else { return Ok(String::new()) };
        let none = || HostError::Ended("no token has come to the lead".to_owned());
        let estimate = engine.node().model().ok_or_else(none)?;
        let (units, seeded) = (&begun.terms.units, self.options.seed.is_some());
        let mut model = job.observed_model(estimate, units, seeded)?;
        model.sign(self.identity)?;
        Ok(model.to_json()?)
    }

    /// Runs the lead's own node until the run is over.
    fn attend(
        &self,
        engine: &mut PeerEngine,
        lines: &Lines,
        relay: &Relay,
    ) -> Result<(), HostError> {
        let me = lines.roster.parties();
        let mut came = PeerMail { frames: Vec::new(), closing: false };
        while !relay.is_over() {
            engine.turn(&came, &mut locked(&lines.journal), &self.options)?;
            let PeerPost { frames, ended, settled, more, .. } = engine.post(&came)?;
            // A frame for a stranger to the run has no place.
            let _ = relay.put(me, frames, PeerStand { ended, settled });
            self.awaited(engine, lines)?;
            came = relay.take(me, if more { Duration::ZERO } else { HOLD });
        }
        Ok(())
    }

    /// Ends with an error that names a connected party which is awaited and has been silent for too
    /// long.
    fn awaited(&self, engine: &PeerEngine, lines: &Lines) -> Result<(), HostError> {
        let (who, since) = engine.awaits();
        if who.is_empty() || since < lines.patience() {
            return Ok(());
        }
        let who: Vec<String> = who.into_iter().map(|party| lines.roster.name(party)).collect();
        Err(lines.absent(who.join(", ")))
    }
}

//! The messages of members before and after a run, and the reasons of a refusal.

use reticent_noise::Digest;
use serde::{Deserialize, Serialize};

use crate::agreement::{Nonce, RunTerms};
use crate::peers::frame::{PeerMail, PeerPost, SignedRelayKey};

/// The version of these messages: 2 since rolls name the parties of the run, 3 since a commitment
/// covers the number of records.
pub const VERSION: u16 = 3;

/// The longest hello.
pub const LONGEST_HELLO: usize = 1 << 12;

/// The longest message of the lobby: signatures and nonces of all members.
pub const LONGEST_LOBBY: usize = 1 << 17;

/// The longest model.
pub const LONGEST_MODEL: usize = 64 << 20;

/// The first message of a party, before anything is spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub host: u16,
    /// The version of the messages of a run.
    pub wire: u16,
    /// The version of the program.
    pub program: String,
    /// The party's number.
    pub party: u32,
    /// The digest of its roster.
    pub roster: Digest,
    /// The digest of its job.
    pub job: Digest,
    /// The commitment to its nonce and its number of records.
    pub commitment: Digest,
    /// The run that it has joined.
    pub run: Option<Digest>,
}

/// A message between a party and the lead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostMessage {
    /// Party: its identity and its view of the run.
    Hello(Hello),
    /// Lead: the connected parties, by number, and the commitments of all members, the lead first.
    Roll(Vec<u32>, Vec<Digest>),
    /// Party: its nonce and, where it is public, its number of records.
    Reveal(Nonce, Option<u64>),
    /// Lead: what all members have revealed, and the key that sums are encrypted for.
    Terms(RunTerms, Vec<u8>),
    /// Party: its signature of the run.
    Signed(Vec<u8>),
    /// Lead: the signatures of all, the lead first.
    Begin(Vec<Vec<u8>>),
    /// Lead: the party is known, and the lead has this number of its rounds.
    Known(u32),
    /// A message of the run, in the format of [`reticent_runtime::wire`].
    Envelope(Vec<u8>),
    /// Lead: the run is over, and this is its model.
    Model(String),
    /// Party: the model is on its disk.
    Received,
    /// Lead: the lobby begins again.
    Again,
    /// Lead: the run is over, for this reason.
    Over(String),
    /// A refusal.
    Refused(Rejection),
    /// Peer: frames to carry, and a request for its own.
    Post(PeerPost),
    /// Lead: the keys by which peers encrypt their messages, those of the parties and then the
    /// lead's.
    Keys(Vec<SignedRelayKey>),
    /// Lead: frames for this peer.
    Mail(PeerMail),
}

impl HostMessage {
    /// The name of the message in a transcript.
    pub fn name(&self) -> &'static str {
        match self {
            HostMessage::Hello(_) => "hello",
            HostMessage::Roll(..) => "roll",
            HostMessage::Reveal(..) => "reveal",
            HostMessage::Terms(..) => "terms",
            HostMessage::Signed(_) => "signed",
            HostMessage::Begin(_) => "begin",
            HostMessage::Known(_) => "known",
            HostMessage::Envelope(_) => "envelope",
            HostMessage::Model(_) => "model",
            HostMessage::Received => "received",
            HostMessage::Again => "again",
            HostMessage::Over(_) => "over",
            HostMessage::Refused(_) => "refused",
            HostMessage::Post(_) => "post",
            HostMessage::Keys(_) => "keys",
            HostMessage::Mail(_) => "mail",
        }
    }

    /// The bytes of the message.
    pub fn pack(&self) -> Vec<u8> {
        // Every message has a serialised form.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// The message of these bytes, all of them.
    pub fn unpack(bytes: &[u8]) -> Result<Self, Rejection> {
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Ok(message),
            _ => Err(Rejection::Malformed),
        }
    }

    /// Takes a message out of a frame that is needed no more: the text of a model is not copied,
    /// since a wide one is most of the memory of a party.
    pub(crate) fn of_frame(mut frame: Vec<u8>) -> Result<Self, Rejection> {
        let mut front = HostMessage::Model(String::new()).pack();
        // The length of the text, which is 0 there.
        front.pop();
        let Some(rest) = frame.strip_prefix(&front[..]) else { return Self::unpack(&frame) };
        let (length, text) =
            postcard::take_from_bytes::<usize>(rest).map_err(|_| Rejection::Malformed)?;
        if text.len() != length {
            return Err(Rejection::Malformed);
        }
        frame.drain(..frame.len() - length);
        String::from_utf8(frame).map(HostMessage::Model).map_err(|_| Rejection::Malformed)
    }
}

/// Why a connection or a message is refused.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[non_exhaustive]
pub enum Rejection {
    /// Bytes that are no message.
    #[error("the message is malformed")]
    Malformed,
    /// A message out of order.
    #[error("the message is not the one that comes next")]
    Unexpected,
    /// Another version.
    #[error("another version: this is program {program}, messages {host}.{wire}")]
    Version {
        /// The version of this program.
        program: String,
        /// The version of these messages.
        host: u16,
        /// The version of the messages of a run.
        wire: u16,
    },
    /// Another roster.
    #[error("another roster")]
    OtherRoster,
    /// Another job.
    #[error("another job")]
    OtherJob,
    /// The number of another party.
    #[error("the key of the connection is not that of the party that it names")]
    NotYours,
    /// A run that is not known here.
    #[error("a run that is not known here")]
    UnknownRun,
    /// A run that has begun.
    #[error("the run has begun, and your journal does not know it")]
    Began,
    /// A party whose budget or operator does not allow the run.
    #[error("the party declines: {0}")]
    Declined(String),
    /// A rejected message of the run; its name.
    #[error("a message of the run was rejected: {0}")]
    Envelope(String),
    /// A party that did not connect in time, where the run may begin without it.
    #[error("the run has begun without you, who had not come in time")]
    Struck,
    /// A party that the others continue without; the reason.
    #[error("you are out of the run for good: {0}")]
    Forfeited(String),
}

impl Rejection {
    /// The name under which rejections are counted.
    pub fn name(&self) -> &'static str {
        match self {
            Rejection::Malformed => "malformed",
            Rejection::Unexpected => "unexpected",
            Rejection::Version { .. } => "other version",
            Rejection::OtherRoster => "other roster",
            Rejection::OtherJob => "other job",
            Rejection::NotYours => "not yours",
            Rejection::UnknownRun => "unknown run",
            Rejection::Began => "began",
            Rejection::Declined(_) => "declined",
            Rejection::Envelope(_) => "envelope",
            Rejection::Struck => "struck",
            Rejection::Forfeited(_) => "forfeited",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Rejection::Version { .. } => "use the same version everywhere; nothing was spent",
            Rejection::OtherRoster => {
                "compare `reticent roster show` with the others; nothing was spent"
            }
            Rejection::OtherJob => {
                "compare run file, schema and constraint with the others, byte for byte; nothing was spent"
            }
            Rejection::Began | Rejection::UnknownRun => {
                "put back the newest journal, or begin a new run with journals of its own"
            }
            Rejection::Struck => "nothing was spent; come to the next run",
            Rejection::Forfeited(_) => {
                "what was answered counts in full; take part in the next run with a journal of its own"
            }
            _ => "see docs/network.md",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model is taken out of its frame in the format in which it is serialised.
    #[test]
    fn a_frame_is_the_message_that_its_bytes_are() {
        let model = |text: &str| HostMessage::Model(text.to_owned());
        for message in [
            model(""),
            model("é"),
            model(&"x".repeat(300)),
            HostMessage::Known(7),
            HostMessage::Again,
            HostMessage::Received,
        ] {
            assert_eq!(HostMessage::of_frame(message.pack()), Ok(message.clone()));
            let longer = [&message.pack()[..], &[0]].concat();
            assert_eq!(HostMessage::of_frame(longer), Err(Rejection::Malformed));
        }
        let whole = model("é").pack();
        for wrong in [&whole[..whole.len() - 1], &whole[..1], &[whole[0], 1, 0xff], &[]] {
            assert_eq!(HostMessage::of_frame(wrong.to_vec()), Err(Rejection::Malformed));
            assert_eq!(HostMessage::unpack(wrong), Err(Rejection::Malformed));
        }
    }
}

//! What members say to each other around the messages of a run, and what is said to who may not.

use reticent_noise::Digest;
use serde::{Deserialize, Serialize};

use crate::agreement::{Nonce, RunTerms};
use crate::peers::frame::{PeerMail, PeerPost, SignedRelayKey};

/// The version of what is here: 2 since rolls say who is in, 3 since a number of records is bound with
/// its party's nonce.
pub const VERSION: u16 = 3;

/// No hello is longer.
pub const LONGEST_HELLO: usize = 1 << 12;

/// No message of the lobby is longer: signatures and nonces of all members.
pub const LONGEST_LOBBY: usize = 1 << 17;

/// No model is longer.
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
    /// The digest of its nonce and its number of records.
    pub commitment: Digest,
    /// The run that it is in.
    pub run: Option<Digest>,
}

/// Everything that is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostMessage {
    /// Party: who I am, and what I mean by the run.
    Hello(Hello),
    /// Lead: these parties are here, by number, and this is what each has said of its nonce, the lead
    /// first.
    Roll(Vec<u32>, Vec<Digest>),
    /// Party: my nonce, and how many records I have where that is public.
    Reveal(Nonce, Option<u64>),
    /// Lead: what everybody has revealed, and the key that sums are closed for.
    Terms(RunTerms, Vec<u8>),
    /// Party: I have signed the run.
    Signed(Vec<u8>),
    /// Lead: all have, the lead first.
    Begin(Vec<Vec<u8>>),
    /// Lead: you are known, and these many of your rounds are kept here.
    Known(u32),
    /// A message of the run, as [`reticent_runtime::wire`] has it.
    Envelope(Vec<u8>),
    /// Lead: the run is over, and this is its model.
    Model(String),
    /// Party: I have it on my disk.
    Received,
    /// Lead: the lobby begins again.
    Again,
    /// Lead: the run is over, for this reason.
    Over(String),
    /// No.
    Refused(Rejection),
    /// Peer: carry this, and say what was said to me.
    Post(PeerPost),
    /// Lead: the keys by which peers close what they say, those of the parties and then the lead's.
    Keys(Vec<SignedRelayKey>),
    /// Lead: this was said to you.
    Mail(PeerMail),
}

impl HostMessage {
    /// What it is called where its moments are.
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

    /// As bytes.
    pub fn pack(&self) -> Vec<u8> {
        // Nothing that is said here has a form that cannot be written.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    /// The message that the bytes are, all of them.
    pub fn unpack(bytes: &[u8]) -> Result<Self, Rejection> {
        match postcard::take_from_bytes(bytes) {
            Ok((message, [])) => Ok(message),
            _ => Err(Rejection::Malformed),
        }
    }

    /// The same of a frame that nobody else needs: the text of a model stays where it is, as a wide one
    /// is most of the memory of a party.
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

/// Why somebody is not let in, or not listened to.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error,
)]
#[non_exhaustive]
pub enum Rejection {
    /// Bytes that are no message.
    #[error("the message is malformed")]
    Malformed,
    /// Another message than the one that comes next.
    #[error("the message is not the one that comes next")]
    Unexpected,
    /// Another version.
    #[error("another version: this is program {program}, messages {host}.{wire}")]
    Version {
        /// The program here.
        program: String,
        /// The versions of messages here.
        host: u16,
        /// The same.
        wire: u16,
    },
    /// Another roster.
    #[error("another roster")]
    OtherRoster,
    /// Another job.
    #[error("another job")]
    OtherJob,
    /// A number that is another's.
    #[error("the key of the connection is not that of the party that it names")]
    NotYours,
    /// A run that is not known here.
    #[error("a run that is not known here")]
    UnknownRun,
    /// A run that began.
    #[error("the run has begun, and your journal does not know it")]
    Began,
    /// A party whose budget, or whose operator, does not allow the run.
    #[error("the party declines: {0}")]
    Declined(String),
    /// A message of the run that was not taken; its name.
    #[error("a message of the run was rejected: {0}")]
    Envelope(String),
    /// A party that did not come in time, where the run may begin without it.
    #[error("the run has begun without you, who had not come in time")]
    Struck,
    /// A party that the others have gone on without; why.
    #[error("you are out of the run for good: {0}")]
    Forfeited(String),
}

impl Rejection {
    /// What it is called where rejections are counted.
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

    /// A model is taken out of its frame as it is read from one, and anything else as always.
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

//! A party and the inbox of its messages: the common part of the nodes of parties.

use reticent_oracle::Books;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::RunId;
use crate::party::Party;

#[derive(Debug)]
pub(crate) struct Endpoint {
    pub inbox: Inbox,
    pub party: Party,
}

/// The state of an endpoint: its inbox, its party's books, and the number of z's that the party's
/// block has followed.
pub(crate) type EndpointState = (Inbox, AsText<Books>, u32);

impl Endpoint {
    pub fn new(run: RunId, party: Party) -> Self {
        Endpoint { inbox: Inbox::new(run, party.id()), party }
    }

    /// An [`EndpointState`] for serialisation.
    pub fn save(&self) -> impl Serialize + '_ {
        let (books, followed) = self.party.books();
        (&self.inbox, AsText(books), followed)
    }

    pub fn load(&mut self, (inbox, books, followed): EndpointState) -> Result<(), RunError> {
        self.inbox.recall(inbox)?;
        self.party.recall(&books.0, followed)
    }
}

/// Books inside a snapshot, as text: events are serialised with their kind as a name, which the
/// compact form of snapshots cannot read.
#[derive(Clone, Debug)]
pub(crate) struct AsText<T>(pub T);

impl<T: Serialize> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(&self.0).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

impl<'de, T: serde::de::DeserializeOwned> Deserialize<'de> for AsText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        serde_json::from_str(&text).map(AsText).map_err(D::Error::custom)
    }
}

//! A party and the inbox that its messages come through: what every node of a party has.

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

/// What an endpoint must not forget.
#[derive(Serialize, Deserialize)]
pub(crate) struct EndpointState {
    inbox: Inbox,
    books: AsText<Books>,
    followed: u32,
}

impl Endpoint {
    pub fn new(run: RunId, party: Party) -> Self {
        Endpoint { inbox: Inbox::new(run, party.id()), party }
    }

    pub fn save(&self) -> Result<EndpointState, RunError> {
        let (books, followed) = self.party.books();
        Ok(EndpointState { inbox: self.inbox.clone(), books: AsText(books.clone()), followed })
    }

    pub fn load(&mut self, state: EndpointState) -> Result<(), RunError> {
        self.inbox.recall(state.inbox)?;
        self.party.recall(&state.books.0, state.followed)
    }
}

/// Books inside a snapshot, as text: their events are written in a form that tells the kinds by
/// name, which the compact form of snapshots cannot read back.
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

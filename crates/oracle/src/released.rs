//! A value that already has its noise and its ledger entry.

/// What the gate lets out. Only this crate can make one; anything computed from it is
/// post-processing and costs nothing more.
///
/// There is deliberately no `From`, no `Deserialize` and no public constructor: a `Released` value
/// is evidence that its entry stands in a ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Released<T>(T);

impl<T> Released<T> {
    /// What has its entry and its noise: for [`Books::release`](crate::Books) alone.
    pub(crate) fn new(value: T) -> Self {
        Released(value)
    }

    /// What a rehearsal says, which has no data: for it alone.
    pub(crate) fn made_up(value: T) -> Self {
        Released(value)
    }

    /// What was read from answers of parties, each of which had its entry in its party's books and its
    /// noise before it left: for the server of noisy sums alone.
    pub(crate) fn said_by_parties(value: T) -> Self {
        Released(value)
    }

    /// The same value read otherwise.
    pub(crate) fn map<U>(self, read: impl FnOnce(T) -> U) -> Released<U> {
        Released(read(self.0))
    }

    /// The released value, to look at.
    pub fn get(&self) -> &T {
        &self.0
    }

    /// The released value, to keep.
    pub fn into_inner(self) -> T {
        self.0
    }
}

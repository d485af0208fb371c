//! The member: keys, shares, one masked vector, one answer about whom to open.

use std::collections::BTreeMap;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::channels::Channels;
use crate::keys::{self, Held, Key, Sealing, Secrets};
use crate::mask::{self, MaskSign};
use crate::shamir;
use crate::wire::{
    Body, BodyKind, LinkEnd, Message, Outgoing, PublicKeys, SealedShares, increasing,
};
use crate::{AggregationTerms, MaskRejected, MemberId};

/// A neighbour whose keys are known.
struct Neighbour {
    keys: PublicKeys,
    /// Agreed on by the channel keys.
    channel: Key,
}

/// What the member waits for.
enum MemberStage {
    Directory,
    Deliveries { neighbours: BTreeMap<MemberId, Neighbour>, own: Held },
    Survivors { held: BTreeMap<MemberId, Held> },
    Done,
}

impl MemberStage {
    fn awaits(&self) -> Option<BodyKind> {
        match self {
            Self::Directory => Some(BodyKind::Directory),
            Self::Deliveries { .. } => Some(BodyKind::Deliveries),
            Self::Survivors { .. } => Some(BodyKind::Survivors),
            Self::Done => None,
        }
    }
}

/// One party with a vector to add.
///
/// It answers each message of the collector once. Its rule of safety: for each neighbour it gives
/// back a share of the self-mask seed or one of the secret key, never both, and it does so once.
pub struct Member {
    terms: AggregationTerms,
    id: MemberId,
    secrets: Secrets,
    input: Zeroizing<Vec<u64>>,
    stage: MemberStage,
    /// Those whose sum it takes part in, and in no other; any that is large enough where there is none.
    company: Option<Vec<MemberId>>,
}

impl Member {
    /// A member with its vector, integers modulo 2⁶⁴. `key` must be fresh and uniform: all secrets
    /// of the member come from it ([`reticent_noise::Entropy::key`]). The same key, terms and
    /// number give the same messages, so a member can be rebuilt after a crash by replaying what it
    /// received.
    ///
    /// # Errors
    /// When there is no such member or the vector has another length than the terms say.
    pub fn new(
        terms: AggregationTerms,
        id: MemberId,
        key: &[u8; 32],
        input: Vec<u64>,
    ) -> Result<Self, MaskRejected> {
        let input = Zeroizing::new(input);
        if id >= terms.members() {
            return Err(MaskRejected::NotAMember(id));
        }
        if input.len() != terms.dimension() as usize {
            return Err(MaskRejected::Malformed("a vector of another length than the terms say"));
        }
        let secrets = Secrets::new(&terms, id, key);
        Ok(Self { terms, id, secrets, input, stage: MemberStage::Directory, company: None })
    }

    /// The same, which takes part in a sum of these members or in none, in increasing order: it answers
    /// no list of others. So there is one list of each kind that it answers, whatever lists a collector
    /// makes, and no share of anybody's mask key is ever given back.
    #[must_use]
    pub fn among(self, company: &[MemberId]) -> Self {
        Self { company: Some(company.to_vec()), ..self }
    }

    /// The same for a sum of all members.
    #[must_use]
    pub fn of_all(self) -> Self {
        let all: Vec<MemberId> = (0..self.terms.members()).collect();
        self.among(&all)
    }

    /// What the aggregation was agreed on.
    #[must_use]
    pub fn terms(&self) -> &AggregationTerms {
        &self.terms
    }

    /// The same with the channels that this member has in every sum of the run.
    #[must_use]
    pub fn over(self, channels: Arc<Channels>) -> Self {
        Self { secrets: self.secrets.over(channels), ..self }
    }

    /// The number of this member.
    #[must_use]
    pub fn id(&self) -> MemberId {
        self.id
    }

    /// Its vector, for its owner's own journal.
    pub(crate) fn input(&self) -> &[u64] {
        &self.input
    }

    /// Those whose sum it takes part in, where that was agreed on.
    pub(crate) fn company(&self) -> Option<&[MemberId]> {
        self.company.as_deref()
    }

    /// Whether it has said all that it will ever say.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(self.stage, MemberStage::Done)
    }

    /// The first message: the public keys.
    #[must_use]
    pub fn start(&self) -> Outgoing {
        self.say(Body::Advertise(self.secrets.public()))
    }

    /// A message from the collector.
    ///
    /// # Errors
    /// [`MaskRejected`]; the member is then as it was.
    pub fn on_message(&mut self, bytes: &[u8]) -> Result<Vec<Outgoing>, MaskRejected> {
        let message = Message::decode(&self.terms, self.id, bytes)?;
        let kind = message.body.kind();
        let awaited = self.stage.awaits();
        if awaited != Some(kind) {
            return Err(match kind {
                BodyKind::Directory | BodyKind::Deliveries | BodyKind::Survivors => {
                    if awaited.is_some_and(|awaited| awaited < kind) {
                        MaskRejected::Early(kind)
                    } else {
                        MaskRejected::Duplicate(kind)
                    }
                }
                _ => MaskRejected::Malformed("a member's message was sent to a member"),
            });
        }
        let answer = match (message.body, &self.stage) {
            (Body::Directory(keys), MemberStage::Directory) => self.share(keys)?,
            (Body::Deliveries(sealed), MemberStage::Deliveries { neighbours, own }) => {
                self.mask(&sealed, neighbours, own)?
            }
            (Body::Survivors { count, holders }, MemberStage::Survivors { held }) => {
                self.unmask(count, &holders, held)?
            }
            _ => return Err(MaskRejected::Malformed("a member's message was sent to a member")),
        };
        let (stage, body) = answer;
        self.stage = stage;
        Ok(vec![self.say(body)])
    }

    fn say(&self, body: Body) -> Outgoing {
        Outgoing {
            to: LinkEnd::Collector,
            bytes: Message::new(&self.terms, self.id, body).encode(),
        }
    }

    /// Enough holders must be left, or the mask could never be opened.
    fn quorum(&self, neighbours: usize) -> Result<(), MaskRejected> {
        let (found, quorum) = (neighbours as u32 + 1, self.terms.quorum());
        if found < quorum { Err(MaskRejected::BelowQuorum { found, quorum }) } else { Ok(()) }
    }

    /// Where it was agreed on who is in a sum, a list must have all of them who can be in it, and
    /// nobody else.
    fn is_agreed(&self, others: impl Iterator<Item = MemberId>) -> Result<(), MaskRejected> {
        let Some(company) = &self.company else { return Ok(()) };
        let others: Vec<MemberId> = others.filter(|other| *other != self.id).collect();
        let holders = self.terms.holders(self.id);
        let near = |other: &&MemberId| **other != self.id && holders.binary_search(other).is_ok();
        let agreed: Vec<MemberId> = company.iter().filter(near).copied().collect();
        if others != agreed || company.binary_search(&self.id).is_err() {
            let (found, members) = (others.len() as u32 + 1, agreed.len() as u32 + 1);
            return Err(MaskRejected::NotEverybody { found, members });
        }
        Ok(())
    }

    /// Two members with one key: one of them is not what it says to be.
    fn are_distinct(&self, keys: &[(MemberId, PublicKeys)]) -> Result<(), MaskRejected> {
        let own = self.secrets.public();
        let mut seen = std::collections::BTreeSet::from([own.mask, own.channel]);
        for (other, PublicKeys { mask, channel }) in keys {
            if !(seen.insert(*mask) && seen.insert(*channel)) {
                return Err(MaskRejected::EqualKeys(*other));
            }
        }
        Ok(())
    }

    /// Directory → shares: both secrets are split over all holders, absent ones included, whose
    /// shares nobody gets.
    fn share(
        &self,
        keys: Vec<(MemberId, PublicKeys)>,
    ) -> Result<(MemberStage, Body), MaskRejected> {
        let (terms, id) = (&self.terms, self.id);
        let holders = terms.holders(id);
        self.known(keys.iter().map(|(other, _)| *other), &holders)?;
        self.quorum(keys.len())?;
        self.is_agreed(keys.iter().map(|(other, _)| *other))?;
        self.are_distinct(&keys)?;
        let count = holders.len() as u32;
        let split = |secret, stream| {
            shamir::split(secret, terms.quorum(), count, &self.secrets.coefficients, stream)
                .ok_or(MaskRejected::Malformed("terms that no secret sharing fits"))
        };
        let (key_shares, seed_shares) =
            (split(self.secrets.mask_bytes(), 0)?, split(&self.secrets.seed, 1)?);
        let at = |holder: MemberId| {
            let place = holders.binary_search(&holder).ok()?;
            Some(Held { key: *key_shares.get(place)?, seed: *seed_shares.get(place)? })
        };
        let lost = MaskRejected::Malformed("a neighbour that holds no share");
        let mut neighbours = BTreeMap::new();
        let mut sealed = Vec::with_capacity(keys.len());
        let mask = self.secrets.public().mask;
        for (other, keys) in keys {
            let channel =
                self.secrets.channel_with(&keys.channel).ok_or(MaskRejected::WeakKey(other))?;
            let held = at(other).ok_or(lost.clone())?;
            let sealing = Sealing { terms, from: id, to: other, mask: &mask };
            sealed.push((other, sealing.seal(&channel, &held).ok_or(lost.clone())?));
            neighbours.insert(other, Neighbour { keys, channel });
        }
        let own = at(id).ok_or(lost)?;
        let seed_tag = keys::seed_tag(terms, &self.secrets.seed, id);
        Ok((MemberStage::Deliveries { neighbours, own }, Body::Shares { seed_tag, sealed }))
    }

    /// Deliveries → masked vector.
    fn mask(
        &self,
        sealed: &[(MemberId, SealedShares)],
        neighbours: &BTreeMap<MemberId, Neighbour>,
        own: &Held,
    ) -> Result<(MemberStage, Body), MaskRejected> {
        let (terms, id) = (&self.terms, self.id);
        self.known(
            sealed.iter().map(|(other, _)| *other),
            &neighbours.keys().copied().collect::<Vec<_>>(),
        )?;
        self.quorum(sealed.len())?;
        self.is_agreed(sealed.iter().map(|(other, _)| *other))?;
        let mut held = BTreeMap::from([(id, own.clone())]);
        let mut values = self.input.clone();
        mask::apply(&keys::self_seed(terms, &self.secrets.seed, id), MaskSign::Plus, &mut values);
        for (other, sealed) in sealed {
            let neighbour = neighbours.get(other).ok_or(MaskRejected::NotAMember(*other))?;
            let sealing = Sealing { terms, from: *other, to: id, mask: &neighbour.keys.mask };
            let opened = sealing.open(&neighbour.channel, sealed);
            held.insert(*other, opened.ok_or(MaskRejected::Unsealed(*other))?);
            let agreed = self
                .secrets
                .mask_with(&neighbour.keys.mask)
                .ok_or(MaskRejected::WeakKey(*other))?;
            mask::apply(
                &keys::pair_seed(terms, &agreed, id, *other),
                MaskSign::of(id, *other),
                &mut values,
            );
        }
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Ok((MemberStage::Survivors { held }, Body::Masked(bytes)))
    }

    /// Survivors → for each of those who shared, one share: of the seed if it stayed, of the key if
    /// it left.
    fn unmask(
        &self,
        count: u32,
        survivors: &[MemberId],
        held: &BTreeMap<MemberId, Held>,
    ) -> Result<(MemberStage, Body), MaskRejected> {
        let sharers: Vec<MemberId> = held.keys().copied().collect();
        if !increasing(survivors.iter().copied()) || survivors.iter().any(|s| !held.contains_key(s))
        {
            return Err(MaskRejected::Malformed(
                "survivors that are not neighbours who shared, in order",
            ));
        }
        let threshold = self.terms.threshold();
        if count < threshold {
            return Err(MaskRejected::BelowThreshold { found: count, threshold });
        }
        if survivors.binary_search(&self.id).is_err()
            || count > self.terms.members()
            || (survivors.len() as u32) > count
        {
            return Err(MaskRejected::Malformed(
                "a list of survivors that contradicts itself or leaves its reader out",
            ));
        }
        self.quorum(survivors.len() - 1)?;
        self.is_agreed(survivors.iter().copied())?;
        if self.company.as_ref().is_some_and(|company| company.len() as u32 != count) {
            let members = self.company.as_ref().map_or(0, Vec::len) as u32;
            return Err(MaskRejected::NotEverybody { found: count, members });
        }
        let (mut seeds, mut keys) = (Vec::new(), Vec::new());
        for (owner, held) in
            sharers.iter().filter_map(|owner| held.get(owner).map(|held| (*owner, held)))
        {
            if survivors.binary_search(&owner).is_ok() {
                seeds.push((owner, held.seed));
            } else {
                keys.push((owner, held.key));
            }
        }
        Ok((MemberStage::Done, Body::Unmask { seeds, keys }))
    }

    /// A list of others must be in order, without this member, and among those it can be about.
    fn known(
        &self,
        others: impl Iterator<Item = MemberId> + Clone,
        among: &[MemberId],
    ) -> Result<(), MaskRejected> {
        if !increasing(others.clone()) {
            return Err(MaskRejected::Malformed("a list that is out of order or has repetitions"));
        }
        for other in others {
            if other == self.id || among.binary_search(&other).is_err() {
                return Err(MaskRejected::Malformed("a list with members that are not neighbours"));
            }
        }
        Ok(())
    }
}

/// Says where it is and nothing of its secrets.
impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Member({}, awaits {:?})", self.id, self.stage.awaits())
    }
}
#[cfg(test)]
impl Member {
    /// For the tests that play a coalition: all secrets.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// For the tests that play a coalition: the shares it holds.
    pub(crate) fn held(&self) -> Option<&BTreeMap<MemberId, Held>> {
        match &self.stage {
            MemberStage::Survivors { held } => Some(held),
            _ => None,
        }
    }
}

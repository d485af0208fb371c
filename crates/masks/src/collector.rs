//! The collector: passes shares on, adds masked vectors, takes the masks off.
//!
//! Let U₁ ⊇ U₂ ⊇ U₃ be those who advertised, shared, and sent a masked vector in time. With all
//! signs,
//!
//! > Σ_{u ∈ U₃} yᵤ = Σ_{u ∈ U₃} xᵤ + Σ_{u ∈ U₃} PRG(bᵤ) + Σ_{u ∈ U₃, v ∈ U₂ \ U₃} ± PRG(sᵤᵥ),
//!
//! the masks of pairs inside U₃ having cancelled. The seeds bᵤ are put together from shares, and so
//! are the secret keys of U₂ \ U₃, from which the sᵤᵥ follow.

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use crate::keys::{self, OpenedKey, ShareOf};
use crate::mask::{self, MaskSign};
use crate::shamir;
use crate::wire::{Body, BodyKind, LinkEnd, Message, Outgoing, PublicKeys, SealedShares};
use crate::{AggregationTerms, MaskRejected, MemberId};

/// The sum over those who stayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sum {
    /// The sum of the vectors, entry by entry, modulo 2⁶⁴.
    pub values: Vec<u64>,
    /// Whose vectors are in it, in increasing order.
    pub members: Vec<MemberId>,
}

/// Why there is no sum. Nothing but masked vectors has been seen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Abort {
    /// Too many members left before the sum could be opened.
    #[error("{found} members answered with {awaited}, {threshold} are needed; start a new round")]
    TooFew {
        /// The kind of message that was waited for.
        awaited: BodyKind,
        /// The number of members that answered.
        found: u32,
        /// How many must come.
        threshold: u32,
    },
    /// Too few holders of a share stayed (on a sparse graph).
    #[error(
        "{found} shares of a secret of member {member} came back, {quorum} are needed; start a new round"
    )]
    Locked {
        /// Whose mask stays closed.
        member: MemberId,
        /// Shares that came back.
        found: u32,
        /// Shares that are needed.
        quorum: u32,
    },
    /// Shares that are those that their owner has marked, and do not give what it announced: it did not
    /// follow the protocol.
    #[error(
        "the shares of member {member}, as it has marked them, do not give what it announced; it did not follow the \
         protocol"
    )]
    Mismatch {
        /// Whose shares they are.
        member: MemberId,
    },
}

/// What the collector waits for.
#[derive(Clone, Debug, PartialEq)]
enum CollectorStage {
    Awaits(BodyKind),
    Ended(Result<Sum, Abort>),
}

type Shares = BTreeMap<MemberId, Vec<(u8, [u8; 32])>>;

/// The marks of the two shares of an owner at a holder: of the key, and of the seed.
type Marks = BTreeMap<(MemberId, MemberId), ([u8; 16], [u8; 16])>;

/// The party that adds. It learns the sum.
pub struct Collector {
    terms: AggregationTerms,
    stage: CollectorStage,
    /// Those whose answer is awaited, and those of them who have answered.
    expected: BTreeSet<MemberId>,
    answered: BTreeSet<MemberId>,
    /// U₁ and its keys.
    keys: BTreeMap<MemberId, PublicKeys>,
    /// U₂ and the check values of its seeds.
    seed_tags: BTreeMap<MemberId, [u8; 16]>,
    /// Sealed shares by the member that they are for.
    mail: BTreeMap<MemberId, Vec<(MemberId, SealedShares)>>,
    /// Those whose masked vectors came (U₃ in the papers).
    survivors: BTreeSet<MemberId>,
    total: Vec<u64>,
    seed_shares: Shares,
    key_shares: Shares,
    marks: Marks,
    /// Who has given back a share that is not the one that was marked.
    blamed: BTreeSet<MemberId>,
}

impl Collector {
    /// A collector that waits for keys.
    #[must_use]
    pub fn new(terms: AggregationTerms) -> Self {
        Self {
            stage: CollectorStage::Awaits(BodyKind::Advertise),
            expected: (0..terms.members()).collect(),
            answered: BTreeSet::new(),
            keys: BTreeMap::new(),
            seed_tags: BTreeMap::new(),
            mail: BTreeMap::new(),
            survivors: BTreeSet::new(),
            total: vec![0; terms.dimension() as usize],
            seed_shares: Shares::new(),
            key_shares: Shares::new(),
            marks: Marks::new(),
            blamed: BTreeSet::new(),
            terms,
        }
    }

    /// The same, which waits for these members alone: who is in the sum was agreed on before.
    #[must_use]
    pub fn among(self, company: &[MemberId]) -> Self {
        Self { expected: company.iter().copied().collect(), ..self }
    }

    /// The sum, or why there is none; `None` while it is not over.
    pub fn outcome(&self) -> Option<Result<&Sum, &Abort>> {
        match &self.stage {
            CollectorStage::Awaits(_) => None,
            CollectorStage::Ended(result) => Some(result.as_ref()),
        }
    }

    /// Who has given back a false share of somebody's secret. Such shares are left out, and the sum is
    /// opened by the others'.
    #[must_use]
    pub fn blamed(&self) -> Vec<MemberId> {
        self.blamed.iter().copied().collect()
    }

    /// What it waits for, and from whom.
    #[must_use]
    pub fn awaits(&self) -> Option<(BodyKind, Vec<MemberId>)> {
        match self.stage {
            CollectorStage::Awaits(kind) => {
                Some((kind, self.expected.difference(&self.answered).copied().collect()))
            }
            CollectorStage::Ended(_) => None,
        }
    }

    /// A message from a member; `from` is what the transport knows about its origin. When it was
    /// the last one that was awaited, the phase closes by itself.
    ///
    /// # Errors
    /// [`MaskRejected`]; the collector is then as it was.
    pub fn on_message(
        &mut self,
        from: MemberId,
        bytes: &[u8],
    ) -> Result<Vec<Outgoing>, MaskRejected> {
        let CollectorStage::Awaits(awaited) = self.stage else { return Err(MaskRejected::Ended) };
        if from >= self.terms.members() {
            return Err(MaskRejected::NotAMember(from));
        }
        let body = Message::decode(&self.terms, from, bytes)?.body;
        let kind = body.kind();
        if matches!(kind, BodyKind::Directory | BodyKind::Deliveries | BodyKind::Survivors) {
            return Err(MaskRejected::Malformed("a collector's message was sent to a collector"));
        }
        if kind != awaited {
            return Err(if kind < awaited {
                MaskRejected::Late(kind)
            } else {
                MaskRejected::Early(kind)
            });
        }
        if !self.expected.contains(&from) {
            return Err(MaskRejected::Away(from));
        }
        if self.answered.contains(&from) {
            return Err(MaskRejected::Duplicate(kind));
        }
        match body {
            Body::Advertise(keys) => {
                let new = [keys.mask, keys.channel];
                let shown =
                    |own: &PublicKeys| new.contains(&own.mask) || new.contains(&own.channel);
                if new[0] == new[1] || self.keys.values().any(shown) {
                    return Err(MaskRejected::EqualKeys(from));
                }
                self.keys.insert(from, keys);
            }
            Body::Shares { seed_tag, sealed } => self.take_shares(from, seed_tag, &sealed)?,
            Body::Masked(bytes) => self.take_masked(&bytes)?,
            Body::Unmask { seeds, keys } => self.take_unmask(from, &seeds, &keys)?,
            _ => {
                return Err(MaskRejected::Malformed(
                    "a collector's message was sent to a collector",
                ));
            }
        }
        self.answered.insert(from);
        Ok(if self.answered == self.expected { self.on_deadline() } else { Vec::new() })
    }

    /// Time is up: those who have not answered are out. Afterwards the collector waits for the next
    /// phase, or [`Collector::outcome`] is there.
    pub fn on_deadline(&mut self) -> Vec<Outgoing> {
        let CollectorStage::Awaits(awaited) = self.stage else { return Vec::new() };
        let (found, threshold) = (self.answered.len() as u32, self.terms.threshold());
        if found < threshold {
            self.stage = CollectorStage::Ended(Err(Abort::TooFew { awaited, found, threshold }));
            return Vec::new();
        }
        self.expected = std::mem::take(&mut self.answered);
        let next = match awaited {
            BodyKind::Advertise => BodyKind::Shares,
            BodyKind::Shares => BodyKind::Masked,
            BodyKind::Masked => BodyKind::Unmask,
            _ => {
                self.stage = CollectorStage::Ended(self.open());
                return Vec::new();
            }
        };
        self.stage = CollectorStage::Awaits(next);
        if next == BodyKind::Unmask {
            self.survivors = self.expected.clone();
        }
        let told: Vec<MemberId> = self.expected.iter().copied().collect();
        told.into_iter()
            .map(|member| {
                let body = self.announcement(next, member);
                Outgoing {
                    to: LinkEnd::Member(member),
                    bytes: Message::new(&self.terms, member, body).encode(),
                }
            })
            .collect()
    }

    /// What `member` is told when `next` is awaited.
    fn announcement(&mut self, next: BodyKind, member: MemberId) -> Body {
        let holders = self.terms.holders(member);
        match next {
            BodyKind::Shares => Body::Directory(
                holders
                    .into_iter()
                    .filter(|&other| other != member)
                    .filter_map(|other| self.keys.get(&other).map(|keys| (other, *keys)))
                    .collect(),
            ),
            BodyKind::Masked => Body::Deliveries(self.mail.remove(&member).unwrap_or_default()),
            _ => Body::Survivors {
                count: self.survivors.len() as u32,
                holders: holders
                    .into_iter()
                    .filter(|other| self.survivors.contains(other))
                    .collect(),
            },
        }
    }

    /// Exactly one sealed pair of shares for each neighbour that advertised.
    fn take_shares(
        &mut self,
        from: MemberId,
        seed_tag: [u8; 16],
        sealed: &[(MemberId, SealedShares)],
    ) -> Result<(), MaskRejected> {
        let holders = self.terms.holders(from);
        let owed = holders.iter().filter(|&&other| other != from && self.keys.contains_key(&other));
        if !owed.eq(sealed.iter().map(|(to, _)| to)) {
            return Err(MaskRejected::Malformed(
                "shares for others than the neighbours that were announced",
            ));
        }
        // Senders come in any order; each recipient's list must be in theirs.
        for (to, sealed) in sealed {
            self.marks.insert((from, *to), (sealed.key_mark, sealed.seed_mark));
            let list = self.mail.entry(*to).or_default();
            let place = list.partition_point(|(other, _)| *other < from);
            list.insert(place, (from, *sealed));
        }
        self.seed_tags.insert(from, seed_tag);
        Ok(())
    }

    fn take_masked(&mut self, bytes: &[u8]) -> Result<(), MaskRejected> {
        if bytes.len() != 8 * self.total.len() {
            return Err(MaskRejected::Malformed("a vector of another length than the terms say"));
        }
        self.total
            .iter_mut()
            .zip(mask::words(bytes))
            .for_each(|(sum, word)| *sum = sum.wrapping_add(word));
        Ok(())
    }

    /// Exactly one share for each neighbour that shared: of the seed if it survived, of the key if
    /// it did not.
    fn take_unmask(
        &mut self,
        from: MemberId,
        seeds: &[(MemberId, [u8; 32])],
        keys: &[(MemberId, [u8; 32])],
    ) -> Result<(), MaskRejected> {
        let owners =
            self.terms.holders(from).into_iter().filter(|owner| self.seed_tags.contains_key(owner));
        let (stayed, left): (Vec<MemberId>, Vec<MemberId>) =
            owners.partition(|owner| self.survivors.contains(owner));
        let named = |list: &[(MemberId, [u8; 32])]| {
            list.iter().map(|(owner, _)| *owner).collect::<Vec<_>>()
        };
        if named(seeds) != stayed || named(keys) != left {
            return Err(MaskRejected::Malformed("shares of others than those that were asked for"));
        }
        let lists = [
            (seeds, &mut self.seed_shares, ShareOf::Seed),
            (keys, &mut self.key_shares, ShareOf::Key),
        ];
        for (list, shares, of) in lists {
            for (owner, share) in list {
                // Its own share was marked for nobody: it is known by the secret that it gives.
                let marked = self.marks.get(&(*owner, from)).map(|(key, seed)| match of {
                    ShareOf::Key => key,
                    ShareOf::Seed => seed,
                });
                let found = || keys::share_mark(&self.terms, (*owner, from), of, share);
                if marked.is_some_and(|marked| *marked != found()) {
                    self.blamed.insert(from);
                } else if let Some(point) = self.terms.point(*owner, from) {
                    shares.entry(*owner).or_default().push((point, *share));
                }
            }
        }
        Ok(())
    }

    /// Takes all masks off the total.
    fn open(&mut self) -> Result<Sum, Abort> {
        let mut values = std::mem::take(&mut self.total);
        for &member in &self.survivors {
            let seed = self.combine(&self.seed_shares, member)?;
            if self.seed_tags.get(&member) != Some(&keys::seed_tag(&self.terms, &seed, member)) {
                return Err(Abort::Mismatch { member });
            }
            mask::apply(&keys::self_seed(&self.terms, &seed, member), MaskSign::Minus, &mut values);
        }
        for &member in self.seed_tags.keys().filter(|member| !self.survivors.contains(member)) {
            let around = self.terms.holders(member);
            let with: Vec<_> =
                around.into_iter().filter(|other| self.survivors.contains(other)).collect();
            if with.is_empty() {
                continue;
            }
            let mismatch = Abort::Mismatch { member };
            let secret = self.combine(&self.key_shares, member)?;
            let public = self.keys.get(&member).ok_or(mismatch.clone())?;
            let opened = OpenedKey::new(&secret, &public.mask).ok_or(mismatch.clone())?;
            for other in with {
                let agreed = self.keys.get(&other).and_then(|keys| opened.mask_with(&keys.mask));
                let seed =
                    keys::pair_seed(&self.terms, &agreed.ok_or(mismatch.clone())?, member, other);
                mask::apply(&seed, MaskSign::of(other, member).other(), &mut values);
            }
        }
        Ok(Sum { values, members: self.survivors.iter().copied().collect() })
    }

    fn combine(&self, shares: &Shares, member: MemberId) -> Result<keys::Key, Abort> {
        let quorum = self.terms.quorum();
        let mut found = Zeroizing::new(shares.get(&member).cloned().unwrap_or_default());
        // Its owner's own share is marked by nobody, and is the last to be taken.
        let own = self.terms.point(member, member);
        found.sort_by_key(|(point, _)| Some(*point) == own);
        let enough = found.get(..quorum as usize).ok_or(Abort::Locked {
            member,
            found: found.len() as u32,
            quorum,
        })?;
        shamir::combine(enough).ok_or(Abort::Mismatch { member })
    }
}

/// Says where it is.
impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Collector({} of {} answered)", self.answered.len(), self.expected.len())
    }
}

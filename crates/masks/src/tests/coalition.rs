//! What the collector and its accomplices can know.
//!
//! The coalition sees every message that passes the collector, and has all secrets and held shares
//! of the corrupt members. It takes off every mask that these give: self-masks whose seeds it can
//! put together, pairwise masks of which it knows one end. What is left of an honest member u is
//!
//! > rᵤ = xᵤ + Σ_{v honest} ± PRG(sᵤᵥ),
//!
//! and the masks in it come from keys of which the coalition has fewer shares than the quorum. The
//! tests hold this against the transcript of a real round, for every coalition that is smaller than
//! the quorum.

use std::collections::{BTreeMap, BTreeSet};

use super::{Leaves, Play, STAYS, input};
use crate::keys::{self, OpenedKey};
use crate::mask::{self, MaskSign};
use crate::shamir;
use crate::wire::{Body, Message, PublicKeys};
use crate::{AggregationTerms, MemberId};
use reticent_testkit::statistics::chi_squared;

type Shares = BTreeMap<MemberId, BTreeMap<u8, [u8; 32]>>;

/// All that the coalition has.
struct Knowledge {
    public: BTreeMap<MemberId, PublicKeys>,
    masked: BTreeMap<MemberId, Vec<u64>>,
    sharers: BTreeSet<MemberId>,
    seed_shares: Shares,
    key_shares: Shares,
}

/// Plays a round and collects what the coalition sees in it: the whole transcript, and what corrupt
/// members hold.
fn observe(
    terms: &AggregationTerms,
    corrupt: &BTreeSet<MemberId>,
    leaves: impl Fn(MemberId) -> Leaves,
) -> (Knowledge, Play) {
    let mut play = Play::new(terms);
    let mut answers = play.advertisements();
    let mut held = Vec::new();
    for phase in 0..4 {
        answers.retain(|(member, _)| leaves(*member) > phase);
        let said = play.phase(std::mem::take(&mut answers));
        answers = play.deliver(said);
        if phase == 1 {
            for &member in corrupt {
                for (owner, shares) in play.members[member as usize].held().into_iter().flatten() {
                    held.push((member, *owner, shares.clone()));
                }
            }
        }
    }
    let mut known = Knowledge {
        public: BTreeMap::new(),
        masked: BTreeMap::new(),
        sharers: BTreeSet::new(),
        seed_shares: Shares::new(),
        key_shares: Shares::new(),
    };
    let point = |owner, holder| terms.point(owner, holder).unwrap();
    for (holder, owner, shares) in held {
        known.seed_shares.entry(owner).or_default().insert(point(owner, holder), shares.seed);
        known.key_shares.entry(owner).or_default().insert(point(owner, holder), shares.key);
    }
    for (member, up, bytes) in play.transcript.iter().filter(|(_, up, _)| *up) {
        assert!(up);
        match Message::decode(terms, *member, bytes).unwrap().body {
            Body::Advertise(keys) => drop(known.public.insert(*member, keys)),
            Body::Shares { .. } => drop(known.sharers.insert(*member)),
            Body::Masked(bytes) => {
                drop(known.masked.insert(*member, mask::words(&bytes).collect()))
            }
            Body::Unmask { seeds, keys } => {
                for (owner, share) in seeds {
                    known
                        .seed_shares
                        .entry(owner)
                        .or_default()
                        .insert(point(owner, *member), share);
                }
                for (owner, share) in keys {
                    known.key_shares.entry(owner).or_default().insert(point(owner, *member), share);
                }
            }
            _ => unreachable!("a member's message"),
        }
    }
    (known, play)
}

fn opened(shares: &Shares, owner: MemberId, quorum: u32) -> Option<keys::Key> {
    let list: Vec<_> = shares.get(&owner)?.iter().map(|(point, share)| (*point, *share)).collect();
    (list.len() as u32 >= quorum).then(|| shamir::combine(&list).unwrap())
}

/// The residues rᵤ of the honest members whose vectors came, after all masks the coalition can
/// compute are off. A pair's mask is known from a corrupt end or from an opened secret key.
fn residues(
    terms: &AggregationTerms,
    corrupt: &BTreeSet<MemberId>,
    known: &Knowledge,
    play: &Play,
) -> BTreeMap<MemberId, Vec<u64>> {
    let mut found = BTreeMap::new();
    for (&member, masked) in known.masked.iter().filter(|(member, _)| !corrupt.contains(member)) {
        let mut values = masked.clone();
        let seed = opened(&known.seed_shares, member, terms.quorum())
            .expect("the seeds of survivors are opened");
        mask::apply(&keys::self_seed(terms, &seed, member), MaskSign::Minus, &mut values);
        for other in terms
            .holders(member)
            .into_iter()
            .filter(|other| *other != member && known.sharers.contains(other))
        {
            let mine = &known.public[&member].mask;
            let agreed = if corrupt.contains(&other) {
                play.members[other as usize].secrets().mask_with(mine)
            } else if let Some(secret) = opened(&known.key_shares, other, terms.quorum()) {
                OpenedKey::new(&secret, &known.public[&other].mask).unwrap().mask_with(mine)
            } else {
                continue;
            };
            let seed = keys::pair_seed(terms, &agreed.unwrap(), member, other);
            mask::apply(&seed, MaskSign::of(member, other).other(), &mut values);
        }
        found.insert(member, values);
    }
    found
}

fn coalitions(members: u32) -> impl Iterator<Item = BTreeSet<MemberId>> {
    (0..1_u32 << members)
        .map(move |code| (0..members).filter(|member| code >> member & 1 == 1).collect())
}

/// For every coalition below the quorum and every member in turn that leaves before its vector, or
/// nobody:
///
/// * the residues add up to the honest sum (which the coalition has anyway),
/// * no honest survivor's key and no honest leaver's seed can be put together: fewer shares than
///   the quorum were seen,
/// * for any other inputs with the same honest sum there are pairwise masks that give the very same
///   transcript: shift the masks along a path through the honest members.
#[test]
fn other_inputs_with_the_same_sum_explain_the_transcript() {
    // A quorum of all: every coalition of up to m − 1, nobody may leave. A smaller one: up to t −
    // 1, with leavers.
    for (members, threshold) in [(5, 5), (5, 4), (5, 3)] {
        let terms = AggregationTerms::complete([8; 32], 2, members, threshold, 3).unwrap();
        let mut checked = 0;
        for corrupt in coalitions(members).filter(|corrupt| (corrupt.len() as u32) < threshold) {
            for leaver in (0..=members).filter(|&leaver| leaver == members || threshold < members) {
                let leaves = |member| if member == leaver { 2 } else { STAYS };
                let (known, play) = observe(&terms, &corrupt, leaves);
                let honest: Vec<MemberId> = (0..members)
                    .filter(|member| !corrupt.contains(member) && *member != leaver)
                    .collect();
                let found = residues(&terms, &corrupt, &known, &play);
                assert_eq!(found.keys().copied().collect::<Vec<_>>(), honest);
                for member in &honest {
                    let shares = known.key_shares.get(member).map_or(0, BTreeMap::len);
                    assert!((shares as u32) < terms.quorum(), "a survivor's key stays closed");
                }
                if leaver < members && !corrupt.contains(&leaver) {
                    let shares = known.seed_shares.get(&leaver).map_or(0, BTreeMap::len);
                    assert!((shares as u32) < terms.quorum(), "a leaver's seed stays closed");
                }
                explain(&terms, &honest, &found, &play);
                checked += 1;
            }
        }
        assert!(checked >= 31, "{checked}");
    }
}

/// The pairwise masks of the honest as they are.
fn true_masks(
    terms: &AggregationTerms,
    honest: &[MemberId],
    play: &Play,
) -> BTreeMap<(MemberId, MemberId), Vec<u64>> {
    let mut masks = BTreeMap::new();
    for &u in honest {
        for &v in honest.iter().filter(|&&v| u < v && terms.holders(u).contains(&v)) {
            let public = play.members[v as usize].secrets().public().mask;
            let agreed = play.members[u as usize].secrets().mask_with(&public).unwrap();
            let mut values = vec![0; terms.dimension() as usize];
            mask::apply(&keys::pair_seed(terms, &agreed, u, v), MaskSign::Plus, &mut values);
            masks.insert((u, v), values);
        }
    }
    masks
}

/// rᵤ from inputs and pairwise masks.
fn residue_of(
    input: &[u64],
    member: MemberId,
    masks: &BTreeMap<(MemberId, MemberId), Vec<u64>>,
) -> Vec<u64> {
    let mut values = input.to_vec();
    for ((u, v), mask) in masks {
        for (value, word) in values.iter_mut().zip(mask) {
            if *u == member {
                *value = value.wrapping_add(*word);
            } else if *v == member {
                *value = value.wrapping_sub(*word);
            }
        }
    }
    values
}

fn explain(
    terms: &AggregationTerms,
    honest: &[MemberId],
    residues: &BTreeMap<MemberId, Vec<u64>>,
    play: &Play,
) {
    let dimension = terms.dimension();
    let mut masks = true_masks(terms, honest, play);
    for &member in honest {
        assert_eq!(residue_of(&input(member, dimension), member, &masks), residues[&member]);
    }
    // Other inputs, the same sum.
    let mut others: BTreeMap<MemberId, Vec<u64>> = honest
        .iter()
        .map(|&member| {
            (
                member,
                (0..u64::from(dimension))
                    .map(|j| {
                        (u64::from(member) + 3).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(j)
                    })
                    .collect(),
            )
        })
        .collect();
    let mut surplus = vec![0_u64; dimension as usize];
    for &member in honest {
        for ((surplus, other), own) in
            surplus.iter_mut().zip(&others[&member]).zip(input(member, dimension))
        {
            *surplus = surplus.wrapping_add(*other).wrapping_sub(own);
        }
    }
    let last = *honest.last().unwrap();
    others
        .get_mut(&last)
        .unwrap()
        .iter_mut()
        .zip(&surplus)
        .for_each(|(x, s)| *x = x.wrapping_sub(*s));
    // Along the path honest[0] – honest[1] – … each mask takes up what the members before it have
    // too little or too much.
    let mut carried = vec![0_u64; dimension as usize];
    for pair in honest.windows(2) {
        for ((carried, other), own) in
            carried.iter_mut().zip(&others[&pair[0]]).zip(input(pair[0], dimension))
        {
            *carried = carried.wrapping_add(own).wrapping_sub(*other);
        }
        let mask = masks.get_mut(&(pair[0], pair[1])).unwrap();
        mask.iter_mut()
            .zip(&carried)
            .for_each(|(mask, carried)| *mask = mask.wrapping_add(*carried));
    }
    for member in honest {
        assert_eq!(
            residue_of(&others[member], *member, &masks),
            residues[member],
            "the same transcript"
        );
    }
    if honest.len() > 1 {
        assert_ne!(others[&honest[0]], input(honest[0], dimension), "from other inputs");
    }
}

/// With everything the coalition knows taken off, what is left of two honest members looks uniform,
/// each by itself: χ² over byte values of 2·2000 words, false alarm 1e-6; and so does the masked
/// vector itself.
#[test]
fn residues_are_uniform() {
    let terms = AggregationTerms::complete([9; 32], 0, 5, 4, 2000).unwrap();
    let corrupt = BTreeSet::from([1, 2, 4]);
    let (known, play) = observe(&terms, &corrupt, |_| STAYS);
    let found = residues(&terms, &corrupt, &known, &play);
    assert_eq!(found.len(), 2);
    for values in found.values().chain(known.masked.values()) {
        let mut counts = [0_u64; 256];
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .for_each(|byte| counts[usize::from(byte)] += 1);
        let p = chi_squared(&counts, &[1.0 / 256.0; 256]);
        assert!(p > 1e-6, "{p}");
    }
    // Together they give their sum and nothing is hidden in that.
    let sum: Vec<u64> = found[&0].iter().zip(&found[&3]).map(|(a, b)| a.wrapping_add(*b)).collect();
    let plain: Vec<u64> =
        input(0, 2000).iter().zip(input(3, 2000)).map(|(a, b)| a.wrapping_add(b)).collect();
    assert_eq!(sum, plain);
}

/// The tests above have teeth: at the quorum the coalition opens an honest key, and the vector with
/// it.
#[test]
fn a_coalition_at_the_quorum_opens_a_vector() {
    let terms = AggregationTerms::complete([9; 32], 0, 5, 3, 4).unwrap();
    let corrupt = BTreeSet::from([1, 2, 4]);
    let (known, play) = observe(&terms, &corrupt, |_| STAYS);
    assert_eq!(residues(&terms, &corrupt, &known, &play)[&0], input(0, 4));
}

/// Whatever is lost and whoever leaves, no run gives back both shares of one owner to one asker:
/// over all messages, each member answers about each owner once.
#[test]
fn never_both_shares_of_one_owner() {
    let terms = AggregationTerms::complete([8; 32], 2, 4, 3, 1).unwrap();
    for code in 0..5_u32.pow(4) {
        let leaves = |member: MemberId| (code / 5_u32.pow(member) % 5) as Leaves;
        let (_, play) = observe(&terms, &BTreeSet::new(), leaves);
        let mut given = BTreeSet::new();
        for (member, _, bytes) in play.transcript.iter().filter(|(_, up, _)| *up) {
            if let Body::Unmask { seeds, keys } =
                Message::decode(&terms, *member, bytes).unwrap().body
            {
                for (owner, _) in seeds.iter().chain(&keys) {
                    assert!(given.insert((*member, *owner)), "{member} gave two shares of {owner}");
                }
            }
        }
    }
}

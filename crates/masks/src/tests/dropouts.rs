//! Whoever leaves whenever: the right sum or an abort by name.

use super::{Leaves, Play, STAYS, input, plain_sum};
use crate::wire::BodyKind;
use crate::{Abort, AggregationTerms, MemberId, Sum};
use proptest::prelude::*;

/// On a complete graph: those who stay past phase p must be at least the threshold, in every phase.
fn expected(terms: &AggregationTerms, leaves: &[Leaves]) -> Result<Sum, Abort> {
    for (phase, awaited) in [
        (0, BodyKind::Advertise),
        (1, BodyKind::Shares),
        (2, BodyKind::Masked),
        (3, BodyKind::Unmask),
    ] {
        let found = leaves.iter().filter(|&&left| left > phase).count() as u32;
        if found < terms.threshold() {
            return Err(Abort::TooFew { awaited, found, threshold: terms.threshold() });
        }
    }
    let members: Vec<MemberId> =
        (0..).zip(leaves).filter(|(_, left)| **left > 2).map(|(member, _)| member).collect();
    Ok(Sum { values: plain_sum(terms, &members), members })
}

fn every_pattern(members: u32, threshold: u32) {
    let terms = AggregationTerms::complete([3; 32], 1, members, threshold, 3).unwrap();
    for code in 0..5_u32.pow(members) {
        let leaves: Vec<Leaves> =
            (0..members).map(|member| (code / 5_u32.pow(member) % 5) as Leaves).collect();
        let found = Play::new(&terms).run(|member| leaves[member as usize]);
        assert_eq!(found, expected(&terms, &leaves), "{leaves:?}");
    }
}

#[test]
fn every_pattern_of_four_members() {
    every_pattern(4, 3);
    every_pattern(4, 4);
}

#[test]
fn every_pattern_of_five_members() {
    every_pattern(5, 3);
}

#[test]
fn sums_wrap_around() {
    let terms = AggregationTerms::complete([3; 32], 1, 3, 2, 2).unwrap();
    let mut play = Play::with_inputs(&terms, |member| vec![u64::MAX - u64::from(member), 5]);
    let sum = play.run(|_| STAYS).unwrap();
    assert_eq!(sum.values, [0_u64.wrapping_sub(6), 15]);
}

/// Three of sixty away in each phase.
#[test]
fn sixty_members() {
    let terms = AggregationTerms::complete([3; 32], 1, 60, 40, 5).unwrap();
    let found = Play::new(&terms)
        .run(|member| if member % 20 < 4 { (member % 20) as Leaves } else { STAYS });
    let members: Vec<MemberId> = (0..60).filter(|member| member % 20 >= 3).collect();
    assert_eq!(found.unwrap(), Sum { values: plain_sum(&terms, &members), members });
}

#[test]
fn a_sparse_graph_gives_the_same_sum() {
    let terms = AggregationTerms::sparse([3; 32], 1, 80, 50, 4, 16, 9).unwrap();
    let leaves = |member: MemberId| {
        if member.is_multiple_of(9) { (member / 9 % 4) as Leaves } else { STAYS }
    };
    let members: Vec<MemberId> = (0..80).filter(|&member| leaves(member) > 2).collect();
    assert_eq!(
        Play::new(&terms).run(leaves).unwrap(),
        Sum { values: plain_sum(&terms, &members), members }
    );
}

/// A whole neighbourhood leaves: the members in its middle cannot be opened, and the round says so.
#[test]
fn a_sparse_neighbourhood_that_leaves_locks_the_round() {
    let terms = AggregationTerms::sparse([3; 32], 1, 40, 21, 4, 4, 3).unwrap();
    let gone = terms.holders(7);
    let found = Play::new(&terms).run(|member| if gone[..3].contains(&member) { 3 } else { STAYS });
    let Err(Abort::Locked { found, quorum: 3, .. }) = found else { panic!("{found:?}") };
    assert!(found < 3);
}

/// A vector that comes after its phase was closed is not added, and its sender's seed is never
/// asked for.
#[test]
fn a_late_vector_stays_out() {
    let terms = AggregationTerms::complete([3; 32], 1, 4, 3, 2).unwrap();
    let mut play = Play::new(&terms);
    let said = play.phase(play.advertisements());
    let said = {
        let answers = play.deliver(said);
        play.phase(answers)
    };
    let mut masked = play.deliver(said);
    let late = masked.remove(1);
    let said = play.phase(masked);
    assert_eq!(
        play.collector.on_message(late.0, &late.1),
        Err(crate::MaskRejected::Late(BodyKind::Masked))
    );
    let answers = play.deliver(said);
    assert_eq!(answers.len(), 3);
    for (_, bytes) in &answers {
        let (message, _) = postcard::take_from_bytes::<crate::Message>(&bytes[17..]).unwrap();
        let crate::Body::Unmask { seeds, keys } = message.body else { panic!("an unmasking") };
        assert!(seeds.iter().all(|(owner, _)| *owner != 1) && keys.len() == 1 && keys[0].0 == 1);
    }
    play.phase(answers);
    let sum = play.collector.outcome().unwrap().unwrap();
    assert_eq!(
        (sum.members.clone(), sum.values.clone()),
        (vec![0, 2, 3], plain_sum(&terms, &[0, 2, 3]))
    );
    assert_eq!(input(1, 2), [2000, 2001]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Random sizes, graphs and departures: a sum is never wrong.
    #[test]
    fn a_sum_is_right_or_there_is_none(
        members in 6_u32..30, wide in any::<bool>(), extra in 0_u32..5, dimension in 1_u32..70,
        departures in proptest::collection::vec(0_u8..12, 30), run in any::<[u8; 32]>(), round in any::<u64>(),
    ) {
        let threshold = (members / 2 + 1 + extra).min(members);
        let terms = if wide {
            AggregationTerms::complete(run, round, members, threshold, dimension).unwrap()
        } else {
            AggregationTerms::sparse(run, round, members, threshold, dimension, 4, 3).unwrap()
        };
        let leaves = |member: MemberId| departures[member as usize].min(STAYS);
        match Play::new(&terms).run(leaves) {
            Ok(sum) => {
                prop_assert!(sum.members.len() as u32 >= threshold);
                prop_assert_eq!(sum.values, plain_sum(&terms, &sum.members));
            }
            Err(abort) => prop_assert!(matches!(abort, Abort::TooFew { .. } | Abort::Locked { .. }), "{}", abort),
        }
    }
}

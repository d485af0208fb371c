//! What is refused is refused by name and changes nothing: after every refusal the round goes on to
//! the right sum.

use super::{Play, STAYS, plain_sum};
use crate::wire::{Body, BodyKind, LinkEnd, Message, Outgoing};
use crate::{AggregationTerms, MaskRejected, Member, MemberId};
use proptest::prelude::*;

fn terms() -> AggregationTerms {
    AggregationTerms::complete([3; 32], 7, 4, 3, 2).unwrap()
}

/// Plays a round; before each message is delivered, `tamper` may try to make the recipient take
/// something else.
fn play_with(
    terms: &AggregationTerms,
    mut to_collector: impl FnMut(&mut Play, MemberId, &[u8]),
    mut to_member: impl FnMut(&mut Play, MemberId, &[u8]),
) {
    let mut play = Play::new(terms);
    let mut answers = play.advertisements();
    while play.collector.outcome().is_none() {
        let mut said: Vec<Outgoing> = Vec::new();
        for (from, bytes) in std::mem::take(&mut answers) {
            to_collector(&mut play, from, &bytes);
            said.extend(play.collector.on_message(from, &bytes).unwrap());
        }
        for outgoing in said {
            let LinkEnd::Member(id) = outgoing.to else { panic!("a collector speaks to members") };
            to_member(&mut play, id, &outgoing.bytes);
            let answer = play.members[id as usize].on_message(&outgoing.bytes).unwrap();
            answers.extend(answer.into_iter().map(|answer| (id, answer.bytes)));
        }
    }
    let sum = play.collector.outcome().unwrap().unwrap();
    assert_eq!(sum.values, plain_sum(terms, &(0..terms.members()).collect::<Vec<_>>()));
}

fn altered(
    terms: &AggregationTerms,
    member: MemberId,
    bytes: &[u8],
    change: impl Fn(&mut Message),
) -> Vec<u8> {
    let mut message = Message::decode(terms, member, bytes).unwrap();
    change(&mut message);
    message.encode()
}

/// Every single-byte change, of every message, at both ends.
#[test]
fn damage_is_noticed_wherever_it_is() {
    let terms = terms();
    let damaged = |bytes: &[u8], place: usize| {
        let mut damaged = bytes.to_vec();
        damaged[place] ^= 1 << (place % 8);
        damaged
    };
    let named = |place: usize, refused: MaskRejected| match place {
        0 => assert!(matches!(refused, MaskRejected::Version { .. }), "{refused}"),
        _ => assert_eq!(refused, MaskRejected::Corrupted),
    };
    play_with(
        &terms,
        |play, from, bytes| {
            for place in 0..bytes.len() {
                named(place, play.collector.on_message(from, &damaged(bytes, place)).unwrap_err());
            }
            for length in 0..bytes.len() {
                assert!(play.collector.on_message(from, &bytes[..length]).is_err());
            }
        },
        |play, to, bytes| {
            for place in 0..bytes.len() {
                named(
                    place,
                    play.members[to as usize].on_message(&damaged(bytes, place)).unwrap_err(),
                );
            }
        },
    );
}

#[test]
fn other_runs_rounds_and_members_are_refused() {
    let terms = terms();
    let cases = |member: MemberId, bytes: &[u8]| {
        [
            (altered(&terms, member, bytes, |m| m.run[0] ^= 1), MaskRejected::WrongRun),
            (
                altered(&terms, member, bytes, |m| m.round = 6),
                MaskRejected::WrongRound { given: 6, expected: 7 },
            ),
            (
                altered(&terms, member, bytes, |m| m.member = (member + 1) % 4),
                MaskRejected::Misdirected { named: (member + 1) % 4, expected: member },
            ),
        ]
    };
    play_with(
        &terms,
        |play, from, bytes| {
            for (bytes, name) in cases(from, bytes) {
                assert_eq!(play.collector.on_message(from, &bytes), Err(name));
            }
            assert_eq!(play.collector.on_message(9, bytes), Err(MaskRejected::NotAMember(9)));
        },
        |play, to, bytes| {
            for (bytes, name) in cases(to, bytes) {
                assert_eq!(play.members[to as usize].on_message(&bytes), Err(name));
            }
        },
    );
}

/// All that was ever said, said again, to everybody, before every message.
#[test]
fn replays_change_nothing() {
    let terms = terms();
    let past = std::cell::RefCell::new(Vec::<(MemberId, Vec<u8>)>::new());
    let again = |play: &mut Play| {
        for (member, bytes) in past.borrow().iter() {
            let at_collector = play.collector.on_message(*member, bytes).unwrap_err();
            assert!(
                matches!(
                    at_collector,
                    MaskRejected::Duplicate(_) | MaskRejected::Late(_) | MaskRejected::Malformed(_)
                ),
                "{at_collector}"
            );
            let at_member = play.members[*member as usize].on_message(bytes).unwrap_err();
            assert!(
                matches!(at_member, MaskRejected::Duplicate(_) | MaskRejected::Malformed(_)),
                "{at_member}"
            );
        }
    };
    let keep = |member: MemberId, bytes: &[u8]| past.borrow_mut().push((member, bytes.to_vec()));
    // What has just been prepared is not replayed before it was delivered once: the closures run
    // before delivery, so one message is kept back.
    let waiting = std::cell::RefCell::new(None::<(MemberId, Vec<u8>)>);
    let turn = |play: &mut Play, member: MemberId, bytes: &[u8]| {
        if let Some((member, bytes)) = waiting.borrow_mut().replace((member, bytes.to_vec())) {
            keep(member, &bytes);
        }
        again(play);
    };
    play_with(&terms, turn, turn);
    assert_eq!(past.borrow().len(), 4 * 7 - 1);
}

#[test]
fn messages_out_of_their_phase_are_refused_by_name() {
    let terms = terms();
    let mut whole = Play::new(&terms);
    whole.run(|_| STAYS).unwrap();
    let said = |to_collector: bool, kind: BodyKind| {
        whole
            .transcript
            .iter()
            .find(|(member, up, bytes)| {
                *member == 0
                    && *up == to_collector
                    && Message::decode(&terms, 0, bytes).unwrap().body.kind() == kind
            })
            .unwrap()
            .2
            .clone()
    };
    let mut play = Play::new(&terms);
    let collector = &mut play.collector;
    for kind in [BodyKind::Shares, BodyKind::Masked, BodyKind::Unmask] {
        assert_eq!(collector.on_message(0, &said(true, kind)), Err(MaskRejected::Early(kind)));
    }
    let member = &mut play.members[0];
    for kind in [BodyKind::Deliveries, BodyKind::Survivors] {
        assert_eq!(member.on_message(&said(false, kind)), Err(MaskRejected::Early(kind)));
    }
    assert!(matches!(
        member.on_message(&said(true, BodyKind::Masked)),
        Err(MaskRejected::Malformed(_))
    ));
    assert!(matches!(
        collector.on_message(0, &said(false, BodyKind::Directory)),
        Err(MaskRejected::Malformed(_))
    ));
    assert!(play.run(|_| STAYS).is_ok());
    assert_eq!(
        play.collector.on_message(0, &said(true, BodyKind::Unmask)),
        Err(MaskRejected::Ended)
    );
    assert_eq!(
        play.members[0].on_message(&said(false, BodyKind::Survivors)),
        Err(MaskRejected::Duplicate(BodyKind::Survivors))
    );
}

/// A member that missed a phase is out, even if it comes back.
#[test]
fn whoever_was_away_stays_out() {
    let terms = terms();
    let mut play = Play::new(&terms);
    let mut answers = play.advertisements();
    answers.remove(2);
    let said = play.phase(answers);
    let shares = play.deliver(said);
    // Somebody else's shares under its own name: it never got a directory.
    let forged = altered(&terms, shares[0].0, &shares[0].1, |message| message.member = 2);
    assert_eq!(play.collector.on_message(2, &forged), Err(MaskRejected::Away(2)));
}

/// Lists that no honest party sends.
#[test]
fn lists_that_contradict_the_terms_are_refused() {
    let terms = terms();
    play_with(
        &terms,
        |play, from, bytes| {
            let refused = |play: &mut Play, change: &dyn Fn(&mut Body)| {
                let bytes = altered(&terms, from, bytes, |message| change(&mut message.body));
                let found = play.collector.on_message(from, &bytes);
                assert!(matches!(found, Err(MaskRejected::Malformed(_))), "{found:?}");
            };
            match Message::decode(&terms, from, bytes).unwrap().body {
                Body::Shares { .. } => {
                    refused(play, &|body| {
                        if let Body::Shares { sealed, .. } = body {
                            sealed.clear()
                        }
                    });
                    refused(play, &|body| {
                        if let Body::Shares { sealed, .. } = body {
                            sealed.swap(0, 1)
                        }
                    });
                    refused(play, &|body| {
                        if let Body::Shares { sealed, .. } = body {
                            sealed[0].0 = from
                        }
                    });
                }
                Body::Masked(_) => {
                    refused(play, &|body| {
                        if let Body::Masked(bytes) = body {
                            bytes.truncate(8)
                        }
                    });
                    refused(play, &|body| {
                        if let Body::Masked(bytes) = body {
                            bytes.push(0)
                        }
                    });
                }
                Body::Unmask { .. } => {
                    refused(play, &|body| {
                        if let Body::Unmask { seeds, .. } = body {
                            seeds.truncate(1)
                        }
                    });
                    refused(play, &|body| {
                        if let Body::Unmask { seeds, keys } = body {
                            keys.push(seeds[0]);
                        }
                    });
                }
                _ => {}
            }
        },
        |play, to, bytes| {
            let refused = |play: &mut Play, change: &dyn Fn(&mut Body)| {
                let bytes = altered(&terms, to, bytes, |message| change(&mut message.body));
                play.members[to as usize].on_message(&bytes).unwrap_err()
            };
            match Message::decode(&terms, to, bytes).unwrap().body {
                Body::Directory(_) => {
                    let weak = refused(play, &|body| {
                        if let Body::Directory(keys) = body {
                            keys[0].1.channel = [0; 32]
                        }
                    });
                    assert!(matches!(weak, MaskRejected::WeakKey(_)), "{weak}");
                    let few = refused(play, &|body| {
                        if let Body::Directory(keys) = body {
                            keys.truncate(1)
                        }
                    });
                    assert_eq!(few, MaskRejected::BelowQuorum { found: 2, quorum: 3 });
                    let order = refused(play, &|body| {
                        if let Body::Directory(keys) = body {
                            keys.swap(0, 1)
                        }
                    });
                    assert!(matches!(order, MaskRejected::Malformed(_)), "{order}");
                    let own = refused(play, &|body| {
                        if let Body::Directory(keys) = body {
                            keys[2].0 = 9
                        }
                    });
                    assert!(matches!(own, MaskRejected::Malformed(_)), "{own}");
                }
                Body::Deliveries(_) => {
                    let damaged = refused(play, &|body| {
                        if let Body::Deliveries(sealed) = body {
                            sealed[1].1.key[0] ^= 1
                        }
                    });
                    assert!(matches!(damaged, MaskRejected::Unsealed(_)), "{damaged}");
                    let few = refused(play, &|body| {
                        if let Body::Deliveries(sealed) = body {
                            sealed.truncate(1)
                        }
                    });
                    assert_eq!(few, MaskRejected::BelowQuorum { found: 2, quorum: 3 });
                }
                Body::Survivors { .. } => {
                    let few = refused(play, &|body| {
                        if let Body::Survivors { count, .. } = body {
                            *count = 2
                        }
                    });
                    assert_eq!(few, MaskRejected::BelowThreshold { found: 2, threshold: 3 });
                    let without = refused(play, &|body| {
                        if let Body::Survivors { holders, .. } = body {
                            holders.retain(|other| *other != to)
                        }
                    });
                    assert!(matches!(without, MaskRejected::Malformed(_)), "{without}");
                    let few = refused(play, &|body| {
                        if let Body::Survivors { holders, .. } = body {
                            *holders = vec![to]
                        }
                    });
                    assert_eq!(few, MaskRejected::BelowQuorum { found: 1, quorum: 3 });
                }
                _ => {}
            }
        },
    );
}

/// Asked twice, with other lists of survivors, a member answers once: no owner's seed and key are
/// both given back.
#[test]
fn a_second_list_of_survivors_gets_no_answer() {
    let terms = terms();
    let mut play = Play::new(&terms);
    let said = play.phase(play.advertisements());
    let answers = play.deliver(said);
    let said = play.phase(answers);
    let answers = play.deliver(said);
    let said = play.phase(answers);
    let honest = said[0].bytes.clone();
    let other = altered(&terms, 0, &honest, |message| {
        message.body = Body::Survivors { count: 3, holders: vec![0, 1, 2] };
    });
    let first = play.members[0].on_message(&other).unwrap();
    let Body::Unmask { seeds, keys } = Message::decode(&terms, 0, &first[0].bytes).unwrap().body
    else {
        panic!()
    };
    let named =
        |list: &[(MemberId, [u8; 32])]| list.iter().map(|(owner, _)| *owner).collect::<Vec<_>>();
    assert_eq!((named(&seeds), named(&keys)), (vec![0, 1, 2], vec![3]));
    assert_eq!(
        play.members[0].on_message(&honest),
        Err(MaskRejected::Duplicate(BodyKind::Survivors))
    );
    assert!(play.members[0].is_done());
}

/// Three of four are enough for the terms, and not for a member that sums everybody or nobody; and no
/// two members have one key.
#[test]
fn a_member_of_all_answers_no_list_that_leaves_somebody_out() {
    let terms = terms();
    let mut refusals = 0;
    play_with(
        &terms,
        |_, _, _| (),
        |play, to, bytes| {
            let members = std::mem::take(&mut play.members);
            play.members = members.into_iter().map(Member::of_all).collect();
            let mut refused = |change: &dyn Fn(&mut Body)| {
                let bytes = altered(&terms, to, bytes, |message| change(&mut message.body));
                refusals += 1;
                play.members[to as usize].on_message(&bytes).unwrap_err()
            };
            let found = refused(&|body| match body {
                Body::Directory(keys) => drop(keys.pop()),
                Body::Deliveries(sealed) => drop(sealed.pop()),
                Body::Survivors { count, holders } => {
                    let other = *holders.iter().rfind(|other| **other != to).unwrap();
                    holders.retain(|member| *member != other);
                    *count -= 1;
                }
                other => panic!("{other:?}"),
            });
            assert_eq!(found, MaskRejected::NotEverybody { found: 3, members: 4 });
            if let Body::Directory(_) = Message::decode(&terms, to, bytes).unwrap().body {
                let equal = refused(&|body| {
                    if let Body::Directory(keys) = body {
                        keys[1].1.mask = keys[0].1.mask;
                    }
                });
                assert!(matches!(equal, MaskRejected::EqualKeys(_)), "{equal}");
            }
        },
    );
    assert_eq!(refusals, 4 * 4);
}

#[test]
fn a_message_that_is_too_long_is_not_even_parsed() {
    let terms = terms();
    let limit = terms.longest_message();
    let mut play = Play::new(&terms);
    let long = vec![1; limit + 1];
    assert_eq!(
        play.collector.on_message(0, &long),
        Err(MaskRejected::TooLong { given: limit + 1, limit })
    );
    assert_eq!(
        play.members[0].on_message(&long),
        Err(MaskRejected::TooLong { given: limit + 1, limit })
    );
}

/// The bound is above what honest parties send, at the largest numbers too.
#[test]
fn honest_messages_are_within_the_bound() {
    for terms in [
        terms(),
        AggregationTerms::complete([255; 32], u64::MAX, 2, 2, 1).unwrap(),
        AggregationTerms::sparse([1; 32], u64::MAX, 300, 200, 1, 20, 11).unwrap(),
    ] {
        let mut play = Play::new(&terms);
        play.run(|member| if member == 1 && terms.members() > 2 { 2 } else { STAYS }).unwrap();
        let longest = play.transcript.iter().map(|(_, _, bytes)| bytes.len()).max().unwrap();
        assert!(longest <= terms.longest_message(), "{longest} {}", terms.longest_message());
    }
}

proptest! {
    /// Any bytes: refused, no panic, and the round is as it was.
    #[test]
    fn noise_on_the_line_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), from in 0_u32..6) {
        let terms = terms();
        let mut play = Play::new(&terms);
        prop_assert!(play.collector.on_message(from, &bytes).is_err());
        prop_assert!(play.members[0].on_message(&bytes).is_err());
        prop_assert_eq!(play.collector.awaits(), Some((BodyKind::Advertise, vec![0, 1, 2, 3])));
    }

    /// Damage under a repaired digest, in every phase and at both ends: no panic, and what is
    /// refused changes nothing. What is taken (a masked vector with other bits, say) is then an
    /// honest-looking message, and the round ends in a sum or an abort.
    #[test]
    fn forged_messages_never_panic(
        phase in 0_u8..4, up in any::<bool>(), place in any::<proptest::sample::Index>(), flip in 1_u8.., cut in 0_usize..3,
    ) {
        let terms = terms();
        let mut play = Play::new(&terms);
        let mut answers = play.advertisements();
        for at in 0..4 {
            if at == phase && up {
                let forged = forge(&answers[1].1, place, flip, cut);
                if play.collector.on_message(1, &forged).is_ok() {
                    answers.remove(1);
                }
            }
            let mut said = play.phase(std::mem::take(&mut answers));
            if at == phase && !up && !said.is_empty() {
                let forged = forge(&said[1].bytes, place, flip, cut);
                if let Ok(answer) = play.members[1].on_message(&forged) {
                    said.remove(1);
                    prop_assert_eq!(answer.len(), 1);
                }
            }
            answers = play.deliver(said);
        }
        match play.collector.outcome().unwrap() {
            Ok(sum) => prop_assert!(sum.members.len() >= 3),
            Err(abort) => prop_assert!(!abort.to_string().is_empty()),
        }
    }
}

/// The message with one byte of its payload changed and its end cut off, under a digest that fits.
fn forge(bytes: &[u8], place: proptest::sample::Index, flip: u8, cut: usize) -> Vec<u8> {
    let mut payload = bytes[17..bytes.len() - cut].to_vec();
    let place = place.index(payload.len());
    payload[place] ^= flip;
    crate::wire::framed(&payload)
}

/// A round up to the members' last answers, with one message of a member changed on its way.
fn played(
    terms: &AggregationTerms,
    (phase, member): (usize, MemberId),
    change: impl Fn(&mut Body),
) -> (Play, Result<crate::Sum, crate::Abort>) {
    let mut play = Play::new(terms);
    let mut answers = play.advertisements();
    for now in 0..4 {
        if now == phase {
            let (_, bytes) = answers.iter_mut().find(|(id, _)| *id == member).unwrap();
            let mut message = Message::decode(terms, member, bytes).unwrap();
            change(&mut message.body);
            *bytes = message.encode();
        }
        let said = play.phase(std::mem::take(&mut answers));
        answers = play.deliver(said);
    }
    let outcome = play.collector.outcome().unwrap().cloned().map_err(Clone::clone);
    (play, outcome)
}

/// Whoever gives back false shares, its own among them, is named, and the others' shares open the sum.
#[test]
fn a_false_share_is_blamed_on_who_gave_it_and_the_sum_is_opened() {
    let terms = AggregationTerms::complete([3; 32], 0, 5, 4, 3).unwrap();
    let lie = |body: &mut Body| {
        let Body::Unmask { seeds, .. } = body else { panic!("{body:?}") };
        seeds.iter_mut().for_each(|(_, share)| share[7] ^= 1);
    };
    let (play, sum) = played(&terms, (3, 1), lie);
    assert_eq!(sum.unwrap().values, super::plain_sum(&terms, &[0, 1, 2, 3, 4]));
    assert_eq!(play.collector.blamed(), [1]);
    let (play, sum) = played(&terms, (3, 1), |_| ());
    assert!(sum.is_ok() && play.collector.blamed().is_empty());
    // Where everybody is needed it cannot be, and who is to blame is known all the same.
    let terms = AggregationTerms::complete([3; 32], 0, 5, 5, 3).unwrap();
    let (play, sum) = played(&terms, (3, 1), lie);
    assert!(sum.is_err());
    assert_eq!(play.collector.blamed(), [1]);
}

/// A member whose shares do not give the seed that it announced is named itself.
#[test]
fn a_false_sharing_is_blamed_on_its_owner() {
    let terms = AggregationTerms::complete([3; 32], 0, 5, 4, 3).unwrap();
    let (play, sum) = played(&terms, (1, 2), |body| {
        let Body::Shares { seed_tag, .. } = body else { panic!("{body:?}") };
        seed_tag[0] ^= 1;
    });
    assert_eq!(sum.unwrap_err(), crate::Abort::Mismatch { member: 2 });
    assert!(play.collector.blamed().is_empty());
}

/// A key that was shown before is refused when it comes, whoever had it first.
#[test]
fn a_collector_takes_no_key_twice() {
    let terms = AggregationTerms::complete([3; 32], 0, 3, 2, 1).unwrap();
    let mut play = Play::new(&terms);
    let mut said = play.advertisements();
    let first = Message::decode(&terms, 0, &said[0].1).unwrap().body;
    said[1].1 = Message::new(&terms, 1, first).encode();
    play.collector.on_message(0, &said[0].1).unwrap();
    let found = play.collector.on_message(1, &said[1].1).unwrap_err();
    assert_eq!(found, MaskRejected::EqualKeys(1));
}

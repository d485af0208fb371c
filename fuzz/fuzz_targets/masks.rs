//! Any bytes, to both ends of a link, in every phase: refused or taken, no panic, and what is
//! refused changes nothing. The first byte chooses the phase, the second whether the digest is
//! repaired so that the parser is reached.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_masks::{AggregationTerms, BodyKind, Collector, LinkEnd, Member, Message, VERSION};
use sha2::{Digest, Sha256};

fuzz_target!(|data: &[u8]| {
    let Some((&[phase, repair, from], payload)) = data.split_first_chunk::<3>() else { return };
    let Ok(terms) = AggregationTerms::complete([1; 32], 5, 3, 2, 2) else { return };
    let mut bytes = payload.to_vec();
    if repair & 1 == 1 {
        let digest =
            Sha256::new().chain_update(b"reticent-masks/1 frame").chain_update(payload).finalize();
        bytes = [&[VERSION], &digest[..16], payload].concat();
    }
    let mut collector = Collector::new(terms.clone());
    let mut members: Vec<Member> = (0..3)
        .filter_map(|id| Member::new(terms.clone(), id, &[id as u8; 32], vec![1, 2]).ok())
        .collect();
    let mut answers: Vec<_> =
        members.iter().map(|member| (member.id(), member.start().bytes)).collect();
    for at in 0..4 {
        if at == phase % 4 {
            let before = collector.awaits();
            if let Ok(message) = Message::decode(&terms, u32::from(from % 4), &bytes) {
                assert_eq!(
                    Message::decode(&terms, message.member, &message.encode()).as_ref(),
                    Ok(&message)
                );
            }
            if collector.on_message(u32::from(from % 4), &bytes).is_err() {
                assert_eq!(collector.awaits(), before);
            } else {
                return;
            }
            if members[usize::from(from % 3)].on_message(&bytes).is_ok() {
                return;
            }
        }
        let mut said = Vec::new();
        for (id, bytes) in answers.drain(..) {
            said.extend(collector.on_message(id, &bytes).expect("an honest message"));
        }
        for outgoing in said {
            let LinkEnd::Member(id) = outgoing.to else { continue };
            let answer =
                members[id as usize].on_message(&outgoing.bytes).expect("an honest message");
            answers.extend(answer.into_iter().map(|answer| (id, answer.bytes)));
        }
    }
    let sum = collector.outcome().expect("an end").expect("a sum");
    assert_eq!(sum.values, [3, 6]);
    assert_eq!(collector.awaits().map(|(kind, _)| kind), None::<BodyKind>);
});

#[cfg(not(feature = "run"))]
fn main() {}

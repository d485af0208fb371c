//! What makes the same member again after a crash: its key, its vector, and what it has heard.

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use crate::{AggregationTerms, MaskRejected, Member, MemberId};

/// A member as its owner keeps it, where only the owner can read it: it has the vector without masks.
///
/// Only for a member of a sum that was agreed on ([`Member::among`]): it answers one list of each kind,
/// in its first life and in every other, so that the same member again says the same bytes and nothing
/// else.
#[derive(Clone, Serialize, Deserialize)]
pub struct KeptMember {
    id: MemberId,
    company: Vec<MemberId>,
    key: [u8; 32],
    input: Vec<u64>,
    heard: Vec<Vec<u8>>,
}

impl Drop for KeptMember {
    fn drop(&mut self) {
        self.key.zeroize();
        self.input.zeroize();
    }
}

impl KeptMember {
    /// A member that has heard nothing, and the key that it was made with; `None` for one of any sum
    /// that is large enough.
    #[must_use]
    pub fn new(member: &Member, key: &[u8; 32]) -> Option<Self> {
        let (id, company) = (member.id(), member.company()?.to_vec());
        Some(Self { id, company, key: *key, input: member.input().to_vec(), heard: Vec::new() })
    }

    /// How many messages it has answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.heard.len()
    }

    /// It has answered this.
    pub fn hear(&mut self, message: Vec<u8>) {
        self.heard.push(message);
    }

    /// The member, where it was.
    ///
    /// # Errors
    /// If it is of other terms.
    pub fn member(&self, terms: AggregationTerms) -> Result<Member, MaskRejected> {
        let member = Member::new(terms, self.id, &self.key, self.input.clone())?;
        let mut member = member.among(&self.company);
        for message in &self.heard {
            member.on_message(message)?;
        }
        Ok(member)
    }
}

/// Says whose it is and nothing of its secrets.
impl std::fmt::Debug for KeptMember {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeptMember({}, {} heard)", self.id, self.heard.len())
    }
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::{Collector, LinkEnd};

    /// Killed after every message, and made again from what was kept: the bytes of a member that lives.
    #[test]
    fn a_member_that_is_made_again_says_the_same_bytes() {
        let terms = AggregationTerms::complete([3; 32], 1, 3, 2, 2).unwrap();
        let make = |id: u32, key: &[u8; 32]| {
            Member::new(terms.clone(), id, key, vec![u64::from(id), 9]).unwrap().of_all()
        };
        assert!(
            KeptMember::new(
                &Member::new(terms.clone(), 0, &[1; 32], vec![0, 0]).unwrap(),
                &[1; 32]
            )
            .is_none()
        );
        let keys = [[1; 32], [2; 32], [3; 32]];
        let mut members: Vec<Member> = (0..3).map(|id| make(id, &keys[id as usize])).collect();
        let mut kept: Vec<KeptMember> = members
            .iter()
            .zip(&keys)
            .map(|(own, key)| KeptMember::new(own, key).unwrap())
            .collect();
        let mut collector = Collector::new(terms.clone());
        let mut said: Vec<_> = members.iter().map(|own| (own.id(), own.start().bytes)).collect();
        while collector.outcome().is_none() {
            let mut told = Vec::new();
            for (from, bytes) in said.drain(..) {
                told.extend(collector.on_message(from, &bytes).unwrap());
            }
            for out in told {
                let LinkEnd::Member(id) = out.to else { continue };
                let (own, kept) = (&mut members[id as usize], &mut kept[id as usize]);
                let again = kept.member(terms.clone()).unwrap().on_message(&out.bytes).unwrap();
                let first = own.on_message(&out.bytes).unwrap();
                assert_eq!(first[0].bytes, again[0].bytes);
                kept.hear(out.bytes);
                said.extend(first.into_iter().map(|answer| (id, answer.bytes)));
            }
        }
        assert_eq!(collector.outcome().unwrap().unwrap().values, [3, 27]);
        assert_eq!(kept[0].answered(), 3);
        assert!(kept[0].member(terms.clone()).unwrap().is_done());
        assert!(!format!("{:?}", kept[1]).contains("input"));
    }
}

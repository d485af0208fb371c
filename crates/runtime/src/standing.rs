//! Who goes on with a run behind masks when somebody has left for good: the server proposes, and all who
//! stay sign. Nobody takes part in a sum without the signatures of all who are in it.
//!
//! A *slot* is four steps on the wire. It has the sum of a round, or a decision:
//!
//! ```text
//! step 4(s−1)+1   who stays, and the round that is next  ─► signature
//!            +2   everybody's signatures                 ─► taken
//! ```
//!
//! A round that is cut short is done again in another slot, without those who left: the same vectors, under
//! other masks. It must not be opened in both, which would show the vectors of those who left. So a member
//! that has given its shares in a round signs for the next round alone, and a member that has signed answers
//! nothing of the slots before. Proof: proofs/secure-aggregation.md, "Who leaves for good".

use reticent_masks::SumMembers;
use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::rejected::Rejected;

/// The members that continue, from which slot and with which round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Staying {
    /// The slot of the decision.
    pub slot: u32,
    /// The round of the slot after it.
    pub round: u32,
    /// The members that stay, in increasing order.
    pub members: Vec<u32>,
}

impl Staying {
    /// The text that each of them signs.
    pub fn statement(&self, run: &Digest) -> Digest {
        let mut hasher = Hasher::new("reticent who stays");
        hasher.field(run).number(self.slot.into()).number(self.round.into());
        members_digest(&mut hasher, &self.members);
        hasher.finish()
    }
}

/// Adds the members of a sum to the signed text.
pub(crate) fn members_digest(hasher: &mut Hasher, members: &[u32]) {
    hasher.number(members.len() as u64);
    members.iter().for_each(|member| _ = hasher.number(u64::from(*member)));
}

/// The request of the first step of a slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SlotRequest {
    /// The sum of a round.
    Sum(Vec<u8>),
    /// A signature of the members that stay.
    Stay(Staying),
}

/// A member's knowledge of the members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Membership {
    /// The members, in increasing order.
    pub members: Vec<u32>,
    /// A decision that this member has signed and some have not.
    pub signed: Option<Staying>,
    /// The number of slots that were not the first of a round.
    behind: u32,
    /// The last round in which it was a member, and whether it has given its shares.
    last: (u32, bool),
}

fn forged<T>(why: &str) -> Result<T, Rejected> {
    Err(Rejected::Forged(why.to_owned()))
}

impl Membership {
    /// All members.
    pub fn new(members: u32) -> Self {
        Membership { members: (0..members).collect(), signed: None, behind: 0, last: (0, false) }
    }

    /// The round of a slot's sum.
    pub fn round_of(&self, slot: u32) -> Result<u32, Rejected> {
        match (&self.signed, slot.checked_sub(self.behind)) {
            (Some(_), _) => forged("a sum before everybody's signatures of who stays"),
            (None, Some(round)) if round > 0 => Ok(round),
            _ => Err(Rejected::Unexpected),
        }
    }

    /// Records that the member takes part in a round.
    pub fn begin(&mut self, round: u32) {
        self.last = (round, false);
    }

    /// Records that the member gives its shares, which open the sum.
    pub fn opens(&mut self) {
        self.last.1 = true;
    }

    /// Signs the members that stay, if `me` may: fewer than before, as many as the law and this
    /// member require, and no second opening of a round.
    pub fn sign(
        &mut self,
        (slot, me): (u32, u32),
        staying: &Staying,
        (law, least): (&SumMembers, u32),
    ) -> Result<(), Rejected> {
        if !law.has_one_list() {
            return forged("so many may be corrupt that two lists of who stays could be signed");
        }
        let Staying { members, round, .. } = staying;
        let before = self.signed.as_ref().map_or(&self.members, |signed| &signed.members);
        let ordered = members.windows(2).all(|pair| pair[0] < pair[1]);
        let fewer = members.len() < before.len()
            && members.iter().all(|member| before.binary_search(member).is_ok());
        if staying.slot != slot || !ordered || !fewer || members.binary_search(&me).is_err() {
            return forged(
                "a list of who stays that is not of this slot, or not of those who were in",
            );
        }
        let (found, least) = (members.len() as u32, least.max(law.threshold()));
        if found < least {
            let why = format!("a list of {found} who stay, and {least} are needed");
            return Err(Rejected::Forged(why));
        }
        let (last, opened) = self.last;
        if *round != last + 1 && (*round != last || opened || last == 0) {
            return forged("a round that is over for this member, or not the next one");
        }
        self.signed = Some(staying.clone());
        Ok(())
    }

    /// Records that all that stay have signed: they are the members.
    pub fn agree(&mut self) {
        if let Some(Staying { slot, round, members }) = self.signed.take() {
            self.members = members;
            self.behind = (slot + 1).saturating_sub(round);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five members, of which four must stay and one may be corrupt.
    fn five() -> SumMembers {
        SumMembers::choose(5, 5, 0.8).unwrap()
    }

    fn staying(slot: u32, round: u32, members: &[u32]) -> Staying {
        Staying { slot, round, members: members.to_vec() }
    }

    #[test]
    fn a_round_is_done_again_only_where_it_was_not_opened() {
        let mut own = Membership::new(5);
        assert_eq!(own.round_of(3).unwrap(), 3);
        own.begin(3);
        let again = staying(4, 3, &[0, 1, 2, 4]);
        let mut opened = own.clone();
        opened.opens();
        assert!(opened.sign((4, 0), &again, (&five(), 4)).is_err());
        opened.sign((4, 0), &staying(4, 4, &[0, 1, 2, 4]), (&five(), 4)).unwrap();
        own.sign((4, 0), &again, (&five(), 4)).unwrap();
        // Nothing before all have signed.
        assert!(own.round_of(5).is_err());
        own.agree();
        assert_eq!((own.round_of(5).unwrap(), own.round_of(6).unwrap()), (3, 4));
        assert_eq!(own.members, [0, 1, 2, 4]);
    }

    #[test]
    fn lists_of_too_few_of_others_or_of_the_past_are_not_signed() {
        let signs = |staying: &Staying, least: u32| {
            let mut own = Membership::new(5);
            own.begin(3);
            own.sign((4, 0), staying, (&five(), least)).is_ok()
        };
        assert!(signs(&staying(4, 3, &[0, 1, 2, 4]), 1));
        // This member requires all members, or more than the law does.
        assert!(!signs(&staying(4, 3, &[0, 1, 2, 4]), 5));
        for (slot, round, members) in [
            (3, 3, &[0, 1, 2, 4][..]),
            (4, 2, &[0, 1, 2, 4]),
            (4, 5, &[0, 1, 2, 4]),
            (4, 3, &[0, 1, 2, 3, 4]),
            (4, 3, &[1, 2, 3, 4]),
            (4, 3, &[0, 1, 2]),
            (4, 3, &[0, 1, 2, 5]),
            (4, 3, &[0, 2, 1, 4]),
            (4, 3, &[0, 1, 1, 4]),
        ] {
            assert!(!signs(&staying(slot, round, members), 1), "{slot} {round} {members:?}");
        }
        // No member comes back, and three quarters stay.
        let mut own = Membership::new(10);
        let ten = SumMembers::choose(10, 10, 0.8).unwrap();
        own.sign((1, 0), &staying(1, 1, &[0, 1, 2, 3, 4, 5, 6, 7, 8]), (&ten, 1)).unwrap();
        let back = staying(2, 1, &[0, 1, 2, 3, 4, 5, 6, 9]);
        assert!(own.sign((2, 0), &back, (&ten, 1)).is_err());
        own.sign((2, 0), &staying(2, 1, &[0, 1, 2, 3, 4, 5, 6, 7]), (&ten, 1)).unwrap();
        assert!(own.sign((3, 0), &staying(3, 1, &[0, 1, 2, 3, 4, 5, 6]), (&ten, 1)).is_err());
        // Two lists could be signed if six of ten were corrupt.
        let corrupt = SumMembers::choose(10, 10, 0.4).unwrap();
        let nine = staying(1, 1, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert!(Membership::new(10).sign((1, 0), &nine, (&corrupt, 1)).is_err());
    }

    #[test]
    fn a_signature_is_of_one_run_slot_round_and_list() {
        let one = staying(4, 3, &[0, 1, 2, 4]);
        let said = one.statement(&[1; 32]);
        let others = [
            one.statement(&[2; 32]),
            staying(5, 3, &[0, 1, 2, 4]).statement(&[1; 32]),
            staying(4, 4, &[0, 1, 2, 4]).statement(&[1; 32]),
            staying(4, 3, &[0, 1, 2, 3]).statement(&[1; 32]),
        ];
        assert!(others.iter().all(|other| *other != said));
    }
}

//! Who is in the masked sum of a round: a function of the run's name, which nobody chooses, so that
//! everybody works it out and no server says it.
//!
//! ```text
//! chosen in round k:  all, or m of n by the digest of (run, k − 1)
//! in its sum:         those of them who were chosen at most `cap` times so far; nobody if these are fewer than t
//! ```

use reticent_masks::MemberId;
use reticent_noise::{Digest, EntropyError, Hasher, NoiseKey};
use reticent_oracle::Sampling;
use zeroize::Zeroizing;

use crate::participation::{cap, choose};

/// The largest number of attempts at a run. Parties on a network choose the identifier of the run
/// together, and the last one to reveal its random number may let an attempt fail if it dislikes
/// the identifier. So a party gives its number to this many attempts with one journal, and the
/// probability of a bad draw is counted for all of them. Proof: proofs/noise-distributed.md, 2.
pub const NAME_ATTEMPTS: u32 = 64;

/// The users of a round, in ascending order.
pub(super) fn chosen(
    run: &Digest,
    (sampling, users): (Sampling, u32),
    round: u32,
) -> Result<Vec<u32>, EntropyError> {
    let before = u64::from(round).saturating_sub(1);
    let label = Hasher::new("reticent sample").field(run).number(before).finish();
    // The draw is public, and no noise comes from this key.
    let public = NoiseKey::recall(Zeroizing::new(*run), true);
    choose(sampling, users, &mut public.entropy(&label))
}

/// The members of one sum.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoundMembers {
    /// The users that were chosen; the number of a member is its place among them.
    pub chosen: Vec<u32>,
    /// The places of the members of the sum; none if too few are left for one.
    pub places: Vec<MemberId>,
}

impl RoundMembers {
    /// The members of the sum.
    pub fn users(&self) -> Vec<u32> {
        self.places.iter().filter_map(|&place| self.chosen.get(place as usize).copied()).collect()
    }
}

/// The members of all sums of a run, one after another.
#[derive(Clone, Debug)]
pub(super) struct MemberDraw {
    run: Digest,
    sampling: Sampling,
    /// The most sums that one user is in, and the fewest members of a sum.
    most: u32,
    fewest: u32,
    /// The number of times that each user was chosen in the rounds before `next`.
    times: Vec<u32>,
    next: u32,
}

impl MemberDraw {
    /// The draw of this many users in this many rounds, with sums of at least `fewest` members.
    pub fn new(run: &Digest, (sampling, users): (Sampling, u32), rounds: u32, fewest: u32) -> Self {
        let (most, times) = (cap(sampling, users, rounds), vec![0; users as usize]);
        MemberDraw { run: *run, sampling, most, fewest, times, next: 1 }
    }

    /// The members of the sum of a round.
    pub fn of(&mut self, round: u32) -> Result<RoundMembers, EntropyError> {
        if round < self.next {
            self.times.fill(0);
            self.next = 1;
        }
        let of = (self.sampling, self.times.len() as u32);
        while self.next < round {
            for user in chosen(&self.run, of, self.next)? {
                self.times[user as usize] += 1;
            }
            self.next += 1;
        }
        let chosen = chosen(&self.run, of, round)?;
        let able = (0..).zip(&chosen).filter(|(_, user)| self.times[**user as usize] < self.most);
        let mut places: Vec<MemberId> = able.map(|(place, _)| place).collect();
        if (places.len() as u32) < self.fewest {
            places.clear();
        }
        Ok(RoundMembers { chosen, places })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_works_out_the_same_members_in_any_order() {
        let wor = (Sampling::WithoutReplacement(4), 9);
        let mut one = MemberDraw::new(&[7; 32], wor, 20, 3);
        let all: Vec<RoundMembers> = (1..=20).map(|round| one.of(round).unwrap()).collect();
        let mut other = MemberDraw::new(&[7; 32], wor, 20, 3);
        for round in [20, 3, 1, 12] {
            assert_eq!(other.of(round).unwrap(), all[round as usize - 1]);
        }
        assert!(all.iter().all(|own| own.chosen.len() == 4));
        assert!(all.windows(2).any(|pair| pair[0].chosen != pair[1].chosen));
        let another = MemberDraw::new(&[8; 32], wor, 20, 3).of(1).unwrap();
        let third = MemberDraw::new(&[9; 32], wor, 20, 3).of(1).unwrap();
        assert!(another.chosen != all[0].chosen || third.chosen != all[0].chosen);
    }

    /// No user is in more sums than its plan has, and no sum has fewer members than the law
    /// requires.
    #[test]
    fn who_was_chosen_too_often_is_left_out_and_a_sum_of_too_few_is_none() {
        let (users, rounds, fewest) = (5, 60, 3);
        for run in 0..20 {
            let wor = (Sampling::WithoutReplacement(3), users);
            let mut draw = MemberDraw::new(&[run; 32], wor, rounds, fewest);
            let mut times = vec![0; users as usize];
            for round in 1..=rounds {
                let members = draw.of(round).unwrap();
                assert!(members.places.is_empty() || members.places.len() as u32 >= fewest);
                members.users().iter().for_each(|user| times[*user as usize] += 1);
            }
            assert!(times.iter().all(|times| *times <= cap(wor.0, users, rounds)), "{times:?}");
        }
        let all = MemberDraw::new(&[1; 32], (Sampling::Full, 3), 4, 2).of(4).unwrap();
        assert_eq!((all.users(), all.places), (vec![0, 1, 2], vec![0, 1, 2]));
    }
}

//! Who is whose neighbour: members in a random order on a circle, each joined to the k/2 next on
//! either side (Bell, Bonawitz, Gascón, Lepoint, Raykova 2020, section 3.2). The order comes from
//! public numbers, and is that of a whole run: neighbours agree on channels once.
//!
//! For m members of which c are corrupt and a are away, chosen without regard to the order, and h =
//! k + 1 holders with quorum t, the graph is good unless one of these happens somewhere on the
//! circle:
//!
//! * *opened*: t or more of an honest member's neighbours are corrupt: ≤ m·P(Hyp(m − 1, c, k) ≥ t);
//! * *split*: the honest that stay fall into two parts, which needs a run of k/2 corrupt or absent
//!   members: ≤ m·((c + a)/m)^(k/2), since each further member of a run is corrupt or absent with
//!   probability at most (c + a)/m;
//! * *stuck*: fewer than t of a neighbourhood stay, and the round is lost: ≤ m·P(Hyp(m, a, h) > h −
//!   t).
//!
//! The first two are failures of privacy, the third is one of utility alone.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use crate::MemberId;
use crate::terms::MOST_HOLDERS;

/// Members in the order of the circle, and the place of each.
#[derive(Debug)]
pub(crate) struct Circle {
    order: Vec<MemberId>,
    place: Vec<u32>,
}

impl Circle {
    /// Sorted by 64 random bits each; two that are equal (once in 2⁶⁴ for a pair) stay in the order
    /// of their numbers.
    pub(crate) fn new(run: &[u8; 32], members: u32) -> Self {
        let seed =
            Sha256::new().chain_update(b"reticent-masks/2 graph").chain_update(run).finalize();
        let mut stream = ChaCha20Rng::from_seed(seed.into());
        let mut drawn: Vec<(u64, MemberId)> =
            (0..members).map(|member| (stream.next_u64(), member)).collect();
        drawn.sort_unstable();
        let order: Vec<MemberId> = drawn.into_iter().map(|(_, member)| member).collect();
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&member, at)| place[member as usize] = at);
        Self { order, place }
    }

    /// The member and its neighbours, in increasing order of their numbers.
    pub(crate) fn around(&self, member: MemberId, degree: u32) -> Vec<MemberId> {
        let members = self.order.len() as u32;
        if degree + 1 == members {
            return (0..members).collect();
        }
        let mut around: Vec<MemberId> = self.near(member, degree).collect();
        around.sort_unstable();
        around
    }

    /// The same in the order of the circle.
    fn near(&self, member: MemberId, degree: u32) -> impl Iterator<Item = MemberId> + '_ {
        let members = self.order.len() as u32;
        let first = self.place[member as usize] + members - degree / 2;
        (first..=first + degree).map(move |at| self.order[(at % members) as usize])
    }

    /// The place of `other` in [`Circle::around`] of a member; `None` where it is not there. A collector
    /// asks it of every share that comes back: the list is not made for it.
    pub(crate) fn rank(&self, member: MemberId, degree: u32, other: MemberId) -> Option<u32> {
        let members = self.order.len() as u32;
        if member >= members || other >= members {
            return None;
        }
        if degree + 1 == members {
            return Some(other);
        }
        let apart = self.place[member as usize].abs_diff(self.place[other as usize]);
        let below = self.near(member, degree).filter(|near| *near < other);
        (apart.min(members - apart) <= degree / 2).then(|| below.count() as u32)
    }
}

/// A number of neighbours and a quorum with proven bounds on what can go wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sparsity {
    /// Neighbours of a member.
    pub degree: u32,
    /// Holders that open a mask.
    pub quorum: u32,
    /// Upper bound on the probability, over the order of the circle, that some mask can be opened
    /// or the honest are split.
    pub privacy_failure: f64,
    /// Upper bound on the probability that the round is lost though no more than the assumed number
    /// are away.
    pub lost_round: f64,
}

/// No graph within the bounds.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "no graph of at most 254 neighbours keeps {members} members safe with {corrupt} corrupt and {away} away: assume \
     fewer, or aggregate in smaller groups"
)]
pub struct SparsityError {
    members: u32,
    corrupt: u32,
    away: u32,
}

impl Sparsity {
    /// The fewest neighbours for which privacy fails with probability at most 2^−`privacy_bits` and
    /// a round is lost with probability at most 2^−`round_bits`, when `corrupt` members collude
    /// with the collector and `away` leave.
    ///
    /// # Errors
    /// When 254 neighbours are not enough.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::Sparsity;
    ///
    /// // 1,000 members, 100 of them corrupt and 100 away: far fewer neighbours than members.
    /// let found = Sparsity::choose(1_000, 100, 100, 40, 20)?;
    /// assert!(found.degree < 100 && found.privacy_failure <= 0.5_f64.powi(40));
    /// # Ok::<(), reticent_masks::SparsityError>(())
    /// ```
    pub fn choose(
        members: u32,
        corrupt: u32,
        away: u32,
        privacy_bits: u32,
        round_bits: u32,
    ) -> Result<Self, SparsityError> {
        let refused = SparsityError { members, corrupt, away };
        let (privacy, lost) = (0.5_f64.powi(privacy_bits as i32), 0.5_f64.powi(round_bits as i32));
        for degree in (2..MOST_HOLDERS.min(members.saturating_sub(1))).step_by(2) {
            for quorum in degree / 2 + 1..=degree + 1 {
                let found = Self::bounds(members, corrupt, away, degree, quorum);
                if found.privacy_failure <= privacy && found.lost_round <= lost {
                    return Ok(found);
                }
            }
        }
        Err(refused)
    }

    /// The bounds at the head of this file for given numbers.
    #[must_use]
    pub fn bounds(members: u32, corrupt: u32, away: u32, degree: u32, quorum: u32) -> Self {
        let (m, holders) = (f64::from(members), degree + 1);
        let opened = m * hypergeometric_tail(members - 1, corrupt, degree, quorum);
        let gone = (corrupt.saturating_add(away)).min(members);
        let split = m * (f64::from(gone) / m).powi((degree / 2) as i32);
        let stuck =
            m * hypergeometric_tail(members, away, holders, (holders + 1).saturating_sub(quorum));
        // A part in 10⁹ is more than all roundings of at most 10³ terms together.
        let up = |p: f64| (p * (1.0 + 1e-9)).min(1.0);
        Self { degree, quorum, privacy_failure: up(opened + split), lost_round: up(stuck) }
    }
}

/// P(at least `least` of `drawn` members, drawn without replacement from `members`, are among
/// `marked`).
pub(crate) fn hypergeometric_tail(members: u32, marked: u32, drawn: u32, least: u32) -> f64 {
    let marked = marked.min(members);
    let first = drawn.saturating_sub(members - marked);
    // pmf(j + 1)/pmf(j) is rational; start from the first possible count in logarithms.
    let mut log_pmf = log_choose(marked, first) + log_choose(members - marked, drawn - first)
        - log_choose(members, drawn);
    let mut tail = 0.0;
    for j in first..=drawn.min(marked) {
        if j >= least {
            tail += log_pmf.exp();
        }
        if j < drawn.min(marked) {
            let up = f64::from(marked - j) * f64::from(drawn - j);
            let below = f64::from(j + 1) * (f64::from(members - marked) - f64::from(drawn - j - 1));
            log_pmf += (up / below).ln();
        }
    }
    tail.min(1.0)
}

fn log_choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| (f64::from(n - i) / f64::from(i + 1)).ln()).sum()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn neighbours_are_mutual_and_as_many_as_asked() {
        for (members, degree) in [(10, 4), (100, 20), (300, 44), (7, 6), (8, 6)] {
            let circle = Circle::new(&[7; 32], members);
            for member in 0..members {
                let around = circle.around(member, degree);
                assert_eq!(around.len() as u32, degree + 1);
                assert!(
                    around.windows(2).all(|pair| pair[0] < pair[1]) && around.contains(&member)
                );
                assert!(around.iter().all(|&other| circle.around(other, degree).contains(&member)));
                for other in 0..=members {
                    let place = around.binary_search(&other).ok().map(|place| place as u32);
                    assert_eq!(circle.rank(member, degree, other), place);
                }
            }
        }
    }

    #[test]
    fn every_run_has_its_own_order() {
        let order = |run| Circle::new(&[run; 32], 50).order;
        assert_ne!(order(0), order(1));
        assert_eq!(order(1), order(1));
    }

    #[test]
    fn the_hypergeometric_tail_by_hand() {
        // 2 of 5 marked, 2 drawn: P(≥ 1) = 7/10, P(≥ 2) = 1/10.
        assert!((hypergeometric_tail(5, 2, 2, 0) - 1.0).abs() < 1e-12);
        assert!((hypergeometric_tail(5, 2, 2, 1) - 0.7).abs() < 1e-12);
        assert!((hypergeometric_tail(5, 2, 2, 2) - 0.1).abs() < 1e-12);
        // More marked than can be avoided.
        assert!((hypergeometric_tail(5, 4, 3, 2) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_chosen_graph_keeps_its_bounds_and_one_step_less_does_not() {
        let found = Sparsity::choose(1000, 100, 100, 40, 20).unwrap();
        assert!(
            found.privacy_failure <= 0.5_f64.powi(40) && found.lost_round <= 0.5_f64.powi(20),
            "{found:?}"
        );
        let less = (found.degree / 2..found.degree)
            .map(|quorum| Sparsity::bounds(1000, 100, 100, found.degree - 2, quorum));
        for bounds in less {
            assert!(
                bounds.privacy_failure > 0.5_f64.powi(40) || bounds.lost_round > 0.5_f64.powi(20)
            );
        }
        assert!(Sparsity::choose(1000, 600, 300, 40, 20).is_err());
    }

    /// The bounds against 4000 circles, on numbers at which things do go wrong: no frequency is
    /// above its bound by more than five of its standard deviations (false alarm below 1e-6).
    #[test]
    fn what_goes_wrong_goes_wrong_less_often_than_bounded() {
        let (members, corrupt, away, degree, quorum) = (40_u32, 12, 8, 8, 5);
        let rounds = 4000;
        let (mut broken, mut stuck) = (0, 0);
        for run in 0..rounds {
            let mut name = [1; 32];
            name[..8].copy_from_slice(&u64::to_le_bytes(run));
            let circle = Circle::new(&name, members);
            let count = |member, marked: std::ops::Range<u32>| {
                circle
                    .around(member, degree)
                    .iter()
                    .filter(|&&other| other != member && marked.contains(&other))
                    .count() as u32
            };
            let honest: Vec<u32> = (corrupt..members - away).collect();
            let opened = (corrupt..members).any(|member| count(member, 0..corrupt) >= quorum);
            let mut reached = vec![honest[0]];
            let mut next = 0;
            while next < reached.len() {
                for other in circle.around(reached[next], degree) {
                    if honest.contains(&other) && !reached.contains(&other) {
                        reached.push(other);
                    }
                }
                next += 1;
            }
            broken += u64::from(opened || reached.len() < honest.len());
            let gone = members - away..members;
            stuck += u64::from((0..members).any(|member| {
                count(member, gone.clone()) + u32::from(gone.contains(&member))
                    > degree + 1 - quorum
            }));
        }
        let bounds = Sparsity::bounds(members, corrupt, away, degree, quorum);
        for (found, bound) in [(broken, bounds.privacy_failure), (stuck, bounds.lost_round)] {
            let frequency = found as f64 / rounds as f64;
            assert!(frequency > 0.0, "a test without an event");
            assert!(
                frequency <= bound + 5.0 * (bound * (1.0 - bound) / rounds as f64).sqrt(),
                "{frequency} {bound}"
            );
        }
    }
}

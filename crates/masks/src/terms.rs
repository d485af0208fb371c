//! What all parties of one aggregation agree on beforehand. All of it is public.

use std::sync::Arc;

use crate::MemberId;
use crate::graph::Circle;

/// Most parties that hold shares of one secret: the non-zero points of GF(2⁸).
pub const MOST_HOLDERS: u32 = 255;

/// Most members, and longest vector: what keeps a message and a collector within memory.
const MOST: u32 = 1 << 20;

/// Terms that no run can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// Too few or too many members.
    #[error("an aggregation needs 2 to {MOST} members, got {0}")]
    Members(u32),
    /// An empty or too long vector.
    #[error("a vector must have 1 to {MOST} entries, got {0}")]
    Dimension(u32),
    /// Fewer than half could make a sum.
    #[error(
        "a threshold of {threshold} of {members} members must be more than half and at most all, so that no two \
         disjoint groups can each open the masks"
    )]
    Threshold {
        /// The value that was given.
        threshold: u32,
        /// The number of members.
        members: u32,
    },
    /// A neighbourhood that the secret sharing or the graph cannot have.
    #[error(
        "each of {members} members cannot have {degree} neighbours: give an even number from 2 to 254 below the \
         number of members, or, up to 255 members, all others"
    )]
    Degree {
        /// The value that was given.
        degree: u32,
        /// The number of members.
        members: u32,
    },
    /// Fewer than half of a neighbourhood could open a mask.
    #[error(
        "a quorum of {quorum} of the {holders} holders of a share must be more than half, at least 2 and at most all"
    )]
    Quorum {
        /// The value that was given.
        quorum: u32,
        /// Parties that hold shares of one secret: the neighbours and the member itself.
        holders: u32,
    },
}

/// The public terms of one aggregation: who, how many must stay, how long the vectors are.
#[derive(Clone, Debug)]
pub struct AggregationTerms {
    run: [u8; 32],
    round: u64,
    members: u32,
    threshold: u32,
    dimension: u32,
    degree: u32,
    quorum: u32,
    circle: Arc<Circle>,
}

impl AggregationTerms {
    /// Everybody is everybody's neighbour: up to 255 members. The sum needs `threshold` of them to
    /// the end, and stays hidden from a collector with fewer than `threshold` accomplices.
    ///
    /// # Errors
    /// [`TermsError`] says which number is out of range.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::AggregationTerms;
    ///
    /// let terms = AggregationTerms::complete([7; 32], 0, 10, 8, 100)?;
    /// assert_eq!((terms.members(), terms.threshold(), terms.degree()), (10, 8, 9));
    /// // More than half must stay, or the collector could open two sums that differ by one member.
    /// assert!(AggregationTerms::complete([7; 32], 0, 10, 5, 100).is_err());
    /// # Ok::<(), reticent_masks::TermsError>(())
    /// ```
    pub fn complete(
        run: [u8; 32],
        round: u64,
        members: u32,
        threshold: u32,
        dimension: u32,
    ) -> Result<Self, TermsError> {
        Self::sparse(
            run,
            round,
            members,
            threshold,
            dimension,
            members.saturating_sub(1),
            threshold,
        )
    }

    /// Each member has `degree` neighbours, chosen by `run`; of a member, its
    /// neighbours and itself, `quorum` can open a mask. [`crate::Sparsity`] chooses both.
    ///
    /// # Errors
    /// [`TermsError`] says which number is out of range.
    pub fn sparse(
        run: [u8; 32],
        round: u64,
        members: u32,
        threshold: u32,
        dimension: u32,
        degree: u32,
        quorum: u32,
    ) -> Result<Self, TermsError> {
        if !(2..=MOST).contains(&members) {
            return Err(TermsError::Members(members));
        }
        if !(1..=MOST).contains(&dimension) {
            return Err(TermsError::Dimension(dimension));
        }
        if threshold > members || 2 * threshold <= members {
            return Err(TermsError::Threshold { threshold, members });
        }
        let complete = degree == members - 1;
        if degree + 1 > MOST_HOLDERS
            || degree >= members
            || !(complete || (degree >= 2 && degree.is_multiple_of(2)))
        {
            return Err(TermsError::Degree { degree, members });
        }
        let holders = degree + 1;
        if quorum > holders || 2 * quorum <= holders || quorum < 2 {
            return Err(TermsError::Quorum { quorum, holders });
        }
        let circle = Arc::new(Circle::new(&run, members));
        Ok(Self { run, round, members, threshold, dimension, degree, quorum, circle })
    }

    /// Names the run; also the public seed of the graph.
    #[must_use]
    pub fn run(&self) -> &[u8; 32] {
        &self.run
    }

    /// Which aggregation of the run.
    #[must_use]
    pub fn round(&self) -> u64 {
        self.round
    }

    /// How many members there are; they are numbered from 0.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.members
    }

    /// How many must stay to the end.
    #[must_use]
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Entries of a vector.
    #[must_use]
    pub fn dimension(&self) -> u32 {
        self.dimension
    }

    /// Neighbours of a member.
    #[must_use]
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// How many of a member's neighbours and itself open its mask; a collector with fewer of them
    /// as accomplices cannot.
    #[must_use]
    pub fn quorum(&self) -> u32 {
        self.quorum
    }

    /// Those who hold shares of the secrets of `member`, itself included, in increasing order.
    #[must_use]
    pub fn holders(&self, member: MemberId) -> Vec<MemberId> {
        self.circle.around(member, self.degree)
    }

    /// The point of GF(2⁸) at which `holder` has its share of the secrets of `owner`.
    pub(crate) fn point(&self, owner: MemberId, holder: MemberId) -> Option<u8> {
        let place = self.circle.rank(owner, self.degree, holder)?;
        u8::try_from(place + 1).ok()
    }

    /// No honest message is longer: every list has at most one entry of at most 128 bytes per
    /// holder.
    #[must_use]
    pub fn longest_message(&self) -> usize {
        192 + 8 * self.dimension as usize + 128 * (self.degree as usize + 1)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn terms_out_of_range_are_refused_by_name() {
        let complete =
            |m, t, d| AggregationTerms::complete([0; 32], 0, m, t, d).map(|_| ()).unwrap_err();
        assert_eq!(complete(1, 1, 1), TermsError::Members(1));
        assert_eq!(complete(5, 3, 0), TermsError::Dimension(0));
        assert_eq!(complete(4, 2, 1), TermsError::Threshold { threshold: 2, members: 4 });
        assert_eq!(complete(4, 5, 1), TermsError::Threshold { threshold: 5, members: 4 });
        assert_eq!(complete(256, 200, 1), TermsError::Degree { degree: 255, members: 256 });
        let sparse =
            |k, t| AggregationTerms::sparse([0; 32], 0, 100, 60, 1, k, t).map(|_| ()).unwrap_err();
        assert_eq!(sparse(7, 5), TermsError::Degree { degree: 7, members: 100 });
        assert_eq!(sparse(0, 1), TermsError::Degree { degree: 0, members: 100 });
        assert_eq!(sparse(8, 4), TermsError::Quorum { quorum: 4, holders: 9 });
        assert_eq!(sparse(8, 10), TermsError::Quorum { quorum: 10, holders: 9 });
        assert!(AggregationTerms::complete([0; 32], 0, 255, 128, 1).is_ok());
    }

    #[test]
    fn messages_of_refusals_say_what_to_do() {
        let error = AggregationTerms::complete([0; 32], 0, 4, 2, 1).map(|_| ()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a threshold of 2 of 4 members must be more than half and at most all, so that no two disjoint groups can \
             each open the masks"
        );
    }
}

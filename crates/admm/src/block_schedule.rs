//! Which blocks of a consensus move in which iteration (FP23, section 5.2).
//!
//! A schedule is public: it is drawn from a generator that anybody can run again, and what the gate
//! proves (see proofs/consensus.md) holds for every schedule. Keeping it secret would buy nothing,
//! because a block that has moved once shows in every later mean, whether it moves again or not
//! (E3). To gain from secret samples, move all blocks and take the mean over a sample: that is
//! `sampling`.

use reticent_oracle::{Entropy, Refusal};

reticent_oracle::words! {
    /// How blocks are chosen.
    #[derive(Default, Eq)]
    pub enum BlockSchedule = "schedule" {
        /// Every block in every iteration.
        #[default]
        All = "all",
        /// One block after the other, in a new random order in each round.
        Permutation = "permutation",
        /// One random block.
        Single = "single",
        /// So many different random blocks.
        Blocks(count: u64 where count >= 1) = "blocks" ":M with M ≥ 1",
    }
}

/// Where in its schedule a run is.
#[derive(Debug)]
pub struct BlockOrder {
    schedule: BlockSchedule,
    coins: Entropy,
    blocks: Vec<u32>,
    /// How far a permutation has come.
    done: usize,
}

impl BlockSchedule {
    /// The first iteration of a run with `population` blocks.
    pub fn order(self, population: u64) -> BlockOrder {
        // Nothing is allocated for a schedule that needs no list.
        let blocks = if self == BlockSchedule::All { 0 } else { population as u32 };
        BlockOrder {
            schedule: self,
            coins: Entropy::seeded(0),
            blocks: (0..blocks).collect(),
            done: 0,
        }
    }

    /// How many of `population` blocks move in an iteration.
    pub fn moving(self, population: u64) -> u64 {
        match self {
            BlockSchedule::All => population,
            BlockSchedule::Permutation | BlockSchedule::Single => 1,
            BlockSchedule::Blocks(count) => count,
        }
    }
}

impl BlockOrder {
    /// The blocks of the next iteration; `None` for all of them.
    pub fn next_blocks(&mut self) -> Result<Option<&[u32]>, Refusal> {
        let count = match self.schedule {
            BlockSchedule::All => return Ok(None),
            BlockSchedule::Permutation => {
                if self.done == 0 {
                    self.shuffle(self.blocks.len())?;
                }
                let now = self.done;
                self.done = (now + 1) % self.blocks.len().max(1);
                return Ok(self.blocks.get(now..=now));
            }
            BlockSchedule::Single => 1,
            BlockSchedule::Blocks(count) => count as usize,
        };
        if count > self.blocks.len() {
            return Err(Refusal::BadQuery(format!(
                "schedule = {}: there are {} blocks, a record or user each; use blocks:M with M of at most that",
                self.schedule,
                self.blocks.len()
            )));
        }
        self.shuffle(count)?;
        Ok(self.blocks.get(..count))
    }

    /// Puts `count` random blocks in front (Fisher and Yates).
    fn shuffle(&mut self, count: usize) -> Result<(), Refusal> {
        for i in 0..count {
            let j = i as u64 + self.coins.below((self.blocks.len() - i) as u64)?;
            self.blocks.swap(i, j as usize);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip_and_others_are_refused() {
        for text in ["all", "permutation", "single", "blocks:7"] {
            assert_eq!(text.parse::<BlockSchedule>().unwrap().to_string(), text);
        }
        for text in ["", "blocks", "blocks:0", "blocks:-1", "single:2", "random"] {
            assert!(text.parse::<BlockSchedule>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_permutation_has_every_block_once_a_round_and_rounds_differ() {
        let mut order = BlockSchedule::Permutation.order(50);
        let mut round =
            || -> Vec<u32> { (0..50).map(|_| order.next_blocks().unwrap().unwrap()[0]).collect() };
        let (first, second) = (round(), round());
        assert_ne!(first, second);
        for mut round in [first, second] {
            round.sort_unstable();
            assert_eq!(round, (0..50).collect::<Vec<_>>());
        }
    }

    #[test]
    fn random_blocks_are_different_and_all_come_up() {
        let mut order = BlockSchedule::Blocks(7).order(20);
        let mut seen = [0; 20];
        for _ in 0..100 {
            let mut blocks = order.next_blocks().unwrap().unwrap().to_vec();
            blocks.iter().for_each(|&b| seen[b as usize] += 1);
            blocks.sort_unstable();
            blocks.dedup();
            assert_eq!(blocks.len(), 7);
        }
        // 35 expected; 10 is five standard deviations away.
        assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
        assert!(BlockSchedule::Blocks(21).order(20).next_blocks().is_err());
        assert_eq!(BlockSchedule::All.order(20).next_blocks().unwrap(), None);
    }
}

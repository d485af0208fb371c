//! Whose a record is, as a number: the place of an id among all ids of a table, in byte order.
//!
//! While a table is read nobody knows who is still to come, so a person is numbered as met; once it
//! is read the numbers are exchanged for places. Those depend on who is in the table and on nothing
//! else: not on the order of rows, files, blocks or threads.

use rayon::slice::ParallelSliceMut;
use std::collections::HashMap;

/// The persons met so far, numbered in the order in which they were met.
#[derive(Debug, Default)]
pub(crate) struct PersonNumbers {
    numbers: HashMap<Vec<u8>, u32>,
}

impl PersonNumbers {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a person, the next one for who was not met before.
    pub(crate) fn number(&mut self, id: &[u8]) -> u32 {
        match self.numbers.get(id) {
            Some(&number) => number,
            None => {
                let next = self.numbers.len() as u32;
                self.numbers.insert(id.to_vec(), next);
                next
            }
        }
    }

    /// The numbers here of those that another has met, by their numbers there.
    pub(crate) fn adopt(&mut self, other: Self) -> Vec<u32> {
        let mut numbers = vec![0; other.len()];
        for (id, there) in other.numbers {
            let next = self.numbers.len() as u32;
            numbers[there as usize] = *self.numbers.entry(id).or_insert(next);
        }
        numbers
    }

    /// The place of each person in byte order of the ids, by number.
    pub(crate) fn places(&self) -> Vec<u32> {
        // The first bytes beside the id: most comparisons need no look at the id itself.
        let front = |id: &[u8]| {
            let mut front = [0; 8];
            front.iter_mut().zip(id).for_each(|(to, &from)| *to = from);
            u64::from_be_bytes(front)
        };
        let all = self.numbers.iter();
        let mut order: Vec<_> = all.map(|(id, &number)| (front(id), id, number)).collect();
        order.par_sort_unstable();
        let mut places = vec![0; order.len()];
        for (place, &(_, _, number)) in order.iter().enumerate() {
            places[number as usize] = place as u32;
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(ids: &[Vec<u8>]) -> Vec<u32> {
        let mut people = PersonNumbers::default();
        let met: Vec<u32> = ids.iter().map(|id| people.number(id)).collect();
        let places = people.places();
        met.into_iter().map(|number| places[number as usize]).collect()
    }

    proptest! {
        /// The place is the number of smaller ids, in whatever parts the ids were met.
        #[test]
        fn a_place_is_the_number_of_smaller_ids(
            ids in prop::collection::vec(
                prop::collection::vec(prop_oneof![Just(0_u8), Just(b'7'), any::<u8>()], 0..12), 0..60),
            cut in 0_usize..60,
        ) {
            let sorted: std::collections::BTreeSet<_> = ids.iter().collect();
            let expected: Vec<u32> =
                ids.iter().map(|id| sorted.iter().filter(|other| **other < id).count() as u32).collect();
            prop_assert_eq!(places(&ids), expected.clone());

            let (first, second) = ids.split_at(cut.min(ids.len()));
            let (mut people, mut more) = (PersonNumbers::default(), PersonNumbers::default());
            let mut met: Vec<u32> = first.iter().map(|id| people.number(id)).collect();
            let there: Vec<u32> = second.iter().map(|id| more.number(id)).collect();
            let here = people.adopt(more);
            met.extend(there.iter().map(|&number| here[number as usize]));
            let places = people.places();
            prop_assert_eq!(people.len(), sorted.len());
            prop_assert_eq!(met.iter().map(|&n| places[n as usize]).collect::<Vec<_>>(), expected);
        }
    }
}

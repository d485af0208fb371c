//! The units of a table that one of several holders has, and what such a holder is told and may say.
//! Proof: proofs/holders.md.

use crate::sums::grid::BITS;

/// Units that stand one behind the other in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldUnits {
    /// The number of the first.
    pub first: usize,
    pub count: usize,
}

impl HeldUnits {
    /// Whether these can be sums over the units: no unit adds more than a clip.
    pub fn can_say(self, steps: &[i64], len: usize) -> bool {
        let most = (self.count as u64) << BITS;
        steps.len() == len && steps.iter().all(|step| step.unsigned_abs() <= most)
    }

    /// For each holder a bit for each of its units, drawn or not: as many bytes whoever is drawn.
    pub fn drawn(holders: &[Self], chosen: &[u32]) -> Vec<Vec<u8>> {
        let mut bits: Vec<Vec<u8>> =
            holders.iter().map(|own| vec![0; own.count.div_ceil(8)]).collect();
        for unit in chosen.iter().map(|&unit| unit as usize) {
            let at = holders.partition_point(|own| own.first + own.count <= unit);
            if let Some(own) = holders.get(at) {
                let unit = unit - own.first;
                bits[at][unit / 8] |= 1 << (unit % 8);
            }
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parties::marked;

    const HOLDERS: [HeldUnits; 4] = [
        HeldUnits { first: 0, count: 9 },
        HeldUnits { first: 9, count: 0 },
        HeldUnits { first: 9, count: 1 },
        HeldUnits { first: 10, count: 16 },
    ];

    #[test]
    fn each_holder_is_told_of_its_own_units_alone() {
        let bits = HeldUnits::drawn(&HOLDERS, &[0, 8, 9, 11, 25]);
        let told: Vec<Vec<u32>> = bits
            .iter()
            .zip(HOLDERS)
            .map(|(bits, own)| marked(bits, own.count).expect("a bit for each unit"))
            .collect();
        assert_eq!(told, [vec![0, 8], vec![], vec![0], vec![1, 15]]);
        // As many bytes whoever is drawn.
        let lengths = |bits: &[Vec<u8>]| bits.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(&HeldUnits::drawn(&HOLDERS, &[])), lengths(&bits));
    }

    #[test]
    fn more_than_a_clip_for_each_unit_is_no_sum() {
        let most = 9_i64 << BITS;
        assert!(HOLDERS[0].can_say(&[most, -most, 0], 3));
        assert!(!HOLDERS[0].can_say(&[most + 1], 1) && !HOLDERS[0].can_say(&[i64::MIN], 1));
        assert!(!HOLDERS[0].can_say(&[0, 0], 1) && !HOLDERS[1].can_say(&[1], 1));
    }
}

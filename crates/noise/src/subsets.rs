//! Which records take part: exact Poisson samples and exact samples without replacement.
//!
//! The accountant counts a rate q or a size m of n; what runs here has exactly that law, the `f64`
//! rate being read as the binary fraction that it is. Proof note: `proofs/sampling.md`.

use crate::entropy::{Coin, Entropy, EntropyError};

impl Entropy {
    /// Each of the records 0 … n − 1 independently with probability exactly `rate`, in increasing
    /// order.
    ///
    /// One word per record: skipping ahead by a geometric number would be quicker for small rates,
    /// but an exact geometric variate needs logarithms that no finite arithmetic has.
    pub fn poisson_subset(
        &mut self,
        n: usize,
        rate: f64,
        out: &mut Vec<u32>,
    ) -> Result<(), EntropyError> {
        let population = checked(n, 0)?;
        let coin = Coin::new(rate)?;
        self.ready()?;
        out.clear();
        for record in 0..population {
            if coin.toss(|| self.word()) {
                out.push(record as u32);
            }
        }
        Ok(())
    }

    /// A uniformly random set of `m` of the records 0 … n − 1, in increasing order (Floyd's
    /// algorithm).
    pub fn subset(&mut self, n: usize, m: usize, out: &mut Vec<u32>) -> Result<(), EntropyError> {
        let population = checked(n, m)?;
        self.ready()?;
        let mut chosen = vec![0_u64; n.div_ceil(64)];
        for last in population - m as u64..population {
            let pick = self.word_below(last + 1);
            let taken = chosen[(pick / 64) as usize] >> (pick % 64) & 1 == 1;
            let record = if taken { last } else { pick };
            chosen[(record / 64) as usize] |= 1 << (record % 64);
        }
        out.clear();
        out.extend(
            (0..population)
                .filter(|r| chosen[(r / 64) as usize] >> (r % 64) & 1 == 1)
                .map(|r| r as u32),
        );
        Ok(())
    }

    /// The numbers 0 … n − 1 in an order that is uniform among all n! (Fisher and Yates).
    pub fn order(&mut self, n: usize) -> Result<Vec<u32>, EntropyError> {
        let population = checked(n, 0)?;
        self.ready()?;
        let mut order: Vec<u32> = (0..population).map(|number| number as u32).collect();
        for last in (1..n).rev() {
            order.swap(last, self.word_below(last as u64 + 1) as usize);
        }
        Ok(order)
    }
}

fn checked(n: usize, m: usize) -> Result<u64, EntropyError> {
    let (population, size) = (n as u64, m as u64);
    if size > population || population > 1 << 32 {
        return Err(EntropyError::Subset { population, size });
    }
    Ok(population)
}

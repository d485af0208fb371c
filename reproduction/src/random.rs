//! Numbers without pattern for made-up tables and for splits. Never for noise: that is the gate's.

/// SplitMix64: a counter, mixed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The same numbers for the same two.
    pub fn new(seed: u64, stream: u64) -> Self {
        Random(
            seed.wrapping_mul(0xd134_2543_de82_ef95) ^ stream.wrapping_mul(0x2545_f491_4f6c_dd1d),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform, above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// The numbers below `n`, shuffled.
    pub fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            let other = self.below(i + 1);
            all.swap(i, other);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_are_normal_and_shuffles_lose_nothing() {
        let mut random = Random::new(1, 2);
        let draws: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 2e4;
        let square = draws.iter().map(|v| v * v).sum::<f64>() / 2e4;
        // Fixed seed; a generator that is right fails with probability below 1e-6.
        assert!(mean.abs() < 0.035 && (square - 1.0).abs() < 0.05, "{mean} {square}");
        let mut all = random.shuffled(100);
        assert_ne!(all[..5], [0, 1, 2, 3, 4]);
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
    }
}

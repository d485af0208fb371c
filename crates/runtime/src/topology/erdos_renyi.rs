//! Erdős–Rényi: each pair with probability p. Geometric leaps over pairs make the cost of a sparse
//! graph proportional to its edges.

use reticent_noise::Entropy;

use super::{GraphFamily, Topology};

pub(super) const FAMILY: GraphFamily = GraphFamily {
    form: "erdos-renyi:P",
    about: "each pair with probability P, from the public seed; refused if it is not connected",
    make: |ask| {
        let rate: f64 = ask.number(0.0, 1.0)?;
        let mut entropy = Entropy::seeded(ask.seed);
        let mut edges = Vec::new();
        let (mut a, mut b) = (1_u64, -1_i64);
        while rate > 0.0 && a < u64::from(ask.parties) {
            let uniform = (entropy.below(1 << 53)? as f64 + 0.5) / (1_u64 << 53) as f64;
            let leap =
                if rate < 1.0 { (uniform.ln() / (1.0 - rate).ln()).min(1e15) as i64 } else { 0 };
            b += 1 + leap;
            while a < u64::from(ask.parties) && b >= a as i64 {
                b -= a as i64;
                a += 1;
            }
            if a < u64::from(ask.parties) {
                edges.push((a as u32, b as u32));
            }
        }
        Ok(Topology::from_edges(ask.parties, edges))
    },
};

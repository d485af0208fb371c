//! Temporary.
use reticent_audit::{AuditSpec, run};
fn main() {
    for runs in [8_000, 40_000] {
        for iterations in [1, 3] {
            let mut all = Vec::new();
            for seed in 0..8 {
                let spec = AuditSpec {
                    epsilon: 4.0,
                    iterations,
                    seed: Some(1000 + seed * 1_000_000),
                    runs,
                    ..AuditSpec::default()
                };
                all.push(run(&spec).unwrap().epsilon_lower);
            }
            println!("{runs} T={iterations}: mean {:.3} {:.2?}", all.iter().sum::<f64>() / 8.0, all);
        }
    }
}

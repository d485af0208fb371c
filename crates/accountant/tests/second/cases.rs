//! Random ledgers, from usual to extreme, and what the second accountant is told about them.

use super::loss::{Kind, Law};
use super::{Case, Pair};
use reticent_accountant::*;

/// SplitMix64: the cases are the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Log-uniform: half of the time within the usual range, half within all that is allowed.
    pub fn spread(&mut self, usual: (f64, f64), all: (f64, f64)) -> f64 {
        let (from, to) = if self.chance(0.5) { usual } else { all };
        from * (to / from).powf(self.uniform())
    }
}

/// A plan of mechanisms with counts, under one adjacency.
#[derive(Clone, Debug)]
pub struct Plan {
    pub adjacency: Adjacency,
    pub steps: Vec<(Mechanism, u64)>,
}

impl Plan {
    pub fn random(random: &mut Random) -> Self {
        let adjacency =
            if random.chance(0.5) { Adjacency::AddRemove } else { Adjacency::ReplaceOne };
        let kinds = if random.chance(0.6) { 1 } else { 2 + usize::from(random.chance(0.3)) };
        let steps = (0..kinds)
            .map(|_| {
                let mechanism = mechanism(random, adjacency);
                let count = random.spread((1.0, 1e4), (1.0, 1e7)).floor() as u64;
                (mechanism, if random.chance(0.15) { 1 } else { count })
            })
            .collect();
        Plan { adjacency, steps }
    }

    pub fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::new();
        for (mechanism, count) in &self.steps {
            let event =
                Event::new(mechanism.clone(), self.adjacency, Unit::Record, View::Central).unwrap();
            ledger.append_many(event, *count);
        }
        ledger
    }

    /// The same with other mechanisms.
    pub fn map(&self, change: impl Fn(&Mechanism, u64) -> (Mechanism, u64)) -> Plan {
        let steps = self.steps.iter().map(|(mechanism, count)| change(mechanism, *count)).collect();
        Plan { adjacency: self.adjacency, steps }
    }

    /// The worst pair of each mechanism, as the proof notes state it.
    pub fn pair(&self) -> Pair {
        let one = |removal: bool| {
            let mut case = Case::default();
            for (mechanism, count) in &self.steps {
                add(&mut case, mechanism, *count as f64, self.adjacency, removal);
            }
            case
        };
        let two_sided = self.adjacency == Adjacency::AddRemove
            && self
                .steps
                .iter()
                .any(|(m, _)| matches!(m, Mechanism::PoissonGaussian(p) if p.rate() < 1.0));
        Pair(one(true), two_sided.then(|| one(false)))
    }
}

fn mechanism(random: &mut Random, adjacency: Adjacency) -> Mechanism {
    let z = random.spread((0.3, 10.0), (1e-3, 1e6));
    let rate = random.spread((1e-3, 1.0), (1e-9, 1.0));
    let epsilon = random.spread((0.01, 2.0), (1e-6, 1e3));
    match (random.uniform() * 12.0) as u32 {
        0 | 1 => Gaussian::new(z).unwrap().into(),
        7 | 8 if adjacency == Adjacency::ReplaceOne => {
            let population = (1.0 / rate).ceil() as u64 * (1 + (random.uniform() * 50.0) as u64);
            let size = ((population as f64 * rate) as u64).clamp(1, population);
            WithoutReplacementGaussian::new(z, size, population).unwrap().into()
        }
        9 => Laplace::new(z).unwrap().into(),
        10 => PureDp::new(epsilon).unwrap().into(),
        11 => {
            let delta = random.spread((1e-12, 1e-6), (1e-15, 1e-3));
            ApproximateDp::new(epsilon, delta).unwrap().into()
        }
        _ => PoissonGaussian::new(z, if random.chance(0.03) { 1.0 } else { rate }).unwrap().into(),
    }
}

fn add(case: &mut Case, mechanism: &Mechanism, count: f64, adjacency: Adjacency, removal: bool) {
    let ratio = |z: f64| if adjacency == Adjacency::AddRemove { 1.0 / z } else { 2.0 / z };
    match mechanism {
        Mechanism::Gaussian(g) => case.gaussian += ratio(g.noise_multiplier()).powi(2) * count,
        Mechanism::Gdp(g) => case.gaussian += g.mu().powi(2) * count,
        Mechanism::PoissonGaussian(p) if p.rate() == 1.0 => {
            case.gaussian += ratio(p.noise_multiplier()).powi(2) * count;
        }
        Mechanism::PoissonGaussian(p) => {
            let kind = match (adjacency, removal) {
                (Adjacency::ReplaceOne, _) => Kind::Exchange,
                (_, true) => Kind::Removal,
                (_, false) => Kind::Addition,
            };
            case.laws
                .push((Law::Mixture { kind, q: p.rate(), mu: 1.0 / p.noise_multiplier() }, count));
        }
        Mechanism::WithoutReplacementGaussian(w) if w.size() == w.population() => {
            case.gaussian += ratio(w.noise_multiplier()).powi(2) * count;
        }
        Mechanism::WithoutReplacementGaussian(w) => {
            let q = w.size() as f64 / w.population() as f64;
            let mu = ratio(w.noise_multiplier());
            case.laws.push((Law::Mixture { kind: Kind::Symmetric, q, mu }, count));
        }
        Mechanism::Laplace(l) => case.laws.push((Law::Laplace(ratio(l.noise_multiplier())), count)),
        Mechanism::PureDp(p) => case.laws.push((Law::Response(p.epsilon()), count)),
        Mechanism::ApproximateDp(a) => {
            case.laws.push((Law::Response(a.epsilon()), count));
            case.ln_kept += count * (-a.delta()).ln_1p();
        }
        other => unreachable!("no worst pair is stated for {}", other.kind()),
    }
}

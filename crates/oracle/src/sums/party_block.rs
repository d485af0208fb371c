//! A party's own block `u`, moved along public z's without noise.
//!
//! ```text
//! x  = prox_{γf}(2z − u) = 2z − u − γg,   g clipped to norm C
//! u⁺ = (1 − 2λ)u + 2λ(z − γg)
//! ```
//!
//! With `u = p + c`, `p⁺ = (1 − 2λ)p + 2λz` is public and `c⁺ = (1 − 2λ)c − 2λγg` stays within
//! `B = γC·max(1, λ/(1 − λ))`. The block is a function of the party's records and of the public z₁,
//! z₂, … alone.
//!
//! One record of `m` moves the prox by `μ = 2γC/m` at most, but the next round starts from a block
//! that has moved already. With `κ = γβ/(1 + γβ)`, β the curvature, blocks that are `D` apart are
//! after a round at most
//!
//! ```text
//! D⁺ = |1 − 2λ|·D + 2λ·w,   w ← κD + (1 − κ)μ,   k − 1 times:  w ← κ√(D² + w²) + (1 − κ)μ
//! ```
//!
//! apart, k the steps of the inner solver, converged or not. Where γβ = 1 and λ = ½ that comes to
//! 1.71 μ, however many rounds. Proof: proofs/trust.md.

use serde::{Deserialize, Serialize};

use super::pass::finite;
use super::private::{PrivateLoss, norm_above};
use super::prox::ProxTerms;
use super::solver::{RESIDUAL_ERROR, UP};

/// How a block moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockTerms {
    /// The largest norm `C` of the gradient part.
    pub clip: f64,
    /// A public bound of the norm of a row.
    pub row_norm: f64,
    /// The step `γ` of the prox.
    pub step: f64,
    /// Steps of the inner solver.
    pub inner: u32,
    /// The averaging parameter `λ`, below 1.
    pub relaxation: f64,
    /// For records as units, what is known of them; `None` where a party is the unit.
    pub one_record: Option<OneRecord>,
}

/// What bounds the effect of one record.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OneRecord {
    /// No party has fewer records.
    pub fewest: u64,
    /// A bound of the loss's curvature in its score; ∞ for a loss with kinks, whose records are
    /// protected as parties are.
    pub smoothness: f64,
    /// No block moves more often.
    pub rounds: u32,
}

/// Rounding of a round, in units of μ: what the distance is enlarged by, and what is refused to be
/// more.
const SLACK: f64 = 1e-3;

impl BlockTerms {
    /// `B`: no block is further from its public centre.
    pub fn bound(&self) -> f64 {
        self.step * self.clip * (self.relaxation / (1.0 - self.relaxation)).max(1.0)
    }

    /// How far apart the blocks of neighbours can be.
    pub fn moves(&self) -> f64 {
        let most = 2.0 * self.bound();
        let Some(OneRecord { fewest, smoothness, rounds }) = self.one_record else { return most };
        let stiff = self.step * self.prox().curvature(smoothness);
        if !stiff.is_finite() {
            return most;
        }
        let kappa = stiff / (1.0 + stiff);
        let one = self.one_step(fewest);
        let own = (1.0 - kappa) * one * (1.0 + SLACK);
        let mut apart = 0.0_f64;
        for _ in 0..rounds {
            let mut w = kappa * apart + own;
            for _ in 1..self.inner {
                let next = kappa * apart.hypot(w) + own;
                if next <= w {
                    break;
                }
                w = next;
            }
            let next = (1.0 - 2.0 * self.relaxation).abs() * apart
                + 2.0 * self.relaxation * w
                + SLACK * one;
            if next >= most {
                return most;
            }
            if next <= apart {
                break;
            }
            apart = next;
        }
        (apart * UP).min(most)
    }

    /// The same in steps of a grid, on which vectors of `len` entries are cut or rounded entry by
    /// entry, and shortened by at most a part in 10⁸.
    pub fn moves_in_steps(&self, step: f64, len: usize) -> f64 {
        let apart = self.moves() / step;
        // A whole party's vector is within the bound on the grid as well.
        let grid = |_| 2.0 * (len as f64).sqrt() + 2.0 + 2e-8 * self.bound() / step;
        apart + self.one_record.map_or(0.0, grid)
    }

    /// `p⁺`.
    pub fn centre(&self, p: &mut [f64], z: &[f64]) {
        let keep = 1.0 - 2.0 * self.relaxation;
        p.iter_mut().zip(z).for_each(|(p, z)| *p = keep * *p + (1.0 - keep) * z);
    }

    /// `μ` for a party of so many records.
    fn one_step(&self, records: u64) -> f64 {
        2.0 * self.step * self.clip / records.max(1) as f64 * (1.0 + SLACK)
    }

    /// Records are clipped one by one where they are what is protected. Elsewhere the whole
    /// gradient part is, and that is enough.
    fn prox(&self) -> ProxTerms {
        let BlockTerms { clip, row_norm, step, inner, one_record, .. } = *self;
        ProxTerms {
            step,
            inner,
            record_clip: if one_record.is_some() { clip } else { f64::MAX },
            row_norm,
        }
    }

    /// Whether what is said of one record holds for these records and this loss.
    pub(crate) fn holds(&self, PrivateLoss { private, loss }: PrivateLoss<'_>) -> bool {
        self.one_record.is_none_or(|OneRecord { fewest, smoothness, .. }| {
            private.records() as u64 >= fewest
                && loss.smoothness() <= smoothness
                && (loss.outputs() == 1 || smoothness.is_infinite())
        })
    }
}

/// The block: `u = centre + offset`.
#[derive(Debug)]
pub struct PartyBlock {
    params: BlockTerms,
    centre: Vec<f64>,
    offset: Vec<f64>,
    followed: u32,
}

impl PartyBlock {
    /// At 0.
    pub fn new(len: usize, params: BlockTerms) -> Self {
        PartyBlock { params, centre: vec![0.0; len], offset: vec![0.0; len], followed: 0 }
    }

    /// How it moves.
    pub fn params(&self) -> &BlockTerms {
        &self.params
    }

    /// `c`.
    pub fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// How many z's it has followed.
    pub fn followed(&self) -> u32 {
        self.followed
    }

    /// Whether it may move along `z`: it has not moved as often as it may, and the numbers are not
    /// so large that rounding would be seen beside one record. Public quantities alone.
    pub fn may_follow(&self, z: &[f64], records: usize) -> bool {
        let Some(OneRecord { smoothness, rounds, .. }) = self.params.one_record else {
            return true;
        };
        let norm = |x: &[f64]| norm_above(x.iter().map(|x| x * x).sum(), x.len());
        let reach = 5.0 * norm(z) + 2.0 * norm(&self.centre) + 3.0 * self.params.bound();
        let rounding = self.params.prox().rounding(
            self.params.prox().curvature(smoothness),
            (z.len(), records),
            reach,
            RESIDUAL_ERROR,
        );
        // A bound that is not a number is no reason to go on; without a curvature nothing is
        // claimed of rounding.
        let unseen = 2.0 * rounding <= SLACK * self.params.one_step(records as u64);
        self.followed < rounds && (smoothness.is_infinite() || unseen)
    }

    /// Moves along `z`.
    pub fn advance(&mut self, rows_and_loss: PrivateLoss<'_>, z: &[f64]) {
        let BlockTerms { clip, step, relaxation, .. } = self.params;
        let u = self.centre.iter().zip(&self.offset).map(|(p, c)| p + c);
        let v: Vec<f64> = z.iter().zip(u).map(|(z, u)| 2.0 * z - u).collect();
        let x = self.params.prox().point(rows_and_loss, &v, z);
        let mut g: Vec<f64> = v.iter().zip(&x).map(|(v, x)| (v - x) / step).collect();
        g.iter_mut().for_each(finite);
        let factor = clip / norm_above(g.iter().map(|g| g * g).sum(), g.len()).max(clip);
        for (c, g) in self.offset.iter_mut().zip(&g) {
            *c = (1.0 - 2.0 * relaxation) * *c - 2.0 * relaxation * step * factor * g;
            finite(c);
        }
        self.params.centre(&mut self.centre, z);
        self.followed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::private::Private;
    use super::*;
    use proptest::prelude::*;
    use reticent_data::{Dense, Rows, Table};
    use reticent_problem::losses;

    const COLUMNS: usize = 3;

    fn params(step: f64, relaxation: f64, inner: u32, fewest: u64) -> BlockTerms {
        let one_record = Some(OneRecord { fewest, smoothness: 0.25, rounds: 40 });
        BlockTerms { clip: 1.0, row_norm: 1.0, step, inner, relaxation, one_record }
    }

    fn private(rows: &[[f64; COLUMNS]], targets: &[f64]) -> Private {
        let mut dense = Dense::empty(COLUMNS);
        rows.iter().for_each(|row| dense.push_sparse(&[0, 1, 2], row));
        let table = Table {
            rows: Rows::Dense(dense),
            targets: targets.to_vec(),
            users: None,
            weights: None,
            names: vec![String::new(); COLUMNS],
        };
        Private::by_record(table, 0.0).unwrap()
    }

    #[test]
    fn where_the_step_is_that_of_the_curvature_it_settles() {
        let params = params(4.0, 0.5, 30, 100);
        let mu = 2.0 * 4.0 / 100.0;
        assert!((params.moves() / mu - 1.707).abs() < 0.02, "{}", params.moves() / mu);
        assert!(params.moves() < params.bound() / 10.0);
        let longer = BlockTerms {
            one_record: params.one_record.map(|one| OneRecord { rounds: 4000, ..one }),
            ..params
        };
        assert!((longer.moves() / params.moves() - 1.0).abs() < 1e-9);
    }

    /// The recursion of the proof by hand, for two rounds of one and of two inner steps: every term
    /// of it enlarges what is counted for.
    #[test]
    fn what_one_record_moves_has_every_term_of_the_proof() {
        for relaxation in [0.3, 0.9] {
            let of = |inner, rounds| {
                let base = params(4.0, relaxation, inner, 1000);
                let one_record = base.one_record.map(|one| OneRecord { rounds, ..one });
                BlockTerms { one_record, ..base }
            };
            let mu = 2.0 * 4.0 / 1000.0 * (1.0 + SLACK);
            let kappa = 0.5;
            let own = (1.0 - kappa) * mu * (1.0 + SLACK);
            let keep = (1.0_f64 - 2.0 * relaxation).abs();
            let round = |apart: f64, inner: u32| {
                let first = kappa * apart + own;
                let w = if inner == 1 { first } else { kappa * apart.hypot(first) + own };
                keep * apart + 2.0 * relaxation * w + SLACK * mu
            };
            for inner in [1, 2] {
                for (rounds, said) in [(1, round(0.0, inner)), (2, round(round(0.0, inner), inner))]
                {
                    let moves = of(inner, rounds).moves();
                    assert!((moves / said - 1.0).abs() < 1e-8, "{moves} {said}");
                }
            }
        }
    }

    /// On a grid neighbours are further apart by what cutting, rounding and shortening do, where
    /// that is not within the bound of a whole party.
    #[test]
    fn a_grid_adds_its_roundings_to_what_a_record_moves() {
        let record = params(4.0, 0.5, 30, 100);
        let (step, len) = (1e-3, 9);
        let added = 2.0 * 3.0 + 2.0 + 2e-8 * record.bound() / step;
        let said = record.moves() / step + added;
        assert!((record.moves_in_steps(step, len) - said).abs() < 1e-9 * said);
        let party = BlockTerms { one_record: None, ..record };
        assert_eq!(party.moves_in_steps(step, len), 2.0 * party.bound() / step);
    }

    /// A gradient part of any length moves a block by no more than its clip does, around a centre
    /// that follows from the public z's alone.
    #[test]
    fn a_block_stays_within_its_bound_of_a_public_centre() {
        let params = BlockTerms { clip: 0.01, one_record: None, ..params(3.0, 0.8, 4, 1) };
        let loss = losses::parse("squared", None).unwrap();
        let private = private(&[[30.0, -40.0, 20.0]], &[1.0]);
        let mut block = PartyBlock::new(COLUMNS, params);
        let mut centre = [0.0; COLUMNS];
        for round in 0..20 {
            let z = [f64::from(round % 3), 1.0, -0.5];
            block.advance(PrivateLoss { private: &private, loss: &*loss }, &z);
            for (p, z) in centre.iter_mut().zip(z) {
                *p += 2.0 * params.relaxation * (z - *p);
            }
            let size = block.offset.iter().map(|c| c * c).sum::<f64>().sqrt();
            assert!(size <= params.bound() && (round > 0 || size > 0.0), "{size}");
            assert!(block.centre.iter().zip(centre).all(|(p, q)| (p - q).abs() < 1e-12));
        }
    }

    #[test]
    fn what_is_not_known_is_the_whole_party() {
        let smooth = params(4.0, 0.5, 30, 100);
        for unknown in [
            BlockTerms { one_record: None, ..smooth },
            params(4.0, 0.5, 30, 1),
            params(400.0, 0.5, 30, 100),
            BlockTerms {
                one_record: Some(OneRecord { fewest: 100, smoothness: f64::INFINITY, rounds: 3 }),
                ..smooth
            },
        ] {
            assert_eq!(unknown.moves(), 2.0 * unknown.bound(), "{unknown:?}");
        }
        let mut block = PartyBlock::new(COLUMNS, smooth);
        assert!(block.may_follow(&[1.0; 3], 100) && !block.may_follow(&[1e9; 3], 100));
        block.followed = 40;
        assert!(!block.may_follow(&[1.0; 3], 100));
    }

    proptest! {
        /// Two neighbours on the same course, with the worst of rows: never further apart than is
        /// said, in any round.
        #[test]
        fn one_record_moves_a_block_by_no_more_than_is_said(
            step in 0.5..12.0_f64, relaxation in 0.1..0.95_f64, inner in 1_u32..12,
            zs in prop::collection::vec(prop::array::uniform3(-3.0..3.0_f64), 1..30),
            rows in prop::collection::vec(prop::array::uniform3(-0.57..0.57_f64), 2..6),
            (first, second) in (0..3_usize, 0..3_usize), signs in prop::array::uniform2(any::<bool>()),
        ) {
            let params = params(step, relaxation, inner, rows.len() as u64);
            let loss = losses::parse("logistic", None).unwrap();
            let mut targets = vec![1.0; rows.len()];
            let run = |rows: &[[f64; COLUMNS]], targets: &[f64]| {
                let private = private(rows, targets);
                let mut block = PartyBlock::new(COLUMNS, params);
                let mut trajectory = Vec::new();
                for z in &zs {
                    assert!(block.may_follow(z, rows.len()));
                    block.advance(PrivateLoss { private: &private, loss: &*loss }, z);
                    trajectory.push(block.offset.clone());
                }
                trajectory
            };
            let extreme = |j: usize, positive: bool| {
                let mut row = [0.0; COLUMNS];
                row[j] = if positive { 1.0 } else { -1.0 };
                row
            };
            let (mut one, mut other) = (rows.clone(), rows);
            (one[0], other[0]) = (extreme(first, signs[0]), extreme(second, signs[1]));
            let left = run(&one, &targets);
            targets[0] = -1.0;
            let right = run(&other, &targets);
            for (round, (a, b)) in left.iter().zip(&right).enumerate() {
                let apart = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
                let said = BlockTerms {
                    one_record: params.one_record.map(|one| OneRecord { rounds: round as u32 + 1, ..one }),
                    ..params
                };
                prop_assert!(apart <= said.moves(), "{apart} {} in round {round}", said.moves());
            }
        }
    }
}

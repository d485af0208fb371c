//! The arithmetic of a visit: the consensus of a token, the contribution of a user, and the next
//! token.

use reticent_accountant::View;
use reticent_admm::WalkState as Memory;
use reticent_oracle::queries::{Residual, ResidualTerms};
use reticent_oracle::{Lattice, Oracle, PaperClaim, Refusal, Sampling};

use super::WalkProtocol;
use crate::algorithms::shorten;
use crate::participation::cap;

/// The number of the erratum.
const E12: u8 = 12;

impl WalkProtocol {
    pub fn len(&self) -> usize {
        self.regulariser.shape().len()
    }

    /// The user's step: the only place that queries the gate, in a rehearsal and in a run.
    pub fn contribute(
        &self,
        v: &[f64],
        z: &[f64],
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal> {
        if self.published {
            // FP23, Theorem 4: 8αγ²L² ln(n)/(σ²n) a contribution, with 4γL/σ our 2/z.
            let n = f64::from(self.parties);
            oracle.claim(PaperClaim::zcdp(E12, 2.0 / (noise * noise) * n.ln() / n));
        }
        Ok(oracle.ask(&Residual { v, z, params: self.residual(noise) })?.into_inner())
    }

    /// The terms of a residual with this noise.
    pub(super) fn residual(&self, noise_multiplier: f64) -> ResidualTerms {
        ResidualTerms { noise_multiplier, ..self.params }
    }

    /// The lattice of the token, where steps must hide one another.
    pub fn lattice(&self) -> Option<Lattice> {
        self.params.lattice(self.len())
    }

    /// The consensus of a token.
    pub fn consensus(&self, token: &[f64]) -> Vec<f64> {
        let mut z = token.to_vec();
        if let Some(lattice) = self.lattice() {
            lattice.round(&mut z);
        }
        if self.memory == Memory::Stateful && !self.published {
            self.regulariser.prox_y(&mut z, self.params.step);
        }
        z
    }

    /// The point whose prox user i computes.
    pub fn point(&self, z: &[f64], u: &[f64]) -> Vec<f64> {
        match self.memory {
            Memory::Stateless => z.to_vec(),
            Memory::Stateful => z.iter().zip(u).map(|(z, u)| 2.0 * z - u).collect(),
        }
    }

    /// The next token and the next u_i.
    pub fn moved(&self, token: &[f64], u: &[f64], message: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = f64::from(self.parties);
        let step = 2.0 * self.lambda;
        let lattice = self.lattice();
        let mut next: Vec<f64> = match &lattice {
            Some(lattice) => lattice.sum(token, message),
            None => token.iter().zip(message).map(|(t, m)| t + step * m / n).collect(),
        };
        match self.memory {
            Memory::Stateless => {
                self.regulariser.prox_y(&mut next, step * self.params.step / n);
                if let Some(lattice) = &lattice {
                    // A token that the gate would refuse would stop the walk, and reveal something
                    // that no adversary may see.
                    shorten(&mut next, lattice.radius());
                    #[cfg(any(test, reticent_seeded_bugs))]
                    if self.off_lattice {
                        return (next, Vec::new());
                    }
                    lattice.round(&mut next);
                }
                (next, Vec::new())
            }
            Memory::Stateful => {
                // As printed the token is z, and is shrunk at every step (E14).
                if self.published {
                    self.regulariser.prox_y(&mut next, self.params.step);
                }
                (next, u.iter().zip(message).map(|(u, m)| u + step * m).collect())
            }
        }
    }

    /// Whether a peer observes, for which there is a seat without data.
    pub(super) fn is_observed(&self) -> bool {
        self.view == View::Network
    }

    /// The number of seats of the walk: the users, and the observer if there is one.
    pub(super) fn seats(&self) -> u32 {
        self.parties + u32::from(self.is_observed())
    }

    /// The most contributions of one user.
    pub fn cap(&self) -> u32 {
        cap(Sampling::WithoutReplacement(1), self.seats(), self.hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_accountant::Unit;
    use reticent_oracle::WalkTerms;
    use reticent_problem::{Regulariser, Shape, penalties};
    use std::sync::Arc;

    fn walk(memory: Memory) -> WalkProtocol {
        let shape = Shape { features: 1, outputs: 1, intercept: false };
        let penalty = penalties::parse("l1:0.1").unwrap();
        let params = ResidualTerms {
            clip: 1.0,
            record_clip: 1.0,
            row_norm: 1.0,
            step: 1.0,
            inner: 1,
            noise_multiplier: 0.0,
            walk: None,
        };
        WalkProtocol {
            parties: 4,
            hops: 10,
            memory,
            lambda: 0.5,
            view: View::Local,
            published: false,
            regulariser: Arc::new(Regulariser::plain(penalty, shape)),
            params,
            off_lattice: false,
        }
    }

    /// A walk of seven users with a penalty, seen by a peer.
    fn seen_walk(penalty: &str) -> WalkProtocol {
        let mut walk = walk(Memory::Stateless);
        walk.params.walk = Some(WalkTerms { users: 7, relaxation: 0.3 });
        let penalty = penalties::parse(penalty).unwrap();
        walk.regulariser = Arc::new(Regulariser::plain(penalty, walk.regulariser.shape()));
        walk
    }

    /// Whether every token lies on the lattice, and two that a message brings to the same place go
    /// on from it in the same way.
    fn forgets(walk: &WalkProtocol) -> bool {
        let lattice = walk.lattice().unwrap();
        let token = |steps: i64| lattice.sum(&[0.0], &lattice.message(&[steps]));
        [(-3_000_000_001, 12_345), (77, 5_000_000_000), (-9_999, -1)].into_iter().all(
            |(before, after)| {
                let far = walk.moved(&token(before), &[], &lattice.message(&[after - before])).0;
                let mut on = far.clone();
                lattice.round(&mut on);
                far == walk.moved(&[0.0], &[], &lattice.message(&[after])).0 && far == on
            },
        )
    }

    /// E12, by a loss of zero, whose prox is the identity: with u kept, two tokens drift apart by a
    /// factor of 1 + 2λ/n, so the noise of later steps does not hide earlier ones as in amplification
    /// by iteration; without it they do not.
    #[test]
    fn a_step_that_keeps_u_is_expansive_and_one_that_keeps_nothing_is_not() {
        let distance = |memory: Memory| {
            let walk = walk(memory);
            let after = |token: f64| {
                let z = walk.consensus(&[token]);
                let v = walk.point(&z, &[0.3]);
                walk.moved(&[token], &[0.3], &[v[0] - z[0]]).0[0]
            };
            (after(5.0) - after(4.0)).abs()
        };
        assert!((distance(Memory::Stateful) - 1.25).abs() < 1e-12);
        assert!(distance(Memory::Stateless) <= 1.0 + 1e-12);
    }

    /// What the gate refuses of a token's length is never reached, so that nothing unseen can stop
    /// a walk.
    #[test]
    fn no_token_is_too_long_for_the_gate() {
        let mut walk = walk(Memory::Stateless);
        walk.params.walk = Some(WalkTerms { users: 4, relaxation: 0.5 });
        let radius = walk.lattice().unwrap().radius();
        let far = |token: f64| walk.moved(&[token], &[], &[1.0]).0[0];
        assert!((far(3.0) - (3.0 + 0.25 - 0.25 * 0.1)).abs() < 1e-9);
        assert!((far(0.9e4) - radius).abs() < 1e-9);
        assert!((far(1e4) - far(-2e4)).abs() <= 3e4);
        let shape = walk.regulariser.shape();
        let terms = reticent_oracle::Terms::of_parties(Unit::User, View::Network, 1);
        let mut gate = reticent_oracle::Rehearsal::new(shape, terms);
        assert!(walk.contribute(&[far(1e5)], &[far(1e5)], 1.0, &mut gate).is_ok());
        assert!(walk.contribute(&[1e9], &[1e9], 1.0, &mut gate).is_err());
    }

    /// A token with a penalty: what it is beside the lattice would tell the sign of the one before
    /// it (l1), or the whole of it (l2). Two tokens that a message brings to the same place go on
    /// from it in the same way.
    #[test]
    fn what_a_token_was_is_not_in_its_last_bits() {
        for penalty in ["l1:0.1", "l2:1e-11", "none"] {
            assert!(forgets(&seen_walk(penalty)), "{penalty}");
        }
    }

    /// The test above finds it.
    #[test]
    fn a_seeded_token_beside_the_lattice_is_found() {
        for penalty in ["l1:0.1", "l2:1e-11"] {
            let mut walk = seen_walk(penalty);
            walk.off_lattice = true;
            assert!(!forgets(&walk), "{penalty}");
        }
    }

    /// E14: the stateful token is the mean of the u, and the penalty is applied to it once, not
    /// again and again.
    #[test]
    fn a_token_that_nobody_changes_stays_as_it_is() {
        let walk = walk(Memory::Stateful);
        assert_eq!(walk.moved(&[2.0], &[0.3], &[0.0]), (vec![2.0], vec![0.3]));
        assert!((walk.consensus(&[2.0])[0] - 1.9).abs() < 1e-12);
        // u moves by 2λ times the message, the mean of four by a quarter of that.
        assert_eq!(walk.moved(&[2.0], &[0.3], &[0.4]), (vec![2.1], vec![0.7]));
        // As printed it is shrunk by γκ = 0.1 whenever it passes by somebody.
        let printed = WalkProtocol { published: true, ..walk };
        assert_eq!(printed.consensus(&[2.0]), [2.0]);
        assert_eq!(printed.moved(&[2.0], &[0.3], &[0.0]), (vec![1.9], vec![0.3]));
    }
}

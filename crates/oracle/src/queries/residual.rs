//! How far a party's prox is from the consensus, with Gaussian noise (FP23, Algorithms 3 and 4).
//!
//! ```text
//! x = prox_{γf}(v)   (f the mean of all the records behind this gate; v, z public)
//! released: clip(x − z, C′) + N(0, (zB)² I)
//! ```
//!
//! `B` is half of what the clipped residual can move when one unit is replaced: `C′` when the unit
//! is the user, whose gate this is, whatever the solver of the prox does; for one record of `m` at
//! most `γC/m`.
//!
//! Event: Gaussian with noise multiplier `z`, in units of `B`. A step of a stateless walk (`v` is
//! `z`, nothing is clipped) moves the token by a non-expansive map, and another peer's view of it
//! is an `Iteration`. Proof: proofs/local-prox.md, proofs/walk.md, proofs/noise-gaussian-grid.md.

use reticent_accountant::{Adjacency, Event, Iteration, Mechanism, Unit, View};
use reticent_noise::Sampling;
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{Query, add_noise, check_clip, check_noise, check_point, check_range, wrong};
use crate::inside::GateState;
use crate::lattice::{Lattice, MOST_NOISE, WalkTerms};
use crate::refusal::Refusal;
use crate::sums::grid::BITS;
use crate::sums::{Grid, ProxTerms, finite, length_above};
use crate::terms::Terms;

/// How a residual is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResidualTerms {
    /// The largest norm `C′` of the residual.
    pub clip: f64,
    /// The largest norm `C` of one record's gradient inside the prox.
    pub record_clip: f64,
    /// A public bound of the norm of a row, the constant behind the intercept included.
    pub row_norm: f64,
    /// The step `γ` of the prox.
    pub step: f64,
    /// Steps of the inner solver.
    pub inner: u32,
    /// The standard deviation of the noise, in units of `B`.
    pub noise_multiplier: f64,
    /// The stateless walk that this is a step of, to be counted as another of its users sees it.
    pub walk: Option<WalkTerms>,
}

impl ResidualTerms {
    /// Refuses numbers that cannot be.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        check_clip(self.clip)?;
        check_clip(self.record_clip)?;
        check_range("row norm", self.row_norm, 1e-50, 1e50)?;
        check_range("prox step", self.step, 1e-50, 1e50)?;
        check_range("inner steps", f64::from(self.inner), 1.0, 1e6)?;
        check_noise(self.noise_multiplier)
    }

    /// The lattice that the tokens of its walk are on, for parameters of length `len`.
    pub fn lattice(&self, len: usize) -> Option<Lattice> {
        self.walk.map(|walk| Lattice::new(self, &walk, len))
    }

    /// The event of a step. Whether the token goes where chance sends it, and is kept on its
    /// lattice, is the protocol's to see to.
    fn walk(
        &self,
        walk: &WalkTerms,
        query: &Residual<'_>,
        terms: &Terms,
    ) -> Result<Mechanism, Refusal> {
        check_range("noise multiplier of a walk", self.noise_multiplier, 0.0, MOST_NOISE)?;
        check_range("relaxation", walk.relaxation, 1e-6, 1.0)?;
        let lattice = Lattice::new(self, walk, query.z.len());
        let reach = length_above(query.z);
        let sound = terms.view() == View::Network
            && terms.unit().is_whole()
            && query.v == query.z
            && self.clip >= self.step * self.record_clip
            && reach <= 2.0 * lattice.radius();
        if !sound {
            return Err(wrong(
                "a walk is counted for another peer where the user is protected, the prox is taken at the token, the \
                 residual is not clipped and the token is not so long that rounding matters; count it for the local view",
            ));
        }
        if self.noise_multiplier == 0.0 {
            return Ok(terms.mechanism(Sampling::Full, 0.0)?);
        }
        // No contribution is taken off more slowly than in as many steps as there are users.
        let rounding = (1.0 + walk.users as f64 * lattice.expansion(self)) * (1.0 + 1e-9);
        Ok(Iteration::new(2.0 / self.noise_multiplier * rounding, walk.users)?.into())
    }

    fn prox(&self) -> ProxTerms {
        let ResidualTerms { record_clip, row_norm, step, inner, .. } = *self;
        ProxTerms { step, inner, record_clip, row_norm }
    }
}

/// How far the prox of this party's objective at `v` is from `z`, clipped, with noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Residual<'a> {
    /// Where the prox is taken. Public.
    pub v: &'a [f64],
    /// What its distance is taken from. Public.
    pub z: &'a [f64],
    /// How.
    pub params: ResidualTerms,
}

impl Query for Residual<'_> {
    const NAME: &'static str = "residual";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        self.params.check()?;
        check_point(self.v, shape)?;
        check_point(self.z, shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        if terms.adjacency() != Adjacency::ReplaceOne
            || (terms.unit().is_whole() && terms.population() > 1)
        {
            return Err(wrong(
                "a residual is of one party, whose being there is public: it needs replace-one, and a gate on \
                 the records of one user where the user is protected",
            ));
        }
        let mechanism = match self.params.walk {
            Some(walk) => self.params.walk(&walk, self, terms)?,
            None => terms.mechanism(Sampling::Full, self.params.noise_multiplier)?,
        };
        Ok(vec![terms.event(mechanism)?])
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        if self.params.walk.is_some() && !self.params.prox().is_not_expansive(&*inside.loss) {
            return Err(wrong(
                "a walk is counted for another peer where the loss is smooth and its gradients are not clipped: give no \
                 clip, another loss (logistic, huber), or count it for the local view",
            ));
        }
        Ok(())
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        let params = self.params;
        #[cfg(reticent_seeded_bugs)]
        let params = crate::bug::spoiled_residual(inside.bug, params);
        let ResidualTerms { clip, noise_multiplier, .. } = params;
        let prox = params.prox();
        let mut residual = prox.point(inside.rows_and_loss()?, self.v, self.z);
        residual.iter_mut().zip(self.z).for_each(|(x, z)| *x -= z);
        residual.iter_mut().for_each(finite);
        let len = residual.len();
        let grid = Grid::new(len);
        let mut sum = grid.clipped(&residual, clip);
        // Half of the sensitivity, in steps of the grid: rounding moves each of two neighbours by
        // √len/2 at most.
        let one_record = (inside.terms.unit(), inside.terms.adjacency())
            == (Unit::Record, Adjacency::ReplaceOne);
        let moves = match one_record {
            true => prox.moves_at_most(inside.rows_and_loss()?, self.v, self.z),
            false => f64::INFINITY,
        };
        let steps = 0.5 * moves / grid.step(clip) + (len as f64).sqrt() + 1.0;
        let share = (steps / (1_u64 << BITS) as f64).min(1.0);
        add_noise(entropy, noise_multiplier * share, &mut sum)?;
        let step = grid.step(clip);
        Ok(sum.iter().map(|&steps| steps as f64 * step).collect())
    }
}

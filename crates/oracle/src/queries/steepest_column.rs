//! A coordinate along which the objective is steep, and which way down, by the exponential
//! mechanism.
//!
//! ```text
//! s_j = −( Σᵢ clip(∂_j f(x; dᵢ), ±C) + n̂ λ x_j )      P(j, σ) ∝ exp( σ s_j / (zC) ),  σ = ±1
//! ```
//!
//! Each partial derivative is clipped by itself, so a record moves every score by `C` at most
//! however many entries it has, and one coordinate is all that is released. The intercept is a
//! coordinate with a constant of the asker's own. `λ` is a ridge on the
//! coefficients, which is public. The law is drawn exactly, on integers of the grid: `zC ln 2` is a
//! whole number of steps, rounded up. `z = 0` is the largest of all, without any privacy.
//!
//! The gate keeps the scores from one such question to the next: a point that differs in few
//! coordinates costs what the records with an entry there cost. What is kept changes no answer.
//!
//! Event: exponential mechanism with noise multiplier `z`. Records only, that count alike; one
//! score. Proof: proofs/exponential-mechanism.md.

use std::f64::consts::LN_2;

use reticent_accountant::{Event, ExponentialMechanism, NonPrivate, Unit};
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{Query, QueryAnswer, check_clip, check_finite, check_noise, check_range, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{ColumnTerms, PartialTerms, PrivateLoss, ScoredColumns, grid};
use crate::terms::Terms;

/// A column that is steep at a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteepestColumn<'a> {
    /// What is not zero of the point: coordinates in ascending order, with their values.
    pub at: &'a [(u32, f64)],
    /// `C`: the most that one partial derivative of a record counts.
    pub clip: f64,
    /// What the derivative along the intercept is taken as if it stood behind it: that along a multiple
    /// of the intercept, as long as a column with entries of this size.
    pub constant: f64,
    /// `λ`: a ridge `(λ/2)‖x‖²` on the coefficients, which the intercept is not one of.
    pub ridge: f64,
    /// `z`.
    pub noise_multiplier: f64,
}

/// A coordinate, and which way is down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteepestWay {
    /// The number of the coordinate, from 0.
    pub index: usize,
    /// +1 or −1: the objective falls that way.
    pub sign: f64,
}

impl QueryAnswer for SteepestWay {
    fn into_values(self) -> Vec<f64> {
        vec![self.index as f64, self.sign]
    }

    fn from_values(values: Vec<f64>) -> Self {
        SteepestWay { index: values[0] as usize, sign: values[1] }
    }

    fn made_up(shape: Shape, next: &mut dyn FnMut() -> f64) -> Self {
        // `next` lies between −0.0005 and 0.0005.
        let place = ((1e3 * next() + 0.5) * shape.len() as f64) as usize;
        let sign = if next() < 0.0 { -1.0 } else { 1.0 };
        SteepestWay { index: place.min(shape.len().saturating_sub(1)), sign }
    }
}

impl SteepestColumn<'_> {
    /// Steps of the grid that double a weight: `z·2³²·ln 2`, rounded up.
    fn scale(&self) -> u64 {
        let clip = (1_u64 << grid::BITS) as f64;
        (self.noise_multiplier * clip * LN_2 * (1.0 + 8.0 * f64::EPSILON)).ceil() as u64
    }

    fn terms(&self, terms: &Terms) -> ColumnTerms {
        let SteepestColumn { clip, constant, ridge, .. } = *self;
        let partial = PartialTerms { clip, constant };
        ColumnTerms { partial, pull: terms.population() as f64 * ridge, scale: self.scale().max(1) }
    }
}

impl Query for SteepestColumn<'_> {
    const NAME: &'static str = "steepest column";
    type Answer = SteepestWay;

    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal> {
        let SteepestColumn { at, clip, constant, ridge, noise_multiplier } = *self;
        check_clip(clip)?;
        check_range("constant", constant, 1e-100, 1e100)?;
        check_noise(noise_multiplier)?;
        check_range("ridge", ridge, 0.0, 1e20)?;
        if shape.outputs != 1 || shape.is_empty() || shape.len() > 1 << 31 {
            return Err(wrong(
                "a column is chosen for a loss of one score, among at most 2^31 of them: take another algorithm for \
                 several classes",
            ));
        }
        if terms.unit() != Unit::Record {
            return Err(wrong(
                "a choice of a column is proven for unit 'record': take another algorithm for users",
            ));
        }
        if !at.is_sorted_by(|a, b| a.0 < b.0)
            || at.last().is_some_and(|a| a.0 as usize >= shape.len())
        {
            return Err(wrong("the coordinates of a point must ascend, below its length"));
        }
        at.iter().try_for_each(|(_, value)| check_finite(&[*value]))
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        let event = match self.noise_multiplier {
            0.0 => terms.event(NonPrivate::new()?)?,
            z => terms.event(ExponentialMechanism::new(z)?)?,
        };
        Ok(vec![event])
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        if inside.private()?.native_table().is_none() {
            return Err(wrong("a column of the table cannot be chosen in other coordinates"));
        }
        Ok(())
    }

    fn answer(
        &self,
        inside: &mut GateState,
        entropy: &mut Entropy,
    ) -> Result<SteepestWay, Refusal> {
        let terms = self.terms(&inside.terms);
        #[cfg(reticent_seeded_bugs)]
        let terms = crate::bug::spoiled_columns(inside.bug, terms);
        let kept = inside.columns.take().filter(|kept| kept.are_on(&terms));
        let PrivateLoss { private, loss } = inside.rows_and_loss()?;
        let mut scored = match kept {
            Some(kept) => kept,
            None => ScoredColumns::new(private, loss, terms)
                .ok_or_else(|| wrong("there is no column to choose"))?,
        };
        scored.move_to(private, loss, self.at);
        let drawn = match self.noise_multiplier {
            0.0 => scored.largest(),
            _ => scored.draw(entropy)?,
        };
        inside.columns = Some(scored);
        Ok(SteepestWay { index: drawn.index, sign: if drawn.positive { 1.0 } else { -1.0 } })
    }
}

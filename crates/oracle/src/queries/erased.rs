//! Queries without their answers' types, so that an algorithm can be given a `dyn Oracle`.

use reticent_accountant::Event;
use reticent_noise::{Entropy, EntropyError, Hasher};
use reticent_problem::Shape;

use super::{AskSum, Query};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// What a query may be answered with: a parameter or a number. Outside this crate it has no name.
pub trait QueryAnswer {
    fn into_values(self) -> Vec<f64>;
    fn from_values(values: Vec<f64>) -> Self;
    fn made_up(shape: Shape, next: &mut dyn FnMut() -> f64) -> Self;
}

impl QueryAnswer for Vec<f64> {
    fn into_values(self) -> Vec<f64> {
        self
    }

    fn from_values(values: Vec<f64>) -> Self {
        values
    }

    fn made_up(shape: Shape, next: &mut dyn FnMut() -> f64) -> Self {
        (0..shape.len()).map(|_| next()).collect()
    }
}

impl QueryAnswer for f64 {
    fn into_values(self) -> Vec<f64> {
        vec![self]
    }

    fn from_values(values: Vec<f64>) -> Self {
        values[0]
    }

    fn made_up(_: Shape, next: &mut dyn FnMut() -> f64) -> Self {
        next()
    }
}

/// Any query, with its answer as a row of numbers: what a `dyn Oracle` takes.
pub trait Erased {
    /// Writes all of the query, so that no two queries are taken for one another.
    fn write(&self, hasher: &mut Hasher) -> Result<(), EntropyError>;
    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal>;
    fn events(&self, shape: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal>;
    fn fits(&self, inside: &GateState) -> Result<(), Refusal>;
    fn fits_held(&self, terms: &Terms) -> Result<(), Refusal>;
    fn fits_weights(&self) -> Result<(), Refusal>;
    fn answer_from_sums(
        &self,
        shape: Shape,
        terms: &Terms,
        ask: &mut AskSum<'_>,
    ) -> Result<Vec<f64>, Refusal>;
    fn moves_blocks(&self) -> bool;
    fn made_up(&self, shape: Shape, terms: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64>;
    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal>;
}

impl<Q: Query> Erased for Q {
    fn write(&self, hasher: &mut Hasher) -> Result<(), EntropyError> {
        hasher.field(Q::NAME.as_bytes()).canonical(self).map(drop)
    }

    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal> {
        Query::check(self, shape, terms)
    }

    fn events(&self, shape: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Query::events(self, shape, terms)
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        Query::fits(self, inside)
    }

    fn fits_held(&self, terms: &Terms) -> Result<(), Refusal> {
        Query::fits_held(self, terms)
    }

    fn fits_weights(&self) -> Result<(), Refusal> {
        Query::fits_weights(self)
    }

    fn answer_from_sums(
        &self,
        shape: Shape,
        terms: &Terms,
        ask: &mut AskSum<'_>,
    ) -> Result<Vec<f64>, Refusal> {
        Query::answer_from_sums(self, shape, terms, ask).map(QueryAnswer::into_values)
    }

    fn moves_blocks(&self) -> bool {
        Query::moves_blocks(self)
    }

    fn made_up(&self, shape: Shape, terms: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        Query::made_up(self, shape, terms, next).into_values()
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        Query::answer(self, inside, entropy).map(QueryAnswer::into_values)
    }
}

//! What a paper says an answer costs, where that is not what it costs (docs/errata.md).
//!
//! A run as published asks the gate for what the paper computes, with the paper's noise, and the
//! ledger gets the event that the paper claims: calibration and audit then speak of the claim. The
//! price is the taint `AsPublished` with the number of the erratum, which nothing takes back: no
//! such run is certified, and so a claim cannot make a guarantee out of anything.

use reticent_accountant::{Event, NonPrivate, PureDp, Taint, Zcdp};
use reticent_noise::Sampling;
use reticent_problem::Shape;

use crate::books::Books;
use crate::queries::Erased;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// What a paper claims of one answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperClaim {
    erratum: u8,
    cost: Cost,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cost {
    Nothing,
    Gaussian(Sampling, f64),
    Zcdp(f64),
    Pure(f64),
}

impl PaperClaim {
    /// That the answer costs nothing, because it is not released; nor is it in a transcript.
    pub fn nothing(erratum: u8) -> Self {
        PaperClaim { erratum, cost: Cost::Nothing }
    }

    /// That it has Gaussian noise of so many times the bound of one unit, under a sampling.
    pub fn gaussian(erratum: u8, sampling: Sampling, noise_multiplier: f64) -> Self {
        PaperClaim { erratum, cost: Cost::Gaussian(sampling, noise_multiplier) }
    }

    /// That its Rényi divergence is at most αρ at every order α that matters.
    pub fn zcdp(erratum: u8, rho: f64) -> Self {
        PaperClaim { erratum, cost: Cost::Zcdp(rho) }
    }

    /// That it is (ε, 0)-private.
    pub fn pure(erratum: u8, epsilon: f64) -> Self {
        PaperClaim { erratum, cost: Cost::Pure(epsilon) }
    }

    /// Whether the paper takes the answer to be seen.
    pub(crate) fn is_seen(&self) -> bool {
        self.cost != Cost::Nothing
    }

    fn events(&self, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        let mechanism = match self.cost {
            Cost::Nothing => return Ok(Vec::new()),
            Cost::Gaussian(sampling, noise_multiplier) => {
                terms.mechanism(sampling, noise_multiplier)?
            }
            // No noise: not even a paper claims anything.
            Cost::Zcdp(bound) | Cost::Pure(bound) if bound.is_infinite() => NonPrivate {}.into(),
            Cost::Zcdp(rho) => Zcdp::new(rho)?.into(),
            Cost::Pure(epsilon) => PureDp::new(epsilon)?.into(),
        };
        Ok(vec![terms.event(mechanism)?])
    }
}

/// What the books get for a query: its own events, or the claim in place of it and the taint.
pub(crate) fn booked(
    query: &dyn Erased,
    claim: Option<&PaperClaim>,
    (shape, terms): (Shape, &Terms),
    books: &mut Books,
) -> Result<Vec<Event>, Refusal> {
    let Some(claim) = claim else { return query.events(shape, terms) };
    books.taint(Taint::AsPublished(claim.erratum));
    claim.events(terms)
}

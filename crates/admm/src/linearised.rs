//! Linearised ADMM for `x = z`, the iteration that ssADMM and mpADMM share (RDP20, equations
//! 16–18).
//!
//! ```text
//! x⁺ = ( −g − y + ρ z + x/η ) / (ρ + 1/η)
//! z⁺ = prox_{r/ρ}( x⁺ + y/ρ )
//! y⁺ = y + ρ (x⁺ − z⁺)
//! ```
//!
//! In coordinates of its own (see [`crate::basis`]) the step of x is measured by M in place of the
//! identity, `x⁺ = (ρI + M/η)⁻¹ ( −g − y + ρ z + Mx/η )`, and the rest stays as it is.

use std::sync::Arc;

use reticent_oracle::{Oracle, Refusal, Refused};
use reticent_problem::Regulariser;

use crate::algorithms::Iterate;
use crate::average::Running;
use crate::basis::{Basis, gradient};
use crate::catalogue::Recipe;
use crate::gradient_run::GradientRun;
use crate::settings::positive;

/// The iterates.
#[derive(Debug)]
pub(crate) struct LinearisedIterates {
    rho: f64,
    regulariser: Arc<Regulariser>,
    x: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
    basis: Option<Basis>,
}

/// ρ over the least that M/η is, unless it is given: no direction then loses more than a part of
/// its step to it.
const STIFFNESS: f64 = 0.1;

impl LinearisedIterates {
    pub fn new(rho: f64, regulariser: &Arc<Regulariser>) -> Self {
        let zeros = vec![0.0; regulariser.shape().len()];
        LinearisedIterates {
            rho,
            regulariser: Arc::clone(regulariser),
            x: zeros.clone(),
            z: zeros.clone(),
            y: zeros,
            basis: None,
        }
    }

    /// Goes over to other coordinates, in which steps are about `eta` long; ρ follows from them
    /// unless it is `given`.
    pub fn enter(&mut self, basis: Basis, eta: f64, given: bool) {
        if !given {
            self.rho = STIFFNESS / (eta * basis.most());
        }
        self.basis = Some(basis);
    }

    /// The coordinates that gradients are asked for in.
    pub fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }

    /// Where the next gradient is to be taken.
    pub fn x(&self) -> &[f64] {
        &self.x
    }

    pub fn rho(&self) -> f64 {
        self.rho
    }

    /// x, z and y, each with how far it moves when x moves by 1, at most.
    pub fn vectors(&mut self) -> [(&mut Vec<f64>, f64); 3] {
        [(&mut self.x, 1.0), (&mut self.z, 1.0), (&mut self.y, self.rho)]
    }

    /// z, not the paper's x: the two agree in the limit, and z is the one that is sparse.
    pub fn solution(&self) -> &[f64] {
        &self.z
    }

    /// How far x and z are apart.
    pub fn residual(&self) -> f64 {
        distance(&self.x, &self.z)
    }

    pub fn step(&mut self, g: &[f64], eta: f64) {
        let LinearisedIterates { rho, regulariser, x, z, y, basis } = self;
        let rho = *rho;
        if let Some(basis) = basis {
            let pull: Vec<f64> = (0..x.len()).map(|i| g[i] + y[i] + rho * (x[i] - z[i])).collect();
            let step = basis.solve(&pull, eta, rho);
            x.iter_mut().zip(&step).for_each(|(x, step)| *x -= step);
        } else {
            for i in 0..x.len() {
                x[i] = (-g[i] - y[i] + rho * z[i] + x[i] / eta) / (rho + 1.0 / eta);
            }
        }
        for i in 0..x.len() {
            z[i] = x[i] + y[i] / rho;
        }
        regulariser.prox_y(z, 1.0 / rho);
        for i in 0..x.len() {
            y[i] += rho * (x[i] - z[i]);
        }
    }
}

/// The iterates with their average, and which of them is the solution.
#[derive(Debug)]
pub(crate) struct LinearisedModel {
    pub admm: LinearisedIterates,
    average: Running,
    /// Whether ρ was given.
    rho: bool,
    /// The paper has x for the solution.
    pub as_published: bool,
}

impl LinearisedModel {
    /// With this ρ by default.
    pub fn new(recipe: &Recipe<'_>, usual: f64) -> Result<Self, Refused> {
        let Recipe { settings, public, regulariser, .. } = recipe;
        let rho = positive("rho", settings.rho.unwrap_or(usual))?;
        Ok(LinearisedModel {
            admm: LinearisedIterates::new(rho, regulariser),
            average: Running::new(recipe.average(), public.shape.len()),
            rho: settings.rho.is_some(),
            as_published: recipe.as_published(),
        })
    }

    pub fn enter(&mut self, basis: Basis, run: &GradientRun) {
        self.admm.enter(basis, run.eta(1), self.rho);
    }

    /// Asks for a gradient, and follows it.
    pub fn step(
        &mut self,
        k: u64,
        run: &GradientRun,
        oracle: &mut dyn Oracle,
    ) -> Result<(), Refusal> {
        let g = gradient(oracle, self.admm.basis(), self.admm.x(), run.params)?;
        self.admm.step(&g, run.eta(k));
        Ok(())
    }

    /// Adds the solution to its average.
    pub fn add(&mut self) {
        let solution = self.running();
        self.average.add(&solution);
    }
}

impl Iterate for LinearisedModel {
    fn running(&self) -> Vec<f64> {
        let x = if self.as_published { self.admm.x() } else { self.admm.solution() };
        x.to_vec()
    }

    fn published(&self) -> Vec<f64> {
        self.average.mean().to_vec()
    }

    fn residual(&self) -> Option<f64> {
        Some(self.admm.residual())
    }
}

/// `‖a − b‖`.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::{Shape, penalties};

    /// In the coordinates of the table it is the iteration that it was, to rounding.
    #[test]
    fn the_coordinates_of_the_table_change_nothing() {
        let shape = Shape { features: 3, outputs: 2, intercept: true };
        let regulariser = Regulariser::plain(penalties::parse("l1:0.05").unwrap(), shape);
        let regulariser = Arc::new(regulariser);
        let (mut plain, mut other) = (
            LinearisedIterates::new(0.3, &regulariser),
            LinearisedIterates::new(0.3, &regulariser),
        );
        other.enter(Basis::unchanged(&regulariser), 0.7, true);
        for k in 0..20 {
            let g: Vec<f64> = (0..8).map(|i| f64::from(3 * k + i).sin() - plain.x()[0]).collect();
            plain.step(&g, 0.7);
            other.step(&g, 0.7);
        }
        assert!(distance(plain.x(), &[0.0; 8]) > 0.1);
        assert!(distance(plain.x(), other.x()) < 1e-12);
        assert!(distance(plain.solution(), other.solution()) < 1e-12);
    }
}

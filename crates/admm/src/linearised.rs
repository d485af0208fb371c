//! Linearised ADMM for `x = z`, the iteration that ssADMM and mpADMM share (RDP20, equations
//! 16–18).
//!
//! ```text
//! x⁺ = ( −g − y + ρ z + x/η ) / (ρ + 1/η)
//! z⁺ = prox_{r/ρ}( x⁺ + y/ρ )
//! y⁺ = y + ρ (x⁺ − z⁺)
//! ```

use std::sync::Arc;

use reticent_problem::Regulariser;

/// The iterates.
#[derive(Debug)]
pub(crate) struct Linearised {
    rho: f64,
    regulariser: Arc<Regulariser>,
    x: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
}

impl Linearised {
    pub fn new(rho: f64, regulariser: &Arc<Regulariser>) -> Self {
        let zeros = vec![0.0; regulariser.shape().len()];
        Linearised {
            rho,
            regulariser: Arc::clone(regulariser),
            x: zeros.clone(),
            z: zeros.clone(),
            y: zeros,
        }
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
    pub fn solution(&self) -> Vec<f64> {
        self.z.clone()
    }

    /// How far x and z are apart.
    pub fn residual(&self) -> f64 {
        distance(&self.x, &self.z)
    }

    pub fn step(&mut self, g: &[f64], eta: f64) {
        let Linearised { rho, regulariser, x, z, y } = self;
        let rho = *rho;
        for i in 0..x.len() {
            x[i] = (-g[i] - y[i] + rho * z[i] + x[i] / eta) / (rho + 1.0 / eta);
            z[i] = x[i] + y[i] / rho;
        }
        regulariser.prox_y(z, 1.0 / rho);
        for i in 0..x.len() {
            y[i] += rho * (x[i] - z[i]);
        }
    }
}

/// `‖a − b‖`.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

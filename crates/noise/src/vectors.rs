//! Vectors with a density, as objective perturbation needs them: exactly sampled up to a distance
//! that is told.
//!
//! A vector that was rounded has no density, and the minimiser of an objective with a rounded
//! linear term is not post-processing of the minimiser with an exact one. So the vector comes with
//! a bound of how far it is from one that has exactly the law that is counted; whoever uses it pays
//! for that distance as for any inaccuracy.
//!
//! - normal: each coordinate an exactly sampled variate, rounded to a multiple of h.
//! - spherical Laplace, density ∝ e^(−‖b‖): b = ‖G′‖·G with G and G′ independent standard normal
//!   vectors, of length d and d + 1. Its norm has the Gamma(d) law and its direction is uniform,
//!   without a Gamma sampler and without a division.
//!
//! Proof note: `proofs/noise-objective-perturbation.md`.

use crate::entropy::{Entropy, EntropyError};
use crate::grid::{GaussianGrid, GridNoise};

/// The grid of the normal variates: h = 2⁻⁴⁸, so that a double holds those below 32 without
/// rounding.
const BITS: u32 = 48;

/// h.
const STEP: f64 = 1.0 / (1_u64 << BITS) as f64;

/// A vector, and how far it may be from the exact one behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// The entries of the vector.
    pub values: Vec<f64>,
    /// An upper bound of the Euclidean distance to a vector with exactly the law.
    pub off: f64,
}

/// A standard normal vector.
pub fn normal(entropy: &mut Entropy, len: usize) -> Result<Near, EntropyError> {
    let values = normals(entropy, len)?;
    let off = off(&values);
    Ok(Near { values, off })
}

/// A vector with density ∝ e^(−‖b‖₂).
pub fn spherical_laplace(entropy: &mut Entropy, len: usize) -> Result<Near, EntropyError> {
    let (direction, radius) = (normals(entropy, len)?, normals(entropy, len + 1)?);
    let (length, size) = (norm(&radius), norm(&direction));
    // ‖R̃G̃ − RG‖ ≤ R̃‖G̃ − G‖ + ‖G‖|R̃ − R|, and ‖G‖ ≤ ‖G̃‖ + ‖G̃ − G‖; then the roundings of norm
    // and product.
    let (off_direction, off_radius) = (off(&direction), off(&radius));
    let rounding = f64::EPSILON * (len as f64 + 8.0) * length * size;
    let off =
        (length * off_direction + (size + off_direction) * off_radius) * (1.0 + 1e-9) + rounding;
    Ok(Near { values: direction.iter().map(|v| length * v).collect(), off })
}

fn normals(entropy: &mut Entropy, len: usize) -> Result<Vec<f64>, EntropyError> {
    // 1 lies between 2⁻⁵⁷ and 2⁵, the scales that a grid of 48 bits takes.
    let noise = GaussianGrid::new(1.0, BITS).expect("a scale of one is in range");
    let mut steps = vec![0; len];
    noise.fill(entropy, &mut steps)?;
    Ok(steps.iter().map(|&steps| steps as f64 * STEP).collect())
}

/// How far a vector of rounded variates may be from the exact ones: half a step each, and the
/// rounding to a double of those above 32.
fn off(values: &[f64]) -> f64 {
    0.5 * STEP * (values.len() as f64).sqrt() * (1.0 + 1e-9) + f64::EPSILON * norm(values)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

//! Forward stagewise descent: for tables of many sparse columns, a coordinate at a time.
//!
//! ```text
//! minimise (1/n) Σ f(x; dᵢ) + (λ/2)‖x‖²  over ‖x‖₁ ≤ η₁ + … + η_T
//!
//! s_j = −( Σᵢ clip(∂_j f(x; dᵢ), ±C) + n̂ λ x_j )
//! (j, σ) drawn with probability ∝ exp( σ s_j / (zC) )
//! x_j ← x_j + η_k p_j σ
//! ```
//!
//! `p_j` is 1 at first, half of what it was where σ is another than when j was chosen last, and a fifth
//! more, up to 1, where it is the same: a column that many records have an entry in is else passed to
//! and fro over its optimum, in choices that others need (Riedmiller and Braun 1993). It follows from
//! what was released.
//!
//! It is Frank–Wolfe's choice of a vertex with steps of a fixed length from where x is, in place of
//! steps towards the vertex: steps of one length from zero follow the path of the lasso (Efron et
//! al. 2004; Hastie et al. 2007), T and η are its stopping rule, and x has at most T entries. A step
//! changes the scores of the records with an entry in column j and no others, so that nothing but
//! these is looked at; towards a vertex all of x would shrink, and with it every score. The noise of
//! a choice grows with ln d where that of a gradient grows with √d.
//!
//! The intercept is a coordinate like the others, as if it were a column of entries of C/L. A partial
//! derivative is clipped by itself: `C` is about the largest entry of a row, where a gradient is clipped at the
//! length of all of it.
//!
//! Released: (j, σ), once an iteration, as an event of the exponential mechanism. Requires: a loss
//! of one score; the penalty `none` or `l2`; the identity constraint; unit record. Reference:
//! Talwar, Thakurta and Zhang 2015, Algorithm 2, for the choice; Raff, Khanna and Lu 2023 for
//! choices that do not look at every column, with approximate scores where these are exact.

use std::collections::BTreeMap;

use reticent_oracle::queries::{SteepestColumn, SteepestWay};
use reticent_oracle::{Oracle, Refusal, Refused};
use reticent_problem::Shape;

use super::{Algorithm, Iterate, Tell, told};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::step_size::StepSize;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "stagewise",
    about: "forward stagewise descent: for tables of many sparse columns, a column at a time",
    reference: "Talwar, Thakurta and Zhang 2015, Algorithm 2; Raff, Khanna and Lu 2023",
    takes: &["iterations", "clip", "step"],
    penalty: "l2:0.01",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// The mean partial derivative, in clips, that choices are to tell from their noise.
const SHARE: f64 = 0.006;

/// Fewer steps reach little, and more are time.
const ITERATIONS: (f64, f64) = (20.0, 1000.0);

/// The clip, as a part of the largest norm of a gradient: the entries of a row of a hundred that are
/// alike.
const CLIP: f64 = 0.1;

/// How far a step moves the score of a record whose derivative is at the clip, as a part of the
/// scale of the loss, its slope over its curvature.
const STEP: f64 = 0.1;

/// Below this part of the noise of one choice there is hardly a signal, and steps are in proportion to it:
/// else twenty on noise alone are worse than a model of zeros.
const FAINT: f64 = 0.5;

/// The length of a step for a loss with kinks, in scores.
const KINKED: f64 = 0.4;

/// What a coordinate's steps are multiplied with where it is passed over, and where it goes on.
const SHRINK: f64 = 0.5;
const GROW: f64 = 1.2;

/// About what part of the norm of a row the constant behind the intercept is: were it another, its
/// steps would be halved a few times more or less.
const CONSTANT: f64 = 0.3;

#[derive(Debug)]
struct DpStagewise {
    iterations: u64,
    clip: f64,
    ridge: f64,
    noise_multiplier: f64,
    /// What stands behind the intercept in a choice, and how much longer its steps are.
    constant: f64,
    times: f64,
    step: StepSize,
    shape: Shape,
    /// Which way each coordinate went last, and its `p_j`.
    ways: BTreeMap<usize, LastWay>,
    x: SparsePoint,
}

#[derive(Clone, Copy, Debug)]
struct LastWay {
    sign: f64,
    part: f64,
}

/// What is not zero of a parameter, by coordinate.
#[derive(Debug)]
struct SparsePoint {
    len: usize,
    entries: Vec<(u32, f64)>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    let penalty = regulariser.penalty();
    let Some(ridge) = penalty.ridge().filter(|_| penalty.is_convex()) else {
        return Err(Refused::new(
            "penalty",
            penalty.spec(),
            "stagewise takes none or l2:LAMBDA: that most coefficients are zero comes of its steps, as few as \
             iterations",
        ));
    };
    if public.shape.outputs != 1 {
        return Err(Refused::new(
            "algorithm",
            ENTRY.name,
            "it is for a loss of one score: two classes or a number",
        ));
    }
    let clip = settings.clip_or_part(public, CLIP)?;
    // The largest entry that is not clipped where the slope is at its bound.
    let entry = clip / public.slope();
    let scale = public.slope() / public.smoothness;
    let length = if scale.is_finite() && scale > 0.0 { STEP * scale } else { KINKED };
    let length = length * (recipe.clear_choices() / FAINT).min(1.0);
    let algorithm = DpStagewise {
        iterations: settings.iterations_or(recipe.choices())?,
        clip,
        ridge,
        noise_multiplier: *noise_multiplier,
        constant: entry,
        times: entry / (CONSTANT * public.row_norm),
        ways: BTreeMap::new(),
        step: settings.step.unwrap_or(StepSize::Constant(length / entry)).checked()?,
        shape: public.shape,
        x: SparsePoint { len: public.shape.len(), entries: Vec::new() },
    };
    Ok(Box::new(algorithm))
}

impl Recipe<'_> {
    /// What a mean partial derivative of [`SHARE`] clips comes to over all records, beside the noise
    /// zC·ln 2d of a choice that has the whole budget.
    fn clear_choices(&self) -> f64 {
        let candidates = (2.0 * self.public.shape.len() as f64).ln().max(1.0);
        SHARE * self.public.signal() / candidates
    }

    /// As many choices as have this noise: T that share a budget have √T times the noise of one.
    fn choices(&self) -> u64 {
        self.clear_choices().powi(2).clamp(ITERATIONS.0, ITERATIONS.1).round() as u64
    }
}

impl SparsePoint {
    fn add(&mut self, index: usize, by: f64) {
        match self.entries.binary_search_by_key(&(index as u32), |entry| entry.0) {
            Ok(place) => {
                self.entries[place].1 += by;
                if self.entries[place].1 == 0.0 {
                    self.entries.remove(place);
                }
            }
            Err(place) => self.entries.insert(place, (index as u32, by)),
        }
    }

    fn written_out(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.len];
        self.entries.iter().for_each(|&(index, value)| all[index as usize] = value);
        all
    }
}

impl Iterate for SparsePoint {
    fn running(&self) -> Vec<f64> {
        self.written_out()
    }

    fn published(&self) -> Vec<f64> {
        self.written_out()
    }
}

impl DpStagewise {
    /// The part of a step that a coordinate takes this way.
    fn part(&mut self, index: usize, sign: f64) -> f64 {
        let last = self.ways.entry(index).or_insert(LastWay { sign, part: 1.0 });
        let part = if last.sign == sign { (GROW * last.part).min(1.0) } else { SHRINK * last.part };
        *last = LastWay { sign, part };
        let times = if index < self.shape.features { 1.0 } else { self.times };
        times * part
    }
}

impl Algorithm for DpStagewise {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        for k in 1..=self.iterations {
            let asked = SteepestColumn {
                at: &self.x.entries,
                clip: self.clip,
                constant: self.constant,
                ridge: self.ridge,
                noise_multiplier: self.noise_multiplier,
            };
            let SteepestWay { index, sign } = oracle.ask(&asked)?.into_inner();
            let length = self.step.at(k, self.shape.len() as f64) * self.part(index, sign);
            self.x.add(index, length * sign);
            told(tell, k, self.iterations, &self.x)?;
        }
        Ok(self.x.written_out())
    }
}

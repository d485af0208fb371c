//! The ways in which a fresh step is released.
//!
//! ```text
//! gradient          g = C (mean of the clipped gradients at f_i + N(0, (zG/B)² I));  f by the recycled formula with this g
//! minimiser         f = argmin of the fresh step, without ε, + N(0, (zS)² I),  S = CG/(BΛ) + the solver's radius
//! objective         f = argmin with ε of density ∝ exp(−(B/zCG)‖ε‖) (RA18), and the noise that covers the radius (E7)
//! normal-objective  f = argmin with ε ~ N(0, (zCG/B)² I), and the same
//! ```
//!
//! B is the number of records, G the clip or the largest gradient of one, C the weight of the loss,
//! Λ = m + 2ηV_i the curvature of the public part. The gate is asked for the argmin of the objective
//! over C, whose public part has the curvature Λ/C: the same f, and a mean loss of weight 1, which
//! is what its proofs are about. In the last three, g is what the optimality condition makes of the
//! released f: `−(m f + 2λ_i + 2η Σ_j (f − ½(f_i + f_j)))`, a function of what is public, and noise
//! of the size of zCG/B away from the gradient of C · mean loss at f.
//!
//! Events, all the gate's own: a Gaussian of noise multiplier `z` for the first two; pure,
//! `ln(1 + CβR²/(BΛ)) + 2/z` and a share for the radius, for the third (E8: RA18 prints
//! `2.8 CβR²/(BΛ) + 2/z` under the condition `2CβR² < BΛ`, which is what `as-published` counts and
//! asks for); for the last see proofs/objective.md. Proofs: proofs/recycled.md,
//! proofs/sensitivity-clipped-sum.md, proofs/minimiser.md, proofs/objective.md.

use reticent_admm::{Refused, Release};
use reticent_oracle::queries::{ClippedMean, Gradient, Minimiser, PerturbedObjective};
use reticent_oracle::{Law, Oracle, PaperClaim, Quadratic, Refusal, Sampling};

use super::rule::StepRule;
use super::state::{NetworkStep, PeerState};
use crate::algorithms::{ProtocolEntry, ProtocolRecipe};

/// The release of a fresh step, with its terms.
#[derive(Clone, Debug)]
pub(super) enum ReleaseKind {
    Gradient { clip: f64 },
    Minimiser { ridge: Ridge },
    Objective { ridge: Ridge, law: Law, smoothness: f64, as_published: bool },
}

/// The penalty as `(m/2)‖·‖²` on the features, and the bound of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ridge {
    m: f64,
    /// The number of penalised coordinates, which are the first ones.
    features: usize,
    row_norm: f64,
}

/// The public part `(curvature/2)‖f‖² + linearᵀf` of a step's objective, up to constants.
struct PublicPart {
    curvature: f64,
    linear: Vec<f64>,
}

/// The erratum: the claim of RA18 is for exact minimisers.
const ERRATUM: u8 = 7;

/// The most noise that a search may ask for, so that it ends.
const ENOUGH: f64 = 1e5;

const TOO_BENT: &str = "whatever the noise, one record of some party bends the objective of a step too much for the \
                        budget: set a larger rho, a larger penalty or fewer iterations, or choose release = \
                        gradient";

const NOT_PRINTED: &str = "the paper counts a step only where 2 C c₁ < B (ρ/N + 2ηV) for every party: set a larger \
                           rho, a smaller loss_weight or a larger penalty, or leave as_published out";

const TOO_LOUD: &str = "with this noise_schedule a step would need a noise multiplier above 1e5: set a factor \
                        nearer to 1, fewer iterations, or a larger rho or penalty, or choose release = gradient";

impl ReleaseKind {
    pub fn new(
        recipe: &ProtocolRecipe<'_>,
        entry: &ProtocolEntry,
        release: Release,
        clip_part: f64,
    ) -> Result<Self, Refused> {
        let as_published = recipe.settings.as_published == Some(true);
        if as_published && release != Release::Objective {
            let allowed = "the published version has release = objective: leave one of the two out";
            return Err(Refused::new("release", release, allowed));
        }
        if release == Release::Gradient {
            return Ok(ReleaseKind::Gradient {
                clip: recipe.settings.clip_or_part(recipe.public, clip_part)?,
            });
        }
        let ridge = Ridge::new(recipe, entry, release)?;
        let law = match release {
            Release::NormalObjective if recipe.unit.is_whole() => {
                let allowed = "it protects records; the others protect whole parties too";
                return Err(Refused::new("release", release, allowed));
            }
            Release::NormalObjective => Law::Normal,
            Release::Objective => Law::SphericalLaplace,
            _ => return Ok(ReleaseKind::Minimiser { ridge }),
        };
        Ok(ReleaseKind::Objective {
            ridge,
            law,
            smoothness: recipe.public.smoothness,
            as_published,
        })
    }

    /// Whether the event depends on the number of neighbours and of records.
    pub fn price_depends_on_party(&self) -> bool {
        matches!(self, ReleaseKind::Objective { .. })
    }

    /// The most events of one release: with a normal linear term, one for it and one for the noise
    /// that covers the radius.
    pub fn events(&self) -> u64 {
        if matches!(self, ReleaseKind::Objective { law: Law::Normal, .. }) { 2 } else { 1 }
    }

    /// The fresh step `k`.
    pub fn ask(
        &self,
        rule: &StepRule,
        k: u32,
        noise_multiplier: f64,
        state: &PeerState,
        oracle: &mut dyn Oracle,
    ) -> Result<NetworkStep, Refusal> {
        let start = &state.own.f;
        match *self {
            ReleaseKind::Gradient { clip } => {
                let params = ClippedMean { clip, noise_multiplier, sampling: Sampling::Full };
                let mut gradient = oracle.ask(&Gradient { at: start, mean: params })?.into_inner();
                gradient.iter_mut().for_each(|g| *g *= rule.weight());
                Ok(NetworkStep {
                    f: rule.linearised(k, state, &gradient),
                    gradient: Some(gradient),
                })
            }
            ReleaseKind::Minimiser { ridge } => {
                let part = ridge.public_part(rule.eta(k), state);
                let over = part.over(rule.weight());
                let (row_norm, public) = (ridge.row_norm, over.quadratic());
                let params = Minimiser { row_norm, public, start, image: false, noise_multiplier };
                Ok(part.recovered(oracle.ask(&params)?.into_inner()))
            }
            ReleaseKind::Objective { ridge, law, smoothness, as_published } => {
                if noise_multiplier > ENOUGH {
                    let why = if rule.has_schedule() { TOO_LOUD } else { TOO_BENT };
                    return Err(Refusal::BadQuery(why.to_owned()));
                }
                let part = ridge.public_part(rule.eta(k), state);
                let over = part.over(rule.weight());
                let (row_norm, public) = (ridge.row_norm, over.quadratic());
                if as_published {
                    let bend =
                        smoothness * row_norm * row_norm / oracle.terms().population() as f64;
                    // The paper on M-ADMM omits the curvature of the penalty.
                    let left_out = if rule.noise_on_penalty() { ridge.m } else { 0.0 };
                    let share = rule.weight() * bend / (part.curvature - left_out);
                    if share >= 0.5 {
                        return Err(Refusal::BadQuery(NOT_PRINTED.to_owned()));
                    }
                    let printed = 2.8 * share + 2.0 / noise_multiplier;
                    oracle.claim(PaperClaim::pure(ERRATUM, printed));
                }
                let params = PerturbedObjective {
                    row_norm,
                    smoothness,
                    public,
                    start,
                    law,
                    noise_multiplier,
                };
                Ok(part.recovered(oracle.ask(&params)?.into_inner()))
            }
        }
    }
}

impl ReleaseKind {
    /// The noisy gradient, which anybody can compute from a broadcast `f` of the fresh step `k` if
    /// the penalty is quadratic.
    pub fn made_public(&self, rule: &StepRule, k: u32, state: &PeerState, f: &[f64]) -> Vec<f64> {
        if let ReleaseKind::Minimiser { ridge } | ReleaseKind::Objective { ridge, .. } = self {
            return ridge.public_part(rule.eta(k), state).gradient_at(f);
        }
        let (m, held) = (rule.penalty_curvature(), rule.stiffness(k, state));
        let slope = state.pull(rule.eta(k)).into_iter().zip(f).zip(&state.own.f);
        slope.map(|((pull, f), before)| -(m * f + pull + held * (f - before))).collect()
    }
}

impl Ridge {
    fn new(
        recipe: &ProtocolRecipe<'_>,
        entry: &ProtocolEntry,
        release: Release,
    ) -> Result<Self, Refused> {
        if let Some(clip) = recipe.settings.clip {
            let allowed = format!(
                "release = {release} shortens rows and clips nothing: leave clip out, or choose release = gradient"
            );
            return Err(Refused::new("clip", clip, allowed));
        }
        let (penalty, shape) = (recipe.regulariser.penalty(), recipe.regulariser.shape());
        let m = penalty.strong_convexity();
        // The same curvature everywhere: a quadratic, and no other penalty of the catalogue.
        if m != penalty.smoothness() {
            let allowed = format!(
                "{} with release = {release} handles l2 and none; release = gradient handles every convex penalty",
                entry.name
            );
            return Err(Refused::new("penalty", penalty.spec(), allowed));
        }
        Ok(Ridge { m, features: shape.features * shape.outputs, row_norm: recipe.public.row_norm })
    }

    /// The gate's ridge is on every coordinate; where the penalty is not, `m b_i` is taken off the
    /// slope, which makes `(m/2)(b − b_i)²` of it: this holds the intercept back and moves no fixed
    /// point.
    fn public_part(&self, eta: f64, state: &PeerState) -> PublicPart {
        let near = 2.0 * eta * state.degree();
        let mut linear = state.pull(eta);
        for (i, (q, f)) in linear.iter_mut().zip(&state.own.f).enumerate() {
            *q -= if i < self.features { near * f } else { (near + self.m) * f };
        }
        PublicPart { curvature: near + self.m, linear }
    }
}

impl PublicPart {
    fn quadratic(&self) -> Quadratic<'_> {
        Quadratic { ridge: self.curvature, linear: &self.linear, penalty: None }
    }

    /// The same for the objective over C.
    fn over(&self, weight: f64) -> PublicPart {
        PublicPart {
            curvature: self.curvature / weight,
            linear: self.linear.iter().map(|q| q / weight).collect(),
        }
    }

    /// The step with the gradient that its optimality condition has made public.
    fn recovered(&self, f: Vec<f64>) -> NetworkStep {
        let gradient = self.gradient_at(&f);
        NetworkStep { f, gradient: Some(gradient) }
    }

    fn gradient_at(&self, f: &[f64]) -> Vec<f64> {
        f.iter().zip(&self.linear).map(|(f, q)| -(self.curvature * f + q)).collect()
    }
}

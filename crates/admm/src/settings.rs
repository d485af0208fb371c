//! What a user may set.

use reticent_oracle::{Law, Refused, Sampling};
use serde::{Deserialize, Serialize};

use crate::average::Average;
use crate::block_schedule::BlockSchedule;
use crate::noise_schedule::NoiseSchedule;
use crate::per_party::{PartyRho, PerParty};
pub use crate::public::ProblemFacts;
use crate::release::Release;
use crate::setting_value::{OfSetting, SettingValue};
use crate::step_size::StepSize;
use crate::walk::WalkState;

/// More iterations are a slip of the keyboard.
const MOST_ITERATIONS: u64 = 100_000_000;

/// A setting of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name, one for its role in all algorithms.
    pub name: &'static str,
    /// Other names that are understood: what papers call it.
    pub letters: &'static [&'static str],
    /// What it is.
    pub about: &'static str,
}

/// The one list of settings: the struct, the names in messages and the refusal of a setting that an
/// algorithm does not have are all made from it.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $field:ident $(($($letter:literal),+))?: $type:ty,)*) => {
        /// Hyper-parameters, each left to the algorithm when it is not given. A setting that an
        /// algorithm does not have is refused rather than passed over.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $($(#[doc = $doc])+
            #[serde(default, skip_serializing_if = "Option::is_none")]
            $($(#[serde(alias = $letter)])+)?
            pub $field: Option<$type>,)*
        }

        impl Settings {
            /// Every setting.
            pub const ALL: &[Setting] = &[$(Setting {
                name: stringify!($field),
                letters: &[$($($letter),+)?],
                about: concat!($($doc),+),
            }),*];

            /// These settings, and where one is not given that of `others`.
            pub fn or(self, others: Settings) -> Settings {
                Settings { $($field: self.$field.or(others.$field),)* }
            }

            /// Sets what `name` names, by its own name or a paper's letter, to what was typed for
            /// it; `false` where there is no such setting.
            ///
            /// # Errors
            /// A text that is no value of the setting, with what is allowed; a setting that has a
            /// value already.
            pub fn set(&mut self, name: &str, text: &str) -> Result<bool, Refused> {
                self.give(name, &text)
            }

            /// The same with a value that need not be text: numbers are taken as they are.
            ///
            /// # Errors
            /// As for a text.
            pub fn give(&mut self, name: &str, given: &dyn SettingValue) -> Result<bool, Refused> {
                $(if name == stringify!($field) $($(|| name == $letter)+)? {
                    let value = OfSetting::of(stringify!($field), given)?;
                    if self.$field.replace(value).is_some() {
                        let allowed = "it is given twice, by one name or by two";
                        return Err(Refused::new(stringify!($field), given, allowed));
                    }
                    return Ok(true);
                })*
                Ok(false)
            }

            /// The settings that were given, by name, as users typed them.
            pub fn given(&self) -> Vec<(&'static str, String)> {
                let mut given = Vec::new();
                $(if let Some(value) = &self.$field {
                    given.push((stringify!($field), value.to_string()));
                })*
                given
            }
        }
    };
}

settings! {
    /// The number of iterations.
    iterations: u64,
    /// The number S of outer loops, with a snapshot each.
    outer: u64,
    /// The number m of inner steps between two snapshots.
    inner: u64,
    /// The records or users of each iteration: full, poisson:RATE or wor:SIZE.
    sampling: Sampling,
    /// The blocks of a consensus that move in each iteration: all, permutation, single or blocks:M.
    schedule: BlockSchedule,
    /// The largest norm of one unit's gradient; with precondition, in its coordinates.
    clip: f64,
    /// The share of the budget for the median size of the targets. The clip of a loss without a
    /// bounded slope is in proportion to it. With 0 the clip is a part of the range of the target.
    clip_share ("clip-share"): f64,
    /// The step size η_k: constant:η, sqrt:η or epoch:η; with precondition, in its coordinates.
    step: StepSize,
    /// The largest momentum: iterate k moves on by min((k − 1)/(k + 2), momentum) of its last
    /// change. In Frank–Wolfe it is the weight of earlier gradients. 0 is none.
    momentum: f64,
    /// The share of the budget for the second moment of the rows. Gradients are then clipped, and
    /// steps taken, in its coordinates; 0, the default, is none.
    precondition: f64,
    /// The penalty parameter ρ of the augmented Lagrangian: β in LS22, η in RA18, 1/γ in FP23.
    rho ("beta", "eta"): f64,
    /// The weight of the term that damps a linearised step: γ in RA18, and in LS22, which divides
    /// the step size by it.
    proximal: f64,
    /// The γ of the papers: 1/rho in consensus, general, federated and walk, proximal in the
    /// others.
    gamma: f64,
    /// The step of the dual variables on a graph, in place of rho: θ in RA18.
    dual_step ("theta", "dual-step"): f64,
    /// The factor by which the penalty parameters grow with every iteration.
    growth: f64,
    /// The weight of the mean loss of a party on a graph beside the penalty, at most the number of its
    /// records: C in RA18; 1, the default.
    loss_weight ("C", "loss-weight"): f64,
    /// The penalty parameter of each party on a graph, in place of rho: one number for each, as
    /// 0.5,1,2, or degree:C for C over the number of its neighbours: η_i.
    party_rho ("party-rho"): PartyRho,
    /// The noise of each party on a graph, as a multiple of what its budget needs: one number of at
    /// least 1 for each, as 1,2,4.
    party_noise ("party-noise"): PerParty,
    /// How noise changes between updates on data, on a graph: constant or geometric:Q, where 1/Q is
    /// the growth of α_i(k) in RA18.
    noise_schedule ("noise-schedule"): NoiseSchedule,
    /// The start of parties on a graph: uniform numbers from −start to start, by the public seed; 0,
    /// the default, is zero.
    start: f64,
    /// The output of a step on a graph: gradient, minimiser, objective or normal-objective.
    release: Release,
    /// Laplacian smoothing, for columns with an order (time, frequency, place): ν in LS22; 0, the
    /// default, is none.
    smoothing ("nu"): f64,
    /// The relaxation of a fixed-point iteration, above 0 and at most 1: λ in FP23.
    relaxation ("lambda"): f64,
    /// The strong convexity that step sizes assume, in place of the penalty's: μ in LS22; 0 is the
    /// general convex case. A wrong one costs accuracy, not privacy: no noise depends on it.
    strong_convexity ("mu", "strong-convexity"): f64,
    /// The radius of the ball that contains the parameter.
    radius: f64,
    /// The public bound D_w of the distance between two feasible parameters (DPA19).
    diameter: f64,
    /// Whether users of a random walk keep state between visits: stateless or stateful.
    walk: WalkState,
    /// The average of iterates that is the solution: last, uniform, weighted or late.
    average: Average,
    /// The shrinkage of scores towards their mean: how far from 1 its factor is expected to be. The
    /// released gradients determine the factor; 0, the default, is none. Only with precondition.
    shrinkage: f64,
    /// Whether the noise of a correction shrinks with its distance from the snapshot: true, the
    /// default, or false.
    shrink: bool,
    /// The law of a random linear term: normal, or spherical-laplace for a pure ε.
    law: Law,
    /// The fraction of all parties that is assumed honest, with masked sums.
    honest: f64,
    /// The constant of the noise of a published version, which its paper leaves open: c₂ in LS22's
    /// Theorem 1; 1, the default. Only with as_published.
    noise_constant ("c2", "noise-constant"): f64,
    /// Run the paper's own version, whose privacy claim does not hold; the result is not certified.
    as_published ("as-published"): bool,
}

/// `value`, if it is a positive number.
pub fn positive(name: &'static str, value: f64) -> Result<f64, Refused> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(Refused::new(name, value, "a number above 0 is needed"))
}

/// `value`, if it is a number that is not negative.
pub fn not_negative(name: &'static str, value: f64) -> Result<f64, Refused> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(Refused::new(name, value, "a number of at least 0 is needed"))
}

/// `value`, if it lies above 0 and not above 1.
pub fn fraction(name: &'static str, value: f64) -> Result<f64, Refused> {
    if value > 0.0 && value <= 1.0 {
        return Ok(value);
    }
    Err(Refused::new(name, value, "a number above 0 and at most 1 is needed"))
}

/// `value`, if it is not zero.
pub fn at_least_one(name: &'static str, value: u64) -> Result<u64, Refused> {
    if value > 0 {
        return Ok(value);
    }
    Err(Refused::new(name, value, "a whole number of at least 1 is needed"))
}

impl Settings {
    /// The name of the setting that a user calls so, by its own name or by a paper's letter.
    pub fn named(text: &str) -> Option<&'static str> {
        let known = |setting: &&Setting| setting.name == text || setting.letters.contains(&text);
        Settings::ALL.iter().find(known).map(|setting| setting.name)
    }

    /// Refuses a setting that is not among `takes`, in the name of `algorithm`.
    pub fn only(&self, algorithm: &str, takes: &[&str]) -> Result<(), Refused> {
        match self.given().into_iter().find(|(name, _)| !takes.contains(name)) {
            None => Ok(()),
            Some((name @ "as_published", given)) => Err(Refused {
                name,
                given,
                allowed: format!(
                    "{algorithm} has no such setting: there is no published version of it with a claim that does \
                     not hold; these have one: {}",
                    crate::catalogue::with_errata().join(", ")
                ),
            }),
            Some((name, given)) => Err(Refused {
                name,
                given,
                allowed: format!(
                    "{algorithm} has no such setting; it takes {}; leave {name} out or choose another algorithm",
                    if takes.is_empty() { "none".to_owned() } else { takes.join(", ") }
                ),
            }),
        }
    }

    /// Iterations, at least one.
    pub fn iterations_or(&self, default: u64) -> Result<u64, Refused> {
        let iterations = at_least_one("iterations", self.iterations.unwrap_or(default))?;
        if iterations > MOST_ITERATIONS {
            let allowed = format!(
                "at most {MOST_ITERATIONS}: every one is rehearsed before the run, and again for its noise"
            );
            return Err(Refused::new("iterations", iterations, allowed));
        }
        Ok(iterations)
    }

    /// The step of a prox: 1/ρ by `rho`, γ by `gamma`, or `default`.
    pub fn prox_step_or(&self, default: f64) -> Result<f64, Refused> {
        match (self.rho, self.gamma) {
            (Some(_), Some(gamma)) => Err(Refused::new(
                "gamma",
                gamma,
                "it is 1/rho here, and rho is given too; give one of the two",
            )),
            (Some(rho), None) => Ok(1.0 / positive("rho", rho)?),
            (None, gamma) => positive("gamma", gamma.unwrap_or(default)),
        }
    }

    /// The weight that holds a linearised step back, and the name by which it was given.
    pub fn proximal_weight(&self) -> Result<Option<(&'static str, f64)>, Refused> {
        match (self.proximal, self.gamma) {
            (Some(_), Some(gamma)) => Err(Refused::new(
                "gamma",
                gamma,
                "it is proximal here, and that is given too; give one of the two",
            )),
            (Some(weight), None) => Ok(Some(("proximal", weight))),
            (None, gamma) => Ok(gamma.map(|weight| ("gamma", weight))),
        }
    }

    /// The clip, or the largest norm that a gradient of the loss can have: then nothing is clipped.
    /// For a loss without such a bound see [`ProblemFacts::slope`].
    pub fn clip_or_bound(&self, public: &ProblemFacts) -> Result<f64, Refused> {
        self.clip_or_part(public, 1.0)
    }

    /// The clip, or that part of the largest norm.
    pub fn clip_or_part(&self, public: &ProblemFacts, part: f64) -> Result<f64, Refused> {
        positive("clip", self.clip.unwrap_or(part * public.slope() * public.row_norm))
    }

    /// η_k, or so many times 1/L, the step of gradient descent on a loss whose gradient is
    /// L-Lipschitz. A loss with kinks has no L and needs a step that decays; its gradients are at
    /// most the row norm long, so 1/R is a step of about 1 in the scores.
    pub(crate) fn step_or_times(
        &self,
        public: &ProblemFacts,
        times: f64,
    ) -> Result<StepSize, Refused> {
        let smooth = public.gradient_lipschitz();
        let default = if smooth.is_finite() && smooth > 0.0 {
            StepSize::Constant(times / smooth)
        } else {
            StepSize::Sqrt(times / public.row_norm)
        };
        self.step.unwrap_or(default).checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_not_taken_is_refused_by_name() {
        let settings = Settings { rho: Some(0.5), smoothing: Some(2.0), ..Settings::default() };
        let error = settings.only("dp-sgd", &["rho", "step"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "smoothing = 2: dp-sgd has no such setting; it takes rho, step; leave smoothing out or choose another \
             algorithm"
        );
        assert_eq!(settings.only("x", &["smoothing", "rho"]), Ok(()));
    }

    /// The letters of the papers stand for the names, and no two settings share one.
    #[test]
    fn every_setting_has_one_name_and_its_letters() {
        let names: Vec<&str> = Settings::ALL
            .iter()
            .flat_map(|setting| std::iter::once(&setting.name).chain(setting.letters))
            .copied()
            .collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name} has two meanings");
        }
        for letter in ["rho", "beta", "eta"] {
            let mut settings = Settings::default();
            assert_eq!(settings.set(letter, "0.5"), Ok(true));
            assert_eq!(settings.rho, Some(0.5), "{letter}");
            assert!(settings.set("beta", "0.5").is_err(), "twice, by two names");
            let file = format!("{{\"{letter}\": 0.5}}");
            assert_eq!(serde_json::from_str::<Settings>(&file).unwrap().rho, Some(0.5));
        }
        assert_eq!(Settings::default().set("epsilon", "1"), Ok(false));
        assert!(serde_json::from_str::<Settings>(r#"{"rho": 1, "eta": 1}"#).is_err());
    }

    #[test]
    fn gamma_is_what_its_paper_has() {
        let settings = Settings { gamma: Some(4.0), ..Settings::default() };
        assert_eq!(settings.prox_step_or(1.0), Ok(4.0));
        assert_eq!(settings.proximal_weight(), Ok(Some(("gamma", 4.0))));
        let rho = Settings { rho: Some(0.25), ..Settings::default() };
        assert_eq!(rho.prox_step_or(1.0), Ok(4.0));
        let both = Settings { rho: Some(1.0), proximal: Some(1.0), ..settings };
        assert!(both.prox_step_or(1.0).is_err() && both.proximal_weight().is_err());
        assert_eq!(Settings::default().prox_step_or(2.0), Ok(2.0));
        assert_eq!(Settings::default().proximal_weight(), Ok(None));
    }

    #[test]
    fn ranges_are_closed_where_they_say() {
        assert!(positive("rho", 0.0).is_err() && positive("rho", f64::NAN).is_err());
        assert!(not_negative("nu", 0.0).is_ok() && not_negative("nu", f64::INFINITY).is_err());
        assert!(fraction("lambda", 1.0).is_ok() && fraction("lambda", 1.1).is_err());
        assert!(fraction("lambda", 0.0).is_err() && fraction("lambda", f64::NAN).is_err());
        assert!(at_least_one("outer", 0).is_err());
    }
}

//! What RDP20's experiments have in common: the methods, the strengths of the penalty and how
//! models are trained.
//!
//! ssADMM and DP-SGD are drawn twice: with the paper's own noise (Lemma 2 and Proposition 1, more
//! than is needed, E18) and with the least that is certified. mpADMM perturbs x, z and y, of which z
//! and y follow from x (erratum E4); perturbed once it is ssADMM on all records to the last bit. So
//! its certified curve is ssADMM's on full batches, and what is drawn besides is the published one,
//! at an η that the paper leaves open and at which E4 gives it too little noise.

use reticent::accountant::Mechanism;

use crate::bounds::{self, TheoremBound};
use crate::claim::{Class, Reason, Version};
use crate::error::ExperimentError;
use crate::experiment::Context;
use crate::report::Series;
use crate::train::{Among, Calibrations, Price, TrainMethod, TrainProblem, method};

pub(super) const DELTA: f64 = 1e-8;

/// ρ of ssADMM.
const RHO: f64 = 0.25;

/// η⁰ of ssADMM and DP-SGD, which is 1/g of the logistic loss on rows of norm 1, and their expected
/// epochs: in one alone η⁰/h would be the constant step that the paper has found worse.
const ETA: f64 = 4.0;
const EPOCHS: f64 = 3.0;

/// What differs from every figure of the paper.
pub(super) const CHANGES: &str = "As published: the paper's ρ, batches of √n, η⁰ over the epoch, δ = 1e-8 and accountant (Lemma 2, \
                                  Proposition 1); η⁰ = 4 (1/g of the logistic loss), three epochs, and η = 100 with T = 1000 \
                                  of mpADMM, which it leaves open, are ours. Which of ssADMM and DP-SGD is ahead depends on \
                                  them: with η⁰ = 1 and one epoch, a constant step, it is DP-SGD by 0.001 to 0.007 on Adult. \
                                  Certified: the same steps, with the least noise. ssADMM and DP-SGD as published are private, \
                                  with more noise than they need, and there is no noise for a small ε (E18); mpADMM is NOT \
                                  PRIVATE at its ε (E4).";

/// What Theorem 2 asks for, and whether it is so.
pub(super) const CONDITIONS: &str = "What Theorem 2 asks for: iterates within a set, which nothing here keeps them in; its \
                                     diameter is taken as twice the norm of the optimum. Steps in proportion to 1/√k: not \
                                     held, the paper's own are η⁰ over the epoch; the bound is at the steps that make it \
                                     least. It is on the average of the iterates.";

/// Why claims about RDP20's methods do not hold.
pub(super) const REASONS: &[Reason] = &[
    Reason {
        of: &["mpADMM"],
        version: Some(Version::Certified),
        class: Class::Paper,
        why: "Perturbed once, as is enough, mpADMM is ssADMM on all records (E4).",
    },
    Reason {
        of: &["ADMM-objP finds"],
        version: None,
        class: Class::Paper,
        why: "The tilt has to cover every iteration, and the solver's distance from the exact minimiser as well (E7).",
    },
];

/// Theorem 2 on the objective of ssADMM, over ε.
pub(super) fn bound(
    calibrations: &Calibrations,
    problem: &TrainProblem<'_>,
    (method, optimum): (&TrainMethod, &[f64]),
    epsilons: &[f64],
) -> Result<TheoremBound, ExperimentError> {
    let norm = optimum.iter().map(|v| v * v).sum::<f64>().sqrt();
    let theory = bounds::rdp20::Rdp20Setting {
        features: problem.train.columns,
        clip: 1.0,
        rho: RHO,
        optimum: norm,
        diameter: 2.0 * norm,
    };
    let best = problem.objective(optimum)?;
    let mut points = Vec::new();
    for &epsilon in epsilons {
        let (noise, size, t) = step(calibrations, problem, method, epsilon)?;
        let sigma = noise / size as f64;
        points.push((epsilon, best + theory.convex(t as f64, sigma)));
    }
    Ok(TheoremBound::new("Theorem 2 (ssADMM)", points))
}

/// λ of the L1 penalty.
pub(super) fn lambdas(context: &Context<'_>) -> &'static [f64] {
    context.pick(&[1e-4, 1e-3], &[1e-4])
}

/// RDP20's methods for a table of so many rows; batches of √n.
pub(super) fn methods(rows: usize) -> Vec<TrainMethod> {
    let batch = (rows as f64).sqrt().round();
    let steps = (EPOCHS * rows as f64 / batch).ceil();
    let sampled = format!("sampling=wor:{batch} iterations={steps} step=epoch:{ETA}");
    vec![
        method("ssADMM", "ssadmm", format!("{sampled} rho={RHO}")),
        method("DP-SGD", "dp-sgd", sampled.clone()),
        method("ssADMM (published)", "ssadmm", format!("{sampled} rho={RHO} as_published")),
        method("DP-SGD (published)", "dp-sgd", sampled),
        method("mpADMM", "mpadmm", "rho=0.5"),
        method("mpADMM (published)", "mpadmm", "rho=0.5 step=100 iterations=1000 as_published"),
        method("DP-ADMM, 2 parties", "dp-admm", ""),
        method("ADMM-objP", "objp", ""),
    ]
}

/// Which of [`methods`] is which.
pub(super) const SS: usize = 0;
pub(super) const SGD: usize = 1;
pub(super) const SS_PRINTED: usize = 2;
pub(super) const SGD_PRINTED: usize = 3;
pub(super) const MP: usize = 4;
pub(super) const MP_PUBLISHED: usize = 5;
pub(super) const DP_ADMM: usize = 6;
pub(super) const OBJP: usize = 7;

/// The versions of ssADMM and DP-SGD, with the places of both.
const BOTH: [(usize, usize, Version); 2] =
    [(SS, SGD, Version::Certified), (SS_PRINTED, SGD_PRINTED, Version::Printed)];

/// A curve for each method.
pub(super) fn curves(methods: &[TrainMethod]) -> Vec<Series> {
    methods.iter().map(|method| Series::new(method.name)).collect()
}

/// Which method has noise at which ε.
pub(super) fn cells(
    calibrations: &Calibrations,
    problem: &TrainProblem<'_>,
    all: &[TrainMethod],
    epsilons: &[f64],
) -> Result<Vec<(usize, f64)>, ExperimentError> {
    let mut cells = Vec::new();
    for &epsilon in epsilons {
        for (k, method) in all.iter().enumerate() {
            let price = Price::Budget(epsilon, DELTA);
            let reached = match k {
                SS_PRINTED => calibrations.reaches(problem, method, price)?,
                SGD_PRINTED => calibrations.reaches(problem, &all[SS_PRINTED], price)?,
                _ => true,
            };
            cells.extend(reached.then_some((k, epsilon)));
        }
    }
    Ok(cells)
}

/// The versions of ssADMM and DP-SGD that were measured, with the places of both and the least ε.
pub(super) fn versions(series: &[Series]) -> Vec<(usize, usize, Version, f64)> {
    let least = |k: usize| series[k].points.iter().map(|point| point.0).reduce(f64::min);
    BOTH.into_iter().filter_map(|(ss, sgd, v)| Some((ss, sgd, v, least(ss)?))).collect()
}

/// What was measured anywhere.
pub(super) fn drawn(series: Vec<Series>) -> Vec<Series> {
    series.into_iter().filter(|series| !series.points.is_empty()).collect()
}

/// The noise that RDP20's accountant has for ssADMM at ε, which DP-SGD has too.
fn printed(
    calibrations: &Calibrations,
    problem: &TrainProblem<'_>,
    method: &TrainMethod,
    epsilon: f64,
) -> Result<f64, ExperimentError> {
    let settings = format!("{} rho={RHO} as_published", method.settings);
    let ssadmm = TrainMethod { algorithm: "ssadmm", settings, ..method.clone() };
    Ok(step(calibrations, problem, &ssadmm, epsilon)?.0)
}

/// The noise of a step of ssADMM in clips, the size of its sample, and how many there are.
fn step(
    calibrations: &Calibrations,
    problem: &TrainProblem<'_>,
    method: &TrainMethod,
    epsilon: f64,
) -> Result<(f64, u64, u64), ExperimentError> {
    let plan = calibrations.plan(problem, method, Price::Budget(epsilon, DELTA))?;
    let step = plan.entries().iter().find_map(|entry| match entry.event().mechanism() {
        Mechanism::WithoutReplacementGaussian(step) => {
            Some((step.noise_multiplier(), step.size(), entry.count()))
        }
        _ => None,
    });
    step.ok_or_else(|| ExperimentError::account("ssADMM has no sampled step"))
}

/// Two parties with half of the records each.
const TWO: Among = Among { parties: 2, topology: None };

/// ADMM-objP releases a minimiser, for which it needs a ridge beside its L1.
pub(super) const RIDGE: f64 = 0.01;

/// The model of a method with penalty λ at ε.
pub(super) fn train(
    calibrations: &Calibrations,
    (problem, lambda): (&TrainProblem<'_>, f64),
    method: &TrainMethod,
    epsilon: f64,
    seed: u64,
) -> Result<Vec<f64>, ExperimentError> {
    let price = Price::Budget(epsilon, DELTA);
    match method.algorithm {
        "dp-admm" => problem.simulate(method, price, TWO, seed),
        "objp" => {
            let penalty = format!("elastic-net:{lambda},{RIDGE}");
            let ridged = TrainProblem { penalty, ..problem.clone() };
            calibrations.fit(&ridged, method, price, seed)
        }
        "dp-sgd" if method.name.ends_with("(published)") => {
            let noise = printed(calibrations, problem, method, epsilon)?;
            problem.fit(method, Price::Noise(noise, DELTA), seed)
        }
        _ => calibrations.fit(problem, method, price, seed),
    }
}

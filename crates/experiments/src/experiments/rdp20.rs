//! What RDP20's experiments have in common: the methods, the strengths of the penalty and how
//! models are trained.
//!
//! mpADMM perturbs x, z and y, of which z and y follow from x (erratum E4); perturbed once it is
//! ssADMM on all records to the last bit. So its certified curve is ssADMM's on full batches, and
//! what is drawn besides is the published one, at η = 4, where E4 gives it too little noise.

use reticent::accountant::Mechanism;

use crate::bounds::{self, Bound};
use crate::error::Error;
use crate::experiment::Context;
use crate::report::Series;
use crate::train::{Among, Calibrations, Method, Price, Problem, method};

pub(super) const DELTA: f64 = 1e-8;

/// What mpADMM's published curve is.
pub(super) const PUBLISHED: &str = "mpADMM (published) has at η = 4 less noise than its ε needs (E4), so that it is NOT PRIVATE \
                                    at the ε that it is drawn at.";

/// ρ of ssADMM.
const RHO: f64 = 0.25;

/// What Theorem 2 asks for, and whether it is so.
pub(super) const CONDITIONS: &str = "What Theorem 2 asks for: iterates within a set, which nothing here keeps them in; its \
                                     diameter is taken as twice the norm of the optimum. Steps in proportion to 1/√k: not \
                                     held, those of docs/settings.md are constant; the bound is at the steps that make it \
                                     least. It is on the average of the iterates.";

/// Theorem 2 on the objective of ssADMM, over ε.
pub(super) fn bound(
    calibrations: &Calibrations,
    problem: &Problem<'_>,
    (method, optimum): (&Method, &[f64]),
    epsilons: &[f64],
) -> Result<Bound, Error> {
    let norm = optimum.iter().map(|v| v * v).sum::<f64>().sqrt();
    let theory = bounds::rdp20::Setting {
        features: problem.train.columns,
        clip: 1.0,
        rho: RHO,
        optimum: norm,
        diameter: 2.0 * norm,
    };
    let best = problem.objective(optimum)?;
    let mut points = Vec::new();
    for &epsilon in epsilons {
        let plan = calibrations.plan(problem, method, Price::Budget(epsilon, DELTA))?;
        let step = plan.entries().iter().find_map(|entry| match entry.event().mechanism() {
            Mechanism::WithoutReplacementGaussian(step) => Some((*step, entry.count())),
            _ => None,
        });
        let (step, t) = step.ok_or_else(|| Error::account("ssADMM has no sampled step"))?;
        let sigma = step.noise_multiplier() / step.size() as f64;
        points.push((epsilon, best + theory.convex(t as f64, sigma)));
    }
    Ok(Bound::new("Theorem 2 (ssADMM)", points))
}

/// λ of the L1 penalty.
pub(super) fn lambdas(context: &Context<'_>) -> &'static [f64] {
    context.pick(&[1e-4, 1e-3], &[1e-4])
}

/// RDP20's methods for a table of so many rows; batches of √n.
pub(super) fn methods(rows: usize) -> Vec<Method> {
    let batch = (rows as f64).sqrt().round();
    vec![
        method("ssADMM", "ssadmm", format!("sampling=wor:{batch} rho={RHO}")),
        method("DP-SGD", "dp-sgd", format!("sampling=wor:{batch}")),
        method("mpADMM (certified)", "mpadmm", "rho=0.5"),
        method("mpADMM (published)", "mpadmm", "rho=0.5 step=4 as_published"),
    ]
}

/// A curve for each method.
pub(super) fn curves(methods: &[Method]) -> Vec<Series> {
    methods.iter().map(|method| Series::new(method.name)).collect()
}

/// Two parties with half of the records each.
const TWO: Among = Among { parties: 2, topology: None };

/// ADMM-objP releases a minimiser, for which it needs a ridge beside its L1.
pub(super) const RIDGE: f64 = 0.01;

/// The model of a method with penalty λ at ε.
pub(super) fn train(
    calibrations: &Calibrations,
    (problem, lambda): (&Problem<'_>, f64),
    method: &Method,
    epsilon: f64,
    seed: u64,
) -> Result<Vec<f64>, Error> {
    let price = Price::Budget(epsilon, DELTA);
    match method.algorithm {
        "dp-admm" => problem.simulate(method, price, TWO, seed),
        "objp" => {
            let penalty = format!("elastic-net:{lambda},{RIDGE}");
            let ridged = Problem { penalty, ..problem.clone() };
            calibrations.fit(&ridged, method, price, seed)
        }
        _ => calibrations.fit(problem, method, price, seed),
    }
}

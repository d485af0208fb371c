//! A loss of classes in which a record counts as much as its class: `φ_w(w; b) = ω_b·φ(w; b)`.
//!
//! Slopes and curvatures are ω_b times those of φ, so that their bounds are the largest weight times
//! its own; the prox with step t is that of φ with step ω_b·t.

use std::sync::Arc;

use super::{Loss, LossTarget};
use crate::ParseError;

/// A loss of classes with a weight for each of them. It is written as the loss alone.
#[derive(Clone, Debug)]
pub struct Weighted {
    loss: Arc<dyn Loss>,
    weights: Vec<f64>,
    most: f64,
}

impl Weighted {
    /// What a weight may be.
    pub const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

    /// `loss` with a weight for each class, in their order.
    ///
    /// # Errors
    /// If it is no loss of so many classes or has weights already, or a weight is not between 1e-6
    /// and 1e6.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use reticent_problem::losses::{Logistic, Loss, Weighted};
    ///
    /// let weighted = Weighted::new(Arc::new(Logistic), vec![0.5, 3.0])?;
    /// assert_eq!((weighted.lipschitz(), weighted.smoothness()), (3.0, 0.75));
    /// assert_eq!(weighted.value(&[0.0], -1.0), 0.5 * Logistic.value(&[0.0], -1.0));
    /// assert!(Weighted::new(Arc::new(Logistic), vec![1.0, 0.0]).is_err());
    /// assert!(Weighted::new(Arc::new(weighted), vec![1.0, 2.0]).is_err());
    /// # Ok::<(), reticent_problem::ParseError>(())
    /// ```
    pub fn new(loss: Arc<dyn Loss>, weights: Vec<f64>) -> Result<Self, ParseError> {
        let refuse = |parameter, given: f64, range: &str| {
            let (name, given, range) = (loss.name(), given.to_string(), range.to_owned());
            Err(ParseError::OutOfRange { name, parameter, given, range })
        };
        let (count, number) = (weights.len() as f64, "the number of class weights");
        let classes = match loss.target() {
            LossTarget::Binary => 2,
            LossTarget::Classes(classes) => classes,
            LossTarget::Real => return refuse(number, count, "0: its target is a number"),
        };
        // Weights of weights would be told by the outer ones alone.
        if !loss.weights().is_empty() {
            return refuse(number, count, "0: it has class weights already");
        }
        if weights.len() != classes {
            return refuse(number, count, &format!("{classes}, one for each class"));
        }
        if let Some(weight) = weights.iter().find(|weight| !Self::WEIGHTS.contains(weight)) {
            return refuse("the weight of a class", *weight, "between 1e-6 and 1e6");
        }
        let most = weights.iter().fold(0.0, |most: f64, weight| most.max(*weight));
        Ok(Weighted { loss, weights, most })
    }

    /// The weight of the class that a target is.
    fn weight(&self, target: f64) -> f64 {
        let class = match self.loss.target() {
            LossTarget::Binary => usize::from(target > 0.0),
            _ => target as usize,
        };
        // What is no class has none: the gate refuses such tables.
        self.weights.get(class).copied().unwrap_or(0.0)
    }
}

fn scale(out: &mut [f64], by: f64) {
    out.iter_mut().for_each(|value| *value *= by);
}

impl Loss for Weighted {
    fn name(&self) -> &'static str {
        self.loss.name()
    }

    fn spec(&self) -> String {
        self.loss.spec()
    }

    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn target(&self) -> LossTarget {
        self.loss.target()
    }

    fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    fn value(&self, scores: &[f64], target: f64) -> f64 {
        self.weight(target) * self.loss.value(scores, target)
    }

    fn derivative(&self, scores: &[f64], target: f64, out: &mut [f64]) {
        self.loss.derivative(scores, target, out);
        scale(out, self.weight(target));
    }

    fn derivatives(&self, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        self.loss.derivatives(scores, targets, out);
        for (out, &target) in out.chunks_exact_mut(self.outputs()).zip(targets) {
            scale(out, self.weight(target));
        }
    }

    fn curvature(&self, scores: &[f64], target: f64, out: &mut [f64]) {
        self.loss.curvature(scores, target, out);
        scale(out, self.weight(target));
    }

    fn prox(&self, scores: &[f64], target: f64, step: f64, out: &mut [f64]) {
        self.loss.prox(scores, target, step * self.weight(target), out);
    }

    fn one_sided(&self) -> bool {
        self.loss.one_sided()
    }

    fn lipschitz(&self) -> f64 {
        self.most * self.loss.lipschitz()
    }

    fn smoothness(&self) -> f64 {
        self.most * self.loss.smoothness()
    }
}

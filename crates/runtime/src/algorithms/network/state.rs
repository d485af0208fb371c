//! The state of a peer: functions of its own broadcasts and those of its neighbours.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rule::StepRule;
use crate::algorithms::shorten;

/// A broadcast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Share {
    /// f.
    pub f: Vec<f64>,
    /// s, the sum of θf over the dual updates so far.
    pub s: Vec<f64>,
}

/// The state of a peer between two steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PeerState {
    /// The last round that it has begun.
    pub round: u32,
    /// Its last broadcast.
    pub own: Share,
    /// The last broadcast of each neighbour; the first ones are public.
    pub near: BTreeMap<u32, Share>,
    /// g, from its last fresh step.
    pub gradient: Option<Vec<f64>>,
}

/// The result of a step.
pub(super) struct NetworkStep {
    /// The new f.
    pub f: Vec<f64>,
    /// The noisy gradient of the losses that f has made public, if the step was fresh.
    pub gradient: Option<Vec<f64>>,
}

impl PeerState {
    /// The initial state, with these f and λ = 0.
    pub fn new(own: Vec<f64>, neighbours: impl IntoIterator<Item = (u32, Vec<f64>)>) -> Self {
        let begun = |f: Vec<f64>| Share { s: vec![0.0; f.len()], f };
        let near = neighbours.into_iter().map(|(id, f)| (id, begun(f))).collect();
        PeerState { round: 0, own: begun(own), near, gradient: None }
    }

    /// V_i.
    pub fn degree(&self) -> f64 {
        self.near.len() as f64
    }

    /// `2λ_i + η Σ_j (f_i − f_j)`: the gradient at f_i of the public terms except r.
    pub fn pull(&self, eta: f64) -> Vec<f64> {
        let mut pull = vec![0.0; self.own.f.len()];
        for Share { f, s } in self.near.values() {
            for (i, pull) in pull.iter_mut().enumerate() {
                *pull += self.own.s[i] - s[i] + eta * (self.own.f[i] - f[i]);
            }
        }
        pull
    }

    /// Applies step `k`.
    pub fn take(&mut self, step: NetworkStep, rule: &StepRule, k: u32) {
        self.own.f = step.f;
        shorten(&mut self.own.f, rule.radius());
        if step.gradient.is_some() {
            self.gradient = step.gradient;
        }
        if rule.is_fresh(k) {
            let theta = rule.theta(k);
            // Neighbours are assumed not to move until their next message; otherwise a silent
            // neighbour would seem to move by all of θf.
            for Share { f, s } in std::iter::once(&mut self.own).chain(self.near.values_mut()) {
                s.iter_mut().zip(f).for_each(|(s, f)| *s += theta * *f);
            }
        }
    }

    /// Receives a neighbour's broadcast of round `k`, clipped to the length of the longest honest
    /// one, so that no message moves a peer further than an honest one can.
    pub fn hear(&mut self, from: u32, mut share: Share, rule: &StepRule, k: u32) {
        shorten(&mut share.f, rule.radius());
        shorten(&mut share.s, rule.reach(k));
        self.near.insert(from, share);
    }
}

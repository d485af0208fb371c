//! Who writes down what a run comes to. It hears and says nothing: no run can depend on it.

use std::sync::{Arc, Mutex, PoisonError};

use reticent_accountant::{Ledger, View};
use reticent_admm::Progress;
use reticent_oracle::{Gate, Listener};
use reticent_runtime::{RunProgress, SimulatedRun};

use super::row::{Trace, TraceRow};
use super::{At, Tracing, norm};

/// What was heard since the last row.
#[derive(Debug, Default)]
struct Heard {
    square: f64,
    events: u64,
}

/// Writes the trace of a fit.
#[derive(Debug)]
pub(crate) struct Recorder<'p> {
    tracing: Tracing<'p>,
    heard: Arc<Mutex<Heard>>,
    trace: Trace,
}

impl<'p> Recorder<'p> {
    pub fn new(tracing: Tracing<'p>, delta: f64) -> Self {
        let trace = Trace {
            rows: Vec::new(),
            delta,
            metrics: tracing.public.as_ref().map_or(&[], |public| public.metrics()),
            not_private: tracing.public.is_some(),
            certified: false,
        };
        Recorder { tracing, heard: Arc::default(), trace }
    }

    /// Hears every answer of this gate.
    pub fn follow(&self, gate: &mut Gate) {
        gate.listen(self.listener());
    }

    /// The listener of answers.
    pub fn listener(&self) -> Listener {
        let heard = Arc::clone(&self.heard);
        Box::new(move |answer, events| {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.square += answer.iter().map(|v| v * v).sum::<f64>();
            heard.events = events;
        })
    }

    /// The end of an iteration.
    pub fn note(&mut self, Progress { done, of }: Progress, at: At<'_>) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let square = std::mem::take(&mut heard.square);
        let events = heard.events;
        drop(heard);
        if done % self.tracing.every.max(1) != 0 && done != of {
            return;
        }
        let (running, averaged) = (at.running(), at.published());
        let mut row = TraceRow {
            iteration: done,
            events,
            released_norm: Some(square.sqrt()),
            iterate_norm: Some(norm(&running)),
            averaged_norm: Some(norm(&averaged)),
            residual: at.residual(),
            ..TraceRow::default()
        };
        if let Some(public) = &mut self.tracing.public {
            // A parameter that ran away is worth nothing; the run says so itself.
            row.running = public.examine(&running).ok();
            row.averaged = match averaged == running {
                true => row.running.clone(),
                false => public.examine(&averaged).ok(),
            };
        }
        self.trace.rows.push(row);
    }

    /// The trace of a run with this plan, which is certified or not.
    pub fn finish(self, plan: &Ledger, certified: bool) -> Trace {
        let mut trace = Trace { certified, ..self.trace };
        trace.price(std::slice::from_ref(plan));
        trace
    }
}

/// Writes the trace of a run between parties.
#[derive(Debug)]
pub(crate) struct Rounds<'p> {
    tracing: Tracing<'p>,
    trace: Trace,
    view: View,
    mean: Vec<f64>,
    count: f64,
}

impl<'p> Rounds<'p> {
    pub fn new(tracing: Tracing<'p>, delta: f64, view: View) -> Self {
        let Recorder { tracing, trace, .. } = Recorder::new(tracing, delta);
        Rounds { tracing, trace, view, mean: Vec::new(), count: 0.0 }
    }

    /// The end of a round, as it has left the run.
    pub fn note(&mut self, run: &SimulatedRun) {
        let RunProgress { done, of } = run.progress();
        if done == 0 {
            return;
        }
        let published = run.protocol().published(run.nodes());
        if let Some(model) = &published {
            self.count += 1.0;
            self.mean.resize(model.len(), 0.0);
            self.mean.iter_mut().zip(model).for_each(|(m, x)| *m += (x - *m) / self.count);
        }
        if u64::from(done) % self.tracing.every.max(1) != 0 && done != of {
            return;
        }
        let told = run.protocol().traffic_is_public();
        // Against one peer among others the guarantee is about what that peer sees, and the models
        // of all rounds are more.
        let seen = published.as_deref().filter(|_| self.view != View::Network);
        let mut row = TraceRow {
            iteration: done.into(),
            rounds: Some(done.into()),
            messages: told.then_some(run.traffic().messages),
            bytes: told.then_some(run.traffic().bytes),
            events: run.protocol().events_by(done),
            iterate_norm: seen.map(norm),
            averaged_norm: seen.map(|_| norm(&self.mean)),
            ..TraceRow::default()
        };
        if let Some(public) = &mut self.tracing.public {
            row.running = published.and_then(|model| public.examine(&model).ok());
            row.averaged = public.examine(&self.mean).ok();
            row.consensus_error = consensus_error(run);
        }
        self.trace.rows.push(row);
    }

    /// The trace of a run in which parties have these plans, which is certified or not.
    pub fn finish(self, plans: &[Ledger], certified: bool) -> Trace {
        let mut trace = Trace { certified, ..self.trace };
        trace.price(plans);
        trace
    }
}

/// The largest distance of a party's model from the mean of all.
fn consensus_error(run: &SimulatedRun) -> Option<f64> {
    let own = run.nodes().iter().filter(|node| node.party().is_some());
    let models: Vec<Vec<f64>> =
        own.filter_map(|node| node.model().map(|model| model.parameter)).collect();
    let first = models.first()?;
    let mean: Vec<f64> = (0..first.len())
        .map(|j| models.iter().map(|model| model[j]).sum::<f64>() / models.len() as f64)
        .collect();
    let apart = |model: &Vec<f64>| {
        norm(&model.iter().zip(&mean).map(|(x, mean)| x - mean).collect::<Vec<_>>())
    };
    Some(models.iter().map(apart).fold(0.0, f64::max))
}

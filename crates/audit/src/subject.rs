//! What is attacked: a fit of one table, an evaluation on one, a statistic of it, or a run of many
//! parties.

use reticent::accountant::{Ledger, Refused, View};
use reticent::{Error, Repeat, Seen};
use reticent_data::Table;

use crate::asked::{self, StatisticSubject};
use crate::evaluated::{self, EvaluationSubject};
use crate::parties::{self, PartiesSubject};
use crate::reading::Family;
use crate::spec::AuditSpec;

/// A calibrated job that can be run on one world after the other.
#[derive(Debug)]
pub(crate) enum Subject {
    Fit(Box<Repeat>),
    Evaluation(Box<EvaluationSubject>),
    Statistic(Box<StatisticSubject>),
    Parties(Box<PartiesSubject>),
}

impl Subject {
    pub fn new(spec: &AuditSpec) -> Result<Self, Error> {
        Ok(if parties::knows(&spec.algorithm) {
            Subject::Parties(Box::new(PartiesSubject::new(spec)?))
        } else if spec.algorithm == evaluated::NAME {
            Subject::Evaluation(Box::new(EvaluationSubject::new(spec)?))
        } else if asked::NAMES.contains(&spec.algorithm.as_str()) {
            Subject::Statistic(Box::new(StatisticSubject::new(spec)?))
        } else {
            let like = spec.like();
            Subject::Fit(Box::new(spec.repeat_on(like, spec.layout().features as u32)?))
        })
    }

    /// A run on a world. Numbers tell runs with the same seed apart.
    pub fn run(&self, world: &[Table], number: u64) -> Result<Seen, Error> {
        match (self, world) {
            (Subject::Fit(fit), [table]) => fit.run(table.clone().into(), number),
            (Subject::Evaluation(one), [table]) => one.run(table.clone(), number),
            (Subject::Statistic(one), [table]) => one.run(table.clone(), number),
            (Subject::Fit(_) | Subject::Evaluation(_) | Subject::Statistic(_), _) => {
                Err(self.nothing_seen())
            }
            (Subject::Parties(crowd), _) => crowd.run(world, number),
        }
    }

    /// What is certified.
    pub fn epsilon(&self) -> Result<f64, Error> {
        match self {
            Subject::Fit(fit) => fit.epsilon(),
            Subject::Evaluation(one) => one.asked().epsilon(),
            Subject::Statistic(one) => one.epsilon(),
            Subject::Parties(crowd) => crowd.epsilon(),
        }
    }

    /// What would be entered with so many times the noise.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        match self {
            Subject::Fit(fit) => fit.plan_at(scale),
            Subject::Evaluation(one) => one.asked().plan_at(scale),
            Subject::Statistic(one) => one.plan_at(scale),
            Subject::Parties(crowd) => crowd.plan_at(scale),
        }
    }

    /// What is known of the law of a run.
    pub fn family(&self) -> Family {
        let mu = match self {
            Subject::Fit(fit) => fit.mu(),
            Subject::Evaluation(one) => one.asked().mu(),
            Subject::Statistic(one) => one.mu(),
            Subject::Parties(crowd) => crowd.mu(),
        };
        match self {
            _ if mu.is_some() => Family::Gaussian,
            // Sums of many discrete Gaussians of billions of steps each, counted by their moments.
            Subject::Parties(crowd) if crowd.view() == View::SecureAggregation => Family::Gaussian,
            _ if self.plan_at(1.0).is_ok() => Family::Books,
            _ => Family::Unknown,
        }
    }

    /// Who looks.
    pub fn view(&self) -> View {
        match self {
            Subject::Fit(..) | Subject::Evaluation(_) | Subject::Statistic(_) => View::Central,
            Subject::Parties(crowd) => crowd.view(),
        }
    }

    /// There is nothing to make a bound from.
    pub fn nothing_seen(&self) -> Error {
        Refused::new(
            "runs",
            "0",
            "no run came to its end, so that there is nothing to look at; give more of them",
        )
        .into()
    }
}

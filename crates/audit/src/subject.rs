//! What is attacked: a fit of one table, an evaluation on one, a statistic of it, or a run of many
//! parties.

use reticent::Error;
use reticent::accountant::{Ledger, Refused, View};
use reticent::internal::{Repeat, Seen};
use reticent_data::Table;

use crate::asked::{self, StatisticSubject};
use crate::asked_sums::{self, AskedSums};
use crate::evaluated::{self, EvaluationSubject};
use crate::parties::{self, PartiesSubject};
use crate::reading::LawFamily;
use crate::spec::AuditSpec;
use crate::sums::SumsSubject;

/// A calibrated job that can be run on one world after the other.
#[derive(Debug)]
pub(crate) enum AuditSubject {
    Fit(Box<Repeat>),
    Evaluation(Box<EvaluationSubject>),
    Statistic(Box<StatisticSubject>),
    Parties(Box<PartiesSubject>),
    Sums(Box<SumsSubject>),
    Asked(Box<AskedSums>),
}

impl AuditSubject {
    pub fn new(spec: &AuditSpec) -> Result<Self, Error> {
        let question = asked_sums::knows(&spec.algorithm);
        Ok(if let Some(view) = spec.on_sums().filter(|_| question) {
            AuditSubject::Asked(Box::new(AskedSums::new(spec, view)?))
        } else if let Some(view) = spec.on_sums() {
            AuditSubject::Sums(Box::new(SumsSubject::new(spec, view)?))
        } else if parties::knows(&spec.algorithm) {
            AuditSubject::Parties(Box::new(PartiesSubject::new(spec)?))
        } else if spec.algorithm == evaluated::NAME {
            AuditSubject::Evaluation(Box::new(EvaluationSubject::new(spec)?))
        } else if asked::NAMES.contains(&spec.algorithm.as_str()) {
            AuditSubject::Statistic(Box::new(StatisticSubject::new(spec)?))
        } else {
            let like = spec.like();
            AuditSubject::Fit(Box::new(spec.repeat_on(like, spec.layout().features as u32)?))
        })
    }

    /// A run on a world. Numbers tell runs with the same seed apart.
    pub fn run(&self, world: &[Table], number: u64) -> Result<Seen, Error> {
        match (self, world) {
            (AuditSubject::Fit(fit), [table]) => fit.run(table.clone().into(), number),
            (AuditSubject::Evaluation(one), [table]) => one.run(table.clone(), number),
            (AuditSubject::Statistic(one), [table]) => one.run(table.clone(), number),
            (
                AuditSubject::Fit(_) | AuditSubject::Evaluation(_) | AuditSubject::Statistic(_),
                _,
            ) => Err(self.nothing_seen()),
            (AuditSubject::Parties(crowd), _) => crowd.run(world, number),
            (AuditSubject::Sums(sums), _) => sums.run(world, number),
            (AuditSubject::Asked(asked), _) => asked.run(world, number),
        }
    }

    /// What is certified.
    pub fn epsilon(&self) -> Result<f64, Error> {
        match self {
            AuditSubject::Fit(fit) => fit.epsilon(),
            AuditSubject::Evaluation(one) => one.asked().epsilon(),
            AuditSubject::Statistic(one) => one.epsilon(),
            AuditSubject::Parties(crowd) => crowd.epsilon(),
            AuditSubject::Sums(sums) => sums.epsilon(),
            AuditSubject::Asked(asked) => asked.epsilon(),
        }
    }

    /// What would be entered with so many times the noise.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        match self {
            AuditSubject::Fit(fit) => fit.plan_at(scale),
            AuditSubject::Evaluation(one) => one.asked().plan_at(scale),
            AuditSubject::Statistic(one) => one.plan_at(scale),
            AuditSubject::Parties(crowd) => crowd.plan_at(scale),
            AuditSubject::Sums(sums) => sums.plan_at(scale),
            AuditSubject::Asked(asked) => asked.plan_at(scale),
        }
    }

    /// What is known of the law of a run.
    pub fn family(&self) -> LawFamily {
        let mu = match self {
            AuditSubject::Fit(fit) => fit.mu(),
            AuditSubject::Evaluation(one) => one.asked().mu(),
            AuditSubject::Statistic(one) => one.mu(),
            AuditSubject::Parties(crowd) => crowd.mu(),
            AuditSubject::Sums(sums) => sums.mu(),
            AuditSubject::Asked(asked) => asked.mu(),
        };
        match self {
            _ if mu.is_some() => LawFamily::Gaussian,
            // Sums of many discrete Gaussians of billions of steps each, counted by their moments.
            AuditSubject::Parties(_) | AuditSubject::Sums(_) | AuditSubject::Asked(_)
                if self.view() == View::SecureAggregation =>
            {
                LawFamily::Gaussian
            }
            _ if self.plan_at(1.0).is_ok() => LawFamily::Books,
            _ => LawFamily::Unknown,
        }
    }

    /// Who looks.
    pub fn view(&self) -> View {
        match self {
            AuditSubject::Fit(..) | AuditSubject::Evaluation(_) | AuditSubject::Statistic(_) => {
                View::Central
            }
            AuditSubject::Parties(crowd) => crowd.view(),
            AuditSubject::Sums(sums) => sums.view(),
            AuditSubject::Asked(asked) => asked.view(),
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

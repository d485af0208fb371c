//! From a cell of the map to an audit of it: the run that shows most of what is certified.

use reticent::Spec;
use reticent::accountant::{Unit, View};
use reticent::admm::{Release, Settings, StepSize, WalkState};
use reticent::internal::admm::catalogue;
use reticent::map::{Drawn, MapCell, MapProcedure};

use crate::method::AuditMethod;
use crate::spec::AuditSpec;

/// The budget of the map.
const EPSILON: f64 = 4.0;
const DELTA: f64 = 1e-3;

/// A step so short that the parameter stays where every canary pulls with all its weight.
const STEP: f64 = 1e-3;

/// The part of a budget that a second moment gets: little, so that the gradients show.
const SHARE: f64 = 0.05;

/// One-sided, with a slope that is at its bound where the parameter starts.
const ONE_SIDED: &str = "huberised-hinge:0.5";

/// The state that a form of the walk keeps.
fn walk_state(form: &str) -> Option<WalkState> {
    match form {
        "stateless" => Some(WalkState::Stateless),
        "stateful" => Some(WalkState::Stateful),
        _ => None,
    }
}

impl AuditSpec {
    /// The audit of a cell with so many runs.
    pub fn of(cell: &MapCell, runs: u64, seed: Option<u64>) -> Self {
        let MapCell { algorithm, form, procedure, view, unit, adjacency, drawn } = *cell;
        let usual = AuditSpec::default();
        let takes = catalogue::find(algorithm).map_or(&[][..], |entry| entry.takes);
        let between = crate::parties::knows(algorithm) || view != View::Central;
        // Its first step goes to the border of its ball.
        let far = algorithm == "dp-fw";
        let scaled = form.ends_with("scaled");
        let own = form.starts_with("preconditioned");
        let late = is_late(cell, scaled);
        let spec = AuditSpec {
            algorithm: algorithm.to_owned(),
            epsilon: EPSILON,
            delta: DELTA,
            adjacency,
            sampling: sampling(drawn),
            // Of a sample one answer shows most; that answers add up is seen in full batches.
            // A scale that is mostly noise leaves the sign of one gradient to be read.
            iterations: match procedure.is_tuned() || drawn != Drawn::Full || far || scaled {
                true if !late => 1,
                _ => 2,
            },
            step: takes.contains(&"step").then_some(StepSize::Constant(STEP)),
            loss: match form {
                "classes" => "logistic".to_owned(),
                _ if procedure.is_recalibrated() => "logistic".to_owned(),
                // With a slope that is at its clip where the parameter starts.
                _ if procedure.has_standard_errors() || scaled => "squared".to_owned(),
                "normal" | "normal-objective" => ONE_SIDED.to_owned(),
                _ => usual.loss.clone(),
            },
            penalty: (procedure.has_graph()).then(|| "l1:0.1".to_owned()),
            trust: between.then_some(view),
            unit: Some(unit),
            walk: walk_state(form),
            release: Release::ALL.iter().copied().find(|release| release.to_string() == form),
            law: form.parse().ok(),
            schedule: match form {
                "permutation" | "single" => form.parse().ok(),
                "blocks" => "blocks:2".parse().ok(),
                _ => None,
            },
            job: Spec::default().with(|it| {
                it.standard_errors = procedure.has_standard_errors().then_some(SHARE);
                it.calibrate = procedure.is_recalibrated().then_some(SHARE);
            }),
            precondition: own.then_some(SHARE),
            others: Settings { clip_share: scaled.then_some(SHARE), ..Settings::default() },
            // Coordinates of one column would be a matrix of one number.
            features: if own { 2 } else { usual.features },
            procedure,
            records: Some(records(cell)),
            runs,
            method: AuditMethod::Profile,
            seed,
            ..usual
        };
        spec.between_parties(cell)
    }

    fn between_parties(self, cell: &MapCell) -> Self {
        match crate::parties::knows(cell.algorithm) {
            true => self.among_parties(cell),
            false if cell.view != View::Central => self.on_noisy_sums(cell),
            false => self,
        }
    }

    /// A masked sum is many messages, and masks are for more than two.
    fn on_noisy_sums(self, cell: &MapCell) -> Self {
        match cell.view {
            // Of three members two are counted, the largest part that any number has: what is seen has no
            // more noise beside what is certified than it must.
            View::SecureAggregation => AuditSpec { parties: 3, runs: self.runs / 4, ..self },
            _ => AuditSpec { parties: 2, ..self },
        }
    }

    fn among_parties(self, cell: &MapCell) -> Self {
        let masked = cell.view == View::SecureAggregation;
        let walks = cell.algorithm == "walk";
        let seen_draws = cell.view == View::Local && cell.drawn != Drawn::Full;
        AuditSpec {
            parties: match (masked, cell.drawn) {
                (true, _) => 5,
                (_, Drawn::Full) => 2,
                _ => 4,
            },
            // Where a party is drawn in the open, few rounds leave its number to chance.
            iterations: match cell.view {
                _ if walks => 40,
                _ if seen_draws => 16,
                View::Local => 1,
                _ if cell.drawn != Drawn::Full => 1,
                _ => 2,
            },
            // What a party keeps would otherwise move its contribution to where it is cut.
            relaxation: (walks || cell.view == View::Local).then_some(0.01),
            // A masked sum is many messages.
            runs: if masked { self.runs / 4 } else { self.runs },
            sampling: match (masked, cell.drawn) {
                (true, Drawn::WithoutReplacement) => "wor:4",
                (_, Drawn::WithoutReplacement) => "wor:2",
                (_, Drawn::Poisson) => "poisson:0.5",
                _ => "full",
            }
            .parse()
            .unwrap_or_default(),
            ..self
        }
    }
}

/// Whether what is published after one step is computed before its answer is used.
fn is_late(cell: &MapCell, scaled: bool) -> bool {
    match cell.algorithm {
        "sadmm" => cell.procedure == MapProcedure::Tuned || scaled,
        "vradmm" => scaled,
        _ => false,
    }
}

fn sampling(drawn: Drawn) -> reticent_oracle::Sampling {
    let text = match drawn {
        Drawn::Full => "full",
        Drawn::Poisson => "poisson:0.5",
        Drawn::WithoutReplacement => "wor:1",
    };
    text.parse().unwrap_or_default()
}

/// Records of the larger table, or of each party.
fn records(cell: &MapCell) -> usize {
    let between = crate::parties::knows(cell.algorithm);
    match (between, cell.unit, cell.drawn) {
        (false, Unit::User, _) if cell.view != View::Central => 1,
        (true, Unit::User | Unit::Party, _) => 1,
        // As many as make a party much larger than a record.
        (true, Unit::Record, Drawn::Full) => 8,
        (true, Unit::Record, _) => 40,
        (false, ..) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::AuditSubject;
    use reticent::accountant::Adjacency;
    use reticent::map::cells;

    /// Runs on each table of a cell.
    const RUNS: u64 = 12;

    /// A model that is the same in every run, whatever the table, is one that no attack can find
    /// anything in, and its lower bound of 0 would say nothing. One of each kind of run.
    #[test]
    fn there_is_something_to_see_in_every_model() {
        let one = |cell: &MapCell| {
            (cell.unit, cell.adjacency) == (Unit::Record, Adjacency::ReplaceOne)
                && cell.drawn == Drawn::Full
                && cell.algorithm != crate::evaluated::NAME
                && !crate::asked::NAMES.contains(&cell.algorithm)
                && !crate::parties::knows(cell.algorithm)
                && cell.view == View::Central
        };
        let cells: Vec<MapCell> = cells().into_iter().map(|(cell, _)| cell).filter(one).collect();
        assert!(cells.iter().any(|cell| cell.procedure == MapProcedure::Tuned) && cells.len() > 30);
        let mut blind = Vec::new();
        for cell in &cells {
            let spec = AuditSpec::of(cell, 0, Some(5));
            let subject = AuditSubject::new(&spec).unwrap();
            let worlds = [true, false].map(|with| spec.pairs()[0].world(with, &spec.layout()));
            let model = |i: u64| subject.run(&worlds[i as usize % 2], i).unwrap().parameter;
            let first = model(0);
            if (1..2 * RUNS).all(|i| model(i) == first) {
                blind.push(cell.to_string());
            }
        }
        assert!(blind.is_empty(), "nothing to see in {blind:#?}");
    }
}

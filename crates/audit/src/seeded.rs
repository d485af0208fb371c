//! Audits that are arranged so that a known defect shows, in builds that have them.

use reticent::accountant::{Adjacency, Unit, View};
use reticent::admm::StepSize;
use reticent_oracle::{Bug, Sampling};

use crate::spec::AuditSpec;

impl AuditSpec {
    /// This audit, arranged so that a gate with `bug` shows it: on the algorithm, the pair and the
    /// sampling that the defect touches.
    pub fn seeded(self, bug: Bug) -> Self {
        let bare = AuditSpec { bug: Some(bug), ..self };
        match bug {
            Bug::NoiseHalved => bare,
            // A residual of 1 is a gradient of a hundred clips.
            Bug::ClipMissing => AuditSpec { loss: "squared".to_owned(), clip: Some(0.01), ..bare },
            Bug::PoissonCounted => AuditSpec {
                adjacency: Adjacency::AddRemove,
                sampling: Sampling::Poisson(0.5),
                ..bare
            },
            Bug::TrueCount | Bug::SwallowedRows => {
                AuditSpec { adjacency: Adjacency::AddRemove, ..bare }
            }
            // A gradient that changes with the parameter, and that no clip cuts to one length.
            Bug::NoiseReused => AuditSpec {
                loss: "squared".to_owned(),
                clip: Some(1.0),
                iterations: bare.iterations.max(2),
                ..bare
            },
            Bug::SnapshotUnnoised => AuditSpec { algorithm: "vradmm".to_owned(), ..bare },
            Bug::StepForgotten => AuditSpec {
                algorithm: "mpadmm".to_owned(),
                step: Some(StepSize::Constant(Bug::FORGOTTEN_STEP)),
                ..bare
            },
            // Nine messages in the mean: a third of the noise.
            Bug::GainSquared => AuditSpec {
                algorithm: "consensus".to_owned(),
                records: bare.records.or(Some(9)),
                ..bare
            },
            // Parties that are much larger than a record, and seldom drawn.
            Bug::SampleShows => AuditSpec {
                algorithm: "federated".to_owned(),
                trust: Some(View::Central),
                unit: Some(Unit::Record),
                parties: 4,
                records: bare.records.or(Some(40)),
                sampling: Sampling::Poisson(0.1),
                ..bare
            },
            // These two are not seen in any one number of a run: the tests of the runtime find
            // them.
            Bug::OffLatticeToken | Bug::ForkedNoise => AuditSpec {
                algorithm: "walk".to_owned(),
                trust: Some(View::Network),
                penalty: Some("l1:0.1".to_owned()),
                ..bare
            },
            // Next to no noise, and a certificate of nothing.
            Bug::OverflowToZero => AuditSpec { epsilon: 20.0 * bare.epsilon, ..bare },
        }
    }

    /// The same among parties whose books are for `view`; `None` where parties have nothing that
    /// the defect touches (who they are is public, and each answers from all of its records), or
    /// where [`AuditSpec::seeded`] is among parties already.
    pub fn seeded_among_parties(self, bug: reticent_oracle::Bug, view: View) -> Option<Self> {
        let bare = AuditSpec {
            bug: Some(bug),
            algorithm: "federated".to_owned(),
            trust: Some(view),
            // Masks are for more than two.
            parties: if view == View::SecureAggregation { 5 } else { 2 },
            ..self
        };
        match bug {
            Bug::NoiseHalved | Bug::StepForgotten => Some(bare),
            // A residual of 1 is a gradient of a hundred clips; blocks have a bound of their own.
            Bug::ClipMissing if view == View::Local => {
                Some(AuditSpec { loss: "squared".to_owned(), clip: Some(0.01), ..bare })
            }
            // The gradient of a party is a full one.
            Bug::SnapshotUnnoised if view == View::Local => {
                Some(AuditSpec { algorithm: "dp-admm".to_owned(), ..bare })
            }
            // Two answers at points that differ.
            Bug::NoiseReused if view != View::SecureAggregation => Some(AuditSpec {
                loss: "squared".to_owned(),
                clip: Some(1.0),
                iterations: bare.iterations.max(2),
                ..bare
            }),
            // Nine messages in the mean: a third of the noise.
            Bug::GainSquared if view == View::Central => Some(AuditSpec { parties: 9, ..bare }),
            Bug::OverflowToZero => Some(AuditSpec { epsilon: 20.0 * bare.epsilon, ..bare }),
            _ => None,
        }
    }
}

//! What a page says of one certificate: all of it is computed here, once.

use reticent::accountant::{AccountError, trade_off};
use reticent::{
    Certificate, CheckOutcome as Checked, Document, Error, Model, Standing, Verdict, VerifyCheck,
};

use crate::paid::PayingJob;
use crate::parts::{Parts, parts};

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingOutcome {
    /// It is as it should be.
    Holds,
    /// It is not.
    Fails,
    /// There is nothing to check it by.
    Absent,
}

/// One thing that was checked about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What came of it.
    pub outcome: FindingOutcome,
    /// What was checked, and what was found.
    pub words: String,
}

/// What a check of a file found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// One line for each thing.
    pub list: Vec<Finding>,
    /// Whether the file has what it takes to be checked; one of an earlier version has no digest.
    pub verifiable: bool,
    /// Whether somebody has signed it.
    pub signed: bool,
}

impl Findings {
    /// What is found when a file is verified.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        let finding = |VerifyCheck { name, outcome, said, .. }: VerifyCheck| Finding {
            outcome: match outcome {
                Checked::Holds => FindingOutcome::Holds,
                Checked::Fails => FindingOutcome::Fails,
                Checked::Absent => FindingOutcome::Absent,
            },
            words: format!("{name}: {said}"),
        };
        let verification = document.verify(None);
        Findings {
            verifiable: verification.standing() != Standing::Unverifiable,
            signed: verification.signer.is_some(),
            list: verification.checks.into_iter().map(finding).collect(),
        }
    }

    /// Whether nothing contradicts anything.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.list.iter().all(|finding| finding.outcome != FindingOutcome::Fails)
    }
}

/// A certificate, perhaps with its model, and what follows from its ledger.
#[derive(Clone, Debug)]
pub struct ReportSubject {
    pub(crate) name: String,
    /// As it is to be believed, whatever the file says.
    pub(crate) certificate: Certificate,
    pub(crate) model: Option<Model>,
    pub(crate) findings: Findings,
    /// (δ, lower ε, upper ε).
    pub(crate) curve: Vec<(f64, f64, f64)>,
    /// (share of false alarms, share that is caught at most).
    pub(crate) caught: Vec<(f64, f64)>,
    pub(crate) parts: Parts,
    pub(crate) paid: Option<PayingJob>,
}

/// The false alarms at which the trade-off is computed: dense where attackers would be.
const LEVELS: [f64; 24] = [
    0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3,
    0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0,
];

/// The levels that are said in words.
pub(crate) const SAID: [f64; 4] = [0.001, 0.01, 0.05, 0.1];

impl ReportSubject {
    /// All that is said of a model.
    ///
    /// # Errors
    /// A ledger that cannot be counted.
    pub fn of_model(name: &str, model: Model, findings: Findings) -> Result<Self, Error> {
        let certificate = model.certificate().clone();
        Ok(Self { model: Some(model), ..Self::of_certificate(name, certificate, findings)? })
    }

    /// All that is said of a certificate alone.
    ///
    /// # Errors
    /// A ledger that cannot be counted.
    pub fn of_certificate(
        name: &str,
        certificate: Certificate,
        findings: Findings,
    ) -> Result<Self, Error> {
        let certificate = certificate.verify(None)?.certificate;
        let (mut curve, mut caught) = (Vec::new(), Vec::new());
        if certificate.certified {
            curve = epsilons(&certificate)?;
            let missed = trade_off(&certificate.ledger, &LEVELS)?;
            caught = missed.into_iter().map(|(level, missed)| (level, 1.0 - missed)).collect();
        }
        let parts = parts(&certificate.ledger, certificate.delta);
        let name = name.to_owned();
        Ok(Self { name, certificate, model: None, findings, curve, caught, parts, paid: None })
    }

    /// With what the budget planned for it.
    #[must_use]
    pub fn paid_by(self, paid: Option<PayingJob>) -> Self {
        Self { paid, ..self }
    }

    /// What the budget planned for it, if it paid for it.
    #[must_use]
    pub fn paying_job(&self) -> Option<&PayingJob> {
        self.paid.as_ref()
    }

    /// Whether it is a guarantee, and the file holds to all that it can be checked by.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.certificate.certified && self.findings.hold() && self.findings.verifiable
    }

    /// ε, infinite where there is no guarantee.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        if self.is_sound() { self.certificate.epsilon } else { f64::INFINITY }
    }

    /// The most that is caught at one of the levels that are said.
    pub(crate) fn caught_at(&self, level: f64) -> Option<f64> {
        self.caught.iter().find(|(known, _)| *known == level).map(|(_, caught)| *caught)
    }
}

/// ε at δ from 10⁻¹ to 10⁻¹², two for each power, and at the δ of the certificate.
fn epsilons(certificate: &Certificate) -> Result<Vec<(f64, f64, f64)>, AccountError> {
    let mut deltas: Vec<f64> = (2..=24).map(|half| 10_f64.powf(-f64::from(half) / 2.0)).collect();
    deltas.push(certificate.delta);
    deltas.retain(|delta| *delta > 0.0);
    deltas.sort_by(f64::total_cmp);
    deltas.dedup_by(|a, b| (*a / *b - 1.0).abs() < 1e-9);
    let curve = Verdict::curve(&certificate.ledger, &deltas)?;
    Ok(curve.into_iter().map(|(delta, bound)| (delta, bound.lower, bound.upper)).collect())
}

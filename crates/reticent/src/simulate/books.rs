//! What each party has spent, and the certificate of the run: that of the party who spent most.

use std::collections::BTreeMap;

use reticent_accountant::{Ledger, extended};
use reticent_runtime::PartyReport;
use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::error::Error;

/// How ε is spread over the parties of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The number of parties.
    pub count: u64,
    /// The party who spent most; the numbers of the certificate are those of this party.
    pub worst: u64,
    /// The least that a party spent.
    #[serde(with = "extended")]
    pub least: f64,
    /// Half of the parties spent at most this.
    #[serde(with = "extended")]
    pub median: f64,
    /// Nine of ten spent at most this.
    #[serde(with = "extended")]
    pub ninth_decile: f64,
    /// The most that a party spent.
    #[serde(with = "extended")]
    pub most: f64,
}

/// The certificates of all parties, each different one once.
#[derive(Clone, Debug)]
pub struct PartyBooks {
    certificates: Vec<Certificate>,
    /// Which one each party has.
    of: Vec<usize>,
    worst: usize,
}

impl PartyBooks {
    /// `delta` is that of the budget; `assumptions` are those of the algorithm.
    pub(super) fn new(
        algorithm: &str,
        delta: f64,
        assumptions: &[String],
        parties: &[PartyReport],
    ) -> Result<Self, Error> {
        let (mut certificates, mut of) = (Vec::new(), Vec::with_capacity(parties.len()));
        let mut known: BTreeMap<(String, u64), usize> = BTreeMap::new();
        for party in parties {
            let same = (text(&party.ledger)?, party.terms.population());
            let place = match known.get(&same) {
                Some(&place) => place,
                None => {
                    certificates.push(Certificate::of_party(algorithm, delta, assumptions, party)?);
                    known.insert(same, certificates.len() - 1);
                    certificates.len() - 1
                }
            };
            of.push(place);
        }
        let spent = |&party: &usize| {
            let own: Option<&Certificate> = certificates.get(of[party]);
            own.map_or((0.0, 0.0), |own| {
                (own.epsilon, own.counted.or(own.claimed).unwrap_or(own.epsilon))
            })
        };
        let more = |a: &usize, b: &usize| {
            let ((a, a_counted), (b, b_counted)) = (spent(a), spent(b));
            a.total_cmp(&b).then(a_counted.total_cmp(&b_counted))
        };
        let worst = (0..of.len()).max_by(|a, b| more(a, b).then(b.cmp(a))).unwrap_or(0);
        Ok(PartyBooks { certificates, of, worst })
    }

    /// So many parties with the same certificate.
    pub(crate) fn alike(certificate: Certificate, parties: u32) -> Self {
        PartyBooks { certificates: vec![certificate], of: vec![0; parties as usize], worst: 0 }
    }

    /// The number of parties.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The certificate of one party.
    pub fn party(&self, party: usize) -> Option<&Certificate> {
        self.certificates.get(*self.of.get(party)?)
    }

    /// The certificate of the run: it is one if every party's is.
    pub(crate) fn run(&self) -> Result<Certificate, Error> {
        let mut run = self.party(self.worst).cloned().ok_or(Error::Missing {
            what: "a party",
            todo: "give a table with at least one record",
        })?;
        for certificate in &self.certificates {
            for reason in &certificate.reasons {
                if !run.reasons.contains(reason) {
                    run.reasons.push(reason.clone());
                }
            }
            run.certified &= certificate.certified;
        }
        let mut spent: Vec<f64> =
            self.of.iter().map(|&place| self.certificates[place].epsilon).collect();
        spent.sort_by(f64::total_cmp);
        let at = |share: f64| spent[((spent.len() - 1) as f64 * share).ceil() as usize];
        run.parties = Some(Spread {
            count: self.of.len() as u64,
            worst: self.worst as u64,
            least: at(0.0),
            median: at(0.5),
            ninth_decile: at(0.9),
            most: at(1.0),
        });
        Ok(run)
    }
}

impl Certificate {
    /// The certificate of one party of a run, from the books that its own node has; `delta` is that
    /// of its budget, `assumptions` are those of the run.
    ///
    /// # Errors
    /// If the books cannot be accounted for at this δ.
    pub fn of_party(
        algorithm: &str,
        delta: f64,
        assumptions: &[String],
        party: &PartyReport,
    ) -> Result<Self, Error> {
        let mut own = Certificate::of(algorithm, delta, &party.terms, party.ledger.clone())?;
        own.assumptions.extend_from_slice(assumptions);
        own.sealed(None)
    }
}

fn text(ledger: &Ledger) -> Result<String, Error> {
    serde_json::to_string(ledger).map_err(Error::spec_form)
}

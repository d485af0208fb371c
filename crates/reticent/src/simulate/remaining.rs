//! The parties that a run on a network begins with, where others of its roster were struck: what a job says
//! of single parties it says by their numbers in the roster, and nodes have their numbers in the run.
//!
//! Proof: proofs/network.md, 6.

use std::collections::BTreeMap;

use reticent_admm::{PartyRho, PerParty, Settings};
use reticent_runtime::Topology;

use super::check::SimulationJob;
use super::simulation::Simulation;
use crate::error::Error;

/// A graph that is not made for so many parties, and says which of them are connected.
const EXPLICIT: &str = "file:";

/// Those of a roster who are in a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RemainingParties {
    /// How many parties the roster has.
    pub whole: u32,
    /// Their numbers in it, ascending.
    seats: Vec<u32>,
}

impl RemainingParties {
    /// These of so many.
    ///
    /// # Errors
    /// If they are not.
    pub fn new(whole: u32, seats: &[u32]) -> Result<Self, Error> {
        let ordered = seats.windows(2).all(|pair| pair[0] < pair[1]);
        match ordered && seats.last().is_some_and(|last| *last < whole) {
            true => Ok(RemainingParties { whole, seats: seats.to_vec() }),
            false => {
                let why = format!(
                    "parties of the roster are needed, each once, from 0 to {}",
                    whole.saturating_sub(1)
                );
                Err(Error::value("parties", format!("{seats:?}"), why))
            }
        }
    }

    /// The run between them: smaller budgets, noise and penalty parameters of single parties are of those who
    /// are in.
    ///
    /// # Errors
    /// If somebody is named who is not in the roster, or numbers are not one for each of its parties.
    pub fn of(&self, whole: Simulation) -> Result<Simulation, Error> {
        let Simulation { budgets, settings, .. } = &whole;
        if let Some((nobody, _)) = budgets.range(self.whole..).next() {
            let why = format!("parties are numbered from 0 to {}", self.whole - 1);
            return Err(Error::value("budgets", nobody, why));
        }
        let smaller = |(place, seat)| Some((place, *budgets.get(seat)?));
        let budgets: BTreeMap<u32, f64> = (0..).zip(&self.seats).filter_map(smaller).collect();
        let party_rho = match &settings.party_rho {
            Some(PartyRho::Each(each)) => Some(PartyRho::Each(self.own("party_rho", each)?)),
            other => other.clone(),
        };
        let noise = settings.party_noise.as_ref();
        let party_noise = noise.map(|each| self.own("party_noise", each)).transpose()?;
        let settings = Settings { party_rho, party_noise, ..settings.clone() };
        Ok(Simulation { budgets, settings, remaining: Some(self.clone()), ..whole })
    }

    fn own(&self, name: &'static str, each: &PerParty) -> Result<PerParty, Error> {
        let numbers = each.of(name, self.whole)?;
        Ok(PerParty::new(self.seats.iter().map(|seat| numbers[*seat as usize]).collect())?)
    }
}

impl SimulationJob {
    /// The graph that is said of so many parties, or of all of a roster.
    pub(super) fn graph(&self, parties: u32) -> Result<Topology, Error> {
        let (graph, seed) = (&self.topology, self.public_seed);
        match self.remaining.as_ref().filter(|_| graph.starts_with(EXPLICIT)) {
            None => Ok(Topology::parse(graph, parties, seed)?),
            Some(RemainingParties { whole, seats }) => {
                Ok(Topology::parse(graph, *whole, seed)?.left(seats, graph)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_oracle::tables::{Schema, Target};

    #[test]
    fn what_is_said_of_single_parties_stays_theirs() {
        let target = Target::classes(["no", "yes"]).unwrap();
        let schema = Schema::bounded(&[(0.0, 1.0)], target).unwrap();
        let each = |numbers: &[f64]| PerParty::new(numbers.to_vec()).unwrap();
        let whole = |numbers: &[f64]| {
            let settings = Settings {
                party_rho: Some(PartyRho::Each(each(numbers))),
                party_noise: Some(each(&[1.0, 2.0, 4.0, 8.0])),
                ..Settings::default()
            };
            let simulation = Simulation::new(schema.clone()).settings(settings);
            simulation.party_epsilon(1, 0.5).party_epsilon(3, 0.25)
        };
        let left = RemainingParties::new(4, &[0, 2, 3]).unwrap();
        let own = left.of(whole(&[0.1, 0.2, 0.3, 0.4])).unwrap();
        assert_eq!(own.settings.party_rho, Some(PartyRho::Each(each(&[0.1, 0.3, 0.4]))));
        assert_eq!(own.settings.party_noise, Some(each(&[1.0, 4.0, 8.0])));
        assert_eq!(own.budgets, BTreeMap::from([(2, 0.25)]));
        let refused = |own: Result<Simulation, Error>| own.unwrap_err().to_string();
        let why = refused(left.of(whole(&[0.1, 0.2, 0.3])));
        assert!(why.contains("there are 4 parties"), "{why}");
        let why = refused(left.of(whole(&[0.1, 0.2, 0.3, 0.4]).party_epsilon(4, 0.5)));
        assert!(why.contains("from 0 to 3"), "{why}");
    }
}

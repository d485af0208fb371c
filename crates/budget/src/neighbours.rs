//! A job's ledger as the budget counts it: under the budget's adjacency, unit and view, or refused
//! with the reason. Only what is proven is converted: `proofs/neighbours.md`.

use reticent_accountant::{Adjacency, Event, Ledger, Mechanism, Unit, views};

use crate::error::BudgetError;
use crate::promise::Promise;

impl Promise {
    /// The ledger under the terms of the promise.
    pub(crate) fn count(&self, ledger: &Ledger) -> Result<Ledger, BudgetError> {
        let mut counted = Ledger::new();
        for entry in ledger.entries() {
            counted.append_many(self.convert(entry.event())?, entry.count());
        }
        ledger.taints().iter().for_each(|&taint| counted.taint(taint));
        Ok(counted)
    }

    fn convert(&self, event: &Event) -> Result<Event, BudgetError> {
        if !views::covers(event.view(), self.view) {
            return Err(BudgetError::Scope(format!(
                "the job is counted for the {} view, and the budget promises something against the {} view, \
                 which sees more",
                event.view(),
                self.view
            )));
        }
        let mechanism = self.for_unit(event)?;
        let mechanism = self.for_adjacency(event, mechanism)?;
        Event::new(mechanism, self.adjacency, self.unit, self.view)
            .map_err(|error| BudgetError::Scope(error.to_string()))
    }

    /// A user is at most so many records; taking all of them away is that many steps of one.
    fn for_unit(&self, event: &Event) -> Result<Mechanism, BudgetError> {
        let refuse = |why: &str| Err(BudgetError::Scope(why.to_owned()));
        match (event.unit(), self.unit) {
            (Unit::Record, Unit::Record)
            | (Unit::User, Unit::User)
            | (Unit::Party, Unit::Party) => Ok(event.mechanism().clone()),
            (Unit::Party, _) => refuse(
                "the job protects parties of a run, and the budget promises something to others: who is with which \
                 party may change when somebody is replaced; make a budget with `unit = party`",
            ),
            (_, Unit::Party) => refuse(
                "the budget promises something to the parties of runs, with all that each holds, and the job \
                 protects less; run it between parties with `unit = party`",
            ),
            (Unit::User, Unit::Record) => refuse(
                "the job protects users and the budget promises something to records: a record that is replaced may \
                 be another user's, so that two users change; make a budget with `unit = user`",
            ),
            (Unit::Record, Unit::User) => match (event.adjacency(), self.rows_per_user) {
                (Adjacency::ReplaceOne, _) => refuse(
                    "the job protects records that are replaced, and the budget users: two users may differ in \
                     their number of rows, of which the job promises nothing; fit with `unit = user` or `adjacency \
                     = add-remove`",
                ),
                (_, None) => refuse(
                    "the job protects records and the budget users, and the budget has no bound on the rows of one: \
                     fit with `unit = user`",
                ),
                (_, Some(rows)) => {
                    let group = event.mechanism().group(rows);
                    group.map_err(|error| BudgetError::Scope(error.to_string()))
                }
            },
        }
    }

    /// A replacement is a removal and an addition: two steps of add-remove.
    fn for_adjacency(&self, event: &Event, mechanism: Mechanism) -> Result<Mechanism, BudgetError> {
        match (event.adjacency(), self.adjacency) {
            (Adjacency::ReplaceOne, Adjacency::ReplaceOne)
            | (Adjacency::AddRemove, Adjacency::AddRemove) => Ok(mechanism),
            (Adjacency::ReplaceOne, Adjacency::AddRemove) => Err(BudgetError::Scope(
                "the job is counted under replace-one, which takes the number of records as public, and the budget \
                 under add-remove, which hides it: fit with `adjacency = add-remove`"
                    .to_owned(),
            )),
            (Adjacency::AddRemove, Adjacency::ReplaceOne) => match mechanism {
                // Noise over the clip of a record: under replace-one the same noise is counted
                // against twice the clip.
                Mechanism::Gaussian(_)
                | Mechanism::Laplace(_)
                | Mechanism::ExponentialMechanism(_) => Ok(mechanism),
                // A cost as it stands: twice as far.
                Mechanism::Gdp(_) | Mechanism::PureDp(_) | Mechanism::Zcdp(_) => {
                    mechanism.group(2).map_err(|error| BudgetError::Scope(error.to_string()))
                }
                other => Err(BudgetError::Scope(format!(
                    "the job is counted under add-remove and the budget under replace-one, and of {} it is not known \
                     what a replacement costs: fit with `adjacency = replace-one`",
                    other.kind()
                ))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use reticent_accountant::{Gaussian, Gdp, PoissonGaussian, PureDp, View, Zcdp, gdp_mu};

    use super::*;

    fn promise(adjacency: Adjacency, unit: Unit, rows_per_user: Option<u64>) -> Promise {
        let usual = Promise::new("test", 1.0, 1e-6).unwrap();
        Promise { adjacency, unit, rows_per_user, ..usual }
    }

    fn ledger(mechanism: impl Into<Mechanism>, adjacency: Adjacency, unit: Unit) -> Ledger {
        let mut ledger = Ledger::new();
        ledger.append(Event::new(mechanism, adjacency, unit, View::Central).unwrap());
        ledger
    }

    const RO: Adjacency = Adjacency::ReplaceOne;
    const AR: Adjacency = Adjacency::AddRemove;

    #[test]
    fn a_replacement_is_a_removal_and_an_addition() {
        let promise = promise(RO, Unit::Record, None);
        for mechanism in
            [Mechanism::from(Gaussian::new(4.0).unwrap()), Gdp::new(0.25).unwrap().into()]
        {
            let given = ledger(mechanism, AR, Unit::Record);
            let counted = promise.count(&given).unwrap();
            assert_eq!((gdp_mu(&given), gdp_mu(&counted)), (Some(0.25), Some(0.5)));
        }
        let counted = |mechanism: Mechanism| {
            promise.count(&ledger(mechanism, AR, Unit::Record)).unwrap().entries()[0].clone()
        };
        let pure = counted(PureDp::new(0.5).unwrap().into());
        assert_eq!(pure.event().mechanism(), &Mechanism::from(PureDp::new(1.0).unwrap()));
        let zcdp = counted(Zcdp::new(0.5).unwrap().into());
        assert_eq!(zcdp.event().mechanism(), &Mechanism::from(Zcdp::new(2.0).unwrap()));
    }

    #[test]
    fn a_user_is_the_rows_of_one_and_replaced_twice_as_many() {
        let given = ledger(Gaussian::new(10.0).unwrap(), AR, Unit::Record);
        let count = |adjacency| {
            gdp_mu(&promise(adjacency, Unit::User, Some(3)).count(&given).unwrap()).unwrap()
        };
        assert!((count(AR) - 0.3).abs() < 1e-15);
        assert!((count(RO) - 0.6).abs() < 1e-15);
    }

    #[test]
    fn what_is_not_proven_is_refused() {
        let gaussian = || Gaussian::new(10.0).unwrap();
        let refused = |promise: Promise, ledger: Ledger, word: &str| {
            let error = promise.count(&ledger).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        let record = Unit::Record;
        let user = Unit::User;
        refused(promise(AR, record, None), ledger(gaussian(), RO, record), "public");
        refused(promise(RO, user, Some(3)), ledger(gaussian(), RO, record), "number of rows");
        refused(promise(AR, user, None), ledger(gaussian(), AR, record), "no bound");
        refused(promise(RO, record, None), ledger(gaussian(), RO, user), "another user's");
        let sampled = PoissonGaussian::new(1.0, 0.1).unwrap();
        refused(promise(RO, record, None), ledger(sampled, AR, record), "not known");
        refused(promise(AR, user, Some(2)), ledger(sampled, AR, record), "poisson-gaussian");
        let local = Promise { view: View::Local, ..promise(RO, record, None) };
        refused(local, ledger(gaussian(), RO, record), "sees more");
        // One other party is not the world.
        let mut walk = Ledger::new();
        walk.append(Event::new(gaussian(), RO, record, View::Network).unwrap());
        refused(promise(RO, record, None), walk, "sees more");
    }
}

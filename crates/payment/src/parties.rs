//! A run between parties who pay each from a budget of its own: all reserve before anything is asked,
//! and all settle after.
//!
//! A party whose ceiling the run passes stays away where the protocol goes on without it: the run is
//! opened again without it, and everybody else reserves what they plan then. All are asked whether it
//! fits before the first of them reserves, until nobody refuses; whoever has reserved when somebody does
//! is given that back before it reserves again. Where a run does not go on without a party, or cannot
//! between so few, it ends before anything is asked.
//! Proof: proofs/party-budgets.md.

use std::collections::BTreeSet;
use std::rc::Rc;

use reticent::accountant::Ledger;
use reticent::internal::{FileContents, PaidByParties, unplanned};
use reticent::{Error, Run};
use reticent_budget::{BudgetError, PaidTable, Reservation, Store};

use crate::error::PaymentError;
use crate::table::{Paid, SHARED};
use crate::{Bill, Payer, check, reserve, run};

/// What came of a run whose parties paid for it.
#[derive(Debug)]
pub struct PartyReceipt<D> {
    /// What came of it.
    pub done: D,
    /// The number of the job in the budget of each party; `None` of one that took no part.
    pub jobs: Vec<Option<u64>>,
    /// Who took no part for want of budget.
    pub absent: Vec<AbsentParty>,
    /// Whose job stays open in its budget, and counted in full, though it is over.
    pub open: Vec<(usize, BudgetError)>,
}

/// A party that took no part.
#[derive(Debug)]
pub struct AbsentParty {
    /// Its number, from 0.
    pub party: usize,
    /// What its budget says.
    pub why: BudgetError,
}

/// Does the run that `open` opens on `table` without some of its parties, as `how` says; each party
/// pays for it from its own of the budgets that `stores` opens, in their order.
///
/// # Errors
/// What [`PaymentError`] lists; with [`PaymentError::Job`] the run itself says what it cost, and
/// after any other nothing was asked, and nobody pays but where it says that something stays counted.
pub fn pay_each<R: PaidByParties>(
    stores: impl FnOnce(usize) -> Result<Vec<Store>, PaymentError>,
    bill: &Bill<'_>,
    table: Paid<'_>,
    mut open: impl FnMut(&BTreeSet<u32>, &mut Run<'_>) -> Result<R, Error>,
    mut how: Run<'_>,
) -> Result<PartyReceipt<R::Done>, PaymentError> {
    let rest = table.at_rest()?;
    let contents = FileContents::under(SHARED);
    how.hashing(Rc::clone(&contents));
    let mut ready = open(&BTreeSet::new(), &mut how)?;
    let mut plans = plans_of(&ready)?;
    let mut stores = stores(plans.len())?;
    each_its_own(&stores, plans.len())?;
    let mut absent: Vec<AbsentParty> = Vec::new();
    let reserved = loop {
        let read = table.contents(&contents)?;
        rest.check()?;
        check(&plans, &table.whole(&read))?;
        let dealing = ready.dealing();
        let numbered = stores.iter().enumerate();
        let shares = numbered.map(|(party, own)| table.share(own, (&dealing, party), &read));
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let refused = match reserve_all(&mut stores, bill, &plans, &shares)? {
            Ok(reserved) => break reserved,
            Err(refused) => refused,
        };
        absent.extend(refused);
        absent.sort_by_key(|absent| absent.party);
        let again = without(&absent, (&ready, plans.len()), |away| open(away, &mut how));
        (ready, plans) = match again {
            Ok(again) => again,
            Err(NotBegun::Without(needed)) => {
                let AbsentParty { party, why } = absent.swap_remove(0);
                return Err(PaymentError::Party { party, why, needed: Some(needed) });
            }
            Err(NotBegun::Anyway(error)) => return Err(error),
        };
    };
    let jobs = reserved.iter().map(|own| own.as_ref().map(Reservation::job)).collect();
    let owners = stores.iter_mut().zip(reserved).zip(plans).enumerate();
    let payers: Vec<Payer<'_>> = owners
        .filter_map(|(party, ((store, reservation), plan))| {
            Some(Payer { party, store, reservation: reservation?, plans: vec![plan] })
        })
        .collect();
    let numbers: Vec<usize> = payers.iter().map(|payer| payer.party).collect();
    let books = |done: &R::Done, plans: &[Ledger], party: usize| {
        unplanned(plans, R::party_ledger(done, party).into_iter().collect())
    };
    let (done, closed) = run(payers, ready, how, books);
    let open = numbers.into_iter().zip(closed);
    let open = open.filter_map(|(party, closed)| Some((party, closed.err()?))).collect();
    Ok(PartyReceipt { done: done?, jobs, absent, open })
}

/// Why a run that somebody stays away from does not begin.
enum NotBegun {
    /// Because of who stays away.
    Without(String),
    /// For another reason.
    Anyway(PaymentError),
}

/// The run without who stays away, and what each of all parties plans then.
fn without<R: PaidByParties>(
    absent: &[AbsentParty],
    (ready, parties): (&R, usize),
    open: impl FnOnce(&BTreeSet<u32>) -> Result<R, Error>,
) -> Result<(R, Vec<Ledger>), NotBegun> {
    let alone = (absent.len() == parties).then_some("nobody is left to run it with");
    if let Some(needed) = ready.needs_all().or(alone) {
        return Err(NotBegun::Without(needed.to_owned()));
    }
    let away = absent.iter().map(|absent| absent.party as u32).collect();
    let ready = open(&away).map_err(|why| match why {
        why if why.is_stop() => NotBegun::Anyway(why.into()),
        // It was opened with them.
        why => NotBegun::Without(why.to_string()),
    })?;
    let plans = plans_of(&ready).map_err(NotBegun::Anyway)?;
    let of_absent = |absent: &AbsentParty| plans.get(absent.party).map(Ledger::total_events);
    if plans.len() != parties || absent.iter().any(|absent| of_absent(absent) != Some(0)) {
        let why = "a party that stays away would be asked".to_owned();
        return Err(NotBegun::Anyway(PaymentError::NoGuarantee(why)));
    }
    Ok((ready, plans))
}

/// What each party plans.
fn plans_of<R: PaidByParties>(ready: &R) -> Result<Vec<Ledger>, PaymentError> {
    ready.party_plans().map_err(|why| PaymentError::NoGuarantee(why.to_string()))
}

/// Refuses budgets that are not one for each party, and follows the history of each from end to end.
fn each_its_own(stores: &[Store], parties: usize) -> Result<(), PaymentError> {
    if stores.len() != parties {
        let why = format!("there are {parties} parties, and {} budgets", stores.len());
        return Err(PaymentError::NoGuarantee(why));
    }
    let mut keys = Vec::with_capacity(stores.len());
    for (party, store) in stores.iter().enumerate() {
        let of_party = |why| PaymentError::Party { party, why, needed: None };
        store.promise().map_err(of_party)?;
        let key = store.key().map_err(of_party)?;
        // A copy has the key of the file that it was made of: the same people would pay from two.
        if let Some(other) = keys.iter().position(|known| *known == key) {
            return Err(PaymentError::OneBudget(other, party));
        }
        keys.push(key);
    }
    Ok(())
}

/// Reserves the plan of every party that has one, or nothing at all: then the parties are given whose
/// ceilings their plans pass.
fn reserve_all(
    stores: &mut [Store],
    bill: &Bill<'_>,
    plans: &[Ledger],
    shares: &[PaidTable],
) -> Result<Result<Vec<Option<Reservation>>, Vec<AbsentParty>>, PaymentError> {
    let takes_part = |plan: &&Ledger| plan.total_events() > 0;
    if !plans.iter().any(|plan| takes_part(&plan)) {
        return Err(PaymentError::NoGuarantee("it has no noise".to_owned()));
    }
    // Before the first line is written anywhere: who refuses now leaves no trace in others' files.
    let mut absent = Vec::new();
    for (party, (store, plan)) in stores.iter().zip(plans).enumerate() {
        if takes_part(&plan)
            && let Err(why) = store.would_fit(plan, bill.asked)
        {
            absent.push(refused(party, why)?);
        }
    }
    if !absent.is_empty() {
        return Ok(Err(absent));
    }
    let mut reserved: Vec<Option<Reservation>> = Vec::with_capacity(stores.len());
    for (party, plan) in plans.iter().enumerate() {
        if !takes_part(&plan) {
            reserved.push(None);
            continue;
        }
        match reserve(&mut stores[party], bill, std::slice::from_ref(plan), &shares[party]) {
            Ok(own) => reserved.push(Some(own)),
            Err(error) => {
                give_back(stores, reserved)?;
                return match error {
                    PaymentError::Budget(why) => Ok(Err(vec![refused(party, why)?])),
                    other => Err(other),
                };
            }
        }
    }
    Ok(Ok(reserved))
}

/// A party whose ceiling is passed may stay away; whatever else is wrong with its budget ends the run.
fn refused(party: usize, why: BudgetError) -> Result<AbsentParty, PaymentError> {
    if why.is_refusal() {
        Ok(AbsentParty { party, why })
    } else {
        Err(PaymentError::Party { party, why, needed: None })
    }
}

/// Gives back what was reserved for a run that has asked nothing. What cannot be given back stays
/// counted, and then nobody reserves again: who has not been given it back would pay twice for one run.
fn give_back(stores: &mut [Store], reserved: Vec<Option<Reservation>>) -> Result<(), PaymentError> {
    let mut failed = None;
    for (party, (store, own)) in stores.iter_mut().zip(reserved).enumerate() {
        if let Some(Err(why)) = own.map(|own| store.release(own)) {
            failed.get_or_insert((party, why));
        }
    }
    match failed {
        None => Ok(()),
        Some((party, why)) => {
            let needed = "what it reserved before another party refused stays counted".to_owned();
            Err(PaymentError::Party { party, why, needed: Some(needed) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_budget::{JobStatus, Promise, Relation};

    /// It went on, and reserved once more beside what was reserved.
    #[test]
    fn what_cannot_be_given_back_ends_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = |party: usize| folder.path().join(format!("{party}.budget"));
        let promise = || Promise::new("hospital", 1.0, 1e-5).unwrap();
        let (asked, plan) = ((0.1, 1e-6), promise().gaussian(0.1, 1e-6).unwrap());
        let bill = Bill { label: "a run", asked, user: None, relation: Relation::Same };
        let table = PaidTable::of_anybody();
        let (mut stores, mut reserved) = (Vec::new(), Vec::new());
        for party in 0..3 {
            let mut store = Store::create(&file(party), promise()).unwrap();
            let own = reserve(&mut store, &bill, std::slice::from_ref(&plan), &table).unwrap();
            stores.push(store);
            reserved.push(Some(own));
        }
        std::fs::remove_file(file(1)).unwrap();
        let failed = give_back(&mut stores, reserved).unwrap_err();
        assert!(matches!(failed, PaymentError::Party { party: 1, .. }), "{failed}");
        assert!(failed.to_string().contains("stays counted"), "{failed}");
        for party in [0, 2] {
            let jobs = Store::open(&file(party)).unwrap().check().unwrap().jobs;
            assert_eq!(
                jobs.iter().map(|job| job.status).collect::<Vec<_>>(),
                [JobStatus::Released]
            );
        }
    }
}

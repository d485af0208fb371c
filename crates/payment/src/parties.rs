//! A run between parties who pay each from a budget of its own: all reserve before anything is asked,
//! and all settle after.
//!
//! A party whose ceiling the run passes stays away where the protocol goes on without it: the run is
//! opened again without it, and everybody else reserves what they plan then. Where it does not, the
//! run ends before anything is asked, and what others have reserved is given back.
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
/// after any other nothing was asked and nobody pays.
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
        let alone = (absent.len() == plans.len()).then_some("nobody is left to run it with");
        if let Some(needed) = ready.needs_all().or(alone) {
            let AbsentParty { party, why } = absent.swap_remove(0);
            return Err(PaymentError::Party { party, why, needed: Some(needed) });
        }
        let away = absent.iter().map(|absent| absent.party as u32).collect();
        ready = open(&away, &mut how)?;
        plans = plans_of(&ready)?;
        if absent.iter().any(|absent| plans[absent.party].total_events() > 0) {
            return Err(PaymentError::NoGuarantee(
                "a party that stays away would be asked".to_owned(),
            ));
        }
    };
    absent.sort_by_key(|absent| absent.party);
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
                give_back(stores, reserved);
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
/// counted.
fn give_back(stores: &mut [Store], reserved: Vec<Option<Reservation>>) {
    for (store, own) in stores.iter_mut().zip(reserved) {
        if let Some(own) = own {
            let _ = store.release(own);
        }
    }
}

//! A choice of a column: how often each is chosen, what is booked, and what is refused.

use super::{COUNT, OPENING, example, gate, loss};
use reticent_accountant::{Adjacency, Mechanism, Unit};
use reticent_oracle::queries::{SteepestColumn, SteepestWay};
use reticent_oracle::{Entropy, Gate, Oracle, PrivacyModel, Refusal, Rehearsal};
use reticent_testkit::statistics::chi_squared;

const CLIP: f64 = 0.3;

/// The scores at zero, in clips, of the three columns and the intercept: there the slope is −b/2.
fn scores() -> Vec<f64> {
    let table = example(false);
    let score = |j: usize| {
        let part = |i: usize| {
            let row = table.rows.dense_row(i);
            let entry = row.get(j).copied().unwrap_or(0.4);
            (0.5 * table.targets[i] * entry).clamp(-CLIP, CLIP) / CLIP
        };
        (0..COUNT).map(part).sum()
    };
    (0..4).map(score).collect()
}

fn asked(noise_multiplier: f64) -> SteepestColumn<'static> {
    SteepestColumn { at: &[], clip: CLIP, constant: 0.4, ridge: 0.0, noise_multiplier }
}

/// 4·10⁴ choices at each of three noises; false alarm 1e-6 each.
#[test]
fn columns_are_chosen_as_often_as_their_scores_say() {
    let scores = scores();
    assert!(scores.iter().any(|score| score.abs() > 1.5), "{scores:?}");
    for z in [0.8, 2.0, 40.0] {
        let mut gate = gate("logistic", &OPENING);
        let mut counts = vec![0_u64; 8];
        for _ in 0..40_000 {
            let SteepestWay { index, sign } = gate.ask(&asked(z)).unwrap().into_inner();
            counts[2 * index + usize::from(sign > 0.0)] += 1;
        }
        let weights: Vec<f64> =
            scores.iter().flat_map(|s| [(-s / z).exp(), (s / z).exp()]).collect();
        let all: f64 = weights.iter().sum();
        let law: Vec<f64> = weights.iter().map(|weight| weight / all).collect();
        let p = chi_squared(&counts, &law);
        assert!(p > 1e-6, "z = {z}: {counts:?} {law:?} {p}");
    }
}

/// A gate that was asked at other points before gives the answer of one that was not: with the noise of
/// a key the same random words stand behind both.
#[test]
fn what_was_asked_before_changes_no_answer() {
    let point: Vec<(u32, f64)> = vec![(0, 0.7), (2, -1.5), (3, 0.25)];
    let at = |point| SteepestColumn { at: point, ridge: 0.1, ..asked(0.0) };
    let mut fresh = gate("logistic", &OPENING);
    let wanted = fresh.ask(&at(&point)).unwrap().into_inner();
    let mut used = gate("logistic", &OPENING);
    for other in [&[(1, 3.0)][..], &[], &[(0, -2.0), (3, 1.0)], &point, &[(2, 1.0)]] {
        used.ask(&at(other)).unwrap();
        used.ask(&SteepestColumn { clip: 0.7, ..at(other) }).unwrap();
    }
    assert_eq!(used.ask(&at(&point)).unwrap().into_inner(), wanted);
}

#[test]
fn a_choice_is_booked_by_its_noise() {
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let opening = PrivacyModel { adjacency, public_n: Some(COUNT as u64), ..OPENING };
        let mut gate = gate("logistic", &opening);
        let mut rehearsal = Rehearsal::new(Oracle::shape(&gate), *gate.terms());
        for z in [2.5, 0.0] {
            gate.ask(&asked(z)).unwrap();
            let made_up = rehearsal.ask(&asked(z)).unwrap().into_inner();
            assert!(made_up.index < 4 && made_up.sign.abs() == 1.0, "{made_up:?}");
        }
        let ledger = gate.close().unwrap();
        assert_eq!(ledger.entries(), rehearsal.into_plan().entries());
        let mechanism = |at: usize| ledger.entries()[at].event().mechanism().clone();
        let Mechanism::ExponentialMechanism(choice) = mechanism(0) else { panic!() };
        assert_eq!(choice.noise_multiplier(), 2.5);
        assert!(matches!(mechanism(1), Mechanism::NonPrivate(_)));
    }
}

#[test]
fn what_is_not_proven_is_refused() {
    let refused = |gate: &mut Gate, asked: &SteepestColumn<'_>| {
        let before = gate.ledger().total_events();
        let refusal = gate.ask(asked).map(|_| ()).unwrap_err();
        assert_eq!(gate.ledger().total_events(), before, "refused before it is entered");
        refusal
    };
    let mut plain = gate("logistic", &OPENING);
    for wrong in [
        SteepestColumn { at: &[(4, 1.0)], ..asked(1.0) },
        SteepestColumn { at: &[(2, 1.0), (1, 1.0)], ..asked(1.0) },
        SteepestColumn { at: &[(1, 1.0), (1, 1.0)], ..asked(1.0) },
        SteepestColumn { clip: 0.0, ..asked(1.0) },
        SteepestColumn { constant: f64::INFINITY, ..asked(1.0) },
        SteepestColumn { ridge: -1.0, ..asked(1.0) },
        asked(1e-7),
        asked(-1.0),
    ] {
        let refusal = refused(&mut plain, &wrong);
        let named = matches!(refusal, Refusal::BadQuery(_) | Refusal::Diverged(_));
        assert!(named, "{wrong:?}");
    }
    let far = SteepestColumn { at: &[(1, f64::INFINITY)], ..asked(1.0) };
    assert!(matches!(refused(&mut plain, &far), Refusal::Diverged(_)));
    plain.set_basis(Some(&[1.0; 16])).unwrap();
    assert!(matches!(refused(&mut plain, &asked(1.0)), Refusal::BadQuery(_)), "other coordinates");
    let mut users = gate("logistic", &PrivacyModel { unit: Unit::User, ..OPENING });
    assert!(matches!(refused(&mut users, &asked(1.0)), Refusal::BadQuery(_)));
    let mut classes = gate("multinomial:3", &OPENING);
    assert!(matches!(refused(&mut classes, &asked(1.0)), Refusal::BadQuery(_)));
    let mut table = example(false);
    table.weights = Some(vec![0.5; COUNT]);
    let mut weighted =
        Gate::open(table.into(), loss("logistic"), &OPENING, Entropy::seeded(1)).unwrap();
    assert!(matches!(refused(&mut weighted, &asked(1.0)), Refusal::Weighted));
    let mut held = Rehearsal::of_sums(weighted.shape(), *weighted.terms());
    assert!(matches!(held.ask(&asked(1.0)), Err(Refusal::NoSum)));
}

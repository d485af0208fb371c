//! Questions between parties that add the noise themselves, seen one by one or behind masks: the figures of
//! the pooled table but for the noise that is said, the books of each party, and what is refused.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent::accountant::{Ledger, Mechanism};
use reticent::internal::{PaidByParties, Payable, Question};
use reticent::simulate::Parties;
use reticent::tables::{Dataset, Schema, Target};
use reticent::{
    Adjacency, Averaging, Budget, Certificate, CountJob, Evaluation, Fit, Guarantee, Job, Model,
    Partition, PrivateQuality, Run, Statistics, Unit, Value, View,
};

use crate::held::{Data, RECORDS};

const BOTH: [View; 2] = [View::Local, View::SecureAggregation];

fn schema() -> Schema {
    let target = Target::classes(["no", "yes"]).unwrap();
    let schema = Schema::bounded(&[(-1.0, 1.0); 3], target).unwrap();
    schema.named(["a", "b", "c"]).unwrap()
}

fn guarantee(epsilon: f64) -> Guarantee {
    Guarantee::from(Budget::new(epsilon, 1e-5).unwrap()).with(|it| {
        (it.unit, it.seed) = (Some(Unit::Record), Some(5));
    })
}

fn adding(guarantee: Guarantee, public_n: Option<u64>) -> Guarantee {
    guarantee.with(|it| (it.adjacency, it.public_n) = (Some(Adjacency::AddRemove), public_n))
}

fn statistics(guarantee: Guarantee) -> Statistics {
    Statistics::new(schema()).guarantee(guarantee)
}

fn count(guarantee: Guarantee, by_class: bool) -> CountJob {
    Fit::new(schema()).guarantee(guarantee).count(by_class).unwrap()
}

fn seen_by(trust: View, split: Option<u32>) -> Parties {
    Parties::default().with(|it| {
        it.split = split;
        it.trust = Some(trust);
    })
}

fn asked<Q: Question>(job: &Job<Q>, parties: &Parties, data: &Data) -> Q::Output {
    job.between(parties).unwrap().run(&data.table(), Run::default()).unwrap()
}

fn model() -> Model {
    let fit = Fit::new(schema()).guarantee(guarantee(2.0));
    fit.check().unwrap().fit(&Data::of(1).table()).unwrap().model
}

fn number(value: &Value) -> f64 {
    let Value::Number(number) = value else { panic!("{value:?}") };
    *number
}

/// The one multiplier of all Gaussian events of a ledger.
fn multiplier(ledger: &Ledger) -> f64 {
    let [entry] = ledger.entries() else { panic!("{ledger:?}") };
    let Mechanism::Gaussian(event) = entry.event().mechanism() else { panic!("{entry:?}") };
    event.noise_multiplier()
}

fn refused<Q: Question>(job: &Job<Q>, parties: &Parties) -> String {
    job.between(parties).map(drop).unwrap_err().to_string()
}

/// With next to no noise the figures are those of the pooled table, whoever has which rows.
#[test]
fn but_for_the_noise_an_answer_is_that_of_the_pooled_table() {
    let little = guarantee(2_000.0);
    let half = 0.5 / RECORDS as f64;
    for view in BOTH {
        for (data, split) in [
            (Data::of(1), Some(1)),
            (Data::of(1), Some(10)),
            (Data::of(4), None),
            (Data::by_class(), Some(3)),
        ] {
            // A sum of one is behind no mask.
            if (view, split) == (View::SecureAggregation, Some(1)) {
                continue;
            }
            let parties = seen_by(view, split);
            let table = data.table();
            let by_class = count(little, true);
            let pooled = by_class.run(&table, Run::default()).unwrap();
            let found = asked(&by_class, &parties, &data);
            assert_eq!(found.total, RECORDS as f64);
            for (own, one) in found.classes.iter().zip(&pooled.classes) {
                assert_eq!((own.0.as_str(), own.1.round()), (one.0.as_str(), one.1.round()));
            }
            let mean = statistics(little).mean(["a", "c"]).unwrap();
            let (pooled, found) =
                (mean.run(&table, Run::default()).unwrap(), asked(&mean, &parties, &data));
            for (own, one) in found.columns.iter().zip(&pooled.columns) {
                let [own, one] = [own, one].map(|it| number(it.value.as_ref().unwrap()));
                assert!((own - one).abs() < 0.02, "{view} {split:?}: {own} {one}");
            }
            let bins = statistics(little).histogram(["b"], &Partition::Equal(4)).unwrap();
            let (pooled, found) =
                (bins.run(&table, Run::default()).unwrap(), asked(&bins, &parties, &data));
            for (own, one) in found.columns[0].bins.iter().zip(&pooled.columns[0].bins) {
                assert_eq!(own.count.round(), one.count.round(), "{view} {split:?}");
            }
            let at = [24.0 * 2.0 * half + half, 0.5 + half];
            let ranks = statistics(little).quantiles(["a"], &at, None).unwrap();
            let pooled = ranks.run(&table, Run::default()).unwrap();
            let found = asked(&ranks, &parties, &data);
            let values = |of: &reticent::Quantiles| -> Vec<f64> {
                of.columns[0].quantiles.iter().map(|one| number(&one.value)).collect()
            };
            assert_eq!(values(&found), values(&pooled), "{view} {split:?}");
            let evaluation = Evaluation::of(little).check(&model()).unwrap();
            let pooled = evaluation.run(&table, Run::default()).unwrap().quality;
            let found = asked(&evaluation, &parties, &data).quality;
            let accuracy = |quality: PrivateQuality| {
                let PrivateQuality::Classes(classes) = quality else { panic!("classes") };
                classes.accuracy.value.unwrap()
            };
            let (own, one) = (accuracy(found), accuracy(pooled));
            assert!((own - one).abs() < 0.02, "{view} {split:?}: {own} {one}");
        }
    }
}

/// A party of one is one table: the same noise for the same price. Ten parties' sum has √10 times the
/// noise for the same price of each, and behind masks √(10/6) times what six shares are counted for; the
/// deviation that is said, and the interval, are those of the sum.
#[test]
fn a_party_is_counted_for_its_own_noise_and_an_interval_has_that_of_the_sum() {
    let job = count(guarantee(1.0), true);
    let data = Data::of(1);
    let pooled = job.run(&data.table(), Run::default()).unwrap();
    let z = multiplier(&pooled.certificate.ledger);
    let one = asked(&job, &seen_by(View::Local, Some(1)), &data);
    assert_eq!((one.deviation, multiplier(&one.certificate.ledger)), (pooled.deviation, z));
    let ten = asked(&job, &seen_by(View::Local, Some(10)), &data);
    let own = multiplier(&ten.certificate.ledger);
    // As near as the search for it ends.
    assert!((own / z - 1.0).abs() < 1e-4, "{own} {z}");
    let more = ten.deviation / pooled.deviation;
    assert!((more / 10_f64.sqrt() - 1.0).abs() < 1e-4, "{more}");
    let masked = asked(&job, &seen_by(View::SecureAggregation, Some(10)), &data);
    assert!(masked.deviation > 1.2 * pooled.deviation && masked.deviation < ten.deviation);
    // All of them honest: one who listens knows its own share.
    let trusting = job.between(&seen_by(View::SecureAggregation, Some(10))).unwrap();
    let trusting = trusting.honest(1.0).unwrap().run(&data.table(), Run::default()).unwrap();
    assert!(trusting.deviation < 0.95 * masked.deviation);
}

/// The noise that is said is the noise that there is: over 200 seeds within four standard errors of it.
#[test]
fn the_deviation_that_is_said_is_that_of_the_answers() {
    let data = Data::of(1);
    let exact = asked(&count(guarantee(2_000.0), true), &seen_by(View::Local, Some(5)), &data);
    let exact = exact.classes[0].1.round();
    for view in BOTH {
        let (mut sum, mut squares, mut said) = (0.0, 0.0, 0.0);
        for seed in 0..200 {
            let job = count(guarantee(1.0).with(|it| it.seed = Some(seed)), true);
            let found = asked(&job, &seen_by(view, Some(5)), &data);
            let off = found.classes[0].1 - exact;
            (sum, squares, said) = (sum + off, squares + off * off, found.deviation);
        }
        let found = (squares / 200.0_f64).sqrt();
        assert!((found / said - 1.0).abs() < 0.2, "{view}: {found} {said}");
        assert!((sum / 200.0).abs() < 4.0 * said / 200_f64.sqrt(), "{view}: {sum}");
    }
}

#[test]
fn every_party_has_books_and_a_certificate_that_verifies() {
    let certain = guarantee(1.0).with(|it| it.seed = None);
    let data = Data::of(4);
    let table = data.table();
    for view in BOTH {
        let learned = match view {
            View::Local => "sees every answer of each party",
            _ => "the noise of at least 3 parties, of which 2 are counted",
        };
        let parties = seen_by(view, None);
        let held = |own: &Certificate, plans: &[Ledger], events: u64| {
            assert!(own.certified && own.epsilon <= 1.0 && own.epsilon > 0.95, "{}", own.epsilon);
            assert_eq!((own.view, own.population), (view, RECORDS as u64));
            assert_eq!(own.parties.as_ref().unwrap().count, 4);
            assert!(own.assumptions.iter().any(|said| said.contains(learned)), "{own:?}");
            assert_eq!(plans, vec![own.ledger.clone(); 4]);
            assert_eq!(own.ledger.total_events(), events, "a round is an entry");
            let verified = own.verify(None).unwrap();
            let failures: Vec<_> = verified.failures().collect();
            assert!(failures.is_empty(), "{failures:?}");
        };
        let mean = statistics(certain).mean(["a"]).unwrap();
        let ready = mean.between(&parties).unwrap().open(&table, &mut Run::default()).unwrap();
        let plans = ready.party_plans().unwrap();
        held(&ready.run(Run::default()).unwrap().certificate, &plans, 1);
        let counted = count(certain, true);
        let ready = counted.between(&parties).unwrap().open(&table, &mut Run::default()).unwrap();
        let plans = ready.party_plans().unwrap();
        held(&ready.run(Run::default()).unwrap().certificate, &plans, 1);
        // Ten counts, of which each is seen.
        let ranks = statistics(certain).quantiles(["a"], &[0.5], None).unwrap();
        let ready = ranks.between(&parties).unwrap().open(&table, &mut Run::default()).unwrap();
        let plans = ready.party_plans().unwrap();
        held(&ready.run(Run::default()).unwrap().certificate, &plans, 10);
        let evaluation = Evaluation::of(certain).check(&model()).unwrap();
        let ready = evaluation.between(&parties).unwrap();
        let ready = ready.open(&table, &mut Run::default()).unwrap();
        let plans = ready.party_plans().unwrap();
        // What was fitted with seeded noise taints no answer about it.
        held(&ready.run(Run::default()).unwrap().certificate, &plans, 1);
    }
}

#[test]
fn a_seed_repeats_an_answer_and_another_does_not() {
    for view in BOTH {
        let mean = |seed| {
            let job = statistics(guarantee(1.0).with(|it| it.seed = Some(seed)));
            let found = asked(&job.mean(["a"]).unwrap(), &seen_by(view, Some(4)), &Data::of(1));
            assert!(!found.certificate.certified, "seeded");
            number(found.columns[0].value.as_ref().unwrap())
        };
        assert_eq!(mean(1).to_bits(), mean(1).to_bits());
        assert_ne!(mean(1).to_bits(), mean(2).to_bits());
    }
}

/// However wrong a public number is, what parties say of their records is not cut by it; and parties
/// without records are asked like others.
#[test]
fn where_the_number_is_private_nothing_is_cut_and_everybody_answers() {
    let data = Data::of(1);
    for view in BOTH {
        for split in [3, 150] {
            let parties = seen_by(view, Some(split));
            let all = asked(&count(adding(guarantee(500.0), None), false), &parties, &data);
            assert!(
                (all.total - RECORDS as f64).abs() < 6.0 * all.deviation && all.deviation < 3.0
            );
            assert_eq!(all.certificate.adjacency, Adjacency::AddRemove);
            let by_class = asked(&count(adding(guarantee(500.0), None), true), &parties, &data);
            assert_eq!(by_class.classes.len(), 2);
            for public_n in [None, Some(2), Some(100)] {
                let few = statistics(adding(guarantee(500.0), public_n));
                let bins = few.histogram(["a"], &Partition::Equal(2)).unwrap();
                let found = asked(&bins, &parties, &data);
                let column = &found.columns[0];
                let total: f64 = column.bins.iter().map(|bin| bin.count).sum();
                let off = (total - RECORDS as f64).abs();
                assert!(off < 9.0 * column.deviation, "{view} {split} {public_n:?}: {total}");
                assert!(column.deviation < 3.0, "{}", column.deviation);
            }
        }
    }
}

/// Each party a person: who sits where is drawn, and the answer is about all of them.
#[test]
fn persons_who_are_parties_are_asked_with_noise_of_their_own() {
    let persons = guarantee(2_000.0).with(|it| it.unit = Some(Unit::User));
    let data = Data::of(20);
    for view in BOTH {
        let job = statistics(persons).mean(["b"]).unwrap();
        let pooled = job.run(&data.table(), Run::default()).unwrap();
        let found = asked(&job, &seen_by(view, None), &data);
        assert_eq!((found.n, found.certificate.unit), (20.0, Unit::User));
        let [own, one] = [&found, &pooled].map(|it| number(it.columns[0].value.as_ref().unwrap()));
        assert!((own - one).abs() < 0.1, "{view}: {own} {one}");
        let ready = job.between(&seen_by(view, None)).unwrap();
        let ready = ready.open(&data.table(), &mut Run::default()).unwrap();
        assert_eq!(Payable::plans(&ready).unwrap().len(), 1);
        assert!(ready.party_plans().unwrap_err().to_string().contains("told to nobody"));
    }
}

/// Each party one unit under its own name: the noise and the price of parties that are persons, figures in
/// which a party counts once whatever it holds, and budgets that know which party is which.
#[test]
fn whole_parties_are_asked_with_noise_of_their_own() {
    let of = |unit, epsilon| guarantee(epsilon).with(|it| it.unit = Some(unit));
    // Sixty records with one of three parties, one with another, and the rest.
    let data = Data::uneven(&[60, 1, RECORDS - 61]);
    let pooled = statistics(of(Unit::User, 2_000.0)).mean(["b"]).unwrap();
    let pooled = pooled.run(&data.table(), Run::default()).unwrap();
    for view in BOTH {
        let asked_of = |unit, epsilon| {
            let job = statistics(of(unit, epsilon)).mean(["b"]).unwrap();
            asked(&job, &seen_by(view, None), &data)
        };
        let found = asked_of(Unit::Party, 2_000.0);
        assert_eq!((found.n, found.certificate.unit), (3.0, Unit::Party));
        let [own, one] = [&found, &pooled].map(|it| number(it.columns[0].value.as_ref().unwrap()));
        assert!((own - one).abs() < 0.1, "{view}: {own} {one}");
        let [party, person] = [Unit::Party, Unit::User].map(|unit| asked_of(unit, 1.0));
        assert_eq!(party.columns[0].deviation, person.columns[0].deviation, "{view}");
        assert_eq!(party.certificate.counted, person.certificate.counted);
        let units = party.certificate.ledger.entries().iter().map(|entry| entry.event().unit());
        assert!(units.into_iter().all(|unit| unit == Unit::Party));
    }
}

/// A neighbour is one of one party, which keeps its name: one budget of parties pays once, and each party
/// from its own.
#[test]
fn whole_parties_pay_once_or_each_from_its_own() {
    let data = Data::of(4);
    let table = data.table();
    for view in [View::Local, View::SecureAggregation, View::Central] {
        let certain = guarantee(1.0).with(|it| (it.unit, it.seed) = (Some(Unit::Party), None));
        let job = statistics(certain).mean(["a"]).unwrap();
        let between = job.between(&seen_by(view, None)).unwrap();
        let ready = between.open(&table, &mut Run::default()).unwrap();
        let plan = ready.plan();
        assert_eq!(Payable::plans(&ready).unwrap(), vec![plan.clone()], "{view}");
        assert_eq!(ready.party_plans().unwrap(), vec![plan.clone(); 4], "{view}");
        let certificate = ready.run(Run::default()).unwrap().certificate;
        assert!(certificate.certified && certificate.epsilon > 0.95, "{view}: {certificate:?}");
        assert_eq!(certificate.ledger, plan);
        assert!(certificate.meaning.contains("any one party"), "{}", certificate.meaning);
        assert!(!certificate.assumptions.iter().any(|said| said.contains("k-fold")));
        assert_eq!(certificate.verify(None).unwrap().failures().count(), 0, "{view}");
    }
}

#[test]
fn what_is_not_proven_with_noise_of_their_own_is_refused_by_name() {
    let mean: Job<Averaging> = statistics(guarantee(1.0)).mean(["a"]).unwrap();
    let data = Data::of(3);
    let table = data.table();
    for view in BOTH {
        let persons = guarantee(1.0).with(|it| it.unit = Some(Unit::User));
        let persons = statistics(persons).mean(["a"]).unwrap();
        assert!(refused(&persons, &seen_by(view, Some(3))).contains("split"));
        let whole = guarantee(1.0).with(|it| it.unit = Some(Unit::Party));
        let whole = statistics(whole).mean(["a"]).unwrap();
        assert!(refused(&whole, &seen_by(view, Some(3))).contains("no party of its own"));
        let hidden = statistics(adding(guarantee(1.0), Some(100))).mean(["a"]).unwrap();
        assert!(refused(&hidden, &seen_by(view, None)).contains("who takes part is public"));
        let ring = seen_by(view, Some(3)).with(|it| it.topology = Some("ring".to_owned()));
        assert!(refused(&mean, &ring).contains("no graph"));
        // A record that is replaced may be another holder's, and one budget counts one party.
        let named = mean.between(&seen_by(view, None)).unwrap();
        let named = named.open(&table, &mut Run::default()).unwrap();
        let why = Payable::plans(&named).unwrap_err().to_string();
        assert!(why.contains("two parties change"), "{why}");
        let dealt = mean.between(&seen_by(view, Some(3))).unwrap();
        let dealt = dealt.open(&table, &mut Run::default()).unwrap();
        assert_eq!(Payable::plans(&dealt).unwrap(), vec![dealt.plan()]);
    }
    for view in [View::Local, View::Central] {
        let job = mean.between(&seen_by(view, Some(3))).unwrap();
        let why = job.honest(0.9).map(drop).unwrap_err().to_string();
        assert!(why.contains("honest") && why.contains("secure-aggregation"), "{why}");
    }
    let masked = || mean.between(&seen_by(View::SecureAggregation, Some(4))).unwrap();
    assert!(masked().honest(1.5).is_err());
    // So few that no noise is certain: before the table is read.
    let nothing = Dataset::dense(&[0.5; 3], 1, 3).unwrap();
    let why = masked().honest(0.1).unwrap().run(&nothing, Run::default()).unwrap_err();
    assert!(why.to_string().contains("trust"), "{why}");
}

//! Questions between parties who trust a server with exact sums: the same bits as about the pooled
//! table, whoever holds which rows, and what is refused.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeMap;

use reticent::internal::runtime::CATALOGUE;
use reticent::internal::{PaidByParties, Question};
use reticent::simulate::{BudgetFiles, CheckpointOptions, Parties, Simulation};
use reticent::tables::{Schema, Target};
use reticent::{
    Adjacency, Budget, Certificate, Counted, Evaluation, Fit, Guarantee, Job, Model, Partition,
    Run, Settings, Statistics, Unit, View,
};
use serde::Serialize;

use crate::held::{Data, RECORDS};

fn schema() -> Schema {
    let target = Target::classes(["no", "yes"]).unwrap();
    let schema = Schema::bounded(&[(-1.0, 1.0); 3], target).unwrap();
    schema.named(["a", "b", "c"]).unwrap()
}

/// The schema of a question about numbers, whose target is not asked about.
fn statistics(guarantee: Guarantee) -> Statistics {
    Statistics::new(schema()).guarantee(guarantee)
}

fn guarantee(unit: Unit, adjacency: Adjacency) -> Guarantee {
    Guarantee::from(Budget::new(2.0, 1e-5).unwrap()).with(|it| {
        (it.unit, it.adjacency, it.seed) = (Some(unit), Some(adjacency), Some(11));
    })
}

fn trusting(split: Option<u32>) -> Parties {
    Parties::default().with(|it| {
        it.split = split;
        it.trust = Some(View::Central);
    })
}

fn model() -> Model {
    let data = Data::of(1);
    let fit = Fit::new(schema()).guarantee(guarantee(Unit::Record, Adjacency::ReplaceOne));
    fit.check().unwrap().fit(&data.table()).unwrap().model
}

/// All that an answer says but for its certificate.
fn figures(answer: impl Serialize) -> serde_json::Value {
    let mut all = serde_json::to_value(answer).unwrap();
    all.as_object_mut().unwrap().remove("certificate");
    all
}

fn counted(answer: &Counted) -> serde_json::Value {
    serde_json::json!([answer.total, answer.classes, answer.deviation])
}

/// The answer about one table and the answer between these parties.
fn both<Q: Question>(
    job: &Job<Q>,
    (data, split): (&Data, Option<u32>),
    figures: impl Fn(&Q::Output) -> serde_json::Value,
) {
    let table = data.table();
    let pooled = job.run(&table, Run::default()).unwrap();
    let parties = trusting(split);
    let held = job.between(&parties).unwrap().run(&table, Run::default()).unwrap();
    assert_eq!(figures(&held), figures(&pooled), "{} {split:?}", Q::NAME);
    let (own, one): (&Certificate, &Certificate) = (Q::certificate(&held), Q::certificate(&pooled));
    assert_eq!((own.epsilon, &own.ledger), (one.epsilon, &one.ledger), "{} {split:?}", Q::NAME);
    assert!(own.assumptions.iter().any(|said| said.contains("trusted with every party's exact")));
    assert!(own.parties.is_some() && one.parties.is_none());
    let verified = own.verify(None).unwrap();
    assert_eq!(verified.failures().count(), 0, "{:?}", verified.failures().collect::<Vec<_>>());
}

/// Every question there is.
fn every_question(guarantee: Guarantee, data: &Data, split: Option<u32>) {
    let Guarantee { adjacency, .. } = guarantee;
    let sized = guarantee.with(|it| {
        it.public_n = (adjacency == Some(Adjacency::AddRemove)).then_some(100);
    });
    let at = (data, split);
    let count = |by_class| Fit::new(schema()).guarantee(guarantee).count(by_class);
    both(&count(true).unwrap(), at, counted);
    if adjacency == Some(Adjacency::AddRemove) {
        both(&count(false).unwrap(), at, counted);
    }
    both(&statistics(guarantee).mean(["a", "c"]).unwrap(), at, |it| figures(it));
    let bins = Partition::Equal(4);
    both(&statistics(guarantee).histogram(["b"], &bins).unwrap(), at, |it| figures(it));
    let quantiles = statistics(sized).quantiles(["a"], &[0.25, 0.5], None).unwrap();
    both(&quantiles, at, |it| figures(it));
    let evaluation = Evaluation::of(sized).check(&model()).unwrap();
    both(&evaluation, at, |it| figures(it));
}

#[test]
fn an_answer_between_parties_has_the_bits_of_the_one_about_the_pooled_table() {
    let of_records = guarantee(Unit::Record, Adjacency::ReplaceOne);
    for parties in [1, 3, 10] {
        every_question(of_records, &Data::of(parties), None);
        every_question(of_records, &Data::of(1), Some(parties as u32));
    }
    // A record each, and all records of a class with one party.
    every_question(of_records, &Data::of(RECORDS), None);
    every_question(of_records, &Data::by_class(), None);
}

#[test]
fn persons_have_the_answer_of_the_pooled_table_wherever_they_sit() {
    let of_persons = guarantee(Unit::User, Adjacency::ReplaceOne);
    for persons in [3, 40] {
        every_question(of_persons, &Data::of(persons), None);
    }
}

/// All that a party holds is one unit: the answer about a table in which each party is a person, entered
/// under another name. Parties have different numbers of records, so that it is none about records.
#[test]
fn whole_parties_have_the_answer_in_which_each_is_a_person() {
    let (data, own) = (Data::by_class(), |unit| guarantee(unit, Adjacency::ReplaceOne));
    let table = data.table();
    let mean = |unit| statistics(own(unit)).mean(["a", "c"]).unwrap();
    let pooled = mean(Unit::User).run(&table, Run::default()).unwrap();
    let of_records = mean(Unit::Record).run(&table, Run::default()).unwrap();
    let job = mean(Unit::Party);
    let between = job.between(&trusting(None)).unwrap();
    let whole = between.run(&table, Run::default()).unwrap();
    assert_eq!(figures(&whole), figures(&pooled));
    assert_ne!(figures(&whole), figures(&of_records));
    let certificate = &whole.certificate;
    assert_eq!((certificate.unit, certificate.population, whole.n), (Unit::Party, 2, 2.0));
    assert_eq!(certificate.epsilon, pooled.certificate.epsilon);
    let events = certificate.ledger.entries().iter().map(|entry| entry.event());
    assert!(events.clone().all(|event| event.unit() == Unit::Party) && events.count() == 1);
    assert!(certificate.assumptions.iter().any(|said| said.contains("whoever's it is")));
    assert_eq!(certificate.verify(None).unwrap().failures().count(), 0);
    let fit = |unit| Fit::new(schema()).guarantee(own(unit)).count(true).unwrap();
    let classes = fit(Unit::User).run(&table, Run::default()).unwrap();
    let job = fit(Unit::Party);
    let found = job.between(&trusting(None)).unwrap().run(&table, Run::default()).unwrap();
    assert_eq!(counted(&found), counted(&classes));
    // One table has none, and a share that is dealt is none.
    let why = mean(Unit::Party).run(&table, Run::default()).unwrap_err().to_string();
    assert!(why.contains("one table has no parties"), "{why}");
    let why = mean(Unit::Party).between(&trusting(Some(3))).map(drop).unwrap_err().to_string();
    assert!(why.contains("no party of its own"), "{why}");
    let hidden = statistics(guarantee(Unit::Party, Adjacency::AddRemove)).mean(["a"]).unwrap();
    let why = hidden.between(&trusting(None)).map(drop).unwrap_err().to_string();
    assert!(why.contains("who takes part is public"), "{why}");
}

#[test]
fn parties_without_records_change_nothing_where_sizes_are_private() {
    let hidden = guarantee(Unit::Record, Adjacency::AddRemove);
    for parties in [3, 500] {
        every_question(hidden, &Data::of(1), Some(parties));
    }
}

#[test]
fn what_is_not_proven_between_parties_is_refused_before_a_table_is_read() {
    let job = |unit, adjacency| statistics(guarantee(unit, adjacency)).mean(["a"]).unwrap();
    let mean = job(Unit::Record, Adjacency::ReplaceOne);
    let refused = |job: &Job<reticent::Averaging>, parties: &Parties| {
        job.between(parties).map(drop).unwrap_err().to_string()
    };
    let dealt = || trusting(Some(3));
    let why = refused(&mean, &dealt().with(|it| it.trust = Some(View::Network)));
    assert!(why.contains("trust") && why.contains("central"), "{why}");
    assert!(refused(&mean, &dealt().with(|it| it.trust = None)).contains("yours to say"));
    let ring = dealt().with(|it| it.topology = Some("ring".to_owned()));
    assert!(refused(&mean, &ring).contains("no graph"));
    let smaller = dealt().with(|it| it.budgets = BTreeMap::from([("1".to_owned(), 0.5)]));
    assert!(refused(&mean, &smaller).contains("one epsilon for all"));
    let column = dealt().with(|it| it.users_from = Some("who".to_owned()));
    assert!(refused(&mean, &column).contains("users_from"));
    let files = BudgetFiles::typed(vec!["h-{}.budget".to_owned()]);
    let paid = dealt().with(|it| it.budget = files);
    assert!(refused(&mean, &paid).contains("nobody is asked for it"));
    assert!(refused(&mean, &trusting(Some(0))).contains("at least one party"));
    let skewed = trusting(None).with(|it| it.skew = Some("size:1".to_owned()));
    assert!(refused(&mean, &skewed).contains("skew"));
    // A person's rows would lie with several parties; who takes part would say who is there.
    let persons = job(Unit::User, Adjacency::ReplaceOne);
    assert!(refused(&persons, &dealt()).contains("split"));
    let hidden = job(Unit::User, Adjacency::AddRemove);
    assert!(refused(&hidden, &trusting(None)).contains("who takes part is public"));
}

#[test]
fn a_table_that_says_nothing_or_too_much_of_its_owners_is_refused() {
    let unsaid = Guarantee::from(Budget::new(2.0, 1e-5).unwrap());
    let job = statistics(unsaid).mean(["a"]).unwrap();
    let data = Data::of(3);
    let table = data.table();
    for split in [None, Some(3)] {
        let parties = trusting(split);
        let why = job.between(&parties).unwrap().run(&table, Run::default()).unwrap_err();
        assert!(why.to_string().contains("have owners"), "{why}");
    }
    let nobody = reticent::tables::Dataset::dense(&[0.5; 9], 3, 3).unwrap();
    let parties = trusting(None);
    let why = job.between(&parties).unwrap().run(&nobody, Run::default()).unwrap_err();
    assert!(why.to_string().contains("who the parties are"), "{why}");
    // More parties than records, whose number is public.
    let parties = trusting(Some(9));
    let why = job.between(&parties).unwrap().run(&nobody, Run::default()).unwrap_err();
    assert!(why.to_string().contains("every party needs a record"), "{why}");
}

#[test]
fn what_nobody_paid_for_taints_the_books_between_parties_too() {
    let certain = guarantee(Unit::Record, Adjacency::ReplaceOne).with(|it| it.seed = None);
    let job = statistics(certain).mean(["a"]).unwrap();
    let data = Data::of(3);
    let table = data.table();
    let run = |parties: &Parties| {
        job.between(parties).unwrap().run(&table, Run::default()).unwrap().certificate
    };
    assert!(run(&trusting(Some(3))).certified);
    let by_labels = trusting(Some(3)).with(|it| it.skew = Some("label:0.5".to_owned()));
    assert!(!run(&by_labels).certified);
}

#[test]
fn every_party_plans_what_the_answer_costs_and_none_of_persons_has_a_number() {
    let data = Data::of(4);
    let table = data.table();
    let job = |unit| statistics(guarantee(unit, Adjacency::ReplaceOne)).mean(["a"]).unwrap();
    let records = job(Unit::Record);
    let ready = records.between(&trusting(None)).unwrap().open(&table, &mut Run::default());
    let ready = ready.unwrap();
    assert_eq!(ready.party_plans().unwrap(), vec![ready.plan(); 4]);
    assert!(ready.needs_all().is_some() && ready.plan().total_events() > 0);
    let persons = job(Unit::User);
    let ready = persons.between(&trusting(None)).unwrap().open(&table, &mut Run::default());
    let why = ready.unwrap().party_plans().unwrap_err().to_string();
    assert!(why.contains("drawn and told to nobody"), "{why}");
}

/// Whoever cannot pay for a run says nothing in it: with any other records it comes to the same bits.
#[test]
fn nothing_of_a_party_that_stays_away_is_in_a_run() {
    let (data, other) = (Data::of(8), Data::of(8).changed_at(5));
    let mut ran = Vec::new();
    for entry in CATALOGUE.iter().filter(|entry| entry.private) {
        for &view in entry.views.iter().filter(|view| **view != View::Network) {
            let iterations = entry.takes.contains(&"iterations").then_some(3);
            let job = Simulation::new(schema())
                .algorithm(entry.name)
                .unwrap()
                .settings(Settings { iterations, ..Settings::default() })
                .guarantee(guarantee(Unit::Record, Adjacency::ReplaceOne))
                .party_per_owner()
                .trust(view)
                .check()
                .unwrap_or_else(|why| panic!("{} {view}: {why}", entry.name));
            let run = |data: &Data, absent: &[u32]| {
                let (table, keep) = (data.table(), CheckpointOptions::default());
                let absent = absent.iter().copied().collect();
                let ready = job.open_without(&table, keep, &absent, &mut Run::default()).unwrap();
                let model = ready.run(Run::default()).unwrap().model;
                model.coefficients().iter().flat_map(|it| it.values.clone()).collect::<Vec<_>>()
            };
            let say = format!("{} {view}", entry.name);
            assert_eq!(run(&data, &[5]), run(&other, &[5]), "{say}");
            assert_ne!(run(&data, &[]), run(&other, &[]), "{say}: the change is seen at all");
            ran.push(say);
        }
    }
    assert!(ran.len() >= 6, "{ran:?}");
}

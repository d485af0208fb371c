//! Statistics of columns: near the truth where noise is small, in the units of the table, of records
//! and of users, with missing values as the schema says; how often the intervals hold; what is
//! refused.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::ops::ControlFlow;

use reticent::accountant::{Adjacency, Unit};
use reticent::tables::{Dataset, Schema, Target};
use reticent::trace::Tracing;
use reticent::{Budget, Divisor, Error, Files, Partition, Run, Stage, Statistics, Value};

const SCHEMA: &str = "
row_norm = 0.01
missing_tokens = ['', '?']
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
scale = 'log'
[[column]]
name = 'since'
kind = 'date'
lower = '2000-01-01'
upper = '2019-12-31'
[[column]]
name = 'town'
kind = 'categorical'
categories = ['A', 'B', 'C']
[[column]]
name = 'who'
kind = 'user'
[[column]]
name = 'note'
kind = 'ignored'
[[column]]
name = 'pay'
kind = 'target'
lower = -1000
upper = 3000
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
";

struct Place(tempfile::TempDir);

impl Place {
    /// 1,200 records of 600 users, one to three each. Ages are 0 to 79 beside some that are missing
    /// and some that are out of bounds.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from("age,since,town,who,note,pay,ill\n");
        for i in 0..1200_usize {
            let (age, town) = (i % 80, ["A", "B", "B", "D", "?"][i % 5]);
            let age = match i % 100 {
                0 => "?".to_owned(),
                1 => "1e9".to_owned(),
                _ => age.to_string(),
            };
            let user = if i % 4 < 3 { i / 4 } else { 300 + i / 4 };
            let since = if i % 2 == 0 { "2005-01-01" } else { "2015-01-01" };
            text += &format!("{age},{since},{town},{user},x,{},no\n", i % 1000);
        }
        std::fs::write(folder.path().join("t.csv"), text).unwrap();
        Place(folder)
    }

    fn table(&self) -> Files {
        Files::one(self.0.path().join("t.csv"))
    }

    /// Ages as the schema means them, by record.
    fn ages() -> Vec<f64> {
        let age = |i: usize| match i % 100 {
            0 => 50.0,
            1 => 100.0,
            _ => (i % 80) as f64,
        };
        (0..1200).map(age).collect()
    }

    fn users() -> Vec<usize> {
        (0..1200).map(|i| if i % 4 < 3 { i / 4 } else { 300 + i / 4 }).collect()
    }
}

fn asked(epsilon: f64, unit: Unit) -> Statistics {
    let schema: Schema = SCHEMA.parse().unwrap();
    Statistics::new(schema).budget(Budget::new(epsilon, 1e-6).unwrap()).unit(unit)
}

fn number(value: &Value) -> f64 {
    let Value::Number(number) = value else { panic!("{value:?} is no number") };
    *number
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean of every user's mean.
fn mean_of_users(values: &[f64]) -> f64 {
    let mut own = vec![Vec::new(); 600];
    for (value, user) in values.iter().zip(Place::users()) {
        own[user].push(*value);
    }
    mean(&own.iter().map(|own| mean(own)).collect::<Vec<_>>())
}

/// At ε = 1000 the noise is next to nothing: eight of its deviations, one alarm in 10¹⁴.
#[test]
fn means_are_those_of_the_table_in_its_units() {
    let (place, ages) = (Place::new(), Place::ages());
    for (unit, truth) in [(Unit::Record, mean(&ages)), (Unit::User, mean_of_users(&ages))] {
        for (adjacency, public_n, divisor) in [
            (Adjacency::ReplaceOne, None, Divisor::Exact),
            (Adjacency::AddRemove, Some(1_200), Divisor::Given),
            (Adjacency::AddRemove, None, Divisor::Noisy),
        ] {
            let mut asked = asked(1e3, unit).adjacency(adjacency);
            let units = if unit == Unit::User { 600 } else { 1200 };
            if public_n.is_some() {
                asked = asked.public_n(units);
            }
            let job = asked.mean(["age", "since"]).unwrap();
            let beforehand = job.plan_beforehand().unwrap();
            let found = job.run(place.table(), Run::default()).unwrap();
            assert_eq!(found.certificate.ledger.total_events(), 1);
            assert_eq!(found.certificate.ledger.entries(), beforehand.entries());
            assert!(found.certificate.certified && found.certificate.algorithm == "mean");
            assert!(found.certificate.meaning.contains("whoever sees the answer"));
            assert_eq!(found.n_is, divisor);
            assert!((found.n - units as f64).abs() < 1.0, "{}", found.n);
            let [age, since] = &found.columns[..] else { panic!("two columns") };
            let deviation = age.deviation.unwrap();
            assert!(deviation > 0.0 && deviation < 0.02, "{deviation}");
            let value = number(age.value.as_ref().unwrap());
            assert!((value - truth).abs() < 8.0 * deviation, "{value} {truth}");
            assert_eq!(
                (&age.missing, &age.bounds[1]),
                (&Value::Number(50.0), &Value::Number(100.0))
            );
            // Half in 2005, half in 2015.
            let Some(Value::Day(day)) = &since.value else { panic!("{since:?}") };
            assert!(
                unit == Unit::User || day.starts_with("2010-01-0") || day.starts_with("2009-12-3"),
                "{day}"
            );
        }
    }
}

/// A wrong public number costs meaning, not privacy: half of it doubles the distance from the
/// middle, and the mean is cut to the bounds.
#[test]
fn a_schemas_count_of_records_is_none_of_users() {
    let place = Place::new();
    let schema: Schema = format!("public_n = 1200\n{SCHEMA}").parse().unwrap();
    let asked = |unit| {
        Statistics::new(schema.clone())
            .budget(Budget::new(1e3, 1e-6).unwrap())
            .adjacency(Adjacency::AddRemove)
            .unit(unit)
    };
    let found =
        |unit| asked(unit).mean(["age"]).unwrap().run(place.table(), Run::default()).unwrap();
    assert_eq!(found(Unit::Record).n_is, Divisor::Given);
    assert_eq!(found(Unit::User).n_is, Divisor::Noisy);
    assert!(asked(Unit::Record).quantiles(["age"], &[0.5], None).is_ok());
    let refused = asked(Unit::User).quantiles(["age"], &[0.5], None).unwrap_err();
    assert!(matches!(refused, Error::Missing { .. }), "{refused}");
    let cut = asked(Unit::Record).public_n(100).mean(["pay"]).unwrap();
    let cut = cut.run(place.table(), Run::default()).unwrap();
    assert_eq!(cut.columns[0].value, Some(Value::Number(-1000.0)));
}

#[test]
fn histograms_have_everybody_once() {
    let place = Place::new();
    for unit in [Unit::Record, Unit::User] {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            let job = asked(1e3, unit)
                .adjacency(adjacency)
                .histogram(["town", "age", "ill"], &Partition::At(vec![10.0, 50.0]))
                .unwrap();
            let found = job.run(place.table(), Run::default()).unwrap();
            assert_eq!(found.certificate.ledger.total_events(), 1);
            let [town, age, ill] = &found.columns[..] else { panic!("three columns") };
            let counts = |bins: &[reticent::BinCount]| -> Vec<f64> {
                bins.iter().map(|bin| bin.count.round()).collect()
            };
            assert_eq!(town.bins[3].category, None);
            assert_eq!(age.bins[1].range, Some([Value::Number(10.0), Value::Number(50.0)]));
            for column in [town, age, ill] {
                let all: f64 = column.bins.iter().map(|bin| bin.count).sum();
                let units = if unit == Unit::User { 600.0 } else { 1200.0 };
                assert!((all - units).abs() < 8.0 * 3.0 * column.deviation, "{all}");
                let exact = adjacency == Adjacency::ReplaceOne;
                assert!(!exact || (all - units).abs() < 1e-6, "{all}");
                // Nobody is in some bins, and noise below 0 leaves their intervals as wide.
                let reach = 0.99 * 1.9 * column.deviation;
                let wide = |bin: &reticent::BinCount| bin.interval[1] - bin.interval[0] >= reach;
                assert!(column.bins.iter().all(wide), "{column:?}");
            }
            if unit == Unit::Record {
                // D is not in the schema, and one in five is missing.
                assert_eq!(counts(&town.bins), [240.0, 480.0, 0.0, 480.0]);
                let ages = Place::ages();
                let among =
                    |from, to| ages.iter().filter(|a| (from..to).contains(*a)).count() as f64;
                let truth = [among(0.0, 10.0), among(10.0, 50.0), among(50.0, 101.0)];
                assert_eq!(counts(&age.bins), truth);
                assert_eq!(counts(&ill.bins), [1200.0, 0.0, 0.0]);
            }
        }
    }
}

#[test]
fn quantiles_are_those_of_the_table() {
    let place = Place::new();
    let mut ages = Place::ages();
    ages.sort_by(f64::total_cmp);
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let job = asked(3e3, Unit::Record).adjacency(adjacency).public_n(1_200).quantiles(
            ["age", "since"],
            &[0.9, 0.25, 0.5],
            Some(1.0),
        );
        let found = job.unwrap().run(place.table(), Run::default()).unwrap();
        assert_eq!(found.certificate.ledger.total_events(), 6);
        let [age, since] = &found.columns[..] else { panic!("two columns") };
        for (one, at) in age.quantiles.iter().zip([0.25, 0.5, 0.9]) {
            assert_eq!(one.at, at);
            let value = number(&one.value);
            let [low, high] = one.fractions;
            assert!(low < at && at < high && high - low < 0.02, "{one:?}");
            let share = |upto: f64| ages.iter().filter(|age| **age <= upto).count() as f64 / 1200.0;
            assert!(share(value) >= low && share(value - 1.0) <= high, "{one:?}");
        }
        assert_eq!(since.quantiles[0].value, Value::Day("2005-01-01".to_owned()));
        assert_eq!(since.quantiles[2].value, Value::Day("2015-01-01".to_owned()));
    }
    // Of a column in tenths the median is a tenth, though sums of tenths are not.
    let usual = asked(3e3, Unit::Record).quantiles(["age"], &[0.5], Some(0.1)).unwrap();
    let found = usual.run(place.table(), Run::default()).unwrap();
    let value = number(&found.columns[0].quantiles[0].value);
    assert!((value - ages[599]).abs() < 1.01, "{value}");
}

/// 400 means of each kind at 90 %: fewer than 330 hold with a chance of 10⁻⁶. At this ε the count
/// has a deviation of an eighth of itself, so that a normal interval of the ratio would not do.
#[test]
fn intervals_hold_as_often_as_they_say() {
    let place = Place::new();
    let truth = mean(&Place::ages());
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let job = |seed| {
            let asked = asked(0.05, Unit::Record).adjacency(adjacency).confidence(0.9).seed(seed);
            asked.mean(["age"]).unwrap()
        };
        let table = job(0).load(place.table()).unwrap();
        let held = (0..400).filter(|&seed| {
            let found = job(seed).run(reticent::Source::Table(table.share()), Run::default());
            let [from, to] = &found.unwrap().columns[0].interval;
            (number(from)..=number(to)).contains(&truth)
        });
        let held = held.count();
        assert!((330..=400).contains(&held), "{adjacency}: {held}");
    }
}

#[test]
fn what_cannot_be_is_refused_before_a_table_is_read() {
    let said = |result: Result<(), Error>| result.unwrap_err().to_string();
    let asked = || asked(1.0, Unit::Record);
    assert!(said(asked().mean(["town"]).map(drop)).contains("ask for its histogram"));
    assert!(said(asked().mean(["note"]).map(drop)).contains("ignored"));
    assert!(said(asked().mean(["who"]).map(drop)).contains("whose row"));
    assert!(said(asked().mean(["age", "age"]).map(drop)).contains("twice"));
    assert!(said(asked().mean(Vec::<String>::new()).map(drop)).contains("column"));
    assert!(
        said(asked().budget(Budget::new(1.0, 0.0).unwrap()).mean(["age"]).map(drop))
            .contains("delta")
    );
    for confidence in [0.0, 1.0, f64::NAN] {
        assert!(
            said(asked().confidence(confidence).mean(["age"]).map(drop)).contains("confidence")
        );
    }
    let at = |edges: &[f64]| Partition::At(edges.to_vec());
    for (columns, partition, word) in [
        (&["age"][..], at(&[101.0]), "bounds of age are 0 and 100"),
        (&["age"], at(&[50.0, 10.0]), "increase"),
        (&["age"], at(&[f64::NAN]), "edges"),
        (&["age", "pay"], at(&[10.0]), "one column"),
        (&["town"], at(&[10.0]), "one column"),
        (&["age"], Partition::Equal(0), "from 1 to 1024"),
        (&["town"], Partition::Equal(3), "column of numbers"),
    ] {
        let refused = said(asked().histogram(columns.iter().copied(), &partition).map(drop));
        assert!(refused.contains(word), "{refused}");
    }
    for (fractions, resolution, word) in [
        (&[1.5][..], None, "from 0 to 1"),
        (&[f64::NAN], None, "from 0 to 1"),
        (&[], None, "quantiles"),
        (&[0.5], Some(0.0), "resolution"),
        (&[0.5], Some(1e-9), "resolution"),
        (&[0.5], Some(f64::NAN), "resolution"),
    ] {
        let refused = said(asked().quantiles(["age"], fractions, resolution).map(drop));
        assert!(refused.contains(word), "{refused}");
    }
    // A table that says whose each row is, where nobody said that records are protected.
    let schema: Schema = SCHEMA.replace("'user'", "'ignored'").parse().unwrap();
    let by_record = Statistics::new(schema).budget(Budget::new(1.0, 1e-6).unwrap());
    assert!(
        by_record
            .unit(Unit::User)
            .mean(["age"])
            .unwrap()
            .run(Place::new().table(), Run::default())
            .is_err()
    );
}

/// Columns of a matrix have no names: they are the features of the schema, in its order. A question
/// about a feature and the target has as many columns as a matrix of two features, and the second
/// feature was read as the target.
#[test]
fn a_column_of_a_matrix_is_not_read_as_another_one() {
    let rows: Vec<f64> = (0..500).flat_map(|_| [10.0, 90.0]).collect();
    let table = Dataset::dense(&rows, 500, 2).unwrap();
    let target = Target::range(0.0, 100.0).unwrap();
    let schema = Schema::bounded(&[(0.0, 100.0), (0.0, 100.0)], target).unwrap();
    let schema = schema.named(["age", "height"]).unwrap();
    let asked = || Statistics::new(schema.clone()).budget(Budget::new(1e3, 1e-6).unwrap());
    let found =
        |names: &[&str]| asked().mean(names.iter().copied()).unwrap().run(&table, Run::default());
    let value =
        |names: &[&str]| number(found(names).unwrap().columns[0].value.as_ref().unwrap()).round();
    assert_eq!((value(&["age"]), value(&["height"])), (10.0, 90.0));
    assert_eq!(value(&["height", "age"]), 90.0);
    let refused = found(&["age", "target"]).map(|found| found.columns).unwrap_err().to_string();
    assert!(refused.contains("target"), "{refused}");
}

/// Nothing is released iteration by iteration, and a job that is stopped before it asks has spent
/// nothing.
#[test]
fn a_statistic_is_not_traced_and_asks_nothing_where_it_is_stopped() {
    let place = Place::new();
    let job = asked(1.0, Unit::Record).mean(["age"]).unwrap();
    let refused = job.run(place.table(), Run::traced(Tracing::default())).unwrap_err();
    assert!(!matches!(refused, Error::Spent { .. }) && refused.to_string().contains("trace"));
    for at in [Stage::Reading, Stage::Calibrating, Stage::Running] {
        let mut stop = |stage| match stage == at {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let stopped = job.run(place.table(), Run::watched(&mut stop)).unwrap_err();
        assert!(!matches!(stopped, Error::Spent { .. }), "{at:?}: {stopped}");
    }
}

/// Under one seed two tables have the same answer where all that differs is what a question must not
/// see: whether a value is missing or is what stands for it, how far it is beyond its bound, columns
/// that are not asked about, and how many records of the same kind a user has.
#[test]
fn what_the_schema_makes_alike_has_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let table = |name: &str, first: [&str; 3], rest: &str| {
        let mut text = String::from("age,since,town,who,note,pay,ill\n");
        first.iter().for_each(|line| text += &format!("{line}\n"));
        (0..60).for_each(|i| text += &format!("{},2005-01-01,A,{i},{rest},7,no\n", i % 80));
        std::fs::write(folder.path().join(name), text).unwrap();
        Files::one(folder.path().join(name))
    };
    let plain =
        ["50,2010-01-01,,a,x,3,no", "100,2019-12-31,,b,x,4,yes", "100,2019-12-31,,b,x,4,yes"];
    let other = ["?,2010-01-01,Z,a,\"\",1e9,yes", "1e300,2999-01-01,?,b,,-5,?", plain[1]];
    let tables = [table("a.csv", plain, "x"), table("b.csv", other, "nobody's")];
    let mut text = std::fs::read_to_string(folder.path().join("a.csv")).unwrap();
    text += &format!("{}\n", plain[1]).repeat(1000);
    std::fs::write(folder.path().join("many.csv"), text).unwrap();
    let many = Files::one(folder.path().join("many.csv"));
    for (unit, adjacency) in [Unit::Record, Unit::User]
        .into_iter()
        .flat_map(|unit| [Adjacency::ReplaceOne, Adjacency::AddRemove].map(|a| (unit, a)))
    {
        let asked = || asked(1.0, unit).adjacency(adjacency).seed(11);
        let mean = |table: &Files| {
            let job = asked().mean(["age", "since"]).unwrap();
            let found = job.run(table, Run::default()).unwrap();
            (found.columns, found.n)
        };
        let histogram = |table: &Files| {
            let job = asked().histogram(["age", "town", "since"], &Partition::Equal(4)).unwrap();
            let found = job.run(table, Run::default()).unwrap();
            (found.columns, found.n)
        };
        let quantile = |table: &Files| {
            let job = asked().public_n(60).quantiles(["age"], &[0.1, 0.9], None).unwrap();
            let found = job.run(table, Run::default()).unwrap();
            (found.columns, found.n)
        };
        let all = |table: &Files| (mean(table), histogram(table), quantile(table));
        assert_eq!(all(&tables[0]), all(&tables[1]), "{unit} {adjacency}");
        if unit == Unit::User {
            let (a, b) = (histogram(&tables[0]), histogram(&many));
            let near = |(a, b): (&reticent::BinCount, &reticent::BinCount)| {
                (a.count - b.count).abs() < 1e-6
            };
            assert_eq!(a.1, b.1);
            assert!(a.0.iter().zip(&b.0).all(|(a, b)| a.bins.iter().zip(&b.bins).all(near)));
            assert_eq!(quantile(&tables[0]), quantile(&many));
        }
    }
}

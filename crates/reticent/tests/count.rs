//! Counts with noise: near the truth where noise is small, of records, users and classes, and with
//! the books of what was asked.
#![allow(clippy::unwrap_used)] // helpers of tests

use reticent::accountant::{Adjacency, Unit};
use reticent::{Counted, Error, Files, Guarantee, Run, Spec};

const SCHEMA: &str = "
row_norm = 1
[[column]]
name = 'x'
kind = 'numeric'
lower = 0
upper = 1
[[column]]
name = 'who'
kind = 'user'
[[column]]
name = 'colour'
kind = 'target'
classes = ['red', 'green', 'blue']
";

struct Place(tempfile::TempDir);

impl Place {
    /// 600 records of 200 users, three each: 300 red, 200 green and 100 blue ones. A user's records
    /// have one colour each.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from("x,who,colour\n");
        for i in 0..600 {
            let user = i / 3;
            let colour = match user % 6 {
                0..=2 => "red",
                3 | 4 => "green",
                _ => "blue",
            };
            text += &format!("0.5,u{user},{colour}\n");
        }
        std::fs::write(folder.path().join("t.csv"), text).unwrap();
        std::fs::write(folder.path().join("s.toml"), SCHEMA).unwrap();
        Place(folder)
    }

    fn spec(&self, epsilon: f64, unit: Unit) -> Spec {
        Spec::default().with(|it| {
            it.guarantee = Guarantee::default().with(|it| {
                it.epsilon = Some(epsilon);
                it.delta = Some(1e-6);
                it.unit = Some(unit);
            });
            it.schema = Some(self.0.path().join("s.toml"));
        })
    }

    fn count(&self, spec: &Spec, by_class: bool) -> Result<Counted, Error> {
        let job = spec.count(by_class)?;
        let beforehand = job.plan_beforehand().unwrap();
        let ready = job.open(Files::one(self.0.path().join("t.csv")), &mut Run::default())?;
        let plan = ready.plan().unwrap().clone();
        assert_eq!(plan, beforehand, "what is known beforehand is what is done");
        let counted = ready.run(Run::default())?;
        assert_eq!(counted.certificate.ledger.entries(), plan.entries());
        assert!(counted.certificate.epsilon <= spec.guarantee.epsilon.unwrap());
        Ok(counted)
    }
}

/// Eight deviations: one alarm in 10¹⁴ runs.
fn near(given: f64, truth: f64, deviation: f64) -> bool {
    (given - truth).abs() < 8.0 * deviation
}

#[test]
fn counts_are_near_the_truth_and_have_noise() {
    let place = Place::new();
    for (unit, all) in [(Unit::Record, 600.0), (Unit::User, 200.0)] {
        let spec = place.spec(8.0, unit);
        let total = place.count(&spec, false).unwrap();
        assert!(total.deviation > 0.3 && total.deviation < 3.0, "{}", total.deviation);
        assert!(near(total.total, all, total.deviation) && total.total != all, "{}", total.total);
        assert_eq!(total.certificate.adjacency, Adjacency::AddRemove);
        assert_eq!((total.classes.len(), total.certificate.ledger.total_events()), (0, 1));

        let each = place.count(&spec, true).unwrap();
        assert_eq!((each.total, each.certificate.adjacency), (all, Adjacency::ReplaceOne));
        assert_eq!(each.certificate.ledger.total_events(), 2, "the last class is what is left");
        let hidden = spec.with(|it| it.guarantee.adjacency = Some(Adjacency::AddRemove));
        let hidden = place.count(&hidden, true).unwrap();
        assert_eq!(hidden.certificate.ledger.total_events(), 3);
        for counted in [each, hidden] {
            let names: Vec<&str> = counted.classes.iter().map(|(name, _)| &**name).collect();
            assert_eq!(names, ["red", "green", "blue"]);
            for ((_, number), share) in counted.classes.iter().zip([0.5, 1.0 / 3.0, 1.0 / 6.0]) {
                assert!(near(*number, share * all, 1.5 * counted.deviation), "{counted:?}");
            }
            let sum: f64 = counted.classes.iter().map(|(_, number)| number).sum();
            assert!((sum - counted.total).abs() < 1e-9);
        }
    }
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let place = Place::new();
    let spec = place.spec(1.0, Unit::Record);
    let refused = |spec: &Spec, by_class| place.count(spec, by_class).unwrap_err().to_string();
    let public = spec.clone().with(|it| it.guarantee.adjacency = Some(Adjacency::ReplaceOne));
    assert!(refused(&public, false).contains("nothing to ask"));
    let pure = spec.clone().with(|it| it.guarantee.delta = Some(0.0));
    assert!(refused(&pure, true).contains("delta"), "{}", refused(&pure, true));
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&place.spec(epsilon, Unit::Record), true).contains("epsilon"));
    }
    let text = SCHEMA.replace("'target'\nclasses = ['red', 'green', 'blue']", "'ignored'");
    let text = text.replace("name = 'x'\nkind = 'numeric'", "name = 'x'\nkind = 'target'");
    let feature = "[[column]]\nname = 'y'\nkind = 'numeric'\nlower = 0\nupper = 1\n";
    std::fs::write(place.0.path().join("s.toml"), text + feature).unwrap();
    assert!(refused(&spec, true).contains("no classes"), "{}", refused(&spec, true));
}

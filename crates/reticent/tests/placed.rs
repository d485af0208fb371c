//! Parties that a table names, with persons of their own, or each protected as a whole.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent::internal::Payable;
use reticent::simulate::{CheckpointOptions, Simulated, Simulation};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{
    Adjacency, Budget, Error, Fit, Guarantee, Model, Problem, Run, Settings, Solver, Unit, View,
};

const RECORDS: usize = 120;
const FEATURES: usize = 2;
const TRUSTS: [View; 3] = [View::Central, View::Local, View::SecureAggregation];

/// A row with its class, whose it is, and with which party.
struct Placed {
    x: Vec<f64>,
    y: Vec<u32>,
    persons: Vec<u64>,
    parties: Vec<u64>,
}

impl Placed {
    /// Forty persons with three rows each, dealt to so many parties by their numbers.
    fn among(parties: u64) -> Self {
        let value = |at: usize| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0;
        let x: Vec<f64> = (0..RECORDS * FEATURES).map(value).collect();
        let y = x.chunks(FEATURES).map(|row| u32::from(row[0] + 0.3 * row[1] > 0.1)).collect();
        let persons: Vec<u64> = (0..RECORDS as u64).map(|i| 100 + i * 7 % 40).collect();
        let parties = persons.iter().map(|person| 100 + person % parties).collect();
        Placed { x, y, persons, parties }
    }

    fn rows(&self) -> Dataset<'_> {
        let table = Dataset::dense(&self.x, RECORDS, FEATURES).unwrap();
        table.with_targets(&self.y).unwrap()
    }

    fn parties_alone(&self) -> Dataset<'_> {
        self.rows().with_parties(Owners::from(&self.parties[..])).unwrap()
    }

    fn table(&self) -> Dataset<'_> {
        self.parties_alone().with_owners(Owners::from(&self.persons[..])).unwrap()
    }
}

fn problem() -> Problem {
    let target = Target::classes(["no", "yes"]).unwrap();
    Problem::new(Schema::bounded(&[(-1.0, 1.0); FEATURES], target).unwrap())
}

fn guarantee(unit: Unit) -> Guarantee {
    Guarantee::from(Budget::new(2.0, 1e-5).unwrap()).with(|it| {
        it.unit = Some(unit);
        it.seed = Some(3);
    })
}

fn steps() -> Settings {
    Settings { iterations: Some(4), ..Settings::default() }
}

fn placed(trust: View, guarantee: Guarantee) -> Simulation {
    let simulation = Simulation::of(problem()).algorithm("dp-sgd").unwrap().settings(steps());
    simulation.guarantee(guarantee).trust(trust).parties_beside()
}

fn ran(simulation: Simulation, table: &Dataset<'_>) -> Simulated {
    simulation.check().unwrap().run(table, CheckpointOptions::default(), Run::default()).unwrap()
}

fn pooled(guarantee: Guarantee, table: &Dataset<'_>) -> Model {
    let solver = Solver::named("dp-sgd").unwrap().with(steps()).unwrap();
    let fit = Fit::of(problem()).solver(solver).guarantee(guarantee);
    fit.check().unwrap().fit(table).unwrap().model
}

fn bits(model: &Model) -> Vec<u64> {
    let weights = model.coefficients().iter().flat_map(|weight| &weight.values);
    weights.chain(model.intercept()).map(|value| value.to_bits()).collect()
}

fn says(model: &Model, words: &str) -> bool {
    model.certificate().assumptions.iter().any(|said| said.contains(words))
}

fn refused(made: Result<impl Sized, Error>) -> String {
    made.err().expect("it is refused").to_string()
}

#[test]
fn persons_within_parties_have_the_bits_of_the_pooled_fit() {
    let data = Placed::among(5);
    let held = ran(placed(View::Central, guarantee(Unit::User)), &data.table());
    let pooled = pooled(guarantee(Unit::User), &data.table());
    assert_eq!(bits(&held.model), bits(&pooled));
    assert_eq!(held.model.certificate().ledger, pooled.certificate().ledger);
    assert_eq!((held.parties.len(), held.model.certificate().population), (5, 40));
    assert!(says(&held.model, "covered k-fold") && says(&held.model, "k² times the entries"));
}

/// It is the fit of a table in which they are two persons, and the certificate says what that means.
#[test]
fn a_person_at_two_parties_is_two_persons() {
    let mut data = Placed::among(5);
    // One of the three rows of every third person.
    for row in (0..RECORDS / 3).filter(|row| data.persons[*row].is_multiple_of(3)) {
        data.parties[row] = 100 + (data.parties[row] + 1) % 5;
    }
    let pairs = data.persons.iter().zip(&data.parties).map(|(person, party)| person * 1000 + party);
    let pairs: Vec<u64> = pairs.collect();
    let units = pairs.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
    assert!(units > 40);
    let held = ran(placed(View::Central, guarantee(Unit::User)), &data.table());
    let apart = data.rows().with_owners(Owners::from(&pairs[..])).unwrap();
    assert_eq!(bits(&held.model), bits(&pooled(guarantee(Unit::User), &apart)));
    for trust in TRUSTS {
        let run = ran(placed(trust, guarantee(Unit::User)), &data.table());
        assert_eq!(run.model.certificate().population, units, "{trust}");
        assert!(says(&run.model, "covered k-fold"), "{trust}");
        let fold = if trust == View::Local { "is k times" } else { "is k² times" };
        assert!(says(&run.model, fold), "{trust}");
    }
}

/// It said that all records of a person may be replaced at the price of ε, which is that of those with
/// one party.
#[test]
fn the_sentence_of_persons_within_parties_is_about_one_party() {
    let data = Placed::among(5);
    for trust in TRUSTS {
        for unit in [Unit::User, Unit::Party] {
            let unseeded = guarantee(unit).with(|it| it.seed = None);
            let run = ran(placed(trust, unseeded), &data.table());
            let own = run.model.certificate();
            let within =
                own.meaning.contains("person within a party, with all their records there,");
            assert_eq!((own.is_within_parties(), within), (unit == Unit::User, unit == Unit::User));
            assert!(!own.meaning.contains("person, with all"), "{}", own.meaning);
            assert!(own.verify(None).unwrap().holds(), "{trust} {unit}");
            let party = run.parties.party(0).unwrap();
            assert_eq!(party.is_within_parties(), within);
            assert_eq!(party.meaning.contains("within a party"), within);
        }
    }
    let person = pooled(guarantee(Unit::User), &data.table());
    assert!(!person.certificate().is_within_parties());
}

/// The parties' own noise, and the same ε however the rows lie: parties of one record, one with all
/// records of a class, one person's alone.
#[test]
fn odd_parties_are_as_protected_as_others() {
    let usual = Placed::among(5);
    let mut odd = Placed::among(5);
    for row in 0..RECORDS {
        odd.parties[row] = if odd.y[row] == 1 { 100 } else { 101 + odd.persons[row] % 3 };
    }
    odd.parties[7] = 200;
    for (trust, unit) in TRUSTS
        .iter()
        .flat_map(|&trust| [Unit::User, Unit::Party, Unit::Record].map(|unit| (trust, unit)))
    {
        let unseeded = guarantee(unit).with(|it| it.seed = None);
        for data in [&usual, &odd] {
            let run = ran(placed(trust, unseeded), &data.table());
            let certificate = run.model.certificate();
            assert!(certificate.certified, "{trust} {unit}: {:?}", certificate.reasons);
            assert_eq!((certificate.unit, run.parties.len()), (unit, 5));
            let events = certificate.ledger.entries().iter().map(|entry| entry.event());
            assert!(events.clone().all(|event| (event.unit(), event.view()) == (unit, trust)));
            assert!(certificate.epsilon <= 2.0);
        }
    }
}

/// All that a party holds is one unit under a name of its own: the run in which the party is a person.
#[test]
fn a_party_is_a_unit_with_a_name_of_its_own() {
    let data = Placed::among(6);
    let whole = ran(placed(View::Central, guarantee(Unit::Party)), &data.table());
    let alone = ran(placed(View::Central, guarantee(Unit::Party)), &data.parties_alone());
    let as_persons = data.rows().with_owners(Owners::from(&data.parties[..])).unwrap();
    let user = Simulation::of(problem()).algorithm("dp-sgd").unwrap().settings(steps());
    let user = user.guarantee(guarantee(Unit::User)).trust(View::Central).party_per_owner();
    let user = ran(user, &as_persons);
    assert_eq!(bits(&whole.model), bits(&user.model));
    assert_eq!(bits(&whole.model), bits(&alone.model));
    let (ours, theirs) = (whole.model.certificate(), user.model.certificate());
    assert_eq!((ours.unit, theirs.unit), (Unit::Party, Unit::User));
    assert_eq!((ours.counted, ours.population), (theirs.counted, 6));
    assert!(says(&whole.model, "whoever's it is") && !says(&whole.model, "k-fold"));
    assert!(ours.meaning.contains("party") || !ours.certified);
    // Also by name, of every protocol: the same noise, under another name.
    for name in ["federated", "dp-admm", "r-admm"] {
        let run = |unit| {
            let simulation = Simulation::of(problem()).algorithm(name).unwrap().settings(steps());
            let simulation = simulation.guarantee(guarantee(unit));
            ran(simulation.parties_beside(), &data.parties_alone()).model
        };
        assert_eq!(run(Unit::Party).certificate().unit, Unit::Party, "{name}");
        assert!(
            refused(
                Simulation::of(problem())
                    .algorithm(name)
                    .unwrap()
                    .guarantee(guarantee(Unit::User))
                    .parties_beside()
                    .check()
            )
            .contains("protect a person within a party")
        );
    }
}

#[test]
fn what_is_not_proven_of_persons_within_parties_is_refused_by_name() {
    let central = || placed(View::Central, guarantee(Unit::User));
    let sampled = |trust: View, sampling: &str| {
        let settings = Settings { sampling: sampling.parse().ok(), ..steps() };
        placed(trust, guarantee(Unit::User)).settings(settings).check()
    };
    for sampling in ["poisson:0.5", "wor:3"] {
        assert!(
            refused(sampled(View::Central, sampling)).contains("a bit for each of its persons")
        );
        assert!(refused(sampled(View::SecureAggregation, sampling)).contains("not offered"));
    }
    sampled(View::Local, "poisson:0.5").unwrap();
    assert!(refused(sampled(View::Local, "wor:3")).contains("not offered"));
    assert!(refused(central().parties(3).check()).contains("leave one of them out"));
    let hidden = guarantee(Unit::User).with(|it| {
        it.adjacency = Some(Adjacency::AddRemove);
        it.public_n = Some(40);
    });
    for trust in TRUSTS {
        assert!(refused(placed(trust, hidden).check()).contains("who takes part is public"));
    }
    let open = guarantee(Unit::User).with(|it| it.unit = None);
    assert!(refused(placed(View::Local, open).check()).contains("unit = party"));
    let split = Simulation::of(problem()).guarantee(guarantee(Unit::Party)).parties(4);
    assert!(refused(split.check()).contains("no party of its own"));
    let fit = Fit::of(problem()).guarantee(guarantee(Unit::Party)).check();
    assert!(refused(fit).contains("one table has no parties"));
    // Whose the rows are shows with the table.
    let data = Placed::among(4);
    let job = central().check().unwrap();
    let run = |table: &Dataset<'_>| job.run(table, CheckpointOptions::default(), Run::default());
    assert!(refused(run(&data.parties_alone())).contains("whose each row is"));
    let nobody = data.rows().with_owners(Owners::from(&data.persons[..])).unwrap();
    assert!(refused(run(&nobody)).contains("who the parties are"));
}

/// A budget of users counts a person once, and one at k parties is k persons of the run.
#[test]
fn persons_within_parties_pay_from_no_budget_of_users() {
    let data = Placed::among(4);
    for trust in TRUSTS {
        let job = placed(trust, guarantee(Unit::User)).check().unwrap();
        let table = data.table();
        let ready = job.open(&table, CheckpointOptions::default(), &mut Run::default()).unwrap();
        assert!(refused(Payable::plans(&ready)).contains("k persons of the run"), "{trust}");
        let job = placed(trust, guarantee(Unit::Party)).check().unwrap();
        let ready = job.open(&table, CheckpointOptions::default(), &mut Run::default()).unwrap();
        assert_eq!(Payable::plans(&ready).unwrap().len(), 1, "{trust}");
    }
}

/// It was a run that protects records, without a word.
#[test]
fn owners_beside_dealt_records_are_asked_about() {
    let data = Placed::among(4);
    let owned = data.rows().with_owners(Owners::from(&data.persons[..])).unwrap();
    for (name, trust) in
        [("dp-sgd", View::Central), ("dp-sgd", View::Local), ("federated", View::Local)]
    {
        let dealt = |unit| {
            let guarantee = guarantee(Unit::Record).with(|it| it.unit = unit);
            let simulation = Simulation::of(problem()).algorithm(name).unwrap().settings(steps());
            let job = simulation.guarantee(guarantee).trust(trust).parties(4).check().unwrap();
            job.run(&owned, CheckpointOptions::default(), Run::default())
        };
        assert!(refused(dealt(None)).contains("rows of the table have owners"), "{name}");
        assert_eq!(dealt(Some(Unit::Record)).unwrap().model.certificate().unit, Unit::Record);
    }
}

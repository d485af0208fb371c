//! Standard errors between parties that add the noise themselves: those of the pooled table but for the
//! noise, with the noise that the sums have, of those who stayed.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent::admm::StepSize;
use reticent::simulate::{CheckpointOptions, Failures, Simulated, Simulation};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{
    Adjacency, Budget, Fit, Guarantee, Model, Problem, Run, Settings, StandardErrors, Unit, View,
};

const ROWS: usize = 4_000;
const BOTH: [View; 2] = [View::Local, View::SecureAggregation];
const SHARE: f64 = 0.5;

/// What made the tables, per unit: at zero, of the first column, of the second.
const TRUTH: [f64; 3] = [-2.0, 0.4, -0.2];

/// Numbers in [0, 1) that do not repeat.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (*state ^ (*state >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

/// A table that these coefficients have made: rows, classes, numbers.
struct Data {
    x: Vec<f64>,
    classes: Vec<u32>,
    numbers: Vec<f64>,
}

impl Data {
    fn new(seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0xD134_2543_DE82_EF95).wrapping_add(77);
        let x: Vec<f64> = (0..2 * ROWS).map(|_| 10.0 * uniform(&mut state)).collect();
        let scores: Vec<f64> =
            x.chunks(2).map(|row| TRUTH[0] + TRUTH[1] * row[0] + TRUTH[2] * row[1]).collect();
        let draw = |score: &f64| u32::from(uniform(&mut state) < 1.0 / (1.0 + (-score).exp()));
        let classes = scores.iter().map(draw).collect();
        // The sum of twelve: normal enough, and within six deviations.
        let mut normal = || (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
        let numbers = scores.iter().map(|score| score + normal()).collect();
        Data { x, classes, numbers }
    }

    fn table(&self, squared: bool) -> Dataset<'_> {
        let table = Dataset::dense(&self.x, ROWS, 2).unwrap();
        match squared {
            true => table.with_targets(&self.numbers).unwrap(),
            false => table.with_targets(&self.classes).unwrap(),
        }
    }
}

fn problem(squared: bool) -> Problem {
    let target = match squared {
        true => Target::range(-12.0, 12.0).unwrap(),
        false => Target::classes(["no", "yes"]).unwrap(),
    };
    Problem::new(Schema::bounded(&[(0.0, 10.0); 2], target).unwrap())
}

fn guarantee(epsilon: f64, seed: u64) -> Guarantee {
    Guarantee::from(Budget::new(epsilon, 1e-6).unwrap()).with(|it| {
        it.unit = Some(Unit::Record);
        it.seed = Some(seed);
    })
}

/// A few steps are enough: the estimates start at their end, and are of the loss alone.
fn between(squared: bool, view: View, guarantee: Guarantee) -> Simulation {
    let settings = Settings { iterations: Some(8), ..Settings::default() };
    Simulation::of(problem(squared))
        .algorithm("auto")
        .unwrap()
        .settings(settings)
        .guarantee(guarantee)
        .trust(view)
        .standard_errors(SHARE)
}

fn run(simulation: Simulation, table: &Dataset<'_>) -> Simulated {
    simulation.check().unwrap().run(table, CheckpointOptions::default(), Run::default()).unwrap()
}

fn errors(model: &Model) -> &StandardErrors {
    let found = model.standard_errors().unwrap();
    assert_eq!(found.hidden, None, "{found:?}");
    assert_eq!(found.estimates.len(), TRUTH.len());
    found
}

/// Where the parties' noise is next to nothing the estimates are those of the pooled table, and so are
/// their errors, which sampling alone makes; the books are those of the plan.
#[test]
fn with_little_noise_they_are_the_pooled_ones() {
    let data = Data::new(3);
    for squared in [false, true] {
        let pooled = Fit::of(problem(squared)).guarantee(guarantee(1e4, 1)).standard_errors(SHARE);
        let pooled = pooled.check().unwrap().fit(&data.table(squared)).unwrap().model;
        for view in BOTH {
            let simulation = between(squared, view, guarantee(1e4, 2)).parties(5);
            let done = run(simulation, &data.table(squared));
            let (own, other) = (errors(&done.model), errors(&pooled));
            assert_eq!((own.share, &own.of), (SHARE, &other.of));
            for (own, other) in own.estimates.iter().zip(&other.estimates) {
                assert_eq!((&own.name, &own.against), (&other.name, &other.against));
                let off = (own.estimate - other.estimate).abs() / other.standard_error;
                let ratio = own.standard_error / other.standard_error;
                println!("{squared} {view} {}: {off:.4} {ratio:.4}", own.name);
                assert!(off < 0.1 && (ratio - 1.0).abs() < 0.02, "{own:?} {other:?}");
            }
            let certificate = done.model.certificate();
            assert!(certificate.counted.unwrap() <= 1e4);
            assert_eq!(u64::from(done.rounds), certificate.ledger.total_events());
            let parties = &done.parties;
            assert_eq!(parties.party(0).unwrap().ledger, parties.party(4).unwrap().ledger);
            assert_eq!(Model::from_json(&done.model.to_json().unwrap()).unwrap(), done.model);
        }
    }
}

/// How many intervals are told, how many of them hold the truth, and the mean square of how far the estimates
/// are off, in standard errors.
fn covered(tables: u64, of: impl Fn(u64, &Data) -> Simulated) -> (usize, usize, f64) {
    let (mut told, mut held, mut square) = (0, 0, 0.0);
    for seed in 1..=tables {
        let done = of(seed, &Data::new(seed));
        for (estimate, truth) in done.model.standard_errors().unwrap().estimates.iter().zip(TRUTH) {
            let (from, to) = estimate.interval();
            told += 1;
            held += usize::from(from <= truth && truth <= to);
            square += ((estimate.estimate - truth) / estimate.standard_error).powi(2);
        }
    }
    (told, held, square / told as f64)
}

/// Where the noise of the sum is two to eleven times the error of sampling, intervals hold what made the table.
/// With the noise that one table would have, a fourth of it here or half of it behind these masks, a mean square of
/// 1 would be 2.5 and more. Were the three of a table always off together, as many as are told here would be off by a mean
/// square of 2, or a fifth of them not hold, once in 10³ such tests; they are not, and the seeds are fixed.
#[test]
fn intervals_hold_with_the_noise_of_the_parties() {
    for (view, squared, parties, honest, epsilon, tables) in [
        (View::Local, false, 16, None, 6.0, 40),
        (View::Local, true, 16, None, 4.0, 40),
        (View::SecureAggregation, false, 12, Some(0.5), 4.0, 30),
        (View::SecureAggregation, true, 12, Some(0.5), 3.0, 30),
    ] {
        let (told, held, square) = covered(tables, |seed, data| {
            let settings = Settings { iterations: Some(8), honest, ..Settings::default() };
            let simulation = between(squared, view, guarantee(epsilon, seed)).settings(settings);
            run(simulation.parties(parties), &data.table(squared))
        });
        println!("{view} {squared}: {held} of {told}, {square:.2}");
        assert!(told as u64 > 2 * tables, "{view} {squared}: {told} of {tables} tables");
        assert!(
            5 * held >= 4 * told && square < 2.0,
            "{view} {squared}: {held} of {told}, {square}"
        );
    }
}

/// How much larger the standard errors of one model are than those of another, at least and at most.
fn ratios(one: &StandardErrors, other: &StandardErrors) -> (f64, f64) {
    let pairs = one.estimates.iter().zip(&other.estimates);
    let ratios = pairs.map(|(own, other)| own.standard_error / other.standard_error);
    ratios.fold((f64::INFINITY, 0.0), |(least, most), it| (least.min(it), most.max(it)))
}

/// Where members leave, the errors are those of the records of who stayed in the last sums: with next to no
/// noise they are larger by the root of the scale. With a private number of units nothing is said.
#[test]
fn who_leaves_widens_them() {
    let (data, masked) = (Data::new(5), View::SecureAggregation);
    let failures = |seed| Failures { before: 0.02, seed, ..Failures::default() };
    for squared in [false, true] {
        let table = data.table(squared);
        let simulation = || between(squared, masked, guarantee(1e4, 2)).parties(20);
        let whole = run(simulation(), &table);
        let mut widest = 1.0;
        for seed in 4..8 {
            let left = run(simulation().failures(failures(seed)), &table);
            let (least, most) = ratios(errors(&left.model), errors(&whole.model));
            let fewest = left.fewest.unwrap();
            println!("{squared} {seed}: {least:.4} {most:.4}, {fewest} of 20");
            // A sum of all 20 would have 1, one of the fewest the root of 20 in so many.
            let worst = (20.0 / f64::from(fewest)).sqrt();
            assert!(least > 0.985 && most < 1.015 * worst, "{least} {most} {worst}");
            widest = least.max(widest);
            let (own, other) = (left.parties.party(3).unwrap(), whole.parties.party(3).unwrap());
            assert_eq!((&own.ledger, own.epsilon), (&other.ledger, other.epsilon));
        }
        assert!(widest > 1.02, "{squared}: of four runs nobody left a last sum: {widest}");
    }
    let hidden = guarantee(1e4, 2).with(|it| {
        it.adjacency = Some(Adjacency::AddRemove);
        it.public_n = Some(3_800);
    });
    let simulation = || between(false, masked, hidden).parties(20);
    let table = data.table(false);
    errors(&run(simulation(), &table).model);
    let left = run(simulation().failures(failures(4)), &table).model;
    let why = left.standard_errors().unwrap().hidden.clone().unwrap();
    assert!(why.contains("is private"), "{why}");
}

/// A public number that is far below the true one is divided by, and cuts nothing. The steps before are short: by
/// such a number they would be far too long.
#[test]
fn a_wrong_public_number_does_not_move_them() {
    let (data, step) = (Data::new(6), StepSize::Constant(0.01));
    let settings = Settings { iterations: Some(1), step: Some(step), ..Settings::default() };
    let pooled = Fit::of(problem(true)).guarantee(guarantee(1e4, 1)).standard_errors(SHARE);
    let pooled = pooled.check().unwrap().fit(&data.table(true)).unwrap().model;
    for (view, parties) in [(View::Local, 1), (View::Local, 4), (View::SecureAggregation, 4)] {
        let hidden = guarantee(1e4, 2).with(|it| {
            it.adjacency = Some(Adjacency::AddRemove);
            it.public_n = Some(ROWS as u64 / 9);
        });
        let simulation = between(true, view, hidden).algorithm("dp-sgd").unwrap();
        let done = run(simulation.settings(settings.clone()).parties(parties), &data.table(true));
        let (least, most) = ratios(errors(&done.model), errors(&pooled));
        assert!(least > 0.97 && most < 1.03, "{view}: {least} {most}");
    }
}

/// Persons are units: those who are parties, and those within parties, with several records each. Their
/// intervals are as wide as so many persons make them, however many records they have.
#[test]
fn persons_are_what_is_counted() {
    let data = Data::new(7);
    let persons: Vec<u64> = (0..ROWS as u64).map(|row| row / 2).collect();
    let clinics: Vec<u64> = (0..ROWS as u64).map(|row| (row / 2) % 4).collect();
    let whole = Fit::of(problem(false)).guarantee(guarantee(1e4, 1)).standard_errors(SHARE);
    let pooled = whole.check().unwrap().fit(&data.table(false)).unwrap().model;
    for view in BOTH {
        let table = data.table(false).with_owners(Owners::from(&persons[..])).unwrap();
        let table = table.with_parties(Owners::from(&clinics[..])).unwrap();
        let person = guarantee(1e4, 2).with(|it| it.unit = Some(Unit::User));
        let done = run(between(false, view, person).parties_beside(), &table);
        let certificate = done.model.certificate();
        assert_eq!((certificate.population, certificate.unit), (ROWS as u64 / 2, Unit::User));
        assert!(certificate.counted.unwrap() <= 1e4 && done.parties.len() == 4);
        // Half as many units as records.
        let (least, most) = ratios(errors(&done.model), errors(&pooled));
        println!("{view}: {least:.3} {most:.3}");
        assert!(least > 1.38 && most < 1.45, "{view}: {least} {most}");
    }
    // So many parties are asked one by one in this process alone where nothing is masked.
    let few: Vec<u64> = (0..ROWS as u64).map(|row| row / 50).collect();
    let table = data.table(false).with_owners(Owners::from(&few[..])).unwrap();
    let person = guarantee(1e5, 2).with(|it| it.unit = Some(Unit::User));
    let done = run(between(false, View::Local, person).party_per_owner(), &table);
    assert_eq!(done.model.certificate().population, 80);
    let (least, most) = ratios(errors(&done.model), errors(&pooled));
    assert!(least > 6.5 && most < 7.6, "{least} {most}");
}

/// With the noise of many parties an answer hides what one table's would show, and says so.
#[test]
fn what_the_noise_of_the_parties_hides_is_not_told() {
    let data = Data::new(8);
    let told = |parties: u32, view: View| {
        let simulation = between(false, view, guarantee(6.0, 3)).parties(parties);
        run(simulation, &data.table(false)).model.standard_errors().unwrap().hidden.clone()
    };
    assert_eq!(told(1, View::Local), None);
    let why = told(400, View::Local).unwrap();
    assert!(why.contains("noise of the curvature"), "{why}");
}

#[test]
fn what_has_none_is_refused_before_a_table_is_read() {
    let said = |simulation: Simulation| simulation.check().unwrap_err().to_string();
    let of = |name: &str, view: View| {
        let simulation = Simulation::of(problem(false)).algorithm(name).unwrap();
        simulation.guarantee(guarantee(2.0, 1)).trust(view).parties(4)
    };
    for view in BOTH {
        assert!(said(of("ssadmm", view).standard_errors(0.2)).contains("not offered"));
        assert!(said(of("auto", view).standard_errors(1.0)).contains("a share of the budget"));
        let noise = said(of("auto", view).standard_errors(0.2).noise(3.0));
        assert!(noise.contains("several noises"), "{noise}");
        let drawn = Settings { sampling: "poisson:0.1".parse().ok(), ..Settings::default() };
        let drawn = of("dp-sgd", view).settings(drawn).standard_errors(0.2);
        assert!(said(drawn).contains("not offered"));
    }
    let federated = said(of("federated", View::Local).standard_errors(0.2));
    assert!(federated.contains("an algorithm of one table"), "{federated}");
}

//! What a model is worth on a table, within a budget: agreement with the evaluation that is not
//! private, how often intervals hold, books and refusals.
//!
//! How often an interval of 95% holds is counted over 2,000 draws of the noise. A share outside of
//! 93% … 97% then has a chance below 10⁻⁴ where the interval is right, and the seeds are fixed.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent::accountant::{Adjacency, Unit};
use reticent::internal::Repeat;
use reticent::losses;
use reticent::penalties::L2;
use reticent::tables::{Dataset, Schema, Target};
use reticent::{
    Budget, Error, Estimate, Evaluating, Evaluation, Fit, Model, PrivateClasses, PrivateNumbers,
    PrivateQuality, PrivateTable, Problem, Quality, Run, Solver,
};

const RUNS: u64 = 2_000;

/// Numbers without pattern in (0, 1).
fn uniform(i: u64) -> f64 {
    let mut x = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn probability(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

/// The weight of the model that is evaluated.
const WEIGHT: f64 = 3.0;

/// Rows in [−1, 1], and classes that follow a flatter curve than the model says.
fn classes(n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
    let at = |i: usize, part: u64| uniform(seed * 1_000_003 + 2 * i as u64 + part);
    let x: Vec<f64> = (0..n).map(|i| 2.0 * at(i, 0) - 1.0).collect();
    let of = |(i, x): (usize, &f64)| u32::from(at(i, 1) < probability(2.0 * x - 0.5));
    let y = x.iter().enumerate().map(of).collect();
    (x, y)
}

fn binary() -> Schema {
    Schema::bounded(&[(-1.0, 1.0)], Target::classes(["no", "yes"]).unwrap()).unwrap()
}

fn table(x: &[f64], y: &[u32], schema: &Schema) -> PrivateTable {
    let dataset = Dataset::dense(x, x.len(), 1).unwrap().with_targets(y).unwrap();
    PrivateTable::encode(&dataset, schema).unwrap()
}

/// The same table as one that was made up, which may be asked without noise.
fn simulated(x: &[f64], y: &[u32], schema: &Schema) -> reticent_data::Table {
    let dataset = Dataset::dense(x, x.len(), 1).unwrap().with_targets(y).unwrap();
    reticent_data::encode(&dataset, schema).unwrap()
}

fn repeated(n: usize, adjacency: Adjacency) -> Repeat<Evaluating> {
    let (x, y) = classes(n, 0);
    let problem =
        Problem::new(binary()).loss(losses::parse("logistic", None).unwrap()).intercept(false);
    let evaluation = Evaluation::new(Budget::new(1.0, 1e-6).unwrap());
    evaluation
        .adjacency(adjacency)
        .public_n(n as u64)
        .seed(1)
        .of_parameter(problem, vec![WEIGHT])
        .unwrap()
        .repeat(table(&x, &y, &binary()))
        .unwrap()
}

fn of_classes(quality: PrivateQuality) -> PrivateClasses {
    match quality {
        PrivateQuality::Classes(classes) => classes,
        _ => panic!("classes"),
    }
}

fn of_numbers(quality: PrivateQuality) -> PrivateNumbers {
    match quality {
        PrivateQuality::Range(numbers) => numbers,
        _ => panic!("numbers"),
    }
}

/// Whether a figure is as near to the truth as its noise allows in 95 of 100 cases.
fn near(estimate: &Estimate, truth: f64) -> bool {
    (estimate.value.unwrap() - truth).abs() <= 1.96 * estimate.noise
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    (estimate.interval[0]..=estimate.interval[1]).contains(&truth)
}

/// The share of the runs in which something is so.
#[derive(Default)]
struct Share(u64, u64);

impl Share {
    fn add(&mut self, holds: bool) {
        self.0 += u64::from(holds);
        self.1 += 1;
    }

    fn get(&self) -> f64 {
        self.0 as f64 / self.1 as f64
    }
}

/// AUC and log loss of the scores themselves, and the calibration error by the groups.
fn exactly(x: &[f64], y: &[u32]) -> (f64, f64) {
    let mut pairs = 0.0;
    for (a, of_a) in x.iter().zip(y) {
        for (b, of_b) in x.iter().zip(y) {
            if *of_a == 1 && *of_b == 0 {
                pairs += if a > b { 1.0 } else { 0.0 };
            }
        }
    }
    let own = y.iter().filter(|y| **y == 1).count() as f64;
    let loss = |(x, y): (&f64, &u32)| {
        let p = probability(WEIGHT * x);
        -(if *y == 1 { p } else { 1.0 - p }).ln()
    };
    let loss = x.iter().zip(y).map(loss).sum::<f64>() / x.len() as f64;
    (pairs / (own * (x.len() as f64 - own)), loss)
}

#[test]
fn intervals_of_classes_hold_as_often_as_they_say() {
    for (adjacency, n) in [(Adjacency::ReplaceOne, 2_000), (Adjacency::AddRemove, 3_000)] {
        let repeat = repeated(n, adjacency);
        let (x, y) = classes(n, 0);
        let truth = repeat.without_noise(simulated(&x, &y, &binary())).unwrap();
        let truth = of_classes(repeat.read(&truth));
        let (auc, log_loss) = exactly(&x, &y);
        let mut shares: [Share; 7] = Default::default();
        for run in 0..RUNS {
            let seen = repeat.run(table(&x, &y, &binary()), run).unwrap();
            let quality = of_classes(repeat.read(&seen.transcript[0]));
            let (loss, error) = (quality.log_loss.unwrap(), quality.calibration_error.unwrap());
            shares[0].add(near(&quality.accuracy, truth.accuracy.value.unwrap()));
            shares[1].add(near(&quality.auc, truth.auc.value.unwrap()));
            shares[2].add(near(&loss, truth.log_loss.unwrap().value.unwrap()));
            shares[3].add(holds(&quality.auc, auc));
            shares[4].add(holds(&loss, log_loss));
            shares[5].add(holds(&error, truth.calibration_error.unwrap().value.unwrap()));
            shares[6].add((quality.n - n as f64).abs() < 100.0);
        }
        let shares = shares.map(|share| share.get());
        println!("{adjacency} {shares:?} {quality:?}", quality = truth.auc);
        // The binned figures, by the noise alone.
        assert!(shares[..3].iter().all(|share| (0.93..=0.97).contains(share)), "{shares:?}");
        // The figures of the scores themselves, what the bins hide included.
        assert!(shares[3..6].iter().all(|share| *share >= 0.94), "{shares:?}");
        assert_eq!(shares[6], 1.0);
    }
}

/// Tables are drawn anew each time, and the figure is that of the population.
#[test]
fn intervals_with_the_sampling_error_hold_for_the_population() {
    let repeat = repeated(1_000, Adjacency::ReplaceOne);
    let (x, y) = classes(400_000, 7);
    let right = x.iter().zip(&y).filter(|(x, y)| (**x > 0.0) == (**y == 1)).count();
    let accuracy = right as f64 / x.len() as f64;
    let mut order: Vec<(f64, u32)> = x.iter().copied().zip(y.iter().copied()).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut pairs) = (0.0, 0.0);
    order.iter().for_each(|(_, y)| if *y == 1 { pairs += below } else { below += 1.0 });
    let auc = pairs / (below * (x.len() as f64 - below));
    let (mut of_accuracy, mut of_auc) = (Share::default(), Share::default());
    for run in 0..RUNS {
        let (x, y) = classes(1_000, 1_000 + run);
        let seen = repeat.run(table(&x, &y, &binary()), run).unwrap();
        let quality = of_classes(repeat.read(&seen.transcript[0]));
        let inside = |ends: [f64; 2], truth: f64| (ends[0]..=ends[1]).contains(&truth);
        of_accuracy.add(inside(quality.accuracy.population.unwrap(), accuracy));
        of_auc.add(inside(quality.auc.population.unwrap(), auc));
    }
    println!("accuracy {} auc {}", of_accuracy.get(), of_auc.get());
    assert!((0.93..=0.97).contains(&of_accuracy.get()), "{}", of_accuracy.get());
    assert!(of_auc.get() >= 0.94, "{}", of_auc.get());
}

#[test]
fn intervals_of_numbers_hold_as_often_as_they_say() {
    let n = 2_000;
    let x: Vec<f64> = (0..n).map(|i| 2.0 * uniform(2 * i) - 1.0).collect();
    let y: Vec<f64> = x
        .iter()
        .enumerate()
        .map(|(i, x)| 50.0 + 40.0 * (x + 0.6 * (uniform(2 * i as u64 + 1) - 0.5)))
        .collect();
    let schema = Schema::bounded(&[(-1.0, 1.0)], Target::range(0.0, 100.0).unwrap()).unwrap();
    let dataset = || Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
    let table = || PrivateTable::encode(&dataset(), &schema).unwrap();
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let problem = Problem::new(schema.clone())
            .loss(losses::parse("squared", None).unwrap())
            .intercept(false);
        let evaluation = Evaluation::new(Budget::new(1.0, 1e-6).unwrap());
        let repeat = evaluation
            .adjacency(adjacency)
            .public_n(n)
            .seed(1)
            .of_parameter(problem, vec![0.7])
            .unwrap()
            .repeat(table())
            .unwrap();
        let simulated = reticent_data::encode(&dataset(), &schema).unwrap();
        let truth = of_numbers(repeat.read(&repeat.without_noise(simulated).unwrap()));
        let all = |quality: &PrivateNumbers| [quality.r2, quality.mae, quality.mse, quality.rmse];
        let mut shares: [Share; 4] = Default::default();
        for run in 0..RUNS {
            let seen = repeat.run(table(), run).unwrap();
            let quality = of_numbers(repeat.read(&seen.transcript[0]));
            let both = all(&quality).into_iter().zip(all(&truth));
            for (share, (noisy, truth)) in shares.iter_mut().zip(both) {
                share.add(holds(&noisy, truth.value.unwrap()));
            }
        }
        let shares = shares.map(|share| share.get());
        println!("{adjacency} {shares:?} {truth:?}");
        // Errors of squares are near 0, the end of their range: noise beyond it does no harm, and
        // the intervals hold in 97.5 of 100 runs there.
        assert!(shares.iter().all(|share| (0.93..=0.99).contains(share)), "{shares:?}");
    }
}

fn fitted(schema: Schema, data: &Dataset<'_>) -> Model {
    let solver = Solver::named("exact").unwrap();
    let fit = Fit::new(schema).solver(solver).penalty(L2::new(1e-3).unwrap());
    fit.check().unwrap().fit(data).unwrap().model
}

/// With next to no noise the figures are those of the evaluation that is not private.
#[test]
fn a_large_budget_says_what_the_table_says() {
    let much = || Evaluation::new(Budget::new(1e4, 1e-3).unwrap()).seed(3).bins(200);
    let (x, y) = classes(3_000, 0);
    let data = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
    let model = fitted(binary(), &data);
    let seen = of_classes(much().run(&model, &data).unwrap().quality);
    let Quality::Classes { accuracy, auc, log_loss, confusion, .. } =
        model.evaluate_dataset(&data).unwrap()
    else {
        panic!("classes")
    };
    assert!((seen.accuracy.value.unwrap() - accuracy).abs() < 1e-3, "{seen:?}");
    assert!(holds(&seen.auc, auc) && seen.auc.discretisation < 0.01, "{seen:?} {auc}");
    assert!(holds(&seen.log_loss.unwrap(), log_loss), "{seen:?} {log_loss}");
    assert!((seen.confusion[1][0] - confusion.count(1, 0) as f64).abs() < 2.0, "{seen:?}");

    // Three classes, and a threshold.
    let three: Vec<u32> = x.iter().zip(&y).map(|(x, y)| y + u32::from(*x > 0.3)).collect();
    let schema =
        Schema::bounded(&[(-1.0, 1.0)], Target::classes(["a", "b", "c"]).unwrap()).unwrap();
    let many = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&three).unwrap();
    let model_of_three = fitted(schema, &many);
    let seen = of_classes(much().run(&model_of_three, &many).unwrap().quality);
    let Quality::Classes { accuracy, auc, log_loss, .. } =
        model_of_three.evaluate_dataset(&many).unwrap()
    else {
        panic!("classes")
    };
    assert!((seen.accuracy.value.unwrap() - accuracy).abs() < 1e-3, "{seen:?}");
    assert!(holds(&seen.auc, auc) && holds(&seen.log_loss.unwrap(), log_loss), "{seen:?} {auc}");
    let tilted = of_classes(much().threshold(0.8).run(&model, &data).unwrap().quality);
    assert!(tilted.confusion[0][1] < seen.confusion[0][1].max(1e9) && tilted.bins > 2);

    // A number.
    let z: Vec<f64> = x.iter().map(|x| 10.0 * x + 20.0).collect();
    let schema = Schema::bounded(&[(-1.0, 1.0)], Target::range(0.0, 40.0).unwrap()).unwrap();
    let numbers = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&z).unwrap();
    let model = fitted(schema, &numbers);
    let evaluation = Evaluation::new(Budget::new(1e4, 1e-3).unwrap()).seed(3);
    let seen = of_numbers(evaluation.run(&model, &numbers).unwrap().quality);
    let Quality::Range { r2, mae, .. } = model.evaluate_dataset(&numbers).unwrap() else {
        panic!("a number")
    };
    assert!((seen.r2.value.unwrap() - r2).abs() < 1e-2, "{seen:?} {r2}");
    assert!((seen.mae.value.unwrap() - mae).abs() < 0.05, "{seen:?} {mae}");
}

/// What the noise leaves nothing of is not made up.
#[test]
fn a_small_table_has_no_figures_that_mean_nothing() {
    let (x, y) = classes(40, 0);
    let data = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
    let model = fitted(binary(), &data);
    let evaluation = Evaluation::new(Budget::new(0.1, 1e-6).unwrap()).seed(1);
    let seen = of_classes(evaluation.run(&model, &data).unwrap().quality);
    assert_eq!((seen.auc.value, seen.auc.interval), (None, [0.0, 1.0]));
    assert!(seen.reliability.iter().all(|row| row.share.is_none()));
    assert!(seen.accuracy.interval[1] - seen.accuracy.interval[0] > 0.9, "{seen:?}");
}

#[test]
fn the_certificate_is_of_what_was_asked_and_books_are_known_before() {
    let (x, y) = classes(500, 0);
    let data = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
    let model = fitted(binary(), &data);
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let job = Evaluation::new(budget).check(&model).unwrap();
    let ready = job.open(&data, &mut Run::default()).unwrap();
    let plan = ready.plan().unwrap().clone();
    assert!(ready.taints().is_empty() && plan.total_events() == 1);
    let done = ready.run(Run::default()).unwrap();
    assert_eq!(done.certificate.ledger, plan);
    assert!(done.certificate.certified && done.certificate.epsilon <= 1.0);
    assert!(done.certificate.meaning.contains("whoever sees the evaluation"));

    // A seed is said, whatever else is.
    let seeded = Evaluation::new(budget).seed(1).run(&model, &data).unwrap().certificate;
    assert!(!seeded.certified && seeded.noise.contains("NOT PRIVATE"));

    // Users count once.
    let owners: Vec<u64> = (0..500).map(|i| i / 5).collect();
    let owned = data.clone().with_owners(&owners).unwrap();
    let unsaid = Evaluation::new(budget).run(&model, &owned);
    assert!(matches!(unsaid, Err(Error::Value(_))), "{unsaid:?}");
    let people = Evaluation::new(budget).unit(Unit::User).seed(1).run(&model, &owned).unwrap();
    assert_eq!((people.certificate.population, people.certificate.unit), (100, Unit::User));
}

#[test]
fn what_cannot_be_is_refused_before_a_table_is_read() {
    let (x, y) = classes(50, 0);
    let data = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
    let model = fitted(binary(), &data);
    let new = || Evaluation::new(Budget::new(1.0, 1e-6).unwrap());
    let pure = Evaluation::new(Budget::new(1.0, 0.0).unwrap());
    for (evaluation, word) in [
        (pure, "delta"),
        (new().bins(1), "bins"),
        (new().bins(1_000), "bins"),
        (new().confidence(1.0), "confidence"),
        (new().threshold(2.0), "threshold"),
        (new().adjacency(Adjacency::AddRemove), "public"),
    ] {
        let said = evaluation.check(&model).unwrap_err().to_string();
        assert!(said.contains(word), "{said}");
    }
}

/// A parameter may come from anywhere, and its figures were certified without a word on that.
#[test]
fn the_certificate_of_a_bare_parameter_says_that_it_is_taken_to_be_public() {
    let (x, y) = classes(2_000, 3);
    let problem =
        Problem::new(binary()).loss(losses::parse("logistic", None).unwrap()).intercept(false);
    let evaluation = Evaluation::new(Budget::new(1.0, 1e-6).unwrap());
    let job = evaluation.of_parameter(problem, vec![WEIGHT]).unwrap();
    let rows = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
    let certificate = job.run(&rows, Run::default()).unwrap().certificate;
    let said = |line: &String| line.contains("public") && line.contains("model");
    assert!(certificate.assumptions.iter().any(said), "{:#?}", certificate.assumptions);
}

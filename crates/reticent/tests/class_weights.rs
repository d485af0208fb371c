//! Weights of classes: what they do to a model, what is refused, and thresholds by public shares.
#![allow(clippy::unwrap_used)] // helpers of tests

use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, ClassWeights, Fit, Model, Prediction, Solver, losses};

const ROWS: usize = 3_000;

/// One in fifteen is of the second class, the more the larger the column.
fn table() -> (Vec<f64>, Vec<u32>) {
    let x: Vec<f64> = (0..ROWS).map(|i| (i as f64 * 0.618_034).fract() * 10.0).collect();
    let rare = |(i, x): (usize, &f64)| (i as f64 * 0.754_878).fract() < 0.02 * x - 0.03;
    let y = x.iter().enumerate().map(|one| u32::from(rare(one))).collect();
    (x, y)
}

fn fit() -> Fit {
    let target = Target::classes(["no", "yes"]).unwrap();
    Fit::new(Schema::bounded(&[(0.0, 10.0)], target).unwrap())
}

fn prior() -> Vec<(String, f64)> {
    vec![("yes".to_owned(), 0.0667), ("no".to_owned(), 0.9333)]
}

fn model(fit: Fit) -> Model {
    let (x, y) = table();
    let table = Dataset::dense(&x, ROWS, 1).unwrap().with_targets(&y).unwrap();
    fit.check().unwrap().fit(&table).unwrap().model
}

fn mean_probability(model: &Model) -> f64 {
    let (x, _) = table();
    let all = model.predict_dataset(&Dataset::dense(&x, ROWS, 1).unwrap()).unwrap();
    let second = |one: &Prediction| match one {
        Prediction::Class { probabilities, .. } => probabilities[1],
        _ => panic!("a model of two classes"),
    };
    all.iter().map(second).sum::<f64>() / ROWS as f64
}

/// At the optimum of a weighted logistic loss with an intercept the weighted mean of the
/// probabilities is the weighted share of the class: one half where it is balanced.
#[test]
fn balanced_classes_count_alike() {
    let exact = || fit().solver(Solver::exact());
    let plain = mean_probability(&model(exact()));
    let (x, y) = table();
    let share = f64::from(y.iter().sum::<u32>()) / ROWS as f64;
    assert!((plain - share).abs() < 1e-3, "{plain} {share}");
    let balanced = model(exact().class_prior(prior()).class_weights(ClassWeights::Balanced));
    let weights = balanced.class_weights().unwrap().to_vec();
    assert!((weights[0] - 0.5 / 0.9333).abs() < 1e-9 && (weights[1] - 0.5 / 0.0667).abs() < 1e-9);
    let all = balanced.predict_dataset(&Dataset::dense(&x, ROWS, 1).unwrap()).unwrap();
    let (mut sum, mut share, mut of) = (0.0, 0.0, 0.0);
    for (one, &class) in all.iter().zip(&y) {
        let Prediction::Class { probabilities, .. } = one else { panic!("{one:?}") };
        sum += weights[class as usize] * probabilities[1];
        share += weights[class as usize] * f64::from(class);
        of += weights[class as usize];
    }
    assert!((sum - share).abs() < 2e-3 * of, "{} {}", sum / of, share / of);
    assert!((share / of - 0.5).abs() < 0.05);
    // Weights that are typed are the same weights.
    let typed = format!("yes:{},no:{}", weights[1], weights[0]).parse().unwrap();
    let same = model(exact().class_weights(typed));
    assert_eq!(same.coefficients(), balanced.coefficients());
    assert_eq!(Model::from_json(&balanced.to_json().unwrap()).unwrap(), balanced);
}

#[test]
fn a_private_fit_with_weights_predicts_the_rare_class() {
    let budget = Budget::new(4.0, 1e-6).unwrap();
    let plain = model(fit().budget(budget).seed(1));
    let fit = fit().budget(budget).class_prior(prior()).class_weights(ClassWeights::Balanced);
    let balanced = model(fit.seed(1));
    let (few, many) = (mean_probability(&plain), mean_probability(&balanced));
    assert!(few < 0.25 && many > 0.35, "{few} {many}");
    let ledger = &balanced.certificate().ledger;
    assert!(reticent_accountant::epsilon(ledger, 1e-6).unwrap().upper <= 4.0);
}

/// The largest weight is in the sensitivity, and the guarantee is nothing where the weights tell of
/// the table themselves.
#[test]
fn a_certificate_says_that_weights_and_shares_are_taken_for_public() {
    let budget = Budget::new(1.0, 1e-6).unwrap();
    let fit = || fit().budget(budget).seed(1);
    let given = || "no:1,yes:2".parse::<ClassWeights>().unwrap();
    let said = |fit: Fit| {
        let model = model(fit);
        assert!(model.verify(None).unwrap().failures().next().is_none());
        let all = model.certificate().assumptions.clone();
        all.into_iter().filter(|line| line.contains("of the classes are public")).collect()
    };
    let lines: [Vec<String>; 4] = [
        said(fit()),
        said(fit().class_prior(prior())),
        said(fit().class_weights(given())),
        said(fit().class_prior(prior()).class_weights(ClassWeights::Balanced)),
    ];
    let wanted = [
        None,
        Some("the shares of the classes are public: "),
        Some("the weights of the classes are public: "),
        Some("the weights and the shares of the classes are public: "),
    ];
    for (lines, wanted) in lines.iter().zip(wanted) {
        assert_eq!(lines.len(), usize::from(wanted.is_some()), "{lines:?}");
        assert!(lines.iter().all(|line| line.starts_with(wanted.unwrap_or_default())), "{lines:?}");
    }
}

#[test]
fn the_share_of_a_class_is_a_threshold() {
    let exact = || fit().solver(Solver::exact()).class_prior(prior());
    let share = model(exact()).prior_threshold().unwrap();
    assert!((share - 0.0667).abs() < 1e-4, "{share}");
    let balanced = model(exact().class_weights(ClassWeights::Balanced));
    assert!((balanced.prior_threshold().unwrap() - 0.5).abs() < 1e-9);
    let unknown = model(fit().solver(Solver::exact())).prior_threshold().unwrap_err();
    assert!(unknown.to_string().contains("class_prior"), "{unknown}");
    let hinge = model(exact().loss(losses::SquaredHinge)).prior_threshold().unwrap_err();
    assert!(hinge.to_string().contains("probabilities"), "{hinge}");
}

#[test]
fn what_is_not_public_or_cannot_be_is_refused() {
    let said = |fit: Fit| fit.solver(Solver::exact()).check().unwrap_err().to_string();
    let weights = |text: &str| text.parse::<ClassWeights>().unwrap();
    let private = said(fit().class_weights(ClassWeights::Balanced));
    assert!(private.contains("class_weight = balanced: the shares of the classes are private"));
    for text in ["no:1", "no:1,maybe:2", "no:1,yes:2,maybe:1", "no:1,no:2"] {
        let said = said(fit().class_weights(weights(text)));
        assert!(said.contains("one number for each class is needed: no, yes"), "{text}: {said}");
    }
    for text in ["no:0,yes:1", "no:-1,yes:1", "no:1e9,yes:1", "no:nan,yes:1"] {
        let error = fit().class_weights(weights(text)).solver(Solver::exact()).check().unwrap_err();
        assert!(error.to_string().contains("between 1e-6 and 1e6"), "{text}");
        assert_eq!(error.hint(), "give class_weight another value");
    }
    for text in ["heavy", "no=1,yes=2", "no:x,yes:1", ""] {
        assert!(text.parse::<ClassWeights>().is_err(), "{text}");
    }
    for shares in [[0.5, 0.6], [0.0, 1.0], [f64::NAN, 0.5], [-0.5, 1.5]] {
        let shares = [("no".to_owned(), shares[0]), ("yes".to_owned(), shares[1])];
        assert!(said(fit().class_prior(shares)).contains("add up to 1"));
    }
    let number =
        Fit::new(Schema::bounded(&[(0.0, 1.0)], Target::range(0.0, 1.0).unwrap()).unwrap());
    assert!(said(number.class_weights(weights("no:1,yes:2"))).contains("has no classes"));
    let errors = fit().budget(Budget::new(1.0, 1e-6).unwrap()).standard_errors(0.2);
    let both = errors.class_weights(weights("no:1,yes:2")).check().unwrap_err().to_string();
    assert!(both.contains("class weights"), "{both}");
}

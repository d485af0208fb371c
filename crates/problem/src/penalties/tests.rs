//! What every penalty must obey, run over the whole catalogue.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

/// Several of those that have something to show; every other is tried with numbers of its ranges.
const TEXTS: &[&str] = &[
    "none",
    "l1:0.5",
    "l1:0",
    "l2:0.7",
    "l2:0",
    "elastic-net:0.3,0.8",
    "elastic-net:0,1",
    "elastic-net:1,0",
    "group-lasso:0.4,1",
    "group-lasso:0.4,2",
    "nuclear:0.6",
    "scad:0.5,3.7",
    "scad:1,2.1",
    "mcp:0.5,3",
    "mcp:1,1.2",
    "box:-0.5,1",
    "box:0,inf",
    "l2-ball:1.5",
];

fn members() -> Vec<Box<dyn Penalty>> {
    let texts = TEXTS.iter().map(|t| parse(t).unwrap());
    let named = |entry: &&Entry| TEXTS.iter().any(|t| t.split(':').next() == Some(entry.name));
    let others = CATALOGUE.iter().filter(|entry| !named(entry)).map(usual);
    texts.chain(others).collect()
}

/// A member with numbers that its ranges allow.
fn usual(entry: &Entry) -> Box<dyn Penalty> {
    let number = |(i, p): (usize, &catalogue::Parameter)| match p.range {
        catalogue::Range::Above(b) | catalogue::Range::AtLeast(b) => b + 0.7,
        catalogue::Range::Whole(least, _) => f64::from(least),
        // A lower end, then an upper one.
        catalogue::Range::Extended | catalogue::Range::File | catalogue::Range::List => {
            i as f64 - 0.5
        }
    };
    let numbers: Vec<f64> = entry.parameters.iter().enumerate().map(number).collect();
    (entry.build)(&numbers).unwrap()
}

/// Entries of a 3 × 2 or 6 × 1 matrix: small ones, large ones and exact zeros, scale drawn first.
fn matrix() -> impl Strategy<Value = Vec<f64>> {
    let entry = prop_oneof![1 => Just(0.0), 6 => -1.0..1.0f64];
    (prop::collection::vec(entry, 6), prop::sample::select(vec![0.3, 1.0, 4.0, 100.0]))
        .prop_map(|(v, scale)| v.into_iter().map(|u| u * scale).collect())
}

fn columns() -> impl Strategy<Value = usize> {
    1..=2usize
}

/// On both sides of, and at, the steps where the prox of a non-convex member here begins to jump.
fn steps() -> impl Strategy<Value = f64> {
    prop::sample::select(vec![1e-6, 1e-2, 0.25, 1.0, 1.1, 1.25, 2.0, 2.7, 3.0, 3.1, 100.0, 1e6])
}

fn for_all<S: Strategy>(cases: u32, strategy: &S, property: impl Fn(&dyn Penalty, S::Value)) {
    for penalty in members() {
        let config =
            ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner =
            TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        runner
            .run(strategy, |value| {
                property(&*penalty, value);
                Ok(())
            })
            .unwrap_or_else(|e| panic!("{}: {e}", penalty.spec()));
    }
}

fn prox(penalty: &dyn Penalty, v: &[f64], columns: usize, step: f64) -> Vec<f64> {
    let mut out = v.to_vec();
    penalty.prox(&mut out, columns, step);
    out
}

fn subgradient(penalty: &dyn Penalty, y: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![f64::NAN; y.len()];
    penalty.subgradient(y, columns, &mut out);
    out
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[test]
fn catalogue_is_whole_and_descriptions_round_trip() {
    for (i, entry) in CATALOGUE.iter().enumerate() {
        assert!(CATALOGUE[..i].iter().all(|other| other.name != entry.name), "{}", entry.name);
        let penalty = usual(entry);
        assert_eq!(penalty.name(), entry.name);
        assert_eq!(parse(&penalty.spec()).unwrap().spec(), penalty.spec());
    }
    for (penalty, text) in members().iter().zip(TEXTS) {
        assert_eq!(penalty.spec(), *text);
    }
    assert_eq!(parse("scad:1e-3").unwrap().spec(), "scad:1e-3,3.7");
    assert_eq!(parse("mcp:1").unwrap().spec(), "mcp:1,3");
    assert_eq!(parse("group-lasso:1e-4").unwrap().spec(), "group-lasso:1e-4,1");
    assert_eq!(parse("l1:-0").unwrap().spec(), "l1:0");
}

#[test]
fn bad_descriptions_are_refused() {
    for text in [
        "l1",
        "l1:-1",
        "l1:nan",
        "l1:inf",
        "l1:1,2",
        "l2:-1e-9",
        "elastic-net:1",
        "elastic-net:1,-1",
        "group-lasso:1,0",
        "group-lasso:1,1.5",
        "nuclear:-1",
        "scad:1,2",
        "mcp:1,1",
        "box:1,0",
        "box:inf,inf",
        "box:nan,1",
        "l2-ball:0",
        "none:1",
        "lasso:1",
        "",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert_eq!(
        parse("l1:-1").unwrap_err().to_string(),
        "lambda of `l1` is -1; it must be a finite number ≥ 0"
    );
    assert!(
        parse("elasticnet:1,1").unwrap_err().to_string().contains("did you mean `elastic-net`?")
    );
    assert_eq!(
        parse("box:1,0").unwrap_err().to_string(),
        "lo of `box` is 1 and hi 0; it must be at most hi, with a finite number between them"
    );
}

/// One entry is a function of one number for every member, convex or not: the prox must be at least
/// as good as the best point of a fine grid, refined, for every step.
#[test]
fn prox_of_one_entry_is_a_global_minimiser() {
    for_all(60, &((-8.0..8.0f64), steps()), |penalty, (v, step)| {
        let p = prox(penalty, &[v], 1, step)[0];
        let objective = |u: f64| penalty.value(&[u], 1) + (u - v) * (u - v) / (2.0 * step);
        let least = objective(p);
        assert!(least.is_finite());
        let mut best = objective(0.0);
        let (mut centre, mut reach) = (0.0, 10.0);
        for _ in 0..6 {
            let around = centre;
            for i in -1000..=1000 {
                let u = around + reach * f64::from(i) / 1000.0;
                if objective(u) < best {
                    (best, centre) = (objective(u), u);
                }
            }
            reach /= 100.0;
        }
        assert!(least <= best + 1e-14 * best.max(1.0), "{p} gives {least}, {centre} gives {best}");
        // Strong convexity turns a difference in value into one in place, where the prox is unique.
        if penalty.weak_convexity() * step < 0.9 {
            assert!(
                (p - centre).abs() <= 1e-3 * step.max(1e-6).sqrt().min(1.0) + 1e-6,
                "{p} {centre}"
            );
        }
    });
}

/// `(v − p)/t ∈ ∂r(p)`, that is `r(z) ≥ r(p) + ⟨(v − p)/t, z − p⟩` for every `z`, which is the
/// whole truth about the prox of a convex penalty.
#[test]
fn prox_of_a_convex_penalty_meets_the_variational_inequality() {
    for_all(400, &(matrix(), matrix(), columns(), steps()), |penalty, (v, other, k, step)| {
        if !penalty.is_convex() {
            return;
        }
        let p = prox(penalty, &v, k, step);
        let g: Vec<f64> = minus(&v, &p).iter().map(|d| d / step).collect();
        let at_p = penalty.value(&p, k);
        assert!(at_p.is_finite(), "the prox must lie in the domain");
        for scale in [1e-3, 1.0, 10.0] {
            let near: Vec<f64> = p.iter().zip(&other).map(|(p, o)| p + scale * o).collect();
            for z in [near, other.clone(), v.clone(), vec![0.0; 6]] {
                let away = minus(&z, &p);
                let step_up = dot(&g, &away);
                // v and p carry an ulp of 100 each, divided by the step.
                let slack = 1e-12 * (1.0 + 1.0 / step) * (1.0 + dot(&away, &away).sqrt())
                    + 1e-13 * (at_p + step_up.abs());
                assert!(penalty.value(&z, k) >= at_p + step_up - slack);
            }
        }
    });
}

#[test]
fn prox_beats_its_neighbours_for_every_step() {
    for_all(400, &(matrix(), matrix(), columns(), steps()), |penalty, (v, other, k, step)| {
        let p = prox(penalty, &v, k, step);
        let objective = |u: &[f64]| {
            let d = minus(u, &v);
            penalty.value(u, k) + dot(&d, &d) / (2.0 * step)
        };
        let least = objective(&p);
        for scale in [1e-6, 1e-3, 0.1, 1.0] {
            let near: Vec<f64> = p.iter().zip(&other).map(|(p, o)| p + scale * o).collect();
            assert!(least <= objective(&near) + 1e-13 * least.max(1.0));
        }
        for z in [&other, &v, &vec![0.0; 6]] {
            assert!(least <= objective(z) + 1e-13 * least.max(1.0));
        }
    });
}

#[test]
fn prox_is_firmly_non_expansive_or_lipschitz_as_weak_convexity_says() {
    for_all(400, &(matrix(), matrix(), columns(), steps()), |penalty, (v, w, k, step)| {
        let weak = penalty.weak_convexity() * step;
        if weak >= 1.0 {
            return;
        }
        let dp = minus(&prox(penalty, &v, k, step), &prox(penalty, &w, k, step));
        let dv = minus(&v, &w);
        // ⟨Δp, Δv⟩ ≥ (1 − w·t + s·t)‖Δp‖², with w the weak and s the strong modulus.
        let modulus = 1.0 - weak + penalty.strong_convexity() * step;
        let slack = 1e-12 * (1.0 + dot(&dv, &dv)) * modulus.max(1.0);
        assert!(modulus * dot(&dp, &dp) <= dot(&dp, &dv) + slack);
    });
}

#[test]
fn subgradient_inequality_with_the_declared_convexity() {
    for_all(500, &(matrix(), matrix(), columns()), |penalty, (y, z, k)| {
        // Points outside a domain have no subgradient.
        let y = if penalty.value(&y, k).is_finite() { y } else { prox(penalty, &y, k, 1.0) };
        let g = subgradient(penalty, &y, k);
        let away = minus(&z, &y);
        let curvature = penalty.strong_convexity() - penalty.weak_convexity();
        let model = penalty.value(&y, k) + dot(&g, &away) + 0.5 * curvature * dot(&away, &away);
        let value = penalty.value(&z, k);
        assert!(
            value >= model - 1e-12 * (1.0 + model.abs() + dot(&away, &away)),
            "{value} {model}"
        );
    });
}

#[test]
fn subgradient_agrees_with_finite_differences_where_smooth() {
    for_all(300, &(matrix(), matrix(), columns()), |penalty, (y, direction, k)| {
        let size = dot(&direction, &direction).sqrt().max(1e-3);
        let h = 1e-6 / size;
        let at = |t: f64| {
            let moved: Vec<f64> = y.iter().zip(&direction).map(|(y, d)| y + t * d).collect();
            penalty.value(&moved, k)
        };
        let (up, mid, down) = (at(h), at(0.0), at(-h));
        if !(up.is_finite() && mid.is_finite() && down.is_finite()) {
            return;
        }
        let slack = 1e-4 * size + 1e-15 * mid.abs() / h;
        // At a kink the two one-sided differences disagree, and there is nothing to compare with.
        if ((up - mid) - (mid - down)).abs() > slack * h {
            return;
        }
        let slope = dot(&subgradient(penalty, &y, k), &direction);
        assert!(((up - down) / (2.0 * h) - slope).abs() <= 2.0 * slack);
    });
}

#[test]
fn declared_constants_are_never_exceeded() {
    for_all(500, &(matrix(), matrix(), columns()), |penalty, (y, z, k)| {
        let (gy, gz) = (subgradient(penalty, &y, k), subgradient(penalty, &z, k));
        let bound = penalty.lipschitz(6 / k, k);
        assert!(dot(&gy, &gy).sqrt() <= bound * (1.0 + 1e-14));
        let distance = dot(&minus(&y, &z), &minus(&y, &z)).sqrt();
        if bound.is_finite() {
            let (a, b) = (penalty.value(&y, k), penalty.value(&z, k));
            assert!((a - b).abs() <= bound * distance + 1e-13 * (a + b), "{a} {b}");
        }
        if penalty.smoothness().is_finite() {
            let change = minus(&gy, &gz);
            assert!(
                dot(&change, &change).sqrt() <= penalty.smoothness() * distance * (1.0 + 1e-14)
            );
        }
    });
}

#[test]
fn members_agree_where_they_are_the_same_function() {
    let y = [3.0, -4.0, 0.5, -0.25, 0.0, 2.0];
    let same = |a: &str, b: &str, k: usize| {
        let (a, b) = (parse(a).unwrap(), parse(b).unwrap());
        assert!((a.value(&y, k) - b.value(&y, k)).abs() < 1e-14, "{a:?} {b:?}");
        let (pa, pb) = (prox(&*a, &y, k, 0.8), prox(&*b, &y, k, 0.8));
        assert!(pa.iter().zip(&pb).all(|(a, b)| (a - b).abs() < 1e-14), "{pa:?} {pb:?}");
    };
    same("l1:0.5", "group-lasso:0.5,1", 1);
    same("l1:0.5", "elastic-net:0.5,0", 2);
    same("l2:0.5", "elastic-net:0,0.5", 2);
    same("none", "box:-inf,inf", 1);
    // One column: λ‖y‖₂, and a group of six has weight √6.
    let nuclear = Nuclear::new(6f64.sqrt()).unwrap();
    let group = GroupLasso::new(1.0, 6.0).unwrap();
    let (a, b) = (prox(&nuclear, &y, 1, 0.8), prox(&group, &y, 1, 0.8));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} {b:?}");
    // A diagonal matrix: its singular values are its entries.
    let d = [3.0, 0.0, 0.0, -0.2, 0.0, 0.0];
    let p = prox(&Nuclear::new(0.5).unwrap(), &d, 2, 1.0);
    assert!(
        p.iter().zip([2.5, 0.0, 0.0, 0.0, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-15),
        "{p:?}"
    );
}

#[test]
fn group_lasso_takes_whole_rows_and_a_short_last_group() {
    let group = GroupLasso::new(1.0, 2.0).unwrap();
    let y = [3.0, 0.0, 0.0, 4.0, 0.6, 0.8];
    let expected = 2.0 * 5.0 + 2f64.sqrt() * 1.0;
    assert!((group.value(&y, 2) - expected).abs() < 1e-14);
    let p = prox(&group, &y, 2, 1.0);
    assert!((p[0] - 3.0 * 0.6).abs() < 1e-15 && (p[3] - 4.0 * 0.6).abs() < 1e-15);
    assert_eq!(p[4..], [0.0, 0.0]);
}

#[test]
fn huge_tiny_empty_and_broken_input() {
    for penalty in members() {
        let mut nothing: [f64; 0] = [];
        assert_eq!(penalty.value(&nothing, 2), 0.0, "{}", penalty.spec());
        penalty.prox(&mut nothing, 2, 1.0);
        penalty.subgradient(&[], 2, &mut nothing);
        for size in [1e-200, 1e-8, 1e8, 1e150] {
            let y = [size, -size, 0.5 * size, 0.0, size, size];
            assert!(
                prox(&*penalty, &y, 2, 0.7).iter().all(|u| u.is_finite()),
                "{}",
                penalty.spec()
            );
        }
        let broken = prox(&*penalty, &[f64::NAN; 6], 2, 0.7);
        assert!(broken.iter().all(|u| u.is_nan()), "{}: NaN must not vanish", penalty.spec());
    }
    assert_eq!(prox(&*parse("box:0,inf").unwrap(), &[1e8, -1e8], 1, 1.0), [1e8, 0.0]);
    assert!((norm(&[3e200, 4e200]) / 5e200 - 1.0).abs() < 1e-15);
    assert!((norm(&[3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
    assert_eq!(norm(&[f64::INFINITY, 1.0]), f64::INFINITY);
    assert!(norm(&[f64::NAN, 0.0]).is_nan());
}

/// An algorithm that moves one entry at a time believes this.
#[test]
fn the_prox_of_a_separable_member_moves_each_entry_by_itself() {
    for_all(32, &(matrix(), matrix(), steps(), 0..6usize), |penalty, (y, other, step, kept)| {
        if !penalty.is_separable() {
            return;
        }
        let (mut first, mut second) = (y.clone(), other);
        second[kept] = y[kept];
        penalty.prox(&mut first, 1, step);
        penalty.prox(&mut second, 1, step);
        assert_eq!(first[kept].to_bits(), second[kept].to_bits());
    });
    let together: Vec<_> =
        members().into_iter().filter(|p| !p.is_separable()).map(|p| p.name()).collect();
    assert!(["group-lasso", "nuclear", "l2-ball"].iter().all(|name| together.contains(name)));
    assert!(!together.contains(&"l1") && !together.contains(&"box"), "{together:?}");
}

/// Minimisers with a strongly convex objective believe this.
#[test]
fn a_ridge_is_half_a_multiple_of_the_square() {
    for_all(32, &(matrix(), steps()), |penalty, (y, step)| {
        let Some(lambda) = penalty.ridge() else { return };
        let square: f64 = y.iter().map(|u| u * u).sum();
        let value = penalty.value(&y, 1);
        assert!((value - 0.5 * lambda * square).abs() <= 1e-12 * value.abs());
        let mut moved = y.clone();
        penalty.prox(&mut moved, 1, step);
        for (u, w) in y.iter().zip(&moved) {
            assert!((w - u / (1.0 + lambda * step)).abs() <= 1e-12 * u.abs());
        }
    });
    let ridges: Vec<_> =
        members().into_iter().filter(|p| p.ridge().is_some()).map(|p| p.spec()).collect();
    assert!(
        ridges.contains(&"none".to_owned()) && ridges.contains(&"l2:0.7".to_owned()),
        "{ridges:?}"
    );
    assert!(!ridges.iter().any(|spec| spec.starts_with("l1:0.5")), "{ridges:?}");
}

/// Frank–Wolfe over an L1 ball believes this.
#[test]
fn a_lasso_is_a_multiple_of_the_sum_of_absolute_values() {
    for_all(32, &matrix(), |penalty, y| {
        let Some(lambda) = penalty.lasso() else { return };
        let sum: f64 = y.iter().map(|u| u.abs()).sum();
        assert!((penalty.value(&y, 1) - lambda * sum).abs() <= 1e-12 * sum);
    });
    let lassos: Vec<_> =
        members().into_iter().filter(|p| p.lasso().is_some()).map(|p| p.name()).collect();
    assert!(lassos.contains(&"none") && lassos.contains(&"l1"), "{lassos:?}");
    assert!(!lassos.contains(&"elastic-net"), "{lassos:?}");
}

/// It says that it is an L1 penalty in every way that is open to it.
#[derive(Debug)]
struct Spy;

impl Penalty for Spy {
    fn name(&self) -> &'static str {
        "l1"
    }

    fn spec(&self) -> String {
        "l1:0.1".to_owned()
    }

    fn value(&self, _y: &[f64], _columns: usize) -> f64 {
        0.0
    }

    fn prox(&self, _y: &mut [f64], _columns: usize, _step: f64) {}

    fn subgradient(&self, _y: &[f64], _columns: usize, out: &mut [f64]) {
        out.fill(0.0);
    }

    fn lipschitz(&self, _rows: usize, _columns: usize) -> f64 {
        0.0
    }
}

/// The same by way of its entries.
#[derive(Debug)]
struct SeparableSpy;

impl Separable for SeparableSpy {
    const NAME: &'static str = "l1";

    fn parameters(&self) -> Vec<f64> {
        vec![0.1]
    }

    fn psi(&self, _u: f64) -> f64 {
        0.0
    }

    fn prox_psi(&self, u: f64, _step: f64) -> f64 {
        u
    }

    fn slope(&self, _u: f64) -> f64 {
        0.0
    }

    fn max_derivative(&self) -> f64 {
        0.0
    }
}

#[test]
fn the_catalogue_is_the_librarys_own_and_nothing_else_is() {
    for entry in CATALOGUE {
        let parameters: Vec<f64> = entry.parameters.iter().map(|_| 3.0).collect();
        assert!(is_own(&*(entry.build)(&parameters).unwrap()), "{}", entry.name);
    }
    assert!(!is_own(&Spy));
    assert!(!is_own(&SeparableSpy));
}

//! What every loss must obey, run over the whole catalogue.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Every member, with its defaults and with other parameters.
fn members() -> Vec<Box<dyn Loss>> {
    let texts = [
        "huber:0.1",
        "huber:1.35",
        "huberised-hinge:0.05",
        "huberised-hinge:2",
        "multinomial:2",
        "piecewise-margin:-2,-3,-1,-0.5,0.5,-0.5,3,0",
        "piecewise-residual:-0.5,-3,0,0,0.25,0,1,1",
    ];
    let defaults = CATALOGUE.iter().map(|e| parse(e.name, Some(4)).unwrap());
    let weighted = [
        ("logistic", vec![2.5, 0.25]),
        ("huberised-hinge:0.5", vec![3.0, 1.0]),
        ("multinomial:3", vec![0.5, 2.0, 1.0]),
    ];
    let weighted = weighted.map(|(text, weights)| -> Box<dyn Loss> {
        Box::new(Weighted::new(parse(text, None).unwrap().into(), weights).unwrap())
    });
    defaults.chain(texts.map(|t| parse(t, None).unwrap())).chain(weighted).collect()
}

/// Scores and a target for a loss, from raw numbers.
fn case(loss: &dyn Loss, raw: &[f64], pick: usize) -> (Vec<f64>, f64) {
    let scores = raw[..loss.outputs()].to_vec();
    let target = match loss.target() {
        LossTarget::Binary => [-1.0, 1.0][pick % 2],
        LossTarget::Classes(k) => (pick % k) as f64,
        LossTarget::Real => raw[4],
    };
    (scores, target)
}

fn derivative(loss: &dyn Loss, scores: &[f64], target: f64) -> Vec<f64> {
    let mut out = vec![f64::NAN; scores.len()];
    loss.derivative(scores, target, &mut out);
    out
}

fn prox(loss: &dyn Loss, scores: &[f64], target: f64, step: f64) -> Vec<f64> {
    let mut out = vec![f64::NAN; scores.len()];
    loss.prox(scores, target, step, &mut out);
    out
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Small, middling and huge numbers, the scale drawn first.
fn wide() -> impl Strategy<Value = f64> {
    (-1.0..1.0f64, prop::sample::select(vec![0.3, 3.0, 30.0, 1e4])).prop_map(|(u, scale)| u * scale)
}

fn raw() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, usize)> {
    (prop::collection::vec(wide(), 5), prop::collection::vec(wide(), 5), 0..4usize)
}

/// Runs a property over every member.
fn for_all<S: Strategy>(cases: u32, strategy: &S, property: impl Fn(&dyn Loss, S::Value)) {
    for loss in members() {
        let mut runner = TestRunner::new_with_rng(
            ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() },
            proptest::test_runner::TestRng::deterministic_rng(
                proptest::test_runner::RngAlgorithm::ChaCha,
            ),
        );
        runner
            .run(strategy, |value| {
                property(&*loss, value);
                Ok(())
            })
            .unwrap_or_else(|e| panic!("{}: {e}", loss.spec()));
    }
}

#[test]
fn losses_are_not_negative_and_one_sided_slopes_have_one_sign() {
    let names: Vec<_> = CATALOGUE.iter().map(|e| parse(e.name, Some(4)).unwrap()).collect();
    let one_sided: Vec<_> =
        names.iter().filter(|loss| loss.one_sided()).map(|loss| loss.name()).collect();
    let margins = ["logistic", "huberised-hinge", "hinge", "squared-hinge", "piecewise-margin"];
    assert_eq!(one_sided, margins);
    for_all(300, &raw(), |loss, (one, other, pick)| {
        let (scores, target) = case(loss, &one, pick);
        assert!(loss.value(&scores, target) >= 0.0);
        if loss.one_sided() {
            let (there, _) = case(loss, &other, pick);
            let (a, b) =
                (derivative(loss, &scores, target)[0], derivative(loss, &there, target)[0]);
            assert!(a * b >= 0.0, "{a} {b}");
        }
    });
}

#[test]
fn catalogue_is_whole_and_descriptions_round_trip() {
    for (i, entry) in CATALOGUE.iter().enumerate() {
        assert!(CATALOGUE[..i].iter().all(|other| other.name != entry.name), "{}", entry.name);
    }
    for loss in members() {
        let spec = loss.spec();
        assert_eq!(parse(&spec, None).unwrap().spec(), spec);
        assert!(CATALOGUE.iter().any(|e| e.name == loss.name()));
    }
    assert_eq!(parse("huber", None).unwrap().spec(), "huber:1");
    assert_eq!(parse("huberised-hinge", None).unwrap().spec(), "huberised-hinge:0.5");
    assert_eq!(parse("multinomial", Some(7)).unwrap().spec(), "multinomial:7");
}

#[test]
fn bad_descriptions_are_refused() {
    for text in [
        "huber:0",
        "huber:-1",
        "huber:nan",
        "huber:inf",
        "multinomial",
        "multinomial:1",
        "multinomial:2.5",
    ] {
        assert!(parse(text, None).is_err(), "{text}");
    }
    let message = parse("logisitc", None).unwrap_err().to_string();
    assert!(message.contains("did you mean `logistic`?"), "{message}");
    let message = parse("huber:-1", None).unwrap_err().to_string();
    assert_eq!(message, "delta of `huber` is -1; it must be a finite number > 0");
}

#[test]
fn derivatives_of_a_block_are_those_of_its_records() {
    for_all(200, &raw(), |loss, (first, second, pick)| {
        let ((w, b), (v, c)) = (case(loss, &first, pick), case(loss, &second, pick + 1));
        let mut block = vec![f64::NAN; 2 * w.len()];
        loss.derivatives(&[w.clone(), v.clone()].concat(), &[b, c], &mut block);
        let single = [derivative(loss, &w, b), derivative(loss, &v, c)].concat();
        for (block, single) in block.iter().zip(&single) {
            assert!((block - single).abs() <= 1e-14 * single.abs() + 1e-300, "{block} {single}");
        }
    });
}

/// A finite and, except for rounding, exact derivative. The tolerance covers the rounding of the
/// value (ε|φ|/h) and the curvature within h; near a kink the difference lies between the one-sided
/// slopes.
#[test]
fn derivative_agrees_with_finite_differences() {
    for_all(400, &raw(), |loss, (raw, _, pick)| {
        let (w, b) = case(loss, &raw, pick);
        let g = derivative(loss, &w, b);
        for j in 0..w.len() {
            let h = 1e-6 * (1.0 + w[j].abs());
            let (mut up, mut down) = (w.clone(), w.clone());
            up[j] += h;
            down[j] -= h;
            let width = up[j] - down[j];
            let difference = (loss.value(&up, b) - loss.value(&down, b)) / width;
            let size = loss.value(&w, b).abs().max(1.0);
            let slack = 8.0 * f64::EPSILON * size / h;
            if loss.smoothness().is_finite() {
                let slack = slack + loss.smoothness() * h;
                assert!((difference - g[j]).abs() <= slack, "{difference} {} {slack}", g[j]);
            } else {
                let (lo, hi) = (derivative(loss, &down, b)[j], derivative(loss, &up, b)[j]);
                assert!(lo - slack <= difference && difference <= hi + slack);
            }
        }
    });
}

#[test]
fn curvature_agrees_with_differences_of_the_derivative() {
    for_all(400, &raw(), |loss, (raw, _, pick)| {
        let (w, b) = case(loss, &raw, pick);
        let k = w.len();
        let mut c = vec![f64::NAN; k * k];
        loss.curvature(&w, b, &mut c);
        for j in 0..k {
            let h = 1e-5 * (1.0 + w[j].abs());
            let (mut up, mut down) = (w.clone(), w.clone());
            up[j] += h;
            down[j] -= h;
            let width = up[j] - down[j];
            let (mut cu, mut cd) = (vec![0.0; k * k], vec![0.0; k * k]);
            loss.curvature(&up, b, &mut cu);
            loss.curvature(&down, b, &mut cd);
            let (gu, gd) = (derivative(loss, &up, b), derivative(loss, &down, b));
            for i in 0..k {
                let at = i * k + j;
                assert!(c[at].is_finite());
                assert!((c[at] - c[j * k + i]).abs() <= 1e-15, "not symmetric");
                // A jump of the derivative or the curvature inside the window tells nothing.
                let jumps = (cu[at] - cd[at]).abs() > 0.01 * loss.smoothness().min(1e3)
                    || !loss.smoothness().is_finite() && gu[i] != gd[i];
                if !jumps {
                    let difference = (gu[i] - gd[i]) / width;
                    let slack = 8.0 * f64::EPSILON * gu[i].abs().max(1.0) / h + h;
                    assert!((difference - c[at]).abs() <= slack, "{difference} {}", c[at]);
                }
            }
        }
    });
}

#[test]
fn declared_constants_are_never_exceeded() {
    for_all(2000, &raw(), |loss, (raw, other, pick)| {
        let (w, b) = case(loss, &raw, pick);
        let v = other[..w.len()].to_vec();
        let (gw, gv) = (derivative(loss, &w, b), derivative(loss, &v, b));
        assert!(norm(&gw) <= loss.lipschitz() * (1.0 + 1e-14));
        if loss.smoothness().is_finite() {
            // Rounding of the margin or residual, at most an ulp of 2e4 here, passes through the
            // slope.
            let slack = loss.smoothness() * 1e-11;
            assert!(norm(&minus(&gw, &gv)) <= loss.smoothness() * norm(&minus(&w, &v)) + slack);
        }
        let k = w.len();
        let mut c = vec![0.0; k * k];
        loss.curvature(&w, b, &mut c);
        // Rayleigh quotients of any direction lie between 0 and the smoothness constant.
        let product: Vec<f64> = (0..k).map(|i| dot(&c[i * k..(i + 1) * k], &v)).collect();
        let rayleigh = dot(&product, &v) / dot(&v, &v).max(1e-300);
        assert!(rayleigh >= -1e-14 && rayleigh <= loss.smoothness() * (1.0 + 1e-14), "{rayleigh}");
    });
}

/// The bounds are met, not just respected: a constant twice too large costs twice the noise.
#[test]
fn declared_constants_are_tight() {
    for loss in members() {
        let k = loss.outputs();
        let (mut steep, mut bent) = (0.0f64, 0.0f64);
        for i in -400..400 {
            let mut w = vec![0.0; k];
            w[0] = f64::from(i) / 4.0;
            if k > 1 {
                // Mass on two classes only.
                w[2..].fill(-1e3);
            }
            let b = if k > 1 { 1.0 } else { -1.0 };
            steep = steep.max(norm(&derivative(&*loss, &w, b)));
            let mut c = vec![0.0; k * k];
            loss.curvature(&w, b, &mut c);
            let direction: Vec<f64> =
                (0..k).map(|j| [1.0, -1.0].get(j).copied().unwrap_or(0.0)).collect();
            let product: Vec<f64> =
                (0..k).map(|i| dot(&c[i * k..(i + 1) * k], &direction)).collect();
            bent = bent.max(dot(&product, &direction) / dot(&direction, &direction));
        }
        if loss.lipschitz().is_finite() {
            assert!(steep >= 0.999 * loss.lipschitz(), "{}: {steep}", loss.spec());
        }
        if loss.smoothness().is_finite() {
            assert!(bent >= 0.99 * loss.smoothness(), "{}: {bent}", loss.spec());
        }
    }
}

#[test]
fn subgradient_inequality() {
    for_all(1000, &raw(), |loss, (raw, other, pick)| {
        let (w, b) = case(loss, &raw, pick);
        let v = &other[..w.len()];
        let g = derivative(loss, &w, b);
        let (at_w, at_v) = (loss.value(&w, b), loss.value(v, b));
        let step = dot(&g, &minus(v, &w));
        assert!(at_w.is_finite() && at_w >= 0.0);
        let slack = 1e-14 * (1e4 + at_w.abs() + at_v.abs() + step.abs());
        assert!(at_v >= at_w + step - slack, "{at_v} {at_w} {step}");
    });
}

fn steps() -> impl Strategy<Value = f64> {
    prop::sample::select(vec![1e-6, 1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e3, 1e5])
}

/// For one score, golden section on the objective, which knows nothing of derivatives. It finds a
/// minimiser only to √ε, so the objective is compared, which strong convexity (1/step) turns into a
/// distance.
#[test]
fn prox_agrees_with_a_search_without_derivatives() {
    for_all(300, &(raw(), steps()), |loss, ((raw, _, pick), step)| {
        let (s, b) = case(loss, &raw, pick);
        if s.len() > 1 {
            return;
        }
        let p = prox(loss, &s, b, step)[0];
        let objective = |w: f64| loss.value(&[w], b) + (w - s[0]) * (w - s[0]) / (2.0 * step);
        // φ ≥ 0, so the answer is no farther away than this.
        let reach = (2.0 * step * loss.value(&s, b)).sqrt() + 1e-3;
        let found = golden(s[0] - reach, s[0] + reach, objective);
        let slack = 1e-13 * objective(found).abs().max(1e-3);
        assert!(objective(p) <= objective(found) + slack, "{p} against {found}");
        assert!((p - found).abs() <= 1e-6 * (1.0 + found.abs() + reach), "{p} against {found}");
    });
}

fn golden(mut lo: f64, mut hi: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
    let (mut fa, mut fb) = (f(a), f(b));
    for _ in 0..120 {
        if fa < fb {
            (hi, b, fb) = (b, a, fa);
            a = hi - ratio * (hi - lo);
            fa = f(a);
        } else {
            (lo, a, fa) = (a, b, fb);
            b = lo + ratio * (hi - lo);
            fb = f(b);
        }
    }
    0.5 * (lo + hi)
}

/// `(s − p)/t` is a subgradient at `p`. For a smooth loss that pins `p` down to rounding; where
/// there is a kink it must lie between the slopes on either side.
#[test]
fn prox_meets_its_optimality_condition_to_rounding() {
    for_all(1000, &(raw(), steps()), |loss, ((raw, _, pick), step)| {
        let (s, b) = case(loss, &raw, pick);
        let p = prox(loss, &s, b, step);
        let size = s.iter().chain(&p).fold(b.abs().max(1.0), |m, v| m.max(v.abs()));
        let curvature = loss.smoothness();
        for j in 0..s.len() {
            let moved = s[j] - p[j];
            // An error of a few ulps in p and the argument, seen through the equation.
            let ulps = 8.0 * f64::EPSILON * size;
            if curvature.is_finite() {
                let wanted = step * derivative(loss, &p, b)[j];
                let slack = ulps * (1.0 + step * curvature) + 4.0 * f64::EPSILON * wanted.abs();
                assert!((moved - wanted).abs() <= slack, "{moved} {wanted} {slack}");
            } else {
                let (mut up, mut down) = (p.clone(), p.clone());
                up[j] += ulps;
                down[j] -= ulps;
                let (lo, hi) = (derivative(loss, &down, b)[j], derivative(loss, &up, b)[j]);
                assert!(step * lo - ulps <= moved && moved <= step * hi + ulps);
            }
        }
    });
}

#[test]
fn prox_is_firmly_non_expansive_and_beats_its_neighbours() {
    for_all(500, &(raw(), steps()), |loss, ((raw, other, pick), step)| {
        let (s, b) = case(loss, &raw, pick);
        let r = other[..s.len()].to_vec();
        let (ps, pr) = (prox(loss, &s, b, step), prox(loss, &r, b, step));
        let (dp, ds) = (minus(&ps, &pr), minus(&s, &r));
        assert!(dot(&dp, &dp) <= dot(&dp, &ds) + 1e-10 * (1.0 + norm(&ds)), "{dp:?} {ds:?}");
        let objective = |w: &[f64]| {
            let d = minus(w, &s);
            loss.value(w, b) + dot(&d, &d) / (2.0 * step)
        };
        let least = objective(&ps);
        for scale in [1e-6, 1e-3, 1.0] {
            let near: Vec<f64> = ps.iter().zip(&other).map(|(p, o)| p + scale * o).collect();
            assert!(least <= objective(&near) + 1e-13 * least.max(1.0));
        }
    });
}

#[test]
fn huge_scores_stay_finite() {
    for loss in members() {
        for huge in [1e4, 1e8, 1e15] {
            for sign in [-1.0, 1.0] {
                let mut w = vec![0.0; loss.outputs()];
                w[0] = sign * huge;
                for b in [1.0, if loss.outputs() > 1 { 0.0 } else { -1.0 }] {
                    assert!(loss.value(&w, b).is_finite(), "{}", loss.spec());
                    assert!(derivative(&*loss, &w, b).iter().all(|g| g.is_finite()));
                    for step in [1e-8, 1.0, 1e8] {
                        assert!(prox(&*loss, &w, b, step).iter().all(|p| p.is_finite()));
                    }
                    let mut c = vec![f64::NAN; w.len() * w.len()];
                    loss.curvature(&w, b, &mut c);
                    assert!(c.iter().all(|c| c.is_finite()));
                }
            }
        }
    }
}

/// A score that is not a number must not come out as a loss of 0.
#[test]
fn not_a_number_stays_not_a_number() {
    for loss in members() {
        let w = vec![f64::NAN; loss.outputs()];
        assert!(loss.value(&w, 1.0).is_nan(), "{}", loss.spec());
        assert!(prox(&*loss, &w, 1.0, 0.5)[0].is_nan(), "{}", loss.spec());
    }
}

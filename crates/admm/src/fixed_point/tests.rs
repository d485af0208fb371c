//! Each instance against its textbook loop on `f(u) = (1/n) Σ ½(aᵢᵀu − bᵢ)²` and `r = λ‖·‖₁`.

use super::*;

const ROWS: [[f64; 3]; 4] = [[1.0, 0.2, 0.0], [0.3, -1.0, 0.5], [0.0, 0.4, 0.9], [-0.6, 0.1, 0.3]];
const TARGETS: [f64; 4] = [1.0, -0.5, 0.25, 0.8];
const PENALTY: f64 = 0.05;
const STEPS: usize = 200;
/// ‖a‖² ≤ 1.34 for every row.
const BETA: f64 = 1.34;

fn gradient_of(i: usize, u: &[f64]) -> Vec<f64> {
    let error = ROWS[i].iter().zip(u).map(|(a, u)| a * u).sum::<f64>() - TARGETS[i];
    ROWS[i].iter().map(|a| error * a).collect()
}

fn gradient(u: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; 3];
    for i in 0..4 {
        sum.iter_mut().zip(gradient_of(i, u)).for_each(|(s, g)| *s += g / 4.0);
    }
    sum
}

fn soft(u: &[f64], t: f64) -> Vec<f64> {
    u.iter().map(|u| (u.abs() - t).max(0.0).copysign(*u)).collect()
}

/// `argmin_x f(x) + ‖x − v‖²/2γ`: the system `(H + I/γ) x = c + v/γ`, by Cramer's rule.
fn prox_f(v: &[f64], gamma: f64) -> Vec<f64> {
    let mut m = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for (a, b) in ROWS.iter().zip(TARGETS) {
        for j in 0..3 {
            (0..3).for_each(|k| m[j][k] += a[j] * a[k] / 4.0);
            right[j] += a[j] * b / 4.0;
        }
    }
    for j in 0..3 {
        m[j][j] += 1.0 / gamma;
        right[j] += v[j] / gamma;
    }
    let det = |m: &[[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = det(&m);
    (0..3)
        .map(|j| {
            let mut replaced = m;
            (0..3).for_each(|k| replaced[k][j] = right[k]);
            det(&replaced) / whole
        })
        .collect()
}

fn assert_equal(engine: &[f64], textbook: &[f64]) {
    for (e, t) in engine.iter().zip(textbook) {
        assert!((e - t).abs() < 1e-12, "{engine:?} {textbook:?}");
    }
    // Not equal because nothing moved.
    assert!(engine.iter().any(|e| e.abs() > 1e-2), "{engine:?}");
}

#[test]
fn gradient_descent_is_an_instance() {
    let gamma = 0.7;
    let (mut engine, mut u) = (FixedPoint::whole(vec![0.0; 3]), vec![0.0; 3]);
    for _ in 0..STEPS {
        let mut r = gradient(engine.u());
        gradient_operator(engine.u(), BETA, &mut r);
        engine.step(Active::All, averaging_of_step(gamma, BETA), &r);
        let g = gradient(&u);
        u.iter_mut().zip(&g).for_each(|(u, g)| *u -= gamma * g);
    }
    assert_equal(engine.u(), &u);
}

/// The error of the operator is what one record's gradient misses of the whole (Proposition 1).
#[test]
fn stochastic_gradient_descent_is_an_instance_with_errors() {
    let gamma = 0.1;
    let (mut engine, mut u) = (FixedPoint::whole(vec![0.0; 3]), vec![0.0; 3]);
    for k in 0..STEPS {
        let i = (k * k + 1) % 4;
        let (whole, one) = (gradient(engine.u()), gradient_of(i, engine.u()));
        let mut r = whole.clone();
        gradient_operator(engine.u(), BETA, &mut r);
        for j in 0..3 {
            r[j] += 2.0 / BETA * (whole[j] - one[j]);
        }
        engine.step(Active::All, averaging_of_step(gamma, BETA), &r);
        let g = gradient_of(i, &u);
        u.iter_mut().zip(&g).for_each(|(u, g)| *u -= gamma * g);
    }
    assert_equal(engine.u(), &u);
}

/// Noise σ on the operator is noise σβ/2 on the gradient (Proposition 1).
#[test]
fn noise_on_the_operator_is_noise_on_the_gradient() {
    let gamma = 0.5;
    let (mut engine, mut u) = (FixedPoint::whole(vec![0.0; 3]), vec![0.0; 3]);
    for k in 0..STEPS {
        let noise: Vec<f64> = (0..3).map(|j| ((k * 3 + j) as f64 * 1.7).sin()).collect();
        let mut r = gradient(engine.u());
        gradient_operator(engine.u(), BETA, &mut r);
        r.iter_mut().zip(&noise).for_each(|(r, e)| *r += e);
        engine.step(Active::All, averaging_of_step(gamma, BETA), &r);
        let g = gradient(&u);
        for j in 0..3 {
            u[j] -= gamma * (g[j] - BETA / 2.0 * noise[j]);
        }
    }
    assert_equal(engine.u(), &u);
}

#[test]
fn proximal_gradient_descent_is_an_instance() {
    let gamma = 0.7;
    let (mut engine, mut u) = (FixedPoint::whole(vec![0.0; 3]), vec![0.0; 3]);
    for _ in 0..STEPS {
        let mut r = gradient(engine.u());
        gradient_operator(engine.u(), 2.0 / gamma, &mut r);
        engine.step(Active::All, 1.0, &soft(&r, gamma * PENALTY));
        let g = gradient(&u);
        u.iter_mut().zip(&g).for_each(|(u, g)| *u -= gamma * g);
        u = soft(&u, gamma * PENALTY);
    }
    assert_equal(engine.u(), &u);
}

#[test]
fn coordinate_descent_is_an_instance() {
    let gamma = 0.7;
    let (mut engine, mut u) = (FixedPoint::coordinates(vec![0.0; 3]), vec![0.0; 3]);
    for k in 0..STEPS {
        let j = k * 2 % 3;
        let mut r = gradient(engine.u());
        gradient_operator(engine.u(), BETA, &mut r);
        engine.step(Active::One(j), averaging_of_step(gamma, BETA), &r);
        u[j] -= gamma * gradient(&u)[j];
    }
    assert_equal(engine.u(), &u);
}

/// Boyd et al. 2011, section 3.1.1 (scaled form), whose `x + w` is the `u` of the engine at λ = ½.
#[test]
fn admm_is_an_instance() {
    let gamma = 0.8;
    let mut engine = FixedPoint::whole(vec![0.0; 3]);
    let (mut z, mut w, mut u) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; 3]);
    for _ in 0..STEPS {
        let u_engine = engine.u().to_vec();
        let z_engine = soft(&u_engine, gamma * PENALTY);
        let reflected: Vec<f64> =
            z_engine.iter().zip(&u_engine).map(|(z, u)| 2.0 * z - u).collect();
        let mut r = prox_f(&reflected, gamma);
        lions_mercier(&u_engine, &z_engine, &mut r);
        engine.step(Active::All, 0.5, &r);

        // One round of the textbook: z from u = x + w, then w, then x.
        z = soft(&u, gamma * PENALTY);
        w = u.iter().zip(&z).map(|(u, z)| u - z).collect();
        let x = prox_f(&z.iter().zip(&w).map(|(z, w)| z - w).collect::<Vec<_>>(), gamma);
        u = x.iter().zip(&w).map(|(x, w)| x + w).collect();
    }
    assert_equal(engine.u(), &u);
    // And it has arrived where proximal gradient descent arrives: x = prox(x − γ∇f(x)).
    let g = gradient(&z);
    let again =
        soft(&z.iter().zip(&g).map(|(z, g)| z - 0.5 * g).collect::<Vec<_>>(), 0.5 * PENALTY);
    assert!(z.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-9), "{z:?} {again:?} {w:?}");
}

//! What every constraint must obey, run over the whole catalogue.

use super::*;
use crate::{Edge, Graph};
use proptest::prelude::*;

const EDGES: &str = "f0 f1\nf1 f2 -\n0 3 2.5\nf2 f4 -0.5 # strong\n";
const ENTRIES: &str = "0 f0 1.5\n1 f1 -2\n1 3 1\n1 3 1\n4 f4 0.25\n";

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("f{i}")).collect()
}

fn read_test_file(name: &str) -> io::Result<String> {
    match name {
        "edges.txt" => Ok(EDGES.to_owned()),
        "entries.txt" => Ok(ENTRIES.to_owned()),
        "bad.txt" => Ok("f0 f1\nf0 nowhere 1\n".to_owned()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    }
}

fn parsed(text: &str, features: usize) -> Result<Constraint, ParseError> {
    parse(text, &ConstraintContext { features: &names(features), read: &read_test_file })
}

const TEXTS: &[&str] = &[
    "identity",
    "chain",
    "trend:0",
    "trend:1",
    "trend:3",
    "graph:edges.txt",
    "matrix:entries.txt",
];

fn members() -> Vec<Constraint> {
    TEXTS.iter().map(|t| parsed(t, 6).unwrap()).collect()
}

fn dense(a: &SparseMatrix) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; a.columns()]; a.rows()];
    for (r, c, v) in a.triplets() {
        rows[r][c] = v;
    }
    rows
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `A x` and `Aᵀ y` against a dense product, column by column, and `⟨Ax, y⟩ = ⟨x, Aᵀy⟩`.
fn check_against_dense(a: &SparseMatrix, width: usize, numbers: &[f64]) {
    let (m, n) = (a.rows(), a.columns());
    let x: Vec<f64> = numbers.iter().cycle().take(n * width).copied().collect();
    let y: Vec<f64> = numbers.iter().rev().cycle().take(m * width).copied().collect();
    let (mut ax, mut aty) = (vec![f64::NAN; m * width], vec![f64::NAN; n * width]);
    a.apply(&x, width, &mut ax);
    a.apply_transpose(&y, width, &mut aty);
    let d = dense(a);
    for k in 0..width {
        for (i, row) in d.iter().enumerate() {
            let expected: f64 = (0..n).map(|j| row[j] * x[j * width + k]).sum();
            assert!((ax[i * width + k] - expected).abs() < 1e-12);
        }
        for j in 0..n {
            let expected: f64 = (0..m).map(|i| d[i][j] * y[i * width + k]).sum();
            assert!((aty[j * width + k] - expected).abs() < 1e-12);
        }
    }
    let (left, right) = (dot(&ax, &y), dot(&x, &aty));
    assert!((left - right).abs() <= 1e-12 * (1.0 + left.abs()), "{left} {right}");
}

/// The largest eigenvalue of `AᵀA` from below, by many power steps.
fn gram_norm_from_below(a: &SparseMatrix) -> f64 {
    let mut v: Vec<f64> = (0..a.columns()).map(|j| 1.0 + 0.37 * (j as f64 * 1.7).sin()).collect();
    let mut av = vec![0.0; a.rows()];
    let mut next = v.clone();
    let mut value = 0.0;
    for _ in 0..2000 {
        let size = dot(&v, &v).sqrt();
        if size == 0.0 {
            return 0.0;
        }
        v.iter_mut().for_each(|v| *v /= size);
        a.apply(&v, 1, &mut av);
        a.apply_transpose(&av, 1, &mut next);
        value = dot(&av, &av);
        std::mem::swap(&mut v, &mut next);
    }
    value
}

#[test]
fn catalogue_is_whole_and_descriptions_round_trip() {
    assert_eq!(CATALOGUE.len(), 5);
    for entry in CATALOGUE {
        assert!(members().iter().any(|c| c.name() == entry.name), "{} is not tested", entry.name);
    }
    for (constraint, text) in members().iter().zip(TEXTS) {
        assert_eq!(constraint.spec(), *text);
        assert_eq!(parsed(constraint.spec(), 6).unwrap(), *constraint);
    }
    assert_eq!(parsed("trend", 6).unwrap().spec(), "trend:1");
}

#[test]
fn matrices_are_the_ones_meant() {
    let chain = dense(Constraint::chain(3).unwrap().a());
    assert_eq!(chain, [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]);
    let trend = dense(Constraint::trend(4, 1.0).unwrap().a());
    assert_eq!(trend, [[1.0, -2.0, 1.0, 0.0], [0.0, 1.0, -2.0, 1.0]]);
    let cubic = dense(Constraint::trend(5, 2.0).unwrap().a());
    assert_eq!(cubic, [[-1.0, 3.0, -3.0, 1.0, 0.0], [0.0, -1.0, 3.0, -3.0, 1.0]]);
    assert_eq!(Constraint::chain(9).unwrap().a(), Constraint::trend(9, 0.0).unwrap().a());
    let edges = vec![Edge { from: 0, to: 1, weight: 2.0 }, Edge { from: 2, to: 1, weight: -3.0 }];
    let graph = dense(Constraint::graph(&Graph::new(3, edges).unwrap()).a());
    assert_eq!(
        graph,
        [[2.0, -2.0, 0.0], [0.0, 3.0, 3.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    );
    let matrix = dense(parsed("matrix:entries.txt", 5).unwrap().a());
    assert_eq!(matrix[1], [0.0, -2.0, 0.0, 2.0, 0.0]);
    assert_eq!((matrix.len(), &matrix[2]), (5, &vec![0.0; 5]));
}

/// Trend filtering of order k leaves polynomials of degree k alone.
#[test]
fn trend_ignores_polynomials() {
    for order in 0..=4 {
        let constraint = Constraint::trend(12, f64::from(order)).unwrap();
        let x: Vec<f64> = (0..12).map(|j| (f64::from(j) - 3.0).powi(order)).collect();
        let mut y = vec![f64::NAN; constraint.a().rows()];
        constraint.a().apply(&x, 1, &mut y);
        assert!(y.iter().all(|v| v.abs() < 1e-9), "{y:?}");
        let one_more: Vec<f64> = (0..12).map(|j| f64::from(j).powi(order + 1)).collect();
        constraint.a().apply(&one_more, 1, &mut y);
        assert!(y.iter().all(|v| v.abs() > 0.5), "{y:?}");
    }
}

#[test]
fn a_path_graph_is_the_chain_over_the_identity() {
    let graph = dense(Constraint::graph(&Graph::path(4)).a());
    let chain = dense(Constraint::chain(4).unwrap().a());
    for (g, c) in graph.iter().zip(&chain) {
        assert!(g.iter().zip(c).all(|(g, c)| *g == -c));
    }
    assert_eq!(graph[3..], dense(&SparseMatrix::identity(4)));
}

#[test]
fn products_and_norms_of_every_member() {
    let numbers: Vec<f64> = (0..17).map(|i| ((i * i) as f64 * 0.7).sin() * 3.0).collect();
    for constraint in members() {
        check_against_dense(constraint.a(), 1, &numbers);
        check_against_dense(constraint.a(), 3, &numbers);
        let below = gram_norm_from_below(constraint.a());
        let bound = constraint.gram_norm();
        assert!(below <= bound, "{}: {below} > {bound}", constraint.spec());
        assert!(bound <= 1.25 * below, "{}: {bound} is far above {below}", constraint.spec());
    }
    assert_eq!(Constraint::identity(5).gram_norm(), 1.0);
    // Close to 4^{k+1}, the limit for a long chain.
    for order in 0..=3 {
        let bound = Constraint::trend(200, f64::from(order)).unwrap().gram_norm();
        let limit = 4f64.powi(order + 1);
        assert!(bound <= limit * (1.0 + 1e-10) && bound > 0.9 * limit, "{bound}");
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let message = |text, n| parsed(text, n).unwrap_err().to_string();
    assert_eq!(message("chain", 1), "`chain` does not fit 1 features: it needs at least 2");
    assert_eq!(message("trend:2", 3), "`trend:2` does not fit 3 features: it needs at least 4");
    assert!(message("trend:-1", 9).contains("a whole number from 0 to 8"));
    assert!(message("trend:1.5", 9).contains("a whole number"));
    assert!(message("grpah:edges.txt", 9).contains("did you mean `graph`?"));
    assert!(message("graph", 9).contains("the name of a file"));
    assert!(message("graph:gone.txt", 9).starts_with("cannot read `gone.txt`: "));
    assert!(message("graph:bad.txt", 9).starts_with("`bad.txt`, line 2: `nowhere` is no feature"));
    assert!(message("matrix:bad.txt", 9).starts_with("`bad.txt`, line 1: 2 words"));
    assert!(message("graph:edges.txt", 3).contains("line 3"));
    assert!(SparseMatrix::parse("# nothing\n", &names(2)).is_err());
    assert!(SparseMatrix::parse("99999999999999 f0 1\n", &names(2)).is_err());
    assert!(SparseMatrix::parse("0 f0 inf\n", &names(2)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn random_matrices(
        rows in 1..8usize,
        columns in 1..8usize,
        width in 1..4usize,
        entries in prop::collection::vec((0..8usize, 0..8usize, -2.0..2.0f64), 0..30),
        numbers in prop::collection::vec(-3.0..3.0f64, 11),
    ) {
        let inside: Vec<_> = entries.into_iter().filter(|e| e.0 < rows && e.1 < columns).collect();
        let a = SparseMatrix::from_triplets(rows, columns, &inside);
        for (r, row) in dense(&a).iter().enumerate() {
            for (c, v) in row.iter().enumerate() {
                let sum: f64 = inside.iter().filter(|e| (e.0, e.1) == (r, c)).map(|e| e.2).sum();
                prop_assert!((v - sum).abs() < 1e-14);
            }
        }
        check_against_dense(&a, width, &numbers);
        prop_assert!(gram_norm_from_below(&a) <= a.gram_norm_bound());
    }
}

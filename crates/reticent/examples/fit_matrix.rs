//! Fits what is in memory: a dense matrix, and a sparse one with several rows for each person.
//!
//! ```sh
//! cargo run -p reticent --example fit_matrix
//! ```

use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Error, Fit, Prediction, Run, Unit};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    dense()?;
    sparse()
}

/// Two columns, `age` and `dose`, row by row. The bounds are public; values are clipped to them.
fn dense() -> Result<(), Error> {
    let (n, d) = (2_000, 2);
    let x: Vec<f64> =
        (0..n).flat_map(|i| [(i * 37 % 80) as f64, (i * 53 % 101) as f64 / 10.0]).collect();
    let y: Vec<u32> = x.chunks(d).map(|row| u32::from(row[0] + 4.0 * row[1] > 60.0)).collect();

    let bounds = [(0.0, 80.0), (0.0, 10.0)];
    let schema =
        Schema::bounded(&bounds, Target::classes(["well", "ill"])?)?.named(["age", "dose"])?;
    let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).check()?;
    let data = Dataset::dense(&x, n, d)?.with_targets(&y)?;
    let model = job.fit(&data)?.model;

    let asked = Dataset::dense(&[70.0, 9.0, 5.0, 1.0][..], 2, 2)?;
    for prediction in model.predict_dataset(&asked)? {
        if let Prediction::Class { class, probabilities } = prediction {
            println!("{class}: {probabilities:.3?}");
        }
    }
    Ok(())
}

/// Compressed sparse rows of 50 features, of 300 persons with four rows each. Without bounds, rows
/// are scaled into a norm.
fn sparse() -> Result<(), Error> {
    let (persons, each) = (300, 4);
    let n = persons * each;
    let indptr: Vec<usize> = (0..=n).map(|i| 2 * i).collect();
    let indices: Vec<u32> =
        (0..n).flat_map(|i| [(i % 25) as u32, (25 + i * 7 % 25) as u32]).collect();
    let values = vec![1.0; 2 * n];
    let y: Vec<f64> = (0..n).map(|i| (i % 25) as f64).collect();
    let owners: Vec<u64> = (0..n).map(|i| (i / each) as u64).collect();

    let schema = Schema::sparse_of_norm(50, 1.5, Target::range(0.0, 24.0)?)?;
    let job = Fit::new(schema).unit(Unit::User).budget(Budget::new(2.0, 1e-5)?).check()?;
    let data =
        Dataset::csr(&indptr, &indices, &values, 50)?.with_targets(&y)?.with_owners(&owners)?;

    // Whoever keeps books of several fits looks at the plan before anything is asked.
    let ready = job.open(&data, &mut Run::default())?;
    println!("{} entries will be made", ready.plan().map_or(0, |plan| plan.entries().len()));
    let certificate = ready.run(Run::default())?.model.certificate().clone();
    println!("{}", certificate.meaning);
    assert_eq!((certificate.unit, certificate.population), (Unit::User, persons as u64));
    Ok(())
}

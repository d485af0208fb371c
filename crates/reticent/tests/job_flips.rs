//! A byte of a job file is another one than it was, 400 times: the file is refused or read, and
//! nothing panics. Fixed seed.
#![allow(clippy::unwrap_used)]

use reticent::{JobFile, Spec};

const JOB: &str = "data = \"patients.csv\"\nmore-data = [\"more.csv\"]\nschema = \"schema.toml\"\ntarget = \"stroke\"\n\
                   epsilon = 0.5\ndelta = 1e-6\npenalty = \"l1:1e-4\"\nsampling = \"poisson:0.1\"\niterations = 200\n\
                   max-line = 1000000\ntune = [\"clip=[1,2]\"]\nstep = 0.5\nout = \"sampled\"\n";

#[test]
fn a_damaged_job_file_is_refused_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.toml");
    let mut state = 5_u64;
    let mut below = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut refused = 0;
    for flip in 0..400 {
        let mut damaged = JOB.as_bytes().to_vec();
        let at = below(damaged.len());
        damaged[at] ^= if flip % 2 == 0 { 1 << below(8) } else { 1 + below(255) as u8 };
        std::fs::write(&path, damaged).unwrap();
        match JobFile::<Spec>::read(&path) {
            // What can be found out without the table is; the table of this job does not exist.
            Ok(file) => drop(file.job.check()),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0, "the damage must be seen");
}

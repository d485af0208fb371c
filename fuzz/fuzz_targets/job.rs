//! A job file is refused or read, and a job that was read is refused or checked: never a panic.
//! Nothing but the file itself is there to be read, so no job gets as far as its table.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent::simulate::SimulationSpec;
use reticent::{JobFile, Spec};

fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("job.toml");
    if std::fs::write(&path, bytes).is_ok() {
        let _ = JobFile::<Spec>::read(&path).and_then(|file| file.job.check());
        let _ = JobFile::<SimulationSpec>::read(&path).and_then(|file| file.job.check());
    }
});

#[cfg(not(feature = "run"))]
fn main() {}

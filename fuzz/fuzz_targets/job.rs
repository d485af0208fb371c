//! A job file is refused or read, and a job that was read is refused or checked: never a panic.
//! Nothing but the file itself is there to be read, so no job gets as far as its table.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent::Spec;
use reticent::simulate::Simulation;

fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("job.toml");
    if std::fs::write(&path, bytes).is_ok() {
        let _ = Spec::read(&path).and_then(|spec| spec.check());
        let _ = Simulation::read(&path).and_then(|simulation| simulation.job.check());
    }
});

#[cfg(not(feature = "run"))]
fn main() {}

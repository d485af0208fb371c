//! Time and peak memory of reading a file: `measure FILE SCHEMA [TARGET]`; without a schema, drafts
//! one from FILE and prints it.

use reticent_data::{DraftOptions, Schema, draft_from_public, load};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, rest @ ..] = args.as_slice() else {
        return Err("measure FILE [SCHEMA [TARGET]]".into());
    };
    let Some(schema) = rest.first() else {
        print!("{}", draft_from_public(Path::new(file), &DraftOptions::default(), &[0; 32])?.toml);
        return Ok(());
    };
    let schema = Schema::read(Path::new(schema))?;
    let start = Instant::now();
    let table = load(Path::new(file), None, &schema, rest.get(1).map(String::as_str), None)?;
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    let shape = (table.len(), table.names.len());
    println!(
        "{file}: {shape:?} in {seconds:.3} s, table {:.1} MB, {peak}",
        table.bytes() as f64 / 1e6
    );
    Ok(())
}

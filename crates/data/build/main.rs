//! Tells the crate which sources it is made of: a cache file that is kept is of one build, see
//! `src/cache/encoding.rs`.

mod sources;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=build");
    let digest = sources::digest(std::path::Path::new("src"))?;
    println!("cargo::rustc-env=RETICENT_DATA_SOURCES={digest}");
    Ok(())
}

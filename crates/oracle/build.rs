//! `RETICENT_SEEDED_BUGS=1` compiles known defects in, for audits to find: never in a release. Not a
//! feature, which any dependant could switch on for all others.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(reticent_seeded_bugs)");
    println!("cargo::rerun-if-env-changed=RETICENT_SEEDED_BUGS");
    if std::env::var_os("RETICENT_SEEDED_BUGS").is_some_and(|value| value == "1") {
        println!("cargo::rustc-cfg=reticent_seeded_bugs");
        println!("cargo::warning=known privacy defects are compiled in: never release this build");
    }
}

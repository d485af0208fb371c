//! Known defects, which exist in builds with `RETICENT_SEEDED_BUGS=1` alone (`make seeded-bugs`).

#[cfg(reticent_seeded_bugs)]
mod defects;

/// A build that was asked for the defects and has none would find none.
#[test]
fn the_defects_are_there_where_they_are_asked_for_and_only_there() {
    let asked = std::env::var("RETICENT_SEEDED_BUGS").is_ok_and(|value| value == "1");
    assert_eq!(cfg!(reticent_seeded_bugs), asked);
}

//! More parties than one byte can number: what is run between them, and what is refused by name.

use reticent_host::{MOST_PARTIES, Roster, RunFile};

use super::peers::R_ADMM;
use super::world::{AUTO, World, assert_alike, options};

/// One more than the points of GF(2⁸), which shares of masks are at.
const MANY: u32 = 257;

const ONE_STEP: &str = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 1\n";

/// A round of so many is the round of one process, to the bit; masks and nodes are refused before anybody is
/// called.
#[test]
fn parties_that_no_byte_numbers_have_the_bits_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), MANY, ONE_STEP, "local");
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(&options(), listener, &dialers);
    let simulated = world.simulated();
    assert!(led.unwrap().without.is_empty());
    for own in [0, 255, 256] {
        assert_alike(&joined[own].as_ref().unwrap().joined.model, &simulated);
    }
    assert!(joined.iter().all(Result::is_ok));
    for (job, trust, why) in [
        (AUTO, "secure-aggregation", "at most 255 parties"),
        (R_ADMM, "local", "between at most 256"),
    ] {
        World::found(folder.path(), MANY, job, trust).write_run("other.toml", job);
        let refused = RunFile::read(&world.at("other.toml")).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    World::found(folder.path(), MANY, AUTO, "central").write_run("other.toml", AUTO);
    assert!(RunFile::read(&world.at("other.toml")).is_ok());
}

#[test]
fn a_roster_of_too_many_is_refused_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("roster.toml");
    let member = "name = \"x\"\nkey = \"00\"\n";
    let parties = format!("[[party]]\n{member}").repeat(MOST_PARTIES + 1);
    let text = format!("format = 1\nstudy = \"s\"\n[lead]\n{member}address = \"a:1\"\n{parties}");
    std::fs::write(&path, text).unwrap();
    let refused = Roster::read(&path).unwrap_err().to_string();
    assert!(refused.contains(&format!("more than {MOST_PARTIES} parties")), "{refused}");
}

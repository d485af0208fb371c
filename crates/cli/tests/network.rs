//! Three hospitals and a lead, as they are typed: processes of their own, on loopback.
#![cfg(feature = "network")]
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::Path;

use crate::common::Folder;

fn examples() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    root.join("examples/hospitals-network").display().to_string()
}

fn prepared() -> Folder {
    trusting("central")
}

/// The same with a lead that is trusted with this, and may be said an algorithm.
fn trusting(words: &str) -> Folder {
    let folder = Folder::new();
    let said = folder.shell(&format!(
        "sh {}/prepare.sh h {} {words}",
        examples(),
        reticent_testkit::free_port()
    ));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    folder
}

#[test]
fn three_hospitals_and_a_lead_come_to_one_model_and_each_pays_once() {
    let folder = prepared();
    let said = folder.shell(&format!("sh {}/start.sh h", examples()));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let model = |member: &str| folder.read(&format!("h/{member}/model/model.json"));
    assert!(model("lead").contains("\"signature\""));
    for member in ["north", "east", "south"] {
        assert_eq!(model(member), model("lead"), "{member}");
        let said = folder.shell(&format!("reticent --json budget show h/{member}/budget"));
        assert_eq!(said.out.matches("\"settled\"").count(), 1, "{}", said.out);
    }
    let said = folder.shell("reticent verify h/north/model/model.json --key h/lead/key.pub");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let said = folder.shell("reticent --json run status h/north/journal");
    assert!(said.out.contains("\"stage\":\"over\""), "{}", said.out);
    assert_eq!(folder.shell("reticent run forfeit h/north/journal").code, 2);
    // It is over: the same command hands the model over again, and nothing is paid.
    let again = "reticent --json join h/run.toml --party h/north/party.toml --force";
    let said = folder.shell(again);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("\"job\":") && !said.out.contains("\"job\":null"), "{}", said.out);
    a_model_that_cannot_be_written_exits_with_4(&folder);
}

/// It exited with 2, as if nothing had been paid. Without mounts there is no full disk to try it on.
fn a_model_that_cannot_be_written_exits_with_4(folder: &Folder) {
    if folder.shell("unshare -rm true").code != 0 {
        return eprintln!("skipped: no mounts without privileges");
    }
    let commands = [
        ("north", "reticent join h/run.toml --party h/north/small.toml"),
        (
            "lead",
            "reticent lead h/run.toml --key h/lead/key --journal h/lead/journal --out h/lead/small/model",
        ),
    ];
    let small = "sed \"s|^out.*|out = 'small/model'|\" h/north/party.toml > h/north/small.toml; mkdir h/north/small h/lead/small";
    assert_eq!(folder.shell(small).code, 0);
    for (member, command) in commands {
        let full = format!(
            "mount -t tmpfs -o size=4k tmpfs h/{member}/small; head -c 4096 /dev/zero > h/{member}/small/taken"
        );
        let said = folder.shell(&format!("unshare -rm sh -c '{full}; {command}'"));
        assert_eq!(said.code, 4, "{}{}", said.out, said.err);
        assert!(
            said.err.contains("the run is over, but") && said.err.contains("journal"),
            "{}",
            said.err
        );
        let said = folder.shell(command);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let (first, second) =
            (format!("h/{member}/model/model.json"), format!("h/{member}/small/model/model.json"));
        assert_eq!(folder.read(&first), folder.read(&second));
    }
}

/// A lead that is not trusted: everybody has the same numbers, and each hospital a certificate of its own.
#[test]
fn three_hospitals_that_do_not_trust_the_lead_each_certify_their_own_noise() {
    for trust in ["local", "secure-aggregation"] {
        let folder = trusting(trust);
        let said = folder.shell(&format!("sh {}/start.sh h", examples()));
        assert_eq!(said.code, 0, "{trust}: {}{}", said.out, said.err);
        let model = |member: &str| -> serde_json::Value {
            serde_json::from_str(&folder.read(&format!("h/{member}/model/model.json"))).unwrap()
        };
        let lead = model("lead");
        for member in ["north", "east", "south"] {
            let own = model(member);
            assert_eq!(own["coefficients"], lead["coefficients"], "{trust}: {member}");
            assert_eq!(own["certificate"]["certified"], true);
            assert_eq!(own["certificate"]["ledger"], lead["certificate"]["ledger"]);
            assert_ne!(own["certificate"]["signature"], lead["certificate"]["signature"]);
            let model = format!("h/{member}/model/model.json");
            let said = folder.shell(&format!("reticent verify {model} --key h/{member}/key.pub"));
            assert_eq!(said.code, 0, "{}{}", said.out, said.err);
            let said = folder.shell(&format!("reticent verify {model} --key h/lead/key.pub"));
            assert_ne!(said.code, 0, "the lead vouches for no party's noise");
            let said = folder.shell(&format!("reticent --json budget show h/{member}/budget"));
            assert_eq!(said.out.matches("\"settled\"").count(), 1, "{}", said.out);
        }
    }
}

/// A key of a party is rotated as it is typed: everybody signs anew, and the run is that of the new roster.
#[test]
fn a_key_is_rotated_by_the_old_one_and_everybody_signs_anew() {
    let folder = prepared();
    let ran = |command: &str| {
        let said = folder.shell(command);
        assert_eq!(said.code, 0, "{command}: {}{}", said.out, said.err);
        said.out
    };
    let before = ran("reticent --json roster show h/roster.toml");
    assert!(before.contains("\"rotated_from\":null") && !before.contains("\"signed\":false"));
    let old = ran("reticent identity show h/north/key").trim().to_owned();
    ran("reticent identity new h/north/new");
    let rotate =
        "reticent roster rotate h/roster.toml --name north --to h/north/new.pub --identity";
    for (command, words) in [
        (format!("{rotate} h/south/key"), "is not the key of north"),
        (format!("{rotate} h/north/new"), "is not the key of north"),
        (rotate.replace("north --to", "west --to") + " h/north/key", "it has no member west"),
        (rotate.replace("new.pub", "key.pub") + " h/north/key", "north has that key already"),
        (rotate.replace("north/new.pub", "lead/key.pub") + " h/north/key", "another member"),
    ] {
        let said = folder.shell(&command);
        assert_eq!(said.code, 2, "{command}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{command}: {}", said.err);
    }
    assert_eq!(ran("reticent --json roster show h/roster.toml"), before);
    ran("cp h/roster.toml h/replaced.toml");
    ran(&format!("{rotate} h/north/key"));
    let shown = ran("reticent roster show h/roster.toml");
    let rotated = format!("not signed  key rotated, signed by the old one ({}…)", &old[..16]);
    assert!(shown.contains(&rotated), "{shown}");
    assert_eq!(shown.matches("not signed").count(), 4, "{shown}");
    let shown = ran("reticent --json roster show h/roster.toml");
    assert!(shown.contains(&format!("\"rotated_from\":\"{old}\"")), "{shown}");
    ran("sed -i 's/^key = .*/key = \"new\"/' h/north/party.toml");
    let join = folder.shell("reticent join h/run.toml --party h/north/party.toml");
    assert!(join.code == 2 && join.err.contains("you have not signed it"), "{}", join.err);
    let stale = folder.shell("reticent roster sign h/roster.toml --key h/north/key");
    assert!(stale.code == 2 && stale.err.contains("is not in it"), "{}", stale.err);
    for key in ["lead/key", "north/new", "east/key", "south/key"] {
        ran(&format!("reticent roster sign h/roster.toml --key h/{key}"));
    }
    a_roster_that_was_replaced_is_refused(&folder);
    ran(&format!("sh {}/start.sh h", examples()));
    ran("reticent verify h/north/model/model.json --key h/lead/key.pub");
    // What is over stays with the roster that it was of, whatever is signed later.
    ran("cp h/roster.toml h/kept.toml; reticent roster strike h/roster.toml --name south");
    let said = folder.shell("reticent roster sign h/roster.toml --key h/east/key");
    assert!(said.code == 0 && said.err.contains("had signed another roster"), "{}", said.err);
    ran("cp h/kept.toml h/roster.toml; reticent join h/run.toml --party h/east/party.toml --force");
    // One digit of what the old key has signed.
    ran("sed -i '/rotated/,/signature/s/^signature = \".*/signature = \"00\"/' h/roster.toml");
    let said = folder.shell("reticent roster show h/roster.toml");
    assert!(said.err.contains("its old key has not signed the new one"), "{}", said.err);
}

/// It is signed by all, for good, and has a key that may be a thief's: who shows it again has nobody go by it.
fn a_roster_that_was_replaced_is_refused(folder: &Folder) {
    assert_eq!(
        folder.shell("mv h/roster.toml h/new.toml; cp h/replaced.toml h/roster.toml").code,
        0
    );
    let shown = folder.shell("reticent --json roster show h/roster.toml").out;
    assert!(!shown.contains("\"signed\":false"), "{shown}");
    for (command, words) in [
        (
            "reticent join h/run.toml --party h/south/party.toml",
            "another one of this study after it",
        ),
        (
            "reticent lead h/run.toml --key h/lead/key --journal h/lead/journal --out h/lead/model",
            "another one of this study after it",
        ),
        ("reticent roster sign h/roster.toml --key h/south/key", "a key that was given up"),
    ] {
        let said = folder.shell(command);
        assert_eq!(said.code, 2, "{command}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{command}: {}", said.err);
    }
    let said = folder.shell("reticent --json budget show h/south/budget");
    assert!(!said.out.contains("\"open\""), "{}", said.out);
    assert_eq!(folder.shell("mv h/new.toml h/roster.toml").code, 0);
}

#[test]
fn what_is_not_agreed_on_is_refused_as_it_is_typed() {
    let folder = prepared();
    let refused = |command: &str, code: i32, words: &str| {
        let said = folder.shell(command);
        assert_eq!(said.code, code, "{command}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{command}: {}", said.err);
    };
    let join = "reticent join h/run.toml --party h/north/party.toml";
    let lead = "reticent lead h/run.toml --journal h/j --out h/m --key";
    refused(&format!("{lead} h/north/key"), 2, "the key is not the lead's");
    refused(&format!("{lead} h/lead/none"), 2, "cannot read the key");
    refused(
        "reticent roster add h/roster.toml --name north --key h/lead/key.pub",
        2,
        "another member",
    );
    refused(
        "reticent roster new h/roster.toml --study s --key h/lead/key.pub --address a:1",
        2,
        "already",
    );
    let shown = folder.shell("reticent identity show h/north/key").out;
    assert_eq!(shown, folder.shell("reticent identity show h/north/key.pub").out);
    assert!(folder.shell("reticent --json roster show h/roster.toml").out.contains(shown.trim()));
    // Whoever adds somebody has everybody sign anew.
    folder.shell("reticent identity new h/west; cp h/roster.toml h/kept.toml");
    folder.shell("reticent roster add h/roster.toml --name west --key h/west.pub");
    refused(join, 2, "you have not signed it");
    // And whoever strikes somebody.
    refused("reticent roster strike h/roster.toml --name nobody", 2, "it has no party nobody");
    folder.shell("cp h/kept.toml h/roster.toml; reticent roster strike h/roster.toml --name east");
    let shown = folder.shell("reticent --json roster show h/roster.toml").out;
    assert!(shown.contains("south") && !shown.contains("east"), "{shown}");
    refused(join, 2, "you have not signed it");
    folder.shell(
        "cp h/kept.toml h/roster.toml; sed -i 's/^algorithm.*/algorithm = \"admm-network\"/' h/run.toml",
    );
    refused(join, 2, "reticent simulate");
    // Nobody leads: a named end, which may go on.
    folder.shell(
        "sed -i 's/^algorithm.*/algorithm = \"auto\"/; s/^patience.*/patience = 1/' h/run.toml",
    );
    refused(join, 5, "lead did not come within 1 s");
    let said = folder.shell("reticent --json budget show h/north/budget");
    assert!(!said.out.contains("\"settled\"") && !said.out.contains("\"open\""), "{}", said.out);
}

/// One hospital does not come: by default it is waited for, and the others begin without it where the run
/// file says so. Each asks for as many as it likes.
#[test]
fn hospitals_begin_without_one_that_does_not_come() {
    let folder = trusting("local");
    let patience = |seconds: u32| {
        folder.shell(&format!("sed -i 's/^patience.*/patience = {seconds}/' h/run.toml"));
        assert!(folder.read("h/run.toml").contains(&format!("patience = {seconds}")));
    };
    patience(1);
    let lead = "reticent --json lead h/run.toml --key h/lead/key --journal h/lead/journal --out h/lead/model --force";
    let said = folder.shell(lead);
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    assert!(said.out.contains("north, east, south did not come within 1 s"), "{}", said.out);
    let said = folder.shell("reticent run forfeit h/lead/journal --party south");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("whose run is on"), "{}", said.err);
    folder.shell("echo 'least = 4' >> h/run.toml");
    let said = folder.shell(lead);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.out.contains("least = 4") && said.out.contains("from 1 to 3"), "{}", said.out);
    folder.shell("sed -i 's/^least.*/least = 2/' h/run.toml");
    patience(20);
    let said = folder.shell(&format!(
        "for member in north east; do reticent --quiet join h/run.toml --party h/$member/party.toml & done; {lead}; \
         code=$?; wait; exit $code"
    ));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.err.contains("\"struck\"") && said.err.contains("south"), "{}", said.err);
    for (member, jobs) in [("north", 1), ("east", 1), ("south", 0)] {
        let said = folder.shell(&format!("reticent --json budget show h/{member}/budget"));
        assert_eq!(said.out.matches("\"settled\"").count(), jobs, "{member}: {}", said.out);
    }
    let said = folder.shell("reticent verify h/east/model/model.json --key h/east/key.pub");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

/// Peers: each hospital has a model and a certificate of its own, and the lead, who has carried what it
/// cannot read, has none.
#[test]
fn three_hospitals_are_peers_through_a_lead_that_reads_nothing() {
    for algorithm in ["r-admm", "walk"] {
        let folder = trusting(&format!("local {algorithm}"));
        let said = folder.shell(&format!("sh {}/start.sh h", examples()));
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("You have carried it"), "{}", said.out);
        assert_eq!(folder.shell("test -e h/lead/model/model.json").code, 1);
        for member in ["north", "east", "south"] {
            let verify =
                format!("reticent verify h/{member}/model/model.json --key h/{member}/key.pub");
            let said = folder.shell(&verify);
            assert_eq!(said.code, 0, "{}{}", said.out, said.err);
            let said = folder.shell(&format!("reticent --json budget show h/{member}/budget"));
            assert_eq!(said.out.matches("\"settled\"").count(), 1, "{}", said.out);
        }
        let said = folder.shell("reticent --json run status h/lead/journal");
        assert!(said.out.contains("\"stage\":\"over\""), "{}", said.out);
    }
}

/// FP23's federated ADMM with a lead that is trusted with every step, and with one that is trusted with nothing.
#[test]
fn three_hospitals_run_federated_under_both_kinds_of_sums() {
    for trust in ["central", "secure-aggregation"] {
        let folder = trusting(&format!("{trust} federated"));
        folder.shell("sed -i 's/^algorithm.*/&\niterations = 8/' h/run.toml");
        let said = folder.shell(&format!("sh {}/start.sh h", examples()));
        assert_eq!(said.code, 0, "{trust}: {}{}", said.out, said.err);
        let model = |member: &str| -> serde_json::Value {
            serde_json::from_str(&folder.read(&format!("h/{member}/model/model.json"))).unwrap()
        };
        let lead = model("lead");
        for member in ["north", "east", "south"] {
            let own = model(member);
            assert_eq!(own["coefficients"], lead["coefficients"], "{trust}: {member}");
            let certificate = &own["certificate"];
            assert_eq!(
                (&certificate["certified"], &certificate["view"]),
                (&true.into(), &trust.into())
            );
            assert_eq!(certificate["ledger"], lead["certificate"]["ledger"]);
            let verify =
                format!("reticent verify h/{member}/model/model.json --key h/{member}/key.pub");
            let said = folder.shell(&verify);
            assert_eq!(said.code, 0, "{}{}", said.out, said.err);
            let said = folder.shell(&format!("reticent --json budget show h/{member}/budget"));
            assert_eq!(said.out.matches("\"settled\"").count(), 1, "{}", said.out);
        }
    }
}

const LEAD: &str = "reticent --json lead h/run.toml --key h/lead/key --journal h/lead/journal --out h/lead/model --force";

/// Three hospitals and a lead of a run that is long enough to fall in the middle of it.
#[cfg(unix)]
struct Falling {
    folder: Folder,
    members: Vec<(&'static str, std::process::Child)>,
}

#[cfg(unix)]
impl Drop for Falling {
    fn drop(&mut self) {
        for (_, child) in &mut self.members {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(unix)]
impl Falling {
    fn new(words: &str, network: &str) -> Self {
        let folder = trusting(words);
        let long = format!(
            "sed -i 's/^algorithm.*/&\niterations = 200/' h/run.toml; echo '{network}' >> h/run.toml"
        );
        assert_eq!(folder.shell(&long).code, 0);
        let mut all = Falling { folder, members: Vec::new() };
        all.join("north");
        all.join("east");
        all.join("south");
        all.start("lead", LEAD);
        all
    }

    /// A process of its own, which writes what it says into files.
    fn start(&mut self, member: &'static str, command: &str) {
        let file = |end: &str| {
            std::fs::File::create(self.folder.path().join(format!("{member}.{end}"))).unwrap()
        };
        let program = assert_cmd::cargo::cargo_bin("reticent");
        let child = std::process::Command::new(program)
            .args(command.split(' ').skip(1))
            .current_dir(self.folder.path())
            .stdout(file("out"))
            .stderr(file("err"))
            .spawn();
        self.members.push((member, child.unwrap()));
    }

    fn join(&mut self, member: &'static str) {
        self.start(
            member,
            &format!("reticent join h/run.toml --party h/{member}/party.toml --force"),
        );
    }

    fn said(&self, member: &str) -> String {
        self.folder.read(&format!("{member}.out")) + &self.folder.read(&format!("{member}.err"))
    }

    /// Until the lead says that an iteration is over: then nobody is at the beginning or at the end.
    fn wait_for_the_middle(&self) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
        while !self.folder.read("lead.err").contains("\"iteration\"") {
            assert!(std::time::Instant::now() < until, "{}", self.said("lead"));
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// kill −9.
    fn kill(&mut self, member: &str) {
        let place = self.members.iter().position(|(own, _)| *own == member).unwrap();
        let (_, mut child) = self.members.remove(place);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The exit code of a member.
    fn code(&mut self, member: &str) -> i32 {
        let place = self.members.iter().position(|(own, _)| *own == member).unwrap();
        let (_, mut child) = self.members.remove(place);
        child.wait().unwrap().code().unwrap_or(-1)
    }
}

/// One hospital has left for good in the middle of a run: it is let go, the others come to a model, and when it
/// comes back it is told so, and has paid.
#[cfg(unix)]
#[test]
fn hospitals_go_on_without_one_that_is_forfeited_in_the_middle() {
    let mut all = Falling::new("local", "least = 2");
    all.wait_for_the_middle();
    all.kill("south");
    all.kill("lead");
    let said = all.folder.shell("reticent --json run status h/lead/journal");
    assert!(said.out.contains("\"stage\":\"begun\""), "{}", said.out);
    let said = all.folder.shell("reticent run forfeit h/lead/journal --party west");
    assert!(said.code == 2 && said.err.contains("no party west"), "{}", said.err);
    let said = all.folder.shell("reticent --json run forfeit h/lead/journal --party south");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("\"let_go\":\"south\""), "{}", said.out);
    all.join("south");
    all.start("lead", LEAD);
    for member in ["lead", "north", "east"] {
        assert_eq!(all.code(member), 0, "{member}: {}", all.said(member));
    }
    assert!(all.said("lead").contains("\"forfeited\""), "{}", all.said("lead"));
    assert_eq!(all.code("south"), 2, "{}", all.said("south"));
    assert!(all.said("south").contains("gone on without south"), "{}", all.said("south"));
    // Whoever was left out has answered, and so has paid.
    for member in ["north", "east", "south"] {
        let said = all.folder.shell(&format!("reticent --json budget show h/{member}/budget"));
        assert_eq!(said.out.matches("\"settled\"").count(), 1, "{member}: {}", said.out);
    }
    let said = all.folder.shell("reticent verify h/east/model/model.json --key h/east/key.pub");
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

/// Nobody is left out of a run of steps: the lead cannot let anybody go, and each member ends the run for itself.
#[cfg(unix)]
#[test]
fn a_run_of_steps_that_cannot_go_on_is_forfeited_by_each() {
    let mut all = Falling::new("secure-aggregation federated", "");
    all.wait_for_the_middle();
    ["south", "lead", "north"].into_iter().for_each(|member| all.kill(member));
    let said = all.folder.shell("reticent run forfeit h/lead/journal --party south");
    assert!(said.code == 2 && said.err.contains("nobody is left out"), "{}", said.err);
    for member in ["lead", "north"] {
        let said = all.folder.shell(&format!("reticent --json run forfeit h/{member}/journal"));
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        assert!(said.out.contains("\"stage\":\"ended\""), "{}", said.out);
    }
    let again = "reticent join h/run.toml --party h/north/party.toml --force";
    for command in [LEAD, again] {
        let said = all.folder.shell(command);
        assert_eq!(said.code, 2, "{}{}", said.out, said.err);
        let words = said.out + &said.err;
        assert!(words.contains("its operator has forfeited it"), "{words}");
    }
    let said = all.folder.shell("reticent --json budget show h/north/budget");
    assert!(said.out.contains("\"open\""), "what was answered stays counted: {}", said.out);
}

//! The last roster of each study that a key has signed, in a file beside the key.
//!
//! A signature does not expire. A roster that all have signed, and have replaced because a key was
//! stolen, is still signed by all: members without a memory could be made to trust the stolen key
//! again, under `trust = "central"` the key of a lead that reads their sums. So a member begins
//! runs only with the roster of a study that it has signed last; and it signs none with a key that
//! was given up, or with a second successor of one. Signing is what an operator does after
//! comparing fingerprints: nothing else changes the valid roster.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use reticent::internal::write_text;
use reticent_core::{from_hex, hex};
use serde::{Deserialize, Serialize};

use crate::error::{HostError, unread};
use crate::journal::RunJournal;
use crate::roster::Roster;

/// The ending of the file, behind the name of the key's.
const ENDING: &str = ".rosters";

/// The format of the file.
const FORMAT: u32 = 1;

/// The role of a member in a run. A journal of one role has nothing of a run of the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RunRole {
    Lead,
    Party,
}

impl RunRole {
    /// Whether the journal has a run of this role.
    fn has_run(self, journal: &RunJournal) -> Result<bool, HostError> {
        let names = match self {
            RunRole::Lead => ["begun", "over", "ended"],
            RunRole::Party => ["joined", "model", "ended"],
        };
        names.into_iter().try_fold(false, |found, name| Ok(found || journal.has(name)?))
    }
}

/// The last roster of each study that a key has signed.
#[derive(Clone, Debug, Default)]
pub struct SignedRosters {
    path: PathBuf,
    studies: Vec<SignedStudy>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedRostersFile {
    format: u32,
    #[serde(default, rename = "study")]
    studies: Vec<SignedStudy>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedStudy {
    name: String,
    /// The fingerprint of the roster that was signed last.
    roster: String,
    /// Keys that were rotated in a signed roster, and their successors.
    #[serde(default)]
    given_up: Vec<GivenUpKey>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenUpKey {
    key: String,
    to: String,
}

impl SignedRosters {
    /// The rosters signed with the key in this file; empty if there is no file beside it.
    ///
    /// # Errors
    /// If that file cannot be read, or is invalid.
    pub fn of_key(key: &Path) -> Result<Self, HostError> {
        let mut name = key.as_os_str().to_owned();
        name.push(ENDING);
        let path = PathBuf::from(name);
        let refuse = |reason: String| HostError::File { file: path.clone(), reason };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(SignedRosters { path, studies: Vec::new() });
            }
            Err(error) => return Err(refuse(unread(&error))),
        };
        let file: SignedRostersFile =
            toml::from_str(&text).map_err(|error| refuse(error.message().to_owned()))?;
        if file.format != FORMAT {
            return Err(refuse(format!("it is of format {}, and {FORMAT} is known", file.format)));
        }
        Ok(SignedRosters { path, studies: file.studies })
    }

    fn study(&self, roster: &Roster) -> Option<&SignedStudy> {
        self.studies.iter().find(|study| study.name == roster.study())
    }

    /// Makes this the valid roster of its study; it is on the disk when this returns. Returns
    /// whether there was another.
    ///
    /// # Errors
    /// If the roster has a key that was given up, or another successor of one, or the file cannot
    /// be written.
    pub fn sign(&mut self, roster: &Roster) -> Result<bool, HostError> {
        let before = self.study(roster).cloned();
        let mut given_up = before.as_ref().map_or(Vec::new(), |study| study.given_up.clone());
        for (member, key) in roster.members().zip(roster.all_keys()) {
            let (name, key) = (member.name.trim(), hex(key));
            if given_up.iter().any(|own| own.key == key) {
                return Err(roster.refused(format!(
                    "{name} has a key that was given up for another, in a roster that you have signed"
                )));
            }
            let old = member.rotated.as_ref().and_then(|rotated| from_hex::<32>(&rotated.key));
            let Some(own) = old.map(|old| GivenUpKey { key: hex(&old), to: key }) else { continue };
            match given_up.iter().find(|before| before.key == own.key) {
                Some(before) if before.to != own.to => {
                    return Err(roster.refused(format!(
                        "the old key of {name} has signed two new ones, and you have signed a roster with the other: \
                         ask {name} which is its own"
                    )));
                }
                Some(_) => {}
                None => given_up.push(own),
            }
        }
        let (name, roster) = (roster.study().to_owned(), roster.fingerprint());
        let newer = before.is_some_and(|before| before.roster != roster);
        self.studies.retain(|study| study.name != name);
        self.studies.push(SignedStudy { name, roster, given_up });
        self.write()?;
        Ok(newer)
    }

    fn write(&self) -> Result<(), HostError> {
        let file = SignedRostersFile { format: FORMAT, studies: self.studies.clone() };
        let text = toml::to_string(&file).map_err(|error| HostError::File {
            file: self.path.clone(),
            reason: error.to_string(),
        })?;
        Ok(write_text(&text, &self.path)?)
    }

    /// Refuses to begin a run with a roster that was replaced. A run that has begun keeps its
    /// roster.
    ///
    /// # Errors
    /// If another roster of this study was signed after it, or the journal cannot be read.
    pub(crate) fn allow(
        &self,
        roster: &Roster,
        (journal, role): (&RunJournal, RunRole),
    ) -> Result<(), HostError> {
        let Some(study) = self.study(roster).filter(|own| own.roster != roster.fingerprint())
        else {
            return Ok(());
        };
        if role.has_run(journal)? {
            return Ok(());
        }
        Err(roster.refused(format!(
            "you have signed another one of this study after it, with the fingerprint {}…, and begin nothing with \
             this one; `reticent roster sign` it again if it is meant",
            study.roster.get(..16).unwrap_or_default()
        )))
    }
}

#[cfg(test)]
mod tests {
    use reticent::Identity;

    use super::*;
    use crate::roster::RosterMember;

    struct Two {
        folder: tempfile::TempDir,
        lead: Identity,
        a: Identity,
    }

    impl Two {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let [lead, a] =
                ["lead", "a"].map(|name| Identity::create(&folder.path().join(name)).unwrap().0);
            Two { folder, lead, a }
        }

        fn new_key(&self, name: &str) -> Identity {
            Identity::create(&self.folder.path().join(name)).unwrap().0
        }

        fn roster(&self, study: &str) -> Roster {
            let roster = Roster::new(Path::new("r"), study, member("lead", &self.lead)).unwrap();
            roster.with(member("a", &self.a)).unwrap()
        }

        /// The rosters that the lead has signed, read again.
        fn signed(&self) -> Result<SignedRosters, HostError> {
            SignedRosters::of_key(&self.folder.path().join("lead"))
        }

        fn sign(&self, roster: &Roster) -> Result<bool, String> {
            self.signed().unwrap().sign(roster).map_err(|why| why.to_string())
        }

        fn begin(&self, roster: &Roster, journal: &RunJournal) -> Result<(), String> {
            self.begin_as(RunRole::Lead, roster, journal)
        }

        fn begin_as(
            &self,
            role: RunRole,
            roster: &Roster,
            journal: &RunJournal,
        ) -> Result<(), String> {
            self.signed().unwrap().allow(roster, (journal, role)).map_err(|why| why.to_string())
        }

        fn journal(&self, name: &str) -> RunJournal {
            RunJournal::open(&self.folder.path().join(name)).unwrap()
        }
    }

    fn member(name: &str, identity: &Identity) -> RosterMember {
        let (name, key) = (name.to_owned(), identity.public().text());
        let address = Some("127.0.0.1:1".to_owned());
        RosterMember { name, key, address, until: None, rotated: None }
    }

    #[test]
    fn a_roster_that_was_replaced_begins_no_run_until_it_is_signed_again() {
        let two = Two::new();
        let (old, other) = (two.roster("study"), two.roster("another study"));
        let b = two.new_key("b");
        let new = old.clone().with(member("b", &b)).unwrap();
        let journal = two.journal("journal");
        // Without a memory the signatures alone count, as in earlier versions.
        two.begin(&old, &journal).unwrap();
        assert_eq!(two.sign(&old), Ok(false));
        assert_eq!(two.sign(&other), Ok(false));
        two.begin(&old, &journal).unwrap();
        assert_eq!(two.sign(&old), Ok(false));
        assert_eq!(two.sign(&new), Ok(true));
        let refused = two.begin(&old, &journal).unwrap_err();
        assert!(refused.contains("another one of this study after it"), "{refused}");
        assert!(refused.contains(&new.fingerprint()[..16]), "{refused}");
        two.begin(&new, &journal).unwrap();
        two.begin(&other, &journal).unwrap();
        // The intended roster is signed again, after comparing it.
        assert_eq!(two.sign(&old), Ok(true));
        two.begin(&old, &journal).unwrap();
        assert!(two.begin(&new, &journal).is_err());
    }

    #[test]
    fn a_run_that_has_ended_or_is_on_is_not_held_up() {
        let two = Two::new();
        let old = two.roster("study");
        let new = old.clone().with(member("b", &two.new_key("b"))).unwrap();
        two.sign(&old).unwrap();
        two.sign(&new).unwrap();
        let mut journal = two.journal("journal");
        assert!(two.begin(&old, &journal).is_err());
        journal.commit(|change| change.set("ended", &"it has ended")).unwrap();
        two.begin(&old, &journal).unwrap();
    }

    /// In a journal of a lead's run, a replaced roster began another run, as a party.
    #[test]
    fn a_run_that_was_led_lets_no_party_begin_with_a_roster_that_was_replaced() {
        let two = Two::new();
        let old = two.roster("study");
        let new = old.clone().with(member("b", &two.new_key("b"))).unwrap();
        two.sign(&old).unwrap();
        two.sign(&new).unwrap();
        let roles =
            [(RunRole::Lead, RunRole::Party, "over"), (RunRole::Party, RunRole::Lead, "model")];
        for (own, other, name) in roles {
            let mut journal = two.journal(name);
            journal.commit(|change| change.set(name, &true)).unwrap();
            two.begin_as(own, &old, &journal).unwrap();
            assert!(two.begin_as(other, &old, &journal).is_err());
        }
    }

    #[test]
    fn a_key_that_was_given_up_is_never_signed_for_again() {
        let two = Two::new();
        let old = two.roster("study");
        let [new, newer, third] = ["new", "newer", "third"].map(|name| two.new_key(name));
        let rotated = old.clone().rotated("a", &two.a, &new.public()).unwrap();
        assert_eq!((two.sign(&old), two.sign(&rotated)), (Ok(false), Ok(true)));
        // The old roster, shown again to be signed again, and the old key as that of another
        // member.
        let given_up = "a key that was given up";
        assert!(two.sign(&old).unwrap_err().contains(given_up));
        let again = Roster::new(Path::new("r"), "study", member("lead", &two.lead)).unwrap();
        let again = again.with(member("b", &two.a)).unwrap();
        assert!(two.sign(&again).unwrap_err().contains(given_up));
        // Another study does not know the rotation: there the key is rotated separately.
        assert_eq!(two.sign(&two.roster("another study")), Ok(false));
        // A thief of the old key signs another successor.
        let thief = old.rotated("a", &two.a, &third.public()).unwrap();
        let refused = two.sign(&thief).unwrap_err();
        assert!(refused.contains("has signed two new ones"), "{refused}");
        // Later rotations stay: two in a row, and one beside it.
        let twice = rotated.clone().rotated("a", &new, &newer.public()).unwrap();
        assert_eq!((two.sign(&twice), two.sign(&twice)), (Ok(true), Ok(false)));
        assert!(two.sign(&rotated).unwrap_err().contains(given_up));
        // A refusal changes nothing.
        two.begin(&twice, &two.journal("journal")).unwrap();
    }

    #[test]
    fn a_memory_that_cannot_be_read_or_written_is_no_empty_one() {
        let two = Two::new();
        let roster = two.roster("study");
        let path = two.folder.path().join("lead.rosters");
        for text in ["format = 2\n", "formt = 1\n", "format = 1\n[[study]]\nname = \"study\"\n"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(two.signed(), Err(HostError::File { .. })), "{text}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(two.signed().is_err());
        std::fs::remove_dir(&path).unwrap();
        let mut nowhere = SignedRosters { path: path.join("in/a/file"), studies: Vec::new() };
        std::fs::write(&path, "").unwrap();
        assert!(nowhere.sign(&roster).is_err());
    }
}

//! A member's new key, signed by its old one: the owner of the old key has set the new one. A
//! signature cannot tell the member from a thief of the old key.

use reticent::{Identity, PublicKey};
use reticent_core::{from_hex, hex};
use reticent_noise::Hasher;
use serde::{Deserialize, Serialize};

/// The prefix of what is signed.
const PURPOSE: &[u8] = b"reticent key rotation signature v1\n";

/// The key of a member before its present one, and the signature of that key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotatedKey {
    /// The old public key: 32 bytes in hexadecimal digits.
    pub key: String,
    /// Its Ed25519 signature of the study, the member's name and both keys: 64 bytes in hexadecimal
    /// digits.
    pub signature: String,
}

impl RotatedKey {
    /// Signs by the old key that the member of this name has the new key in this study.
    pub(crate) fn signed(study: &str, name: &str, old: &Identity, new: &[u8; 32]) -> Self {
        let key = old.public().bytes();
        let signature = hex(&old.sign_message(&message(study, name, &key, new)));
        RotatedKey { key: hex(&key), signature }
    }

    /// The old key, if it has signed that the member of this name has the new key in this study.
    pub(crate) fn proven(&self, study: &str, name: &str, new: &[u8; 32]) -> Option<[u8; 32]> {
        let key = from_hex(&self.key)?;
        let signature = from_hex(&self.signature)?;
        let old = PublicKey::from_bytes(&key)?;
        old.has_signed(&message(study, name, &key, new), &signature).then_some(key)
    }
}

/// The signed bytes, which are valid for no other study, member or key.
fn message(study: &str, name: &str, old: &[u8; 32], new: &[u8; 32]) -> Vec<u8> {
    let mut hasher = Hasher::new("reticent key rotation");
    hasher.field(study.as_bytes()).field(name.as_bytes()).field(old).field(new);
    [PURPOSE, &hasher.finish()].concat()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::roster::{Roster, RosterMember};

    struct Three {
        folder: tempfile::TempDir,
        lead: Identity,
        a: Identity,
        b: Identity,
        new: Identity,
    }

    impl Three {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let [lead, a, b, new] = ["lead", "a", "b", "new"]
                .map(|name| Identity::create(&folder.path().join(name)).unwrap().0);
            Three { folder, lead, a, b, new }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("roster.toml")
        }

        fn roster(&self, study: &str) -> Roster {
            let lead = member("lead", &self.lead);
            let roster = Roster::new(&self.path(), study, lead).unwrap();
            roster.with(member("a", &self.a)).unwrap().with(member("b", &self.b)).unwrap()
        }

        fn read(&self, text: &str) -> Result<Roster, String> {
            std::fs::write(self.path(), text).unwrap();
            Roster::read(&self.path()).map_err(|error| error.to_string())
        }
    }

    fn member(name: &str, identity: &Identity) -> RosterMember {
        let (name, key) = (name.to_owned(), identity.public().text());
        let address = Some("127.0.0.1:1".to_owned());
        RosterMember { name, key, address, until: None, rotated: None }
    }

    #[test]
    fn a_rotated_key_is_read_again_and_signed_for_by_nobody_yet() {
        let three = Three::new();
        for (name, old) in [("a", &three.a), ("lead", &three.lead)] {
            let before = three.roster("study");
            let members = [&three.lead, &three.a, &three.b];
            let before = members.iter().fold(before, |roster, own| roster.sign(own).unwrap());
            before.signed_by_all(&three.b.public().bytes()).unwrap();
            let after = before.clone().rotated(name, old, &three.new.public()).unwrap();
            assert_ne!(after.digest(), before.digest());
            let keys =
                [&three.lead, &three.a, &three.b, &three.new].map(|own| own.public().bytes());
            assert!(keys.iter().all(|key| !after.is_signed_by(key)), "{name}");
            let read = three.read(&after.text().unwrap()).unwrap();
            assert_eq!(read, after);
            let said = read.members().find(|member| member.name == name).unwrap();
            assert_eq!(said.key, three.new.public().text());
            assert_eq!(said.rotated.as_ref().unwrap().key, old.public().text());
            // The old key belongs to nobody from then on; the new one signs.
            assert!(
                read.admits(&old.public().bytes(), 0).is_err() && read.clone().sign(old).is_err()
            );
            let now =
                members.map(|own| if own.public() == old.public() { &three.new } else { own });
            let signed = now.iter().fold(read, |roster, own| roster.sign(own).unwrap());
            signed.signed_by_all(&three.new.public().bytes()).unwrap();
            // The new key can be rotated too.
            let again = signed.rotated(name, &three.new, &old.public()).unwrap();
            assert_eq!(three.read(&again.text().unwrap()).unwrap(), again);
        }
    }

    #[test]
    fn what_rotates_no_key_of_the_member_is_refused_by_name() {
        let three = Three::new();
        let refused = |name: &str, old: &Identity, new: &Identity| {
            let rotated = three.roster("study").rotated(name, old, &new.public());
            rotated.unwrap_err().to_string()
        };
        assert!(refused("c", &three.a, &three.new).contains("it has no member c"));
        assert!(refused("a", &three.b, &three.new).contains("is not the key of a"));
        assert!(refused("a", &three.new, &three.new).contains("is not the key of a"));
        assert!(refused("a", &three.a, &three.a).contains("a has that key already"));
        assert!(refused("a", &three.a, &three.b).contains("has the key of another member"));
        assert!(refused("a", &three.a, &three.lead).contains("has the key of another member"));
        // No other member takes the old key, or keeps one that was given up.
        let roster = three.roster("study").rotated("a", &three.a, &three.new.public()).unwrap();
        let taken = roster.clone().with(member("c", &three.a)).unwrap_err().to_string();
        assert!(taken.contains("the old key of a is still a member's"), "{taken}");
        let taken = roster.rotated("b", &three.b, &three.a.public()).unwrap_err().to_string();
        assert!(taken.contains("the old key of a is still a member's"), "{taken}");
    }

    /// A thief of a key signs with it that another member is its successor too.
    #[test]
    fn an_old_key_has_one_successor_in_a_roster() {
        let three = Three::new();
        let roster = three.roster("study").rotated("a", &three.a, &three.new.public()).unwrap();
        let text = roster.text().unwrap();
        let key = three.b.public();
        let thief = RotatedKey::signed("study", "b", &three.a, &key.bytes());
        let rotated = toml::to_string(&thief).unwrap();
        let of_b = format!("key = \"{}\"\n", key.text());
        assert_eq!(text.matches(&of_b).count(), 1);
        let both = text.replace(&of_b, &format!("{of_b}\n[party.rotated]\n{rotated}"));
        let refused = three.read(&both).unwrap_err();
        assert!(refused.contains("the old key of b is another member's old key too"), "{refused}");
    }

    #[test]
    fn a_rotation_that_the_old_key_has_not_signed_for_this_member_is_refused() {
        let three = Three::new();
        let new = three.new.public();
        let roster = three.roster("study").rotated("a", &three.a, &new).unwrap();
        let text = roster.text().unwrap();
        let good = RotatedKey::signed("study", "a", &three.a, &new.bytes());
        assert_eq!(text.matches(&good.signature).count(), 1);
        assert!(three.read(&text).is_ok());
        let other = [
            RotatedKey::signed("other", "a", &three.a, &new.bytes()),
            RotatedKey::signed("study", "b", &three.a, &new.bytes()),
            RotatedKey::signed("study", "a", &three.b, &new.bytes()),
            RotatedKey::signed("study", "a", &three.a, &three.b.public().bytes()),
        ];
        let forged = ["00".repeat(64), "no".to_owned(), String::new()];
        for value in other.iter().map(|other| &other.signature).chain(&forged) {
            let refused = three.read(&text.replace(&good.signature, value)).unwrap_err();
            assert!(refused.contains("a: its old key has not signed the new one"), "{refused}");
        }
        // The study, name or key of another beside a valid signature.
        let edits = [("\"study\"", "\"stvdy\""), ("\"a\"", "\"c\""), (&good.key[..], "ab")];
        for (old, put) in edits {
            let refused = three.read(&text.replace(old, put)).unwrap_err();
            assert!(refused.contains("its old key has not signed the new one"), "{old}: {refused}");
        }
        let refused = three.read(&text.replace(&new.text(), &three.a.public().text())).unwrap_err();
        assert!(refused.contains("its old key has not signed the new one"), "{refused}");
        // A signature for another purpose is invalid here.
        let key = three.a.public().bytes();
        let bare = message("study", "a", &key, &new.bytes())[PURPOSE.len()..].to_vec();
        let signature = hex(&three.a.sign_message(&bare));
        let bare = RotatedKey { signature, ..good };
        assert_eq!(bare.proven("study", "a", &new.bytes()), None);
    }

    /// The digest covers the content: without a rotation it is that of rosters of earlier versions.
    #[test]
    fn a_roster_without_rotations_keeps_its_fingerprint() {
        let three = Three::new();
        let lead = RosterMember { key: LEAD.to_owned(), ..member("lead", &three.lead) };
        let party = RosterMember { key: PARTY.to_owned(), ..member("a", &three.a) };
        let roster = Roster::new(Path::new("r"), "study", lead).unwrap().with(party).unwrap();
        assert_eq!(roster.fingerprint(), FINGERPRINT);
        assert!(!roster.text().unwrap().contains("rotated"));
        // A rotation is covered in full, with its member.
        let roster = three.roster("study");
        let [a, b] = [("a", &three.a), ("b", &three.b)]
            .map(|(name, old)| roster.clone().rotated(name, old, &three.new.public()).unwrap());
        let plain = a.text().unwrap();
        let cut = plain.find("[party.rotated]").unwrap();
        let end = plain[cut..].find("[[party]]").unwrap();
        let unsaid = three.read(&[&plain[..cut], &plain[cut + end..]].concat()).unwrap();
        let all = [&roster, &a, &b, &unsaid].map(Roster::fingerprint);
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    /// Two public keys of RFC 8032, and their fingerprint in the version before rotations.
    const LEAD: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    const PARTY: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    const FINGERPRINT: &str = "bd3b504628bd7829f8921fe90989b11b4af30e5efa8e438b5d92892fe4a32e93";
}

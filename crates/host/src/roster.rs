//! The members of a study: names, public keys, the lead's address, and the last day of each key.
//! All sign the digest of it, after they have compared it outside the network.
//!
//! The file is for people, and the order of its entries is free; the signed text is the canonical
//! form of its content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use reticent::{Identity, PublicKey};
use reticent_core::calendar::{date_of, day_number, day_text};
use reticent_core::{from_hex, hex};
use reticent_noise::{Digest, Hasher};
use serde::{Deserialize, Serialize};

use crate::error::{HostError, unread};
use crate::rotation::RotatedKey;

/// The format of the file.
const FORMAT: u32 = 1;

/// The prefix of what is signed.
const PURPOSE: &[u8] = b"reticent roster signature v1\n";

/// The largest number of parties. A lead has a thread for each party and a place for its signature
/// in the messages of the lobby, which have room for some more. Larger runs were not measured.
pub const MOST_PARTIES: usize = 1024;

/// The longest name.
const LONGEST_NAME: usize = 80;

/// A member of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RosterMember {
    /// The name, for people.
    pub name: String,
    /// The public key: 32 bytes in hexadecimal digits.
    pub key: String,
    /// The address of the lead, as `host:port`; parties only dial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The last day of the key, as `YYYY-MM-DD`; by default it has no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The key before this one, which has signed it; `None` for the first key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotated: Option<RotatedKey>,
}

/// The signature of one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signed {
    key: String,
    value: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RosterFile {
    format: u32,
    study: String,
    lead: RosterMember,
    #[serde(default, rename = "party")]
    parties: Vec<RosterMember>,
    #[serde(default, rename = "signature")]
    signatures: Vec<Signed>,
}

/// A roster with its keys read.
#[derive(Clone, Debug, PartialEq)]
pub struct Roster {
    path: PathBuf,
    file: RosterFile,
    /// The lead's, then the parties'.
    keys: Vec<[u8; 32]>,
}

/// The signatures of a roster by key, and the text that they must be of.
struct RosterSigners<'a> {
    message: Vec<u8>,
    values: BTreeMap<&'a str, Vec<&'a str>>,
}

impl RosterSigners<'_> {
    fn has(&self, key: &[u8; 32]) -> bool {
        let Some(public) = PublicKey::from_bytes(key) else { return false };
        let given = self.values.get(&hex(key)[..]).into_iter().flatten();
        given
            .filter_map(|value| from_hex::<64>(value))
            .any(|value| public.has_signed(&self.message, &value))
    }
}

/// Whether the text can be shown as a name: one short line.
fn is_name(text: &str) -> bool {
    let said = text.trim();
    !said.is_empty() && text.len() <= LONGEST_NAME && !text.chars().any(char::is_control)
}

impl Roster {
    /// A roster of a lead alone.
    ///
    /// # Errors
    /// If a name or an address is invalid.
    pub fn new(path: &Path, study: &str, lead: RosterMember) -> Result<Self, HostError> {
        let file = RosterFile {
            format: FORMAT,
            study: study.to_owned(),
            lead,
            parties: Vec::new(),
            signatures: Vec::new(),
        };
        Roster::checked(path, file)
    }

    /// Reads a roster, signed or not.
    ///
    /// # Errors
    /// If the file cannot be read, or is invalid.
    pub fn read(path: &Path) -> Result<Self, HostError> {
        let refuse = |reason: String| HostError::Roster { file: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| refuse(unread(&error)))?;
        let file = toml::from_str(&text).map_err(|error| refuse(error.message().to_owned()))?;
        Roster::checked(path, file)
    }

    fn checked(path: &Path, file: RosterFile) -> Result<Self, HostError> {
        let refuse = |reason: String| Err(HostError::Roster { file: path.to_owned(), reason });
        if file.format != FORMAT {
            return refuse(format!("it is of format {}, and {FORMAT} is known", file.format));
        }
        if file.parties.len() > MOST_PARTIES {
            return refuse(format!("it has more than {MOST_PARTIES} parties"));
        }
        let Some(address) = &file.lead.address else {
            return refuse("the lead has no address; parties dial `host:port`".to_owned());
        };
        if address.chars().any(char::is_control) {
            return refuse("the address of the lead must be `host:port`".to_owned());
        }
        // It is shown before the fingerprint, and too short to hold one.
        if !is_name(&file.study) {
            return refuse("the study needs a name of at most 80 letters, in one line".to_owned());
        }
        let mut keys: Vec<[u8; 32]> = Vec::with_capacity(file.parties.len() + 1);
        let (mut shown, mut names) = (BTreeSet::new(), BTreeSet::new());
        for member in std::iter::once(&file.lead).chain(&file.parties) {
            let said = member.name.trim();
            if !is_name(&member.name) {
                return refuse("a member needs a name of at most 80 letters".to_owned());
            }
            let key = from_hex(&member.key).filter(|key| PublicKey::from_bytes(key).is_some());
            let Some(key) = key else {
                return refuse(format!(
                    "{said} has no Ed25519 public key of 64 hexadecimal digits"
                ));
            };
            if !shown.insert(key) {
                return refuse(format!("{said} has the key of another member"));
            }
            if member.until.as_deref().is_some_and(|day| read_day(day).is_none()) {
                return refuse(format!("{said}: until must be a day, as 2027-12-31"));
            }
            keys.push(key);
            if !names.insert(&member.name) {
                return refuse(format!("two members are called {}", member.name));
            }
        }
        let roster = Roster { path: path.to_owned(), file, keys };
        match roster.check_rotations() {
            Ok(()) => Ok(roster),
            Err(reason) => refuse(reason),
        }
    }

    /// Refuses a rotation that its old key has not signed, or whose old key is in use.
    fn check_rotations(&self) -> Result<(), String> {
        let used: BTreeSet<_> = self.keys.iter().collect();
        let mut given_up = BTreeSet::new();
        for (member, key) in self.members().zip(&self.keys) {
            let Some(rotated) = &member.rotated else { continue };
            let name = member.name.trim();
            let Some(old) = rotated.proven(&self.file.study, &member.name, key) else {
                return Err(format!("{name}: its old key has not signed the new one"));
            };
            if used.contains(&old) {
                return Err(format!("the old key of {name} is still a member's"));
            }
            // A key has one successor: a thief of the key cannot make a second member of it.
            if !given_up.insert(old) {
                return Err(format!("the old key of {name} is another member's old key too"));
            }
        }
        Ok(())
    }

    /// Adds a party. Signatures of the old roster are removed.
    ///
    /// # Errors
    /// If the party is invalid.
    pub fn with(mut self, party: RosterMember) -> Result<Self, HostError> {
        self.file.signatures.clear();
        self.file.parties.push(RosterMember { address: None, ..party });
        Roster::checked(&self.path, self.file)
    }

    /// Removes a party that did not connect or does not come back. Signatures of the old roster are
    /// removed.
    ///
    /// # Errors
    /// If there is no such party, or it is the last one.
    pub fn without(mut self, name: &str) -> Result<Self, HostError> {
        self.file.signatures.clear();
        let before = self.file.parties.len();
        self.file.parties.retain(|party| party.name != name);
        let reason = match self.file.parties.len() {
            left if left == before => format!("it has no party {name}"),
            0 => format!("{name} is its last party"),
            _ => return Roster::checked(&self.path, self.file),
        };
        Err(HostError::Roster { file: self.path, reason })
    }

    /// Gives a member a new key, signed by its present one. Signatures of the old roster are
    /// removed; everything else of the member stays.
    ///
    /// # Errors
    /// If there is no such member, the old key is not its present one, or the new key is invalid.
    pub fn rotated(
        mut self,
        name: &str,
        old: &Identity,
        new: &PublicKey,
    ) -> Result<Self, HostError> {
        self.file.signatures.clear();
        let RosterFile { study, lead, parties, .. } = &mut self.file;
        let found = std::iter::once(lead).chain(parties).find(|member| member.name == name);
        let reason = match found {
            None => format!("it has no member {name}"),
            Some(member) if member.key != old.public().text() => {
                format!("{} is not the key of {name}", old.public().text())
            }
            Some(member) if member.key == new.text() => format!("{name} has that key already"),
            Some(member) => {
                member.rotated = Some(RotatedKey::signed(study, name, old, &new.bytes()));
                member.key = new.text();
                return Roster::checked(&self.path, self.file);
            }
        };
        Err(HostError::Roster { file: self.path, reason })
    }

    /// The roster with these parties alone, by number, for a run without the others. It is never
    /// signed: its members sign the run.
    pub(crate) fn among(&self, seats: &[u32]) -> Self {
        let of = |seat: &u32| self.file.parties.get(*seat as usize).cloned();
        let parties = seats.iter().filter_map(of).collect();
        let key = |seat: &u32| self.key(*seat).copied();
        let keys = std::iter::once(self.lead_key()).chain(seats.iter().filter_map(key)).collect();
        let file = RosterFile { parties, signatures: Vec::new(), ..self.file.clone() };
        Roster { path: self.path.clone(), file, keys }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None for a roster that was checked.
    pub fn text(&self) -> Result<String, HostError> {
        let text = toml::to_string(&self.file);
        text.map_err(|error| HostError::Roster {
            file: self.path.clone(),
            reason: error.to_string(),
        })
    }

    /// The digest of the content without signatures.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new("reticent roster");
        let RosterFile { format, study, lead, parties, .. } = &self.file;
        hasher.number(u64::from(*format)).field(study.as_bytes());
        hasher.number(parties.len() as u64);
        for (member, key) in std::iter::once(lead).chain(parties).zip(&self.keys) {
            let RosterMember { name, address, until, .. } = member;
            hasher.field(name.as_bytes()).field(key);
            hasher.field(address.as_deref().unwrap_or_default().as_bytes());
            hasher.field(until.as_deref().unwrap_or_default().as_bytes());
        }
        // Rotations are behind all members, and only if there are any: a roster without rotations
        // has the digest of earlier versions. The number of fields tells the two apart.
        for (place, member) in self.members().enumerate() {
            let Some(RotatedKey { key, signature }) = &member.rotated else { continue };
            hasher.number(place as u64).field(key.as_bytes()).field(signature.as_bytes());
        }
        hasher.finish()
    }

    /// The digest in the form that people compare.
    pub fn fingerprint(&self) -> String {
        hex(&self.digest())
    }

    fn message(&self) -> Vec<u8> {
        [PURPOSE, &self.digest()].concat()
    }

    /// Adds the signature of a member.
    ///
    /// # Errors
    /// If the key is not a member's.
    pub fn sign(mut self, identity: &Identity) -> Result<Self, HostError> {
        let key = identity.public().bytes();
        if !self.keys.contains(&key) {
            let reason = format!("the key {} is not in it", hex(&key));
            return Err(HostError::Roster { file: self.path, reason });
        }
        let value = hex(&identity.sign_message(&self.message()));
        self.file.signatures.retain(|signed| signed.key != hex(&key));
        self.file.signatures.push(Signed { key: hex(&key), value });
        Ok(self)
    }

    /// Adds the signatures of a copy, which other members have signed.
    ///
    /// # Errors
    /// If the copy has other content: its signatures are of another roster.
    pub fn with_signatures_of(mut self, copy: &Roster) -> Result<Self, HostError> {
        if copy.digest() != self.digest() {
            let what = "it is no copy of the other one: their fingerprints differ";
            return Err(copy.refused(what.to_owned()));
        }
        let (ours, theirs) = (self.signers(), copy.signers());
        let new = |key: &&[u8; 32]| theirs.has(key) && !ours.has(key);
        let new: BTreeSet<String> = self.keys.iter().filter(new).map(|key| hex(key)).collect();
        // An invalid signature, here or there, is replaced.
        self.file.signatures.retain(|signed| !new.contains(&signed.key));
        let taken = copy.file.signatures.iter().filter(|signed| new.contains(&signed.key));
        self.file.signatures.extend(taken.cloned());
        Ok(self)
    }

    /// Whether the member with this key has signed it.
    pub fn is_signed_by(&self, key: &[u8; 32]) -> bool {
        self.signers().has(key)
    }

    /// The signed text and the signers, computed once for all members.
    fn signers(&self) -> RosterSigners<'_> {
        let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for Signed { key, value } in &self.file.signatures {
            values.entry(key).or_default().push(value);
        }
        RosterSigners { message: self.message(), values }
    }

    /// Refuses a roster without the signatures of all members; `me` is checked first.
    ///
    /// # Errors
    /// If a signature is missing.
    pub fn signed_by_all(&self, me: &[u8; 32]) -> Result<(), HostError> {
        let refuse = |reason: String| Err(HostError::Roster { file: self.path.clone(), reason });
        let signers = self.signers();
        if !signers.has(me) {
            return refuse(
                "you have not signed it: compare it with the others, then `reticent roster sign`"
                    .to_owned(),
            );
        }
        for (number, key) in self.keys.iter().enumerate() {
            if !signers.has(key) {
                return refuse(format!("{} has not signed it", self.name_at(number)));
            }
        }
        Ok(())
    }

    /// The number of parties.
    pub fn parties(&self) -> u32 {
        self.file.parties.len() as u32
    }

    /// The subject of the study, for people.
    pub fn study(&self) -> &str {
        &self.file.study
    }

    /// The lead, then the parties.
    pub fn members(&self) -> impl Iterator<Item = &RosterMember> {
        std::iter::once(&self.file.lead).chain(&self.file.parties)
    }

    fn name_at(&self, place: usize) -> String {
        self.members().nth(place).map_or_else(String::new, |member| member.name.clone())
    }

    /// The name of a party.
    pub fn name(&self, party: u32) -> String {
        self.name_at(party as usize + 1)
    }

    /// The name of the lead.
    pub fn lead_name(&self) -> &str {
        &self.file.lead.name
    }

    /// The address of the lead.
    pub fn lead_address(&self) -> &str {
        self.file.lead.address.as_deref().unwrap_or_default()
    }

    /// The key of the lead.
    pub fn lead_key(&self) -> [u8; 32] {
        self.keys[0]
    }

    /// The key of a party.
    pub fn key(&self, party: u32) -> Option<&[u8; 32]> {
        self.keys.get(party as usize + 1)
    }

    /// The key of the lead, then those of the parties.
    pub(crate) fn all_keys(&self) -> &[[u8; 32]] {
        &self.keys
    }

    /// The error of an invalid roster.
    pub(crate) fn refused(&self, reason: String) -> HostError {
        HostError::Roster { file: self.path.clone(), reason }
    }

    /// The number of the party with this key.
    pub fn number(&self, key: &[u8; 32]) -> Option<u32> {
        self.keys.iter().skip(1).position(|own| own == key).map(|place| place as u32)
    }

    /// Refuses a key that no member has, or that is not valid any more on this day.
    ///
    /// # Errors
    /// A message that names the key.
    pub fn admits(&self, key: &[u8; 32], day: i64) -> Result<(), String> {
        let Some(place) = self.keys.iter().position(|own| own == key) else {
            return Err(format!("the key {} is nobody's in the roster", hex(key)));
        };
        let until = self.members().nth(place).and_then(|member| member.until.as_deref());
        match until.and_then(read_day) {
            Some(last) if day > last => {
                Err(format!("the key of {} was good until {}", self.name_at(place), day_text(last)))
            }
            _ => Ok(()),
        }
    }
}

/// Today, by the clock of this machine.
pub fn today() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_secs() / 86_400) as i64
}

/// The day of `YYYY-MM-DD`.
fn read_day(text: &str) -> Option<i64> {
    let mut parts = text.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let number = ((1..=12).contains(&month) && (1970..10_000).contains(&year))
        .then(|| day_number(year, month, day))?;
    (parts.next().is_none() && text.len() == 10 && date_of(number) == (year, month, day))
        .then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(folder: &Path, name: &str) -> Identity {
        Identity::create(&folder.join(name)).unwrap().0
    }

    fn member(name: &str, identity: &Identity) -> RosterMember {
        let (name, key) = (name.to_owned(), identity.public().text());
        RosterMember {
            name,
            key,
            address: Some("127.0.0.1:1".to_owned()),
            until: None,
            rotated: None,
        }
    }

    #[test]
    fn a_roster_is_everybodys_only_when_all_have_signed_this_very_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roster.toml");
        let [lead, a, b, stranger] =
            ["lead", "a", "b", "stranger"].map(|name| identity(folder.path(), name));
        let roster = Roster::new(&path, "study", member("lead", &lead)).unwrap();
        let roster = roster.with(member("a", &a)).unwrap().with(member("b", &b)).unwrap();
        let own = a.public().bytes();
        assert!(roster.signed_by_all(&own).unwrap_err().to_string().contains("you have not"));
        assert!(roster.clone().sign(&stranger).is_err());
        let signed = roster.sign(&a).unwrap().sign(&lead).unwrap();
        assert!(signed.signed_by_all(&own).unwrap_err().to_string().contains("b has not signed"));
        let signed = signed.sign(&b).unwrap();
        signed.signed_by_all(&own).unwrap();
        std::fs::write(&path, signed.text().unwrap()).unwrap();
        let read = Roster::read(&path).unwrap();
        assert_eq!(read, signed);
        read.signed_by_all(&own).unwrap();
        // A change of one letter makes another roster, which nobody has signed.
        for (old, new) in
            [("\"study\"", "\"stvdy\""), ("127.0.0.1:1", "127.0.0.1:2"), ("\"b\"", "\"c\"")]
        {
            std::fs::write(&path, signed.text().unwrap().replace(old, new)).unwrap();
            let other = Roster::read(&path).unwrap();
            assert_ne!(other.digest(), signed.digest(), "{old}");
            assert!(other.signed_by_all(&own).is_err(), "{old}");
        }
        // A new member is not covered by the signatures.
        let more = signed.clone().with(member("stranger", &stranger)).unwrap();
        assert!(!more.is_signed_by(&own));
        assert_eq!((signed.number(&own), signed.number(&lead.public().bytes())), (Some(0), None));
        assert!(signed.with(member("again", &a)).is_err());
    }

    /// Members sign copies at the same time, each on its own machine.
    #[test]
    fn signatures_of_copies_come_together_and_none_of_another_roster() {
        let folder = tempfile::tempdir().unwrap();
        let [lead, a, b] = ["lead", "a", "b"].map(|name| identity(folder.path(), name));
        let of = |study: &str| {
            let roster = Roster::new(Path::new("r"), study, member("lead", &lead)).unwrap();
            roster.with(member("a", &a)).unwrap().with(member("b", &b)).unwrap()
        };
        let copies = [&lead, &a, &b].map(|own| of("study").sign(own).unwrap());
        let all = copies.iter().try_fold(of("study"), |all, copy| all.with_signatures_of(copy));
        let all = all.unwrap();
        all.signed_by_all(&a.public().bytes()).unwrap();
        assert_eq!(all.clone().with_signatures_of(&copies[1]).unwrap(), all);
        let other = of("another").sign(&a).unwrap();
        let refused = all.clone().with_signatures_of(&other).unwrap_err().to_string();
        assert!(refused.contains("fingerprints differ"), "{refused}");
        // An invalid signature is not taken, and does not replace a valid one.
        let mut forged = copies[1].clone();
        forged.file.signatures[0].value = "00".repeat(64);
        assert_eq!(all.clone().with_signatures_of(&forged).unwrap(), all);
        let mended = forged.with_signatures_of(&copies[1]).unwrap();
        assert!(mended.is_signed_by(&a.public().bytes()));
    }

    /// The study is shown before the fingerprint: a false fingerprint must not fit in it.
    #[test]
    fn a_study_that_could_show_a_fingerprint_of_its_own_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let lead = identity(folder.path(), "lead");
        let false_print = format!("returns\". Its fingerprint is {}", "ab".repeat(32));
        for study in ["", "two\nlines", "\u{1b}[2K", &false_print] {
            let refused = Roster::new(Path::new("r"), study, member("lead", &lead)).unwrap_err();
            assert!(refused.to_string().contains("the study needs a name"), "{study}");
        }
    }

    #[test]
    fn a_key_is_good_until_its_day_and_a_strangers_never() {
        let folder = tempfile::tempdir().unwrap();
        let [lead, a, stranger] =
            ["lead", "a", "stranger"].map(|name| identity(folder.path(), name));
        let until = Some("2026-02-28".to_owned());
        let roster = Roster::new(Path::new("r"), "study", member("lead", &lead)).unwrap();
        let roster = roster.with(RosterMember { until, ..member("a", &a) }).unwrap();
        let last = day_number(2026, 2, 28);
        let key = a.public().bytes();
        roster.admits(&key, last).unwrap();
        assert!(roster.admits(&key, last + 1).unwrap_err().contains("good until 2026-02-28"));
        assert!(roster.admits(&stranger.public().bytes(), last).unwrap_err().contains("nobody's"));
        for wrong in ["2026-02-29", "2026-2-3", "soon", "2026-02-28-1"] {
            let until = Some(wrong.to_owned());
            let roster = Roster::new(Path::new("r"), "study", member("lead", &lead)).unwrap();
            assert!(roster.with(RosterMember { until, ..member("a", &a) }).is_err(), "{wrong}");
        }
    }
}

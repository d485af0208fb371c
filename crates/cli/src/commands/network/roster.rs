//! `reticent roster`: who takes part in a run on a network.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use reticent::internal::{check_new, write_text};
use reticent::{Identity, PublicKey};
use reticent_host::{Roster, RosterMember, RotatedKey, SignedRosters};
use serde::Serialize;

use super::failure;
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};

#[derive(Debug, Subcommand)]
pub enum RosterCommand {
    /// Make a roster with its lead, which runs the algorithm and which all parties dial
    New(RosterNewArgs),
    /// Add a party. This removes all signatures: all members sign the new roster
    Add(RosterAddArgs),
    /// Remove a party that does not come; all members sign again, and begin with the same journals
    Strike(RosterStrikeArgs),
    /// Give a member a new key, signed by the old one; all members compare fingerprints and sign again
    Rotate(RosterRotateArgs),
    /// Sign a roster, after you have compared its fingerprint with the others
    Sign(RosterSignArgs),
    /// Take over the signatures of copies that others have signed at the same time
    Collect(RosterCollectArgs),
    /// Show the members of a roster, who has signed it, and its fingerprint
    Show(RosterFileArgs),
}

#[derive(Debug, Args)]
pub struct RosterNewArgs {
    /// The file to make
    file: PathBuf,

    /// The subject of the study
    #[arg(long, value_name = "TEXT")]
    study: String,

    /// Name of the lead
    #[arg(long, value_name = "NAME", default_value = "lead")]
    name: String,

    /// The lead's public key: the file that ends in .pub
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Address of the lead
    #[arg(long, value_name = "HOST:PORT")]
    address: String,

    /// Last day on which the key is valid
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<String>,
}

#[derive(Debug, Args)]
pub struct RosterAddArgs {
    /// The roster
    file: PathBuf,

    /// Name of the party
    #[arg(long, value_name = "NAME")]
    name: String,

    /// The party's public key: the file that ends in .pub
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// Last day on which the key is valid
    #[arg(long, value_name = "YYYY-MM-DD")]
    until: Option<String>,
}

#[derive(Debug, Args)]
pub struct RosterStrikeArgs {
    /// The roster
    file: PathBuf,

    /// Name of the party
    #[arg(long, value_name = "NAME")]
    name: String,
}

#[derive(Debug, Args)]
pub struct RosterRotateArgs {
    /// The roster
    file: PathBuf,

    /// Name of the member, the lead or a party
    #[arg(long, value_name = "NAME")]
    name: String,

    /// The key that the member has in the roster
    #[arg(long, value_name = "FILE")]
    identity: PathBuf,

    /// The member's new public key: the file that ends in .pub
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Debug, Args)]
pub struct RosterSignArgs {
    /// The roster
    file: PathBuf,

    /// Your key
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

#[derive(Debug, Args)]
pub struct RosterCollectArgs {
    /// The roster
    file: PathBuf,

    /// Copies of it, with signatures
    #[arg(required = true)]
    copies: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RosterFileArgs {
    /// The roster
    file: PathBuf,
}

fn key(file: &Path) -> Result<String, CommandFailure> {
    let key = PublicKey::read(file).map_err(|error| CommandFailure::of("roster", error))?;
    Ok(key.text())
}

fn write(roster: &Roster, file: &Path) -> Result<(), CommandFailure> {
    let text = roster.text().map_err(failure("roster"))?;
    write_text(&text, file).map_err(|error| CommandFailure::of("roster", error))
}

impl RosterCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let fail = failure("roster");
        match self {
            RosterCommand::New(RosterNewArgs {
                file,
                study,
                name,
                key: public,
                address,
                until,
            }) => {
                check_new(&file, false).map_err(|error| CommandFailure::of("roster", error))?;
                let (key, address) = (key(&public)?, Some(address));
                let lead = RosterMember { name, key, address, until, rotated: None };
                let roster = Roster::new(&file, &study, lead).map_err(fail)?;
                write(&roster, &file)?;
                Ok(shown(&roster, &file, "Made"))
            }
            RosterCommand::Add(RosterAddArgs { file, name, key: public, until }) => {
                let key = key(&public)?;
                let party = RosterMember { name, key, address: None, until, rotated: None };
                let roster = Roster::read(&file).and_then(|roster| roster.with(party));
                let roster = roster.map_err(fail)?;
                write(&roster, &file)?;
                Ok(shown(&roster, &file, "Added to"))
            }
            RosterCommand::Strike(RosterStrikeArgs { file, name }) => {
                let roster = Roster::read(&file).and_then(|roster| roster.without(&name));
                let roster = roster.map_err(fail)?;
                write(&roster, &file)?;
                Ok(shown(&roster, &file, "Struck from"))
            }
            RosterCommand::Rotate(args) => args.run(),
            RosterCommand::Sign(args) => args.run(),
            RosterCommand::Collect(RosterCollectArgs { file, copies }) => {
                let roster =
                    copies.iter().try_fold(Roster::read(&file).map_err(&fail)?, |all, copy| {
                        all.with_signatures_of(&Roster::read(copy)?)
                    });
                let roster = roster.map_err(fail)?;
                write(&roster, &file)?;
                Ok(shown(&roster, &file, "Collected signatures of"))
            }
            RosterCommand::Show(RosterFileArgs { file }) => {
                Ok(shown(&Roster::read(&file).map_err(fail)?, &file, "This is"))
            }
        }
    }

    /// Whether its answer is a mere report of what was written.
    pub fn is_report(&self) -> bool {
        !matches!(self, RosterCommand::Show(_))
    }
}

impl RosterSignArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let RosterSignArgs { file, key } = self;
        let identity = Identity::read(&key).map_err(|error| CommandFailure::of("roster", error))?;
        let signed = Roster::read(&file).and_then(|roster| {
            let roster = roster.sign(&identity)?;
            // First what refuses the one before: a signature that is lost is only missing.
            let newer = SignedRosters::of_key(&key)?.sign(&roster)?;
            Ok((roster, newer))
        });
        let (roster, newer) = signed.map_err(failure("roster"))?;
        write(&roster, &file)?;
        let remark = "You had signed another roster of this study: with that one you begin no run any more. A run \
                      that is on goes on with its own.";
        let remarks = newer.then(|| remark.to_owned()).into_iter().collect();
        Ok(Answer { remarks, ..shown(&roster, &file, "Signed") })
    }
}

impl RosterRotateArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let RosterRotateArgs { file, name, identity, to } = self;
        let of_files = |error| CommandFailure::of("roster", error);
        let old = Identity::read(&identity).map_err(of_files)?;
        let new = PublicKey::read(&to).map_err(of_files)?;
        let roster = Roster::read(&file).and_then(|roster| roster.rotated(&name, &old, &new));
        let roster = roster.map_err(failure("roster"))?;
        write(&roster, &file)?;
        Ok(shown(&roster, &file, "Rotated a key of"))
    }
}

/// A key that was rotated, in words.
fn rotation(RotatedKey { key, .. }: &RotatedKey) -> String {
    let short: String = key.chars().take(16).collect();
    format!("key rotated, signed by the old one ({short}…)")
}

/// A roster.
#[derive(Serialize)]
struct ShownRoster<'a> {
    roster: &'a Path,
    study: &'a str,
    fingerprint: &'a str,
    members: Vec<ShownMember<'a>>,
}

/// A member of a roster.
#[derive(Serialize)]
struct ShownMember<'a> {
    name: &'a str,
    key: &'a str,
    address: Option<&'a str>,
    until: Option<&'a str>,
    signed: bool,
    rotated_from: Option<&'a str>,
}

fn shown(roster: &Roster, file: &Path, done: &str) -> Answer {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut members = Vec::new();
    let keys = std::iter::once(roster.lead_key())
        .chain((0..roster.parties()).filter_map(|party| roster.key(party).copied()));
    for ((place, member), key) in roster.members().enumerate().zip(keys) {
        let number = place.checked_sub(1).map_or("lead".to_owned(), |number| number.to_string());
        let signed = roster.is_signed_by(&key);
        let mark = if signed { "signed" } else { "not signed" };
        let until = member.until.as_deref().map_or(String::new(), |day| format!("until {day}"));
        let rotated = member.rotated.as_ref().map_or(String::new(), rotation);
        let said = [until, rotated].into_iter().filter(|part| !part.is_empty());
        let said = said.collect::<Vec<_>>().join(", ");
        rows.push(vec![number, member.name.clone(), mark.to_owned(), said]);
        members.push(ShownMember {
            name: &member.name,
            key: &member.key,
            address: member.address.as_deref(),
            until: member.until.as_deref(),
            signed,
            rotated_from: member.rotated.as_ref().map(|rotated| &*rotated.key),
        });
    }
    let fingerprint = roster.fingerprint();
    let head = wrapped(&format!(
        "{done} {}, of the study \"{}\". Its fingerprint is {fingerprint}: compare it with the others, by telephone \
         or on paper, before you sign.",
        file.display(),
        roster.study()
    ));
    let text = format!("{head}\n{}", columns(&rows, 2, 4));
    let (study, fingerprint) = (roster.study(), &fingerprint);
    Answer::of(text, &ShownRoster { roster: file, study, fingerprint, members })
}

//! Who the parties are, and which rows each of them has.

use std::collections::BTreeSet;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_core::hex;
use reticent_noise::{Hasher, NoiseKey};
use reticent_oracle::tables::Schema;
use reticent_oracle::{PrivacyModel, PrivateTable, Refusal, Skew};

use super::seating::{ASSUMED, seated};
use crate::error::Error;
use crate::objective::{known_column, user_column};

pub(super) const NOBODY: Error = Error::Missing {
    what: "who the parties are",
    todo: "set `split = N` (number of parties), `parties_from = COLUMN` (party of each row) or `users_from = COLUMN` \
           (one party per user)",
};

/// Nobody says whose a row is, where persons within parties are protected.
pub(super) const NO_PERSONS: Error = Error::Missing {
    what: "whose each row is",
    todo: "`unit = user` protects a person within a party: say whose row each is with `user_column = COLUMN`, or \
           protect whole parties with `unit = party`, or records",
};

/// More parties are not run in one process: each has a table, a key and books.
const MOST_PARTIES: u32 = 10_000_000;

/// How rows come to parties.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dealing {
    /// So many parties; one for each user of the table without it.
    pub split: Option<u32>,
    /// Whether the table brings along whose row each is.
    pub owners: bool,
    /// Whether it says with which party each row is.
    pub placed: bool,
    pub skew: Skew,
    pub public_seed: u64,
    /// Whether parties may have several persons each, who are protected.
    pub persons: bool,
    /// Which tables are neighbours: where one record may be there or not, its place says where others
    /// stand.
    pub adjacency: Adjacency,
}

impl Dealing {
    /// Refuses a run between nobody, or between too many.
    pub fn has_parties(&self, schema: &Schema) -> Result<(), Error> {
        match self.split {
            Some(0) => Err(Error::value("split", 0, "at least one party is needed")),
            Some(parties) if parties > MOST_PARTIES => {
                let why =
                    format!("at most {MOST_PARTIES} parties are run in one process; give fewer");
                Err(Error::value("split", parties, why))
            }
            None if self.placed => Ok(()),
            None if !self.owners && schema.user().is_none() => Err(NOBODY),
            _ => Ok(()),
        }
    }

    /// Whether a party is a person, whose seat is secret.
    pub fn seats_persons(&self, unit: Unit) -> bool {
        self.split.is_none() && !self.placed && unit == Unit::User
    }

    /// The parties' tables; those of persons at the seats that the key of the run draws.
    pub fn deal(
        &self,
        table: PrivateTable,
        opening: &PrivacyModel,
        key: &NoiseKey,
    ) -> Result<Vec<PrivateTable>, Error> {
        let PrivacyModel { unit, adjacency, .. } = *opening;
        if self.placed {
            return match self.persons && !table.has_owners() {
                true => Err(NO_PERSONS),
                false => table.split_by_party(unit == Unit::Party).ok_or(NOBODY),
            };
        }
        if let (Some(parties), true) = (self.split, self.persons) {
            let dealt = table.split_persons(parties as usize, self.public_seed);
            return dealt.ok_or(NOBODY);
        }
        let Some(parties) = self.split else {
            let tables = table.split_by_user().ok_or(NOBODY)?;
            return Ok(match self.seats_persons(unit) {
                true => seated(tables, key).map_err(Refusal::from)?,
                false => tables,
            });
        };
        // Records are protected where they are dealt, and their number is public.
        if let Some(records) = table.public_count(unit, adjacency)
            && u64::from(parties) > records
        {
            let why = format!(
                "every party needs a record, and the table has {records} records; give fewer parties"
            );
            return Err(Error::value("split", parties, why));
        }
        let (parties, skew, seed) = (parties as usize, self.skew, self.public_seed);
        let tables = match self.adjacency {
            Adjacency::ReplaceOne => table.split(parties, skew, seed),
            // By place, one record less would move everybody behind it to another party.
            Adjacency::AddRemove => table.split_by_content(parties, skew, seed),
        };
        Ok(tables.map_err(Refusal::from)?)
    }

    /// The public description of how the table is dealt. The content of a record depends on the schema:
    /// under another schema, or for another question, the same records are dealt to other parties.
    pub fn words(&self, schema: &Schema) -> String {
        format!("{}{}", self.share(schema), read_by(schema))
    }

    fn share(&self, schema: &Schema) -> String {
        let Dealing { split, skew, public_seed, adjacency, persons, .. } = self;
        match (split, adjacency) {
            (Some(parties), _) if *persons => {
                format!("split {parties} persons {:?} {public_seed}", user_column(schema))
            }
            (Some(parties), Adjacency::ReplaceOne) => {
                format!("split {parties} {skew} {public_seed}")
            }
            (Some(parties), Adjacency::AddRemove) => {
                let read =
                    Hasher::new("reticent read by").field(&schema.canonical_bytes()).finish();
                format!("split {parties} {skew} {public_seed} by content under {}", hex(&read))
            }
            (None, _) if self.placed => {
                let column = schema.parties_from().and_then(|name| known_column(schema, name));
                format!("parties {column:?}")
            }
            // Numbers are ranks of ids.
            (None, _) => format!("users {:?}", user_column(schema)),
        }
    }

    /// The assumptions of the guarantee about the parties' rows, if the server is trusted with sums.
    pub fn assumed(&self, opening: &PrivacyModel) -> Vec<String> {
        match (self.persons, self.placed) {
            (true, true) => [PERSONS_PLACED, ONE_SUM].map(str::to_owned).to_vec(),
            (true, false) => dealt_persons(opening),
            (false, _) => vec![dealt(opening)],
        }
    }
}

/// How rows and ids are made of the bytes of a file, where it is not the default: a first line that is a record
/// moves all others by a place, and a space more is another id.
fn read_by(schema: &Schema) -> String {
    let mut said = String::new();
    if !schema.header() {
        said += ", the first line a record";
    }
    if let Some(delimiter) = schema.delimiter() {
        said += &format!(", delimited by {delimiter}");
    }
    if !schema.trim() {
        said += ", with spaces";
    }
    if schema.decimal_comma() {
        said += ", with a decimal comma";
    }
    if schema.missing_tokens() != [""] {
        said += &format!(", missing {:?}", schema.missing_tokens());
    }
    said
}

/// Refuses to deal persons by the place of their rows: one row less would move everybody behind it
/// to another party. A server that is `trusted` with sums over all of them does not see who is where,
/// and each is dealt whole.
pub(super) fn keeps_persons_whole(
    (split, skew): (Option<u32>, Option<Skew>),
    schema: &Schema,
    unit: Unit,
    trusted: bool,
) -> Result<(), Error> {
    let why = match (split, unit) {
        (Some(_), Unit::User) if trusted && schema.user().is_some() => {
            return match skew.filter(|skew| *skew != Skew::Iid) {
                None => Ok(()),
                Some(skew) => {
                    let why = "persons are dealt whole, each to any party; leave it out, or protect records";
                    Err(Error::value("skew", skew, why))
                }
            };
        }
        (Some(_), Unit::User) if schema.user().is_some() => {
            "a person's records would be dealt to several parties, and each would count them as another's; make every \
             person a party (leave split out), protect records, or run an algorithm of sums with `trust = central`"
        }
        (Some(_), Unit::Party) => {
            "a share of the records that is dealt by their places is no party of its own; say with which party each \
             row is with `parties_from = COLUMN` in place of split, or protect records"
        }
        (Some(_), Unit::User) => {
            "a share of the records is no person, and who has which would follow from how many rows others have; \
             make every person a party with `users_from = COLUMN` in place of split, or protect records"
        }
        _ => return Ok(()),
    };
    Err(Error::value("split", split.unwrap_or_default(), why))
}

/// What the guarantee takes as given where each row says with which party it is, and persons are
/// protected.
const PERSONS_PLACED: &str = "a person is a person within a party. Which parties there are, and how many persons \
                              each has, is public: a neighbour has another person, with any rows, with the same \
                              party. Who has rows with k parties counts as k persons, and is covered k-fold";

/// What k-fold is where a sum is over all parties.
const ONE_SUM: &str = "all rows of a person at k parties move one sum: the noise divided by k covers them, which is \
                       k² times the entries";

/// The same where each party's answer is seen, with noise of its own.
const K_ANSWERS: &str = "the answers of the k parties that a person has rows with have independent noise: they \
                         cover the person together, which is k times the entries";

/// What the guarantee takes as given where parties with persons of their own add the noise themselves.
pub(super) fn placed_persons(view: View) -> Vec<String> {
    let fold = if view == View::Local { K_ANSWERS } else { ONE_SUM };
    [PERSONS_PLACED, fold].map(str::to_owned).to_vec()
}

/// Why persons within parties do not pay from a budget of persons.
pub(super) const PERSONS_UNCOUNTED: &str = "a person with rows at k parties is k persons of the run, and a budget \
                                            of users would count them as one; protect records, or parties with a \
                                            budget of `unit = party`, or run it without a budget file";

/// What the guarantee takes as given where a party has several persons.
const PERSONS_WITHIN: &str = "a person is a person within a party: all rows of one lie with one party. Who has rows \
                              with k parties counts as k persons, and is a group of k: the noise divided by k \
                              covers it, which is k² times the entries";

/// What else it takes as given there, where the number of persons is private.
const PERSONS_UNSEEN: &str =
    "who takes part is public; how many persons a party has is not, and shows in no message";

/// Why parties with several persons each have no budgets of their own: a neighbour may have others of
/// them with each party, and every budget would have to count for it.
pub(super) const PERSONS_UNPAID: &str = "whose persons a party has follows from all of them; give one budget for \
                                         all, or protect records";

/// What the guarantee takes as given where parties have several persons each.
pub(super) fn dealt_persons(opening: &PrivacyModel) -> Vec<String> {
    let unseen = (opening.adjacency == Adjacency::AddRemove).then_some(PERSONS_UNSEEN);
    std::iter::once(PERSONS_WITHIN).chain(unseen).map(str::to_owned).collect()
}

/// What a guarantee says of parties that take no part.
pub(super) fn stayed_away(absent: &BTreeSet<u32>) -> Option<String> {
    let numbers: Vec<String> = absent.iter().map(u32::to_string).collect();
    (!numbers.is_empty()).then(|| {
        format!(
            "these parties, counted from 0, took no part, and nothing of theirs was asked for: {}. That they stay \
             away is public, and does not depend on any record",
            numbers.join(", ")
        )
    })
}

/// What the guarantee takes as given about whose the records are.
pub(super) fn dealt(opening: &PrivacyModel) -> String {
    let dealt = match (opening.unit, opening.adjacency) {
        (Unit::User, _) => ASSUMED,
        (Unit::Party, _) => {
            "a party is protected with all that it holds, whoever's it is and however much. Who takes part is \
             public, and each party has one name: a neighbour has other records with the same party"
        }
        (Unit::Record, Adjacency::AddRemove) => {
            "who takes part is public; how many records a party has is not, and shows in no message; a neighbour \
             has one record more or less with one party, and the same records with all others"
        }
        (Unit::Record, Adjacency::ReplaceOne) => {
            "who holds which record, and how many, is public: a neighbour has another record with the same party"
        }
    };
    dealt.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_oracle::tables::{Dataset, Target};

    /// Records that are alike are with one party exactly where their places do not count.
    #[test]
    fn where_a_record_may_be_missing_its_place_says_nothing() {
        let to =
            |upper| Schema::bounded(&[(0.0, upper)], Target::range(-1.0, 1.0).unwrap()).unwrap();
        let (values, targets) = ([0.25; 50], [0.5; 50]);
        let dealt = |adjacency, schema: Schema| {
            let data = Dataset::dense(&values, 50, 1).unwrap().with_targets(&targets).unwrap();
            let table = PrivateTable::encode(&data, &schema).unwrap();
            let skew = Skew::default();
            let dealing = Dealing {
                split: Some(4),
                owners: false,
                placed: false,
                skew,
                public_seed: 0,
                persons: false,
                adjacency,
            };
            let opening = PrivacyModel {
                adjacency,
                unit: Unit::Record,
                view: View::Local,
                public_n: Some(50),
                intercept: 0.0,
            };
            let tables = dealing.deal(table, &opening, &NoiseKey::seeded(1)).unwrap();
            let records = |table: &PrivateTable| {
                table.public_count(Unit::Record, Adjacency::ReplaceOne).unwrap()
            };
            let mut records: Vec<u64> = tables.iter().map(records).collect();
            records.sort_unstable();
            (records, dealing.words(&schema))
        };
        let (alike, by_content) = dealt(Adjacency::AddRemove, to(1.0));
        let (apart, by_place) = dealt(Adjacency::ReplaceOne, to(1.0));
        assert_eq!(alike, [0, 0, 0, 50]);
        assert!(apart[0] > 0, "{apart:?}");
        // A budget that knows one share does not take the other for it.
        assert_ne!(by_content, by_place);
        // Places are the same under every schema, and contents are not.
        assert_eq!(by_place, dealt(Adjacency::ReplaceOne, to(2.0)).1);
        assert_ne!(by_content, dealt(Adjacency::AddRemove, to(2.0)).1);
    }
}

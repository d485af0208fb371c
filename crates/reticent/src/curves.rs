//! How many knots the columns of a job get: the word of a user, and the rule of `auto`.
//!
//! ```text
//! n̂  the public number of units        z₁ the noise, in clips, with which one answer spends the whole budget
//! s = n̂/z₁ is the signal               H(K) hats, p(K) parameters with K knots for each column
//!
//! auto:  the largest K with  s ≥ 6·p(K),  at most 2000 encoded columns, and
//!        of 0 … 8:   s ≥ 30·H(K)·outputs,   H(K) ≤ 70 − products of pairs
//!        of 9 … 16:  s ≥ 300·H(K)·outputs,  H(K) ≤ 140 − products of pairs
//! ```
//!
//! So knots never push a job out of `auto`'s own coordinates, and little signal gives the line. All of
//! it is public: the rule reads no table (docs/curves.md has what it was measured on).

use std::fmt;
use std::str::FromStr;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_admm::MOST_COLUMNS;
use reticent_oracle::PrivacyModel;
use reticent_oracle::tables::{Schema, TargetKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::Error;
use crate::guarantee::Guarantee;
use crate::task::whole_budget;

/// The signal for each parameter that knots leave.
const CLEAR: f64 = 6.0;

/// The signal for each hat.
const EACH: f64 = 30.0;

/// The signal for each hat of more knots than is usual.
const PLENTY: f64 = 300.0;

/// More hats and products than this are more than records of a rare class determine.
const USUAL_HATS: usize = 70;

/// The same with plenty of signal.
const MOST_HATS: usize = 140;

/// More knots are worth little where columns are close to lines, and cost little with plenty of signal.
const USUAL_KNOTS: usize = 8;

/// More are not taken.
const MOST_KNOTS: usize = 16;

/// Curves for the numeric columns of a job. A column of the schema that says something itself has that,
/// unless this is `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Curves {
    /// Every column is a line, whatever the schema says.
    Off,
    /// As many knots as public numbers allow.
    Auto,
    /// This number of knots for each column that is open to them.
    Knots(usize),
}

impl fmt::Display for Curves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Curves::Off => f.write_str("off"),
            Curves::Auto => f.write_str("auto"),
            Curves::Knots(knots) => write!(f, "{knots}"),
        }
    }
}

impl FromStr for Curves {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "off" => Ok(Curves::Off),
            "auto" => Ok(Curves::Auto),
            _ => match text.parse() {
                Ok(0) => Ok(Curves::Off),
                Ok(knots) => Ok(Curves::Knots(knots)),
                Err(_) => Err(Error::value("curves", text, ALLOWED)),
            },
        }
    }
}

const ALLOWED: &str = "auto, off, or a number of knots for each numeric column is needed";

impl Serialize for Curves {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Curves::Knots(knots) => to.serialize_u64(*knots as u64),
            word => to.collect_str(word),
        }
    }
}

impl<'de> Deserialize<'de> for Curves {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum KnotsOrWord {
            Whole(u64),
            Text(String),
        }
        let text = match KnotsOrWord::deserialize(from) {
            Ok(KnotsOrWord::Whole(knots)) => knots.to_string(),
            Ok(KnotsOrWord::Text(text)) => text,
            Err(_) => return Err(serde::de::Error::custom(ALLOWED)),
        };
        text.parse().map_err(|_| serde::de::Error::custom(ALLOWED))
    }
}

impl Curves {
    /// Behind a flag, whose name is said already.
    #[cfg(feature = "clap")]
    pub(crate) fn typed(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| ALLOWED.to_owned())
    }

    /// The schema of a job, with its roles, bent as this says. `records` is how many the table has, which
    /// counts where it is public and `guarantee` and schema do not say a number.
    ///
    /// # Errors
    /// If there are too many knots, or `auto` has no number of units to go by.
    #[doc(hidden)]
    pub fn bend(
        self,
        schema: Schema,
        guarantee: &Guarantee,
        records: Option<u64>,
        intercept: bool,
    ) -> Result<Schema, Error> {
        let knots = match self {
            Curves::Off => return Ok(schema.without_curves()),
            Curves::Knots(knots) => knots,
            Curves::Auto => {
                let neighbours =
                    (unit_of(&schema, guarantee), guarantee.adjacency.unwrap_or_default());
                let are_public = neighbours == (Unit::Record, Adjacency::ReplaceOne);
                let count = guarantee.public_n.or(schema.public_n());
                let count = count.or(records.filter(|_| are_public));
                let count = count.ok_or(Error::Missing {
                    what: "a public number of records",
                    todo: "`curves = auto` goes by it, or by that of persons where these are protected: give \
                           `public_n = N`, or public_n in the schema, or a number of knots in place of auto",
                })?;
                knots_for(&schema, signal(&schema, guarantee, count)?, intercept)
            }
        };
        Ok(schema.with_curves(knots)?)
    }
}

/// What is protected: where the schema says whose a row is, the person is the default.
fn unit_of(schema: &Schema, guarantee: &Guarantee) -> Unit {
    let usual = if schema.user().is_some() { Unit::User } else { Unit::Record };
    guarantee.unit.unwrap_or(usual)
}

/// n̂/z₁; without a budget there is no noise.
fn signal(schema: &Schema, guarantee: &Guarantee, count: u64) -> Result<f64, Error> {
    let budget = guarantee.budget(guarantee.epsilon.is_some() && guarantee.delta.is_some())?;
    let opening = PrivacyModel {
        adjacency: guarantee.adjacency.unwrap_or_default(),
        unit: unit_of(schema, guarantee),
        view: View::Central,
        public_n: Some(count),
        intercept: 0.0,
    };
    let noise = whole_budget(budget, opening)?;
    Ok(if noise > 0.0 { count as f64 / noise } else { f64::INFINITY })
}

/// The rule.
fn knots_for(schema: &Schema, signal: f64, intercept: bool) -> usize {
    let outputs = match schema.target().map(|(_, target)| target.kind()) {
        Some(TargetKind::Classes(labels)) if labels.len() > 2 => labels.len(),
        _ => 1,
    };
    let products = schema.products();
    let fits = |knots: &usize| {
        let hats = schema.open_hats(*knots);
        let columns = schema.width_with(*knots) + usize::from(intercept);
        let (taken, each) = (hats + products, (hats * outputs) as f64);
        let (most, clear) = match *knots <= USUAL_KNOTS {
            true => (USUAL_HATS, EACH),
            false => (MOST_HATS, PLENTY),
        };
        taken <= most
            && columns <= MOST_COLUMNS
            && signal >= CLEAR * (columns * outputs) as f64
            && signal >= clear * each
    };
    (1..=MOST_KNOTS).rev().find(fits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_oracle::tables::Target;

    const DOCUMENT: &str = include_str!("../../../docs/curves.md");

    fn table(columns: usize) -> Schema {
        let bounds = vec![(0.0, 9.0); columns];
        Schema::bounded(&bounds, Target::classes(["no", "yes"]).unwrap()).unwrap()
    }

    fn guarantee(epsilon: f64, count: Option<u64>) -> Guarantee {
        Guarantee::default().with(|it| {
            (it.epsilon, it.delta, it.public_n) = (Some(epsilon), Some(1e-5), count);
        })
    }

    fn chosen(columns: usize, epsilon: f64, count: u64) -> usize {
        let guarantee = guarantee(epsilon, Some(count));
        let bent = Curves::Auto.bend(table(columns), &guarantee, None, true).unwrap();
        (bent.width() - columns) / columns
    }

    #[test]
    fn the_document_has_the_constants() {
        for words in [
            format!("s ≥ {CLEAR}·p(K)"),
            format!("s ≥ {EACH}·H(K)"),
            format!("s ≥ {PLENTY}·H(K)"),
            format!("0 to {USUAL_KNOTS}"),
            format!("H(K) ≤ {USUAL_HATS}"),
            format!("H(K) ≤ {MOST_HATS}"),
            format!("{} to {MOST_KNOTS}", USUAL_KNOTS + 1),
            format!("{MOST_COLUMNS} encoded columns"),
        ] {
            assert!(DOCUMENT.contains(&words), "docs/curves.md lacks {words}");
        }
    }

    #[test]
    fn little_signal_gives_the_line_and_much_gives_knots() {
        assert_eq!(chosen(30, 0.1, 341), 0);
        assert_eq!((chosen(74, 4.0, 60_000), chosen(20, 4.0, 60_000)), (0, 3));
        assert_eq!(chosen(8, 1.0, 15_480), USUAL_KNOTS);
        // Plenty of signal.
        assert_eq!((chosen(6, 4.0, 90_000), chosen(6, 4.0, 60_000)), (MOST_KNOTS, 15));
        assert_eq!(chosen(6, 1.0, 60_000), USUAL_KNOTS);
        let by_epsilon: Vec<usize> =
            [0.01, 0.05, 0.1, 0.3, 1.0].map(|epsilon| chosen(8, epsilon, 20_000)).to_vec();
        assert!(by_epsilon.is_sorted() && by_epsilon[0] == 0 && by_epsilon[4] == USUAL_KNOTS);
    }

    /// Categories with an order have no more knots than there are categories between the ends, and
    /// only a line where there is little signal.
    #[test]
    fn categories_with_an_order_are_bent_with_the_others() {
        let text = "row_norm = 1\n[[column]]\nname = 'grade'\nkind = 'categorical'\nordered = true\n\
                    categories = ['a', 'b', 'c', 'd', 'e']\n\
                    [[column]]\nname = 'y'\nkind = 'target'\nclasses = ['no', 'yes']\n";
        let schema: Schema = text.parse().unwrap();
        let width = |curves: Curves, epsilon| {
            curves
                .bend(schema.clone(), &guarantee(epsilon, Some(20_000)), None, true)
                .unwrap()
                .width()
        };
        assert_eq!(
            (schema.width(), width(Curves::Auto, 1.0), width(Curves::Auto, 0.001)),
            (2, 4, 1)
        );
        assert_eq!((width(Curves::Off, 1.0), width(Curves::Knots(2), 1.0)), (1, 3));
    }

    /// Knots never push a job out of what auto takes coordinates of its own for.
    #[test]
    fn knots_stay_within_what_auto_can_have() {
        for (columns, count) in
            [(200, 1_000_000), (60, 2_000_000), (1_999, 10_000_000), (5, 90_000_000)]
        {
            let knots = chosen(columns, 4.0, count);
            let width = columns * (1 + knots) + 1;
            assert!(width <= MOST_COLUMNS || knots == 0, "{columns} {count}: {knots}");
        }
    }

    #[test]
    fn auto_needs_a_public_number_and_off_is_a_line() {
        let said = Curves::Auto.bend(table(2), &guarantee(1.0, None), None, true).unwrap_err();
        assert!(said.to_string().contains("public number of records"), "{said}");
        assert!(Curves::Auto.bend(table(2), &guarantee(1.0, None), Some(9000), true).is_ok());
        let bent = table(2).with_curves(3).unwrap();
        assert_eq!(Curves::Off.bend(bent, &guarantee(1.0, None), None, true).unwrap(), table(2));
    }

    /// One person may have a row more than another. Whoever is protected as a person must be counted as one, and
    /// the number of rows decides nothing.
    #[test]
    fn auto_does_not_go_by_rows_where_persons_are_protected() {
        let text = "row_norm = 1\n[[column]]\nname = 'age'\nkind = 'numeric'\nlower = 20\nupper = 90\n\
                    [[column]]\nname = 'who'\nkind = 'user'\n\
                    [[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n";
        let schema: Schema = text.parse().unwrap();
        let by = |unit, adjacency, public_n| {
            let guarantee = guarantee(1.0, public_n).with(|it| {
                (it.unit, it.adjacency) = (unit, adjacency);
            });
            Curves::Auto.bend(schema.clone(), &guarantee, Some(9000), true)
        };
        for (unit, adjacency) in [
            (None, None),
            (Some(Unit::User), None),
            (Some(Unit::User), Some(Adjacency::AddRemove)),
            (Some(Unit::Record), Some(Adjacency::AddRemove)),
        ] {
            let said = by(unit, adjacency, None).unwrap_err().to_string();
            assert!(said.contains("public_n"), "{unit:?} {adjacency:?}: {said}");
            assert!(by(unit, adjacency, Some(9000)).is_ok());
        }
        assert!(by(Some(Unit::Record), None, None).is_ok());
    }

    #[test]
    fn words_are_read_in_files_and_flags() {
        #[derive(Deserialize, Serialize)]
        struct File {
            curves: Curves,
        }
        for (text, curves) in [
            ("'auto'", Curves::Auto),
            ("'off'", Curves::Off),
            ("8", Curves::Knots(8)),
            ("'8'", Curves::Knots(8)),
        ] {
            let file: File = toml::from_str(&format!("curves = {text}")).unwrap();
            assert_eq!(file.curves, curves);
            let again: File = toml::from_str(&toml::to_string(&file).unwrap()).unwrap();
            assert_eq!(again.curves, curves);
        }
        assert_eq!("0".parse::<Curves>().unwrap(), Curves::Off);
        for text in ["'many'", "-1", "1.5", "true"] {
            let said = toml::from_str::<File>(&format!("curves = {text}")).err().unwrap();
            assert!(said.to_string().contains(ALLOWED), "{said}");
        }
    }
}

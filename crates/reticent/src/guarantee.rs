//! Who is protected, and by how much: one description for flags, job files, Python and audits.

use std::sync::Arc;

use reticent_accountant::{Adjacency, Ledger, Unit, View};
use reticent_oracle::tables::Schema;
use reticent_oracle::{
    CachedTable, Entropy, Gate, HeldRows, NoiseKey, PrivacyModel, PrivateTable, Refusal,
    ShardedRows, Terms,
};
use reticent_problem::Loss;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::error::Error;
#[cfg(feature = "clap")]
use crate::flags;

/// The half of a budget that is checked for where it is not spent and was not given.
const UNUSED: (f64, f64) = (1.0, 1e-5);

/// The guarantee of a job: its budget, neighbouring relation, unit of protection and seed. Unchecked,
/// with `None` for a default. Keys of a job file, and with the feature `clap` flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
#[non_exhaustive]
pub struct Guarantee {
    /// The privacy loss ε that may be spent
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "E", value_parser = flags::number,
        allow_negative_numbers = true, help_heading = flags::BUDGET))]
    pub epsilon: Option<f64>,
    /// The additive slack δ of the guarantee; well below one over the number of records
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", value_parser = flags::number,
        allow_negative_numbers = true, help_heading = flags::BUDGET))]
    pub delta: Option<f64>,
    /// The neighbouring relation of tables [default: replace-one]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_parser = crate::one_of!(Adjacency),
        help_heading = flags::BUDGET))]
    pub adjacency: Option<Adjacency>,
    /// The unit of protection [default: user if a user column is declared, otherwise record]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_parser = crate::one_of!(Unit),
        help_heading = flags::BUDGET))]
    pub unit: Option<Unit>,
    /// A number of records (or users) that is public; needed for add-remove
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = flags::whole::<u64>,
        allow_negative_numbers = true, help_heading = flags::BUDGET))]
    pub public_n: Option<u64>,
    /// Draw the noise from this seed, for tests: the result is then NOT PRIVATE
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = flags::whole::<u64>,
        allow_negative_numbers = true, help_heading = flags::RESULT))]
    pub seed: Option<u64>,
}

/// The parts of a guarantee, for whatever has one in its field `guarantee`: a fit, an evaluation.
macro_rules! parts_of_guarantee {
    () => {
        /// Sets the whole guarantee.
        pub fn guarantee(mut self, guarantee: crate::Guarantee) -> Self {
            self.guarantee = guarantee;
            self
        }

        /// Sets the budget. Everything that has noise needs it.
        pub fn budget(mut self, budget: crate::Budget) -> Self {
            let (epsilon, delta) = (Some(budget.epsilon()), Some(budget.delta()));
            self.guarantee = crate::Guarantee { epsilon, delta, ..self.guarantee };
            self
        }

        /// Sets the neighbouring relation; one record replaced by another by default.
        pub fn adjacency(mut self, adjacency: crate::Adjacency) -> Self {
            self.guarantee.adjacency = Some(adjacency);
            self
        }

        /// Sets the unit of protection; by default a user where the schema declares whose row it is, otherwise
        /// a record.
        pub fn unit(mut self, unit: crate::Unit) -> Self {
            self.guarantee.unit = Some(unit);
            self
        }

        /// Sets a public estimate of the number of units, which add-remove needs.
        pub fn public_n(mut self, count: u64) -> Self {
            self.guarantee.public_n = Some(count);
            self
        }

        /// Draws the noise from a seed, for tests: the result is then not private, and says so.
        pub fn seed(mut self, seed: u64) -> Self {
            self.guarantee.seed = Some(seed);
            self
        }
    };
}
pub(crate) use parts_of_guarantee;

/// A checked [`Guarantee`] on tables of one schema.
#[derive(Clone, Debug)]
pub struct Protection {
    /// The terms on which gates are opened.
    pub(crate) opening: PrivacyModel,
    /// What may be spent; `None` for a job without noise.
    pub(crate) budget: Option<Budget>,
    /// Whether the unit was given, and not left to the schema.
    unit_given: bool,
    /// The seed of the noise, for tests.
    seed: Option<u64>,
}

impl From<Budget> for Guarantee {
    fn from(budget: Budget) -> Self {
        let (epsilon, delta) = (Some(budget.epsilon()), Some(budget.delta()));
        Guarantee { epsilon, delta, ..Guarantee::default() }
    }
}

impl Guarantee {
    /// Sets some of its parts.
    ///
    /// # Examples
    /// ```
    /// use reticent::{Adjacency, Budget, Guarantee};
    ///
    /// let guarantee = Guarantee::from(Budget::new(1.0, 1e-6)?).with(|it| {
    ///     it.adjacency = Some(Adjacency::AddRemove);
    ///     it.public_n = Some(10_000);
    /// });
    /// assert_eq!(guarantee.asked(), Some((1.0, 1e-6)));
    /// # Ok::<(), reticent::Error>(())
    /// ```
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// This one, and whatever it leaves open as `other` says.
    pub(crate) fn or(self, other: Self) -> Self {
        Guarantee {
            epsilon: self.epsilon.or(other.epsilon),
            delta: self.delta.or(other.delta),
            adjacency: self.adjacency.or(other.adjacency),
            unit: self.unit.or(other.unit),
            public_n: self.public_n.or(other.public_n),
            seed: self.seed.or(other.seed),
        }
    }

    /// ε and δ, if both are given.
    pub fn asked(&self) -> Option<(f64, f64)> {
        self.epsilon.zip(self.delta)
    }

    /// What may be spent; `None` for a job without noise, which spends nothing.
    ///
    /// # Errors
    /// If a number cannot be, or one that is needed is missing.
    pub(crate) fn budget(&self, noisy: bool) -> Result<Option<Budget>, Error> {
        let (epsilon, delta) = UNUSED;
        // A number that cannot be is refused before one that is missing, and where it is not spent.
        Budget::new(self.epsilon.unwrap_or(epsilon), self.delta.unwrap_or(delta))?;
        if !noisy {
            return Ok(None);
        }
        let epsilon = self.epsilon.ok_or(Error::Missing {
            what: "the budget",
            todo: "say how much may be spent, with `epsilon = E` (and `delta = D`)",
        })?;
        let delta = self.delta.ok_or(Error::Missing {
            what: "the budget's delta",
            todo: "give `delta = D`: the additive slack of the guarantee, well below one over the number of records",
        })?;
        Budget::new(epsilon, delta).map(Some)
    }

    /// Checks it for tables of `schema` that one holder has, with this constant behind the
    /// intercept.
    ///
    /// # Errors
    /// If a number cannot be, or one that is needed is missing: noise needs a budget, and add-remove
    /// a public number of units.
    pub(crate) fn check(
        &self,
        schema: &Schema,
        intercept: f64,
        noisy: bool,
    ) -> Result<Protection, Error> {
        let budget = self.budget(noisy)?;
        let adjacency = self.adjacency.unwrap_or_default();
        let public_n = self.public_n.or(schema.public_n());
        if adjacency == Adjacency::AddRemove && public_n.unwrap_or(0) == 0 && budget.is_some() {
            return Err(Error::Missing {
                what: "a public number of records",
                todo: "add-remove keeps the true number private: give an estimate that is not taken from \
                       the data with `public_n = N`, or public_n in the schema",
            });
        }
        let unit = self.unit.unwrap_or(match schema.user() {
            // Whoever declares whose row it is means the person to be protected.
            Some(_) => Unit::User,
            None => Unit::Record,
        });
        let opening = PrivacyModel { adjacency, unit, view: View::Central, public_n, intercept };
        Ok(Protection { opening, budget, unit_given: self.unit.is_some(), seed: self.seed })
    }
}

/// Refuses rows that have owners where records are protected and nobody chose that: persons would be
/// protected less than they seem to be.
pub(crate) fn check_owners(owned: bool, (unit, chosen): (Unit, bool)) -> Result<(), Error> {
    match owned && unit == Unit::Record && !chosen {
        true => Err(unexpected_owners(unit)),
        false => Ok(()),
    }
}

/// The refusal of rows that have owners.
pub(crate) fn unexpected_owners(unit: Unit) -> Error {
    let why = "the rows of the table have owners (its user column): choose user, which protects all rows of a person, or \
               record, which protects each row alone; where every party is one person, leave the column out of the schema";
    Error::value("unit", unit, why)
}

impl Protection {
    /// The gate on `table`, which must not say whose each row is where nobody said that records are
    /// to be protected all the same: persons would be protected less than they seem to be. `number`
    /// tells runs with the same seed apart.
    pub(crate) fn open(
        &self,
        table: PrivateTable,
        loss: Arc<dyn Loss>,
        number: u64,
    ) -> Result<Gate, Error> {
        self.check_owners(&table)?;
        Ok(Gate::open(table, loss, &self.opening, self.entropy(number)?)?)
    }

    /// The same on a table in a file.
    pub(crate) fn open_cached(
        &self,
        table: CachedTable,
        loss: Arc<dyn Loss>,
    ) -> Result<Gate, Error> {
        check_owners(table.has_owners(), (self.opening.unit, self.unit_given))?;
        Ok(Gate::open_cached(table, loss, &self.opening, self.entropy(0)?)?)
    }

    /// The same on a table in shards, each of which was checked for owners where it was read.
    pub(crate) fn open_sharded(
        &self,
        rows: ShardedRows,
        loss: Arc<dyn Loss>,
    ) -> Result<Gate, Error> {
        Ok(Gate::open_sharded(rows, loss, &self.opening, self.entropy(0)?)?)
    }

    /// Refuses to protect parties on one table, which has none.
    pub(crate) fn of_one_table(&self) -> Result<(), Error> {
        let why = "one table has no parties: choose record or user; a party is protected between parties (docs/federated.md)";
        let party = Some(self.opening.unit).filter(|unit| *unit == Unit::Party);
        party.map_or(Ok(()), |unit| Err(Error::value("unit", unit, why)))
    }

    /// See [`check_owners`].
    pub(crate) fn check_owners(&self, table: &PrivateTable) -> Result<(), Error> {
        check_owners(table.has_owners(), (self.opening.unit, self.unit_given))
    }

    /// The same against somebody else.
    pub(crate) fn seen_by(&self, view: View) -> Self {
        Protection { opening: PrivacyModel { view, ..self.opening }, ..self.clone() }
    }

    /// The key of a run between parties, from which all of theirs follow.
    pub(crate) fn key(&self) -> Result<NoiseKey, Error> {
        Ok(match self.seed {
            Some(seed) => NoiseKey::seeded(seed),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        })
    }

    /// The gate on rows that others hold, with the noise that one on a table of them all would have.
    /// `entropy` is of a run that may go on after a crash, with the noise that it had.
    pub(crate) fn open_held(
        &self,
        rows: HeldRows,
        loss: Arc<dyn Loss>,
        entropy: Option<Entropy>,
    ) -> Result<Gate, Error> {
        let entropy = entropy.map_or_else(|| self.entropy(0), Ok)?;
        Ok(Gate::open_held(rows, loss, &self.opening, entropy)?)
    }

    fn entropy(&self, number: u64) -> Result<Entropy, Error> {
        Ok(match self.seed {
            // Multiples of an odd number near 2⁶⁴/φ: runs of different small seeds never meet.
            Some(seed) => {
                Entropy::seeded(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            }
            None => Entropy::secure().map_err(Refusal::from)?,
        })
    }

    /// Whether jobs with it and with `other` are on the same terms, at the same price.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let terms = |own: &Self| (own.opening, own.budget, own.seed);
        terms(self) == terms(other)
    }

    /// The terms of a gate on so many units, before there is one.
    pub(crate) fn terms(&self, population: u64) -> Result<Terms, Error> {
        let PrivacyModel { adjacency, unit, view, .. } = self.opening;
        Ok(match adjacency {
            Adjacency::ReplaceOne => Terms::of_parties(unit, view, population),
            Adjacency::AddRemove => Terms::add_remove(unit, view, population)?,
        })
    }

    /// The error of a run that ended for this reason after it was told something: `books` are what
    /// it is charged.
    pub(crate) fn spent(&self, books: &Ledger, why: Error) -> Error {
        match self.budget.filter(|_| books.total_events() > 0) {
            Some(budget) => budget.spent(why, Some(books)),
            None => why,
        }
    }
}

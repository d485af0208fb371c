//! An algorithm of the catalogue with its settings.

use reticent_admm::Settings;
use reticent_admm::catalogue::{self, AlgorithmEntry, AlgorithmKind};

use crate::error::Error;

/// An algorithm and its settings.
///
/// # Examples
/// ```
/// use reticent::{Settings, Solver};
/// let solver = Solver::ssadmm().with(Settings { iterations: Some(50), ..Settings::default() })?;
/// assert_eq!(solver.name(), "ssadmm");
/// // A setting that the algorithm does not have is refused.
/// assert!(Solver::dp_sgd().with(Settings { outer: Some(2), ..Settings::default() }).is_err());
/// # Ok::<(), reticent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    pub(crate) entry: &'static AlgorithmEntry,
    pub(crate) settings: Settings,
}

macro_rules! solvers {
    ($($name:literal $function:ident,)*) => {
        impl Solver {
            $(#[doc = concat!("The algorithm `", $name, "` of the catalogue, as it is set by itself.")]
            pub fn $function() -> Self {
                Solver::named($name).expect("a test finds every one of these in the catalogue")
            })*

            #[cfg(test)]
            const NAMES: &[&str] = &[$($name),*];
        }
    };
}

solvers! {
    "auto" auto,
    "ssadmm" ssadmm,
    "sadmm" sadmm,
    "vradmm" vradmm,
    "mpadmm" mpadmm,
    "general" general,
    "consensus" consensus,
    "dp-sgd" dp_sgd,
    "dp-cd" dp_cd,
    "dp-fw" dp_fw,
    "stagewise" stagewise,
    "amp" amp,
    "objp" objp,
    "output-perturbation" output_perturbation,
    "exact" exact,
}

impl Solver {
    /// The algorithm of this name.
    ///
    /// # Errors
    /// If the catalogue has none; the message lists all.
    pub fn named(name: &str) -> Result<Self, Error> {
        let entry = catalogue::find(name).ok_or_else(|| unknown(name))?;
        Ok(Solver { entry, settings: Settings::default() })
    }

    /// Sets the settings of the algorithm.
    ///
    /// # Errors
    /// If the algorithm does not have one of them. What depends on the problem is checked with it,
    /// by [`Fit::check`](crate::Fit::check).
    pub fn with(self, settings: Settings) -> Result<Self, Error> {
        settings.only(self.entry.name, self.entry.takes)?;
        Ok(Solver { settings, ..self })
    }

    /// The name in the catalogue.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether it adds noise, and so needs a budget.
    pub fn is_private(&self) -> bool {
        matches!(self.entry.kind, AlgorithmKind::Private(_))
    }
}

/// The default algorithm.
impl Default for Solver {
    fn default() -> Self {
        Solver::auto()
    }
}

fn unknown(name: &str) -> Error {
    let names: Vec<_> = catalogue::CATALOGUE.iter().map(|entry| entry.name).collect();
    let party = reticent_runtime::find(name)
        .map_or("", |_| "`reticent simulate` runs it between parties; here ");
    let nearest = reticent_problem::catalogue::nearest(name, names.iter().copied())
        .filter(|_| party.is_empty())
        .map(|name| format!("did you mean `{name}`? "))
        .unwrap_or_default();
    Error::value("algorithm", name, format!("{nearest}{party}there are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_of_the_catalogue_has_its_function_and_no_other() {
        let mut names: Vec<&str> = catalogue::CATALOGUE.iter().map(|entry| entry.name).collect();
        let mut ours = Solver::NAMES.to_vec();
        names.sort_unstable();
        ours.sort_unstable();
        assert_eq!(ours, names);
    }
}

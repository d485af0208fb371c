//! The tables: public sets that are read from a folder, and simulated ones.

#[cfg(feature = "parquet")]
mod columns;
mod files;
pub(crate) mod simulated;

use std::path::{Path, PathBuf};

use crate::error::ExperimentError;
use crate::experiment::Context;
use crate::report::ExperimentReport;
use crate::table::RowTable;

/// A public data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSet {
    /// Adult with its columns as indicators, as LIBSVM has it (a9a).
    AdultIndicators,
    /// The same with the rows that LIBSVM sets apart to test on (a9a.t), and a column of ones.
    AdultWhole,
    /// Adult with its 14 columns as numbers, complete rows alone.
    Adult,
    /// Forest cover, class 2 against the others.
    Covtype,
    /// Web pages (w8a).
    W8a,
    /// Protein homology (KDD Cup 2004).
    BioTrain,
    /// Mushrooms.
    Mushrooms,
    /// What stands for the census of Brazil, which is not public: 38,000 rows of forest cover, as many
    /// as RDP20 has of it, with a column of ones.
    IpumsBr,
}

/// Rows of what stands for the census of Brazil.
const CENSUS: usize = 38_000;

impl DataSet {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            DataSet::AdultIndicators => "a9a",
            DataSet::AdultWhole => "a9a and a9a.t",
            DataSet::Adult => "Adult",
            DataSet::Covtype => "covtype",
            DataSet::W8a => "w8a",
            DataSet::BioTrain => "bio-train",
            DataSet::Mushrooms => "mushrooms",
            DataSet::IpumsBr => "covtype for IPUMS-BR",
        }
    }

    /// Its name in the names of files.
    pub(crate) fn short(self) -> &'static str {
        match self {
            DataSet::AdultWhole => "adult",
            DataSet::IpumsBr => "ipums-br",
            other => other.name(),
        }
    }

    /// The file that it is read from, `.xz` or without (Parquet without).
    pub fn file(self) -> Option<&'static str> {
        match self {
            DataSet::AdultIndicators => Some("a9a"),
            DataSet::AdultWhole => Some("a9a.t"),
            DataSet::Adult => Some("adult.data"),
            DataSet::Covtype | DataSet::IpumsBr => Some("covtype.csv"),
            DataSet::W8a => Some("w8a"),
            DataSet::BioTrain => Some("bio_train.parquet"),
            DataSet::Mushrooms => Some("mushrooms"),
        }
    }

    /// The public collection that has it.
    pub fn collection(self) -> &'static str {
        match self {
            DataSet::AdultIndicators | DataSet::AdultWhole | DataSet::W8a | DataSet::Mushrooms => {
                "the LIBSVM data sets for binary classification"
            }
            DataSet::Adult | DataSet::Covtype | DataSet::IpumsBr => {
                "the UCI machine learning repository"
            }
            DataSet::BioTrain => "KDD Cup 2004 (protein homology), as a Parquet file",
        }
    }

    fn columns(self) -> usize {
        match self {
            DataSet::AdultIndicators => 123,
            DataSet::AdultWhole => 124,
            DataSet::Adult => 14,
            DataSet::Covtype => 54,
            DataSet::W8a => 300,
            DataSet::BioTrain => 74,
            DataSet::Mushrooms => 112,
            DataSet::IpumsBr => 55,
        }
    }

    fn missing(self) -> ExperimentError {
        let todo = match self.file() {
            Some(_) => format!(
                "get it from {} and put it as {} into the folder of `data_dir`",
                self.collection(),
                self.names().join(" or ")
            ),
            None => format!("it can be had from {}", self.collection()),
        };
        ExperimentError::Missing { name: self.name(), todo }
    }

    /// What its file may be called: Parquet is compressed as it is.
    fn names(self) -> Vec<String> {
        let file = self.file().map(str::to_owned);
        let packed = file.clone().filter(|file| !file.ends_with(".parquet"));
        file.into_iter().chain(packed.map(|file| format!("{file}.xz"))).collect()
    }

    fn path(self, context: &Context<'_>) -> Option<PathBuf> {
        let folder = context.data_dir.as_ref()?;
        self.names().iter().rev().map(|name| folder.join(name)).find(|path| path.exists())
    }

    /// Its file in the folder of another one.
    fn beside(self, path: &Path) -> Result<PathBuf, ExperimentError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let names = self.names();
        let found = names.iter().rev().map(|name| folder.join(name)).find(|path| path.exists());
        found.ok_or_else(|| self.missing())
    }

    fn read(self, path: &Path) -> Result<RowTable, ExperimentError> {
        match self {
            DataSet::Adult => files::adult(path),
            DataSet::AdultWhole => {
                let first = DataSet::AdultIndicators.beside(path)?;
                files::adult_whole(&first, path)
            }
            DataSet::Covtype => files::covtype(path, false),
            DataSet::IpumsBr => Ok(files::covtype(path, true)?.at_most(CENSUS)),
            #[cfg(feature = "parquet")]
            DataSet::BioTrain => columns::bio_train(path),
            #[cfg(not(feature = "parquet"))]
            DataSet::BioTrain => Err(ExperimentError::file(
                path,
                "it is a Parquet file, and this program was built without the feature parquet",
            )),
            _ => files::libsvm(path, self.columns()),
        }
    }

    /// Reads it; at most so many rows, chosen at random. Where it is not there, a small run has a
    /// simulated table stand in for it.
    pub(crate) fn load(
        self,
        context: &mut Context<'_>,
        rows: usize,
        report: &mut ExperimentReport,
    ) -> Result<RowTable, ExperimentError> {
        let Some(path) = self.path(context) else {
            if !context.quick {
                return Err(self.missing());
            }
            report.stand_ins.push(self.name().to_owned());
            let table = simulated::indicators(rows, self.columns(), 14);
            return Ok(table.kept_in(context.store.as_ref()));
        };
        context.say(&format!("reading {}", self.name()))?;
        let table = self.read(&path)?;
        let all = table.len();
        if all > rows {
            report.notes.push(format!("{rows} rows of the {all} of {}.", self.name()));
        }
        Ok(table.kept_in(context.store.as_ref()).at_most(rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_where_to_get_it() {
        let mut quiet = |_: &str| std::ops::ControlFlow::Continue(());
        let mut context = Context { quick: false, ..Context::quick(&mut quiet) };
        let mut report = ExperimentReport::default();
        let error = DataSet::W8a.load(&mut context, 10, &mut report).unwrap_err().to_string();
        assert!(error.contains("w8a") && error.contains("LIBSVM data sets"), "{error}");
        let error = DataSet::BioTrain.load(&mut context, 10, &mut report).unwrap_err().to_string();
        assert!(error.contains("KDD Cup 2004") && !error.contains(".xz"), "{error}");
        context.quick = true;
        let table = DataSet::W8a.load(&mut context, 10, &mut report).unwrap();
        assert_eq!((table.len(), table.columns), (10, 300));
        assert_eq!(report.stand_ins, ["w8a"]);
    }
}

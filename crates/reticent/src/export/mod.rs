//! Models for other tools, preprocessing included: a format a file, each written from one [`ExportPlan`]
//! of what the program does with a record.

mod onnx;
mod pair;
mod plan;
mod pmml;
mod protobuf;
mod sklearn;
mod sql;

use crate::error::Error;
use crate::model::Model;
use plan::ExportPlan;

reticent_oracle::words! {
    /// A format that other tools read.
    #[derive(Eq)]
    pub enum ExportFormat = "format" {
        /// ONNX, in double precision.
        Onnx = "onnx",
        /// PMML 4.4.
        Pmml = "pmml",
        /// The parameters of a scikit-learn pipeline (examples/load_sklearn.py builds it).
        SklearnJson = "sklearn-json",
        /// A SELECT that scores inside a database.
        Sql = "sql",
    }
}

/// Names for an export to SQL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqlNames {
    /// The table to score.
    pub table: String,
    /// Columns to put before the prediction.
    pub keep: Vec<String>,
}

impl SqlNames {
    /// The table to score, and the columns of it to put before the prediction.
    pub fn new(table: impl Into<String>, keep: Vec<String>) -> Self {
        SqlNames { table: table.into(), keep }
    }
}

impl Model {
    /// The model in another format, as the bytes of a file.
    ///
    /// # Errors
    /// If the format cannot say what the model does.
    pub fn export(&self, format: ExportFormat, names: &SqlNames) -> Result<Vec<u8>, Error> {
        let plan = ExportPlan::of(self)?;
        Ok(match format {
            ExportFormat::Onnx => onnx::write(&plan),
            ExportFormat::Pmml => pmml::write(&plan).into_bytes(),
            ExportFormat::SklearnJson => sklearn::write(&plan)?.into_bytes(),
            ExportFormat::Sql => sql::write(&plan, names).into_bytes(),
        })
    }
}

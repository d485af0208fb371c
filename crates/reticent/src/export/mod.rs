//! Models for other tools, preprocessing included: a format a file, each written from one [`Plan`]
//! of what the program does with a record.

mod onnx;
mod plan;
mod pmml;
mod protobuf;
mod sklearn;
mod sql;

use crate::error::Error;
use crate::model::Model;
use plan::Plan;

/// A format that other tools read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// ONNX, in double precision.
    Onnx,
    /// PMML 4.4.
    Pmml,
    /// The parameters of a scikit-learn pipeline (examples/load_sklearn.py builds it).
    SklearnJson,
    /// A SELECT that scores inside a database.
    Sql,
}

impl ExportFormat {
    /// Every format with its name on the command line.
    pub const ALL: [(&'static str, ExportFormat); 4] = [
        ("onnx", Self::Onnx),
        ("pmml", Self::Pmml),
        ("sklearn-json", Self::SklearnJson),
        ("sql", Self::Sql),
    ];
}

impl std::str::FromStr for ExportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(|(name, _)| name).join(", ");
        let found = Self::ALL.iter().find(|(name, _)| *name == text);
        found
            .map(|&(_, format)| format)
            .ok_or_else(|| format!("there is no format `{text}`; there are {names}"))
    }
}

/// What only SQL has to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlNames {
    /// The table to score.
    pub table: String,
    /// Columns to put before the prediction.
    pub keep: Vec<String>,
}

impl Model {
    /// The model in another format, as the bytes of a file.
    pub fn export(&self, format: ExportFormat, names: &SqlNames) -> Result<Vec<u8>, Error> {
        let plan = Plan::of(self)?;
        Ok(match format {
            ExportFormat::Onnx => onnx::write(&plan),
            ExportFormat::Pmml => pmml::write(&plan).into_bytes(),
            ExportFormat::SklearnJson => sklearn::write(&plan)?.into_bytes(),
            ExportFormat::Sql => sql::write(&plan, names).into_bytes(),
        })
    }
}

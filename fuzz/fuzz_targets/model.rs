//! A model that somebody else wrote is refused, or predicts and is exported: never a panic, and no
//! probability outside [0, 1].
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent::tables::Format;
use reticent::{ExportFormat, Model, Prediction, SqlNames};

const TABLE: &str = "age,town,label\n25,a,no\n,C,yes\n-1e300,,no\n";

fuzz_target!(|bytes: &[u8]| {
    let Ok(folder) = tempfile::tempdir() else { return };
    let (path, table) = (folder.path().join("model.json"), folder.path().join("t.csv"));
    if std::fs::write(&path, bytes).is_err() || std::fs::write(&table, TABLE).is_err() {
        return;
    }
    let Ok(model) = Model::read(&path) else { return };
    for prediction in model.predict(&table, Some(Format::Csv)).unwrap_or_default() {
        if let Prediction::Class { probabilities, .. } = prediction {
            assert!(probabilities.iter().all(|p| p.is_nan() || (0.0..=1.0).contains(p)));
        }
    }
    use ExportFormat::{Onnx, Pmml, SklearnJson, Sql};
    for format in [Onnx, Pmml, SklearnJson, Sql] {
        let _ = model.export(format, &SqlNames::default());
    }
});

#[cfg(not(feature = "run"))]
fn main() {}

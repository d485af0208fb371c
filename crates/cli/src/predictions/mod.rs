//! Where predictions go: a table written as it comes, CSV or Parquet by the name of the file.

mod csv;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::{self, BufWriter, Write};
use std::path::Path;

use reticent::internal::NewFile;
use reticent::tables::KeptKind;
use reticent::{Error, Model, Predicted};

use crate::failure::CommandFailure;

/// A table that is being written.
pub trait Sink: Send {
    /// The columns that are kept hold this; told once, before the first records.
    fn head(&mut self, kept: &[KeptKind]) -> Result<(), CommandFailure>;
    /// The next records.
    fn put(&mut self, batch: Predicted) -> Result<(), CommandFailure>;
    /// There are no more.
    fn finish(self: Box<Self>) -> Result<(), CommandFailure>;
}

/// What the columns are called: those that are kept, the class, the numbers.
#[derive(Clone, Debug)]
pub struct PredictionColumns {
    keep: Vec<String>,
    classes: Option<Vec<String>>,
    numbers: Vec<String>,
}

impl PredictionColumns {
    /// Refuses names that would be there twice.
    pub fn new(model: &Model, keep: &[String]) -> Result<Self, CommandFailure> {
        let classes = model.classes().map(|names| names.into_iter().map(str::to_owned).collect());
        let columns =
            PredictionColumns { keep: keep.to_vec(), classes, numbers: model.number_columns() };
        let names = columns.names();
        let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
        match twice {
            None => Ok(columns),
            Some((_, name)) => Err(CommandFailure::Usage {
                message: format!("--keep: the predictions would have two columns `{name}`"),
                hint: "name every column once, and none that is called like a prediction"
                    .to_owned(),
            }),
        }
    }

    fn names(&self) -> Vec<String> {
        let class = self.classes.iter().map(|_| "prediction".to_owned());
        self.keep.iter().cloned().chain(class).chain(self.numbers.iter().cloned()).collect()
    }
}

/// Whether a spreadsheet takes a cell for a formula: it begins as one, and is no number.
pub fn is_formula(cell: &[u8]) -> bool {
    let number = || std::str::from_utf8(cell).is_ok_and(|text| text.trim().parse::<f64>().is_ok());
    matches!(cell.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r')) && !number()
}

/// Names that tell of a packed file, which is not written.
pub const PACKED: [&str; 5] = ["gz", "xz", "bz2", "zst", "zip"];

/// A file, or standard output; cells of CSV are `guarded` for spreadsheets or not.
pub fn sink(
    out: Option<&Path>,
    columns: PredictionColumns,
    guarded: bool,
) -> Result<Box<dyn Sink>, CommandFailure> {
    let Some(path) = out else {
        return Ok(Box::new(csv::Csv::new(BufWriter::new(Standard), columns, guarded)));
    };
    let extension =
        path.extension().and_then(|word| word.to_str()).unwrap_or_default().to_ascii_lowercase();
    if PACKED.contains(&extension.as_str()) {
        return Err(CommandFailure::Usage {
            message: format!(
                "{}: predictions are written as CSV or Parquet, not packed",
                path.display()
            ),
            hint: "leave --out out and pipe what comes, as in: reticent predict … | gzip > FILE"
                .to_owned(),
        });
    }
    if extension != "parquet" {
        return Ok(Box::new(csv::Csv::new(PredictionFile::new(path)?, columns, guarded)));
    }
    #[cfg(feature = "parquet")]
    return Ok(Box::new(parquet::Parquet::new(NewFile::create(path)?, path, columns)));
    #[cfg(not(feature = "parquet"))]
    Err(CommandFailure::Usage {
        message: format!("{}: this build writes no Parquet files", path.display()),
        hint: "build with the feature `parquet`, or give a name that ends in .csv".to_owned(),
    })
}

/// Where text goes, and what is wrong when it does not.
trait TextSink: Write + Send {
    fn failure(&self, error: io::Error) -> CommandFailure;
    fn close(self) -> Result<(), CommandFailure>;
}

/// Standard output; locked for each write, so that it may be used from any thread.
struct Standard;

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().lock().flush()
    }
}

impl TextSink for BufWriter<Standard> {
    fn failure(&self, error: io::Error) -> CommandFailure {
        CommandFailure::Output(error)
    }

    fn close(mut self) -> Result<(), CommandFailure> {
        self.flush().map_err(CommandFailure::Output)
    }
}

struct PredictionFile {
    file: BufWriter<NewFile>,
    path: std::path::PathBuf,
}

impl PredictionFile {
    fn new(path: &Path) -> Result<Self, Error> {
        Ok(PredictionFile {
            file: BufWriter::with_capacity(1 << 17, NewFile::create(path)?),
            path: path.to_owned(),
        })
    }
}

impl Write for PredictionFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl TextSink for PredictionFile {
    fn failure(&self, error: io::Error) -> CommandFailure {
        written(&self.path, &error)
    }

    fn close(self) -> Result<(), CommandFailure> {
        let file = self.file.into_inner().map_err(|error| written(&self.path, error.error()))?;
        Ok(file.finish()?)
    }
}

fn written(path: &Path, error: &io::Error) -> CommandFailure {
    Error::written(path, error).into()
}

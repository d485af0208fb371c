//! A first schema from data that the user declares PUBLIC.

use super::ask::{self, SeenValues};
use super::reading::ReadOptions;
use super::record_file::{
    CellConsumer, ColumnShape, FileConsumer, RecordBlock, RecordFile, TextLayout, first_line,
    with_file,
};
use super::spread::{ColumnSpread, norm_for};
use super::watch::all;
use super::{Format, load_features, open};
use crate::error::FileProblem;
use crate::schema::{
    Categorical, Column, Drafted, MissingNumber, Numeric, Role, Scale, Schema, Target, TargetKind,
    Unknown,
};
use crate::{Cell, CellProblem, DataError, IdForm, Labels, Rows, SchemaError, day, norm, number};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Spellings of "missing" that a draft looks for; the ones it meets are written into the schema.
const MISSING: [&str; 8] = ["", "?", "NA", "N/A", "NaN", "nan", "null", "None"];
/// A column of text with more different values than this is drafted as ignored.
const MOST_CATEGORIES: usize = 100;
/// A numeric target with more different values than this is drafted as a range.
const MOST_CLASSES: usize = 20;

/// What may be said of a column of many texts.
const WHOSE: &str = "kind = \"user\" if it says whose record it is";

/// How to read the public file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DraftOptions {
    /// The format, when the name does not tell.
    pub format: Option<Format>,
    /// The file has no header line; columns are then named column_1, column_2, ….
    pub no_header: bool,
    /// The first line has the names of columns, however they look.
    pub header: bool,
    /// The delimiter, when it is not the format's own.
    pub delimiter: Option<u8>,
    /// Numbers have a comma before their decimals.
    pub decimal_comma: bool,
    /// The column to predict.
    pub target: Option<String>,
    /// The column that says whose record it is.
    pub user: Option<String>,
    /// The longest record, in bytes, as in [`ReadOptions`].
    pub max_line: Option<u64>,
}

impl DraftOptions {
    /// These with fields set: `DraftOptions::default().with(|it| it.no_header = true)`.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    fn reading(&self, format: Format) -> ReadOptions {
        ReadOptions { format: Some(format), max_line: self.max_line }
    }

    /// The delimiter that the schema has to say: the one that was given, or that of a format which the
    /// name of the file does not tell.
    pub(super) fn remembered(&self, file: &str) -> Option<u8> {
        let told = self.format.filter(|format| Format::of(Path::new(file)) != Some(*format));
        self.delimiter.or(match told {
            Some(format @ (Format::Csv | Format::Tsv)) => Some(format.usual_delimiter()),
            _ => None,
        })
    }

    pub(super) fn layout(&self, format: Format) -> TextLayout {
        TextLayout {
            delimiter: self.delimiter.unwrap_or(format.usual_delimiter()),
            header: !self.no_header,
            trim: true,
            features: u32::MAX,
            unlabelled: false,
            limits: self.reading(format).limits(),
        }
    }
}

/// A schema that was drafted from public data.
#[derive(Debug, Clone)]
pub struct SchemaDraft {
    /// The schema that was drafted.
    pub schema: Schema,
    /// The file to write: the schema with a comment that says where it comes from.
    pub toml: String,
    /// What a person has to decide: the kinds that are `"TODO"` in the file, and ignored in
    /// `schema`.
    pub questions: Vec<String>,
    /// What seems to be wrong with the file.
    pub remarks: Vec<String>,
}

/// Drafts a schema from `path`. **The result contains bounds, categories and a row norm read from
/// the file**, so it is safe only if that file is public; the TOML says so.
///
/// The draft carries a digest of the file under `key`, which is to be random and another for every
/// draft.
pub fn draft_from_public(
    path: &Path,
    options: &DraftOptions,
    key: &[u8; 32],
) -> Result<SchemaDraft, DataError> {
    let file = open::name(path);
    super::open::no_folder(path)?;
    if open::is_standard(path) {
        // It is read twice: for the values, and for the longest row.
        return Err(DataError::file(
            &file,
            FileProblem::NotFromStandardInput("a file to draft from"),
        ));
    }
    let format = options.format.or_else(|| Format::of(path));
    let format = format.ok_or_else(|| DataError::file(&file, FileProblem::UnknownFormat))?;
    let mut notes = Vec::new();
    let mut asked = BTreeMap::new();
    let mut scan = FileScan::new(options);
    let layout = options.layout(format);
    let text = matches!(format, Format::Csv | Format::Tsv);
    if text && options.decimal_comma && layout.delimiter == b',' {
        return Err(SchemaError::DecimalIsDelimiter.into());
    }
    with_file(path, format, &layout, None, &mut scan)?;
    let FileScan { scans, features, mut remarks, .. } = scan;
    let mut schema = match format {
        Format::Libsvm => libsvm(&scans, features, &mut remarks)?,
        _ => table(&scans, (options, &file), &mut notes, (&mut asked, &mut remarks))?,
    };
    // Whoever is not told protects records where persons are meant.
    remarks.extend(notes.iter().filter(|note| note.contains(WHOSE)).cloned());
    schema.row_norm = 1.0;
    if schema.width() > 0 {
        let wide = Schema { row_norm: norm::LARGEST, ..schema.clone() };
        let table = load_features(path, options.reading(format), &wide)?;
        schema.row_norm = row_norm(&table.rows, &file, asked.len(), &mut notes);
    }
    notes.push(
        "public_n is left out: set it to a public count if you use add-remove adjacency.".into(),
    );
    schema.drafted = Some(origin(path, &file, format, key)?);
    if schema.target().is_none() && schema.features().is_none() {
        notes.push("No target yet: give one column kind = \"target\".".into());
    }
    if !asked.is_empty() {
        notes.push("Columns of kind \"TODO\" are for you to decide.".into());
    }
    let toml = commented(&file, &notes, &schema.to_toml_asking(&asked));
    Ok(SchemaDraft { schema, toml, questions: asked.into_values().collect(), remarks })
}

/// A norm for the rows, and for so many columns that are decided later, with what is to be known.
fn row_norm(rows: &Rows, file: &str, asked: usize, notes: &mut Vec<String>) -> f64 {
    let (norm, some_are_longer) = norm_for(rows);
    notes.push(match some_are_longer {
        true => format!(
            "Row norm: at most one row in a hundred of {file} is longer than {}; those are scaled down to \
             it, because noise is in proportion to the norm.",
            round_up(norm)
        ),
        false => format!("Row norm: no row of {file} is longer than {}.", round_up(norm)),
    });
    if asked > 0 {
        notes.push(format!(
            "The row norm counts 1 for each of the {asked} columns of kind \"TODO\"; where you ignore all of them it is {}.",
            round_up(norm)
        ));
    }
    // A column of any kind is at most 1 of the norm: one that is decided later must not shorten the
    // others.
    round_up(norm.hypot((asked as f64).sqrt()))
}

/// What the file is known by: its contents, unpacked, whatever its name.
fn origin(path: &Path, file: &str, format: Format, key: &[u8; 32]) -> Result<Drafted, DataError> {
    let name = path.file_name().map_or_else(|| file.into(), |name| name.to_string_lossy());
    Drafted::new(&name, key, |fingerprint| {
        let see = |bytes: &[u8]| fingerprint.update(bytes);
        let read = match format {
            Format::Parquet => all(open::plain(path)?, see),
            _ => all(open::open(path)?, see),
        };
        read.map_err(|e| open::failed(file, &e))
    })
}

fn commented(file: &str, notes: &[String], schema: &str) -> String {
    let mut out = format!(
        "# Drafted from {file}.\n\
         # The bounds, categories, classes and row norm below were READ FROM THAT FILE. This schema keeps a private\n\
         # table private only if that file is public. If it is not, replace every one of them by what you know\n\
         # without looking at the data.\n\
         # [drafted] is for `reticent fit` to know that file again: a model of it is no guarantee, unless you say with\n\
         # public = true that the file is public. Do not publish the digest of a file that is private.\n#\n"
    );
    for note in notes {
        out.push_str(&format!("# {}\n", note.replace('\n', " ")));
    }
    out.push('\n');
    out.push_str(schema);
    out
}

/// What a pass over a column saw.
struct Scan {
    name: String,
    /// All present values so far are numbers.
    numeric: bool,
    lower: f64,
    upper: f64,
    spread: ColumnSpread,
    /// Different values, `None` once there are too many.
    values: Option<BTreeSet<String>>,
    tokens: BTreeSet<String>,
    unreadable: bool,
    seen: SeenValues,
}

impl Scan {
    fn new(name: String) -> Self {
        let values = Some(BTreeSet::new());
        let (lower, upper) = (f64::INFINITY, f64::NEG_INFINITY);
        let (tokens, seen) = (BTreeSet::new(), SeenValues::default());
        let spread = ColumnSpread::default();
        Self { name, numeric: true, lower, upper, spread, values, tokens, unreadable: false, seen }
    }

    /// The same where numbers have a comma before their decimals.
    fn see_text(&mut self, field: &[u8], comma: bool) {
        let text = field.trim_ascii();
        match ask::as_number(text, true).filter(|_| comma) {
            Some(x) => self.see(Cell::Number(x)),
            None => self.see(Cell::Text(field)),
        }
        if comma && text.contains(&b'.') && number::parse(text).is_some() {
            self.seen.both = true;
        }
    }

    fn see(&mut self, cell: Cell<'_>) {
        let (text, x) = match cell {
            Cell::Missing => return,
            Cell::Single(x) => return self.see(Cell::Number(x.into())),
            Cell::Rounded(x) => return self.see(Cell::Number(x)),
            Cell::Text(bytes) => {
                let bytes = bytes.trim_ascii();
                if let Some(token) = MISSING.iter().find(|t| t.as_bytes() == bytes) {
                    self.tokens.insert((*token).to_string());
                    return;
                }
                // A truth value is one in every format.
                match number::truth(bytes) {
                    Some(b) => (b.to_string(), Some(f64::from(b))),
                    None => (String::from_utf8_lossy(bytes).into_owned(), number::parse(bytes)),
                }
            }
            Cell::Number(x) if x.is_nan() => {
                self.tokens.insert("NaN".into());
                return;
            }
            Cell::Number(x) => (x.to_string(), Some(x)),
            Cell::Whole(n) => (n.to_string(), Some(n as f64)),
            Cell::Flag(b) => (b.to_string(), Some(f64::from(b))),
            Cell::Day(day) | Cell::Moment(day) => {
                (day::text(day.clamp(day::FIRST, day::LAST)), None)
            }
        };
        self.seen.see(text.as_bytes());
        match x.filter(|x| x.is_finite()) {
            Some(x) => {
                self.lower = self.lower.min(x);
                self.upper = self.upper.max(x);
                self.spread.see(x);
            }
            None => self.numeric = false,
        }
        if let Some(values) = &mut self.values {
            values.insert(text);
            if values.len() > MOST_CATEGORIES {
                self.values = None;
            }
        }
    }

    fn labels(&self) -> Option<Labels> {
        let mut values: Vec<&String> = self.values.as_ref()?.iter().collect();
        if self.numeric {
            values.sort_by(|a, b| {
                let of = |s: &String| number::parse(s.as_bytes()).unwrap_or(0.0);
                of(a).total_cmp(&of(b))
            });
        }
        Labels::new(values.into_iter().cloned()).ok()
    }

    /// What a person has to decide about this column.
    fn question(&self) -> Option<String> {
        let different = self.values.as_ref().map(BTreeSet::len);
        // A column that never changes is ignored whatever it means.
        if self.unreadable || different.is_some_and(|n| n < 2) {
            return None;
        }
        self.seen.question(&self.name, different, self.numeric)
    }

    fn role(&self, notes: &mut Vec<String>) -> Role {
        let ignore = |notes: &mut Vec<String>, why: &str| {
            notes.push(format!("Column {:?} is ignored: {why}.", self.name));
            Role::Ignored
        };
        if self.unreadable {
            return ignore(notes, "its type is neither number, text nor truth value");
        }
        match self.labels() {
            Some(labels) if labels.len() < 2 => ignore(notes, "it never changes"),
            labels if self.numeric => {
                // 0/1 columns keep their zeros, which cost nothing of the row norm.
                let flag =
                    labels.is_some_and(|l| l.len() == 2) && self.lower == 0.0 && self.upper == 1.0;
                let (lower, upper) = (self.lower, self.upper);
                let (chosen, is_skewed) = self.spread.scale(lower, upper);
                let scale = if flag { Scale::ZeroToOne } else { chosen };
                if is_skewed && !flag {
                    notes.push(format!(
                        "Column {:?} is scaled from 0 to 1: most of it is near its lower bound, and then costs \
                         little of the row norm.",
                        self.name
                    ));
                }
                let (quantiles, missing) = (Vec::new(), MissingNumber::default());
                Role::Numeric(Numeric { lower, upper, scale, quantiles, missing, curve: None })
            }
            Some(categories) => {
                let unknown = Unknown::default();
                Role::Categorical(Categorical { categories, missing: None, unknown, order: None })
            }
            None => {
                let why = "it is text with more than 100 different values";
                ignore(notes, &format!("{why}; {WHOSE}"))
            }
        }
    }

    /// The target, and a word on what it is taken for.
    fn target(&self, remarks: &mut Vec<String>) -> Result<Role, SchemaError> {
        let few = |labels: &Labels| !self.numeric || labels.len() <= MOST_CLASSES;
        let kind = match self.labels().filter(few) {
            Some(labels) => {
                if self.numeric {
                    remarks.push(format!(
                        "The target is drafted as {} classes: if it is an amount, give it lower and upper in place of classes.",
                        labels.len()
                    ));
                }
                TargetKind::Classes(labels)
            }
            None if self.numeric => {
                remarks.push(
                    "The target is drafted as an amount, for a regression: if its numbers are codes, give it classes in \
                     place of lower and upper."
                        .into(),
                );
                TargetKind::Range { lower: self.lower, upper: self.upper }
            }
            None => return Err(SchemaError::NotATarget(self.name.clone())),
        };
        Ok(Role::Target(Target { kind, missing: None }))
    }
}

fn table(
    scans: &[Scan],
    (options, file): (&DraftOptions, &str),
    notes: &mut Vec<String>,
    (asked, remarks): (&mut BTreeMap<usize, String>, &mut Vec<String>),
) -> Result<Schema, DataError> {
    let mut columns = Vec::new();
    let mut tokens = BTreeSet::from([String::new()]);
    for scan in scans {
        let role = match &scan.name {
            name if options.target.as_ref() == Some(name) => scan.target(remarks)?,
            name if name.is_empty() => {
                remarks.push(
                    "A column has no name, as pandas writes its index: it is ignored.".into(),
                );
                Role::Ignored
            }
            name if options.user.as_ref() == Some(name) => Role::User(IdForm::default()),
            _ => match scan.question() {
                Some(question) => {
                    asked.insert(columns.len(), question);
                    Role::Ignored
                }
                None => scan.role(notes),
            },
        };
        tokens.extend(scan.tokens.iter().cloned());
        columns.push(Column { name: scan.name.clone(), role });
    }
    let schema = Schema {
        row_norm: norm::LARGEST,
        header: !options.no_header,
        delimiter: options.remembered(file),
        decimal_comma: options.decimal_comma,
        missing_tokens: tokens.into_iter().collect(),
        features: None,
        columns: Arc::new(columns),
        ..Schema::libsvm(1, 1.0, TargetKind::Range { lower: 0.0, upper: 1.0 })?
    };
    // Where every feature is still to be decided there is none yet.
    let schema =
        if schema.width() == 0 && !asked.is_empty() { schema } else { schema.checked()? };
    for name in [&options.target, &options.user].into_iter().flatten() {
        schema.find(name)?;
    }
    Ok(schema)
}

/// What a pass over a file sees.
struct FileScan<'o> {
    options: &'o DraftOptions,
    file: String,
    scans: Vec<Scan>,
    /// The columns that are read.
    columns: Vec<usize>,
    /// Numbers have a comma before their decimals.
    comma: bool,
    /// The widest index of a LIBSVM file.
    features: u32,
    remarks: Vec<String>,
}

impl<'o> FileScan<'o> {
    fn new(options: &'o DraftOptions) -> Self {
        let (file, scans, columns, remarks) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        Self { options, file, scans, columns, comma: false, features: 0, remarks }
    }
}

impl FileConsumer for &mut FileScan<'_> {
    fn consume(self, file: &str, mut source: impl RecordFile) -> Result<(), DataError> {
        if let Some(first) = first_line(&source) {
            let DraftOptions { delimiter, no_header, header, decimal_comma, .. } = self.options;
            ask::check_delimiter(&first, *delimiter)
                .map_err(|problem| DataError::file(file, problem))?;
            if let Some(why) = ask::why_a_record(&first).filter(|_| !no_header && !header) {
                self.remarks.push(format!(
                    "The first line looks like a record: {why}. If it is one, draft again with `no_header`."
                ));
            }
            self.comma = *decimal_comma;
        }
        self.file = file.into();
        self.scans = source.head().names().into_iter().map(Scan::new).collect();
        for (i, scan) in self.scans.iter_mut().enumerate() {
            scan.unreadable = source.shape(i) == ColumnShape::Unreadable;
        }
        self.columns = (0..self.scans.len()).filter(|&i| !self.scans[i].unreadable).collect();
        let columns = self.columns.clone();
        while let Some(block) = source.next(&columns)? {
            block.each(&columns, self)?;
        }
        Ok(())
    }
}

impl CellConsumer for FileScan<'_> {
    fn cell(
        &mut self,
        line: u64,
        column: usize,
        cell: Result<Cell<'_>, CellProblem>,
    ) -> Result<(), DataError> {
        let scan = &mut self.scans[self.columns[column]];
        match cell.map_err(|p| DataError::cell(&self.file, line, &scan.name, p))? {
            Cell::Text(text) => scan.see_text(text, self.comma),
            cell => scan.see(cell),
        }
        Ok(())
    }

    fn pair(&mut self, index: u32, _: f64) {
        self.features = self.features.max(index + 1);
    }

    fn end(&mut self) -> Result<bool, DataError> {
        Ok(true)
    }
}

/// A schema by the widest index and the labels of a LIBSVM file.
fn libsvm(scans: &[Scan], features: u32, remarks: &mut Vec<String>) -> Result<Schema, DataError> {
    let Some(label) = scans.first() else { return Err(SchemaError::NoTarget.into()) };
    let Role::Target(target) = label.target(remarks)? else {
        return Err(SchemaError::NoTarget.into());
    };
    Ok(Schema::libsvm(features.max(1), norm::LARGEST, target.kind)?)
}

/// Up to three decimals of the leading digit, so that the file reads well; 1 for a table of zeros.
fn round_up(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let unit = 10_f64.powi(x.log10().floor() as i32 - 3);
    let text = format!("{:.3e}", (x / unit - 1e-9).ceil() * unit);
    text.parse().map_or(x, |y: f64| y.clamp(norm::SMALLEST, norm::LARGEST))
}

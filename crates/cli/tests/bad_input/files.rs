//! Tables, schemas, job files and models that are not what they should be, and places to write to.

use super::case::{Case, case};

pub const CASES: &[Case] = &[
    // Files.
    case("fit none.csv GOOD", "none.csv: cannot be opened: no such file"),
    case("fit empty.csv GOOD", "empty.csv: the file is empty"),
    case("fit header.csv GOOD", "header.csv: the file has a header but no records"),
    case("fit ragged.csv GOOD", "ragged.csv:3: the record has 2 fields where 3 are expected"),
    case("fit text.csv GOOD", "text.csv:2: column `age` is numeric, but the field is not a number"),
    case(
        "fit nan.csv GOOD",
        "nan.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)",
    ),
    case(
        "fit inf.csv GOOD",
        "inf.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)",
    ),
    case(
        "fit label.csv GOOD",
        "label.csv:2: column `ill` holds a label outside its classes; allowed: no, yes",
    ),
    case(
        "fit nolabel.csv GOOD",
        "nolabel.csv:2: column `ill` is the target, but the field is missing",
    ),
    case("fit twice.csv GOOD", "twice.csv: the header names column `age` twice"),
    case(
        "fit fewer.csv GOOD",
        "fewer.csv: the file has no column `town`, which the schema declares",
    ),
    case(
        "fit more.csv GOOD",
        "more.csv: column 4 of the file is not declared in the schema; declared: `age`, `town`, `ill`",
    ),
    case(
        "fit good.txt GOOD",
        "good.txt: the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with \
         .gz .xz .bz2 .zst or .zip",
    ),
    case(
        "fit quote.csv GOOD",
        "quote.csv:3: a quoted field is not closed before the end of the file",
    ),
    case("fit quotes.csv GOOD", "quotes.csv:2: a quoted field goes on behind its closing quote"),
    case("fit latin.csv GOOD", "latin.csv:2: the text is not UTF-8"),
    case("fit utf16.csv GOOD", "utf16.csv: the text is in UTF-16, and only UTF-8 is read"),
    case("fit good.csv GOOD --max-line 5", "good.csv:1: the record is longer than 5 bytes"),
    case(
        "fit label.svm --features 3 --row-norm 1 SVM",
        "label.svm:1: column `label` holds a label outside its \
         classes; allowed: -1, +1",
    ),
    case("fit cut.csv.gz GOOD", "cut.csv.gz: reading failed after line …"),
    case("fit not.parquet GOOD", "not.parquet: reading failed after line 0: …"),
    case(
        "fit index.svm --features 3 --row-norm 1 SVM",
        "index.svm:2: item 1 has an index beyond the declared 3 features; allowed: 1 to 3",
    ),
    case(
        "fit pair.svm --features 3 --row-norm 1 SVM",
        "pair.svm:1: item 1 is not of the form index:value",
    ),
    case(
        "fit model GOOD",
        "model/certificate.json: the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with .gz .xz .bz2 .zst or .zip",
    ),
    case(
        "fit semicolon.csv GOOD",
        "semicolon.csv: the file has no column `age`, which the schema declares",
    ),
    // The schema.
    case(
        "fit good.csv --target ill SVM",
        "the schema is missing: nothing about private data is guessed: write a schema (docs/schema.md), or draft …",
    ),
    case(
        "fit good.csv --schema none.toml --target ill SVM",
        "none.toml: the schema cannot be read: no such file",
    ),
    case(
        "fit good.csv --schema duplicate.toml --target ill SVM",
        "duplicate.toml: column `age` is declared twice",
    ),
    case(
        "fit good.csv --schema nofeatures.toml --target ill SVM",
        "nofeatures.toml: no feature is declared (d = 0); allowed: at least one numeric or categorical column, or \
         features >= 1",
    ),
    case(
        "fit good.csv --schema norm.toml --target ill SVM",
        "norm.toml: row_norm is 0; allowed: a number from 1e-100 to 1e100, above 0",
    ),
    case(
        "fit good.csv --schema schema.toml --target sick SVM",
        "there is no column `sick`; declared: `age`, `town`, `ill`",
    ),
    case(
        "fit good.csv GOOD --user-column who",
        "there is no column `who`; declared: `age`, `town`, `ill`",
    ),
    case(
        "fit good.svm --features 3 --row-norm -1 SVM",
        "row_norm is -1; allowed: a number from 1e-100 to 1e100, above 0",
    ),
    case(
        "fit good.svm --features 0 --row-norm 1 SVM",
        "no feature is declared (d = 0); allowed: at least one numeric or categorical column, or features >= 1",
    ),
    case(
        "fit good.svm --features 3 SVM",
        "the following required arguments were not provided: --row-norm <R>…",
    ),
    case(
        "fit none.csv --schema nohead.csv --target ill SVM",
        "nohead.csv: the schema is not valid: line 1: key with no value, expected `=`",
    ),
    case(
        "fit none.csv GOOD --row-norm 3",
        "row-norm = 3: it is for LIBSVM without a schema, and there is one: leave out --row-norm or --schema",
    ),
    case(
        "fit none.csv GOOD --classes no,yes",
        "classes = no,yes: it is for LIBSVM without a schema, and there is one: leave out --classes or --schema",
    ),
    // Job files.
    case("fit good.csv GOOD --spec none.toml", "cannot read the job file none.toml: no such file"),
    case(
        "fit good.csv GOOD --spec bad_job.toml",
        "bad_job.toml is not a job file: epsilom = 1.0: there is no such key",
    ),
    case(
        "fit none.csv GOOD --spec nohead.csv",
        "nohead.csv is not a job file: line 1: key with no value, expected `=`",
    ),
    case(
        "fit none.csv GOOD --spec half_job.toml",
        "half_job.toml is not a job file: iterations = 3.5: a whole number of at least 1 is needed",
    ),
    case(
        "fit none.csv GOOD --spec parties.toml",
        "parties.toml is not a job file: [parties]: there is no such key",
    ),
    // Models.
    case("inspect none.json", "cannot read the model none.json: no such file"),
    case(
        "inspect good.csv",
        "good.csv is not a model of this version: expected value at line 1 column 1",
    ),
    case("predict cut_model.json good.csv", "cut_model.json is not a model of this version: …"),
    case(
        "predict changed_model.json good.csv",
        "changed_model.json was changed since it was written: weights, preprocessing or settings are not those \
         that the certificate is about",
    ),
    case("verify none.json", "cannot read the model none.json: no such file"),
    case(
        "verify model --key good.csv",
        "good.csv is not a usable key: it is no Ed25519 public key in a PEM file",
    ),
    case("fit good.csv … --sign none", "cannot read the key none: no such file"),
    case(
        "fit good.csv … --sign good.csv",
        "good.csv is not a usable key: others than its owner may read it; take that away (mode 600)",
    ),
    case(
        "identity new good.csv",
        "good.csv is there already, and a key is never replaced: nothing was written",
    ),
    case(
        "evaluate model other.csv",
        "other.csv: the file has no column `age`, which the schema declares",
    ),
    case(
        "predict model good.svm",
        "good.svm: a LIBSVM file needs a schema with `features`, not columns",
    ),
    case(
        "evaluate model label.csv",
        "label.csv:2: column `ill` holds a label outside its classes; allowed: no, yes",
    ),
    case(
        "evaluate model model",
        "model/certificate.json: the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with .gz .xz .bz2 .zst or .zip",
    ),
    case(
        "evaluate model good.csv --epsilon 1",
        "an evaluation within a budget needs an epsilon and a delta of its own",
    ),
    case(
        "evaluate model good.csv --epsilon 1 --delta 0",
        "delta = 0: an evaluation has Gaussian noise, for which no epsilon holds without exception; give a delta such \
         as 1e-5",
    ),
    case(
        "evaluate model good.csv --epsilon 1 --delta 1e-6 --bins 1",
        "bins = 1: it must be from 2 to 200",
    ),
    case(
        "evaluate model good.csv --epsilon 1 --delta 1e-6 --confidence 2",
        "confidence = 2: it must lie between 0 and 1, for example 0.95",
    ),
    // Places to write to.
    case(
        "fit none.csv GOOD --out good.csv",
        "cannot write good.csv: good.csv is a file, and a folder is needed; nothing was left behind",
    ),
    case(
        "predict model good.csv --out good.csv",
        "good.csv is there already, a file: nothing was written",
    ),
    case("predict model good.csv --keep name", "good.csv: the file has no column `name` to keep"),
    case(
        "predict model good.csv --threshold 2",
        "threshold = 2: a probability from 0 to 1 is needed",
    ),
    case(
        "predict model good.csv --out none/p.csv",
        "cannot write none/p.csv: no such file; nothing was left behind",
    ),
    case(
        "predict model good.csv --out /dev/full",
        "cannot write /dev/full: the disk is full; nothing was left behind",
    ),
    // Words that are not understood.
    case("fitt good.csv", "unrecognized subcommand 'fitt'…"),
    case("list lossses", "invalid value 'lossses' for '<WHAT>' …"),
    case("schema init empty.csv", "empty.csv: the file is empty"),
    case("schema init good.csv --out good.csv", "good.csv is there already"),
    case(
        "schema check ragged.csv --schema schema.toml",
        "ragged.csv:3: the record has 2 fields where 3 are expected",
    ),
];

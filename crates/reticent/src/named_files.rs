//! The files of a table by one name: a file, a folder, or a pattern.

use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, glob_with};

use crate::error::Error;
use crate::spec::beside;

/// A star stays within a folder, and hidden files are asked for by name.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The files that `given` names, seen from the folder `base`, in byte order of their names: itself where it
/// is a file or `-`, all files of a folder but hidden ones (`.` or `_` first), and those that a pattern with
/// `*`, `?` or `[…]` matches. What is none of these stays as it is, for whoever reads it to say so.
///
/// # Errors
/// A folder without files or with folders in it, a pattern that matches nothing, and what cannot be listed.
pub fn named_files(base: &Path, given: &Path) -> Result<Vec<PathBuf>, Error> {
    let path = beside(base, given);
    if given.as_os_str() == "-" {
        return Ok(vec![given.to_path_buf()]);
    }
    if path.is_dir() {
        return in_folder(&path);
    }
    match given.to_str().filter(|text| text.contains(['*', '?', '['])) {
        Some(pattern) if !path.exists() => matching(base, given, pattern),
        _ => Ok(vec![path]),
    }
}

/// The same for several, one behind the other.
///
/// # Errors
/// As [`named_files`].
pub fn all_named_files(base: &Path, given: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let all: Result<Vec<_>, Error> = given.iter().map(|given| named_files(base, given)).collect();
    Ok(all?.concat())
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unread = |error| Error::read(folder, "the folder", &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".")
            || entry.file_name().as_encoded_bytes().starts_with(b"_")
        {
            continue;
        }
        if entry.path().is_dir() {
            let why = "there are folders in it, which may hold more of the table; name the files by a pattern, as \
                       'FOLDER/*/*.csv'";
            return Err(Error::value("data", folder.display(), why));
        }
        files.push(entry.path());
    }
    sorted(files, folder)
}

fn matching(base: &Path, given: &Path, pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let refused = |why: String| Error::value("data", given.display(), why);
    // What is special in the name of the folder of a job file is none of the pattern.
    let whole = match (given.is_relative(), base.to_str()) {
        (true, Some(base)) if !base.is_empty() => {
            format!("{}{}{pattern}", Pattern::escape(base), std::path::MAIN_SEPARATOR)
        }
        _ => pattern.to_owned(),
    };
    let found = glob_with(&whole, MATCHING).map_err(|error| refused(error.to_string()))?;
    let files: Result<Vec<_>, _> = found.collect();
    let files = files.map_err(|error| Error::read(error.path(), "the folder", error.error()))?;
    sorted(files.into_iter().filter(|file| !file.is_dir()).collect(), given)
}

fn sorted(mut files: Vec<PathBuf>, given: &Path) -> Result<Vec<PathBuf>, Error> {
    if files.is_empty() {
        let why =
            "no file is there; give the table, a folder of files or a pattern, as '2019/*.parquet'";
        return Err(Error::value("data", given.display(), why));
    }
    files.sort_by(|one, two| {
        one.as_os_str().as_encoded_bytes().cmp(two.as_os_str().as_encoded_bytes())
    });
    // A pattern with `**` twice matches a file in as many ways as folders can be shared out.
    files.dedup();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(base: &Path, given: &str) -> Vec<String> {
        let files = named_files(base, Path::new(given)).unwrap();
        let name = |file: &PathBuf| file.strip_prefix(base).unwrap().display().to_string();
        files.iter().map(name).collect()
    }

    #[test]
    fn files_come_in_byte_order_and_a_file_is_no_pattern() {
        // A folder whose own name looks like a pattern.
        let outer = tempfile::tempdir().unwrap();
        let base = outer.path().join("jobs [1]");
        for folder in ["t", "deep/a", "deep/b"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in ["t/b.csv", "t/B.csv", "t/10.csv", "t/9.csv", "t/.x.csv", "t/_x.csv", "x*.csv"]
        {
            std::fs::write(base.join(file), "x\n1\n").unwrap();
        }
        std::fs::write(base.join("xy.csv"), "x\n1\n").unwrap();
        for file in ["deep/b/1.csv", "deep/a/2.csv"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        let sorted = ["t/10.csv", "t/9.csv", "t/B.csv", "t/b.csv"];
        assert_eq!(names(&base, "t"), sorted);
        assert_eq!(names(&base, "t/[0-9Bb]*.csv"), sorted);
        assert_eq!(names(&base, "t/?.csv"), ["t/9.csv", "t/B.csv", "t/b.csv"]);
        assert_eq!(names(&base, "x*.csv"), ["x*.csv"]);
        assert_eq!(names(&base, "deep/*/*.csv"), ["deep/a/2.csv", "deep/b/1.csv"]);
        // Once, in however many ways a pattern matches it.
        std::fs::create_dir_all(base.join("deep/a/c")).unwrap();
        std::fs::write(base.join("deep/a/c/3.csv"), "").unwrap();
        assert_eq!(
            names(&base, "deep/**/*/**/*.csv"),
            ["deep/a/2.csv", "deep/a/c/3.csv", "deep/b/1.csv"]
        );
        assert_eq!(names(&base, "none.csv"), ["none.csv"]);
        assert_eq!(named_files(&base, Path::new("-")).unwrap(), [Path::new("-")]);
        for refused in ["none*.csv", "deep", "deep/*", "t/["] {
            assert!(named_files(&base, Path::new(refused)).is_err(), "{refused}");
        }
    }
}

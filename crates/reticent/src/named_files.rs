//! The files of a table by one name: a file, a folder, or a pattern.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern, glob_with};
use reticent_oracle::tables::is_kept_name;

use crate::error::Error;
use crate::spec::beside;

/// A star stays within a folder. Hidden files are left out here: the library ends the program at a name that is
/// no text if it is asked to.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The files that `given` names, seen from the folder `base`, in byte order of their names: itself where it
/// is a file or `-`, all files of a folder but hidden ones (`.` or `_` first), and those that a pattern with
/// `*`, `?` or `[…]` matches; caches that were kept are in neither. What is none of these stays as it is, for
/// whoever reads it to say so.
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

/// The files of several names, in their order.
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
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b".")
            || name.as_encoded_bytes().starts_with(b"_")
            || is_kept_name(&name)
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
    let mut files =
        files.map_err(|error| Error::read(error.path(), "the folder", error.error()))?;
    // How many parts of a path come before the first that is a pattern.
    let fixed = Path::new(&whole).iter().take_while(|part| !is_special(part)).count();
    let dotted = pattern.starts_with('.') || pattern.contains("/.");
    let hidden = |file: &PathBuf| {
        file.iter().skip(fixed).any(|part| part.as_encoded_bytes().starts_with(b"."))
    };
    let kept = |file: &PathBuf| file.file_name().is_some_and(is_kept_name);
    files.retain(|file| !file.is_dir() && (dotted || !hidden(file)) && !kept(file));
    let folder: PathBuf = Path::new(&whole).iter().take(fixed).collect();
    let folders = files.iter().filter_map(|file| file.parent()).chain([&*folder]);
    for folder in folders.map(Path::to_path_buf).collect::<BTreeSet<_>>() {
        if has_name_that_is_no_text(&folder) {
            let why = format!(
                "a file of {} has a name that is no text, which a pattern may mean and cannot match; rename it, or \
                 name the files",
                folder.display()
            );
            return Err(refused(why));
        }
    }
    sorted(files, given)
}

fn is_special(part: &OsStr) -> bool {
    part.to_str().is_some_and(|part| part.contains(['*', '?', '[']))
}

/// Whether a folder has a file whose name a pattern passes over.
fn has_name_that_is_no_text(folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_str().is_none())
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

    /// The library for patterns panicked.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_no_text_is_refused_beside_a_pattern() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "x\n1\n").unwrap();
        let odd = folder.path().join(OsStr::from_bytes(b"b\xff.csv"));
        std::fs::write(odd, "x\n1\n").unwrap();
        let said = named_files(folder.path(), Path::new("*.csv")).unwrap_err().to_string();
        assert!(said.contains("no text"), "{said}");
    }

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

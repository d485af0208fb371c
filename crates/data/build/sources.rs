//! The sources of a crate, as a digest.

use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// Hexadecimal SHA-256 of all files under `folder`, with their names, in the order of these.
pub fn digest(folder: &Path) -> io::Result<String> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next)? {
            let path: PathBuf = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        for part in [name.as_bytes(), &std::fs::read(&file)?] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

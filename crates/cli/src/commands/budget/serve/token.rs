//! The word that allows to write.

use std::path::Path;

use subtle::ConstantTimeEq;

use crate::failure::CommandFailure;

/// Shorter ones can be guessed.
const SHORTEST: usize = 16;

/// Longer ones are no token but another file.
const LONGEST: usize = 512;

/// What whoever may write knows.
pub struct Token(Vec<u8>);

impl Token {
    /// The first line of a file.
    pub fn read(path: &Path) -> Result<Self, CommandFailure> {
        let refuse = |message: String| CommandFailure::Usage {
            message: format!("{}: {message}", path.display()),
            hint: "write a line of at least 16 random characters there, for example from \
                   `openssl rand -hex 32`, and let nobody else read it"
                .to_owned(),
        };
        let there = std::fs::metadata(path).map_err(|error| refuse(error.kind().to_string()))?;
        if is_shared(&there) {
            return Err(CommandFailure::Usage {
                message: format!("{}: others can read this token", path.display()),
                hint: format!("make it yours alone: chmod 600 {}", path.display()),
            });
        }
        let size = there.len();
        if size > LONGEST as u64 {
            return Err(refuse("this is longer than a token".to_owned()));
        }
        let text =
            std::fs::read_to_string(path).map_err(|error| refuse(error.kind().to_string()))?;
        let line = text.lines().next().unwrap_or_default().trim();
        if line.len() < SHORTEST {
            return Err(refuse("its first line is too short for a token".to_owned()));
        }
        Ok(Self(line.as_bytes().to_vec()))
    }

    /// Whether it is this one; how long that takes does not depend on where they differ.
    pub fn is(&self, given: &str) -> bool {
        self.0.ct_eq(given.as_bytes()).into()
    }
}

/// Whether anybody but its owner may do anything with a file.
#[cfg(unix)]
fn is_shared(there: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&there.permissions()) & 0o077 != 0
}

/// Not told by numbers there.
#[cfg(not(unix))]
fn is_shared(_: &std::fs::Metadata) -> bool {
    false
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_is_it() {
        let token = Token(b"0123456789abcdef".to_vec());
        assert!(token.is("0123456789abcdef"));
        for other in ["", "0123456789abcdeF", "0123456789abcdef0", "0123456789abcde"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}

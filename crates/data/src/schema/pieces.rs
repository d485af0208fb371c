//! A long schema file, some columns at a time: what a TOML document takes in memory while it is
//! read is many times its text.

use super::Schema;
use super::raw::{RawSchema, columns};
use memchr::memmem;
use std::sync::Arc;

/// Bytes of a piece: its document takes up to twenty times as much, and is most of the memory of whoever has no
/// table yet.
const PIECE: usize = 1 << 15;

/// The schema, its columns not checked yet. `None` where the text is short, cannot be cut, or has
/// something wrong in it: then it is for whoever reads all of it to say what.
pub(super) fn read(text: &str) -> Option<Schema> {
    // Inside a text of several lines a line may begin like a column.
    if text.len() <= PIECE || text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let mut pieces = pieces(text);
    let mut schema = toml::from_str::<RawSchema>(pieces.next()?).ok()?.unchecked().ok()?;
    for piece in pieces {
        Arc::make_mut(&mut schema.columns).extend(columns(piece)?);
    }
    Arc::make_mut(&mut schema.columns).shrink_to_fit();
    Some(schema)
}

/// `text` cut before lines that begin with `[[column]]`.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let from = rest.len().min(PIECE);
        let cut = memmem::find(&rest.as_bytes()[from..], b"\n[[column]]");
        // Behind a line feed, which is a character of its own.
        let (piece, behind) = rest.split_at(cut.map_or(rest.len(), |at| from + at + 1));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::super::SchemaError;
    use super::*;

    fn long(columns: usize) -> String {
        let mut text = String::from("row_norm = 1\npublic_n = 7\n");
        for i in 0..columns {
            text += &format!("\n[[column]]\nname = 'x{i}'\nkind = 'numeric'\nlower = 0\n");
            text += "upper = 1 # [[column]]\n";
        }
        text + "[[column]]\nname = 'y'\nkind = 'target'\nclasses = ['no', 'yes']\n"
    }

    #[test]
    fn a_schema_in_pieces_is_the_whole_schema() {
        let text = long(9000);
        assert!(pieces(&text).count() > 2 && pieces(&text).collect::<String>() == text);
        let whole: Schema = toml::from_str::<RawSchema>(&text).unwrap().try_into().unwrap();
        assert_eq!(read(&text).unwrap(), whole);
        assert_eq!(text.parse::<Schema>().unwrap(), whole);
        assert!(read(&long(9)).is_none(), "short ones are read at once");
    }

    #[test]
    fn what_is_wrong_is_told_as_of_the_whole() {
        let text = long(9000);
        let said = |text: &str| text.parse::<Schema>().unwrap_err().to_string();
        let late = text.replace("name = 'x8000'", "nam = 'x8000'");
        assert!(said(&late).contains("line 48005: unknown field `nam`"), "{}", said(&late));
        let bound = text.replace("name = 'x8000'\nkind = 'numeric'", "name = 'x8000'\nkind = 'n'");
        assert!(said(&bound).contains("column `x8000` has kind = \"n\""), "{}", said(&bound));
        let twice = text.replace("'x8000'", "'x1'");
        assert!(
            matches!(twice.parse::<Schema>(), Err(SchemaError::DuplicateColumn(name)) if name == "x1")
        );
        // A key of the whole behind the columns.
        assert!(said(&(text.clone() + "[drafted]\nfile = 3\n")).contains("line 5400"));
        // A text of several lines in which one looks like a column.
        let tricky = text.clone() + "missing = \"\"\"no\n[[column]]\"\"\"\n";
        assert!(said(&tricky).contains("missing"), "{}", said(&tricky));
    }
}

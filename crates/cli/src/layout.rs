//! Text in columns and lines.

/// Rows of cells, each column as wide as its widest cell, two spaces between, `indent` spaces
/// before. Numbers go to the right: the columns from `right_from` on.
pub fn columns(rows: &[Vec<String>], indent: usize, right_from: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |j: usize| rows.iter().filter_map(|row| row.get(j)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..count).map(|j| width(j).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = " ".repeat(indent);
        for (j, cell) in row.iter().enumerate() {
            let gap = if j == 0 { "" } else { "  " };
            let width = widths[j];
            line += &if j >= right_from {
                format!("{gap}{cell:>width$}")
            } else {
                format!("{gap}{cell:<width$}")
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// The longest line, in characters.
const WIDTH: usize = 100;

/// Text on lines of at most 100 characters.
pub fn wrapped(text: &str) -> String {
    wrapped_to(WIDTH, text)
}

/// A name, and beside it its paragraphs, on lines of at most 100 characters.
pub fn beside(rows: &[(String, Vec<String>)]) -> String {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for (name, paragraphs) in rows {
        let mut name = name.as_str();
        for line in paragraphs.iter().flat_map(|words| {
            wrapped_to(WIDTH - width, words).lines().map(str::to_owned).collect::<Vec<_>>()
        }) {
            text += format!("{name:<width$}{line}").trim_end();
            text.push('\n');
            name = "";
        }
    }
    text
}

fn wrapped_to(width: usize, text: &str) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            out.push('\n');
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [["a", "1.5"], ["länger", "12.5"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows, 2, 1), "  a        1.5\n  länger  12.5\n");
    }

    #[test]
    fn paragraphs_stand_beside_their_name() {
        let rows = [("name".to_owned(), vec!["word ".repeat(30), "more".to_owned()])];
        let text = beside(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("name  word") && lines[1].starts_with("      word"), "{text}");
        assert_eq!(lines[2], "      more");
        assert!(lines.iter().all(|line| line.len() <= 100));
    }

    #[test]
    fn long_text_is_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(50));
        assert!(text.lines().all(|line| line.len() <= 100 && !line.ends_with(' ')));
        assert_eq!(text.split_whitespace().count(), 50);
    }
}

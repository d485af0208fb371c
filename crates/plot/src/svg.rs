//! Text that is SVG: what is written is escaped, and no number is anything but a number.

use std::fmt::Write;

/// A piece of SVG.
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

/// Text that is safe between tags and in an attribute. What XML forbids is left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => (),
            c => out.push(c),
        }
    }
    out
}

/// A place on the paper, to a tenth of a pixel; what is no number is at 0, and never drawn.
pub(crate) fn place(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// How words stand to their place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Words at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    pub at: (f64, f64),
    pub anchor: Anchor,
    pub class: &'a str,
    pub fill: &'a str,
    pub more: &'a str,
}

impl Svg {
    pub(crate) fn raw(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(crate) fn line(
        &mut self,
        (x1, y1): (f64, f64),
        (x2, y2): (f64, f64),
        class: &str,
        stroke: &str,
    ) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(place);
        let _ = writeln!(
            self.0,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{stroke}\"/>"
        );
    }

    pub(crate) fn text(&mut self, words: &Words, text: &str) {
        let anchor = match words.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if words.class.is_empty() {
            String::new()
        } else {
            format!(" class=\"{}\"", words.class)
        };
        let (x, y) = (place(words.at.0), place(words.at.1));
        let (fill, more) = (words.fill, words.more);
        let text = escaped(text);
        let _ = writeln!(
            self.0,
            "<text{class} x=\"{x}\" y=\"{y}\"{anchor} fill=\"{fill}\"{more}>{text}</text>"
        );
    }

    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// How wide a letter is to its size, bold and in the wider fonts; capitals are wider.
const LETTER: f64 = 0.62;
const CAPITAL: f64 = 0.8;

fn width_of_letter(letter: char) -> f64 {
    if letter.is_uppercase() { CAPITAL } else { LETTER }
}

/// About how wide text is drawn; fonts differ, so it is rather too much.
pub(crate) fn width_of(text: &str, size: f64) -> f64 {
    size * text.chars().map(width_of_letter).sum::<f64>()
}

/// The text, cut so that it is at most so wide, and at least of two letters.
pub(crate) fn cut(text: &str, size: f64, width: f64) -> String {
    // A part of a letter is what rounding makes.
    let fits = |text: &str| width_of(text, size) <= width + 1e-9 || text.chars().count() <= 2;
    if fits(text) {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    loop {
        letters.pop();
        let shorter: String = letters.iter().copied().chain(std::iter::once('…')).collect();
        if fits(&shorter) || letters.is_empty() {
            return shorter;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leaves_the_text() {
        let hostile = "</text><script>alert(1)</script>&\"'\u{0}\u{1b}]0;";
        let safe = escaped(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{1b}']), "{safe}");
        assert!(safe.starts_with("&lt;/text&gt;&lt;script&gt;"));
    }

    #[test]
    fn places_are_short_numbers() {
        assert_eq!([1.0, 1.25, f64::NAN, f64::INFINITY].map(place), ["1", "1.2", "0", "0"]);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut("abc", 10.0, 100.0), "abc");
        assert_eq!(cut(&"x".repeat(100), 10.0, 63.0).chars().count(), 10);
    }
}

//! Colours, once for light and once for dark.
//!
//! The hues are those of Okabe and Ito, which can be told apart without seeing red or green; on white
//! they are darkened and on black lightened until text in them has a contrast of 4.5 to 1.

/// How many curves have a colour of their own; the next begins again, with another dash.
pub(crate) const SERIES: usize = 4;

/// The fallback of every part, for who knows no style sheets: light.
pub(crate) const LIGHT: [&str; SERIES] = ["#0068a5", "#b04a00", "#00735a", "#97457a"];

/// Ink, faint ink, grid and paper.
pub(crate) const INK: &str = "#1d242b";
pub(crate) const FAINT: &str = "#55606b";
pub(crate) const GRID: &str = "#dfe3e7";
pub(crate) const PAPER: &str = "#ffffff";

/// The style of all pictures of a page.
pub const STYLE: &str = include_str!("plot.css");

/// The dash of a curve, so that colour is not needed to tell curves apart; a colour that comes again
/// has another.
pub(crate) fn dash(curve: usize) -> &'static str {
    DASHES[(curve + curve / SERIES) % SERIES]
}

/// Dashes.
pub(crate) const DASHES: [&str; SERIES] = ["", "7 4", "2 3", "9 3 2 3"];

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast of WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let part = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (a, b) = (luminance(one), luminance(other));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The values of a variable, light first.
    fn values(name: &str) -> Vec<&'static str> {
        let name = format!("{name}:");
        STYLE.split(&name).skip(1).map(|rest| &rest.trim_start()[..7]).collect()
    }

    #[test]
    fn words_in_every_colour_can_be_read_in_both_schemes() {
        let papers = values("--plot-paper");
        assert_eq!((papers.len(), papers[0]), (2, PAPER));
        for name in ["--plot-ink", "--plot-faint", "--plot-0", "--plot-1", "--plot-2", "--plot-3"] {
            let colours = values(name);
            assert_eq!(colours.len(), 2, "{name} has a light and a dark value");
            for (colour, paper) in colours.iter().zip(&papers) {
                let found = contrast(colour, paper);
                assert!(found >= 4.5, "{name}: {colour} on {paper} has {found:.2}");
            }
        }
        let own: Vec<_> = (0..SERIES).map(|k| values(&format!("--plot-{k}"))[0]).collect();
        assert_eq!(own, LIGHT, "the fallback is the light scheme");
    }
}

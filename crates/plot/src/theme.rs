//! Colours, once for light and once for dark.
//!
//! The hues are those of Okabe and Ito, which can be told apart without seeing red or green; on white
//! they are darkened and on black lightened until text in them has a contrast of 4.5 to 1.

/// How many curves have a colour of their own where none is asked for; the next begins again, with
/// another dash.
pub(crate) const SERIES: usize = 4;

/// How many colours there are to ask for.
pub const HUES: usize = 20;

/// The fallback of every part, for who knows no style sheets: light.
pub(crate) const LIGHT: [&str; HUES] = [
    "#0068a5", "#b04a00", "#00735a", "#97457a", "#c8102e", "#006d85", "#6b6a00", "#6e4423",
    "#3a3f9f", "#6a3fc8", "#b80fa0", "#2f7d00", "#12305f", "#7d0f35", "#4b4f57", "#34208a",
    "#7a1f7a", "#b5304f", "#a65300", "#606000",
];

/// A warning.
pub(crate) const STAMP: &str = "#b3001e";

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
    DASHES[(curve + curve / DASHES.len()) % DASHES.len()]
}

/// Dashes.
const DASHES: [&str; 7] = ["", "7 4", "2 3", "9 3 2 3", "13 4", "5 2 1 2 1 2", "1 5"];

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
        let own = (0..HUES).map(|k| format!("--plot-{k}"));
        let named = ["--plot-ink", "--plot-faint", "--plot-stamp"].map(str::to_owned);
        for name in named.into_iter().chain(own) {
            let colours = values(&name);
            assert_eq!(colours.len(), 2, "{name} has a light and a dark value");
            for (colour, paper) in colours.iter().zip(&papers) {
                let found = contrast(colour, paper);
                assert!(found >= 4.5, "{name}: {colour} on {paper} has {found:.2}");
            }
        }
        let own: Vec<_> = (0..HUES).map(|k| values(&format!("--plot-{k}"))[0]).collect();
        assert_eq!(own, LIGHT, "the fallback is the light scheme");
        assert_eq!(values("--plot-stamp")[0], STAMP);
    }

    #[test]
    fn no_colour_is_there_twice_and_each_has_its_classes() {
        let all: std::collections::BTreeSet<&str> = LIGHT.into_iter().collect();
        assert_eq!(all.len(), HUES);
        for k in 0..HUES {
            assert!(STYLE.contains(&format!(".l{k} {{")) && STYLE.contains(&format!(".f{k},")));
        }
    }
}

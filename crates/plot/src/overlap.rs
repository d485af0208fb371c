//! Labels that cover each other, found in the SVG itself and not where it was drawn.

use crate::svg::width_of;

/// A label as it lies on the paper.
#[derive(Debug)]
struct PlacedLabel<'s> {
    words: &'s str,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Of a font's size, how far a word goes above its line and below it.
const ABOVE: f64 = 0.72;
const BELOW: f64 = 0.18;

/// The pairs of labels in a picture that cover each other, by a generous width of their letters.
#[must_use]
pub fn overlaps(svg: &str) -> Vec<(String, String)> {
    let labels: Vec<PlacedLabel> = svg.split("<text").skip(1).filter_map(label).collect();
    let mut found = Vec::new();
    for (k, one) in labels.iter().enumerate() {
        for other in &labels[k + 1..] {
            let across = one.left < other.right && other.left < one.right;
            if across && one.top < other.bottom && other.top < one.bottom {
                found.push((one.words.to_owned(), other.words.to_owned()));
            }
        }
    }
    found
}

/// The label of a `<text` element, from behind its name.
fn label(element: &str) -> Option<PlacedLabel<'_>> {
    let (head, rest) = element.split_once('>')?;
    let words = rest.split('<').next()?;
    let attribute = |name: &str| {
        let start = head.find(&format!(" {name}=\""))? + name.len() + 3;
        head[start..].split('"').next()
    };
    let number = |name: &str| attribute(name)?.parse::<f64>().ok();
    let (x, y, size) = (number("x")?, number("y")?, number("font-size")?);
    // A sign such as &lt; is one letter.
    let letters: String = words
        .split('&')
        .enumerate()
        .map(|(k, part)| match part.split_once(';') {
            Some((_, rest)) if k > 0 => format!("x{rest}"),
            _ => part.to_owned(),
        })
        .collect();
    let width = width_of(&letters, size);
    let left = match attribute("text-anchor") {
        Some("middle") => x - width / 2.0,
        Some("end") => x - width,
        _ => x,
    };
    let (right, top, bottom) = (left + width, y - ABOVE * size, y + BELOW * size);
    // A word that is turned stands upright at its place.
    Some(match attribute("transform") {
        Some(_) => PlacedLabel {
            words,
            left: x - ABOVE * size,
            right: x + BELOW * size,
            top: y - width / 2.0,
            bottom: y + width / 2.0,
        },
        None => PlacedLabel { words, left, right, top, bottom },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_covers_another_is_found() {
        let text = |x: f64, y: f64, words: &str| {
            format!(
                "<text class=\"a\" x=\"{x}\" y=\"{y}\" fill=\"#000\" font-size=\"10\">{words}</text>\n"
            )
        };
        let apart = text(0.0, 10.0, "abc") + &text(0.0, 30.0, "abc") + &text(50.0, 10.0, "abc");
        assert!(overlaps(&apart).is_empty());
        let covering = text(0.0, 10.0, "abc") + &text(10.0, 13.0, "d &lt; e");
        assert_eq!(overlaps(&covering), [("abc".to_owned(), "d &lt; e".to_owned())]);
        let turned = text(0.0, 10.0, "abc").replace("<text", "<text transform=\"rotate(-90 0 0)\"");
        assert!(overlaps(&(turned.clone() + &text(2.0, 10.0, "abc"))).is_empty());
        assert_eq!(overlaps(&(turned + &text(-5.0, 20.0, "abc"))).len(), 1);
    }
}

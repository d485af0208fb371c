//! Bars: a name and a number each, to the right of 0 or to the left, perhaps with what the number may
//! be instead.

use crate::draw::open;
use crate::svg::{Anchor, Svg, Words, cut, place, width_of};
use crate::theme::{FAINT, GRID, INK, LIGHT};
use crate::{Axis, Size};

/// One bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What it is.
    pub name: String,
    /// How long; not drawn if it is not finite.
    pub value: f64,
    /// What is written beside it.
    pub words: String,
}

/// A picture of bars.
#[derive(Clone, Debug)]
pub struct Bars {
    /// Its title.
    pub title: String,
    /// What is to be seen, for whoever does not see it.
    pub description: String,
    /// The bars, from above.
    pub bars: Vec<Bar>,
}

const ROW: f64 = 26.0;

/// A row whose name is above its bar, for a narrow page.
const STACKED: f64 = 42.0;
const FONT: f64 = 13.0;

impl Bars {
    /// A file that stands alone.
    #[must_use]
    pub fn to_file(&self) -> String {
        self.draw(Size::Wide, "bars", true)
    }

    /// A part of a page; see [`Plot::to_page`](crate::Plot::to_page).
    #[must_use]
    pub fn to_page(&self, size: Size, id: &str) -> String {
        self.draw(size, id, false)
    }

    fn draw(&self, size: Size, id: &str, alone: bool) -> String {
        let (width, most) = match size {
            Size::Wide => (720.0, 240.0),
            Size::Narrow => (360.0, 110.0),
        };
        let widest = |of: fn(&Bar) -> &String| {
            self.bars.iter().map(|bar| width_of(of(bar), FONT)).fold(0.0, f64::max)
        };
        let wanted = widest(|bar| &bar.name) + 14.0;
        // A name that is cut tells less than a picture that is longer.
        let stacked = size == Size::Narrow && wanted > most;
        let row = if stacked { STACKED } else { ROW };
        let top = if alone { 44.0 } else { 6.0 };
        let height = top + row * self.bars.len() as f64 + 6.0;
        let mut svg = Svg::default();
        open(&mut svg, (width, height), (&self.title, &self.description), id, alone);
        if alone {
            let more = " font-size=\"16\" font-weight=\"600\"";
            let words =
                Words { at: (8.0, 28.0), anchor: Anchor::Start, class: "", fill: INK, more };
            svg.text(&words, &self.title);
        }
        let left = if stacked { 4.0 } else { wanted.min(most) };
        let numbers = widest(|bar| &bar.words) + 10.0;
        let values = || self.bars.iter().map(|bar| bar.value);
        let room = (left, (width - numbers).max(left + 40.0));
        let axis = Axis::linear("").from_zero().over(values(), room, 4);
        let zero = axis.at(0.0);
        svg.line((zero, top), (zero, height - 6.0), "grid", GRID);
        for (k, bar) in self.bars.iter().enumerate() {
            let place = BarPlace {
                top: top + row * k as f64,
                left,
                width,
                zero,
                end: axis.at(bar.value),
                stacked,
            };
            place.draw(&mut svg, bar);
        }
        svg.finish() + "</svg>\n"
    }
}

/// Where a bar is.
struct BarPlace {
    top: f64,
    left: f64,
    width: f64,
    zero: f64,
    end: f64,
    /// Whether the name is above the bar.
    stacked: bool,
}

impl BarPlace {
    fn draw(&self, svg: &mut Svg, bar: &Bar) {
        let more = format!(" font-size=\"{FONT}\"");
        let (at, anchor, room) = match self.stacked {
            true => ((4.0, self.top + 15.0), Anchor::Start, self.width - 8.0),
            false => ((self.left - 10.0, self.top + 17.0), Anchor::End, self.left - 10.0),
        };
        let name = Words { at, anchor, class: "", fill: INK, more: &more };
        svg.text(&name, &cut(&bar.name, FONT, room));
        let down = if self.stacked { STACKED - ROW } else { 0.0 };
        let base = self.top + down + 17.0;
        if bar.value.is_finite() {
            let (from, to) = (self.zero.min(self.end), self.zero.max(self.end));
            let k = usize::from(bar.value < 0.0);
            svg.raw(&format!(
                "<rect class=\"f{k}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\" rx=\"2\" fill=\"{}\"/>\n",
                place(from),
                place(self.top + down + 6.0),
                place((to - from).max(1.0)),
                LIGHT[k]
            ));
        }
        let at = (self.width - 4.0, base);
        let words = Words { at, anchor: Anchor::End, class: "faint", fill: FAINT, more: &more };
        svg.text(&words, &bar.words);
    }
}

/// A share from 0 to 1 as a little bar for a cell of a table, which has the number in words too.
#[must_use]
pub fn share(share: f64) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let width = place(100.0 * share);
    format!(
        "<svg class=\"plot share\" aria-hidden=\"true\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\">\
         <rect width=\"100\" height=\"10\" rx=\"2\" class=\"track\" fill=\"{GRID}\"/>\
         <rect width=\"{width}\" height=\"10\" rx=\"2\" class=\"f0\" fill=\"{}\"/></svg>",
        LIGHT[0]
    )
}

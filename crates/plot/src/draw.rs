//! From a plot to SVG.

use std::fmt::Write;

use crate::STYLE;
use crate::axis::DrawnAxis;
use crate::curve::PlotCurve;
use crate::labels::spread;
use crate::plot::{Plot, Size};
use crate::svg::{Anchor, Svg, Words, cut, escaped, place, width_of};
use crate::theme::{FAINT, GRID, INK, LIGHT, PAPER, STAMP, dash};

/// The measures of a picture.
#[derive(Clone, Copy, Debug)]
struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    font: f64,
}

impl Frame {
    fn of(plot: &Plot, size: Size, titled: bool) -> Self {
        let named = || plot.curves.iter().map(|curve| &curve.name);
        let names = || named().chain(plot.rules.iter().map(|rule| &rule.1));
        let names = || names().filter(|name| !name.is_empty());
        let count = names().count() as f64;
        let title = if titled { 30.0 } else { 0.0 };
        let stamp = if plot.stamp.is_empty() { 0.0 } else { 20.0 };
        let note = if plot.note.is_empty() { 0.0 } else { 17.0 };
        let head = title + stamp;
        match size {
            Size::Wide => {
                let font = 13.0;
                let longest = names().map(|name| width_of(name, font)).fold(0.0, f64::max);
                let right = (longest + 26.0).clamp(24.0, 290.0);
                // Where there are many names they ask for more height than the curves.
                let room = 290.0_f64.max(count * (font + 4.0));
                let (top, bottom) = (16.0 + head, 54.0 + note);
                let (width, height) = (720.0, top + room + bottom);
                Self { width, height, left: left(plot, font, 68.0), right, top, bottom, font }
            }
            Size::Narrow => {
                let font = 12.0;
                let (top, bottom) = (12.0 + head + 18.0 * count, 48.0 + note);
                let (width, height) = (360.0, top + 200.0 + bottom);
                Self { width, height, left: left(plot, font, 48.0), right: 14.0, top, bottom, font }
            }
        }
    }

    fn end(&self) -> f64 {
        self.width - self.right
    }

    fn floor(&self) -> f64 {
        self.height - self.bottom
    }
}

/// The room for the marks upward and for the name of that axis, which stand beside each other.
fn left(plot: &Plot, font: f64, least: f64) -> f64 {
    let marks = numbers_up(plot, (100.0, 0.0)).marks;
    let widest = marks.iter().map(|(_, words)| width_of(words, font)).fold(0.0, f64::max);
    (widest + 28.0).max(least)
}

/// The beginning of a picture: who it is for, its title and description, its paper.
pub(crate) fn open(
    svg: &mut Svg,
    (width, height): (f64, f64),
    (title, description): (&str, &str),
    id: &str,
    alone: bool,
) {
    let id: String = id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let (title, description) = (escaped(title), escaped(description));
    // Within a page the name space is known, and nothing in a page names another host.
    let space = if alone { " xmlns=\"http://www.w3.org/2000/svg\"" } else { "" };
    let (described, desc) = if description.is_empty() {
        (String::new(), String::new())
    } else {
        (format!(" {id}-d"), format!("<desc id=\"{id}-d\">{description}</desc>\n"))
    };
    let (width, height) = (place(width), place(height));
    svg.raw(&format!(
        "<svg{space} class=\"plot\" role=\"img\" aria-labelledby=\"{id}-t{described}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\n\
         <title id=\"{id}-t\">{title}</title>\n{desc}"
    ));
    if alone {
        svg.raw(&format!("<style>{STYLE}</style>\n"));
        svg.raw(&format!(
            "<rect class=\"paper\" width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>\n"
        ));
    }
}

pub(crate) fn plot(plot: &Plot, size: Size, id: &str, alone: bool) -> String {
    let frame = Frame::of(plot, size, alone);
    let mut svg = Svg::default();
    let measures = (frame.width, frame.height);
    open(&mut svg, measures, (&plot.title, &plot.description), id, alone);
    if alone {
        let more = " font-size=\"16\" font-weight=\"600\"";
        let title = cut(&plot.title, 16.0, frame.width - 24.0);
        let words = Words { at: (14.0, 28.0), anchor: Anchor::Start, class: "", fill: INK, more };
        svg.text(&words, &title);
    }
    remarks(&mut svg, plot, &frame, alone);
    let (x, y) = axes(plot, &frame, size);
    grid(&mut svg, &frame, &x, &y);
    axis_names(&mut svg, plot, &frame);
    for (value, _) in plot.rules.iter().filter(|(value, _)| plot.y.takes(*value)) {
        let at = y.at(*value);
        svg.line((frame.left, at), (frame.end(), at), "rule", FAINT);
    }
    for (k, curve) in plot.curves.iter().enumerate() {
        draw_curve(&mut svg, plot, curve, k, (&x, &y));
    }
    match size {
        Size::Wide => names_beside(&mut svg, plot, &frame, (&x, &y)),
        Size::Narrow => names_above(&mut svg, plot, &frame),
    }
    svg.finish() + "</svg>\n"
}

/// The warning above, and the remark below.
fn remarks(svg: &mut Svg, plot: &Plot, frame: &Frame, titled: bool) {
    if !plot.stamp.is_empty() {
        let more = format!(" font-size=\"{}\" font-weight=\"700\"", frame.font);
        let at = (14.0, if titled { 47.0 } else { 15.0 });
        let words = Words { at, anchor: Anchor::Start, class: "stamp", fill: STAMP, more: &more };
        svg.text(&words, &cut(&plot.stamp, frame.font, frame.width - 24.0));
    }
    if !plot.note.is_empty() {
        let more = format!(" font-size=\"{}\"", frame.font - 1.0);
        let at = (frame.width - 6.0, frame.height - 7.0);
        let words = Words { at, anchor: Anchor::End, class: "faint", fill: FAINT, more: &more };
        svg.text(&words, &cut(&plot.note, frame.font - 1.0, frame.width - 12.0));
    }
}

fn shown<'p>(plot: &'p Plot, curve: &'p PlotCurve) -> impl Iterator<Item = &'p (f64, f64)> {
    let takes = |point: &&(f64, f64)| plot.x.takes(point.0) && plot.y.takes(point.1);
    curve.points.iter().filter(takes)
}

fn numbers_up(plot: &Plot, ends: (f64, f64)) -> DrawnAxis {
    let points = plot.curves.iter().flat_map(|curve| shown(plot, curve));
    let bands = plot.curves.iter().flat_map(|curve| &curve.band);
    let all = points
        .map(|point| point.1)
        .chain(bands.flat_map(|band| [band.1, band.2]))
        .chain(plot.rules.iter().map(|rule| rule.0));
    plot.y.over(all, ends, 5)
}

fn axes(plot: &Plot, frame: &Frame, size: Size) -> (DrawnAxis, DrawnAxis) {
    let across = match size {
        Size::Wide => 7,
        Size::Narrow => 4,
    };
    let points = plot.curves.iter().flat_map(|curve| shown(plot, curve));
    let bands = plot.curves.iter().flat_map(|curve| &curve.band);
    let xs = points.map(|point| point.0).chain(bands.map(|band| band.0));
    let x = plot.x.over(xs, (frame.left, frame.end()), across);
    (x, numbers_up(plot, (frame.floor(), frame.top)))
}

fn grid(svg: &mut Svg, frame: &Frame, x: &DrawnAxis, y: &DrawnAxis) {
    let more = format!(" font-size=\"{}\"", frame.font);
    let words = |at, anchor| Words { at, anchor, class: "faint", fill: FAINT, more: more.as_str() };
    for (value, name) in &y.marks {
        let at = y.at(*value);
        svg.line((frame.left, at), (frame.end(), at), "grid", GRID);
        svg.text(&words((frame.left - 8.0, at + 4.0), Anchor::End), name);
    }
    let mut free = 0.0;
    for (value, name) in &x.marks {
        let at = x.at(*value);
        svg.line((at, frame.floor()), (at, frame.floor() + 5.0), "rule", FAINT);
        // A word at the edge stays on the paper, and one that would cover the last is left out.
        let half = width_of(name, frame.font) / 2.0;
        let at = at.clamp(half, (frame.width - half).max(half));
        if at - half >= free {
            svg.text(&words((at, frame.floor() + 20.0), Anchor::Middle), name);
            free = at + half + 2.0;
        }
    }
    svg.line((frame.left, frame.floor()), (frame.end(), frame.floor()), "rule", FAINT);
}

fn axis_names(svg: &mut Svg, plot: &Plot, frame: &Frame) {
    let more = format!(" font-size=\"{}\"", frame.font);
    let room = frame.end() - frame.left;
    let middle = (frame.left + frame.end()) / 2.0;
    let at = (middle, frame.floor() + 44.0);
    let words = Words { at, anchor: Anchor::Middle, class: "", fill: INK, more: &more };
    svg.text(&words, &cut(&plot.x.label, frame.font, room.max(260.0)));
    let middle = place((frame.top + frame.floor()) / 2.0);
    let more = format!("{more} transform=\"rotate(-90 14 {middle})\"");
    let at = (14.0, (frame.top + frame.floor()) / 2.0);
    let words = Words { at, anchor: Anchor::Middle, class: "", fill: INK, more: &more };
    svg.text(&words, &cut(&plot.y.label, frame.font, frame.floor() - frame.top));
}

fn draw_curve(
    svg: &mut Svg,
    plot: &Plot,
    curve: &PlotCurve,
    k: usize,
    (x, y): (&DrawnAxis, &DrawnAxis),
) {
    let class = curve.hue(k);
    let colour = LIGHT[class];
    let point = |(a, b): (f64, f64)| format!("{},{}", place(x.at(a)), place(y.at(b)));
    let takes = |a: f64, b: f64| plot.x.takes(a) && plot.y.takes(b);
    let band: Vec<_> =
        curve.band.iter().filter(|(a, l, u)| takes(*a, *l) && plot.y.takes(*u)).collect();
    if band.len() > 1 {
        let up = band.iter().map(|(a, _, upper)| point((*a, *upper)));
        let back = band.iter().rev().map(|(a, lower, _)| point((*a, *lower)));
        let around = up.chain(back).collect::<Vec<_>>().join(" ");
        svg.raw(&format!(
            "<polygon class=\"f{class}\" points=\"{around}\" fill=\"{colour}\" fill-opacity=\"0.16\"/>\n"
        ));
    }
    let mut path: Vec<String> = Vec::new();
    let mut last: Option<f64> = None;
    for (a, b) in curve.points.iter().filter(|(a, b)| takes(*a, *b)) {
        path.extend(last.filter(|_| curve.steps).map(|held| point((*a, held))));
        path.push(point((*a, *b)));
        last = Some(*b);
    }
    if path.is_empty() {
        return;
    }
    // One point is no line, and is seen all the same.
    if let [only] = path.as_slice()
        && let Some((x, y)) = only.split_once(',')
    {
        svg.raw(&format!(
            "<circle class=\"f{class}\" cx=\"{x}\" cy=\"{y}\" r=\"3.5\" fill=\"{colour}\"/>\n"
        ));
    }
    let mut more = String::new();
    let dash = dash(k);
    if !dash.is_empty() {
        let _ = write!(more, " stroke-dasharray=\"{dash}\"");
    }
    let (line, stroke, width) = if curve.quiet {
        ("rule".to_owned(), FAINT, "1.2")
    } else {
        (format!("l{class}"), colour, "2.2")
    };
    svg.raw(&format!(
        "<polyline class=\"{line}\" points=\"{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\" \
         stroke-linejoin=\"round\"{more}/>\n",
        path.join(" ")
    ));
}

/// The class and the colour of a curve's name.
fn ink(curve: &PlotCurve, k: usize) -> (String, &'static str) {
    if curve.quiet {
        ("faint".to_owned(), FAINT)
    } else {
        (format!("f{}", curve.hue(k)), LIGHT[curve.hue(k)])
    }
}

/// A name that is to stand beside the picture, where what it is of ends.
struct Ending<'p> {
    name: &'p str,
    class: String,
    fill: &'static str,
    at: (f64, f64),
}

/// The ends of all that has a name: of curves where their last point is, of limits at the edge.
fn endings<'p>(plot: &'p Plot, frame: &Frame, (x, y): (&DrawnAxis, &DrawnAxis)) -> Vec<Ending<'p>> {
    let curves = plot.curves.iter().enumerate().filter_map(|(k, curve)| {
        let last = shown(plot, curve).max_by(|a, b| a.0.total_cmp(&b.0))?;
        let (class, fill) = ink(curve, k);
        Some(Ending { name: &curve.name, class, fill, at: (x.at(last.0), y.at(last.1)) })
    });
    let taken = plot.rules.iter().filter(|(value, _)| plot.y.takes(*value));
    let rules = taken.map(|(value, name)| Ending {
        name,
        class: String::new(),
        fill: INK,
        at: (frame.end(), y.at(*value)),
    });
    curves.chain(rules).filter(|ending| !ending.name.is_empty()).collect()
}

fn names_beside(svg: &mut Svg, plot: &Plot, frame: &Frame, axes: (&DrawnAxis, &DrawnAxis)) {
    let named = endings(plot, frame, axes);
    let wanted: Vec<f64> = named.iter().map(|ending| ending.at.1).collect();
    let places = spread(&wanted, frame.font + 4.0, frame.top, frame.floor());
    let more = format!(" font-size=\"{}\" font-weight=\"600\"", frame.font);
    for (Ending { name, class, fill, at }, row) in named.into_iter().zip(places) {
        // A thin line leads from where it ends to its name, unless that stands there.
        if frame.end() - at.0 > 12.0 || (row - at.1).abs() > frame.font / 2.0 {
            lead(svg, at, (frame.end() + 5.0, row));
        }
        let at = (frame.end() + 8.0, row + 4.0);
        let words = Words { at, anchor: Anchor::Start, class: &class, fill, more: &more };
        svg.text(&words, &cut(name, frame.font, frame.right - 10.0));
    }
}

/// A thin dotted line, which is no curve.
fn lead(svg: &mut Svg, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(place);
    svg.raw(&format!(
        "<line class=\"rule\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{FAINT}\" \
         stroke-dasharray=\"1 3\"/>\n"
    ));
}

fn names_above(svg: &mut Svg, plot: &Plot, frame: &Frame) {
    let curves = plot.curves.iter().enumerate().map(|(k, curve)| {
        let (class, fill) = ink(curve, k);
        let line = if curve.quiet { "rule".to_owned() } else { format!("l{}", curve.hue(k)) };
        (&curve.name, class, fill, line, dash(k))
    });
    let rules =
        plot.rules.iter().map(|(_, name)| (name, String::new(), FAINT, "rule".to_owned(), ""));
    let named: Vec<_> = curves.chain(rules).filter(|entry| !entry.0.is_empty()).collect();
    let above = named.len() as f64 - 1.0;
    for (row, (name, class, fill, line, dash)) in named.into_iter().enumerate() {
        let at = frame.top - 12.0 - 18.0 * (above - row as f64);
        let dash =
            if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let (from, to, y) = (place(frame.left), place(frame.left + 26.0), place(at - 4.0));
        svg.raw(&format!(
            "<line class=\"{line}\" x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"{fill}\" \
             stroke-width=\"2.2\"{dash}/>\n"
        ));
        let fill = if class.is_empty() { INK } else { fill };
        let more = format!(" font-size=\"{}\" font-weight=\"600\"", frame.font);
        let at = (frame.left + 33.0, at);
        let words = Words { at, anchor: Anchor::Start, class: &class, fill, more: &more };
        svg.text(&words, &cut(name, frame.font, frame.end() - frame.left - 33.0));
    }
}

//! From a plot to SVG.

use std::fmt::Write;

use crate::STYLE;
use crate::axis::Drawn;
use crate::curve::Curve;
use crate::labels::spread;
use crate::plot::{Plot, Size};
use crate::svg::{Anchor, Svg, Words, cut, escaped, place, width_of};
use crate::theme::{FAINT, GRID, INK, LIGHT, PAPER, SERIES, dash};

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
        let title = if titled { 30.0 } else { 0.0 };
        let named = plot.curves.iter().filter(|curve| !curve.name.is_empty());
        match size {
            Size::Wide => {
                let font = 13.0;
                let longest = named.map(|curve| width_of(&curve.name, font)).fold(0.0, f64::max);
                let right = (longest + 26.0).clamp(24.0, 230.0);
                let (width, height) = (720.0, 360.0 + title);
                Self { width, height, left: 62.0, right, top: 16.0 + title, bottom: 54.0, font }
            }
            Size::Narrow => {
                let font = 12.0;
                let legend = 18.0 * named.count() as f64;
                let (width, height) = (360.0, 260.0 + title + legend);
                let top = 12.0 + title + legend;
                Self { width, height, left: 48.0, right: 14.0, top, bottom: 48.0, font }
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
        let at = (frame.left, 28.0);
        svg.text(&Words { at, anchor: Anchor::Start, class: "", fill: INK, more }, &plot.title);
    }
    let (x, y) = axes(plot, &frame, size);
    grid(&mut svg, &frame, &x, &y);
    axis_names(&mut svg, plot, &frame);
    for (value, name) in plot.rules.iter().filter(|(value, _)| plot.y.takes(*value)) {
        rule(&mut svg, &frame, y.at(*value), name);
    }
    for (k, curve) in plot.curves.iter().enumerate() {
        draw_curve(&mut svg, plot, curve, k, (&x, &y));
    }
    match size {
        Size::Wide => names_beside(&mut svg, plot, &frame, &y),
        Size::Narrow => names_above(&mut svg, plot, &frame),
    }
    svg.finish() + "</svg>\n"
}

fn axes(plot: &Plot, frame: &Frame, size: Size) -> (Drawn, Drawn) {
    let curves = || plot.curves.iter();
    let shown = |point: &&(f64, f64)| plot.x.takes(point.0) && plot.y.takes(point.1);
    let points = || curves().flat_map(|curve| curve.points.iter().filter(shown));
    let bands = || curves().flat_map(|curve| &curve.band);
    let (across, up) = match size {
        Size::Wide => (7, 5),
        Size::Narrow => (4, 5),
    };
    let xs = points().map(|point| point.0).chain(bands().map(|band| band.0));
    let ys = points()
        .map(|point| point.1)
        .chain(bands().flat_map(|band| [band.1, band.2]))
        .chain(plot.rules.iter().map(|rule| rule.0));
    let x = plot.x.over(xs, (frame.left, frame.end()), across);
    let y = plot.y.over(ys, (frame.floor(), frame.top), up);
    (x, y)
}

fn grid(svg: &mut Svg, frame: &Frame, x: &Drawn, y: &Drawn) {
    let more = format!(" font-size=\"{}\"", frame.font);
    let words = |at, anchor| Words { at, anchor, class: "faint", fill: FAINT, more: more.as_str() };
    for (value, name) in &y.marks {
        let at = y.at(*value);
        svg.line((frame.left, at), (frame.end(), at), "grid", GRID);
        svg.text(&words((frame.left - 8.0, at + 4.0), Anchor::End), name);
    }
    for (value, name) in &x.marks {
        let at = x.at(*value);
        svg.line((at, frame.floor()), (at, frame.floor() + 5.0), "rule", FAINT);
        // A word at the edge stays on the paper.
        let half = width_of(name, frame.font) / 2.0;
        let at = at.clamp(half, (frame.width - half).max(half));
        svg.text(&words((at, frame.floor() + 20.0), Anchor::Middle), name);
    }
    svg.line((frame.left, frame.floor()), (frame.end(), frame.floor()), "rule", FAINT);
}

fn axis_names(svg: &mut Svg, plot: &Plot, frame: &Frame) {
    let more = format!(" font-size=\"{}\"", frame.font);
    let room = frame.end() - frame.left;
    let middle = (frame.left + frame.end()) / 2.0;
    let at = (middle, frame.height - 10.0);
    let words = Words { at, anchor: Anchor::Middle, class: "", fill: INK, more: &more };
    svg.text(&words, &cut(&plot.x.label, frame.font, room.max(260.0)));
    let middle = place((frame.top + frame.floor()) / 2.0);
    let more = format!("{more} transform=\"rotate(-90 14 {middle})\"");
    let at = (14.0, (frame.top + frame.floor()) / 2.0);
    let words = Words { at, anchor: Anchor::Middle, class: "", fill: INK, more: &more };
    svg.text(&words, &cut(&plot.y.label, frame.font, frame.floor() - frame.top));
}

/// A limit: a line across, with its name below its beginning, or above where there is no room.
fn rule(svg: &mut Svg, frame: &Frame, at: f64, name: &str) {
    svg.line((frame.left, at), (frame.end(), at), "rule", FAINT);
    let more = format!(" font-size=\"{}\" font-weight=\"600\"", frame.font);
    let below = at + frame.font + 4.0;
    let at = (frame.left + 6.0, if below < frame.floor() { below } else { at - 5.0 });
    svg.text(&Words { at, anchor: Anchor::Start, class: "", fill: INK, more: &more }, name);
}

fn draw_curve(svg: &mut Svg, plot: &Plot, curve: &Curve, k: usize, (x, y): (&Drawn, &Drawn)) {
    let (class, colour) = (k % SERIES, LIGHT[k % SERIES]);
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
fn ink(curve: &Curve, k: usize) -> (String, &'static str) {
    if curve.quiet {
        ("faint".to_owned(), FAINT)
    } else {
        (format!("f{}", k % SERIES), LIGHT[k % SERIES])
    }
}

fn names_beside(svg: &mut Svg, plot: &Plot, frame: &Frame, y: &Drawn) {
    let end = |curve: &Curve| {
        let shown = |point: &&(f64, f64)| plot.x.takes(point.0) && plot.y.takes(point.1);
        let points = curve.points.iter().filter(shown);
        points.max_by(|a, b| a.0.total_cmp(&b.0)).map(|point| y.at(point.1))
    };
    let named: Vec<(usize, &Curve, f64)> = plot
        .curves
        .iter()
        .enumerate()
        .filter(|(_, curve)| !curve.name.is_empty())
        .filter_map(|(k, curve)| Some((k, curve, end(curve)?)))
        .collect();
    let wanted: Vec<f64> = named.iter().map(|(_, _, at)| *at).collect();
    let places = spread(&wanted, frame.font + 4.0, frame.top, frame.floor());
    for ((k, curve, _), at) in named.into_iter().zip(places) {
        let (class, fill) = ink(curve, k);
        let more = format!(" font-size=\"{}\" font-weight=\"600\"", frame.font);
        let words = Words {
            at: (frame.end() + 8.0, at + 4.0),
            anchor: Anchor::Start,
            class: &class,
            fill,
            more: &more,
        };
        svg.text(&words, &cut(&curve.name, frame.font, frame.right - 6.0));
    }
}

fn names_above(svg: &mut Svg, plot: &Plot, frame: &Frame) {
    let named = plot.curves.iter().enumerate().filter(|(_, curve)| !curve.name.is_empty());
    let count = named.clone().count() as f64;
    for (row, (k, curve)) in named.enumerate() {
        let at = frame.top - 12.0 - 18.0 * (count - 1.0 - row as f64);
        let (class, fill) = ink(curve, k);
        let dash = dash(k);
        let dash =
            if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
        let line = if curve.quiet { "rule".to_owned() } else { format!("l{}", k % SERIES) };
        let (from, to, y) = (place(frame.left), place(frame.left + 26.0), place(at - 4.0));
        svg.raw(&format!(
            "<line class=\"{line}\" x1=\"{from}\" y1=\"{y}\" x2=\"{to}\" y2=\"{y}\" stroke=\"{fill}\" \
             stroke-width=\"2.2\"{dash}/>\n"
        ));
        let more = format!(" font-size=\"{}\" font-weight=\"600\"", frame.font);
        let at = (frame.left + 33.0, at);
        let words = Words { at, anchor: Anchor::Start, class: &class, fill, more: &more };
        svg.text(&words, &cut(&curve.name, frame.font, frame.end() - frame.left - 33.0));
    }
}

//! Curves as an SVG picture: a logarithmic axis across, or shares from 0 to 1 on both.

use std::fmt::Write;

/// A line with a name.
#[derive(Debug)]
pub struct Curve {
    /// What it is.
    pub name: String,
    /// Its points; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

/// A picture.
#[derive(Debug)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// Below it.
    pub x_label: String,
    /// Beside it.
    pub y_label: String,
    /// In it.
    pub curves: Vec<Curve>,
    /// Whether both axes are shares from 0 to 1; otherwise the one across is logarithmic.
    pub shares: bool,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 60.0;

/// Colours that can be told apart without seeing red or green (Okabe and Ito).
const COLOURS: [&str; 4] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];

impl Plot {
    /// The picture.
    pub fn svg(&self) -> String {
        let points =
            || self.curves.iter().flat_map(|curve| &curve.points).filter(|p| self.is_shown(**p));
        let (mut low, mut high, mut top) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64);
        for (x, y) in points() {
            (low, high, top) = (low.min(x.log10()), high.max(x.log10()), top.max(*y));
        }
        if low >= high {
            (low, high) = (-1.0, 0.0);
        }
        if self.shares {
            top = 1.0;
        }
        let step = tick(if top > 0.0 { top } else { 1.0 });
        let top = (top / step).ceil().max(1.0) * step;
        let part = |x: f64| if self.shares { x } else { (x.log10() - low) / (high - low) };
        let across = |x: f64| LEFT + part(x) * (WIDTH - LEFT - RIGHT);
        let up = |y: f64| HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM);

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        text(&mut svg, WIDTH / 2.0, 26.0, "middle", &self.title, " font-size=\"16\"");
        // As many digits as the step has: 3 × 0.2 is not 0.6 in binary.
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let mut y = 0.0;
        while y <= top * (1.0 + 1e-9) {
            let place = up(y);
            line(&mut svg, LEFT, place, WIDTH - RIGHT, place, "#ddd");
            text(
                &mut svg,
                LEFT - 8.0,
                place + 4.0,
                "end",
                &format!("{:.digits$}", (y / step).round() * step),
                "",
            );
            y += step;
        }
        let marks: Vec<(f64, String)> = if self.shares {
            (0..=5).map(|k| (f64::from(k) / 5.0, format!("{}", f64::from(k) / 5.0))).collect()
        } else {
            let powers = low.ceil() as i32..=high.floor() as i32;
            powers.map(|power| (10_f64.powi(power), format!("1e{power}"))).collect()
        };
        for (x, words) in marks {
            let place = across(x);
            line(&mut svg, place, TOP, place, HEIGHT - BOTTOM, "#eee");
            text(&mut svg, place, HEIGHT - BOTTOM + 20.0, "middle", &words, "");
        }
        for (k, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[k % COLOURS.len()];
            let dash = if k == 0 { "" } else { " stroke-dasharray=\"6 4\"" };
            let path: Vec<String> = curve
                .points
                .iter()
                .filter(|point| self.is_shown(**point))
                .map(|(x, y)| format!("{:.2},{:.2}", across(*x), up(*y)))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                path.join(" ")
            );
            // Curves of shares fill the top; the bottom has room.
            let first = if self.shares {
                HEIGHT - BOTTOM - 20.0 * self.curves.len() as f64
            } else {
                TOP + 14.0
            };
            let place = first + 20.0 * k as f64;
            let _ = writeln!(
                svg,
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
                WIDTH - 240.0,
                place - 4.0,
                WIDTH - 210.0,
                place - 4.0
            );
            text(&mut svg, WIDTH - 202.0, place, "start", &curve.name, "");
        }
        text(&mut svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 16.0, "middle", &self.x_label, "");
        let middle = (TOP + HEIGHT - BOTTOM) / 2.0;
        let turned = format!(" transform=\"rotate(-90 20 {middle})\"");
        text(&mut svg, 20.0, middle, "middle", &self.y_label, &turned);
        svg + "</svg>\n"
    }

    fn is_shown(&self, (x, y): (f64, f64)) -> bool {
        (self.shares || x > 0.0) && x.is_finite() && y.is_finite()
    }
}

/// A round distance between about five lines.
fn tick(top: f64) -> f64 {
    let rough = top / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|k| k * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power)
}

fn line(svg: &mut String, x1: f64, y1: f64, x2: f64, y2: f64, colour: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\" stroke=\"{colour}\"/>"
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, words: &str, more: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\"{more}>{words}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            [tick(1.0), tick(6.2), tick(48.0), tick(0.07)].map(|t| (t * 1e6).round() / 1e6),
            [0.2, 2.0, 10.0, 0.02]
        );
    }

    #[test]
    fn points_that_are_not_finite_are_left_out() {
        let curve = Curve {
            name: "a < b".into(),
            points: vec![(1e-3, 1.0), (1e-2, f64::INFINITY), (1e-1, 0.5)],
        };
        let plot = Plot {
            title: "t".into(),
            x_label: "x".into(),
            y_label: "y".into(),
            curves: vec![curve],
            shares: false,
        };
        let svg = plot.svg();
        assert!(!svg.contains("inf") && !svg.contains("NaN"));
        assert!(svg.contains("a &lt; b"));
        assert_eq!(svg.matches(',').count(), 2, "two points are drawn");
    }
}

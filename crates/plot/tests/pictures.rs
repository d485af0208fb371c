//! Every kind of picture, by its structure: what is drawn, what is said, and what is left out.
//! `RETICENT_PICTURES=DIR cargo test -p reticent-plot` writes them there, to be looked at.
#![allow(clippy::unwrap_used)]

use reticent_plot::{Axis, Bar, Bars, HUES, Plot, PlotCurve, Size, overlaps, share};

fn epsilon_of_delta() -> Plot {
    let deltas: Vec<f64> = (4..=48).map(|k| 10_f64.powf(-f64::from(k) / 4.0)).collect();
    let promised = |d: f64| 0.3 * (1.0 / d).ln().sqrt();
    let upper = deltas.iter().map(|&d| (d, promised(d))).collect();
    let band = deltas.iter().map(|&d| (d, 0.93 * promised(d), promised(d))).collect();
    let lower = deltas.iter().map(|&d| (d, 0.93 * promised(d))).collect();
    Plot::new("What the run costs: ε at each δ", Axis::log("δ"), Axis::linear("ε").from_zero())
        .described("ε grows from 0.46 to 1.6 as δ falls.")
        .with(PlotCurve::line("promised", upper).with_band(band))
        .with(PlotCurve::line("no analysis gives less", lower))
}

fn shares() -> Plot {
    let levels: Vec<f64> = (0..=20).map(|k| f64::from(k) / 20.0).collect();
    Plot::new("What an attacker can do", Axis::share("false alarms"), Axis::share("caught"))
        .with(PlotCurve::line("at most", levels.iter().map(|&a| (a, a.powf(0.4))).collect()))
        .with(PlotCurve::line("guessing", vec![(0.0, 0.0), (1.0, 1.0)]).quiet())
}

fn over_time() -> Plot {
    let day = 86_400.0;
    let start = reticent_plot::seconds("2026-03-01T09:00:00Z").unwrap();
    let points = [(0.0, 0.0), (3.0, 0.8), (20.0, 1.7), (41.0, 2.2), (60.0, 2.2)];
    let points = points.map(|(at, value)| (start + at * day, value)).to_vec();
    Plot::new("The budget over time", Axis::time("day"), Axis::linear("ε").from_zero())
        .with(PlotCurve::steps("counted", points))
        .with_rule(3.0, "promised: 3")
}

fn bars() -> Bars {
    let bar = |name: &str, value: f64| Bar {
        name: name.into(),
        value,
        words: format!("{value:.1}").replace("NaN", "–"),
    };
    Bars {
        title: "Coefficients".into(),
        description: "age is the largest".into(),
        bars: vec![bar("age", 3.2), bar("smoker=no", -0.98), bar("a < b & c", f64::NAN)],
    }
}

fn written(name: &str, svg: &str) {
    if let Some(folder) = std::env::var_os("RETICENT_PICTURES") {
        let folder = std::path::PathBuf::from(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.svg")), svg).unwrap();
    }
}

/// What holds for every picture: it is balanced, says what it is, and loads nothing.
fn holds(name: &str, svg: &str) {
    written(name, svg);
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}");
    for word in ["NaN", "inf", "<script", "href", "url(", "@import"] {
        assert!(!svg.contains(word), "{name} has {word}");
    }
    let opened = svg.matches("<text").count() + svg.matches("<title").count();
    let closed = svg.matches("</text>").count() + svg.matches("</title>").count();
    assert_eq!(opened, closed, "{name}");
    assert!(svg.contains("role=\"img\"") && svg.contains("<title id="), "{name}");
    assert_eq!(overlaps(svg), [], "{name}");
    let addresses = svg.matches("://").count();
    assert!(addresses <= 1, "{name}: the name space and nothing else");
}

#[test]
fn every_picture_is_whole_and_says_what_it_is() {
    for (name, plot) in [("curve", epsilon_of_delta()), ("shares", shares()), ("time", over_time())]
    {
        holds(name, &plot.to_file());
        for (size, word) in [(Size::Wide, "wide"), (Size::Narrow, "narrow")] {
            let part = plot.to_page(size, "a-1");
            holds(&format!("{name}-{word}"), &part);
            assert!(!part.contains("<style") && !part.contains("://"), "the page has both");
            assert!(part.contains("id=\"a-1-t\""));
        }
    }
    holds("bars", &bars().to_file());
    holds("bars-narrow", &bars().to_page(Size::Narrow, "b"));
}

#[test]
fn curves_are_named_where_they_end_and_told_apart_without_colour() {
    let svg = epsilon_of_delta().to_file();
    assert!(svg.contains(">promised</text>") && svg.contains(">no analysis gives less</text>"));
    assert_eq!(svg.matches("<polyline").count(), 2);
    // A name that is moved has a dotted line of its own, which is no curve.
    let curves = svg.split("<polyline").skip(1).filter_map(|rest| rest.split("/>").next());
    let dashed = curves.filter(|curve| curve.contains("stroke-dasharray")).count();
    assert_eq!(dashed, 1, "one is solid and one is dashed");
    assert_eq!(svg.matches("<polygon").count(), 1, "the band");
    for mark in ["10⁻¹²", "10⁻⁴", "0.01"] {
        assert!(svg.contains(&format!(">{mark}</text>")), "{mark}");
    }
}

#[test]
fn steps_hold_their_value_until_the_next() {
    let points = vec![(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)];
    let drawn = |curve: PlotCurve| {
        let svg = Plot::new("", Axis::linear(""), Axis::linear("")).with(curve).to_file();
        svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap().split(' ').count()
    };
    assert_eq!(drawn(PlotCurve::line("", points.clone())), 3);
    assert_eq!(drawn(PlotCurve::steps("", points)), 5);
}

#[test]
fn one_point_is_seen() {
    let drawn = |points: Vec<(f64, f64)>| {
        Plot::new("", Axis::linear(""), Axis::linear(""))
            .with(PlotCurve::line("a", points))
            .to_file()
    };
    assert_eq!(drawn(vec![(1.0, 1.0)]).matches("<circle").count(), 1);
    assert!(!drawn(vec![(1.0, 1.0), (2.0, 1.0)]).contains("<circle"));
}

#[test]
fn what_is_not_finite_or_not_on_the_axis_is_left_out() {
    let points = vec![(1e-3, 1.0), (1e-2, f64::INFINITY), (0.0, 1.0), (1e-1, 0.5)];
    let svg = Plot::new("t", Axis::log("x"), Axis::linear("y"))
        .with(PlotCurve::line("a < b", points))
        .to_file();
    let path = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(path.split(' ').count(), 2, "two points are drawn");
    holds("left-out", &svg);
}

#[test]
fn a_picture_of_nothing_is_a_picture() {
    for axis in [Axis::linear("x"), Axis::log("x"), Axis::share("x"), Axis::time("x")] {
        let plot =
            Plot::new("nothing", axis.clone(), axis).with(PlotCurve::line("none", Vec::new()));
        holds("nothing", &plot.to_file());
        holds("nothing-narrow", &plot.to_page(Size::Narrow, "n"));
    }
    let bars = Bars { title: String::new(), description: String::new(), bars: Vec::new() };
    holds("no-bars", &bars.to_file());
}

#[test]
fn names_cannot_break_out() {
    let hostile = "</text></svg><script>alert(1)</script><a x=\"";
    let plot = Plot::new(hostile, Axis::linear(hostile), Axis::log(hostile))
        .described(hostile)
        .with(PlotCurve::line(hostile, vec![(1.0, 1.0), (2.0, 2.0)]))
        .with_rule(1.5, hostile);
    for svg in [plot.to_file(), plot.to_page(Size::Narrow, hostile)] {
        assert!(
            !svg.contains("<script") && !svg.contains("<a ") && !svg.contains("x=\"\""),
            "{svg}"
        );
        assert_eq!(svg.matches("</svg>").count(), 1);
    }
    let bar = Bar { name: hostile.into(), value: 1.0, words: hostile.into() };
    let bars = Bars { title: hostile.into(), description: hostile.into(), bars: vec![bar] };
    assert!(!bars.to_file().contains("<script"));
}

#[test]
fn a_share_is_never_more_than_all() {
    assert!(share(2.0).contains("width=\"100\" height=\"10\" rx=\"2\" class=\"f0\""));
    for odd in [f64::NAN, -1.0] {
        assert!(share(odd).contains("width=\"0\""));
    }
}

/// Ends and limits in one place, names that are long, numbers of many digits.
fn crowded(curves: usize, rules: usize, spread: f64) -> Plot {
    let x = Axis::log("ε at δ = 0.0005, the total of all iterations");
    let mut plot = Plot::new(&"A title that is long. ".repeat(6), x, Axis::linear("accuracy"))
        .stamped("NOT PRIVATE: as published")
        .noted("10 runs, band ± 1 standard deviation");
    for k in 0..curves {
        let level = 0.75 + spread * k as f64;
        let points = vec![(0.05, level), (0.2, level + 1e-5), (1.0, level)];
        let name = format!("Algorithm {k}, δ = 1e-{k}, as the paper prints it");
        plot = plot.with(PlotCurve::line(&name, points).coloured(k));
    }
    for k in 0..rules {
        plot = plot.with_rule(0.75 + spread * k as f64, &format!("without noise, {k}"));
    }
    plot
}

#[test]
fn no_label_covers_another() {
    for (curves, rules) in [(1, 2), (2, 2), (7, 3), (16, 4), (0, 2), (30, 0)] {
        for spread in [0.0, 1e-6, 1e-3, 100.0] {
            let plot = crowded(curves, rules, spread);
            let name = format!("crowded-{curves}-{rules}-{spread}");
            holds(&name, &plot.to_file());
            for size in [Size::Wide, Size::Narrow] {
                holds(&format!("{name}-{size:?}"), &plot.to_page(size, "c"));
            }
        }
    }
}

#[test]
fn a_warning_and_a_remark_are_in_the_picture() {
    let plot = crowded(2, 1, 0.1);
    for svg in [plot.to_file(), plot.to_page(Size::Narrow, "n")] {
        assert!(svg.contains(">NOT PRIVATE: as published</text>"), "{svg}");
        assert!(svg.contains(">10 runs, band ± 1 standard deviation</text>"));
    }
    assert!(!epsilon_of_delta().to_file().contains("class=\"stamp\""));
}

#[test]
fn a_colour_that_is_asked_for_is_the_same_at_every_place() {
    let points = vec![(1.0, 1.0), (2.0, 2.0)];
    let curve = |name: &str, hue: usize| PlotCurve::line(name, points.clone()).coloured(hue);
    let first = Plot::new("", Axis::linear(""), Axis::linear("")).with(curve("a", HUES - 1));
    let colour = |svg: &str, name: &str| {
        let end = svg.find(&format!(">{name}</text>")).unwrap();
        let start = svg[..end].rfind("fill=\"").unwrap();
        svg[start..start + 13].to_owned()
    };
    let second = Plot::new("", Axis::linear(""), Axis::linear(""))
        .with(curve("b", 2))
        .with(curve("a", HUES - 1));
    assert_eq!(colour(&first.to_file(), "a"), colour(&second.to_file(), "a"));
    assert_ne!(colour(&second.to_file(), "a"), colour(&second.to_file(), "b"));
}

#[test]
fn an_axis_that_is_cut_leaves_out_what_is_beyond() {
    let points = vec![(1.0, 0.5), (2.0, 900.0), (3.0, 0.6)];
    let svg = Plot::new("", Axis::linear("x"), Axis::linear("y").within(0.4, 0.7))
        .with(PlotCurve::line("a", points))
        .to_file();
    let path = svg.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(path.split(' ').count(), 2);
    assert!(!svg.contains(">1000</text>"), "{svg}");
}

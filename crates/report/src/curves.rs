//! ε at each δ, and what an attacker can do: in words, as a picture and as a table.

use maud::{Markup, PreEscaped, html};
use reticent_plot::{Axis, Plot, PlotCurve, Size};

use crate::subject::{ReportSubject, SAID};
use crate::words::{percent_near, percent_up, up};

/// A picture in both sizes; the style of the page shows one of them.
pub(crate) fn figure(draw: &dyn Fn(Size, &str) -> String, id: &str, caption: &str) -> Markup {
    html! {
        figure {
            div.wide { (PreEscaped(draw(Size::Wide, id))) }
            div.narrow { (PreEscaped(draw(Size::Narrow, &format!("{id}-n")))) }
            figcaption { (caption) }
        }
    }
}

/// What an attacker can do.
pub(crate) fn attacker(subject: &ReportSubject, id: &str) -> Markup {
    let points = &subject.caught;
    let said: Vec<(f64, f64)> =
        SAID.iter().filter_map(|&level| Some((level, subject.caught_at(level)?))).collect();
    let words: Vec<String> = said
        .iter()
        .map(|(level, caught)| format!("{} at {}", percent_up(*caught), percent_near(*level)))
        .collect();
    let plot = Plot::new(
        "What an attacker can catch",
        Axis::share("false alarms that the attacker accepts"),
        Axis::share("caught, at most"),
    )
    .described(&format!("At most this is caught at so many false alarms: {}.", words.join(", ")))
    .with(PlotCurve::line("at most", points.clone()))
    .with(PlotCurve::line("guessing", vec![(0.0, 0.0), (1.0, 1.0)]).quiet());
    html! {
        @if let Some(caught) = subject.caught_at(0.05) {
            p.lead {
                "An attacker who accepts 5\u{202f}% false alarms catches at most "
                strong { (percent_up(caught)) }
                ". Guessing catches 5\u{202f}%."
            }
        }
        p {
            "The attacker knows everything but one thing: whether the data of one chosen person are in the \
             table as they are, or not. A false alarm is to say yes when it is not so."
        }
        (figure(&|size, id| plot.to_page(size, id), &format!("{id}-attack"),
            "The closer the curve is to guessing, the less anybody can learn about one person."))
        details {
            summary { "The same as a table" }
            table.small {
                thead { tr {
                    th.number scope="col" { "False alarms" }
                    th.number scope="col" { "Caught, at most" }
                } }
                tbody { @for (level, caught) in points { tr {
                    td.number { (percent_near(*level)) }
                    td.number { (percent_up(*caught)) }
                } } }
            }
        }
    }
}

/// The picture of ε at each δ; where the two bounds cannot be told apart, one line.
fn epsilon_plot(points: &[(f64, f64, f64)]) -> (Plot, &'static str) {
    let line = |of: fn(&(f64, f64, f64)) -> f64| {
        points.iter().map(|point| (point.0, of(point))).collect::<Vec<_>>()
    };
    let at = |point: &(f64, f64, f64)| format!("{} at δ = {}", up(point.2), short(point.0));
    let words: Vec<String> = points.iter().step_by(6).map(at).collect();
    let x = Axis::log("δ, the additive slack of the guarantee");
    let plot = Plot::new("ε at each δ", x, Axis::linear("ε").from_zero())
        .described(&format!("ε is at most {}.", words.join(", ")))
        .with(PlotCurve::line("promised", line(|point| point.2)).with_band(points.to_vec()));
    let top = points.iter().map(|point| point.2).fold(0.0, f64::max);
    if points.iter().all(|(_, lower, upper)| upper - lower < 0.01 * top) {
        return (plot, "No analysis of all that was released can give visibly less.");
    }
    let plot = plot.with(PlotCurve::line("no analysis gives less", line(|point| point.1)));
    (plot, "The truth about everything that was released lies between the two lines.")
}

/// ε at each δ.
pub(crate) fn epsilon(subject: &ReportSubject, id: &str) -> Markup {
    let points = &subject.curve;
    let (plot, caption) = epsilon_plot(points);
    html! {
        p {
            "ε and δ belong together: the smaller the slack δ that one asks for, the larger the \
             ε that holds. The promise is one point of this curve; all of the curve holds."
        }
        (figure(&|size, id| plot.to_page(size, id), &format!("{id}-curve"), caption))
        details {
            summary { "The same as a table" }
            table.small {
                thead { tr {
                    th.number scope="col" { "δ" }
                    th.number scope="col" { "ε, at most" }
                } }
                tbody { @for (at, _, upper) in points { tr {
                    td.number { (short(*at)) }
                    td.number { (up(*upper)) }
                } } }
            }
        }
    }
}

/// δ with three digits where it is between powers of ten; rounded up, as its ε is.
fn short(value: f64) -> String {
    let power = value.log10().round();
    if (value / 10_f64.powf(power) - 1.0).abs() < 1e-9 {
        return format!("1e{power}");
    }
    let power = value.log10().floor();
    format!("{}e{power}", (value / 10_f64.powf(power) * 100.0).ceil() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn deltas_are_short_and_rounded_up() {
        let given = [1e-6, 10_f64.powf(-6.5), 2.5e-3, 10_f64.powi(-12)];
        assert_eq!(given.map(short), ["1e-6", "3.17e-7", "2.5e-3", "1e-12"]);
    }
}

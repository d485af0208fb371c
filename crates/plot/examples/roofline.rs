//! A roofline as SVG: what the machine can, and what is reached of it (benches/roofline.py).
//!
//! Lines on standard input, fields between tabs: `roof NAME BYTES OPERATIONS`, both a second, and
//! `reached NAME OPERATIONS-A-BYTE OPERATIONS ROOF`. A roof is `min(operations, x·bytes)` at `x` operations a
//! byte (Williams, Waterman, Patterson, 2009); what is reached hangs from its roof by a line as long
//! as what is missing.

use std::io::Read;

use reticent_plot::{Axis, Plot, PlotCurve};

/// Operations a byte, from the left of the picture to its right.
const SIDES: (f64, f64) = (0.1, 300.0);

/// Points of a roof, of which one is its edge.
const POINTS: usize = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut roofs: Vec<(&str, f64, f64)> = Vec::new();
    let mut reached: Vec<(&str, f64, f64, &str)> = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["roof", name, bytes, operations] => {
                roofs.push((name, bytes.parse()?, operations.parse()?));
            }
            ["reached", name, intensity, operations, roof] => {
                reached.push((name, intensity.parse()?, operations.parse()?, roof));
            }
            _ => return Err(format!("no line of a roofline: {line:?}").into()),
        }
    }
    let axes = (Axis::log("operations a byte of memory"), Axis::log("billion operations a second"));
    let mut plot = Plot::new("What the machine can, and what is reached", axes.0, axes.1);
    for &(name, bytes, operations) in &roofs {
        let edge = operations / bytes;
        let ratio = SIDES.1 / SIDES.0;
        let mut xs: Vec<f64> = (0..POINTS)
            .map(|k| SIDES.0 * ratio.powf(k as f64 / (POINTS - 1) as f64))
            .chain([edge])
            .collect();
        xs.sort_by(f64::total_cmp);
        let points = xs.into_iter().map(|x| (x, operations.min(x * bytes) / 1e9)).collect();
        plot = plot.with(PlotCurve::line(name, points).quiet());
    }
    for &(name, intensity, operations, under) in &reached {
        let own = roofs.iter().find(|(roof, ..)| *roof == under);
        let (_, bytes, most) = own.ok_or_else(|| format!("there is no roof {under:?}"))?;
        let top = most.min(intensity * bytes).max(operations);
        let points = vec![(intensity, top / 1e9), (intensity, operations / 1e9)];
        plot = plot.with(PlotCurve::line(name, points));
    }
    print!("{}", plot.to_file());
    Ok(())
}

//! The filter asks before each step, refuses the one that would overspend, and survives
//! serialisation exactly.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::*;

fn step(mechanism: impl Into<Mechanism>) -> Event {
    Event::new(mechanism, Adjacency::AddRemove, Unit::Record, View::Central).unwrap()
}

/// Steps admitted before the first refusal.
fn exhaust(filter: &mut Filter, event: &Event, most: u32) -> u32 {
    (0..most).take_while(|_| filter.spend(event.clone(), 1).is_ok()).count() as u32
}

#[test]
fn it_stops_before_overspending_and_not_much_too_early() {
    for event in
        [step(Gaussian::new(20.0).unwrap()), step(PoissonGaussian::new(1.0, 0.01).unwrap())]
    {
        let mut filter = Filter::new(2.0, 1e-5).unwrap();
        let steps = exhaust(&mut filter, &event, 100_000);
        assert!(steps > 0);
        assert!(epsilon(filter.spent(), 1e-5).unwrap().upper <= 2.0);
        let before = filter.clone();
        let error = filter.spend(event.clone(), 1).unwrap_err();
        assert!(matches!(error, FilterError::Exhausted { .. }), "{error}");
        assert_eq!(filter, before);
        // Adaptivity and the tracked orders cost something, but not more than three fifths of the
        // steps.
        let plan = |steps: u64| -> Result<Ledger, EventError> {
            let mut ledger = Ledger::new();
            ledger.append_many(event.clone(), steps);
            Ok(ledger)
        };
        let fixed = calibrate_steps(2.0, 1e-5, 1_000_000, plan).unwrap();
        assert!(
            u64::from(steps) <= fixed.steps && u64::from(steps) * 5 > fixed.steps * 2,
            "{steps} {fixed:?}"
        );
    }
}

#[test]
fn the_state_survives_serialisation_exactly() {
    let event = step(PoissonGaussian::new(1.3, 0.03).unwrap());
    let mut whole = Filter::new(3.0, 1e-6).unwrap();
    let mut halved = whole.clone();
    let steps = exhaust(&mut whole, &event, 10_000);
    assert!(steps > 10 && steps < 10_000, "{steps}");
    exhaust(&mut halved, &event, steps / 2);
    let text = serde_json::to_string(&halved).unwrap();
    let mut again: Filter = serde_json::from_str(&text).unwrap();
    assert_eq!(again, halved);
    exhaust(&mut again, &event, 10_000);
    assert_eq!(again, whole);
    // A tampered state that is overspent is not accepted.
    let count = format!("\"count\":{steps}");
    let full = serde_json::to_string(&whole).unwrap().replace(&count, "\"count\":1000000");
    assert!(serde_json::from_str::<Filter>(&full).is_err());
}

#[test]
fn it_refuses_what_it_cannot_count() {
    assert!(matches!(Filter::new(0.0, 1e-5), Err(FilterError::Budget { .. })));
    let mut filter = Filter::new(1.0, 1e-5).unwrap();
    filter.spend(step(Gaussian::new(50.0).unwrap()), 1).unwrap();
    let other = Event::new(
        Gaussian::new(50.0).unwrap(),
        Adjacency::ReplaceOne,
        Unit::Record,
        View::Central,
    )
    .unwrap();
    assert!(matches!(filter.spend(other, 1), Err(FilterError::Uncountable(_))));
    assert!(matches!(
        filter.spend(step(NonPrivate::new().unwrap()), 1),
        Err(FilterError::Exhausted { .. })
    ));
}

#[test]
fn steps_and_rates_are_calibrated_without_overshooting() {
    let plan = |rate: f64| -> Result<Ledger, EventError> {
        let mut ledger = Ledger::new();
        let sampled = PoissonGaussian::new(1.0, rate)?;
        ledger.append_many(
            Event::new(sampled, Adjacency::AddRemove, Unit::Record, View::Central)?,
            1000,
        );
        Ok(ledger)
    };
    let found = calibrate_rate(1.0, 1e-5, 0.5, plan).unwrap();
    assert!(found.epsilon.upper <= 1.0 && found.epsilon.upper > 0.999, "{found:?}");
    assert!(epsilon(&plan(found.rate * 1.01).unwrap(), 1e-5).unwrap().upper > 1.0);
    let error = calibrate(1.0, 1e-5, |z: f64| -> Result<Ledger, EventError> {
        let mut ledger = plan(0.001)?;
        let _ = z;
        ledger.append(step(NonPrivate::new()?));
        Ok(ledger)
    })
    .unwrap_err();
    assert!(matches!(error, CalibrationError::OutOfReach { .. }), "{error}");
}

/// Charges that are kept and added up admit what the whole ledger does, and never more.
#[test]
fn charges_add_up_to_the_ledger() {
    let events = [
        step(Gaussian::new(30.0).unwrap()),
        step(Gdp::new(0.02).unwrap()),
        step(PoissonGaussian::new(2.0, 0.01).unwrap()),
        step(Laplace::new(50.0).unwrap()),
        step(ApproximateDp::new(0.01, 1e-9).unwrap()),
    ];
    for many in 1..=events.len() {
        let filter = Filter::new(2.0, 1e-5).unwrap();
        let (mut whole, mut sum) = (Ledger::new(), Charge::ZERO);
        for event in events[..many].iter().cycle().take(40) {
            let mut one = Ledger::new();
            one.append_many(event.clone(), 3);
            whole.append_many(event.clone(), 3);
            sum = sum.compose(&filter.charge(&one).unwrap());
            let (added, counted) =
                (filter.reading(&sum), filter.reading(&filter.charge(&whole).unwrap()));
            assert!(added >= counted * (1.0 - 1e-14), "{added} {counted}");
            assert!(added == counted || added <= counted * (1.0 + 1e-9), "{added} {counted}");
        }
    }
    let mut seeded = Ledger::new();
    seeded.append(step(Gaussian::new(30.0).unwrap()));
    seeded.taint(Taint::SeededNoise);
    assert!(Filter::new(2.0, 1e-5).unwrap().charge(&seeded).is_err());
}

/// An odometer may be read after looking: its reading is a filter's budget, never the bound of a
/// plan fixed in advance.
#[test]
fn an_odometer_pays_for_being_read_after_looking() {
    let mut filter = Filter::new(50.0, 1e-3).unwrap();
    assert_eq!(filter.odometer(1e-5).unwrap().upper, 0.0);
    assert!(filter.odometer(0.0).is_err());
    for z in [40.0, 20.0, 5.0, 2.0] {
        filter.spend(step(Gaussian::new(z).unwrap()), 3).unwrap();
        let (read, fixed) =
            (filter.odometer(1e-5).unwrap().upper, epsilon(filter.spent(), 1e-5).unwrap().upper);
        assert!(read > fixed && read < 2.0 * fixed, "{z}: {read} {fixed}");
        // What it says is a budget under which a filter would have admitted all this.
        let mut rung = Filter::new(read, 1e-5).unwrap();
        for entry in filter.spent().entries() {
            rung.spend(entry.event().clone(), entry.count()).unwrap();
        }
    }
}

/// Why the ordinary bound will not do, by the exact law of two Gaussian steps. The second step is
/// made only if the loss of the first was within its own bound; at step two the ordinary bound of
/// the ledger is exceeded with more than δ.
#[test]
fn the_bound_of_the_ledger_is_no_odometer() {
    let (delta_asked, mu) = (0.01_f64, 1.0_f64);
    let bound = |count| {
        let mut ledger = Ledger::new();
        ledger.append_many(step(Gdp::new(mu).unwrap()), count);
        epsilon(&ledger, delta_asked).unwrap().upper
    };
    let (first, both) = (bound(1), bound(2));
    // L₁, L₂ ~ N(μ²/2, μ²) independent; E(1 − e^(reading − L))₊ on a grid, L what was lost.
    let grid: Vec<f64> = (-800..800).map(|k| f64::from(k) / 100.0).collect();
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() / 100.0;
    let loss = |x: f64| mu * x + mu * mu / 2.0;
    let over = |lost: f64, reading: f64| (-(reading - lost).exp_m1()).max(0.0);
    let exceeded: f64 = grid
        .iter()
        .map(|&x| {
            let one = loss(x);
            let second =
                || grid.iter().map(|&y| density(y) * over(one + loss(y), both)).sum::<f64>();
            density(x) * if one > first { over(one, first) } else { second() }
        })
        .sum();
    assert!(exceeded > 1.1 * delta_asked, "{exceeded}");
}

/// A plan of 64 Gaussian steps, and an asker who stops at the first step at which more was lost
/// than the bound of what was used says. The losses are a walk with steps N(μ²/2, μ²), followed on
/// a grid; δ at the stop is many times the δ of the bound of what was used, and not above it where
/// the plan is counted.
#[test]
fn who_stops_by_looking_exceeds_what_was_used_and_not_the_plan() {
    const STEPS: usize = 64;
    const WIDTH: f64 = 0.01;
    let (asked, mu) = (1e-3_f64, 0.25_f64);
    let bound = |count: usize| {
        let mut ledger = Ledger::new();
        ledger.append_many(step(Gdp::new(mu).unwrap()), count as u64);
        epsilon(&ledger, asked).unwrap().upper
    };
    let reach = (8.0 * mu / WIDTH) as i32;
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let kernel: Vec<f64> = (-reach..=reach)
        .map(|k| density((f64::from(k) * WIDTH - mu * mu / 2.0) / mu) * WIDTH / mu)
        .collect();
    let (offset, cells) = (1000_usize, 2600_usize);
    let loss = |cell: usize| (cell as f64 - offset as f64) * WIDTH;
    let over = |reading: f64, lost: f64| (-(reading - lost).exp_m1()).max(0.0);
    let planned = bound(STEPS);
    let mut walk = vec![0.0; cells];
    walk[offset] = 1.0;
    let (mut by_used, mut by_plan) = (0.0, 0.0);
    for t in 1..=STEPS {
        let mut next = vec![0.0; cells];
        for (cell, &mass) in walk.iter().enumerate().filter(|(_, mass)| **mass > 1e-18) {
            for (k, weight) in kernel.iter().enumerate() {
                let place = (cell + k).saturating_sub(reach as usize).min(cells - 1);
                next[place] += mass * weight;
            }
        }
        let reading = bound(t);
        for (cell, mass) in next.iter_mut().enumerate() {
            if t == STEPS || loss(cell) > reading {
                by_used += *mass * over(reading, loss(cell));
                by_plan += *mass * over(planned, loss(cell));
                *mass = 0.0;
            }
        }
        walk = next;
    }
    assert!(by_used > 2.0 * asked, "{by_used}");
    assert!(by_plan <= asked, "{by_plan}");
}

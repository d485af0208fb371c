//! Losses far beyond the range of e^x: every number here was once wrong, or lies where such numbers
//! are.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::*;

fn event(mechanism: impl Into<Mechanism>, adjacency: Adjacency) -> Event {
    Event::new(mechanism, adjacency, Unit::Record, View::Central).unwrap()
}

fn ledger(mechanism: impl Into<Mechanism>, adjacency: Adjacency, count: u64) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.append_many(event(mechanism, adjacency), count);
    ledger
}

fn poisson(z: f64, rate: f64, adjacency: Adjacency, steps: u64) -> Ledger {
    ledger(PoissonGaussian::new(z, rate).unwrap(), adjacency, steps)
}

const BOTH: [Adjacency; 2] = [Adjacency::ReplaceOne, Adjacency::AddRemove];

/// `lower ≤ truth ≤ upper`, and the two are within `factor` of each other.
fn brackets(bound: Bound, truth: f64, factor: f64) {
    assert!(bound.lower <= truth && truth <= bound.upper, "{truth} is not within {bound:?}");
    assert!(bound.upper <= factor * bound.lower, "{bound:?} is wider than a factor of {factor}");
}

#[test]
fn a_hopeless_run_has_delta_one() {
    for adjacency in BOTH {
        let bound = delta(&poisson(0.5, 0.5, adjacency, 10_000), 1.0).unwrap();
        brackets(bound, 1.0, 1.001);
    }
}

/// Σ Binomial(500, .01) draws of a loss of 1/(2·.03²): Rényi says 8765 beside it.
#[test]
fn rare_draws_with_little_noise_are_not_free() {
    for adjacency in BOTH {
        let ledger = poisson(0.03, 0.01, adjacency, 500);
        let bound = epsilon(&ledger, 5e-4).unwrap();
        assert!(bound.upper > 5000.0 && bound.upper < 9000.0, "{bound:?}");
        assert!(bound.lower > 0.8 * bound.upper, "{bound:?}");
        let at = delta(&ledger, 2000.0).unwrap();
        assert!(at.lower > 0.5 && at.upper < 1.01 * at.lower, "{at:?}");
    }
}

/// 100 answers of randomised response with ε = 70 hardly ever lie: the loss is 7000 but for
/// e^{−65}.
#[test]
fn many_pure_events_are_not_free() {
    let ledger = ledger(PureDp::new(70.0).unwrap(), Adjacency::ReplaceOne, 100);
    brackets(delta(&ledger, 601.0).unwrap(), 1.0, 1.02);
    let bound = epsilon(&ledger, 1e-5).unwrap();
    brackets(bound, 7000.0 - 1e-5, 1.001);
}

#[test]
fn a_mixture_of_full_and_sampled_steps_is_not_free() {
    let mut both = ledger(Gaussian::new(0.05).unwrap(), Adjacency::AddRemove, 50);
    both.append_many(event(PoissonGaussian::new(0.05, 0.5).unwrap(), Adjacency::AddRemove), 50);
    let full =
        epsilon(&ledger(Gaussian::new(0.05).unwrap(), Adjacency::AddRemove, 50), 1e-5).unwrap();
    let bound = epsilon(&both, 1e-5).unwrap();
    assert!(bound.upper >= full.lower && bound.lower >= 0.9 * bound.upper, "{bound:?} {full:?}");
    assert!(delta(&both, 1.0).unwrap().lower > 0.999);
}

/// One in 100,000 is drawn, and δ covers nearly all of that: the loss itself is large all the same.
#[test]
fn a_rate_just_above_delta_is_not_free() {
    let drawn = WithoutReplacementGaussian::new(0.01, 1, 100_000).unwrap();
    brackets(epsilon(&ledger(drawn, Adjacency::ReplaceOne, 1), 9.99e-6).unwrap(), 19_369.0, 1.01);
    let drawn = poisson(0.001, 1e-5, Adjacency::AddRemove, 1);
    brackets(epsilon(&drawn, 5e-6).unwrap(), 499_987.0, 1.01);
}

/// The lower end was 0 here, beside an upper one of 46,418.
#[test]
fn the_lower_end_is_of_use_where_losses_are_large() {
    for adjacency in BOTH {
        let bound = epsilon(&poisson(0.1, 0.1, adjacency, 10_000), 1e-5).unwrap();
        assert!(bound.lower > 0.9 * bound.upper, "{adjacency}: {bound:?}");
    }
}

/// A rate below δ: an outcome that shows the draw is what δ allows for, whatever the noise.
#[test]
fn calibration_with_a_rate_below_delta_is_finite_and_fits() {
    for adjacency in BOTH {
        let plan = |z: f64| -> Result<Ledger, EventError> {
            let step = PoissonGaussian::new(z, 0.000_219)?;
            let mut ledger = Ledger::new();
            ledger.append(Event::new(step, adjacency, Unit::Record, View::Central)?);
            Ok(ledger)
        };
        let found = calibrate(1.0, 0.003_01, plan).unwrap();
        assert!(found.noise_multiplier > 0.0 && found.epsilon.upper <= 1.0, "{found:?}");
        let again = epsilon(&plan(found.noise_multiplier).unwrap(), 0.003_01).unwrap();
        assert!(again.upper <= 1.0, "{again:?}");
    }
}

/// Numbers in [0, 1) from a fixed start, the same on every machine.
struct Draws(u64);

impl Draws {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Ten to a power that is uniform between the two.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        10.0_f64.powf(low + (high - low) * self.unit())
    }

    fn below(&mut self, count: u64) -> u64 {
        (self.unit() * count as f64) as u64
    }
}

/// Events of one kind or of several; `noise` and `times` scale what they add and how often they
/// happen.
fn drawn(draws: &mut Draws) -> impl Fn(f64, u64) -> Ledger + use<> {
    let adjacency = BOTH[draws.below(2) as usize];
    let kinds: Vec<(u64, f64, f64, u64)> = (0..1 + draws.below(3) / 2)
        .map(|_| {
            let (z, rate) = (draws.power(-3.0, 6.0), draws.power(-9.0, 0.0));
            (draws.below(8), z, rate, draws.power(0.0, 6.0) as u64)
        })
        .collect();
    move |noise, times| {
        let mut ledger = Ledger::new();
        for &(kind, z, rate, count) in &kinds {
            let z = z * noise;
            let mechanism: Mechanism = match (kind, adjacency) {
                (0, _) => Gaussian::new(z).unwrap().into(),
                (1, _) => Laplace::new(z).unwrap().into(),
                (2, _) => PureDp::new(1.0 / z).unwrap().into(),
                (3, Adjacency::ReplaceOne) => {
                    let of = (1.0 / rate) as u64;
                    WithoutReplacementGaussian::new(z, 1, of).unwrap().into()
                }
                _ => PoissonGaussian::new(z, rate).unwrap().into(),
            };
            ledger.append_many(event(mechanism, adjacency), count * times);
        }
        ledger
    }
}

/// `more` costs at least as much as `less`, by any pair of methods.
fn ordered(less: &Bound, more: &Bound, what: &str) {
    assert!(less.lower <= less.upper && more.lower <= more.upper, "{what}: {less:?} {more:?}");
    assert!(less.lower <= more.upper, "{what}: {less:?} is above {more:?}");
}

/// Whatever is asked, by whichever way: more steps or less noise never cost surely less, and no
/// method is below another's lower end.
#[test]
fn bounds_of_related_runs_never_contradict_each_other() {
    let mut draws = Draws(20_240_915);
    for case in 0..24 {
        let run = drawn(&mut draws);
        let (base, longer, quieter) = (run(1.0, 1), run(1.0, 10), run(0.3, 1));
        let at_delta = draws.power(-300.0, -0.31);
        let at_delta = if case % 2 == 0 { at_delta.powf(0.03) } else { at_delta };
        let at_epsilon = draws.power(-6.0, 6.0);
        let what = format!("case {case}: {:?} at {at_delta:e}, {at_epsilon:e}", base.entries());
        let [one, ten, less] =
            [&base, &longer, &quieter].map(|ledger| epsilon(ledger, at_delta).unwrap());
        ordered(&one, &ten, &what);
        ordered(&one, &less, &what);
        let [d_one, d_ten, d_less] =
            [&base, &longer, &quieter].map(|ledger| delta(ledger, at_epsilon).unwrap());
        ordered(&d_one, &d_ten, &what);
        ordered(&d_one, &d_less, &what);
        // Asked back, δ at the upper ε is not surely above δ, and ε at the upper δ not surely above
        // ε.
        if one.upper.is_finite() {
            let back = delta(&base, one.upper).unwrap();
            assert!(back.lower <= at_delta, "{what}: {one:?} {back:?}");
        }
        if d_one.upper > 1e-300 && d_one.upper < 1.0 {
            let back = epsilon(&base, d_one.upper).unwrap();
            assert!(back.lower <= at_epsilon, "{what}: {d_one:?} {back:?}");
        }
        if case % 8 == 0 {
            for line in report(&base, at_delta).unwrap().lines {
                let Ok(bound) = line.bound else { continue };
                let sane = bound.lower <= one.upper && one.lower <= bound.upper;
                assert!(sane, "{what}: {one:?} against {:?} {bound:?}", line.method);
            }
        }
    }
}

/// One pure event and one with Laplace noise, in closed form: δ = (1 − e^{ε−r})/(1 + e^{−r}), and δ
/// = 1 − e^{(ε−r)/2}.
#[test]
fn one_pure_or_laplace_event_is_bracketed() {
    for r in [0.01_f64, 0.3, 1.0, 7.0, 70.0, 900.0] {
        for delta in [1e-12_f64, 1e-5, 1e-3] {
            let pure = r + (-delta * (1.0 + (-r).exp())).ln_1p();
            let laplace = r + 2.0 * (-delta).ln_1p();
            let rounding = 1e-15 * (1.0 + r);
            for (truth, mechanism) in [
                (pure, Mechanism::from(PureDp::new(r).unwrap())),
                (laplace, Laplace::new(1.0 / r).unwrap().into()),
            ] {
                let bound = epsilon(&ledger(mechanism, Adjacency::AddRemove, 1), delta).unwrap();
                let inside = bound.lower <= truth + rounding && truth - rounding <= bound.upper;
                assert!(inside, "{r} {delta}: {truth} {bound:?}");
            }
        }
    }
}

/// A draw of one in a million in 10⁵ steps happens with probability .095: the lower end was 0
/// beside an upper end of 4985.5.
#[test]
fn some_of_many_losses_is_large() {
    for adjacency in BOTH {
        let bound = epsilon(&poisson(0.01, 1e-6, adjacency, 100_000), 0.05).unwrap();
        assert!(bound.lower > 0.99 * bound.upper && bound.upper > 4000.0, "{bound:?}");
    }
    let seldom = poisson(0.001, 1e-9, Adjacency::AddRemove, 10_000_000);
    let bound = epsilon(&seldom, 1e-3).unwrap();
    assert!(bound.lower > 0.99 * bound.upper && bound.upper > 4e5, "{bound:?}");
    let (drawn, at) = (-(-0.01_f64).exp_m1(), delta(&seldom, 1e5).unwrap());
    assert!(at.lower > 0.999 * drawn && at.upper >= drawn, "{at:?}");
}

/// Beyond 1e-308 a Q-mass is lost, and e^ε times nothing is not nothing: the lower end was that of
/// a mechanism without Q, 374.3, where δ is 4.4e-209.
#[test]
fn a_q_mass_that_is_lost_is_not_free() {
    let ends = |ledger: &Ledger, delta: f64| {
        let bound = epsilon(ledger, delta).unwrap();
        assert!(bound.lower <= bound.upper, "{bound:?}");
        bound
    };
    let drawn =
        poisson(0.092_606_120_383_024_49, 5.098_693_783_797_079e-6, Adjacency::AddRemove, 1);
    let bound = ends(&drawn, 1.692_940_324_499_380_2e-208);
    assert!(bound.lower < 373.9 && bound.lower > 372.0, "{bound:?}");
    // δ(ε) of the Gaussian alone is known in closed form: the sampled steps add next to nothing.
    let full = ledger(Gaussian::new(0.673_759_823_603_605_2).unwrap(), Adjacency::AddRemove, 1);
    let mut both = full.clone();
    both.append_many(
        event(PoissonGaussian::new(9176.0, 0.003_87).unwrap(), Adjacency::AddRemove),
        482,
    );
    let (exact, bound) = (ends(&full, 1.868e-300), ends(&both, 1.868e-300));
    assert!(bound.lower <= exact.upper * (1.0 + 1e-6), "{bound:?} beside {exact:?}");
    assert!(bound.lower >= 0.9 * exact.upper, "{bound:?} beside {exact:?}");
}

/// What is below the least positive number is not 0: δ is e^{−39630} here.
#[test]
fn a_delta_that_underflows_is_not_zero() {
    let losses = ledger(Laplace::new(246.6).unwrap(), Adjacency::ReplaceOne, 1_223_121);
    let bound = delta(&losses, 2546.7).unwrap();
    assert!(bound.upper > 0.0 && bound.upper < 1e-300, "{bound:?}");
    assert_eq!(bound.lower, 0.0, "{bound:?}");
}

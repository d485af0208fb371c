//! Algorithms of one table between parties that add the noise themselves, seen one by one or behind
//! masks.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent::accountant::Mechanism;
use reticent::admm::StepSize;
use reticent::internal::admm::catalogue::{AlgorithmKind, CATALOGUE, find};
use reticent::simulate::{CheckpointOptions, Failures, Simulated, Simulation};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{
    Adjacency, Budget, Constraint, Fit, Guarantee, Model, Problem, Run, Settings, Solver, Unit,
    View, penalties,
};

const RECORDS: usize = 120;
const FEATURES: usize = 3;
const BOTH: [View; 2] = [View::Local, View::SecureAggregation];

struct Data {
    x: Vec<f64>,
    y: Vec<u32>,
    owners: Vec<u64>,
}

impl Data {
    /// Rows of so many owners.
    fn of(parties: usize) -> Self {
        let x: Vec<f64> =
            (0..RECORDS * FEATURES).map(|at| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0).collect();
        let y = x.chunks(FEATURES).map(|row| u32::from(row[0] + 0.3 * row[1] > 0.1)).collect();
        let owners = (0..RECORDS).map(|i| 100 + (i * parties / RECORDS) as u64).collect();
        Data { x, y, owners }
    }

    fn table(&self) -> Dataset<'_> {
        let table = Dataset::dense(&self.x, RECORDS, FEATURES).unwrap();
        table.with_targets(&self.y).unwrap().with_owners(Owners::from(&self.owners[..])).unwrap()
    }
}

fn problem() -> Problem {
    let target = Target::classes(["no", "yes"]).unwrap();
    Problem::new(Schema::bounded(&[(-1.0, 1.0); FEATURES], target).unwrap())
}

fn guarantee(epsilon: f64) -> Guarantee {
    Guarantee::from(Budget::new(epsilon, 1e-5).unwrap()).with(|it| {
        it.unit = Some(Unit::Record);
        it.seed = Some(5);
    })
}

fn between(solver: &Solver, view: View) -> Simulation {
    Simulation::of(problem())
        .algorithm(solver.name())
        .unwrap()
        .settings(solver.settings().clone())
        .guarantee(guarantee(2.0))
        .trust(view)
}

fn run(simulation: Simulation, data: &Data) -> Simulated {
    let job = simulation.check().unwrap();
    job.run(&data.table(), CheckpointOptions::default(), Run::default()).unwrap()
}

fn named(name: &str, settings: Settings) -> Solver {
    Solver::named(name).unwrap().with(settings).unwrap()
}

/// Every algorithm of one table either runs, within its budget and with the same books at every
/// party, or is refused for what it asks.
#[test]
fn every_algorithm_of_sums_runs_between_parties_that_add_the_noise() {
    let mut ran = Vec::new();
    for entry in CATALOGUE.iter().filter(|entry| matches!(entry.kind, AlgorithmKind::Private(_))) {
        for view in BOTH {
            let iterations = entry.takes.contains(&"iterations").then_some(3);
            // A sample behind masks is refused, and one of these draws where nobody says so.
            let sampling = entry.takes.contains(&"sampling").then(|| "full".parse().unwrap());
            let solver =
                named(entry.name, Settings { iterations, sampling, ..Settings::default() });
            let mut simulation = between(&solver, view).parties(4);
            if entry.needs_penalty {
                let problem = problem().penalty(penalties::parse(entry.penalty).unwrap());
                simulation = Simulation::of(problem)
                    .algorithm(entry.name)
                    .unwrap()
                    .settings(solver.settings().clone())
                    .guarantee(guarantee(2.0))
                    .trust(view)
                    .parties(4);
            }
            match simulation.clone().check() {
                Ok(_) => ran.push((entry.name, view)),
                Err(why) => {
                    let why = why.to_string();
                    assert!(why.contains("more than sums") || why.contains("not offered"), "{why}");
                    continue;
                }
            }
            let done = run(simulation, &Data::of(1));
            let certificate = done.model.certificate();
            assert_eq!(certificate.view, view);
            assert_eq!(certificate.population, RECORDS as u64);
            let counted = certificate.counted.unwrap();
            assert!(counted <= 2.0 && counted > 1.9, "{} {view}: {counted}", entry.name);
            assert_eq!(done.parties.len(), 4);
            let own = |party| &done.parties.party(party).unwrap().ledger;
            assert_eq!(own(0), own(3));
            assert_eq!(u64::from(done.rounds), own(0).total_events(), "a round is a sum");
        }
    }
    for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
        for view in BOTH {
            assert!(ran.contains(&(name, view)), "{name} {view} is not among {ran:?}");
        }
    }
}

/// One party is one table: the same noise, entry by entry, for the same price. Ten parties' sum has
/// √10 times the noise for the same price of each.
#[test]
fn a_party_is_counted_for_its_own_noise() {
    let solver = named("dp-sgd", Settings { iterations: Some(4), ..Settings::default() });
    let fit = Fit::of(problem()).solver(solver.clone()).guarantee(guarantee(2.0)).check().unwrap();
    let pooled = fit.fit(&Data::of(1).table()).unwrap().model;
    let noise = |ledger: &reticent::accountant::Ledger| {
        let [entry] = ledger.entries() else { panic!("{ledger:?}") };
        let Mechanism::Gaussian(event) = entry.event().mechanism() else { panic!("{entry:?}") };
        (event.noise_multiplier(), entry.count())
    };
    let (one, count) = noise(&pooled.certificate().ledger);
    for parties in [1, 10] {
        let done = run(between(&solver, View::Local).parties(parties), &Data::of(1));
        let (own, answers) = noise(&done.model.certificate().ledger);
        assert!((own / one - 1.0).abs() < 1e-9, "{parties}: {own} {one}");
        assert_eq!(answers, count);
    }
}

/// Where nobody says whom to trust, nobody is; and in coordinates of its own `auto` takes no more than
/// 24 rounds and one.
#[test]
fn auto_trusts_nobody_by_default_and_takes_few_rounds() {
    let untold = Simulation::of(problem()).algorithm("auto").unwrap().parties(4);
    let done = run(untold.guarantee(guarantee(50.0)), &Data::of(1));
    let certificate = done.model.certificate();
    assert_eq!(certificate.view, View::Local);
    let choice = certificate.choice.as_ref().unwrap();
    assert!(choice.settings.precondition.is_some(), "{choice:?}");
    assert_eq!((choice.settings.iterations, done.rounds), (Some(24), 25));
    // What is said by hand stays.
    let solver = named("auto", Settings { iterations: Some(7), ..Settings::default() });
    let simulation = between(&solver, View::Local).guarantee(guarantee(50.0)).parties(4);
    assert_eq!(run(simulation, &Data::of(1)).rounds, 8);
    // The signal is that of the sum: where one table has enough of it for coordinates, many parties
    // with the same records have not.
    let whitened = |parties: u32| {
        let simulation = between(&Solver::auto(), View::Local).guarantee(guarantee(1.0));
        let done = run(simulation.parties(parties), &Data::of(1));
        done.model.certificate().choice.as_ref().unwrap().settings.precondition.is_some()
    };
    assert!(whitened(1) && !whitened(100));
}

/// Parties of one record, without any, and of one class alone answer as all do; where sizes are
/// private nothing that is moved tells them, and each party may draw a sample.
#[test]
fn sizes_and_classes_of_parties_do_not_matter() {
    let few = Settings { iterations: Some(2), ..Settings::default() };
    let (auto, data) = (named("auto", few), Data::of(1));
    let poisson = Settings {
        iterations: Some(3),
        sampling: "poisson:0.5".parse().ok(),
        ..Settings::default()
    };
    let hidden = guarantee(2.0).with(|it| {
        it.adjacency = Some(Adjacency::AddRemove);
        it.public_n = Some(100);
    });
    for view in BOTH {
        for (parties, skew) in [(RECORDS as u32, "iid"), (4, "label:0.1"), (7, "size:3")] {
            let simulation = between(&auto, view).parties(parties);
            let done = run(simulation.skew(skew.parse().unwrap()), &data);
            assert_eq!(done.parties.len(), parties as usize, "{view} {skew}");
        }
        // More parties than records: some have none.
        let more = between(&auto, view).guarantee(hidden).parties(RECORDS as u32 + 5);
        assert_eq!(run(more, &data).model.certificate().population, 100);
        let moved = |skew: &str| {
            let simulation = between(&auto, view).guarantee(hidden).parties(6);
            let done = run(simulation.skew(skew.parse().unwrap()), &data);
            (done.rounds, done.traffic.unwrap())
        };
        assert_eq!(moved("iid"), moved("size:3"), "{view}");
    }
    let drawn = between(&named("dp-sgd", poisson), View::Local).guarantee(hidden).parties(4);
    let done = run(drawn, &data);
    let certificate = done.model.certificate();
    assert!(certificate.counted.unwrap() <= 2.0);
    let assumed = |what: &str| certificate.assumptions.iter().any(|said| said.contains(what));
    assert!(assumed("hides nothing from the party itself") && assumed("shows in no message"));
}

/// Each party a person: one unit each, of all rows.
#[test]
fn a_party_that_is_a_person_is_one_unit() {
    for view in BOTH {
        let simulation = between(&Solver::auto(), view).unit(Unit::User).party_per_owner();
        let done = run(simulation, &Data::of(30));
        let certificate = done.model.certificate();
        assert_eq!((certificate.population, certificate.unit), (30, Unit::User));
        assert!(certificate.counted.unwrap() <= 2.0);
        let assumed = |what: &str| certificate.assumptions.iter().any(|said| said.contains(what));
        assert!(assumed("one person with all of their records"));
    }
}

/// Everything that is not proven or not there is refused by name, before there is a table.
#[test]
fn what_noisy_sums_do_not_have_is_refused_by_name() {
    let ready = |solver: &Solver, view| between(solver, view).parties(4);
    let refused = |simulation: Simulation| simulation.check().unwrap_err().to_string();
    let auto = Solver::auto();
    let set = |sampling: &str| {
        let sampling = sampling.parse().ok();
        named("dp-sgd", Settings { sampling, ..Settings::default() })
    };
    assert!(refused(ready(&auto, View::Network)).contains("asks a server"));
    assert!(refused(ready(&set("wor:5"), View::Local)).contains("not offered"));
    assert!(refused(ready(&set("poisson:0.1"), View::SecureAggregation)).contains("not offered"));
    let vradmm = Solver::named("vradmm").unwrap();
    let why = refused(ready(&vradmm, View::SecureAggregation));
    assert!(why.contains("sampling = full") && why.contains("masks"), "{why}");
    for view in BOTH {
        assert!(refused(ready(&auto, view).party_epsilon(1, 0.5)).contains("one epsilon"));
        assert!(refused(ready(&auto, view).topology("ring")).contains("no graph"));
        assert!(refused(ready(&auto, view).parties(0)).contains("at least one party"));
        assert!(refused(ready(&auto, view).noise(0.0)).contains("nothing between"));
        // No other trust is named, because none would help.
        let why = refused(ready(&Solver::named("consensus").unwrap(), view));
        assert!(why.contains("more than sums") && !why.contains("central"), "{why}");
        assert!(refused(ready(&auto, view).unit(Unit::User)).contains("no person"));
        let published = Settings { as_published: Some(true), ..Settings::default() };
        assert!(refused(ready(&named("ssadmm", published), view)).contains("between parties"));
        let scaled = Settings { clip_share: Some(0.1), ..Settings::default() };
        assert!(ready(&named("auto", scaled), view).check().is_err());
        let hidden = guarantee(2.0).with(|it| {
            it.adjacency = Some(Adjacency::AddRemove);
            it.public_n = Some(100);
        });
        let open = between(&auto, view).guarantee(hidden).party_per_owner();
        assert!(refused(open).contains("split = N"));
    }
    let failing = |failures, view| refused(ready(&auto, view).failures(failures));
    let none = Failures::default();
    let seen = failing(Failures { after: 0.1, ..none }, View::Local);
    assert!(seen.contains("ends where a party does"), "{seen}");
    let masked = View::SecureAggregation;
    assert!(failing(Failures { delay: 0.1, ..none }, masked).contains("a round late"));
    assert!(failing(Failures { byzantine: 0.1, ..none }, masked).contains("how large"));
    assert!(failing(Failures { restart: 0.1, ..none }, masked).contains("checkpoint"));
    assert!(failing(Failures { after: 2.0, ..none }, masked).contains("from 0 to 1"));
    let honest = |share| Settings { honest: Some(share), ..Settings::default() };
    let with = |share, view| {
        let simulation = Simulation::of(problem()).algorithm("auto").unwrap();
        simulation.settings(honest(share)).guarantee(guarantee(2.0)).trust(view).parties(4)
    };
    assert!(refused(with(0.9, View::Local)).contains("secure-aggregation"));
    with(0.9, View::SecureAggregation).check().unwrap();
    assert!(refused(with(0.1, View::SecureAggregation)).contains("no honest noise is certain"));
    assert!(refused(ready(&auto, View::SecureAggregation).parties(1)).contains("needs 2"));
}

/// Where members leave, a masked sum goes on without them: for the same price, in the same rounds, told
/// how many stayed at least; and who missed a change of coordinates comes back.
#[test]
fn members_that_leave_a_masked_sum_are_made_up_for() {
    let solver = named("auto", Settings { iterations: Some(6), ..Settings::default() });
    let simulation = || {
        let simulation = between(&solver, View::SecureAggregation).parties(40);
        simulation.guarantee(guarantee(200.0))
    };
    let failures = Failures {
        before: 0.01,
        after: 0.01,
        duplicate: 0.02,
        reorder: 0.1,
        corrupt: 0.005,
        seed: 3,
        ..Failures::default()
    };
    let whole = run(simulation(), &Data::of(1));
    let left = run(simulation().failures(failures), &Data::of(1));
    let choice = left.model.certificate().choice.as_ref().unwrap();
    assert!(choice.settings.precondition.is_some(), "coordinates of its own: {choice:?}");
    assert_eq!(whole.fewest, None);
    let fewest = left.fewest.unwrap();
    assert!((30..40).contains(&fewest), "{fewest}");
    assert_eq!(left.rounds, whole.rounds);
    let (own, other) = (left.parties.party(3).unwrap(), whole.parties.party(3).unwrap());
    assert_eq!((&own.ledger, own.epsilon), (&other.ledger, other.epsilon));
    assert!(own.assumptions.iter().any(|said| said.contains("at least 30 parties")), "{own:?}");
    assert!(left.rejections["corrupt"] > 0 && left.rejections["unexpected"] > 0);
    let far = |one: &Simulated, other: &Simulated| -> f64 {
        let of = |run: &Simulated| -> Vec<f64> {
            run.model.coefficients().iter().flat_map(|it| it.values.clone()).collect()
        };
        of(one).iter().zip(of(other)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    // The mean is over those who stayed; without the scale it would be off by a tenth and more.
    assert!(far(&whole, &left) < 1.0, "{}", far(&whole, &left));
    // The same misfortunes again are the same run.
    assert_eq!(far(&left, &run(simulation().failures(failures), &Data::of(1))), 0.0);
    // Below the threshold there is no sum, and what was set aside is spent.
    let many = Failures { before: 0.3, ..Failures::default() };
    let job = simulation().failures(many).check().unwrap();
    let ended = job.run(&Data::of(1).table(), CheckpointOptions::default(), Run::default());
    let ended = ended.unwrap_err();
    assert!(matches!(ended, reticent::Error::Spent { .. }), "{ended}");
    assert!(ended.to_string().contains("30 are needed"), "{ended}");
}

/// A run that is stopped goes on over what was released: the same bits, and nobody is asked twice.
#[test]
fn a_run_on_noisy_sums_goes_on_over_what_was_released() {
    use std::ops::ControlFlow;
    let folder = tempfile::tempdir().unwrap();
    let solver = named("auto", Settings { iterations: Some(5), ..Settings::default() });
    for view in BOTH {
        let failures = match view {
            View::Local => Failures::default(),
            _ => Failures { before: 0.01, after: 0.01, seed: 3, ..Failures::default() },
        };
        let job = |parties| {
            let simulation = between(&solver, view).parties(parties).failures(failures);
            simulation.guarantee(guarantee(200.0)).check().unwrap()
        };
        let file = folder.path().join(view.name());
        let keep = |resume| CheckpointOptions::new(Some(&file), resume);
        let whole = run(
            between(&solver, view).parties(40).failures(failures).guarantee(guarantee(200.0)),
            &Data::of(1),
        );
        let mut rounds = 0;
        let mut stop = |stage| match stage {
            reticent::Stage::Iteration(_) if rounds == 2 => ControlFlow::Break(()),
            reticent::Stage::Iteration(_) => {
                rounds += 1;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        };
        let ended = job(40).run(&Data::of(1).table(), keep(false), Run::watched(&mut stop));
        assert!(ended.unwrap_err().is_stop());
        let gone_on = job(40).run(&Data::of(1).table(), keep(true), Run::default()).unwrap();
        let said = |run: &Simulated| {
            let values = run.model.coefficients().iter().flat_map(|it| it.values.clone());
            let bits = values.map(f64::to_bits).collect::<Vec<_>>();
            (bits, run.rounds, run.traffic, run.fewest, run.rejections.clone())
        };
        assert_eq!(said(&gone_on), said(&whole), "{view}");
        // Another number of parties is another job; another record is another table.
        let refused = |parties, data: &Data| {
            job(parties).run(&data.table(), keep(true), Run::default()).unwrap_err().to_string()
        };
        assert!(refused(39, &Data::of(1)).contains("another job"));
        let mut changed = Data::of(1);
        changed.x[7] += 0.125;
        assert!(refused(40, &changed).contains("not what it was"));
    }
}

/// A number as a target has the scale of its residuals asked for first: counts, one after the other, and
/// each an entry of every party. What is asked where nothing is said may be typed too: once it was refused.
#[test]
fn the_scale_of_residuals_is_asked_of_parties() {
    let Data { x, owners, .. } = Data::of(4);
    let y: Vec<f64> = x.chunks(FEATURES).map(|row| 3.0 * row[0] - row[2]).collect();
    let table = Dataset::dense(&x, RECORDS, FEATURES).unwrap().with_targets(&y).unwrap();
    let table = table.with_owners(Owners::from(&owners[..])).unwrap();
    let range = Target::range(-9.0, 9.0).unwrap();
    let schema = Schema::bounded(&[(-1.0, 1.0); FEATURES], range).unwrap();
    let ran = |name: &str, clip_share: Option<f64>, view: View| {
        let entry = find(name).unwrap();
        let settings = Settings {
            iterations: entry.takes.contains(&"iterations").then_some(3),
            outer: entry.takes.contains(&"outer").then_some(1),
            inner: entry.takes.contains(&"inner").then_some(2),
            sampling: entry.takes.contains(&"sampling").then(|| "full".parse().unwrap()),
            clip_share,
            ..Settings::default()
        };
        let simulation = Simulation::of(Problem::new(schema.clone()))
            .algorithm(name)
            .unwrap()
            .settings(settings)
            .guarantee(guarantee(200.0))
            .trust(view)
            .parties(4);
        let job = simulation.check().unwrap();
        job.run(&table, CheckpointOptions::default(), Run::default()).unwrap()
    };
    for view in BOTH {
        for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
            let entries = |done: &Simulated| {
                let certificate = done.model.certificate();
                assert!(certificate.counted.unwrap() <= 200.0);
                assert_eq!(u64::from(done.rounds), certificate.ledger.total_events());
                certificate.ledger.total_events()
            };
            let [usual, none] = [None, Some(0.0)].map(|share| ran(name, share, view));
            assert_eq!(entries(&usual), entries(&none) + 4, "{name} {view}: four counts");
            let typed = ran(name, Some(0.05), view);
            assert_eq!(entries(&typed), entries(&usual), "{name} {view}");
        }
    }
}

/// All numbers of a model.
fn numbers(model: &Model) -> Vec<f64> {
    let weights = model.coefficients().iter().flat_map(|weight| weight.values.clone());
    weights.chain(model.intercept().iter().copied()).collect()
}

fn furthest(one: &Model, other: &Model) -> f64 {
    let pairs = numbers(one).into_iter().zip(numbers(other));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The model of four parties and that of the pooled table, with so little noise that they are one.
fn next_to_exact(problem: &Problem, name: &str, view: View, own: Option<f64>) -> [Model; 2] {
    let takes = find(name).unwrap().takes;
    let has = |setting: &str| takes.contains(&setting);
    let settings = Settings {
        iterations: has("iterations").then_some(6),
        outer: has("outer").then_some(2),
        inner: has("inner").then_some(3),
        sampling: has("sampling").then(|| "full".parse().unwrap()),
        // By default it follows from the noise of the sum, which is more between parties.
        step: has("step").then_some(StepSize::Constant(2.0)),
        precondition: own,
        ..Settings::default()
    };
    let solver = named(name, settings);
    let simulation = Simulation::of(problem.clone())
        .algorithm(name)
        .unwrap()
        .settings(solver.settings().clone())
        .guarantee(guarantee(1e5))
        .trust(view);
    let data = Data::of(1);
    let fit = Fit::of(problem.clone()).solver(solver).guarantee(guarantee(1e5));
    let pooled = fit.check().unwrap().fit(&data.table()).unwrap().model;
    [run(simulation.parties(4), &data).model, pooled]
}

/// Constraints, penalties and weights of classes are public numbers of the server's, and every clip is
/// the party's own: where there is next to no noise the model is that of the pooled fit, of each
/// algorithm and in coordinates of its own too.
#[test]
fn constraints_and_class_weights_are_the_pooled_ones_but_for_the_noise() {
    let l1 = || problem().penalty(penalties::parse("l1:0.05").unwrap());
    let chain = l1().constraint(Constraint::chain(FEATURES).unwrap());
    let trend = l1().constraint(Constraint::trend(FEATURES, 1.0).unwrap());
    let weighted = problem().class_weights("no:1,yes:4".parse().unwrap());
    let all = ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"];
    for view in BOTH {
        for (what, problem, without, names) in [
            ("chain", &chain, l1(), &["auto", "dp-sgd", "sadmm", "vradmm"][..]),
            ("trend", &trend, l1(), &["dp-sgd", "sadmm"]),
            ("weights", &weighted, self::problem(), &all),
        ] {
            for name in names {
                let [parties, pooled] = next_to_exact(problem, name, view, None);
                let off = furthest(&parties, &pooled);
                let [plain, _] = next_to_exact(&without, name, view, None);
                let moved = furthest(&parties, &plain);
                println!("{name} {view} {what}: off by {off}, moved by {moved}");
                assert!(moved > 0.04 && off < 0.125 * moved, "{name} {view} {what}");
            }
        }
        for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm"] {
            let [parties, pooled] = next_to_exact(&l1(), name, view, Some(0.3));
            let off = furthest(&parties, &pooled);
            assert!(off < 0.05, "{name} {view} in its own coordinates: {off}");
        }
    }
}

/// With a secure key the run is certified, and says what the server learns and who is honest.
#[test]
fn a_certificate_says_who_adds_the_noise() {
    let budget = Guarantee::from(Budget::new(2.0, 1e-5).unwrap());
    let budget = budget.with(|it| it.unit = Some(Unit::Record));
    let certified = |view| {
        let simulation = between(&Solver::auto(), view).guarantee(budget).parties(5);
        run(simulation, &Data::of(1)).model.certificate().clone()
    };
    let local = certified(View::Local);
    assert!(local.certified && local.epsilon <= 2.0, "{:?}", local.reasons);
    let says = |certificate: &reticent::Certificate, what: &str| {
        certificate.assumptions.iter().any(|said| said.contains(what))
    };
    assert!(says(&local, "its own party's noise") && says(&local, "same party"));
    let masked = certified(View::SecureAggregation);
    assert!(masked.certified && masked.epsilon <= 2.0, "{:?}", masked.reasons);
    assert!(says(&masked, "of 5 parties no more than 1") && says(&masked, "X25519"));
    assert!(!says(&masked, "its own party's noise"));
}

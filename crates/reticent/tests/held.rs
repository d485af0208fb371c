//! Algorithms of one table between parties who trust a server with exact sums: the same bits as the
//! fit of the pooled table, whoever holds which rows.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use reticent::internal::admm::catalogue::{AlgorithmKind, CATALOGUE};
use reticent::simulate::{
    CheckpointOptions, Parties, ReadySimulation, Simulated, Simulation, SimulationSpec,
};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{
    Adjacency, Budget, Constraint, Fit, Guarantee, Model, Problem, Run, Settings, Solver, Spec,
    Unit, View, penalties,
};

pub(crate) const RECORDS: usize = 120;
const FEATURES: usize = 3;

pub(crate) struct Data {
    x: Vec<f64>,
    y: Vec<u32>,
    /// In ascending order, so that the parties' rows behind one another are the table.
    owners: Vec<u64>,
}

impl Data {
    /// Rows of so many owners, in turn of their numbers.
    pub(crate) fn of(parties: usize) -> Self {
        let x: Vec<f64> =
            (0..RECORDS * FEATURES).map(|at| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0).collect();
        let y = x.chunks(FEATURES).map(|row| u32::from(row[0] + 0.3 * row[1] > 0.1)).collect();
        // Three digits each: the order of numbers is that of their names.
        let owners = (0..RECORDS).map(|i| 100 + (i * parties / RECORDS) as u64).collect();
        Data { x, y, owners }
    }

    /// The rows of one class with the first party, those of the other with the rest.
    pub(crate) fn by_class() -> Self {
        let mut rows: Vec<(u32, Vec<f64>)> = Data::of(1)
            .x
            .chunks(FEATURES)
            .map(|row| (u32::from(row[0] > 0.0), row.to_vec()))
            .collect();
        rows.sort_by_key(|(class, _)| *class);
        let y: Vec<u32> = rows.iter().map(|(class, _)| *class).collect();
        let owners = y.iter().map(|class| 100 + u64::from(*class)).collect();
        Data { x: rows.into_iter().flat_map(|(_, row)| row).collect(), y, owners }
    }

    /// Parties with so many rows each.
    pub(crate) fn uneven(sizes: &[usize]) -> Self {
        let owners = (100..).zip(sizes).flat_map(|(owner, &size)| std::iter::repeat_n(owner, size));
        Data { owners: owners.collect(), ..Data::of(1) }
    }

    /// The same with other records at one party.
    pub(crate) fn changed_at(mut self, party: u64) -> Self {
        for row in (0..RECORDS).filter(|row| self.owners[*row] == 100 + party) {
            self.x[row * FEATURES..(row + 1) * FEATURES].iter_mut().for_each(|x| *x = -*x);
            self.y[row] = 1;
        }
        self
    }

    pub(crate) fn table(&self) -> Dataset<'_> {
        let table = Dataset::dense(&self.x, RECORDS, FEATURES).unwrap();
        table.with_targets(&self.y).unwrap().with_owners(Owners::from(&self.owners[..])).unwrap()
    }
}

fn problem() -> Problem {
    let target = Target::classes(["no", "yes"]).unwrap();
    Problem::new(Schema::bounded(&[(-1.0, 1.0); FEATURES], target).unwrap())
}

/// Neighbours by whether a record is there.
fn hidden_sizes(guarantee: &mut Guarantee) {
    guarantee.adjacency = Some(Adjacency::AddRemove);
    guarantee.public_n = Some(100);
}

fn guarantee(unit: Unit, seed: u64) -> Guarantee {
    let budget = Guarantee::from(Budget::new(2.0, 1e-5).unwrap());
    budget.with(|it| {
        it.unit = Some(unit);
        it.seed = Some(seed);
    })
}

fn pooled(problem: &Problem, solver: &Solver, guarantee: Guarantee, data: &Data) -> Model {
    let fit = Fit::of(problem.clone()).solver(solver.clone()).guarantee(guarantee);
    fit.check().unwrap().fit(&data.table()).unwrap().model
}

fn between(problem: &Problem, solver: &Solver, guarantee: Guarantee) -> Simulation {
    Simulation::of(problem.clone())
        .algorithm(solver.name())
        .unwrap()
        .settings(solver.settings().clone())
        .guarantee(guarantee)
        .trust(View::Central)
}

fn run(simulation: Simulation, data: &Data) -> Simulated {
    let job = simulation.check().unwrap();
    job.run(&data.table(), CheckpointOptions::default(), Run::default()).unwrap()
}

/// All numbers of a model, by their bits.
fn bits(model: &Model) -> Vec<u64> {
    let weights = model.coefficients().iter().flat_map(|weight| &weight.values);
    weights.chain(model.intercept()).map(|value| value.to_bits()).collect()
}

fn assert_same(problem: &Problem, solver: &Solver, guarantee: Guarantee, data: &Data, say: &str) {
    let pooled = pooled(problem, solver, guarantee, data);
    let held = run(between(problem, solver, guarantee).party_per_owner(), data);
    assert_eq!(bits(&held.model), bits(&pooled), "{} {say}", solver.name());
    assert!(bits(&pooled).iter().any(|bits| *bits != 0));
    let (own, one) = (held.model.certificate(), pooled.certificate());
    assert_eq!((own.epsilon, &own.ledger), (one.epsilon, &one.ledger), "{say}");
    assert_eq!(held.parties.party(0).unwrap().ledger, own.ledger);
}

/// Every algorithm of one table either runs between parties, with the bits of the pooled fit, or is
/// refused for what it asks.
#[test]
fn a_run_on_entrusted_sums_has_the_bits_of_the_pooled_fit() {
    let mut ran = Vec::new();
    for entry in CATALOGUE.iter().filter(|entry| matches!(entry.kind, AlgorithmKind::Private(_))) {
        let settings = Settings { iterations: Some(3), ..Settings::default() };
        let settings =
            if entry.takes.contains(&"iterations") { settings } else { Settings::default() };
        let solver = Solver::named(entry.name).unwrap().with(settings).unwrap();
        let mut problem = problem();
        if entry.needs_penalty {
            problem = problem.penalty(penalties::parse(entry.penalty).unwrap());
        }
        let guarantee = guarantee(Unit::Record, 7);
        match between(&problem, &solver, guarantee).parties(3).check() {
            Ok(_) => ran.push(entry.name),
            Err(why) => {
                assert!(why.to_string().contains("more than sums"), "{}: {why}", entry.name);
                continue;
            }
        }
        for parties in [1, 3, 10] {
            let say = format!("{parties} parties");
            assert_same(&problem, &solver, guarantee, &Data::of(parties), &say);
        }
    }
    for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
        assert!(ran.contains(&name), "{name} is not among {ran:?}");
    }
}

/// Secret samples are drawn over the parties' units one behind the other, coordinates are taken from
/// all, a penalty and weights of classes are public numbers: none of it depends on who holds what.
#[test]
fn samples_coordinates_penalties_and_class_weights_are_the_pooled_ones() {
    let set = |change: fn(&mut Settings)| {
        let mut settings = Settings { iterations: Some(4), ..Settings::default() };
        change(&mut settings);
        settings
    };
    let l1 = |problem: Problem| problem.penalty(penalties::parse("l1:1e-3").unwrap());
    let weighted = problem().class_weights("no:1,yes:3".parse().unwrap());
    let cases: Vec<(&str, Settings, Problem)> = vec![
        ("dp-sgd", set(|s| s.sampling = "poisson:0.3".parse().ok()), problem()),
        ("dp-sgd", set(|s| s.sampling = "wor:20".parse().ok()), problem()),
        (
            "vradmm",
            Settings {
                outer: Some(2),
                inner: Some(2),
                sampling: "poisson:0.3".parse().ok(),
                ..Settings::default()
            },
            l1(problem()),
        ),
        ("ssadmm", set(|s| s.precondition = Some(0.3)), l1(problem())),
        ("ssadmm", set(|_| ()), l1(weighted.clone())),
        ("auto", Settings::default(), weighted),
        ("auto", Settings::default(), l1(problem())),
    ];
    for (name, settings, problem) in cases {
        let say = format!("{settings:?}");
        let solver = Solver::named(name).unwrap().with(settings).unwrap();
        for data in [Data::of(3), Data::of(RECORDS), Data::by_class()] {
            assert_same(&problem, &solver, guarantee(Unit::Record, 3), &data, &say);
        }
    }
}

/// Estimates with standard errors are sums too.
#[test]
fn standard_errors_are_the_pooled_ones() {
    let (data, guarantee) = (Data::of(3), guarantee(Unit::Record, 2));
    let fit = Fit::of(problem()).guarantee(guarantee).standard_errors(0.3);
    let pooled = fit.check().unwrap().fit(&data.table()).unwrap().model;
    let simulation = between(&problem(), &Solver::auto(), guarantee).standard_errors(0.3);
    let held = run(simulation.party_per_owner(), &data).model;
    assert_eq!(bits(&held), bits(&pooled));
    assert!(pooled.standard_errors().is_some());
    assert_eq!(held.standard_errors(), pooled.standard_errors());
    let protocol = Simulation::of(problem()).algorithm("federated").unwrap().parties(3);
    let protocol = protocol.guarantee(guarantee).standard_errors(0.3);
    assert!(protocol.check().unwrap_err().to_string().contains("algorithm of one table"));
}

/// Persons are parties: each adds the mean over its rows, as on one table.
#[test]
fn a_party_that_is_a_person_is_one_unit() {
    let solver = Solver::auto();
    assert_same(&problem(), &solver, guarantee(Unit::User, 5), &Data::of(30), "persons");
}

/// Dealt records leave parties without any, and with one class alone; over all of them a sum is the
/// same in any order.
#[test]
fn parties_without_records_and_of_one_class_change_nothing() {
    let (solver, data) = (Solver::auto(), Data::of(1));
    let guarantee = guarantee(Unit::Record, 9);
    let pooled = bits(&pooled(&problem(), &solver, guarantee, &data));
    for (parties, skew) in [(100, "iid"), (4, "label:1"), (7, "size:3")] {
        let simulation = between(&problem(), &solver, guarantee).parties(parties);
        let held = run(simulation.skew(skew.parse().unwrap()), &data);
        assert_eq!(bits(&held.model), pooled, "{skew}");
        assert_eq!(held.parties.len(), parties as usize);
        assert_eq!(held.model.certificate().parties.as_ref().unwrap().count, u64::from(parties));
    }
}

/// Nothing of what is moved depends on who is drawn, or on how many records there are where that is
/// private.
#[test]
fn messages_are_as_many_and_as_long_whoever_is_drawn() {
    let data = Data::of(4);
    let moved = |seed: u64| {
        let settings = Settings {
            iterations: Some(3),
            sampling: "poisson:0.2".parse().ok(),
            ..Settings::default()
        };
        let solver = Solver::named("dp-sgd").unwrap().with(settings).unwrap();
        let simulation = between(&problem(), &solver, guarantee(Unit::Record, seed));
        run(simulation.party_per_owner(), &data).traffic.unwrap()
    };
    assert_eq!(moved(1), moved(2));
    let sizes = |skew: &str| {
        let guarantee = guarantee(Unit::Record, 1).with(hidden_sizes);
        let simulation = between(&problem(), &Solver::auto(), guarantee).parties(4);
        run(simulation.skew(skew.parse().unwrap()), &data).traffic.unwrap()
    };
    assert_eq!(sizes("iid"), sizes("size:3"));
}

/// An algorithm that draws a sample where none is named tells a party so in a bit for each of its
/// records, and add-remove keeps their number private.
#[test]
fn a_sample_that_is_an_algorithms_own_default_is_refused_where_sizes_are_private() {
    let l1 = problem().penalty(penalties::parse("l1:1e-3").unwrap());
    let hidden = guarantee(Unit::Record, 1).with(hidden_sizes);
    let mut ran = Vec::new();
    for entry in CATALOGUE.iter().filter(|entry| matches!(entry.kind, AlgorithmKind::Private(_))) {
        let problem = match entry.needs_penalty {
            true => problem().penalty(penalties::parse(entry.penalty).unwrap()),
            false => problem(),
        };
        let solver = Solver::named(entry.name).unwrap();
        let dealt = |skew: &str| {
            let simulation = between(&problem, &solver, hidden).parties(4);
            simulation.skew(skew.parse().unwrap()).check()
        };
        let moved = |skew: &str| {
            let (job, data) = (dealt(skew).unwrap(), Data::of(1));
            let ran = job.run(&data.table(), CheckpointOptions::default(), Run::default());
            ran.map(|ran| (ran.traffic.unwrap(), ran.rounds)).map_err(|why| why.to_string())
        };
        match dealt("iid") {
            Ok(_) => {
                assert_eq!(moved("iid").unwrap(), moved("size:3").unwrap(), "{}", entry.name);
                ran.push(entry.name);
            }
            Err(why) if entry.name == "vradmm" => {
                assert!(why.to_string().contains("sampling = full"), "{why}");
            }
            Err(why) => {
                let why = why.to_string();
                assert!(why.contains("more than sums") || why.contains("not offered"), "{why}");
            }
        }
    }
    assert!(ran.contains(&"auto") && ran.contains(&"dp-sgd"), "{ran:?}");
    let full = Settings { sampling: "full".parse().ok(), ..Settings::default() };
    let solver = Solver::named("vradmm").unwrap().with(full).unwrap();
    between(&l1, &solver, hidden).parties(4).check().unwrap();
}

/// A constraint is public numbers, and persons have a mean each.
#[test]
fn constraints_are_the_pooled_ones_for_records_and_for_persons() {
    let data = Data::of(3);
    let l1 = problem().penalty(penalties::parse("l1:1e-3").unwrap());
    let prior = [("no".to_owned(), 0.8), ("yes".to_owned(), 0.2)];
    let steps = || Settings { iterations: Some(4), ..Settings::default() };
    for (name, settings) in [("dp-sgd", steps()), ("sadmm", steps()), ("auto", Settings::default())]
    {
        let solver = Solver::named(name).unwrap().with(settings).unwrap();
        for constraint in
            [Constraint::chain(FEATURES).unwrap(), Constraint::trend(FEATURES, 1.0).unwrap()]
        {
            let say = constraint.spec().to_owned();
            let problem = l1.clone().constraint(constraint).class_prior(prior.clone());
            for unit in [Unit::Record, Unit::User] {
                assert_same(&problem, &solver, guarantee(unit, 11), &data, &say);
            }
        }
    }
}

/// So is the scale of the residuals of a target that is a number: counts at thresholds.
#[test]
fn the_scale_of_residuals_is_the_pooled_one() {
    let Data { x, owners, .. } = Data::of(4);
    let y: Vec<f64> = x.chunks(FEATURES).map(|row| 3.0 * row[0] - row[2]).collect();
    let table = || {
        let table = Dataset::dense(&x, RECORDS, FEATURES).unwrap().with_targets(&y).unwrap();
        table.with_owners(Owners::from(&owners[..])).unwrap()
    };
    let schema = Schema::bounded(&[(-1.0, 1.0); FEATURES], Target::range(-9.0, 9.0).unwrap());
    let problem = Problem::new(schema.unwrap());
    let share = Settings { clip_share: Some(0.2), ..Settings::default() };
    for (name, unit) in [("auto", Unit::Record), ("auto", Unit::User), ("dp-sgd", Unit::Record)] {
        let solver = Solver::named(name).unwrap().with(share.clone()).unwrap();
        let guarantee = guarantee(unit, 13);
        let fit = Fit::of(problem.clone()).solver(solver.clone()).guarantee(guarantee);
        let pooled = fit.check().unwrap().fit(&table()).unwrap().model;
        let job = between(&problem, &solver, guarantee).party_per_owner().check().unwrap();
        let held = job.run(&table(), CheckpointOptions::default(), Run::default()).unwrap().model;
        assert_eq!(bits(&held), bits(&pooled), "{name}");
        assert_eq!(held.certificate().ledger, pooled.certificate().ledger);
    }
}

/// The released sums are of all rows: whoever keeps a budget reserves one plan, once, and finds just
/// that in the books of every party.
#[test]
fn a_budget_pays_one_plan_for_all_parties() {
    use reticent::internal::{Payable, unplanned};
    for (unit, split) in [(Unit::Record, Some(5)), (Unit::Record, None), (Unit::User, None)] {
        let data = Data::of(12);
        let budget = Guarantee::from(Budget::new(2.0, 1e-5).unwrap());
        let budget = budget.with(|it| it.unit = Some(unit));
        let simulation = between(&problem(), &Solver::auto(), budget);
        let job = match split {
            Some(parties) => simulation.parties(parties),
            None => simulation.party_per_owner(),
        };
        let job = job.check().unwrap();
        let table = data.table();
        let ready = job.open(&table, CheckpointOptions::default(), &mut Run::default()).unwrap();
        let plans = Payable::plans(&ready).unwrap();
        assert_eq!(plans.len(), 1);
        assert!(plans[0].total_events() > 0 && plans[0].taints().is_empty());
        let done = Payable::run(ready, Run::default()).unwrap();
        let more = unplanned(&plans, ReadySimulation::ledgers(&done));
        assert_eq!(more.total_events(), 0);
        assert_eq!(done.parties.len(), split.unwrap_or(12) as usize);
        assert!(done.model.certificate().certified);
    }
}

/// Everything that is not proven or not there is refused by name, before there is a table.
#[test]
fn what_entrusted_sums_do_not_have_is_refused_by_name() {
    let ready =
        |solver: Solver| between(&problem(), &solver, guarantee(Unit::Record, 1)).parties(3);
    let refused = |simulation: Simulation| simulation.check().unwrap_err().to_string();
    ready(Solver::auto()).check().unwrap();
    let failures = reticent::simulate::Failures { after: 0.1, ..Default::default() };
    assert!(refused(ready(Solver::auto()).failures(failures)).contains("ends where a party does"));
    assert!(refused(ready(Solver::auto()).party_epsilon(1, 0.5)).contains("cost each the same"));
    assert!(refused(ready(Solver::auto()).topology("ring")).contains("no graph"));
    assert!(refused(ready(Solver::auto()).parties(0)).contains("at least one party"));
    assert!(refused(ready(Solver::named("consensus").unwrap())).contains("more than sums"));
    // A person's rows would be dealt to several parties.
    let why = refused(ready(Solver::auto()).unit(Unit::User));
    assert!(why.contains("no person"), "{why}");
    let sampled = Settings { sampling: "poisson:0.1".parse().ok(), ..Settings::default() };
    let hidden = guarantee(Unit::Record, 1).with(hidden_sizes);
    // How many parties there are would follow from the rows.
    for unit in [Unit::Record, Unit::User] {
        let named = hidden.with(|it| it.unit = Some(unit));
        let why = refused(between(&problem(), &Solver::auto(), named).party_per_owner());
        assert!(why.contains("split = N"), "{why}");
    }
    let sampled = Solver::named("dp-sgd").unwrap().with(sampled).unwrap();
    assert!(refused(between(&problem(), &sampled, hidden).parties(3)).contains("sampling = full"));
}

/// A run that is kept has noise from its key: gone on with it has the same bits, and without a seed it
/// is certified. Another table, or another job, is refused.
#[test]
fn a_run_on_entrusted_sums_goes_on_with_the_same_noise() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let unseeded = guarantee(Unit::Record, 1).with(|it| it.seed = None);
    let job =
        |parties| between(&problem(), &Solver::auto(), unseeded).parties(parties).check().unwrap();
    let run = |parties, data: &Data, resume| {
        let keep = CheckpointOptions::new(Some(&file), resume);
        job(parties).run(&data.table(), keep, Run::default())
    };
    let first = run(4, &Data::of(3), false).unwrap().model;
    assert!(first.certificate().certified, "{:?}", first.certificate().reasons);
    assert_eq!(bits(&run(4, &Data::of(3), true).unwrap().model), bits(&first));
    let fresh = job(4).run(&Data::of(3).table(), CheckpointOptions::default(), Run::default());
    assert_ne!(bits(&fresh.unwrap().model), bits(&first));
    let refused = |parties, data: &Data| run(parties, data, true).unwrap_err().to_string();
    assert!(refused(5, &Data::of(3)).contains("another job"));
    let mut changed = Data::of(3);
    changed.x[0] += 0.125;
    assert!(refused(4, &changed).contains("not what it was"));
}

/// A checkpoint is not there before its run is: what a budget has refused could else be gone on with,
/// which nobody pays for.
#[test]
fn a_run_that_has_not_begun_leaves_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    let keep = CheckpointOptions::new(Some(&file), false);
    for trust in [View::Central, View::Local] {
        let job = between(&problem(), &Solver::auto(), guarantee(Unit::Record, 1));
        let job = job.trust(trust).parties(4).check().unwrap();
        let data = Data::of(3);
        let ready = job.open(&data.table(), keep, &mut Run::default()).unwrap();
        assert!(!ready.plans().unwrap().is_empty());
        drop(ready);
        assert!(!file.exists(), "{trust}");
    }
}

/// What was typed is what runs: keys of a fit that have a use, and those that have none.
#[test]
fn a_job_in_words_takes_what_a_fit_takes() {
    let spec = |change: fn(&mut Spec)| {
        let job = Spec::default().with(|it| {
            it.features = Some(2);
            it.row_norm = Some(1.0);
            it.algorithm = Some("auto".to_owned());
            it.guarantee = Budget::new(1.0, 1e-5).unwrap().into();
            change(it);
        });
        let parties = Parties::default().with(|it| {
            it.split = Some(3);
            it.trust = Some(View::Central);
        });
        SimulationSpec::new(job, parties).check().map(drop)
    };
    spec(|_| ()).unwrap();
    spec(|job| job.class_weight = Some("-1:1,+1:2".to_owned())).unwrap();
    spec(|job| job.settings.precondition = Some(0.2)).unwrap();
    assert!(spec(|job| job.tune = Some(vec!["clip=[1,2]".to_owned()])).is_err());
    spec(|job| job.standard_errors = Some(0.2)).unwrap();
}

/// The certificate is certified where the key is secure, and says whom it trusts.
#[test]
fn a_certificate_says_that_the_server_is_trusted_with_exact_sums() {
    let budget = Guarantee::from(Budget::new(2.0, 1e-5).unwrap());
    let budget = budget.with(|it| it.unit = Some(Unit::Record));
    let simulation = between(&problem(), &Solver::auto(), budget).parties(4);
    let held = run(simulation, &Data { owners: vec![100; RECORDS], ..Data::of(1) });
    let certificate = held.model.certificate();
    assert!(certificate.certified, "{:?}", certificate.reasons);
    assert_eq!(certificate.view, View::Central);
    let assumed = |what: &str| certificate.assumptions.iter().any(|said| said.contains(what));
    assert!(assumed("exact sums") && assumed("XChaCha20-Poly1305") && assumed("same party"));
    assert!(!assumed("draw noise"), "the gate draws it, and no party");
    assert!(held.traffic.unwrap().messages >= 4 * u64::from(held.rounds));
    let text = held.model.to_json().unwrap();
    let read = Model::from_json(&text).unwrap();
    assert_eq!(bits(&read), bits(&held.model));
}

//! Questions between parties that add the noise themselves, under attack: the adversary knows both
//! tables of the victim, and looks at what the server sees along the line that leads from one to the
//! other. Locally these are the victim's own answers; behind masks the sums of all.

use std::fmt::Debug;

use reticent::accountant::{Adjacency, Ledger, Unit, View};
use reticent::internal::{Question, Repeat, Seen};
use reticent::simulate::{CalibratedQuestion, Parties};
use reticent::tables::{Schema, Target};
use reticent::{Error, Evaluation, Fit, Guarantee, Job, Partition, Statistics};
use reticent_data::{Rows, Table};
use reticent_oracle::{NoiseKey, PrivateTable, Refusal};

use crate::evaluated;
use crate::pair::{Neighbours, VICTIM};
use crate::spec::AuditSpec;

/// What the map calls a count.
const COUNT: &str = "count";

/// The one column, from −1 to 1.
const COLUMN: &str = "1";

/// Whether it is a question by this name.
pub(crate) fn knows(algorithm: &str) -> bool {
    [COUNT, evaluated::NAME].contains(&algorithm) || crate::asked::NAMES.contains(&algorithm)
}

/// A calibrated question that can be repeated.
trait AttackedQuestion: Debug + Send + Sync {
    fn run(&self, tables: Vec<PrivateTable>, key: &NoiseKey) -> Result<Seen, Error>;
    fn epsilon(&self) -> Result<f64, Error>;
    fn plan_at(&self, scale: f64) -> Result<Ledger, Error>;
    fn mu(&self) -> Option<f64>;
}

/// One question with what it was calibrated to.
#[derive(Debug)]
struct OneQuestion<Q: Question> {
    job: Job<Q>,
    calibrated: CalibratedQuestion<Q>,
    delta: f64,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<reticent_oracle::Bug>,
}

/// A calibrated question, and the line along which its answers are looked at.
#[derive(Debug)]
pub(crate) struct AskedSums {
    question: Box<dyn AttackedQuestion>,
    line: Vec<f64>,
    algorithm: String,
    view: View,
    seed: Option<u64>,
}

impl AskedSums {
    /// Calibrates it.
    pub fn new(spec: &AuditSpec, view: View) -> Result<Self, Error> {
        let (question, line): (Box<dyn AttackedQuestion>, Vec<f64>) = match &*spec.algorithm {
            "mean" => made(spec, view, || statistics(spec)?.mean([COLUMN]), even)?,
            "histogram" => {
                let bins = Partition::Equal(2);
                made(spec, view, || statistics(spec)?.histogram([COLUMN], &bins), even)?
            }
            "quantile" => {
                // One count has all of the noise: whether half a unit is at the lower bound.
                let half = [0.5 / units(spec) as f64];
                let job = || statistics(spec)?.quantiles([COLUMN], &half, Some(2.0));
                let (question, line) = made(spec, view, job, even)?;
                // Where answers are seen the count is, and what is made of it is not.
                (question, if view == View::Local { vec![1.0] } else { line })
            }
            COUNT => {
                // Every threshold between three classes, or all.
                let target = Target::classes(["0", "1", "2"])?;
                let schema = Schema::bounded(&[(-1.0, 1.0)], target)?;
                let guarantee = guarantee(spec).with(|it| it.public_n = None);
                let fit = || Fit::new(schema.clone()).guarantee(guarantee);
                made(spec, view, || fit().count(spec.is_of_classes()), even)?
            }
            _ => {
                let job = || {
                    let evaluation = Evaluation::of(guarantee(spec));
                    evaluation.of_parameter(spec.problem()?, vec![evaluated::WEIGHT])
                };
                made(spec, view, job, Repeat::deviations)?
            }
        };
        Ok(AskedSums { question, line, algorithm: spec.algorithm.clone(), view, seed: spec.seed })
    }

    /// What the server sees of one run, along the line.
    pub fn run(&self, world: &[Table], number: u64) -> Result<Seen, Error> {
        let key = match self.seed {
            Some(seed) => NoiseKey::seeded(seed).child(number),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        };
        let table = |own: &Table| PrivateTable::from(attacked(&self.algorithm, own.clone()));
        let mut seen = self.question.run(world.iter().map(table).collect(), &key)?;
        let answers = seen.transcript.iter().flatten();
        let along = answers.zip(&self.line).map(|(answer, line)| answer * line).sum();
        seen.transcript = vec![vec![along]];
        Ok(seen)
    }

    /// What is certified for the victim.
    pub fn epsilon(&self) -> Result<f64, Error> {
        self.question.epsilon()
    }

    /// The plan with so many times the noise.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        self.question.plan_at(scale)
    }

    /// μ of what is seen, where that is Gaussian.
    pub fn mu(&self) -> Option<f64> {
        self.question.mu()
    }

    /// Who looks.
    pub fn view(&self) -> View {
        self.view
    }
}

impl<Q> AttackedQuestion for OneQuestion<Q>
where
    Q: Question + Send + Sync,
    Q::Layout: Send + Sync,
{
    fn run(&self, tables: Vec<PrivateTable>, key: &NoiseKey) -> Result<Seen, Error> {
        self.calibrated.seen(
            &self.job,
            (tables, key),
            VICTIM as u32,
            #[cfg(reticent_seeded_bugs)]
            self.bug,
        )
    }

    fn epsilon(&self) -> Result<f64, Error> {
        self.calibrated.epsilon(self.delta)
    }

    fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        self.calibrated.plan_at(&self.job, scale)
    }

    fn mu(&self) -> Option<f64> {
        self.calibrated.mu()
    }
}

/// The question of a job between parties, and the line between its worlds. `deviations` is the noise of
/// each number of an answer; nothing where all have the same.
fn made<Q>(
    spec: &AuditSpec,
    view: View,
    job: impl Fn() -> Result<Job<Q>, Error>,
    deviations: impl Fn(&Repeat<Q>) -> Vec<f64>,
) -> Result<(Box<dyn AttackedQuestion>, Vec<f64>), Error>
where
    Q: Question<Answer = Vec<f64>> + Send + Sync + 'static,
    Q::Layout: Send + Sync,
{
    let asked = job()?;
    let split = (spec.unit() == Unit::Record).then_some(spec.parties);
    let parties = Parties::default().with(|it| {
        it.split = split;
        it.trust = Some(view);
    });
    let like = spec.pairs()[0].world(true, &spec.layout());
    let like = like.into_iter().map(|table| attacked(&spec.algorithm, table).into());
    let like: Vec<PrivateTable> = like.collect();
    let calibrated = asked.between(&parties)?.calibrate(&like).unwrap_or_else(|| {
        Err(Error::value("trust", view, "nobody but the gate adds noise there"))
    })?;
    let line = line(spec, view, &job, deviations)?;
    let question = OneQuestion {
        job: asked,
        calibrated,
        delta: spec.delta,
        #[cfg(reticent_seeded_bugs)]
        bug: spec.bug,
    };
    Ok((Box::new(question), line))
}

/// The way from one world of the victim to the other, of the pair whose worlds are the furthest apart, in
/// the units of what is seen: numbers with the same noise, or answers, of which what has little noise says
/// most.
fn line<Q>(
    spec: &AuditSpec,
    view: View,
    job: impl Fn() -> Result<Job<Q>, Error>,
    deviations: impl Fn(&Repeat<Q>) -> Vec<f64>,
) -> Result<Vec<f64>, Error>
where
    Q: Question<Answer = Vec<f64>>,
{
    let world = |pair: &Neighbours, with| {
        let table = pair.world(with, &spec.layout()).swap_remove(VICTIM);
        attacked(&spec.algorithm, table)
    };
    let pairs = spec.pairs();
    let repeat = job()?.repeat(world(&pairs[0], true).into())?;
    let noise = deviations(&repeat);
    let power = if view == View::Local { 1 } else { 2 };
    let weight = |at: usize| noise.get(at).map_or(1.0, |noise| noise.powi(-power));
    let mut best = Vec::new();
    let length = |way: &[f64]| way.iter().map(|v| v * v).sum::<f64>();
    for pair in &pairs {
        let [with, without] = [true, false].map(|with| repeat.without_noise(world(pair, with)));
        let way = with?.into_iter().zip(without?).enumerate();
        let way: Vec<f64> = way.map(|(at, (a, b))| (a - b) * weight(at)).collect();
        if best.is_empty() || length(&way) > length(&best) {
            best = way;
        }
    }
    Ok(best)
}

/// All numbers of an answer have the same noise.
fn even<Q: Question>(_: &Repeat<Q>) -> Vec<f64> {
    Vec::new()
}

/// A table as it is attacked, in either world. Of a quantile the canary, which is at the upper bound, is
/// turned to the lower. Of a count the target is a class: a canary has the first, which every threshold
/// counts, and one that is flipped the last, which none does.
fn attacked(algorithm: &str, mut table: Table) -> Table {
    match (algorithm, &mut table.rows) {
        ("quantile", Rows::Dense(rows)) => {
            rows.values.iter_mut().for_each(|value| *value = -*value);
        }
        (COUNT, _) => table.targets.iter_mut().for_each(|target| *target = 1.0 - *target),
        _ => {}
    }
    table
}

/// Units of all parties in the larger world.
fn units(spec: &AuditSpec) -> u64 {
    let like = spec.pairs()[0].world(true, &spec.layout());
    match spec.unit() {
        Unit::Record => like.iter().map(Table::len).sum::<usize>() as u64,
        _ => like.iter().map(Table::user_count).sum::<usize>() as u64,
    }
}

fn guarantee(spec: &AuditSpec) -> Guarantee {
    let added = spec.adjacency == Adjacency::AddRemove;
    Guarantee::default().with(|it| {
        (it.epsilon, it.delta) = (Some(spec.epsilon), Some(spec.delta));
        (it.adjacency, it.unit) = (Some(spec.adjacency), Some(spec.unit()));
        it.public_n = added.then(|| units(spec));
        it.seed = spec.seed;
    })
}

fn statistics(spec: &AuditSpec) -> Result<Statistics, Error> {
    let schema = Schema::bounded(&[(-1.0, 1.0)], Target::range(-1.0, 1.0)?)?;
    // A mean without a public number: more is asked.
    let counted = spec.algorithm == "mean";
    let guarantee = guarantee(spec);
    let guarantee = if counted { guarantee.with(|it| it.public_n = None) } else { guarantee };
    Ok(Statistics::new(schema).guarantee(guarantee))
}

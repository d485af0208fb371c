//! Jobs on a table in a cache file: what can be asked of one, told before there is a table.
//! Proof: proofs/holders.md.

use std::path::Path;

use reticent_admm::unwatched;
use reticent_oracle::{Refusal, Rehearsal};

use crate::error::Error;
use crate::job::SOME;
use crate::procedure::{Asking, Question};
use crate::run::Noise;
use crate::task::Task;

/// Refuses a fit that needs the rows themselves.
pub(crate) fn check_task(task: &Task) -> Result<(), Error> {
    if task.protection.budget.is_none() && task.noise.is_none() {
        return Err(not_sums(task.entry.name));
    }
    let population = task.protection.opening.public_n.unwrap_or(SOME);
    let (terms, public) = (task.protection.terms(population)?, task.public(population)?);
    let mut rehearsal = Rehearsal::of_cached_sums(public.shape, terms);
    match task.perform(&mut rehearsal, &public, &Noise::alone(1.0), &mut unwatched) {
        Err(Error::Refused(Refusal::NoSum)) => Err(not_sums(task.entry.name)),
        // What a plan for so many records refuses, it may not refuse for the true number.
        _ => Ok(()),
    }
}

/// Refuses a question that needs the rows themselves.
pub(crate) fn check_question<Q: Question>(question: &Q) -> Result<(), Error> {
    let protection = Question::ground(question).protection;
    let terms = protection.terms(protection.opening.public_n.unwrap_or(SOME))?;
    let layout = question.layout(1.0, &terms);
    let mut rehearsal = Rehearsal::of_cached_sums(question.shape(), terms);
    match question.ask(&mut rehearsal, &Asking { multiplier: 1.0, layout }) {
        Err(Refusal::NoSum) => Err(not_sums(Q::NAME)),
        asked => Ok(asked.map(drop)?),
    }
}

/// The algorithms of one table that ask for sums alone.
pub(crate) const SUM_ALGORITHMS: &str =
    "auto, dp-sgd, ssadmm, mpadmm, sadmm, vradmm, dp-cd or dp-fw";

fn not_sums(name: &str) -> Error {
    let why = format!(
        "{name} asks for more than sums over records, which is all that a table in a file is asked for; leave it out, or use \
         {SUM_ALGORITHMS}"
    );
    Error::value("cache", "given", why)
}

/// The refusal of what is done on a table in memory alone.
pub(crate) fn in_memory_alone(folder: &Path) -> Error {
    let why = "this is done on a table in memory; a table in a file is for one fit, choice, count, evaluation or statistic \
               without a trace on public data; leave it out";
    Error::value("cache", folder.display(), why)
}

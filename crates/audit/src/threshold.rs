//! The best threshold on one half of the runs, and its error rates on the other half.
//!
//! For an (ε, δ)-private mechanism and any set S of outcomes P(S | D) ≤ e^ε P(S | D') + δ, so
//!
//! ```text
//! ε ≥ ln( (P(S | D) − δ) / P(S | D') ) ≥ ln( (p̲ − δ) / p̄' )
//! ```
//!
//! with p̲ a lower and p̄' an upper Clopper–Pearson limit, each at error (1 − confidence)/2. S is "the
//! statistic is on this side of the threshold". Statistic, side, threshold and which of the two tables is D
//! are chosen on runs that are not counted afterwards, so the choice costs no confidence. Proof note:
//! `proofs/audit.md`.

use reticent::Error;
use reticent_statistics::{lower_bound, normal_quantile, upper_bound};

use crate::attack::{Scores, Statistic, scores};
use crate::report::AuditReport;
use crate::spec::AuditSpec;
use crate::subject::Subject;

/// A set S, and which of the two tables it speaks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Test {
    pub statistic: usize,
    above: bool,
    threshold: f64,
    swapped: bool,
}

/// Limits of P(S | D) from below and P(S | D') from above.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub often: f64,
    pub seldom: f64,
}

impl Limits {
    /// The least ε that these limits allow.
    pub fn epsilon(self, delta: f64) -> f64 {
        ((self.often - delta) / self.seldom).ln().max(0.0)
    }
}

/// The audit.
pub(crate) fn audit(spec: &AuditSpec, told: &(dyn Fn(u64, u64) + Sync)) -> Result<AuditReport, Error> {
    let subject = Subject::new(spec)?;
    let (test, limits) = best(spec, &subject, told, |limits| limits.epsilon(spec.delta))?;
    spec.report(
        (subject.epsilon()?, subject.view()),
        limits.epsilon(spec.delta),
        Statistic::ALL[test.statistic],
    )
}

/// The test that is best by `value` on half of the runs, and its limits on the other half.
pub(crate) fn best(
    spec: &AuditSpec,
    subject: &Subject,
    told: &(dyn Fn(u64, u64) + Sync),
    value: impl Fn(Limits) -> f64,
) -> Result<(Test, Limits), Error> {
    let [with, without] = scores(subject, spec.runs / 2, told)?;
    let (choose_with, with) = with.split_at(with.len() / 2);
    let (choose_without, without) = without.split_at(without.len() / 2);
    let each = 0.5 + 0.5 * spec.confidence;
    let test = Test::choose(choose_with, choose_without, normal_quantile(each), value);
    Ok((test, test.limits(with, without, each)))
}

impl Test {
    fn holds(&self, scores: &Scores) -> bool {
        let score = scores[self.statistic];
        if self.above { score >= self.threshold } else { score <= self.threshold }
    }

    /// Clopper–Pearson, each limit at the confidence `each`.
    fn limits(&self, with: &[Scores], without: &[Scores], each: f64) -> Limits {
        let (d, other) = if self.swapped { (without, with) } else { (with, without) };
        let count = |runs: &[Scores]| runs.iter().filter(|scores| self.holds(scores)).count() as u64;
        Limits {
            often: lower_bound(count(d), d.len() as u64, each),
            seldom: upper_bound(count(other), other.len() as u64, each),
        }
    }

    /// The best by `value` of approximate limits: quick, and what is chosen here is measured exactly
    /// elsewhere. Stricter limits for the choice, to keep it from the thin end of the tail, were tried: no
    /// gain over 8 seeds.
    fn choose(with: &[Scores], without: &[Scores], z: f64, value: impl Fn(Limits) -> f64) -> Self {
        let mut best =
            (f64::NEG_INFINITY, Test { statistic: 0, above: true, threshold: 0.0, swapped: false });
        for statistic in 0..Statistic::ALL.len() {
            let column = |runs: &[Scores], is_with: bool| {
                runs.iter().map(|scores| (scores[statistic], is_with)).collect::<Vec<_>>()
            };
            let mut all = column(with, true);
            all.extend(column(without, false));
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            for above in [false, true] {
                if above {
                    all.reverse();
                }
                let mut inside = [0.0, 0.0];
                for tied in all.chunk_by(|a, b| a.0 == b.0) {
                    tied.iter().for_each(|(_, is_with)| inside[usize::from(!is_with)] += 1.0);
                    for swapped in [false, true] {
                        let (d, other) = (usize::from(swapped), usize::from(!swapped));
                        let totals = [with.len() as f64, without.len() as f64];
                        let limits = Limits {
                            often: wilson(inside[d], totals[d], -z),
                            seldom: wilson(inside[other], totals[other], z),
                        };
                        let worth = value(limits);
                        if worth > best.0 {
                            best = (worth, Test { statistic, above, threshold: tied[0].0, swapped });
                        }
                    }
                }
            }
        }
        best.1
    }
}

/// The limit of Wilson (1927): above for z > 0, below for z < 0.
fn wilson(successes: f64, trials: f64, z: f64) -> f64 {
    let (p, zz) = (successes / trials, z * z / trials);
    let spread = z * (p * (1.0 - p) / trials + zz / (4.0 * trials)).sqrt();
    ((p + 0.5 * zz + spread) / (1.0 + zz)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_give_epsilon_and_pay_for_delta() {
        let limits = Limits { often: 0.5, seldom: 0.05 };
        assert!((limits.epsilon(0.0) - 10_f64.ln()).abs() < 1e-15);
        assert!((limits.epsilon(0.1) - 8_f64.ln()).abs() < 1e-15);
        assert_eq!(Limits { often: 1e-4, seldom: 0.05 }.epsilon(1e-3), 0.0);
    }

    #[test]
    fn the_telling_statistic_is_found_on_its_side() {
        let runs = |shift: f64| -> Vec<Scores> {
            (0..1000).map(|i| [f64::from(i % 7), -f64::from(i % 10) - shift, 0.0, 0.0, 0.0, 0.0]).collect()
        };
        let (with, without) = (runs(5.0), runs(0.0));
        let test = Test::choose(&with, &without, 2.0, |limits| limits.epsilon(0.0));
        assert_eq!((test.statistic, test.above != test.swapped), (1, false));
        let Limits { often, seldom } = test.limits(&with, &without, 0.975);
        assert!(often > 0.45 && seldom < 0.01, "{often} {seldom}");
    }
}

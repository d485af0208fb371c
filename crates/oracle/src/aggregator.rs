//! Somebody whom the parties trust with their blocks: it adds them up, adds noise, and keeps the
//! books.
//!
//! ```text
//! party: SealedBlock = clipped block, sealed      trustee: opens, Σ over the invited + N(0, (zS)² I), event first
//! ```
//!
//! What travels is sealed: in this process only the trustee can read it. (Parties share the key of
//! the seal; a network needs an encrypted channel from each to the trustee besides.) The trustee
//! draws who is invited itself: sampling and its event are made from the same value. A party that
//! is invited and stays away makes the sum smaller and the sampling rarer; both cost less than what
//! is entered. S and the event: `drawn.rs`. Proof: proofs/trust.md.

use std::sync::Arc;

use reticent_accountant::{Event, Ledger, Taint, Unit, View};
use reticent_noise::{Digest, Entropy, EntropyError, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};

use crate::drawn::Drawn;
use crate::gate::unit;
use crate::plan::Plan;
use crate::queries::{Mean, add_noise, wrong};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::sums::grid::{BITS, nearest};
use crate::sums::{BlockTerms, Grid, norm_above};
use crate::terms::Terms;

/// What a party hands to its trustee. Nobody else can read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedBlock {
    nonce: Digest,
    words: Vec<u64>,
}

/// Closes what only the trustee opens, on its terms.
#[derive(Clone, Debug)]
pub struct Seal(Arc<NoiseKey>, BlockTerms);

/// A vector clipped to `bound`, in steps of the grid.
pub(crate) fn clipped_steps(vector: &[f64], bound: f64) -> Vec<i64> {
    let factor = Grid::new(vector.len())
        .factor(norm_above(vector.iter().map(|v| v * v).sum(), vector.len()), bound);
    vector.iter().map(|v| nearest(v * factor) as i64).collect()
}

impl Seal {
    pub(crate) fn params(&self) -> &BlockTerms {
        &self.1
    }

    /// The nonce follows from all that the steps follow from: the same steps are sealed the same,
    /// others otherwise.
    pub(crate) fn close(
        &self,
        steps: &[i64],
        entropy: &mut Entropy,
    ) -> Result<SealedBlock, EntropyError> {
        let nonce = *entropy.key()?;
        let words = steps.iter().map(|&step| step as u64).collect();
        Ok(SealedBlock { words: self.pad(&nonce, words)?, nonce })
    }

    fn open(&self, entrusted: &SealedBlock) -> Result<Vec<i64>, EntropyError> {
        let words = self.pad(&entrusted.nonce, entrusted.words.clone())?;
        Ok(words.into_iter().map(|word| word as i64).collect())
    }

    fn pad(&self, nonce: &Digest, mut words: Vec<u64>) -> Result<Vec<u64>, EntropyError> {
        let mut stream = self.0.entropy(nonce);
        for four in words.chunks_mut(4) {
            let key = stream.key()?;
            for (word, pad) in four.iter_mut().zip(key.as_chunks::<8>().0) {
                *word ^= u64::from_le_bytes(*pad);
            }
        }
        Ok(words)
    }
}

/// The trustee of a number of parties.
#[derive(Debug)]
pub struct TrustedAggregator {
    key: NoiseKey,
    seal: Seal,
    terms: Terms,
    len: usize,
    ledger: Ledger,
    plan: Option<Plan>,
    /// The last round that was released, and the context of its noise.
    last: Option<(u32, Digest)>,
    #[cfg(feature = "seeded-bugs")]
    bug: Option<crate::bug::Bug>,
}

/// What a trustee must not forget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrusteeBooks {
    ledger: Ledger,
    last: Option<(u32, Digest)>,
}

impl TrustedAggregator {
    /// Of so many parties with blocks of length `len` that move on these terms; `key` is the
    /// trustee's own.
    pub fn new(parties: u64, len: usize, params: BlockTerms, key: &NoiseKey, run: &Digest) -> Self {
        let mut ledger = Ledger::new();
        if key.is_seeded() {
            ledger.taint(Taint::SeededNoise);
        }
        let own = |label: u64| {
            key.child(label).child(u64::from_le_bytes(std::array::from_fn(|i| run[i])))
        };
        TrustedAggregator {
            seal: Seal(Arc::new(own(1)), params),
            key: own(2),
            terms: Terms::of_parties(unit(&params), View::Central, parties),
            len,
            ledger,
            plan: None,
            last: None,
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        }
    }

    /// The same with a known defect, for an audit to find.
    #[cfg(feature = "seeded-bugs")]
    pub fn spoiled(self, bug: Option<crate::bug::Bug>) -> Self {
        TrustedAggregator { bug, ..self }
    }

    fn drawn(&self, params: &Mean) -> Drawn {
        let drawn = Drawn::new(self.seal.params(), params, self.terms.population(), self.len);
        #[cfg(feature = "seeded-bugs")]
        if self.bug == Some(crate::bug::Bug::SampleShows) {
            return drawn.believed_secret();
        }
        drawn
    }

    /// What one release costs, on the terms of its books.
    pub fn event(&self, params: &Mean) -> Result<Event, Refusal> {
        params.check()?;
        self.drawn(params).event(params, &self.terms)
    }

    /// What the parties close their blocks with.
    pub fn seal(&self) -> Seal {
        self.seal.clone()
    }

    /// The terms of its books.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What it has entered.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// From here on, releases nothing more often than `plan` has it.
    pub fn bind_within(&mut self, plan: &Ledger) {
        self.plan = Some(Plan::within(plan));
    }

    /// Who is invited in a round. It is for the invited to know, and for nobody else.
    pub fn invite(&self, round: u32, params: &Mean) -> Result<Vec<u32>, Refusal> {
        let context = Hasher::new("invite").number(u64::from(round)).finish();
        let parties = self.terms.population() as usize;
        let mut chosen = Vec::new();
        if !params.sampling.draw(parties, &mut self.key.entropy(&context), &mut chosen)? {
            chosen = (0..parties as u32).collect();
        }
        Ok(chosen)
    }

    /// Whether these are sealed steps of blocks; a trustee takes nothing else.
    pub fn takes(&self, entrusted: &SealedBlock) -> bool {
        entrusted.words.len() == self.len
    }

    /// The noisy mean of what the invited of `round` entrusted to it: the sum over those who came,
    /// divided by the public number of those who were to be expected. What is longer than the
    /// bound, which no gate of this crate closes, is left out. The entry comes first; the same sum
    /// of the same round again has the same noise and no entry. Another sum of that round, or of
    /// one before it, is refused: it would be over the same secret sample, and two answers about
    /// one sample are not two samples.
    pub fn release(
        &mut self,
        round: u32,
        params: &Mean,
        entrusted: &[SealedBlock],
    ) -> Result<Released<Vec<f64>>, Refusal> {
        params.check()?;
        let block = *self.seal.params();
        let drawn = self.drawn(params);
        if params.clip != block.bound() {
            return Err(wrong(
                "what is summed is clipped to the bound of the blocks, and nothing else",
            ));
        }
        let mut sum = vec![0_i64; self.len];
        for one in entrusted.iter().filter(|one| one.words.len() == self.len) {
            let steps = self.seal.open(one)?;
            let square: f64 = steps.iter().map(|&step| (step as f64).powi(2)).sum();
            if square.sqrt() <= (1_u64 << BITS) as f64 * (1.0 + 1e-12) {
                sum.iter_mut().zip(&steps).for_each(|(sum, step)| *sum += step);
            }
        }
        // The key is the trustee's, so a digest of the sum tells nobody anything.
        let context =
            Hasher::new("release").number(u64::from(round)).debug(params).debug(&sum).finish();
        if self.last != Some((round, context)) {
            if self.last.is_some_and(|(last, _)| round <= last) {
                return Err(Refusal::RoundReleased(round));
            }
            let event = drawn.event(params, &self.terms)?;
            if let Some(plan) = &mut self.plan {
                plan.foresees(&event)?;
            }
            self.ledger.append(event);
            self.last = Some((round, context));
        }
        add_noise(
            &mut self.key.entropy(&context),
            params.noise_multiplier * drawn.share,
            &mut sum,
        )?;
        let normaliser = params.sampling.normaliser(self.terms.population() as f64);
        let step = Grid::new(self.len).step(params.clip) / normaliser;
        Ok(Released::new(sum.iter().map(|&steps| steps as f64 * step).collect()))
    }

    /// What must survive a crash.
    pub fn books(&self) -> TrusteeBooks {
        TrusteeBooks { ledger: self.ledger.clone(), last: self.last }
    }

    /// Goes on from its books. What it has entered since, it has entered: the ledger that says more
    /// is kept.
    pub fn recall(&mut self, books: &TrusteeBooks) -> Result<(), Refusal> {
        if books.ledger.total_events() <= self.ledger.total_events() {
            return Ok(());
        }
        if self.ledger.total_events() > 0 {
            return Err(Refusal::BooksInUse);
        }
        for entry in books.ledger.entries() {
            if let Some(plan) = &mut self.plan {
                (0..entry.count()).try_for_each(|_| plan.foresees(entry.event()))?;
            }
            self.ledger.append_many(entry.event().clone(), entry.count());
        }
        books.ledger.taints().iter().for_each(|&taint| self.ledger.taint(taint));
        self.last = books.last;
        Ok(())
    }
}

impl Terms {
    /// The terms of sums over so many parties, whose number is public; so are the numbers of their
    /// records where those are protected.
    pub fn of_parties(unit: Unit, view: View, parties: u64) -> Self {
        Terms::replace_one(unit, view, parties)
    }
}

//! Somebody whom the parties trust with their blocks: it adds them up, adds noise, and keeps the
//! books.
//!
//! ```text
//! party: clipped block, encrypted      aggregator: Σ over the invited + N(0, (zS)² I), event first
//! ```
//!
//! What travels is encrypted (`cipher.rs`). The aggregator draws who is invited itself: sampling and
//! its event are made from the same value. A party that is invited and stays away makes the sum
//! smaller and the sampling rarer; both cost less than what is entered. S and the event: `drawn.rs`.
//! Proof: proofs/trust.md.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Event, Ledger, Unit, View};
use reticent_noise::{Digest, Hasher, NoiseKey};

use crate::books::Books;
use crate::cipher::{AggregatorKey, BlockOpener, EncryptedBlock};
use crate::drawn::DrawnSum;
use crate::gate::unit;
use crate::queries::{ClippedMean, add_noise, wrong};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::sums::grid::BITS;
use crate::sums::{BlockTerms, Grid};
use crate::terms::Terms;

/// The trusted aggregator of a number of parties.
#[derive(Debug)]
pub struct TrustedAggregator {
    key: NoiseKey,
    opener: BlockOpener,
    terms: Terms,
    len: usize,
    books: Books,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<crate::bug::Bug>,
}

impl TrustedAggregator {
    /// Of so many parties with blocks of length `len` that move on these terms; `key` is the
    /// aggregator's own.
    pub fn new(parties: u64, len: usize, params: BlockTerms, key: &NoiseKey, run: &Digest) -> Self {
        // All of the run's bits: who names runs could choose two that agree in a part of them.
        let words = run.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let own = |label: u64| words.clone().fold(key.child(label), |key, word| key.child(word));
        TrustedAggregator {
            opener: BlockOpener::new(&own(1), params),
            key: own(2),
            terms: Terms::of_parties(unit(&params), View::Central, parties),
            len,
            books: Books::new(key.is_seeded()),
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        }
    }

    /// The same where all that a party holds is one unit, which is called so.
    ///
    /// # Errors
    /// If it is one record where blocks are of whole parties, or the other way round.
    pub fn protecting(mut self, whole: Unit) -> Result<Self, Refusal> {
        if whole.is_whole() != self.terms.unit().is_whole() {
            return Err(wrong("blocks move on the terms of another unit"));
        }
        self.terms = Terms::of_parties(whole, View::Central, self.terms.population());
        Ok(self)
    }

    /// The same with a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    pub fn spoiled(self, bug: Option<crate::bug::Bug>) -> Self {
        TrustedAggregator { bug, ..self }
    }

    /// The noise of a release, less what a defect leaves out.
    #[cfg(reticent_seeded_bugs)]
    fn spoiled_noise(
        &self,
        context: &Digest,
        mut drawn: DrawnSum,
        normaliser: f64,
    ) -> (reticent_noise::Entropy, DrawnSum) {
        let reused = self.bug == Some(crate::bug::Bug::NoiseReused);
        drawn.share *= crate::bug::mean_noise_left(self.bug, normaliser);
        let entropy = self.key.entropy(if reused { &[0; 32] } else { context });
        (entropy, drawn)
    }

    fn drawn(&self, params: &ClippedMean) -> DrawnSum {
        let drawn = DrawnSum::new(self.opener.params(), params, self.terms.population(), self.len);
        #[cfg(reticent_seeded_bugs)]
        if self.bug == Some(crate::bug::Bug::SampleShows) {
            return drawn.believed_secret();
        }
        drawn
    }

    /// What one release costs, on the terms of its books.
    pub fn event(&self, params: &ClippedMean) -> Result<Event, Refusal> {
        params.check()?;
        self.drawn(params).event(params, &self.terms)
    }

    /// What the parties encrypt their blocks with: public.
    pub fn public_key(&self) -> AggregatorKey {
        self.opener.public()
    }

    /// The terms of its books.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// What it has entered.
    pub fn ledger(&self) -> &Ledger {
        self.books.ledger()
    }

    /// From here on, releases nothing more often than `plan` has it.
    pub fn bind_within(&mut self, plan: &Ledger) -> Result<(), Refusal> {
        self.books.bind_within(plan)
    }

    /// Who is invited in a round. It is for the invited to know, and for nobody else.
    pub fn invite(&self, round: u32, params: &ClippedMean) -> Result<Vec<u32>, Refusal> {
        let context = Hasher::new("invite").number(u64::from(round)).finish();
        let parties = self.terms.population() as usize;
        let mut chosen = Vec::new();
        if !params.sampling.draw(parties, &mut self.key.entropy(&context), &mut chosen)? {
            chosen = (0..parties as u32).collect();
        }
        Ok(chosen)
    }

    /// Whether this is a block that `party` encrypted for this round. What was changed on its way,
    /// or comes from another party or another round, is refused.
    pub fn admits(&self, round: u32, party: u32, block: &EncryptedBlock) -> Result<(), Refusal> {
        self.steps(round, party, block).map(drop)
    }

    fn steps(&self, round: u32, party: u32, block: &EncryptedBlock) -> Result<Vec<i64>, Refusal> {
        let steps = self.opener.decrypt(round, party, block)?;
        if steps.len() != self.len {
            return Err(wrong("a block has another length than the parameter"));
        }
        Ok(steps)
    }

    /// The noisy mean of the blocks of the invited of `round`: the sum over those who came, divided
    /// by the public number of those who were to be expected. A block that is longer than the
    /// bound, which no gate of this crate encrypts, is left out. The entry comes first; the same
    /// sum of the same round again has the same noise and no entry. Another sum of that round, or of
    /// one before it, is refused: it would be over the same secret sample, and two answers about one
    /// sample are not two samples.
    pub fn release(
        &mut self,
        round: u32,
        params: &ClippedMean,
        blocks: &BTreeMap<u32, EncryptedBlock>,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        params.check()?;
        if params.clip != self.opener.params().bound() {
            return Err(wrong(
                "what is summed is clipped to the bound of the blocks, and nothing else",
            ));
        }
        // The event that is entered is about this sample, so nobody else is in the sum.
        let invited = BTreeSet::from_iter(self.invite(round, params)?);
        let mut sum = vec![0_i64; self.len];
        for (&party, block) in blocks {
            if !invited.contains(&party) {
                return Err(wrong("a block of a party that was not invited in this round"));
            }
            let steps = self.steps(round, party, block)?;
            let square: f64 = steps.iter().map(|&step| (step as f64).powi(2)).sum();
            if square.sqrt() <= (1_u64 << BITS) as f64 * (1.0 + 1e-12) {
                sum.iter_mut().zip(&steps).for_each(|(sum, step)| *sum += step);
            }
        }
        let drawn = self.drawn(params);
        // The key is the aggregator's, so a digest of the sum tells nobody anything.
        let mut hasher = Hasher::new("release");
        let context = hasher.number(u64::from(round)).canonical(&(params, &sum))?.finish();
        let event = drawn.event(params, &self.terms)?;
        let normaliser = params.sampling.normaliser(self.terms.population() as f64);
        let step = Grid::new(self.len).step(params.clip) / normaliser;
        #[cfg(not(reticent_seeded_bugs))]
        let mut entropy = self.key.entropy(&context);
        #[cfg(reticent_seeded_bugs)]
        let (mut entropy, drawn) = self.spoiled_noise(&context, drawn, normaliser);
        self.books.release_once(round.into(), context, vec![event], || {
            add_noise(&mut entropy, params.noise_multiplier * drawn.share, &mut sum)?;
            Ok(sum.iter().map(|&steps| steps as f64 * step).collect())
        })
    }

    /// What must survive a crash.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Goes on from its books. What it has entered since, it has entered: the books that say more
    /// are kept.
    pub fn recall(&mut self, books: &Books) -> Result<(), Refusal> {
        if books.ledger().total_events() <= self.ledger().total_events() {
            return Ok(());
        }
        self.books.recall(books)
    }
}

impl Terms {
    /// The terms of sums over so many parties, whose number is public; so are the numbers of their
    /// records where those are protected.
    pub fn of_parties(unit: Unit, view: View, parties: u64) -> Self {
        Terms::replace_one(unit, view, parties)
    }
}

//! A token that walks at random among the users (FP23, Algorithm 4, with E12 and E14).
//!
//! ```text
//! minimise (1/n) Σ f_i(x_i) + r(z)  subject to  x_i = z,   f_i the mean over the records of user i
//!
//! stateless:  user i:  ẑ = z + (2λ/n)(prox_{γf_i}(z) − z + ½η),   z = prox_{(2λγ/n)r}(ẑ)
//! stateful:   user i:  z = prox_{γr}(ẑ),   x_i = prox_{γf_i}(2z − u_i)
//!                      u_i⁺ = u_i + 2λ(x_i − z + ½η),   ẑ ← ẑ + (u_i⁺ − u_i)/n
//! both:       hands the token to a seat drawn uniformly from all, its own included
//! ```
//!
//! The seats are the n users'; where a peer looks (`network`) there is one more, the observer's. It
//! has no data, passes the token on as it is, and the model is the token that it saw last: the
//! model is a view that somebody has, and this one is nobody's whose data are in question.
//!
//! The stateful token is ẑ = mean(u), not the prox of it (E14). The stateless one minimises r plus
//! the mean of the Moreau envelopes of the f_i, which is the problem itself as γ goes to 0.
//!
//! Released. To whoever sees all messages of one user (`local`): the residual prox − z, a Gaussian
//! event of the user's own gate. To one other user (`network`): the tokens that come by. A
//! stateless step is one non-expansive map of the token, so the steps that follow a contribution
//! hide it (proofs/walk.md), and the event is an `Iteration`. That proof needs noise in *every*
//! step: a user who has no contribution left adds its noise without its data, and passes the token
//! on. Stateful it does not hold: u_i keeps what nobody's noise covers (E12); `as-published` claims
//! Theorem 4 for it all the same, has the printed token z in place of ẑ (E14), and is not certified.
//!
//! A user contributes at most [`cap`] times, enforced by its own gate. A token carries its number;
//! who has sent it sends the same bits again until it is told that they came, and a number that is
//! not new is rejected as stale. Nobody sends a token elsewhere instead: two tokens would show one
//! contribution twice.
//!
//! Requires: a convex penalty with a prox; the identity constraint; everybody connected with
//! everybody. For `network` also: a smooth loss with a bounded gradient that is not clipped, and
//! the user as the unit. Reference: FP23, Algorithm 4 and Theorem 4, with E12 and E14
//! (docs/errata.md).

mod defaults;
mod token;
mod walker;

use std::sync::Arc;

use reticent_accountant::{Ledger, View};
use reticent_admm::{Refused, WalkState as Memory, fraction, positive};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::queries::ResidualTerms;
use reticent_oracle::{Terms, WalkTerms};
use reticent_problem::{Regulariser, penalties};

use self::defaults::WalkDefaults;
use self::walker::{WalkSeat, Walker};
use super::{Protocol, ProtocolEntry, ProtocolRecipe, Start, rehearsed};
use crate::adversary::{FaultInjection, Transcribed, Witness};
use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::{MessageKind, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::wire;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "walk",
    about: "a token that walks at random among the users, one user's prox step at a time",
    reference: "FP23, Algorithm 4, with E12 and E14",
    takes: &["iterations", "clip", "rho", "gamma", "relaxation", "inner", "walk", "as_published"],
    views: &[View::Network, View::Local],
    along_graph: false,
    private: true,
    build,
};

/// Visits to each seat, on average.
const VISITS: u64 = 20;

/// The usual value of Douglas–Rachford.
const LAMBDA: f64 = 0.5;

/// Steps of a user's inner solver. With γ = 1/L each halves the distance.
const INNER: u64 = 20;

/// The number of steps of the token in a simulated round. The token does not wait for the end of a
/// round, which is the timer by which a token without a receipt is sent again.
const HOPS: u32 = 50;

/// The tolerance for rounding before a gradient counts as clipped.
const NO_CLIPPING: f64 = 1.0 + 1e-9;

/// The walk.
#[derive(Clone, Debug)]
pub(crate) struct WalkProtocol {
    /// The users, n.
    parties: u32,
    /// Steps of the token.
    hops: u32,
    memory: Memory,
    lambda: f64,
    view: View,
    published: bool,
    regulariser: Arc<Regulariser>,
    /// The terms of a residual; their noise multiplier is not that of a run.
    params: ResidualTerms,
    /// A known defect: a token stays where the penalty puts it. The unit tests have it too;
    /// otherwise its test would need a separate build.
    #[cfg(any(test, reticent_seeded_bugs))]
    off_lattice: bool,
}

fn build(recipe: &ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_plain_convex(&ENTRY)?;
    let settings = recipe.settings;
    let parties = recipe.parties();
    if parties < 2 || !recipe.topology.is_complete() {
        let allowed = "the walk is for two or more users who are all connected: use complete";
        return Err(Refused::new("topology", format!("{parties} users"), allowed));
    }
    let memory = settings.walk.unwrap_or_default();
    let published = settings.as_published.unwrap_or(false);
    if published && (memory == Memory::Stateless || recipe.view != View::Network) {
        let allowed = "what is published and does not hold is the stateful walk seen by a peer: set walk to \
                       stateful and trust to network";
        return Err(Refused::new("as_published", true, allowed));
    }
    let lambda = fraction("relaxation", settings.relaxation.unwrap_or(LAMBDA))?;
    let seats = u64::from(parties) + u64::from(recipe.view == View::Network);
    let hops = recipe.rounds(VISITS.saturating_mul(seats))?;
    let inner = settings.inner.unwrap_or(INNER).clamp(1, 1_000_000) as u32;
    let usual = match memory {
        Memory::Stateless => WalkDefaults::new(recipe, hops, lambda, inner),
        Memory::Stateful => WalkDefaults::PLAIN,
    };
    let clip = settings.clip_or_part(recipe.public, usual.clip)?;
    if recipe.view == View::Network && !published {
        certifiable(recipe, memory, clip)?;
    }
    let gamma = settings.prox_step_or(usual.visit / recipe.public.curvature())?;
    Ok(Box::new(WalkProtocol {
        parties,
        hops,
        memory,
        lambda,
        view: recipe.view,
        published,
        regulariser: Arc::clone(recipe.regulariser),
        params: ResidualTerms {
            clip: positive("clip", gamma * clip)? * NO_CLIPPING,
            record_clip: clip,
            row_norm: recipe.public.row_norm,
            step: gamma,
            inner,
            noise_multiplier: 0.0,
            walk: (recipe.view == View::Network && !published)
                .then_some(WalkTerms { users: parties.into(), relaxation: lambda }),
        },
        #[cfg(any(test, reticent_seeded_bugs))]
        off_lattice: false,
    }))
}

/// Refuses settings that cannot be counted for a peer.
fn certifiable(recipe: &ProtocolRecipe<'_>, memory: Memory, clip: f64) -> Result<(), Refused> {
    let refuse = |why: &str| {
        let allowed =
            format!("{why}; choose trust local, for which each message is counted in full");
        Err(Refused::new("trust", View::Network, allowed))
    };
    let bound = recipe.public.lipschitz * recipe.public.row_norm;
    if memory == Memory::Stateful {
        return refuse(
            "what a stateful walk keeps is not hidden by the noise of others (erratum E12): use walk stateless",
        );
    }
    if !bound.is_finite() || !recipe.public.gradient_lipschitz().is_finite() {
        return refuse("the loss must be smooth with a bounded derivative (logistic, huber)");
    }
    if clip < bound {
        return refuse(
            "a clip below the loss's own bound makes steps that are not non-expansive: leave it out",
        );
    }
    if !penalties::is_own(recipe.regulariser.penalty()) {
        return refuse(
            "that steps hide a contribution needs a penalty that is convex and shows nobody the token, which only \
             one of the library is known to be",
        );
    }
    if recipe.regulariser.penalty().is_prox_iterative() {
        return refuse(
            "its penalty is found by iterations whose error nobody has bounded: use another one",
        );
    }
    if !recipe.unit.is_whole() {
        return refuse(
            "the steps of others hide a contribution only if all have the same noise: protect the user",
        );
    }
    Ok(())
}

impl Protocol for WalkProtocol {
    fn rounds(&self) -> u32 {
        self.hops.div_ceil(HOPS)
    }

    fn waves(&self) -> u32 {
        HOPS
    }

    fn longest_payload(&self) -> usize {
        8 * self.len() + 16
    }

    fn plan(&self, _: PartyId, noise: f64, own: Terms) -> Result<Ledger, RunError> {
        let zeros = vec![0.0; self.len()];
        rehearsed(self.regulariser.shape(), own, |oracle| {
            (0..self.cap())
                .try_for_each(|_| self.contribute(&zeros, &zeros, noise, oracle).map(|_| ()))
        })
    }

    /// The token may come to one user in every step.
    fn events_by(&self, rounds: u32) -> u64 {
        u64::from(rounds) * u64::from(HOPS)
    }

    fn node(&self, party: Party, start: Start<'_>) -> Result<Box<dyn Node>, RunError> {
        let endpoint = Endpoint::new(RunId::from(start.run), party);
        Ok(Box::new(Walker::new(
            self.clone(),
            WalkSeat::User(Box::new(endpoint)),
            start.key,
            start.noise,
        )))
    }

    /// The observer, at the seat behind the users'.
    fn server(
        &self,
        run: &Digest,
        key: NoiseKey,
        _: &[f64],
    ) -> Result<Option<Box<dyn Node>>, RunError> {
        if !self.is_observed() {
            return Ok(None);
        }
        let inbox = Inbox::new(RunId::from(run), PartyId(self.parties));
        Ok(Some(Box::new(Walker::new(self.clone(), WalkSeat::Observer(inbox), key, 0.0))))
    }

    /// Against one peer only what that peer sees is counted, so the model is the observer's last
    /// token; an adversary that sees all messages sees the last token of all.
    fn published(&self, nodes: &[Box<dyn Node>]) -> Option<Vec<f64>> {
        let model = match self.is_observed() {
            true => nodes.last()?.model(),
            false => nodes.iter().filter_map(|node| node.model()).max_by_key(|model| model.steps),
        };
        Some(model.map_or_else(|| self.consensus(&vec![0.0; self.len()]), |model| model.parameter))
    }

    fn assumptions(&self) -> Vec<String> {
        if self.view != View::Network {
            return Vec::new();
        }
        vec![
            "the adversary is the observer, or one other user, who follows the protocol, not several who pool what \
             they see".to_owned(),
            "every other user follows the protocol too, and adds its noise".to_owned(),
            "every user, and the observer, draws the next seat uniformly from all, its own included, and without \
             regard to any data".to_owned(),
            "the model is for the observer alone, who has no data and saw it as a token; whoever shows it to others \
             shows them more than is counted"
                .to_owned(),
        ]
    }
}

impl Transcribed for WalkProtocol {
    /// The change of the token since the adversary last had it: by the victim alone for an
    /// adversary of all its messages, by all users for another peer.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let Witness { heard, victim, observer, .. } = *witness;
        let network = self.view == View::Network;
        let (mut before, mut seen) = (vec![0.0; self.len()], Vec::new());
        for envelope in heard.iter().filter(|envelope| envelope.kind == MessageKind::Token) {
            let Ok(token) = wire::unpack::<Vec<f64>>(&envelope.payload) else { continue };
            let added = || token.iter().zip(&before).map(|(t, b)| t - b).collect::<Vec<f64>>();
            if network && envelope.to == observer && envelope.from != observer {
                seen.push(added());
            }
            if !network && envelope.from == victim {
                seen.push(added());
            }
            if (network && envelope.from == observer) || (!network && envelope.to == victim) {
                before = token;
            }
        }
        seen
    }
}

impl FaultInjection for WalkProtocol {
    #[cfg(reticent_seeded_bugs)]
    fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.off_lattice = bug == reticent_oracle::Bug::OffLatticeToken;
    }
}

//! A token that walks at random among the users (FP23, Algorithm 4, with E12 and E14).
//!
//! ```text
//! minimise (1/n) Σ f_i(x_i) + r(z)  subject to  x_i = z,   f_i the mean over the records of user i
//!
//! stateless:  user i:  ẑ = z + (2λ/n)(prox_{γf_i}(z) − z + ½η),   z = prox_{(2λγ/n)r}(ẑ)
//! stateful:   user i:  z = prox_{γr}(ẑ),   x_i = prox_{γf_i}(2z − u_i)
//!                      u_i⁺ = u_i + 2λ(x_i − z + ½η),   ẑ ← ẑ + (u_i⁺ − u_i)/n
//! both:       hands the token to a user drawn uniformly from all n, itself included
//! ```
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
//! Theorem 4 for it all the same, and is not certified.
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

mod peer;

use std::sync::Arc;

use reticent_accountant::{Unit, View};
use reticent_admm::{Refused, Walk as Memory, fraction, positive};
use reticent_oracle::queries::{Residual, ResidualTerms};
use reticent_oracle::{Claim, Lattice, Oracle, Refusal, Sampling, WalkTerms};
use reticent_problem::Regulariser;

use super::{Entry, Network, Protocol, Recipe, Start, Witness, shorten};
use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::{Kind, PartyId, RunId};
use crate::node::Node;
use crate::participation::cap;
use crate::party::Party;
use crate::wire;
use peer::Peer;

pub(crate) const ENTRY: Entry = Entry {
    name: "walk",
    about: "a token that walks at random among the users, one user's prox step at a time",
    reference: "FP23, Algorithm 4, with E12 and E14",
    takes: &["iterations", "clip", "gamma", "lambda", "inner", "walk", "as-published"],
    views: &[View::Network, View::Local],
    private: true,
    build,
};

/// Visits to each user, on average.
const VISITS: u64 = 20;

/// Douglas–Rachford as it is usually run.
const LAMBDA: f64 = 0.5;

/// Steps of a user's inner solver. With γ = 1/L each halves the distance.
const INNER: u64 = 20;

/// Steps of the token in a round; between rounds is when a token that did not arrive is sent again.
const HOPS: u32 = 50;

/// More would be clipping by rounding.
const NO_CLIPPING: f64 = 1.0 + 1e-9;

/// The number of the erratum.
const E12: u8 = 12;

/// The walk.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    parties: u32,
    /// Steps of the token.
    hops: u32,
    memory: Memory,
    lambda: f64,
    view: View,
    published: bool,
    regulariser: Arc<Regulariser>,
    /// The noise multiplier in it is not the one of a run.
    params: ResidualTerms,
    #[cfg(feature = "seeded-bugs")]
    bug: Option<reticent_oracle::Bug>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
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
        return Err(Refused::new("as-published", true, allowed));
    }
    let clip = settings.clip_or_bound(recipe.public)?;
    if recipe.view == View::Network && !published {
        certifiable(recipe, memory, clip)?;
    }
    let gamma = recipe.gamma()?;
    let lambda = fraction("lambda", settings.lambda.unwrap_or(LAMBDA))?;
    let hops = recipe.rounds(VISITS.saturating_mul(u64::from(parties)))?;
    Ok(Box::new(Walk {
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
            inner: settings.inner.unwrap_or(INNER).clamp(1, 1_000_000) as u32,
            noise_multiplier: 0.0,
            walk: (recipe.view == View::Network && !published)
                .then_some(WalkTerms { users: parties.into(), relaxation: lambda }),
        },
        #[cfg(feature = "seeded-bugs")]
        bug: None,
    }))
}

/// Refuses to count for a peer what cannot be counted for one.
fn certifiable(recipe: &Recipe<'_>, memory: Memory, clip: f64) -> Result<(), Refused> {
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
    if recipe.regulariser.penalty().spec().starts_with("nuclear") {
        return refuse(
            "its penalty is found by iterations whose error nobody has bounded: use another one",
        );
    }
    if recipe.unit != Unit::User {
        return refuse(
            "the steps of others hide a contribution only if all have the same noise: protect the user",
        );
    }
    Ok(())
}

impl Walk {
    fn len(&self) -> usize {
        self.regulariser.shape().len()
    }

    /// The user's step: the one place that asks the gate, in a rehearsal and in a run.
    fn contribute(
        &self,
        v: &[f64],
        z: &[f64],
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal> {
        if self.published {
            // FP23, Theorem 4: 8αγ²L² ln(n)/(σ²n) a contribution, with 4γL/σ our 2/z.
            let n = f64::from(self.parties);
            oracle.claim(Claim::zcdp(E12, 2.0 / (noise * noise) * n.ln() / n));
        }
        let params = ResidualTerms { noise_multiplier: noise, ..self.params };
        Ok(oracle.ask(&Residual { v, z, params })?.into_inner())
    }

    /// The lattice of the token, where steps are to hide one another.
    fn lattice(&self) -> Option<Lattice> {
        self.params.lattice(self.len())
    }

    /// The consensus that a token stands for.
    fn consensus(&self, token: &[f64]) -> Vec<f64> {
        let mut z = token.to_vec();
        if let Some(lattice) = self.lattice() {
            lattice.round(&mut z);
        }
        if self.memory == Memory::Stateful {
            self.regulariser.prox_y(&mut z, self.params.step);
        }
        z
    }

    /// The point whose prox user i takes.
    fn point(&self, z: &[f64], u: &[f64]) -> Vec<f64> {
        match self.memory {
            Memory::Stateless => z.to_vec(),
            Memory::Stateful => z.iter().zip(u).map(|(z, u)| 2.0 * z - u).collect(),
        }
    }

    /// The next token and the next u_i.
    fn moved(&self, token: &[f64], u: &[f64], message: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = f64::from(self.parties);
        let step = 2.0 * self.lambda;
        let lattice = self.lattice();
        let mut next: Vec<f64> = match &lattice {
            Some(lattice) => lattice.sum(token, message),
            None => token.iter().zip(message).map(|(t, m)| t + step * m / n).collect(),
        };
        match self.memory {
            Memory::Stateless => {
                self.regulariser.prox_y(&mut next, step * self.params.step / n);
                if let Some(lattice) = &lattice {
                    // A token that the gate would refuse would stop the walk, and show something
                    // that nobody was to see.
                    shorten(&mut next, lattice.radius());
                    #[cfg(feature = "seeded-bugs")]
                    if self.bug == Some(reticent_oracle::Bug::OffLatticeToken) {
                        return (next, Vec::new());
                    }
                    lattice.round(&mut next);
                }
                (next, Vec::new())
            }
            Memory::Stateful => (next, u.iter().zip(message).map(|(u, m)| u + step * m).collect()),
        }
    }

    /// How often one user contributes at most.
    fn cap(&self) -> u32 {
        cap(Sampling::WithoutReplacement(1), self.parties, self.hops)
    }
}

impl Protocol for Walk {
    #[cfg(feature = "seeded-bugs")]
    fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.bug = Some(bug);
    }

    fn rounds(&self) -> u32 {
        self.hops.div_ceil(HOPS)
    }

    fn longest_payload(&self) -> usize {
        8 * self.len() + 16
    }

    fn rehearse(&self, _: PartyId, noise: f64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let zeros = vec![0.0; self.len()];
        (0..self.cap()).try_for_each(|_| self.contribute(&zeros, &zeros, noise, oracle).map(|_| ()))
    }

    fn network(&self, parties: Vec<Party>, start: Start<'_>) -> Result<Network, RunError> {
        let run = RunId::from(start.run);
        let config = Arc::new(self.clone());
        let initiators = parties.iter().map(Party::id).collect();
        let nodes = parties.into_iter().zip(start.noise).map(|(party, &noise)| {
            let key = start.server.child(u64::from(party.id().0));
            Box::new(Peer::new(Arc::clone(&config), Inbox::new(run, party.id()), party, key, noise))
                as Box<dyn Node>
        });
        Ok(Network { nodes: nodes.collect(), initiators })
    }

    /// Against one peer nothing is counted but what that peer sees, so the model is what party 0
    /// saw last; who sees all messages anyway sees the last token of all.
    fn solution(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<f64>, RunError> {
        let mut peers = nodes.iter().filter_map(|node| node.as_any().downcast_ref::<Peer>());
        let token = match self.view {
            View::Network => peers.next().and_then(Peer::seen),
            _ => peers.max_by_key(|peer| peer.last()).and_then(Peer::sent),
        };
        Ok(self.consensus(&token.unwrap_or_else(|| vec![0.0; self.len()])))
    }

    /// What was added to the token since the adversary last had it: by the victim alone for who
    /// sees all that it sends, by everybody for another peer.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let Witness { heard, victim, observer, .. } = *witness;
        let network = self.view == View::Network;
        let (mut before, mut seen) = (vec![0.0; self.len()], Vec::new());
        for envelope in heard.iter().filter(|envelope| envelope.kind == Kind::Token) {
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

    fn assumptions(&self) -> Vec<String> {
        if self.view != View::Network {
            return Vec::new();
        }
        vec![
            "the adversary is one user who follows the protocol, not several who pool what they see".to_owned(),
            "every other user follows the protocol too, and adds its noise".to_owned(),
            "every user draws the next one uniformly from all, itself included, and keeps the draw to itself".to_owned(),
            "the model is for party 0 alone, who saw it as a token; whoever shows it to others shows them more than is counted"
                .to_owned(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::{Shape, penalties};

    fn walk(memory: Memory) -> Walk {
        let shape = Shape { features: 1, outputs: 1, intercept: false };
        let penalty = penalties::parse("l1:0.1").unwrap();
        let params = ResidualTerms {
            clip: 1.0,
            record_clip: 1.0,
            row_norm: 1.0,
            step: 1.0,
            inner: 1,
            noise_multiplier: 0.0,
            walk: None,
        };
        Walk {
            parties: 4,
            hops: 10,
            memory,
            lambda: 0.5,
            view: View::Local,
            published: false,
            regulariser: Arc::new(Regulariser::plain(penalty, shape)),
            params,
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        }
    }

    /// A walk of seven users with a penalty, seen by a peer.
    fn seen_walk(penalty: &str) -> Walk {
        let mut walk = walk(Memory::Stateless);
        walk.params.walk = Some(WalkTerms { users: 7, relaxation: 0.3 });
        let penalty = penalties::parse(penalty).unwrap();
        walk.regulariser = Arc::new(Regulariser::plain(penalty, walk.regulariser.shape()));
        walk
    }

    /// Whether every token lies on the lattice, and two that a message brings to the same place go
    /// on from it in the same way.
    fn forgets(walk: &Walk) -> bool {
        let lattice = walk.lattice().unwrap();
        let token = |steps: i64| lattice.sum(&[0.0], &lattice.message(&[steps]));
        [(-3_000_000_001, 12_345), (77, 5_000_000_000), (-9_999, -1)].into_iter().all(
            |(before, after)| {
                let far = walk.moved(&token(before), &[], &lattice.message(&[after - before])).0;
                let mut on = far.clone();
                lattice.round(&mut on);
                far == walk.moved(&[0.0], &[], &lattice.message(&[after])).0 && far == on
            },
        )
    }

    /// E12, by a loss of zero, whose prox is the identity: with u kept, two tokens drift apart by 1
    /// + 2λ/n, so the noise of later steps does not hide earlier ones as in amplification by
    /// iteration; without it they do not.
    #[test]
    fn a_step_that_keeps_u_is_expansive_and_one_that_keeps_nothing_is_not() {
        let distance = |memory: Memory| {
            let walk = walk(memory);
            let after = |token: f64| {
                let z = walk.consensus(&[token]);
                let v = walk.point(&z, &[0.3]);
                walk.moved(&[token], &[0.3], &[v[0] - z[0]]).0[0]
            };
            (after(5.0) - after(4.0)).abs()
        };
        assert!((distance(Memory::Stateful) - 1.25).abs() < 1e-12);
        assert!(distance(Memory::Stateless) <= 1.0 + 1e-12);
    }

    /// What the gate refuses of a token's length is never reached, so that nothing unseen can stop
    /// a walk.
    #[test]
    fn no_token_is_too_long_for_the_gate() {
        let mut walk = walk(Memory::Stateless);
        walk.params.walk = Some(WalkTerms { users: 4, relaxation: 0.5 });
        let radius = walk.lattice().unwrap().radius();
        let far = |token: f64| walk.moved(&[token], &[], &[1.0]).0[0];
        assert!((far(3.0) - (3.0 + 0.25 - 0.25 * 0.1)).abs() < 1e-9);
        assert!((far(0.9e4) - radius).abs() < 1e-9);
        assert!((far(1e4) - far(-2e4)).abs() <= 3e4);
        let shape = walk.regulariser.shape();
        let terms = reticent_oracle::Terms::of_parties(Unit::User, View::Network, 1);
        let mut gate = reticent_oracle::Rehearsal::new(shape, terms);
        assert!(walk.contribute(&[far(1e5)], &[far(1e5)], 1.0, &mut gate).is_ok());
        assert!(walk.contribute(&[1e9], &[1e9], 1.0, &mut gate).is_err());
    }

    /// A token with a penalty: what it is beside the lattice would tell the sign of the one before
    /// it (l1), or the whole of it (l2). Two tokens that a message brings to the same place go on
    /// from it in the same way.
    #[test]
    fn what_a_token_was_is_not_in_its_last_bits() {
        for penalty in ["l1:0.1", "l2:1e-11", "none"] {
            assert!(forgets(&seen_walk(penalty)), "{penalty}");
        }
    }

    /// The test above finds it.
    #[cfg(feature = "seeded-bugs")]
    #[test]
    fn a_seeded_token_beside_the_lattice_is_found() {
        for penalty in ["l1:0.1", "l2:1e-11"] {
            let mut walk = seen_walk(penalty);
            walk.spoil(reticent_oracle::Bug::OffLatticeToken);
            assert!(!forgets(&walk), "{penalty}");
        }
    }

    /// E14: the stateful token is the mean of the u, and the penalty is applied to it once, not
    /// again and again.
    #[test]
    fn a_token_that_nobody_changes_stays_as_it_is() {
        let walk = walk(Memory::Stateful);
        assert_eq!(walk.moved(&[2.0], &[0.3], &[0.0]), (vec![2.0], vec![0.3]));
        assert!((walk.consensus(&[2.0])[0] - 1.9).abs() < 1e-12);
        // u moves by 2λ times the message, the mean of four by a quarter of that.
        assert_eq!(walk.moved(&[2.0], &[0.3], &[0.4]), (vec![2.1], vec![0.7]));
    }
}

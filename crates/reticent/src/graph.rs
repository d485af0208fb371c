//! A graph of the features that is learned from the private table and paid for (erratum E6 of
//! LS22).
//!
//! `graph = "FILE"` is a public graph. `graph = "private"` or `"private:LAMBDA"` spends a share of
//! the budget on noisy second moments, the first event of the run; all that follows is arithmetic
//! on them.

use reticent_accountant::Refused;
use reticent_oracle::queries::SecondMoment;
use reticent_problem::GraphTerms;

use crate::error::Error;
use crate::job::Job;
use crate::spec::Spec;

/// The word for a graph that is learned.
const PRIVATE: &str = "private";

/// λ on the scale of correlations, where nothing is said: weaker ties than this seldom repay an
/// edge.
const LAMBDA: f64 = 0.1;

/// The share of the budget, where nothing is said.
const SHARE: f64 = 0.3;

/// The most features: the matrix is decomposed as a whole.
const MOST_FEATURES: usize = 2_000;

/// Whether a graph is to be learned, and not a file.
pub(crate) fn is_private_graph(text: &str) -> bool {
    text == PRIVATE || text.split_once(':').is_some_and(|(word, _)| word == PRIVATE)
}

/// What is public about a graph that is to be learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PrivateGraph {
    lambda: f64,
    /// Its share of the budget.
    pub share: f64,
    /// The most edges; as many as there are features when it is not given.
    edges: Option<u64>,
}

impl PrivateGraph {
    /// How the graph is learned from moments whose noise has this standard deviation.
    pub fn terms(&self, features: usize, noise: f64) -> GraphTerms {
        let edges = self.edges.map_or(features, |edges| edges as usize);
        GraphTerms { lambda: self.lambda, edges, noise }
    }
}

impl Spec {
    /// The constraint that the flags for a graph ask for, and whether it is to be learned.
    pub(crate) fn graph(&self) -> Result<Option<PrivateGraph>, Error> {
        let value =
            |name, given: String, allowed: &str| Err(Refused::new(name, given, allowed).into());
        let private = self.graph.as_deref().filter(|text| is_private_graph(text));
        let private = private.map(|text| text.split_once(':').map(|(_, lambda)| lambda));
        if let (Some(graph), Some(_)) = (&self.graph, &self.constraint) {
            let why = "a graph is a constraint, and there is one already; give one of the two";
            return value("graph", graph.clone(), why);
        }
        let Some(lambda) = private else {
            let only = "it is for a graph that is learned: give --graph private beside it, or leave it out";
            return match (self.graph_share, self.graph_edges) {
                (Some(share), _) => value("graph-share", share.to_string(), only),
                (_, Some(edges)) => value("graph-edges", edges.to_string(), only),
                _ => Ok(None),
            };
        };
        let lambda = match lambda.map(|text| (text, text.parse::<f64>())) {
            None => LAMBDA,
            Some((_, Ok(lambda))) if (0.0..1.0).contains(&lambda) => lambda,
            Some((text, _)) => {
                let why = "lambda of a learned graph is on the scale of correlations: a number from 0 to below 1";
                return value("graph", format!("{PRIVATE}:{text}"), why);
            }
        };
        let share = self.graph_share.unwrap_or(SHARE);
        if !(share > 0.0 && share < 1.0) {
            return value(
                "graph-share",
                share.to_string(),
                "a share of the budget, above 0 and below 1",
            );
        }
        if self.graph_edges == Some(0) {
            return value(
                "graph-edges",
                "0".to_owned(),
                "a graph without edges needs no learning: leave it out",
            );
        }
        Ok(Some(PrivateGraph { lambda, share, edges: self.graph_edges }))
    }

    /// Refuses more features than a graph can be learned of.
    pub(crate) fn check_graph_size(features: usize) -> Result<(), Error> {
        if features <= MOST_FEATURES {
            return Ok(());
        }
        Err(Refused::new(
            "graph",
            PRIVATE,
            format!(
                "a graph can be learned of at most {MOST_FEATURES} features, and there are {features}; give a public \
                 one with --graph FILE"
            ),
        )
        .into())
    }
}

impl Job {
    /// How the second moments are asked for.
    pub(crate) fn moments(&self, noise_multiplier: f64) -> SecondMoment {
        SecondMoment { row_norm: self.schema.row_norm(), noise_multiplier }
    }
}

//! A graph of the features that is learned from the private table and paid for (erratum E6 of
//! LS22).
//!
//! `graph = "FILE"` is a public graph. `graph = "private"` or `"private:LAMBDA"` spends a share of
//! the budget on noisy second moments, the first event of the run; all that follows is arithmetic
//! on them.

use reticent_oracle::queries::SecondMoment;
use reticent_problem::GraphTerms;

use crate::error::Error;
use crate::spec::Spec;
use crate::task::Task;

/// The word for a graph that is learned.
const PRIVATE: &str = "private";

/// The default λ, on the scale of correlations: weaker ties than this seldom repay an
/// edge.
const LAMBDA: f64 = 0.1;

/// The default share of the budget.
const SHARE: f64 = 0.3;

/// The most features: the matrix is decomposed as a whole.
const MOST_FEATURES: usize = 2_000;

/// Whether a graph is to be learned, and not a file.
pub(crate) fn is_private_graph(text: &str) -> bool {
    text == PRIVATE || text.split_once(':').is_some_and(|(word, _)| word == PRIVATE)
}

/// A graph of the features that is to be learned within the budget: what is public about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrivateGraph {
    lambda: f64,
    /// Its share of the budget.
    pub(crate) share: f64,
    /// The most edges; as many as there are features when it is not given.
    edges: Option<u64>,
}

impl Default for PrivateGraph {
    fn default() -> Self {
        PrivateGraph { lambda: LAMBDA, share: SHARE, edges: None }
    }
}

impl PrivateGraph {
    /// A graph whose edges are ties above `lambda`, on the scale of correlations.
    ///
    /// # Errors
    /// If `lambda` is not from 0 to below 1.
    ///
    /// # Examples
    /// ```
    /// use reticent::PrivateGraph;
    ///
    /// let graph = PrivateGraph::new(0.2)?.share(0.25)?.edges(10)?;
    /// assert!(PrivateGraph::new(-1.0).is_err() && graph.share(1.5).is_err());
    /// # Ok::<(), reticent::Error>(())
    /// ```
    pub fn new(lambda: f64) -> Result<Self, Error> {
        if !(0.0..1.0).contains(&lambda) {
            let why = "lambda of a learned graph is on the scale of correlations: a number from 0 to below 1";
            return Err(Error::value("graph", format!("{PRIVATE}:{lambda}"), why));
        }
        Ok(PrivateGraph { lambda, ..PrivateGraph::default() })
    }

    /// With this share of the budget in place of 0.3.
    ///
    /// # Errors
    /// If it is not above 0 and below 1.
    pub fn share(self, share: f64) -> Result<Self, Error> {
        if !(share > 0.0 && share < 1.0) {
            let why = "a share of the budget, above 0 and below 1";
            return Err(Error::value("graph_share", share, why));
        }
        Ok(PrivateGraph { share, ..self })
    }

    /// With at most so many edges in place of as many as there are features.
    ///
    /// # Errors
    /// If it is 0.
    pub fn edges(self, edges: u64) -> Result<Self, Error> {
        if edges == 0 {
            let why = "a graph without edges needs no learning: leave it out";
            return Err(Error::value("graph_edges", edges, why));
        }
        Ok(PrivateGraph { edges: Some(edges), ..self })
    }

    /// How the graph is learned from moments whose noise has this standard deviation.
    pub(crate) fn terms(&self, features: usize, noise: f64) -> GraphTerms {
        let edges = self.edges.map_or(features, |edges| edges as usize);
        GraphTerms { lambda: self.lambda, edges, noise }
    }

    /// Refuses more features than a graph can be learned of.
    pub(crate) fn check_size(features: usize) -> Result<(), Error> {
        if features <= MOST_FEATURES {
            return Ok(());
        }
        let why = format!(
            "a graph can be learned of at most {MOST_FEATURES} features, and there are {features}; give a public \
             one with `graph = FILE`"
        );
        Err(Error::value("graph", PRIVATE, why))
    }
}

impl Spec {
    /// The graph that is to be learned, if one is.
    pub(crate) fn graph(&self) -> Result<Option<PrivateGraph>, Error> {
        if let (Some(graph), Some(_)) = (&self.graph, &self.constraint) {
            let why = "a graph is a constraint, and there is one already; give one of the two";
            return Err(Error::value("graph", graph, why));
        }
        let Some(text) = self.graph.as_deref().filter(|text| is_private_graph(text)) else {
            let only = "it is for a graph that is learned: give `graph = private` beside it, or leave it out";
            return match (self.graph_share, self.graph_edges) {
                (Some(share), _) => Err(Error::value("graph_share", share, only)),
                (_, Some(edges)) => Err(Error::value("graph_edges", edges, only)),
                _ => Ok(None),
            };
        };
        let mut graph = match text.split_once(':') {
            None => PrivateGraph::default(),
            Some((_, lambda)) => {
                // What is no number is refused as one that is out of range.
                PrivateGraph::new(lambda.parse().unwrap_or(f64::NAN)).map_err(
                    |error| match error {
                        Error::Value(refused) => Error::value(refused.name, text, refused.allowed),
                        other => other,
                    },
                )?
            }
        };
        if let Some(share) = self.graph_share {
            graph = graph.share(share)?;
        }
        if let Some(edges) = self.graph_edges {
            graph = graph.edges(edges)?;
        }
        Ok(Some(graph))
    }
}

impl Task {
    /// How the second moments are asked for.
    pub(crate) fn moments(&self, noise_multiplier: f64) -> SecondMoment {
        SecondMoment { row_norm: self.objective.schema.row_norm(), whole: false, noise_multiplier }
    }
}

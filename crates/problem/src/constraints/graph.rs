//! `A = [φ; I]`, a row `|w|·(x_i − sign(w)·x_j)` for each edge and then a row for each feature:
//! with the L1 penalty, the graph-guided fused lasso of LS22. With the edges of a path it is the
//! sparse fused lasso.
//!
//! The graph must be public: what is learned about it is not accounted for.

use super::{Constraint, Entry, in_file};
use crate::catalogue::{Parameter, Range};
use crate::{Graph, SparseMatrix};

pub(super) const ENTRY: Entry = Entry {
    name: "graph",
    parameters: &[Parameter::required("edges", Range::File)],
    about: "the penalty acts on differences along the edges of a public graph of features, and on the \
            coefficients (graph-guided fused lasso); a line per edge: feature feature [weight]",
    build: |arguments, context| {
        let text = context.file(&arguments.file)?;
        let graph =
            Graph::parse(&text, context.features).map_err(|e| in_file(&arguments.file, e))?;
        Ok(Constraint {
            spec: format!("{}:{}", ENTRY.name, arguments.file),
            ..Constraint::graph(&graph)
        })
    },
};

impl Constraint {
    /// `[φ; I]` for a graph of the features.
    pub fn graph(graph: &Graph) -> Self {
        let (nodes, edges) = (graph.nodes(), graph.edges().len());
        let mut triplets = Vec::with_capacity(2 * edges + nodes);
        for (row, edge) in graph.edges().iter().enumerate() {
            triplets.push((row, edge.from, edge.weight.abs()));
            triplets.push((row, edge.to, -edge.weight));
        }
        triplets.extend((0..nodes).map(|j| (edges + j, j, 1.0)));
        let a = SparseMatrix::from_triplets(edges + nodes, nodes, &triplets);
        Self::new(ENTRY.name, ENTRY.name.to_owned(), a)
    }
}

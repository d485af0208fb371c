//! A graph of the features, with signed weights.
//!
//! Text form, a line per edge: `feature feature [weight]`, with features by name or, where no name
//! is a number, by number from 0, the words apart by spaces, tabs or a comma. The weight is 1
//! unless given; `+` and `-` stand for 1 and −1. An edge of weight `w` asks that `x_i` be near
//! `sign(w)·x_j`, `|w|` strong. What follows `#` is a remark.

use crate::ParseError;
use crate::catalogue::nearest;

/// An edge between two features.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// One end of the edge, a feature by its number.
    pub from: usize,
    /// The other end of the edge.
    pub to: usize,
    /// The strength of the edge, and its sign: a negative weight asks for opposite coefficients.
    pub weight: f64,
}

/// An undirected graph whose nodes are the features, without loops and without double edges.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    nodes: usize,
    edges: Vec<Edge>,
}

impl Graph {
    /// A graph from its edges.
    ///
    /// # Errors
    /// [`ParseError::Line`], with the number of the edge, for an end that is no node, a loop, an
    /// edge that is there twice, or a weight that is 0 or not finite.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_problem::{Edge, Graph};
    ///
    /// let edge = Edge { from: 0, to: 2, weight: -1.0 };
    /// assert_eq!(Graph::new(3, vec![edge])?.edges(), [edge]);
    /// assert!(Graph::new(2, vec![edge]).is_err());
    /// # Ok::<(), reticent_problem::ParseError>(())
    /// ```
    pub fn new(nodes: usize, edges: Vec<Edge>) -> Result<Self, ParseError> {
        let mut seen = std::collections::HashMap::new();
        for (i, e) in edges.iter().enumerate() {
            let fail =
                |problem| ParseError::Line { file: "edges, ".to_owned(), line: i + 1, problem };
            if e.from >= nodes || e.to >= nodes {
                return Err(fail(format!(
                    "nodes {} and {}; nodes count from 0 and there are {nodes}",
                    e.from, e.to
                )));
            }
            check(e, i + 1, &mut seen).map_err(fail)?;
        }
        Ok(Self { nodes, edges })
    }

    /// No edge at all.
    pub fn empty(nodes: usize) -> Self {
        Self { nodes, edges: Vec::new() }
    }

    /// The path 0 – 1 – … – (nodes − 1) with weights 1.
    pub fn path(nodes: usize) -> Self {
        let edges = (1..nodes).map(|j| Edge { from: j - 1, to: j, weight: 1.0 }).collect();
        Self { nodes, edges }
    }

    /// Reads an edge list, a line `feature feature [weight]` for each edge. Features go by name or,
    /// where no name is a number, by number from 0; words are apart by spaces, tabs or a comma. The
    /// weight is 1 unless given, `+` and `-` stand for 1 and −1, and what follows `#` is a remark.
    ///
    /// # Errors
    /// [`ParseError::Line`], with the line, for one that is not understood or that [`Graph::new`]
    /// would refuse.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_problem::Graph;
    ///
    /// let features = ["age", "height", "weight"].map(str::to_owned);
    /// let graph = Graph::parse("age height\nheight, weight, -0.5 # opposite", &features)?;
    /// assert_eq!((graph.edges().len(), graph.edges()[1].weight), (2, -0.5));
    /// # Ok::<(), reticent_problem::ParseError>(())
    /// ```
    pub fn parse(text: &str, features: &[String]) -> Result<Self, ParseError> {
        let mut edges = Vec::new();
        let mut seen = std::collections::HashMap::new();
        for (line, words) in lines(text) {
            let fail = |problem| ParseError::Line { file: String::new(), line, problem };
            let (from, to, weight) = match words[..] {
                [from, to] => (from, to, "1"),
                [from, to, "+"] => (from, to, "1"),
                [from, to, "-"] => (from, to, "-1"),
                [from, to, weight] => (from, to, weight),
                _ => {
                    let n = words.len();
                    return Err(fail(format!(
                        "{n} words; an edge is written `feature feature [weight]`"
                    )));
                }
            };
            let edge = Edge {
                from: feature(from, features).map_err(fail)?,
                to: feature(to, features).map_err(fail)?,
                weight: number(weight).map_err(fail)?,
            };
            check(&edge, line, &mut seen).map_err(fail)?;
            edges.push(edge);
        }
        Ok(Self { nodes: features.len(), edges })
    }

    /// The number of nodes, which is that of the features.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The edges, in the order given.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

/// No loops, no double edges, no weight that does nothing or breaks everything.
fn check(
    edge: &Edge,
    line: usize,
    seen: &mut std::collections::HashMap<(usize, usize), usize>,
) -> Result<(), String> {
    if edge.from == edge.to {
        return Err("an edge from a feature to itself".to_owned());
    }
    if !edge.weight.is_finite() || edge.weight == 0.0 {
        return Err(format!("weight {}; it must be finite and not 0", edge.weight));
    }
    match seen.insert((edge.from.min(edge.to), edge.from.max(edge.to)), line) {
        Some(first) => Err(format!("the same edge as in line {first}; edges have no direction")),
        None => Ok(()),
    }
}

/// The words of each line that has any, with its number from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines()
        .enumerate()
        .map(|(i, line)| {
            let line = line.split_once('#').map_or(line, |(before, _)| before);
            (
                i + 1,
                line.split([' ', '\t', ',', '\r']).filter(|w| !w.is_empty()).collect::<Vec<_>>(),
            )
        })
        .filter(|(_, words)| !words.is_empty())
}

/// A feature by its name or, where no name is a number, by its number from 0. The features of a
/// LIBSVM file are called `1`, `2`, …: there `0` is nobody, and not a second way to say `1`.
pub(crate) fn feature(word: &str, features: &[String]) -> Result<usize, String> {
    if let Some(i) = features.iter().position(|f| f == word) {
        return Ok(i);
    }
    let numbered = features.iter().find(|name| name.parse::<usize>().is_ok());
    if numbered.is_none()
        && let Some(i) = word.parse::<usize>().ok().filter(|i| *i < features.len())
    {
        return Ok(i);
    }
    let guess = nearest(word, features.iter().map(String::as_str))
        .map(|n| format!(" (did you mean `{n}`?)"))
        .unwrap_or_default();
    let n = features.len();
    Err(match (numbered, features.last()) {
        (Some(first), Some(last)) => {
            format!(
                "`{word}` is no feature; a feature is given by its name, and names are numbers here: {first} to {last}"
            )
        }
        _ => format!(
            "`{word}` is no feature{guess}; a feature is given by name or by a number from 0 below {n}"
        ),
    })
}

/// A finite number.
pub(crate) fn number(word: &str) -> Result<f64, String> {
    word.parse::<f64>()
        .ok()
        .filter(|v| v.is_finite())
        .ok_or_else(|| format!("`{word}` is not a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["age", "income", "height"].map(String::from).to_vec()
    }

    #[test]
    fn reads_names_numbers_signs_and_remarks() {
        let text = "# a graph\nage income\n\nincome,height,-  # apart\r\n0 2 2.5\n";
        let graph = Graph::parse(text, &names()).unwrap();
        let edges: Vec<_> = graph.edges().iter().map(|e| (e.from, e.to, e.weight)).collect();
        assert_eq!(edges, [(0, 1, 1.0), (1, 2, -1.0), (0, 2, 2.5)]);
        assert_eq!(graph.nodes(), 3);
    }

    #[test]
    fn a_name_wins_over_a_number() {
        let names = ["1".to_owned(), "0".to_owned()];
        assert_eq!(feature("1", &names), Ok(0));
    }

    /// Where `0` was taken for a position, `0 2` and `1 2` were one edge, and an edge file that
    /// counts from 0 was read shifted by one without a word.
    #[test]
    fn features_of_libsvm_are_named_from_1_and_there_is_no_feature_0() {
        let names: Vec<String> = (1..=3).map(|i| i.to_string()).collect();
        let graph = Graph::parse("1 2\n2 3\n", &names).unwrap();
        assert_eq!(
            graph.edges().iter().map(|e| (e.from, e.to)).collect::<Vec<_>>(),
            [(0, 1), (1, 2)]
        );
        let said = Graph::parse("1 2\n0 2\n", &names).unwrap_err().to_string();
        assert_eq!(
            said,
            "line 2: `0` is no feature; a feature is given by its name, and names are numbers here: 1 to 3"
        );
        assert!(feature("4", &names).is_err());
    }

    #[test]
    fn refuses_with_the_line() {
        let fails = |text: &str| Graph::parse(text, &names()).unwrap_err().to_string();
        assert_eq!(
            fails("age income\nage hieght"),
            "line 2: `hieght` is no feature (did you mean `height`?); a feature is given by name or by a \
             number from 0 below 3"
        );
        assert!(fails("age 3").contains("`3` is no feature"));
        assert!(fails("age").contains("line 1: 1 words"));
        assert!(fails("age age").contains("itself"));
        assert!(fails("age income 0").contains("not 0"));
        assert!(fails("age income nan").contains("not a finite number"));
        assert!(fails("age income\nincome age").contains("same edge as in line 1"));
        assert!(Graph::new(2, vec![Edge { from: 0, to: 2, weight: 1.0 }]).is_err());
    }
}

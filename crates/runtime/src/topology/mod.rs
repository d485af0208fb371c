//! The graphs of parties: a file for each family. A new one is a file and a line in [`FAMILIES`].

mod barabasi_albert;
mod complete;
mod erdos_renyi;
mod file;
mod grid;
mod ring;
mod star;

use std::borrow::Cow;

use reticent_accountant::Refused;

use crate::error::RunError;

/// A connected undirected graph of the parties.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    parties: u32,
    links: Links,
}

#[derive(Clone, Debug, PartialEq)]
enum Links {
    /// The complete graph, without a list of its parties² edges.
    Complete,
    /// The neighbours of each party, ascending.
    Listed(Vec<Vec<u32>>),
}

/// A family of graphs.
#[derive(Clone, Copy, Debug)]
pub struct GraphFamily {
    /// The name that users type, with its argument.
    pub form: &'static str,
    /// A one-line description.
    pub about: &'static str,
    make: fn(&TopologyTerms<'_>) -> Result<Topology, RunError>,
}

/// The input of a graph.
struct TopologyTerms<'a> {
    parties: u32,
    /// The text behind the colon.
    argument: Option<&'a str>,
    /// The seed of random graphs; public.
    seed: u64,
}

/// All families.
pub const FAMILIES: &[GraphFamily] = &[
    complete::FAMILY,
    ring::FAMILY,
    grid::FAMILY,
    star::FAMILY,
    erdos_renyi::FAMILY,
    barabasi_albert::FAMILY,
    file::FAMILY,
];

impl Topology {
    /// The complete graph.
    pub fn complete(parties: u32) -> Self {
        Topology { parties, links: Links::Complete }
    }

    /// Reads a graph as users type it: `ring`, `erdos-renyi:0.3`, `file:edges.txt`. The seed of
    /// random graphs is public.
    pub fn parse(text: &str, parties: u32, seed: u64) -> Result<Self, RunError> {
        let (name, argument) =
            text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let family = FAMILIES.iter().find(|family| family.form.split(':').next() == Some(name));
        let Some(family) = family else {
            let forms: Vec<_> = FAMILIES.iter().map(|family| family.form).collect();
            return Err(
                Refused::new("topology", text, format!("there are {}", forms.join(", "))).into()
            );
        };
        if family.form.contains(':') != argument.is_some() {
            return Err(
                Refused::new("topology", text, format!("it is written {}", family.form)).into()
            );
        }
        let graph = (family.make)(&TopologyTerms { parties, argument, seed })?;
        graph.connected(text)
    }

    /// A graph from its edges, in any direction and with repetitions.
    pub(crate) fn from_edges(parties: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut lists = vec![Vec::new(); parties as usize];
        for (a, b) in edges.into_iter().filter(|(a, b)| a != b) {
            lists[a as usize].push(b);
            lists[b as usize].push(a);
        }
        for list in &mut lists {
            list.sort_unstable();
            list.dedup();
        }
        Topology { parties, links: Links::Listed(lists) }
    }

    /// The graph of the parties that are left, in order, with the edges among them.
    ///
    /// # Errors
    /// If it is not connected without the others; the message has the original numbers of the
    /// parties.
    pub fn left(&self, seats: &[u32], text: &str) -> Result<Self, RunError> {
        let place = |party: &u32| seats.binary_search(party).ok().map(|place| place as u32);
        let edges = (0..).zip(seats).flat_map(|(own, &seat)| {
            let near: Vec<u32> = self.neighbours(seat).iter().filter_map(place).collect();
            near.into_iter().map(move |other| (own, other))
        });
        let graph = Topology::from_edges(seats.len() as u32, edges);
        let Some(lost) = graph.unreached() else { return Ok(graph) };
        let allowed = format!(
            "party {} cannot be reached from party {} without those who were struck; the graph must be connected: \
             wait for them, or agree on one with more edges",
            seats[lost], seats[0]
        );
        Err(Refused::new("topology", text, allowed).into())
    }

    /// The number of parties.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    /// The neighbours of a party, ascending.
    pub fn neighbours(&self, party: u32) -> Cow<'_, [u32]> {
        match &self.links {
            Links::Complete => {
                (0..self.parties).filter(|&other| other != party).collect::<Vec<_>>().into()
            }
            Links::Listed(lists) => (&lists[party as usize][..]).into(),
        }
    }

    /// The number of neighbours of a party.
    pub fn degree(&self, party: u32) -> usize {
        match &self.links {
            Links::Complete => self.parties as usize - 1,
            Links::Listed(lists) => lists[party as usize].len(),
        }
    }

    /// Whether all parties are connected with all others.
    pub fn is_complete(&self) -> bool {
        (0..self.parties).all(|party| self.degree(party) + 1 == self.parties as usize)
    }

    /// A party that cannot be reached from party 0.
    fn unreached(&self) -> Option<usize> {
        let Links::Listed(lists) = &self.links else { return None };
        let mut reached = vec![false; lists.len()];
        let mut open: Vec<u32> = if lists.is_empty() { Vec::new() } else { vec![0] };
        while let Some(party) = open.pop() {
            if !std::mem::replace(&mut reached[party as usize], true) {
                open.extend(&lists[party as usize]);
            }
        }
        reached.iter().position(|reached| !reached)
    }

    /// The graph, if it is connected.
    fn connected(self, text: &str) -> Result<Self, RunError> {
        match self.unreached() {
            None => Ok(self),
            Some(lost) => Err(Refused::new(
                "topology",
                text,
                format!(
                    "party {lost} cannot be reached from party 0; the graph must be connected: add edges"
                ),
            ).into()),
        }
    }
}

impl TopologyTerms<'_> {
    /// The argument as a number between two limits.
    fn number<T: std::str::FromStr + PartialOrd + std::fmt::Display>(
        &self,
        least: T,
        most: T,
    ) -> Result<T, RunError> {
        let text = self.argument.unwrap_or_default();
        match text.parse() {
            Ok(number) if number >= least && number <= most => Ok(number),
            _ => Err(Refused::new(
                "topology",
                text,
                format!("a number from {least} to {most} is needed"),
            )
            .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The properties of every graph: connected, symmetric, without loops, the same for the same
    /// seed.
    #[test]
    fn every_family_gives_simple_connected_graphs() {
        for text in ["complete", "ring", "grid", "star", "erdos-renyi:0.4", "barabasi-albert:2"] {
            for parties in [1, 2, 3, 7, 20] {
                let Ok(graph) = Topology::parse(text, parties, 5) else {
                    assert!(text.starts_with("erdos"), "{text} {parties}");
                    continue;
                };
                assert_eq!(graph, Topology::parse(text, parties, 5).unwrap());
                for a in 0..parties {
                    let near = graph.neighbours(a);
                    assert!(near.is_sorted() && !near.contains(&a), "{text} {parties}");
                    assert_eq!(near.len(), graph.degree(a));
                    assert!(near.iter().all(|&b| graph.neighbours(b).contains(&a)));
                }
            }
        }
        assert_eq!(Topology::parse("ring", 20, 0).unwrap().degree(3), 2);
        assert_eq!(Topology::parse("star", 20, 0).unwrap().degree(0), 19);
        assert!(Topology::parse("star", 2, 0).unwrap().is_complete());
    }

    #[test]
    fn a_graph_in_pieces_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# two pairs\n0 1\n2 3\n").unwrap();
        let text = format!("file:{}", file.path().display());
        let error = Topology::parse(&text, 4, 0).unwrap_err().to_string();
        assert!(error.contains("party 2 cannot be reached"), "{error}");
        std::fs::write(file.path(), "0 1\n2 3\n1 2\n").unwrap();
        assert_eq!(Topology::parse(&text, 4, 0).unwrap().neighbours(1).as_ref(), [0, 2]);
        std::fs::write(file.path(), "0 9\n").unwrap();
        assert!(Topology::parse(&text, 4, 0).unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn those_who_are_left_have_the_edges_that_they_have_among_them() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "0 1\n1 2\n2 3\n3 4\n4 0\n1 3\n").unwrap();
        let text = format!("file:{}", file.path().display());
        let whole = Topology::parse(&text, 5, 0).unwrap();
        let left = whole.left(&[0, 1, 3, 4], &text).unwrap();
        let near: Vec<_> = (0..4).map(|party| left.neighbours(party).to_vec()).collect();
        assert_eq!(near, [vec![1, 3], vec![0, 2], vec![1, 3], vec![0, 2]]);
        let everybody = whole.left(&[0, 1, 2, 3, 4], &text).unwrap();
        assert_eq!(everybody, whole);
        let why = whole.left(&[0, 2, 3], &text).unwrap_err().to_string();
        assert!(why.contains("party 2 cannot be reached from party 0 without those"), "{why}");
        assert!(Topology::complete(4).left(&[1, 3], "complete").unwrap().is_complete());
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_words() {
        for text in
            ["circle", "ring:3", "erdos-renyi", "erdos-renyi:2", "barabasi-albert:0", "file:/none"]
        {
            assert!(Topology::parse(text, 9, 0).is_err(), "{text}");
        }
        let error = Topology::parse("circle", 9, 0).unwrap_err().to_string();
        assert!(error.contains("complete, ring, grid, star, erdos-renyi:P"), "{error}");
    }
}

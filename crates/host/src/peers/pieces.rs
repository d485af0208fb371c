//! The growing lists of a node, such as the history of a run: each piece is a row of the journal,
//! written once.

use std::collections::BTreeMap;

use reticent_runtime::{GrowingList, ListPieces, Node, RunError};

use crate::error::HostError;
use crate::journal::{Change, RunJournal};

/// The name of the rows.
const ROW: &str = "piece";

/// The number of pieces of each list in the journal.
#[derive(Debug, Default)]
pub(crate) struct KeptPieces(BTreeMap<String, usize>);

/// The pieces that the journal lacks, and the lists that it must delete.
pub(crate) struct GrownPieces {
    rows: Vec<(String, Vec<u8>)>,
    over: Vec<String>,
}

impl KeptPieces {
    /// The pieces in the journal.
    pub fn of(journal: &RunJournal) -> Result<(Self, ListPieces), HostError> {
        let mut numbered: BTreeMap<String, BTreeMap<usize, Vec<u8>>> = BTreeMap::new();
        for (name, piece) in journal.listed::<Vec<u8>>(ROW)? {
            let mut words = name.split(' ').skip(1);
            let number = |text: &str| text.parse::<usize>().ok();
            let (Some(list), Some(number)) = (words.next(), words.next().and_then(number)) else {
                return Err(HostError::journal(journal.path(), "a piece of no list"));
            };
            numbered.entry(list.to_owned()).or_default().insert(number, piece);
        }
        let pieces: ListPieces =
            numbered.into_iter().map(|(list, own)| (list, own.into_values().collect())).collect();
        let kept = pieces.iter().map(|(list, own)| (list.clone(), own.len())).collect();
        Ok((KeptPieces(kept), pieces))
    }

    /// The growth since the last commit.
    pub fn grown(&self, node: &dyn Node) -> Result<GrownPieces, RunError> {
        let lists = node.lists();
        let mut rows = Vec::new();
        for GrowingList { name, len } in &lists {
            for number in self.0.get(name).copied().unwrap_or(0)..*len {
                rows.push((format!("{ROW} {name} {number}"), node.piece(name, number)?));
            }
        }
        let over = |own: &&String| !lists.iter().any(|list| list.name == **own);
        let over = self.0.keys().filter(over).cloned().collect();
        Ok(GrownPieces { rows, over })
    }

    /// Records that the growth is on the disk.
    pub fn committed(&mut self, node: &dyn Node) {
        self.0 = node.lists().into_iter().map(|list| (list.name, list.len)).collect();
    }
}

impl GrownPieces {
    pub fn write(&self, change: &Change<'_>) -> Result<(), HostError> {
        self.over.iter().try_for_each(|list| change.forget_pieces(list))?;
        self.rows.iter().try_for_each(|(name, piece)| change.set(name, piece))
    }
}

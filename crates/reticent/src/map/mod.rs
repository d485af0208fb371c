//! The map: every combination that is offered, with the proof notes that it rests on and whether
//! its analysis is tight.
//!
//! The program offers what has a row here and nothing else: [`Spec::check`](crate::Spec::check) and
//! a simulation refuse the rest before a table is read. An algorithm that is added is not offered
//! until it has its row, and a row needs notes that exist and an audit (`reticent audit --all`,
//! docs/guarantees.md). Runs that promise nothing, `exact`, `admm-network` and versions as
//! published, are not on it.

mod cell;
mod rows;

pub(crate) use cell::form;
pub use cell::{Drawn, MapCell, MapProcedure};
pub use rows::MAP;

use reticent_accountant::{Adjacency, Refused, Unit, View};

use crate::error::Error;

/// Combinations that are proven together: every choice of one from each list.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MapRow {
    /// The algorithms.
    pub algorithms: &'static [&'static str],
    /// Their versions.
    pub forms: &'static [&'static str],
    /// The procedures of a run.
    pub procedures: &'static [MapProcedure],
    /// The trust model: who sees the messages.
    pub views: &'static [View],
    /// The units of protection.
    pub units: &'static [Unit],
    /// Which tables are neighbours.
    pub adjacencies: &'static [Adjacency],
    /// The kinds of samples.
    pub drawn: &'static [Drawn],
    /// The notes in `proofs/` beside those of the sampling and of the course.
    pub proofs: &'static [&'static str],
    /// Why what is certified may be more than what is true; empty where nothing is lost that is
    /// known of.
    pub slack: &'static str,
}

impl MapRow {
    /// Its combinations.
    pub fn cells(&self) -> Vec<MapCell> {
        let mut cells = Vec::new();
        for &algorithm in self.algorithms {
            for &form in self.forms {
                for &procedure in self.procedures {
                    for &view in self.views {
                        for &unit in self.units {
                            for &adjacency in self.adjacencies {
                                for &drawn in self.drawn {
                                    cells.push(MapCell {
                                        algorithm,
                                        form,
                                        procedure,
                                        view,
                                        unit,
                                        adjacency,
                                        drawn,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
        cells
    }

    fn has(&self, cell: &MapCell) -> bool {
        self.algorithms.contains(&cell.algorithm)
            && self.forms.contains(&cell.form)
            && self.procedures.contains(&cell.procedure)
            && self.views.contains(&cell.view)
            && self.units.contains(&cell.unit)
            && self.adjacencies.contains(&cell.adjacency)
            && self.drawn.contains(&cell.drawn)
    }

    /// The notes that one of its combinations rests on.
    pub fn notes(&self, cell: &MapCell) -> Vec<&'static str> {
        let mut notes = self.proofs.to_vec();
        match cell.drawn {
            Drawn::Full => {}
            Drawn::Poisson => notes.extend(["sampling", "poisson-gaussian"]),
            Drawn::WithoutReplacement => notes.extend(["sampling", "without-replacement-gaussian"]),
        }
        if may_scale(cell) {
            notes.extend(["quantile", "count"]);
        }
        if cell.procedure.has_graph() && !notes.contains(&"second-moment") {
            notes.push("second-moment");
        }
        if cell.procedure.is_tuned() {
            notes.push("selection");
        }
        if cell.procedure.has_standard_errors() {
            notes.push("curvature");
        }
        if cell.procedure.is_recalibrated() {
            notes.push("recalibration");
        }
        if cell.procedure.is_weighted() {
            notes.push("weights");
        }
        notes
    }

    /// Why one of its combinations is certified for more than is true; empty if nothing is lost
    /// that is known of.
    pub fn slack(&self, cell: &MapCell) -> &'static str {
        match (self.slack, cell.procedure) {
            ("", procedure) if procedure.is_tuned() => rows::slack::CHOICE,
            ("", procedure) if procedure.has_graph() => rows::slack::GRAPH,
            ("", procedure) if procedure.has_standard_errors() => rows::slack::CURVATURE,
            ("", procedure) if procedure.is_recalibrated() => rows::slack::LINE,
            (slack, _) => slack,
        }
    }
}

/// Whether a run may ask for the scale of the residuals first, because it is told to or by public
/// numbers.
fn may_scale(cell: &MapCell) -> bool {
    let takes = reticent_admm::catalogue::find(cell.algorithm).map_or(&[][..], |entry| entry.takes);
    cell.procedure == MapProcedure::Alone
        && takes.contains(&"clip_share")
        && !["permutation", "single", "blocks"].contains(&cell.form)
}

/// Every combination that is offered, with its row.
pub fn cells() -> Vec<(MapCell, &'static MapRow)> {
    MAP.iter().flat_map(|row| row.cells().into_iter().map(move |cell| (cell, row))).collect()
}

/// The row of a combination; `None` if it is not offered.
pub fn find(cell: &MapCell) -> Option<&'static MapRow> {
    // All that a party holds is one person, as far as a mechanism goes: the same function of tables and
    // noise, entered under another name (proofs/persons.md).
    let unit = if cell.unit == Unit::Party { Unit::User } else { cell.unit };
    let cell = MapCell { unit, ..*cell };
    MAP.iter().find(|row| row.has(&cell))
}

/// Refuses what has no row, and says what could be asked for instead.
pub(crate) fn offered(cell: &MapCell) -> Result<(), Error> {
    if find(cell).is_some() {
        return Ok(());
    }
    let (name, given) = match (cell.procedure, cell.view) {
        (procedure, _) if procedure.is_tuned() => ("tune", cell.algorithm.to_owned()),
        (procedure, _) if procedure.has_graph() => ("graph", cell.algorithm.to_owned()),
        (procedure, _) if procedure.has_standard_errors() => {
            ("standard_errors", cell.algorithm.to_owned())
        }
        (procedure, _) if procedure.is_recalibrated() => ("calibrate", cell.algorithm.to_owned()),
        (procedure, _) if procedure.is_weighted() => ("weight", cell.algorithm.to_owned()),
        _ => ("algorithm", cell.algorithm.to_owned()),
    };
    let offered: Vec<String> = nearest(cell);
    let instead = if offered.is_empty() {
        "no other choice of one of them alone is offered either".to_owned()
    } else {
        format!("with the rest as it is, there is {}", offered.join("; "))
    };
    let allowed = format!(
        "nothing is proven and audited for this combination ({cell}), so it is not offered; {instead} \
         (docs/guarantees.md)"
    );
    Err(Refused::new(name, given, allowed).into())
}

/// What could be chosen on each axis while the others stay.
fn nearest(cell: &MapCell) -> Vec<String> {
    let near: Vec<MapCell> = cells()
        .into_iter()
        .map(|(other, _)| other)
        .filter(|other| other.algorithm == cell.algorithm)
        .filter(|other| {
            other.words().iter().zip(cell.words()).filter(|(a, b)| *a != b).count() == 1
        })
        .collect();
    let axis = |name: &str, word: fn(&MapCell) -> &'static str| {
        let words: Vec<_> = near.iter().map(word).filter(|given| *given != word(cell)).collect();
        (!words.is_empty()).then(|| format!("{name} {}", words.join(" or ")))
    };
    [
        axis("version", |cell| cell.form),
        axis("course", |cell| cell.procedure.name()),
        axis("trust", |cell| cell.view.name()),
        axis("unit", |cell| cell.unit.name()),
        axis("adjacency", |cell| cell.adjacency.name()),
        axis("sampling", |cell| cell.drawn.name()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_row_rests_on_notes_that_exist() {
        let proofs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proofs");
        for (cell, row) in cells() {
            let notes = row.notes(&cell);
            assert!(!notes.is_empty(), "{cell}");
            for note in notes {
                assert!(
                    proofs.join(format!("{note}.md")).exists(),
                    "{cell}: there is no proofs/{note}.md"
                );
            }
        }
    }

    #[test]
    fn no_combination_has_two_rows() {
        for (cell, _) in cells() {
            assert_eq!(MAP.iter().filter(|row| row.has(&cell)).count(), 1, "{cell}");
        }
    }

    #[test]
    fn what_has_no_row_is_refused_with_what_there_is() {
        let cell = MapCell {
            algorithm: "amp",
            form: "normal",
            procedure: MapProcedure::Alone,
            view: View::Central,
            unit: Unit::User,
            adjacency: Adjacency::ReplaceOne,
            drawn: Drawn::Full,
        };
        let said = offered(&cell).unwrap_err().to_string();
        assert!(said.contains("version spherical-laplace; unit record"), "{said}");
    }
}

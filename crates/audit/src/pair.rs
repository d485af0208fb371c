//! Two worlds that differ in one unit, as much as a unit can, and a family of them to search.
//!
//! ```text
//! the canary       the row (1) with target +1, of all that a record may pull
//! its neighbour    flipped: the other target;  mirrored: the row (−1);  vanished: a row of zeros, which is what a missing
//!                  value becomes;  turned: another feature;  centred: a target of zero;  under add-remove: nobody,
//!                  in the place of such a canary or of one with a target of zero
//! the others       aligned: like the canary;  opposing: like the flipped one;  silent: rows of zeros, whose gradient is zero
//! ```
//!
//! Which of them shows most depends on what is drawn and on what is kept: silent others hide
//! nothing of a full batch, but where whole parties are drawn it is the aligned ones that tell
//! whether a party was. So none is believed to be the worst; see `search.rs`.
//!
//! A target of zero is for runs that count targets by their size: there is no other change that moves
//! every such count.
//!
//! Where records have weights the canary has the largest and the others half of it; *vanished* is
//! then a canary that counts nothing.
//!
//! Where a person stands in the table is part of the search too: who takes a person's place may
//! have rows elsewhere and an id before all others, so that everybody has another number, and may
//! have more rows or fewer.

use std::fmt;

use reticent::accountant::Adjacency;
use reticent_data::{Dense, Rows, Table};
use serde::{Serialize, Serializer};

/// What the records beside the canary do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// They pull like the canary.
    Aligned,
    /// They pull against it.
    Opposing,
    /// They do not pull.
    Silent,
}

/// What stands in the canary's place in the other world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CanaryChange {
    /// The same row with the other target.
    Flipped,
    /// The opposite row with the same target.
    Mirrored,
    /// A row of zeros.
    Vanished,
    /// Another feature, for tables with two.
    Turned,
    /// The same row with a target of zero.
    Centred,
    /// Nobody.
    Removed,
    /// Nobody, where the canary has a target of zero.
    CentreRemoved,
}

/// A pair of neighbouring worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbours {
    /// What stands in the canary's place.
    pub change: CanaryChange,
    /// The others in the canary's table.
    pub others: Others,
    /// The records of the other parties, where there are any.
    pub elsewhere: Others,
    /// How many there are beside the canary in its table.
    pub beside: usize,
    /// How many rows the canary has, where a person is protected.
    pub rows: usize,
    /// How many rows stand in their place in the other world.
    pub instead: usize,
    /// Whether one of the two worlds has them, with the smallest id, before all others.
    pub moved: bool,
}

/// A row and its target.
type Record = ([f64; 2], f64);

/// Who is attacked among several parties: not the first, who starts some algorithms.
pub(crate) const VICTIM: usize = 1;

/// What answers follow from: a canary that differs in the rest differs in nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhatIsRead {
    /// Rows and targets.
    All,
    /// Columns, of which a statistic is.
    Rows,
    /// Targets, of which classes are.
    Targets,
}

/// What a world is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorldLayout {
    /// 0 for one table.
    pub parties: usize,
    /// Columns of a table, one or two.
    pub features: usize,
    /// Whether a whole party is the canary.
    pub whole: bool,
    /// Whether parties have several persons each, of whom one is.
    pub several: bool,
    /// Whether records have weights.
    pub weighted: bool,
    /// Whether targets are counted by their size.
    pub scaled: bool,
    /// How many parties, the victim first, have the canary's rows.
    pub homes: usize,
    /// Whether the other parties have no records.
    pub bare: bool,
    /// What is asked about.
    pub reads: WhatIsRead,
}

impl Others {
    /// Every one.
    pub const ALL: [Others; 3] = [Others::Silent, Others::Aligned, Others::Opposing];

    fn record(self) -> Record {
        match self {
            Others::Aligned => ([1.0, 0.0], 1.0),
            Others::Opposing => ([1.0, 0.0], -1.0),
            Others::Silent => ([0.0, 0.0], 1.0),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Others::Aligned => "aligned",
            Others::Opposing => "opposing",
            Others::Silent => "silent",
        }
    }
}

impl CanaryChange {
    /// The canary itself.
    fn canary(self) -> Record {
        match self {
            CanaryChange::CentreRemoved => ([1.0, 0.0], 0.0),
            _ => Others::Aligned.record(),
        }
    }

    /// Whether nobody stands in its place.
    fn is_removal(self) -> bool {
        self.record().is_none()
    }

    fn record(self) -> Option<Record> {
        match self {
            CanaryChange::Flipped => Some(([1.0, 0.0], -1.0)),
            CanaryChange::Mirrored => Some(([-1.0, 0.0], 1.0)),
            CanaryChange::Vanished => Some(([0.0, 0.0], 1.0)),
            CanaryChange::Turned => Some(([0.0, 1.0], -1.0)),
            CanaryChange::Centred => Some(([1.0, 0.0], 0.0)),
            CanaryChange::Removed | CanaryChange::CentreRemoved => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            CanaryChange::Flipped => "flipped",
            CanaryChange::Mirrored => "mirrored",
            CanaryChange::Vanished => "vanished",
            CanaryChange::Turned => "turned",
            CanaryChange::Centred => "centred",
            CanaryChange::Removed => "removed",
            CanaryChange::CentreRemoved => "centred and removed",
        }
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Neighbours { change, others, elsewhere, beside, rows, instead, moved } = *self;
        f.write_str(change.name())?;
        match beside {
            0 => f.write_str(", alone")?,
            _ => write!(f, ", {beside} {}", others.name())?,
        }
        if rows > 1 {
            write!(f, ", {rows} rows")?;
        }
        if instead != rows && !change.is_removal() {
            write!(f, ", {instead} instead")?;
        }
        if moved {
            f.write_str(", moved")?;
        }
        if elsewhere != Others::Silent {
            write!(f, ", {} elsewhere", elsewhere.name())?;
        }
        Ok(())
    }
}

impl Serialize for Neighbours {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Neighbours {
    /// The tables of one world, one for each party, or one in all.
    pub(crate) fn world(&self, with: bool, layout: &WorldLayout) -> Vec<Table> {
        let Neighbours { change, others, elsewhere, beside, moved, .. } = *self;
        let rows = if with { self.rows } else { self.instead };
        // One that counts nothing has the row that pulls most.
        let nothing = layout.weighted && !with && change == CanaryChange::Vanished;
        let canary = if with || nothing { Some(change.canary()) } else { change.record() };
        let mut records = Vec::new();
        if layout.whole {
            // All that a party has is the canary; the others in its table change with it or stay.
            records.extend(vec![canary.unwrap_or(Others::Silent.record()); rows]);
            records.extend(vec![others.record(); beside]);
        } else {
            records.extend(vec![others.record(); beside]);
            records.extend(vec![canary; rows].into_iter().flatten());
        }
        let mut owner: Box<dyn Fn(usize) -> u32> =
            Box::new(|i| if i < beside && !layout.whole { i as u32 } else { beside as u32 });
        let mut weights = vec![0.5; records.len()];
        weights[beside..].fill(if nothing { 0.0 } else { 1.0 });
        if moved && with == change.is_removal() {
            records.rotate_left(beside);
            weights.rotate_left(beside);
            owner = Box::new(move |i| (i + 1).saturating_sub(rows) as u32);
        }
        let owners = match layout.parties > 0 && !layout.several {
            true => vec![0; records.len()],
            false => (0..records.len()).map(owner).collect(),
        };
        let own = table(&records, layout.features, owners);
        let own = Table { weights: layout.weighted.then_some(weights), ..own };
        let strange = if layout.bare { 0 } else { (beside + self.rows).max(1) };
        let stranger = vec![elsewhere.record(); strange];
        let person = |row: usize| if layout.several { row.min(beside) as u32 } else { 0 };
        let strangers = || (0..stranger.len()).map(person).collect();
        let party = |i: usize| match (VICTIM..VICTIM + layout.homes).contains(&i) {
            true => own.clone(),
            false => table(&stranger, layout.features, strangers()),
        };
        if layout.parties == 0 { vec![own] } else { (0..layout.parties).map(party).collect() }
    }

    /// The family that is searched: every change beside every kind of others, alone, with several
    /// rows, and where the number is private a crowd beside which the canary is one too many.
    pub(crate) fn family(
        adjacency: Adjacency,
        beside: usize,
        rows: usize,
        layout: &WorldLayout,
    ) -> Vec<Self> {
        let mut family = Vec::new();
        let second =
            if layout.features == 1 { CanaryChange::Mirrored } else { CanaryChange::Turned };
        let changes = match adjacency {
            Adjacency::AddRemove if layout.scaled => {
                vec![CanaryChange::Removed, CanaryChange::CentreRemoved]
            }
            Adjacency::AddRemove => vec![CanaryChange::Removed],
            _ if layout.reads == WhatIsRead::Rows => vec![second, CanaryChange::Vanished],
            _ if layout.reads == WhatIsRead::Targets => vec![CanaryChange::Flipped],
            _ if !layout.scaled => vec![CanaryChange::Flipped, second, CanaryChange::Vanished],
            _ => vec![CanaryChange::Flipped, second, CanaryChange::Vanished, CanaryChange::Centred],
        };
        // Without others it does not matter what they do.
        let kinds = if beside == 0 { &Others::ALL[..1] } else { &Others::ALL[..] };
        for &change in &changes {
            for &others in kinds {
                let silent = Others::Silent;
                family.push(Neighbours {
                    change,
                    others,
                    elsewhere: silent,
                    beside,
                    rows: 1,
                    instead: 1,
                    moved: false,
                });
            }
        }
        let usual = family[0];
        if rows > 1 {
            let many = Neighbours { rows, instead: rows, ..usual };
            family.push(many);
            family.push(Neighbours { moved: true, ..usual });
            family.push(Neighbours { moved: true, instead: 1, ..many });
        }
        if layout.parties > 0 {
            family.push(Neighbours { elsewhere: Others::Aligned, ..usual });
            family.push(Neighbours { elsewhere: Others::Opposing, ..usual });
            family.push(Neighbours {
                elsewhere: Others::Opposing,
                others: Others::Aligned,
                ..usual
            });
        }
        if adjacency == Adjacency::AddRemove {
            family.push(Neighbours { beside: 0, ..usual });
            // Twice the public number, and one more.
            family.push(Neighbours { beside: 2 * (beside + 1), ..usual });
        }
        family
    }
}

fn table(records: &[Record], features: usize, owners: Vec<u32>) -> Table {
    Table {
        rows: Rows::Dense(Dense {
            values: records.iter().flat_map(|record| record.0[..features].to_vec()).collect(),
            rows: records.len(),
            columns: features,
        }),
        targets: records.iter().map(|record| record.1).collect(),
        users: Some(owners),
        weights: None,
        names: (0..features).map(|j| j.to_string()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: WorldLayout = WorldLayout {
        parties: 0,
        features: 1,
        whole: false,
        several: false,
        weighted: false,
        scaled: true,
        homes: 1,
        bare: false,
        reads: WhatIsRead::All,
    };

    /// The values and targets of the rows of one person.
    fn own(table: &Table, person: u32) -> Vec<(f64, f64)> {
        let Rows::Dense(rows) = &table.rows else { unreachable!("worlds are dense") };
        let owners = table.users.iter().flatten().enumerate();
        let own = owners.filter(|(_, owner)| **owner == person);
        own.map(|(i, _)| (rows.row(i)[0], table.targets[i])).collect()
    }

    fn canary(pair: &Neighbours) -> Vec<(f64, f64)> {
        vec![(1.0, 1.0); pair.rows]
    }

    #[test]
    fn neighbours_differ_in_one_record_or_in_one_person() {
        for pair in Neighbours::family(Adjacency::AddRemove, 2, 3, &ONE) {
            let [with, without] = [true, false].map(|with| pair.world(with, &ONE).remove(0));
            assert_eq!(with.len(), without.len() + pair.rows, "{pair}");
            let first = if pair.moved { pair.rows } else { 0 };
            assert_eq!(with.targets[first..][..without.len()], without.targets);
            assert_eq!(with.user_count(), without.user_count() + 1);
        }
        for pair in Neighbours::family(Adjacency::ReplaceOne, 2, 3, &ONE) {
            let [with, without] = [true, false].map(|with| pair.world(with, &ONE).remove(0));
            assert_eq!((with.len(), with.user_count()), (2 + pair.rows, 3), "{pair}");
            assert_eq!((without.len(), without.user_count()), (2 + pair.instead, 3), "{pair}");
            assert_eq!(own(&with, 2), canary(&pair), "{pair}");
            assert_ne!(with, without);
            // The others are who they were, by another number where one was moved before them.
            for person in 0..2 {
                let number = person + u32::from(pair.moved);
                assert_eq!(own(&with, person), own(&without, number), "{pair}");
            }
        }
    }

    /// Neighbours differ in one record with its weight, and one of them is a weight alone.
    #[test]
    fn neighbours_with_weights_differ_in_one_record_or_in_its_weight_alone() {
        let layout = WorldLayout { weighted: true, ..ONE };
        let mut alone = 0;
        for pair in Neighbours::family(Adjacency::ReplaceOne, 2, 1, &layout) {
            let [with, without] = [true, false].map(|with| pair.world(with, &layout).remove(0));
            assert_eq!(with.weights, Some(vec![0.5, 0.5, 1.0]), "{pair}");
            let weights = without.weights.clone().unwrap();
            assert_eq!(weights[..2], [0.5, 0.5]);
            assert_ne!(with, without, "{pair}");
            alone += usize::from((&with.rows, &with.targets) == (&without.rows, &without.targets));
        }
        assert!(alone > 0);
    }

    /// A person of whom a statistic saw nothing change had other rows, another place and more of them: nothing of
    /// that was attacked.
    #[test]
    fn every_pair_differs_in_what_is_read() {
        let of = |layout: &WorldLayout| Neighbours::family(Adjacency::ReplaceOne, 2, 3, layout);
        for pair in of(&WorldLayout { reads: WhatIsRead::Rows, ..ONE }) {
            let [with, without] = [true, false].map(|with| pair.world(with, &ONE).remove(0));
            assert_ne!(with.rows, without.rows, "{pair}");
        }
        for pair in of(&WorldLayout { reads: WhatIsRead::Targets, ..ONE }) {
            let [with, without] = [true, false].map(|with| pair.world(with, &ONE).remove(0));
            assert_ne!(with.targets, without.targets, "{pair}");
        }
    }

    #[test]
    fn parties_but_the_victim_have_the_same_in_both_worlds() {
        for whole in [false, true] {
            let layout = WorldLayout { parties: 3, whole, ..ONE };
            for pair in Neighbours::family(Adjacency::ReplaceOne, 4, 1, &layout) {
                let [with, without] = [true, false].map(|with| pair.world(with, &layout));
                assert_eq!((&with[0], &with[2]), (&without[0], &without[2]));
                assert_ne!(with[VICTIM], without[VICTIM]);
                assert!(with.iter().all(|table| table.len() == 5));
            }
        }
    }

    /// Of a person with rows at two parties both change, and nobody else does; parties without records
    /// stay so.
    #[test]
    fn a_canary_at_two_parties_changes_both() {
        let layout = WorldLayout { parties: 4, homes: 2, bare: true, ..ONE };
        for pair in Neighbours::family(Adjacency::ReplaceOne, 1, 1, &layout) {
            let [with, without] = [true, false].map(|with| pair.world(with, &layout));
            assert!(with[1] == with[2] && with[1] != without[1] && without[1] == without[2]);
            assert!([&with, &without].iter().all(|it| it[0].is_empty() && it[3].is_empty()));
        }
    }
}

//! Categories with an order: a line along it, and hats at a few of them.
//!
//! ```text
//! categories 0 … m − 1 in their declared order, at the places i/(m − 1)
//! K knots, K ≤ m − 2, at the categories round(k·(m − 1)/(K + 1)), k = 1 … K
//! ```
//!
//! The column is that of a number which is 0 for the first category and m − 1 for the last: K + 1
//! features in place of m, so that neighbours share what is learned of them. With K = m − 2 every
//! category has a value of its own. Steps between neighbours are equally long: an order says no more.
//! A field without a category has neither line nor hat.

use super::{Categorical, Curve, MissingNumber, Numeric, Scale};
use crate::Labels;

/// Knots where neither the column nor a job says how many: a line that may bend once.
const USUAL_KNOTS: usize = 1;

/// The order of a column's categories.
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryOrder {
    /// Knots as declared.
    knots: Option<usize>,
    /// The column as a number.
    along: Numeric,
}

impl CategoryOrder {
    /// The order of so many categories; `Err` is what is wrong with it.
    pub(super) fn new(categories: &Labels, knots: Option<usize>) -> Result<Self, String> {
        let (count, most) = (categories.len(), most_knots(categories.len()));
        if count < 2 {
            return Err("has `ordered`; allowed: two categories or more".into());
        }
        if let Some(given) = knots.filter(|knots| *knots > most) {
            return Err(format!(
                "has curve = {given}; allowed for {count} categories with an order: 0 to {most}"
            ));
        }
        Ok(Self { knots, along: along(count, knots.unwrap_or(USUAL_KNOTS)) })
    }

    /// Whether a job that bends all columns bends this one: where the column says nothing itself.
    pub(super) fn is_open(&self) -> bool {
        self.knots.is_none()
    }

    /// The number of knots as declared.
    pub(super) fn declared(&self) -> Option<usize> {
        self.knots
    }

    /// The column as a number: 0 for the first category, 1 for the next.
    pub fn along(&self) -> &Numeric {
        &self.along
    }

    /// How many hats it has where a job asks for so many.
    pub(super) fn hats_of(&self, knots: usize) -> usize {
        knots.min(most_knots(self.along.upper as usize + 1))
    }

    /// So many knots, or as many as there can be.
    pub(super) fn bend(&mut self, knots: usize) {
        let knots = self.hats_of(knots);
        self.knots = Some(knots);
        self.along = along(self.along.upper as usize + 1, knots);
    }

    /// The numbers of the categories that have hats.
    pub(super) fn knots(&self) -> Vec<usize> {
        self.along.knots().into_iter().map(|knot| knot as usize).collect()
    }
}

/// Knots stand at categories between the first and the last.
fn most_knots(categories: usize) -> usize {
    categories.saturating_sub(2)
}

/// The number that a column of categories is along their order.
fn along(categories: usize, knots: usize) -> Numeric {
    let knots = knots.min(most_knots(categories));
    let last = categories - 1;
    // Rounded in whole numbers: as (K + 1) ≤ m − 1, no two are the same, and none is an end.
    let knot = |k: usize| (2 * k * last + knots + 1) / (2 * (knots + 1));
    let at: Vec<f64> = (1..=knots).map(|k| knot(k) as f64).collect();
    Numeric {
        lower: 0.0,
        upper: last as f64,
        scale: Scale::MinusOneToOne,
        quantiles: Vec::new(),
        missing: MissingNumber::Middle,
        curve: Some(if at.is_empty() { Curve::Even(0) } else { Curve::At(at) }),
    }
}

impl Categorical {
    /// Their order, where they have one.
    pub fn order(&self) -> Option<&CategoryOrder> {
        self.order.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knots_are_categories_between_the_ends_and_no_two_the_same() {
        for count in 2..40_usize {
            let labels = Labels::new((0..count).map(|i| i.to_string())).unwrap();
            for knots in 0..=count - 2 {
                let order = CategoryOrder::new(&labels, Some(knots)).unwrap();
                let found = order.knots();
                assert_eq!(found.len(), knots);
                assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{count} {found:?}");
                assert!(found.iter().all(|&at| 0 < at && at < count - 1), "{count} {found:?}");
            }
            assert!(CategoryOrder::new(&labels, Some(count - 1)).is_err());
            let mut order = CategoryOrder::new(&labels, None).unwrap();
            assert_eq!(order.knots().len(), USUAL_KNOTS.min(count - 2));
            order.bend(7);
            assert_eq!((order.hats_of(7), order.is_open()), (7.min(count - 2), false));
        }
        assert!(CategoryOrder::new(&Labels::new(["one"]).unwrap(), None).is_err());
    }
}

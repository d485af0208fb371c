//! Rows under a linear map: kept where they fit in memory, and otherwise made anew whenever they are
//! looked at. Both are the same numbers to the bit, so that neither how many records there are nor how
//! much memory the machine has shows in an answer.

use rayon::prelude::*;
use reticent_data::{Dense, Rows, spare_memory};

use super::map_tiles::{BLOCK_ROWS, MapTiles, TileScratch};
use super::pass::finite;
use super::rows::{RowAccess, SeenRows, add_slice, dot_slices, with_rows};

/// What the images of a table may always take.
const ALWAYS: usize = 512 << 20;

/// The most that the images of a table may take: half of what the machine has to spare, or
/// [`ALWAYS`].
pub fn most_bytes() -> usize {
    ALWAYS.max(spare_memory() / 2)
}

/// What stands in for the rows.
#[derive(Debug)]
pub enum Images {
    /// All of them.
    Kept(Dense),
    /// The map, which has an image for each coordinate of a row, one after the other.
    Made(Vec<f64>),
}

/// Images of rows that are made when they are asked for.
#[derive(Debug)]
pub struct Made<'a> {
    rows: &'a Rows,
    map: &'a [f64],
    width: usize,
    /// The constant behind the intercept, a last coordinate of the row; 0 when there is none.
    intercept: f64,
}

impl Images {
    /// The images of `rows` under `map`, kept if they take no more than `most` bytes.
    pub fn new(rows: &Rows, map: &[f64], intercept: f64, most: usize) -> Self {
        let made = Made::new(rows, map, intercept);
        let (count, width) = (rows.len(), made.width);
        if count.saturating_mul(width).saturating_mul(8) > most {
            return Images::Made(map.to_vec());
        }
        Images::Kept(made.all())
    }

    /// What is seen in place of `rows`.
    pub fn seen<'a>(&'a self, rows: &'a Rows, intercept: f64) -> SeenRows<'a> {
        match self {
            Images::Kept(images) => SeenRows::Dense(images),
            Images::Made(map) => SeenRows::Made(Made::new(rows, map, intercept)),
        }
    }
}

impl<'a> Made<'a> {
    fn new(rows: &'a Rows, map: &'a [f64], intercept: f64) -> Self {
        let width = rows.columns() + usize::from(intercept != 0.0);
        Made { rows, map, width, intercept }
    }

    /// Images that are not kept.
    pub fn all_of(rows: &'a Rows, map: &'a [f64], intercept: f64) -> Dense {
        Made::new(rows, map, intercept).all()
    }

    fn all(&self) -> Dense {
        let (rows, width) = (self.rows.len(), self.width);
        let mut values = vec![0.0; rows * width];
        let blocks = values.par_chunks_mut(BLOCK_ROWS * width.max(1)).enumerate();
        match self.rows {
            Rows::Dense(rows) => {
                let tiles = MapTiles::new(self.map, width);
                blocks.for_each_init(TileScratch::default, |scratch, (block, out)| {
                    self.write_block((rows, &tiles), block * BLOCK_ROWS, out, scratch);
                });
            }
            Rows::Sparse(_) => blocks.for_each(|(block, out)| {
                let images = out.chunks_exact_mut(width.max(1));
                (block * BLOCK_ROWS..).zip(images).for_each(|(i, out)| self.write(i, out));
            }),
        }
        Dense { rows, columns: width, values }
    }

    /// How many coordinates an image has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The image of row `i`, over zeros.
    fn write(&self, i: usize, out: &mut [f64]) {
        let mut add = |k: usize, a: f64| {
            let image = &self.map[k * self.width..][..self.width];
            out.iter_mut().zip(image).for_each(|(out, image)| *out += a * image);
        };
        with_rows!(SeenRows::from(self.rows), rows => rows.for_each(i, &mut add));
        if self.intercept != 0.0 {
            add(self.width - 1, self.intercept);
        }
        // An image that overflows has no norm to clip; it counts as nothing.
        out.iter_mut().for_each(finite);
    }

    /// The images of the rows from `first` on: each is what [`Made::write`] makes, to the bit, because
    /// its terms are added in the same order.
    fn write_block(
        &self,
        (rows, tiles): (&Dense, &MapTiles),
        first: usize,
        out: &mut [f64],
        scratch: &mut TileScratch,
    ) {
        let count = out.len() / self.width.max(1);
        let rows: [&[f64]; BLOCK_ROWS] =
            std::array::from_fn(|r| if r < count { rows.row(first + r) } else { &[] });
        tiles.images(&rows[..count], self.intercept, out, scratch);
        out.iter_mut().for_each(finite);
    }

    fn image(&self, i: usize) -> Vec<f64> {
        let mut image = vec![0.0; self.width];
        self.write(i, &mut image);
        image
    }
}

impl RowAccess for Made<'_> {
    fn bytes_per_row(&self) -> usize {
        8 * self.width
    }

    fn dot(&self, i: usize, x: &[f64]) -> f64 {
        dot_slices(&self.image(i), x)
    }

    fn for_each(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        self.image(i).into_iter().enumerate().for_each(|(feature, value)| f(feature, value));
    }

    fn add(&self, i: usize, t: f64, sums: &mut [f64], map: impl Fn(f64) -> f64) {
        add_slice(&self.image(i), t, sums, map);
    }
}

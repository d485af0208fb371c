//! A linear map cut into tiles, and blocks of dense rows under it.
//!
//! ```text
//! imageᵢ = ((0 + aᵢ₀·p₀) + aᵢ₁·p₁) + …,   p_k the image of the unit vector k
//! ```
//!
//! Each entry is added up in the order of the coordinates, every product and every sum rounded on its
//! own, so that an image has the same bits whatever rows share its block and whatever vectors the
//! machine has. What is chosen is only what stays where meanwhile: the sums of a few rows ×
//! [`PANEL`] coordinates in registers, and the part of the map that they need in the first-level cache.

use pulp::Simd;

/// Coordinates of an image that are made together: two of the widest vectors.
const PANEL: usize = 16;

/// Coordinates of a row that are taken at a time.
const DEPTH: usize = 128;

/// Rows of a group: with [`PANEL`] they are as many sums as the widest vectors have registers for.
const GROUP: usize = 8;

/// Rows of a block, which share what is fetched of the map.
pub(super) const BLOCK_ROWS: usize = 4 * GROUP;

/// The map: for every [`DEPTH`] coordinates of a row and every [`PANEL`] of its image the numbers that
/// lead from those to these, one coordinate of the row after the other. What is missing is 0.
#[derive(Debug)]
pub(super) struct MapTiles {
    width: usize,
    panels: usize,
    numbers: Vec<f64>,
}

/// What a thread works in.
#[derive(Debug, Default)]
pub(super) struct TileScratch {
    /// [`DEPTH`] coordinates of a block of rows, of each group one coordinate after the other.
    rows: Vec<f64>,
    /// The sums, group by group and panel by panel.
    sums: Vec<f64>,
}

impl MapTiles {
    /// A square map, given by the images of the unit vectors, one after the other.
    pub fn new(map: &[f64], width: usize) -> Self {
        let panels = width.div_ceil(PANEL);
        let mut numbers = Vec::with_capacity(map.len().div_ceil(width.max(1)) * panels * PANEL);
        for part in map.chunks(DEPTH * width.max(1)) {
            for panel in 0..panels {
                let of = panel * PANEL..((panel + 1) * PANEL).min(width);
                for image in part.chunks_exact(width) {
                    numbers.extend_from_slice(&image[of.clone()]);
                    numbers.resize(numbers.len().next_multiple_of(PANEL), 0.0);
                }
            }
        }
        MapTiles { width, panels, numbers }
    }

    /// The images of at most [`BLOCK_ROWS`] rows, `last` being the last coordinate of those that are one
    /// short, into `out`.
    pub fn images(&self, rows: &[&[f64]], last: f64, out: &mut [f64], scratch: &mut TileScratch) {
        self.images_with(rows, last, out, scratch, |pass| pulp::Arch::new().dispatch(pass));
    }

    fn images_with(
        &self,
        rows: &[&[f64]],
        last: f64,
        out: &mut [f64],
        scratch: &mut TileScratch,
        run: impl Fn(TilePass<'_>),
    ) {
        let groups = rows.len().div_ceil(GROUP);
        let TileScratch { rows: packed, sums } = scratch;
        sums.clear();
        sums.resize(groups * self.panels * GROUP * PANEL, 0.0);
        let depths = (0..self.width).step_by(DEPTH);
        for (from, numbers) in depths.zip(self.numbers.chunks(DEPTH * self.panels * PANEL)) {
            let depth = numbers.len() / (self.panels * PANEL);
            pack(rows, from..from + depth, last, packed);
            run(TilePass { numbers, packed, sums, depth });
        }
        let group_len = self.panels * GROUP * PANEL;
        for (i, image) in out.chunks_exact_mut(self.width.max(1)).enumerate() {
            let of = &sums[i / GROUP * group_len..][..group_len];
            let tiles = of.chunks_exact(GROUP * PANEL).map(|tile| &tile[i % GROUP * PANEL..]);
            for (image, tile) in image.chunks_mut(PANEL).zip(tiles) {
                image.copy_from_slice(&tile[..image.len()]);
            }
        }
    }
}

/// Some coordinates of rows, of each group one coordinate after the other; rows that are missing are 0.
fn pack(rows: &[&[f64]], of: std::ops::Range<usize>, last: f64, packed: &mut Vec<f64>) {
    let depth = of.len();
    packed.clear();
    packed.resize(rows.len().div_ceil(GROUP) * depth * GROUP, 0.0);
    for (group, packed) in rows.chunks(GROUP).zip(packed.chunks_exact_mut(depth * GROUP)) {
        for (r, row) in group.iter().enumerate() {
            let coordinates = row[of.start.min(row.len())..].iter().chain([&last]);
            let places = packed.iter_mut().skip(r).step_by(GROUP);
            places.zip(coordinates).for_each(|(to, a)| *to = *a);
        }
    }
}

/// Some coordinates of a block of rows through their part of the map: a type of its own because a
/// closure would not be compiled for the vector instructions that it is dispatched to.
struct TilePass<'a> {
    numbers: &'a [f64],
    packed: &'a [f64],
    sums: &'a mut [f64],
    depth: usize,
}

impl pulp::WithSimd for TilePass<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // As many sums as fit in the registers, in vectors of this machine.
        match S::F64_LANES {
            8 => self.run::<S, GROUP, 2>(simd),
            4 => self.run::<S, 2, 4>(simd),
            2 => self.run::<S, 2, 8>(simd),
            _ => self.run::<S, 1, PANEL>(simd),
        }
    }
}

impl TilePass<'_> {
    /// `R` rows at a time, of [`GROUP`] in a group; `V` vectors are a panel.
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let TilePass { numbers, packed, sums, depth } = self;
        let panels = numbers.len() / (depth * PANEL);
        for (panel, numbers) in numbers.chunks_exact(depth * PANEL).enumerate() {
            let (numbers, _) = S::as_simd_f64s(numbers);
            let (numbers, _) = numbers.as_chunks::<V>();
            let groups = packed.chunks_exact(depth * GROUP);
            let tiles = sums.chunks_exact_mut(panels * GROUP * PANEL);
            for (packed, tiles) in groups.zip(tiles) {
                let tile = &mut tiles[panel * GROUP * PANEL..][..GROUP * PANEL];
                let (tile, _) = S::as_mut_simd_f64s(tile);
                let (rows, _) = packed.as_chunks::<GROUP>();
                for (at, tile) in tile.chunks_exact_mut(R * V).enumerate() {
                    add::<S, R, V>(simd, rows, at * R, numbers, tile);
                }
            }
        }
    }
}

/// `tile ← tile + a·p` for `R` rows of a group from `first` on, coordinate by coordinate.
#[inline(always)]
fn add<S: Simd, const R: usize, const V: usize>(
    simd: S,
    rows: &[[f64; GROUP]],
    first: usize,
    numbers: &[[S::f64s; V]],
    tile: &mut [S::f64s],
) {
    // Entry by entry: what is copied as an array stays in memory, and is written in every step.
    let mut sums: [[S::f64s; V]; R] =
        std::array::from_fn(|r| std::array::from_fn(|v| tile[r * V + v]));
    for (row, p) in rows.iter().zip(numbers) {
        let p: [S::f64s; V] = std::array::from_fn(|v| p[v]);
        for r in 0..R {
            let a = simd.splat_f64s(row[first + r]);
            for v in 0..V {
                sums[r][v] = simd.add_f64s(sums[r][v], simd.mul_f64s(a, p[v]));
            }
        }
    }
    for r in 0..R {
        for v in 0..V {
            tile[r * V + v] = sums[r][v];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of both signs, some so large that sums overflow.
    fn number(i: usize, every: usize, large: f64) -> f64 {
        let number = (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
        if i % every == 3 { number * large } else { number }
    }

    /// Widths and numbers of rows around every edge of a tile.
    #[test]
    fn an_image_in_a_block_is_that_of_its_row_alone_to_the_bit() {
        for (width, short) in
            [(1, 0), (2, 1), (15, 1), (16, 0), (17, 1), (128, 0), (129, 1), (300, 1)]
        {
            let map: Vec<f64> = (0..width * width).map(|i| number(3 * i + 1, 97, 1e300)).collect();
            let tiles = MapTiles::new(&map, width);
            let mut scratch = TileScratch::default();
            for count in [1, 7, 8, 9, BLOCK_ROWS - 1, BLOCK_ROWS] {
                let columns = width - short;
                let values: Vec<f64> =
                    (0..count * columns).map(|i| number(5 * i + 2, 53, -1e200)).collect();
                let rows: Vec<&[f64]> =
                    (0..count).map(|i| &values[i * columns..][..columns]).collect();
                let mut out = vec![f64::NAN; count * width];
                tiles.images(&rows, 0.3, &mut out, &mut scratch);
                for (row, image) in rows.iter().zip(out.chunks_exact(width)) {
                    for (j, entry) in image.iter().enumerate() {
                        let terms = row.iter().chain([&0.3]).zip(map.chunks_exact(width));
                        let alone = terms.fold(0.0, |sum, (a, image)| sum + a * image[j]);
                        let same = alone.to_bits() == entry.to_bits();
                        assert!(same || alone.is_nan() && entry.is_nan(), "{width} {count} {j}");
                    }
                }
            }
        }
    }

    /// The images by vectors of one width, whatever the machine would take by itself.
    fn images_by<S: Simd>(simd: S, tiles: &MapTiles, rows: &[&[f64]], last: f64) -> Vec<f64> {
        use pulp::WithSimd;
        let mut scratch = TileScratch::default();
        let mut out = vec![f64::NAN; rows.len() * tiles.width];
        let pass = |pass: TilePass<'_>| pass.with_simd(simd);
        tiles.images_with(rows, last, &mut out, &mut scratch, pass);
        out
    }

    /// Zeros of both signs, numbers below the normal range, and what no reader lets through.
    fn hostile(i: usize) -> f64 {
        let kinds =
            [0.0, -0.0, 5e-324, -1e-310, 1e308, -1e-162, 0.1, -3.7, f64::NAN, f64::INFINITY];
        // What is not finite is rare: it would be all that an entry says.
        kinds[if i.is_multiple_of(211) { 8 + i % 2 } else { (i * i + i / 7) % 8 }]
    }

    /// Every width of vectors that this machine has.
    #[test]
    fn images_have_the_same_bits_by_vectors_of_any_width() {
        for (width, short) in [(1, 1), (3, 0), (16, 1), (31, 0), (130, 1)] {
            let map: Vec<f64> = (0..width * width).map(|i| number(7 * i + 1, 89, 1e290)).collect();
            let tiles = MapTiles::new(&map, width);
            for count in [1, 9, BLOCK_ROWS] {
                let columns = width - short;
                let values: Vec<f64> = (0..count * columns).map(hostile).collect();
                let rows: Vec<&[f64]> =
                    (0..count).map(|i| &values[i * columns..][..columns]).collect();
                let mut all = vec![images_by(pulp::Scalar, &tiles, &rows, -0.7)];
                all.push(vec![f64::NAN; count * width]);
                tiles.images(&rows, -0.7, &mut all[1], &mut TileScratch::default());
                #[cfg(target_arch = "x86_64")]
                {
                    use pulp::x86::{V3, V4};
                    all.extend(V3::try_new().map(|simd| images_by(simd, &tiles, &rows, -0.7)));
                    all.extend(V4::try_new().map(|simd| images_by(simd, &tiles, &rows, -0.7)));
                }
                // A row alone, in a block of its own.
                let alone = rows.iter().flat_map(|&row| {
                    let mut out = vec![f64::NAN; width];
                    tiles.images(&[row], -0.7, &mut out, &mut TileScratch::default());
                    out
                });
                all.push(alone.collect());
                // Which NaN it is may follow from the order of two of them; none is kept.
                let bits = |images: &Vec<f64>| -> Vec<u64> {
                    let one =
                        |entry: &f64| if entry.is_nan() { f64::NAN } else { *entry }.to_bits();
                    images.iter().map(one).collect()
                };
                for images in &all[1..] {
                    assert_eq!(bits(images), bits(&all[0]), "{width} {count}");
                }
            }
        }
    }
}

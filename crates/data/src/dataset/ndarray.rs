//! Arrays of the crate `ndarray` (feature `ndarray`). They are read where they are if their rows, or
//! their columns, stand one behind the other, and copied otherwise.

use std::borrow::Cow;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2};

use super::{Dataset, Features, Owners, Targets};

impl<'a> From<ArrayView2<'a, f64>> for Dataset<'a> {
    /// # Examples
    /// ```
    /// use ndarray::array;
    /// use reticent_data::{Dataset, Schema, Target, encode};
    ///
    /// let (x, y) = (array![[25.0, 120.0], [50.0, 140.0]], array![0_u32, 1]);
    /// let data = Dataset::from(x.view()).with_targets(y.view())?;
    /// let bounds = [(0.0, 100.0), (80.0, 200.0)];
    /// let schema = Schema::bounded(&bounds, Target::classes(["no", "yes"])?)?;
    /// assert_eq!(encode(&data, &schema)?.rows.dense_row(1), [0.0, 0.0]);
    /// # Ok::<(), reticent_data::DataError>(())
    /// ```
    fn from(view: ArrayView2<'a, f64>) -> Self {
        let (rows, columns) = view.dim();
        if let Some(values) = view.reversed_axes().to_slice().filter(|_| columns > 1) {
            return Self::of(Features::ColumnMajor { values: values.into(), rows, columns });
        }
        let values = match view.to_slice() {
            Some(values) => Cow::Borrowed(values),
            None => view.iter().copied().collect(),
        };
        Self::of(Features::RowMajor { values, rows, columns })
    }
}

impl<'a> From<&'a Array2<f64>> for Dataset<'a> {
    fn from(array: &'a Array2<f64>) -> Self {
        array.view().into()
    }
}

macro_rules! columns {
    ($($type:ident $variant:ident $of:ty,)*) => { $(
        impl<'a> From<ArrayView1<'a, $of>> for $type<'a> {
            fn from(view: ArrayView1<'a, $of>) -> Self {
                $type::$variant(match view.to_slice() {
                    Some(all) => Cow::Borrowed(all),
                    None => view.iter().copied().collect(),
                })
            }
        }
        impl<'a> From<&'a Array1<$of>> for $type<'a> {
            fn from(array: &'a Array1<$of>) -> Self { array.view().into() }
        }
    )* };
}

columns! {
    Targets Numbers f64,
    Targets Classes u32,
    Owners Ids u64,
    Owners Signed i64,
    Owners Reals f64,
}

//! A released second moment, for what is computed from it beside the coordinates of [`crate::basis`].

/// The second moment by its eigenvectors, and the coordinates that follow from it.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// Row j is eigenvector j.
    pub vectors: Vec<f64>,
    /// The eigenvalues of M̃.
    pub values: Vec<f64>,
    /// Those of P⁻¹.
    pub roots: Vec<f64>,
}

impl Spectrum {
    /// A vector in the coordinates of the eigenvectors.
    pub fn turned(&self, x: &[f64]) -> Vec<f64> {
        let rows = self.vectors.chunks_exact(self.values.len());
        rows.map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// The unit vector of the last column, the intercept where there is one, in the coordinates of the
    /// eigenvectors.
    pub fn constants(&self) -> Vec<f64> {
        let rows = self.vectors.chunks_exact(self.values.len());
        rows.filter_map(|row| row.last().copied()).collect()
    }
}

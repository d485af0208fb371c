//! Who is protected and by how much, as keyword arguments say it.

use pyo3::prelude::*;
use reticent::Error;

/// Every key is there, as `None` where it is left at its default.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct GuaranteeArguments {
    epsilon: Option<f64>,
    delta: Option<f64>,
    adjacency: String,
    unit: Option<String>,
    public_n: Option<u64>,
    pub seed: Option<u64>,
}

/// What is asked for, and who is protected: keys of one dict.
pub struct GuardedRequest<T> {
    pub guarantee: GuaranteeArguments,
    pub of: T,
}

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for GuardedRequest<T> {
    type Error = PyErr;

    fn extract(dict: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let of = T::extract(dict).map_err(Into::into)?;
        Ok(GuardedRequest { guarantee: GuaranteeArguments::extract(dict)?, of })
    }
}

impl GuaranteeArguments {
    /// The same in the types of the library.
    pub fn read(&self) -> Result<reticent::Guarantee, Error> {
        let adjacency = self.adjacency.parse()?;
        let unit = self.unit.as_deref().map(str::parse).transpose()?;
        Ok(reticent::Guarantee::default().with(|it| {
            it.epsilon = self.epsilon;
            it.delta = self.delta;
            it.adjacency = Some(adjacency);
            it.unit = unit;
            it.public_n = self.public_n;
            it.seed = self.seed;
        }))
    }

    /// ε and δ, as they were asked for.
    pub fn asked(&self) -> Option<(f64, f64)> {
        self.epsilon.zip(self.delta)
    }

    /// Whether groups beside the table are who is protected.
    pub fn protects_users(&self) -> bool {
        self.unit.as_deref() != Some("record")
    }
}

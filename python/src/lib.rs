//! The native half of the Python package `reticent`: tables, jobs, models, certificates and
//! budgets. What users see of it is in `python/reticent`.

mod accounting;
mod budget;
mod certificate;
mod error;
mod fit;
mod job;
mod model;
mod schema;
mod table;
mod watch;

/// The module `reticent._reticent`. It keeps no state of its own, so it runs without a global lock.
#[pyo3::pymodule(gil_used = false)]
mod _reticent {
    #[pymodule_export]
    use crate::accounting::{Filter, Ledger, calibrate, calibrate_repetitions, calibrate_sampling};
    #[pymodule_export]
    use crate::budget::Store;
    #[pymodule_export]
    use crate::certificate::Certificate;
    #[pymodule_export]
    use crate::fit::{fit, tune};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::schema::Schema;
}

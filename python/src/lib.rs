//! The native half of the Python package `reticent`: tables, jobs, models, certificates,
//! budgets and audits. What users see of it is in `python/reticent`.

mod accounting;
mod asked;
mod audit;
mod budget;
mod certificate;
mod counting;
mod error;
mod evaluation;
mod files;
mod fit;
mod guarantee;
mod job;
mod model;
mod payment;
mod report;
mod reproduction;
mod schema;
mod setting;
mod shards;
mod simulation;
mod statistics;
mod table;
mod threads;
mod watch;

/// The module `reticent._reticent`. It keeps no state of its own, so it runs without a global lock.
#[pyo3::pymodule(gil_used = false)]
mod _reticent {
    #[pymodule_export]
    use crate::accounting::{
        PyFilter, PyLedger, calibrate, calibrate_repetitions, calibrate_sampling,
    };
    #[pymodule_export]
    use crate::audit::{audit, audit_all};
    #[pymodule_export]
    use crate::budget::PyStore;
    #[pymodule_export]
    use crate::certificate::PyCertificate;
    #[pymodule_export]
    use crate::counting::class_counts;
    #[pymodule_export]
    use crate::evaluation::evaluate;
    #[pymodule_export]
    use crate::files::fit_files;
    #[pymodule_export]
    use crate::fit::{check, check_budget, fit, tune};
    #[pymodule_export]
    use crate::model::PyModel;
    #[pymodule_export]
    use crate::report::report;
    #[pymodule_export]
    use crate::reproduction::{experiments, reproduce};
    #[pymodule_export]
    use crate::schema::PySchema;
    #[pymodule_export]
    use crate::shards::{PyShard, check_shards, fit_shards};
    #[pymodule_export]
    use crate::simulation::{holders, simulate};
    #[pymodule_export]
    use crate::statistics::statistics;
}

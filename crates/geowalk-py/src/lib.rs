//! # geowalk for Python
//! The compiled half of the package `geowalk`: `python/geowalk` re-exports what is here under the names that users see. No
//! mathematics, only the way in and out: arrays become slices ([`convert`]), errors become exceptions with the same numbers
//! ([`error`]), and a batch is a loop without the interpreter's lock.

#![allow(clippy::needless_pass_by_value)] // PyO3 hands arguments over
#![allow(clippy::doc_link_with_quotes)] // documentation is written for Python

mod batch;
mod columns;
mod compare;
mod convert;
mod doctor;
mod error;
mod experts;
mod files;
mod fork;
mod frame;
mod generator;
mod label;
mod listen;
mod loss;
mod manifold;
mod online;
mod optimize;
mod own;
mod permissible;
mod rows;
mod track;

use pyo3::prelude::*;

/// The compiled half of geowalk. Use `geowalk.geometry` and `geowalk.losses`.
#[pymodule]
mod _geowalk {
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_export]
    use super::batch::{Batch, Boost, Tree, Trees};
    #[pymodule_export]
    use super::compare::{compare_losses, loss_interval};
    #[pymodule_export]
    use super::doctor::{Diagnosis, Verdict, examine};
    #[pymodule_export]
    use super::error::{ConfigError, DataError, DomainError};
    #[pymodule_export]
    use super::experts::Weigher;
    #[pymodule_export]
    use super::files::{command, load_bytes, merge_bytes, probabilistic, read, walk_list};
    #[pymodule_export]
    use super::frame::Frame;
    #[pymodule_export]
    use super::generator::{
        Generator, ItakuraSaito, KullbackLeibler, Mahalanobis, PNorm, SimplexEntropy,
        SquaredEuclidean,
    };
    #[pymodule_export]
    use super::loss::{Custom, Facts, Loss, loss, loss_names};
    #[pymodule_export]
    use super::manifold::{
        BuresWasserstein, Euclidean, Grassmann, Hyperboloid, Manifold, Oblique, PoincareBall,
        PositiveOrthant, Product, Rotations, Simplex, Spd, SpdLogEuclidean, Sphere, Stiefel, Torus,
        geometry, geometry_names,
    };
    #[pymodule_export]
    use super::online::Online;
    #[pymodule_export]
    use super::optimize::{Walker, check_gradient, check_laws, minimize};
    #[pymodule_export]
    use super::own::named_manifold;
    #[pymodule_export]
    use super::permissible::{Permissible, permissible_names};
    #[pymodule_export]
    use super::track::Tracker;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::fork::remember_home();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::error::declare_attributes(module.py())
    }
}

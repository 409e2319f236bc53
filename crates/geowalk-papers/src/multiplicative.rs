//! Multiplicative updates and their gradient-descent twins \[AW20\].

pub(crate) mod continuous_time;
pub(crate) mod hadamard;
mod hadamard_matrix;
pub(crate) mod hedge;
pub(crate) mod one_pass;
pub(crate) mod signed_regression;
pub(crate) mod sparse_regression;
pub(crate) mod winnow;

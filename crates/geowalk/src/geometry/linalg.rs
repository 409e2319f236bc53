//! Dense matrices: the only file that knows faer.

/// Scratch memory of the matrix operations.
#[derive(Debug, Default)]
pub(crate) struct Matrices {}

//! # Boosting: a comparison of eleven flavours
//! \[NN09, sec. 7, fig. 15\], with tests of its findings on the available domains.

pub mod contest;
pub mod distributions;
pub mod domain;
pub mod figure15;
mod generated;
pub mod ranks;

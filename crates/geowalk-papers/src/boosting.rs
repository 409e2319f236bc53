//! # Boosting: the contest of eleven flavours
//! \[NN09, sec. 7, fig. 15\], and what its findings are worth on the domains at hand.

pub mod contest;
pub mod distributions;
pub mod domain;
pub mod figure15;
mod generated;
pub mod ranks;

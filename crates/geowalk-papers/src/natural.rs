//! Natural gradient for multinomial logistic regression \[SC21\]: its advantages, its failures without safeguards, its
//! cost.

pub(crate) mod condition;
pub(crate) mod cost;
pub(crate) mod discrete;
pub(crate) mod families;
pub(crate) mod misspecified;
mod rules;
mod sample;
pub(crate) mod sequences;
pub(crate) mod spectrum;
pub(crate) mod warm_up;

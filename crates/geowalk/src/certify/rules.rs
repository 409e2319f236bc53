//! # The theorems that a ledger keeps
//! Each stands beside the geometry it belongs to; the lists have those of one kind of step, the general ones first.

pub use super::mirror_steps::{
    BURG_STEPS, METRIC_STEPS, MIRROR_BURG, MIRROR_ENTROPY, MIRROR_METRIC,
};
pub use crate::geometry::generators::kullback_leibler::theorems::{
    EGU, EGU_STEPS, REPARAM_EGU, REPARAM_EGU_STEPS, egu_rate,
};
pub use crate::geometry::generators::p_norm::theorems::{MIRROR_DESCENT, OLS, P_NORM_STEPS};
pub use crate::geometry::generators::simplex_entropy::theorems::{
    EG, EG_STEPS, LINEAR_EG, REPARAM_EG, REPARAM_EG_STEPS, eg_rate, reparam_eg_rate,
};
pub use crate::geometry::manifolds::euclidean::theorems::{
    GRADIENT_DESCENT, GRADIENT_STEPS, IMPLICIT_DESCENT, IMPLICIT_STEPS, LEAST_SQUARES,
    LEAST_SQUARES_AFTER, PROMISED_DESCENT,
};
pub use crate::geometry::manifolds::positive_orthant::theorems::{NATURAL_EG, ORTHANT_STEPS};

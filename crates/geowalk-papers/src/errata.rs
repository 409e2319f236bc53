//! Counterexamples to wrong printed statements: the printed bound is violated, the corrected one holds or is void.
//! Also statements that hold more generally than printed.

pub(crate) mod antipode;
pub(crate) mod claim_1;
pub(crate) mod curvature;
pub(crate) mod egu_clipping;
pub(crate) mod example_4;
pub(crate) mod example_5;
pub(crate) mod example_6;
pub(crate) mod example_7;
pub(crate) mod hedge_comparator;
pub(crate) mod lambda_convexity;
pub(crate) mod lemma_7;
pub(crate) mod lemma_9;
pub(crate) mod null_norms;
pub(crate) mod one_formula;
pub(crate) mod p_norm_loss;
pub(crate) mod proposition_7;
pub(crate) mod reparam_eg_rate;
pub(crate) mod simplex_edge;
pub(crate) mod theorem_6;
pub(crate) mod theorem_8;
pub(crate) mod twin_scale;
pub(crate) mod winnow_agnostic;
pub(crate) mod winnow_start;

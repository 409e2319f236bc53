//! Printed statements that are wrong, on their counterexamples: the printed bound is broken, the corrected one holds or says void.

pub(crate) mod theorem_8;

//! Multiplicative updates and their gradient-descent twins \[AW20\].

pub(crate) mod winnow;

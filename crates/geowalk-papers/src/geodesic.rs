//! Geodesic walks, explicit and implicit \[KMWW07\], and walks on the sphere \[KMWW07s\].

pub(crate) mod hankel;
pub(crate) mod large_rates;
pub(crate) mod natural_eg;
pub(crate) mod null_starts;
pub(crate) mod projection;
mod series;
pub(crate) mod simplex_or_eg;

//! Geodesic walks, explicit and implicit \[KMWW07\], and the sphere \[KMWW07s\].

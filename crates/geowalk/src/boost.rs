//! # Boosting: separators, rules and trees from one convex loss
//! Batch learning on a [`table`] of columns. A permissible φ gives the loss that is minimised, the weights of the examples, the
//! probabilities, and the criterion by which a tree is grown.
//!
//! * [`table`]: the data: columns with names, classes, weights of examples. [`sorted`] and [`binned`]: the two orders in which a column is
//!   scanned for a threshold.
//!
//! **Threads** Work on a table is spread over its columns (rayon). Each column is worked on by one thread in one order, and the results are
//! combined in the order of the columns: the bits do not depend on the number of threads.
//! **Source** \[NN09\], with the corrections that each file states.

pub mod binned;
pub mod sorted;
pub mod split;
pub mod stump;
pub mod table;
pub mod tree;

//! # Boosting: separators, rules and trees from one convex loss
//! Batch learning on a [`table`] of columns. A permissible φ gives the loss that is minimised, the weights of the examples, the
//! probabilities, and the criterion by which a tree is grown.
//!
//! * [`table`]: the data: columns with names, classes, weights of examples. [`sorted`] and [`binned`]: the two orders in which a column is
//!   scanned for a threshold.
//! * [`surrogate`]: the losses. [`mod@line`] and [`block`]: the leverage of one feature, of several. [`state`]: what a round does, and what it must achieve.
//! * [`trees`]: boosted trees.
//! * [`weak`]: learners of features: [`rules`], [`stumps`] and small trees, plain [`columns`]. [`mod@tree`]: trees by themselves.
//! * [`booster`]: rounds with a weak learner. [`flavour`]: several losses. [`multiclass`]: several classes.
//! * [`uls`]: given features. [`dual`]: how far from the best. [`stop`]: when to stop; [`Halt`]: from outside.
//!
//! **Threads** Work on a table is spread over its columns (rayon). Each column is worked on by one thread in one order, and the results are
//! combined in the order of the columns: the bits do not depend on the number of threads.
//! **Source** \[NN09\], with the corrections that each file states.

pub mod binned;
pub mod block;
pub mod booster;
mod chunks;
pub mod columns;
pub mod dual;
pub mod flavour;
pub mod line;
mod logistic;
pub mod multiclass;
pub mod rule;
pub mod rules;
mod signs;
pub mod sorted;
pub mod split;
pub mod state;
pub mod stop;
pub mod stump;
pub mod stumps;
pub mod surrogate;
pub mod table;
pub mod tree;
pub mod trees;
pub mod uls;
pub mod weak;

pub use crate::halt::Halt;
pub use booster::{BoostError, Booster, Choice, Ensemble, HeldTable};
pub use flavour::Flavour;
pub use line::{Outcome, Separable, Step};
pub use state::Round;
pub use stop::{Ended, Stop, Watched};
pub use surrogate::Surrogate;
pub use uls::{Fit, HeldOut, Leverage, Order, Uls};

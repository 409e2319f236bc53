//! # Geometry
//! Where the parameters live. There are two kinds of geometry, and two types that belong to both.
//!
//! * A [`Manifold`] has a metric at every point. A step follows a geodesic, $w' = \exp_w(-\eta\, \mathrm{grad} L)$.
//! * A [`Generator`] ψ has two global charts, w and θ = ∇ψ(w). A step is a straight line in θ,
//!   $\theta' = \theta - \eta\, \partial L$ (mirror descent).
//!
//! In both, a step is more than an addition to the weights, but the traits share no method. Two types connect them:
//!
//! * [`Hessian`]: the metric ∇²ψ turns a generator into a manifold. The mirror step is its natural-gradient step,
//!   retracted along the dual chart.
//! * [`PullBack`]: a link function f pulls the flat metric of ℝⁿ back to the weights. Gradient descent on f(w) is its
//!   geodesic step.

pub mod checked;
mod forward;
pub mod generator;
pub mod generators;
pub mod hessian;
pub(crate) mod linalg;
pub mod link;
pub mod manifold;
pub mod manifolds;
pub mod mean;
mod orthogonal;
pub mod work;

pub use checked::Checked;
pub use generator::{Curved, Generator, Modulus, Separable};
pub use hessian::Hessian;
pub use link::{Link, PullBack};
pub use manifold::{Curvature, Event, ExpLog, Manifold, Sign, Step};
pub use mean::Mean;
pub use work::Work;

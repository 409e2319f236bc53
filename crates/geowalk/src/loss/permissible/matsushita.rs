//! # Matsushita's error
//! $$\varphi_M(p) = -\sqrt{p(1 - p)}, \qquad F(z) = -z + \sqrt{1 + z^2}$$
//! **Gradient** $(2p - 1)/(2\sqrt{p(1-p)})$, image ℝ. **Transfer** $\tfrac12(1 + H/\sqrt{1 + H^2})$. **Constants** a =
//! 0, b = ½, inf φ″ = 2.
//! **Cost** O(1). **Care** tails fall only as 1/(4H²): plain Newton iterations diverge on this loss. The arithmetic is
//! that of [`Mu`](super::Mu) with μ = 0, bit for bit. **Source** \[NN09, eq. (28)\]; \[KM99\].

/// $-\sqrt{p(1 - p)}$.
///
/// ```
/// use geowalk::loss::permissible::{Matsushita, Mu, Permissible};
/// assert_eq!((Matsushita.transfer(-0.75), Matsushita.raw(0.75)), (0.2, 0.25));
/// assert_eq!(Matsushita.surrogate(3.0), Mu::new(0.0)?.surrogate(3.0));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Matsushita;

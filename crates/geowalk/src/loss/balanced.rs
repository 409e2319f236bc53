//! # Balanced convex losses
//! $$\ell(z, y) = \varphi^\star(-yz) - a = b\,F_\varphi(yz), \qquad y = \pm 1$$
//! for a [permissible](super::permissible) φ. These are the losses that are bounded below, proper, and symmetric in
//! the two classes.
//! **Slope** $-y\nabla\varphi^{-1}(-yz)$, in [−1, 1]. **Curvature** $(\varphi^\star)''(-yz)$.
//! **Minimizer** y·sup ∇φ: ±1 for `gini`, ±tanh(k/4) for `zeta`, infinite for the others.
//!
//! **Facts** Convex, 1-Lipschitz, and smooth with constant 1/inf φ″, the Lipschitz constant of the slope. The losses
//! that saturate have a continuous slope too: only their curvature jumps (to 0), which smoothness allows. Not strongly
//! convex.
//!
//! **Care** This is the raw scale: the weight of an example is a probability and starts at ½. Divide by
//! [`b`](Permissible::b) for the scale with F(0) = 1, whose weights start at 1/(2b). `entropy` is the logistic loss.
//! As a loss of probabilities it is a divergence, $\ell(z, y) = D_\varphi(\tfrac{1+y}2 \Vert \nabla\varphi^{-1}(z))$,
//! but only for z in the image of ∇φ. Outside the image, the divergence does not depend on the distance to the image,
//! but the Fenchel–Young form does.
//! **Source** \[NN09, def. 7, lemma 2\].

use super::permissible::{AnyPermissible, Permissible};
use super::{Facts, Loss};
use crate::error::{Allowed, ConfigError};
use crate::spec::Args;

/// $\varphi^\star(-yz) - a$.
///
/// ```
/// use geowalk::loss::{Balanced, Loss, permissible::{AnyPermissible, Matsushita}};
/// let loss = Balanced::new(AnyPermissible::Matsushita(Matsushita));
/// assert_eq!((loss.value(0.75, 1.0), loss.slope(0.75, 1.0)), (0.25, -0.2));
/// assert_eq!(loss.value(0.75, -1.0), 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Balanced {
    phi: AnyPermissible,
}

impl Balanced {
    /// The balanced convex loss of φ.
    pub fn new(phi: AnyPermissible) -> Self {
        Self { phi }
    }

    /// The loss called `name`, which is the name of its φ, with parameters from `args`. Returns `None` if there is no
    /// such φ. The caller must still call [`finish`](Args::finish) on the arguments.
    pub fn parse(name: &str, args: &mut Args<'_>) -> Option<Result<Self, ConfigError>> {
        Some(AnyPermissible::named(name, args)?.map(Self::new))
    }

    /// φ.
    pub fn phi(&self) -> &AnyPermissible {
        &self.phi
    }

    /// The Fenchel–Young loss φ(y) + φ⋆(H) − yH ≥ 0 of the score H for a label y in [0, 1]. \[NN09, eq. (40)\]
    pub fn fenchel_young(&self, y: f64, h: f64) -> f64 {
        // The share of |H| that disagrees with y.
        let against = if h < 0.0 { y } else { 1.0 - y };
        let linear = if against == 0.0 { 0.0 } else { against * h.abs() };
        self.phi.tail_excess(h.abs()) + linear - self.phi.impurity(y)
    }

    /// The Bregman divergence D(y‖p) = φ(y) − φ(p) − ∇φ(p)(y − p) ≥ 0 of probabilities. Its absolute error is about
    /// 1e-16, so small values lose digits. For full relative accuracy, use [`fenchel_young`](Self::fenchel_young) with
    /// the score.
    pub fn divergence(&self, y: f64, p: f64) -> f64 {
        if y == p {
            // This also covers the ends, where ∇φ may be infinite. NaN outside [0, 1].
            return 0.0 * self.phi.impurity(p);
        }
        let phi = &self.phi;
        crate::Real::max(phi.impurity(p) - phi.impurity(y) - phi.gradient(p) * (y - p), 0.0)
    }
}

impl Loss for Balanced {
    fn spec(&self) -> String {
        self.phi.spec()
    }

    #[inline]
    fn value(&self, z: f64, y: f64) -> f64 {
        self.phi.raw(y * z)
    }

    #[inline]
    fn slope(&self, z: f64, y: f64) -> f64 {
        -y * self.phi.weight(y * z)
    }

    #[inline]
    fn curvature(&self, z: f64, y: f64) -> f64 {
        self.phi.conjugate_curvature(y * z)
    }

    fn minimizer(&self, y: f64) -> f64 {
        y * self.phi.image().1
    }

    fn facts(&self) -> Facts {
        Facts {
            labels: Allowed::Sign,
            predictions: Allowed::Finite,
            convex: true,
            lipschitz: Some(1.0),
            // φ″ of a steep ζ underflows at the ends; then no finite constant is known.
            smooth: Some(1.0 / self.phi.curvature_floor()).filter(|smooth| smooth.is_finite()),
            strong: 0.0,
            margin: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::permissible::{CustomPermissible, entries};
    use crate::spec::Spec;
    use std::sync::Arc;

    fn loss(text: &str) -> Balanced {
        let spec = Spec::parse(text).unwrap();
        let mut args = spec.args();
        let loss = Balanced::parse(spec.name(), &mut args).unwrap().unwrap();
        args.finish().unwrap();
        loss
    }

    #[test]
    fn entropy_is_the_logistic_loss() {
        let loss = loss("entropy");
        for z in [-700.0, -30.0, -2.0, -1e-3, 0.0, 0.5, 3.0, 36.0, 700.0] {
            for y in [-1.0, 1.0] {
                let e = crate::Real::exp(-y * z);
                let value = if e < 1e15 { crate::Real::ln_1p(e) } else { -y * z };
                let slope = -y * e / (1.0 + e);
                let found = (loss.value(z, y), loss.slope(z, y));
                assert!((found.0 - value).abs() <= 4.0 * f64::EPSILON * value, "{z} {found:?}");
                let size = slope.abs();
                assert!((found.1 - slope).abs() <= 4.0 * f64::EPSILON * size, "{z} {found:?}");
            }
        }
        assert_eq!(loss.facts().smooth, Some(0.25));
    }

    #[test]
    fn facts_and_minimizers() {
        for entry in entries() {
            let loss = loss(entry.name);
            let (smooth, h) = (loss.facts().smooth.unwrap(), 1e-3);
            for j in -4000..4000 {
                let z = f64::from(j) * h;
                let (left, right) = (loss.slope(z, 1.0), loss.slope(z + h, 1.0));
                // The slope is monotone, at most 1, and never steeper than the constant, even where it saturates.
                assert!(left <= right + 1e-15 && left.abs() <= 1.0, "{} {z}", entry.name);
                assert!(right - left <= smooth * h * (1.0 + 1e-9), "{} {z}", entry.name);
                assert!(loss.curvature(z, -1.0) <= smooth * (1.0 + 1e-12), "{} {z}", entry.name);
                assert_eq!(loss.value(z, 1.0), loss.value(-z, -1.0));
            }
            let best = loss.minimizer(-1.0);
            assert_eq!(best, -loss.minimizer(1.0));
            assert_eq!(loss.value(best, -1.0), 0.0, "{}", entry.name);
            if best.is_finite() {
                assert!(loss.value(0.999 * best, -1.0) > 0.0);
                assert_eq!((loss.slope(best, -1.0), loss.curvature(best, -1.0)), (0.0, 0.0));
            }
        }
        assert_eq!(loss("gini").minimizer(1.0), 1.0);
        assert_eq!(loss("zeta(-4)").minimizer(1.0), crate::Real::tanh(1.0));
        assert_eq!(loss("matsushita").minimizer(-1.0), f64::NEG_INFINITY);
        // (k/2)sech²(k/4) underflows.
        assert_eq!(loss("zeta(-4000)").facts().smooth, None);
    }

    #[test]
    fn outside_the_image_the_divergence_forgets() {
        let loss = loss("gini");
        assert_eq!((loss.value(-2.0, 1.0), loss.fenchel_young(1.0, -2.0)), (2.0, 2.0));
        assert_eq!(loss.divergence(1.0, loss.phi().transfer(-2.0)), 1.0);
        assert_eq!(loss.fenchel_young(1.0, 0.5), loss.divergence(1.0, 0.75));
        // The gradients are infinite at the ends.
        let loss = self::loss("entropy");
        assert_eq!((loss.divergence(0.0, 0.0), loss.divergence(1.0, 1.0)), (0.0, 0.0));
        assert_eq!(
            (loss.divergence(0.5, 0.0), loss.divergence(0.0, 1.0)),
            (f64::INFINITY, f64::INFINITY)
        );
        assert_eq!(loss.fenchel_young(1.0, f64::INFINITY), 0.0);
        assert!(loss.divergence(2.0, 2.0).is_nan() && loss.fenchel_young(-1.0, 0.0).is_nan());
    }

    #[test]
    fn names_and_functions_of_the_user() {
        assert_eq!(loss("nu(0.3)").spec(), "nu(nu=0.3)");
        let spec = Spec::parse("hinge").unwrap();
        assert!(Balanced::parse("hinge", &mut spec.args()).is_none());
        let spec = Spec::parse("mu(2)").unwrap();
        assert!(Balanced::parse("mu", &mut spec.args()).unwrap().is_err());
        let phi = CustomPermissible::new("mine", |p| -p * (1.0 - p), |p| 2.0 * p - 1.0).unwrap();
        let mine = Balanced::new(AnyPermissible::Other(Arc::new(phi)));
        let gini = loss("gini");
        for z in [-2.0, -0.5, 0.0, 0.7, 1.0, 5.0] {
            assert!((mine.value(z, 1.0) - gini.value(z, 1.0)).abs() < 1e-15, "{z}");
        }
        assert_eq!((mine.minimizer(1.0), mine == mine.clone(), mine == gini), (1.0, true, false));
    }
}

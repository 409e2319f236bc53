//! # Generators
//! A strictly convex function of Legendre type, ψ, defines a dually flat geometry: the weights w, their dual
//! coordinates θ = ∇ψ(w), and the divergence
//! $$D_\psi(u \Vert w) = \psi(u) - \psi(w) - \langle \nabla\psi(w), u - w \rangle.$$
//! Mirror descent moves along straight lines in θ. \[NN09, sec. 3\]
//!
//! Malformed slices are treated as in [`Manifold`](super::Manifold): the result is unspecified, but there is no panic.

use super::work::Work;
use crate::Real;
use crate::error::DomainError;
use crate::row::Norm;

/// A Legendre generator ψ on a domain of ℝⁿ.
pub trait Generator<F: Real> {
    /// Is `w` in the domain where ψ is finite and differentiable?
    fn check(&self, w: &[F]) -> Result<(), DomainError>;

    /// Is `theta` in the image of ∇ψ?
    fn check_dual(&self, theta: &[F]) -> Result<(), DomainError>;

    /// ψ(w).
    fn value(&self, w: &[F]) -> F;

    /// θ ← ∇ψ(w).
    fn link(&self, w: &[F], theta: &mut [F]);

    /// w ← ∇ψ⁻¹(θ) = ∇ψ*(θ).
    fn unlink(&self, theta: &[F], w: &mut [F]);

    /// ψ*(θ) = sup_w ⟨θ, w⟩ − ψ(w).
    fn conjugate(&self, theta: &[F]) -> F;

    /// D(u‖w) ≥ 0, computed without cancellation. `u` may lie on the boundary of the domain.
    fn divergence(&self, u: &[F], w: &[F]) -> F;

    /// The modulus of strong convexity of ψ, if it is strongly convex on the whole domain.
    fn modulus(&self) -> Option<Modulus>;

    /// The modulus of strong convexity of ψ on the weights with ‖w‖₁ ≤ `radius`.
    fn modulus_within(&self, radius: f64) -> Option<Modulus> {
        let _ = radius;
        self.modulus()
    }

    /// out ← u ◇ p = ∇ψ⁻¹(∇ψ(p) + u), the Legendre dual \[NN09, eq. (49)\]: a mirror step is −η∂L ◇ w.
    fn legendre_dual(&self, u: &[F], p: &[F], out: &mut [F], work: &mut Work<F>) {
        let [theta] = work.take(p.len());
        self.link(p, theta);
        for (theta, &u) in theta.iter_mut().zip(u) {
            *theta += u;
        }
        self.unlink(theta, out);
    }
}

/// ψ(u) ≥ ψ(w) + ⟨∇ψ(w), u − w⟩ + (σ/2)‖u − w‖².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modulus {
    /// σ.
    pub sigma: f64,
    /// ‖·‖.
    pub norm: Norm,
}

/// A generator whose Hessian can be applied and inverted: it has a Hessian manifold.
pub trait Curved<F: Real>: Generator<F> {
    /// Dimension of the domain, as a manifold (n − 1 for the simplex).
    fn dim(&self, n: usize) -> usize {
        n
    }

    /// Is `w` in the domain, and does ψ have an invertible Hessian there?
    fn check_curved(&self, w: &[F]) -> Result<(), DomainError> {
        self.check(w)
    }

    /// out ← ∇²ψ(w) v.
    fn hessian(&self, w: &[F], v: &[F], out: &mut [F]);

    /// out ← ∇²ψ(w)⁻¹ g, on the tangent space of the domain.
    fn hessian_inverse(&self, w: &[F], g: &[F], out: &mut [F]);

    /// v ← the nearest tangent vector of the domain at `w`.
    fn project(&self, w: &[F], v: &mut [F]) {
        let _ = (w, v);
    }

    /// Is `v` tangent to the domain at `w`?
    fn check_tangent(&self, w: &[F], v: &[F]) -> Result<(), DomainError>;

    /// A canonical point of the domain.
    fn origin(&self, w: &mut [F]);
}

/// A generator ψ(w) = Σ ψ₁(w_i). Its Hessian manifold is flat: f(w) = ∫√ψ₁″ are flat coordinates.
pub trait Separable<F: Real>: Curved<F> {
    /// ψ₁(w).
    fn value1(&self, w: F) -> F;
    /// ψ₁′(w).
    fn link1(&self, w: F) -> F;
    /// (ψ₁′)⁻¹(θ).
    fn unlink1(&self, theta: F) -> F;
    /// ψ₁″(w).
    fn curvature1(&self, w: F) -> F;
    /// The flat coordinate f(w), f′ = √ψ₁″.
    fn flat1(&self, w: F) -> F;
    /// f⁻¹. `None` outside the image of f.
    fn unflat1(&self, f: F) -> Option<F>;
}

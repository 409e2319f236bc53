//! # The loss of a booster
//! $$\varepsilon(u) = \sum_i c_i\,\psi(-u_i), \qquad u_i = -y_i H(o_i), \qquad w_i = w(u_i) = -\psi'(-u_i)$$
//! Any convex loss ψ of the margin z = yH: the raw balanced convex losses, the exponential and the squared loss, and a user's own. The weight w of
//! an example is what boosting hands to the weak learner.
//!
//! | loss | w(u) | w(0) | ψ̃(w) | $a = \inf\tilde\psi''$ |
//! |---|---|---|---|---|
//! | balanced, φ | $\nabla\varphi^{-1}(u) \in [0, 1]$ | ½ | φ(w) + a | inf φ″ |
//! | exponential | $e^u$ | 1 | w ln w − w | 0 |
//! | squared | 2(1 + u) | 2 | −w + w²/4 | ½ |
//! | a user's own | −ψ′(−u) | | −wz − ψ(z) where w = w(z) | 1/sup ψ″ |
//!
//! **Squared, three ways** `squared`: $(1-z)^2$ on all of ℝ, weights may be negative. `gini`: its closed form, the modified Huber loss (the default where the
//! paper says φ_B). `renorm`: `gini`, and after each step α is divided by max(1, Σ|α|), as the paper does: this is not a descent method.
//!
//! **Scale** raw inside, reported as F = ψ/ψ(0), which is 1 at 0. The exponential is evaluated at u − max u, so that it cannot overflow: edges, roots
//! and normalised weights do not depend on the shift.
//! **Cost** O(1) per example; weight and curvature in one evaluation.
//! **Source** \[NN09, sec. 3.2 and table 2\], with the corrections of scale.

use std::sync::Arc;

use crate::Real;
use crate::error::{Allowed, ConfigError, Refusal};
use crate::loss::permissible::{self, AnyPermissible, Entropy, Gini, Mu, Nu, Permissible};
use crate::loss::{self, AnyLoss, Balanced, Custom, Loss};
use crate::spec::{self, Spec};

/// A loss of u = −z, as the solvers see it.
pub(crate) trait Psi: Sync {
    /// ψ(−u).
    fn risk(&self, u: f64) -> f64;

    /// w(u).
    fn weight(&self, u: f64) -> f64;

    /// w(u) and w′(u) = ψ″(−u).
    fn both(&self, u: f64) -> (f64, f64);

    /// ψ̃(w) for w = w(u): the conjugate of ψ at −w.
    fn dual(&self, u: f64, w: f64) -> f64;

    /// ψ(−u), w(u) and ψ̃(w(u)).
    #[inline]
    fn all(&self, u: f64) -> (f64, f64, f64) {
        let w = self.weight(u);
        (self.risk(u), w, self.dual(u, w))
    }

    /// Is the scale of u free, so that it has to be shifted?
    const SHIFTED: bool = false;

    /// Do [`both`](Self::both) follow from e^−u, so that a step needs one multiplication where they need an exponential?
    const LOGISTIC: bool = false;
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpPsi;

impl Psi for ExpPsi {
    const SHIFTED: bool = true;

    #[inline]
    fn risk(&self, u: f64) -> f64 {
        Real::exp(u)
    }

    #[inline]
    fn weight(&self, u: f64) -> f64 {
        Real::exp(u)
    }

    #[inline]
    fn both(&self, u: f64) -> (f64, f64) {
        let w = Real::exp(u);
        (w, w)
    }

    #[inline]
    fn dual(&self, u: f64, w: f64) -> f64 {
        // w ln w − w with ln w = u.
        w * u - w
    }

    #[inline]
    fn all(&self, u: f64) -> (f64, f64, f64) {
        let w = Real::exp(u);
        (w, w, self.dual(u, w))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct SquarePsi;

impl Psi for SquarePsi {
    #[inline]
    fn risk(&self, u: f64) -> f64 {
        (1.0 + u) * (1.0 + u)
    }

    #[inline]
    fn weight(&self, u: f64) -> f64 {
        2.0 * (1.0 + u)
    }

    #[inline]
    fn both(&self, u: f64) -> (f64, f64) {
        (2.0 * (1.0 + u), 2.0)
    }

    #[inline]
    fn dual(&self, _: f64, w: f64) -> f64 {
        w * (0.25 * w - 1.0)
    }
}

/// The balanced loss of any φ.
#[derive(Debug)]
pub(crate) struct PhiPsi<'a, P: Permissible>(pub(crate) &'a P);

impl<P: Permissible> Psi for PhiPsi<'_, P> {
    #[inline]
    fn risk(&self, u: f64) -> f64 {
        self.0.excess(u)
    }

    #[inline]
    fn weight(&self, u: f64) -> f64 {
        self.0.transfer(u)
    }

    #[inline]
    fn both(&self, u: f64) -> (f64, f64) {
        (self.0.transfer(u), self.0.conjugate_curvature(u))
    }

    #[inline]
    fn dual(&self, _: f64, w: f64) -> f64 {
        -self.0.impurity(w)
    }
}

/// The logistic loss: weight and curvature from one exponential; all three values from that and one logarithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntropyPsi;

impl Psi for EntropyPsi {
    const LOGISTIC: bool = true;

    #[inline]
    fn all(&self, u: f64) -> (f64, f64, f64) {
        let e = Real::exp(-u.abs());
        let log = Real::ln_1p(e);
        // −ln of the likelier side is `log`, of the other |u| more.
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        let dual = -(large * log + small * (u.abs() + log));
        if u < 0.0 { (log, small, dual) } else { (u + log, large, dual) }
    }

    #[inline]
    fn risk(&self, u: f64) -> f64 {
        Entropy.excess(u)
    }

    #[inline]
    fn weight(&self, u: f64) -> f64 {
        Entropy.transfer(u)
    }

    #[inline]
    fn both(&self, u: f64) -> (f64, f64) {
        let e = Real::exp(-u.abs());
        let small = e / (1.0 + e);
        (if u < 0.0 { small } else { 1.0 - small }, small / (1.0 + e))
    }

    #[inline]
    fn dual(&self, _: f64, w: f64) -> f64 {
        -Entropy.impurity(w)
    }
}

/// Matsushita's loss with scale c: everything from one square root. Beyond 1e150, where c² + u² may overflow, the slower form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MuPsi {
    phi: Mu,
    c: f64,
}

impl MuPsi {
    /// √(c² + u²) − |u|, as c²/(√(c² + u²) + |u|), and the root.
    #[inline]
    fn roots(self, u: f64) -> (f64, f64) {
        let h = u.abs();
        let s = if h < 1e150 { (self.c * self.c + h * h).sqrt() } else { Real::hypot(self.c, h) };
        (self.c * (self.c / (s + h)), s)
    }
}

impl Psi for MuPsi {
    #[inline]
    fn risk(&self, u: f64) -> f64 {
        let (small, _) = self.roots(u);
        0.5 * small + if u > 0.0 { u } else { 0.0 }
    }

    #[inline]
    fn weight(&self, u: f64) -> f64 {
        let (small, s) = self.roots(u);
        let tail = 0.5 * small / s;
        if u < 0.0 { tail } else { 1.0 - tail }
    }

    #[inline]
    fn both(&self, u: f64) -> (f64, f64) {
        let (small, s) = self.roots(u);
        let tail = 0.5 * small / s;
        let ratio = self.c / s;
        (if u < 0.0 { tail } else { 1.0 - tail }, 0.5 * ratio * ratio / s)
    }

    #[inline]
    fn dual(&self, _: f64, w: f64) -> f64 {
        -self.phi.impurity(w)
    }
}

/// A user's own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CustomPsi<'a>(pub(crate) &'a Custom);

impl Psi for CustomPsi<'_> {
    fn risk(&self, u: f64) -> f64 {
        self.0.value(-u, 1.0)
    }

    fn weight(&self, u: f64) -> f64 {
        -self.0.slope(-u, 1.0)
    }

    fn both(&self, u: f64) -> (f64, f64) {
        (self.weight(u), self.0.curvature(-u, 1.0))
    }

    fn dual(&self, u: f64, w: f64) -> f64 {
        w * u - self.risk(u)
    }
}

/// Runs `$body` with `$psi` bound to the concrete loss: one dispatch per pass over the examples.
macro_rules! with_psi {
    ($surrogate:expr, $psi:ident => $body:expr) => {
        match &$surrogate.form {
            $crate::boost::surrogate::Form::Exponential => {
                let $psi = $crate::boost::surrogate::ExpPsi;
                $body
            }
            $crate::boost::surrogate::Form::Squared => {
                let $psi = $crate::boost::surrogate::SquarePsi;
                $body
            }
            $crate::boost::surrogate::Form::Gini { .. } => {
                let $psi = $crate::boost::surrogate::PhiPsi(&$crate::loss::permissible::Gini);
                $body
            }
            $crate::boost::surrogate::Form::Entropy => {
                let $psi = $crate::boost::surrogate::EntropyPsi;
                $body
            }
            $crate::boost::surrogate::Form::Mu(mu) => {
                let $psi = $crate::boost::surrogate::MuPsi::new(*mu);
                $body
            }
            $crate::boost::surrogate::Form::Nu(nu) => {
                let $psi = $crate::boost::surrogate::PhiPsi(nu);
                $body
            }
            $crate::boost::surrogate::Form::Other(phi) => {
                let $psi = $crate::boost::surrogate::PhiPsi(phi);
                $body
            }
            $crate::boost::surrogate::Form::Custom(custom) => {
                let $psi = $crate::boost::surrogate::CustomPsi(custom.as_ref());
                $body
            }
        }
    };
}
pub(crate) use with_psi;

impl MuPsi {
    pub(crate) fn new(phi: Mu) -> Self {
        Self { phi, c: 1.0 - phi.mu() }
    }
}

/// How a loss is computed.
#[derive(Debug, Clone)]
pub(crate) enum Form {
    Exponential,
    Squared,
    Gini { renorm: bool },
    Entropy,
    Mu(Mu),
    Nu(Nu),
    Other(AnyPermissible),
    Custom(Arc<Custom>),
}

/// A convex loss of the margin, ready for boosting.
///
/// ```
/// use geowalk::boost::Surrogate;
/// let loss = Surrogate::parse("matsushita")?;
/// assert_eq!((loss.weight(0.0), loss.normalised(0.0), loss.normalised(0.75)), (0.5, 1.0, 0.5));
/// assert_eq!((loss.curvature_floor(), loss.scale()), (2.0, 0.5));
/// let error = Surrogate::parse("hinge").unwrap_err();
/// assert!(error.to_string().contains("strict convexity"), "{error}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Surrogate {
    pub(crate) form: Form,
    loss: AnyLoss,
}

impl Surrogate {
    /// A loss by its name: `exponential`, `squared`, `logistic`, `renorm`, or one of the balanced losses `gini`, `matsushita`, `entropy`, `mu(…)`,
    /// `nu(…)`, `zeta(…)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        match spec.name() {
            "renorm" => Ok(Self::renorm()),
            name if loss::entries().all(|entry| entry.name != name) => {
                let balanced = permissible::entries().map(|entry| entry.name);
                let own = ["exponential", "squared", "logistic", "renorm"];
                Err(spec::unknown("loss to be boosted with", name, own.into_iter().chain(balanced)))
            }
            _ => Self::new(AnyLoss::parse(text)?),
        }
    }

    /// φ_B with the paper's renormalisation of the leverages.
    pub fn renorm() -> Self {
        let loss = AnyLoss::Balanced(Balanced::new(AnyPermissible::Gini(Gini)));
        Self { form: Form::Gini { renorm: true }, loss }
    }

    /// Any loss that is a strictly decreasing convex function of the margin up to its minimum; others are refused.
    pub fn new(loss: AnyLoss) -> Result<Self, ConfigError> {
        let form = match &loss {
            AnyLoss::Exponential(_) => Form::Exponential,
            AnyLoss::Squared(_) => Form::Squared,
            AnyLoss::Logistic(_) => Form::Entropy,
            AnyLoss::Balanced(balanced) => match balanced.phi() {
                AnyPermissible::Gini(_) => Form::Gini { renorm: false },
                AnyPermissible::Entropy(_) => Form::Entropy,
                AnyPermissible::Matsushita(_) => Form::Mu(Mu::new(0.0)?),
                AnyPermissible::Mu(mu) => Form::Mu(*mu),
                AnyPermissible::Nu(nu) => Form::Nu(*nu),
                other => Form::Other(other.clone()),
            },
            AnyLoss::Custom(custom) if custom.facts().margin && custom.facts().smooth.is_some() => {
                Form::Custom(Arc::new(custom.clone()))
            }
            other => return Err(refusal(other).into()),
        };
        let found = Self { form, loss };
        let weight = found.weight(0.0);
        if weight > 0.0 && found.scale() > 0.0 {
            return Ok(found);
        }
        Err(ConfigError::Refused(Refusal {
            condition: "a loss that falls at margin 0",
            at: 0.0,
            found: -weight,
            needed: "a slope < 0 and a value > 0 there".to_owned(),
        }))
    }

    /// The specification that rebuilds it.
    pub fn spec(&self) -> String {
        match &self.form {
            Form::Gini { renorm: true } => "renorm".to_owned(),
            _ => self.loss.spec(),
        }
    }

    /// The loss itself.
    pub fn loss(&self) -> &AnyLoss {
        &self.loss
    }

    /// Are leverages renormalised after each step?
    pub fn renormalises(&self) -> bool {
        matches!(self.form, Form::Gini { renorm: true })
    }

    /// Is this the exponential loss?
    pub fn is_exponential(&self) -> bool {
        matches!(self.form, Form::Exponential)
    }

    /// Is this the squared loss on all of ℝ?
    pub fn is_squared(&self) -> bool {
        matches!(self.form, Form::Squared)
    }

    /// Is this the logistic loss?
    pub(crate) fn is_logistic(&self) -> bool {
        matches!(self.form, Form::Entropy)
    }

    /// ψ(z).
    pub fn value(&self, z: f64) -> f64 {
        with_psi!(self, psi => psi.risk(-z))
    }

    /// ψ(0): b of a balanced loss.
    pub fn scale(&self) -> f64 {
        self.value(0.0)
    }

    /// F(z) = ψ(z)/ψ(0).
    pub fn normalised(&self, z: f64) -> f64 {
        self.value(z) / self.scale()
    }

    /// The weight −ψ′(z) of an example with margin z.
    pub fn weight(&self, z: f64) -> f64 {
        with_psi!(self, psi => psi.weight(-z))
    }

    /// ψ″(z).
    pub fn curvature(&self, z: f64) -> f64 {
        with_psi!(self, psi => psi.both(-z).1)
    }

    /// ψ̃(w(z)), the term of the dual.
    pub fn dual(&self, z: f64) -> f64 {
        with_psi!(self, psi => psi.dual(-z, psi.weight(-z)))
    }

    /// a = inf ψ̃″: how much every round must gain. 0 for the exponential loss, whose gain is relative.
    pub fn curvature_floor(&self) -> f64 {
        match &self.form {
            Form::Exponential => 0.0,
            Form::Squared => 0.5,
            Form::Gini { .. } => Gini.curvature_floor(),
            Form::Entropy => Entropy.curvature_floor(),
            Form::Mu(mu) => mu.curvature_floor(),
            Form::Nu(nu) => nu.curvature_floor(),
            Form::Other(phi) => phi.curvature_floor(),
            Form::Custom(custom) => {
                custom.facts().smooth.filter(|&s| s > 0.0).map_or(0.0, |s| 1.0 / s)
            }
        }
    }

    /// φ, if the loss is balanced.
    pub fn permissible(&self) -> Option<&AnyPermissible> {
        match &self.loss {
            AnyLoss::Balanced(balanced) => Some(balanced.phi()),
            _ => None,
        }
    }

    /// The least margin of least loss; infinite where the loss only tends to its infimum.
    pub fn minimizer(&self) -> f64 {
        match &self.form {
            Form::Squared => 1.0,
            Form::Entropy => f64::INFINITY,
            _ => self.loss.minimizer(1.0),
        }
    }

    /// How far a step may carry margins along a feature that never errs, for a set of m examples: ∇φ(1 − 1/(2m)), where the estimated probability is as
    /// good as m examples can tell. For a loss without φ, the margin whose weight is 1/m of that at 0.
    pub fn cap(&self, examples: usize) -> f64 {
        let epsilon = 0.5 / Real::max(examples as f64, 2.0);
        match &self.form {
            Form::Exponential => 0.5 * (Real::ln_1p(-epsilon) - Real::ln(epsilon)),
            Form::Squared => 1.0,
            Form::Gini { .. } => Gini.gradient(1.0 - epsilon),
            Form::Entropy => -Entropy.gradient(epsilon),
            Form::Mu(mu) => -mu.gradient(epsilon),
            Form::Nu(nu) => -nu.gradient(epsilon),
            Form::Other(phi) => -phi.gradient(epsilon),
            Form::Custom(_) => self.falls_to(2.0 * epsilon),
        }
    }

    /// The margin whose weight is this fraction of that at 0, to the nearest power of √2 above it.
    fn falls_to(&self, fraction: f64) -> f64 {
        let goal = fraction * self.weight(0.0);
        let mut z = 1.0;
        while self.weight(z) > goal && z < 1e9 {
            z *= std::f64::consts::SQRT_2;
        }
        z
    }

    /// The probability of the positive class at score H.
    pub fn probability(&self, h: f64) -> f64 {
        match &self.form {
            Form::Exponential => Entropy.transfer(2.0 * h),
            Form::Squared | Form::Gini { .. } => Gini.transfer(h),
            Form::Entropy => Entropy.transfer(h),
            Form::Mu(mu) => mu.transfer(h),
            Form::Nu(nu) => nu.transfer(h),
            Form::Other(phi) => phi.transfer(h),
            // The minimiser of ηψ(H) + (1 − η)ψ(−H) has η = ψ′(−H)/(ψ′(H) + ψ′(−H)).
            Form::Custom(_) => {
                let (with, against) = (self.weight(-h), self.weight(h));
                let sum = with + against;
                if sum > 0.0 { with / sum } else { Gini.transfer(h) }
            }
        }
    }

    /// max u where it has to be taken out, else 0.
    pub(crate) fn shift(&self, u: impl Iterator<Item = f64>) -> f64 {
        if !self.is_exponential() {
            return 0.0;
        }
        let largest = u.fold(f64::NEG_INFINITY, Real::max);
        if largest == f64::NEG_INFINITY { 0.0 } else { largest }
    }

    /// w(u) of every example into `w`, divided by eˢʰⁱᶠᵗ where the loss is exponential; the shift.
    pub(crate) fn weights(&self, u: &[f64], w: &mut [f64]) -> f64 {
        let shift = self.shift(u.iter().copied());
        with_psi!(self, psi => for (w, &u) in w.iter_mut().zip(u) {
            *w = psi.weight(u - shift);
        });
        shift
    }

    /// Σ c ψ(−u).
    pub(crate) fn risk(&self, u: &[f64], c: &[f64]) -> f64 {
        let shift = self.shift(u.iter().copied());
        let sum: f64 = with_psi!(self, psi => {
            u.iter().zip(c).map(|(&u, &c)| c * psi.risk(u - shift)).sum()
        });
        if shift == 0.0 { sum } else { Real::exp(shift + Real::ln(sum)) }
    }
}

fn refusal(loss: &AnyLoss) -> Refusal {
    let facts = loss.facts();
    let (condition, needed) = if facts.labels != Allowed::Sign && !facts.margin {
        ("a loss of the margin", "a function of y·z")
    } else {
        ("strict convexity", "a smooth loss")
    };
    Refusal {
        condition,
        at: 0.0,
        found: loss.curvature(0.0, 1.0),
        needed: format!(
            "{needed} instead of '{}': exponential, squared, logistic, gini, matsushita, entropy, mu, nu or zeta",
            loss.spec()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const ALL: [&str; 9] = [
        "exponential",
        "squared",
        "gini",
        "matsushita",
        "entropy",
        "mu(mu=0.3)",
        "nu(nu=0.25)",
        "zeta(zeta=-4)",
        "logistic",
    ];

    #[test]
    fn the_weight_is_minus_the_slope_of_the_loss() {
        for name in ALL {
            let loss = Surrogate::parse(name).unwrap();
            for z in [-3.0, -0.7, -0.2, 0.0, 0.3, 0.8, 2.5] {
                let h = 1e-6;
                let difference = (loss.value(z - h) - loss.value(z + h)) / (2.0 * h);
                assert!((loss.weight(z) - difference).abs() < 1e-8, "{name} {z}");
                let difference = (loss.weight(z - h) - loss.weight(z + h)) / (2.0 * h);
                assert!((loss.curvature(z) - difference).abs() < 1e-7, "{name} {z}");
                // Fenchel–Young: ψ(z) + ψ̃(w) + wz = 0 at w = w(z).
                let w = loss.weight(z);
                let young = loss.value(z) + loss.dual(z) + w * z;
                assert!(young.abs() < 1e-14 * (1.0 + loss.value(z)), "{name} {z} {young}");
                assert!(loss.value(z) >= 0.0);
            }
            assert_eq!(loss.normalised(0.0), 1.0);
        }
    }

    #[test]
    fn the_quick_forms_are_those_of_phi() {
        for name in ["matsushita", "mu(mu=0.7)", "entropy", "gini"] {
            let loss = Surrogate::parse(name).unwrap();
            let phi = AnyPermissible::parse(name).unwrap();
            for z in [-1e160, -1e8, -30.0, -0.9, -1e-9, 0.0, 0.4, 5.0, 1e3, 1e8, 1e160] {
                let near = |a: f64, b: f64| (a - b).abs() <= 4e-16 * b.abs();
                assert!(near(loss.value(z), phi.raw(z)), "{name} {z}");
                assert!(near(loss.weight(z), phi.weight(z)), "{name} {z}");
                assert!(near(loss.curvature(z), phi.conjugate_curvature(-z)), "{name} {z}");
            }
        }
    }

    #[test]
    fn probabilities_and_caps() {
        let q = |name: &str| Surrogate::parse(name).unwrap();
        assert!((q("exponential").probability(0.5) - Entropy.transfer(1.0)).abs() < 1e-16);
        assert_eq!((q("squared").probability(0.5), q("squared").probability(7.0)), (0.75, 1.0));
        for name in ["matsushita", "entropy", "nu", "exponential"] {
            let cap = q(name).cap(50);
            assert!((q(name).probability(cap) - 0.99).abs() < 1e-12, "{name} {cap}");
        }
        let range = crate::loss::doctor::Range::new(-50.0, 50.0, Allowed::Sign).unwrap();
        let custom = Custom::margin(
            Arc::new(|z| Real::ln_1p(Real::exp(-z))),
            Arc::new(|z| -1.0 / (1.0 + Real::exp(z))),
            None,
            range,
        );
        let custom = Surrogate::new(AnyLoss::Custom(custom.unwrap())).unwrap();
        assert!((custom.probability(0.7) - Entropy.transfer(0.7)).abs() < 1e-15);
        assert!(custom.weight(custom.cap(50)) <= 0.01);
        assert!((custom.curvature_floor() - 4.0).abs() < 1e-6);
    }

    #[test]
    fn refuses_what_cannot_be_boosted() {
        for name in ["hinge", "absolute", "huber", "winnow-hinge", "invariant"] {
            let error = Surrogate::parse(name).unwrap_err().to_string();
            assert!(error.contains("matsushita"), "{error}");
        }
        assert_eq!(Surrogate::parse("renorm").unwrap().spec(), "renorm");
        // A name that is none is answered with those that can be, and with no others.
        let error = Surrogate::parse("exponentiel").unwrap_err().to_string();
        assert!(
            error.contains("did you mean 'exponential'?") && error.contains("renorm"),
            "{error}"
        );
        assert!(!error.contains("hinge") && !error.contains("huber"), "{error}");
    }
}

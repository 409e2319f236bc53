//! # Permissible functions

use geowalk::error::Allowed;
use geowalk::loss::permissible::{self as core, AnyPermissible, Permissible as _};
use geowalk::loss::{AnyLoss, Balanced};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Numbers, each, hash, pairs, within};
use crate::error::config;
use crate::loss::{Loss, specification};

/// A permissible function φ on [0, 1]: strictly convex, symmetric, not positive. It is the signature of a balanced convex loss.
///
///     a = −φ(0), b = −φ(½) − a
///     surrogate F(z) = (φ*(−z) − a)/b, F(0) = 1
///     probability of the positive class = ∇φ⁻¹(h)
///     impurity of a leaf = −φ(p) − a
///
/// The names are gini, matsushita, entropy, mu(mu), nu(nu) and zeta(zeta); parameters go by keyword. Numbers and
/// arrays are both accepted.
///
/// >>> from geowalk.losses import Permissible
/// >>> phi = Permissible('matsushita')
/// >>> phi.transfer(0.75), phi.surrogate(0.75)
/// (0.8, 0.5)
/// >>> Permissible('mu', mu=0.25)
/// mu(mu=0.25)
///
/// Reference: Nock and Nielsen 2009, definitions 6 and 7.
#[pyclass(frozen, module = "geowalk.losses")]
pub(crate) struct Permissible {
    phi: AnyPermissible,
}

const PROBABILITY: Allowed = Allowed::Closed(0.0, 1.0);

impl Permissible {
    fn of_probability<'py>(
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        f: impl Fn(f64) -> f64 + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let x = Numbers::new("the probability", x)?;
        within(&x, PROBABILITY)?;
        each(py, &x, f)
    }

    fn of_number<'py>(
        py: Python<'py>,
        what: &'static str,
        x: &Bound<'py, PyAny>,
        f: impl Fn(f64) -> f64 + Sync,
    ) -> PyResult<Bound<'py, PyAny>> {
        let x = Numbers::new(what, x)?;
        within(&x, Allowed::Finite)?;
        each(py, &x, f)
    }
}

#[pymethods]
impl Permissible {
    #[new]
    #[pyo3(signature = (name, **parameters))]
    fn new(name: &str, parameters: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let spec = specification(name, parameters)?;
        Ok(Self { phi: AnyPermissible::parse(&spec).map_err(config)? })
    }

    /// φ(x) ≤ 0 of a probability x.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').phi([0.0, 0.5, 0.75])
    /// array([-0.    , -0.25  , -0.1875])
    fn phi<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::of_probability(py, x, |x| self.phi.phi(x))
    }

    /// ∇φ(x); at 0 and 1 the limits, which may be infinite.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('entropy').gradient([0.0, 1.0])
    /// array([-inf,  inf])
    fn gradient<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::of_probability(py, x, |x| self.phi.gradient(x))
    }

    /// φ″(x); at 0 and 1 the limits.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').curvature(0.3)
    /// 2.0
    fn curvature<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_probability(py, x, |x| self.phi.curvature(x))
    }

    /// −φ(x) − a ≥ 0, without cancellation: 0 at 0 and 1, b at ½.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').impurity([0.0, 0.5])
    /// array([0.  , 0.25])
    fn impurity<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::of_probability(py, x, |x| self.phi.impurity(x))
    }

    /// The probability ∇φ⁻¹(h) of the positive class, for a score h; saturates at 0 and 1.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').transfer([-2.0, 0.0, 0.5])
    /// array([0.  , 0.5 , 0.75])
    fn transfer<'py>(&self, py: Python<'py>, h: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::of_number(py, "the score", h, |h| self.phi.transfer(h))
    }

    /// The convex conjugate φ*(h) = sup over p in [0, 1] of hp − φ(p).
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('matsushita').conjugate(0.0)
    /// 0.5
    fn conjugate<'py>(
        &self,
        py: Python<'py>,
        h: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_number(py, "the score", h, |h| self.phi.conjugate(h))
    }

    /// The balanced convex loss F(z) = (φ*(−z) − a)/b of the edge z, with F(0) = 1.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('matsushita').surrogate([0.0, 0.75])
    /// array([1. , 0.5])
    ///
    /// Reference: Nock and Nielsen 2009, eq. (30).
    fn surrogate<'py>(
        &self,
        py: Python<'py>,
        z: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Self::of_number(py, "the edge", z, |z| self.phi.surrogate(z))
    }

    /// The weight ∇φ⁻¹(−z) in [0, 1] of an example with edge z in boosting; ½ at 0.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').weight([0.0, 1.0, -1.0])
    /// array([0.5, 0. , 1. ])
    fn weight<'py>(&self, py: Python<'py>, z: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Self::of_number(py, "the edge", z, |z| self.phi.weight(z))
    }

    /// The margin 2∇φ⁻¹(yh) − 1 in [−1, 1] of a score h for a label y = ±1.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').margin(0.5, [1.0, -1.0])
    /// array([ 0.5, -0.5])
    ///
    /// Reference: Nock and Nielsen 2009, eq. (42), (43).
    fn margin<'py>(
        &self,
        py: Python<'py>,
        h: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (h, y) = (Numbers::new("the score", h)?, Numbers::new("the label", y)?);
        within(&h, Allowed::Finite)?;
        within(&y, Allowed::Sign)?;
        pairs(py, &h, &y, |h, y| self.phi.margin(h, y))
    }

    /// The Legendre dual u ◇ p = ∇φ⁻¹(∇φ(p) + u) of a probability p.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').legendre_dual(0.5, 0.5)
    /// 0.75
    ///
    /// Reference: Nock and Nielsen 2009, eq. (49).
    fn legendre_dual<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        p: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (u, p) = (Numbers::new("the dual number", u)?, Numbers::new("the probability", p)?);
        within(&u, Allowed::Finite)?;
        within(&p, PROBABILITY)?;
        pairs(py, &u, &p, |u, p| self.phi.legendre_dual(u, p))
    }

    /// The balanced convex loss ℓ(z, y) = φ*(−yz) − a = b·F(yz), as geowalk.losses.get gives it.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('matsushita').loss().value(0.75, -1.0)
    /// 1.0
    fn loss(&self) -> Loss {
        Loss::new(AnyLoss::Balanced(Balanced::new(self.phi.clone())))
    }

    /// a = −φ(0).
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('mu', mu=0.25).a
    /// 0.25
    #[getter]
    fn a(&self) -> f64 {
        self.phi.a()
    }

    /// b = −φ(½) − a.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').b
    /// 0.25
    #[getter]
    fn b(&self) -> f64 {
        self.phi.b()
    }

    /// The least φ″, on which the rate of boosting depends.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('matsushita').curvature_floor
    /// 2.0
    #[getter]
    fn curvature_floor(&self) -> f64 {
        self.phi.curvature_floor()
    }

    /// The infimum and supremum of ∇φ; beyond them probabilities are saturated.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('gini').image
    /// (-1.0, 1.0)
    #[getter]
    fn image(&self) -> (f64, f64) {
        self.phi.image()
    }

    /// The specification, from which Permissible makes the function again.
    ///
    /// >>> from geowalk.losses import Permissible
    /// >>> Permissible('nu').spec
    /// 'nu(nu=0.25)'
    #[getter]
    fn spec(&self) -> String {
        self.phi.spec()
    }

    fn __repr__(&self) -> String {
        self.phi.spec()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.phi == other.phi
    }

    fn __hash__(&self) -> u64 {
        hash(&self.phi.spec())
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (String,)) {
        (this.get_type().into_any(), (this.get().phi.spec(),))
    }
}

/// The names of all permissible functions; see geowalk.losses.permissible_names.
#[pyfunction]
pub(crate) fn permissible_names() -> Vec<&'static str> {
    core::entries().map(|entry| entry.name).collect()
}

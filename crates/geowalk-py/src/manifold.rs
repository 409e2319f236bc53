//! # Manifolds
//! One base class with the verbs, one class per manifold with its constructor and documentation. Arguments are checked as
//! [`Checked`](geowalk::geometry::Checked) does, but with one scratch memory for a whole batch.

mod classes;

pub(crate) use classes::{
    BuresWasserstein, Euclidean, Grassmann, Hyperboloid, Oblique, PoincareBall, PositiveOrthant,
    Product, Rotations, Simplex, Spd, SpdLogEuclidean, Sphere, Stiefel, Torus,
};

use std::sync::OnceLock;

use geowalk::error::{Allowed, DomainError};
use geowalk::geometry::manifolds::{self, AnyManifold};
use geowalk::geometry::{Event, ExpLog, Manifold as _, Work, generators};
use geowalk::laws::Sampler;
use geowalk::spec::{Entry, Spec as Specification, unknown};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyClass, PyClassInitializer};

use crate::convert::{Batch, Numbers, Size, array, finite, hash, zeros};
use crate::error::{Fault, config};
use crate::{generator, own};

/// A Riemannian manifold: points, tangent vectors, a metric, and walks along geodesics.
///
/// A point is a float64 array of shape (n,), of manifolds of matrices (n, n) or (n, p). An array with more axes in front
/// is a batch, answered row by row; a single point goes with every row of a batch. Points and tangent vectors are checked, and a
/// `geowalk.DomainError` says by how much a condition fails. Batches run without the interpreter's lock.
///
/// This is the base class of the manifolds in `geowalk.geometry`; `geowalk.geometry.get` makes one by name.
///
/// A class of your own needs three methods: `origin()`, a point; `exp(p, v)`; and `gradient(p, egrad)`, the Riemannian
/// gradient of Euclidean ones. Metric, projection, logarithm and distance are derived from them, slowly; `inner(p, u, v)`,
/// `log(p, q)`, `transport(p, q, v)`, `check(p)` (which raises), `injectivity(p)` and the attribute `curvature`, (least,
/// greatest), are used where you define them. `minimize`, `OnLine`, `OnlineClassifier(walk=...)`, `OnlineRegressor` and
/// `geowalk.laws.check` take its objects.
///
/// >>> import numpy as np
/// >>> from geowalk.geometry import Manifold, Sphere
/// >>> isinstance(Sphere(3), Manifold)
/// True
/// >>> class HalfLine(Manifold):  # w > 0 with the metric (dw/w)**2
/// ...     def origin(self): return [1.0]
/// ...     def exp(self, p, v): return p * np.exp(v / p)
/// ...     def gradient(self, p, egrad): return p**2 * egrad
/// >>> round(HalfLine().distance([1.0], [np.e]), 9)
/// 1.0
///
/// Reference: Boumal, An Introduction to Optimization on Smooth Manifolds, 2023.
#[pyclass(frozen, subclass, module = "geowalk.geometry")]
pub(crate) struct Manifold {
    /// Of a class of the user's: made when it is first needed.
    known: OnceLock<AnyManifold>,
}

impl Manifold {
    pub(crate) fn of(manifold: AnyManifold) -> Self {
        Self { known: OnceLock::from(manifold) }
    }

    /// The manifold of the library, or the one that the methods of a subclass make.
    pub(crate) fn core<'a>(this: &'a Bound<'_, Self>) -> PyResult<&'a AnyManifold> {
        let known = &this.get().known;
        if let Some(manifold) = known.get() {
            return Ok(manifold);
        }
        let made = own::manifold(this.as_any())?;
        Ok(known.get_or_init(|| made))
    }

    /// An object of a class of its own.
    fn with<C>(self, class: C) -> PyClassInitializer<C>
    where
        C: PyClass<BaseType = Self>,
    {
        PyClassInitializer::from(self).add_subclass(class)
    }
}

/// Checks points and tangent vectors at the first of them.
fn tangent(m: &AnyManifold, p: &[f64], vectors: &[&[f64]]) -> Result<(), DomainError> {
    m.check(p)?;
    vectors.iter().try_for_each(|v| m.check_tangent(p, v))
}

/// Walks that ended elsewhere than the formula says, counted over a batch.
#[derive(Default)]
struct Ends {
    folded: usize,
    clamped: usize,
}

impl Ends {
    fn see(&mut self, event: Event) {
        match event {
            Event::Folded { .. } => self.folded += 1,
            Event::Clamped { .. } => self.clamped += 1,
            _ => {}
        }
    }

    /// A warning, if there is something to warn of.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let text = match (self.folded, self.clamped) {
            (0, 0) => return Ok(()),
            (folded, 0) => format!(
                "{folded} walk(s) left the manifold and were folded back at its boundary; use shorter steps"
            ),
            (_, clamped) => format!(
                "{clamped} walk(s) ended beyond the numbers and were put at the last one; use shorter steps"
            ),
        };
        let text = std::ffi::CString::new(text).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), &text, 1)
    }
}

/// v ← the gradient at `p`, all checked.
fn gradient(
    m: &AnyManifold,
    p: &[f64],
    egrad: &[f64],
    v: &mut [f64],
    work: &mut Work<f64>,
) -> Result<(), DomainError> {
    m.check(p)?;
    finite("the Euclidean gradient", egrad)?;
    m.gradient(p, egrad, v, work);
    finite("the gradient", v)
}

/// The numbers of a point.
fn ambient(m: &AnyManifold) -> usize {
    geowalk::geometry::Manifold::<f64>::ambient(m)
}

#[pymethods]
impl Manifold {
    /// Of a subclass: whatever its `__init__` takes.
    #[new]
    #[pyo3(signature = (*_args, **_kwargs))]
    fn new(_args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> Self {
        Self { known: OnceLock::new() }
    }

    /// The walk from p along the tangent vector v, for unit time: exp_p(v).
    ///
    /// A walk that leaves the Fisher simplex is folded back at the boundary, one that leaves the numbers is put at
    /// the last that can be represented; both with a warning.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import PositiveOrthant
    /// >>> bool(np.isclose(PositiveOrthant(1).exp([2.0], [2.0])[0], 2 * np.e))
    /// True
    fn exp<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let (p, v) = (Numbers::new("the point", p)?, Numbers::new("the tangent vector", v)?);
        let mut work = Work::new();
        let mut ends = Ends::default();
        let batch = Batch::new(py, [p.points(&shape)?, v.points(&shape)?])?;
        let found = batch.points(py, &shape, |[p, v], q| {
            tangent(m, p, &[v])?;
            q.copy_from_slice(p);
            ends.see(m.exp(q, v, 1.0, &mut work)?.event);
            Ok(())
        })?;
        ends.warn(py)?;
        Ok(found)
    }

    /// A walk from p along the tangent vector v for unit time, as optimizers make it: exp_p(v) on all manifolds here.
    ///
    /// >>> from geowalk.geometry import Euclidean
    /// >>> Euclidean(2).retract([1.0, 1.0], [0.0, 2.0])
    /// array([1., 3.])
    fn retract<'py>(
        this: &Bound<'py, Self>,
        p: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        this.call_method1("exp", (p, v))
    }

    /// Random points: uniform where the manifold is compact, else a walk from the origin along a normal tangent vector.
    ///
    /// The same seed gives the same points. With `size`, an integer or a tuple, a batch of that shape.
    ///
    /// >>> from geowalk.geometry import Stiefel
    /// >>> m = Stiefel(5, 2)
    /// >>> m.random_point(seed=1, size=3).shape
    /// (3, 5, 2)
    /// >>> m.check(m.random_point(seed=1))
    #[pyo3(signature = (seed=0, size=None))]
    fn random_point<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        seed: u64,
        size: Option<Lead>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let lead = size.map_or(Vec::new(), Lead::axes);
        let count = lead.iter().try_fold(1_usize, |all, axis| all.checked_mul(*axis));
        let m = Self::core(this)?;
        let n = ambient(m);
        let mut out = zeros(count.unwrap_or(usize::MAX).saturating_mul(n))?;
        let (mut sampler, mut work) = (Sampler::new(seed), Work::new());
        for p in out.chunks_exact_mut(n.max(1)) {
            m.random(&mut || sampler.normal(), p, &mut work);
        }
        let shape: Vec<usize> = lead.into_iter().chain(m.shape()).collect();
        array(py, out, &shape)
    }

    /// A random tangent vector at p of length 1, or one for each point of a batch.
    ///
    /// >>> from geowalk.geometry import Sphere
    /// >>> m = Sphere(3)
    /// >>> round(m.norm([1.0, 0.0, 0.0], m.random_tangent([1.0, 0.0, 0.0], seed=4)), 12)
    /// 1.0
    #[pyo3(signature = (p, seed=0))]
    fn random_tangent<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let p = Numbers::new("the point", p)?;
        let mut sampler = Sampler::new(seed);
        Batch::new(py, [p.points(&shape)?])?.points(py, &shape, |[p], v| {
            m.check(p)?;
            v.copy_from_slice(&sampler.tangent(m, p, 1.0));
            Ok(())
        })
    }

    /// The distances of all points of one batch from all of another, or from each other.
    ///
    /// >>> from geowalk.geometry import Euclidean
    /// >>> Euclidean(1).pairwise([[0.0], [3.0]], [[1.0], [5.0]])
    /// array([[1., 5.],
    ///        [2., 2.]])
    #[pyo3(signature = (p, q=None))]
    fn pairwise<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        q: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let first = Numbers::new("the points", p)?;
        let second = q.map(|q| Numbers::new("the second points", q)).transpose()?;
        let a = first.points(&shape)?;
        let b = second.as_ref().map(|q| q.points(&shape)).transpose()?;
        let (mut work, n) = (Work::new(), ambient(m).max(1));
        for rows in [Some(a), b].into_iter().flatten() {
            Batch::new(py, [rows])?.check(py, |[p]| m.check(p))?;
        }
        let (rows, columns) = (a.data().len() / n, b.unwrap_or(a).data().len() / n);
        let mut out = zeros(rows.saturating_mul(columns))?;
        py.detach(|| {
            for (i, p) in a.data().chunks_exact(n).enumerate() {
                for (j, q) in b.unwrap_or(a).data().chunks_exact(n).enumerate() {
                    // Both halves of a table of one batch are the same.
                    out[i * columns + j] = if b.is_none() && j <= i {
                        if i == j { 0.0 } else { out[j * columns + i] }
                    } else {
                        m.distance(p, q, &mut work)
                    };
                }
            }
        });
        let lead = a.lead().iter().chain(b.unwrap_or(a).lead()).copied().collect::<Vec<_>>();
        array(py, out, &lead)
    }

    /// The tangent vector at p with exp_p(log_p(q)) = q, along the shortest geodesic.
    ///
    /// An error where there is no unique one.
    ///
    /// >>> from geowalk.geometry import Euclidean
    /// >>> Euclidean(2).log([1.0, 1.0], [3.0, 0.0])
    /// array([ 2., -1.])
    fn log<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let (p, q) = (Numbers::new("the point", p)?, Numbers::new("the second point", q)?);
        let mut work = Work::new();
        Batch::new(py, [p.points(&shape)?, q.points(&shape)?])?.points(py, &shape, |[p, q], v| {
            m.check(p)?;
            m.check(q)?;
            m.log(p, q, v, &mut work)
        })
    }

    /// The length of the shortest geodesic from p to q.
    ///
    /// >>> from geowalk.geometry import Euclidean
    /// >>> Euclidean(2).distance([0.0, 0.0], [3.0, 4.0])
    /// 5.0
    /// >>> Euclidean(2).distance([0.0, 0.0], [[3.0, 4.0], [0.0, 1.0]])
    /// array([5., 1.])
    fn distance<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let (p, q) = (Numbers::new("the point", p)?, Numbers::new("the second point", q)?);
        let mut work = Work::new();
        Batch::new(py, [p.points(&shape)?, q.points(&shape)?])?.scalars(py, |[p, q]| {
            m.check(p)?;
            m.check(q)?;
            Ok(m.distance(p, q, &mut work))
        })
    }

    /// The inner product of two tangent vectors at p.
    ///
    /// >>> from geowalk.geometry import PositiveOrthant
    /// >>> PositiveOrthant(2).inner([1.0, 2.0], [1.0, 1.0], [1.0, 4.0])
    /// 2.0
    fn inner<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        u: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let p = Numbers::new("the point", p)?;
        let u = Numbers::new("the tangent vector", u)?;
        let v = Numbers::new("the second tangent vector", v)?;
        let mut work = Work::new();
        let batch = Batch::new(py, [p.points(&shape)?, u.points(&shape)?, v.points(&shape)?])?;
        batch.scalars(py, |[p, u, v]| {
            tangent(m, p, &[u, v])?;
            Ok(m.inner(p, u, v, &mut work))
        })
    }

    /// The length of a tangent vector at p.
    ///
    /// >>> from geowalk.geometry import PositiveOrthant
    /// >>> PositiveOrthant(2).norm([1.0, 2.0], [3.0, 8.0])
    /// 5.0
    fn norm<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let (p, v) = (Numbers::new("the point", p)?, Numbers::new("the tangent vector", v)?);
        let mut work = Work::new();
        Batch::new(py, [p.points(&shape)?, v.points(&shape)?])?.scalars(py, |[p, v]| {
            tangent(m, p, &[v])?;
            Ok(m.norm(p, v, &mut work))
        })
    }

    /// The Riemannian gradient at p of a function whose Euclidean gradient (vector of partial derivatives) is egrad.
    ///
    /// It is the tangent vector v with inner(p, v, u) = sum(egrad * u) for every tangent vector u.
    ///
    /// >>> from geowalk.geometry import Simplex
    /// >>> Simplex(2).gradient([0.5, 0.5], [1.0, 0.0])
    /// array([ 0.25, -0.25])
    fn gradient<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        egrad: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let p = Numbers::new("the point", p)?;
        let egrad = Numbers::new("the Euclidean gradient", egrad)?;
        let mut work = Work::new();
        Batch::new(py, [p.points(&shape)?, egrad.points(&shape)?])?.points(
            py,
            &shape,
            |[p, egrad], v| gradient(m, p, egrad, v, &mut work),
        )
    }

    /// The parallel transport of the tangent vector v from p to q, along the shortest geodesic.
    ///
    /// >>> from geowalk.geometry import PositiveOrthant
    /// >>> PositiveOrthant(2).transport([1.0, 2.0], [3.0, 2.0], [1.0, 1.0])
    /// array([3., 1.])
    fn transport<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let (p, q) = (Numbers::new("the point", p)?, Numbers::new("the second point", q)?);
        let v = Numbers::new("the tangent vector", v)?;
        let mut work = Work::new();
        let batch = Batch::new(py, [p.points(&shape)?, q.points(&shape)?, v.points(&shape)?])?;
        batch.points(py, &shape, |[p, q, v], out| {
            tangent(m, p, &[v])?;
            m.check(q)?;
            out.copy_from_slice(v);
            m.transport(p, q, out, &mut work)
        })
    }

    /// A gradient step: exp_p(-rate * gradient(p, egrad)).
    ///
    /// >>> from geowalk.geometry import Euclidean
    /// >>> Euclidean(2).step([1.0, 1.0], [2.0, 0.0], 0.5)
    /// array([0., 1.])
    fn step<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        egrad: &Bound<'py, PyAny>,
        rate: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let p = Numbers::new("the point", p)?;
        let egrad = Numbers::new("the Euclidean gradient", egrad)?;
        let mut work = Work::new();
        let mut v = zeros(ambient(m))?;
        if !rate.is_finite() {
            let (what, allowed) = ("the rate", Allowed::Finite);
            return Err(Fault::from(DomainError::Scalar { what, value: rate, allowed }).into());
        }
        let mut ends = Ends::default();
        let batch = Batch::new(py, [p.points(&shape)?, egrad.points(&shape)?])?;
        let found = batch.points(py, &shape, |[p, egrad], q| {
            gradient(m, p, egrad, &mut v, &mut work)?;
            q.copy_from_slice(p);
            ends.see(m.retract(q, &v, -rate, &mut work)?.event);
            Ok(())
        })?;
        ends.warn(py)?;
        Ok(found)
    }

    /// The weighted Fréchet mean of a batch of points: the minimiser of the sum of weight * distance².
    ///
    /// Weights are not negative and need not sum to one. An error if the iteration does not converge; a warning if it is
    /// not known whether the mean found is the only one. With report=True the answer is (mean, report), a dictionary of
    /// `unique`, `residual` (the length of the mean of log_p(x_i), 0 at a mean), `radius` and `iterations`.
    ///
    /// >>> from geowalk.geometry import PositiveOrthant
    /// >>> PositiveOrthant(1).mean([[1.0], [4.0]])
    /// array([2.])
    ///
    /// Reference: Karcher, Riemannian center of mass and mollifier smoothing, 1977.
    #[pyo3(signature = (points, weights=None, report=false))]
    fn mean<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        report: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let points = Numbers::new("the list of points", points)?;
        let weights = weights.map(|w| Numbers::new("the list of weights", w)).transpose()?;
        let rows = points.points(&shape)?;
        let Some(count) = rows.count() else {
            let needed = "a batch of points is needed";
            return Err(crate::error::shape(py, "the list of points", points.shape(), needed));
        };
        if let Some(found) = weights.as_ref().map(Numbers::shape)
            && found != [count]
        {
            let needed = format!("one weight for each of the {count} points is needed");
            return Err(crate::error::shape(py, "the list of weights", found, &needed));
        }
        Batch::new(py, [rows])?.check(py, |[p]| m.check(p))?;
        let weights = weights.as_ref().map(Numbers::slice).transpose()?;
        let mut p = zeros(ambient(m))?;
        let found = py
            .detach(|| m.mean(rows.data(), weights, &mut p, &mut Work::new()))
            .map_err(Fault::from)?;
        let p = array(py, p, &shape)?;
        if report {
            let report = pyo3::types::PyDict::new(py);
            report.set_item("unique", found.unique)?;
            report.set_item("residual", found.residual)?;
            report.set_item("radius", found.radius)?;
            report.set_item("iterations", found.iterations)?;
            return Ok((p, report).into_pyobject(py)?.into_any());
        }
        if !found.unique {
            let text = c"the points are far apart: this mean may not be the only one; report=True says more";
            PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), text, 1)?;
        }
        Ok(p)
    }

    /// Raises geowalk.DomainError unless p is a point of the manifold (to 1e-9).
    ///
    /// >>> from geowalk.geometry import Simplex
    /// >>> Simplex(3).check([0.5, 0.25, 0.25])
    /// >>> Simplex(3).check([0.5, 0.5, 0.5])
    /// Traceback (most recent call last):
    ///     ...
    /// geowalk.DomainError: the sum of the point's coordinates is 1.5; it must be 1 within 1e-9
    fn check(this: &Bound<'_, Self>, p: &Bound<'_, PyAny>) -> PyResult<()> {
        let (m, py) = (Self::core(this)?, this.py());
        let p = Numbers::new("the point", p)?;
        Ok(Batch::new(py, [p.points(&m.shape())?])?.check(py, |[p]| m.check(p))?)
    }

    /// The tangent vector at p that an ambient vector v becomes, orthogonal to what is taken away in the metric of the
    /// ambient space (of the hyperboloid Lorentz's, so that it is not the nearest in coordinates). Without v: a point of
    /// the manifold at or near p, which takes rounding out, as that of float32.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Sphere
    /// >>> Sphere(2).project([0.0, 1.0], [3.0, 4.0])
    /// array([3., 0.])
    /// >>> Sphere(2).project(np.float32([0.6, 0.8])).round(12)
    /// array([0.60000001, 0.79999999])
    #[pyo3(signature = (p, v=None))]
    fn project<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
        v: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let shape = m.shape();
        let p = Numbers::new("the point", p)?;
        let Some(v) = v else {
            let mut work = Work::new();
            return Batch::new(py, [p.points(&shape)?])?.points(py, &shape, |[p], out| {
                out.copy_from_slice(p);
                m.nearest(out, &mut work)
            });
        };
        let v = Numbers::new("the vector", v)?;
        Batch::new(py, [p.points(&shape)?, v.points(&shape)?])?.points(py, &shape, |[p, v], out| {
            m.check(p)?;
            finite("the vector", v)?;
            out.copy_from_slice(v);
            m.project(p, out);
            finite("the projected vector", out)
        })
    }

    /// A point to start from: 0, a pole, the uniform distribution, the identity matrix.
    ///
    /// >>> from geowalk.geometry import Simplex
    /// >>> Simplex(4).origin()
    /// array([0.25, 0.25, 0.25, 0.25])
    fn origin<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let mut p = zeros(ambient(m))?;
        m.origin(&mut p);
        array(this.py(), p, &m.shape())
    }

    /// The injectivity radius at p: geodesics from p that are shorter are unique and shortest.
    ///
    /// >>> from geowalk.geometry import Sphere
    /// >>> Sphere(2).injectivity([0.0, 1.0])
    /// 3.141592653589793
    fn injectivity<'py>(
        this: &Bound<'py, Self>,
        py: Python<'py>,
        p: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let m = Self::core(this)?;
        let p = Numbers::new("the point", p)?;
        Batch::new(py, [p.points(&m.shape())?])?.scalars(py, |[p]| {
            m.check(p)?;
            Ok(m.injectivity(p))
        })
    }

    /// Bounds (least, greatest) on the sectional curvature.
    ///
    /// >>> from geowalk.geometry import Sphere
    /// >>> Sphere(3, radius=2.0).curvature
    /// (0.25, 0.25)
    #[getter]
    fn curvature(this: &Bound<'_, Self>) -> PyResult<(f64, f64)> {
        let curvature = ExpLog::<f64>::curvature(Self::core(this)?);
        Ok((curvature.min, curvature.max))
    }

    /// The dimension of the manifold.
    ///
    /// >>> from geowalk.geometry import Spd
    /// >>> Spd(3).dim
    /// 6
    #[getter]
    fn dim(this: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(geowalk::geometry::Manifold::<f64>::dim(Self::core(this)?))
    }

    /// How many numbers a point has.
    ///
    /// >>> from geowalk.geometry import Spd
    /// >>> Spd(3).ambient
    /// 9
    #[getter(ambient)]
    fn ambient_size(this: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(ambient(Self::core(this)?))
    }

    /// The n of the constructor (of a product: `ambient`).
    ///
    /// >>> from geowalk.geometry import Spd
    /// >>> Spd(3).n
    /// 3
    #[getter]
    fn n(this: &Bound<'_, Self>) -> PyResult<usize> {
        Ok(Self::core(this)?.size())
    }

    /// The specification: geowalk.geometry.get(m.spec, m.n) is m again.
    ///
    /// >>> from geowalk.geometry import Sphere
    /// >>> Sphere(3).spec
    /// 'sphere(radius=1)'
    #[getter]
    fn spec(this: &Bound<'_, Self>) -> PyResult<String> {
        Ok(Self::core(this)?.spec())
    }

    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        Ok(Self::core(this)?.spec())
    }

    /// Objects of a class of your own are equal only to themselves, unless the class says otherwise.
    fn __eq__(this: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(this.is(other) || Self::core(this)? == Self::core(other)?)
    }

    fn __hash__(this: &Bound<'_, Self>) -> PyResult<u64> {
        let m = Self::core(this)?;
        Ok(if let AnyManifold::Custom(_) = m {
            hash(&(this.as_ptr() as usize))
        } else {
            hash(&(m.spec(), m.size()))
        })
    }

    /// By specification; objects of a class of your own as the class makes them, with their attributes.
    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = this.py();
        if this.get_type().is(py.get_type::<Self>())
            || this.get_type().getattr("__module__")?.eq("geowalk.geometry")?
        {
            let m = Self::core(this)?;
            let get = py.import("geowalk.geometry")?.getattr("get")?;
            return (get, (m.spec(), m.size())).into_pyobject(py);
        }
        let make = py.import("copyreg")?.getattr("__newobj__")?;
        (make, (this.get_type(),), this.getattr("__dict__")?).into_pyobject(py)
    }
}

/// The manifold or generator that a specification names; see geowalk.geometry.get.
#[pyfunction]
pub(crate) fn geometry<'py>(py: Python<'py>, spec: &str, n: Size) -> PyResult<Bound<'py, PyAny>> {
    let parsed = Specification::parse(spec).map_err(config)?;
    let named = |entry: &Entry| entry.name == parsed.name();
    if manifolds::entries().any(named) {
        classes::object(py, AnyManifold::parse(spec, n.0).map_err(config)?)
    } else if generators::entries().any(named) {
        generator::parse(py, spec, n.0)
    } else {
        Err(config(unknown("geometry", parsed.name(), names())))
    }
}

/// The axes of a batch: one number or a tuple.
#[derive(FromPyObject)]
enum Lead {
    One(usize),
    Several(Vec<usize>),
}

impl Lead {
    fn axes(self) -> Vec<usize> {
        match self {
            Self::One(axis) => vec![axis],
            Self::Several(axes) => axes,
        }
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    manifolds::entries().chain(generators::entries()).map(|entry| entry.name)
}

/// The names of all manifolds and generators; see geowalk.geometry.names.
#[pyfunction]
pub(crate) fn geometry_names() -> Vec<&'static str> {
    names().collect()
}

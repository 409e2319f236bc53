//! One class per manifold, each with its constructor and its documentation.

use geowalk::geometry::manifolds::{self, AnyManifold};
use pyo3::PyClassInitializer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Manifold;
use crate::convert::Size;
use crate::error::config;

/// A class whose only parameter is n.
macro_rules! of_size {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, extends = Manifold, module = "geowalk.geometry")]
        pub(crate) struct $name;

        #[pymethods]
        impl $name {
            #[new]
            fn new(n: Size) -> PyResult<PyClassInitializer<Self>> {
                let manifold = manifolds::$name::new(n.0).map_err(config)?;
                Ok(Manifold::of(AnyManifold::$name(manifold)).with(Self))
            }
        }
    )*};
}

of_size! {
    /// Euclidean space: exp_p(v) = p + v, distance ‖p − q‖₂, curvature 0.
    ///
    /// >>> from geowalk.geometry import Euclidean
    /// >>> Euclidean(2).exp([1.0, 0.0], [2.0, 2.0])
    /// array([3., 2.])
    ///
    /// Reference: Krakowski, Mahony, Williamson, Warmuth 2007, section 2.
    Euclidean

    /// The probability simplex with Fisher's metric: n positive numbers that sum to 1.
    ///
    ///     ⟨u, v⟩_p = Σ uᵢvᵢ/pᵢ
    ///     distance  = 2 arccos Σ √(pᵢqᵢ)
    ///     gradient  = p(g − ⟨p, g⟩)
    ///
    /// 2√p maps it to the sphere of radius 2, geodesics to great circles. It is not complete: a walk that crosses the boundary
    /// is folded back. Zeros are accepted and stay zero. Curvature 1/4.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Simplex
    /// >>> p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    /// >>> bool(np.isclose(Simplex(2).distance(p, q), 2 * np.arccos(np.sqrt(p * q).sum())))
    /// True
    ///
    /// Reference: Krakowski, Mahony, Williamson, Warmuth 2007, example 3.
    Simplex

    /// The positive orthant with the metric of the logarithm.
    ///
    ///     ⟨u, v⟩_p = Σ uᵢvᵢ/pᵢ²
    ///     exp_p(v) = p·exp(v/p)
    ///     distance = ‖ln q − ln p‖₂
    ///
    /// Flat and complete; its gradient step is the natural exponentiated gradient, its mean the geometric mean.
    ///
    /// >>> from geowalk.geometry import PositiveOrthant
    /// >>> PositiveOrthant(2).log([1.0, 2.0], [1.0, 2.0])
    /// array([0., 0.])
    ///
    /// Reference: Krakowski, Mahony, Williamson, Warmuth 2007, example 7.
    PositiveOrthant

    /// The symmetric positive definite n×n matrices, with the affine-invariant metric.
    ///
    ///     ⟨U, V⟩_X = tr(X⁻¹UX⁻¹V)
    ///     distance = ‖ln(X^(−1/2) Y X^(−1/2))‖_F
    ///     gradient = X sym(G) X
    ///
    /// A point is an n×n array, a batch an m×n×n array. Curvature in [−1/2, 0].
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Spd
    /// >>> bool(np.isclose(Spd(2).distance(np.eye(2), np.diag([1.0, 9.0])), np.log(9.0)))
    /// True
    ///
    /// Reference: Pennec, Fillard, Ayache, A Riemannian framework for tensor computing, 2006.
    Spd

    /// The symmetric positive definite n×n matrices, with the metric of their logarithms.
    ///
    ///     distance = ‖ln X − ln Y‖_F
    ///
    /// Flat: the mean is exp of the mean of the logarithms.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import SpdLogEuclidean
    /// >>> SpdLogEuclidean(2).mean([np.eye(2), np.diag([1.0, 16.0])]).round(12)
    /// array([[1., 0.],
    ///        [0., 4.]])
    ///
    /// Reference: Arsigny, Fillard, Pennec, Ayache, Geometric means in a novel vector space structure on SPD matrices, 2007.
    SpdLogEuclidean

    /// The symmetric positive definite n×n matrices, with the metric of optimal transport.
    ///
    ///     distance² = tr X + tr Y − 2 tr (XY)^(1/2)
    ///     gradient  = 2(XG + GX)
    ///
    /// Not complete: singular matrices are at a finite distance. Curvature ≥ 0.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import BuresWasserstein
    /// >>> round(BuresWasserstein(2).distance(np.eye(2), np.diag([1.0, 9.0])), 12)
    /// 2.0
    ///
    /// Reference: Bhatia, Jain, Lim, On the Bures-Wasserstein distance between positive definite matrices, 2019.
    BuresWasserstein

    /// The rotation matrices of n rows, SO(n), with the metric of their entries.
    ///
    ///     exp_R(V) = R e^(RᵀV)
    ///     distance = ‖ln RᵀQ‖_F
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Rotations
    /// >>> quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    /// >>> bool(np.isclose(Rotations(2).distance(np.eye(2), quarter), np.pi / np.sqrt(2.0)))
    /// True
    ///
    /// Reference: Edelman, Arias, Smith, The geometry of algorithms with orthogonality constraints, 1998.
    Rotations

    /// n circles, each a pair of coordinates.
    ///
    /// >>> from geowalk.geometry import Torus
    /// >>> Torus(2).dim
    /// 2
    ///
    /// Reference: Boumal 2023, section 3.7.
    Torus
}

/// A class of n and a curvature.
macro_rules! of_curvature {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, extends = Manifold, module = "geowalk.geometry")]
        pub(crate) struct $name;

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (n, curvature=-1.0), text_signature = "(n, curvature=-1.0)")]
            fn new(n: Size, curvature: f64) -> PyResult<PyClassInitializer<Self>> {
                let manifold = manifolds::$name::with_curvature(n.0, curvature).map_err(config)?;
                Ok(Manifold::of(AnyManifold::$name(manifold)).with(Self))
            }
        }
    )*};
}

of_curvature! {
    /// Hyperbolic space, as the hyperboloid −p₀² + p₁² + … = −1, p₀ > 0 in n coordinates, time first.
    ///
    ///     ⟨u, v⟩   = −u₀v₀ + Σ uᵢvᵢ
    ///     exp_p(v) = cosh(t)p + sinh(t)v/t, t = ‖v‖
    ///     distance = arcosh(−⟨p, q⟩), computed without cancellation
    ///
    /// Dimension n − 1. Accurate far out, where the ball is not. Another curvature k has ⟨p, p⟩ = 1/k.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Hyperboloid
    /// >>> p = np.array([1.0, 0.0])
    /// >>> q = np.array([np.cosh(3.0), np.sinh(3.0)])
    /// >>> round(Hyperboloid(2).distance(p, q), 12)
    /// 3.0
    ///
    /// Reference: Nickel and Kiela 2017; Ganea, Bécigneul, Hofmann 2018.
    Hyperboloid

    /// Hyperbolic space, as the ball ‖p‖ < 1 in n coordinates.
    ///
    ///     ⟨u, v⟩_p = λ²⟨u, v⟩, λ = 2/(1 − ‖p‖²)
    ///     distance = 2 arsinh(‖p − q‖/√((1 − ‖p‖²)(1 − ‖q‖²)))
    ///
    /// Another curvature k has a ball of radius 1/√−k. The ball ends at distance 35 from its center, in float64; use `Hyperboloid` to compute far out.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import PoincareBall
    /// >>> bool(np.isclose(PoincareBall(2).distance([0.0, 0.0], [0.5, 0.0]), np.log(3.0)))
    /// True
    ///
    /// Reference: Nickel and Kiela 2017, eq. (1); Ganea, Bécigneul, Hofmann 2018, section 2.
    PoincareBall
}

/// A class of two sizes.
macro_rules! of_sizes {
    ($($(#[$doc:meta])* $name:ident($rows:ident))*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, extends = Manifold, module = "geowalk.geometry")]
        pub(crate) struct $name;

        #[pymethods]
        impl $name {
            #[new]
            fn new($rows: Size, columns: Size) -> PyResult<PyClassInitializer<Self>> {
                let manifold = manifolds::$name::new($rows.0, columns.0).map_err(config)?;
                Ok(Manifold::of(AnyManifold::$name(manifold)).with(Self))
            }
        }
    )*};
}

of_sizes! {
    /// The n×p matrices with orthonormal columns, p < n, with the canonical metric.
    ///
    ///     ⟨U, V⟩   = tr UᵀV − ½ tr UᵀX XᵀV
    ///     gradient = G − X GᵀX
    ///
    /// A point is an (n, columns) array. Curvature in [0, 5/4]; logarithms are found by iteration.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Stiefel
    /// >>> m = Stiefel(4, 2)
    /// >>> p = m.random_point(seed=1)
    /// >>> bool(np.allclose(p.T @ p, np.eye(2)))
    /// True
    ///
    /// Reference: Edelman, Arias, Smith 1998, section 2.4.
    Stiefel(n)

    /// The subspaces of dimension `columns` of n-space.
    ///
    ///     gradient = G − X XᵀG
    ///     distance = ‖θ‖, the principal angles
    ///
    /// A point is an (n, columns) array of orthonormal columns; which basis of the subspace does not matter.
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import Grassmann
    /// >>> lines = Grassmann(2, 1)
    /// >>> bool(np.isclose(lines.distance([[1.0], [0.0]], [[-0.6], [-0.8]]), np.arccos(0.6)))
    /// True
    ///
    /// Reference: Bendokat, Zimmermann, Absil, A Grassmann manifold handbook, 2024.
    Grassmann(n)

    /// The matrices whose columns are unit vectors; a point is a vector, column after column.
    ///
    /// >>> from geowalk.geometry import Oblique
    /// >>> Oblique(3, 2).dim
    /// 4
    ///
    /// Reference: Boumal 2023, section 7.2.
    Oblique(rows)
}

/// The sphere of the vectors of norm `radius` in n coordinates.
///
///     exp_p(v) = cos(θ)p + sin(θ)v/θ, θ = ‖v‖/radius
///     distance = radius · angle(p, q)
///
/// Curvature 1/radius², injectivity radius π·radius; opposite points have no `log`.
///
/// >>> from geowalk.geometry import Sphere
/// >>> Sphere(3, radius=2.0).distance([2.0, 0.0, 0.0], [0.0, 2.0, 0.0])
/// 3.141592653589793
///
/// Reference: Krakowski, Mahony, Williamson, Warmuth 2007, example 2.
#[pyclass(frozen, extends = Manifold, module = "geowalk.geometry")]
pub(crate) struct Sphere;

#[pymethods]
impl Sphere {
    #[new]
    #[pyo3(signature = (n, radius=1.0))]
    fn new(n: Size, radius: f64) -> PyResult<PyClassInitializer<Self>> {
        let manifold = manifolds::Sphere::new(n.0, radius).map_err(config)?;
        Ok(Manifold::of(AnyManifold::Sphere(manifold)).with(Self))
    }

    /// The norm of its points.
    ///
    /// >>> from geowalk.geometry import Sphere
    /// >>> Sphere(3).radius
    /// 1.0
    #[getter]
    fn radius(this: &Bound<'_, Self>) -> PyResult<f64> {
        Ok(match Manifold::core(this.as_super())? {
            AnyManifold::Sphere(sphere) => sphere.radius(),
            _ => f64::NAN,
        })
    }
}

/// The product of manifolds: their points one after the other, distances added in squares.
///
///     d(p, q)² = Σ d(pᵢ, qᵢ)²
///
/// A point is a vector; a factor `Spd(n)` takes n² numbers of it.
///
/// >>> from geowalk.geometry import Euclidean, Product, Sphere
/// >>> cylinder = Product([Euclidean(1), Sphere(2)])
/// >>> cylinder
/// product(euclidean(n=1), sphere(n=2, radius=1))
/// >>> cylinder.distance([0.0, 1.0, 0.0], [2.0, 1.0, 0.0])
/// 2.0
///
/// Reference: Boumal 2023, section 3.7.
#[pyclass(frozen, extends = Manifold, module = "geowalk.geometry")]
pub(crate) struct Product;

#[pymethods]
impl Product {
    #[new]
    fn new(factors: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let mut all = Vec::new();
        for factor in factors.try_iter()? {
            let factor = factor?;
            let Ok(factor) = factor.cast::<Manifold>() else {
                return Err(PyTypeError::new_err(format!(
                    "a factor is a {}; manifolds are needed",
                    factor.get_type().name()?
                )));
            };
            all.push(Manifold::core(factor)?.clone());
        }
        let product = manifolds::Product::new(all).map_err(config)?;
        Ok(Manifold::of(AnyManifold::Product(product)).with(Self))
    }

    /// The factors, in order.
    ///
    /// >>> from geowalk.geometry import Euclidean, Product, Simplex
    /// >>> Product([Simplex(3), Euclidean(2)]).factors
    /// [simplex, euclidean]
    #[getter]
    fn factors<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = this.py();
        let factors: &[AnyManifold] = match Manifold::core(this.as_super())? {
            AnyManifold::Product(product) => product.factors(),
            _ => &[],
        };
        let factors: Vec<_> =
            factors.iter().map(|m| object(py, m.clone())).collect::<PyResult<_>>()?;
        PyList::new(py, factors)
    }
}

/// An object of the class of the manifold.
pub(super) fn object(py: Python<'_>, manifold: AnyManifold) -> PyResult<Bound<'_, PyAny>> {
    macro_rules! variants {
        ($($name:ident)*) => {
            match manifold {
                $(AnyManifold::$name(_) => {
                    Bound::new(py, Manifold::of(manifold).with($name))?.into_any()
                })*
                // A manifold that has no class of its own yet has all its verbs.
                _ => Bound::new(py, Manifold::of(manifold))?.into_any(),
            }
        };
    }
    Ok(variants! {
        Euclidean Sphere Simplex PositiveOrthant Hyperboloid PoincareBall Spd SpdLogEuclidean
        BuresWasserstein Stiefel Grassmann Rotations Oblique Torus Product
    })
}

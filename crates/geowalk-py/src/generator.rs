//! # Generators
//! One base class with the verbs, one class per generator. Vectors may have any length, except for a matrix of the user's.

use geowalk::error::{Allowed, ConfigError, DomainError};
use geowalk::geometry::generators::{self, AnyGenerator};
use geowalk::geometry::{Generator as _, Work};
use geowalk::row::Norm;
use pyo3::prelude::*;
use pyo3::{PyClass, PyClassInitializer};

use crate::convert::{Batch, Numbers, Size, array, finite, hash};
use crate::error::{Fault, config};

/// A strictly convex function ψ of Legendre type: weights x, dual coordinates θ = ∇ψ(x), and the Bregman divergence
///
///     D(x ‖ y) = ψ(x) − ψ(y) − ⟨∇ψ(y), x − y⟩.
///
/// Vectors are float64 arrays of shape (n,); an (m, n) array is a batch, answered row by row.
/// This is the base class of the generators in `geowalk.geometry`.
///
/// >>> from geowalk.geometry import Generator, KullbackLeibler
/// >>> isinstance(KullbackLeibler(), Generator)
/// True
///
/// Reference: Nock and Nielsen, Intrinsic geometries in learning, 2009, section 3.
#[pyclass(frozen, subclass, module = "geowalk.geometry")]
pub(crate) struct Generator {
    generator: AnyGenerator,
}

impl Generator {
    /// An object of a class of its own.
    fn with<C>(self, class: C) -> PyClassInitializer<C>
    where
        C: PyClass<BaseType = Self>,
    {
        PyClassInitializer::from(self).add_subclass(class)
    }

    fn key(&self) -> (String, usize) {
        let n = match &self.generator {
            AnyGenerator::Mahalanobis(mahalanobis) => mahalanobis.n(),
            // The others take vectors of any length.
            _ => 1,
        };
        (self.generator.spec(), n)
    }
}

/// Is `x` in the closure of the domain? A zero is checked as the smallest positive number, so that the boundary, on which
/// the first argument of a divergence may lie, passes.
fn check_closure(
    generator: &AnyGenerator,
    x: &[f64],
    scratch: &mut Vec<f64>,
) -> Result<(), DomainError> {
    scratch.clear();
    scratch.extend(x.iter().map(|&x| if x == 0.0 { f64::MIN_POSITIVE } else { x }));
    generator.check(scratch)
}

#[pymethods]
impl Generator {
    /// ψ(x).
    ///
    /// >>> from geowalk.geometry import SquaredEuclidean
    /// >>> SquaredEuclidean().value([3.0, 4.0])
    /// 25.0
    fn value<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let x = Numbers::new("the point", x)?;
        let g = &self.generator;
        Batch::new(py, [x.vectors()?])?.scalars(py, |[x]| {
            g.check(x)?;
            Ok(g.value(x))
        })
    }

    /// The dual coordinates θ = ∇ψ(x).
    ///
    /// >>> from geowalk.geometry import KullbackLeibler
    /// >>> KullbackLeibler().link([1.0, 1.0])
    /// array([0., 0.])
    fn link<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let x = Numbers::new("the point", x)?;
        let g = &self.generator;
        let rows = x.vectors()?;
        Batch::new(py, [rows])?.points(py, &[rows.size()], |[x], theta| {
            g.check(x)?;
            g.link(x, theta);
            Ok(())
        })
    }

    /// The weights x = ∇ψ⁻¹(θ) of dual coordinates.
    ///
    /// >>> from geowalk.geometry import SimplexEntropy
    /// >>> SimplexEntropy().unlink([0.0, 0.0])
    /// array([0.5, 0.5])
    fn unlink<'py>(
        &self,
        py: Python<'py>,
        theta: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let theta = Numbers::new("the dual point", theta)?;
        let g = &self.generator;
        let rows = theta.vectors()?;
        Batch::new(py, [rows])?.points(py, &[rows.size()], |[theta], x| {
            g.check_dual(theta)?;
            g.unlink(theta, x);
            Ok(())
        })
    }

    /// The convex conjugate ψ*(θ) = sup ⟨θ, x⟩ − ψ(x).
    ///
    /// >>> from geowalk.geometry import SquaredEuclidean
    /// >>> SquaredEuclidean().conjugate([2.0, 2.0])
    /// 2.0
    fn conjugate<'py>(
        &self,
        py: Python<'py>,
        theta: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let theta = Numbers::new("the dual point", theta)?;
        let g = &self.generator;
        Batch::new(py, [theta.vectors()?])?.scalars(py, |[theta]| {
            g.check_dual(theta)?;
            Ok(g.conjugate(theta))
        })
    }

    /// The Bregman divergence D(x ‖ y) ≥ 0, without cancellation. x may lie on the boundary of the domain.
    ///
    /// >>> from geowalk.geometry import SimplexEntropy
    /// >>> SimplexEntropy().divergence([1.0, 0.0], [0.5, 0.5]) # doctest: +ELLIPSIS
    /// 0.69314718055994...
    fn divergence<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (x, y) = (Numbers::new("the point", x)?, Numbers::new("the second point", y)?);
        let (x, y) = (x.vectors()?, y.vectors()?);
        y.same_size(&x)?;
        let g = &self.generator;
        let mut scratch = Vec::new();
        Batch::new(py, [x, y])?.scalars(py, |[x, y]| {
            check_closure(g, x, &mut scratch)?;
            g.check(y)?;
            Ok(g.divergence(x, y))
        })
    }

    /// The Legendre dual u ◇ p = ∇ψ⁻¹(∇ψ(p) + u): a mirror step is legendre_dual(-rate * gradient, weights).
    ///
    /// >>> import numpy as np
    /// >>> from geowalk.geometry import KullbackLeibler
    /// >>> p = KullbackLeibler().legendre_dual([np.log(2.0), 0.0], [1.0, 3.0])
    /// >>> bool(np.allclose(p, [2.0, 3.0]))
    /// True
    ///
    /// Reference: Nock and Nielsen 2009, eq. (49).
    fn legendre_dual<'py>(
        &self,
        py: Python<'py>,
        u: &Bound<'py, PyAny>,
        p: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (u, p) = (Numbers::new("the dual vector", u)?, Numbers::new("the point", p)?);
        let (u, p) = (u.vectors()?, p.vectors()?);
        u.same_size(&p)?;
        let (g, mut work) = (&self.generator, Work::new());
        let mut theta = vec![0.0; p.size()];
        Batch::new(py, [u, p])?.points(py, &[p.size()], |[u, p], out| {
            finite("the dual vector", u)?;
            g.check(p)?;
            // Does the sum leave the image of the link?
            g.link(p, &mut theta);
            theta.iter_mut().zip(u).for_each(|(theta, u)| *theta += u);
            g.check_dual(&theta)?;
            g.legendre_dual(u, p, out, &mut work);
            Ok(())
        })
    }

    /// How strongly convex ψ is: (σ, norm) with D(x ‖ y) ≥ (σ/2)‖x − y‖², or None if it is not on its whole domain.
    ///
    /// With a radius, on the weights whose sum of absolute values is at most the radius.
    ///
    /// >>> from geowalk.geometry import KullbackLeibler, SimplexEntropy
    /// >>> SimplexEntropy().modulus()
    /// (1.0, 'l1')
    /// >>> KullbackLeibler().modulus(), KullbackLeibler().modulus(4.0)
    /// (None, (0.25, 'l1'))
    #[pyo3(signature = (radius=None))]
    fn modulus(&self, radius: Option<f64>) -> PyResult<Option<(f64, String)>> {
        let g = &self.generator;
        let modulus = match radius {
            None => geowalk::geometry::Generator::<f64>::modulus(g),
            Some(radius) if Allowed::Positive.contains(radius) => {
                geowalk::geometry::Generator::<f64>::modulus_within(g, radius)
            }
            Some(value) => {
                let (what, allowed) = ("the radius", Allowed::Positive);
                return Err(Fault::from(DomainError::Scalar { what, value, allowed }).into());
            }
        };
        Ok(modulus.map(|modulus| {
            let norm = match modulus.norm {
                Norm::L1 => "l1".to_owned(),
                Norm::L2 => "l2".to_owned(),
                Norm::Lp(p) => format!("l{p}"),
                Norm::LInf => "linf".to_owned(),
            };
            (modulus.sigma, norm)
        }))
    }

    /// Raises geowalk.DomainError unless x is in the domain of ψ.
    ///
    /// >>> from geowalk.geometry import KullbackLeibler
    /// >>> KullbackLeibler().check([1.0, 0.0])
    /// Traceback (most recent call last):
    ///     ...
    /// geowalk.DomainError: coordinate 1 of the point is 0; it must be a finite number > 0
    fn check(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<()> {
        let x = Numbers::new("the point", x)?;
        let g = &self.generator;
        Ok(Batch::new(py, [x.vectors()?])?.check(py, |[x]| g.check(x))?)
    }

    /// The specification, from which geowalk.geometry.get makes the generator again.
    ///
    /// >>> from geowalk.geometry import PNorm
    /// >>> PNorm(1.5).spec
    /// 'p-norm(q=1.5)'
    #[getter]
    fn spec(&self) -> String {
        self.generator.spec()
    }

    fn __repr__(&self) -> String {
        self.generator.spec()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.generator == other.generator
    }

    fn __hash__(&self) -> u64 {
        hash(&self.key())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, usize))> {
        Ok((py.import("geowalk.geometry")?.getattr("get")?, self.key()))
    }
}

/// A class without parameters.
macro_rules! of_any_size {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, extends = Generator, module = "geowalk.geometry")]
        pub(crate) struct $name;

        #[pymethods]
        impl $name {
            #[new]
            fn new() -> PyClassInitializer<Self> {
                let generator = AnyGenerator::$name(generators::$name);
                Generator { generator }.with(Self)
            }
        }
    )*};
}

of_any_size! {
    /// The squared Euclidean norm, without a factor 1/2: ψ(x) = Σ xᵢ², D(x ‖ y) = Σ (xᵢ − yᵢ)².
    ///
    /// Link 2x; its mirror step is half a gradient step.
    ///
    /// >>> from geowalk.geometry import SquaredEuclidean
    /// >>> SquaredEuclidean().divergence([1.0, 2.0], [0.0, 0.0])
    /// 5.0
    ///
    /// Reference: Nock and Nielsen 2009, table 1.
    SquaredEuclidean

    /// The unnormalised relative entropy on x > 0.
    ///
    ///     ψ(x)     = Σ xᵢ ln xᵢ − xᵢ
    ///     D(x ‖ y) = Σ xᵢ ln(xᵢ/yᵢ) − xᵢ + yᵢ
    ///
    /// Link ln x; its mirror step multiplies: unnormalised exponentiated gradient.
    ///
    /// >>> from geowalk.geometry import KullbackLeibler
    /// >>> KullbackLeibler().divergence([0.0], [2.0])
    /// 2.0
    ///
    /// Reference: Nock and Nielsen 2009, table 1; Amid and Warmuth 2020, eq. (5).
    KullbackLeibler

    /// The relative entropy on the probability simplex, x > 0 and Σ xᵢ = 1.
    ///
    ///     ψ(x)     = Σ xᵢ ln xᵢ
    ///     D(x ‖ y) = Σ xᵢ ln(xᵢ/yᵢ)
    ///
    /// Link ln x (dual points that differ by a constant are the same), inverse softmax; its mirror step is
    /// exponentiated gradient.
    ///
    /// >>> from geowalk.geometry import SimplexEntropy
    /// >>> SimplexEntropy().legendre_dual([5.0, 5.0], [0.25, 0.75])
    /// array([0.25, 0.75])
    ///
    /// Reference: Amid and Warmuth 2020, section 2.
    SimplexEntropy

    /// Burg's entropy on x > 0.
    ///
    ///     ψ(x)     = −Σ ln xᵢ
    ///     D(x ‖ y) = Σ xᵢ/yᵢ − ln(xᵢ/yᵢ) − 1
    ///
    /// Link −1/x; dual points are negative. The divergence does not see the scale.
    ///
    /// >>> from geowalk.geometry import ItakuraSaito
    /// >>> ItakuraSaito().unlink([-2.0, -0.5])
    /// array([0.5, 2. ])
    ///
    /// Reference: Nock and Nielsen 2009, table 1.
    ItakuraSaito
}

/// A constant metric: ψ(x) = xᵀΣx, D(x ‖ y) = (x − y)ᵀΣ(x − y), for a symmetric positive definite n×n matrix Σ.
///
/// Link 2Σx; its mirror step is the natural gradient of the metric.
///
/// >>> from geowalk.geometry import Mahalanobis
/// >>> Mahalanobis([[4.0, 2.0], [2.0, 10.0]]).divergence([1.0, 1.0], [0.0, 2.0])
/// 10.0
///
/// Reference: Nock and Nielsen 2009, table 1.
#[pyclass(frozen, extends = Generator, module = "geowalk.geometry")]
pub(crate) struct Mahalanobis;

#[pymethods]
impl Mahalanobis {
    #[new]
    fn new(sigma: &Bound<'_, PyAny>) -> PyResult<PyClassInitializer<Self>> {
        let py = sigma.py();
        let sigma = Numbers::new("the matrix", sigma)?;
        let n = match *sigma.shape() {
            [n, m] if n == m => n,
            _ => {
                let needed = "a square matrix is needed";
                return Err(crate::error::shape(py, "the matrix", sigma.shape(), needed));
            }
        };
        let mahalanobis =
            generators::Mahalanobis::new(sigma.slice()?.to_vec(), n).map_err(config)?;
        let generator = AnyGenerator::Mahalanobis(mahalanobis);
        Ok(Generator { generator }.with(Self))
    }

    /// The matrix.
    ///
    /// >>> from geowalk.geometry import Mahalanobis
    /// >>> Mahalanobis([[2.0]]).sigma
    /// array([[2.]])
    #[getter]
    fn sigma<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match &this.as_super().get().generator {
            AnyGenerator::Mahalanobis(g) => array(this.py(), g.sigma().to_vec(), &[g.n(), g.n()]),
            _ => Ok(this.py().None().into_bound(this.py())),
        }
    }
}

/// Half the squared q-norm, ψ(x) = ½‖x‖_q², 1 < q ≤ 2.
///
/// Between gradient descent (q = 2) and multiplicative updates (q → 1). `PNorm("auto", n)` takes the q for sparse
/// targets in n coordinates, q = 2 ln n/(2 ln n − 1).
///
/// >>> from geowalk.geometry import PNorm
/// >>> PNorm(2.0).link([3.0, -4.0])
/// array([ 3., -4.])
/// >>> PNorm("auto", 1000)
/// p-norm(q=1.0780304456445198)
///
/// Reference: Nock and Nielsen 2009, section 5.2; Grove, Littlestone, Schuurmans 2001.
#[pyclass(frozen, extends = Generator, module = "geowalk.geometry")]
pub(crate) struct PNorm;

/// A number, or the word for "choose one".
#[derive(FromPyObject)]
enum Exponent {
    Number(f64),
    Text(String),
}

#[pymethods]
impl PNorm {
    #[new]
    #[pyo3(signature = (q, n=None))]
    fn new(q: Exponent, n: Option<Size>) -> PyResult<PyClassInitializer<Self>> {
        let p_norm = match (q, n) {
            (Exponent::Number(q), _) => generators::PNorm::new(q),
            (Exponent::Text(text), _) if text != "auto" => Err(ConfigError::Syntax {
                text: format!("q={text}"),
                column: 3,
                expected: "a number or 'auto'",
            }),
            (_, Some(Size(0))) => {
                Err(ConfigError::OutOfRange { name: "n", value: 0.0, allowed: Allowed::Whole(1) })
            }
            (_, Some(n)) => Ok(generators::PNorm::auto(n.0)),
            (_, None) => Err(ConfigError::Missing {
                name: "n",
                meaning: "how many coordinates, from which q is chosen",
            }),
        };
        let generator = AnyGenerator::PNorm(p_norm.map_err(config)?);
        Ok(Generator { generator }.with(Self))
    }

    /// The exponent of the norm of the weights.
    ///
    /// >>> from geowalk.geometry import PNorm
    /// >>> PNorm(1.5).q
    /// 1.5
    #[getter]
    fn q(this: &Bound<'_, Self>) -> f64 {
        match &this.as_super().get().generator {
            AnyGenerator::PNorm(p_norm) => p_norm.q(),
            _ => f64::NAN,
        }
    }

    /// The exponent of the dual norm, that of the features: q/(q − 1).
    ///
    /// >>> from geowalk.geometry import PNorm
    /// >>> PNorm(1.5).p
    /// 3.0
    #[getter]
    fn p(this: &Bound<'_, Self>) -> f64 {
        match &this.as_super().get().generator {
            AnyGenerator::PNorm(p_norm) => p_norm.p(),
            _ => f64::NAN,
        }
    }
}

/// An object of the class of the generator that a specification names.
pub(crate) fn parse<'py>(py: Python<'py>, spec: &str, n: usize) -> PyResult<Bound<'py, PyAny>> {
    let generator = AnyGenerator::parse(spec, n).map_err(config)?;
    macro_rules! variants {
        ($($name:ident)*) => {
            match generator {
                $(AnyGenerator::$name(_) => {
                    Bound::new(py, Generator { generator }.with($name))?.into_any()
                })*
                // A generator that has no class of its own yet has all its verbs.
                _ => Bound::new(py, Generator { generator })?.into_any(),
            }
        };
    }
    Ok(variants! {
        SquaredEuclidean KullbackLeibler SimplexEntropy ItakuraSaito Mahalanobis PNorm
    })
}

//! # The manifolds
//! Each manifold is one file and one row of a table ([`entries`]). The table gives their names, [`AnyManifold`], its
//! parser and the lists in the front ends. To add one, write its file, its `mod` and `pub use` lines, and its row.

mod bures_wasserstein;
mod custom;
mod dilated;
pub(crate) mod euclidean;
mod frames;
mod grassmann;
mod hyperboloid;
mod oblique;
mod poincare_ball;
pub(crate) mod positive_orthant;
mod product;
mod rotations;
mod simplex;
mod spd;
mod spd_log_euclidean;
mod sphere;
mod stiefel;
mod torus;

pub use bures_wasserstein::BuresWasserstein;
pub use custom::{CustomManifold, Defines, UserManifold};
pub use euclidean::{Euclidean, EuclideanForm, Identity};
pub use grassmann::Grassmann;
pub use hyperboloid::{HyperbolicForm, Hyperboloid};
pub use oblique::Oblique;
pub use poincare_ball::{PoincareBall, push_to_ball, push_to_hyperboloid, to_ball, to_hyperboloid};
pub use positive_orthant::{OrthantForm, PositiveOrthant, WeightedValue};
pub use product::Product;
pub use rotations::Rotations;
pub use simplex::{Simplex, SimplexForm};
pub use spd::Spd;
pub use spd_log_euclidean::SpdLogEuclidean;
pub use sphere::{Sphere, SphereForm};
pub use stiefel::Stiefel;
pub use torus::Torus;

pub(in crate::geometry) use product::shifted;

use super::forward::forward;
use super::manifold::{Curvature, ExpLog, Manifold, Step};
use super::mean::Mean;
use super::work::Work;
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::spec::{self, Args, Entry, Spec};

/// Builds a manifold from its arguments, and from a size that is used if they give none.
type Build = fn(&mut Args<'_>, Option<usize>) -> Result<AnyManifold, ConfigError>;

/// Derives everything from rows of the form
/// `Variant(Type): name, parameters, summary, source, build, size, arguments;` Here `build` makes the manifold, `size`
/// returns the n of its constructor, and `arguments` returns its other parameters as text. The leading `$` lets the
/// macro define another one.
macro_rules! table {
    ($d:tt $($variant:ident($type:ty): $name:literal, $parameters:literal, $summary:literal,
        $source:literal, $build:expr, $size:expr, $arguments:expr;)*) => {
        /// A manifold of the table, chosen at run time.
        ///
        /// ```
        /// use geowalk::geometry::{ExpLog, Work, manifolds::AnyManifold};
        /// let sphere = AnyManifold::parse("sphere(radius=2)", 3)?;
        /// let d: f64 = sphere.distance(&[2.0, 0.0, 0.0], &[-2.0, 0.0, 0.0], &mut Work::new());
        /// assert_eq!(d, 2.0 * std::f64::consts::PI);
        /// let product = AnyManifold::parse("product(sphere(n=3), euclidean(n=2))", 0)?;
        /// assert_eq!(product.spec(), "product(sphere(n=3, radius=1), euclidean(n=2))");
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum AnyManifold {
            $(
                #[doc = $summary]
                $variant($type),
            )*
            /// A manifold of the user's; `custom(NAME)` once it is registered.
            Custom(CustomManifold),
        }

        const TABLE: &[(Entry, Build)] = &[$((
            Entry { name: $name, parameters: $parameters, summary: $summary, source: $source },
            |args, n| {
                let build: fn(&mut Args<'_>, Option<usize>) -> Result<$type, ConfigError> = $build;
                build(args, n).map(AnyManifold::$variant)
            },
        ),)*];

        impl AnyManifold {
            /// Name in specifications.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Custom(_) => "custom",
                }
            }

            /// The n given to the constructor; for a product, the number of scalars in a point.
            pub fn size(&self) -> usize {
                match self {
                    $(Self::$variant(m) => {
                        let size: fn(&$type) -> usize = $size;
                        size(m)
                    })*
                    Self::Custom(m) => scalars(m),
                }
            }

            fn arguments(&self) -> Vec<String> {
                match self {
                    $(Self::$variant(m) => {
                        let arguments: fn(&$type) -> Vec<String> = $arguments;
                        arguments(m)
                    })*
                    Self::Custom(m) => vec![m.name().to_owned()],
                }
            }
        }

        macro_rules! variant {
            ($d this:ident, $d m:ident => $d body:expr) => {
                match $d this {
                    $(AnyManifold::$variant($d m) => $d body,)*
                    AnyManifold::Custom($d m) => $d body,
                }
            };
        }
    };
}

table! { $
    Euclidean(Euclidean): "euclidean", "", "R^n with the usual metric.", "KMWW07, sec. 2", |args, n| Euclidean::new(size(args, n)?), scalars, |_| Vec::new();
    Sphere(Sphere): "sphere", "radius=1", "The vectors of norm `radius`.", "KMWW07, ex. 2", sphere, scalars, |m| vec![format!("radius={}", m.radius())];
    Simplex(Simplex): "simplex", "", "The probability simplex with Fisher's metric.", "KMWW07, ex. 3", |args, n| Simplex::new(size(args, n)?), scalars, |_| Vec::new();
    PositiveOrthant(PositiveOrthant): "orthant", "", "The positive vectors with the metric of their logarithms.", "KMWW07, ex. 7", |args, n| PositiveOrthant::new(size(args, n)?), scalars, |_| Vec::new();
    Hyperboloid(Hyperboloid): "hyperbolic", "curvature=-1", "Hyperbolic space, hyperboloid model, time first.", "NK17", |args, n| Hyperboloid::with_curvature(size(args, n)?, args.number("curvature", -1.0)?), scalars, |m| curvature(m.parameter());
    PoincareBall(PoincareBall): "poincare-ball", "curvature=-1", "Hyperbolic space, ball model.", "GHN18", |args, n| PoincareBall::with_curvature(size(args, n)?, args.number("curvature", -1.0)?), scalars, |m| curvature(m.parameter());
    Spd(Spd): "spd", "", "Symmetric positive definite n×n matrices, affine-invariant metric.", "PFA06", |args, n| Spd::new(size(args, n)?), |m| scalars(m).isqrt(), |_| Vec::new();
    SpdLogEuclidean(SpdLogEuclidean): "spd-log-euclidean", "", "Symmetric positive definite n×n matrices, metric of their logarithms.", "AFPA07", |args, n| SpdLogEuclidean::new(size(args, n)?), |m| scalars(m).isqrt(), |_| Vec::new();
    BuresWasserstein(BuresWasserstein): "spd-bures-wasserstein", "", "Symmetric positive definite n×n matrices, metric of optimal transport.", "BJL19", |args, n| BuresWasserstein::new(size(args, n)?), |m| scalars(m).isqrt(), |_| Vec::new();
    Stiefel(Stiefel): "stiefel", "columns=1", "n×p matrices with orthonormal columns, canonical metric, row after row.", "EAS98", |args, n| Stiefel::new(size(args, n)?, columns(args)?), |m| m.rows(), |m| vec![format!("columns={}", m.columns())];
    Grassmann(Grassmann): "grassmann", "columns=1", "Subspaces of R^n, as n×p matrices with orthonormal columns, row after row.", "EAS98", |args, n| Grassmann::new(size(args, n)?, columns(args)?), |m| m.rows(), |m| vec![format!("columns={}", m.columns())];
    Rotations(Rotations): "rotations", "", "Rotation matrices of n rows, SO(n), row after row.", "EAS98", |args, n| Rotations::new(size(args, n)?), |m| m.rows(), |_| Vec::new();
    Oblique(Oblique): "oblique", "rows=2, columns=n", "Matrices whose columns are unit vectors, column after column.", "Boumal23, sec. 7.2", oblique, |m| m.columns(), |m| vec![format!("rows={}", m.rows())];
    Torus(Torus): "torus", "", "n circles, each a pair of coordinates.", "Boumal23, sec. 7.2", |args, n| Torus::new(size(args, n)?), |m| m.circles(), |_| Vec::new();
    Product(Product<AnyManifold>): "product", "factors", "The product of manifolds that each state their n.", "Boumal23, sec. 3.7", product, scalars, |m| m.factors().iter().map(AnyManifold::sized_spec).collect();
}

forward!([] Manifold for AnyManifold, variant);
forward!([] ExpLog for AnyManifold, variant);

/// The table of manifolds.
///
/// ```
/// let names: Vec<_> = geowalk::geometry::manifolds::entries().map(|e| e.name).collect();
/// assert!(names.contains(&"simplex"));
/// ```
pub fn entries() -> impl Iterator<Item = &'static Entry> + Clone {
    TABLE.iter().map(|(entry, _)| entry)
}

impl AnyManifold {
    /// Builds the manifold of a specification with `n` coordinates, unless the specification gives `n=`. For matrices
    /// n is the number of rows. Each factor of a product must give its n.
    pub fn parse(spec: &str, n: usize) -> Result<Self, ConfigError> {
        const DEPTH: usize = 16;
        // Specifications may come from untrusted users and the parser is recursive, so limit the depth.
        let mut depth = 0_usize;
        for (column, c) in spec.chars().enumerate() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEPTH {
                return Err(ConfigError::Syntax {
                    text: spec.to_owned(),
                    column: column + 1,
                    expected: "at most 16 nested parentheses",
                });
            }
        }
        Self::build(spec, Some(n))
    }

    fn build(text: &str, n: Option<usize>) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        if spec.name() == "custom" {
            let mut args = spec.args();
            let names = args.rest();
            args.finish()?;
            let [name] = names[..] else {
                let meaning = "the name under which it was registered: custom(NAME)";
                return Err(ConfigError::Missing { name: "the manifold of your own", meaning });
            };
            return CustomManifold::registered(name).map(Self::Custom);
        }
        let Some((_, build)) = TABLE.iter().find(|(entry, _)| entry.name == spec.name()) else {
            return Err(spec::unknown("geometry", spec.name(), entries().map(|entry| entry.name)));
        };
        let mut args = spec.args();
        let manifold = build(&mut args, n)?;
        args.finish()?;
        Ok(manifold)
    }

    /// The canonical specification: `AnyManifold::parse(&m.spec(), m.size())` gives `m` again.
    pub fn spec(&self) -> String {
        self.with_arguments(&self.arguments())
    }

    /// Builds the manifold of a specification so that its points have one weight per feature, possibly after
    /// coordinates that belong to no feature. The error lists the numbers of features that are possible.
    ///
    /// ```
    /// use geowalk::geometry::{Manifold, manifolds::AnyManifold};
    /// assert_eq!(AnyManifold::for_features("spd", 9)?.sized_spec(), "spd(n=3)");
    /// assert_eq!(AnyManifold::for_features("hyperbolic", 9)?.size(), 10);
    /// let error = AnyManifold::for_features("spd", 7).unwrap_err().to_string();
    /// assert_eq!(error, "'spd' cannot have 7 weights (features and intercept); 4 or 9 would fit");
    /// # Ok::<(), geowalk::ConfigError>(())
    /// ```
    pub fn for_features(spec: &str, features: usize) -> Result<Self, ConfigError> {
        // The number of features increases with n.
        let (mut low, mut high) = (0, features.saturating_add(2));
        let mut fits: [Option<usize>; 2] = [None; 2];
        let mut refused = None;
        while high - low > 1 {
            let n = low + (high - low) / 2;
            match Self::parse(spec, n) {
                Ok(manifold) => match manifold.features() {
                    found if found == features => return Ok(manifold),
                    found if found < features => (low, fits[0]) = (n, Some(found)),
                    found => (high, fits[1]) = (n, Some(found)),
                },
                // Most manifolds have a smallest n.
                Err(error) => (low, refused) = (n, Some(error)),
            }
        }
        if let ([None, None], Some(error)) = (fits, refused) {
            return Err(error);
        }
        let fits: Vec<String> = fits.iter().flatten().map(usize::to_string).collect();
        let (spec, fits) = (spec.to_owned(), fits.join(" or "));
        Err(ConfigError::Width { spec, features, fits })
    }

    /// The shape of a point as an array: matrices have two axes, everything else one.
    pub fn shape(&self) -> Vec<usize> {
        match self {
            Self::Spd(_) | Self::SpdLogEuclidean(_) | Self::BuresWasserstein(_) => {
                vec![self.size(); 2]
            }
            Self::Rotations(m) => vec![m.rows(); 2],
            Self::Custom(m) => m.shape().to_vec(),
            Self::Stiefel(m) => vec![m.rows(), m.columns()],
            Self::Grassmann(m) => vec![m.rows(), m.columns()],
            _ => vec![Manifold::<f64>::ambient(self)],
        }
    }

    /// Number of features that a point has weights for.
    pub fn features(&self) -> usize {
        let ambient = Manifold::<f64>::ambient(self);
        ambient.saturating_sub(Manifold::<f64>::first_feature(self))
    }

    /// The specification including the size; it is sufficient to rebuild the manifold.
    pub fn sized_spec(&self) -> String {
        let mut arguments = self.arguments();
        if !matches!(self, Self::Product(_) | Self::Custom(_)) {
            arguments.insert(0, format!("n={}", self.size()));
        }
        self.with_arguments(&arguments)
    }

    fn with_arguments(&self, arguments: &[String]) -> String {
        if arguments.is_empty() {
            self.name().to_owned()
        } else {
            format!("{}({})", self.name(), arguments.join(", "))
        }
    }
}

/// Number of scalars in a point.
fn scalars<M: Manifold<f64>>(manifold: &M) -> usize {
    manifold.ambient()
}

/// An integer ≥ 1, if it is given.
fn whole(args: &mut Args<'_>, name: &'static str) -> Result<Option<usize>, ConfigError> {
    let Some(stated) = args.optional_number(name)? else { return Ok(None) };
    error::parameter(name, stated, Allowed::Whole(1))?;
    // Larger integers are not exact as f64.
    error::parameter(name, stated, Allowed::Closed(1.0, (1_u64 << 53) as f64))?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole and ≥ 1
    Ok(Some(stated as usize))
}

/// The size given in the specification, or else `n`.
fn size(args: &mut Args<'_>, n: Option<usize>) -> Result<usize, ConfigError> {
    match (whole(args, "n")?, n) {
        (Some(stated), _) => Ok(stated),
        (None, Some(n)) => Ok(n),
        (None, None) => {
            let meaning = "each factor of a product states its own n";
            Err(ConfigError::Missing { name: "n", meaning })
        }
    }
}

/// Number of columns of a matrix.
fn columns(args: &mut Args<'_>) -> Result<usize, ConfigError> {
    Ok(whole(args, "columns")?.unwrap_or(1))
}

/// The argument for a curvature other than the default.
fn curvature(k: f64) -> Vec<String> {
    if k == -1.0 { Vec::new() } else { vec![format!("curvature={k}")] }
}

fn sphere(args: &mut Args<'_>, n: Option<usize>) -> Result<Sphere, ConfigError> {
    let radius = args.number("radius", 1.0)?;
    Sphere::new(size(args, n)?, radius)
}

/// The number of columns is the n of the constructor; it may also be given by name.
fn oblique(args: &mut Args<'_>, n: Option<usize>) -> Result<Oblique, ConfigError> {
    let rows = whole(args, "rows")?.unwrap_or(2);
    let columns = match whole(args, "columns")? {
        Some(columns) => columns,
        None => size(args, n)?,
    };
    Oblique::new(rows, columns)
}

fn product(args: &mut Args<'_>, _: Option<usize>) -> Result<Product<AnyManifold>, ConfigError> {
    let factors = args.rest().into_iter().map(|text| AnyManifold::build(text, None));
    Product::new(factors.collect::<Result<_, _>>()?)
}

/// √Σx², summed in `f64`; scaled by the largest term if squares would overflow or underflow.
fn norm<F: Real>(x: impl Iterator<Item = F> + Clone) -> F {
    let sum: f64 = x.clone().map(|x| x.f64() * x.f64()).sum();
    if sum > 1e-270 && sum < 1e300 {
        return F::of(sum.sqrt());
    }
    let largest = x.clone().fold(0.0, |largest, x| Real::max(largest, x.f64().abs()));
    if largest == 0.0 || !largest.is_finite() {
        return F::of(largest);
    }
    let sum: f64 = x.map(|x| (x.f64() / largest) * (x.f64() / largest)).sum();
    F::of(largest * sum.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::test_runner::{Config, RngSeed};

    /// The same test cases in every run.
    pub(super) fn cases(cases: u32) -> Config {
        Config {
            cases,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..Config::default()
        }
    }

    /// All rows of the table, with a size or as a product.
    fn all() -> Vec<AnyManifold> {
        let each = entries().map(|entry| match entry.name {
            "product" => "product(sphere(n=3, radius=2), product(simplex(n=2)), orthant(n=2))",
            name => name,
        });
        each.map(|text| AnyManifold::parse(text, 3).unwrap()).collect()
    }

    #[test]
    fn canonical_specifications_rebuild_the_manifold() {
        for m in all() {
            assert_eq!(AnyManifold::parse(&m.spec(), m.size()).unwrap(), m);
            let product = Product::new(vec![m.clone(), m]).unwrap();
            let product = AnyManifold::Product(product);
            assert_eq!(AnyManifold::parse(&product.spec(), 0).unwrap(), product);
        }
        for (text, spec, n) in [
            ("sphere", "sphere(radius=1)", 7),
            ("sphere(2.5)", "sphere(radius=2.5)", 7),
            ("sphere(n=3, radius=0.1)", "sphere(radius=0.1)", 3),
            ("simplex(4)", "simplex", 4),
            ("product( orthant(n=2) )", "product(orthant(n=2))", 2),
        ] {
            let m = AnyManifold::parse(text, 7).unwrap();
            assert_eq!((m.spec().as_str(), m.size()), (spec, n));
        }
    }

    #[test]
    fn what_cannot_be_built_says_why() {
        let deep = "product(".repeat(20);
        for (text, message) in [
            (
                "spher",
                "unknown geometry 'spher' (did you mean 'sphere'?); known: euclidean, sphere",
            ),
            ("sphere(r=1)", "unknown parameter 'r'"),
            ("sphere(radius=-1)", "radius = -1; it must be a finite number > 0"),
            ("simplex(n=1.5)", "n = 1.5; it must be a whole number >= 1"),
            ("simplex(n=1)", "n = 1; it must be a whole number >= 2"),
            ("product(sphere)", "n is missing: each factor"),
            ("product", "factors is missing"),
            ("product(n=2, simplex(n=2))", "unknown parameter 'n'"),
            (&deep, &format!("'{deep}': at most 16 nested parentheses expected at column 136")),
        ] {
            let error = AnyManifold::parse(text, 3).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    /// Laws of every manifold, at the origin, in both precisions.
    fn laws<F: Real>(m: &AnyManifold) {
        let n = Manifold::<F>::ambient(m);
        let work = &mut Work::<F>::new();
        let tolerance = F::of(64.0) * F::EPSILON;
        let mut p = vec![F::ZERO; n];
        m.origin(&mut p);
        m.check(&p).unwrap();
        let g: Vec<F> = (0..n).map(|i| F::of(((i * 7 + 3) % 11) as f64 / 11.0 - 0.4)).collect();
        let mut v = vec![F::ZERO; n];
        m.gradient(&p, &g, &mut v, work);
        m.check_tangent(&p, &v).unwrap();
        let length = m.norm(&p, &v, work);
        assert!(length > F::of(0.1));
        let differential: F = g.iter().zip(&v).map(|(&g, &v)| g * v).sum();
        assert!((m.inner(&p, &v, &v, work) - differential).abs() < tolerance);
        let t = m.injectivity(&p).min(F::ONE) * F::of(0.7) / length;
        let mut q = p.clone();
        let step = m.exp(&mut q, &v, t, work).unwrap();
        m.check(&q).unwrap();
        assert!((step.length - t * length).abs() < tolerance);
        assert!((m.distance(&p, &q, work) - step.length).abs() < tolerance);
        let mut back = vec![F::ZERO; n];
        m.log(&p, &q, &mut back, work).unwrap();
        assert!(back.iter().zip(&v).all(|(&b, &v)| (b - t * v).abs() < tolerance));
        m.transport(&p, &q, &mut back, work).unwrap();
        m.check_tangent(&q, &back).unwrap();
        assert!((m.norm(&q, &back, work) - step.length).abs() < tolerance);
        let mut there = vec![F::ZERO; n];
        m.log(&q, &p, &mut there, work).unwrap();
        assert!(back.iter().zip(&there).all(|(&b, &v)| (b + v).abs() < tolerance));
        let middle = m.mean(&[p.clone(), q].concat(), None, &mut back, work).unwrap();
        assert!((m.distance(&p, &back, work) - step.length * F::HALF).abs() < tolerance);
        assert!(middle.unique);
    }

    #[test]
    fn every_row_obeys_the_laws() {
        for m in all() {
            laws::<f64>(&m);
            laws::<f32>(&m);
        }
    }

    #[test]
    fn the_norm_neither_overflows_nor_vanishes_nor_loses_nan() {
        for scale in [1.0, 1e200, 1e-200] {
            let found: f64 = norm([3.0 * scale, 4.0 * scale].into_iter()) / scale;
            assert!((found - 5.0).abs() < 2e-15, "{found}");
        }
        assert_eq!(norm([3e-320_f64, 0.0].into_iter()), 3e-320);
        assert_eq!(norm([0.0_f32; 2].into_iter()), 0.0);
        assert!(norm([f64::NAN, 1.0].into_iter()).is_nan());
        assert!(norm([f64::INFINITY, 1.0].into_iter()).is_infinite());
    }
}

//! # Families
//! Natural gradient needs a model of rows given their class: a linear exponential family
//! $$P(x \mid c) \propto \exp(\beta_c \cdot T(x)), \qquad \theta_c = E[T \mid c],$$
//! whose score in the mean parameters has a closed form,
//! $$g_c(x) = \nabla_{\theta} \log P_{\theta_c}(x) = \mathrm{Cov}_{\theta_c}(T)^{-1}(T(x) - \theta_c).$$
//! No matrix is inverted, except the covariance of a full Gaussian. A family keeps its θ, which the paper calls the
//! dual sequence ζ\*. It is asked for scores first and learns the example afterwards.
//!
//! **Cost** Computing g for every class: O(s·nnz) for counts, categories and bits, O(s·d) for most others, O(d² + s·d)
//! for one full covariance, O(s·d²) for one per class. **Source** \[SC21, prop. 3\]; the families are worked out here.

use super::coefficients::Coefficients;
use super::families::{
    Bernoulli, Discrete, Exponential, Gaussian, GaussianDiagonal, GaussianShared,
    GaussianSharedDiagonal, GaussianSparse, Multinomial, NaiveBayes, Poisson,
};
use super::statistic::Statistic;
use crate::error::{ConfigError, DomainError};
use crate::real::lanes;
use crate::row::Row;
use crate::spec::{self, Args, Entry, Spec};

/// A model of rows given their class. Classes are numbered 0, 1, …
pub(crate) trait Family {
    /// Number of coordinates of T, for the present number of features.
    fn size(&self) -> usize;

    /// Makes room for features and classes.
    fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError>;

    /// t ← T(x); refuses rows outside the domain of the family.
    fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError>;

    /// Adds θ·g to `dots` and (T − θ)·g, the squared Mahalanobis distance, to `excess`, for every class. This
    /// function, `walk`, `observe` and `advance` must be inlined: they are also compiled for wide vectors, with the
    /// same bits.
    fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]);

    /// β_c += a_c g_c for all classes, with g of the statistic scored last.
    fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients);

    /// Updates θ with the example scored last.
    fn observe(&mut self, t: &Statistic, class: usize, weight: f64);

    /// `walk`, then `observe`. A family with many numbers does both for a few features at a time, so that its tables
    /// pass through the cache once.
    #[inline(always)]
    fn advance(
        &mut self,
        t: &Statistic,
        a: &[f64],
        to: &mut Coefficients,
        class: usize,
        weight: f64,
    ) {
        self.walk(t, a, to);
        self.observe(t, class, weight);
    }

    /// Passes the shape of the common part of all coordinates to the coefficients, if the family has one. Called after
    /// new features or classes, after loading, and after [`Family::observe`].
    fn settle(&mut self, _: &mut Coefficients) {}

    /// out ← θ of a class.
    fn mean(&self, class: usize, out: &mut Vec<f64>);

    /// out ← Cov(T) of a class, column-major.
    fn covariance(&self, class: usize, out: &mut Vec<f64>);

    /// r ← (p C + λI)⁻¹ r for a class, where C is its covariance, or another definite matrix if C is singular.
    fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]);

    /// The number added to the examples of each class if `a` was requested.
    fn pseudo(&self, a: f64) -> f64 {
        a
    }

    /// Number of (feature, class) cells without an example, and number of all cells whose feature and class have an
    /// example.
    fn empty_cells(&self, _: &[f64]) -> (u64, u64) {
        (0, 0)
    }

    /// The coordinate that equals feature i.
    fn linear(&self, i: usize) -> usize {
        i
    }

    /// Passes all mutable state to `put`.
    fn save(&self, put: &mut dyn FnMut(&'static str, &[f64]));

    /// Restores the state written by [`Family::save`], with room for these numbers of features and classes.
    fn load(
        &mut self,
        get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
        features: usize,
        classes: usize,
    ) -> Result<(), ConfigError>;
}

macro_rules! families {
    ($($type:ident $name:literal($parameters:literal) $summary:literal;)*) => {
        /// The families by name.
        const TABLE: &[Entry] = &[$(Entry { name: $name, parameters: $parameters, summary: $summary, source: "SC21" },)*];

        /// Any of the families.
        ///
        /// ```
        /// use geowalk::natural::AnyFamily;
        /// let family = AnyFamily::parse("poisson(kappa=2)")?;
        /// assert_eq!(family.name(), "poisson");
        /// assert_eq!(AnyFamily::entries().count(), 11);
        /// assert!(AnyFamily::parse("poison").is_err());
        /// # Ok::<(), geowalk::ConfigError>(())
        /// ```
        #[derive(Debug, Clone)]
        pub struct AnyFamily(Inner);

        /// One variant for each row of the table.
        #[derive(Debug, Clone)]
        #[allow(clippy::large_enum_variant)] // a walk has a family or two, and asks it thrice per row
        enum Inner {
            $(
                #[doc = $summary]
                $type($type),
            )*
        }

        impl AnyFamily {
            /// Name of the family.
            pub fn name(&self) -> &'static str {
                match &self.0 { $(Inner::$type(_) => $name,)* }
            }

            fn build(name: &str, args: &mut Args<'_>) -> Result<Option<Self>, ConfigError> {
                match name {
                    $($name => Ok(Some(Self(Inner::$type($type::read(args)?)))),)*
                    _ => Ok(None),
                }
            }
        }

        impl Family for AnyFamily {
            fn size(&self) -> usize {
                match &self.0 { $(Inner::$type(family) => family.size(),)* }
            }
            fn grow(&mut self, features: usize, classes: usize) -> Result<(), DomainError> {
                match &mut self.0 { $(Inner::$type(family) => family.grow(features, classes),)* }
            }
            #[inline]
            fn statistic<X: Row<f64>>(&self, x: X, t: &mut Statistic) -> Result<(), DomainError> {
                match &self.0 { $(Inner::$type(family) => family.statistic(x, t),)* }
            }
            fn score(&mut self, t: &Statistic, dots: &mut [f64], excess: &mut [f64]) {
                lanes::widely(
                    #[inline(always)]
                    || match &mut self.0 { $(Inner::$type(family) => family.score(t, dots, excess),)* },
                );
            }
            fn walk(&self, t: &Statistic, a: &[f64], to: &mut Coefficients) {
                lanes::widely(
                    #[inline(always)]
                    || match &self.0 { $(Inner::$type(family) => family.walk(t, a, to),)* },
                );
            }
            fn observe(&mut self, t: &Statistic, class: usize, weight: f64) {
                lanes::widely(
                    #[inline(always)]
                    || match &mut self.0 { $(Inner::$type(family) => family.observe(t, class, weight),)* },
                );
            }
            fn advance(&mut self, t: &Statistic, a: &[f64], to: &mut Coefficients, class: usize, weight: f64) {
                lanes::widely(
                    #[inline(always)]
                    || match &mut self.0 { $(Inner::$type(family) => family.advance(t, a, to, class, weight),)* },
                );
            }
            fn settle(&mut self, beta: &mut Coefficients) {
                match &mut self.0 { $(Inner::$type(family) => family.settle(beta),)* }
            }
            fn mean(&self, class: usize, out: &mut Vec<f64>) {
                match &self.0 { $(Inner::$type(family) => family.mean(class, out),)* }
            }
            fn covariance(&self, class: usize, out: &mut Vec<f64>) {
                match &self.0 { $(Inner::$type(family) => family.covariance(class, out),)* }
            }
            fn damp(&mut self, class: usize, p: f64, ridge: f64, r: &mut [f64]) {
                match &mut self.0 { $(Inner::$type(family) => family.damp(class, p, ridge, r),)* }
            }
            fn pseudo(&self, a: f64) -> f64 {
                match &self.0 { $(Inner::$type(family) => family.pseudo(a),)* }
            }
            fn empty_cells(&self, n: &[f64]) -> (u64, u64) {
                match &self.0 { $(Inner::$type(family) => family.empty_cells(n),)* }
            }
            fn linear(&self, i: usize) -> usize {
                match &self.0 { $(Inner::$type(family) => family.linear(i),)* }
            }
            fn save(&self, put: &mut dyn FnMut(&'static str, &[f64])) {
                match &self.0 { $(Inner::$type(family) => family.save(put),)* }
            }
            fn load(
                &mut self,
                get: &mut dyn FnMut(&'static str) -> Option<Vec<f64>>,
                features: usize,
                classes: usize,
            ) -> Result<(), ConfigError> {
                match &mut self.0 { $(Inner::$type(family) => family.load(get, features, classes),)* }
            }
        }
    };
}

families! {
    Discrete "discrete"("a=1") "one categorical variable: one feature of value 1 in every row";
    NaiveBayes "naive-bayes"("a=1") "independent categorical columns: features of value 1";
    Bernoulli "bernoulli"("kappa=1") "independent features in [0, 1]; O(nnz)";
    Poisson "poisson"("kappa=1, start=1") "independent counts; O(nnz)";
    Multinomial "multinomial"("pseudo=1") "counts, words of a text, of any length; O(nnz)";
    Exponential "exponential"("kappa=1") "independent positive features";
    GaussianShared "gaussian-shared"("kappa=0.05") "numbers; one full covariance for all classes";
    GaussianSharedDiagonal "gaussian-shared-diagonal"("kappa=0.05") "numbers; one variance per feature for all classes";
    GaussianSparse "gaussian-sparse"("delta=0.1") "numbers that are mostly zero, one scale per feature: texts; O(nnz)";
    GaussianDiagonal "gaussian-diagonal"("kappa=1") "numbers; each class its own variances: quadratic in each feature";
    Gaussian "gaussian"("kappa=1") "numbers; each class its own covariance: quadratic in all features";
}

impl AnyFamily {
    /// The table of families.
    pub fn entries() -> impl Iterator<Item = &'static Entry> + Clone {
        TABLE.iter()
    }

    /// Parses `name` or `name(param=value, ...)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let spec = Spec::parse(text)?;
        let mut args = spec.args();
        let family = Self::read(spec.name(), &mut args)?;
        args.finish()?;
        Ok(family)
    }

    /// The family with this name, with parameters from `args`.
    pub fn read(name: &str, args: &mut Args<'_>) -> Result<Self, ConfigError> {
        match Self::build(name, args)? {
            Some(family) => Ok(family),
            None => Err(spec::unknown("family", name, Self::entries().map(|entry| entry.name))),
        }
    }

    /// Gaussian with one covariance for all classes and a prior of κ examples with mean θ₀ and covariance Σ₀
    /// (column-major).
    pub fn gaussian_shared(
        kappa: f64,
        mean: &[f64],
        covariance: &[f64],
    ) -> Result<Self, ConfigError> {
        GaussianShared::given(kappa, mean, covariance)
            .map(|family| Self(Inner::GaussianShared(family)))
    }

    /// Whether a ridge can be preconditioned. Not if the statistic has all products of features.
    pub fn damps(&self) -> bool {
        !matches!(self.0, Inner::Gaussian(_))
    }

    /// Whether the family is meant for wide rows that share few features. Then the cap considers only the present row.
    pub fn is_sparse(&self) -> bool {
        matches!(
            self.0,
            Inner::Discrete(_)
                | Inner::NaiveBayes(_)
                | Inner::Poisson(_)
                | Inner::Multinomial(_)
                | Inner::GaussianSparse(_)
        )
    }
}

#[cfg(test)]
mod tests;

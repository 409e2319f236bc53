//! Streams, losses and the list of all walks, for the tests of walks.

#![allow(dead_code)] // each test file uses some of these
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // test code, and indices below 2^32

use std::fmt::Debug;

use geowalk::Real;
pub(crate) use geowalk::laws::Sampler as Random;
use geowalk::loss::{Facts, Loss, Squared};
use geowalk::walk::{
    Adaptive, Burg, Clipped, Entropy, Euclidean, Free, Hyperbolic, Implicit, Mahalanobis,
    Normalised, Orthant, PNorm, ReparamEntropy, ReparamSimplex, Signed, Simplex, SimplexEntropy,
    Sphere, Walk,
};

/// A stream of sparse rows: about `nonzeros` of `n` coordinates, values in (−1, 1), labels of a sparse linear target
/// with noise.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    random: Random,
    n: usize,
    nonzeros: usize,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
    pub(crate) dense: Vec<f64>,
    pub(crate) y: f64,
}

impl Stream {
    pub(crate) fn new(seed: u64, n: usize, nonzeros: usize) -> Self {
        let dense = vec![0.0; n];
        Self {
            random: Random::new(seed),
            n,
            nonzeros,
            indices: vec![],
            values: vec![],
            dense,
            y: 0.0,
        }
    }

    pub(crate) fn next(&mut self) {
        for &i in &self.indices {
            self.dense[i as usize] = 0.0;
        }
        self.indices.clear();
        self.values.clear();
        let gap = 2 * self.n / self.nonzeros;
        let mut i = self.random.below(gap);
        while i < self.n {
            let x = 2.0 * self.random.unit() - 1.0;
            self.indices.push(i as u32);
            self.values.push(x);
            self.dense[i] = x;
            i += 1 + self.random.below(gap);
        }
        let target: f64 = self.dense.iter().step_by(7).take(3).sum();
        self.y = 0.3 * target + 0.1 * (self.random.unit() - 0.5);
    }
}

/// ln(1 + e^{−yz}) for labels ±1; uses the sign of the label.
#[derive(Debug)]
pub(crate) struct Logistic;

impl Loss for Logistic {
    fn spec(&self) -> String {
        "logistic".to_owned()
    }
    fn value(&self, z: f64, y: f64) -> f64 {
        let m = z * y.signum();
        Real::max(-m, 0.0) + Real::ln_1p(Real::exp(-m.abs()))
    }
    fn slope(&self, z: f64, y: f64) -> f64 {
        -y.signum() / (1.0 + Real::exp(z * y.signum()))
    }
    fn curvature(&self, _: f64, _: f64) -> f64 {
        f64::NAN
    }
    fn minimizer(&self, y: f64) -> f64 {
        y * f64::INFINITY
    }
    fn facts(&self) -> Facts {
        Facts { lipschitz: Some(1.0), smooth: Some(0.25), strong: 0.0, ..Squared.facts() }
    }
}

/// The loss is the prediction itself, as for experts.
#[derive(Debug)]
pub(crate) struct Linear;

impl Loss for Linear {
    fn spec(&self) -> String {
        "linear".to_owned()
    }
    fn value(&self, z: f64, _: f64) -> f64 {
        z
    }
    fn slope(&self, _: f64, _: f64) -> f64 {
        1.0
    }
    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }
    fn minimizer(&self, _: f64) -> f64 {
        f64::NEG_INFINITY
    }
    fn facts(&self) -> Facts {
        Facts { lipschitz: Some(1.0), smooth: Some(0.0), strong: 0.0, ..Squared.facts() }
    }
}

/// max(0, −y(z − θ)), the loss of Winnow.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) threshold: f64,
}

impl Loss for Mistake {
    fn spec(&self) -> String {
        "winnow-hinge".to_owned()
    }
    fn value(&self, z: f64, y: f64) -> f64 {
        Real::max(-y * (z - self.threshold), 0.0)
    }
    fn slope(&self, z: f64, y: f64) -> f64 {
        let said = if z >= self.threshold { 1.0 } else { -1.0 };
        if said == y { 0.0 } else { -y }
    }
    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }
    fn minimizer(&self, _: f64) -> f64 {
        self.threshold
    }
    fn facts(&self) -> Facts {
        Facts { lipschitz: Some(1.0), smooth: None, strong: 0.0, ..Squared.facts() }
    }
}

/// A visitor of every walk.
pub(crate) trait Visit {
    /// At `rate`, the walk learns from a [`Stream`] with slopes up to 1.
    fn visit<W: Walk + Clone + PartialEq + Debug>(&mut self, name: &str, walk: W, rate: f64);
}

/// Every walk there is.
pub(crate) fn all(visitor: &mut impl Visit) {
    visitor.visit("gd", Euclidean::new(), 0.1);
    visitor.visit("sphere", Sphere::new(1.0, 1).unwrap(), 0.2);
    visitor.visit("sphere(radius=3)", Sphere::new(3.0, 2).unwrap(), 0.2);
    visitor.visit("projected-sphere", Sphere::projected(1.0, 3).unwrap(), 0.2);
    visitor.visit("hyperbolic", Hyperbolic::new(), 0.1);
    visitor.visit("simplex", Simplex::new(), 0.5);
    visitor.visit("orthant", Orthant::new(0.1).unwrap(), 0.5);
    visitor.visit("egu", Entropy::new(Entropy::START).unwrap(), 0.1);
    visitor.visit("eg", SimplexEntropy::new(), 0.5);
    visitor.visit("prod", SimplexEntropy::prod(), 0.3);
    visitor.visit("approximated-eg", SimplexEntropy::approximated(), 0.3);
    visitor.visit("p-norm", PNorm::new(1.2).unwrap(), 0.1);
    visitor.visit("burg", Burg::new(0.1).unwrap(), 0.1);
    visitor.visit("mahalanobis", Mahalanobis::diagonal(&[0.5; 1000]).unwrap(), 0.1);
    visitor.visit("mahalanobis, full", Mahalanobis::new(tridiagonal(200), 200).unwrap(), 0.1);
    visitor.visit("reparam-egu", ReparamEntropy::new(0.01).unwrap(), 0.1);
    visitor.visit("reparam-eg", ReparamSimplex::new(), 0.5);
    visitor.visit("centred-reparam-eg", ReparamSimplex::centred(-1.0, 2.0).unwrap(), 0.5);
    visitor.visit("experts-twin", ReparamSimplex::experts(), 0.3);
    visitor.visit("adagrad", Adaptive::new(), Adaptive::RATE);
    visitor.visit("free", Free::new(1.0, 0.5, 1.0).unwrap(), 0.0);
    visitor.visit("eg+-", Signed::new(SimplexEntropy::new(), 2.0).unwrap(), 0.2);
    visitor.visit("egu+-", Signed::new(Entropy::new(0.01).unwrap(), 1.0).unwrap(), 0.1);
    visitor.visit("simplex+-", Signed::new(Simplex::new(), 2.0).unwrap(), 0.2);
    let clipped = Clipped::new(Entropy::new(0.01).unwrap(), -0.5, 0.5).unwrap();
    visitor.visit("clipped egu", clipped, 0.1);
    normalised(visitor);
    implicit(visitor);
}

/// Walks on normalised rows.
pub(crate) fn normalised(visitor: &mut impl Visit) {
    visitor.visit("normalised gd", Normalised::new(Euclidean::new()), 0.1);
    visitor.visit("normalised sphere", Normalised::new(Sphere::new(1.0, 1).unwrap()), 0.2);
    visitor.visit("normalised p-norm", Normalised::new(PNorm::new(1.2).unwrap()), 0.1);
    visitor.visit("normalised simplex", Normalised::new(Simplex::new()), 0.5);
    let signed = Signed::new(Entropy::new(0.01).unwrap(), 1.0).unwrap();
    visitor.visit("normalised egu+-", Normalised::new(signed), 0.1);
    let implicit = Implicit::new(Hyperbolic::new());
    visitor.visit("normalised implicit hyperbolic", Normalised::new(implicit), 0.1);
}

/// A matrix with 1 on the diagonal and ¼ next to it.
fn tridiagonal(n: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| [1.0, 0.25].get(i.abs_diff(j)).copied().unwrap_or(0.0);
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

/// Every walk with implicit steps.
pub(crate) fn implicit(visitor: &mut impl Visit) {
    visitor.visit("implicit gd", Implicit::new(Euclidean::new()), 0.1);
    visitor.visit("implicit sphere", Implicit::new(Sphere::new(1.0, 1).unwrap()), 0.2);
    visitor.visit("implicit sphere(radius=3)", Implicit::new(Sphere::new(3.0, 1).unwrap()), 0.2);
    visitor.visit("implicit hyperbolic", Implicit::new(Hyperbolic::new()), 0.1);
    visitor.visit("implicit simplex", Implicit::new(Simplex::new()), 0.5);
    visitor.visit("implicit orthant", Implicit::new(Orthant::new(0.1).unwrap()), 0.5);
    visitor.visit("implicit egu", Implicit::new(Entropy::new(Entropy::START).unwrap()), 0.1);
    visitor.visit("implicit eg", Implicit::new(SimplexEntropy::new()), 0.5);
    visitor.visit("implicit p-norm", Implicit::new(PNorm::new(1.2).unwrap()), 0.1);
    visitor.visit("implicit burg", Implicit::new(Burg::new(0.1).unwrap()), 0.1);
    let signed = Signed::new(Implicit::new(SimplexEntropy::new()), 2.0).unwrap();
    visitor.visit("implicit eg+-", signed, 0.2);
}

/// The weights.
pub(crate) fn weights<W: Walk>(walk: &W) -> Vec<f64> {
    let mut w = Vec::new();
    walk.read(&mut w);
    w
}

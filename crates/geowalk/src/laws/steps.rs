//! Laws of walks: an O(nnz) form equals the O(n) definition of its geometry, and an implicit step is the
//! minimum that it claims to be.

use super::{Broken, Sampler, demand, gap, size, succeed};
use crate::Real;
use crate::error::{ConfigError, DomainError};
use crate::geometry::generators::AnyGenerator;
use crate::geometry::manifolds::AnyManifold;
use crate::geometry::{Event, ExpLog, Generator, Manifold, Work};
use crate::learn::{Implicit, OnManifold, Proximal, SparseForm, Steps, WithGenerator};
use crate::loss::{AnyLoss, Loss};
use crate::row::{Dense, Row, Sparse};
use crate::walk::{self, Walk};

/// Something to do with every O(nnz) form.
pub trait Forms {
    /// A form of the manifold that this text specifies.
    fn manifold<G: SparseForm>(&mut self, spec: &str, steps: Steps<G>)
    where
        Steps<G>: Proximal;

    /// A form of the generator that this text specifies.
    fn generator<G: SparseForm>(&mut self, spec: &str, steps: Steps<G>)
    where
        Steps<G>: Proximal;
}

/// Every O(nnz) form that is the step of a geometry in the tables. Twins and relatives of steps are not among them.
pub fn forms(visitor: &mut impl Forms) -> Result<(), ConfigError> {
    visitor.manifold("euclidean", walk::Euclidean::new());
    visitor.manifold("sphere", walk::Sphere::new(1.0, 7)?);
    visitor.manifold("sphere(radius=3)", walk::Sphere::new(3.0, 8)?);
    visitor.manifold("simplex", walk::Simplex::new());
    visitor.manifold("orthant", walk::Orthant::new(0.1)?);
    visitor.manifold("hyperbolic", walk::Hyperbolic::new());
    visitor.generator("entropy", walk::Entropy::new(0.01)?);
    visitor.generator("simplex-entropy", walk::SimplexEntropy::new());
    visitor.generator("burg", walk::Burg::new(0.1)?);
    visitor.generator("p-norm(q=1.5)", walk::PNorm::new(1.5)?);
    visitor.generator("p-norm(q=1.2)", walk::PNorm::new(1.2)?);
    Ok(())
}

/// The weights of a walk.
fn weights<W: Walk>(walk: &W) -> Vec<f64> {
    let mut w = Vec::new();
    walk.read(&mut w);
    w
}

/// A manifold on so many features, and the point with these weights.
fn lifted(spec: &str, w: &[f64]) -> Result<(AnyManifold, Vec<f64>), ConfigError> {
    let flat = AnyManifold::parse(spec, w.len())?;
    let first = Manifold::<f64>::first_feature(&flat);
    let manifold = AnyManifold::parse(spec, w.len() + first)?;
    let mut point = w.to_vec();
    if first == 1 {
        // The time of the hyperboloid.
        point.insert(0, (1.0 + w.iter().map(|w| w * w).sum::<f64>()).sqrt());
    }
    Ok((manifold, point))
}

/// A walk on the manifold from the weights of another.
fn on_manifold(spec: &str, w: &[f64]) -> Result<OnManifold<AnyManifold>, ConfigError> {
    let (manifold, point) = lifted(spec, w)?;
    OnManifold::explicit(manifold)?.from_point(&point)
}

/// Features of the streams.
const FEATURES: usize = 24;

/// A sparse row of about four of the features, and a label.
fn example(sampler: &mut Sampler) -> (Vec<u32>, Vec<f64>, f64) {
    let picked = |i: &usize, sampler: &mut Sampler| *i == 0 || sampler.unit() < 0.15;
    let indices: Vec<u32> =
        (0..FEATURES).filter(|i| picked(i, sampler)).filter_map(|i| i.try_into().ok()).collect();
    let values = indices.iter().map(|_| sampler.uniform(-1.0, 1.0)).collect();
    (indices, values, sampler.sign())
}

/// A form makes the steps of its manifold.
pub fn sparse_is_geodesic<G: SparseForm>(
    spec: &str,
    mut steps: Steps<G>,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    steps.grow(FEATURES);
    let plain = on_manifold(spec, &weights(&steps));
    same(steps, succeed("the manifold takes the start", plain, sampler)?, 0.1, 1e-12, sampler)
}

/// A form makes the steps of its generator.
pub fn sparse_is_mirror<G: SparseForm>(
    spec: &str,
    mut steps: Steps<G>,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    steps.grow(FEATURES);
    let plain = AnyGenerator::parse(spec, FEATURES).and_then(|generator| {
        WithGenerator::mirror(generator, FEATURES)?.from_weights(&weights(&steps))
    });
    let plain = succeed("the generator takes the start", plain, sampler)?;
    // A difference of squares, which the theorems do not use.
    let lengths = if spec.starts_with("p-norm") { 1e-7 } else { 1e-12 };
    let rate = if spec == "burg" { 0.01 } else { 0.1 };
    same(steps, plain, rate, lengths, sampler)
}

/// Two walks make the same steps on a random stream.
fn same<A: Walk, B: Walk>(
    mut fast: A,
    mut plain: B,
    rate: f64,
    lengths: f64,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let loss = succeed("the loss is known", AnyLoss::parse("logistic"), sampler)?;
    for _ in 0..100 {
        let (indices, values, y) = example(sampler);
        let x = succeed("rows are well formed", Sparse::new(&indices, &values), sampler)?;
        let a = succeed("the form makes a step", fast.step(x, y.into(), &loss, rate), sampler)?;
        let b = succeed("the definition does", plain.step(x, y.into(), &loss, rate), sampler)?;
        let off = (a.z - b.z).abs();
        demand("the predictions are the same", off, 1e-12 * (1.0 + b.z.abs()), sampler)?;
        let off = (a.length - b.length).abs();
        demand("the lengths are the same", off, lengths * (1.0 + b.length), sampler)?;
    }
    let (a, b) = (weights(&fast), weights(&plain));
    demand("the weights are the same", gap(&a, &b), 1e-12 * (1.0 + size(&b)), sampler)
}

/// An implicit step on a manifold is the global minimum of U(w') = dist²(w', w)/2η + L(w'), as far as a search finds.
pub fn implicit_is_least_on_manifold<W: Proximal>(
    spec: &str,
    walk: W,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    least(walk, sampler, &mut |w, from, way, size| {
        let (manifold, mut q) = lifted(spec, from)?;
        let (_, p) = lifted(spec, w)?;
        let mut work = Work::new();
        let mut v = vec![0.0; q.len()];
        let first = q.len() - way.len();
        v[first..].copy_from_slice(way);
        Manifold::<f64>::project(&manifold, &q, &mut v);
        let norm = manifold.norm(&q, &v, &mut work);
        if norm > 0.0 {
            manifold.exp(&mut q, &v, size / norm, &mut work)?;
        }
        let distance = manifold.distance(&p, &q, &mut work);
        Ok((q[first..].to_vec(), 0.5 * distance * distance))
    })
}

/// An implicit step with a generator is the global minimum of U(w') = D(w'‖w)/η + L(w'), as far as a search finds.
pub fn implicit_is_least_with_generator<W: Proximal>(
    spec: &str,
    walk: W,
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    least(walk, sampler, &mut |w, from, way, size| {
        let generator = AnyGenerator::parse(spec, from.len())?;
        let (mut theta, mut q) = (vec![0.0; from.len()], from.to_vec());
        generator.link(from, &mut theta);
        let length = way.iter().map(|v| v * v).sum::<f64>().sqrt();
        theta.iter_mut().zip(way).for_each(|(theta, v)| *theta += size * v / length);
        generator.check_dual(&theta)?;
        if size > 0.0 {
            generator.unlink(&theta, &mut q);
        }
        Ok((q.clone(), generator.divergence(&q, w)))
    })
}

/// From w: the point that is reached from `from` on the `way`, so far, and what it costs.
type Reached<'a> =
    &'a mut dyn FnMut(&[f64], &[f64], &[f64], f64) -> Result<(Vec<f64>, f64), ConfigError>;

fn least<W: Proximal>(walk: W, sampler: &mut Sampler, reached: Reached<'_>) -> Result<(), Broken> {
    const LOSSES: [&str; 5] = ["squared", "logistic", "hinge", "absolute", "huber(delta=0.2)"];
    let n = 2 + sampler.below(4);
    let mut walk = Implicit::new(walk);
    walk.grow(n);
    // Somewhere else than at the start.
    for _ in 0..3 {
        let (x, y) = (sampler.vector::<f64>(n), sampler.normal());
        let loss = succeed("the loss is known", AnyLoss::parse("squared"), sampler)?;
        let moved = walk.step(Dense(&x), y.into(), &loss, 0.3);
        succeed("a step of moderate rate is made", moved, sampler)?;
    }
    let before = weights(&walk);
    let name = LOSSES[sampler.below(LOSSES.len())];
    let loss = succeed("the loss is known", AnyLoss::parse(name), sampler)?;
    let (x, y) = (sampler.vector::<f64>(n), sampler.sign());
    let rate = Real::exp(sampler.uniform(-4.0, 5.0));
    let round = match walk.step(Dense(&x), y.into(), &loss, rate) {
        // Too far to be represented.
        Err(DomainError::Overflow { .. }) => return Ok(()),
        step => succeed("an implicit step is made", step, sampler)?,
    };
    if !matches!(round.event, Event::Inside) {
        return Ok(());
    }
    let after = weights(&walk);
    let mut objective = |from: &[f64], way: &[f64], size: f64| {
        let (q, cost) = reached(&before, from, way, size).ok()?;
        let u = cost / rate + loss.value(Dense(&q).dot(&x), y);
        u.is_finite().then_some((q, u))
    };
    let Some((_, own)) = objective(&after, &x, 0.0) else { return Ok(()) };
    // The best of many places, then a descent from it by chance.
    let mut best = (after.clone(), own);
    let mut consider = |from: &[f64], way: &[f64], size: f64, best: &mut (Vec<f64>, f64)| {
        let Some(found) = objective(from, way, size).filter(|found| found.1 < best.1) else {
            return false;
        };
        *best = found;
        true
    };
    for from in [&before, &after] {
        for k in 0..80 {
            let far = Real::exp(-8.0 + 0.125 * f64::from(k)) * sampler.sign();
            let mut axis = vec![0.0; n];
            axis[sampler.below(n)] = 1.0;
            for way in [&x, &axis, &sampler.vector(n)] {
                consider(from, way, far, &mut best);
                consider(from, way, -far, &mut best);
            }
        }
    }
    let mut reach = 0.1;
    for _ in 0..150 {
        let (from, way) = (best.0.clone(), sampler.vector::<f64>(n));
        let lower = consider(&from, &way, reach, &mut best);
        reach *= if lower { 1.6 } else { 0.8 };
    }
    let (law, slack) = ("no other weights have a lower objective", 1e-8 * (1.0 + own.abs()));
    demand(law, own - best.1, slack, sampler)
}

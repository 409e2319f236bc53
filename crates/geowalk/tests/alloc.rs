//! No operation of a manifold or generator allocates once its scratch memory has grown, and no walk allocates per
//! example once it has seen its features.
#![allow(clippy::unwrap_used)] // test helpers may unwrap

use geowalk::Real;
use geowalk::geometry::generators::{self, AnyGenerator};
use geowalk::geometry::manifolds::{AnyManifold, entries};
use geowalk::geometry::{Curved, ExpLog, Generator, Manifold, Work};
use geowalk::laws::Sampler;
use geowalk::loss::Absolute;
use geowalk::row::{Dense, Sparse};
use geowalk::walk::Walk;

mod walk_support;

/// All operations that a learner calls per example, walking there and back.
fn round<F: Real>(m: &AnyManifold, p: &mut [F], buffers: &mut [Vec<F>; 3], work: &mut Work<F>) {
    let [g, v, q] = buffers;
    m.gradient(p, g, v, work);
    m.project(p, v);
    let length = m.norm(p, v, work).max(m.inner(p, v, v, work));
    let t = F::of(0.1) / (F::ONE + length);
    q.copy_from_slice(p);
    m.exp(q, v, t, work).unwrap();
    m.retract(q, v, F::ZERO, work).unwrap();
    m.log(p, q, v, work).unwrap();
    m.transport(p, q, v, work).unwrap();
    assert!(m.distance(p, q, work).is_finite());
    assert!(!m.injectivity(p).is_nan());
    p.copy_from_slice(q);
}

fn allocations<F: Real>(m: &AnyManifold) -> u64 {
    let n = Manifold::<F>::ambient(m);
    let mut p = vec![F::ZERO; n];
    m.origin(&mut p);
    let g: Vec<F> = (0..n).map(|i| F::of((i % 3) as f64 - 0.5)).collect();
    let mut buffers = [g, vec![F::ZERO; n], vec![F::ZERO; n]];
    let mut work = Work::new();
    round(m, &mut p, &mut buffers, &mut work);
    let counted = allocation_counter::measure(|| {
        for _ in 0..10 {
            round(m, &mut p, &mut buffers, &mut work);
        }
    });
    counted.count_total
}

#[test]
fn no_manifold_allocates_after_the_first_round() {
    // Check that the counter works.
    assert_eq!(allocation_counter::measure(|| drop(std::hint::black_box(vec![1]))).count_total, 1);
    for entry in entries() {
        let spec = match entry.name {
            "product" => "product(sphere(n=3), product(simplex(n=4), orthant(n=2)))",
            "stiefel" => "stiefel(columns=2)",
            "grassmann" => "grassmann(columns=2)",
            name => name,
        };
        let m = AnyManifold::parse(spec, 5).unwrap();
        assert_eq!((allocations::<f64>(&m), allocations::<f32>(&m)), (0, 0), "{spec}");
    }
}

#[test]
fn no_generator_allocates_after_the_first_round() {
    let n = 3;
    for entry in generators::entries() {
        let spec = match entry.name {
            "mahalanobis" => "mahalanobis(sigma=2 1 0; 1 3 0; 0 0 1)",
            name => name,
        };
        let g = AnyGenerator::parse(spec, n).unwrap();
        let mut sampler = Sampler::new(1);
        let (u, w): (Vec<f64>, Vec<f64>) =
            (sampler.domain_point(&g, n), sampler.domain_point(&g, n));
        let (mut theta, mut back, mut work) = (vec![0.0; n], vec![0.0; n], Work::new());
        let mut round = || {
            g.link(&w, &mut theta);
            g.unlink(&theta, &mut back);
            assert!((g.value(&w) + g.divergence(&u, &w) + g.conjugate(&theta)).is_finite());
            g.legendre_dual(&[0.0; 3], &w, &mut back, &mut work);
            g.hessian(&w, &u, &mut theta);
            g.hessian_inverse(&w, &theta, &mut back);
        };
        round();
        assert_eq!(allocation_counter::measure(round).count_total, 0, "{spec}");
    }
}

#[test]
fn no_walk_allocates_per_example() {
    struct Memory;
    impl walk_support::Visit for Memory {
        fn visit<W: Walk + Clone + PartialEq + std::fmt::Debug>(
            &mut self,
            name: &str,
            mut walk: W,
            rate: f64,
        ) {
            walk.grow(8);
            let (indices, values) = ([1, 4, 7], [0.5, 0.25, 1.0]);
            let sparse = Sparse::new(&indices, &values).unwrap();
            let dense = Dense(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
            walk.step(dense, 0.5.into(), &Absolute, rate).unwrap();
            let counted = allocation_counter::measure(|| {
                for _ in 0..50 {
                    walk.step(sparse, 0.5.into(), &Absolute, rate).unwrap();
                    walk.step(dense, 0.5.into(), &Absolute, rate).unwrap();
                    assert!(walk.predict(sparse).is_finite());
                }
            });
            assert_eq!(counted.count_total, 0, "{name}");
        }
    }
    walk_support::all(&mut Memory);
}

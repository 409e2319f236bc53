//! Operations of a manifold allocate nothing once their scratch memory has grown.
#![allow(clippy::unwrap_used)] // the helpers of a test are tests

use geowalk::Real;
use geowalk::geometry::manifolds::{AnyManifold, entries};
use geowalk::geometry::{ExpLog, Manifold, Work};

/// Everything a learner calls per example; the walk goes there and back.
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
    // The counter counts.
    assert_eq!(allocation_counter::measure(|| drop(std::hint::black_box(vec![1]))).count_total, 1);
    for entry in entries() {
        let spec = match entry.name {
            "product" => "product(sphere(n=3), product(simplex(n=4), orthant(n=2)))",
            name => name,
        };
        let m = AnyManifold::parse(spec, 5).unwrap();
        assert_eq!((allocations::<f64>(&m), allocations::<f32>(&m)), (0, 0), "{spec}");
    }
}

//! After a million geodesic steps a point is still on its manifold: rounding errors do not accumulate.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop

use geowalk::geometry::manifolds::{AnyManifold, entries};
use geowalk::geometry::{ExpLog, Manifold, Work};
use geowalk::laws::Sampler;

/// Distance of `p` from its manifold, relative to the size of the compared quantities.
fn drift(m: &AnyManifold, p: &[f64]) -> f64 {
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    match m {
        AnyManifold::Sphere(sphere) => (square(p).sqrt() / sphere.radius() - 1.0).abs(),
        AnyManifold::Simplex(_) => (p.iter().sum::<f64>() - 1.0).abs(),
        AnyManifold::Hyperboloid(_) => ((1.0 + square(&p[1..])).sqrt() / p[0] - 1.0).abs(),
        AnyManifold::Spd(_)
        | AnyManifold::SpdLogEuclidean(_)
        | AnyManifold::BuresWasserstein(_) => (p[1] - p[2]).abs(),
        AnyManifold::Stiefel(_) | AnyManifold::Grassmann(_) | AnyManifold::Rotations(_) => {
            let columns = m.shape()[1];
            let product = |i: usize, j: usize| -> f64 {
                p.chunks_exact(columns).map(|row| row[i] * row[j]).sum()
            };
            let off = |i: usize, j: usize| (product(i, j) - f64::from(i == j)).abs();
            (0..columns)
                .flat_map(|i| (0..=i).map(move |j| (i, j)))
                .fold(0.0, |worst, (i, j)| f64::max(worst, off(i, j)))
        }
        AnyManifold::Product(product) => {
            let mut rest = p;
            product.factors().iter().fold(0.0, |worst, factor| {
                let (head, tail) = rest.split_at(Manifold::<f64>::ambient(factor));
                rest = tail;
                f64::max(worst, drift(factor, head))
            })
        }
        _ => 0.0,
    }
}

/// A million walks in random directions, kept near the origin by a pull towards it.
fn million_steps(spec: &str) {
    let m = AnyManifold::parse(spec, 3).unwrap();
    let n = Manifold::<f64>::ambient(&m);
    let (mut sampler, mut work) = (Sampler::new(1), Work::new());
    let (mut p, mut home) = (vec![0.0; n], vec![0.0; n]);
    m.origin(&mut home);
    p.copy_from_slice(&home);
    let (mut covector, mut v, mut back) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut worst = 0.0_f64;
    for step in 1..=1_000_000 {
        for g in &mut covector {
            *g = sampler.uniform(-1.0, 1.0);
        }
        m.gradient(&p, &covector, &mut v, &mut work);
        // The metric of optimal transport is not complete: a walk as long as the injectivity radius may reach the
        // boundary.
        let length = match &m {
            AnyManifold::BuresWasserstein(_) => f64::min(0.2, 0.5 * m.injectivity(&p)),
            _ => 0.2,
        };
        let scale = length / m.norm(&p, &v, &mut work);
        // At the cut locus of the origin there is no unique way back; use any direction.
        if m.log(&p, &home, &mut back, &mut work).is_err() {
            back.fill(0.0);
        }
        for (v, &back) in v.iter_mut().zip(&back) {
            *v = scale * *v + 0.1 * back;
        }
        m.exp(&mut p, &v, 1.0, &mut work).unwrap_or_else(|e| panic!("{spec}, step {step}: {e}"));
        worst = worst.max(drift(&m, &p));
        if step % 1000 == 0 {
            m.check(&p).unwrap_or_else(|e| panic!("{spec}, step {step}: {e}"));
        }
    }
    assert!(m.distance(&p, &home, &mut work) > 1e-3, "{spec}: nothing moved");
    // Errors do not accumulate: after a million steps a point is as near to its manifold as after one.
    assert!(worst < 4e-15, "{spec}: {worst:e}");
}

macro_rules! million {
    ($($name:ident: $spec:literal,)*) => {
        $(#[test]
        fn $name() {
            million_steps($spec);
        })*

        #[test]
        fn every_manifold_of_the_table_walks() {
            for entry in entries() {
                assert!([$($spec),*].iter().any(|spec| spec.starts_with(entry.name)), "{}", entry.name);
            }
        }
    };
}

million! {
    a_million_steps_in_euclidean_space: "euclidean",
    a_million_steps_on_the_sphere: "sphere(radius=7)",
    a_million_steps_on_the_simplex: "simplex",
    a_million_steps_in_the_orthant: "orthant",
    a_million_steps_on_the_hyperboloid: "hyperbolic",
    a_million_steps_in_the_ball: "poincare-ball",
    a_million_steps_among_matrices: "spd(n=2)",
    a_million_steps_among_logarithms_of_matrices: "spd-log-euclidean(n=2)",
    a_million_steps_among_covariances: "spd-bures-wasserstein(n=2)",
    a_million_steps_among_frames: "stiefel(n=4, columns=2)",
    a_million_steps_among_subspaces: "grassmann(n=4, columns=2)",
    a_million_steps_among_rotations: "rotations(n=3)",
    a_million_steps_on_oblique_matrices: "oblique(rows=2, columns=3)",
    a_million_steps_on_the_torus: "torus",
    a_million_steps_in_a_product: "product(sphere(n=3), simplex(n=3), hyperbolic(n=3))",
}

//! All geometries in the tables, in several sizes and with extreme parameters.

use geowalk::geometry::generators::{self, AnyGenerator, Mahalanobis, PNorm};
use geowalk::geometry::manifolds::{self, AnyManifold, Sphere};
use geowalk::loss::AnyLoss;

pub(crate) fn every_manifold() -> Vec<AnyManifold> {
    let specs = manifolds::entries().map(|entry| match entry.name {
        "product" => {
            "product(sphere(n=2, radius=2), simplex(n=2), spd(n=1), product(euclidean(n=1)))"
        }
        name => name,
    });
    let sizes = specs.flat_map(|spec| [2, 3].map(|n| AnyManifold::parse(spec, n).unwrap()));
    sizes.chain([1e-300, 1e300].map(|r| AnyManifold::Sphere(Sphere::new(3, r).unwrap()))).collect()
}

pub(crate) fn every_generator(n: usize) -> Vec<AnyGenerator> {
    let identity: Vec<f64> = (0..n * n).map(|i| if i % (n + 1) == 0 { 2.0 } else { 0.5 }).collect();
    let named = generators::entries().filter(|entry| entry.name != "mahalanobis");
    let mut all: Vec<_> = named.map(|e| AnyGenerator::parse(e.name, n).unwrap()).collect();
    all.push(AnyGenerator::Mahalanobis(Mahalanobis::new(identity, n).unwrap()));
    for q in [1.0 + f64::EPSILON, 1.001, 1.5, 2.0] {
        all.push(AnyGenerator::PNorm(PNorm::new(q).unwrap()));
    }
    all
}

pub(crate) fn every_loss() -> Vec<AnyLoss> {
    let mut specs: Vec<&str> = geowalk::loss::entries().map(|entry| entry.name).collect();
    specs.extend(["huber(delta=1e-300)", "huber(delta=1e300)", "quantile(tau=5e-324)"]);
    specs.extend(["winnow-hinge(theta=-1e308)", "mu(mu=0.9999999999999999)", "nu(nu=5e-324)"]);
    specs.extend(["nu(nu=0.9999999999999999)", "zeta(zeta=-1e300)", "zeta(zeta=-1e-300)"]);
    specs.extend(["geodesic(space=euclidean)", "geodesic(space=spacelike)"]);
    specs.extend(["geodesic(space=timelike)", "geodesic(space=null)"]);
    specs.iter().map(|spec| AnyLoss::parse(spec).unwrap()).collect()
}

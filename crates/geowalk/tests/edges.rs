//! Edge cases: isometries, means, tiny and huge manifolds, walks that leave the manifold, large feature indices.

#![allow(clippy::unwrap_used)] // a test may stop

use geowalk::Real;
use geowalk::certify::{Bound, Comparator, FirstOrder};
use geowalk::error::{Allowed, DomainError};
use geowalk::geometry::generators::PNorm;
use geowalk::geometry::link::{Asinh, Link};
use geowalk::geometry::manifolds::{
    AnyManifold, Euclidean, Hyperboloid, PoincareBall, PositiveOrthant, Product, Simplex, Spd,
    Sphere, push_to_ball, push_to_hyperboloid, to_ball, to_hyperboloid,
};
use geowalk::geometry::{Event, ExpLog, Hessian, Manifold, Work};
use geowalk::laws::Sampler;
use geowalk::loss::doctor::{self, Range};
use geowalk::loss::{Custom, Loss, Squared};
use geowalk::row::Sparse;
use geowalk::update::{Explicit, Update};
use std::sync::Arc;

const SEEDS: u64 = 60;

fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |worst, (a, b)| Real::max(worst, (a - b).abs()))
}

/// An isometry maps walks, logarithms, distances, transports and means of one manifold to those of the other.
fn isometry(
    name: &str,
    from: &dyn ExpLog<f64>,
    to: &dyn ExpLog<f64>,
    there: impl Fn(&[f64]) -> Vec<f64>,
    push: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) {
    let (mut work, mut other) = (Work::new(), Work::new());
    for seed in 0..SEEDS {
        let sampler = &mut Sampler::new(seed);
        let p: Vec<f64> = sampler.point(from);
        let length = sampler.length(from, &p, 1.0);
        let (u, v) = (sampler.tangent(from, &p, 1.0), sampler.tangent(from, &p, length));
        let image = there(&p);
        to.check(&image).unwrap();
        let close = |what: &str, a: &[f64], b: &[f64]| {
            let scale = 1.0 + b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
            assert!(off(a, b) <= 2e-13 * scale, "{name}, {what}, seed {seed}: {a:?} {b:?}");
        };
        let inner = to.inner(&image, &push(&p, &u), &push(&p, &v), &mut other);
        close("inner", &[from.inner(&p, &u, &v, &mut work)], &[inner]);
        let (mut q, mut q_image) = (p.clone(), image.clone());
        from.exp(&mut q, &v, 1.0, &mut work).unwrap();
        to.exp(&mut q_image, &push(&p, &v), 1.0, &mut other).unwrap();
        close("exp", &there(&q), &q_image);
        let far = to.distance(&image, &q_image, &mut other);
        close("distance", &[from.distance(&p, &q, &mut work)], &[far]);
        let (mut log, mut log_image) = (p.clone(), image.clone());
        from.log(&q, &p, &mut log, &mut work).unwrap();
        to.log(&q_image, &image, &mut log_image, &mut other).unwrap();
        close("log", &push(&q, &log), &log_image);
        let (mut moved, mut moved_image) = (u.clone(), push(&p, &u));
        from.transport(&p, &q, &mut moved, &mut work).unwrap();
        to.transport(&image, &q_image, &mut moved_image, &mut other).unwrap();
        close("transport", &push(&q, &moved), &moved_image);
        let mut third = p.clone();
        from.exp(&mut third, &u, 0.5 * length, &mut work).unwrap();
        let points = [p.clone(), q.clone(), third.clone()].concat();
        let images = [image.clone(), q_image, there(&third)].concat();
        let (mut mean, mut mean_image) = (p.clone(), image.clone());
        from.mean(&points, Some(&[1.0, 2.0, 3.0]), &mut mean, &mut work).unwrap();
        to.mean(&images, Some(&[1.0, 2.0, 3.0]), &mut mean_image, &mut other).unwrap();
        close("mean", &there(&mean), &mean_image);
    }
}

#[test]
fn isometries_carry_everything() {
    let (simplex, sphere) = (Simplex::new(4).unwrap(), Sphere::new(4, 2.0).unwrap());
    isometry(
        "simplex -> sphere",
        &simplex,
        &sphere,
        |p| p.iter().map(|p| 2.0 * p.sqrt()).collect(),
        |p, v| v.iter().zip(p).map(|(v, p)| v / p.sqrt()).collect(),
    );
    // Rotate two coordinates by an angle with exact sine and cosine, and scale up.
    let turn = |v: &[f64]| vec![3.0 * v[0] - 4.0 * v[1], 4.0 * v[0] + 3.0 * v[1], 5.0 * v[2]];
    let (unit, large) = (Sphere::new(3, 1.0).unwrap(), Sphere::new(3, 5.0).unwrap());
    let narrow = |v: &[f64]| turn(v).iter().map(|x| x / 5.0).collect::<Vec<_>>();
    isometry("rotation", &unit, &unit, narrow, |_, v| narrow(v));
    let sphere_of_25 = Sphere::new(3, 25.0).unwrap();
    let halves = |m: &Sphere, seed: u64| {
        let p: Vec<f64> = Sampler::new(seed).point(m);
        p.iter().map(|p| p / m.radius()).collect::<Vec<_>>()
    };
    // Scaling is not an isometry: distances scale too.
    let (p, q) = (halves(&unit, 1), halves(&unit, 2));
    let scaled = |x: &[f64], r: f64| x.iter().map(|x| r * x).collect::<Vec<_>>();
    let d = unit.distance(&p, &q, &mut Work::new());
    for m in [&large, &sphere_of_25] {
        let r = m.radius();
        let far = m.distance(&scaled(&p, r), &scaled(&q, r), &mut Work::new());
        assert!((far / (r * d) - 1.0).abs() < 1e-15);
    }

    let (orthant, flat) = (PositiveOrthant::new(3).unwrap(), Euclidean::new(3).unwrap());
    isometry(
        "orthant -> Euclidean space",
        &orthant,
        &flat,
        |p| p.iter().map(|&p| Real::ln(p)).collect(),
        |p, v| v.iter().zip(p).map(|(v, p)| v / p).collect(),
    );
    let (ball, hyperboloid) = (PoincareBall::new(3).unwrap(), Hyperboloid::new(4).unwrap());
    let fill = |n: usize, f: &dyn Fn(&mut [f64])| {
        let mut out = vec![0.0; n];
        f(&mut out);
        out
    };
    isometry(
        "ball -> hyperboloid",
        &ball,
        &hyperboloid,
        |p| fill(4, &|out| to_hyperboloid(p, out)),
        |p, v| fill(4, &|out| push_to_hyperboloid(p, v, out)),
    );
    isometry(
        "hyperboloid -> ball",
        &hyperboloid,
        &ball,
        |p| fill(3, &|out| to_ball(p, out)),
        |p, v| fill(3, &|out| push_to_ball(p, v, out)),
    );
    // X -> A X Aᵀ, A = [[2, 1], [0, 1]].
    let spd = Spd::new(2).unwrap();
    let congruence = |x: &[f64]| {
        let (a, b, c) = (x[0], x[1], x[3]);
        let (corner, side) = (4.0 * a + 4.0 * b + c, 2.0 * b + c);
        vec![corner, side, side, c]
    };
    isometry("congruence", &spd, &spd, congruence, |_, v| congruence(v));
}

/// The weighted mean of two points divides the geodesic between them in the ratio of the weights.
#[test]
fn the_mean_of_two_points_is_on_the_way_between_them() {
    let specs = [
        "euclidean",
        "sphere",
        "sphere(radius=1e-20)",
        "sphere(radius=1e20)",
        "simplex",
        "orthant",
        "hyperbolic",
        "poincare-ball",
        "spd",
        "product(sphere(n=2, radius=1e-9), euclidean(n=2))",
    ];
    for spec in specs {
        let m = AnyManifold::parse(spec, 3).unwrap();
        let n = Manifold::<f64>::ambient(&m);
        let mut work = Work::new();
        for seed in 0..SEEDS {
            let sampler = &mut Sampler::new(seed);
            let p: Vec<f64> = sampler.point(&m);
            let length = m.injectivity(&p).min(1.0) * sampler.uniform(0.1, 0.4);
            let v = sampler.tangent(&m, &p, length);
            let mut q = p.clone();
            m.exp(&mut q, &v, 1.0, &mut work).unwrap();
            let mut mean = vec![0.0; n];
            let found =
                m.mean(&[p.clone(), q.clone()].concat(), Some(&[1.0, 3.0]), &mut mean, &mut work);
            assert!(found.unwrap().unique, "{spec}");
            let part = m.distance(&p, &mean, &mut work) / length;
            assert!((part - 0.75).abs() < 1e-10, "{spec}, seed {seed}: {part}");
        }
    }
}

/// With negative curvature a step of 1 would overshoot, more so the farther the points are apart.
#[test]
fn means_of_points_that_are_far_apart() {
    let work = &mut Work::new();
    let plane = Hyperboloid::new(3).unwrap();
    let mut points = Vec::new();
    for angle in [0.0, 2.1, 4.2] {
        let mut p = [1.0, 0.0, 0.0];
        let v = [0.0, Real::cos(angle), Real::sin(angle)];
        plane.exp(&mut p, &v, 12.0, work).unwrap();
        points.extend(p);
    }
    let mut mean = [0.0; 3];
    let found = plane.mean(&points, None, &mut mean, work).unwrap();
    assert!(found.residual < 1e-8 && found.radius < 13.0 && found.unique, "{found:?}");
    assert!(plane.distance(&mean, &[1.0, 0.0, 0.0], work) < 0.1, "{mean:?}");
}

#[test]
fn means_end_where_there_is_no_mean_or_no_unit() {
    let work = &mut Work::new();
    let sphere = Sphere::new(3, 1.0).unwrap();
    let poles = [0.0, 0.0, 1.0, 0.0, 0.0, -1.0];
    let error = sphere.mean(&poles, None, &mut [0.0; 3], work).unwrap_err();
    assert!(matches!(error, DomainError::CutLocus { .. }), "{error}");
    // More than a quarter of a great circle: there is a mean, but it is not known to be unique.
    let mut mean = [0.0; 3];
    let points = [0.0, 0.0, 1.0, 0.6, 0.0, -0.8];
    let found = sphere.mean(&points, Some(&[3.0, 1.0]), &mut mean, work).unwrap();
    assert!(found.residual < 1e-9 && sphere.check(&mean).is_ok() && !found.unique, "{found:?}");
    // Far from the origin of a flat factor, the rounding of the points limits the residual.
    let factors: Vec<Box<dyn ExpLog<f64>>> =
        vec![Box::new(Euclidean::new(1).unwrap()), Box::new(Sphere::new(2, 1.0).unwrap())];
    let product = Product::new(factors).unwrap();
    let mut mean = [0.0; 3];
    let points = [1e10, 1.0, 0.0, 1e10 + 1.0, 0.0, 1.0, 1e10 + 5.0, 0.6, 0.8];
    product.mean(&points, None, &mut mean, work).unwrap();
    assert!((mean[0] - 1e10 - 2.0).abs() < 1e-5, "{mean:?}");
}

/// On every registered manifold the retraction is bit-identical to the geodesic; on a Hessian manifold it is not.
#[test]
fn retractions_are_what_their_documentation_says() {
    for entry in geowalk::geometry::manifolds::entries().filter(|entry| entry.name != "product") {
        let m = AnyManifold::parse(entry.name, 3).unwrap();
        let (mut work, sampler) = (Work::new(), &mut Sampler::new(3));
        let p: Vec<f64> = sampler.point(&m);
        let v = sampler.tangent(&m, &p, 0.3);
        let (mut a, mut b) = (p.clone(), p);
        m.exp(&mut a, &v, 0.5, &mut work).unwrap();
        m.retract(&mut b, &v, 0.5, &mut work).unwrap();
        assert_eq!(a, b, "{}", entry.name);
    }
    let kinked = Hessian::new(PNorm::new(1.5).unwrap(), 2).unwrap();
    let message = Manifold::check(&kinked, &[1.0, 0.0]).unwrap_err().to_string();
    assert!(message.starts_with("coordinate 1 of the size of the point"), "{message}");
    let plain = Hessian::new(PNorm::new(2.0).unwrap(), 2).unwrap();
    assert!(Manifold::check(&plain, &[1.0, 0.0]).is_ok());
}

/// The event of a walk is reported in the round of the learner.
#[test]
fn rounds_report_walks_that_leave() {
    let y = geowalk::update::Target::from(1e3);
    let row = Sparse::new(&[0], &[1.0]).unwrap();
    let sphere = Explicit::new(Sphere::new(2, 1.0).unwrap());
    let mut state = sphere.start(&[0.6, 0.8]).unwrap();
    assert_eq!(sphere.step(&mut state, row, y, &Squared, 1e-6).unwrap().event, Event::Inside);
    let round = sphere.step(&mut state, row, y, &Squared, 0.01).unwrap();
    assert!(
        round.event == Event::PastInjectivity && round.length > std::f64::consts::PI,
        "{round:?}"
    );
    let simplex = Explicit::new(Simplex::new(2).unwrap());
    let mut state = simplex.start(&[0.5, 0.5]).unwrap();
    assert_eq!(simplex.step(&mut state, row, y, &Squared, 1e-4).unwrap().event, Event::Inside);
    let round = simplex.step(&mut state, row, y, &Squared, 2e-3).unwrap();
    assert!(matches!(round.event, Event::Folded { coordinates: 1 }), "{round:?}");
    let orthant = Explicit::new(PositiveOrthant::new(2).unwrap());
    let mut state = orthant.start(&[1.0, 1.0]).unwrap();
    let round = orthant.step(&mut state, row, y, &Squared, 1.0).unwrap();
    assert_eq!(round.event, Event::Clamped { coordinates: 1 });
    // A negative weight would make a convex loss nonconvex, so that no certificate holds.
    let target = geowalk::update::Target { y: 0.0, weight: -1.0 };
    assert!(orthant.step(&mut state, row, target, &Squared, 0.1).is_err());
}

#[test]
fn links_of_weights_far_out() {
    let link = Asinh::new(1.0).unwrap();
    for (p, q) in
        [(1e160, 2e160), (-1e308, -1.5e308), (1e-300, 3e-300), (1e308, 1e-308), (2.0, 2.0)]
    {
        let expected =
            if p.abs() < 1.0 { q - p } else { Link::<f64>::link(&link, q) - link.link(p) };
        let found = link.difference(p, q);
        assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{p} {q}: {found} {expected}");
    }
    let steep = Asinh::new(1e-37).unwrap();
    // ln(2·1e300/1e-37)
    assert!((Link::<f64>::link(&steep, 1e300) - 776.664_323_5).abs() < 1e-6);
}

#[test]
fn nothing_is_accepted_unexamined() {
    let square = |z: f64, y: f64| (z - y) * (z - y);
    let slope = |z: f64, y: f64| 2.0 * (z - y);
    let range = |lo, hi, labels| Range::new(lo, hi, labels);
    assert!(range(0.0, 1.0, Allowed::Open(2.0, 1.0)).is_err(), "no label to examine");
    assert!(range(f64::MIN, f64::MAX, Allowed::Finite).is_err(), "a width that overflows");
    // A domain outside the default window is examined where it is.
    let far = range(100.0, 200.0, Allowed::Closed(100.0, 200.0)).unwrap();
    let loss = Custom::general(Arc::new(square), Arc::new(slope), None, far).unwrap();
    let window = Range::of(&loss);
    assert!(window.lo() > 100.0 && window.hi() < 200.0 && window.hi() - window.lo() > 50.0);
    let diagnosis = doctor::examine(&loss, &window);
    assert!(diagnosis.points > 100 && diagnosis.consistent(), "{diagnosis}");
    let error = geowalk::loss::AnyLoss::parse("huber(delta=1, delta=2)").unwrap_err();
    assert_eq!(error.to_string(), "delta is given twice");
}

/// A feature with a huge index is stored separately, and gives the same certificate as one with a small index.
#[test]
fn certificates_do_not_depend_on_where_the_features_are() {
    let bounds = [[0_u32, 5], [0, u32::MAX]].map(|indices| {
        let update = Explicit::new(Euclidean::new(1).unwrap());
        let mut state = update.start(&[1.0]).unwrap();
        let mut bound = FirstOrder::new(&Squared.facts());
        for t in 0..20 {
            let values = [1.0, f64::from(t) / 10.0];
            let row = Sparse::new(&indices, &values).unwrap();
            let round = update.step(&mut state, row, 0.5.into(), &Squared, 0.1).unwrap();
            bound.observe(&round, row);
        }
        let norm = geowalk::row::Norm::LInf;
        [
            bound.certify(&Comparator::Given(&[0.3])).bound,
            bound.certify(&Comparator::Ball { norm, radius: 2.0 }).bound,
            bound.certify(&Comparator::Simplex { n: 10 }).bound,
        ]
    });
    for (near, far) in bounds[0].iter().zip(&bounds[1]) {
        assert!((near - far).abs() < 1e-12, "{bounds:?}");
    }
}

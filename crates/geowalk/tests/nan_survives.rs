//! No NaN is lost: a result computed from a NaN is NaN or an error, never a plausible number. The only exceptions are
//! coordinates that provably do not matter: the position of a vector in flat space, and the label of a loss without
//! labels.

#![allow(clippy::unwrap_used)] // a test may stop

mod any_support;

use any_support::{every_generator, every_loss, every_manifold};
use geowalk::Real;
use geowalk::certify::{Bound, Comparator, FirstOrder, Status};
use geowalk::geometry::{Event, ExpLog, Generator, Hessian, PullBack, Work, generators, link};
use geowalk::laws::Sampler;
use geowalk::loss::permissible::{self, AnyPermissible, Permissible};
use geowalk::loss::{Loss, Squared};
use geowalk::row::{Dense, Norm};
use geowalk::sum::Sum;
use geowalk::update::Round;

fn lost<F: Real>(x: &[F]) -> bool {
    !x.iter().any(|x| x.is_nan())
}

/// A NaN in one coordinate of a point or vector appears in the result.
fn nan_survives<F: Real, M: ExpLog<F>>(name: &str, m: &M, seed: u64) {
    let sampler = &mut Sampler::new(seed);
    let work = &mut Work::new();
    let (p, q): (Vec<F>, Vec<F>) = (sampler.point(m), sampler.point(m));
    let length = sampler.length(m, &p, 0.5);
    let v = sampler.tangent(m, &p, length);
    let poison = |x: &[F], i: usize| -> Vec<F> {
        let mut x = x.to_vec();
        x[i] = F::NAN;
        x
    };
    for i in 0..m.ambient() {
        let (bad, bad_v) = (poison(&p, i), poison(&v, i));
        assert!(m.check(&bad).is_err() && m.check_tangent(&p, &bad_v).is_err(), "{name}: check");
        assert!(m.distance(&bad, &q, work).is_nan(), "{name}: distance from");
        assert!(m.distance(&q, &bad, work).is_nan(), "{name}: distance to");
        assert!(m.inner(&p, &bad_v, &v, work).is_nan(), "{name}: inner, left");
        assert!(m.inner(&p, &v, &bad_v, work).is_nan(), "{name}: inner, right");
        assert!(m.norm(&p, &bad_v, work).is_nan(), "{name}: norm");
        let mut out = vec![F::ZERO; p.len()];
        for (from, to) in [(&bad, &q), (&q, &bad)] {
            assert!(m.log(from, to, &mut out, work).is_err() || !lost(&out), "{name}: log");
        }
        m.gradient(&p, &bad_v, &mut out, work);
        assert!(!lost(&out), "{name}: gradient");
        let mut moved = bad_v.clone();
        assert!(
            m.transport(&p, &q, &mut moved, work).is_err() || !lost(&moved),
            "{name}: transport"
        );
        for (start, along) in [(&bad, &v), (&p, &bad_v)] {
            let mut end = start.clone();
            assert!(m.exp(&mut end, along, F::ONE, work).is_err() || !lost(&end), "{name}: exp");
            let mut end = start.clone();
            assert!(
                m.retract(&mut end, along, F::ONE, work).is_err() || !lost(&end),
                "{name}: retract"
            );
        }
        let mean = m.mean(&[q.clone(), bad.clone()].concat(), None, &mut out, work);
        assert!(mean.is_err() || !lost(&out), "{name}: mean");
    }
    let mut end = p.clone();
    assert!(m.exp(&mut end, &v, F::NAN, work).is_err() || !lost(&end), "{name}: exp for NaN time");
}

#[test]
fn nan_survives_every_manifold() {
    for m in every_manifold() {
        for seed in 0..4 {
            nan_survives::<f64, _>(&m.spec(), &m, seed);
            if !m.spec().contains("00") {
                nan_survives::<f32, _>(&m.spec(), &m, seed);
            }
        }
    }
    for seed in 0..4 {
        nan_survives::<f64, _>("logit", &PullBack::new(link::Logit, 3).unwrap(), seed);
        nan_survives::<f64, _>("root", &PullBack::new(link::Root, 3).unwrap(), seed);
        let asinh = link::Asinh::new(0.1).unwrap();
        nan_survives::<f64, _>("asinh", &PullBack::new(asinh, 3).unwrap(), seed);
        let burg = Hessian::new(generators::ItakuraSaito, 3).unwrap();
        nan_survives::<f64, _>("Hessian of Burg", &burg, seed);
    }
}

#[test]
fn nan_survives_every_generator() {
    for g in every_generator(3) {
        let name = g.spec();
        let (w, u): (Vec<f64>, Vec<f64>) =
            (Sampler::new(1).domain_point(&g, 3), Sampler::new(2).domain_point(&g, 3));
        let mut theta = vec![0.0; 3];
        g.link(&w, &mut theta);
        for i in 0..3 {
            let (mut bad, mut bad_theta, mut out) = (w.clone(), theta.clone(), vec![0.0; 3]);
            (bad[i], bad_theta[i]) = (f64::NAN, f64::NAN);
            assert!(g.check(&bad).is_err() && g.check_dual(&bad_theta).is_err(), "{name}: check");
            assert!(g.value(&bad).is_nan() && g.conjugate(&bad_theta).is_nan(), "{name}: value");
            assert!(g.divergence(&bad, &u).is_nan(), "{name}: divergence of");
            assert!(g.divergence(&u, &bad).is_nan(), "{name}: divergence from");
            g.link(&bad, &mut out);
            assert!(!lost(&out), "{name}: link");
            g.unlink(&bad_theta, &mut out);
            assert!(!lost(&out), "{name}: unlink");
            g.legendre_dual(&bad_theta, &w, &mut out, &mut Work::new());
            assert!(!lost(&out), "{name}: legendre_dual");
        }
    }
}

#[test]
fn nan_survives_every_loss() {
    for loss in every_loss() {
        let name = loss.spec();
        let blind = name == "invariant"; // it ignores the label
        for x in [-1.0, 1.0] {
            assert!(
                loss.value(f64::NAN, x).is_nan() && loss.slope(f64::NAN, x).is_nan(),
                "{name}: z"
            );
            assert!(blind || loss.value(x, f64::NAN).is_nan(), "{name}: value for a NaN label");
            assert!(blind || loss.slope(x, f64::NAN).is_nan(), "{name}: slope for a NaN label");
        }
        assert!(blind || loss.minimizer(f64::NAN).is_nan(), "{name}: minimizer");
    }
    for entry in permissible::entries() {
        let phi = AnyPermissible::parse(entry.name).unwrap();
        let functions: [fn(&AnyPermissible, f64) -> f64; 14] = [
            Permissible::phi,
            Permissible::impurity,
            Permissible::gradient,
            Permissible::curvature,
            Permissible::tail,
            Permissible::tail_excess,
            Permissible::conjugate_curvature,
            Permissible::transfer,
            Permissible::complement,
            Permissible::conjugate,
            Permissible::surrogate,
            Permissible::surrogate_slope,
            |phi, x| phi.margin(x, 1.0),
            |phi, x| phi.legendre_dual(x, 0.5),
        ];
        for (k, f) in functions.iter().enumerate() {
            assert!(f(&phi, f64::NAN).is_nan(), "{}: function {k}", entry.name);
        }
    }
}

#[test]
fn nan_survives_sums_norms_and_certificates() {
    for norm in [Norm::L1, Norm::L2, Norm::LInf, Norm::Lp(1.5), Norm::Lp(f64::INFINITY)] {
        for x in [[f64::NAN, 1.0], [0.0, f64::NAN], [f64::INFINITY, f64::NAN]] {
            assert!(norm.of(&x).is_nan(), "{norm:?} of {x:?}");
        }
    }
    for x in [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]] {
        assert!(Norm::Lp(f64::NAN).of(&x).is_nan(), "no norm has the exponent NaN");
    }
    let mut sum = Sum::default();
    for term in [f64::INFINITY, f64::NEG_INFINITY, 1.0] {
        sum.add(term);
    }
    assert!(sum.total().is_nan() && sum.upper().is_nan());

    let round =
        Round { z: 1.0, loss: 1.0, slope: 2.0, rate: 0.1, length: 0.2, event: Event::Inside };
    for x in [[1.0, f64::NAN], [f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
        let mut bound = FirstOrder::new(&Squared.facts());
        bound.observe(&round, Dense(&x));
        let certificate = bound.certify(&Comparator::Simplex { n: 2 });
        assert!(certificate.status != Status::Valid && certificate.bound.is_nan(), "{certificate}");
    }
    let mut bound = FirstOrder::new(&Squared.facts());
    bound.observe(&round, Dense(&[1.0]));
    for u in [[f64::NAN, 0.0], [0.0, f64::NAN]] {
        assert!(bound.certify(&Comparator::Given(&u)).bound.is_nan(), "{u:?}");
    }
    for radius in [f64::NAN, -1.0] {
        for u in [
            Comparator::Ball { norm: Norm::L2, radius },
            Comparator::Sphere { radius },
            Comparator::Positive { total: radius },
        ] {
            assert!(bound.certify(&u).bound.is_nan(), "{u:?}");
        }
    }
}

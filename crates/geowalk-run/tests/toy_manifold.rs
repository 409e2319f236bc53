//! A manifold that the library does not know, through the public interface alone: it obeys the laws, learns
//! explicitly and implicitly, has a certificate, and goes on from a saved state with the same bits.

#![allow(clippy::unwrap_used)] // test code

use geowalk::error::{Allowed, DomainError};
use geowalk::geometry::{Curvature, ExpLog, Manifold, Step, Work};
use geowalk::laws::{self, Sampler};
use geowalk::learn::OnManifold;
use geowalk::loss::AnyLoss;
use geowalk::row::Block;
use geowalk::{ConfigError, Real};
use geowalk_data::Task;
use geowalk_run::learner::{Learner, Setting};
use geowalk_run::rate::Rate;
use geowalk_run::walks::{self, Request};

/// ℝⁿ with the metric of asinh: Σ dw²/(1 + w²). Steps shrink where weights are small beside 1, and are relative
/// elsewhere.
#[derive(Debug, Clone, PartialEq)]
struct Toy(usize);

fn speed<F: Real>(p: F) -> F {
    (F::ONE + p * p).sqrt()
}

impl<F: Real> Manifold<F> for Toy {
    fn ambient(&self) -> usize {
        self.0
    }

    fn dim(&self) -> usize {
        self.0
    }

    fn check(&self, p: &[F]) -> Result<(), DomainError> {
        let (what, found, expected) = ("the point", p.len(), self.0);
        if found != expected {
            return Err(DomainError::Dimension { what, found, expected });
        }
        match p.iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(bad) => {
                Err(DomainError::Scalar { what, value: bad.f64(), allowed: Allowed::Finite })
            }
        }
    }

    fn check_tangent(&self, _: &[F], v: &[F]) -> Result<(), DomainError> {
        self.check(v)
    }

    fn origin(&self, p: &mut [F]) {
        p.fill(F::ZERO);
    }

    fn project(&self, _: &[F], _: &mut [F]) {}

    fn inner(&self, p: &[F], u: &[F], v: &[F], _: &mut Work<F>) -> F {
        p.iter().zip(u).zip(v).map(|((&p, &u), &v)| u * v / (F::ONE + p * p)).sum()
    }

    fn gradient(&self, p: &[F], covector: &[F], v: &mut [F], _: &mut Work<F>) {
        for ((v, &g), &p) in v.iter_mut().zip(covector).zip(p) {
            *v = g * (F::ONE + p * p);
        }
    }

    fn retract(
        &self,
        p: &mut [F],
        v: &[F],
        t: F,
        work: &mut Work<F>,
    ) -> Result<Step<F>, DomainError> {
        self.exp(p, v, t, work)
    }
}

impl<F: Real> ExpLog<F> for Toy {
    fn curvature(&self) -> Curvature {
        Curvature::FLAT
    }

    fn injectivity(&self, _: &[F]) -> F {
        F::of(f64::INFINITY)
    }

    fn exp(&self, p: &mut [F], v: &[F], t: F, work: &mut Work<F>) -> Result<Step<F>, DomainError> {
        let length = t.abs() * self.norm(p, v, work);
        for (p, &v) in p.iter_mut().zip(v) {
            *p = (p.asinh() + t * v / speed(*p)).sinh();
        }
        Ok(Step::inside(length))
    }

    fn log(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &p), &q) in v.iter_mut().zip(p).zip(q) {
            *v = (q.asinh() - p.asinh()) * speed(p);
        }
        Ok(())
    }

    fn distance(&self, p: &[F], q: &[F], _: &mut Work<F>) -> F {
        let square: F =
            p.iter().zip(q).map(|(&p, &q)| (q.asinh() - p.asinh()) * (q.asinh() - p.asinh())).sum();
        square.sqrt()
    }

    fn transport(&self, p: &[F], q: &[F], v: &mut [F], _: &mut Work<F>) -> Result<(), DomainError> {
        for ((v, &p), &q) in v.iter_mut().zip(p).zip(q) {
            *v = *v * speed(q) / speed(p);
        }
        Ok(())
    }
}

#[test]
fn the_toy_obeys_the_laws() {
    for seed in 0..50 {
        laws::manifold::all::<f64, _>(&Toy(3), &mut Sampler::new(seed)).unwrap();
    }
}

fn learner(implicit: bool) -> Result<Box<dyn Learner>, ConfigError> {
    let setting = Setting::new(AnyLoss::parse("logistic")?, Rate::Constant(0.1));
    let request = Request::new(Task::Binary, setting, 0);
    let walk = if implicit { OnManifold::implicit(Toy(3)) } else { OnManifold::explicit(Toy(3)) };
    Ok(walks::of_walk(walk?, request)?.learner)
}

fn rows(seed: u64) -> Block {
    let mut sampler = Sampler::new(seed);
    let mut block = Block::new();
    for _ in 0..200 {
        let x = sampler.vector::<f64>(3);
        let y = f64::copysign(1.0, 2.0 * x[0] - x[1] + 0.2 * sampler.normal());
        block.push_dense(&x, y, 1.0).unwrap();
    }
    block
}

#[test]
fn the_toy_learns_certifies_and_resumes() {
    for implicit in [false, true] {
        let mut whole = learner(implicit).unwrap();
        let block = rows(5);
        let mut out = Vec::new();
        whole.learn(&block, 0..200, &mut out).unwrap();
        let loss = |from: usize| out[from..from + 50].iter().map(|out| out.loss).sum::<f64>();
        assert!(loss(150) < 0.6 * loss(0), "{} {}", loss(0), loss(150));
        let certificate = whole.certificate().unwrap();
        assert!(certificate.bound.is_finite() && certificate.rounds == 200, "{certificate:?}");

        // Interrupted, with the same bits.
        let (mut first, mut second) = (learner(implicit).unwrap(), learner(implicit).unwrap());
        first.learn(&block, 0..77, &mut Vec::new()).unwrap();
        let mut saved = Vec::new();
        first.save(&mut |name, values| saved.push((name, values.to_vec())));
        let find = |name: &str| saved.iter().find(|own| own.0 == name).map(|own| own.1.clone());
        second.load(&mut { find }).unwrap();
        second.learn(&block, 77..200, &mut Vec::new()).unwrap();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        whole.weights(0, &mut a);
        second.weights(0, &mut b);
        assert_eq!(a, b);
    }
}

#[test]
fn a_row_with_too_many_features_is_refused() {
    let mut learner = learner(false).unwrap();
    let mut block = Block::new();
    block.push_dense(&[1.0; 4], 1.0, 1.0).unwrap();
    let error = learner.learn(&block, 0..1, &mut Vec::new()).unwrap_err().to_string();
    assert_eq!(error, "the row has 4 coordinates; 3 are needed");
}

/// The names, parameters and bits of `geowalk::Learner` are those of the command line.
#[test]
fn a_named_learner_has_the_bits_of_the_command() {
    let mut compared = 0;
    for name in geowalk::Learner::names() {
        let spread = name.replace("product", "product(euclidean(n=2), simplex(n=2))");
        let Ok(mut named) = geowalk::Learner::with_features(&spread, "huber", 0.02, 4) else {
            continue; // no point has 4 weights
        };
        let setting = Setting::new(AnyLoss::parse("huber").unwrap(), Rate::Constant(0.02));
        let request = Request { features: Some(4), ..Request::new(Task::Regression, setting, 0) };
        let Ok(built) = walks::build(&spread, request) else {
            assert!(spread.contains("bures"), "{spread} is no walk of the command");
            continue;
        };
        let mut command = built.learner;
        let (mut sampler, mut block) = (Sampler::new(7), Block::new());
        for _ in 0..50 {
            let x: Vec<f64> = (0..4).map(|_| 0.2 * sampler.normal()).collect();
            let y = x[0] - x[3];
            block.push_dense(&x, y, 1.0).unwrap();
            named.learn(&x, y).unwrap();
        }
        command.learn(&block, 0..50, &mut Vec::new()).unwrap();
        let mut w = Vec::new();
        command.weights(0, &mut w);
        assert_eq!(named.weights(), w, "{spread}");
        compared += 1;
    }
    assert!(compared > 40, "{compared}");
}

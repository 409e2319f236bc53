//! The learner by name, and manifolds of the user's at run time.

#![allow(clippy::unwrap_used)] // test code

use std::path::PathBuf;

use geowalk::certify::Comparator;
use geowalk::geometry::manifolds::{
    AnyManifold, CustomManifold, Hyperboloid, Sphere, UserManifold,
};
use geowalk::geometry::{ExpLog, Manifold, Work};
use geowalk::laws::{self, Sampler};
use geowalk::loss::Squared;
use geowalk::row::{Dense, Norm};
use geowalk::walk::{SimplexEntropy, Walk};
use geowalk::{DomainError, Learner, LearnerError};

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("geowalk-{name}-{}", std::process::id()))
}

#[test]
fn a_named_walk_has_the_bits_of_its_type() {
    let mut named = Learner::new("eg", "squared", 0.3).unwrap();
    let mut typed = SimplexEntropy::new();
    let mut sampler = Sampler::new(3);
    for t in 0..300 {
        // A feature more every 50 rows.
        let x = sampler.vector::<f64>(3 + t / 50);
        let y = 0.2 * x[0];
        let expected = typed.step(Dense(&x), y.into(), &Squared, 0.3).unwrap();
        assert_eq!(named.learn(&x, y).unwrap(), expected);
    }
    let mut w = Vec::new();
    typed.read(&mut w);
    assert_eq!(named.weights(), w);
    assert_eq!(named.predict(&[0.0, 1.0]).unwrap(), w[1]);
}

#[test]
fn every_walk_goes_on_from_its_file() {
    let path = path("every-walk");
    for name in Learner::names() {
        let made = Learner::with_features(&name, "huber", 0.05, 4);
        // Products name their factors, and hyperbolic points and matrices fit other numbers.
        let Ok(mut whole) = made else { continue };
        let mut sampler = Sampler::new(9);
        let mut rows = std::iter::repeat_with(|| {
            let x = [0; 4].map(|_| 0.3 * sampler.normal());
            (x, x[0] - 0.5 * x[2])
        });
        for (x, y) in rows.by_ref().take(20) {
            whole.learn(&x, y).unwrap();
        }
        whole.save(&path).unwrap();
        let mut again = Learner::load(&path).unwrap();
        for (x, y) in rows.take(20) {
            assert_eq!(whole.learn(&x, y).unwrap(), again.learn(&x, y).unwrap(), "{name}");
        }
        assert_eq!(whole.weights(), again.weights(), "{name}");
        let ball = Comparator::Ball { norm: Norm::L2, radius: 1.0 };
        assert_eq!(whole.certificate(&ball), again.certificate(&ball), "{name}");
        assert_eq!((whole.rows(), whole.total_loss()), (40, again.total_loss()), "{name}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let path = path("damaged");
    let mut learner = Learner::new("sphere(radius=2)", "logistic", 0.1).unwrap();
    learner.learn(&[1.0, 2.0], 1.0).unwrap();
    learner.save(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for k in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[k] ^= 4;
        std::fs::write(&path, &bytes).unwrap();
        assert!(Learner::load(&path).is_err(), "byte {k}");
        std::fs::write(&path, &whole[..k]).unwrap();
        assert!(Learner::load(&path).is_err(), "{k} bytes");
    }
    std::fs::write(&path, "geowalk learner 2\n and a future that is not known").unwrap();
    let error = Learner::load(&path).unwrap_err().to_string();
    assert!(error.ends_with("version 2 of the file; this geowalk reads version 1"), "{error}");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(Learner::load(&path), Err(LearnerError::File { .. })));
}

#[test]
fn errors_name_the_row_and_change_nothing() {
    let mut learner = Learner::new("gd", "logistic", 0.1).unwrap();
    let rows: [(&[f64], f64); 3] = [(&[1.0, 2.0], 1.0), (&[1.0, f64::NAN], 1.0), (&[0.0], -1.0)];
    let before = {
        let mut one = learner.clone();
        one.fit(rows[..1].iter().copied()).unwrap();
        one.weights()
    };
    let error = learner.fit(rows).unwrap_err().to_string();
    assert_eq!(error, "row 2: coordinate 1 of the row is NaN; it must be a finite number");
    assert_eq!(learner.weights(), before);
    let error = learner.learn(&[1.0], 0.5).unwrap_err().to_string();
    assert_eq!(error, "row 2: the label is 0.5; it must be -1 or +1");
    assert_eq!(learner.weights(), before);
    assert!(learner.predict(&[f64::INFINITY]).is_err());
    assert!(Learner::new("gd", "logistic", f64::NAN).is_err());
    assert!(Learner::new("free", "squared", 1.0).is_err());
    assert!(Learner::with_features("explicit:spd", "squared", 1.0, 5).is_err());
}

/// Three operations of a manifold of the library, as a user would give them.
struct Three<M>(M);

impl<M: ExpLog<f64> + Send + Sync> UserManifold for Three<M> {
    fn origin(&self) -> Vec<f64> {
        let mut p = vec![0.0; self.0.ambient()];
        self.0.origin(&mut p);
        p
    }

    fn gradient(&self, p: &[f64], covector: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
        self.0.gradient(p, covector, out, &mut Work::new());
        Ok(())
    }

    fn exp(&self, p: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
        out.copy_from_slice(p);
        self.0.exp(out, v, 1.0, &mut Work::new()).map(drop)
    }
}

#[test]
fn all_follows_from_three_operations() {
    fn compare<M: ExpLog<f64> + Send + Sync + Clone + 'static>(known: &M) {
        let n = known.ambient();
        let custom = CustomManifold::new("three", Three(known.clone()), vec![n]).unwrap();
        assert_eq!(Manifold::<f64>::dim(&custom), known.dim());
        let work = &mut Work::new();
        let mut sampler = Sampler::new(4);
        for _ in 0..20 {
            let p: Vec<f64> = sampler.point(known);
            let (u, v) = (sampler.tangent(known, &p, 0.4), sampler.tangent(known, &p, 0.4));
            let scale = 1.0 + Norm::LInf.of(&p) * Norm::LInf.of(&p);
            let inner = custom.inner(&p, &u, &v, work) - known.inner(&p, &u, &v, work);
            assert!(inner.abs() < 1e-10 * scale, "{inner}");
            let mut q = p.clone();
            custom.exp(&mut q, &v, 1.0, work).unwrap();
            let mut back = vec![0.0; n];
            custom.log(&p, &q, &mut back, work).unwrap();
            let off = back.iter().zip(&v).fold(0.0_f64, |off, (a, b)| off.max((a - b).abs()));
            assert!(off < 1e-9 * scale, "{off}");
            let d = custom.distance(&p, &q, work);
            assert!((d - 0.4).abs() < 1e-9 * scale, "{d}");
            assert!(custom.transport(&p, &q, &mut back, work).is_err());
            custom.carry(&p, &q, &mut back, work).unwrap();
            known.check_tangent(&q, &back).unwrap();
            laws::manifold::metric(&custom, &p, &mut sampler).unwrap();
        }
    }
    compare(&Sphere::new(3, 1.0).unwrap());
    compare(&Sphere::new(4, 2.0).unwrap());
    compare(&AnyManifold::parse("stiefel(columns=2)", 3).unwrap());
    compare(&AnyManifold::parse("spd", 2).unwrap());
    compare(&AnyManifold::parse("simplex", 3).unwrap());
}

#[test]
fn a_wrong_gradient_breaks_a_law() {
    struct Wrong(Three<Hyperboloid>);
    impl UserManifold for Wrong {
        fn origin(&self) -> Vec<f64> {
            self.0.origin()
        }
        fn gradient(&self, p: &[f64], g: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
            self.0.gradient(p, g, out)?;
            out.iter_mut().for_each(|out| *out *= 1.1);
            Ok(())
        }
        fn exp(&self, p: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), DomainError> {
            self.0.exp(p, v, out)
        }
        fn inner(&self, p: &[f64], u: &[f64], v: &[f64]) -> Option<Result<f64, DomainError>> {
            Some(Ok(self.0.0.inner(p, u, v, &mut Work::new())))
        }
    }
    let wrong = Wrong(Three(Hyperboloid::new(3).unwrap()));
    let custom = CustomManifold::new("wrong", wrong, vec![3]).unwrap();
    let broken = laws::manifold::custom(&custom, &mut Sampler::new(1)).unwrap_err();
    assert!(broken.to_string().contains("⟨grad, u⟩ = dL(u)"), "{broken}");
}

#[test]
fn a_registered_manifold_has_a_name() {
    let sphere = Three(Sphere::new(3, 1.0).unwrap());
    assert!(AnyManifold::parse("custom(test-sphere)", 3).is_err());
    CustomManifold::new("test-sphere", sphere, vec![3]).unwrap().register();
    let found = AnyManifold::parse("custom(test-sphere)", 3).unwrap();
    assert_eq!(found.spec(), "custom(test-sphere)");
    assert_eq!(found.sized_spec(), "custom(test-sphere)");
    assert_eq!(AnyManifold::for_features("custom(test-sphere)", 3), Ok(found));
    let error = AnyManifold::for_features("custom(test-sphere)", 4).unwrap_err().to_string();
    assert!(error.contains("3 would fit"), "{error}");
    let mut learner =
        Learner::with_features("explicit:custom(test-sphere)", "squared", 0.1, 3).unwrap();
    learner.learn(&[1.0, 0.5, 0.0], 0.25).unwrap();
    assert!((Norm::L2.of(&learner.weights()) - 1.0).abs() < 1e-12);
}

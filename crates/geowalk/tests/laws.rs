//! The laws, applied to everything in the tables, in `f64` and `f32`.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may stop

use geowalk::Real;
use geowalk::certify::{Bound, Comparator, FirstOrder};
use geowalk::error::{Allowed, DomainError};
use geowalk::geometry::generators::{self, AnyGenerator};
use geowalk::geometry::manifolds::{self, AnyManifold, PositiveOrthant, Simplex, Sphere};
use geowalk::geometry::{
    Curvature, Event, ExpLog, Generator, Hessian, Manifold, PullBack, Step, Work, link,
};
use geowalk::laws::{self, Broken, Sampler};
use geowalk::learn::{Proximal, SparseForm};
use geowalk::loss::permissible::{self, AnyPermissible};
use geowalk::loss::{self, AnyLoss, Loss, doctor};
use geowalk::row::{Dense, Norm};
use geowalk::update::{Explicit, Mirror, Target, Update};

const SEEDS: u64 = 100;

/// Runs a law with many seeds and reports the object that violates it.
fn check(name: &str, law: impl Fn(&mut Sampler) -> Result<(), Broken>) {
    for seed in 0..SEEDS {
        if let Err(broken) = law(&mut Sampler::new(seed)) {
            panic!("{name}: {broken}");
        }
    }
}

/// Every registered manifold, in several sizes.
fn all_manifolds() -> Vec<AnyManifold> {
    let mut all = Vec::new();
    for entry in manifolds::entries() {
        for n in [2, 3, 6] {
            let spec = match entry.name {
                "product" => format!("product(sphere(n={n}, radius=2), simplex(n=3), spd(n=2))"),
                name => name.to_owned(),
            };
            all.push(AnyManifold::parse(&spec, n).unwrap());
        }
    }
    for spec in [
        "sphere(radius=0.01)",
        "sphere(radius=50)",
        "product(euclidean(n=2), orthant(n=2))",
        "hyperbolic(curvature=-0.25)",
        "poincare-ball(curvature=-1.5)",
        "stiefel(columns=2)",
        "stiefel(columns=3)",
        "stiefel(n=5, columns=2)",
        "stiefel(n=7, columns=4)",
        "grassmann(columns=2)",
        "grassmann(columns=3)",
        "grassmann(n=6, columns=2)",
        "rotations(n=5)",
        "product(stiefel(n=3, columns=2), rotations(n=3), spd-bures-wasserstein(n=2))",
    ] {
        all.push(AnyManifold::parse(spec, 4).unwrap());
    }
    all
}

fn all_generators(n: usize) -> Vec<AnyGenerator> {
    let mut specs: Vec<String> = generators::entries().map(|entry| entry.name.to_owned()).collect();
    specs.retain(|name| name != "mahalanobis");
    specs.extend(["p-norm(q=1.2)", "p-norm(q=2)"].map(str::to_owned));
    if n == 2 {
        specs.push("mahalanobis(sigma=2 1; 1 3)".to_owned());
    }
    specs.iter().map(|spec| AnyGenerator::parse(spec, n).unwrap()).collect()
}

fn all_losses() -> Vec<AnyLoss> {
    let mut specs: Vec<String> = loss::entries().map(|entry| entry.name.to_owned()).collect();
    specs.extend(
        [
            "huber(delta=0.25)",
            "quantile(tau=0.9)",
            "geodesic(space=spacelike)",
            "mu(mu=0.8)",
            "nu(nu=0.7)",
            "zeta(zeta=-20)",
        ]
        .map(str::to_owned),
    );
    specs.iter().map(|spec| AnyLoss::parse(spec).unwrap()).collect()
}

#[test]
fn manifolds_f64() {
    for manifold in all_manifolds() {
        let name = format!("{} in f64", manifold.spec());
        check(&name, |sampler| laws::manifold::all::<f64, _>(&manifold, sampler));
    }
}

#[test]
fn manifolds_f32() {
    for manifold in all_manifolds() {
        let name = format!("{} in f32", manifold.spec());
        check(&name, |sampler| laws::manifold::all::<f32, _>(&manifold, sampler));
    }
}

#[test]
fn generators_f64_and_f32() {
    for n in [2, 5] {
        for generator in all_generators(n) {
            let name = format!("{} (n = {n})", generator.spec());
            check(&name, |sampler| laws::generator::all::<f64, _>(&generator, n, sampler));
            check(&name, |sampler| laws::generator::all::<f32, _>(&generator, n, sampler));
        }
    }
}

#[test]
fn losses() {
    for loss in all_losses() {
        check(&loss.spec(), |sampler| laws::loss::all(&loss, sampler));
    }
}

#[test]
fn permissible_functions() {
    for entry in permissible::entries() {
        let phi = AnyPermissible::parse(entry.name).unwrap();
        check(entry.name, |sampler| laws::permissible::all(&phi, sampler));
    }
    for spec in [
        "mu(mu=0)",
        "mu(mu=0.9)",
        "nu(nu=0.05)",
        "nu(nu=0.95)",
        "zeta(zeta=-0.1)",
        "zeta(zeta=-30)",
    ] {
        let phi = AnyPermissible::parse(spec).unwrap();
        check(spec, |sampler| laws::permissible::all(&phi, sampler));
    }
}

#[test]
fn hessian_and_pull_back_manifolds() {
    use geowalk::geometry::generators::{ItakuraSaito, SquaredEuclidean};
    let n = 4;
    check("Hessian of Burg's entropy", |s| {
        laws::manifold::all::<f64, _>(&Hessian::new(ItakuraSaito, n).unwrap(), s)
    });
    check("Hessian of squared Euclidean", |s| {
        laws::manifold::all::<f64, _>(&Hessian::new(SquaredEuclidean, n).unwrap(), s)
    });
    // The metric laws hold at every point of every domain. Only these two have closed-form geodesics and are complete.
    for n in [2, 4] {
        for generator in all_generators(n) {
            let name = format!("Hessian of {} (n = {n})", generator.spec());
            let manifold = Hessian::new(generator, n).unwrap();
            check(&name, |s| {
                let p = s.domain_point(manifold.generator(), n);
                laws::manifold::metric::<f64, _>(&manifold, &p, s)
            });
        }
    }
    check("pull-back of ln", |s| {
        laws::manifold::all::<f64, _>(&PullBack::new(link::Log, n).unwrap(), s)
    });
}

/// The sphere of radius 2 and the simplex are the same manifold: w = 2√p maps one to the other, including geodesics.
#[test]
fn the_simplex_is_a_piece_of_a_sphere() {
    let (simplex, sphere) = (Simplex::new(4).unwrap(), Sphere::new(4, 2.0).unwrap());
    let mut work = Work::new();
    let lift = |p: &[f64]| -> Vec<f64> { p.iter().map(|p| 2.0 * p.sqrt()).collect() };
    for seed in 0..SEEDS {
        let mut sampler = Sampler::new(seed);
        let (mut p, q): (Vec<f64>, Vec<f64>) = (sampler.point(&simplex), sampler.point(&simplex));
        let along = simplex.distance(&p, &q, &mut work);
        let above = sphere.distance(&lift(&p), &lift(&q), &mut work);
        assert!((along - above).abs() < 1e-13);

        let length = sampler.length(&simplex, &p, 1.0);
        let v = sampler.tangent(&simplex, &p, length);
        let mut lifted = lift(&p);
        let pushed: Vec<f64> = v.iter().zip(&p).map(|(v, p)| v / p.sqrt()).collect();
        let inner = simplex.inner(&p, &v, &v, &mut work);
        assert!((inner - sphere.inner(&lifted, &pushed, &pushed, &mut work)).abs() < 1e-13);
        simplex.exp(&mut p, &v, 1.0, &mut work).unwrap();
        sphere.exp(&mut lifted, &pushed, 1.0, &mut work).unwrap();
        for (p, w) in p.iter().zip(&lifted) {
            assert!((2.0 * p.sqrt() - w).abs() < 1e-13);
        }
    }
}

/// Rotations of the sphere commute with walking.
#[test]
fn walks_are_equivariant_under_rotations() {
    let sphere = Sphere::new(3, 1.0).unwrap();
    let mut work = Work::new();
    // A rotation of the first two coordinates by an angle with exact sine and cosine.
    let turn = |v: &[f64]| vec![0.6 * v[0] - 0.8 * v[1], 0.8 * v[0] + 0.6 * v[1], v[2]];
    for seed in 0..SEEDS {
        let mut sampler = Sampler::new(seed);
        let mut p: Vec<f64> = sampler.point(&sphere);
        let v = sampler.tangent(&sphere, &p, 1.0);
        let (mut turned, along) = (turn(&p), turn(&v));
        sphere.exp(&mut p, &v, 1.0, &mut work).unwrap();
        sphere.exp(&mut turned, &along, 1.0, &mut work).unwrap();
        for (a, b) in turn(&p).iter().zip(&turned) {
            assert!((a - b).abs() < 1e-14);
        }
    }
}

#[test]
fn updates() {
    for manifold in all_manifolds() {
        let n = Manifold::<f64>::ambient(&manifold);
        // SPD points are matrices. A random row is not a symmetric differential, but the gradient symmetrises it, so a
        // step need not descend in the direction of the row. The laws of rows do not apply.
        if manifold.spec().contains("spd") {
            continue;
        }
        let update = Explicit::new(manifold.clone());
        check(&format!("explicit:{} (n = {n})", manifold.spec()), |sampler| {
            let w: Vec<f64> = sampler.point(&manifold);
            laws::update::all(&update, &w, sampler)
        });
    }
    for generator in all_generators(2) {
        let update = Mirror::new(generator.clone());
        check(&format!("mirror:{}", generator.spec()), |sampler| {
            let w: Vec<f64> = sampler.domain_point(&generator, 2);
            laws::update::all(&update, &w, sampler)
        });
    }
}

/// Explicit: w' = R_w(−η grad L). Mirror: w' = −η g x ◇ w. Also checks the reported slope, loss and length.
#[test]
fn updates_follow_their_definitions() {
    let (loss, rate, target) = (loss::Squared, 0.01, Target { y: 0.7, weight: 1.5 });
    let slope = |z: f64| 1.5 * loss.slope(z, 0.7);
    let close = |name: &str, a: &[f64], b: &[f64]| {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-14 * (1.0 + b.abs()), "{name}: {a} {b}");
        }
    };
    for manifold in all_manifolds() {
        let n = Manifold::<f64>::ambient(&manifold);
        let (name, mut work) = (manifold.spec(), Work::new());
        let sampler = &mut Sampler::new(5);
        let (mut w, x): (Vec<f64>, Vec<f64>) = (sampler.point(&manifold), sampler.vector(n));
        let update = Explicit::new(manifold.clone());
        let mut state = update.start(&w).unwrap();
        let round = update.step(&mut state, Dense(&x), target, &loss, rate).unwrap();
        let mut after = vec![0.0; n];
        update.read(&state, &mut after);
        let z: f64 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
        let covector: Vec<f64> = x.iter().map(|x| slope(z) * x).collect();
        let mut v = vec![0.0; n];
        manifold.gradient(&w, &covector, &mut v, &mut work);
        let length = rate * manifold.norm(&w, &v, &mut work);
        manifold.exp(&mut w, &v, -rate, &mut work).unwrap();
        close(&name, &after, &w);
        let reported = [round.z, round.slope, round.loss, round.length, round.rate];
        close(&name, &reported, &[z, slope(z), 1.5 * loss.value(z, 0.7), length, rate]);
    }
    for generator in all_generators(2) {
        let (name, mut work) = (generator.spec(), Work::new());
        let sampler = &mut Sampler::new(5);
        let (w, x): (Vec<f64>, Vec<f64>) = (sampler.domain_point(&generator, 2), sampler.vector(2));
        let update = Mirror::new(generator.clone());
        let mut state = update.start(&w).unwrap();
        let round = update.step(&mut state, Dense(&x), target, &loss, rate).unwrap();
        let (mut after, mut expected) = (vec![0.0; 2], vec![0.0; 2]);
        update.read(&state, &mut after);
        let z: f64 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
        let push: Vec<f64> = x.iter().map(|x| -rate * slope(z) * x).collect();
        generator.legendre_dual(&push, &w, &mut expected, &mut work);
        close(&name, &after, &expected);
        let length = (2.0 * generator.divergence(&w, &after)).sqrt();
        let reported = [round.z, round.slope, round.loss, round.length];
        close(&name, &reported, &[z, slope(z), 1.5 * loss.value(z, 0.7), length]);
    }
}

/// A declared constant that is valid but not sharp would make every bound that uses it too large.
#[test]
fn declared_constants_are_sharp() {
    for loss in all_losses() {
        let (name, facts) = (loss.spec(), loss.facts());
        let found = doctor::examine(&loss, &doctor::Range::of(&loss));
        assert!(found.consistent(), "{found}");
        if let (Some(declared), Some(measured)) = (facts.lipschitz, found.lipschitz) {
            assert!(declared <= 1.001 * measured, "{name}: |slope| <= {measured}, not {declared}");
        }
        if let (Some(declared), Some(measured)) = (facts.smooth, found.smooth) {
            assert!(
                declared <= 1.001 * measured,
                "{name}: curvature <= {measured}, not {declared}"
            );
        }
        if facts.strong > 0.0 {
            assert!(found.strong <= 1.01 * facts.strong, "{name}: >= {}", found.strong);
        }
    }
    // D(u‖w) ≈ (σ/2)‖u − w‖² for one pair of points of each domain.
    let pairs: [(&str, [f64; 2], [f64; 2]); 7] = [
        ("squared-euclidean", [1.0, 2.0], [1.0, -1.0]),
        ("entropy", [0.5, 0.5], [1.0, -1.0]),
        ("simplex-entropy", [0.5, 0.5], [1.0, -1.0]),
        ("burg", [1.0, 1e-9], [-1.0, 0.0]),
        ("p-norm(q=1.2)", [1.0, 1.0], [1.0, -1.0]),
        ("p-norm(q=2)", [1.0, 3.0], [1.0, -1.0]),
        // The eigenvector of the smaller eigenvalue, (5 − √5)/2.
        ("mahalanobis(sigma=2 1; 1 3)", [0.0, 0.0], [1.0, -0.618_033_988_749_894_9]),
    ];
    for (spec, w, direction) in pairs {
        let generator = AnyGenerator::parse(spec, 2).unwrap();
        let u: Vec<f64> = w.iter().zip(&direction).map(|(w, d)| w + 1e-4 * d).collect();
        let v: Vec<f64> = u.iter().zip(&w).map(|(u, w)| u - w).collect();
        let radius = w.iter().sum::<f64>();
        let modulus = Generator::<f64>::modulus(&generator);
        let modulus = modulus.or(Generator::<f64>::modulus_within(&generator, radius)).unwrap();
        let sharp = 2.0 * generator.divergence(&u, &w) / Real::square(modulus.norm.of(&v));
        assert!((modulus.sigma / sharp - 1.0).abs() < 1e-3, "{spec}: {} {sharp}", modulus.sigma);
    }
}

/// The first-order certificate on every geometry × every convex loss: regret ≤ bound.
#[test]
fn the_first_order_certificate_holds() {
    let n = 3;
    let orthant = PositiveOrthant::new(n).unwrap();
    let sphere = Sphere::new(n, 1.0).unwrap();
    for loss in all_losses() {
        let bound = FirstOrder::new(&loss.facts());
        let name = format!("first-order, {}", loss.spec());
        check(&name, |sampler| {
            let start: Vec<f64> = sampler.point(&sphere);
            // Comparators in the unit ball keep every prediction of a unit row in [−1, 1].
            let bounded = loss.facts().predictions != Allowed::Finite;
            let any = |s: &mut Sampler| -> Vec<f64> {
                let u: Vec<f64> = s.vector(n);
                let norm = if bounded { 1.01 * Norm::L2.of(&u) } else { 1.0 };
                u.iter().map(|u| u / norm).collect()
            };
            laws::bound::holds(
                &Explicit::new(sphere.clone()),
                &start,
                &loss,
                0.3,
                &bound,
                any,
                sampler,
            )?;
            let start: Vec<f64> = sampler.point(&orthant);
            laws::bound::holds(
                &Explicit::new(orthant.clone()),
                &start,
                &loss,
                0.01,
                &bound,
                any,
                sampler,
            )
        });
    }
}

/// The certificate of a set of comparators is that of the worst comparator in it.
#[test]
fn the_first_order_certificate_of_a_set_is_that_of_its_worst_point() {
    const N: usize = 4;
    let sphere = Sphere::new(N, 1.0).unwrap();
    for seed in 0..SEEDS {
        let sampler = &mut Sampler::new(seed);
        let update = Explicit::new(sphere.clone());
        let mut state = update.start(&sampler.point::<f64, _>(&sphere)).unwrap();
        let (mut bound, mut gamma) = (FirstOrder::new(&loss::Squared.facts()), [0.0; N]);
        for _ in 0..10 {
            let x: Vec<f64> = sampler.vector(N);
            let y = sampler.normal();
            let round = update.step(&mut state, Dense(&x), y.into(), &loss::Squared, 0.1).unwrap();
            bound.observe(&round, Dense(&x));
            for (gamma, x) in gamma.iter_mut().zip(&x) {
                *gamma += round.slope * x;
            }
        }
        let radius = sampler.uniform(0.1, 3.0);
        let by_size = |i: &usize, j: &usize| gamma[*i].abs().total_cmp(&gamma[*j].abs());
        let largest = (0..N).max_by(by_size).unwrap();
        let least = (0..N).min_by(|&i, &j| gamma[i].total_cmp(&gamma[j])).unwrap();
        let unit = |i: usize, x: f64| std::array::from_fn(|j| if i == j { x } else { 0.0 });
        let steepest = gamma.map(|g| -radius * g / Norm::L2.of(&gamma));
        // Equality in Hölder's inequality, for q = 3 and p = 3/2.
        let mass: f64 = gamma.iter().map(|g| g.abs() * g.abs().sqrt()).sum();
        let scale = radius / Real::powf(mass, 1.0 / 3.0);
        let worst: [(Comparator, [f64; N]); 7] = [
            (Comparator::Ball { norm: Norm::L2, radius }, steepest),
            (Comparator::Sphere { radius }, steepest),
            (
                Comparator::Ball { norm: Norm::L1, radius },
                unit(largest, -radius * gamma[largest].signum()),
            ),
            (Comparator::Ball { norm: Norm::LInf, radius }, gamma.map(|g| -radius * g.signum())),
            (
                Comparator::Ball { norm: Norm::Lp(3.0), radius },
                gamma.map(|g| -scale * g.signum() * g.abs().sqrt()),
            ),
            (Comparator::Simplex { n: N }, unit(least, 1.0)),
            (
                Comparator::Positive { total: radius },
                unit(least, if gamma[least] < 0.0 { radius } else { 0.0 }),
            ),
        ];
        for (set, u) in &worst {
            let (all, one) = (bound.certify(set).bound, bound.certify(&Comparator::Given(u)).bound);
            assert!((all - one).abs() <= 1e-11 * (1.0 + one.abs()), "{set:?}: {all} {one}");
        }
        // With a fifth coordinate that no row contains, one vertex of the simplex has Γ = 0.
        let wider = bound.certify(&Comparator::Simplex { n: N + 1 }).bound;
        let untouched = bound.certify(&Comparator::Given(&[0.0])).bound;
        assert!(wider >= untouched);
    }
}

/// A law must be able to fail: each of these objects declares something false, and the laws detect it.
#[test]
fn laws_catch_liars() {
    #[derive(Debug)]
    struct Liar;
    impl Loss for Liar {
        fn spec(&self) -> String {
            "liar".to_owned()
        }
        fn value(&self, z: f64, y: f64) -> f64 {
            (z - y) * (z - y)
        }
        fn slope(&self, z: f64, y: f64) -> f64 {
            1.9 * (z - y)
        }
        fn curvature(&self, _: f64, _: f64) -> f64 {
            2.0
        }
        fn minimizer(&self, y: f64) -> f64 {
            y
        }
        fn facts(&self) -> loss::Facts {
            loss::Squared.facts()
        }
    }
    let honest = |seed: &u64| laws::loss::all(&Liar, &mut Sampler::new(*seed)).is_ok();
    let missed = (0..SEEDS).filter(honest).count();
    assert!(missed < 10, "a wrong slope passed on {missed} seeds");

    // The simplex's points are not on a sphere of radius 1.
    let sphere = Sphere::new(3, 1.0).unwrap();
    let point = [1.0 / 3.0; 3];
    assert!(laws::manifold::metric(&sphere, &point, &mut Sampler::new(0)).is_err());
    assert!(
        Generator::<f64>::check(&geowalk::geometry::generators::SimplexEntropy, &[0.5, 0.6])
            .is_err()
    );
}

/// Applies the laws of steps to every O(nnz) form.
struct Steps {
    named: Vec<String>,
}

impl laws::steps::Forms for Steps {
    fn manifold<G: SparseForm>(&mut self, spec: &str, steps: geowalk::walk::Steps<G>)
    where
        geowalk::walk::Steps<G>: Proximal,
    {
        check(spec, |s| laws::steps::sparse_is_geodesic(spec, steps.clone(), s));
        check(spec, |s| laws::steps::implicit_is_least_on_manifold(spec, steps.clone(), s));
        self.named.push(spec.split('(').next().unwrap().to_owned());
    }

    fn generator<G: SparseForm>(&mut self, spec: &str, steps: geowalk::walk::Steps<G>)
    where
        geowalk::walk::Steps<G>: Proximal,
    {
        check(spec, |s| laws::steps::sparse_is_mirror(spec, steps.clone(), s));
        check(spec, |s| laws::steps::implicit_is_least_with_generator(spec, steps.clone(), s));
        self.named.push(spec.split('(').next().unwrap().to_owned());
    }
}

#[test]
fn sparse_forms_are_their_geometries() {
    let mut steps = Steps { named: Vec::new() };
    laws::steps::forms(&mut steps).unwrap();
    let known: Vec<_> = manifolds::entries().chain(generators::entries()).map(|e| e.name).collect();
    assert!(steps.named.iter().all(|name| known.contains(&name.as_str())), "{:?}", steps.named);
}

/// The laws reject a form that belongs to another geometry.
#[test]
fn a_form_of_another_geometry_is_refused() {
    let broken = |law: &dyn Fn(&mut Sampler) -> Result<(), Broken>| {
        (0..SEEDS).any(|seed| law(&mut Sampler::new(seed)).is_err())
    };
    let egu = geowalk::walk::Entropy::new(0.1).unwrap();
    assert!(broken(&|s| laws::steps::sparse_is_geodesic("orthant", egu.clone(), s)));
    assert!(broken(&|s| laws::steps::implicit_is_least_on_manifold("orthant", egu.clone(), s)));
    let burg = geowalk::walk::Burg::new(0.1).unwrap();
    assert!(broken(&|s| laws::steps::sparse_is_mirror("entropy", burg.clone(), s)));
}

/// A manifold with one defect.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Nothing,
    Dimension,
    Check,
    CheckTangent,
    CheckLength,
    CheckNan,
    LargeInjectivity,
    NoInjectivity,
    NoEvent,
    FalseEvent,
    WrongCutLocus,
    NarrowLog,
    Nearest,
    Random,
}

#[derive(Debug)]
struct Faulty(Sphere, Fault);

impl Manifold<f64> for Faulty {
    fn ambient(&self) -> usize {
        Manifold::<f64>::ambient(&self.0)
    }

    fn dim(&self) -> usize {
        Manifold::<f64>::dim(&self.0) + usize::from(self.1 == Fault::Dimension)
    }

    fn check(&self, p: &[f64]) -> Result<(), DomainError> {
        match self.1 {
            Fault::Check if p.len() == 3 && p.iter().all(|x| x.is_finite()) => Ok(()),
            Fault::CheckLength if p.len() != 3 => Ok(()),
            Fault::CheckNan if p.iter().any(|x| x.is_nan()) => Ok(()),
            _ => self.0.check(p),
        }
    }

    fn check_tangent(&self, p: &[f64], v: &[f64]) -> Result<(), DomainError> {
        let lax = self.1 == Fault::CheckTangent && v.len() == 3 && v.iter().all(|x| x.is_finite());
        if lax { Ok(()) } else { self.0.check_tangent(p, v) }
    }

    fn origin(&self, p: &mut [f64]) {
        self.0.origin(p);
    }

    fn project(&self, p: &[f64], v: &mut [f64]) {
        self.0.project(p, v);
    }

    fn nearest(&self, p: &mut [f64], work: &mut Work<f64>) -> Result<(), DomainError> {
        if self.1 == Fault::Nearest {
            self.0.origin(p);
            return Ok(());
        }
        self.0.nearest(p, work)
    }

    fn random(&self, normal: &mut dyn FnMut() -> f64, p: &mut [f64], work: &mut Work<f64>) {
        self.0.random(normal, p, work);
        if self.1 == Fault::Random {
            p[0] += 0.1;
        }
    }

    fn inner(&self, p: &[f64], u: &[f64], v: &[f64], work: &mut Work<f64>) -> f64 {
        self.0.inner(p, u, v, work)
    }

    fn gradient(&self, p: &[f64], covector: &[f64], v: &mut [f64], work: &mut Work<f64>) {
        self.0.gradient(p, covector, v, work);
    }

    fn retract(
        &self,
        p: &mut [f64],
        v: &[f64],
        t: f64,
        work: &mut Work<f64>,
    ) -> Result<Step<f64>, DomainError> {
        self.exp(p, v, t, work)
    }
}

impl ExpLog<f64> for Faulty {
    fn curvature(&self) -> Curvature {
        ExpLog::<f64>::curvature(&self.0)
    }

    fn injectivity(&self, p: &[f64]) -> f64 {
        match self.1 {
            Fault::LargeInjectivity => 1.5 * self.0.injectivity(p),
            Fault::NoInjectivity => 0.0,
            _ => self.0.injectivity(p),
        }
    }

    fn exp(
        &self,
        p: &mut [f64],
        v: &[f64],
        t: f64,
        work: &mut Work<f64>,
    ) -> Result<Step<f64>, DomainError> {
        let step = self.0.exp(p, v, t, work)?;
        let event = match self.1 {
            Fault::NoEvent => Event::Inside,
            Fault::FalseEvent => Event::Clamped { coordinates: 1 },
            _ => step.event,
        };
        Ok(Step { event, ..step })
    }

    fn log(
        &self,
        p: &[f64],
        q: &[f64],
        v: &mut [f64],
        work: &mut Work<f64>,
    ) -> Result<(), DomainError> {
        let distance = self.0.distance(p, q, work);
        match self.1 {
            // A tangent vector of the right length, but with another end point.
            Fault::WrongCutLocus if distance > 3.1 => {
                v.copy_from_slice(&Sampler::new(1).tangent(&self.0, p, distance));
                v.iter_mut().for_each(|v| *v *= 0.5);
                Ok(())
            }
            Fault::NarrowLog if distance > 1.5 => {
                Err(DomainError::CutLocus { distance, limit: 1.5 })
            }
            _ => self.0.log(p, q, v, work),
        }
    }

    fn distance(&self, p: &[f64], q: &[f64], work: &mut Work<f64>) -> f64 {
        self.0.distance(p, q, work)
    }

    fn transport(
        &self,
        p: &[f64],
        q: &[f64],
        v: &mut [f64],
        work: &mut Work<f64>,
    ) -> Result<(), DomainError> {
        self.0.transport(p, q, v, work)
    }
}

/// Each law fails on a manifold with only the corresponding defect.
#[test]
fn broken_manifolds_are_found() {
    let run = |fault: Fault| {
        let m = Faulty(Sphere::new(3, 1.0).unwrap(), fault);
        (0..SEEDS).find_map(|seed| laws::manifold::all::<f64, _>(&m, &mut Sampler::new(seed)).err())
    };
    assert_eq!(run(Fault::Nothing), None);
    for (fault, law) in [
        (Fault::Dimension, "tangent vectors as `dim`"),
        (Fault::Check, "a point off the manifold is refused"),
        (Fault::CheckTangent, "a vector off the tangent space is refused"),
        (Fault::CheckLength, "a point of another length is refused"),
        (Fault::CheckNan, "a point that is not finite is refused"),
        (Fault::LargeInjectivity, "injectivity"),
        (Fault::NoInjectivity, "injectivity radius is positive"),
        (Fault::NoEvent, "has an event"),
        (Fault::FalseEvent, "have no event"),
        (Fault::WrongCutLocus, "logarithm"),
        (Fault::NarrowLog, "injectivity radius succeeds"),
        (Fault::Nearest, "the nearest point of a point is itself"),
        (Fault::Random, "random points pass the check"),
    ] {
        let found = run(fault);
        let named = found.as_ref().is_some_and(|broken| broken.law.contains(law));
        assert!(named, "{fault:?}: {found:?}");
    }
}

//! Theorems on manifolds: explicit and implicit steps, the sphere.

use geowalk::certify::{Bound, Comparator, NullVector, Proximal, Riemannian, Status};
use geowalk::geometry::manifolds::{Euclidean, Hyperboloid, PositiveOrthant, Simplex, Sphere};
use geowalk::geometry::{Event, ExpLog, Manifold, Work};
use geowalk::laws::Sampler;
use geowalk::loss::{AnyLoss, Hinge, Invariant, Logistic, Loss, Squared};
use geowalk::row::{Dense, Row};
use geowalk::update::{Explicit, Update};
use geowalk::walk::{self, Implicit, Walk};

use super::support::{cube, dot, holds, void};

/// Makes explicit steps and returns the bound (before and after it sees the end) and the regret.
fn explicit<M: ExpLog<f64> + Clone, L: Loss>(
    manifold: &M,
    (w0, u): (&[f64], &[f64]),
    loss: &L,
    lambda: f64,
    mut next: impl FnMut(usize) -> (Vec<f64>, f64, f64),
    rounds: usize,
) -> (Riemannian<M>, f64, Vec<Event>) {
    let update = Explicit::new(manifold.clone());
    let mut state = update.start(w0).unwrap();
    let mut bound = Riemannian::new(manifold.clone(), u, lambda).unwrap();
    let (mut w, mut regret, mut events) = (w0.to_vec(), 0.0, Vec::new());
    for t in 0..rounds {
        let (x, y, rate) = next(t);
        update.read(&state, &mut w);
        let Ok(round) = update.step(&mut state, Dense(&x), y.into(), loss, rate) else { break };
        let comparator = loss.value(dot(u, &x), y);
        bound.observe(&w, &round, Dense(&x), comparator);
        regret += round.loss - comparator;
        events.push(round.event);
    }
    let before = bound.with_defect();
    holds(&before, regret);
    update.read(&state, &mut w);
    bound.arrive(&w);
    assert!(bound.with_defect().bound <= before.bound + 1e-9 * before.bound.abs());
    holds(&bound.with_defect(), regret);
    (bound, regret, events)
}

#[test]
fn in_flat_space_with_signed_defects_it_is_an_identity() {
    for seed in 0..40 {
        let mut random = Sampler::new(seed);
        let loss = AnyLoss::parse(["squared", "logistic", "huber"][seed as usize % 3]).unwrap();
        let (u, w0) = (random.vector(3), random.vector(3));
        let m = Euclidean::new(3).unwrap();
        let lambda = random.normal();
        // Rates may vary.
        let (bound, regret, _) = explicit(
            &m,
            (&w0, &u),
            &loss,
            lambda,
            |_| (cube(&mut random, 3, -1.0, 1.0), random.sign(), random.uniform(0.01, 0.3)),
            80,
        );
        assert!((bound.identity() - regret).abs() < 1e-11 * (1.0 + regret.abs()), "{regret}");
    }
}

#[test]
fn lambda_convexity_sharpens_the_bound() {
    // One dimension, x = 1: (w − y)² is 1-convex in the sense of the theorem.
    let m = Euclidean::new(1).unwrap();
    let mut bounds = Vec::new();
    for lambda in [-1.0, 0.0, 1.0] {
        let mut random = Sampler::new(3);
        let (bound, regret, _) = explicit(
            &m,
            (&[2.0], &[0.5]),
            &Squared,
            lambda,
            |_| (vec![1.0], random.normal(), 0.2),
            50,
        );
        holds(&bound.certificate(), regret);
        assert!(bound.defect() < 1e-9);
        bounds.push(bound.certificate().bound);
        if lambda == 1.0 {
            assert!((bound.certificate().bound - regret).abs() < 1e-9, "an identity");
        }
    }
    assert!(bounds[0] > bounds[1] && bounds[1] > bounds[2], "{bounds:?}");
    let (bound, _, _) =
        explicit(&m, (&[2.0], &[0.5]), &Squared, 1.5, |_| (vec![1.0], 0.0, 0.2), 50);
    void(&bound.certificate(), 1, "convexity of the loss along the geodesic to the comparator");
}

#[test]
fn with_defects_it_holds_for_every_loss_on_every_manifold() {
    let mut folds = 0;
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let loss = AnyLoss::parse(["squared", "logistic", "invariant"][seed as usize % 3]).unwrap();
        let rate = 10.0_f64.powf(random.uniform(-2.0, 0.3));
        let y = |random: &mut Sampler| random.sign();
        let sphere = Sphere::new(3, 1.0).unwrap();
        let (w0, u) = (random.point(&sphere), random.point(&sphere));
        explicit(
            &sphere,
            (&w0, &u),
            &loss,
            0.0,
            |_| (cube(&mut random, 3, -1.0, 1.0), y(&mut random), rate),
            60,
        );
        let simplex = Simplex::new(3).unwrap();
        let (w0, u) = (random.point(&simplex), random.point(&simplex));
        let (_, _, events) = explicit(
            &simplex,
            (&w0, &u),
            &loss,
            0.0,
            |_| (cube(&mut random, 3, -1.0, 1.0), y(&mut random), 3.0 * rate),
            60,
        );
        folds += events.iter().filter(|e| matches!(e, Event::Folded { .. })).count();
        let orthant = PositiveOrthant::new(3).unwrap();
        let (w0, u) = (random.point(&orthant), random.point(&orthant));
        explicit(
            &orthant,
            (&w0, &u),
            &loss,
            0.0,
            |_| (cube(&mut random, 3, -1.0, 1.0), y(&mut random), 0.1 * rate),
            60,
        );
        let hyperboloid = Hyperboloid::new(3).unwrap();
        let (w0, u) = (random.point(&hyperboloid), random.point(&hyperboloid));
        explicit(
            &hyperboloid,
            (&w0, &u),
            &loss,
            0.0,
            |_| (cube(&mut random, 3, -0.5, 0.5), y(&mut random), 0.05 * rate),
            40,
        );
    }
    assert!(folds > 10, "only {folds} folds: nothing is shown about them");
}

#[test]
fn on_the_hyperboloid_the_curvature_costs_a_factor() {
    // z² is convex there. Without ζ the bound is violated, with ζ it holds.
    let m = Hyperboloid::new(3).unwrap();
    let mut broken = 0;
    for seed in 0..3000 {
        let mut random = Sampler::new(seed);
        let (w0, u) = (random.point(&m), random.point(&m));
        let x = cube(&mut random, 3, -1.0, 1.0);
        let rate = 10.0_f64.powf(random.uniform(-2.0, 1.0));
        let (bound, regret, events) =
            explicit(&m, (&w0, &u), &Invariant, 0.0, |_| (x.clone(), 0.0, rate), 1);
        if events.is_empty() {
            continue;
        }
        holds(&bound.certificate(), regret);
        let mut work = Work::new();
        let (mut covector, mut g) = (vec![0.0; 3], vec![0.0; 3]);
        Dense(&x).axpy(2.0 * dot(&w0, &x), &mut covector);
        m.gradient(&w0, &covector, &mut g, &mut work);
        let length = rate * m.norm(&w0, &g, &mut work);
        let mut to = w0.clone();
        m.exp(&mut to, &g, -rate, &mut work).unwrap();
        let (far, near) = (m.distance(&w0, &u, &mut work), m.distance(&to, &u, &mut work));
        let flat = (far * far - near * near + length * length) / (2.0 * rate);
        broken += usize::from(regret > flat * (1.0 + 1e-9));
    }
    assert!(broken > 0, "the printed bound never failed: the factor is not shown to be needed");
}

#[test]
fn implicit_steps_where_the_curvature_is_not_positive() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let rate = 10.0_f64.powf(random.uniform(-1.0, 1.5));
        let m = Euclidean::new(3).unwrap();
        let u = random.vector(3);
        let mut bound = Proximal::new(m, &u, 0.0).unwrap();
        let mut walk = Implicit::new(walk::Euclidean::new());
        walk.grow(3);
        let loss = AnyLoss::parse(["squared", "logistic", "hinge"][seed as usize % 3]).unwrap();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (0.0, 0.0);
        for _ in 0..100 {
            let (x, y) = (cube(&mut random, 3, -1.0, 1.0), random.sign());
            walk.read(&mut from);
            let round = walk.step(Dense(&x), y.into(), &loss, rate).unwrap();
            walk.read(&mut to);
            let (end, value) = (walk.after().unwrap(), loss.value(dot(&u, &x), y));
            bound.observe(&from, &to, &round, &end, Dense(&x), value).unwrap();
            before += round.loss - value;
            after += end.loss - value;
        }
        holds(&bound.after(), after);
        holds(&bound.before(), before);

        // Hyperbolic space: z² is convex, and no factor is needed.
        let m = Hyperboloid::new(3).unwrap();
        let u = random.point(&m);
        let mut bound = Proximal::new(m, &u, 0.0).unwrap();
        let mut walk = Implicit::new(walk::Hyperbolic::new());
        walk.grow(2);
        let (mut before, mut after) = (0.0, 0.0);
        // The walk stores only the spatial coordinates.
        let read = |walk: &Implicit<walk::Hyperbolic>, w: &mut Vec<f64>| {
            walk.read(w);
            w.insert(0, walk.inner().time());
        };
        for _ in 0..60 {
            let x = [0.0, random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)];
            read(&walk, &mut from);
            let round = walk.step(Dense(&x[1..]), 0.0.into(), &Invariant, rate).unwrap();
            read(&walk, &mut to);
            let (end, value) = (walk.after().unwrap(), Invariant.value(dot(&u, &x), 0.0));
            bound.observe(&from, &to, &round, &end, Dense(&x), value).unwrap();
            before += round.loss - value;
            after += end.loss - value;
        }
        holds(&bound.after(), after);
        holds(&bound.before(), before);
    }
}

#[test]
fn implicit_on_the_sphere_has_no_theorem() {
    let bound = Proximal::new(Sphere::new(2, 1.0).unwrap(), &[1.0, 0.0], 0.0).unwrap();
    void(&bound.after(), 0, "sectional curvature <= 0");
}

/// A unit row exactly orthogonal to e₁.
fn orthogonal(random: &mut Sampler, n: usize) -> Vec<f64> {
    let mut x = random.vector(n);
    x[0] = 0.0;
    let norm = dot(&x, &x).sqrt();
    for x in &mut x {
        *x /= norm;
    }
    assert_eq!(x[0], 0.0);
    x
}

#[test]
fn null_vectors_from_any_start() {
    let mut tightest: f64 = 0.0;
    for seed in 0..200 {
        let mut random = Sampler::new(seed);
        let n = 2 + random.below(9);
        let angle = random.uniform(0.01, 1.57);
        let rate = random.uniform(0.02, 0.98);
        let mut start = vec![0.0; n];
        (start[1], start[0]) = angle.sin_cos();
        let mut u = vec![0.0; n];
        u[0] = if seed % 2 == 0 { 1.0 } else { -1.0 };
        let update = Explicit::new(Sphere::new(n, 1.0).unwrap());
        let mut state = update.start(&start).unwrap();
        let mut bound = NullVector::new(&start, &u).unwrap();
        let mut loss = 0.0;
        for _ in 0..60 {
            // An adversary: of the rows orthogonal to u, the one nearest to the weights.
            let mut x = orthogonal(&mut random, n);
            if seed % 3 == 0 {
                let mut w = vec![0.0; n];
                update.read(&state, &mut w);
                w[0] = 0.0;
                let norm = dot(&w, &w).sqrt();
                if norm > 1e-9 {
                    x = w.iter().map(|w| w / norm).collect();
                }
            }
            let round = update.step(&mut state, Dense(&x), 0.0.into(), &Invariant, rate).unwrap();
            bound.observe(&round, Dense(&x));
            loss += round.loss;
        }
        let certificate = bound.certify(&Comparator::Given(&u));
        holds(&certificate, loss);
        tightest = tightest.max(loss / certificate.bound);
        if angle <= std::f64::consts::FRAC_PI_3 {
            holds(&bound.near(), loss);
        } else {
            void(&bound.near(), 0, "a start at most pi/3 from the comparator");
        }
    }
    assert!(tightest > 0.7, "{tightest}");
}

#[test]
fn null_vectors_with_rows_of_any_norm_and_varying_rates() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let (sin, cos) = random.uniform(0.1, 1.5).sin_cos();
        let start = [cos, sin, 0.0];
        let update = Explicit::new(Sphere::new(3, 1.0).unwrap());
        let mut state = update.start(&start).unwrap();
        let mut bound = NullVector::new(&start, &[1.0, 0.0, 0.0]).unwrap();
        let mut loss = 0.0;
        for _ in 0..60 {
            let norm = random.uniform(0.2, 1.5);
            let x: Vec<f64> = orthogonal(&mut random, 3).iter().map(|x| norm * x).collect();
            let rate = random.uniform(0.1, 0.9) / (norm * norm);
            let round = update.step(&mut state, Dense(&x), 0.0.into(), &Invariant, rate).unwrap();
            bound.observe(&round, Dense(&x));
            loss += round.loss;
        }
        holds(&bound.certify(&Comparator::Given(&[1.0, 0.0, 0.0])), loss);
    }
}

#[test]
fn premises_of_the_manifolds() {
    let sphere = Sphere::new(3, 1.0).unwrap();
    let (sin, cos) = 0.1_f64.sin_cos();
    let (w0, u) = ([sin, cos, 0.0], [1.0, 0.0, 0.0]);
    // z² is convex nowhere off the equator; the hinge loss is convex if y z ≥ 0.
    let (bound, _, _) = explicit(
        &sphere,
        (&w0, &u),
        &Invariant,
        0.0,
        |t| (if t < 3 { vec![0.0, 0.0, 1.0] } else { vec![0.0, 1.0, 0.0] }, 0.0, 0.1),
        6,
    );
    void(&bound.certificate(), 4, "convexity of the loss along the geodesic to the comparator");
    assert!(bound.with_defect().status == Status::Valid && bound.defect() > 0.0);
    let (bound, regret, _) =
        explicit(&sphere, (&w0, &u), &Hinge, 0.0, |_| (vec![0.5, 0.0, 0.0], 1.0, 0.1), 6);
    holds(&bound.certificate(), regret);
    let (bound, _, _) = explicit(
        &sphere,
        (&w0, &u),
        &Logistic,
        0.0,
        |t| (vec![0.5, 0.0, 0.0], 1.0, if t < 2 { 0.1 } else { 0.0 }),
        2,
    );
    assert_eq!(bound.certificate().status, Status::Valid);
    let update = Explicit::new(Sphere::new(3, 1.0).unwrap());
    for (rate, target, row, premise) in [
        (0.0, [1.0, 0.0, 0.0], 1, "a rate > 0 in every round"),
        (0.1, [-sin, -cos, 0.0], 1, "the comparator within the injectivity radius"),
    ] {
        let mut state = update.start(&w0).unwrap();
        let x = [0.5, 0.0, 0.0];
        let round = update.step(&mut state, Dense(&x), 1.0.into(), &Logistic, rate).unwrap();
        let mut bound = Riemannian::new(Sphere::new(3, 1.0).unwrap(), &target, 0.0).unwrap();
        let value = Logistic.value(dot(&target, &x), 1.0);
        bound.observe(&w0, &round, Dense(&x), value);
        void(&bound.with_defect(), row, premise);
        void(&bound.certificate(), row, premise);
    }
    for (event, loss, premise) in [
        (Event::Clamped { coordinates: 1 }, 1.0, "steps made as the formula says"),
        (Event::Inside, f64::NAN, "finite loss and slope"),
    ] {
        let mut state = update.start(&w0).unwrap();
        let mut round =
            update.step(&mut state, Dense(&[0.5, 0.0, 0.0]), 1.0.into(), &Logistic, 0.1).unwrap();
        (round.event, round.loss) = (event, if loss == 1.0 { round.loss } else { loss });
        let mut bound = Riemannian::new(Sphere::new(3, 1.0).unwrap(), &u, 0.0).unwrap();
        bound.observe(&w0, &round, Dense(&[0.5, 0.0, 0.0]), 0.1);
        void(&bound.with_defect(), 1, premise);
    }
}

#[test]
fn premises_of_implicit_steps() {
    let m = || Euclidean::new(2).unwrap();
    let run = |change: &dyn Fn(usize, &mut geowalk::update::Round, &mut walk::After)| {
        let mut walk = Implicit::new(walk::Euclidean::new());
        walk.grow(2);
        let mut bound = Proximal::new(m(), &[1.0, 0.0], 0.0).unwrap();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for t in 0..4 {
            let x = [1.0, 0.5];
            walk.read(&mut from);
            let mut round = walk.step(Dense(&x), 1.0.into(), &Squared, 0.5).unwrap();
            walk.read(&mut to);
            let mut after = walk.after().unwrap();
            change(t, &mut round, &mut after);
            bound.observe(&from, &to, &round, &after, Dense(&x), 0.0).unwrap();
        }
        bound.after()
    };
    assert_eq!(run(&|_, _, _| {}).status, Status::Valid);
    let at = |row: usize| move |t: usize| t + 1 == row;
    let third = at(3);
    void(
        &run(&|t, round, _| {
            if third(t) {
                round.rate = 0.0;
            }
        }),
        3,
        "a rate > 0 in every round",
    );
    void(
        &run(&|t, round, _| {
            if third(t) {
                round.length *= 2.0;
            }
        }),
        3,
        "a step from which the weights after it are at the reported distance",
    );
    void(
        &run(&|t, _, after| {
            if third(t) {
                after.loss += 1.0;
            }
        }),
        3,
        "convexity of the loss along the geodesic from the weights after the step to the comparator",
    );
    void(
        &run(&|t, round, _| {
            if third(t) {
                round.loss = 0.0;
            }
        }),
        3,
        "convexity of the loss along the step",
    );
    void(
        &run(&|t, round, _| {
            if third(t) {
                round.event = Event::FellBack;
            }
        }),
        3,
        "steps made as the formula says",
    );
    void(
        &run(&|t, round, _| {
            if third(t) {
                round.loss = f64::INFINITY;
            }
        }),
        3,
        "finite loss and slope",
    );
}

#[test]
fn premises_of_null_vectors() {
    let (start, u) = ([0.6, 0.8, 0.0], [1.0, 0.0, 0.0]);
    let run = |rate: f64, x: [f64; 3], loss: AnyLoss, y: f64| {
        let update = Explicit::new(Sphere::new(3, 1.0).unwrap());
        let mut state = update.start(&start).unwrap();
        let mut bound = NullVector::new(&start, &u).unwrap();
        for t in 0..3 {
            let (x, rate, loss, y) = if t == 1 {
                (x, rate, &loss, y)
            } else {
                ([0.0, 0.6, 0.8], 0.5, &AnyLoss::from(Invariant), 0.0)
            };
            let round = update.step(&mut state, Dense(&x), y.into(), loss, rate).unwrap();
            bound.observe(&round, Dense(&x));
        }
        bound
    };
    let plain = || AnyLoss::from(Invariant);
    let given = Comparator::Given(&u);
    let bound = run(0.5, [1e-6, 0.0, 1.0], plain(), 0.0);
    void(&bound.certify(&given), 2, "rows orthogonal to the comparator");
    let bound = run(1.0, [0.0, 0.0, 1.0], plain(), 0.0);
    void(&bound.certify(&given), 2, "0 < rate |x|^2 < 1");
    let bound = run(0.4, [0.0, 0.0, 1.0], plain(), 0.0);
    assert_eq!(bound.certify(&given).status, Status::Valid);
    void(&bound.near(), 2, "rows of norm 1 and one constant rate");
    let bound = run(0.5, [0.0, 0.0, 1.1], plain(), 0.0);
    void(&bound.near(), 2, "rows of norm 1 and one constant rate");
    let bound = run(0.5, [0.0, 0.0, 1.0], AnyLoss::from(Squared), 0.25);
    void(&bound.certify(&given), 2, "the loss z^2, weight 1");
    let bound = run(0.5, [0.0, 0.0, 1.0], plain(), 0.0);
    void(&bound.certify(&Comparator::Given(&[0.0, 1.0, 0.0])), 0, KNOWN);
    // A walk with two of three features in its first row started on a smaller sphere.
    let mut walk = geowalk::walk::Sphere::new(1.0, 5).unwrap();
    let mut bound = NullVector::new(&start, &u).unwrap().growing();
    let round = walk.step(Dense(&[0.0, 0.6]), 0.0.into(), &Invariant, 0.5).unwrap();
    bound.observe(&round, Dense(&[0.0, 0.6]));
    void(&bound.certify(&given), 1, "all features in the first row");
    void(&bound.near(), 1, "all features in the first row");
    let bound = NullVector::new(&[0.0, 1.0], &[1.0, 0.0]).unwrap();
    void(
        &bound.certify(&Comparator::Given(&[1.0, 0.0])),
        0,
        "a start less than pi/2 from the comparator",
    );
}

const KNOWN: &str = "a comparator for which the bound is known";

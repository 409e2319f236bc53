//! Gradient descent, least squares, natural EG, mirror descent, OLS, linear EG, free: regret ≤ bound.

use geowalk::certify::{
    Bound, Comparator, FirstOrder, FreeBets, GradientDescent, LeastSquares, LinearEg,
    MirrorDescent, NaturalEg, Ols,
};
use geowalk::geometry::generators;
use geowalk::laws::Sampler;
use geowalk::loss::{Absolute, AnyLoss, Hinge, Logistic, Loss, Squared};
use geowalk::row::{Dense, Norm};
use geowalk::update::Round;
use geowalk::walk::{Entropy, Euclidean, Free, Implicit, Orthant, PNorm, SimplexEntropy, Walk};

use super::support::{cube, dot, holds, play, simplex};

const N: usize = 4;

#[test]
fn gradient_descent() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let (u, rate) = (cube(&mut random, N, -2.0, 2.0), random.uniform(0.01, 2.0));
        let (adversarial, z, r) = (seed % 2 == 0, 1.0, 2.0);
        let mut draw = {
            let mut random = Sampler::new(seed + 1000);
            move || (cube(&mut random, N, -1.0, 1.0), random.sign())
        };
        let facts = Hinge.facts();
        let mut measured = GradientDescent::new(&[], &facts);
        let game = play(
            &mut Euclidean::new(),
            &mut measured,
            &Hinge,
            rate,
            200,
            &u,
            adversarial,
            &mut draw,
        );
        let mut promised = GradientDescent::promised(&[], &facts, z, r).unwrap();
        for (round, (x, _)) in game.rounds.iter().zip(&game.rows) {
            promised.observe(round, Dense(x));
        }
        let regret = game.regret(&u, &Hinge);
        let sharp = measured.certify(&Comparator::Given(&u));
        holds(&sharp, regret);
        let loose = promised.certify(&Comparator::Given(&u));
        holds(&loose, regret);
        assert!(sharp.bound <= loose.bound);
        let radius = Norm::L2.of(&u);
        for set in [
            Comparator::Ball { norm: Norm::L2, radius },
            Comparator::Ball { norm: Norm::L1, radius: Norm::L1.of(&u) },
            Comparator::Sphere { radius },
            Comparator::Box { radii: &u },
        ] {
            let certificate = measured.certify(&set);
            holds(&certificate, regret);
            assert!(certificate.bound >= sharp.bound, "{set:?}");
        }
    }
}

#[test]
fn least_squares_explicit_and_implicit() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let u = cube(&mut random, N, -2.0, 2.0);
        let mut draw = {
            let (mut random, u, noise) = (Sampler::new(seed + 1000), u.clone(), (seed % 3) as f64);
            move || {
                let x = cube(&mut random, N, -1.0, 1.0);
                let y = dot(&u, &x) + 0.3 * noise * random.normal();
                (x, y)
            }
        };
        let adversarial = seed % 2 == 0;
        let rate = random.uniform(0.01, 0.24);
        let mut bound = LeastSquares::explicit(&[]);
        let game = play(
            &mut Euclidean::new(),
            &mut bound,
            &Squared,
            rate,
            200,
            &u,
            adversarial,
            &mut draw,
        );
        let (comparator, regret) = (game.comparator(&u, &Squared), game.regret(&u, &Squared));
        let known = bound.certify_known(&Comparator::Given(&u), comparator);
        holds(&known, regret);
        let unknown = bound.certify(&Comparator::Given(&u));
        holds(&unknown, regret);

        // Implicit steps: the loss after them, at any rate.
        let rate = random.uniform(0.1, 30.0);
        let mut walk = Implicit::new(Euclidean::new());
        let mut after = LeastSquares::implicit(&[]);
        let (mut later, mut comparator) = (0.0, 0.0);
        for _ in 0..200 {
            let (x, y) = draw();
            let round = walk.step(Dense(&x), y.into(), &Squared, rate).unwrap();
            let end = walk.after().unwrap();
            let seen = Round { z: end.z, loss: end.loss, slope: end.slope, ..round };
            after.observe(&seen, Dense(&x));
            later += end.loss;
            comparator += Squared.value(dot(&u, &x), y);
        }
        holds(&after.certify_known(&Comparator::Given(&u), comparator), later - comparator);
        holds(&after.certify(&Comparator::Given(&u)), later - comparator);
    }
}

#[test]
fn implicit_least_squares_is_explicit_at_a_smaller_rate_on_rows_of_equal_norm() {
    let (u, rate) = ([0.7, -1.1], 5.0);
    let mut random = Sampler::new(5);
    let mut walk = Implicit::new(Euclidean::new());
    let mut bound = LeastSquares::explicit(&[]);
    let mut regret = 0.0;
    for _ in 0..300 {
        let (sin, cos) = random.uniform(0.0, 6.3).sin_cos();
        let x = [sin, cos];
        let y = dot(&u, &x) + 0.2 * random.normal();
        let round = walk.step(Dense(&x), y.into(), &Squared, rate).unwrap();
        regret += round.loss - Squared.value(dot(&u, &x), y);
        bound.observe(&Round { rate: rate / (1.0 + 2.0 * rate), ..round }, Dense(&x));
    }
    holds(&bound.certify(&Comparator::Given(&u)), regret);
}

#[test]
fn natural_eg_where_slopes_and_features_have_one_sign() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let u = cube(&mut random, N, 1e-6, 3.0);
        let start = [1.0; N];
        let rate = random.uniform(0.01, 0.5);
        let mut bound = NaturalEg::new(&start, &Logistic.facts()).unwrap();
        let mut draw = Sampler::new(seed + 1000);
        let game = play(
            &mut Orthant::new(1.0).unwrap(),
            &mut bound,
            &Logistic,
            rate,
            150,
            &u,
            seed % 2 == 0,
            || (cube(&mut draw, N, 0.0, 1.0), -1.0),
        );
        holds(&bound.certify(&Comparator::Given(&u)), game.regret(&u, &Logistic));
    }
}

#[test]
fn mirror_descent_with_strongly_convex_generators() {
    for seed in 0..40 {
        let mut random = Sampler::new(seed);
        let (rate, adversarial) = (random.uniform(0.02, 1.0), seed % 2 == 0);
        let mut draw = {
            let mut random = Sampler::new(seed + 1000);
            move || (cube(&mut random, N, -1.0, 1.0), random.sign())
        };
        let u = cube(&mut random, N, -1.0, 1.0);
        let q = random.uniform(1.1, 2.0);
        let generator = generators::PNorm::new(q).unwrap();
        let mut bound = MirrorDescent::new(generator, &[0.0; N], &Logistic.facts()).unwrap();
        let mut walk = PNorm::new(q).unwrap();
        let game = play(&mut walk, &mut bound, &Logistic, rate, 150, &u, adversarial, &mut draw);
        let given = bound.certify(&Comparator::Given(&u));
        holds(&given, game.regret(&u, &Logistic));
        let norm = Norm::Lp(q);
        let ball = bound.certify(&Comparator::Ball { norm, radius: norm.of(&u) });
        assert!((ball.bound - given.bound).abs() <= 1e-9 * given.bound, "{ball} {given}");

        // EG: the entropy is 1-strongly convex in the sum of magnitudes.
        let u = simplex(&mut random, N);
        let start = [1.0 / N as f64; N];
        let entropy = generators::SimplexEntropy;
        let mut bound = MirrorDescent::new(entropy, &start, &Logistic.facts()).unwrap();
        let mut walk = SimplexEntropy::new();
        walk.grow(N);
        let game = play(&mut walk, &mut bound, &Logistic, rate, 150, &u, adversarial, &mut draw);
        let given = bound.certify(&Comparator::Given(&u));
        holds(&given, game.regret(&u, &Logistic));
        assert!(bound.certify(&Comparator::Simplex { n: N }).bound >= given.bound);
        let mut linear = LinearEg::new(&start, &Logistic.facts()).unwrap();
        for (round, (x, _)) in game.rounds.iter().zip(&game.rows) {
            linear.observe(round, Dense(x));
        }
        let sharper = linear.certify(&Comparator::Given(&u));
        holds(&sharper, game.regret(&u, &Logistic));
        assert!(sharper.bound <= given.bound * (1.0 + 1e-12), "{sharper} {given}");
    }
}

#[test]
fn unnormalised_entropy_within_a_declared_radius() {
    for seed in 0..30 {
        let mut random = Sampler::new(seed);
        let u = cube(&mut random, N, 0.0, 0.5);
        let start = [0.25; N];
        let kl = generators::KullbackLeibler;
        let mut bound = MirrorDescent::within(kl, &start, &Absolute.facts(), 4.0).unwrap();
        assert_eq!(bound.declared()[0].value, 4.0);
        let mut draw = Sampler::new(seed + 1000);
        let game = play(
            &mut Entropy::new(0.25).unwrap(),
            &mut bound,
            &Absolute,
            0.05,
            100,
            &u,
            false,
            || (cube(&mut draw, N, -1.0, 1.0), draw_label(seed)),
        );
        holds(&bound.certify(&Comparator::Given(&u)), game.regret(&u, &Absolute));
    }
}

fn draw_label(seed: u64) -> f64 {
    if seed.is_multiple_of(2) { 0.3 } else { -0.2 }
}

#[test]
fn ols_for_balanced_and_other_smooth_losses() {
    for seed in 0..48 {
        let names = ["gini", "matsushita", "entropy", "mu(mu=0.5)", "nu(nu=0.25)", "logistic"];
        let loss = AnyLoss::parse(names[seed as usize % names.len()]).unwrap();
        let mut random = Sampler::new(seed);
        let u = cube(&mut random, N, -1.5, 1.5);
        let p = random.uniform(2.0, 8.0);
        let facts = loss.facts();
        let mut bound = Ols::new(p, &facts).unwrap();
        // ‖x‖_p of rows in the cube is at most N^(1/p).
        let rate = bound.rate(random.uniform(0.05, 0.95), (N as f64).powf(1.0 / p));
        let mut draw = Sampler::new(seed + 1000);
        let mut walk = PNorm::new(p / (p - 1.0)).unwrap();
        let game = play(&mut walk, &mut bound, &loss, rate, 200, &u, seed % 2 == 0, || {
            (cube(&mut draw, N, -1.0, 1.0), draw.sign())
        });
        let (comparator, regret) = (game.comparator(&u, &loss), game.regret(&u, &loss));
        holds(&bound.certify_known(&Comparator::Given(&u), comparator), regret);
        holds(&bound.certify(&Comparator::Given(&u)), regret);
        // Theorem 3: the divergence of the predictions is the slack of the first-order certificate.
        let mut first = FirstOrder::new(&facts);
        for (round, (x, _)) in game.rounds.iter().zip(&game.rows) {
            first.observe(round, Dense(x));
            // Lemma 9.
            let norm = Norm::Lp(p).of(x);
            let most = (p - 1.0) * (rate * round.slope * norm).powi(2);
            assert!(round.length * round.length <= most * (1.0 + 1e-9) + 1e-15);
        }
        let divergence = first.certify(&Comparator::Given(&u)).bound - regret;
        let most = bound.divergence(&Comparator::Given(&u), comparator);
        assert!(divergence >= -1e-9 && divergence <= most, "{divergence} > {most}");
    }
}

#[test]
fn free_against_every_scale() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let scale = 10.0_f64.powf(random.uniform(-6.0, 6.0));
        let u: Vec<f64> = (0..N).map(|_| random.normal() / scale).collect();
        let epsilon = random.uniform(0.1, 3.0);
        let mut walk = Free::new(epsilon, 0.0, 1.0).unwrap();
        let mut bound = FreeBets::new(epsilon, 1.0, &Absolute.facts()).unwrap();
        let mut draw = Sampler::new(seed + 1000);
        let game = play(&mut walk, &mut bound, &Absolute, 0.0, 200, &u, seed % 2 == 0, || {
            let x = cube(&mut draw, N, -scale, scale);
            (x, 2.0 * draw.normal())
        });
        let given = bound.certify(&Comparator::Given(&u));
        holds(&given, game.regret(&u, &Absolute));
        assert!(bound.certify(&Comparator::Box { radii: &u }).bound >= given.bound);
    }
}

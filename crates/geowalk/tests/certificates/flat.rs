//! Gradient descent, least squares, natural EG, mirror descent, OLS, linear EG, free: regret ≤ bound.

use geowalk::certify::{Bound, Comparator, Divergence, FirstOrder, FreeBets, Ledger, Start};
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
        let mut measured = Ledger::gradient_descent(&[], &facts);
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
        let mut promised = Ledger::promised_descent(&[], &facts, z, r).unwrap();
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
        let mut bound = Ledger::least_squares(&[]);
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

        // Implicit steps: the loss after the steps, at any rate.
        let rate = random.uniform(0.1, 30.0);
        let mut walk = Implicit::new(Euclidean::new());
        let mut after = Ledger::least_squares_after(&[]);
        let (mut later, mut comparator) = (0.0, 0.0);
        for _ in 0..200 {
            let (x, y) = draw();
            let round = walk.step(Dense(&x), y.into(), &Squared, rate).unwrap();
            let end = walk.after().unwrap();
            after.observe(&round, Dense(&x));
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
    let mut bound = Ledger::least_squares(&[]);
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
        let mut bound = Ledger::natural_eg(&start, &Logistic.facts()).unwrap();
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
fn mirror_steps_of_p_norms_and_entropy() {
    for seed in 0..40 {
        let mut random = Sampler::new(seed);
        let (rate, adversarial) = (random.uniform(0.02, 1.0), seed % 2 == 0);
        let mut draw = {
            let mut random = Sampler::new(seed + 1000);
            move || (cube(&mut random, N, -1.0, 1.0), random.sign())
        };
        let u = cube(&mut random, N, -1.0, 1.0);
        let q = random.uniform(1.1, 2.0);
        let (divergence, start) = (Divergence::PNorm { q }, Start::Each(0.0));
        let mut bound = Ledger::mirror_steps(divergence, start, &Logistic.facts()).unwrap();
        let mut walk = PNorm::new(q).unwrap();
        let game = play(&mut walk, &mut bound, &Logistic, rate, 150, &u, adversarial, &mut draw);
        let given = bound.certify(&Comparator::Given(&u));
        holds(&given, game.regret(&u, &Logistic));
        let norm = Norm::Lp(q);
        let ball = bound.certify(&Comparator::Ball { norm, radius: norm.of(&u) });
        assert!((ball.bound - given.bound).abs() <= 1e-9 * given.bound, "{ball} {given}");

        // EG: the range of the rows bounds every step; the measured steps are shorter.
        let u = simplex(&mut random, N);
        let start = [1.0 / N as f64; N];
        let mut bound = Ledger::linear_eg(&start, &Logistic.facts()).unwrap();
        let mut walk = SimplexEntropy::new();
        walk.grow(N);
        let game = play(&mut walk, &mut bound, &Logistic, rate, 150, &u, adversarial, &mut draw);
        let given = bound.certify(&Comparator::Given(&u));
        holds(&given, game.regret(&u, &Logistic));
        assert!(bound.certify(&Comparator::Simplex { n: N }).bound >= given.bound);
        let (divergence, start) = (Divergence::Entropy, Start::Given(start.to_vec()));
        let mut steps = Ledger::mirror_steps(divergence, start, &Logistic.facts()).unwrap();
        for (round, (x, _)) in game.rounds.iter().zip(&game.rows) {
            steps.observe(round, Dense(x));
        }
        let sharper = steps.certify(&Comparator::Given(&u));
        holds(&sharper, game.regret(&u, &Logistic));
        assert!(sharper.bound <= given.bound * (1.0 + 1e-12), "{sharper} {given}");
    }
}

#[test]
fn unnormalised_entropy() {
    for seed in 0..30 {
        let mut random = Sampler::new(seed);
        let u = cube(&mut random, N, 0.0, 0.5);
        let (start, facts) = (Start::Each(0.25), Absolute.facts());
        let mut bound = Ledger::mirror_steps(Divergence::Entropy, start, &facts).unwrap();
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
        let mut bound = Ledger::ols(p, &facts).unwrap();
        // ‖x‖_p of rows in the cube is at most N^(1/p).
        let most = (N as f64).powf(1.0 / p);
        let smooth = facts.smooth.unwrap();
        let rate = random.uniform(0.05, 0.95) / ((p - 1.0) * most * most * smooth);
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
        let most = comparator + 0.5 * Norm::Lp(p / (p - 1.0)).of(&u).powi(2) / rate + 1e-9;
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

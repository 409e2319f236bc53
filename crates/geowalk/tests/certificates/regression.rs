//! EGU, EG and their twins with the squared loss.

use geowalk::certify::{Bound, Comparator, Ledger, rules};
use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::row::Dense;
use geowalk::walk::{Clipped, Entropy, ReparamEntropy, ReparamSimplex, SimplexEntropy, Walk};

use super::support::{cube, dot, holds, play, simplex};

const N: usize = 5;

#[test]
fn egu_and_its_twin() {
    for seed in 0..80 {
        let mut random = Sampler::new(seed);
        let (x, y) = (random.uniform(0.3, 3.0), random.uniform(0.3, 3.0));
        let start = 10.0_f64.powf(random.uniform(-3.0, 1.0));
        let u = cube(&mut random, N, 0.0, 0.5);
        let rate = random.uniform(0.02, 0.49) / (x * y);
        let noise = (seed % 3) as f64 * 0.1;
        let mut draws = Sampler::new(seed + 1000);
        let mut draw = || {
            let row = cube(&mut draws, N, 0.0, x);
            let label = (dot(&u, &row) + noise * draws.normal()).clamp(0.0, y);
            (row, label)
        };
        let weights = [start; N];
        let adversarial = seed % 2 == 0;
        let mut egu = Ledger::egu(&weights).unwrap();
        let mut walk = Clipped::new(Entropy::new(start).unwrap(), 0.0, y).unwrap();
        let game = play(&mut walk, &mut egu, &Squared, rate, 200, &u, adversarial, &mut draw);
        let comparator = game.comparator(&u, &Squared);
        let regret = game.loss() - comparator;
        let known = egu.certify_known(&Comparator::Given(&u), comparator);
        holds(&known, regret);
        holds(&egu.certify(&Comparator::Given(&u)), regret);
        let mut declared = Ledger::egu(&weights).unwrap().declare([Some(x), Some(y)]).unwrap();
        for (round, (x, _)) in game.rounds.iter().zip(&game.rows) {
            declared.observe(round, Dense(x));
        }
        let certificate = declared.certify_known(&Comparator::Given(&u), comparator);
        holds(&certificate, regret);
        assert!(certificate.bound >= known.bound && declared.declared().len() == 2);

        let mut twin = Ledger::reparam_egu(&weights).unwrap();
        let mut walk = Clipped::new(ReparamEntropy::new(start).unwrap(), 0.0, y).unwrap();
        let game = play(&mut walk, &mut twin, &Squared, rate, 200, &u, adversarial, &mut draw);
        let comparator = game.comparator(&u, &Squared);
        let regret = game.loss() - comparator;
        holds(&twin.certify_known(&Comparator::Given(&u), comparator), regret);
        holds(&twin.certify(&Comparator::Given(&u)), regret);
        let total: f64 = u.iter().sum();
        assert!(
            twin.certify(&Comparator::Positive { total }).bound
                >= twin.certify(&Comparator::Given(&u)).bound
        );
    }
}

#[test]
fn eg_its_twin_and_the_centred_twin() {
    for seed in 0..80 {
        let mut random = Sampler::new(seed);
        let u = simplex(&mut random, N);
        let range = random.uniform(0.5, 3.0);
        let noise = (seed % 3) as f64 * 0.2;
        let start = [1.0 / N as f64; N];
        let adversarial = seed % 2 == 0;
        let mut draws = Sampler::new(seed + 1000);
        // Features and labels in [m − R/2, m + R/2].
        let mut draw = |middle: f64| {
            let (lo, hi) = (middle - 0.5 * range, middle + 0.5 * range);
            let row = cube(&mut draws, N, lo, hi);
            let label = (dot(&u, &row) + noise * draws.normal()).clamp(lo, hi);
            (row, label)
        };
        let given = Comparator::Given(&u);
        let rate = random.uniform(0.02, 0.98) * 2.0 / (range * range);

        let middle = random.uniform(-3.0, 3.0);
        let mut eg = Ledger::eg(&start).unwrap();
        let mut walk = SimplexEntropy::new();
        walk.grow(N);
        let game = play(&mut walk, &mut eg, &Squared, rate, 200, &u, adversarial, || draw(middle));
        let comparator = game.comparator(&u, &Squared);
        let regret = game.loss() - comparator;
        holds(&eg.certify_known(&given, comparator), regret);
        holds(&eg.certify(&given), regret);
        holds(&eg.certify(&Comparator::Simplex { n: N }), regret);

        // The centred twin: the bound of EG at the rate of EG.
        let (lo, hi) = (middle - 0.5 * range, middle + 0.5 * range);
        let mut centred = Ledger::reparam_eg(&start, middle).unwrap();
        let mut walk = ReparamSimplex::centred(lo, hi).unwrap();
        walk.grow(N);
        let game =
            play(&mut walk, &mut centred, &Squared, rate, 200, &u, adversarial, || draw(middle));
        let comparator = game.comparator(&u, &Squared);
        let regret = game.loss() - comparator;
        holds(&centred.certify_known(&given, comparator), regret);
        holds(&centred.certify(&given), regret);

        // The plain twin, with features of both signs.
        let mut twin = Ledger::reparam_eg(&start, 0.0).unwrap();
        let mut walk = ReparamSimplex::new();
        walk.grow(N);
        let game = play(&mut walk, &mut twin, &Squared, rate, 200, &u, adversarial, || draw(0.0));
        let comparator = game.comparator(&u, &Squared);
        let regret = game.loss() - comparator;
        holds(&twin.certify_known(&given, comparator), regret);
        holds(&twin.certify(&given), regret);
    }
}

#[test]
fn the_tuned_rates_give_the_tuned_bounds() {
    let (d, l) = (1.7, 3.0);
    let (x, y): (f64, f64) = (2.0, 0.7);
    let bound = |c: f64, eta: f64| l / (1.0 - c) + d / eta;
    let eta = rules::egu_rate(x, y, d, l);
    let expected = l + 2.0 * (2.0 * l * x * y * d).sqrt() + 2.0 * x * y * d;
    assert!((bound(2.0 * x * y * eta, eta) - expected).abs() < 1e-12);
    let r: f64 = 1.3;
    let eta = rules::eg_rate(r, d, l);
    let expected = l + r * (2.0 * l * d).sqrt() + 0.5 * r * r * d;
    assert!((bound(0.5 * r * r * eta, eta) - expected).abs() < 1e-12);
    let eta = rules::reparam_eg_rate(x, d, l);
    let expected = l + 2.0 * x * (2.0 * l * d).sqrt() + 2.0 * x * x * d;
    assert!((bound(2.0 * x * x * eta, eta) - expected).abs() < 1e-12);
    // The centred twin at X = R/2 has the rate of EG.
    assert!((rules::reparam_eg_rate(0.5 * r, d, l) - rules::eg_rate(r, d, l)).abs() < 1e-15);
}

//! Teams: identities, bounds in adversarial games, members that were certain but wrong, saved states.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // test code

use std::collections::BTreeMap;

use geowalk::Real;
use geowalk::experts::Sequences;
use geowalk::laws::Sampler;
use geowalk::team::{Aggregate, FLOOR, LogMixture, Scratch};

/// −ln of the probability that log-odds assign to a class.
fn lost(z: f64, y: f64) -> f64 {
    let m = z * y;
    Real::max(-m, 0.0) + Real::ln_1p(Real::exp(-m.abs()))
}

/// Log-odds of several members whose abilities change during the run.
fn opinions(random: &mut Sampler, members: usize, t: usize, y: f64) -> Vec<f64> {
    let good = (t / 200) % members;
    (0..members)
        .map(|k| if k == good { 2.0 * y + random.normal() } else { 3.0 * random.normal() })
        .collect()
}

#[test]
fn the_mixture_is_an_identity() {
    let mut random = Sampler::new(1);
    for members in [1, 2, 5, 9] {
        let mut team = LogMixture::new(members).unwrap();
        let mut sums = vec![0.0; members];
        for t in 0..1500 {
            let y = random.sign();
            let z = opinions(&mut random, members, t, y);
            team.predict_two(&z);
            team.learn_two(y, 1.0);
            sums.iter_mut().zip(&z).for_each(|(sum, z)| *sum += lost(*z, y));
            let off = team.identity().unwrap();
            assert!(off.abs() < 1e-12, "{members} members, row {t}: {off:e}");
        }
        let (best, least) = sums.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap();
        let found = team.against(best);
        assert_eq!(team.best(), best);
        assert!((found.member_loss - least).abs() < 1e-9);
        assert!(found.overhead <= found.bound);
        // ln K for the members, ln 5 for the mixtures and stacks; a single member has no stacks.
        let nats = Real::ln(members as f64)
            + if members > 1 { Real::ln(5.0_f64) } else { Real::ln(3.0_f64) };
        assert!((found.bound - nats).abs() < 1e-8, "{} {nats}", found.bound);
    }
}

/// A member that is right is wrong next: the worst case that the rule allows, with importances of all sizes.
#[test]
fn no_game_beats_the_bound() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let members = 2 + random.below(6);
        let mut team = LogMixture::new(members).unwrap();
        for t in 0..400 {
            let z: Vec<f64> = (0..members).map(|_| 8.0 * random.normal()).collect();
            let answer = team.predict_two(&z);
            let y = match seed % 3 {
                0 => -answer.signum(),
                1 => z[team.best()].signum(),
                _ => random.sign(),
            };
            let weight = match seed % 4 {
                0 => [0.0, 0.25, 1.0, 7.5][t % 4],
                1 if t == 300 => 40.0,
                2 => random.unit(),
                _ => 1.0,
            };
            team.learn_two(y, weight);
        }
        for k in 0..members {
            let found = team.against(k);
            assert!(found.overhead <= found.bound, "seed {seed}, member {k}: {found:?}");
        }
    }
}

#[test]
fn the_shared_mixture_follows_sequences() {
    let mut random = Sampler::new(3);
    let mut team = LogMixture::new(4).unwrap();
    let mut best = Sequences::new(4, 6);
    for t in 0..1000 {
        let y = random.sign();
        let z = opinions(&mut random, 4, t, y);
        team.predict_two(&z);
        team.learn_two(y, 1.0);
        let losses: Vec<f64> = z.iter().map(|z| lost(*z, y)).collect();
        best.add(&losses);
    }
    for switches in 0..6 {
        let regret = team.loss() - best.loss(switches).unwrap();
        assert!(regret <= team.against_sequences(switches as u64), "{switches}: {regret}");
    }
    // Four switches pay off here, and weight sharing finds them.
    assert!(team.loss() < team.against(team.best()).member_loss - 100.0);
}

/// The sum of two members that each know one half is better than any mixture.
#[test]
fn stacks_find_sums_of_members() {
    let mut random = Sampler::new(8);
    let mut team = LogMixture::new(2).unwrap();
    for _ in 0..4000 {
        let (a, b) = (1.5 * random.normal(), 1.5 * random.normal());
        let y = if random.unit() < 1.0 / (1.0 + Real::exp(-(a + b))) { 1.0 } else { -1.0 };
        team.predict_two(&[a, b]);
        team.learn_two(y, 1.0);
    }
    let mixed = team.upper_loss(0);
    assert!(team.loss() < 0.95 * mixed, "{} {mixed}", team.loss());
    assert!(team.upper_weights()[3] + team.upper_weights()[4] > 0.99);
}

#[test]
fn members_that_are_certain_and_wrong_recover() {
    let mut team = LogMixture::new(2).unwrap();
    for t in 0..200 {
        // One member is certain and wrong for 50 rows, then right; the other predicts nothing.
        let z = if t < 50 { -f64::INFINITY } else { 3.0 };
        assert!(team.predict_two(&[z, f64::NAN]).is_finite());
        assert!(team.learn_two(1.0, 1.0).is_finite());
    }
    // The floor limits its loss to 40 ln 2 in each of 50 rows.
    let found = team.against(0);
    assert!((found.member_loss - 50.0 * 40.0 * Real::ln(2.0_f64)).abs() < 10.0, "{found:?}");
    assert!(team.weights()[1] > 0.99 && found.overhead <= found.bound);
    let mut team = LogMixture::new(2).unwrap().without_stacks();
    for _ in 0..100 {
        let all: f64 = team.predict_several(3, &[0.0, 0.5, 0.5, 0.2, 0.3, 0.5]).iter().sum();
        assert!((all - 1.0).abs() < 1e-12);
        team.learn_several(0, 1.0);
    }
    let found = team.against(0);
    assert!((found.member_loss + 100.0 * Real::ln(FLOOR)).abs() < 1e-6, "{found:?}");
    assert!(team.weights()[1] > 0.999);
}

#[test]
fn a_saved_team_goes_on_with_the_same_bits() {
    let mut random = Sampler::new(5);
    let mut whole = LogMixture::new(3).unwrap();
    let mut cut = LogMixture::new(3).unwrap();
    for t in 0..700 {
        let y = random.sign();
        let z = opinions(&mut random, 3, t, y);
        let scored = cut.score_two(&z, &mut Scratch::default());
        let (a, b) = (whole.predict_two(&z), cut.predict_two(&z));
        assert_eq!(a.to_bits(), b.to_bits());
        assert!((a - scored).abs() < 1e-12 * (1.0 + a.abs()));
        let weight = if t == 400 { 3.0 } else { 1.0 };
        assert_eq!(whole.learn_two(y, weight).to_bits(), cut.learn_two(y, weight).to_bits());
        let mut arrays = BTreeMap::new();
        cut.save(&mut |name, values| {
            arrays.insert(name, values.to_vec());
        });
        cut = LogMixture::new(3).unwrap();
        cut.load(&mut |name| arrays.get(name).cloned()).unwrap();
    }
    assert!(cut.load(&mut |_| None).is_err());
}

/// 200 adversarial games with forecasts in [0, 1]: the overhead never exceeds ln K / 2, and sometimes comes near it.
#[test]
fn aggregated_forecasts_stay_below_the_bound() {
    let mut worst: f64 = 0.0;
    for seed in 0..200 {
        let mut random = Sampler::new(seed);
        let mut team = Aggregate::new(5, Some((0.0, 1.0))).unwrap();
        for _ in 0..300 {
            let p: Vec<f64> = (0..5).map(|_| random.unit().round()).collect();
            let z = team.predict(&p);
            let y =
                if seed % 2 == 0 { random.unit().round() } else { f64::from(u8::from(z <= 0.5)) };
            team.learn(y, 1.0);
        }
        for k in 0..5 {
            let found = team.against(k);
            assert!(found.overhead <= found.bound, "seed {seed}: {found:?}");
            assert!((found.bound - Real::ln(5.0_f64) / 2.0).abs() < 1e-9);
            worst = worst.max(found.overhead);
        }
    }
    assert!(worst > 0.2, "{worst}: the games are no test");
}

/// Labels of any size without a declared range, importances, distant forecasts.
#[test]
fn the_price_of_an_unknown_range_is_counted() {
    for seed in 0..60 {
        let mut random = Sampler::new(seed);
        let mut team = Aggregate::new(4, None).unwrap();
        for t in 0..300_usize {
            let scale = Real::exp(t as f64 / 60.0 * f64::from(u32::from(seed % 2 == 0)));
            let target = 100.0 * scale * random.normal();
            let p: Vec<f64> =
                (0..4).map(|k| target + scale * 50.0 * f64::from(k) * random.normal()).collect();
            let z = team.predict(&p);
            let y = if seed % 3 == 0 { 2.0 * target - z } else { target };
            let weight = if seed % 5 == 0 { [1.0, 0.5, 4.0][t % 3] } else { 1.0 };
            team.learn(y, weight);
        }
        for k in 0..4 {
            let found = team.against(k);
            assert!(found.overhead <= found.bound, "seed {seed}, member {k}: {found:?}");
            assert!(found.bound.is_finite());
        }
    }
    // All labels are 0: there is no range, so the bound consists only of the counted price.
    let mut team = Aggregate::new(2, None).unwrap();
    for _ in 0..5 {
        team.predict(&[1.0, 0.0]);
        team.learn(0.0, 1.0);
    }
    let found = team.against(1);
    assert!(found.overhead <= found.bound && team.loss() > 0.0);
}

#[test]
fn saved_forecasts_go_on_with_the_same_bits() {
    let mut random = Sampler::new(2);
    let (mut whole, mut cut) = (Aggregate::new(3, None).unwrap(), Aggregate::new(3, None).unwrap());
    for _ in 0..100 {
        let y = 10.0 * random.normal();
        let p: Vec<f64> = (0..3).map(|k| y + f64::from(k) * random.normal()).collect();
        assert_eq!(whole.predict(&p).to_bits(), cut.predict(&p).to_bits());
        whole.learn(y, 1.0);
        cut.learn(y, 1.0);
        let mut arrays = BTreeMap::new();
        cut.save(&mut |name, values| {
            arrays.insert(name, values.to_vec());
        });
        cut = Aggregate::new(3, None).unwrap();
        cut.load(&mut |name| arrays.get(name).cloned()).unwrap();
    }
    assert_eq!(whole.against(1), cut.against(1));
}

//! The learner of experts: it equals the walks, recovers from drift, and its certificates hold for all comparators.

#![allow(clippy::unwrap_used, clippy::panic)] // test code
#![allow(clippy::disallowed_methods)] // references are computed without the library

use geowalk::certify::{Hedge, ReparamHedge, Status};
use geowalk::experts::{
    Experts, Kind, Linear, Logarithmic, Rule, Sequences, Settings, Table, Tuning, best_combination,
};
use geowalk::laws::Sampler;
use geowalk::loss::{Absolute, AnyLoss, Squared};
use geowalk::row::Dense;
use geowalk::walk::{ReparamSimplex, SimplexEntropy, Walk};

fn settings(kind: Kind, rule: Rule, tuning: Tuning) -> Settings {
    Settings { rule, tuning, ..Settings::new(kind) }
}

#[test]
fn at_a_constant_rate_it_is_the_walk() {
    let mut random = Sampler::new(1);
    let rate = 0.3;
    let make = |rule| Experts::new(5, settings(Kind::Losses, rule, Tuning::Rate(rate))).unwrap();
    let mut own = [make(Rule::Hedge), make(Rule::ReparamHedge), make(Rule::Prod)];
    let (mut hedge, mut twin, mut prod) =
        (SimplexEntropy::new(), ReparamSimplex::experts(), SimplexEntropy::prod());
    for _ in 0..60 {
        let row: Vec<f64> = (0..5).map(|_| random.unit()).collect();
        let z = [
            hedge.step(Dense(&row), 0.0.into(), &Linear, rate).unwrap().z,
            twin.step(Dense(&row), 0.0.into(), &Linear, rate).unwrap().z,
            prod.step(Dense(&row), 0.0.into(), &Linear, rate).unwrap().z,
        ];
        for (own, z) in own.iter_mut().zip(z) {
            let play = own.learn(&row, f64::NAN).unwrap().unwrap();
            assert!((play.prediction - z).abs() < 1e-13);
        }
    }
}

#[test]
fn every_rule_meets_its_bound_on_losses() {
    for seed in 0..40_u64 {
        let mut random = Sampler::new(seed);
        let n = 2 + random.below(8);
        let (scale, shift) = if seed % 3 == 0 { (7.0, -2.0) } else { (1.0, 0.0) };
        for rule in [Rule::Hedge, Rule::ReparamHedge, Rule::Prod] {
            for tuning in [Tuning::Auto, Tuning::Doubling, Tuning::Rate(0.2)] {
                for share in [0.0, 0.02] {
                    let settings = Settings {
                        share,
                        range: Some((shift, shift + scale)),
                        ..settings(Kind::Losses, rule, tuning)
                    };
                    let mut experts = Experts::new(n, settings).unwrap();
                    for _ in 0..150 {
                        // The expert with the most weight loses, or losses are random.
                        let middle = 1.0 / n as f64;
                        let row: Vec<f64> = (0..n)
                            .map(|i| {
                                let unit = if seed % 2 == 0 {
                                    f64::from(u8::from(experts.weights()[i] >= middle))
                                } else {
                                    random.unit().powf(1.0 + i as f64)
                                };
                                shift + scale * unit
                            })
                            .collect();
                        experts.learn(&row, f64::NAN).unwrap();
                    }
                    for i in 0..n {
                        let standing = experts.against_expert(i);
                        let certificate = &standing.certificate;
                        assert_eq!(
                            certificate.status,
                            Status::Valid,
                            "{rule:?} {tuning:?} {certificate}"
                        );
                        let slack = 1e-12 * scale * 150.0;
                        assert!(
                            standing.regret <= certificate.bound + slack,
                            "{rule:?} {tuning:?} {share}: {standing:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn shares_follow_experts_that_change() {
    for seed in 0..20_u64 {
        let mut random = Sampler::new(seed);
        let (n, k) = (4, 400);
        for (kind, rule, tuning) in [
            (Kind::Losses, Rule::Hedge, Tuning::Rate(0.5)),
            (Kind::Losses, Rule::ReparamHedge, Tuning::Rate(0.2)),
            (Kind::Losses, Rule::Prod, Tuning::Rate(0.3)),
            (Kind::Probabilities, Rule::Hedge, Tuning::Auto),
        ] {
            let settings = Settings { share: 0.01, ..settings(kind, rule, tuning) };
            let mut experts = Experts::new(n, settings).unwrap();
            let mut best = Sequences::new(n, 3);
            for t in 0..k {
                // The good expert changes three times.
                let row: Vec<f64> = (0..n)
                    .map(|i| if i == t / 100 { 0.5 * random.unit() } else { random.unit() })
                    .collect();
                let row: Vec<f64> = row.iter().map(|x| x.clamp(0.01, 0.99)).collect();
                experts.learn(&row, if rule == Rule::Hedge { 0.0 } else { f64::NAN }).unwrap();
                best.add(experts.last_losses());
            }
            for m in 0..=3_u64 {
                let loss = best.loss(usize::try_from(m).unwrap()).unwrap();
                let standing = experts.against_sequence(loss, m).unwrap();
                assert_eq!(standing.certificate.status, Status::Valid);
                assert!(
                    standing.regret <= standing.certificate.bound,
                    "{rule:?} {m}: {standing:?}"
                );
            }
        }
    }
}

#[test]
fn doubling_begins_epochs_and_tells_where_it_broke() {
    let mut experts =
        Experts::new(2, settings(Kind::Losses, Rule::Hedge, Tuning::Doubling)).unwrap();
    for t in 0..400 {
        let row = if t % 2 == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
        experts.learn(&row, f64::NAN).unwrap();
    }
    assert!(experts.epochs() >= 4, "{}", experts.epochs());
    let standing = experts.against_expert(0);
    assert!(
        standing.regret <= standing.certificate.bound && standing.certificate.bound < 120.0,
        "{standing:?}"
    );
    experts.learn(&[1.5, 0.0], f64::NAN).unwrap();
    for _ in 0..2000 {
        experts.learn(&[1.0, 1.0], f64::NAN).unwrap();
    }
    let Status::Void(broken) = experts.against_expert(0).certificate.status else { panic!() };
    assert_eq!((broken.row, broken.premise), (401, "losses in [0, 1]"));
}

#[test]
fn the_tunings_are_those_of_the_theorems() {
    let (n, loss) = (100, 99.0);
    let d = 100.0_f64.ln();
    for (rule, rate) in
        [(Rule::Hedge, Hedge::rate(d, loss)), (Rule::ReparamHedge, ReparamHedge::rate(d, loss))]
    {
        let experts =
            Experts::new(n, settings(Kind::Losses, rule, Tuning::Tuned { loss })).unwrap();
        assert!((experts.rate() - rate).abs() < 1e-15);
    }
    // Stochastic losses, 100 experts, 1000 rounds: both rules have the bound √(2LD) + D, which holds.
    let mut experts: Vec<Experts> = [Rule::Hedge, Rule::ReparamHedge]
        .map(|rule| Experts::new(n, settings(Kind::Losses, rule, Tuning::Tuned { loss })).unwrap())
        .into();
    let mut random = Sampler::new(9);
    for _ in 0..1000 {
        let row: Vec<f64> = (0..n)
            .map(|i| f64::from(u8::from(random.unit() < if i == 0 { 0.09 } else { 0.2 })))
            .collect();
        for experts in &mut experts {
            experts.learn(&row, f64::NAN).unwrap();
        }
    }
    for experts in &experts {
        let standing = experts.against_expert(0);
        assert!(standing.comparator_loss <= loss, "{standing:?}");
        assert!(standing.regret <= standing.certificate.bound);
        assert!(standing.certificate.bound <= (2.0 * loss * d).sqrt() + d + 1e-9);
    }
}

#[test]
fn eg_without_a_rate_is_near_the_best_combination() {
    for (seed, loss) in
        [(1, AnyLoss::from(Squared)), (2, AnyLoss::from(Absolute)), (3, AnyLoss::from(Squared))]
    {
        let mut random = Sampler::new(seed);
        let (n, scale) = (6, if seed == 3 { 1e5 } else { 1.0 });
        let settings = settings(Kind::Forecasts(loss.clone()), Rule::Eg, Tuning::Auto);
        let mut experts = Experts::new(n, settings).unwrap();
        let (mut rows, mut outcomes) = (Vec::new(), Vec::new());
        for _ in 0..500 {
            let y = scale * random.normal();
            let row: Vec<f64> = (0..n)
                .map(|i| y + scale * (i as f64 - 2.0) * 0.3 + 0.2 * scale * random.normal())
                .collect();
            experts.learn(&row, y).unwrap();
            rows.extend_from_slice(experts.last_row());
            outcomes.push(y);
        }
        let best = best_combination(&Table { n, rows: &rows, y: &outcomes }, &loss);
        assert!(best.gap <= 2e-3 * best.loss, "{best:?}");
        assert!(best.loss < experts.loss_of(experts.best()));
        let standing = experts.against(&best).unwrap();
        assert_eq!(standing.certificate.status, Status::Valid);
        assert!(standing.regret <= standing.certificate.bound, "{standing:?}");
        assert!(standing.regret < 0.5 * best.loss, "{standing:?}");
    }
}

#[test]
fn portfolios_are_worth_what_the_theorems_say() {
    let mut random = Sampler::new(4);
    let n = 4;
    let mut hold = Experts::new(n, Settings::new(Kind::Relatives)).unwrap();
    let mut eg = Experts::new(n, settings(Kind::Relatives, Rule::Eg, Tuning::Rate(0.05))).unwrap();
    let (mut rows, mut worth) = (Vec::new(), [0.25; 4]);
    for t in 0..300 {
        // Two experts that move in opposite directions, so that rebalancing pays.
        let swing = if t % 2 == 0 { 1.3 } else { 1.0 / 1.3 };
        let row = [swing, 1.0 / swing, random.uniform(0.95, 1.05), random.uniform(0.97, 1.04)];
        hold.learn(&row, f64::NAN).unwrap();
        eg.learn(&row, f64::NAN).unwrap();
        rows.extend_from_slice(&row);
        worth.iter_mut().zip(row).for_each(|(worth, x)| *worth *= x);
    }
    // The mixture is a buy-and-hold portfolio.
    assert!((hold.loss() + worth.iter().sum::<f64>().ln()).abs() < 1e-10);
    let standing = hold.against_expert(hold.best());
    assert!((standing.certificate.bound - 4.0_f64.ln()).abs() < 1e-12);
    assert!(standing.regret <= standing.certificate.bound);
    let best = best_combination(&Table { n, rows: &rows, y: &[0.0; 300] }, &Logarithmic);
    assert!(best.gap < 1e-6 && best.loss < -8.0, "{best:?}");
    let standing = eg.against(&best).unwrap();
    assert_eq!(standing.certificate.theorem, "linear-eg");
    assert!(standing.regret <= standing.certificate.bound, "{standing:?}");
    assert!(hold.against(&best).is_none());
}

#[test]
fn who_does_not_speak_loses_what_the_learner_loses() {
    for kind in [Kind::Losses, Kind::Probabilities, Kind::Forecasts(AnyLoss::from(Squared))] {
        for tuning in [Tuning::Auto, Tuning::Rate(0.5)] {
            let mut experts = Experts::new(3, settings(kind.clone(), Rule::Hedge, tuning)).unwrap();
            assert!(experts.learn(&[f64::NAN; 3], 1.0).unwrap().is_none());
            let mut random = Sampler::new(6);
            for t in 0..300 {
                let mut row =
                    [random.uniform(0.05, 0.3), random.uniform(0.1, 0.9), random.uniform(0.5, 0.9)];
                if t < 200 {
                    row[2] = f64::NAN;
                }
                let before = experts.weights()[2];
                let play = experts.learn(&row, 1.0).unwrap().unwrap();
                assert_eq!(play.awake, if t < 200 { 2 } else { 3 });
                // The mixture leaves the weights exactly unchanged.
                if t < 200 && tuning == Tuning::Auto && matches!(kind, Kind::Probabilities) {
                    assert!((experts.weights()[2] - before).abs() < 1e-12);
                }
            }
            for i in 0..3 {
                let standing = experts.against_expert(i);
                if standing.certificate.status == Status::Valid {
                    assert!(standing.regret <= standing.certificate.bound + 1e-9, "{standing:?}");
                }
            }
        }
    }
}

#[test]
fn errors_and_reasons() {
    let mut experts = Experts::new(2, Settings::new(Kind::Probabilities)).unwrap();
    let text = experts.learn(&[0.5, 1.5], 1.0).unwrap_err().to_string();
    assert_eq!(text, "coordinate 1 of the row of experts is 1.5; it must be in [0, 1]");
    assert!(experts.learn(&[0.5], 1.0).is_err());
    assert!(experts.learn(&[0.5, 0.5], 0.5).is_err());
    assert!(experts.learn(&[0.0, 0.0], 1.0).is_err(), "what all say cannot happen");
    assert_eq!(experts.loss(), 0.0);
    assert!(Experts::new(0, Settings::new(Kind::Losses)).is_err());
    let squared = Kind::Forecasts(AnyLoss::from(Squared));
    assert!(Experts::new(2, settings(squared.clone(), Rule::ReparamEg, Tuning::Auto)).is_err());
    let tuned = Tuning::Tuned { loss: 5.0 };
    assert!(Experts::new(2, settings(squared.clone(), Rule::Eg, tuned)).is_err(), "no range");
    let shared = Settings { share: 0.1, ..settings(squared, Rule::Eg, Tuning::Rate(0.1)) };
    let standing = Experts::new(2, shared.clone()).unwrap().against_expert(0);
    assert_eq!(standing.certificate.theorem, "shared-hedge");
    let twin = Settings { rule: Rule::ReparamEg, ..shared.clone() };
    let standing = Experts::new(2, twin).unwrap().against_expert(0);
    assert_eq!(standing.certificate.theorem, "none");
    for rule in [Rule::MlPoly, Rule::Boa] {
        assert!(
            Experts::new(2, Settings { rule, tuning: Tuning::Auto, ..shared.clone() }).is_err()
        );
        assert!(Experts::new(2, Settings { rule, share: 0.0, ..shared.clone() }).is_err());
    }
}

/// Rules that find their rates themselves, on games of all scales that are fair, that have a best expert, or that
/// change it: below their bounds against every expert, a mixture and sequences of experts, and the bounds are useful.
#[test]
fn rules_without_a_rate_meet_their_bounds() {
    let rules = [(Rule::MlPoly, 0.0), (Rule::Boa, 0.0), (Rule::Eg, 0.02), (Rule::Hedge, 0.02)];
    for (seed, (rule, share)) in (0..60).flat_map(|seed| rules.map(|rule| (seed, rule))) {
        let mut random = Sampler::new(seed);
        let n = 2 + random.below(4);
        let scale = [1e-6, 1.0, 1e5][random.below(3)];
        let kind = Kind::Forecasts(AnyLoss::from(Squared));
        let rounds = 400;
        let turns = usize::try_from(seed % 3).unwrap();
        let weighing = Settings { share, ..settings(kind, rule, Tuning::Auto) };
        let mut experts = Experts::new(n, weighing).unwrap();
        let mut changing = 0.0;
        let (mut even, u) = (0.0, vec![1.0 / n as f64; n]);
        for t in 0..rounds {
            let y = scale * random.normal();
            let good = if turns == 0 { n } else { (t * turns / rounds) % n };
            let row: Vec<f64> = (0..n)
                .map(|i| y + scale * random.normal() * if i == good { 0.1 } else { 1.0 })
                .map(|x| if t % 7 == 3 && x > y { f64::NAN } else { x })
                .collect();
            if experts.learn(&row, y).unwrap().is_none() {
                continue;
            }
            changing += experts.last_losses()[good.min(n - 1)];
            let mean: f64 = experts.last_row().iter().zip(&u).map(|(x, u)| x * u).sum();
            even += (mean - y) * (mean - y);
        }
        let what = format!("seed {seed}, {rule:?}, {n} experts of {scale}");
        for i in 0..n {
            let standing = experts.against_expert(i).checked().unwrap();
            assert_eq!(standing.certificate.status, Status::Valid, "{what}");
            let bound = standing.certificate.bound;
            // Hedge bounds the regret itself, the others that of the linearised losses.
            let first = standing.first_order.bound;
            assert!(rule == Rule::Hedge || bound >= first * (1.0 - 1e-9), "{what}");
            assert!(bound < scale * scale * f64::from(400), "{what}: {bound}");
        }
        if rule != Rule::Hedge {
            let mixture = geowalk::experts::Combination { w: u, loss: even, gap: 0.0 };
            assert!(experts.against(&mixture).unwrap().check().is_ok(), "{what}");
        }
        if share > 0.0 {
            let standing = experts.against_sequence(changing, 1).unwrap();
            assert!(standing.check().is_ok() && standing.certificate.bound.is_finite(), "{what}");
        }
    }
}

#[test]
fn a_game_goes_on_with_the_same_bits() {
    let forecasts = || Kind::Forecasts(AnyLoss::from(Squared));
    let all = [
        (settings(Kind::Losses, Rule::Hedge, Tuning::Auto), 0.0),
        (settings(Kind::Losses, Rule::Hedge, Tuning::Rate(0.3)), 0.01),
        (settings(Kind::Losses, Rule::Hedge, Tuning::Doubling), 0.0),
        (settings(Kind::Losses, Rule::ReparamHedge, Tuning::Doubling), 0.0),
        (settings(Kind::Losses, Rule::Prod, Tuning::Rate(0.2)), 0.0),
        (settings(Kind::Probabilities, Rule::Hedge, Tuning::Auto), 0.02),
        (settings(forecasts(), Rule::Eg, Tuning::Auto), 0.0),
        (settings(forecasts(), Rule::Eg, Tuning::Rate(0.1)), 0.0),
        (settings(forecasts(), Rule::ReparamEg, Tuning::Rate(0.1)), 0.0),
        (settings(forecasts(), Rule::Eg, Tuning::Rate(0.1)), 0.1),
        (settings(forecasts(), Rule::Eg, Tuning::Auto), 0.1),
        (settings(Kind::Losses, Rule::Hedge, Tuning::Auto), 0.05),
        (settings(forecasts(), Rule::MlPoly, Tuning::Auto), 0.0),
        (settings(forecasts(), Rule::Boa, Tuning::Auto), 0.0),
        (settings(Kind::Relatives, Rule::Eg, Tuning::Auto), 0.0),
    ];
    for (settings, share) in all {
        let settings = Settings { share, ..settings };
        let mut random = Sampler::new(5);
        let mut row = |t: usize| -> Vec<f64> {
            // In round 150 a loss above 1 violates the premise of an epoch that ends long before the run does.
            let broken =
                if t == 150 && !matches!(settings.kind, Kind::Probabilities) { 3.0 } else { 0.0 };
            (0..4).map(|_| random.unit() + broken).collect()
        };
        let mut whole = Experts::new(4, settings.clone()).unwrap();
        let mut parts = Experts::new(4, settings.clone()).unwrap();
        for t in 0..2000 {
            let (row, y) = (row(t), f64::from(u8::from(t % 3 == 0)));
            whole.learn(&row, y).unwrap();
            parts.learn(&row, y).unwrap();
            if t % 250 == 0 {
                let mut arrays: Vec<(String, Vec<f64>)> = Vec::new();
                parts.save(&mut |name, values| arrays.push((name, values.to_vec())));
                let find =
                    |name: &str| arrays.iter().find(|(own, _)| own == name).map(|(_, v)| v.clone());
                parts = Experts::load(4, settings.clone(), &mut |name| find(name)).unwrap();
                assert!(Experts::load(4, settings.clone(), &mut |_| None).is_err());
                assert!(Experts::load(3, settings.clone(), &mut |name| find(name)).is_err());
            }
        }
        assert_eq!(whole.weights(), parts.weights(), "{settings:?}");
        assert_eq!((whole.loss(), whole.epochs()), (parts.loss(), parts.epochs()));
        for i in 0..4 {
            let (a, b) = (whole.against_expert(i), parts.against_expert(i));
            // A NaN bound is not equal to itself, so compare the text.
            assert_eq!(format!("{a:?}"), format!("{b:?}"), "{settings:?}");
        }
    }
}

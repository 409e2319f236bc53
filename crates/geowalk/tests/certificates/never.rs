//! Certificates that were once `valid` but false, each with the input that showed it.

use geowalk::certify::{
    AdaHedge, AnyBound, Bound, Comparator, Divergence, FirstOrder, Hedge, Ledger, Mixture, Prod,
    ReparamHedge, Start, Status, Winnow, rules,
};
use geowalk::error::Allowed;
use geowalk::experts::{Experts, Kind, Linear, Rule, Settings};
use geowalk::laws::Sampler;
use geowalk::loss::{Absolute, AnyLoss, Facts, Logistic, Loss, Squared};
use geowalk::row::{Dense, Norm};
use geowalk::walk::{
    Clipped, Entropy, Euclidean, Orthant, ReparamEntropy, ReparamSimplex, Signed, SimplexEntropy,
    Walk,
};

use super::support::{dot, holds, void};

const PROBABILITIES: &str = "a comparator with weights >= 0 that sum to 1";
const NONNEGATIVE: &str = "a comparator with weights >= 0";
const WITHIN_SCALE: &str = "a comparator whose magnitudes sum to at most the scale of the walk";

/// F1: predictions clipped at 1, labels of 1.3.
#[test]
fn label_above_the_clip_voids_egu() {
    fn run(mut walk: impl Walk, mut bound: Ledger) {
        let mut loss = 0.0;
        for _ in 0..50 {
            let round = walk.step(Dense(&[1.0]), 1.3.into(), &Squared, 0.3).unwrap();
            bound.observe(&round, Dense(&[1.0]));
            loss += round.loss;
        }
        assert!((loss - 4.5).abs() < 1e-9, "{loss}");
        void(&bound.certify_known(&Comparator::Given(&[1.3]), 0.0), 1, "labels in [0, Y]");
    }
    let entropy = Clipped::new(Entropy::new(2.0).unwrap(), 0.0, 1.0).unwrap();
    run(entropy, Ledger::egu(&[2.0]).unwrap().declare([None, Some(1.0)]).unwrap());
    let twin = Clipped::new(ReparamEntropy::new(2.0).unwrap(), 0.0, 1.0).unwrap();
    run(twin, Ledger::reparam_egu(&[2.0]).unwrap().declare([None, Some(1.0)]).unwrap());
}

/// Declared constants are also checked on rows with a step of 0.
#[test]
fn declared_constants_are_checked_on_every_row() {
    let facts = Absolute.facts();
    let promised = Ledger::promised_descent(&[], &facts, 1.0, 1.0).unwrap();
    let mut bound = AnyBound::Ledger(promised);
    let mut walk = Euclidean::new();
    for x in [1.0, 5.0] {
        let round = walk.step(Dense(&[x]), 0.0.into(), &Absolute, 0.5).unwrap();
        bound.observe(&round, Dense(&[x]));
    }
    let verdict = &bound.certify(&Comparator::Given(&[1.0]), None, None)[0];
    void(&verdict.certificate, 2, "|x| <= R");
}

/// F2: first rounds in which all experts have the same loss.
#[test]
fn equal_first_losses_leave_the_rate_infinite() {
    let mut experts = Experts::new(3, Settings::new(Kind::Losses)).unwrap();
    let rounds = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.5, 0.2, 0.1]];
    for (t, losses) in rounds.iter().enumerate() {
        experts.learn(losses, f64::NAN).unwrap();
        if t < 2 {
            assert_eq!(experts.rate(), f64::INFINITY);
            assert!(experts.weights().iter().all(|w| (w - 1.0 / 3.0).abs() < 1e-15));
        }
    }
    let w = experts.weights();
    assert!(w.iter().all(|w| w.is_finite()) && w[1] > w[0] && w[1] > w[2], "{w:?}");
    for i in 0..3 {
        let standing = experts.against_expert(i);
        holds(&standing.certificate, standing.regret);
    }
}

#[test]
fn small_games_have_weights_and_bounds() {
    const VALUES: [f64; 8] = [0.0, 1.0, 0.5, 0.1, 0.2, 0.3, 1e-9, 7e9];
    let mut infinite = 0;
    for seed in 0..2000 {
        let mut random = Sampler::new(seed);
        let n = 1 + random.below(4);
        let kinds = [Kind::Losses, Kind::Forecasts(AnyLoss::from(Squared))];
        let kind = kinds[random.below(2)].clone();
        let rule = if random.below(2) == 0 { Rule::Hedge } else { Rule::Eg };
        let mut experts =
            Experts::new(n, Settings { rule, ..Settings::new(kind.clone()) }).unwrap();
        // Few distinct values give many ties, including sums such as 0.1 + 0.2 and 0.3 that tie only up to rounding.
        let few = 1 + random.below(VALUES.len());
        for _ in 0..=random.below(12) {
            infinite += u32::from(experts.rate().is_infinite());
            let same = random.below(3) == 0;
            let first = VALUES[random.below(few)];
            let draw = |random: &mut Sampler| if same { first } else { VALUES[random.below(few)] };
            let row: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
            experts.learn(&row, VALUES[random.below(few)]).unwrap();
            let w = experts.weights();
            let total: f64 = w.iter().sum();
            assert!((total - 1.0).abs() < 1e-12 && w.iter().all(|w| *w >= 0.0), "{seed}: {w:?}");
            for i in 0..n {
                let standing = experts.against_expert(i);
                let c = &standing.certificate;
                assert_eq!(c.status, Status::Valid, "{seed}: {c}");
                let rounding = 1e-15 * (c.loss.abs() + standing.comparator_loss.abs());
                assert!(standing.regret <= c.bound + rounding, "{seed}: {standing:?}");
            }
        }
    }
    assert!(infinite > 2000, "{infinite}");
}

/// F3: weight flows back from a state in which one side had all of it.
#[test]
fn collapsed_weights_have_the_length_of_their_step() {
    let (rate, x, u) = (6.5624, [1.6507, 1.6507], [-10.0, 0.0]);
    let mut walk = Signed::new(SimplexEntropy::new(), 10.0).unwrap();
    let steps = Ledger::mirror_steps(Divergence::Entropy, Start::Even, &Absolute.facts()).unwrap();
    let mut bound = AnyBound::Ledger(steps.signed(10.0));
    let (mut loss, mut lengths) = (0.0, Vec::new());
    for _ in 0..2 {
        let round = walk.step(Dense(&x), (-1.0).into(), &Absolute, rate).unwrap();
        bound.observe(&round, Dense(&x));
        loss += round.loss;
        lengths.push(0.5 * round.length * round.length);
    }
    // mpmath, 50 digits: ln cosh 108.325…, and ln(2e^{-108.3…})+108.3… for weights that are all on one side.
    assert!((lengths[0] - 107.632_389_619_440_05).abs() < 1e-9, "{lengths:?}");
    assert!((lengths[1] - std::f64::consts::LN_2).abs() < 1e-9, "{lengths:?}");
    for u in [u, [-0.3, -0.3], [-0.6058, 0.0]] {
        let own = (dot(&u, &x) + 1.0).abs();
        let verdict = &bound.certify(&Comparator::Given(&u), None, None)[0];
        holds(&verdict.certificate, loss - 2.0 * own);
    }
}

/// F4: comparators within 1e-9 of the start, at rates and features for which this is a large regret.
#[test]
fn comparators_next_to_the_start_have_their_distance() {
    for near in [1e-9, 1e-12, 3e-16] {
        let (x, rate) = ([1e10, 0.0], 1e-23);
        let u = [0.5 + near, 0.5 - near];
        let facts = Absolute.facts();
        let mut walk = SimplexEntropy::new();
        let mut steps = Ledger::mirror_steps(Divergence::Entropy, Start::Even, &facts).unwrap();
        let mut linear = Ledger::linear_eg(&[0.5, 0.5], &facts).unwrap();
        let (mut loss, mut own) = (0.0, 0.0);
        for _ in 0..5 {
            let y = 5e9 + 20.0;
            let round = walk.step(Dense(&x), y.into(), &Absolute, rate).unwrap();
            steps.observe(&round, Dense(&x));
            linear.observe(&round, Dense(&x));
            loss += round.loss;
            own += (dot(&u, &x) - y).abs();
        }
        assert!(near < 1e-9 || loss > own);
        holds(&steps.certify(&Comparator::Given(&u)), loss - own);
        holds(&linear.certify(&Comparator::Given(&u)), loss - own);
    }
    // Two-sided walks start at 0; the comparator is as near to it as 1e-15.
    for (scale, near) in [(1.0, 1e-15), (10.0, 1e-9)] {
        let mut walk = Signed::new(SimplexEntropy::new(), scale).unwrap();
        let steps =
            Ledger::mirror_steps(Divergence::Entropy, Start::Even, &Absolute.facts()).unwrap();
        let mut bound = AnyBound::Ledger(steps.signed(scale));
        let round = walk.step(Dense(&[1e10]), 1.0.into(), &Absolute, 1e-30).unwrap();
        bound.observe(&round, Dense(&[1e10]));
        let verdict = &bound.certify(&Comparator::Given(&[near]), None, None)[0];
        holds(&verdict.certificate, 1.0 - (near * 1e10 - 1.0).abs());
    }
    // On the orthant the distance is that of logarithms.
    let mut walk = Orthant::new(1.0).unwrap();
    let mut bound = Ledger::natural_eg(&[1.0], &Absolute.facts()).unwrap();
    let round = walk.step(Dense(&[1e10]), 0.0.into(), &Absolute, 1e-40).unwrap();
    bound.observe(&round, Dense(&[1e10]));
    let u = [1.0 - f64::EPSILON];
    holds(&bound.certify(&Comparator::Given(&u)), round.loss - u[0] * 1e10);
}

/// F5: comparators that are not probability vectors.
#[test]
fn comparators_off_the_simplex_are_refused() {
    let rows = [[1.0, 0.0], [0.0, 1.0]];
    let start = [0.5, 0.5];
    let facts = Squared.facts();
    let (mut walk, mut twin) = (SimplexEntropy::new(), ReparamSimplex::new());
    let mut steps = Ledger::mirror_steps(Divergence::Entropy, Start::Even, &facts).unwrap();
    let given = Start::Given(start.to_vec());
    let mut from = Ledger::mirror_steps(Divergence::Entropy, given, &facts).unwrap();
    let mut linear = Ledger::linear_eg(&start, &facts).unwrap();
    let mut eg = Ledger::eg(&start).unwrap();
    let mut reparam = Ledger::reparam_eg(&start, 0.0).unwrap();
    for x in rows.repeat(500) {
        let round = walk.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
        steps.observe(&round, Dense(&x));
        from.observe(&round, Dense(&x));
        linear.observe(&round, Dense(&x));
        eg.observe(&round, Dense(&x));
        let round = twin.step(Dense(&x), 2.0.into(), &Squared, 0.1).unwrap();
        reparam.observe(&round, Dense(&x));
    }
    let outside = [
        Comparator::Given(&[2.0, 2.0]),
        Comparator::Given(&[0.0, 0.0]),
        Comparator::Given(&[]),
        Comparator::Given(&[1.5, -0.5]),
        Comparator::Given(&[0.5, 0.499_999]),
        Comparator::Given(&[f64::NAN, 1.0]),
        Comparator::Positive { total: 4.0 },
        Comparator::Positive { total: 1.0 },
    ];
    for u in outside {
        void(&steps.certify(&u), 0, PROBABILITIES);
        void(&from.certify(&u), 0, PROBABILITIES);
        void(&linear.certify(&u), 0, PROBABILITIES);
        for c in [eg.certify(&u), eg.certify_known(&u, 0.0)] {
            void(&c, 0, PROBABILITIES);
        }
        for c in [reparam.certify(&u), reparam.certify_known(&u, 0.0)] {
            assert!(matches!(c.status, Status::Void(_)), "{c}");
        }
    }
    let third = [1.0 / 3.0; 3].map(|w| w * 1.5);
    for u in [
        Comparator::Given(&[0.5, 0.5]),
        Comparator::Given(&third[..2]),
        Comparator::Simplex { n: 2 },
    ] {
        assert_eq!(eg.certify(&u).status, Status::Valid, "{u:?}");
    }
}

#[test]
fn comparators_outside_other_sets_are_refused() {
    let x = [1.0, 0.5];
    let facts = Logistic.facts();
    let mut walk = Entropy::new(0.25).unwrap();
    let mut steps = Ledger::mirror_steps(Divergence::Entropy, Start::Each(0.25), &facts).unwrap();
    let mut egu = Ledger::egu(&[0.25, 0.25]).unwrap();
    let winnow = Winnow::new(0.5, &[0.25, 0.25], &[0.5, 0.0]).unwrap();
    let round = walk.step(Dense(&x), 1.0.into(), &Logistic, 0.1).unwrap();
    steps.observe(&round, Dense(&x));
    let round = walk.step(Dense(&x), 1.0.into(), &Squared, 0.1).unwrap();
    egu.observe(&round, Dense(&x));
    let negative = Comparator::Given(&[1.0, -0.5]);
    void(&steps.certify(&negative), 0, NONNEGATIVE);
    void(&egu.certify(&negative), 0, NONNEGATIVE);
    void(&winnow.against(&negative), 0, NONNEGATIVE);

    let losses = [0.2, 0.9];
    let mut walk = SimplexEntropy::new();
    let round = walk.step(Dense(&losses), 0.0.into(), &Linear, 0.5).unwrap();
    let start = [0.5, 0.5];
    let mut hedge = Hedge::new(&start, 0.0).unwrap();
    let mut twin = ReparamHedge::new(&start, 0.0).unwrap();
    let mut prod = Prod::new(&start, 0.0).unwrap();
    let mixture = Mixture::new(&start, 0.0).unwrap();
    let mut ada = AdaHedge::new(2).unwrap();
    hedge.observe(&round, Dense(&losses));
    twin.observe(&round, Dense(&losses));
    prod.observe(&round, Dense(&losses));
    ada.observe(&round, Dense(&losses));
    for u in [Comparator::Given(&[2.0, -1.0]), Comparator::Given(&[]), Comparator::Given(&[0.5])] {
        void(&hedge.certify(&u), 0, PROBABILITIES);
        void(&hedge.tuned(&u, 1.0, 1.0), 0, PROBABILITIES);
        void(&twin.certify(&u), 0, PROBABILITIES);
        void(&twin.tuned(&u, 1.0, 1.0), 0, PROBABILITIES);
        void(&prod.certify(&u), 0, PROBABILITIES);
        void(&mixture.certify(&u), 0, PROBABILITIES);
        void(&ada.certify(&u), 0, PROBABILITIES);
    }
}

/// For eg± with scale U the error says that the comparator is too long, and does not ask for another one.
#[test]
fn comparators_beyond_the_scale_are_told_so() {
    let facts = Squared.facts();
    let mut walk = Signed::new(SimplexEntropy::new(), 2.0).unwrap();
    let even = || Ledger::new(Divergence::Entropy, Start::Even).unwrap().signed(2.0);
    let mut bounds: Vec<Ledger> =
        rules::EG_STEPS.iter().map(|rule| even().with(rule, &facts)).collect();
    for _ in 0..20 {
        let round = walk.step(Dense(&[1.0, -0.5]), 3.0.into(), &Squared, 0.01).unwrap();
        for bound in &mut bounds {
            bound.observe(&round, Dense(&[1.0, -0.5]));
        }
    }
    for bound in &bounds {
        let ask = |u: &Comparator<'_>| bound.certify_all(u, None).remove(0);
        void(&ask(&Comparator::Given(&[2.0, -1.0])).certificate, 0, WITHIN_SCALE);
        let ball = |radius| Comparator::Ball { norm: Norm::L1, radius };
        void(&ask(&ball(2.5)).certificate, 0, WITHIN_SCALE);
        for inside in
            [Comparator::Given(&[1.5, -0.5]), Comparator::Given(&[0.3, 0.0, 0.0]), ball(2.0)]
        {
            let verdict = ask(&inside);
            assert_eq!(verdict.certificate.status, Status::Valid, "{inside:?}");
            assert!(verdict.certificate.bound.is_finite(), "{inside:?}: {verdict:?}");
        }
    }
}

/// F6: a loss that is not convex, declared with the facts of a convex one.
#[derive(Debug)]
struct Liar;

impl Loss for Liar {
    fn spec(&self) -> String {
        "liar".to_owned()
    }

    fn value(&self, z: f64, y: f64) -> f64 {
        ((z - y) * (z - y)).min(1.0)
    }

    fn slope(&self, z: f64, y: f64) -> f64 {
        if (z - y).abs() < 1.0 { 2.0 * (z - y) } else { 0.0 }
    }

    fn curvature(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn minimizer(&self, y: f64) -> f64 {
        y
    }

    fn facts(&self) -> Facts {
        Facts { labels: Allowed::Finite, ..Absolute.facts() }
    }
}

#[test]
fn declared_convexity_is_tested_where_losses_are_known() {
    let mut walk = Euclidean::new();
    let mut first = FirstOrder::new(&Liar.facts());
    let mut descent = Ledger::gradient_descent(&[], &Liar.facts());
    let (u, mut regret) = ([2.0], 0.0);
    for t in 0..100 {
        let y = if t == 0 { 0.1 } else { 2.0 };
        let round = walk.step(Dense(&[1.0]), y.into(), &Liar, 0.1).unwrap();
        first.observe(&round, Dense(&[1.0]));
        descent.observe(&round, Dense(&[1.0]));
        let own = Liar.value(u[0], y);
        regret += round.loss - own;
        // The certificates without the comparator's loss rely on the declared convexity.
        let told = t < 1;
        assert!(told || regret > 0.0);
        if t == 99 {
            assert!(first.certify(&Comparator::Given(&u)).bound < regret);
        }
        let (mut first, mut descent) = (first.clone(), descent.clone());
        first.compare(&round, u[0], own);
        descent.compare(&round, u[0], own);
        if t > 0 {
            let premise = "convexity of the loss in the prediction";
            void(&first.certify(&Comparator::Given(&u)), t + 1, premise);
            void(&descent.certify(&Comparator::Given(&u)), t + 1, premise);
        }
    }
    let declared = |name: &str| {
        let theorem = geowalk::certify::entries().find(|theorem| theorem.name == name).unwrap();
        theorem.premises.iter().any(|p| p.declared && p.text.starts_with("convexity of the loss"))
    };
    assert!(declared("first-order") && declared("gradient-descent") && declared("linear-eg"));
}

/// The test of convexity never rejects a convex loss, at any scale.
#[test]
fn convex_losses_pass_the_test_of_convexity() {
    for seed in 0..200 {
        let mut random = Sampler::new(seed);
        let scale = 10.0_f64.powf(random.uniform(-120.0, 60.0));
        let losses: [&str; 6] = ["squared", "absolute", "logistic", "hinge", "huber", "quantile"];
        let loss = AnyLoss::parse(losses[random.below(6)]).unwrap();
        let mut walk = Euclidean::new();
        let mut first = FirstOrder::new(&loss.facts());
        for _ in 0..20 {
            let x = [scale * random.normal()];
            let y = if loss.facts().margin { random.sign() } else { random.normal() };
            let Ok(round) = walk.step(Dense(&x), y.into(), &loss, 0.1 / scale) else { break };
            first.observe(&round, Dense(&x));
            let at = random.normal() * x[0];
            first.compare(&round, at, loss.value(at, y));
            first.compare(
                &round,
                round.z * (1.0 + f64::EPSILON),
                loss.value(round.z * (1.0 + f64::EPSILON), y),
            );
        }
        assert_eq!(
            first.certify(&Comparator::Given(&[1.0])).status,
            Status::Valid,
            "{seed} {loss:?}"
        );
    }
}

/// c = 1 up to rounding: L/(1 − c) used to be negative, and so was the bound.
#[test]
fn rates_next_to_the_limit_have_no_negative_bound() {
    let below = 1.0 - f64::EPSILON / 2.0;
    let mut eg = Ledger::eg(&[0.5, 0.5]).unwrap();
    let mut egu = Ledger::egu(&[0.5, 0.5]).unwrap();
    let mut squares = Ledger::least_squares(&[]);
    let mut walk = SimplexEntropy::new();
    let round = walk.step(Dense(&[1.0, 0.0]), 0.0.into(), &Squared, 2.0 * below).unwrap();
    eg.observe(&round, Dense(&[1.0, 0.0]));
    void(&eg.certify_known(&Comparator::Given(&[1.0, 0.0]), 1.0), 0, "rate R^2/2 < 1");
    let mut walk = Entropy::new(0.5).unwrap();
    let round = walk.step(Dense(&[1.0, 1.0]), 1.0.into(), &Squared, 0.5 * below).unwrap();
    egu.observe(&round, Dense(&[1.0, 1.0]));
    void(&egu.certify_known(&Comparator::Given(&[1.0, 0.0]), 1.0), 0, "2 X Y rate < 1");
    let mut walk = Euclidean::new();
    let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, below).unwrap();
    squares.observe(&round, Dense(&[1.0]));
    void(&squares.certify_known(&Comparator::Given(&[1.0]), 1.0), 0, "rate |x|^2 < 1");
    void(&squares.certify(&Comparator::Given(&[1.0])), 0, "rate |x|^2 < 1");
}

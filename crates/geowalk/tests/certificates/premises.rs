//! Each premise of the theorems that observe only rounds has a stream that violates it at a known row.

use geowalk::certify::{
    AdaHedge, Bound, Certificate, Comparator, Curvature, Divergence, FreeBets, Hedge, Ledger,
    Mixture, Prod, ReparamHedge, SecondOrder, Start, Status, Winnow,
};
use geowalk::geometry::Event;
use geowalk::loss::{AnyLoss, Geodesic, Hinge, Logistic, Loss, Space, Squared};
use geowalk::row::{Dense, Norm, Sparse};
use geowalk::update::Round;

use super::support::void;

/// Three rounds that a theorem accepts, with the second modified by `change` (round and row).
fn changed<B: Bound>(
    mut bound: B,
    round: Round,
    row: &[f64],
    change: impl Fn(&mut Round, &mut Vec<f64>),
    u: &Comparator<'_>,
) -> Certificate {
    for t in 0..3 {
        let (mut round, mut row) = (round, row.to_vec());
        if t == 1 {
            change(&mut round, &mut row);
        }
        bound.observe(&round, Dense(&row));
    }
    bound.certify(u)
}

/// A round of the squared loss in ℝⁿ with the step that gradient descent makes.
fn squared(z: f64, y: f64, rate: f64, norm: f64) -> Round {
    let slope = 2.0 * (z - y);
    Round {
        z,
        loss: (z - y) * (z - y),
        slope,
        rate,
        length: rate * slope.abs() * norm,
        event: Event::Inside,
    }
}

const RATE: &str = "one constant rate > 0";
const FINITE: &str = "finite loss and slope";
const WRITTEN: &str = "steps made as the formula says";
const CONVEX: &str = "convexity of the loss in the prediction";
const KNOWN: &str = "a comparator for which the bound is known";
const SQUARED: &str = "the squared loss, weight 1";
const MORE: &str = "no more features than the start has";

/// Violations that make every one of these theorems void.
fn common<B: Bound + Clone>(
    bound: &B,
    round: Round,
    row: &[f64],
    u: &Comparator<'_>,
    constant: bool,
) {
    let fine = changed(bound.clone(), round, row, |_, _| {}, u);
    assert_eq!(fine.status, Status::Valid, "{fine}");
    if constant {
        for rate in [0.0, -0.1, 0.5 * round.rate] {
            void(&changed(bound.clone(), round, row, |r, _| r.rate = rate, u), 2, RATE);
        }
    }
    for bad in [f64::NAN, f64::INFINITY] {
        void(&changed(bound.clone(), round, row, |r, _| r.loss = bad, u), 2, FINITE);
    }
    let clamp = Event::Clamped { coordinates: 1 };
    void(&changed(bound.clone(), round, row, |r, _| r.event = clamp, u), 2, WRITTEN);
    void(
        &changed(
            bound.clone(),
            round,
            row,
            |_, _| {},
            &Comparator::Ball { norm: Norm::LInf, radius: 1.0 },
        ),
        0,
        KNOWN,
    );
}

#[test]
fn of_gradient_descent_and_least_squares() {
    let not_convex = Geodesic::new(Space::Timelike).facts();
    assert!(!not_convex.convex);
    let u = Comparator::Given(&[1.0]);
    let round = squared(0.5, 1.0, 0.1, 1.0);
    let gd = Ledger::gradient_descent(&[], &Squared.facts());
    common(&gd, round, &[1.0], &u, true);
    void(&Ledger::gradient_descent(&[], &not_convex).certify(&u), 0, CONVEX);
    let promised = Ledger::promised_descent(&[], &Squared.facts(), 1.0, 1.0).unwrap();
    assert_eq!(promised.declared().len(), 1, "the loss vouches for its slopes");
    let length = "steps of length rate |slope| |x|";
    void(&changed(gd, round, &[1.0], |r, _| r.length *= 1.5, &u), 2, length);
    let steep = squared(0.4, 1.0, 0.1, 1.0);
    void(&changed(promised.clone(), round, &[1.0], |r, _| *r = steep, &u), 2, "|slope| <= Z");
    let long = squared(0.5, 1.0, 0.1, 1.1);
    void(&changed(promised, round, &[1.0], |r, x| (*r, x[0]) = (long, 1.1), &u), 2, "|x| <= R");
    let ls = Ledger::least_squares(&[]);
    common(&ls, round, &[1.0], &u, true);
    void(&changed(ls.clone(), round, &[1.0], |r, _| r.loss *= 2.0, &u), 2, SQUARED);
    let large = squared(0.5, 1.0, 0.1, 4.0);
    void(
        &changed(ls.clone(), round, &[1.0], |r, x| (*r, x[0]) = (large, 4.0), &u),
        2,
        "rate |x|^2 < 1",
    );
    void(&changed(ls, round, &[1.0], |r, _| r.length *= 1.5, &u), 2, length);
    let implicit = Ledger::least_squares_after(&[]);
    // The residual shrinks by 1 + 2·rate·|x|², and the step with it.
    let round = Round { length: round.length / 1.2, ..round };
    common(&implicit, round, &[1.0], &u, true);
    void(&changed(implicit.clone(), round, &[1.0], |r, _| r.loss *= 2.0, &u), 2, SQUARED);
    void(&changed(implicit, round, &[1.0], |r, _| r.length *= 1.5, &u), 2, length);
}

#[test]
fn of_natural_eg_mirror_descent_ols_linear_eg_and_free() {
    let not_convex = Geodesic::new(Space::Timelike).facts();
    let facts = Logistic.facts();
    let round = Round {
        z: 0.0,
        loss: 2.0_f64.ln(),
        slope: 0.5,
        rate: 0.1,
        length: 0.05,
        event: Event::Inside,
    };
    let u = Comparator::Given(&[0.5, 0.5]);
    let start = [0.5, 0.5];

    let neg = Ledger::natural_eg(&start, &facts).unwrap();
    common(&neg, round, &[1.0, 0.5], &u, true);
    let sign = "slope x_i >= 0 for every feature";
    void(&changed(neg.clone(), round, &[1.0, 0.5], |r, _| r.slope = -0.5, &u), 2, sign);
    void(&changed(neg.clone(), round, &[1.0, 0.5], |_, x| x[1] = -0.5, &u), 2, sign);
    let zero = Comparator::Given(&[0.0, 1.0]);
    void(&neg.certify(&zero), 0, "a comparator with positive weights, one for each of the start");
    void(&Ledger::natural_eg(&start, &not_convex).unwrap().certify(&u), 0, CONVEX);

    let linear = Ledger::linear_eg(&start, &facts).unwrap();
    common(&linear, round, &[1.0, 0.5], &u, true);
    void(&changed(linear, round, &[1.0, 0.5], |_, x| x.push(1.0), &u), 2, MORE);
    void(&Ledger::linear_eg(&start, &not_convex).unwrap().certify(&u), 0, CONVEX);

    for start in [Start::Given(vec![0.5; 2]), Start::Even] {
        let steps = Ledger::mirror_steps(Divergence::Entropy, start, &facts).unwrap();
        common(&steps, round, &[1.0, 0.5], &u, true);
        void(&changed(steps, round, &[1.0, 0.5], |_, x| x.push(1.0), &u), 2, MORE);
    }
    let each = Ledger::mirror_steps(Divergence::Entropy, Start::Each(0.5), &facts).unwrap();
    let grown = changed(each, round, &[1.0, 0.5], |_, x| x.push(1.0), &u);
    assert_eq!(grown.status, Status::Valid, "weights that do not depend on each other");
    let steps = Ledger::mirror_steps(Divergence::Burg, Start::Each(0.5), &not_convex).unwrap();
    void(&steps.certify(&u), 0, CONVEX);
    let flat = Ledger::implicit_descent(&[], &facts);
    common(&flat, round, &[1.0, 0.5], &u, true);
    void(&Ledger::implicit_descent(&[], &not_convex).certify(&u), 0, CONVEX);

    let ols = Ledger::ols(3.0, &facts).unwrap();
    common(&ols, round, &[1.0, 0.5], &u, true);
    void(
        &changed(ols.clone(), round, &[1.0, 0.5], |r, _| r.loss = 0.1, &u),
        2,
        "a loss with slope^2 <= 2 S loss",
    );
    void(&changed(ols, round, &[1.0, 0.5], |_, x| x[0] = 5.0, &u), 2, "rate (p - 1) |x|_p^2 S < 1");
    void(
        &Ledger::ols(3.0, &Hinge.facts()).unwrap().certify(&u),
        0,
        "a loss with slope^2 <= 2 S loss",
    );
    void(&Ledger::ols(3.0, &not_convex).unwrap().certify(&u), 0, CONVEX);

    let free = FreeBets::new(1.0, 1.0, &facts).unwrap();
    common(&free, round, &[1.0, 0.5], &u, false);
    void(
        &changed(free.clone(), round, &[1.0, 0.5], |r, _| r.slope = 1.5, &u),
        2,
        "|slope| at most the declared bound",
    );
    void(&FreeBets::new(1.0, 1.0, &not_convex).unwrap().certify(&u), 0, CONVEX);
    assert_eq!(free.declared()[0].value, 1.0);
}

#[test]
fn of_the_second_order() {
    let mut bound = SecondOrder::new(Curvature::Squared);
    let round = squared(0.5, 1.0, 0.1, 1.0);
    let u = Comparator::Given(&[1.0]);
    bound.observe(&round, Dense(&[1.0]));
    assert_eq!(bound.certify(&u).certificate.status, Status::Valid);
    let mut many = bound.clone();
    many.observe(&round, Sparse::new(&[3000], &[1.0]).unwrap());
    void(&many.certify(&u).certificate, 2, "at most 1024 features");
    bound.observe(&Round { loss: f64::NAN, ..round }, Dense(&[1.0]));
    void(&bound.certify(&u).certificate, 2, FINITE);
}

#[test]
fn of_experts() {
    let start = [0.5, 0.5];
    let round =
        Round { z: 0.25, loss: 0.25, slope: 1.0, rate: 0.3, length: 0.01, event: Event::Inside };
    let u = Comparator::Given(&[1.0, 0.0]);
    let row = [0.0, 0.5];
    let unit = "losses in [0, 1]";
    let dot = "a loss no larger than the mean of the experts' losses";
    let hedge = Hedge::new(&start, 0.0).unwrap();
    let twin = ReparamHedge::new(&start, 0.0).unwrap();
    let prod = Prod::new(&start, 0.0).unwrap();
    common(&hedge, round, &row, &u, true);
    common(&twin, round, &row, &u, true);
    common(&prod, round, &row, &u, true);
    for bad in [-0.1, 1.1, f64::NAN] {
        void(&changed(hedge.clone(), round, &row, |_, x| x[0] = bad, &u), 2, unit);
        void(&changed(twin.clone(), round, &row, |_, x| x[0] = bad, &u), 2, unit);
        void(&changed(prod.clone(), round, &row, |_, x| x[0] = bad, &u), 2, unit);
    }
    void(&changed(hedge.clone(), round, &row, |r, _| r.loss = 0.3, &u), 2, dot);
    void(&changed(twin.clone(), round, &row, |r, _| r.loss = 0.3, &u), 2, dot);
    void(&changed(prod.clone(), round, &row, |r, _| r.loss = 0.3, &u), 2, dot);
    void(&changed(hedge.clone(), round, &row, |_, x| x.push(0.5), &u), 2, MORE);
    let fast = Round { rate: 1.0, ..round };
    void(&changed(twin.clone(), fast, &row, |_, _| {}, &u), 1, "rate < 1");
    let fast = Round { rate: 0.51, ..round };
    void(&changed(prod, fast, &row, |_, _| {}, &u), 1, "rate <= 1/2");
    // The tuned form.
    let (d, l) = (2.0_f64.ln(), 1.0);
    let mut tuned = hedge.clone();
    let at = Round { rate: Hedge::rate(d, l), ..round };
    (0..3).for_each(|_| tuned.observe(&at, Dense(&row)));
    assert_eq!(tuned.tuned(&u, d, l).status, Status::Valid);
    let second = Comparator::Given(&[0.0, 1.0]);
    void(&tuned.tuned(&second, d, l), 0, "a comparator that loses at most L");
    void(&tuned.tuned(&u, 0.5 * d, 0.5 * l), 0, "a comparator with D(u, w1) <= D");
    void(&tuned.tuned(&u, 2.0 * d, l), 0, "the rate of the tuning");
    let mut tuned = twin;
    let at = Round { rate: ReparamHedge::rate(d, l), ..round };
    (0..3).for_each(|_| tuned.observe(&at, Dense(&row)));
    assert_eq!(tuned.tuned(&u, d, l).status, Status::Valid);
    void(&tuned.tuned(&second, d, l), 0, "a comparator that loses at most L");
    void(&tuned.tuned(&u, 0.5 * d, 0.5 * l), 0, "a comparator with D(u, w1) <= D");
    void(&tuned.tuned(&u, 2.0 * d, l), 0, "the rate of the exact tuning");

    let mixture = Mixture::new(&start, 0.0).unwrap();
    let z: f64 = 0.4;
    let round =
        Round { z, loss: -z.ln(), slope: -z.recip(), rate: 1.0, length: 0.0, event: Event::Inside };
    let row = [0.3, 0.5];
    common(&mixture, round, &row, &u, false);
    void(&changed(mixture.clone(), round, &row, |r, _| r.rate = 0.5, &u), 2, "rate 1");
    void(&changed(mixture.clone(), round, &row, |r, _| r.loss = 1.0, &u), 2, "the loss -ln z");
    let positive = "probabilities or relatives >= 0";
    void(&changed(mixture.clone(), round, &row, |_, x| x[0] = -0.1, &u), 2, positive);
    void(&changed(mixture, round, &row, |_, x| x.push(0.1), &u), 2, MORE);
}

#[test]
fn of_ada_hedge() {
    let ada = AdaHedge::new(2).unwrap();
    let u = Comparator::Given(&[1.0, 0.0]);
    let round =
        Round { z: 0.5, loss: 0.5, slope: 1.0, rate: 1.0, length: 0.0, event: Event::Inside };
    // Equal losses leave the weights equal.
    common(&ada, round, &[0.5, 0.5], &u, false);
    let own = "a loss no larger than the mean under its weights";
    void(&changed(ada.clone(), round, &[0.5, 0.5], |r, _| r.loss = 0.6, &u), 2, own);
    void(&changed(ada.clone(), round, &[0.5, 0.5], |_, x| x.push(0.1), &u), 2, MORE);
    let all = "a loss of every expert";
    void(&changed(ada, round, &[0.5, 0.5], |_, x| x.truncate(1), &u), 2, all);
}

#[test]
fn of_egu_eg_and_their_twins() {
    let u = Comparator::Given(&[0.5, 0.5]);
    let (start, row) = ([0.5, 0.5], [1.0, 0.0]);
    let round = squared(0.5, 1.0, 0.1, 1.0);
    for egu in [Ledger::egu(&start).unwrap(), Ledger::reparam_egu(&start).unwrap()] {
        common(&egu, round, &row, &u, true);
        let declared = egu.clone().declare([Some(1.0), Some(1.0)]).unwrap();
        void(&changed(egu.clone(), round, &row, |r, _| r.loss *= 2.0, &u), 2, SQUARED);
        let features = "features in [0, X]";
        void(&changed(egu.clone(), round, &row, |_, x| x[1] = -0.1, &u), 2, features);
        void(&changed(declared.clone(), round, &row, |_, x| x[1] = 1.1, &u), 2, features);
        let labels = "labels in [0, Y]";
        let below = squared(0.5, -0.5, 0.1, 1.0);
        void(&changed(egu.clone(), round, &row, |r, _| *r = below, &u), 2, labels);
        let above = squared(0.5, 1.5, 0.1, 1.0);
        void(&changed(declared.clone(), round, &row, |r, _| *r = above, &u), 2, labels);
        let unclipped = squared(1.2, 1.0, 0.1, 1.0);
        void(
            &changed(declared, round, &row, |r, _| *r = unclipped, &u),
            2,
            "predictions clipped to [0, Y]",
        );
        let large = squared(0.5, 6.0, 0.1, 1.0);
        void(&changed(egu, round, &row, |r, _| *r = large, &u), 2, "2 X Y rate < 1");
    }
    let eg = Ledger::eg(&start).unwrap();
    common(&eg, round, &row, &u, true);
    void(&changed(eg.clone(), round, &row, |r, _| r.loss *= 2.0, &u), 2, SQUARED);
    void(&changed(eg.clone(), round, &row, |_, x| x[1] = -4.0, &u), 2, "rate R^2/2 < 1");
    void(&changed(eg.clone(), round, &row, |_, x| x.push(0.0), &u), 2, MORE);
    let declared = eg.declare([Some(1.0), None]).unwrap();
    void(
        &changed(declared, round, &row, |_, x| x[1] = -0.1, &u),
        2,
        "features of a row within R of each other",
    );
    let twin = Ledger::reparam_eg(&start, 0.0).unwrap();
    common(&twin, round, &row, &u, true);
    void(&changed(twin.clone(), round, &row, |r, _| r.loss *= 2.0, &u), 2, SQUARED);
    void(&changed(twin.clone(), round, &row, |_, x| x[1] = -4.0, &u), 2, "2 X^2 rate < 1");
    let large = squared(0.5, -2.5, 0.1, 1.0);
    void(&changed(twin.clone(), round, &row, |r, _| *r = large, &u), 2, "2 X^2 rate < 1");
    void(&changed(twin.clone(), round, &row, |_, x| x.push(0.0), &u), 2, MORE);
    let declared = twin.declare([Some(1.0), None]).unwrap();
    void(
        &changed(declared.clone(), round, &row, |_, x| x[1] = -1.1, &u),
        2,
        "features within X of the middle",
    );
    let outside = squared(0.5, 1.2, 0.1, 1.0);
    void(
        &changed(declared, round, &row, |r, _| *r = outside, &u),
        2,
        "labels within X of the middle",
    );
}

#[test]
fn of_winnow() {
    let u = [1.0, 0.0];
    for twin in [false, true] {
        let make = || {
            if twin { Winnow::twin(0.5, &[0.5; 2], &u) } else { Winnow::new(0.5, &[0.5; 2], &u) }
                .unwrap()
        };
        let constants = if twin {
            geowalk::walk::winnow::twin(0.5)
        } else {
            geowalk::walk::winnow::winnow(0.5)
        }
        .unwrap();
        let z = 0.1;
        let loss = AnyLoss::parse(&format!("winnow-hinge(theta={})", constants.threshold)).unwrap();
        let (value, slope) = (loss.value(z, 1.0), loss.slope(z, 1.0));
        assert_eq!(slope, -1.0);
        let round = Round {
            z,
            loss: value,
            slope,
            rate: constants.rate,
            length: 0.1,
            event: Event::Inside,
        };
        let given = Comparator::Given(&u);
        let row = [1.0, 0.5];
        common(&make(), round, &row, &given, false);
        void(&changed(make(), round, &row, |_, x| x[1] = 1.5, &given), 2, "features in [0, 1]");
        void(&changed(make(), round, &row, |_, x| x[1] = -0.5, &given), 2, "features in [0, 1]");
        let apart = "a comparator with <u, x> >= margin on positive and 0 on negative examples";
        void(&changed(make(), round, &row, |_, x| x[0] = 0.4, &given), 2, apart);
        let theta = "the loss max(0, -y(z - theta)) at the theorem's threshold, weight 1";
        void(&changed(make(), round, &row, |r, _| r.slope = -2.0, &given), 2, theta);
        void(&changed(make(), round, &row, |r, _| r.loss += 0.1, &given), 2, theta);
        let other = Round { rate: 1.1 * constants.rate, ..round };
        void(&changed(make(), other, &row, |_, _| {}, &given), 1, "the rate of the theorem");
        void(&changed(make(), round, &row, |r, _| r.rate *= 1.0 + 1e-13, &given), 2, RATE);
        let wrong = Comparator::Given(&[0.0, 1.0]);
        void(&make().certify(&wrong), 0, KNOWN);
    }
}

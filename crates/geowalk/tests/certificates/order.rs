//! For theorems proved through the linearised regret: the theorem's bound ≥ the first-order bound ≥ the regret, on
//! every stream.

use geowalk::certify::{
    Bound, Comparator, Divergence, FirstOrder, FreeBets, Hedge, Ledger, Prod, ReparamHedge, Start,
    Status,
};
use geowalk::experts::Linear;
use geowalk::laws::Sampler;
use geowalk::loss::{AnyLoss, Loss};
use geowalk::walk::{Burg, Entropy, Euclidean, Free, PNorm, ReparamSimplex, SimplexEntropy, Walk};

use super::support::{cube, play, simplex};

const N: usize = 5;

/// Two bounds that observe the same rounds.
#[derive(Debug)]
struct Both<B>(B, FirstOrder);

impl<B: Bound> Bound for Both<B> {
    fn observe<F: geowalk::Real, X: geowalk::row::Row<F>>(
        &mut self,
        round: &geowalk::update::Round,
        x: X,
    ) {
        self.0.observe(round, x);
        self.1.observe(round, x);
    }

    fn certify(&self, u: &Comparator<'_>) -> geowalk::certify::Certificate {
        self.0.certify(u)
    }
}

fn ordered<W: Walk, B: Bound, L: Loss>(
    mut walk: W,
    bound: B,
    loss: &L,
    rate: f64,
    u: &[f64],
    seed: u64,
    draw: impl FnMut() -> (Vec<f64>, f64),
) {
    let mut both = Both(bound, FirstOrder::new(&loss.facts()));
    walk.grow(N);
    let game = play(&mut walk, &mut both, loss, rate, 120, u, seed.is_multiple_of(2), draw);
    let theorem = both.0.certify(&Comparator::Given(u));
    let first = both.1.certify(&Comparator::Given(u));
    assert_eq!((&theorem.status, &first.status), (&Status::Valid, &Status::Valid), "{theorem}");
    let rounding = 1e-11 * (1.0 + theorem.bound.abs() + first.loss);
    let regret = game.regret(u, loss);
    assert!(theorem.bound >= first.bound - rounding, "{theorem}\n{first}");
    assert!(first.bound >= regret - rounding, "{first}: regret {regret}");
}

#[test]
fn theorem_then_first_order_then_regret() {
    for seed in 0..45 {
        let mut random = Sampler::new(seed);
        let names = ["absolute", "hinge", "logistic", "huber", "quantile(tau=0.9)"];
        let loss = AnyLoss::parse(names[seed as usize % names.len()]).unwrap();
        let facts = loss.facts();
        let rate = random.uniform(0.01, 1.0);
        let u = cube(&mut random, N, -1.0, 1.0);
        let draw = |offset: u64| {
            let mut draws = Sampler::new(seed + offset);
            move || (cube(&mut draws, N, -1.0, 1.0), draws.sign())
        };
        ordered(
            Euclidean::new(),
            Ledger::gradient_descent(&[], &facts),
            &loss,
            rate,
            &u,
            seed,
            draw(100),
        );
        let q = random.uniform(1.2, 2.0);
        let divergence = Divergence::PNorm { q };
        let mirror = Ledger::mirror_steps(divergence, Start::Each(0.0), &facts).unwrap();
        ordered(PNorm::new(q).unwrap(), mirror, &loss, rate, &u, seed, draw(200));
        let free = FreeBets::new(1.0, 1.0, &facts).unwrap();
        ordered(Free::new(1.0, 0.0, 1.0).unwrap(), free, &loss, 0.0, &u, seed, draw(300));
        let start = [1.0 / N as f64; N];
        let u = simplex(&mut random, N);
        let linear = Ledger::linear_eg(&start, &facts).unwrap();
        ordered(SimplexEntropy::new(), linear, &loss, rate, &u, seed, draw(400));
        let even = Ledger::mirror_steps(Divergence::Entropy, Start::Even, &facts).unwrap();
        ordered(SimplexEntropy::new(), even, &loss, rate, &u, seed, draw(510));
        let each = Start::Each(0.3);
        let positive = Ledger::mirror_steps(Divergence::Entropy, each.clone(), &facts).unwrap();
        ordered(Entropy::new(0.3).unwrap(), positive, &loss, rate, &u, seed, draw(520));
        let burg = Ledger::mirror_steps(Divergence::Burg, each, &facts).unwrap();
        let inside: Vec<f64> = u.iter().map(|u| u + 0.01).collect();
        ordered(Burg::new(0.3).unwrap(), burg, &loss, 0.1 * rate, &inside, seed, draw(530));
        // Experts: the loss is linear, so the first-order bound equals the regret.
        let draw = |offset: u64| {
            let mut draws = Sampler::new(seed + offset);
            move || (cube(&mut draws, N, 0.0, 1.0), 0.0)
        };
        let hedge = Hedge::new(&start, 0.0).unwrap();
        ordered(SimplexEntropy::new(), hedge, &Linear, rate, &u, seed, draw(600));
        let twin = ReparamHedge::new(&start, 0.0).unwrap();
        ordered(ReparamSimplex::experts(), twin, &Linear, 0.9 * rate, &u, seed, draw(700));
        let prod = Prod::new(&start, 0.0).unwrap();
        ordered(SimplexEntropy::prod(), prod, &Linear, 0.5 * rate, &u, seed, draw(800));
    }
}

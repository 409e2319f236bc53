//! No input to the public API causes a panic, for any numbers, slice lengths and texts. No call hangs, and none
//! allocates memory for a size that no slice has. Seeds are fixed, so the cases are the same on every machine.

#![allow(clippy::unwrap_used)] // a test may stop

mod any_support;

use std::sync::Arc;

use any_support::{every_generator, every_loss, every_manifold};

use geowalk::Real;
use geowalk::certify::{Bound, Comparator, FirstOrder};
use geowalk::error::Allowed;
use geowalk::geometry::generators::{AnyGenerator, Mahalanobis, PNorm, SimplexEntropy};
use geowalk::geometry::manifolds::{self, AnyManifold, Hyperboloid, Simplex, Spd, Sphere};
use geowalk::geometry::{
    Checked, Curved, ExpLog, Generator, Hessian, Link, Manifold, PullBack, Work, generators, link,
};
use geowalk::laws::{self, Sampler};
use geowalk::loss::permissible::{self, AnyPermissible, CustomPermissible, Permissible};
use geowalk::loss::{AnyLoss, Custom, Loss, Squared, doctor};
use geowalk::row::{Block, Dense, Norm, Row, Sparse};
use geowalk::spec::Spec;
use geowalk::update::{Explicit, Mirror, Round, Target, Update};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20_240_229),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Pieces of specifications.
const TOKENS: [&str; 22] = [
    "sphere",
    "product",
    "spd",
    "mahalanobis",
    "huber",
    "p-norm",
    "(",
    "(",
    ")",
    ")",
    ",",
    "=",
    "n=",
    "sigma=",
    "q=",
    "1",
    "1e18",
    "-1",
    "NaN",
    "inf",
    " ",
    "é;",
];

/// Every kind of number: ordinary, huge, tiny, subnormal, zero, infinite, NaN.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -3.0..3.0_f64,
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, 0.5, 1.0 / 3.0]),
        1 => prop::sample::select(vec![1e300, -1e300, f64::MAX, f64::MIN, 1e155, 1e39, -1e160]),
        1 => prop::sample::select(vec![1e-300, -1e-300, 1e-155, f64::MIN_POSITIVE, 5e-324, -5e-324, 1e-40]),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
    ]
}

/// A slice of any length: empty, too short, right, too long.
fn slice() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(number(), 0..=12),
        prop::collection::vec(0.0..1.0_f64, 0..=12)
    ]
}

fn cast<F: Real>(x: &[f64]) -> Vec<F> {
    x.iter().map(|&x| F::of(x)).collect()
}

/// Every operation of a manifold, on arbitrary slices.
fn walk_anywhere<F: Real, M: ExpLog<F>>(m: &M, slices: &[Vec<f64>; 4], t: f64) {
    let [p, q, u, v] = slices.each_ref().map(|x| cast::<F>(x));
    let (t, work) = (F::of(t), &mut Work::new());
    let _ = (m.ambient(), m.dim(), m.curvature().sign(), m.injectivity(&p));
    let _ = (
        m.check(&p).map_err(|e| e.to_string()),
        m.check_tangent(&p, &v).map_err(|e| e.to_string()),
    );
    let _ = (m.inner(&p, &u, &v, work), m.norm(&p, &v, work), m.distance(&p, &q, work));
    let mut out = q.clone();
    m.origin(&mut out);
    m.project(&p, &mut out);
    m.gradient(&p, &u, &mut out, work);
    let _ = m.log(&p, &q, &mut out, work);
    let _ = m.transport(&p, &q, &mut out, work);
    for retract in [false, true] {
        let mut end = p.clone();
        let step =
            if retract { m.retract(&mut end, &v, t, work) } else { m.exp(&mut end, &v, t, work) };
        // The documentation says "On an error `p` is unchanged"; here, bit for bit.
        if step.is_err() {
            assert!(end.iter().zip(&p).all(|(a, b)| a.f64().to_bits() == b.f64().to_bits()));
        }
    }
    let _ = m.mean(&p, Some(&u), &mut out, work);
    let _ = m.mean(&[p.clone(), q.clone()].concat(), None, &mut out, work);
}

/// The checked operations on arbitrary input: an error, or finite numbers.
fn checked_anywhere<F: Real, M: ExpLog<F>>(m: M, slices: &[Vec<f64>; 4], t: f64) {
    let [p, q, u, v] = slices.each_ref().map(|x| cast::<F>(x));
    let m = Checked::new(m);
    let vectors = [
        m.gradient(&p, &u),
        m.step(&p, &u, F::of(t)).map(|(q, _)| q),
        m.exp(&p, &v),
        m.log(&p, &q),
        m.transport(&p, &q, &v),
        m.mean(&p, Some(&u)).map(|(mean, _)| mean),
        m.mean(&[p.clone(), q.clone()].concat(), None).map(|(mean, _)| mean),
        m.inner(&p, &u, &v).map(|x| vec![x]),
        m.distance(&p, &q).map(|x| vec![x]),
    ];
    for (k, result) in vectors.iter().enumerate() {
        assert!(
            result.as_ref().map_or(true, |x| x.iter().all(|x| x.is_finite())),
            "verb {k}: {result:?}"
        );
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn manifolds_take_any_slices(slices in prop::array::uniform4(slice()), t in number()) {
        for m in every_manifold() {
            walk_anywhere::<f64, _>(&m, &slices, t);
            walk_anywhere::<f32, _>(&m, &slices, t);
            checked_anywhere::<f64, _>(&m, &slices, t);
            checked_anywhere::<f32, _>(&m, &slices, t);
        }
    }

    /// Slices of valid lengths, so that the inner branches are reached.
    #[test]
    fn manifolds_take_any_numbers(raw in prop::collection::vec(number(), 36), t in number()) {
        for m in every_manifold() {
            let n = Manifold::<f64>::ambient(&m);
            let slices = std::array::from_fn(|k| raw[k * n..(k + 1) * n].to_vec());
            walk_anywhere::<f64, _>(&m, &slices, t);
            walk_anywhere::<f32, _>(&m, &slices, t);
            checked_anywhere::<f64, _>(&m, &slices, t);
            checked_anywhere::<f32, _>(&m, &slices, t);
        }
    }

    /// From a point of the manifold, along any covector, at any rate: the result is an error or a point of the
    /// manifold.
    #[test]
    fn a_step_ends_on_the_manifold(raw in prop::collection::vec(number(), 9), rate in number(), seed in 0..1000_u64) {
        for m in every_manifold() {
            ends_inside::<f64>(&m, &raw, rate, seed)?;
            ends_inside::<f32>(&m, &raw, rate, seed)?;
        }
    }

    #[test]
    fn links_and_hessian_manifolds_take_any_slices(slices in prop::array::uniform4(slice()), t in number(), beta in number()) {
        walk_anywhere::<f64, _>(&PullBack::new(link::Identity, 3).unwrap(), &slices, t);
        walk_anywhere::<f64, _>(&PullBack::new(link::Log, 3).unwrap(), &slices, t);
        walk_anywhere::<f32, _>(&PullBack::new(link::Root, 3).unwrap(), &slices, t);
        walk_anywhere::<f64, _>(&PullBack::new(link::Logit, 3).unwrap(), &slices, t);
        if let Ok(asinh) = link::Asinh::new(beta) {
            walk_anywhere::<f64, _>(&PullBack::new(asinh, 3).unwrap(), &slices, t);
            let far = asinh.difference(slices[0].first().copied().unwrap_or(1.0), t);
            prop_assert!(!far.is_nan() || !t.is_finite() || slices[0].first().is_some_and(|x| !x.is_finite()));
        }
        walk_anywhere::<f64, _>(&Hessian::new(generators::KullbackLeibler, 3).unwrap(), &slices, t);
        walk_anywhere::<f32, _>(&Hessian::new(generators::ItakuraSaito, 3).unwrap(), &slices, t);
        walk_anywhere::<f64, _>(&Hessian::new(generators::SquaredEuclidean, 3).unwrap(), &slices, t);
    }

    #[test]
    fn generators_take_any_slices(slices in prop::array::uniform3(slice()), t in number()) {
        let [w, u, theta] = &slices;
        for g in every_generator(3) {
            let work = &mut Work::new();
            let mut out = theta.clone();
            let _ = (g.check(w), g.check_dual(theta), g.check_tangent(w, u));
            let _ = (g.value(w), g.conjugate(theta), g.divergence(u, w));
            let (modulus, within) = (Generator::<f64>::modulus(&g), Generator::<f64>::modulus_within(&g, t));
            prop_assert!([modulus, within].into_iter().flatten().all(|m| m.sigma >= 0.0));
            g.link(w, &mut out);
            g.unlink(theta, &mut out);
            g.legendre_dual(u, w, &mut out, work);
            g.hessian(w, u, &mut out);
            g.hessian_inverse(w, u, &mut out);
            Curved::project(&g, w, &mut out);
            Curved::origin(&g, &mut out);
            let hessian = Hessian::new(g, 3).unwrap();
            let mut p = w.clone();
            let _ = hessian.check(w);
            let _ = hessian.retract(&mut p, u, t, work);
            let _ = (hessian.inner(w, u, theta, work), hessian.norm(w, u, work));
            hessian.gradient(w, u, &mut out, work);
        }
    }

    #[test]
    fn losses_take_any_numbers(z in number(), y in number(), x in number()) {
        for loss in every_loss() {
            let _ = (loss.value(z, y), loss.slope(z, y), loss.curvature(z, y), loss.minimizer(y));
            if let AnyLoss::Balanced(balanced) = &loss {
                let phi = balanced.phi();
                let _ = (balanced.fenchel_young(y, z), balanced.divergence(y, z), phi.cost(z, y));
                let _ = (phi.tail(z), phi.margin(z, y), phi.legendre_dual(z, x), phi.curvature(y));
                // Probabilities are in [0, 1].
                let p = phi.transfer(z);
                prop_assert!(z.is_nan() && p.is_nan() || (0.0..=1.0).contains(&p), "{} {z} {p}", loss.spec());
            }
        }
        let _ = permissible::Mu::new(x).map(|mu| (mu.transfer(z), mu.conjugate(z), mu.impurity(y)));
        if let Ok(zeta) = permissible::Zeta::new(x) {
            let _ = (zeta.transfer(z), zeta.conjugate(z), zeta.impurity(y), zeta.b());
        }
        if let Ok(nu) = permissible::Nu::new(x) {
            let _ = (nu.transfer(z), nu.conjugate(z), nu.impurity(y), nu.conjugate_curvature(z));
        }
    }

    #[test]
    fn parsers_take_any_text(text in ".{0,40}", tokens in prop::collection::vec(0..22_usize, 0..24), n in size()) {
        parse_everything(&text, n);
        // Texts that are almost valid reach further into the parser.
        parse_everything(&tokens.iter().map(|&k| TOKENS[k]).collect::<String>(), n);
    }

    #[test]
    fn parsers_take_mutated_specifications(which in 0..64_usize, place in 0..64_usize, c in any::<char>(), kind in 0..3, n in size()) {
        let known = ["huber(delta=0.5)", "sphere(n=3, radius=2)", "product(sphere(n=3), simplex(n=2))", "mahalanobis(sigma=2 1; 1 3)",
            "p-norm(q=1.5)", "geodesic(space=null)", "zeta(zeta=-4)", "nu(nu=0.25)", "winnow-hinge(theta=0)"];
        let mut text: Vec<char> = known[which % known.len()].chars().collect();
        let place = place % text.len();
        match kind {
            0 => text[place] = c,
            1 => text.insert(place, c),
            _ => drop(text.remove(place)),
        }
        parse_everything(&text.into_iter().collect::<String>(), n);
    }

    #[test]
    fn rows_take_anything(x in slice(), w in slice(), indices in prop::collection::vec(index(), 0..8), p in number(), a in number()) {
        for norm in [Norm::L1, Norm::L2, Norm::LInf, Norm::Lp(p), Norm::Lp(p).dual()] {
            let _ = (norm.of(&x), norm.of(&cast::<f32>(&x)));
        }
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        for indices in [&indices, &sorted] {
            let Ok(row) = Sparse::new(indices, &x) else { continue };
            let mut y = w.clone();
            row.axpy(a, &mut y);
            let _ = (row.dot(&w), row.bound(), row.norm(Norm::Lp(p)));
        }
    }

    /// After any sequence of calls, a block contains what was put in.
    #[test]
    fn blocks_take_any_calls(calls in prop::collection::vec((0..6, index(), number()), 0..40)) {
        let mut block = Block::new();
        for (call, index, value) in calls {
            match call {
                0 | 1 => block.feature(index, value),
                2 => block.end(value, 1.0),
                3 => block.abandon(),
                4 => drop(block.push_dense(&vec![value; index as usize % 4], value, 1.0)),
                _ if index == 0 => block.clear(),
                _ => {}
            }
        }
        block.end(0.0, 1.0);
        prop_assert_eq!(block.labels().len(), block.len());
        prop_assert_eq!(block.weights().len(), block.len());
        let mut stored = 0;
        for i in 0..block.len() + 2 {
            let row = block.sparse(i);
            let mut seen = Vec::new();
            row.each(|i, _| seen.push(i));
            if block.columns().is_none() {
                stored += seen.len();
                seen.sort_unstable();
                prop_assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "an index occurs twice");
            } else {
                stored += block.dense(i).0.len();
            }
            prop_assert!(row.bound() <= block.bound().max(row.bound()));
        }
        prop_assert_eq!(stored, block.stored());
    }

    #[test]
    fn updates_take_any_rows(x in slice(), indices in prop::collection::vec(index(), 0..8), y in number(), weight in number(), rate in number(), seed in 0..1000_u64) {
        let target = Target { y, weight };
        let mut indices = indices;
        indices.sort_unstable();
        let sparse = Sparse::new(&indices, &x).ok();
        for m in every_manifold() {
            let w: Vec<f64> = Sampler::new(seed).point(&m);
            let update = Explicit::new(m);
            let Ok(mut state) = update.start(&w) else { continue };
            steps(&update, &mut state, &w, &x, sparse, target, rate);
            prop_assert!(update.start(&x).is_err() || x.iter().all(|x| x.is_finite()));
        }
        for g in every_generator(3) {
            let w: Vec<f64> = Sampler::new(seed).domain_point(&g, 3);
            let update = Mirror::new(g);
            let Ok(mut state) = update.start(&w) else { continue };
            steps(&update, &mut state, &w, &x, sparse, target, rate);
            prop_assert!(update.start(&x).is_err() || x.iter().all(|x| x.is_finite()));
        }
    }
}

fn ends_inside<F: Real>(
    m: &AnyManifold,
    raw: &[f64],
    rate: f64,
    seed: u64,
) -> Result<(), TestCaseError> {
    let sampler = &mut Sampler::new(seed);
    let (p, q): (Vec<F>, Vec<F>) = (sampler.point(m), sampler.point(m));
    if m.check(&p).and(m.check(&q)).is_err() {
        return Ok(()); // a radius that overflows or underflows in f32
    }
    let checked = Checked::new(m);
    let raw: Vec<F> = cast(&raw[..p.len()]);
    if let Ok((end, step)) = checked.step(&p, &raw, F::of(rate)) {
        prop_assert!(step.length.is_finite(), "{}: {step:?}", m.spec());
        prop_assert!(checked.check(&end).is_ok(), "{}: {p:?} -> {end:?}, {step:?}", m.spec());
        // And back: the logarithm is a tangent vector or an error.
        if let Ok(way) = checked.log(&p, &end) {
            prop_assert!(m.check_tangent(&p, &way).is_ok(), "{}: log {way:?}", m.spec());
        }
        if let Ok(moved) = checked.gradient(&p, &raw).and_then(|v| checked.transport(&p, &q, &v)) {
            prop_assert!(m.check_tangent(&q, &moved).is_ok(), "{}: transport {moved:?}", m.spec());
        }
    }
    Ok(())
}

/// Makes steps and computes a bound from them. On an error the state is unchanged; on success the weights are finite.
fn steps<U: Update<f64>>(
    update: &U,
    state: &mut U::State,
    w: &[f64],
    x: &[f64],
    sparse: Option<Sparse<'_, f64>>,
    target: Target,
    rate: f64,
) {
    let mut bound = FirstOrder::new(&Squared.facts());
    let (mut before, mut after) = (w.to_vec(), w.to_vec());
    let mut check = |result: Result<Round, _>, state: &U::State| {
        update.read(state, &mut after);
        if result.is_err() {
            assert_eq!(before, after, "a refused step moved the weights");
        }
        assert!(after.iter().all(|w| w.is_finite()), "{before:?} -> {after:?}");
        before.copy_from_slice(&after);
        result.ok()
    };
    let result = update.step(state, Dense(x), target, &Squared, rate);
    if let Some(round) = check(result, state) {
        bound.observe(&round, Dense(x));
    }
    if let Some(row) = sparse {
        let result = update.step(state, row, target, &Squared, rate);
        if let Some(round) = check(result, state) {
            bound.observe(&round, row);
        }
    }
    for u in [
        Comparator::Given(x),
        Comparator::Ball { norm: Norm::Lp(1.0), radius: rate },
        Comparator::Sphere { radius: rate },
        Comparator::Simplex { n: usize::MAX },
        Comparator::Positive { total: rate },
    ] {
        let _ = bound.certify(&u).to_string();
    }
}

fn index() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0..8_u32, 1 => prop::sample::select(vec![u32::MAX, u32::MAX - 1, 32_768, 1 << 31])]
}

fn size() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![
        0,
        1,
        2,
        3,
        10_000,
        10_001,
        1 << 32,
        1_000_000_000_000_000_000,
        usize::MAX,
    ])
}

/// Everything that a text builds can be printed and parsed again.
fn parse_everything(text: &str, n: usize) {
    let _ = Spec::parse(text).map_err(|e| e.to_string());
    if let Ok(m) = AnyManifold::parse(text, n).map_err(|e| e.to_string()) {
        let spec = m.spec();
        assert_eq!(AnyManifold::parse(&spec, m.size()).map(|m| m.spec()), Ok(spec));
        let _ = (Manifold::<f64>::ambient(&m), Manifold::<f64>::dim(&m));
        refuses_everything(m);
    }
    if let Ok(g) = AnyGenerator::parse(text, n).map_err(|e| e.to_string()) {
        let spec = g.spec();
        assert_eq!(AnyGenerator::parse(&spec, n).map(|g| g.spec()), Ok(spec));
    }
    if let Ok(loss) = AnyLoss::parse(text).map_err(|e| e.to_string()) {
        let spec = loss.spec();
        assert_eq!(AnyLoss::parse(&spec).map(|l| l.spec()).map_err(|e| e.to_string()), Ok(spec));
    }
    let _ = AnyPermissible::parse(text).map_err(|e| e.to_string());
}

/// A manifold of any size answers slices of wrong length with an error or a NaN, immediately and without memory.
fn refuses_everything(m: AnyManifold) {
    let m = Checked::new(m);
    let p = [0.5; 11];
    assert!(m.check(&p).is_err() || Manifold::<f64>::ambient(m.manifold()) == 11);
    if m.check(&p).is_err() {
        assert!(m.gradient(&p, &p).is_err() && m.exp(&p, &p).is_err() && m.log(&p, &p).is_err());
        assert!(m.distance(&p, &p).is_err() && m.transport(&p, &p, &p).is_err());
        assert!(m.mean(&p, None).is_err() && m.mean::<f64>(&[], None).is_err());
        assert!(Explicit::new(m.manifold().clone()).start(&p).is_err());
        let slices = [p.to_vec(), p.to_vec(), p.to_vec(), vec![]];
        walk_anywhere::<f64, _>(m.manifold(), &slices, 1.0);
    }
}

#[test]
fn deep_and_long_texts_are_refused_at_once() {
    for open in ["(", "a(", "product(", "product(n=(", "sphere(radius="] {
        let text = open.repeat(20_000);
        parse_everything(&text, 3);
        parse_everything(&format!("{text}{}", ")".repeat(20_000)), 3);
    }
    parse_everything(&"é".repeat(100_000), 3);
    parse_everything(&format!("huber({})", "delta=1,".repeat(10_000)), 3);
    parse_everything(&format!("product({}euclidean(n=1))", "euclidean(n=1),".repeat(1000)), 3);
}

#[test]
fn huge_sizes_cost_nothing() {
    for n in [10_000, 1 << 32, 1 << 53, usize::MAX] {
        for entry in manifolds::entries().filter(|entry| entry.name != "product") {
            if let Ok(m) = AnyManifold::parse(entry.name, n) {
                refuses_everything(m.clone());
                let factor =
                    format!("product({}(n={}), {}(n={n}))", entry.name, m.size(), entry.name);
                AnyManifold::parse(&factor, 0).into_iter().for_each(refuses_everything);
            }
        }
        assert!(Simplex::new(n).is_ok() && Hyperboloid::new(n).is_ok());
        assert!(Mahalanobis::new(vec![1.0], n).is_err() && Spd::new(n).is_err() == (n > 10_000));
        for text in ["mahalanobis(sigma=1)", "mahalanobis(sigma=1 2; 2 1)"] {
            assert!(AnyGenerator::parse(text, n).is_err());
        }
        assert!((1.0..=2.0).contains(&PNorm::auto(n).q()));
    }
    // One feature with a huge index must not allocate a vector of that length.
    let mut bound = FirstOrder::new(&Squared.facts());
    let round = Explicit::new(AnyManifold::parse("euclidean", 1).unwrap());
    let mut state = round.start(&[1.0]).unwrap();
    let row = Sparse::new(&[0, u32::MAX], &[1.0, 2.0]).unwrap();
    let round = round.step(&mut state, row, 0.0.into(), &Squared, 0.25).unwrap();
    bound.observe(&round, row);
    // A = 2, Γ = (2, 4 at 2³² − 1): the comparator e₀ gives 2 − 2, the ball 2 + √20.
    assert!((bound.certify(&Comparator::Given(&[1.0])).bound).abs() < 1e-14);
    let ball = bound.certify(&Comparator::Ball { norm: Norm::L2, radius: 1.0 }).bound;
    assert!((ball - 2.0 - 20_f64.sqrt()).abs() < 1e-13, "{ball}");
}

#[test]
fn a_loss_of_ones_own_may_do_anything() {
    type Function = fn(f64) -> f64;
    let functions: [Function; 7] =
        [|x| x * x, |_| f64::NAN, |x| 1.0 / x, |_| f64::INFINITY, f64::abs, |x| -x, |x| x.floor()];
    let numbers = [f64::MIN, -1e300, -2.0, 0.0, 1e-310, 1.0, 1e308, f64::MAX, f64::NAN];
    let sets = [
        Allowed::Sign,
        Allowed::Finite,
        Allowed::Whole(usize::MAX),
        Allowed::Closed(f64::NAN, f64::NAN),
        Allowed::Open(2.0, 1.0),
        Allowed::Closed(-1e308, f64::MAX),
    ];
    let mut built = 0;
    for lo in numbers {
        for hi in numbers {
            for labels in sets {
                let Ok(range) = doctor::Range::new(lo, hi, labels) else { continue };
                built += 1;
                // The first pair is a convex loss and its slope; the rest are nonsense.
                for k in 0..functions.len() {
                    let (value, slope) = (functions[k], functions[(k + 1) % functions.len()]);
                    let slope: Function = if k == 0 { |x| 2.0 * x } else { slope };
                    // A margin loss has labels ±1 in any case.
                    let margin = || Custom::margin(Arc::new(value), Arc::new(slope), None, range);
                    if labels == Allowed::Sign
                        && let Ok(loss) = margin()
                    {
                        assert!(
                            k == 0 || hi - lo < 1e-6,
                            "function {k} on [{lo}, {hi}] is not convex with that slope"
                        );
                        let _ = (loss.minimizer(1.0), loss.curvature(lo, 1.0), loss.facts());
                        let _ = doctor::examine(&loss, &doctor::Range::of(&loss)).to_string();
                    }
                    if labels == Allowed::Sign {
                        continue;
                    }
                    let (value, slope) =
                        (move |z: f64, y: f64| value(z - y), move |z: f64, y: f64| slope(z - y));
                    let _ = Custom::general(Arc::new(value), Arc::new(slope), None, range);
                }
            }
        }
    }
    assert!(built > 20);
    for phi in functions {
        for gradient in functions {
            let _ = CustomPermissible::new("odd", phi, gradient)
                .and_then(|phi| phi.with_curvature(gradient));
        }
    }
}

#[test]
fn laws_end_on_anything() {
    let sampler = &mut Sampler::new(1);
    // A manifold of one point has no direction.
    let point = Hessian::new(SimplexEntropy, 1).unwrap();
    assert!(laws::manifold::metric::<f64, _>(&point, &[1.0], sampler).is_err());
    let sphere = Sphere::new(3, 1.0).unwrap();
    assert!(laws::manifold::metric(&sphere, &[f64::NAN; 3], sampler).is_err());
    assert!(laws::manifold::metric::<f64, _>(&sphere, &[], sampler).is_err());
    for g in every_generator(3) {
        let _ = laws::generator::all::<f64, _>(&g, 0, sampler);
        let _ = laws::generator::all::<f64, _>(&g, 1, sampler);
        let _ = laws::update::all::<f64, _>(&Mirror::new(g), &[], sampler);
    }
}

use super::*;
use crate::geometry::manifolds::{AnyManifold, Euclidean, Hyperboloid};
use crate::geometry::{Manifold, Work};
use crate::laws::Sampler;

/// Σ a_i p_i², a bounded and smooth cost on any manifold.
fn quadratic(n: usize) -> impl FnMut(&[f64], Option<&mut [f64]>) -> f64 {
    move |p, gradient| {
        let a = |i: usize| 1.0 + (i * 7 % 5) as f64;
        if let Some(gradient) = gradient {
            (0..n).for_each(|i| gradient[i] = 2.0 * a(i) * (p[i] - 0.3));
        }
        (0..n).map(|i| a(i) * (p[i] - 0.3) * (p[i] - 0.3)).sum()
    }
}

fn manifolds() -> Vec<AnyManifold> {
    let texts = [
        "euclidean(n=4)",
        "sphere(n=4, radius=2)",
        "simplex(n=4)",
        "orthant(n=3)",
        "hyperbolic(n=4, curvature=-0.5)",
        "poincare-ball(n=3)",
        "spd(n=3)",
        "spd-log-euclidean(n=2)",
        "spd-bures-wasserstein(n=2)",
        "stiefel(n=5, columns=2)",
        "rotations(n=3)",
        "oblique(rows=3, columns=2)",
        "torus(n=2)",
        "product(sphere(n=3), euclidean(n=2))",
    ];
    texts.into_iter().map(|text| AnyManifold::parse(text, 3).unwrap()).collect()
}

fn random(m: &AnyManifold, seed: u64) -> Vec<f64> {
    let mut sampler = Sampler::new(seed);
    let mut p = vec![0.0; Manifold::<f64>::ambient(m)];
    m.random(&mut || sampler.normal(), &mut p, &mut Work::new());
    p
}

#[test]
fn every_rule_lowers_the_cost_everywhere_without_nan() {
    for m in manifolds() {
        let n = Manifold::<f64>::ambient(&m);
        for name in Rule::NAMES {
            for seed in 0..5 {
                let start = random(&m, seed);
                let mut cost = quadratic(n);
                let before = cost(&start, None);
                let rule = Rule::parse(name).unwrap();
                let rate =
                    if rule == Rule::Implicit { StepRate::Constant(0.2) } else { StepRate::Auto };
                let run = Minimizer::new(rule).rate(rate).steps(60);
                let found = run.run(&m, &mut cost, &start).unwrap();
                let at = format!("{} {name} {seed}: {found:?}", m.spec());
                m.check(&found.point).unwrap();
                assert!(found.value.is_finite() && found.value <= before + 1e-9, "{at}");
                assert!(!matches!(found.reason, Reason::NotFinite | Reason::Left), "{at}");
            }
        }
    }
}

#[test]
fn conjugate_gradients_reach_a_critical_point_in_fewer_steps() {
    let mut total = [0, 0];
    for m in manifolds().into_iter().filter(|m| m.name() != "simplex") {
        let n = Manifold::<f64>::ambient(&m);
        for (which, rule) in [Rule::ConjugateGradient, Rule::Explicit].into_iter().enumerate() {
            let run = Minimizer::new(rule).steps(2000);
            let found = run.run(&m, &mut quadratic(n), &random(&m, 7)).unwrap();
            let ended = matches!(found.reason, Reason::Gradient | Reason::Stalled);
            // The boundary of the positive definite matrices is nearer than the minimum.
            let open = m.name().starts_with("spd") || m.name() == "orthant";
            assert!(open || (ended && found.gradient < 1e-5), "{} {rule:?} {found:?}", m.spec());
            total[which] += found.steps;
        }
    }
    assert!(total[0] < total[1], "{total:?}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_batches_cover_all_examples() {
    struct Mean(Vec<[f64; 2]>, Vec<usize>);
    impl Cost for Mean {
        fn evaluate(
            &mut self,
            p: &[f64],
            batch: Option<&[usize]>,
            gradient: Option<&mut [f64]>,
        ) -> Result<f64, Interrupted> {
            let all: Vec<usize> = (0..self.0.len()).collect();
            let rows = batch.unwrap_or(&all);
            self.1.extend(batch.unwrap_or(&[]));
            let off = |i: usize| [p[0] - self.0[i][0], p[1] - self.0[i][1]];
            if let Some(gradient) = gradient {
                for (k, gradient) in gradient.iter_mut().enumerate() {
                    *gradient = rows.iter().map(|&i| off(i)[k]).sum::<f64>() / rows.len() as f64;
                }
            }
            let square = |i: usize| off(i).iter().map(|x| 0.5 * x * x).sum::<f64>();
            Ok(rows.iter().map(|&i| square(i)).sum::<f64>() / rows.len() as f64)
        }
    }
    let mut sampler = Sampler::new(1);
    let data: Vec<[f64; 2]> = (0..30).map(|_| [sampler.normal(), sampler.normal()]).collect();
    let plane = Euclidean::new(2).unwrap();
    let run = |seed: u64| {
        let mut cost = Mean(data.clone(), Vec::new());
        let run = Minimizer::new(Rule::Explicit).steps(600).batches(30, 5, seed);
        let found = run.run(&plane, &mut cost, &[5.0, -5.0]).unwrap();
        let mut first: Vec<usize> = cost.1[..30].to_vec();
        first.sort_unstable();
        assert_eq!(first, (0..30).collect::<Vec<_>>());
        found
    };
    let (a, b, c) = (run(3), run(3), run(4));
    assert_eq!(a, b);
    assert!(a.point != c.point && a.gradient < 0.2, "{a:?}");
}

#[test]
fn certificates_hold_and_are_void_without_convexity() {
    let m = Hyperboloid::new(3).unwrap();
    let mut work = Work::new();
    let target = {
        let mut q = vec![0.0; 3];
        Manifold::<f64>::origin(&m, &mut q);
        m.exp(&mut q, &[0.0, 0.8, -0.5], 1.0, &mut work).unwrap();
        q
    };
    // −⟨p, target⟩_L = cosh d: convex along geodesics.
    let mut cost = |p: &[f64], gradient: Option<&mut [f64]>| {
        if let Some(gradient) = gradient {
            gradient.copy_from_slice(&[target[0], -target[1], -target[2]]);
        }
        p[0] * target[0] - p[1] * target[1] - p[2] * target[2]
    };
    let start = [1.0, 0.0, 0.0];
    for rule in [Rule::Explicit, Rule::Implicit] {
        let run = Minimizer::new(rule).rate(StepRate::Constant(0.1)).steps(40).tolerance(0.0);
        let found = run.against(&target).run(&m, &mut cost, &start).unwrap();
        let regret: f64 = found.history.iter().map(|step| step.value - 1.0).sum();
        let certificates = found.certificates.unwrap();
        assert!(certificates[0].status == crate::certify::Status::Valid, "{:?}", certificates[0]);
        assert!(regret <= certificates[0].bound, "{regret} {:?}", certificates[0]);
    }
    // −cosh d is not.
    let mut worse = |p: &[f64], gradient: Option<&mut [f64]>| {
        if let Some(gradient) = gradient {
            gradient.copy_from_slice(&[-target[0], target[1], target[2]]);
        }
        -(p[0] * target[0] - p[1] * target[1] - p[2] * target[2])
    };
    let run = Minimizer::new(Rule::Explicit).rate(StepRate::Constant(0.01)).steps(5);
    let found = run.against(&target).run(&m, &mut worse, &start).unwrap();
    assert!(found.certificates.unwrap()[0].status != crate::certify::Status::Valid);
    let run = Minimizer::new(Rule::Adam).steps(3).against(&target);
    assert!(run.run(&m, &mut cost, &start).unwrap().certificates.is_err());
}

#[test]
fn what_is_not_finite_ends_the_run_at_the_last_good_point() {
    let line = Euclidean::new(1).unwrap();
    // A wall at 0: ln is not finite beyond.
    let mut cost = |p: &[f64], gradient: Option<&mut [f64]>| {
        if let Some(gradient) = gradient {
            gradient[0] = if p[0] > 0.0 { 1.0 - 0.1 / p[0] } else { f64::NAN };
        }
        if p[0] > 0.0 { p[0] - 0.1 * crate::Real::ln(p[0]) } else { f64::NAN }
    };
    for rule in [Rule::ConjugateGradient, Rule::Explicit] {
        let found = Minimizer::new(rule).run(&line, &mut cost, &[3.0]).unwrap();
        assert!((found.point[0] - 0.1).abs() < 1e-5, "{found:?}");
    }
    let run = Minimizer::new(Rule::Explicit).rate(StepRate::Constant(10.0));
    let found = run.run(&line, &mut cost, &[3.0]).unwrap();
    assert!(found.reason == Reason::NotFinite && found.point[0].is_finite(), "{found:?}");
    let found = Minimizer::new(Rule::Explicit).run(&line, &mut cost, &[-1.0]).unwrap();
    assert_eq!((found.reason, found.steps), (Reason::NotFinite, 0));
    let bad = Minimizer::new(Rule::ConjugateGradient).batches(10, 2, 0);
    assert!(bad.run(&line, &mut cost, &[1.0]).is_err());
    assert!(Rule::parse("sgd").unwrap_err().to_string().contains("explicit"));
}

//! Walks of matrices and of subspaces: against the walks of vectors, in other bases, and below their bounds.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

use geowalk::certify::{Broken, Status};
use geowalk::geometry::manifolds::Grassmann;
use geowalk::geometry::{ExpLog, Manifold, Work};
use geowalk::laws::Sampler;
use geowalk::loss::{Absolute, Invariant, Squared};
use geowalk::matrix::{MatrixEntropy, MatrixTwin, NullSpace, SpdWalk};
use geowalk::row::{Dense, Norm, Sparse};
use geowalk::update::{Round, Target};
use geowalk::walk::{
    Entropy, Orthant, ReparamEntropy, ReparamSimplex, SimplexEntropy, Sphere, Walk,
};

type Step<'a> = &'a mut dyn FnMut(&[f64], f64) -> Round;

/// On rows c·e_i the diagonal walks as the vector does on rows c²·e_i.
fn as_vector<W: Walk>(n: usize, rate: f64, mut walk: W, step: Step<'_>) {
    let mut sampler = Sampler::new(3);
    walk.grow(n);
    for t in 0..300 {
        let (i, c, y) = (sampler.below(n), 0.2 + sampler.unit(), 0.3 * sampler.unit());
        let mut x = vec![0.0; n];
        x[i] = c;
        let matrix = step(&x, y);
        let index = [u32::try_from(i).unwrap()];
        let value = [c * c];
        let row = Sparse::new(&index, &value).unwrap();
        let vector = walk.step(row, y.into(), &Squared, rate).unwrap();
        let off = (matrix.z - vector.z).abs();
        assert!(off <= 1e-11 * (1.0 + vector.z.abs()), "row {t}: {} {}", matrix.z, vector.z);
    }
}

#[test]
fn diagonal_rows_are_the_vector_case() {
    let (n, rate) = (5, 0.4);
    let target = |y: f64| Target::from(y);
    let mut spd = SpdWalk::new(n, 0.3).unwrap();
    as_vector(n, rate, Orthant::new(0.3).unwrap(), &mut |x, y| {
        spd.step(x, target(y), &Squared, rate).unwrap()
    });
    let mut egu = MatrixEntropy::unnormalised(n, 0.3).unwrap();
    as_vector(n, rate, Entropy::new(0.3).unwrap(), &mut |x, y| {
        egu.step(x, target(y), &Squared, rate).unwrap()
    });
    let mut eg = MatrixEntropy::density(n).unwrap();
    as_vector(n, rate, SimplexEntropy::new(), &mut |x, y| {
        eg.step(x, target(y), &Squared, rate).unwrap()
    });
    let mut twin = MatrixTwin::unnormalised(n, 0.3).unwrap();
    as_vector(n, rate, ReparamEntropy::new(0.3).unwrap(), &mut |x, y| {
        twin.step(x, target(y), &Squared, rate).unwrap()
    });
    let mut twin = MatrixTwin::density(n).unwrap();
    as_vector(n, rate, ReparamSimplex::new(), &mut |x, y| {
        twin.step(x, target(y), &Squared, rate).unwrap()
    });
}

/// Rows in another orthonormal basis are the same walk in that basis.
#[test]
fn the_basis_does_not_matter() {
    let n = 4;
    let mut sampler = Sampler::new(5);
    // A reflection, I − 2vvᵀ/|v|².
    let v = sampler.vector::<f64>(n);
    let square: f64 = v.iter().map(|v| v * v).sum();
    let turned = |x: &[f64]| -> Vec<f64> {
        let dot: f64 = v.iter().zip(x).map(|(v, x)| v * x).sum();
        x.iter().zip(&v).map(|(x, v)| x - 2.0 * dot / square * v).collect()
    };
    let mut pairs = [
        [MatrixEntropy::density(n).unwrap(), MatrixEntropy::density(n).unwrap()],
        [
            MatrixEntropy::unnormalised(n, 0.2).unwrap(),
            MatrixEntropy::unnormalised(n, 0.2).unwrap(),
        ],
    ];
    let mut twins = [MatrixTwin::density(n).unwrap(), MatrixTwin::density(n).unwrap()];
    let mut spds = [SpdWalk::new(n, 0.5).unwrap(), SpdWalk::new(n, 0.5).unwrap()];
    for _ in 0..200 {
        let x: Vec<f64> = (0..n).map(|_| 0.5 * sampler.normal()).collect();
        let (y, other) = (sampler.unit(), turned(&x));
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{a} {b}");
        for [one, two] in &mut pairs {
            let a = one.step(&x, y.into(), &Squared, 0.1).unwrap();
            same(a.z, two.step(&other, y.into(), &Squared, 0.1).unwrap().z);
        }
        let [one, two] = &mut twins;
        let a = one.step(&x, y.into(), &Squared, 0.1).unwrap();
        same(a.z, two.step(&other, y.into(), &Squared, 0.1).unwrap().z);
        let [one, two] = &mut spds;
        let a = one.step(&x, y.into(), &Squared, 0.05).unwrap();
        same(a.z, two.step(&other, y.into(), &Squared, 0.05).unwrap().z);
    }
}

/// Of 500 random comparators of trace 1, most of them of low rank, none has lost less by more than the bound.
#[test]
fn the_bound_of_density_matrices_holds() {
    let (n, rate) = (4, 0.05);
    for seed in 0..20 {
        let mut sampler = Sampler::new(seed);
        let mut eg = MatrixEntropy::density(n).unwrap();
        let best = sampler.vector::<f64>(n);
        let size: f64 = best.iter().map(|x| x * x).sum();
        let rows: Vec<(Vec<f64>, f64)> = (0..200)
            .map(|_| {
                let x = sampler.vector::<f64>(n);
                let dot: f64 = best.iter().zip(&x).map(|(a, b)| a * b).sum();
                (x, dot * dot / size)
            })
            .collect();
        for (x, y) in &rows {
            eg.step(x, (*y).into(), &Absolute, rate).unwrap();
        }
        let certificate = eg.certificate().unwrap();
        assert_eq!(certificate.status, Status::Valid);
        let mut least = f64::INFINITY;
        for k in 0..500 {
            let u = if k == 0 { best.clone() } else { sampler.vector::<f64>(n) };
            let size: f64 = u.iter().map(|x| x * x).sum();
            let loss: f64 = rows
                .iter()
                .map(|(x, y)| {
                    let dot: f64 = u.iter().zip(x).map(|(a, b)| a * b).sum();
                    (dot * dot / size - y).abs()
                })
                .sum();
            least = least.min(loss);
        }
        let regret = certificate.loss - least;
        assert!(regret <= certificate.bound, "{regret} {certificate}");
        // Not an empty promise: within a factor of ten.
        assert!(certificate.bound < 10.0 * regret.max(1.0), "{regret} {certificate}");
    }
    // Another rate in mid-stream voids it, at that row.
    let mut eg = MatrixEntropy::density(2).unwrap();
    eg.step(&[1.0, 0.0], 0.0.into(), &Squared, 0.1).unwrap();
    eg.step(&[1.0, 0.0], 0.0.into(), &Squared, 0.2).unwrap();
    let Status::Void(broken) = eg.certificate().unwrap().status else { panic!() };
    assert_eq!((broken.row, broken.found), (2, 0.2));
    assert!(MatrixEntropy::unnormalised(2, 1.0).unwrap().certificate().is_none());
}

#[test]
fn bad_rows_are_errors_and_change_nothing() {
    let mut spd = SpdWalk::new(2, 1.0).unwrap();
    let mut eg = MatrixEntropy::density(2).unwrap();
    let mut twin = MatrixTwin::density(2).unwrap();
    let mut null = NullSpace::new(3, 1, 0).unwrap();
    let before = (spd.clone(), eg.clone(), twin.clone(), null.clone());
    for x in [&[1.0][..], &[f64::NAN, 1.0], &[1e200, 1.0]] {
        assert!(spd.step(x, 0.0.into(), &Squared, 0.1).is_err());
        assert!(eg.step(x, 0.0.into(), &Squared, 0.1).is_err());
        assert!(twin.step(x, 0.0.into(), &Squared, 0.1).is_err());
        assert!(null.step(x, 0.1).is_err());
    }
    // A step that would make the matrix singular to all its digits.
    assert!(spd.step(&[1.0, 0.0], (-1e6).into(), &Squared, 1e3).is_err());
    assert_eq!((spd, eg, twin, null), before);
    assert!(SpdWalk::new(0, 1.0).is_err() && MatrixTwin::unnormalised(2, -1.0).is_err());
    assert!(NullSpace::new(3, 3, 0).is_err() && NullSpace::new(3, 0, 0).is_err());
}

#[test]
fn a_step_is_the_geodesic_of_the_manifold() {
    let (n, k, rate) = (6, 3, 0.3);
    let mut null = NullSpace::new(n, k, 4).unwrap();
    let m = Grassmann::new(n, k).unwrap();
    let work = &mut Work::new();
    let mut sampler = Sampler::new(2);
    for _ in 0..50 {
        let x = sampler.vector::<f64>(n);
        let square: f64 = x.iter().map(|x| x * x).sum();
        // ‖Pᵀx‖²/‖x‖² has the partial derivatives 2xxᵀP/‖x‖².
        let mut a = vec![0.0; k];
        for (p, &x) in null.directions().chunks_exact(k).zip(&x) {
            a.iter_mut().zip(p).for_each(|(a, &p)| *a += p * x / square.sqrt());
        }
        let scale = 2.0 / square.sqrt();
        let egrad: Vec<f64> = x.iter().flat_map(|x| a.iter().map(move |a| scale * x * a)).collect();
        let mut expected = null.directions().to_vec();
        let mut v = vec![0.0; n * k];
        m.gradient(&expected, &egrad, &mut v, work);
        m.exp(&mut expected, &v, -rate, work).unwrap();
        null.step(&x, rate).unwrap();
        assert!(m.distance(null.directions(), &expected, work) < 1e-7);
        m.check(null.directions()).unwrap();
    }
}

#[test]
fn one_direction_is_the_null_vector_of_the_sphere() {
    let mut null = NullSpace::new(4, 1, 9).unwrap();
    let mut sphere = Sphere::new(1.0, 0).unwrap();
    sphere.grow(4);
    let state = null.directions().to_vec();
    sphere
        .load_state(&mut |name| match name {
            "v" => Some(state.clone()),
            "factors" => Some(vec![1.0, 0.0]),
            _ => Some(vec![1.0, 0.0, 0.0]),
        })
        .unwrap();
    let mut sampler = Sampler::new(1);
    for _ in 0..100 {
        let mut x = sampler.vector::<f64>(4);
        let norm = Norm::L2.of(&x);
        x.iter_mut().for_each(|x| *x /= norm);
        let one = null.step(&x, 0.2).unwrap();
        let two = sphere.step(Dense(&x), 0.0.into(), &Invariant, 0.2).unwrap();
        assert!((one.loss - two.loss).abs() < 1e-9, "{} {}", one.loss, two.loss);
    }
}

#[test]
fn the_loss_is_below_the_bound() {
    let (n, mut nearest) = (8, 0.0_f64);
    for seed in 0..60 {
        let mut sampler = Sampler::new(seed);
        let k = 1 + sampler.below(4);
        let rate = sampler.uniform(0.02, 0.98);
        let mut null = NullSpace::new(n, k, seed).unwrap();
        // The hidden directions are the first k axes, near to which some runs begin.
        let mut hidden = vec![0.0; n * k];
        (0..k).for_each(|j| hidden[j * k + j] = 1.0);
        for _ in 0..400 {
            let mut x = sampler.vector::<f64>(n);
            x[..k].fill(0.0);
            null.step(&x, rate).unwrap();
        }
        let certificate = null.certificate(&hidden).unwrap();
        assert_eq!(certificate.status, Status::Valid);
        assert!(certificate.loss <= certificate.bound, "seed {seed}, k {k}: {certificate}");
        nearest = nearest.max(certificate.loss / certificate.bound);
        // Every row is orthogonal to them, and in the end to what was found at a rate that is not small.
        let cosines: f64 = null.directions().chunks_exact(k).take(k).flatten().map(|p| p * p).sum();
        let near = (cosines - k as f64).abs() < 1e-3;
        assert!(near || !(0.2..0.8).contains(&rate), "seed {seed}: {cosines} of {k}");
    }
    assert!(nearest > 0.3, "the bound is never near: {nearest}");
    let mut null = NullSpace::new(3, 1, 0).unwrap();
    null.step(&[1.0, 0.0, 0.0], 0.5).unwrap();
    null.step(&[1.0, 0.0, 0.0], 1.5).unwrap();
    let status = null.certificate(&[0.0, 1.0, 0.0]).unwrap().status;
    assert!(matches!(status, Status::Void(Broken { row: 2, .. })), "{status:?}");
    assert!(null.certificate(&[0.0, 1.0, 1.0]).is_err());
}

#[test]
fn directions_stay_orthonormal() {
    for k in [1, 3] {
        let (mut null, mut sampler) = (NullSpace::new(6, k, 5).unwrap(), Sampler::new(8));
        // Below the thousand steps after which they are made so anew.
        for _ in 0..900 {
            null.step(&sampler.vector::<f64>(6), 0.2).unwrap();
        }
        Manifold::<f64>::check(&Grassmann::new(6, k).unwrap(), null.directions()).unwrap();
    }
}

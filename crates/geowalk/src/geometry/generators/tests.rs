//! Properties of every generator in the table.

use super::*;
use crate::row::Norm;

const SPECS: [&str; 10] = [
    "squared-euclidean",
    "entropy",
    "simplex-entropy",
    "burg",
    "mahalanobis(sigma=4 2 -2; 2 10 2; -2 2 5)",
    "p-norm(q=1.01)",
    "p-norm(q=1.3)",
    "p-norm(q=1.9)",
    "p-norm(q=2)",
    "p-norm(q=auto)",
];

type Point = [f64; 3];

/// Numbers in (0, 1), the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// A point of the domain, with coordinates from 1e-2 to 1e2 in size.
    fn point(&mut self, spec: &str) -> Point {
        let mut w = [0.0; 3].map(|_: f64| Real::exp(9.0 * self.next() - 4.5));
        if spec == "simplex-entropy" {
            let sum: f64 = w.iter().sum();
            w = w.map(|w| w / sum);
        } else if !["entropy", "burg"].contains(&spec) {
            w = w.map(|w| if self.next() < 0.5 { -w } else { w });
        }
        w
    }
}

fn each(mut test: impl FnMut(&str, &AnyGenerator, &mut Random)) {
    let mut random = Random(7);
    for spec in SPECS {
        let generator = AnyGenerator::parse(spec, 3).unwrap();
        for _ in 0..200 {
            test(spec, &generator, &mut random);
        }
    }
}

fn link(generator: &AnyGenerator, w: &Point) -> Point {
    let mut theta = [0.0; 3];
    generator.link(w, &mut theta);
    theta
}

fn dot(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &Point, b: &Point) -> Point {
    std::array::from_fn(|i| a[i] - b[i])
}

/// The sum of the absolute products, the scale of the rounding error.
fn size(a: &Point, b: &Point) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a * b).abs()).sum()
}

/// The scale of the rounding error of a coordinate x of `all`: |x|, or for a matrix, which mixes coordinates, the
/// largest magnitude.
fn scale(spec: &str, all: &Point, x: f64) -> f64 {
    if spec.starts_with("mahalanobis") { Norm::LInf.of(all) } else { x.abs() }
}

fn close(spec: &str, a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{spec}: {a} and {b} differ by {:e}", (a - b).abs());
}

#[test]
fn unlink_inverts_link() {
    each(|spec, generator, random| {
        let w = random.point(spec);
        generator.check(&w).unwrap();
        let theta = link(generator, &w);
        generator.check_dual(&theta).unwrap();
        let mut back = [0.0; 3];
        generator.unlink(&theta, &mut back);
        // (p − 1) times the rounding of θ for q = 1.01.
        let tolerance = if spec == "p-norm(q=1.01)" { 4e-13 } else { 2e-14 };
        for (&x, back) in w.iter().zip(back) {
            close(spec, back, x, tolerance * scale(spec, &w, x));
        }
        let (w32, mut small) = (w.map(f32::of), [0.0_f32; 3]);
        generator.link(&w32, &mut small);
        let theta = link(generator, &w32.map(Real::f64));
        for (a, b) in small.iter().zip(theta) {
            close(spec, a.f64(), b, 1e-6 * scale(spec, &theta, b));
        }
    });
}

/// Along directions of the domain, because on the simplex the link is defined only up to a constant.
#[test]
fn link_is_the_gradient_of_value_and_unlink_that_of_conjugate() {
    each(|spec, generator, random| {
        let w = random.point(spec);
        let theta = link(generator, &w);
        let smallest = w.iter().fold(f64::INFINITY, |m, w| m.min(w.abs()));
        let mut v = [0.0; 3].map(|_: f64| random.next() - 0.5);
        Curved::<f64>::project(generator, &w, &mut v);
        let h = 1e-4 * smallest;
        let value = |s: f64| {
            let moved: Point = std::array::from_fn(|i| w[i] + s * v[i]);
            generator.value(&moved)
        };
        // Fourth-order differences, so that only the rounding of ψ remains.
        let slope =
            (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
        let scale = size(&theta, &v) + generator.value(&w).abs() / smallest;
        close(spec, slope, dot(&theta, &v), 1e-9 * scale);

        let h = 1e-4 * theta.iter().fold(f64::INFINITY, |m, t| m.min(t.abs()));
        let conjugate = |s: f64| {
            let moved: Point = std::array::from_fn(|i| theta[i] + s * v[i]);
            generator.conjugate(&moved)
        };
        let slope = (8.0 * (conjugate(h) - conjugate(-h))
            - (conjugate(2.0 * h) - conjugate(-2.0 * h)))
            / (12.0 * h);
        let rounding = 1e-14 * (1.0 + conjugate(0.0).abs()) / h;
        close(spec, slope, dot(&w, &v), 1e-9 * size(&w, &v) + rounding);
    });
}

/// ψ(w) + ψ*(θ) = ⟨w, θ⟩.
#[test]
fn fenchel_young_is_an_equality_at_the_link() {
    each(|spec, generator, random| {
        let w = random.point(spec);
        let theta = link(generator, &w);
        let sum = generator.value(&w) + generator.conjugate(&theta);
        let scale = size(&w, &theta) + generator.value(&w).abs() + 3.0;
        close(spec, sum, dot(&w, &theta), 2e-14 * scale);
        // Elsewhere it is an inequality, and the difference is a divergence.
        let u = random.point(spec);
        let gap = generator.value(&u) + generator.conjugate(&theta) - dot(&u, &theta);
        let scale = scale + size(&u, &theta) + generator.value(&u).abs();
        close(spec, gap, generator.divergence(&u, &w), 2e-14 * scale);
    });
}

/// \[NN09, eqs. (58) and (64)\].
#[test]
fn three_and_four_point_identities() {
    each(|spec, generator, random| {
        let [a, b, c, d] = std::array::from_fn(|_| random.point(spec));
        let difference = minus(&link(generator, &a), &link(generator, &c));
        let lhs = generator.divergence(&b, &a);
        let rhs = [generator.divergence(&b, &c), generator.divergence(&c, &a)];
        let last = dot(&minus(&c, &b), &difference);
        let scale = lhs + rhs[0] + rhs[1] + size(&minus(&c, &b), &difference);
        close(spec, lhs, rhs[0] + rhs[1] + last, 1e-13 * scale);

        let terms = [
            generator.divergence(&b, &a),
            generator.divergence(&b, &c),
            generator.divergence(&d, &a),
            generator.divergence(&d, &c),
        ];
        let sum = terms[0] - terms[1] - terms[2] + terms[3];
        let rhs = -dot(&minus(&b, &d), &difference);
        let scale = terms.iter().sum::<f64>() + size(&minus(&b, &d), &difference);
        close(spec, sum, rhs, 1e-13 * scale);
    });
}

/// \[NN09, eqs. (49) and (50)\], on the simplex up to the constant.
#[test]
fn legendre_dual_is_addition_in_the_dual() {
    each(|spec, generator, random| {
        let p = random.point(spec);
        let theta = link(generator, &p);
        // The step is small relative to θ, so that Itakura–Saito stays in the image.
        let mut step =
            || -> Point { std::array::from_fn(|i| 0.4 * (random.next() - 0.5) * theta[i]) };
        let (u, v) = (step(), step());
        let sum: Point = std::array::from_fn(|i| u[i] + v[i]);
        let mut work = Work::new();
        let [mut once, mut twice, mut whole] = [[0.0; 3]; 3];
        generator.legendre_dual(&u, &p, &mut once, &mut work);
        generator.legendre_dual(&v, &once, &mut twice, &mut work);
        generator.legendre_dual(&sum, &p, &mut whole, &mut work);
        let tolerance = if spec == "p-norm(q=1.01)" { 1e-12 } else { 1e-13 };
        for (a, b) in twice.iter().zip(whole) {
            close(spec, *a, b, tolerance * scale(spec, &whole, b));
        }
        let moved = link(generator, &once);
        let gauge = if spec == "simplex-entropy" { moved[0] - theta[0] - u[0] } else { 0.0 };
        for i in 0..3 {
            let scale = theta.iter().fold(1.0, |m: f64, t| m.max(t.abs()));
            close(spec, moved[i] - gauge, theta[i] + u[i], 1e-13 * scale);
        }
    });
}

#[test]
fn divergence_is_positive_and_exceeds_the_modulus() {
    each(|spec, generator, random| {
        let (u, w) = (random.point(spec), random.point(spec));
        let d = generator.divergence(&u, &w);
        assert!(d > 0.0 && d.is_finite(), "{spec}");
        assert_eq!(generator.divergence(&w, &w), 0.0, "{spec}");
        let near: Point = std::array::from_fn(|i| w[i] * (1.0 + 1e-9 * (random.next() - 0.5)));
        for (u, d) in [(u, d), (near, generator.divergence(&near, &w))] {
            let radius = Norm::L1.of(&u).max(Norm::L1.of(&w));
            let within = Generator::<f64>::modulus_within(generator, radius);
            for modulus in [within, Generator::<f64>::modulus(generator)].into_iter().flatten() {
                let norm: f64 = modulus.norm.of(&minus(&u, &w));
                let floor = 0.5 * modulus.sigma * norm * norm;
                assert!(d >= floor * (1.0 - 1e-9), "{spec}: {d:e} < {floor:e}");
            }
        }
        assert!(generator.divergence(&[f64::NAN, u[1], u[2]], &w).is_nan(), "{spec}");
        assert!(generator.divergence(&u, &[w[0], f64::NAN, w[2]]).is_nan(), "{spec}");
        // In f32 the points are rounded: near points are compared with the f64 result at the rounded points.
        let (u32, w32) = (near.map(|x| f32::of(x * 1.001)), w.map(f32::of));
        let d64 = generator.divergence(&u32.map(Real::f64), &w32.map(Real::f64));
        close(spec, generator.divergence(&u32, &w32).f64() / d64, 1.0, 1e-4);
    });
}

/// Reference values with 80 digits, at w and at points at relative distances of 1e-8, 1e-5 and 1e-2 from it.
#[test]
fn divergence_of_near_points_keeps_its_digits() {
    let w = [0.2, 0.5, 0.3];
    let table: [(Point, &[(&str, f64)]); 3] = [
        (
            [0.200000002, 0.49999999, 0.300000008],
            &[
                ("squared-euclidean", 1.6799999982314443e-16),
                ("entropy", 2.1666666612376435e-16),
                ("simplex-entropy", 2.1666666612376435e-16),
                ("burg", 6.05555550930426e-16),
                ("mahalanobis(sigma=4 2 -2; 2 10 2; -2 2 5)", 8.719999990820354e-16),
                ("p-norm(q=1.01)", 2.125567185820463e-18),
                ("p-norm(q=1.3)", 4.190820722599698e-17),
                ("p-norm(q=1.9)", 7.964261743799167e-17),
                ("p-norm(q=2)", 8.399999991157221e-17),
            ],
        ),
        (
            [0.200002, 0.49999, 0.300008],
            &[
                ("squared-euclidean", 1.6800000000033603e-10),
                ("entropy", 2.166663518717604e-10),
                ("simplex-entropy", 2.166663518717604e-10),
                ("burg", 6.055515680713635e-10),
                ("mahalanobis(sigma=4 2 -2; 2 10 2; -2 2 5)", 8.720000000017442e-10),
                ("p-norm(q=1.01)", 2.125564052813368e-12),
                ("p-norm(q=1.3)", 4.190813134864314e-11),
                ("p-norm(q=1.9)", 7.964258029064658e-11),
                ("p-norm(q=2)", 8.400000000016802e-11),
            ],
        ),
        (
            [0.202, 0.49, 0.308],
            &[
                ("squared-euclidean", 0.0001680000000000003),
                ("entropy", 0.00021637120850643323),
                ("simplex-entropy", 0.00021637120850643323),
                ("burg", 0.0006017348136446247),
                ("mahalanobis(sigma=4 2 -2; 2 10 2; -2 2 5)", 0.0008720000000000016),
                ("p-norm(q=1.01)", 2.1226178820775692e-06),
                ("p-norm(q=1.3)", 4.1835317733262574e-05),
                ("p-norm(q=1.9)", 7.960632433492618e-05),
                ("p-norm(q=2)", 8.400000000000014e-05),
            ],
        ),
    ];
    for (u, row) in table {
        for (spec, expected) in row {
            let generator = AnyGenerator::parse(spec, 3).unwrap();
            let found = generator.divergence(&u, &w);
            close(spec, found / expected, 1.0, 1e-14);
        }
    }
}

#[test]
fn hessian_is_the_derivative_of_the_link() {
    each(|spec, generator, random| {
        let w = random.point(spec);
        let mut v: Point = std::array::from_fn(|i| w[i] * (random.next() - 0.5));
        Curved::<f64>::project(generator, &w, &mut v);
        generator.check_tangent(&w, &v).unwrap();
        let (mut out, mut back) = ([0.0; 3], [0.0; 3]);
        generator.hessian(&w, &v, &mut out);
        let moved = |s: f64| link(generator, &std::array::from_fn(|i| w[i] + s * v[i]));
        let (plus, less) = (moved(1e-5), moved(-1e-5));
        for i in 0..3 {
            // The floor is for ln w near w = 1, where the rounding of w exceeds that of ln w.
            let scale = (link(generator, &w)[i].abs() + out[i].abs()).max(1e-1);
            close(spec, (plus[i] - less[i]) / 2e-5, out[i], 1e-9 * scale);
        }
        generator.hessian_inverse(&w, &out, &mut back);
        let scale = size(&out, &v).max(v.iter().map(|v| v.abs()).sum());
        for (a, b) in back.iter().zip(v) {
            close(spec, *a, b, 1e-12 * scale);
        }
        let mut origin = w;
        Curved::<f64>::origin(generator, &mut origin);
        generator.check(&origin).unwrap();
    });
}

#[test]
fn specifications_rebuild_their_generators() {
    for spec in SPECS {
        let generator = AnyGenerator::parse(spec, 3).unwrap();
        assert_eq!(AnyGenerator::parse(&generator.spec(), 3).unwrap(), generator, "{spec}");
    }
    for entry in entries() {
        let parameter = if entry.name == "mahalanobis" { "(sigma=1 0; 0 1)" } else { "" };
        let generator = AnyGenerator::parse(&format!("{}{parameter}", entry.name), 2).unwrap();
        assert!(generator.spec().starts_with(entry.name));
    }
    assert_eq!(
        AnyGenerator::parse("p-norm(auto)", 1000).unwrap(),
        AnyGenerator::PNorm(PNorm::auto(1000))
    );
}

#[test]
fn bad_specifications_say_why() {
    for (spec, message) in [
        (
            "entropi",
            "unknown generator 'entropi' (did you mean 'entropy'?); known: squared-euclidean, entropy, simplex-entropy, burg, mahalanobis, p-norm",
        ),
        ("burg(1)", "unknown parameter '1'; known: none"),
        ("p-norm(q=3)", "q = 3; it must be in (1, 2]"),
        ("p-norm(q=x)", "'q=x': a number or 'auto' expected at column 3"),
        (
            "mahalanobis",
            "sigma is missing: a symmetric positive definite matrix, rows separated by ';': 2 1; 1 3",
        ),
        (
            "mahalanobis(sigma=metric.csv)",
            "'sigma=metric.csv': a number of a matrix like '2 1; 1 3' (a file must be read first) expected at column 7",
        ),
        (
            "mahalanobis(sigma=1 0; 0 x)",
            "'sigma=1 0; 0 x': a number of a matrix like '2 1; 1 3' (a file must be read first) expected at column 14",
        ),
        ("mahalanobis(sigma=1 0; 0)", "a row of sigma has 1 coordinates; 2 are needed"),
        ("mahalanobis(sigma=1 0)", "a column of sigma has 1 coordinates; 2 are needed"),
        (
            "mahalanobis(sigma=1 0; 0 -3)",
            "the matrix is not positive definite: its smallest eigenvalue is -3",
        ),
    ] {
        assert_eq!(AnyGenerator::parse(spec, 2).unwrap_err().to_string(), message);
    }
    assert!(AnyGenerator::parse("entropy", 0).is_err());
}

#[test]
fn wrong_lengths_do_not_panic() {
    for spec in SPECS {
        let generator = AnyGenerator::parse(spec, 3).unwrap();
        let (long, short) = ([0.5; 5], [0.5; 1]);
        for (a, b) in [(&long[..], &short[..]), (&short, &long), (&[], &long), (&long, &[])] {
            let mut out = [0.0; 2];
            generator.value(a);
            generator.conjugate(a);
            generator.divergence(a, b);
            generator.link(a, &mut out);
            generator.unlink(a, &mut out);
            generator.legendre_dual(a, b, &mut out, &mut Work::new());
            generator.hessian(a, b, &mut out);
            generator.hessian_inverse(a, b, &mut out);
            Curved::<f64>::project(&generator, a, &mut out);
            let _ = generator.check_tangent(a, b);
        }
    }
}

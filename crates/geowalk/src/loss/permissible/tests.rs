//! Properties of every permissible function, tested on all of them.

use super::*;
use crate::Real;
use crate::loss::Balanced;

fn all() -> Vec<AnyPermissible> {
    let custom = CustomPermissible::new(
        "mixture",
        |p| -p * (1.0 - p) - (p * (1.0 - p)).sqrt(),
        |p| (2.0 * p - 1.0) * (1.0 + 0.5 / (p * (1.0 - p)).sqrt()),
    );
    [
        "gini",
        "matsushita",
        "entropy",
        "mu(0.5)",
        "mu(0.9)",
        "nu",
        "nu(0.5)",
        "nu(0.05)",
        "nu(0.9)",
        "zeta",
        "zeta(-0.01)",
        "zeta(-1)",
        "zeta(-30)",
    ]
    .iter()
    .map(|text| AnyPermissible::parse(text).unwrap())
    .chain([AnyPermissible::Other(Arc::new(custom.unwrap()))])
    .collect()
}

/// From the middle far into both tails.
const SCORES: [f64; 21] = [
    -1e8, -1e4, -50.0, -7.0, -1.5, -1.0, -0.74, -0.4, -0.03, -1e-9, 0.0, 1e-12, 0.002, 0.2, 0.6,
    0.99, 1.2, 4.0, 50.0, 1e3, 1e8,
];

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    found == expected || (found - expected).abs() <= tolerance * expected.abs()
}

fn inside(phi: &AnyPermissible, h: f64) -> bool {
    let (lo, hi) = phi.image();
    lo < h && h < hi
}

#[test]
fn tails_agree_with_eighty_digits() {
    for (text, h, tail, excess) in [
        ("gini", 0.75, 0.125, 0.015_625),
        ("matsushita", 50.0, 9.997_000_999_650_126e-5, 0.004_999_500_099_975_007),
        ("matsushita", 1e8, 2.5e-17, 2.5e-9),
        ("entropy", 0.75, 0.320_821_300_824_607, 0.386_871_006_114_899_94),
        ("entropy", 50.0, 1.928_749_847_963_917_8e-22, 1.928_749_847_963_917_8e-22),
        ("mu(0.5)", 0.3, 0.242_752_122_286_236_74, 0.141_547_594_742_265_03),
        ("mu(0.5)", 50.0, 2.499_812_515_623_633e-5, 0.001_249_968_751_562_402_3),
        ("nu(0.25)", 0.3, 0.311_026_403_565_484_3, 0.587_069_604_342_572_2),
        ("nu(0.25)", 50.0, 0.000_853_770_882_013_053, 0.128_211_666_605_424_77),
        ("nu(0.25)", 1e8, 3.393_022_020_724_445_6e-12, 0.001_017_906_606_221_938_6),
        ("nu(0.9)", 0.75, 0.159_231_595_249_714, 0.044_271_172_347_632_386),
        ("nu(0.9)", 50.0, 3.570_467_226_623_969e-18, 1.983_592_903_679_982_3e-17),
        ("nu(0.9)", 1e8, 3.486_784_400_999_857_2e-81, 3.874_204_889_999_841e-74),
        ("zeta(-4)", 0.3, 0.345_240_197_898_444_1, 0.089_740_686_004_170_03),
        ("zeta(-4)", 0.75, 0.013_522_462_736_171_675, 7.892_489_326_785_508e-5),
        ("zeta(-60)", 0.9999, 0.334_942_707_478_563_4, 3.182_756_241_624_977e-5),
    ] {
        let phi = AnyPermissible::parse(text).unwrap();
        for (found, expected) in [
            (phi.transfer(-h), tail),
            (phi.complement(h), tail),
            (phi.conjugate(-h) - phi.a(), excess),
            (phi.raw(h), excess),
            (phi.transfer(h), 1.0 - tail),
            (phi.conjugate(h), phi.a() + excess + h),
        ] {
            // φ⋆(−h) − a computed as a difference has only the digits that remain after subtracting a.
            let slack = if phi.a() > 0.0 { 1e-16 } else { 0.0 };
            assert!((found - expected).abs() <= 1e-13 * expected + slack, "{text} {h} {found}");
        }
        assert!(near(phi.raw(h), excess, 1e-13) && near(phi.tail(h), tail, 1e-13), "{text} {h}");
    }
}

#[test]
fn the_conjugate_is_a_supremum_over_the_closed_interval() {
    let golden = 0.5 * (5_f64.sqrt() - 1.0);
    for phi in all() {
        for h in SCORES {
            let objective = |p: f64| h * p - phi.phi(p);
            let (mut lo, mut hi) = (0.0, 1.0);
            for _ in 0..90 {
                let (p, q) = (hi - golden * (hi - lo), lo + golden * (hi - lo));
                if objective(p) >= objective(q) {
                    hi = q;
                } else {
                    lo = p;
                }
            }
            let p = 0.5 * (lo + hi);
            let supremum = [0.0, p, 1.0].map(objective).into_iter().fold(f64::MIN, f64::max);
            let found = phi.conjugate(h);
            assert!((found - supremum).abs() <= 4e-15 * (1.0 + h.abs()), "{phi:?} {h} {found}");
            // The supremum is flat, so its place is accurate to half the digits.
            assert!((phi.transfer(h) - p).abs() <= 1e-6, "{phi:?} {h} {p}");
        }
    }
}

#[test]
fn constants_and_shape() {
    for phi in all() {
        assert!(near(-phi.phi(0.0), phi.a(), 0.0) && phi.a() >= 0.0, "{phi:?}");
        assert!(near(-phi.phi(0.5) - phi.a(), phi.b(), 1e-14) && phi.b() > 0.0, "{phi:?}");
        assert!(near(phi.surrogate(0.0), 1.0, 1e-15), "{phi:?} {}", phi.surrogate(0.0));
        assert!(near(phi.surrogate_slope(0.0), -0.5 / phi.b(), 1e-15), "{phi:?}");
        assert_eq!((phi.weight(0.0), phi.probability(0.0)), (0.5, 0.5), "{phi:?}");
        let (lo, hi) = phi.image();
        assert_eq!((lo, phi.gradient(0.0), phi.gradient(1.0)), (-hi, lo, hi), "{phi:?}");
        for j in 0..=1000 {
            let p = f64::from(j) / 1000.0;
            assert!(near(phi.phi(p), phi.phi(1.0 - p), 1e-12) && phi.phi(p) <= 0.0, "{phi:?} {p}");
            if j > 0 {
                assert!(phi.gradient(p) > phi.gradient(p - 1e-3), "{phi:?} {p}");
            }
            if j > 0 && j < 1000 {
                let h = 1e-4 * p.min(1.0 - p);
                let slope = (phi.phi(p + h) - phi.phi(p - h)) / (2.0 * h);
                let scale = 1.0 + slope.abs();
                assert!((phi.gradient(p) - slope).abs() <= 1e-6 * scale, "{phi:?} {p} {slope}");
                let slope = (phi.gradient(p + h) - phi.gradient(p - h)) / (2.0 * h);
                let tolerance = 1e-6 * slope + f64::EPSILON * scale / h;
                assert!((phi.curvature(p) - slope).abs() <= tolerance, "{phi:?} {p} {slope}");
            }
        }
        for outside in [-1e-300, 1.0 + f64::EPSILON, f64::NAN] {
            assert!(phi.phi(outside).is_nan() && phi.gradient(outside).is_nan(), "{phi:?}");
            assert!(phi.curvature(outside).is_nan(), "{phi:?}");
        }
    }
}

#[test]
fn the_curvature_floor_is_the_infimum() {
    for phi in all() {
        let least =
            (0..=4000).map(|j| phi.curvature(f64::from(j) / 4000.0)).fold(f64::INFINITY, f64::min);
        assert!(near(phi.curvature_floor(), least, 1e-8), "{phi:?} {least}");
    }
    // The values of the table, raw and relative to b.
    let floor = |text: &str| AnyPermissible::parse(text).unwrap().curvature_floor();
    assert_eq!(["gini", "matsushita", "mu(0.75)", "entropy"].map(floor), [2.0, 2.0, 0.5, 4.0]);
    let nu = AnyPermissible::parse("nu(0.25)").unwrap();
    assert!(near(nu.curvature_floor() / nu.b(), 2.0, 1e-15));
}

#[test]
fn nothing_is_lost_in_the_far_tails() {
    for phi in all() {
        for h in SCORES {
            for value in [
                phi.transfer(h),
                phi.complement(h),
                phi.conjugate(h),
                phi.surrogate(h),
                phi.surrogate_slope(h),
                phi.conjugate_curvature(h),
                phi.margin(h, 1.0),
            ] {
                assert!(value.is_finite(), "{phi:?} {h}");
            }
            assert!(phi.raw(h) >= 0.0 && phi.conjugate_curvature(h) >= 0.0, "{phi:?} {h}");
            // (32), and its derivative.
            assert!(
                near(phi.conjugate(h), phi.conjugate(-h) + h, 1e-15 * (1.0 + h.abs())) || {
                    let gap = phi.conjugate(h) - phi.conjugate(-h) - h;
                    gap.abs() <= 1e-15 * (1.0 + h.abs())
                }
            );
            assert_eq!(phi.transfer(h) + phi.complement(h), 1.0, "{phi:?} {h}");
            if inside(&phi, h) && h.abs() < 10.0 {
                let p = phi.transfer(h);
                if p > 1e-4 && p < 1.0 - 1e-4 {
                    assert!((phi.gradient(p) - h).abs() <= 1e-9, "{phi:?} {h}");
                    assert!(near(phi.conjugate_curvature(h) * phi.curvature(p), 1.0, 1e-7));
                }
            }
        }
        // (33) and the asymptote (34).
        let (right, wrong) = (phi.raw(f64::INFINITY), phi.raw(f64::NEG_INFINITY));
        assert_eq!((right, wrong), (0.0, f64::INFINITY), "{phi:?}");
        assert_eq!((phi.transfer(f64::INFINITY), phi.transfer(f64::NEG_INFINITY)), (1.0, 0.0));
        for value in [
            phi.transfer(f64::NAN),
            phi.conjugate(f64::NAN),
            phi.margin(f64::NAN, 1.0),
            phi.conjugate_curvature(f64::NAN),
            phi.cost(f64::NAN, 1.0),
        ] {
            assert!(value.is_nan(), "{phi:?}");
        }
    }
}

#[test]
fn weights_are_minus_the_slope_of_the_loss() {
    for phi in all() {
        for z in [-3.0, -0.9, -0.5, -0.1, 0.0, 0.01, 0.3, 0.6, 1.4, 6.0] {
            let h = 1e-5;
            let slope = (phi.raw(z + h) - phi.raw(z - h)) / (2.0 * h);
            // The second derivative of a steep ζ reaches 1e6, but never within 1e-5 of these places.
            assert!((phi.weight(z) + slope).abs() <= 2e-6, "{phi:?} {z} {slope}");
            let slope = (phi.surrogate(z + h) - phi.surrogate(z - h)) / (2.0 * h);
            assert!((phi.surrogate_slope(z) - slope).abs() <= 2e-6 / phi.b(), "{phi:?} {z}");
            let slope = (phi.transfer(z + h) - phi.transfer(z - h)) / (2.0 * h);
            let found = phi.conjugate_curvature(z);
            assert!((found - slope).abs() <= 2e-6 * (1.0 + found), "{phi:?} {z} {slope}");
        }
    }
}

#[test]
fn divergences_are_losses_inside_the_image_only() {
    for phi in all() {
        let loss = Balanced::new(phi.clone());
        for h in [-2.0, -0.7, -0.2, -0.004, 0.0, 0.1, 0.45, 0.7, 3.0] {
            let p = phi.transfer(h);
            for y in [0.0_f64, 0.2, 0.5, 0.9, 1.0] {
                let value = loss.fenchel_young(y, h);
                let quadratic = 0.5 * phi.curvature_floor() * (p - y) * (p - y);
                assert!(value >= quadratic * (1.0 - 1e-7) - 1e-15, "{phi:?} {h} {y} {value}");
                let divergence = loss.divergence(y, p);
                if inside(&phi, h) {
                    // The rounding of p changes its gradient by this much.
                    let rounding = 4e-15 + f64::EPSILON * phi.curvature(p);
                    assert!((divergence - value).abs() <= rounding, "{phi:?} {h} {y} {divergence}");
                } else {
                    // The distance of the score from the image, which the divergence does not depend on.
                    let forgotten = (h.abs() - phi.image().1) * (y - p).abs();
                    let gap = value - divergence - forgotten;
                    assert!(gap.abs() <= 4e-15, "{phi:?} {h} {y} {gap}");
                    assert_eq!(value > divergence, y != p, "{phi:?} {h} {y}");
                }
                if y == 0.0 || y == 1.0 {
                    // (37) and (38).
                    let sign = 2.0 * y - 1.0;
                    assert!((phi.b() * phi.surrogate(sign * h) - value).abs() <= 1e-15);
                    assert!((loss.fenchel_young(1.0, sign * h) - value).abs() <= 1e-15);
                }
            }
        }
        // Three points: D(x‖z) = D(x‖y) + D(y‖z) + (x − y)(∇φ(y) − ∇φ(z)).
        let (x, y, z) = (0.15, 0.4, 0.83);
        let right = loss.divergence(x, y)
            + loss.divergence(y, z)
            + (x - y) * (phi.gradient(y) - phi.gradient(z));
        assert!((loss.divergence(x, z) - right).abs() <= 1e-14, "{phi:?}");
    }
}

#[test]
fn duals_add_up_until_they_saturate() {
    for phi in all() {
        let hi = phi.image().1.min(1.0);
        for (u, v, p) in [(0.3 * hi, -0.5 * hi, 0.5), (-0.2 * hi, 0.6 * hi, 0.45)] {
            let twice = phi.legendre_dual(u, phi.legendre_dual(v, p));
            assert!((twice - phi.legendre_dual(u + v, p)).abs() <= 1e-13, "{phi:?} {twice}");
            // (49): the dual moves the gradient by u.
            let moved = phi.gradient(phi.legendre_dual(u, p)) - phi.gradient(p);
            assert!((moved - u).abs() <= 1e-12, "{phi:?} {moved}");
        }
    }
    assert_eq!(Gini.legendre_dual(-2.0, Gini.legendre_dual(2.0, 0.5)), 0.0);
    assert_eq!(Gini.legendre_dual(0.0, 0.5), 0.5);
}

#[test]
fn margins_are_the_same_by_score_and_by_probability() {
    for phi in all() {
        for h in SCORES {
            for y in [-1.0, 1.0] {
                let margin = phi.margin(h, y);
                assert!((-1.0..=1.0).contains(&margin));
                let probability = y * (2.0 * phi.probability(h) - 1.0);
                assert!((margin - probability).abs() <= 4e-16, "{phi:?} {h} {margin}");
            }
        }
    }
}

#[test]
fn leaves_cost_what_their_impurity_says() {
    for phi in all() {
        assert_eq!((phi.cost(0.0, 0.0), phi.cost(0.0, 9.0), phi.cost(9.0, 9.0)), (0.0, 0.0, 0.0));
        assert!(near(phi.cost(3.0, 6.0), 6.0, 1e-14), "{phi:?}");
        // Concave: a split never increases the cost, and leaves it unchanged iff the proportions agree.
        let split = phi.cost(1.0, 5.0) + phi.cost(4.0, 6.0);
        assert!(split < phi.cost(5.0, 11.0), "{phi:?}");
        assert!(near(phi.cost(1.0, 4.0) + phi.cost(2.0, 8.0), phi.cost(3.0, 12.0), 1e-15));
    }
    let bits = Entropy.cost(1.0, 4.0);
    assert!(near(bits, 4.0 * 0.811_278_124_459_132_8, 1e-15), "{bits}");
}

#[test]
fn corrected_equations() {
    // Table 2 of the paper lacks 1/ln 2: ln(1 + e⁰) = 0.69 would not bound the 0/1 loss.
    for z in [-3.0, 0.0, 2.0] {
        let expected = Real::ln_1p(Real::exp(-z)) / std::f64::consts::LN_2;
        assert!(near(Entropy.surrogate(z), expected, 1e-15) && expected >= f64::from(z <= 0.0));
    }
    // (35) as printed has φ(½) = 0 and a < 0; (107) as printed is concave. Neither is permissible.
    let printed = CustomPermissible::new(
        "(35)",
        |p| 0.5 * Real::ln(Real::cosh(2.0 * (p - 0.5))),
        |p| Real::tanh(2.0 * (p - 0.5)),
    );
    let message = printed.unwrap_err().to_string();
    assert!(
        message.starts_with("refused: a = -phi(0) >= 0 fails at 0: found -0.2168"),
        "{message}"
    );
    let printed = CustomPermissible::new(
        "(107)",
        |p| (p * (1.0 - p)).sqrt(),
        |p| (0.5 - p) / (p * (1.0 - p)).sqrt(),
    );
    let message = printed.unwrap_err().to_string();
    assert!(message.contains("b = -phi(1/2) - a > 0 fails at 0.5: found -0.5"), "{message}");
    // The raw weight starts at ½ for every φ; that of F starts at 1/(2b), which is 2 for Gini.
    assert_eq!((Gini.weight(0.0), Gini.surrogate_slope(0.0)), (0.5, -2.0));
    // ζ → −∞: the hinge loss on [−1, 1], not the 0/1 loss.
    let steep = Zeta::new(-1e5).unwrap();
    for z in [-0.9, -0.1, 0.0, 0.5, 0.9] {
        assert!((steep.surrogate(z) - (1.0 - z)).abs() < 1e-4, "{z}");
    }
    // ν = ½ is Matsushita's error.
    let half = Nu::new(0.5).unwrap();
    for h in SCORES {
        assert!(near(half.raw(h), Matsushita.raw(h), 2e-15), "{h}");
        assert!(near(half.transfer(h), Matsushita.transfer(h), 4e-15), "{h}");
        assert!(near(half.conjugate_curvature(h), Matsushita.conjugate_curvature(h), 1e-14), "{h}");
    }
}

#[test]
fn specifications_round_trip() {
    for phi in all() {
        match &phi {
            AnyPermissible::Other(_) => assert_eq!(phi.spec(), "custom(mixture)"),
            _ => assert_eq!(AnyPermissible::parse(&phi.spec()).unwrap(), phi),
        }
    }
    for entry in entries() {
        let text = format!("{}({})", entry.name, entry.parameters);
        let (given, default) = (AnyPermissible::parse(&text), AnyPermissible::parse(entry.name));
        assert_eq!(given.unwrap(), default.unwrap(), "the documented default of {text}");
    }
    for (text, message) in [
        ("mu(mu=1)", "mu = 1; it must be in [0, 1)"),
        ("nu(1)", "nu = 1; it must be in (0, 1)"),
        ("zeta(zeta=0)", "zeta = 0; it must be a finite number < 0"),
        ("gini(mu=1)", "unknown parameter 'mu'; known: none"),
    ] {
        assert_eq!(AnyPermissible::parse(text).unwrap_err().to_string(), message);
    }
    let message = AnyPermissible::parse("logit").unwrap_err().to_string();
    assert!(message.starts_with("unknown permissible function 'logit'"), "{message}");
}

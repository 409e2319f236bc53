//! The best linear model of a table: invariances, the solution it must find, and exact leave-one-out results.

#![allow(clippy::unwrap_used, clippy::needless_for_each)] // tests

use geowalk::loss::AnyLoss;
use geowalk::ridge::{Fitted, Labels, Table, fit};
use geowalk::row::Block;

/// Numbers between −1 and 1 from a seed.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

type Example = (Vec<f64>, f64, f64);

fn examples(n: usize, d: usize, label: impl Fn(&[f64], f64) -> f64) -> Vec<Example> {
    let mut draws = Draws(7);
    let one = |_| {
        let x: Vec<f64> = (0..d).map(|_| draws.next()).collect();
        let noise = draws.next();
        let y = label(&x, noise);
        (x, y, 1.0)
    };
    (0..n).map(one).collect()
}

fn model(examples: &[Example], labels: Labels) -> Fitted {
    let mut block = Block::new();
    for (x, y, weight) in examples {
        block.push_dense(x, *y, *weight).unwrap();
    }
    let table = Table {
        blocks: &[block],
        labels,
        constant: true,
        absent: &[],
        named: &|_| false,
        halt: geowalk::boost::Halt::default(),
    };
    fit(&table).unwrap()
}

fn scores(model: &Fitted, x: &[f64]) -> Vec<f64> {
    let score = |w: &Vec<f64>| w[0] + w[1..].iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    model.weights.iter().map(score).collect()
}

fn squared() -> Labels {
    Labels::Numbers(AnyLoss::parse("squared").unwrap())
}

/// The largest difference of scores, relative to their size.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let (a, b) = (a.iter().flatten(), b.iter().flatten());
    a.zip(b).map(|(a, b)| (a - b).abs() / (1.0 + a.abs())).fold(0.0, f64::max)
}

fn of_all(model: &Fitted, examples: &[Example]) -> Vec<Vec<f64>> {
    examples.iter().map(|(x, ..)| scores(model, x)).collect()
}

fn noisy_sign(x: &[f64], noise: f64) -> f64 {
    if x[0] - 0.5 * x[1] + noise > 0.0 { 1.0 } else { -1.0 }
}

fn noisy_class(x: &[f64], noise: f64) -> f64 {
    f64::from(u8::from(x[0] + 0.5 * noise > 0.3) + u8::from(x[1] - x[0] + 0.3 * noise > 0.0))
}

#[test]
fn units_of_features_do_not_matter() {
    for (label, labels) in [
        (noisy_sign as fn(&[f64], f64) -> f64, Labels::Signs),
        (noisy_class, Labels::Classes(3)),
        (|x: &[f64], noise| 2.0 * x[0] + noise, squared()),
    ] {
        let plain = examples(300, 4, label);
        let before = of_all(&model(&plain, labels.clone()), &plain);
        for factor in [1e-6, 1e6, 1e150, 1e-150, -3.0] {
            let mut scaled = plain.clone();
            scaled.iter_mut().for_each(|(x, ..)| x[1] *= factor);
            let after = of_all(&model(&scaled, labels.clone()), &scaled);
            assert!(apart(&before, &after) < 1e-7, "{factor}: {}", apart(&before, &after));
        }
    }
}

#[test]
fn unit_and_zero_of_numbers_do_not_matter() {
    for loss in ["squared", "absolute", "quantile(tau=0.9)"] {
        let labels = Labels::Numbers(AnyLoss::parse(loss).unwrap());
        let plain = examples(400, 3, |x, noise| x[0] - x[2] + noise);
        let before = of_all(&model(&plain, labels.clone()), &plain);
        for (factor, shift) in [(1e5, 0.0), (1e-5, 0.0), (1.0, 1e6), (1e100, 1e100)] {
            let mut moved = plain.clone();
            moved.iter_mut().for_each(|(_, y, _)| *y = *y * factor + shift);
            let after: Vec<Vec<f64>> = of_all(&model(&moved, labels.clone()), &plain)
                .iter()
                .map(|z| z.iter().map(|z| (z - shift) / factor).collect())
                .collect();
            let (apart, most) =
                (apart(&before, &after), if loss == "squared" { 1e-7 } else { 1e-3 });
            assert!(apart < most, "{loss} {factor} {shift}: {apart}");
        }
    }
}

#[test]
fn order_of_rows_and_names_of_classes_do_not_matter() {
    let plain = examples(300, 4, noisy_class);
    let before = of_all(&model(&plain, Labels::Classes(3)), &plain);
    let mut sorted = plain.clone();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let after = of_all(&model(&sorted, Labels::Classes(3)), &plain);
    assert!(apart(&before, &after) < 1e-6);
    let mut renamed = plain.clone();
    renamed.iter_mut().for_each(|(_, y, _)| *y = (*y + 1.0) % 3.0);
    let after: Vec<Vec<f64>> = of_all(&model(&renamed, Labels::Classes(3)), &plain)
        .into_iter()
        .map(|z| vec![z[1], z[2], z[0]])
        .collect();
    assert!(apart(&before, &after) < 1e-6, "{}", apart(&before, &after));
}

#[test]
fn a_row_of_weight_two_is_two_rows() {
    for (label, labels) in [
        (noisy_sign as fn(&[f64], f64) -> f64, Labels::Signs),
        (noisy_class, Labels::Classes(3)),
        (|x: &[f64], noise| 2.0 * x[0] + noise, squared()),
    ] {
        let mut weighted = examples(60, 3, label);
        let mut repeated = Vec::new();
        for (i, example) in weighted.iter_mut().enumerate() {
            let times = 1 + i % 3;
            repeated.extend(std::iter::repeat_n(example.clone(), times));
            example.2 = times as f64;
        }
        let one = of_all(&model(&weighted, labels.clone()), &weighted);
        let other = of_all(&model(&repeated, labels.clone()), &weighted);
        assert!(apart(&one, &other) < 1e-7, "{}", apart(&one, &other));
    }
}

#[test]
fn left_out_scores_are_those_of_models_without_the_row() {
    let all = examples(40, 3, |x, noise| x[0] + noise);
    let whole = model(&all, squared());
    // With a single member both problems are identical; otherwise the shares differ by little.
    for (i, left_out) in &whole.left_out {
        let mut rest = all.clone();
        rest.remove(*i);
        let z = scores(&model(&rest, squared()), &all[*i].0)[0];
        assert!((z - left_out[0]).abs() < 0.02, "row {i}: {z} {}", left_out[0]);
    }
}

#[test]
fn separable_rows_have_finite_weights() {
    let rows = examples(200, 2, |x, _| if x[0] > 0.0 { 1.0 } else { -1.0 });
    let fitted = model(&rows, Labels::Signs);
    assert!(fitted.weights[0].iter().all(|w| w.is_finite() && w.abs() < 1e4));
    assert!(fitted.converged && fitted.floor > 0.0);
    let right = rows.iter().filter(|(x, y, _)| scores(&fitted, x)[0] * y > 0.0).count();
    assert!(right >= 198);
}

#[test]
fn more_columns_than_rows_are_fine() {
    let rows = examples(60, 1500, |x, noise| x[0] + x[1] + 0.1 * noise);
    let fitted = model(&rows, squared());
    assert!(fitted.weights[0].len() == 1501 && fitted.weights[0].iter().all(|w| w.is_finite()));
    // The same rows with fewer columns than the limit use the other algorithm, with the same result.
    let few: Vec<Example> = rows.iter().map(|(x, y, w)| (x[..900].to_vec(), *y, *w)).collect();
    let doubled: Vec<Example> =
        few.iter().map(|(x, y, w)| ([&x[..], &[0.0; 600]].concat(), *y, *w)).collect();
    let (a, b) =
        (of_all(&model(&few, squared()), &few), of_all(&model(&doubled, squared()), &doubled));
    assert!(apart(&a, &b) < 1e-7);
}

#[test]
fn constant_and_empty_columns_are_left_out() {
    let mut rows = examples(100, 2, noisy_sign);
    rows.iter_mut().for_each(|(x, ..)| x.extend([5.0, 0.0]));
    let fitted = model(&rows, Labels::Signs);
    assert_eq!(fitted.weights[0][3..], [0.0, 0.0]);
    assert!(fitted.weights[0][1] > 0.0 && fitted.weights[0][2] < 0.0);
}

#[test]
fn a_missing_number_counts_as_its_mean() {
    // x is about 1000. If it is missing, the label is that of the mean, so that the indicator has nothing to add.
    let mut draws = Draws(3);
    let mut block = Block::new();
    for i in 0..300 {
        let x = draws.next();
        let missing = i % 3 == 0;
        let row = if missing { [0.0, 1.0] } else { [1000.0 + x, 0.0] };
        let y = if missing { 0.0 } else { x };
        block.push_dense(&row, y, 1.0).unwrap();
    }
    let table = Table {
        blocks: &[block],
        labels: squared(),
        constant: true,
        absent: &[(0, 1)],
        named: &|j| j == 1,
        halt: geowalk::boost::Halt::default(),
    };
    let fitted = fit(&table).unwrap();
    let missing = scores(&fitted, &[0.0, 1.0])[0];
    assert!(missing.abs() < 0.05, "{missing}");
    assert!((scores(&fitted, &[1000.5, 0.0])[0] - 0.5).abs() < 0.05);
}

#[test]
fn robust_losses_ignore_a_wild_label() {
    let mut rows = examples(200, 2, |x, noise| 3.0 * x[0] + 0.1 * noise);
    rows[5].1 = 1e4;
    for loss in ["absolute", "huber(delta=0.5)", "quantile(tau=0.5)"] {
        let fitted = model(&rows, Labels::Numbers(AnyLoss::parse(loss).unwrap()));
        assert!((fitted.weights[0][1] - 3.0).abs() < 0.3, "{loss}: {:?}", fitted.weights[0]);
    }
}

#[test]
fn a_halt_ends_it() {
    let mut block = Block::new();
    examples(50, 2, noisy_sign).iter().for_each(|(x, y, w)| block.push_dense(x, *y, *w).unwrap());
    let halt = geowalk::boost::Halt::new();
    halt.call();
    let table = Table {
        blocks: &[block],
        labels: Labels::Signs,
        constant: true,
        absent: &[],
        named: &|_| false,
        halt,
    };
    assert!(fit(&table).is_none());
}

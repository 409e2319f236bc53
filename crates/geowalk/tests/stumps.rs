//! Stumps against their definition.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a test may stop

mod table_support;

use geowalk::boost::binned::Binned;
use geowalk::boost::booster::error_of;
use geowalk::boost::sorted::Sorted;
use geowalk::boost::stump::{Stump, best_binned, best_exact};
use geowalk::boost::stumps::Stumps;
use geowalk::boost::table::{Column, Table};
use geowalk::boost::{Booster, Stop, Surrogate};
use geowalk::laws::Sampler;
use table_support::{classes, splits, table};

fn edge(table: &Table, signed: &[f64], stump: &Stump) -> f64 {
    signed.iter().enumerate().map(|(row, weight)| weight * stump.value(table, row)).sum()
}

#[test]
fn no_split_has_a_larger_edge() {
    for seed in 0..40 {
        let mut s = Sampler::new(seed);
        let (rows, distinct) = ([5, 40, 300][s.below(3)], [4, 50, 10_000][s.below(3)]);
        let table = table(&mut s, rows, distinct);
        let labels = classes(&mut s, &table, 2).signs().unwrap();
        let signed: Vec<f64> = labels.iter().map(|y| y * s.unit()).collect();
        let stump = best_exact(&table, &Sorted::new(&table), &signed).unwrap().unwrap();
        let sum: f64 = signed.iter().map(|w| w.abs()).sum();
        assert!((edge(&table, &signed, &stump) - stump.edge).abs() < 1e-12 * sum);
        // Every split in the order used to break ties; a split that sends all rows one way does not count.
        let all = splits(&table, &(0..rows).collect::<Vec<_>>());
        let proper = |split: &&geowalk::boost::split::Split| {
            let left = (0..rows).filter(|row| split.left(&table, *row)).count();
            0 < left && left < rows
        };
        let edges: Vec<(geowalk::boost::split::Split, f64)> = all
            .iter()
            .filter(proper)
            .map(|split| {
                (*split, edge(&table, &signed, &Stump { split: *split, sign: 1.0, edge: 0.0 }))
            })
            .collect();
        let most = edges.iter().map(|(_, edge)| edge.abs()).fold(0.0, f64::max);
        assert!((stump.edge - most).abs() <= 1e-12 * sum, "{} {most}", stump.edge);
        let first = edges.iter().find(|(_, edge)| edge.abs() >= most - 1e-12 * sum).unwrap();
        assert_eq!((stump.split, stump.sign), (first.0, if first.1 < 0.0 { -1.0 } else { 1.0 }));
        // Bins: the same result if there are few values, and never a better one.
        let binned = Binned::new(&table, 255).unwrap();
        let coarse = best_binned(&binned, &signed).unwrap().unwrap();
        assert!((edge(&table, &signed, &coarse) - coarse.edge).abs() < 1e-12 * sum);
        assert!(coarse.edge <= stump.edge + 1e-12 * sum);
        if distinct < 255 {
            assert_eq!((coarse.split, coarse.sign), (stump.split, stump.sign), "seed {seed}");
        }
        let (mut by_rows, mut by_bins) = (vec![0.5; rows], vec![0.5; rows]);
        coarse.add(&table, 0.25, &mut by_rows);
        coarse.add_binned(&binned, 0.25, &mut by_bins);
        assert_eq!(by_rows, by_bins);
        let value = |row| 0.5 + 0.25 * coarse.value(&table, row);
        assert!((0..rows).all(|row| by_rows[row] == value(row)));
    }
}

#[test]
fn idle_columns_have_no_stump() {
    let idle = Table::new(vec![
        Column::numeric("c", vec![7.0; 3]),
        Column::numeric("m", vec![f64::NAN; 3]),
        Column::nominal("n", vec![1; 3], ["x", "y"]),
        Column::boolean("b", vec![Some(true); 3]),
        Column::boolean("u", vec![None; 3]),
    ])
    .unwrap();
    let signed = [1.0, -1.0, 0.5];
    assert_eq!(best_exact(&idle, &Sorted::new(&idle), &signed).unwrap(), None);
    assert_eq!(best_binned(&Binned::new(&idle, 9).unwrap(), &signed).unwrap(), None);
    let error = best_exact(&idle, &Sorted::new(&idle), &[1.0]).unwrap_err().to_string();
    assert_eq!(error, "the list of signed weights has 1 values; the table has 3 rows");
    let error = best_exact(&idle, &Sorted::new(&idle), &[1.0, f64::NAN, 1.0]).unwrap_err();
    assert!(error.to_string().starts_with("the weight of row 2 is NaN"), "{error}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut s = Sampler::new(2);
    let table = table(&mut s, 30_000, 1_000_000);
    let signed: Vec<f64> = (0..30_000).map(|_| s.normal()).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let sorted = Sorted::new(&table);
            let binned = Binned::new(&table, 255).unwrap();
            (best_exact(&table, &sorted, &signed), best_binned(&binned, &signed))
        })
    };
    let one = run(1);
    assert!([2, 3, 5].into_iter().all(|threads| run(threads) == one));
}

/// All columns, missing values and names, with scores recomputed at round 64. Compares the fast path of the logistic
/// loss, for any number of threads, with the general path, which is used for weights of 2.
#[test]
fn boosted_stumps_are_the_same_by_every_way() {
    let mut s = Sampler::new(9);
    let table = table(&mut s, 40_000, 5000);
    let labels = classes(&mut s, &table, 2).signs().unwrap();
    let booster = Booster::new(Surrogate::parse("logistic").unwrap(), Stop::after(70).unwrap());
    let run = |threads, weights: Option<&[f64]>| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fit = || {
            let mut stumps = Stumps::new(&table, Some(40)).unwrap();
            let found = booster.fit(&mut stumps, &labels, weights, None, &mut |_, _| {}).unwrap();
            (found.hypotheses.clone(), found.alpha.clone(), found.rounds.clone(), found)
        };
        pool.install(fit)
    };
    let one = run(1, None);
    for threads in [2, 3] {
        let other = run(threads, None);
        assert_eq!((&one.0, &one.1, &one.2), (&other.0, &other.1, &other.2));
    }
    assert_eq!(error_of(&one.3.scores(&table), &labels, None), one.3.training_error());
    let general = run(1, Some(&vec![2.0; labels.len()]));
    assert_eq!(one.0, general.0);
    for (a, b) in one.1.iter().zip(&general.1) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
    for (a, b) in one.2.iter().zip(&general.2) {
        assert!((a.surrogate - b.surrogate).abs() < 1e-12 && a.error == b.error, "{a:?} {b:?}");
        assert!(a.slip < 1e-10 && a.residual < 1e-12 && (a.edge - b.edge).abs() < 1e-12, "{a:?}");
    }
}

/// AdaBoost with these stumps lowers the exponential risk by √(1 − γ²) in each round, exactly.
#[test]
fn boosted_stumps_follow_the_exponential_rate() {
    let mut s = Sampler::new(4);
    let table = table(&mut s, 500, 5000);
    let labels = classes(&mut s, &table, 2).signs().unwrap();
    let binned = Binned::new(&table, 64).unwrap();
    let (mut scores, mut before) = (vec![0.0; 500], 500.0);
    for _ in 0..30 {
        let weight = |row: usize| geowalk::Real::exp(-labels[row] * scores[row]);
        let signed: Vec<f64> = (0..500).map(|row| labels[row] * weight(row)).collect();
        let stump = best_binned(&binned, &signed).unwrap().unwrap();
        let gamma = stump.edge / before;
        let alpha = 0.5 * geowalk::Real::ln((1.0 + gamma) / (1.0 - gamma));
        stump.add(&table, alpha, &mut scores);
        let risk: f64 = (0..500).map(|row| geowalk::Real::exp(-labels[row] * scores[row])).sum();
        assert!((risk - before * (1.0 - gamma * gamma).sqrt()).abs() < 1e-9 * before);
        before = risk;
    }
    assert!(before < 485.0, "{before}");
}

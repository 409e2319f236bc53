//! Measures geowalk's trees, stumps and rules on a table in memory, phase by phase, as scikit-learn, LightGBM and
//! XGBoost are measured. Prints one JSON object.
//!
//! ```text
//! RAYON_NUM_THREADS=1 tables tree|exact-tree|stumps|rules ROUNDS d.csv d_test.csv
//! ```
//!
//! Tables come from `bench/workloads.py`: numbers with a header, the label 0 or 1 last. Reading them is not measured.

use std::error::Error;
use std::time::Instant;

use geowalk::boost::binned::Binned;
use geowalk::boost::rules::{RuleOptions, Rules};
use geowalk::boost::sorted::Sorted;
use geowalk::boost::stumps::Stumps;
use geowalk::boost::table::{Classes, Column, Table};
use geowalk::boost::tree::{Criterion, Growth, Tree};
use geowalk::boost::weak::Weak;
use geowalk::boost::{Booster, Stop, Surrogate};
use geowalk_bench::{say, timed};

type Outcome<T> = Result<T, Box<dyn Error>>;

const BINS: usize = 255;
const DEPTH: usize = 8;
const LITERALS: usize = 3;

fn read(path: &str) -> Outcome<(Table, Classes)> {
    let text = std::fs::read_to_string(path)?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().ok_or("no header")?.split(',').collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, field) in columns.iter_mut().zip(line.split(',')) {
            column.push(field.parse::<f64>()?);
        }
    }
    let codes = columns.pop().ok_or("no column")?.iter().map(|y| u32::from(*y > 0.5)).collect();
    let columns =
        columns.into_iter().zip(names).map(|(values, name)| Column::numeric(name, values));
    Ok((Table::new(columns.collect())?, Classes::new(codes, ["0", "1"])?))
}

/// The measurements of one learner.
struct Measured {
    prepare: f64,
    fit: f64,
    fit_wall: f64,
    predict: f64,
    /// Probabilities of the test rows.
    probabilities: Vec<f64>,
    /// Predicted classes of the test rows.
    positive: Vec<bool>,
}

/// Processor seconds, wall-clock seconds, and the result of `f`.
fn clocked<T>(f: impl FnOnce() -> T) -> (f64, f64, T) {
    let start = Instant::now();
    let (cpu, out) = timed(f);
    (cpu, start.elapsed().as_secs_f64(), out)
}

fn tree(exact: bool, train: &(Table, Classes), test: &Table) -> Outcome<Measured> {
    let (table, classes) = train;
    let growth = Growth { max_depth: Some(DEPTH), ..Growth::new(Criterion::parse("gini")?) };
    let (prepare, (fit, fit_wall, tree)) = if exact {
        let (prepare, sorted) = timed(|| Sorted::new(table));
        (prepare, clocked(|| Tree::exact_sorted(table, &sorted, classes, None, &growth)))
    } else {
        let (prepare, binned) = timed(|| Binned::new(table, BINS));
        let binned = binned?;
        (prepare, clocked(|| Tree::binned(&binned, classes, None, &growth)))
    };
    let tree = tree?;
    let (predict, leaves) = timed(|| tree.leaves_of(table));
    std::hint::black_box(leaves);
    let probabilities: Vec<f64> =
        tree.leaves_of(test).into_iter().map(|leaf| tree.probability(leaf, 1, 1.0)).collect();
    let positive = probabilities.iter().map(|p| *p > 0.5).collect();
    Ok(Measured { prepare, fit, fit_wall, predict, probabilities, positive })
}

fn boosted<'a>(
    rounds: usize,
    loss: &str,
    (table, classes): &'a (Table, Classes),
    test: &Table,
    prepared: impl FnOnce(&'a Table) -> Outcome<Box<dyn Weak + 'a>>,
) -> Outcome<Measured> {
    let labels = classes.signs()?;
    let (prepare, weak) = timed(|| prepared(table));
    let mut weak = weak?;
    let booster = Booster::new(Surrogate::parse(loss)?, Stop::after(rounds)?);
    let (fit, fit_wall, ensemble) =
        clocked(|| booster.fit(weak.as_mut(), &labels, None, None, &mut |_, _| {}));
    let ensemble = ensemble?;
    let (predict, scores) = timed(|| ensemble.scores(table));
    std::hint::black_box(scores);
    let scores = ensemble.scores(test);
    let probabilities = scores.iter().map(|score| ensemble.loss.probability(*score)).collect();
    let positive = scores.iter().map(|score| *score > 0.0).collect();
    Ok(Measured { prepare, fit, fit_wall, predict, probabilities, positive })
}

/// The area under the ROC curve: the fraction of pairs in the right order; ties count half.
fn auc(probabilities: &[f64], truth: &[u32]) -> f64 {
    let mut order: Vec<usize> = (0..truth.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let (mut sum, mut below) = (0.0, 0.0);
    for tied in order.chunk_by(|a, b| probabilities[*a] == probabilities[*b]) {
        let positive = tied.iter().filter(|row| truth[**row] == 1).count() as f64;
        let negative = tied.len() as f64 - positive;
        sum += positive * (below + 0.5 * negative);
        below += negative;
    }
    sum / (below * (truth.len() as f64 - below))
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, rounds, train, test] = arguments.as_slice() else {
        return Err("tables tree|exact-tree|stumps|rules ROUNDS TRAIN TEST".into());
    };
    let rounds: usize = rounds.parse()?;
    let (train, (test, truth)) = (read(train)?, read(test)?);
    let measured = match what.as_str() {
        "tree" => tree(false, &train, &test)?,
        "exact-tree" => tree(true, &train, &test)?,
        "stumps" => boosted(rounds, "logistic", &train, &test, |table| {
            Ok(Box::new(Stumps::new(table, Some(BINS))?))
        })?,
        "rules" => boosted(rounds, "exponential", &train, &test, |table| {
            let options = RuleOptions { literals: LITERALS, ..RuleOptions::default() };
            Ok(Box::new(Rules::new(table, options)?))
        })?,
        other => return Err(format!("{other}: not tree, exact-tree, stumps or rules").into()),
    };
    let of_truth = |(p, y): (&f64, &u32)| -(if *y == 1 { *p } else { 1.0 - p }).max(1e-12).ln();
    let pairs = measured.probabilities.iter().zip(truth.codes());
    let wrong = measured.positive.iter().zip(truth.codes()).filter(|(p, y)| **p != (**y == 1));
    let rows = truth.rows() as f64;
    say(&[
        ("bin_cpu", measured.prepare),
        ("fit_cpu", measured.fit),
        ("fit_wall", measured.fit_wall),
        ("predict_cpu", measured.predict),
        ("log_loss", pairs.map(of_truth).sum::<f64>() / rows),
        ("error", wrong.count() as f64 / rows),
        ("auc", auc(&measured.probabilities, truth.codes())),
    ]);
    Ok(())
}

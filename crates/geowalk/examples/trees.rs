//! How long trees and stumps take on a table: a CSV file of numbers with a header, the label 0 or 1 last.
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo run --release -p geowalk --example trees -- d.csv d_test.csv
//! ```

#![allow(clippy::print_stdout, clippy::unwrap_used)] // a program for people who measure

use std::time::Instant;

use geowalk::Real;
use geowalk::boost::binned::Binned;
use geowalk::boost::sorted::Sorted;
use geowalk::boost::stump::best_binned;
use geowalk::boost::table::{Classes, Column, Table};
use geowalk::boost::tree::{Criterion, Growth, Tree};

fn read(path: &str) -> (Table, Classes) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, field) in columns.iter_mut().zip(line.split(',')) {
            column.push(field.parse::<f64>().unwrap());
        }
    }
    let codes = columns.pop().unwrap().iter().map(|y| u32::from(*y > 0.5)).collect();
    let columns =
        columns.into_iter().zip(names).map(|(values, name)| Column::numeric(name, values));
    (Table::new(columns.collect()).unwrap(), Classes::new(codes, ["0", "1"]).unwrap())
}

/// Seconds of all threads on a processor, where the system tells (Linux, in hundredths): what counts on a machine that others use as well.
fn processor() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some((fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?) / 100.0)
}

fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let (start, before) = (Instant::now(), processor());
    let out = f();
    let wall = start.elapsed().as_secs_f64();
    let cpu = before.and_then(|before| processor().map(|after| format!("{:.2}", after - before)));
    println!("{what:32} {wall:8.3} s, {} s of processors", cpu.as_deref().unwrap_or("?"));
    out
}

fn log_loss(labels: &[f64], probability: impl Fn(usize) -> f64) -> f64 {
    let one = |(row, y): (usize, &f64)| {
        let p = if *y > 0.0 { probability(row) } else { 1.0 - probability(row) };
        -Real::ln(p.max(1e-15))
    };
    labels.iter().enumerate().map(one).sum::<f64>() / labels.len() as f64
}

fn main() {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let (table, classes) = timed("read", || read(&paths[0]));
    let (test, test_classes) = read(&paths[1]);
    let (labels, test_labels) = (classes.signs().unwrap(), test_classes.signs().unwrap());
    let sorted = timed("sort", || Sorted::new(&table));
    let binned = timed("bin", || Binned::new(&table, 255).unwrap());
    for name in ["gini", "entropy", "matsushita"] {
        let criterion = Criterion::parse(name).unwrap();
        let growth = Growth { max_depth: Some(8), ..Growth::new(criterion) };
        let exact = timed(&format!("tree of depth 8, exact, {name}"), || {
            Tree::exact_sorted(&table, &sorted, &classes, None, &growth).unwrap()
        });
        let bins = timed(&format!("tree of depth 8, bins, {name}"), || {
            Tree::binned(&binned, &classes, None, &growth).unwrap()
        });
        for (what, tree) in [("exact", exact), ("bins", bins)] {
            let leaves = tree.leaves_of(&test);
            let loss = log_loss(&test_labels, |row| tree.probability(leaves[row], 1, 1.0));
            println!("  {what}: {} leaves, log-loss {loss:.4}", tree.leaves().count());
        }
    }
    let growth = Growth { max_depth: Some(8), ..Growth::new(Criterion::default()) };
    let weights = vec![1.5; labels.len()];
    let tree = timed("the same with weights, bins", || {
        Tree::binned(&binned, &classes, Some(&weights), &growth).unwrap()
    });
    timed("predict with the tree", || tree.leaves_of(&table));
    let mut stumps = Vec::new();
    timed("100 boosted stumps (AdaBoost)", || {
        let mut scores = vec![0.0; labels.len()];
        let mut signed = labels.clone();
        for _ in 0..100 {
            let stump = best_binned(&binned, &signed).unwrap().unwrap();
            let gamma = stump.edge / signed.iter().map(|w| w.abs()).sum::<f64>();
            let alpha = 0.5 * Real::ln((1.0 + gamma) / (1.0 - gamma));
            stump.add_binned(&binned, alpha, &mut scores);
            for ((signed, y), score) in signed.iter_mut().zip(&labels).zip(&scores) {
                *signed = y * Real::exp(-y * score);
            }
            stumps.push((stump, alpha));
        }
    });
    let mut scores = vec![0.0; table.rows()];
    timed("predict with 100 stumps", || {
        for (stump, alpha) in &stumps {
            stump.add(&table, *alpha, &mut scores);
        }
    });
    let mut scores = vec![0.0; test.rows()];
    for (stump, alpha) in &stumps {
        stump.add(&test, *alpha, &mut scores);
    }
    let loss = log_loss(&test_labels, |row| 1.0 / (1.0 + Real::exp(-2.0 * scores[row])));
    println!("  log-loss {loss:.4}");
}

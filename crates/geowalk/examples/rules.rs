//! How long boosting takes: rules of three literals, and stumps, on numbers with an interaction and noise.
//!
//! `cargo run --release -p geowalk --example rules -- [ROWS] [COLUMNS] [ROUNDS] [FILE]`; with a file the data are written there as CSV, the last fifth for testing.

use std::fmt::Write as _;
use std::time::Instant;

use geowalk::boost::booster::error_of;
use geowalk::boost::rules::{RuleOptions, Rules, Search};
use geowalk::boost::stumps::Stumps;
use geowalk::boost::table::{Column, Table};
use geowalk::boost::weak::Weak;
use geowalk::boost::{Booster, Stop, Surrogate};
use geowalk::laws::Sampler;

#[allow(clippy::print_stdout, clippy::disallowed_types)] // the output of an example
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| {
        args.get(at).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (rows, columns, rounds) = (number(0, 50_000), number(1, 30), number(2, 100));
    let mut s = Sampler::new(1);
    let data: Vec<Vec<f64>> =
        (0..columns).map(|_| (0..rows).map(|_| s.normal()).collect()).collect();
    let labels: Vec<f64> = (0..rows)
        .map(|i| {
            let x = |k: usize| data[k % columns][i];
            let score = x(0) + 0.8 * x(1) - 0.6 * x(2)
                + x(3) * x(4)
                + 0.7 * s.normal()
                + if x(5) > 0.3 && x(6) < 0.5 && x(7) > -0.2 { 1.5 } else { -0.3 };
            if score > 0.0 { 1.0 } else { -1.0 }
        })
        .collect();
    if let Some(path) = args.get(3) {
        let mut text = String::new();
        for (i, y) in labels.iter().enumerate() {
            for column in &data {
                write!(text, "{},", column[i])?;
            }
            writeln!(text, "{y}")?;
        }
        std::fs::write(path, text)?;
    }
    let named = data.into_iter().enumerate().map(|(k, x)| Column::numeric(format!("x{k}"), x));
    let table = Table::new(named.collect())?;
    let cut = rows / 5 * 4;
    let part = |from: usize, to: usize| {
        table.select(&(from..to).filter_map(|row| u32::try_from(row).ok()).collect::<Vec<_>>())
    };
    let (train, test) = (part(0, cut)?, part(cut, rows)?);
    println!(
        "{cut} rows to learn from, {} to test, {columns} columns, {rounds} rounds",
        rows - cut
    );
    for loss in ["exponential", "matsushita", "entropy"] {
        let runs: [(&str, usize, Search); 4] = [
            ("rules, edge", 3, Search::Edge),
            ("rules, screened(4)", 3, Search::Screened(4)),
            ("rules, screened(8)", 3, Search::Screened(8)),
            ("stumps", 0, Search::Edge),
        ];
        for (name, literals, search) in runs {
            let start = Instant::now();
            let options = RuleOptions { literals, search, ..RuleOptions::default() };
            let mut weak: Box<dyn Weak> = if literals == 0 {
                Box::new(Stumps::new(&train, Some(255))?)
            } else {
                Box::new(Rules::new(&train, options)?)
            };
            let prepared = start.elapsed();
            let booster = Booster::new(Surrogate::parse(loss)?, Stop::after(rounds)?);
            let ensemble =
                booster.fit(weak.as_mut(), &labels[..cut], None, None, &mut |_, _| {})?;
            let seconds = start.elapsed();
            let error = error_of(&ensemble.scores(&test), &labels[cut..], None);
            println!(
                "{loss:>12} {name:<20} {:7.3} s (of it {:.3} s to prepare), training error {:.4}, test error {error:.4}",
                seconds.as_secs_f64(),
                prepared.as_secs_f64(),
                ensemble.training_error()
            );
        }
    }
    Ok(())
}

//! Searches for false certificates: `search [RUNS] [FIRST SEED]`. The exit code is 1 if one is found.

#![allow(clippy::print_stdout)] // the report

use std::process::ExitCode;

use geowalk_lab::search::search;

/// Maximum number of violations printed.
const SHOWN: usize = 20;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (runs, first) = (numbers.next().unwrap_or(Ok(10_000)), numbers.next().unwrap_or(Ok(0)));
    let (Ok(runs), Ok(first)) = (runs, first) else {
        println!("search [RUNS] [FIRST SEED]: two whole numbers are expected");
        return ExitCode::from(2);
    };
    let found = search(first, runs);
    println!(
        "{} runs, seeds {first} to {}; {} refused",
        found.runs,
        first + runs - 1,
        found.refused
    );
    println!("{:<24} {:>10} {:>10}", "theorem", "valid", "void");
    for (name, count) in &found.theorems {
        println!("{name:<24} {:>10} {:>10}", count.valid, count.void);
    }
    println!("violations {}", found.violations.len());
    for violation in found.violations.iter().take(SHOWN) {
        println!("  {violation}");
    }
    ExitCode::from(u8::from(!found.violations.is_empty()))
}

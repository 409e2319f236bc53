//! Fuzzes readers: `fuzz [N] [FIRST SEED] [TARGET]...` runs each target N times (all targets by default);
//! `fuzz show SEED TARGET` writes the input of a seed. Exit code 1 if a law is broken.

#![allow(clippy::print_stdout, clippy::print_stderr)] // the report

use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use geowalk_lab::fuzz::{TARGETS, Tally, Target};

/// Broken laws that are printed for each target.
const SHOWN: usize = 5;

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let show = args.first().is_some_and(|arg| arg == "show");
    if show {
        "1".clone_into(&mut args[0]);
    }
    let numbers: Vec<u64> = args.iter().map_while(|arg| arg.parse().ok()).take(2).collect();
    let named: Option<Vec<_>> =
        args[numbers.len()..].iter().map(|name| Target::named(name)).collect();
    let (count, first) =
        (numbers.first().copied().unwrap_or(1000), numbers.get(1).copied().unwrap_or(0));
    let Some(mut targets) = named else {
        let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("fuzz [N] [FIRST SEED] [TARGET]...; targets: {}", known.join(", "));
        return ExitCode::from(2);
    };
    if targets.is_empty() {
        targets.extend(&TARGETS);
    }
    geowalk_lab::fuzz::quiet();
    let mut broken = 0;
    let heading = ["target", "executions", "accepted", "refused", "broken", "slowest"];
    if !show {
        let [target, all, accepted, refused, broken, slowest] = heading;
        println!("{target:<10} {all:>12} {accepted:>12} {refused:>12} {broken:>7} {slowest:>10}");
    }
    for target in targets {
        let corpus = match target.corpus() {
            Ok(corpus) => corpus,
            Err(error) => {
                eprintln!("{}: {error}", target.name);
                return ExitCode::from(2);
            }
        };
        if show {
            let written = std::io::stdout().write_all(&target.input(&corpus, first));
            return ExitCode::from(u8::from(written.is_err()));
        }
        let mut tally = Tally::default();
        let start = Instant::now();
        for seed in first..first + count {
            // If the process is killed, the last line says where.
            if (seed - first).is_multiple_of(100_000) && seed > first {
                eprintln!("{} {seed} after {:.0} s", target.name, start.elapsed().as_secs_f64());
            }
            target.run(&corpus, seed, &mut tally);
        }
        println!(
            "{:<10} {:>12} {:>12} {:>12} {:>7} {:>7} ms",
            target.name,
            count,
            tally.accepted,
            tally.refused,
            tally.broken.len(),
            tally.slowest.0.as_millis()
        );
        for (seed, law) in tally.broken.iter().take(SHOWN) {
            println!("  seed {seed}: {law}");
        }
        broken += tally.broken.len();
    }
    ExitCode::from(u8::from(broken > 0))
}

//! What both programs need: processor time of the best of several runs, and one line of JSON. [`sparse`] is what the kernels share.

pub mod sparse;

use std::fmt::Write as _;

use cpu_time::ProcessTime;

/// Processor seconds of all threads of this process while `f` ran, and what it gave.
pub fn timed<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let start = ProcessTime::now();
    let out = f();
    (start.elapsed().as_secs_f64(), out)
}

/// The least processor seconds of so many runs.
pub fn best<T>(runs: usize, mut f: impl FnMut() -> T) -> f64 {
    (0..runs).map(|_| timed(|| std::hint::black_box(f())).0).fold(f64::INFINITY, f64::min)
}

/// Names and numbers as one JSON object on standard output, marked so that it is found among other lines.
pub fn say(values: &[(&str, f64)]) {
    let mut line = String::from("@@{");
    for (at, (name, value)) in values.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(line, "{comma}\"{name}\": {value:.9}");
    }
    println!("{line}}}");
}

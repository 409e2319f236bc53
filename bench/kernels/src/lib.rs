//! Shared code of the benchmark programs: processor time, the best of several runs, and JSON output. [`sparse`] has
//! the kernels.

pub mod sparse;

use std::fmt::Write as _;

use cpu_time::ProcessTime;

/// Processor seconds of all threads of this process during `f`, and its result.
pub fn timed<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let start = ProcessTime::now();
    let out = f();
    (start.elapsed().as_secs_f64(), out)
}

/// The minimum processor seconds of this number of runs.
pub fn best<T>(runs: usize, mut f: impl FnMut() -> T) -> f64 {
    (0..runs).map(|_| timed(|| std::hint::black_box(f())).0).fold(f64::INFINITY, f64::min)
}

/// Prints names and numbers as one JSON object, marked so that it can be found among other lines.
pub fn say(values: &[(&str, f64)]) {
    let mut line = String::from("@@{");
    for (at, (name, value)) in values.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        let _ = write!(line, "{comma}\"{name}\": {value:.9}");
    }
    println!("{line}}}");
}

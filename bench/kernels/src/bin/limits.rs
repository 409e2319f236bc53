//! Measures the limits of this machine: memory, files, and the fastest possible learning from sparse rows. Prints one
//! JSON object.
//!
//! ```text
//! limits a.vw a.csr RUNS
//! ```
//!
//! `a.vw` comes from `bench/workloads.py`; `a.csr` is written here and read again. Times are processor seconds of one
//! thread, the minimum of RUNS. The exception is `two_at_once`: the throughput of two independent threads divided by
//! that of one, by wall clock. It is below 2 if cores share hardware or are busy.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

use geowalk_bench::sparse::{Csr, PADDING, rows, score, step, zeros};
use geowalk_bench::{best, say};

/// Number of words read to measure memory bandwidth: more than any cache holds.
const WORDS: usize = 1 << 27;
/// Bytes per call of read().
const BUFFER: usize = 1 << 18;
const RATE: f32 = 0.5;

fn sum(words: &[u64]) -> u64 {
    let mut sums = [0_u64; 64];
    let (chunks, _) = words.as_chunks::<64>();
    for chunk in chunks {
        for (sum, word) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().fold(0, |a, b| a.wrapping_add(*b))
}

/// Number of bytes of a file, read with read().
fn read_through(path: &str) -> std::io::Result<usize> {
    let (mut file, mut buffer, mut total) = (File::open(path)?, vec![0; BUFFER], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(total),
            count => total += count,
        }
    }
}

/// Passes on the text in padded pieces that end with a row, as a program with constant memory reads it.
fn pieces(path: &str, mut each: impl FnMut(&[u8], usize)) -> std::io::Result<()> {
    let (mut file, mut buffer, mut kept) = (File::open(path)?, vec![0; BUFFER + PADDING], 0);
    loop {
        let count = file.read(&mut buffer[kept..BUFFER])?;
        let len = kept + count;
        let whole = buffer[..len].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        each(&buffer, whole);
        buffer.copy_within(whole..len, 0);
        kept = len - whole;
        if count == 0 {
            return Ok(());
        }
    }
}

/// Learns the rows of the binary file as they are read.
fn learn_binary(path: &str, rate: f32) -> std::io::Result<f64> {
    let (mut file, mut buffer, mut kept, mut loss) =
        (File::open(path)?, vec![0_u8; BUFFER], 0, 0.0);
    let (mut weights, mut places, mut values) = (zeros(), vec![0_u32; 512], vec![0_f32; 512]);
    loop {
        let count = file.read(&mut buffer[kept..])?;
        let mut rest = &buffer[..kept + count];
        while let Some((head, after)) = rest.split_first_chunk::<8>() {
            let [a, b, c, d, e, f, g, h] = *head;
            let n = u32::from_le_bytes([a, b, c, d]) as usize;
            let Some((row, next)) = after.split_at_checked(8 * n) else { break };
            let (p, v) = row.split_at(4 * n);
            for (to, from) in places.iter_mut().zip(p.as_chunks::<4>().0) {
                *to = u32::from_le_bytes(*from);
            }
            for (to, from) in values.iter_mut().zip(v.as_chunks::<4>().0) {
                *to = f32::from_le_bytes(*from);
            }
            let y = f32::from_le_bytes([e, f, g, h]);
            loss += f64::from(step(&mut weights, rate, y, &places[..n], &values[..n]));
            rest = next;
        }
        let left = rest.len();
        let len = kept + count;
        buffer.copy_within(len - left..len, 0);
        kept = left;
        if count == 0 {
            return Ok(loss);
        }
    }
}

/// The loss of one pass over text in memory.
fn learn_text(text: &[u8], len: usize) -> f64 {
    let (mut weights, mut loss) = (zeros(), 0.0);
    rows(text, len, |y, p, x| loss += f64::from(step(&mut weights, RATE, y, p, x)));
    loss
}

/// The minimum wall-clock seconds of this number of runs.
fn wall<T>(runs: usize, mut f: impl FnMut() -> T) -> f64 {
    let one = |_| {
        let start = Instant::now();
        black_box(f());
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(one).fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, binary, runs] = arguments.as_slice() else {
        return Err("limits TEXT BINARY RUNS".into());
    };
    let runs: usize = runs.parse()?;
    let words = vec![3_u64; WORDS];
    let memory = best(runs, || sum(black_box(&words)));
    drop(words);

    let mut text = std::fs::read(path)?;
    let len = text.len();
    text.resize(len + PADDING, 0);
    read_through(path)?;
    let file = best(runs, || read_through(path));
    let parse = best(runs, || {
        let mut seen = 0.0;
        rows(&text, len, |y, p, x| seen += y + p[0] as f32 + x[x.len() - 1]);
        seen
    });
    let parse_step = best(runs, || learn_text(&text, len));
    let alone = wall(runs, || learn_text(&text, len));
    let both = wall(runs, || {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| learn_text(&text, len));
            learn_text(&text, len) + other.join().unwrap_or(f64::NAN)
        })
    });
    let text_step = best(runs, || {
        let (mut weights, mut loss) = (zeros(), 0.0);
        let done = pieces(path, |piece, len| {
            rows(piece, len, |y, p, x| loss += f64::from(step(&mut weights, RATE, y, p, x)));
        });
        (done.is_ok(), loss)
    });
    let csr = Csr::parse(&text, len);
    drop(text);
    let mut weights = zeros();
    let loss = csr.learn(&mut weights, RATE);
    let csr_step = best(runs, || csr.learn(&mut zeros(), RATE));
    let csr_score = best(runs, || {
        let (mut start, mut sum) = (0, 0.0);
        for end in &csr.ends {
            sum += score(&weights, &csr.places[start..*end], &csr.values[start..*end]);
            start = *end;
        }
        sum
    });
    std::fs::write(binary, csr.bytes())?;
    let binary_step = best(runs, || learn_binary(binary, RATE));
    let binary_loss = learn_binary(binary, RATE)?;
    let examples = csr.labels.len() as f64;
    say(&[
        ("examples", examples),
        ("features", csr.places.len() as f64),
        ("memory_bytes_per_s", WORDS as f64 * 8.0 / memory),
        ("read_bytes_per_s", len as f64 / file),
        ("parse_examples_per_s", examples / parse),
        ("parse_step_examples_per_s", examples / parse_step),
        ("text_step_examples_per_s", examples / text_step),
        ("csr_step_examples_per_s", examples / csr_step),
        ("csr_score_examples_per_s", examples / csr_score),
        ("binary_step_examples_per_s", examples / binary_step),
        ("two_at_once", 2.0 * alone / both),
        ("loss", loss / examples),
        ("binary_loss", binary_loss / examples),
    ]);
    Ok(())
}

//! Writes a deterministic file, or reads one and prints the number of rows and features: something to count instructions of.
//!
//! ```text
//! parse write vw 12000 > a.vw        libsvm, vw or csv; ~70 features a row
//! parse read vw a.vw
//! ```

use std::io::{BufWriter, Write};

use geowalk::row::{Block, Row};
use geowalk_data::{Options, open};

#[expect(clippy::print_stdout, reason = "an example talks")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", format, rows] => write(format, rows.parse()?)?,
        ["read", format, path] => {
            let options = Options { format: Some(format.to_owned()), ..Options::new([path]) };
            let mut source = open(options)?;
            let mut block = Block::new();
            let (mut rows, mut features, mut bound) = (0, 0, 0);
            while source.read(&mut block, 1000)? > 0 {
                rows += block.len();
                features += block.stored();
                bound = bound.max(block.sparse(0).bound());
            }
            println!("{rows} rows, {features} features, bound {bound}");
        }
        _ => println!("usage: parse write FORMAT ROWS | parse read FORMAT PATH"),
    }
    Ok(())
}

/// SplitMix64.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn write(format: &str, rows: usize) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut state = 1;
    if format == "csv" {
        let names: Vec<String> = (0..70).map(|k| format!("x{k}")).collect();
        writeln!(out, "y,{}", names.join(","))?;
    }
    for _ in 0..rows {
        let label = if next(&mut state).is_multiple_of(2) { "-1" } else { "1" };
        write!(out, "{label}{}", if format.starts_with("vw") { " |f" } else { "" })?;
        let count = if format == "csv" { 70 } else { 60 + next(&mut state) % 21 };
        let mut index = 0;
        for _ in 0..count {
            index += 1 + next(&mut state) % 1300;
            let value = next(&mut state) % 100_000;
            match format {
                "csv" => write!(out, ",0.{value:05}")?,
                "vw-words" => write!(out, " word{index}:0.{value:05}")?,
                _ => write!(out, " {index}:0.{value:05}")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

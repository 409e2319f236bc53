//! Experiments without the command line, which takes long to build: `cargo run --release -p geowalk-papers --example run -- DIR small|full SEED NAME...`

use std::io::{self, Write};
use std::time::Instant;

use geowalk_papers::repro::Settings;
use geowalk_papers::{EXPERIMENTS, Size};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, size, seed, names @ ..] = args.as_slice() else {
        return Err("DIR small|full SEED NAME...".into());
    };
    let size = if size == "small" { Size::Small } else { Size::Full };
    let settings = Settings {
        out: out.into(),
        size,
        seed: seed.parse()?,
        version: "example".to_owned(),
        again: true,
        domains: Vec::new(),
        flags: format!("--seed {seed}"),
    };
    for experiment in
        EXPERIMENTS.iter().filter(|e| names.is_empty() || names.iter().any(|name| name == e.name))
    {
        let begun = Instant::now();
        let (outcome, _) = settings.carry_out(experiment, &mut |_| ())?;
        let mut out = io::stdout().lock();
        writeln!(out, "{}  {:.1} s", experiment.name, begun.elapsed().as_secs_f64())?;
        for f in &outcome.findings {
            writeln!(
                out,
                "  {} {}: expected {}, measured {}",
                if f.met { "ok " } else { "NOT" },
                f.what,
                f.expected,
                f.measured
            )?;
        }
    }
    writeln!(io::stdout(), "{}", settings.write_page()?.display())?;
    Ok(())
}

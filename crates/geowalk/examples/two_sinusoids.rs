//! Two recurrences at once: a series that is a sum of two sinusoids has windows of 6 numbers in a space of 4, so that two
//! directions are orthogonal to all of them. The frequencies are the angles at which every sinusoid loses nothing.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use geowalk::matrix::NullSpace;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const N: usize = 6;
    let frequencies = [0.5_f64, 1.3];
    let mut noise = 1_u64;
    let series: Vec<f64> = (0..20_000)
        .map(|t| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let small = 0.02 * ((noise >> 33) as f64 / f64::from(1 << 30) - 1.0);
            frequencies.iter().map(|f| (f * f64::from(t)).sin()).sum::<f64>() + small
        })
        .collect();
    let mut null = NullSpace::new(N, N - 4, 1)?;
    for (t, window) in series.windows(N).enumerate() {
        null.step(window, (20.0 / (t as f64 + 40.0)).min(0.5))?;
    }
    // What the sinusoid of a frequency loses, by its two phases.
    let loss = |f: f64| {
        let wave =
            |phase: f64| -> Vec<f64> { (0..N).map(|i| (f * i as f64 + phase).sin()).collect() };
        null.loss_of(&wave(0.0)).and_then(|a| Ok(a + null.loss_of(&wave(1.0))?))
    };
    let losses: Vec<f64> =
        (0..3000).map(|i| loss(0.05 + 0.001 * f64::from(i))).collect::<Result<_, _>>()?;
    for (i, w) in
        losses.windows(3).enumerate().filter(|(_, w)| w[1] < w[0] && w[1] < w[2] && w[1] < 0.01)
    {
        println!("frequency {:.3} (loss {:.1e})", 0.051 + 0.001 * i as f64, w[1]);
    }
    Ok(())
}

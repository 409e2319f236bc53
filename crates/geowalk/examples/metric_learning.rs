//! A metric from pairs: the squared distance of two points that people see is that along two hidden directions of twenty.
//! Matrix exponentiated gradient finds it from fewer pairs than gradient descent on all entries of the matrix.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use geowalk::laws::Sampler;
use geowalk::loss::Squared;
use geowalk::matrix::{MatrixEntropy, MatrixTwin, SpdWalk};
use geowalk::{Learner, row::Dense, row::Row};

const N: usize = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sampler = Sampler::new(1);
    let hidden: [Vec<f64>; 2] = std::array::from_fn(|_| sampler.vector::<f64>(N));
    let mut eg = MatrixEntropy::density(N)?;
    let mut twin = MatrixTwin::density(N)?;
    let mut spd = SpdWalk::new(N, 1.0 / N as f64)?;
    // On rows of length 1 the rate ½ makes every row right that was just seen.
    let mut straight = Learner::new("gd", "squared", 0.5)?;
    let (mut losses, mut rows) = ([0.0; 4], 0);
    for t in 1..=1000 {
        let mut x = sampler.vector::<f64>(N);
        let size = Dense(&x).length();
        x.iter_mut().for_each(|x| *x *= 3.0 / size);
        let part = |h: &Vec<f64>| (Dense(h).dot(&x) / Dense(h).length()).powi(2) / 2.0;
        let y: f64 = hidden.iter().map(part).sum();
        let outer: Vec<f64> = x.iter().flat_map(|a| x.iter().map(move |b| a * b / 9.0)).collect();
        losses[0] += eg.step(&x, y.into(), &Squared, 0.1)?.loss;
        losses[1] += twin.step(&x, y.into(), &Squared, 0.1)?.loss;
        losses[2] += spd.step(&x, y.into(), &Squared, 0.1)?.loss;
        losses[3] += straight.learn(&outer, y)?.loss;
        rows += 1;
        if [100, 300, 1000].contains(&t) {
            let [eg, twin, spd, gd] = losses.map(|loss| loss / f64::from(rows));
            println!(
                "pairs to {t:>4}: matrix-EG {eg:.4}, twin {twin:.4}, geodesic {spd:.4}, gradient descent {gd:.4}"
            );
            (losses, rows) = ([0.0; 4], 0);
        }
    }
    println!("{}", eg.certificate().ok_or("no bound")?);
    Ok(())
}

//! Any smooth cost on any manifold: the leading eigenvectors of a matrix as a point of the Grassmann manifold.
#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program for people, with the functions they know
use geowalk::geometry::{Manifold, Work, manifolds::Grassmann};
use geowalk::laws::Sampler;
use geowalk::optimize::{Minimizer, Rule};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (n, k) = (6, 2);
    // A = diag(6, 5, 4, 3, 2, 1): the best subspace is that of the first two axes, and the cost there −11.
    let mut cost = |p: &[f64], gradient: Option<&mut [f64]>| -> f64 {
        let a = |row: usize| (n - row) as f64;
        if let Some(gradient) = gradient {
            gradient.iter_mut().enumerate().for_each(|(i, g)| *g = -2.0 * a(i / k) * p[i]);
        }
        -p.iter().enumerate().map(|(i, p)| a(i / k) * p * p).sum::<f64>()
    };
    let manifold = Grassmann::new(n, k)?;
    let mut start = vec![0.0; n * k];
    let mut sampler = Sampler::new(1);
    manifold.random(&mut || sampler.normal(), &mut start, &mut Work::new());
    let found = Minimizer::new(Rule::ConjugateGradient).run(&manifold, &mut cost, &start)?;
    println!("cost {:.12} after {} steps: {}", found.value, found.steps, found.reason);
    assert!((found.value + 11.0).abs() < 1e-9);
    Ok(())
}

//! The convergence rate of natural gradient: the eigenvalues of G⁻¹H, from 1 down to nearly 0 as the classes separate.

use geowalk::laws::Sampler;
use geowalk::{ConfigError, Real};
use geowalk_page::{Plot, Table};

use super::condition::gaussian;
use super::sample::{cholesky, forward, log_sum};
use crate::{Experiment, Finding, Outcome, Run, Size};

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "natural-spectrum",
    paper: "SC21, section 5; the bound on the eigenvalues is not in the paper",
    what: "With γ = c/t the rate of convergence needs c λ > ½ for the least eigenvalue λ of G⁻¹H, which lies in (0, 1]: near 1 for classes that overlap, small for classes that are far apart. Hence averages.",
    run,
};

/// The eigenvalues of a symmetric matrix, ascending, by Jacobi's rotations.
fn eigenvalues(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for _ in 0..60 {
        let off: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i * n + j] * a[i * n + j])
            .sum();
        if off < 1e-24 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                let both = a[p * n + q];
                if both.abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * both);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The eigenvalues of G⁻¹H at the true parameters of Gaussian classes with means `separation` apart, without those of
/// directions that change nothing.
fn spectrum(d: usize, s: usize, n: usize, separation: f64, random: &mut Sampler) -> Vec<f64> {
    let sample = gaussian((d, s, n), 1.0, separation, random);
    let (_, means) = sample.means();
    let (w, k) = (d + 1, s * (d + 1));
    let (mut g, mut h) = (vec![0.0; k * k], vec![0.0; k * k]);
    for x in &sample.rows {
        let logit =
            |c: usize| -0.5 * x.iter().zip(&means[c]).map(|(x, m)| (x - m) * (x - m)).sum::<f64>();
        let z: Vec<f64> = (0..s).map(logit).collect();
        let all = log_sum(&z);
        let q: Vec<f64> = z.iter().map(|z| Real::exp(z - all)).collect();
        let phi = |i: usize| if i == 0 { 1.0 } else { x[i - 1] };
        for b in 0..s {
            for c in 0..s {
                for i in 0..w {
                    for j in 0..w {
                        let at = (b * w + i) * k + c * w + j;
                        let own = if b == c { q[b] } else { 0.0 };
                        g[at] += own * phi(i) * phi(j);
                        h[at] += (own - q[b] * q[c]) * phi(i) * phi(j);
                    }
                }
            }
        }
    }
    // L⁻¹ H L⁻ᵀ with G = L Lᵀ: columns, then rows.
    let l = cholesky(g, k);
    for _ in 0..2 {
        let mut turned = vec![0.0; k * k];
        for i in 0..k {
            let mut column: Vec<f64> = (0..k).map(|j| h[j * k + i]).collect();
            forward(&l, k, &mut column);
            turned[i * k..(i + 1) * k].copy_from_slice(&column);
        }
        h = turned;
    }
    eigenvalues(h, k).split_off(w)
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of all experiments")]
fn run(run: &mut Run<'_>) -> Result<Outcome, ConfigError> {
    let mut outcome = Outcome::new();
    let (d, s, n) = run.size.pick((8, 4, 1000), (20, 4, 10_000));
    let cases = [(0.5, 0.93, 0.97), (1.0, 0.77, 0.89), (2.0, 0.42, 0.63), (4.0, 0.07, 0.19)];
    let mut table = Table::new([
        "separation",
        "least",
        "median",
        "largest",
        "least expected",
        "median expected",
    ])
    .caption(
        "Eigenvalues of G⁻¹H at the truth; the expected ones are those of another random draw",
    );
    let mut points = Vec::new();
    for (at, (separation, low, middle)) in cases.into_iter().enumerate() {
        let found = spectrum(d, s, n, separation, &mut Sampler::new(run.seed + 6));
        let (least, median, largest) = (found[0], found[found.len() / 2], found[found.len() - 1]);
        table.push([separation, least, median, largest, low, middle].map(Into::into));
        outcome.find(Finding::between(
            format!("largest, separation {separation}"),
            largest,
            0.0,
            1.0 + 1e-9,
        ));
        outcome.find(Finding::above(format!("least, separation {separation}"), least, 0.0));
        // The expected eigenvalues are for the full dimension.
        if run.size == Size::Full {
            outcome.find(Finding::equal(
                format!("least, as another program found it, separation {separation}"),
                least,
                low,
                0.15,
            ));
            outcome.find(Finding::equal(
                format!("median, separation {separation}"),
                median,
                middle,
                0.15,
            ));
        }
        points.push((separation, least, median));
        run.done(at + 1, cases.len());
    }
    outcome.find(Finding::above("least where classes overlap (separation ½)", points[0].1, 0.8));
    outcome.find(Finding::at_most("least where they are far apart (4)", points[3].1, 0.35));
    let falls = points.windows(2).all(|pair| pair[1].1 < pair[0].1);
    outcome.find(Finding::new(
        "the least eigenvalue falls with the separation",
        "yes",
        if falls { "yes" } else { "no" },
        falls,
    ));
    outcome.table("eigenvalues", table);
    outcome.picture(
        "eigenvalues",
        Plot::new("Eigenvalues of G⁻¹H")
            .x("separation of the classes")
            .y("eigenvalue")
            .line("least", points.iter().map(|p| (p.0, p.1)))
            .line("median", points.iter().map(|p| (p.0, p.2))),
    );
    Ok(outcome)
}

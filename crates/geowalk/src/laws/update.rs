//! Laws of updates.

use super::{Broken, Sampler, demand, gap, size, succeed};
use crate::Real;
use crate::loss::{Loss, Squared};
use crate::row::{Dense, Row, Sparse};
use crate::update::Update;

/// Every law, on one random case that starts at the weights `w`.
pub fn all<F: Real, U: Update<F>>(
    update: &U,
    w: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    sparse_is_dense(update, w, sampler)?;
    rate_zero_stays(update, w, sampler)?;
    short_steps_descend(update, w, sampler)
}

/// A random sparse row: indices and values.
fn row<F: Real>(n: usize, sampler: &mut Sampler) -> (Vec<u32>, Vec<F>) {
    let first = sampler.below(n);
    let indices: Vec<u32> = (0..n)
        .filter(|&i| i == first || sampler.unit() < 0.5)
        .filter_map(|i| i.try_into().ok())
        .collect();
    let values = sampler.vector(indices.len());
    (indices, values)
}

/// The same example as a dense and as a sparse row moves the weights alike.
pub fn sparse_is_dense<F: Real, U: Update<F>>(
    update: &U,
    w: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let n = w.len();
    let mut states = [
        succeed("the update starts", update.start(w), sampler)?,
        succeed("the update starts", update.start(w), sampler)?,
    ];
    for _ in 0..5 {
        let (indices, values) = row::<F>(n, sampler);
        let mut dense = vec![F::ZERO; n];
        let sparse = succeed("rows are well formed", Sparse::new(&indices, &values), sampler)?;
        sparse.axpy(F::ONE, &mut dense);
        let y = sampler.normal();
        let [a, b] = &mut states;
        let from_sparse = update.step(a, sparse, y.into(), &Squared, 0.01);
        let from_dense = update.step(b, Dense(&dense), y.into(), &Squared, 0.01);
        let same = from_sparse.is_ok() == from_dense.is_ok();
        demand("both steps succeed or neither", f64::from(u8::from(!same)), 0.0, sampler)?;
    }
    let (mut a, mut b) = (vec![F::ZERO; n], vec![F::ZERO; n]);
    update.read(&states[0], &mut a);
    update.read(&states[1], &mut b);
    demand("sparse = dense", gap(&a, &b), F::EPSILON.f64() * 1e3 * (1.0 + size(&a)), sampler)
}

/// A step of rate 0 moves nothing, and reports the prediction and loss of where it is.
pub fn rate_zero_stays<F: Real, U: Update<F>>(
    update: &U,
    w: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut state = succeed("the update starts", update.start(w), sampler)?;
    let x: Vec<F> = sampler.vector(w.len());
    let y = sampler.normal();
    let z = update.predict(&state, Dense(&x)).f64();
    let round = succeed(
        "a step of rate 0 succeeds",
        update.step(&mut state, Dense(&x), y.into(), &Squared, 0.0),
        sampler,
    )?;
    demand("the round reports the prediction", (round.z - z).abs(), 0.0, sampler)?;
    demand("the round reports the loss", (round.loss - Squared.value(z, y)).abs(), 0.0, sampler)?;
    let mut after = vec![F::ZERO; w.len()];
    update.read(&state, &mut after);
    demand("rate 0 stays", gap(&after, w), F::EPSILON.f64() * 1e3 * (1.0 + size(w)), sampler)
}

/// A short step lowers the loss of the example it saw (the direction is a descent direction in every geometry).
pub fn short_steps_descend<F: Real, U: Update<F>>(
    update: &U,
    w: &[F],
    sampler: &mut Sampler,
) -> Result<(), Broken> {
    let mut state = succeed("the update starts", update.start(w), sampler)?;
    let x: Vec<F> = sampler.vector(w.len());
    let y = update.predict(&state, Dense(&x)).f64() + 0.1 * sampler.sign();
    let round = succeed(
        "a short step succeeds",
        update.step(&mut state, Dense(&x), y.into(), &Squared, 1e-3),
        sampler,
    )?;
    let after = Squared.value(update.predict(&state, Dense(&x)).f64(), y);
    demand(
        "a short step lowers the loss",
        after - round.loss,
        F::EPSILON.f64() * 1e3 * (1.0 + size(&x)),
        sampler,
    )
}

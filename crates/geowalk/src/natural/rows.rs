//! # Operations on rows of numbers
//! Sums $\mathrm{out} \mathrel{+}= \sum_k f_k\,\mathrm{row}_k$ over consecutive rows (products of a matrix with a
//! vector, logits of all classes), and uniform changes of all numbers of a row.
//!
//! **Cost** Numbers are processed in arrays of four, the vector width of most processors. A row of twenty classes is
//! five arrays; the compiler would split a plain loop into sixteen and four single numbers. Sixteen numbers are
//! written as four consecutive arrays, because the compiler takes a loop over single arrays for a strided loop, and
//! shuffles. Sums over all rows keep up to eight arrays in registers from the first row to the last, because storing
//! and loading them takes longer than the additions. Sums over some rows take four rows at a time, so `out` is loaded
//! and stored once per four rows. **Care** Terms are added in the order of the rows, so the bits are the same as row
//! by row.

use crate::real::lanes;

/// Maximum number of rows added together.
const TOGETHER: usize = 4;

/// Number of arrays of four held in registers. There are sixteen registers, and products need a few.
const HELD: usize = 8;

/// out += Σ f·row over pairs (row number, f), with `width` numbers per row. Missing rows count as 0.
#[inline(always)]
pub(crate) fn combine(
    cells: &[f64],
    width: usize,
    picks: impl Iterator<Item = (usize, f64)>,
    out: &mut [f64],
) {
    let n = width.min(out.len());
    let out = &mut out[..n];
    let mut rows: [&[f64]; TOGETHER] = [&[]; TOGETHER];
    let mut factors = [0.0; TOGETHER];
    let mut held = 0;
    for (j, factor) in picks {
        let Some(row) = cells.get(j * width..j * width + n) else { continue };
        (rows[held], factors[held]) = (row, factor);
        held += 1;
        if held == TOGETHER {
            four(out, rows, factors);
            held = 0;
        }
    }
    for (row, &factor) in rows.iter().zip(&factors).take(held) {
        change(out, row, row, |out, x, _| out + factor * x);
    }
}

/// out += Σ f·row over all rows, in order.
pub(crate) fn combine_all(cells: &[f64], width: usize, factors: &[f64], out: &mut [f64]) {
    lanes::widely(
        #[inline(always)]
        || hold_all(cells, width, factors, out),
    );
}

#[inline(always)]
fn hold_all(cells: &[f64], width: usize, factors: &[f64], out: &mut [f64]) {
    if out.len() < width {
        return;
    }
    let out = &mut out[..width];
    let Some(&last) = out.last_chunk::<4>() else {
        for (row, &factor) in cells.chunks_exact(width.max(1)).zip(factors) {
            change(out, row, row, |out, x, _| out + factor * x);
        }
        return;
    };
    let rows = (cells, width, factors);
    let (mut first, mut left) = (0, width.div_ceil(4));
    while left > HELD {
        let at = first + 4 * (HELD - 1);
        let begun = array(out, at);
        hold::<HELD>(rows, first, (at, begun), out);
        (first, left) = (first + 4 * HELD, left - HELD);
    }
    let last = (width - 4, last);
    match left {
        1 => hold::<1>(rows, first, last, out),
        2 => hold::<2>(rows, first, last, out),
        3 => hold::<3>(rows, first, last, out),
        4 => hold::<4>(rows, first, last, out),
        5 => hold::<5>(rows, first, last, out),
        6 => hold::<6>(rows, first, last, out),
        7 => hold::<7>(rows, first, last, out),
        _ => hold::<HELD>(rows, first, last, out),
    }
}

/// Four numbers, from an index on.
#[inline(always)]
fn array(x: &[f64], at: usize) -> [f64; 4] {
    let mut four = [0.0; 4];
    four.copy_from_slice(&x[at..at + 4]);
    four
}

/// The sums of V adjacent arrays of four columns, from column `first` on. The last array has a separate position and
/// initial sum: if the width is not a multiple of four, it overlaps the previous array and computes the same sums
/// there. shares columns with the one before, and comes to the same sums there.
#[inline(always)]
fn hold<const V: usize>(
    (cells, width, factors): (&[f64], usize, &[f64]),
    first: usize,
    (at, begun): (usize, [f64; 4]),
    out: &mut [f64],
) {
    let mut sums = [begun; V];
    for (k, sum) in sums.iter_mut().enumerate().take(V - 1) {
        *sum = array(out, first + 4 * k);
    }
    for (row, &factor) in cells.chunks_exact(width).zip(factors) {
        let (head, tail) = (&row[first..first + 4 * (V - 1)], array(row, at));
        for (k, sum) in sums.iter_mut().enumerate() {
            let x = if k + 1 < V { array(head, 4 * k) } else { tail };
            for i in 0..4 {
                sum[i] += factor * x[i];
            }
        }
    }
    for (k, sum) in sums.iter().enumerate().take(V - 1) {
        out[first + 4 * k..first + 4 * k + 4].copy_from_slice(sum);
    }
    out[at..at + 4].copy_from_slice(&sums[V - 1]);
}

#[inline(always)]
fn four(out: &mut [f64], rows: [&[f64]; TOGETHER], f: [f64; TOGETHER]) {
    let n = out.len();
    let (y16, y) = out.as_chunks_mut::<16>();
    let ((a16, a), (b16, b)) = (rows[0][..n].as_chunks::<16>(), rows[1][..n].as_chunks::<16>());
    let ((c16, c), (d16, d)) = (rows[2][..n].as_chunks::<16>(), rows[3][..n].as_chunks::<16>());
    let all = a16.iter().zip(b16).zip(c16.iter().zip(d16));
    for (y, ((a, b), (c, d))) in y16.iter_mut().zip(all) {
        let (y, a, b) = (y.as_chunks_mut().0, a.as_chunks().0, b.as_chunks().0);
        let (c, d) = (c.as_chunks().0, d.as_chunks().0);
        for k in 0..4 {
            add_four(&mut y[k], &a[k], &b[k], &c[k], &d[k], f);
        }
    }
    let (y4, y) = y.as_chunks_mut();
    let ((a4, a), (b4, b)) = (a.as_chunks(), b.as_chunks());
    let ((c4, c), (d4, d)) = (c.as_chunks(), d.as_chunks());
    let all = a4.iter().zip(b4).zip(c4.iter().zip(d4));
    for (y, ((a, b), (c, d))) in y4.iter_mut().zip(all) {
        add_four(y, a, b, c, d, f);
    }
    for (y, ((a, b), (c, d))) in y.iter_mut().zip(a.iter().zip(b).zip(c.iter().zip(d))) {
        *y = *y + f[0] * a + f[1] * b + f[2] * c + f[3] * d;
    }
}

/// Four numbers of the sum.
#[inline(always)]
fn add_four(
    y: &mut [f64; 4],
    a: &[f64; 4],
    b: &[f64; 4],
    c: &[f64; 4],
    d: &[f64; 4],
    f: [f64; TOGETHER],
) {
    // Everything is read before anything is written, so the arrays may overlap.
    let (mut sum, a, b, c, d) = (*y, *a, *b, *c, *d);
    for i in 0..4 {
        sum[i] = sum[i] + f[0] * a[i] + f[1] * b[i] + f[2] * c[i] + f[3] * d[i];
    }
    *y = sum;
}

/// y ← f(y, a, b), element by element, up to the shortest length.
#[inline(always)]
pub(crate) fn change(y: &mut [f64], a: &[f64], b: &[f64], f: impl Fn(f64, f64, f64) -> f64) {
    let n = y.len().min(a.len()).min(b.len());
    let (y16, y) = y[..n].as_chunks_mut::<16>();
    let ((a16, a), (b16, b)) = (a[..n].as_chunks::<16>(), b[..n].as_chunks::<16>());
    for ((y, a), b) in y16.iter_mut().zip(a16).zip(b16) {
        let (y, a, b) = (y.as_chunks_mut().0, a.as_chunks().0, b.as_chunks().0);
        for k in 0..4 {
            change_four(&mut y[k], &a[k], &b[k], &f);
        }
    }
    let (y4, y) = y.as_chunks_mut();
    let ((a4, a), (b4, b)) = (a.as_chunks(), b.as_chunks());
    for ((y, a), b) in y4.iter_mut().zip(a4).zip(b4) {
        change_four(y, a, b, &f);
    }
    for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
        *y = f(*y, a, b);
    }
}

#[inline(always)]
fn change_four(y: &mut [f64; 4], a: &[f64; 4], b: &[f64; 4], f: &impl Fn(f64, f64, f64) -> f64) {
    let (mut new, a, b) = (*y, *a, *b);
    for i in 0..4 {
        new[i] = f(new[i], a[i], b[i]);
    }
    *y = new;
}

/// (y, z) ← f(y, z, a, b), element by element, up to the shortest length.
#[inline(always)]
pub(crate) fn change_both(
    y: &mut [f64],
    z: &mut [f64],
    a: &[f64],
    b: &[f64],
    f: impl Fn(f64, f64, f64, f64) -> (f64, f64),
) {
    let n = y.len().min(z.len()).min(a.len()).min(b.len());
    let (y16, y) = y[..n].as_chunks_mut::<16>();
    let (z16, z) = z[..n].as_chunks_mut::<16>();
    let ((a16, a), (b16, b)) = (a[..n].as_chunks::<16>(), b[..n].as_chunks::<16>());
    for (((y, z), a), b) in y16.iter_mut().zip(z16).zip(a16).zip(b16) {
        let (y, z) = (y.as_chunks_mut().0, z.as_chunks_mut().0);
        let (a, b) = (a.as_chunks().0, b.as_chunks().0);
        for k in 0..4 {
            change_both_four(&mut y[k], &mut z[k], &a[k], &b[k], &f);
        }
    }
    let (y4, y) = y.as_chunks_mut();
    let (z4, z) = z.as_chunks_mut();
    let ((a4, a), (b4, b)) = (a.as_chunks(), b.as_chunks());
    for (((y, z), a), b) in y4.iter_mut().zip(z4).zip(a4).zip(b4) {
        change_both_four(y, z, a, b, &f);
    }
    for (((y, z), &a), &b) in y.iter_mut().zip(z).zip(a).zip(b) {
        (*y, *z) = f(*y, *z, a, b);
    }
}

#[inline(always)]
fn change_both_four(
    y: &mut [f64; 4],
    z: &mut [f64; 4],
    a: &[f64; 4],
    b: &[f64; 4],
    f: &impl Fn(f64, f64, f64, f64) -> (f64, f64),
) {
    let (mut one, mut two, a, b) = (*y, *z, *a, *b);
    for i in 0..4 {
        (one[i], two[i]) = f(one[i], two[i], a[i], b[i]);
    }
    (*y, *z) = (one, two);
}

/// Selects how many of the remaining arrays of four columns are held in registers: at most five, so that twenty
/// classes are one pass and little code is generated.
macro_rules! held {
    ($left:expr, $v:ident => $do:expr) => {
        match $left {
            1 => held!(@ $v = 1, $do),
            2 => held!(@ $v = 2, $do),
            3 => held!(@ $v = 3, $do),
            5 => held!(@ $v = 5, $do),
            _ => held!(@ $v = 4, $do),
        }
    };
    (@ $v:ident = $n:literal, $do:expr) => {{
        const $v: usize = $n;
        $do;
        $n
    }};
}

/// y ← f(p, y, a) in all rows of `a.len()` numbers, with one p per row and the same a for all.
#[inline(always)]
pub(crate) fn change_rows<P: Copy>(
    y: &mut [f64],
    a: &[f64],
    p: impl Iterator<Item = P> + Clone,
    f: impl Fn(P, f64, f64) -> f64,
) {
    let (fours, rest) = a.as_chunks::<4>();
    let width = a.len().max(1);
    let mut done = 0;
    while done < fours.len() {
        done += held!(fours.len() - done, V => {
            let mut held = [[0.0; 4]; V];
            held.copy_from_slice(&fours[done..][..V]);
            for (row, p) in y.chunks_exact_mut(width).zip(p.clone()) {
                let row = &mut row[4 * done..4 * (done + V)];
                for (k, a) in held.iter().enumerate() {
                    let mut y = array(row, 4 * k);
                    for i in 0..4 {
                        y[i] = f(p, y[i], a[i]);
                    }
                    row[4 * k..4 * k + 4].copy_from_slice(&y);
                }
            }
        });
    }
    if !rest.is_empty() {
        for (row, p) in y.chunks_exact_mut(width).zip(p) {
            for (y, &a) in row[4 * done..].iter_mut().zip(rest) {
                *y = f(p, *y, a);
            }
        }
    }
}

/// (y, z) ← f(p, y, z, a, b) in all rows of `a.len()` numbers of three tables, with one p per row and the same a for
/// all.
#[inline(always)]
pub(crate) fn change_both_rows<P: Copy>(
    [y, z]: [&mut [f64]; 2],
    a: &[f64],
    b: &[f64],
    p: impl Iterator<Item = P> + Clone,
    f: impl Fn(P, f64, f64, f64, f64) -> (f64, f64),
) {
    let (fours, rest) = a.as_chunks::<4>();
    let width = a.len().max(1);
    let mut done = 0;
    while done < fours.len() {
        done += held!(fours.len() - done, V => {
            let mut held = [[0.0; 4]; V];
            held.copy_from_slice(&fours[done..][..V]);
            let both = y.chunks_exact_mut(width).zip(z.chunks_exact_mut(width));
            for (((y, z), b), p) in both.zip(b.chunks_exact(width)).zip(p.clone()) {
                let columns = 4 * done..4 * (done + V);
                let (y, z) = (&mut y[columns.clone()], &mut z[columns.clone()]);
                let b = &b[columns];
                for (k, a) in held.iter().enumerate() {
                    let (mut one, mut two, b) = (array(y, 4 * k), array(z, 4 * k), array(b, 4 * k));
                    for i in 0..4 {
                        (one[i], two[i]) = f(p, one[i], two[i], a[i], b[i]);
                    }
                    y[4 * k..4 * k + 4].copy_from_slice(&one);
                    z[4 * k..4 * k + 4].copy_from_slice(&two);
                }
            }
        });
    }
    if !rest.is_empty() {
        let both = y.chunks_exact_mut(width).zip(z.chunks_exact_mut(width));
        for (((y, z), b), p) in both.zip(b.chunks_exact(width)).zip(p) {
            let both = y[4 * done..].iter_mut().zip(&mut z[4 * done..]);
            for (((y, z), &a), &b) in both.zip(rest).zip(&b[4 * done..]) {
                (*y, *z) = f(p, *y, *z, a, b);
            }
        }
    }
}

/// y ← y + f·x for four y of equal length, each with its f.
#[inline(always)]
pub(crate) fn add_to_four(y: [&mut [f64]; TOGETHER], x: &[f64], f: [f64; TOGETHER]) {
    let n = x.len();
    let (x16, x) = x.as_chunks::<16>();
    let [a, b, c, d] = y;
    let ((a16, a), (b16, b)) = (a[..n].as_chunks_mut::<16>(), b[..n].as_chunks_mut::<16>());
    let ((c16, c), (d16, d)) = (c[..n].as_chunks_mut::<16>(), d[..n].as_chunks_mut::<16>());
    let all = a16.iter_mut().zip(b16).zip(c16.iter_mut().zip(d16));
    for (x, ((a, b), (c, d))) in x16.iter().zip(all) {
        let (x, a, b) = (x.as_chunks().0, a.as_chunks_mut().0, b.as_chunks_mut().0);
        let (c, d) = (c.as_chunks_mut().0, d.as_chunks_mut().0);
        for k in 0..4 {
            change_four(&mut a[k], &x[k], &x[k], &|y, x, _| y + f[0] * x);
            change_four(&mut b[k], &x[k], &x[k], &|y, x, _| y + f[1] * x);
            change_four(&mut c[k], &x[k], &x[k], &|y, x, _| y + f[2] * x);
            change_four(&mut d[k], &x[k], &x[k], &|y, x, _| y + f[3] * x);
        }
    }
    for (y, f) in [a, b, c, d].into_iter().zip(f) {
        change(y, x, x, |y, x, _| y + f * x);
    }
}

/// Σ f(a, b), as four independent partial sums.
#[inline(always)]
pub(crate) fn sum(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    let n = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..n].as_chunks::<4>(), b[..n].as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for i in 0..4 {
            sums[i] += f(a[i], b[i]);
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(&a, &b)| f(a, b)).sum();
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_one_row_at_a_time() {
        let cells: Vec<f64> = (0..700).map(|i| 1.0 / f64::from(i + 3)).collect();
        for width in [1, 2, 3, 4, 5, 7, 11, 20, 32, 33, 39, 50, 67] {
            for skip in 1..4 {
                let picks = || (0..700 / width).step_by(skip).map(|j| (j, 0.1 * j as f64 - 0.3));
                let mut plain = vec![0.7; width];
                for (j, f) in picks() {
                    for (out, x) in plain.iter_mut().zip(&cells[j * width..]) {
                        *out += f * x;
                    }
                }
                let mut out = vec![0.7; width];
                combine(&cells, width, picks(), &mut out);
                assert_eq!(out, plain, "{width} {skip}");
                if skip == 1 {
                    let factors: Vec<f64> = picks().map(|(_, f)| f).collect();
                    let mut out = vec![0.7; width];
                    combine_all(&cells, width, &factors, &mut out);
                    assert_eq!(out, plain, "{width}");
                }
            }
        }
        let mut out = [1.0];
        combine(&cells, 1, [(1000, 5.0)].into_iter(), &mut out);
        assert_eq!(out, [1.0], "a row that is not there");
        combine_all(&cells, 1, &[], &mut out);
        combine_all(&[], 1, &[3.0], &mut out);
        combine_all(&[], 0, &[3.0], &mut []);
        assert_eq!(out, [1.0]);
    }

    #[test]
    fn rows_are_changed_as_one_row_after_the_other() {
        for width in [1, 3, 4, 5, 8, 13, 20, 24, 27, 36, 50] {
            let numbers = |scale: f64| (0..9 * width).map(move |i| scale / (i + 3) as f64);
            let (a, b): (Vec<_>, Vec<_>) =
                (numbers(3.0).take(width).collect(), numbers(0.7).collect());
            let [mut y, mut z]: [Vec<f64>; 2] = [numbers(1.0).collect(), numbers(-2.0).collect()];
            let (mut all_y, mut all_z) = (y.clone(), z.clone());
            // A row fewer than there is room for.
            let p = (0..8_u32).map(f64::from);
            let rows = y.chunks_exact_mut(width).zip(z.chunks_exact_mut(width));
            for (((y, z), b), p) in rows.zip(b.chunks_exact(width)).zip(p.clone()) {
                change(y, &a, b, |y, a, _| y + p * a);
                change_both(y, z, &a, b, |y, z, a, b| (y + p * a * b, z - y * b));
            }
            change_rows(&mut all_y, &a, p.clone(), |p, y, a| y + p * a);
            let both = [all_y.as_mut_slice(), all_z.as_mut_slice()];
            change_both_rows(both, &a, &b, p, |p, y, z, a, b| (y + p * a * b, z - y * b));
            assert_eq!((all_y, all_z), (y, z), "{width}");
        }
        change_rows(&mut [], &[], [1.0].into_iter(), |_, y, _| y);
    }

    #[test]
    fn every_number_is_changed_once() {
        for n in 0..40_u32 {
            let a: Vec<f64> = (0..n).map(f64::from).collect();
            let b: Vec<f64> = (0..n).map(|i| 0.5 - f64::from(i)).collect();
            let (mut y, mut z) = (vec![1.0; 40], vec![2.0; 40]);
            change(&mut y, &a, &b, |y, a, b| y + a * b);
            for (i, y) in y.iter().enumerate() {
                let expected = if i < a.len() { 1.0 + a[i] * b[i] } else { 1.0 };
                assert_eq!(*y, expected, "{n} {i}");
            }
            let before = y.clone();
            change_both(&mut y, &mut z, &a, &b, |y, z, a, b| (y - a * b, z + y));
            for i in 0..40 {
                let inside = i < a.len();
                assert_eq!(y[i], 1.0, "{n} {i}");
                assert_eq!(z[i], if inside { 2.0 + before[i] } else { 2.0 }, "{n} {i}");
            }
            let mut four = vec![1.0; 4 * a.len()];
            let (one, rest) = four.split_at_mut(a.len());
            let (two, rest) = rest.split_at_mut(a.len());
            let (three, last) = rest.split_at_mut(a.len());
            add_to_four([one, two, three, last], &a, [1.0, 2.0, 3.0, 4.0]);
            for (i, y) in four.iter().enumerate() {
                let (k, x) = ((i / a.len() + 1) as f64, a[i % a.len()]);
                assert_eq!(*y, 1.0 + k * x, "{n} {i}");
            }
            let plain: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(sum(&a, &b, |a, b| a * b), plain, "whole and half numbers: exact");
        }
    }
}

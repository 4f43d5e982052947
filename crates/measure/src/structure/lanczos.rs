//! Extreme eigenvalues of a large symmetric matrix that is given by its products with vectors.
//!
//! Source: Lanczos, "An iteration method for the solution of the eigenvalue problem", 1950, with
//! full reorthogonalisation; Bowdler, Martin, Reinsch, Wilkinson, "The QR and QL algorithms for
//! symmetric matrices", Numer. Math. 1968.

use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch};
use rayon::prelude::*;

/// An approximate eigenvalue: the distance to the nearest eigenvalue is at most `error`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RitzValue {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// A symmetric matrix, and the space in which its eigenvalues are sought.
pub(super) struct SymmetricOperator<'a> {
    /// The number of rows and columns.
    pub(super) size: usize,
    /// Adds the product with the first vector to the second, which is zero.
    pub(super) apply: &'a (dyn Fn(&[f64], &mut [f64]) + Sync),
    /// A vector of length 1 to which all vectors are kept orthogonal; none if there is no such
    /// restriction.
    pub(super) without: Option<&'a [f64]>,
    /// An upper bound of the size of the eigenvalues.
    pub(super) scale: f64,
}

/// The residual, relative to the scale, at which an eigenvalue counts as found. Its error is then
/// about the square of the residual over the gap to the next eigenvalue.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The largest number of steps of one run, which keeps one vector for each.
const MOST_STEPS: usize = 1500;

/// The `low` lowest and `high` highest distinct eigenvalues, in rising order, the lowest ones
/// first. There are fewer results if there are fewer eigenvalues. A multiple eigenvalue appears
/// once.
///
/// It starts from a random vector, the same every time. O(steps^2 * size), where steps are a few
/// tens for networks with a wide gap and at most 1500; a value that has not converged by then has a
/// larger `error`.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub(super) fn extremes(
    op: &SymmetricOperator,
    [low, high]: [usize; 2],
    watch: &dyn ProgressWatch,
) -> Result<[Vec<RitzValue>; 2], Interrupted> {
    let room = op.size - usize::from(op.without.is_some());
    let most = room.min(MOST_STEPS);
    let mut draw = RandomStream::new(0, "lanczos", op.size as u64);
    let start = (0..op.size).map(|_| (draw.next_u64() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0);
    let mut next: Vec<f64> = start.collect();
    let (mut basis, mut diagonal, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    let mut look = 8;
    loop {
        clear(op, &basis, &mut next);
        let length = dot(&next, &next).sqrt();
        let closed = basis.len() == most || length <= 1e-13 * op.scale;
        if closed || basis.len() >= look {
            look += look / 4;
            let rest = if basis.len() == room { 0.0 } else { length };
            let found = ends(&diagonal, &beside, rest, [low, high]);
            let settled = |r: &RitzValue| r.error <= TOLERANCE * op.scale;
            if closed || found.iter().flatten().all(settled) {
                return Ok(found);
            }
        }
        if !basis.is_empty() {
            beside.push(length);
        }
        next.par_iter_mut().for_each(|x| *x /= length);
        let mut product = vec![0.0; op.size];
        (op.apply)(&next, &mut product);
        diagonal.push(dot(&next, &product));
        basis.push(std::mem::replace(&mut next, product));
        watch.tick("spectrum", basis.len() as u64, most as u64)?;
    }
}

/// Makes `v` orthogonal to the basis and to the excluded vector, twice, because one pass leaves
/// rounding errors.
fn clear(op: &SymmetricOperator, basis: &[Vec<f64>], v: &mut [f64]) {
    for _ in 0..2 {
        let along = basis.iter().map(Vec::as_slice).chain(op.without);
        let shares: Vec<(f64, &[f64])> = along.map(|b| (dot(b, v), b)).collect();
        v.par_chunks_mut(CHUNK).enumerate().for_each(|(i, part)| {
            for &(share, b) in &shares {
                for (x, y) in part.iter_mut().zip(&b[i * CHUNK..]) {
                    *x -= share * y;
                }
            }
        });
    }
}

/// The number of entries summed together: fixed, so that sums do not depend on the number of
/// threads.
const CHUNK: usize = 4096;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let part = |(a, b): (&[f64], &[f64])| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    if a.len() <= CHUNK {
        return part((a, b));
    }
    let parts: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(part).collect();
    parts.iter().sum()
}

/// The lowest and highest eigenvalues of a tridiagonal matrix; `rest` is the off-diagonal entry of
/// the next row.
fn ends(
    diagonal: &[f64],
    beside: &[f64],
    rest: f64,
    [low, high]: [usize; 2],
) -> [Vec<RitzValue>; 2] {
    let all = tridiagonal(diagonal.to_vec(), beside);
    let ritz = |&(value, last): &(f64, f64)| RitzValue { value, error: (rest * last).abs() };
    [
        all.iter().take(low).map(ritz).collect(),
        all.iter().skip(all.len().saturating_sub(high)).map(ritz).collect(),
    ]
}

/// Eigenvalues of a symmetric tridiagonal matrix, rising, each with the last entry of its
/// eigenvector (QL with implicit shifts). O(size^2).
fn tridiagonal(mut d: Vec<f64>, beside: &[f64]) -> Vec<(f64, f64)> {
    let n = d.len();
    let mut e = beside.to_vec();
    e.push(0.0);
    let mut last = vec![0.0; n];
    if let Some(l) = last.last_mut() {
        *l = 1.0;
    }
    for l in 0..n {
        loop {
            let small = |m: &usize| e[*m].abs() <= f64::EPSILON * (d[*m].abs() + d[*m + 1].abs());
            let m = (l..n - 1).find(small).unwrap_or(n - 1);
            if m == l {
                break;
            }
            ql_step(&mut d, &mut e, &mut last, l, m);
        }
    }
    let mut all: Vec<(f64, f64)> = d.into_iter().zip(last).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// One QL step on the rows `l..=m`, shifted by Wilkinson's choice.
fn ql_step(d: &mut [f64], e: &mut [f64], last: &mut [f64], l: usize, m: usize) {
    let half = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let mut g = d[m] - d[l] + e[l] / (half + half.hypot(1.0).copysign(half));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in (l..m).rev() {
        let (f, b) = (s * e[i], c * e[i]);
        let r = f.hypot(g);
        e[i + 1] = r;
        if r == 0.0 {
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        (s, c) = (f / r, g / r);
        let shifted = d[i + 1] - p;
        let t = (d[i] - shifted) * s + 2.0 * c * b;
        p = s * t;
        d[i + 1] = shifted + p;
        g = c * t - b;
        (last[i + 1], last[i]) = (s * last[i] + c * last[i + 1], c * last[i] - s * last[i + 1]);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

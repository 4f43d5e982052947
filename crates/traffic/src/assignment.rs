//! The assignment problem: every row gets a column of its own, with the largest sum of weights.
//!
//! Source: Kuhn, "The Hungarian method for the assignment problem", 1955; Tomizawa, "On some
//! techniques useful for solution of transportation network problems", Networks 1971 (shortest
//! augmenting paths).

use base::{Interrupted, ProgressWatch};

/// The column of every row in an assignment with the largest sum of `weight(row, column)`. O(n^3).
///
/// # Errors
/// When `watch` says stop.
pub fn assign(
    n: usize,
    weight: impl Fn(usize, usize) -> f64,
    watch: &dyn ProgressWatch,
) -> Result<Vec<usize>, Interrupted> {
    let mut row_price = vec![0.0; n];
    let mut column_price = vec![0.0; n];
    let mut owner: Vec<Option<usize>> = vec![None; n];
    for start in 0..n {
        watch.tick("assignment", start as u64, n as u64)?;
        let mut slack = vec![f64::INFINITY; n];
        let mut before: Vec<Option<usize>> = vec![None; n];
        let mut seen = vec![false; n];
        let (mut row, mut column) = (start, None);
        let end = loop {
            let (mut least, mut next) = (f64::INFINITY, 0);
            for c in (0..n).filter(|&c| !seen[c]) {
                let reduced = row_price[row] + column_price[c] - weight(row, c);
                if reduced < slack[c] {
                    slack[c] = reduced;
                    before[c] = column;
                }
                if slack[c] < least {
                    (least, next) = (slack[c], c);
                }
            }
            row_price[start] -= least;
            for c in 0..n {
                if !seen[c] {
                    slack[c] -= least;
                } else if let Some(of) = owner[c] {
                    row_price[of] -= least;
                    column_price[c] += least;
                }
            }
            seen[next] = true;
            column = Some(next);
            match owner[next] {
                None => break next,
                Some(of) => row = of,
            }
        };
        let mut at = end;
        while let Some(previous) = before[at] {
            owner[at] = owner[previous];
            at = previous;
        }
        owner[at] = Some(start);
    }
    let mut column_of = vec![0; n];
    for (c, row) in owner.iter().enumerate() {
        if let Some(r) = row {
            column_of[*r] = c;
        }
    }
    Ok(column_of)
}

/// A greedy assignment: row by row, each takes the free column of the largest weight, the first one
/// if several have it. O(n^2).
///
/// # Errors
/// When `watch` says stop.
pub(super) fn assign_greedily(
    n: usize,
    weight: impl Fn(usize, usize) -> f64,
    watch: &dyn ProgressWatch,
) -> Result<Vec<usize>, Interrupted> {
    let mut free: Vec<usize> = (0..n).collect();
    let pick = |row: usize, free: &mut Vec<usize>| {
        let mut best = 0;
        for i in 1..free.len() {
            if weight(row, free[i]) > weight(row, free[best]) {
                best = i;
            }
        }
        free.remove(best)
    };
    (0..n)
        .map(|row| {
            watch.tick("assignment", row as u64, n as u64)?;
            Ok(pick(row, &mut free))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;
    use base::seed::RandomStream;

    /// The largest sum over all permutations, found by trying each of them.
    fn brute(n: usize, weight: &dyn Fn(usize, usize) -> f64, row: usize, used: u32) -> f64 {
        if row == n {
            return 0.0;
        }
        let free = (0..n).filter(|c| used >> c & 1 == 0);
        free.map(|c| weight(row, c) + brute(n, weight, row + 1, used | 1 << c))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn no_permutation_is_heavier() {
        for case in 0..60 {
            let mut stream = RandomStream::new(case, "assignment test", 0);
            let n = 1 + stream.below(7) as usize;
            let table: Vec<f64> = (0..n * n).map(|_| stream.below(5) as f64).collect();
            let weight = |r: usize, c: usize| table[r * n + c];
            let found = assign(n, weight, &QuietWatch).expect("nobody stops");
            let mut columns = found.clone();
            columns.sort_unstable();
            assert_eq!(columns, (0..n).collect::<Vec<_>>());
            let sum: f64 = found.iter().enumerate().map(|(r, &c)| weight(r, c)).sum();
            assert!((sum - brute(n, &weight, 0, 0)).abs() < 1e-9);
            let greedy = assign_greedily(n, weight, &QuietWatch).expect("nobody stops");
            let mut columns = greedy.clone();
            columns.sort_unstable();
            assert_eq!(columns, (0..n).collect::<Vec<_>>());
        }
    }

    /// A watch that says stop at its third tick.
    struct ThirdTickStoppingWatch(std::sync::atomic::AtomicU32);

    impl ProgressWatch for ThirdTickStoppingWatch {
        fn tick(&self, _: &str, _: u64, _: u64) -> Result<(), Interrupted> {
            let before = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if before < 2 { Ok(()) } else { Err(Interrupted) }
        }
    }

    #[test]
    fn who_watches_can_stop_it() {
        let weight = |r: usize, c: usize| (r * c) as f64;
        for n in [2, 3, 50] {
            let watch = || ThirdTickStoppingWatch(std::sync::atomic::AtomicU32::new(0));
            assert_eq!(assign(n, weight, &watch()).is_err(), n > 2);
            assert_eq!(assign_greedily(n, weight, &watch()).is_err(), n > 2);
        }
    }
}

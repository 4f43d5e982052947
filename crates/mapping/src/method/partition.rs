//! Partition of a graph into parts of exact sizes with few bytes between them, by recursive
//! halving.
//!
//! Source: see [`base::partition`].

use base::partition::{WeightedGraph, halve};
use base::seed::RandomStream;
use base::{Interrupted, ProgressWatch};

/// The part that each vertex belongs to; part i has `sizes[i]` vertices, and the sizes add up to
/// the number of vertices.
///
/// `row` gives the neighbours of a vertex with weights. O(edges log parts) for each pass.
///
/// # Errors
/// When `watch` says stop.
pub(crate) fn partition<R: Iterator<Item = (u32, u64)>>(
    count: u32,
    sizes: &[u32],
    row: impl Fn(u32) -> R,
    seed: u64,
    watch: &dyn ProgressWatch,
) -> Result<Vec<u32>, Interrupted> {
    let mut part = vec![0; count as usize];
    let mut place = vec![u32::MAX; count as usize];
    let mut open: Vec<(Vec<u32>, std::ops::Range<usize>)> =
        vec![((0..count).collect(), 0..sizes.len())];
    while let Some((own, parts)) = open.pop() {
        if parts.len() <= 1 || own.is_empty() {
            for &v in &own {
                part[v as usize] = parts.start as u32;
            }
            continue;
        }
        watch.tick("partition", 0, 0)?;
        let middle = parts.start + parts.len() / 2;
        let of = |range: &std::ops::Range<usize>| sizes[range.clone()].iter().sum::<u32>() as usize;
        let (first, second) = (parts.start..middle, middle..parts.end);
        let (small, large) =
            if of(&first) <= of(&second) { (first, second) } else { (second, first) };
        let wanted = of(&small);
        let graph = induced(&own, &row, &mut place, wanted);
        let mut draw = RandomStream::new(seed, "partition", parts.start as u64);
        let halves = halve(&graph, 0, &mut draw, &|| watch.tick("partition", 0, 0))?;
        let mut sides = [Vec::new(), Vec::new()];
        for (&v, &inner) in own.iter().zip(&halves.side) {
            sides[usize::from(!inner)].push(v);
        }
        let [a, b] = exact(sides, wanted);
        open.push((b, large));
        open.push((a, small));
    }
    Ok(part)
}

/// Moves the last vertices of the larger side over until the first side has `wanted`.
pub(super) fn exact([mut a, mut b]: [Vec<u32>; 2], wanted: usize) -> [Vec<u32>; 2] {
    if a.len() > wanted {
        b.extend(a.drain(wanted..));
    } else {
        let more = wanted - a.len();
        a.extend(b.drain(b.len() - more..));
    }
    [a, b]
}

/// The subgraph of some vertices, whose smaller half is to have `small` of them.
fn induced<R: Iterator<Item = (u32, u64)>>(
    own: &[u32],
    row: &impl Fn(u32) -> R,
    place: &mut [u32],
    small: usize,
) -> WeightedGraph {
    for (i, &v) in (0..).zip(own) {
        place[v as usize] = i;
    }
    let total: u64 = own.iter().flat_map(|&v| row(v)).map(|(_, w)| w).sum();
    let divisor = (total >> 31) + 1;
    let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
    for &v in own {
        for (x, w) in row(v).filter(|(x, _)| place[*x as usize] < u32::MAX && *x != v) {
            targets.push(place[x as usize]);
            weights.push((w / divisor).max(1) as u32);
        }
        offsets.push(targets.len() as u32);
    }
    for &v in own {
        place[v as usize] = u32::MAX;
    }
    let held = (own.len() - 2 * small) as u64;
    WeightedGraph { offsets, targets, weights, masses: vec![1; own.len()], held }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;

    #[test]
    fn sizes_are_exact_and_blocks_are_found() {
        // four cliques of 8, 8, 5 and 11 with a light ring between them
        let sizes = [8_u32, 8, 5, 11];
        let start = |c: usize| sizes[..c].iter().sum::<u32>();
        let clique = |v: u32| (0..4).rev().find(|&c| start(c) <= v).expect("a clique");
        let row = |v: u32| {
            let same = (0..32).filter(move |&x| x != v && clique(x) == clique(v)).map(|x| (x, 10));
            same.chain([((v + 1) % 32, 1), ((v + 31) % 32, 1)])
        };
        let found = partition(32, &sizes, row, 1, &QuietWatch).expect("nobody stops");
        for (i, &size) in (0..).zip(&sizes) {
            assert_eq!(found.iter().filter(|&&p| p == i).count() as u32, size);
        }
        let cut = (0..32).filter(|&v| found[v as usize] != found[(v as usize + 1) % 32]).count();
        assert_eq!(cut, 4, "{found:?}");
    }
}

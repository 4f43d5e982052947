//! Distances between terminals: the distances between switches, weighted by their numbers of
//! terminals.

use base::distance::HopDistanceHistogram;
use base::{Interrupted, ProgressWatch, SwitchId};
use fabric::network::Topology;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// The sum of the distances over all connected ordered pairs of distinct terminals of one plane,
/// and the number of these pairs. Two terminals are as far apart as their switches, so terminals on
/// the same switch are at distance 0.
///
/// `among` has the distances among the switches `edge`, which carry terminals. O(edge) if all of
/// them carry the same number, else O(edge * links).
pub(super) fn between_terminals(
    t: &Topology,
    edge: &[u32],
    among: &HopDistanceHistogram,
    watch: &dyn ProgressWatch,
) -> Result<(u64, u64), Interrupted> {
    let mut carries = vec![0_u64; t.switches().len()];
    for &v in edge {
        let all = t.terminals_on(SwitchId(v)).iter();
        carries[v as usize] = all.filter(|&&terminal| t.terminal_is_up(terminal)).count() as u64;
    }
    let on_one: u64 = edge.iter().map(|&v| carries[v as usize]).map(|p| p * (p.max(1) - 1)).sum();
    let first = edge.first().map_or(0, |&v| carries[v as usize]);
    if edge.iter().all(|&v| carries[v as usize] == first) {
        let (sum, pairs) = among.sum_and_pairs();
        return Ok((sum * first * first, pairs * first * first + on_one));
    }
    let done = AtomicU64::new(0);
    let (sum, pairs) = edge
        .par_chunks(32)
        .map(|sources| {
            let (mut sum, mut pairs) = (0, 0);
            for &s in sources {
                let distances = t.graph().distances_from(s as usize);
                let plane = t.switches()[s as usize].plane;
                let here = carries[s as usize];
                for &v in edge.iter().filter(|&&v| v != s) {
                    let (d, there) = (distances[v as usize], carries[v as usize]);
                    if d != u32::MAX && t.switches()[v as usize].plane == plane {
                        sum += here * there * u64::from(d);
                        pairs += here * there;
                    }
                }
            }
            let n = done.fetch_add(sources.len() as u64, Ordering::Relaxed);
            watch.tick("terminals", n + sources.len() as u64, edge.len() as u64)?;
            Ok((sum, pairs))
        })
        .try_reduce(|| (0, 0), |a, b| Ok((a.0 + b.0, a.1 + b.1)))?;
    Ok((sum, pairs + on_one))
}

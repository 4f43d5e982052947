//! The permutation of switches that loads one channel most over minimal paths, for the channels
//! that uniform traffic loads most.
//!
//! Source: Towles, Dally, "Worst-case traffic for oblivious routing functions", SPAA 2002: for a
//! channel, an assignment of sources to destinations by the load that a pair puts on it.

use super::channel_load::{LoadDistributingSearch, reach, terminal_weights};
use base::{ComputationError, Graph, ProgressWatch};
use fabric::network::Topology;
use rayon::prelude::*;
use std::collections::BTreeMap;
use traffic::assignment::assign;

/// Channels that are tried: of each load that uniform traffic gives, from the largest, the first.
const CHANNELS: usize = 4;
/// Most rows of an assignment that is solved exactly.
const MOST_EXACT: usize = 320;
/// Loads that differ by less than this fraction are equal.
const EQUAL: f64 = 1e-9;

/// The largest load of a channel under a permutation of the endpoints, each of which sends at full
/// rate evenly over its minimal paths, in units of that rate: the most that is found for the
/// channels of the largest `uniform` loads, by channel. 0 where nothing is sent. O(switches * links
/// + switches^2), and the assignments.
///
/// # Errors
/// When `watch` says stop.
pub(super) fn heaviest_load(
    t: &Topology,
    uniform: &[f64],
    watch: &dyn ProgressWatch,
) -> Result<f64, ComputationError> {
    let graph = t.graph();
    let carried = terminal_weights(t);
    let reach = reach(graph);
    let search_from = |v| {
        let mut search = LoadDistributingSearch::new(graph, &reach);
        search.run(v);
        search
    };
    let ends: Vec<[LoadDistributingSearch<'_>; 2]> = busiest_channels(graph, uniform)
        .into_iter()
        .map(|(from, to)| [from, to].map(search_from))
        .collect();
    let switches = graph.switches() as u32;
    let sources: Vec<u32> = (0..switches).filter(|&v| carried[v as usize] > 0.0).collect();
    let of_source = |from: &mut LoadDistributingSearch<'_>,
                     &source: &u32|
     -> Result<Vec<Vec<(u32, f64)>>, ComputationError> {
        watch.tick("worst case", u64::from(source), switches.into())?;
        from.run(source);
        let shares = |[near, far]: &[LoadDistributingSearch<'_>; 2]| {
            let (before, towards) = near.minimal(source);
            let crosses = |to: u32| {
                let ((whole, all), (after, onwards)) = (from.minimal(to), far.minimal(to));
                let length = before.checked_add(1).and_then(|d| d.checked_add(after));
                let through = to != source && carried[to as usize] > 0.0 && length == Some(whole);
                let ends = carried[source as usize].min(carried[to as usize]);
                through.then(|| (to, towards * onwards / all * ends))
            };
            if before == u32::MAX {
                Vec::new()
            } else {
                (0..switches).filter_map(crosses).collect()
            }
        };
        Ok(ends.iter().map(shares).collect())
    };
    let found: Vec<Vec<Vec<(u32, f64)>>> = sources
        .par_iter()
        .map_init(|| LoadDistributingSearch::new(graph, &reach), of_source)
        .collect::<Result<_, _>>()?;
    let mut most = 0.0_f64;
    for channel in 0..ends.len() {
        let rows: Vec<&Vec<(u32, f64)>> =
            found.iter().map(|of| &of[channel]).filter(|row| !row.is_empty()).collect();
        most = most.max(heaviest_assignment(&rows, watch)?);
    }
    Ok(most)
}

/// The first channel, as its two switches, of each of the largest loads.
fn busiest_channels(graph: &Graph, load: &[f64]) -> Vec<(u32, u32)> {
    let mut channels: Vec<(f64, u32, u32)> = Vec::new();
    for v in 0..graph.switches() {
        for (&w, channel) in graph.neighbours(v).iter().zip(graph.channels(v)) {
            channels.push((load[channel.0 as usize], v as u32, w));
        }
    }
    // the sort is stable: channels of equal load stay in their order
    channels.sort_by(|x, y| y.0.total_cmp(&x.0));
    channels.dedup_by(|x, y| (x.0 - y.0).abs() <= EQUAL * y.0);
    channels.truncate(CHANNELS);
    channels.into_iter().map(|(_, from, to)| (from, to)).collect()
}

/// The largest sum of shares in which every row and every receiver occurs at most once; above
/// [`MOST_EXACT`] rows that of the largest shares, one after the other.
fn heaviest_assignment(
    rows: &[&Vec<(u32, f64)>],
    watch: &dyn ProgressWatch,
) -> Result<f64, ComputationError> {
    let mut columns: BTreeMap<u32, usize> = BTreeMap::new();
    for (to, _) in rows.iter().flat_map(|row| row.iter()) {
        let next = columns.len();
        columns.entry(*to).or_insert(next);
    }
    let n = rows.len().max(columns.len());
    let shares = (0..).zip(rows).flat_map(|(i, row)| row.iter().map(move |(to, x)| (*x, i, *to)));
    if n > MOST_EXACT {
        let mut all: Vec<(f64, usize, u32)> = shares.collect();
        all.sort_by(|x, y| y.0.total_cmp(&x.0));
        let (mut sent, mut received) = (vec![false; n], vec![false; n]);
        let mut sum = 0.0;
        for (share, row, to) in all {
            let column = columns[&to];
            if !sent[row] && !received[column] {
                (sent[row], received[column]) = (true, true);
                sum += share;
            }
        }
        return Ok(sum);
    }
    let mut weight = vec![0.0; n * n];
    for (share, row, to) in shares {
        weight[row * n + columns[&to]] = share;
    }
    let of = |row: usize, column: usize| weight[row * n + column];
    let chosen = assign(n, of, watch)?;
    Ok(chosen.iter().enumerate().map(|(row, &column)| of(row, column)).sum())
}

#[cfg(test)]
mod tests {
    use super::super::channel_load::{minimal_load, split_pairs};
    use super::super::tests::{built, network};
    use super::*;
    use base::QuietWatch;

    fn heaviest(network: &str) -> f64 {
        let t = built(network);
        let uniform = minimal_load(&t, &QuietWatch).expect("loads").terminals.by_channel;
        heaviest_load(&t, &uniform, &QuietWatch).expect("a permutation")
    }

    /// In a complete graph a channel is used by its pair alone. In a `HyperX` of two dimensions a
    /// channel (u, v) of a row carries all from u to v, half of what goes from u to a switch of the
    /// column of v, and half of what goes to v from the column of u: p in all, as u sends p and v
    /// takes p.
    #[test]
    fn loads_of_regular_networks_are_those_of_formulas() {
        assert!((heaviest("complete:n=7,p=3") - 3.0).abs() < 1e-12);
        assert!((heaviest("hyperx:shape=5x5,p=4") - 4.0).abs() < 1e-12);
    }

    /// The largest load over all permutations, tried one after the other.
    fn largest(t: &Topology) -> f64 {
        fn each(to: &mut Vec<u32>, n: u32, visit: &mut dyn FnMut(&[u32])) {
            if to.len() == n as usize {
                return visit(to);
            }
            for v in (0..n).filter(|v| !to.contains(v)).collect::<Vec<_>>() {
                to.push(v);
                each(to, n, visit);
                to.pop();
            }
        }
        let mut most = 0.0_f64;
        each(&mut Vec::new(), t.switches().len() as u32, &mut |to| {
            let demands: Vec<(u32, Vec<(u32, f64)>)> = (0..)
                .zip(to)
                .filter(|(from, to)| from != *to)
                .map(|(from, &to)| (from, vec![(to, 1.0)]))
                .collect();
            let load = split_pairs(t.graph(), &demands, &QuietWatch).expect("loads");
            most = load.into_iter().fold(most, f64::max);
        });
        most
    }

    /// Where all channels are alike the search is exact; elsewhere it finds no more than there is.
    #[test]
    fn all_permutations_of_small_networks_load_no_channel_more() {
        for alike in ["torus:shape=6,p=1", "torus:shape=5,p=1", "hypercube:n=2,p=1"] {
            let t = built(alike);
            assert!((heaviest(alike) - largest(&t)).abs() < 1e-12, "{alike}");
        }
        let links = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (4, 5)];
        let t = network(6, &links);
        let uniform = minimal_load(&t, &QuietWatch).expect("loads").terminals.by_channel;
        let found = heaviest_load(&t, &uniform, &QuietWatch).expect("a permutation");
        assert!(found > 1.0 && found <= largest(&t) + 1e-12, "{found}");
    }
}

//! Lower bounds of hop-bytes and congestion that hold for every mapping.
//!
//! Source: Gilmore, "Optimal and suboptimal algorithms for the quadratic assignment problem", SIAM
//! J. 1962; Lawler, "The quadratic assignment problem", Management Science 1963.

use crate::capacity::capacities;
use crate::slots::ProcessSlots;
use fabric::Topology;
use serde::Serialize;
use traffic::communication::CommunicationGraph;

/// Lower bounds that hold for every mapping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MappingBounds {
    /// Lower bound of hop-bytes [byte hops].
    pub hop_bytes: f64,
    /// Lower bound of the maximum congestion [bytes per capacity of the fastest link].
    pub congestion: f64,
}

/// The largest number of kinds of sites that are distinguished.
const MOST_KINDS: usize = 64;

/// Computes the bounds. For each process and each kind of site, its weights (both directions added,
/// in falling order) are multiplied by the distances of the nearest slots (in rising order) and
/// summed up; the smallest sum over the kinds counts. Half of the total over all processes bounds
/// hop-bytes. Congestion is at least the bound of hop-bytes divided by the capacity of all
/// channels.
///
/// O(sites * switches that the search for the nearest slots passes).
pub fn bounds(on: &Topology, slots: &ProcessSlots, graph: &CommunicationGraph) -> MappingBounds {
    let mut weights: Vec<Vec<(u32, f64)>> = vec![Vec::new(); graph.processes() as usize];
    for one in graph.sent().filter(|one| one.bytes > 0.0) {
        weights[one.from as usize].push((one.to, one.bytes));
        weights[one.to as usize].push((one.from, one.bytes));
    }
    let falling: Vec<Vec<f64>> = weights.into_iter().map(falling).collect();
    let most = falling.iter().map(Vec::len).max().unwrap_or(0);
    let kinds = kinds(on, slots, most);
    let of = |own: &Vec<f64>| -> f64 {
        let at =
            |kind: &Vec<u32>| own.iter().zip(kind).map(|(w, d)| w * f64::from(*d)).sum::<f64>();
        kinds.iter().map(at).fold(f64::INFINITY, f64::min)
    };
    let hop_bytes = falling.iter().map(of).sum::<f64>() / 2.0 + 0.0; // a sum of none is -0
    let capacity: f64 = capacities(on).iter().sum();
    let congestion = if capacity > 0.0 { hop_bytes / capacity } else { 0.0 };
    MappingBounds { hop_bytes, congestion }
}

/// The weights of a process to each of its partners, in falling order.
fn falling(mut own: Vec<(u32, f64)>) -> Vec<f64> {
    own.sort_by_key(|(x, _)| *x);
    let pairs = own.chunk_by(|a, b| a.0 == b.0);
    let mut sums: Vec<f64> = pairs.map(|pair| pair.iter().map(|(_, w)| w).sum()).collect();
    sums.sort_by(|a, b| b.total_cmp(a));
    sums
}

/// The distances from a process to the nearest other slots, for every kind of site.
fn kinds(on: &Topology, slots: &ProcessSlots, most: usize) -> Vec<Vec<u32>> {
    let graph = on.graph();
    let mut by_switch: Vec<Vec<u32>> = vec![Vec::new(); graph.switches()];
    for site in 0..slots.sites() as u32 {
        for s in slots.switches(on, site) {
            by_switch[s as usize].push(site);
        }
    }
    let mut kinds: Vec<Vec<u32>> = Vec::new();
    let mut seen = vec![u32::MAX; graph.switches()];
    let mut counted = vec![u32::MAX; slots.sites()];
    let mut queue: Vec<(u32, u32)> = Vec::new();
    for site in 0..slots.sites() as u32 {
        queue.clear();
        for s in slots.switches(on, site) {
            seen[s as usize] = site;
            queue.push((s, 0));
        }
        let mut found: Vec<u32> = Vec::new();
        let mut head = 0;
        while let (true, Some(&(v, far))) = (found.len() <= most, queue.get(head)) {
            head += 1;
            for &other in &by_switch[v as usize] {
                if std::mem::replace(&mut counted[other as usize], site) != site {
                    let room = slots.of_site(other).len().min(most + 1);
                    found.extend(std::iter::repeat_n(far, room));
                }
            }
            for &w in graph.neighbours(v as usize) {
                if std::mem::replace(&mut seen[w as usize], site) != site {
                    queue.push((w, far + 1));
                }
            }
        }
        let own: Vec<u32> = found.into_iter().skip(1).take(most).collect();
        if !kinds.contains(&own) {
            kinds.push(own);
        }
        if kinds.len() > MOST_KINDS {
            let least = |k: usize| kinds.iter().filter_map(|own| own.get(k)).min().copied();
            kinds = vec![(0..most).map_while(least).collect()];
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::communication::{ProcessPairTraffic, made};

    fn network(name: &str) -> Topology {
        let recipe = fabric::network::parse_inline(name).expect("a recipe");
        families::family(&recipe.family).expect("a family").build(&recipe.params).expect("built")
    }

    #[test]
    fn a_torus_of_its_own_size_meets_the_bound() {
        let on = network("torus:shape=4x4x4,p=1");
        let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
        let given = serde_json::json!({ "shape": [4, 4, 4], "bytes": 5, "periodic": true });
        let graph = made("stencil", given.as_object().expect("one")).expect("a graph");
        let found = bounds(&on, &slots, &graph);
        // 64 processes send 5 bytes over one hop to each of six neighbours, which can be reached
        // exactly
        assert!((found.hop_bytes - 64.0 * 6.0 * 5.0).abs() < 1e-9);
        assert!((found.congestion - 5.0).abs() < 1e-9);
    }

    #[test]
    fn partners_on_the_own_switch_are_free() {
        let on = network("slim_fly:q=5,p=4");
        let slots = ProcessSlots::new(&on, None, Some(1)).expect("slots");
        let star = |partners: u32| {
            let sent = (1..=partners).map(|to| ProcessPairTraffic {
                from: 0,
                to,
                bytes: 2.0,
                messages: 1.0,
            });
            CommunicationGraph::new(40, sent.collect()).expect("a graph")
        };
        // the centre's switch has three more slots; the slots of seven switches, four on each, are
        // one hop away, all others two
        for (partners, hops) in [(3, 0), (4, 1), (31, 28), (35, 28 + 8)] {
            let found = bounds(&on, &slots, &star(partners)).hop_bytes;
            // each partner could be beside the centre in some mapping, so its own half of the bound
            // is 0
            assert!((found - f64::from(hops)).abs() < 1e-9, "{partners}: {found}");
        }
    }
}

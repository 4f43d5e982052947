//! The busiest channels of a mapping, and the pairs of processes that load them.

use crate::lists::ChannelListsByPair;
use crate::paths::TrafficPathRule;
use crate::slots::ProcessSlots;
use base::Refusal;
use std::collections::BTreeMap;
use traffic::communication::CommunicationGraph;

/// The load of a pair of ranks on a channel: sender, receiver, load.
pub type PairLoad = (u32, u32, f64);

/// A busy channel with the pairs of ranks that load it most.
#[derive(Debug, Clone, PartialEq)]
pub struct BusyChannel {
    /// The number of the channel.
    pub channel: u32,
    /// The load of the channel [bytes per capacity of the fastest link].
    pub load: f64,
    /// The pairs that load it most, the heaviest first.
    pub pairs: Vec<PairLoad>,
}

/// Most pairs of processes for which the pairs on busy channels are determined.
const MOST_PAIRS: usize = 1 << 18;

/// The `channels` busiest channels by `loads`, each with at most `pairs` pairs of ranks that load
/// it most; without pairs if the graph has too many. O(loads log loads + pairs * channels of their
/// paths).
///
/// # Errors
/// When a process is on an endpoint that does not work.
pub fn busiest(
    paths: TrafficPathRule<'_>,
    graph: &CommunicationGraph,
    places: &[u32],
    loads: &[f64],
    channels: usize,
    pairs: usize,
) -> Result<Vec<BusyChannel>, Refusal> {
    let mut order: Vec<u32> =
        (0..loads.len() as u32).filter(|&c| loads[c as usize] > 0.0).collect();
    order.sort_by(|&a, &b| loads[b as usize].total_cmp(&loads[a as usize]).then(a.cmp(&b)));
    order.truncate(channels);
    let mut on: BTreeMap<u32, Vec<PairLoad>> = order.iter().map(|&c| (c, Vec::new())).collect();
    if graph.pairs() <= MOST_PAIRS && !order.is_empty() {
        let mut endpoints = places.to_vec();
        endpoints.sort_unstable();
        endpoints.dedup();
        let slots = ProcessSlots::new(paths.topology(), Some(&endpoints), Some(1))?;
        let slot =
            |process: u32| endpoints.partition_point(|&e| e < places[process as usize]) as u32;
        let mut lists = ChannelListsByPair::new(paths, &slots);
        for one in graph.sent().filter(|one| one.bytes > 0.0) {
            let [from, to] = [slot(one.from), slot(one.to)];
            let target = lists.target(to);
            for &(c, share) in lists.of(slots.site(from), target) {
                if let Some(loads) = on.get_mut(&c) {
                    loads.push((one.from, one.to, one.bytes * f64::from(share)));
                }
            }
        }
    }
    for loads in on.values_mut() {
        loads.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        loads.truncate(pairs);
    }
    let busy = |channel: u32| BusyChannel {
        channel,
        load: loads[channel as usize],
        pairs: on.remove(&channel).unwrap_or_default(),
    };
    Ok(order.into_iter().map(busy).collect())
}

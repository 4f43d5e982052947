//! The busiest channels of a mapping, and whose traffic is on them.

use crate::lists::Lists;
use crate::slots::Slots;
use crate::ways::Ways;
use base::Refusal;
use std::collections::BTreeMap;
use traffic::communication::Communication;

/// A pair of ranks on a channel: sender, receiver, its load there.
pub type OnIt = (u32, u32, f64);

/// A busy channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Busy {
    /// Its number.
    pub channel: u32,
    /// Its load [bytes per capacity of the fastest link].
    pub load: f64,
    /// The pairs with most on it, the heaviest first.
    pub pairs: Vec<OnIt>,
}

/// Pairs of processes up to which those on busy channels are looked for.
const MOST_PAIRS: usize = 1 << 18;

/// The `channels` busiest channels by their loads, with at most `pairs` pairs of ranks each; no
/// pairs where there are very many in all. O(loads log loads + pairs * channels of their ways).
///
/// # Errors
/// When a process is on an endpoint that does not work.
pub fn busiest(
    ways: Ways<'_>,
    graph: &Communication,
    places: &[u32],
    loads: &[f64],
    channels: usize,
    pairs: usize,
) -> Result<Vec<Busy>, Refusal> {
    let mut order: Vec<u32> =
        (0..loads.len() as u32).filter(|&c| loads[c as usize] > 0.0).collect();
    order.sort_by(|&a, &b| loads[b as usize].total_cmp(&loads[a as usize]).then(a.cmp(&b)));
    order.truncate(channels);
    let mut on: BTreeMap<u32, Vec<OnIt>> = order.iter().map(|&c| (c, Vec::new())).collect();
    if graph.pairs() <= MOST_PAIRS && !order.is_empty() {
        let mut endpoints = places.to_vec();
        endpoints.sort_unstable();
        endpoints.dedup();
        let slots = Slots::new(ways.topology(), Some(&endpoints), Some(1))?;
        let slot =
            |process: u32| endpoints.partition_point(|&e| e < places[process as usize]) as u32;
        let mut lists = Lists::new(ways, &slots);
        for one in graph.sent().filter(|one| one.bytes > 0.0) {
            let [from, to] = [slot(one.from), slot(one.to)];
            let target = lists.target(to);
            for &(c, share) in lists.of(slots.site(from), target) {
                if let Some(own) = on.get_mut(&c) {
                    own.push((one.from, one.to, one.bytes * f64::from(share)));
                }
            }
        }
    }
    for own in on.values_mut() {
        own.sort_by(|a, b| b.2.total_cmp(&a.2).then((a.0, a.1).cmp(&(b.0, b.1))));
        own.truncate(pairs);
    }
    let busy = |channel: u32| Busy {
        channel,
        load: loads[channel as usize],
        pairs: on.remove(&channel).unwrap_or_default(),
    };
    Ok(order.into_iter().map(busy).collect())
}

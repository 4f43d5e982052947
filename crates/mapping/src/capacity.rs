//! Capacities of the channels of a network, relative to its fastest link.

use base::LinkId;
use fabric::Topology;

/// The capacity of every channel by [`base::ChannelId`]: the rate of its link divided by the rate
/// of the fastest link; 0 if the link is down.
pub(crate) fn capacities(on: &Topology) -> Vec<f64> {
    let up = |l: usize| on.link_is_up(LinkId::from(l));
    let rate = |l: usize| if up(l) { on.links()[l].cable.rate_gbps() } else { 0.0 };
    let rates: Vec<f64> = (0..on.links().len()).map(rate).collect();
    let fastest = rates.iter().copied().fold(0.0, f64::max);
    rates.iter().flat_map(|rate| [rate / fastest.max(f64::MIN_POSITIVE); 2]).collect()
}

//! The busiest channels of a network, by the names and ports of the devices at both ends.

use super::flows::relative_cost;
use base::{ChannelId, TerminalId};
use fabric::network::{CablePlug, Topology};
use fabric::tables::Routing;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of busiest channels that a record lists by default.
pub(super) const BUSIEST: u32 = 10;

/// A channel, by the devices at its ends and the ports that its cable is in, with its load.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "BusyChannel")]
pub struct BusyChannel {
    /// The device that sends: a switch, or an endpoint.
    pub from: String,
    /// The port of the device that sends; rail r of an endpoint is its port r + 1.
    pub port: u16,
    /// The device that receives.
    pub to: String,
    /// The port of the device that receives.
    pub to_port: u16,
    /// Its load.
    pub load: f64,
}

/// The `top` channels of the largest `loads`, the busiest first, of equally loaded ones the one of
/// the lower number first; a channel without load is not listed. The channels of links come first
/// in `loads`, by [`ChannelId`]; then, if they are counted, two for each terminal, out of its
/// endpoint and into it. O(channels log channels).
pub fn busiest(on: &Topology, loads: &[f64], top: u32) -> Vec<BusyChannel> {
    let mut order: Vec<usize> = (0..loads.len()).filter(|&c| loads[c] > 0.0).collect();
    order.sort_by(|&a, &b| loads[b].total_cmp(&loads[a]).then(a.cmp(&b)));
    order.truncate(top as usize);
    let at = |plug: CablePlug| (on.switches()[plug.switch.ix()].name.clone(), plug.port);
    let busy = |c: usize| {
        let links = 2 * on.links().len();
        let ((from, port), (to, to_port)) = if c < links {
            let channel = ChannelId(c as u32);
            (at(on.tail(channel)), at(on.head(channel)))
        } else {
            let rail = &on.terminals()[TerminalId::from((c - links) / 2).ix()];
            let name = on.endpoints()[rail.endpoint.ix()].name.clone();
            let own = (name, rail.rail.saturating_add(1));
            let ends = (own, at(rail.plug));
            if (c - links).is_multiple_of(2) { ends } else { (ends.1, ends.0) }
        };
        BusyChannel { from, port, to, to_port, load: loads[c] }
    };
    order.into_iter().map(busy).collect()
}

/// The loads of channels that carry these amounts: each over what its cable carries, in units of
/// the rate of the fastest endpoint cable. O(channels).
pub(super) fn loads(routing: &Routing, carried: &[f64]) -> Vec<f64> {
    carried.iter().zip(relative_cost(routing)).map(|(amount, cost)| amount * cost).collect()
}

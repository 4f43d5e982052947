//! The working endpoints of a network, which are the ranks of patterns and of traffic.

use base::{EndpointId, TerminalId};
use fabric::network::Topology;

/// The endpoints that have at least one working rail, in order.
pub fn working(t: &Topology) -> Vec<EndpointId> {
    let mut works = vec![false; t.endpoints().len()];
    for i in (0..t.terminals().len()).map(TerminalId::from).filter(|&i| t.terminal_is_up(i)) {
        works[t.terminals()[i.ix()].endpoint.ix()] = true;
    }
    (0..works.len()).filter(|&e| works[e]).map(EndpointId::from).collect()
}

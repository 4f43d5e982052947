//! Endpoints that a user gives a network whose file has none.

use super::kind::{add_endpoints, own_endpoints};
use crate::backed::NetworkFileOptions;
use base::{Refusal, SwitchId};
use fabric::network::{PortPeer, Topology, TopologyBuilder};

/// `t` with `p` endpoints on every switch, where it has none. `fixed` means that the file states
/// how many ports its switches have; otherwise a switch whose ports are all in use gets more.
/// O(network).
///
/// # Errors
/// When `p` is given for a network with endpoints, or a switch has no ports for them.
pub(super) fn with_endpoints(
    t: Topology,
    name: &str,
    p: NetworkFileOptions,
    fixed: bool,
) -> Result<Topology, Refusal> {
    if p.p.is_none() {
        return Ok(t);
    }
    if !t.endpoints().is_empty() {
        own_endpoints(name, p.p)?;
    }
    let mut b = TopologyBuilder::from(&t);
    for s in (0..t.switches().len()).map(SwitchId::from).filter(|_| !fixed) {
        let ports = t.switches()[s.ix()].ports;
        if (1..=ports).all(|port| t.peer(s, port) != PortPeer::Empty) {
            b.switch_mut(s).ports = 0;
        }
    }
    add_endpoints(&mut b, vec![0; t.switches().len()], false, p, name)?;
    b.finish(t.recipe().clone()).map_err(|refused| refused.within(name))
}

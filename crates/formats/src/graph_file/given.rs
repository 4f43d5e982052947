//! Endpoints that a user gives a network whose file has none.

use super::{add_endpoints, own_endpoints};
use base::Refusal;
use fabric::network::{Builder, Topology};

/// `t` with `p` endpoints on every switch, where it has none. O(network).
///
/// # Errors
/// When `p` is given for a network with endpoints, or a switch has no ports for them.
pub(super) fn with_endpoints(t: Topology, name: &str, p: Option<u32>) -> Result<Topology, Refusal> {
    if p.is_none() {
        return Ok(t);
    }
    if !t.endpoints().is_empty() {
        own_endpoints(name, p)?;
    }
    let mut b = Builder::from(&t);
    add_endpoints(&mut b, vec![0; t.switches().len()], false, p, name)?;
    b.finish(t.recipe().clone()).map_err(|refused| refused.within(name))
}

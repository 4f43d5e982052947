//! `BookSim`'s routing functions as guides, which also list their possible steps for the proof.
//!
//! Source: `BookSim` 2 at revision 28f43299, src/routefunc and the files of src/networks; for
//! anynet also its `PolarFly` variant. Its faults are reproduced, and the proof reports them.

mod anynet;
mod cube;
mod dragonfly;
mod fattree;
mod flatfly;
mod kind;
#[cfg(test)]
mod tests;

pub(crate) use anynet::AnynetRouting;
pub use kind::{EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition};

use super::BookSimNetwork;
use base::Refusal;
use kind::EndpointAttachments;
use paths::wiring::RouterWiring;

/// The routing function of this name on `network`, whose wiring is `wiring`.
///
/// With `hops`, which only anynet uses, the channel of a link is the number of links that the
/// packet has crossed before, at most 3.
///
/// # Errors
/// When the network has no function of this name, there are too few or too many channels for it, or
/// the function needs something that the network of the file lacks.
pub fn guide(
    network: &BookSimNetwork,
    wiring: &RouterWiring,
    name: &str,
    vcs: u8,
    hops: bool,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    if !(1..=32).contains(&vcs) {
        return Err(Refusal::new("num_vcs", format!("{vcs}"), "from 1 to 32"));
    }
    if hops && !matches!(network, BookSimNetwork::Anynet { .. }) {
        let help = "only routing functions of anynet can have hops";
        return Err(Refusal::new("vc_policy", "hops", help));
    }
    let homes = EndpointAttachments::of(wiring);
    match network {
        BookSimNetwork::Mesh { k, n } => cube::mesh(*k, *n, name, vcs),
        BookSimNetwork::Torus { k, n, .. } => cube::torus(*k, *n, name, vcs),
        BookSimNetwork::FlatFly { k, n, xr, .. } => {
            flatfly::guide(*k, *n, xr * xr, homes, name, vcs)
        }
        BookSimNetwork::FatTree { k, n } => fattree::guide(*k, *n, name, vcs),
        BookSimNetwork::Dragonfly { p } => dragonfly::guide(*p, name, vcs),
        BookSimNetwork::Anynet { neighbours, .. } => {
            anynet::guide(neighbours, wiring, homes, name, vcs, hops)
        }
    }
}

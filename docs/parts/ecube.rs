//! Packets in hypercubes that correct the bits of their address one after the other (`ecube`).
//!
//! Source: Sullivan & Bashkow, "A large scale, homogeneous, fully distributed parallel machine",
//! ISCA 1977.

use super::kind::{ModelDefaults, ModelPathInputs, PacketPaths};
use super::order::ChannelDirection::On;
use super::order::{ChannelKind, KindSuccessors};
use crate::event::PacketChunk;
use crate::node::NodePorts;
use crate::plant::{LinkClass, SimulatedNetwork};
use crate::runs::EventHandlerContext;
use base::Refusal;
use paths::select::PathSelection;

/// The virtual channel of a packet is the number of links that it has crossed.
const FIRST: &[ChannelKind] = &[(On, 0)];
const STEPS: KindSuccessors =
    &[((On, 0), &[(On, 1)]), ((On, 1), &[(On, 2)]), ((On, 2), &[(On, 3)]), ((On, 3), &[])];
/// Dimensions for which these steps are enough.
const MOST: u32 = STEPS.len() as u32;

pub(crate) const ENTRY: ModelDefaults = ModelDefaults {
    networks: &["hypercube:n=3,p=2", "hypercube:n=4,p=1"],
    selections: Some(&[PathSelection::Minimal]),
    order: Some((FIRST, STEPS)),
    ..ModelDefaults::usual("ecube", "Hypercube whose packets correct the lowest wrong bit first")
};

/// Paths of one plane.
#[derive(Debug, Clone)]
pub struct EcubePaths {
    dimensions: u32,
    /// The port of each router in each dimension, router by router.
    ports: Vec<u16>,
}

impl PacketPaths for EcubePaths {
    fn new(request: &ModelPathInputs<'_>) -> Result<Self, Refusal> {
        let plant = request.plant;
        let dimensions = plant.routers.checked_ilog2().unwrap_or(0);
        let port = |router: u32, dimension: u32| {
            let wanted = router ^ (1 << dimension);
            let leads = |port: &u16| {
                let behind = plant.behind(router, *port);
                behind.class != LinkClass::Endpoint && behind.lp == wanted
            };
            (0..plant.ports(router) as u16).find(leads)
        };
        let all = (0..plant.routers).flat_map(|r| (0..dimensions).map(move |d| (r, d)));
        let ports: Option<Vec<u16>> = all.map(|(router, d)| port(router, d)).collect();
        match ports {
            Some(ports) if plant.routers == 1 << dimensions && dimensions <= MOST => {
                Ok(Self { dimensions, ports })
            }
            _ => {
                let why = format!("ecube on {}", request.on.recipe());
                let help = format!("a hypercube of at most {MOST} dimensions");
                Err(Refusal::new("dialect", why, help))
            }
        }
    }

    fn next_hop(
        &self,
        plant: &SimulatedNetwork,
        at: u32,
        packet: &mut PacketChunk,
        _: &mut NodePorts,
        _: &mut impl EventHandlerContext,
    ) -> (u16, u8) {
        let end = plant.at(packet.to, packet.rail);
        if at == end.router {
            return (end.port, 0);
        }
        (self.port(at, (at ^ end.router).trailing_zeros()), packet.hops)
    }

    fn length(&self, _: &SimulatedNetwork, from: u32, to: u32) -> u32 {
        (from ^ to).count_ones()
    }

    #[cfg(test)]
    fn leads(&self, _: u32, _: LinkClass) -> super::order::ChannelDirection {
        On
    }
}

impl EcubePaths {
    fn port(&self, router: u32, dimension: u32) -> u16 {
        self.ports[(router * self.dimensions + dimension) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_has_a_virtual_channel_for_every_link_of_its_path() {
        assert_eq!(ENTRY.part.name, "ecube");
        let (first, steps) = ENTRY.order.expect("an order");
        let mut after = first;
        for _ in 1..MOST {
            after = steps.iter().find(|(kind, _)| after.contains(kind)).expect("a step").1;
        }
        assert_eq!(after, [(On, MOST as u8 - 1)]);
        assert!(u32::from(ENTRY.virtual_channels) >= MOST);
    }

    #[test]
    fn a_port_for_every_dimension_of_every_router() {
        let route = EcubePaths { dimensions: 2, ports: vec![1, 2, 2, 1, 1, 2, 2, 1] };
        assert_eq!(route.port(1, 0), 2);
        assert_eq!(route.port(2, 1), 2);
    }
}

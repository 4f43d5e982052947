//! Networks of groups: the ports of routers that lead to each group, and the load of ports.

use crate::event::{NONE, PacketChunk};
use crate::node::NodePorts;
use crate::plant::{LinkClass, SimulatedNetwork};
use crate::runs::EventHandlerContext;
use fabric::Topology;

/// The groups of a network, and the ports of each router that lead to them.
#[derive(Debug, Clone)]
pub(super) struct RouterGroups {
    count: u32,
    /// The group of each router.
    group: Vec<u32>,
    /// Whether each router has endpoints.
    leaf: Vec<bool>,
    /// Ports that lead to another group, for each router and group.
    global: RouterPortLists,
    /// Ports that lead to routers of the same group with links to another group, for each router
    /// and group.
    towards: RouterPortLists,
    /// Ports that lead to routers of the same group, for each router.
    local: RouterPortLists,
}

/// Lists of ports as compressed rows.
#[derive(Debug, Clone, Default)]
struct RouterPortLists {
    offsets: Vec<u32>,
    ports: Vec<u16>,
}

impl RouterPortLists {
    fn new() -> Self {
        Self { offsets: vec![0], ports: Vec::new() }
    }

    fn push(&mut self, row: impl Iterator<Item = u16>) {
        self.ports.extend(row);
        self.offsets.push(self.ports.len() as u32);
    }

    fn get(&self, row: usize) -> &[u16] {
        &self.ports[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }
}

impl RouterGroups {
    /// The groups of a network. O(routers x groups x radix).
    pub(super) fn new(on: &Topology, plant: &SimulatedNetwork) -> Self {
        let group: Vec<u32> = on.switches().iter().map(|switch| switch.group).collect();
        let count = group.iter().max().map_or(0, |&last| last + 1);
        let links = |router: u32| {
            let ports = (0..plant.ports(router) as u16).map(move |p| (p, plant.behind(router, p)));
            ports.filter(|(_, behind)| behind.class != LinkClass::Endpoint)
        };
        let leads = |router: u32, to: u32| {
            links(router).any(|(_, b)| b.class == LinkClass::Global && group[b.lp as usize] == to)
        };
        let has_endpoint = |router: u32| {
            (0..plant.ports(router) as u16)
                .any(|port| plant.behind(router, port).class == LinkClass::Endpoint)
        };
        let (mut global, mut towards, mut local) =
            (RouterPortLists::new(), RouterPortLists::new(), RouterPortLists::new());
        for router in 0..plant.routers {
            local.push(links(router).filter(|(_, b)| b.class == LinkClass::Local).map(|(p, _)| p));
            for to in 0..count {
                let there = |lp: u32| group[lp as usize] == to;
                let across =
                    links(router).filter(|(_, b)| b.class == LinkClass::Global && there(b.lp));
                global.push(across.map(|(port, _)| port));
                let near =
                    links(router).filter(|(_, b)| b.class == LinkClass::Local && leads(b.lp, to));
                towards.push(near.map(|(port, _)| port));
            }
        }
        let leaf = (0..plant.routers).map(has_endpoint).collect();
        Self { count, group, leaf, global, towards, local }
    }

    /// The number of groups.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// The group of a router.
    #[inline]
    pub(super) fn of(&self, router: u32) -> u32 {
        self.group[router as usize]
    }

    /// Whether a router has endpoints.
    #[inline]
    pub(super) fn is_leaf(&self, router: u32) -> bool {
        self.leaf[router as usize]
    }

    /// The ports of a router that lead to another group.
    #[inline]
    pub(super) fn global(&self, router: u32, group: u32) -> &[u16] {
        self.global.get((router * self.count + group) as usize)
    }

    /// The ports of a router that lead to routers of its group with links to another group.
    #[inline]
    pub(super) fn towards(&self, router: u32, group: u32) -> &[u16] {
        self.towards.get((router * self.count + group) as usize)
    }

    /// The ports of a router that lead to other routers of its group.
    #[inline]
    pub(super) fn local(&self, router: u32) -> &[u16] {
        self.local.get(router as usize)
    }

    /// The port of a router that leads to another router of its group, where there is one.
    pub(super) fn direct(&self, plant: &SimulatedNetwork, router: u32, other: u32) -> Option<u16> {
        let leads = |port: &&u16| plant.behind(router, **port).lp == other;
        self.local(router).iter().find(leads).copied()
    }

    /// A random group other than these two, which may be equal; none if there is no other group.
    pub(super) fn other(
        &self,
        a: u32,
        b: u32,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> Option<u32> {
        let (first, second) = (a.min(b), a.max(b));
        let without = 1 + u32::from(first != second);
        if self.count <= without {
            return None;
        }
        let mut drawn = node.dice(to).below(self.count - without);
        drawn += u32::from(drawn >= first);
        drawn += u32::from(first != second && drawn >= second);
        Some(drawn)
    }

    /// A random group other than `not` to which a router has links; none if there is no such group.
    pub(super) fn reached(
        &self,
        router: u32,
        not: u32,
        node: &mut NodePorts,
        to: &mut impl EventHandlerContext,
    ) -> Option<u32> {
        let has = |&group: &u32| group != not && !self.global(router, group).is_empty();
        let count = (0..self.count).filter(has).count() as u32;
        let drawn = if count > 0 { node.dice(to).below(count) } else { 0 };
        (0..self.count).filter(has).nth(drawn as usize)
    }
}

/// The rule that decides between a minimal path and a detour.
pub(super) struct DetourRule<'a> {
    /// The groups of the network.
    pub(super) groups: &'a RouterGroups,
    /// A minimal path is taken if its score, in chunks, is at most this.
    pub(super) threshold: u32,
    /// Factor of a detour's score in comparisons.
    pub(super) weight: u32,
}

impl DetourRule<'_> {
    /// Progressive adaptive routing at router `at` of the source's group, for a packet to group
    /// `there`: a port towards that group or towards an intermediate group; `best` chooses the port
    /// towards a group.
    pub(super) fn progressive<R: EventHandlerContext>(
        &self,
        plant: &SimulatedNetwork,
        (at, here, there): (u32, u32, u32),
        packet: &mut PacketChunk,
        (node, to): (&mut NodePorts, &mut R),
        best: impl Fn(u32, &mut NodePorts, &mut R) -> u16,
    ) -> u16 {
        let groups = self.groups;
        let is_first = packet.hops == 0;
        if is_first {
            packet.set_via(groups.other(here, there, node, to).unwrap_or(NONE));
        }
        let mut via = packet.via();
        if !is_first && (via == NONE || groups.global(at, via).is_empty()) {
            via = groups.reached(at, there, node, to).unwrap_or(NONE);
        }
        if via == NONE {
            return best(there, node, to);
        }
        packet.set_via(via);
        let detour = best(via, node, to);
        if packet.is_detour {
            return detour;
        }
        let minimal = best(there, node, to);
        let direct = score(plant, node, minimal);
        if direct <= self.threshold || direct <= self.weight * score(plant, node, detour) {
            return minimal;
        }
        packet.is_detour = true;
        detour
    }
}

/// The load of a port in chunks, over all its virtual channels: those that occupy the buffer behind
/// it, and those that wait for room in it.
#[inline]
pub(super) fn score(plant: &SimulatedNetwork, node: &NodePorts, port: u16) -> u32 {
    let lanes = plant.lanes as usize;
    let first = usize::from(port) * lanes;
    let chunks: u32 = node.lanes[first..first + lanes].iter().map(|lane| lane.chunks).sum();
    chunks + node.ports[usize::from(port)].queued
}

/// A random port of `ports`, which has at least one.
#[inline]
pub(super) fn any(ports: &[u16], node: &mut NodePorts, to: &mut impl EventHandlerContext) -> u16 {
    match ports {
        [one] => *one,
        _ => ports[node.dice(to).below(ports.len() as u32) as usize],
    }
}

/// The port with the lowest score; if several have it, a random one of them.
pub(super) fn lowest(
    plant: &SimulatedNetwork,
    ports: &[u16],
    node: &mut NodePorts,
    to: &mut impl EventHandlerContext,
) -> u16 {
    let mut best = (u32::MAX, 0);
    let mut ties = 0;
    for &port in ports {
        let found = score(plant, node, port);
        if found < best.0 {
            (best, ties) = ((found, port), 1);
        } else if found == best.0 {
            ties += 1;
            // the k-th of several equal ports replaces the best with probability 1 / k, so all are
            // equally likely
            if node.dice(to).below(ties) == 0 {
                best.1 = port;
            }
        }
    }
    best.1
}

/// The better of two different random ports, or a random one of them if both have the same score;
/// if there is only one port, that one.
pub(super) fn better_of_two(
    plant: &SimulatedNetwork,
    ports: &[u16],
    node: &mut NodePorts,
    to: &mut impl EventHandlerContext,
) -> u16 {
    let count = ports.len() as u32;
    if count == 1 {
        return ports[0];
    }
    let first = node.dice(to).below(count);
    let mut second = node.dice(to).below(count - 1);
    second += u32::from(second >= first);
    lowest(plant, &[ports[first as usize], ports[second as usize]], node, to)
}

//! Networks of groups: which ports of a router lead to which group, and how busy ports are.

use crate::event::{NONE, Packet};
use crate::node::Node;
use crate::plant::{Class, Plant};
use crate::runs::Runs;
use fabric::Topology;

/// What every router knows of groups.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    count: u32,
    /// Of each router.
    group: Vec<u32>,
    /// Whether it has endpoints, of each router.
    leaf: Vec<bool>,
    /// Ports of a router to another group, by router and group.
    global: Rows,
    /// Ports to routers of its group that have links to another group, by router and group.
    towards: Rows,
    /// Ports to routers of its own group, by router.
    local: Rows,
}

/// Rows of ports.
#[derive(Debug, Clone, Default)]
struct Rows {
    offsets: Vec<u32>,
    ports: Vec<u16>,
}

impl Rows {
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

impl Groups {
    /// Those of a network. O(routers x groups x radix).
    pub(super) fn new(on: &Topology, plant: &Plant) -> Self {
        let group: Vec<u32> = on.switches().iter().map(|switch| switch.group).collect();
        let count = group.iter().max().map_or(0, |&last| last + 1);
        let links = |router: u32| {
            let ports = (0..plant.ports(router) as u16).map(move |p| (p, plant.behind(router, p)));
            ports.filter(|(_, behind)| behind.class != Class::Endpoint)
        };
        let leads = |router: u32, to: u32| {
            links(router).any(|(_, b)| b.class == Class::Global && group[b.lp as usize] == to)
        };
        let has_endpoint = |router: u32| {
            (0..plant.ports(router) as u16)
                .any(|port| plant.behind(router, port).class == Class::Endpoint)
        };
        let (mut global, mut towards, mut local) = (Rows::new(), Rows::new(), Rows::new());
        for router in 0..plant.routers {
            local.push(links(router).filter(|(_, b)| b.class == Class::Local).map(|(p, _)| p));
            for to in 0..count {
                let there = |lp: u32| group[lp as usize] == to;
                let across = links(router).filter(|(_, b)| b.class == Class::Global && there(b.lp));
                global.push(across.map(|(port, _)| port));
                let near =
                    links(router).filter(|(_, b)| b.class == Class::Local && leads(b.lp, to));
                towards.push(near.map(|(port, _)| port));
            }
        }
        let leaf = (0..plant.routers).map(has_endpoint).collect();
        Self { count, group, leaf, global, towards, local }
    }

    /// How many there are.
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

    /// Ports of a router to another group.
    #[inline]
    pub(super) fn global(&self, router: u32, group: u32) -> &[u16] {
        self.global.get((router * self.count + group) as usize)
    }

    /// Ports of a router to others of its group that have links to another group.
    #[inline]
    pub(super) fn towards(&self, router: u32, group: u32) -> &[u16] {
        self.towards.get((router * self.count + group) as usize)
    }

    /// Ports of a router to others of its group.
    #[inline]
    pub(super) fn local(&self, router: u32) -> &[u16] {
        self.local.get(router as usize)
    }

    /// The link of a router to another one of its group, where there is one.
    pub(super) fn direct(&self, plant: &Plant, router: u32, other: u32) -> Option<u16> {
        let leads = |port: &&u16| plant.behind(router, **port).lp == other;
        self.local(router).iter().find(leads).copied()
    }

    /// Any group but these two, which may be the same; none where there is no other.
    pub(super) fn other(&self, a: u32, b: u32, node: &mut Node, to: &mut impl Runs) -> Option<u32> {
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

    /// Any group but `not` that a router has links to; none where there is none.
    pub(super) fn reached(
        &self,
        router: u32,
        not: u32,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> Option<u32> {
        let has = |&group: &u32| group != not && !self.global(router, group).is_empty();
        let count = (0..self.count).filter(has).count() as u32;
        let drawn = if count > 0 { node.dice(to).below(count) } else { 0 };
        (0..self.count).filter(has).nth(drawn as usize)
    }
}

/// When a detour is better than a shortest way.
pub(super) struct Weighed<'a> {
    /// The groups.
    pub(super) groups: &'a Groups,
    /// A shortest way is taken up to this score, chunks.
    pub(super) threshold: u32,
    /// By what the score of a detour is multiplied.
    pub(super) weight: u32,
}

impl Weighed<'_> {
    /// Progressive adaptive routing at router `at` of the source's group, for a packet to group
    /// `there`: the port that `best` has towards that group, or towards one in between.
    pub(super) fn progressive<R: Runs>(
        &self,
        plant: &Plant,
        (at, here, there): (u32, u32, u32),
        packet: &mut Packet,
        (node, to): (&mut Node, &mut R),
        best: impl Fn(u32, &mut Node, &mut R) -> u16,
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

/// Chunks that a port is busy with: those with room behind it, on all lanes, and those without.
#[inline]
pub(super) fn score(plant: &Plant, node: &Node, port: u16) -> u32 {
    let lanes = plant.lanes as usize;
    let first = usize::from(port) * lanes;
    let chunks: u32 = node.lanes[first..first + lanes].iter().map(|lane| lane.chunks).sum();
    chunks + node.ports[usize::from(port)].queued
}

/// Any of some ports, of which there is one at least.
#[inline]
pub(super) fn any(ports: &[u16], node: &mut Node, to: &mut impl Runs) -> u16 {
    match ports {
        [one] => *one,
        _ => ports[node.dice(to).below(ports.len() as u32) as usize],
    }
}

/// The one of some ports with the lowest score; any of those that have it.
pub(super) fn lowest(plant: &Plant, ports: &[u16], node: &mut Node, to: &mut impl Runs) -> u16 {
    let mut best = (u32::MAX, 0);
    let mut ties = 0;
    for &port in ports {
        let found = score(plant, node, port);
        if found < best.0 {
            (best, ties) = ((found, port), 1);
        } else if found == best.0 {
            ties += 1;
            // the k-th of equal ones takes the place with a chance of 1 / k: all as likely
            if node.dice(to).below(ties) == 0 {
                best.1 = port;
            }
        }
    }
    best.1
}

/// The better of two different ports drawn at random, any where both have the same score; the only
/// one where there is one.
pub(super) fn better_of_two(
    plant: &Plant,
    ports: &[u16],
    node: &mut Node,
    to: &mut impl Runs,
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

//! The ways of packets in dragonflies as CODES has them (`codes-dally-v1`).
//!
//! Virtual channels: in the source's group the local links crossed so far, 1 once the way has
//! become a detour at a router before; 2 in the group in between; 3 in that of the destination
//! where it is another; of ejection the same.

use super::groups::{Groups, Weighed, any, better_of_two, lowest};
use super::kind::{Entry, PathRequest, Paths, RATE};
use super::order::Leads::{Across, Near};
use super::order::{Kind, Steps};
use crate::event::Packet;
use crate::nic::Injection;
use crate::node::Node;
use crate::plant::Plant;
use crate::runs::Runs;
use crate::timing::{Drawn, Passing, Timing};
use base::Refusal;
use paths::select::Selection;

/// The first channels of packets: local in the source's group, or across.
const FIRST: &[Kind] = &[(Near, 0), (Near, 1), (Across, 0), (Across, 1)];
/// Once to a router that leads across, across, the same in the group in between, and to the last
/// router.
const STEPS: Steps = &[
    ((Near, 0), &[(Across, 1)]),
    ((Near, 1), &[(Across, 1)]),
    ((Across, 0), &[(Near, 2), (Across, 2), (Near, 3)]),
    ((Across, 1), &[(Near, 2), (Across, 2), (Near, 3)]),
    ((Near, 2), &[(Across, 2)]),
    ((Across, 2), &[(Near, 3)]),
    ((Near, 3), &[]),
];

/// What CODES takes for granted.
pub(crate) const ENTRY: Entry = Entry {
    networks: &["dragonfly:h=2", "dragonfly:h=3", "dragonfly:p=2,a=4,h=4,g=5"],
    selections: Some(&[Selection::Minimal, Selection::Par]),
    order: Some((FIRST, STEPS)),
    births: Injection::Synchronised,
    rates_gib_per_s: [RATE, 2.0 * RATE, RATE / 2.0],
    weighs_detours: true,
    draws_steps: true,
    timing: |usual| Timing {
        jitter: Drawn { more_ps: 0, ..usual.jitter },
        waking: None,
        passing: Passing::Twice,
        begins_late: true,
        ..usual
    },
    ..Entry::usual("codes-dally-v1", "Dragonfly as CODES has it")
};

/// Ways over one group in between at most.
#[derive(Debug, Clone)]
pub struct Route {
    groups: Groups,
    selection: Selection,
    /// A shortest way is taken up to this score, chunks.
    threshold: u32,
    /// By what the score of a detour is multiplied.
    weight: u32,
}

impl Paths for Route {
    fn new(request: &PathRequest<'_>) -> Result<Self, Refusal> {
        let route = Self {
            groups: Groups::new(request.on, request.plant),
            selection: request.selection,
            threshold: request.threshold_chunks(0),
            weight: request.weight(),
        };
        route.check(request.plant)?;
        Ok(route)
    }

    fn way(
        &self,
        plant: &Plant,
        at: u32,
        packet: &mut Packet,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> (u16, u8) {
        let end = plant.at(packet.to, packet.rail);
        let (here, there) = (self.groups.of(at), self.groups.of(end.router));
        let first = self.groups.of(plant.at(packet.from, packet.rail).router);
        let near = packet.hops.min(1);
        if here == there {
            let port = if at == end.router {
                end.port
            } else {
                self.groups.direct(plant, at, end.router).unwrap_or(0)
            };
            return (port, if here == first { near } else { 3 });
        }
        let is_adaptive = self.selection == Selection::Par;
        if here != first {
            let port = if is_adaptive {
                self.best(plant, at, there, node, to)
            } else {
                self.minimal(at, there, node, to)
            };
            return (port, 2);
        }
        // of what a packet decides here CODES hears at the next router
        let lane = if packet.is_detour { 1 } else { near };
        let port = if is_adaptive {
            self.progressive(plant, (at, here, there), packet, node, to)
        } else {
            self.minimal(at, there, node, to)
        };
        (port, lane)
    }
}

impl Route {
    /// # Errors
    /// When a router lacks a link to another one of its group, or a group one to another group.
    fn check(&self, plant: &Plant) -> Result<(), Refusal> {
        let groups = &self.groups;
        let routers = 0..plant.routers;
        let is_whole = |a: u32| {
            let mates = (0..plant.routers).filter(|b| *b != a && groups.of(*b) == groups.of(a));
            let near: Vec<u32> =
                groups.local(a).iter().map(|port| plant.behind(a, *port).lp).collect();
            mates.clone().all(|b| near.contains(&b))
                && (0..groups.count())
                    .all(|g| g == groups.of(a) || !self.candidates(a, g).is_empty())
        };
        if routers.clone().all(is_whole) {
            return Ok(());
        }
        let why = "codes-dally-v1 on another network";
        let help = "a dragonfly whose groups are all linked, or the dialect physical";
        Err(Refusal::new("dialect", why, help))
    }

    /// Any link to a group, or any to a router that has one.
    fn minimal(&self, at: u32, there: u32, node: &mut Node, to: &mut impl Runs) -> u16 {
        any(self.candidates(at, there), node, to)
    }

    fn candidates(&self, at: u32, there: u32) -> &[u16] {
        let across = self.groups.global(at, there);
        if across.is_empty() { self.groups.towards(at, there) } else { across }
    }

    /// The best of the candidates towards a group: of links to it the better of two, of links to
    /// routers that have one the best of all.
    fn best(&self, plant: &Plant, at: u32, there: u32, node: &mut Node, to: &mut impl Runs) -> u16 {
        let across = self.groups.global(at, there);
        if across.is_empty() {
            lowest(plant, self.groups.towards(at, there), node, to)
        } else {
            better_of_two(plant, across, node, to)
        }
    }

    /// Progressive adaptive routing, in the source's group.
    fn progressive(
        &self,
        plant: &Plant,
        (at, here, there): (u32, u32, u32),
        packet: &mut Packet,
        node: &mut Node,
        to: &mut impl Runs,
    ) -> u16 {
        let weighed =
            Weighed { groups: &self.groups, threshold: self.threshold, weight: self.weight };
        let best = |group, node: &mut Node, to: &mut _| self.best(plant, at, group, node, to);
        weighed.progressive(plant, (at, here, there), packet, (node, to), best)
    }
}

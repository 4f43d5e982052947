//! The counts by which members of families are chosen that a network may be.

use super::graph::DeviceGraph;
use families::FamilyPromise;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The counts of a network.
#[derive(Debug, Clone)]
pub(super) struct NetworkCounts {
    /// Switches.
    pub(super) switches: u64,
    /// Switches with endpoints.
    pub(super) leaves: u64,
    /// Cables between switches.
    pub(super) links: u64,
    /// Endpoints.
    pub(super) endpoints: u64,
    /// Endpoints on most of the switches that have some.
    pub(super) hosts: u64,
    /// The most cables to other switches that a switch has.
    pub(super) degree: u64,
    /// The most cables to other switches of a switch with endpoints.
    pub(super) leaf_degree: u64,
    /// The most cables of a switch.
    pub(super) radix: u32,
}

/// The part of a network's switches, links and endpoints by which a member may differ from it.
const TOLERANCE: u64 = 12;
/// The numbers that a count may be off in any network.
const FEW: u64 = 2;

impl NetworkCounts {
    /// The counts of a graph. O(vertices).
    pub(super) fn of(graph: &DeviceGraph) -> Self {
        let switches = 0..graph.switches.len() as u32;
        // an endpoint with several rails is a vertex: its switches have it, too
        let rails = |v: u32| -> u32 {
            let row = graph.rows[v as usize].iter().filter(|(to, _)| !graph.is_switch(*to));
            row.map(|(_, cables)| cables).sum()
        };
        let hosts = |v: u32| graph.hosts[v as usize] + rails(v);
        let mut of_hosts: BTreeMap<u32, u64> = BTreeMap::new();
        for n in switches.clone().map(hosts).filter(|n| *n > 0) {
            *of_hosts.entry(n).or_insert(0) += 1;
        }
        let usual = of_hosts.iter().max_by_key(|(n, count)| (**count, **n)).map_or(0, |(n, _)| *n);
        let degree = |v: u32| graph.degree(v) - rails(v);
        let most = |of: &dyn Fn(u32) -> u32| switches.clone().map(of).max().unwrap_or(0);
        Self {
            switches: switches.len() as u64,
            leaves: of_hosts.values().sum(),
            links: graph.links,
            endpoints: graph.all_endpoints(),
            hosts: usual.into(),
            degree: most(&degree).into(),
            leaf_degree: most(&|v| if hosts(v) > 0 { degree(v) } else { 0 }).into(),
            radix: most(&|v| degree(v) + hosts(v)),
        }
    }

    /// The numbers near to the number of switches.
    pub(super) fn near_switches(&self) -> RangeInclusive<u64> {
        numbers_near(self.switches)
    }

    /// Whether a number of switches is near to that of the network.
    pub(super) fn is_near_switches(&self, n: u64) -> bool {
        near_to(self.switches, n)
    }

    /// Whether a member's numbers of switches, links and endpoints are near to the network's.
    pub(super) fn is_near(&self, promise: &FamilyPromise) -> bool {
        near_to(self.switches, promise.switches)
            && near_to(self.links, promise.links)
            && near_to(self.endpoints, promise.endpoints)
    }
}

/// The numbers near to a count, from 1.
pub(super) fn numbers_near(n: u64) -> RangeInclusive<u64> {
    n.saturating_sub(FEW).max(1)..=n + FEW
}

fn near_to(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= FEW.max(one / TOLERANCE)
}

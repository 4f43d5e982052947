//! Which device of a found network is which device of its plan.

use crate::ib::names::Addresses;
use crate::network::Topology;
use base::{EndpointId, SwitchId};
use std::collections::BTreeMap;

/// A device, in the terms of the plan where it is known there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A switch of the plan.
    Switch(SwitchId),
    /// An endpoint of the plan; rail r is its port r + 1.
    Endpoint(EndpointId),
    /// A switch of the found network that the plan does not know.
    UnknownSwitch(SwitchId),
    /// An endpoint of the found network that the plan does not know.
    UnknownEndpoint(EndpointId),
}

/// A port of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Socket {
    /// The device.
    pub node: Node,
    /// Its port, from 1.
    pub port: u16,
}

/// The devices of one kind of a plan and a found network, matched.
pub(super) struct Match {
    /// The found device of each planned one.
    pub(super) found: Vec<Option<u32>>,
    /// The planned device of each found one.
    pub(super) planned: Vec<Option<u32>>,
    /// Found devices that do not count: they are down.
    pub(super) down: Vec<bool>,
    /// Planned devices whose name was found with another GUID, or whose cables lead to hardware
    /// that the plan does not know.
    pub(super) replaced: Vec<u32>,
}

/// What is known of a device: its GUID and its name.
type Card<'a> = (Option<u64>, &'a str);

impl Match {
    fn new(plan: &[Card<'_>], found: &[Card<'_>], down: Vec<bool>) -> Self {
        let mut this = Self {
            found: vec![None; plan.len()],
            planned: vec![None; found.len()],
            down,
            replaced: Vec::new(),
        };
        this.join(plan, found, |card| card.0);
        let by_guid = this.found.iter().any(Option::is_some);
        let before = this.found.clone();
        this.join(plan, found, |card| Some(card.1));
        for (p, now) in this.found.iter().enumerate() {
            let other_guid = now.is_some_and(|f| {
                found[f as usize].0.is_some_and(|g| plan[p].0.is_some_and(|h| g != h))
            });
            if by_guid && before[p].is_none() && other_guid {
                this.replaced.push(p as u32);
            }
        }
        this
    }

    /// Joins the devices that are not yet matched and alone on either side with this key.
    fn join<'a, K: Ord>(
        &mut self,
        plan: &[Card<'a>],
        found: &[Card<'a>],
        key: impl Fn(&Card<'a>) -> Option<K>,
    ) {
        let mut keys: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (p, card) in plan.iter().enumerate().filter(|(p, _)| self.found[*p].is_none()) {
            if let Some(key) = key(card) {
                keys.entry(key).or_default().0.push(p);
            }
        }
        for (f, card) in found.iter().enumerate() {
            let free = self.planned[f].is_none() && !self.down[f];
            if let Some(at) = key(card).filter(|_| free).and_then(|key| keys.get_mut(&key)) {
                at.1.push(f);
            }
        }
        for pair in keys.values() {
            if let ([p], [f]) = (pair.0.as_slice(), pair.1.as_slice()) {
                self.set(*p, *f);
            }
        }
    }

    pub(super) fn set(&mut self, planned: usize, found: usize) {
        self.found[planned] = Some(found as u32);
        self.planned[found] = Some(planned as u32);
    }
}

/// Matches the switches and the endpoints of a plan with those of a found network: by GUID, the
/// rest by name where that is unique. Where GUIDs are known and at least one of them was found, a
/// device that goes by its name alone counts as replaced.
pub(super) fn match_devices(
    plan: &Topology,
    guids: Option<&Addresses>,
    found: &Topology,
) -> (Match, Match) {
    let planned_guid = |known: Option<u64>, made: Option<u64>| made.or(known);
    let plan_switches: Vec<Card<'_>> = plan
        .switches()
        .iter()
        .enumerate()
        .map(|(i, s)| (planned_guid(s.guid, guids.map(|g| g.switch_guid[i])), s.name.as_str()))
        .collect();
    let plan_endpoints: Vec<Card<'_>> = plan
        .endpoints()
        .iter()
        .enumerate()
        .map(|(i, e)| (planned_guid(e.guid, guids.map(|g| g.node_guid[i])), e.name.as_str()))
        .collect();
    let switches: Vec<Card<'_>> =
        found.switches().iter().map(|s| (s.guid, s.name.as_str())).collect();
    let endpoints: Vec<Card<'_>> =
        found.endpoints().iter().map(|e| (e.guid, e.name.as_str())).collect();
    let switches_down = found.switches().iter().map(|s| !s.up).collect();
    let mut endpoints_down = vec![true; endpoints.len()];
    for (i, t) in found.terminals().iter().enumerate() {
        endpoints_down[t.endpoint.ix()] &= !found.terminal_is_up(base::TerminalId::from(i));
    }
    (
        Match::new(&plan_switches, &switches, switches_down),
        Match::new(&plan_endpoints, &endpoints, endpoints_down),
    )
}

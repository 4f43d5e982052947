//! Which device of a found network is which device of its plan.

use super::Device;
use base::{EndpointId, SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::{Cable, Topology};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A device, in the terms of the plan where it is known there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchedDevice {
    /// A switch of the plan.
    Switch(SwitchId),
    /// An endpoint of the plan; rail r is its port r + 1.
    Endpoint(EndpointId),
    /// A switch of the found network that the plan does not know.
    UnknownSwitch(SwitchId),
    /// An endpoint of the found network that the plan does not know.
    UnknownEndpoint(EndpointId),
}

impl MatchedDevice {
    /// The device of the plan that it is, if it is one.
    pub(super) fn planned(self) -> Option<Device> {
        match self {
            Self::Switch(s) => Some(Device::Switch(s)),
            Self::Endpoint(e) => Some(Device::Endpoint(e)),
            Self::UnknownSwitch(_) | Self::UnknownEndpoint(_) => None,
        }
    }
}

/// A port of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePort {
    /// The device.
    pub node: MatchedDevice,
    /// Its port, from 1.
    pub port: u16,
}

/// Cables by either of their ends.
pub(super) type CablesByEnd = BTreeMap<DevicePort, (DevicePort, Cable)>;

/// The property by which a found device is identified with a planned one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceIdentificationProperty {
    /// GUIDs, then names; cables where these identify fewer than half of the switches.
    #[default]
    Auto,
    /// GUIDs alone.
    Guid,
    /// Names alone.
    Name,
    /// Cables and their ports alone.
    Structure,
}

impl DeviceIdentificationProperty {
    /// The variant of this name, such as `guid`; `None` when there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "guid" => Some(Self::Guid),
            "name" => Some(Self::Name),
            "structure" => Some(Self::Structure),
            _ => None,
        }
    }
}

/// Planned and found devices of one kind, one to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DevicePairing {
    /// The found device of each planned one.
    pub(super) found: Vec<Option<u32>>,
    /// The planned device of each found one.
    pub(super) planned: Vec<Option<u32>>,
}

impl DevicePairing {
    pub(super) fn new(planned: usize, found: usize) -> Self {
        Self { found: vec![None; planned], planned: vec![None; found] }
    }

    /// Pairs the two; whichever device either of them was paired with before has no partner then.
    pub(super) fn set(&mut self, planned: u32, found: u32) {
        if let Some(old) = self.found[planned as usize].replace(found) {
            self.planned[old as usize] = None;
        }
        if let Some(old) = self.planned[found as usize].replace(planned)
            && old != planned
        {
            self.found[old as usize] = None;
        }
        self.planned[found as usize] = Some(planned);
    }

    /// Number of pairs.
    pub(super) fn len(&self) -> usize {
        self.found.iter().flatten().count()
    }
}

/// The devices of one kind of a plan and a found network, matched.
pub(super) struct DeviceMatching {
    /// Which found device is which planned one.
    pub(super) pairs: DevicePairing,
    /// Whether each found device is down, so that it is not matched.
    pub(super) down: Vec<bool>,
    /// Planned devices whose name was found with another GUID, or whose cables lead to hardware
    /// that the plan does not know.
    pub(super) replaced: Vec<u32>,
    /// Whether a GUID identified any device.
    pub(super) by_guid: bool,
}

/// The identity of a device, as far as it is known: its GUID and its name.
type DeviceIdentity<'a> = (Option<u64>, &'a str);

impl DeviceMatching {
    fn new(
        plan: &[DeviceIdentity<'_>],
        found: &[DeviceIdentity<'_>],
        down: Vec<bool>,
        by: DeviceIdentificationProperty,
    ) -> Self {
        let mut this = Self {
            pairs: DevicePairing::new(plan.len(), found.len()),
            down,
            replaced: Vec::new(),
            by_guid: false,
        };
        if matches!(by, DeviceIdentificationProperty::Auto | DeviceIdentificationProperty::Guid) {
            this.join(plan, found, |card| card.0);
        }
        this.by_guid = this.pairs.len() > 0;
        let before = this.pairs.found.clone();
        if matches!(by, DeviceIdentificationProperty::Auto | DeviceIdentificationProperty::Name) {
            this.join(plan, found, |card| Some(card.1));
        }
        for (p, now) in this.pairs.found.iter().enumerate() {
            let other_guid = now.is_some_and(|f| {
                found[f as usize].0.is_some_and(|g| plan[p].0.is_some_and(|h| g != h))
            });
            if this.by_guid && before[p].is_none() && other_guid {
                this.replaced.push(p as u32);
            }
        }
        this
    }

    /// Matches a planned and a found device when each is the only unmatched one of its side with
    /// their common key.
    fn join<'a, K: Ord>(
        &mut self,
        plan: &[DeviceIdentity<'a>],
        found: &[DeviceIdentity<'a>],
        key: impl Fn(&DeviceIdentity<'a>) -> Option<K>,
    ) {
        let mut keys: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (p, card) in plan.iter().enumerate().filter(|(p, _)| self.pairs.found[*p].is_none()) {
            if let Some(key) = key(card) {
                keys.entry(key).or_default().0.push(p);
            }
        }
        for (f, card) in found.iter().enumerate() {
            let free = self.pairs.planned[f].is_none() && !self.down[f];
            if let Some(at) = key(card).filter(|_| free).and_then(|key| keys.get_mut(&key)) {
                at.1.push(f);
            }
        }
        for pair in keys.values() {
            if let ([p], [f]) = (pair.0.as_slice(), pair.1.as_slice()) {
                self.pairs.set(*p as u32, *f as u32);
            }
        }
    }

    /// Number of found devices that are not down.
    pub(super) fn up(&self) -> usize {
        self.down.iter().filter(|down| !**down).count()
    }
}

/// Matches the switches and the endpoints of a plan with those of a found network: by GUID, the
/// rest by name where that is unique. Where GUIDs are known and at least one of them was found, a
/// device that only its name identifies counts as replaced. No device is matched by structure here.
pub(super) fn match_devices(
    plan: &Topology,
    guids: Option<&PortAddresses>,
    found: &Topology,
    by: DeviceIdentificationProperty,
) -> (DeviceMatching, DeviceMatching) {
    let planned_guid = |known: Option<u64>, made: Option<u64>| made.or(known);
    let plan_switches: Vec<DeviceIdentity<'_>> = plan
        .switches()
        .iter()
        .enumerate()
        .map(|(i, s)| (planned_guid(s.guid, guids.map(|g| g.switch_guid[i])), s.name.as_str()))
        .collect();
    let plan_endpoints: Vec<DeviceIdentity<'_>> = plan
        .endpoints()
        .iter()
        .enumerate()
        .map(|(i, e)| (planned_guid(e.guid, guids.map(|g| g.node_guid[i])), e.name.as_str()))
        .collect();
    let switches: Vec<DeviceIdentity<'_>> =
        found.switches().iter().map(|s| (s.guid, s.name.as_str())).collect();
    let endpoints: Vec<DeviceIdentity<'_>> =
        found.endpoints().iter().map(|e| (e.guid, e.name.as_str())).collect();
    let switches_down = found.switches().iter().map(|s| !s.up).collect();
    let mut endpoints_down = vec![true; endpoints.len()];
    for (i, t) in found.terminals().iter().enumerate() {
        endpoints_down[t.endpoint.ix()] &= !found.terminal_is_up(TerminalId::from(i));
    }
    (
        DeviceMatching::new(&plan_switches, &switches, switches_down, by),
        DeviceMatching::new(&plan_endpoints, &endpoints, endpoints_down, by),
    )
}

/// Matches endpoints without a known GUID or name by the switch ports that their rails are in,
/// where each switch counts as the one in whose place it stands. Endpoints are alike: those left
/// over on both sides are matched in order, first those of one switch. O(terminals * log
/// terminals).
pub(super) fn follow_switches(
    plan: &Topology,
    found: &Topology,
    places: &DevicePairing,
    endpoints: &mut DeviceMatching,
) {
    let planned: BTreeMap<(u32, u16, u16), u32> = plan
        .terminals()
        .iter()
        .map(|t| ((t.plug.switch.0, t.plug.port, t.rail), t.endpoint.0))
        .collect();
    let mut homes: Vec<(Option<u32>, u32)> = Vec::new();
    let mut seen = vec![false; found.endpoints().len()];
    for (i, t) in found.terminals().iter().enumerate() {
        if !found.terminal_is_up(TerminalId::from(i)) {
            continue;
        }
        let place = places.planned[t.plug.switch.ix()];
        let at = place.and_then(|p| planned.get(&(p, t.plug.port, t.rail)));
        let f = t.endpoint.0;
        let free = |p: &&u32| endpoints.pairs.found[**p as usize].is_none();
        match at.filter(free) {
            Some(&p) if endpoints.pairs.planned[f as usize].is_none() => {
                endpoints.pairs.set(p, f);
            }
            _ if !std::mem::replace(&mut seen[f as usize], true) => homes.push((place, f)),
            _ => {}
        }
    }
    homes.retain(|(_, f)| endpoints.pairs.planned[*f as usize].is_none());
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    for t in plan.terminals().iter().rev() {
        first.insert(t.endpoint.0, t.plug.switch.0);
    }
    let free = first.iter().filter(|(e, _)| endpoints.pairs.found[**e as usize].is_none());
    let mut left: BTreeSet<(u32, u32)> = free.map(|(e, s)| (*s, *e)).collect();
    for near in [true, false] {
        for (place, f) in &homes {
            let all = (0, 0)..=(u32::MAX, u32::MAX);
            let of = |s: u32| (s, 0)..=(s, u32::MAX);
            let range = if near { place.map(of) } else { Some(all) };
            let next = range.and_then(|range| left.range(range).next().copied());
            let unmatched = endpoints.pairs.planned[*f as usize].is_none();
            if let Some(next) = next.filter(|_| unmatched) {
                left.remove(&next);
                endpoints.pairs.set(next.1, *f);
            }
        }
    }
}

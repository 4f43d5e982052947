//! The identity and the place of each found device, and the refusal of a fabric of another plan.

use super::comparison::PlanAndFoundFabric;
use super::devices::{
    DeviceIdentificationProperty, DeviceMatching, DevicePairing, MatchedDevice, follow_switches,
    match_devices,
};
use super::floor::RackFloor;
use super::outcome::{CableCheckOptions, DeviceIdentificationCounts};
use super::places::{PlacementCertainty, PlannedAndFoundCables, endpoint_places, rounds};
use super::shape::by_structure;
use base::{LinkId, Refusal, SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::{PortPeer, Topology};
use std::collections::{BTreeMap, BTreeSet};

impl<'a> PlanAndFoundFabric<'a> {
    /// Matches the devices of plan and fabric, and finds the place in which each stands.
    pub(super) fn new(
        plan: &'a Topology,
        guids: Option<&PortAddresses>,
        found: &'a Topology,
        floor: Option<&'a RackFloor>,
        how: CableCheckOptions,
    ) -> Result<Self, Refusal> {
        let by = how.identify;
        let (boxes, endpoints) = match_devices(plan, guids, found, by);
        let places = boxes.pairs.clone();
        let by_now = match by {
            DeviceIdentificationProperty::Auto if boxes.by_guid => {
                DeviceIdentificationProperty::Guid
            }
            DeviceIdentificationProperty::Auto => DeviceIdentificationProperty::Name,
            other => other,
        };
        let identified =
            DeviceIdentificationCounts { by: by_now, switches: 0, endpoints: 0, equally_good: 1 };
        let hosts = places.clone();
        let mut check = Self {
            plan,
            found,
            floor,
            how,
            ports: None,
            boxes,
            places,
            hosts,
            endpoints,
            rounds: Vec::new(),
            identified,
        };
        let wiring = PlannedAndFoundCables::new(plan, found, check.how.ignore_ports);
        let few = !check.enough(check.boxes.pairs.len());
        let by_cables = by == DeviceIdentificationProperty::Structure
            || by == DeviceIdentificationProperty::Auto && few;
        if by_cables && !check.how.ignore_ports {
            check.recognise(&wiring, by)?;
        } else if few {
            return Err(check.another_fabric());
        } else {
            check.settle(&wiring);
        }
        check.hosts = check.places.clone();
        while check.adopt(true) {}
        check.rounds = rounds(&check.boxes.pairs, &check.places);
        if check.identified.by == DeviceIdentificationProperty::Structure
            || check.endpoints.pairs.len() == 0
        {
            follow_switches(plan, found, &check.places, &mut check.endpoints);
        }
        check.hosts = endpoint_places(
            plan,
            found,
            &check.boxes.pairs,
            &check.places,
            &check.endpoints.pairs,
            &mut check.rounds,
            check.how.ignore_ports,
        );
        check.adopt(false);
        check.renumber();
        check.identified.switches = check.boxes.pairs.len() as u64;
        check.identified.endpoints = check.endpoints.pairs.len() as u64;
        Ok(check)
    }

    /// Whether this number of `switches` is half of the plan's, or of those found where these are
    /// fewer.
    fn enough(&self, switches: usize) -> bool {
        let planned = self.plan.switches().len();
        planned == 0 || switches > 0 && 2 * switches >= planned.min(self.boxes.up())
    }

    fn another_fabric(&self) -> Refusal {
        let planned = self.plan.switches().len();
        let why = match (self.boxes.pairs.len(), self.boxes.up()) {
            (0, up) => format!("none of the plan's {planned} switches was found among {up}"),
            (n, up) => format!("{n} of the {up} switches found are among the plan's {planned}"),
        };
        let why = [vec![why], self.other_counts()].concat().join("; ");
        let help = "compare with the plan of this fabric, give its GUIDs, or give its switches the \
                    plan's names";
        let why = if self.how.ignore_ports {
            format!("{why}, and with ports ignored cables do not tell who they are")
        } else {
            why
        };
        Refusal::new("found", why, help)
    }

    /// The counts in which plan and fabric differ, in words.
    fn other_counts(&self) -> Vec<String> {
        let (plan, found) = (FabricCounts::of(self.plan), FabricCounts::of(self.found));
        let rows = [
            (found.switches, plan.switches, "switches"),
            (found.leaves, plan.leaves, "switches with endpoints"),
            (found.hosts, plan.hosts, "endpoints a leaf"),
            (found.links, plan.links, "cables between switches"),
        ];
        let differ = rows.into_iter().filter(|(found, plan, _)| found != plan);
        differ.map(|(found, plan, what)| format!("{found} {what}, {plan} planned")).collect()
    }

    /// Identifies the devices by their cables alone. With [`DeviceIdentificationProperty::Auto`],
    /// GUIDs and names that are known decide between placements that the cables leave equally good.
    fn recognise(
        &mut self,
        wiring: &PlannedAndFoundCables<'_>,
        by: DeviceIdentificationProperty,
    ) -> Result<(), Refusal> {
        let known = (&self.boxes.pairs, &self.endpoints.pairs);
        let known = (by == DeviceIdentificationProperty::Auto).then_some(known);
        let shape = by_structure(self.plan, self.found, wiring, known);
        let agreeing = wiring.agreeing(&shape.pairs);
        let half = 2 * shape.pairs.len() >= self.plan.switches().len();
        if !half || 2 * agreeing <= wiring.cables {
            let refusal = self.another_fabric();
            let (why, cables) = (refusal.why, wiring.cables);
            let fit =
                format!("at best {agreeing} of {cables} cables between switches are as planned");
            let refusal = Refusal { why: format!("{why}, and {fit}"), ..refusal };
            return Err(refusal);
        }
        self.places = shape.pairs.clone();
        self.boxes.pairs = shape.pairs;
        self.boxes.replaced.clear();
        if by == DeviceIdentificationProperty::Structure {
            let pairs = &mut self.endpoints.pairs;
            *pairs = DevicePairing::new(pairs.found.len(), pairs.planned.len());
            self.endpoints.replaced.clear();
        }
        self.identified.by = DeviceIdentificationProperty::Structure;
        self.identified.equally_good = shape.equally_good;
        Ok(())
    }

    /// Finds the places of the switches that are known.
    fn settle(&mut self, wiring: &PlannedAndFoundCables<'_>) {
        wiring.settle(&mut self.places, PlacementCertainty::Clear);
        if self.how.ignore_ports {
            return; // without port numbers the whole graph identifies nothing
        }
        let own = &self.boxes.pairs;
        let agreeing = wiring.agreeing(&self.places);
        let (seated, rails) = self.seated(&self.places);
        if 2 * agreeing >= wiring.cables && 2 * seated >= rails {
            return;
        }
        // hardly any switch is in its own place: neighbours say nothing then, the whole graph may
        let known = Some((own, &self.endpoints.pairs));
        let mut places = by_structure(self.plan, self.found, wiring, known).pairs;
        let better = wiring.agreeing(&places);
        let most = 2 * better > wiring.cables && better > 2 * agreeing;
        if !most && (better < agreeing || self.seated(&places).0 <= 2 * seated) {
            return;
        }
        for f in (0..own.planned.len()).filter(|&f| own.planned[f].is_none()) {
            if let Some(place) = places.planned[f].take() {
                places.found[place as usize] = None;
            }
        }
        for (f, own) in own.planned.iter().enumerate() {
            let Some(own) = own.filter(|_| places.planned[f].is_none()) else { continue };
            let free = |p: &u32| places.found[*p as usize].is_none();
            let any = || (0..places.found.len() as u32).find(free);
            if let Some(place) = Some(own).filter(free).or_else(any) {
                places.set(place, f as u32);
            }
        }
        self.places = places;
    }

    /// The number of rails of known endpoints that are on their planned switch, or on the switch
    /// that stands in its place; and the number of all rails of known endpoints.
    fn seated(&self, places: &DevicePairing) -> (u64, u64) {
        let (mut seated, mut rails) = (0, 0);
        for (i, t) in self.found.terminals().iter().enumerate() {
            let e = self.endpoints.pairs.planned[t.endpoint.ix()];
            if e.is_none() || !self.found.terminal_is_up(TerminalId::from(i)) {
                continue;
            }
            rails += 1;
            let is_at = |pairs: &DevicePairing| {
                let place = pairs.planned[t.plug.switch.ix()].map(SwitchId);
                let peer = place.map_or(PortPeer::Empty, |s| self.plan.peer(s, t.plug.port));
                let PortPeer::Terminal(id) = peer else { return false };
                let planned = &self.plan.terminals()[id.ix()];
                Some(planned.endpoint.0) == e && planned.rail == t.rail
            };
            seated += u64::from(is_at(places) || is_at(&self.boxes.pairs));
        }
        (seated, rails)
    }

    /// Matches unknown hardware with the missing device in whose place most of its cables are, and
    /// returns whether there was any.
    fn adopt(&mut self, switches: bool) -> bool {
        let mut votes: BTreeMap<MatchedDevice, (u32, BTreeMap<MatchedDevice, u32>)> =
            BTreeMap::new();
        let planned = self.planned_map();
        let mut near: BTreeMap<MatchedDevice, BTreeSet<MatchedDevice>> = BTreeMap::new();
        for (a, (b, _)) in planned.iter().filter(|_| self.how.ignore_ports) {
            near.entry(a.node).or_default().insert(b.node);
        }
        for (own, (other, _)) in &self.found_cables() {
            let unknown = match own.node {
                MatchedDevice::UnknownSwitch(_) => switches,
                MatchedDevice::UnknownEndpoint(_) => !switches,
                MatchedDevice::Switch(_) | MatchedDevice::Endpoint(_) => false,
            };
            if !unknown
                || matches!(
                    other.node,
                    MatchedDevice::UnknownSwitch(_) | MatchedDevice::UnknownEndpoint(_)
                )
            {
                continue;
            }
            let (cables, places) = votes.entry(own.node).or_default();
            *cables += 1;
            if self.how.ignore_ports {
                for place in near.get(&other.node).into_iter().flatten() {
                    let alike = matches!(place, MatchedDevice::Switch(_)) == switches;
                    if alike && !self.is_there(*place) {
                        *places.entry(*place).or_insert(0) += 1;
                    }
                }
                continue;
            }
            let place = planned.get(other).map(|(place, _)| place);
            if let Some(place) = place.filter(|p| p.port == own.port && !self.is_there(p.node)) {
                *places.entry(place.node).or_insert(0) += 1;
            }
        }
        let mut any = false;
        for (node, (cables, places)) in votes {
            let best = places.into_iter().rev().max_by_key(|(_, n)| *n);
            let place = best.filter(|(_, n)| n * 2 > cables).map(|(place, _)| place);
            match (node, place) {
                (_, Some(place)) if self.is_there(place) => {}
                (MatchedDevice::UnknownSwitch(f), Some(MatchedDevice::Switch(p))) => {
                    self.places.set(p.0, f.0);
                    self.hosts.set(p.0, f.0);
                    let place = self.who_is_gone(p.0);
                    any |= replace(&mut self.boxes, place, f.0);
                }
                (MatchedDevice::UnknownEndpoint(f), Some(MatchedDevice::Endpoint(p))) => {
                    any |= replace(&mut self.endpoints, p.0, f.0);
                }
                _ => {}
            }
        }
        any
    }

    /// The missing switch at the end of the chain that begins at `place`, in which each planned
    /// switch stands in the place of the next one.
    fn who_is_gone(&self, place: u32) -> u32 {
        let next = |p: u32| self.places.planned[self.boxes.pairs.found[p as usize]? as usize];
        std::iter::successors(Some(place), |p| next(*p)).last().unwrap_or(place)
    }
}

fn replace(devices: &mut DeviceMatching, planned: u32, found: u32) -> bool {
    devices.pairs.set(planned, found);
    let at = devices.replaced.binary_search(&planned).unwrap_or_else(|at| at);
    devices.replaced.insert(at, planned);
    true
}

/// Counts of what works in a network, in which networks differ at first sight.
struct FabricCounts {
    switches: usize,
    /// Switches with endpoints.
    leaves: usize,
    /// Endpoints on most of the leaves; of several such numbers the largest.
    hosts: usize,
    /// Cables between switches.
    links: usize,
}

impl FabricCounts {
    fn of(t: &Topology) -> Self {
        let mut hosts = vec![0; t.switches().len()];
        for (i, terminal) in t.terminals().iter().enumerate() {
            hosts[terminal.plug.switch.ix()] += usize::from(t.terminal_is_up(TerminalId::from(i)));
        }
        let mut leaves: BTreeMap<usize, usize> = BTreeMap::new();
        for n in hosts.into_iter().filter(|n| *n > 0) {
            *leaves.entry(n).or_insert(0) += 1;
        }
        let usual = leaves.iter().max_by_key(|(n, count)| (**count, **n));
        Self {
            switches: t.switches().iter().filter(|s| s.up).count(),
            leaves: leaves.values().sum(),
            hosts: usual.map_or(0, |(n, _)| *n),
            links: (0..t.links().len()).filter(|l| t.link_is_up(LinkId::from(*l))).count(),
        }
    }
}

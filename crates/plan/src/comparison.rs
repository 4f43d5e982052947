//! A fabric beside its plan, in the terms of the plan: which cables are due, laid and possible.

use super::cable::CableId;
use super::devices::{CablesByEnd, DeviceMatching, DevicePairing, DevicePort, MatchedDevice};
use super::floor::RackFloor;
use super::outcome::{CableCheckOptions, DeviceIdentificationCounts};
use super::places::{SwappedSwitchCycle, in_plan};
use super::ports::{PlannedPortNumbers, renumbered};
use base::{EndpointId, LinkId, TerminalId};
use fabric::network::{Cable, Topology};

/// A plan and the fabric that was found, with the devices of both matched.
pub(super) struct PlanAndFoundFabric<'a> {
    pub(super) plan: &'a Topology,
    pub(super) found: &'a Topology,
    pub(super) floor: Option<&'a RackFloor>,
    pub(super) how: CableCheckOptions,
    /// The real port that stands for each planned one; `None` where port numbers must match the
    /// plan.
    pub(super) ports: Option<PlannedPortNumbers>,
    /// Which found switch is which planned one.
    pub(super) boxes: DeviceMatching,
    /// The planned switch in whose place each found one stands: there its cables to switches are
    /// compared.
    pub(super) places: DevicePairing,
    /// The planned switch in whose place each found one has its cables to endpoints compared.
    pub(super) hosts: DevicePairing,
    pub(super) endpoints: DeviceMatching,
    pub(super) rounds: Vec<SwappedSwitchCycle>,
    pub(super) identified: DeviceIdentificationCounts,
}

/// The cables, each listed twice: under either of its ends.
fn by_either_end(ends: impl Iterator<Item = (DevicePort, DevicePort, Cable)>) -> CablesByEnd {
    ends.flat_map(|(a, b, cable)| [(a, (b, cable)), (b, (a, cable))]).collect()
}

impl PlanAndFoundFabric<'_> {
    pub(super) fn planned_cables(
        &self,
    ) -> impl Iterator<Item = (CableId, DevicePort, DevicePort, Cable)> + '_ {
        let t = self.plan;
        let at = |p: fabric::network::CablePlug| DevicePort {
            node: MatchedDevice::Switch(p.switch),
            port: p.port,
        };
        let links = t.links().iter().enumerate();
        let links =
            links.map(move |(i, l)| (CableId::Link(LinkId::from(i)), at(l.a), at(l.b), l.cable));
        links.chain(t.terminals().iter().enumerate().map(move |(i, r)| {
            let own = DevicePort {
                node: MatchedDevice::Endpoint(r.endpoint),
                port: r.rail.saturating_add(1),
            };
            (CableId::Terminal(TerminalId::from(i)), own, at(r.plug), r.cable)
        }))
    }

    pub(super) fn planned_map(&self) -> CablesByEnd {
        by_either_end(self.planned_cables().map(|(_, a, b, cable)| (a, b, cable)))
    }

    /// Whether a cable must be laid by now.
    pub(super) fn is_due(&self, id: CableId) -> bool {
        self.how.due.as_ref().is_none_or(|due| due.contains(&id))
    }

    /// Renumbers the found ports so that it does not matter which port of a device a cable is in.
    pub(super) fn renumber(&mut self) {
        if self.how.ignore_ports {
            self.ports = Some(renumbered(&self.planned_map(), &self.found_cables()));
        }
    }

    /// The working cables that were found, in terms of the plan.
    pub(super) fn found_cables(&self) -> CablesByEnd {
        let t = self.found;
        let endpoint = |e: EndpointId| match self.endpoints.pairs.planned[e.ix()] {
            Some(planned) => MatchedDevice::Endpoint(EndpointId(planned)),
            None => MatchedDevice::UnknownEndpoint(e),
        };
        let links = t.links().iter().enumerate();
        let links = links.filter(|(i, _)| t.link_is_up(LinkId::from(*i)));
        let at = |plug| in_plan(&self.places, plug);
        let links = links.map(|(_, l)| (at(l.a), at(l.b), l.cable));
        // no plan has a cable with both ends in one switch
        let loops = t.aside().loops.iter().filter(|[x, _]| t.switches()[x.switch.ix()].up);
        let links = links.chain(loops.map(|[x, y]| (at(*x), at(*y), Cable::default())));
        let rails = t.terminals().iter().enumerate();
        let rails = rails.filter(|(i, _)| t.terminal_is_up(TerminalId::from(*i)));
        by_either_end(links.chain(rails.map(|(_, r)| {
            let port = r.rail.saturating_add(1);
            (DevicePort { node: endpoint(r.endpoint), port }, in_plan(&self.hosts, r.plug), r.cable)
        })))
    }

    /// Whether an endpoint answers; for a planned switch, whether any switch stands in its place.
    pub(super) fn is_there(&self, node: MatchedDevice) -> bool {
        match node {
            MatchedDevice::Switch(s) => self.places.found[s.ix()].is_some(),
            MatchedDevice::Endpoint(e) => self.endpoints.pairs.found[e.ix()].is_some(),
            MatchedDevice::UnknownSwitch(_) | MatchedDevice::UnknownEndpoint(_) => true,
        }
    }

    /// Whether there is a switch into which the endpoints of switch `node` can be plugged.
    pub(super) fn serves(&self, node: MatchedDevice) -> bool {
        match node {
            MatchedDevice::Switch(s) => self.hosts.found[s.ix()].is_some(),
            other => self.is_there(other),
        }
    }

    /// Whether the devices at both ends of a planned cable answer.
    pub(super) fn can_be(&self, id: CableId, a: MatchedDevice, b: MatchedDevice) -> bool {
        match id {
            CableId::Link(_) => self.is_there(a) && self.is_there(b),
            CableId::Terminal(_) => self.serves(a) && self.serves(b),
        }
    }
}

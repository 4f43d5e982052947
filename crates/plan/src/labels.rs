//! What a cable check calls devices and ports: names, with labels where the floor is known.

use super::comparison::PlanAndFoundFabric;
use super::devices::{DevicePort, MatchedDevice};

impl PlanAndFoundFabric<'_> {
    /// How far apart two ports are: 0 on one device, 1 in one rack, 2 otherwise.
    pub(super) fn apart(&self, a: DevicePort, b: DevicePort) -> u32 {
        let seat = |s: DevicePort| Some(self.floor?.seat(s.node.planned()?)?.rack);
        match (seat(a), seat(b)) {
            _ if a.node == b.node => 0,
            (Some(x), Some(y)) if x == y => 1,
            _ => 2,
        }
    }

    /// The real port that stands for a planned one, where ports are renumbered; else the port
    /// itself.
    pub(super) fn real(&self, socket: DevicePort) -> DevicePort {
        self.ports.as_ref().map_or(socket, |ports| ports.real(socket))
    }

    pub(super) fn name(&self, node: MatchedDevice) -> String {
        let name = match node {
            MatchedDevice::Switch(s) => &self.plan.switches()[s.ix()].name,
            MatchedDevice::Endpoint(e) => &self.plan.endpoints()[e.ix()].name,
            MatchedDevice::UnknownSwitch(s) => &self.found.switches()[s.ix()].name,
            MatchedDevice::UnknownEndpoint(e) => &self.found.endpoints()[e.ix()].name,
        };
        name.clone()
    }

    /// The name of a device, with its rack and unit where the floor is known.
    pub(super) fn place(&self, node: MatchedDevice) -> String {
        let name = self.name(node);
        let seat = node.planned().and_then(|d| self.floor?.seat(d));
        match (self.floor, seat) {
            (Some(floor), Some(seat)) => match (&floor.racks[seat.rack as usize].name, seat.unit) {
                (rack, Some(unit)) => format!("{name} ({rack}-U{unit:02})"),
                (rack, None) => format!("{name} (beside {rack})"),
            },
            _ => name,
        }
    }

    /// The name and number of a port, with its label where the floor is known.
    pub(super) fn label(&self, socket: DevicePort) -> String {
        let socket = self.real(socket);
        let name = self.name(socket.node);
        let text = format!("{name} port {}", socket.port);
        let seat = socket.node.planned().and_then(|d| self.floor?.seat(d));
        match (self.floor, seat) {
            (Some(floor), Some(seat)) => {
                format!("{text} ({})", floor.label(seat, &name, socket.port))
            }
            _ => text,
        }
    }

    /// The label of a port; its device's name and number where there is no label.
    pub(super) fn short(&self, socket: DevicePort) -> String {
        let socket = self.real(socket);
        let name = self.name(socket.node);
        let seat = socket.node.planned().and_then(|d| self.floor?.seat(d));
        match (self.floor, seat) {
            (Some(floor), Some(seat)) => floor.label(seat, &name, socket.port),
            _ => format!("{name} P{:02}", socket.port),
        }
    }
}

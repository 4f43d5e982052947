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

    /// The name of a device in the plan; of one that the plan does not know, in the fabric.
    pub(super) fn name(&self, node: MatchedDevice) -> String {
        let name = match node {
            MatchedDevice::Switch(s) => &self.plan.switches()[s.ix()].name,
            MatchedDevice::Endpoint(e) => &self.plan.endpoints()[e.ix()].name,
            MatchedDevice::UnknownSwitch(s) => &self.found.switches()[s.ix()].name,
            MatchedDevice::UnknownEndpoint(e) => &self.found.endpoints()[e.ix()].name,
        };
        name.clone()
    }

    /// The name that the fabric has for a device; the plan's where the device was not found.
    pub(super) fn fabric_name(&self, node: MatchedDevice) -> String {
        let found = match node {
            MatchedDevice::Switch(s) => {
                self.boxes.pairs.found[s.ix()].map(|f| &self.found.switches()[f as usize].name)
            }
            MatchedDevice::Endpoint(e) => {
                self.endpoints.pairs.found[e.ix()].map(|f| &self.found.endpoints()[f as usize].name)
            }
            MatchedDevice::UnknownSwitch(_) | MatchedDevice::UnknownEndpoint(_) => None,
        };
        found.cloned().unwrap_or_else(|| self.name(node))
    }

    /// The rack and unit of a device where the floor is known.
    fn rack(&self, node: MatchedDevice) -> Option<String> {
        let floor = self.floor?;
        let seat = floor.seat(node.planned()?)?;
        let rack = &floor.racks[seat.rack as usize].name;
        Some(match seat.unit {
            Some(unit) => format!("{rack}-U{unit:02}"),
            None => format!("beside {rack}"),
        })
    }

    /// The label of a port where the floor is known.
    fn rack_label(&self, socket: DevicePort) -> Option<String> {
        let floor = self.floor?;
        let seat = floor.seat(socket.node.planned()?)?;
        Some(floor.label(seat, &self.name(socket.node), socket.port))
    }

    /// The name of a device in the fabric; in brackets that of the plan, where it is another, and
    /// rack and unit, where the floor is known.
    pub(super) fn place(&self, node: MatchedDevice) -> String {
        let (name, planned) = (self.fabric_name(node), self.name(node));
        let planned = Some(planned).filter(|planned| *planned != name);
        with_brackets(name, [planned, self.rack(node)])
    }

    /// As [`Self::place`], by the plan's name alone.
    pub(super) fn planned_place(&self, node: MatchedDevice) -> String {
        with_brackets(self.name(node), [self.rack(node), None])
    }

    /// The name and number of a port: the device as [`Self::place`] names it, and the label of the
    /// port where the floor is known.
    pub(super) fn label(&self, socket: DevicePort) -> String {
        let socket = self.real(socket);
        let (name, planned) = (self.fabric_name(socket.node), self.name(socket.node));
        let planned = Some(planned).filter(|planned| *planned != name);
        let text = format!("{name} port {}", socket.port);
        with_brackets(text, [planned, self.rack_label(socket)])
    }

    /// The fabric's name of a port's device with the label of the port; with its number where there
    /// is no label.
    pub(super) fn short(&self, socket: DevicePort) -> String {
        let socket = self.real(socket);
        let name = self.fabric_name(socket.node);
        match self.rack_label(socket) {
            Some(label) => format!("{name} ({label})"),
            None => format!("{name} port {}", socket.port),
        }
    }
}

/// A text with these further words in brackets behind it, as far as there are some.
fn with_brackets(text: String, more: [Option<String>; 2]) -> String {
    let more: Vec<String> = more.into_iter().flatten().collect();
    if more.is_empty() { text } else { format!("{text} ({})", more.join(", ")) }
}

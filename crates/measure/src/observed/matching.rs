//! Which cable of a network a reading is of: by GUID, then LID, then name.

use base::{EndpointId, SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::counters::DeviceIdentity;
use fabric::network::{PortPeer, Topology};
use std::collections::HashMap;

/// One end of a cable of a network.
///
/// Links come first, then the cables of terminals. Side 0 of a link is its end a; side 0 of a
/// terminal's cable is the endpoint, side 1 the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CableEnd {
    /// Number of the cable: of the link, or the number of links plus that of the terminal.
    pub cable: usize,
    /// 0 or 1.
    pub side: usize,
}

impl CableEnd {
    /// The other end of the cable.
    #[must_use]
    pub fn opposite(self) -> Self {
        Self { side: 1 - self.side, ..self }
    }
}

/// A device of a network that has ports with counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CountedDevice {
    /// A switch.
    Switch(SwitchId),
    /// An endpoint with its rails.
    Endpoint(EndpointId),
    /// One rail of an endpoint.
    Terminal(TerminalId),
}

/// Finds devices and cables of a network by what tools print.
#[derive(Debug)]
pub struct PortMatcher<'a> {
    on: &'a Topology,
    by_guid: HashMap<u64, CountedDevice>,
    by_lid: HashMap<u16, CountedDevice>,
    /// Devices by name; `None` where several have it.
    by_name: HashMap<String, Option<CountedDevice>>,
    rails: HashMap<(EndpointId, u16), TerminalId>,
    /// LIDs of a terminal, less 1.
    lid_mask: u16,
}

impl<'a> PortMatcher<'a> {
    /// The matcher for a network. O(ports).
    pub fn new(on: &'a Topology) -> Self {
        let mut found = Self {
            on,
            by_guid: HashMap::new(),
            by_lid: HashMap::new(),
            by_name: HashMap::new(),
            rails: HashMap::new(),
            lid_mask: 0,
        };
        // addresses that the network lacks are those that flyloom gives it
        let known = PortAddresses::from_fabric(on).or_else(|_| PortAddresses::assign(on, 0)).ok();
        found.lid_mask = known.as_ref().map_or(0, |known| (1 << known.lmc) - 1);
        for (i, switch) in on.switches().iter().enumerate() {
            let device = CountedDevice::Switch(i.into());
            let guid = known.as_ref().map(|known| known.switch_guid[i]).or(switch.guid);
            let lid = known.as_ref().map(|known| known.switch_lid[i]).or(switch.lid);
            found.add(device, guid, lid, Some(&switch.name));
        }
        for (i, endpoint) in on.endpoints().iter().enumerate() {
            let guid = known.as_ref().map(|known| known.node_guid[i]).or(endpoint.guid);
            found.add(CountedDevice::Endpoint(i.into()), guid, None, Some(&endpoint.name));
        }
        for (i, terminal) in on.terminals().iter().enumerate() {
            let device = CountedDevice::Terminal(i.into());
            let guid = known.as_ref().map(|known| known.port_guid[i]).or(terminal.port_guid);
            let lid = known.as_ref().map(|known| known.lid[i]).or(terminal.lid);
            found.add(device, guid, lid, None);
            found.rails.insert((terminal.endpoint, terminal.rail), i.into());
        }
        found
    }

    fn add(
        &mut self,
        device: CountedDevice,
        guid: Option<u64>,
        lid: Option<u16>,
        name: Option<&str>,
    ) {
        if let Some(guid) = guid {
            self.by_guid.entry(guid).or_insert(device);
        }
        if let Some(lid) = lid.filter(|lid| *lid != 0) {
            self.by_lid.insert(lid, device);
        }
        for name in name.into_iter().flat_map(short_names) {
            let is_other = |old: &Option<CountedDevice>| *old != Some(device);
            if self.by_name.get(name).is_some_and(is_other) {
                self.by_name.insert(name.to_owned(), None);
            } else {
                self.by_name.insert(name.to_owned(), Some(device));
            }
        }
    }

    /// The device that a tool means; `None` where the network has no such device.
    pub fn device(&self, said: &DeviceIdentity) -> Option<CountedDevice> {
        let by_guid = said.guid.and_then(|guid| self.by_guid.get(&guid)).copied();
        let by_lid = || {
            let lid = said.lid?;
            self.by_lid.get(&lid).or_else(|| self.by_lid.get(&(lid & !self.lid_mask))).copied()
        };
        let by_name = || self.named(said.name.as_deref()?);
        by_guid.or_else(by_lid).or_else(by_name)
    }

    fn named(&self, name: &str) -> Option<CountedDevice> {
        let exact = short_names(name).find_map(|name| self.by_name.get(name));
        if let Some(found) = exact {
            return *found;
        }
        // host and adapter: `host-0200 mlx5_0`; of an endpoint with rails the adapter's number
        let (host, adapter) = name.split_once(' ')?;
        let host = self.by_name.get(host).or_else(|| {
            // the name without its domain
            self.by_name.get(host.split('.').next().unwrap_or(host))
        });
        let Some(CountedDevice::Endpoint(endpoint)) = host.copied().flatten() else { return None };
        let rail = adapter.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
        let is_alone = !self.rails.contains_key(&(endpoint, 1));
        match rail.and_then(|rail| self.rails.get(&(endpoint, rail))) {
            Some(terminal) if !is_alone => Some(CountedDevice::Terminal(*terminal)),
            _ if is_alone => Some(CountedDevice::Endpoint(endpoint)),
            _ => None,
        }
    }

    /// The end of the cable at a port of a device; `None` where the network has no cable there.
    pub fn end(&self, device: CountedDevice, port: u16) -> Option<CableEnd> {
        let links = self.on.links().len();
        let of_terminal = |t: TerminalId| CableEnd { cable: links + t.ix(), side: 0 };
        match device {
            CountedDevice::Terminal(t) => Some(of_terminal(t)),
            CountedDevice::Endpoint(e) => {
                let rail = self.rails.get(&(e, port.checked_sub(1)?)).copied();
                let only = || {
                    let is_alone = !self.rails.contains_key(&(e, 1));
                    self.rails.get(&(e, 0)).copied().filter(|_| is_alone)
                };
                rail.or_else(only).map(of_terminal)
            }
            CountedDevice::Switch(s) => match self.on.peer(s, port) {
                PortPeer::Empty => None,
                PortPeer::Terminal(t) => Some(CableEnd { side: 1, ..of_terminal(t) }),
                PortPeer::Switch(channel) => {
                    let side = usize::from(!channel.is_forth());
                    Some(CableEnd { cable: channel.link().ix(), side })
                }
            },
        }
    }

    /// Device and port of an end, by the names of the network.
    pub fn named_end(&self, end: CableEnd) -> (String, u16) {
        let links = self.on.links().len();
        let plug = if end.cable < links {
            let link = &self.on.links()[end.cable];
            if end.side == 0 { link.a } else { link.b }
        } else {
            let terminal = &self.on.terminals()[end.cable - links];
            if end.side == 0 {
                let name = &self.on.endpoints()[terminal.endpoint.ix()].name;
                return (name.clone(), terminal.rail + 1);
            }
            terminal.plug
        };
        (self.on.switches()[plug.switch.ix()].name.clone(), plug.port)
    }
}

/// The names by which tools call a device: the whole one, without the unit `/U1` that ibdiagnet
/// adds, and of `MF0;leaf01:MQM8700/U1` the name `leaf01`.
fn short_names(name: &str) -> impl Iterator<Item = &str> {
    let is_unit =
        |unit: &&str| unit.strip_prefix('U').is_some_and(|number| number.parse::<u32>().is_ok());
    let without_unit =
        name.rsplit_once('/').filter(|(_, unit)| is_unit(unit)).map(|(rest, _)| rest);
    let inner = name.split_once(';').and_then(|(_, rest)| rest.split_once(':')).map(|(n, _)| n);
    [Some(name), without_unit, inner].into_iter().flatten()
}

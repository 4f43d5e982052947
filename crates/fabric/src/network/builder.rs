//! A network under construction: its parts are collected, ports are chosen, and all is checked.

use super::{
    Cable, CablePlug, Endpoint, Link, NetworkRecipe, OmittedFileContents, PortPeer, Switch,
    Terminal, Topology,
};
use crate::geometry::NetworkGeometry;
use base::{EndpointId, Graph, LinkId, Refusal, SwitchId, TerminalId};
use std::sync::OnceLock;

/// The most connected parts that [`TopologyBuilder::number_planes`] takes for planes.
const MAX_PARTS: u32 = 64;

/// A network under construction.
///
/// [`TopologyBuilder::finish`] chooses the port of every plug whose port is 0: the lowest free one,
/// endpoints before links, each in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct TopologyBuilder {
    pub(super) switches: Vec<Switch>,
    pub(super) links: Vec<Link>,
    endpoints: Vec<Endpoint>,
    terminals: Vec<Terminal>,
    geometry: NetworkGeometry,
    aside: OmittedFileContents,
}

impl From<&Topology> for TopologyBuilder {
    fn from(t: &Topology) -> Self {
        Self {
            switches: t.switches.clone(),
            links: t.links.clone(),
            endpoints: t.endpoints.clone(),
            terminals: t.terminals.clone(),
            geometry: t.geometry,
            aside: t.aside.clone(),
        }
    }
}

impl TopologyBuilder {
    /// An empty network.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is no switch so far.
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// Adds a switch.
    pub fn switch(&mut self, switch: Switch) -> SwitchId {
        self.switches.push(switch);
        SwitchId::from(self.switches.len() - 1)
    }

    /// Adds an endpoint without rails.
    pub fn endpoint(&mut self, name: impl Into<String>, guid: Option<u64>) -> EndpointId {
        self.endpoints.push(Endpoint { name: name.into(), guid });
        EndpointId::from(self.endpoints.len() - 1)
    }

    /// Adds the next rail of `endpoint` at `port` (0: the lowest free one) of `switch`.
    pub fn attach(
        &mut self,
        endpoint: EndpointId,
        switch: SwitchId,
        port: u16,
        cable: Cable,
    ) -> TerminalId {
        let rail =
            self.terminals.iter().rev().take_while(|t| t.endpoint == endpoint).count() as u16;
        self.terminals.push(Terminal {
            endpoint,
            rail,
            plug: CablePlug { switch, port },
            port_guid: None,
            lid: None,
            cable,
        });
        TerminalId::from(self.terminals.len() - 1)
    }

    /// The switch with this number, for changes.
    pub fn switch_mut(&mut self, switch: SwitchId) -> &mut Switch {
        &mut self.switches[switch.ix()]
    }

    /// The terminal with this number, for changes of its addresses and its rail number.
    pub fn terminal_mut(&mut self, terminal: TerminalId) -> &mut Terminal {
        &mut self.terminals[terminal.ix()]
    }

    /// Sets the contents of the network's file that are no part of the network.
    pub fn set_aside(&mut self, aside: OmittedFileContents) {
        self.aside = aside;
    }

    /// Makes each connected part of the network a plane, where at least half of the endpoints have
    /// rails in several parts. The part with the first rails becomes plane 0. Returns the number of
    /// planes; 1 where nothing was changed. O(network).
    pub fn number_planes(&mut self) -> u16 {
        let ends = self.links.iter().map(|l| Some((l.a.switch, l.b.switch)));
        let (part, parts) = Graph::new(self.switches.len(), ends).components();
        if !(2..=MAX_PARTS).contains(&parts) {
            return 1;
        }
        let mut first = vec![u32::MAX; parts as usize];
        let mut seen = vec![None; self.endpoints.len()];
        let mut joined = vec![false; self.endpoints.len()];
        for t in &self.terminals {
            let own = part[t.plug.switch.ix()];
            let rail = &mut first[own as usize];
            *rail = (*rail).min(t.rail.into());
            joined[t.endpoint.ix()] |= *seen[t.endpoint.ix()].get_or_insert(own) != own;
        }
        let shared = joined.iter().filter(|joined| **joined).count();
        if 2 * shared < self.endpoints.len() || shared == 0 || first.contains(&u32::MAX) {
            return 1;
        }
        let mut order: Vec<usize> = (0..parts as usize).collect();
        order.sort_by_key(|&p| (first[p], p));
        let mut plane = vec![0; order.len()];
        (0..).zip(&order).for_each(|(number, &p)| plane[p] = number);
        for (switch, part) in self.switches.iter_mut().zip(&part) {
            switch.plane = plane[*part as usize];
        }
        parts as u16
    }

    /// Gives every terminal and every switch its LID, in the order of their numbers.
    pub(crate) fn set_lids(&mut self, terminals: &[u16], switches: &[u16]) {
        self.terminals.iter_mut().zip(terminals).for_each(|(x, lid)| x.lid = Some(*lid));
        self.switches.iter_mut().zip(switches).for_each(|(s, lid)| s.lid = Some(*lid));
    }

    /// Adds `per_switch` single-rail endpoints named `host-0000`, ... to every switch of `on`.
    pub fn endpoints_on(&mut self, on: impl Iterator<Item = SwitchId>, per_switch: u32) {
        for switch in on {
            for _ in 0..per_switch {
                let name = format!("host-{:04}", self.endpoints.len());
                let endpoint = self.endpoint(name, None);
                self.attach(endpoint, switch, 0, Cable::default());
            }
        }
    }

    /// Adds a cable between two plugs; port 0 lets the builder choose.
    pub fn link_at(&mut self, a: CablePlug, b: CablePlug, cable: Cable) -> LinkId {
        self.links.push(Link { a, b, cable });
        LinkId::from(self.links.len() - 1)
    }

    /// Adds a default cable between two switches at the next free ports.
    pub fn link(&mut self, a: SwitchId, b: SwitchId) -> LinkId {
        self.link_at(
            CablePlug { switch: a, port: 0 },
            CablePlug { switch: b, port: 0 },
            Cable::default(),
        )
    }

    /// The finished network. O(switches * ports + links + endpoints).
    ///
    /// # Errors
    /// When a switch id does not exist, a cable joins a switch to itself, two cables share a port,
    /// a port is above the switch's number of ports, or a switch needs more than 65,534 ports.
    pub fn finish(mut self, recipe: NetworkRecipe) -> Result<Topology, Refusal> {
        self.check_ends()?;
        let mut taken = self.take_named_ports()?;
        self.choose_ports(&mut taken)?;
        let (port_offsets, peers) = port_table(&taken);
        let far_end = |peer: &PortPeer| match peer {
            PortPeer::Switch(c) => {
                let link = &self.links[c.link().ix()];
                if c.is_forth() { link.b.switch } else { link.a.switch }
            }
            PortPeer::Terminal(_) | PortPeer::Empty => SwitchId(0),
        };
        let ahead = peers.iter().map(far_end).collect();
        for (switch, ports) in self.switches.iter_mut().zip(&taken) {
            switch.ports = switch.ports.max(ports.len().saturating_sub(1) as u16);
        }
        let mut attached_offsets = vec![0];
        let mut attached = Vec::with_capacity(self.terminals.len());
        for ports in &taken {
            attached.extend(ports.iter().filter_map(|p| match p {
                PortPeer::Terminal(t) => Some(*t),
                _ => None,
            }));
            attached_offsets.push(attached.len() as u32);
        }
        let up = |l: &Link| {
            let ends_up = self.switches[l.a.switch.ix()].up && self.switches[l.b.switch.ix()].up;
            (l.cable.up && ends_up).then_some((l.a.switch, l.b.switch))
        };
        let graph = Graph::new(self.switches.len(), self.links.iter().map(up)).with_rows_by(|c| {
            let link = &self.links[c.link().ix()];
            u32::from(if c.is_forth() { link.a.port } else { link.b.port })
        });
        Ok(Topology {
            recipe,
            vertex_transitive: false,
            geometry: self.geometry,
            aside: self.aside,
            switches: self.switches,
            links: self.links,
            endpoints: self.endpoints,
            terminals: self.terminals,
            graph,
            port_offsets,
            peers,
            ahead,
            attached_offsets,
            attached,
            digest: OnceLock::new(),
        })
    }

    fn check_ends(&self) -> Result<(), Refusal> {
        let known = self.switches.len();
        let ends = self.links.iter().flat_map(|l| [l.a.switch, l.b.switch]);
        for s in ends.chain(self.terminals.iter().map(|t| t.plug.switch)) {
            if s.ix() >= known {
                let why = format!("switch {s} does not exist");
                return Err(Refusal::new("links", why, format!("there are {known} switches")));
            }
        }
        match self.links.iter().find(|l| l.a.switch == l.b.switch) {
            None => Ok(()),
            Some(l) => {
                let name = &self.switches[l.a.switch.ix()].name;
                let why = format!("a cable joins switch {name} to itself");
                Err(Refusal::new("links", why, "the ends of a link must be two switches"))
            }
        }
    }

    /// The port list of each switch (index 0 is the switch itself), with all cables whose port is
    /// given.
    fn take_named_ports(&self) -> Result<Vec<Vec<PortPeer>>, Refusal> {
        let mut taken = vec![vec![PortPeer::Empty]; self.switches.len()];
        let plugs = self.plugs().filter(|(plug, _)| plug.port != 0);
        for (plug, peer) in plugs {
            let switch = &self.switches[plug.switch.ix()];
            let (name, port) = (&switch.name, plug.port);
            if switch.ports != 0 && port > switch.ports {
                let why = format!("port {port} does not exist");
                let help = format!("switch {name} has ports 1 to {}", switch.ports);
                return Err(Refusal::new(format!("switch {name}"), why, help));
            }
            let ports = &mut taken[plug.switch.ix()];
            if ports.len() <= port as usize {
                ports.resize(port as usize + 1, PortPeer::Empty);
            }
            if ports[port as usize] != PortPeer::Empty {
                let why = format!("port {port} has two cables");
                return Err(Refusal::new(format!("switch {name}"), why, "a port takes one cable"));
            }
            ports[port as usize] = peer;
        }
        Ok(taken)
    }

    fn plugs(&self) -> impl Iterator<Item = (CablePlug, PortPeer)> + '_ {
        let terminals = self.terminals.iter().enumerate();
        let terminals = terminals.map(|(i, t)| (t.plug, PortPeer::Terminal(TerminalId::from(i))));
        terminals.chain(self.links.iter().enumerate().flat_map(|(i, l)| {
            let id = LinkId::from(i);
            [(l.a, PortPeer::Switch(id.forth())), (l.b, PortPeer::Switch(id.back()))]
        }))
    }

    /// Gives every cable without a port the lowest free one of its switch, endpoints first.
    fn choose_ports(&mut self, taken: &mut [Vec<PortPeer>]) -> Result<(), Refusal> {
        let mut free = vec![1_usize; taken.len()];
        let mut choose = |switch: SwitchId, peer: PortPeer| -> Result<u16, Refusal> {
            let ports = &mut taken[switch.ix()];
            let next = &mut free[switch.ix()];
            while ports.get(*next).is_some_and(|p| *p != PortPeer::Empty) {
                *next += 1;
            }
            let port = *next;
            let name = &self.switches[switch.ix()].name;
            let most = match self.switches[switch.ix()].ports {
                0 => usize::from(u16::MAX - 1),
                ports => usize::from(ports),
            };
            if port > most {
                let why = format!("switch {name} needs more than its {most} ports");
                return Err(Refusal::new("ports", why, "use switches with more ports"));
            }
            if ports.len() <= port {
                ports.resize(port + 1, PortPeer::Empty);
            }
            ports[port] = peer;
            Ok(port as u16)
        };
        for (i, t) in self.terminals.iter_mut().enumerate().filter(|(_, t)| t.plug.port == 0) {
            t.plug.port = choose(t.plug.switch, PortPeer::Terminal(TerminalId::from(i)))?;
        }
        for (i, link) in self.links.iter_mut().enumerate() {
            let id = LinkId::from(i);
            for (plug, channel) in [(&mut link.a, id.forth()), (&mut link.b, id.back())] {
                if plug.port == 0 {
                    plug.port = choose(plug.switch, PortPeer::Switch(channel))?;
                }
            }
        }
        Ok(())
    }
}

fn port_table(taken: &[Vec<PortPeer>]) -> (Vec<u32>, Vec<PortPeer>) {
    let mut offsets = vec![0];
    let mut peers = Vec::new();
    for ports in taken {
        peers.extend_from_slice(ports);
        offsets.push(peers.len() as u32);
    }
    (offsets, peers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{ChannelId, Picoseconds};
    use serde_json::Map;

    fn recipe() -> NetworkRecipe {
        NetworkRecipe { family: "test".into(), params: Map::new() }
    }

    fn pair() -> (TopologyBuilder, SwitchId, SwitchId) {
        let mut b = TopologyBuilder::new();
        let x = b.switch(Switch::new("x"));
        let y = b.switch(Switch::new("y"));
        (b, x, y)
    }

    #[test]
    fn endpoints_come_before_links_and_named_ports_are_kept() {
        let (mut b, x, y) = pair();
        b.link(x, y);
        b.link_at(
            CablePlug { switch: x, port: 2 },
            CablePlug { switch: y, port: 0 },
            Cable::default(),
        );
        b.endpoints_on([x].into_iter(), 2);
        let t = b.finish(recipe()).expect("a valid network");
        assert_eq!(t.peer(x, 1), PortPeer::Terminal(TerminalId(0)));
        assert_eq!(t.peer(x, 2), PortPeer::Switch(ChannelId(2)));
        assert_eq!(t.peer(x, 3), PortPeer::Terminal(TerminalId(1)));
        assert_eq!(t.peer(x, 4), PortPeer::Switch(ChannelId(0)));
        assert_eq!(t.peer(y, 2), PortPeer::Switch(ChannelId(3)));
        assert_eq!(t.graph().channels(0), [ChannelId(2), ChannelId(0)], "rows are in port order");
        assert_eq!((t.network_radix(), t.concentration(), t.radix()), (2, 2, 4));
    }

    #[test]
    fn a_cable_is_as_long_in_time_as_in_metres() {
        let latency = |length_m| Cable { length_m, ..Cable::default() }.latency();
        assert_eq!(latency(Some(3.0)), Picoseconds(15_000));
        assert_eq!(latency(Some(0.0)), Picoseconds(0));
        assert_eq!(
            latency(Some(1.2345)),
            Picoseconds(6173),
            "6.1725 ns, to the nearest picosecond"
        );
        assert_eq!(latency(None), Picoseconds(25_000));
        assert_eq!(latency(None).ns().to_bits(), 25_f64.to_bits());
    }

    #[test]
    fn failures_keep_ids_and_take_links_away() {
        let (mut b, x, y) = pair();
        let z = b.switch(Switch::new("z"));
        let l = b.link(x, y);
        b.link(y, z);
        b.endpoints_on([x, y, z].into_iter(), 1);
        let t = b.finish(recipe()).expect("a valid network");
        let cut = t.with_failures(&[l], &[]).expect("link 0 exists");
        assert_eq!((cut.graph().arcs(), cut.links().len()), (2, 2));
        let dead = t.with_failures(&[], &[y]).expect("switch 1 exists");
        assert_eq!((dead.graph().arcs(), dead.edge_switches()), (0, vec![0, 2]));
        assert!(t.with_failures(&[LinkId(2)], &[]).is_err());
    }

    #[test]
    fn impossible_cabling_is_refused() {
        let (mut b, x, _) = pair();
        b.link(x, x);
        assert!(b.finish(recipe()).expect_err("a loop").why.contains("to itself"));
        let (mut b, x, y) = pair();
        for _ in 0..2 {
            b.link_at(
                CablePlug { switch: x, port: 7 },
                CablePlug { switch: y, port: 0 },
                Cable::default(),
            );
        }
        let refusal = b.finish(recipe()).expect_err("a port with two cables");
        assert_eq!(refusal.to_string(), "switch x: port 7 has two cables; a port takes one cable");
        let (mut b, x, y) = pair();
        b.switches[0].ports = 3;
        b.link_at(
            CablePlug { switch: x, port: 4 },
            CablePlug { switch: y, port: 0 },
            Cable::default(),
        );
        assert!(b.finish(recipe()).expect_err("no port 4").help.contains("1 to 3"));
    }
}

//! The network as it is cabled: switches, links with their ports, endpoints with their rails.

use base::{ChannelId, EndpointId, Graph, LinkId, Refusal, SwitchId, TerminalId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// How a network came to be: a family with its parameters, or a file.
///
/// Displays as the inline form, `slim_fly:q=5,p=4`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The family's name, or `file`.
    pub family: String,
    /// Its parameters as the user would write them.
    pub params: Map<String, Value>,
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.family)?;
        let given = self.params.iter().filter(|(_, v)| !v.is_null());
        for (i, (key, value)) in given.enumerate() {
            f.write_str(if i == 0 { ":" } else { "," })?;
            match value {
                Value::String(s) => write!(f, "{key}={s}")?,
                Value::Array(items) => {
                    let items: Vec<String> = items.iter().map(Value::to_string).collect();
                    write!(f, "{key}={}", items.join("x"))?;
                }
                other => write!(f, "{key}={other}")?,
            }
        }
        Ok(())
    }
}

/// Signalling rate of one InfiniBand lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Speed {
    SDR,
    DDR,
    QDR,
    FDR10,
    FDR,
    EDR,
    HDR,
    NDR,
}

impl Speed {
    /// All speeds, slowest first.
    pub const ALL: [Self; 8] =
        [Self::SDR, Self::DDR, Self::QDR, Self::FDR10, Self::FDR, Self::EDR, Self::HDR, Self::NDR];

    /// Nominal data rate of one lane, Gbit/s (IBTA volume 1, and the names vendors sell).
    pub fn lane_gbps(self) -> f64 {
        match self {
            Self::SDR => 2.5,
            Self::DDR => 5.0,
            Self::QDR | Self::FDR10 => 10.0,
            Self::FDR => 14.0,
            Self::EDR => 25.0,
            Self::HDR => 50.0,
            Self::NDR => 100.0,
        }
    }

    /// The speed of this name (`HDR`), `None` when there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.to_string() == name)
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// What a cable is: lane speed, lanes, length, and whether it works.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cable {
    /// Signalling rate of a lane.
    pub speed: Speed,
    /// Lanes: 1, 2, 4, 8 or 12.
    pub width: u8,
    /// Length in metres where it is known.
    pub length_m: Option<f32>,
    /// False when the cable has failed or is pulled: it keeps its id, and carries nothing.
    pub up: bool,
}

impl Default for Cable {
    /// A working 4x HDR cable of unknown length.
    fn default() -> Self {
        Self { speed: Speed::HDR, width: 4, length_m: None, up: true }
    }
}

impl Cable {
    /// Data rate of one direction, Gbit/s.
    pub fn rate_gbps(&self) -> f64 {
        self.speed.lane_gbps() * f64::from(self.width)
    }
}

/// One end of a cable: a port of a switch. Ports count from 1; port 0 is the switch itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plug {
    /// The switch.
    pub switch: SwitchId,
    /// Its port, 1 to [`Switch::ports`].
    pub port: u16,
}

/// A switch and its place in the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// Name for people, cables and subnet managers.
    pub name: String,
    /// Hardware address where one is known (networks read from a fabric).
    pub guid: Option<u64>,
    /// Local identifier where one is known (networks read from a fabric).
    pub lid: Option<u16>,
    /// Physical ports; 0 lets the builder take as many as are used.
    pub ports: u16,
    /// The plane it belongs to; single-plane networks have plane 0 only.
    pub plane: u16,
    /// The family's group (pod, dragonfly group, Slim Fly column); 0 where there is none.
    pub group: u32,
    /// Level in a tree, 0 next to the endpoints; 0 in direct networks.
    pub level: u8,
    /// The family's coordinates.
    pub coordinates: Vec<u32>,
    /// False when the switch has failed: its cables carry nothing.
    pub up: bool,
}

impl Switch {
    /// A working switch in plane 0, group 0, level 0 with no known address.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            guid: None,
            lid: None,
            ports: 0,
            plane: 0,
            group: 0,
            level: 0,
            coordinates: Vec::new(),
            up: true,
        }
    }

    /// The same switch in `group` with these coordinates.
    #[must_use]
    pub fn at(mut self, group: u32, coordinates: Vec<u32>) -> Self {
        self.group = group;
        self.coordinates = coordinates;
        self
    }
}

/// A switch-to-switch cable with the port at either end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// End a.
    pub a: Plug,
    /// End b.
    pub b: Plug,
    /// The cable between them.
    pub cable: Cable,
}

/// A computer; its rails are terminals.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// Name for people and subnet managers.
    pub name: String,
    /// Node address of its adapter where one is known.
    pub guid: Option<u64>,
}

/// One rail of an endpoint, attached to one switch port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terminal {
    /// The endpoint it belongs to.
    pub endpoint: EndpointId,
    /// Which of the endpoint's rails, from 0; adapter port `rail + 1`.
    pub rail: u16,
    /// The switch port at the other end.
    pub plug: Plug,
    /// Hardware address of the adapter port where one is known.
    pub port_guid: Option<u64>,
    /// Base local identifier where one is known.
    pub lid: Option<u16>,
    /// The cable to the switch.
    pub cable: Cable,
}

/// What a switch port leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// No cable.
    Empty,
    /// A cable to another switch, left by this channel.
    Switch(ChannelId),
    /// An endpoint's rail.
    Terminal(TerminalId),
}

/// An immutable network: what is plugged into what, and how it came to be.
#[derive(Debug, Clone)]
pub struct Topology {
    recipe: Recipe,
    switches: Vec<Switch>,
    links: Vec<Link>,
    endpoints: Vec<Endpoint>,
    terminals: Vec<Terminal>,
    graph: Graph,
    port_offsets: Vec<u32>,
    peers: Vec<Peer>,
    /// Where each port's cable leads, beside `peers`; anything where that is no switch.
    ahead: Vec<SwitchId>,
    attached_offsets: Vec<u32>,
    attached: Vec<TerminalId>,
}

impl Topology {
    /// How it came to be.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Its switches, by [`SwitchId`].
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// Its switch-to-switch cables, by [`LinkId`], failed ones included.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Its endpoints, by [`EndpointId`].
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The rails of its endpoints, by [`TerminalId`]; rails of one endpoint are in rail order.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The graph of working links between working switches; rows are in port order.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// What `port` of `switch` leads to, whether or not it works; ports out of range are empty.
    pub fn peer(&self, switch: SwitchId, port: u16) -> Peer {
        let row =
            self.port_offsets[switch.ix()] as usize..self.port_offsets[switch.ix() + 1] as usize;
        self.peers[row].get(port as usize).copied().unwrap_or(Peer::Empty)
    }

    /// The channel that leaves `switch` at `port` and the switch it leads to, whether or not it
    /// works; `None` where there is no other switch. The step of every walk along routes.
    #[inline]
    pub fn hop(&self, switch: SwitchId, port: u16) -> Option<(ChannelId, SwitchId)> {
        let at = self.port_offsets[switch.ix()] as usize + port as usize;
        if at >= self.port_offsets[switch.ix() + 1] as usize {
            return None;
        }
        match self.peers[at] {
            Peer::Switch(channel) => Some((channel, self.ahead[at])),
            Peer::Terminal(_) | Peer::Empty => None,
        }
    }

    /// The terminals on `switch`, by port number.
    pub fn terminals_on(&self, switch: SwitchId) -> &[TerminalId] {
        let from = self.attached_offsets[switch.ix()] as usize;
        &self.attached[from..self.attached_offsets[switch.ix() + 1] as usize]
    }

    /// The plug that `channel` leaves from.
    pub fn tail(&self, channel: ChannelId) -> Plug {
        let link = &self.links[channel.link().ix()];
        if channel.is_forth() { link.a } else { link.b }
    }

    /// The plug that `channel` arrives at.
    pub fn head(&self, channel: ChannelId) -> Plug {
        self.tail(channel.reverse())
    }

    /// Whether `link` and the switches at its ends work.
    pub fn link_is_up(&self, link: LinkId) -> bool {
        let l = &self.links[link.ix()];
        l.cable.up && self.switches[l.a.switch.ix()].up && self.switches[l.b.switch.ix()].up
    }

    /// Whether `terminal`, its cable and its switch work.
    pub fn terminal_is_up(&self, terminal: TerminalId) -> bool {
        let t = &self.terminals[terminal.ix()];
        t.cable.up && self.switches[t.plug.switch.ix()].up
    }

    /// The plane that `terminal` is attached to.
    pub fn plane_of(&self, terminal: TerminalId) -> u16 {
        self.switches[self.terminals[terminal.ix()].plug.switch.ix()].plane
    }

    /// The working switches that carry at least one working terminal; all working switches when
    /// there is no terminal at all. Distances and diameters are measured between these.
    pub fn edge_switches(&self) -> Vec<u32> {
        let working = |v: &u32| self.switches[*v as usize].up;
        let all = 0..self.switches.len() as u32;
        if self.terminals.is_empty() {
            return all.filter(working).collect();
        }
        let carries =
            |v: &u32| self.terminals_on(SwitchId(*v)).iter().any(|&t| self.terminal_is_up(t));
        all.filter(working).filter(carries).collect()
    }

    /// The most switch-to-switch ports that any switch uses (failed cables included).
    pub fn network_radix(&self) -> u32 {
        let mut used = vec![0_u32; self.switches.len()];
        for link in &self.links {
            used[link.a.switch.ix()] += 1;
            used[link.b.switch.ix()] += 1;
        }
        used.into_iter().max().unwrap_or(0)
    }

    /// The most endpoints that any switch carries.
    pub fn concentration(&self) -> u32 {
        let most =
            (0..self.switches.len()).map(|s| self.terminals_on(SwitchId::from(s)).len()).max();
        most.unwrap_or(0) as u32
    }

    /// The most ports, of either kind, that any switch uses.
    pub fn radix(&self) -> u32 {
        let used = |s: usize| {
            let row = self.port_offsets[s] as usize..self.port_offsets[s + 1] as usize;
            self.peers[row].iter().filter(|p| **p != Peer::Empty).count()
        };
        (0..self.switches.len()).map(used).max().unwrap_or(0) as u32
    }

    /// The number of planes (highest plane number + 1).
    pub fn planes(&self) -> u16 {
        self.switches.iter().map(|s| s.plane + 1).max().unwrap_or(0)
    }

    /// The same network with these links and switches failed. O(network).
    ///
    /// # Errors
    /// When an id is out of range.
    pub fn with_failures(&self, links: &[LinkId], switches: &[SwitchId]) -> Result<Self, Refusal> {
        let mut failed = Builder::from(self);
        for link in links {
            let known = self.links.len();
            let link = failed.links.get_mut(link.ix()).ok_or_else(|| {
                Refusal::new(
                    "links",
                    format!("there is no link {link}"),
                    format!("0 to {}", known - 1),
                )
            })?;
            link.cable.up = false;
        }
        for switch in switches {
            let known = self.switches.len();
            let s = failed.switches.get_mut(switch.ix()).ok_or_else(|| {
                Refusal::new(
                    "switches",
                    format!("there is no switch {switch}"),
                    format!("0 to {}", known - 1),
                )
            })?;
            s.up = false;
        }
        failed.finish(self.recipe.clone())
    }
}

/// A network under construction.
///
/// A port given as 0 is chosen by [`Builder::finish`]: the lowest free one, endpoints before links,
/// each in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    switches: Vec<Switch>,
    links: Vec<Link>,
    endpoints: Vec<Endpoint>,
    terminals: Vec<Terminal>,
}

impl From<&Topology> for Builder {
    fn from(t: &Topology) -> Self {
        Self {
            switches: t.switches.clone(),
            links: t.links.clone(),
            endpoints: t.endpoints.clone(),
            terminals: t.terminals.clone(),
        }
    }
}

impl Builder {
    /// An empty network.
    pub fn new() -> Self {
        Self::default()
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

    /// Adds the next rail of `endpoint` at `port` (0: any) of `switch`.
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
            plug: Plug { switch, port },
            port_guid: None,
            lid: None,
            cable,
        });
        TerminalId::from(self.terminals.len() - 1)
    }

    /// A terminal added before, to set its addresses and rail number.
    pub fn terminal_mut(&mut self, terminal: TerminalId) -> &mut Terminal {
        &mut self.terminals[terminal.ix()]
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
    pub fn link_at(&mut self, a: Plug, b: Plug, cable: Cable) -> LinkId {
        self.links.push(Link { a, b, cable });
        LinkId::from(self.links.len() - 1)
    }

    /// Adds a default cable between two switches at the next free ports.
    pub fn link(&mut self, a: SwitchId, b: SwitchId) -> LinkId {
        self.link_at(Plug { switch: a, port: 0 }, Plug { switch: b, port: 0 }, Cable::default())
    }

    /// The finished network. O(switches * ports + links + endpoints).
    ///
    /// # Errors
    /// When a switch id does not exist, a cable joins a switch to itself, two cables share a port,
    /// a port is above the switch's number of ports, or a switch needs more than 65,534 ports.
    pub fn finish(mut self, recipe: Recipe) -> Result<Topology, Refusal> {
        self.check_ends()?;
        let mut taken = self.take_named_ports()?;
        self.choose_ports(&mut taken)?;
        let (port_offsets, peers) = port_table(&taken);
        let far_end = |peer: &Peer| match peer {
            Peer::Switch(c) => {
                let link = &self.links[c.link().ix()];
                if c.is_forth() { link.b.switch } else { link.a.switch }
            }
            Peer::Terminal(_) | Peer::Empty => SwitchId(0),
        };
        let ahead = peers.iter().map(far_end).collect();
        for (switch, ports) in self.switches.iter_mut().zip(&taken) {
            switch.ports = switch.ports.max(ports.len().saturating_sub(1) as u16);
        }
        let mut attached_offsets = vec![0];
        let mut attached = Vec::with_capacity(self.terminals.len());
        for ports in &taken {
            attached.extend(ports.iter().filter_map(|p| match p {
                Peer::Terminal(t) => Some(*t),
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

    /// Puts every cable with a stated port into its switch's port list (index 0 is the switch).
    fn take_named_ports(&self) -> Result<Vec<Vec<Peer>>, Refusal> {
        let mut taken = vec![vec![Peer::Empty]; self.switches.len()];
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
                ports.resize(port as usize + 1, Peer::Empty);
            }
            if ports[port as usize] != Peer::Empty {
                let why = format!("port {port} has two cables");
                return Err(Refusal::new(format!("switch {name}"), why, "a port takes one cable"));
            }
            ports[port as usize] = peer;
        }
        Ok(taken)
    }

    fn plugs(&self) -> impl Iterator<Item = (Plug, Peer)> + '_ {
        let terminals = self.terminals.iter().enumerate();
        let terminals = terminals.map(|(i, t)| (t.plug, Peer::Terminal(TerminalId::from(i))));
        terminals.chain(self.links.iter().enumerate().flat_map(|(i, l)| {
            let id = LinkId::from(i);
            [(l.a, Peer::Switch(id.forth())), (l.b, Peer::Switch(id.back()))]
        }))
    }

    /// Gives every cable without a port the lowest free one, endpoints first.
    fn choose_ports(&mut self, taken: &mut [Vec<Peer>]) -> Result<(), Refusal> {
        let mut free = vec![1_usize; taken.len()];
        let mut choose = |switch: SwitchId, peer: Peer| -> Result<u16, Refusal> {
            let ports = &mut taken[switch.ix()];
            let next = &mut free[switch.ix()];
            while ports.get(*next).is_some_and(|p| *p != Peer::Empty) {
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
                ports.resize(port + 1, Peer::Empty);
            }
            ports[port] = peer;
            Ok(port as u16)
        };
        for (i, t) in self.terminals.iter_mut().enumerate().filter(|(_, t)| t.plug.port == 0) {
            t.plug.port = choose(t.plug.switch, Peer::Terminal(TerminalId::from(i)))?;
        }
        for (i, link) in self.links.iter_mut().enumerate() {
            let id = LinkId::from(i);
            for (plug, channel) in [(&mut link.a, id.forth()), (&mut link.b, id.back())] {
                if plug.port == 0 {
                    plug.port = choose(plug.switch, Peer::Switch(channel))?;
                }
            }
        }
        Ok(())
    }
}

fn port_table(taken: &[Vec<Peer>]) -> (Vec<u32>, Vec<Peer>) {
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

    fn recipe() -> Recipe {
        Recipe { family: "test".into(), params: Map::new() }
    }

    fn pair() -> (Builder, SwitchId, SwitchId) {
        let mut b = Builder::new();
        let x = b.switch(Switch::new("x"));
        let y = b.switch(Switch::new("y"));
        (b, x, y)
    }

    #[test]
    fn endpoints_come_before_links_and_named_ports_are_kept() {
        let (mut b, x, y) = pair();
        b.link(x, y);
        b.link_at(Plug { switch: x, port: 2 }, Plug { switch: y, port: 0 }, Cable::default());
        b.endpoints_on([x].into_iter(), 2);
        let t = b.finish(recipe()).expect("a valid network");
        assert_eq!(t.peer(x, 1), Peer::Terminal(TerminalId(0)));
        assert_eq!(t.peer(x, 2), Peer::Switch(ChannelId(2)));
        assert_eq!(t.peer(x, 3), Peer::Terminal(TerminalId(1)));
        assert_eq!(t.peer(x, 4), Peer::Switch(ChannelId(0)));
        assert_eq!(t.peer(y, 2), Peer::Switch(ChannelId(3)));
        assert_eq!(t.graph().channels(0), [ChannelId(2), ChannelId(0)], "rows are in port order");
        assert_eq!((t.network_radix(), t.concentration(), t.radix()), (2, 2, 4));
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
            b.link_at(Plug { switch: x, port: 7 }, Plug { switch: y, port: 0 }, Cable::default());
        }
        let refusal = b.finish(recipe()).expect_err("a port with two cables");
        assert_eq!(refusal.to_string(), "switch x: port 7 has two cables; a port takes one cable");
        let (mut b, x, y) = pair();
        b.switches[0].ports = 3;
        b.link_at(Plug { switch: x, port: 4 }, Plug { switch: y, port: 0 }, Cable::default());
        assert!(b.finish(recipe()).expect_err("no port 4").help.contains("1 to 3"));
    }
}

//! The network as it is cabled: switches, links with their ports, endpoints with their rails.

mod aside;
mod builder;
mod failures;
mod plug;
mod rate;
mod recipe;
mod renamed;
mod same;

pub use aside::OmittedFileContents;
pub use builder::TopologyBuilder;
pub use failures::{FailedComponent, FailureParameters, lost_in};
pub use plug::CablePlug;
pub use rate::{GBPS, LinkRateRange, RATE_GBPS, RATE_SOURCE, RateSource, take_gbps};
pub use recipe::{NetworkRecipe, parse_inline};

use crate::geometry::NetworkGeometry;
use base::{ChannelId, EndpointId, Graph, LinkId, Picoseconds, Refusal, SwitchId, TerminalId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;

/// The reason why `name` cannot name a switch or an endpoint: it has a character that lists,
/// drawings and screens cannot show as it is. `None` where it can.
///
/// Such characters are control characters, the separators of lines and paragraphs, the marks that
/// change the direction of writing, and code points that are no character of Unicode.
pub fn name_fault(name: &str) -> Option<String> {
    let bad = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{fdd0}'..='\u{fdef}')
            || u32::from(c) & 0xfffe == 0xfffe
    };
    let c = name.chars().find(|c| bad(*c))?;
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    Some(format!("the name '{shown}' has the character U+{:04X}", u32::from(c)))
}

/// The rule for names, as refusals state it.
pub const NAMES: &str = "names are of letters, digits, signs and blanks";

/// Speed of one InfiniBand lane, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum InfinibandLaneSpeed {
    SDR,
    DDR,
    QDR,
    FDR10,
    FDR,
    EDR,
    HDR,
    NDR,
    XDR,
}

impl InfinibandLaneSpeed {
    /// All speeds, slowest first.
    pub const ALL: [Self; 9] = [
        Self::SDR,
        Self::DDR,
        Self::QDR,
        Self::FDR10,
        Self::FDR,
        Self::EDR,
        Self::HDR,
        Self::NDR,
        Self::XDR,
    ];

    /// The rate of a lane on the wire, in Gbit/s, and its code as data bits and coded bits: 8b/10b
    /// up to QDR, then 64b/66b, then 256b/257b within RS(544,514).
    ///
    /// Source: InfiniBand Architecture Specification, volume 2: speeds, widths and encodings.
    fn lane(self) -> (f64, [f64; 2]) {
        match self {
            Self::SDR => (2.5, [8.0, 10.0]),
            Self::DDR => (5.0, [8.0, 10.0]),
            Self::QDR => (10.0, [8.0, 10.0]),
            Self::FDR10 => (10.3125, [64.0, 66.0]),
            Self::FDR => (14.0625, [64.0, 66.0]),
            Self::EDR => (25.78125, [64.0, 66.0]),
            Self::HDR => (53.125, [16.0, 17.0]),
            Self::NDR => (106.25, [16.0, 17.0]),
            Self::XDR => (212.5, [16.0, 17.0]),
        }
    }

    /// Data rate of one lane, Gbit/s.
    pub fn lane_gbps(self) -> f64 {
        let (wire, [data, coded]) = self.lane();
        wire * data / coded
    }

    /// The speed whose lanes have this rate on the wire, in Gbit/s; `None` when there is none.
    pub fn from_wire_gbps(wire: f64) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.lane().0.to_bits() == wire.to_bits())
    }

    /// The speed of this name (`HDR`), `None` when there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.to_string() == name)
    }
}

impl fmt::Display for InfinibandLaneSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The properties of a cable: lane speed, lanes, length, and whether it works.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cable {
    /// Speed of a lane.
    pub speed: InfinibandLaneSpeed,
    /// Lanes: 1, 2, 4, 8 or 12.
    pub width: u8,
    /// Length in metres; `None` where it is not known.
    pub length_m: Option<f32>,
    /// False when the cable has failed or is pulled: it keeps its id, and carries nothing.
    pub up: bool,
}

impl Default for Cable {
    /// A working 4x HDR cable of unknown length.
    fn default() -> Self {
        Self { speed: InfinibandLaneSpeed::HDR, width: 4, length_m: None, up: true }
    }
}

impl Cable {
    /// Data rate of one direction, Gbit/s.
    pub fn rate_gbps(&self) -> f64 {
        self.speed.lane_gbps() * f64::from(self.width)
    }

    /// The time that a bit takes from one end to the other, without the delays of switches and
    /// adapters: 5 ns per metre. A cable of unknown length counts as 5 m, so 25 ns.
    ///
    /// Source: Corning SMF-28 Ultra data sheet: a group index of 1.4682 at 1550 nm, so 4.90 ns/m;
    /// in twinaxial copper signals run at 70 to 80 % of the speed of light, 4.2 to 4.8 ns/m.
    pub fn latency(&self) -> Picoseconds {
        let length_m = self.length_m.map_or(Self::UNKNOWN_LENGTH_M, f64::from);
        Picoseconds((length_m * Self::FLIGHT_PS_PER_M).round() as u64)
    }

    /// Time of flight along a metre, picoseconds.
    const FLIGHT_PS_PER_M: f64 = 5000.0;

    /// The length assumed where it is not known, in metres.
    const UNKNOWN_LENGTH_M: f64 = 5.0;
}

/// A switch and its position in the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// Name for people, cables and subnet managers.
    pub name: String,
    /// Hardware address; `None` where it is not known. Networks read from a fabric have it.
    pub guid: Option<u64>,
    /// Local identifier; `None` where it is not known. Networks read from a fabric have it.
    pub lid: Option<u16>,
    /// The number of physical ports; with 0 the builder sets the number in use.
    pub ports: u16,
    /// The plane it belongs to; single-plane networks have plane 0 only.
    pub plane: u16,
    /// The group in the family's sense (pod, dragonfly group, Slim Fly column); 0 where there is
    /// none.
    pub group: u32,
    /// Level in a tree, 0 next to the endpoints; 0 in direct networks.
    pub level: u8,
    /// The coordinates in the family's sense.
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

    /// The same switch with this group and these coordinates.
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
    pub a: CablePlug,
    /// End b.
    pub b: CablePlug,
    /// The cable between them.
    pub cable: Cable,
}

/// A computer; its rails are terminals.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// Name for people and subnet managers.
    pub name: String,
    /// Node GUID of its adapter; `None` where it is not known.
    pub guid: Option<u64>,
}

/// One rail of an endpoint, attached to one switch port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terminal {
    /// The endpoint it belongs to.
    pub endpoint: EndpointId,
    /// The number of the rail at its endpoint, from 0; the adapter port is `rail + 1`.
    pub rail: u16,
    /// The switch port at the other end.
    pub plug: CablePlug,
    /// GUID of the adapter port; `None` where it is not known.
    pub port_guid: Option<u64>,
    /// Base local identifier; `None` where it is not known.
    pub lid: Option<u16>,
    /// The cable to the switch.
    pub cable: Cable,
}

/// The device that a switch port leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortPeer {
    /// No cable.
    Empty,
    /// A cable to another switch, with the channel that leaves this port.
    Switch(ChannelId),
    /// An endpoint's rail.
    Terminal(TerminalId),
}

/// An immutable network: what is plugged into what, and the recipe it was made by.
#[derive(Debug, Clone)]
pub struct Topology {
    recipe: NetworkRecipe,
    switches: Vec<Switch>,
    links: Vec<Link>,
    endpoints: Vec<Endpoint>,
    terminals: Vec<Terminal>,
    graph: Graph,
    port_offsets: Vec<u32>,
    peers: Vec<PortPeer>,
    /// The switch that each port's cable leads to, in the order of `peers`; an arbitrary number
    /// where it leads to no switch.
    ahead: Vec<SwitchId>,
    attached_offsets: Vec<u32>,
    attached: Vec<TerminalId>,
    vertex_transitive: bool,
    geometry: NetworkGeometry,
    aside: OmittedFileContents,
    /// [`Topology::digest`], computed at the first call; it does not depend on the geometry.
    digest: OnceLock<u64>,
}

impl Topology {
    /// The family and parameters, or the file, that the network was made from.
    pub fn recipe(&self) -> &NetworkRecipe {
        &self.recipe
    }

    /// The switches, by [`SwitchId`].
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The switch-to-switch cables, by [`LinkId`], failed ones included.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The endpoints, by [`EndpointId`].
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// The rails of all endpoints, by [`TerminalId`]; rails of one endpoint are in rail order.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The graph of working links between working switches; rows are in port order.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The device that `port` of `switch` leads to, whether or not the cable works. Ports out of
    /// range are empty.
    pub fn peer(&self, switch: SwitchId, port: u16) -> PortPeer {
        let row =
            self.port_offsets[switch.ix()] as usize..self.port_offsets[switch.ix() + 1] as usize;
        self.peers[row].get(port as usize).copied().unwrap_or(PortPeer::Empty)
    }

    /// The channel that leaves `switch` at `port` and the switch that it leads to, whether or not
    /// the cable works; `None` where the port leads to no switch. All walks along routes use it.
    #[inline]
    pub fn hop(&self, switch: SwitchId, port: u16) -> Option<(ChannelId, SwitchId)> {
        let at = self.port_offsets[switch.ix()] as usize + port as usize;
        if at >= self.port_offsets[switch.ix() + 1] as usize {
            return None;
        }
        match self.peers[at] {
            PortPeer::Switch(channel) => Some((channel, self.ahead[at])),
            PortPeer::Terminal(_) | PortPeer::Empty => None,
        }
    }

    /// The terminals on `switch`, by port number.
    pub fn terminals_on(&self, switch: SwitchId) -> &[TerminalId] {
        let from = self.attached_offsets[switch.ix()] as usize;
        &self.attached[from..self.attached_offsets[switch.ix() + 1] as usize]
    }

    /// The plug at which `channel` begins.
    pub fn tail(&self, channel: ChannelId) -> CablePlug {
        let link = &self.links[channel.link().ix()];
        if channel.is_forth() { link.a } else { link.b }
    }

    /// The plug at which `channel` ends.
    pub fn head(&self, channel: ChannelId) -> CablePlug {
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

    /// The most ports that any switch uses, to other switches and to endpoints together.
    pub fn radix(&self) -> u32 {
        let used = |s: usize| {
            let row = self.port_offsets[s] as usize..self.port_offsets[s + 1] as usize;
            self.peers[row].iter().filter(|p| **p != PortPeer::Empty).count()
        };
        (0..self.switches.len()).map(used).max().unwrap_or(0) as u32
    }

    /// The number of planes (highest plane number + 1).
    pub fn planes(&self) -> u16 {
        self.switches.iter().map(|s| s.plane + 1).max().unwrap_or(0)
    }

    /// The meaning that the family declared for groups, levels and coordinates. Failures do not
    /// change it.
    pub fn geometry(&self) -> NetworkGeometry {
        self.geometry
    }

    /// The contents of the network's file that are no part of the network.
    pub fn aside(&self) -> &OmittedFileContents {
        &self.aside
    }

    /// The same network with more remarks on its file.
    #[must_use]
    pub fn with_remarks(mut self, remarks: impl IntoIterator<Item = String>) -> Self {
        self.aside.remarks.extend(remarks);
        self
    }

    /// The same network with another recipe.
    #[must_use]
    pub fn with_recipe(mut self, recipe: NetworkRecipe) -> Self {
        self.recipe = recipe;
        self
    }

    /// The same network with another geometry.
    #[must_use]
    pub fn with_geometry(mut self, geometry: NetworkGeometry) -> Self {
        self.geometry = geometry;
        self
    }

    /// Whether the network's family declared that for any two switches some automorphism takes one
    /// to the other. False where nothing was declared, even if it is true of the network.
    pub fn is_vertex_transitive(&self) -> bool {
        self.vertex_transitive
    }

    /// The same network, declared to have an automorphism from any switch to any other. That
    /// concerns switches and links alone, not endpoints.
    #[must_use]
    pub fn declared_vertex_transitive(mut self) -> Self {
        self.vertex_transitive = true;
        self
    }

    /// `count` different working links, drawn at random by `seed`, in ascending order. O(links).
    ///
    /// # Errors
    /// When the network has fewer working links.
    pub fn random_links(&self, count: u32, seed: u64) -> Result<Vec<LinkId>, Refusal> {
        let all = (0..self.links.len()).map(LinkId::from);
        let mut working: Vec<LinkId> = all.filter(|&l| self.link_is_up(l)).collect();
        if count as usize > working.len() {
            let why = format!("{count} random links of {} that work", working.len());
            return Err(Refusal::new("random", why, format!("0 to {}", working.len())));
        }
        base::seed::RandomStream::new(seed, "random links", 0).shuffle(&mut working);
        working.truncate(count as usize);
        working.sort_unstable();
        Ok(working)
    }

    /// The same network with these lengths, in metres, for the cables of unknown length: those of
    /// links by [`LinkId`], those of rails by [`TerminalId`]. O(network).
    ///
    /// # Errors
    /// When there are not as many lengths as cables, or one is negative or not finite.
    pub fn with_lengths(&self, links: &[f32], terminals: &[f32]) -> Result<Self, Refusal> {
        for (param, given, known) in
            [("links", links, self.links.len()), ("terminals", terminals, self.terminals.len())]
        {
            if given.len() != known {
                let why = format!("{} lengths of {known} cables", given.len());
                return Err(Refusal::new(param, why, "one for each"));
            }
            if let Some(bad) = given.iter().find(|m| !m.is_finite() || **m < 0.0) {
                return Err(Refusal::new(param, format!("{bad} m is no length"), "0 or more"));
            }
        }
        let mut same = self.clone();
        let cables = same.links.iter_mut().map(|l| &mut l.cable);
        let cables = cables.chain(same.terminals.iter_mut().map(|x| &mut x.cable));
        for (cable, length_m) in cables.zip(links.iter().chain(terminals)) {
            cable.length_m.get_or_insert(*length_m);
        }
        same.digest = OnceLock::new();
        Ok(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data rates, in Gbit/s, by which cables of four lanes are named; that of FDR is 4 x
    /// 14.0625 times 64 / 66.
    #[test]
    fn four_lanes_carry_what_their_names_promise() {
        let sold = [8.0, 16.0, 32.0, 40.0, 54.545, 100.0, 200.0, 400.0, 800.0];
        for (speed, gbps) in InfinibandLaneSpeed::ALL.into_iter().zip(sold) {
            let cable = Cable { speed, width: 4, ..Cable::default() };
            assert!((cable.rate_gbps() - gbps).abs() < 1e-3, "{speed}: {}", cable.rate_gbps());
        }
    }
}

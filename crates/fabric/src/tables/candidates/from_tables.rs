//! The routes of forwarding tables as a scheme: a packet chooses one of the layers.

use super::{CandidateHop, CandidateScheme, PacketRoutingState};
use crate::Topology;
use crate::tables::{Routing, Sl2VlMapping};
use base::{SwitchId, TerminalId};

/// The scheme of forwarding tables: a packet chooses its layer at the source, and then follows the
/// table.
///
/// A goal is `layer * terminals + terminal`. A state is the service level and, where lanes depend
/// on it, the in-port.
#[derive(Debug, Clone)]
pub struct ForwardingTableScheme {
    routing: Routing,
    /// One more than the highest in-port that a state can have.
    ports: u32,
}

impl ForwardingTableScheme {
    /// The scheme of `routing`, on its lanes. Whether the last switch delivers to the terminal is
    /// not checked here: the proof of tables does that.
    pub fn new(routing: Routing) -> Self {
        let ports = match routing.lanes().sl2vl() {
            Sl2VlMapping::Uniform(_) => 1,
            Sl2VlMapping::PerPort(_) => {
                let ports = routing.topology().switches().iter().map(|s| u32::from(s.ports) + 1);
                ports.max().unwrap_or(1)
            }
        };
        Self { routing, ports }
    }

    /// The tables.
    pub fn routing(&self) -> &Routing {
        &self.routing
    }

    fn of(&self, goal: u32) -> (u32, TerminalId) {
        let terminals = self.routing.topology().terminals().len() as u32;
        (goal / terminals, TerminalId(goal % terminals))
    }
}

impl CandidateScheme for ForwardingTableScheme {
    fn topology(&self) -> &Topology {
        self.routing.topology()
    }

    fn lanes(&self) -> u8 {
        self.routing.lanes().count()
    }

    fn states(&self) -> u32 {
        self.ports * 16
    }

    fn goals(&self, to: TerminalId, found: &mut Vec<u32>) {
        let terminals = self.routing.topology().terminals().len() as u32;
        found.extend((0..self.routing.layers()).map(|layer| layer * terminals + to.0));
    }

    fn home(&self, goal: u32) -> SwitchId {
        self.routing.topology().terminals()[self.of(goal).1.ix()].plug.switch
    }

    fn starts(&self, source: SwitchId, goal: u32, found: &mut Vec<u32>) {
        let (layer, to) = self.of(goal);
        let all = self.routing.starts(layer, to, source);
        found.extend(all.into_iter().map(|(sl, port)| u32::from(port) * 16 + u32::from(sl & 15)));
    }

    #[inline]
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        let (layer, to) = self.of(heading.goal);
        let (sl, in_port) = ((heading.state % 16) as u8, (heading.state / 16) as u16);
        let walk = self.routing.walk(layer, to, at);
        let first = walk.on_lanes(self.routing.lanes().sl2vl(), sl, in_port).next();
        let on = self.routing.topology();
        let Some((hop, lane)) = first.filter(|(hop, _)| on.link_is_up(hop.channel.link())) else {
            return;
        };
        let port = if self.ports > 1 { u32::from(on.head(hop.channel).port) } else { 0 };
        let state = port * 16 + u32::from(sl);
        found.push(CandidateHop { channel: hop.channel, to: hop.to, state, lane, width: 1 });
    }
}
